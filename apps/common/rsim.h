/* rsim.h - the simulator behind gap-rigid: rigid bodies of any dimension, 2D and 3D
   One step is one minimisation (gap_newton.h) of inertia (gap_rigid.h), barrier and friction over
   places and rotation vectors; every trial state is free of intersections because steps are cut by
   certified CCD along the curved paths (gap_rigid_ccd.h). */
#ifndef RSIM_H
#define RSIM_H
#include "pool.h"
#include "rscene.h"
#include "sim.h"

typedef struct rsim rsim;

typedef struct rsim_options {
    int additive;  /* CCD: 0 inclusion, 1 additive */
    pool *threads; /* may be NULL */
} rsim_options;

/* A simulator at the start of a scene, which must outlive it. NULL after a message in error: a body
   without mass, or a start that touches. The message is `LINE: what`, or "out of memory"; guilty
   (empty before) then holds the primitives that meet, if that is the reason. */
rsim *rsim_open(const rscene *sc, const rsim_options *opt, mesh *guilty, char *error, size_t size);
void rsim_close(rsim *s);

/* One step of h seconds, or two of h/2 where that does not converge. 0 done; 1 did not converge, 2
   a kinematic body cannot reach its place (state unchanged); < 0 error of seam 3 (unchanged).
   In the report elastic and min_det have no meaning. */
int rsim_step(rsim *s, double h, sim_report *r);

double rsim_time(const rsim *s);
long long rsim_steps(const rsim *s);
double rsim_length(const rsim *s); /* diagonal l of all bodies at the start */
double rsim_shortest_edge(const rsim *s);
void rsim_kappa_bounds(const rsim *s, double kappa[2]);
int rsim_nodes(const rsim *s);

/* Centre, unit quaternion (w x y z) against the start, velocity, angular velocity: 13 values. */
void rsim_pose(const rsim *s, int body, double out[13]);
double rsim_mass(const rsim *s, int body);
const double *rsim_frame(const rsim *s); /* dim per node, now */
struct frames_topo;
int rsim_topology(const rsim *s, struct frames_topo *out); /* 0 if out of memory */
void rsim_topology_free(struct frames_topo *t);

/* Exact check of the present state: pairs that meet; < 0 error. */
int rsim_verify(rsim *s, int *met);

/* Quantities for `expect`; 0 if the name or the body is not known. */
int rsim_quantity(rsim *s, const char *name, const char *body, double *out);

/* Everything that the next step depends on, as bytes. */
size_t rsim_state_size(const rsim *s);
void rsim_save(const rsim *s, void *bytes);
int rsim_load(rsim *s, const void *bytes, size_t size); /* 0 if it does not fit */

#endif
