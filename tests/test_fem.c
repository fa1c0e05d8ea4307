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

static MunitTest tests[] = {
    {"/quick_start", quick_start, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/finite_differences", finite_differences, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/linear_path", linear_path, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/patch", patch, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/mass_and_loads", mass_and_loads, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/pressure_derivatives", pressure_derivatives, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/fem", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
