/* Tests of gap-check: planted errors are found, free configurations down to one ulp are not blamed.
   The program is included whole and its check_main called. */
#define main gap_check_program
#include "../apps/gap-check.c"
#undef main
#define GAP_BASIS_STATIC
#include "gap_basis.h"
#include "util.h"

static const char *FILE_NAME = "build/test_check.gapf";
static char *text, *errors; /* what the last run printed */

static int check(const char *a, const char *b, const char *c)
{
    char *argv[5];
    size_t n, m;
    FILE *out, *err;
    int argc = 1, status;
    free(text);
    free(errors);
    text = errors = NULL;
    out = open_memstream(&text, &n);
    err = open_memstream(&errors, &m);
    argv[0] = (char *)"gap-check";
    if (a) argv[argc++] = (char *)(size_t)a;
    if (b) argv[argc++] = (char *)(size_t)b;
    if (c) argv[argc++] = (char *)(size_t)c;
    argv[argc] = NULL;
    status = check_main(argc, argv, out, err);
    fclose(out);
    fclose(err);
    return status;
}

static void expect(int status, int want, const char *words)
{
    if (status != want || (words && !strstr(text, words)))
        munit_errorf("exit %d, wanted %d and \"%s\" in: %.600s %s", status, want,
            words ? words : "", text, errors);
}

/* ---- a generator of frames ---- */
typedef struct model {
    frames_topo t;
    double x[6000], x1[6000], radius[2000];
    int tri[12000], edge[4000], point[2000], elem[4000], body[2000], dim;
    double plane[12];
} model;

static model M;

static void model_clear(int dim)
{
    memset(&M, 0, sizeof M);
    M.dim = dim;
    M.t.tri = M.tri; M.t.edge = M.edge; M.t.point = M.point; M.t.elem = M.elem;
    M.t.body = M.body; M.t.radius = M.radius; M.t.plane = M.plane;
}

static int add_node(double x, double y, double z, int body)
{
    int n = M.t.nodes++;
    M.x[M.dim * n] = x;
    M.x[M.dim * n + 1] = y;
    if (M.dim == 3) M.x[3 * n + 2] = z;
    M.body[n] = body;
    return n;
}

static void add_tri(int a, int b, int c)
{
    int *p = M.tri + 3 * M.t.tris++;
    p[0] = a; p[1] = b; p[2] = c;
}

static void add_edge(int a, int b)
{
    M.edge[2 * M.t.edges] = a;
    M.edge[2 * M.t.edges++ + 1] = b;
}

/* a height field of n x n quads over [0,n] x [0,n] times step, lower corner (x0, y0) */
static int add_sheet(int n, double x0, double y0, double step, int body)
{
    int i, j, first = M.t.nodes;
    for (i = 0; i <= n; ++i)
        for (j = 0; j <= n; ++j) add_node(x0 + i * step, y0 + j * step, 0.0, body);
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j) {
            int a = first + i * (n + 1) + j;
            add_tri(a, a + n + 1, a + 1);
            add_tri(a + 1, a + n + 1, a + n + 2);
        }
    return first;
}

/* one frame, or two with M.x1 */
static void write_model(int frames)
{
    static const char *const names[] = {"lower", "upper"};
    frames_writer *w = frames_create(FILE_NAME, M.dim, 2, names);
    munit_assert_not_null(w);
    munit_assert_int(frames_write_topo(w, &M.t), ==, 1);
    munit_assert_int(frames_write(w, 0, 0.0, M.x), ==, 1);
    if (frames > 1) munit_assert_int(frames_write(w, 1, 0.1, M.x1), ==, 1);
    munit_assert_int(frames_finish(w), ==, 1);
}

static int check_model(int frames, const char *option)
{
    write_model(frames);
    return check(FILE_NAME, option, NULL);
}

/* ---- planted errors ---- */

static double plane_height(double x, double y)
{
    return 0.5 * x - 0.25 * y + 3.0;
}

/* lower: a sheet in a tilted plane; upper: a tet with its tip over an inner point of it, exactly */
static int tip_model(double *tip)
{
    int i, n, a;
    model_clear(3);
    add_sheet(4, 0.0, 0.0, 1.0, 0);
    for (i = 0; i < M.t.nodes; ++i) M.x[3 * i + 2] = plane_height(M.x[3 * i], M.x[3 * i + 1]);
    n = add_node(1.25, 1.5, 0.0, 1);
    *tip = plane_height(1.25, 1.5);
    a = add_node(1.0, 1.0, 6.0, 1);
    add_node(2.0, 1.0, 6.0, 1);
    add_node(1.0, 2.0, 6.0, 1);
    add_tri(a, a + 1, a + 2); add_tri(n, a + 1, a); add_tri(n, a + 2, a + 1); add_tri(n, a, a + 2);
    return n;
}

static MunitResult test_one_ulp(const MunitParameter params[], void *data)
{
    double tip;
    int n = tip_model(&tip);
    (void)params; (void)data;
    M.x[3 * n + 2] = nextafter(tip, HUGE_VAL);
    expect(check_model(1, NULL), 0, "frames=1 intersections=0 inversions=0 min_distance=");
    M.x[3 * n + 2] = tip;
    expect(check_model(1, NULL), 1, "touch: triangle (");
    munit_assert_not_null(strstr(text, "of lower and triangle"));
    munit_assert_not_null(strstr(text, "of upper"));
    M.x[3 * n + 2] = nextafter(tip, -HUGE_VAL);
    expect(check_model(1, NULL), 1, "cross: triangle (");
    return MUNIT_OK;
}

static MunitResult test_touch_in_a_point(const MunitParameter params[], void *data)
{
    int a;
    (void)params; (void)data;
    model_clear(3); /* two triangles of two bodies with the same corner position */
    a = add_node(0, 0, 0, 0); add_node(1, 0, 0, 0); add_node(0, 1, 0, 0);
    add_tri(a, a + 1, a + 2);
    a = add_node(0, 0, 0, 1); add_node(-1, 0, 1, 1); add_node(0, -1, 1, 1);
    add_tri(a, a + 1, a + 2);
    expect(check_model(1, NULL), 1, "intersections=1 inversions=0 min_distance=0 ");
    M.x[3 * a + 2] = 5e-324;
    expect(check_model(1, NULL), 0, "intersections=0");
    model_clear(3); /* edges that meet in their interiors */
    a = add_node(-1, 0, 1, 0); add_node(1, 0, 1, 0); add_edge(0, 1);
    a = add_node(0, -1, 1, 1); add_node(0, 1, 1, 1); add_edge(2, 3);
    expect(check_model(1, NULL), 1, "touch: edge (0 1) of lower and edge (2 3) of upper");
    model_clear(3); /* a particle on a rod */
    add_node(-1, 0, 1, 0); add_node(1, 0, 1, 0); add_edge(0, 1);
    M.point[M.t.points++] = add_node(0.5, 0, 1, 1);
    expect(check_model(1, NULL), 1, "touch: edge (0 1) of lower and node (2) of upper");
    return MUNIT_OK;
}

static MunitResult test_coplanar(const MunitParameter params[], void *data)
{
    int a, i;
    (void)params; (void)data;
    model_clear(3);
    a = add_node(0, 0, 0, 0); add_node(2, 0, 0, 0); add_node(0, 2, 0, 0);
    add_tri(a, a + 1, a + 2);
    a = add_node(0.5, 0.5, 0, 1); add_node(3, 0, 0, 1); add_node(3, 2, 0, 1);
    add_tri(a, a + 1, a + 2);
    for (i = 0; i < 6; ++i) M.x[3 * i + 2] = plane_height(M.x[3 * i], M.x[3 * i + 1]);
    expect(check_model(1, NULL), 1,
        "touch: triangle (0 1 2) of lower and triangle (3 4 5) of upper");
    model_clear(3); /* one body folded flat onto itself along an edge */
    add_node(0, 0, 0, 0); add_node(1, 0, 0, 0); add_node(0, 1, 0, 0); add_node(1, 1, 0, 0);
    add_tri(0, 1, 2); add_tri(1, 0, 3);
    expect(check_model(1, NULL), 1, "intersections=1");
    M.x[3 * 3 + 1] = -1.0;
    expect(check_model(1, NULL), 0, "intersections=0");
    return MUNIT_OK;
}

static MunitResult test_inverted_tet(const MunitParameter params[], void *data)
{
    (void)params; (void)data;
    model_clear(3);
    add_node(0, 0, 0, 0); add_node(1, 0, 0, 0); add_node(0, 1, 0, 0); add_node(0.25, 0.25, 1, 0);
    M.elem[0] = 0; M.elem[1] = 1; M.elem[2] = 2; M.elem[3] = 3;
    M.t.elems = 1; M.t.elem_nodes = 4;
    expect(check_model(1, NULL), 0, "inversions=0");
    M.x[11] = 5e-324;
    expect(check_model(1, NULL), 0, "inversions=0");
    M.x[11] = 0.0;
    expect(check_model(1, NULL), 1, "inverted: tet 0 (0 1 2 3) of lower");
    M.x[11] = -5e-324;
    expect(check_model(1, NULL), 1, "inversions=1");
    model_clear(2);
    add_node(0, 0, 0, 0); add_node(1, 0, 0, 0); add_node(0, 1, 0, 0);
    M.elem[0] = 0; M.elem[1] = 2; M.elem[2] = 1;
    M.t.elems = 1; M.t.elem_nodes = 3;
    expect(check_model(1, NULL), 1, "inversions=1");
    return MUNIT_OK;
}

static MunitResult test_thickness(const MunitParameter params[], void *data)
{
    double tip = 1.0;
    int i, a;
    (void)params; (void)data;
    model_clear(3); /* vertex 3 over a face at height 1 */
    add_node(-4, -4, 0, 0); add_node(4, -4, 0, 0); add_node(0, 4, 0, 0); add_tri(0, 1, 2);
    a = add_node(0, 0, tip, 1); add_node(-1, 0, 8, 1); add_node(1, 0, 8, 1);
    add_tri(a, a + 1, a + 2);
    for (i = 0; i < 3; ++i) M.radius[i] = 0.75;
    for (i = 3; i < 6; ++i) M.radius[i] = 0.25;
    expect(check_model(1, NULL), 1, "thinner than allowed: node (3) of upper and triangle (0 1 2)");
    M.x[3 * a + 2] = nextafter(1.0, 2.0);
    expect(check_model(1, NULL), 0, "min_distance=1 thickness=0");
    M.x[3 * a + 2] = nextafter(1.0, 0.0);
    expect(check_model(1, NULL), 1, "thickness=");
    model_clear(2); /* in the plane */
    add_node(0, 0, 0, 0); add_node(4, 0, 0, 0); add_edge(0, 1);
    add_node(1, 1, 0, 1); add_node(1, 3, 0, 1); add_edge(2, 3);
    for (i = 0; i < 4; ++i) M.radius[i] = 0.5;
    expect(check_model(1, NULL), 1, "thickness=1");
    M.x[2 * 2 + 1] = nextafter(1.0, 2.0);
    expect(check_model(1, NULL), 0, "thickness=0");
    return MUNIT_OK;
}

static MunitResult test_planes(const MunitParameter params[], void *data)
{
    (void)params; (void)data;
    model_clear(3);
    add_node(0, 0.5, 0, 0); add_node(1, 3, 0, 0); add_node(0, 3, 1, 0); add_tri(0, 1, 2);
    M.t.planes = 1;
    M.plane[1] = 0.5; M.plane[4] = 1.0; /* through y = 1/2, normal y */
    expect(check_model(1, NULL), 1, "behind plane: node (0) of lower, plane 0");
    M.x[1] = nextafter(0.5, 1.0);
    expect(check_model(1, NULL), 0, "intersections=0");
    M.radius[0] = 0.125;
    M.x[1] = 0.625;
    expect(check_model(1, NULL), 1, "thinner than allowed: node (0) of lower, plane 0");
    M.x[1] = nextafter(0.625, 1.0);
    expect(check_model(1, NULL), 0, "thickness=0");
    return MUNIT_OK;
}

/* The plane: edges cross, touch by one ulp, meet between frames. */
static MunitResult test_two_dimensions(const MunitParameter params[], void *data)
{
    (void)params; (void)data;
    model_clear(2);
    add_node(0, 0, 0, 0); add_node(4, 2, 0, 0); add_edge(0, 1);
    add_node(2, 1, 0, 1); add_node(2, 5, 0, 1); add_edge(2, 3);
    expect(check_model(1, NULL), 1, "touch: edge (0 1) of lower and edge (2 3) of upper");
    M.x[5] = nextafter(1.0, 2.0);
    expect(check_model(1, NULL), 0, "intersections=0");
    memcpy(M.x1, M.x, sizeof M.x);
    M.x1[4] += 1.0; M.x1[5] += 1.5; M.x1[6] += 1.0; M.x1[7] += 1.5;
    M.x[5] += 1e-9;
    expect(check_model(2, "--between"), 0, "between=0");
    M.x1[5] -= 8.0; M.x1[7] -= 8.0; /* to the other side */
    expect(check_model(2, NULL), 0, "intersections=0");
    expect(check_model(2, "--between"), 1, "not proved apart between frames: node (");
    M.x[5] = nextafter(1.0, 0.0);
    expect(check_model(1, NULL), 1, "cross: edge (0 1) of lower and edge (2 3) of upper");
    return MUNIT_OK;
}

static MunitResult test_not_finite(const MunitParameter params[], void *data)
{
    double tip;
    int n = tip_model(&tip);
    (void)params; (void)data;
    M.x[3 * n + 2] = HUGE_VAL - HUGE_VAL;
    expect(check_model(1, NULL), 1, "not finite: node (");
    return MUNIT_OK;
}

/* ---- no false alarms ---- */

/* Two height fields on either side of a plane with few bits, gaps from one ulp up; axes permuted
   and mirrored, scaled by 2^-20..2^20. Free by construction: nodes of `lower` are on or below the
   plane, those of `upper` strictly above. */
static void free_configuration(void)
{
    int i, k, n = munit_rand_int_range(2, 5), axis = munit_rand_int_range(0, 2), first;
    int e = munit_rand_int_range(-20, 20), flip = munit_rand_int_range(0, 7);
    double a = munit_rand_int_range(-8, 8) / 8.0, b = munit_rand_int_range(-8, 8) / 8.0;
    model_clear(3);
    add_sheet(n, 0.0, 0.0, 1.0, 0);
    first = add_sheet(munit_rand_int_range(2, 5), munit_rand_int_range(-4, 4) / 4.0,
        munit_rand_int_range(-4, 4) / 4.0, munit_rand_int_range(1, 8) / 4.0, 1);
    for (i = 0; i < M.t.nodes; ++i) {
        double *p = M.x + 3 * i, h = a * p[0] + b * p[1] + 1.0, q[3];
        int near_plane = munit_rand_int_range(0, 2) > 0;
        double away = near_plane ? 0.0 : ldexp(munit_rand_double() + 0.01,
            -munit_rand_int_range(0, 40));
        p[2] = i < first ? h - away : h + away;
        if (i >= first && !(p[2] > h)) p[2] = h == 0.0 ? ldexp(1.0, -1000) : nextafter(h, HUGE_VAL);
        if (i < first && p[2] > h) p[2] = h;
        memcpy(q, p, sizeof q);
        for (k = 0; k < 3; ++k)
            p[(k + axis) % 3] = ldexp(flip >> k & 1 ? -q[k] : q[k], e);
    }
}

static MunitResult test_free(const MunitParameter params[], void *data)
{
    int i, n = util_count(300, 1000), one_ulp = 0;
    (void)params; (void)data;
    for (i = 0; i < n; ++i) {
        double d;
        free_configuration();
        expect(check_model(1, NULL), 0, "frames=1 intersections=0 inversions=0 min_distance=");
        munit_assert_int(sscanf(strstr(text, "min_distance="), "min_distance=%lf", &d), ==, 1);
        one_ulp += d < 1e-15 * fabs(M.x[3]) + 1e-15;
    }
    munit_assert_int(one_ulp, >, n / 4);
    return MUNIT_OK;
}

/* The same with one node of the lower sheet put exactly where the upper one is: on a node, or on
   the middle of an edge where that can be computed without rounding. */
static MunitResult test_planted_random(const MunitParameter params[], void *data)
{
    int i, k, n = util_count(100, 1000);
    (void)params; (void)data;
    for (i = 0; i < n; ++i) {
        const int *f;
        int a = munit_rand_int_range(0, 8);
        free_configuration();
        f = M.tri + 3 * (M.t.tris - 1 - munit_rand_int_range(0, 3));
        for (k = 0; k < 3; ++k) {
            double p = M.x[3 * f[0] + k], q = M.x[3 * f[1] + k];
            M.x[3 * a + k] = i % 2 ? p : 0.5 * (p + q);
        }
        if (i % 2 == 0 && gap_exact_ve(M.x + 3 * a, M.x + 3 * f[0], M.x + 3 * f[1]) != 1) continue;
        expect(check_model(1, NULL), 1, "intersections=");
    }
    return MUNIT_OK;
}

/* ---- curved elements ---- */

/* least determinant over a lattice of m points per edge, relative to the largest */
static double sampled(int dim, int order, const double *x, int m)
{
    double least = HUGE_VAL, most = 0.0, d[35 * 3], xi[3];
    int i, j, k, n, c, e, count = gap_basis_count(dim, order);
    for (i = 0; i <= m; ++i)
        for (j = 0; i + j <= m; ++j)
            for (k = 0; i + j + k <= m && (dim == 3 || k == 0); ++k) {
                long double f[3][3] = {{0}}, det;
                xi[0] = (double)i / m; xi[1] = (double)j / m; xi[2] = (double)k / m;
                gap_basis_eval(dim, order, 1, xi, NULL, d);
                for (n = 0; n < count; ++n)
                    for (c = 0; c < dim; ++c)
                        for (e = 0; e < dim; ++e)
                            f[c][e] += (long double)x[dim * n + c] * d[dim * n + e];
                det = dim == 2 ? f[0][0] * f[1][1] - f[0][1] * f[1][0] :
                    f[0][0] * (f[1][1] * f[2][2] - f[1][2] * f[2][1]) -
                    f[0][1] * (f[1][0] * f[2][2] - f[1][2] * f[2][0]) +
                    f[0][2] * (f[1][0] * f[2][1] - f[1][1] * f[2][0]);
                least = fmin(least, (double)det);
                most = fmax(most, fabs((double)det));
            }
    return least / most;
}

static MunitResult test_curved_random(const MunitParameter params[], void *data)
{
    int dim, order, i, k, n, valid = 0, invalid = 0, open = 0;
    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim)
        for (order = 2; order <= 4; ++order) {
            curved *c = curved_make(dim, order);
            int index[35 * 4], count = gap_basis_nodes(dim, order, index);
            munit_assert_not_null(c);
            for (i = 0; i < util_count(60, 2000); ++i) {
                double x[105], bend = munit_rand_double() * 0.6 / order, least;
                const double *p[35];
                int sign;
                for (n = 0; n < count; ++n) {
                    for (k = 0; k < dim; ++k)
                        x[dim * n + k] = 5.0 + (double)index[(dim + 1) * n + k + 1] / order +
                            bend * (2.0 * munit_rand_double() - 1.0);
                    p[n] = x + dim * n;
                }
                sign = curved_sign(c, p);
                least = sampled(dim, order, x, 24);
                if (sign > 0) munit_assert_double(least, >, 0.0);
                if (sign < 0) munit_assert_double(least, <, 0.05);
                if (sign == 0) munit_assert_double(fabs(least), <, 1e-6);
                if (least < 0.0) munit_assert_int(sign, <, 1);
                if (least > 0.05) munit_assert_int(sign, >, 0);
                valid += sign > 0;
                invalid += sign < 0;
                open += sign == 0;
            }
            curved_free(c);
        }
    munit_assert_int(valid, >, 50);
    munit_assert_int(invalid, >, 50);
    munit_assert_int(open, ==, 0);
    return MUNIT_OK;
}

/* P2 triangle: a middle node at a quarter of its edge makes the determinant vanish at a corner. */
static MunitResult test_curved_quarter(const MunitParameter params[], void *data)
{
    double x[12] = {0, 0, 1, 0, 0, 1, 0.5, 0, 0.5, 0.5, 0, 0.5};
    const double *p[6];
    curved *c = curved_make(2, 2);
    int i;
    (void)params; (void)data;
    for (i = 0; i < 6; ++i) p[i] = x + 2 * i;
    munit_assert_int(curved_sign(c, p), ==, 1);
    x[6] = 0.25 + 1e-12;
    munit_assert_int(curved_sign(c, p), ==, 1);
    x[6] = 0.25;
    munit_assert_int(curved_sign(c, p), ==, 0); /* zero: cannot be proved, and is reported */
    x[6] = 0.25 - 1e-12;
    munit_assert_int(curved_sign(c, p), ==, -1);
    curved_free(c);
    model_clear(2);
    for (i = 0; i < 6; ++i) {
        add_node(x[2 * i], x[2 * i + 1], 0, 0);
        M.elem[i] = i;
    }
    M.t.elems = 1; M.t.elem_nodes = 6;
    expect(check_model(1, NULL), 1, "inverted: triangle 0");
    M.x[6] = 0.25;
    expect(check_model(1, NULL), 1, "not proved valid: triangle 0");
    M.x[6] = 0.4;
    expect(check_model(1, NULL), 0, "inversions=0");
    return MUNIT_OK;
}

/* Valid at all nodes, inverted between them: only a proof over the whole element finds it. */
static MunitResult test_curved_hidden(const MunitParameter params[], void *data)
{
    int index[35 * 4], count = gap_basis_nodes(3, 3, index), i, k, n, tries, found_one = 0;
    curved *c = curved_make(3, 3);
    (void)params; (void)data;
    for (tries = 0; tries < 4000 && found_one < 3; ++tries) {
        double x[105], bend = 0.12 + 0.1 * munit_rand_double(), d[60], worst = HUGE_VAL;
        const double *p[35];
        for (n = 0; n < count; ++n) {
            for (k = 0; k < 3; ++k)
                x[3 * n + k] = index[4 * n + k + 1] / 3.0 + bend * (2 * munit_rand_double() - 1);
            p[n] = x + 3 * n;
        }
        for (i = 0; i < count; ++i) { /* at the nodes */
            double xi[3], f[9] = {0}, det;
            int a, b;
            for (k = 0; k < 3; ++k) xi[k] = index[4 * i + k + 1] / 3.0;
            gap_basis_eval(3, 3, 1, xi, NULL, d);
            for (n = 0; n < count; ++n)
                for (a = 0; a < 3; ++a)
                    for (b = 0; b < 3; ++b) f[3 * a + b] += x[3 * n + a] * d[3 * n + b];
            det = f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6]) +
                f[2] * (f[3] * f[7] - f[4] * f[6]);
            worst = fmin(worst, det);
        }
        if (worst > 0.02 && sampled(3, 3, x, 24) < -0.001) {
            munit_assert_int(curved_sign(c, p), ==, -1);
            ++found_one;
        }
    }
    munit_assert_int(found_one, >, 0);
    curved_free(c);
    return MUNIT_OK;
}

/* ---- between frames ---- */
static MunitResult test_between(const MunitParameter params[], void *data)
{
    double tip;
    int n = tip_model(&tip), i;
    (void)params; (void)data;
    for (i = 0; i < M.t.nodes; ++i)
        if (M.body[i] == 1) M.x[3 * i + 2] = (i == n ? tip : 6.0) + 1e-6;
    memcpy(M.x1, M.x, sizeof M.x);
    for (i = 0; i < M.t.nodes; ++i)
        if (M.body[i] == 1) M.x1[3 * i] += 0.5; /* slides down the slope's side: free */
    for (i = 0; i < M.t.nodes; ++i)
        if (M.body[i] == 1) M.x1[3 * i + 2] += 0.25;
    expect(check_model(2, "--between"), 0, "frames=2 intersections=0 inversions=0 min_distance=");
    munit_assert_not_null(strstr(text, "between=0"));
    for (i = 0; i < M.t.nodes; ++i) /* both ends free, in between through the sheet */
        if (M.body[i] == 1) {
            M.x1[3 * i] = M.x[3 * i];
            M.x1[3 * i + 2] = M.x[3 * i + 2] - 60.0;
        }
    expect(check_model(2, NULL), 0, "frames=2 intersections=0");
    expect(check_model(2, "--between"), 1, "not proved apart between frames: ");
    return MUNIT_OK;
}

/* Random pieces that turn round each other: the sampled motion is the judge. */
static MunitResult test_between_random(const MunitParameter params[], void *data)
{
    int i, k, s, n = util_count(200, 3000), hits = 0, frees = 0;
    (void)params; (void)data;
    for (i = 0; i < n; ++i) {
        int steps = 400, crossed = 0, status;
        double least = HUGE_VAL;
        model_clear(3);
        for (k = 0; k < 6; ++k)
            add_node(munit_rand_double(), munit_rand_double(),
                munit_rand_double() * 0.5 + (k > 2 ? 0.45 : 0.0), k > 2);
        for (k = 0; k < 18; ++k) M.x1[k] = M.x[k] + 2.0 * (munit_rand_double() - 0.5);
        add_tri(0, 1, 2);
        add_tri(3, 4, 5);
        if (gap_exact_ff(M.x, M.x + 3, M.x + 6, M.x + 9, M.x + 12, M.x + 15)) continue;
        if (gap_exact_ff(M.x1, M.x1 + 3, M.x1 + 6, M.x1 + 9, M.x1 + 12, M.x1 + 15)) continue;
        for (s = 0; s <= steps; ++s) {
            double y[18], low, high;
            int a, tri[2][3] = {{0, 1, 2}, {3, 4, 5}}, b;
            near_pair p;
            for (k = 0; k < 18; ++k) y[k] = M.x[k] + (double)s / steps * (M.x1[k] - M.x[k]);
            crossed |= gap_exact_ff(y, y + 3, y + 6, y + 9, y + 12, y + 15) != 0;
            for (a = 0; a < 6; ++a) {
                near_pair_make(&p, 2, 3, &a, tri[a < 3], y);
                near_bounds(&p, &low, &high);
                least = fmin(least, high);
            }
            for (a = 0; a < 3; ++a)
                for (b = 0; b < 3; ++b) {
                    int e[2], f[2];
                    e[0] = a; e[1] = (a + 1) % 3; f[0] = 3 + b; f[1] = 3 + (b + 1) % 3;
                    near_pair_make(&p, 3, 3, e, f, y);
                    near_bounds(&p, &low, &high);
                    least = fmin(least, high);
                }
        }
        status = check_model(2, "--between");
        if (crossed) munit_assert_int(status, ==, 1);
        else if (least > 0.01) munit_assert_int(status, ==, 0); /* steps move by less than that */
        hits += crossed;
        frees += !crossed;
    }
    munit_assert_int(hits, >, n / 50);
    munit_assert_int(frees, >, n / 10);
    return MUNIT_OK;
}

/* Gaps of 1e-12 of the size, turning together, are still proved. */
static MunitResult test_between_close(const MunitParameter params[], void *data)
{
    int i, k;
    (void)params; (void)data;
    for (i = 0; i < 50; ++i) {
        double turn = 0.1 * munit_rand_double(), s = sin(turn), c = cos(turn), g = 1e-12;
        model_clear(3);
        add_node(-1, -1, 0, 0); add_node(1, -1, 0, 0); add_node(0, 1, 0, 0); add_tri(0, 1, 2);
        add_node(0, 0, g, 1); add_node(1, 0, 1, 1); add_node(-1, 0, 1, 1); add_tri(3, 4, 5);
        for (k = 0; k < 6; ++k) { /* both turn about x: a rigid motion, up to the chord */
            double *p = M.x + 3 * k, *q = M.x1 + 3 * k;
            q[0] = p[0] + 0.3; q[1] = c * p[1] - s * p[2]; q[2] = s * p[1] + c * p[2];
        }
        expect(check_model(2, "--between"), 0, "between=0");
    }
    return MUNIT_OK;
}

/* ---- files ---- */
static MunitResult test_damage(const MunitParameter params[], void *data)
{
    double tip;
    long size;
    FILE *f;
    unsigned char *b;
    int i, n = tip_model(&tip);
    (void)params; (void)data;
    M.x[3 * n + 2] = tip + 0.5;
    memcpy(M.x1, M.x, sizeof M.x);
    write_model(2);
    f = fopen(FILE_NAME, "rb");
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    b = (unsigned char *)munit_malloc((size_t)size);
    munit_assert_size(fread(b, 1, (size_t)size, f), ==, (size_t)size);
    fclose(f);
    expect(check(FILE_NAME, NULL, NULL), 0, "frames=2");
    b[size - 100] ^= 4; /* in the second frame */
    f = fopen(FILE_NAME, "wb");
    fwrite(b, 1, (size_t)size, f);
    fclose(f);
    expect(check(FILE_NAME, NULL, NULL), 2, "frames=1 intersections=0");
    munit_assert_not_null(strstr(errors, "checksum of the chunk is wrong at byte"));
    munit_assert_not_null(strstr(errors, "1 frames before it are whole"));
    for (i = 0; i < util_count(150, 5000); ++i) { /* anything may be wrong: a message and an exit */
        int k, flips = munit_rand_int_range(1, 3), status;
        long keep = munit_rand_int_range(0, 3) ? size : munit_rand_int_range(0, (int)size);
        unsigned char *c = (unsigned char *)munit_malloc((size_t)size);
        memcpy(c, b, (size_t)size);
        for (k = 0; k < flips; ++k)
            c[munit_rand_int_range(0, (int)size - 1)] ^=
                (unsigned char)munit_rand_int_range(1, 255);
        f = fopen(FILE_NAME, "wb");
        fwrite(c, 1, (size_t)keep, f);
        fclose(f);
        status = check(FILE_NAME, "--json", NULL);
        munit_assert_true(status == 2 || status == 0); /* 0: cut between two chunks */
        if (status == 2) munit_assert_size(strlen(errors), >, 20);
        free(c);
    }
    free(b);
    expect(check("build/nothing.gapf", NULL, NULL), 2, NULL);
    munit_assert_string_equal(errors, "gap-check: build/nothing.gapf: cannot be read\n");
    return MUNIT_OK;
}

static MunitResult test_options(const MunitParameter params[], void *data)
{
    double tip;
    FILE *f;
    char line[200];
    int n = tip_model(&tip), v = 0, faces = 0;
    (void)params; (void)data;
    expect(check("--help", NULL, NULL), 0, "usage: gap-check");
    expect(check("--version", NULL, NULL), 0, "gap-check 0.1.0\n");
    expect(check(NULL, NULL, NULL), 2, NULL);
    expect(check("--nonsense", FILE_NAME, NULL), 2, NULL);
    expect(check(FILE_NAME, "--threads", "0"), 2, NULL);
    M.x[3 * n + 2] = tip;
    write_model(1);
    expect(check(FILE_NAME, "--json", NULL), 1, "{\"frames\":1,\"intersections\":3,");
    munit_assert_not_null(strstr(text, "\"name\":\"upper\""));
    expect(check(FILE_NAME, "--threads", "3"), 1, "intersections=3");
    expect(check(FILE_NAME, "--dump", "build/test_check.obj"), 1, "intersections=3");
    f = fopen("build/test_check.obj", "r");
    munit_assert_not_null(f);
    while (fgets(line, sizeof line, f)) {
        v += line[0] == 'v';
        faces += line[0] == 'f';
    }
    fclose(f);
    munit_assert_int(v, ==, 18);
    munit_assert_int(faces, ==, 6);
    expect(check("build/test_check.obj", NULL, NULL), 1, "touch: triangle (0 1 2)"); /* again */
    remove("build/test_check.obj");
    model_clear(3); /* a body that meets itself on purpose */
    add_node(0, 0, 0, 0); add_node(1, 0, 0, 0); add_node(0, 1, 0, 0);
    add_node(0.2, 0.2, -1, 0); add_node(0.2, 0.2, 1, 0); add_node(0.2, 1, 1, 0);
    add_tri(0, 1, 2); add_tri(3, 4, 5);
    write_model(1);
    expect(check(FILE_NAME, NULL, NULL), 1, "intersections=1");
    expect(check(FILE_NAME, "--static", "lower"), 0, "intersections=0");
    expect(check(FILE_NAME, "--static", "0"), 0, "intersections=0");
    expect(check(FILE_NAME, "--static", "nobody"), 2, NULL);
    return MUNIT_OK;
}

/* Obstacles at rest may overlap; what is said to rest and moves is checked all the same. */
static MunitResult test_static(const MunitParameter params[], void *data)
{
    static const unsigned char fixed[2] = {1, 1};
    int move;
    (void)params; (void)data;
    for (move = 0; move < 2; ++move) {
        frames_writer *w;
        model_clear(3);
        add_node(0, 0, 0, 0); add_node(1, 0, 0, 0); add_node(0, 1, 0, 0); add_tri(0, 1, 2);
        add_node(0.2, 0.2, -1, 1); add_node(0.2, 0.2, 1, 1); add_node(0.2, 1, 1, 1);
        add_tri(3, 4, 5);
        memcpy(M.x1, M.x, sizeof M.x);
        M.x1[0] -= move * 1e-3;
        w = frames_create(FILE_NAME, 3, 2, NULL);
        munit_assert_int(frames_write_fixed(w, fixed), ==, 1);
        munit_assert_int(frames_write_topo(w, &M.t), ==, 1);
        munit_assert_int(frames_write(w, 0, 0.0, M.x), ==, 1);
        munit_assert_int(frames_write(w, 1, 0.1, M.x1), ==, 1);
        munit_assert_int(frames_finish(w), ==, 1);
        expect(check(FILE_NAME, NULL, NULL), move, move ? "intersections=1" : "intersections=0");
    }
    return MUNIT_OK;
}

static MunitResult test_meshes(const MunitParameter params[], void *data)
{
    const char *d = "../shared/data/meshes/";
    static const struct { const char *name; int status; } file[] = {{"two-cubes-close.ply", 0},
        {"two-cubes-far.ply", 0}, {"two-cubes-intersecting.ply", 1}, {"ball/P1.msh", 0},
        {"ball/P2.msh", 0}, {"ball/P3.msh", 0}, {"ball/P4.msh", 0}, {"ipc/sphere1K.msh", 0}};
    char path[200];
    size_t i;
    struct stat st;
    (void)params; (void)data;
    if (stat(d, &st)) return MUNIT_SKIP;
    for (i = 0; i < sizeof file / sizeof *file; ++i) {
        sprintf(path, "%s%s", d, file[i].name);
        expect(check(path, NULL, NULL), file[i].status, "frames=1");
    }
    return MUNIT_OK;
}

/* ---- distances: bounds on both sides of the truth ---- */
static MunitResult test_bounds(const MunitParameter params[], void *data)
{
    int i, k, n = util_count(3000, 100000);
    (void)params; (void)data;
    for (i = 0; i < n; ++i) {
        int kind = i % 4, a[2] = {0, 1}, b[3] = {1, 2, 3};
        double x[12], low, high;
        near_pair p;
        for (k = 0; k < 12; ++k) {
            x[k] = munit_rand_double();
            if (i % 3 == 0) x[k] = munit_rand_int_range(-2, 2) + 1e-9 * x[k];
        }
        if (kind == 3) { b[0] = 2; b[1] = 3; }
        near_pair_make(&p, kind, 3, a, b, x);
        near_bounds(&p, &low, &high);
        munit_assert_double(low, <=, high);
        munit_assert_int(gap_exact_compare_distance(3, kind, x, high), <=, 0);
        munit_assert_int(gap_exact_compare_distance(3, kind, x, low), >=, 0);
        if (high > 1e-3 && i % 3) munit_assert_double(high - low, <, 1e-9);
    }
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/planted/one_ulp", test_one_ulp, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/planted/touch", test_touch_in_a_point, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/planted/coplanar", test_coplanar, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/planted/inverted_tet", test_inverted_tet, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/planted/thickness", test_thickness, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/planted/plane", test_planes, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/planted/two_dimensions", test_two_dimensions, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/planted/not_finite", test_not_finite, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/planted/random", test_planted_random, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/free", test_free, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/curved/random", test_curved_random, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/curved/quarter", test_curved_quarter, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/curved/hidden", test_curved_hidden, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/between", test_between, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/between/random", test_between_random, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/between/close", test_between_close, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/damage", test_damage, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/options", test_options, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/static", test_static, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/meshes", test_meshes, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/bounds", test_bounds, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

static const MunitSuite suite = {"/check", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    int status;
    mkdir("build", 0777);
    status = munit_suite_main(&suite, NULL, argc, argv);
    remove(FILE_NAME);
    free(text);
    free(errors);
    return status;
}
