/* rscene.h - scene files of gap-rigid: JSON with rigid-ipc's keys and our own, read into plain data
   Every key is used, accepted without effect (said once on stderr), or refused by name with the
   nearest known one. rscene_help prints the table from which the reader works. */
#ifndef RSCENE_H
#define RSCENE_H
#include "mesh.h"
#include "scene.h"

#include <stdio.h>

enum { RSCENE_SOLID, RSCENE_SURFACE, RSCENE_WIRE, RSCENE_POINTS, RSCENE_AUTO };

typedef struct rscene_body {
    char name[64];
    int line;             /* where it stands in the scene */
    int type;             /* gap_rigid_type: 0 dynamic, 1 static, 2 kinematic */
    mesh m;               /* placed; triangles, edges of no triangle, points; 2D: z = 0, edges */
    int rule;             /* how it carries mass; AUTO: by its topology */
    int mixed;            /* 1: every part by its own density, else those of highest dimension */
    double density[4];    /* by rule */
    unsigned char fixed;  /* bits x y z rx ry rz (2D: x y r) */
    double velocity[3], spin[3];  /* m/s, rad/s */
    double force[3], torque[3];   /* N at the centre of mass, N m */
    int group;            /* negative; bodies of one group never meet */
    double mu;            /* friction coefficient; a pair has the mean of both */
    double until;         /* a kinematic body rests from then on */
    double (*pose)[6];    /* kinematic: centre and rotation vector after each step */
    int poses;
} rscene_body;

typedef struct rscene {
    int dim;
    rscene_body *body;
    int bodies;
    double gravity[3];
    double h;
    long long steps;
    double dhat, separation;
    double tolerance;       /* of Newton's step: times the diagonal l per second, or m/s */
    int tolerance_absolute;
    int max_iterations;
    double kappa;           /* 0: adaptive */
    double kappa_scale;     /* of the smallest adaptive one */
    double mu, eps_v;
    int lags;               /* friction passes; -1 until converged, 0: no friction */
    int parity;             /* only pairs of the reference, torque doubled as there */
    int every;              /* steps per frame */
    scene_expect *expect;
    int expects;
    int expect_contact;     /* -1 not said, 0, 1 */
    double scale;           /* what all lengths were multiplied by */
    unsigned long long hash; /* of the text and of what was scaled */
} rscene;

typedef struct rscene_options {
    const char *program;  /* for messages */
    const char *mesh_dir; /* where mesh files are looked for first; may be NULL */
    double scale;         /* a power of two, 1 for none */
    int parity;
} rscene_options;

/* 1, or 0 after a message `program: FILE:LINE: ...` on stderr; s is then empty. */
int rscene_read(rscene *s, const char *path, const rscene_options *opt);
int rscene_parse(rscene *s, const char *path, const char *text, size_t size,
    const rscene_options *opt);
void rscene_free(rscene *s);
void rscene_help(FILE *f);

#endif
