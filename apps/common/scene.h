/* scene.h - scene files of gap-sim: JSON with PolyFEM's keys and our own, read into plain data
   Every key is used, accepted without effect (said once on stderr), or refused by name with the
   nearest known one. scene_help prints the table from which the reader works. */
#ifndef SCENE_H
#define SCENE_H
#include "expr.h"
#include "mesh.h"

#include <stdio.h>

typedef struct scene_select { /* nodes of a body that carry a number */
    int id;
    int kind;       /* 0 all, 1 box lo hi, 2 sphere centre radius, 3 plane point normal,
                       4 cylinder p1 p2 radius, 5 axis: data[0] = 0..2 (+3: below), data[1] place */
    double data[7];
} scene_select;

typedef struct scene_motion { /* of an obstacle: moves from `from` to `until` */
    double velocity[3], spin[3], center[3]; /* m/s, rad/s, m (the centre moves along) */
    double from, until;
} scene_motion;

typedef struct scene_body {
    char name[64];
    mesh m;             /* placed; solids: tets; obstacles: triangles, segments, points */
    int obstacle;
    int line;           /* where it stands in the scene */
    int id;             /* of its material and friction */
    double radius;      /* half thickness */
    double velocity[3]; /* at the start */
    scene_select *select;
    int selects;
    scene_motion *motion;
    int motions;
} scene_body;

typedef struct scene_material {
    int id;            /* -1: every body */
    int law;           /* 0 neo-Hookean, 1 fixed corotational, 2 linear, 3 StVK */
    double E, nu, rho;
} scene_material;

typedef struct scene_condition { /* Dirichlet or Neumann */
    int id;
    expr *value[3];    /* displacement (m) or traction (Pa) of rest position and time */
    int component[3];  /* prescribed? */
    int obstacle;      /* 1: moves the obstacles that carry the number */
} scene_condition;

typedef struct scene_expect { /* a quantity at the end of the run */
    char name[40], body[64];
    double low, high;
    int line;
} scene_expect;

typedef struct scene {
    scene_body *body;
    int bodies, nodes;    /* nodes: of all meshes */
    double *plane;        /* 6 each: point, unit normal */
    int planes;
    scene_material *material;
    int materials;
    scene_condition *dirichlet, *neumann;
    int dirichlets, neumanns;
    double gravity[3];
    int order;            /* of the displacements */
    double h, t0, tend;
    int method;           /* gap_step_method */
    double beta, gamma;
    int quasistatic;
    int contact;
    double dhat, dhat_relative, eps_v, eps_v_relative, eps_d, eps_d_relative; /* 0: the other */
    double mu;
    double (*pair_mu)[3]; /* id, id, coefficient */
    int pair_mus;
    int convergent;
    double kappa;         /* 0: adaptive */
    int lags;             /* friction passes; -1 until converged */
    int max_iterations;
    double damping;       /* stiffness-proportional, dimensionless ratio */
    int segments;         /* of the collision surface per edge; 0: the order */
    int every;            /* steps per frame */
    scene_expect *expect;
    int expects;
    int expect_contact;   /* -1 not said, 0, 1 */
    char pair[64];        /* variant whose expectations must be missed, and the other way round */
    double published_newton; /* per step; 0 unknown */
    double scale;         /* what all lengths were multiplied by */
    unsigned long long hash;  /* of the text */
    unsigned long long shape; /* of meshes, planes, degree and integrator, scaled */
} scene;

/* 1, or 0 after a message `program: FILE:LINE: ...` on stderr; s is then empty. mesh_dir: where
   mesh
   files are looked for first, may be NULL. scale: a power of two, 1 for none. variant: the name of
   one (param.h), or NULL. */
int scene_read(scene *s, const char *program, const char *path, const char *mesh_dir, double scale,
    const char *variant);
int scene_parse_as(scene *s, const char *program, const char *path, const char *text, size_t size,
    const char *mesh_dir, double scale, const char *variant);
int scene_variants(const char *program, const char *path, FILE *out); /* their names, one a line */
int scene_parse(scene *s, const char *program, const char *path, const char *text, size_t size,
    const char *mesh_dir, double scale);
void scene_free(scene *s);
void scene_help(FILE *f);

int scene_selected(const scene_select *select, const double x[3]);
/* Where a motion takes the point x at time t. */
void scene_move(const scene_motion *motion, int motions, double t, const double x[3],
    double out[3]);

#endif
