/* test_sim.c - apps/common/sim and gap-sim: bits, analytic answers, bad scenes, killed runs */
#include <munit.h>
#include "util.h"

#include "frames.h"
#include "sim.h"

#include <signal.h>
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
    int i, n;
    double low = HUGE_VAL;
    (void)p; (void)user;
    open_world(&w, text, 1.0, 1);
    run(&w, 8, 1);
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

/* ---------------------------------------------------------------- the program */
static const char program[] = "build/gap-sim";

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
    if (access(program, X_OK) != 0) return MUNIT_SKIP;
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
    if (access(program, X_OK) != 0) return MUNIT_SKIP;
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

static void kill_after(const char *scene_path, const char *dir, long nanoseconds)
{
    struct timespec t;
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
    waitpid(child, NULL, 0);
}

static MunitResult test_killed(const MunitParameter p[], void *user)
{
    char dir[] = "/tmp/gap_sim_XXXXXX", path[200], run_dir[200], said[400];
    long long want_step = -1, step = -2;
    uint64_t want;
    int i, n = util_count(20, 200);
    (void)p; (void)user;
    if (access(program, X_OK) != 0) return MUNIT_SKIP;
    munit_assert_not_null(mkdtemp(dir));
    put(dir, "s.json", tumble, path);
    munit_assert_int(shell("%s %s -o %s/whole > /dev/null 2>&1", path, dir), ==, 0);
    want = last_frame(dir, "whole", &want_step);
    munit_assert_int((int)want_step, ==, 20);
    snprintf(run_dir, sizeof run_dir, "%s/cut", dir);
    for (i = 0; i < n; ++i) kill_after(path, run_dir, 1000000L * (2 + munit_rand_int_range(0, 60)));
    munit_assert_int(shell("%s %s -o %s/cut --resume > /dev/null 2>&1", path, dir), ==, 0);
    munit_assert_uint64(last_frame(dir, "cut", &step), ==, want);
    munit_assert_int((int)step, ==, 20);
    snprintf(said, sizeof said, "rm -r %s", dir);
    return system(said) == 0 ? MUNIT_OK : MUNIT_FAIL;
}

#define T(name, f) {(char *)name, f, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}
static MunitTest tests[] = {T("/save_load", test_save_load), T("/scale", test_scale),
    T("/workers", test_workers), T("/two_cubes_rest", test_two_cubes_rest),
    T("/slope_slides", test_slope_slides), T("/slope_creeps", test_slope_creeps),
    T("/slope_threshold", test_slope_threshold),
    T("/tunnelling", test_tunnelling), T("/quadratic_ball", test_quadratic_ball),
    T("/twist", test_twist), T("/press", test_press), T("/traction", test_traction),
    T("/momentum", test_momentum), T("/program/bad_scenes", test_bad_scenes),
    T("/program/directory", test_directory), T("/program/killed", test_killed),
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

int main(int argc, char *argv[])
{
    static const MunitSuite suite = {(char *)"/sim", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};
    return munit_suite_main(&suite, NULL, argc, argv);
}
