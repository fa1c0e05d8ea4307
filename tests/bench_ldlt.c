/* bench_ldlt.c - gap_ldlt.h on the matrices of gen_matrices.h, beside CHOLMOD where installed
   One thread, CPU seconds, interleaved runs, median of 7. The peer is supernodal CHOLMOD with METIS
   on the graph of nodes and OpenBLAS, each matrix once with its default kernels and once with its
   AVX2 kernels; the faster one counts. GAP_SLOW=1 adds the largest matrices and, with valgrind,
   the instruction counts of one factorisation.
   bench_ldlt NAME...         only these matrices
   bench_ldlt --one NAME      one matrix, one line of numbers (what the parent process reads)
   bench_ldlt --factor NAME   analyse, factor once: for valgrind and its --toggle-collect */
#define GAP_LDLT_IMPLEMENTATION
#include "gap_ldlt.h"
#include "gen_matrices.h"
#include "pool.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_CHOLMOD
#include <suitesparse/cholmod.h>
#endif

enum { ROUNDS = 7 };

typedef struct figures {
    double order, factor, solve, nnz, flops, bytes, residual;
} figures;

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
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

static void times(const gen_matrix *m, const double *x, double *y)
{
    int i, p, r, c;

    memset(y, 0, (size_t)m->n * 3 * sizeof *y);
    for (i = 0; i < m->n; ++i)
        for (p = m->ptr[i]; p < m->ptr[i + 1]; ++p)
            for (r = 0; r < 3; ++r)
                for (c = 0; c < 3; ++c) {
                    double a = m->val[9 * (size_t)p + (size_t)(3 * r + c)];
                    y[3 * i + r] += a * x[3 * m->col[p] + c];
                    if (m->col[p] != i) y[3 * m->col[p] + c] += a * x[3 * i + r];
                }
}

static double residual(const gen_matrix *m, const double *x, const double *b)
{
    double *r = (double *)malloc((size_t)m->n * 3 * sizeof *r), rr = 0, bb = 0;
    int i;

    times(m, x, r);
    for (i = 0; i < 3 * m->n; ++i) {
        rr += (r[i] - b[i]) * (r[i] - b[i]);
        bb += b[i] * b[i];
    }
    free(r);
    return sqrt(rr / bb);
}

static void ours_once(const gen_matrix *m, int coords, const double *b, double *x, double t[3],
    figures *f)
{
    size_t n = (size_t)m->n * 3;
    gap_ldlt s;

    gap_ldlt_init(&s, NULL);
    t[0] = seconds(CLOCK_PROCESS_CPUTIME_ID);
    gap_ldlt_analyze(&s, m->n, 3, m->ptr, m->col, coords ? 3 : 0, coords ? m->x : NULL);
    t[0] = seconds(CLOCK_PROCESS_CPUTIME_ID) - t[0];
    gap_ldlt_factor(&s, m->val); /* the first one pays for the pages */
    t[1] = seconds(CLOCK_PROCESS_CPUTIME_ID);
    gap_ldlt_factor(&s, m->val);
    t[1] = seconds(CLOCK_PROCESS_CPUTIME_ID) - t[1];
    memcpy(x, b, n * sizeof *x);
    t[2] = seconds(CLOCK_PROCESS_CPUTIME_ID);
    gap_ldlt_solve(&s, 1, x);
    t[2] = seconds(CLOCK_PROCESS_CPUTIME_ID) - t[2];
    f->nnz = s.stats.nnz_l;
    f->flops = s.stats.flops;
    f->bytes = (double)s.stats.peak_bytes;
    f->residual = residual(m, x, b);
    gap_ldlt_free(&s);
}

#ifdef HAVE_CHOLMOD
/* Upper triangle by columns = our lower triangle by rows, dofs spelled out. */
static void spell_out(const gen_matrix *m, cholmod_sparse *a)
{
    int *p = (int *)malloc(((size_t)m->n * 3 + 1) * sizeof *p), i, k, r, c, used = 0;
    int *row = (int *)malloc((size_t)m->ptr[m->n] * 9 * sizeof *row);
    double *x = (double *)malloc((size_t)m->ptr[m->n] * 9 * sizeof *x);

    p[0] = 0;
    for (i = 0; i < m->n; ++i)
        for (r = 0; r < 3; ++r) {
            for (k = m->ptr[i]; k < m->ptr[i + 1]; ++k)
                for (c = 0; c < (m->col[k] == i ? r + 1 : 3); ++c) {
                    row[used] = 3 * m->col[k] + c;
                    x[used++] = m->val[9 * (size_t)k + (size_t)(3 * r + c)];
                }
            p[3 * i + r + 1] = used;
        }
    memset(a, 0, sizeof *a);
    a->nrow = a->ncol = (size_t)m->n * 3;
    a->nzmax = (size_t)used;
    a->p = p, a->i = row, a->x = x;
    a->stype = 1, a->itype = CHOLMOD_INT, a->xtype = CHOLMOD_REAL, a->dtype = CHOLMOD_DOUBLE;
    a->sorted = a->packed = 1;
}

static void peer_once(const gen_matrix *m, cholmod_sparse *a, const double *b, double *x,
    double t[3], figures *f)
{
    size_t n = (size_t)m->n * 3;
    int i, *order = (int *)malloc((size_t)m->n * sizeof *order);
    int *perm = (int *)malloc(n * sizeof *perm);
    cholmod_sparse nodes;
    cholmod_common c;
    cholmod_factor *L;
    cholmod_dense rhs, *sol;

    cholmod_start(&c);
    c.supernodal = CHOLMOD_SUPERNODAL;
    c.nmethods = 1;
    c.method[0].ordering = CHOLMOD_GIVEN;
    c.postorder = 1;
    c.final_ll = 1;
    memset(&nodes, 0, sizeof nodes);
    nodes.nrow = nodes.ncol = (size_t)m->n;
    nodes.nzmax = (size_t)m->ptr[m->n];
    nodes.p = m->ptr, nodes.i = m->col;
    nodes.stype = 1, nodes.itype = CHOLMOD_INT, nodes.xtype = CHOLMOD_PATTERN;
    nodes.dtype = CHOLMOD_DOUBLE, nodes.sorted = nodes.packed = 1;
    t[0] = seconds(CLOCK_PROCESS_CPUTIME_ID);
    cholmod_metis(&nodes, NULL, 0, 1, order, &c);
    for (i = 0; i < 3 * m->n; ++i) perm[i] = 3 * order[i / 3] + i % 3;
    L = cholmod_analyze_p(a, perm, NULL, 0, &c);
    t[0] = seconds(CLOCK_PROCESS_CPUTIME_ID) - t[0];
    f->nnz = c.lnz;
    f->flops = c.fl;
    cholmod_factorize(a, L, &c);
    t[1] = seconds(CLOCK_PROCESS_CPUTIME_ID);
    cholmod_factorize(a, L, &c);
    t[1] = seconds(CLOCK_PROCESS_CPUTIME_ID) - t[1];
    memset(&rhs, 0, sizeof rhs);
    memcpy(x, b, n * sizeof *x);
    rhs.nrow = rhs.nzmax = rhs.d = n;
    rhs.ncol = 1;
    rhs.x = x;
    rhs.xtype = CHOLMOD_REAL, rhs.dtype = CHOLMOD_DOUBLE;
    t[2] = seconds(CLOCK_PROCESS_CPUTIME_ID);
    sol = cholmod_solve(CHOLMOD_A, L, &rhs, &c);
    t[2] = seconds(CLOCK_PROCESS_CPUTIME_ID) - t[2];
    memcpy(x, sol->x, n * sizeof *x);
    f->bytes = (double)c.memory_usage;
    f->residual = residual(m, x, b);
    cholmod_free_dense(&sol, &c);
    cholmod_free_factor(&L, &c);
    cholmod_finish(&c);
    free(order);
    free(perm);
}
#endif

static void print_figures(const figures *f)
{
    printf("%.9g %.9g %.9g %.9g %.9g %.9g %.3g ", f->order, f->factor, f->solve, f->nnz, f->flops,
        f->bytes, f->residual);
}

/* One line: ours with coordinates, ours without, the peer (zeros if absent). */
static int one(const char *name)
{
    double t[3][3][ROUNDS], u[3], *x, *b;
    figures f[3];
    gen_matrix m;
    int r, k, i, rounds = ROUNDS;

    if (!gen_named(name, &m)) return 2;
    memset(f, 0, sizeof f);
    x = (double *)malloc((size_t)m.n * 3 * sizeof *x);
    b = (double *)malloc((size_t)m.n * 3 * sizeof *b);
    for (i = 0; i < 3 * m.n; ++i) x[i] = 1.0 + (i % 7) / 7.0;
    times(&m, x, b);
    for (r = 0; r < rounds; ++r) {
#ifdef HAVE_CHOLMOD
        cholmod_sparse a;
        spell_out(&m, &a);
        peer_once(&m, &a, b, x, u, &f[2]);
        for (k = 0; k < 3; ++k) t[2][k][r] = u[k];
        free(a.p), free(a.i), free(a.x);
#endif
        ours_once(&m, 1, b, x, u, &f[0]);
        for (k = 0; k < 3; ++k) t[0][k][r] = u[k];
        ours_once(&m, 0, b, x, u, &f[1]);
        for (k = 0; k < 3; ++k) t[1][k][r] = u[k];
        if (u[1] > 1.0) rounds = 5;
    }
    for (i = 0; i < 3; ++i) {
        if (f[i].nnz > 0) {
            f[i].order = median(t[i][0], rounds);
            f[i].factor = median(t[i][1], rounds);
            f[i].solve = median(t[i][2], rounds);
        }
        print_figures(&f[i]);
    }
    printf("\n");
    free(x);
    free(b);
    gen_free(&m);
    return 0;
}

/* Runs self --one NAME with the given OpenBLAS kernels; 1 if three rows of figures came back. */
static int ask(const char *self, const char *name, const char *core, figures f[3])
{
    char command[600];
    FILE *in;
    int i, got = 0;

    snprintf(command, sizeof command, "OMP_THREAD_LIMIT=1 OPENBLAS_NUM_THREADS=1 %s%s %s --one %s",
        *core ? "OPENBLAS_CORETYPE=" : "", core, self, name);
    in = popen(command, "r");
    if (!in) return 0;
    for (i = 0; i < 3; ++i)
        got += fscanf(in, "%lf %lf %lf %lf %lf %lf %lf", &f[i].order, &f[i].factor, &f[i].solve,
            &f[i].nnz, &f[i].flops, &f[i].bytes, &f[i].residual);
    return pclose(in) == 0 && got == 21;
}

static void report(const char *name, const figures f[3])
{
    const figures *o = &f[0], *c = &f[2];

    printf("%-10s order %.4f factor %.4f (%.1f GF/s) solve %.5f nnzL %.3fM %.0f MB res %.1e", name,
        o->order, o->factor, 1e-9 * o->flops / o->factor, o->solve, 1e-6 * o->nnz, 1e-6 * o->bytes,
        o->residual);
    if (c->nnz > 0)
        printf(" | ratio to CHOLMOD: factor %.2f order %.2f solve %.2f bytes %.2f nnzL %.3f,"
               " without coordinates: factor %.2f order %.2f nnzL %.3f", o->factor / c->factor,
            o->order / c->order, o->solve / c->solve, o->bytes / c->bytes, o->nnz / c->nnz,
            f[1].factor / c->factor, f[1].order / c->order, f[1].nnz / c->nnz);
    printf("\n");
    fflush(stdout);
}

static int factor_only(const char *name)
{
    gen_matrix m;
    gap_ldlt s;

    if (!gen_named(name, &m)) return 2;
    gap_ldlt_init(&s, NULL);
    if (gap_ldlt_analyze(&s, m.n, 3, m.ptr, m.col, 3, m.x) < 0) return 2;
    if (gap_ldlt_factor(&s, m.val) < 0) return 2;
    gap_ldlt_free(&s);
    gen_free(&m);
    return 0;
}

/* Wall seconds of a factorisation with one and two workers. */
static void threads(const char *name)
{
    double wall[2], chain = 0, t;
    gen_matrix m;
    int w, r;

    gen_named(name, &m);
    for (w = 0; w < 2; ++w) {
        pool *p = pool_open(w + 1);
        gap_ldlt_options o;
        gap_ldlt s;
        memset(&o, 0, sizeof o);
        o.parallel_for = pool_for;
        o.parallel_user = p;
        o.workers = w + 1;
        gap_ldlt_init(&s, &o);
        gap_ldlt_analyze(&s, m.n, 3, m.ptr, m.col, 3, m.x);
        gap_ldlt_factor(&s, m.val);
        for (r = 0, wall[w] = 1e9; r < 5; ++r) {
            t = seconds(CLOCK_MONOTONIC);
            gap_ldlt_factor(&s, m.val);
            t = seconds(CLOCK_MONOTONIC) - t;
            if (t < wall[w]) wall[w] = t;
        }
        chain = s.stats.flops_stored / s.stats.chain;
        gap_ldlt_free(&s);
        pool_close(p);
    }
    printf("%-10s wall 1 worker %.4f, 2 workers %.4f (%.2fx); flops / longest chain %.2f\n", name,
        wall[0], wall[1], wall[0] / wall[1], chain);
    fflush(stdout);
    gen_free(&m);
}

static void count_instructions(const char *self)
{
    static const struct { const char *name; double bar; } list[] = {
        {"p1_3k", 70}, {"shell_15k", 350}, {"p1_15k", 1290}};
    size_t i;

    for (i = 0; i < 3; ++i) {
        char command[600], line[256];
        double refs = 0;
        FILE *in;
        snprintf(command, sizeof command, "valgrind --tool=callgrind --callgrind-out-file=/dev/null"
            " --toggle-collect=gap_ldlt_factor %s --factor %s 2>&1", self, list[i].name);
        in = popen(command, "r");
        while (in && fgets(line, sizeof line, in)) {
            char *at = strstr(line, "refs:"), digits[64];
            size_t k = 0;
            for (; at && *at && k < 63; ++at)
                if (*at >= '0' && *at <= '9') digits[k++] = *at;
            digits[k] = 0;
            if (k) refs = atof(digits);
        }
        if (in) pclose(in);
        if (refs > 0)
            printf("%-10s instructions %.1f M (bar %.0f M)\n", list[i].name, 1e-6 * refs,
                list[i].bar);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    static const char *list[] = {"p1_3k", "p1_15k", "p1c_15k", "shell_15k", "ball_15k", "p1_53k",
        "p1c_53k", "p1ch_53k", "two_56k", "p2_47k", "shell_50k", "shellc_50k", "ball_60k",
        "shell_151k", "p1_152k"};
    const char *slow = getenv("GAP_SLOW");
    int i, count = slow && *slow ? 15 : 13;
    double sum = 0, peers = 0;

    if (argc == 3 && strcmp(argv[1], "--one") == 0) return one(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--factor") == 0) return factor_only(argv[2]);
    if (argc > 1) count = argc - 1;
    for (i = 0; i < count; ++i) {
        const char *name = argc > 1 ? argv[i + 1] : list[i];
        figures f[3], g[3];
        if (!ask(argv[0], name, "", f)) {
            fprintf(stderr, "bench_ldlt: %s failed\n", name);
            return 1;
        }
        if (f[2].nnz > 0 && ask(argv[0], name, "Haswell", g) && g[2].factor < f[2].factor)
            memcpy(f, g, sizeof f);
        report(name, f);
        if (f[2].nnz > 0) {
            sum += log(f[0].factor / f[2].factor);
            peers += 1;
        }
    }
    if (peers > 0) printf("factor, geometric mean of the ratios: %.3f\n", exp(sum / peers));
    if (argc > 1) return 0;
    threads("shell_50k");
    threads("p1_53k");
    if (slow && *slow) count_instructions(argv[0]);
    return 0;
}
