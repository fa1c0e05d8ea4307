/* Tests of fem/gap_basis.h: explicit node tables, polynomials as the oracle of values, gradients
   and quadrature, known integrals of the basis functions. */
#define GAP_BASIS_IMPLEMENTATION
#include "gap_basis.h"
#include "util.h"

static MunitResult quick_start(const MunitParameter params[], void *data)
{
    double xi[3] = {0.25, 0.25, 0.25}, phi[10];

    (void)params; (void)data;
    munit_assert_int(gap_basis_eval(3, 2, 1, xi, phi, NULL), ==, 10);
    munit_assert_double_equal(phi[0], -0.125, 14);
    munit_assert_double_equal(phi[4], 0.25, 14);
    munit_assert_int(gap_basis_quadrature(3, 4, 0, NULL, NULL), ==, 15);
    return MUNIT_OK;
}

/* Checks the lattice against a table written out by hand. */
static void check_table(int dim, int order, int vtk, const char *table)
{
    int index[4 * GAP_BASIS_MAX_NODES], perm[GAP_BASIS_MAX_NODES], n, a, k;

    n = gap_basis_nodes(dim, order, index);
    munit_assert_int(gap_basis_vtk(dim, order, perm), ==, n);
    for (a = 0; a < n; ++a) {
        for (k = 0; k <= dim; ++k, ++table) {
            while (*table == ' ') ++table;
            munit_assert_int(*table - '0', ==, index[(vtk ? perm[a] : a) * (dim + 1) + k]);
        }
        munit_assert_int(gap_basis_find(dim, order, index + a * (dim + 1)), ==, a);
    }
    munit_assert_char(*table, ==, '\0');
}

static MunitResult node_order(const MunitParameter params[], void *data)
{
    (void)params; (void)data;
    check_table(1, 3, 0, "30 03 21 12");
    check_table(2, 1, 0, "100 010 001");
    check_table(2, 2, 0, "200 020 002 110 011 101");
    check_table(2, 3, 0, "300 030 003 210 120 021 012 102 201 111");
    check_table(2, 4, 0,
        "400 040 004 310 220 130 031 022 013 103 202 301 211 121 112");
    check_table(3, 2, 0, "2000 0200 0020 0002 1100 0110 1010 1001 0011 0101");
    check_table(3, 3, 0, "3000 0300 0030 0003 2100 1200 0210 0120 1020 2010 1002 2001 0012 0021"
        " 0102 0201 1110 1101 1011 0111");
    check_table(3, 4, 0, "4000 0400 0040 0004 3100 2200 1300 0310 0220 0130 1030 2020 3010 1003"
        " 2002 3001 0013 0022 0031 0103 0202 0301 2110 1120 1210 2101 1201 1102 2011 1012 1021"
        " 0112 0211 0121 1111");
    check_table(2, 4, 1,
        "400 040 004 310 220 130 031 022 013 103 202 301 211 121 112");
    check_table(3, 2, 1, "2000 0200 0020 0002 1100 0110 1010 1001 0101 0011");
    check_table(3, 3, 1, "3000 0300 0030 0003 2100 1200 0210 0120 1020 2010 2001 1002 0201 0102"
        " 0021 0012 1101 0111 1011 1110");
    check_table(3, 4, 1, "4000 0400 0040 0004 3100 2200 1300 0310 0220 0130 1030 2020 3010 3001"
        " 2002 1003 0301 0202 0103 0031 0022 0013 2101 1201 1102 0121 0112 0211 2011 1012 1021"
        " 2110 1120 1210 1111");
    return MUNIT_OK;
}

/* sum over i+j+k <= degree of c x^i y^j z^k with coefficients that depend on (i,j,k). */
static double poly(int dim, int degree, const double *x, double *grad)
{
    double v = 0, c, m[3], p[3];
    int e[3], k;

    for (k = 0; k < dim; ++k) grad[k] = 0;
    for (e[0] = 0; e[0] <= degree; ++e[0])
        for (e[1] = 0; e[1] <= (dim > 1 ? degree - e[0] : 0); ++e[1])
            for (e[2] = 0; e[2] <= (dim > 2 ? degree - e[0] - e[1] : 0); ++e[2]) {
                c = sin(1.0 + 3 * e[0] + 7 * e[1] + 11 * e[2]);
                for (k = 0; k < dim; ++k) {
                    m[k] = pow(x[k], e[k]);
                    p[k] = e[k] ? e[k] * pow(x[k], e[k] - 1) : 0.0;
                }
                for (k = dim; k < 3; ++k) m[k] = 1;
                v += c * m[0] * m[1] * m[2];
                for (k = 0; k < dim; ++k)
                    grad[k] += c * p[k] * m[(k + 1) % 3] * m[(k + 2) % 3];
            }
    return v;
}

static MunitResult reproduces_polynomials(const MunitParameter params[], void *data)
{
    int index[4 * GAP_BASIS_MAX_NODES], dim, order, n, a, b, j, it;
    double node[3 * GAP_BASIS_MAX_NODES], phi[GAP_BASIS_MAX_NODES], g[3 * GAP_BASIS_MAX_NODES];
    double val[GAP_BASIS_MAX_NODES], dummy[3], exact, grad[3], x[3], s, d[3], one, tol;

    (void)params; (void)data;
    for (dim = 1; dim <= 3; ++dim) {
        for (order = 1; order <= 8; ++order) {
            n = gap_basis_nodes(dim, order, index);
            for (a = 0; a < n; ++a) {
                for (j = 0; j < dim; ++j)
                    node[a * dim + j] = (double)index[a * (dim + 1) + j + 1] / order;
                val[a] = poly(dim, order, node + a * dim, dummy);
            }
            for (a = 0; a < n; ++a) {
                gap_basis_eval(dim, order, 1, node + a * dim, phi, NULL);
                for (b = 0; b < n; ++b) munit_assert_double(fabs(phi[b] - (a == b)), <, 1e-13);
            }
            tol = order <= 4 ? 1e-13 : 1e-11; /* the sum of |phi| grows with the order */
            for (it = 0; it < 50; ++it) {
                for (j = 0; j < dim; ++j) x[j] = munit_rand_double();
                gap_basis_eval(dim, order, 1, x, phi, g);
                exact = poly(dim, order, x, grad);
                for (s = one = 0, j = 0; j < 3; ++j) d[j] = 0;
                for (a = 0; a < n; ++a) {
                    s += phi[a] * val[a];
                    one += phi[a];
                    for (j = 0; j < dim; ++j) d[j] += g[a * dim + j] * val[a];
                }
                for (b = 0, exact -= s, s = 1; b < n; ++b) s += fabs(phi[b]);
                munit_assert_double(fabs(exact), <, tol * s);
                munit_assert_double(fabs(one - 1), <, tol * s);
                for (j = 0; j < dim; ++j) {
                    for (s = 1, b = 0; b < n; ++b) s += fabs(g[b * dim + j]);
                    munit_assert_double(fabs(d[j] - grad[j]), <, tol * s);
                }
            }
        }
    }
    return MUNIT_OK;
}

static double factorial(int n)
{
    double f = 1;
    for (; n > 1; --n) f *= n;
    return f;
}

/* Largest relative error over all monomials of exactly this degree. */
static double monomial_error(int dim, int degree, int n, const double *xi, const double *w)
{
    double worst = 0, exact, s, m;
    int i, j, k, a;

    for (i = 0; i <= degree; ++i)
        for (j = 0; j <= (dim > 1 ? degree - i : 0); ++j) {
            k = dim > 2 ? degree - i - j : 0;
            if (i + j + k != degree) continue;
            exact = factorial(i) * factorial(j) * factorial(k) / factorial(degree + dim);
            for (s = 0, a = 0; a < n; ++a) {
                m = pow(xi[a * dim], i);
                if (dim > 1) m *= pow(xi[a * dim + 1], j);
                if (dim > 2) m *= pow(xi[a * dim + 2], k);
                s += w[a] * m;
            }
            worst = fmax(worst, fabs(s - exact) / exact);
        }
    return worst;
}

static MunitResult quadrature_is_exact(const MunitParameter params[], void *data)
{
    static double xi[3 * 4096], w[4096];
    double l;
    int dim, degree, n, d, a, j;

    (void)params; (void)data;
    for (dim = 1; dim <= 3; ++dim) {
        for (degree = 0; degree <= 30; ++degree) {
            n = gap_basis_quadrature(dim, degree, 4096, xi, w);
            munit_assert_int(n, >, 0);
            munit_assert_int(n, <=, 4096);
            for (a = 0; a < n; ++a) {
                munit_assert_double(w[a], >, 0);
                for (l = 1, j = 0; j < dim; ++j) {
                    munit_assert_double(xi[a * dim + j], >, 0);
                    l -= xi[a * dim + j];
                }
                munit_assert_double(l, >, 0);
            }
            for (d = 0; d <= degree; ++d)
                munit_assert_double(monomial_error(dim, d, n, xi, w), <, 1e-14 * (d + 2));
        }
        for (degree = 1; degree <= 11; degree += 2) { /* and not by accident: the next one fails */
            n = gap_basis_quadrature(dim, degree, 4096, xi, w);
            munit_assert_double(monomial_error(dim, degree + 1, n, xi, w), >, 1e-9);
        }
        for (j = 1; j <= 10; ++j) {
            n = gap_basis_collapsed(dim, j, 4096, xi, w);
            for (d = 0; d <= 2 * j - dim; ++d)
                munit_assert_double(monomial_error(dim, d, n, xi, w), <, 1e-13);
            munit_assert_double(monomial_error(dim, 2 * j - dim + 1, n, xi, w), >, 1e-14);
        }
    }
    return MUNIT_OK;
}

/* Integrals of phi and of phi_0^2, relative to the measure (specs: row sums and mass). */
static MunitResult known_integrals(const MunitParameter params[], void *data)
{
    static const double tri[5][4] = {{0, 0, 0, 0}, {1.0 / 3, 0, 0, 0}, {0, 1.0 / 3, 0, 0},
        {1.0 / 30, 3.0 / 40, 3.0 / 40, 9.0 / 20}, {0, 4.0 / 45, -1.0 / 45, 8.0 / 45}};
    static const double tet[5][5] = {{0, 0, 0, 0, 0}, {0.25, 0, 0, 0, 0}, {-0.05, 0.2, 0, 0, 0},
        {1.0 / 40, 0, 0, 9.0 / 40, 0}, {-1.0 / 84, 4.0 / 105, -1.0 / 35, 4.0 / 105, 32.0 / 105}};
    static const double m00[2][5] = {{0, 1.0 / 6, 1.0 / 30, 19.0 / 1680, 29.0 / 5670},
        {0, 0.1, 1.0 / 70, 1.0 / 280, 5.0 / 4158}};
    static double xi[3 * 200], w[200], phi[200 * 35];
    int index[4 * 35], dim, p, n, nq, a, k, q, zeros, big;
    double s, want;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim) {
        for (p = 1; p <= 4; ++p) {
            nq = gap_basis_quadrature(dim, 2 * p, 200, xi, w);
            n = gap_basis_eval(dim, p, nq, xi, phi, NULL);
            gap_basis_nodes(dim, p, index);
            for (a = 0; a < n; ++a) {
                for (zeros = big = k = 0; k <= dim; ++k) {
                    zeros += index[a * (dim + 1) + k] == 0;
                    if (index[a * (dim + 1) + k] > big) big = index[a * (dim + 1) + k];
                }
                if (zeros == dim) k = 0;
                else if (zeros == dim - 1) k = p == 4 && big == 2 ? 2 : 1;
                else k = dim == 3 && zeros == 0 ? 4 : 3;
                want = dim == 2 ? tri[p][k] : tet[p][k];
                for (s = 0, q = 0; q < nq; ++q) s += w[q] * phi[q * n + a];
                munit_assert_double(fabs(s * factorial(dim) - want), <, 1e-14);
            }
            for (s = 0, q = 0; q < nq; ++q) s += w[q] * phi[q * n] * phi[q * n];
            util_assert_rel(s * factorial(dim), m00[dim - 2][p], 1e-13);
        }
    }
    return MUNIT_OK;
}

static MunitResult edge_cases(const MunitParameter params[], void *data)
{
    double xi[3] = {9, 9, 9}, w[1] = {9}, phi[4] = {9, 9, 9, 9};
    int idx[4] = {1, 1, 0, 0}, perm[4];

    (void)params; (void)data;
    munit_assert_int(gap_basis_count(0, 1), ==, GAP_BASIS_EINPUT);
    munit_assert_int(gap_basis_count(3, 9), ==, GAP_BASIS_EINPUT);
    munit_assert_int(gap_basis_count(3, 8), ==, GAP_BASIS_MAX_NODES);
    munit_assert_int(gap_basis_nodes(3, 0, idx), ==, GAP_BASIS_EINPUT);
    munit_assert_int(gap_basis_vtk(4, 1, perm), ==, GAP_BASIS_EINPUT);
    munit_assert_int(gap_basis_eval(3, -1, 1, xi, phi, NULL), ==, GAP_BASIS_EINPUT);
    munit_assert_int(gap_basis_find(3, 1, idx), ==, -1);
    munit_assert_int(gap_basis_find(3, 2, idx), ==, 4);
    munit_assert_int(gap_basis_quadrature(3, 128, 0, NULL, NULL), ==, GAP_BASIS_ESIZE);
    munit_assert_int(gap_basis_quadrature(5, 1, 0, NULL, NULL), ==, GAP_BASIS_EINPUT);
    munit_assert_int(gap_basis_quadrature(2, -7, 1, xi, w), ==, 1);
    munit_assert_double(w[0], ==, 0.5);
    w[0] = 9;
    munit_assert_int(gap_basis_quadrature(3, 6, 1, xi, w), ==, 64);
    munit_assert_double(w[0], ==, 9);
    munit_assert_int(gap_basis_collapsed(3, 65, 1, xi, w), ==, GAP_BASIS_ESIZE);
    munit_assert_int(gap_basis_collapsed(3, 2000000000, 1, xi, w), ==, GAP_BASIS_ESIZE);
    munit_assert_int(gap_basis_collapsed(3, 0, 1, xi, w), ==, GAP_BASIS_EINPUT);
    munit_assert_int(gap_basis_collapsed(3, 2, 1, xi, w), ==, 8);
    munit_assert_int(gap_basis_eval(2, 1, 0, NULL, NULL, NULL), ==, 3);
    xi[0] = 2; xi[1] = -1;
    gap_basis_eval(2, 1, 1, xi, phi, NULL);
    munit_assert_double(phi[0], ==, 0);
    munit_assert_double(phi[1], ==, 2);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/quick_start", quick_start, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/node_order", node_order, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/reproduces_polynomials", reproduces_polynomials, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/quadrature_is_exact", quadrature_is_exact, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/known_integrals", known_integrals, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/edge/cases", edge_cases, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/basis", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
