/* sim.h - the simulator behind gap-sim: solids of order 1..4, obstacles, planes, friction
   One step is one minimisation (gap_step.h, gap_newton.h) of inertia, elasticity, barrier and
   friction; every trial state is free of intersections because steps are cut by certified CCD. */
#ifndef SIM_H
#define SIM_H
#include "pool.h"
#include "scene.h"

#define SIM_PHASES 7

typedef struct sim sim;

typedef struct sim_report { /* of the last step */
    int newton, lag, contacts, halvings, rung;
    double min_distance, max_active, kappa;
    double kinetic, elastic, external, barrier, friction;
    double momentum[3], angular[3];
    double momentum_residual, min_det, cone_residual, min_force; /* N, N, 1, N */
    double seconds[SIM_PHASES]; /* broad phase, CCD, assembly, linear solve, all; energies in line
                                   searches, bound that keeps elements valid */
    double progress;   /* of scripted nodes, 1 = all arrived */
    int converged;
    int halves;        /* 1: it took two steps of h/2 */
    int al;            /* 0, or 1 + updates of the augmented Lagrangian, where it was needed */
} sim_report;

typedef struct sim_options {
    int additive;          /* CCD: 0 inclusion, 1 additive */
    pool *threads;         /* may be NULL */
    int (*cancel)(void *); /* may be NULL */
    void *cancel_user;
    mesh *guilty; /* may be NULL; gets the primitives that touch or meet where sim_open says so */
} sim_options;

/* A simulator at the start of a scene, which must outlive it. NULL after a message in error: a
   solid with bad elements, or a start that touches. The message is `LINE: what`, with the bodies
   and places of the first pairs, one a line; or "out of memory". */
sim *sim_open(const scene *sc, const sim_options *opt, char *error, size_t size);
void sim_close(sim *s);

/* One step of h seconds, or two of h/2 where that does not converge. 0 done; 1 did not converge
   (state unchanged); < 0 error code of seam 3 (unchanged). */
int sim_step(sim *s, double h, sim_report *r);
const char *sim_why(const sim *s); /* why the last one did not converge, and what may help */

double sim_time(const sim *s);
long long sim_steps(const sim *s);
double sim_length(const sim *s); /* diagonal l of the solids at rest */
double sim_dhat(const sim *s);
double sim_shortest_edge(const sim *s);
double sim_eps_d(const sim *s); /* Newton stops below this speed */
double sim_eps_v(const sim *s);
int sim_has_friction(const sim *s);
void sim_kappa_bounds(const sim *s, double kappa[2]);
double sim_resting_gap(const sim *s); /* expected, under all weight on the lowest vertices */

/* What is drawn and checked: vertices of the collision surface. */
int sim_vertices(const sim *s);
const double *sim_surface(sim *s); /* 3 per vertex, now */
/* What is stored in frames: nodes first (elements refer to them), then surface vertices of curved
   elements, if they are not nodes. */
struct frames_topo;
int sim_topology(const sim *s, struct frames_topo *out); /* 0 if out of memory */
void sim_topology_free(struct frames_topo *t);
const double *sim_frame(sim *s); /* 3 per stored node; NULL if out of memory */
int sim_frame_node(const sim *s, int vertex); /* its number there */
int sim_vertex_body(const sim *s, int vertex);
int sim_bodies(const sim *s);
const char *sim_body_name(const sim *s, int body);
int sim_body_still(const sim *s, int body); /* an obstacle that never moves */

/* Exact check of the present state: pairs that meet, elements that are inverted. */
int sim_verify(sim *s, int *met, int *inverted);

/* Quantities for `expect`; 0 if the name is not known. */
int sim_quantity(sim *s, const char *name, const char *body, double *out);
double sim_quantity_unit(const char *name, double scale); /* its factor if lengths have one */

/* Everything that the next step depends on, as bytes. */
size_t sim_state_size(const sim *s);
void sim_save(const sim *s, void *bytes);
/* 1; 2 if the meshes are the same but the scene's text has changed; 0 if it does not fit. */
int sim_load(sim *s, const void *bytes, size_t size);

/* Contact force of the last step on a body (N), kept in the state; 0 where the forces of vertices
   are not known: before the first step, and after sim_load. */
int sim_body_force(const sim *s, int body, double force[3]);
/* Contact forces of the last step on each vertex, 3 each (N); NULL where not known. */
const double *sim_forces(const sim *s);

typedef struct sim_pair {
    int a, b;        /* bodies, a <= b; sim_bodies(s) + k is plane k */
    int contacts;
    double force[3]; /* on a, from b: normal and friction (N); of no meaning where a = b */
    double normal, friction; /* sums of magnitudes (N) */
} sim_pair;

/* Pairs of bodies that touch, in order; *out is to be freed. Returns how many, or -1. */
int sim_pair_forces(sim *s, sim_pair **out);

#endif
