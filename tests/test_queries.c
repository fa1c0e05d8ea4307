/* test_queries.c - the reader of query files: numbers exactly, complaints with their line */
#include "util.h"
#include "../apps/common/queries.h"

static const char row[] = "1,2,-3,1,5,1267650600228229401496703205376,1\n";

/* n copies of the row, the one at `at` replaced. */
static char *text_of(int n, int at, const char *other, size_t *size)
{
    char *text = (char *)malloc((size_t)n * sizeof row + strlen(other) + 1);
    int i;
    munit_assert_not_null(text);
    *text = 0;
    for (i = 0; i < n; ++i) strcat(text, i == at ? other : row);
    *size = strlen(text);
    return text;
}

static int parse(int n, int at, const char *other, const char **what, queries *q)
{
    size_t size;
    char *text = text_of(n, at, other, &size);
    int line = queries_parse(text, size, q, what);
    free(text);
    return line;
}

static MunitResult numbers(const MunitParameter params[], void *data)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0,1", 0.0}, {"-0,1", 0.0}, {"7,8", 0.875}, {"-9007199254740993,1", 0.0},
        {"9007199254740992,1", 9007199254740992.0}, {"18014398509481984,4", 4503599627370496.0},
        {"1,2596148429267413814265248164610048", 3.851859888774472e-34}, {"0007,0002", 3.5}};
    const char *what;
    char other[256];
    queries q;
    size_t i;
    (void)params, (void)data;
    munit_assert_int(parse(16, -1, "", &what, &q), ==, 0);
    munit_assert_int(q.n, ==, 2);
    munit_assert(q.x[0] == 0.5 && q.x[1] == -3.0 && q.x[2] == ldexp(5.0, -100) && q.truth[1] == 1);
    queries_free(&q);
    for (i = 0; i < sizeof good / sizeof *good; ++i) {
        snprintf(other, sizeof other, "%s,0,1,0,1,1\n", good[i].text);
        if (i == 3) { /* 2^53 + 1 is no double */
            munit_assert_int(parse(8, 2, other, &what, &q), ==, 3);
            continue;
        }
        munit_assert_int(parse(8, 2, other, &what, &q), ==, 0);
        munit_assert_double(q.x[6], ==, good[i].value);
        queries_free(&q);
    }
    return MUNIT_OK;
}

static MunitResult complaints(const MunitParameter params[], void *data)
{
    static const struct {
        int rows, at, line;
        const char *other, *what;
    } bad[] = {{8, 3, 4, "1,0,1,1,1,1,1\n", "zero denominator"},
        {8, 3, 4, "1,3,1,1,1,1,1\n", "power of two"}, {8, 3, 4, "1,-2,1,1,1,1,1\n", "power of two"},
        {8, 0, 1, "1,1,1,1,1,1\n", "seven columns"},
        {8, 0, 1, "1,1,1,1,1,1,1,1\n", "seven columns"},
        {8, 5, 6, "x,1,1,1,1,1,1\n", "integer"}, {8, 5, 6, "\n", "integer"},
        {8, 5, 6, "1,1,1,1,1,1,2\n", "truth"}, {8, 5, 6, "1,1,1,1,1,1,0\n", "differs"},
        {7, -1, 7, "", "multiple of 8"}, {9, -1, 9, "", "multiple of 8"}, {0, -1, 1, "", "no rows"},
        {8, 7, 8, "1,1,1,1,1", "seven columns"}, {8, 7, 8, "1,1,1,1,1,1,", "truth"}};
    const char *what;
    char huge[1024];
    queries q;
    size_t i;
    (void)params, (void)data;
    for (i = 0; i < sizeof bad / sizeof *bad; ++i) {
        int line = parse(bad[i].rows, bad[i].at, bad[i].other, &what, &q);
        if (line != bad[i].line || !strstr(what, bad[i].what))
            munit_errorf("case %d: line %d, %s", (int)i, line, line ? what : "accepted");
        munit_assert(q.n == 0 && !q.x && !q.truth);
    }
    for (i = 0; i < 2; ++i) { /* 10^330 and 10^500 */
        size_t n = i ? 501 : 331;
        memset(huge, '0', sizeof huge);
        huge[0] = '1';
        strcpy(huge + n, ",1,1,1,1,1,1\n");
        munit_assert_int(parse(8, 4, huge, &what, &q), ==, 5);
        munit_assert_string_equal(what, "a number beyond double");
    }
    munit_assert_int(queries_read("no/such/file", &q, &what), ==, -1);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {(char *)"/numbers", numbers, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/complaints", complaints, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

int main(int argc, char *argv[])
{
    static const MunitSuite suite = {(char *)"/queries", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};
    return munit_suite_main(&suite, NULL, argc, argv);
}
