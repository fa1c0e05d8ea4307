/* gap-rigid.c - rigid bodies from a scene file, free of intersections
   Reads a scene (common/rscene.h), steps it (common/rsim.h), and writes frames.gapf, stats.csv,
   poses.csv, checkpoint.bin and view.html into a directory. Without a scene it runs the demo. */
#include "frames.h"
#include "gen.h"
#include "rscene.h"
#include "rsim.h"
#include "rundir.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION "gap-rigid 0.1.0"

static const char help[] =
    "usage: gap-rigid [SCENE.json] [-o DIR] [options]\n"
    "Without a scene: the demo. Writes frames.gapf, stats.csv, poses.csv, checkpoint.bin and\n"
    "view.html to DIR (default SCENE.out).\n"
    "  --steps N       stop after N steps in all\n"
    "  --threads N     default: one per core; the result does not depend on it\n"
    "  --resume        go on from the checkpoint in DIR\n"
    "  --overwrite     replace what is in DIR\n"
    "  --verify        exact check for intersections after every step\n"
    "  --expect        check the scene's expectations at the end; exit 1 if one is not met\n"
    "  --check         read the scene, say what looks unwise, do not run\n"
    "  --ccd inclusion|additive   certified (default) or cheaper linear collision detection\n"
    "  --parity        as rigid-ipc: no pairs of points and wires, its tolerance, torque doubled\n"
    "  --scale S       multiply all lengths by S (a power of two gives the same bits times S)\n"
    "  --every K       write every K-th step as a frame\n"
    "  --mesh-dir D    look for mesh files there first\n"
    "  --vtu --obj     also write these, one file a frame\n"
    "  --help --version --help-scene --help-mesh\n";

typedef struct options {
    const char *scene, *dir, *mesh_dir;
    long long steps;
    int threads, resume, overwrite, verify, expect, check, additive, parity, every, vtu, obj;
    double scale;
} options;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static int fail(int code, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "gap-rigid: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return code;
}

/* ---------------------------------------------------------------- the demo */
enum { DEMO = 16384 };

static void demo_body(char *text, const char *format, ...)
{
    size_t at = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + at, DEMO - at, format, args);
    va_end(args);
}

/* Cards of 2.5 x 1.25 m without thickness lean at 65 degrees in rows of 3, 2 and 1 tents, with
   overlapping cards laid between the rows; two cubes fall on them. */
static void demo(char *text)
{
    double up = 2.5 * sin(65.0 * 3.14159265358979 / 180.0), gap = 2e-3, y = gap;
    double wide = 2.5 * cos(65.0 * 3.14159265358979 / 180.0) + 0.01;
    int row, i;
    strcpy(text, "{\"timestep\": 0.01, \"max_time\": 2.4,\n"
        "\"friction_constraints\": {\"static_friction_speed_bound\": 1e-3},\n"
        "\"rigid_body_problem\": {\"gravity\": [0, -9.81, 0], \"coefficient_friction\": 0.6,\n"
        "\"rigid_bodies\": [\n");
    for (row = 3; row > 0; --row) {
        double left = -wide * row;
        for (i = 0; i < 2 * row; ++i) {
            demo_body(text, "{\"mesh\": {\"kind\": \"sheet\", \"size\": [2.5, 1.25], \"cells\": 1},"
                " \"name\": \"card %d.%d\",\n \"density\": 10, \"rotation\": [0, 0, %d],"
                " \"position\": [%.6f, %.6f, 0]},\n", row, i, i % 2 ? -65 : 65,
                left + wide * i + 0.5 * wide, y + 0.5 * up);
        }
        y += up + gap;
        for (i = 0; i < row - 1; ++i) {
            demo_body(text, "{\"mesh\": {\"kind\": \"sheet\", \"size\": [2.5, 1.25], \"cells\": 1},"
                " \"name\": \"roof %d.%d\",\n \"density\": 10, \"position\": [%.6f, %.6f, 0]},\n",
                row, i, left + 2.0 * wide * (i + 1), y + gap * i);
        }
        y += gap * row;
    }
    for (i = 0; i < 2; ++i) {
        demo_body(text, "{\"mesh\": {\"kind\": \"box\", \"size\": 0.5, \"cells\": 1}, \"name\":"
            " \"cube %d\",\n \"density\": 100, \"rotation\": [%d, 20, 40],"
            " \"position\": [%.2f, %.3f, 0.1], \"linear_velocity\": [%.1f, -2, 0]},\n", i,
            30 + 25 * i, i ? 1.4 : -0.6, y + 0.8 + 1.5 * i, i ? -2.0 : 1.0);
    }
    demo_body(text, "{\"mesh\": {\"kind\": \"sheet\", \"size\": [16, 12], \"cells\": 1},"
        " \"name\": \"ground\", \"type\": \"static\"}]}}\n");
}

/* ---------------------------------------------------------------- files of a run */
typedef struct run {
    const options *o;
    const rscene *sc;
    rsim *s;
    char dir[3000];
    frames_writer *frames;
    FILE *stats, *poses;
    unsigned char *state;
} run;

static const char pose_columns[] =
    "step,time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n";

static int put_poses(run *r)
{
    double p[13];
    int i, k;
    for (i = 0; i < r->sc->bodies; ++i) {
        rsim_pose(r->s, i, p);
        fprintf(r->poses, "%lld,%.17g,%d", rsim_steps(r->s), rsim_time(r->s), i);
        for (k = 0; k < 13; ++k) fprintf(r->poses, ",%.17g", p[k]);
        fputc('\n', r->poses);
    }
    return fflush(r->poses) == 0;
}

static int write_checkpoint(run *r)
{
    rsim_save(r->s, r->state);
    return rundir_save(r->dir, r->state, rsim_state_size(r->s));
}

static int read_checkpoint(run *r)
{
    size_t n = rsim_state_size(r->s);
    int got = rundir_load(r->dir, r->state, n);
    if (got == 0) return fail(0, "%s/checkpoint.bin: %s", r->dir, strerror(errno));
    if (got < 0) return fail(0, "%s/checkpoint.bin: damaged, or of another scene", r->dir);
    if (!rsim_load(r->s, r->state, n)) {
        return fail(0, "%s/checkpoint.bin: belongs to another scene or scale", r->dir);
    }
    return 1;
}

static int put_frame(run *r)
{
    const double *x = rsim_frame(r->s);
    struct frames_topo t;
    long long step = rsim_steps(r->s);
    int ok = 1;
    if (!frames_write(r->frames, step, rsim_time(r->s), x)) return 0;
    if (!r->o->obj && !r->o->vtu) return 1;
    if (!rsim_topology(r->s, &t)) return 0;
    if (r->o->obj) ok = rundir_mesh("gap-rigid", r->dir, step, "obj", r->sc->dim, &t, x);
    if (ok && r->o->vtu) ok = rundir_mesh("gap-rigid", r->dir, step, "vtu", r->sc->dim, &t, x);
    rsim_topology_free(&t);
    return ok;
}

/* Header of a new frames.gapf: names, and which bodies may overlap because they never move. */
static int begin_frames(run *r, const char *path)
{
    int i, n = r->sc->bodies, ok;
    const char **names = malloc(((size_t)n + 1) * sizeof *names);
    unsigned char *fixed = malloc((size_t)n + 1);
    for (i = 0; names && fixed && i < n; ++i) {
        names[i] = r->sc->body[i].name;
        fixed[i] = r->sc->body[i].type == 1;
    }
    r->frames = names && fixed ? frames_create(path, r->sc->dim, n, names) : NULL;
    ok = r->frames && frames_write_fixed(r->frames, fixed);
    free((void *)names);
    free(fixed);
    return ok;
}

static int open_run(run *r)
{
    char path[4096];
    struct frames_topo t;
    long long kept = 0;
    int ok, resume;
    struct stat st;
    r->state = malloc(rsim_state_size(r->s));
    if (!r->state) return fail(3, "out of memory");
    if (mkdir(r->dir, 0777) != 0 && errno != EEXIST) {
        return fail(errno == ENOSPC ? 3 : 2, "%s: %s", r->dir, strerror(errno));
    }
    rundir_path(r->dir, "checkpoint.bin", path); /* killed before the first one: begin again */
    resume = r->o->resume && access(path, F_OK) == 0;
    rundir_path(r->dir, "frames.gapf", path);
    if (stat(path, &st) == 0 && !r->o->resume && !r->o->overwrite) {
        return fail(2, "%s holds another run; use --resume or --overwrite", r->dir);
    }
    if (resume) {
        if (!read_checkpoint(r)) return 2;
        r->frames = frames_resume(path, rsim_steps(r->s), &kept);
        if (!r->frames) return fail(2, "%s: cannot be read or written", path);
    } else if (!begin_frames(r, path)) {
        return fail(errno == ENOSPC ? 3 : 2, "%s: %s", path, strerror(errno));
    }
    if (kept == 0) {
        ok = rsim_topology(r->s, &t) && frames_write_topo(r->frames, &t);
        rsim_topology_free(&t);
        if (!ok || !put_frame(r)) return fail(3, "%s: cannot write", path);
    }
    r->stats = rundir_rows(r->dir, "stats.csv", rundir_columns, rsim_steps(r->s));
    r->poses = rundir_rows(r->dir, "poses.csv", pose_columns, rsim_steps(r->s));
    if (!r->stats || !r->poses) return fail(2, "%s: %s", r->dir, strerror(errno));
    return write_checkpoint(r) ? 0 : fail(3, "%s/checkpoint.bin: %s", r->dir, strerror(errno));
}

/* ---------------------------------------------------------------- the loop */
/* One step of h, or two of h/2 if that does not converge. 0, or an exit code. */
static int advance(run *r, sim_report *p)
{
    double h = r->sc->h;
    long long step = rsim_steps(r->s) + 1;
    int status = rsim_step(r->s, h, p), met = 0;
    if (status == 1) {
        return fail(1, "step %lld does not converge. The last good state is kept in %s. A smaller"
            " time step, a larger activation distance or a larger velocity_conv_tol may help.",
            step, r->dir);
    }
    if (status == 2) {
        return fail(1, "step %lld: a kinematic body cannot reach its place: something that cannot"
            " move is in its way. The last good state is kept in %s.", step, r->dir);
    }
    if (status == -2) return fail(3, "out of memory");
    if (status < 0) return fail(1, "step %lld: error %d; the last good state is kept", step,
        status);
    if (p->halves) fail(0, "step %lld did not converge at h = %g s; done as two of h/2", step, h);
    if (r->o->verify) {
        status = rsim_verify(r->s, &met);
        if (status < 0) return fail(3, "verify: error %d", status);
        if (met) return fail(1, "step %lld: %d pairs intersect", step, met);
    }
    return 0;
}

static int loop(run *r)
{
    long long first = rsim_steps(r->s), last = r->sc->steps;
    double t0 = rundir_clock(), saved = t0;
    int code = 0, every = r->o->every > 0 ? r->o->every : r->sc->every;
    sim_report p;
    if (r->o->steps >= 0 && r->o->steps < last) last = r->o->steps;
    while (rsim_steps(r->s) < last && !code && !interrupted) {
        code = advance(r, &p);
        if (code) break;
        if (!rundir_stats(r->stats, rsim_steps(r->s), rsim_time(r->s), &p) || !put_poses(r)) {
            code = fail(3, "%s: %s", r->dir, strerror(errno));
        }
        if (!code && (rsim_steps(r->s) % every == 0 || rsim_steps(r->s) == last) && !put_frame(r)) {
            code = fail(3, "%s/frames.gapf: %s", r->dir, strerror(errno));
        }
        if (!code && rundir_clock() > saved + 1.0) { /* to the disk and back takes many steps */
            if (!write_checkpoint(r)) {
                code = fail(3, "%s/checkpoint.bin: %s", r->dir, strerror(errno));
            }
            saved = rundir_clock();
        }
        rundir_progress(&p, rsim_time(r->s), t0, first, rsim_steps(r->s), last);
    }
    if (code != 3 && !write_checkpoint(r)) {
        code = fail(3, "%s/checkpoint.bin: %s", r->dir, strerror(errno));
    }
    if (interrupted && !code) {
        fail(0, "interrupted after step %lld; --resume goes on from there", rsim_steps(r->s));
        code = 130;
    }
    return code;
}

/* ---------------------------------------------------------------- expectations and advice */
/* Powers of the length that a quantity has. */
static double unit_of(const char *name, const rscene *sc)
{
    if (!strcmp(name, "contacts") || !strcmp(name, "turned") || !strcmp(name, "spin")) return 1.0;
    if (!strcmp(name, "kinetic")) return pow(sc->scale, sc->dim + 2);
    return sc->scale;
}

static int expectations(run *r)
{
    const rscene *sc = r->sc;
    int i, bad = 0;
    double v;
    if (sc->expect_contact >= 0) {
        rsim_quantity(r->s, "contacts", "", &v);
        if ((v > 0.0) != sc->expect_contact) bad = 1;
        printf("%s  contact %s\n", bad ? "MISSED" : "met   ", v > 0.0 ? "happened" :
            "did not happen");
    }
    for (i = 0; i < sc->expects; ++i) {
        const scene_expect *e = &sc->expect[i];
        int ok;
        if (!rsim_quantity(r->s, e->name, e->body, &v)) {
            return fail(2, "%s:%d: expect: unknown quantity \"%s\" or body \"%s\"",
                r->o->scene ? r->o->scene : "demo", e->line, e->name, e->body);
        }
        v /= unit_of(e->name, sc);
        ok = v >= e->low && v <= e->high;
        printf("%s  %s %s = %.9g in [%.9g, %.9g]\n", ok ? "met   " : "MISSED", e->body, e->name, v,
            e->low, e->high);
        bad |= !ok;
    }
    return bad;
}

static void advice(const rscene *sc, const rsim *s)
{
    static const char *const types[] = {"dynamic", "static", "kinematic"};
    double k[2], edge = rsim_shortest_edge(s), l = rsim_length(s), p[13];
    int i;
    rsim_kappa_bounds(s, k);
    printf("l=%.6g dhat=%.6g dhat/l=%.3g shortest_edge=%.6g kappa_min=%.6g kappa_max=%.6g\n", l,
        sc->dhat, sc->dhat / l, edge, k[0], k[1]);
    printf("steps=%lld h=%.6g bodies=%d vertices=%d\n", sc->steps, sc->h, sc->bodies,
        rsim_nodes(s));
    for (i = 0; i < sc->bodies; ++i) {
        rsim_pose(s, i, p);
        printf("body=%d name=\"%s\" type=%s mass=%.9g center=%.9g,%.9g,%.9g\n", i, sc->body[i].name,
            types[sc->body[i].type], rsim_mass(s, i), p[0], p[1], p[2]);
    }
    if (sc->dhat > 0.5 * edge) printf("unwise: the activation distance is more than half the"
        " shortest edge\n");
    if (sc->dhat < 1e-6 * l) printf("unwise: activation distance below 1e-6 l: expect many Newton"
        " iterations\n");
    if (sc->kappa > 0.0 && (sc->kappa < 0.01 * k[0] || sc->kappa > 100.0 * k[1])) {
        printf("unwise: the fixed barrier stiffness is far outside [kappa_min, kappa_max]\n");
    }
    if (sc->h > 0.1) printf("unwise: a time step above 0.1 s damps motion strongly\n");
}

/* ---------------------------------------------------------------- command line */
static int parse_value(options *o, const char *a, const char *v)
{
    char *end = NULL;
    if (!strcmp(a, "-o")) o->dir = v;
    else if (!strcmp(a, "--mesh-dir")) o->mesh_dir = v;
    else if (!strcmp(a, "--steps")) return (o->steps = strtoll(v, &end, 10)) >= 0 && *v && !*end;
    else if (!strcmp(a, "--threads")) return (o->threads = (int)strtol(v, &end, 10)) > 0 && !*end;
    else if (!strcmp(a, "--every")) return (o->every = (int)strtol(v, &end, 10)) > 0 && !*end;
    else if (!strcmp(a, "--scale")) {
        o->scale = strtod(v, &end);
        return o->scale > 0.0 && !*end && o->scale < 1e300;
    } else if (!strcmp(a, "--ccd")) {
        o->additive = !strcmp(v, "additive");
        return o->additive || !strcmp(v, "inclusion");
    } else return -1;
    return 1;
}

static int parse(int argc, char **argv, options *o)
{
    int i, ok;
    for (i = 1; i < argc; ++i) {
        const char *a = argv[i];
        if (!strcmp(a, "--help")) return fputs(help, stdout), 1;
        if (!strcmp(a, "--version")) return puts(VERSION), 1;
        if (!strcmp(a, "--help-scene")) return rscene_help(stdout), 1;
        if (!strcmp(a, "--help-mesh")) return gen_help(stdout), 1;
        if (!strcmp(a, "--resume")) o->resume = 1;
        else if (!strcmp(a, "--overwrite")) o->overwrite = 1;
        else if (!strcmp(a, "--verify")) o->verify = 1;
        else if (!strcmp(a, "--expect")) o->expect = 1;
        else if (!strcmp(a, "--check")) o->check = 1;
        else if (!strcmp(a, "--parity")) o->parity = 1;
        else if (!strcmp(a, "--vtu")) o->vtu = 1;
        else if (!strcmp(a, "--obj")) o->obj = 1;
        else if (a[0] != '-') {
            if (o->scene) return fail(2, "two scenes: %s and %s", o->scene, a) + 1;
            o->scene = a;
        } else {
            if (i + 1 >= argc) return fail(2, "%s: unknown, or its value is missing (--help)", a)
                + 1;
            ok = parse_value(o, a, argv[++i]);
            if (ok < 0) return fail(2, "unknown option %s (--help)", a) + 1;
            if (!ok) return fail(2, "%s: bad value %s (--help)", a, argv[i]) + 1;
        }
    }
    return 0;
}

/* The primitives that meet at the start, to look at. */
static void write_guilty(const run *r, mesh *guilty)
{
    char path[4096];
    mesh_error e;
    if (guilty->nodes == 0) return;
    snprintf(path, sizeof path, "%s.guilty.obj", r->dir);
    if (mesh_write(path, guilty, &e)) fail(0, "the primitives concerned are in %s", path);
    else fail(0, "%s: %s", path, e.text);
}

static int simulate(const options *o, const rscene *sc, const char *self)
{
    static char error[8192];
    rsim_options so;
    mesh guilty;
    run r;
    int code;
    memset(&so, 0, sizeof so);
    memset(&r, 0, sizeof r);
    memset(&guilty, 0, sizeof guilty);
    so.additive = o->additive;
    so.threads = pool_open(o->threads);
    r.o = o;
    r.sc = sc;
    rundir_name(o->dir, o->scene, "gap-rigid.out", r.dir, sizeof r.dir);
    r.s = rsim_open(sc, &so, &guilty, error, sizeof error);
    if (!r.s) {
        fail(0, "%s:%s%s", o->scene ? o->scene : "demo", strcmp(error, "out of memory") ? "" : " ",
            error);
        write_guilty(&r, &guilty);
        code = strcmp(error, "out of memory") ? 2 : 3;
    } else if (o->check) {
        advice(sc, r.s);
        code = 0;
    } else {
        signal(SIGINT, on_interrupt);
        code = open_run(&r);
        if (!code) code = loop(&r);
        if (r.frames && !frames_finish(r.frames) && !code) {
            code = fail(3, "%s/frames.gapf: cannot write", r.dir);
        }
        if (r.stats && fclose(r.stats) != 0 && !code) code = 3;
        if (r.poses && fclose(r.poses) != 0 && !code) code = 3;
        if (!code && o->expect) code = expectations(&r);
        if (!code || code == 130 || code == 1) rundir_view(r.dir, self);
    }
    mesh_free(&guilty);
    free(r.state);
    rsim_close(r.s);
    pool_close(so.threads);
    return code;
}

int main(int argc, char **argv)
{
    static char text[DEMO];
    rscene_options ro;
    options o;
    rscene sc;
    int code, ok;
    memset(&o, 0, sizeof o);
    o.steps = -1;
    o.scale = 1.0;
    code = parse(argc, argv, &o);
    if (code) return code - 1;
    memset(&ro, 0, sizeof ro);
    ro.program = "gap-rigid";
    ro.mesh_dir = o.mesh_dir;
    ro.scale = o.scale;
    ro.parity = o.parity;
    if (o.scene) ok = rscene_read(&sc, o.scene, &ro);
    else {
        demo(text);
        ok = rscene_parse(&sc, "demo", text, strlen(text), &ro);
    }
    if (!ok) return 2;
    code = simulate(&o, &sc, argv[0]);
    rscene_free(&sc);
    return code;
}
