/* gap_accd.h - v0.1.0 - additive continuous collision detection with thickness - MIT-0, see end
   A safe step for two moving primitives: advances by what their distance allows, until a tenth of
   the start gap is left. All kinds, 2D and 3D, any minimum distance. Copy this one file.
QUICK START
   #define GAP_ACCD_IMPLEMENTATION        // in exactly one .c or .cpp file
   #include "gap_accd.h"
   #include <stdio.h>
   int main(void)
   {
       double p0[12] = {0.2, 0.2, 1,  0, 0, 0,  1, 0, 0,  0, 1, 0}; // vertex, face at t = 0
       double p1[12] = {0.2, 0.2, -1,  0, 0, 0,  1, 0, 0,  0, 1, 0}; // and at t = 1
       double toi;
       if (gap_accd_pair(NULL, 3, GAP_ACCD_VF, p0, p1, 0.0, 1.0, &toi) == GAP_ACCD_HIT)
           printf("safe up to %.4f\n", toi); // safe up to 0.4500
       return 0;
   }
GUARANTEES
   Safe     the distance is above min_distance on [0, toi), for every finite input, if the stamped
            distance is as accurate as gap_distance.h says (1e-9 relative, or 1e-15 of the pair's
            size): argued there and tested against 113 bits, not proven operation by operation.
            What is done here is covered by a bound above the code. For a proof: gap_ccd.h.
   Margin   at toi at least `keep` of the start gap is left, before it 1 - 0.9 of that.
   Positive toi > 0 if the start distance exceeds min_distance by 2e-9 of itself + 8e-15 of the
            pair's size.
   Scaled   all lengths times a power of two: the same status and bits of toi.
   Not promised: a bound on the cost of a sliding pair (see budget), and that a hit ever touches.
OPTIONS (define before the implementation)
   GAP_ACCD_STATIC     keep all functions private to this file
   GAP_ACCD_ASSERT(x)  replaces assert(x)
EDGE CASES
   not above min_distance at t = 0: CLOSE, toi 0.  nothing moves: FREE or CLOSE.  t_max = 0: the
   start is tested.  NaN, infinity: ENONFIN, toi 0.  min_distance < 0, t_max outside [0,1], keep
   outside [0,1), unknown kind: EINPUT, toi 0.  Edges and faces may be degenerate.
METHOD
   Li, Kaufman, Jiang 2021, Codimensional Incremental Potential Contact. The distance changes by at
   most l dt, l the largest relative speed; so 0.9 gap / l is a safe step, and again from there.
   Differences: l = max |p_i - p_j| over points i of one side and j of the other, never more than
   their sum of two maxima about the mean; positions are always taken from the start; gaps are
   (D - d^2) / (sqrt(D) + d), less the error of D; distances that hold at parallel edges.
NOT HERE   proven, and no slower on most pairs: gap_ccd.h.  candidate pairs: gap_broad.h.
HISTORY    0.1.0 first release */
#ifndef GAP_ACCD_H
#define GAP_ACCD_H
#define GAP_ACCD_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_ACCD_STATIC
#define GAP_ACCD_API static inline
#else
#define GAP_ACCD_API extern
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_accd_status {
    GAP_ACCD_FREE = 0,     /* distance above min_distance on [0, t_max]; toi = t_max      */
    GAP_ACCD_HIT = 1,      /* less than keep of the start gap lies ahead; 0 < toi <= t_max */
    GAP_ACCD_CLOSE = 2,    /* not above min_distance at t = 0; toi = 0                    */
    GAP_ACCD_BUDGET = 3,   /* budget spent; safe up to toi, 0 < toi <= t_max              */
    GAP_ACCD_ENONFIN = -1, /* NaN or infinity in the input; toi = 0                       */
    GAP_ACCD_EINDEX = -3,  /* a pair names a primitive or node that does not exist        */
    GAP_ACCD_EINPUT = -6   /* bad dim, kind, min_distance, keep or t_max; toi = 0         */
} gap_accd_status;

enum { GAP_ACCD_VV = 0, GAP_ACCD_VE = 1, GAP_ACCD_VF = 2, GAP_ACCD_EE = 3 };

typedef struct gap_accd_options {
    double keep; /* part of the start gap (distance - min_distance) that remains; 0 means 0.1 */
    int budget;  /* most distance evaluations per pair; 0 means 10000 */
} gap_accd_options;

/* Mesh of a list of pairs. Arrays may be NULL where the kind does not use them. */
typedef struct gap_accd_mesh {
    int dim, nodes, edges, tris; /* 2 or 3; number of nodes, edges, triangles */
    const int *edge;             /* 2 each */
    const int *tri;              /* 3 each */
    const double *radius;        /* 1 per node: half thickness; NULL: 0. A pair's minimum distance
                                    grows by the largest of its first side plus that of its
                                    second */
} gap_accd_mesh;

/* Safe time of one pair, in the form that other headers take as a callback.
   user          const gap_accd_options *, or NULL
   dim, kind     2 or 3; vf and ee need 3
   p0, p1        the points at t = 0 and t = 1, dim doubles each: vv 2 points, ve v e0 e1,
                 vf v f0 f1 f2, ee a0 a1 b0 b1
   min_distance  Euclidean, >= 0
   t_max         in [0,1]
   toi           1 value, always written. Returns a gap_accd_status.
   Cost: one distance (about 0.05 microseconds) for most pairs, a few for those that meet. */
GAP_ACCD_API int gap_accd_pair(void *user, int dim, int kind, const double *p0, const double *p1,
    double min_distance, double t_max, double *toi);

/* The same; work (may be NULL) receives the number of distances evaluated. */
GAP_ACCD_API int gap_accd_query(const gap_accd_options *opt, int dim, int kind, const double *p0,
    const double *p1, double min_distance, double t_max, double *toi, int *work);

/* Largest common step: shrinks *t until the pairs begin .. end-1 of a candidate list are safe on
   [0, *t). Each pair is asked only up to the earliest time found so far. Ranges may run in
   parallel, each with its own t; the least of them is the step, and depends on the ranges alone.
   x0, x1  dim per node: positions at t = 0 and t = 1
   pair    2 per pair: primitive of the first, of the second letter of the kind
   t       in: horizon in [0,1], out: safe step
   first   may be NULL: the pair that set *t, or is CLOSE or in error; -1 if none
   Returns FREE (*t as it was), HIT, CLOSE (*t = 0), BUDGET (the pair that set *t), or an error with
   *t = 0. */
GAP_ACCD_API int gap_accd_step(const gap_accd_options *opt, const gap_accd_mesh *mesh,
    const double *x0, const double *x1, int kind, const int *pair, int begin, int end,
    double min_distance, double *t, int *first);

#ifdef __cplusplus
}
#endif
#endif /* GAP_ACCD_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_ACCD_STATIC)) && !defined(GAP_ACCD_IMPLEMENTATION)
#define GAP_ACCD_IMPLEMENTATION
#endif
#if defined(GAP_ACCD_IMPLEMENTATION) && !defined(GAP_ACCD_IMPLEMENTED)
#define GAP_ACCD_IMPLEMENTED
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#ifndef GAP_ACCD_ASSERT
#include <assert.h>
#define GAP_ACCD_ASSERT(x) assert(x)
#endif

/* [block v3 from gap_distance.h] */
static inline double gap_accd__dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* c = a - b; c may be a or b */
static inline void gap_accd__sub3(const double a[3], const double b[3], double c[3])
{
    c[0] = a[0] - b[0]; c[1] = a[1] - b[1]; c[2] = a[2] - b[2];
}

/* c = a x b; c is neither */
static inline void gap_accd__cross3(const double a[3], const double b[3], double c[3])
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
static inline void gap_accd__diff_dd(const double a[3], const double b[3], double d[2][3])
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
static inline void gap_accd__cross_dd(double a[2][3], double b[2][3], double c[2][3])
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
static inline double gap_accd__dot_dd(double a[2][3], double b[2][3])
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

static inline double gap_accd__vv2(const double a[3], const double b[3])
{
    double r[3];
    gap_accd__sub3(a, b, r);
    return gap_accd__dot3(r, r);
}

/* x = (p - e0) x (e1 - e0) to full relative accuracy; |x|^2 */
static inline double gap_accd__ve_cross(const double p[3], const double e0[3],
    const double e1[3], double x[3])
{
    double a[3], e[3], ad[2][3], ed[2][3], xd[2][3], xx;
    gap_accd__sub3(p, e0, a);
    gap_accd__sub3(e1, e0, e);
    gap_accd__cross3(a, e, x);
    xx = gap_accd__dot3(x, x);
    if (xx >= 1e-10 * gap_accd__dot3(a, a) * gap_accd__dot3(e, e)) return xx;
    gap_accd__diff_dd(p, e0, ad);
    gap_accd__diff_dd(e1, e0, ed);
    gap_accd__cross_dd(ad, ed, xd);
    x[0] = xd[0][0]; x[1] = xd[0][1]; x[2] = xd[0][2];
    return gap_accd__dot3(x, x);
}

static inline double gap_accd__ve2(const double p[3], const double e0[3], const double e1[3],
    int *type)
{
    double a[3], e[3], x[3], l, ae;
    gap_accd__sub3(p, e0, a);
    gap_accd__sub3(e1, e0, e);
    l = gap_accd__dot3(e, e);
    ae = gap_accd__dot3(a, e);
    *type = ae <= 0.0 ? 0 : ae >= l ? 1 : 2;
    if (*type == 0) return gap_accd__dot3(a, a);
    if (*type == 1) return gap_accd__vv2(p, e1);
    return gap_accd__ve_cross(p, e0, e1, x) / l;
}

/* Triple of a vf or ee pair from six points: t = q0 - q1, u = q2 - q3, v = q4 - q5, n = u x v.
   o = { n, t.n, (t x v).n, (u x t).n }: the last two are |n|^2 times the coordinates of t's foot in
   (u, v). Returns |n|^2; uv = |u|^2 |v|^2, tt = |t|^2. */
static inline double gap_accd__tuv(const double *const q[6], double o[6], double *uv,
    double *tt)
{
    double t[3], u[3], v[3], c[3];
    gap_accd__sub3(q[0], q[1], t);
    gap_accd__sub3(q[2], q[3], u);
    gap_accd__sub3(q[4], q[5], v);
    gap_accd__cross3(u, v, o);
    o[3] = gap_accd__dot3(t, o);
    gap_accd__cross3(t, v, c);
    o[4] = gap_accd__dot3(c, o);
    gap_accd__cross3(u, t, c);
    o[5] = gap_accd__dot3(c, o);
    *uv = gap_accd__dot3(u, u) * gap_accd__dot3(v, v);
    *tt = gap_accd__dot3(t, t);
    return gap_accd__dot3(o, o);
}

/* the same o in double-double */
static inline double gap_accd__tuv_dd(const double *const q[6], double o[6])
{
    double t[2][3], u[2][3], v[2][3], n[2][3], c[2][3];
    int i;
    gap_accd__diff_dd(q[0], q[1], t);
    gap_accd__diff_dd(q[2], q[3], u);
    gap_accd__diff_dd(q[4], q[5], v);
    gap_accd__cross_dd(u, v, n);
    for (i = 0; i < 3; ++i) o[i] = n[0][i];
    o[3] = gap_accd__dot_dd(t, n);
    gap_accd__cross_dd(t, v, c);
    o[4] = gap_accd__dot_dd(c, n);
    gap_accd__cross_dd(u, t, c);
    o[5] = gap_accd__dot_dd(c, n);
    return gap_accd__dot3(o, o);
}

/* One side of the domain: best = min(best, distance of p and e0 e1), type from its three codes. */
static inline void gap_accd__side(const double p[3], const double e0[3], const double e1[3],
    int code0, int code1, int code2, double *best, int *type)
{
    int k;
    double d = gap_accd__ve2(p, e0, e1, &k);
    if (*best >= 0.0 && d >= *best) return;
    *best = d;
    *type = k == 0 ? code0 : k == 1 ? code1 : code2;
}

static inline double gap_accd__vf2(const double p[3], const double f0[3], const double f1[3],
    const double f2[3], int *type)
{
    const double *q[6];
    double o[6], uv, tt, b0, m, best = -1.0; /* -1: none yet */
    int weak, inside;
    q[0] = p; q[1] = f0; q[2] = f1; q[3] = f0; q[4] = f2; q[5] = f0;
    m = gap_accd__tuv(q, o, &uv, &tt);
    weak = m < 1e-6 * uv;
    if (weak) m = gap_accd__tuv_dd(q, o);
    b0 = m - o[4] - o[5];
    inside = b0 > 0.0 && o[4] > 0.0 && o[5] > 0.0;
    if (inside && !weak) {
        if (o[3] * o[3] < 1e-10 * tt * uv) m = gap_accd__tuv_dd(q, o);
        *type = 6;
        return o[3] * o[3] / m;
    }
    *type = 0;
    if (weak || o[5] <= 0.0) gap_accd__side(p, f0, f1, 0, 1, 3, &best, type);
    if (weak || b0 <= 0.0) gap_accd__side(p, f1, f2, 1, 2, 4, &best, type);
    if (weak || o[4] <= 0.0) gap_accd__side(p, f2, f0, 2, 0, 5, &best, type);
    /* 1e-56: below a sine of 1e-28 the double-double normal may be rounding. 1e-12: ties go to the
       sides, whose derivatives are well conditioned. */
    if (inside && m > 1e-56 * uv && o[3] * o[3] < (1.0 - 1e-12) * best * m) {
        *type = 6;
        return o[3] * o[3] / m;
    }
    return best;
}

static inline double gap_accd__ee2(const double a0[3], const double a1[3], const double b0[3],
    const double b1[3], int *type)
{
    const double *q[6];
    double o[6], uv, tt, m, s, t, best = -1.0;
    int weak, inside;
    q[0] = a0; q[1] = b0; q[2] = a1; q[3] = a0; q[4] = b1; q[5] = b0;
    m = gap_accd__tuv(q, o, &uv, &tt);
    weak = m < 1e-6 * uv;
    if (weak) m = gap_accd__tuv_dd(q, o);
    s = -o[4]; /* |n|^2 times the parameter along a, then along b */
    t = o[5];
    inside = s > 0.0 && s < m && t > 0.0 && t < m;
    if (inside && !weak) {
        if (o[3] * o[3] < 1e-10 * tt * uv) m = gap_accd__tuv_dd(q, o);
        *type = 8;
        return o[3] * o[3] / m;
    }
    *type = 0;
    if (weak || s <= 0.0) gap_accd__side(a0, b0, b1, 0, 1, 2, &best, type);
    if (weak || s >= m) gap_accd__side(a1, b0, b1, 3, 4, 5, &best, type);
    if (weak || t <= 0.0) gap_accd__side(b0, a0, a1, 0, 3, 6, &best, type);
    if (weak || t >= m) gap_accd__side(b1, a0, a1, 1, 4, 7, &best, type);
    if (inside && m > 1e-56 * uv && o[3] * o[3] < (1.0 - 1e-12) * best * m) {
        *type = 8;
        return o[3] * o[3] / m;
    }
    return best;
}
/* [end dist] */

#define GAP_ACCD__STEP 0.9     /* part of the allowed advance that is taken */
#define GAP_ACCD__RELATIVE 2e-9 /* error of a distance, of itself (1e-9 in gap_distance.h) */
#define GAP_ACCD__SIZE 4e-15   /* error of a distance, of the pair's size; see gap_accd__load */

/* A query, moved to the first point of its second side and scaled to at most 1. */
typedef struct gap_accd__motion {
    int kind, points, split; /* points of both sides; the second side starts at split */
    double y0[4][3], y1[4][3];
    double size;             /* twice the largest |y|: no two points are ever farther apart */
    double speed;            /* upper bound of the relative speed of any two points */
    double dist;             /* min_distance, scaled */
} gap_accd__motion;

/* Size and speed. With u = 2^-53 and R the size: y carries u |y| <= u R / 2 per coordinate, the
   lerp (1-t) y0 + t y1 at most 2 u R more; in 3D, for both points of a distance, 9 u R < 1e-15 R.
   The distance itself: 1e-15 R. A time that is rounded by u moves them by u speed <= 2 u R (speed
   is at most 2 R). Together below 2.5e-15 R: GAP_ACCD__SIZE. A difference of velocities is off by
   less than 10 u R, and its length by 4 u of itself: 4e-15 R and 1e-14 of itself cover both. */
static inline void gap_accd__measure(gap_accd__motion *m)
{
    double far2 = 0.0, speed2 = 0.0, v[3], w[3];
    int i, j;
    for (i = 0; i < m->points; ++i) {
        far2 = fmax(far2, fmax(gap_accd__dot3(m->y0[i], m->y0[i]),
            gap_accd__dot3(m->y1[i], m->y1[i])));
        for (j = i < m->split ? m->split : m->points; j < m->points; ++j) {
            gap_accd__sub3(m->y1[i], m->y0[i], v);
            gap_accd__sub3(m->y1[j], m->y0[j], w);
            gap_accd__sub3(v, w, v);
            speed2 = fmax(speed2, gap_accd__dot3(v, v));
        }
    }
    m->size = 2.0 * sqrt(far2) * (1.0 + 1e-14);
    m->speed = sqrt(speed2) * (1.0 + 1e-14) + GAP_ACCD__SIZE * m->size;
}

/* Returns 0 or an error. Scaling by a power of two is exact (but for numbers 2^-1000 of the largest
   coordinate, which are nothing beside its rounding) and keeps all squares in range: the largest
   coordinate becomes 1 (2^24 where 2^-1024 would be subnormal). */
static inline int gap_accd__load(gap_accd__motion *m, int dim, int kind, const double *p0,
    const double *p1, double min_distance)
{
    static const int points[4] = {2, 3, 4, 4}, split[4] = {1, 1, 1, 2};
    double big = 0.0, bad = 0.0, scale;
    int i, k, e;
    memset(m, 0, sizeof *m);
    m->kind = kind;
    m->points = points[kind];
    m->split = split[kind];
    for (i = 0; i < dim * m->points; ++i) {
        bad += (p0[i] - p0[i]) + (p1[i] - p1[i]);
        big = fmax(big, fmax(fabs(p0[i]), fabs(p1[i])));
    }
    bad += min_distance - min_distance;
    if (bad != 0.0) return GAP_ACCD_ENONFIN;
    frexp(fmax(big, DBL_MIN), &e);
    scale = ldexp(1.0, e > 1000 ? -1000 : -e);
    for (i = 0; i < m->points; ++i) {
        for (k = 0; k < dim; ++k) {
            m->y0[i][k] = p0[dim * i + k] * scale - p0[dim * m->split + k] * scale;
            m->y1[i][k] = p1[dim * i + k] * scale - p1[dim * m->split + k] * scale;
        }
    }
    m->dist = min_distance * scale;
    gap_accd__measure(m);
    return 0;
}

/* Lower bound of distance - min_distance at time t. */
static inline double gap_accd__gap(const gap_accd__motion *m, double t)
{
    double x[4][3], d2, d;
    int i, k, type;
    for (i = 0; i < m->points; ++i)
        for (k = 0; k < 3; ++k) x[i][k] = (1.0 - t) * m->y0[i][k] + t * m->y1[i][k];
    d2 = m->kind == GAP_ACCD_VV ? gap_accd__vv2(x[0], x[1]) :
        m->kind == GAP_ACCD_VE ? gap_accd__ve2(x[0], x[1], x[2], &type) :
        m->kind == GAP_ACCD_VF ? gap_accd__vf2(x[0], x[1], x[2], x[3], &type) :
        gap_accd__ee2(x[0], x[1], x[2], x[3], &type);
    d = sqrt(d2);
    if (!(d > m->dist)) return 0.0;
    return (d2 - m->dist * m->dist) / (d + m->dist) - GAP_ACCD__RELATIVE * d -
        GAP_ACCD__SIZE * m->size;
}

/* Invariant: the gap is positive on [0, t] and at least `target` at t. It falls by at most
   speed dt, so on the next 0.9 gap / speed it stays above a tenth of what it is at t. The first
   step may use 1 - keep of the gap: it ends with at least keep of it. */
static inline int gap_accd__advance(const gap_accd__motion *m, double keep, int budget,
    double t_max, double *toi, int *work)
{
    double gap = gap_accd__gap(m, 0.0), target = keep * gap, t, next;
    *work = 1;
    *toi = 0.0;
    if (!(gap > 0.0)) return GAP_ACCD_CLOSE;
    t = fmin(1.0 - keep, GAP_ACCD__STEP) * gap / m->speed;
    if (!(t > 0.0)) return GAP_ACCD_CLOSE;
    for (next = t; next < t_max; next = t + GAP_ACCD__STEP * gap / m->speed) {
        *toi = t;
        if (*work >= budget) return GAP_ACCD_BUDGET;
        gap = gap_accd__gap(m, next);
        ++*work;
        if (next > t && gap < target) return GAP_ACCD_HIT;
        if (!(gap > 0.0)) return GAP_ACCD_HIT; /* the first step, by rounding alone */
        *toi = t = next;
        if (!(t + GAP_ACCD__STEP * gap / m->speed > t)) return GAP_ACCD_HIT;
    }
    *toi = t_max;
    return GAP_ACCD_FREE;
}

GAP_ACCD_API int gap_accd_query(const gap_accd_options *opt, int dim, int kind, const double *p0,
    const double *p1, double min_distance, double t_max, double *toi, int *work)
{
    const double keep = opt && opt->keep != 0.0 ? opt->keep : 0.1;
    const int budget = opt && opt->budget > 0 ? opt->budget : 10000;
    gap_accd__motion m;
    int status, count = 0;
    GAP_ACCD_ASSERT(p0 && p1 && toi);
    *toi = 0.0;
    if (work) *work = 0;
    if ((dim != 2 && dim != 3) || kind < 0 || kind > 3 || (dim == 2 && kind >= GAP_ACCD_VF))
        return GAP_ACCD_EINPUT;
    if (t_max != t_max || keep != keep) return GAP_ACCD_ENONFIN;
    if (min_distance < 0.0 || t_max < 0.0 || t_max > 1.0 || keep < 0.0 || keep >= 1.0)
        return GAP_ACCD_EINPUT;
    status = gap_accd__load(&m, dim, kind, p0, p1, min_distance);
    if (status) return status;
    status = gap_accd__advance(&m, keep, budget, t_max, toi, &count);
    if (work) *work = count;
    return status;
}

GAP_ACCD_API int gap_accd_pair(void *user, int dim, int kind, const double *p0, const double *p1,
    double min_distance, double t_max, double *toi)
{
    return gap_accd_query((const gap_accd_options *)user, dim, kind, p0, p1, min_distance, t_max,
        toi, NULL);
}

/* Nodes of a pair, first side then second; their number, or 0 if an index is out of range. */
static inline int gap_accd__nodes(const gap_accd_mesh *m, int kind, const int *pair, int node[4])
{
    static const int sides[4][2] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}};
    int s, i, k, n = 0;
    for (s = 0; s < 2; ++s) {
        const int width = sides[kind][s];
        const int *row = width == 2 ? m->edge : m->tri;
        const int rows = width == 1 ? m->nodes : width == 2 ? m->edges : m->tris;
        if (pair[s] < 0 || pair[s] >= rows) return 0;
        for (i = 0; i < width; ++i)
            node[n++] = width == 1 ? pair[s] : row[(size_t)width * (size_t)pair[s] + (size_t)i];
    }
    for (k = 0; k < n; ++k)
        if (node[k] < 0 || node[k] >= m->nodes) return 0;
    return n;
}

GAP_ACCD_API int gap_accd_step(const gap_accd_options *opt, const gap_accd_mesh *mesh,
    const double *x0, const double *x1, int kind, const int *pair, int begin, int end,
    double min_distance, double *t, int *first)
{
    const size_t dim = mesh ? (size_t)mesh->dim : 0;
    double p0[12], p1[12], toi, r[2];
    int i, k, n, node[4], split, status, result = GAP_ACCD_FREE;
    GAP_ACCD_ASSERT(mesh && x0 && x1 && t && begin <= end && (pair || begin == end));
    if (first) *first = -1;
    if ((dim != 2 && dim != 3) || kind < 0 || kind > 3) {
        *t = 0.0;
        return GAP_ACCD_EINPUT;
    }
    split = kind == GAP_ACCD_EE ? 2 : 1;
    for (i = begin; i < end; ++i) {
        n = gap_accd__nodes(mesh, kind, pair + 2 * (size_t)i, node);
        r[0] = r[1] = 0.0;
        for (k = 0; k < n; ++k) {
            memcpy(p0 + dim * (size_t)k, x0 + dim * (size_t)node[k], dim * sizeof *p0);
            memcpy(p1 + dim * (size_t)k, x1 + dim * (size_t)node[k], dim * sizeof *p1);
            if (mesh->radius) r[k >= split] = fmax(r[k >= split], mesh->radius[node[k]]);
        }
        toi = 0.0;
        status = n == 0 ? GAP_ACCD_EINDEX : gap_accd_query(opt, (int)dim, kind, p0, p1,
            min_distance + r[0] + r[1], *t, &toi, NULL);
        if (status == GAP_ACCD_FREE) continue;
        *t = toi;
        if (first) *first = i;
        result = status;
        if (status < 0 || status == GAP_ACCD_CLOSE) return status;
    }
    return result;
}
#endif /* GAP_ACCD_IMPLEMENTATION */
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
