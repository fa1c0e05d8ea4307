/* test_sparse.c - gap_sparse.h against dense assembly and brute force */
#define GAP_SPARSE_IMPLEMENTATION
#include "gap_sparse.h"
#include "pool.h"
#include "util.h"

/* Random stencils: k nodes out of n (some -1, sometimes a node twice) and symmetric blocks. */
typedef struct stencils {
    int count, k, b;
    int *node;
    double *block, *piece;
} stencils;

static stencils random_stencils(int n, int b, int count, int k, int holes, int repeats)
{
    stencils s;
    int m = k * b, i, j, c;
    s.count = count;
    s.k = k;
    s.b = b;
    s.node = munit_newa(int, (size_t)(count * k + 1));
    s.block = munit_newa(double, (size_t)(count * m * m + 1));
    s.piece = munit_newa(double, (size_t)(count * m + 1));
    for (i = 0; i < count; ++i) {
        for (j = 0; j < k; ++j) {
            int *at = s.node + i * k, again = 1;
            while (again) {
                at[j] = munit_rand_int_range(0, n - 1);
                again = 0;
                for (c = 0; c < j && !repeats && n > 2 * k; ++c) again |= at[c] == at[j];
            }
            if (holes && munit_rand_int_range(0, 5) == 0) at[j] = -1;
        }
        for (j = 0; j < m; ++j) {
            double *H = s.block + (size_t)i * (size_t)(m * m);
            s.piece[i * m + j] = util_normal();
            for (c = 0; c <= j; ++c) H[j * m + c] = H[c * m + j] = util_normal();
        }
    }
    return s;
}

static void free_stencils(stencils *s)
{
    free(s->node);
    free(s->block);
    free(s->piece);
}

/* The oracle: full matrix and adjacency by plain loops. */
static void dense_add(double *D, char *near, int n, const stencils *s, double f, double *y)
{
    int b = s->b, m = s->k * b, N = n * b, q, i, j, r, c;
    for (q = 0; q < s->count; ++q) {
        for (i = 0; i < s->k; ++i) {
            int a = s->node[q * s->k + i];
            if (a < 0) continue;
            for (r = 0; y && r < b; ++r) y[a * b + r] += f * s->piece[q * m + i * b + r];
            for (j = 0; j < s->k; ++j) {
                int e = s->node[q * s->k + j];
                if (e < 0) continue;
                near[a * n + e] = 1;
                for (r = 0; r < b; ++r) {
                    for (c = 0; c < b; ++c) {
                        D[(size_t)(a * b + r) * (size_t)N + (size_t)(e * b + c)] +=
                            f * s->block[(size_t)q * (size_t)(m * m)
                                + (size_t)((i * b + r) * m + j * b + c)];
                    }
                }
            }
        }
    }
}

/* Seam 9: pattern exactly as `near` says plus the diagonal, last; values equal to tol. */
static void check_against(const gap_sparse *A, const double *D, const char *near, double tol)
{
    int n = A->n, b = A->b, N = n * b, i, j, r, c, q;
    for (i = 0; i < n; ++i) {
        q = A->ptr[i];
        for (j = 0; j <= i; ++j) {
            if (!near[i * n + j] && i != j) {
                munit_assert_int(gap_sparse_find(A, i, j), ==, -1);
                continue;
            }
            munit_assert_int(q, <, A->ptr[i + 1]);
            munit_assert_int(A->col[q], ==, j);
            munit_assert_int(gap_sparse_find(A, i, j), ==, q);
            for (r = 0; r < b; ++r) {
                for (c = 0; c < b; ++c) {
                    double v = A->val[(size_t)(b * b) * (size_t)q + (size_t)(r * b + c)];
                    double d = D[(size_t)(i * b + r) * (size_t)N + (size_t)(j * b + c)];
                    if (!(fabs(v - d) <= tol)) munit_errorf("(%d,%d) %g is not %g", i, j, v, d);
                }
            }
            q++;
        }
        munit_assert_int(q, ==, A->ptr[i + 1]);
        munit_assert_int(A->col[q - 1], ==, i);
    }
}

static MunitResult quick_start(const MunitParameter params[], void *data)
{
    int spring[4] = {0, 1, 1, 2};
    double block[8] = {2, -2, -2, 2, 3, -3, -3, 3}, x[3] = {0, 1, 3}, y[3];
    unsigned char fixed[3] = {1, 0, 0};
    gap_sparse A;
    (void)params, (void)data;
    munit_assert_int(gap_sparse_init(&A, 3, 1, NULL), ==, GAP_SPARSE_OK);
    munit_assert_int(gap_sparse_link(&A, 2, 2, spring), ==, GAP_SPARSE_OK);
    munit_assert_int(gap_sparse_build(&A), ==, GAP_SPARSE_CHANGED);
    munit_assert_int(gap_sparse_add(&A, 2, 2, spring, 1.0, block), ==, GAP_SPARSE_OK);
    gap_sparse_fix(&A, fixed, NULL);
    munit_assert_int(gap_sparse_multiply(&A, x, y), ==, GAP_SPARSE_OK);
    munit_assert_int(A.ptr[3], ==, 5);
    munit_assert(y[0] == 0 && y[1] == -4 && y[2] == 6);
    gap_sparse_free(&A);
    return MUNIT_OK;
}

/* Everything against the dense oracle: kept part, contact part, mass, fixed, product, vector. */
static void one_random_case(int repeats)
{
    static const int sizes[4] = {1, 2, 3, 6};
    int b = sizes[munit_rand_int_range(0, 3)], n = munit_rand_int_range(1, 24), N = n * b, i, j;
    int k1 = munit_rand_int_range(1, 10), k2 = 4, half;
    double f1 = util_uniform(0.5, 2.0);
    stencils s1 = random_stencils(n, b, munit_rand_int_range(0, 12), k1, 0, repeats);
    stencils s2 = random_stencils(n, b, munit_rand_int_range(0, 12), k2, 1, repeats);
    size_t NN = (size_t)N * (size_t)N;
    double *D = munit_newa(double, NN), *x = munit_newa(double, (size_t)N);
    double *y = munit_newa(double, (size_t)N), *z = munit_newa(double, (size_t)N);
    double *m = munit_newa(double, (size_t)n), tol = repeats || n <= 20 ? 1e-13 : 0.0;
    char *near = munit_newa(char, (size_t)(n * n));
    unsigned char *fixed = munit_newa(unsigned char, (size_t)n);
    gap_sparse A;

    munit_assert_int(gap_sparse_init(&A, n, b, NULL), ==, 0);
    gap_sparse_link(&A, s1.count, k1, s1.node);
    munit_assert_int(gap_sparse_build(&A), >=, 0);
    munit_assert_int(gap_sparse_keep(&A), ==, 0);
    gap_sparse_link(&A, s2.count, k2, s2.node);
    munit_assert_int(gap_sparse_build(&A), >=, 0);
    half = s2.count / 2; /* in two ranges, the second from the middle */
    munit_assert_int(gap_sparse_add(&A, s1.count, k1, s1.node, f1, s1.block), ==, 0);
    munit_assert_int(gap_sparse_add(&A, half, k2, s2.node, 1.0, s2.block), ==, 0);
    munit_assert_int(gap_sparse_add(&A, s2.count - half, k2, s2.node + half * k2, 1.0,
        s2.block + (size_t)half * (size_t)(k2 * b * k2 * b)), ==, 0);
    munit_assert_int(gap_sparse_add_vector(&A, s1.count, k1, s1.node, f1, s1.piece, y), ==, 0);
    munit_assert_int(gap_sparse_add_vector(&A, s2.count, k2, s2.node, 1.0, s2.piece, y), ==, 0);
    dense_add(D, near, n, &s1, f1, z);
    dense_add(D, near, n, &s2, 1.0, z);
    munit_assert_memory_equal((size_t)N * sizeof(double), y, z);
    check_against(&A, D, near, tol);

    for (i = 0; i < n; ++i) m[i] = util_uniform(0.1, 1.0);
    gap_sparse_add_mass(&A, 3.0, m);
    for (i = 0; i < N; ++i) D[(size_t)i * (size_t)(N + 1)] += 3.0 * m[i / b];
    check_against(&A, D, near, tol);

    for (i = 0; i < n; ++i) fixed[i] = (unsigned char)(munit_rand_uint32() & munit_rand_uint32()
        & 63u);
    for (i = 0; i < N; ++i) x[i] = util_normal();
    memcpy(z, x, (size_t)N * sizeof(double));
    gap_sparse_fix(&A, fixed, x);
    for (i = 0; i < N; ++i) {
        int fi = fixed[i / b] >> (i % b) & 1;
        munit_assert_double(x[i], ==, fi ? 0.0 : z[i]);
        for (j = 0; j < N; ++j) {
            double *d = D + (size_t)i * (size_t)N + (size_t)j;
            int fj = fixed[j / b] >> (j % b) & 1;
            if (i == j) *d = fi ? fabs(*d) : *d;
            else if (fi || fj) *d = 0.0;
        }
    }
    check_against(&A, D, near, tol);

    munit_assert_int(gap_sparse_multiply(&A, x, y), ==, 0);
    for (i = 0; i < N; ++i) {
        for (z[i] = 0.0, j = 0; j < N; ++j) z[i] += D[(size_t)i * (size_t)N + (size_t)j] * x[j];
    }
    munit_assert_double(util_rel_array(y, z, (size_t)N, 1e-3), <, 1e-12);
    gap_sparse_diagonal(&A, z);
    for (i = 0; i < N; ++i) {
        munit_assert_double(fabs(z[i] - D[(size_t)i * (size_t)(N + 1)]), <=, tol);
    }
    gap_sparse_free(&A);
    free_stencils(&s1);
    free_stencils(&s2);
    free(D), free(x), free(y), free(z), free(m), free(near), free(fixed);
}

static MunitResult random_dense(const MunitParameter params[], void *data)
{
    int i, count = util_count(600, 10000);
    (void)params, (void)data;
    for (i = 0; i < count; ++i) one_random_case(i % 3 == 0);
    return MUNIT_OK;
}

static MunitResult incremental(const MunitParameter params[], void *data)
{
    int n = 40, round;
    stencils fixed_part = random_stencils(n, 1, 30, 4, 0, 0);
    gap_sparse A, B;
    (void)params, (void)data;
    gap_sparse_init(&A, n, 1, NULL);
    gap_sparse_init(&B, n, 1, NULL);
    gap_sparse_link(&A, fixed_part.count, 4, fixed_part.node);
    munit_assert_int(gap_sparse_build(&A), ==, GAP_SPARSE_CHANGED);
    gap_sparse_keep(&A);
    munit_assert_int(gap_sparse_build(&A), ==, GAP_SPARSE_OK); /* nothing linked: the kept part */
    for (round = 0; round < 50; ++round) {
        stencils c = random_stencils(n, 1, 8, 4, 1, 0);
        gap_sparse_link(&A, c.count, 4, c.node);
        munit_assert_int(gap_sparse_build(&A), >=, 0);
        gap_sparse_link(&B, c.count, 4, c.node); /* from scratch, in the other order */
        gap_sparse_link(&B, fixed_part.count, 4, fixed_part.node);
        munit_assert_int(gap_sparse_build(&B), >=, 0);
        munit_assert_memory_equal((size_t)(n + 1) * sizeof(int), A.ptr, B.ptr);
        munit_assert_memory_equal((size_t)A.ptr[n] * sizeof(int), A.col, B.col);
        A.val[0] = 1.0;
        gap_sparse_link(&A, c.count, 4, c.node);
        munit_assert_int(gap_sparse_build(&A), ==, GAP_SPARSE_OK);
        munit_assert_double(A.val[0], ==, 0.0);
        free_stencils(&c);
    }
    gap_sparse_resize(&A, 7, 3); /* all forgotten */
    munit_assert_int(A.ptr[7], ==, 7);
    munit_assert_int(gap_sparse_build(&A), ==, GAP_SPARSE_OK);
    gap_sparse_free(&A);
    gap_sparse_free(&B);
    free_stencils(&fixed_part);
    return MUNIT_OK;
}

static MunitResult edges(const MunitParameter params[], void *data)
{
    int bad[8] = {0, 1, 2, 3, 4, 1, 0, -1}, far[8] = {0, 1, 2, 3, 2, 1, 4, -1}, low[2] = {1, -2};
    int twice[2] = {2, 2}, far_at[2] = {0, 4}, lengths[4] = {0, INT_MAX, 1, 5}, i;
    double zero[128] = {0}, y[5], H[4] = {1, 2, 3, 4};
    unsigned char fixed[5] = {1, 0, 0, 0, 1};
    gap_sparse A;
    (void)params, (void)data;
    munit_assert_int(gap_sparse_init(&A, 5, 4, NULL), ==, GAP_SPARSE_ESIZE);
    munit_assert_int(A.n, ==, 0);
    munit_assert_int(gap_sparse_multiply(&A, zero, y), ==, GAP_SPARSE_OK);
    munit_assert_int(gap_sparse_resize(&A, 0, 3), ==, GAP_SPARSE_OK);
    munit_assert_int(gap_sparse_build(&A), ==, GAP_SPARSE_OK);
    munit_assert_int(gap_sparse_resize(&A, 4, 1), ==, GAP_SPARSE_OK);
    munit_assert_int(gap_sparse_link(&A, 2, 4, bad), ==, GAP_SPARSE_EINDEX);
    munit_assert_int(A.bad, ==, 1);
    munit_assert_int(gap_sparse_link(&A, 1, 2, low), ==, GAP_SPARSE_EINDEX);
    munit_assert_int(gap_sparse_build(&A), ==, GAP_SPARSE_OK); /* neither was announced */
    munit_assert_int(gap_sparse_resize(&A, 5, 1), ==, GAP_SPARSE_OK);
    gap_sparse_link(&A, 1, 4, far);
    gap_sparse_build(&A);
    munit_assert_int(gap_sparse_add(&A, 2, 4, far, 1.0, zero), ==, GAP_SPARSE_EINPUT);
    munit_assert_int(A.bad, ==, 1);
    far[5] = 5;
    munit_assert_int(gap_sparse_add(&A, 2, 4, far, 1.0, zero), ==, GAP_SPARSE_EINDEX);
    munit_assert_int(gap_sparse_add_vector(&A, 2, 4, far, 1.0, zero, y), ==, GAP_SPARSE_EINDEX);
    munit_assert_int(A.bad, ==, 1);
    munit_assert_int(gap_sparse_find(&A, 0, 4), ==, -1);
    munit_assert_int(gap_sparse_find(&A, 9, 4), ==, -1);

    gap_sparse_zero(&A);
    munit_assert_int(gap_sparse_add(&A, 1, 2, twice, 1.0, H), ==, GAP_SPARSE_OK);
    munit_assert_double(A.val[gap_sparse_find(&A, 2, 2)], ==, 10.0);
    gap_sparse_zero(&A); /* fixed diagonals 0 and -5 become 1 and 5 */
    A.val[gap_sparse_find(&A, 4, 4)] = -5.0;
    gap_sparse_fix(&A, fixed, NULL);
    for (i = 0; i < 2; ++i) {
        int at = gap_sparse_find(&A, far_at[i], far_at[i]);
        munit_assert_double(A.val[at], ==, i ? 5.0 : 1.0);
    }
    munit_assert_int(gap_sparse__starts(lengths, 3), ==, GAP_SPARSE_ESIZE);
    lengths[1] = INT_MAX - 2, lengths[2] = lengths[3] = 1; /* just fits */
    munit_assert_int(gap_sparse__starts(lengths, 3), ==, 0);
    munit_assert_int(lengths[3], ==, INT_MAX);
    gap_sparse_zero(&A);
    A.val[gap_sparse_find(&A, 3, 3)] = -10.0;
    gap_sparse_shift(&A, 0.5); /* mean magnitude 2 */
    munit_assert_double(A.val[gap_sparse_find(&A, 3, 3)], ==, -9.0);
    munit_assert_double(A.val[gap_sparse_find(&A, 0, 0)], ==, 1.0);
    gap_sparse_free(&A);
    return MUNIT_OK;
}

/* One node in contact with all others: the row that would make a comparison sort slow. */
static MunitResult dense_row(const MunitParameter params[], void *data)
{
    int n = 20000, i, *node = munit_newa(int, 2u * 20000u);
    gap_sparse A;
    (void)params, (void)data;
    gap_sparse_init(&A, n, 1, NULL);
    for (i = 0; i < n; ++i) {
        node[2 * i] = n - 1;
        node[2 * i + 1] = (int)((unsigned)i * 7919u % (unsigned)n);
    }
    gap_sparse_link(&A, n, 2, node);
    munit_assert_int(gap_sparse_build(&A), ==, GAP_SPARSE_CHANGED);
    munit_assert_int(A.ptr[n], ==, 2 * n - 1);
    for (i = 0; i < n; ++i) munit_assert_int(A.col[A.ptr[n - 1] + i], ==, i);
    gap_sparse_free(&A);
    free(node);
    return MUNIT_OK;
}

/* The whole life of a matrix, hashed. */
static uint64_t life(gap_sparse *A, const stencils *el, const stencils *con, int n)
{
    uint64_t h = 0;
    size_t N = (size_t)(n * A->b), i;
    double *x = munit_newa(double, N), *y = munit_newa(double, N);
    unsigned char *fixed = munit_newa(unsigned char, (size_t)n);
    for (i = 0; i < N; ++i) x[i] = (double)(i % 17) - 8.3;
    for (i = 0; i < (size_t)n; i += 5) fixed[i] = (unsigned char)(i % 8);
    gap_sparse_link(A, el->count, el->k, el->node);
    gap_sparse_build(A);
    gap_sparse_keep(A);
    gap_sparse_link(A, con->count, con->k, con->node);
    gap_sparse_build(A);
    gap_sparse_add(A, el->count, el->k, el->node, 0.3, el->block);
    gap_sparse_add(A, con->count, con->k, con->node, 0.7, con->block);
    gap_sparse_add_vector(A, con->count, con->k, con->node, 0.7, con->piece, x);
    gap_sparse_fix(A, fixed, x);
    gap_sparse_multiply(A, x, y);
    h = util_hash_bytes(h, A->ptr, (size_t)(n + 1) * sizeof(int));
    h = util_hash_bytes(h, A->col, (size_t)A->ptr[n] * sizeof(int));
    h = util_hash(h, A->val, (size_t)(A->b * A->b) * (size_t)A->ptr[n]);
    h = util_hash(h, x, N);
    h = util_hash(h, y, N);
    free(x), free(y), free(fixed);
    return h;
}

static MunitResult same_bits(const MunitParameter params[], void *data)
{
    static const int workers[5] = {0, 1, 2, 3, 8};
    int n = 20000, i;
    stencils el = random_stencils(n, 3, 3000, 4, 0, 0), con = random_stencils(n, 3, 2000, 4, 1, 0);
    uint64_t h[5];
    (void)params, (void)data;
    for (i = 0; i < 2000; ++i) con.node[4 * i] %= 50; /* a crowd: many sums of many terms */
    for (i = 0; i < 5; ++i) {
        gap_sparse_options opt = {NULL, NULL, 0, NULL, NULL};
        pool *p = workers[i] ? pool_open(workers[i]) : NULL;
        gap_sparse A;
        if (workers[i]) {
            munit_assert_not_null(p);
            opt.parallel_for = pool_for;
            opt.parallel_user = p;
            opt.workers = workers[i];
        }
        munit_assert_int(gap_sparse_init(&A, n, 3, &opt), ==, 0);
        h[i] = life(&A, &el, &con, n);
        munit_assert_uint64(h[i], ==, h[0]);
        gap_sparse_free(&A);
        pool_close(p);
    }
    free_stencils(&el);
    free_stencils(&con);
    return MUNIT_OK;
}

/* Fail the k-th allocation for every k: errors come back, the old pattern survives, a second try
   gives the answer of an undisturbed run, and everything is freed. */
static MunitResult out_of_memory(const MunitParameter params[], void *data)
{
    int n = 30, k, failures = 0;
    stencils el = random_stencils(n, 2, 20, 4, 0, 0), con = random_stencils(n, 2, 10, 4, 1, 0);
    uint64_t want;
    gap_sparse A;
    (void)params, (void)data;
    gap_sparse_init(&A, n, 2, NULL);
    want = life(&A, &el, &con, n);
    gap_sparse_free(&A);
    for (k = 1;; ++k) {
        util_memory mem = {0, 0, 0, 0, 0, 0};
        gap_sparse_options opt = {NULL, NULL, 0, util_realloc, &mem};
        double y[60], x[60] = {0};
        int s[7], i, failed = 0;
        memset(y, 0, sizeof y);
        mem.fail_at = k;
        s[0] = gap_sparse_init(&A, n, 2, &opt);
        if (s[0]) munit_assert_int(gap_sparse_resize(&A, n, 2), ==, 0);
        s[1] = gap_sparse_link(&A, el.count, 4, el.node);
        s[2] = gap_sparse_build(&A);
        if (s[2] < 0) munit_assert_int(A.ptr[n], ==, n);
        s[3] = gap_sparse_keep(&A);
        s[4] = gap_sparse_link(&A, con.count, 4, con.node);
        A.val[0] = 7.0;
        s[5] = gap_sparse_build(&A);
        if (s[5] < 0) munit_assert_double(A.val[0], ==, 7.0);
        s[6] = gap_sparse_multiply(&A, x, y);
        for (i = 0; i < 7; ++i) failed += s[i] == GAP_SPARSE_ENOMEM;
        munit_assert_int(failed, ==, mem.calls >= k);
        failures += failed;
        mem.fail_at = 0;
        munit_assert_int(gap_sparse_resize(&A, n, 2), ==, 0);
        munit_assert_uint64(life(&A, &el, &con, n), ==, want);
        gap_sparse_free(&A);
        munit_assert_long(mem.live, ==, 0);
        munit_assert_int(mem.wrong, ==, 0);
        if (!failed) break;
    }
    munit_assert_int(failures, >, 10);
    free_stencils(&el);
    free_stencils(&con);
    return MUNIT_OK;
}

/* Once the sizes were seen, a Newton iteration's worth of calls allocates nothing. */
static MunitResult steady(const MunitParameter params[], void *data)
{
    int n = 300, i;
    util_memory mem = {0, 0, 0, 0, 0, 0};
    gap_sparse_options opt = {NULL, NULL, 0, util_realloc, &mem};
    stencils el = random_stencils(n, 3, 200, 4, 0, 0), con = random_stencils(n, 3, 100, 4, 1, 0);
    gap_sparse A;
    long before = 0;
    (void)params, (void)data;
    gap_sparse_init(&A, n, 3, &opt);
    for (i = 0; i < 6; ++i) {
        if (i == 2) before = mem.calls;
        munit_assert_int(gap_sparse_resize(&A, n, 3), ==, 0);
        life(&A, &el, &con, n);
    }
    munit_assert_long(mem.calls, ==, before);
    gap_sparse_free(&A);
    free_stencils(&el);
    free_stencils(&con);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/quick_start", quick_start, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/random_dense", random_dense, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/incremental", incremental, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/edge/all", edges, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/edge/dense_row", dense_row, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/same_bits", same_bits, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/out_of_memory", out_of_memory, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/steady", steady, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

static const MunitSuite suite = {"/sparse", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
