/* Tests of solver/gap_psd.h. The oracle is Jacobi's method in long double: no code in common, and
   rounding 2^-64. Matrices of all sizes, ranks, spectra and scales. test_psd_scalar.c runs the
   same file without vector types. */
#define GAP_PSD_IMPLEMENTATION
#include "gap_psd.h"
#include "util.h"

enum { MAX = 12, KINDS = 12 };

/* ---- oracle ---- */

/* Cyclic Jacobi: a (destroyed) = v diag(w) v^T. */
static void oracle_eig(int n, long double *a, long double *w, long double *v)
{
    int i, j, k, sweep;

    for (i = 0; i < n * n; ++i) v[i] = i % (n + 1) == 0;
    for (sweep = 0; sweep < 60; ++sweep) {
        long double off = 0, all = 0;
        for (i = 0; i < n; ++i)
            for (j = 0; j < n; ++j) {
                all += a[i * n + j] * a[i * n + j];
                if (i != j) off += a[i * n + j] * a[i * n + j];
            }
        if (off <= 1e-42L * all) break;
        for (i = 0; i < n; ++i)
            for (j = i + 1; j < n; ++j) {
                long double x = a[i * n + j], phi, c, s;
                if (x == 0) continue;
                phi = 0.5L * atan2l(2 * x, a[j * n + j] - a[i * n + i]);
                c = cosl(phi), s = sinl(phi);
                for (k = 0; k < n; ++k) {
                    long double p = a[k * n + i], q = a[k * n + j];
                    a[k * n + i] = c * p - s * q, a[k * n + j] = s * p + c * q;
                }
                for (k = 0; k < n; ++k) {
                    long double p = a[i * n + k], q = a[j * n + k];
                    a[i * n + k] = c * p - s * q, a[j * n + k] = s * p + c * q;
                    p = v[k * n + i], q = v[k * n + j];
                    v[k * n + i] = c * p - s * q, v[k * n + j] = s * p + c * q;
                }
            }
    }
    for (i = 0; i < n; ++i) w[i] = a[i * n + i];
}

static int ascending(const void *a, const void *b)
{
    long double x = *(const long double *)a, y = *(const long double *)b;
    return (x > y) - (x < y);
}

/* Sorted eigenvalues, nearest PSD matrix, largest |eigenvalue|. */
static long double oracle(int n, const double *a, long double *w, long double *p)
{
    long double c[MAX * MAX], v[MAX * MAX], top = 0;
    int i, j, k;

    for (i = 0; i < n * n; ++i) c[i] = a[i], p[i] = 0;
    oracle_eig(n, c, w, v);
    for (k = 0; k < n; ++k) {
        top = fmaxl(top, fabsl(w[k]));
        for (i = 0; i < n; ++i)
            for (j = 0; j < n; ++j)
                p[i * n + j] += fmaxl(w[k], 0) * v[i * n + k] * v[j * n + k];
    }
    qsort(w, (size_t)n, sizeof *w, ascending);
    return top;
}

/* ---- matrices ---- */
static double uniform(void)
{
    return 2.0 * munit_rand_double() - 1.0;
}

static void add_outer(int n, double *a, const double *v, double c)
{
    int i, j;
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j) a[i * n + j] += c * (v[i] * v[j]);
}

/* a = Q diag(w) Q^T with a random orthonormal Q (Gram-Schmidt in long double). */
static void with_spectrum(int n, const double *w, double *a)
{
    long double q[MAX][MAX], d;
    int i, j, k;

    for (k = 0; k < n; ++k) {
        for (i = 0; i < n; ++i) q[k][i] = uniform();
        for (j = 0; j < 2 * k; ++j) {
            for (d = 0, i = 0; i < n; ++i) d += q[j % k][i] * q[k][i];
            for (i = 0; i < n; ++i) q[k][i] -= d * q[j % k][i];
        }
        for (d = 0, i = 0; i < n; ++i) d += q[k][i] * q[k][i];
        for (i = 0; i < n; ++i) q[k][i] /= sqrtl(d);
    }
    for (i = 0; i < n; ++i)
        for (j = 0; j <= i; ++j) {
            for (d = 0, k = 0; k < n; ++k) d += w[k] * q[k][i] * q[k][j];
            a[i * n + j] = a[j * n + i] = (double)d;
        }
}

static void make(int kind, int n, double *a)
{
    double v[MAX], w[MAX];
    int i, j, k, r = kind < 4 ? kind : n;

    for (i = 0; i < n * n; ++i) a[i] = 0.0;
    if (kind <= 4) { /* rank 0..3, full */
        for (k = 0; k < r; ++k) {
            for (i = 0; i < n; ++i) v[i] = uniform();
            add_outer(n, a, v, k % 2 ? -0.3 : 1.0);
        }
    } else if (kind == 5) { /* contact: no translation mode, 3 positive and 2 negative */
        for (k = 0; k < 5; ++k) {
            for (i = 0; i < n; ++i) v[i] = i < 3 ? 0.0 : uniform();
            for (i = 3; i < n; ++i) v[i % 3] -= v[i];
            add_outer(n, a, v, k < 2 ? -0.01 : 10.0);
        }
    } else if (kind == 6) { /* multiple of the unit matrix, with a speck of dust */
        for (i = 0; i < n; ++i) a[i * n + i] = -3.0;
        if (munit_rand_uint32() & 1) a[n * n - n] = a[n - 1] = 1e-17;
    } else if (kind == 7) { /* clusters */
        for (i = 0; i < n; ++i) w[i] = i % 2 ? -1.0 : 2.0;
        with_spectrum(n, w, a);
    } else if (kind == 8) { /* nearly equal */
        for (i = 0; i < n; ++i) w[i] = 1.0 + 1e-9 * uniform();
        with_spectrum(n, w, a);
    } else if (kind == 9) { /* graded, both signs */
        for (i = 0; i < n; ++i) w[i] = pow(10.0, -2.0 * i) * (i % 3 ? 1.0 : -1.0);
        with_spectrum(n, w, a);
    } else if (kind == 10) { /* small whole numbers: exact zeros and ties */
        for (i = 0; i < n; ++i)
            for (j = 0; j <= i; ++j)
                a[i * n + j] = a[j * n + i] = (double)munit_rand_int_range(-1, 1);
    } else { /* diagonal */
        for (i = 0; i < n; ++i) a[i * n + i] = (double)munit_rand_int_range(-2, 2);
    }
}

/* ---- checks ---- */

/* Eigenvalues, residual, orthonormality and projection of one matrix against the oracle. */
static void check(int n, const double *a, double tol)
{
    long double ow[MAX], op[MAX * MAX], top = oracle(n, a, ow, op), r, o;
    double w[MAX], v[MAX * MAX], p[MAX * MAX];
    int i, j, k;

    munit_assert_int(gap_psd_eig(n, a, w, v), ==, GAP_PSD_OK);
    munit_assert_int(gap_psd_project(n, a, p), ==, GAP_PSD_OK);
    for (i = 0; i < n; ++i) {
        if (!(fabsl(w[i] - ow[i]) <= tol * top))
            munit_errorf("n %d: eigenvalue %d is %.17g, not %.17Lg", n, i, w[i], ow[i]);
        munit_assert_true(i == 0 || w[i] >= w[i - 1]);
        for (j = 0; j < n; ++j) {
            for (r = 0, o = 0, k = 0; k < n; ++k) {
                r += (long double)a[i * n + k] * v[k * n + j];
                o += (long double)v[k * n + i] * v[k * n + j];
            }
            r -= (long double)w[j] * v[i * n + j];
            if (!(fabsl(r) <= tol * top))
                munit_errorf("n %d: residual %d %d is %Lg of %Lg", n, i, j, r, top);
            munit_assert_true(fabsl(o - (i == j)) <= 1e-14L);
            if (!(fabsl(p[i * n + j] - op[i * n + j]) <= tol * top))
                munit_errorf("n %d: projection %d %d is %.17g, not %.17Lg (top %Lg)", n, i, j,
                    p[i * n + j], op[i * n + j], top);
            munit_assert_true(p[i * n + j] == p[j * n + i]);
        }
    }
    oracle(n, p, ow, op);
    munit_assert_true(ow[0] >= -tol * top);
}

static MunitResult quick_start(const MunitParameter params[], void *data)
{
    double a[4] = {1, 2, 2, 1}, w[2], p[4];

    (void)params; (void)data;
    munit_assert_int(gap_psd_eig(2, a, w, NULL), ==, GAP_PSD_OK);
    munit_assert_double_equal(w[0], -1.0, 14);
    munit_assert_double_equal(w[1], 3.0, 14);
    munit_assert_int(gap_psd_project(2, a, p), ==, GAP_PSD_OK);
    munit_assert_double_equal(p[0], 1.5, 14);
    munit_assert_double_equal(p[1], 1.5, 14);
    return MUNIT_OK;
}

static MunitResult against_jacobi(const MunitParameter params[], void *data)
{
    int rep, n, kind, reps = util_count(6, 300);
    double a[MAX * MAX];

    (void)params; (void)data;
    for (rep = 0; rep < reps; ++rep)
        for (n = 1; n <= MAX; ++n)
            for (kind = 0; kind < KINDS; ++kind) {
                make(kind, n, a);
                check(n, a, 1e-13);
            }
    return MUNIT_OK;
}

/* A matrix that is PSD comes back bit for bit, -0 included; the negative of one gives 0. */
static MunitResult psd_unchanged(const MunitParameter params[], void *data)
{
    double a[MAX * MAX], p[MAX * MAX], v[MAX];
    int rep, n, i, k, r, reps = util_count(30, 3000);

    (void)params; (void)data;
    for (rep = 0; rep < reps; ++rep)
        for (n = 1; n <= MAX; ++n) {
            for (i = 0; i < n * n; ++i) a[i] = rep % 2 ? 0.0 : -0.0;
            for (r = munit_rand_int_range(0, n), k = 0; k < r; ++k) {
                for (i = 0; i < n; ++i) v[i] = munit_rand_int_range(0, 3) ? uniform() : 0.0;
                add_outer(n, a, v, 1.0);
            }
            munit_assert_int(gap_psd_project(n, a, p), ==, GAP_PSD_OK);
            munit_assert_memory_equal((size_t)(n * n) * sizeof *a, a, p);
            for (i = 0; i < n * n; ++i) a[i] = -a[i];
            munit_assert_int(gap_psd_project(n, a, p), ==, GAP_PSD_OK);
            for (i = 0; i < n * n; ++i) munit_assert_true(p[i] == 0.0 || r == 0);
        }
    return MUNIT_OK;
}

/* Scaling by a power of two scales the results, to the last bit. Subnormal: to their spacing. */
static MunitResult scales(const MunitParameter params[], void *data)
{
    static const int power[] = {-960, -500, -60, -1, 1, 60, 500, 1000};
    double a[MAX * MAX], b[MAX * MAX], p[MAX * MAX], q[MAX * MAX], w[MAX], x[MAX];
    double v[MAX * MAX], u[MAX * MAX];
    int n, kind, i, k;

    (void)params; (void)data;
    for (n = 1; n <= MAX; ++n)
        for (kind = 0; kind < KINDS; ++kind) {
            make(kind, n, a);
            gap_psd_project(n, a, p);
            gap_psd_eig(n, a, w, v);
            for (k = 0; k < (int)(sizeof power / sizeof *power); ++k) {
                for (i = 0; i < n * n; ++i) b[i] = ldexp(a[i], power[k]);
                if (kind == 9 && power[k] < -500) continue; /* its small entries would round */
                munit_assert_int(gap_psd_project(n, b, q), ==, GAP_PSD_OK);
                munit_assert_int(gap_psd_eig(n, b, x, u), ==, GAP_PSD_OK);
                for (i = 0; i < n * n; ++i) {
                    double fine = power[k] < -500 ? ldexp(1.0, -1070) : 0.0;
                    munit_assert_true(fabs(q[i] - ldexp(p[i], power[k])) <= fine);
                    munit_assert_true(u[i] == v[i]);
                }
                for (i = 0; i < n; ++i)
                    munit_assert_true(fabs(x[i] - ldexp(w[i], power[k])) <= ldexp(1.0, -1070));
            }
            for (i = 0; i < n * n; ++i) b[i] = ldexp(a[i], -1060); /* 14 bits left */
            munit_assert_int(gap_psd_project(n, b, q), ==, GAP_PSD_OK);
            for (i = 0; i < n * n; ++i) b[i] = ldexp(b[i], 1060);
            gap_psd_project(n, b, p);
            for (i = 0; i < n * n; ++i)
                munit_assert_true(fabs(q[i] - ldexp(p[i], -1060)) <= ldexp(1.0, -1072));
        }
    return MUNIT_OK;
}

/* Entries that differ by hundreds of binary orders: results to 1e-13 of the largest. */
static MunitResult wild_grading(const MunitParameter params[], void *data)
{
    double a[MAX * MAX];
    int rep, n, i, j, reps = util_count(20, 500);

    (void)params; (void)data;
    for (rep = 0; rep < reps; ++rep)
        for (n = 1; n <= MAX; ++n) {
            for (i = 0; i < n; ++i)
                for (j = 0; j <= i; ++j)
                    a[i * n + j] = a[j * n + i] = ldexp(uniform(),
                        munit_rand_int_range(-1, 0) * munit_rand_int_range(0, 600));
            check(n, a, 1e-13);
        }
    return MUNIT_OK;
}

static MunitResult edge_nonfinite(const MunitParameter params[], void *data)
{
    double bad[3], a[MAX * MAX], p[MAX * MAX], w[MAX], v[MAX * MAX];
    int n, i, j, k, l;

    (void)params; (void)data;
    bad[0] = NAN, bad[1] = HUGE_VAL, bad[2] = -HUGE_VAL;
    for (n = 1; n <= MAX; ++n)
        for (k = 0; k < 3; ++k)
            for (i = 0; i < n; ++i)
                for (j = 0; j < n; ++j) {
                    make(4, n, a);
                    a[i * n + j] = bad[k];
                    if (j > i) { /* the upper half is not read */
                        munit_assert_int(gap_psd_eig(n, a, w, v), ==, GAP_PSD_OK);
                        continue;
                    }
                    munit_assert_int(gap_psd_eig(n, a, w, v), ==, GAP_PSD_ENONFIN);
                    munit_assert_int(gap_psd_project(n, a, p), ==, GAP_PSD_ENONFIN);
                    for (l = 0; l < n * n; ++l) munit_assert_true(p[l] == 0.0 && v[l] == 0.0);
                    for (l = 0; l < n; ++l) munit_assert_true(w[l] == 0.0);
                }
    return MUNIT_OK;
}

/* The largest doubles: a result that fits is given, one that does not is ENONFIN and 0. */
static MunitResult edge_huge(const MunitParameter params[], void *data)
{
    double m = 1.7976931348623157e308, a[4], p[4], w[2], v[4];

    (void)params; (void)data;
    a[0] = a[3] = 0.0;
    a[1] = a[2] = m;
    munit_assert_int(gap_psd_project(2, a, p), ==, GAP_PSD_OK);
    util_assert_rel(p[0], m / 2, 1e-14);
    munit_assert_int(gap_psd_eig(2, a, w, v), ==, GAP_PSD_OK);
    util_assert_rel(w[0], -m, 1e-14);
    a[0] = m;
    a[3] = -m;
    munit_assert_int(gap_psd_project(2, a, p), ==, GAP_PSD_ENONFIN);
    munit_assert_true(p[0] == 0.0 && p[1] == 0.0 && p[2] == 0.0 && p[3] == 0.0);
    munit_assert_int(gap_psd_eig(2, a, w, v), ==, GAP_PSD_ENONFIN);
    munit_assert_true(w[0] == 0.0 && w[1] == 0.0);
    return MUNIT_OK;
}

/* Any batch gives the bits of single calls, in place as well; the first bad matrix is named. */
static MunitResult batch_bits(const MunitParameter params[], void *data)
{
    enum { COUNT = 37 };
    static double a[COUNT * 144], p[COUNT * 144], q[COUNT * 144], w[COUNT * MAX], x[COUNT * MAX];
    static double v[COUNT * 144], u[COUNT * 144];
    int n, i, bad, rep, reps = util_count(5, 500);

    (void)params; (void)data;
    for (rep = 0; rep < reps; ++rep)
        for (n = 1; n <= MAX; ++n) {
            size_t nn = (size_t)(n * n), all = COUNT * nn * sizeof *a;
            for (i = 0; i < COUNT; ++i) {
                make((int)munit_rand_int_range(0, KINDS - 1), n, a + (size_t)i * nn);
                if (i == 11 || i == 30) a[(size_t)i * nn] = NAN;
                gap_psd_project(n, a + (size_t)i * nn, p + (size_t)i * nn);
                gap_psd_eig(n, a + (size_t)i * nn, w + i * n, v + (size_t)i * nn);
            }
            munit_assert_int(gap_psd_project_batch(n, 0, COUNT, a, q, &bad), ==, GAP_PSD_ENONFIN);
            munit_assert_int(bad, ==, 11);
            munit_assert_memory_equal(all, p, q);
            munit_assert_int(gap_psd_eig_batch(n, 0, COUNT, a, x, u, &bad), ==, GAP_PSD_ENONFIN);
            munit_assert_int(bad, ==, 11);
            munit_assert_memory_equal((size_t)(COUNT * n) * sizeof *w, w, x);
            munit_assert_memory_equal(all, v, u);
            munit_assert_int(gap_psd_project_batch(n, 0, 5, a, a, &bad), ==, GAP_PSD_OK);
            munit_assert_int(bad, ==, -1);
            gap_psd_project_batch(n, 5, 30, a, a, NULL);
            munit_assert_int(gap_psd_project_batch(n, 30, COUNT, a, a, &bad), ==, GAP_PSD_ENONFIN);
            munit_assert_int(bad, ==, 30);
            munit_assert_memory_equal(all, p, a);
            munit_assert_int(gap_psd_project_batch(n, 3, 3, a, a, &bad), ==, GAP_PSD_OK);
        }
    return MUNIT_OK;
}

/* ---- SVD ---- */

/* Singular values, descending, as the positive eigenvalues of [[0, F], [F^T, 0]]. */
static void oracle_svd(int rows, int cols, const double *f, long double *s)
{
    long double a[36], w[6], v[36];
    int i, j, n = rows + cols;

    for (i = 0; i < n * n; ++i) a[i] = 0;
    for (i = 0; i < rows; ++i)
        for (j = 0; j < cols; ++j)
            a[i * n + rows + j] = a[(rows + j) * n + i] = f[i * cols + j];
    oracle_eig(n, a, w, v);
    qsort(w, (size_t)n, sizeof *w, ascending);
    for (j = 0; j < cols; ++j) s[j] = w[n - 1 - j];
}

static long double det(int n, const double *f)
{
    long double a[9];
    int i;

    for (i = 0; i < n * n; ++i) a[i] = f[i];
    if (n == 2) return a[0] * a[3] - a[1] * a[2];
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
           a[2] * (a[3] * a[7] - a[4] * a[6]);
}

static void check_rotation(int n, const double *u)
{
    int i, j, k;
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j) {
            double d = 0.0;
            for (k = 0; k < n; ++k) d += u[k * n + i] * u[k * n + j];
            munit_assert_true(fabs(d - (i == j)) <= 4e-15);
        }
    munit_assert_true(fabsl(det(n, u) - 1.0L) <= 4e-15L);
}

static void check_svd(int rows, int cols, const double *f)
{
    double u[9], s[3], v[9], top;
    long double os[3] = {0, 0, 0};
    int i, j, k;

    munit_assert_int(gap_psd_svd(rows, cols, f, u, s, v), ==, GAP_PSD_OK);
    oracle_svd(rows, cols, f, os);
    top = (double)os[0];
    check_rotation(rows, u);
    check_rotation(cols, v);
    for (i = 0; i < cols; ++i) {
        munit_assert_true(fabsl(fabs(s[i]) - os[i]) <= 1e-14L * top);
        munit_assert_true(i == 0 || fabs(s[i]) <= s[i - 1]);
        munit_assert_true(s[i] >= 0.0 || (rows == cols && i == cols - 1));
    }
    if (rows == cols && os[cols - 1] > 1e-14L * top &&
        fabsl(det(rows, f)) > 1e-17L * powl(top, cols))
        munit_assert_int(s[cols - 1] > 0.0, ==, det(rows, f) > 0.0L);
    for (i = 0; i < rows; ++i)
        for (j = 0; j < cols; ++j) {
            double d = -f[i * cols + j];
            for (k = 0; k < cols; ++k) d += u[i * rows + k] * s[k] * v[j * cols + k];
            munit_assert_true(fabs(d) <= 1e-14 * top);
        }
}

static void make_f(int kind, int rows, int cols, double *f)
{
    int i, j, n = rows * cols;
    double a[3], b[3];

    for (i = 0; i < 3; ++i) a[i] = uniform(), b[i] = uniform();
    for (i = 0; i < rows; ++i)
        for (j = 0; j < cols; ++j) {
            double *p = f + i * cols + j;
            *p = uniform();
            if (kind == 1) *p = a[i] * b[j];
            if (kind == 2) *p = (i == j) + 1e-9 * uniform();
            if (kind == 3) *p = (double)munit_rand_int_range(-1, 1);
            if (kind == 4) *p = *p * pow(10.0, -6.0 * j);
            if (kind == 5) *p = *p * pow(10.0, -6.0 * i);
            if (kind == 6) *p = a[i] * b[j] + 1e-10 * uniform();
            if (kind == 7) *p = i == j ? -1.0 : 0.0;
        }
    if (kind == 8)
        for (i = 0; i < n; ++i) f[i] = 0.0;
}

static MunitResult svd(const MunitParameter params[], void *data)
{
    static const int shape[3][2] = {{3, 3}, {3, 2}, {2, 2}};
    double f[9], g[9], u[9], s[3], v[9], u2[9], s2[3], v2[9];
    int rep, k, kind, i, reps = util_count(100, 3000);

    (void)params; (void)data;
    for (rep = 0; rep < reps; ++rep)
        for (k = 0; k < 3; ++k)
            for (kind = 0; kind < 9; ++kind) {
                int rows = shape[k][0], cols = shape[k][1], power = munit_rand_int_range(-900, 900);
                make_f(kind, rows, cols, f);
                check_svd(rows, cols, f);
                gap_psd_svd(rows, cols, f, u, s, v);
                for (i = 0; i < rows * cols; ++i) g[i] = ldexp(f[i], power);
                gap_psd_svd(rows, cols, g, u2, s2, v2);
                munit_assert_memory_equal((size_t)(rows * rows) * sizeof *u, u, u2);
                munit_assert_memory_equal((size_t)(cols * cols) * sizeof *v, v, v2);
                for (i = 0; i < cols; ++i)
                    munit_assert_true(fabs(s2[i] - ldexp(s[i], power)) <= ldexp(1.0, -1070));
            }
    return MUNIT_OK;
}

static MunitResult svd_batch(const MunitParameter params[], void *data)
{
    static const int shape[3][2] = {{3, 3}, {3, 2}, {2, 2}};
    enum { COUNT = 23 };
    double f[COUNT * 9], u[COUNT * 9], s[COUNT * 3], v[COUNT * 9], u2[COUNT * 9], s2[COUNT * 3];
    double v2[COUNT * 9];
    int k, i, bad;

    (void)params; (void)data;
    for (k = 0; k < 3; ++k) {
        int rows = shape[k][0], cols = shape[k][1];
        for (i = 0; i < COUNT; ++i) {
            make_f(i % 9, rows, cols, f + i * rows * cols);
            if (i == 7) f[i * rows * cols + 3] = HUGE_VAL;
            munit_assert_int(gap_psd_svd(rows, cols, f + i * rows * cols, u + i * rows * rows,
                s + i * cols, v + i * cols * cols), ==, i == 7 ? GAP_PSD_ENONFIN : GAP_PSD_OK);
        }
        munit_assert_int(gap_psd_svd_batch(rows, cols, 0, COUNT, f, u2, s2, v2, &bad), ==,
            GAP_PSD_ENONFIN);
        munit_assert_int(bad, ==, 7);
        munit_assert_true(s[7 * cols] == 0.0 && u[7 * rows * rows] == 0.0);
        munit_assert_memory_equal((size_t)(COUNT * rows * rows) * sizeof *u, u, u2);
        munit_assert_memory_equal((size_t)(COUNT * cols) * sizeof *s, s, s2);
        munit_assert_memory_equal((size_t)(COUNT * cols * cols) * sizeof *v, v, v2);
    }
    return MUNIT_OK;
}

/* Both instruction sets of one build: same bits, also in groups that are not full. */
static MunitResult isa_bits(const MunitParameter params[], void *data)
{
#ifdef GAP_PSD__AVX2
    double a[4 * 144], p[2][4 * 144], w[2][4 * MAX], v[2][4 * 144], s[2][12];
    int i, n, k, group, count = util_count(2000, 200000);

    (void)params; (void)data;
    if (!__builtin_cpu_supports("avx2")) return MUNIT_SKIP;
    for (k = 0; k < count; ++k) {
        double scale = ldexp(1.0, munit_rand_int_range(-900, 900));
        n = 1 + k % MAX, group = 1 + k / MAX % 4;
        for (i = 0; i < 4 * n * n; ++i) {
            a[i] = scale * (munit_rand_double() - 0.5);
            if (munit_rand_int_range(0, 9) < k / 48 % 10) a[i] = 0.0;
        }
        gap_psd__nearest_built(n, group, a, p[0]), gap_psd__nearest_avx2(n, group, a, p[1]);
        munit_assert_memory_equal(sizeof(double) * (size_t)(group * n * n), p[0], p[1]);
        gap_psd__eigen_built(n, group, a, w[0], v[0]), gap_psd__eigen_avx2(n, group, a, w[1], v[1]);
        munit_assert_memory_equal(sizeof(double) * (size_t)(group * n), w[0], w[1]);
        munit_assert_memory_equal(sizeof(double) * (size_t)(group * n * n), v[0], v[1]);
        if (n < 3) continue;
        gap_psd__svd_built(3, 3, group, a, p[0], s[0], v[0]);
        gap_psd__svd_avx2(3, 3, group, a, p[1], s[1], v[1]);
        munit_assert_memory_equal(sizeof(double) * (size_t)(3 * group), s[0], s[1]);
        munit_assert_memory_equal(sizeof(double) * (size_t)(9 * group), p[0], p[1]);
        munit_assert_memory_equal(sizeof(double) * (size_t)(9 * group), v[0], v[1]);
    }
    return MUNIT_OK;
#else
    (void)params; (void)data;
    return MUNIT_SKIP;
#endif
}

/* The same bits with and without vector types: one known hash, of inputs that no library makes. */
static MunitResult twin_bits(const MunitParameter params[], void *data)
{
    static double a[64 * 144], p[64 * 144], w[64 * MAX], v[64 * 144], s[3 * 64];
    uint64_t h = 0, x = 88172645463325252u;
    int n, i;

    (void)params; (void)data;
    for (n = 1; n <= MAX; ++n) {
        for (i = 0; i < 64 * n * n; ++i) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            a[i] = (double)(int)(x >> 40) / (i / (n * n) % 2 ? 4194304.0 : 8388608.0) - 1.0;
            if (i / (n * n) % 3 == 0 && i % 7 > 1) a[i] = 0.0;
        }
        gap_psd_project_batch(n, 0, 64, a, p, NULL);
        gap_psd_eig_batch(n, 0, 64, a, w, v, NULL);
        h = util_hash(h, p, (size_t)(64 * n * n));
        h = util_hash(h, w, (size_t)(64 * n));
        h = util_hash(h, v, (size_t)(64 * n * n));
    }
    gap_psd_svd_batch(3, 3, 0, 64, a, p, s, v, NULL);
    h = util_hash(h, p, 9 * 64);
    h = util_hash(h, s, 3 * 64);
    h = util_hash(h, v, 9 * 64);
    munit_assert_uint64(h, ==, UINT64_C(9614861113310253927));
    return MUNIT_OK;
}

int main(int argc, char *argv[])
{
    static MunitTest tests[] = {
        {"/quick_start", quick_start, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/against_jacobi", against_jacobi, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/psd_unchanged", psd_unchanged, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/scales", scales, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/wild_grading", wild_grading, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/edge/nonfinite", edge_nonfinite, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/edge/huge", edge_huge, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/batch_bits", batch_bits, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/svd", svd, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/svd_batch", svd_batch, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/isa_bits", isa_bits, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/twin_bits", twin_bits, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
    static const MunitSuite suite = {"/psd", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};
    return munit_suite_main(&suite, NULL, argc, argv);
}
