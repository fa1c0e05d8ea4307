/* gap_exact.h - v0.1.0 - exact tests: do primitives meet, is a tet inverted - MIT-0, see end
   Orientation signs and intersection tests whose answer is that of real arithmetic, for points,
   edges and triangles in 2D and 3D, and for whole meshes. Copy this one file.
QUICK START
   #define GAP_EXACT_IMPLEMENTATION       // in exactly one .c or .cpp file
   #include "gap_exact.h"
   #include <stdio.h>
   int main(void)
   {
       double x[] = {0,0,0, 4,0,0, 0,4,0,  1,1,-1, 1,1,1, 3,1,1,  1,1,0};
       int tri[] = {0,1,2, 3,4,5}, point[] = {6}, pair[2 * 4], how[4];
       gap_exact_mesh m = {3, 7, x, 2, tri, 0, NULL, 1, point, NULL};
       double work[128]; // at least gap_exact_mesh_work(&m) bytes
       size_t n = gap_exact_mesh_meets(&m, NULL, work, 4, pair, how, NULL);
       printf("side %d\n", gap_exact_orient3(x, x + 3, x + 6, x + 12)); // side 1
       printf("%d pairs, %d and %d cross\n", (int)n, pair[0], pair[1]); // 3 pairs, 0 and 1 cross
       return how[0] == GAP_EXACT_CROSS && how[1] == GAP_EXACT_TOUCH ? 0 : 1;
   }
GUARANTEES
   Exact    every finite input, the whole range of double, denormals too: no tolerance anywhere,
            any rounding mode, contraction on or off, x87, flush to zero. What decides is integer
            arithmetic; floating point only answers early where a proved error bound allows it.
   Same     pairs do not depend on the number of threads. No globals, no allocation, no I/O.
   Not      coordinates are taken as given: nothing is said of what happened between two frames.
OPTIONS (define before the implementation)
   GAP_EXACT_STATIC     keep all functions private to this file
   GAP_EXACT_ASSERT(x)  replaces assert(x)
   GAP_EXACT_NO_FILTER  integers only, about 10x slower; set by itself under -ffast-math
EDGE CASES
   TOUCH is a common point that an arbitrarily small move can undo, CROSS one that no small enough
   move can: coplanar overlapping triangles TOUCH, an edge through a face CROSSes.
   zero-length edges, flat triangles: taken as the point or segment that they are.
   NaN or infinity: signs 0, compare_distance -1, meets ENONFIN. Elements that share nodes: see
   gap_exact_mesh_meets.
METHOD
   Signs of 2x2 and 3x3 determinants decide everything; no point is ever constructed. Filter in
   double with a static bound, then each coordinate becomes an integer multiple of the smallest
   power of two in its column, and the determinant an expansion in base 2^32. Expansions of floating
   terms (Shewchuk 1997) need strict IEEE sums and a guarded exponent range; integers need neither.
   Triangle pairs: the overlap of two intervals on a line by signs alone (Guigue, Devillers 2003).
   Meshes: boxes in Morton order under an implicit tree with four children.
NOT HERE   collision between two frames: gap_ccd.h. Distances: gap_distance.h. Pairs: gap_broad.h.
HISTORY    0.1.0 first release */
#ifndef GAP_EXACT_H
#define GAP_EXACT_H
#include <stddef.h>
#define GAP_EXACT_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_EXACT_STATIC
#define GAP_EXACT_API static inline
#else
#define GAP_EXACT_API extern
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_exact_status {
    GAP_EXACT_APART = 0,    /* no common point */
    GAP_EXACT_TOUCH = 1,    /* a common point, and some arbitrarily small move leaves none */
    GAP_EXACT_CROSS = 2,    /* common points that every small enough move leaves */
    GAP_EXACT_ENONFIN = -1, /* a coordinate is NaN or infinite */
    GAP_EXACT_EINDEX = -3,  /* a node number out of range */
    GAP_EXACT_ESIZE = -4,   /* more elements than an int can number */
    GAP_EXACT_EINPUT = -6   /* dim is not 2 or 3, or triangles in 2D */
} gap_exact_status;

typedef void (*gap_exact_range)(void *ctx, int begin, int end, int worker);
typedef void (*gap_exact_parallel_for)(void *user, int count, int grain, gap_exact_range fn,
    void *ctx);

/* Elements are numbered triangles first, then edges, then points. */
typedef struct gap_exact_mesh {
    int dim;          /* 2 or 3 */
    int nodes;        /* number of nodes */
    const double *x;  /* dim per node */
    int tris;         /* 0 in 2D */
    const int *tri;   /* 3 per triangle; NULL if none */
    int edges;
    const int *edge;  /* 2 per edge: those of no triangle; others may be listed too; NULL if none */
    int points;
    const int *point; /* 1 per point, nodes of no triangle or edge; NULL if none */
    const int *group; /* 1 per node or NULL: elements whose first nodes are in the same negative
                         group are not compared */
} gap_exact_mesh;

typedef struct gap_exact_options {
    gap_exact_parallel_for parallel_for; /* NULL: a plain loop */
    void *parallel_user;
} gap_exact_options;

/* Sign of det(b - a, c - a): 1 if a, b, c turn left, -1 right, 0 on one line (or not finite). */
GAP_EXACT_API int gap_exact_orient2(const double a[2], const double b[2], const double c[2]);

/* Sign of det(b - a, c - a, d - a), six times the volume of the tet a b c d: 1 if d lies on the
   side from which a, b, c turn left, 0 if all lie in one plane (or not finite). */
GAP_EXACT_API int gap_exact_orient3(const double a[3], const double b[3], const double c[3],
    const double d[3]);

/* Do a point, an edge or a triangle meet another in the plane? APART, TOUCH, CROSS or ENONFIN. A
   point strictly inside a triangle is CROSS. */
GAP_EXACT_API int gap_exact_vv2(const double a[2], const double b[2]);
GAP_EXACT_API int gap_exact_ve2(const double v[2], const double e0[2], const double e1[2]);
GAP_EXACT_API int gap_exact_vf2(const double v[2], const double f0[2], const double f1[2],
    const double f2[2]);
GAP_EXACT_API int gap_exact_ee2(const double a0[2], const double a1[2], const double b0[2],
    const double b1[2]);

/* The same in space: points, edges (e) and triangles (f). Only ef and ff can CROSS. */
GAP_EXACT_API int gap_exact_vv(const double a[3], const double b[3]);
GAP_EXACT_API int gap_exact_ve(const double v[3], const double e0[3], const double e1[3]);
GAP_EXACT_API int gap_exact_vf(const double v[3], const double f0[3], const double f1[3],
    const double f2[3]);
GAP_EXACT_API int gap_exact_ee(const double a0[3], const double a1[3], const double b0[3],
    const double b1[3]);
GAP_EXACT_API int gap_exact_ef(const double e0[3], const double e1[3], const double f0[3],
    const double f1[3], const double f2[3]);
GAP_EXACT_API int gap_exact_ff(const double a0[3], const double a1[3], const double a2[3],
    const double b0[3], const double b1[3], const double b2[3]);

/* Sign of distance - d: -1 nearer than d, 0 exactly d, 1 farther. Squared, so no root is taken.
   kind  0 vv, 1 ve, 2 vf, 3 ee, 4 vp; vf and ee only in 3D
   p     dim doubles per point: both points; v e0 e1; v f0 f1 f2; a0 a1 b0 b1; v, point of the
         plane, its normal of any length (vp: signed, positive where the normal points)
   Not finite: -1. Some microseconds: ask only where a bound in floating point cannot tell. */
GAP_EXACT_API int gap_exact_compare_distance(int dim, int kind, const double *p, double d);

/* Number of elements begin <= i < end whose signed volume (2D: area) is not positive.
   elem      dim + 1 nodes per element, the first of the whole array; node numbers must be valid
   capacity  elements in bad; bad gets the first of them, ascending; may be 0 and NULL */
GAP_EXACT_API int gap_exact_inverted(int dim, const double *x, const int *elem, int begin, int end,
    int capacity, int *bad);

/* Bytes of work that gap_exact_mesh_meets needs, about 90 per element in 3D. */
GAP_EXACT_API size_t gap_exact_mesh_work(const gap_exact_mesh *mesh);

/* All pairs of elements that meet. Elements that share nodes are compared by their faces: they meet
   if a face of one and a face of the other without a common node have a common point (so neighbours
   that only share what they must are apart, and two triangles folded onto each other touch).
   opt       may be NULL
   work      gap_exact_mesh_work() bytes, aligned as by malloc
   capacity  pairs that fit in pair and how; if more are found, a fixed choice of them is kept
   pair      2 element numbers each, first < second, pairs ascending
   how       1 each: TOUCH or CROSS
   status    1 value or NULL: 0, or the error, and then no pair is found
   Returns the number of pairs found, also above capacity. O(n log n) and the tests of boxes that
   overlap. */
GAP_EXACT_API size_t gap_exact_mesh_meets(const gap_exact_mesh *mesh, const gap_exact_options *opt,
    void *work, size_t capacity, int *pair, int *how, int *status);

#ifdef __cplusplus
}
#endif
#endif /* GAP_EXACT_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_EXACT_STATIC)) && \
    !defined(GAP_EXACT_IMPLEMENTATION)
#define GAP_EXACT_IMPLEMENTATION
#endif
#if defined(GAP_EXACT_IMPLEMENTATION) && !defined(GAP_EXACT_IMPLEMENTED)
#define GAP_EXACT_IMPLEMENTED
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifndef GAP_EXACT_ASSERT
#include <assert.h>
#define GAP_EXACT_ASSERT(x) assert(x)
#endif
#if defined(__FAST_MATH__) && !defined(GAP_EXACT_NO_FILTER)
#define GAP_EXACT_NO_FILTER /* reassociated sums have no error bound */
#endif

/* ---- integers: sign and magnitude in base 2^32, lowest digit first, no leading zero digit ----
   A coordinate over the smallest power of two has at most 2045 + 53 bits, a difference 2099 bits or
   66 digits, a product of three 3 * 66 + 3 digits, of six (squared distances) twice that. */
#define GAP_EXACT__DIGITS 406
typedef struct gap_exact__int {
    int n, neg;
    uint32_t d[GAP_EXACT__DIGITS];
} gap_exact__int;

static inline void gap_exact__trim(gap_exact__int *a)
{
    while (a->n > 0 && a->d[a->n - 1] == 0) --a->n;
    if (a->n == 0) a->neg = 0;
}

static inline int gap_exact__compare(const gap_exact__int *a, const gap_exact__int *b)
{
    int i;
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    for (i = a->n - 1; i >= 0; --i)
        if (a->d[i] != b->d[i]) return a->d[i] < b->d[i] ? -1 : 1;
    return 0;
}

/* c = |a| + |b| */
static inline void gap_exact__add_abs(const gap_exact__int *a, const gap_exact__int *b,
    gap_exact__int *c)
{
    const gap_exact__int *big = a->n >= b->n ? a : b, *small = a->n >= b->n ? b : a;
    int i, n = big->n, m = small->n;
    uint64_t t = 0;
    for (i = 0; i < n; ++i) {
        t += (uint64_t)big->d[i] + (i < m ? small->d[i] : 0u);
        c->d[i] = (uint32_t)t;
        t >>= 32;
    }
    c->n = n;
    if (t) c->d[c->n++] = (uint32_t)t;
}

/* c = |a| - |b|, |a| >= |b| */
static inline void gap_exact__sub_abs(const gap_exact__int *a, const gap_exact__int *b,
    gap_exact__int *c)
{
    int i, n = a->n, m = b->n;
    uint64_t borrow = 0, t;
    for (i = 0; i < n; ++i) {
        t = (uint64_t)a->d[i] - (i < m ? b->d[i] : 0u) - borrow;
        c->d[i] = (uint32_t)t;
        borrow = t >> 63;
    }
    c->n = n;
}

/* c = a - b; c may be a or b */
static inline void gap_exact__sub(const gap_exact__int *a, const gap_exact__int *b,
    gap_exact__int *c)
{
    int neg = a->neg;
    if (a->neg != b->neg || b->n == 0) {
        if (a->n == 0) neg = !b->neg;
        gap_exact__add_abs(a, b, c);
    } else if (gap_exact__compare(a, b) >= 0) {
        gap_exact__sub_abs(a, b, c);
    } else {
        neg = !neg;
        gap_exact__sub_abs(b, a, c);
    }
    c->neg = neg;
    gap_exact__trim(c);
}

/* c = a * b, c another number */
static inline void gap_exact__mul(const gap_exact__int *a, const gap_exact__int *b,
    gap_exact__int *c)
{
    int i, j;
    uint64_t t;
    c->n = a->n && b->n ? a->n + b->n : 0;
    c->neg = a->neg ^ b->neg;
    GAP_EXACT_ASSERT(c->n <= GAP_EXACT__DIGITS);
    for (i = 0; i < c->n; ++i) c->d[i] = 0;
    if (c->n == 0) {
        c->neg = 0;
        return;
    }
    for (i = 0; i < a->n; ++i) {
        t = 0;
        for (j = 0; j < b->n; ++j) {
            t += (uint64_t)a->d[i] * b->d[j] + c->d[i + j];
            c->d[i + j] = (uint32_t)t;
            t >>= 32;
        }
        c->d[i + j] = (uint32_t)t;
    }
    gap_exact__trim(c);
}

static inline int gap_exact__sign(const gap_exact__int *a)
{
    return a->n == 0 ? 0 : a->neg ? -1 : 1;
}

/* v = (-1)^neg * m * 2^e, read from the bits: no floating point, so no mode can change it. */
static inline uint64_t gap_exact__parts(double v, int *e, int *neg)
{
    uint64_t u, m;
    int f;
    memcpy(&u, &v, sizeof u);
    f = (int)(u >> 52 & 0x7ff);
    m = u & (((uint64_t)1 << 52) - 1);
    *neg = (int)(u >> 63);
    *e = f ? f - 1075 : -1074;
    return f ? m | (uint64_t)1 << 52 : m;
}

static inline int gap_exact__finite(const double *v, int n)
{
    uint64_t u;
    int i;
    for (i = 0; i < n; ++i) {
        memcpy(&u, v + i, sizeof u);
        if ((u >> 52 & 0x7ff) == 0x7ff) return 0;
    }
    return 1;
}

/* c = m * 2^s */
static inline void gap_exact__shift(uint64_t m, int s, gap_exact__int *c)
{
    int i, w = s / 32, r = s % 32;
    for (i = 0; i < w; ++i) c->d[i] = 0;
    c->d[w] = (uint32_t)(m << r);
    c->d[w + 1] = (uint32_t)((m >> (32 - r)));
    c->d[w + 2] = (uint32_t)((m >> 32) >> (32 - r));
    c->n = w + 3;
    gap_exact__trim(c);
}

/* c = (a - b) / 2^e, e at most the exponent of a and of b (unless zero) */
static inline void gap_exact__diff(double a, double b, int e, gap_exact__int *c)
{
    gap_exact__int s, t;
    int ea, eb, na, nb;
    uint64_t ma = gap_exact__parts(a, &ea, &na), mb = gap_exact__parts(b, &eb, &nb);
    int64_t k;
    ea = ma ? ea - e : 0;
    eb = mb ? eb - e : 0;
    if (ea <= 8 && eb <= 8) { /* |k| <= 2 * 2^(53 + 8) */
        k = (na ? -(int64_t)(ma << ea) : (int64_t)(ma << ea)) -
            (nb ? -(int64_t)(mb << eb) : (int64_t)(mb << eb));
        c->neg = k < 0;
        ma = k < 0 ? (uint64_t)-k : (uint64_t)k;
        c->d[0] = (uint32_t)ma;
        c->d[1] = (uint32_t)(ma >> 32);
        c->n = 2;
        gap_exact__trim(c);
        return;
    }
    gap_exact__shift(ma, ea, &s);
    gap_exact__shift(mb, eb, &t);
    s.neg = s.n ? na : 0;
    t.neg = t.n ? nb : 0;
    gap_exact__sub(&s, &t, c);
}

/* Row k-1 of out: coordinate i of p[k] - p[0], in units of the smallest exponent of that
   coordinate. A determinant's sign survives a positive factor per column. Returns 0 if all are 0,
   -1 if not finite. */
static inline int gap_exact__column(const double *const *p, int n, int i, gap_exact__int *out)
{
    int k, e, neg, low = INT_MAX, any = 0;
    for (k = 0; k < n; ++k) {
        if (!gap_exact__finite(p[k] + i, 1)) return -1;
        if (gap_exact__parts(p[k][i], &e, &neg) && e < low) low = e;
    }
    for (k = 1; k < n; ++k) {
        gap_exact__diff(p[k][i], p[0][i], low, out + k - 1);
        any |= out[k - 1].n;
    }
    return any != 0;
}

/* c = a*d - b*c' of the 2x2 determinant | a b ; c' d | */
static inline void gap_exact__det2(const gap_exact__int *a, const gap_exact__int *b,
    const gap_exact__int *cc, const gap_exact__int *d, gap_exact__int *out)
{
    gap_exact__int s, t;
    gap_exact__mul(a, d, &s);
    gap_exact__mul(b, cc, &t);
    gap_exact__sub(&s, &t, out);
}

static inline int gap_exact__orient2_integer(const double *a, const double *b, const double *c,
    int i, int j)
{
    const double *p[3];
    gap_exact__int x[2], y[2], det;
    p[0] = a; p[1] = b; p[2] = c;
    if (gap_exact__column(p, 3, i, x) <= 0 || gap_exact__column(p, 3, j, y) <= 0) return 0;
    gap_exact__det2(&x[0], &y[0], &x[1], &y[1], &det);
    return gap_exact__sign(&det);
}

/* det = sum_k x_k (y_k+1 z_k+2 - y_k+2 z_k+1) */
static inline int gap_exact__orient3_digits(const double *a, const double *b, const double *c,
    const double *d)
{
    const double *p[4];
    gap_exact__int x[3], y[3], z[3], det, minor, term;
    int k, sx, sy, sz;
    p[0] = a; p[1] = b; p[2] = c; p[3] = d;
    sx = gap_exact__column(p, 4, 0, x);
    sy = gap_exact__column(p, 4, 1, y);
    sz = gap_exact__column(p, 4, 2, z);
    if (sx <= 0 || sy <= 0 || sz <= 0) return 0;
    det.n = det.neg = 0;
    for (k = 0; k < 3; ++k) { /* the minor's sign is turned, so that the term is subtracted */
        int m = (k + 1) % 3, n = (k + 2) % 3;
        gap_exact__det2(&y[n], &z[n], &y[m], &z[m], &minor);
        gap_exact__mul(&x[k], &minor, &term);
        gap_exact__sub(&det, &term, &det);
    }
    return gap_exact__sign(&det);
}

/* Short cut: where all exponents of a column differ by at most 6, differences are at most 2^60,
   minors 2^121, and the determinant is H 2^64 + L with H and L below 2^126. 1 if it applied. */
#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 gap_exact__int128;
static inline int gap_exact__orient3_short(const double *const p[4], int *sign)
{
    gap_exact__int128 high = 0, low = 0, minor;
    int64_t v[3][4];
    uint64_t m;
    int i, k, e, neg, top, bottom;
    for (i = 0; i < 3; ++i) {
        int ex[4];
        top = INT_MIN;
        bottom = INT_MAX;
        for (k = 0; k < 4; ++k) {
            m = gap_exact__parts(p[k][i], &e, &neg);
            if (m && e > top) top = e;
            if (m && e < bottom) bottom = e;
            v[i][k] = neg ? -(int64_t)m : (int64_t)m;
            ex[k] = e;
        }
        if (bottom < INT_MAX && (top - bottom > 6 || top > 971)) return 0; /* 972: not finite */
        for (k = 0; k < 4; ++k)
            if (v[i][k]) v[i][k] *= (int64_t)1 << (ex[k] - bottom);
    }
    for (k = 1; k < 4; ++k) {
        int a = k % 3 + 1, b = a % 3 + 1;
        minor = (gap_exact__int128)(v[1][a] - v[1][0]) * (v[2][b] - v[2][0]) -
                (gap_exact__int128)(v[1][b] - v[1][0]) * (v[2][a] - v[2][0]);
        high += (v[0][k] - v[0][0]) * (gap_exact__int128)(int64_t)(minor >> 64);
        low += (v[0][k] - v[0][0]) * (gap_exact__int128)(uint64_t)minor;
    }
    high += low >> 64;
    *sign = high < 0 ? -1 : high > 0 || (uint64_t)low != 0;
    return 1;
}
#endif

static inline int gap_exact__orient3_integer(const double *a, const double *b, const double *c,
    const double *d)
{
#ifdef __SIZEOF_INT128__
    const double *p[4];
    int sign;
    p[0] = a; p[1] = b; p[2] = c; p[3] = d;
    if (gap_exact__orient3_short(p, &sign)) return sign;
#endif
    return gap_exact__orient3_digits(a, b, c, d);
}

/* ---- filter ----
   With u = 2^-53 (2^-52 in directed modes) a difference has relative error u, a term of the
   determinant at most 3 differences, 2 products and 5 sums: 10 u. Each of the terms is one of the
   products that make up S = (sum |x|)(sum |y|)(sum |z|), so |error| <= 20 u S < 2^-48 S, the
   rounding of S itself included; fused or wider operations only make it smaller. Flushed or
   denormal differences and products add at most 2^-1022 times two sums or one, less than 2^-400
   while each sum is below 2^300, and that is lost in 2^-48 S while S > 2^-300. */
#define GAP_EXACT__ERROR 3.552713678800501e-15  /* 2^-48 */
#define GAP_EXACT__LARGE 2.037035976334486e+90  /* 2^300 */
#define GAP_EXACT__SMALL 4.909093465297727e-91  /* 2^-300 */

static inline int gap_exact__orient2(const double *a, const double *b, const double *c, int i,
    int j)
{
#ifndef GAP_EXACT_NO_FILTER
    double x0 = b[i] - a[i], y0 = b[j] - a[j], x1 = c[i] - a[i], y1 = c[j] - a[j];
    double det = x0 * y1 - x1 * y0, sx = fabs(x0) + fabs(x1), sy = fabs(y0) + fabs(y1);
    double s = sx * sy;
    if (sx < GAP_EXACT__LARGE && sy < GAP_EXACT__LARGE && s > GAP_EXACT__SMALL) {
        if (det > GAP_EXACT__ERROR * s) return 1;
        if (det < -GAP_EXACT__ERROR * s) return -1;
    }
#endif
    return gap_exact__orient2_integer(a, b, c, i, j);
}

GAP_EXACT_API int gap_exact_orient2(const double a[2], const double b[2], const double c[2])
{
    return gap_exact__orient2(a, b, c, 0, 1);
}

GAP_EXACT_API int gap_exact_orient3(const double a[3], const double b[3], const double c[3],
    const double d[3])
{
#ifndef GAP_EXACT_NO_FILTER
    double bx = b[0] - a[0], by = b[1] - a[1], bz = b[2] - a[2];
    double cx = c[0] - a[0], cy = c[1] - a[1], cz = c[2] - a[2];
    double dx = d[0] - a[0], dy = d[1] - a[1], dz = d[2] - a[2];
    double det = bx * (cy * dz - cz * dy) + by * (cz * dx - cx * dz) + bz * (cx * dy - cy * dx);
    double sx = fabs(bx) + fabs(cx) + fabs(dx), sy = fabs(by) + fabs(cy) + fabs(dy);
    double sz = fabs(bz) + fabs(cz) + fabs(dz), s = sx * sy * sz;
    if (sx < GAP_EXACT__LARGE && sy < GAP_EXACT__LARGE && sz < GAP_EXACT__LARGE &&
        s > GAP_EXACT__SMALL) {
        if (det > GAP_EXACT__ERROR * s) return 1;
        if (det < -GAP_EXACT__ERROR * s) return -1;
    }
#endif
    return gap_exact__orient3_integer(a, b, c, d);
}

/* ---- on a line ---- */

/* Keeps the order of finite doubles; both zeros are 0. Integers: denormals are never flushed. */
static inline int64_t gap_exact__key(double v)
{
    uint64_t u, m;
    memcpy(&u, &v, sizeof u);
    m = u & (UINT64_MAX >> 1);
    return u >> 63 ? -(int64_t)m : (int64_t)m;
}

/* Lexicographic order of points, which on any line is the order along it. */
static inline int gap_exact__order(int dim, const double *a, const double *b)
{
    int i;
    for (i = 0; i < dim; ++i) {
        int64_t s = gap_exact__key(a[i]), t = gap_exact__key(b[i]);
        if (s != t) return s < t ? -1 : 1;
    }
    return 0;
}

/* Closed segments a0 a1 and b0 b1 of one line: TOUCH if max of the starts <= min of the ends. */
static inline int gap_exact__overlap(int dim, const double *a0, const double *a1, const double *b0,
    const double *b1)
{
    const double *t;
    if (gap_exact__order(dim, a0, a1) > 0) { t = a0; a0 = a1; a1 = t; }
    if (gap_exact__order(dim, b0, b1) > 0) { t = b0; b0 = b1; b1 = t; }
    return gap_exact__order(dim, a0, b1) <= 0 && gap_exact__order(dim, b0, a1) <= 0;
}

/* ---- in a plane, coordinates i and j of each point; dim: number of coordinates of a point ---- */

/* Closed segments that are not on one line meet iff each has its ends not strictly on one side of
   the other's line; four zero signs mean one line (or two points). */
static inline int gap_exact__ee_plane(int dim, const double *a0, const double *a1, const double *b0,
    const double *b1, int i, int j)
{
    int p = gap_exact__orient2(a0, a1, b0, i, j), q = gap_exact__orient2(a0, a1, b1, i, j), r, s;
    if (p * q > 0) return GAP_EXACT_APART;
    r = gap_exact__orient2(b0, b1, a0, i, j);
    s = gap_exact__orient2(b0, b1, a1, i, j);
    if (r * s > 0) return GAP_EXACT_APART;
    if (!p && !q && !r && !s) return gap_exact__overlap(dim, a0, a1, b0, b1);
    return p * q < 0 && r * s < 0 ? GAP_EXACT_CROSS : GAP_EXACT_TOUCH;
}

/* CROSS: v strictly inside the triangle, whose area in this plane is not zero. */
static inline int gap_exact__vf_plane(const double *v, const double *f0, const double *f1,
    const double *f2, int i, int j)
{
    int p = gap_exact__orient2(f0, f1, v, i, j), q = gap_exact__orient2(f1, f2, v, i, j);
    int r = gap_exact__orient2(f2, f0, v, i, j);
    if (p * q < 0 || q * r < 0 || p * r < 0) return GAP_EXACT_APART;
    return p && q && r ? GAP_EXACT_CROSS : GAP_EXACT_TOUCH;
}

GAP_EXACT_API int gap_exact_vv2(const double a[2], const double b[2])
{
    if (!gap_exact__finite(a, 2) || !gap_exact__finite(b, 2)) return GAP_EXACT_ENONFIN;
    return gap_exact__order(2, a, b) == 0;
}

GAP_EXACT_API int gap_exact_ve2(const double v[2], const double e0[2], const double e1[2])
{
    return gap_exact_ee2(v, v, e0, e1);
}

GAP_EXACT_API int gap_exact_vf2(const double v[2], const double f0[2], const double f1[2],
    const double f2[2])
{
    if (!gap_exact__finite(v, 2) || !gap_exact__finite(f0, 2) || !gap_exact__finite(f1, 2) ||
        !gap_exact__finite(f2, 2)) return GAP_EXACT_ENONFIN;
    if (gap_exact__orient2(f0, f1, f2, 0, 1)) return gap_exact__vf_plane(v, f0, f1, f2, 0, 1);
    return gap_exact__ee_plane(2, v, v, f0, f1, 0, 1) ||
           gap_exact__ee_plane(2, v, v, f1, f2, 0, 1) ||
           gap_exact__ee_plane(2, v, v, f2, f0, 0, 1);
}

GAP_EXACT_API int gap_exact_ee2(const double a0[2], const double a1[2], const double b0[2],
    const double b1[2])
{
    if (!gap_exact__finite(a0, 2) || !gap_exact__finite(a1, 2) || !gap_exact__finite(b0, 2) ||
        !gap_exact__finite(b1, 2)) return GAP_EXACT_ENONFIN;
    return gap_exact__ee_plane(2, a0, a1, b0, b1, 0, 1);
}

/* ---- in space ---- */

/* The first of the planes yz, zx, xy onto which a, b, c project as a triangle: coordinates k+1 and
   k+2; -1 if the three are on one line. On their plane the projection loses nothing. */
static inline int gap_exact__projection(const double *a, const double *b, const double *c)
{
    int k;
    for (k = 0; k < 3; ++k)
        if (gap_exact__orient2(a, b, c, (k + 1) % 3, (k + 2) % 3)) return k;
    return -1;
}

static inline int gap_exact__ee3(const double *a0, const double *a1, const double *b0,
    const double *b1)
{
    int k;
    if (gap_exact_orient3(a0, a1, b0, b1)) return GAP_EXACT_APART;
    k = gap_exact__projection(a0, a1, b0);
    if (k < 0) k = gap_exact__projection(a0, a1, b1);
    if (k < 0) k = gap_exact__projection(b0, b1, a0); /* a0 = a1, or all on one line */
    if (k < 0) return gap_exact__overlap(3, a0, a1, b0, b1);
    return gap_exact__ee_plane(3, a0, a1, b0, b1, (k + 1) % 3, (k + 2) % 3) != GAP_EXACT_APART;
}

/* v in the plane of the triangle, which is no segment but for k < 0 */
static inline int gap_exact__vf_coplanar(const double *v, const double *const *f, int k)
{
    if (k < 0) return gap_exact__ee3(v, v, f[0], f[1]) || gap_exact__ee3(v, v, f[1], f[2]) ||
                      gap_exact__ee3(v, v, f[2], f[0]);
    return gap_exact__vf_plane(v, f[0], f[1], f[2], (k + 1) % 3, (k + 2) % 3) != GAP_EXACT_APART;
}

/* Edge and triangle in one plane, or a triangle that is a segment. */
static inline int gap_exact__ef_coplanar(const double *e0, const double *e1, const double *const *f)
{
    int i, k = gap_exact__projection(f[0], f[1], f[2]);
    const double *a, *b;
    if (k >= 0 && gap_exact__vf_coplanar(e0, f, k)) return GAP_EXACT_TOUCH;
    for (i = 0; i < 3; ++i) { /* otherwise the edge must meet the border */
        a = f[i];
        b = f[(i + 1) % 3];
        if (k < 0 ? gap_exact__ee3(e0, e1, a, b)
                  : gap_exact__ee_plane(3, e0, e1, a, b, (k + 1) % 3, (k + 2) % 3))
            return GAP_EXACT_TOUCH;
    }
    return GAP_EXACT_APART;
}

static inline int gap_exact__ef3(const double *e0, const double *e1, const double *const *f)
{
    int s = gap_exact_orient3(f[0], f[1], f[2], e0), t = gap_exact_orient3(f[0], f[1], f[2], e1);
    int i, side, neg = 0, pos = 0, zero = 0;
    if (s * t > 0) return GAP_EXACT_APART;
    if (!s && !t) return gap_exact__ef_coplanar(e0, e1, f);
    if (!s || !t)
        return gap_exact__vf_coplanar(s ? e1 : e0, f, gap_exact__projection(f[0], f[1], f[2]));
    for (i = 0; i < 3; ++i) {
        side = gap_exact_orient3(e0, e1, f[i], f[(i + 1) % 3]);
        pos |= side > 0;
        neg |= side < 0;
        zero |= side == 0;
    }
    if (pos && neg) return GAP_EXACT_APART;
    return zero ? GAP_EXACT_TOUCH : GAP_EXACT_CROSS;
}

static inline int gap_exact__max(int a, int b)
{
    return a > b ? a : b;
}

static inline int gap_exact__straddles(const int s[3])
{
    return (s[0] > 0 || s[1] > 0 || s[2] > 0) && (s[0] < 0 || s[1] < 0 || s[2] < 0);
}

static inline int gap_exact__one_side(const int s[3])
{
    return (s[0] > 0 && s[1] > 0 && s[2] > 0) || (s[0] < 0 && s[1] < 0 && s[2] < 0);
}

/* Turn the triangle so that p[0] is strictly on one side and the others are not: returns its
   side. Needs a triangle that straddles. */
static inline int gap_exact__apex(const double **p, const int s[3])
{
    const double *t;
    int i, a;
    for (i = 0; i < 2; ++i)
        if (s[i] && s[i] * s[(i + 1) % 3] <= 0 && s[i] * s[(i + 2) % 3] <= 0) break;
    for (a = 0; a < i; ++a) {
        t = p[0]; p[0] = p[1]; p[1] = p[2]; p[2] = t;
    }
    return s[i];
}

/* Triangles whose planes cut each other. On the common line a is the interval from its edge 01 to
   its edge 02, so is b. With both apexes on the positive side of the other's plane, the order of
   two such points is the sign of the volume of the two edges they lie on. */
static inline int gap_exact__ff_line(const double **a, const int *sa, const double **b,
    const int *sb)
{
    const double *t;
    int p, q;
    int side_a = gap_exact__apex(a, sa), side_b = gap_exact__apex(b, sb);
    if (side_a < 0) { t = b[1]; b[1] = b[2]; b[2] = t; }
    if (side_b < 0) { t = a[1]; a[1] = a[2]; a[2] = t; }
    p = gap_exact_orient3(a[0], a[1], b[0], b[1]);
    if (p > 0) return GAP_EXACT_APART;
    q = gap_exact_orient3(a[0], a[2], b[0], b[2]);
    if (q < 0) return GAP_EXACT_APART;
    return p && q ? GAP_EXACT_CROSS : GAP_EXACT_TOUCH;
}

static inline int gap_exact__ff3(const double *const *fa, const double *const *fb)
{
    const double *a[3], *b[3];
    int i, sa[3], sb[3], r = GAP_EXACT_APART;
    for (i = 0; i < 3; ++i) sa[i] = gap_exact_orient3(fb[0], fb[1], fb[2], fa[i]);
    if (gap_exact__one_side(sa)) return GAP_EXACT_APART;
    for (i = 0; i < 3; ++i) sb[i] = gap_exact_orient3(fa[0], fa[1], fa[2], fb[i]);
    if (gap_exact__one_side(sb)) return GAP_EXACT_APART;
    if (gap_exact__straddles(sa) && gap_exact__straddles(sb)) {
        for (i = 0; i < 3; ++i) {
            a[i] = fa[i];
            b[i] = fb[i];
        }
        return gap_exact__ff_line(a, sa, b, sb);
    }
    /* an extreme point of the common part lies on an edge of one and in the other */
    for (i = 0; i < 3 && r < GAP_EXACT_CROSS; ++i) {
        r = gap_exact__max(r, gap_exact__ef3(fa[i], fa[(i + 1) % 3], fb));
        r = gap_exact__max(r, gap_exact__ef3(fb[i], fb[(i + 1) % 3], fa));
    }
    return r;
}

/* Simplices of na and nb nodes, none in common. */
static inline int gap_exact__meet3(const double *const *a, int na, const double *const *b, int nb)
{
    if (na > nb) return gap_exact__meet3(b, nb, a, na);
    if (nb == 1) return gap_exact__order(3, a[0], b[0]) == 0;
    if (nb == 2) return gap_exact__ee3(a[0], a[na - 1], b[0], b[1]);
    if (na == 1)
        return gap_exact_orient3(b[0], b[1], b[2], a[0]) ? GAP_EXACT_APART :
            gap_exact__vf_coplanar(a[0], b, gap_exact__projection(b[0], b[1], b[2]));
    return na == 2 ? gap_exact__ef3(a[0], a[1], b) : gap_exact__ff3(a, b);
}

static inline int gap_exact__meet3_checked(const double *const *p, int na, int nb)
{
    int i;
    for (i = 0; i < na + nb; ++i)
        if (!gap_exact__finite(p[i], 3)) return GAP_EXACT_ENONFIN;
    return gap_exact__meet3(p, na, p + na, nb);
}

GAP_EXACT_API int gap_exact_vv(const double a[3], const double b[3])
{
    const double *p[2];
    p[0] = a; p[1] = b;
    return gap_exact__meet3_checked(p, 1, 1);
}

GAP_EXACT_API int gap_exact_ve(const double v[3], const double e0[3], const double e1[3])
{
    const double *p[3];
    p[0] = v; p[1] = e0; p[2] = e1;
    return gap_exact__meet3_checked(p, 1, 2);
}

GAP_EXACT_API int gap_exact_vf(const double v[3], const double f0[3], const double f1[3],
    const double f2[3])
{
    const double *p[4];
    p[0] = v; p[1] = f0; p[2] = f1; p[3] = f2;
    return gap_exact__meet3_checked(p, 1, 3);
}

GAP_EXACT_API int gap_exact_ee(const double a0[3], const double a1[3], const double b0[3],
    const double b1[3])
{
    const double *p[4];
    p[0] = a0; p[1] = a1; p[2] = b0; p[3] = b1;
    return gap_exact__meet3_checked(p, 2, 2);
}

GAP_EXACT_API int gap_exact_ef(const double e0[3], const double e1[3], const double f0[3],
    const double f1[3], const double f2[3])
{
    const double *p[5];
    p[0] = e0; p[1] = e1; p[2] = f0; p[3] = f1; p[4] = f2;
    return gap_exact__meet3_checked(p, 2, 3);
}

GAP_EXACT_API int gap_exact_ff(const double a0[3], const double a1[3], const double a2[3],
    const double b0[3], const double b1[3], const double b2[3])
{
    const double *p[6];
    p[0] = a0; p[1] = a1; p[2] = a2; p[3] = b0; p[4] = b1; p[5] = b2;
    return gap_exact__meet3_checked(p, 3, 3);
}

/* ---- distances ----
   The distance of two simplices is the least over pairs of faces whose nearest points are inside
   both, so each candidate is compared on its own: it counts if its feet are inside, and the least
   answer is the answer. All coordinates are integers in one unit. */
typedef struct gap_exact__vec {
    gap_exact__int c[3];
} gap_exact__vec;

static inline void gap_exact__vec_sub(const gap_exact__vec *a, const gap_exact__vec *b,
    gap_exact__vec *out)
{
    int k;
    for (k = 0; k < 3; ++k) gap_exact__sub(&a->c[k], &b->c[k], &out->c[k]);
}

static inline void gap_exact__dot(const gap_exact__vec *a, const gap_exact__vec *b,
    gap_exact__int *out)
{
    gap_exact__int t;
    int k;
    out->n = out->neg = 0;
    for (k = 0; k < 3; ++k) { /* out - (-t) */
        gap_exact__mul(&a->c[k], &b->c[k], &t);
        t.neg = !t.neg;
        gap_exact__sub(out, &t, out);
    }
}

static inline void gap_exact__cross(const gap_exact__vec *a, const gap_exact__vec *b,
    gap_exact__vec *out)
{
    int k;
    for (k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        gap_exact__det2(&a->c[i], &a->c[j], &b->c[i], &b->c[j], &out->c[k]);
    }
}

/* sign of s^2 - d^2 q, a squared length s^2 / q compared with d^2 */
static inline int gap_exact__against(const gap_exact__int *s, const gap_exact__int *q,
    const gap_exact__int *d)
{
    gap_exact__int a, b, c;
    gap_exact__mul(s, s, &a);
    gap_exact__mul(d, d, &b);
    gap_exact__mul(&b, q, &c);
    gap_exact__sub(&a, &c, &a);
    return gap_exact__sign(&a);
}

/* 0 <= s <= q */
static inline int gap_exact__within(const gap_exact__int *s, const gap_exact__int *q)
{
    return !s->neg && gap_exact__compare(s, q) <= 0;
}

static inline int gap_exact__min(int a, int b)
{
    return a < b ? a : b;
}

/* w: from one point to the other */
static inline int gap_exact__near_vv(const gap_exact__vec *w, const gap_exact__int *d)
{
    gap_exact__int a, b;
    gap_exact__dot(w, w, &a);
    gap_exact__mul(d, d, &b);
    gap_exact__sub(&a, &b, &a);
    return gap_exact__sign(&a);
}

/* Foot inside: |w|^2 |e|^2 - (w.e)^2 against d^2 |e|^2; w = v - e0, e = e1 - e0. */
static inline int gap_exact__near_ve(const gap_exact__vec *v, const gap_exact__vec *e0,
    const gap_exact__vec *e1, const gap_exact__int *d)
{
    gap_exact__vec w, e, z;
    gap_exact__int we, ee, ww, a, b;
    int r;
    gap_exact__vec_sub(v, e0, &w);
    gap_exact__vec_sub(v, e1, &z);
    gap_exact__vec_sub(e1, e0, &e);
    r = gap_exact__min(gap_exact__near_vv(&w, d), gap_exact__near_vv(&z, d));
    gap_exact__dot(&w, &e, &we);
    gap_exact__dot(&e, &e, &ee);
    if (ee.n == 0 || !gap_exact__within(&we, &ee)) return r;
    gap_exact__dot(&w, &w, &ww);
    gap_exact__mul(d, d, &a);
    gap_exact__sub(&ww, &a, &ww);
    gap_exact__mul(&ww, &ee, &a);
    gap_exact__mul(&we, &we, &b);
    gap_exact__sub(&a, &b, &a);
    return gap_exact__min(r, gap_exact__sign(&a));
}

/* Foot inside: n . (e_i x w_i) >= 0 for the three edges; (n.w)^2 against d^2 n.n */
static inline int gap_exact__near_vf(const gap_exact__vec *p, const gap_exact__int *d)
{
    gap_exact__vec n, w, e, c;
    gap_exact__int s, q;
    int i, r = 1, inside = 1;
    gap_exact__vec_sub(&p[2], &p[1], &e);
    gap_exact__vec_sub(&p[3], &p[1], &w);
    gap_exact__cross(&e, &w, &n);
    for (i = 0; i < 3; ++i) {
        const gap_exact__vec *a = &p[1 + i], *b = &p[1 + (i + 1) % 3];
        r = gap_exact__min(r, gap_exact__near_ve(&p[0], a, b, d));
        gap_exact__vec_sub(b, a, &e);
        gap_exact__vec_sub(&p[0], a, &w);
        gap_exact__cross(&e, &w, &c);
        gap_exact__dot(&c, &n, &s);
        inside &= !s.neg;
    }
    gap_exact__dot(&n, &n, &q);
    if (!inside || q.n == 0) return r;
    gap_exact__dot(&n, &w, &s);
    return gap_exact__min(r, gap_exact__against(&s, &q, d));
}

/* Lines a0 + s a, b0 + t b with n = a x b, w = b0 - a0: s n.n = (w x b).n, t n.n = (w x a).n. */
static inline int gap_exact__near_ee(const gap_exact__vec *p, const gap_exact__int *d)
{
    gap_exact__vec a, b, n, w, c;
    gap_exact__int s, t, q;
    int r = gap_exact__near_ve(&p[0], &p[2], &p[3], d);
    r = gap_exact__min(r, gap_exact__near_ve(&p[1], &p[2], &p[3], d));
    r = gap_exact__min(r, gap_exact__near_ve(&p[2], &p[0], &p[1], d));
    r = gap_exact__min(r, gap_exact__near_ve(&p[3], &p[0], &p[1], d));
    gap_exact__vec_sub(&p[1], &p[0], &a);
    gap_exact__vec_sub(&p[3], &p[2], &b);
    gap_exact__vec_sub(&p[2], &p[0], &w);
    gap_exact__cross(&a, &b, &n);
    gap_exact__dot(&n, &n, &q);
    if (q.n == 0) return r;
    gap_exact__cross(&w, &b, &c);
    gap_exact__dot(&c, &n, &s);
    gap_exact__cross(&w, &a, &c);
    gap_exact__dot(&c, &n, &t);
    if (!gap_exact__within(&s, &q) || !gap_exact__within(&t, &q)) return r;
    gap_exact__dot(&n, &w, &s);
    return gap_exact__min(r, gap_exact__against(&s, &q, d));
}

/* Signed: (v - o).n against d |n|; squares only where both sides have one sign. The normal's unit
   is its own (a factor on both sides), unlike that of the lengths. */
static inline int gap_exact__near_vp(const gap_exact__vec *p, const gap_exact__int *d)
{
    gap_exact__vec w;
    gap_exact__int s, q;
    gap_exact__vec_sub(&p[0], &p[1], &w);
    gap_exact__dot(&w, &p[2], &s);
    gap_exact__dot(&p[2], &p[2], &q);
    if (gap_exact__sign(&s) != gap_exact__sign(d) || q.n == 0)
        return gap_exact__sign(&s) < gap_exact__sign(d) ? -1 :
               gap_exact__sign(&s) > gap_exact__sign(d);
    return gap_exact__sign(&s) < 0 ? -gap_exact__against(&s, &q, d)
                                   : gap_exact__against(&s, &q, d);
}

/* smallest exponent of n numbers that are not 0 */
static inline int gap_exact__low(const double *v, int n, int low)
{
    int i, e, neg;
    for (i = 0; i < n; ++i)
        if (gap_exact__parts(v[i], &e, &neg) && e < low) low = e;
    return low;
}

GAP_EXACT_API int gap_exact_compare_distance(int dim, int kind, const double *p, double d)
{
    gap_exact__vec x[4];
    gap_exact__int length;
    int i, k, n = kind == 0 ? 2 : kind == 1 || kind == 4 ? 3 : 4, low;
    GAP_EXACT_ASSERT(kind >= 0 && kind <= 4 && (dim == 3 || (dim == 2 && n < 4)));
    if (!gap_exact__finite(p, n * dim) || !gap_exact__finite(&d, 1)) return -1;
    if (kind != 4 && gap_exact__key(d) < 0) return 1;
    low = gap_exact__low(&d, 1, gap_exact__low(p, (kind == 4 ? 2 : n) * dim, INT_MAX));
    gap_exact__diff(d, 0.0, low, &length);
    for (i = 0; i < n; ++i) {
        if (kind == 4 && i == 2) low = gap_exact__low(p + 2 * dim, dim, INT_MAX);
        for (k = 0; k < 3; ++k)
            gap_exact__diff(k < dim ? p[i * dim + k] : 0.0, 0.0, low, &x[i].c[k]);
    }
    if (kind == 0) {
        gap_exact__vec_sub(&x[0], &x[1], &x[0]);
        return gap_exact__near_vv(&x[0], &length);
    }
    if (kind == 1) return gap_exact__near_ve(&x[0], &x[1], &x[2], &length);
    if (kind == 2) return gap_exact__near_vf(x, &length);
    return kind == 3 ? gap_exact__near_ee(x, &length) : gap_exact__near_vp(x, &length);
}

GAP_EXACT_API int gap_exact_inverted(int dim, const double *x, const int *elem, int begin, int end,
    int capacity, int *bad)
{
    int i, n = 0, sign;
    GAP_EXACT_ASSERT((dim == 2 || dim == 3) && begin <= end && (bad || capacity <= 0));
    for (i = begin; i < end; ++i) {
        const int *e = elem + (size_t)i * (size_t)(dim + 1);
        const double *p[4];
        int k;
        for (k = 0; k <= dim; ++k) p[k] = x + (size_t)dim * (size_t)e[k];
        sign = dim == 2 ? gap_exact_orient2(p[0], p[1], p[2])
                        : gap_exact_orient3(p[0], p[1], p[2], p[3]);
        if (sign > 0) continue;
        if (n < capacity) bad[n] = i;
        ++n;
    }
    return n;
}

/* ---- meshes ---- */

#define GAP_EXACT__LEVELS 17 /* 4^16 > INT_MAX elements */
#define GAP_EXACT__GRAIN 256

typedef struct gap_exact__job {
    const gap_exact_mesh *m;
    int n, levels;
    size_t level[GAP_EXACT__LEVELS]; /* first box of each level; level 0: as in order[] */
    double *box;    /* 2 * dim each: least, greatest */
    size_t *first;  /* n + 1: pairs found by the elements before */
    int *order, *spare;
    uint32_t *code;
    double low[3], size;
    size_t capacity;
    int *pair, *how;
} gap_exact__job;

/* nodes of an element; returns how many */
static inline int gap_exact__element(const gap_exact_mesh *m, int e, int node[3])
{
    int k, n = e < m->tris ? 3 : e - m->tris < m->edges ? 2 : 1;
    const int *p = n == 3 ? m->tri + 3 * (size_t)e : n == 2 ? m->edge + 2 * (size_t)(e - m->tris)
                                                            : m->point + (e - m->tris - m->edges);
    for (k = 0; k < n; ++k) node[k] = p[k];
    return n;
}

/* max over the faces of a and b that share no node: a face either lacks the common node in a or in
   b, so drop it there and there. */
static inline int gap_exact__meet_nodes(const gap_exact_mesh *m, const int *a, int na, const int *b,
    int nb)
{
    const double *p[3], *q[3];
    int i, j, k, rest[3] = {0, 0, 0}, r;
    if (!na || !nb) return GAP_EXACT_APART;
    for (i = 0; i < na; ++i)
        for (j = 0; j < nb; ++j) {
            if (a[i] != b[j]) continue;
            for (k = 0; k < na - 1; ++k) rest[k] = a[k + (k >= i)];
            r = gap_exact__meet_nodes(m, rest, na - 1, b, nb);
            if (r == GAP_EXACT_CROSS) return r;
            for (k = 0; k < nb - 1; ++k) rest[k] = b[k + (k >= j)];
            return gap_exact__max(r, gap_exact__meet_nodes(m, a, na, rest, nb - 1));
        }
    for (i = 0; i < na; ++i) p[i] = m->x + (size_t)m->dim * (size_t)a[i];
    for (i = 0; i < nb; ++i) q[i] = m->x + (size_t)m->dim * (size_t)b[i];
    if (m->dim == 3) return gap_exact__meet3(p, na, q, nb);
    return gap_exact__ee_plane(2, p[0], p[na - 1], q[0], q[nb - 1], 0, 1);
}

/* Two triangles with common nodes. Mostly the others of a lie strictly on one side of b: apart. If
   the triangles meet beyond one common node, and each has its other two nodes strictly on both
   sides of the other, they have a segment in common that no small move removes. */
static inline int gap_exact__meet_neighbours(const gap_exact_mesh *m, const int a[3],
    const int b[3], int shared)
{
    const double *p[3], *q[3];
    int i, s[3], t[3], pos = 0, neg = 0, r;
    for (i = 0; i < 3; ++i) {
        p[i] = m->x + 3 * (size_t)a[i];
        q[i] = m->x + 3 * (size_t)b[i];
    }
    for (i = 0; i < 3; ++i) {
        int common = a[i] == b[0] || a[i] == b[1] || a[i] == b[2];
        s[i] = common ? 0 : gap_exact_orient3(q[0], q[1], q[2], p[i]);
        pos += s[i] > 0;
        neg += s[i] < 0;
    }
    if (pos == 3 - shared || neg == 3 - shared) return GAP_EXACT_APART;
    r = gap_exact__meet_nodes(m, a, 3, b, 3);
    if (r != GAP_EXACT_TOUCH || shared != 1) return r;
    for (i = 0; i < 3; ++i) t[i] = gap_exact_orient3(p[0], p[1], p[2], q[i]);
    return gap_exact__straddles(s) && gap_exact__straddles(t) ? GAP_EXACT_CROSS : r;
}

static inline int gap_exact__meet_elements(const gap_exact_mesh *m, int ea, int eb)
{
    int a[3], b[3], i, j, shared = 0;
    int na = gap_exact__element(m, ea, a), nb = gap_exact__element(m, eb, b);
    if (m->group && m->group[a[0]] < 0 && m->group[a[0]] == m->group[b[0]]) return GAP_EXACT_APART;
    if (na == 3 && nb == 3) {
        for (i = 0; i < 3; ++i)
            for (j = 0; j < 3; ++j) shared += a[i] == b[j];
        if (shared == 3) return GAP_EXACT_APART;
        if (shared) return gap_exact__meet_neighbours(m, a, b, shared);
    }
    return gap_exact__meet_nodes(m, a, na, b, nb);
}

static inline int gap_exact__boxes_overlap(int dim, const double *a, const double *b)
{
    int k;
    for (k = 0; k < dim; ++k)
        if (a[k] > b[dim + k] || b[k] > a[dim + k]) return 0;
    return 1;
}

static inline void gap_exact__element_box(const gap_exact_mesh *m, int e, double *box)
{
    int i, k, node[3], n = gap_exact__element(m, e, node), dim = m->dim;
    for (i = 0; i < n; ++i)
        for (k = 0; k < dim; ++k) {
            double v = m->x[(size_t)dim * (size_t)node[i] + (size_t)k];
            if (i == 0 || v < box[k]) box[k] = v;
            if (i == 0 || v > box[dim + k]) box[dim + k] = v;
        }
}

/* Interleaved high bits of the middle of each box: only the speed depends on it, so its rounding is
   of no concern; 10 bits per axis, halves keep sums below overflow. */
static inline void gap_exact__code_range(void *ctx, int begin, int end, int worker)
{
    gap_exact__job *w = (gap_exact__job *)ctx;
    int i, k, bit, dim = w->m->dim;
    double box[6];
    (void)worker;
    for (i = begin; i < end; ++i) {
        uint32_t code = 0;
        gap_exact__element_box(w->m, i, box);
        for (k = 0; k < dim; ++k) {
            double t = (0.5 * box[k] + 0.5 * box[dim + k] - w->low[k]) / w->size * 0.5;
            uint32_t q = t > 0.0 ? t < 1.0 ? (uint32_t)(t * 1024.0) : 1023u : 0u;
            for (bit = 0; bit < 10; ++bit) code |= (q >> bit & 1u) << (dim * bit + k);
        }
        w->code[i] = code;
    }
}

static inline void gap_exact__leaf_range(void *ctx, int begin, int end, int worker)
{
    gap_exact__job *w = (gap_exact__job *)ctx;
    int i;
    (void)worker;
    for (i = begin; i < end; ++i)
        gap_exact__element_box(w->m, w->order[i], w->box + 2 * (size_t)w->m->dim * (size_t)i);
}

/* order[] := elements by code, ties by number: three passes of eleven bits, each stable */
static inline void gap_exact__sort(gap_exact__job *w)
{
    size_t count[2049];
    int pass, i, *t;
    for (i = 0; i < w->n; ++i) w->order[i] = i;
    for (pass = 0; pass < 3; ++pass) {
        memset(count, 0, sizeof count);
        for (i = 0; i < w->n; ++i) ++count[(w->code[i] >> (11 * pass) & 2047u) + 1];
        for (i = 0; i < 2048; ++i) count[i + 1] += count[i];
        for (i = 0; i < w->n; ++i)
            w->spare[count[w->code[w->order[i]] >> (11 * pass) & 2047u]++] = w->order[i];
        t = w->order; w->order = w->spare; w->spare = t;
    }
}

static inline size_t gap_exact__level_size(int n, int level)
{
    return (((size_t)n - 1) >> (2 * level)) + 1;
}

static inline void gap_exact__build(gap_exact__job *w)
{
    int l, k, dim = w->m->dim;
    size_t i, s = 2 * (size_t)dim;
    for (l = 1; l < w->levels; ++l) {
        size_t below = gap_exact__level_size(w->n, l - 1);
        for (i = 0; i < below; ++i) {
            const double *b = w->box + s * (w->level[l - 1] + i);
            double *a = w->box + s * (w->level[l] + i / 4);
            for (k = 0; k < dim; ++k) {
                if (i % 4 == 0 || b[k] < a[k]) a[k] = b[k];
                if (i % 4 == 0 || b[dim + k] > a[dim + k]) a[dim + k] = b[dim + k];
            }
        }
    }
}

/* Pairs of element order[i] with those after it in the order, written from slot `at` on while there
   is room; returns their number. */
static inline size_t gap_exact__query(const gap_exact__job *w, int i, size_t at, int write)
{
    int todo_level[4 * GAP_EXACT__LEVELS], n = 0, l, k, r, e = w->order[i], o;
    size_t todo[4 * GAP_EXACT__LEVELS], s = 2 * (size_t)w->m->dim, found = 0, b, child, last;
    const double *mine = w->box + s * (size_t)i;
    todo[n] = 0;
    todo_level[n++] = w->levels - 1;
    while (n > 0) {
        l = todo_level[--n];
        b = todo[n];
        if (!gap_exact__boxes_overlap(w->m->dim, mine, w->box + s * (w->level[l] + b))) continue;
        if (l > 0) {
            last = gap_exact__level_size(w->n, l - 1) - 1;
            for (k = 0; k < 4; ++k) {
                child = 4 * b + (size_t)k;
                if (child > last || ((child + 1) << (2 * (l - 1))) <= (size_t)i + 1) continue;
                todo[n] = child;
                todo_level[n++] = l - 1;
            }
            continue;
        }
        o = w->order[b];
        r = o < e ? gap_exact__meet_elements(w->m, o, e) : gap_exact__meet_elements(w->m, e, o);
        if (r == GAP_EXACT_APART) continue;
        if (write && at + found < w->capacity) {
            w->pair[2 * (at + found)] = o < e ? o : e;
            w->pair[2 * (at + found) + 1] = o < e ? e : o;
            w->how[at + found] = r;
        }
        ++found;
    }
    return found;
}

static inline void gap_exact__count_range(void *ctx, int begin, int end, int worker)
{
    gap_exact__job *w = (gap_exact__job *)ctx;
    int i;
    (void)worker;
    for (i = begin; i < end; ++i) w->first[i + 1] = gap_exact__query(w, i, 0, 0);
}

static inline void gap_exact__write_range(void *ctx, int begin, int end, int worker)
{
    gap_exact__job *w = (gap_exact__job *)ctx;
    int i;
    (void)worker;
    for (i = begin; i < end; ++i)
        if (w->first[i] < w->first[i + 1] && w->first[i] < w->capacity)
            gap_exact__query(w, i, w->first[i], 1);
}

static inline void gap_exact__run(const gap_exact_options *opt, int count, gap_exact_range fn,
    void *ctx)
{
    int b;
    if (opt && opt->parallel_for) {
        opt->parallel_for(opt->parallel_user, count, GAP_EXACT__GRAIN, fn, ctx);
        return;
    }
    for (b = 0; b < count; b += GAP_EXACT__GRAIN)
        fn(ctx, b, count - b < GAP_EXACT__GRAIN ? count : b + GAP_EXACT__GRAIN, 0);
}

static inline int gap_exact__pair_less(const gap_exact__job *w, size_t i, size_t j)
{
    const int *a = w->pair + 2 * i, *b = w->pair + 2 * j;
    return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1];
}

static inline void gap_exact__swap_pairs(const gap_exact__job *w, size_t i, size_t j)
{
    int k, t;
    for (k = 0; k < 2; ++k) {
        t = w->pair[2 * i + (size_t)k];
        w->pair[2 * i + (size_t)k] = w->pair[2 * j + (size_t)k];
        w->pair[2 * j + (size_t)k] = t;
    }
    t = w->how[i]; w->how[i] = w->how[j]; w->how[j] = t;
}

/* heap sort of the pairs written: no two are equal, so the order is unique */
static inline void gap_exact__sort_pairs(const gap_exact__job *w, size_t n)
{
    size_t i, start = n / 2, end = n, child;
    while (end > 1) {
        if (start > 0) --start;
        else gap_exact__swap_pairs(w, 0, --end);
        for (i = start; (child = 2 * i + 1) < end; i = child) {
            if (child + 1 < end && gap_exact__pair_less(w, child, child + 1)) ++child;
            if (!gap_exact__pair_less(w, i, child)) break;
            gap_exact__swap_pairs(w, i, child);
        }
    }
}

static inline int gap_exact__check(const gap_exact_mesh *m)
{
    int i, k, e, n, node[3];
    if ((m->dim != 2 && m->dim != 3) || (m->dim == 2 && m->tris > 0)) return GAP_EXACT_EINPUT;
    if (m->tris > INT_MAX - 1 - m->edges || m->tris + m->edges > INT_MAX - 1 - m->points)
        return GAP_EXACT_ESIZE;
    n = m->tris + m->edges + m->points;
    for (e = 0; e < n; ++e) {
        k = gap_exact__element(m, e, node);
        for (i = 0; i < k; ++i) {
            if (node[i] < 0 || node[i] >= m->nodes) return GAP_EXACT_EINDEX;
            if (!gap_exact__finite(m->x + (size_t)m->dim * (size_t)node[i], m->dim))
                return GAP_EXACT_ENONFIN;
        }
    }
    return 0;
}

/* Divides the work memory; with work NULL it only counts. Largest alignment first. */
static inline size_t gap_exact__layout(const gap_exact_mesh *m, gap_exact__job *w, void *work)
{
    char *p = (char *)work;
    size_t n, boxes = 0, bytes, at = 0;
    w->m = m;
    w->n = m->tris + m->edges + m->points;
    n = (size_t)w->n;
    for (w->levels = 0; w->n > 0; ) {
        w->level[w->levels] = boxes;
        boxes += gap_exact__level_size(w->n, w->levels);
        if (gap_exact__level_size(w->n, w->levels++) == 1) break;
    }
    bytes = boxes * 2 * (size_t)m->dim * sizeof(double);
    if (p) w->box = (double *)(void *)p;
    at += bytes;
    if (p) w->first = (size_t *)(void *)(p + at);
    at += (n + 1) * sizeof(size_t);
    if (p) w->order = (int *)(void *)(p + at);
    at += n * sizeof(int);
    if (p) w->spare = (int *)(void *)(p + at);
    at += n * sizeof(int);
    if (p) w->code = (uint32_t *)(void *)(p + at);
    return at + n * sizeof(uint32_t);
}

GAP_EXACT_API size_t gap_exact_mesh_work(const gap_exact_mesh *mesh)
{
    gap_exact__job w;
    if (mesh->tris > INT_MAX - 1 - mesh->edges ||
        mesh->tris + mesh->edges > INT_MAX - 1 - mesh->points) return 0;
    return gap_exact__layout(mesh, &w, NULL);
}

/* least corner of all nodes used, and half the greatest extent */
static inline void gap_exact__bounds(gap_exact__job *w)
{
    double high[3], box[6];
    int e, k, dim = w->m->dim;
    w->size = 0.0;
    for (e = 0; e < w->n; ++e) {
        gap_exact__element_box(w->m, e, box);
        for (k = 0; k < dim; ++k) {
            if (e == 0 || box[k] < w->low[k]) w->low[k] = box[k];
            if (e == 0 || box[dim + k] > high[k]) high[k] = box[dim + k];
        }
    }
    for (k = 0; k < dim; ++k)
        if (0.5 * high[k] - 0.5 * w->low[k] > w->size) w->size = 0.5 * high[k] - 0.5 * w->low[k];
    if (!(w->size > 0.0)) w->size = 1.0;
}

GAP_EXACT_API size_t gap_exact_mesh_meets(const gap_exact_mesh *mesh, const gap_exact_options *opt,
    void *work, size_t capacity, int *pair, int *how, int *status)
{
    gap_exact__job w;
    int i, s;
    GAP_EXACT_ASSERT(mesh && mesh->tris >= 0 && mesh->edges >= 0 && mesh->points >= 0);
    GAP_EXACT_ASSERT(capacity == 0 || (pair && how));
    s = gap_exact__check(mesh);
    if (status) *status = s;
    if (s < 0) return 0;
    gap_exact__layout(mesh, &w, work);
    if (w.n == 0) return 0;
    w.capacity = capacity;
    w.pair = pair;
    w.how = how;
    gap_exact__bounds(&w);
    gap_exact__run(opt, w.n, gap_exact__code_range, &w);
    gap_exact__sort(&w);
    gap_exact__run(opt, w.n, gap_exact__leaf_range, &w);
    gap_exact__build(&w);
    gap_exact__run(opt, w.n, gap_exact__count_range, &w);
    w.first[0] = 0;
    for (i = 0; i < w.n; ++i) w.first[i + 1] += w.first[i];
    if (w.first[w.n] > 0 && capacity > 0) {
        gap_exact__run(opt, w.n, gap_exact__write_range, &w);
        gap_exact__sort_pairs(&w, w.first[w.n] < capacity ? w.first[w.n] : capacity);
    }
    return w.first[w.n];
}
#endif /* GAP_EXACT_IMPLEMENTATION */

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
