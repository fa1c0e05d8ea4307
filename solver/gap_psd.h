/* gap_psd.h - v0.1.0 - small eigenproblems, nearest PSD matrix, signed SVD - MIT-0, see end
   Makes the Hessian blocks of a simulation safe for Newton's method. Copy this one file.
QUICK START
   #define GAP_PSD_IMPLEMENTATION        // in exactly one .c or .cpp file
   #include "gap_psd.h"
   #include <stdio.h>
   int main(void)
   {
       double a[4] = {1, 2, 2, 1}, w[2], p[4];
       gap_psd_eig(2, a, w, NULL);
       printf("eigenvalues %.1f %.1f\n", w[0], w[1]); // eigenvalues -1.0 3.0
       gap_psd_project(2, a, p);
       printf("nearest %.2f %.2f\n", p[0], p[1]); // nearest 1.50 1.50
       return 0;
   }
GUARANTEES
   Accurate   eigenvalues, residual, projection: within 1e-13 of the largest |eigenvalue| (tested
              against Jacobi in long double). Relative accuracy of tiny eigenvalues: not promised.
   Nearest    gap_psd_project returns the closest PSD matrix in the Frobenius norm; a matrix that is
              PSD to rounding (n 2^-50 of its largest entry) comes back bit for bit.
   Same bits  one matrix, a batch of any size and any position, with and without vector types, with
              and without AVX2 (chosen at run time where the build is plain): the same doubles
              where -ffp-contract=off; a power of two times the input gives that power times the
              output.
   Pure       no globals, no allocation, no I/O, about 22 KB of stack.
OPTIONS (define before the implementation)
   GAP_PSD_STATIC     keep all functions private to this file
   GAP_PSD_ASSERT(x)  replaces assert(x)
   GAP_SCALAR         no vector types (also in other headers of the family)
EDGE CASES
   NaN or infinity in the half that is read: ENONFIN, all outputs of that matrix 0.
   Any scale, subnormal to huge; a result above the largest double: ENONFIN as well.
   Equal eigenvalues: any orthonormal basis of their space.  Zero matrix: unit vectors.
   SVD of rank 0 or 1: U and V are still rotations.
METHOD
   Sizes 2 and 3 in closed form: the best separated root of the cubic, then one rotation. 4..12:
   Householder to tridiagonal, stopped where the rest of the matrix is rounding (contact blocks have
   rank 5 at most), then QR with Wilkinson's shift; only the eigenvectors that the projection needs
   are carried back (the negative ones, or the positive ones if they are fewer). SVD: one-sided
   Jacobi, so small singular values do not suffer from a square. All of it runs on several matrices
   at a time, one per lane of a vector; lanes that are done get identity rotations.
NOT HERE   sparse systems: gap_ldlt.h. Closed-form projections of materials: gap_elastic.h.
HISTORY    0.1.0 first release */
#ifndef GAP_PSD_H
#define GAP_PSD_H
#define GAP_PSD_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_PSD_STATIC
#define GAP_PSD_API static inline
#else
#define GAP_PSD_API extern
#endif
#ifdef __cplusplus
extern "C" {
#endif
typedef enum gap_psd_status {
    GAP_PSD_OK = 0,
    GAP_PSD_ENONFIN = -1 /* input or result not finite; its outputs are 0 */
} gap_psd_status;

/* Eigenvalues and eigenvectors of a symmetric matrix: a = v diag(w) v^T.
   n  size, 1..12
   a  n*n, row by row; only the lower half is read
   w  n, ascending
   v  n*n, row by row, column j belongs to w[j]; may be NULL
   About 1 microsecond at n = 6, 4 at n = 12. */
GAP_PSD_API gap_psd_status gap_psd_eig(int n, const double *a, double *w, double *v);

/* The positive semidefinite matrix nearest to a in the Frobenius norm.
   a    n*n, n in 1..12; only the lower half is read
   out  n*n, both halves; may be a */
GAP_PSD_API gap_psd_status gap_psd_project(int n, const double *a, double *out);

/* Signed singular value decomposition f = u diag(s) v^T with rotations u and v.
   rows, cols  3 3, 3 2 or 2 2
   f           rows*cols, row by row
   u           rows*rows, determinant +1 (3x2: third column = normal of the first two)
   s           cols, descending by size; square f: the last one carries the sign of det f
   v           cols*cols, determinant +1 */
GAP_PSD_API gap_psd_status gap_psd_svd(int rows, int cols, const double *f, double *u, double *s,
    double *v);

/* The same for matrices begin..end-1 of arrays that hold one matrix after the other.
   bad  1 value: the first matrix that is not finite, else -1; may be NULL
   Returns ENONFIN if there was one; the others are done all the same. */
GAP_PSD_API gap_psd_status gap_psd_eig_batch(int n, int begin, int end, const double *a, double *w,
    double *v, int *bad);
GAP_PSD_API gap_psd_status gap_psd_project_batch(int n, int begin, int end, const double *a,
    double *out, int *bad);
GAP_PSD_API gap_psd_status gap_psd_svd_batch(int rows, int cols, int begin, int end,
    const double *f, double *u, double *s, double *v, int *bad);
#ifdef __cplusplus
}
#endif
#endif /* GAP_PSD_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_PSD_STATIC)) && !defined(GAP_PSD_IMPLEMENTATION)
#define GAP_PSD_IMPLEMENTATION
#endif
#if defined(GAP_PSD_IMPLEMENTATION) && !defined(GAP_PSD_IMPLEMENTED)
#define GAP_PSD_IMPLEMENTED
#include <math.h>
#include <stddef.h>
#ifndef GAP_PSD_ASSERT
#include <assert.h>
#define GAP_PSD_ASSERT(x) assert(x)
#endif

/* [block lanes home] one matrix per lane: the same text for vectors and for plain doubles */
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
#define GAP_PSD__AVX2
#endif
#endif
#ifdef GAP_PSD__AVX2
#define GAP_PSD__BODY static inline __attribute__((always_inline))
#else
#define GAP_PSD__BODY static inline
#endif
#if defined(__GNUC__) && !defined(GAP_SCALAR)
#if defined(__AVX__) || defined(GAP_PSD__AVX2)
enum { gap_psd__lanes = 4 };
#else
enum { gap_psd__lanes = 2 };
#endif
typedef double gap_psd__v __attribute__((vector_size(8 * gap_psd__lanes)));
typedef long long gap_psd__m __attribute__((vector_size(8 * gap_psd__lanes)));
static const gap_psd__v gap_psd__zero = {0.0};
#define gap_psd__get(x, lane) ((x)[lane])
#define gap_psd__mask(cmp) ((gap_psd__m)(cmp))
#define gap_psd__sel(m, a, b) ((gap_psd__v)(((m) & (gap_psd__m)(a)) | (~(m) & (gap_psd__m)(b))))
#define gap_psd__abs(x) ((gap_psd__v)((gap_psd__m)(x) & 0x7fffffffffffffffLL))
#define gap_psd__set(x) (gap_psd__zero + (double)(x))
#if defined(__SSE2__) && defined(__has_builtin)
#if defined(__AVX__) && __has_builtin(__builtin_ia32_sqrtpd256)
#define gap_psd__root(x) (x) = __builtin_ia32_sqrtpd256(x)
#define gap_psd__any(m) (__builtin_ia32_movmskpd256((gap_psd__v)(m)) != 0)
#elif defined(GAP_PSD__AVX2) /* by halves: the text does not know its target */
typedef double gap_psd__v2 __attribute__((vector_size(16)));
typedef long long gap_psd__m2 __attribute__((vector_size(16)));
#define gap_psd__root(x) gap_psd__root_halves(&(x))
#define gap_psd__any(m) gap_psd__any_halves(&(m))
GAP_PSD__BODY void gap_psd__root_halves(gap_psd__v *x)
{
    gap_psd__v2 lo = __builtin_ia32_sqrtpd(__builtin_shufflevector(*x, *x, 0, 1));
    gap_psd__v2 hi = __builtin_ia32_sqrtpd(__builtin_shufflevector(*x, *x, 2, 3));
    *x = __builtin_shufflevector(lo, hi, 0, 1, 2, 3);
}

GAP_PSD__BODY int gap_psd__any_halves(const gap_psd__m *m)
{
    gap_psd__m2 lo = __builtin_shufflevector(*m, *m, 0, 1);
    gap_psd__m2 hi = __builtin_shufflevector(*m, *m, 2, 3);
    return __builtin_ia32_movmskpd((gap_psd__v2)(lo | hi)) != 0;
}
#elif !defined(__AVX__) && __has_builtin(__builtin_ia32_sqrtpd)
#define gap_psd__root(x) (x) = __builtin_ia32_sqrtpd(x)
#define gap_psd__any(m) (__builtin_ia32_movmskpd((gap_psd__v)(m)) != 0)
#endif
#endif
#else
enum { gap_psd__lanes = 1 };
typedef double gap_psd__v;
typedef long long gap_psd__m;
#define gap_psd__get(x, lane) (x)
#define gap_psd__mask(cmp) (-(long long)(cmp))
#define gap_psd__sel(m, a, b) ((m) ? (a) : (b))
#define gap_psd__abs(x) fabs(x)
#define gap_psd__set(x) (0.0 + (double)(x))
#endif
#ifndef gap_psd__root
#define gap_psd__root(x) gap_psd__root_lanes(&(x))
#define gap_psd__any(m) gap_psd__any_lanes(&(m))
static inline void gap_psd__root_lanes(gap_psd__v *x)
{
    int l;
    for (l = 0; l < gap_psd__lanes; ++l) gap_psd__get(*x, l) = sqrt(gap_psd__get(*x, l));
}

static inline int gap_psd__any_lanes(const gap_psd__m *m)
{
    int l, some = 0;
    for (l = 0; l < gap_psd__lanes; ++l) some |= gap_psd__get(*m, l) != 0;
    return some;
}
#endif

/* Loads entries of `count` matrices, stride doubles apart: the lower half, packed, of size n*n, or
   (n = 0) all `stride` of them. Lanes without a matrix repeat the first one. */
GAP_PSD__BODY void gap_psd__gather(int count, int n, const double *a, size_t stride, gap_psd__v *x)
{
    int i, j, l, size = n ? n : 1, k = 0;

    for (i = 0; i < size; ++i) {
        for (j = 0; j < (n ? i + 1 : (int)stride); ++j, ++k) {
            const double *p = a + (i * n + j);
            for (l = 0; l < gap_psd__lanes; ++l)
                gap_psd__get(x[k], l) = p[l < count ? (size_t)l * stride : 0];
        }
    }
}

/* Scales each lane by a power of two so that its largest entry is in [1, 2): then no later product
   over- or underflows where it matters. undo[0] * undo[1] takes the scale back (two factors: it
   may reach 2^1074). Returns a bit per lane that is not finite; its entries are set to 0. */
GAP_PSD__BODY int gap_psd__scale(int size, gap_psd__v *x, gap_psd__v undo[2])
{
    gap_psd__v top = gap_psd__set(0.0), check = top, t, s[2];
    gap_psd__m m;
    int i, l, ex, bad = 0;

    for (i = 0; i < size; ++i) {
        t = gap_psd__abs(x[i]);
        m = gap_psd__mask(t > top);
        top = gap_psd__sel(m, t, top);
        check += x[i] * 0.0;
    }
    for (l = 0; l < gap_psd__lanes; ++l) {
        int nonfinite = gap_psd__get(check, l) != 0.0;
        bad |= nonfinite << l;
        for (i = 0; nonfinite && i < size; ++i) gap_psd__get(x[i], l) = 0.0;
        ex = 0;
        if (!nonfinite) frexp(gap_psd__get(top, l), &ex);
        gap_psd__get(s[0], l) = ldexp(1.0, -(ex / 2));
        gap_psd__get(s[1], l) = ldexp(1.0, 1 + ex / 2 - ex);
    }
    for (i = 0; i < size; ++i) x[i] = x[i] * s[0] * s[1];
    undo[0] = 1.0 / s[0];
    undo[1] = 1.0 / s[1];
    return bad;
}

/* Rotation that diagonalises [[*a, b], [b, *c]]: new axes (cs, sn) and (-sn, cs) belong to the new
   *a and *c. The smaller angle, t = tan: t^2 + 2 z t - 1 = 0 with z = (a - c) / 2b. Where b is 0
   or z overflows the rotation is the identity. */
GAP_PSD__BODY void gap_psd__rot(gap_psd__v *a, const gap_psd__v *b, gap_psd__v *c, gap_psd__v *cs,
    gap_psd__v *sn)
{
    gap_psd__m none = gap_psd__mask(*b == 0.0);
    gap_psd__v z = (*a - *c) / gap_psd__sel(none, gap_psd__set(1.0), *b + *b), t, r = z * z + 1.0;

    gap_psd__root(r);
    t = 1.0 / (gap_psd__abs(z) + r);
    t = gap_psd__sel(gap_psd__mask(z < 0.0), -t, t);
    t = gap_psd__sel(none, gap_psd__set(0.0), t);
    r = t * t + 1.0;
    gap_psd__root(r);
    *cs = 1.0 / r;
    *sn = t * *cs;
    *a += t * *b;
    *c -= t * *b;
}

GAP_PSD__BODY void gap_psd__cross(const gap_psd__v a[3], const gap_psd__v b[3], gap_psd__v c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Unit vectors p, q that complete the unit vector v to a right-handed frame v, p, q. The larger of
   the first two components is in p, so its length before scaling is at least sqrt(1/2). */
GAP_PSD__BODY void gap_psd__frame(const gap_psd__v v[3], gap_psd__v p[3], gap_psd__v q[3])
{
    gap_psd__m m = gap_psd__mask(gap_psd__abs(v[0]) > gap_psd__abs(v[1]));
    gap_psd__v zero = gap_psd__set(0.0), r;

    p[0] = gap_psd__sel(m, -v[2], zero);
    p[1] = gap_psd__sel(m, zero, v[2]);
    p[2] = gap_psd__sel(m, v[0], -v[1]);
    r = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    gap_psd__root(r);
    p[0] /= r, p[1] /= r, p[2] /= r;
    gap_psd__cross(v, p, q);
}
/* [end lanes] */

/* [block eig3 home] eigenvalues of size 3 in closed form; needs block lanes */
/* Symmetric matrices are packed by rows of the lower half: (i,j) at i(i+1)/2 + j. Eigenvectors are
   rows of length gap_psd__n. */
enum { gap_psd__n = 12, gap_psd__packed = 78 };

/* The eigenvector of B to its well separated eigenvalue x: the longest cross product of two rows
   of B - x I. Where flat (B is noise): the first axis. */
GAP_PSD__BODY void gap_psd__vec3(const gap_psd__v b[6], const gap_psd__v *x, const gap_psd__m *flat,
    gap_psd__v v[3])
{
    static const int at[3][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}};
    gap_psd__v m[3][3], u[3], r, best = gap_psd__set(-1.0);
    gap_psd__m big;
    int i, k;

    for (i = 0; i < 9; ++i) m[i / 3][i % 3] = b[at[i / 3][i % 3]];
    for (i = 0; i < 3; ++i) m[i][i] -= *x;
    for (k = 0; k < 3; ++k) {
        gap_psd__cross(m[k], m[(k + 1) % 3], u);
        r = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
        big = gap_psd__mask(r > best);
        best = gap_psd__sel(big, r, best);
        for (i = 0; i < 3; ++i) v[i] = gap_psd__sel(big, u[i], v[i]);
    }
    gap_psd__root(best);
    for (i = 0; i < 3; ++i) v[i] = gap_psd__sel(*flat, gap_psd__set(i == 0), v[i] / best);
}

/* Closed form of size 3. With B = (A - q I) / p, q = tr A / 3, |B|_F^2 = 6 and r = det B / 2 in
   [-1, 1] the eigenvalues of B are the roots of x^3 - 3 x - 2 r. The one with the sign of r, in
   sqrt 3 .. 2 by size, is at least sqrt 3 away from the others, so that Newton (slope >= 6)
   and the eigenvector are both well conditioned; the usual three cosines lose half of the digits
   where eigenvalues are close. The other two come from one rotation in the plane across. */
GAP_PSD__BODY void gap_psd__eig3(const gap_psd__v *a, gap_psd__v *d, gap_psd__v *z)
{
    gap_psd__v b[6], v[3], u[3], w[3], p, r, x, cs, sn, q = (a[0] + a[2] + a[5]) / 3.0;
    gap_psd__m flat;
    int i;

    for (i = 0; i < 6; ++i) b[i] = i == 0 || i == 2 || i == 5 ? a[i] - q : a[i];
    p = (b[0] * b[0] + b[2] * b[2] + b[5] * b[5]) / 6.0 +
        (b[1] * b[1] + b[3] * b[3] + b[4] * b[4]) / 3.0;
    gap_psd__root(p);
    flat = gap_psd__mask(p < 1e-60); /* a multiple of I */
    x = gap_psd__sel(flat, gap_psd__set(1.0), p);
    p = gap_psd__sel(flat, gap_psd__set(0.0), p);
    for (i = 0; i < 6; ++i) b[i] /= x;
    r = 0.5 * (b[0] * (b[2] * b[5] - b[4] * b[4]) - b[1] * (b[1] * b[5] - b[4] * b[3]) +
               b[3] * (b[1] * b[4] - b[2] * b[3]));
    w[0] = gap_psd__abs(r);
    w[0] = gap_psd__sel(gap_psd__mask(w[0] > 1.0), gap_psd__set(1.0), w[0]);
    x = 1.7320508075688772 + w[0] * 0.2679491924311228; /* chord, 0.02 off at most */
    for (i = 0; i < 4; ++i) x -= (x * (x * x - 3.0) - 2.0 * w[0]) / (3.0 * x * x - 3.0);
    x = gap_psd__sel(gap_psd__mask(r < 0.0), -x, x);
    gap_psd__vec3(b, &x, &flat, v);
    gap_psd__frame(v, u, w);
    cs = b[0] * u[0] + b[1] * u[1] + b[3] * u[2];
    sn = b[1] * u[0] + b[2] * u[1] + b[4] * u[2];
    r = b[3] * u[0] + b[4] * u[1] + b[5] * u[2];
    d[0] = x;
    d[1] = u[0] * cs + u[1] * sn + u[2] * r;
    r = w[0] * cs + w[1] * sn + w[2] * r;
    d[2] = -(x + d[1]); /* B has no trace */
    gap_psd__rot(d + 1, &r, d + 2, &cs, &sn);
    for (i = 0; i < 3; ++i) {
        d[i] = q + p * d[i];
        z[i] = v[i];
        z[gap_psd__n + i] = cs * u[i] + sn * w[i];
        z[2 * gap_psd__n + i] = cs * w[i] - sn * u[i];
    }
}
/* [end eig3] */

/* [block eig home] eigenvalues and eigenvectors of sizes 1..12; needs blocks lanes, eig3 */
/* Eigenvectors of size 4..12 are those of the tridiagonal, rows of z, m entries, carried back by
   the reflectors I - beta v v^T, v in row k of hv; up to size 3 z itself. */
typedef struct gap_psd__basis {
    int n, m;
    gap_psd__v z[gap_psd__n * gap_psd__n], hv[gap_psd__n * gap_psd__n], beta[gap_psd__n];
} gap_psd__basis;

/* One Householder step: reflector I - beta v v^T that maps column k below the diagonal to a
   multiple of its first entry, applied to both sides of the rest of a: with p = beta A v and
   w = p - (beta v.p / 2) v it is A - v w^T - w v^T. Returns the new entry in *e. */
GAP_PSD__BODY void gap_psd__reflect(int n, int k, gap_psd__v *a, gap_psd__v *v, gap_psd__v *beta,
    gap_psd__v *e)
{
    gap_psd__v w[gap_psd__n], tail = gap_psd__set(0.0), r, x, h;
    gap_psd__m none, some;
    int i, j;

    for (i = k + 1; i < n; ++i) v[i] = a[i * (i + 1) / 2 + k];
    for (i = k + 2; i < n; ++i) tail += v[i] * v[i];
    none = gap_psd__mask(tail < 1e-60); /* below 1e-30 of the largest entry */
    x = v[k + 1];
    r = x * x + tail;
    gap_psd__root(r);
    r = gap_psd__sel(gap_psd__mask(x < 0.0), -r, r);
    *e = gap_psd__sel(none, x, -r);
    v[k + 1] = x + r;
    h = gap_psd__sel(none, gap_psd__set(1.0), r * v[k + 1]);
    *beta = gap_psd__sel(none, gap_psd__set(0.0), 1.0 / h);
    some = ~none;
    if (!gap_psd__any(some)) return;
    for (i = k + 1; i < n; ++i) w[i] = gap_psd__set(0.0);
    for (i = n - 1; i > k; i -= 2) { /* two rows at a time; the last may be alone */
        const gap_psd__v *row = a + i * (i + 1) / 2, *row2 = i - 1 > k ? row - i : row;
        gap_psd__v vi = v[i], vj = i - 1 > k ? v[i - 1] : gap_psd__set(0.0);
        gap_psd__v sum = row[i] * vi, sum2 = gap_psd__set(0.0);
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
    h = gap_psd__set(0.0);
    for (i = k + 1; i < n; ++i) h += w[i] * v[i];
    h = 0.5 * *beta * h;
    for (i = k + 1; i < n; ++i) w[i] = *beta * (w[i] - h * v[i]);
    for (i = n - 1; i > k; i -= 2) {
        gap_psd__v *row = a + i * (i + 1) / 2, *row2 = row - i, vi = v[i], wi = w[i], vj, wj;
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
GAP_PSD__BODY int gap_psd__tridiag(int n, gap_psd__v *a, gap_psd__v *d, gap_psd__v *e,
    gap_psd__basis *q)
{
    double noise = n * 8.9e-16; /* n 2^-50 of the largest entry */
    int i, j, k;

    for (k = 0; k < n; ++k) d[k] = e[k] = q->beta[k] = gap_psd__set(0.0);
    for (k = 0; k < n - 1; ++k) {
        gap_psd__m small, large;
        d[k] = a[k * (k + 1) / 2 + k];
        gap_psd__reflect(n, k, a, q->hv + k * gap_psd__n, q->beta + k, e + k);
        small = gap_psd__mask(gap_psd__abs(e[k]) <= noise);
        if (gap_psd__any(small)) {
            gap_psd__v rest = gap_psd__set(0.0), *row;
            for (i = k + 1; i < n; ++i)
                for (j = k + 1, row = a + i * (i + 1) / 2; j <= i; ++j) rest += row[j] * row[j];
            small = small & gap_psd__mask(rest <= noise * noise);
            if (!gap_psd__any(small)) continue;
            e[k] = gap_psd__sel(small, gap_psd__set(0.0), e[k]);
            for (i = (k + 1) * (k + 2) / 2; i < n * (n + 1) / 2; ++i)
                a[i] = gap_psd__sel(small, gap_psd__set(0.0), a[i]);
            large = ~small;
            if (!gap_psd__any(large)) return k + 1;
        }
    }
    d[n - 1] = a[n * (n + 1) / 2 - 1];
    return n;
}

/* One QR step, rotations lo..hi-1, on the block of each lane: on[k] says where rotation k belongs
   to it. Rotation k takes (x, y) to (r, 0); at first x is the diagonal less the shift. */
GAP_PSD__BODY void gap_psd__qr_step(int lo, int hi, const gap_psd__m *on, const gap_psd__v *shift,
    gap_psd__v *d, gap_psd__v *e, gap_psd__basis *q)
{
    gap_psd__v zero = gap_psd__set(0.0), one = gap_psd__set(1.0), x = zero, y = zero, r, c, s, h;
    int j, k, m = q->m;

    for (k = lo; k < hi; ++k) {
        gap_psd__m first = k > lo ? on[k] & ~on[k - 1] : on[k], go;
        x = gap_psd__sel(first, d[k] - *shift, x);
        y = gap_psd__sel(first, e[k], y);
        r = x * x + y * y;
        go = on[k] & gap_psd__mask(r > 1e-250);
        h = 1.0 / r; /* beside the root, not behind it; where r is 0 nothing of it is used */
        gap_psd__root(r);
        h = h * r;
        c = gap_psd__sel(go, x * h, one);
        s = gap_psd__sel(go, y * h, zero);
        if (k > lo) e[k - 1] = gap_psd__sel(on[k] & ~first, r, e[k - 1]);
        h = s * (d[k + 1] - d[k]) + c * (e[k] + e[k]);
        d[k] += s * h;
        d[k + 1] -= s * h;
        x = e[k] = c * h - e[k];
        y = s * e[k + 1]; /* behind the block's end nobody reads it */
        e[k + 1] = c * e[k + 1];
        for (j = 0; j < m; ++j) {
            gap_psd__v *z = q->z + k * gap_psd__n + j, p = z[0], t = z[gap_psd__n];
            z[0] = c * p + s * t;
            z[gap_psd__n] = c * t - s * p;
        }
    }
}

/* Eigenvalues d and eigenvectors q->z of the tridiagonal d, e. Couplings below 2^-52 of the norm
   are taken as 0. Every lane works on its own last block that is not yet diagonal, with
   Wilkinson's shift: the eigenvalue of its last 2x2 that is nearer to the last entry. Two steps
   per eigenvalue as a rule; 20 are never reached. */
GAP_PSD__BODY void gap_psd__qr(gap_psd__v *d, gap_psd__v *e, gap_psd__basis *q)
{
    gap_psd__v zero = gap_psd__set(0.0), one = gap_psd__set(1.0), tol = zero, last, half, b, r;
    gap_psd__m on[gap_psd__n], seen, big, now;
    int j, k, lo, hi, step, m = q->m;

    for (k = 0; k < m; ++k) {
        for (j = 0; j < m; ++j) q->z[k * gap_psd__n + j] = zero;
        q->z[k * gap_psd__n + k] = one;
        tol += d[k] * d[k] + 2.0 * e[k] * e[k];
    }
    gap_psd__root(tol);
    tol = tol * 2.2204460492503131e-16;
    for (step = 0; step < 20 * m; ++step) {
        now = seen = gap_psd__mask(zero != zero);
        last = half = b = zero;
        for (lo = hi = -1, k = m - 2; k >= 0; --k) {
            big = gap_psd__mask(gap_psd__abs(e[k]) > tol);
            on[k] = now = big & (now | ~seen);
            if (!gap_psd__any(now)) continue;
            lo = k;
            if (hi < 0) hi = k + 1;
            now = big & ~seen;
            if (gap_psd__any(now)) { /* rotation k is the last of its block */
                last = gap_psd__sel(now, d[k + 1], last);
                half = gap_psd__sel(now, 0.5 * (d[k] - d[k + 1]), half);
                b = gap_psd__sel(now, e[k], b);
                seen = seen | big;
            }
            now = on[k];
        }
        if (hi < 0) return;
        r = half * half + b * b;
        gap_psd__root(r);
        r = half + gap_psd__sel(gap_psd__mask(half < 0.0), -r, r);
        last -= b * b / gap_psd__sel(seen, r, one);
        gap_psd__qr_step(lo, hi, on, &last, d, e, q);
    }
}

/* Eigenvalues d[0..m-1] (the others are 0) of the packed matrix a, which is destroyed, and the way
   to their eigenvectors. */
GAP_PSD__BODY void gap_psd__solve(int n, gap_psd__v *a, gap_psd__v *d, gap_psd__basis *q)
{
    gap_psd__v e[gap_psd__n];

    q->n = q->m = n;
    if (n > 3) {
        q->m = gap_psd__tridiag(n, a, d, e, q);
        gap_psd__qr(d, e, q);
    } else if (n == 3) {
        gap_psd__eig3(a, d, q->z);
    } else {
        d[0] = a[0];
        q->z[0] = gap_psd__set(1.0);
        if (n == 2) {
            d[1] = a[2];
            gap_psd__rot(d, a + 1, d + 1, q->z, q->z + 1);
            q->z[gap_psd__n] = -q->z[1];
            q->z[gap_psd__n + 1] = q->z[0];
        }
    }
}

/* Carries y from reduced coordinates, where it has up to m entries, to those of the matrix. */
GAP_PSD__BODY void gap_psd__back(const gap_psd__basis *q, int m, gap_psd__v *y)
{
    int i, k;

    for (k = q->n > 3 ? m - 2 : -1; k >= 0; --k) {
        const gap_psd__v *v = q->hv + k * gap_psd__n;
        gap_psd__v t = gap_psd__set(0.0);
        for (i = k + 1; i < q->n; ++i) t += v[i] * y[i];
        t = t * q->beta[k];
        for (i = k + 1; i < q->n; ++i) y[i] -= t * v[i];
    }
}

/* Eigenvalues (ascending) and eigenvectors (columns; v may be NULL) of 1..gap_psd__lanes matrices
   n*n in a row. Returns a bit per matrix that is not finite (it gets zeros). */
GAP_PSD__BODY int gap_psd__eigen(int n, int count, const double *a, double *w, double *v)
{
    gap_psd__v x[gap_psd__packed], y[gap_psd__n * gap_psd__n], d[gap_psd__n], undo[2];
    gap_psd__basis q;
    int order[gap_psd__n], i, j, l, bad;

    gap_psd__gather(count, n, a, (size_t)(n * n), x);
    bad = gap_psd__scale(n * (n + 1) / 2, x, undo);
    gap_psd__solve(n, x, d, &q);
    for (j = 0; j < n; ++j) {
        for (i = 0; i < n; ++i)
            y[j * n + i] = i < q.m && j < q.m ? q.z[j * gap_psd__n + i] : gap_psd__set(i == j);
        if (v) gap_psd__back(&q, j < q.m ? q.m : q.m + 1, y + j * n);
        d[j] = d[j] * undo[0] * undo[1];
    }
    for (l = 0; l < count; ++l) {
        for (j = 0; j < n; ++j) { /* insertion sort */
            double t = gap_psd__get(d[j], l);
            if (!(fabs(t) < HUGE_VAL)) bad |= 1 << l;
            for (i = j; i > 0 && gap_psd__get(d[order[i - 1]], l) > t; --i) order[i] = order[i - 1];
            order[i] = j;
        }
        for (j = 0; j < n; ++j) {
            double keep = bad >> l & 1 ? 0.0 : 1.0;
            w[l * n + j] = keep != 0.0 ? gap_psd__get(d[order[j]], l) + 0.0 : 0.0;
            for (i = 0; v && i < n; ++i)
                v[(l * n + i) * n + j] = keep * gap_psd__get(y[order[j] * n + i], l) + 0.0;
        }
    }
    return bad & ((1 << count) - 1);
}
/* [end eig] */

/* [block psd home] nearest PSD matrix; needs blocks lanes, eig3, eig */
/* sum = the part of the spectrum that the projection adds: -lambda y y^T over the negative
   eigenvalues, or lambda y y^T over the positive ones where they are fewer (*fresh: the matrix
   itself is then dropped). Eigenvalues within the rounding `noise` count as 0. c: eigenvalues,
   used up. */
GAP_PSD__BODY void gap_psd__spectrum(const gap_psd__basis *q, gap_psd__v *c, gap_psd__v *sum,
    gap_psd__m *fresh)
{
    gap_psd__v zero = gap_psd__set(0.0), one = gap_psd__set(1.0), plus = zero, coef, t;
    gap_psd__v y[gap_psd__n], noise = gap_psd__set(q->n * 8.9e-16);
    gap_psd__m found, now;
    int i, j, n = q->n, m = q->m;

    for (j = 0; j < m; ++j) {
        plus += gap_psd__sel(gap_psd__mask(c[j] > noise), one, zero);
        plus -= gap_psd__sel(gap_psd__mask(c[j] < -noise), one, zero);
    }
    *fresh = gap_psd__mask(plus < 0.0);
    for (j = 0; j < m; ++j) {
        t = gap_psd__sel(*fresh, c[j], -c[j]);
        c[j] = gap_psd__sel(gap_psd__mask(t > noise), t, zero);
    }
    for (i = 0; i < n * (n + 1) / 2; ++i) sum[i] = zero;
    for (;;) { /* every round takes one eigenvector of each lane that has one left */
        coef = zero;
        for (i = 0; i < n; ++i) y[i] = zero;
        found = gap_psd__mask(coef != zero);
        for (j = 0; j < m; ++j) {
            now = ~found & gap_psd__mask(c[j] > zero);
            if (!gap_psd__any(now)) continue;
            found = found | now;
            coef = gap_psd__sel(now, c[j], coef);
            c[j] = gap_psd__sel(now, zero, c[j]);
            for (i = 0; i < m; ++i) y[i] = gap_psd__sel(now, q->z[j * gap_psd__n + i], y[i]);
        }
        if (!gap_psd__any(found)) return;
        gap_psd__back(q, m, y);
        for (i = 0; i < n; ++i) {
            t = coef * y[i];
            for (j = 0; j <= i; ++j) sum[i * (i + 1) / 2 + j] += t * y[j];
        }
    }
}

/* Nearest PSD matrices of 1..gap_psd__lanes matrices n*n in a row; out may be a. Returns a bit per
   matrix that is not finite (it gets zeros). */
GAP_PSD__BODY int gap_psd__nearest(int n, int count, const double *a, double *out)
{
    gap_psd__v zero = gap_psd__set(0.0), check = zero, t, undo[2];
    gap_psd__v raw[gap_psd__packed], x[gap_psd__packed], d[gap_psd__n];
    gap_psd__basis q;
    gap_psd__m fresh, some;
    size_t nn = (size_t)(n * n);
    int i, j, k, l, bad;

    gap_psd__gather(count, n, a, nn, raw);
    for (k = 0; k < n * (n + 1) / 2; ++k) x[k] = raw[k];
    bad = gap_psd__scale(n * (n + 1) / 2, x, undo);
    gap_psd__solve(n, x, d, &q);
    gap_psd__spectrum(&q, d, x, &fresh);
    for (l = 0; l < gap_psd__lanes; ++l) if (bad >> l & 1) gap_psd__get(fresh, l) = -1;
    for (i = k = 0; i < n; ++i) {
        for (j = 0; j <= i; ++j, ++k) {
            t = gap_psd__sel(fresh, zero, raw[k]);
            x[k] = x[k] * undo[0] * undo[1];
            some = gap_psd__mask(x[k] != zero);
            t = gap_psd__sel(some, t + x[k], t); /* an entry that stays keeps its bits, also -0 */
            check += t * 0.0;
            for (l = 0; l < count; ++l) {
                double *to = out + (size_t)l * nn;
                to[i * n + j] = to[j * n + i] = gap_psd__get(t, l);
            }
        }
    }
    for (l = 0; l < count; ++l) {
        if (!(gap_psd__get(check, l) != 0.0)) continue;
        bad |= 1 << l;
        for (i = 0; i < n * n; ++i) out[(size_t)l * nn + (size_t)i] = 0.0;
    }
    return bad & ((1 << count) - 1);
}
/* [end psd] */

/* [block svd3 home] signed SVD of 3x3, 3x2, 2x2 by one-sided Jacobi; needs block lanes */
/* Rotates columns b of f, and with them those of v, until they are orthogonal to 2^-53; quadratic,
   four sweeps as a rule. */
GAP_PSD__BODY void gap_psd__svd_sweeps(gap_psd__v b[3][3], gap_psd__v v[3][3])
{
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    gap_psd__v aa, bb, ab, c, s, t, zero = gap_psd__set(0.0);
    gap_psd__m go, some;
    int i, k, sweep;

    for (sweep = 0; sweep < 12; ++sweep) {
        some = gap_psd__mask(zero != zero);
        for (k = 0; k < 3; ++k) {
            gap_psd__v *p = b[first[k]], *q = b[second[k]], *vp = v[first[k]], *vq = v[second[k]];
            aa = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
            bb = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
            ab = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
            go = gap_psd__mask(ab * ab > 1.3e-32 * aa * bb);
            go = go & gap_psd__mask(gap_psd__abs(ab) > 1e-100);
            if (!gap_psd__any(go)) continue;
            some = some | go;
            ab = gap_psd__sel(go, ab, zero);
            gap_psd__rot(&aa, &ab, &bb, &c, &s);
            for (i = 0; i < 3; ++i) {
                t = p[i], p[i] = c * t + s * q[i], q[i] = c * q[i] - s * t;
                t = vp[i], vp[i] = c * t + s * vq[i], vq[i] = c * vq[i] - s * t;
            }
        }
        if (!gap_psd__any(some)) return;
    }
}

/* Columns b, and with them v, by descending length; (p, q) -> (q, -p) keeps determinants. */
GAP_PSD__BODY void gap_psd__svd_sort(gap_psd__v b[3][3], gap_psd__v v[3][3])
{
    static const int first[3] = {0, 1, 0};
    int i, k;

    for (k = 0; k < 3; ++k) {
        gap_psd__v *p = b[first[k]], *q = b[first[k] + 1], *vp = v[first[k]], *vq = v[first[k] + 1];
        gap_psd__v aa = p[0] * p[0] + p[1] * p[1] + p[2] * p[2], t;
        gap_psd__v bb = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
        gap_psd__m swap = gap_psd__mask(bb > aa);
        for (i = 0; i < 3; ++i) {
            t = p[i], p[i] = gap_psd__sel(swap, q[i], t), q[i] = gap_psd__sel(swap, -t, q[i]);
            t = vp[i], vp[i] = gap_psd__sel(swap, vq[i], t), vq[i] = gap_psd__sel(swap, -t, vq[i]);
        }
    }
}

/* From orthogonal columns b in descending order: rotation u and signed s, b_j = s_j u_j. u2 is the
   cross product of the others, so the sign of the determinant falls into s2 by itself. */
GAP_PSD__BODY void gap_psd__svd_u(int rows, gap_psd__v b[3][3], gap_psd__v u[3][3], gap_psd__v s[3])
{
    gap_psd__v zero = gap_psd__set(0.0), one = gap_psd__set(1.0), t, p[3], q[3];
    gap_psd__m none;
    int i;

    s[0] = b[0][0] * b[0][0] + b[0][1] * b[0][1] + b[0][2] * b[0][2];
    gap_psd__root(s[0]);
    none = gap_psd__mask(s[0] == 0.0);
    t = gap_psd__sel(none, one, s[0]);
    for (i = 0; i < 3; ++i) u[0][i] = gap_psd__sel(none, gap_psd__set(i == 0), b[0][i] / t);
    t = u[0][0] * b[1][0] + u[0][1] * b[1][1] + u[0][2] * b[1][2];
    for (i = 0; i < 3; ++i) u[1][i] = b[1][i] - t * u[0][i];
    t = u[1][0] * u[1][0] + u[1][1] * u[1][1] + u[1][2] * u[1][2];
    none = gap_psd__mask(t < 1e-60); /* rank 1: s1 below 1e-30 of the largest entry */
    t = gap_psd__sel(none, one, t);
    gap_psd__root(t);
    gap_psd__frame(u[0], p, q);
    if (rows == 2) {
        p[0] = -u[0][1], p[1] = u[0][0], p[2] = zero;
        none = gap_psd__mask(zero == zero);
    }
    for (i = 0; i < 3; ++i) u[1][i] = gap_psd__sel(none, p[i], u[1][i] / t);
    gap_psd__cross(u[0], u[1], u[2]);
    s[1] = u[1][0] * b[1][0] + u[1][1] * b[1][1] + u[1][2] * b[1][2];
    if (rows == 3) s[1] = gap_psd__sel(none, zero, s[1]);
    s[2] = u[2][0] * b[2][0] + u[2][1] * b[2][1] + u[2][2] * b[2][2];
    for (i = 1; i < 3; ++i) { /* the order holds to the last bit */
        t = s[i - 1];
        s[i] = gap_psd__sel(gap_psd__mask(s[i] > t), t, s[i]);
        s[i] = gap_psd__sel(gap_psd__mask(s[i] < -t), -t, s[i]);
    }
}

/* Signed SVD of 1..gap_psd__lanes matrices rows*cols in a row (3 3, 3 2 or 2 2), padded with zeros
   to size 3. Returns a bit per matrix that is not finite (it gets zeros). */
GAP_PSD__BODY int gap_psd__svd(int rows, int cols, int count, const double *f, double *u, double *s,
    double *v)
{
    gap_psd__v x[9], b[3][3], vv[3][3], uu[3][3], ss[3], undo[2];
    int i, j, l, bad;

    gap_psd__gather(count, 0, f, (size_t)(rows * cols), x);
    bad = gap_psd__scale(rows * cols, x, undo);
    for (j = 0; j < 3; ++j) {
        for (i = 0; i < 3; ++i) {
            b[j][i] = i < rows && j < cols ? x[i * cols + j] : gap_psd__set(0.0);
            vv[j][i] = gap_psd__set(i == j);
        }
    }
    gap_psd__svd_sweeps(b, vv);
    gap_psd__svd_sort(b, vv);
    gap_psd__svd_u(rows, b, uu, ss);
    for (j = 0; j < cols; ++j) ss[j] = ss[j] * undo[0] * undo[1];
    for (l = 0; l < count; ++l) {
        double keep;
        if (!(gap_psd__get(ss[0], l) < HUGE_VAL)) bad |= 1 << l;
        keep = bad >> l & 1 ? 0.0 : 1.0;
        for (j = 0; j < cols; ++j)
            s[l * cols + j] = keep != 0.0 ? gap_psd__get(ss[j], l) + 0.0 : 0.0;
        for (i = 0; i < rows * rows; ++i)
            u[l * rows * rows + i] = keep * gap_psd__get(uu[i % rows][i / rows], l) + 0.0;
        for (i = 0; i < cols * cols; ++i)
            v[l * cols * cols + i] = keep * gap_psd__get(vv[i % cols][i / cols], l) + 0.0;
    }
    return bad & ((1 << count) - 1);
}
/* [end svd3] */

/* One group of matrices, compiled once per instruction set. */
#define GAP_PSD__GROUP(NAME, TARGET)                                                              \
TARGET static inline int gap_psd__eigen_##NAME(int n, int count, const double *a, double *w,     \
    double *v)                                                                                    \
{                                                                                                 \
    return gap_psd__eigen(n, count, a, w, v);                                                     \
}                                                                                                 \
TARGET static inline int gap_psd__nearest_##NAME(int n, int count, const double *a, double *out) \
{                                                                                                 \
    return gap_psd__nearest(n, count, a, out);                                                    \
}                                                                                                 \
TARGET static inline int gap_psd__svd_##NAME(int rows, int cols, int count, const double *f,     \
    double *u, double *s, double *v)                                                              \
{                                                                                                 \
    return gap_psd__svd(rows, cols, count, f, u, s, v);                                           \
}
#define GAP_PSD__AS_BUILT
GAP_PSD__GROUP(built, GAP_PSD__AS_BUILT)
#ifdef GAP_PSD__AVX2
GAP_PSD__GROUP(avx2, __attribute__((target("avx2"))))
#define GAP_PSD__BEST(what, args)                                                                 \
    (__builtin_cpu_supports("avx2") ? gap_psd__##what##_avx2 args : gap_psd__##what##_built args)
#else
#define GAP_PSD__BEST(what, args) gap_psd__##what##_built args
#endif

/* Status of a batch from the bits of one group that starts at matrix `first`. */
static inline void gap_psd__note(int bits, int first, int *where)
{
    int l;
    for (l = 0; l < gap_psd__lanes && *where < 0; ++l)
        if (bits >> l & 1) *where = first + l;
}

static inline gap_psd_status gap_psd__report(int where, int *bad)
{
    if (bad) *bad = where;
    return where < 0 ? GAP_PSD_OK : GAP_PSD_ENONFIN;
}

GAP_PSD_API gap_psd_status gap_psd_eig(int n, const double *a, double *w, double *v)
{
    GAP_PSD_ASSERT(n >= 1 && n <= gap_psd__n && a && w);
    return GAP_PSD__BEST(eigen, (n, 1, a, w, v)) ? GAP_PSD_ENONFIN : GAP_PSD_OK;
}

GAP_PSD_API gap_psd_status gap_psd_project(int n, const double *a, double *out)
{
    GAP_PSD_ASSERT(n >= 1 && n <= gap_psd__n && a && out);
    return GAP_PSD__BEST(nearest, (n, 1, a, out)) ? GAP_PSD_ENONFIN : GAP_PSD_OK;
}

GAP_PSD_API gap_psd_status gap_psd_svd(int rows, int cols, const double *f, double *u, double *s,
    double *v)
{
    GAP_PSD_ASSERT((rows == 2 || rows == 3) && (cols == 2 || cols == rows) && f && u && s && v);
    return GAP_PSD__BEST(svd, (rows, cols, 1, f, u, s, v)) ? GAP_PSD_ENONFIN : GAP_PSD_OK;
}

GAP_PSD_API gap_psd_status gap_psd_eig_batch(int n, int begin, int end, const double *a, double *w,
    double *v, int *bad)
{
    size_t nn = (size_t)(n * n), k;
    int i, count, where = -1;

    GAP_PSD_ASSERT(n >= 1 && n <= gap_psd__n && begin >= 0 && begin <= end);
    for (i = begin; i < end; i += count) {
        k = (size_t)i;
        count = end - i < gap_psd__lanes ? end - i : (int)gap_psd__lanes;
        gap_psd__note(GAP_PSD__BEST(eigen, (n, count, a + k * nn, w + k * (size_t)n,
                          v ? v + k * nn : NULL)), i, &where);
    }
    return gap_psd__report(where, bad);
}

GAP_PSD_API gap_psd_status gap_psd_project_batch(int n, int begin, int end, const double *a,
    double *out, int *bad)
{
    size_t nn = (size_t)(n * n), k;
    int i, count, where = -1;

    GAP_PSD_ASSERT(n >= 1 && n <= gap_psd__n && begin >= 0 && begin <= end);
    for (i = begin; i < end; i += count) {
        k = (size_t)i;
        count = end - i < gap_psd__lanes ? end - i : (int)gap_psd__lanes;
        gap_psd__note(GAP_PSD__BEST(nearest, (n, count, a + k * nn, out + k * nn)), i, &where);
    }
    return gap_psd__report(where, bad);
}

GAP_PSD_API gap_psd_status gap_psd_svd_batch(int rows, int cols, int begin, int end,
    const double *f, double *u, double *s, double *v, int *bad)
{
    int i, count, where = -1;

    GAP_PSD_ASSERT((rows == 2 || rows == 3) && (cols == 2 || cols == rows));
    GAP_PSD_ASSERT(begin >= 0 && begin <= end);
    for (i = begin; i < end; i += count) {
        size_t k = (size_t)i;
        count = end - i < gap_psd__lanes ? end - i : (int)gap_psd__lanes;
        gap_psd__note(GAP_PSD__BEST(svd, (rows, cols, count, f + k * (size_t)(rows * cols),
                          u + k * (size_t)(rows * rows), s + k * (size_t)cols,
                          v + k * (size_t)(cols * cols))), i, &where);
    }
    return gap_psd__report(where, bad);
}
#endif /* GAP_PSD_IMPLEMENTATION */

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
