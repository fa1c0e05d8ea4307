/* Tests of fem/gap_fem.h: finite differences, exact integrals, two independent paths against each
   other, dense sampling for validity. Convergence and published numbers: test_fem_converge.c. */
#define GAP_BASIS_STATIC
#include "gap_basis.h"
#define GAP_ELASTIC_STATIC
#include "gap_elastic.h"
#define GAP_FEM_IMPLEMENTATION
#include "gap_fem.h"
#include "fem_mesh.h"

static MunitResult quick_start(const MunitParameter params[], void *data)
{
    double X[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, x[12], E, g[12];
    int tet[4] = {0, 1, 2, 3}, i;
    gap_fem f;

    (void)params; (void)data;
    munit_assert_int(gap_fem_init(&f, 3, 1, 1, 4, X, 1, tet, NULL), ==, GAP_FEM_OK);
    gap_fem_uniform(&f, 1e5, 0.3, 1000);
    for (i = 0; i < 12; ++i) x[i] = X[i] * (i % 3 ? 1.0 : 1.2);
    gap_fem_energy(&f, x, 0, 1, &E);
    gap_fem_gradient(&f, x, 0, 1, g);
    munit_assert_double(fabs(E - 401.3417), <, 1e-4);
    munit_assert_double(fabs(g[3] - 3811.34), <, 1e-2);
    gap_fem_free(&f);
    return MUNIT_OK;
}

typedef struct context { gap_fem *f; int e; double *x; } context;

/* Positions of the element's own nodes -> energy, gradient. */
static void set_local(context *c, const double *y)
{
    int a, k, dim = c->f->dim;
    for (a = 0; a < c->f->per_element; ++a)
        for (k = 0; k < dim; ++k)
            c->x[c->f->node[c->e * c->f->per_element + a] * dim + k] = y[a * dim + k];
}

static double local_energy(void *ctx, const double *y)
{
    context *c = (context *)ctx;
    double e;
    set_local(c, y);
    gap_fem_energy(c->f, c->x, c->e, c->e + 1, &e);
    return e;
}

static void local_gradient(void *ctx, const double *y, double *g)
{
    context *c = (context *)ctx;
    set_local(c, y);
    gap_fem_gradient(c->f, c->x, c->e, c->e + 1, g);
}

/* All orders, dimensions, straight and curved; three materials. */
static MunitResult finite_differences(const MunitParameter params[], void *data)
{
    static double H[105 * 105], g[105], y[105];
    int dim, p, q, m, i, k, n;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim)
        for (p = 1; p <= 4; ++p)
            for (q = 1; q <= 4; ++q)
                for (m = 0; m < 3; ++m) {
                    gap_fem f;
                    fem_mesh mesh;
                    gap_fem_options o;
                    context c;
                    double err;

                    if (!util_slow() && (m == 1 || (dim == 3 && p > 2 && q != 1 && p != q)))
                        continue;
                    memset(&o, 0, sizeof o);
                    if (m == 1) o.material = gap_elastic_corotated;
                    if (m == 2) o.material = gap_elastic_neo_hookean;
                    if (p > 2) o.degree = 4; /* derivatives are exact for any rule */
                    fem_mesh_cube(&mesh, dim, q, 1);
                    if (q > 1) fem_mesh_bend(&mesh, 0.08);
                    munit_assert_int(gap_fem_init(&f, dim, p, q, mesh.nodes, mesh.x, mesh.elements,
                        mesh.elem, &o), ==, GAP_FEM_OK);
                    gap_fem_uniform(&f, 10, 0.35, 1);
                    n = f.per_element * dim;
                    c.f = &f;
                    c.e = mesh.elements - 1;
                    c.x = (double *)munit_malloc(sizeof(double) * (size_t)(f.nodes * dim));
                    memcpy(c.x, f.rest, sizeof(double) * (size_t)(f.nodes * dim));
                    for (i = 0; i < f.per_element; ++i)
                        for (k = 0; k < dim; ++k)
                            y[i * dim + k] = f.rest[f.node[c.e * f.per_element + i] * dim + k]
                                + util_uniform(-0.03, 0.03) / p;
                    local_gradient(&c, y, g);
                    err = util_gradient_error(local_energy, &c, y, g, n, 1e-3);
                    if (err > 1e-6) munit_errorf("gradient %dD p %d q %d %g", dim, p, q, err);
                    set_local(&c, y);
                    gap_fem_hessian(&f, c.x, c.e, c.e + 1, 0, H);
                    err = util_jacobian_error(local_gradient, &c, y, H, n, 1e-3);
                    if (err > 1e-6) munit_errorf("Hessian %dD p %d q %d %g", dim, p, q, err);
                    free(c.x);
                    gap_fem_free(&f);
                    fem_mesh_free(&mesh);
                }
    return MUNIT_OK;
}

/* The lanes of P1 against the general path with the same material from gap_elastic.h; psd: also
   against a numeric projection of dP/dF, through that path. */
static MunitResult linear_path(const MunitParameter params[], void *data)
{
    int dim, i, k, n, psd;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim) {
        gap_fem f, g;
        fem_mesh mesh;
        gap_fem_options o;
        double *x, ef, eg, *a, *b;
        int state;

        memset(&o, 0, sizeof o);
        o.material = gap_elastic_neo_hookean;
        fem_mesh_cube(&mesh, dim, 1, 3);
        gap_fem_init(&f, dim, 1, 1, mesh.nodes, mesh.x, mesh.elements, mesh.elem, NULL);
        gap_fem_init(&g, dim, 1, 1, mesh.nodes, mesh.x, mesh.elements, mesh.elem, &o);
        for (i = 0; i < f.elements; ++i) {
            f.par[4 * i] = g.par[4 * i] = util_uniform(0, 100);
            f.par[4 * i + 1] = g.par[4 * i + 1] = util_uniform(1, 5);
        }
        n = f.per_element * dim;
        x = (double *)munit_malloc(sizeof(double) * (size_t)(f.nodes * dim));
        a = (double *)munit_malloc(sizeof(double) * (size_t)(f.elements * n * n));
        b = (double *)munit_malloc(sizeof(double) * (size_t)(f.elements * n * n));
        for (state = 0; state < 20; ++state) {
            for (i = 0; i < f.nodes * dim; ++i)
                x[i] = mesh.x[i] * (1 + 0.1 * (state % 5)) + util_uniform(-0.04, 0.04);
            munit_assert_int(gap_fem_energy(&f, x, 0, f.elements, &ef), ==, 0);
            munit_assert_int(gap_fem_energy(&g, x, 0, f.elements, &eg), ==, 0);
            util_assert_rel(ef, eg, 1e-12);
            gap_fem_gradient(&f, x, 0, f.elements, a);
            gap_fem_gradient(&g, x, 0, f.elements, b);
            munit_assert_double(util_rel_array(a, b, (size_t)(f.elements * n), 0), <, 1e-12);
            for (psd = 0; psd < 2; ++psd) {
                gap_fem_hessian(&f, x, 0, f.elements, psd, a);
                gap_fem_hessian(&g, x, 0, f.elements, psd, b);
                munit_assert_double(util_rel_array(a, b, (size_t)(f.elements * n * n), 0), <,
                    1e-12);
                for (k = 0; k < 5; ++k) { /* any sub-range gives the same bits */
                    int lo = munit_rand_int_range(0, f.elements - 1);
                    int hi = munit_rand_int_range(lo + 1, f.elements);
                    gap_fem_hessian(&f, x, lo, hi, psd, b);
                    munit_assert_memory_equal(sizeof(double) * (size_t)((hi - lo) * n * n), b,
                        a + lo * n * n);
                }
            }
        }
        free(x); free(a); free(b);
        gap_fem_free(&f);
        gap_fem_free(&g);
        fem_mesh_free(&mesh);
    }
    return MUNIT_OK;
}

/* Rest: exactly no force. Rigid motion: none to rounding. Affine fields: psi times the volume on
   every order, straight or curved (patch test). */
static MunitResult patch(const MunitParameter params[], void *data)
{
    static const double A3[9] = {1.1, 0.2, -0.1, 0.05, 0.9, 0.15, -0.2, 0.1, 1.2};
    static const double A2[4] = {1.1, 0.2, -0.1, 0.9};
    int dim, p, q, i, j, k, c;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim)
        for (p = 1; p <= 4; ++p)
            for (q = 1; q <= 4; ++q) {
                gap_fem f;
                fem_mesh mesh;
                double *x, *g, *y, R[9], e, psi, vol, par[4], s, first;
                const double *A = dim == 3 ? A3 : A2;

                fem_mesh_cube(&mesh, dim, q, 2);
                if (q > 1) fem_mesh_bend(&mesh, 0.05);
                munit_assert_int(gap_fem_init(&f, dim, p, q, mesh.nodes, mesh.x, mesh.elements,
                    mesh.elem, NULL), ==, GAP_FEM_OK);
                gap_fem_uniform(&f, 3, 0.3, 2);
                munit_assert_int(gap_fem_valid(&f, NULL, 0, f.elements, NULL, NULL), ==, 0);
                x = (double *)munit_malloc(sizeof(double) * (size_t)(f.nodes * dim));
                y = (double *)munit_malloc(sizeof(double) * (size_t)(f.nodes * dim));
                g = (double *)munit_malloc(sizeof(double) * (size_t)(f.elements * f.per_element
                    * dim));
                gap_fem_energy(&f, f.rest, 0, f.elements, &e);
                munit_assert_double(e, ==, 0);
                gap_fem_gradient(&f, f.rest, 0, f.elements, g);
                for (i = 0; i < f.elements * f.per_element * dim; ++i)
                    munit_assert_double(g[i], ==, 0);
                if (dim == 3) util_rotation(R);
                R[3 * (dim == 2)] = dim == 2 ? cos(1.0) : R[0];
                if (dim == 2) { R[0] = cos(1.0); R[1] = -sin(1.0); R[2] = sin(1.0); }
                for (c = 0; c < 2; ++c) { /* a rotation, then an affine map with shear */
                    const double *B = c ? A : R;
                    for (i = 0; i < f.nodes; ++i)
                        for (j = 0; j < dim; ++j)
                            for (x[i * dim + j] = j + 0.5, k = 0; k < dim; ++k)
                                x[i * dim + j] += B[j * dim + k] * f.rest[i * dim + k];
                    if (p < q && c == 0) continue; /* p < q does not hold an affine field of g */
                    if (p < q) continue;
                    munit_assert_int(gap_fem_energy(&f, x, 0, f.elements, &e), ==, 0);
                    gap_fem_gradient(&f, x, 0, f.elements, g);
                    if (c == 0) {
                        munit_assert_double(fabs(e), <, 1e-13);
                        for (i = 0; i < f.elements * f.per_element * dim; ++i)
                            munit_assert_double(fabs(g[i]), <, 1e-13);
                        continue;
                    }
                    gap_elastic_lame(3, 0.3, 0, par, par + 1);
                    gap_elastic_neo_hookean(NULL, dim, dim, 1, A, par, 0, &psi, NULL, NULL);
                    gap_fem_mass_lumped(&f, y);
                    for (vol = 0, i = 0; i < f.nodes; ++i) vol += y[i] / 2;
                    util_assert_rel(e, psi * vol, 1e-12);
                    if (q == 1) util_assert_rel(vol, 1.0, 1e-12);
                    /* inner forces cancel: assemble, look at nodes inside */
                    memset(y, 0, sizeof(double) * (size_t)(f.nodes * dim));
                    for (i = 0; i < f.elements * f.per_element; ++i)
                        for (j = 0; j < dim; ++j) y[f.node[i] * dim + j] += g[i * dim + j];
                    for (i = 0; i < f.facets * f.per_facet; ++i)
                        for (j = 0; j < dim; ++j) y[f.facet_node[i] * dim + j] = 0;
                    for (first = s = 0, i = 0; i < f.nodes * dim; ++i) s = fmax(s, fabs(y[i]));
                    for (i = 0; i < f.elements * f.per_element * dim; ++i)
                        first = fmax(first, fabs(g[i]));
                    munit_assert_double(s, <, 1e-12 * fmax(first, 1));
                }
                free(x); free(y); free(g);
                gap_fem_free(&f);
                fem_mesh_free(&mesh);
            }
    return MUNIT_OK;
}

/* Mass: total, first moment, known diagonal, positive; gravity sums to the weight; traction and
   pressure by the divergence theorem. */
static MunitResult mass_and_loads(const MunitParameter params[], void *data)
{
    static const double m00[2][5] = {{0, 1.0 / 6, 1.0 / 30, 19.0 / 1680, 29.0 / 5670},
        {0, 0.1, 1.0 / 70, 1.0 / 280, 5.0 / 4158}};
    int dim, p, q, i, j, e, n, k;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim)
        for (p = 1; p <= 4; ++p)
            for (q = 1; q <= 4; ++q) {
                gap_fem f;
                fem_mesh mesh;
                double *M, *lump, *b, total = 0, moment[3] = {0, 0, 0}, sum = 0, weight[3], grav[3];
                double *t, *pr, area, fluid, cen[3] = {0, 0, 0}, energy, vol = 0;

                if (dim == 3 && p + q > 5 && !util_slow()) continue;
                fem_mesh_cube(&mesh, dim, q, 1);
                if (q > 1) fem_mesh_bend(&mesh, 0.06);
                munit_assert_int(gap_fem_init(&f, dim, p, q, mesh.nodes, mesh.x, mesh.elements,
                    mesh.elem, NULL), ==, GAP_FEM_OK);
                gap_fem_uniform(&f, 1, 0.3, 7);
                n = f.per_element * dim;
                M = (double *)munit_malloc(sizeof(double) * (size_t)(f.elements * n * n));
                b = (double *)munit_malloc(sizeof(double) * (size_t)(f.elements * n));
                lump = (double *)munit_malloc(sizeof(double) * (size_t)f.nodes);
                gap_fem_mass(&f, 0, f.elements, M);
                for (e = 0; e < f.elements; ++e)
                    for (i = 0; i < n; ++i)
                        for (j = 0; j < n; ++j) {
                            double m = M[(e * n + i) * n + j];
                            munit_assert_double(m, ==, M[(e * n + j) * n + i]);
                            if (i % dim != j % dim) munit_assert_double(m, ==, 0);
                            if (i % dim == 0 && j % dim == 0) total += m;
                            if (i % dim == j % dim)
                                moment[i % dim] += m
                                    * f.rest[f.node[e * f.per_element + i / dim] * dim + i % dim];
                        }
                if (q == 1) {
                    util_assert_rel(total, 7.0, 1e-12);
                    util_assert_rel(M[0], 7.0 * m00[dim - 2][p] / f.elements, 1e-12);
                }
                gap_fem_mass_lumped(&f, lump);
                for (i = 0; i < f.nodes; ++i) {
                    munit_assert_double(lump[i], >, 0);
                    sum += lump[i];
                }
                util_assert_rel(sum, total, 1e-12);
                grav[0] = 1; grav[1] = -9.81; grav[2] = 3;
                gap_fem_body_force(&f, grav, 0, f.elements, b);
                weight[0] = weight[1] = weight[2] = 0;
                for (i = 0; i < f.elements * n; ++i) weight[i % dim] += b[i];
                for (k = 0; k < dim; ++k) util_assert_rel(weight[k], grav[k] * total, 1e-12);
                free(M); free(b);
                t = (double *)munit_malloc(sizeof(double) * (size_t)(f.facets * dim));
                pr = (double *)munit_malloc(sizeof(double) * (size_t)f.facets);
                b = (double *)munit_malloc(sizeof(double) * (size_t)(f.facets * f.per_facet * dim));
                for (i = 0; i < f.facets; ++i) {
                    pr[i] = 1;
                    for (k = 0; k < dim; ++k) t[i * dim + k] = k == 0;
                }
                gap_fem_traction(&f, t, 0, f.facets, b);
                for (area = 0, i = 0; i < f.facets * f.per_facet; ++i) area += b[i * dim];
                if (q == 1) util_assert_rel(area, dim == 2 ? 4.0 : 6.0, 1e-12);
                /* pressure: energy = volume; forces sum to 0; div x = dim */
                gap_fem_pressure(&f, f.rest, pr, 0, f.facets, &energy, b, NULL);
                vol = total / 7;
                if (p >= q) util_assert_rel(energy, vol, 1e-12);
                for (i = 0; i < f.facets * f.per_facet * dim; ++i) cen[i % dim] += b[i];
                for (k = 0; k < dim; ++k) munit_assert_double(fabs(cen[k]), <, 1e-12);
                for (fluid = 0, i = 0; i < f.facets * f.per_facet; ++i)
                    for (k = 0; k < dim; ++k)
                        fluid += b[i * dim + k] * f.rest[f.facet_node[i] * dim + k];
                if (p >= q) util_assert_rel(fluid, dim * vol, 1e-12);
                free(t); free(pr); free(b); free(lump);
                gap_fem_free(&f);
                fem_mesh_free(&mesh);
            }
    return MUNIT_OK;
}

typedef struct load { gap_fem *f; double *x, *p; int i; } load;

static double pressure_energy(void *ctx, const double *y)
{
    load *c = (load *)ctx;
    double e;
    int a, k, dim = c->f->dim, *v = c->f->facet_node + c->i * c->f->per_facet;
    for (a = 0; a < c->f->per_facet; ++a)
        for (k = 0; k < dim; ++k) c->x[v[a] * dim + k] = y[a * dim + k];
    gap_fem_pressure(c->f, c->x, c->p, c->i, c->i + 1, &e, NULL, NULL);
    return e;
}

static void pressure_gradient(void *ctx, const double *y, double *g)
{
    load *c = (load *)ctx;
    pressure_energy(ctx, y);
    gap_fem_pressure(c->f, c->x, c->p, c->i, c->i + 1, NULL, g, NULL);
}

static MunitResult pressure_derivatives(const MunitParameter params[], void *data)
{
    int dim, p, q, a, k;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim)
        for (p = 1; p <= 4; ++p)
            for (q = 1; q <= 3; q += 2) {
                gap_fem f;
                fem_mesh mesh;
                load c;
                double y[45], g[45], H[45 * 45];

                fem_mesh_cube(&mesh, dim, q, 1);
                if (q > 1) fem_mesh_bend(&mesh, 0.06);
                gap_fem_init(&f, dim, p, q, mesh.nodes, mesh.x, mesh.elements, mesh.elem, NULL);
                c.f = &f;
                c.x = (double *)munit_malloc(sizeof(double) * (size_t)(f.nodes * dim));
                c.p = (double *)munit_malloc(sizeof(double) * (size_t)f.facets);
                memcpy(c.x, f.rest, sizeof(double) * (size_t)(f.nodes * dim));
                for (k = 0; k < f.facets; ++k) c.p[k] = 2 + k;
                c.i = f.facets / 2;
                for (a = 0; a < f.per_facet; ++a)
                    for (k = 0; k < dim; ++k)
                        y[a * dim + k] = f.rest[f.facet_node[c.i * f.per_facet + a] * dim + k]
                            + util_uniform(-0.1, 0.1);
                pressure_gradient(&c, y, g);
                munit_assert_double(util_gradient_error(pressure_energy, &c, y, g,
                    f.per_facet * dim, 1e-2), <, 1e-9);
                pressure_energy(&c, y);
                gap_fem_pressure(&f, c.x, c.p, c.i, c.i + 1, NULL, NULL, H);
                munit_assert_double(util_jacobian_error(pressure_gradient, &c, y, H,
                    f.per_facet * dim, 1e-2), <, 1e-9);
                free(c.x); free(c.p);
                gap_fem_free(&f);
                fem_mesh_free(&mesh);
            }
    return MUNIT_OK;
}

/* ---- validity: det of the map by sampling, with the basis of gap_basis.h ---- */
enum { LATTICE = 13, MOST = 560 };
typedef struct sampler { int dim, p, k, n; double xi[MOST * 3], *grad; } sampler;

static void sampler_init(sampler *s, int dim, int p)
{
    int i, j, l;

    s->dim = dim;
    s->p = p;
    s->n = 0;
    for (i = 0; i <= LATTICE; ++i)
        for (j = 0; i + j <= LATTICE; ++j)
            for (l = 0; i + j + l <= (dim == 3 ? LATTICE : i + j); ++l, ++s->n) {
                s->xi[s->n * dim] = (double)i / LATTICE;
                s->xi[s->n * dim + 1] = (double)j / LATTICE;
                if (dim == 3) s->xi[s->n * dim + 2] = (double)l / LATTICE;
            }
    munit_assert_int(s->n, <=, MOST);
    s->k = gap_basis_count(dim, p);
    s->grad = (double *)munit_malloc(sizeof(double) * (size_t)(s->n * s->k * dim));
    gap_basis_eval(dim, p, s->n, s->xi, NULL, s->grad);
}

static double det_at(int dim, int k, const double *x, const double *grad)
{
    double J[9] = {0};
    int a, i, j;

    for (a = 0; a < k; ++a)
        for (i = 0; i < dim; ++i)
            for (j = 0; j < dim; ++j) J[i * dim + j] += x[a * dim + i] * grad[a * dim + j];
    if (dim == 2) return J[0] * J[3] - J[1] * J[2];
    return J[0] * (J[4] * J[8] - J[5] * J[7]) + J[1] * (J[5] * J[6] - J[3] * J[8])
        + J[2] * (J[3] * J[7] - J[4] * J[6]);
}

/* Smallest and largest det on the lattice. search 1: the smallest is improved by a pattern search;
   2: also from a lattice three times as fine. */
static double smallest(const sampler *s, const double *x, int search, double *largest)
{
    double lo = HUGE_VAL, d, xi[3], y[3], h = 0.5 / LATTICE, g[105], sum;
    int i, j, best = 0, sign, better;

    *largest = -HUGE_VAL;
    for (i = 0; i < s->n; ++i) {
        d = det_at(s->dim, s->k, x, s->grad + i * s->k * s->dim);
        if (d < lo) { lo = d; best = i; }
        *largest = fmax(*largest, d);
    }
    for (j = 0; j < s->dim; ++j) xi[j] = s->xi[best * s->dim + j];
    for (i = 0; search == 2 && i < 40 * 40 * (s->dim == 3 ? 40 : 1); ++i) {
        y[0] = i % 40 / 39.0;
        y[1] = i / 40 % 40 / 39.0;
        y[2] = s->dim == 3 ? i / 1600 / 39.0 : 0;
        if (y[0] + y[1] + y[2] > 1) continue;
        gap_basis_eval(s->dim, s->p, 1, y, NULL, g);
        d = det_at(s->dim, s->k, x, g);
        if (d < lo) { lo = d; memcpy(xi, y, sizeof y); }
    }
    while (search && lo > 0 && h > 1e-5) {
        for (better = i = 0; i < s->dim * (s->dim + 1); ++i)
            for (sign = -1; sign <= 1; sign += 2) {
                for (sum = 0, j = 0; j < s->dim; ++j) {
                    y[j] = xi[j] + (i % s->dim == j ? sign * h : 0)
                        - (i / s->dim == j + 1 ? sign * h : 0);
                    if (y[j] < 0) y[j] = 0;
                    sum += y[j];
                }
                for (j = 0; j < s->dim && sum > 1; ++j) y[j] /= sum;
                gap_basis_eval(s->dim, s->p, 1, y, NULL, g);
                d = det_at(s->dim, s->k, x, g);
                if (d < lo) {
                    lo = d;
                    memcpy(xi, y, sizeof y);
                    better = 1;
                }
            }
        if (!better) h /= 2;
    }
    return lo;
}

static MunitResult validity(const MunitParameter params[], void *data)
{
    int dim, p, it, i, q, n = util_count(400, 17000), kept = 0, found = 0, odd = 0, bad = 0;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim)
        for (p = 2; p <= 4; ++p) {
            sampler s;
            gap_fem f;
            double x[105], lo, hi, noise, grad[105];
            int elem[35], status;

            sampler_init(&s, dim, p);
            for (i = 0; i < s.k; ++i) elem[i] = i;
            {
                int index[4 * 35];
                gap_basis_nodes(dim, p, index);
                for (i = 0; i < s.k * dim; ++i)
                    x[i] = (double)index[i / dim * (dim + 1) + i % dim + 1] / p;
            }
            munit_assert_int(gap_fem_init(&f, dim, p, p, s.k, x, 1, elem, NULL), ==, 0);
            for (it = 0; it < n; ++it) {
                noise = util_uniform(0.02, dim == 2 ? 0.35 : 0.25) / p;
                for (i = 0; i < s.k * dim; ++i) x[i] = f.rest[i] + util_uniform(-noise, noise) + 5;
                status = gap_fem_valid(&f, x, 0, 1, NULL, NULL);
                lo = smallest(&s, x, status != GAP_FEM_OK, &hi);
                if (status && lo > 0) lo = smallest(&s, x, 2, &hi);
                if (status == GAP_FEM_OK) {
                    munit_assert_double(lo, >, 0);
                    ++kept;
                } else {
                    if (status == GAP_FEM_UNDECIDED) {
                        ++odd;
                        munit_assert_double(lo, <, 1e-3 * hi);
                    } else if (lo > 1e-9 * hi) {
                        munit_errorf("refused a valid element: %g of %g", lo, hi);
                    }
                    for (q = 0; q < f.points; ++q) {
                        gap_basis_eval(dim, p, 1, f.xi + q * dim, NULL, grad);
                        if (det_at(dim, s.k, x, grad) <= 0) break;
                    }
                    found += q == f.points;
                    ++bad;
                }
            }
            free(s.grad);
            gap_fem_free(&f);
        }
    munit_logf(MUNIT_LOG_INFO, "%d valid, %d not (%d of them positive at all quadrature points, %d"
        " undecided)", kept, bad, found, odd);
    munit_assert_int(kept, >, n);
    munit_assert_int(found, >, n / 20);
    munit_assert_int(odd, <=, bad / 20);
    return MUNIT_OK;
}

/* Random valid elements and directions: positive at all samples of [0, t]; and t not far below the
   first failure. */
static MunitResult step_curved(const MunitParameter params[], void *data)
{
    int dim, p, q, it, i, j, n = util_count(60, 2800), zero = 0, all = 0, shortest = 0;
    double ratio = 0;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim)
        for (p = 1; p <= 4; ++p)
            for (q = p == 1 ? 2 : 1; q <= (p == 1 ? 2 : p); q += p > 1 ? p - 1 : 1) {
                sampler s, sg;
                gap_fem f;
                double X[105], *x, *d, y[105], hi, t, t_max, noise, first;
                int elem[35], index[4 * 35], k, r = p > q ? p : q;

                sampler_init(&s, dim, r);
                sampler_init(&sg, dim, q);
                k = gap_basis_nodes(dim, q, index);
                for (i = 0; i < k; ++i) elem[i] = i;
                for (i = 0; i < k * dim; ++i)
                    X[i] = (double)index[i / dim * (dim + 1) + i % dim + 1] / q
                        + util_uniform(-0.02, 0.02) / (q * q);
                munit_assert_int(gap_fem_init(&f, dim, p, q, k, X, 1, elem, NULL), ==, 0);
                x = (double *)munit_malloc(sizeof(double) * (size_t)(f.nodes * dim));
                d = (double *)munit_malloc(sizeof(double) * (size_t)(f.nodes * dim));
                for (it = 0; it < n; ++it) {
                    noise = util_uniform(0, 0.1) / p;
                    for (i = 0; i < f.nodes * dim; ++i) {
                        x[i] = f.rest[i] + util_uniform(-noise, noise);
                        d[i] = util_uniform(-1, 1);
                    }
                    t_max = pow(10, util_uniform(-1.5, 1));
                    t = -1;
                    if (gap_fem_step(&f, x, d, 0, 1, t_max, &t)) {
                        munit_assert_double(t, ==, 0);
                        munit_assert_int(gap_fem_valid(&f, x, 0, 1, NULL, NULL), !=, 0);
                        continue;
                    }
                    munit_assert_double(t, <=, t_max);
                    zero += t == 0;
                    ++all;
                    for (first = t_max, j = 0; j <= 40; ++j) {
                        double at = j <= 20 ? t * j / 20 : t + (t_max - t) * (j - 20) / 20, lo;
                        /* nodes of the whole map at order r: geometry + displacement */
                        for (i = 0; i < s.k; ++i) {
                            double xi[3], phi[35], psi[35];
                            int a, c, lat[4 * 35];
                            gap_basis_nodes(dim, r, lat);
                            for (c = 0; c < dim; ++c)
                                xi[c] = (double)lat[i * (dim + 1) + c + 1] / r;
                            gap_basis_eval(dim, p, 1, xi, phi, NULL);
                            gap_basis_eval(dim, q, 1, xi, psi, NULL);
                            for (c = 0; c < dim; ++c) {
                                y[i * dim + c] = 0;
                                for (a = 0; a < k; ++a) y[i * dim + c] += psi[a] * X[a * dim + c];
                                for (a = 0; a < f.per_element; ++a) {
                                    int v = f.node[a] * dim + c;
                                    y[i * dim + c] += phi[a] * (x[v] + at * d[v] - f.rest[v]);
                                }
                            }
                        }
                        lo = smallest(&s, y, 0, &hi);
                        if (j <= 20) munit_assert_double(lo, >, 0);
                        else if (lo <= 0) {
                            first = at;
                            break;
                        }
                    }
                    ratio += t / first;
                    shortest += t < 0.25 * first;
                }
                free(s.grad); free(sg.grad); free(x); free(d);
                gap_fem_free(&f);
            }
    munit_logf(MUNIT_LOG_INFO, "%d steps, mean %.2f of the sampled first failure, %d below 1/4, %d"
        " zero", all, ratio / all, shortest, zero);
    munit_assert_int(zero, ==, 0);
    munit_assert_double(ratio / all, >, 0.5);
    return MUNIT_OK;
}

/* P1: slivers, all scales, huge steps; the volume that is left, in long double. */
static MunitResult step_linear(const MunitParameter params[], void *data)
{
    static const double one[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double two[6] = {0, 0, 1, 0, 0, 1};
    int dim, it, i, j, elem[4] = {0, 1, 2, 3}, n = util_count(20000, 200000), free_steps = 0;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim) {
        gap_fem f;
        double x[12], d[12], t, t2, J[9], v0, worst = 1;

        gap_fem_init(&f, dim, 1, 1, dim + 1, dim == 3 ? one : two, 1, elem, NULL);
        for (it = 0; it < n; ++it) {
            double flat = pow(10, util_uniform(-6, 0)), go = pow(10, util_uniform(-4, 4));
            double shift = it % 3 ? 0 : 10;
            for (i = 0; i < (dim + 1) * dim; ++i) {
                x[i] = util_uniform(-1, 1) * (i % dim == dim - 1 ? flat : 1) + shift;
                d[i] = util_uniform(-1, 1) * go * (it % 5 && i % dim ? 1e-6 : 1);
            }
            for (i = 0; i < dim; ++i)
                for (j = 0; j < dim; ++j) J[i * dim + j] = x[(j + 1) * dim + i] - x[i];
            if (gap_fem__det(dim, J) < 0)
                for (i = 0; i < dim; ++i) {
                    double s = x[dim + i];
                    x[dim + i] = x[2 * dim + i];
                    x[2 * dim + i] = s;
                }
            i = gap_fem_step(&f, x, d, 0, 1, 1.0, &t);
            if (i) {
                munit_assert_int(i, ==, GAP_FEM_UNDECIDED);
                continue;
            }
            munit_assert_double(t, >, 0);
            free_steps += t == 1;
            for (v0 = 0, j = 0; j <= 40; ++j) {
                long double L[3][3] = {{0}}, v;
                int a, b;
                for (a = 0; a < dim; ++a)
                    for (b = 0; b < dim; ++b)
                        L[a][b] = ((long double)x[(b + 1) * dim + a] - x[a])
                            + (long double)t * j / 40 * ((long double)d[(b + 1) * dim + a] - d[a]);
                v = dim == 2 ? L[0][0] * L[1][1] - L[0][1] * L[1][0]
                    : L[0][0] * (L[1][1] * L[2][2] - L[1][2] * L[2][1])
                    - L[0][1] * (L[1][0] * L[2][2] - L[1][2] * L[2][0])
                    + L[0][2] * (L[1][0] * L[2][1] - L[1][1] * L[2][0]);
                if (j == 0) v0 = (double)v;
                worst = fmin(worst, (double)v / v0);
            }
            for (i = 0; i < (dim + 1) * dim; ++i) { /* the same step at any scale */
                x[i] = ldexp(x[i], it % 41 - 20);
                d[i] = ldexp(d[i], it % 41 - 20);
            }
            munit_assert_int(gap_fem_step(&f, x, d, 0, 1, 1.0, &t2), ==, 0);
            munit_assert_double(t, ==, t2);
        }
        munit_logf(MUNIT_LOG_INFO, "%dD: least volume kept %.4f, %d free", dim, worst, free_steps);
        munit_assert_double(worst, >=, 0.2);
        gap_fem_free(&f);
    }
    return MUNIT_OK;
}

/* Every way to be wrong that init knows; and the k-th allocation fails. */
static MunitResult bad_input(const MunitParameter params[], void *data)
{
    double X[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}, x[15], e, t, g[24], keep;
    int tet[8] = {0, 1, 2, 3, 1, 2, 3, 4}, turned[8] = {0, 2, 1, 3, 1, 2, 3, 4};
    int one[4] = {0, 1, 2, 9};
    int three[9] = {0, 1, 2, 1, 0, 3, 0, 1, 4}, i, bad, status[2];
    double Y[10] = {0, 0, 1, 0, 0, 1, 0, -1, 1, 1};
    unsigned char fixed[6] = {0, 0, 0, 0, 0, 0};
    double Z[18];
    gap_fem f;
    gap_fem_options o;
    fem_mesh m;
    long k;

    (void)params; (void)data;
    memset(&o, 0, sizeof o);
    munit_assert_int(gap_fem_init(&f, 3, 1, 1, 5, X, 2, turned, NULL), ==, GAP_FEM_EREST);
    munit_assert_int(f.bad, ==, 0);
    munit_assert_int(gap_fem_orient(3, 1, X, 2, turned), ==, 1);
    munit_assert_int(gap_fem_init(&f, 3, 1, 1, 5, X, 2, turned, NULL), ==, GAP_FEM_OK);
    gap_fem_free(&f);
    munit_assert_int(gap_fem_init(&f, 3, 1, 1, 5, X, 1, one, NULL), ==, GAP_FEM_EINDEX);
    munit_assert_int(gap_fem_init(&f, 2, 1, 1, 5, Y, 3, three, NULL), ==, GAP_FEM_EINPUT);
    munit_assert_int(f.bad, ==, 2);
    munit_assert_int(gap_fem_init(&f, 1, 1, 1, 5, X, 1, tet, NULL), ==, GAP_FEM_EINPUT);
    munit_assert_int(gap_fem_init(&f, 3, 5, 1, 5, X, 1, tet, NULL), ==, GAP_FEM_EINPUT);
    keep = X[14];
    X[14] = NAN;
    munit_assert_int(gap_fem_init(&f, 3, 1, 1, 5, X, 2, tet, NULL), ==, GAP_FEM_ENONFIN);
    munit_assert_int(f.bad, ==, 4);
    X[14] = keep;
    X[12] = X[13] = X[14] = 1.0 / 3; /* flat */
    munit_assert_int(gap_fem_init(&f, 3, 1, 1, 5, X, 2, tet, NULL), !=, GAP_FEM_OK);
    munit_assert_int(f.bad, ==, 1);
    X[12] = X[13] = X[14] = 1;
    o.degree = 61;
    munit_assert_int(gap_fem_init(&f, 3, 1, 1, 5, X, 2, tet, &o), ==, GAP_FEM_ESIZE);
    o.degree = 0;
    munit_assert_int(gap_fem_init(&f, 3, 1, 1, 0, NULL, 0, NULL, NULL), ==, GAP_FEM_OK);
    gap_fem_energy(&f, X, 0, 0, &e);
    munit_assert_double(e, ==, 0);
    gap_fem_free(&f);
    /* unused node */
    memcpy(Z, X, sizeof X);
    Z[15] = Z[16] = Z[17] = 7;
    munit_assert_int(gap_fem_init(&f, 3, 1, 1, 6, Z, 2, tet, NULL), ==, GAP_FEM_OK);
    munit_assert_int(f.unused, ==, 1);
    fixed[1] = 5;
    gap_fem_fix_unused(&f, fixed);
    munit_assert_int(fixed[5], ==, 7);
    munit_assert_int(fixed[1], ==, 5);
    munit_assert_int(fixed[0], ==, 0);
    /* inverted and NaN positions */
    memcpy(x, X, sizeof X);
    x[12] = x[13] = x[14] = -5;
    munit_assert_int(gap_fem_energy(&f, x, 0, 2, &e), ==, GAP_FEM_INVERTED);
    munit_assert_double(e, ==, HUGE_VAL);
    munit_assert_int(gap_fem_gradient(&f, x, 0, 2, g), ==, GAP_FEM_INVERTED);
    for (i = 12; i < 24; ++i) munit_assert_double(g[i], ==, 0);
    munit_assert_int(gap_fem_valid(&f, x, 0, 2, status, &bad), ==, GAP_FEM_INVERTED);
    munit_assert_int(bad, ==, 1);
    munit_assert_int(status[0], ==, 0);
    munit_assert_int(gap_fem_step(&f, x, X, 0, 2, 1.0, &t), ==, GAP_FEM_INVERTED);
    munit_assert_double(t, ==, 0);
    x[12] = NAN;
    munit_assert_int(gap_fem_energy(&f, x, 0, 2, &e), ==, GAP_FEM_INVERTED);
    munit_assert_int(gap_fem_valid(&f, x, 0, 2, NULL, NULL), ==, GAP_FEM_INVERTED);
    munit_assert_int(gap_fem_step(&f, X, x, 0, 2, 1.0, &t), ==, GAP_FEM_ENONFIN);
    munit_assert_int(gap_fem_step(&f, X, X, 0, 2, HUGE_VAL, &t), ==, GAP_FEM_ENONFIN);
    munit_assert_double(t, ==, 0);
    gap_fem_free(&f);
    fem_mesh_cube(&m, 3, 2, 1);
    for (k = 1; k < 100; ++k) {
        util_memory mem;

        memset(&mem, 0, sizeof mem);
        mem.fail_at = k;
        o.realloc_fn = util_realloc;
        o.realloc_user = &mem;
        i = gap_fem_init(&f, 3, 3, 2, m.nodes, m.x, m.elements, m.elem, &o);
        gap_fem_free(&f);
        munit_assert_size(mem.now, ==, 0);
        munit_assert_int(mem.wrong, ==, 0);
        if (i == GAP_FEM_OK) break;
        munit_assert_int(i, ==, GAP_FEM_ENOMEM);
    }
    munit_assert_long(k, >, 15);
    munit_assert_long(k, <, 100);
    fem_mesh_free(&m);
    return MUNIT_OK;
}

/* Boundary of a box: counts, each face once, outward (div theorem above), edges, neighbours. */
static MunitResult boundary(const MunitParameter params[], void *data)
{
    int p, i, j, k, inner;

    (void)params; (void)data;
    for (p = 1; p <= 4; ++p) {
        fem_mesh m;
        gap_fem f;

        fem_mesh_cube(&m, 3, 1, 3);
        gap_fem_init(&f, 3, p, 1, m.nodes, m.x, m.elements, m.elem, NULL);
        munit_assert_int(f.facets, ==, 6 * 9 * 2);
        munit_assert_int(f.edges, ==, 3 * f.facets / 2);
        munit_assert_int(f.nodes, ==, (3 * p + 1) * (3 * p + 1) * (3 * p + 1));
        for (inner = i = 0; i < f.elements; ++i)
            for (j = 0; j < 4; ++j) {
                int n = f.neighbor[4 * i + j];
                if (n < 0) continue;
                ++inner;
                for (k = 0; k < 4 && f.neighbor[4 * n + k] != i; ++k) continue;
                munit_assert_int(k, <, 4);
            }
        munit_assert_int(inner + f.facets, ==, 4 * f.elements);
        for (i = 0; i < f.facets; ++i) /* all nodes of a facet lie on one side of the cube */
            for (j = 0, k = 0; j < 3; ++j) {
                int a, lo = 1, hi = 1;
                for (a = 0; a < f.per_facet; ++a) {
                    double v = f.rest[3 * f.facet_node[i * f.per_facet + a] + j];
                    lo = lo && v == 0;
                    hi = hi && v == 1;
                }
                k += lo || hi;
                if (j == 2) munit_assert_int(k, >=, 1);
            }
        gap_fem_free(&f);
        fem_mesh_free(&m);
    }
    return MUNIT_OK;
}

/* Cauchy stress, F, J of a uniform stretch; positions of probes on a curved element. */
static MunitResult probe(const MunitParameter params[], void *data)
{
    int p, i, j;

    (void)params; (void)data;
    for (p = 1; p <= 4; ++p) {
        fem_mesh m;
        gap_fem f;
        double *x, xi[6] = {0.1, 0.2, 0.3, 0.5, 0.25, 0.125}, pos[6], F[18], J[2], s[18], la, mu, l;

        fem_mesh_cube(&m, 3, p, 1);
        if (p > 1) fem_mesh_bend(&m, 0.05);
        gap_fem_init(&f, 3, p, p, m.nodes, m.x, m.elements, m.elem, NULL);
        gap_fem_uniform(&f, 10, 0.25, 1);
        gap_elastic_lame(10, 0.25, 0, &la, &mu);
        x = (double *)munit_malloc(sizeof(double) * (size_t)(3 * f.nodes));
        for (i = 0; i < 3 * f.nodes; ++i) x[i] = f.rest[i] * (i % 3 ? 1 : 1.5) + 2;
        munit_assert_int(gap_fem_probe(&f, x, 3, 4, 2, xi, pos, F, J, s), ==, 0);
        l = log(1.5);
        for (i = 0; i < 2; ++i) {
            util_assert_rel(J[i], 1.5, 1e-13);
            for (j = 0; j < 9; ++j)
                munit_assert_double(fabs(F[9 * i + j] - (j % 4 ? 0 : j ? 1 : 1.5)), <, 1e-13);
            util_assert_rel(s[9 * i], (mu * (1.5 - 1 / 1.5) + la * l / 1.5), 1e-12);
            util_assert_rel(s[9 * i + 4], la * l / 1.5, 1e-12);
            for (j = 0; j < 3; ++j) {
                double want[6];
                gap_fem_probe(&f, f.rest, 3, 4, 2, xi, want, NULL, NULL, NULL);
                util_assert_rel(pos[3 * i + j], want[3 * i + j] * (j ? 1 : 1.5) + 2, 1e-13);
            }
        }
        free(x);
        gap_fem_free(&f);
        fem_mesh_free(&m);
    }
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/quick_start", quick_start, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/finite_differences", finite_differences, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/linear_path", linear_path, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/patch", patch, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/mass_and_loads", mass_and_loads, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/pressure_derivatives", pressure_derivatives, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/validity", validity, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/step_curved", step_curved, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/step_linear", step_linear, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/edge/bad_input", bad_input, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/boundary", boundary, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/probe", probe, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/fem", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
