/* test_munit.c - the test framework itself, ours or the real one
   The program runs itself again with an inner suite (GAP_MUNIT_INNER set) whose tests fail, skip,
   crash and take parameters on purpose, and looks at exit code and output. */
#include "util.h"

#include <sys/wait.h>

static const char *self;

/* ---- the inner suite ---- */
static MunitResult inner_ok(const MunitParameter params[], void *data)
{
    (void)params;
    (void)data;
    return MUNIT_OK;
}

static MunitResult inner_fails(const MunitParameter params[], void *data)
{
    (void)params;
    (void)data;
    munit_assert_int(2, ==, 3);
    return MUNIT_OK;
}

static MunitResult inner_skips(const MunitParameter params[], void *data)
{
    (void)params;
    (void)data;
    return MUNIT_SKIP;
}

static MunitResult inner_crashes(const MunitParameter params[], void *data)
{
    (void)params;
    (void)data;
    abort();
    return MUNIT_OK;
}

static MunitResult inner_colour(const MunitParameter params[], void *data)
{
    (void)data;
    fprintf(stdout, "{%s %s}", munit_parameters_get(params, "colour"),
        munit_parameters_get(params, "size"));
    fflush(stdout);
    munit_assert_null(munit_parameters_get(params, "nosuch"));
    return MUNIT_OK;
}

static void *fixture_up(const MunitParameter params[], void *data)
{
    int *p = munit_new(int);
    (void)params;
    munit_assert_ptr_equal(data, &self);
    *p = 42;
    return p;
}

static void fixture_down(void *fixture)
{
    fprintf(stdout, "{down %d}", *(int *)fixture);
    fflush(stdout);
    free(fixture);
}

static MunitResult inner_fixture(const MunitParameter params[], void *fixture)
{
    (void)params;
    munit_assert_int(*(int *)fixture, ==, 42);
    ++*(int *)fixture;
    return MUNIT_OK;
}

static MunitResult inner_random(const MunitParameter params[], void *data)
{
    (void)params;
    (void)data;
    fprintf(stdout, "{%u %u}", (unsigned)munit_rand_uint32(), (unsigned)munit_rand_uint32());
    fflush(stdout);
    return MUNIT_OK;
}

static char *colours[] = {"red", "green", NULL}, *sizes[] = {"1", "2", "3", NULL};
static MunitParameterEnum colour_params[] = {{"colour", colours}, {"size", sizes}, {NULL, NULL}};
static MunitTest inner_tests[] = {
    {"/ok", inner_ok, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/fails", inner_fails, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/skips", inner_skips, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/crashes", inner_crashes, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/todo", inner_fails, NULL, NULL, MUNIT_TEST_OPTION_TODO, NULL},
    {"/colour", inner_colour, NULL, NULL, MUNIT_TEST_OPTION_NONE, colour_params},
    {"/fixture", inner_fixture, fixture_up, fixture_down, MUNIT_TEST_OPTION_NONE, NULL},
    {"/random", inner_random, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static MunitTest deep_tests[] = {
    {"/leaf", inner_ok, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static MunitSuite deep_suites[] = {
    {"/deep", deep_tests, NULL, 1, MUNIT_SUITE_OPTION_NONE},
    {NULL, NULL, NULL, 0, MUNIT_SUITE_OPTION_NONE}};
static const MunitSuite inner = {"/inner", inner_tests, deep_suites, 1, MUNIT_SUITE_OPTION_NONE};

/* ---- the outer tests: run the inner suite with `args` ---- */
static int run_inner(const char *args, char *out, size_t size)
{
    char command[2048];
    size_t n = 0;
    int c, status;
    FILE *f;
    snprintf(command, sizeof command, "GAP_MUNIT_INNER=1 '%s' --color never %s 2>&1", self, args);
    f = popen(command, "r");
    munit_assert_not_null(f);
    while ((c = getc(f)) != EOF) {
        if (n + 1 < size) out[n++] = (char)c;
    }
    out[n] = '\0';
    status = pclose(f);
    munit_assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int count_of(const char *text, const char *word)
{
    int n = 0;
    for (; (text = strstr(text, word)) != NULL; ++text) ++n;
    return n;
}

static MunitResult counts(const MunitParameter params[], void *data)
{
    static char out[65536];
    (void)params;
    (void)data;
    munit_assert_int(run_inner("/inner/ok", out, sizeof out), ==, EXIT_SUCCESS);
    munit_assert_not_null(strstr(out, "1 of 1 (100%) tests successful, 0 (0%) test skipped"));
    munit_assert_int(run_inner("/inner/fails", out, sizeof out), !=, EXIT_SUCCESS);
    munit_assert_not_null(strstr(out, "0 of 1 (0%) tests successful"));
    munit_assert_not_null(strstr(out, "2 == 3"));
    munit_assert_not_null(strstr(out, "test_munit.c"));
    munit_assert_int(run_inner("/inner/skips", out, sizeof out), ==, EXIT_SUCCESS);
    munit_assert_not_null(strstr(out, "[ SKIP"));
    munit_assert_int(run_inner("/inner/crashes", out, sizeof out), !=, EXIT_SUCCESS);
    munit_assert_not_null(strstr(out, "0 of 1"));
    return MUNIT_OK;
}

static MunitResult lists_and_nests(const MunitParameter params[], void *data)
{
    static char out[65536];
    (void)params;
    (void)data;
    munit_assert_int(run_inner("--list", out, sizeof out), ==, EXIT_SUCCESS);
    munit_assert_int(count_of(out, "/inner/"), ==, 9);
    munit_assert_int(count_of(out, "/inner/deep/leaf"), ==, 1);
    munit_assert_int(run_inner("/inner/deep/leaf", out, sizeof out), ==, EXIT_SUCCESS);
    munit_assert_not_null(strstr(out, "1 of 1"));
    return MUNIT_OK;
}

static MunitResult takes_parameters(const MunitParameter params[], void *data)
{
    static char out[65536];
    (void)params;
    (void)data;
    munit_assert_int(run_inner("/inner/colour", out, sizeof out), ==, EXIT_SUCCESS);
    munit_assert_int(count_of(out, "{red"), ==, 3);
    munit_assert_int(count_of(out, "{green 2}"), ==, 1);
    munit_assert_not_null(strstr(out, "6 of 6"));
    munit_assert_int(run_inner("--param colour blue /inner/colour", out, sizeof out), ==, 0);
    munit_assert_int(count_of(out, "{blue"), ==, 3);
    munit_assert_int(run_inner("--single /inner/colour", out, sizeof out), ==, 0);
    munit_assert_int(count_of(out, "{red") + count_of(out, "{green"), ==, 1);
    return MUNIT_OK;
}

static MunitResult repeats(const MunitParameter params[], void *data)
{
    static char out[65536], again[65536];
    const char *a, *b;
    (void)params;
    (void)data;
    munit_assert_int(run_inner("--iterations 5 /inner/fixture", out, sizeof out), ==, 0);
    munit_assert_int(count_of(out, "{down 43}"), ==, 5);
    munit_assert_int(run_inner("--no-fork /inner/fixture", out, sizeof out), ==, 0);
    munit_assert_int(count_of(out, "{down 43}"), ==, 1);
    munit_assert_int(run_inner("--seed 0xdeadbeef /inner/random", out, sizeof out), ==, 0);
    munit_assert_int(run_inner("--seed 0xdeadbeef /inner/random", again, sizeof again), ==, 0);
    a = strchr(out, '{');
    b = strchr(again, '{');
    munit_assert_memory_equal((size_t)(strchr(a, '}') - a), a, b);
    munit_assert_int(run_inner("--seed 0xdeadbeee /inner/random", again, sizeof again), ==, 0);
    b = strchr(again, '{');
    munit_assert_true(strncmp(a, b, (size_t)(strchr(a, '}') - a)) != 0);
    munit_assert_int(run_inner("--seed nonsense", out, sizeof out), !=, EXIT_SUCCESS);
    return MUNIT_OK;
}

static MunitResult assertions_hold(const MunitParameter params[], void *data)
{
    const char text[] = "gap";
    (void)params;
    (void)data;
    munit_assert(1);
    munit_assert_true(1 < 2);
    munit_assert_false(2 < 1);
    munit_assert_char('a', <, 'b');
    munit_assert_uchar(200, >, 100);
    munit_assert_short(-3, <=, -3);
    munit_assert_ushort(3, >=, 3);
    munit_assert_uint(3u, !=, 4u);
    munit_assert_long(-3L, <, 4L);
    munit_assert_ulong(3UL, <, 4UL);
    munit_assert_llong(-3, <, 4);
    munit_assert_ullong(3, <, 4);
    munit_assert_size(sizeof text, ==, 4);
    munit_assert_float(0.5f, <, 0.75f);
    munit_assert_double(0.5, ==, 0.5);
    munit_assert_int8(-1, <, 1);
    munit_assert_uint8(255, >, 1);
    munit_assert_int16(-300, <, 1);
    munit_assert_uint16(65535, >, 1);
    munit_assert_int32(-70000, <, 1);
    munit_assert_uint32(70000, >, 1);
    munit_assert_int64(-1, <, 1);
    munit_assert_uint64(5, ==, 5);
    munit_assert_double_equal(1.0, 1.0 + 1e-10, 9);
    munit_assert_string_equal(text, "gap");
    munit_assert_string_not_equal(text, "gas");
    munit_assert_memory_equal(2, text, "gas");
    munit_assert_memory_not_equal(3, text, "gas");
    munit_assert_not_null(text);
    munit_assert_ptr_equal(text, &text[0]);
    return MUNIT_OK;
}

static MunitResult random_is_fair(const MunitParameter params[], void *data)
{
    int i, seen[7] = {0}, n = 7000;
    uint8_t bytes[256], or_all = 0;
    double sum = 0.0;
    (void)params;
    (void)data;
    for (i = 0; i < n; ++i) {
        int k = munit_rand_int_range(-3, 3);
        double u = munit_rand_double();
        munit_assert_int(k, >=, -3);
        munit_assert_int(k, <=, 3);
        munit_assert_double(u, >=, 0.0);
        munit_assert_double(u, <=, 1.0);
        ++seen[k + 3];
        sum += u;
    }
    /* 8 standard deviations */
    for (i = 0; i < 7; ++i) munit_assert_int(abs(seen[i] - 1000), <, 250);
    munit_assert_double(fabs(sum / n - 0.5), <, 0.03);
    munit_rand_memory(sizeof bytes, bytes);
    for (i = 0; i < 256; ++i) or_all |= bytes[i];
    munit_assert_uint8(or_all, ==, 255);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/counts", counts, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/lists_and_nests", lists_and_nests, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/takes_parameters", takes_parameters, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/repeats", repeats, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/assertions_hold", assertions_hold, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/random_is_fair", random_is_fair, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/munit", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    self = argv[0];
    if (getenv("GAP_MUNIT_INNER")) return munit_suite_main(&inner, (void *)&self, argc, argv);
    return munit_suite_main(&suite, NULL, argc, argv);
}
