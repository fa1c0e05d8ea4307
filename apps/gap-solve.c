/* gap-solve.c - solve a sparse symmetric system from a Matrix Market file by gap_ldlt.h */
#define GAP_LDLT_IMPLEMENTATION
#include "gap_ldlt.h"
#include "mtx.h"
#include "pool.h"
#include <stdio.h>
#include <time.h>

static const char help[] =
    "usage: gap-solve A.mtx [options]\n"
    "Factors the symmetric matrix A (Matrix Market, coordinate) as L D L^T, solves A x = b.\n"
    "  --rhs b.mtx    right-hand side (array, one column)\n"
    "                 without: A x*, x*_i = 1 + (i mod 7) / 7\n"
    "  --out x.mtx    write the solution\n"
    "  --order nd|amd nested dissection (default) or minimum degree\n"
    "  --block B      dofs per node, 1 to 6; without: the largest of 6, 3, 2, 1 that fits\n"
    "  --coords F     coordinates (array, one column): 3 or 2 per node, node after node\n"
    "  --threads N    worker threads, default 1\n"
    "  --repeat K     median of K factorisations and solves, default 1\n"
    "Prints one line: n, nnz (lower triangle with diagonal), nnzL (exact, with diagonal), flops,\n"
    "seconds (wall), residual |Ax-b|/|b|, peak_mb, storedL (as stored), backward (componentwise\n"
    "error), block.\n"
    "Exit: 0 solved; 1 A is not positive definite (pivots by sign on stderr); 2 bad usage or\n"
    "input; 3 out of memory.\n";

typedef struct settings {
    const char *matrix, *rhs, *out, *coords;
    int order, block, threads, repeat;
} settings;

static int fail(int code, const char *what, const char *which)
{
    fprintf(stderr, "gap-solve: %s%s%s\n", what, which ? " " : "", which ? which : "");
    return code;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, compare);
    return t[n / 2];
}

/* A whole number in [lo, hi], or lo - 1. */
static int number(const char *text, int lo, int hi)
{
    char *end;
    long v = text ? strtol(text, &end, 10) : 0;
    return text && *text && !*end && v >= lo && v <= hi ? (int)v : lo - 1;
}

static int parse(int argc, char **argv, settings *o)
{
    int i;

    memset(o, 0, sizeof *o);
    o->threads = o->repeat = 1;
    for (i = 1; i < argc; ++i) {
        const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;
        if (a[0] != '-') {
            if (o->matrix) return fail(2, "one matrix at a time, not also", a);
            o->matrix = a;
            continue;
        }
        ++i;
        if (!v) return fail(2, "unknown option or missing value:", a);
        if (!strcmp(a, "--rhs")) o->rhs = v;
        else if (!strcmp(a, "--out")) o->out = v;
        else if (!strcmp(a, "--coords")) o->coords = v;
        else if (!strcmp(a, "--block")) o->block = number(v, 1, 6);
        else if (!strcmp(a, "--threads")) o->threads = number(v, 1, 256);
        else if (!strcmp(a, "--repeat")) o->repeat = number(v, 1, 1000);
        else if (!strcmp(a, "--order")) {
            o->order = !strcmp(v, "nd") ? GAP_LDLT_ORDER_ND : GAP_LDLT_ORDER_AMD;
            if (strcmp(v, "nd") && strcmp(v, "amd")) return fail(2, "--order: nd or amd, not", v);
        } else return fail(2, "unknown option", a);
        if (!o->threads || !o->repeat || (!strcmp(a, "--block") && !o->block))
            return fail(2, a, "needs a whole number in its range");
    }
    if (!o->matrix) return fail(2, "no matrix given; see --help", NULL);
    return 0;
}

/* Are all entries of every touched b x b block of the (scalar) matrix stored? */
static int block_fits(const mtx_matrix *A, int b, int *mark)
{
    double full = 0;
    int i, r, p;

    if (A->n % b) return 0;
    for (i = 0; i < A->n / b; ++i) mark[i] = -1;
    for (i = 0; i < A->n / b; ++i)
        for (r = i * b; r < i * b + b; ++r)
            for (p = A->ptr[r]; p < A->ptr[r + 1]; ++p)
                if (mark[A->col[p] / b] != i) {
                    mark[A->col[p] / b] = i;
                    full += A->col[p] / b == i ? b * (b + 1) / 2 : b * b;
                }
    return full == A->ptr[A->n];
}

/* Reads the matrix in blocks; nnz: entries of the lower triangle. */
static int read_matrix(const settings *o, mtx_matrix *A, double *nnz)
{
    char message[400];
    int b, *mark, status = mtx_read(o->matrix, 1, A, message, sizeof message);

    if (status < 0) return fail(status == MTX_ENOMEM ? 3 : 2, message, NULL);
    *nnz = A->ptr[A->n];
    mark = (int *)malloc(((size_t)A->n + 1) * sizeof *mark);
    if (!mark) return fail(3, "out of memory", NULL);
    for (b = o->block ? o->block : 6; !o->block && b > 1; b = b == 6 ? 3 : b - 1)
        if (block_fits(A, b, mark)) break;
    free(mark);
    if (A->n % b) return fail(2, o->matrix, "has a size that --block does not divide");
    if (b == 1) return 0;
    mtx_free(A);
    status = mtx_read(o->matrix, b, A, message, sizeof message);
    return status < 0 ? fail(status == MTX_ENOMEM ? 3 : 2, message, NULL) : 0;
}

/* y = A x */
static void times(const mtx_matrix *A, const double *x, double *y)
{
    int i, p, r, c, b = A->b;

    memset(y, 0, (size_t)A->n * (size_t)b * sizeof *y);
    for (i = 0; i < A->n; ++i)
        for (p = A->ptr[i]; p < A->ptr[i + 1]; ++p)
            for (r = 0; r < b; ++r)
                for (c = 0; c < b; ++c) {
                    double a = A->val[((size_t)p * (size_t)b + (size_t)r) * (size_t)b + (size_t)c];
                    y[i * b + r] += a * x[A->col[p] * b + c];
                    if (A->col[p] != i) y[A->col[p] * b + c] += a * x[i * b + r];
                }
}

/* The right-hand side, and coordinates if given (dim > 0). */
static int read_vectors(const settings *o, const mtx_matrix *A, double *rhs, double *x,
    double *coords, int *dim)
{
    char message[400], second[400];
    int i, n = A->n * A->b;

    for (i = 0; i < n; ++i) x[i] = 1.0 + (i % 7) / 7.0;
    times(A, x, rhs);
    if (o->rhs && mtx_read_vector(o->rhs, n, rhs, message, sizeof message) < 0)
        return fail(2, message, NULL);
    *dim = 0;
    if (!o->coords) return 0;
    *dim = 3;
    if (mtx_read_vector(o->coords, 3 * A->n, coords, message, sizeof message) == 0) return 0;
    *dim = 2;
    if (mtx_read_vector(o->coords, 2 * A->n, coords, second, sizeof second) == 0) return 0;
    return fail(2, message, NULL);
}

/* Seconds of the analysis, split: ordering, and the rest (repeated with the order given). */
static int analyse(gap_ldlt *s, const gap_ldlt_options *opt, const mtx_matrix *A, int dim,
    const double *coords, double t[2])
{
    gap_ldlt_options given = *opt;
    gap_ldlt again;
    int status;

    gap_ldlt_init(s, opt);
    t[0] = now();
    status = gap_ldlt_analyze(s, A->n, A->b, A->ptr, A->col, dim, dim ? coords : NULL);
    t[0] = now() - t[0];
    if (status < 0) return status;
    given.order = GAP_LDLT_ORDER_GIVEN;
    given.perm = s->perm;
    gap_ldlt_init(&again, &given);
    t[1] = now();
    status = gap_ldlt_analyze(&again, A->n, A->b, A->ptr, A->col, 0, NULL);
    t[1] = now() - t[1];
    gap_ldlt_free(&again);
    if (t[1] > t[0]) t[1] = t[0];
    t[0] -= t[1];
    return status;
}

static double norm(const double *x, int n)
{
    double sum = 0;
    int i;
    for (i = 0; i < n; ++i) sum += x[i] * x[i];
    return sqrt(sum);
}

/* Factors and solves o->repeat times; *status of the factorisation, times in t. */
static void factor_and_solve(gap_ldlt *s, const settings *o, const mtx_matrix *A, const double *rhs,
    double *x, double *t, int *status)
{
    double *solve = t + o->repeat;
    int k;

    for (k = 0; k < o->repeat; ++k) {
        t[k] = now();
        *status = gap_ldlt_factor(s, A->val);
        t[k] = now() - t[k];
        if (*status < 0) return;
        memcpy(x, rhs, (size_t)A->n * (size_t)A->b * sizeof *x);
        solve[k] = now();
        gap_ldlt_solve(s, 1, x);
        solve[k] = now() - solve[k];
    }
}

static int report_error(const settings *o, const gap_ldlt *s, int status)
{
    if (status == GAP_LDLT_ENOMEM) return fail(3, "out of memory", NULL);
    fprintf(stderr, "gap-solve: %s: %s (rows %d to %d)\n", o->matrix,
        status == GAP_LDLT_ESIZE ? "too large" : "elimination overflows", s->bad * s->b + 1,
        s->bad * s->b + s->b);
    return 2;
}

/* Everything after reading. work: 3 n b doubles, then 2 repeat times. */
static int run(const settings *o, gap_ldlt_options *opt, const mtx_matrix *A, double nnz,
    int dim, const double *coords, double *rhs, double *x, double *work)
{
    int n = A->n * A->b, status, i, bad;
    double t[2], back, *r = work, *clock = work + n;
    char message[400];
    gap_ldlt s;

    status = analyse(&s, opt, A, dim, coords, t);
    if (status >= 0) factor_and_solve(&s, o, A, rhs, x, clock, &status);
    bad = status == GAP_LDLT_SHIFTED;
    if (bad) { /* again with the signs as they are, for the true count */
        s.opt.pivot = GAP_LDLT_PIVOT_KEEP;
        factor_and_solve(&s, o, A, rhs, x, clock, &status);
    }
    if (status < 0) {
        i = report_error(o, &s, status);
        gap_ldlt_free(&s);
        return i;
    }
    times(A, x, r);
    for (i = 0; i < n; ++i) r[i] -= rhs[i];
    gap_ldlt_refine(&s, A->val, rhs, x, 0, &back);
    printf("n=%d nnz=%.0f nnzL=%.0f flops=%.6g order_s=%.6f analyze_s=%.6f factor_s=%.6f "
        "solve_s=%.6f residual=%.3g peak_mb=%.1f storedL=%.0f backward=%.3g block=%d\n", n, nnz,
        s.stats.nnz_l, s.stats.flops, t[0], t[1], median(clock, o->repeat),
        median(clock + o->repeat, o->repeat), norm(r, n) / (norm(rhs, n) + 1e-300),
        1e-6 * (double)s.stats.peak_bytes, s.stats.stored_l, back, A->b);
    if (bad)
        fprintf(stderr, "gap-solve: %s: not positive definite: %d pivots positive, %d negative, "
            "%d zero\n", o->matrix, s.inertia[0], s.inertia[1], s.inertia[2]);
    gap_ldlt_free(&s);
    if (o->out && mtx_write_vector(o->out, n, x, message, sizeof message) < 0)
        return fail(3, message, NULL);
    return bad ? 1 : 0;
}

int main(int argc, char **argv)
{
    gap_ldlt_options opt;
    settings o;
    mtx_matrix A;
    double nnz, *memory;
    int code, dim, n;
    pool *p = NULL;

    if (argc > 1 && !strcmp(argv[1], "--help")) return fputs(help, stdout) < 0;
    if (argc > 1 && !strcmp(argv[1], "--version")) return printf("gap-solve %d.%d.%d\n",
        GAP_LDLT_VERSION / 10000, GAP_LDLT_VERSION / 100 % 100, GAP_LDLT_VERSION % 100) < 0;
    code = parse(argc, argv, &o);
    if (!code) code = read_matrix(&o, &A, &nnz);
    if (code) return code;
    n = A.n * A.b;
    memory = (double *)malloc((3 * (size_t)n + 3 * (size_t)A.n + 2 * (size_t)o.repeat + 8)
        * sizeof *memory);
    if (o.threads > 1) p = pool_open(o.threads);
    if (!memory || (o.threads > 1 && !p)) return fail(3, "out of memory", NULL);
    memset(&opt, 0, sizeof opt);
    opt.order = o.order;
    if (p) {
        opt.parallel_for = pool_for;
        opt.parallel_user = p;
        opt.workers = pool_workers(p);
    }
    code = read_vectors(&o, &A, memory, memory + n, memory + 2 * n, &dim);
    if (!code)
        code = run(&o, &opt, &A, nnz, dim, memory + 2 * n, memory, memory + n,
            memory + 2 * n + 3 * A.n);
    pool_close(p);
    mtx_free(&A);
    free(memory);
    return code;
}
