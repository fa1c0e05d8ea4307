/* gap_friction.h - v0.1.0 - lagged smoothed Coulomb friction as a potential - MIT-0, see end
   Friction of contacts given as nodes, weights, a normal and a force. Copy this one file.
QUICK START
   #define GAP_FRICTION_IMPLEMENTATION   // in exactly one .c or .cpp file
   #include "gap_friction.h"
   #include <stdio.h>
   int main(void)
   {
       int node[4] = {0, -1, -1, -1};    // a vertex on a plane, pressed down with 10 N
       double weight[4] = {1, 0, 0, 0}, normal[3] = {0, 0, 1}, press = 10, f[3];
       double x_ref[3] = {0, 0, 0}, x[3] = {0.02, 0, 0.001};
       gap_friction_lag lag;
       gap_friction_init(&lag, NULL);
       gap_friction_freeze(&lag, 3, 1, 1, node, weight, normal, &press, NULL, 0.5, NULL, 0.01);
       gap_friction_force(&lag, x, x_ref, 0, 1, f);
       printf("%.2f %.2f %.2f\n", f[0], f[1], f[2]); // -5.00 0.00 0.00
       gap_friction_free(&lag);
       return 0;
   }
GUARANTEES
   Potential  gradient and Hessian are those of the energy (finite differences in the tests) for
              frozen normals, weights and forces.
   Cone       |friction force| <= mu |normal force| to rounding; equal where |slip| >= eps_u.
   PSD        the Hessian needs no projection where mu * force >= 0: its eigenvalues are those of
              f1' along the slip and f1/y across. Where force < 0 (convergent form) psd = 1 gives 0.
   Not here   convergence of the lag iterations: nobody can promise it.
   Same bits  for any ranges and threads; a scale of 2^k on lengths gives results scaled to the bit.
OPTIONS (define before the implementation)
   GAP_FRICTION_STATIC     keep all functions private to this file
   GAP_FRICTION_ASSERT(x)  replaces assert(x)
   At run time, gap_friction_options: smoothness of the force, memory hook.
EDGE CASES
   no slip: force 0, Hessian 2 mu force / eps_u (I - n n^T).  count 0: fine.  mu or force 0: zeros.
   freeze: NaN or infinity ENONFIN, node out of range EINDEX, mu < 0 or eps_u <= 0 EINPUT; lag.bad
   names the contact; the lag is then empty. NaN in x gives NaN, in the blocks concerned only.
METHOD
   Li et al. 2020, Incremental Potential Contact. With v = sum_i w_i (x_i - x_ref_i) - side, the
   slip u = v - n (n.v) and y = |u|: energy mu force f0(y), f0' = f1. No tangent basis is built:
   P P^T = I - n n^T, so a block is w_i w_j [f1/y (I - n n^T) + (f1' - f1/y) u u^T / y^2]. Both
   ratios are evaluated in forms that are finite at y = 0. x_ref and eps_u fit any integrator:
   for implicit Euler the start of the step and eps_v h; in general x - x_ref is a multiple of the
   velocity and eps_u the same multiple of eps_v. Scaling of the energy: that of force. Mollified
   edge pairs are left out by mu = 0 (their force is shared by other contacts).
NOT HERE   contacts and their forces: gap_barrier.h. Assembly: gap_sparse.h.
HISTORY    0.1.0 first release */
#ifndef GAP_FRICTION_H
#define GAP_FRICTION_H
#include <stddef.h>
#define GAP_FRICTION_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_FRICTION_STATIC
#define GAP_FRICTION_API static inline
#else
#define GAP_FRICTION_API extern
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_friction_status {
    GAP_FRICTION_OK = 0,
    GAP_FRICTION_ENONFIN = -1, /* a weight, normal, force, mu or displacement is not finite */
    GAP_FRICTION_ENOMEM = -2,
    GAP_FRICTION_EINDEX = -3,  /* a node number is out of range */
    GAP_FRICTION_EINPUT = -6   /* mu < 0, eps_u not in (0, infinity), dim not 2 or 3 */
} gap_friction_status;

typedef enum gap_friction_form { /* how smooth the force is at |slip| = 0 and eps_u */
    GAP_FRICTION_C1 = 0, /* f1 = 2t - t^2, t = y / eps_u: fewest iterations, the one to use */
    GAP_FRICTION_C0 = 1, /* f1 = t */
    GAP_FRICTION_C2 = 2  /* f1 = t^3 - 3t^2 + 3t */
} gap_friction_form;

typedef void *(*gap_friction_realloc)(void *user, void *p, size_t old_size, size_t new_size);

typedef struct gap_friction_options {
    int form;                        /* gap_friction_form */
    gap_friction_realloc realloc_fn; /* NULL: libc */
    void *realloc_user;
} gap_friction_options;

/* What is frozen during a solve, and nothing else. Made by gap_friction_freeze; a caller who has
   the arrays already may point count, dim, eps_u and the five of them there instead. */
typedef struct gap_friction_lag {
    int count, dim;
    double eps_u;   /* slip below which a contact counts as sticking */
    int *node;      /* 4 each, unused -1 */
    double *weight; /* 4 each */
    double *normal; /* dim each, unit */
    double *limit;  /* 1 each, mu * force: radius of the friction cone */
    double *side;   /* dim each, displacement of a second side without nodes; NULL: 0 */
    int bad;        /* contact that freeze refused, or -1 */
    gap_friction_options opt;
    void *mem;      /* private: the block that holds the arrays */
    size_t mem_size;
} gap_friction_lag;

/* f0(y), its derivative f1(y), and what needs no division by y: f1/y and (f1' - f1/y)/y.
   form   gap_friction_form     y  >= 0, length      eps  > 0, length
   f0(y) = y and f1(y) = 1 from y = eps on; f1' = f1/y + y (f1' - f1/y)/y. */
GAP_FRICTION_API double gap_friction_f0(int form, double y, double eps);
GAP_FRICTION_API double gap_friction_f1(int form, double y, double eps);
GAP_FRICTION_API double gap_friction_f1_ratio(int form, double y, double eps);
GAP_FRICTION_API double gap_friction_f2_ratio(int form, double y, double eps);

/* Start an empty lag; opt may be NULL and is copied. Nothing is allocated. */
GAP_FRICTION_API void gap_friction_init(gap_friction_lag *lag, const gap_friction_options *opt);

/* Give the memory back; the lag is then as after init. */
GAP_FRICTION_API void gap_friction_free(gap_friction_lag *lag);

/* Copy what friction needs of a contact set; the order is kept. O(count).
   dim     2 or 3                          nodes   number of nodes, to check node
   node    4 per contact                   weight  4 per contact
   normal  dim per contact                 force   1 per contact, in the scaling of the energy
   mu      1 per contact; NULL: mu_all for every one
   side    dim per contact, displacement of the second side of planes; may be NULL
   eps_u   length, > 0: slip below which a contact sticks (eps_v h)
   Memory is kept for the next call. On error the lag is empty. */
GAP_FRICTION_API int gap_friction_freeze(gap_friction_lag *lag, int dim, int count, int nodes,
    const int *node, const double *weight, const double *normal, const double *force,
    const double *mu, double mu_all, const double *side, double eps_u);

/* Energy of the contacts begin <= i < end, sum of limit f0(y), added in order.
   x      dim per node       x_ref  dim per node; NULL: 0 (x is then a displacement) */
GAP_FRICTION_API double gap_friction_energy(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int begin, int end);

/* Gradient blocks of contacts begin..end: 4*dim values each, from grad[0] on. */
GAP_FRICTION_API void gap_friction_gradient(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int begin, int end, double *grad);

/* Hessian blocks of contacts begin..end: (4*dim)^2 values each, row by row, from hess[0] on.
   psd   0 raw, 1 nearest positive semidefinite; they differ only where limit < 0 */
GAP_FRICTION_API void gap_friction_hessian(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int psd, int begin, int end, double *hess);

/* Friction force on the first side of contacts begin..end (the second gets the opposite): dim
   values each, from force[0] on. */
GAP_FRICTION_API void gap_friction_force(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int begin, int end, double *force);

/* Add the friction force of every contact to its nodes: force has dim per node. */
GAP_FRICTION_API void gap_friction_node_force(const gap_friction_lag *lag, const double *x,
    const double *x_ref, double *force);

/* How far the friction forces of contacts begin..end stick out of the cones of today's normal
   forces: max(0, |F| - now). Zero lag error gives zero.
   now       mu * force of the same contacts at x, from now[0] on; NULL: the frozen ones
   residual  1 value each, from residual[0] on; may be NULL
   Returns the largest. */
GAP_FRICTION_API double gap_friction_cone(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int begin, int end, const double *now, double *residual);

#ifdef __cplusplus
}
#endif
#endif /* GAP_FRICTION_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_FRICTION_STATIC)) && \
    !defined(GAP_FRICTION_IMPLEMENTATION)
#define GAP_FRICTION_IMPLEMENTATION
#endif
#if defined(GAP_FRICTION_IMPLEMENTATION) && !defined(GAP_FRICTION_IMPLEMENTED)
#define GAP_FRICTION_IMPLEMENTED
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifndef GAP_FRICTION_ASSERT
#include <assert.h>
#define GAP_FRICTION_ASSERT(x) assert(x)
#endif

static inline void *gap_friction__realloc_libc(void *user, void *p, size_t old_size,
    size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size) return realloc(p, new_size);
    free(p);
    return NULL;
}

/* With t = y/eps < 1: C0 t^2/2 + 1/2, C1 t^2 - t^3/3 + 1/3, C2 t^4/4 - t^3 + 3t^2/2 + 1/4, times
   eps; each reaches y at t = 1 with slope 1. */
GAP_FRICTION_API double gap_friction_f0(int form, double y, double eps)
{
    double t = y / eps;

    if (!(t < 1.0)) return y;
    if (form == GAP_FRICTION_C0) return eps * (0.5 * t * t + 0.5);
    if (form == GAP_FRICTION_C2) return eps * (t * t * (1.5 - t * (1.0 - 0.25 * t)) + 0.25);
    return eps * (t * t * (1.0 - t / 3.0) + 1.0 / 3.0);
}

GAP_FRICTION_API double gap_friction_f1(int form, double y, double eps)
{
    double t = y / eps;

    if (!(t < 1.0)) return y < HUGE_VAL ? 1.0 : y / y; /* NaN stays NaN */
    if (form == GAP_FRICTION_C0) return t;
    if (form == GAP_FRICTION_C2) return t * (3.0 - t * (3.0 - t));
    return t * (2.0 - t);
}

GAP_FRICTION_API double gap_friction_f1_ratio(int form, double y, double eps)
{
    double t = y / eps;

    if (!(t < 1.0)) return 1.0 / y;
    if (form == GAP_FRICTION_C0) return 1.0 / eps;
    if (form == GAP_FRICTION_C2) return (3.0 - t * (3.0 - t)) / eps;
    return (2.0 - t) / eps;
}

/* (f1' - f1/y)/y: C0 0; C1 (2 - 2t - 2 + t)/(eps y) = -1/eps^2; C2 (3t^2 - 6t + 3 - t^2 + 3t - 3)
   /(eps y) = (2t - 3)/eps^2; sliding -1/y^2. */
GAP_FRICTION_API double gap_friction_f2_ratio(int form, double y, double eps)
{
    double t = y / eps;

    if (!(t < 1.0)) return -1.0 / y / y;
    if (form == GAP_FRICTION_C0) return 0.0;
    if (form == GAP_FRICTION_C2) return (2.0 * t - 3.0) / eps / eps;
    return -1.0 / eps / eps;
}

/* Slip u (dim values) of contact k; returns y = |u|. */
static inline double gap_friction__slip(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int k, double u[3])
{
    const int *node = lag->node + (size_t)k * 4;
    const double *w = lag->weight + (size_t)k * 4;
    const double *n = lag->normal + (size_t)k * (size_t)lag->dim;
    int dim = lag->dim, i, c;
    double along;

    u[0] = u[1] = u[2] = 0.0;
    for (i = 0; i < 4 && node[i] >= 0; ++i) {
        const double *p = x + (size_t)node[i] * (size_t)dim;
        const double *q = x_ref ? x_ref + (size_t)node[i] * (size_t)dim : NULL;
        for (c = 0; c < dim; ++c) u[c] += w[i] * (q ? p[c] - q[c] : p[c]);
    }
    if (lag->side) {
        const double *p = lag->side + (size_t)k * (size_t)dim;
        for (c = 0; c < dim; ++c) u[c] -= p[c];
    }
    along = n[0] * u[0] + n[1] * u[1] + (dim == 3 ? n[2] * u[2] : 0.0);
    for (c = 0; c < dim; ++c) u[c] -= along * n[c];
    return sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
}

GAP_FRICTION_API void gap_friction_init(gap_friction_lag *lag, const gap_friction_options *opt)
{
    GAP_FRICTION_ASSERT(lag);
    memset(lag, 0, sizeof *lag);
    if (opt) lag->opt = *opt;
    if (!lag->opt.realloc_fn) lag->opt.realloc_fn = gap_friction__realloc_libc;
    lag->bad = -1;
}

GAP_FRICTION_API void gap_friction_free(gap_friction_lag *lag)
{
    gap_friction_options opt;

    GAP_FRICTION_ASSERT(lag);
    opt = lag->opt;
    if (lag->mem) opt.realloc_fn(opt.realloc_user, lag->mem, lag->mem_size, 0);
    gap_friction_init(lag, &opt);
}

/* The arrays for count contacts, one behind the other in one block: doubles first. A block that is
   large enough is kept; growth leaves room for an eighth more. */
static inline int gap_friction__reserve(gap_friction_lag *lag, int dim, int count, int side)
{
    size_t n = (size_t)count, d = (size_t)dim;
    size_t need = n * ((4 + d + 1 + (side ? d : 0)) * sizeof(double) + 4 * sizeof(int));
    double *p;

    if (need > lag->mem_size) {
        size_t size = need + need / 8;
        void *mem = lag->opt.realloc_fn(lag->opt.realloc_user, lag->mem, lag->mem_size, size);
        if (!mem) return 0;
        lag->mem = mem;
        lag->mem_size = size;
    }
    p = (double *)lag->mem;
    lag->weight = p;
    lag->normal = p ? p + 4 * n : p;
    lag->limit = p ? p + (4 + d) * n : p;
    lag->side = p && side ? p + (5 + d) * n : NULL;
    lag->node = p ? (int *)(void *)(p + (5 + d + (side ? d : 0)) * n) : NULL;
    return 1;
}

/* Status of contact k's data; `mu` its coefficient. */
static inline int gap_friction__check(const gap_friction_lag *lag, int k, int nodes, double mu)
{
    size_t d = (size_t)lag->dim, at = (size_t)k;
    double sum = lag->limit[at] * 0.0, total = 0.0;
    size_t i;

    for (i = 0; i < 4; ++i) {
        int v = lag->node[4 * at + i];
        if (v < -1 || v >= nodes) return GAP_FRICTION_EINDEX;
        total += lag->weight[4 * at + i] * 0.0;
    }
    for (i = 0; i < d; ++i) {
        total += lag->normal[d * at + i] * 0.0;
        if (lag->side) total += lag->side[d * at + i] * 0.0;
    }
    if (sum + total != 0.0) return GAP_FRICTION_ENONFIN;
    return mu < 0.0 ? GAP_FRICTION_EINPUT : GAP_FRICTION_OK;
}

GAP_FRICTION_API int gap_friction_freeze(gap_friction_lag *lag, int dim, int count, int nodes,
    const int *node, const double *weight, const double *normal, const double *force,
    const double *mu, double mu_all, const double *side, double eps_u)
{
    size_t n = (size_t)(count > 0 ? count : 0), d = (size_t)dim;
    int k, status;

    GAP_FRICTION_ASSERT(lag && lag->opt.realloc_fn && count >= 0);
    GAP_FRICTION_ASSERT(count == 0 || (node && weight && normal && force));
    lag->count = 0;
    lag->bad = -1;
    if (dim != 2 && dim != 3) return GAP_FRICTION_EINPUT;
    if (!(eps_u > 0.0 && eps_u < HUGE_VAL)) return GAP_FRICTION_EINPUT;
    lag->dim = dim;
    lag->eps_u = eps_u;
    if (!gap_friction__reserve(lag, dim, count, side != NULL)) return GAP_FRICTION_ENOMEM;
    if (n == 0) return GAP_FRICTION_OK;
    memcpy(lag->node, node, 4 * n * sizeof *node);
    memcpy(lag->weight, weight, 4 * n * sizeof *weight);
    memcpy(lag->normal, normal, d * n * sizeof *normal);
    if (side) memcpy(lag->side, side, d * n * sizeof *side);
    for (k = 0; k < count; ++k) {
        double m = mu ? mu[k] : mu_all;
        lag->limit[k] = m * force[k];
        status = gap_friction__check(lag, k, nodes, m);
        if (status < 0) {
            lag->bad = k;
            return status;
        }
    }
    lag->count = count;
    return GAP_FRICTION_OK;
}

GAP_FRICTION_API double gap_friction_energy(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int begin, int end)
{
    double u[3], sum = 0.0;
    int k;

    GAP_FRICTION_ASSERT(lag && begin >= 0 && begin <= end && end <= lag->count);
    for (k = begin; k < end; ++k)
        sum += lag->limit[k] * gap_friction_f0(lag->opt.form,
            gap_friction__slip(lag, x, x_ref, k, u), lag->eps_u);
    return sum;
}

/* g = limit (f1/y) u, the gradient per unit of weight. */
static inline void gap_friction__pull(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int k, double g[3])
{
    double y = gap_friction__slip(lag, x, x_ref, k, g);
    double a = lag->limit[k] * gap_friction_f1_ratio(lag->opt.form, y, lag->eps_u);

    g[0] *= a, g[1] *= a, g[2] *= a;
}

GAP_FRICTION_API void gap_friction_gradient(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int begin, int end, double *grad)
{
    double g[3];
    int k, i, c;

    GAP_FRICTION_ASSERT(lag && begin >= 0 && begin <= end && end <= lag->count);
    for (k = begin; k < end; ++k) {
        gap_friction__pull(lag, x, x_ref, k, g);
        for (i = 0; i < 4; ++i)
            for (c = 0; c < lag->dim; ++c)
                *grad++ = lag->node[4 * (size_t)k + (size_t)i] < 0
                    ? 0.0 : lag->weight[4 * (size_t)k + (size_t)i] * g[c];
    }
}

/* m (dim*dim) = limit [f1/y (I - n n^T) + (f1' - f1/y)/y (u/y) u^T]. */
static inline void gap_friction__core(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int psd, int k, double m[9])
{
    const double *n = lag->normal + (size_t)k * (size_t)lag->dim;
    double u[3], y = gap_friction__slip(lag, x, x_ref, k, u), limit = lag->limit[k];
    double a = limit * gap_friction_f1_ratio(lag->opt.form, y, lag->eps_u);
    double b = limit * gap_friction_f2_ratio(lag->opt.form, y, lag->eps_u);
    int i, j, dim = lag->dim;

    if (psd && limit < 0.0) a = b = 0.0;
    for (i = 0; i < dim; ++i) {
        double hat = y > 0.0 ? u[i] / y : 0.0;
        for (j = 0; j < dim; ++j)
            m[i * dim + j] = a * ((i == j ? 1.0 : 0.0) - n[i] * n[j]) + b * (hat * u[j]);
    }
    for (i = 0; i < dim; ++i) /* symmetric to the bit */
        for (j = 0; j < i; ++j) m[j * dim + i] = m[i * dim + j];
}

/* hess = (w w^T) x m over the nodes in use, 0 elsewhere. w_i w_j first: symmetric to the bit.
   Called with a literal dim, so that the inner loops unroll. */
static inline void gap_friction__fill(int dim, const int *node, const double *w, const double *m,
    double *hess)
{
    int i, j, r, c, used = 0, size = 4 * dim;

    while (used < 4 && node[used] >= 0) ++used;
    if (used < 4) memset(hess, 0, (size_t)(size * size) * sizeof *hess);
    for (i = 0; i < used; ++i) {
        for (j = 0; j < used; ++j) {
            double ww = w[i] * w[j], *to = hess + i * dim * size + j * dim;
            for (r = 0; r < dim; ++r)
                for (c = 0; c < dim; ++c) to[r * size + c] = ww * m[r * dim + c];
        }
    }
}

GAP_FRICTION_API void gap_friction_hessian(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int psd, int begin, int end, double *hess)
{
    double m[9];
    int k;

    GAP_FRICTION_ASSERT(lag && begin >= 0 && begin <= end && end <= lag->count);
    for (k = begin; k < end; ++k) {
        const double *w = lag->weight + 4 * (size_t)k;
        const int *node = lag->node + 4 * (size_t)k;
        gap_friction__core(lag, x, x_ref, psd, k, m);
        if (lag->dim == 3) gap_friction__fill(3, node, w, m, hess);
        else gap_friction__fill(2, node, w, m, hess);
        hess += 16 * lag->dim * lag->dim;
    }
}

GAP_FRICTION_API void gap_friction_force(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int begin, int end, double *force)
{
    double g[3];
    int k, c;

    GAP_FRICTION_ASSERT(lag && begin >= 0 && begin <= end && end <= lag->count);
    for (k = begin; k < end; ++k) {
        gap_friction__pull(lag, x, x_ref, k, g);
        for (c = 0; c < lag->dim; ++c) *force++ = 0.0 - g[c];
    }
}

GAP_FRICTION_API void gap_friction_node_force(const gap_friction_lag *lag, const double *x,
    const double *x_ref, double *force)
{
    double g[3];
    int k, i, c;

    GAP_FRICTION_ASSERT(lag && force);
    for (k = 0; k < lag->count; ++k) {
        const int *node = lag->node + 4 * (size_t)k;
        gap_friction__pull(lag, x, x_ref, k, g);
        for (i = 0; i < 4 && node[i] >= 0; ++i)
            for (c = 0; c < lag->dim; ++c)
                force[(size_t)node[i] * (size_t)lag->dim + (size_t)c] -=
                    lag->weight[4 * (size_t)k + (size_t)i] * g[c];
    }
}

GAP_FRICTION_API double gap_friction_cone(const gap_friction_lag *lag, const double *x,
    const double *x_ref, int begin, int end, const double *now, double *residual)
{
    double u[3], worst = 0.0;
    int k;

    GAP_FRICTION_ASSERT(lag && begin >= 0 && begin <= end && end <= lag->count);
    for (k = begin; k < end; ++k) {
        double y = gap_friction__slip(lag, x, x_ref, k, u);
        double f = fabs(lag->limit[k]) * gap_friction_f1(lag->opt.form, y, lag->eps_u);
        double out = f - fabs(now ? now[k - begin] : lag->limit[k]);
        if (out < 0.0) out = 0.0;
        if (residual) residual[k - begin] = out;
        if (!(out <= worst)) worst = out;
    }
    return worst;
}
#endif /* GAP_FRICTION_IMPLEMENTATION */
/*
MIT No Attribution

Copyright 2026 the gap authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this
software and associated documentation files (the "Software"), to deal in the Software
without restriction, including without limitation the rights to use, copy, modify,
merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
permit persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A
PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT
HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE
OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
