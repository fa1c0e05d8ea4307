/* gap_distance.h - v0.1.0 - squared distances, safe at parallel edges - MIT-0, see end
   Squared distance of vertex-vertex, vertex-edge, vertex-face, edge-edge and vertex-plane pairs:
   closest features, closest-point weights, value, gradient, Hessian. Copy this one file.
QUICK START
   #define GAP_DISTANCE_IMPLEMENTATION    // in exactly one .c or .cpp file
   #include "gap_distance.h"
   #include <stdio.h>
   int main(void)
   {
       double p[12] = {0.2, 0.3, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0}, w[4], d2, grad[12], hess[144];
       int type;
       gap_distance_pair(3, GAP_DISTANCE_VF, p, &type, w, &d2);
       printf("%g %g %g %g\n", d2, w[1], w[2], w[3]); // 4 -0.5 -0.2 -0.3
       gap_distance_derivatives(3, GAP_DISTANCE_VF, p, &d2, grad, hess);
       printf("%g %g\n", grad[2], hess[2 * 12 + 2]); // 4 2
       return 0;
   }
GUARANTEES
   Accurate  Let S be the largest length between two of the pair's points. For gaps above 1e-9 S the
             distance is within 1e-9 (relative) of the exact one on both sides, at any angle between
             edges or shape of triangle; below, within 1e-15 S. Shown by an oracle of 113 bits over
             sines 1e-16..1, gaps 1e-9..1, scales 2^-60..2^60; the argument is above the code.
   Scaled    coordinates times a power of two: the same type and weights, dist2 times its square,
             bit for bit (while nothing over- or underflows: lengths in 2^-120..2^120).
   Pure      no globals, no allocation, no I/O. Bits may differ between compilers and FMA settings.
   Not promised: that the type is unique where two features are equally near.
OPTIONS (define before the implementation)
   GAP_DISTANCE_STATIC     keep all functions private to this file
   GAP_DISTANCE_ASSERT(x)  replaces assert(x)
EDGE CASES
   zero-length edge or flat triangle: the point or segment that it is.  touching: dist2 0, grad 0.
   crossing edges in one plane: 0.  NaN or infinity: ENONFIN, every output 0 (NaN
   from the functions that return the distance).
   vp: the plane's normal must have length 1; the side on which the vertex lies is not looked at.
METHOD
   Closest points by the faces of the parameter domain that the unconstrained minimum violates: at
   most two edges are looked at. Signs come from products of cross products, which lose sine^-1
   where the usual determinant loses sine^-2. Differences that cancel are done again in
   double-double arithmetic; nearly parallel edges and flat triangles also take the minimum over all
   vertex-edge distances ("min4"). Hessians by one formula for all kinds (see implementation).
   Incremental Potential Contact (Li et al. 2020) has the set of distances and types.
NOT HERE   barrier energy of a mesh: gap_barrier.h. Time of impact: gap_accd.h, gap_ccd.h.
HISTORY    0.1.0 first release */
#ifndef GAP_DISTANCE_H
#define GAP_DISTANCE_H
#define GAP_DISTANCE_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_DISTANCE_STATIC
#define GAP_DISTANCE_API static inline
#else
#define GAP_DISTANCE_API extern
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_distance_status {
    GAP_DISTANCE_OK = 0,
    GAP_DISTANCE_ENONFIN = -1 /* input not finite; every output 0 */
} gap_distance_status;

/* Kinds of pairs and their points: vv a b; ve v e0 e1; vf v f0 f1 f2; ee a0 a1 b0 b1;
   vp v, a point of the plane, its unit normal. Dimension 2 has vv, ve and vp only. */
typedef enum gap_distance_kind {
    GAP_DISTANCE_VV = 0,
    GAP_DISTANCE_VE = 1,
    GAP_DISTANCE_VF = 2,
    GAP_DISTANCE_EE = 3,
    GAP_DISTANCE_VP = 4
} gap_distance_kind;

/* Squared distance in 3D; NaN if an input is not finite. Cost: 5 to 100 ns. */
GAP_DISTANCE_API double gap_distance_vv(const double a[3], const double b[3]);
GAP_DISTANCE_API double gap_distance_ve(const double v[3], const double e0[3], const double e1[3]);
GAP_DISTANCE_API double gap_distance_vf(const double v[3], const double f0[3],
    const double f1[3], const double f2[3]);
GAP_DISTANCE_API double gap_distance_ee(const double a0[3], const double a1[3],
    const double b0[3], const double b1[3]);
GAP_DISTANCE_API double gap_distance_vp(const double v[3], const double point[3],
    const double normal[3]);

/* Squared distance of one pair with its closest features and closest points.
   dim     2 or 3
   kind    gap_distance_kind
   p       the points in the order above, dim doubles each
   type    1 value, may be NULL: which features are closest
             ve  0 e0, 1 e1, 2 inside          vf  0..2 f0..f2, 3 f0f1, 4 f1f2, 5 f2f0, 6 inside
             ee  0 a0-b0, 1 a0-b1, 2 a0-b, 3 a1-b0, 4 a1-b1, 5 a1-b, 6 b0-a, 7 b1-a, 8 inside
             vv, vp  0
   weight  4 values, may be NULL: closest point of the first side minus that of the second is
           sum weight_i p_i; the first side sums to +1, the second to -1, unused are 0; vp 1 0 0 0
   dist2   1 value */
GAP_DISTANCE_API gap_distance_status gap_distance_pair(int dim, int kind, const double *p,
    int *type, double weight[4], double *dist2);

/* Kind of the closest features of a (kind, type) and the points that span them.
   local   4 values: positions in the pair's point list, first side then second, unused -1 */
GAP_DISTANCE_API int gap_distance_features(int kind, int type, int local[4]);

/* Squared distance of one pair, its gradient and its Hessian in the positions of the k points of
   the pair (2, 3, 4, 4; vp: 1, the vertex). One-sided where the type changes: the gradient is
   continuous there, the Hessian jumps.
   dist2   1 value
   grad    k*dim values, may be NULL
   hess    (k*dim)^2 values, row by row, may be NULL */
GAP_DISTANCE_API gap_distance_status gap_distance_derivatives(int dim, int kind, const double *p,
    double *dist2, double *grad, double *hess);

#ifdef __cplusplus
}
#endif
#endif /* GAP_DISTANCE_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_DISTANCE_STATIC)) && \
    !defined(GAP_DISTANCE_IMPLEMENTATION)
#define GAP_DISTANCE_IMPLEMENTATION
#endif
#if defined(GAP_DISTANCE_IMPLEMENTATION) && !defined(GAP_DISTANCE_IMPLEMENTED)
#define GAP_DISTANCE_IMPLEMENTED
#include <math.h>
#include <stddef.h>
#ifndef GAP_DISTANCE_ASSERT
#include <assert.h>
#define GAP_DISTANCE_ASSERT(x) assert(x)
#endif

/* [block v3 home] vectors of three doubles */
static inline double gap_distance__dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* c = a - b; c may be a or b */
static inline void gap_distance__sub3(const double a[3], const double b[3], double c[3])
{
    c[0] = a[0] - b[0]; c[1] = a[1] - b[1]; c[2] = a[2] - b[2];
}

/* c = a x b; c is neither */
static inline void gap_distance__cross3(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}
/* [end v3] */

/* [block dist home] squared distances, 3D, finite input; needs block v3 */
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
static inline void gap_distance__diff_dd(const double a[3], const double b[3], double d[2][3])
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
static inline void gap_distance__cross_dd(double a[2][3], double b[2][3], double c[2][3])
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
static inline double gap_distance__dot_dd(double a[2][3], double b[2][3])
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

static inline double gap_distance__vv2(const double a[3], const double b[3])
{
    double r[3];
    gap_distance__sub3(a, b, r);
    return gap_distance__dot3(r, r);
}

/* x = (p - e0) x (e1 - e0) to full relative accuracy; |x|^2 */
static inline double gap_distance__ve_cross(const double p[3], const double e0[3],
    const double e1[3], double x[3])
{
    double a[3], e[3], ad[2][3], ed[2][3], xd[2][3], xx;
    gap_distance__sub3(p, e0, a);
    gap_distance__sub3(e1, e0, e);
    gap_distance__cross3(a, e, x);
    xx = gap_distance__dot3(x, x);
    if (xx >= 1e-10 * gap_distance__dot3(a, a) * gap_distance__dot3(e, e)) return xx;
    gap_distance__diff_dd(p, e0, ad);
    gap_distance__diff_dd(e1, e0, ed);
    gap_distance__cross_dd(ad, ed, xd);
    x[0] = xd[0][0]; x[1] = xd[0][1]; x[2] = xd[0][2];
    return gap_distance__dot3(x, x);
}

static inline double gap_distance__ve2(const double p[3], const double e0[3], const double e1[3],
    int *type)
{
    double a[3], e[3], x[3], l, ae;
    gap_distance__sub3(p, e0, a);
    gap_distance__sub3(e1, e0, e);
    l = gap_distance__dot3(e, e);
    ae = gap_distance__dot3(a, e);
    *type = ae <= 0.0 ? 0 : ae >= l ? 1 : 2;
    if (*type == 0) return gap_distance__dot3(a, a);
    if (*type == 1) return gap_distance__vv2(p, e1);
    return gap_distance__ve_cross(p, e0, e1, x) / l;
}

/* Triple of a vf or ee pair from six points: t = q0 - q1, u = q2 - q3, v = q4 - q5, n = u x v.
   o = { n, t.n, (t x v).n, (u x t).n }: the last two are |n|^2 times the coordinates of t's foot in
   (u, v). Returns |n|^2; uv = |u|^2 |v|^2, tt = |t|^2. */
static inline double gap_distance__tuv(const double *const q[6], double o[6], double *uv,
    double *tt)
{
    double t[3], u[3], v[3], c[3];
    gap_distance__sub3(q[0], q[1], t);
    gap_distance__sub3(q[2], q[3], u);
    gap_distance__sub3(q[4], q[5], v);
    gap_distance__cross3(u, v, o);
    o[3] = gap_distance__dot3(t, o);
    gap_distance__cross3(t, v, c);
    o[4] = gap_distance__dot3(c, o);
    gap_distance__cross3(u, t, c);
    o[5] = gap_distance__dot3(c, o);
    *uv = gap_distance__dot3(u, u) * gap_distance__dot3(v, v);
    *tt = gap_distance__dot3(t, t);
    return gap_distance__dot3(o, o);
}

/* the same o in double-double */
static inline double gap_distance__tuv_dd(const double *const q[6], double o[6])
{
    double t[2][3], u[2][3], v[2][3], n[2][3], c[2][3];
    int i;
    gap_distance__diff_dd(q[0], q[1], t);
    gap_distance__diff_dd(q[2], q[3], u);
    gap_distance__diff_dd(q[4], q[5], v);
    gap_distance__cross_dd(u, v, n);
    for (i = 0; i < 3; ++i) o[i] = n[0][i];
    o[3] = gap_distance__dot_dd(t, n);
    gap_distance__cross_dd(t, v, c);
    o[4] = gap_distance__dot_dd(c, n);
    gap_distance__cross_dd(u, t, c);
    o[5] = gap_distance__dot_dd(c, n);
    return gap_distance__dot3(o, o);
}

/* One side of the domain: best = min(best, distance of p and e0 e1), type from its three codes. */
static inline void gap_distance__side(const double p[3], const double e0[3], const double e1[3],
    int code0, int code1, int code2, double *best, int *type)
{
    int k;
    double d = gap_distance__ve2(p, e0, e1, &k);
    if (*best >= 0.0 && d >= *best) return;
    *best = d;
    *type = k == 0 ? code0 : k == 1 ? code1 : code2;
}

static inline double gap_distance__vf2(const double p[3], const double f0[3], const double f1[3],
    const double f2[3], int *type)
{
    const double *q[6];
    double o[6], uv, tt, b0, m, best = -1.0; /* -1: none yet */
    int weak, inside;
    q[0] = p; q[1] = f0; q[2] = f1; q[3] = f0; q[4] = f2; q[5] = f0;
    m = gap_distance__tuv(q, o, &uv, &tt);
    weak = m < 1e-6 * uv;
    if (weak) m = gap_distance__tuv_dd(q, o);
    b0 = m - o[4] - o[5];
    inside = b0 > 0.0 && o[4] > 0.0 && o[5] > 0.0;
    if (inside && !weak) {
        if (o[3] * o[3] < 1e-10 * tt * uv) m = gap_distance__tuv_dd(q, o);
        *type = 6;
        return o[3] * o[3] / m;
    }
    *type = 0;
    if (weak || o[5] <= 0.0) gap_distance__side(p, f0, f1, 0, 1, 3, &best, type);
    if (weak || b0 <= 0.0) gap_distance__side(p, f1, f2, 1, 2, 4, &best, type);
    if (weak || o[4] <= 0.0) gap_distance__side(p, f2, f0, 2, 0, 5, &best, type);
    /* 1e-56: below a sine of 1e-28 the double-double normal may be rounding. 1e-12: ties go to the
       sides, whose derivatives are well conditioned. */
    if (inside && m > 1e-56 * uv && o[3] * o[3] < (1.0 - 1e-12) * best * m) {
        *type = 6;
        return o[3] * o[3] / m;
    }
    return best;
}

static inline double gap_distance__ee2(const double a0[3], const double a1[3], const double b0[3],
    const double b1[3], int *type)
{
    const double *q[6];
    double o[6], uv, tt, m, s, t, best = -1.0;
    int weak, inside;
    q[0] = a0; q[1] = b0; q[2] = a1; q[3] = a0; q[4] = b1; q[5] = b0;
    m = gap_distance__tuv(q, o, &uv, &tt);
    weak = m < 1e-6 * uv;
    if (weak) m = gap_distance__tuv_dd(q, o);
    s = -o[4]; /* |n|^2 times the parameter along a, then along b */
    t = o[5];
    inside = s > 0.0 && s < m && t > 0.0 && t < m;
    if (inside && !weak) {
        if (o[3] * o[3] < 1e-10 * tt * uv) m = gap_distance__tuv_dd(q, o);
        *type = 8;
        return o[3] * o[3] / m;
    }
    *type = 0;
    if (weak || s <= 0.0) gap_distance__side(a0, b0, b1, 0, 1, 2, &best, type);
    if (weak || s >= m) gap_distance__side(a1, b0, b1, 3, 4, 5, &best, type);
    if (weak || t <= 0.0) gap_distance__side(b0, a0, a1, 0, 3, 6, &best, type);
    if (weak || t >= m) gap_distance__side(b1, a0, a1, 1, 4, 7, &best, type);
    if (inside && m > 1e-56 * uv && o[3] * o[3] < (1.0 - 1e-12) * best * m) {
        *type = 8;
        return o[3] * o[3] / m;
    }
    return best;
}
/* [end dist] */

/* [block dist2nd home] closest points and second derivatives; needs blocks v3 and dist */
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
static inline int gap_distance__feature(int kind, int type, int local[4])
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
static inline double gap_distance__closest(int kind, const double *const x[4], double w[4],
    double r[3], double n[3])
{
    const double *q[6];
    double a[3], e[3], c[3], o[6], l, m, uv, tt;
    int i;
    w[0] = 1.0; w[1] = -1.0; w[2] = 0.0; w[3] = 0.0;
    if (kind == 0) {
        gap_distance__sub3(x[0], x[1], r);
        return gap_distance__dot3(r, r);
    }
    if (kind == 1) {
        gap_distance__sub3(x[0], x[1], a);
        gap_distance__sub3(x[2], x[1], e);
        l = gap_distance__dot3(e, e);
        w[2] = -gap_distance__dot3(a, e) / l;
        w[1] = -1.0 - w[2];
        m = gap_distance__ve_cross(x[0], x[1], x[2], c);
        gap_distance__cross3(e, c, r); /* e x (a x e) = |e|^2 r */
        for (i = 0; i < 3; ++i) r[i] /= l;
        return m / l;
    }
    q[0] = x[0]; q[1] = kind == 2 ? x[1] : x[2];
    q[2] = kind == 2 ? x[2] : x[1]; q[3] = kind == 2 ? x[1] : x[0];
    q[4] = x[3]; q[5] = q[1];
    m = gap_distance__tuv(q, o, &uv, &tt);
    if (m < 1e-6 * uv || o[3] * o[3] < 1e-10 * tt * uv) m = gap_distance__tuv_dd(q, o);
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
   entries 11, 12, 22 of G^-1; returns the number of parameters. n: of gap_distance__closest. */
static inline int gap_distance__duals(int kind, const double *const x[4], const double n[3],
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
    gap_distance__sub3(kind == 3 ? x[1] : x[2], kind == 3 ? x[0] : x[1], u);
    g[1] = g[2] = 0.0;
    if (kind == 1) { /* c_1 = -u */
        g[0] = 1.0 / gap_distance__dot3(u, u);
        for (i = 0; i < 3; ++i) c[0][i] = -u[i] * g[0];
        return 1;
    }
    /* vf: c_1 = -u, c_2 = -v;  ee: c_1 = u, c_2 = -v. Duals: u^1 = v x n / m, v^1 = n x u / m. */
    gap_distance__sub3(x[3], kind == 3 ? x[2] : x[1], v);
    m = gap_distance__dot3(n, n);
    gap_distance__cross3(v, n, c[0]);
    gap_distance__cross3(n, u, c[1]);
    for (i = 0; i < 3; ++i) {
        c[0][i] *= -sign / m;
        c[1][i] /= -m;
    }
    g[0] = gap_distance__dot3(v, v) / m;
    g[1] = -sign * gap_distance__dot3(u, v) / m;
    g[2] = gap_distance__dot3(u, u) / m;
    return 2;
}

/* 3x3 block (i, j) of the Hessian of D between feature points i and j; pr = P of the formula. */
static inline void gap_distance__hess_block(int i, int j, int params, const double w[4],
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
static inline void gap_distance__projector(int kind, const double *const x[4], const double n[3],
    double pr[3][3])
{
    double e[3], l;
    int a, b;
    if (kind == 1) gap_distance__sub3(x[2], x[1], e);
    else for (a = 0; a < 3; ++a) e[a] = kind == 0 ? 0.0 : n[a];
    l = kind == 0 ? 1.0 : gap_distance__dot3(e, e);
    for (a = 0; a < 3; ++a)
        for (b = 0; b < 3; ++b)
            pr[a][b] = kind <= 1 ? (a == b ? 1.0 : 0.0) - e[a] * e[b] / l : e[a] * e[b] / l;
}
/* [end dist2nd] */

/* points of a pair padded to three coordinates; 0 if one is not finite */
static inline int gap_distance__load(int dim, int kind, const double *p, double x[4][3])
{
    int points = kind == 0 ? 2 : kind == 1 || kind == 4 ? 3 : 4, i, c;
    double s = 0.0;
    for (i = 0; i < points; ++i) {
        for (c = 0; c < 3; ++c) {
            x[i][c] = c < dim ? p[i * dim + c] : 0.0;
            s += 0.0 * x[i][c];
        }
    }
    return s == 0.0;
}

static inline double gap_distance__pair2(int kind, double x[4][3], int *type)
{
    double r[3], s;
    *type = 0;
    if (kind == 0) return gap_distance__vv2(x[0], x[1]);
    if (kind == 1) return gap_distance__ve2(x[0], x[1], x[2], type);
    if (kind == 2) return gap_distance__vf2(x[0], x[1], x[2], x[3], type);
    if (kind == 3) return gap_distance__ee2(x[0], x[1], x[2], x[3], type);
    gap_distance__sub3(x[0], x[1], r);
    s = gap_distance__dot3(r, x[2]);
    return s * s;
}

static inline double gap_distance__checked(int kind, const double *a, const double *b,
    const double *c, const double *d)
{
    const double *from[4];
    double x[4][3], s = 0.0;
    int i, k, type;
    from[0] = a; from[1] = b; from[2] = c; from[3] = d;
    for (i = 0; i < 4; ++i) {
        GAP_DISTANCE_ASSERT(from[i]);
        for (k = 0; k < 3; ++k) {
            x[i][k] = from[i][k];
            s += 0.0 * x[i][k];
        }
    }
    return gap_distance__pair2(kind, x, &type) + s; /* s is 0 or NaN */
}

GAP_DISTANCE_API double gap_distance_vv(const double a[3], const double b[3])
{
    return gap_distance__checked(0, a, b, b, b);
}

GAP_DISTANCE_API double gap_distance_ve(const double v[3], const double e0[3], const double e1[3])
{
    return gap_distance__checked(1, v, e0, e1, e1);
}

GAP_DISTANCE_API double gap_distance_vf(const double v[3], const double f0[3],
    const double f1[3], const double f2[3])
{
    return gap_distance__checked(2, v, f0, f1, f2);
}

GAP_DISTANCE_API double gap_distance_ee(const double a0[3], const double a1[3],
    const double b0[3], const double b1[3])
{
    return gap_distance__checked(3, a0, a1, b0, b1);
}

GAP_DISTANCE_API double gap_distance_vp(const double v[3], const double point[3],
    const double normal[3])
{
    return gap_distance__checked(4, v, point, normal, normal);
}

GAP_DISTANCE_API gap_distance_status gap_distance_pair(int dim, int kind, const double *p,
    int *type, double weight[4], double *dist2)
{
    double x[4][3], w[4], r[3], n[3];
    const double *f[4];
    int local[4], t, fk, i, flip;

    GAP_DISTANCE_ASSERT(p && dist2 && (dim == 3 || (dim == 2 && kind != 2 && kind != 3)));
    GAP_DISTANCE_ASSERT(kind >= 0 && kind <= 4);
    *dist2 = 0.0;
    if (type) *type = 0;
    for (i = 0; i < 4 && weight; ++i) weight[i] = 0.0;
    if (!gap_distance__load(dim, kind, p, x)) return GAP_DISTANCE_ENONFIN;
    *dist2 = gap_distance__pair2(kind, x, &t);
    if (type) *type = t;
    if (!weight) return GAP_DISTANCE_OK;
    fk = gap_distance__feature(kind, t, local);
    if (fk == 4) {
        weight[0] = 1.0;
        return GAP_DISTANCE_OK;
    }
    for (i = 0; i < 4; ++i) f[i] = x[local[i] < 0 ? 0 : local[i]];
    gap_distance__closest(fk, f, w, r, n);
    flip = kind == 3 && local[0] >= 2; /* the vertex of the feature is on the second edge */
    for (i = 0; i < 4 && local[i] >= 0; ++i) weight[local[i]] = flip ? -w[i] : w[i];
    return GAP_DISTANCE_OK;
}

GAP_DISTANCE_API int gap_distance_features(int kind, int type, int local[4])
{
    static const signed char types[5] = {1, 3, 7, 9, 1};
    GAP_DISTANCE_ASSERT(kind >= 0 && kind <= 4 && type >= 0 && type < types[kind] && local);
    (void)types;
    return gap_distance__feature(kind, type, local);
}

GAP_DISTANCE_API gap_distance_status gap_distance_derivatives(int dim, int kind, const double *p,
    double *dist2, double *grad, double *hess)
{
    double x[4][3], w[4] = {1, 0, 0, 0}, r[3], n[3], dw[2][4], c[2][3], g[3], pr[3][3], h[3][3];
    const double *f[4];
    int local[4], k = kind == 4 ? 1 : kind == 0 ? 2 : kind == 1 ? 3 : 4, size = k * dim;
    int t, fk, i, j, a, b, params = 0;

    GAP_DISTANCE_ASSERT(p && dist2 && (dim == 3 || (dim == 2 && kind != 2 && kind != 3)));
    GAP_DISTANCE_ASSERT(kind >= 0 && kind <= 4);
    *dist2 = 0.0;
    for (i = 0; i < size && grad; ++i) grad[i] = 0.0;
    for (i = 0; i < size * size && hess; ++i) hess[i] = 0.0;
    if (!gap_distance__load(dim, kind, p, x)) return GAP_DISTANCE_ENONFIN;
    *dist2 = gap_distance__pair2(kind, x, &t);
    fk = gap_distance__feature(kind, t, local);
    for (i = 0; i < 4; ++i) f[i] = x[local[i] < 0 ? 0 : local[i]];
    if (fk == 4) { /* D = s^2: r = s n, P = n n^T */
        gap_distance__sub3(x[0], x[1], r);
        for (i = 0, g[0] = gap_distance__dot3(r, x[2]); i < 3; ++i) r[i] = g[0] * x[2][i];
        gap_distance__projector(2, f, x[2], pr);
    } else {
        gap_distance__closest(fk, f, w, r, n);
        if (fk > 0) params = gap_distance__duals(fk, f, n, dw, c, g);
        gap_distance__projector(fk, f, n, pr);
    }
    for (i = 0; i < 4 && local[i] >= 0; ++i) {
        for (a = 0; a < dim && grad; ++a) grad[local[i] * dim + a] = 2.0 * w[i] * r[a];
        for (j = 0; j < 4 && local[j] >= 0 && hess; ++j) {
            gap_distance__hess_block(i, j, params, w, r, dw, c, g, pr, h);
            for (a = 0; a < dim; ++a)
                for (b = 0; b < dim; ++b)
                    hess[(local[i] * dim + a) * size + local[j] * dim + b] = h[a][b];
        }
    }
    return GAP_DISTANCE_OK;
}
#endif /* GAP_DISTANCE_IMPLEMENTATION */

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
