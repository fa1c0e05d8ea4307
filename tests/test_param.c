/* test_param.c - parameters and variants of scene files; what comes out is compared with numbers
   worked out by hand */
#include <munit.h>
#include "param.h"
#include "util.h"

#include <string.h>

static const char text[] =
    "{\"parameters\": {\"n\": 4, \"mu\": 0.5, \"h\": \"=1e-1/n\", \"law\": \"soft\", "
    "\"on\": true},\n"
    " \"variants\": {\"paper\": {\"n\": 40, \"law\": \"hard\"}, \"odd\": {\"m\": 1}},\n"
    " \"a\": [\"=n\", \"=2*n+mu\", \"n\", \"=law\", \"=on\"], \"#\": \"=nonsense(\",\n"
    " \"b\": {\"c\": {\"d\": \"=if(mu<1, h, 1e-5*n)\"}, \"max\": \"=max(mu,n)\"}}";

static json *tree(const char *from)
{
    json_error e;
    json *root = json_parse(from, strlen(from), &e);
    munit_assert_not_null(root);
    return root;
}

static void values(const char *variant, double n, const char *law)
{
    json *root = tree(text), *a;
    char why[200];
    int line = 0;
    munit_assert_int(param_apply(root, variant, &line, why, sizeof why), ==, 1);
    a = json_get(root, "a");
    munit_assert_double(json_at(a, 0)->number, ==, n);
    munit_assert_double(json_at(a, 1)->number, ==, 2.0 * n + 0.5);
    munit_assert_int(json_at(a, 2)->type, ==, JSON_STRING); /* no =: a text as any other */
    munit_assert_string_equal(json_at(a, 3)->string, law);
    munit_assert_int(json_at(a, 4)->type, ==, JSON_BOOL);
    munit_assert_double(json_get(json_get(json_get(root, "b"), "c"), "d")->number, ==, 1e-1 / n);
    munit_assert_double(json_get(json_get(root, "b"), "max")->number, ==, n);
    json_free(root);
}

static MunitResult test_variants(const MunitParameter p[], void *user)
{
    (void)p; (void)user;
    values(NULL, 4.0, "soft");
    values("", 4.0, "soft");
    values("paper", 40.0, "hard");
    return MUNIT_OK;
}

/* Names are whole words: mu in mu2, in max and in 1e-5 is not the parameter. */
static MunitResult test_expand(const MunitParameter p[], void *user)
{
    json *root = tree("{\"parameters\": {\"e\": 7, \"mu\": -0.5, \"s\": \"text\"}}");
    char out[80];
    (void)p; (void)user;
    munit_assert_int(param_expand(root, "1e-5*mu+mu2+max(mu,s)*2e3", out, sizeof out), ==, 1);
    munit_assert_string_equal(out, "1e-5*(-0.5)+mu2+max((-0.5),s)*2e3");
    munit_assert_int(param_expand(root, "mu", out, 8), ==, 0);
    json_free(root);
    return MUNIT_OK;
}

static MunitResult test_refused(const MunitParameter p[], void *user)
{
    static const struct { const char *text, *variant, *why; int line; } bad[] = {
        {"{\"a\": 1}", "none", "variant", 1},
        {"{\"parameters\": {\"n\": 1},\n\"variants\": {\"v\": {\n\"m\": 2}}}", "v", "\"m\"", 3},
        {"{\"parameters\": {\"n\": 1},\n\"a\": \"=n+\"}", NULL, "expression", 2},
        {"{\"parameters\": {\"n\": 1},\n\"a\": \"=n*x\"}", NULL, "only parameters", 2},
        {"{\"parameters\": {\"n\": 0},\n\"a\": \"=1/n\"}", NULL, "finite", 2},
        {"{\"parameters\": {\"a\": \"=b\", \"b\": 1}}", NULL, "", 1},
        {"{\"parameters\": {\"n\": 1},\n\"variants\": {\"v\": {\"n\": [1]}}}", "v", "number", 2}};
    size_t i;
    (void)p; (void)user;
    for (i = 0; i < sizeof bad / sizeof *bad; ++i) {
        json *root = tree(bad[i].text);
        char why[200] = "";
        int line = 0, ok = param_apply(root, bad[i].variant, &line, why, sizeof why);
        if (i == 5) munit_assert_int(ok, ==, 1); /* a later one is known, as written */
        else {
            munit_assert_int(ok, ==, 0);
            munit_assert_not_null(strstr(why, bad[i].why));
            munit_assert_int(line, ==, bad[i].line);
        }
        json_free(root);
    }
    return MUNIT_OK;
}

int main(int argc, char *argv[])
{
    static MunitTest tests[] = {
        {"/variants", test_variants, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/expand", test_expand, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/refused", test_refused, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
    static const MunitSuite suite = {"/param", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};
    return munit_suite_main(&suite, NULL, argc, argv);
}
