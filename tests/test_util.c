/* test_util.c - the helpers of the tests can themselves fail, so they are tested, too */
#include "util.h"

/* f = sum (i+1) x_i^2 / 2 + sin x_0, with a wrong entry in the gradient on request */
static double quadratic(void *ctx, const double *x)
{
    double s = sin(x[0]);
    int i;
    (void)ctx;
    for (i = 0; i < 4; ++i) s += 0.5 * (i + 1) * x[i] * x[i];
    return s;
}

static void quadratic_gradient(void *ctx, const double *x, double *g)
{
    int i;
    (void)ctx;
    for (i = 0; i < 4; ++i) g[i] = (i + 1) * x[i];
    g[0] += cos(x[0]);
}

static MunitResult finds_wrong_derivatives(const MunitParameter params[], void *data)
{
    double x[4], g[4], H[16] = {0};
    int i;
    (void)params;
    (void)data;
    util_points(x, 4, 1, 1.0);
    quadratic_gradient(NULL, x, g);
    for (i = 0; i < 4; ++i) H[5 * i] = i + 1;
    H[0] -= sin(x[0]);
    munit_assert_double(util_gradient_error(quadratic, NULL, x, g, 4, 1e-3), <, 1e-9);
    munit_assert_double(util_jacobian_error(quadratic_gradient, NULL, x, H, 4, 1e-3), <, 1e-9);
    g[2] += 1e-5;
    H[6] += 1e-5;
    munit_assert_double(util_gradient_error(quadratic, NULL, x, g, 4, 1e-3), >, 1e-7);
    munit_assert_double(util_jacobian_error(quadratic_gradient, NULL, x, H, 4, 1e-3), >, 1e-7);
    return MUNIT_OK;
}

static MunitResult memory_counts_and_fails(const MunitParameter params[], void *data)
{
    util_memory m;
    unsigned char *p;
    (void)params;
    (void)data;
    memset(&m, 0, sizeof m);
    p = (unsigned char *)util_realloc(&m, NULL, 0, 100);
    p[99] = 7;
    p = (unsigned char *)util_realloc(&m, p, 100, 200);
    munit_assert_uchar(p[99], ==, 7);
    munit_assert_size(m.now, ==, 200);
    m.fail_at = m.calls + 1;
    munit_assert_null(util_realloc(&m, p, 200, 300));
    munit_assert_uchar(p[99], ==, 7);
    munit_assert_null(util_realloc(&m, p, 200, 0));
    munit_assert_size(m.now, ==, 0);
    munit_assert_size(m.peak, ==, 200);
    munit_assert_long(m.live, ==, 0);
    munit_assert_int(m.wrong, ==, 0);
    p = (unsigned char *)util_realloc(&m, NULL, 0, 10);
    util_realloc(&m, p, 11, 0);
    munit_assert_int(m.wrong, ==, 1);
    return MUNIT_OK;
}

static MunitResult hashes_and_relative(const MunitParameter params[], void *data)
{
    double a[2] = {1.0, 0.0}, b[2] = {1.0, -0.0}, nan2[2] = {1.0, NAN};
    (void)params;
    (void)data;
    munit_assert_true(util_hash(0, a, 2) != util_hash(0, b, 2));
    munit_assert_double(util_rel_array(a, b, 2, 0.0), ==, 0.0);
    munit_assert_true(util_rel_array(a, nan2, 2, 0.0) > 1e300);
    munit_assert_true(util_rel(NAN, 1.0, 0.0) > 1e300);
    munit_assert_true(util_rel(HUGE_VAL, HUGE_VAL, 0.0) == 0.0);
    munit_assert_double(util_rel(1.0, 1.1, 0.0), >, 0.09);
    return MUNIT_OK;
}

static MunitResult rotations_are_rotations(const MunitParameter params[], void *data)
{
    double R[9];
    int i, j, k, trial;
    (void)params;
    (void)data;
    for (trial = 0; trial < 100; ++trial) {
        util_rotation(R);
        for (i = 0; i < 3; ++i) {
            for (j = 0; j < 3; ++j) {
                double s = 0.0;
                for (k = 0; k < 3; ++k) s += R[3 * i + k] * R[3 * j + k];
                munit_assert_double(fabs(s - (i == j)), <, 1e-13);
            }
        }
    }
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/finds_wrong_derivatives", finds_wrong_derivatives, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/memory_counts_and_fails", memory_counts_and_fails, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/hashes_and_relative", hashes_and_relative, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/rotations_are_rotations", rotations_are_rotations, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/util", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
