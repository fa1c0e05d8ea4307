/* test_mtx.c - Matrix Market files: round trips, and every complaint with its line */
#include "mtx.h"
#include "util.h"
#include <unistd.h>

static char file_name[64];

static const char *scratch(void)
{
    snprintf(file_name, sizeof file_name, "build/test_mtx_%ld.mtx", (long)getpid());
    return file_name;
}

static int parse(const char *text, int b, mtx_matrix *A, char message[200])
{
    return mtx_parse(text, strlen(text), "f", b, A, message, 200);
}

/* A random block matrix of seam 9; values of all magnitudes. */
static void random_matrix(mtx_matrix *A, int n, int b)
{
    int i, j, r, c, m = 0;
    A->n = n;
    A->b = b;
    A->ptr = munit_newa(int, (size_t)n + 1);
    A->col = munit_newa(int, (size_t)(n * n));
    A->val = munit_newa(double, (size_t)(n * n * b * b));
    for (i = 0; i < n; ++i) {
        for (j = 0; j <= i; ++j) {
            double *v = A->val + m * b * b;
            if (j < i && munit_rand_int_range(0, 2) > 0) continue;
            A->col[m++] = j;
            for (r = 0; r < b; ++r) {
                for (c = 0; c < b; ++c) {
                    v[r * b + c] = ldexp(util_normal(), munit_rand_int_range(-900, 900));
                }
            }
            for (r = 0; i == j && r < b; ++r) {
                for (c = 0; c < r; ++c) v[c * b + r] = v[r * b + c];
            }
        }
        A->ptr[i + 1] = m;
    }
}

static void assert_same(const mtx_matrix *A, const mtx_matrix *B)
{
    munit_assert_int(A->n, ==, B->n);
    munit_assert_int(A->b, ==, B->b);
    munit_assert_memory_equal((size_t)(A->n + 1) * sizeof(int), A->ptr, B->ptr);
    munit_assert_memory_equal((size_t)A->ptr[A->n] * sizeof(int), A->col, B->col);
    munit_assert_memory_equal((size_t)(A->ptr[A->n] * A->b * A->b) * sizeof(double), A->val,
        B->val);
}

static double at(const mtx_matrix *A, int r, int c)
{
    int i = r / A->b, j = c / A->b, q;
    for (q = A->ptr[i]; q < A->ptr[i + 1]; ++q) {
        if (A->col[q] == j) return A->val[q * A->b * A->b + (r % A->b) * A->b + c % A->b];
    }
    return 0.0;
}

/* The same numbers as a general file, entries in random order. */
static void write_general(const mtx_matrix *A, const char *path)
{
    int N = A->n * A->b, total = 0, i, j, k, *list = munit_newa(int, (size_t)(2 * N * N));
    FILE *f = fopen(path, "w");
    munit_assert_not_null(f);
    for (i = 0; i < N; ++i) {
        for (j = 0; j < N; ++j) {
            if (at(A, i > j ? i : j, i > j ? j : i) == 0.0) continue;
            k = munit_rand_int_range(0, total);
            list[2 * total] = list[2 * k];
            list[2 * total + 1] = list[2 * k + 1];
            list[2 * k] = i;
            list[2 * k + 1] = j;
            total++;
        }
    }
    fprintf(f, "%%%%matrixmarket MATRIX Coordinate Real General\r\n%% note\n\n%d %d %d\n", N, N,
        total);
    for (k = 0; k < total; ++k) {
        i = list[2 * k];
        j = list[2 * k + 1];
        fprintf(f, " %d\t%d  %.17g \r\n%s", i + 1, j + 1, at(A, i > j ? i : j, i > j ? j : i),
            k % 7 ? "" : "%\n");
    }
    fclose(f);
    free(list);
}

static MunitResult round_trip(const MunitParameter params[], void *data)
{
    int k;
    char message[200];
    (void)params, (void)data;
    for (k = 0; k < util_count(150, 3000); ++k) {
        mtx_matrix A, B, C;
        int i, j, b = munit_rand_int_range(1, 6);
        random_matrix(&A, munit_rand_int_range(1, 9), b);
        munit_assert_int(mtx_write(scratch(), A.n, A.b, A.ptr, A.col, A.val, message, 200), ==, 0);
        munit_assert_int(mtx_read(scratch(), b, &B, message, 200), ==, 0);
        assert_same(&A, &B);
        munit_assert_int(mtx_read(scratch(), 1, &C, message, 200), ==, 0);
        for (i = 0; i < A.n * b; ++i) {
            for (j = 0; j <= i; ++j) munit_assert_double(at(&C, i, j), ==, at(&A, i, j));
        }
        mtx_free(&B);
        write_general(&A, scratch());
        munit_assert_int(mtx_read(scratch(), b, &B, message, 200), ==, 0);
        munit_assert_string_equal(message, "");
        assert_same(&A, &B);
        mtx_free(&A);
        mtx_free(&B);
        mtx_free(&C);
    }
    remove(scratch());
    return MUNIT_OK;
}

static MunitResult vectors(const MunitParameter params[], void *data)
{
    double v[40], w[40];
    char message[200];
    const char *text = "%%MatrixMarket matrix array integer general\n3 1\n1\n-2\n3\n";
    int k;
    (void)params, (void)data;
    for (k = 0; k < 40; ++k) v[k] = ldexp(util_normal(), munit_rand_int_range(-1000, 1000));
    munit_assert_int(mtx_write_vector(scratch(), 40, v, message, 200), ==, 0);
    munit_assert_int(mtx_read_vector(scratch(), 40, w, message, 200), ==, 0);
    munit_assert_memory_equal(sizeof v, v, w);
    munit_assert_int(mtx_read_vector(scratch(), 39, w, message, 200), ==, MTX_EINPUT);
    munit_assert_double(w[0], ==, 0.0);
    remove(scratch());
    munit_assert_int(mtx_parse_vector(text, strlen(text), "f", 3, w, message, 200), ==, 0);
    munit_assert(w[0] == 1 && w[1] == -2 && w[2] == 3);
    munit_assert_int(mtx_parse_vector(text, strlen(text) - 2, "f", 3, w, message, 200), ==,
        MTX_EINPUT);
    munit_assert_string_equal(message, "f:4: truncated after 2 of 3 values");
    return MUNIT_OK;
}

static MunitResult kinds(const MunitParameter params[], void *data)
{
    char message[200];
    mtx_matrix A;
    (void)params, (void)data;
    munit_assert_int(parse("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n3 1\n"
        "2 2", 1, &A, message), ==, 0); /* row 3 has no diagonal: it is added */
    munit_assert_int(A.ptr[3], ==, 4);
    munit_assert_double(at(&A, 2, 0), ==, 1.0);
    munit_assert_double(at(&A, 2, 2), ==, 0.0);
    mtx_free(&A);
    munit_assert_int(parse("%%MatrixMarket matrix coordinate integer general\n2 2 4\n1 1 4\n1 2 -1"
        "\n2 1 -1\n2 2 7\n\n% end\n", 2, &A, message), ==, 0);
    munit_assert_int(A.n, ==, 1);
    munit_assert(A.val[0] == 4 && A.val[1] == -1 && A.val[2] == -1 && A.val[3] == 7);
    mtx_free(&A);
    return MUNIT_OK;
}

#define SYM "%%MatrixMarket matrix coordinate real symmetric\n"
#define GEN "%%MatrixMarket matrix coordinate real general\n"

static MunitResult complaints(const MunitParameter params[], void *data)
{
    static const char *const table[][2] = {
        {"", "f:1: the file is empty"},
        {"hello\n", "f:1: does not begin with %%MatrixMarket matrix"},
        {"%%MatrixMarket matrix coordinate complex symmetric\n",
            "f:1: field 'complex' is not real, integer or pattern"},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n",
            "f:1: symmetry 'skew-symmetric' is not symmetric or general"},
        {"%%MatrixMarket matrix array real general\n1 1\n1\n",
            "f:1: an array file is not a sparse matrix"},
        {SYM, "f:1: truncated: no line with the sizes"},
        {SYM "% c\n3 2 1\n1 1 1\n", "f:3: not square: 3 rows and 2 columns"},
        {SYM "2 2\n", "f:2: the number of entries is missing or not a whole number"},
        {SYM "2 2 -1\n", "f:2: the number of entries is missing or not a whole number"},
        {SYM "2 2 99999999999\n", "f:2: the number of entries is too large"},
        {SYM "2 2 2000000000\n1 1 1\n",
            "f:2: 2000000000 entries cannot be in the 7 bytes that follow"},
        {SYM "2000000000 2000000000 2\n1 1 1\n2 2 1\n",
            "f:2: 2 entries leave some of the 2000000000 rows empty"},
        {SYM "0 0 0\n", "f:2: the matrix has no rows"},
        {SYM "2 2 2 2\n", "f:2: more on the line than expected"},
        {SYM "2 2 2\n1 1 1\n", "f:3: truncated after 1 of 2 entries"},
        {SYM "2 2 2\n1 1 1\n2 2", "f:4: the value is missing"},
        {SYM "2 2 2\n1 1 1\n2 2 1\n2 1 1\n", "f:5: more than the 2 entries announced"},
        {SYM "2 2 2\n1 1 1\n3 1 1\n", "f:4: row 3 is not in 1..2"},
        {SYM "2 2 2\n1 1 1\n2 0 1\n", "f:4: column 0 is not in 1..2"},
        {SYM "2 2 2\n1 1 1\n1 2 1\n", "f:4: (1,2) is above the diagonal of a symmetric file"},
        {SYM "2 2 2\n1 1 1\n2 2 nan\n", "f:4: the value is NaN"},
        {SYM "2 2 2\n1 1 1\n2 2 -inf\n",
            "f:4: the value is infinite or too large for double precision"},
        {SYM "2 2 2\n1 1 1\n2 2 1e999\n",
            "f:4: the value is infinite or too large for double precision"},
        {SYM "2 2 2\n1 1 1\n2 2 1x\n", "f:4: the value is not a number"},
        {SYM "2 2 2\n1 1 1\n2 2 1 1\n", "f:4: more on the line than expected"},
        {SYM "2 2 3\n1 1 1\n2 2 1\n%\n1 1 1\n", "f:6: entry (1,1) is there twice"},
        {GEN "2 2 3\n1 1 1\n2 2 1\n1 2 1\n",
            "f:5: entry (1,2) has no mirror: the matrix is not symmetric"},
        {GEN "2 2 4\n1 1 1\n2 2 1\n1 2 1\n2 1 2\n",
            "f:6: entry (2,1) differs from its mirror: not symmetric"},
        {GEN "2 2 5\n1 1 1\n2 2 1\n1 2 1\n2 1 1\n1 2 1\n", "f:7: entry (1,2) is there twice"},
        {"%%MatrixMarket matrix coordinate integer symmetric\n1 1 1\n1 1 1.5\n",
            "f:3: the value is not whole, but the header says integer"}};
    size_t k;
    char message[200], small[6];
    mtx_matrix A;
    (void)params, (void)data;
    for (k = 0; k < sizeof table / sizeof table[0]; ++k) {
        munit_assert_int(parse(table[k][0], 1, &A, message), ==, MTX_EINPUT);
        munit_assert_string_equal(message, table[k][1]);
        munit_assert_ptr_null(A.val);
    }
    munit_assert_int(parse(SYM "3 3 3\n1 1 1\n2 2 1\n3 3 1\n", 2, &A, message), ==, MTX_EINPUT);
    munit_assert_string_equal(message, "f:2: 3 rows are not a multiple of the block size 2");
    munit_assert_int(mtx_parse("x", 1, "long name", 1, &A, small, sizeof small), ==, MTX_EINPUT);
    munit_assert_string_equal(small, "long ");
    munit_assert_int(mtx_read("no/such/file", 1, &A, message, 200), ==, MTX_EINPUT);
    munit_assert_not_null(strstr(message, "no/such/file: "));
    munit_assert_int(mtx_write("no/such/file", A.n, 1, NULL, NULL, NULL, message, 200), ==,
        MTX_EINPUT);
    munit_assert_not_null(strstr(message, "no/such/file: "));
    return MUNIT_OK;
}

/* Every prefix of a good file is refused, never read past its end (run under a sanitizer). */
static MunitResult truncated(const MunitParameter params[], void *data)
{
    static const char good[] = SYM "2 2 3\n1 1 4.25\n2 1 -1e-3\n2 2 17\n";
    size_t k;
    char message[200];
    (void)params, (void)data;
    for (k = 0; k + 3 < sizeof good; ++k) { /* up to the last "2 2 ": "2 2 1" is an entry again */
        char *part = (char *)munit_malloc(k + 1);
        mtx_matrix A;
        memcpy(part, good, k);
        part[k] = 0;
        munit_assert_int(mtx_parse(part, k, "f", 1, &A, message, 200), ==, MTX_EINPUT);
        mtx_free(&A);
        free(part);
    }
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/round_trip", round_trip, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/vectors", vectors, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/kinds", kinds, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/complaints", complaints, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/truncated", truncated, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

static const MunitSuite suite = {"/mtx", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
