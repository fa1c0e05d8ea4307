/* Whole problems on fem/gap_fem.h: manufactured solutions with tabulated errors, published values,
   beams and bars. The tables were computed by an independent program (their digits are compared to
   the last one printed); loads, norms and exact solutions are evaluated here, not by the header. */
#define GAP_IMPLEMENTATION
#include "gap_basis.h"
#include "gap_elastic.h"
#include "gap_fem.h"
#include "gap_ldlt.h"
#include "gap_sparse.h"
#include "fem_mesh.h"

/* ---- exact solutions: sums of monomials / scale, or sines ---- */
typedef struct term { double c; int component, e[3]; } term;
typedef struct exact { int dim, terms; const term *term; double scale; int sine; } exact;

static const term quartic2[] = {{1, 0, {0, 3, 0}}, {1, 0, {2, 0, 0}}, {1, 0, {1, 1, 0}},
    {3, 1, {4, 0, 0}}, {1, 1, {1, 2, 0}}, {1, 1, {1, 0, 0}}};
static const term quartic3[] = {{1, 0, {1, 1, 0}}, {1, 0, {2, 0, 0}}, {1, 0, {0, 3, 0}},
    {6, 0, {0, 0, 1}}, {1, 1, {1, 0, 1}}, {-1, 1, {0, 0, 3}}, {1, 1, {1, 2, 0}}, {3, 1, {4, 0, 0}},
    {1, 2, {1, 1, 1}}, {1, 2, {0, 2, 2}}, {-2, 2, {1, 0, 0}}};
static const exact spec2 = {2, 6, quartic2, 50, 0}, spec3 = {3, 11, quartic3, 80, 0};
static const exact sine2 = {2, 0, NULL, 25, 1}, sine3 = {3, 0, NULL, 40, 1};

static double power(double x, int e, int derivative)
{
    double f = 1;
    for (; derivative > 0; --derivative) f *= e--;
    return e < 0 ? 0 : f * pow(x, e);
}

/* u (dim), G (dim*dim: du_i/dx_j), S (dim^3: d2u_i/dx_j dx_k). */
static void exact_at(const exact *s, const double *x, double *u, double *G, double *S)
{
    int d = s->dim, i, j, k, l, t;

    for (i = 0; i < d; ++i) u[i] = 0;
    for (i = 0; i < d * d; ++i) G[i] = 0;
    for (i = 0; i < d * d * d; ++i) S[i] = 0;
    for (i = 0; s->sine && i < d; ++i) {
        double w[3] = {1.3, -2.1, 1.7}, a = 0.4 + i;
        for (j = 0; j < d; ++j) {
            w[j] *= 1 + 0.2 * i * j;
            a += w[j] * x[j];
        }
        u[i] = sin(a) / s->scale;
        for (j = 0; j < d; ++j) {
            G[i * d + j] = w[j] * cos(a) / s->scale;
            for (k = 0; k < d; ++k) S[(i * d + j) * d + k] = -w[j] * w[k] * sin(a) / s->scale;
        }
    }
    for (t = 0; t < s->terms; ++t) {
        const term *m = s->term + t;
        i = m->component;
        for (j = -1; j < d; ++j)
            for (k = -1; k <= j; ++k) {
                double v = m->c / s->scale;
                for (l = 0; l < d; ++l) v *= power(x[l], m->e[l], (l == j) + (l == k));
                if (j < 0) u[i] += v;
                else if (k < 0) G[i * d + j] += v;
                else {
                    S[(i * d + j) * d + k] += v;
                    if (j != k) S[(i * d + k) * d + j] += v;
                }
            }
    }
}

/* ---- a problem: mesh, matrix, solver ---- */
typedef struct problem {
    fem_mesh m;
    gap_fem f;
    gap_sparse A;
    gap_ldlt S;
    double *x, *r, *block, *load;
    unsigned char *fixed;
    int n, iterations;
} problem;

static void *doubles(size_t n)
{
    return memset(munit_malloc(sizeof(double) * (n + 1)), 0, sizeof(double) * (n + 1));
}

/* The mesh must be in p->m; takes it over. */
static void problem_init(problem *p, int order, const gap_fem_options *o, double E, double nu)
{
    int k;

    munit_assert_int(gap_fem_init(&p->f, p->m.dim, order, p->m.order, p->m.nodes, p->m.x,
        p->m.elements, p->m.elem, o), ==, GAP_FEM_OK);
    gap_fem_uniform(&p->f, E, nu, 1);
    p->n = p->f.nodes * p->f.dim;
    k = p->f.per_element * p->f.dim;
    p->x = (double *)doubles((size_t)p->n);
    p->r = (double *)doubles((size_t)p->n);
    p->load = (double *)doubles((size_t)p->n);
    p->block = (double *)doubles((size_t)(k * k) * 64);
    p->fixed = (unsigned char *)doubles((size_t)p->f.nodes);
    memcpy(p->x, p->f.rest, sizeof(double) * (size_t)p->n);
    munit_assert_int(gap_sparse_init(&p->A, p->f.nodes, p->f.dim, NULL), >=, 0);
    munit_assert_int(gap_sparse_link(&p->A, p->f.elements, p->f.per_element, p->f.node), >=, 0);
    munit_assert_int(gap_sparse_build(&p->A), >=, 0);
    gap_ldlt_init(&p->S, NULL);
    munit_assert_int(gap_ldlt_analyze(&p->S, p->A.n, p->A.b, p->A.ptr, p->A.col, 0, NULL), >=, 0);
}

static void problem_free(problem *p)
{
    free(p->x); free(p->r); free(p->load); free(p->block); free(p->fixed);
    gap_fem_free(&p->f);
    gap_sparse_free(&p->A);
    gap_ldlt_free(&p->S);
    fem_mesh_free(&p->m);
}

/* g = gradient of the elastic energy, n values. */
static void internal(problem *p, double *g)
{
    int e, to, k = p->f.per_element;

    memset(g, 0, sizeof(double) * (size_t)p->n);
    for (e = 0; e < p->f.elements; e = to) {
        to = e + 64 < p->f.elements ? e + 64 : p->f.elements;
        munit_assert_int(gap_fem_gradient(&p->f, p->x, e, to, p->block), ==, 0);
        gap_sparse_add_vector(&p->A, to - e, k, p->f.node + e * k, 1, p->block, g);
    }
}

static void assemble(problem *p, gap_sparse *A, int mass)
{
    int e, to, k = p->f.per_element;

    for (e = 0; e < p->f.elements; e = to) {
        to = e + 64 < p->f.elements ? e + 64 : p->f.elements;
        if (mass) gap_fem_mass(&p->f, e, to, p->block);
        else gap_fem_hessian(&p->f, p->x, e, to, 0, p->block);
        munit_assert_int(gap_sparse_add(A, to - e, k, p->f.node + e * k, 1, p->block), >=, 0);
    }
}

/* Newton on internal(x) = load with the fixed components as they are in x. */
static void solve(problem *p)
{
    double size, scale = 0, before = HUGE_VAL;
    int it, i;

    for (i = 0; i < p->n; ++i) scale = fmax(scale, fabs(p->x[i]));
    for (it = 0; it < 30; ++it) {
        gap_sparse_zero(&p->A);
        assemble(p, &p->A, 0);
        internal(p, p->r);
        for (i = 0; i < p->n; ++i) p->r[i] = p->load[i] - p->r[i];
        gap_sparse_fix(&p->A, p->fixed, p->r);
        munit_assert_int(gap_ldlt_factor(&p->S, p->A.val), ==, GAP_LDLT_OK);
        munit_assert_int(gap_ldlt_solve(&p->S, 1, p->r), ==, GAP_LDLT_OK);
        for (size = 0, i = 0; i < p->n; ++i) {
            p->x[i] += p->r[i];
            size = fmax(size, fabs(p->r[i]));
        }
        if (size < 1e-14 * scale || (size < 1e-11 * scale && size > before / 4)) break;
        before = size;
    }
    munit_assert_int(it, <, 30);
    p->iterations = it + 1;
}

/* Rest position, det and physical gradients of the basis at xi in element e, by gap_basis.h. */
static double local(const problem *p, int e, const double *xi, double *X, double *phi, double *grad)
{
    double psi[35], dpsi[105], dphi[105], J[9] = {0}, R[9], det;
    int d = p->f.dim, kq = p->m.per_element, a, i, j, l;

    gap_basis_eval(d, p->m.order, 1, xi, psi, dpsi);
    gap_basis_eval(d, p->f.order, 1, xi, phi, dphi);
    for (i = 0; i < d; ++i) X[i] = 0;
    for (a = 0; a < kq; ++a)
        for (i = 0; i < d; ++i) {
            double v = p->m.x[p->m.elem[e * kq + a] * d + i];
            X[i] += psi[a] * v;
            for (j = 0; j < d; ++j) J[i * d + j] += v * dpsi[a * d + j];
        }
    if (d == 2) {
        det = J[0] * J[3] - J[1] * J[2];
        R[0] = J[3] / det; R[1] = -J[1] / det; R[2] = -J[2] / det; R[3] = J[0] / det;
    } else {
        det = J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6])
            + J[2] * (J[3] * J[7] - J[4] * J[6]);
        for (i = 0; i < 3; ++i)
            for (j = 0; j < 3; ++j)
                R[3 * j + i] = (J[3 * ((i + 1) % 3) + (j + 1) % 3] * J[3 * ((i + 2) % 3)
                    + (j + 2) % 3] - J[3 * ((i + 1) % 3) + (j + 2) % 3] * J[3 * ((i + 2) % 3)
                    + (j + 1) % 3]) / det;
    }
    for (a = 0; a < p->f.per_element; ++a)
        for (j = 0; j < d; ++j)
            for (grad[a * d + j] = 0, l = 0; l < d; ++l)
                grad[a * d + j] += dphi[a * d + l] * R[l * d + j];
    return det;
}

/* Load of the manufactured solution, b_i = -dP_ij/dF_kl d2u_k/dx_l dx_j, and boundary values. */
static void manufacture(problem *p, const exact *s, gap_elastic_material fn, int nq,
    const double *xi, const double *w)
{
    int d = p->f.dim, k = p->f.per_element, e, q, a, i, j, l, m;
    double X[3], phi[35], grad[105], u[3], G[9], S[27], C[81], b[3], det;

    memset(p->load, 0, sizeof(double) * (size_t)p->n);
    for (e = 0; e < p->f.elements; ++e)
        for (q = 0; q < nq; ++q) {
            det = local(p, e, xi + q * d, X, phi, grad);
            exact_at(s, X, u, G, S);
            for (i = 0; i < d; ++i) G[i * d + i] += 1;
            fn(NULL, d, d, 1, G, p->f.par, 0, NULL, NULL, C);
            for (i = 0; i < d; ++i)
                for (b[i] = 0, j = 0; j < d; ++j)
                    for (m = 0; m < d; ++m)
                        for (l = 0; l < d; ++l)
                            b[i] -= C[(i * d + j) * d * d + m * d + l] * S[(m * d + l) * d + j];
            for (a = 0; a < k; ++a)
                for (i = 0; i < d; ++i)
                    p->load[p->f.node[e * k + a] * d + i] += w[q] * det * phi[a] * b[i];
        }
    for (i = 0; i < p->f.facets * p->f.per_facet; ++i)
        p->fixed[p->f.facet_node[i]] = (unsigned char)((1 << d) - 1);
    for (i = 0; i < p->f.nodes; ++i) { /* inside: only a start, so that nothing is inverted */
        exact_at(s, p->f.rest + i * d, u, G, S);
        for (j = 0; j < d; ++j) p->x[i * d + j] = p->f.rest[i * d + j] + u[j];
    }
}

/* L2 norm and H1 semi-norm of the error (s) or of the displacement itself (s NULL). */
static void norms(const problem *p, const exact *s, int nq, const double *xi, const double *w,
    double *l2, double *h1)
{
    int d = p->f.dim, k = p->f.per_element, e, q, a, i, j;
    double X[3], phi[35], grad[105], u[3], G[9], S[27], det;

    *l2 = *h1 = 0;
    for (e = 0; e < p->f.elements; ++e)
        for (q = 0; q < nq; ++q) {
            det = w[q] * local(p, e, xi + q * d, X, phi, grad);
            for (i = 0; i < 3; ++i) u[i] = 0;
            for (i = 0; i < 9; ++i) G[i] = 0;
            if (s) exact_at(s, X, u, G, S);
            for (a = 0; a < k; ++a)
                for (i = 0; i < d; ++i) {
                    int v = p->f.node[e * k + a] * d + i;
                    double h = p->x[v] - p->f.rest[v];
                    u[i] -= phi[a] * h;
                    for (j = 0; j < d; ++j) G[i * d + j] -= grad[a * d + j] * h;
                }
            for (i = 0; i < d; ++i) *l2 += det * u[i] * u[i];
            for (i = 0; i < d * d; ++i) *h1 += det * G[i] * G[i];
        }
    *l2 = sqrt(*l2);
    *h1 = sqrt(*h1);
}

/* Solve one manufactured problem; q: geometry order (1: straight, else the bent mesh). */
static void run(const exact *s, int order, int q, int cells, int linear, double *l2, double *h1)
{
    static double xi[3 * 1000], w[1000];
    gap_fem_options o;
    problem p;
    int d = s->dim, nq;

    memset(&o, 0, sizeof o);
    if (linear) o.material = gap_elastic_linear;
    fem_mesh_cube(&p.m, d, q, cells);
    if (q > 1) fem_mesh_bend(&p.m, 0.07);
    o.degree = linear && q == 1 ? 0 : 2 * order + 4; /* not the polynomial's own: converged */
    problem_init(&p, order, &o, 1, 0.3);
    nq = gap_basis_quadrature(d, order + 6, 1000, xi, w);
    manufacture(&p, s, linear ? gap_elastic_linear : gap_elastic_neo_hookean, nq, xi, w);
    solve(&p);
    nq = gap_basis_quadrature(d, 2 * order + 6, 1000, xi, w);
    norms(&p, s, nq, xi, w, l2, h1);
    problem_free(&p);
}

/* a equals b to the digits that the table prints (7). */
static void same_digits(const char *what, double a, double b)
{
    if (!(fabs(a - b) <= 5.1e-7 * fabs(b))) munit_errorf("%s: %.7e, table %.7e", what, a, b);
}

static MunitResult table_2d(const MunitParameter params[], void *data)
{
    static const double lin[3][2][5] = {
        {{8.055487e-3, 2.117219e-3, 5.358095e-4, 1.343596e-4, 3.361536e-5},
            {4.881188e-2, 2.551963e-2, 1.290052e-2, 6.467891e-3, 3.236151e-3}},
        {{6.005836e-4, 7.667495e-5, 9.637739e-6, 1.206464e-6, 0},
            {7.808470e-3, 1.993152e-3, 5.008666e-4, 1.253789e-4, 0}},
        {{2.984546e-5, 1.910338e-6, 1.202872e-7, 0, 0},
            {5.572352e-4, 6.933210e-5, 8.647387e-6, 0, 0}}};
    static const double neo[3][5] = {{8.051632e-3, 2.115781e-3, 5.353986e-4, 1.342531e-4,
        3.358853e-5}, {5.999905e-4, 7.664360e-5, 9.636548e-6, 1.206423e-6, 0},
        {2.982552e-5, 1.908615e-6, 1.201680e-7, 0, 0}};
    double l2, h1;
    int p, k;

    (void)params; (void)data;
    for (p = 1; p <= 3; ++p)
        for (k = 0; k < 5 && lin[p - 1][0][k] > 0; ++k) {
            if (k > 2 && !util_slow()) continue;
            run(&spec2, p, 1, 2 << k, 1, &l2, &h1);
            same_digits("linear L2", l2, lin[p - 1][0][k]);
            same_digits("linear H1", h1, lin[p - 1][1][k]);
            run(&spec2, p, 1, 2 << k, 0, &l2, &h1);
            same_digits("neo-Hookean L2", l2, neo[p - 1][k]);
        }
    run(&spec2, 4, 1, 2, 1, &l2, &h1);
    munit_assert_double(l2, <, 1e-12);
    munit_assert_double(h1, <, 1e-12);
    run(&spec2, 4, 1, 4, 1, &l2, &h1);
    munit_assert_double(l2, <, 1e-12);
    return MUNIT_OK;
}

static MunitResult table_3d(const MunitParameter params[], void *data)
{
    static const double lin[3][2][4] = {
        {{1.551576e-2, 4.915944e-3, 1.297908e-3, 3.290104e-4},
            {5.727354e-2, 3.366083e-2, 1.749955e-2, 8.834424e-3}},
        {{2.821131e-3, 3.865101e-4, 4.924831e-5, 0}, {1.873365e-2, 5.090897e-3, 1.297788e-3, 0}},
        {{2.780407e-4, 1.859361e-5, 0, 0}, {2.834392e-3, 3.464222e-4, 0, 0}}};
    static const double neo[3] = {2.820648e-3, 3.863413e-4, 4.923847e-5};
    double l2, h1;
    int p, k;

    (void)params; (void)data;
    for (p = 1; p <= 3; ++p)
        for (k = 0; k < 4 && lin[p - 1][0][k] > 0; ++k) {
            if (k > 3 - p && !util_slow()) continue;
            run(&spec3, p, 1, 1 << k, 1, &l2, &h1);
            same_digits("linear L2", l2, lin[p - 1][0][k]);
            same_digits("linear H1", h1, lin[p - 1][1][k]);
            if (p != 2) continue;
            run(&spec3, p, 1, 1 << k, 0, &l2, &h1);
            same_digits("neo-Hookean L2", l2, neo[k]);
        }
    run(&spec3, 4, 1, 1, 1, &l2, &h1);
    munit_assert_double(l2, <, 1e-11);
    if (util_slow()) {
        run(&spec3, 4, 1, 2, 1, &l2, &h1);
        munit_assert_double(l2, <, 1e-11);
    }
    return MUNIT_OK;
}

/* Another solution (sines), straight and curved: rates p + 1 in L2 and p in H1. */
static MunitResult rates(const MunitParameter params[], void *data)
{
    int d, p, q, linear, n;
    double a[2], b[2], r0, r1;

    (void)params; (void)data;
    for (d = 2; d <= 3; ++d)
        for (p = 1; p <= 4; ++p)
            for (q = 1; q <= p; q += p > 1 ? p - 1 : 1)
                for (linear = 0; linear < 2; ++linear) {
                    if (!util_slow() && (d == 3 ? p > 2 || (p == 2 && !linear) : p == 4 && !linear))
                        continue;
                    n = d == 2 ? (p < 3 ? 8 : 4) : p == 1 ? 4 : 2;
                    run(d == 2 ? &sine2 : &sine3, p, q, n, linear, a, b);
                    run(d == 2 ? &sine2 : &sine3, p, q, 2 * n, linear, a + 1, b + 1);
                    r0 = log(a[0] / a[1]) / log(2);
                    r1 = log(b[0] / b[1]) / log(2);
                    munit_logf(MUNIT_LOG_INFO, "%dD P%d q%d %s: L2 %.3e %.2f  H1 %.3e %.2f", d, p,
                        q, linear ? "linear" : "neo-Hookean", a[1], r0, b[1], r1);
                    if (r0 < p + 1 - 0.2 || r1 < p - 0.2)
                        munit_errorf("%dD P%d q%d rates %.2f %.2f", d, p, q, r0, r1);
                }
    return MUNIT_OK;
}

/* Published number of a peer: 6 tets, one refinement, 12 digits. */
static MunitResult peer_cube(const MunitParameter params[], void *data)
{
    static const double V[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}, {0, 1, 0}, {1, 1, 0},
        {1, 1, 1}, {0, 1, 1}};
    static const int T[6][4] = {{1, 5, 7, 6}, {4, 7, 3, 1}, {1, 5, 8, 7}, {4, 7, 1, 8},
        {3, 1, 7, 2}, {7, 1, 6, 2}};
    /* children by pairs of parent corners (i, i: a corner), diagonal 01-23 and 02-13 */
    static const int child[2][8][4][2] = {
        {{{0, 0}, {0, 1}, {0, 2}, {0, 3}}, {{0, 1}, {1, 1}, {1, 2}, {1, 3}},
            {{0, 2}, {1, 2}, {2, 2}, {2, 3}}, {{0, 3}, {1, 3}, {2, 3}, {3, 3}},
            {{0, 1}, {2, 3}, {0, 2}, {0, 3}}, {{0, 1}, {2, 3}, {0, 3}, {1, 3}},
            {{0, 1}, {2, 3}, {1, 3}, {1, 2}}, {{0, 1}, {2, 3}, {1, 2}, {0, 2}}},
        {{{0, 0}, {0, 1}, {0, 2}, {0, 3}}, {{0, 1}, {1, 1}, {1, 2}, {1, 3}},
            {{0, 2}, {1, 2}, {2, 2}, {2, 3}}, {{0, 3}, {1, 3}, {2, 3}, {3, 3}},
            {{0, 2}, {1, 3}, {0, 1}, {0, 3}}, {{0, 2}, {1, 3}, {0, 3}, {2, 3}},
            {{0, 2}, {1, 3}, {2, 3}, {1, 2}}, {{0, 2}, {1, 3}, {1, 2}, {0, 1}}}};
    gap_fem_options o;
    problem p;
    double xi[12], w[4], l2, h1;
    int t, c, j, k, n = 0, i;

    (void)params; (void)data;
    memset(&o, 0, sizeof o);
    o.material = gap_elastic_linear;
    memset(&p.m, 0, sizeof p.m);
    p.m.dim = 3;
    p.m.order = 1;
    p.m.per_element = 4;
    p.m.elements = 48;
    p.m.x = (double *)doubles(3 * 200);
    p.m.elem = (int *)munit_malloc(sizeof(int) * 200);
    for (t = 0; t < 6; ++t)
        for (c = 0; c < 8; ++c)
            for (j = 0; j < 4; ++j) {
                double x[3];
                for (k = 0; k < 3; ++k)
                    x[k] = (V[T[t][child[t >= 3][c][j][0]] - 1][k]
                        + V[T[t][child[t >= 3][c][j][1]] - 1][k]) / 2;
                for (i = 0; i < n && memcmp(x, p.m.x + 3 * i, sizeof x); ++i) continue;
                if (i == n) memcpy(p.m.x + 3 * n++, x, sizeof x);
                p.m.elem[(t * 8 + c) * 4 + j] = i;
            }
    p.m.nodes = n;
    munit_assert_int(n, ==, 27);
    gap_fem_orient(3, 1, p.m.x, 48, p.m.elem);
    problem_init(&p, 1, &o, 20000, 0.3);
    gap_basis_quadrature(3, 2, 4, xi, w);
    manufacture(&p, &spec3, gap_elastic_linear, 4, xi, w);
    solve(&p);
    gap_basis_quadrature(3, 1, 4, xi, w);
    norms(&p, NULL, 1, xi, w, &l2, &h1);
    munit_assert_double(fabs(l2 - 0.0582336290420), <, 1e-12);
    munit_assert_double(fabs(h1 - 0.1080719385972), <, 1e-12);
    norms(&p, &spec3, 1, xi, w, &l2, &h1);
    munit_assert_double(fabs(l2 - 6.8900e-3), <, 5e-8);
    munit_assert_double(fabs(h1 - 4.0017e-2), <, 5e-7);
    problem_free(&p);
    return MUNIT_OK;
}

/* Stretched neo-Hookean cube: energy, reaction, norms; 6^3 collapsed Gauss points. */
static MunitResult stretched_cube(const MunitParameter params[], void *data)
{
    static const struct { int n, p; double e, r, l2, h1; } row[8] = {
        {1, 1, 481.610044307, 4573.60471276, 0.0577350269, 0.2},
        {2, 1, 424.069312395, 4046.31368791, 0.0605626704, 0.2154081127},
        {4, 1, 402.218452112, 3844.09354420, 0.0616154289, 0.2177422545},
        {1, 2, 407.386468267, 3893.45334279, 0.0616009454, 0.2184496853},
        {2, 2, 394.067150306, 3770.52986112, 0.0624140933, 0.2189638015},
        {1, 3, 393.013085991, 3760.73513523, 0.0626205181, 0.2189045523},
        {2, 3, 389.918286864, 3733.16341526, 0.0622689916, 0.2200612552},
        {1, 4, 390.491994959, 3737.99560394, 0.0622940022, 0.2198879998}};
    static double xi[3 * 216], w[216];
    gap_fem_options o;
    int k, i;

    (void)params; (void)data;
    memset(&o, 0, sizeof o);
    o.rule_count = gap_basis_collapsed(3, 6, 216, xi, w);
    o.rule_xi = xi;
    o.rule_w = w;
    for (k = 0; k < 8; ++k) {
        problem p;
        double e, r = 0, l2, h1;

        if (!util_slow() && row[k].p * row[k].n > 4) continue;
        fem_mesh_cube(&p.m, 3, 1, row[k].n);
        problem_init(&p, row[k].p, &o, 20000, 0.3);
        for (i = 0; i < p.f.nodes; ++i) {
            double X = p.f.rest[3 * i];
            p.x[3 * i] += 0.2 * (X - 0.5);
            p.fixed[i] = X == 0 || X == 1 ? 7 : 0;
        }
        solve(&p);
        gap_fem_energy(&p.f, p.x, 0, p.f.elements, &e);
        internal(&p, p.r);
        for (i = 0; i < p.f.nodes; ++i)
            if (p.f.rest[3 * i] == 1) r += p.r[3 * i];
        norms(&p, NULL, 216, xi, w, &l2, &h1);
        /* the collapsed rule is not symmetric: this needs the table's order of the vertices, which
           is that of fem_mesh.h (odd Kuhn paths exchange the last two) */
        util_assert_rel(e, row[k].e, 2e-12);
        util_assert_rel(r, row[k].r, 2e-12);
        munit_assert_double(fabs(l2 - row[k].l2), <, 1e-10);
        munit_assert_double(fabs(h1 - row[k].h1), <, 1e-10);
        problem_free(&p);
    }
    return MUNIT_OK;
}

/* Cook's membrane in 10 load steps, tip displacement; two conventions of lambda in the plane. */
static MunitResult cook(const MunitParameter params[], void *data)
{
    static const double uy[2][4][4] = {{{5.5125, 8.1972, 11.1068, 12.7538},
        {12.4398, 13.2980, 13.5121, 0}, {13.3214, 13.5102, 0, 0}, {13.4859, 13.5572, 0, 0}},
        {{5.8315, 8.9055, 11.9387, 13.4772}, {13.2089, 13.9556, 14.1304, 0},
            {13.9723, 14.1287, 0, 0}, {14.1111, 14.1609, 0, 0}}};
    static const double ux[2] = {-13.5109, -13.7005};
    static double xi[2 * 25], w[25];
    int c, p, k, i, j, s;

    (void)params; (void)data;
    for (c = 0; c < 2; ++c)
        for (p = 1; p <= 4; ++p)
            for (k = 0; k < 4 && uy[c][p - 1][k] > 0; ++k) {
                problem b;
                gap_fem_options o;
                double *t, *g, tip[2] = {0, 0};

                if (!util_slow() && (k > 1 || (c && p > 2))) continue;
                memset(&o, 0, sizeof o);
                o.rule_count = gap_basis_collapsed(2, 5, 25, xi, w);
                o.rule_xi = xi;
                o.rule_w = w;
                fem_mesh_cube(&b.m, 2, 1, 2 << k);
                for (i = 0; i < b.m.nodes; ++i) {
                    double u = b.m.x[2 * i], v = b.m.x[2 * i + 1];
                    b.m.x[2 * i] = 48 * u;
                    b.m.x[2 * i + 1] = 44 * u * (1 - v) + (44 * (1 - u) + 60 * u) * v;
                }
                problem_init(&b, p, &o, 1098500, 0.3);
                for (i = 0; c && i < b.f.elements; ++i)
                    b.f.par[4 * i] = 1098500 * 0.3 / (1 - 0.09);
                t = (double *)doubles((size_t)(2 * b.f.facets));
                g = (double *)doubles((size_t)(2 * b.f.facets * b.f.per_facet));
                for (i = 0; i < b.f.nodes; ++i) b.fixed[i] = b.f.rest[2 * i] == 0 ? 3 : 0;
                for (i = 0; i < b.f.facets; ++i) {
                    for (j = 0; j < b.f.per_facet; ++j)
                        if (b.f.rest[2 * b.f.facet_node[i * b.f.per_facet + j]] != 48) break;
                    if (j == b.f.per_facet) t[2 * i + 1] = 62500;
                }
                gap_fem_traction(&b.f, t, 0, b.f.facets, g);
                for (s = 1; s <= 10; ++s) {
                    memset(b.load, 0, sizeof(double) * (size_t)b.n);
                    for (i = 0; i < b.f.facets * b.f.per_facet; ++i)
                        for (j = 0; j < 2; ++j)
                            b.load[2 * b.f.facet_node[i] + j] += g[2 * i + j] * s / 10;
                    solve(&b);
                }
                for (i = 0; i < b.f.nodes; ++i)
                    if (b.f.rest[2 * i] == 48 && b.f.rest[2 * i + 1] == 60)
                        for (j = 0; j < 2; ++j) tip[j] = b.x[2 * i + j] - b.f.rest[2 * i + j];
                if (fabs(tip[1] - uy[c][p - 1][k]) > 5.1e-5)
                    munit_errorf("P%d n=%d: %.5f, table %.4f", p, 2 << k, tip[1], uy[c][p - 1][k]);
                if (p == 4 && !c) munit_assert_double(fabs(tip[0] - ux[k]), <, 5.1e-5);
                free(t); free(g);
                problem_free(&b);
            }
    return MUNIT_OK;
}

/* Cantilever under an end load, L/H = 20: P L^3/(3 E I). P1 locks. */
static MunitResult euler_bernoulli(const MunitParameter params[], void *data)
{
    const double L = 20, E = 1e6, P = 1e-3;
    double result[3];
    int p, k, i, j;

    (void)params; (void)data;
    for (k = 0; k < 3; ++k) {
        int cells[3];
        double size[3], *t, *g, tip = 0, theory = P * L * L * L / (3 * E / 12);
        problem b;

        p = k == 0 ? 1 : 2;
        cells[0] = k == 2 ? 40 : 20;
        cells[1] = cells[2] = k == 2 ? 2 : 1;
        size[0] = L;
        size[1] = size[2] = 1;
        fem_mesh_box(&b.m, 3, 1, cells, size);
        problem_init(&b, p, NULL, E, 0.3);
        t = (double *)doubles((size_t)(3 * b.f.facets));
        g = (double *)doubles((size_t)(3 * b.f.facets * b.f.per_facet));
        for (i = 0; i < b.f.nodes; ++i) b.fixed[i] = b.f.rest[3 * i] == 0 ? 7 : 0;
        for (i = 0; i < b.f.facets; ++i) {
            for (j = 0; j < b.f.per_facet; ++j)
                if (b.f.rest[3 * b.f.facet_node[i * b.f.per_facet + j]] != L) break;
            if (j == b.f.per_facet) t[3 * i + 2] = -P;
        }
        gap_fem_traction(&b.f, t, 0, b.f.facets, g);
        for (i = 0; i < b.f.facets * b.f.per_facet; ++i)
            for (j = 0; j < 3; ++j) b.load[3 * b.f.facet_node[i] + j] += g[3 * i + j];
        solve(&b);
        for (j = i = 0; i < b.f.nodes; ++i)
            if (b.f.rest[3 * i] == L) {
                tip -= b.x[3 * i + 2] - b.f.rest[3 * i + 2];
                ++j;
            }
        result[k] = tip / j / theory;
        munit_logf(MUNIT_LOG_INFO, "P%d, %d cells: %.4f of P L^3/(3 E I)", p, cells[0], result[k]);
        free(t); free(g);
        problem_free(&b);
    }
    munit_assert_double(result[0], <, 0.8);
    munit_assert_double(fabs(result[1] - 1), <, 0.02);
    munit_assert_double(fabs(result[2] - 1), <, 0.01);
    return MUNIT_OK;
}

/* First axial frequency of a fixed-free bar, omega = pi/(2 L) sqrt(E/rho): a quarter of it between
   two planes of symmetry, which leave no bending; inverse iteration with consistent mass. */
static MunitResult axial_frequency(const MunitParameter params[], void *data)
{
    const double L = 10, E = 2e5, rho = 7;
    const double theory = UTIL_PI / (2 * L) * sqrt(E / rho);
    int p, i, it;

    (void)params; (void)data;
    for (p = 1; p <= 2; ++p) {
        int cells[3] = {10, 1, 1};
        double size[3] = {10, 0.5, 0.5}, *v, *mv, omega = 0, vkv, vmv;
        problem b;
        gap_sparse M;

        fem_mesh_box(&b.m, 3, 1, cells, size);
        problem_init(&b, p, NULL, E, 0.3);
        gap_fem_uniform(&b.f, E, 0.3, rho);
        for (i = 0; i < b.f.nodes; ++i)
            b.fixed[i] = (unsigned char)((b.f.rest[3 * i] == 0 ? 1 : 0)
                | (b.f.rest[3 * i + 1] == 0 ? 2 : 0) | (b.f.rest[3 * i + 2] == 0 ? 4 : 0));
        gap_sparse_init(&M, b.f.nodes, 3, NULL);
        gap_sparse_link(&M, b.f.elements, b.f.per_element, b.f.node);
        gap_sparse_build(&M);
        assemble(&b, &M, 1);
        assemble(&b, &b.A, 0);
        v = (double *)doubles((size_t)b.n);
        mv = (double *)doubles((size_t)b.n);
        for (i = 0; i < b.f.nodes; ++i) v[3 * i] = b.f.rest[3 * i];
        gap_sparse_fix(&b.A, b.fixed, v);
        munit_assert_int(gap_ldlt_factor(&b.S, b.A.val), ==, GAP_LDLT_OK);
        for (it = 0; it < 60; ++it) {
            gap_sparse_multiply(&M, v, mv);
            for (i = 0; i < b.n; ++i) /* fixed components stay 0 */
                if (b.fixed[i / 3] >> i % 3 & 1) mv[i] = 0;
            memcpy(v, mv, sizeof(double) * (size_t)b.n);
            gap_ldlt_solve(&b.S, 1, v);
            for (vkv = 0, i = 0; i < b.n; ++i) vkv += v[i] * mv[i]; /* v K v */
            gap_sparse_multiply(&M, v, mv);
            for (vmv = 0, i = 0; i < b.n; ++i) vmv += v[i] * mv[i];
            omega = sqrt(vkv / vmv);
            for (i = 0; i < b.n; ++i) v[i] /= sqrt(vmv);
        }
        munit_logf(MUNIT_LOG_INFO, "P%d: omega %.5f, theory %.5f", p, omega, theory);
        munit_assert_double(fabs(omega / theory - 1), <, p == 1 ? 0.1 : 0.01);
        free(v); free(mv);
        gap_sparse_free(&M);
        problem_free(&b);
    }
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/table_2d", table_2d, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/table_3d", table_3d, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/rates", rates, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/peer_cube", peer_cube, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/stretched_cube", stretched_cube, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/cook", cook, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/euler_bernoulli", euler_bernoulli, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/axial_frequency", axial_frequency, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/fem_converge", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
