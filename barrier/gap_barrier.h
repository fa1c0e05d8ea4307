/* gap_barrier.h - v0.1.0 - contact set and barrier energy of a mesh - MIT-0, see end
   Incremental Potential Contact: from candidate pairs to contacts, their energy, forces and
   Hessian blocks (raw or nearest PSD), stiffness and step bound. Copy this one file.
QUICK START
   #define GAP_BARRIER_IMPLEMENTATION     // in exactly one .c or .cpp file
   #include "gap_barrier.h"
   #include <stdio.h>
   int main(void)
   {
       double x[12] = {.2, .3, .005, 0, 0, 0, 1, 0, 0, 0, 1, 0}; // a point above a triangle
       int tri[3] = {1, 2, 3}, vf[2] = {0, 0};
       gap_barrier_mesh mesh = {3, 4, 0, 1, 0, NULL, tri, NULL, x, NULL, NULL};
       gap_barrier_candidates cand = {{NULL, NULL, vf, NULL, NULL}, {0, 0, 1, 0, 0}};
       gap_barrier_set set;
       gap_barrier_init(&set, NULL);
       gap_barrier_build(&set, &mesh, x, &cand, 0.01, 1e6);
       printf("%d contact, push %.3f\n", set.count, set.force[0]); // 1 contact, push 4.329
       printf("energy %.6f\n", gap_barrier_energy(&set, x, 0, set.count)); // energy 0.007798
       gap_barrier_free(&set);
       return 0;
   }
GUARANTEES
   Right     gradients and Hessians checked by finite differences, also along the gradient; PSD
             blocks have no eigenvalue below -1e-12 of the largest and are nearest (Frobenius).
   Repeats   same bits for any number of threads and any split of ranges; coordinates, dhat times
             2^k: the same contacts, values times a power of two, bit for bit.
   Complete  every candidate with y > 0 below the threshold is in the set, multiplicities included;
             a state with y <= 0 is refused with all guilty pairs, never clamped.
   Not promised: anything about pairs that are not candidates; edges that pierce triangles have
             positive distances and are found by gap_exact.h only.
OPTIONS (define before the implementation)
   GAP_BARRIER_STATIC     keep all functions private to this file
   GAP_BARRIER_ASSERT(x)  replaces assert(x)
   Run-time options: struct gap_barrier_options.
EDGE CASES
   touching or closer (y <= 0, behind a plane): ETOUCH, no contacts, list guilty.  zero-length rest
   edge of an active pair: EINPUT and bad.  NaN: ENONFIN and bad.  pair or node number out of
   range: EINDEX and bad.  pair that shares a node or is all fixed: left out.  no memory: ENOMEM.
METHOD
   Li et al. 2020 (IPC), Li et al. 2021 (thickness), Li et al. 2023 (convergent form). Unlike the
   released codes: distances safe for parallel edges; Hessian in the orthonormal space that the
   stencil spans (5 of 12 for vf and ee, 3 of 9 for ve, closed form for vv and vp), so the PSD
   projection is small and still nearest; the CFL-like bound counts every vertex that moves.
NOT HERE   candidates: gap_broad.h.  friction: gap_friction.h.  assembly: gap_sparse.h.
HISTORY    0.1.0 first release */
#ifndef GAP_BARRIER_H
#define GAP_BARRIER_H
#include <stddef.h>
#define GAP_BARRIER_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_BARRIER_STATIC
#define GAP_BARRIER_API static inline
#else
#define GAP_BARRIER_API extern
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_barrier_status {
    GAP_BARRIER_OK = 0,
    GAP_BARRIER_FULL_CCD = 1, /* step: safe, but CCD over all pairs may allow more than twice */
    GAP_BARRIER_ENONFIN = -1, /* a position is not finite; bad names the pair */
    GAP_BARRIER_ENOMEM = -2,
    GAP_BARRIER_EINDEX = -3,  /* a pair or node number is out of range; bad names it */
    GAP_BARRIER_ESIZE = -4,   /* more than INT_MAX contacts */
    GAP_BARRIER_EINPUT = -6,  /* dhat or kappa <= 0, zero-length rest edge, mesh not prepared */
    GAP_BARRIER_ETOUCH = -16  /* pairs at or below their offset; see guilty */
} gap_barrier_status;

typedef enum gap_barrier_form {
    GAP_BARRIER_LOG_C2 = 0, /* -(y - yhat)^2 ln(y/yhat), the one to use */
    GAP_BARRIER_LOG_C1 = 1, /* (y - yhat) ln(y/yhat) */
    GAP_BARRIER_LOG_C0 = 2, /* -ln(y/yhat); Newton may not converge */
    GAP_BARRIER_USER = 3    /* options.user_fn */
} gap_barrier_form;

typedef enum gap_barrier_flag { /* the convergent form of Li et al. 2023 is all three */
    GAP_BARRIER_AREA = 1,     /* weights: shares of rest area, so the sum is a surface integral */
    GAP_BARRIER_MAX = 2,      /* duplicates subtracted: "improved max operator"; mult may be < 0 */
    GAP_BARRIER_PHYSICAL = 4  /* b scaled to a length, kappa in Pa */
} gap_barrier_flag;

typedef void (*gap_barrier_range)(void *ctx, int begin, int end, int worker);
typedef void (*gap_barrier_parallel_for)(void *user, int count, int grain, gap_barrier_range fn,
    void *ctx);
typedef void *(*gap_barrier_realloc)(void *user, void *p, size_t old_size, size_t new_size);
typedef int (*gap_barrier_linear_ccd)(void *user, int dim, int kind, const double *p0,
    const double *p1, double min_distance, double t_max, double *toi);
/* b, b', b'' with respect to y for 0 < y < yhat, 3 values. b must reach 0 at yhat, grow without
   bound towards y = 0, and have b' <= 0. */
typedef void (*gap_barrier_function)(void *user, double y, double yhat, double b[3]);

typedef struct gap_barrier_options {
    int form;                   /* gap_barrier_form */
    int flags;                  /* gap_barrier_flag; AREA and MAX need gap_barrier_prepare */
    gap_barrier_function user_fn;
    void *user;
    double units;               /* power of yhat in user_fn's unit, for PHYSICAL; 0 means 2 */
    double mollify;             /* eps_x / (|a|^2 |b|^2) of rest edges; 0 means 1e-3, < 0 none */
    gap_barrier_parallel_for parallel_for; /* NULL: plain loops */
    void *parallel_user;
    int workers;                /* not needed here: scratch is per chunk */
    gap_barrier_realloc realloc_fn;        /* NULL: libc */
    void *realloc_user;
} gap_barrier_options;

/* A mesh. The arrays are the caller's. */
typedef struct gap_barrier_mesh {
    int dim;                    /* 2 or 3 */
    int nodes, edges, tris, planes; /* counts */
    const int *edge;            /* 2 per edge */
    const int *tri;             /* 3 per triangle */
    const double *plane;        /* 2*dim per plane: a point of it, unit normal to the free side */
    const double *rest;         /* dim per node, undeformed; needed for ee pairs and AREA */
    const double *radius;       /* 1 per node, half thickness; NULL: 0 */
    const unsigned char *fixed; /* 1 per node, bit c = component c prescribed; NULL: none */
} gap_barrier_mesh;

/* Candidate pairs by kind 0 vv, 1 ve, 2 vf, 3 ee, 4 vp: 2 ints each, sorted, none twice. */
typedef struct gap_barrier_candidates {
    const int *pair[5];
    int count[5];
} gap_barrier_candidates;

typedef struct gap_barrier_buffer { /* private */
    void *p;
    size_t size;
} gap_barrier_buffer;

/* The contact set. Read the arrays, write none. They hold until the next build. */
typedef struct gap_barrier_set {
    int count, dim;
    int *kind;       /* 1 each, of the closest features; a mollified ee stays 3 */
    int *node;       /* 4 each, first side then second, unused last and -1 */
    double *weight;  /* 4 each, closest points: first side sums to +1, second to -1 */
    double *normal;  /* dim each, unit, from the second side to the first */
    double *dist2;   /* 1 each, squared distance */
    double *mult;    /* 1 each, multiplicity times area weight; < 0 possible with MAX */
    double *offset;  /* 1 each, xi: the barrier is infinite at this distance */
    double *mollify; /* 1 each, eps_x; 0 = not mollified */
    double *force;   /* 1 each, -dE/d(distance), in the scaling of the energy */
    int *parent;     /* 3 each: kind and pair of the first candidate it came from */
    gap_barrier_candidates active; /* all candidates below the threshold, for a partial CCD */
    int *guilty;     /* after ETOUCH: 3 each, kind and pair of every candidate with y <= 0 */
    int guilty_count;
    int bad[3];      /* after ENONFIN, EINDEX, EINPUT: kind and pair, or -1 */
    double dhat, kappa;
    gap_barrier_options opt;
    int *type;       /* private from here: ee type of a mollified contact */
    gap_barrier_buffer mem[20], topo[9];
    int topo_nodes, topo_edges, topo_tris, close_count;
} gap_barrier_set;

/* Start an empty set; opt may be NULL and is copied. */
GAP_BARRIER_API void gap_barrier_init(gap_barrier_set *set, const gap_barrier_options *opt);

/* Give all memory back; the set is then as after init. */
GAP_BARRIER_API void gap_barrier_free(gap_barrier_set *set);

/* Compute areas and neighbours of a mesh, for the flags AREA and MAX. Call again when edges,
   triangles or rest positions change. EINPUT: bad[1] is a triangle whose edge is not listed. */
GAP_BARRIER_API int gap_barrier_prepare(gap_barrier_set *set, const gap_barrier_mesh *mesh);

/* Make the contacts of positions x from candidates: all pairs closer than dhat + xi.
   x      dim per node
   dhat   distance (beyond the offset) at which the barrier starts, > 0
   kappa  stiffness, > 0
   On error the set has no contacts. Cost: about 40 ns per candidate. */
GAP_BARRIER_API int gap_barrier_build(gap_barrier_set *set, const gap_barrier_mesh *mesh,
    const double *x, const gap_barrier_candidates *cand, double dhat, double kappa);

/* Change kappa; the forces are scaled with it. */
GAP_BARRIER_API void gap_barrier_set_kappa(gap_barrier_set *set, double kappa);

/* Energy of the contacts begin <= i < end: kappa * sum mult e b, added in order.
   x   the positions of the build */
GAP_BARRIER_API double gap_barrier_energy(const gap_barrier_set *set, const double *x, int begin,
    int end);

/* Gradient blocks of contacts begin..end: 4*dim values each, from grad[0] on. */
GAP_BARRIER_API void gap_barrier_gradient(const gap_barrier_set *set, const double *x, int begin,
    int end, double *grad);

/* Hessian blocks of contacts begin..end: (4*dim)^2 values each, row by row, from hess[0] on.
   psd   0 raw, 1 nearest positive semidefinite in the Frobenius norm
   Cost: about 0.4 us each raw, 1 us PSD. */
GAP_BARRIER_API void gap_barrier_hessian(const gap_barrier_set *set, const double *x, int psd,
    int begin, int end, double *hess);

/* Add the force (minus the gradient) of every contact to its nodes: force has dim per node. */
GAP_BARRIER_API void gap_barrier_node_force(const gap_barrier_set *set, const double *x,
    double *force);

/* Smallest distance beyond the offset, (D - xi^2)/(d + xi); infinity without contacts. */
GAP_BARRIER_API double gap_barrier_min_gap(const gap_barrier_set *set);

/* Largest force times gap of a contact (0 = exact complementarity); its sum too, may be NULL. */
GAP_BARRIER_API double gap_barrier_complementarity(const gap_barrier_set *set, double *sum);

/* b, b', b'' of a built-in form at 0 < y, zeros for y >= yhat. EINPUT and NaN for y <= 0. */
GAP_BARRIER_API int gap_barrier_function_at(int form, double y, double yhat, double b[3]);

/* Bounds of the adaptive stiffness: the diagonal of the barrier Hessian is at least scale * mass at
   a gap of 1e-8 length.
   length  diagonal of the rest bounding box      mass    mean lumped mass of a node
   xi      offset of the contacts, 0 for none     scale   0 means 1e11
   kappa   2 values: smallest, largest = 100 times that */
GAP_BARRIER_API void gap_barrier_kappa_bounds(const gap_barrier_options *opt, double length,
    double mass, double dhat, double xi, double scale, double kappa[2]);

/* Stiffness that balances the other forces at the start of a step, within the bounds.
   n          values per gradient
   grad_rest  gradient of everything but contact
   grad_unit  gradient of the contacts with kappa = 1
   fixed      n values, nonzero = leave out; may be NULL */
GAP_BARRIER_API double gap_barrier_kappa_start(int n, const double *grad_rest,
    const double *grad_unit, const unsigned char *fixed, const double kappa[2]);

/* Stiffness after an iteration: doubled, up to kappa_max, if a pair had a gap below 1e-9 length
   before and after and it did not grow. Call it once per iteration on the set built at x; the
   pairs below the limit are kept for the next call. Returns the new kappa, or ENOMEM (< 0). */
GAP_BARRIER_API double gap_barrier_kappa_update(gap_barrier_set *set, const gap_barrier_mesh *mesh,
    const double *x, double length, double kappa_max);

/* Largest safe part of the step x -> x + p over the given pairs: each keeps at least a fifth of its
   gap (planes a tenth).
   p      dim per node
   ccd    linear CCD with minimum distance, gap_ccd_pair or gap_accd_pair; user its options
   alpha  1 value in: the part asked for, out: the safe part, 0 on error */
GAP_BARRIER_API int gap_barrier_step_pairs(gap_barrier_set *set, const gap_barrier_mesh *mesh,
    const double *x, const double *p, const gap_barrier_candidates *pairs,
    gap_barrier_linear_ccd ccd, void *user, double *alpha);

/* CFL-like step: CCD over the active pairs of the set only, and 0.9 dhat / (2 max |p|) over all
   vertices for all other pairs, which are at least dhat apart.
   alpha  1 value, as above
   bound  1 value, may be NULL: the CFL part; valid for all inactive pairs
   OK, or FULL_CCD: alpha is safe but the bound is below half of what CCD allows; for a longer step
   call gap_barrier_step_pairs with all swept candidates and take the larger of both. */
GAP_BARRIER_API int gap_barrier_step(gap_barrier_set *set, const gap_barrier_mesh *mesh,
    const double *x, const double *p, gap_barrier_linear_ccd ccd, void *user, double *alpha,
    double *bound);

#ifdef __cplusplus
}
#endif
#endif /* GAP_BARRIER_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_BARRIER_STATIC)) && \
    !defined(GAP_BARRIER_IMPLEMENTATION)
#define GAP_BARRIER_IMPLEMENTATION
#endif
#if defined(GAP_BARRIER_IMPLEMENTATION) && !defined(GAP_BARRIER_IMPLEMENTED)
#define GAP_BARRIER_IMPLEMENTED
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifndef GAP_BARRIER_ASSERT
#include <assert.h>
#define GAP_BARRIER_ASSERT(x) assert(x)
#endif

/* The default of the realloc hook. */
static inline void *gap_barrier__realloc_libc(void *user, void *p, size_t old_size,
    size_t new_size)
{
    (void)user; (void)old_size;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, new_size);
}

/* [block v3 from gap_distance.h] */
static inline double gap_barrier__dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* c = a - b; c may be a or b */
static inline void gap_barrier__sub3(const double a[3], const double b[3], double c[3])
{
    c[0] = a[0] - b[0]; c[1] = a[1] - b[1]; c[2] = a[2] - b[2];
}

/* c = a x b; c is neither */
static inline void gap_barrier__cross3(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}
/* [end v3] */

/* [block dist from gap_distance.h] */
/* Types as in gap_distance_pair.
   Error bound. u = 2^-53. A cross product of two rounded differences is off by at most 8u|a||b|, a
   triple product by 16u|t||u||v|. Where the result is above 1e-5 of that product of lengths its
   relative error is below 16u 1e5 < 2e-10, and so is that of |a x e|/|e| and |t.n|/|n| (|t.n| <=
   |t||n|, so n is at least as good). Where it is smaller the same expression is formed in
   double-double from exact differences: absolute error 2^-100 of the product of lengths.
   Choice of features. The closest point of a convex domain lies on a face that the unconstrained
   minimum violates (else a step towards that minimum would stay inside and be better), so only
   violated faces are looked at. Their signs are n.(v x w) and the like, n = u x v; the parameter
   is off by about 16u|w||v|/|n|, which moves the point by 16u|w| across the domain's border and
   changes the distance by less than (16u|w|)^2/(2d): below 1e-9 d for d > 1e-10 |w|. Where
   |n| < 1e-3 |u||v| the signs too are formed in double-double and all faces are looked at. */

/* exact difference as head and tail (Knuth) */
static inline void gap_barrier__diff_dd(const double a[3], const double b[3], double d[2][3])
{
    double s, t;
    int i;
    for (i = 0; i < 3; ++i) {
        s = a[i] - b[i];
        t = s - a[i];
        d[0][i] = s;
        d[1][i] = (a[i] - (s - t)) - (b[i] + t);
    }
}

/* c = a x b in double-double; fma gives the exact tail of a product whatever is contracted */
static inline void gap_barrier__cross_dd(double a[2][3], double b[2][3], double c[2][3])
{
    double p, q, pe, qe, s, t;
    int i, j, k;
    for (i = 0; i < 3; ++i) {
        j = (i + 1) % 3;
        k = (i + 2) % 3;
        p = a[0][j] * b[0][k];
        q = a[0][k] * b[0][j];
        pe = fma(a[0][j], b[0][k], -p) + (a[0][j] * b[1][k] + a[1][j] * b[0][k]);
        qe = fma(a[0][k], b[0][j], -q) + (a[0][k] * b[1][j] + a[1][k] * b[0][j]);
        s = p - q;
        t = s - p;
        pe = ((p - (s - t)) - (q + t)) + (pe - qe);
        c[0][i] = s + pe;
        c[1][i] = pe - (c[0][i] - s);
    }
}

/* a.b in double-double, rounded */
static inline double gap_barrier__dot_dd(double a[2][3], double b[2][3])
{
    double s = 0.0, e = 0.0, p, t, r;
    int i;
    for (i = 0; i < 3; ++i) {
        p = a[0][i] * b[0][i];
        e += fma(a[0][i], b[0][i], -p) + (a[0][i] * b[1][i] + a[1][i] * b[0][i]);
        r = s + p;
        t = r - s;
        e += (s - (r - t)) + (p - t);
        s = r;
    }
    return s + e;
}

static inline double gap_barrier__vv2(const double a[3], const double b[3])
{
    double r[3];
    gap_barrier__sub3(a, b, r);
    return gap_barrier__dot3(r, r);
}

/* x = (p - e0) x (e1 - e0) to full relative accuracy; |x|^2 */
static inline double gap_barrier__ve_cross(const double p[3], const double e0[3],
    const double e1[3], double x[3])
{
    double a[3], e[3], ad[2][3], ed[2][3], xd[2][3], xx;
    gap_barrier__sub3(p, e0, a);
    gap_barrier__sub3(e1, e0, e);
    gap_barrier__cross3(a, e, x);
    xx = gap_barrier__dot3(x, x);
    if (xx >= 1e-10 * gap_barrier__dot3(a, a) * gap_barrier__dot3(e, e)) return xx;
    gap_barrier__diff_dd(p, e0, ad);
    gap_barrier__diff_dd(e1, e0, ed);
    gap_barrier__cross_dd(ad, ed, xd);
    x[0] = xd[0][0]; x[1] = xd[0][1]; x[2] = xd[0][2];
    return gap_barrier__dot3(x, x);
}

static inline double gap_barrier__ve2(const double p[3], const double e0[3], const double e1[3],
    int *type)
{
    double a[3], e[3], x[3], l, ae;
    gap_barrier__sub3(p, e0, a);
    gap_barrier__sub3(e1, e0, e);
    l = gap_barrier__dot3(e, e);
    ae = gap_barrier__dot3(a, e);
    *type = ae <= 0.0 ? 0 : ae >= l ? 1 : 2;
    if (*type == 0) return gap_barrier__dot3(a, a);
    if (*type == 1) return gap_barrier__vv2(p, e1);
    return gap_barrier__ve_cross(p, e0, e1, x) / l;
}

/* Triple of a vf or ee pair from six points: t = q0 - q1, u = q2 - q3, v = q4 - q5, n = u x v.
   o = { n, t.n, (t x v).n, (u x t).n }: the last two are |n|^2 times the coordinates of t's foot in
   (u, v). Returns |n|^2; uv = |u|^2 |v|^2, tt = |t|^2. */
static inline double gap_barrier__tuv(const double *const q[6], double o[6], double *uv,
    double *tt)
{
    double t[3], u[3], v[3], c[3];
    gap_barrier__sub3(q[0], q[1], t);
    gap_barrier__sub3(q[2], q[3], u);
    gap_barrier__sub3(q[4], q[5], v);
    gap_barrier__cross3(u, v, o);
    o[3] = gap_barrier__dot3(t, o);
    gap_barrier__cross3(t, v, c);
    o[4] = gap_barrier__dot3(c, o);
    gap_barrier__cross3(u, t, c);
    o[5] = gap_barrier__dot3(c, o);
    *uv = gap_barrier__dot3(u, u) * gap_barrier__dot3(v, v);
    *tt = gap_barrier__dot3(t, t);
    return gap_barrier__dot3(o, o);
}

/* the same o in double-double */
static inline double gap_barrier__tuv_dd(const double *const q[6], double o[6])
{
    double t[2][3], u[2][3], v[2][3], n[2][3], c[2][3];
    int i;
    gap_barrier__diff_dd(q[0], q[1], t);
    gap_barrier__diff_dd(q[2], q[3], u);
    gap_barrier__diff_dd(q[4], q[5], v);
    gap_barrier__cross_dd(u, v, n);
    for (i = 0; i < 3; ++i) o[i] = n[0][i];
    o[3] = gap_barrier__dot_dd(t, n);
    gap_barrier__cross_dd(t, v, c);
    o[4] = gap_barrier__dot_dd(c, n);
    gap_barrier__cross_dd(u, t, c);
    o[5] = gap_barrier__dot_dd(c, n);
    return gap_barrier__dot3(o, o);
}

/* One side of the domain: best = min(best, distance of p and e0 e1), type from its three codes. */
static inline void gap_barrier__side(const double p[3], const double e0[3], const double e1[3],
    int code0, int code1, int code2, double *best, int *type)
{
    int k;
    double d = gap_barrier__ve2(p, e0, e1, &k);
    if (*best >= 0.0 && d >= *best) return;
    *best = d;
    *type = k == 0 ? code0 : k == 1 ? code1 : code2;
}

static inline double gap_barrier__vf2(const double p[3], const double f0[3], const double f1[3],
    const double f2[3], int *type)
{
    const double *q[6];
    double o[6], uv, tt, b0, m, best = -1.0; /* -1: none yet */
    int weak, inside;
    q[0] = p; q[1] = f0; q[2] = f1; q[3] = f0; q[4] = f2; q[5] = f0;
    m = gap_barrier__tuv(q, o, &uv, &tt);
    weak = m < 1e-6 * uv;
    if (weak) m = gap_barrier__tuv_dd(q, o);
    b0 = m - o[4] - o[5];
    inside = b0 > 0.0 && o[4] > 0.0 && o[5] > 0.0;
    if (inside && !weak) {
        if (o[3] * o[3] < 1e-10 * tt * uv) m = gap_barrier__tuv_dd(q, o);
        *type = 6;
        return o[3] * o[3] / m;
    }
    *type = 0;
    if (weak || o[5] <= 0.0) gap_barrier__side(p, f0, f1, 0, 1, 3, &best, type);
    if (weak || b0 <= 0.0) gap_barrier__side(p, f1, f2, 1, 2, 4, &best, type);
    if (weak || o[4] <= 0.0) gap_barrier__side(p, f2, f0, 2, 0, 5, &best, type);
    /* 1e-56: below a sine of 1e-28 the double-double normal may be rounding. 1e-12: ties go to the
       sides, whose derivatives are well conditioned. */
    if (inside && m > 1e-56 * uv && o[3] * o[3] < (1.0 - 1e-12) * best * m) {
        *type = 6;
        return o[3] * o[3] / m;
    }
    return best;
}

static inline double gap_barrier__ee2(const double a0[3], const double a1[3], const double b0[3],
    const double b1[3], int *type)
{
    const double *q[6];
    double o[6], uv, tt, m, s, t, best = -1.0;
    int weak, inside;
    q[0] = a0; q[1] = b0; q[2] = a1; q[3] = a0; q[4] = b1; q[5] = b0;
    m = gap_barrier__tuv(q, o, &uv, &tt);
    weak = m < 1e-6 * uv;
    if (weak) m = gap_barrier__tuv_dd(q, o);
    s = -o[4]; /* |n|^2 times the parameter along a, then along b */
    t = o[5];
    inside = s > 0.0 && s < m && t > 0.0 && t < m;
    if (inside && !weak) {
        if (o[3] * o[3] < 1e-10 * tt * uv) m = gap_barrier__tuv_dd(q, o);
        *type = 8;
        return o[3] * o[3] / m;
    }
    *type = 0;
    if (weak || s <= 0.0) gap_barrier__side(a0, b0, b1, 0, 1, 2, &best, type);
    if (weak || s >= m) gap_barrier__side(a1, b0, b1, 3, 4, 5, &best, type);
    if (weak || t <= 0.0) gap_barrier__side(b0, a0, a1, 0, 3, 6, &best, type);
    if (weak || t >= m) gap_barrier__side(b1, a0, a1, 1, 4, 7, &best, type);
    if (inside && m > 1e-56 * uv && o[3] * o[3] < (1.0 - 1e-12) * best * m) {
        *type = 8;
        return o[3] * o[3] / m;
    }
    return best;
}
/* [end dist] */

/* [block dist2nd from gap_distance.h] */
/* Let x_i be the points of the closest features, r = sum w_i(l) x_i the vector between the closest
   points with parameters l (ve 1, vf and ee 2, vv none), c_j = dr/dl_j, dw_j = dw/dl_j (constant).
   D(x) = min over l of |r|^2, so with G_jk = c_j.c_k
     grad D = 2 w (x) r
     Hess D = 2 w w^T (x) I - 2 sum_jk (w (x) c_j + dw_j (x) r) (G^-1)_jk (w (x) c_k + dw_k (x) r)^T
            = 2 w w^T (x) P - 2 sum_j [ (dw_j (x) r)(w (x) c^j)^T + transpose ]
              - 2 sum_jk (G^-1)_jk (dw_j (x) r)(dw_k (x) r)^T
   where c^j = sum_k (G^-1)_jk c_k is the dual basis and P projects onto the complement of the c_j:
   vv I, ve I - e e^T/|e|^2, vf and ee n n^T. No term is larger than the result by more than the
   shape of the pair demands, and one formula does for all kinds. */

/* Kind of the closest features and their points, as gap_distance_features. */
static inline int gap_barrier__feature(int kind, int type, int local[4])
{
    static const signed char ve[3][5] = {{0, 0, 1, -1, -1}, {0, 0, 2, -1, -1}, {1, 0, 1, 2, -1}};
    static const signed char vf[7][5] = {{0, 0, 1, -1, -1}, {0, 0, 2, -1, -1}, {0, 0, 3, -1, -1},
        {1, 0, 1, 2, -1}, {1, 0, 2, 3, -1}, {1, 0, 3, 1, -1}, {2, 0, 1, 2, 3}};
    static const signed char ee[9][5] = {{0, 0, 2, -1, -1}, {0, 0, 3, -1, -1}, {1, 0, 2, 3, -1},
        {0, 1, 2, -1, -1}, {0, 1, 3, -1, -1}, {1, 1, 2, 3, -1}, {1, 2, 0, 1, -1},
        {1, 3, 0, 1, -1}, {3, 0, 1, 2, 3}};
    static const signed char other[5] = {0, 0, 1, -1, -1};
    const signed char *row = kind == 1 ? ve[type] : kind == 2 ? vf[type] : kind == 3 ? ee[type]
        : other;
    int i;
    for (i = 0; i < 4; ++i) local[i] = row[i + 1];
    if (kind == 4) local[1] = -1;
    return kind == 4 ? 4 : row[0];
}

/* Closest points of features that are met inside: weights, r = sum w_i x_i, D = |r|^2.
   x  points of the features: vv 2, ve 3, vf 4, ee 4
   n  normal u x v of vf and ee, else untouched */
static inline double gap_barrier__closest(int kind, const double *const x[4], double w[4],
    double r[3], double n[3])
{
    const double *q[6];
    double a[3], e[3], c[3], o[6], l, m, uv, tt;
    int i;
    w[0] = 1.0; w[1] = -1.0; w[2] = 0.0; w[3] = 0.0;
    if (kind == 0) {
        gap_barrier__sub3(x[0], x[1], r);
        return gap_barrier__dot3(r, r);
    }
    if (kind == 1) {
        gap_barrier__sub3(x[0], x[1], a);
        gap_barrier__sub3(x[2], x[1], e);
        l = gap_barrier__dot3(e, e);
        w[2] = -gap_barrier__dot3(a, e) / l;
        w[1] = -1.0 - w[2];
        m = gap_barrier__ve_cross(x[0], x[1], x[2], c);
        gap_barrier__cross3(e, c, r); /* e x (a x e) = |e|^2 r */
        for (i = 0; i < 3; ++i) r[i] /= l;
        return m / l;
    }
    q[0] = x[0]; q[1] = kind == 2 ? x[1] : x[2];
    q[2] = kind == 2 ? x[2] : x[1]; q[3] = kind == 2 ? x[1] : x[0];
    q[4] = x[3]; q[5] = q[1];
    m = gap_barrier__tuv(q, o, &uv, &tt);
    if (m < 1e-6 * uv || o[3] * o[3] < 1e-10 * tt * uv) m = gap_barrier__tuv_dd(q, o);
    if (kind == 2) {
        w[2] = -o[4] / m; w[3] = -o[5] / m; w[1] = -1.0 - w[2] - w[3];
    } else {
        w[1] = -o[4] / m; w[0] = 1.0 - w[1]; w[3] = -o[5] / m; w[2] = -1.0 - w[3];
    }
    for (i = 0; i < 3; ++i) {
        n[i] = o[i];
        r[i] = o[3] / m * o[i];
    }
    return o[3] * o[3] / m;
}

/* What the Hessian needs besides w and r, for kind ve, vf or ee: dw[j], the dual basis c[j], g =
   entries 11, 12, 22 of G^-1; returns the number of parameters. n: of gap_barrier__closest. */
static inline int gap_barrier__duals(int kind, const double *const x[4], const double n[3],
    double dw[2][4], double c[2][3], double g[3])
{
    static const double k_dw[3][2][4] = {{{0, 1, -1, 0}, {0, 0, 0, 0}},
        {{0, 1, -1, 0}, {0, 1, 0, -1}}, {{-1, 1, 0, 0}, {0, 0, 1, -1}}};
    double u[3], v[3], m, sign = kind == 3 ? -1.0 : 1.0;
    int i, j;
    for (j = 0; j < 2; ++j) {
        for (i = 0; i < 4; ++i) dw[j][i] = k_dw[kind - 1][j][i];
        for (i = 0; i < 3; ++i) c[j][i] = 0.0;
    }
    gap_barrier__sub3(kind == 3 ? x[1] : x[2], kind == 3 ? x[0] : x[1], u);
    g[1] = g[2] = 0.0;
    if (kind == 1) { /* c_1 = -u */
        g[0] = 1.0 / gap_barrier__dot3(u, u);
        for (i = 0; i < 3; ++i) c[0][i] = -u[i] * g[0];
        return 1;
    }
    /* vf: c_1 = -u, c_2 = -v;  ee: c_1 = u, c_2 = -v. Duals: u^1 = v x n / m, v^1 = n x u / m. */
    gap_barrier__sub3(x[3], kind == 3 ? x[2] : x[1], v);
    m = gap_barrier__dot3(n, n);
    gap_barrier__cross3(v, n, c[0]);
    gap_barrier__cross3(n, u, c[1]);
    for (i = 0; i < 3; ++i) {
        c[0][i] *= -sign / m;
        c[1][i] /= -m;
    }
    g[0] = gap_barrier__dot3(v, v) / m;
    g[1] = -sign * gap_barrier__dot3(u, v) / m;
    g[2] = gap_barrier__dot3(u, u) / m;
    return 2;
}

/* 3x3 block (i, j) of the Hessian of D between feature points i and j; pr = P of the formula. */
static inline void gap_barrier__hess_block(int i, int j, int params, const double w[4],
    const double r[3], double dw[2][4], double c[2][3], const double g[3], double pr[3][3],
    double h[3][3])
{
    double s = 0.0;
    int a, b, k;
    if (params > 0)
        s = g[0] * dw[0][i] * dw[0][j] + g[1] * (dw[0][i] * dw[1][j] + dw[1][i] * dw[0][j])
            + g[2] * dw[1][i] * dw[1][j];
    for (a = 0; a < 3; ++a) {
        for (b = 0; b < 3; ++b) {
            h[a][b] = w[i] * w[j] * pr[a][b] - s * r[a] * r[b];
            for (k = 0; k < params; ++k)
                h[a][b] -= dw[k][i] * w[j] * r[a] * c[k][b] + w[i] * dw[k][j] * c[k][a] * r[b];
            h[a][b] *= 2.0;
        }
    }
}

/* P of the formula */
static inline void gap_barrier__projector(int kind, const double *const x[4], const double n[3],
    double pr[3][3])
{
    double e[3], l;
    int a, b;
    if (kind == 1) gap_barrier__sub3(x[2], x[1], e);
    else for (a = 0; a < 3; ++a) e[a] = kind == 0 ? 0.0 : n[a];
    l = kind == 0 ? 1.0 : gap_barrier__dot3(e, e);
    for (a = 0; a < 3; ++a)
        for (b = 0; b < 3; ++b)
            pr[a][b] = kind <= 1 ? (a == b ? 1.0 : 0.0) - e[a] * e[b] / l : e[a] * e[b] / l;
}
/* [end dist2nd] */

/* [block lanes from gap_psd.h] */
/* A vector never crosses a function boundary by value: its size may exceed the registers.
   Masks are 0 or -1. Every operation here acts on each lane by itself, so that a lane's bits do
   not depend on its neighbours, nor on how many there are. */
/* Builds for plain x86-64 work on four matrices at a time and choose AVX2 at run time: functions
   on lanes are always inlined, into functions that carry the target. Without "fma": there is
   nothing to contract, and both give the same bits. A Windows GCC does not align the stack for
   32 byte vectors. */
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX__) && !defined(_WIN32) \
    && !defined(GAP_SCALAR) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_sqrtpd) && __has_builtin(__builtin_shufflevector)
#define GAP_BARRIER__AVX2
#endif
#endif
#ifdef GAP_BARRIER__AVX2
#define GAP_BARRIER__BODY static inline __attribute__((always_inline))
#else
#define GAP_BARRIER__BODY static inline
#endif
#if defined(__GNUC__) && !defined(GAP_SCALAR)
#if defined(__AVX__) || defined(GAP_BARRIER__AVX2)
enum { gap_barrier__lanes = 4 };
#else
enum { gap_barrier__lanes = 2 };
#endif
typedef double gap_barrier__v __attribute__((vector_size(8 * gap_barrier__lanes)));
typedef long long gap_barrier__m __attribute__((vector_size(8 * gap_barrier__lanes)));
static const gap_barrier__v gap_barrier__zero = {0.0};
#define gap_barrier__get(x, lane) ((x)[lane])
#define gap_barrier__mask(cmp) ((gap_barrier__m)(cmp))
#define gap_barrier__sel(m, a, b) ((gap_barrier__v)(((m) & (gap_barrier__m)(a)) | (~(m) & (gap_barrier__m)(b))))
#define gap_barrier__abs(x) ((gap_barrier__v)((gap_barrier__m)(x) & 0x7fffffffffffffffLL))
#define gap_barrier__set(x) (gap_barrier__zero + (double)(x))
#if defined(__SSE2__) && defined(__has_builtin)
#if defined(__AVX__) && __has_builtin(__builtin_ia32_sqrtpd256)
#define gap_barrier__root(x) (x) = __builtin_ia32_sqrtpd256(x)
#define gap_barrier__any(m) (__builtin_ia32_movmskpd256((gap_barrier__v)(m)) != 0)
#elif defined(GAP_BARRIER__AVX2) /* by halves: the text does not know its target */
typedef double gap_barrier__v2 __attribute__((vector_size(16)));
typedef long long gap_barrier__m2 __attribute__((vector_size(16)));
#define gap_barrier__root(x) gap_barrier__root_halves(&(x))
#define gap_barrier__any(m) gap_barrier__any_halves(&(m))
GAP_BARRIER__BODY void gap_barrier__root_halves(gap_barrier__v *x)
{
    gap_barrier__v2 lo = __builtin_ia32_sqrtpd(__builtin_shufflevector(*x, *x, 0, 1));
    gap_barrier__v2 hi = __builtin_ia32_sqrtpd(__builtin_shufflevector(*x, *x, 2, 3));
    *x = __builtin_shufflevector(lo, hi, 0, 1, 2, 3);
}

GAP_BARRIER__BODY int gap_barrier__any_halves(const gap_barrier__m *m)
{
    gap_barrier__m2 lo = __builtin_shufflevector(*m, *m, 0, 1);
    gap_barrier__m2 hi = __builtin_shufflevector(*m, *m, 2, 3);
    return __builtin_ia32_movmskpd((gap_barrier__v2)(lo | hi)) != 0;
}
#elif !defined(__AVX__) && __has_builtin(__builtin_ia32_sqrtpd)
#define gap_barrier__root(x) (x) = __builtin_ia32_sqrtpd(x)
#define gap_barrier__any(m) (__builtin_ia32_movmskpd((gap_barrier__v)(m)) != 0)
#endif
#endif
#else
enum { gap_barrier__lanes = 1 };
typedef double gap_barrier__v;
typedef long long gap_barrier__m;
#define gap_barrier__get(x, lane) (x)
#define gap_barrier__mask(cmp) (-(long long)(cmp))
#define gap_barrier__sel(m, a, b) ((m) ? (a) : (b))
#define gap_barrier__abs(x) fabs(x)
#define gap_barrier__set(x) (0.0 + (double)(x))
#endif
#ifndef gap_barrier__root
#define gap_barrier__root(x) gap_barrier__root_lanes(&(x))
#define gap_barrier__any(m) gap_barrier__any_lanes(&(m))
static inline void gap_barrier__root_lanes(gap_barrier__v *x)
{
    int l;
    for (l = 0; l < gap_barrier__lanes; ++l) gap_barrier__get(*x, l) = sqrt(gap_barrier__get(*x, l));
}

static inline int gap_barrier__any_lanes(const gap_barrier__m *m)
{
    int l, some = 0;
    for (l = 0; l < gap_barrier__lanes; ++l) some |= gap_barrier__get(*m, l) != 0;
    return some;
}
#endif

/* Loads entries of `count` matrices, stride doubles apart: the lower half, packed, of size n*n, or
   (n = 0) all `stride` of them. Lanes without a matrix repeat the first one. */
GAP_BARRIER__BODY void gap_barrier__gather(int count, int n, const double *a, size_t stride, gap_barrier__v *x)
{
    int i, j, l, size = n ? n : 1, k = 0;

    for (i = 0; i < size; ++i) {
        for (j = 0; j < (n ? i + 1 : (int)stride); ++j, ++k) {
            const double *p = a + (i * n + j);
            for (l = 0; l < gap_barrier__lanes; ++l)
                gap_barrier__get(x[k], l) = p[l < count ? (size_t)l * stride : 0];
        }
    }
}

/* Scales each lane by a power of two so that its largest entry is in [1, 2): then no later product
   over- or underflows where it matters. undo[0] * undo[1] takes the scale back (two factors: it
   may reach 2^1074). Returns a bit per lane that is not finite; its entries are set to 0. */
GAP_BARRIER__BODY int gap_barrier__scale(int size, gap_barrier__v *x, gap_barrier__v undo[2])
{
    gap_barrier__v top = gap_barrier__set(0.0), check = top, t, s[2];
    gap_barrier__m m;
    int i, l, ex, bad = 0;

    for (i = 0; i < size; ++i) {
        t = gap_barrier__abs(x[i]);
        m = gap_barrier__mask(t > top);
        top = gap_barrier__sel(m, t, top);
        check += x[i] * 0.0;
    }
    for (l = 0; l < gap_barrier__lanes; ++l) {
        int nonfinite = gap_barrier__get(check, l) != 0.0;
        bad |= nonfinite << l;
        for (i = 0; nonfinite && i < size; ++i) gap_barrier__get(x[i], l) = 0.0;
        ex = 0;
        if (!nonfinite) frexp(gap_barrier__get(top, l), &ex);
        gap_barrier__get(s[0], l) = ldexp(1.0, -(ex / 2));
        gap_barrier__get(s[1], l) = ldexp(1.0, 1 + ex / 2 - ex);
    }
    for (i = 0; i < size; ++i) x[i] = x[i] * s[0] * s[1];
    undo[0] = 1.0 / s[0];
    undo[1] = 1.0 / s[1];
    return bad;
}

/* Rotation that diagonalises [[*a, b], [b, *c]]: new axes (cs, sn) and (-sn, cs) belong to the new
   *a and *c. The smaller angle, t = tan: t^2 + 2 z t - 1 = 0 with z = (a - c) / 2b. Where b is 0
   or z overflows the rotation is the identity. */
GAP_BARRIER__BODY void gap_barrier__rot(gap_barrier__v *a, const gap_barrier__v *b, gap_barrier__v *c, gap_barrier__v *cs,
    gap_barrier__v *sn)
{
    gap_barrier__m none = gap_barrier__mask(*b == 0.0);
    gap_barrier__v z = (*a - *c) / gap_barrier__sel(none, gap_barrier__set(1.0), *b + *b), t, r = z * z + 1.0;

    gap_barrier__root(r);
    t = 1.0 / (gap_barrier__abs(z) + r);
    t = gap_barrier__sel(gap_barrier__mask(z < 0.0), -t, t);
    t = gap_barrier__sel(none, gap_barrier__set(0.0), t);
    r = t * t + 1.0;
    gap_barrier__root(r);
    *cs = 1.0 / r;
    *sn = t * *cs;
    *a += t * *b;
    *c -= t * *b;
}

GAP_BARRIER__BODY void gap_barrier__cross(const gap_barrier__v a[3], const gap_barrier__v b[3], gap_barrier__v c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Unit vectors p, q that complete the unit vector v to a right-handed frame v, p, q. The larger of
   the first two components is in p, so its length before scaling is at least sqrt(1/2). */
GAP_BARRIER__BODY void gap_barrier__frame(const gap_barrier__v v[3], gap_barrier__v p[3], gap_barrier__v q[3])
{
    gap_barrier__m m = gap_barrier__mask(gap_barrier__abs(v[0]) > gap_barrier__abs(v[1]));
    gap_barrier__v zero = gap_barrier__set(0.0), r;

    p[0] = gap_barrier__sel(m, -v[2], zero);
    p[1] = gap_barrier__sel(m, zero, v[2]);
    p[2] = gap_barrier__sel(m, v[0], -v[1]);
    r = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    gap_barrier__root(r);
    p[0] /= r, p[1] /= r, p[2] /= r;
    gap_barrier__cross(v, p, q);
}
/* [end lanes] */

/* [block eig3 from gap_psd.h] */
/* Symmetric matrices are packed by rows of the lower half: (i,j) at i(i+1)/2 + j. Eigenvectors are
   rows of length gap_barrier__n. */
enum { gap_barrier__n = 12, gap_barrier__packed = 78 };

/* The eigenvector of B to its well separated eigenvalue x: the longest cross product of two rows
   of B - x I. Where flat (B is noise): the first axis. */
GAP_BARRIER__BODY void gap_barrier__vec3(const gap_barrier__v b[6], const gap_barrier__v *x, const gap_barrier__m *flat,
    gap_barrier__v v[3])
{
    static const int at[3][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}};
    gap_barrier__v m[3][3], u[3], r, best = gap_barrier__set(-1.0);
    gap_barrier__m big;
    int i, k;

    for (i = 0; i < 9; ++i) m[i / 3][i % 3] = b[at[i / 3][i % 3]];
    for (i = 0; i < 3; ++i) m[i][i] -= *x;
    for (k = 0; k < 3; ++k) {
        gap_barrier__cross(m[k], m[(k + 1) % 3], u);
        r = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
        big = gap_barrier__mask(r > best);
        best = gap_barrier__sel(big, r, best);
        for (i = 0; i < 3; ++i) v[i] = gap_barrier__sel(big, u[i], v[i]);
    }
    gap_barrier__root(best);
    for (i = 0; i < 3; ++i) v[i] = gap_barrier__sel(*flat, gap_barrier__set(i == 0), v[i] / best);
}

/* Closed form of size 3. With B = (A - q I) / p, q = tr A / 3, |B|_F^2 = 6 and r = det B / 2 in
   [-1, 1] the eigenvalues of B are the roots of x^3 - 3 x - 2 r. The one with the sign of r, in
   sqrt 3 .. 2 by size, is at least sqrt 3 away from the others, so that Newton (slope >= 6)
   and the eigenvector are both well conditioned; the usual three cosines lose half of the digits
   where eigenvalues are close. The other two come from one rotation in the plane across. */
GAP_BARRIER__BODY void gap_barrier__eig3(const gap_barrier__v *a, gap_barrier__v *d, gap_barrier__v *z)
{
    gap_barrier__v b[6], v[3], u[3], w[3], p, r, x, cs, sn, q = (a[0] + a[2] + a[5]) / 3.0;
    gap_barrier__m flat;
    int i;

    for (i = 0; i < 6; ++i) b[i] = i == 0 || i == 2 || i == 5 ? a[i] - q : a[i];
    p = (b[0] * b[0] + b[2] * b[2] + b[5] * b[5]) / 6.0 +
        (b[1] * b[1] + b[3] * b[3] + b[4] * b[4]) / 3.0;
    gap_barrier__root(p);
    flat = gap_barrier__mask(p < 1e-60); /* a multiple of I */
    x = gap_barrier__sel(flat, gap_barrier__set(1.0), p);
    p = gap_barrier__sel(flat, gap_barrier__set(0.0), p);
    for (i = 0; i < 6; ++i) b[i] /= x;
    r = 0.5 * (b[0] * (b[2] * b[5] - b[4] * b[4]) - b[1] * (b[1] * b[5] - b[4] * b[3]) +
               b[3] * (b[1] * b[4] - b[2] * b[3]));
    w[0] = gap_barrier__abs(r);
    w[0] = gap_barrier__sel(gap_barrier__mask(w[0] > 1.0), gap_barrier__set(1.0), w[0]);
    x = 1.7320508075688772 + w[0] * 0.2679491924311228; /* chord, 0.02 off at most */
    for (i = 0; i < 4; ++i) x -= (x * (x * x - 3.0) - 2.0 * w[0]) / (3.0 * x * x - 3.0);
    x = gap_barrier__sel(gap_barrier__mask(r < 0.0), -x, x);
    gap_barrier__vec3(b, &x, &flat, v);
    gap_barrier__frame(v, u, w);
    cs = b[0] * u[0] + b[1] * u[1] + b[3] * u[2];
    sn = b[1] * u[0] + b[2] * u[1] + b[4] * u[2];
    r = b[3] * u[0] + b[4] * u[1] + b[5] * u[2];
    d[0] = x;
    d[1] = u[0] * cs + u[1] * sn + u[2] * r;
    r = w[0] * cs + w[1] * sn + w[2] * r;
    d[2] = -(x + d[1]); /* B has no trace */
    gap_barrier__rot(d + 1, &r, d + 2, &cs, &sn);
    for (i = 0; i < 3; ++i) {
        d[i] = q + p * d[i];
        z[i] = v[i];
        z[gap_barrier__n + i] = cs * u[i] + sn * w[i];
        z[2 * gap_barrier__n + i] = cs * w[i] - sn * u[i];
    }
}
/* [end eig3] */

/* [block eig from gap_psd.h] */
/* Eigenvectors of size 4..12 are those of the tridiagonal, rows of z, m entries, carried back by
   the reflectors I - beta v v^T, v in row k of hv; up to size 3 z itself. */
typedef struct gap_barrier__basis {
    int n, m;
    gap_barrier__v z[gap_barrier__n * gap_barrier__n], hv[gap_barrier__n * gap_barrier__n], beta[gap_barrier__n];
} gap_barrier__basis;

/* One Householder step: reflector I - beta v v^T that maps column k below the diagonal to a
   multiple of its first entry, applied to both sides of the rest of a: with p = beta A v and
   w = p - (beta v.p / 2) v it is A - v w^T - w v^T. Returns the new entry in *e. */
GAP_BARRIER__BODY void gap_barrier__reflect(int n, int k, gap_barrier__v *a, gap_barrier__v *v, gap_barrier__v *beta,
    gap_barrier__v *e)
{
    gap_barrier__v w[gap_barrier__n], tail = gap_barrier__set(0.0), r, x, h;
    gap_barrier__m none, some;
    int i, j;

    for (i = k + 1; i < n; ++i) v[i] = a[i * (i + 1) / 2 + k];
    for (i = k + 2; i < n; ++i) tail += v[i] * v[i];
    none = gap_barrier__mask(tail < 1e-60); /* below 1e-30 of the largest entry */
    x = v[k + 1];
    r = x * x + tail;
    gap_barrier__root(r);
    r = gap_barrier__sel(gap_barrier__mask(x < 0.0), -r, r);
    *e = gap_barrier__sel(none, x, -r);
    v[k + 1] = x + r;
    h = gap_barrier__sel(none, gap_barrier__set(1.0), r * v[k + 1]);
    *beta = gap_barrier__sel(none, gap_barrier__set(0.0), 1.0 / h);
    some = ~none;
    if (!gap_barrier__any(some)) return;
    for (i = k + 1; i < n; ++i) w[i] = gap_barrier__set(0.0);
    for (i = n - 1; i > k; i -= 2) { /* two rows at a time; the last may be alone */
        const gap_barrier__v *row = a + i * (i + 1) / 2, *row2 = i - 1 > k ? row - i : row;
        gap_barrier__v vi = v[i], vj = i - 1 > k ? v[i - 1] : gap_barrier__set(0.0);
        gap_barrier__v sum = row[i] * vi, sum2 = gap_barrier__set(0.0);
        for (j = k + 1; j < i - 1; ++j) {
            sum += row[j] * v[j];
            sum2 += row2[j] * v[j];
            w[j] += row[j] * vi + row2[j] * vj;
        }
        if (i - 1 > k) {
            sum += row[i - 1] * vj;
            w[i - 1] += sum2 + row2[i - 1] * vj + row[i - 1] * vi;
        }
        w[i] += sum;
    }
    h = gap_barrier__set(0.0);
    for (i = k + 1; i < n; ++i) h += w[i] * v[i];
    h = 0.5 * *beta * h;
    for (i = k + 1; i < n; ++i) w[i] = *beta * (w[i] - h * v[i]);
    for (i = n - 1; i > k; i -= 2) {
        gap_barrier__v *row = a + i * (i + 1) / 2, *row2 = row - i, vi = v[i], wi = w[i], vj, wj;
        row[i] -= 2.0 * vi * wi;
        if (i - 1 <= k) break;
        vj = v[i - 1], wj = w[i - 1];
        row[i - 1] -= vi * wj + wi * vj;
        row2[i - 1] -= 2.0 * vj * wj;
        for (j = k + 1; j < i - 1; ++j) {
            row[j] -= vi * w[j] + wi * v[j];
            row2[j] -= vj * w[j] + wj * v[j];
        }
    }
}

/* Reduces a to the tridiagonal d, e (e[k] couples k and k + 1). Where the coupling vanishes and the
   rest is rounding, the rest is set to 0. Returns the size that is left; d and e are 0 behind. */
GAP_BARRIER__BODY int gap_barrier__tridiag(int n, gap_barrier__v *a, gap_barrier__v *d, gap_barrier__v *e,
    gap_barrier__basis *q)
{
    double noise = n * 8.9e-16; /* n 2^-50 of the largest entry */
    int i, j, k;

    for (k = 0; k < n; ++k) d[k] = e[k] = q->beta[k] = gap_barrier__set(0.0);
    for (k = 0; k < n - 1; ++k) {
        gap_barrier__m small, large;
        d[k] = a[k * (k + 1) / 2 + k];
        gap_barrier__reflect(n, k, a, q->hv + k * gap_barrier__n, q->beta + k, e + k);
        small = gap_barrier__mask(gap_barrier__abs(e[k]) <= noise);
        if (gap_barrier__any(small)) {
            gap_barrier__v rest = gap_barrier__set(0.0), *row;
            for (i = k + 1; i < n; ++i)
                for (j = k + 1, row = a + i * (i + 1) / 2; j <= i; ++j) rest += row[j] * row[j];
            small = small & gap_barrier__mask(rest <= noise * noise);
            if (!gap_barrier__any(small)) continue;
            e[k] = gap_barrier__sel(small, gap_barrier__set(0.0), e[k]);
            for (i = (k + 1) * (k + 2) / 2; i < n * (n + 1) / 2; ++i)
                a[i] = gap_barrier__sel(small, gap_barrier__set(0.0), a[i]);
            large = ~small;
            if (!gap_barrier__any(large)) return k + 1;
        }
    }
    d[n - 1] = a[n * (n + 1) / 2 - 1];
    return n;
}

/* One QR step, rotations lo..hi-1, on the block of each lane: on[k] says where rotation k belongs
   to it. Rotation k takes (x, y) to (r, 0); at first x is the diagonal less the shift. */
GAP_BARRIER__BODY void gap_barrier__qr_step(int lo, int hi, const gap_barrier__m *on, const gap_barrier__v *shift,
    gap_barrier__v *d, gap_barrier__v *e, gap_barrier__basis *q)
{
    gap_barrier__v zero = gap_barrier__set(0.0), one = gap_barrier__set(1.0), x = zero, y = zero, r, c, s, h;
    int j, k, m = q->m;

    for (k = lo; k < hi; ++k) {
        gap_barrier__m first = k > lo ? on[k] & ~on[k - 1] : on[k], go;
        x = gap_barrier__sel(first, d[k] - *shift, x);
        y = gap_barrier__sel(first, e[k], y);
        r = x * x + y * y;
        go = on[k] & gap_barrier__mask(r > 1e-250);
        h = 1.0 / r; /* beside the root, not behind it; where r is 0 nothing of it is used */
        gap_barrier__root(r);
        h = h * r;
        c = gap_barrier__sel(go, x * h, one);
        s = gap_barrier__sel(go, y * h, zero);
        if (k > lo) e[k - 1] = gap_barrier__sel(on[k] & ~first, r, e[k - 1]);
        h = s * (d[k + 1] - d[k]) + c * (e[k] + e[k]);
        d[k] += s * h;
        d[k + 1] -= s * h;
        x = e[k] = c * h - e[k];
        y = s * e[k + 1]; /* behind the block's end nobody reads it */
        e[k + 1] = c * e[k + 1];
        for (j = 0; j < m; ++j) {
            gap_barrier__v *z = q->z + k * gap_barrier__n + j, p = z[0], t = z[gap_barrier__n];
            z[0] = c * p + s * t;
            z[gap_barrier__n] = c * t - s * p;
        }
    }
}

/* Eigenvalues d and eigenvectors q->z of the tridiagonal d, e. Couplings below 2^-52 of the norm
   are taken as 0. Every lane works on its own last block that is not yet diagonal, with
   Wilkinson's shift: the eigenvalue of its last 2x2 that is nearer to the last entry. Two steps
   per eigenvalue as a rule; 20 are never reached. */
GAP_BARRIER__BODY void gap_barrier__qr(gap_barrier__v *d, gap_barrier__v *e, gap_barrier__basis *q)
{
    gap_barrier__v zero = gap_barrier__set(0.0), one = gap_barrier__set(1.0), tol = zero, last, half, b, r;
    gap_barrier__m on[gap_barrier__n], seen, big, now;
    int j, k, lo, hi, step, m = q->m;

    for (k = 0; k < m; ++k) {
        for (j = 0; j < m; ++j) q->z[k * gap_barrier__n + j] = zero;
        q->z[k * gap_barrier__n + k] = one;
        tol += d[k] * d[k] + 2.0 * e[k] * e[k];
    }
    gap_barrier__root(tol);
    tol = tol * 2.2204460492503131e-16;
    for (step = 0; step < 20 * m; ++step) {
        now = seen = gap_barrier__mask(zero != zero);
        last = half = b = zero;
        for (lo = hi = -1, k = m - 2; k >= 0; --k) {
            big = gap_barrier__mask(gap_barrier__abs(e[k]) > tol);
            on[k] = now = big & (now | ~seen);
            if (!gap_barrier__any(now)) continue;
            lo = k;
            if (hi < 0) hi = k + 1;
            now = big & ~seen;
            if (gap_barrier__any(now)) { /* rotation k is the last of its block */
                last = gap_barrier__sel(now, d[k + 1], last);
                half = gap_barrier__sel(now, 0.5 * (d[k] - d[k + 1]), half);
                b = gap_barrier__sel(now, e[k], b);
                seen = seen | big;
            }
            now = on[k];
        }
        if (hi < 0) return;
        r = half * half + b * b;
        gap_barrier__root(r);
        r = half + gap_barrier__sel(gap_barrier__mask(half < 0.0), -r, r);
        last -= b * b / gap_barrier__sel(seen, r, one);
        gap_barrier__qr_step(lo, hi, on, &last, d, e, q);
    }
}

/* Eigenvalues d[0..m-1] (the others are 0) of the packed matrix a, which is destroyed, and the way
   to their eigenvectors. */
GAP_BARRIER__BODY void gap_barrier__solve(int n, gap_barrier__v *a, gap_barrier__v *d, gap_barrier__basis *q)
{
    gap_barrier__v e[gap_barrier__n];

    q->n = q->m = n;
    if (n > 3) {
        q->m = gap_barrier__tridiag(n, a, d, e, q);
        gap_barrier__qr(d, e, q);
    } else if (n == 3) {
        gap_barrier__eig3(a, d, q->z);
    } else {
        d[0] = a[0];
        q->z[0] = gap_barrier__set(1.0);
        if (n == 2) {
            d[1] = a[2];
            gap_barrier__rot(d, a + 1, d + 1, q->z, q->z + 1);
            q->z[gap_barrier__n] = -q->z[1];
            q->z[gap_barrier__n + 1] = q->z[0];
        }
    }
}

/* Carries y from reduced coordinates, where it has up to m entries, to those of the matrix. */
GAP_BARRIER__BODY void gap_barrier__back(const gap_barrier__basis *q, int m, gap_barrier__v *y)
{
    int i, k;

    for (k = q->n > 3 ? m - 2 : -1; k >= 0; --k) {
        const gap_barrier__v *v = q->hv + k * gap_barrier__n;
        gap_barrier__v t = gap_barrier__set(0.0);
        for (i = k + 1; i < q->n; ++i) t += v[i] * y[i];
        t = t * q->beta[k];
        for (i = k + 1; i < q->n; ++i) y[i] -= t * v[i];
    }
}

/* Eigenvalues (ascending) and eigenvectors (columns; v may be NULL) of 1..gap_barrier__lanes matrices
   n*n in a row. Returns a bit per matrix that is not finite (it gets zeros). */
GAP_BARRIER__BODY int gap_barrier__eigen(int n, int count, const double *a, double *w, double *v)
{
    gap_barrier__v x[gap_barrier__packed], y[gap_barrier__n * gap_barrier__n], d[gap_barrier__n], undo[2];
    gap_barrier__basis q;
    int order[gap_barrier__n], i, j, l, bad;

    gap_barrier__gather(count, n, a, (size_t)(n * n), x);
    bad = gap_barrier__scale(n * (n + 1) / 2, x, undo);
    gap_barrier__solve(n, x, d, &q);
    for (j = 0; j < n; ++j) {
        for (i = 0; i < n; ++i)
            y[j * n + i] = i < q.m && j < q.m ? q.z[j * gap_barrier__n + i] : gap_barrier__set(i == j);
        if (v) gap_barrier__back(&q, j < q.m ? q.m : q.m + 1, y + j * n);
        d[j] = d[j] * undo[0] * undo[1];
    }
    for (l = 0; l < count; ++l) {
        for (j = 0; j < n; ++j) { /* insertion sort */
            double t = gap_barrier__get(d[j], l);
            if (!(fabs(t) < HUGE_VAL)) bad |= 1 << l;
            for (i = j; i > 0 && gap_barrier__get(d[order[i - 1]], l) > t; --i) order[i] = order[i - 1];
            order[i] = j;
        }
        for (j = 0; j < n; ++j) {
            double keep = bad >> l & 1 ? 0.0 : 1.0;
            w[l * n + j] = keep != 0.0 ? gap_barrier__get(d[order[j]], l) + 0.0 : 0.0;
            for (i = 0; v && i < n; ++i)
                v[(l * n + i) * n + j] = keep * gap_barrier__get(y[order[j] * n + i], l) + 0.0;
        }
    }
    return bad & ((1 << count) - 1);
}
/* [end eig] */

/* [block psd from gap_psd.h] */
/* sum = the part of the spectrum that the projection adds: -lambda y y^T over the negative
   eigenvalues, or lambda y y^T over the positive ones where they are fewer (*fresh: the matrix
   itself is then dropped). Eigenvalues within the rounding `noise` count as 0. c: eigenvalues,
   used up. */
GAP_BARRIER__BODY void gap_barrier__spectrum(const gap_barrier__basis *q, gap_barrier__v *c, gap_barrier__v *sum,
    gap_barrier__m *fresh)
{
    gap_barrier__v zero = gap_barrier__set(0.0), one = gap_barrier__set(1.0), plus = zero, coef, t;
    gap_barrier__v y[gap_barrier__n], noise = gap_barrier__set(q->n * 8.9e-16);
    gap_barrier__m found, now;
    int i, j, n = q->n, m = q->m;

    for (j = 0; j < m; ++j) {
        plus += gap_barrier__sel(gap_barrier__mask(c[j] > noise), one, zero);
        plus -= gap_barrier__sel(gap_barrier__mask(c[j] < -noise), one, zero);
    }
    *fresh = gap_barrier__mask(plus < 0.0);
    for (j = 0; j < m; ++j) {
        t = gap_barrier__sel(*fresh, c[j], -c[j]);
        c[j] = gap_barrier__sel(gap_barrier__mask(t > noise), t, zero);
    }
    for (i = 0; i < n * (n + 1) / 2; ++i) sum[i] = zero;
    for (;;) { /* every round takes one eigenvector of each lane that has one left */
        coef = zero;
        for (i = 0; i < n; ++i) y[i] = zero;
        found = gap_barrier__mask(coef != zero);
        for (j = 0; j < m; ++j) {
            now = ~found & gap_barrier__mask(c[j] > zero);
            if (!gap_barrier__any(now)) continue;
            found = found | now;
            coef = gap_barrier__sel(now, c[j], coef);
            c[j] = gap_barrier__sel(now, zero, c[j]);
            for (i = 0; i < m; ++i) y[i] = gap_barrier__sel(now, q->z[j * gap_barrier__n + i], y[i]);
        }
        if (!gap_barrier__any(found)) return;
        gap_barrier__back(q, m, y);
        for (i = 0; i < n; ++i) {
            t = coef * y[i];
            for (j = 0; j <= i; ++j) sum[i * (i + 1) / 2 + j] += t * y[j];
        }
    }
}

/* Nearest PSD matrices of 1..gap_barrier__lanes matrices n*n in a row; out may be a. Returns a bit per
   matrix that is not finite (it gets zeros). */
GAP_BARRIER__BODY int gap_barrier__nearest(int n, int count, const double *a, double *out)
{
    gap_barrier__v zero = gap_barrier__set(0.0), check = zero, t, undo[2];
    gap_barrier__v raw[gap_barrier__packed], x[gap_barrier__packed], d[gap_barrier__n];
    gap_barrier__basis q;
    gap_barrier__m fresh, some;
    size_t nn = (size_t)(n * n);
    int i, j, k, l, bad;

    gap_barrier__gather(count, n, a, nn, raw);
    for (k = 0; k < n * (n + 1) / 2; ++k) x[k] = raw[k];
    bad = gap_barrier__scale(n * (n + 1) / 2, x, undo);
    gap_barrier__solve(n, x, d, &q);
    gap_barrier__spectrum(&q, d, x, &fresh);
    for (l = 0; l < gap_barrier__lanes; ++l) if (bad >> l & 1) gap_barrier__get(fresh, l) = -1;
    for (i = k = 0; i < n; ++i) {
        for (j = 0; j <= i; ++j, ++k) {
            t = gap_barrier__sel(fresh, zero, raw[k]);
            x[k] = x[k] * undo[0] * undo[1];
            some = gap_barrier__mask(x[k] != zero);
            t = gap_barrier__sel(some, t + x[k], t); /* an entry that stays keeps its bits, also -0 */
            check += t * 0.0;
            for (l = 0; l < count; ++l) {
                double *to = out + (size_t)l * nn;
                to[i * n + j] = to[j * n + i] = gap_barrier__get(t, l);
            }
        }
    }
    for (l = 0; l < count; ++l) {
        if (!(gap_barrier__get(check, l) != 0.0)) continue;
        bad |= 1 << l;
        for (i = 0; i < n * n; ++i) out[(size_t)l * nn + (size_t)i] = 0.0;
    }
    return bad & ((1 << count) - 1);
}
/* [end psd] */

enum { /* buffers of a set */
    gap_barrier__kind, gap_barrier__node, gap_barrier__weight, gap_barrier__normal,
    gap_barrier__dist2, gap_barrier__mult, gap_barrier__offset, gap_barrier__mollify,
    gap_barrier__force, gap_barrier__parent, gap_barrier__type, gap_barrier__code,
    gap_barrier__chunk, gap_barrier__rec_mem, gap_barrier__order, gap_barrier__key,
    gap_barrier__active, gap_barrier__guilty, gap_barrier__close,
    gap_barrier__grain = 2048 /* candidates or contacts in a chunk */
};

enum { /* what a candidate is; active ones have 1 + type */
    gap_barrier__off = 0, gap_barrier__touch = 250, gap_barrier__rest = 251,
    gap_barrier__nonfin = 252, gap_barrier__index = 253
};

/* At least `count` items of `size` bytes; contents are kept. NULL: no memory. */
static inline void *gap_barrier__grow(gap_barrier_set *set, gap_barrier_buffer *b, size_t count,
    size_t size)
{
    gap_barrier_realloc fn = set->opt.realloc_fn ? set->opt.realloc_fn : gap_barrier__realloc_libc;
    size_t bytes = count * size;
    void *p;
    if (bytes <= b->size && b->p) return b->p;
    if (count > ((size_t)-1) / 2 / size) return NULL;
    bytes += bytes / 4 + 64;
    p = fn(set->opt.realloc_user, b->p, b->size, bytes);
    if (!p) return NULL;
    b->p = p;
    b->size = bytes;
    return p;
}

static inline void gap_barrier__release(gap_barrier_set *set, gap_barrier_buffer *b)
{
    gap_barrier_realloc fn = set->opt.realloc_fn ? set->opt.realloc_fn : gap_barrier__realloc_libc;
    if (b->p) fn(set->opt.realloc_user, b->p, b->size, 0);
    b->p = NULL;
    b->size = 0;
}

static inline void gap_barrier__for(const gap_barrier_set *set, int count, gap_barrier_range fn,
    void *ctx)
{
    int begin;
    if (set->opt.parallel_for) {
        set->opt.parallel_for(set->opt.parallel_user, count, gap_barrier__grain, fn, ctx);
        return;
    }
    for (begin = 0; begin < count; begin += gap_barrier__grain)
        fn(ctx, begin, begin + gap_barrier__grain < count ? begin + gap_barrier__grain : count, 0);
}

/* ---- the barrier function of y = D - xi^2 and yhat = dhat (2 xi + dhat) ---- */

/* ln(y/yhat) without cancellation near 1, and b'' of C2 in its factored form:
   b = -(y-yhat)^2 L,  b' = (yhat-y)(2L - yhat/y + 1),  b'' = -2L + (yhat-y)(yhat+3y)/y^2 */
static inline void gap_barrier__form(int form, double y, double yhat, double b[3])
{
    double L = y > 0.5 * yhat ? log1p((y - yhat) / yhat) : log(y / yhat), z = yhat - y;
    if (form == GAP_BARRIER_LOG_C2) {
        b[0] = -z * z * L;
        b[1] = z * (2.0 * L - z / y);
        b[2] = -2.0 * L + z * (yhat + 3.0 * y) / (y * y);
    } else if (form == GAP_BARRIER_LOG_C1) {
        b[0] = -z * L;
        b[1] = L - z / y;
        b[2] = (y + yhat) / (y * y);
    } else {
        b[0] = -L;
        b[1] = -1.0 / y;
        b[2] = 1.0 / (y * y);
    }
}

/* b with the scale of PHYSICAL: dhat / yhat^2 for C2 (its unit is yhat^2), so b is a length. */
static inline void gap_barrier__b(const gap_barrier_options *opt, double dhat, double dist2,
    double xi, double b[3])
{
    double y = dist2 - xi * xi, yhat = dhat * (2.0 * xi + dhat), s;
    b[0] = b[1] = b[2] = 0.0;
    if (!(y < yhat)) return;
    if (opt->form == GAP_BARRIER_USER) opt->user_fn(opt->user, y, yhat, b);
    else gap_barrier__form(opt->form, y, yhat, b);
    if (!(opt->flags & GAP_BARRIER_PHYSICAL)) return;
    if (opt->form == GAP_BARRIER_USER && opt->units > 0.0 && opt->units < 2.0)
        s = dhat / pow(yhat, opt->units);
    else if (opt->form == GAP_BARRIER_LOG_C1) s = dhat / yhat;
    else if (opt->form == GAP_BARRIER_LOG_C0) s = dhat;
    else s = dhat / (yhat * yhat);
    b[0] *= s; b[1] *= s; b[2] *= s;
}

/* ---- mollifier of edge-edge pairs: e(c) = (2 - c/eps) c/eps, c = |u x v|^2 < eps ---- */

/* c, and u = x1 - x0, v = x3 - x2, n = u x v */
static inline double gap_barrier__cross2(const double *const q[4], double u[3], double v[3],
    double n[3])
{
    gap_barrier__sub3(q[1], q[0], u);
    gap_barrier__sub3(q[3], q[2], v);
    gap_barrier__cross3(u, v, n);
    return gap_barrier__dot3(n, n);
}

/* e, e', e'' in c */
static inline void gap_barrier__e(double c, double eps, double e[3])
{
    e[0] = 1.0;
    e[1] = e[2] = 0.0;
    if (!(c < eps)) return;
    e[0] = (2.0 - c / eps) * (c / eps);
    e[1] = 2.0 / eps * (1.0 - c / eps);
    e[2] = -2.0 / (eps * eps);
}

/* ---- pairs ---- */

typedef struct gap_barrier__pair {
    int count, first, node[4]; /* points, those of the first side */
    const double *q[4];        /* positions; 2D ones are padded in buf */
    double buf[4][3];
} gap_barrier__pair;

static inline void gap_barrier__points(int dim, const double *x, gap_barrier__pair *p)
{
    int i;
    for (i = 0; i < p->count; ++i) {
        const double *at = x + (size_t)dim * (size_t)p->node[i];
        if (dim == 3) {
            p->q[i] = at;
        } else {
            p->buf[i][0] = at[0]; p->buf[i][1] = at[1]; p->buf[i][2] = 0.0;
            p->q[i] = p->buf[i];
        }
    }
}

/* Nodes of a candidate; 0 if a number is out of range. */
static inline int gap_barrier__nodes(const gap_barrier_mesh *m, int kind, int a, int b,
    gap_barrier__pair *p)
{
    static const int count[5] = {2, 3, 4, 4, 1};
    int rows = kind == 0 ? m->nodes : kind == 1 || kind == 3 ? m->edges
        : kind == 2 ? m->tris : m->planes, i;
    const int *e;
    p->count = count[kind];
    p->first = kind == 3 ? 2 : 1;
    if (a < 0 || a >= (kind == 3 ? m->edges : m->nodes) || b < 0 || b >= rows) return 0;
    if (kind == 3) {
        e = m->edge + 2 * (size_t)a;
        p->node[0] = e[0]; p->node[1] = e[1];
        e = m->edge + 2 * (size_t)b;
        p->node[2] = e[0]; p->node[3] = e[1];
    } else {
        p->node[0] = a;
        if (kind == 0) p->node[1] = b;
        e = kind == 2 ? m->tri + 3 * (size_t)b : m->edge + 2 * (size_t)b;
        for (i = 1; i < count[kind] && kind != 0; ++i) p->node[i] = e[i - 1];
    }
    for (i = 0; i < p->count; ++i)
        if (p->node[i] < 0 || p->node[i] >= m->nodes) return 0;
    return 1;
}

/* xi: largest radius of the first side + that of the second */
static inline double gap_barrier__xi(const gap_barrier_mesh *m, const gap_barrier__pair *p)
{
    double side[2] = {0.0, 0.0}, r;
    int i, s;
    if (!m->radius) return 0.0;
    for (i = 0; i < p->count; ++i) {
        s = i >= p->first;
        r = m->radius[p->node[i]];
        if (r > side[s]) side[s] = r;
    }
    return side[0] + side[1];
}

/* 1 if the pair can never matter: a node on both sides, or every component of every node fixed. */
static inline int gap_barrier__idle(const gap_barrier_mesh *m, const gap_barrier__pair *p)
{
    int i, j, all = m->dim == 3 ? 7 : 3, fixed = m->fixed != NULL;
    for (i = 0; i < p->count; ++i) {
        if (fixed && (m->fixed[p->node[i]] & all) != all) fixed = 0;
        for (j = p->first; j < p->count && i < p->first; ++j)
            if (p->node[i] == p->node[j]) return 1;
    }
    return fixed;
}

/* height above a plane; its normal padded to three coordinates */
static inline double gap_barrier__height(const gap_barrier_mesh *m, int plane, const double q[3],
    double normal[3])
{
    const double *at = m->plane + 2 * (size_t)m->dim * (size_t)plane;
    double h = 0.0;
    int i;
    for (i = 0; i < 3; ++i) {
        normal[i] = i < m->dim ? at[m->dim + i] : 0.0;
        if (i < m->dim) h += (q[i] - at[i]) * normal[i];
    }
    return h;
}

static inline double gap_barrier__dist2_of(int kind, const double *const q[4], int *type)
{
    *type = 0;
    if (kind == 0) return gap_barrier__vv2(q[0], q[1]);
    if (kind == 1) return gap_barrier__ve2(q[0], q[1], q[2], type);
    if (kind == 2) return gap_barrier__vf2(q[0], q[1], q[2], q[3], type);
    return gap_barrier__ee2(q[0], q[1], q[2], q[3], type);
}

/* eps_x of two rest edges, 0 if one has no length */
static inline double gap_barrier__eps(const gap_barrier_options *opt, const gap_barrier_mesh *m,
    const int node[4])
{
    const double *r0 = m->rest + 3 * (size_t)node[0], *r1 = m->rest + 3 * (size_t)node[1];
    const double *r2 = m->rest + 3 * (size_t)node[2], *r3 = m->rest + 3 * (size_t)node[3];
    double f = opt->mollify > 0.0 ? opt->mollify : 1e-3;
    return f * gap_barrier__vv2(r0, r1) * gap_barrier__vv2(r2, r3);
}

typedef struct gap_barrier__job {
    gap_barrier_set *set;
    const gap_barrier_mesh *mesh;
    const double *x;
    const int *pair;       /* of one kind */
    int kind;
    unsigned char *code;   /* 1 per candidate of the kind */
    int *chunk;            /* 2 per chunk of the kind: active candidates, records; then offsets */
    int *error;            /* 1 per chunk: worst code */
    struct gap_barrier__rec *rec;
    int *active;
    const int *order;
} gap_barrier__job;

/* Cheap proofs that a pair is farther apart than reach, for a block of candidates at a time: the
   sides are separated along one axis c, where h is |c| times their separation and gg = |c|^2. No
   square root, no cross product. h is a sum of terms below `size`, so off by 1e-15 size at most;
   with h > 1e-8 size that is 1e-7 of h, and the axis is as good, both below the margin of 5e-7
   (in need, reach^2 times 1.000001). NaN proves nothing. */
enum { gap_barrier__block = 64 };

GAP_BARRIER__BODY void gap_barrier__vdot(const gap_barrier__v a[3], const gap_barrier__v b[3],
    gap_barrier__v *dot)
{
    *dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

GAP_BARRIER__BODY void gap_barrier__apart(const gap_barrier__v *h, const gap_barrier__v *gg,
    const gap_barrier__v *size, double need, gap_barrier__m *far)
{
    *far |= gap_barrier__mask(*h > 1e-8 * *size) & gap_barrier__mask(*h * *h > need * *gg);
}

/* Along c less its part along u, an axis on which edge u has no extent. */
GAP_BARRIER__BODY void gap_barrier__apart_across(const gap_barrier__v c[3],
    const gap_barrier__v u[3], const gap_barrier__v *uu, const gap_barrier__v *uc,
    const gap_barrier__v *vc, const gap_barrier__v *uv, const gap_barrier__v *cc,
    const gap_barrier__v *size, double need, gap_barrier__m *far)
{
    gap_barrier__v g[3], gg, h, t = *uu * *vc - *uc * *uv, most = *uu * *size;
    int k;
    for (k = 0; k < 3; ++k) g[k] = *uu * c[k] - *uc * u[k];
    gap_barrier__vdot(g, g, &gg);
    h = *uu * *cc - *uc * *uc - gap_barrier__abs(t);
    gap_barrier__apart(&h, &gg, &most, need, far);
}

/* Edges: c is twice the centres' difference, h leaves out the half extents. Then c less its part
   along either edge: for edges side by side. */
GAP_BARRIER__BODY void gap_barrier__far_ee(const gap_barrier__v q[12], double need,
    gap_barrier__m *far)
{
    gap_barrier__v u[3], v[3], c[3], cc, uc, vc, uv, uu, vv, size, h;
    gap_barrier__m rest;
    int k;
    for (k = 0; k < 3; ++k) {
        u[k] = q[3 + k] - q[k];
        v[k] = q[9 + k] - q[6 + k];
        c[k] = (q[6 + k] - q[k]) + (q[9 + k] - q[3 + k]);
    }
    gap_barrier__vdot(c, c, &cc);
    gap_barrier__vdot(u, c, &uc);
    gap_barrier__vdot(v, c, &vc);
    gap_barrier__vdot(u, u, &uu);
    gap_barrier__vdot(v, v, &vv);
    size = cc + uu + vv;
    need *= 4.0;
    h = cc - gap_barrier__abs(uc) - gap_barrier__abs(vc);
    gap_barrier__apart(&h, &cc, &size, need, far);
    rest = ~*far;
    if (!gap_barrier__any(rest)) return;
    gap_barrier__vdot(u, v, &uv);
    gap_barrier__apart_across(c, u, &uu, &uc, &vc, &uv, &cc, &size, need, far);
    gap_barrier__apart_across(c, v, &vv, &vc, &uc, &uv, &cc, &size, need, far);
}

/* Vertex and triangle: c points to three times the centre, h is the nearest corner along it. */
GAP_BARRIER__BODY void gap_barrier__far_vf(const gap_barrier__v q[12], double need,
    gap_barrier__m *far)
{
    gap_barrier__v d[3][3], c[3], h, t, cc, size = gap_barrier__set(0.0);
    int i, k;
    for (i = 0; i < 3; ++i)
        for (k = 0; k < 3; ++k) d[i][k] = q[3 * i + 3 + k] - q[k];
    for (k = 0; k < 3; ++k) c[k] = d[0][k] + d[1][k] + d[2][k];
    gap_barrier__vdot(d[0], c, &h);
    for (i = 0; i < 3; ++i) {
        gap_barrier__vdot(d[i], d[i], &t);
        size += 4.0 * t;
        gap_barrier__vdot(d[i], c, &t);
        h = gap_barrier__sel(gap_barrier__mask(t < h), t, h);
    }
    gap_barrier__vdot(c, c, &cc);
    gap_barrier__apart(&h, &cc, &size, need, far);
}

/* far: a mask for each of n candidates, kind vf or ee in 3D without radii. q: x y z of the four
   points of the first lanes, then those of the next. */
GAP_BARRIER__BODY void gap_barrier__far(int kind, int n, const gap_barrier__v *q, double reach,
    gap_barrier__m *far)
{
    double need = 1.000001 * reach * reach;
    int i;
    for (i = 0; i < n; i += gap_barrier__lanes, q += 12, ++far) {
        gap_barrier__m mask = {0};
        if (kind == 3) gap_barrier__far_ee(q, need, &mask);
        else gap_barrier__far_vf(q, need, &mask);
        *far = mask;
    }
}

#define GAP_BARRIER__LANES(NAME, TARGET)                                                          \
TARGET static inline void gap_barrier__far_##NAME(int kind, int n, const gap_barrier__v *q,       \
    double reach, gap_barrier__m *far)                                                            \
{                                                                                                 \
    gap_barrier__far(kind, n, q, reach, far);                                                     \
}                                                                                                 \
TARGET static inline int gap_barrier__nearest_##NAME(int n, int count, const double *a,           \
    double *out)                                                                                  \
{                                                                                                 \
    return gap_barrier__nearest(n, count, a, out);                                                \
}
#define GAP_BARRIER__AS_BUILT
GAP_BARRIER__LANES(built, GAP_BARRIER__AS_BUILT)
#ifdef GAP_BARRIER__AVX2
GAP_BARRIER__LANES(avx2, __attribute__((target("avx2"))))
#define GAP_BARRIER__BEST(what, args)                                                             \
    (__builtin_cpu_supports("avx2") ? gap_barrier__##what##_avx2 args                             \
                                    : gap_barrier__##what##_built args)
#else
#define GAP_BARRIER__BEST(what, args) gap_barrier__##what##_built args
#endif

static inline void gap_barrier__put(const double *x, int node, double *to)
{
    const double *p = x + 3 * (size_t)node;
    to[0] = p[0]; to[gap_barrier__lanes] = p[1]; to[2 * gap_barrier__lanes] = p[2];
}

/* Corners of candidate i of a block; all 0, which proves nothing, if a number is wrong. */
static inline void gap_barrier__corner(const gap_barrier_mesh *m, const double *x, int kind,
    const int *pair, int i, double *at)
{
    enum { lanes = gap_barrier__lanes };
    unsigned nodes = (unsigned)m->nodes;
    const int *e = pair, *f;
    double *to = at + (i / lanes * lanes * 12 + i % lanes);
    int k, last;
    if ((unsigned)pair[0] < (unsigned)(kind == 3 ? m->edges : m->nodes)
        && (unsigned)pair[1] < (unsigned)(kind == 3 ? m->edges : m->tris)) {
        e = kind == 3 ? m->edge + 2 * (size_t)pair[0] : pair;
        f = kind == 3 ? m->edge + 2 * (size_t)pair[1] : m->tri + 3 * (size_t)pair[1];
        last = kind == 3 ? e[1] : f[2];
        if ((unsigned)e[0] < nodes && (unsigned)last < nodes && (unsigned)f[0] < nodes
            && (unsigned)f[1] < nodes) {
            gap_barrier__put(x, e[0], to);
            gap_barrier__put(x, last, to + 3 * lanes);
            gap_barrier__put(x, f[0], to + 6 * lanes);
            gap_barrier__put(x, f[1], to + 9 * lanes);
            return;
        }
    }
    for (k = 0; k < 12; ++k) to[k * lanes] = 0.0;
}

/* gap_barrier__off, 1 + type, or what is wrong */
static inline int gap_barrier__probe(const gap_barrier__job *job, int a, int b)
{
    gap_barrier__pair p;
    double d2, xi, dhat = job->set->dhat, n[3];
    int type, kind = job->kind;
    if (!gap_barrier__nodes(job->mesh, kind, a, b, &p)) return gap_barrier__index;
    gap_barrier__points(job->mesh->dim, job->x, &p);
    xi = gap_barrier__xi(job->mesh, &p);
    if (kind == 4) {
        double h = gap_barrier__height(job->mesh, b, p.q[0], n);
        if (h >= xi + dhat && h < HUGE_VAL) return gap_barrier__off;
        type = 0;
        d2 = h <= xi ? h - h : h * h; /* h - h: 0, or NaN if h is not finite */
        if (h <= xi) xi = 0.0;
    } else {
        d2 = gap_barrier__dist2_of(kind, p.q, &type);
    }
    if (!(d2 >= 0.0 && d2 < HUGE_VAL)) return gap_barrier__nonfin;
    if (d2 - xi * xi >= dhat * (2.0 * xi + dhat)) return gap_barrier__off;
    if (gap_barrier__idle(job->mesh, &p)) return gap_barrier__off;
    if (!(d2 - xi * xi > 0.0)) return gap_barrier__touch;
    if (kind == 3 && job->set->opt.mollify >= 0.0
        && !(gap_barrier__eps(&job->set->opt, job->mesh, p.node) > 0.0)) return gap_barrier__rest;
    return 1 + type;
}

static inline void gap_barrier__probe_range(void *ctx, int begin, int end, int worker)
{
    gap_barrier__job *job = (gap_barrier__job *)ctx;
    int i, j, n, chunk = begin / gap_barrier__grain, active = 0, worst = 0, code;
    int kind = job->kind, quick = job->mesh->dim == 3 && !job->mesh->radius && kind / 2 == 1;
    gap_barrier__v at[gap_barrier__block * 12 / gap_barrier__lanes];
    gap_barrier__m mask[gap_barrier__block / gap_barrier__lanes];
    const long long *far = (const long long *)mask; /* a vector may be read as its elements */
    (void)worker;
    memset(at, 0, sizeof at);
    memset(mask, 0, sizeof mask);
    for (i = begin; i < end; i += n) {
        const int *pair = job->pair + 2 * (size_t)i;
        n = end - i < gap_barrier__block ? end - i : gap_barrier__block;
        for (j = 0; j < n && quick; ++j)
            gap_barrier__corner(job->mesh, job->x, kind, pair + 2 * j, j, (double *)at);
        if (quick) GAP_BARRIER__BEST(far, (kind, n, at, job->set->dhat, mask));
        for (j = 0; j < n; ++j) {
            code = gap_barrier__off;
            if (!far[j]) code = gap_barrier__probe(job, pair[2 * j], pair[2 * j + 1]);
            job->code[i + j] = (unsigned char)code;
            if (code >= gap_barrier__touch) worst = code > worst ? code : worst;
            else active += code != 0;
        }
    }
    job->chunk[2 * chunk] = active;
    job->chunk[2 * chunk + 1] = active;
    job->error[chunk] = worst;
}

/* ---- records: active features before equal ones are merged ---- */

typedef struct gap_barrier__rec {
    int kind, type, node[4], parent[3], pad;
    double mult, offset, mollify;
} gap_barrier__rec;

/* Neighbours and areas, made by gap_barrier_prepare. Rows of a node or edge: ptr[i]..ptr[i+1]. */
enum {
    gap_barrier__node_ptr, gap_barrier__node_edge, gap_barrier__tri_edge, gap_barrier__edge_ptr,
    gap_barrier__edge_tri, gap_barrier__first_tri, gap_barrier__border, gap_barrier__area_node,
    gap_barrier__area_edge
};

static inline const int *gap_barrier__ints(const gap_barrier_set *set, int what)
{
    return (const int *)set->topo[what].p;
}

static inline double gap_barrier__area(const gap_barrier_set *set, int what, int i)
{
    return set->opt.flags & GAP_BARRIER_AREA ? ((const double *)set->topo[what].p)[i] : 1.0;
}

/* Weight of a candidate: with AREA the mean of both sides' shares (1/2), and another 1/2 in 3D
   where vf and ee both cover the surface. Without it 1. */
static inline double gap_barrier__share(const gap_barrier_set *set, int kind, int a, int b)
{
    if (!(set->opt.flags & GAP_BARRIER_AREA)) return 1.0;
    if (kind == 0) return 0.5 * (gap_barrier__area(set, gap_barrier__area_node, a)
        + gap_barrier__area(set, gap_barrier__area_node, b));
    if (kind == 3) return 0.25 * (gap_barrier__area(set, gap_barrier__area_edge, a)
        + gap_barrier__area(set, gap_barrier__area_edge, b));
    return (kind == 1 ? 0.5 : kind == 2 ? 0.25 : 1.0)
        * gap_barrier__area(set, gap_barrier__area_node, a);
}

/* Write the record of pair p with its closest features, in the order that lets equal ones meet: vv
   the smaller node first, ve the edge's smaller node first. */
static inline void gap_barrier__record(int kind, int type, const int *node, double mult, double xi,
    double eps, gap_barrier__rec *r)
{
    int local[4], i, t;
    if (eps > 0.0) {
        for (i = 0; i < 4; ++i) local[i] = i;
        r->kind = 3;
    } else {
        r->kind = gap_barrier__feature(kind, type, local);
    }
    for (i = 0; i < 4; ++i) r->node[i] = local[i] < 0 ? -1 : node[local[i]];
    i = r->kind == 1 ? 1 : 0;
    if (r->kind <= 1 && r->node[i] > r->node[i + 1]) {
        t = r->node[i];
        r->node[i] = r->node[i + 1];
        r->node[i + 1] = t;
    }
    r->type = eps > 0.0 ? type : 0;
    r->mult = mult;
    r->offset = xi;
    r->mollify = eps;
}

/* A pair that MAX derives from a candidate: written if it is active. Returns 1 if it is. */
static inline int gap_barrier__derived(const gap_barrier__job *job, int kind, const int *node,
    int first, double mult, gap_barrier__rec *r)
{
    gap_barrier__pair p;
    double d2, xi, dhat = job->set->dhat;
    int i, type;
    p.count = kind == 0 ? 2 : 3;
    p.first = first;
    for (i = 0; i < p.count; ++i) p.node[i] = node[i];
    gap_barrier__points(job->mesh->dim, job->x, &p);
    xi = gap_barrier__xi(job->mesh, &p);
    d2 = gap_barrier__dist2_of(kind, p.q, &type);
    if (!(d2 - xi * xi < dhat * (2.0 * xi + dhat)) || gap_barrier__idle(job->mesh, &p)) return 0;
    if (r) gap_barrier__record(kind, type, node, mult, xi, 0.0, r);
    return 1;
}

/* The same for edges a and b that are mollified, at the distance of a and node p of b. */
static inline int gap_barrier__derived_ee(const gap_barrier__job *job, int a, int b, int p,
    double eps, double mult, gap_barrier__rec *r)
{
    const double *q[4];
    gap_barrier__pair e;
    double d2, xi, dhat = job->set->dhat;
    int type, end, swap = a > b; /* the smaller edge is the first side, as in candidates */
    gap_barrier__nodes(job->mesh, 3, swap ? b : a, swap ? a : b, &e);
    gap_barrier__points(3, job->x, &e);
    xi = gap_barrier__xi(job->mesh, &e);
    end = e.node[swap ? 1 : 3] == p;
    q[0] = e.q[(swap ? 0 : 2) + end];
    q[1] = e.q[swap ? 2 : 0]; q[2] = e.q[swap ? 3 : 1]; q[3] = q[2];
    d2 = gap_barrier__dist2_of(1, q, &type);
    if (!(d2 - xi * xi < dhat * (2.0 * xi + dhat))) return 0;
    if (type == 2) type = swap ? (end ? 5 : 2) : 6 + end;
    else type = swap ? 3 * end + type : 3 * type + end;
    if (r) gap_barrier__record(3, type, e.node, mult, xi, eps, r);
    return 1;
}

/* Inclusion and exclusion. The largest barrier over all faces near a vertex is about
     sum over faces - sum over inner edges + sum over inner vertices
   because a closest point on an edge or vertex is counted once per face around it. Each edge or
   vertex is taken from the lowest of its faces that can meet the vertex, so it comes once. */
static inline int gap_barrier__max_vf(const gap_barrier__job *job, int v, int f,
    gap_barrier__rec *r)
{
    const gap_barrier_set *set = job->set;
    const int *te = gap_barrier__ints(set, gap_barrier__tri_edge) + 3 * (size_t)f;
    const int *ptr = gap_barrier__ints(set, gap_barrier__edge_ptr);
    const int *et = gap_barrier__ints(set, gap_barrier__edge_tri), *tri = job->mesh->tri;
    const int *np = gap_barrier__ints(set, gap_barrier__node_ptr);
    const int *ne = gap_barrier__ints(set, gap_barrier__node_edge);
    double share = gap_barrier__share(set, 2, v, 0);
    int k, i, n, lowest, node[3], count = 0, near;
    for (k = 0; k < 3; ++k) { /* edges of the face */
        for (n = 0, lowest = -1, i = ptr[te[k]]; i < ptr[te[k] + 1]; ++i) {
            const int *t = tri + 3 * (size_t)et[i];
            if (t[0] == v || t[1] == v || t[2] == v) continue;
            if (lowest < 0) lowest = et[i];
            ++n;
        }
        if (n < 2 || lowest != f) continue;
        node[0] = v;
        node[1] = job->mesh->edge[2 * (size_t)te[k]];
        node[2] = job->mesh->edge[2 * (size_t)te[k] + 1];
        count += gap_barrier__derived(job, 1, node, 1, (1 - n) * share, r ? r + count : NULL);
    }
    for (k = 0; k < 3; ++k) { /* vertices of the face */
        node[0] = v;
        node[1] = tri[3 * (size_t)f + (size_t)k];
        if (((const unsigned char *)set->topo[gap_barrier__border].p)[node[1]]) continue;
        if (gap_barrier__ints(set, gap_barrier__first_tri)[node[1]] != f) continue;
        for (near = 0, i = np[node[1]]; i < np[node[1] + 1]; ++i) {
            const int *e = job->mesh->edge + 2 * (size_t)ne[i];
            near |= e[0] == v || e[1] == v;
        }
        if (!near) count += gap_barrier__derived(job, 0, node, 1, share, r ? r + count : NULL);
    }
    return count;
}

/* The same along curves: an edge (or vertex) `a` against the edges around vertex p, sum over edges
   minus (n - 1) times the vertex. An edge that is mollified against `a` is taken out with its
   mollifier. kind 3: a is an edge, 1: a vertex; eb: the edge that brings p. */
static inline int gap_barrier__max_end(const gap_barrier__job *job, int kind, int a, int eb, int p,
    gap_barrier__rec *r)
{
    const gap_barrier_set *set = job->set;
    const int *np = gap_barrier__ints(set, gap_barrier__node_ptr), *edge = job->mesh->edge;
    const int *ne = gap_barrier__ints(set, gap_barrier__node_edge);
    int a0 = kind == 3 ? edge[2 * (size_t)a] : a, a1 = kind == 3 ? edge[2 * (size_t)a + 1] : a;
    int i, n = 0, count = 0, node[3], seen = 0, molly = 0;
    double share = kind == 3 ? 0.25 * gap_barrier__area(set, gap_barrier__area_edge, a)
        : gap_barrier__share(set, 1, a, 0), u[3], v[3], w[3], eps;
    gap_barrier__pair q;
    if (kind == 3 && !(set->opt.flags & GAP_BARRIER_AREA)) share = 1.0;
    node[0] = p; node[1] = a0; node[2] = a1;
    for (i = np[p]; i < np[p + 1]; ++i) {
        const int *e = edge + 2 * (size_t)ne[i];
        int far = e[0] == p ? e[1] : e[0];
        if (far == a0 || far == a1) continue;
        if (!seen && ne[i] != eb) return 0; /* a lower edge brings p */
        seen = 1;
        if (kind == 3 && set->opt.mollify >= 0.0) {
            q.count = 4; q.first = 2;
            q.node[0] = a0; q.node[1] = a1; q.node[2] = e[0]; q.node[3] = e[1];
            gap_barrier__points(3, job->x, &q);
            eps = gap_barrier__eps(&set->opt, job->mesh, q.node);
            molly = gap_barrier__cross2(q.q, u, v, w) < eps;
        }
        if (!molly) {
            ++n;
            continue;
        }
        count += gap_barrier__derived_ee(job, a, ne[i], p, eps, -share, r ? r + count : NULL);
    }
    if (n == 1) return count;
    if (kind == 3) return count + gap_barrier__derived(job, 1, node, 1, (1 - n) * share,
        r ? r + count : NULL);
    node[1] = a;
    return count + (n > 1 ? gap_barrier__derived(job, 0, node, 1, (1 - n) * share,
        r ? r + count : NULL) : 0);
}

/* Records of one active candidate, at least one; r may be NULL to count them. */
static inline int gap_barrier__emit(const gap_barrier__job *job, int a, int b, int type,
    gap_barrier__rec *r)
{
    const gap_barrier_set *set = job->set;
    gap_barrier__pair p;
    double xi, eps = 0.0, u[3], v[3], n[3];
    int count = 1, i, k, kind = job->kind;
    gap_barrier__nodes(job->mesh, kind, a, b, &p);
    if (r) {
        gap_barrier__points(job->mesh->dim, job->x, &p);
        xi = gap_barrier__xi(job->mesh, &p);
        if (kind == 3 && set->opt.mollify >= 0.0) {
            eps = gap_barrier__eps(&set->opt, job->mesh, p.node);
            if (!(gap_barrier__cross2(p.q, u, v, n) < eps)) eps = 0.0;
        }
        gap_barrier__record(kind, type, p.node, gap_barrier__share(set, kind, a, b), xi, eps, r);
    }
    if (set->opt.flags & GAP_BARRIER_MAX) {
        if (kind == 2) count += gap_barrier__max_vf(job, a, b, r ? r + count : NULL);
        for (k = 0; k < 2 && (kind == 3 || kind == 1); ++k) {
            i = job->mesh->edge[2 * (size_t)b + (size_t)k];
            count += gap_barrier__max_end(job, kind, a, b, i, r ? r + count : NULL);
            if (kind == 1) continue;
            i = job->mesh->edge[2 * (size_t)a + (size_t)k];
            count += gap_barrier__max_end(job, kind, b, a, i, r ? r + count : NULL);
        }
    }
    for (i = 0; i < count && r; ++i) {
        r[i].parent[0] = kind; r[i].parent[1] = a; r[i].parent[2] = b;
    }
    return count;
}

static inline void gap_barrier__count_range(void *ctx, int begin, int end, int worker)
{
    gap_barrier__job *job = (gap_barrier__job *)ctx;
    int i, n = 0;
    (void)worker;
    for (i = begin; i < end; ++i)
        if (job->code[i]) n += gap_barrier__emit(job, job->pair[2 * (size_t)i],
            job->pair[2 * (size_t)i + 1], job->code[i] - 1, NULL);
    job->chunk[2 * (begin / gap_barrier__grain) + 1] = n;
}

static inline void gap_barrier__emit_range(void *ctx, int begin, int end, int worker)
{
    gap_barrier__job *job = (gap_barrier__job *)ctx;
    const int *at = job->chunk + 2 * (begin / gap_barrier__grain);
    gap_barrier__rec *r = job->rec + at[1];
    int *active = job->active + 2 * (size_t)at[0], i;
    (void)worker;
    for (i = begin; i < end; ++i) {
        const int *pair = job->pair + 2 * (size_t)i;
        if (!job->code[i]) continue;
        r += gap_barrier__emit(job, pair[0], pair[1], job->code[i] - 1, r);
        *active++ = pair[0];
        *active++ = pair[1];
    }
}

/* ---- order and merge ---- */

/* Stable radix sort of order[0..n) by one word of the records: node w, or the kind for w = 4. */
static inline void gap_barrier__sort_word(const gap_barrier__rec *rec, int n, int w, int top,
    int *order, int *other)
{
    int bucket[2049], shift, i, k;
    for (shift = 0; shift < 31 && (top >> shift) > 0; shift += 11) {
        memset(bucket, 0, sizeof bucket);
        for (i = 0; i < n; ++i) {
            k = w == 4 ? rec[order[i]].kind : rec[order[i]].node[w] + 1;
            ++bucket[((k >> shift) & 2047) + 1];
        }
        for (i = 0; i < 2048; ++i) bucket[i + 1] += bucket[i];
        for (i = 0; i < n; ++i) {
            k = w == 4 ? rec[order[i]].kind : rec[order[i]].node[w] + 1;
            other[bucket[(k >> shift) & 2047]++] = order[i];
        }
        memcpy(order, other, (size_t)n * sizeof *order);
    }
}

/* Order of the last two nodes within records that agree in the rest: few, as a rule. */
static inline void gap_barrier__sort_tail(const gap_barrier__rec *rec, int n, int top, int *order,
    int *other)
{
    int i, j, t;
    if (n > 64) {
        gap_barrier__sort_word(rec, n, 3, top, order, other);
        gap_barrier__sort_word(rec, n, 2, top, order, other);
        return;
    }
    for (i = 1; i < n; ++i) {
        const int *key = rec[order[i]].node;
        t = order[i];
        for (j = i; j > 0; --j) {
            const int *with = rec[order[j - 1]].node;
            if (with[2] < key[2] || (with[2] == key[2] && with[3] <= key[3])) break;
            order[j] = order[j - 1];
        }
        order[j] = t;
    }
}

static inline void gap_barrier__sort(const gap_barrier__rec *rec, int n, int top, int *order,
    int *other)
{
    int i, j;
    for (i = 0; i < n; ++i) order[i] = i;
    gap_barrier__sort_word(rec, n, 1, top, order, other);
    gap_barrier__sort_word(rec, n, 0, top, order, other);
    gap_barrier__sort_word(rec, n, 4, 4, order, other);
    for (i = 0; i < n; i = j) {
        const gap_barrier__rec *r = rec + order[i];
        for (j = i + 1; j < n; ++j) {
            const gap_barrier__rec *q = rec + order[j];
            if (q->kind != r->kind || q->node[0] != r->node[0] || q->node[1] != r->node[1]) break;
        }
        if (j - i > 1 && r->kind > 0) gap_barrier__sort_tail(rec, j - i, top, order + i, other);
    }
}

static inline int gap_barrier__same(const gap_barrier__rec *a, const gap_barrier__rec *b)
{
    return a->kind == b->kind && a->type == b->type && a->node[0] == b->node[0]
        && a->node[1] == b->node[1] && a->node[2] == b->node[2] && a->node[3] == b->node[3]
        && a->offset == b->offset && a->mollify == b->mollify;
}

/* Sorts the records by (kind, node), adds the mult of equal ones to the first. order gets the n
   survivors, in order. */
static inline int gap_barrier__merge(gap_barrier__rec *rec, int n, int nodes, int *order,
    int *other)
{
    int i, j, kept = 0, *o = order, group = 0;
    gap_barrier__sort(rec, n, nodes, order, other);
    for (i = 0; i < n; ++i) { /* group: first survivor with the same kind and nodes */
        const gap_barrier__rec *r = rec + o[i];
        if (kept > group) {
            const gap_barrier__rec *g = rec + o[group];
            if (g->kind != r->kind || memcmp(g->node, r->node, sizeof g->node) != 0) group = kept;
        }
        for (j = group; j < kept && !gap_barrier__same(rec + o[j], r); ++j) {}
        if (j < kept) rec[o[j]].mult += r->mult;
        else o[kept++] = o[i];
    }
    return kept;
}

/* Closest points of a contact and the vector between them, on the contact's own nodes. */
static inline double gap_barrier__contact_frame(int kind, int type, int mollified,
    const double *const q[4], double w[4], double r[3])
{
    const double *f[4];
    double n[3], fw[4], d2;
    int local[4], i, fk = kind, flip;
    if (!mollified) return gap_barrier__closest(kind, q, w, r, n);
    fk = gap_barrier__feature(3, type, local);
    for (i = 0; i < 4; ++i) f[i] = q[local[i] < 0 ? 0 : local[i]];
    d2 = gap_barrier__closest(fk, f, fw, r, n);
    flip = local[0] >= 2;
    for (i = 0; i < 4; ++i) w[i] = 0.0;
    for (i = 0; i < 4 && local[i] >= 0; ++i) w[local[i]] = flip ? -fw[i] : fw[i];
    for (i = 0; i < 3 && flip; ++i) r[i] = -r[i];
    return d2;
}

/* Points of contact i. */
static inline void gap_barrier__load(const gap_barrier_set *set, const double *x, int i,
    gap_barrier__pair *p)
{
    static const int count[5] = {2, 3, 4, 4, 1};
    const int *node = set->node + 4 * (size_t)i;
    int k;
    p->count = count[set->kind[i]];
    p->first = set->kind[i] == 3 ? 2 : 1;
    for (k = 0; k < p->count; ++k) p->node[k] = node[k];
    gap_barrier__points(set->dim, x, p);
    for (; k < 4; ++k) p->q[k] = p->q[0];
}

/* mollifier of contact i: e, e', e'' */
static inline void gap_barrier__mollifier(const gap_barrier_set *set, int i,
    const gap_barrier__pair *p, double e[3])
{
    double u[3], v[3], n[3];
    e[0] = 1.0;
    e[1] = e[2] = 0.0;
    if (set->mollify[i] > 0.0)
        gap_barrier__e(gap_barrier__cross2(p->q, u, v, n), set->mollify[i], e);
}

/* Fill in contact i from its record: weights, normal, distance, force. */
static inline void gap_barrier__finish(void *ctx, int begin, int end, int worker)
{
    gap_barrier__job *job = (gap_barrier__job *)ctx;
    gap_barrier_set *set = job->set;
    int i, k, dim = set->dim;
    (void)worker;
    for (i = begin; i < end; ++i) {
        const gap_barrier__rec *rec = job->rec + job->order[i];
        double w[4] = {1.0, 0.0, 0.0, 0.0}, r[3], b[3], e[3], d2, d, len;
        gap_barrier__pair p;
        set->kind[i] = rec->kind;
        set->type[i] = rec->type;
        for (k = 0; k < 4; ++k) set->node[4 * (size_t)i + (size_t)k] = rec->node[k];
        for (k = 0; k < 3; ++k) set->parent[3 * (size_t)i + (size_t)k] = rec->parent[k];
        set->mult[i] = rec->mult;
        set->offset[i] = rec->offset;
        set->mollify[i] = rec->mollify;
        gap_barrier__load(set, job->x, i, &p);
        if (rec->kind == 4) {
            d = gap_barrier__height(job->mesh, rec->parent[2], p.q[0], r);
            d2 = d * d;
            len = 1.0;
        } else {
            d2 = gap_barrier__contact_frame(rec->kind, rec->type, rec->mollify > 0.0, p.q, w, r);
            d = sqrt(d2);
            len = sqrt(gap_barrier__dot3(r, r));
        }
        for (k = 0; k < dim; ++k) set->normal[(size_t)dim * (size_t)i + (size_t)k] = r[k] / len;
        for (k = 0; k < 4; ++k) set->weight[4 * (size_t)i + (size_t)k] = w[k];
        set->dist2[i] = d2;
        gap_barrier__b(&set->opt, set->dhat, d2, rec->offset, b);
        gap_barrier__mollifier(set, i, &p, e);
        set->force[i] = -2.0 * d * set->kappa * rec->mult * e[0] * b[1];
    }
}

/* ---- public: life and build ---- */

GAP_BARRIER_API void gap_barrier_init(gap_barrier_set *set, const gap_barrier_options *opt)
{
    GAP_BARRIER_ASSERT(set);
    memset(set, 0, sizeof *set);
    if (opt) set->opt = *opt;
    set->dim = 3;
    set->bad[0] = set->bad[1] = set->bad[2] = -1;
    set->topo_nodes = -1;
    GAP_BARRIER_ASSERT(set->opt.form != GAP_BARRIER_USER || set->opt.user_fn);
}

GAP_BARRIER_API void gap_barrier_free(gap_barrier_set *set)
{
    gap_barrier_options opt = set->opt;
    size_t i;
    for (i = 0; i < sizeof set->mem / sizeof set->mem[0]; ++i)
        gap_barrier__release(set, &set->mem[i]);
    for (i = 0; i < sizeof set->topo / sizeof set->topo[0]; ++i)
        gap_barrier__release(set, &set->topo[i]);
    gap_barrier_init(set, &opt);
}

/* Memory for n contacts. */
static inline int gap_barrier__reserve(gap_barrier_set *set, int n)
{
    size_t c = (size_t)n;
    gap_barrier_buffer *m = set->mem;
    int ok = 1;
    ok &= (set->kind = (int *)gap_barrier__grow(set, m + gap_barrier__kind, c, 4)) != NULL;
    ok &= (set->node = (int *)gap_barrier__grow(set, m + gap_barrier__node, c, 16)) != NULL;
    ok &= (set->weight = (double *)gap_barrier__grow(set, m + gap_barrier__weight, c, 32)) != NULL;
    ok &= (set->normal = (double *)gap_barrier__grow(set, m + gap_barrier__normal, c, 24)) != NULL;
    ok &= (set->dist2 = (double *)gap_barrier__grow(set, m + gap_barrier__dist2, c, 8)) != NULL;
    ok &= (set->mult = (double *)gap_barrier__grow(set, m + gap_barrier__mult, c, 8)) != NULL;
    ok &= (set->offset = (double *)gap_barrier__grow(set, m + gap_barrier__offset, c, 8)) != NULL;
    ok &= (set->mollify = (double *)gap_barrier__grow(set, m + gap_barrier__mollify, c, 8)) != NULL;
    ok &= (set->force = (double *)gap_barrier__grow(set, m + gap_barrier__force, c, 8)) != NULL;
    ok &= (set->parent = (int *)gap_barrier__grow(set, m + gap_barrier__parent, c, 12)) != NULL;
    ok &= (set->type = (int *)gap_barrier__grow(set, m + gap_barrier__type, c, 4)) != NULL;
    return ok;
}

/* After a probe with errors: what to return. Fills bad or guilty. */
static inline int gap_barrier__blame(gap_barrier_set *set, const gap_barrier_candidates *cand,
    const unsigned char *code, int worst)
{
    size_t at = 0;
    int kind, i, n = 0, *g = NULL;
    if (worst == gap_barrier__touch) {
        for (kind = 0; kind < 5; ++kind)
            for (i = 0; i < cand->count[kind]; ++i) n += code[at++] == worst;
        g = (int *)gap_barrier__grow(set, &set->mem[gap_barrier__guilty], (size_t)n * 3, 4);
        if (!g) return GAP_BARRIER_ENOMEM;
        set->guilty = g;
        set->guilty_count = n;
        at = 0;
    }
    for (kind = 0; kind < 5; ++kind) {
        for (i = 0; i < cand->count[kind]; ++i) {
            const int *pair = cand->pair[kind] + 2 * (size_t)i;
            if (code[at++] != worst) continue;
            if (g) {
                *g++ = kind; *g++ = pair[0]; *g++ = pair[1];
                continue;
            }
            set->bad[0] = kind; set->bad[1] = pair[0]; set->bad[2] = pair[1];
            return worst == gap_barrier__index ? GAP_BARRIER_EINDEX
                : worst == gap_barrier__nonfin ? GAP_BARRIER_ENONFIN : GAP_BARRIER_EINPUT;
        }
    }
    return GAP_BARRIER_ETOUCH;
}

/* Probe all candidates; the chunks of all kinds follow each other. Returns the worst code. */
static inline int gap_barrier__probe_all(gap_barrier__job *job, const gap_barrier_candidates *cand,
    int *chunk, int *error, unsigned char *code)
{
    int kind, i, worst = 0, chunks;
    for (kind = 0; kind < 5; ++kind) {
        job->kind = kind;
        job->pair = cand->pair[kind];
        job->chunk = chunk;
        job->error = error;
        job->code = code;
        gap_barrier__for(job->set, cand->count[kind], gap_barrier__probe_range, job);
        chunks = (cand->count[kind] + gap_barrier__grain - 1) / gap_barrier__grain;
        for (i = 0; i < chunks; ++i) worst = error[i] > worst ? error[i] : worst;
        if (worst == 0 && (job->set->opt.flags & GAP_BARRIER_MAX))
            gap_barrier__for(job->set, cand->count[kind], gap_barrier__count_range, job);
        chunk += 2 * (size_t)chunks;
        error += chunks;
        code += cand->count[kind];
    }
    return worst;
}

/* Counts per chunk become offsets; fills the lists of records and of active candidates. */
static inline int gap_barrier__emit_all(gap_barrier__job *job, const gap_barrier_candidates *cand,
    int *chunk, unsigned char *code, int *records)
{
    gap_barrier_set *set = job->set;
    size_t active = 0, rec = 0;
    int kind, i, n, *list, *at = chunk;
    for (kind = 0; kind < 5; ++kind) {
        size_t before = active;
        n = (cand->count[kind] + gap_barrier__grain - 1) / gap_barrier__grain;
        for (i = 0; i < n; ++i, at += 2) {
            int here = at[0], made = at[1];
            at[0] = (int)active;
            at[1] = (int)rec;
            active += (size_t)here;
            rec += (size_t)made;
            if (rec > INT_MAX / 2) return GAP_BARRIER_ESIZE;
        }
        set->active.count[kind] = (int)(active - before);
    }
    job->rec = (gap_barrier__rec *)gap_barrier__grow(set, &set->mem[gap_barrier__rec_mem], rec,
        sizeof *job->rec);
    list = (int *)gap_barrier__grow(set, &set->mem[gap_barrier__active], 2 * active, 4);
    if (!job->rec || !list) return GAP_BARRIER_ENOMEM;
    job->active = list;
    for (kind = 0; kind < 5; ++kind) {
        n = (cand->count[kind] + gap_barrier__grain - 1) / gap_barrier__grain;
        job->kind = kind;
        job->pair = cand->pair[kind];
        job->chunk = chunk;
        job->code = code;
        gap_barrier__for(set, cand->count[kind], gap_barrier__emit_range, job);
        set->active.pair[kind] = list;
        list += 2 * (size_t)set->active.count[kind];
        chunk += 2 * (size_t)n;
        code += cand->count[kind];
    }
    *records = (int)rec;
    return GAP_BARRIER_OK;
}

GAP_BARRIER_API int gap_barrier_build(gap_barrier_set *set, const gap_barrier_mesh *mesh,
    const double *x, const gap_barrier_candidates *cand, double dhat, double kappa)
{
    gap_barrier__job job;
    unsigned char *code;
    size_t total = 0;
    int kind, chunks = 0, *chunk, *order, *other, n, status, worst;

    GAP_BARRIER_ASSERT(set && mesh && x && cand && (mesh->dim == 2 || mesh->dim == 3));
    set->count = set->guilty_count = 0;
    memset(&set->active, 0, sizeof set->active);
    set->bad[0] = set->bad[1] = set->bad[2] = -1;
    set->dim = mesh->dim;
    set->dhat = dhat;
    set->kappa = kappa;
    if (!(dhat > 0.0 && dhat < HUGE_VAL) || !(kappa > 0.0 && kappa < HUGE_VAL))
        return GAP_BARRIER_EINPUT;
    if ((set->opt.flags & (GAP_BARRIER_AREA | GAP_BARRIER_MAX)) && (set->topo_nodes != mesh->nodes
        || set->topo_edges != mesh->edges || set->topo_tris != mesh->tris))
        return GAP_BARRIER_EINPUT;
    if (mesh->dim == 2 && cand->count[2] + cand->count[3] > 0) return GAP_BARRIER_EINPUT;
    if (cand->count[3] > 0 && !mesh->rest && set->opt.mollify >= 0.0) return GAP_BARRIER_EINPUT;
    for (kind = 0; kind < 5; ++kind) {
        GAP_BARRIER_ASSERT(cand->count[kind] == 0 || (cand->count[kind] > 0 && cand->pair[kind]));
        total += (size_t)cand->count[kind];
        chunks += (cand->count[kind] + gap_barrier__grain - 1) / gap_barrier__grain;
    }
    code = (unsigned char *)gap_barrier__grow(set, &set->mem[gap_barrier__code], total, 1);
    chunk = (int *)gap_barrier__grow(set, &set->mem[gap_barrier__chunk], 3 * (size_t)chunks, 4);
    if (!code || !chunk) return GAP_BARRIER_ENOMEM;
    memset(&job, 0, sizeof job);
    job.set = set;
    job.mesh = mesh;
    job.x = x;
    worst = gap_barrier__probe_all(&job, cand, chunk, chunk + 2 * (size_t)chunks, code);
    if (worst) return gap_barrier__blame(set, cand, code, worst);
    status = gap_barrier__emit_all(&job, cand, chunk, code, &n);
    if (status) return status;
    order = (int *)gap_barrier__grow(set, &set->mem[gap_barrier__order], (size_t)n, 4);
    other = (int *)gap_barrier__grow(set, &set->mem[gap_barrier__key], (size_t)n, 4);
    if (!order || !other) return GAP_BARRIER_ENOMEM;
    n = gap_barrier__merge(job.rec, n, mesh->nodes, order, other);
    if (!gap_barrier__reserve(set, n)) return GAP_BARRIER_ENOMEM;
    job.order = order;
    gap_barrier__for(set, n, gap_barrier__finish, &job);
    set->count = n;
    return GAP_BARRIER_OK;
}

GAP_BARRIER_API void gap_barrier_set_kappa(gap_barrier_set *set, double kappa)
{
    int i;
    GAP_BARRIER_ASSERT(set && kappa > 0.0);
    for (i = 0; i < set->count; ++i) set->force[i] = set->force[i] / set->kappa * kappa;
    set->kappa = kappa;
}

/* ---- public: areas and neighbours ---- */

/* Row of the edge a-b, or -1. */
static inline int gap_barrier__find_edge(const gap_barrier_mesh *m, const int *ptr,
    const int *node_edge, int a, int b)
{
    int i;
    for (i = ptr[a]; i < ptr[a + 1]; ++i) {
        const int *e = m->edge + 2 * (size_t)node_edge[i];
        if (e[0] == b || e[1] == b) return node_edge[i];
    }
    return -1;
}

/* ptr of length n + 1 and rows from `count` items of `k` numbers; rows ascend. */
static inline void gap_barrier__lists(int n, int count, int k, const int *item, int *ptr, int *row)
{
    int i;
    memset(ptr, 0, (size_t)(n + 1) * sizeof *ptr);
    for (i = 0; i < count * k; ++i) ++ptr[item[i] + 1];
    for (i = 0; i < n; ++i) ptr[i + 1] += ptr[i];
    for (i = count * k - 1; i >= 0; --i) row[--ptr[item[i] + 1]] = i / k;
    /* ptr[i + 1] has become the start of row i: shift */
    for (i = 0; i < n; ++i) ptr[i] = ptr[i + 1];
    ptr[n] = count * k;
}

static inline double gap_barrier__rest_area(const gap_barrier_mesh *m, int tri)
{
    const int *t = m->tri + 3 * (size_t)tri;
    double u[3], v[3], n[3];
    gap_barrier__sub3(m->rest + 3 * (size_t)t[1], m->rest + 3 * (size_t)t[0], u);
    gap_barrier__sub3(m->rest + 3 * (size_t)t[2], m->rest + 3 * (size_t)t[0], v);
    gap_barrier__cross3(u, v, n);
    return 0.5 * sqrt(gap_barrier__dot3(n, n));
}

/* Shares of rest area: a third of each triangle to its nodes and to its edges. Nodes and edges
   without a triangle: half of the edge's length and its length. Nodes alone: 1. */
static inline void gap_barrier__areas(const gap_barrier_mesh *m, const int *tri_edge, double *node,
    double *edge)
{
    int i, k, c, tris = m->dim == 3 ? m->tris : 0;
    for (i = 0; i < m->nodes; ++i) node[i] = 0.0;
    for (i = 0; i < m->edges; ++i) edge[i] = 0.0;
    for (i = 0; i < tris; ++i) {
        double a = gap_barrier__rest_area(m, i) / 3.0;
        for (k = 0; k < 3; ++k) {
            node[m->tri[3 * (size_t)i + (size_t)k]] += a;
            edge[tri_edge[3 * (size_t)i + (size_t)k]] += a;
        }
    }
    for (i = 0; i < tris * 3; ++i) node[m->tri[i]] = -fabs(node[m->tri[i]]); /* done */
    for (i = 0; i < m->edges; ++i) {
        const int *e = m->edge + 2 * (size_t)i;
        double len = 0.0, d;
        for (c = 0; c < m->dim; ++c) {
            d = m->rest[(size_t)m->dim * (size_t)e[0] + (size_t)c]
                - m->rest[(size_t)m->dim * (size_t)e[1] + (size_t)c];
            len += d * d;
        }
        len = sqrt(len);
        for (k = 0; k < 2; ++k)
            if (node[e[k]] >= 0.0) node[e[k]] += 0.5 * len;
        if (!(edge[i] > 0.0)) edge[i] = len;
    }
    for (i = 0; i < m->nodes; ++i) node[i] = node[i] == 0.0 ? 1.0 : fabs(node[i]);
}

/* Edges of triangles, triangles of edges, first triangle of a node, nodes on a border. */
static inline int gap_barrier__neighbours(gap_barrier_set *set, const gap_barrier_mesh *m)
{
    gap_barrier_buffer *t = set->topo;
    int tris = m->dim == 3 ? m->tris : 0, i, k;
    size_t n = (size_t)m->nodes, e = (size_t)m->edges, f = (size_t)tris;
    int *np = (int *)gap_barrier__grow(set, t + gap_barrier__node_ptr, n + 1, 4);
    int *ne = (int *)gap_barrier__grow(set, t + gap_barrier__node_edge, 2 * e, 4);
    int *te = (int *)gap_barrier__grow(set, t + gap_barrier__tri_edge, 3 * f, 4);
    int *ep = (int *)gap_barrier__grow(set, t + gap_barrier__edge_ptr, e + 1, 4);
    int *et = (int *)gap_barrier__grow(set, t + gap_barrier__edge_tri, 3 * f, 4);
    int *ft = (int *)gap_barrier__grow(set, t + gap_barrier__first_tri, n, 4);
    unsigned char *border = (unsigned char *)gap_barrier__grow(set, t + gap_barrier__border, n, 1);
    double *an = (double *)gap_barrier__grow(set, t + gap_barrier__area_node, n, 8);
    double *ae = (double *)gap_barrier__grow(set, t + gap_barrier__area_edge, e, 8);
    if (!np || !ne || !te || !ep || !et || !ft || !border || !an || !ae) return GAP_BARRIER_ENOMEM;
    gap_barrier__lists(m->nodes, m->edges, 2, m->edge, np, ne);
    for (i = 0; i < tris; ++i) {
        for (k = 0; k < 3; ++k) {
            const int *v = m->tri + 3 * (size_t)i;
            te[3 * i + k] = gap_barrier__find_edge(m, np, ne, v[k], v[(k + 1) % 3]);
            set->bad[1] = i;
            if (te[3 * i + k] < 0) return GAP_BARRIER_EINPUT;
        }
    }
    set->bad[1] = -1;
    gap_barrier__lists(m->edges, tris, 3, te, ep, et);
    memset(border, 0, n);
    for (i = 0; i < m->nodes; ++i) ft[i] = -1;
    for (i = 3 * tris - 1; i >= 0; --i) ft[m->tri[i]] = i / 3;
    for (i = 0; i < m->edges; ++i)
        if (ep[i + 1] - ep[i] == 1) border[m->edge[2 * i]] = border[m->edge[2 * i + 1]] = 1;
    gap_barrier__areas(m, te, an, ae);
    return GAP_BARRIER_OK;
}

GAP_BARRIER_API int gap_barrier_prepare(gap_barrier_set *set, const gap_barrier_mesh *mesh)
{
    int i, status;
    GAP_BARRIER_ASSERT(set && mesh);
    set->topo_nodes = -1;
    set->bad[0] = set->bad[1] = set->bad[2] = -1;
    if (!mesh->rest) return GAP_BARRIER_EINPUT;
    for (i = 0; i < 2 * mesh->edges; ++i)
        if (mesh->edge[i] < 0 || mesh->edge[i] >= mesh->nodes) return GAP_BARRIER_EINDEX;
    for (i = 0; i < 3 * mesh->tris; ++i)
        if (mesh->tri[i] < 0 || mesh->tri[i] >= mesh->nodes) return GAP_BARRIER_EINDEX;
    status = gap_barrier__neighbours(set, mesh);
    if (status) return status;
    set->topo_nodes = mesh->nodes;
    set->topo_edges = mesh->edges;
    set->topo_tris = mesh->tris;
    return GAP_BARRIER_OK;
}

/* ---- energy and derivatives ----
   E = K e b(y), K = kappa mult. With D = d^2, n the unit vector between the closest points, w their
   weights, and for features with parameters dw_j, c^j, G^-1 (block dist2nd):
     grad E = K (b e' grad c + 2 d e b' w (x) n)
   and without mollifier, a = K (4 b'' D + 2 b'), s = -2 K b' d, an orthonormal basis t_k of the
   tangents spanned by the c^j, F_k = sum_j (c^j.t_k) dw_j:
     Hess E = (a w w^T + s d sum_k F_k F_k^T) (x) n n^T
              + s sum_k [ (F_k (x) n)(w (x) t_k)^T + transpose ]
              + 2 K b' w w^T (x) (projector on the tangents that no parameter follows)
   So Hess E lives in { q_i (x) n } + { w (x) t_k }, q_i an orthonormal basis of the vectors of sum
   zero that starts with w/|w|: 3 + 2 dimensions for vf and ee, 2 + 1 for ve, 1 for vv and vp; the
   tangents without parameters (ve 1, vv 2) are eigenvectors on their own. The basis is
   orthonormal in nodal coordinates, so the nearest PSD matrix of the small one is the nearest of
   the block. */

typedef struct gap_barrier__small {
    int k, m;          /* nodes; size of the coupled matrix = (k - 1) + coupled tangents */
    double n[3], t[2][3], w[4], q[3][4]; /* w of length 1 */
    double free_t[2];  /* eigenvalues of tangents without parameter */
    double a[25];      /* m x m */
} gap_barrier__small;

/* q[1], q[2]: orthonormal complement of w = q[0] in the vectors of sum zero. */
static inline void gap_barrier__zero_sum(gap_barrier__small *s)
{
    static const double h[3][4] = {{0.70710678118654752440, -0.70710678118654752440, 0, 0},
        {0, 0, 0.70710678118654752440, -0.70710678118654752440}, {0.5, 0.5, -0.5, -0.5}};
    double c[3], p[3], r[3], len;
    int i, j;
    memset(s->q, 0, sizeof s->q);
    for (i = 0; i < 4; ++i) s->q[0][i] = s->w[i];
    if (s->k == 3) { /* w x (1,1,1)/sqrt(3) */
        for (i = 0; i < 3; ++i)
            s->q[1][i] = (s->w[(i + 1) % 3] - s->w[(i + 2) % 3]) * 0.57735026918962576451;
    }
    if (s->k != 4) return;
    for (j = 0; j < 3; ++j)
        for (c[j] = 0.0, i = 0; i < 4; ++i) c[j] += h[j][i] * s->w[i];
    i = fabs(c[0]) > fabs(c[1]);
    p[0] = i ? -c[2] : 0.0; p[1] = i ? 0.0 : c[2]; p[2] = i ? c[0] : -c[1];
    len = sqrt(gap_barrier__dot3(p, p));
    for (j = 0; j < 3; ++j) p[j] /= len;
    gap_barrier__cross3(c, p, r);
    for (i = 0; i < 4; ++i) {
        for (j = 0; j < 3; ++j) {
            s->q[1][i] += p[j] * h[j][i];
            s->q[2][i] += r[j] * h[j][i];
        }
    }
}

/* A unit vector across n. */
static inline void gap_barrier__across(const double n[3], double t[3])
{
    int i = fabs(n[0]) > fabs(n[1]);
    double len;
    t[0] = i ? -n[2] : 0.0; t[1] = i ? 0.0 : n[2]; t[2] = i ? n[0] : -n[1];
    len = sqrt(gap_barrier__dot3(t, t));
    t[0] /= len; t[1] /= len; t[2] /= len;
}

/* Frame of contact i: unit normal, tangents (the first along the edge or the first side of the
   triangle), unit weights and their basis. Returns |weights|. */
static inline double gap_barrier__axes(const gap_barrier_set *set, int i,
    const gap_barrier__pair *p, gap_barrier__small *s)
{
    const double *w = set->weight + 4 * (size_t)i;
    double len = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3]), u[3], lu;
    int j, kind = set->kind[i];
    s->k = p->count;
    for (j = 0; j < 4; ++j) s->w[j] = w[j] / len;
    for (j = 0; j < 3; ++j)
        s->n[j] = j < set->dim ? set->normal[(size_t)set->dim * (size_t)i + (size_t)j] : 0.0;
    gap_barrier__zero_sum(s);
    if (kind == 0) {
        gap_barrier__across(s->n, s->t[0]);
    } else {
        gap_barrier__sub3(p->q[kind == 3 ? 1 : 2], p->q[kind == 3 ? 0 : 1], u);
        lu = sqrt(gap_barrier__dot3(u, u));
        for (j = 0; j < 3; ++j) s->t[0][j] = u[j] / lu;
    }
    gap_barrier__cross3(s->n, s->t[0], s->t[1]);
    return len;
}

/* f[k][j] = F_k.q_j for vf, ee, ve. With u = |u| t_0, v = v_0 t_0 + v_1 t_1 the dual basis is
   c^1 = +-(t_0 - (v_0/v_1) t_1)/|u| (+ for ee), c^2 = -t_1/v_1. */
static inline void gap_barrier__couple(int kind, const gap_barrier__pair *p,
    const gap_barrier__small *s, double f[2][3])
{
    static const double dw[2][2][4] = {{{0, 1, -1, 0}, {0, 1, 0, -1}},
        {{-1, 1, 0, 0}, {0, 0, 1, -1}}};
    double u[3], v[3], c, v0 = 0.0, v1 = 1.0, d1, d2;
    int j, l, ee = kind == 3;
    gap_barrier__sub3(p->q[ee ? 1 : 2], p->q[ee ? 0 : 1], u);
    c = (ee ? 1.0 : -1.0) / gap_barrier__dot3(u, s->t[0]);
    if (kind != 1) {
        gap_barrier__sub3(p->q[3], p->q[ee ? 2 : 1], v);
        v0 = gap_barrier__dot3(v, s->t[0]);
        v1 = gap_barrier__dot3(v, s->t[1]);
    }
    for (j = 0; j < s->k - 1; ++j) {
        for (d1 = d2 = 0.0, l = 0; l < 4; ++l) {
            d1 += dw[ee][0][l] * s->q[j][l];
            d2 += dw[ee][1][l] * s->q[j][l];
        }
        f[0][j] = c * d1;
        f[1][j] = kind == 1 ? 0.0 : (-c * v0 * d1 - d2) / v1;
    }
}

/* The reduced Hessian of contact i, not mollified, not vp. */
static inline void gap_barrier__reduce(const gap_barrier_set *set, const double *x, int i,
    gap_barrier__small *s)
{
    gap_barrier__pair p;
    double f[2][3] = {{0}}, b[3], d2 = set->dist2[i], K = set->kappa * set->mult[i], len, push;
    int kind = set->kind[i], j, k, l, q, tang = kind == 0 ? 0 : kind == 1 ? 1 : 2;
    gap_barrier__load(set, x, i, &p);
    len = gap_barrier__axes(set, i, &p, s);
    if (kind > 0) gap_barrier__couple(kind, &p, s, f);
    gap_barrier__b(&set->opt, set->dhat, d2, set->offset[i], b);
    push = -2.0 * K * b[1];
    q = s->k - 1;
    s->m = q + tang;
    memset(s->a, 0, sizeof s->a);
    for (j = 0; j < q; ++j) {
        for (l = 0; l < q; ++l)
            s->a[j * s->m + l] = push * d2 * (f[0][j] * f[0][l] + f[1][j] * f[1][l]);
        for (k = 0; k < tang; ++k)
            s->a[j * s->m + q + k] = s->a[(q + k) * s->m + j] = push * sqrt(d2) * len * f[k][j];
    }
    s->a[0] += (4.0 * K * b[2] * d2 - push) * len * len;
    s->free_t[0] = tang < 1 ? -push * len * len : 0.0;
    s->free_t[1] = tang < 2 ? -push * len * len : 0.0;
}

/* Block of 4 x 4 nodes from the small matrix: with S = q A q^T, y_i = sum_k (q A_k)_i t_k and T the
   tangential part, block (i,j) = n (S_ij n + w_j y_i)^T + w_i (y_j n^T + w_j T). */
static inline void gap_barrier__expand(const gap_barrier__small *s, int dim, double *hess)
{
    double y[4][3], T[3][3], qa[4][5], p[3], r[3], S, t0, t1;
    int i, j, k, l, a, b, nodes = s->k, kn = nodes - 1, m = s->m, size = 4 * dim;
    const double *A = s->a, *at = A + kn * m + kn;
    for (i = 0; i < nodes; ++i) {
        for (k = 0; k < m; ++k)
            for (qa[i][k] = 0.0, l = 0; l < kn; ++l) qa[i][k] += s->q[l][i] * A[l * m + k];
        t0 = m > kn ? qa[i][kn] : 0.0;
        t1 = m > kn + 1 ? qa[i][kn + 1] : 0.0;
        for (a = 0; a < 3; ++a) y[i][a] = t0 * s->t[0][a] + t1 * s->t[1][a];
    }
    t0 = s->free_t[0] + (m > kn ? at[0] : 0.0);
    t1 = s->free_t[1] + (m > kn + 1 ? at[m + 1] : 0.0);
    S = m > kn + 1 ? at[1] : 0.0;
    for (b = 0; b < 3; ++b) {
        p[b] = t0 * s->t[0][b] + S * s->t[1][b];
        r[b] = S * s->t[0][b] + t1 * s->t[1][b];
        for (a = 0; a < 3; ++a) T[a][b] = s->t[0][a] * p[b] + s->t[1][a] * r[b];
    }
    if (nodes < 4) memset(hess, 0, (size_t)(size * size) * sizeof *hess);
    for (i = 0; i < nodes; ++i) {
        for (j = i; j < nodes; ++j) {
            double *h = hess + i * dim * size + j * dim, *ht = hess + j * dim * size + i * dim;
            double ww = s->w[i] * s->w[j];
            for (S = 0.0, k = 0; k < kn; ++k) S += qa[i][k] * s->q[k][j];
            for (b = 0; b < 3; ++b) {
                p[b] = S * s->n[b] + s->w[j] * y[i][b];
                r[b] = s->w[i] * y[j][b];
            }
            for (a = 0; a < dim; ++a)
                for (b = 0; b < dim; ++b) {
                    t0 = s->n[a] * p[b] + r[a] * s->n[b] + ww * T[a][b];
                    h[a * size + b] = t0;
                    ht[b * size + a] = t0;
                }
        }
    }
}

/* Nearest PSD matrices in place. Where little is left of a matrix, the rounding of what was taken
   away shows: a second pass removes it. */
static inline void gap_barrier__project(int n, int count, double *a)
{
    double before[81 + 25 * gap_barrier__lanes], top, left;
    int i, k, size = n * n;
    memcpy(before, a, (size_t)(size * count) * sizeof *a);
    GAP_BARRIER__BEST(nearest, (n, count, a, a));
    for (i = 0; i < count; ++i) {
        for (top = left = 0.0, k = 0; k < size; ++k) {
            top = fabs(before[i * size + k]) > top ? fabs(before[i * size + k]) : top;
            left = fabs(a[i * size + k]) > left ? fabs(a[i * size + k]) : left;
        }
        if (left < 1e-2 * top)
            GAP_BARRIER__BEST(nearest, (n, 1, a + i * size, a + i * size));
    }
}

/* Small matrices that wait for a common projection. */
typedef struct gap_barrier__batch {
    int count, psd, dim;
    double *to[gap_barrier__lanes];
    gap_barrier__small s[gap_barrier__lanes];
} gap_barrier__batch;

static inline void gap_barrier__flush(gap_barrier__batch *b)
{
    double a[25 * gap_barrier__lanes];
    int i, k, size = b->count > 0 ? b->s[0].m * b->s[0].m : 0;
    if (b->count > 0 && b->psd && size == 1) {
        for (i = 0; i < b->count; ++i)
            b->s[i].a[0] = b->s[i].a[0] > 0.0 ? b->s[i].a[0] : 0.0;
    } else if (b->count > 0 && b->psd) {
        for (i = 0; i < b->count; ++i)
            for (k = 0; k < size; ++k) a[i * size + k] = b->s[i].a[k];
        gap_barrier__project(b->s[0].m, b->count, a);
        for (i = 0; i < b->count; ++i)
            for (k = 0; k < size; ++k) b->s[i].a[k] = a[i * size + k];
    }
    for (i = 0; i < b->count; ++i) {
        for (k = 0; k < 2 && b->psd; ++k)
            if (!(b->s[i].free_t[k] > 0.0)) b->s[i].free_t[k] = 0.0;
        gap_barrier__expand(&b->s[i], b->dim, b->to[i]);
    }
    b->count = 0;
}

/* Gradient and Hessian of c = |u x v|^2 in the four nodes of an ee pair. */
static inline void gap_barrier__cross_derivatives(const double *const q[4], double grad[12],
    double hess[12][12])
{
    double u[3], v[3], n[3], vn[3], nu[3], uu, vv, uv, h[2][2][3][3];
    int i, j, a, b;
    gap_barrier__cross2(q, u, v, n);
    gap_barrier__cross3(v, n, vn);
    gap_barrier__cross3(n, u, nu);
    uu = gap_barrier__dot3(u, u);
    vv = gap_barrier__dot3(v, v);
    uv = gap_barrier__dot3(u, v);
    for (a = 0; a < 3; ++a) {
        grad[a] = -2.0 * vn[a]; grad[3 + a] = 2.0 * vn[a];
        grad[6 + a] = -2.0 * nu[a]; grad[9 + a] = 2.0 * nu[a];
        for (b = 0; b < 3; ++b) {
            h[0][0][a][b] = 2.0 * ((a == b ? vv : 0.0) - v[a] * v[b]);
            h[1][1][a][b] = 2.0 * ((a == b ? uu : 0.0) - u[a] * u[b]);
            h[0][1][a][b] = 2.0 * (2.0 * u[a] * v[b] - v[a] * u[b] - (a == b ? uv : 0.0));
            h[1][0][b][a] = h[0][1][a][b];
        }
    }
    for (i = 0; i < 4; ++i)
        for (j = 0; j < 4; ++j)
            for (a = 0; a < 3; ++a)
                for (b = 0; b < 3; ++b)
                    hess[3 * i + a][3 * j + b] = ((i + j) % 2 ? -1.0 : 1.0) * h[i / 2][j / 2][a][b];
}

/* Gradient and Hessian of D for a mollified ee pair whose closest features are `type`. */
static inline void gap_barrier__type_derivatives(int type, const double *const q[4],
    double grad[12], double hess[12][12])
{
    const double *f[4];
    double w[4], r[3], n[3], dw[2][4], c[2][3], g[3] = {0.0, 0.0, 0.0}, pr[3][3], h[3][3];
    int local[4], i, j, a, b, params = 0, fk = gap_barrier__feature(3, type, local);
    memset(grad, 0, 12 * sizeof *grad);
    memset(hess, 0, 144 * sizeof(double));
    for (i = 0; i < 4; ++i) f[i] = q[local[i] < 0 ? 0 : local[i]];
    gap_barrier__closest(fk, f, w, r, n);
    if (fk > 0) params = gap_barrier__duals(fk, f, n, dw, c, g);
    gap_barrier__projector(fk, f, n, pr);
    for (i = 0; i < 4 && local[i] >= 0; ++i) {
        for (a = 0; a < 3; ++a) grad[3 * local[i] + a] = 2.0 * w[i] * r[a];
        for (j = 0; j < 4 && local[j] >= 0; ++j) {
            gap_barrier__hess_block(i, j, params, w, r, dw, c, g, pr, h);
            for (a = 0; a < 3; ++a)
                for (b = 0; b < 3; ++b) hess[3 * local[i] + a][3 * local[j] + b] = h[a][b];
        }
    }
}

/* Hessian of a mollified contact:
   K [ b Hess e + b' (grad e grad D^T + grad D grad e^T) + e (b'' grad D grad D^T + b' Hess D) ],
   projected in the 9 dimensions of sum zero. */
static inline void gap_barrier__mollified(const gap_barrier_set *set, const double *x, int i,
    int psd, double *hess)
{
    static const double h[3][4] = {{0.70710678118654752440, -0.70710678118654752440, 0, 0},
        {0, 0, 0.70710678118654752440, -0.70710678118654752440}, {0.5, 0.5, -0.5, -0.5}};
    gap_barrier__pair p;
    double gc[12], hc[12][12], gd[12], hd[12][12], e[3], b[3], small[81], half[9][12];
    double K = set->kappa * set->mult[i];
    int j, k, l, m, a;
    gap_barrier__load(set, x, i, &p);
    gap_barrier__mollifier(set, i, &p, e);
    gap_barrier__b(&set->opt, set->dhat, set->dist2[i], set->offset[i], b);
    gap_barrier__cross_derivatives(p.q, gc, hc);
    gap_barrier__type_derivatives(set->type[i], p.q, gd, hd);
    for (j = 0; j < 12; ++j)
        for (k = 0; k < 12; ++k)
            hess[12 * j + k] = K * (b[0] * (e[2] * gc[j] * gc[k] + e[1] * hc[j][k])
                + b[1] * e[1] * (gc[j] * gd[k] + gd[j] * gc[k])
                + e[0] * (b[2] * gd[j] * gd[k] + b[1] * hd[j][k]));
    if (!psd) return;
    for (m = 0; m < 9; ++m)
        for (k = 0; k < 12; ++k)
            for (half[m][k] = 0.0, l = 0; l < 4; ++l)
                half[m][k] += h[m / 3][l] * hess[12 * (3 * l + m % 3) + k];
    for (m = 0; m < 9; ++m)
        for (a = 0; a < 9; ++a)
            for (small[9 * m + a] = 0.0, l = 0; l < 4; ++l)
                small[9 * m + a] += half[m][3 * l + a % 3] * h[a / 3][l];
    for (m = 0; m < 9; ++m)
        for (a = 0; a < m; ++a)
            small[9 * m + a] = small[9 * a + m] = 0.5 * (small[9 * m + a] + small[9 * a + m]);
    gap_barrier__project(9, 1, small);
    for (m = 0; m < 9; ++m)
        for (k = 0; k < 12; ++k)
            for (half[m][k] = 0.0, l = 0; l < 3; ++l)
                half[m][k] += small[9 * m + 3 * l + k % 3] * h[l][k / 3];
    for (j = 0; j < 12; ++j)
        for (k = 0; k < 12; ++k)
            for (hess[12 * j + k] = 0.0, l = 0; l < 3; ++l)
                hess[12 * j + k] += h[l][j / 3] * half[3 * l + j % 3][k];
}

/* ---- public: energy and derivatives ---- */

GAP_BARRIER_API double gap_barrier_energy(const gap_barrier_set *set, const double *x, int begin,
    int end)
{
    gap_barrier__pair p;
    double sum = 0.0, b[3], e[3] = {1.0, 0.0, 0.0};
    int i;
    GAP_BARRIER_ASSERT(set && x && begin >= 0 && begin <= end && end <= set->count);
    for (i = begin; i < end; ++i) {
        gap_barrier__b(&set->opt, set->dhat, set->dist2[i], set->offset[i], b);
        e[0] = 1.0;
        if (set->mollify[i] > 0.0) {
            gap_barrier__load(set, x, i, &p);
            gap_barrier__mollifier(set, i, &p, e);
        }
        sum += set->mult[i] * e[0] * b[0];
    }
    return set->kappa * sum;
}

GAP_BARRIER_API void gap_barrier_gradient(const gap_barrier_set *set, const double *x, int begin,
    int end, double *grad)
{
    int i, k, a, dim = set->dim;
    GAP_BARRIER_ASSERT(set && x && grad && begin >= 0 && begin <= end && end <= set->count);
    for (i = begin; i < end; ++i) {
        const double *w = set->weight + 4 * (size_t)i, *n = set->normal + (size_t)dim * (size_t)i;
        double *g = grad + 4 * (size_t)dim * (size_t)(i - begin), K, b[3], e[3];
        for (k = 0; k < 4; ++k) /* force = -dE/dd and dd/dx = w (x) n */
            for (a = 0; a < dim; ++a) g[k * dim + a] = -set->force[i] * w[k] * n[a];
        if (set->mollify[i] > 0.0) {
            double u[3], v[3], m[3], vm[3], mu[3];
            gap_barrier__pair p;
            gap_barrier__load(set, x, i, &p);
            gap_barrier__mollifier(set, i, &p, e);
            gap_barrier__b(&set->opt, set->dhat, set->dist2[i], set->offset[i], b);
            gap_barrier__cross2(p.q, u, v, m);
            gap_barrier__cross3(v, m, vm);
            gap_barrier__cross3(m, u, mu);
            K = 2.0 * set->kappa * set->mult[i] * b[0] * e[1];
            for (a = 0; a < 3; ++a) {
                g[a] -= K * vm[a]; g[3 + a] += K * vm[a];
                g[6 + a] -= K * mu[a]; g[9 + a] += K * mu[a];
            }
        }
    }
}

/* vp: (4 b'' D + 2 b') n n^T on one node */
static inline void gap_barrier__plane(const gap_barrier_set *set, int i, int psd, double *hess)
{
    const double *n = set->normal + (size_t)set->dim * (size_t)i;
    double b[3], c;
    int a, k, size = 4 * set->dim;
    gap_barrier__b(&set->opt, set->dhat, set->dist2[i], set->offset[i], b);
    c = set->kappa * set->mult[i] * (4.0 * b[2] * set->dist2[i] + 2.0 * b[1]);
    if (psd && !(c > 0.0)) c = 0.0;
    memset(hess, 0, (size_t)(size * size) * sizeof *hess);
    for (a = 0; a < set->dim; ++a)
        for (k = 0; k < set->dim; ++k) hess[a * size + k] = c * n[a] * n[k];
}

GAP_BARRIER_API void gap_barrier_hessian(const gap_barrier_set *set, const double *x, int psd,
    int begin, int end, double *hess)
{
    gap_barrier__batch batch;
    int i, kind = 0, size = 4 * set->dim;
    GAP_BARRIER_ASSERT(set && x && hess && begin >= 0 && begin <= end && end <= set->count);
    batch.count = 0;
    batch.psd = psd;
    batch.dim = set->dim;
    for (i = begin; i < end; ++i) {
        double *h = hess + (size_t)(size * size) * (size_t)(i - begin);
        if (set->mollify[i] > 0.0) gap_barrier__mollified(set, x, i, psd, h);
        else if (set->kind[i] == 4) gap_barrier__plane(set, i, psd, h);
        else {
            if (set->kind[i] != kind) gap_barrier__flush(&batch);
            kind = set->kind[i];
            gap_barrier__reduce(set, x, i, &batch.s[batch.count]);
            batch.to[batch.count++] = h;
            if (batch.count == gap_barrier__lanes) gap_barrier__flush(&batch);
        }
    }
    gap_barrier__flush(&batch);
}

GAP_BARRIER_API void gap_barrier_node_force(const gap_barrier_set *set, const double *x,
    double *force)
{
    double g[12];
    int i, k, a;
    GAP_BARRIER_ASSERT(set && x && force);
    for (i = 0; i < set->count; ++i) {
        gap_barrier_gradient(set, x, i, i + 1, g);
        for (k = 0; k < 4; ++k) {
            int node = set->node[4 * (size_t)i + (size_t)k];
            for (a = 0; a < set->dim && node >= 0; ++a)
                force[(size_t)set->dim * (size_t)node + (size_t)a] -= g[k * set->dim + a];
        }
    }
}

static inline double gap_barrier__gap(double d2, double xi)
{
    return (d2 - xi * xi) / (sqrt(d2) + xi);
}

GAP_BARRIER_API double gap_barrier_min_gap(const gap_barrier_set *set)
{
    double best = HUGE_VAL, g;
    int i;
    GAP_BARRIER_ASSERT(set);
    for (i = 0; i < set->count; ++i) {
        g = gap_barrier__gap(set->dist2[i], set->offset[i]);
        best = g < best ? g : best;
    }
    return best;
}

GAP_BARRIER_API double gap_barrier_complementarity(const gap_barrier_set *set, double *sum)
{
    double worst = 0.0, total = 0.0, c;
    int i;
    GAP_BARRIER_ASSERT(set);
    for (i = 0; i < set->count; ++i) {
        c = set->force[i] * gap_barrier__gap(set->dist2[i], set->offset[i]);
        total += c;
        worst = c > worst ? c : worst;
    }
    if (sum) *sum = total;
    return worst;
}

GAP_BARRIER_API int gap_barrier_function_at(int form, double y, double yhat, double b[3])
{
    GAP_BARRIER_ASSERT(b && form >= GAP_BARRIER_LOG_C2 && form <= GAP_BARRIER_LOG_C0);
    b[0] = b[1] = b[2] = 0.0;
    if (!(y > 0.0 && yhat > 0.0)) {
        b[0] = b[1] = b[2] = (double)NAN;
        return GAP_BARRIER_EINPUT;
    }
    if (y < yhat) gap_barrier__form(form, y, yhat, b);
    return GAP_BARRIER_OK;
}

/* ---- public: stiffness ---- */

GAP_BARRIER_API void gap_barrier_kappa_bounds(const gap_barrier_options *opt, double length,
    double mass, double dhat, double xi, double scale, double kappa[2])
{
    gap_barrier_options none;
    double d = 1e-8 * length + xi, b[3];
    GAP_BARRIER_ASSERT(kappa && length > 0.0 && dhat > 0.0 && xi >= 0.0);
    memset(&none, 0, sizeof none);
    if (!opt) opt = &none;
    gap_barrier__b(opt, dhat, d * d, xi, b);
    /* |grad D|^2 of one point is 4 D */
    kappa[0] = (scale > 0.0 ? scale : 1e11) * mass / (4.0 * d * d * b[2]);
    kappa[1] = 100.0 * kappa[0];
}

GAP_BARRIER_API double gap_barrier_kappa_start(int n, const double *grad_rest,
    const double *grad_unit, const unsigned char *fixed, const double kappa[2])
{
    double dot = 0.0, norm = 0.0, k;
    int i;
    GAP_BARRIER_ASSERT(n >= 0 && grad_rest && grad_unit && kappa);
    for (i = 0; i < n; ++i) {
        if (fixed && fixed[i]) continue;
        dot -= grad_rest[i] * grad_unit[i];
        norm += grad_unit[i] * grad_unit[i];
    }
    k = norm > 0.0 ? dot / norm : kappa[0];
    return k > kappa[0] ? (k < kappa[1] ? k : kappa[1]) : kappa[0];
}

typedef struct gap_barrier__close_pair {
    int kind, a, b;
    double gap;
} gap_barrier__close_pair;

/* gap of a candidate at x */
static inline double gap_barrier__pair_gap(const gap_barrier_mesh *mesh, const double *x, int kind,
    int a, int b)
{
    gap_barrier__pair p;
    double n[3], h, xi;
    int type;
    gap_barrier__nodes(mesh, kind, a, b, &p);
    gap_barrier__points(mesh->dim, x, &p);
    xi = gap_barrier__xi(mesh, &p);
    if (kind == 4) {
        h = gap_barrier__height(mesh, b, p.q[0], n);
        return h - xi;
    }
    return gap_barrier__gap(gap_barrier__dist2_of(kind, p.q, &type), xi);
}

GAP_BARRIER_API double gap_barrier_kappa_update(gap_barrier_set *set, const gap_barrier_mesh *mesh,
    const double *x, double length, double kappa_max)
{
    gap_barrier__close_pair *c = (gap_barrier__close_pair *)set->mem[gap_barrier__close].p;
    double limit = 1e-9 * length, gap, kappa = set->kappa;
    int i, kind, n = 0, stuck = 0;
    GAP_BARRIER_ASSERT(set && mesh && x && length > 0.0);
    for (i = 0; i < set->close_count && !stuck; ++i) {
        gap = gap_barrier__pair_gap(mesh, x, c[i].kind, c[i].a, c[i].b);
        stuck = gap < limit && gap <= c[i].gap;
    }
    if (stuck) kappa = 2.0 * kappa < kappa_max ? 2.0 * kappa : kappa_max;
    for (kind = 0; kind < 5; ++kind) {
        for (i = 0; i < set->active.count[kind]; ++i) {
            const int *pair = set->active.pair[kind] + 2 * (size_t)i;
            gap = gap_barrier__pair_gap(mesh, x, kind, pair[0], pair[1]);
            if (!(gap < limit)) continue;
            c = (gap_barrier__close_pair *)gap_barrier__grow(set, &set->mem[gap_barrier__close],
                (size_t)n + 1, sizeof *c);
            if (!c) {
                set->close_count = 0;
                return (double)GAP_BARRIER_ENOMEM;
            }
            c[n].kind = kind; c[n].a = pair[0]; c[n].b = pair[1];
            c[n++].gap = gap;
        }
    }
    set->close_count = n;
    if (kappa != set->kappa) gap_barrier_set_kappa(set, kappa);
    return kappa;
}

/* ---- public: step bounds ---- */

GAP_BARRIER_API int gap_barrier_step_pairs(gap_barrier_set *set, const gap_barrier_mesh *mesh,
    const double *x, const double *p, const gap_barrier_candidates *pairs,
    gap_barrier_linear_ccd ccd, void *user, double *alpha)
{
    double best, p0[12], p1[12], gap, toi, keep, speed;
    int kind, i, j, a, dim = mesh->dim, status;
    gap_barrier__pair q;
    GAP_BARRIER_ASSERT(set && mesh && x && p && pairs && ccd && alpha);
    best = *alpha;
    *alpha = 0.0;
    for (kind = 0; kind < 5; ++kind) {
        for (i = 0; i < pairs->count[kind]; ++i) {
            const int *pair = pairs->pair[kind] + 2 * (size_t)i;
            set->bad[0] = kind; set->bad[1] = pair[0]; set->bad[2] = pair[1];
            if (!gap_barrier__nodes(mesh, kind, pair[0], pair[1], &q)) return GAP_BARRIER_EINDEX;
            gap = gap_barrier__pair_gap(mesh, x, kind, pair[0], pair[1]);
            if (gap_barrier__idle(mesh, &q)) continue;
            if (!(gap > 0.0)) return gap <= 0.0 ? GAP_BARRIER_ETOUCH : GAP_BARRIER_ENONFIN;
            if (kind == 4) { /* keeps a tenth */
                for (speed = 0.0, a = 0; a < dim; ++a)
                    speed -= mesh->plane[2 * (size_t)dim * (size_t)pair[1] + (size_t)(dim + a)]
                        * p[(size_t)dim * (size_t)pair[0] + (size_t)a];
                if (speed * best > 0.9 * gap) best = 0.9 * gap / speed;
                continue;
            }
            for (j = 0; j < q.count; ++j) {
                for (a = 0; a < dim; ++a) {
                    size_t at = (size_t)dim * (size_t)q.node[j] + (size_t)a;
                    p0[j * dim + a] = x[at];
                    p1[j * dim + a] = x[at] + p[at];
                }
            }
            toi = best;
            keep = gap_barrier__xi(mesh, &q) + 0.2 * gap;
            status = ccd(user, dim, kind, p0, p1, keep, best, &toi);
            if (status < 0) return status;
            if (status == 2) return GAP_BARRIER_ETOUCH;
            if (status != 0 && toi < best) best = toi;
        }
    }
    set->bad[0] = set->bad[1] = set->bad[2] = -1;
    *alpha = best;
    return GAP_BARRIER_OK;
}

GAP_BARRIER_API int gap_barrier_step(gap_barrier_set *set, const gap_barrier_mesh *mesh,
    const double *x, const double *p, gap_barrier_linear_ccd ccd, void *user, double *alpha,
    double *bound)
{
    double top = 0.0, len, cfl = HUGE_VAL, partial;
    int i, a, status;
    GAP_BARRIER_ASSERT(set && mesh && x && p && ccd && alpha);
    partial = *alpha;
    if (bound) *bound = 0.0;
    status = gap_barrier_step_pairs(set, mesh, x, p, &set->active, ccd, user, &partial);
    if (status) {
        *alpha = 0.0;
        return status;
    }
    /* every vertex: one that is in an active pair may also run into something else */
    for (i = 0; i < mesh->nodes; ++i) {
        for (len = 0.0, a = 0; a < mesh->dim; ++a) {
            double c = p[(size_t)mesh->dim * (size_t)i + (size_t)a];
            len += c * c;
        }
        if (!(len < HUGE_VAL)) {
            *alpha = 0.0;
            return GAP_BARRIER_ENONFIN;
        }
        top = len > top ? len : top;
    }
    /* two sides approach by at most 2 max|p| alpha; 0.9 leaves a tenth of dhat */
    if (top > 0.0) cfl = 0.9 * set->dhat / (2.0 * sqrt(top));
    if (bound) *bound = cfl;
    *alpha = cfl < partial ? cfl : partial;
    return cfl < 0.5 * partial ? GAP_BARRIER_FULL_CCD : GAP_BARRIER_OK;
}
#endif /* GAP_BARRIER_IMPLEMENTATION */

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
