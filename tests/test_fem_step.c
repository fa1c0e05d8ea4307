/* test_fem_step.c - gap_fem.h driven by gap_step.h: what the integrators promise about a free body
   Consistent mass M, momentum p = sum M v, angular momentum L = sum x cross M v,
   energy v.M v / 2 + Psi. Newton on (x - y).M (x - y) / 2 + c h^2 Psi(x) with a dense solver of
   its own. */
#define GAP_FEM_IMPLEMENTATION
#include "gap_fem.h"
#define GAP_STEP_IMPLEMENTATION
#include "gap_step.h"
#define GAP_ELASTIC_IMPLEMENTATION
#include "gap_elastic.h"
#define GAP_BASIS_IMPLEMENTATION
#include "gap_basis.h"
#include "fem_mesh.h"

typedef struct body {
    fem_mesh m;
    gap_fem f;
    int n;
    double *M, *K, *g, *x, *v, *y, *work; /* dense n*n, n*n, n each */
} body;

/* Order p, bent, two cells by one by one: 36 or 135 unknowns. */
static void body_make(body *b, int p, gap_fem_material material)
{
    int cells[3] = {2, 1, 1}, i, j, e, k;
    double size[3] = {0.2, 0.1, 0.1}, *block;
    gap_fem_options o;
    memset(b, 0, sizeof *b);
    memset(&o, 0, sizeof o);
    o.material = material;
    fem_mesh_box(&b->m, 3, p, cells, size);
    munit_assert_int(gap_fem_init(&b->f, 3, p, p, b->m.nodes, b->m.x, b->m.elements, b->m.elem,
        &o), ==, GAP_FEM_OK);
    gap_fem_uniform(&b->f, 1e4, 0.3, 1000.0);
    b->n = 3 * b->f.nodes;
    k = 3 * b->f.per_element;
    b->M = (double *)munit_calloc((size_t)(b->n * b->n), sizeof(double));
    b->K = (double *)munit_calloc((size_t)(b->n * b->n), sizeof(double));
    b->g = (double *)munit_calloc((size_t)(8 * b->n), sizeof(double));
    b->x = b->g + b->n;
    b->v = b->x + b->n;
    b->y = b->v + b->n;
    b->work = (double *)munit_calloc((size_t)(k * k), sizeof(double));
    block = b->work;
    for (e = 0; e < b->f.elements; ++e) {
        gap_fem_mass(&b->f, e, e + 1, block);
        for (i = 0; i < k; ++i) for (j = 0; j < k; ++j) {
            const int *node = b->f.node + e * b->f.per_element;
            b->M[(3 * node[i / 3] + i % 3) * b->n + 3 * node[j / 3] + j % 3] += block[i * k + j];
        }
    }
    for (i = 0; i < b->f.nodes; ++i) { /* stretched and sheared; flies, spins and quivers */
        const double *X = b->f.rest + 3 * i;
        double *x = b->x + 3 * i, *v = b->v + 3 * i;
        x[0] = 1.1 * X[0] + 0.05 * X[1];
        x[1] = 0.97 * X[1] + 0.3 * X[0] * X[0];
        x[2] = 1.02 * X[2] - 0.04 * X[0];
        v[0] = 0.3 - 2.0 * X[1] + 0.5 * X[0] * X[2];
        v[1] = -0.2 + 2.0 * X[0] - 1.0 * X[2];
        v[2] = 0.1 + 1.0 * X[1] + 0.4 * X[0];
    }
}

static void body_free(body *b)
{
    gap_fem_free(&b->f);
    fem_mesh_free(&b->m);
    free(b->M);
    free(b->K);
    free(b->g);
    free(b->work);
}

/* Gradient of the elastic energy at x into g, Hessian (if K) into K. */
static void elastic(body *b, const double *x, double *g, double *K)
{
    int k = 3 * b->f.per_element, e, i, j;
    for (i = 0; i < b->n; ++i) g[i] = 0.0;
    for (i = 0; K && i < b->n * b->n; ++i) K[i] = 0.0;
    for (e = 0; e < b->f.elements; ++e) {
        const int *node = b->f.node + e * b->f.per_element;
        munit_assert_int(gap_fem_gradient(&b->f, x, e, e + 1, b->work), ==, GAP_FEM_OK);
        for (i = 0; i < k; ++i) g[3 * node[i / 3] + i % 3] += b->work[i];
        if (!K) continue;
        gap_fem_hessian(&b->f, x, e, e + 1, 0, b->work);
        for (i = 0; i < k; ++i) for (j = 0; j < k; ++j) {
            K[(3 * node[i / 3] + i % 3) * b->n + 3 * node[j / 3] + j % 3] += b->work[i * k + j];
        }
    }
}

/* Solves A d = r by elimination; A symmetric positive definite, both are overwritten. */
static void solve(int n, double *A, double *r)
{
    int i, j, k;
    for (k = 0; k < n; ++k) {
        munit_assert_double(A[k * n + k], >, 0.0);
        for (i = k + 1; i < n; ++i) {
            double q = A[i * n + k] / A[k * n + k];
            if (q == 0.0) continue;
            for (j = k; j < n; ++j) A[i * n + j] -= q * A[k * n + j];
            r[i] -= q * r[k];
        }
    }
    for (k = n - 1; k >= 0; --k) {
        for (j = k + 1; j < n; ++j) r[k] -= A[k * n + j] * r[j];
        r[k] /= A[k * n + k];
    }
}

static void times(const body *b, const double *v, double *out)
{
    int i, j;
    for (i = 0; i < b->n; ++i) {
        for (out[i] = 0.0, j = 0; j < b->n; ++j) out[i] += b->M[i * b->n + j] * v[j];
    }
}

/* sum over nodes of a cross M v (a NULL: sum of M v). */
static void moment(const body *b, const double *a, const double *v, double out[3])
{
    double *Mv = b->g + 4 * b->n;
    int i, k;
    times(b, v, Mv);
    for (k = 0; k < 3; ++k) out[k] = 0.0;
    for (i = 0; i < b->n; i += 3) for (k = 0; k < 3; ++k) {
        int p = (k + 1) % 3, q = (k + 2) % 3;
        out[k] += a ? a[i + p] * Mv[i + q] - a[i + q] * Mv[i + p] : Mv[i + k];
    }
}

static double half_square(const body *b, const double *v)
{
    double *Mv = b->g + 4 * b->n, s = 0.0;
    int i;
    times(b, v, Mv);
    for (i = 0; i < b->n; ++i) s += 0.5 * v[i] * Mv[i];
    return s;
}

static double total(const body *b, const double *x, const double *v)
{
    double e;
    munit_assert_int(gap_fem_energy(&b->f, x, 0, b->f.elements, &e), ==, GAP_FEM_OK);
    return e + half_square(b, v);
}

/* x from the target y (b->y): Newton until steps are rounding. */
static void newton(body *b, double weight, double *x)
{
    double *r = b->g + 5 * b->n, *d = b->g + 6 * b->n, most, size;
    int it, i;
    for (it = 0; it < 30; ++it) {
        elastic(b, x, b->g, b->K);
        for (i = 0; i < b->n; ++i) d[i] = b->y[i] - x[i];
        times(b, d, r);
        for (i = 0; i < b->n; ++i) r[i] -= weight * b->g[i];
        for (i = 0; i < b->n * b->n; ++i) b->K[i] = weight * b->K[i] + b->M[i];
        solve(b->n, b->K, r);
        for (most = size = 0.0, i = 0; i < b->n; ++i) {
            x[i] += r[i];
            most = fmax(most, fabs(r[i]));
            size = fmax(size, fabs(x[i]));
        }
        if (most < 1e-14 * size) return;
    }
    munit_assert_double(most, <, 1e-12 * size);
}

static double norm3(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

typedef struct law {
    int order, linear;
    gap_step_method method;
    int steps;
} law;

static void run(law w)
{
    gap_step_options o = {GAP_STEP_EULER, 0.0, 0.0};
    double h = 0.004, e0, last, p0[3], L[3], before[3], *past, drift = 0.0;
    gap_step S;
    void *memory;
    body b;
    int k, i, c;
    body_make(&b, w.order, w.linear ? gap_elastic_linear : NULL);
    o.method = w.method;
    memory = munit_malloc(gap_step_work_size(&o, b.n));
    past = (double *)munit_malloc(2 * (size_t)b.n * sizeof(double));
    elastic(&b, b.x, b.y, NULL); /* a = -M^-1 grad Psi */
    for (i = 0; i < b.n; ++i) b.y[i] = -b.y[i];
    memcpy(b.K, b.M, sizeof(double) * (size_t)(b.n * b.n));
    solve(b.n, b.K, b.y);
    munit_assert_int(gap_step_init(&S, &o, b.n, b.x, b.v, b.y, memory), ==, 0);
    e0 = last = total(&b, b.x, b.v);
    moment(&b, NULL, b.v, p0);
    for (k = 0; k < w.steps; ++k) {
        double e, p[3], turn[3], lever = 0.0;
        memcpy(past, S.x, sizeof(double) * (size_t)b.n);
        memcpy(past + b.n, S.v, sizeof(double) * (size_t)b.n);
        moment(&b, S.x, S.v, before);
        munit_assert_int(gap_step_begin(&S, h, NULL, b.y), ==, 0);
        newton(&b, S.weight, b.x);
        munit_assert_int(gap_step_end(&S, b.x), ==, 0);
        e = total(&b, S.x, S.v);
        moment(&b, NULL, S.v, p);
        for (c = 0; c < 3; ++c) munit_assert_double(fabs(p[c] - p0[c]), <, 1e-11 * norm3(p0));
        moment(&b, S.x, S.v, L);
        for (i = 0; i < b.n; ++i) lever = fmax(lever, fabs(S.x[i]));
        if (w.method == GAP_STEP_EULER && !w.linear) {
            /* f has no torque about x_1, so L_1 - L_0 = h v_1 cross M v_0 and nothing else */
            moment(&b, S.v, past + b.n, turn);
            for (c = 0; c < 3; ++c) {
                munit_assert_double(fabs(L[c] - before[c] - h * turn[c]), <,
                    1e-10 * lever * norm3(p0));
            }
        }
        if (w.method == GAP_STEP_EULER && w.linear) {
            /* E_1 - E_0 = - |v_1 - v_0|^2_M / 2 - Psi of the step alone */
            double lost, step;
            for (i = 0; i < b.n; ++i) past[b.n + i] = S.v[i] - past[b.n + i];
            lost = half_square(&b, past + b.n);
            for (i = 0; i < b.n; ++i) past[i] = b.f.rest[i] + S.x[i] - past[i];
            munit_assert_int(gap_fem_energy(&b.f, past, 0, b.f.elements, &step), ==,
                GAP_FEM_OK);
            munit_assert_double(fabs(last - e - lost - step), <, 1e-10 * last);
        }
        if (w.method == GAP_STEP_EULER) munit_assert_double(e, <, last);
        if (w.method == GAP_STEP_NEWMARK && w.linear) util_assert_rel(e, e0, 1e-10);
        drift = fmax(drift, fabs(e / last - 1.0));
        last = e;
    }
    munit_logf(MUNIT_LOG_INFO, "P%d %s method %d: energy left %.6f, largest change %.2e", w.order,
        w.linear ? "linear" : "neo-Hookean", (int)w.method, last / e0, drift);
    free(past);
    free(memory);
    body_free(&b);
}

static MunitResult momentum(const MunitParameter params[], void *data)
{
    int p, m;
    (void)params, (void)data;
    for (p = 1; p <= 2; ++p) for (m = 0; m < 5; ++m) {
        law w = {1, 0, GAP_STEP_EULER, 12};
        w.order = p;
        w.method = (gap_step_method)m;
        run(w);
    }
    return MUNIT_OK;
}

static MunitResult energy(const MunitParameter params[], void *data)
{
    int p, m;
    (void)params, (void)data;
    for (p = 1; p <= 2; ++p) for (m = 0; m < 5; m += 4) {
        law w = {1, 1, GAP_STEP_EULER, 25};
        w.order = p;
        w.method = (gap_step_method)m;
        run(w);
    }
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/momentum", momentum, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/energy", energy, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/fem_step", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
