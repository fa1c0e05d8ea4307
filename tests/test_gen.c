/* test_gen.c - generated meshes: volumes, closed surfaces, curved boundaries, no intersections */
#define GAP_EXACT_STATIC
#include "gap_exact.h"
#define GAP_BASIS_STATIC
#include "gap_basis.h"

#include "gen.h"
#include "util.h"

static void make(const char *text, mesh *m)
{
    json_error je;
    mesh_error e;
    json *spec = json_parse(text, strlen(text), &je);
    munit_assert_not_null(spec);
    if (!gen_make(spec, m, &e)) munit_errorf("%s: line %d: %s", text, e.line, e.text);
    json_free(spec);
}

/* Volume by quadrature of det J, and the least det J at its points. */
static double volume(const mesh *m, double *least)
{
    double xi[3 * 200], w[200], dphi[200 * 35 * 3], sum = 0.0;
    int p = m->order, n = mesh_tet_nodes(p), q, i, j, a, b, k;
    q = gap_basis_quadrature(3, 3 * p - 3 > 1 ? 3 * p - 3 : 1, 200, xi, w);
    munit_assert_int(q, <=, 200);
    gap_basis_eval(3, p, q, xi, NULL, dphi);
    *least = HUGE_VAL;
    for (i = 0; i < m->tets; ++i) for (j = 0; j < q; ++j) {
        double J[3][3] = {{0}}, det;
        for (k = 0; k < n; ++k) for (a = 0; a < 3; ++a) for (b = 0; b < 3; ++b) {
            J[a][b] += m->x[3 * m->tet[i * n + k] + a] * dphi[(j * n + k) * 3 + b];
        }
        det = J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
            J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
            J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
        sum += w[j] * det;
        *least = fmin(*least, det);
    }
    return sum;
}

/* Triangles close up (every edge has two) and do not meet where they must not. */
static void check_surface(const mesh *m, int closed, int euler)
{
    int p = m->order, per = mesh_tri_nodes(p), n, i, k, *tri = NULL, *flat, *edge, e, v = 0;
    size_t met;
    gap_exact_mesh em;
    void *work;
    char *used = (char *)munit_malloc((size_t)m->nodes);
    n = m->tets ? mesh_surface(m, &tri) : m->tris;
    flat = (int *)munit_malloc((size_t)(3 * n) * sizeof *flat + 1);
    for (i = 0; i < n; ++i) for (k = 0; k < 3; ++k) {
        flat[3 * i + k] = (m->tets ? tri : m->tri)[i * per + k];
        used[flat[3 * i + k]] = 1;
    }
    e = mesh_unique_edges(flat, n, NULL, 0, &edge);
    for (i = 0; i < m->nodes; ++i) v += used[i];
    if (closed) {
        munit_assert_int(2 * e, ==, 3 * n);
        munit_assert_int(v - e + n, ==, euler);
    }
    memset(&em, 0, sizeof em);
    em.dim = 3;
    em.nodes = m->nodes;
    em.x = m->x;
    em.tris = n;
    em.tri = flat;
    work = munit_malloc(gap_exact_mesh_work(&em));
    met = gap_exact_mesh_meets(&em, NULL, work, 0, NULL, NULL, NULL);
    munit_assert_size(met, ==, 0);
    free(work);
    free(used);
    free(tri);
    free(flat);
    free(edge);
}

/* Every edge is walked once in either direction. */
static void check_turned(const mesh *m)
{
    int i, j, k;
    for (i = 0; i < m->tris; ++i) for (k = 0; k < 3; ++k) {
        int a = m->tri[3 * i + k], b = m->tri[3 * i + (k + 1) % 3], met = 0;
        if (m->tris > 1000 && i % 16) continue; /* a search for each */
        for (j = 0; j < 3 * m->tris; ++j) {
            int c = m->tri[j], d = m->tri[j - j % 3 + (j + 1) % 3];
            munit_assert_false(a == c && b == d && j != 3 * i + k);
            met += c == b && d == a;
        }
        munit_assert_int(met, ==, 1);
    }
}

static MunitResult solids(const MunitParameter params[], void *data)
{
    static const struct {
        const char *text;
        int tets, euler;
        double volume, tolerance; /* of order 1; curved ones converge with the order */
    } want[] = {{"{\"kind\":\"box\",\"size\":[1,2,3],\"cells\":[2,3,4]}", 144, 2, 6.0, 1e-14},
        {"{\"kind\":\"box\"}", 6, 2, 1.0, 1e-14},
        {"{\"kind\":\"slab\",\"cells\":4}", 96, 2, .008, 1e-13},
        {"{\"kind\":\"c-box\"}", 126, 2, 21.0 / 27.0, 1e-14},
        {"{\"kind\":\"ball\",\"radius\":2,\"refine\":4}", 1280, 2, 33.510321638291124, 0.08},
        {"{\"kind\":\"cylinder\"}", 288, 2, 0.78539816339744828, 0.05},
        {"{\"kind\":\"torus\"}", 504, 0, 0.072150045, 0.2},
        {"{\"kind\":\"torus\",\"segments\":3,\"rings\":2}", 216, 0, 0.072150045, 0.7},
        {"{\"kind\":\"tet\",\"size\":2}", 1, 2, 8.0 / 6.0, 1e-14},
        {"{\"kind\":\"spike\"}", 2, 2, 1.0, 1e-14}, {"{\"kind\":\"wedge\"}", 3, 2, 3.0, 1e-14},
        {"{\"kind\":\"arch-block\",\"index\":3}", 6, 2, 0.0, -1.0},
        {"{\"kind\":\"arch-block\",\"index\":24,\"height\":1}", 6, 2, 0.0, -1.0}};
    size_t i;
    (void)params;
    (void)data;
    for (i = 0; i < sizeof want / sizeof *want; ++i) {
        mesh m;
        double least, v;
        make(want[i].text, &m);
        munit_assert_int(m.tets, ==, want[i].tets);
        v = volume(&m, &least);
        munit_assert_double(least, >, 0.0);
        if (want[i].tolerance >= 0.0 && util_rel(v, want[i].volume, 0.0) > want[i].tolerance) {
            munit_errorf("%s: volume %g, not %g", want[i].text, v, want[i].volume);
        }
        check_surface(&m, 1, want[i].euler);
        mesh_free(&m);
    }
    return MUNIT_OK;
}

/* Orders 1..4: nodes of the boundary on the true surface, volume converges to the true one. */
static MunitResult curved(const MunitParameter params[], void *data)
{
    static const char *const kind[] = {"ball\",\"refine\":3", "cylinder\",\"rings\":3", "torus\""};
    double truth[3];
    int k, p, i, n, *tri;
    (void)params;
    (void)data;
    truth[0] = 4.0 / 3.0 * UTIL_PI * 0.125;
    truth[1] = UTIL_PI * 0.25;
    truth[2] = 2.0 * UTIL_PI * UTIL_PI * 0.405 * 0.095 * 0.095;
    for (k = 0; k < 3; ++k) {
        double errors[5] = {0};
        for (p = 1; p <= 4; ++p) {
            char text[100];
            mesh m;
            double least, error;
            snprintf(text, sizeof text, "{\"kind\":\"%s,\"order\":%d}", kind[k], p);
            make(text, &m);
            error = util_rel(volume(&m, &least), truth[k], 0.0);
            munit_assert_double(least, >, 0.0);
            /* even orders gain more than odd ones, so two orders are compared */
            if (p > 2) munit_assert_double(error, <, 0.2 * errors[p - 2]);
            errors[p] = error;
            n = mesh_surface(&m, &tri);
            for (i = 0; i < n * mesh_tri_nodes(p); ++i) {
                const double *x = m.x + 3 * tri[i];
                double r = hypot(x[0], x[2]), off;
                if (k == 0) off = hypot(r, x[1]) - 0.5;
                else if (k == 1) off = fmax(r - 0.5, fabs(x[1]) - 0.5);
                else off = hypot(r - 0.405, x[1]) - 0.095;
                munit_assert_double(fabs(off), <, 1e-14);
            }
            free(tri);
            check_surface(&m, 1, k == 2 ? 0 : 2);
            mesh_free(&m);
        }
        munit_assert_double(errors[4], <, 1e-4);
    }
    return MUNIT_OK;
}

static MunitResult surfaces(const MunitParameter params[], void *data)
{
    static const struct {
        const char *text;
        int closed, euler, tris;
    } want[] = {{"{\"kind\":\"sheet\"}", 0, 1, 200}, {"{\"kind\":\"card\"}", 0, 1, 210},
        {"{\"kind\":\"tube\"}", 0, 0, 512}, {"{\"kind\":\"sphere\"}", 1, 2, 1280},
        {"{\"kind\":\"bowl\"}", 0, 1, 544}, {"{\"kind\":\"funnel\"}", 0, 0, 768},
        {"{\"kind\":\"cliff\"}", 1, 2, 12}, {"{\"kind\":\"hole\"}", 1, 0, 64},
        {"{\"kind\":\"ball\",\"surface\":true}", 1, 2, 180}, {"{\"kind\":\"squares\"}", 0, 0, 200}};
    size_t i;
    mesh m;
    (void)params;
    (void)data;
    for (i = 0; i < sizeof want / sizeof *want; ++i) {
        make(want[i].text, &m);
        munit_assert_int(m.tris, ==, want[i].tris);
        check_surface(&m, want[i].closed, want[i].euler);
        mesh_free(&m);
    }
    make("{\"kind\":\"polyline\"}", &m);
    munit_assert_int(m.edges, ==, 10);
    mesh_free(&m);
    make("{\"kind\":\"polyline\",\"points\":[[0,0,0],[1,0,0],[1,1,0]]}", &m);
    munit_assert_int(m.edges, ==, 2);
    munit_assert_double(m.x[7], ==, 1.0);
    mesh_free(&m);
    make("{\"kind\":\"points\",\"count\":[2,3,4],\"jitter\":0.01}", &m);
    munit_assert_int(m.points, ==, 24);
    mesh_free(&m);
    make("{\"kind\":\"segments\",\"count\":3}", &m);
    munit_assert_int(m.edges, ==, 9);
    mesh_free(&m);
    return MUNIT_OK;
}

/* Closed shells: closed, turned outwards, of known volume; a polygon of n corners has
   n/(2 pi) sin(2 pi/n) of the circle's area. */
static MunitResult machine_parts(const MunitParameter params[], void *data)
{
    double round32 = 32 * sin(UTIL_PI / 16) / 2, round24 = 24 * sin(UTIL_PI / 12) / 2;
    double round16 = 16 * sin(UTIL_PI / 8) / 2;
    struct {
        const char *text;
        int euler;
        double volume, tolerance;
    } want[] = {{"{\"kind\":\"lathe\",\"points\":[[0,-1],[2,-1],[2,1],[0,1]]}", 2, 0, 1e-13},
        {"{\"kind\":\"lathe\",\"points\":[[0,1],[2,1],[2,-1],[0,-1]]}", 2, 0, 1e-13},
        {"{\"kind\":\"lathe\",\"points\":[[1,-1],[2,-1],[2,1],[1,1]]}", 0, 0, 1e-13},
        {"{\"kind\":\"plate\",\"points\":[[0,0],[3,0],[3,1],[1,1],[1,2],[0,2]],"
            "\"thickness\":2}", 2, 8, 1e-13},
        {"{\"kind\":\"plate\",\"points\":[[0,2],[3,2],[3,0],[0,0]],\"holes\":[{\"center\":[1,1],"
            "\"radius\":0.5},[[2,0.5],[2.5,0.5],[2.5,1.5],[2,1.5]]],\"thickness\":1}", -2, 0,
            1e-13},
        {"{\"kind\":\"plate\",\"points\":{\"radius\":2,\"segments\":32},\"thickness\":1,\"pins\":"
            "[{\"center\":[1,0.3],\"radius\":0.5}],\"pin_height\":3}", 2, 0, 1e-13},
        {"{\"kind\":\"bolt\"}", 2, 0, 2e-3}, {"{\"kind\":\"nut\"}", 0, 0, 2e-3},
        {"{\"kind\":\"link\",\"radius\":0.1,\"segments\":32,\"sides\":32}", 0, 0, 1e-2},
        {"{\"kind\":\"arch-block\",\"flat\":true,\"surface\":true}", 2, 0, -1}};
    /* thread: mean of r^2 over a triangle wave is core^2 + core depth + depth^2 / 3 */
    double thread = 0.02 * 0.02 + 0.02 * 0.005 + 0.005 * 0.005 / 3;
    size_t i;
    int k;
    (void)params;
    (void)data;
    want[0].volume = want[1].volume = round32 * 8;
    want[2].volume = round32 * 6;
    want[4].volume = 6 - 0.25 * round16 - 0.5;
    want[5].volume = round32 * 4 + round16 * 0.25 * 3;
    want[6].volume = round24 * (thread * 0.05 + 0.04 * 0.04 * 0.02);
    want[7].volume = round24 * (0.04 * 0.04 - thread) * 0.02;
    want[8].volume = UTIL_PI * 0.01 * (1 + 0.5 * UTIL_PI);
    for (i = 0; i < sizeof want / sizeof *want; ++i) {
        mesh m;
        double v = 0;
        make(want[i].text, &m);
        check_surface(&m, 1, want[i].euler);
        for (k = 0; k < m.tris; ++k) {
            const double *a = m.x + 3 * m.tri[3 * k], *b = m.x + 3 * m.tri[3 * k + 1];
            const double *c = m.x + 3 * m.tri[3 * k + 2];
            v += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
                + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6;
        }
        munit_assert_double(v, >, 0);
        check_turned(&m);
        if (want[i].tolerance >= 0 && util_rel(v, want[i].volume, 0) > want[i].tolerance)
            munit_errorf("%s: volume %.17g, not %.17g", want[i].text, v, want[i].volume);
        mesh_free(&m);
    }
    return MUNIT_OK;
}

static MunitResult wires_and_points(const MunitParameter params[], void *data)
{
    double sum = 0;
    mesh m;
    int i;
    (void)params;
    (void)data;
    make("{\"kind\":\"link\",\"segments\":64}", &m);
    munit_assert_int(m.edges, ==, m.nodes);
    for (i = 0; i < m.edges; ++i) {
        const double *a = m.x + 3 * m.edge[2 * i], *b = m.x + 3 * m.edge[2 * i + 1];
        sum += sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
    }
    munit_assert_double(util_rel(sum, 1 + 0.5 * UTIL_PI, 0), <, 1e-3);
    mesh_free(&m);
    make("{\"kind\":\"point-ball\",\"frequency\":3}", &m);
    munit_assert_int(m.tris, ==, 0);
    munit_assert_int(m.points, ==, 92);
    mesh_free(&m);
    make("{\"kind\":\"slice-ball\",\"slices\":5,\"segments\":12}", &m);
    munit_assert_int(m.tris, ==, 60);
    check_surface(&m, 0, 0);
    mesh_free(&m);
    return MUNIT_OK;
}

/* A bolt in its nut at the same place, and turned and moved along the thread, does not meet it. */
static MunitResult thread_fits(const MunitParameter params[], void *data)
{
    int k, i;
    (void)params;
    (void)data;
    for (k = 0; k < 5; ++k) {
        double turn = 0.37 * k, c = cos(2 * UTIL_PI * turn), s = sin(2 * UTIL_PI * turn);
        mesh bolt, nut;
        make("{\"kind\":\"bolt\"}", &bolt);
        make("{\"kind\":\"nut\",\"radius\":0.0205,\"outer\":0.04}", &nut);
        for (i = 0; i < bolt.nodes; ++i) { /* phase = y / pitch - angle / 2 pi */
            double *x = bolt.x + 3 * i, z = x[2];
            x[2] = s * x[0] + c * z;
            x[0] = c * x[0] - s * z;
            x[1] += 0.01 * turn + 0.02;
        }
        mesh_append(&bolt, &nut);
        check_surface(&bolt, 1, 2);
        mesh_free(&bolt);
        mesh_free(&nut);
    }
    return MUNIT_OK;
}

/* The blocks of an arch lie beside each other without meeting. */
static MunitResult arch_blocks_are_apart(const MunitParameter params[], void *data)
{
    mesh all, m;
    int i;
    (void)params;
    (void)data;
    memset(&all, 0, sizeof all);
    for (i = 0; i < 25; ++i) {
        char text[80];
        snprintf(text, sizeof text, "{\"kind\":\"arch-block\",\"index\":%d}", i);
        make(text, &m);
        munit_assert_int(mesh_append(&all, &m), ==, 8 * i);
        mesh_free(&m);
    }
    check_surface(&all, 1, 50);
    mesh_free(&all);
    return MUNIT_OK;
}

static MunitResult refuses(const MunitParameter params[], void *data)
{
    static const char *const bad[][2] = {{"{}", "kind"}, {"{\"kind\":\"blob\"}", "unknown kind"},
        {"{\"kind\":\"box\",\"sise\":1}", "no parameter \"sise\""},
        {"{\"kind\":\"box\",\"size\":-1}", "at least 0"},
        {"{\"kind\":\"box\",\"size\":0}", "positive"},
        {"{\"kind\":\"box\",\"cells\":1.5}", "whole"},
        {"{\"kind\":\"box\",\"cells\":[1,2]}", "list of 3"},
        {"{\"kind\":\"box\",\"cells\":1000000}", "cells"},
        {"{\"kind\":\"ball\",\"order\":5}", "1 to 4"},
        {"{\"kind\":\"ball\",\"radius\":\"x\"}", "number"},
        {"{\"kind\":\"ball\",\"refine\":200}", "tets"},
        {"{\"kind\":\"torus\",\"minor\":1}", "minor"},
        {"{\"kind\":\"arch-block\",\"index\":25}", "index"},
        {"{\"kind\":\"polyline\",\"points\":[[1,2]]}", "two points"},
        {"{\"kind\":\"ball\",\"surface\":1}", "true or false"},
        {"{\"kind\":\"lathe\"}", "list of points"},
        {"{\"kind\":\"lathe\",\"points\":[[0,0],[1,0],[1,1]]}", "axis"},
        {"{\"kind\":\"lathe\",\"points\":[[1,0],[0,1],[1,2]]}", "axis"},
        {"{\"kind\":\"plate\",\"points\":[[0,0],[1,0],[0,1]],\"holes\":[{\"center\":[5,5]}]}",
            ""},
        {"{\"kind\":\"plate\",\"points\":[[0,0],[1,1],[1,0],[0,1]]}", "crosses"},
        {"{\"kind\":\"plate\",\"points\":[[0,0],[1,1]]}", "three points"},
        {"{\"kind\":\"plate\",\"points\":{\"radios\":1}}", "radios"},
        {"{\"kind\":\"nut\",\"outer\":0.02}", "wider"},
        {"{\"kind\":\"bolt\",\"segments\":5}", "even"},
        {"{\"kind\":\"link\",\"width\":2}", "length"},
        {"{\"kind\":\"link\",\"radius\":1}", "radius"}};
    size_t i;
    (void)params;
    (void)data;
    for (i = 0; i < sizeof bad / sizeof *bad; ++i) {
        mesh m;
        mesh_error e;
        json *spec = json_parse(bad[i][0], strlen(bad[i][0]), NULL);
        if (gen_make(spec, &m, &e)) munit_errorf("made: %s", bad[i][0]);
        if (!strstr(e.text, bad[i][1])) munit_errorf("%s: %s", bad[i][0], e.text);
        munit_assert_null(m.x);
        json_free(spec);
    }
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/solids", solids, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/curved", curved, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/surfaces", surfaces, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/machine_parts", machine_parts, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/wires_and_points", wires_and_points, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/thread_fits", thread_fits, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/arch_blocks_are_apart", arch_blocks_are_apart, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/refuses", refuses, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/gen", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
