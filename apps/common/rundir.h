/* rundir.h - the directory of a run: checkpoint, tables that grow, the page at the end
   Shared by gap-sim and gap-rigid. Nothing is left half-written: a checkpoint is the old or the new
   one, a resumed table keeps whole rows only. */
#ifndef RUNDIR_H
#define RUNDIR_H
#include "sim.h"

#include <stdio.h>

/* The first line of stats.csv. */
extern const char rundir_columns[];

/* DIR/name into out. */
void rundir_path(const char *dir, const char *name, char out[4096]);

/* What -o says, or SCENE.out, or standard where there is no scene. */
void rundir_name(const char *dir, const char *file, const char *standard, char *out, size_t size);

/* size bytes as DIR/checkpoint.bin; 1, or 0 and errno. */
int rundir_save(const char *dir, const void *bytes, size_t size);
/* Back again. 1; 0: there is none or it cannot be read (errno); -1: damaged or of another size. */
int rundir_load(const char *dir, void *bytes, size_t size);

/* A table whose rows begin with the step: keeps those up to `last`, or (0) begins a new file.
   NULL and errno on failure. */
FILE *rundir_rows(const char *dir, const char *name, const char *header, long long last);

/* A row of stats.csv; 1, or 0 if it cannot be written. */
int rundir_stats(FILE *f, long long step, double time, const sim_report *p);

/* One frame as DIR/frameSTEP.ending (obj, vtu); 0 after a message if it cannot be written. */
int rundir_mesh(const char *program, const char *dir, long long step, const char *ending, int dim,
    const struct frames_topo *t, const double *x);

/* A bar on a terminal, else a line; begun: rundir_clock() at the step `first`. */
double rundir_clock(void);
void rundir_progress(const sim_report *p, double time, double begun, long long first,
    long long step, long long last);

/* view.html by the gap-view beside the program `self`, if it is there; says so on stdout. */
void rundir_view(const char *dir, const char *self);

#endif
