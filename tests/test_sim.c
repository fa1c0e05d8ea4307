/* test_sim.c - apps/common/sim and gap-sim: bits, analytic answers, bad scenes, killed runs */
#include <munit.h>
#include "util.h"

#include "frames.h"
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct world {
    scene sc;
    pool *threads;
    sim *s;
    sim_report r;
} world;

static void open_world(world *w, const char *text, double scale, int workers)
{
    static char error[4096];
    sim_options o;
    memset(w, 0, sizeof *w);
    memset(&o, 0, sizeof o);
    munit_assert_int(scene_parse(&w->sc, "test", "text", text, strlen(text), NULL, scale), ==, 1);
    o.threads = w->threads = workers > 1 ? pool_open(workers) : NULL;
    w->s = sim_open(&w->sc, &o, error, sizeof error);
    if (!w->s) munit_errorf("sim_open: %s", error);
}

static void close_world(world *w)
{
    sim_close(w->s);
    pool_close(w->threads);
    scene_free(&w->sc);
}

static void run(world *w, int steps, int verify)
{
    int i, met = 0, inverted = 0;
    for (i = 0; i < steps; ++i) {
        munit_assert_int(sim_step(w->s, w->sc.h, &w->r), ==, 0);
        if (!verify) continue;
        munit_assert_int(sim_verify(w->s, &met, &inverted), >=, 0);
        munit_assert_int(met, ==, 0);
        munit_assert_int(inverted, ==, 0);
    }
}

static double ask(world *w, const char *name, const char *body)
{
    double v = 0.0;
    munit_assert_int(sim_quantity(w->s, name, body, &v), ==, 1);
    return v;
}

static const char tumble[] =
    "{\"geometry\": [{\"name\": \"ring\", \"mesh\": {\"kind\": \"torus\", \"segments\": 10},"
    " \"transformation\": {\"rotation\": [20, 0, 10], \"translation\": [0, 0.28, 0]}},"
    " {\"name\": \"box\", \"mesh\": {\"kind\": \"box\", \"size\": 0.3},"
    " \"transformation\": {\"translation\": [0.3, 0.72, 0]}}, {\"type\": \"ground\"}],"
    "\"boundary_conditions\": {\"rhs\": [0, 9.81, 0]}, \"time\": {\"dt\": 0.02, \"tend\": 0.4},"
    "\"contact\": {\"friction_coefficient\": 0.3}}";

static MunitResult test_save_load(const MunitParameter p[], void *user)
{
    world a, b;
    size_t size;
    void *bytes;
    (void)p; (void)user;
    open_world(&a, tumble, 1.0, 1);
    run(&a, 10, 0);
    open_world(&b, tumble, 1.0, 1);
    run(&b, 5, 0);
    size = sim_state_size(b.s);
    bytes = munit_malloc(size);
    sim_save(b.s, bytes);
    close_world(&b);
    open_world(&b, tumble, 1.0, 1);
    munit_assert_int(sim_load(b.s, bytes, size - 1), ==, 0);
    munit_assert_int(sim_load(b.s, bytes, size), ==, 1);
    run(&b, 5, 0);
    munit_assert_int((int)sim_steps(b.s), ==, 10);
    munit_assert_double(ask(&a, "contacts", ""), >, 0.0);
    munit_assert_memory_equal(3 * (size_t)sim_vertices(a.s) * sizeof(double), sim_surface(a.s),
        sim_surface(b.s));
    free(bytes);
    close_world(&a);
    close_world(&b);
    return MUNIT_OK;
}

static MunitResult test_scale(const MunitParameter p[], void *user)
{
    static const double factor[3] = {0.0009765625, 1024.0, 0.5};
    world a, b;
    int k, i;
    (void)p; (void)user;
    open_world(&a, tumble, 1.0, 1);
    run(&a, 12, 0);
    munit_assert_int(a.r.contacts, >, 0);
    for (k = 0; k < 3; ++k) {
        open_world(&b, tumble, factor[k], 1);
        run(&b, 12, 0);
        for (i = 0; i < 3 * sim_vertices(a.s); ++i) {
            munit_assert_double(sim_surface(b.s)[i], ==, factor[k] * sim_surface(a.s)[i]);
        }
        close_world(&b);
    }
    close_world(&a);
    return MUNIT_OK;
}

static MunitResult test_workers(const MunitParameter p[], void *user)
{
    world a, b;
    int n;
    (void)p; (void)user;
    open_world(&a, tumble, 1.0, 1);
    run(&a, 12, 0);
    for (n = 2; n <= 3; ++n) {
        open_world(&b, tumble, 1.0, n);
        run(&b, 12, 0);
        munit_assert_memory_equal(3 * (size_t)sim_vertices(a.s) * sizeof(double),
            sim_surface(a.s), sim_surface(b.s));
        close_world(&b);
    }
    close_world(&a);
    return MUNIT_OK;
}

static MunitResult test_two_cubes_rest(const MunitParameter p[], void *user)
{
    static const char text[] =
        "{\"geometry\": [{\"name\": \"low\", \"mesh\": {\"kind\": \"box\"}, \"transformation\":"
        " {\"translation\": [0, 0.51, 0]}}, {\"name\": \"high\", \"mesh\": {\"kind\": \"box\","
        " \"size\": 0.5}, \"transformation\": {\"translation\": [0.1, 1.28, 0.05]}},"
        " {\"type\": \"ground\"}], \"materials\": {\"E\": 1e6, \"rho\": 1000},"
        "\"contact\": {\"friction_coefficient\": 0.5},"
        "\"boundary_conditions\": {\"rhs\": [0, 9.81, 0]}, \"solver\": {\"eps_d_relative\": 1e-4}}";
    world w;
    double low[3], high[3];
    (void)p; (void)user;
    open_world(&w, text, 1.0, 1);
    run(&w, 80, 1);
    munit_assert_double(ask(&w, "speed", ""), <, 1e-3);
    munit_assert_int(sim_body_force(w.s, 0, low), ==, 1);
    munit_assert_int(sim_body_force(w.s, 1, high), ==, 1);
    util_assert_rel(high[1], 125.0 * 9.81, 0.01);
    util_assert_rel(low[1] + high[1], 1125.0 * 9.81, 0.01);
    munit_assert_double(ask(&w, "min_y", "low"), >, 0.0);
    close_world(&w);
    return MUNIT_OK;
}

/* A cube on the plane with normal (1,2,0): tan(theta) = 1/2, started a gap above it. Returns its
   speed along the slope at the end, and at half time in *half. */
static double slope(double mu, double epsv, double gap, double tol, int steps, double *half)
{
    static const char form[] =
        "{\"geometry\": [{\"name\": \"block\", \"mesh\": {\"kind\": \"box\"}, \"transformation\":"
        " {\"rotation\": [0, 0, -26.56505117707799], \"translation\": [%.17g, %.17g, 0]}},"
        " {\"type\": \"plane\", \"point\": [0, 0, 0], \"normal\": [1, 2, 0]}],"
        "\"materials\": {\"E\": 1e9}, \"boundary_conditions\": {\"rhs\": [0, 9.80665, 0]},"
        "\"contact\": {\"friction_coefficient\": %g, \"epsv\": %.17g}, \"solver\":"
        " {\"eps_d_relative\": %g, \"contact\": {\"friction_iterations\": -1}}}";
    char text[1500];
    double up = 0.5 + gap, x, y, speed = 0.0;
    world w;
    int i, at;
    snprintf(text, sizeof text, form, up / sqrt(5.0), 2.0 * up / sqrt(5.0), mu, epsv, tol);
    open_world(&w, text, 1.0, 1);
    for (i = 1; i <= steps; ++i) {
        x = ask(&w, "mean_x", "block");
        y = ask(&w, "mean_y", "block");
        run(&w, 1, 0);
        munit_assert_double(w.r.cone_residual, <, fmax(1e-6, tol) * 9806.65); /* the lag is */
        at = i == steps / 2 || i == steps;
        if (at) speed = ((ask(&w, "mean_x", "block") - x) * 2.0 -
            (ask(&w, "mean_y", "block") - y)) / sqrt(5.0) / w.sc.h;
        if (i == steps / 2 && half) *half = speed;
    }
    close_world(&w);
    return speed;
}

static MunitResult test_slope_slides(const MunitParameter p[], void *user)
{
    double half = 0.0, end = slope(0.49, 1.7e-5, 5e-4, 1e-9, 60, &half);
    (void)p; (void)user;
    util_assert_rel((end - half) / (30 * 0.025), 9.80665 * 2.0 / sqrt(5.0) * 0.01, 0.02);
    return MUNIT_OK;
}

static MunitResult test_slope_creeps(const MunitParameter p[], void *user)
{
    static const double eps[2] = {1e-3, 1e-5};
    int i;
    (void)p; (void)user;
    for (i = 0; i < 2; ++i) {
        double want = eps[i] * (1.0 - sqrt(1.0 - 0.5 / 0.6));
        util_assert_rel(slope(0.6, eps[i], 5e-4, 1e-9, 60, NULL), want, 0.02);
    }
    return MUNIT_OK;
}

/* Dropped on the slope, with a Newton tolerance ten times eps_v: it must neither keep a speed that
   the friction of the step in which it landed should have taken, nor stick because its first Newton
   steps are small. Speed a t beyond the threshold, not more than eps_v below it. */
static MunitResult test_slope_threshold(const MunitParameter p[], void *user)
{
    static const double mu[4] = {0.49, 0.495, 0.5, 0.505};
    int i;
    (void)p; (void)user;
    for (i = 0; i < 4; ++i) {
        double v = slope(mu[i], 1.7e-5, 2.4e-3, 1e-4, 40, NULL);
        if (mu[i] < 0.5) util_assert_rel(v, 9.80665 * 2.0 / sqrt(5.0) * (0.5 - mu[i]), 0.05);
        else munit_assert_double(v, <=, 1.01 * 1.7e-5);
    }
    return MUNIT_OK;
}

static MunitResult test_tunnelling(const MunitParameter p[], void *user)
{
    static const double speed[3] = {10, 100, 1000};
    char text[1000];
    world w;
    int i;
    (void)p; (void)user;
    for (i = 0; i < 3; ++i) {
        snprintf(text, sizeof text, "{\"geometry\": [{\"name\": \"ball\", \"mesh\": {\"kind\":"
            " \"ball\", \"radius\": 0.2, \"refine\": 1}, \"velocity\": [0, %g, 0],"
            " \"transformation\": {\"translation\": [0.03, 0.3, 0.02]}}, {\"name\": \"wall\","
            " \"is_obstacle\": true, \"mesh\": {\"kind\": \"sheet\", \"size\": 20, \"cells\": 4}}],"
            "\"materials\": {\"E\": 1e6}, \"time\": {\"dt\": 0.02}}", -speed[i]);
        open_world(&w, text, 1.0, 1);
        run(&w, 5, 1);
        munit_assert_double(ask(&w, "contacts", ""), >, 0.0);
        munit_assert_double(ask(&w, "min_y", "ball"), >, 0.0);
        close_world(&w);
    }
    return MUNIT_OK;
}

static MunitResult test_quadratic_ball(const MunitParameter p[], void *user)
{
    static const char text[] =
        "{\"geometry\": [{\"name\": \"ball\", \"mesh\": {\"kind\": \"ball\", \"refine\": 1,"
        " \"order\": 2}, \"transformation\": {\"translation\": [0, 0.51, 0]}},"
        " {\"type\": \"ground\"}], \"space\": {\"discr_order\": 2},"
        "\"boundary_conditions\": {\"rhs\": [0, 9.81, 0]}}";
    world w;
    (void)p; (void)user;
    open_world(&w, text, 1.0, 1);
    run(&w, 12, 1);
    munit_assert_double(ask(&w, "contacts", ""), >, 0.0);
    munit_assert_double(ask(&w, "min_y", "ball"), >, -1e-2);
    close_world(&w);
    return MUNIT_OK;
}

static MunitResult test_twist(const MunitParameter p[], void *user)
{
    static const char text[] =
        "{\"geometry\": [{\"name\": \"bar\", \"mesh\": {\"kind\": \"box\", \"size\": [1, 0.2, 0.2],"
        " \"cells\": [5, 1, 1]}}], \"boundary_conditions\": {\"dirichlet_boundary\": ["
        "{\"id\": 1, \"value\": [0, 0, 0]}, {\"id\": 3, \"value\": [0,"
        " \"y*(cos(t)-1)-z*sin(t)\", \"y*sin(t)+z*(cos(t)-1)\"]}]}, \"time\": {\"dt\": 0.05}}";
    world w;
    const double *x;
    int i, moved = 0;
    double y, z;
    (void)p; (void)user;
    open_world(&w, text, 1.0, 1);
    run(&w, 20, 1);
    x = sim_surface(w.s);
    y = 0.1 * cos(1.0) - 0.1 * sin(1.0);
    z = 0.1 * sin(1.0) + 0.1 * cos(1.0);
    for (i = 0; i < sim_vertices(w.s); ++i) { /* where the corner (0.5, 0.1, 0.1) has to be */
        moved += fabs(x[3 * i] - 0.5) < 1e-12 && fabs(x[3 * i + 1] - y) < 1e-12 &&
            fabs(x[3 * i + 2] - z) < 1e-12;
    }
    munit_assert_int(moved, ==, 1);
    close_world(&w);
    return MUNIT_OK;
}

/* A plate comes down on a soft cube in steps far longer than the gap: it has to arrive. */
static MunitResult test_press(const MunitParameter p[], void *user)
{
    static const char text[] =
        "{\"geometry\": [{\"name\": \"cube\", \"mesh\": {\"kind\": \"box\", \"cells\": 2},"
        " \"transformation\": {\"translation\": [0, 0.501, 0]}}, {\"name\": \"plate\","
        " \"is_obstacle\": true, \"mesh\": {\"kind\": \"sheet\", \"size\": 3, \"cells\": 1},"
        " \"transformation\": {\"translation\": [0.1, 1.05, 0]}, \"motion\":"
        " {\"velocity\": [0, -2, 0], \"until\": 0.3}}, {\"type\": \"ground\"}],"
        "\"materials\": {\"E\": 1e4, \"nu\": 0.3}, \"time\": {\"dt\": 0.05}}";
    world w;
    const double *x;
    int i, n, pulled = 0;
    double low = HUGE_VAL;
    (void)p; (void)user;
    open_world(&w, text, 1.0, 1);
    for (i = 0; i < 8; ++i) {
        run(&w, 1, 1);
        pulled += w.r.al > 0;
        munit_assert_double(w.r.progress, >=, 0.999);
    }
    munit_assert_int(pulled, >, 0); /* by the augmented Lagrangian */
    x = sim_surface(w.s);
    n = sim_vertices(w.s);
    for (i = n - 4; i < n; ++i) low = fmin(low, x[3 * i + 1]);
    util_assert_rel(low, 0.45, 1e-9);
    munit_assert_double(ask(&w, "max_y", "cube"), <, 0.45);
    close_world(&w);
    return MUNIT_OK;
}

/* Pulled at the top, held at the bottom, nu = 0: u = t L / E, linear through the height. */
static MunitResult test_traction(const MunitParameter p[], void *user)
{
    static const char text[] =
        "{\"geometry\": [{\"name\": \"bar\", \"mesh\": {\"kind\": \"box\", \"size\": [1, 2, 1],"
        " \"cells\": [2, 4, 2]}}], \"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 2,"
        " \"value\": [0, 0, 0]}], \"neumann_boundary\": [{\"id\": 4, \"value\": [0, 100, 0]}]},"
        "\"materials\": {\"type\": \"LinearElasticity\", \"E\": 1e5, \"nu\": 0},"
        "\"time\": {\"quasistatic\": true}, \"solver\": {\"eps_d_relative\": 1e-10}}";
    world w;
    (void)p; (void)user;
    open_world(&w, text, 1.0, 1);
    run(&w, 1, 0);
    util_assert_rel(ask(&w, "max_y", "bar") - 1.0, 100.0 * 2.0 / 1e5, 1e-8);
    util_assert_rel(w.r.elastic, 0.5 * 100.0 * 100.0 / 1e5 * 2.0, 1e-6);
    close_world(&w);
    return MUNIT_OK;
}

/* Two cubes meet in empty space: momentum stays; alone they fly with the energy they had. */
static MunitResult test_momentum(const MunitParameter p[], void *user)
{
    static const char text[] =
        "{\"geometry\": [{\"name\": \"a\", \"mesh\": {\"kind\": \"box\"}, \"velocity\":"
        " [2, 0.5, 0]}, {\"name\": \"b\", \"mesh\": {\"kind\": \"box\", \"size\": 0.5},"
        " \"transformation\": {\"translation\": [0.9, 0.1, 0.05]}}], \"materials\": {\"E\": 1e6},"
        "\"contact\": {\"friction_coefficient\": 0.2}, \"solver\": {\"eps_d_relative\": 1e-10},"
        "\"time\": {\"dt\": 0.01}}";
    world w;
    int i;
    (void)p; (void)user;
    open_world(&w, text, 1.0, 1);
    run(&w, 5, 0);
    util_assert_rel(w.r.kinetic, 500.0 * (4.0 + 0.25), 1e-9);
    for (i = 0; i < 25; ++i) {
        run(&w, 1, 1);
        munit_assert_double(fabs(w.r.momentum[0] - 2000.0), <, 2e-6);
        munit_assert_double(fabs(w.r.momentum[1] - 500.0), <, 2e-6);
        munit_assert_double(fabs(w.r.momentum[2]), <, 2e-6);
        munit_assert_double(w.r.kinetic + w.r.elastic, <, 2125.0 * (1.0 + 1e-9));
    }
    munit_assert_double(ask(&w, "contacts", ""), >, 0.0);
    close_world(&w);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- steps that fail */
/* A plate driven through a cube into the ground: the step ends, says why, and changes nothing. */
static MunitResult test_unreachable(const MunitParameter p[], void *user)
{
    static const char text[] =
        "{\"geometry\": [{\"name\": \"cube\", \"mesh\": {\"kind\": \"box\", \"cells\": 2},"
        " \"transformation\": {\"translation\": [0, 0.501, 0]}}, {\"name\": \"plate\","
        " \"is_obstacle\": true, \"mesh\": {\"kind\": \"sheet\", \"size\": 3, \"cells\": 1},"
        " \"transformation\": {\"translation\": [0.1, 1.05, 0]}, \"motion\":"
        " {\"velocity\": [0, -2, 0]}}, {\"type\": \"ground\"}],"
        "\"materials\": {\"E\": 1e4, \"nu\": 0.3}, \"time\": {\"dt\": 0.05}}";
    unsigned char *before, *after;
    size_t size;
    int i, status = 0, met, inverted;
    world w;
    (void)p; (void)user;
    open_world(&w, text, 1.0, 1);
    size = sim_state_size(w.s);
    before = munit_malloc(size);
    after = munit_malloc(size);
    for (i = 0; i < 20 && status == 0; ++i) {
        sim_save(w.s, before);
        status = sim_step(w.s, w.sc.h, &w.r);
    }
    munit_assert_int(status, ==, 1);
    munit_assert_int(i, >, 5);
    sim_save(w.s, after);
    munit_assert_memory_equal(size, before, after);
    munit_assert_not_null(strstr(sim_why(w.s), "scripted"));
    munit_assert_int(sim_verify(w.s, &met, &inverted), >=, 0);
    munit_assert_int(met + inverted, ==, 0);
    free(before);
    free(after);
    close_world(&w);
    return MUNIT_OK;
}

/* Two obstacles driven into each other are stopped too; obstacles at rest may overlap. */
static MunitResult test_obstacles_meet(const MunitParameter p[], void *user)
{
    static const char text[] =
        "{\"geometry\": [{\"name\": \"far\", \"mesh\": {\"kind\": \"box\"}, \"transformation\":"
        " {\"translation\": [0, 9, 0]}}, {\"name\": \"wall\", \"is_obstacle\": true, \"mesh\":"
        " {\"kind\": \"box\"}}, {\"name\": \"more wall\", \"is_obstacle\": true, \"mesh\":"
        " {\"kind\": \"box\"}, \"transformation\": {\"translation\": [0.5, 0.1, 0]}},"
        " {\"name\": \"ram\", \"is_obstacle\": true, \"mesh\": {\"kind\": \"sheet\", \"cells\": 2},"
        " \"transformation\": {\"translation\": [0.1, 1, 0]}, \"motion\": {\"velocity\":"
        " [0, -4, 0]}}], \"time\": {\"dt\": 0.05}}";
    int i, status = 0, met, inverted;
    world w;
    (void)p; (void)user;
    open_world(&w, text, 1.0, 1);
    for (i = 0; i < 5 && status == 0; ++i) status = sim_step(w.s, w.sc.h, &w.r);
    munit_assert_int(status, ==, 1);
    munit_assert_int(sim_verify(w.s, &met, &inverted), >=, 0);
    munit_assert_int(met, ==, 0);
    munit_assert_double(ask(&w, "min_y", "ram"), >, 0.6);
    close_world(&w);
    return MUNIT_OK;
}

static const char drop[] =
    "{\"geometry\": [{\"name\": \"ball\", \"mesh\": {\"kind\": \"ball\", \"radius\": 0.2,"
    " \"refine\": 1}, \"velocity\": [0, -30, 0], \"transformation\": {\"translation\":"
    " [0.03, 0.3, 0.02]}}, {\"type\": \"ground\"}], \"materials\": {\"E\": 1e5},"
    "\"boundary_conditions\": {\"rhs\": [0, 9.81, 0]}, \"time\": {\"dt\": 0.02, \"tend\": 0.2}%s}";

/* With a limit on iterations that h exceeds and h/2 does not, a step is done as two halves. */
static MunitResult test_halved(const MunitParameter p[], void *user)
{
    char text[1000], more[100];
    int cap, i, most = 0, halves = 0, status = 0;
    world w;
    (void)p; (void)user;
    snprintf(text, sizeof text, drop, "");
    open_world(&w, text, 1.0, 1);
    for (i = 0; i < 10; ++i) {
        run(&w, 1, 0);
        if (w.r.newton > most) most = w.r.newton;
        munit_assert_int(w.r.halves, ==, 0);
    }
    close_world(&w);
    for (cap = most - 1; cap > 1 && !halves; --cap) {
        snprintf(more, sizeof more, ", \"solver\": {\"nonlinear\": {\"max_iterations\": %d}}", cap);
        snprintf(text, sizeof text, drop, more);
        open_world(&w, text, 1.0, 1);
        for (i = 0; i < 10 && status == 0; ++i) {
            status = sim_step(w.s, w.sc.h, &w.r);
            if (status == 0 && w.r.halves) {
                halves = 1;
                munit_assert_int(w.r.newton, >, 1);
                munit_assert_int((int)sim_steps(w.s), ==, i + 1);
                munit_assert_double(fabs(sim_time(w.s) - 0.02 * (i + 1)), <, 1e-12);
                munit_assert_not_null(strstr(sim_why(w.s), "max_iterations"));
            }
        }
        status = 0;
        close_world(&w);
    }
    munit_assert_int(halves, ==, 1);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- what is reported */
/* Neo-Hookean force of one linear tet on its nodes: -V P(F) B^T, P = mu (F - F^-T) + la ln J F^-T.
   Returns det F. */
static double tet_force(const double X[4][3], const double x[4][3], double la, double mu,
    double f[4][3])
{
    double D[3][3], d[3][3], Di[3][3], F[3][3], C[3][3], P[3][3], J, V, s;
    int i, j, k;
    for (i = 0; i < 3; ++i) for (j = 0; j < 3; ++j) {
        D[i][j] = X[j + 1][i] - X[0][i];
        d[i][j] = x[j + 1][i] - x[0][i];
    }
    for (i = 0; i < 3; ++i) for (j = 0; j < 3; ++j) { /* cofactors, transposed */
        Di[j][i] = D[(i + 1) % 3][(j + 1) % 3] * D[(i + 2) % 3][(j + 2) % 3] -
            D[(i + 1) % 3][(j + 2) % 3] * D[(i + 2) % 3][(j + 1) % 3];
    }
    V = D[0][0] * Di[0][0] + D[0][1] * Di[1][0] + D[0][2] * Di[2][0];
    for (i = 0; i < 3; ++i) for (j = 0; j < 3; ++j) Di[i][j] /= V;
    for (i = 0; i < 3; ++i) for (j = 0; j < 3; ++j) {
        for (F[i][j] = 0.0, k = 0; k < 3; ++k) F[i][j] += d[i][k] * Di[k][j];
    }
    for (i = 0; i < 3; ++i) for (j = 0; j < 3; ++j) {
        C[i][j] = F[(i + 1) % 3][(j + 1) % 3] * F[(i + 2) % 3][(j + 2) % 3] -
            F[(i + 1) % 3][(j + 2) % 3] * F[(i + 2) % 3][(j + 1) % 3];
    }
    J = F[0][0] * C[0][0] + F[0][1] * C[0][1] + F[0][2] * C[0][2];
    for (i = 0; i < 3; ++i) for (j = 0; j < 3; ++j) {
        P[i][j] = mu * (F[i][j] - C[i][j] / J) + la * log(J) * C[i][j] / J;
    }
    for (i = 0; i < 3; ++i) {
        f[0][i] = 0.0;
        for (j = 0; j < 3; ++j) {
            for (s = 0.0, k = 0; k < 3; ++k) s -= fabs(V) / 6.0 * P[i][k] * Di[j][k];
            f[j + 1][i] = s;
            f[0][i] -= s;
        }
    }
    return J;
}

/* b(d^2) = -(d^2 - dhat^2)^2 ln(d^2 / dhat^2): the force -db/dd. */
static double barrier_force(double d, double dhat)
{
    double D = d * d, H = dhat * dhat;
    return d < dhat ? 2.0 * d * (2.0 * (D - H) * log(D / H) + (D - H) * (D - H) / D) : 0.0;
}

/* A soft box sinks into the ground's barrier under a loose tolerance; every measure is computed
   again from positions alone. */
static MunitResult test_measures(const MunitParameter p[], void *user)
{
    static const char text[] =
        "{\"geometry\": [{\"name\": \"box\", \"mesh\": {\"kind\": \"box\", \"cells\": 2},"
        " \"transformation\": {\"rotation\": [3, 0, 5], \"translation\": [0, 0.6, 0]},"
        " \"velocity\": [0, -1, 0]}, {\"type\": \"ground\"}], \"materials\": {\"E\": 2e4, \"nu\":"
        " 0.3, \"rho\": 1000}, \"boundary_conditions\": {\"rhs\": [0, 9.81, 0]}, \"contact\":"
        " {\"dhat\": 0.01}, \"solver\": {\"contact\": {\"barrier_stiffness\": 1e6}}, \"time\":"
        " {\"dt\": 0.02}}";
    double la = 2e4 * 0.3 / (1.3 * 0.4), mu = 2e4 / 2.6, h = 0.02, *x0, *v0, *f, *mass, worst = 0.0;
    frames_topo t;
    const double *x;
    size_t bytes;
    int n, i, k, j, step, touched = 0, loose = 0;
    world w;
    (void)p; (void)user;
    open_world(&w, text, 1.0, 1);
    munit_assert_int(sim_topology(w.s, &t), ==, 1);
    n = t.nodes;
    bytes = 3 * (size_t)n * sizeof *x0;
    x0 = munit_malloc(bytes);
    v0 = munit_malloc(bytes);
    f = munit_malloc(bytes);
    mass = munit_malloc(bytes);
    memcpy(x0, sim_frame(w.s), bytes);
    for (i = 0; i < 3 * n; ++i) v0[i] = i % 3 == 1 ? -1.0 : 0.0;
    memset(mass, 0, bytes);
    for (i = 0; i < t.elems; ++i) for (k = 0; k < 4; ++k) { /* 48 tets of equal volume */
        mass[t.elem[4 * i + k]] += 1000.0 / 48.0 / 4.0;
    }
    for (step = 0; step < 12; ++step) {
        double low = HUGE_VAL, far = 0.0, det = HUGE_VAL, residual = 0.0, weakest = HUGE_VAL;
        double kinetic = 0.0, press = 0.0, body[3];
        int contacts = 0;
        static double rest[27 * 3];
        if (step == 0) memcpy(rest, x0, bytes);
        run(&w, 1, 0);
        x = sim_frame(w.s);
        memset(f, 0, bytes);
        for (i = 0; i < t.elems; ++i) {
            double X[4][3], y[4][3], g[4][3];
            for (k = 0; k < 4; ++k) {
                memcpy(X[k], rest + 3 * t.elem[4 * i + k], sizeof X[k]);
                memcpy(y[k], x + 3 * t.elem[4 * i + k], sizeof y[k]);
            }
            det = fmin(det, tet_force((const double (*)[3])X, (const double (*)[3])y, la, mu, g));
            for (k = 0; k < 4; ++k) for (j = 0; j < 3; ++j) f[3 * t.elem[4 * i + k] + j] += g[k][j];
        }
        for (i = 0; i < n; ++i) {
            double d = x[3 * i + 1], F = 1e6 / (h * h) * barrier_force(d, 0.01);
            low = fmin(low, d);
            if (d < 0.01) {
                ++contacts;
                far = fmax(far, d);
                weakest = fmin(weakest, F);
            }
            press += F;
            for (k = 0; k < 3; ++k) {
                double v = (x[3 * i + k] - x0[3 * i + k]) / h;
                double a = (v - v0[3 * i + k]) / h + (k == 1 ? 9.81 : 0.0);
                residual = fmax(residual, fabs(mass[i] * a - f[3 * i + k] - (k == 1 ? F : 0.0)));
                kinetic += 0.5 * mass[i] * v * v;
                v0[3 * i + k] = v;
            }
        }
        memcpy(x0, x, bytes);
        munit_assert_int(w.r.contacts, ==, contacts);
        util_assert_rel(w.r.min_det, det, 1e-9);
        util_assert_rel(w.r.kinetic, kinetic, 1e-9);
        munit_assert_double(fabs(w.r.momentum_residual - residual), <, 1e-5 + 1e-6 * residual);
        worst = fmax(worst, residual);
        loose += residual > 1.0;
        if (!contacts) continue;
        ++touched;
        util_assert_rel(w.r.min_distance, low, 1e-12);  /* admissible */
        util_assert_rel(w.r.max_active, far, 1e-12);    /* complementary: no force beyond dhat */
        util_assert_rel(w.r.min_force, weakest, 1e-6);  /* positive */
        sim_body_force(w.s, 0, body);
        util_assert_rel(body[1], press, 1e-9);
    }
    munit_assert_int(touched, >, 3);
    munit_assert_int(loose, >, 0); /* a residual that is not zero was compared */
    free(x0);
    free(v0);
    free(f);
    free(mass);
    sim_topology_free(&t);
    close_world(&w);
    return MUNIT_OK;
}

/* One lag pass on a slope: friction of the step is mu times the normal forces at its start, so it
   sticks out of today's cones by what the formulas say. */
static MunitResult test_cone(const MunitParameter p[], void *user)
{
    static const char text[] =
        "{\"geometry\": [{\"name\": \"box\", \"mesh\": {\"kind\": \"box\"}, \"transformation\":"
        " {\"translation\": [0, 0.503, 0]}, \"velocity\": [1, 0, 0.3]}, {\"type\": \"ground\"}],"
        "\"materials\": {\"E\": 1e5, \"nu\": 0.3},"
        "\"boundary_conditions\": {\"rhs\": [0, 9.81, 0]}, \"contact\": {\"dhat\": 0.01,"
        " \"friction_coefficient\": 0.4, \"epsv\": 0.01}, \"solver\":"
        " {\"contact\": {\"barrier_stiffness\": 1e6}}, \"time\": {\"dt\": 0.02}}";
    double x0[24], h = 0.02;
    const double *x;
    int i, step, seen = 0;
    world w;
    (void)p; (void)user;
    open_world(&w, text, 1.0, 1);
    for (step = 0; step < 15; ++step) {
        double want = 0.0;
        memcpy(x0, sim_frame(w.s), sizeof x0);
        run(&w, 1, 0);
        x = sim_frame(w.s);
        for (i = 0; i < 8; ++i) {
            double u = hypot(x[3 * i] - x0[3 * i], x[3 * i + 2] - x0[3 * i + 2]) / (0.01 * h);
            double then = 1e6 / (h * h) * barrier_force(x0[3 * i + 1], 0.01);
            double today = 1e6 / (h * h) * barrier_force(x[3 * i + 1], 0.01);
            want = fmax(want, 0.4 * (then * (u < 1.0 ? u * (2.0 - u) : 1.0) - today));
        }
        munit_assert_double(fabs(w.r.cone_residual - want), <, 1e-9 + 1e-8 * want);
        seen += want > 1.0;
    }
    munit_assert_int(seen, >, 3);
    close_world(&w);
    return MUNIT_OK;
}

/* Weight is carried by contact; without friction too, save that a body on a tilted face slides:
   the force that the soft lower cube gives is normal to its upper face. */
static MunitResult test_forces(const MunitParameter p[], void *user)
{
    static const char form[] =
        "{\"geometry\": [{\"name\": \"low\", \"mesh\": {\"kind\": \"box\"}, \"transformation\":"
        " {\"translation\": [0, 0.51, 0]}}, {\"name\": \"high\", \"mesh\": {\"kind\": \"box\","
        " \"size\": 0.5}, \"transformation\": {\"translation\": [0.1, 1.28, 0.05]}},"
        " {\"type\": \"ground\"}], \"materials\": {\"E\": %s, \"rho\": 1000},"
        "\"boundary_conditions\": {\"rhs\": [0, 9.81, 0]}, \"solver\": {\"eps_d_relative\": 1e-6}}";
    static const char *const E[2] = {"1e6", "1e10"};
    double side[2];
    int i, k, n;
    (void)p; (void)user;
    for (i = 0; i < 2; ++i) {
        char text[1000];
        sim_pair *pair;
        const double *x;
        double a = 0.0, b = 0.0, sum[3] = {0, 0, 0};
        world w;
        snprintf(text, sizeof text, form, E[i]);
        open_world(&w, text, 1.0, 1);
        run(&w, 80, 1);
        util_assert_rel(ask(&w, "force_y", "low"), 1000.0 * 9.81, 0.01);
        util_assert_rel(ask(&w, "force_y", "high"), 125.0 * 9.81, 0.01);
        util_assert_rel(ask(&w, "force_y", ""), 1125.0 * 9.81, 0.01);
        n = sim_pair_forces(w.s, &pair);
        munit_assert_int(n, ==, 2);
        munit_assert_int(pair[0].a, ==, 0);
        munit_assert_int(pair[0].b, ==, 1);
        munit_assert_int(pair[1].b, ==, 2); /* the plane */
        util_assert_rel(pair[0].force[1], -125.0 * 9.81, 0.01);
        util_assert_rel(pair[1].force[1], 1125.0 * 9.81, 0.01);
        munit_assert_double(pair[0].friction, ==, 0.0);
        munit_assert_double(pair[0].normal, >=, fabs(pair[0].force[1]));
        for (k = 0; k < 3 * sim_vertices(w.s); ++k) sum[k % 3] += sim_forces(w.s)[k];
        for (k = 0; k < 3; ++k) munit_assert_double(fabs(sum[k] - pair[1].force[k]), <, 1e-8);
        x = sim_surface(w.s); /* slope of the upper face of the lower cube, two sides averaged */
        for (k = 0; k < 8; ++k) {
            const double *y = x + 3 * k;
            if (y[1] < 0.5) continue;
            a += y[1] * (y[0] > 0 ? 1 : -1);
            b += y[1] * (y[2] > 0 ? 1 : -1);
        }
        side[i] = hypot(pair[0].force[0], pair[0].force[2]);
        if (i == 0) {
            util_assert_rel(pair[0].force[0], 0.5 * a * -pair[0].force[1], 0.05);
            util_assert_rel(pair[0].force[2], 0.5 * b * -pair[0].force[1], 0.05);
        } else munit_assert_double(ask(&w, "speed", ""), <, 1e-3); /* hard: it rests */
        free(pair);
        close_world(&w);
    }
    munit_assert_double(side[1], <, 0.05 * side[0]);
    return MUNIT_OK;
}

/* What --check foretells of a box at rest. */
static MunitResult test_resting_gap(const MunitParameter p[], void *user)
{
    static const char text[] =
        "{\"geometry\": [{\"name\": \"box\", \"mesh\": {\"kind\": \"box\"},"
        " \"transformation\": {\"translation\": [0, 0.505, 0]}}, {\"type\": \"ground\"}],"
        "\"materials\": {\"E\": 1e6, \"nu\": 0}, \"boundary_conditions\": {\"rhs\":"
        " [0, 9.81, 0]}, \"solver\": {\"eps_d_relative\": 1e-6, \"contact\":"
        " {\"barrier_stiffness\": 1e8}}}";
    world w;
    (void)p; (void)user;
    open_world(&w, text, 1.0, 1);
    run(&w, 120, 0);
    util_assert_rel(ask(&w, "force_y", "box"), 9810.0, 1e-3);
    util_assert_rel(0.5 * (w.r.min_distance + w.r.max_active), sim_resting_gap(w.s), 0.05);
    close_world(&w);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- the program */
static const char program[] = "build/gap-sim";

/* Built, and not older than what it is made of: an old one would be blamed for new tests. */
static int program_is_fresh(void)
{
    static const char *const made_of[] = {"apps/gap-sim.c", "apps/common/sim.c",
        "apps/common/gen.c", "apps/common/scene.c", "apps/common/keys.h", "apps/common/rundir.c",
        "apps/common/gltf.c", "apps/common/frames.c"};
    struct stat p, s;
    size_t i;
    if (access(program, X_OK) != 0 || stat(program, &p) != 0) return 0;
    for (i = 0; i < sizeof made_of / sizeof *made_of; ++i) {
        if (stat(made_of[i], &s) == 0 && s.st_mtime > p.st_mtime) return 0;
    }
    return 1;
}

static int shell(const char *format, const char *a, const char *b)
{
    char command[2000];
    int status;
    snprintf(command, sizeof command, format, program, a, b);
    status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void put(const char *dir, const char *name, const char *text, char path[200])
{
    FILE *f;
    snprintf(path, 200, "%.150s/%s", dir, name);
    f = fopen(path, "wb");
    munit_assert_not_null(f);
    fputs(text, f);
    fclose(f);
}

static int slurp(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(out, 1, size - 1, f) : 0;
    out[n] = '\0';
    if (f) fclose(f);
    return f != NULL;
}

static MunitResult clean(const char *dir)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command) == 0 ? MUNIT_OK : MUNIT_FAIL;
}

static MunitResult test_bad_scenes(const MunitParameter p[], void *user)
{
    static const struct { const char *text, *say; } bad[] = {
        {"{\"geometry\": [{\"mesh\": {\"kind\": \"box\"}}],\n\"contakt\": {}}", ":2:"},
        {"{\"geometry\": [{\"mesh\": {\"kind\": \"box\"}}],\n\"contact\": {\"dhatt\": 1}}",
            "\"contact.dhat\""},
        {"{\"geometry\": [\n{\"mesh\": \"nowhere.msh\"}]}", "nowhere.msh"},
        {"{\"geometry\": [{\"mesh\": {\"kind\": \"box\"}}],\n\"time\": {\"dt\": NaN}}", ":2:"},
        {"{\"geometry\": [{\"mesh\": {\"kind\": \"box\"}}],\n\"time\": {\"dt\": 0}}", ":2:"},
        {"{\"geometry\": [{\"mesh\": {\"kind\": \"box\"}}],\n\"materials\": {\"rho\": 0}}",
            "rho must be positive"},
        {"{\"geometry\": [{\"mesh\": {\"kind\": \"box\"}}],\n\"materials\": {\"nu\": 0.5}}", "nu"},
        {"{\"geometry\": [{\"mesh\": {\"kind\": \"sheet\"}}]}", "tetrahedra"},
        {"{\"geometry\": []}", ":1:"},
        {"[1, 2]", "object"},
        {"", ":1:"},
        {"{\"geometry\": [{\"name\": \"first\", \"mesh\": {\"kind\": \"box\"}},\n{\"name\":"
         " \"second\", \"mesh\": {\"kind\": \"box\"}, \"transformation\": {\"translation\":"
         " [1, 0, 0]}}]}", "second"},
        {"{\"geometry\": [{\"name\": \"first\", \"mesh\": {\"kind\": \"box\"}},\n{\"name\":"
         " \"second\", \"mesh\": {\"kind\": \"box\"}, \"transformation\": {\"translation\":"
         " [0.5, 0.3, 0.2]}}]}", "second"}};
    char dir[] = "/tmp/gap_sim_XXXXXX", path[200], out[200], said[4000];
    size_t i;
    (void)p; (void)user;
    if (!program_is_fresh()) return MUNIT_SKIP;
    munit_assert_not_null(mkdtemp(dir));
    for (i = 0; i < sizeof bad / sizeof *bad; ++i) {
        const char *at;
        put(dir, "s.json", bad[i].text, path);
        snprintf(out, sizeof out, "%s/err", dir);
        munit_assert_int(shell("%s %s --steps 1 2> %s > /dev/null", path, out), ==, 2);
        munit_assert_int(slurp(out, said, sizeof said), ==, 1);
        at = strstr(said, "s.json:");
        if (!at || at[7] < '0' || at[7] > '9') munit_errorf("no FILE:LINE in %s", said);
        if (!strstr(said, bad[i].say)) munit_errorf("%s not in %s", bad[i].say, said);
    }
    snprintf(out, sizeof out, "%s/s.out", dir);
    munit_assert_int(access(out, F_OK), !=, 0); /* nothing half-written */
    snprintf(said, sizeof said, "rm -r %s", dir);
    return system(said) == 0 ? MUNIT_OK : MUNIT_FAIL;
}

static MunitResult test_directory(const MunitParameter p[], void *user)
{
    char dir[] = "/tmp/gap_sim_XXXXXX", path[200], said[4000], out[200];
    (void)p; (void)user;
    if (!program_is_fresh()) return MUNIT_SKIP;
    munit_assert_not_null(mkdtemp(dir));
    put(dir, "s.json", tumble, path);
    munit_assert_int(shell("%s %s --steps 2 -o %s/run > /dev/null 2>&1", path, dir), ==, 0);
    munit_assert_int(shell("%s %s --steps 2 -o %s/run > /dev/null 2>&1", path, dir), ==, 2);
    munit_assert_int(shell("%s %s --steps 1 --overwrite -o %s/run > /dev/null 2>&1", path, dir),
        ==, 0);
    munit_assert_int(shell("%s %s --steps 1 -o %s/no/such > /dev/null 2>&1", path, dir), ==, 2);
    munit_assert_int(shell("%s %s --check -o %s/none > /dev/null 2>&1", path, dir), ==, 0);
    munit_assert_int(shell("%s %s --forces --steps 2 -o %s/f > /dev/null 2>&1", path, dir), ==, 0);
    snprintf(out, sizeof out, "%s/f/forces.csv", dir);
    munit_assert_int(slurp(out, said, sizeof said), ==, 1);
    munit_assert_not_null(strstr(said, "step,time,body,fx,fy,fz\n1,"));
    munit_assert_not_null(strstr(said, "\n2,"));
    snprintf(said, sizeof said, "rm -r %s", dir);
    return system(said) == 0 ? MUNIT_OK : MUNIT_FAIL;
}

static uint64_t last_frame(const char *dir, const char *name, long long *step)
{
    char path[300];
    frames_reader r;
    uint64_t h = 0;
    snprintf(path, sizeof path, "%s/%s/frames.gapf", dir, name);
    munit_assert_int(frames_open(&r, path), ==, 1);
    while (frames_next(&r)) {
        h = util_hash(0, r.x, 3 * (size_t)r.topo.nodes);
        *step = r.step;
    }
    frames_close(&r);
    return h;
}

/* 1 if it was killed, 0 if it had ended by itself. */
static int kill_after(const char *scene_path, const char *dir, long nanoseconds)
{
    struct timespec t;
    int status = 0;
    pid_t child = fork();
    munit_assert_int(child, >=, 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout)) _exit(9);
        execl(program, program, scene_path, "-o", dir, "--resume", (char *)NULL);
        _exit(9);
    }
    t.tv_sec = 0;
    t.tv_nsec = nanoseconds;
    nanosleep(&t, NULL);
    kill(child, SIGKILL);
    munit_assert_int(waitpid(child, &status, 0), ==, child);
    if (WIFEXITED(status)) munit_assert_int(WEXITSTATUS(status), ==, 0);
    return WIFSIGNALED(status);
}

static MunitResult test_killed(const MunitParameter p[], void *user)
{
    char dir[] = "/tmp/gap_sim_XXXXXX", path[200], run_dir[200], file[300];
    long long want_step = -1, step = -2;
    frames_reader r;
    uint64_t want;
    int i, n = util_count(20, 200);
    (void)p; (void)user;
    if (!program_is_fresh()) return MUNIT_SKIP;
    munit_assert_not_null(mkdtemp(dir));
    put(dir, "s.json", tumble, path);
    munit_assert_int(shell("%s %s -o %s/whole > /dev/null 2>&1", path, dir), ==, 0);
    want = last_frame(dir, "whole", &want_step);
    munit_assert_int((int)want_step, ==, 20);
    snprintf(run_dir, sizeof run_dir, "%s/cut", dir);
    snprintf(file, sizeof file, "%s/frames.gapf", run_dir);
    for (i = 0; i < n;) {
        if (kill_after(path, run_dir, 1000000L * (2 + munit_rand_int_range(0, 60)))) {
            ++i;
            if (access(file, F_OK) != 0) continue;
            frames_open(&r, file); /* whatever is there is whole */
            while (frames_next(&r)) munit_assert_int((int)r.step, <=, 20);
            frames_close(&r);
        } else { /* it came to its end in between: compare, and begin again */
            munit_assert_uint64(last_frame(dir, "cut", &step), ==, want);
            munit_assert_int(clean(run_dir), ==, MUNIT_OK);
        }
    }
    munit_assert_int(shell("%s %s -o %s/cut --resume > /dev/null 2>&1", path, dir), ==, 0);
    munit_assert_uint64(last_frame(dir, "cut", &step), ==, want);
    munit_assert_int((int)step, ==, 20);
    return clean(dir);
}

/* Who touches is named with bodies and places, and drawn in a file beside the directory. */
static MunitResult test_guilty(const MunitParameter p[], void *user)
{
    static const struct { const char *place, *say, *at; double low[3], high[3]; } is[3] = {
        {"[1, 0, 0]", "touching", "(0.5, -0.5, -0.5)", {0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}},
        {"[0.5, 0.3, 0.2]", "intersections", "(0, -0.2, -0.3)", {0.0, -0.2, -0.3}, {0.5, 0.5, 0.5}},
        {"[0, 1.001, 0]", "thickness", "(-0.5, 0.501, 0.5)", {-0.5, 0.5, -0.5}, {0.5, 0.501, 0.5}}};
    char dir[] = "/tmp/gap_sim_XXXXXX", path[200], out[200], said[9000], text[600];
    mesh_error e;
    mesh m;
    int i, j, k;
    (void)p; (void)user;
    if (!program_is_fresh()) return MUNIT_SKIP;
    munit_assert_not_null(mkdtemp(dir));
    for (i = 0; i < 3; ++i) {
        snprintf(text, sizeof text, "{\"geometry\": [{\"name\": \"first\", \"mesh\": {\"kind\":"
            " \"box\"}, \"thickness\": %s},\n{\"name\": \"second\", \"mesh\": {\"kind\": \"box\"},"
            " \"transformation\": {\"translation\": %s}}]}", i == 2 ? "0.003" : "0", is[i].place);
        put(dir, "s.json", text, path);
        snprintf(out, sizeof out, "%s/err", dir);
        munit_assert_int(shell("%s %s --steps 1 2> %s > /dev/null", path, out), ==, 2);
        munit_assert_int(slurp(out, said, sizeof said), ==, 1);
        if (!strstr(said, is[i].say)) munit_errorf("%s not in %s", is[i].say, said);
        munit_assert_not_null(strstr(said, "of first\n"));
        munit_assert_not_null(strstr(said, "of second\n"));
        if (!strstr(said, is[i].at)) munit_errorf("%s not in %s", is[i].at, said);
        munit_assert_not_null(strstr(said, "s.out.guilty.obj"));
        snprintf(out, sizeof out, "%s/s.out.guilty.obj", dir);
        if (!mesh_read(out, &m, &e)) munit_errorf("%s: %s", out, e.text);
        munit_assert_int(m.tris + m.edges + m.points, >=, 2);
        for (j = 0; j < 3; ++j) { /* the box of the drawn parts covers where they meet */
            double low = HUGE_VAL, high = -HUGE_VAL;
            for (k = 0; k < m.nodes; ++k) {
                low = fmin(low, m.x[3 * k + j]);
                high = fmax(high, m.x[3 * k + j]);
            }
            munit_assert_double(low, <=, is[i].low[j]);
            munit_assert_double(high, >=, is[i].high[j]);
        }
        mesh_free(&m);
        remove(out);
    }
    snprintf(out, sizeof out, "%s/s.out", dir);
    munit_assert_int(access(out, F_OK), !=, 0);
    return clean(dir);
}

/* --check warns where the tolerance cannot tell sticking from sliding, and of a wide barrier. */
static MunitResult test_check(const MunitParameter p[], void *user)
{
    static const struct { const char *more, *say, *not; } is[5] = {
        {"\"contact\": {\"friction_coefficient\": 0.3}", "not below epsv", NULL},
        {"\"contact\": {\"friction_coefficient\": 0.3}, \"solver\": {\"eps_d_relative\": 1e-4}",
            "friction=yes", "unwise"},
        {"\"contact\": {\"friction_coefficient\": 0.3}, \"solver\": {\"contact\":"
         " {\"friction_iterations\": -1}}", "kappa_min=", "unwise"},
        {"\"contact\": {\"dhat\": 0.3}", "half the shortest edge", NULL},
        {"\"contact\": {\"dhat\": 0.001}, \"solver\": {\"contact\": {\"barrier_stiffness\": 1}}",
            "far outside", "epsv"}};
    char dir[] = "/tmp/gap_sim_XXXXXX", path[200], out[200], said[4000], text[600];
    int i;
    (void)p; (void)user;
    if (!program_is_fresh()) return MUNIT_SKIP;
    munit_assert_not_null(mkdtemp(dir));
    for (i = 0; i < 5; ++i) {
        snprintf(text, sizeof text, "{\"geometry\": [{\"mesh\": {\"kind\": \"box\", \"cells\": 2}},"
            "{\"type\": \"ground\", \"height\": -1}], \"boundary_conditions\": {\"rhs\":"
            " [0, 9.81, 0]}, %s}", is[i].more);
        put(dir, "s.json", text, path);
        snprintf(out, sizeof out, "%s/said", dir);
        munit_assert_int(shell("%s %s --check > %s", path, out), ==, 0);
        munit_assert_int(slurp(out, said, sizeof said), ==, 1);
        munit_assert_not_null(strstr(said, "resting_gap="));
        munit_assert_not_null(strstr(said, "dhat/shortest_edge="));
        if (!strstr(said, is[i].say)) munit_errorf("%s not in %s", is[i].say, said);
        if (is[i].not && strstr(said, is[i].not)) munit_errorf("%s in %s", is[i].not, said);
    }
    snprintf(out, sizeof out, "%s/s.out", dir);
    munit_assert_int(access(out, F_OK), !=, 0);
    return clean(dir);
}

/* A step that does not converge: exit 1, a reason, the last good state; a milder scene goes on. */
static MunitResult test_gives_up(const MunitParameter p[], void *user)
{
    char dir[] = "/tmp/gap_sim_XXXXXX", path[200], out[200], said[4000], text[1000];
    long long step = -1;
    (void)p; (void)user;
    if (!program_is_fresh()) return MUNIT_SKIP;
    munit_assert_not_null(mkdtemp(dir));
    snprintf(text, sizeof text, drop, ", \"solver\": {\"nonlinear\": {\"max_iterations\": 1}}");
    put(dir, "s.json", text, path);
    snprintf(out, sizeof out, "%s/err", dir);
    munit_assert_int(shell("%s %s 2> %s > /dev/null", path, out), ==, 1);
    munit_assert_int(slurp(out, said, sizeof said), ==, 1);
    munit_assert_not_null(strstr(said, "does not converge, nor at h/2"));
    munit_assert_not_null(strstr(said, "max_iterations"));
    last_frame(dir, "s.out", &step);
    munit_assert_int((int)step, <, 10);
    snprintf(text, sizeof text, drop, "");
    put(dir, "s.json", text, path);
    munit_assert_int(shell("%s %s --resume 2> %s > /dev/null", path, out), ==, 0);
    munit_assert_int(slurp(out, said, sizeof said), ==, 1);
    munit_assert_not_null(strstr(said, "the scene has changed"));
    last_frame(dir, "s.out", &step);
    munit_assert_int((int)step, ==, 10);
    put(dir, "s.json", tumble, path); /* other meshes are refused */
    munit_assert_int(shell("%s %s --resume 2> %s > /dev/null", path, out), ==, 2);
    return clean(dir);
}

static pid_t start(const char *scene_path, const char *dir, const char *option, rlim_t most)
{
    pid_t child = fork();
    munit_assert_int(child, >=, 0);
    if (child == 0) {
        struct rlimit limit;
        limit.rlim_cur = limit.rlim_max = most;
        if (most) setrlimit(RLIMIT_FSIZE, &limit);
        if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout)) _exit(9);
        execl(program, program, scene_path, "-o", dir, option, (char *)NULL);
        _exit(9);
    }
    return child;
}

static int ended(pid_t child)
{
    int status = 0;
    munit_assert_int(waitpid(child, &status, 0), ==, child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A disk that is full at any moment (a limit on file sizes stands for it): exit 3, nothing half
   written where the run could not begin, else a directory that is readable and goes on. */
static MunitResult test_disk_full(const MunitParameter p[], void *user)
{
    char dir[] = "/tmp/gap_sim_XXXXXX", path[200], run_dir[200], file[300];
    long long want_step = -1, step;
    struct stat st;
    uint64_t want;
    int begun = 0, none = 0, i;
    (void)p; (void)user;
    if (!program_is_fresh()) return MUNIT_SKIP;
    munit_assert_not_null(mkdtemp(dir));
    put(dir, "s.json", tumble, path);
    munit_assert_int(shell("%s %s -o %s/whole > /dev/null 2>&1", path, dir), ==, 0);
    want = last_frame(dir, "whole", &want_step);
    snprintf(file, sizeof file, "%s/whole/frames.gapf", dir);
    munit_assert_int(stat(file, &st), ==, 0);
    for (i = 0; i < util_count(8, 60); ++i) {
        rlim_t most = (rlim_t)munit_rand_int_range(1, (int)st.st_size / (i % 2 ? 20 : 1) - 1);
        snprintf(run_dir, sizeof run_dir, "%s/full", dir);
        munit_assert_int(ended(start(path, run_dir, "--resume", most)), ==, 3);
        if (access(run_dir, F_OK) != 0) {
            ++none;
            continue;
        }
        ++begun;
        step = -1;
        last_frame(dir, "full", &step);
        munit_assert_int((int)step, >=, 0);
        snprintf(file, sizeof file, "%s/checkpoint.tmp", run_dir);
        munit_assert_int(access(file, F_OK), !=, 0);
        munit_assert_int(ended(start(path, run_dir, "--resume", 0)), ==, 0);
        munit_assert_uint64(last_frame(dir, "full", &step), ==, want);
        munit_assert_int(clean(run_dir), ==, MUNIT_OK);
    }
    munit_assert_int(begun, >, 0);
    munit_assert_int(none, >, 0);
    munit_assert_int(ended(start(path, "/proc/gap", "--resume", 0)), ==, 2); /* not writable */
    snprintf(run_dir, sizeof run_dir, "%s/s.json/under", dir);
    munit_assert_int(ended(start(path, run_dir, "--resume", 0)), ==, 2); /* under a file */
    return clean(dir);
}

/* Ctrl-C: the step is finished, a checkpoint stands, exit 130; going on gives the same bits. */
static MunitResult test_interrupted(const MunitParameter p[], void *user)
{
    char dir[] = "/tmp/gap_sim_XXXXXX", path[200], run_dir[200], file[300], longer[1000];
    long long step = -1, want_step = -1;
    struct timespec t;
    uint64_t want;
    pid_t child;
    int i;
    (void)p; (void)user;
    if (!program_is_fresh()) return MUNIT_SKIP;
    munit_assert_not_null(mkdtemp(dir));
    snprintf(longer, sizeof longer, "%.*s\"tend\": 2}, \"contact\":"
        " {\"friction_coefficient\": 0.3}}", (int)(strstr(tumble, "\"tend\"") - tumble), tumble);
    put(dir, "s.json", longer, path);
    munit_assert_int(shell("%s %s -o %s/whole > /dev/null 2>&1", path, dir), ==, 0);
    want = last_frame(dir, "whole", &want_step);
    munit_assert_int((int)want_step, ==, 100);
    snprintf(run_dir, sizeof run_dir, "%s/cut", dir);
    snprintf(file, sizeof file, "%s/stats.csv", run_dir);
    child = start(path, run_dir, "--gltf", 0);
    t.tv_sec = 0;
    t.tv_nsec = 2000000;
    for (i = 0; i < 5000 && access(file, F_OK) != 0; ++i) nanosleep(&t, NULL);
    nanosleep(&t, NULL);
    munit_assert_int(kill(child, SIGINT), ==, 0);
    munit_assert_int(ended(child), ==, 130);
    last_frame(dir, "cut", &step);
    munit_assert_int((int)step, <, 100);
    snprintf(file, sizeof file, "%s/checkpoint.bin", run_dir);
    munit_assert_int(access(file, F_OK), ==, 0);
    munit_assert_int(ended(start(path, run_dir, "--resume", 0)), ==, 0);
    munit_assert_uint64(last_frame(dir, "cut", &step), ==, want);
    return clean(dir);
}

/* --forces and --gltf: rows add up, files are there. */
static MunitResult test_extra_files(const MunitParameter p[], void *user)
{
    char dir[] = "/tmp/gap_sim_XXXXXX", path[200], file[200], line[400];
    double body = 0.0, pairs = 0.0, nodes = 0.0;
    unsigned char head[8];
    FILE *f;
    int rows = 0;
    (void)p; (void)user;
    if (!program_is_fresh()) return MUNIT_SKIP;
    munit_assert_not_null(mkdtemp(dir));
    put(dir, "s.json", tumble, path);
    munit_assert_int(shell("%s %s --forces --gltf -o %s/f > /dev/null 2>&1", path, dir), ==, 0);
    snprintf(file, sizeof file, "%s/f/forces.csv", dir);
    f = fopen(file, "r");
    munit_assert_not_null(f);
    while (fgets(line, sizeof line, f)) {
        double y;
        if (sscanf(line, "20,%*g,%*[^,],%*g,%lg", &y) == 1) body += y;
    }
    fclose(f);
    snprintf(file, sizeof file, "%s/f/forces_pairs.csv", dir);
    f = fopen(file, "r");
    munit_assert_not_null(f);
    while (fgets(line, sizeof line, f)) { /* between two bodies it cancels, a plane's stays */
        double y;
        if (sscanf(line, "20,%*g,%*[^,],plane 1,%*d,%*g,%lg", &y) == 1) pairs += y;
    }
    fclose(f);
    snprintf(file, sizeof file, "%s/f/forces_nodes.csv", dir);
    f = fopen(file, "r");
    munit_assert_not_null(f);
    while (fgets(line, sizeof line, f)) {
        double y;
        if (sscanf(line, "20,%*g,%*d,%*[^,],%*g,%lg", &y) == 1) nodes += y, ++rows;
    }
    fclose(f);
    munit_assert_int(rows, >, 0);
    munit_assert_double(body, >, 1.0);
    util_assert_rel(pairs, body, 1e-6);
    util_assert_rel(nodes, body, 1e-6);
    snprintf(file, sizeof file, "%s/f/frames.glb", dir);
    f = fopen(file, "rb");
    munit_assert_not_null(f);
    munit_assert_size(fread(head, 1, 8, f), ==, 8);
    munit_assert_memory_equal(4, head, "glTF");
    fclose(f);
    return clean(dir);
}

/* Whole scenes scaled by 2^-10 and 2^10: frames are the same bits times the scale. */
static MunitResult test_scenes_scale(const MunitParameter p[], void *user)
{
    static const struct { const char *name; int steps; } is[10] = {{"battery-edge-edge", 40},
        {"tet-corner", 40}, {"two-cubes-fall", 25}, {"erleben-sliding-wedge", 40}, {"rollers", 20},
        {"cube-stack", 25}, {"pin-cushion", 3}, {"ball-on-segments", 20}, {"rods-twist", 4},
        {"battery-cubes-corner", 50}};
    static const double factor[2] = {0.0009765625, 1024.0};
    static char text[200000];
    int i, k, j, n = util_count(3, 10), touched = 0;
    (void)p; (void)user;
    for (i = 0; i < n; ++i) {
        char path[200];
        double *want = NULL;
        for (k = -1; k < 2; ++k) {
            world w;
            sim_options o;
            char error[4096];
            memset(&w, 0, sizeof w);
            memset(&o, 0, sizeof o);
            snprintf(path, sizeof path, "apps/scenes/%s.json", is[i].name);
            if (!slurp(path, text, sizeof text)) return MUNIT_SKIP;
            munit_assert_int(scene_parse(&w.sc, "test", path, text, strlen(text), NULL,
                k < 0 ? 1.0 : factor[k]), ==, 1);
            w.s = sim_open(&w.sc, &o, error, sizeof error);
            if (!w.s) munit_errorf("%s: %s", path, error);
            run(&w, is[i].steps, 0);
            if (k < 0) {
                touched += ask(&w, "contacts", "") > 0.0;
                want = munit_malloc(3 * (size_t)sim_vertices(w.s) * sizeof *want);
                memcpy(want, sim_surface(w.s), 3 * (size_t)sim_vertices(w.s) * sizeof *want);
            } else for (j = 0; j < 3 * sim_vertices(w.s); ++j) {
                if (sim_surface(w.s)[j] != factor[k] * want[j]) {
                    munit_errorf("%s at scale %g: coordinate %d", path, factor[k], j);
                }
            }
            close_world(&w);
        }
        free(want);
    }
    munit_assert_int(2 * touched, >, n);
    return MUNIT_OK;
}

/* --vtu: quadratic elements stay quadratic, linear ones stand beside their obstacles. */
static MunitResult test_vtu(const MunitParameter p[], void *user)
{
    static const char *const form =
        "{\"geometry\": [{\"mesh\": {\"kind\": \"ball\", \"refine\": 1, \"order\": %d},"
        " \"transformation\": {\"translation\": [0, 0.51, 0]}}, {\"is_obstacle\": true, \"mesh\":"
        " {\"kind\": \"sheet\", \"size\": 3, \"cells\": 2}}], \"space\": {\"discr_order\": %d},"
        "\"boundary_conditions\": {\"rhs\": [0, 9.81, 0]}}";
    char dir[] = "/tmp/gap_sim_XXXXXX", path[200], file[300], text[600];
    mesh_error e;
    mesh m;
    int order;
    (void)p; (void)user;
    if (!program_is_fresh()) return MUNIT_SKIP;
    munit_assert_not_null(mkdtemp(dir));
    for (order = 1; order <= 2; ++order) {
        snprintf(text, sizeof text, form, order, order);
        put(dir, "s.json", text, path);
        munit_assert_int(shell("%s %s --steps 1 --vtu --obj --overwrite -o %s/v > /dev/null 2>&1",
            path, dir), ==, 0);
        snprintf(file, sizeof file, "%s/v/frame000001.vtu", dir);
        if (!mesh_read(file, &m, &e)) munit_errorf("%s: %s", file, e.text);
        munit_assert_int(m.order, ==, order);
        munit_assert_int(m.tets, ==, 20);
        munit_assert_int(m.tris, ==, order == 1 ? 8 : 0);
        mesh_free(&m);
        snprintf(file, sizeof file, "%s/v/frame000001.obj", dir);
        if (!mesh_read(file, &m, &e)) munit_errorf("%s: %s", file, e.text);
        munit_assert_int(m.tris, ==, 8 + (order == 1 ? 20 : 80));
        mesh_free(&m);
    }
    return clean(dir);
}

#define T(name, f) {(char *)name, f, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}
static MunitTest tests[] = {T("/save_load", test_save_load), T("/scale", test_scale),
    T("/workers", test_workers), T("/two_cubes_rest", test_two_cubes_rest),
    T("/slope_slides", test_slope_slides), T("/slope_creeps", test_slope_creeps),
    T("/slope_threshold", test_slope_threshold),
    T("/tunnelling", test_tunnelling), T("/quadratic_ball", test_quadratic_ball),
    T("/twist", test_twist), T("/press", test_press), T("/unreachable", test_unreachable),
    T("/obstacles_meet", test_obstacles_meet), T("/halved", test_halved),
    T("/measures", test_measures), T("/cone", test_cone), T("/forces", test_forces),
    T("/resting_gap", test_resting_gap),
    T("/traction", test_traction),
    T("/momentum", test_momentum), T("/program/bad_scenes", test_bad_scenes),
    T("/program/directory", test_directory), T("/program/killed", test_killed),
    T("/program/guilty", test_guilty), T("/program/check", test_check),
    T("/program/gives_up", test_gives_up), T("/program/disk_full", test_disk_full),
    T("/program/interrupted", test_interrupted), T("/program/extra_files", test_extra_files),
    T("/program/vtu", test_vtu), T("/scenes_scale", test_scenes_scale),
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

int main(int argc, char *argv[])
{
    static const MunitSuite suite = {(char *)"/sim", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};
    return munit_suite_main(&suite, NULL, argc, argv);
}
