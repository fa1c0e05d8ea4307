/* fuzz_scene.c - any bytes as a scene: read, set up as --check does, and for small ones one step
   The first byte 0: the rest is the text itself. Else it picks a good scene, and groups of four
   bytes (place, place, what, which) edit it: a byte, a value, a key, a cut. */
#include "scene.h"
#include "sim.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 8192

static const char *const good[] = {
    "{\"geometry\": [{\"name\": \"a\", \"mesh\": {\"kind\": \"box\", \"size\": [1, 1, 1],"
    " \"cells\":"
    " [1, 1, 1]}, \"transformation\": {\"scale\": 1, \"rotation\": [0, 0, 5], \"translation\": [0,"
    " 0.6, 0]}, \"velocity\": [0, -1, 0], \"volume_selection\": 1}, {\"type\": \"ground\","
    " \"height\": 0}], \"materials\": [{\"id\": 1, \"type\": \"NeoHookean\", \"E\": 1e5, \"nu\":"
    " 0.4, \"rho\": 1000}], \"boundary_conditions\": {\"rhs\": [0, 9.81, 0]}, \"contact\":"
    " {\"friction_coefficient\": 0.3, \"dhat\": 0.002, \"epsv\": 1e-3, \"friction\": [[1, 1,"
    " 0.2]]},"
    " \"time\": {\"dt\": 0.1, \"tend\": 1, \"t0\": 0}, \"solver\": {\"rayleigh_damping\": 0.1}}",
    "{\"geometry\": [{\"mesh\": {\"kind\": \"tet\", \"size\": 1, \"order\": 2}}, {\"is_obstacle\":"
    " true, \"thickness\": 0.01, \"mesh\": {\"kind\": \"sheet\", \"size\": [3, 3], \"cells\": [2,"
    " 2]}, \"transformation\": {\"translation\": [0, -0.1, 0], \"dimensions\": [3, 1, 3]},"
    " \"motion\": [{\"velocity\": [0, 1, 0], \"angular_velocity\": [0, 1, 0], \"center\": [0, 0,"
    " 0], \"from\": 0, \"until\": 2}]}], \"space\": {\"discr_order\": 2}, \"time\":"
    " {\"integrator\":"
    " {\"type\": \"BDF\", \"steps\": 2}, \"time_steps\": 4}, \"contact\": {\"dhat_relative\": 1e-2,"
    " \"epsv_relative\": 1e-3, \"collision_mesh\": {\"segments\": 2}}}",
    "{\"geometry\": [{\"mesh\": {\"kind\": \"box\", \"cells\": 1}, \"surface_selection\": [{\"id\":"
    " 1, \"box\": [[-1, -1, -1], [1, -0.4, 1]]}, {\"id\": 2, \"axis\": \"-y\", \"position\": -0.4},"
    " {\"id\": 3, \"sphere\": {\"center\": [0, 0, 0], \"radius\": 2}}, {\"id\": 4, \"plane\":"
    " {\"point\": [0, 0, 0], \"normal\": [0, 1, 0]}}, {\"id\": 5, \"cylinder\": {\"p1\": [0, 0, 0],"
    " \"p2\": [0, 1, 0], \"radius\": 1}}]}], \"boundary_conditions\": {\"dirichlet_boundary\":"
    " [{\"id\": 1, \"value\": [0, \"t*0.1\", \"if(x>0, sin(t), min(y, z))\"], \"dimension\": [true,"
    " true, false]}], \"neumann_boundary\": [{\"id\": 4, \"value\": [0, \"100*t\", 0]}]}, \"time\":"
    " {\"quasistatic\": true, \"dt\": 0.5}, \"solver\": {\"nonlinear\": {\"x_delta\": 1e-3,"
    " \"max_iterations\": 5}, \"contact\": {\"barrier_stiffness\": 100, \"friction_iterations\":"
    " 2}}}",
    "{\"geometry\": [{\"name\": \"c\", \"mesh\": {\"kind\": \"spike\", \"size\": 0.2}, \"copies\":"
    " {\"count\": [2, 1, 2], \"step\": [1, 1, 1]}}, {\"body\": \"obstacle\", \"mesh\": {\"kind\":"
    " \"polyline\", \"points\": [[0, -1, 0], [1, -1, 0], [1, -1, 1]]}}, {\"is_obstacle\": true,"
    " \"mesh\": {\"kind\": \"points\", \"count\": [2, 1, 2], \"spacing\": 0.1, \"jitter\": 0,"
    " \"seed\": 1}, \"transformation\": {\"translation\": [0, -2, 0]}}, {\"type\": \"plane\","
    " \"point\": [0, -3, 0], \"normal\": [0, 1, 0.1]}], \"initial_conditions\": {\"velocity\":"
    " [{\"id\": 1, \"value\": [0, -1, 0]}]}, \"expect\": {\"contact\": false, \"quantities\":"
    " [{\"name\": \"min_y\", \"body\": \"c.0.0.0\", \"value\": 0, \"tolerance\": 1}, {\"name\":"
    " \"speed\", \"min\": 0, \"max\": 9}]}, \"output\": {\"every\": 2}, \"scale\": 2}",
    "{\"geometry\": [{\"mesh\": {\"kind\": \"ball\", \"radius\": 0.5, \"refine\": 1}}, {\"mesh\":"
    " {\"kind\": \"torus\", \"major\": 0.4, \"minor\": 0.1, \"segments\": 5, \"rings\": 1},"
    " \"transformation\": {\"translation\": [2, 0, 0]}}, {\"is_obstacle\": true, \"mesh\":"
    " {\"kind\":"
    " \"funnel\", \"radius\": 0.5, \"throat\": 0.1, \"height\": 0.5, \"tube\": 0.3,"
    " \"segments\": 4,"
    " \"rings\": 2}, \"transformation\": {\"translation\": [0, -2, 0]}}], \"contact\":"
    " {\"use_convergent_formulation\": true}, \"boundary_conditions\": {\"obstacle_displacements\":"
    " [{\"id\": 1, \"value\": [0, \"0.1*t\", 0]}]}}",
    "{\"parameters\": {\"h\": 0.1, \"n\": 2, \"k\": \"box\", \"mu\": \"=h/n\"}, \"variants\":"
    " {\"a\": {\"h\": 0.2, \"n\": 1}, \"b\": {\"k\": \"tet\"}}, \"geometry\": [{\"mesh\":"
    " {\"kind\":"
    " \"=k\", \"size\": \"=1/n\"}, \"transformation\": {\"translation\": [0, \"=n\", 0]}},"
    " {\"type\": \"ground\"}], \"boundary_conditions\": {\"rhs\": [0, 9.81, 0],"
    " \"dirichlet_boundary\": [{\"id\": 4, \"value\": [0, \"h*t+n\", 0]}]}, \"contact\":"
    " {\"friction_coefficient\": \"=mu\"}, \"time\": {\"dt\": \"=h\"}}"};

static const char *const more_words[] = {"\"=h\"", "\"=n*2-h\"", "\"=a\"", "\"=1/0\"", "\"=\"",
    "\"=n\"", "\"=k\"", "\"h*t\""};

static const char *const word[] = {"0", "-1", "1", "2", "3", "4", "6", "0.5", "0.49999", "1e-300",
    "1e300", "-1e300", "1e-9", "1e9", "5e-324", "1.5", "true", "false", "null", "[]", "{}", "\"\"",
    "\"x\"", "\"t\"", "\"1/0\"", "\"x^y^z\"", "[0, 0, 0]", "[1e300, 0, 1e-300]", "[[1, 2], 3, 4]",
    "\"box\"", "\"slab\"", "\"c-box\"", "\"ball\"", "\"cylinder\"", "\"torus\"", "\"arch-block\"",
    "\"tet\"", "\"spike\"", "\"wedge\"", "\"sheet\"", "\"card\"", "\"tube\"", "\"sphere\"",
    "\"bowl\"", "\"funnel\"", "\"cliff\"", "\"crack\"", "\"hole\"", "\"polyline\"", "\"points\"",
    "\"segments\"", "\"squares\"", "\"FixedCorotational\"", "\"LinearElasticity\"",
    "\"SaintVenant\"", "\"ImplicitNewmark\"", "\"BDF\"", "\"adaptive\"", "\"plane\"", "\"ground\"",
    "\"obstacle\"", "\"-z\""};

static const char *const key[] = {"name", "mesh", "kind", "type", "thickness", "velocity", "motion",
    "copies", "count", "step", "transformation", "scale", "dimensions", "rotation", "translation",
    "surface", "order", "cells", "size", "radius", "height", "segments", "rings", "refine",
    "layers",
    "frequency", "gap", "index", "blocks", "point", "normal", "enabled", "is_obstacle",
    "volume_selection", "surface_selection", "quasistatic", "integrator", "beta", "gamma", "lambda",
    "mu", "nu", "E", "rho", "rhs", "friction", "enabled", "dhat", "epsv", "scale", "points", "from",
    "to", "until", "center", "time_steps", "tend", "t0", "discr_order", "id", "dimension"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static size_t splice(char *text, size_t size, size_t at, size_t gone, const char *in)
{
    size_t n = strlen(in);
    if (at > size) at = size;
    if (gone > size - at) gone = size - at;
    if (size - gone + n >= ROOM) return size;
    memmove(text + at + n, text + at + gone, size - at - gone);
    memcpy(text + at, in, n);
    return size - gone + n;
}

/* A number, a word or a string from `at` on. */
static size_t scalar(const char *text, size_t size, size_t *at)
{
    size_t end;
    while (*at < size && strchr(" {}[]:,\n", text[*at])) ++*at;
    for (end = *at; end < size && !strchr(" {}[]:,\n", text[end]); ++end) {}
    return end - *at;
}

static size_t edit(char *text, size_t size, const uint8_t *e)
{
    size_t at = (size_t)(e[0] + 256 * e[1]) % (size + 1), n;
    char entry[80];
    switch (e[2] % 4) {
    case 0:
        if (at < size) text[at] = (char)e[3];
        return size;
    case 1:
        n = scalar(text, size, &at);
        if (e[2] & 32) return splice(text, size, at, n, more_words[e[3] % COUNT(more_words)]);
        return splice(text, size, at, n, word[e[3] % COUNT(word)]);
    case 2:
        while (at < size && text[at] != '{') ++at;
        snprintf(entry, sizeof entry, "\"%s\": %s, ", key[e[3] % COUNT(key)],
            word[e[0] % COUNT(word)]);
        return at < size ? splice(text, size, at + 1, 0, entry) : size;
    default: return splice(text, size, at, e[3] % 16u, "");
    }
}

/* Set up what is small enough to be quick; a step where it is tiny. */
static void set_up(scene *sc)
{
    char error[4096];
    sim_options o;
    sim_report r;
    double v;
    sim *s;
    long nodes = 0, tets = 0;
    int i, met, inverted;
    for (i = 0; i < sc->bodies; ++i) {
        nodes += sc->body[i].m.nodes;
        tets += sc->body[i].m.tets;
    }
    if (nodes > 400 || tets > 600) return;
    memset(&o, 0, sizeof o);
    s = sim_open(sc, &o, error, sizeof error);
    if (!s) {
        if (!error[0]) abort();
        return;
    }
    if (!(sim_resting_gap(s) >= 0.0)) abort();
    if (sim_verify(s, &met, &inverted) >= 0 && sc->contact && met) abort();
    sc->max_iterations = 2;
    sc->lags = 1;
    if (tets <= 60 && sim_step(s, sc->h, &r) == 0 && sc->contact &&
        sim_verify(s, &met, &inverted) >= 0 && met) {
        abort();
    }
    for (i = 0; i < sc->expects; ++i) {
        sim_quantity(s, sc->expect[i].name, sc->expect[i].body, &v);
    }
    sim_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const variant[3] = {NULL, "a", "b"};
    static char text[ROOM];
    size_t n = 0, i;
    scene sc;
#ifdef __GLIBC__ /* the reader's messages would be most of the output */
    static FILE *sink;
    if (!sink) sink = fopen("/dev/null", "w");
    if (sink) stderr = sink;
#endif
    if (!size || size > ROOM / 2) return 0;
    if (data[0] == 0) {
        n = size - 1;
        memcpy(text, data + 1, n);
    } else {
        const char *base = good[data[0] % COUNT(good)];
        n = strlen(base);
        memcpy(text, base, n);
        for (i = 1; i + 4 <= size; i += 4) n = edit(text, n, data + i);
    }
    if (scene_parse_as(&sc, "fuzz", "scene", text, n, NULL, 1.0, variant[size % 3])) {
        set_up(&sc);
        scene_free(&sc);
    }
    return 0;
}
