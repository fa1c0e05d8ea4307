/* Tests of fem/gap_proxy.h: published counts, the parent element's own map as the oracle of
   positions, dense products as the oracle of the pull-back. */
#define GAP_BASIS_STATIC
#include "gap_basis.h"
#define GAP_FEM_STATIC
#include "gap_fem.h"
#define GAP_PROXY_IMPLEMENTATION
#include "gap_proxy.h"
#include "fem_mesh.h"
#include "mesh.h"

static int of_fem(gap_proxy *s, const gap_fem *f, int segments)
{
    gap_proxy_options o;

    memset(&o, 0, sizeof o);
    o.segments = segments;
    return gap_proxy_init(s, f->dim, f->elements, f->order, f->nodes, f->rest, f->node, f->geometry,
        f->geo_x, f->geo_node, &o);
}

static MunitResult quick_start(const MunitParameter params[], void *data)
{
    double X[12] = {0, 0, 1, 0, 0, 1, 0.7, 0.7, 0, 0.5, 0.5, 0};
    int tri[6] = {0, 1, 2, 5, 3, 4}, i;
    gap_proxy s;
    gap_proxy_options o = {4, NULL, NULL};

    (void)params; (void)data;
    munit_assert_int(gap_proxy_init(&s, 2, 1, 2, 6, X, tri, 2, X, tri, &o), ==, 0);
    munit_assert_int(s.vertices, ==, 12);
    munit_assert_int(s.edges, ==, 12);
    munit_assert_int(s.points, ==, 12);
    for (i = 0; i < 12; ++i) munit_assert_double(s.rest[2 * i], >=, 0);
    gap_proxy_free(&s);
    return MUNIT_OK;
}

/* The published ball of order p: 30 tets, 30 facets; conformity by integer keys. */
static MunitResult ball(const MunitParameter params[], void *data)
{
    static const int nodes[5] = {0, 18, 80, 217, 459};
    /* the P2 file was optimised: its edge nodes are off the sphere by up to 0.64 % */
    static const double off[5] = {0, 1e-12, 6.4e-3, 1e-12, 1e-12};
    char path[64];
    int p, i, j, *to, *from;

    (void)params; (void)data;
    for (p = 1; p <= 4; ++p) {
        mesh m;
        mesh_error error;
        gap_fem f, g;
        gap_proxy s;
        int corner[4 * 30], k;
        double r, r0, sum, worst = 0;

        sprintf(path, "../shared/data/meshes/ball/P%d.msh", p);
        if (!mesh_read(path, &m, &error)) return MUNIT_SKIP;
        munit_assert_int(m.order, ==, p);
        munit_assert_int(m.tets, ==, 30);
        k = mesh_tet_nodes(p);
        munit_assert_int(gap_fem_init(&f, 3, p, p, m.nodes, m.x, m.tets, m.tet, NULL), ==, 0);
        munit_assert_int(f.nodes - f.unused, ==, nodes[p]);
        munit_assert_int(f.facets, ==, 30);
        munit_assert_int(gap_fem_valid(&f, NULL, 0, 30, NULL, NULL), ==, GAP_FEM_OK);
        /* shared faces conform: our numbering by keys and the file's are one to one */
        for (i = 0; i < 30; ++i)
            for (j = 0; j < 4; ++j) corner[4 * i + j] = m.tet[k * i + j];
        munit_assert_int(gap_fem_init(&g, 3, p, 1, m.nodes, m.x, 30, corner, NULL), ==, 0);
        if (p > 1) munit_assert_int(g.nodes, ==, nodes[p]);
        to = (int *)munit_malloc(sizeof(int) * (size_t)g.nodes);
        from = (int *)munit_malloc(sizeof(int) * (size_t)m.nodes);
        for (i = 0; i < g.nodes; ++i) to[i] = -1;
        for (i = 0; i < m.nodes; ++i) from[i] = -1;
        for (i = 0; i < 30 * k; ++i) {
            munit_assert_true(to[g.node[i]] < 0 || to[g.node[i]] == m.tet[i]);
            munit_assert_true(from[m.tet[i]] < 0 || from[m.tet[i]] == g.node[i]);
            to[g.node[i]] = m.tet[i];
            from[m.tet[i]] = g.node[i];
        }
        /* boundary nodes lie on the sphere */
        r0 = sqrt(m.x[3 * f.facet_node[0]] * m.x[3 * f.facet_node[0]]
            + m.x[3 * f.facet_node[0] + 1] * m.x[3 * f.facet_node[0] + 1]
            + m.x[3 * f.facet_node[0] + 2] * m.x[3 * f.facet_node[0] + 2]);
        for (i = 0; i < f.facets * f.per_facet; ++i) {
            const double *x = m.x + 3 * f.facet_node[i];
            r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
            munit_assert_double(fabs(r / r0 - 1), <, off[p]);
        }
        munit_assert_int(of_fem(&s, &f, 9), ==, 0);
        munit_assert_int(s.vertices, ==, 1217);
        munit_assert_int(s.triangles, ==, 2430);
        munit_assert_int(s.vertices - s.edges + s.triangles, ==, 2);
        for (i = 0; i < s.vertices; ++i) {
            const double *x = s.rest + 3 * i;
            r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
            worst = fmax(worst, fabs(r / r0 - 1));
            for (sum = 0, j = s.ptr[i]; j < s.ptr[i + 1]; ++j) sum += s.weight[j];
            munit_assert_double(fabs(sum - 1), <, 1e-14);
        }
        munit_logf(MUNIT_LOG_INFO, "P%d: proxy off the sphere by at most %.2g radii", p, worst);
        if (p > 1) munit_assert_double(worst, <, p == 2 ? 0.05 : p == 3 ? 0.02 : 0.01);
        free(to); free(from);
        gap_proxy_free(&s);
        gap_fem_free(&f);
        gap_fem_free(&g);
        mesh_free(&m);
    }
    return MUNIT_OK;
}

/* Positions of the sampled vertices against the parent element's map (gap_fem_probe) at the same
   reference points, at rest and deformed, for all orders. */
static MunitResult positions(const MunitParameter params[], void *data)
{
    int dim, p, q, i, j, k, c, t;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim)
        for (p = 1; p <= 4; ++p)
            for (q = 1; q <= 4; ++q) {
                static const int tet[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {3, 1, 2}};
                static const int tri[3][2] = {{0, 1}, {1, 2}, {2, 0}};
                fem_mesh m;
                gap_fem f;
                gap_proxy s;
                double *x, *xs, xi[3], want[3];
                int n = 3, per, pieces;

                fem_mesh_cube(&m, dim, q, 1);
                if (q > 1) fem_mesh_bend(&m, 0.08);
                gap_fem_init(&f, dim, p, q, m.nodes, m.x, m.elements, m.elem, NULL);
                munit_assert_int(of_fem(&s, &f, n), ==, 0);
                x = (double *)munit_malloc(sizeof(double) * (size_t)(f.nodes * dim));
                xs = (double *)munit_malloc(sizeof(double) * (size_t)(s.vertices * dim));
                pieces = dim == 3 ? s.triangles : s.edges;
                per = dim == 3 ? n * n : n;
                munit_assert_int(pieces, ==, per * f.facets);
                if (dim == 3) munit_assert_int(s.vertices - s.edges + s.triangles, ==, 2);
                else munit_assert_int(s.vertices, ==, s.edges);
                for (t = 0; t < 2; ++t) {
                    for (i = 0; i < f.nodes * dim; ++i)
                        x[i] = f.rest[i] + t * util_uniform(-0.1, 0.1);
                    gap_proxy_apply(&s, x, 0, 0, s.vertices, xs);
                    if (t == 0)
                        munit_assert_double(util_rel_array(xs, s.rest,
                            (size_t)(s.vertices * dim), 1), <, p < q ? 1e-15 : 0x1p-1074);
                    for (i = 0; i < pieces; ++i) {
                        int piece = i % per, row, col, flip, e = s.facet[2 * i];
                        int face = s.facet[2 * i + 1], id[3], at[3][3];
                        /* the piece's corners in the facet's lattice, counted as rows */
                        for (row = 0; dim == 3 && piece >= 2 * (n - row) - 1; ++row)
                            piece -= 2 * (n - row) - 1;
                        col = dim == 3 ? piece / 2 : piece;
                        flip = dim == 3 ? piece % 2 : 0;
                        if (dim == 2) row = 0;
                        at[0][1] = col + flip; at[0][2] = row;
                        at[1][1] = col + 1; at[1][2] = row + flip;
                        at[2][1] = col; at[2][2] = row + 1;
                        for (j = 0; j < dim; ++j) {
                            id[j] = (dim == 3 ? s.tri : s.edge)[dim * i + j];
                            at[j][0] = n - at[j][1] - (dim == 3 ? at[j][2] : 0);
                            for (c = 0; c < dim; ++c) {
                                xi[c] = 0;
                                for (k = 0; k < dim; ++k)
                                    if ((dim == 3 ? tet[face][k] : tri[face][k]) == c + 1)
                                        xi[c] += (double)at[j][k] / n;
                            }
                            gap_fem_probe(&f, x, e, e + 1, 1, xi, want, NULL, NULL, NULL);
                            for (c = 0; c < dim; ++c)
                                munit_assert_double(fabs(want[c] - xs[id[j] * dim + c]), <, 1e-13);
                        }
                    }
                }
                free(x); free(xs);
                gap_proxy_free(&s);
                gap_fem_free(&f);
                fem_mesh_free(&m);
            }
    return MUNIT_OK;
}

/* W^T g and W^T H W of random stencils against dense products; sums and torque survive. */
static MunitResult pull_back(const MunitParameter params[], void *data)
{
    int dim, p, i, j, a, b, c, it;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim)
        for (p = 1; p <= 4; ++p) {
            fem_mesh m;
            gap_fem f;
            gap_proxy s;
            int vert[4], width, out[60], k, n, wide;
            double g[12], H[144], *W, og[180], *oh, *dense, f0[3], f1[3], t0, t1, *gs, *gn;

            fem_mesh_cube(&m, dim, p, 2);
            if (p > 1) fem_mesh_bend(&m, 0.05);
            gap_fem_init(&f, dim, p, p, m.nodes, m.x, m.elements, m.elem, NULL);
            of_fem(&s, &f, p + 1);
            munit_assert_false(s.identity);
            n = f.nodes * dim;
            W = (double *)munit_malloc(sizeof(double) * (size_t)(12 * n));
            dense = (double *)munit_malloc(sizeof(double) * (size_t)(12 * n));
            oh = (double *)munit_malloc(sizeof(double) * 180 * 180);
            for (it = 0; it < 20; ++it) {
                for (k = 0; k < 4; ++k) vert[k] = munit_rand_int_range(0, s.vertices - 1);
                if (it % 3 == 0) vert[3] = -1;
                if (it % 5 == 0) vert[1] = vert[0] + 1 < s.vertices ? vert[0] + 1 : 0;
                width = gap_proxy_width(&s, 1, 4, vert);
                wide = width * dim;
                for (i = 0; i < 12; ++i) g[i] = util_uniform(-1, 1);
                for (i = 0; i < 4 * dim; ++i)
                    for (j = 0; j <= i; ++j)
                        H[i * 4 * dim + j] = H[j * 4 * dim + i] = util_uniform(-1, 1);
                munit_assert_int(gap_proxy_pull(&s, 1, 4, vert, g, H, width, out, og, oh), ==, 0);
                memset(W, 0, sizeof(double) * (size_t)(12 * n));
                for (k = 0; k < 4; ++k)
                    for (a = vert[k] < 0 ? 0 : s.ptr[vert[k]];
                        vert[k] >= 0 && a < s.ptr[vert[k] + 1]; ++a)
                        for (c = 0; c < dim; ++c)
                            W[(k * dim + c) * n + s.node[a] * dim + c] = s.weight[a];
                for (i = 0; i < 4 * dim; ++i)
                    for (j = 0; j < n; ++j)
                        for (dense[i * n + j] = 0, k = 0; k < 4 * dim; ++k)
                            dense[i * n + j] += H[i * 4 * dim + k] * W[k * n + j];
                for (a = 0; a < width; ++a) {
                    if (out[a] < 0) {
                        for (i = 0; i < wide * dim; ++i)
                            munit_assert_double(oh[a * dim * wide + i], ==, 0);
                        continue;
                    }
                    for (c = 0; c < dim; ++c) {
                        double v = 0, h;
                        for (k = 0; k < 4 * dim; ++k) v += W[k * n + out[a] * dim + c] * g[k];
                        munit_assert_double(fabs(v - og[a * dim + c]), <, 1e-13);
                        for (b = 0; b < wide; ++b) {
                            if (out[b / dim] < 0) continue;
                            for (h = 0, k = 0; k < 4 * dim; ++k)
                                h += W[k * n + out[a] * dim + c]
                                    * dense[k * n + out[b / dim] * dim + b % dim];
                            munit_assert_double(fabs(h - oh[(a * dim + c) * wide + b]), <, 1e-13);
                        }
                    }
                }
                if (width > 4)
                    munit_assert_int(gap_proxy_pull(&s, 1, 4, vert, g, H, width - 1, out, og, oh),
                        ==, GAP_PROXY_EINPUT);
            }
            gs = (double *)munit_malloc(sizeof(double) * (size_t)(s.vertices * dim));
            gn = (double *)munit_malloc(sizeof(double) * (size_t)n);
            memset(gn, 0, sizeof(double) * (size_t)n);
            memset(f0, 0, sizeof f0);
            memset(f1, 0, sizeof f1);
            t0 = t1 = 0;
            for (i = 0; i < s.vertices * dim; ++i) {
                gs[i] = util_uniform(-1, 1);
                f0[i % dim] += gs[i];
            }
            gap_proxy_pull_vector(&s, gs, gn);
            for (i = 0; i < n; ++i) f1[i % dim] += gn[i];
            for (i = 0; i < s.vertices; ++i)
                t0 += s.rest[i * dim] * gs[i * dim + 1] - s.rest[i * dim + 1] * gs[i * dim];
            for (i = 0; i < f.nodes; ++i)
                t1 += f.rest[i * dim] * gn[i * dim + 1] - f.rest[i * dim + 1] * gn[i * dim];
            for (c = 0; c < dim; ++c) munit_assert_double(fabs(f0[c] - f1[c]), <, 1e-12);
            munit_assert_double(fabs(t0 - t1), <, 1e-11);
            free(W); free(dense); free(oh); free(gs); free(gn);
            gap_proxy_free(&s);
            gap_fem_free(&f);
            fem_mesh_free(&m);
        }
    return MUNIT_OK;
}

static MunitResult identity(const MunitParameter params[], void *data)
{
    int dim, i;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim) {
        fem_mesh m;
        gap_fem f;
        gap_proxy s;
        double *x, *y;
        size_t bytes;

        fem_mesh_cube(&m, dim, 1, 3);
        gap_fem_init(&f, dim, 1, 1, m.nodes, m.x, m.elements, m.elem, NULL);
        munit_assert_int(of_fem(&s, &f, 0), ==, 0);
        munit_assert_true(s.identity);
        munit_assert_int(s.vertices, ==, f.nodes);
        bytes = sizeof(double) * (size_t)(f.nodes * dim);
        x = (double *)munit_malloc(bytes);
        y = (double *)munit_malloc(bytes);
        for (i = 0; i < f.nodes * dim; ++i) x[i] = util_uniform(-1e3, 1e3);
        gap_proxy_apply(&s, x, 0, 0, s.vertices, y);
        munit_assert_memory_equal(bytes, x, y);
        munit_assert_int(s.points, ==, dim == 2 ? 12 : 56);
        munit_assert_memory_equal(sizeof(int) * (size_t)(f.facets * dim),
            dim == 3 ? s.tri : s.edge, f.facet_node);
        free(x); free(y);
        gap_proxy_free(&s);
        /* p = 1 with two segments: a finer surface of the same shape */
        munit_assert_int(of_fem(&s, &f, 2), ==, 0);
        munit_assert_false(s.identity);
        gap_proxy_free(&s);
        gap_fem_free(&f);
        fem_mesh_free(&m);
    }
    return MUNIT_OK;
}

static MunitResult bad_input(const MunitParameter params[], void *data)
{
    int tri[9] = {0, 1, 2, 1, 0, 3, 0, 1, 4}, wrong[3] = {0, 1, 9};
    double X[10] = {0, 0, 1, 0, 0, 1, 0, -1, 1, 1};
    gap_proxy s;
    gap_proxy_options o;
    fem_mesh m;
    gap_fem f;
    long k;

    (void)params; (void)data;
    memset(&o, 0, sizeof o);
    munit_assert_int(gap_proxy_init(&s, 2, 3, 1, 5, X, tri, 1, X, tri, NULL), ==,
        GAP_PROXY_EINPUT);
    munit_assert_int(s.bad, ==, 2);
    munit_assert_int(gap_proxy_init(&s, 2, 1, 1, 5, X, wrong, 1, X, wrong, NULL), ==,
        GAP_PROXY_EINDEX);
    munit_assert_int(s.bad, ==, 0);
    munit_assert_int(gap_proxy_init(&s, 4, 1, 1, 5, X, tri, 1, X, tri, NULL), ==,
        GAP_PROXY_EINPUT);
    o.segments = 65;
    munit_assert_int(gap_proxy_init(&s, 2, 1, 1, 5, X, tri, 1, X, tri, &o), ==, GAP_PROXY_ESIZE);
    munit_assert_int(gap_proxy_init(&s, 3, 0, 2, 0, NULL, NULL, 2, NULL, NULL, NULL), ==, 0);
    munit_assert_int(s.vertices, ==, 0);
    gap_proxy_free(&s);
    fem_mesh_cube(&m, 3, 2, 1);
    gap_fem_init(&f, 3, 1, 2, m.nodes, m.x, m.elements, m.elem, NULL);
    for (k = 1; k < 100; ++k) { /* the k-th allocation fails */
        util_memory mem;
        int status;

        memset(&mem, 0, sizeof mem);
        mem.fail_at = k;
        o.segments = 3;
        o.realloc_fn = util_realloc;
        o.realloc_user = &mem;
        status = gap_proxy_init(&s, 3, f.elements, f.order, f.nodes, f.rest, f.node, f.geometry,
            f.geo_x, f.geo_node, &o);
        gap_proxy_free(&s);
        munit_assert_size(mem.now, ==, 0);
        munit_assert_int(mem.wrong, ==, 0);
        if (status == GAP_PROXY_OK) break;
        munit_assert_int(status, ==, GAP_PROXY_ENOMEM);
    }
    munit_assert_long(k, >, 5);
    munit_assert_long(k, <, 100);
    gap_fem_free(&f);
    fem_mesh_free(&m);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/quick_start", quick_start, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/ball", ball, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/positions", positions, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/pull_back", pull_back, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/identity", identity, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/edge/bad_input", bad_input, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/proxy", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
