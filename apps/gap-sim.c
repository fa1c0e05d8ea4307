/* gap-sim.c - deformable bodies from a scene file, free of intersections
   Reads a scene (common/scene.h), steps it (common/sim.h), and writes frames.gapf, stats.csv,
   checkpoint.bin and view.html into a directory. Without a scene it runs the demo below. */
#include "frames.h"
#include "gen.h"
#include "gltf.h"
#include "rundir.h"
#include "scene.h"
#include "sim.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define VERSION "gap-sim 0.1.0"

static const char help[] =
    "usage: gap-sim [SCENE.json] [-o DIR] [options]\n"
    "Without a scene: the demo. Writes frames.gapf, stats.csv, checkpoint.bin, view.html to DIR\n"
    "(default SCENE.out).\n"
    "  --steps N       stop after N steps in all\n"
    "  --threads N     default: one per core; the result does not depend on it\n"
    "  --resume        go on from the checkpoint in DIR\n"
    "  --overwrite     replace what is in DIR\n"
    "  --verify        exact check for intersections and inversions after every step\n"
    "  --expect        check the scene's expectations at the end; exit 1 if one is not met\n"
    "  --variant V     with the values of one of the scene's variants\n"
    "  --variants      name them and stop\n"
    "  --check         read the scene, say what looks unwise, do not run\n"
    "  --ccd inclusion|additive   certified (default) or cheaper collision detection\n"
    "  --scale S       multiply all lengths by S (a power of two gives the same bits times S)\n"
    "  --every K       write every K-th step as a frame\n"
    "  --mesh-dir D    look for mesh files there first\n"
    "  --vtu --obj     also write these, one file a frame\n"
    "  --gltf          also write frames.glb at the end: all frames as one animation\n"
    "  --forces        also write contact forces per step: forces.csv (bodies), forces_pairs.csv,\n"
    "                  forces_nodes.csv (nodes as in frames.gapf)\n"
    "  --help --version --help-scene --help-mesh\n";

/* Rings and balls tumble into a bowl on the ground: self-contact, friction, many bodies. */
static const char demo[] =
    "{\"geometry\": [\n"
    " {\"name\": \"bowl\", \"is_obstacle\": true, \"mesh\": {\"kind\": \"bowl\", \"radius\": 1.1,\n"
    "  \"segments\": 36, \"rings\": 9}, \"transformation\": {\"translation\": [0, 1.15, 0]}},\n"
    " {\"name\": \"ring\", \"mesh\": {\"kind\": \"torus\", \"major\": 0.42, \"minor\": 0.13,\n"
    "  \"segments\": 26}, \"transformation\": {\"rotation\": [15, 0, 10],\n"
    "  \"translation\": [0, 0.75, 0]}, \"copies\": {\"count\": [1, 3, 1], \"step\": [0.08, 0.36, "
    "0.05]}},\n"
    " {\"name\": \"ball\", \"mesh\": {\"kind\": \"ball\", \"radius\": 0.24, \"refine\": 3},\n"
    "  \"transformation\": {\"translation\": [-0.3, 2.05, 0.1]},\n"
    "  \"copies\": {\"count\": [2, 2, 1], \"step\": [0.6, 0.55, 0]}},\n"
    " {\"name\": \"block\", \"mesh\": {\"kind\": \"box\", \"size\": 0.36, \"cells\": 4},\n"
    "  \"transformation\": {\"rotation\": [30, 20, 40], \"translation\": [0.05, 3.2, 0]}},\n"
    " {\"type\": \"ground\"}],\n"
    "\"materials\": {\"type\": \"NeoHookean\", \"E\": 6e4, \"nu\": 0.4, \"rho\": 1000},\n"
    "\"boundary_conditions\": {\"rhs\": [0, 9.81, 0]},\n"
    "\"contact\": {\"friction_coefficient\": 0.3},\n"
    "\"time\": {\"dt\": 0.02, \"tend\": 2.0}}\n";

typedef struct options {
    const char *scene, *dir, *mesh_dir, *variant;
    long long steps;
    int threads, resume, overwrite, verify, expect, check, additive, every, vtu, obj, gltf, forces;
    int variants;
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
    fprintf(stderr, "gap-sim: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return code;
}

/* ---------------------------------------------------------------- files of a run */
typedef struct run {
    const options *o;
    const scene *sc;
    sim *s;
    char dir[3000];
    frames_writer *frames;
    FILE *stats, *forces[3]; /* of bodies, pairs, nodes */
    unsigned char *state;
    int frame_count;
} run;

static void path_of(const run *r, const char *name, char out[4096])
{
    rundir_path(r->dir, name, out);
}

static int write_checkpoint(run *r)
{
    sim_save(r->s, r->state);
    return rundir_save(r->dir, r->state, sim_state_size(r->s));
}

static int read_checkpoint(run *r)
{
    size_t n = sim_state_size(r->s);
    int got = rundir_load(r->dir, r->state, n);
    if (got == 0) return fail(0, "%s/checkpoint.bin: %s", r->dir, strerror(errno));
    if (got < 0) return fail(0, "%s/checkpoint.bin: damaged, or of another scene", r->dir);
    got = sim_load(r->s, r->state, n);
    if (!got) return fail(0, "%s/checkpoint.bin: belongs to another scene or scale", r->dir);
    if (got == 2) {
        fail(0, "note: the scene has changed since %s/checkpoint.bin was written", r->dir);
    }
    return 1;
}

static int put_stats(run *r, const sim_report *p)
{
    double d = p->contacts ? p->min_distance : NAN;
    fprintf(r->stats, "%lld,%.17g,%d,%d,%d,%.17g,%.17g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g",
        sim_steps(r->s),
        sim_time(r->s), p->newton, p->lag, p->contacts, d, p->contacts ? p->max_active : NAN,
            p->kappa,
        p->kinetic, p->elastic, p->external, p->barrier, p->friction);
    fprintf(r->stats, ",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.6g,%.9g,%.6g,%.4g,%.4g,%.4g,%.4g,%.4g"
        ",%.4g,%.4g,%.6g,%d\n",
        p->momentum[0], p->momentum[1], p->momentum[2], p->angular[0], p->angular[1], p->angular[2],
        p->momentum_residual, p->min_det < HUGE_VAL ? p->min_det : NAN, p->cone_residual,
            p->seconds[0],
        p->seconds[1], p->seconds[2], p->seconds[3], p->seconds[4], p->seconds[5], p->seconds[6],
        p->contacts ? p->min_force : NAN, p->al);
    return fflush(r->stats) == 0;
}

/* Exit code of a failed write: 3 if the disk is full, else 2. */
static int disk(void)
{
    return errno == ENOSPC || errno == EFBIG || errno == EDQUOT ? 3 : 2;
}

/* A name as a field of a table. */
static void put_name(FILE *f, const char *name)
{
    int quote = strpbrk(name, ",\"") != NULL;
    if (quote) fputc('"', f);
    for (; *name; ++name) {
        if (*name == '"') fputc('"', f);
        fputc((unsigned char)*name < ' ' ? ' ' : *name, f);
    }
    if (quote) fputc('"', f);
}

static void put_side(const run *r, FILE *f, int body)
{
    if (body < sim_bodies(r->s)) put_name(f, sim_body_name(r->s, body));
    else fprintf(f, "plane %d", body - sim_bodies(r->s) + 1);
}

static int put_pair_forces(run *r)
{
    sim_pair *p;
    int i, n = sim_pair_forces(r->s, &p);
    for (i = 0; i < n; ++i) {
        FILE *f = r->forces[1];
        fprintf(f, "%lld,%.17g,", sim_steps(r->s), sim_time(r->s));
        put_side(r, f, p[i].a);
        fputc(',', f);
        put_side(r, f, p[i].b);
        fprintf(f, ",%d,%.9g,%.9g,%.9g,%.9g,%.9g\n", p[i].contacts, p[i].force[0], p[i].force[1],
            p[i].force[2], p[i].normal, p[i].friction);
    }
    free(p);
    return n >= 0;
}

static int put_forces(run *r)
{
    const double *v = sim_forces(r->s);
    double f[3];
    int i;
    for (i = 0; i < sim_bodies(r->s); ++i) {
        sim_body_force(r->s, i, f);
        fprintf(r->forces[0], "%lld,%.17g,", sim_steps(r->s), sim_time(r->s));
        put_name(r->forces[0], sim_body_name(r->s, i));
        fprintf(r->forces[0], ",%.9g,%.9g,%.9g\n", f[0], f[1], f[2]);
    }
    for (i = 0; v && i < sim_vertices(r->s); ++i, v += 3) {
        if (v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0) continue;
        fprintf(r->forces[2], "%lld,%.17g,%d,", sim_steps(r->s), sim_time(r->s),
            sim_frame_node(r->s, i));
        put_name(r->forces[2], sim_body_name(r->s, sim_vertex_body(r->s, i)));
        fprintf(r->forces[2], ",%.9g,%.9g,%.9g\n", v[0], v[1], v[2]);
    }
    return put_pair_forces(r) && fflush(r->forces[0]) == 0 && fflush(r->forces[1]) == 0 &&
        fflush(r->forces[2]) == 0;
}

static int open_forces(run *r)
{
    static const char *const name[3] = {"forces.csv", "forces_pairs.csv", "forces_nodes.csv"};
    static const char *const first[3] = {"step,time,body,fx,fy,fz\n",
        "step,time,body,other,contacts,fx,fy,fz,normal,friction\n",
        "step,time,node,body,fx,fy,fz\n"};
    int i;
    for (i = 0; i < 3; ++i) {
        r->forces[i] = rundir_rows(r->dir, name[i], first[i], sim_steps(r->s));
        if (!r->forces[i]) return fail(disk(), "%s/%s: %s", r->dir, name[i], strerror(errno));
    }
    return 0;
}

/* Surfaces, segments and points of all bodies, or of obstacles only. */
static int surface_mesh(run *r, const struct frames_topo *t, int obstacles, mesh *m)
{
    int i, k, keep, *to;
    if (mesh_add_nodes(m, t->nodes) < 0 || mesh_add_edges(m, t->edges) < 0 ||
        mesh_add_points(m, t->points) < 0 || mesh_add_tris(m, t->tris) < 0) return 0;
    memcpy(m->x, sim_frame(r->s), 3 * (size_t)t->nodes * sizeof *m->x);
    memcpy(m->edge, t->edge, 2 * (size_t)t->edges * sizeof *m->edge);
    memcpy(m->point, t->point, (size_t)t->points * sizeof *m->point);
    for (i = 0, to = m->tri; i < t->tris; ++i) {
        keep = !obstacles || r->sc->body[t->body[t->tri[3 * i]]].obstacle;
        for (k = 0; keep && k < 3; ++k) *to++ = t->tri[3 * i + k];
    }
    m->tris = (int)((to - m->tri) / 3);
    return 1;
}

static int put_obj(run *r, const struct frames_topo *t, const char *path, mesh_error *e)
{
    mesh m;
    int ok;
    memset(&m, 0, sizeof m);
    m.order = 1;
    ok = surface_mesh(r, t, 0, &m) && mesh_write(path, &m, e);
    mesh_free(&m);
    return ok;
}

/* Nodes that no simplex uses are left out, with their values. */
static int drop_lone(mesh *m, double *body, double *force)
{
    int *list[4], count[4], *to = malloc(((size_t)m->nodes + 1) * sizeof *to), n = 0, i, k;
    if (!to) return 0;
    list[0] = m->tet;
    count[0] = m->tets * mesh_tet_nodes(m->order);
    list[1] = m->tri;
    count[1] = m->tris * mesh_tri_nodes(m->order);
    list[2] = m->edge;
    count[2] = 2 * m->edges;
    list[3] = m->point;
    count[3] = m->points;
    for (i = 0; i < m->nodes; ++i) to[i] = -1;
    for (k = 0; k < 4; ++k) for (i = 0; i < count[k]; ++i) to[list[k][i]] = 0;
    for (i = 0; i < m->nodes; ++i) {
        if (to[i] < 0) continue;
        memmove(m->x + 3 * (size_t)n, m->x + 3 * (size_t)i, 3 * sizeof *m->x);
        memmove(force + 3 * (size_t)n, force + 3 * (size_t)i, 3 * sizeof *force);
        body[n] = body[i];
        to[i] = n++;
    }
    for (k = 0; k < 4; ++k) for (i = 0; i < count[k]; ++i) list[k][i] = to[list[k][i]];
    m->nodes = n;
    free(to);
    return 1;
}

/* Elements of any order with body and contact force (N) at the nodes; linear ones with the
   obstacles, others without, since a file here has one order. */
static int put_vtu(run *r, const struct frames_topo *t, const char *path, mesh_error *e)
{
    int order = 1, i, k, ok;
    double *body = calloc((size_t)t->nodes + 1, sizeof *body);
    double *force = calloc(3 * (size_t)t->nodes + 1, sizeof *force);
    const double *f = sim_forces(r->s);
    mesh_field field[2];
    mesh m;
    memset(&m, 0, sizeof m);
    while (order < 4 && mesh_tet_nodes(order) < t->elem_nodes) ++order;
    m.order = t->elems ? order : 1;
    ok = body && force && (m.order > 1 ? mesh_add_nodes(&m, t->nodes) == 0 :
        surface_mesh(r, t, 1, &m)) && mesh_add_tets(&m, t->elems) == 0;
    if (ok) {
        memcpy(m.x, sim_frame(r->s), 3 * (size_t)t->nodes * sizeof *m.x);
        memcpy(m.tet, t->elem, (size_t)t->elems * (size_t)t->elem_nodes * sizeof *m.tet);
        for (i = 0; i < t->nodes; ++i) body[i] = t->body[i];
        for (i = 0; f && i < sim_vertices(r->s); ++i) for (k = 0; k < 3; ++k) {
            force[3 * sim_frame_node(r->s, i) + k] = f[3 * i + k];
        }
        field[0].name = "body";
        field[0].components = 1;
        field[0].value = body;
        field[1].name = "contact_force";
        field[1].components = 3;
        field[1].value = force;
        ok = drop_lone(&m, body, force) && mesh_write_vtu(path, &m, field, 2, e);
    }
    mesh_free(&m);
    free(body);
    free(force);
    return ok;
}

/* The frame of this step, and, if asked for, other formats beside it. */
static int put_frame(run *r)
{
    char name[64], path[4096];
    struct frames_topo t;
    mesh_error e;
    int ok = 1;
    const double *x = sim_frame(r->s);
    if (!x || !frames_write(r->frames, sim_steps(r->s), sim_time(r->s), x)) return 0;
    if (!r->o->obj && !r->o->vtu) return 1;
    if (!sim_topology(r->s, &t)) return 0;
    snprintf(e.text, sizeof e.text, "out of memory");
    if (r->o->obj) {
        snprintf(name, sizeof name, "frame%06lld.obj", sim_steps(r->s));
        path_of(r, name, path);
        if (!put_obj(r, &t, path, &e)) ok = fail(0, "%s: %s", path, e.text);
    }
    if (r->o->vtu) {
        snprintf(name, sizeof name, "frame%06lld.vtu", sim_steps(r->s));
        path_of(r, name, path);
        if (!put_vtu(r, &t, path, &e)) ok = fail(0, "%s: %s", path, e.text);
    }
    sim_topology_free(&t);
    return ok;
}

/* Tells readers which bodies never move: those may overlap each other. */
static int put_resting(run *r)
{
    unsigned char *fixed = calloc((size_t)r->sc->bodies + 1, 1);
    int i, ok;
    if (!fixed) return 0;
    for (i = 0; i < r->sc->bodies; ++i) fixed[i] = (unsigned char)sim_body_still(r->s, i);
    ok = frames_write_fixed(r->frames, fixed);
    free(fixed);
    return ok;
}

static int new_frames(run *r, const char *path)
{
    struct frames_topo t;
    const char **names;
    int i, ok, n = sim_bodies(r->s);
    names = malloc(((size_t)n + 1) * sizeof *names);
    for (i = 0; names && i < n; ++i) names[i] = sim_body_name(r->s, i);
    r->frames = names ? frames_create(path, 3, n, names) : NULL;
    free((void *)names);
    if (!r->frames) return fail(disk(), "%s: %s", path, strerror(errno));
    ok = put_resting(r) && sim_topology(r->s, &t);
    if (ok) {
        ok = frames_write_topo(r->frames, &t);
        sim_topology_free(&t);
    }
    return ok && put_frame(r) ? 0 : fail(3, "%s: %s", path, strerror(errno));
}

static char *stats_header(void)
{
    static const char more[] = ",s_energy,s_valid,min_force,al\n"; /* behind the shared ones */
    size_t n = strlen(rundir_columns) - 1;
    char *all = malloc(n + sizeof more);
    if (!all) return NULL;
    memcpy(all, rundir_columns, n);
    memcpy(all + n, more, sizeof more);
    return all;
}

static int open_files(run *r, int resume)
{
    char path[4096], *header = stats_header();
    long long kept = 0;
    int code = 0;
    if (!header) return fail(3, "out of memory");
    path_of(r, "frames.gapf", path);
    if (resume) {
        if (!read_checkpoint(r)) code = 2;
        else r->frames = frames_resume(path, sim_steps(r->s), &kept);
        if (!code && (!r->frames || !kept)) {
            code = fail(2, "%s: does not fit the checkpoint, or cannot be written", path);
        }
    } else code = new_frames(r, path);
    if (!code) {
        r->stats = rundir_rows(r->dir, "stats.csv", header, sim_steps(r->s));
        if (!r->stats) code = fail(disk(), "%s/stats.csv: %s", r->dir, strerror(errno));
    }
    free(header);
    if (!code && r->o->forces) code = open_forces(r);
    if (!code && !write_checkpoint(r)) {
        code = fail(disk(), "%s/checkpoint.bin: %s", r->dir, strerror(errno));
    }
    return code;
}

/* A run that could not even begin leaves nothing behind. */
static void undo(run *r, int made)
{
    static const char *const name[] = {"frames.gapf", "stats.csv", "forces.csv", "forces_pairs.csv",
        "forces_nodes.csv", "checkpoint.bin", "frame000000.obj", "frame000000.vtu"};
    char path[4096];
    size_t i;
    for (i = 0; i < sizeof name / sizeof *name; ++i) {
        path_of(r, name[i], path);
        remove(path);
    }
    if (made) rmdir(r->dir);
}

static int open_run(run *r)
{
    char path[4096], begun[4096];
    int code, made, resume;
    r->state = malloc(sim_state_size(r->s));
    if (!r->state) return fail(3, "out of memory");
    made = mkdir(r->dir, 0777) == 0;
    if (!made && errno != EEXIST) return fail(disk(), "%s: %s", r->dir, strerror(errno));
    path_of(r, "checkpoint.bin", path);
    path_of(r, "frames.gapf", begun);
    resume = r->o->resume && access(path, F_OK) == 0; /* killed before the first: begin again */
    if (access(begun, F_OK) == 0 && !r->o->resume && !r->o->overwrite) {
        return fail(2, "%s holds another run; use --resume or --overwrite", r->dir);
    }
    if (!resume && remove(path) != 0 && errno != ENOENT) {
        return fail(2, "%s: %s", path, strerror(errno));
    }
    code = open_files(r, resume);
    if (code && !resume) undo(r, made);
    return code;
}

/* ---------------------------------------------------------------- the loop */
static void progress(const run *r, const sim_report *p, double t0, long long first, long long last)
{
    struct timespec ts;
    double spent, left;
    long long done = sim_steps(r->s) - first;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    spent = (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec - t0;
    left = done > 0 ? spent / (double)done * (double)(last - sim_steps(r->s)) : 0.0;
    if (isatty(STDERR_FILENO)) {
        int bar = (int)(30.0 * (double)sim_steps(r->s) / (double)(last > 0 ? last : 1)), i;
        fprintf(stderr, "\r[");
        for (i = 0; i < 30; ++i) fputc(i < bar ? '#' : '.', stderr);
        fprintf(stderr, "] %lld/%lld  t=%.3f s  newton %d  contacts %d  gap %.2g  %.0f s left   ",
            sim_steps(r->s), last, sim_time(r->s), p->newton, p->contacts,
            p->contacts ? p->min_distance : 0.0, left);
        if (sim_steps(r->s) >= last) fputc('\n', stderr);
    } else {
        fprintf(stderr, "step=%lld time=%.6g newton=%d lag=%d contacts=%d min_distance=%.6g "
            "kappa=%.4g"
            " seconds=%.3g\n", sim_steps(r->s), sim_time(r->s), p->newton, p->lag, p->contacts,
            p->contacts ? p->min_distance : NAN, p->kappa, p->seconds[4]);
    }
}

static int is_cancelled(void *user)
{
    (void)user;
    return 0; /* an interrupt waits for the step to end */
}

/* One step of h, or two of h/2 if that does not converge. 0, or an exit code. */
static int advance(run *r, sim_report *p)
{
    double h = r->sc->h;
    int status = sim_step(r->s, h, p);
    if (status == 0 && p->halves) {
        fail(0, "step %lld did not converge at h = %g s (%s); done as two of h/2", sim_steps(r->s),
            h, sim_why(r->s));
    }
    if (status == 1) {
        return fail(1, "step %lld does not converge, nor at h/2: %s. The last good state is kept in"
            " %s; --resume goes on from there.", sim_steps(r->s) + 1, sim_why(r->s), r->dir);
    }
    if (status == -2) return fail(3, "out of memory");
    if (status < 0) return fail(1, "step %lld: error %d; the last good state is kept",
        sim_steps(r->s) + 1, status);
    return 0;
}

static int verify(run *r)
{
    int met = 0, inverted = 0, status = sim_verify(r->s, &met, &inverted);
    if (status < 0) return fail(3, "verify: error %d", status);
    if (met || inverted) {
        return fail(1, "step %lld: %d pairs intersect, elements inverted: %s", sim_steps(r->s), met,
            inverted ? "yes" : "no");
    }
    return 0;
}

static int loop(run *r)
{
    long long first = sim_steps(r->s);
    long long last = first + (long long)floor((r->sc->tend - sim_time(r->s)) / r->sc->h + 0.5);
    struct timespec ts;
    double t0;
    int code = 0, every = r->o->every > 0 ? r->o->every : r->sc->every;
    sim_report p;
    if (r->o->steps >= 0 && r->o->steps < last) last = r->o->steps;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    t0 = (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
    while (sim_steps(r->s) < last && !code && !interrupted) {
        code = advance(r, &p);
        if (code) break;
        if (r->o->verify) code = verify(r);
        if (code) break;
        if (!put_stats(r, &p)) code = fail(3, "%s/stats.csv: %s", r->dir, strerror(errno));
        if (!code && r->o->forces && !put_forces(r)) {
            code = fail(3, "%s/forces.csv: %s", r->dir, strerror(errno));
        }
        if (!code && (sim_steps(r->s) % every == 0 || sim_steps(r->s) == last) && !put_frame(r)) {
            code = fail(3, "%s/frames.gapf: %s", r->dir, strerror(errno));
        }
        if (!code && !write_checkpoint(r)) code = fail(3, "%s/checkpoint.bin: %s", r->dir,
            strerror(errno));
        if (!code) progress(r, &p, t0, first, last);
    }
    if (interrupted && !code) {
        fail(0, "interrupted after step %lld; --resume goes on from there", sim_steps(r->s));
        code = 130;
    }
    return code;
}

/* ---------------------------------------------------------------- expectations and advice */
/* Prints each quantity and whether it is as expected; returns how many are not, or -1. */
static int compare(run *r, const scene *sc, const char *yes, const char *no)
{
    int i, missed = 0, ok;
    double v;
    for (i = 0; i < sc->expects; ++i) {
        const scene_expect *e = &sc->expect[i];
        if (!sim_quantity(r->s, e->name, e->body, &v)) {
            fail(2, "expect, line %d: unknown quantity \"%s\" or body \"%s\"", e->line, e->name,
                e->body);
            return -1;
        }
        v /= sim_quantity_unit(e->name, r->sc->scale);
        ok = v >= e->low && v <= e->high;
        printf("%s  %s %s = %.9g in [%.9g, %.9g]\n", ok ? yes : no, e->body, e->name, v, e->low,
            e->high);
        missed += !ok;
    }
    return missed;
}

/* The scene's own expectations must be met; those of the other one of its pair must not. */
static int expectations(run *r)
{
    const scene *sc = r->sc;
    const char *mine = r->o->variant ? r->o->variant : "", *other = strcmp(mine, sc->pair) ?
        sc->pair : "";
    int bad = 0, missed;
    scene twin;
    double v;
    if (sc->expect_contact >= 0) {
        sim_quantity(r->s, "contacts", "", &v);
        if ((v > 0.0) != sc->expect_contact) bad = 1;
        printf("%s  contact %s\n", bad ? "MISSED" : "met   ", v > 0.0 ? "happened" :
            "did not happen");
    }
    if (sc->published_newton > 0.0) printf("published newton = %g\n", sc->published_newton);
    missed = compare(r, sc, "met   ", "MISSED");
    if (missed < 0) return 2;
    bad |= missed > 0;
    if (!sc->pair[0] || (mine[0] && strcmp(mine, sc->pair))) return bad;
    if (!scene_read(&twin, "gap-sim", r->o->scene, r->o->mesh_dir, r->o->scale, other)) return 2;
    missed = compare(r, &twin, "other ", "other ");
    printf("%s  is not what \"%s\" expects\n", missed > 0 ? "met   " : "MISSED", other);
    scene_free(&twin);
    return missed < 0 ? 2 : bad || missed == 0;
}

/* What --check prints: the numbers that decide how contact behaves, then what looks unwise. */
static void advice(const scene *sc, const sim *s)
{
    double k[2], edge = sim_shortest_edge(s), dhat = sim_dhat(s), l = sim_length(s);
    double gap = sim_resting_gap(s), eps_d = sim_eps_d(s), eps_v = sim_eps_v(s);
    double part = eps_d / eps_v;
    sim_kappa_bounds(s, k);
    printf("l=%.6g dhat=%.6g dhat/l=%.3g shortest_edge=%.6g dhat/shortest_edge=%.3g\n", l, dhat,
        dhat / l, edge, dhat / edge);
    printf("kappa_min=%.6g kappa_max=%.6g resting_gap=%.6g resting_gap/dhat=%.3g\n", k[0], k[1],
        gap, gap / dhat);
    printf("steps=%lld h=%.6g eps_d=%.6g eps_v=%.6g friction=%s bodies=%d vertices=%d\n",
        (long long)floor((sc->tend - sc->t0) / sc->h + 0.5), sc->h, eps_d, eps_v,
        sim_has_friction(s) ? "yes" : "no", sc->bodies, sim_vertices(s));
    if (dhat > 0.5 * edge) printf("unwise: dhat is more than half the shortest edge: vertices of"
        " one face repel each other\n");
    if (dhat < 1e-6 * l) printf("unwise: dhat below 1e-6 l: expect many Newton iterations\n");
    if (gap < 1e-3 * dhat) printf("unwise: weight presses contacts to below dhat/1000: the barrier"
        " is very steep there; a larger dhat converges faster\n");
    if (sc->kappa > 0.0 && (sc->kappa < 0.01 * k[0] || sc->kappa > 100.0 * k[1])) {
        printf("unwise: the fixed barrier stiffness %.6g is far outside [kappa_min, kappa_max]\n",
            sc->kappa);
    }
    if (sc->h > 0.1 && !sc->quasistatic) printf("unwise: h above 0.1 s damps motion strongly\n");
    if (!sim_has_friction(s) || sc->lags < 0) return; /* -1: every contact's slip is resolved */
    if (eps_d >= eps_v) printf("unwise: x_delta (eps_d) is not below epsv: Newton stops while"
        " friction still sticks, so nothing at rest begins to slide; use x_delta <= epsv/10, or"
        " friction_iterations -1\n");
    else if (part > 0.15) printf("unwise: x_delta (eps_d) is %.2g epsv: a pull of up to %.2g %%"
        " beyond the threshold of friction still sticks; epsv/10 tells 1 %%, friction_iterations"
        " -1 more\n", part,
        100.0 * part * part);
}

static int write_gltf(const run *r)
{
    char from[4096], to[4096], error[300];
    path_of(r, "frames.gapf", from);
    path_of(r, "frames.glb", to);
    if (!gltf_write(from, to, error, sizeof error)) return fail(0, "%s: %s", to, error);
    printf("wrote %s\n", to);
    return 1;
}

/* ---------------------------------------------------------------- command line */
static int parse(int argc, char **argv, options *o)
{
    int i;
    char *end;
    for (i = 1; i < argc; ++i) {
        const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(a, "--help")) return fputs(help, stdout), 1;
        if (!strcmp(a, "--version")) return puts(VERSION), 1;
        if (!strcmp(a, "--help-scene")) return scene_help(stdout), 1;
        if (!strcmp(a, "--help-mesh")) return gen_help(stdout), 1;
        if (!strcmp(a, "--resume")) o->resume = 1;
        else if (!strcmp(a, "--overwrite")) o->overwrite = 1;
        else if (!strcmp(a, "--verify")) o->verify = 1;
        else if (!strcmp(a, "--expect")) o->expect = 1;
        else if (!strcmp(a, "--check")) o->check = 1;
        else if (!strcmp(a, "--variants")) o->variants = 1;
        else if (!strcmp(a, "--vtu")) o->vtu = 1;
        else if (!strcmp(a, "--obj")) o->obj = 1;
        else if (!strcmp(a, "--gltf")) o->gltf = 1;
        else if (!strcmp(a, "--forces")) o->forces = 1;
        else if (a[0] != '-') {
            if (o->scene) return fail(2, "two scenes: %s and %s", o->scene, a) + 1;
            o->scene = a;
        } else {
            int ok = 1;
            if (!v) return fail(2, "%s: unknown, or its value is missing (--help)", a) + 1;
            ++i;
            if (!strcmp(a, "-o")) o->dir = v;
            else if (!strcmp(a, "--mesh-dir")) o->mesh_dir = v;
            else if (!strcmp(a, "--variant")) o->variant = v;
            else if (!strcmp(a, "--steps")) ok = (o->steps = strtoll(v, &end, 10)) >= 0 && *v &&
                !*end;
            else if (!strcmp(a, "--threads")) ok = (o->threads = (int)strtol(v, &end, 10)) > 0 &&
                !*end;
            else if (!strcmp(a, "--every")) ok = (o->every = (int)strtol(v, &end, 10)) > 0 && !*end;
            else if (!strcmp(a, "--scale")) ok = (o->scale = strtod(v, &end)) > 0.0 && !*end &&
                o->scale < 1e300;
            else if (!strcmp(a, "--ccd")) {
                o->additive = !strcmp(v, "additive");
                ok = o->additive || !strcmp(v, "inclusion");
            } else return fail(2, "unknown option %s (--help)", a) + 1;
            if (!ok) return fail(2, "%s: bad value %s (--help)", a, v) + 1;
        }
    }
    return 0;
}

/* The primitives of a start that is not free, beside the directory that is not made then. */
static void write_guilty(const char *dir, const mesh *m)
{
    char path[4096];
    mesh_error e;
    snprintf(path, sizeof path, "%s.guilty.obj", dir);
    if (mesh_write(path, m, &e)) fail(0, "these faces, edges and vertices are in %s", path);
    else fail(0, "%s: %s", path, e.text);
}

static int simulate(const options *o, const scene *sc, const char *self)
{
    static char error[8192];
    sim_options so;
    mesh guilty;
    run r;
    int code, i;
    memset(&so, 0, sizeof so);
    memset(&r, 0, sizeof r);
    so.additive = o->additive;
    so.cancel = is_cancelled;
    so.threads = pool_open(o->threads);
    memset(&guilty, 0, sizeof guilty);
    so.guilty = &guilty;
    r.o = o;
    r.sc = sc;
    rundir_name(o->dir, o->scene, "gap-sim.out", r.dir, sizeof r.dir);
    r.s = sim_open(sc, &so, error, sizeof error);
    if (!r.s) {
        fail(0, "%s:%s%s", o->scene ? o->scene : "demo", strcmp(error, "out of memory") ? "" : " ",
            error);
        if (guilty.nodes) write_guilty(r.dir, &guilty);
        mesh_free(&guilty);
        pool_close(so.threads);
        return strcmp(error, "out of memory") ? 2 : 3;
    }
    if (o->check) {
        advice(sc, r.s);
        code = 0;
    } else {
        signal(SIGINT, on_interrupt);
        signal(SIGXFSZ, SIG_IGN); /* a file at its limit is a full disk: the write fails */
        code = open_run(&r);
        if (!code) code = loop(&r);
        if (r.frames && !frames_finish(r.frames) && !code) code = fail(3,
            "%s/frames.gapf: cannot write", r.dir);
        if (r.stats && fclose(r.stats) != 0 && !code) code = 3;
        for (i = 0; i < 3; ++i) if (r.forces[i] && fclose(r.forces[i]) != 0 && !code) code = 3;
        if (o->gltf && r.frames && (!code || code == 130 || code == 1) && !write_gltf(&r)) code = 3;
        if (!code && o->expect) code = expectations(&r);
        if (!code || code == 130 || code == 1) rundir_view(r.dir, self);
    }
    free(r.state);
    sim_close(r.s);
    pool_close(so.threads);
    return code;
}

int main(int argc, char **argv)
{
    options o;
    scene sc;
    int code, ok;
    memset(&o, 0, sizeof o);
    o.steps = -1;
    o.scale = 1.0;
    code = parse(argc, argv, &o);
    if (code) return code - 1;
    if (o.variants) return o.scene && scene_variants("gap-sim", o.scene, stdout) ? 0 : 2;
    if (o.scene) ok = scene_read(&sc, "gap-sim", o.scene, o.mesh_dir, o.scale, o.variant);
    else ok = scene_parse(&sc, "gap-sim", "demo", demo, sizeof demo - 1, NULL, o.scale);
    if (!ok) return 2;
    code = simulate(&o, &sc, argv[0]);
    scene_free(&sc);
    return code;
}
