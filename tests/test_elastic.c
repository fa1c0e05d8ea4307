/* Tests of fem/gap_elastic.h. Oracles: finite differences of the energy, a numeric eigen-solver on
   the whole tangent, long double energies; test_elastic_scalar.c runs the same without vectors. */
#define GAP_ELASTIC_IMPLEMENTATION
#include "gap_elastic.h"
#include "util.h"

/* A user's energy: Ogden-like, and neo-Hookean written in stretches. */
static double user_energy(void *user, int n, const double *s, const double *par, double *d,
    double *dd)
{
    double ln = 0, psi = 0, la = par[0], mu = par[1];
    int i, j;

    munit_assert_ptr_equal(user, NULL);
    for (i = 0; i < n; ++i) {
        if (!(s[i] > 0)) return HUGE_VAL;
        ln += log(s[i]);
    }
    for (i = 0; i < n; ++i) {
        psi += mu / 2 * (s[i] * s[i] - 1 - 2 * log(s[i]));
        d[i] = mu * (s[i] - 1 / s[i]) + la * ln / s[i];
        for (j = 0; j < n; ++j)
            dd[i * n + j] = i == j ? mu * (1 + 1 / (s[i] * s[i])) + la * (1 - ln) / (s[i] * s[i])
                : la / (s[i] * s[j]);
    }
    return psi + la / 2 * ln * ln;
}
static gap_elastic_law user_law = {user_energy, NULL};

static const struct { const char *name; gap_elastic_material fn; void *user; } material[5] = {
    {"neo-Hookean", gap_elastic_neo_hookean, NULL}, {"corotated", gap_elastic_corotated, NULL},
    {"stvk", gap_elastic_stvk, NULL}, {"linear", gap_elastic_linear, NULL},
    {"isotropic", gap_elastic_isotropic, &user_law}};
static const int size[3][2] = {{3, 3}, {2, 2}, {3, 2}};

static int skip(int m, int z)
{
    return m == 3 && z == 2; /* linear has no 3x2 */
}

static void product(int r, int m, int c, const double *A, const double *B, double *C)
{
    int i, j, k;

    for (i = 0; i < r; ++i)
        for (j = 0; j < c; ++j)
            for (C[i * c + j] = 0, k = 0; k < m; ++k) C[i * c + j] += A[i * m + k] * B[k * c + j];
}

static void rotation2(double R[4])
{
    double a = util_uniform(0, 7);
    R[0] = R[3] = cos(a);
    R[1] = -sin(a);
    R[2] = sin(a);
}

/* F = U diag(s) V^T with random rotations. */
static void from_stretches(int rows, int cols, const double *s, double *F)
{
    double U[9], V[9], D[9] = {0}, T[9];
    int i;

    for (i = 0; i < cols; ++i) D[i * cols + i] = s[i];
    if (rows == 3) util_rotation(U);
    else rotation2(U);
    if (cols == 3) util_rotation(V);
    else rotation2(V);
    product(rows, rows, cols, U, D, T);
    product(rows, cols, cols, T, V, F);
}

/* Kinds of states: rest, rotated rest, small, random, equal stretches, two equal, near inversion,
   large; 8 and 9 are inverted and flat: only for materials that allow it. */
static void make_state(int kind, int rows, int cols, double *F)
{
    double s[3] = {1, 1, 1};
    int i;

    for (i = 0; i < cols; ++i) {
        if (kind == 2) s[i] = 1 + util_uniform(-1e-4, 1e-4);
        if (kind == 3 || kind == 8) s[i] = util_uniform(0.4, 1.9);
        if (kind == 4) s[i] = 1.4;
        if (kind == 5) s[i] = i ? 0.6 : 1.3;
        if (kind == 6) s[i] = i ? util_uniform(0.8, 1.2) : 1e-3;
        if (kind == 7) s[i] = util_uniform(3, 9);
        if (kind == 9) s[i] = i ? 1.2 : 0.05;
    }
    if (kind == 8) s[0] = -s[0] / 8; /* sums of stretches stay away from 0 */
    if (kind == 0) {
        for (i = 0; i < rows * cols; ++i) F[i] = i % cols == i / cols;
    } else {
        from_stretches(rows, cols, s, F);
    }
}

typedef struct context { int m, rows, cols; const double *par; } context;

static double energy(void *ctx, const double *F)
{
    context *c = (context *)ctx;
    double psi;

    material[c->m].fn(material[c->m].user, c->rows, c->cols, 1, F, c->par, 0, &psi, NULL, NULL);
    return psi;
}

static void stress(void *ctx, const double *F, double *P)
{
    context *c = (context *)ctx;

    material[c->m].fn(material[c->m].user, c->rows, c->cols, 1, F, c->par, 0, NULL, P, NULL);
}

static MunitResult finite_differences(const MunitParameter params[], void *data)
{
    double F[9], P[9], H[81], Hs[81], psi, par[4] = {5, 2, 0, 0}, h, err;
    int m, z, kind, it, n, i, j;

    (void)params; (void)data;
    for (m = 0; m < 5; ++m)
        for (z = 0; z < 3; ++z)
            for (kind = 1; kind < 10; ++kind)
                for (it = 0; it < util_count(20, 200) && !skip(m, z); ++it) {
                    context c = {m, size[z][0], size[z][1], par};
                    if (kind == 8 && (m == 0 || m == 4 || z == 2)) continue;
                    n = c.rows * c.cols;
                    make_state(kind, c.rows, c.cols, F);
                    munit_assert_int(material[m].fn(material[m].user, c.rows, c.cols, 1, F, par, 0,
                        &psi, P, H), ==, 0);
                    h = kind == 6 ? 5e-6 : 2e-3;
                    if (kind >= 8) h = 2e-4;
                    if (kind > 2) {
                        err = util_gradient_error(energy, &c, F, P, n, h);
                        if (err > 1e-6) munit_errorf("%s P %d %g", material[m].name, kind, err);
                    }
                    err = util_jacobian_error(stress, &c, F, H, n, h);
                    if (err > 1e-6)
                        munit_errorf("%s dP size %d kind %d %g", material[m].name, z, kind, err);
                    for (i = 0; i < n; ++i)
                        for (j = 0; j < n; ++j) Hs[i * n + j] = H[j * n + i];
                    munit_assert_double(util_rel_array(H, Hs, (size_t)(n * n), 0), <, 1e-14);
                }
    return MUNIT_OK;
}

/* Cyclic Jacobi on the whole matrix: nearest PSD matrix. */
static void numeric_psd(int n, const double *S, double *out)
{
    double A[81], Q[81], t, c, s, d, u, v, off;
    int sweep, p, q, i, j;

    memcpy(A, S, sizeof(double) * (size_t)(n * n));
    for (i = 0; i < n * n; ++i) Q[i] = i % (n + 1) == 0;
    for (sweep = 0; sweep < 60; ++sweep) {
        for (off = 0, p = 0; p < n; ++p)
            for (q = p + 1; q < n; ++q) {
                off += fabs(A[p * n + q]);
                if (A[p * n + q] == 0) continue;
                d = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
                t = (d >= 0 ? 1 : -1) / (fabs(d) + sqrt(1 + d * d));
                c = 1 / sqrt(1 + t * t);
                s = c * t;
                for (i = 0; i < n; ++i) {
                    u = A[i * n + p]; v = A[i * n + q];
                    A[i * n + p] = c * u - s * v; A[i * n + q] = s * u + c * v;
                    u = Q[i * n + p]; v = Q[i * n + q];
                    Q[i * n + p] = c * u - s * v; Q[i * n + q] = s * u + c * v;
                }
                for (i = 0; i < n; ++i) {
                    u = A[p * n + i]; v = A[q * n + i];
                    A[p * n + i] = c * u - s * v; A[q * n + i] = s * u + c * v;
                }
            }
        if (off == 0) break;
    }
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j)
            for (out[i * n + j] = 0, p = 0; p < n; ++p)
                out[i * n + j] += Q[i * n + p] * fmax(A[p * n + p], 0) * Q[j * n + p];
}

static MunitResult eigen_systems(const MunitParameter params[], void *data)
{
    static const double lame[3][4] = {{5, 2, 0, 0}, {0.3, 2, 0, 0}, {90, 2, 0, 0}};
    double F[9], raw[81], psd[81], want[81], err, worst = 0;
    int m, z, kind, it, n, l;

    (void)params; (void)data;
    for (m = 0; m < 5; ++m)
        for (z = 0; z < 3; ++z)
            for (kind = 0; kind < 10; ++kind)
                for (it = 0; it < util_count(30, 1000) && !skip(m, z); ++it)
                    for (l = 0; l < 3; ++l) {
                        if (kind == 8 && (m == 0 || m == 4 || z == 2)) continue;
                        make_state(kind, size[z][0], size[z][1], F);
                        n = size[z][0] * size[z][1];
                        material[m].fn(material[m].user, size[z][0], size[z][1], 1, F, lame[l], 0,
                            NULL, NULL, raw);
                        material[m].fn(material[m].user, size[z][0], size[z][1], 1, F, lame[l], 1,
                            NULL, NULL, psd);
                        numeric_psd(n, raw, want);
                        err = util_rel_array(psd, want, (size_t)(n * n), 0);
                        if (err > 1e-9)
                            munit_errorf("%s size %d kind %d: %g", material[m].name, z, kind, err);
                        worst = fmax(worst, err);
                    }
    munit_logf(MUNIT_LOG_INFO, "worst relative difference %.2g", worst);
    return MUNIT_OK;
}

static MunitResult rest_and_rotation(const MunitParameter params[], void *data)
{
    double F[9], P[9], psi, par[4] = {5e4, 2e4, 0, 0};
    int m, z, i, it;

    (void)params; (void)data;
    for (m = 0; m < 5; ++m)
        for (z = 0; z < 3; ++z) {
            if (skip(m, z)) continue;
            make_state(0, size[z][0], size[z][1], F);
            material[m].fn(material[m].user, size[z][0], size[z][1], 1, F, par, 0, &psi, P, NULL);
            munit_assert_double(psi, ==, 0);
            for (i = 0; i < size[z][0] * size[z][1]; ++i) munit_assert_double(P[i], ==, 0);
            for (it = 0; it < 100; ++it) {
                make_state(1, size[z][0], size[z][1], F);
                material[m].fn(material[m].user, size[z][0], size[z][1], 1, F, par, 0, &psi, P,
                    NULL);
                if (m == 3) continue; /* linear elasticity is not invariant under rotations */
                munit_assert_double(fabs(psi), <, 1e-25 * par[0]
                    + 1e-15 * par[0] * (m == 0 || m == 4));
                for (i = 0; i < size[z][0] * size[z][1]; ++i)
                    munit_assert_double(fabs(P[i]), <, 1e-14 * par[0]);
            }
            if (m == 3) munit_assert_double(psi, >, 0);
        }
    return MUNIT_OK;
}

/* Closed forms in long double: uniaxial stretch, and small strains, where digits are lost first. */
static MunitResult energies(const MunitParameter params[], void *data)
{
    double F[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, G[4] = {1, 0, 0, 1}, M[6] = {1, 0, 0, 1, 0, 0};
    double par[4] = {5, 2, 0, 0}, psi[3], s;
    long double l, want[4], e;
    int k, m, z;

    (void)params; (void)data;
    for (k = -60; k <= 20; ++k) {
        s = 1 + ldexp(k % 2 ? 0.7 : -0.6, k < 0 ? k / 2 : 0) + (k > 0 ? k : 0);
        l = s;
        e = (l - 1) * (l + 1) / 2;
        want[0] = par[1] * (e - log1pl(l - 1)) + par[0] / 2 * log1pl(l - 1) * log1pl(l - 1);
        want[1] = (par[1] + par[0] / 2) * (l - 1) * (l - 1);
        want[2] = (par[1] + par[0] / 2) * e * e;
        want[3] = want[1];
        F[0] = G[0] = M[0] = s;
        for (m = 0; m < 4; ++m) {
            material[m].fn(NULL, 3, 3, 1, F, par, 0, psi, NULL, NULL);
            material[m].fn(NULL, 2, 2, 1, G, par, 0, psi + 1, NULL, NULL);
            psi[2] = psi[0];
            if (m != 3) material[m].fn(NULL, 3, 2, 1, M, par, 0, psi + 2, NULL, NULL);
            for (z = 0; z < 3; ++z) /* error eps |F - I|, not eps */
                munit_assert_double(fabs(psi[z] - (double)want[m]), <=,
                    4e-16 * (fabs((double)want[m]) + 10 * fabs(s - 1)));
        }
    }
    return MUNIT_OK;
}

/* Every point of a batch equals the point alone, bit by bit; and the bits do not depend on the
   vector width: the hash below is that of the scalar build, the SSE2 build and the AVX2 build. */
static MunitResult same_bits(const MunitParameter params[], void *data)
{
    enum { N = 37 };
    double F[9 * N], par[4 * N], psi[N], P[9 * N], H[81 * N], q, p[9], h[81], x = 0.5;
    uint64_t hash = 0;
    int m, z, i, j, n, psd;

    (void)params; (void)data;
    for (m = 0; m < 5; ++m)
        for (z = 0; z < 3; ++z)
            for (psd = 0; psd < 2 && !skip(m, z); ++psd) {
                n = size[z][0] * size[z][1];
                for (i = 0; i < N; ++i) {
                    for (j = 0; j < n; ++j) { /* logistic map: the same numbers everywhere */
                        x = 3.9375 * x * (1 - x);
                        F[i * n + j] = 0.8 * (x - 0.5) + (j % size[z][1] == j / size[z][1]);
                    }
                    for (j = 0; j < 4; ++j) par[4 * i + j] = 1 + j + i % 5;
                }
                material[m].fn(material[m].user, size[z][0], size[z][1], N, F, par, psd, psi, P, H);
                for (i = 0; i < N; ++i) {
                    material[m].fn(material[m].user, size[z][0], size[z][1], 1, F + i * n,
                        par + 4 * i, psd, &q, p, h);
                    munit_assert_memory_equal(sizeof q, &q, psi + i);
                    munit_assert_memory_equal(sizeof *p * (size_t)n, p, P + i * n);
                    munit_assert_memory_equal(sizeof *h * (size_t)(n * n), h, H + i * n * n);
                }
                if (m == 4 || (m == 0 && z == 2)) continue; /* they use libm's log */
                hash = util_hash(hash, psi, N);
                hash = util_hash(hash, P, (size_t)(N * n));
                hash = util_hash(hash, H, (size_t)(N * n * n));
            }
    munit_assert_uint64(hash, ==, UINT64_C(2902078511071686260));
    return MUNIT_OK;
}

static MunitResult bad_points(const MunitParameter params[], void *data)
{
    double F[27], par[12] = {5, 2, 0, 0, 5, 2, 0, 0, 5, 2, 0, 0}, psi[3], P[27], H[243], v;
    int m, z, k, i, n, bad;

    (void)params; (void)data;
    for (m = 0; m < 5; ++m)
        for (z = 0; z < 3; ++z)
            for (k = 0; k < 4 && !skip(m, z); ++k) {
                n = size[z][0] * size[z][1];
                for (i = 0; i < 3; ++i) make_state(3, size[z][0], size[z][1], F + i * n);
                v = k == 0 ? NAN : k == 1 ? HUGE_VAL : k == 2 ? -1.0 : 0.0;
                make_state(0, size[z][0], size[z][1], F + n);
                F[n] = v;
                bad = k < 2 || ((m == 0 || m == 4) && (z < 2 || k == 3));
                munit_assert_int(material[m].fn(material[m].user, size[z][0], size[z][1], 3, F, par,
                    1, psi, P, H), ==, bad ? 2 : 0);
                munit_assert_true(psi[0] < HUGE_VAL && psi[2] < HUGE_VAL);
                if (bad) munit_assert_double(psi[1], ==, HUGE_VAL);
                for (i = 0; i < 3 * n * n; ++i) munit_assert_true(H[i] - H[i] == 0);
                for (i = 0; i < 3 * n; ++i) munit_assert_true(P[i] - P[i] == 0);
                for (i = 0; i < n && bad; ++i) munit_assert_double(P[n + i], ==, 0);
            }
    munit_assert_int(gap_elastic_stvk(NULL, 2, 3, 1, F, par, 0, psi, P, H), ==, GAP_ELASTIC_EINPUT);
    munit_assert_int(gap_elastic_linear(NULL, 3, 2, 1, F, par, 0, psi, P, H), ==,
        GAP_ELASTIC_EINPUT);
    munit_assert_int(gap_elastic_neo_hookean(NULL, 1, 1, 1, F, par, 0, psi, P, H), ==,
        GAP_ELASTIC_EINPUT);
    munit_assert_int(gap_elastic_neo_hookean(NULL, 3, 3, 0, NULL, NULL, 0, NULL, NULL, NULL), ==,
        0);
    memset(F, 0, sizeof F); /* all of it flat: a corotated point of rank 0 and of rank 1 */
    F[9] = 2;
    munit_assert_int(gap_elastic_corotated(NULL, 3, 3, 2, F, par, 1, psi, P, H), ==, 0);
    util_assert_rel(psi[0], 3 * 2 + 2.5, 1e-15);
    util_assert_rel(psi[1], 3 * 2 + 2.5, 1e-15);
    return MUNIT_OK;
}

static MunitResult lame_and_user(const MunitParameter params[], void *data)
{
    double par[4] = {0}, E, nu, F[9], H[2][81], P[2][9], psi[2];
    int plane, z, it, n;

    (void)params; (void)data;
    gap_elastic_lame(1e5, 0.25, 0, &par[0], &par[1]);
    util_assert_rel(par[0], 4e4, 1e-15);
    util_assert_rel(par[1], 4e4, 1e-15);
    for (plane = 0; plane < 2; ++plane) {
        gap_elastic_lame(7e4, 0.4, plane, &par[0], &par[1]);
        gap_elastic_young(par[0], par[1], plane, &E, &nu);
        util_assert_rel(E, 7e4, 1e-14);
        util_assert_rel(nu, 0.4, 1e-14);
    }
    for (z = 0; z < 3; ++z)
        for (it = 0; it < 200; ++it) {
            n = size[z][0] * size[z][1];
            make_state(2 + it % 6, size[z][0], size[z][1], F);
            gap_elastic_neo_hookean(NULL, size[z][0], size[z][1], 1, F, par, it / 6 % 2, psi, P[0],
                H[0]);
            gap_elastic_isotropic(&user_law, size[z][0], size[z][1], 1, F, par, it / 6 % 2, psi + 1,
                P[1], H[1]);
            munit_assert_double(util_rel(psi[0], psi[1], 1e-3 * par[0]), <, 1e-11);
            munit_assert_double(util_rel_array(P[0], P[1], (size_t)n, par[0]), <, 1e-11);
            munit_assert_double(util_rel_array(H[0], H[1], (size_t)(n * n), 0), <, 1e-8);
        }
    return MUNIT_OK;
}

static MunitResult quick_start(const MunitParameter params[], void *data)
{
    double F[9] = {1.2, 0, 0, 0, 1, 0, 0, 0, 1}, par[4] = {0}, psi, P[9], H[81];

    (void)params; (void)data;
    gap_elastic_lame(1e5, 0.3, 0, &par[0], &par[1]);
    gap_elastic_neo_hookean(NULL, 3, 3, 1, F, par, 1, &psi, P, H);
    munit_assert_double(fabs(psi - 2408.050), <, 1e-3);
    munit_assert_double(fabs(P[0] - 22868.02), <, 1e-2);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/quick_start", quick_start, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/finite_differences", finite_differences, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/eigen_systems", eigen_systems, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/rest_and_rotation", rest_and_rotation, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/energies", energies, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/same_bits", same_bits, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/edge/bad_points", bad_points, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/lame_and_user", lame_and_user, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/elastic", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
