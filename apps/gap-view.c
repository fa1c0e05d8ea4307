/* gap-view.c - look at a simulation: one self-contained HTML page, or a PNG drawn in software
   Reads frames.gapf (and stats.csv beside it). The page stores positions in steps of 1/65535 of the
   bounding box of all frames; a picture is drawn from the doubles themselves. */
#define GAP_BROAD_STATIC
#include "gap_broad.h"
#define GAP_DISTANCE_STATIC
#include "gap_distance.h"

#include "csv.h"
#include "frames.h"
#include "gap_view_html.h"
#include "mesh.h"
#include "png.h"
#include "pool.h"
#include "raster.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define VERSION "gap-view 0.1.0"
#define MARK "<!--GAP_DATA-->"

static const char help[] =
    "usage: gap-view DIR|FILE [--html F] [--png F] [options]\n"
    "  DIR            of a simulation (frames.gapf, stats.csv), or a frame file\n"
    "  --html F       write the page to F (default: DIR/view.html)\n"
    "  --png F        draw a picture instead\n"
    "  --frame K      which frame of a picture; -1 is the last (default)\n"
    "  --sheet K      K frames, evenly spread, on one picture\n"
    "  --size WxH     of the picture (1280x720)\n"
    "  --camera A,E,Z azimuth and elevation in degrees, zoom (30,20,1; a plane scene 0,0,1)\n"
    "  --color C      body (default), speed, displacement, strain, distance\n"
    "  --no-edges     leave out the lines of the mesh\n"
    "  --every N      only every N-th frame goes into the page\n"
    "  --help --version\n";

static const unsigned char palette[][3] = {{90, 143, 214}, {226, 139, 75}, {96, 178, 128},
    {200, 104, 130}, {150, 128, 200}, {214, 184, 84}, {92, 178, 190}, {168, 138, 112},
    {130, 160, 90}, {150, 155, 165}};

typedef struct options {
    const char *input, *html, *png, *color;
    int frame, sheet, width, height, edges, every, camera; /* camera: 1 if given */
    double azimuth, elevation, zoom;
} options;

static int fail(const char *format, ...)
{
    va_list args;
    fprintf(stderr, "gap-view: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return 2;
}

static void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "gap-view: out of memory\n");
        exit(3);
    }
    return p;
}

/* ---------------------------------------------------------------- one topology, ready to draw */
typedef struct shape {
    int nodes;      /* those that are drawn */
    int *node;      /* of the file, 1 per drawn node */
    int tris, edges, points;
    int *tri, *edge, *point; /* in drawn nodes */
    int sides, *side; /* every edge of triangles and segments once */
    int *body;      /* 1 per drawn node */
    double *radius; /* 1 per drawn node: half thickness */
    int planes;
    double *plane;  /* point and normal, 6 each */
} shape;

static void shape_free(shape *s)
{
    free(s->node);
    free(s->tri);
    free(s->edge);
    free(s->point);
    free(s->side);
    free(s->body);
    free(s->radius);
    free(s->plane);
    memset(s, 0, sizeof *s);
}

/* Keeps the nodes that a triangle, edge or point uses; solids without triangles show their
   boundary. */
static void shape_make(const frames_topo *t, int dim, shape *s)
{
    int *list[3], count[3], *own = NULL, *to, i, k;
    mesh m;
    memset(s, 0, sizeof *s);
    s->tris = t->tris;
    s->edges = t->edges;
    s->points = t->points;
    list[0] = t->tri;
    if (t->tris == 0 && t->elems > 0 && t->elem_nodes == 4) {
        memset(&m, 0, sizeof m);
        m.order = 1;
        m.nodes = t->nodes;
        m.tets = t->elems;
        m.tet = t->elem;
        s->tris = mesh_surface(&m, &own);
        if (s->tris < 0) need(NULL);
        list[0] = own;
    } else if (t->tris == 0 && t->elems > 0 && t->elem_nodes == 3) {
        s->tris = t->elems;
        list[0] = t->elem;
    }
    list[1] = t->edge;
    list[2] = t->point;
    count[0] = 3 * s->tris;
    count[1] = 2 * s->edges;
    count[2] = s->points;
    to = need(calloc((size_t)t->nodes + 1, sizeof *to));
    for (k = 0; k < 3; ++k) for (i = 0; i < count[k]; ++i) to[list[k][i]] = 1;
    s->node = need(malloc(((size_t)t->nodes + 1) * sizeof *s->node));
    s->body = need(malloc(((size_t)t->nodes + 1) * sizeof *s->body));
    s->radius = need(malloc(((size_t)t->nodes + 1) * sizeof *s->radius));
    for (i = 0; i < t->nodes; ++i) {
        if (!to[i]) continue;
        s->node[s->nodes] = i;
        s->body[s->nodes] = t->body ? t->body[i] : 0;
        s->radius[s->nodes] = t->radius && t->radius[i] < 1e150 ? fmax(t->radius[i], 0.0) : 0.0;
        to[i] = s->nodes++;
    }
    s->tri = need(malloc(((size_t)count[0] + 1) * sizeof(int)));
    s->edge = need(malloc(((size_t)count[1] + 1) * sizeof(int)));
    s->point = need(malloc(((size_t)count[2] + 1) * sizeof(int)));
    for (i = 0; i < count[0]; ++i) s->tri[i] = to[list[0][i]];
    for (i = 0; i < count[1]; ++i) s->edge[i] = to[list[1][i]];
    for (i = 0; i < count[2]; ++i) s->point[i] = to[list[2][i]];
    free(to);
    free(own);
    s->sides = mesh_unique_edges(s->tri, s->tris, s->edge, s->edges, &s->side);
    if (s->sides < 0) need(NULL);
    s->planes = t->planes;
    s->plane = need(calloc(6 * (size_t)t->planes + 1, sizeof *s->plane));
    for (i = 0; i < 2 * t->planes; ++i) for (k = 0; k < dim; ++k) {
        s->plane[3 * (size_t)i + (size_t)k] = t->plane[(size_t)dim * (size_t)i + (size_t)k];
    }
}

/* Positions of the drawn nodes, always three coordinates. */
static void shape_place(const shape *s, const double *x, int dim, double *out)
{
    int i, k;
    for (i = 0; i < s->nodes; ++i) {
        const double *from = x + (size_t)dim * (size_t)s->node[i];
        out[2] = 0.0;
        for (k = 0; k < dim; ++k) out[k] = from[k];
        out += 3;
    }
}

/* ---------------------------------------------------------------- frame by frame */
typedef struct walk {
    frames_reader r;
    shape s;
    int n;         /* frames so far */
    int topo;      /* number of the topology, from 0 */
    int fresh;     /* the first frame of its topology */
    double *x, *before, *rest; /* 3 per drawn node: now, a frame ago, first of this topology */
    double *length; /* 1 per side: first of this topology, squared */
    double time, time_before;
} walk;

static void walk_close(walk *w)
{
    frames_close(&w->r);
    shape_free(&w->s);
    free(w->x);
    free(w->before);
    free(w->rest);
    free(w->length);
    memset(w, 0, sizeof *w);
}

static int walk_open(walk *w, const char *path)
{
    memset(w, 0, sizeof *w);
    w->topo = -1;
    return frames_open(&w->r, path);
}

static double between(const double *x, int p, int q) /* squared distance */
{
    const double *a = x + 3 * (size_t)p, *b = x + 3 * (size_t)q;
    double u = a[0] - b[0], v = a[1] - b[1], w = a[2] - b[2];
    return u * u + v * v + w * w;
}

static void side_lengths(const shape *s, const double *x, double *out)
{
    int i;
    for (i = 0; i < s->sides; ++i) {
        out[i] = between(x, s->side[2 * (size_t)i], s->side[2 * (size_t)i + 1]);
    }
}

/* Squares of lengths must stay finite: what is larger is no scene. */
static int drawable(const double *x, size_t n)
{
    size_t i;
    for (i = 0; i < n; ++i) if (!(fabs(x[i]) < 1e150)) return 0;
    return 1;
}

/* 1: the next frame stands in w. 0: no more, or damage (w->r.damaged, w->r.error). */
static int walk_next(walk *w)
{
    size_t bytes;
    double *swap = w->before;
    if (!frames_next(&w->r)) return 0;
    if (!drawable(w->r.x, (size_t)w->r.dim * (size_t)w->r.topo.nodes) || !drawable(&w->r.time, 1)) {
        snprintf(w->r.error, sizeof w->r.error, "step %lld: a position or time that is no number",
            w->r.step);
        w->r.damaged = 1;
        return 0;
    }
    w->fresh = w->n++ == 0 || w->r.topo_changed;
    if (w->fresh) {
        shape_free(&w->s);
        shape_make(&w->r.topo, w->r.dim, &w->s);
        bytes = (3 * (size_t)w->s.nodes + 1) * sizeof(double);
        w->x = need(realloc(w->x, bytes));
        w->before = need(realloc(w->before, bytes));
        w->rest = need(realloc(w->rest, bytes));
        ++w->topo;
        shape_place(&w->s, w->r.x, w->r.dim, w->rest);
        memcpy(w->x, w->rest, bytes - sizeof(double));
        memcpy(w->before, w->rest, bytes - sizeof(double));
        w->time_before = w->r.time;
        w->length = need(realloc(w->length, ((size_t)w->s.sides + 1) * sizeof *w->length));
        side_lengths(&w->s, w->rest, w->length);
    } else {
        w->before = w->x;
        w->x = swap;
        w->time_before = w->time;
        shape_place(&w->s, w->r.x, w->r.dim, w->x);
    }
    w->time = w->r.time;
    return 1;
}

/* Relative change of the length of side i since the first frame of the topology. */
static double stretch(const walk *w, int i)
{
    double now = between(w->x, w->s.side[2 * (size_t)i], w->s.side[2 * (size_t)i + 1]);
    return w->length[i] > 0.0 ? fabs(sqrt(now / w->length[i]) - 1.0) : 0.0;
}

/* ---------------------------------------------------------------- writing the page */
static void put_base64(FILE *f, const void *data, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = data;
    char out[4096];
    size_t i, n = 0;
    for (i = 0; i < size; i += 3) {
        unsigned v = (unsigned)p[i] << 16 | (i + 1 < size ? (unsigned)p[i + 1] << 8 : 0) |
            (i + 2 < size ? p[i + 2] : 0);
        out[n++] = digit[v >> 18];
        out[n++] = digit[v >> 12 & 63];
        out[n++] = i + 1 < size ? digit[v >> 6 & 63] : '=';
        out[n++] = i + 2 < size ? digit[v & 63] : '=';
        if (n == sizeof out) {
            fwrite(out, 1, n, f);
            n = 0;
        }
    }
    fwrite(out, 1, n, f);
}

/* A string of JSON inside HTML: nothing that could end the script. */
static void put_string(FILE *f, const char *s)
{
    putc('"', f);
    for (; *s; ++s) {
        unsigned char c = (unsigned char)*s;
        if (c < 32 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&') {
            fprintf(f, "\\u%04x", c);
        } else putc(c, f);
    }
    putc('"', f);
}

static void put_number(FILE *f, double v)
{
    if (v - v == 0.0) fprintf(f, "%.9g", v);
    else fprintf(f, "null");
}

static void put_le(unsigned char *p, unsigned v, int bytes)
{
    for (; bytes > 0; --bytes, v >>= 8) *p++ = (unsigned char)(v & 255);
}

static void put_ints(FILE *f, const char *name, const int *v, size_t n, int bytes)
{
    unsigned char *b = need(malloc(n * (size_t)bytes + 1));
    size_t i;
    for (i = 0; i < n; ++i) put_le(b + i * (size_t)bytes, (unsigned)v[i], bytes);
    fprintf(f, ",\"%s\":\"", name);
    put_base64(f, b, n * (size_t)bytes);
    putc('"', f);
    free(b);
}

/* ---------------------------------------------------------------- distance to contact */
typedef struct nearness {
    double far_, near_;
    const walk *w;
    gap_broad broad;
    pool *threads;
    int ready;
} nearness;

static void nearness_free(nearness *c)
{
    gap_broad_free(&c->broad);
    pool_close(c->threads);
}

/* Pairs of one body count only where they were far apart at first: the neighbourhood of a node on
   its own surface is no contact. */
static int worth_a_look(void *user, int kind, int v, int t)
{
    const nearness *c = user;
    const int *node = c->w->s.tri + 3 * (size_t)t;
    const double *a = c->w->rest + 3 * (size_t)v, *b = c->w->rest + 3 * (size_t)node[0];
    double d2 = 0.0;
    int k;
    (void)kind;
    if (c->w->s.body[v] != c->w->s.body[node[0]]) return 1;
    for (k = 0; k < 3; ++k) d2 += (a[k] - b[k]) * (a[k] - b[k]);
    return d2 > 16.0 * c->far_ * c->far_;
}

/* Colours reach from twice a usual dhat (a thousandth of the scene) down by three decades. */
static void nearness_init(nearness *c, const walk *w, double diagonal)
{
    gap_broad_options o;
    memset(c, 0, sizeof *c);
    memset(&o, 0, sizeof o);
    c->far_ = 2e-3 * diagonal;
    c->near_ = 2e-6 * diagonal;
    c->w = w;
    c->threads = pool_open(0); /* NULL is a plain loop */
    o.keep = worth_a_look;
    o.keep_user = c;
    o.parallel_for = pool_for;
    o.parallel_user = c->threads;
    gap_broad_init(&c->broad, &o);
}

static void note_pair(const nearness *c, int v, const int *t, double *least)
{
    const double *x = c->w->x, *r = c->w->rest;
    double d = sqrt(gap_distance_vf(x + 3 * (size_t)v, x + 3 * (size_t)t[0], x + 3 * (size_t)t[1],
        x + 3 * (size_t)t[2]));
    int k;
    if (!(d < c->far_)) return;
    if (c->w->s.body[v] == c->w->s.body[t[0]]) { /* the own surface counts where it came closer */
        double before = gap_distance_vf(r + 3 * (size_t)v, r + 3 * (size_t)t[0],
            r + 3 * (size_t)t[1], r + 3 * (size_t)t[2]);
        if (!(4.0 * d * d < before)) return;
    }
    if (d < least[v]) least[v] = d;
    for (k = 0; k < 3; ++k) if (d < least[t[k]]) least[t[k]] = d;
}

/* Obstacle half-spaces. */
static void note_planes(const shape *s, const double *x, double *least)
{
    int i, j, k;
    for (j = 0; j < s->planes; ++j) {
        const double *p = s->plane + 6 * (size_t)j;
        for (i = 0; i < s->nodes; ++i) {
            double d = 0.0;
            for (k = 0; k < 3; ++k) d += (x[3 * (size_t)i + (size_t)k] - p[k]) * p[k + 3];
            if (fabs(d) < least[i]) least[i] = fabs(d);
        }
    }
}

/* 8 bits per node of the walk's frame: 0 farther than far_, 255 nearer than near_, logarithmic
   between. From vertices to triangles and planes; rods and grains among each other have none. */
static void nearness_of(nearness *c, unsigned char *out)
{
    const shape *s = &c->w->s;
    double *least = need(malloc(((size_t)s->nodes + 1) * sizeof *least));
    const int *pair = NULL;
    gap_broad_mesh m;
    int n = 0, i;
    for (i = 0; i < s->nodes; ++i) least[i] = HUGE_VAL;
    if (c->w->fresh || !c->ready) {
        memset(&m, 0, sizeof m);
        m.dim = 3;
        m.nodes = s->nodes;
        m.tris = s->tris;
        m.tri = s->tri;
        c->ready = gap_broad_set_mesh(&c->broad, &m) == GAP_BROAD_OK;
    }
    if (c->ready && gap_broad_build(&c->broad, c->w->x, NULL, 0.5 * c->far_) == GAP_BROAD_OK &&
        gap_broad_pairs(&c->broad, GAP_BROAD_VF, &pair, &n) == GAP_BROAD_OK) {
        for (i = 0; i < n; ++i, pair += 2) {
            note_pair(c, pair[0], s->tri + 3 * (size_t)pair[1], least);
        }
    }
    note_planes(s, c->w->x, least);
    for (i = 0; i < s->nodes; ++i) {
        double v = least[i] < c->far_ ? log(c->far_ / least[i]) / log(c->far_ / c->near_) : 0.0;
        out[i] = (unsigned char)(v >= 1.0 ? 255.0 : v <= 0.0 ? 0.0 : 255.0 * v + 0.5);
    }
    free(least);
}

/* ---------------------------------------------------------------- the page */
typedef struct moment {
    long long step;
    double time;
    int topo;
} moment;

typedef struct survey {
    double low[3], high[3], diagonal;
    double speed, displacement, strain; /* largest of all frames */
    double rate;                        /* largest 1 / time between frames */
    int frames, topos, dim;
    moment *moment; /* 1 per frame */
} survey;

/* Ranges of the colourings. */
static void survey_values(survey *v, const walk *w)
{
    double rate = w->time > w->time_before ? 1.0 / (w->time - w->time_before) : 0.0;
    double moved2 = 0.0, gone2 = 0.0;
    size_t i;
    int k;
    for (i = 0; i < (size_t)w->s.nodes; ++i) {
        const double *x = w->x + 3 * i, *a = w->before + 3 * i, *b = w->rest + 3 * i;
        double p = 0.0, q = 0.0;
        for (k = 0; k < 3; ++k) {
            p += (x[k] - a[k]) * (x[k] - a[k]);
            q += (x[k] - b[k]) * (x[k] - b[k]);
        }
        moved2 = fmax(moved2, p);
        gone2 = fmax(gone2, q);
    }
    v->rate = fmax(v->rate, rate);
    v->speed = fmax(v->speed, rate * sqrt(moved2));
    v->displacement = fmax(v->displacement, sqrt(gone2));
    for (k = 0; k < w->s.sides; ++k) v->strain = fmax(v->strain, stretch(w, k));
}

/* First pass: bounds of all that is drawn, and how much of it there is. Exit code. */
static int survey_make(const char *path, int every, int values, survey *out)
{
    walk w;
    size_t i;
    int k, room = 0;
    memset(out, 0, sizeof *out);
    if (!walk_open(&w, path)) {
        fail("%s: %s", path, w.r.error);
        walk_close(&w);
        return 2;
    }
    out->dim = w.r.dim;
    for (k = 0; k < 3; ++k) {
        out->low[k] = HUGE_VAL;
        out->high[k] = -HUGE_VAL;
    }
    while (walk_next(&w)) {
        if (values) survey_values(out, &w);
        if ((w.n - 1) % every) continue;
        if (out->frames == room) {
            room = 2 * room + 64;
            out->moment = need(realloc(out->moment, (size_t)room * sizeof *out->moment));
        }
        out->moment[out->frames].step = w.r.step;
        out->moment[out->frames].time = w.time;
        out->moment[out->frames++].topo = w.topo;
        for (i = 0; i < (size_t)w.s.nodes; ++i) for (k = 0; k < 3; ++k) {
            double v = w.x[3 * i + (size_t)k], thick = k < w.r.dim ? w.s.radius[i] : 0.0;
            if (v - thick < out->low[k]) out->low[k] = v - thick;
            if (v + thick > out->high[k]) out->high[k] = v + thick;
        }
    }
    out->topos = w.topo + 1;
    if (w.r.damaged) fprintf(stderr, "gap-view: %s: %s; shown up to there\n", path, w.r.error);
    walk_close(&w);
    if (out->frames == 0) return fail("%s: no frame", path);
    for (k = 0; k < 3; ++k) {
        if (!(out->high[k] >= out->low[k])) out->low[k] = out->high[k] = 0.0;
        out->diagonal += pow(out->high[k] - out->low[k], 2);
    }
    out->diagonal = out->diagonal > 0.0 ? sqrt(out->diagonal) : 1.0;
    for (k = 0; k < 3; ++k) { /* what is flat gets a thickness that nobody sees */
        double thin = 1e-9 * fmax(out->diagonal, fabs(out->low[k]));
        if (!(out->high[k] - out->low[k] > thin)) out->high[k] = out->low[k] + thin;
    }
    return 0;
}

static void put_stats(FILE *f, const csv *t)
{
    int i, j;
    fprintf(f, ",\"stats\":{\"columns\":[");
    for (i = 0; i < t->columns; ++i) {
        if (i) putc(',', f);
        put_string(f, t->column[i]);
    }
    fprintf(f, "],\"rows\":[");
    for (j = 0; j < t->rows; ++j) {
        fprintf(f, "%s[", j ? ",\n" : "");
        for (i = 0; i < t->columns; ++i) {
            if (i) putc(',', f);
            put_number(f, t->value[(size_t)j * (size_t)t->columns + (size_t)i]);
        }
        putc(']', f);
    }
    fprintf(f, "]}");
}

static void put_range(FILE *f, double v) /* JSON has no infinity */
{
    fprintf(f, "%.9g", v < 1e300 ? v : 1e300);
}

enum { NAMED = 4096 }; /* bodies beyond that share the switches of the first ones */

static void put_head(FILE *f, const char *title, const survey *v, const nearness *c)
{
    int k;
    put_string(f, title);
    fprintf(f, ",\"dim\":%d,\"low\":[%.17g,%.17g,%.17g]", v->dim, v->low[0], v->low[1],
        v->low[2]);
    fprintf(f, ",\"size\":[%.17g,%.17g,%.17g]", v->high[0] - v->low[0], v->high[1] - v->low[1],
        v->high[2] - v->low[2]);
    fprintf(f, ",\"near\":%.9g,\"far\":%.9g,\"range\":{\"speed\":", c->near_, c->far_);
    put_range(f, v->speed);
    fprintf(f, ",\"rate\":");
    put_range(f, v->rate);
    fprintf(f, ",\"displacement\":");
    put_range(f, v->displacement);
    fprintf(f, ",\"strain\":");
    put_range(f, v->strain);
    fprintf(f, "},\"palette\":[");
    for (k = 0; k < (int)(sizeof palette / sizeof *palette); ++k) {
        fprintf(f, "%s[%d,%d,%d]", k ? "," : "", palette[k][0], palette[k][1], palette[k][2]);
    }
    fprintf(f, "],\"frames\":[");
    for (k = 0; k < v->frames; ++k) {
        fprintf(f, "%s{\"step\":%lld,\"time\":%.9g,\"topo\":%d}", k ? "," : "",
            v->moment[k].step, v->moment[k].time, v->moment[k].topo);
    }
    putc(']', f);
}

static void put_bodies(FILE *f, const frames_reader *r)
{
    int i;
    fprintf(f, ",\"bodies\":[");
    for (i = 0; i < r->bodies && i < NAMED; ++i) {
        char name[32];
        snprintf(name, sizeof name, "body %d", i);
        if (i) putc(',', f);
        put_string(f, r->name ? r->name[i] : name);
    }
    putc(']', f);
}

/* Thickness of rods and grains in half diagonals of the scene, the bits of a single; left out where
   all is thin. */
static void put_radii(FILE *f, const shape *s, double diagonal)
{
    float *r = need(calloc((size_t)s->nodes + 1, sizeof *r)), most = 0.0f;
    int *bits = need(malloc(((size_t)s->nodes + 1) * sizeof *bits)), i;
    for (i = 0; i < 2 * s->edges; ++i) {
        r[s->edge[i]] = (float)(2.0 * s->radius[s->edge[i]] / diagonal);
    }
    for (i = 0; i < s->points; ++i) {
        r[s->point[i]] = (float)(2.0 * s->radius[s->point[i]] / diagonal);
    }
    for (i = 0; i < s->nodes; ++i) most = fmaxf(most, r[i]);
    memcpy(bits, r, (size_t)s->nodes * sizeof *r);
    if (most > 0.0f) put_ints(f, "radius", bits, (size_t)s->nodes, 4);
    free(bits);
    free(r);
}

static void put_topo(FILE *f, const shape *s, double diagonal)
{
    int *body = need(malloc(((size_t)s->nodes + 1) * sizeof *body)), i;
    for (i = 0; i < s->nodes; ++i) body[i] = s->body[i] % NAMED;
    fprintf(f, "<script class=\"topo\" type=\"application/json\">{\"nodes\":%d", s->nodes);
    put_ints(f, "tri", s->tri, 3 * (size_t)s->tris, 4);
    put_ints(f, "edge", s->edge, 2 * (size_t)s->edges, 4);
    put_ints(f, "side", s->side, 2 * (size_t)s->sides, 4);
    put_ints(f, "point", s->point, (size_t)s->points, 4);
    put_ints(f, "body", body, (size_t)s->nodes, 2);
    free(body);
    put_radii(f, s, diagonal);
    fprintf(f, ",\"planes\":[");
    for (i = 0; i < 6 * s->planes; ++i) fprintf(f, "%s%.17g", i ? "," : "", s->plane[i]);
    fprintf(f, "]}</script>\n");
}

/* 16 bits per coordinate: its part of the bounds of all frames. */
static void quantise(const survey *v, const double *x, int nodes, unsigned char *out)
{
    double scale[3];
    size_t i;
    int k;
    for (k = 0; k < 3; ++k) scale[k] = 65535.0 / (v->high[k] - v->low[k]);
    for (i = 0; i < (size_t)nodes; ++i) for (k = 0; k < 3; ++k, ++x, out += 2) {
        unsigned u = (unsigned)((*x - v->low[k]) * scale[k] + 0.5);
        u = u > 65535 ? 65535 : u;
        out[0] = (unsigned char)(u & 255);
        out[1] = (unsigned char)(u >> 8);
    }
}

/* Second pass: topologies and positions. */
static void put_frames(FILE *f, const char *path, const options *o, const survey *v, nearness *c,
    walk *w)
{
    unsigned char *b = NULL;
    int left = v->frames, old = -1;
    if (walk_open(w, path)) {
        while (left > 0 && walk_next(w)) {
            if (w->topo != old) {
                b = need(realloc(b, 7 * (size_t)w->s.nodes + 1));
                put_topo(f, &w->s, v->diagonal);
                c->ready = 0;
                old = w->topo;
            }
            if ((w->n - 1) % o->every) continue;
            --left;
            quantise(v, w->x, w->s.nodes, b);
            nearness_of(c, b + 6 * (size_t)w->s.nodes);
            fprintf(f, "<script class=\"frame\" type=\"text/plain\">");
            put_base64(f, b, 7 * (size_t)w->s.nodes);
            fprintf(f, "</script>\n");
        }
    }
    free(b);
}

static void put_page(FILE *f, const char *path, const char *title, const options *o,
    const survey *v, const csv *stats)
{
    const char *page = (const char *)gap_view_html, *mark = strstr(page, MARK);
    nearness c;
    walk w;
    fwrite(page, 1, (size_t)(mark - page), f);
    memset(&w, 0, sizeof w);
    nearness_init(&c, &w, v->diagonal);
    fprintf(f, "<script id=\"meta\" type=\"application/json\">{\"title\":");
    put_head(f, title, v, &c);
    if (walk_open(&w, path) && walk_next(&w)) put_bodies(f, &w.r); /* names precede frames */
    walk_close(&w);
    if (stats->rows) put_stats(f, stats);
    fprintf(f, "}</script>\n");
    put_frames(f, path, o, v, &c, &w);
    nearness_free(&c);
    walk_close(&w);
    fputs(mark + strlen(MARK), f);
}

/* A missing table is no fault; a broken one is said and shown up to there. */
static void stats_read(const char *path, csv *t)
{
    FILE *f = fopen(path, "rb");
    memset(t, 0, sizeof *t);
    if (!f) return;
    if (!csv_read(t, f)) need(NULL);
    fclose(f);
    if (t->error[0]) {
        fprintf(stderr, "gap-view: %s:%d: %s; shown up to there\n", path, t->line, t->error);
    }
}

static int write_page(const options *o, const char *frames, const char *stats_csv,
    const char *title)
{
    char name[4200];
    survey v;
    csv stats;
    FILE *f;
    int rc = survey_make(frames, o->every, 1, &v);
    if (rc == 0 && snprintf(name, sizeof name, "%s.tmp", o->html) >= (int)sizeof name) {
        rc = fail("name too long");
    }
    f = rc == 0 ? fopen(name, "wb") : NULL;
    if (rc == 0 && !f) rc = fail("%s: %s", o->html, strerror(errno));
    if (rc != 0) {
        free(v.moment);
        return rc;
    }
    stats_read(stats_csv, &stats);
    put_page(f, frames, title, o, &v, &stats);
    csv_free(&stats);
    free(v.moment);
    if (ferror(f) | fclose(f)) {
        remove(name);
        fail("%s: cannot write: %s", o->html, strerror(errno));
        return 3;
    }
    if (rename(name, o->html) != 0) {
        rc = fail("%s: %s", o->html, strerror(errno));
        remove(name);
        return rc;
    }
    printf("%s: %d frames, %g m wide, positions in steps of %.3g m\n", o->html, v.frames,
        v.diagonal, fmax(v.high[0] - v.low[0], fmax(v.high[1] - v.low[1], v.high[2] - v.low[2])) /
        65535.0);
    return 0;
}

/* ---------------------------------------------------------------- pictures */
static void ramp(double t, float out[3])
{
    static const float c[5][3] = {{.357f, .455f, .722f}, {.165f, .561f, .690f},
        {.345f, .753f, .541f}, {.949f, .816f, .361f}, {.847f, .282f, .227f}};
    int i, k;
    t = !(t > 0.0) ? 0.0 : t > 1.0 ? 4.0 : 4.0 * t; /* what is no number is 0 */
    i = t >= 4.0 ? 3 : (int)t;
    for (k = 0; k < 3; ++k) out[k] = c[i][k] + (c[i + 1][k] - c[i][k]) * (float)(t - i);
}

/* Colours of `n` primitives of `per` nodes: that of the first node's body, or the mean value. */
static float *colours(const shape *s, const int *list, int n, int per, const double *value,
    double most)
{
    float *c = need(malloc((3 * (size_t)n + 1) * sizeof *c));
    int i, k;
    for (i = 0; i < n; ++i) {
        const int *p = list + (size_t)per * (size_t)i;
        unsigned kinds = sizeof palette / sizeof *palette;
        const unsigned char *b = palette[(unsigned)s->body[p[0]] % kinds];
        double v = 0.0;
        for (k = 0; k < per && value; ++k) v += value[p[k]] / per;
        if (value) ramp(most > 0.0 ? v / most : 0.0, c + 3 * (size_t)i);
        else for (k = 0; k < 3; ++k) c[3 * (size_t)i + (size_t)k] = (float)b[k] / 255.0f;
    }
    return c;
}

/* The largest stretch among the edges at a node. */
static void strains(const walk *w, double *out)
{
    const shape *s = &w->s;
    int i, k;
    for (i = 0; i < s->nodes; ++i) out[i] = 0.0;
    for (i = 0; i < s->sides; ++i) {
        double e = stretch(w, i);
        for (k = 0; k < 2; ++k) {
            int p = s->side[2 * (size_t)i + (size_t)k];
            out[p] = fmax(out[p], e);
        }
    }
}

/* Values at the nodes in a block to be freed; NULL for the colours of the bodies. */
static double *values_of(const walk *w, const char *color, nearness *c)
{
    double *v, dt = w->time - w->time_before;
    int speed = strcmp(color, "speed") == 0, i;
    const double *from = speed ? w->before : w->rest;
    if (strcmp(color, "body") == 0) return NULL;
    v = need(malloc(((size_t)w->s.nodes + 1) * sizeof *v));
    if (strcmp(color, "strain") == 0) strains(w, v);
    else if (strcmp(color, "distance") == 0) {
        unsigned char *b = need(malloc((size_t)w->s.nodes + 1));
        c->ready = 0;
        nearness_of(c, b);
        for (i = 0; i < w->s.nodes; ++i) v[i] = b[i] / 255.0;
        free(b);
    } else for (i = 0; i < w->s.nodes; ++i) {
        const double *a = w->x + 3 * (size_t)i, *b = from + 3 * (size_t)i;
        double d = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
        v[i] = !speed ? d : dt > 0.0 ? d / dt : 0.0;
    }
    return v;
}

typedef struct sheet {
    const options *o;
    const survey *v;
    raster *r;
    unsigned char *image;
    int tiles, columns, w, h;
    double most;     /* the value that gets the last colour */
    double middle[3];
} sheet;

/* Height of the ground in drawn units: an upward plane, or the lowest point of all frames. */
static double ground_of(const sheet *t, const shape *s)
{
    double y = t->v->low[1];
    int i;
    for (i = 0; i < s->planes; ++i) {
        if (s->plane[6 * (size_t)i + 4] > 0.999) y = s->plane[6 * (size_t)i + 1];
    }
    return (y - t->middle[1]) / t->v->diagonal;
}

/* The rasteriser sees a scene of diagonal 1 about the origin, whatever its size and place. */
static void draw_scene(const sheet *t, const walk *w, const double *value)
{
    double corner[24], scene[6], origin[3] = {0, 0, 0}, ground = ground_of(t, &w->s), *x, *radius;
    const shape *s = &w->s;
    const options *o = t->o;
    raster_view view;
    float *c;
    int i, k;
    x = need(malloc((3 * (size_t)s->nodes + 1) * sizeof *x));
    radius = need(malloc(((size_t)s->nodes + 1) * sizeof *radius));
    for (i = 0; i < s->nodes; ++i) radius[i] = s->radius[i] / t->v->diagonal;
    for (i = 0; i < s->nodes; ++i) for (k = 0; k < 3; ++k) {
        size_t at = 3 * (size_t)i + (size_t)k;
        x[at] = (w->x[at] - t->middle[k]) / t->v->diagonal;
    }
    for (k = 0; k < 3; ++k) {
        scene[k] = (t->v->low[k] - t->middle[k]) / t->v->diagonal;
        scene[k + 3] = (t->v->high[k] - t->middle[k]) / t->v->diagonal;
    }
    for (i = 0; i < 24; ++i) corner[i] = scene[i % 3 + (i / 3 >> i % 3 & 1 ? 3 : 0)];
    view = raster_fit(corner, 8, o->azimuth, o->elevation, o->zoom, t->w, t->h);
    if (ground < scene[1] && ground > scene[1] - 0.5) scene[1] = ground;
    raster_begin(t->r, &view, scene);
    raster_cast(t->r, x, s->tri, s->tris);
    raster_cast_lines(t->r, x, s->edge, s->edges, radius, 1.6);
    raster_cast_points(t->r, x, s->point, s->points, radius, 5.0);
    c = colours(s, s->tri, s->tris, 3, value, t->most);
    raster_triangles(t->r, x, s->tri, s->tris, c, o->edges);
    free(c);
    if (t->v->dim == 3) raster_ground(t->r, ground, origin, 1.4);
    c = colours(s, s->edge, s->edges, 2, value, t->most);
    raster_lines(t->r, x, s->edge, s->edges, c, radius, 1.6);
    free(c);
    c = colours(s, s->point, s->points, 1, value, t->most);
    raster_points(t->r, x, s->point, s->points, c, radius, 5.0);
    free(c);
    free(x);
    free(radius);
}

static void draw_tile(const sheet *t, const walk *w, const double *value, int tile)
{
    const unsigned char *part;
    size_t y;
    draw_scene(t, w, value);
    part = raster_image(t->r);
    for (y = 0; y < (size_t)t->h; ++y) {
        size_t line = (size_t)(tile / t->columns) * (size_t)t->h + y;
        size_t at = line * (size_t)t->o->width + (size_t)(tile % t->columns * t->w);
        memcpy(t->image + 3 * at, part + 3 * y * (size_t)t->w, 3 * (size_t)t->w);
    }
}

/* Frame of a tile: evenly spread over all, or the one that was asked for. */
static int frame_of(const sheet *t, int tile)
{
    int count = t->v->frames;
    if (t->o->sheet > 1) return (int)((long long)tile * (count - 1) / (t->tiles - 1));
    return t->o->frame < 0 ? count + t->o->frame : t->o->frame;
}

/* One pass over the file; draws, or only finds the largest value. */
static void sheet_pass(sheet *t, const char *path, int drawing)
{
    nearness c;
    walk w;
    int tile = 0, i;
    memset(&w, 0, sizeof w);
    nearness_init(&c, &w, t->v->diagonal);
    if (walk_open(&w, path)) {
        while (tile < t->tiles && walk_next(&w)) {
            double *value;
            if (frame_of(t, tile) != w.n - 1) continue;
            value = values_of(&w, t->o->color, &c);
            for (i = 0; i < w.s.nodes && value && !drawing; ++i) t->most = fmax(t->most, value[i]);
            for (; tile < t->tiles && frame_of(t, tile) == w.n - 1; ++tile) {
                if (drawing) draw_tile(t, &w, value, tile);
            }
            free(value);
        }
    }
    nearness_free(&c);
    walk_close(&w);
}

static int sheet_draw(sheet *t, const char *frames)
{
    const options *o = t->o;
    int k;
    t->tiles = o->sheet > 1 ? o->sheet : 1;
    for (t->columns = 1; t->columns * t->columns < t->tiles; ++t->columns) {}
    t->w = o->width / t->columns;
    t->h = o->height / ((t->tiles + t->columns - 1) / t->columns);
    if (t->w < 8 || t->h < 8) return fail("the picture is too small for that");
    k = frame_of(t, 0);
    if (k < 0 || k >= t->v->frames) {
        return fail("%s: no frame %d (there are %d)", frames, o->frame, t->v->frames);
    }
    for (k = 0; k < 3; ++k) t->middle[k] = 0.5 * (t->v->low[k] + t->v->high[k]);
    t->r = need(raster_open(t->w, t->h, 3));
    t->image = need(malloc(3 * (size_t)o->width * (size_t)o->height));
    memset(t->image, 255, 3 * (size_t)o->width * (size_t)o->height);
    if (strcmp(o->color, "body") != 0) sheet_pass(t, frames, 0);
    if (strcmp(o->color, "distance") == 0) t->most = 1.0;
    if (strcmp(o->color, "strain") == 0) t->most = fmax(t->most, 1e-6); /* not its rounding */
    sheet_pass(t, frames, 1);
    return 0;
}

static int write_picture(options *o, const char *frames)
{
    survey v;
    sheet t;
    int rc = survey_make(frames, 1, 0, &v);
    memset(&t, 0, sizeof t);
    t.o = o;
    t.v = &v;
    if (rc == 0 && v.dim == 2 && !o->camera) o->azimuth = o->elevation = 0.0;
    if (rc == 0) rc = sheet_draw(&t, frames);
    if (rc == 0 && !png_write(o->png, t.image, o->width, o->height)) {
        fail("%s: cannot write: %s", o->png, strerror(errno));
        rc = 3;
    }
    if (rc == 0) {
        printf("%s: %dx%d", o->png, o->width, o->height);
        if (strcmp(o->color, "distance") == 0) {
            printf(", distance from %.3g m (blue) to %.3g m (red)", 2e-3 * v.diagonal,
                2e-6 * v.diagonal);
        } else if (strcmp(o->color, "body") != 0) printf(", %s up to %.3g", o->color, t.most);
        printf("\n");
    }
    free(v.moment);
    free(t.image);
    raster_close(t.r);
    return rc;
}

/* ---------------------------------------------------------------- command line */
static int whole(const char *s, int least, int *out)
{
    char *end;
    long v;
    errno = 0;
    v = strtol(s, &end, 10);
    if (!*s || *end || errno || v < least || v > 100000000) return 0;
    *out = (int)v;
    return 1;
}

/* 0 go on, else exit code + 1 */
static int parse(int argc, char **argv, options *o)
{
    int i;
    char end;
    for (i = 1; i < argc; ++i) {
        const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;
        int ok = 1;
        if (strcmp(a, "--help") == 0) return fputs(help, stdout), 1;
        if (strcmp(a, "--version") == 0) return puts(VERSION), 1;
        if (strcmp(a, "--no-edges") == 0) {
            o->edges = 0;
            continue;
        }
        if (a[0] != '-') {
            if (o->input) return fail("two inputs: %s and %s", o->input, a) + 1;
            o->input = a;
            continue;
        }
        if (!v) return fail("%s: unknown, or its value is missing (--help)", a) + 1;
        ++i;
        if (strcmp(a, "--html") == 0) o->html = v;
        else if (strcmp(a, "--png") == 0) o->png = v;
        else if (strcmp(a, "--color") == 0) {
            o->color = v;
            ok = !strcmp(v, "body") || !strcmp(v, "speed") || !strcmp(v, "displacement") ||
                !strcmp(v, "strain") || !strcmp(v, "distance");
        } else if (strcmp(a, "--frame") == 0) ok = whole(v, -100000000, &o->frame);
        else if (strcmp(a, "--sheet") == 0) ok = whole(v, 1, &o->sheet) && o->sheet <= 400;
        else if (strcmp(a, "--every") == 0) ok = whole(v, 1, &o->every);
        else if (strcmp(a, "--size") == 0) {
            ok = sscanf(v, "%dx%d%c", &o->width, &o->height, &end) == 2 && o->width >= 8 &&
                o->height >= 8 && o->width <= 8192 && o->height <= 8192;
        } else if (strcmp(a, "--camera") == 0) {
            o->camera = 1;
            ok = sscanf(v, "%lf,%lf,%lf%c", &o->azimuth, &o->elevation, &o->zoom, &end) == 3 &&
                fabs(o->azimuth) < 1e6 && fabs(o->elevation) <= 90.0 && o->zoom > 0.0 &&
                o->zoom < 1e6;
        } else return fail("unknown option %s (--help)", a) + 1;
        if (!ok) return fail("%s: bad value %s (--help)", a, v) + 1;
    }
    if (!o->input) return fail("no input (--help)") + 1;
    return 0;
}

int main(int argc, char **argv)
{
    char frames[4096], csv_name[4096], html[4096];
    struct stat st;
    options o;
    const char *title;
    int rc, n;
    memset(&o, 0, sizeof o);
    o.frame = -1;
    o.width = 1280;
    o.height = 720;
    o.edges = 1;
    o.every = 1;
    o.azimuth = 30.0;
    o.elevation = 20.0;
    o.zoom = 1.0;
    o.color = "body";
    rc = parse(argc, argv, &o);
    if (rc) return rc - 1;
    if (stat(o.input, &st) != 0) return fail("%s: %s", o.input, strerror(errno));
    n = (int)strlen(o.input);
    while (n > 1 && o.input[n - 1] == '/') --n;
    if (n > 4000) return fail("name too long");
    if (S_ISDIR(st.st_mode)) {
        snprintf(frames, sizeof frames, "%.*s/frames.gapf", n, o.input);
        snprintf(csv_name, sizeof csv_name, "%.*s/stats.csv", n, o.input);
        snprintf(html, sizeof html, "%.*s/view.html", n, o.input);
    } else {
        snprintf(frames, sizeof frames, "%s", o.input);
        snprintf(csv_name, sizeof csv_name, "%s.csv", o.input);
        snprintf(html, sizeof html, "%s.html", o.input);
    }
    if (!o.html) o.html = html;
    title = strrchr(o.input, '/');
    title = title && title[1] ? title + 1 : strcmp(o.input, ".") ? o.input : "simulation";
    return o.png ? write_picture(&o, frames) : write_page(&o, frames, csv_name, title);
}
