/* scene.c - see scene.h */
#include "scene.h"

#define KEYS_TARGET scene
#include "keys.h"
#include "param.h"

#include <stdint.h>

#define PI 3.14159265358979323846
#define MOST_NODES 20000000 /* of all bodies */

/* ---------------------------------------------------------------- the table of keys */
static const key keys[] = {
    {"geometry[]", 1, "list of bodies, obstacles and planes"},
    {"geometry[].mesh", 1, "file (.msh .obj .stl .ply .mesh) or {\"kind\": ...} (--help-mesh)"},
    {"geometry[].name", 1, "text; default body K"},
    {"geometry[].type", 1, "\"mesh\" (default), \"plane\", \"ground\""},
    {"geometry[].point", 1, "[m,m,m], of a plane"},
    {"geometry[].normal", 1, "[x,y,z], of a plane, to the free side"},
    {"geometry[].height", 1, "m, of the ground, normal +y"},
    {"geometry[].enabled", 1, "true; false leaves it out"},
    {"geometry[].is_obstacle", 1, "false; true: moves only as scripted"},
    {"geometry[].body", 1, "\"solid\" (default) or \"obstacle\""},
    {"geometry[].transformation.scale", 1, "number or [x,y,z]; default 1"},
    {"geometry[].transformation.dimensions", 1, "m or [m,m,m]: scale the box to this size"},
    {"geometry[].transformation.rotation", 1, "degrees about x, y, z: R = Rx Ry Rz; default 0"},
    {"geometry[].transformation.translation", 1, "[m,m,m]; default 0"},
    {"geometry[].volume_selection", 1, "number: id of its material; default 1"},
    {"geometry[].surface_selection", 1,
        "id, or list of {id, box|sphere|plane|cylinder|axis}; default: sides of the box are"
        " 1 left 2 bottom 3 right 4 top 5 back 6 front"},
    {"geometry[].thickness", 1, "m, of the contact surface; default 0"},
    {"geometry[].velocity", 1, "[m/s,m/s,m/s] at the start"},
    {"geometry[].motion", 1,
        "of an obstacle: {velocity, angular_velocity (rad/s), center, from, until} or a list"},
    {"geometry[].copies", 1, "{count [n,n,n], step [m,m,m]}: a grid of copies"},
    {"space.discr_order", 1, "1 to 4; default 1"},
    {"space.advanced.quadrature_order", 0, ""},
    {"time.t0", 1, "s; default 0"},
    {"time.tend", 1, "s; default 1"},
    {"time.dt", 1, "s; default 0.025"},
    {"time.time_steps", 1, "number of steps, instead of dt"},
    {"time.integrator", 1,
        "\"ImplicitEuler\" (default), {\"type\": \"BDF\", \"steps\": 1..3}, {\"type\":"
        " \"ImplicitNewmark\", \"beta\": 0.25, \"gamma\": 0.5}"},
    {"time.quasistatic", 1, "true: no inertia"},
    {"materials", 1,
        "one or a list of {id, type \"NeoHookean\"|\"FixedCorotational\"|\"LinearElasticity\"|"
        "\"SaintVenant\", E (Pa), nu | lambda, mu, rho (kg/m^3)}; default NeoHookean 1e5 0.4 1000"},
    {"boundary_conditions.rhs", 1, "minus the acceleration, m/s^2: [0,9.81,0] is gravity"},
    {"boundary_conditions.dirichlet_boundary", 1, "list of {id, value [3], dimension [3]}"},
    {"boundary_conditions.neumann_boundary", 1, "list of {id, value [3]}: traction, Pa"},
    {"boundary_conditions.obstacle_displacements", 1, "list of {id, value [3]}: m"},
    {"initial_conditions.velocity", 1, "list of {id, value [3]}: m/s, by volume_selection"},
    {"contact.enabled", 1, "true"},
    {"contact.dhat", 1, "m: the barrier begins here"},
    {"contact.dhat_relative", 1, "the same as a part of the diagonal l; default 1e-3"},
    {"contact.epsv", 1, "m/s: slower counts as sticking"},
    {"contact.epsv_relative", 1, "l/s; default 1e-3"},
    {"contact.friction_coefficient", 1, "default 0"},
    {"contact.friction", 1,
        "list of [id, id, coefficient] of volume_selection, before the default"},
    {"contact.use_convergent_formulation", 1, "false"},
    {"contact.collision_mesh.max_edge_length", 0, ""},
    {"contact.collision_mesh.segments", 1, "pieces per edge of curved elements; default the order"},
    {"solver.linear", 0, ""},
    {"solver.nonlinear.grad_norm", 0, ""},
    {"solver.nonlinear.x_delta", 1, "m/s: Newton stops when its step is slower"},
    {"solver.nonlinear.max_iterations", 1, "default 1000"},
    {"solver.nonlinear.line_search", 0, ""},
    {"solver.eps_d_relative", 1, "l/s, instead of x_delta; default 1e-2"},
    {"solver.contact.barrier_stiffness", 1, "\"adaptive\" (default) or kg/m^2"},
    {"solver.contact.friction_iterations", 1,
        "passes of the friction lag; default 1, -1 converged"},
    {"solver.contact.friction_convergence_tol", 0, ""},
    {"solver.contact.CCD", 0, ""},
    {"solver.augmented_lagrangian", 0, ""},
    {"solver.rayleigh_damping", 1, "number: stiffness-proportional damping ratio; default 0"},
    {"output.every", 1, "steps per frame; default 1"},
    {"output.paraview", 0, ""},
    {"output.json", 0, ""},
    {"output.log", 0, ""},
    {"output.advanced", 0, ""},
    {"expect.contact", 1, "true or false: did contact happen?"},
    {"expect.quantities", 1,
        "list of {name, body, value, tolerance | min, max} at the end: min_x..max_z,"
        " mean_x..mean_z, speed, contacts, moved; of the mean velocity: velocity_x..velocity_z,"
        " velocity; of the contact forces: force_x..force_z, support (1: they carry the weight)"},
    {"expect.fast", 1, "true: part of the default checks"},
    {"expect.pair", 1,
        "a variant: it and the scene as it stands must each miss what the other expects"},
    {"expect.newton", 1, "published mean of Newton iterations per step, for the table"},
    {"parameters", 1, "{name: value}; \"=name\" or \"=expression\" is that value anywhere else"},
    {"variants", 1, "{name: {parameter: value}}, chosen by --variant"},
    {"scale", 1, "as --scale"},
    {"units", 0, ""},
    {"root_path", 0, ""},
    {"preset", 0, ""},
    {"comment", 0, ""}};

enum { KEYS = sizeof keys / sizeof *keys };

void scene_help(FILE *f)
{
    fprintf(f, "A scene is one JSON text; lengths in metres, SI units. Values of conditions are"
        " numbers or\nexpressions of x, y, z, t. Keys:\n");
    print_keys(f, keys, KEYS);
}

/* ---------------------------------------------------------------- geometry */
static void rotate(const double degrees[3], double R[9])
{
    double c[3], s[3];
    int k;
    for (k = 0; k < 3; ++k) { /* quarter turns exactly */
        double d = fmod(degrees[k], 360.0);
        c[k] = cos(d * PI / 180.0);
        s[k] = sin(d * PI / 180.0);
        if (fmod(d, 90.0) == 0.0) {
            c[k] = floor(c[k] + 0.5);
            s[k] = floor(s[k] + 0.5);
        }
    }
    /* Rx Ry Rz */
    R[0] = c[1] * c[2];
    R[1] = -c[1] * s[2];
    R[2] = s[1];
    R[3] = c[0] * s[2] + s[0] * s[1] * c[2];
    R[4] = c[0] * c[2] - s[0] * s[1] * s[2];
    R[5] = -s[0] * c[1];
    R[6] = s[0] * s[2] - c[0] * s[1] * c[2];
    R[7] = s[0] * c[2] + c[0] * s[1] * s[2];
    R[8] = c[0] * c[1];
}

static void place(reader *r, const json *v, mesh *m)
{
    double scale[3] = {1, 1, 1}, size[3], turn[3] = {0, 0, 0}, shift[3] = {0, 0, 0}, R[9];
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    int i, k, j;
    for (i = 0; i < 3 * m->nodes; ++i) {
        low[i % 3] = fmin(low[i % 3], m->x[i]);
        high[i % 3] = fmax(high[i % 3], m->x[i]);
    }
    if (triple(r, v, "transformation.dimensions", size)) {
        for (k = 0; k < 3; ++k) if (high[k] > low[k]) scale[k] = size[k] / (high[k] - low[k]);
    }
    triple(r, v, "transformation.scale", scale);
    triple(r, v, "transformation.rotation", turn);
    triple(r, v, "transformation.translation", shift);
    rotate(turn, R);
    for (i = 0; i < m->nodes; ++i) {
        double *x = m->x + 3 * (size_t)i, y[3], z[3];
        for (k = 0; k < 3; ++k) y[k] = scale[k] * x[k];
        for (k = 0; k < 3; ++k) {
            z[k] = shift[k];
            for (j = 0; j < 3; ++j) z[k] += R[3 * k + j] * y[j];
        }
        memcpy(x, z, sizeof z);
    }
}

static void add_select(reader *r, scene_body *b, int id, int kind, const double *data)
{
    b->select = grow(r, b->select, b->selects, sizeof *b->select);
    if (r->failed) return;
    b->select[b->selects].id = id;
    b->select[b->selects].kind = kind;
    if (data) memcpy(b->select[b->selects].data, data, 7 * sizeof *data);
    ++b->selects;
}

static void read_select(reader *r, scene_body *b, const json *c)
{
    double data[7] = {0};
    int id = whole(r, c, "id", 0, 0, 1000000);
    const json *v;
    if ((v = json_get(c, "box"))) {
        numbers_of(r, v, data, 6);
        add_select(r, b, id, 1, data);
    } else if ((v = json_get(c, "center")) || (v = json_get(c, "sphere"))) {
        const json *center = json_get(v, "center");
        numbers_of(r, center ? center : v, data, 3);
        data[3] = number(r, center ? v : c, "radius", 1.0, 0.0);
        add_select(r, b, id, 2, data);
    } else if ((v = json_get(c, "plane")) || json_get(c, "normal")) {
        triple(r, v ? v : c, "point", data);
        triple(r, v ? v : c, "normal", data + 3);
        add_select(r, b, id, 3, data);
    } else if ((v = json_get(c, "cylinder")) || json_get(c, "p1")) {
        triple(r, v ? v : c, "p1", data);
        triple(r, v ? v : c, "p2", data + 3);
        data[6] = number(r, v ? v : c, "radius", 1.0, 0.0);
        add_select(r, b, id, 4, data);
    } else if ((v = json_get(c, "axis"))) {
        const char *name = v->type == JSON_STRING ? v->string : "";
        int below = name[0] == '-', axis = name[below] - 'x';
        if (axis < 0 || axis > 2) {
            fail(r, v->line, "axis must be x, y, z, -x, -y or -z");
            return;
        }
        data[0] = axis + 3 * below;
        data[1] = number(r, c, "position", 0.0, -HUGE_VAL);
        add_select(r, b, id, 5, data);
    } else add_select(r, b, id, 0, NULL);
}

/* Without a word on it the sides of the bounding box get numbers 1 to 6. */
static void default_select(reader *r, scene_body *b)
{
    static const int id[6] = {1, 2, 5, 3, 4, 6};
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    double data[7] = {0}, eps;
    int i, k;
    for (i = 0; i < 3 * b->m.nodes; ++i) {
        low[i % 3] = fmin(low[i % 3], b->m.x[i]);
        high[i % 3] = fmax(high[i % 3], b->m.x[i]);
    }
    for (k = 0; k < 3; ++k) {
        eps = 1e-7 * (high[k] - low[k]);
        data[0] = k + 3;
        data[1] = low[k] + eps;
        add_select(r, b, id[k], 5, data);
        data[0] = k;
        data[1] = high[k] - eps;
        add_select(r, b, id[k + 3], 5, data);
    }
}

int scene_selected(const scene_select *s, const double x[3])
{
    const double *d = s->data;
    double t, q = 0.0, e[3], len2 = 0.0;
    int k;
    switch (s->kind) {
    case 1:
        for (k = 0; k < 3; ++k) if (x[k] < d[k] || x[k] > d[k + 3]) return 0;
        return 1;
    case 2:
        for (k = 0; k < 3; ++k) q += (x[k] - d[k]) * (x[k] - d[k]);
        return q <= d[3] * d[3];
    case 3:
        for (k = 0; k < 3; ++k) q += (x[k] - d[k]) * d[k + 3];
        return q >= 0.0;
    case 4:
        for (k = 0; k < 3; ++k) {
            e[k] = d[k + 3] - d[k];
            len2 += e[k] * e[k];
            q += (x[k] - d[k]) * e[k];
        }
        t = len2 > 0.0 ? q / len2 : 0.0;
        if (t < 0.0 || t > 1.0) return 0;
        for (q = 0.0, k = 0; k < 3; ++k) q += pow(x[k] - d[k] - t * e[k], 2);
        return q <= d[6] * d[6];
    case 5:
        k = (int)d[0];
        return k < 3 ? x[k] >= d[1] : x[k - 3] <= d[1];
    default: return 1;
    }
}

static void read_motion(reader *r, scene_body *b, const json *v)
{
    scene_motion *m;
    if (v->type != JSON_OBJECT) {
        fail(r, v->line, "motion must be an object");
        return;
    }
    b->motion = grow(r, b->motion, b->motions, sizeof *b->motion);
    if (r->failed) return;
    m = &b->motion[b->motions++];
    triple(r, v, "velocity", m->velocity);
    triple(r, v, "angular_velocity", m->spin);
    triple(r, v, "center", m->center);
    m->from = number(r, v, "from", 0.0, -HUGE_VAL);
    m->until = number(r, v, "until", HUGE_VAL, -HUGE_VAL);
}

void scene_move(const scene_motion *motion, int motions, double t, const double x[3], double out[3])
{
    double y[3], shift[3] = {0, 0, 0};
    int i, k;
    memcpy(y, x, sizeof y);
    for (i = 0; i < motions; ++i) {
        const scene_motion *m = &motion[i];
        double d = fmin(t, m->until) - m->from, w[3], angle = 0.0, c, s, dot = 0.0, p[3];
        if (!(d > 0.0)) continue;
        for (k = 0; k < 3; ++k) angle += m->spin[k] * m->spin[k];
        angle = sqrt(angle);
        if (angle > 0.0) { /* Rodrigues, about the centre that has moved along */
            for (k = 0; k < 3; ++k) w[k] = m->spin[k] / angle;
            c = cos(angle * d);
            s = sin(angle * d);
            for (k = 0; k < 3; ++k) p[k] = y[k] - m->center[k] - shift[k];
            for (k = 0; k < 3; ++k) dot += w[k] * p[k];
            for (k = 0; k < 3; ++k) {
                double cross = w[(k + 1) % 3] * p[(k + 2) % 3] - w[(k + 2) % 3] * p[(k + 1) % 3];
                y[k] = m->center[k] + shift[k] + c * p[k] + s * cross + (1.0 - c) * dot * w[k];
            }
        }
        for (k = 0; k < 3; ++k) {
            y[k] += d * m->velocity[k];
            shift[k] += d * m->velocity[k];
        }
    }
    memcpy(out, y, sizeof y);
}

static void read_plane(reader *r, const json *v, int ground)
{
    double p[6] = {0, 0, 0, 0, 1, 0}, len;
    if (ground) p[1] = number(r, v, "height", 0.0, -HUGE_VAL);
    else {
        triple(r, v, "point", p);
        triple(r, v, "normal", p + 3);
    }
    len = sqrt(p[3] * p[3] + p[4] * p[4] + p[5] * p[5]);
    if (!(len > 0.0)) {
        fail(r, v->line, "a plane needs a normal that is not zero");
        return;
    }
    p[3] /= len;
    p[4] /= len;
    p[5] /= len;
    r->s->plane = grow(r, r->s->plane, r->s->planes, 6 * sizeof(double));
    if (!r->failed) memcpy(r->s->plane + 6 * r->s->planes++, p, sizeof p);
}

static void read_body(reader *r, const json *v, const double shift[3], const char *suffix)
{
    scene *s = r->s;
    scene_body *b;
    const json *c, *d;
    const char *kind = text_of(r, v, "body", "solid");
    mesh m;
    int i;
    if (!load_mesh(r, v, &m)) return;
    place(r, v, &m);
    for (i = 0; i < 3 * m.nodes; ++i) {
        m.x[i] += shift[i % 3];
        if (!(fabs(m.x[i]) <= 1e60)) fail(r, v->line, "coordinates beyond 1e60");
    }
    r->s->nodes += m.nodes;
    if (r->s->nodes > MOST_NODES) fail(r, v->line, "more than %d nodes in all", MOST_NODES);
    s->body = grow(r, s->body, s->bodies, sizeof *s->body);
    if (r->failed) {
        mesh_free(&m);
        return;
    }
    b = &s->body[s->bodies++];
    b->m = m;
    b->line = v->line;
    b->obstacle = flag(r, v, "is_obstacle", 0) || strcmp(kind, "obstacle") == 0;
    if (strcmp(kind, "solid") && strcmp(kind, "obstacle")) {
        fail(r, json_get(v, "body")->line, "body \"%s\" is not simulated; solid and obstacle are",
            kind);
    }
    snprintf(b->name, sizeof b->name, "%.40s%.23s", text_of(r, v, "name", ""), suffix);
    if (!b->name[0] || b->name[0] == '.') snprintf(b->name, sizeof b->name, "body %d",
        s->bodies - 1);
    b->radius = 0.5 * number(r, v, "thickness", 0.0, 0.0);
    triple(r, v, "velocity", b->velocity);
    c = json_get(v, "volume_selection");
    b->id = 1;
    if (c && c->type == JSON_OBJECT) b->id = whole(r, c, "id", 1, 0, 1000000);
    else if (c) b->id = whole(r, v, "volume_selection", 1, 0, 1000000);
    c = json_get(v, "surface_selection");
    if (!c) default_select(r, b);
    else if (c->type == JSON_NUMBER) {
        add_select(r, b, whole(r, v, "surface_selection", 0, 0, 1000000), 0, NULL);
    } else if (c->type == JSON_OBJECT) read_select(r, b, c);
    else for (d = c->child; d; d = d->next) read_select(r, b, d);
    c = json_get(v, "motion");
    if (c && !b->obstacle) fail(r, c->line, "only obstacles have a motion");
    if (c && c->type == JSON_ARRAY) for (d = c->child; d; d = d->next) read_motion(r, b, d);
    else if (c) read_motion(r, b, c);
    if (!b->obstacle && b->m.tets == 0) {
        fail(r, v->line, "\"%s\" has no tetrahedra: a solid needs a volume mesh", b->name);
    }
}

static void read_geometry(reader *r, const json *list)
{
    const json *v, *c;
    double step[3] = {0, 0, 0}, count[3] = {1, 1, 1}, shift[3];
    int i, j, k;
    if (!list || list->type != JSON_ARRAY || list->count == 0) {
        fail(r, list ? list->line : 1, "geometry must be a list with at least one entry");
        return;
    }
    for (v = list->child; v && !r->failed; v = v->next) {
        const char *type = text_of(r, v, "type", "mesh");
        if (v->type != JSON_OBJECT) fail(r, v->line, "an entry of geometry must be an object");
        if (!flag(r, v, "enabled", 1)) continue;
        if (strcmp(type, "plane") == 0 || strcmp(type, "ground") == 0) {
            read_plane(r, v, type[0] == 'g');
            continue;
        }
        if (strcmp(type, "mesh") != 0) fail(r, v->line, "unknown type \"%s\"", type);
        c = json_get(v, "copies");
        for (k = 0; k < 3; ++k) count[k] = 1.0;
        if (c) {
            triple(r, c, "count", count);
            triple(r, c, "step", step);
        }
        for (k = 0; k < 3; ++k) {
            if (!(count[k] >= 1.0 && count[k] <= 10000.0 && count[k] == floor(count[k]))) {
                fail(r, v->line, "copies are counted from 1 to 10000");
                return;
            }
        }
        if (count[0] * count[1] * count[2] > 10000) fail(r, v->line, "more than 10000 copies");
        for (i = 0; i < (int)count[0] && !r->failed; ++i) for (j = 0; j < (int)count[1]; ++j) {
            for (k = 0; k < (int)count[2]; ++k) {
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

/* ---------------------------------------------------------------- the rest */
static void read_material(reader *r, const json *v)
{
    static const char *const laws[] = {"NeoHookean", "FixedCorotational", "LinearElasticity",
        "SaintVenant"};
    scene_material *m;
    const char *type = text_of(r, v, "type", "NeoHookean");
    int i;
    r->s->material = grow(r, r->s->material, r->s->materials, sizeof *r->s->material);
    if (r->failed) return;
    m = &r->s->material[r->s->materials++];
    for (i = 0; i < 4 && strcmp(type, laws[i]) != 0; ++i) {}
    if (i == 4) fail(r, v->line, "unknown material \"%s\"", type);
    m->law = i;
    m->id = whole(r, v, "id", -1, -1, 1000000);
    m->E = number(r, v, "E", 1e5, 0.0);
    m->nu = number(r, v, "nu", 0.4, -1.0);
    m->rho = number(r, v, "rho", 1000.0, 0.0);
    if (json_get(v, "lambda") || json_get(v, "mu")) {
        double la = number(r, v, "lambda", 0.0, -HUGE_VAL), mu = number(r, v, "mu", 1.0, 0.0);
        m->E = mu * (3.0 * la + 2.0 * mu) / (la + mu);
        m->nu = 0.5 * la / (la + mu);
    }
    if (!(m->E > 0.0)) fail(r, v->line, "E must be positive");
    if (!(m->E <= 1e30 && m->rho <= 1e30)) fail(r, v->line, "E and rho must be below 1e30");
    if (!(m->nu > -1.0 && m->nu < 0.5)) fail(r, v->line, "nu must lie between -1 and 0.5");
    if (!(m->rho > 0.0)) fail(r, v->line, "rho must be positive");
}

static expr *value_of(reader *r, const json *v)
{
    expr_error e;
    expr *x = NULL;
    char text[4000];
    if (v->type == JSON_NUMBER) x = expr_number(v->number);
    else if (v->type != JSON_STRING) fail(r, v->line, "a value is a number or an expression");
    else if (!param_expand(r->root, v->string, text, sizeof text)) {
        fail(r, v->line, "the expression is too long");
    } else if (!(x = expr_parse(text, &e))) {
        fail(r, v->line, "expression \"%.60s\", column %d: %s", v->string, e.column, e.text);
    }
    if (!x) fail(r, v->line, "out of memory");
    return x;
}

static void read_conditions(reader *r, const json *list, scene_condition **to, int *count,
    int obstacle)
{
    const json *v, *c;
    int k;
    if (!list) return;
    for (v = list->child; v && !r->failed; v = v->next) {
        const json *value = json_get(v, "value"), *dim = json_get(v, "dimension");
        scene_condition *s;
        *to = grow(r, *to, *count, sizeof **to);
        if (r->failed) return;
        s = &(*to)[(*count)++];
        s->id = whole(r, v, "id", 0, 0, 1000000);
        s->obstacle = obstacle;
        if (!value || value->type != JSON_ARRAY || value->count != 3) {
            fail(r, v->line, "a condition needs \"value\": [three values]");
            return;
        }
        for (k = 0, c = value->child; c && !r->failed; c = c->next, ++k) s->value[k] = value_of(r,
            c);
        for (k = 0; k < 3; ++k) s->component[k] = 1;
        if (dim && (dim->type != JSON_ARRAY || dim->count != 3)) {
            fail(r, dim->line, "dimension must be three times true or false");
            return;
        }
        for (k = 0, c = dim ? dim->child :
            NULL; c; c = c->next) s->component[k++] = c->number != 0.0;
    }
}

static void read_time(reader *r, const json *root)
{
    scene *s = r->s;
    const json *v = at(root, "time.integrator");
    const char *type = "ImplicitEuler";
    int steps = whole(r, root, "time.time_steps", 0, 1, 1000000000), bdf = 1;
    s->t0 = number(r, root, "time.t0", 0.0, -HUGE_VAL);
    s->tend = number(r, root, "time.tend", 1.0, s->t0);
    s->h = number(r, root, "time.dt", 0.025, 0.0);
    if (steps && !at(root, "time.dt")) s->h = (s->tend - s->t0) / steps;
    if (steps && !at(root, "time.tend")) s->tend = s->t0 + steps * s->h;
    if (!(s->h > 0.0)) fail(r, at(root, "time") ? at(root, "time")->line : 1,
        "dt must be positive");
    if (!(s->h >= 1e-30 && s->h <= 1e30 && (s->tend - s->t0) / s->h < 1e15)) {
        fail(r, at(root, "time") ? at(root, "time")->line : 1, "dt is out of range");
    }
    s->quasistatic = flag(r, root, "time.quasistatic", 0);
    if (v && v->type == JSON_STRING) type = v->string;
    else if (v && v->type == JSON_OBJECT) {
        type = text_of(r, v, "type", "ImplicitEuler");
        bdf = whole(r, v, "steps", 1, 1, 3);
        s->beta = number(r, v, "beta", 0.25, 0.0);
        s->gamma = number(r, v, "gamma", 0.5, 0.0);
    }
    if (strcmp(type, "ImplicitEuler") == 0) s->method = 0;
    else if (strcmp(type, "BDF") == 0) s->method = bdf;
    else if (strcmp(type, "ImplicitNewmark") == 0) s->method = 4;
    else fail(r, v->line, "unknown integrator \"%s\"", type);
}

static void read_contact(reader *r, const json *root)
{
    scene *s = r->s;
    const json *v = at(root, "solver.contact.barrier_stiffness"), *c;
    int k;
    s->contact = flag(r, root, "contact.enabled", 1);
    s->dhat = number(r, root, "contact.dhat", 0.0, 0.0);
    s->dhat_relative = number(r, root, "contact.dhat_relative", s->dhat > 0.0 ? 0.0 : 1e-3, 0.0);
    s->eps_v = number(r, root, "contact.epsv", 0.0, 0.0);
    s->eps_v_relative = number(r, root, "contact.epsv_relative", s->eps_v > 0.0 ? 0.0 : 1e-3, 0.0);
    s->eps_d = number(r, root, "solver.nonlinear.x_delta", 0.0, 0.0);
    s->eps_d_relative = number(r, root, "solver.eps_d_relative", s->eps_d > 0.0 ? 0.0 : 1e-2, 0.0);
    if ((s->dhat > 0.0 && s->dhat_relative > 0.0) || (s->eps_v > 0.0 && s->eps_v_relative > 0.0) ||
        (s->eps_d > 0.0 && s->eps_d_relative > 0.0)) {
        fail(r, at(root, "contact") ? at(root, "contact")->line : 1,
            "an absolute length and its relative twin exclude each other");
    }
    s->mu = number(r, root, "contact.friction_coefficient", 0.0, 0.0);
    s->convergent = flag(r, root, "contact.use_convergent_formulation", 0);
    s->segments = whole(r, root, "contact.collision_mesh.segments", 0, 1, 64);
    if (v && v->type == JSON_NUMBER) s->kappa = number(r, root, "solver.contact.barrier_stiffness",
        0, 0);
    else if (v && (v->type != JSON_STRING || strcmp(v->string, "adaptive") != 0)) {
        fail(r, v->line, "barrier_stiffness must be \"adaptive\" or a number");
    }
    s->lags = whole(r, root, "solver.contact.friction_iterations", 1, -1, 100000);
    s->max_iterations = whole(r, root, "solver.nonlinear.max_iterations", 1000, 1, 100000000);
    s->damping = number(r, root, "solver.rayleigh_damping", 0.0, 0.0);
    for (c = at(root, "contact.friction") ? at(root, "contact.friction")->child :
        NULL; c; c = c->next) {
        s->pair_mu = grow(r, s->pair_mu, s->pair_mus, sizeof *s->pair_mu);
        if (r->failed) return;
        numbers_of(r, c, s->pair_mu[s->pair_mus++], 3);
        for (k = 0; k < 3; ++k) {
            double q = s->pair_mu[s->pair_mus - 1][k];
            if (!(q >= 0.0 && q <= 1e6)) fail(r, c->line, "ids and a coefficient, not negative");
        }
    }
}

static void read_expect(reader *r, const json *root)
{
    const json *v = at(root, "expect.quantities"), *c;
    scene *s = r->s;
    snprintf(s->pair, sizeof s->pair, "%.63s", text_of(r, root, "expect.pair", ""));
    s->published_newton = number(r, root, "expect.newton", 0.0, 0.0);
    s->expect_contact = at(root, "expect.contact") ? flag(r, root, "expect.contact", 0) : -1;
    for (c = v ? v->child : NULL; c && !r->failed; c = c->next) {
        scene_expect *e;
        double value = number(r, c, "value", 0.0, -HUGE_VAL), tol = number(r, c, "tolerance", 0.0,
            0.0);
        s->expect = grow(r, s->expect, s->expects, sizeof *s->expect);
        if (r->failed) return;
        e = &s->expect[s->expects++];
        snprintf(e->name, sizeof e->name, "%.39s", text_of(r, c, "name", ""));
        snprintf(e->body, sizeof e->body, "%.63s", text_of(r, c, "body", ""));
        e->low = number(r, c, "min", json_get(c, "value") ? value - tol : -HUGE_VAL, -HUGE_VAL);
        e->high = number(r, c, "max", json_get(c, "value") ? value + tol : HUGE_VAL, -HUGE_VAL);
        e->line = c->line;
    }
}

static void read_initial(reader *r, const json *root)
{
    const json *c = at(root, "initial_conditions.velocity");
    double v[3];
    int i;
    for (c = c ? c->child : NULL; c && !r->failed; c = c->next) {
        int id = whole(r, c, "id", 1, 0, 1000000);
        if (!triple(r, c, "value", v)) fail(r, c->line,
            "velocity needs \"value\": [three numbers]");
        for (i = 0; i < r->s->bodies; ++i) {
            if (r->s->body[i].id == id) memcpy(r->s->body[i].velocity, v, sizeof v);
        }
    }
}

/* All lengths by the factor; E by its square; a fixed kappa by itself. */
static void rescale(scene *s, double f)
{
    int i, j, k;
    for (i = 0; i < s->bodies; ++i) {
        scene_body *b = &s->body[i];
        for (j = 0; j < 3 * b->m.nodes; ++j) b->m.x[j] *= f;
        b->radius *= f;
        for (k = 0; k < 3; ++k) b->velocity[k] *= f;
        for (j = 0; j < b->selects; ++j) {
            scene_select *q = &b->select[j];
            if (q->kind == 1) for (k = 0; k < 6; ++k) q->data[k] *= f;
            if (q->kind == 2) for (k = 0; k < 4; ++k) q->data[k] *= f;
            if (q->kind == 3) for (k = 0; k < 3; ++k) q->data[k] *= f;
            if (q->kind == 4) for (k = 0; k < 7; ++k) q->data[k] *= f;
            if (q->kind == 5) q->data[1] *= f;
        }
        for (j = 0; j < b->motions; ++j) for (k = 0; k < 3; ++k) {
            b->motion[j].velocity[k] *= f;
            b->motion[j].center[k] *= f;
        }
    }
    for (i = 0; i < s->planes; ++i) for (k = 0; k < 3; ++k) s->plane[6 * i + k] *= f;
    for (i = 0; i < s->materials; ++i) s->material[i].E *= f * f;
    for (k = 0; k < 3; ++k) s->gravity[k] *= f;
    s->dhat *= f;
    s->eps_v *= f;
    s->eps_d *= f;
    s->kappa *= f;
    s->scale = f;
}

static unsigned long long hash_of(unsigned long long h, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    size_t i;
    for (i = 0; i < size; ++i) h = (h ^ p[i]) * 1099511628211u;
    return h;
}

/* What the numbers of a state mean: meshes, planes, degree, integrator. */
static unsigned long long shape_of(const scene *s)
{
    int what[4];
    unsigned long long h = 14695981039346656037u;
    int i;
    what[0] = s->bodies;
    what[1] = s->order;
    what[2] = s->segments;
    what[3] = s->method;
    h = hash_of(h, what, sizeof what);
    h = hash_of(h, s->plane, 6 * (size_t)s->planes * sizeof *s->plane);
    for (i = 0; i < s->bodies; ++i) {
        const mesh *m = &s->body[i].m;
        h = hash_of(h, &s->body[i].obstacle, sizeof(int));
        h = hash_of(h, m->x, 3 * (size_t)m->nodes * sizeof *m->x);
        h = hash_of(h, m->tet, (size_t)m->tets * (size_t)mesh_tet_nodes(m->order) * sizeof(int));
        h = hash_of(h, m->tri, (size_t)m->tris * (size_t)mesh_tri_nodes(m->order) * sizeof(int));
        h = hash_of(h, m->edge, 2 * (size_t)m->edges * sizeof(int));
        h = hash_of(h, m->point, (size_t)m->points * sizeof(int));
    }
    return h;
}

int scene_parse_as(scene *s, const char *program, const char *path, const char *text, size_t size,
    const char *mesh_dir, double scale, const char *variant)
{
    json_error e;
    json *root = json_parse(text, size, &e);
    const json *c;
    reader r;
    size_t i;
    double rhs[3] = {0, 0, 0};
    memset(s, 0, sizeof *s);
    memset(&r, 0, sizeof r);
    r.s = s;
    r.program = program;
    r.path = path;
    r.mesh_dir = mesh_dir;
    r.key = keys;
    r.keys = KEYS;
    if (!root) return fail(&r, e.line, "%s", e.text);
    r.root = root;
    if (root->type != JSON_OBJECT) fail(&r, root->line, "a scene is an object");
    else if (!param_apply(root, variant, &e.line, e.text, sizeof e.text)) {
        fail(&r, e.line, "%s", e.text);
    } else check_keys(&r, root, "");
    if (!r.failed) read_geometry(&r, json_get(root, "geometry"));
    if (!r.failed) read_time(&r, root);
    if (!r.failed) read_contact(&r, root);
    if (!r.failed) read_expect(&r, root);
    c = json_get(root, "materials");
    if (!r.failed && c && c->type == JSON_ARRAY)
        for (c = c->child; c; c = c->next) read_material(&r, c);
    else if (!r.failed && c) read_material(&r, c);
    if (!r.failed) {
        s->order = whole(&r, root, "space.discr_order", 1, 1, 4);
        s->every = whole(&r, root, "output.every", 1, 1, 1000000);
        triple(&r, root, "boundary_conditions.rhs", rhs);
        for (i = 0; i < 3; ++i) s->gravity[i] = rhs[i] == 0.0 ? 0.0 : -rhs[i];
        read_conditions(&r, at(root, "boundary_conditions.dirichlet_boundary"), &s->dirichlet,
            &s->dirichlets, 0);
        read_conditions(&r, at(root, "boundary_conditions.obstacle_displacements"), &s->dirichlet,
            &s->dirichlets, 1);
        read_conditions(&r, at(root, "boundary_conditions.neumann_boundary"), &s->neumann,
            &s->neumanns,
            0);
        read_initial(&r, root);
        s->scale = 1.0;
        scale *= number(&r, root, "scale", 1.0, 0.0);
        if (!(scale > 0.0)) fail(&r, 1, "scale must be positive");
    }
    json_free(root);
    if (r.failed) {
        scene_free(s);
        return 0;
    }
    if (scale != 1.0) rescale(s, scale);
    s->hash = hash_of(14695981039346656037u, text, size);
    if (variant) s->hash = hash_of(s->hash, variant, strlen(variant));
    s->shape = shape_of(s);
    return 1;
}

int scene_parse(scene *s, const char *program, const char *path, const char *text, size_t size,
    const char *mesh_dir, double scale)
{
    return scene_parse_as(s, program, path, text, size, mesh_dir, scale, NULL);
}

int scene_variants(const char *program, const char *path, FILE *out)
{
    json_error e;
    json *root = json_read(path, &e);
    const json *v;
    if (!root) fprintf(stderr, "%s: %s:%d: %s\n", program, path, e.line, e.text);
    if (!root) return 0;
    v = json_get(root, "variants");
    for (v = v ? v->child : NULL; v; v = v->next) if (v->key) fprintf(out, "%s\n", v->key);
    json_free(root);
    return 1;
}

int scene_read(scene *s, const char *program, const char *path, const char *mesh_dir, double scale,
    const char *variant)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, got = 1;
    int ok;
    memset(s, 0, sizeof *s);
    if (!f) {
        fprintf(stderr, "%s: %s: cannot open it\n", program, path);
        return 0;
    }
    while (got > 0) {
        char *more = realloc(text, size + 65536);
        if (!more) break;
        text = more;
        got = fread(text + size, 1, 65536, f);
        size += got;
    }
    fclose(f);
    ok = got == 0 && scene_parse_as(s, program, path, text, size, mesh_dir, scale, variant);
    free(text);
    return ok;
}

void scene_free(scene *s)
{
    int i, k;
    for (i = 0; i < s->bodies; ++i) {
        mesh_free(&s->body[i].m);
        free(s->body[i].select);
        free(s->body[i].motion);
    }
    for (i = 0; i < s->dirichlets; ++i) for (k = 0; k < 3; ++k) expr_free(s->dirichlet[i].value[k]);
    for (i = 0; i < s->neumanns; ++i) for (k = 0; k < 3; ++k) expr_free(s->neumann[i].value[k]);
    free(s->body);
    free(s->plane);
    free(s->material);
    free(s->dirichlet);
    free(s->neumann);
    free(s->pair_mu);
    free(s->expect);
    memset(s, 0, sizeof *s);
}
