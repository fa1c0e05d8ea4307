/* gltf.c - see gltf.h
   The frames are read twice: once for counts and the bounds that accessors must state, once to
   copy positions behind the JSON text, so memory does not grow with the number of frames. */
#define _FILE_OFFSET_BITS 64
#include "gltf.h"

#include "frames.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct maker {
    frames_reader r;
    int verts, *use;        /* stored node -> vertex of the file, or -1 */
    int frames, planes;     /* frames written */
    long long all, stride;  /* frames of the run; every stride-th is written */
    float *first;           /* 3 per vertex */
    float *bound;           /* 6 per frame: least, largest; of the moves from the second on */
    double *time;           /* per frame, from 0 */
    double low[3], high[3]; /* of everything, all frames */
    char *error;
    size_t size;
} maker;

static int fail(maker *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(g->error, g->size, format, args);
    va_end(args);
    return 0;
}

static int taken(const maker *g, long long at)
{
    return at % g->stride == 0 || at == g->all - 1;
}

/* Vertices are the nodes that something visible uses. */
static int number_vertices(maker *g)
{
    const frames_topo *t = &g->r.topo;
    int i;
    g->use = malloc(((size_t)t->nodes + 1) * sizeof *g->use);
    if (!g->use) return fail(g, "out of memory");
    for (i = 0; i < t->nodes; ++i) g->use[i] = -1;
    for (i = 0; i < 3 * t->tris; ++i) g->use[t->tri[i]] = 0;
    for (i = 0; i < 2 * t->edges; ++i) g->use[t->edge[i]] = 0;
    for (i = 0; i < t->points; ++i) g->use[t->point[i]] = 0;
    for (i = 0; i < t->nodes; ++i) if (g->use[i] == 0) g->use[i] = g->verts++;
    g->planes = t->planes;
    return g->verts ? 1 : fail(g, "nothing to draw");
}

static float coordinate(const maker *g, int node, int k)
{
    return k < g->r.dim ? (float)g->r.x[(size_t)g->r.dim * (size_t)node + (size_t)k] : 0.0f;
}

/* What is stored of a coordinate in frame f: the place in the first, later the move from there. */
static float stored(const maker *g, int f, int node, int k)
{
    float v = coordinate(g, node, k);
    return f ? v - g->first[3 * (size_t)g->use[node] + (size_t)k] : v;
}

/* First reading of a frame: its bounds. */
static int look_at(maker *g, int f)
{
    float *b = g->bound + 6 * (size_t)f;
    int i, k;
    g->time[f] = g->r.time;
    for (k = 0; k < 3; ++k) {
        b[k] = HUGE_VALF;
        b[k + 3] = -HUGE_VALF;
    }
    for (i = 0; i < g->r.topo.nodes; ++i) for (k = 0; k < 3 && g->use[i] >= 0; ++k) {
        float x = coordinate(g, i, k), v;
        if (!(fabsf(x) < HUGE_VALF)) return fail(g, "a coordinate is beyond float");
        if (!f) g->first[3 * (size_t)g->use[i] + (size_t)k] = x;
        v = stored(g, f, i, k);
        b[k] = fminf(b[k], v);
        b[k + 3] = fmaxf(b[k + 3], v);
        g->low[k] = fmin(g->low[k], (double)x);
        g->high[k] = fmax(g->high[k], (double)x);
    }
    return 1;
}

/* One pass along the frames; do_frame is called for those that are taken. */
static int walk(maker *g, const char *path, int (*do_frame)(maker *, int, FILE *), FILE *f)
{
    long long at = 0;
    int n = 0, ok = 1;
    frames_close(&g->r);
    if (!frames_open(&g->r, path)) return fail(g, "%s: %s", path, g->r.error);
    while (ok && frames_next(&g->r)) {
        if (at > 0 && g->r.topo_changed) return fail(g, "the topology changes");
        if (do_frame && taken(g, at)) ok = do_frame(g, n++, f);
        ++at;
    }
    if (!do_frame) g->all = at;
    return ok;
}

static int pass_bounds(maker *g, int n, FILE *f)
{
    (void)f;
    if (n == 0 && !number_vertices(g)) return 0;
    if (n == 0 && !(g->first = malloc(3 * (size_t)g->verts * sizeof *g->first))) {
        return fail(g, "out of memory");
    }
    return look_at(g, n);
}

static void put32(FILE *f, uint32_t v)
{
    unsigned char b[4];
    int k;
    for (k = 0; k < 4; ++k) b[k] = (unsigned char)(v >> (8 * k));
    fwrite(b, 1, 4, f);
}

static void put_float(FILE *f, float v)
{
    uint32_t u;
    memcpy(&u, &v, 4);
    put32(f, u);
}

static int pass_positions(maker *g, int n, FILE *f)
{
    int i, k;
    for (i = 0; i < g->r.topo.nodes; ++i) for (k = 0; k < 3 && g->use[i] >= 0; ++k) {
        put_float(f, stored(g, n, i, k));
    }
    return ferror(f) ? fail(g, "%s", strerror(errno)) : 1;
}

/* ---------------------------------------------------------------- the JSON part */
typedef struct layout { /* bytes of the four views, in the order in which they stand */
    double color, index, motion, position;
} layout;

static layout sizes(const maker *g)
{
    const frames_topo *t = &g->r.topo;
    layout v;
    v.color = 4.0 * g->verts;
    v.index = 12.0 * t->tris + 8.0 * t->edges + 4.0 * t->points + (g->planes ? 24.0 : 0.0);
    v.motion = g->frames > 1 ? 4.0 * g->frames + 4.0 * g->frames * (g->frames - 1.0) : 0.0;
    v.position = 12.0 * g->verts * g->frames + 48.0 * g->planes;
    return v;
}

static void json_accessor(FILE *f, int *count, int view, double offset, int type, double items,
    const char *shape, const char *more)
{
    fprintf(f, "%s{\"bufferView\":%d,\"byteOffset\":%.0f,\"componentType\":%d,\"count\":%.0f,"
        "\"type\":\"%s\"%s}", *count ? "," : "", view, offset, type, items, shape, more);
    ++*count;
}

static void bounds_text(char out[200], const float b[6])
{
    snprintf(out, 200, ",\"min\":[%.9g,%.9g,%.9g],\"max\":[%.9g,%.9g,%.9g]", (double)b[0],
        (double)b[1], (double)b[2], (double)b[3], (double)b[4], (double)b[5]);
}

/* Corners of the square that stands for a plane: around the point nearest to the middle. */
static void square(const maker *g, int plane, float corner[4][3])
{
    const double *q = g->r.topo.plane + 2 * (size_t)g->r.dim * (size_t)plane;
    double n[3] = {0, 0, 0}, p[3] = {0, 0, 0}, c[3], u[3], v[3], d = 0.0, len = 0.0, half = 0.0;
    int i, k, least = 0;
    for (k = 0; k < g->r.dim; ++k) {
        p[k] = q[k];
        n[k] = q[g->r.dim + k];
    }
    for (k = 0; k < 3; ++k) {
        c[k] = 0.5 * (g->low[k] + g->high[k]);
        d += (c[k] - p[k]) * n[k];
        half = fmax(half, g->high[k] - g->low[k]);
        if (fabs(n[k]) < fabs(n[least])) least = k;
    }
    for (k = 0; k < 3; ++k) u[k] = (k == least) - n[least] * n[k];
    for (k = 0; k < 3; ++k) len += u[k] * u[k];
    for (k = 0; k < 3; ++k) u[k] /= sqrt(len);
    for (k = 0; k < 3; ++k) {
        v[k] = n[(k + 1) % 3] * u[(k + 2) % 3] - n[(k + 2) % 3] * u[(k + 1) % 3];
    }
    for (i = 0; i < 4; ++i) for (k = 0; k < 3; ++k) {
        corner[i][k] = (float)(c[k] - d * n[k] + half * ((i == 1 || i == 2 ? 1 : -1) * u[k] +
            (i >= 2 ? 1 : -1) * v[k]));
    }
}

/* Accessors: 0 colours; 1..F positions; then planes; times, weights; indices of each kind. */
static void write_accessors(maker *g, FILE *f, int at[6])
{
    const frames_topo *t = &g->r.topo;
    char more[200];
    double each = 12.0 * g->verts, offset = 0.0;
    int n = 0, i, k, j;
    fprintf(f, "\"accessors\":[");
    json_accessor(f, &n, 0, 0, 5121, g->verts, "VEC4", ",\"normalized\":true");
    for (i = 0; i < g->frames; ++i) {
        bounds_text(more, g->bound + 6 * (size_t)i);
        json_accessor(f, &n, 3, each * i, 5126, g->verts, "VEC3", more);
    }
    at[0] = n;
    for (i = 0; i < g->planes; ++i) {
        float corner[4][3], b[6];
        square(g, i, corner);
        for (k = 0; k < 3; ++k) for (b[k] = b[k + 3] = corner[0][k], j = 1; j < 4; ++j) {
            b[k] = fminf(b[k], corner[j][k]);
            b[k + 3] = fmaxf(b[k + 3], corner[j][k]);
        }
        bounds_text(more, b);
        json_accessor(f, &n, 3, each * g->frames + 48.0 * i, 5126, 4, "VEC3", more);
    }
    at[1] = n;
    if (g->frames > 1) {
        snprintf(more, sizeof more, ",\"min\":[0],\"max\":[%.9g]",
            (double)(float)g->time[g->frames - 1]);
        json_accessor(f, &n, 2, 0, 5126, g->frames, "SCALAR", more);
        json_accessor(f, &n, 2, 4.0 * g->frames, 5126, (double)g->frames * (g->frames - 1),
            "SCALAR", "");
    }
    for (i = 0; i < 4; ++i) {
        double items = i == 0 ? 3.0 * t->tris : i == 1 ? 2.0 * t->edges : i == 2 ? t->points :
            g->planes ? 6.0 : 0.0;
        at[2 + i] = items > 0.0 ? n : -1;
        if (items > 0.0) json_accessor(f, &n, 1, offset, 5125, items, "SCALAR", "");
        offset += 4.0 * items;
    }
    fprintf(f, "]");
}

static void write_meshes(const maker *g, FILE *f, const int at[6])
{
    static const int mode[3] = {4, 1, 0};
    int i, k, some = 0;
    fprintf(f, ",\"meshes\":[{\"name\":\"bodies\",\"primitives\":[");
    for (i = 0; i < 3; ++i) {
        if (at[2 + i] < 0) continue;
        fprintf(f, "%s{\"attributes\":{\"POSITION\":1,\"COLOR_0\":0},\"indices\":%d,\"mode\":%d,"
            "\"material\":0", some++ ? "," : "", at[2 + i], mode[i]);
        if (g->frames > 1) fprintf(f, ",\"targets\":[");
        for (k = 1; k < g->frames; ++k) fprintf(f, "%s{\"POSITION\":%d}", k > 1 ? "," : "", k + 1);
        fprintf(f, "%s}", g->frames > 1 ? "]" : "");
    }
    fprintf(f, "]}");
    for (i = 0; i < g->planes; ++i) {
        fprintf(f, ",{\"name\":\"plane %d\",\"primitives\":[{\"attributes\":{\"POSITION\":%d},"
            "\"indices\":%d,\"mode\":4,\"material\":1}]}", i + 1, at[0] + i, at[5]);
    }
    fprintf(f, "],\"nodes\":[");
    for (i = 0; i <= g->planes; ++i) fprintf(f, "%s{\"mesh\":%d}", i ? "," : "", i);
    fprintf(f, "],\"scenes\":[{\"nodes\":[");
    for (i = 0; i <= g->planes; ++i) fprintf(f, "%s%d", i ? "," : "", i);
    fprintf(f, "]}],\"scene\":0");
}

static void write_json(maker *g, FILE *f)
{
    layout v = sizes(g);
    int at[6];
    double offset = 0.0;
    fprintf(f, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"gap\"},");
    write_accessors(g, f, at);
    write_meshes(g, f, at);
    if (g->frames > 1) {
        fprintf(f, ",\"animations\":[{\"name\":\"run\",\"channels\":[{\"sampler\":0,\"target\":"
            "{\"node\":0,\"path\":\"weights\"}}],\"samplers\":[{\"input\":%d,\"output\":%d,"
            "\"interpolation\":\"LINEAR\"}]}]", at[1], at[1] + 1);
    }
    fprintf(f, ",\"materials\":[{\"doubleSided\":true,\"pbrMetallicRoughness\":{\"metallicFactor\":"
        "0,\"roughnessFactor\":0.7}},{\"doubleSided\":true,\"pbrMetallicRoughness\":"
        "{\"baseColorFactor\":[0.5,0.5,0.5,1],\"metallicFactor\":0,\"roughnessFactor\":1}}]");
    fprintf(f, ",\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":%.0f,"
        "\"byteStride\":4,\"target\":34962}", v.color);
    offset += v.color;
    fprintf(f, ",{\"buffer\":0,\"byteOffset\":%.0f,\"byteLength\":%.0f,\"target\":34963}", offset,
        v.index);
    offset += v.index; /* a view must not be empty: a still picture has 4 unused bytes of motion */
    fprintf(f, ",{\"buffer\":0,\"byteOffset\":%.0f,\"byteLength\":%.0f}", offset,
        fmax(v.motion, 4.0));
    offset += fmax(v.motion, 4.0);
    fprintf(f, ",{\"buffer\":0,\"byteOffset\":%.0f,\"byteLength\":%.0f,\"byteStride\":12,"
        "\"target\":34962}]", offset, v.position);
    fprintf(f, ",\"buffers\":[{\"byteLength\":%.0f}]}", offset + v.position);
}

/* ---------------------------------------------------------------- the binary part */
/* A hue per body, 137.5 degrees apart; bodies at rest are grey. */
static void body_color(const maker *g, int body, unsigned char c[4])
{
    double hue = fmod(0.58 + 0.381966 * body, 1.0) * 6.0;
    int k, still = g->r.fixed && g->r.fixed[body];
    for (k = 0; k < 3; ++k) {
        double d = fabs(fmod(hue + 6.0 - 2.0 * k, 6.0) - 3.0) - 1.0;
        d = d < 0.0 ? 0.0 : d > 1.0 ? 1.0 : d;
        c[k] = (unsigned char)(still ? 110 : 70 + 150 * d);
    }
    c[3] = 255;
}

static int write_start(maker *g, int n, FILE *f)
{
    static const uint32_t quad[6] = {0, 1, 2, 0, 2, 3};
    const frames_topo *t = &g->r.topo;
    int i, k;
    if (n) return pass_positions(g, n, f);
    for (i = 0; i < t->nodes; ++i) if (g->use[i] >= 0) {
        unsigned char c[4];
        body_color(g, t->body[i], c);
        fwrite(c, 1, 4, f);
    }
    for (i = 0; i < 3 * t->tris; ++i) put32(f, (uint32_t)g->use[t->tri[i]]);
    for (i = 0; i < 2 * t->edges; ++i) put32(f, (uint32_t)g->use[t->edge[i]]);
    for (i = 0; i < t->points; ++i) put32(f, (uint32_t)g->use[t->point[i]]);
    for (i = 0; g->planes && i < 6; ++i) put32(f, quad[i]);
    if (g->frames == 1) put32(f, 0);
    else for (i = 0; i < g->frames; ++i) put_float(f, (float)g->time[i]);
    for (i = 0; g->frames > 1 && i < g->frames; ++i) for (k = 1; k < g->frames; ++k) {
        put_float(f, i == k ? 1.0f : 0.0f);
    }
    return pass_positions(g, 0, f);
}

static int write_all(maker *g, const char *frames, FILE *f)
{
    char *text = NULL;
    size_t n = 0;
    FILE *mem = open_memstream(&text, &n);
    layout v = sizes(g);
    double bytes = v.color + v.index + fmax(v.motion, 4.0) + v.position;
    int i, k, j, ok;
    if (!mem) return fail(g, "out of memory");
    write_json(g, mem);
    while (ftell(mem) % 4) fputc(' ', mem);
    if (fclose(mem) != 0) {
        free(text);
        return fail(g, "out of memory");
    }
    if (bytes + (double)n + 28.0 > 4294967295.0) {
        free(text);
        return fail(g, "more than the 4 GB that the format allows");
    }
    fwrite("glTF", 1, 4, f);
    put32(f, 2);
    put32(f, (uint32_t)(bytes + (double)n + 28.0));
    put32(f, (uint32_t)n);
    fwrite("JSON", 1, 4, f);
    fwrite(text, 1, n, f);
    free(text);
    put32(f, (uint32_t)bytes);
    fwrite("BIN", 1, 4, f); /* and a zero byte */
    ok = walk(g, frames, write_start, f);
    for (i = 0; ok && i < g->planes; ++i) {
        float corner[4][3];
        square(g, i, corner);
        for (j = 0; j < 4; ++j) for (k = 0; k < 3; ++k) put_float(f, corner[j][k]);
    }
    return ok;
}

static int prepare(maker *g, const char *frames)
{
    int i, k;
    g->stride = 1;
    for (k = 0; k < 3; ++k) {
        g->low[k] = HUGE_VAL;
        g->high[k] = -HUGE_VAL;
    }
    if (!walk(g, frames, NULL, NULL)) return 0;
    if (g->all == 0) return fail(g, "no frame");
    g->stride = (g->all + GLTF_FRAMES - 2) / (GLTF_FRAMES - 1);
    for (i = 0; i < g->all; ++i) g->frames += taken(g, i);
    g->bound = malloc(6 * (size_t)g->frames * sizeof *g->bound);
    g->time = malloc((size_t)g->frames * sizeof *g->time);
    if (!g->bound || !g->time) return fail(g, "out of memory");
    if (!walk(g, frames, pass_bounds, NULL)) return 0;
    for (i = g->frames - 1; i >= 0; --i) g->time[i] -= g->time[0];
    for (i = 1; i < g->frames; ++i) {
        if (!((float)g->time[i] > (float)g->time[i - 1])) return fail(g, "time does not increase");
    }
    return 1;
}

int gltf_write(const char *frames, const char *path, char *error, size_t size)
{
    maker g;
    size_t n = strlen(path);
    char *temporary = malloc(n + 5);
    FILE *f = NULL;
    int ok;
    memset(&g, 0, sizeof g);
    g.error = error;
    g.size = size;
    ok = temporary ? prepare(&g, frames) : fail(&g, "out of memory");
    if (ok) {
        memcpy(temporary, path, n);
        memcpy(temporary + n, ".tmp", 5);
        f = fopen(temporary, "wb");
        if (!f) ok = fail(&g, "%s", strerror(errno));
    }
    if (ok) ok = write_all(&g, frames, f);
    if (f) {
        if (ok && (fflush(f) != 0 || ferror(f))) ok = fail(&g, "%s", strerror(errno));
        if (fclose(f) != 0 && ok) ok = fail(&g, "%s", strerror(errno));
        if (ok && rename(temporary, path) != 0) ok = fail(&g, "%s", strerror(errno));
        if (!ok) remove(temporary);
    }
    frames_close(&g.r);
    free(temporary);
    free(g.use);
    free(g.first);
    free(g.bound);
    free(g.time);
    return ok;
}
