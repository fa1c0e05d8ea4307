/* gap_elastic.h - v0.1.0 - isotropic materials: energy, stress, PSD stiffness - MIT-0, see end
   Neo-Hookean, fixed corotational, linear, Saint Venant-Kirchhoff, and yours by its principal
   stretches, for deformation gradients 3x3, 2x2 (plane strain) and 3x2 (membranes). Batched.
QUICK START
   #define GAP_ELASTIC_IMPLEMENTATION        // in exactly one .c or .cpp file
   #include "gap_elastic.h"
   #include <stdio.h>
   int main(void)
   {
       double F[9] = {1.2, 0, 0, 0, 1, 0, 0, 0, 1}, par[4] = {0}, psi, P[9], H[81];
       gap_elastic_lame(1e5, 0.3, 0, &par[0], &par[1]);
       gap_elastic_neo_hookean(NULL, 3, 3, 1, F, par, 1, &psi, P, H);
       printf("psi %.3f Pa, P11 %.2f Pa\n", psi, P[0]); // psi 2408.050 Pa, P11 22868.02 Pa
       return 0;
   }
GUARANTEES
   Closed form  the projection (psd = 1) clamps the exact eigenvalues of dP/dF at 0; it equals a
                numeric one to 1e-9 relative, also at rest, at equal stretches and near inversion.
   Rest         F = I gives psi = 0 and P = 0 exactly.
   Bits         a point's result does not depend on its neighbours in the batch, nor on the width of
                the vectors (1, 2 or 4 lanes, by the compiler's target).
   Pure         no globals, no allocation, no I/O.
   Not          no anisotropy, no plasticity, no damping.
OPTIONS (define before the implementation)
   GAP_ELASTIC_STATIC     keep all functions private to this file
   GAP_ELASTIC_SCALAR     no vector types (always so where the compiler is not GCC or Clang)
EDGE CASES
   neo-Hookean at det F < 1e-300 (inverted, flat) and every material at NaN or infinity: psi = +inf,
   P = 0, dPdF = 0, and the result is 1 + the first such point; the other points are right.
   Corotational where two stretches sum to less than 1e-6: that mode's stiffness is 0, not -inf.
   Sizes other than the three, or linear with 3x2: GAP_ELASTIC_EINPUT, nothing is written.
METHOD
   F = U diag(s) V^T. In that basis dP/dF is the matrix d2psi/ds_i ds_j, and for each pair i < j the
   eigenvalues (psi_i -+ psi_j)/(s_i -+ s_j) on the modes E_ij +- E_ji, written without quotients
   (Smith et al. 2019; Teran et al. 2005). One-sided Jacobi gives small stretches to full precision.
   psi is evaluated from F - I, so that it keeps its digits at small strain.
NOT HERE   elements on a mesh: gap_fem.h.  shells: gap_shell.h.  eigen-problems: gap_psd.h.
HISTORY    0.1.0 first release */
#ifndef GAP_ELASTIC_H
#define GAP_ELASTIC_H
#define GAP_ELASTIC_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_ELASTIC_STATIC
#define GAP_ELASTIC_API static inline
#else
#define GAP_ELASTIC_API extern
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_elastic_status {
    GAP_ELASTIC_OK = 0,
    GAP_ELASTIC_EINPUT = -6 /* rows and cols are not 3x3, 2x2 or 3x2 */
} gap_elastic_status;

/* The type of all materials below.
   count  points
   F      rows*cols per point, row by row: deformation gradient
   par    4 per point: lambda, mu (Pa), and two of the material's own (unused here)
   psd    1: dPdF is replaced by the nearest positive semi-definite matrix; 0: as it is
   psi    1 per point: energy per rest volume, J/m^3; may be NULL
   P      rows*cols per point: dpsi/dF, first Piola-Kirchhoff stress; may be NULL
   dPdF   (rows*cols)^2 per point, entry (i*cols+j, k*cols+l) = dP_ij/dF_kl; may be NULL
   Returns 0, or 1 + the first point where psi is infinite, or EINPUT. */
typedef int (*gap_elastic_material)(void *user, int rows, int cols, int count, const double *F,
    const double *par, int psd, double *psi, double *P, double *dPdF);

/* Lame constants of Young's modulus E (Pa) and Poisson's ratio nu in (-1, 1/2).
   plane_stress  0: 3D and plane strain; 1: lambda = E nu/(1 - nu^2), for membranes */
GAP_ELASTIC_API void gap_elastic_lame(double E, double nu, int plane_stress, double *lambda,
    double *mu);

/* The inverse: E and nu of 3D (plane_stress 0) or membrane (1) Lame constants. */
GAP_ELASTIC_API void gap_elastic_young(double lambda, double mu, int plane_stress, double *E,
    double *nu);

/* psi = mu/2 (|F|^2 - n - 2 ln J) + lambda/2 (ln J)^2, n = cols, J = det F (3x2: sqrt det F^T F).
   Infinite at J <= 0. user is not used. The fastest: all of it runs across points in lanes. */
GAP_ELASTIC_API int gap_elastic_neo_hookean(void *user, int rows, int cols, int count,
    const double *F, const double *par, int psd, double *psi, double *P, double *dPdF);

/* psi = mu sum (s_i - 1)^2 + lambda/2 (J - 1)^2, s the (signed) stretches; finite when inverted. */
GAP_ELASTIC_API int gap_elastic_corotated(void *user, int rows, int cols, int count,
    const double *F, const double *par, int psd, double *psi, double *P, double *dPdF);

/* psi = mu E:E + lambda/2 tr(E)^2, E = (F^T F - I)/2 (Saint Venant-Kirchhoff). */
GAP_ELASTIC_API int gap_elastic_stvk(void *user, int rows, int cols, int count,
    const double *F, const double *par, int psd, double *psi, double *P, double *dPdF);

/* psi = mu e:e + lambda/2 tr(e)^2, e = sym(F) - I: small strains. 3x3 and 2x2 only. */
GAP_ELASTIC_API int gap_elastic_linear(void *user, int rows, int cols, int count,
    const double *F, const double *par, int psd, double *psi, double *P, double *dPdF);

/* Your isotropic energy as a function of the principal stretches, symmetric in them.
   n    3 or 2 stretches (plane strain and membranes: the third is 1, and not given)
   s    n stretches; with 3x3 and 2x2 the smallest is negative when det F < 0
   par  the point's 4 parameters
   d    n first derivatives;  dd  n*n second derivatives
   Returns psi; HUGE_VAL where it is infinite. */
typedef double (*gap_elastic_energy)(void *user, int n, const double *s, const double *par,
    double *d, double *dd);
typedef struct gap_elastic_law {
    gap_elastic_energy energy;
    void *user;
} gap_elastic_law;

/* The material of a gap_elastic_law, which user points to. Pairs of stretches that differ by less
   than 1e-5 of their sum use the limit of the quotient: dP/dF then has an error of about 1e-10. */
GAP_ELASTIC_API int gap_elastic_isotropic(void *user, int rows, int cols, int count,
    const double *F, const double *par, int psd, double *psi, double *P, double *dPdF);

#ifdef __cplusplus
}
#endif
#endif /* GAP_ELASTIC_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_ELASTIC_STATIC)) \
    && !defined(GAP_ELASTIC_IMPLEMENTATION)
#define GAP_ELASTIC_IMPLEMENTATION
#endif
#if defined(GAP_ELASTIC_IMPLEMENTATION) && !defined(GAP_ELASTIC_IMPLEMENTED)
#define GAP_ELASTIC_IMPLEMENTED
#include <math.h>
#include <stddef.h>
#include <string.h>
#ifdef GAP_ELASTIC_SCALAR
#define GAP_ELASTIC__SCALAR
#endif

/* [block lanes home] vectors across points, stretches by one-sided Jacobi, small PSD projection */

/* w holds one double of each of LANES points, k a mask. The width follows the compiler's target;
   every lane does the same IEEE operations, so results do not depend on it. */
#ifdef __GNUC__
#define GAP_ELASTIC__INLINE static inline __attribute__((always_inline))
#else
#define GAP_ELASTIC__INLINE static inline
#endif
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define GAP_ELASTIC__UNROLL _Pragma("GCC unroll 16")
#else
#define GAP_ELASTIC__UNROLL
#endif
#if defined(__GNUC__) && !defined(GAP_ELASTIC__SCALAR) \
    && (defined(__SSE2__) || defined(__ARM_NEON))
#ifdef __AVX__
#define GAP_ELASTIC__LANES 4
#else
#define GAP_ELASTIC__LANES 2
#endif
typedef double gap_elastic__w __attribute__((vector_size(8 * GAP_ELASTIC__LANES)));
typedef long long gap_elastic__k __attribute__((vector_size(8 * GAP_ELASTIC__LANES)));
#define GAP_ELASTIC__AT(v, l) ((v)[l])
#if defined(__SSE2__) && !defined(__clang__) && __GNUC__ < 14
/* gcc 12 at -O1 folds comparisons into selections that it then cannot expand (internal error in
   gimple_expand_vec_cond_expr); an empty asm hides where the mask comes from. */
GAP_ELASTIC__INLINE gap_elastic__k gap_elastic__mask(gap_elastic__k m)
{
    __asm__("" : "+x"(m));
    return m;
}
#define GAP_ELASTIC__MASK(c) gap_elastic__mask((gap_elastic__k)(c))
#else
#define GAP_ELASTIC__MASK(c) ((gap_elastic__k)(c))
#endif
#define GAP_ELASTIC__PICK(m, a, b) \
    ((gap_elastic__w)(((gap_elastic__k)(a) & (m)) | ((gap_elastic__k)(b) & ~(m))))
#else
#define GAP_ELASTIC__LANES 1
typedef double gap_elastic__w;
typedef long long gap_elastic__k;
#define GAP_ELASTIC__AT(v, l) (*((void)(l), &(v)))
#define GAP_ELASTIC__MASK(c) ((gap_elastic__k)(c))
#define GAP_ELASTIC__PICK(m, a, b) ((m) ? (a) : (b))
#endif

/* v = entry i of each lane's array. */
GAP_ELASTIC__INLINE void gap_elastic__get(const double *const *p, int i, gap_elastic__w *v)
{
#if GAP_ELASTIC__LANES == 4
    gap_elastic__w t = {p[0][i], p[1][i], p[2][i], p[3][i]};
#elif GAP_ELASTIC__LANES == 2
    gap_elastic__w t = {p[0][i], p[1][i]};
#else
    gap_elastic__w t = p[0][i];
#endif
    *v = t;
}

GAP_ELASTIC__INLINE void gap_elastic__put(const gap_elastic__w *v, double *const *p, int i)
{
    p[0][i] = GAP_ELASTIC__AT(*v, 0);
#if GAP_ELASTIC__LANES > 1
    p[1][i] = GAP_ELASTIC__AT(*v, 1);
#endif
#if GAP_ELASTIC__LANES > 2
    p[2][i] = GAP_ELASTIC__AT(*v, 2);
    p[3][i] = GAP_ELASTIC__AT(*v, 3);
#endif
}

GAP_ELASTIC__INLINE void gap_elastic__fill(gap_elastic__w *v, double c)
{
#if GAP_ELASTIC__LANES == 4
    gap_elastic__w t = {c, c, c, c};
#elif GAP_ELASTIC__LANES == 2
    gap_elastic__w t = {c, c};
#else
    gap_elastic__w t = c;
#endif
    *v = t;
}

GAP_ELASTIC__INLINE int gap_elastic__any(const gap_elastic__k *m)
{
    long long r = GAP_ELASTIC__AT(*m, 0);
    int l;

    GAP_ELASTIC__UNROLL
    for (l = 1; l < GAP_ELASTIC__LANES; ++l) r |= GAP_ELASTIC__AT(*m, l);
    return r != 0;
}

GAP_ELASTIC__INLINE void gap_elastic__sqrt(const gap_elastic__w *a, gap_elastic__w *r)
{
#if GAP_ELASTIC__LANES == 4 && !defined(__clang__)
    *r = __builtin_ia32_sqrtpd256(*a);
#elif GAP_ELASTIC__LANES == 2 && defined(__SSE2__) && !defined(__clang__)
    *r = __builtin_ia32_sqrtpd(*a);
#else
    int l;

    for (l = 0; l < GAP_ELASTIC__LANES; ++l) GAP_ELASTIC__AT(*r, l) = sqrt(GAP_ELASTIC__AT(*a, l));
#endif
}

/* One-sided Jacobi: B (rows x cols, in: F) becomes F V with orthogonal columns, V a rotation.
   A pair is rotated while |b_p . b_q| > 2^-52 |b_p||b_q|, lane by lane, so that a lane's result
   does not depend on its neighbours. Singular values come out with relative precision. */
GAP_ELASTIC__INLINE void gap_elastic__svd(int rows, int cols, gap_elastic__w *B, gap_elastic__w *V)
{
    gap_elastic__w al, be, ga, d, t, c, s, u, v;
    gap_elastic__k turn, some;
    int sweep, p, q, i;

    GAP_ELASTIC__UNROLL
    for (i = 0; i < cols * cols; ++i) gap_elastic__fill(V + i, i % (cols + 1) == 0 ? 1.0 : 0.0);
    for (sweep = 0; sweep < 16; ++sweep) {
        memset(&some, 0, sizeof some);
        GAP_ELASTIC__UNROLL
        for (p = 0; p < cols - 1; ++p) {
            GAP_ELASTIC__UNROLL
            for (q = p + 1; q < cols; ++q) {
                al = B[p] * B[p] + B[cols + p] * B[cols + p];
                be = B[q] * B[q] + B[cols + q] * B[cols + q];
                ga = B[p] * B[q] + B[cols + p] * B[cols + q];
                if (rows == 3) {
                    al = al + B[2 * cols + p] * B[2 * cols + p];
                    be = be + B[2 * cols + q] * B[2 * cols + q];
                    ga = ga + B[2 * cols + p] * B[2 * cols + q];
                }
                turn = GAP_ELASTIC__MASK(ga * ga > 4.9e-32 * (al * be));
                if (!gap_elastic__any(&turn)) continue;
                some = some | turn;
                d = be - al;
                u = d * d + 4.0 * (ga * ga);
                gap_elastic__sqrt(&u, &u);
                u = GAP_ELASTIC__PICK(GAP_ELASTIC__MASK(d < 0.0), d - u, d + u);
                gap_elastic__fill(&v, 1.0);
                t = GAP_ELASTIC__PICK(turn, (ga + ga) / GAP_ELASTIC__PICK(turn, u, v), v - v);
                u = t * t + 1.0;
                gap_elastic__sqrt(&u, &u);
                c = 1.0 / u;
                s = c * t;
                GAP_ELASTIC__UNROLL
                for (i = 0; i < rows; ++i) {
                    u = B[i * cols + p];
                    v = B[i * cols + q];
                    B[i * cols + p] = c * u - s * v;
                    B[i * cols + q] = s * u + c * v;
                }
                GAP_ELASTIC__UNROLL
                for (i = 0; i < cols; ++i) {
                    u = V[i * cols + p];
                    v = V[i * cols + q];
                    V[i * cols + p] = c * u - s * v;
                    V[i * cols + q] = s * u + c * v;
                }
            }
        }
        if (!gap_elastic__any(&some)) break;
    }
}

/* Nearest PSD matrix of a symmetric n x n (2 or 3) by Jacobi: S = Q L Q^T -> Q max(L,0) Q^T.
   Lanes without a negative eigenvalue keep S as it is. */
GAP_ELASTIC__INLINE void gap_elastic__clamp(int n, gap_elastic__w *S)
{
    gap_elastic__w Q[9], A[9], d, t, c, s, u, v, norm, zero;
    gap_elastic__k turn, some, neg;
    int sweep, p, q, i, j;

    gap_elastic__fill(&zero, 0.0);
    GAP_ELASTIC__UNROLL
    for (norm = zero, i = 0; i < n * n; ++i) {
        A[i] = S[i];
        norm = norm + S[i] * S[i];
        gap_elastic__fill(Q + i, i % (n + 1) == 0 ? 1.0 : 0.0);
    }
    for (sweep = 0; sweep < 16; ++sweep) {
        memset(&some, 0, sizeof some);
        GAP_ELASTIC__UNROLL
        for (p = 0; p < n - 1; ++p) {
            GAP_ELASTIC__UNROLL
            for (q = p + 1; q < n; ++q) {
                turn = GAP_ELASTIC__MASK(A[p * n + q] * A[p * n + q] > 1e-33 * norm);
                if (!gap_elastic__any(&turn)) continue;
                some = some | turn;
                d = A[q * n + q] - A[p * n + p];
                u = d * d + 4.0 * (A[p * n + q] * A[p * n + q]);
                gap_elastic__sqrt(&u, &u);
                u = GAP_ELASTIC__PICK(GAP_ELASTIC__MASK(d < 0.0), d - u, d + u);
                gap_elastic__fill(&v, 1.0);
                u = GAP_ELASTIC__PICK(turn, u, v);
                t = GAP_ELASTIC__PICK(turn, (A[p * n + q] + A[p * n + q]) / u, zero);
                u = t * t + 1.0;
                gap_elastic__sqrt(&u, &u);
                c = 1.0 / u;
                s = c * t;
                GAP_ELASTIC__UNROLL
                for (i = 0; i < n; ++i) { /* columns, then rows: A <- R^T A R, Q <- Q R */
                    u = A[i * n + p];
                    v = A[i * n + q];
                    A[i * n + p] = c * u - s * v;
                    A[i * n + q] = s * u + c * v;
                    u = Q[i * n + p];
                    v = Q[i * n + q];
                    Q[i * n + p] = c * u - s * v;
                    Q[i * n + q] = s * u + c * v;
                }
                GAP_ELASTIC__UNROLL
                for (i = 0; i < n; ++i) {
                    u = A[p * n + i];
                    v = A[q * n + i];
                    A[p * n + i] = c * u - s * v;
                    A[q * n + i] = s * u + c * v;
                }
            }
        }
        if (!gap_elastic__any(&some)) break;
    }
    u = A[0]; /* becomes the least eigenvalue */
    GAP_ELASTIC__UNROLL
    for (i = 1; i < n; ++i) {
        v = A[i * n + i];
        u = GAP_ELASTIC__PICK(GAP_ELASTIC__MASK(v < u), v, u);
    }
    neg = GAP_ELASTIC__MASK(u < 0.0);
    if (!gap_elastic__any(&neg)) return;
    GAP_ELASTIC__UNROLL
    for (i = 0; i < n; ++i) {
        GAP_ELASTIC__UNROLL
        for (j = i; j < n; ++j) {
            GAP_ELASTIC__UNROLL
            for (u = zero, p = 0; p < n; ++p) {
                d = A[p * n + p];
                d = GAP_ELASTIC__PICK(GAP_ELASTIC__MASK(d > 0.0), d, zero);
                u = u + d * (Q[i * n + p] * Q[j * n + p]);
            }
            S[i * n + j] = GAP_ELASTIC__PICK(neg, u, S[i * n + j]);
            S[j * n + i] = S[i * n + j];
        }
    }
}
/* [end lanes] */

/* [block neo-Hookean home] energy, stress, closed-form PSD tangent in lanes; needs block lanes */

/* r = ln J for normal J > 0; y = J - 1 replaces m - 1 where near_one is set, to keep its digits.
   J = 2^e m with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(f), f = (m - 1)/(m + 1), |f| < 0.1716,
   as a series up to f^23 (the rest is below 1e-17). Same bits on every machine, unlike libm's. */
GAP_ELASTIC__INLINE void gap_elastic__log(const gap_elastic__w *J, const gap_elastic__w *y,
    const gap_elastic__k *near_one, gap_elastic__w *r)
{
    static const double c[11] = {1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15,
        1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
    gap_elastic__k bits, e, one;
    gap_elastic__w m, z, f, s, t, ed;
    int i;

    memcpy(&bits, J, sizeof bits);
    e = bits - 0x3fe6a09e667f3bcdLL;                  /* minus the bits of sqrt(1/2) */
    bits = bits - (e & -4503599627370496LL);          /* take e 2^52 away */
    memcpy(&m, &bits, sizeof m);
    bits = (e >> 52) + 0x4338000000000000LL;          /* the double 1.5 2^52 + e */
    memcpy(&ed, &bits, sizeof ed);
    ed = ed - 6755399441055744.0;
    one = GAP_ELASTIC__MASK(ed == 0.0) & *near_one;
    z = GAP_ELASTIC__PICK(one, *y, m - 1.0);
    f = z / (z + 2.0);
    s = f * f;
    t = s * c[10];
    GAP_ELASTIC__UNROLL
    for (i = 9; i >= 0; --i) t = s * (t + c[i]);
    f = f + f;
    *r = ed * 0.69314718055966295651 + (f + (f * t + ed * 2.8235290563031577e-13));
}

/* T = F^-T, J = det F and y = J - 1, the last from F - I: at small strain it keeps its digits.
   ok: lanes where J is in (1e-300, 1e300); in the others F is replaced by I. */
GAP_ELASTIC__INLINE void gap_elastic__inverse(int n, gap_elastic__w *F, gap_elastic__w *T,
    gap_elastic__w *J, gap_elastic__w *y, gap_elastic__k *ok)
{
    gap_elastic__w one, zero, G[9], r;
    int i, j, a, b, c, d;

    gap_elastic__fill(&one, 1.0);
    gap_elastic__fill(&zero, 0.0);
    *J = n == 2 ? F[0] * F[3] - F[1] * F[2] : F[0] * (F[4] * F[8] - F[5] * F[7])
        + F[1] * (F[5] * F[6] - F[3] * F[8]) + F[2] * (F[3] * F[7] - F[4] * F[6]);
    *ok = GAP_ELASTIC__MASK(*J > 1e-300) & GAP_ELASTIC__MASK(*J < 1e300);
    *J = GAP_ELASTIC__PICK(*ok, *J, one);
    GAP_ELASTIC__UNROLL
    for (i = 0; i < n * n; ++i) {
        F[i] = GAP_ELASTIC__PICK(*ok, F[i], i % (n + 1) ? zero : one);
        G[i] = i % (n + 1) ? F[i] : F[i] - 1.0;
    }
    r = 1.0 / *J;
    if (n == 2) {
        T[0] = r * F[3]; T[1] = -(r * F[2]); T[2] = -(r * F[1]); T[3] = r * F[0];
        *y = G[0] + G[3] + (G[0] * G[3] - G[1] * G[2]);
        return;
    }
    GAP_ELASTIC__UNROLL
    for (i = 0; i < 3; ++i) {
        GAP_ELASTIC__UNROLL
        for (j = 0; j < 3; ++j) { /* cofactor: rows and columns in cyclic order, no signs */
            a = (i + 1) % 3; b = (i + 2) % 3;
            c = (j + 1) % 3; d = (j + 2) % 3;
            T[3 * i + j] = r * (F[3 * a + c] * F[3 * b + d] - F[3 * a + d] * F[3 * b + c]);
        }
    }
    *y = G[0] + G[4] + G[8] + (G[0] * G[4] - G[1] * G[3]) + (G[0] * G[8] - G[2] * G[6])
        + (G[4] * G[8] - G[5] * G[7]) + (G[0] * (G[4] * G[8] - G[5] * G[7])
        + G[1] * (G[5] * G[6] - G[3] * G[8]) + G[2] * (G[3] * G[7] - G[4] * G[6]));
}

/* psi = mu/2 (|F|^2 - n - 2 ln J) + lambda/2 (ln J)^2, T = F^-T, c = mu - lambda ln J, so that the
   stress is P = mu F - c T. |F|^2 - n = sum (F_ii - 1)(F_ii + 1) + the other squares. */
GAP_ELASTIC__INLINE void gap_elastic__nh(int n, gap_elastic__w *F, const gap_elastic__w *la,
    const gap_elastic__w *mu, gap_elastic__w *psi, gap_elastic__w *T, gap_elastic__w *c,
    gap_elastic__k *ok)
{
    gap_elastic__w J, y, ln, q, g;
    gap_elastic__k near_one;
    int i;

    gap_elastic__inverse(n, F, T, &J, &y, ok);
    gap_elastic__fill(&q, 0.0);
    g = q;
    GAP_ELASTIC__UNROLL
    for (i = 0; i < n * n; ++i) {
        if (i % (n + 1)) {
            q = q + F[i] * F[i];
            g = g + F[i] * F[i];
        } else {
            q = q + (F[i] - 1.0) * (F[i] + 1.0);
            g = g + (F[i] - 1.0) * (F[i] - 1.0);
        }
    }
    near_one = GAP_ELASTIC__MASK(g < 0.1); /* further off, J - 1 is the better one */
    gap_elastic__log(&J, &y, &near_one, &ln);
    *psi = 0.5 * *mu * (q - 2.0 * ln) + 0.5 * *la * (ln * ln);
    *c = *mu - *la * ln;
}

/* Eigen-system of dP/dF with F = U diag(s) V^T: A on the modes u_a v_a^T; al and be so that
   dP(u_a v_b^T) = al_ab u_a v_b^T + be_ab u_b v_a^T for a != b; out_b on u_2 v_b^T (3x2 only). */
typedef struct gap_elastic__modes {
    gap_elastic__w U[9], V[9], A[9], al[9], be[9], out[2];
} gap_elastic__modes;

/* The neo-Hookean one, clamped. With r = 1/s: A = diag(mu + c r_i^2) + lambda r r^T, and the pair
   modes have the eigenvalues mu +- c r_i r_j. */
GAP_ELASTIC__INLINE void gap_elastic__nh_modes(int n, const gap_elastic__w *F,
    const gap_elastic__w *la, const gap_elastic__w *mu, const gap_elastic__w *c,
    gap_elastic__modes *m)
{
    gap_elastic__w r[3], s, b, zero, plus, minus;
    gap_elastic__k clamp;
    int i, j;

    gap_elastic__fill(&zero, 0.0);
    memcpy(m->U, F, (size_t)(n * n) * sizeof *F);
    gap_elastic__svd(n, n, m->U, m->V);
    clamp = GAP_ELASTIC__MASK(*la < 0.0);
    GAP_ELASTIC__UNROLL
    for (j = 0; j < n; ++j) {
        s = m->U[j] * m->U[j] + m->U[n + j] * m->U[n + j];
        if (n == 3) s = s + m->U[6 + j] * m->U[6 + j];
        gap_elastic__sqrt(&s, &s);
        r[j] = 1.0 / s;
        GAP_ELASTIC__UNROLL
        for (i = 0; i < n; ++i) m->U[i * n + j] = m->U[i * n + j] * r[j];
        clamp = clamp | GAP_ELASTIC__MASK(*mu + *c * (r[j] * r[j]) < 0.0);
    }
    GAP_ELASTIC__UNROLL
    for (i = 0; i < n; ++i) {
        m->A[i * n + i] = *mu + (*c + *la) * (r[i] * r[i]);
        GAP_ELASTIC__UNROLL
        for (j = 0; j < i; ++j) {
            b = r[i] * r[j];
            m->A[i * n + j] = m->A[j * n + i] = *la * b;
            plus = *mu + *c * b;
            minus = *mu - *c * b;
            plus = GAP_ELASTIC__PICK(GAP_ELASTIC__MASK(plus > 0.0), plus, zero);
            minus = GAP_ELASTIC__PICK(GAP_ELASTIC__MASK(minus > 0.0), minus, zero);
            m->al[i * n + j] = m->al[j * n + i] = 0.5 * (plus + minus);
            m->be[i * n + j] = m->be[j * n + i] = 0.5 * (plus - minus);
        }
    }
    if (gap_elastic__any(&clamp)) gap_elastic__clamp(n, m->A);
}

/* H_(ij)(kl) = dP_ij/dF_kl from its modes: first N_bd for fixed i, k with U, then V N V^T. */
GAP_ELASTIC__INLINE void gap_elastic__tangent(int rows, int cols, const gap_elastic__modes *m,
    gap_elastic__w *H)
{
    const gap_elastic__w *U = m->U, *V = m->V, *ui, *uk;
    gap_elastic__w N[9], R[9], x;
    int n = rows * cols, i, k, a, b, d, j, l;

    GAP_ELASTIC__UNROLL
    for (i = 0; i < rows; ++i) {
        GAP_ELASTIC__UNROLL
        for (k = 0; k <= i; ++k) {
            ui = U + rows * i;
            uk = U + rows * k;
            GAP_ELASTIC__UNROLL
            for (b = 0; b < cols; ++b) {
                GAP_ELASTIC__UNROLL
                for (d = 0; d < cols; ++d) {
                    x = m->A[cols * b + d] * (ui[b] * uk[d]);
                    if (b != d) x = x + m->be[cols * b + d] * (ui[d] * uk[b]);
                    GAP_ELASTIC__UNROLL
                    for (a = 0; a < cols; ++a)
                        if (b == d && a != b) x = x + m->al[cols * a + b] * (ui[a] * uk[a]);
                    if (b == d && rows > cols) x = x + m->out[b] * (ui[2] * uk[2]);
                    N[cols * b + d] = x;
                }
            }
            GAP_ELASTIC__UNROLL
            for (j = 0; j < cols; ++j) {
                GAP_ELASTIC__UNROLL
                for (d = 0; d < cols; ++d) {
                    x = V[cols * j] * N[d] + V[cols * j + 1] * N[cols + d];
                    if (cols == 3) x = x + V[cols * j + 2] * N[2 * cols + d];
                    R[cols * j + d] = x;
                }
            }
            GAP_ELASTIC__UNROLL
            for (j = 0; j < cols; ++j) {
                for (l = 0; l < (i == k ? j + 1 : cols); ++l) {
                    x = R[cols * j] * V[cols * l] + R[cols * j + 1] * V[cols * l + 1];
                    if (cols == 3) x = x + R[cols * j + 2] * V[cols * l + 2];
                    H[(cols * i + j) * n + cols * k + l] = x;
                    H[(cols * k + l) * n + cols * i + j] = x;
                }
            }
        }
    }
}

/* All of it for LANES points: one pointer per lane, outputs or NULL; ok: psi is finite. */
GAP_ELASTIC__INLINE void gap_elastic__nh_points(int n, const double *const *pF,
    const double *const *par, int psd, double *const *psi, double *const *P, double *const *dP,
    gap_elastic__k *ok)
{
    gap_elastic__w F[9], T[9], H[81], la, mu, c, e, inf, zero;
    gap_elastic__modes m;
    int i, j, k, l, nn = n * n;

    gap_elastic__get(par, 0, &la);
    gap_elastic__get(par, 1, &mu);
    gap_elastic__fill(&inf, HUGE_VAL);
    gap_elastic__fill(&zero, 0.0);
    GAP_ELASTIC__UNROLL
    for (i = 0; i < nn; ++i) gap_elastic__get(pF, i, F + i);
    gap_elastic__nh(n, F, &la, &mu, &e, T, &c, ok);
    e = GAP_ELASTIC__PICK(*ok, e, inf);
    if (psi) gap_elastic__put(&e, psi, 0);
    for (i = 0; P && i < nn; ++i) {
        e = mu * F[i] - c * T[i];
        e = GAP_ELASTIC__PICK(*ok, e, zero);
        gap_elastic__put(&e, P, i);
    }
    if (!dP) return;
    if (psd) {
        gap_elastic__nh_modes(n, F, &la, &mu, &c, &m);
        gap_elastic__tangent(n, n, &m, H);
    } else {
        GAP_ELASTIC__UNROLL
        for (i = 0; i < nn; ++i) {
            GAP_ELASTIC__UNROLL
            for (k = 0; k < nn; ++k) { /* (i, j) and (k, l) as i = (i/n, i%n) */
                j = (k / n) * n + i % n;
                l = (i / n) * n + k % n;
                e = c * (T[j] * T[l]) + la * (T[i] * T[k]);
                H[i * nn + k] = i == k ? e + mu : e;
            }
        }
    }
    for (i = 0; i < nn * nn; ++i) {
        H[i] = GAP_ELASTIC__PICK(*ok, H[i], zero);
        gap_elastic__put(H + i, dP, i);
    }
}

/* count points in groups of LANES, the last group filled up with its last point. par_step 0: one
   set of parameters for all. Returns 0 or 1 + the first point where psi is infinite. */
GAP_ELASTIC__INLINE int gap_elastic__nh_batch(int n, int count, const double *F,
    const double *par, int par_step, int psd, double *psi, double *P, double *dP)
{
    const double *f[4], *q[4];
    double *e[4], *p[4], *h[4];
    gap_elastic__k ok;
    size_t at, nn = (size_t)(n * n);
    int first = 0, i, l;

    for (i = 0; i < count; i += GAP_ELASTIC__LANES) {
        GAP_ELASTIC__UNROLL
        for (l = 0; l < GAP_ELASTIC__LANES; ++l) {
            at = (size_t)(i + l < count ? i + l : count - 1);
            f[l] = F + at * nn;
            q[l] = par + at * (size_t)par_step;
            e[l] = psi ? psi + at : NULL;
            p[l] = P ? P + at * nn : NULL;
            h[l] = dP ? dP + at * nn * nn : NULL;
        }
        gap_elastic__nh_points(n, f, q, psd, psi ? e : NULL, P ? p : NULL, dP ? h : NULL, &ok);
        for (l = 0; l < GAP_ELASTIC__LANES && !first; ++l)
            if (!GAP_ELASTIC__AT(ok, l)) first = 1 + (i + l < count ? i + l : count - 1);
    }
    return first;
}
/* [end neo-Hookean] */

/* What a material says in the principal frame of a point; pair (i, j) has the index i + j - 1. */
typedef struct gap_elastic__spectrum {
    double psi, d[3], A[9]; /* psi, its first and second derivatives by the stretches        */
    double sym[3], skew[3]; /* (psi_i - psi_j)/(s_i - s_j) and (psi_i + psi_j)/(s_i + s_j)   */
    double out[2];          /* psi_i/s_i: 3x2 only                                           */
} gap_elastic__spectrum;
typedef void (*gap_elastic__spectral)(void *user, int n, const double *s, const double *par,
    gap_elastic__spectrum *o);

static inline void gap_elastic__cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* A unit vector along b, or, where b vanishes, one perpendicular to the unit vector a (or any). */
static inline void gap_elastic__unit(int rows, const double *b, const double *a, double *u)
{
    double m = 0.0, e[3] = {0, 0, 0}, len = 0.0;
    int i, k = 0;

    for (i = 0; i < rows; ++i) m = fmax(m, fabs(b[i]));
    for (i = 0; i < rows; ++i) len += m > 0.0 ? (b[i] / m) * (b[i] / m) : 0.0;
    for (i = 0; i < rows; ++i) u[i] = m > 0.0 ? b[i] / m / sqrt(len) : i == 0;
    if (m > 0.0 || !a) return;
    for (i = 1; i < rows; ++i)
        if (fabs(a[i]) < fabs(a[k])) k = i;
    e[k] = 1.0;
    if (rows == 3) {
        gap_elastic__cross(a, e, u);
        len = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        for (i = 0; i < 3; ++i) u[i] /= len;
    } else {
        u[0] = -a[1];
        u[1] = a[0];
    }
}

/* Columns b_j = s_j u_j of F V to a rotation U (rows x rows) and stretches s; 3x3 and 2x2: a
   reflection goes into the sign of the smallest stretch, whose u follows from the others. */
static inline void gap_elastic__frame(int rows, int cols, const double *B, double *U, double *s)
{
    double b[3][3] = {{0}}, u[3][3] = {{0}}, len[3] = {0, 0, 0};
    int o[3] = {0, 1, 2}, i, j, t;

    for (j = 0; j < cols; ++j) {
        for (i = 0; i < rows; ++i) {
            b[j][i] = B[i * cols + j];
            len[j] += b[j][i] * b[j][i];
        }
    }
    for (i = 0; i < cols; ++i) { /* descending lengths; ties keep their order */
        for (j = i; j > 0 && len[o[j]] > len[o[j - 1]]; --j) {
            t = o[j]; o[j] = o[j - 1]; o[j - 1] = t;
        }
    }
    gap_elastic__unit(rows, b[o[0]], NULL, u[o[0]]);
    if (rows == 2) {
        t = o[1];
        u[t][0] = t ? -u[0][1] : u[1][1];
        u[t][1] = t ? u[0][0] : -u[1][0];
    } else {
        gap_elastic__unit(rows, b[o[1]], u[o[0]], u[o[1]]);
        t = o[2];
        gap_elastic__cross(u[(t + 1) % 3], u[(t + 2) % 3], u[t]);
    }
    for (j = 0; j < cols; ++j) {
        s[j] = 0.0;
        for (i = 0; i < rows; ++i) s[j] += u[j][i] * b[j][i];
    }
    for (i = 0; i < rows; ++i)
        for (j = 0; j < rows; ++j) U[i * rows + j] = u[j][i];
}

/* One point in lane l: from B = F V to the frame, stress, and the modes of the lane. */
static inline int gap_elastic__point(int rows, int cols, int l, const gap_elastic__w *B,
    const double *par, int psd, gap_elastic__spectral law, void *user, double *psi, double *P,
    gap_elastic__modes *m)
{
    double b[9], U[9], s[3], sum = 0.0, plus, minus;
    gap_elastic__spectrum o;
    int i, j, a, ok;

    for (i = 0; i < rows * cols; ++i) {
        b[i] = GAP_ELASTIC__AT(B[i], l);
        sum += b[i] * 0.0;
    }
    gap_elastic__frame(rows, cols, b, U, s);
    memset(&o, 0, sizeof o);
    if (sum == 0.0) law(user, cols, s, par, &o); /* NaN if any entry is not finite */
    ok = sum == 0.0 && o.psi < HUGE_VAL && o.psi > -HUGE_VAL;
    if (!ok) memset(&o, 0, sizeof o);
    if (psi) *psi = ok ? o.psi : HUGE_VAL;
    for (i = 0; i < rows; ++i) {
        for (j = 0; j < cols; ++j) {
            for (sum = 0.0, a = 0; a < cols; ++a)
                sum += U[i * rows + a] * o.d[a] * GAP_ELASTIC__AT(m->V[j * cols + a], l);
            if (P) P[i * cols + j] = ok ? sum : 0.0;
        }
    }
    for (i = 0; i < rows * rows; ++i) GAP_ELASTIC__AT(m->U[i], l) = ok ? U[i] : 0.0;
    for (i = 0; i < cols; ++i) {
        GAP_ELASTIC__AT(m->A[i * cols + i], l) = o.A[i * cols + i];
        if (rows > cols) GAP_ELASTIC__AT(m->out[i], l) = psd ? fmax(o.out[i], 0.0) : o.out[i];
        for (j = 0; j < i; ++j) {
            plus = psd ? fmax(o.sym[i + j - 1], 0.0) : o.sym[i + j - 1];
            minus = psd ? fmax(o.skew[i + j - 1], 0.0) : o.skew[i + j - 1];
            GAP_ELASTIC__AT(m->A[i * cols + j], l) = o.A[i * cols + j];
            GAP_ELASTIC__AT(m->A[j * cols + i], l) = o.A[i * cols + j];
            GAP_ELASTIC__AT(m->al[i * cols + j], l) = 0.5 * (plus + minus);
            GAP_ELASTIC__AT(m->al[j * cols + i], l) = 0.5 * (plus + minus);
            GAP_ELASTIC__AT(m->be[i * cols + j], l) = 0.5 * (plus - minus);
            GAP_ELASTIC__AT(m->be[j * cols + i], l) = 0.5 * (plus - minus);
        }
    }
    return ok;
}

/* Any isotropic material: stretches in lanes, its law point by point, the tangent in lanes. */
GAP_ELASTIC__INLINE int gap_elastic__batch(int rows, int cols, int count, const double *F,
    const double *par, int psd, gap_elastic__spectral law, void *user, double *psi, double *P,
    double *dPdF)
{
    gap_elastic__modes m;
    gap_elastic__w B[9], H[81];
    const double *f[4];
    double *h[4];
    size_t at, nn = (size_t)(rows * cols);
    int first = 0, i, k, l;

    memset(&m, 0, sizeof m);
    for (i = 0; i < count; i += GAP_ELASTIC__LANES) {
        for (l = 0; l < GAP_ELASTIC__LANES; ++l) {
            at = (size_t)(i + l < count ? i + l : count - 1);
            f[l] = F + at * nn;
            h[l] = dPdF ? dPdF + at * nn * nn : NULL;
        }
        for (k = 0; k < rows * cols; ++k) gap_elastic__get(f, k, B + k);
        gap_elastic__svd(rows, cols, B, m.V);
        for (l = 0; l < GAP_ELASTIC__LANES; ++l) {
            at = (size_t)(i + l < count ? i + l : count - 1);
            if (!gap_elastic__point(rows, cols, l, B, par + 4 * at, psd, law, user,
                psi ? psi + at : NULL, P ? P + at * nn : NULL, &m)) {
                if (!first) first = 1 + (int)at;
                for (k = 0; k < cols * cols; ++k) GAP_ELASTIC__AT(m.V[k], l) = 0.0;
            }
        }
        if (!dPdF) continue;
        if (psd) gap_elastic__clamp(cols, m.A);
        gap_elastic__tangent(rows, cols, &m, H);
        for (k = 0; k < (int)(nn * nn); ++k) gap_elastic__put(H + k, h, k);
    }
    return first;
}

static inline int gap_elastic__sizes(int rows, int cols, int count, const double *F,
    const double *par, int psd, gap_elastic__spectral law, void *user, double *psi, double *P,
    double *dPdF)
{
    if (rows == 3 && cols == 3)
        return gap_elastic__batch(3, 3, count, F, par, psd, law, user, psi, P, dPdF);
    if (rows == 2 && cols == 2)
        return gap_elastic__batch(2, 2, count, F, par, psd, law, user, psi, P, dPdF);
    if (rows == 3 && cols == 2)
        return gap_elastic__batch(3, 2, count, F, par, psd, law, user, psi, P, dPdF);
    return GAP_ELASTIC_EINPUT;
}

/* Neo-Hookean in stretches, for 3x2: psi_i = mu (s_i - 1/s_i) + lambda ln J / s_i. */
static inline void gap_elastic__nh_law(void *user, int n, const double *s, const double *par,
    gap_elastic__spectrum *o)
{
    double la = par[0], mu = par[1], ln, c;
    int i;

    (void)user; (void)n;
    o->psi = HUGE_VAL;
    if (!(s[0] * s[1] > 1e-300)) return;
    ln = log(s[0]) + log(s[1]); /* not of the product: its rounding would be all of a small psi */
    c = mu - la * ln;
    o->psi = 0.5 * mu * ((s[0] - 1.0) * (s[0] + 1.0) + (s[1] - 1.0) * (s[1] + 1.0) - 2.0 * ln)
        + 0.5 * la * ln * ln;
    for (i = 0; i < 2; ++i) {
        o->d[i] = mu * s[i] - c / s[i];
        o->out[i] = mu - c / (s[i] * s[i]);
        o->A[3 * i] = mu + (c + la) / (s[i] * s[i]);
    }
    o->A[1] = o->A[2] = la / (s[0] * s[1]);
    o->sym[0] = mu + c / (s[0] * s[1]);
    o->skew[0] = mu - c / (s[0] * s[1]);
}

/* With the third stretch 1 in 2D: J/s_i as the product of the others, so s may be 0 or negative.
   Pair modes: 2 mu - lambda s_k (J-1) and 2 mu - 4 mu/(s_i + s_j) + lambda s_k (J-1). */
static inline void gap_elastic__corotated_law(void *user, int n, const double *s,
    const double *par, gap_elastic__spectrum *o)
{
    double la = par[0], mu = par[1], third = n == 3 ? s[2] : 1.0, v[3], J = s[0] * s[1] * third, k;
    double sum;
    int i, j;

    (void)user;
    v[0] = s[1] * third;
    v[1] = s[0] * third;
    v[2] = s[0] * s[1];
    o->psi = 0.5 * la * (J - 1.0) * (J - 1.0);
    for (i = 0; i < n; ++i) {
        o->psi += mu * (s[i] - 1.0) * (s[i] - 1.0);
        o->d[i] = 2.0 * mu * (s[i] - 1.0) + la * (J - 1.0) * v[i];
        o->A[i * n + i] = 2.0 * mu + la * v[i] * v[i];
        if (n == 2) o->out[i] = s[i] > 1e-6 ? o->d[i] / s[i] : 0.0;
        for (j = 0; j < i; ++j) {
            k = n == 3 ? s[3 - i - j] : 1.0;
            sum = s[i] + s[j];
            o->A[i * n + j] = o->A[j * n + i] = la * (k * (J - 1.0) + v[i] * v[j]);
            o->sym[i + j - 1] = 2.0 * mu - la * k * (J - 1.0);
            o->skew[i + j - 1] = sum < 1e-6 ? 0.0
                : 2.0 * mu - 4.0 * mu / sum + la * k * (J - 1.0);
        }
    }
}

/* G_i = (s_i^2 - 1)/2, t = lambda sum G: psi_i = s_i (t + 2 mu G_i); all quotients divide out. */
static inline void gap_elastic__stvk_law(void *user, int n, const double *s, const double *par,
    gap_elastic__spectrum *o)
{
    double la = par[0], mu = par[1], G[3], tr = 0.0, t;
    int i, j;

    (void)user;
    for (i = 0; i < n; ++i) {
        G[i] = 0.5 * (s[i] - 1.0) * (s[i] + 1.0);
        tr += G[i];
        o->psi += mu * G[i] * G[i];
    }
    o->psi += 0.5 * la * tr * tr;
    t = la * tr;
    for (i = 0; i < n; ++i) {
        o->d[i] = s[i] * (t + 2.0 * mu * G[i]);
        if (n == 2) o->out[i] = t + 2.0 * mu * G[i];
        o->A[i * n + i] = t + 2.0 * mu * G[i] + s[i] * s[i] * (la + 2.0 * mu);
        for (j = 0; j < i; ++j) {
            o->A[i * n + j] = o->A[j * n + i] = la * s[i] * s[j];
            o->sym[i + j - 1] = t + mu * (s[i] * s[i] + s[i] * s[j] + s[j] * s[j] - 1.0);
            o->skew[i + j - 1] = t + mu * (s[i] * s[i] - s[i] * s[j] + s[j] * s[j] - 1.0);
        }
    }
}

/* A user's energy: quotients, or their limit (psi_ii + psi_jj)/2 - psi_ij where the stretches are
   closer than 1e-5 of their size: there both have an error of about 1e-10. */
static inline void gap_elastic__user_law(void *user, int n, const double *s, const double *par,
    gap_elastic__spectrum *o)
{
    const gap_elastic_law *law = (const gap_elastic_law *)user;
    double sum, dif;
    int i, j;

    o->psi = law->energy(law->user, n, s, par, o->d, o->A);
    for (i = 0; i < n; ++i) {
        if (n == 2) o->out[i] = s[i] > 1e-6 ? o->d[i] / s[i] : 0.0;
        for (j = 0; j < i; ++j) {
            sum = s[i] + s[j];
            dif = s[i] - s[j];
            o->sym[i + j - 1] = fabs(dif) > 1e-5 * (fabs(s[i]) + fabs(s[j]))
                ? (o->d[i] - o->d[j]) / dif
                : 0.5 * (o->A[i * n + i] + o->A[j * n + j]) - o->A[i * n + j];
            o->skew[i + j - 1] = sum < 1e-6 ? 0.0 : (o->d[i] + o->d[j]) / sum;
        }
    }
}

GAP_ELASTIC_API void gap_elastic_lame(double E, double nu, int plane_stress, double *lambda,
    double *mu)
{
    *mu = E / (2.0 * (1.0 + nu));
    *lambda = plane_stress ? E * nu / (1.0 - nu * nu) : E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
}

GAP_ELASTIC_API void gap_elastic_young(double lambda, double mu, int plane_stress, double *E,
    double *nu)
{
    *nu = plane_stress ? lambda / (lambda + 2.0 * mu) : lambda / (2.0 * (lambda + mu));
    *E = 2.0 * mu * (1.0 + *nu);
}

GAP_ELASTIC_API int gap_elastic_neo_hookean(void *user, int rows, int cols, int count,
    const double *F, const double *par, int psd, double *psi, double *P, double *dPdF)
{
    (void)user;
    if (rows == 3 && cols == 3)
        return gap_elastic__nh_batch(3, count, F, par, 4, psd, psi, P, dPdF);
    if (rows == 2 && cols == 2)
        return gap_elastic__nh_batch(2, count, F, par, 4, psd, psi, P, dPdF);
    return gap_elastic__sizes(rows, cols, count, F, par, psd, gap_elastic__nh_law, NULL, psi, P,
        dPdF);
}

GAP_ELASTIC_API int gap_elastic_corotated(void *user, int rows, int cols, int count,
    const double *F, const double *par, int psd, double *psi, double *P, double *dPdF)
{
    return gap_elastic__sizes(rows, cols, count, F, par, psd, gap_elastic__corotated_law, user,
        psi, P, dPdF);
}

GAP_ELASTIC_API int gap_elastic_stvk(void *user, int rows, int cols, int count,
    const double *F, const double *par, int psd, double *psi, double *P, double *dPdF)
{
    return gap_elastic__sizes(rows, cols, count, F, par, psd, gap_elastic__stvk_law, user, psi, P,
        dPdF);
}

/* dP_ij/dF_kl = mu (d_ik d_jl + d_il d_jk) + lambda d_ij d_kl: positive for every stable material,
   so psd changes nothing. */
GAP_ELASTIC_API int gap_elastic_linear(void *user, int rows, int cols, int count,
    const double *F, const double *par, int psd, double *psi, double *P, double *dPdF)
{
    double e[9], tr, la, mu, sum;
    int n = cols, nn = n * n, first = 0, p, i, j, k, l, bad;

    (void)user; (void)psd;
    if (rows != cols || cols < 2 || cols > 3) return GAP_ELASTIC_EINPUT;
    for (p = 0; p < count; ++p, F += nn, par += 4) {
        la = par[0];
        mu = par[1];
        for (tr = sum = 0.0, i = 0; i < nn; ++i) {
            e[i] = 0.5 * (F[i] + F[(i % n) * n + i / n]) - (i % (n + 1) ? 0.0 : 1.0);
            sum += e[i] * e[i];
            if (i % (n + 1) == 0) tr += e[i];
        }
        sum = mu * sum + 0.5 * la * tr * tr;
        bad = !(fabs(sum) < HUGE_VAL);
        if (bad && !first) first = 1 + p;
        if (psi) psi[p] = bad ? HUGE_VAL : sum;
        for (i = 0; i < nn && P; ++i)
            P[p * nn + i] = bad ? 0.0 : 2.0 * mu * e[i] + (i % (n + 1) ? 0.0 : la * tr);
        for (i = 0; i < nn * nn && dPdF; ++i) {
            j = i / nn;
            k = i % nn;
            l = (k % n) * n + k / n;
            sum = (j == k ? mu : 0.0) + (j == l ? mu : 0.0);
            if (j % (n + 1) == 0 && k % (n + 1) == 0) sum += la;
            dPdF[(size_t)p * (size_t)(nn * nn) + (size_t)i] = bad ? 0.0 : sum;
        }
    }
    return first;
}

GAP_ELASTIC_API int gap_elastic_isotropic(void *user, int rows, int cols, int count,
    const double *F, const double *par, int psd, double *psi, double *P, double *dPdF)
{
    return gap_elastic__sizes(rows, cols, count, F, par, psd, gap_elastic__user_law, user, psi, P,
        dPdF);
}
#endif /* GAP_ELASTIC_IMPLEMENTATION */
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
