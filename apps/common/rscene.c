/* rscene.c - see rscene.h */
#include "rscene.h"

#define KEYS_TARGET rscene
#include "keys.h"

#include <stdint.h>

#define PI 3.14159265358979323846

/* ---------------------------------------------------------------- the table of keys */
#define BODY "rigid_body_problem.rigid_bodies[]"
static const key keys[] = {
    {"timestep", 1, "s; default 0.01"},
    {"max_time", 1, "s; default 10"},
    {"max_iterations", 1, "number of steps, instead of max_time; -1: not said"},
    {"distance_barrier_constraint.initial_barrier_activation_distance", 1,
        "m: the barrier begins here; default 1e-3"},
    {"distance_barrier_constraint.minimum_separation_distance", 1,
        "m: bodies never come nearer; default 0"},
    {"ipc_solver.velocity_conv_tol", 1,
        "Newton stops when its step is slower: times the diagonal l of the start, per second;"
        " default 1e-2. With friction at most 1/50 of static_friction_speed_bound"},
    {"ipc_solver.is_velocity_conv_tol_abs", 1, "true: the tolerance is in m/s"},
    {"ipc_solver.max_iterations", 1, "of Newton's method in a step; default 3000"},
    {"ipc_solver.min_barrier_stiffness_scale", 1, "of the smallest stiffness; default 1e11"},
    {"ipc_solver.barrier_stiffness", 1, "\"adaptive\" (default) or kg/m^2 (2D: kg/m^3)"},
    {"newton_solver.velocity_conv_tol", 1, "the same; ipc_solver's goes before"},
    {"newton_solver.is_velocity_conv_tol_abs", 1, "the same"},
    {"newton_solver.max_iterations", 1, "the same"},
    {"friction_constraints.static_friction_speed_bound", 1,
        "m/s: slower counts as sticking; default 1e-3"},
    {"friction_constraints.iterations", 1,
        "passes of the friction lag; default 1, -1 until converged, 0 no friction"},
    {"rigid_body_problem.gravity", 1, "acceleration, m/s^2; default 0"},
    {"rigid_body_problem.coefficient_friction", 1, "default 0"},
    {BODY, 1, "list of bodies"},
    {BODY ".mesh", 1,
        "file (.obj .stl .ply .off .msh .mesh) or {\"kind\": ...} (--help-mesh; its surface);\n"
        "    lone vertices of .obj files are points. Or the next three:"},
    {BODY ".vertices", 1, "[[x, y, z], ...] or, in 2D, [[x, y], ...]"},
    {BODY ".edges", 1, "[[node, node], ...]"},
    {BODY ".faces", 1, "[[node, node, node], ...]; outside counter-clockwise"},
    {BODY ".name", 1, "text; default body K"},
    {BODY ".enabled", 1, "true; false leaves it out"},
    {BODY ".type", 1, "\"dynamic\" (default), \"static\", \"kinematic\""},
    {BODY ".is_dof_fixed", 1,
        "true, false or a list for x y z rx ry rz (2D: x y r); all true: static"},
    {BODY ".scale", 1, "number or one per axis; default 1; applied first"},
    {BODY ".dimensions", 1, "m, instead of scale: the size of its box"},
    {BODY ".rotation", 1,
        "degrees about x, y, z, R = Rz Ry Rx, about the origin of the model (2D: one number)"},
    {BODY ".position", 1, "m: where the origin of the model goes"},
    {BODY ".density", 1,
        "kg/m^3 of a closed surface, kg/m^2 of an open one, kg/m of edges, kg of a point; in 2D"
        " kg/m^2\n    of closed polygons, kg/m of open ones; default 1000. Parts of highest"
        " dimension carry all mass.\n    An object {solid, surface, wire, points}: every part by"
        " its own"},
    {BODY ".mass", 1,
        "what it must be: \"solid\" (a closed surface), \"surface\", \"wire\", \"points\";"
        " default: by topology"},
    {BODY ".linear_velocity", 1, "m/s of the centre of mass"},
    {BODY ".angular_velocity", 1, "degrees/s about world axes (2D: one number)"},
    {BODY ".force", 1, "N at the centre of mass"},
    {BODY ".torque", 1, "times pi/180: N m about world axes (as rigid-ipc; --parity: doubled too)"},
    {BODY ".torque_nm", 1, "N m about world axes, instead"},
    {BODY ".coefficient_friction", 1, "of this body; a pair has the mean; default the scene's"},
    {BODY ".group_id", 1,
        "bodies with the same number >= 0 do not meet; default -1. Static and kinematic ones are"
        " one group"},
    {BODY ".kinematic_max_time", 1, "s: a kinematic body rests from then on; default never"},
    {BODY ".kinematic_poses", 1,
        "list of {position, rotation} after each step: m of the centre of mass, rotation vector in"
        "\n    radians against the start; default 0. Behind its end the velocities go on"},
    {BODY ".split_components", 1, "true: one body per connected part, names end in -partK"},
    {BODY ".copies", 1, "{count [n,n,n], step [m,m,m]}: a grid of copies, names end in .i.j.k"},
    {"output.every", 1, "steps per frame; default 1"},
    {"expect.contact", 1, "true or false: did contact happen?"},
    {"expect.quantities", 1,
        "list of {name, body, value, tolerance | min, max} at the end: min_x..max_z of its nodes,\n"
        "    mean_x..mean_z (centre of mass), speed, contacts, moved (of the centre, m), turned\n"
        "    (degrees since the start, up to 180), spin (degrees/s), vx..vz, kinetic"},
    {"expect.fast", 1, "true: part of the default checks"},
    {"scale", 1, "as --scale"},
    {"scene_type", 0, ""},
    {"solver", 0, ""},
    {"homotopy_solver", 0, ""},
    {"ncp_solver", 0, ""},
    {"volume_constraint", 0, ""},
    {"viewport_bbox", 0, ""},
    {"newton_solver.convergence_criteria", 0, ""},
    {"newton_solver.energy_conv_tol", 0, ""},
    {"newton_solver.line_search_lower_bound", 0, ""},
    {"newton_solver.linear_solver", 0, ""},
    {"ipc_solver.convergence_criteria", 0, ""},
    {"ipc_solver.energy_conv_tol", 0, ""},
    {"ipc_solver.line_search_lower_bound", 0, ""},
    {"ipc_solver.linear_solver", 0, ""},
    {"ipc_solver.dhat_epsilon", 0, ""},
    {"distance_barrier_constraint.detection_method", 0, ""},
    {"distance_barrier_constraint.trajectory_type", 0, ""},
    {"distance_barrier_constraint.barrier_type", 0, ""},
    {"distance_barrier_constraint.custom_hashgrid_cellsize", 0, ""},
    {"distance_barrier_constraint.use_distance_hashgrid", 0, ""},
    {"distance_barrier_constraint.extend_collision_set", 0, ""},
    {"distance_barrier_constraint.use_log_barrier", 0, ""},
    {"rigid_body_problem.coefficient_restitution", 0, ""},
    {"rigid_body_problem.collision_eps", 0, ""},
    {"rigid_body_problem.time_stepper", 0, ""},
    {"rigid_body_problem.do_intersection_check", 0, ""},
    {BODY ".time_stepper", 0, ""},
    {BODY ".oriented", 0, ""},
    {BODY ".polygons", 0, ""},
    {BODY ".masses", 0, ""},
    {BODY ".ipc_comparison_enabled", 0, ""},
    {"comment", 0, ""}};

enum { KEYS = sizeof keys / sizeof *keys };

void rscene_help(FILE *f)
{
    fprintf(f, "A scene is one JSON text with the keys of rigid-ipc's scene files and some of our"
        " own; SI units.\nIt is 2D if its vertices have two coordinates. Keys that begin with #"
        " are comments. Keys:\n");
    print_keys(f, keys, KEYS);
}

/* ---------------------------------------------------------------- geometry */
/* Up to `most` numbers, at least `least` of them; one number alone is the first if least is 1.
   0: the key is not there. */
static int list(reader *r, const json *v, const char *name, int least, int most, double *out)
{
    const json *c = json_get(v, name), *d;
    int i = 0;
    if (!c) return 0;
    if (c->type == JSON_NUMBER && least == 1) {
        out[0] = c->number;
        return 1;
    }
    if (c->type != JSON_ARRAY || c->count < least) {
        return fail(r, c->line, "%s must be a list of %d numbers", name, least);
    }
    for (d = c->child; d; d = d->next) {
        if (d->type != JSON_NUMBER) return fail(r, d->line, "%s must be numbers", name);
        if (i < most) out[i++] = d->number;
    }
    return 1;
}

/* [[a, b, ..], ..] with `per` numbers in a row; 0 rows if the key is not there, -1 on failure. */
static int table(reader *r, const json *v, const char *name, int per, double **out)
{
    const json *c = json_get(v, name), *d, *e;
    size_t at = 0;
    *out = NULL;
    if (!c) return 0;
    if (c->type != JSON_ARRAY) return fail(r, c->line, "%s must be a list", name) - 1;
    *out = malloc(((size_t)c->count * (size_t)per + 1) * sizeof **out);
    if (!*out) return fail(r, c->line, "out of memory") - 1;
    for (d = c->child; d; d = d->next) {
        if (d->type != JSON_ARRAY || d->count != per) {
            return fail(r, d->line, "%s: %d numbers are wanted here", name, per) - 1;
        }
        for (e = d->child; e; e = e->next) {
            if (e->type != JSON_NUMBER) return fail(r, e->line, "%s: not a number", name) - 1;
            (*out)[at++] = e->number;
        }
    }
    return c->count;
}

/* Whole rows of node numbers as a new list of a mesh. */
static int index_table(reader *r, const json *v, const char *name, int per, int nodes, int **out,
    int *count)
{
    double *t;
    int n = table(r, v, name, per, &t), i;
    for (i = 0; i < n * per && !r->failed; ++i) {
        if (!(t[i] >= 0.0 && t[i] < nodes) || t[i] != floor(t[i])) {
            fail(r, json_get(v, name)->line, "%s: %g is no vertex", name, t[i]);
        }
    }
    free(*out);
    *out = NULL;
    *count = 0;
    if (n > 0 && !r->failed) {
        *out = malloc((size_t)(n * per) * sizeof **out);
        if (!*out) fail(r, v->line, "out of memory");
        for (i = 0; *out && i < n * per; ++i) (*out)[i] = (int)t[i];
        if (*out) *count = n;
    }
    free(t);
    return !r->failed;
}

static int inline_mesh(reader *r, const json *v, mesh *m, int *dim)
{
    const json *c = json_get(v, "vertices");
    double *x = NULL;
    int n, i, k;
    if (!c) return fail(r, v->line, "a body needs a \"mesh\" or \"vertices\"");
    *dim = c->child && c->child->count == 2 ? 2 : 3;
    n = table(r, v, "vertices", *dim, &x);
    if (n == 0) fail(r, c->line, "a body without vertices");
    if (!r->failed && mesh_add_nodes(m, n) < 0) fail(r, v->line, "out of memory");
    for (i = 0; i < n && !r->failed; ++i) {
        for (k = 0; k < *dim; ++k) m->x[3 * (size_t)i + (size_t)k] = x[*dim * i + k];
    }
    free(x);
    m->order = 1;
    return !r->failed && index_table(r, v, "edges", 2, n, &m->edge, &m->edges) &&
        index_table(r, v, "faces", 3, n, &m->tri, &m->tris);
}

/* Tetrahedra to their surface; faces of 2D bodies away; edges of triangles are no edges of their
   own; nodes of neither are points, or, inside tetrahedra, left out. */
static int tidy(mesh *m, int dim)
{
    int *own = NULL, *to, n = 0, i, j, k = 0, solid = m->tets > 0, count;
    char *used;
    if (m->tets) {
        m->tris = mesh_surface(m, &own);
        free(m->tri);
        m->tri = own;
        m->tets = 0;
        if (m->tris < 0) return 0;
    }
    if (dim == 2) m->tris = 0;
    used = calloc((size_t)m->nodes + 1, 1);
    to = calloc((size_t)m->nodes + 1, sizeof *to);
    count = mesh_unique_edges(m->tri, m->tris, NULL, 0, &own);
    if (!used || !to || count < 0) {
        free(used);
        free(to);
        return 0;
    }
    for (i = 0; i < m->edges; ++i) { /* own is sorted: bisection */
        int a = m->edge[2 * i], b = m->edge[2 * i + 1], low = 0, high = count;
        int lo = a < b ? a : b, hi = a < b ? b : a;
        while (low < high) {
            j = low + (high - low) / 2;
            if (own[2 * j] < lo || (own[2 * j] == lo && own[2 * j + 1] < hi)) low = j + 1;
            else high = j;
        }
        if (low < count && own[2 * low] == lo && own[2 * low + 1] == hi) continue;
        m->edge[2 * k] = a;
        m->edge[2 * k++ + 1] = b;
    }
    m->edges = k;
    free(own);
    for (i = 0; i < 3 * m->tris; ++i) used[m->tri[i]] = 1;
    for (i = 0; i < 2 * m->edges; ++i) used[m->edge[i]] = 1;
    m->points = 0;
    for (i = 0; i < m->nodes; ++i) {
        if (!used[i] && solid) continue;
        memmove(m->x + 3 * (size_t)n, m->x + 3 * (size_t)i, 3 * sizeof *m->x);
        to[i] = n++;
        if (used[i]) continue;
        k = mesh_add_points(m, 1);
        if (k >= 0) m->point[k] = to[i];
    }
    m->nodes = n;
    for (i = 0; i < 3 * m->tris; ++i) m->tri[i] = to[m->tri[i]];
    for (i = 0; i < 2 * m->edges; ++i) m->edge[i] = to[m->edge[i]];
    free(used);
    free(to);
    return 1;
}

/* R = Rz Ry Rx; quarter turns exactly. */
static void rotation(const double degrees[3], double R[9])
{
    double c[3], s[3];
    int k;
    for (k = 0; k < 3; ++k) {
        double d = fmod(degrees[k], 360.0);
        c[k] = cos(d * PI / 180.0);
        s[k] = sin(d * PI / 180.0);
        if (fmod(d, 90.0) == 0.0) {
            c[k] = floor(c[k] + 0.5);
            s[k] = floor(s[k] + 0.5);
        }
    }
    R[0] = c[2] * c[1];
    R[1] = c[2] * s[1] * s[0] - s[2] * c[0];
    R[2] = c[2] * s[1] * c[0] + s[2] * s[0];
    R[3] = s[2] * c[1];
    R[4] = s[2] * s[1] * s[0] + c[2] * c[0];
    R[5] = s[2] * s[1] * c[0] - c[2] * s[0];
    R[6] = -s[1];
    R[7] = c[1] * s[0];
    R[8] = c[1] * c[0];
}

static void angles(reader *r, const json *v, const char *name, int dim, double out[3])
{
    double a[3] = {0, 0, 0};
    if (!list(r, v, name, dim == 2 ? 1 : 3, 3, a)) return;
    if (dim == 2) out[2] = a[0];
    else memcpy(out, a, sizeof a);
}

static void place(reader *r, const json *v, int dim, const double shift[3], mesh *m)
{
    double scale[3] = {1, 1, 1}, size[3] = {0, 0, 0}, turn[3] = {0, 0, 0}, at[3] = {0, 0, 0}, R[9];
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    const json *c = json_get(v, "scale");
    int i, k, j;
    for (i = 0; i < 3 * m->nodes; ++i) {
        low[i % 3] = fmin(low[i % 3], m->x[i]);
        high[i % 3] = fmax(high[i % 3], m->x[i]);
    }
    if (list(r, v, "dimensions", dim, 3, size)) {
        for (k = 0; k < dim; ++k) {
            scale[k] = size[k] / (high[k] > low[k] ? high[k] - low[k] : 1.0);
        }
    } else if (c && c->type == JSON_NUMBER) scale[0] = scale[1] = scale[2] = c->number;
    else list(r, v, "scale", dim, 3, scale);
    angles(r, v, "rotation", dim, turn);
    list(r, v, "position", dim, 3, at);
    rotation(turn, R);
    for (i = 0; i < m->nodes; ++i) {
        double *x = m->x + 3 * (size_t)i, y[3], z[3];
        for (k = 0; k < 3; ++k) y[k] = scale[k] * x[k];
        for (k = 0; k < 3; ++k) {
            for (z[k] = 0.0, j = 0; j < 3; ++j) z[k] += R[3 * k + j] * y[j];
            z[k] += k < dim ? at[k] + shift[k] : 0.0;
        }
        memcpy(x, z, sizeof z);
    }
}

/* ---------------------------------------------------------------- bodies */
static void read_density(reader *r, const json *v, rscene_body *b)
{
    static const char *const names[] = {"solid", "surface", "wire", "points"};
    const json *c = json_get(v, "density"), *d;
    const char *mass = text_of(r, v, "mass", "");
    int k;
    for (k = 0; k < 4; ++k) b->density[k] = 1000.0;
    for (b->rule = 0; b->rule < 4 && strcmp(names[b->rule], mass) != 0; ++b->rule) {}
    if (*mass && b->rule == RSCENE_AUTO) {
        fail(r, json_get(v, "mass")->line, "mass \"%s\"; solid, surface, wire, points", mass);
    }
    if (c && c->type == JSON_OBJECT) {
        b->mixed = 1;
        for (d = c->child; d; d = d->next) {
            for (k = 0; k < 4 && strcmp(names[k], d->key) != 0; ++k) {}
            if (k == 4 || d->type != JSON_NUMBER) {
                fail(r, d->line, "density has numbers for solid, surface, wire, points");
                return;
            }
            b->density[k] = d->number;
        }
    } else if (c) for (k = 0; k < 4; ++k) b->density[k] = number(r, v, "density", 0.0, -HUGE_VAL);
    for (k = 0; k < 4 && !r->failed; ++k) {
        if (b->density[k] > 0.0) continue;
        if (b->type != 0) b->density[k] = 1000.0; /* moves as it is told: no mass is needed */
        else fail(r, c->line, "density must be positive: no mass");
    }
}

static void read_fixed(reader *r, const json *v, int dim, rscene_body *b)
{
    static const char *const types[] = {"dynamic", "static", "kinematic"};
    const char *type = text_of(r, v, "type", "dynamic");
    const json *c = json_get(v, "is_dof_fixed"), *d;
    int n = dim == 3 ? 6 : 3, k = 0;
    for (b->type = 0; b->type < 3 && strcmp(types[b->type], type) != 0; ++b->type) {}
    if (b->type == 3) {
        fail(r, json_get(v, "type")->line, "type \"%s\"; dynamic, static, kinematic", type);
        return;
    }
    if (c && c->type == JSON_BOOL) b->fixed = (unsigned char)(c->number != 0.0 ? (1 << n) - 1 : 0);
    else if (c && (c->type != JSON_ARRAY || c->count < n)) {
        fail(r, c->line, "is_dof_fixed must be true, false or a list of %d", n);
    } else for (d = c ? c->child : NULL; d; d = d->next, ++k) {
        if (d->type != JSON_BOOL) fail(r, d->line, "is_dof_fixed: true or false");
        else if (k < n && d->number != 0.0) b->fixed = (unsigned char)(b->fixed | 1 << k);
    }
    if (b->fixed == (1 << n) - 1) b->type = 1;
}

static void read_poses(reader *r, const json *v, int dim, rscene_body *b)
{
    const json *c = json_get(v, "kinematic_poses"), *d;
    double until = number(r, v, "kinematic_max_time", -1.0, -HUGE_VAL);
    b->until = until < 0.0 ? HUGE_VAL : until;
    if (c && c->type != JSON_ARRAY) fail(r, c->line, "kinematic_poses must be a list");
    for (d = c ? c->child : NULL; d && !r->failed; d = d->next) {
        const json *e;
        for (e = d->child; e; e = e->next) {
            if (strcmp(e->key, "position") && strcmp(e->key, "rotation") && e->key[0] != '#') {
                fail(r, e->line, "unknown key \"%s\"; the nearest known one is \"%s\"", e->key,
                    e->key[0] == 'r' ? "rotation" : "position");
                return;
            }
        }
        b->pose = grow(r, b->pose, b->poses, sizeof *b->pose);
        if (r->failed) return;
        list(r, d, "position", dim, 3, b->pose[b->poses]);
        angles(r, d, "rotation", dim, b->pose[b->poses] + 3);
        ++b->poses;
    }
}

/* All of a body but its mesh. */
static void read_motion(reader *r, const json *v, int dim, rscene_body *b)
{
    double torque[3] = {0, 0, 0};
    int k;
    b->line = v->line;
    read_fixed(r, v, dim, b);
    read_density(r, v, b);
    list(r, v, "linear_velocity", dim, dim, b->velocity);
    angles(r, v, "angular_velocity", dim, b->spin);
    list(r, v, "force", dim, dim, b->force);
    angles(r, v, "torque", dim, torque);
    angles(r, v, "torque_nm", dim, b->torque);
    if (json_get(v, "torque") && json_get(v, "torque_nm")) {
        fail(r, json_get(v, "torque")->line, "torque and torque_nm exclude each other");
    }
    for (k = 0; k < 3; ++k) {
        b->spin[k] *= PI / 180.0;
        b->torque[k] += torque[k] * (PI / 180.0) * (r->s->parity ? 2.0 : 1.0);
    }
    b->mu = number(r, v, "coefficient_friction", r->s->mu, 0.0);
    b->group = whole(r, v, "group_id", -1, -1, 1000000000);
    read_poses(r, v, dim, b);
}

static rscene_body *new_body(reader *r)
{
    rscene *s = r->s;
    s->body = grow(r, s->body, s->bodies, sizeof *s->body);
    return r->failed ? NULL : &s->body[s->bodies++];
}

static int root_of(int *part, int i)
{
    while (part[i] != i) i = part[i] = part[part[i]];
    return i;
}

/* Component of every node: the lowest node that triangles and edges lead to. */
static void components(const mesh *m, int *part)
{
    int i, k;
    for (i = 0; i < m->nodes; ++i) part[i] = i;
    for (i = 0; i < m->tris + m->edges; ++i) {
        const int *e = i < m->tris ? m->tri + 3 * i : m->edge + 2 * (i - m->tris);
        for (k = 1; k < (i < m->tris ? 3 : 2); ++k) {
            int a = root_of(part, e[0]), b = root_of(part, e[k]);
            part[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (i = 0; i < m->nodes; ++i) part[i] = root_of(part, i);
}

/* The nodes and simplices of m that belong to part `which`. */
static int take_part(const mesh *m, const int *part, int which, mesh *out)
{
    int *to = malloc(((size_t)m->nodes + 1) * sizeof *to), i, k, j, ok = to != NULL;
    memset(out, 0, sizeof *out);
    out->order = 1;
    for (i = 0; ok && i < m->nodes; ++i) {
        if (part[i] != which) continue;
        to[i] = mesh_add_nodes(out, 1);
        ok = to[i] >= 0;
        if (ok) memcpy(out->x + 3 * (size_t)to[i], m->x + 3 * (size_t)i, 3 * sizeof(double));
    }
    for (i = 0; ok && i < m->tris; ++i) {
        if (part[m->tri[3 * i]] != which) continue;
        k = mesh_add_tris(out, 1);
        ok = k >= 0;
        for (j = 0; ok && j < 3; ++j) out->tri[3 * k + j] = to[m->tri[3 * i + j]];
    }
    for (i = 0; ok && i < m->edges; ++i) {
        if (part[m->edge[2 * i]] != which) continue;
        k = mesh_add_edges(out, 1);
        ok = k >= 0;
        for (j = 0; ok && j < 2; ++j) out->edge[2 * k + j] = to[m->edge[2 * i + j]];
    }
    for (i = 0; ok && i < m->points; ++i) {
        if (part[m->point[i]] != which) continue;
        k = mesh_add_points(out, 1);
        ok = k >= 0;
        if (ok) out->point[k] = to[m->point[i]];
    }
    free(to);
    return ok;
}

/* A body for every component of m. */
static void split_body(reader *r, const json *v, int dim, const mesh *m, const char *name)
{
    int *part = malloc(((size_t)m->nodes + 1) * sizeof *part), i, n = 0;
    rscene_body *b;
    if (!part) {
        fail(r, v->line, "out of memory");
        return;
    }
    components(m, part);
    for (i = 0; i < m->nodes && !r->failed; ++i) {
        if (part[i] != i || !(b = new_body(r))) continue;
        read_motion(r, v, dim, b);
        if (!take_part(m, part, i, &b->m)) fail(r, v->line, "out of memory");
        snprintf(b->name, sizeof b->name, "%.40s-part%d", name, n++);
    }
    free(part);
}

static void read_body(reader *r, const json *v, const double shift[3], const char *suffix)
{
    rscene *s = r->s;
    rscene_body *b;
    const json *spec = json_get(v, "mesh");
    char name[64];
    mesh m;
    int dim = 3;
    memset(&m, 0, sizeof m);
    if (spec && !(spec->type == JSON_STRING && !spec->string[0])) {
        if (!load_mesh(r, v, &m)) return;
        if (m.order > 1) fail(r, spec->line, "a rigid body takes a mesh of order 1");
        dim = m.plane ? 2 : 3;
    } else inline_mesh(r, v, &m, &dim);
    if (!r->failed && s->dim && s->dim != dim) fail(r, v->line, "2D and 3D bodies in one scene");
    s->dim = dim;
    if (!r->failed && !tidy(&m, dim)) fail(r, v->line, "out of memory");
    if (!r->failed) place(r, v, dim, shift, &m);
    snprintf(name, sizeof name, "%.40s%.20s", text_of(r, v, "name", ""), suffix);
    if (!name[0] || name[0] == '.') snprintf(name, sizeof name, "body %d", s->bodies);
    if (r->failed) mesh_free(&m);
    else if (flag(r, v, "split_components", 0)) {
        split_body(r, v, dim, &m, name);
        mesh_free(&m);
    } else if ((b = new_body(r))) {
        b->m = m;
        memcpy(b->name, name, sizeof name);
        read_motion(r, v, dim, b);
    } else mesh_free(&m);
}

static void read_bodies(reader *r, const json *all)
{
    const json *v, *c;
    double step[3] = {0, 0, 0}, count[3], shift[3];
    int i, j, k;
    if (!all || all->type != JSON_ARRAY || all->count == 0) {
        fail(r, all ? all->line : 1, "rigid_bodies must be a list with at least one entry");
        return;
    }
    for (v = all->child; v && !r->failed; v = v->next) {
        if (v->type != JSON_OBJECT) {
            fail(r, v->line, "an entry of rigid_bodies must be an object");
            return;
        }
        if (!flag(r, v, "enabled", 1)) continue;
        c = json_get(v, "copies");
        for (k = 0; k < 3; ++k) count[k] = 1.0;
        if (c) {
            triple(r, c, "count", count);
            triple(r, c, "step", step);
        }
        if (!(count[0] * count[1] * count[2] <= 10000)) fail(r, v->line, "more than 10000 copies");
        for (i = 0; i < (int)count[0] && !r->failed; ++i) for (j = 0; j < (int)count[1]; ++j) {
            for (k = 0; k < (int)count[2] && !r->failed; ++k) {
                char suffix[40] = "";
                if (c) snprintf(suffix, sizeof suffix, ".%d.%d.%d", i, j, k);
                shift[0] = i * step[0];
                shift[1] = j * step[1];
                shift[2] = k * step[2];
                read_body(r, v, shift, suffix);
            }
        }
    }
}

/* Numbers of groups to negative ones: -1 all that never moves by itself, with the dynamic bodies
   that share a number with one of those; -2 - i else, i the first body of the group. */
static void group_bodies(rscene *s)
{
    int i, j;
    for (i = 0; i < s->bodies; ++i) {
        if (s->body[i].type == 0 || s->body[i].group < 0) continue;
        for (j = 0; j < s->bodies; ++j) {
            if (s->body[j].type == 0 && s->body[j].group == s->body[i].group) {
                s->body[j].group = -1000000001;
            }
        }
    }
    for (i = 0; i < s->bodies; ++i) {
        int old = s->body[i].group;
        if (s->body[i].type != 0 || old == -1000000001) s->body[i].group = -1;
        else if (old == -1) s->body[i].group = -2 - i;
        else if (old >= 0) for (j = s->bodies - 1; j >= i; --j) {
            if (s->body[j].type == 0 && s->body[j].group == old) s->body[j].group = -2 - i;
        }
    }
}

/* ---------------------------------------------------------------- the rest */
/* A key of ipc_solver, else of newton_solver. */
static const char *either(const json *root, const char *name, char out[80])
{
    snprintf(out, 80, "ipc_solver.%.60s", name);
    if (!at(root, out)) snprintf(out, 80, "newton_solver.%.60s", name);
    return out;
}

static void read_numbers(reader *r, const json *root)
{
    rscene *s = r->s;
    const json *v = at(root, "ipc_solver.barrier_stiffness");
    char path[80];
    double time = number(r, root, "max_time", -1.0, -HUGE_VAL);
    int steps = whole(r, root, "max_iterations", -1, -1, 1000000000);
    s->h = number(r, root, "timestep", 0.01, 0.0);
    if (!(s->h > 0.0)) fail(r, at(root, "timestep")->line, "timestep must be positive");
    s->steps = steps >= 0 ? steps : (long long)ceil((time >= 0.0 ? time : 10.0) / s->h - 1e-9);
    s->dhat = number(r, root, "distance_barrier_constraint.initial_barrier_activation_distance",
        1e-3, 0.0);
    if (!(s->dhat > 0.0)) fail(r, at(root, "distance_barrier_constraint")->line,
        "initial_barrier_activation_distance must be positive");
    s->separation = number(r, root, "distance_barrier_constraint.minimum_separation_distance", 0.0,
        0.0);
    s->tolerance = number(r, root, either(root, "velocity_conv_tol", path), 1e-2, 0.0);
    if (!(s->tolerance > 0.0)) fail(r, at(root, path)->line, "%s must be positive", path);
    s->tolerance_absolute = flag(r, root, either(root, "is_velocity_conv_tol_abs", path), 0);
    s->max_iterations = whole(r, root, either(root, "max_iterations", path), 3000, 1, 100000000);
    s->kappa_scale = number(r, root, "ipc_solver.min_barrier_stiffness_scale", 1e11, 0.0);
    if (v && v->type == JSON_NUMBER) s->kappa = number(r, root, "ipc_solver.barrier_stiffness", 0,
        0);
    else if (v && (v->type != JSON_STRING || strcmp(v->string, "adaptive") != 0)) {
        fail(r, v->line, "barrier_stiffness must be \"adaptive\" or a number");
    }
    s->mu = number(r, root, "rigid_body_problem.coefficient_friction", 0.0, 0.0);
    s->eps_v = number(r, root, "friction_constraints.static_friction_speed_bound", 1e-3, 0.0);
    if (!(s->eps_v > 0.0)) fail(r, at(root, "friction_constraints")->line,
        "static_friction_speed_bound must be positive");
    s->lags = whole(r, root, "friction_constraints.iterations", 1, -1, 100000);
    s->every = whole(r, root, "output.every", 1, 1, 1000000);
}

static void read_expect(reader *r, const json *root)
{
    const json *v = at(root, "expect.quantities"), *c;
    rscene *s = r->s;
    s->expect_contact = at(root, "expect.contact") ? flag(r, root, "expect.contact", 0) : -1;
    for (c = v ? v->child : NULL; c && !r->failed; c = c->next) {
        s->expect = grow(r, s->expect, s->expects, sizeof *s->expect);
        if (!r->failed) read_quantity(r, c, &s->expect[s->expects++]);
    }
}

/* All lengths by the factor. Densities of what is thin too, so that every mass grows by the same
   power, as if its thickness had grown. */
static void rescale(rscene *s, double f)
{
    double mass = pow(f, s->dim);
    int i, j, k;
    for (i = 0; i < s->bodies; ++i) {
        rscene_body *b = &s->body[i];
        for (j = 0; j < 3 * b->m.nodes; ++j) b->m.x[j] *= f;
        for (k = 0; k < 3; ++k) {
            b->velocity[k] *= f;
            b->force[k] *= mass * f;
            b->torque[k] *= mass * f * f;
        }
        for (k = 1; k < 4; ++k) b->density[k] *= pow(f, s->dim == 3 ? k : k - 1);
        for (j = 0; j < b->poses; ++j) for (k = 0; k < 3; ++k) b->pose[j][k] *= f;
    }
    for (k = 0; k < 3; ++k) s->gravity[k] *= f;
    s->dhat *= f;
    s->separation *= f;
    s->eps_v *= f;
    if (s->tolerance_absolute) s->tolerance *= f;
    if (s->dim == 3) s->kappa *= f;
    s->scale = f;
}

int rscene_parse(rscene *s, const char *path, const char *text, size_t size,
    const rscene_options *opt)
{
    json_error e;
    json *root = json_parse(text, size, &e);
    const json *c;
    reader r;
    size_t i;
    double scale = opt->scale;
    memset(s, 0, sizeof *s);
    memset(&r, 0, sizeof r);
    r.s = s;
    r.program = opt->program;
    r.path = path;
    r.mesh_dir = opt->mesh_dir;
    r.key = keys;
    r.keys = KEYS;
    r.loose = 1;
    s->parity = opt->parity;
    if (!root) return fail(&r, e.line, "%s", e.text);
    if (root->type != JSON_OBJECT) fail(&r, root->line, "a scene is an object");
    else check_keys(&r, root, "");
    if (!r.failed) read_numbers(&r, root);
    if (!r.failed) read_bodies(&r, at(root, "rigid_body_problem.rigid_bodies"));
    if (!r.failed && s->bodies == 0) fail(&r, root->line, "no body is enabled");
    if (!r.failed) read_expect(&r, root);
    c = at(root, "rigid_body_problem");
    if (!r.failed && c) list(&r, c, "gravity", s->dim, s->dim, s->gravity);
    s->scale = 1.0;
    if (!r.failed) scale *= number(&r, root, "scale", 1.0, 0.0);
    if (!(scale > 0.0)) fail(&r, 1, "scale must be positive");
    json_free(root);
    if (r.failed) {
        rscene_free(s);
        return 0;
    }
    group_bodies(s);
    if (scale != 1.0) rescale(s, scale);
    s->hash = 14695981039346656037u;
    for (i = 0; i < size; ++i) s->hash = (s->hash ^ (unsigned char)text[i]) * 1099511628211u;
    s->hash ^= (unsigned long long)(scale * 1048576.0) ^ (unsigned long long)s->parity << 63;
    return 1;
}

int rscene_read(rscene *s, const char *path, const rscene_options *opt)
{
    size_t size;
    char *text = read_text(opt->program, path, &size);
    int ok;
    memset(s, 0, sizeof *s);
    if (!text) return 0;
    ok = rscene_parse(s, path, text, size, opt);
    free(text);
    return ok;
}

void rscene_free(rscene *s)
{
    int i;
    for (i = 0; i < s->bodies; ++i) {
        mesh_free(&s->body[i].m);
        free(s->body[i].pose);
    }
    free(s->body);
    free(s->expect);
    memset(s, 0, sizeof *s);
}
