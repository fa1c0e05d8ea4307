/* test_rigid_sim.c - what gap-rigid promises: bits, laws of mechanics, refusals */
#include "rscene.h"
#include "rsim.h"

#include <math.h>
#include <munit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

/* ---------------------------------------------------------------- scenes */
#define CUBE "{\"scale\": 0.5, \"vertices\": [[-1,-1,-1],[1,-1,-1],[-1,1,-1],[1,1,-1],[-1,-1,1]," \
    "[1,-1,1],[-1,1,1],[1,1,1]], \"faces\": [[0,2,1],[1,2,3],[4,5,6],[5,7,6],[0,1,4]," \
    "[1,5,4],[2,6,3],[3,6,7],[0,4,2],[2,4,6],[1,3,5],[3,7,5]]"
#define FLOOR "{\"vertices\": [[-9,0,-9],[9,0,-9],[-9,0,9],[9,0,9]], \"faces\": [[0,2,1],[1,2,3]]" \
    ", \"type\": \"static\""
#define BODIES "\"rigid_bodies\": ["

/* A cube, a wire ring, a wire rod, a card and points fall onto each other, with friction. */
static const char mixture[] =
    "{\"timestep\": 0.01, \"rigid_body_problem\": {\"gravity\": [0, -9.8, 0],\n"
    "\"coefficient_friction\": 0.3, " BODIES FLOOR "},\n" CUBE ", \"position\": [0, 0.51, 0]},\n"
    "{\"vertices\": [[0.6,0,0.2],[0,0,0.7],[-0.6,0,0.2],[0,0.1,-0.7]],"
    " \"edges\": [[0,1],[1,2],[2,3],[3,0]], \"position\": [0.1, 1.05, 0],"
    " \"angular_velocity\": [100, 0, 30]},\n"
    "{\"vertices\": [[-0.7,0,0],[0.8,0.02,0]], \"edges\": [[0,1]], \"position\": [0, 1.3, 0.1]},\n"
    "{\"vertices\": [[-0.6,0,-0.3],[0.6,0,-0.3],[-0.6,0,0.3],[0.6,0,0.3]],"
    " \"faces\": [[0,2,1],[1,2,3]],"
    " \"position\": [0, 1.6, 0], \"rotation\": [3, 20, 5]},\n"
    "{\"vertices\": [[0,0,0],[0.2,0.1,0],[0,0.1,0.2],[-0.1,0.2,0]], \"position\": [0, 1.8, 0],"
    " \"density\": 20}]}}";

typedef struct world {
    rscene sc;
    rsim *s;
    pool *threads;
    mesh guilty;
    char error[3000];
} world;

/* Reads and opens; what failed to open leaves its reason in w->error. */
static int open_world(world *w, const char *text, double scale, int threads)
{
    rscene_options ro;
    rsim_options so;
    memset(w, 0, sizeof *w);
    memset(&ro, 0, sizeof ro);
    memset(&so, 0, sizeof so);
    ro.program = "test";
    ro.scale = scale;
    ro.mesh_dir = "../shared/data/rigid-scenes/meshes";
    if (text[0] == '{' ? !rscene_parse(&w->sc, "scene", text, strlen(text), &ro) :
        !rscene_read(&w->sc, text, &ro)) return 0;
    w->threads = so.threads = threads > 1 ? pool_open(threads) : NULL;
    w->s = rsim_open(&w->sc, &so, &w->guilty, w->error, sizeof w->error);
    return w->s != NULL;
}

static void close_world(world *w)
{
    rsim_close(w->s);
    rscene_free(&w->sc);
    mesh_free(&w->guilty);
    pool_close(w->threads);
}

static void step(world *w, int n)
{
    sim_report r;
    int met;
    while (n-- > 0) {
        munit_assert_int(rsim_step(w->s, w->sc.h, &r), ==, 0);
        munit_assert_int(rsim_verify(w->s, &met), >=, 0);
        munit_assert_int(met, ==, 0);
    }
}

static size_t frame_bytes(const world *w)
{
    return (size_t)(w->sc.dim * rsim_nodes(w->s)) * sizeof(double);
}

static double value(world *w, const char *name, const char *body)
{
    double v = 0.0;
    munit_assert_int(rsim_quantity(w->s, name, body, &v), ==, 1);
    return v;
}

/* ---------------------------------------------------------------- bits */
static MunitResult threads(const MunitParameter params[], void *data)
{
    world a, b;
    int n;
    (void)params, (void)data;
    munit_assert_int(open_world(&a, mixture, 1.0, 1), ==, 1);
    step(&a, 25);
    munit_assert_double(value(&a, "contacts", ""), >, 4.0);
    for (n = 2; n <= 3; ++n) {
        munit_assert_int(open_world(&b, mixture, 1.0, n), ==, 1);
        step(&b, 25);
        munit_assert_memory_equal(frame_bytes(&a), rsim_frame(a.s), rsim_frame(b.s));
        close_world(&b);
    }
    close_world(&a);
    return MUNIT_OK;
}

static MunitResult resume(const MunitParameter params[], void *data)
{
    world a, b;
    void *bytes[2];
    size_t size;
    (void)params, (void)data;
    munit_assert_int(open_world(&a, mixture, 1.0, 1), ==, 1);
    size = rsim_state_size(a.s);
    bytes[0] = malloc(size);
    bytes[1] = malloc(size);
    step(&a, 15);
    rsim_save(a.s, bytes[0]);
    step(&a, 15);
    munit_assert_int(open_world(&b, mixture, 1.0, 2), ==, 1);
    munit_assert_int(rsim_load(b.s, bytes[0], size), ==, 1);
    step(&b, 15);
    rsim_save(a.s, bytes[0]);
    rsim_save(b.s, bytes[1]);
    munit_assert_memory_equal(size, bytes[0], bytes[1]);
    munit_assert_memory_equal(frame_bytes(&a), rsim_frame(a.s), rsim_frame(b.s));
    close_world(&b);
    munit_assert_int(open_world(&b, mixture, 2.0, 1), ==, 1);
    munit_assert_int(rsim_load(b.s, bytes[0], size), ==, 0); /* of another scale */
    munit_assert_int(rsim_load(b.s, bytes[0], size - 1), ==, 0);
    close_world(&b);
    close_world(&a);
    free(bytes[0]);
    free(bytes[1]);
    return MUNIT_OK;
}

static MunitResult scales(const MunitParameter params[], void *data)
{
    static const double scale[] = {1.0 / 128.0, 8.0};
    world a, b;
    int i, k, n;
    (void)params, (void)data;
    munit_assert_int(open_world(&a, mixture, 1.0, 1), ==, 1);
    step(&a, 20);
    n = (int)(frame_bytes(&a) / sizeof(double));
    for (k = 0; k < 2; ++k) {
        munit_assert_int(open_world(&b, mixture, scale[k], 1), ==, 1);
        step(&b, 20);
        for (i = 0; i < n; ++i) {
            munit_assert_double(rsim_frame(b.s)[i], ==, scale[k] * rsim_frame(a.s)[i]);
        }
        close_world(&b);
    }
    close_world(&a);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- mechanics */
/* A cube 5.4 mm above a slope whose angle has tangent 1/2: outside the barrier, which would throw
   it up; at the threshold the landing takes all tangential speed, and nothing else does. */
static void slope(world *w, double mu)
{
    char text[4000];
    snprintf(text, sizeof text, "{\"timestep\": 0.025, \"friction_constraints\": {"
        "\"static_friction_speed_bound\": 1e-5, \"iterations\": -1}, \"rigid_body_problem\": {"
        "\"gravity\": [0, -9.8, 0], \"coefficient_friction\": %.17g, " BODIES FLOOR
        ", \"rotation\": [0, 0, -26.56505117707799]},\n" CUBE ", \"rotation\": [0, 0,"
        " -26.56505117707799], \"position\": [0.2260, 0.4520, 0], \"name\": \"cube\"}]}}", mu);
    munit_assert_int(open_world(w, text, 1.0, 1), ==, 1);
}

static MunitResult sticks_and_slides(const MunitParameter params[], void *data)
{
    double phi = atan(0.5), v0, v1, a;
    world w;
    (void)params, (void)data;
    slope(&w, 0.5);
    step(&w, 20);
    v0 = value(&w, "moved", "cube");
    step(&w, 40);
    munit_assert_double(value(&w, "speed", "cube"), <, 2e-5);
    munit_assert_double(value(&w, "moved", "cube") - v0, <, 3e-5);
    close_world(&w);
    slope(&w, 0.49);
    step(&w, 20);
    v0 = value(&w, "speed", "cube");
    step(&w, 40);
    v1 = value(&w, "speed", "cube");
    a = 9.8 * (sin(phi) - 0.49 * cos(phi));
    munit_assert_double(fabs((v1 - v0) / 1.0 - a), <, 1e-3 * a);
    close_world(&w);
    return MUNIT_OK;
}

/* v0^2 / (2 mu g), less v0 h / 2 for implicit Euler. */
static MunitResult stops(const MunitParameter params[], void *data)
{
    double want = 1.0 / (2.0 * 0.2 * 9.8) - 0.5 * 0.01;
    world w;
    (void)params, (void)data;
    munit_assert_int(open_world(&w, "{\"timestep\": 0.01, \"friction_constraints\": {"
        "\"static_friction_speed_bound\": 1e-4, \"iterations\": -1}, \"rigid_body_problem\": {"
        "\"gravity\": [0, -9.8, 0], \"coefficient_friction\": 0.2, " BODIES FLOOR "},\n" CUBE
        ", \"position\": [0, 0.50099, 0], \"linear_velocity\": [1, 0, 0], \"name\": \"cube\"}]}}",
        1.0, 1), ==, 1);
    step(&w, 70);
    munit_assert_double(value(&w, "speed", "cube"), <, 1e-3);
    munit_assert_double(fabs(value(&w, "mean_x", "cube") - want), <, 0.01 * want);
    close_world(&w);
    return MUNIT_OK;
}

static MunitResult momentum(const MunitParameter params[], void *data)
{
    double p0[3] = {1000.0 * 3.0, 1000.0 * -0.5, 0.0};
    sim_report r;
    world w;
    int i, k, touched = 0;
    (void)params, (void)data;
    munit_assert_int(open_world(&w, "{\"timestep\": 0.01, \"ipc_solver\": {\"velocity_conv_tol\":"
        " 1e-7}, \"rigid_body_problem\": {" BODIES CUBE ", \"linear_velocity\": [3, 0, 0],"
        " \"rotation\": [10, 20, 30]},\n" CUBE ", \"position\": [1.6, 0.3, 0.2],"
        " \"linear_velocity\": [0, -0.5, 0], \"rotation\": [40, 5, 12]}]}}", 1.0, 1), ==, 1);
    for (i = 0; i < 30; ++i) {
        munit_assert_int(rsim_step(w.s, 0.01, &r), ==, 0);
        touched += r.contacts > 0;
        for (k = 0; k < 3; ++k) munit_assert_double(fabs(r.momentum[k] - p0[k]), <, 1e-4 * 3000.0);
    }
    munit_assert_int(touched, >, 0);
    close_world(&w);
    return MUNIT_OK;
}

/* Without friction and with fixed kappa the sum of all energies does not grow. */
static MunitResult energy(const MunitParameter params[], void *data)
{
    double last = HUGE_VAL, e;
    sim_report r;
    world w;
    int i, touched = 0;
    (void)params, (void)data;
    munit_assert_int(open_world(&w, "{\"timestep\": 0.005, \"ipc_solver\": {\"velocity_conv_tol\":"
        " 1e-7, \"barrier_stiffness\": 1e9}, \"distance_barrier_constraint\": {"
        "\"initial_barrier_activation_distance\": 0.01}, \"rigid_body_problem\": {"
        "\"gravity\": [0, -9.8, 0], " BODIES FLOOR "},\n" CUBE ", \"position\": [0, 1.2, 0],"
        " \"rotation\": [20, 30, 10], \"angular_velocity\": [100, 40, -60]}]}}", 1.0, 1), ==, 1);
    for (i = 0; i < 150; ++i) {
        munit_assert_int(rsim_step(w.s, 0.005, &r), ==, 0);
        e = r.kinetic + r.external + r.barrier;
        munit_assert_double(e, <=, last + 1e-6 * 9800.0);
        last = e;
        touched += r.contacts > 0;
    }
    munit_assert_int(touched, >, 10);
    close_world(&w);
    return MUNIT_OK;
}

static MunitResult tunnelling(const MunitParameter params[], void *data)
{
    static const double speed[] = {25, 100, 1000, 10000};
    char text[4000];
    world w;
    int k;
    (void)params, (void)data;
    for (k = 0; k < 4; ++k) {
        snprintf(text, sizeof text, "{\"rigid_body_problem\": {" BODIES FLOOR ", \"rotation\":"
            " [0, 0, 90]},\n" CUBE ", \"position\": [-5, 0, 0], \"rotation\": [32, 247, 53],"
            " \"linear_velocity\": [%g, 0, 0], \"name\": \"cube\"}]}}", speed[k]);
        munit_assert_int(open_world(&w, text, 1.0, 1), ==, 1);
        step(&w, 25);
        munit_assert_double(value(&w, "max_x", "cube"), <, 0.0);
        munit_assert_double(value(&w, "contacts", ""), >, 0.0);
        close_world(&w);
    }
    return MUNIT_OK;
}

/* Wires, points and edges of every combination keep their order on a line in 3D and 2D. */
static MunitResult thin_bodies(const MunitParameter params[], void *data)
{
    static const char *const bodies[] = {
        "{\"vertices\": [[0,0,0]]", "{\"vertices\": [[-0.3,0,0],[0.3,0,0]], \"edges\": [[0,1]]",
        "{\"vertices\": [[0,-0.3,0.1],[0,0.3,-0.1]], \"edges\": [[0,1]]"};
    char text[2000];
    world w;
    int i, j;
    (void)params, (void)data;
    for (i = 0; i < 3; ++i) for (j = 0; j < 3; ++j) {
        snprintf(text, sizeof text, "{\"rigid_body_problem\": {" BODIES "%s, \"name\": \"a\","
            " \"linear_velocity\": [10, 0, 0]}, %s, \"name\": \"b\", \"position\": [2, 0, 0]}]}}",
            bodies[i], bodies[j]);
        munit_assert_int(open_world(&w, text, 1.0, 1), ==, 1);
        step(&w, 40);
        munit_assert_double(value(&w, "mean_x", "a"), <, value(&w, "mean_x", "b"));
        munit_assert_double(value(&w, "vx", "b"), >, 0.1);
        close_world(&w);
    }
    return MUNIT_OK;
}

/* A clockwise square falls onto a floor in 2D and rests; a kinematic one lifts it. */
static MunitResult plane_world(const MunitParameter params[], void *data)
{
    world w;
    (void)params, (void)data;
    munit_assert_int(open_world(&w, "{\"rigid_body_problem\": {\"gravity\": [0, -9.8], " BODIES
        "{\"vertices\": [[-1,-1],[-1,1],[1,1],[1,-1]], \"edges\": [[0,1],[1,2],[2,3],[3,0]],"
        " \"position\": [0, 1.05], \"name\": \"square\"}, {\"vertices\": [[-5,0],[5,0]], \"edges\":"
        " [[0,1]], \"type\": \"kinematic\", \"linear_velocity\": [0, 0.5], \"kinematic_max_time\":"
        " 0.5, \"name\": \"lift\"}]}}", 1.0, 1), ==, 1);
    munit_assert_double(fabs(rsim_mass(w.s, 0) - 4000.0), <, 1e-9);
    step(&w, 100);
    munit_assert_double(fabs(value(&w, "mean_y", "lift") - 0.25), <, 1e-3);
    munit_assert_double(fabs(value(&w, "mean_y", "square") - 1.25), <, 2e-3);
    munit_assert_double(value(&w, "speed", "square"), <, 1e-3);
    close_world(&w);
    return MUNIT_OK;
}

static MunitResult sample_scenes(const MunitParameter params[], void *data)
{
    static const char *const names[] = {"5-cubes", "card-house-2-levels", "edge-edge-parallel",
        "large-mass-ratio", "parallel-edges", "slope-mu-0.49", "slope-mu-0.50",
        "square_angular_and_linear_vel", "tet-corner", "tunneling",
        "two_squares_falling_onto_floor", "vertex-face"};
    char path[200];
    world w;
    int i;
    (void)params, (void)data;
    if (access("../shared/data/rigid-scenes/scenes/5-cubes.json", R_OK) != 0) return MUNIT_SKIP;
    for (i = 0; i < 12; ++i) {
        snprintf(path, sizeof path, "../shared/data/rigid-scenes/scenes/%s.json", names[i]);
        munit_assert_int(open_world(&w, path, 1.0, 1), ==, 1);
        step(&w, util_slow() ? (int)w.sc.steps : 20);
        close_world(&w);
    }
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- refusals */
/* What a reader says on stderr, and its answer. */
static int heard(const char *text, char *said, size_t size)
{
    world w;
    FILE *f = tmpfile();
    int old, ok;
    size_t n;
    munit_assert_not_null(f);
    fflush(stderr);
    old = dup(STDERR_FILENO);
    dup2(fileno(f), STDERR_FILENO);
    ok = open_world(&w, text, 1.0, 1);
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    close(old);
    rewind(f);
    n = fread(said, 1, size - 1, f);
    said[n] = '\0';
    fclose(f);
    if (!ok && w.error[0]) snprintf(said, size, "scene:%s", w.error);
    close_world(&w);
    return ok;
}

static MunitResult refusals(const MunitParameter params[], void *data)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"{\"rigid_body_problem\": {\n" BODIES CUBE "},\n" CUBE ", \"position\": [0.5, 0.2, 0.1],"
            " \"name\": \"late\"}]}}", "scene:3: the scene starts with bodies that intersect"},
        {"{\"rigid_body_problem\": {\n" BODIES CUBE "},\n" CUBE ", \"position\": [1, 0, 0]}]}}",
            "scene:3: the scene starts with bodies that touch"},
        {"{\"rigid_body_problem\": {\n" BODIES CUBE ", \"density\": 0}]}}", "density must be"},
        {"{\"rigid_body_problem\": {\n" BODIES "{\"vertices\": [[0,0,0],[1,0,0],[0,1,0]],"
            " \"faces\": [[0,1,2]], \"mass\": \"solid\"}]}}", "must be a closed surface"},
        {"{\"rigid_body_problem\": {\n" BODIES "{\"vertices\": [[0,0,0],[0,0,0]], \"edges\":"
            " [[0,1]]}]}}", "scene:2: body 0 has no size in edge 0"},
        {"{\"rigid_body_problem\": {\n" BODIES "{\"vertices\": [[0,0,0],[NaN,0,0]]}]}}",
            "scene:2: "},
        {"{\"rigid_body_problem\": {\n" BODIES "{\"mesh\": \"no/such.obj\"}]}}", "scene:2: mesh"},
        {"{\"rigid_body_problem\": {\n" BODIES CUBE ", \"densty\": 3}]}}",
            "nearest known one is \"rigid_body_problem.rigid_bodies[].density\""},
        {"{\"timestp\": 1, \"rigid_body_problem\": {" BODIES CUBE "}]}}",
            "nearest known one is \"timestep\""},
        {"{\"rigid_body_problem\": {\n" BODIES CUBE ", \"type\": \"soft\"}]}}", "type \"soft\""},
        {"{\"rigid_body_problem\": {\n" BODIES "{\"vertices\": [[0,0,0],[1,0,0]], \"edges\":"
            " [[0,2]]}]}}", "scene:2: edges: 2 is no vertex"},
        {"{\"rigid_body_problem\": {\n" BODIES "{\"vertices\": [[0,0,0]]},\n{\"vertices\":"
            " [[0,0]]}]}}", "scene:3: 2D and 3D"},
        {"{\"rigid_body_problem\": {\n" BODIES "]}}", "at least one entry"},
        {"{\"timestep\": 0, \"rigid_body_problem\": {" BODIES CUBE "}]}}", "must be positive"},
        {"{\"rigid_body_problem\": {\n" BODIES "{\"vertices\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]],"
            " \"faces\": [[0,1,2],[0,3,1],[0,2,3],[1,3,2]]}]}}", "inside out"}};
    char said[4096];
    size_t i;
    (void)params, (void)data;
    for (i = 0; i < sizeof bad / sizeof *bad; ++i) {
        munit_assert_int(heard(bad[i].text, said, sizeof said), ==, 0);
        if (!strstr(said, bad[i].says)) munit_errorf("case %d said: %s", (int)i, said);
    }
    return MUNIT_OK;
}

static MunitResult names_the_guilty(const MunitParameter params[], void *data)
{
    world w;
    (void)params, (void)data;
    munit_assert_int(open_world(&w, "{\"rigid_body_problem\": {" BODIES CUBE ", \"name\": \"one\"},"
        CUBE ", \"position\": [0.5, 0.2, 0.1], \"name\": \"two\"}]}}", 1.0, 1), ==, 0);
    munit_assert_not_null(strstr(w.error, "one and two near"));
    munit_assert_int(w.guilty.tris, >, 0);
    close_world(&w);
    return MUNIT_OK;
}

/* A kinematic body driven into a static one behind a dynamic one says so. */
static MunitResult unreachable(const MunitParameter params[], void *data)
{
    sim_report r;
    world w;
    int i, status = 0;
    (void)params, (void)data;
    munit_assert_int(open_world(&w, "{\"ipc_solver\": {\"max_iterations\": 300},"
        " \"rigid_body_problem\": {" BODIES FLOOR "}, " CUBE ", \"position\": [0, 0.52, 0]}, " CUBE
        ", \"position\": [0, 1.56, 0], \"type\": \"kinematic\","
        " \"linear_velocity\": [0, -1, 0]}]}}",
        1.0, 1), ==, 1);
    for (i = 0; i < 20 && status == 0; ++i) status = rsim_step(w.s, 0.01, &r);
    munit_assert_int(status, ==, 2);
    close_world(&w);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/threads", threads, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/resume", resume, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/scales", scales, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/sticks_and_slides", sticks_and_slides, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/stops", stops, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/momentum", momentum, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/energy", energy, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/tunnelling", tunnelling, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/thin_bodies", thin_bodies, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/plane_world", plane_world, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/sample_scenes", sample_scenes, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/refusals", refusals, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/names_the_guilty", names_the_guilty, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/unreachable", unreachable, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

static const MunitSuite suite = {"/rigid_sim", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
