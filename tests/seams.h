/* seams.h - the function types through which headers meet, written once more by themselves
   build.sh compiles this in C and C++ under two prefixes, assigns the types to each other, and
   assigns every type of that name that a header declares to them: one function fits all. */
#ifndef SEAMS_H
#define SEAMS_H
#include <stddef.h>

#define SEAMS_TYPES(p)                                                                          \
    typedef void (*p##_range)(void *ctx, int begin, int end, int worker);                       \
    typedef void (*p##_parallel_for)(void *user, int count, int grain, p##_range fn, void *ctx);\
    typedef void *(*p##_realloc)(void *user, void *p, size_t old_size, size_t new_size);        \
    typedef int (*p##_linear_ccd)(void *user, int dim, int kind, const double *p0,              \
        const double *p1, double min_distance, double t_max, double *toi);                      \
    typedef int (*p##_material)(void *user, int rows, int cols, int count, const double *F,     \
        const double *par, int psd, double *psi, double *P, double *dPdF);

SEAMS_TYPES(seam)
SEAMS_TYPES(other)

#endif
