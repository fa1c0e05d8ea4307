/* Tests of apps/common/csv: whole tables, and what is kept of broken ones. */
#include "util.h"
#include "../apps/common/csv.h"

static csv T;

static int rows_of(const char *text, size_t n)
{
    char copy[4096];
    FILE *f;
    csv_free(&T);
    memcpy(copy, text, n);
    f = n ? fmemopen(copy, n, "rb") : fopen("/dev/null", "rb");
    munit_assert_not_null(f);
    munit_assert_int(csv_read(&T, f), ==, 1);
    fclose(f);
    return T.rows;
}

static int rows(const char *text)
{
    return rows_of(text, strlen(text));
}

static MunitResult test_whole(const MunitParameter p[], void *d)
{
    (void)p; (void)d;
    munit_assert_int(rows("step,time,gap\n0,0.5,1e-3\r\n1,-2,nan\n"), ==, 2);
    munit_assert_int(T.columns, ==, 3);
    munit_assert_string_equal(T.column[1], "time");
    munit_assert_int(csv_find(&T, "gap"), ==, 2);
    munit_assert_int(csv_find(&T, "ga"), ==, -1);
    munit_assert_double(T.value[1], ==, 0.5);
    munit_assert_double(T.value[2], ==, 1e-3);
    munit_assert_double(T.value[4], ==, -2.0);
    munit_assert_true(T.value[5] != T.value[5]);
    munit_assert_string_equal(T.error, "");
    munit_assert_int(rows("a\n"), ==, 0);
    munit_assert_int(T.columns, ==, 1);
    munit_assert_int(rows(""), ==, 0);
    munit_assert_int(T.columns, ==, 0);
    munit_assert_string_equal(T.error, "");
    csv_free(&T);
    return MUNIT_OK;
}

static MunitResult test_broken(const MunitParameter p[], void *d)
{
    static const struct { const char *text; int rows, line; const char *error; } c[] = {
        {"a,b\n1,2\n3,4", 1, 3, "the line has no end"},
        {"a,b\n1,2\n3\n5,6\n", 1, 3, "fewer values than columns"},
        {"a,b\n1,2,3\n", 0, 2, "more values than columns"},
        {"a,b\n1,x\n", 0, 2, "not a number"},
        {"a,b\n1,2x\n", 0, 2, "not a number"},
        {"a,b\n1,\n", 0, 2, "not a number"},
        {"a,b\n\n", 0, 2, "not a number"},
        {"a,,b\n1,2,3\n", 0, 1, "a column without a name"},
        {"\n1\n", 0, 1, "a column without a name"},
        {"a\n1\n\x01\n", 1, 3, "a byte that is not text"},
        {"a\rb\n1\n", 0, 1, "a byte that is not text"},
        {"a", 0, 1, "the line has no end"}};
    size_t i;
    (void)p; (void)d;
    for (i = 0; i < sizeof c / sizeof *c; ++i) {
        munit_assert_int(rows(c[i].text), ==, c[i].rows);
        munit_assert_string_equal(T.error, c[i].error);
        munit_assert_int(T.line, ==, c[i].line);
    }
    munit_assert_int(rows_of("a\n1\n\0\n", 6), ==, 1);
    munit_assert_string_equal(T.error, "a byte that is not text");
    csv_free(&T);
    return MUNIT_OK;
}

/* Rows of a cut table are the rows whose line end is still there. */
static MunitResult test_every_cut(const MunitParameter p[], void *d)
{
    const char *text = "step,time,gap\n0,0,1\n1,0.5,2\n2,1,3e-3\n";
    size_t n, i;
    (void)p; (void)d;
    for (n = 0; n <= strlen(text); ++n) {
        int ends = 0;
        for (i = 0; i < n; ++i) ends += text[i] == '\n';
        munit_assert_int(rows_of(text, n), ==, ends > 0 ? ends - 1 : 0);
        munit_assert_int(T.error[0] == '\0', ==, n == 0 || text[n - 1] == '\n');
    }
    csv_free(&T);
    return MUNIT_OK;
}

/* No bit flip makes more rows or columns of values than lines and bytes allow. */
static MunitResult test_every_flip(const MunitParameter p[], void *d)
{
    const char *text = "step,time,gap\n0,0,1\n1,0.5,2\n2,1,3e-3\n";
    char b[64];
    size_t n = strlen(text), i;
    int bit;
    (void)p; (void)d;
    for (i = 0; i < n; ++i) for (bit = 0; bit < 8; ++bit) {
        memcpy(b, text, n);
        b[i] = (char)(b[i] ^ (1 << bit));
        munit_assert_int(rows_of(b, n), <=, 4);
        munit_assert_int(T.columns, <=, 5); /* two lines joined */
        if (T.rows < 3 && b[13] == '\n') munit_assert_true(T.error[0] != '\0');
    }
    csv_free(&T);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {(char *)"/whole", test_whole, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/broken", test_broken, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/every_cut", test_every_cut, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/every_flip", test_every_flip, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

int main(int argc, char *argv[])
{
    static const MunitSuite suite = {(char *)"/csv", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};
    return munit_suite_main(&suite, NULL, argc, argv);
}
