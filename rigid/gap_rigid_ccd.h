/* gap_rigid_ccd.h - v0.1.0 - collision detection of turning bodies - MIT-0, see end
   Points of rigid bodies move on curves. This header cuts a curve into chords, bounds by a closed
   form how far it leaves each, and asks any linear CCD with that much more distance. Swept boxes
   and a tree in the body's own frame for the broad phase. 2D and 3D. Copy this one file.
QUICK START
   #define GAP_RIGID_CCD_IMPLEMENTATION   // in exactly one .c or .cpp file
   #include "gap_rigid_ccd.h"
   #include <stdio.h>
   static int spheres(void *user, int dim, int kind, const double *p0, const double *p1,
       double d, double t_max, double *toi) // stands for gap_ccd_pair: kind 0, second point at rest
   {
       double x = p0[0] - p0[3], v = p1[0] - p1[3] - x; (void)user; (void)dim; (void)kind;
       *toi = v < 0 && (d - x) / v < t_max ? (d - x) / v : t_max;
       return *toi < t_max;
   }
   int main(void) // a point 1 m from its pivot turns by a right angle; another is on its path
   {
       double Q[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, X[6] = {0, 1, 0, -0.8, 0.6, 0}, toi;
       double u0[6] = {0, 0, 0, 0, 0, 0}, u1[6] = {0, 0, 0, 0, 0, 1.5707963}, at[6] = {0};
       gap_rigid_ccd_motion A, B; gap_rigid_ccd_options opt = {spheres, NULL, 0, 0};
       int hit = (gap_rigid_ccd_set(&A, 3, Q, u0, u1), gap_rigid_ccd_set(&B, 3, Q, at, at),
           gap_rigid_ccd_pair(&opt, 3, 0, &A, &B, X, 0.0, 1.0, &toi)); // B stays
       printf("%d %d\n", hit, toi > 0.1 && toi < 1); // 1 1
       return 0;
   }
GUARANTEES (the linear CCD keeping its own: distance above min_distance on [0, its toi))
   Safe     the Euclidean distance is above min_distance on [0, toi) along the curves, any angles.
   Positive toi > 0 whenever 0.8 (d0 - min_distance) > 1e-9 d0 + 3 slack, slack = 64 2^-53 times the
            sum over both bodies of (1 + |theta|) |X| + |q|. Else CLOSE.
   Tight    at a HIT at most a tenth of the gap that was to be used up is left (in the mean toi is
            0.94 of the sampled time). It is no proof of contact.
   Ends     at most max_pieces linear queries a pair.
   Even     toi for t_max is the smaller of t_max and toi for 1, to the bit; a common step does not
            depend on the order of the pairs nor on threads. Lengths times 2^k: the same toi.
   Sharp    the bound |dtheta|^2 |X| / 8 is reached to 0.999 (random paths in the tests).
   Boxes    hold the whole curve of every point of their primitive, rounding included.
OPTIONS (define before the implementation)
   GAP_RIGID_CCD_STATIC     keep all functions private to this file
   GAP_RIGID_CCD_ASSERT(x)  replaces assert(x)
EDGE CASES
   not apart at t = 0: CLOSE, toi 0.  nothing moves: FREE.  NaN, infinity: ENONFIN, toi 0.  negative
   min_distance, t_max outside [0,1], unknown kind: EINPUT, toi 0.  Turns of many 2 pi are fine.
METHOD
   Ferguson et al. 2021 (Rigid IPC) bound the way off the chord by interval arithmetic, which is of
   first order in the angle: many pieces. The closed form is of second order, so most pairs need
   one, and it gives the longest piece directly: no stack. A motion too short to close the gap is
   accepted without any query.
NOT HERE   linear CCD: gap_ccd.h, gap_accd.h.  kinematics: gap_rigid.h.  pairs of many bodies:
           gap_broad.h, with gap_rigid_ccd_grow as radius.
HISTORY    0.1.0 first release */
#ifndef GAP_RIGID_CCD_H
#define GAP_RIGID_CCD_H
#define GAP_RIGID_CCD_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_RIGID_CCD_STATIC
#define GAP_RIGID_CCD_API static inline
#else
#define GAP_RIGID_CCD_API extern
#endif
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_rigid_ccd_status {
    GAP_RIGID_CCD_FREE = 0,     /* apart on [0, t_max]; toi = t_max */
    GAP_RIGID_CCD_HIT = 1,      /* comes near; 0 < toi <= t_max */
    GAP_RIGID_CCD_CLOSE = 2,    /* not shown to be apart at t = 0; toi = 0 */
    GAP_RIGID_CCD_BUDGET = 3,   /* pieces or the linear CCD's budget spent; safe up to toi > 0 */
    GAP_RIGID_CCD_ENONFIN = -1, /* NaN or infinity; toi = 0 */
    GAP_RIGID_CCD_EINDEX = -3,  /* a pair names what does not exist; toi = 0 */
    GAP_RIGID_CCD_EINPUT = -6   /* bad kind, min_distance or t_max; toi = 0 */
} gap_rigid_ccd_status;

/* Kinds: 0 vv, 1 ve, 2 vf, 3 ee. Points: vv 2, ve v e0 e1, vf v f0 f1 f2, ee a0 a1 b0 b1. */
typedef int (*gap_rigid_ccd_linear_ccd)(void *user, int dim, int kind, const double *p0,
    const double *p1, double min_distance, double t_max, double *toi);

typedef struct gap_rigid_ccd_options {
    gap_rigid_ccd_linear_ccd linear; /* gap_ccd_pair, gap_accd_pair; must be given */
    void *user;                      /* handed to it */
    double keep;    /* part of the gap at t = 0 that remains, in (0,1); 0 means 0.2, < 0 none */
    int max_pieces; /* linear queries per pair; 0 means 1000 */
} gap_rigid_ccd_options;

/* x(t) = exp[theta(t)] Q X + q(t), theta and q linear in t. */
typedef struct gap_rigid_ccd_motion {
    double Q[9];                   /* rotation, row by row */
    double q[2][3], theta[2][3];   /* at t = 0 and 1; 2D: theta = (0, 0, angle) */
    double turn;                   /* |theta[1] - theta[0]| */
    double reach, angle;           /* largest |q|; 1 + largest |theta| */
} gap_rigid_ccd_motion;

/* Bodies and primitives of a scene for lists of pairs. */
typedef struct gap_rigid_ccd_mesh {
    int dim, nodes, edges, tris, bodies;
    const int *edge;       /* 2 each */
    const int *tri;        /* 3 each */
    const int *body;       /* 1 per node */
    const double *X;       /* dim per node, body coordinates */
} gap_rigid_ccd_mesh;

/* Tree of boxes over primitives in body coordinates. Read none. */
typedef struct gap_rigid_ccd_tree {
    int dim, count;
    int *item;   /* count */
    double *box; /* 2*dim per tree node, lowest then highest corner */
} gap_rigid_ccd_tree;

/* Motion from unknowns of gap_rigid.h: u = q, theta (6 values; 2D 3), Q the orientation at theta 0
   (9 values, in 2D too). Returns 0 or ENONFIN. */
GAP_RIGID_CCD_API int gap_rigid_ccd_set(gap_rigid_ccd_motion *m, int dim, const double Q[9],
    const double *u0, const double *u1);

/* Where the point X of the body is at time t; dim values. */
GAP_RIGID_CCD_API void gap_rigid_ccd_at(const gap_rigid_ccd_motion *m, int dim, double t,
    const double *X, double *x);

/* Bound on |x(t) - chord(t)| between times t0 and t1 for a point at distance r from the centre, and
   nothing for rounding: (t1 - t0)^2 |dtheta|^2 r / 8. */
GAP_RIGID_CCD_API double gap_rigid_ccd_deviation(const gap_rigid_ccd_motion *m, double r, double t0,
    double t1);

/* Time of impact of one pair of primitives of bodies A (first side) and B.
   X             points in body coordinates, dim each, first side then second
   min_distance  Euclidean, >= 0;  t_max in [0,1];  toi 1 value, always written
   Cost: a distance, and a linear query for most pairs that could meet. */
GAP_RIGID_CCD_API int gap_rigid_ccd_pair(const gap_rigid_ccd_options *opt, int dim, int kind,
    const gap_rigid_ccd_motion *A, const gap_rigid_ccd_motion *B, const double *X,
    double min_distance, double t_max, double *toi);

/* The same; pieces (may be NULL) receives the number of linear queries. */
GAP_RIGID_CCD_API int gap_rigid_ccd_query(const gap_rigid_ccd_options *opt, int dim, int kind,
    const gap_rigid_ccd_motion *A, const gap_rigid_ccd_motion *B, const double *X,
    double min_distance, double t_max, double *toi, int *pieces);

/* Pairs begin .. end-1 of a candidate list, each on its own; ranges may run in parallel.
   motion  1 per body;  status (may be NULL), toi  1 per pair of the list, written at begin .. end-1
   Returns 0, or the error of the first pair that has one. */
GAP_RIGID_CCD_API int gap_rigid_ccd_batch(const gap_rigid_ccd_options *opt,
    const gap_rigid_ccd_mesh *mesh, const gap_rigid_ccd_motion *motion, int kind, const int *pair,
    int begin, int end, double min_distance, double t_max, int *status, double *toi);

/* Largest common step: shrinks *t until all pairs are safe on [0, *t), each asked only up to the
   earliest time so far. Call it once per kind with the same t. Parts of the list may be asked in
   parallel, each from any t that is not below the answer: the least of theirs is the same.
   first   may be NULL: the pair that set *t, or is CLOSE or in error; -1 if none
   Returns FREE, HIT, BUDGET, CLOSE (*t = 0), or an error with *t = 0. */
GAP_RIGID_CCD_API int gap_rigid_ccd_step(const gap_rigid_ccd_options *opt,
    const gap_rigid_ccd_mesh *mesh, const gap_rigid_ccd_motion *motion, int kind, const int *pair,
    int count, double min_distance, double *t, int *first);

/* ---- broad phase ---- */

/* Positions at both ends and how far a node leaves its chord, for a linear broad phase with radius.
   n nodes X (dim each);  x0, x1 dim each;  grow 1 each; each output may be NULL. */
GAP_RIGID_CCD_API void gap_rigid_ccd_grow(const gap_rigid_ccd_motion *m, int dim, int n,
    const double *X, double *x0, double *x1, double *grow);

/* World box of a body with n nodes X over the whole motion, grown by `inflate`: the chords' boxes
   plus the deviation, or the path of the ball around the centre where that is smaller.
   lo, hi  dim values each */
GAP_RIGID_CCD_API void gap_rigid_ccd_body_box(const gap_rigid_ccd_motion *m, int dim, int n,
    const double *X, double inflate, double *lo, double *hi);

/* Box, in the body coordinates of B, of a primitive of A with k <= 3 points X over the whole
   motion, grown by `inflate`. */
GAP_RIGID_CCD_API void gap_rigid_ccd_relative_box(const gap_rigid_ccd_motion *A,
    const gap_rigid_ccd_motion *B, int dim, int k, const double *X, double inflate, double *lo,
    double *hi);

/* Bytes of work memory of a tree, aligned for double. */
GAP_RIGID_CCD_API size_t gap_rigid_ccd_tree_size(int dim, int count);

/* Build a tree over count primitives of `per` nodes each (1, 2, 3; elem NULL: nodes 0, 1, ..) with
   body coordinates X. Once per body and kind of primitive; it never has to be touched again. */
GAP_RIGID_CCD_API void gap_rigid_ccd_tree_build(gap_rigid_ccd_tree *tree, int dim, int count,
    int per, const int *elem, const double *X, void *work);

/* Primitives whose boxes meet lo .. hi: the first `capacity` of them to out, in the tree's order.
   Returns how many there are. */
GAP_RIGID_CCD_API int gap_rigid_ccd_tree_find(const gap_rigid_ccd_tree *tree, const double *lo,
    const double *hi, int *out, int capacity);

#ifdef __cplusplus
}
#endif
#endif /* GAP_RIGID_CCD_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_RIGID_CCD_STATIC)) && \
    !defined(GAP_RIGID_CCD_IMPLEMENTATION)
#define GAP_RIGID_CCD_IMPLEMENTATION
#endif
#if defined(GAP_RIGID_CCD_IMPLEMENTATION) && !defined(GAP_RIGID_CCD_IMPLEMENTED)
#define GAP_RIGID_CCD_IMPLEMENTED
#include <float.h>
#include <math.h>
#include <string.h>
#ifndef GAP_RIGID_CCD_ASSERT
#include <assert.h>
#define GAP_RIGID_CCD_ASSERT(x) assert(x)
#endif

/* Positions are off by less than 20 roundings of (1 + |theta|) |X| + |q|: theta's own rounding
   turns by 2 |theta| 2^-53, the matrix exp[theta] Q and its product with X are 13 roundings of |X|,
   the sum one of |q|; the distance block adds 1e-15 of the pair's size. 64 roundings cover both. */
#define GAP_RIGID_CCD__ROUND (64.0 * 1.1102230246251565e-16)
/* Relative error of the distance block, both sides. */
#define GAP_RIGID_CCD__DIST 1e-9
/* Part of the gap that the way off the chord may use. A larger one makes fewer pieces and earlier
   hits; 0.5 is the best of 0.1, 0.5, 0.9 that Ferguson measured. */
#define GAP_RIGID_CCD__SHARE 0.5
/* A hit with at most this part of the first gap left is the answer; with more the deviation was to
   blame, and a shorter piece comes nearer. */
#define GAP_RIGID_CCD__NEAR 0.1
/* Most pieces of a relative box. */
#define GAP_RIGID_CCD__BOXES 16

/* [block v3 from gap_distance.h] */
static inline double gap_rigid_ccd__dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* c = a - b; c may be a or b */
static inline void gap_rigid_ccd__sub3(const double a[3], const double b[3], double c[3])
{
    c[0] = a[0] - b[0]; c[1] = a[1] - b[1]; c[2] = a[2] - b[2];
}

/* c = a x b; c is neither */
static inline void gap_rigid_ccd__cross3(const double a[3], const double b[3], double c[3])
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
static inline void gap_rigid_ccd__diff_dd(const double a[3], const double b[3], double d[2][3])
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
static inline void gap_rigid_ccd__cross_dd(double a[2][3], double b[2][3], double c[2][3])
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
static inline double gap_rigid_ccd__dot_dd(double a[2][3], double b[2][3])
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

static inline double gap_rigid_ccd__vv2(const double a[3], const double b[3])
{
    double r[3];
    gap_rigid_ccd__sub3(a, b, r);
    return gap_rigid_ccd__dot3(r, r);
}

/* x = (p - e0) x (e1 - e0) to full relative accuracy; |x|^2 */
static inline double gap_rigid_ccd__ve_cross(const double p[3], const double e0[3],
    const double e1[3], double x[3])
{
    double a[3], e[3], ad[2][3], ed[2][3], xd[2][3], xx;
    gap_rigid_ccd__sub3(p, e0, a);
    gap_rigid_ccd__sub3(e1, e0, e);
    gap_rigid_ccd__cross3(a, e, x);
    xx = gap_rigid_ccd__dot3(x, x);
    if (xx >= 1e-10 * gap_rigid_ccd__dot3(a, a) * gap_rigid_ccd__dot3(e, e)) return xx;
    gap_rigid_ccd__diff_dd(p, e0, ad);
    gap_rigid_ccd__diff_dd(e1, e0, ed);
    gap_rigid_ccd__cross_dd(ad, ed, xd);
    x[0] = xd[0][0]; x[1] = xd[0][1]; x[2] = xd[0][2];
    return gap_rigid_ccd__dot3(x, x);
}

static inline double gap_rigid_ccd__ve2(const double p[3], const double e0[3], const double e1[3],
    int *type)
{
    double a[3], e[3], x[3], l, ae;
    gap_rigid_ccd__sub3(p, e0, a);
    gap_rigid_ccd__sub3(e1, e0, e);
    l = gap_rigid_ccd__dot3(e, e);
    ae = gap_rigid_ccd__dot3(a, e);
    *type = ae <= 0.0 ? 0 : ae >= l ? 1 : 2;
    if (*type == 0) return gap_rigid_ccd__dot3(a, a);
    if (*type == 1) return gap_rigid_ccd__vv2(p, e1);
    return gap_rigid_ccd__ve_cross(p, e0, e1, x) / l;
}

/* Triple of a vf or ee pair from six points: t = q0 - q1, u = q2 - q3, v = q4 - q5, n = u x v.
   o = { n, t.n, (t x v).n, (u x t).n }: the last two are |n|^2 times the coordinates of t's foot in
   (u, v). Returns |n|^2; uv = |u|^2 |v|^2, tt = |t|^2. */
static inline double gap_rigid_ccd__tuv(const double *const q[6], double o[6], double *uv,
    double *tt)
{
    double t[3], u[3], v[3], c[3];
    gap_rigid_ccd__sub3(q[0], q[1], t);
    gap_rigid_ccd__sub3(q[2], q[3], u);
    gap_rigid_ccd__sub3(q[4], q[5], v);
    gap_rigid_ccd__cross3(u, v, o);
    o[3] = gap_rigid_ccd__dot3(t, o);
    gap_rigid_ccd__cross3(t, v, c);
    o[4] = gap_rigid_ccd__dot3(c, o);
    gap_rigid_ccd__cross3(u, t, c);
    o[5] = gap_rigid_ccd__dot3(c, o);
    *uv = gap_rigid_ccd__dot3(u, u) * gap_rigid_ccd__dot3(v, v);
    *tt = gap_rigid_ccd__dot3(t, t);
    return gap_rigid_ccd__dot3(o, o);
}

/* the same o in double-double */
static inline double gap_rigid_ccd__tuv_dd(const double *const q[6], double o[6])
{
    double t[2][3], u[2][3], v[2][3], n[2][3], c[2][3];
    int i;
    gap_rigid_ccd__diff_dd(q[0], q[1], t);
    gap_rigid_ccd__diff_dd(q[2], q[3], u);
    gap_rigid_ccd__diff_dd(q[4], q[5], v);
    gap_rigid_ccd__cross_dd(u, v, n);
    for (i = 0; i < 3; ++i) o[i] = n[0][i];
    o[3] = gap_rigid_ccd__dot_dd(t, n);
    gap_rigid_ccd__cross_dd(t, v, c);
    o[4] = gap_rigid_ccd__dot_dd(c, n);
    gap_rigid_ccd__cross_dd(u, t, c);
    o[5] = gap_rigid_ccd__dot_dd(c, n);
    return gap_rigid_ccd__dot3(o, o);
}

/* One side of the domain: best = min(best, distance of p and e0 e1), type from its three codes. */
static inline void gap_rigid_ccd__side(const double p[3], const double e0[3], const double e1[3],
    int code0, int code1, int code2, double *best, int *type)
{
    int k;
    double d = gap_rigid_ccd__ve2(p, e0, e1, &k);
    if (*best >= 0.0 && d >= *best) return;
    *best = d;
    *type = k == 0 ? code0 : k == 1 ? code1 : code2;
}

static inline double gap_rigid_ccd__vf2(const double p[3], const double f0[3], const double f1[3],
    const double f2[3], int *type)
{
    const double *q[6];
    double o[6], uv, tt, b0, m, best = -1.0; /* -1: none yet */
    int weak, inside;
    q[0] = p; q[1] = f0; q[2] = f1; q[3] = f0; q[4] = f2; q[5] = f0;
    m = gap_rigid_ccd__tuv(q, o, &uv, &tt);
    weak = m < 1e-6 * uv;
    if (weak) m = gap_rigid_ccd__tuv_dd(q, o);
    b0 = m - o[4] - o[5];
    inside = b0 > 0.0 && o[4] > 0.0 && o[5] > 0.0;
    if (inside && !weak) {
        if (o[3] * o[3] < 1e-10 * tt * uv) m = gap_rigid_ccd__tuv_dd(q, o);
        *type = 6;
        return o[3] * o[3] / m;
    }
    *type = 0;
    if (weak || o[5] <= 0.0) gap_rigid_ccd__side(p, f0, f1, 0, 1, 3, &best, type);
    if (weak || b0 <= 0.0) gap_rigid_ccd__side(p, f1, f2, 1, 2, 4, &best, type);
    if (weak || o[4] <= 0.0) gap_rigid_ccd__side(p, f2, f0, 2, 0, 5, &best, type);
    /* 1e-56: below a sine of 1e-28 the double-double normal may be rounding. 1e-12: ties go to the
       sides, whose derivatives are well conditioned. */
    if (inside && m > 1e-56 * uv && o[3] * o[3] < (1.0 - 1e-12) * best * m) {
        *type = 6;
        return o[3] * o[3] / m;
    }
    return best;
}

static inline double gap_rigid_ccd__ee2(const double a0[3], const double a1[3], const double b0[3],
    const double b1[3], int *type)
{
    const double *q[6];
    double o[6], uv, tt, m, s, t, best = -1.0;
    int weak, inside;
    q[0] = a0; q[1] = b0; q[2] = a1; q[3] = a0; q[4] = b1; q[5] = b0;
    m = gap_rigid_ccd__tuv(q, o, &uv, &tt);
    weak = m < 1e-6 * uv;
    if (weak) m = gap_rigid_ccd__tuv_dd(q, o);
    s = -o[4]; /* |n|^2 times the parameter along a, then along b */
    t = o[5];
    inside = s > 0.0 && s < m && t > 0.0 && t < m;
    if (inside && !weak) {
        if (o[3] * o[3] < 1e-10 * tt * uv) m = gap_rigid_ccd__tuv_dd(q, o);
        *type = 8;
        return o[3] * o[3] / m;
    }
    *type = 0;
    if (weak || s <= 0.0) gap_rigid_ccd__side(a0, b0, b1, 0, 1, 2, &best, type);
    if (weak || s >= m) gap_rigid_ccd__side(a1, b0, b1, 3, 4, 5, &best, type);
    if (weak || t <= 0.0) gap_rigid_ccd__side(b0, a0, a1, 0, 3, 6, &best, type);
    if (weak || t >= m) gap_rigid_ccd__side(b1, a0, a1, 1, 4, 7, &best, type);
    if (inside && m > 1e-56 * uv && o[3] * o[3] < (1.0 - 1e-12) * best * m) {
        *type = 8;
        return o[3] * o[3] / m;
    }
    return best;
}
/* [end dist] */

/* ---------------------------------------------------------------- motion */

static inline double gap_rigid_ccd__norm(const double a[3])
{
    return sqrt(gap_rigid_ccd__dot3(a, a));
}

static inline double gap_rigid_ccd__max(double a, double b)
{
    return a > b ? a : b;
}

static inline int gap_rigid_ccd__finite(const double *x, int n)
{
    int i;
    for (i = 0; i < n; ++i) {
        if (!(fabs(x[i]) <= DBL_MAX)) return 0;
    }
    return 1;
}

GAP_RIGID_CCD_API int gap_rigid_ccd_set(gap_rigid_ccd_motion *m, int dim, const double Q[9],
    const double *u0, const double *u1)
{
    double d[3];
    int c, e;
    GAP_RIGID_CCD_ASSERT(m && Q && u0 && u1 && (dim == 2 || dim == 3));
    memset(m, 0, sizeof *m);
    memcpy(m->Q, Q, sizeof m->Q);
    for (e = 0; e < 2; ++e) {
        const double *u = e ? u1 : u0;
        for (c = 0; c < dim; ++c) m->q[e][c] = u[c];
        for (c = dim == 3 ? 0 : 2; c < 3; ++c) m->theta[e][c] = u[dim == 3 ? 3 + c : 2];
    }
    gap_rigid_ccd__sub3(m->theta[1], m->theta[0], d);
    m->turn = gap_rigid_ccd__norm(d);
    m->reach = gap_rigid_ccd__max(gap_rigid_ccd__norm(m->q[0]), gap_rigid_ccd__norm(m->q[1]));
    m->angle = 1.0 + gap_rigid_ccd__max(gap_rigid_ccd__norm(m->theta[0]),
        gap_rigid_ccd__norm(m->theta[1]));
    if (!gap_rigid_ccd__finite(m->Q, 9)) return GAP_RIGID_CCD_ENONFIN;
    return m->reach + m->angle <= DBL_MAX ? GAP_RIGID_CCD_FREE : GAP_RIGID_CCD_ENONFIN;
}

/* exp[s theta(t)] with s = 1 or -1: I + a K + b K^2, a = sin p / p, b = 2 sin^2(p/2) / p^2. Both
   are accurate for every p > 0. */
static inline void gap_rigid_ccd__exp(const gap_rigid_ccd_motion *m, double t, double s,
    double R[9])
{
    double w[3], p, half, a, b;
    int i, j;
    for (i = 0; i < 3; ++i) w[i] = s * (m->theta[0][i] + t * (m->theta[1][i] - m->theta[0][i]));
    p = gap_rigid_ccd__norm(w);
    half = sin(0.5 * p);
    a = p > 0.0 ? sin(p) / p : 1.0;
    b = p > 0.0 ? 2.0 * (half / p) * (half / p) : 0.5;
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 3; ++j) R[3 * i + j] = b * w[i] * w[j];
        R[4 * i] += 1.0 - 2.0 * half * half; /* K^2 = w w^T - p^2 I */
    }
    R[1] -= a * w[2]; R[2] += a * w[1]; R[5] -= a * w[0];
    R[3] += a * w[2]; R[6] -= a * w[1]; R[7] += a * w[0];
}

static inline void gap_rigid_ccd__apply(const double A[9], const double x[3], double y[3])
{
    int i;
    for (i = 0; i < 3; ++i) y[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}

/* Rotation matrix and place at time t */
static inline void gap_rigid_ccd__pose(const gap_rigid_ccd_motion *m, double t, double A[9],
    double q[3])
{
    double R[9];
    int i, j;
    gap_rigid_ccd__exp(m, t, 1.0, R);
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 3; ++j) {
            A[3 * i + j] = R[3 * i] * m->Q[j] + R[3 * i + 1] * m->Q[3 + j]
                + R[3 * i + 2] * m->Q[6 + j];
        }
        q[i] = m->q[0][i] + t * (m->q[1][i] - m->q[0][i]);
    }
}

static inline void gap_rigid_ccd__lift(int dim, const double *X, double Y[3])
{
    Y[0] = X[0]; Y[1] = X[1]; Y[2] = dim == 3 ? X[2] : 0.0;
}

GAP_RIGID_CCD_API void gap_rigid_ccd_at(const gap_rigid_ccd_motion *m, int dim, double t,
    const double *X, double *x)
{
    double A[9], q[3], Y[3], y[3];
    int c;
    gap_rigid_ccd__pose(m, t, A, q);
    gap_rigid_ccd__lift(dim, X, Y);
    gap_rigid_ccd__apply(A, Y, y);
    for (c = 0; c < dim; ++c) x[c] = y[c] + q[c];
}

/* Proof of the bound. Let W = [w], w = theta(1) - theta(0), and R(s) = exp(T + s W), T skew. By
   Duhamel's formula R'(s) = int_0^1 exp((1-a)(T + sW)) W exp(a (T + sW)) da, and differentiating
   once more, R'' is a sum of two double integrals over the triangle 0 <= a <= b <= 1 (area 1/2) of
   products of orthogonal matrices and two factors W. Orthogonal matrices have norm 1 and W has norm
   |w|, so ||R''|| <= 2 (1/2) |w|^2 = |w|^2 for every s and T. A curve with |x''| <= C on [0,1]
   stays within C/8 of its chord: x - chord = -int G(s,r) x''(r) dr with Green's function G >= 0 of
   the interval, and int G dr = s(1-s)/2 <= 1/8. q(s) is linear and adds nothing. On [t0, t1] the
   parameter is stretched, and w becomes (t1 - t0) w. Points of an edge or face are convex
   combinations of vertices, so their error is at most the largest of the vertices'. */
GAP_RIGID_CCD_API double gap_rigid_ccd_deviation(const gap_rigid_ccd_motion *m, double r, double t0,
    double t1)
{
    double w = (t1 - t0) * m->turn;
    return 0.125 * w * w * r;
}

/* ---------------------------------------------------------------- one pair */

typedef struct gap_rigid_ccd__job {
    int dim, kind, k, first;              /* k points, the first of them on A's side */
    const gap_rigid_ccd_motion *A, *B;
    double X[4][3];
    double ra, rb;                        /* largest |X| of each side */
    double bend;                          /* sum of |dtheta|^2 r: deviation = t^2 bend / 8 */
    double speed;                         /* the distance changes by at most this per time */
    double slack;
} gap_rigid_ccd__job;

static inline int gap_rigid_ccd__job_set(gap_rigid_ccd__job *j, int dim, int kind,
    const gap_rigid_ccd_motion *A, const gap_rigid_ccd_motion *B, const double *X)
{
    double d[3];
    int i, c;
    j->dim = dim;
    j->kind = kind;
    j->k = kind == 0 ? 2 : kind == 1 ? 3 : 4;
    j->first = kind == 3 ? 2 : 1;
    j->A = A;
    j->B = B;
    j->ra = j->rb = 0.0;
    if (!gap_rigid_ccd__finite(X, j->k * dim)) return GAP_RIGID_CCD_ENONFIN;
    for (i = 0; i < j->k; ++i) {
        double *r = i < j->first ? &j->ra : &j->rb;
        gap_rigid_ccd__lift(dim, X + dim * i, j->X[i]);
        *r = gap_rigid_ccd__max(*r, gap_rigid_ccd__norm(j->X[i]));
    }
    for (c = 0; c < 3; ++c) d[c] = (A->q[1][c] - A->q[0][c]) - (B->q[1][c] - B->q[0][c]);
    j->speed = gap_rigid_ccd__norm(d) + A->turn * j->ra + B->turn * j->rb;
    j->bend = A->turn * A->turn * j->ra + B->turn * B->turn * j->rb;
    j->slack = GAP_RIGID_CCD__ROUND
        * (A->angle * j->ra + A->reach + B->angle * j->rb + B->reach);
    return j->speed + j->bend + j->slack <= DBL_MAX ? GAP_RIGID_CCD_FREE : GAP_RIGID_CCD_ENONFIN;
}

/* Points at time t, 3 values each */
static inline void gap_rigid_ccd__points(const gap_rigid_ccd__job *j, double t, double x[4][3])
{
    double A[9], q[3];
    int i, c;
    for (i = 0; i < j->k; ++i) {
        if (i == 0 || i == j->first) gap_rigid_ccd__pose(i == 0 ? j->A : j->B, t, A, q);
        gap_rigid_ccd__apply(A, j->X[i], x[i]);
        for (c = 0; c < 3; ++c) x[i][c] += q[c];
    }
}

/* Lower bound of the distance at points x, but for the slack */
static inline double gap_rigid_ccd__distance(const gap_rigid_ccd__job *j, double x[4][3])
{
    int type;
    double d2 = j->kind == 0 ? gap_rigid_ccd__vv2(x[0], x[1])
        : j->kind == 1 ? gap_rigid_ccd__ve2(x[0], x[1], x[2], &type)
        : j->kind == 2 ? gap_rigid_ccd__vf2(x[0], x[1], x[2], x[3], &type)
        : gap_rigid_ccd__ee2(x[0], x[1], x[2], x[3], &type);
    return sqrt(d2) * (1.0 - GAP_RIGID_CCD__DIST);
}

static inline int gap_rigid_ccd__linear(const gap_rigid_ccd__job *j,
    const gap_rigid_ccd_options *opt, double x0[4][3], double x1[4][3], double separation,
    double *hit)
{
    double p0[12], p1[12];
    int i, c;
    for (i = 0; i < j->k; ++i) {
        for (c = 0; c < j->dim; ++c) {
            p0[j->dim * i + c] = x0[i][c];
            p1[j->dim * i + c] = x1[i][c];
        }
    }
    return opt->linear(opt->user, j->dim, j->kind, p0, p1, separation, 1.0, hit);
}

/* Invariant: the distance is above `target` >= min_distance on [0, t]; gap = distance(t) - target -
   slack > 2 slack. Three ways to go on from t:
   - the rest of the motion is too short to use up the gap: done;
   - the longest piece whose deviation, (piece)^2 bend / 8 + slack, is below half the gap: a linear
     query with target + deviation. Free: t moves to the piece's end. Hit: that time is safe, and
     near enough to the truth when little of the first gap is left;
   - (gap - slack) / speed more is always safe. It is > 0, so no answer is 0, whatever the linear
     query says.
   The pieces are those of the whole motion: t_max only says when to stop. So the answer for t_max
   is the answer for 1 or t_max, whichever is smaller, and the least of many does not depend on the
   order in which they were asked, each up to the least so far. */
static inline int gap_rigid_ccd__march(const gap_rigid_ccd__job *j,
    const gap_rigid_ccd_options *opt, double x[4][3], double d0, double min_distance, double t_max,
    double *toi, int *pieces)
{
    double keep = opt->keep > 0.0 ? opt->keep : opt->keep < 0.0 ? 0.0 : 0.2;
    double target = min_distance + keep * (d0 - min_distance), t = 0.0;
    double gap = d0 - target - j->slack, gap0 = gap;
    int most = opt->max_pieces > 0 ? opt->max_pieces : 1000, status;
    double y[4][3];

    for (;;) {
        double rest = 1.0 - t, piece = rest, room = GAP_RIGID_CCD__SHARE * gap - j->slack;
        double sure = 1.0, deviation, hit = 0.0;
        if (rest * j->speed > gap - j->slack) {
            sure = t + (gap - j->slack) / j->speed * (1.0 - 1e-15);
        }
        *toi = sure < t_max ? sure : t_max;
        if (sure >= t_max) return GAP_RIGID_CCD_FREE;
        if (*pieces >= most) return GAP_RIGID_CCD_BUDGET;
        if (!(room > 0.0)) return GAP_RIGID_CCD_HIT;
        if (0.125 * rest * rest * j->bend > room) piece = sqrt(8.0 * room / j->bend);
        deviation = 0.125 * piece * piece * j->bend * (1.0 + 1e-12) + j->slack;
        if (t + piece <= t) return GAP_RIGID_CCD_HIT;
        gap_rigid_ccd__points(j, t + piece, y);
        ++*pieces;
        status = gap_rigid_ccd__linear(j, opt, x, y, target + deviation, &hit);
        if (status < 0) {
            *toi = 0.0;
            return status;
        }
        if (status == GAP_RIGID_CCD_FREE) hit = piece >= rest ? 1.0 : t + piece;
        else hit = (t + hit * piece) * (1.0 - 1e-15);
        if (hit > sure) sure = hit;
        *toi = sure < t_max ? sure : t_max;
        if (sure >= t_max) return GAP_RIGID_CCD_FREE;
        if (status == GAP_RIGID_CCD_BUDGET) return status;
        t = sure;
        gap_rigid_ccd__points(j, t, x);
        gap = gap_rigid_ccd__distance(j, x) - target - j->slack;
        if (!(gap > 2.0 * j->slack)) return GAP_RIGID_CCD_HIT;
        if (status != GAP_RIGID_CCD_FREE && gap <= GAP_RIGID_CCD__NEAR * gap0) {
            return GAP_RIGID_CCD_HIT;
        }
    }
}

GAP_RIGID_CCD_API int gap_rigid_ccd_query(const gap_rigid_ccd_options *opt, int dim, int kind,
    const gap_rigid_ccd_motion *A, const gap_rigid_ccd_motion *B, const double *X,
    double min_distance, double t_max, double *toi, int *pieces)
{
    gap_rigid_ccd__job j;
    double x[4][3], d0, keep;
    int none = 0, status;
    GAP_RIGID_CCD_ASSERT(opt && opt->linear && A && B && X && toi);
    if (!pieces) pieces = &none;
    *pieces = 0;
    *toi = 0.0;
    if ((dim != 2 && dim != 3) || kind < 0 || kind > (dim == 2 ? 1 : 3)
        || !(min_distance >= 0.0 && min_distance <= DBL_MAX) || !(t_max >= 0.0 && t_max <= 1.0)
        || !(opt->keep < 1.0)) {
        return GAP_RIGID_CCD_EINPUT;
    }
    memset(x, 0, sizeof x);
    status = gap_rigid_ccd__job_set(&j, dim, kind, A, B, X);
    if (status != GAP_RIGID_CCD_FREE) return status;
    gap_rigid_ccd__points(&j, 0.0, x);
    d0 = gap_rigid_ccd__distance(&j, x);
    if (!(d0 <= DBL_MAX)) return GAP_RIGID_CCD_ENONFIN;
    keep = opt->keep > 0.0 ? opt->keep : opt->keep < 0.0 ? 0.0 : 0.2;
    if (!((1.0 - keep) * (d0 - min_distance) > 3.0 * j.slack)) return GAP_RIGID_CCD_CLOSE;
    return gap_rigid_ccd__march(&j, opt, x, d0, min_distance, t_max, toi, pieces);
}

GAP_RIGID_CCD_API int gap_rigid_ccd_pair(const gap_rigid_ccd_options *opt, int dim, int kind,
    const gap_rigid_ccd_motion *A, const gap_rigid_ccd_motion *B, const double *X,
    double min_distance, double t_max, double *toi)
{
    return gap_rigid_ccd_query(opt, dim, kind, A, B, X, min_distance, t_max, toi, NULL);
}

/* ---------------------------------------------------------------- lists of pairs */

/* Nodes of a pair; their number, or EINDEX */
static inline int gap_rigid_ccd__nodes(const gap_rigid_ccd_mesh *mesh, int kind, const int *pair,
    int node[4])
{
    int count[4][2], per[4][2] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}}, k = 0, s, i;
    count[0][0] = count[0][1] = count[1][0] = count[2][0] = mesh->nodes;
    count[1][1] = count[3][0] = count[3][1] = mesh->edges;
    count[2][1] = mesh->tris;
    for (s = 0; s < 2; ++s) {
        int n = per[kind][s];
        if (pair[s] < 0 || pair[s] >= count[kind][s]) return GAP_RIGID_CCD_EINDEX;
        for (i = 0; i < n; ++i) {
            int v = n == 1 ? pair[s] : n == 2 ? mesh->edge[2 * pair[s] + i]
                : mesh->tri[3 * pair[s] + i];
            if (v < 0 || v >= mesh->nodes) return GAP_RIGID_CCD_EINDEX;
            if (mesh->body[v] < 0 || mesh->body[v] >= mesh->bodies) return GAP_RIGID_CCD_EINDEX;
            node[k++] = v;
        }
    }
    return k;
}

static inline int gap_rigid_ccd__listed(const gap_rigid_ccd_options *opt,
    const gap_rigid_ccd_mesh *mesh, const gap_rigid_ccd_motion *motion, int kind, const int *pair,
    double min_distance, double t_max, double *toi)
{
    double X[12];
    int node[4], k, i, c;
    *toi = 0.0;
    if (kind < 0 || kind > (mesh->dim == 2 ? 1 : 3)) return GAP_RIGID_CCD_EINPUT;
    k = gap_rigid_ccd__nodes(mesh, kind, pair, node);
    if (k < 0) return k;
    for (i = 0; i < k; ++i) {
        for (c = 0; c < mesh->dim; ++c) {
            X[mesh->dim * i + c] = mesh->X[(size_t)mesh->dim * (size_t)node[i] + (size_t)c];
        }
    }
    return gap_rigid_ccd_query(opt, mesh->dim, kind, motion + mesh->body[node[0]],
        motion + mesh->body[node[k - 1]], X, min_distance, t_max, toi, NULL);
}

GAP_RIGID_CCD_API int gap_rigid_ccd_batch(const gap_rigid_ccd_options *opt,
    const gap_rigid_ccd_mesh *mesh, const gap_rigid_ccd_motion *motion, int kind, const int *pair,
    int begin, int end, double min_distance, double t_max, int *status, double *toi)
{
    int i, s, bad = 0;
    GAP_RIGID_CCD_ASSERT(begin >= 0 && begin <= end && (begin == end || (mesh && motion && pair)));
    for (i = begin; i < end; ++i) {
        s = gap_rigid_ccd__listed(opt, mesh, motion, kind, pair + 2 * (size_t)i, min_distance,
            t_max, toi + i);
        if (status) status[i] = s;
        if (s < 0 && bad == 0) bad = s;
    }
    return bad;
}

GAP_RIGID_CCD_API int gap_rigid_ccd_step(const gap_rigid_ccd_options *opt,
    const gap_rigid_ccd_mesh *mesh, const gap_rigid_ccd_motion *motion, int kind, const int *pair,
    int count, double min_distance, double *t, int *first)
{
    double toi;
    int i, s, result = GAP_RIGID_CCD_FREE, who = -1;
    GAP_RIGID_CCD_ASSERT(count >= 0 && t && (count == 0 || (mesh && motion && pair)));
    for (i = 0; i < count; ++i) {
        s = gap_rigid_ccd__listed(opt, mesh, motion, kind, pair + 2 * (size_t)i, min_distance, *t,
            &toi);
        if (s == GAP_RIGID_CCD_FREE) continue;
        if (toi >= *t && s > 0 && s != GAP_RIGID_CCD_CLOSE) continue;
        *t = toi;
        who = i;
        result = s;
        if (s < 0 || s == GAP_RIGID_CCD_CLOSE) break;
    }
    if (first) *first = who;
    return result;
}

/* ---------------------------------------------------------------- boxes */

static inline void gap_rigid_ccd__box_add(int dim, const double *x, double grow, double *lo,
    double *hi)
{
    int c;
    for (c = 0; c < dim; ++c) {
        if (x[c] - grow < lo[c]) lo[c] = x[c] - grow;
        if (x[c] + grow > hi[c]) hi[c] = x[c] + grow;
    }
}

static inline void gap_rigid_ccd__box_empty(int dim, double *lo, double *hi)
{
    int c;
    for (c = 0; c < dim; ++c) lo[c] = DBL_MAX, hi[c] = -DBL_MAX;
}

GAP_RIGID_CCD_API void gap_rigid_ccd_grow(const gap_rigid_ccd_motion *m, int dim, int n,
    const double *X, double *x0, double *x1, double *grow)
{
    double A[9], q[3], Y[3], y[3];
    int e, i, c;
    GAP_RIGID_CCD_ASSERT(m && n >= 0 && (X || n == 0));
    for (e = 0; e < 2; ++e) {
        double *x = e ? x1 : x0;
        gap_rigid_ccd__pose(m, e, A, q);
        for (i = 0; i < n && (x || (grow && e == 0)); ++i) {
            gap_rigid_ccd__lift(dim, X + (size_t)dim * (size_t)i, Y);
            gap_rigid_ccd__apply(A, Y, y);
            for (c = 0; x && c < dim; ++c) x[(size_t)dim * (size_t)i + (size_t)c] = y[c] + q[c];
            if (grow && e == 0) {
                double r = gap_rigid_ccd__norm(Y);
                grow[i] = gap_rigid_ccd_deviation(m, r, 0.0, 1.0) * (1.0 + 1e-12)
                    + GAP_RIGID_CCD__ROUND * (m->angle * r + m->reach);
            }
        }
    }
}

GAP_RIGID_CCD_API void gap_rigid_ccd_body_box(const gap_rigid_ccd_motion *m, int dim, int n,
    const double *X, double inflate, double *lo, double *hi)
{
    double x[2][3], grow, r = 0.0, ball, slack;
    int i, e, c;
    GAP_RIGID_CCD_ASSERT(m && n >= 0 && (X || n == 0) && lo && hi);
    gap_rigid_ccd__box_empty(dim, lo, hi);
    for (i = 0; i < n; ++i) {
        const double *Xi = X + (size_t)dim * (size_t)i;
        double Y[3];
        gap_rigid_ccd_grow(m, dim, 1, Xi, x[0], x[1], &grow);
        for (e = 0; e < 2; ++e) gap_rigid_ccd__box_add(dim, x[e], grow + inflate, lo, hi);
        gap_rigid_ccd__lift(dim, Xi, Y);
        r = gap_rigid_ccd__max(r, gap_rigid_ccd__norm(Y));
    }
    slack = GAP_RIGID_CCD__ROUND * (m->angle * r + m->reach);
    ball = r + slack + inflate;
    for (c = 0; c < dim && n > 0; ++c) { /* each side on its own: both boxes hold everything */
        double low = m->q[0][c] < m->q[1][c] ? m->q[0][c] : m->q[1][c];
        double high = gap_rigid_ccd__max(m->q[0][c], m->q[1][c]);
        if (low - ball > lo[c]) lo[c] = low - ball;
        if (high + ball < hi[c]) hi[c] = high + ball;
    }
}

/* s(t) = Q_B^T exp[-theta_B] (exp[theta_A] Y + c), c = q_A - q_B. With u the bracket, |u| <= U =
   |Y| + max|c|, |u'| <= |dtheta_A| |Y| + |dc|, |u''| <= |dtheta_A|^2 |Y| and the product rule,
   |s''| <= |dtheta_B|^2 U + 2 |dtheta_B| |u'| + |u''|: an eighth of it bounds the way off the
   chord; with n pieces, 1/n^2 of that. */
GAP_RIGID_CCD_API void gap_rigid_ccd_relative_box(const gap_rigid_ccd_motion *A,
    const gap_rigid_ccd_motion *B, int dim, int k, const double *X, double inflate, double *lo,
    double *hi)
{
    double c0[3], c1[3], dc[3], Y[3][3], r = 0.0, grow, slack, U, PA[9], qa[3], RB[9], y[3], s[3];
    int i, c, n = 1, piece;
    GAP_RIGID_CCD_ASSERT(A && B && k >= 1 && k <= 3 && X && lo && hi);
    for (i = 0; i < k; ++i) {
        gap_rigid_ccd__lift(dim, X + dim * i, Y[i]);
        r = gap_rigid_ccd__max(r, gap_rigid_ccd__norm(Y[i]));
    }
    gap_rigid_ccd__sub3(A->q[0], B->q[0], c0);
    gap_rigid_ccd__sub3(A->q[1], B->q[1], c1);
    gap_rigid_ccd__sub3(c1, c0, dc);
    U = r + gap_rigid_ccd__max(gap_rigid_ccd__norm(c0), gap_rigid_ccd__norm(c1));
    grow = 0.125 * (B->turn * B->turn * U + 2.0 * B->turn * (A->turn * r
        + gap_rigid_ccd__norm(dc)) + A->turn * A->turn * r);
    slack = GAP_RIGID_CCD__ROUND * (A->angle * r + B->angle * U + A->reach + B->reach) + inflate;
    while (n < GAP_RIGID_CCD__BOXES && grow > 0.1 * r * n * n) n *= 2;
    grow = grow / (n * n) * (1.0 + 1e-12) + slack;
    gap_rigid_ccd__box_empty(dim, lo, hi);
    for (piece = 0; piece <= n; ++piece) {
        double t = (double)piece / n;
        gap_rigid_ccd__pose(A, t, PA, qa);
        gap_rigid_ccd__exp(B, t, -1.0, RB);
        for (i = 0; i < k; ++i) {
            gap_rigid_ccd__apply(PA, Y[i], y);
            for (c = 0; c < 3; ++c) {
                y[c] += qa[c] - (B->q[0][c] + t * (B->q[1][c] - B->q[0][c]));
            }
            gap_rigid_ccd__apply(RB, y, s);
            for (c = 0; c < 3; ++c) {
                y[c] = B->Q[c] * s[0] + B->Q[3 + c] * s[1] + B->Q[6 + c] * s[2];
            }
            gap_rigid_ccd__box_add(dim, y, grow, lo, hi);
        }
    }
}

/* ---------------------------------------------------------------- tree
   Node i over m items has its left child, over the first m/2 of them, at i + 1 and its right child
   at i + 2 (m/2): a subtree of m items has 2m - 1 nodes, stored in depth-first order, so no
   pointers are kept. */

GAP_RIGID_CCD_API size_t gap_rigid_ccd_tree_size(int dim, int count)
{
    size_t n = count > 0 ? (size_t)count : 1;
    return (2 * n * 2 * (size_t)dim + n * (size_t)dim) * sizeof(double) + n * sizeof(int);
}

/* Order item[0 .. m) so that the first m/2 have the smaller keys (middle of the box along axis c;
   ties by number): quickselect with the middle element as pivot. */
static inline int gap_rigid_ccd__before(const double *mid, int dim, int c, int a, int b)
{
    double x = mid[(size_t)dim * (size_t)a + (size_t)c];
    double y = mid[(size_t)dim * (size_t)b + (size_t)c];
    return x != y ? x < y : a < b;
}

static inline void gap_rigid_ccd__select(const double *mid, int dim, int c, int *item, int m)
{
    int lo = 0, hi = m - 1, half = m / 2;
    while (lo < hi) {
        int pivot = item[lo + (hi - lo) / 2], i = lo, j = hi, swap;
        while (i <= j) {
            while (gap_rigid_ccd__before(mid, dim, c, item[i], pivot)) ++i;
            while (gap_rigid_ccd__before(mid, dim, c, pivot, item[j])) --j;
            if (i <= j) {
                swap = item[i], item[i] = item[j], item[j] = swap;
                ++i, --j;
            }
        }
        if (half <= j) hi = j;
        else if (half >= i) lo = i;
        else return;
    }
}

static inline void gap_rigid_ccd__span(const gap_rigid_ccd_tree *tree, int per, const int *elem,
    const double *X, int item, double *lo, double *hi)
{
    int i;
    for (i = 0; i < per; ++i) {
        int v = elem ? elem[per * item + i] : item;
        gap_rigid_ccd__box_add(tree->dim, X + (size_t)tree->dim * (size_t)v, 0.0, lo, hi);
    }
}

GAP_RIGID_CCD_API void gap_rigid_ccd_tree_build(gap_rigid_ccd_tree *tree, int dim, int count,
    int per, const int *elem, const double *X, void *work)
{
    int stack[64][3], top = 0, i, c;
    double *mid;
    GAP_RIGID_CCD_ASSERT(tree && (dim == 2 || dim == 3) && count >= 0 && per >= 1 && per <= 3);
    GAP_RIGID_CCD_ASSERT(count == 0 || (X && work && (elem || per == 1)));
    tree->dim = dim;
    tree->count = count;
    tree->box = (double *)work;
    mid = tree->box + 4 * (size_t)dim * (size_t)count;
    tree->item = (int *)(void *)(mid + (size_t)dim * (size_t)count);
    for (i = 0; i < count; ++i) {
        double lo[3], hi[3];
        tree->item[i] = i;
        gap_rigid_ccd__box_empty(dim, lo, hi);
        gap_rigid_ccd__span(tree, per, elem, X, i, lo, hi);
        for (c = 0; c < dim; ++c) mid[(size_t)dim * (size_t)i + (size_t)c] = 0.5 * (lo[c] + hi[c]);
    }
    if (count > 0) stack[0][0] = 0, stack[0][1] = 0, stack[0][2] = count, top = 1;
    while (top > 0) { /* node, first item, items */
        int node = stack[--top][0], begin = stack[top][1], m = stack[top][2], axis = 0;
        double *lo = tree->box + 2 * (size_t)dim * (size_t)node, *hi = lo + dim;
        gap_rigid_ccd__box_empty(dim, lo, hi);
        for (i = begin; i < begin + m; ++i) {
            gap_rigid_ccd__span(tree, per, elem, X, tree->item[i], lo, hi);
        }
        if (m == 1) continue;
        for (c = 1; c < dim; ++c) {
            if (hi[c] - lo[c] > hi[axis] - lo[axis]) axis = c;
        }
        gap_rigid_ccd__select(mid, dim, axis, tree->item + begin, m);
        stack[top][0] = node + 2 * (m / 2), stack[top][1] = begin + m / 2;
        stack[top++][2] = m - m / 2;
        stack[top][0] = node + 1, stack[top][1] = begin, stack[top++][2] = m / 2;
    }
}

GAP_RIGID_CCD_API int gap_rigid_ccd_tree_find(const gap_rigid_ccd_tree *tree, const double *lo,
    const double *hi, int *out, int capacity)
{
    int stack[64][3], top = 0, found = 0, c;
    GAP_RIGID_CCD_ASSERT(tree && lo && hi && (out || capacity == 0));
    if (tree->count > 0) stack[0][0] = 0, stack[0][1] = 0, stack[0][2] = tree->count, top = 1;
    while (top > 0) {
        int node = stack[--top][0], begin = stack[top][1], m = stack[top][2], apart = 0;
        const double *a = tree->box + 2 * (size_t)tree->dim * (size_t)node, *b = a + tree->dim;
        for (c = 0; c < tree->dim; ++c) apart |= lo[c] > b[c] || hi[c] < a[c];
        if (apart) continue;
        if (m == 1) {
            if (found < capacity) out[found] = tree->item[begin];
            ++found;
            continue;
        }
        stack[top][0] = node + 2 * (m / 2), stack[top][1] = begin + m / 2;
        stack[top++][2] = m - m / 2;
        stack[top][0] = node + 1, stack[top][1] = begin, stack[top++][2] = m / 2;
    }
    return found;
}
#endif /* GAP_RIGID_CCD_IMPLEMENTATION */
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
