/* test_expr.c - expressions of scene files against values computed by C itself */
#include "expr.h"
#include "util.h"

static double value(const char *text, double x, double y, double z, double t)
{
    expr_error error;
    expr *e = expr_parse(text, &error);
    double v;
    if (!e) munit_errorf("%s: column %d: %s", text, error.column, error.text);
    v = expr_eval(e, x, y, z, t);
    expr_free(e);
    return v;
}

static MunitResult evaluates(const MunitParameter params[], void *data)
{
    double x = 0.3, y = -1.7, z = 2.5, t = 4.0;
    (void)params;
    (void)data;
    munit_assert_double(value("1 + 2*3", x, y, z, t), ==, 7.0);
    munit_assert_double(value("-2^2", x, y, z, t), ==, -4.0);
    munit_assert_double(value("2^3^2", x, y, z, t), ==, 512.0);
    munit_assert_double(value("2^-1", x, y, z, t), ==, 0.5);
    munit_assert_double(value("8/4/2", x, y, z, t), ==, 1.0);
    munit_assert_double(value("8-4-2", x, y, z, t), ==, 2.0);
    munit_assert_double(value("--3", x, y, z, t), ==, 3.0);
    munit_assert_double(value("1e-3*x", x, y, z, t), ==, 1e-3 * x);
    munit_assert_double(value("sin(x)*cos(y)+sqrt(abs(y))", x, y, z, t), ==,
        sin(x) * cos(y) + sqrt(fabs(y)));
    munit_assert_double(value("min(x, max(y,z))", x, y, z, t), ==, x);
    munit_assert_double(value("if(t < 5, -0.5*t, log(-1))", x, y, z, t), ==, -2.0);
    munit_assert_double(value("(t>=4)+(t!=4)+(t==4)+(t<=3)", x, y, z, t), ==, 2.0);
    munit_assert_double(value("atan2(y,z)+pi", x, y, z, t), ==, atan2(y, z) + UTIL_PI);
    return MUNIT_OK;
}

static MunitResult refuses(const MunitParameter params[], void *data)
{
    static const struct {
        const char *text;
        int column;
    } bad[] = {{"", 1}, {"1 +", 4}, {"(1", 3}, {"sin 1", 5}, {"min(1)", 6}, {"foo(1)", 1},
        {"1 2", 3}, {"1e999", 1}, {"0x10", 1}, {"u", 1}, {"2 $ 3", 3}, {"if(1,2)", 7}};
    char deep[1000];
    expr_error error;
    size_t i;
    (void)params;
    (void)data;
    for (i = 0; i < sizeof bad / sizeof *bad; ++i) {
        munit_assert_null(expr_parse(bad[i].text, &error));
        if (error.column != bad[i].column) {
            munit_errorf("%s: column %d: %s", bad[i].text, error.column, error.text);
        }
    }
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    munit_assert_null(expr_parse(deep, &error));
    memset(deep, '-', sizeof deep - 1);
    munit_assert_null(expr_parse(deep, &error));
    return MUNIT_OK;
}

static MunitResult knows_variables(const MunitParameter params[], void *data)
{
    expr *e = expr_parse("x + sin(t)", NULL), *n = expr_number(2.5);
    (void)params;
    (void)data;
    munit_assert_true(expr_uses(e, 'x') && expr_uses(e, 't'));
    munit_assert_false(expr_uses(e, 'y') || expr_uses(e, 'z'));
    munit_assert_double(expr_eval(n, 0, 0, 0, 0), ==, 2.5);
    expr_free(e);
    expr_free(n);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/evaluates", evaluates, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/refuses", refuses, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/knows_variables", knows_variables, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/expr", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
