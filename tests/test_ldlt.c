/* test_ldlt.c - gap_ldlt.h against dense elimination in long double, brute force and formulas */
#define GAP_LDLT_IMPLEMENTATION
#include "gap_ldlt.h"
#include "gen_matrices.h"
#include "pool.h"
#include "util.h"

/* ---- matrices in the form of the header, and a dense twin ---- */

typedef struct sparse {
    int n, b;
    int *ptr, *col;
    double *val;
} sparse;

static void sparse_free(sparse *A)
{
    free(A->ptr);
    free(A->col);
    free(A->val);
}

static double *dense_of(const sparse *A)
{
    int N = A->n * A->b, i, p, r, c, b = A->b;
    double *D = munit_newa(double, (size_t)(N * N + 1));

    for (i = 0; i < A->n; ++i)
        for (p = A->ptr[i]; p < A->ptr[i + 1]; ++p)
            for (r = 0; r < b; ++r)
                for (c = 0; c < (A->col[p] == i ? r + 1 : b); ++c) {
                    int row = i * b + r, col = A->col[p] * b + c;
                    D[row * N + col] = D[col * N + row] = A->val[(p * b + r) * b + c];
                }
    return D;
}

/* Random pattern with about `fill` of the blocks; entries normal; the diagonal exceeds its row sum,
   and is negative where negative[dof] (so the inertia is known from Gershgorin's circles). */
static sparse random_matrix(int n, int b, double fill, const unsigned char *negative)
{
    sparse A;
    double *sum = munit_newa(double, (size_t)(n * b + 1));
    int i, j, r, c, used = 0;

    A.n = n;
    A.b = b;
    A.ptr = munit_newa(int, (size_t)n + 1);
    A.col = munit_newa(int, (size_t)(n * (n + 1) / 2 + 1));
    A.val = munit_newa(double, (size_t)(n * (n + 1) / 2 * b * b + 1));
    for (i = 0; i < n; ++i) {
        for (j = 0; j <= i; ++j) {
            if (j < i && munit_rand_double() > fill) continue;
            A.col[used] = j;
            for (r = 0; r < b; ++r)
                for (c = 0; c < b; ++c) {
                    double a = util_normal();
                    if (i == j && c > r) a = 1e9; /* must not be read */
                    A.val[(used * b + r) * b + c] = a;
                    if (i == j && c >= r) continue;
                    sum[i * b + r] += fabs(a);
                    sum[j * b + c] += fabs(a);
                }
            ++used;
        }
        A.ptr[i + 1] = used;
    }
    for (i = 0; i < n; ++i)
        for (r = 0; r < b; ++r) {
            int k = i * b + r;
            double d = (sum[k] + 0.1) * util_uniform(1.01, 3.0);
            A.val[((A.ptr[i + 1] - 1) * b + r) * b + r] = negative && negative[k] ? -d : d;
        }
    free(sum);
    return A;
}

/* Solves D x = y by LDL^T in long double; counts the negative pivots, adds up log|d|. */
static void dense_solve(const double *D, int n, const double *y, double *x, int *minus,
    double *logdet)
{
    long double *L = malloc(((size_t)n * (size_t)n + 1) * sizeof *L);
    long double *z = malloc(((size_t)n + 1) * sizeof *z);
    int i, j, k;

    *minus = 0;
    *logdet = 0;
    for (i = 0; i < n * n; ++i) L[i] = D[i];
    for (k = 0; k < n; ++k) {
        *minus += L[k * n + k] < 0;
        *logdet += log(fabs((double)L[k * n + k]));
        for (i = k + 1; i < n; ++i) {
            long double l = L[i * n + k] / L[k * n + k];
            for (j = k + 1; j <= i; ++j) L[i * n + j] -= l * L[j * n + k];
        }
        for (i = k + 1; i < n; ++i) L[i * n + k] /= L[k * n + k];
    }
    for (i = 0; i < n; ++i) {
        z[i] = y[i];
        for (j = 0; j < i; ++j) z[i] -= L[i * n + j] * z[j];
    }
    for (i = n - 1; i >= 0; --i) {
        z[i] /= L[i * n + i];
        for (j = i + 1; j < n; ++j) z[i] -= L[j * n + i] * z[j];
        x[i] = (double)z[i];
    }
    free(L);
    free(z);
}

/* r = y - A x in long double, |r|_2 / |y|_2 */
static double relative_residual(const gen_matrix *m, const double *x, const double *y)
{
    int n = 3 * m->n, i, p, r, c;
    long double *t = malloc((size_t)n * sizeof *t), rr = 0, yy = 0;

    for (i = 0; i < n; ++i) t[i] = y[i];
    for (i = 0; i < m->n; ++i)
        for (p = m->ptr[i]; p < m->ptr[i + 1]; ++p)
            for (r = 0; r < 3; ++r)
                for (c = 0; c < 3; ++c) {
                    double a = m->val[9 * p + 3 * r + c];
                    int row = 3 * i + r, col = 3 * m->col[p] + c;
                    t[row] -= (long double)a * x[col];
                    if (m->col[p] != i) t[col] -= (long double)a * x[row];
                }
    for (i = 0; i < n; ++i) {
        rr += t[i] * t[i];
        yy += (long double)y[i] * y[i];
    }
    free(t);
    return (double)sqrtl(rr / yy);
}

static void times(const gen_matrix *m, const double *x, double *y)
{
    int i, p, r, c;

    memset(y, 0, (size_t)m->n * 3 * sizeof *y);
    for (i = 0; i < m->n; ++i)
        for (p = m->ptr[i]; p < m->ptr[i + 1]; ++p)
            for (r = 0; r < 3; ++r)
                for (c = 0; c < 3; ++c) {
                    double a = m->val[9 * p + 3 * r + c];
                    y[3 * i + r] += a * x[3 * m->col[p] + c];
                    if (m->col[p] != i) y[3 * m->col[p] + c] += a * x[3 * i + r];
                }
}

static double *wavy(int n)
{
    double *x = munit_newa(double, (size_t)n + 1);
    int i;
    for (i = 0; i < n; ++i) x[i] = 1.0 + (i % 7) / 7.0;
    return x;
}

/* ---- correctness ---- */

static MunitResult quick_start(const MunitParameter p[], void *u)
{
    int ptr[] = {0, 1, 3, 5}, col[] = {0, 0, 1, 1, 2}, i;
    double val[] = {4, 1, 5, 2, 6}, x[] = {5, 8, 8};
    gap_ldlt s;

    (void)p;
    (void)u;
    gap_ldlt_init(&s, NULL);
    munit_assert_int(gap_ldlt_analyze(&s, 3, 1, ptr, col, 0, NULL), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_factor(&s, val), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_solve(&s, 1, x), ==, GAP_LDLT_OK);
    for (i = 0; i < 3; ++i) munit_assert_double_equal(x[i], 1.0, 14);
    gap_ldlt_free(&s);
    return MUNIT_OK;
}

/* One random matrix of every kind: solution, inertia, determinant and refined error. */
static void check_random(int b, int n, const gap_ldlt_options *opt, int mixed)
{
    int N = n * b, i, minus = 0, nrhs = munit_rand_int_range(1, 6), info;
    unsigned char *negative = munit_newa(unsigned char, (size_t)N + 1);
    double *y = munit_newa(double, (size_t)(N * nrhs + 1)), *x = munit_newa(double, (size_t)N + 1);
    double *z = munit_newa(double, (size_t)(N * nrhs + 1)), *d = munit_newa(double, (size_t)N + 1);
    double logdet = 0, sum = 0, *D, back;
    gap_ldlt_options o = *opt;
    sparse A;
    gap_ldlt s;

    for (i = 0; i < N; ++i) negative[i] = mixed && munit_rand_int_range(0, 2) == 0;
    A = random_matrix(n, b, munit_rand_double(), negative);
    D = dense_of(&A);
    for (i = 0; i < N * nrhs; ++i) z[i] = y[i] = util_normal();
    if (mixed == 1) o.negative = negative;
    if (mixed == 2) o.pivot = GAP_LDLT_PIVOT_KEEP;
    gap_ldlt_init(&s, &o);
    munit_assert_int(gap_ldlt_analyze(&s, n, b, A.ptr, A.col, 0, NULL), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_factor(&s, A.val), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_solve(&s, nrhs, z), ==, GAP_LDLT_OK);
    for (i = 0; i < nrhs; ++i) {
        dense_solve(D, N, y + i * N, x, &minus, &logdet);
        munit_assert_double(util_rel_array(x, z + i * N, (size_t)N, 0), <, 1e-12);
    }
    munit_assert_int(s.inertia[0], ==, N - minus);
    munit_assert_int(s.inertia[1], ==, minus);
    munit_assert_int(s.inertia[2], ==, 0);
    munit_assert_int(gap_ldlt_pivots(&s, d), ==, GAP_LDLT_OK);
    for (i = 0; i < N; ++i) sum += log(fabs(d[i]));
    munit_assert_double(fabs(sum - logdet), <, 1e-10 * (N + fabs(logdet)));
    info = gap_ldlt_refine(&s, A.val, y, z, 3, &back);
    munit_assert_int(info, ==, GAP_LDLT_OK);
    munit_assert_double(back, <, 1e-15);
    gap_ldlt_free(&s);
    sparse_free(&A);
    free(D), free(negative), free(x), free(y), free(z), free(d);
}

static MunitResult random_dense(const MunitParameter p[], void *u)
{
    static const int sizes[] = {1, 2, 3, 6, 4, 5, 8, 7};
    int k, count = util_count(600, 10000);

    (void)p;
    (void)u;
    for (k = 0; k < count; ++k) {
        gap_ldlt_options o;
        int b = sizes[k % 10 < 8 ? k % 4 : 4 + k / 10 % 4];
        memset(&o, 0, sizeof o);
        o.isa = munit_rand_int_range(0, 4);
        o.order = munit_rand_int_range(0, 1);
        o.no_scaling = munit_rand_int_range(0, 3) == 0;
        check_random(b, munit_rand_int_range(1, k % 50 == 0 ? 220 / b : 60 / b), &o, k % 3);
    }
    return MUNIT_OK;
}

/* Exact nnz(L) and flops by elimination of the dense pattern, in an order that we give. */
static MunitResult exact_counts(const MunitParameter p[], void *u)
{
    int k, i, j, e;

    (void)p;
    (void)u;
    for (k = 0; k < 60; ++k) {
        int n = munit_rand_int_range(1, 60), b = munit_rand_int_range(1, 3), *perm, *pos;
        sparse A = random_matrix(n, b, munit_rand_double() * 0.3, NULL);
        unsigned char *has = munit_newa(unsigned char, (size_t)(n * n));
        double nnz = 0, flops = 0;
        gap_ldlt_options o;
        gap_ldlt s;
        perm = munit_newa(int, (size_t)n);
        pos = munit_newa(int, (size_t)n);
        for (i = 0; i < n; ++i) {
            perm[i] = i;
            j = munit_rand_int_range(0, i);
            e = perm[i], perm[i] = perm[j], perm[j] = e;
        }
        for (i = 0; i < n; ++i) pos[perm[i]] = i;
        for (i = 0; i < n; ++i)
            for (j = A.ptr[i]; j < A.ptr[i + 1]; ++j)
                has[pos[i] * n + pos[A.col[j]]] = has[pos[A.col[j]] * n + pos[i]] = 1;
        for (e = 0; e < n; ++e) {
            int count = 0, c;
            for (i = e; i < n; ++i) count += has[i * n + e];
            for (c = 0; c < b; ++c) {
                nnz += b * count - c;
                flops += (double)(b * count - c) * (b * count - c);
            }
            for (i = e + 1; i < n; ++i)
                for (j = e + 1; j < n; ++j)
                    if (has[i * n + e] && has[j * n + e]) has[i * n + j] = 1;
        }
        memset(&o, 0, sizeof o);
        o.order = GAP_LDLT_ORDER_GIVEN;
        o.perm = perm;
        gap_ldlt_init(&s, &o);
        munit_assert_int(gap_ldlt_analyze(&s, n, b, A.ptr, A.col, 0, NULL), ==, GAP_LDLT_OK);
        munit_assert_double(s.stats.nnz_l, ==, nnz);
        munit_assert_double(s.stats.flops, ==, flops);
        munit_assert_double(s.stats.stored_l, >=, nnz);
        munit_assert_int(gap_ldlt_factor(&s, A.val), ==, GAP_LDLT_OK);
        gap_ldlt_free(&s);
        sparse_free(&A);
        free(has), free(perm), free(pos);
    }
    return MUNIT_OK;
}

/* The measured matrices: residual, backward error, and the fill of METIS that we are held to
   (nnz(L) of METIS on the node graph; 3D 1.05x, shells 1.10x, without coordinates 1.10, 1.15x). */
static MunitResult named(const MunitParameter p[], void *u)
{
    static const struct { const char *name; double metis; int shell, slow; } list[] = {
        {"p1_3k", 0.488e6, 0, 0}, {"shell_15k", 2.48e6, 1, 0}, {"p1_15k", 5.25e6, 0, 0},
        {"p1c_15k", 5.40e6, 0, 0}, {"p1_53k", 32.5e6, 0, 1}, {"p1c_53k", 33.7e6, 0, 1},
        {"two_56k", 30.4e6, 0, 1}, {"p2_47k", 31.5e6, 0, 1}, {"shell_50k", 10.7e6, 1, 1},
        {"shellc_50k", 13.1e6, 1, 1}, {"shell_151k", 39.3e6, 1, 1}, {"p1ch_53k", 33.7e6, 0, 1}};
    size_t k;
    int coords;

    (void)p;
    (void)u;
    for (k = 0; k < sizeof list / sizeof list[0]; ++k) {
        gen_matrix m;
        double *x, *y, back;
        if (list[k].slow && !util_slow()) continue;
        munit_assert_int(gen_named(list[k].name, &m), ==, 1);
        x = wavy(3 * m.n);
        y = munit_newa(double, (size_t)m.n * 3);
        times(&m, x, y);
        for (coords = 1; coords >= 0; --coords) {
            double bound = list[k].metis * ((list[k].shell ? 1.10 : 1.05) + (coords ? 0 : 0.05));
            gap_ldlt s;
            gap_ldlt_init(&s, NULL);
            munit_assert_int(gap_ldlt_analyze(&s, m.n, 3, m.ptr, m.col, coords ? 3 : 0,
                coords ? m.x : NULL), ==, GAP_LDLT_OK);
            if (s.stats.nnz_l > bound)
                munit_errorf("%s coords=%d: nnzL %.4g above %.4g", list[k].name, coords,
                    s.stats.nnz_l, bound);
            munit_assert_int(gap_ldlt_factor(&s, m.val), ==, GAP_LDLT_OK);
            memcpy(x, y, (size_t)m.n * 3 * sizeof *x);
            munit_assert_int(gap_ldlt_solve(&s, 1, x), ==, GAP_LDLT_OK);
            munit_assert_double(relative_residual(&m, x, y), <, 3e-15);
            gap_ldlt_refine(&s, m.val, y, x, 2, &back);
            munit_assert_double(back, <, 4e-15);
            munit_assert_int(s.inertia[0], ==, 3 * m.n);
            gap_ldlt_free(&s);
        }
        free(x), free(y);
        gen_free(&m);
    }
    return MUNIT_OK;
}

/* Contacts of R = 1e3 .. 1e14 times the elastic stiffness: no wrong pivot, backward stable. */
static MunitResult stiffness(const MunitParameter p[], void *u)
{
    double ratio;

    (void)p;
    (void)u;
    for (ratio = 1e3; ratio < 2e14; ratio *= util_slow() ? 10 : 1e3) {
        double *x, *y, back;
        gen_matrix m;
        gap_ldlt s;
        gen_p1(&m, util_slow() ? 9 : 6, 1, 1e6, ratio);
        x = wavy(3 * m.n);
        y = munit_newa(double, (size_t)m.n * 3);
        times(&m, x, y);
        memcpy(x, y, (size_t)m.n * 3 * sizeof *x);
        gap_ldlt_init(&s, NULL);
        munit_assert_int(gap_ldlt_analyze(&s, m.n, 3, m.ptr, m.col, 3, m.x), ==, GAP_LDLT_OK);
        munit_assert_int(gap_ldlt_factor(&s, m.val), ==, GAP_LDLT_OK);
        munit_assert_int(gap_ldlt_solve(&s, 1, x), ==, GAP_LDLT_OK);
        munit_assert_double(relative_residual(&m, x, y), <, 3e-15);
        gap_ldlt_refine(&s, m.val, y, x, 2, &back);
        munit_assert_double(back, <, 4e-15);
        gap_ldlt_free(&s);
        free(x), free(y);
        gen_free(&m);
    }
    return MUNIT_OK;
}

/* ---- graphs of unusual shape ---- */

/* Springs (block I + t t^T) between the pairs of a list, plus `ground` on the diagonal. */
static void springs(gen_matrix *m, int n, const int *pair, int count, double ground)
{
    gen_list l;
    int i, c;

    gen_init(&l, n);
    for (i = 0; i < n; ++i) {
        gen_add_scaled_identity(&l, i, i, ground);
        for (c = 0; c < 3; ++c) l.x[3 * i + c] = gen_hash((uint64_t)(3 * i + c));
    }
    for (i = 0; i < count; ++i) {
        double a[9], neg[9], t[3];
        for (c = 0; c < 3; ++c) t[c] = l.x[3 * pair[2 * i] + c] - l.x[3 * pair[2 * i + 1] + c];
        for (c = 0; c < 9; ++c) {
            a[c] = (c % 4 == 0) + t[c / 3] * t[c % 3];
            neg[c] = -a[c];
        }
        gen_add(&l, pair[2 * i], pair[2 * i], a);
        gen_add(&l, pair[2 * i + 1], pair[2 * i + 1], a);
        gen_add(&l, pair[2 * i], pair[2 * i + 1], neg);
    }
    gen_finish(&l, m);
}

static void solves(const gen_matrix *m, int order, int coords, int expect)
{
    double *x = wavy(3 * m->n), *y = munit_newa(double, (size_t)m->n * 3 + 1);
    gap_ldlt_options o;
    gap_ldlt s;

    memset(&o, 0, sizeof o);
    o.order = order;
    times(m, x, y);
    memcpy(x, y, (size_t)m->n * 3 * sizeof *x);
    gap_ldlt_init(&s, &o);
    munit_assert_int(gap_ldlt_analyze(&s, m->n, 3, m->ptr, m->col, coords ? 3 : 0,
        coords ? m->x : NULL), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_factor(&s, m->val), ==, expect);
    munit_assert_int(gap_ldlt_solve(&s, 1, x), ==, GAP_LDLT_OK);
    if (expect == GAP_LDLT_SHIFTED)
        munit_assert_int(gap_ldlt_refine(&s, m->val, y, x, 20, NULL), ==, GAP_LDLT_OK);
    munit_assert_double(relative_residual(m, x, y), <, expect ? 1e-10 : 3e-14);
    gap_ldlt_free(&s);
    free(x), free(y);
}

static MunitResult shapes(const MunitParameter p[], void *u)
{
    enum { N = 3000 };
    int *pair = munit_newa(int, 4 * N), i, k, order;

    (void)p;
    (void)u;
    for (order = 0; order < 4; ++order)
        for (k = 0; k < 6; ++k) {
            int count = 0, n = k == 5 ? 1 : N;
            gen_matrix m;
            for (i = 1; i < n; ++i) {
                if (k == 3 && i % 7 == 0) continue; /* 430 parts that do not touch */
                if (k == 4) continue;               /* no edge at all */
                pair[2 * count] = i;
                if (k == 0 || k == 3) pair[2 * count + 1] = i - 1; /* chain */
                if (k == 1) pair[2 * count + 1] = 0;               /* star: one dense row */
                if (k == 2) pair[2 * count + 1] = munit_rand_int_range(0, i - 1); /* tree */
                ++count;
            }
            springs(&m, n, pair, count, 0.5);
            solves(&m, order % 2, order / 2, GAP_LDLT_OK);
            gen_free(&m);
        }
    free(pair);
    return MUNIT_OK;
}

/* No mass: a free body has a singular matrix. Its last pivots are replaced, which is told, and
   refinement repairs a consistent right-hand side. */
static MunitResult no_mass(const MunitParameter p[], void *u)
{
    int pair[] = {0, 1, 1, 2, 2, 3, 3, 0, 0, 2};
    gen_matrix m;

    (void)p;
    (void)u;
    springs(&m, 4, pair, 5, 0.0);
    solves(&m, 0, 0, GAP_LDLT_SHIFTED);
    gen_free(&m);
    return MUNIT_OK;
}

/* k copies of the same contact on a cube: huge D spread, still backward stable. */
static MunitResult duplicates(const MunitParameter p[], void *u)
{
    int k, v[4] = {0, 100, 120, 130};
    double w[4] = {1, -0.2, -0.3, -0.5}, nrm[3] = {0.6, 0, 0.8};
    gen_matrix m;
    gen_list l;

    (void)p;
    (void)u;
    gen_init(&l, 343);
    gen_cube(&l, 6, 0, 0.0, 1e6);
    for (k = 0; k < 200; ++k) gen_contact(&l, v, w, nrm, 1e14);
    gen_finish(&l, &m);
    solves(&m, 0, 1, GAP_LDLT_OK);
    gen_free(&m);
    return MUNIT_OK;
}

/* ---- promises ---- */

static uint64_t fingerprint(const gen_matrix *m, int workers, int isa)
{
    pool *pl = workers ? pool_open(workers) : NULL;
    double *x = wavy(3 * m->n), *d = munit_newa(double, (size_t)m->n * 3);
    gap_ldlt_options o;
    gap_ldlt s;
    uint64_t h;

    memset(&o, 0, sizeof o);
    o.isa = isa;
    if (pl) {
        o.parallel_for = pool_for;
        o.parallel_user = pl;
        o.workers = pool_workers(pl);
    }
    gap_ldlt_init(&s, &o);
    munit_assert_int(gap_ldlt_analyze(&s, m->n, 3, m->ptr, m->col, 3, m->x), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_factor(&s, m->val), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_solve(&s, 1, x), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_pivots(&s, d), ==, GAP_LDLT_OK);
    h = util_hash(util_hash(17, x, (size_t)m->n * 3), d, (size_t)m->n * 3);
    gap_ldlt_free(&s);
    pool_close(pl);
    free(x), free(d);
    return h;
}

static MunitResult same_bits(const MunitParameter p[], void *u)
{
    static const char *names[] = {"p1_3k", "shell_15k", "p1c_15k"};
    int k, isa;

    (void)p;
    (void)u;
    for (k = 0; k < (util_slow() ? 3 : 2); ++k) {
        gen_matrix m;
        gen_named(names[k], &m);
        for (isa = util_slow() ? 1 : 4; isa <= 4; ++isa) {
            uint64_t h = fingerprint(&m, 0, isa);
            munit_assert_uint64(h, ==, fingerprint(&m, 1, isa));
            munit_assert_uint64(h, ==, fingerprint(&m, 2, isa));
            munit_assert_uint64(h, ==, fingerprint(&m, 3, isa));
            munit_assert_uint64(h, ==, fingerprint(&m, 8, isa));
        }
        gen_free(&m);
    }
    return MUNIT_OK;
}

/* A times 2^k: pivots times 2^k and solutions times 2^-k, to the bit. */
static MunitResult scales(const MunitParameter p[], void *u)
{
    static const int powers[] = {-20, -1, 1, 20};
    gen_matrix m;
    double *x, *y, *d, *e;
    size_t i, n, k;
    gap_ldlt s;

    (void)p;
    (void)u;
    gen_p1(&m, 4, 1, 1e6, 0);
    n = (size_t)m.n * 3;
    x = wavy(3 * m.n);
    y = munit_newa(double, n);
    d = munit_newa(double, n);
    e = munit_newa(double, n);
    gap_ldlt_init(&s, NULL);
    munit_assert_int(gap_ldlt_analyze(&s, m.n, 3, m.ptr, m.col, 0, NULL), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_factor(&s, m.val), ==, GAP_LDLT_OK);
    gap_ldlt_solve(&s, 1, x);
    gap_ldlt_pivots(&s, d);
    for (k = 0; k < 4; ++k) {
        double f = ldexp(1.0, powers[k]), *w = wavy(3 * m.n);
        for (i = 0; i < 9 * (size_t)m.ptr[m.n]; ++i) m.val[i] *= f;
        munit_assert_int(gap_ldlt_factor(&s, m.val), ==, GAP_LDLT_OK);
        memcpy(y, w, n * sizeof *y);
        gap_ldlt_solve(&s, 1, y);
        gap_ldlt_pivots(&s, e);
        for (i = 0; i < n; ++i) {
            munit_assert_double(y[i] * f, ==, x[i]);
            munit_assert_double(e[i], ==, d[i] * f);
        }
        for (i = 0; i < 9 * (size_t)m.ptr[m.n]; ++i) m.val[i] /= f;
        free(w);
    }
    gap_ldlt_free(&s);
    free(x), free(y), free(d), free(e);
    gen_free(&m);
    return MUNIT_OK;
}

/* The same pattern, a part of it, and a larger one. */
static MunitResult reuse(const MunitParameter p[], void *u)
{
    gen_matrix full, part;
    gap_ldlt s;
    double *x, *y;
    int i;

    (void)p;
    (void)u;
    gen_p1(&full, 6, 1, 1e6, 0);
    gen_p1(&part, 6, 0, 1e6, 0);
    x = wavy(3 * full.n);
    y = munit_newa(double, (size_t)full.n * 3);
    gap_ldlt_init(&s, NULL);
    for (i = 0; i < 3; ++i) {
        const gen_matrix *m = i == 1 ? &part : &full;
        munit_assert_int(gap_ldlt_analyze(&s, m->n, 3, m->ptr, m->col, 3, m->x), ==, 0);
        munit_assert_int(s.stats.reused, ==, i == 0 ? 0 : 2);
        munit_assert_int(gap_ldlt_analyze(&s, m->n, 3, m->ptr, m->col, 3, m->x), ==, 0);
        munit_assert_int(s.stats.reused, ==, 1);
        munit_assert_int(gap_ldlt_factor(&s, m->val), ==, GAP_LDLT_OK);
        times(m, x, y);
        munit_assert_int(gap_ldlt_solve(&s, 1, y), ==, GAP_LDLT_OK);
        munit_assert_double(util_rel_array(x, y, (size_t)m->n * 3, 0), <, 1e-8);
    }
    gap_ldlt_free(&s);
    gap_ldlt_init(&s, NULL);
    munit_assert_int(gap_ldlt_analyze(&s, part.n, 3, part.ptr, part.col, 0, NULL), ==, 0);
    munit_assert_int(gap_ldlt_analyze(&s, full.n, 3, full.ptr, full.col, 0, NULL), ==, 0);
    munit_assert_int(s.stats.reused, ==, 0);
    munit_assert_int(gap_ldlt_factor(&s, full.val), ==, GAP_LDLT_OK);
    gap_ldlt_free(&s);
    gen_free(&full);
    gen_free(&part);
    free(x), free(y);
    return MUNIT_OK;
}

/* A quasi-definite and an indefinite matrix; bad pivots are replaced, counted and listed. */
static MunitResult pivots(const MunitParameter p[], void *u)
{
    int ptr[] = {0, 1, 2, 4}, col[] = {0, 1, 0, 2};
    double val[] = {2, -3, 0.5, 4}, d[3], x[3] = {1, 1, 1};
    gap_ldlt_options o;
    gap_ldlt s;

    (void)p;
    (void)u;
    memset(&o, 0, sizeof o);
    gap_ldlt_init(&s, &o);
    munit_assert_int(gap_ldlt_analyze(&s, 3, 1, ptr, col, 0, NULL), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_factor(&s, val), ==, GAP_LDLT_SHIFTED);
    munit_assert_int(s.shifts, ==, 1);
    munit_assert_int(s.shift_index[0], ==, 1);
    munit_assert_int(s.inertia[0], ==, 2);
    munit_assert_int(s.inertia[2], ==, 1);
    gap_ldlt_pivots(&s, d);
    util_assert_rel(d[0] * d[2], 7.75, 1e-15);
    munit_assert_double(d[1], >, 0);
    munit_assert_double(d[1], <, 1e-6);
    gap_ldlt_free(&s);
    o.pivot = GAP_LDLT_PIVOT_KEEP;
    gap_ldlt_init(&s, &o);
    munit_assert_int(gap_ldlt_analyze(&s, 3, 1, ptr, col, 0, NULL), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_factor(&s, val), ==, GAP_LDLT_OK);
    munit_assert_int(s.inertia[1], ==, 1);
    munit_assert_int(gap_ldlt_solve(&s, 1, x), ==, GAP_LDLT_OK);
    util_assert_rel(x[1], -1.0 / 3.0, 1e-15);
    util_assert_rel(2 * x[0] + 0.5 * x[2], 1.0, 1e-14);
    util_assert_rel(0.5 * x[0] + 4 * x[2], 1.0, 1e-14);
    gap_ldlt_free(&s);
    return MUNIT_OK;
}

/* ---- edges ---- */

static MunitResult edges(const MunitParameter p[], void *u)
{
    int ptr[] = {0, 1, 3, 5}, col[] = {0, 0, 1, 1, 2}, none[] = {0}, perm[] = {0, 1, 1};
    double val[] = {4, 1, 5, 2, 6}, zero[] = {0, 0, 0, 0, 0}, x[3] = {1, 2, 3}, back;
    gap_ldlt_options o;
    gap_ldlt s;

    (void)p;
    (void)u;
    gap_ldlt_init(&s, NULL);
    munit_assert_int(gap_ldlt_factor(&s, val), ==, GAP_LDLT_ESTATE);
    munit_assert_int(gap_ldlt_solve(&s, 1, x), ==, GAP_LDLT_ESTATE);
    munit_assert_int(gap_ldlt_refine(&s, val, x, x, 1, &back), ==, GAP_LDLT_ESTATE);
    munit_assert_int(gap_ldlt_pivots(&s, x), ==, GAP_LDLT_ESTATE);
    munit_assert_int(gap_ldlt_analyze(&s, 0, 3, none, NULL, 0, NULL), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_factor(&s, NULL), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_solve(&s, 1, NULL), ==, GAP_LDLT_OK);
    col[3] = 3;
    munit_assert_int(gap_ldlt_analyze(&s, 3, 1, ptr, col, 0, NULL), ==, GAP_LDLT_EINDEX);
    munit_assert_int(s.bad, ==, 2);
    col[3] = -1;
    munit_assert_int(gap_ldlt_analyze(&s, 3, 1, ptr, col, 0, NULL), ==, GAP_LDLT_EINDEX);
    col[3] = 2;
    munit_assert_int(gap_ldlt_analyze(&s, 3, 1, ptr, col, 0, NULL), ==, GAP_LDLT_EINPUT);
    col[3] = 1;
    col[2] = 2;
    munit_assert_int(gap_ldlt_analyze(&s, 3, 1, ptr, col, 0, NULL), ==, GAP_LDLT_EINPUT);
    munit_assert_int(s.bad, ==, 1);
    col[2] = 1;
    munit_assert_int(gap_ldlt_analyze(&s, 3, 1, ptr, col, 0, NULL), ==, GAP_LDLT_OK);
    val[3] = NAN;
    munit_assert_int(gap_ldlt_factor(&s, val), ==, GAP_LDLT_ENONFIN);
    munit_assert_int(s.bad, ==, 2);
    munit_assert_int(gap_ldlt_solve(&s, 1, x), ==, GAP_LDLT_ESTATE);
    val[3] = HUGE_VAL;
    munit_assert_int(gap_ldlt_factor(&s, val), ==, GAP_LDLT_ENONFIN);
    munit_assert_int(gap_ldlt_factor(&s, zero), ==, GAP_LDLT_SHIFTED);
    munit_assert_int(s.shifts, ==, 3);
    val[3] = 2;
    munit_assert_int(gap_ldlt_factor(&s, val), ==, GAP_LDLT_OK);
    munit_assert_int(s.shifts, ==, 0);
    munit_assert_int(gap_ldlt_solve(&s, 0, NULL), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_solve(&s, 1, x), ==, GAP_LDLT_OK);
    gap_ldlt_free(&s);
    memset(&o, 0, sizeof o);
    o.order = GAP_LDLT_ORDER_GIVEN;
    o.perm = perm;
    gap_ldlt_init(&s, &o);
    munit_assert_int(gap_ldlt_analyze(&s, 3, 1, ptr, col, 0, NULL), ==, GAP_LDLT_EINPUT);
    perm[2] = 3;
    munit_assert_int(gap_ldlt_analyze(&s, 3, 1, ptr, col, 0, NULL), ==, GAP_LDLT_EINDEX);
    perm[2] = 2;
    munit_assert_int(gap_ldlt_analyze(&s, 3, 1, ptr, col, 0, NULL), ==, GAP_LDLT_OK);
    gap_ldlt_free(&s);
    return MUNIT_OK;
}

/* Finite values whose elimination overflows are found. */
static MunitResult overflow(const MunitParameter p[], void *u)
{
    int ptr[] = {0, 1, 3}, col[] = {0, 0, 1};
    double val[] = {1e-300, 1e300, 1e-300};
    gap_ldlt s;

    (void)p;
    (void)u;
    gap_ldlt_init(&s, NULL);
    munit_assert_int(gap_ldlt_analyze(&s, 2, 1, ptr, col, 0, NULL), ==, GAP_LDLT_OK);
    munit_assert_int(gap_ldlt_factor(&s, val), ==, GAP_LDLT_ENONFIN);
    munit_assert_int(s.bad, >=, 0);
    gap_ldlt_free(&s);
    return MUNIT_OK;
}

/* The k-th allocation fails, for every k; the object stays usable and nothing leaks. */
static MunitResult out_of_memory(const MunitParameter p[], void *u)
{
    long k;
    int mode;
    gen_matrix m;

    (void)p;
    (void)u;
    gen_p1(&m, 4, 0, 1e6, 0);
    for (mode = 0; mode < 2; ++mode) {
        pool *pl = mode ? pool_open(2) : NULL;
        for (k = 1;; ++k) {
            double *x = wavy(3 * m.n), *y = wavy(3 * m.n), back;
            util_memory mem;
            gap_ldlt_options o;
            gap_ldlt s;
            int a, f = -99, r = -99, again;
            memset(&mem, 0, sizeof mem);
            memset(&o, 0, sizeof o);
            mem.fail_at = k;
            o.realloc_fn = util_realloc;
            o.realloc_user = &mem;
            o.parallel_for = pl ? pool_for : NULL;
            o.parallel_user = pl;
            o.workers = pl ? 2 : 0;
            gap_ldlt_init(&s, &o);
            a = gap_ldlt_analyze(&s, m.n, 3, m.ptr, m.col, mode ? 3 : 0, mode ? m.x : NULL);
            if (a == 0) f = gap_ldlt_factor(&s, m.val);
            if (f == 0) gap_ldlt_solve(&s, 1, x);
            if (f == 0) r = gap_ldlt_refine(&s, m.val, y, x, 1, &back);
            again = mem.calls < k;
            if (!again)
                munit_assert_true(a == GAP_LDLT_ENOMEM || f == GAP_LDLT_ENOMEM
                    || r == GAP_LDLT_ENOMEM);
            munit_assert_int(gap_ldlt_analyze(&s, m.n, 3, m.ptr, m.col, 3, m.x), ==, 0);
            munit_assert_int(gap_ldlt_factor(&s, m.val), ==, 0);
            memcpy(x, y, (size_t)m.n * 3 * sizeof *x);
            munit_assert_int(gap_ldlt_solve(&s, 1, x), ==, 0);
            munit_assert_double(relative_residual(&m, x, y), <, 3e-15);
            munit_assert_size(s.stats.bytes, ==, mem.now);
            munit_assert_size(s.stats.peak_bytes, ==, mem.peak);
            gap_ldlt_free(&s);
            munit_assert_long(mem.live, ==, 0);
            munit_assert_false(mem.wrong);
            free(x), free(y);
            if (again) break;
        }
        munit_assert_long(k, >, 20);
        pool_close(pl);
    }
    gen_free(&m);
    return MUNIT_OK;
}

static MunitResult steady(const MunitParameter p[], void *u)
{
    gen_matrix m;
    util_memory mem;
    gap_ldlt_options o;
    gap_ldlt s;
    double *x, *y, back;
    long before = 0;
    int i;

    (void)p;
    (void)u;
    gen_p1(&m, 5, 0, 1e6, 0);
    x = wavy(3 * m.n), y = wavy(3 * m.n);
    memset(&mem, 0, sizeof mem);
    memset(&o, 0, sizeof o);
    o.realloc_fn = util_realloc;
    o.realloc_user = &mem;
    gap_ldlt_init(&s, &o);
    for (i = 0; i < 4; ++i) {
        if (i == 1) before = mem.calls;
        gap_ldlt_analyze(&s, m.n, 3, m.ptr, m.col, 3, m.x);
        gap_ldlt_factor(&s, m.val);
        gap_ldlt_solve(&s, 1, x);
        gap_ldlt_refine(&s, m.val, y, x, 1, &back);
    }
    munit_assert_long(mem.calls, ==, before);
    gap_ldlt_free(&s);
    gen_free(&m);
    free(x), free(y);
    return MUNIT_OK;
}

/* Cancelled after c fronts, for some c, with and without threads; then finished. */
static int countdown(void *user)
{
    return __atomic_sub_fetch((int *)user, 1, __ATOMIC_RELAXED) < 0;
}

static MunitResult cancel(const MunitParameter p[], void *u)
{
    int c, mode, left, status;
    gen_matrix m;

    (void)p;
    (void)u;
    gen_p1(&m, 6, 0, 1e6, 0);
    for (mode = 0; mode < 2; ++mode) {
        pool *pl = pool_open(2);
        gap_ldlt_options o;
        gap_ldlt s;
        memset(&o, 0, sizeof o);
        o.cancel = countdown;
        o.cancel_user = &left;
        o.parallel_for = mode ? pool_for : NULL;
        o.parallel_user = pl;
        o.workers = mode ? 2 : 0;
        gap_ldlt_init(&s, &o);
        munit_assert_int(gap_ldlt_analyze(&s, m.n, 3, m.ptr, m.col, 3, m.x), ==, 0);
        for (c = 0;; c += 7) {
            left = c;
            status = gap_ldlt_factor(&s, m.val);
            if (status == GAP_LDLT_OK) break;
            munit_assert_int(status, ==, GAP_LDLT_ECANCEL);
            munit_assert_int(gap_ldlt_solve(&s, 1, m.x), ==, GAP_LDLT_ESTATE);
        }
        munit_assert_int(c, >, 0);
        gap_ldlt_free(&s);
        pool_close(pl);
    }
    gen_free(&m);
    return MUNIT_OK;
}

/* The hook for BLAS: large fronts through a plain triple loop give the same solution. */
static void plain_gemm(void *user, int m, int n, int k, const double *a, int lda, const double *b,
    int ldb, double *c, int ldc)
{
    int i, j, l;

    ++*(int *)user;
    for (l = 0; l < k; ++l)
        for (j = 0; j < n; ++j)
            for (i = 0; i < m; ++i) c[i + (size_t)j * ldc] -= a[i + l * lda] * b[j + l * ldb];
}

static MunitResult gemm_hook(const MunitParameter p[], void *u)
{
    int k;

    (void)p;
    (void)u;
    for (k = 0; k < 3; ++k) {
        int calls = 0;
        gap_ldlt_options o;
        gen_matrix m;
        gap_ldlt s;
        double *x, *y;
        memset(&o, 0, sizeof o);
        o.gemm = plain_gemm;
        o.gemm_user = &calls;
        o.gemm_min = k == 0 ? 1 : (k == 1 ? 40 : 0);
        gen_p1(&m, k == 2 ? 13 : 5, 0, 1e6, 0);
        x = wavy(3 * m.n);
        y = munit_newa(double, (size_t)m.n * 3);
        times(&m, x, y);
        memcpy(x, y, (size_t)m.n * 3 * sizeof *x);
        gap_ldlt_init(&s, &o);
        munit_assert_int(gap_ldlt_analyze(&s, m.n, 3, m.ptr, m.col, 3, m.x), ==, GAP_LDLT_OK);
        munit_assert_int(gap_ldlt_factor(&s, m.val), ==, GAP_LDLT_OK);
        munit_assert_int(gap_ldlt_solve(&s, 1, x), ==, GAP_LDLT_OK);
        munit_assert_double(relative_residual(&m, x, y), <, 3e-15);
        munit_assert_int(calls, >, 0);
        gap_ldlt_free(&s);
        gen_free(&m);
        free(x), free(y);
    }
    return MUNIT_OK;
}

/* Two workers can share the work: flops over the longest chain. */
static MunitResult chain(const MunitParameter p[], void *u)
{
    static const char *names[] = {"shell_15k", "p1_53k", "shell_50k"};
    int k;

    (void)p;
    (void)u;
    for (k = 0; k < (util_slow() ? 3 : 1); ++k) {
        pool *pl = pool_open(2);
        gap_ldlt_options o;
        gen_matrix m;
        gap_ldlt s;
        memset(&o, 0, sizeof o);
        o.parallel_for = pool_for;
        o.parallel_user = pl;
        o.workers = 2;
        gen_named(names[k], &m);
        gap_ldlt_init(&s, &o);
        munit_assert_int(gap_ldlt_analyze(&s, m.n, 3, m.ptr, m.col, 3, m.x), ==, 0);
        munit_assert_double(s.stats.flops_stored / s.stats.chain, >=, 1.8);
        munit_assert_double(s.stats.chain, >=, s.stats.flops_stored / 2);
        gap_ldlt_free(&s);
        gen_free(&m);
        pool_close(pl);
    }
    return MUNIT_OK;
}

#define T(name, fn) {name, fn, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}
static MunitTest tests[] = {
    T("/quick_start", quick_start), T("/random_dense", random_dense),
    T("/exact_counts", exact_counts), T("/named", named), T("/stiffness", stiffness),
    T("/shapes", shapes), T("/no_mass", no_mass), T("/duplicates", duplicates),
    T("/same_bits", same_bits), T("/scales", scales), T("/reuse", reuse), T("/pivots", pivots),
    T("/edge/all", edges), T("/edge/overflow", overflow), T("/out_of_memory", out_of_memory),
    T("/steady", steady), T("/cancel", cancel), T("/gemm_hook", gemm_hook),
    T("/chain", chain),
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

static const MunitSuite suite = {"/ldlt", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
