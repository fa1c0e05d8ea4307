/* test_solve.c - gap-solve as its user sees it: one line of figures, complaints with the line of
   the file, exit codes. The program's main is compiled in and run in a child process. */
#define main gap_solve_main
#include "../apps/gap-solve.c"
#undef main
#include "util.h"
#include <sys/wait.h>
#include <unistd.h>

static char said[2000], complained[2000]; /* stdout and stderr of the last run */

/* The file of this purpose: 0 stdout, 1 stderr, 2 matrix, 3 right-hand side, 4 solution. */
static const char *scratch(int what)
{
    static char name[5][80];
    snprintf(name[what], sizeof name[what], "build/test_solve_%ld_%d", (long)getpid(), what);
    return name[what];
}

static void slurp(const char *name, char *out, size_t size)
{
    FILE *f = fopen(name, "rb");
    munit_assert_not_null(f);
    out[fread(out, 1, size - 1, f)] = 0;
    fclose(f);
    remove(name);
}

/* gap-solve with up to 5 arguments (NULL ends them); its exit code. */
static int solve(const char *a, const char *b, const char *c, const char *d, const char *e)
{
    char *argv[8], program[] = "gap-solve", copy[5][200];
    const char *in[5], *out = scratch(0), *err = scratch(1);
    int i, n = 1, status;
    pid_t child;

    in[0] = a, in[1] = b, in[2] = c, in[3] = d, in[4] = e;
    argv[0] = program;
    for (i = 0; i < 5 && in[i]; ++i) {
        snprintf(copy[i], sizeof copy[i], "%s", in[i]);
        argv[n++] = copy[i];
    }
    argv[n] = NULL;
    fflush(NULL);
    child = fork();
    munit_assert_int((int)child, >=, 0);
    if (child == 0) {
        if (!freopen(out, "wb", stdout) || !freopen(err, "wb", stderr)) _exit(99);
        exit(gap_solve_main(n, argv));
    }
    munit_assert_int((int)waitpid(child, &status, 0), ==, (int)child);
    slurp(out, said, sizeof said);
    slurp(err, complained, sizeof complained);
    munit_assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static const char *put(const char *text)
{
    const char *name = scratch(2);
    FILE *f = fopen(name, "wb");
    munit_assert_not_null(f);
    fputs(text, f);
    fclose(f);
    return name;
}

/* The number behind KEY= in the line that the program printed. */
static double figure(const char *key)
{
    char pattern[40];
    const char *at;
    snprintf(pattern, sizeof pattern, "%s=", key);
    at = strstr(said, pattern);
    munit_assert_not_null(at);
    return atof(at + strlen(pattern));
}

/* A bad file: exit 2, `gap-solve: FILE:LINE: what` on stderr, nothing on stdout. */
static void refused(const char *text, int line, const char *what)
{
    const char *name = put(text);
    char start[200];

    snprintf(start, sizeof start, "gap-solve: %s:%d: ", name, line);
    munit_assert_int(solve(name, NULL, NULL, NULL, NULL), ==, 2);
    if (strncmp(complained, start, strlen(start)) != 0 || !strstr(complained, what))
        munit_errorf("expected \"%s...%s\", got \"%s\"", start, what, complained);
    munit_assert_string_equal(said, "");
    remove(name);
}

#define SYM "%%MatrixMarket matrix coordinate real symmetric\n"
#define GEN "%%MatrixMarket matrix coordinate real general\n"

static MunitResult bad_files(const MunitParameter p[], void *u)
{
    (void)p, (void)u;
    refused(SYM "3 3 5\n1 1 4\n2 1 1\n2 2 5\n3 2 2\n", 6, "truncated after 4 of 5");
    refused(SYM "% nothing else\n", 2, "truncated");
    refused("", 1, "empty");
    refused("1 2 3\n", 1, "MatrixMarket");
    refused(GEN "2 2 4\n1 1 4\n1 2 1\n2 1 1.5\n2 2 4\n", 5, "not symmetric");
    refused(GEN "2 2 3\n1 1 4\n1 2 1\n2 2 4\n", 4, "(1,2)");
    refused(SYM "3 2 3\n1 1 4\n2 2 5\n3 2 2\n", 2, "not square: 3 rows and 2 columns");
    refused(SYM "2 2 3\n1 1 4\n2 2 5\n2 2 5\n", 5, "(2,2)");
    refused(SYM "% a comment\n\n2 2 2\n1 1 4\n2 2 nan\n", 6, "NaN");
    refused(SYM "2 2 2\n1 1 inf\n2 2 1\n", 3, "infinite");
    refused(SYM "2 2 2\n1 1 4\n3 1 1\n", 4, "row 3");
    refused(SYM "2 2 2\n1 1 4\n1 2 1\n", 4, "above the diagonal");
    refused(SYM "2 2 2\n1 1 4\n2 2 5 6\n", 4, "more on the line");
    refused(SYM "2 2 2\n1 1 4\n2 2 5\n2 1 5\n", 5, "more than the 2");
    return MUNIT_OK;
}

static MunitResult usage(const MunitParameter p[], void *u)
{
    const char *name = put(SYM "2 2 2\n1 1 4\n2 2 5\n");

    (void)p, (void)u;
    munit_assert_int(solve("--help", NULL, NULL, NULL, NULL), ==, 0);
    munit_assert_not_null(strstr(said, "usage: gap-solve A.mtx"));
    munit_assert_int(solve("--version", NULL, NULL, NULL, NULL), ==, 0);
    munit_assert_not_null(strstr(said, "gap-solve 0."));
    munit_assert_int(solve(NULL, NULL, NULL, NULL, NULL), ==, 2);
    munit_assert_int(solve(name, "--frobnicate", "1", NULL, NULL), ==, 2);
    munit_assert_not_null(strstr(complained, "--frobnicate"));
    munit_assert_int(solve(name, "--order", "best", NULL, NULL), ==, 2);
    munit_assert_int(solve(name, "--threads", "0", NULL, NULL), ==, 2);
    munit_assert_int(solve(name, "--repeat", "x", NULL, NULL), ==, 2);
    munit_assert_int(solve(name, "--block", "3", NULL, NULL), ==, 2);
    munit_assert_int(solve(name, "--rhs", "build/no_such_file", NULL, NULL), ==, 2);
    munit_assert_not_null(strstr(complained, "no_such_file"));
    munit_assert_int(solve("build/no_such_file", NULL, NULL, NULL, NULL), ==, 2);
    remove(name);
    return MUNIT_OK;
}

static MunitResult small_by_hand(const MunitParameter p[], void *u)
{
    const char *name = put(SYM "3 3 5\n1 1 4\n2 1 1\n2 2 5\n3 2 2\n3 3 6\n");
    const char *rhs = scratch(3), *x = scratch(4);
    char message[200];
    double v[3];
    FILE *f = fopen(rhs, "wb");

    (void)p, (void)u;
    munit_assert_not_null(f);
    fputs("%%MatrixMarket matrix array real general\n3 1\n5\n8\n8\n", f);
    fclose(f);
    munit_assert_int(solve(name, "--rhs", rhs, "--out", x), ==, 0);
    munit_assert_string_equal(complained, "");
    munit_assert_double(figure("n"), ==, 3);
    munit_assert_double(figure("nnz"), ==, 5);
    munit_assert_double(figure("nnzL"), ==, 5);
    munit_assert_double(figure("residual"), <, 1e-15);
    munit_assert_double(figure("peak_mb"), >, 0);
    munit_assert_int(mtx_read_vector(x, 3, v, message, sizeof message), ==, 0);
    munit_assert_double(fabs(v[0] - 1) + fabs(v[1] - 1) + fabs(v[2] - 1), <, 1e-15);
    f = fopen(rhs, "wb");
    fputs("%%MatrixMarket matrix array real general\n3 1\n5\n8\n", f);
    fclose(f);
    munit_assert_int(solve(name, "--rhs", rhs, NULL, NULL), ==, 2);
    munit_assert_not_null(strstr(complained, ":4: "));
    remove(name);
    remove(rhs);
    remove(x);
    return MUNIT_OK;
}

/* Signs on the diagonal of a matrix that the diagonal dominates are its inertia. */
static MunitResult indefinite(const MunitParameter p[], void *u)
{
    char text[6000], want[100];
    int round, i, n, at, minus;

    (void)p, (void)u;
    for (round = 0; round < 10; ++round) {
        const char *name;
        n = munit_rand_int_range(2, 40);
        at = snprintf(text, sizeof text, "%s%d %d %d\n", SYM, n, n, 2 * n - 1);
        for (i = 1, minus = 0; i <= n; ++i) {
            int sign = i == n && minus == 0 ? -1 : (munit_rand_int_range(0, 2) ? 1 : -1);
            minus += sign < 0;
            at += snprintf(text + at, sizeof text - (size_t)at, "%d %d %.17g\n", i, i,
                sign * util_uniform(2.5, 9));
            if (i < n)
                at += snprintf(text + at, sizeof text - (size_t)at, "%d %d %.17g\n", i + 1, i,
                    util_uniform(-1, 1));
        }
        name = put(text);
        if (solve(name, round % 2 ? "--order" : NULL, "amd", NULL, NULL) != 1)
            munit_errorf("exit code is not 1: %s", complained);
        snprintf(want, sizeof want,
            "not positive definite: %d pivots positive, %d negative, 0 zero", n - minus, minus);
        if (!strstr(complained, want))
            munit_errorf("expected \"%s\", got \"%s\"", want, complained);
        munit_assert_double(figure("residual"), <, 1e-14);
        remove(name);
    }
    munit_assert_int(solve(put(SYM "2 2 2\n1 1 4\n2 2 0\n"), NULL, NULL, NULL, NULL), ==, 1);
    munit_assert_not_null(strstr(complained, "1 pivots positive, 0 negative, 1 zero"));
    remove(scratch(2));
    return MUNIT_OK;
}

/* Blocks are found by themselves; order, threads and repeats change only what they should. */
static MunitResult blocks(const MunitParameter p[], void *u)
{
    static const char *more[][2] = {{"--order", "amd"}, {"--threads", "2"}, {"--repeat", "3"},
        {"--block", "1"}, {"--block", "3"}, {NULL, NULL}};
    const char *name = scratch(2);
    int n = 60, ptr[61], col[120], i, k, used = 0;
    double *val = munit_newa(double, 120 * 9), nnz = 0;
    char message[200];

    (void)p, (void)u;
    for (i = 0, ptr[0] = 0; i < n; ++i) { /* a chain of 3 x 3 blocks */
        for (k = i > 0 ? i - 1 : 0; k <= i; ++k, ++used) {
            int r, c;
            col[used] = k;
            for (r = 0; r < 3; ++r)
                for (c = 0; c <= r; ++c)
                    val[9 * used + 3 * r + c] = val[9 * used + 3 * c + r] = r == c && k == i
                        ? 20 + i : util_uniform(0.1, 1);
        }
        ptr[i + 1] = used;
    }
    munit_assert_int(mtx_write(name, n, 3, ptr, col, val, message, sizeof message), ==, 0);
    for (i = 0; i < 6; ++i) {
        munit_assert_int(solve(name, more[i][0], more[i][1], NULL, NULL), ==, 0);
        munit_assert_double(figure("block"), ==, i == 3 ? 1 : 3);
        munit_assert_double(figure("residual"), <, 1e-14);
        munit_assert_double(figure("backward"), <, 1e-14);
        if (i == 0) nnz = figure("nnz");
        munit_assert_double(figure("nnz"), ==, nnz);
        munit_assert_double(figure("nnzL"), >=, nnz);
        munit_assert_double(figure("storedL"), >=, figure("nnzL") - 180);
    }
    munit_assert_double(nnz, ==, 60 * 6 + 59 * 9);
    remove(name);
    free(val);
    return MUNIT_OK;
}

#define T(name, fn) {(char *)(name), fn, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}
static MunitTest tests[] = {
    T("/bad_files", bad_files), T("/usage", usage), T("/small_by_hand", small_by_hand),
    T("/indefinite", indefinite), T("/blocks", blocks),
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}
};
static const MunitSuite suite = {"/solve", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
