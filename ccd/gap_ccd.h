/* gap_ccd.h - v0.1.0 - continuous collision detection without misses - MIT-0, see end
   First time at which two moving primitives come within a distance, never reported too late.
   Vertex-face and edge-edge in 3D, vertex-edge and vertex-vertex in 2D and 3D. Copy this one file.
QUICK START
   #define GAP_CCD_IMPLEMENTATION        // in exactly one .c or .cpp file
   #include "gap_ccd.h"
   #include <stdio.h>
   int main(void)
   {
       double p0[12] = {0.2, 0.2, 1,  0, 0, 0,  1, 0, 0,  0, 1, 0}; // vertex, face at t = 0
       double p1[12] = {0.2, 0.2, -1,  0, 0, 0,  1, 0, 0,  0, 1, 0}; // and at t = 1
       double toi;
       if (gap_ccd_pair(NULL, 3, GAP_CCD_VF, p0, p1, 0.0, 1.0, &toi) == GAP_CCD_HIT)
           printf("hit at %.4f\n", toi); // hit at 0.5000
       return 0;
   }
GUARANTEES (points move linearly; all is proven for the exact motion of the given doubles)
   Safe     the distance is above min_distance on [0, toi): no miss, for every finite input, any
            scale, contraction on or off, with and without flush to zero; round to nearest.
   Positive toi > 0 if the start distance exceeds min_distance by more than 64 2^-53 G, where G is
            the largest |a - b| + |edges| along an axis at t = 0 (plus 2^-960, or that part of G
            at t = 1), and 4 of its own roundings.
   Tight    a HIT has come within min_distance + tolerance (or + 64 2^-53 G) before toi, and toi is
            as late as the last direction proves. It is no proof of contact.
   Even     large minimum distances cost no more than 0. Same bits for any number of workers, and,
            with -ffp-contract=off, for every instruction set and the scalar build; times a power
            of two: same toi.
   Memory   44 KB of stack, no allocation.
OPTIONS (define before the implementation)
   GAP_CCD_STATIC           keep all functions private to this file
   GAP_CCD_ASSERT(x)        replaces assert(x)
   GAP_CCD_SCALAR           plain C instead of vector types (GCC and Clang have those)
   GAP_CCD_ALLOW_FAST_MATH  compile with -ffast-math all the same: no guarantee is left
EDGE CASES
   not above min_distance at t = 0: CLOSE, toi 0.  nothing moves: FREE or CLOSE.  t_max = 0: the
   start is tested.  NaN, infinity: ENONFIN, toi 0.  min_distance < 0, t_max outside [0,1], unknown
   kind: EINPUT, toi 0.  Edges and faces may be degenerate.  Index out of range: EINDEX, toi 0.
METHOD
   F(t,u,v) = A + u B + v C, all affine in t, is the difference of the points with parameters u, v;
   contact is F = 0. A direction n with n.F > d |n| at all corners of a (u,v) patch and at both ends
   of [t,t'] proves a distance above d there, for n.F is affine in t and in u, v: one certificate,
   with its rounding bound, carries the whole proof. The closest point at t suggests n, the
   slopes of n.F then give the largest t'. Where the patch turns too much while it approaches, it is
   split in u or v; patches are advanced in the order of time. Boxes along x, y, z come first.
   The inclusion function is that of Wang, Ferguson, Schneider, Jiang, Attene, Panozzo 2021, A Large
   Scale Benchmark and an Inclusion-Based Algorithm for Continuous Collision Detection; the
   search replaces their subdivision of t, u, v, and the bound is linear in the size of the pair.
NOT HERE   candidate pairs: gap_broad.h. Cheaper, not certified: gap_accd.h. Curved paths:
   gap_rigid_ccd.h. Is it intersecting now, exactly: gap_exact.h.
HISTORY    0.1.0 first release */
#ifndef GAP_CCD_H
#define GAP_CCD_H
#define GAP_CCD_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_CCD_STATIC
#define GAP_CCD_API static inline
#else
#define GAP_CCD_API extern
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_ccd_status {
    GAP_CCD_FREE = 0,     /* distance above min_distance on [0, t_max]; toi = t_max           */
    GAP_CCD_HIT = 1,      /* comes within min_distance + tolerance; 0 < toi <= t_max          */
    GAP_CCD_CLOSE = 2,    /* not shown to be above min_distance at t = 0; toi = 0             */
    GAP_CCD_BUDGET = 3,   /* budget spent; safe up to toi, 0 < toi <= t_max                   */
    GAP_CCD_ENONFIN = -1, /* NaN or infinity in the input; toi = 0                            */
    GAP_CCD_EINDEX = -3,  /* a pair names a primitive or node that does not exist; toi = 0    */
    GAP_CCD_EINPUT = -6   /* bad dim, kind, min_distance, keep or t_max; toi = 0              */
} gap_ccd_status;

enum { GAP_CCD_VV = 0, GAP_CCD_VE = 1, GAP_CCD_VF = 2, GAP_CCD_EE = 3 };

/* Instruction sets, numbered as in the whole family. VECTOR: what the compiler was asked for. */
enum { GAP_CCD_ISA_BEST = 0, GAP_CCD_ISA_VECTOR = 2, GAP_CCD_ISA_AVX2 = 3 };

typedef void (*gap_ccd_range)(void *ctx, int begin, int end, int worker);
typedef void (*gap_ccd_parallel_for)(
    void *user, int count, int grain, gap_ccd_range fn, void *ctx);

typedef struct gap_ccd_options {
    double tolerance;     /* length above min_distance that counts as a hit; 0: see next      */
    double rel_tolerance; /* used if tolerance is 0: the same, as a part of the largest
                             relative displacement along an axis; 0 means 1e-6                */
    double keep;          /* part, in [0,1), of the pair's own start gap (distance minus
                             min_distance) that must remain; simulators use 0.2; default 0    */
    int budget;           /* most steps of work per pair; 0 means 10000                       */
    int isa;              /* GAP_CCD_ISA_x; 0 means the best that this machine has            */
    gap_ccd_parallel_for parallel_for; /* NULL: a plain loop; used by gap_ccd_step only       */
    void *parallel_user;
} gap_ccd_options;

/* Mesh of a batch. Arrays may be NULL where the kind does not use them. */
typedef struct gap_ccd_mesh {
    int dim, nodes, edges, tris; /* 2 or 3; number of nodes, edges, triangles */
    const int *edge;             /* 2 each */
    const int *tri;              /* 3 each */
    const double *radius;        /* 1 per node: half thickness; NULL: 0. A pair's minimum distance
                                    grows by the largest of its first side plus that of its
                                    second */
} gap_ccd_mesh;

/* Time of impact of one pair, in the form that other headers take as a callback.
   user          const gap_ccd_options *, or NULL
   dim, kind     2 or 3; vf and ee need 3
   p0, p1        the points at t = 0 and t = 1, dim doubles each: vv 2 points, ve v e0 e1,
                 vf v f0 f1 f2, ee a0 a1 b0 b1
   min_distance  Euclidean, >= 0
   t_max         in [0,1]
   toi           1 value, always written. Returns a gap_ccd_status.
   Cost: 0.05 to 1 microseconds for most pairs. */
GAP_CCD_API int gap_ccd_pair(void *user, int dim, int kind, const double *p0, const double *p1,
    double min_distance, double t_max, double *toi);

/* The same; work (may be NULL) receives the number of steps, 0 for pairs parted by boxes. */
GAP_CCD_API int gap_ccd_query(const gap_ccd_options *opt, int dim, int kind, const double *p0,
    const double *p1, double min_distance, double t_max, double *toi, int *work);

/* Time of impact of pairs begin .. end-1 of a candidate list, each on its own.
   x0, x1  dim per node: positions at t = 0 and t = 1
   pair    2 per pair: primitive of the first, of the second letter of the kind (node, row of edge,
           row of tri)
   status, toi   1 per pair of the whole list, written at begin .. end-1; status may be NULL
   Returns 0, or the error of the first pair that has one. Ranges may run in parallel. */
GAP_CCD_API int gap_ccd_batch(const gap_ccd_options *opt, const gap_ccd_mesh *mesh,
    const double *x0, const double *x1, int kind, const int *pair, int begin, int end,
    double min_distance, double t_max, int *status, double *toi);

/* Largest common step: shrinks *t until all count pairs are safe on [0, *t). Each pair is asked
   only up to the earliest time found so far. Call it once per kind with the same t.
   t      in: horizon in [0,1], out: safe step
   first  may be NULL: the pair that set *t, or is CLOSE or in error; -1 if none
   Returns FREE (*t as it was), HIT, CLOSE (*t = 0), BUDGET (the pair that set *t), or an error with
   *t = 0. The result does not depend on the number of workers. */
GAP_CCD_API int gap_ccd_step(const gap_ccd_options *opt, const gap_ccd_mesh *mesh,
    const double *x0, const double *x1, int kind, const int *pair, int count,
    double min_distance, double *t, int *first);

#ifdef __cplusplus
}
#endif
#endif /* GAP_CCD_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_CCD_STATIC)) && !defined(GAP_CCD_IMPLEMENTATION)
#define GAP_CCD_IMPLEMENTATION
#endif
#if defined(GAP_CCD_IMPLEMENTATION) && !defined(GAP_CCD_IMPLEMENTED)
#define GAP_CCD_IMPLEMENTED
#if defined(__FAST_MATH__) && !defined(GAP_CCD_ALLOW_FAST_MATH)
#error "gap_ccd.h: the proofs need IEEE arithmetic; see GAP_CCD_ALLOW_FAST_MATH"
#endif
#include <math.h>
#include <stddef.h>
#include <string.h>
#ifndef GAP_CCD_ASSERT
#include <assert.h>
#define GAP_CCD_ASSERT(x) assert(x)
#endif

/* Four lanes, as a vector or as an array: GAP_CCD__DO L(c) = L(a) + L(b); is one operation on all
   lanes in either build, with the same roundings. Vectors are locals or passed by pointer. SIGN
   gives integers that are negative where x is: a < b is SIGN(a - b) < 0, exactly, and stays in
   vector registers where compilers take comparisons apart. */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(GAP_CCD_SCALAR)
typedef double gap_ccd__v4 __attribute__((vector_size(32)));
typedef long long gap_ccd__m4 __attribute__((vector_size(32)));
#define GAP_CCD__DO
#define GAP_CCD__L(x) (x)
#define GAP_CCD__SIGN(x) ((gap_ccd__m4)(x))
#define GAP_CCD__ABS(x) ((gap_ccd__v4)((gap_ccd__m4)(x) & 0x7fffffffffffffffll))
#else
typedef double gap_ccd__v4[4];
typedef long long gap_ccd__m4[4];
#define GAP_CCD__DO for (int lane = 0; lane < 4; ++lane)
#define GAP_CCD__L(x) ((x)[lane])
#define GAP_CCD__SIGN(x) ((x) < 0.0 ? -1ll : 0ll)
#define GAP_CCD__ABS(x) fabs((x)[lane])
#endif

/* One text, compiled once per instruction set: GAP_CCD__BODY functions are always inlined, into
   functions that carry the target, so no call passes between two of them. Without "fma": there is
   nothing to contract, and all instruction sets of one build give the same bits. A Windows GCC
   does not align the stack for 32 byte vectors. */
#if defined(__GNUC__) || defined(__clang__)
#define GAP_CCD__APART static __attribute__((noinline, unused))
#define GAP_CCD__BODY static inline __attribute__((always_inline))
#else
#define GAP_CCD__APART static
#define GAP_CCD__BODY static inline
#endif
#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__) && !defined(__AVX2__) \
    && !defined(_WIN32) && !defined(GAP_CCD_SCALAR)
#define GAP_CCD__AVX2 1
#else
#define GAP_CCD__AVX2 0
#endif

#define GAP_CCD__EPS 1.1102230246251565e-16 /* unit roundoff 2^-53 */

/* The rounding bound of a projection, derived at gap_ccd__project, in units of EPS (G0 + t G1): 18
   is proven, 28 leaves room for second order terms and for evaluating the bound itself. */
#define GAP_CCD__BOUND 28.0
/* Gaps below this many EPS (G0 + t G1) are taken as contact: a direction that is right to a few
   roundings certifies every gap above it. */
#define GAP_CCD__CONTACT 64.0
/* Added to G0 and G1: covers what underflow and denormals taken as 0 can do, 2^-1021 an operation,
   with 28 EPS 2^-960 > 2^-1009. */
#define GAP_CCD__TINY 1.0261342003245941e-289 /* 2^-960 */
/* G outside [1/RANGE, RANGE] is brought to about 1 first, so that squares stay in range. */
#define GAP_CCD__RANGE 1.6069380442589903e60 /* 2^200 */

/* A patch of the parameter domain, known to be free up to time t: for edges u .. u+hu, v .. v+hv;
   for a face the triangle (u,v) (u+hu,v) (u,v+hv) with hu = hv of either sign. Dyadic, so exact. */
typedef struct gap_ccd__patch {
    double t, u, v, hu, hv;
} gap_ccd__patch;

enum { GAP_CCD__HEAP = 1024 };           /* patches in waiting; 40 bytes each              */
enum { GAP_CCD__START = 1024 };          /* least budget for the first step away from t = 0 */
#define GAP_CCD__TURNS 0.3 /* shortest step, as part of the closest point's own, before a split */
#define GAP_CCD__SMALLEST 9.094947017729282e-13 /* 2^-40: patches are not split below this */

/* One query: F = A + u B + v C, lanes x y z, at t = 0 and 1. */
typedef struct gap_ccd__pairing {
    double w0[3][4], w1[3][4]; /* A, B, C */
    double g0, g1;             /* largest |A| + |B| + |C| along an axis, at t = 0 and 1 */
    double dist, tol;          /* target distance and the gap that counts as a hit */
    int tri;                   /* the domain is u + v <= 1 */
} gap_ccd__pairing;

/* Closest point of a patch to the origin at one time. */
typedef struct gap_ccd__closest {
    double n[3];  /* direction to certify with, any length */
    double dist;  /* of the closest point found, so an upper bound */
    double u, v;  /* its parameters within the patch, 0..1 */
} gap_ccd__closest;

static inline double gap_ccd__dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void gap_ccd__cross3(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* ---- suggestion of a direction: nothing here needs to be right, only good ---- */

/* Closest point a + s e of a segment, if closer than *best: then x, *edge, *s are set too. */
GAP_CCD__BODY int gap_ccd__segment(
    const double *a, const double *e, double ee, double *best, double *x, double *s)
{
    double y[3], d2, f = ee > 0.0 ? -gap_ccd__dot3(a, e) / ee : 0.0;
    int k;

    f = f > 0.0 ? f : 0.0;
    f = f < 1.0 ? f : 1.0;
    for (k = 0; k < 3; ++k) y[k] = a[k] + f * e[k];
    d2 = gap_ccd__dot3(y, y);
    if (!(d2 < *best)) return 0;
    *best = d2;
    *s = f;
    x[0] = y[0], x[1] = y[1], x[2] = y[2];
    return 1;
}

/* The closest point on the boundary lies on an edge that parts the unconstrained minimum (u,v) from
   the domain; NaN (parallel b and c) asks all edges. n = closest vector, freed from what rounding
   left of the edge direction, without which far ends of the edge would spoil the certificate. */
GAP_CCD__BODY double gap_ccd__boundary(const double *a, const double *b, const double *c,
    double bb, double cc, int tri, double u, double v, double *n, double *at)
{
    double best = HUGE_VAL, s = 0.0, o[3], e[3], f;
    int k, hit = -1;

    n[0] = a[0], n[1] = a[1], n[2] = a[2];
    if (!(v > 0.0) && gap_ccd__segment(a, b, bb, &best, n, &s)) hit = 0;
    if (!(u > 0.0) && gap_ccd__segment(a, c, cc, &best, n, &s)) hit = 1;
    if (tri && !(u + v < 1.0)) {
        for (k = 0; k < 3; ++k) o[k] = a[k] + b[k], e[k] = c[k] - b[k];
        if (gap_ccd__segment(o, e, gap_ccd__dot3(e, e), &best, n, &s)) hit = 2;
    }
    if (!tri && !(u < 1.0)) {
        for (k = 0; k < 3; ++k) o[k] = a[k] + b[k];
        if (gap_ccd__segment(o, c, cc, &best, n, &s)) hit = 3;
    }
    if (!tri && !(v < 1.0)) {
        for (k = 0; k < 3; ++k) o[k] = a[k] + c[k];
        if (gap_ccd__segment(o, b, bb, &best, n, &s)) hit = 4;
    }
    at[0] = hit == 0 || hit == 4 ? s : hit == 3 ? 1.0 : hit == 2 ? 1.0 - s : 0.0;
    at[1] = hit == 1 || hit == 3 ? s : hit == 4 ? 1.0 : hit == 2 ? s : 0.0;
    if (s > 0.0 && s < 1.0) {
        const double *d = hit == 2 ? e : hit == 0 || hit == 4 ? b : c;
        f = gap_ccd__dot3(n, d) / gap_ccd__dot3(d, d);
        for (k = 0; k < 3; ++k) n[k] -= f * d[k];
    }
    return best;
}

/* Minimum of |a + u b + v c| over 0 <= u,v <= 1 (tri: u + v <= 1). With b the longer edge and
   d = c - (b.c/b.b) b, v = -a.d/d.d and u = -(a.b + v b.c)/b.b lose digits with the angle, not with
   its square as normal equations do; and n = b x d is normal to both edges to a few roundings of
   their lengths however parallel they are. */
GAP_CCD__BODY void gap_ccd__closest_point(
    const double *a, const double *b, const double *c, int tri, gap_ccd__closest *out)
{
    double bb = gap_ccd__dot3(b, b), cc = gap_ccd__dot3(c, c), bc, f, dd, u, v, d[3], at[2];
    int k, swapped = bb < cc;

    if (swapped) {
        const double *p = b;
        b = c, c = p;
        f = bb, bb = cc, cc = f;
    }
    bc = gap_ccd__dot3(b, c);
    f = bb > 0.0 ? bc / bb : 0.0;
    for (k = 0; k < 3; ++k) d[k] = c[k] - f * b[k];
    dd = gap_ccd__dot3(d, d);
    if (dd > 2e-28 * cc) { /* angle above 2^-46 */
        v = -gap_ccd__dot3(a, d) / dd;
        u = -(gap_ccd__dot3(a, b) + v * bc) / bb;
    } else {
        v = u = HUGE_VAL - HUGE_VAL;
    }
    if (u > 0.0 && v > 0.0 && (tri ? u + v < 1.0 : u < 1.0 && v < 1.0)) {
        double x[3];
        gap_ccd__cross3(b, d, out->n);
        if (gap_ccd__dot3(a, out->n) < 0.0)
            for (k = 0; k < 3; ++k) out->n[k] = -out->n[k];
        for (k = 0; k < 3; ++k) x[k] = a[k] + u * b[k] + v * c[k];
        out->dist = sqrt(gap_ccd__dot3(x, x));
        at[0] = u, at[1] = v;
    } else {
        out->dist = sqrt(gap_ccd__boundary(a, b, c, bb, cc, tri, u, v, out->n, at));
    }
    out->u = at[swapped];
    out->v = at[!swapped];
}

GAP_CCD__BODY void gap_ccd__closest_at(
    const gap_ccd__pairing *q, const gap_ccd__patch *x, gap_ccd__closest *out)
{
    double a[4], b[4], c[4];
    double u = x->u, v = x->v, t = x->t;
    gap_ccd__v4 A, B, C, A1, B1, C1;

    memcpy(&A, q->w0[0], sizeof A);
    memcpy(&B, q->w0[1], sizeof B);
    memcpy(&C, q->w0[2], sizeof C);
    memcpy(&A1, q->w1[0], sizeof A);
    memcpy(&B1, q->w1[1], sizeof B);
    memcpy(&C1, q->w1[2], sizeof C);
    GAP_CCD__DO GAP_CCD__L(A) += t * (GAP_CCD__L(A1) - GAP_CCD__L(A));
    GAP_CCD__DO GAP_CCD__L(B) += t * (GAP_CCD__L(B1) - GAP_CCD__L(B));
    GAP_CCD__DO GAP_CCD__L(C) += t * (GAP_CCD__L(C1) - GAP_CCD__L(C));
    GAP_CCD__DO GAP_CCD__L(A) += u * GAP_CCD__L(B) + v * GAP_CCD__L(C);
    GAP_CCD__DO GAP_CCD__L(B) *= x->hu;
    GAP_CCD__DO GAP_CCD__L(C) *= x->hv;
    memcpy(a, &A, sizeof a);
    memcpy(b, &B, sizeof b);
    memcpy(c, &C, sizeof c);
    gap_ccd__closest_point(a, b, c, q->tri, out);
}

/* ---- certificate: here every rounding counts ---- */

/* n.F at the four corners of a patch, lanes (u,v) (u+hu,v) (u,v+hv) and the fourth (tri: the first
   again): value s + t slope, certified where that exceeds need + t rate. */
typedef struct gap_ccd__cert {
    gap_ccd__v4 s, slope;
    double need, rate;
    double dA, dB, dC; /* n.(A,B,C) at t = 1 minus t = 0 */
} gap_ccd__cert;

/* n / |n|, to 5 roundings: 1.5 + 1 in the root of n.n, 1 in its inverse, 1 in the product. Any unit
   vector will do where n cannot be turned into one; what leaves here is finite. */
GAP_CCD__BODY void gap_ccd__normalize(double n[3])
{
    double nn = gap_ccd__dot3(n, n);
    int k;

    if (!(nn > 1e-270 && nn < 1e270)) {
        for (k = 0; k < 3; ++k) n[k] *= 1e135;
        nn = gap_ccd__dot3(n, n);
        if (!(nn > 1e-270 && nn < 1e270)) n[0] = nn = 1.0, n[1] = n[2] = 0.0;
    }
    nn = 1.0 / sqrt(nn);
    for (k = 0; k < 3; ++k) n[k] *= nn;
}

/* Bound. Let e = 2^-53, N = |n|_1 <= sqrt(3) (1 + 5 e), G0 >= |A| + |B| + |C| on each axis at
   t = 0, G1 at t = 1. A, B, C are differences of the inputs: one rounding, relative to the
   difference itself. A projection n.A is three products and two sums: with the difference 4
   roundings on each path. The corner (n.A + u n.B) + v n.C adds at most 3 (product and two
   sums), for u, v are exact:
     |s0 - exact| <= 7 e N G0,  |s1 - exact| <= 7 e N G1,  and |s0| <= N G0, |s1| <= N G1.
   The value at t, s0 + t (s1 - s0), adds 2 e t (|s0| + |s1|) + e ((1-t) |s0| + t |s1|). Together
     e N ((7 (1-t) + 1 + t) G0 + (7 + 3) t G1)  <=  10 e N (G0 + t G1)  <  17.4 e (G0 + t G1)
   to first order; a contracted product-sum only removes roundings. The exact projection exceeding
   dist |n| <= dist (1 + 5 e) proves a distance above dist; three more roundings are in the sum. */
GAP_CCD__BODY void gap_ccd__project(
    const gap_ccd__pairing *q, const gap_ccd__patch *x, const double n[3], gap_ccd__cert *f)
{
    double a0 = gap_ccd__dot3(n, q->w0[0]), a1 = gap_ccd__dot3(n, q->w1[0]);
    double b0 = gap_ccd__dot3(n, q->w0[1]), b1 = gap_ccd__dot3(n, q->w1[1]);
    double c0 = gap_ccd__dot3(n, q->w0[2]), c1 = gap_ccd__dot3(n, q->w1[2]);
    double ue = x->u + x->hu, ve = x->v + x->hv;
    gap_ccd__v4 u = {x->u, ue, x->u, q->tri ? x->u : ue};
    gap_ccd__v4 v = {x->v, x->v, ve, q->tri ? x->v : ve};
    gap_ccd__v4 s1;

    GAP_CCD__DO GAP_CCD__L(f->s) = a0 + GAP_CCD__L(u) * b0 + GAP_CCD__L(v) * c0;
    GAP_CCD__DO GAP_CCD__L(s1) = a1 + GAP_CCD__L(u) * b1 + GAP_CCD__L(v) * c1;
    GAP_CCD__DO GAP_CCD__L(f->slope) = GAP_CCD__L(s1) - GAP_CCD__L(f->s);
    f->need = q->dist * (1.0 + 16.0 * GAP_CCD__EPS) + GAP_CCD__BOUND * GAP_CCD__EPS * q->g0;
    f->rate = GAP_CCD__BOUND * GAP_CCD__EPS * q->g1;
    f->dA = a1 - a0, f->dB = b1 - b0, f->dC = c1 - c0;
}

/* Whether all corners are certified at time t; margin: what each has to spare. */
GAP_CCD__BODY int gap_ccd__certified(const gap_ccd__cert *f, double t, gap_ccd__v4 *margin)
{
    double need = f->need + t * f->rate;
    gap_ccd__v4 at, m;
    gap_ccd__m4 ok;

    GAP_CCD__DO GAP_CCD__L(at) = GAP_CCD__L(f->s) + t * GAP_CCD__L(f->slope);
    GAP_CCD__DO GAP_CCD__L(m) = GAP_CCD__L(at) - need;
    GAP_CCD__DO GAP_CCD__L(ok) = GAP_CCD__SIGN(need - GAP_CCD__L(at));
    memcpy(margin, &m, sizeof m);
    return (ok[0] & ok[1] & ok[2] & ok[3]) < 0;
}

/* Latest time, from t on, up to which the certificate may hold: the first margin to run out. */
GAP_CCD__BODY double gap_ccd__exit(const gap_ccd__cert *f, double t, gap_ccd__v4 *margin)
{
    gap_ccd__v4 wait, fall;
    double first = HUGE_VAL;
    int k;

    GAP_CCD__DO GAP_CCD__L(fall) = f->rate - GAP_CCD__L(f->slope);
    GAP_CCD__DO GAP_CCD__L(wait) = GAP_CCD__L(*margin) / GAP_CCD__L(fall);
    for (k = 0; k < 4; ++k)
        if (fall[k] > 0.0 && wait[k] < first) first = wait[k];
    return t + first * (1.0 - 1e-9);
}

/* ---- search ---- */

enum {
    GAP_CCD__DONE,    /* free up to t_max */
    GAP_CCD__FURTHER, /* advanced */
    GAP_CCD__SPLIT_U, /* the patch should be split; it may have advanced too */
    GAP_CCD__SPLIT_V
};

/* Moves x->t as far as the direction c->n (made a unit vector) certifies. A step well below what
   the closest point alone would allow means that the patch turns: splitting it pays. */
GAP_CCD__BODY int gap_ccd__advance(
    const gap_ccd__pairing *q, gap_ccd__patch *x, gap_ccd__closest *c, double t_max)
{
    gap_ccd__cert f;
    gap_ccd__v4 margin, end;
    double t = x->t, next, speed, whole;
    int split, sure, k;

    gap_ccd__normalize(c->n);
    gap_ccd__project(q, x, c->n, &f);
    sure = gap_ccd__certified(&f, t, &margin);
    if (sure && gap_ccd__certified(&f, t_max, &end)) return GAP_CCD__DONE;
    split = fabs(x->hv * f.dC) > fabs(x->hu * f.dB) ? GAP_CCD__SPLIT_V : GAP_CCD__SPLIT_U;
    if (!sure) return split;
    next = gap_ccd__exit(&f, t, &margin);
    next = next < t_max ? next : t_max;
    for (k = 0; k < 8 && !gap_ccd__certified(&f, next, &end); ++k) next = t + 0.5 * (next - t);
    if (!(next > t) || k == 8) return split;
    x->t = next;
    speed = -(f.dA + (x->u + c->u * x->hu) * f.dB + (x->v + c->v * x->hv) * f.dC);
    whole = c->dist - q->dist;
    whole = whole < (1.0 - t) * speed ? whole / speed : 1.0 - t;
    return next - t < GAP_CCD__TURNS * whole ? split : GAP_CCD__FURTHER;
}

static inline int gap_ccd__before(const gap_ccd__patch *a, const gap_ccd__patch *b)
{
    return a->t < b->t || (a->t == b->t && fabs(a->hu * a->hv) < fabs(b->hu * b->hv));
}

static inline void gap_ccd__push(gap_ccd__patch *heap, int *n, const gap_ccd__patch *x)
{
    int i = (*n)++;

    for (; i > 0 && gap_ccd__before(x, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = *x;
}

static inline void gap_ccd__pop(gap_ccd__patch *heap, int *n, gap_ccd__patch *out)
{
    gap_ccd__patch last = heap[--*n];
    int i = 0, c;

    *out = heap[0];
    for (; (c = 2 * i + 1) < *n; i = c) {
        c += c + 1 < *n && gap_ccd__before(&heap[c + 1], &heap[c]);
        if (!gap_ccd__before(&heap[c], &last)) break;
        heap[i] = heap[c];
    }
    heap[i] = last;
}

/* Puts the parts of x but one on the heap, x becomes that one; 0 if x is too small to be split. */
static inline int gap_ccd__split(
    int tri, int how, gap_ccd__patch *x, gap_ccd__patch *heap, int *n)
{
    gap_ccd__patch y;
    double h = 0.5 * (how == GAP_CCD__SPLIT_U ? x->hu : x->hv);

    if (fabs(h) < GAP_CCD__SMALLEST) return 0;
    if (tri) {
        y = *x;
        x->hu = x->hv = y.hu = y.hv = h;
        y.u = x->u + h;
        gap_ccd__push(heap, n, &y);
        y.v = x->v + h;
        y.hu = y.hv = -h;
        gap_ccd__push(heap, n, &y);
        y.u = x->u;
        y.hu = y.hv = h;
    } else if (how == GAP_CCD__SPLIT_U) {
        x->hu = h;
        y = *x;
        y.u += h;
    } else {
        x->hv = h;
        y = *x;
        y.v += h;
    }
    gap_ccd__push(heap, n, &y);
    return 1;
}

/* Best first in time: x has the smallest t of all patches not yet done, so accepting it, or running
   out of budget, returns a time up to which every patch is free. A patch within the tolerance is
   advanced once more before it is accepted: that is often free, and later. */
GAP_CCD__BODY int gap_ccd__search(
    gap_ccd__pairing *q, double keep, double t_max, int budget, double *toi, int *work)
{
    gap_ccd__patch heap[GAP_CCD__HEAP], x = {0.0, 0.0, 0.0, 1.0, 1.0}, y;
    gap_ccd__closest c;
    int n = 0, how, most = budget;

    for (*work = 1;; ++*work) {
        double contact = GAP_CCD__CONTACT * GAP_CCD__EPS * (q->g0 + x.t * q->g1), gap;
        gap_ccd__closest_at(q, &x, &c);
        gap = c.dist - q->dist;
        if (*work == 1 && gap > contact) {
            q->dist += keep * gap;
            gap -= keep * gap;
            q->tol = q->tol < 0.25 * gap ? q->tol : 0.25 * gap;
        }
        *toi = x.t;
        if (!(gap > contact)) return x.t > 0.0 ? GAP_CCD_HIT : GAP_CCD_CLOSE;
        how = gap_ccd__advance(q, &x, &c, t_max);
        if (how == GAP_CCD__DONE) {
            *toi = t_max;
            if (n == 0) return GAP_CCD_FREE;
            gap_ccd__pop(heap, &n, &x);
        } else if (gap <= q->tol && *toi > 0.0) {
            *toi = n > 0 && heap[0].t < x.t ? heap[0].t : x.t;
            return GAP_CCD_HIT;
        } else if (how != GAP_CCD__FURTHER) {
            if (n + 3 > GAP_CCD__HEAP) most = 0;
            else if (!gap_ccd__split(q->tri, how, &x, heap, &n) && x.t == *toi)
                return x.t > 0.0 ? GAP_CCD_HIT : GAP_CCD_CLOSE;
        }
        if (n > 0 && gap_ccd__before(&heap[0], &x)) {
            gap_ccd__pop(heap, &n, &y);
            gap_ccd__push(heap, &n, &x);
            x = y;
        }
        if (*work >= most && (x.t > 0.0 || most == 0 || *work >= GAP_CCD__START)) {
            *toi = x.t;
            return x.t > 0.0 ? GAP_CCD_BUDGET : GAP_CCD_CLOSE;
        }
    }
}

/* ---- one pair: two vertices and two more as a vertex and a face, or as two edges ---- */

/* Adds one end of the motion to the box test: lanes x y z of above (below) stay set while all
   points of the first side exceed those of the second by more than dist (the reverse). The fourth
   lane holds leftovers. */
GAP_CCD__BODY void gap_ccd__box_side(const double *p, int tri, double dist, gap_ccd__m4 *above,
    gap_ccd__m4 *below, gap_ccd__v4 *sum)
{
    gap_ccd__v4 a, b, c, d = {p[9], p[10], p[11], 0.0}, bc, ac, ad, bd;
    gap_ccd__m4 up, down;

    memcpy(&a, p, sizeof a);
    memcpy(&b, p + 3, sizeof b);
    memcpy(&c, p + 6, sizeof c);
    GAP_CCD__DO GAP_CCD__L(*sum) += GAP_CCD__L(a) + GAP_CCD__L(b) + GAP_CCD__L(c) + GAP_CCD__L(d);
    GAP_CCD__DO GAP_CCD__L(ac) = GAP_CCD__L(a) - GAP_CCD__L(c);
    GAP_CCD__DO GAP_CCD__L(ad) = GAP_CCD__L(a) - GAP_CCD__L(d);
    GAP_CCD__DO GAP_CCD__L(up) =
        GAP_CCD__SIGN(dist - GAP_CCD__L(ac)) & GAP_CCD__SIGN(dist - GAP_CCD__L(ad));
    GAP_CCD__DO GAP_CCD__L(down) =
        GAP_CCD__SIGN(dist + GAP_CCD__L(ac)) & GAP_CCD__SIGN(dist + GAP_CCD__L(ad));
    if (tri) {
        GAP_CCD__DO GAP_CCD__L(bc) = GAP_CCD__L(a) - GAP_CCD__L(b);
    } else {
        GAP_CCD__DO GAP_CCD__L(bc) = GAP_CCD__L(b) - GAP_CCD__L(c);
        GAP_CCD__DO GAP_CCD__L(bd) = GAP_CCD__L(b) - GAP_CCD__L(d);
        GAP_CCD__DO GAP_CCD__L(up) &= GAP_CCD__SIGN(dist - GAP_CCD__L(bd));
        GAP_CCD__DO GAP_CCD__L(down) &= GAP_CCD__SIGN(dist + GAP_CCD__L(bd));
    }
    GAP_CCD__DO GAP_CCD__L(*above) &= GAP_CCD__L(up) & GAP_CCD__SIGN(dist - GAP_CCD__L(bc));
    GAP_CCD__DO GAP_CCD__L(*below) &= GAP_CCD__L(down) & GAP_CCD__SIGN(dist + GAP_CCD__L(bc));
}

/* Whether the boxes of both sides over the whole motion are apart by more than dist along an axis.
   No filter: a difference has the sign of the exact one and is within one rounding of it, so
   above dist (1 + 4 e) it proves the exact one above dist; 1.8e-307 > 2^-1019 is for what
   flushing to zero takes. */
GAP_CCD__BODY int gap_ccd__boxes_apart(
    const double *p0, const double *p1, int tri, double dist, double *sum)
{
    gap_ccd__m4 above = {-1, -1, -1, -1}, below = {-1, -1, -1, -1};
    gap_ccd__v4 s = {0.0, 0.0, 0.0, 0.0};

    dist = dist * (1.0 + 4.0 * GAP_CCD__EPS) + 1.8e-307;
    gap_ccd__box_side(p0, tri, dist, &above, &below, &s);
    gap_ccd__box_side(p1, tri, dist, &above, &below, &s);
    *sum = s[0] + s[1] + s[2];
    GAP_CCD__DO GAP_CCD__L(above) |= GAP_CCD__L(below);
    return (above[0] | above[1] | above[2]) < 0;
}

/* w = (A, B, C) of four points times scale, lanes x y z and one not used; returns the largest
   |A| + |B| + |C|, or NaN if that is not finite. */
GAP_CCD__BODY double gap_ccd__differences(const double *p, int tri, double scale, double w[3][4])
{
    gap_ccd__v4 a, b, c, d = {p[9], p[10], p[11], 0.0}, A, B, C;
    double m[4];

    memcpy(&a, p, sizeof a);
    memcpy(&b, p + 3, sizeof b);
    memcpy(&c, p + 6, sizeof c);
    GAP_CCD__DO GAP_CCD__L(a) *= scale;
    GAP_CCD__DO GAP_CCD__L(b) *= scale;
    GAP_CCD__DO GAP_CCD__L(c) *= scale;
    GAP_CCD__DO GAP_CCD__L(d) *= scale;
    if (tri) {
        GAP_CCD__DO GAP_CCD__L(A) = GAP_CCD__L(a) - GAP_CCD__L(b);
        GAP_CCD__DO GAP_CCD__L(B) = GAP_CCD__L(b) - GAP_CCD__L(c);
        GAP_CCD__DO GAP_CCD__L(C) = GAP_CCD__L(b) - GAP_CCD__L(d);
    } else {
        GAP_CCD__DO GAP_CCD__L(A) = GAP_CCD__L(a) - GAP_CCD__L(c);
        GAP_CCD__DO GAP_CCD__L(B) = GAP_CCD__L(b) - GAP_CCD__L(a);
        GAP_CCD__DO GAP_CCD__L(C) = GAP_CCD__L(c) - GAP_CCD__L(d);
    }
    memcpy(w[0], &A, sizeof A);
    memcpy(w[1], &B, sizeof B);
    memcpy(w[2], &C, sizeof C);
    GAP_CCD__DO GAP_CCD__L(a) = GAP_CCD__ABS(A) + GAP_CCD__ABS(B) + GAP_CCD__ABS(C);
    memcpy(m, &a, sizeof m);
    m[3] = 0.0 * (m[0] + m[1] + m[2]); /* 0, or NaN */
    m[0] = m[1] > m[0] ? m[1] : m[0];
    return (m[2] > m[0] ? m[2] : m[0]) + m[3];
}

/* Differences of an extreme pair, brought to a size of about 1; distances are scaled alike. Points
   are made smaller first, by 2^-8, if their differences overflow: what that rounds is below
   2^-1022 and G above 2^190 then. */
GAP_CCD__APART void gap_ccd__rescale(gap_ccd__pairing *q, const double *p0, const double *p1)
{
    double g = q->g0 > q->g1 ? q->g0 : q->g1, tiny;
    int e = 0, i, k;

    if (!(q->g0 < HUGE_VAL && q->g1 < HUGE_VAL)) {
        q->g0 = gap_ccd__differences(p0, q->tri, 0.00390625, q->w0);
        q->g1 = gap_ccd__differences(p1, q->tri, 0.00390625, q->w1);
        g = q->g0 > q->g1 ? q->g0 : q->g1;
        e = -8;
    }
    frexp(g, &k);
    if (!(g > 0.0)) k = 0;
    for (i = 0; i < 12; ++i) {
        q->w0[i / 4][i % 4] = ldexp(q->w0[i / 4][i % 4], -k);
        q->w1[i / 4][i % 4] = ldexp(q->w1[i / 4][i % 4], -k);
    }
    tiny = GAP_CCD__TINY + ldexp(GAP_CCD__TINY, e - k); /* underflow from here on, and before */
    q->g0 = ldexp(q->g0, -k) + tiny;
    q->g1 = ldexp(q->g1, -k) + tiny;
    q->dist = ldexp(q->dist, e - k);
    q->tol = ldexp(q->tol, e - k);
}

static inline int gap_ccd__finite(const double *p, int n)
{
    int i;

    for (i = 0; i < n; ++i)
        if (!(fabs(p[i]) < HUGE_VAL)) return 0;
    return 1;
}

/* Largest relative displacement along an axis. */
GAP_CCD__BODY double gap_ccd__motion(const gap_ccd__pairing *q)
{
    double most = 0.0;
    int k;

    for (k = 0; k < 3; ++k) {
        double m = fabs(q->w1[0][k] - q->w0[0][k]) + fabs(q->w1[1][k] - q->w0[1][k])
            + fabs(q->w1[2][k] - q->w0[2][k]);
        most = m > most ? m : most;
    }
    return most;
}

/* A pair whose boxes meet, or are not asked: to keep a part of the gap its distance must be known.
   In functions of its own, so that the many others pay nothing for it. */
GAP_CCD__BODY int gap_ccd__solve_near(const gap_ccd_options *opt, int tri, const double *p0,
    const double *p1, double dist, double t_max, double *toi, int *work)
{
    gap_ccd__pairing q;
    double g;

    *work = 0;
    q.tri = tri;
    q.dist = dist;
    q.g0 = gap_ccd__differences(p0, tri, 1.0, q.w0);
    q.g1 = gap_ccd__differences(p1, tri, 1.0, q.w1);
    g = q.g0 > q.g1 ? q.g0 : q.g1;
    q.tol = opt && opt->rel_tolerance > 0.0 ? opt->rel_tolerance : 1e-6;
    q.tol = opt && opt->tolerance > 0.0 ? opt->tolerance : q.tol * gap_ccd__motion(&q);
    if (g >= 1.0 / GAP_CCD__RANGE && q.g0 <= GAP_CCD__RANGE && q.g1 <= GAP_CCD__RANGE) {
        q.g0 += GAP_CCD__TINY;
        q.g1 += GAP_CCD__TINY;
    } else {
        *toi = 0.0;
        if (!(gap_ccd__finite(p0, 12) && gap_ccd__finite(p1, 12))) return GAP_CCD_ENONFIN;
        gap_ccd__rescale(&q, p0, p1);
    }
    return gap_ccd__search(&q, opt ? opt->keep : 0.0, t_max,
        opt && opt->budget > 0 ? opt->budget : 10000, toi, work);
}

/* Four points each at t = 0 and 1: tri a vertex and a face, else two edges. */
#define GAP_CCD__SOLVE(NAME, TARGET)                                                              \
TARGET GAP_CCD__APART int gap_ccd__near_##NAME(const gap_ccd_options *opt, int tri,               \
    const double *p0, const double *p1, double dist, double t_max, double *toi, int *work)        \
{                                                                                                 \
    return gap_ccd__solve_near(opt, tri, p0, p1, dist, t_max, toi, work);                         \
}                                                                                                 \
TARGET static inline int gap_ccd__solve_##NAME(const gap_ccd_options *opt, int tri,               \
    const double *p0, const double *p1, double dist, double t_max, double *toi, int *work)        \
{                                                                                                 \
    double sum;                                                                                   \
                                                                                                  \
    if ((opt && opt->keep > 0.0) || !gap_ccd__boxes_apart(p0, p1, tri, dist, &sum)                \
        || !(sum - sum == 0.0))                                                                   \
        return gap_ccd__near_##NAME(opt, tri, p0, p1, dist, t_max, toi, work);                    \
    *work = 0;                                                                                    \
    *toi = t_max;                                                                                 \
    return GAP_CCD_FREE;                                                                          \
}
#define GAP_CCD__AS_BUILT
GAP_CCD__SOLVE(built, GAP_CCD__AS_BUILT)
#if GAP_CCD__AVX2
GAP_CCD__SOLVE(avx2, __attribute__((target("avx2"))))
#endif

static inline int gap_ccd__solve(const gap_ccd_options *opt, int tri, const double *p0,
    const double *p1, double dist, double t_max, double *toi, int *work)
{
#if GAP_CCD__AVX2
    if (__builtin_cpu_supports("avx2") && !(opt && opt->isa && opt->isa < GAP_CCD_ISA_AVX2))
        return gap_ccd__solve_avx2(opt, tri, p0, p1, dist, t_max, toi, work);
#endif
    return gap_ccd__solve_built(opt, tri, p0, p1, dist, t_max, toi, work);
}

GAP_CCD_API int gap_ccd_pair(void *user, int dim, int kind, const double *p0, const double *p1,
    double min_distance, double t_max, double *toi)
{
    int work;

    return gap_ccd_query(
        (const gap_ccd_options *)user, dim, kind, p0, p1, min_distance, t_max, toi, &work);
}

static inline int gap_ccd__valid(
    const gap_ccd_options *opt, int dim, int kind, double dist, double t)
{
    if (dim < 2 || dim > 3 || kind < GAP_CCD_VV || kind > GAP_CCD_EE) return GAP_CCD_EINPUT;
    if (dim == 2 && kind > GAP_CCD_VE) return GAP_CCD_EINPUT;
    if (!(dist >= 0.0 && t >= 0.0 && t <= 1.0)) return GAP_CCD_EINPUT;
    if (opt && !(opt->keep >= 0.0 && opt->keep < 1.0)) return GAP_CCD_EINPUT;
    return dist < HUGE_VAL ? 0 : GAP_CCD_ENONFIN;
}

/* Which of the given points the four points of a query are: vv and ve become edges, with both ends
   the same. */
static const int gap_ccd__corner[4][4] = {{0, 0, 1, 1}, {0, 0, 1, 2}, {0, 1, 2, 3}, {0, 1, 2, 3}};

static inline int gap_ccd__solve_small(const gap_ccd_options *opt, int dim, int kind,
    const double *p0, const double *p1, double dist, double t_max, double *toi, int *work)
{
    double q0[12] = {0}, q1[12] = {0};
    int i, k;

    for (i = 0; i < 4; ++i)
        for (k = 0; k < dim; ++k) {
            q0[3 * i + k] = p0[dim * gap_ccd__corner[kind][i] + k];
            q1[3 * i + k] = p1[dim * gap_ccd__corner[kind][i] + k];
        }
    return gap_ccd__solve(opt, 0, q0, q1, dist, t_max, toi, work);
}

GAP_CCD_API int gap_ccd_query(const gap_ccd_options *opt, int dim, int kind, const double *p0,
    const double *p1, double min_distance, double t_max, double *toi, int *work)
{
    int unused, status;

    GAP_CCD_ASSERT(p0 && p1 && toi);
    *toi = 0.0;
    if (!work) work = &unused;
    *work = 0;
    status = gap_ccd__valid(opt, dim, kind, min_distance, t_max);
    if (status) return status;
    if (kind >= GAP_CCD_VF)
        return gap_ccd__solve(opt, kind == GAP_CCD_VF, p0, p1, min_distance, t_max, toi, work);
    return gap_ccd__solve_small(opt, dim, kind, p0, p1, min_distance, t_max, toi, work);
}
/* ---- batches ---- */

/* Node numbers of primitive i of side 0 or 1 of a kind into node[0..2]; how many, or 0 if there is
   no such primitive or node. */
static inline int gap_ccd__nodes(const gap_ccd_mesh *m, int kind, int side, int i, int *node)
{
    static const int size[4][2] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}};
    int n = size[kind][side], k;

    if (i < 0 || i >= (n == 1 ? m->nodes : n == 2 ? m->edges : m->tris)) return 0;
    for (k = 0; k < n; ++k) {
        node[k] = n == 1 ? i : n == 2 ? m->edge[2 * i + k] : m->tri[3 * i + k];
        if (node[k] < 0 || node[k] >= m->nodes) return 0;
    }
    return n;
}

static inline double gap_ccd__radius(const gap_ccd_mesh *m, const int *node, int n)
{
    double r = 0.0;
    int k;

    if (!m->radius) return 0.0;
    for (k = 0; k < n; ++k) {
        double x = m->radius[node[k]];
        r = x > r || !(x == x) ? x : r;
    }
    return r;
}

/* One pair of a list: gathers its points as the four of a query. */
static inline int gap_ccd__listed(const gap_ccd_options *opt, const gap_ccd_mesh *m,
    const double *x0, const double *x1, int kind, const int *pair, double dist, double t_max,
    double *toi)
{
    double p0[12], p1[12];
    int node[6], na, nb, i, k, work;

    *toi = 0.0;
    na = gap_ccd__nodes(m, kind, 0, pair[0], node);
    nb = na ? gap_ccd__nodes(m, kind, 1, pair[1], node + na) : 0;
    if (nb == 0) return GAP_CCD_EINDEX;
    dist += gap_ccd__radius(m, node, na) + gap_ccd__radius(m, node + na, nb);
    if (!(dist < HUGE_VAL)) return GAP_CCD_ENONFIN;
    for (i = 0; i < 4; ++i) {
        size_t at = (size_t)m->dim * (size_t)node[gap_ccd__corner[kind][i]];
        for (k = 0; k < 3; ++k) {
            p0[3 * i + k] = k < m->dim ? x0[at + (size_t)k] : 0.0;
            p1[3 * i + k] = k < m->dim ? x1[at + (size_t)k] : 0.0;
        }
    }
    return gap_ccd__solve(opt, kind == GAP_CCD_VF, p0, p1, dist, t_max, toi, &work);
}

GAP_CCD_API int gap_ccd_batch(const gap_ccd_options *opt, const gap_ccd_mesh *mesh,
    const double *x0, const double *x1, int kind, const int *pair, int begin, int end,
    double min_distance, double t_max, int *status, double *toi)
{
    int i, result = 0, wrong;

    GAP_CCD_ASSERT(mesh && x0 && x1 && toi && (pair || begin == end) && 0 <= begin && begin <= end);
    wrong = gap_ccd__valid(opt, mesh->dim, kind, min_distance, t_max);
    for (i = begin; i < end; ++i) {
        int s = wrong;
        toi[i] = 0.0;
        if (!wrong) {
            s = gap_ccd__listed(
                opt, mesh, x0, x1, kind, pair + 2 * (size_t)i, min_distance, t_max, &toi[i]);
        }
        if (status) status[i] = s;
        if (s < 0 && result == 0) result = s;
    }
    return wrong ? wrong : result;
}

/* A round asks up to 64 chunks of pairs, all with the step known before it; each chunk shortens its
   own. Chunks depend on the list only, so the result does not depend on who runs them. */
enum { GAP_CCD__GRAIN = 256, GAP_CCD__CHUNKS = 64 };

typedef struct gap_ccd__round {
    const gap_ccd_options *opt;
    const gap_ccd_mesh *mesh;
    const double *x0, *x1;
    const int *pair; /* of the round */
    int kind;
    double dist, t;
    double chunk_t[GAP_CCD__CHUNKS];
    int chunk_status[GAP_CCD__CHUNKS], chunk_first[GAP_CCD__CHUNKS];
} gap_ccd__round;

static inline void gap_ccd__chunk(void *ctx, int begin, int end, int worker)
{
    gap_ccd__round *r = (gap_ccd__round *)ctx;
    double t = r->t, toi;
    int i, s, c = begin / GAP_CCD__GRAIN, status = GAP_CCD_FREE, first = -1;

    (void)worker;
    for (i = begin; i < end && status != GAP_CCD_CLOSE && status >= 0; ++i) {
        s = gap_ccd__listed(r->opt, r->mesh, r->x0, r->x1, r->kind, r->pair + 2 * (size_t)i,
            r->dist, t, &toi);
        if (s == GAP_CCD_FREE) continue;
        if (s < 0 || s == GAP_CCD_CLOSE || toi < t) t = toi, status = s, first = i;
    }
    r->chunk_t[c] = t;
    r->chunk_status[c] = status;
    r->chunk_first[c] = first;
}

GAP_CCD_API int gap_ccd_step(const gap_ccd_options *opt, const gap_ccd_mesh *mesh,
    const double *x0, const double *x1, int kind, const int *pair, int count,
    double min_distance, double *t, int *first)
{
    gap_ccd__round r;
    int i, c, n, unused, status = GAP_CCD_FREE;

    GAP_CCD_ASSERT(mesh && x0 && x1 && t && count >= 0 && (pair || count == 0));
    if (!first) first = &unused;
    *first = -1;
    status = gap_ccd__valid(opt, mesh->dim, kind, min_distance, *t);
    if (status) *t = 0.0;
    r.opt = opt, r.mesh = mesh, r.x0 = x0, r.x1 = x1, r.kind = kind, r.dist = min_distance;
    for (i = 0; i < count && status >= 0 && status != GAP_CCD_CLOSE; i += n) {
        n = GAP_CCD__GRAIN * (i ? GAP_CCD__CHUNKS : 4); /* first a few, for an early bound */
        n = count - i < n ? count - i : n;
        r.pair = pair + 2 * (size_t)i;
        r.t = *t;
        if (opt && opt->parallel_for) {
            opt->parallel_for(opt->parallel_user, n, GAP_CCD__GRAIN, gap_ccd__chunk, &r);
        } else {
            for (c = 0; c < n; c += GAP_CCD__GRAIN)
                gap_ccd__chunk(&r, c, n - c < GAP_CCD__GRAIN ? n : c + GAP_CCD__GRAIN, 0);
        }
        for (c = 0; c * GAP_CCD__GRAIN < n && status >= 0; ++c)
            if (r.chunk_status[c] < 0
                || (status != GAP_CCD_CLOSE
                    && (r.chunk_status[c] == GAP_CCD_CLOSE || r.chunk_t[c] < *t))) {
                *t = r.chunk_t[c];
                status = r.chunk_status[c];
                *first = i + r.chunk_first[c];
            }
    }
    return status;
}
#endif /* GAP_CCD_IMPLEMENTATION */
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
