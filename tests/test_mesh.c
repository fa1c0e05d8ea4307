/* test_mesh.c - mesh files: what they say, what they may not say, and what is derived from them */
#include "gen.h"
#include "mesh.h"
#include "util.h"

#define GAP_BASIS_STATIC
#include "gap_basis.h"

#include <unistd.h>

static const char *data_path(const char *name)
{
    static char path[1024];
    const char *dir = getenv("GAP_DATA");
    snprintf(path, sizeof path, "%s/%s", dir ? dir : "../shared/data", name);
    return path;
}

static void take(const char *text, const char *ending, mesh *m)
{
    mesh_error e;
    if (!mesh_parse(text, strlen(text), ending, m, &e)) {
        munit_errorf("%s: line %d: %s", ending, e.line, e.text);
    }
}

static void same_mesh(const mesh *a, const mesh *b, double tolerance)
{
    munit_assert_int(a->order, ==, b->order);
    munit_assert_int(a->nodes, ==, b->nodes);
    munit_assert_int(a->tets, ==, b->tets);
    munit_assert_int(a->tris, ==, b->tris);
    munit_assert_int(a->edges, ==, b->edges);
    munit_assert_int(a->points, ==, b->points);
    munit_assert_double(util_rel_array(a->x, b->x, 3 * (size_t)a->nodes, 0.0), <=, tolerance);
    if (a->tets) {
        munit_assert_memory_equal((size_t)(a->tets * mesh_tet_nodes(a->order)) * sizeof(int),
            a->tet, b->tet);
    }
    if (a->tris) {
        munit_assert_memory_equal((size_t)(a->tris * mesh_tri_nodes(a->order)) * sizeof(int),
            a->tri, b->tri);
    }
    if (a->edges) munit_assert_memory_equal(2 * (size_t)a->edges * sizeof(int), a->edge, b->edge);
    if (a->points) munit_assert_memory_equal((size_t)a->points * sizeof(int), a->point, b->point);
}

static MunitResult four_formats_one_mesh(const MunitParameter params[], void *data)
{
    static const char *const names[] = {"meshes/msh-formats/22_ascii.msh",
        "meshes/msh-formats/22_binary.msh", "meshes/msh-formats/41_ascii.msh",
        "meshes/msh-formats/41_binary.msh"};
    mesh m[4];
    mesh_error e;
    FILE *f = util_data(names[0]);
    int i;
    (void)params;
    (void)data;
    if (!f) return MUNIT_SKIP;
    fclose(f);
    for (i = 0; i < 4; ++i) {
        if (!mesh_read(data_path(names[i]), &m[i], &e)) {
            munit_errorf("%s:%d: %s", names[i], e.line, e.text);
        }
        munit_assert_int(m[i].tets, ==, 5);
        same_mesh(&m[0], &m[i], 1e-15); /* the text has 16 digits */
    }
    for (i = 0; i < 4; ++i) mesh_free(&m[i]);
    return MUNIT_OK;
}

/* Six times the signed volume of a corner tet. */
static double volume6(const mesh *m, const int *t)
{
    double a[3][3];
    int i, k;
    for (i = 0; i < 3; ++i) {
        for (k = 0; k < 3; ++k) a[i][k] = m->x[3 * t[i + 1] + k] - m->x[3 * t[0] + k];
    }
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
        a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
        a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

/* The published balls: 30 tets of order p; the surface closes, points outward, and its nodes lie on
   the sphere (those of the published P2 file only within 0.7 %: a property of that file). */
static MunitResult balls_of_every_order(const MunitParameter params[], void *data)
{
    int p, i, k, n, e, *tri, *edge, *corner;
    (void)params;
    (void)data;
    for (p = 1; p <= 4; ++p) {
        char name[40];
        mesh m;
        mesh_error error;
        double radius = 0.0, sum = 0.0;
        snprintf(name, sizeof name, "meshes/ball/P%d.msh", p);
        if (!mesh_read(data_path(name), &m, &error)) {
            if (access(data_path(name), R_OK) != 0) return MUNIT_SKIP;
            munit_errorf("%s:%d: %s", name, error.line, error.text);
        }
        munit_assert_int(m.order, ==, p);
        munit_assert_int(m.tets, ==, 30);
        for (i = 0; i < m.tets; ++i) {
            munit_assert_double(volume6(&m, m.tet + i * mesh_tet_nodes(p)), >, 0.0);
        }
        n = mesh_surface(&m, &tri);
        munit_assert_int(n, >, 0);
        corner = (int *)munit_malloc((size_t)(3 * n) * sizeof *corner);
        for (i = 0; i < n; ++i) {
            for (k = 0; k < 3; ++k) corner[3 * i + k] = tri[i * mesh_tri_nodes(p) + k];
        }
        e = mesh_unique_edges(corner, n, NULL, 0, &edge);
        munit_assert_int(2 * e, ==, 3 * n);
        /* outward: the surface's volume is that of its tets, up to curvature for p > 1 */
        for (i = 0; i < n; ++i) {
            const double *a = m.x + 3 * corner[3 * i], *b = m.x + 3 * corner[3 * i + 1];
            const double *c = m.x + 3 * corner[3 * i + 2];
            sum += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                       a[2] * (b[0] * c[1] - b[1] * c[0])) / 6.0;
        }
        for (i = 0; i < m.tets; ++i) sum -= volume6(&m, m.tet + i * mesh_tet_nodes(p)) / 6.0;
        munit_assert_double(fabs(sum), <, 1e-12);
        for (i = 0; i < n * mesh_tri_nodes(p); ++i) {
            const double *x = m.x + 3 * tri[i];
            double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
            if (i == 0) radius = r;
            munit_assert_double(fabs(r - radius), <, (p == 2 ? 7e-3 : 1e-9) * radius);
        }
        free(corner);
        free(edge);
        free(tri);
        mesh_free(&m);
    }
    return MUNIT_OK;
}

/* A reference tet of order p with random codimensional parts, through every writer and back. */
static void random_mesh(int p, int with_tets, mesh *m)
{
    int index[4 * 35], n, i, k;
    memset(m, 0, sizeof *m);
    m->order = p;
    gap_basis_nodes(3, p, index);
    n = with_tets ? mesh_tet_nodes(p) : mesh_tri_nodes(p);
    munit_assert_int(mesh_add_nodes(m, n + 3), ==, 0);
    for (i = 0; i < n; ++i) {
        for (k = 0; k < 3; ++k) m->x[3 * i + k] = index[4 * i + k + 1] / (double)p + 0.1;
    }
    for (i = 3 * n; i < 3 * (n + 3); ++i) m->x[i] = util_uniform(-1e3, 1e3) / 3.0;
    if (with_tets) {
        mesh_add_tets(m, 1);
        for (i = 0; i < n; ++i) m->tet[i] = i;
    } else {
        mesh_add_tris(m, 1);
        for (i = 0; i < mesh_tri_nodes(p); ++i) m->tri[i] = i;
    }
}

static MunitResult round_trips(const MunitParameter params[], void *data)
{
    static const char *const endings[] = {"obj", "ply", "vtu", "msh"};
    mesh m, back;
    mesh_error e;
    int i, p, k;
    (void)params;
    (void)data;
    for (i = 0; i < 4; ++i) {
        char path[64];
        snprintf(path, sizeof path, "build/round.%ld.%s", (long)getpid(), endings[i]);
        for (p = 1; p <= (i < 2 ? 1 : 4); ++p) {
            random_mesh(p, i >= 2, &m);
            if (i == 3) m.nodes -= 3;
            else {
                k = m.nodes - 3;
                mesh_add_edges(&m, 1);
                m.edge[0] = k;
                m.edge[1] = k + 1;
                if (i == 2) { /* a point beside it, and a triangle of the same order */
                    mesh_add_points(&m, 1);
                    m.point[0] = k + 2;
                } else m.nodes -= 1;
            }
            if (!mesh_write(path, &m, &e)) munit_errorf("%s: %s", path, e.text);
            if (!mesh_read(path, &back, &e)) munit_errorf("%s:%d: %s", path, e.line, e.text);
            same_mesh(&m, &back, 0.0);
            mesh_free(&m);
            mesh_free(&back);
        }
        remove(path);
    }
    munit_assert_int(mesh_write("build/no/such/dir/x.obj", &m, &e), ==, 0);
    munit_assert_int(mesh_write("build/x.xyz", &m, &e), ==, 0);
    return MUNIT_OK;
}

/* VTK's node order: the cell's nodes must stand where VTK's Lagrange tetrahedron has them (its
   corners, then its edges 01 12 20 03 13 23). */
static MunitResult vtu_order(const MunitParameter params[], void *data)
{
    static const int edge[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    int perm[35], index[4 * 35], p, e, k, c;
    (void)params;
    (void)data;
    for (p = 2; p <= 4; ++p) {
        munit_assert_int(gap_basis_vtk(3, p, perm), ==, mesh_tet_nodes(p));
        gap_basis_nodes(3, p, index);
        for (e = 0; e < 6; ++e) {
            for (k = 1; k < p; ++k) {
                const int *at = index + 4 * perm[4 + e * (p - 1) + k - 1];
                for (c = 0; c < 4; ++c) {
                    int want = c == edge[e][0] ? p - k : c == edge[e][1] ? k : 0;
                    munit_assert_int(at[c], ==, want);
                }
            }
        }
    }
    return MUNIT_OK;
}

/* What VTK itself makes of our files: two straight tets of each order with a polynomial of that
   degree at their nodes, so that the interpolated value at any place is the polynomial there. */
static double bent(int p, const double *x)
{
    return pow(x[0] + 0.5 * x[1] - 0.25 * x[2], p) + 2.0 * pow(x[1], p - 1) * x[2] - x[0];
}

static const char *const vtk_script =
    "import sys\n"
    "try:\n"
    "    import vtk\n"
    "except ImportError:\n"
    "    sys.exit(77)\n"
    "r = vtk.vtkXMLUnstructuredGridReader()\n"
    "r.SetFileName(sys.argv[1]); r.Update(); g = r.GetOutput(); p = int(sys.argv[2])\n"
    "f = g.GetPointData().GetArray('f'); worst = 0.0; n = 0; cells = 0\n"
    "def bent(x):\n"
    "    return (x[0]+.5*x[1]-.25*x[2])**p + 2*x[1]**(p-1)*x[2] - x[0]\n"
    "for c in range(g.GetNumberOfCells()):\n"
    "    cell = g.GetCell(c)\n"
    "    if cell.GetCellDimension() != 3: continue\n"
    "    cells += 1\n"
    "    for q in ((.1,.2,.3),(.7,.1,.1),(.25,.25,.25),(.05,.6,.15),(.33,0,.5)):\n"
    "        x = [0.0]*3; w = [0.0]*cell.GetNumberOfPoints()\n"
    "        cell.EvaluateLocation(vtk.reference(0), q, x, w)\n"
    "        v = sum(w[i]*f.GetValue(cell.GetPointId(i)) for i in range(len(w)))\n"
    "        worst = max(worst, abs(v - bent(x))); n += 1\n"
    "print('order', p, 'cells', cells, 'places', n, 'worst', worst)\n"
    "sys.exit(0 if n > 0 and cells == int(sys.argv[3]) and worst < 1e-12 else 1)\n";

static MunitResult vtk_reads_back(const MunitParameter params[], void *data)
{
    FILE *f;
    int p, i, rc;
    (void)params;
    (void)data;
    f = fopen("build/vtk_reads_back.py", "w");
    munit_assert_not_null(f);
    fputs(vtk_script, f);
    fclose(f);
    for (p = 1; p <= 4; ++p) {
        static const double x[15] = {0, 0, 0, 1, 0.1, 0, 0.2, 0.9, 0.1, 0.1, 0.3, 1.1, 1, 1, 1};
        static const int tet[8] = {0, 1, 2, 3, 1, 4, 2, 3};
        char line[200], path[60];
        mesh a, m;
        mesh_field field;
        mesh_error e;
        double *v;
        memset(&a, 0, sizeof a);
        memset(&m, 0, sizeof m);
        a.order = 1;
        munit_assert_int(mesh_add_nodes(&a, 5), ==, 0);
        munit_assert_int(mesh_add_tets(&a, 2), ==, 0);
        memcpy(a.x, x, sizeof x);
        memcpy(a.tet, tet, sizeof tet);
        munit_assert_int(gen_elevate(&a, p, &m), ==, 1);
        v = (double *)munit_malloc(sizeof(double) * (size_t)m.nodes);
        for (i = 0; i < m.nodes; ++i) v[i] = bent(p, m.x + 3 * i);
        field.name = "f";
        field.components = 1;
        field.value = v;
        snprintf(path, sizeof path, "build/vtk_reads_back_%d.vtu", p);
        munit_assert_int(mesh_write_vtu(path, &m, &field, 1, &e), ==, 1);
        snprintf(line, sizeof line, "for py in python3 /usr/bin/python3; do $py"
            " build/vtk_reads_back.py %s %d 2; rc=$?; [ $rc = 77 ] || exit $rc; done; exit 77",
            path, p);
        rc = system(line);
        free(v);
        mesh_free(&a);
        mesh_free(&m);
        if (rc == 77 * 256 || rc == 127 * 256) return MUNIT_SKIP;
        munit_assert_int(rc, ==, 0);
    }
    return MUNIT_OK;
}

static MunitResult reads_text_formats(const MunitParameter params[], void *data)
{
    mesh m;
    (void)params;
    (void)data;
    take("# c\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nf 1/2/3 2//4 3 -1\nl 1 2 3\np 4\nvn 0 0 1\n",
        "obj", &m);
    munit_assert_int(m.tris, ==, 2);
    munit_assert_int(m.edges, ==, 2);
    munit_assert_int(m.points, ==, 1);
    munit_assert_int(m.tri[5], ==, 3);
    mesh_free(&m);
    take("v 0 0 0\nv 1 0 0\n", "obj", &m);
    munit_assert_int(m.points, ==, 2);
    mesh_free(&m);
    take("solid a b\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
         "endloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 1 0 -0\nvertex 1 1 0\n"
         "vertex 0 1 0\nendloop\nendfacet\nendsolid a b\n", "stl", &m);
    munit_assert_int(m.nodes, ==, 4);
    munit_assert_int(m.tris, ==, 2);
    mesh_free(&m);
    take("ply\nformat ascii 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty float y\n"
         "property float z\nproperty uchar red\nelement face 1\n"
         "property list uchar int vertex_indices\nend_header\n0 0 0 1\n1 0 0 1\n1 1 0 1\n0 1 0 1\n"
         "4 0 1 2 3\n", "ply", &m);
    munit_assert_int(m.tris, ==, 2);
    mesh_free(&m);
    take("MeshVersionFormatted 1\nDimension 3\nVertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
         "Triangles 1\n1 2 3 7\nTetrahedra 1\n1 2 3 4 5\nEnd\n", "mesh", &m);
    munit_assert_int(m.tets, ==, 1);
    munit_assert_int(m.tris, ==, 0);
    munit_assert_int(m.tet_tag[0], ==, 5);
    mesh_free(&m);
    return MUNIT_OK;
}

#define MSH22 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define FOUR "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"

static MunitResult names_the_line(const MunitParameter params[], void *data)
{
    static const struct {
        const char *ending, *text;
        int line;
        const char *says;
    } bad[] = {
        {"obj", "v 0 0 0\nv 1 0\n", 2, "missing"}, {"obj", "v 0 0 nan\n", 1, "not a number"},
        {"obj", "v 0 0 1e999\n", 1, "finite"}, {"obj", "v 0 0 0\nf 1 2 3\n", 2, "no vertex 2"},
        {"obj", "v 0 0 0\nf 1 1\n", 2, "too few"}, {"obj", "vv 1\n", 1, "unknown statement"},
        {"obj", "", 1, "no vertices"}, {"obj", "v 0 0 0x\n", 1, "not a number"},
        {"msh", "hello\n", 1, "expected $"}, {"msh", "$MeshFormat\n3 0 8\n", 2, "version 3"},
        {"msh", MSH22 FOUR "$Elements\n1\n1 5 0 1 2 3 4 1 2 3 4\n$EndElements\n", 13, "type 5"},
        {"msh", MSH22 FOUR "$Elements\n1\n1 4 0 1 2 3 9\n$EndElements\n", 13, "no node 9"},
        {"msh", MSH22 FOUR "$Elements\n2\n1 4 0 1 2 3 4\n$EndElements\n", 14, "integer"},
        {"msh", MSH22 FOUR "$Elements\n1000000000\n1 4 0 1 2 3 4\n$EndElements\n", 12, "fit"},
        {"msh", MSH22 "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n", 7, "twice"},
        {"msh", MSH22 FOUR "$Elements\n1\n1 2 0 1 2 3\n", 14, "$EndElements"},
        {"msh", MSH22 FOUR, 11, "no elements"},
        {"stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nendloop\nendfacet\n", 6,
            "1 v"},
        {"stl", "what\n", 0, "not an STL"},
        {"ply", "ply\nformat ascii 1.0\nelement vertex 99999\nend_header\n", 3, "fit"},
        {"ply", "plx\n", 1, "ply"},
        {"ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face 1\n"
                "property list uchar int vertex_indices\nend_header\n0\n3 0 0 7\n", 9,
            "no vertex 7"},
        {"mesh", "Dimension 3\nVertices 1\n0 0 0 0\nTriangles 1\n1 2 3 0\n", 5, "no node 2"},
        {"vtu", "<VTKFile>", 0, "no array"}, {"xyz", "", 0, "unknown ending"}};
    size_t i;
    (void)params;
    (void)data;
    for (i = 0; i < sizeof bad / sizeof *bad; ++i) {
        mesh m;
        mesh_error e;
        if (mesh_parse(bad[i].text, strlen(bad[i].text), bad[i].ending, &m, &e)) {
            munit_errorf("taken: %s", bad[i].text);
        }
        munit_assert_null(m.x);
        if (e.line != bad[i].line || !strstr(e.text, bad[i].says)) {
            munit_errorf("%s: line %d (not %d): %s", bad[i].text, e.line, bad[i].line, e.text);
        }
    }
    return MUNIT_OK;
}

static MunitResult unused_nodes(const MunitParameter params[], void *data)
{
    mesh m;
    mesh_error e;
    const char *text = MSH22 "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 9 9 9\n$EndNodes\n"
        "$Elements\n1\n1 4 2 7 1 1 2 3 4\n$EndElements\n";
    (void)params;
    (void)data;
    munit_assert_int(mesh_parse(text, strlen(text), "msh", &m, &e), ==, 0);
    munit_assert_not_null(strstr(e.text, "node 5"));
    take("v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 2 3 4\n", "obj", &m);
    munit_assert_int(m.nodes, ==, 3);
    munit_assert_int(m.dropped, ==, 1);
    munit_assert_int(m.tri[0], ==, 0);
    mesh_free(&m);
    return MUNIT_OK;
}

/* Every prefix of the published files: an error or a mesh, nothing else. */
static MunitResult survives_truncation(const MunitParameter params[], void *data)
{
    static const char *const names[] = {"meshes/msh-formats/22_ascii.msh",
        "meshes/msh-formats/22_binary.msh", "meshes/msh-formats/41_ascii.msh",
        "meshes/msh-formats/41_binary.msh"};
    static char bytes[1 << 16];
    int i;
    size_t n, size;
    (void)params;
    (void)data;
    for (i = 0; i < 4; ++i) {
        FILE *f = util_data(names[i]);
        if (!f) return MUNIT_SKIP;
        size = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        for (n = 0; n + 20 < size; ++n) {
            mesh m;
            mesh_error e;
            munit_assert_int(mesh_parse(bytes, n, "msh", &m, &e), ==, 0);
            munit_assert_char(e.text[0], !=, '\0');
        }
    }
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/four_formats_one_mesh", four_formats_one_mesh, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/balls_of_every_order", balls_of_every_order, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/round_trips", round_trips, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/vtu_order", vtu_order, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/vtk_reads_back", vtk_reads_back, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/reads_text_formats", reads_text_formats, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/names_the_line", names_the_line, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/unused_nodes", unused_nodes, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/survives_truncation", survives_truncation, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/mesh", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
