/* gap-view.c - look at a simulation: one self-contained HTML page, or a PNG drawn in software
   Reads frames.gapf (and stats.csv beside it). The page stores positions in steps of 1/65535 of the
   bounding box of all frames; a picture is drawn from the doubles themselves. */
#define GAP_BROAD_STATIC
#include "gap_broad.h"
#define GAP_DISTANCE_STATIC
#include "gap_distance.h"

#include "frames.h"
#include "gap_view_html.h"
#include "mesh.h"
#include "png.h"
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
    "  --camera A,E,Z azimuth and elevation in degrees, zoom (30,20,1)\n"
    "  --color C      body (default), speed, displacement\n"
    "  --no-edges     leave out the lines of the mesh\n"
    "  --every N      only every N-th frame goes into the page\n"
    "  --help --version\n";

static const unsigned char palette[][3] = {{90, 143, 214}, {226, 139, 75}, {96, 178, 128},
    {200, 104, 130}, {150, 128, 200}, {214, 184, 84}, {92, 178, 190}, {168, 138, 112},
    {130, 160, 90}, {150, 155, 165}};

typedef struct options {
    const char *input, *html, *png, *color;
    int frame, sheet, width, height, edges, every;
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
    int *body;      /* 1 per drawn node */
} shape;

static void shape_free(shape *s)
{
    free(s->node);
    free(s->tri);
    free(s->edge);
    free(s->point);
    free(s->body);
    memset(s, 0, sizeof *s);
}

/* Keeps the nodes that a triangle, edge or point uses; solids without triangles show their
   boundary. */
static void shape_make(const frames_topo *t, shape *s)
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
    for (i = 0; i < t->nodes; ++i) {
        if (!to[i]) continue;
        s->node[s->nodes] = i;
        s->body[s->nodes] = t->body ? t->body[i] : 0;
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
}

/* Positions of the drawn nodes, always three coordinates. */
static void shape_place(const shape *s, const double *x, int dim, double *out)
{
    int i, k;
    for (i = 0; i < s->nodes; ++i) {
        const double *from = x + (size_t)dim * (size_t)s->node[i];
        for (k = 0; k < 3; ++k) *out++ = k < dim ? from[k] : 0.0;
    }
}

/* ---------------------------------------------------------------- stats.csv */
typedef struct table {
    char **column;
    int columns, rows;
    double *value; /* nan where there is none */
} table;

static void table_free(table *t)
{
    int i;
    for (i = 0; i < t->columns; ++i) free(t->column[i]);
    free(t->column);
    free(t->value);
    memset(t, 0, sizeof *t);
}

/* Next line without its end, NULL at the end of the file or beyond 64 KB. */
static char *next_line(FILE *f, char *buffer, int size)
{
    size_t n;
    if (!fgets(buffer, size, f)) return NULL;
    n = strlen(buffer);
    if (n && buffer[n - 1] != '\n' && !feof(f)) return NULL;
    while (n && (buffer[n - 1] == '\n' || buffer[n - 1] == '\r')) buffer[--n] = '\0';
    return buffer;
}

/* The rows that are whole; a torn last line is left out. 1, or 0 if there is no such file. */
static int table_read(const char *path, table *t)
{
    static char line[65536];
    FILE *f = fopen(path, "rb");
    char *p, *end;
    int room = 0, i;
    memset(t, 0, sizeof *t);
    if (!f) return 0;
    if (next_line(f, line, sizeof line)) {
        for (p = strtok(line, ","); p; p = strtok(NULL, ",")) {
            t->column = need(realloc(t->column, (size_t)(t->columns + 1) * sizeof *t->column));
            t->column[t->columns] = need(malloc(strlen(p) + 1));
            strcpy(t->column[t->columns++], p);
        }
    }
    while (t->columns > 0 && next_line(f, line, sizeof line)) {
        if (t->rows == room) {
            room = room ? 2 * room : 256;
            t->value = need(realloc(t->value, (size_t)room * (size_t)t->columns * sizeof(double)));
        }
        for (p = line, i = 0; i < t->columns; ++i) {
            double v = strtod(p, &end);
            t->value[(size_t)t->rows * (size_t)t->columns + (size_t)i] = end == p ? NAN : v;
            if (*end != (i + 1 < t->columns ? ',' : '\0')) break;
            p = end + 1;
        }
        if (i == t->columns) ++t->rows;
        else break;
    }
    fclose(f);
    return 1;
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
    double *rest;   /* positions of the first frame of this topology */
    const shape *s;
    gap_broad broad;
} nearness;

/* Pairs of one body count only where they were far apart at first: the neighbourhood of a node on
   its own surface is no contact. */
static int worth_a_look(void *user, int kind, int v, int t)
{
    const nearness *c = user;
    const int *node = c->s->tri + 3 * (size_t)t;
    const double *a = c->rest + 3 * (size_t)v, *b = c->rest + 3 * (size_t)node[0];
    double d2 = 0.0;
    int k;
    (void)kind;
    if (c->s->body[v] != c->s->body[node[0]]) return 1;
    for (k = 0; k < 3; ++k) d2 += (a[k] - b[k]) * (a[k] - b[k]);
    return d2 > 16.0 * c->far_ * c->far_;
}

static void note_pair(const nearness *c, const shape *s, const double *x, int v, const int *t,
    double *least)
{
    double d = sqrt(gap_distance_vf(x + 3 * (size_t)v, x + 3 * (size_t)t[0], x + 3 * (size_t)t[1],
        x + 3 * (size_t)t[2]));
    int k;
    if (!(d < c->far_)) return;
    if (s->body[v] == s->body[t[0]]) { /* the own surface counts where it has come closer */
        const double *r = c->rest;
        double before = gap_distance_vf(r + 3 * (size_t)v, r + 3 * (size_t)t[0],
            r + 3 * (size_t)t[1], r + 3 * (size_t)t[2]);
        if (!(4.0 * d * d < before)) return;
    }
    if (d < least[v]) least[v] = d;
    for (k = 0; k < 3; ++k) if (d < least[t[k]]) least[t[k]] = d;
}

/* 8 bits per node: 0 farther than far_, 255 nearer than near_, logarithmic between. */
static void nearness_of(nearness *c, const shape *s, const double *x, unsigned char *out)
{
    double *least = need(malloc(((size_t)s->nodes + 1) * sizeof *least));
    const int *pair = NULL;
    int n = 0, i;
    for (i = 0; i < s->nodes; ++i) least[i] = HUGE_VAL;
    if (gap_broad_build(&c->broad, x, NULL, 0.5 * c->far_) == GAP_BROAD_OK &&
        gap_broad_pairs(&c->broad, GAP_BROAD_VF, &pair, &n) == GAP_BROAD_OK) {
        for (i = 0; i < n; ++i, pair += 2) {
            note_pair(c, s, x, pair[0], s->tri + 3 * (size_t)pair[1], least);
        }
    }
    for (i = 0; i < s->nodes; ++i) {
        double v = least[i] < c->far_ ? log(c->far_ / least[i]) / log(c->far_ / c->near_) : 0.0;
        out[i] = (unsigned char)(v >= 1.0 ? 255.0 : v <= 0.0 ? 0.0 : 255.0 * v + 0.5);
    }
    free(least);
}

/* ---------------------------------------------------------------- the page */
typedef struct survey {
    double low[3], high[3];
    int frames, topos;
} survey;

/* First pass: bounds of all that is drawn, and how much of it there is. */
static int survey_make(const char *path, int every, survey *out, char *error, size_t size)
{
    frames_reader r;
    shape s;
    double *x = NULL;
    int i, k, n = 0;
    memset(out, 0, sizeof *out);
    memset(&s, 0, sizeof s);
    if (!frames_open(&r, path)) {
        snprintf(error, size, "%s", r.error);
        frames_close(&r);
        return 0;
    }
    for (k = 0; k < 3; ++k) {
        out->low[k] = HUGE_VAL;
        out->high[k] = -HUGE_VAL;
    }
    while (frames_next(&r)) {
        if (n == 0 || r.topo_changed) {
            shape_free(&s);
            shape_make(&r.topo, &s);
            x = need(realloc(x, (3 * (size_t)s.nodes + 1) * sizeof *x));
            ++out->topos;
        }
        if (n++ % every) continue;
        ++out->frames;
        shape_place(&s, r.x, r.dim, x);
        for (i = 0; i < s.nodes; ++i) for (k = 0; k < 3; ++k) {
            out->low[k] = fmin(out->low[k], x[3 * (size_t)i + (size_t)k]);
            out->high[k] = fmax(out->high[k], x[3 * (size_t)i + (size_t)k]);
        }
    }
    if (r.damaged) fprintf(stderr, "gap-view: %s: %s; shown up to there\n", path, r.error);
    for (k = 0; k < 3; ++k) {
        if (!(out->high[k] >= out->low[k])) out->low[k] = out->high[k] = 0.0;
        if (!(out->high[k] > out->low[k])) out->high[k] = out->low[k] + 1e-9;
    }
    shape_free(&s);
    free(x);
    frames_close(&r);
    return 1;
}

static void put_stats(FILE *f, const table *t)
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

/* Second pass: what the page knows of every frame and topology. */
static void put_meta(FILE *f, const char *path, const char *title, const survey *v, int every,
    const nearness *c, const table *stats)
{
    frames_reader r;
    shape s;
    int i, k, n = 0, topo = -1, first = 1;
    memset(&s, 0, sizeof s);
    fprintf(f, "<script id=\"meta\" type=\"application/json\">{\"title\":");
    put_string(f, title);
    fprintf(f, ",\"low\":[%.17g,%.17g,%.17g]", v->low[0], v->low[1], v->low[2]);
    fprintf(f, ",\"size\":[%.17g,%.17g,%.17g]", v->high[0] - v->low[0], v->high[1] - v->low[1],
        v->high[2] - v->low[2]);
    fprintf(f, ",\"near\":%.9g,\"far\":%.9g,\"palette\":[", c->near_, c->far_);
    for (k = 0; k < (int)(sizeof palette / sizeof *palette); ++k) {
        fprintf(f, "%s[%d,%d,%d]", k ? "," : "", palette[k][0], palette[k][1], palette[k][2]);
    }
    fprintf(f, "],\"bodies\":[");
    if (frames_open(&r, path)) {
        int more = frames_next(&r); /* names stand before the first frame */
        for (i = 0; i < r.bodies && i < 4096; ++i) {
            char name[32];
            snprintf(name, sizeof name, "body %d", i);
            if (i) putc(',', f);
            put_string(f, r.name ? r.name[i] : name);
        }
        fprintf(f, "],\"topos\":[");
        for (n = 0; more; ++n, more = frames_next(&r)) {
            if (n && !r.topo_changed) continue;
            shape_make(&r.topo, &s);
            fprintf(f, "%s{\"nodes\":%d", topo++ < 0 ? "" : ",\n", s.nodes);
            put_ints(f, "tri", s.tri, 3 * (size_t)s.tris, 4);
            put_ints(f, "edge", s.edge, 2 * (size_t)s.edges, 4);
            put_ints(f, "point", s.point, (size_t)s.points, 4);
            put_ints(f, "body", s.body, (size_t)s.nodes, 2);
            putc('}', f);
            shape_free(&s);
        }
    }
    frames_close(&r);
    fprintf(f, "],\"frames\":[");
    if (frames_open(&r, path)) {
        for (n = 0, topo = -1; frames_next(&r); ++n) {
            if (n == 0 || r.topo_changed) ++topo;
            if (n % every) continue;
            fprintf(f, "%s{\"step\":%lld,\"time\":%.9g,\"topo\":%d}", first ? "" : ",", r.step,
                r.time, topo);
            first = 0;
        }
    }
    frames_close(&r);
    fprintf(f, "]");
    if (stats->rows) put_stats(f, stats);
    fprintf(f, "}</script>\n");
}

/* Third pass: the positions. */
static void put_frames(FILE *f, const char *path, const survey *v, int every, nearness *c)
{
    frames_reader r;
    shape s;
    gap_broad_mesh bm;
    gap_broad_options bo;
    double *x = NULL;
    unsigned char *b = NULL;
    int n, i, k;
    memset(&s, 0, sizeof s);
    memset(&bo, 0, sizeof bo);
    bo.keep = worth_a_look;
    bo.keep_user = c;
    c->s = &s;
    gap_broad_init(&c->broad, &bo);
    if (frames_open(&r, path)) {
        for (n = 0; frames_next(&r); ++n) {
            int fresh = n == 0 || r.topo_changed;
            if (fresh) {
                shape_free(&s);
                shape_make(&r.topo, &s);
                x = need(realloc(x, (3 * (size_t)s.nodes + 1) * sizeof *x));
                b = need(realloc(b, 7 * (size_t)s.nodes + 1));
                c->rest = need(realloc(c->rest, (3 * (size_t)s.nodes + 1) * sizeof *x));
                shape_place(&s, r.x, r.dim, c->rest);
                memset(&bm, 0, sizeof bm);
                bm.dim = 3;
                bm.nodes = s.nodes;
                bm.tris = s.tris;
                bm.tri = s.tri;
                gap_broad_set_mesh(&c->broad, &bm);
            }
            if (n % every) continue;
            shape_place(&s, r.x, r.dim, x);
            for (i = 0; i < s.nodes; ++i) for (k = 0; k < 3; ++k) {
                double u = (x[3 * (size_t)i + (size_t)k] - v->low[k]) / (v->high[k] - v->low[k]);
                put_le(b + 6 * (size_t)i + 2 * (size_t)k, (unsigned)(u * 65535.0 + 0.5), 2);
            }
            nearness_of(c, &s, x, b + 6 * (size_t)s.nodes);
            fprintf(f, "<script class=\"frame\" type=\"text/plain\">");
            put_base64(f, b, 7 * (size_t)s.nodes);
            fprintf(f, "</script>\n");
        }
    }
    frames_close(&r);
    gap_broad_free(&c->broad);
    shape_free(&s);
    free(c->rest);
    free(x);
    free(b);
}

static int write_page(const options *o, const char *frames, const char *csv, const char *title)
{
    const char *page = (const char *)gap_view_html, *mark = strstr(page, MARK);
    char error[256], name[4096];
    survey v;
    nearness c;
    table stats;
    FILE *f;
    double diagonal;
    if (!survey_make(frames, o->every, &v, error, sizeof error)) {
        return fail("%s: %s", frames, error);
    }
    if (v.frames == 0) return fail("%s: no frame", frames);
    memset(&c, 0, sizeof c);
    diagonal = sqrt(pow(v.high[0] - v.low[0], 2) + pow(v.high[1] - v.low[1], 2) +
        pow(v.high[2] - v.low[2], 2));
    c.far_ = 5e-3 * diagonal;
    c.near_ = 5e-6 * diagonal;
    table_read(csv, &stats);
    if (snprintf(name, sizeof name, "%s.tmp", o->html) >= (int)sizeof name) {
        table_free(&stats);
        return fail("name too long");
    }
    f = fopen(name, "wb");
    if (!f) {
        table_free(&stats);
        return fail("%s: %s", name, strerror(errno));
    }
    fwrite(page, 1, (size_t)(mark - page), f);
    put_meta(f, frames, title, &v, o->every, &c, &stats);
    put_frames(f, frames, &v, o->every, &c);
    fputs(mark + strlen(MARK), f);
    table_free(&stats);
    if (ferror(f) | fclose(f)) {
        remove(name);
        fail("%s: cannot write: %s", o->html, strerror(errno));
        return 3;
    }
    if (rename(name, o->html) != 0) return fail("%s: %s", o->html, strerror(errno));
    printf("%s: %d frames, %g m wide, positions in steps of %.3g m\n", o->html, v.frames, diagonal,
        fmax(v.high[0] - v.low[0], fmax(v.high[1] - v.low[1], v.high[2] - v.low[2])) / 65535.0);
    return 0;
}

/* ---------------------------------------------------------------- pictures */
static void ramp(double t, float out[3])
{
    static const float c[5][3] = {{.188f, .255f, .498f}, {.165f, .561f, .690f},
        {.345f, .753f, .541f}, {.949f, .816f, .361f}, {.847f, .282f, .227f}};
    int i, k;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 4.0 : 4.0 * t;
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

typedef struct picture {
    shape s;
    double *x, *value, most;
    int has_plane;
    double plane_y;
} picture;

static void picture_free(picture *p)
{
    shape_free(&p->s);
    free(p->x);
    free(p->value);
    memset(p, 0, sizeof *p);
}

/* Frame number `want` of the file with its colour values; 0 if there is none. */
static int picture_load(const char *path, int want, const char *color, picture *p)
{
    frames_reader r;
    double *other = NULL, other_time = 0.0, most = 0.0;
    int n = 0, i, speed = strcmp(color, "speed") == 0, found = 0;
    memset(p, 0, sizeof *p);
    if (!frames_open(&r, path)) {
        frames_close(&r);
        return 0;
    }
    for (; n <= want && frames_next(&r); ++n) {
        int fresh = n == 0 || r.topo_changed;
        if (fresh) {
            picture_free(p);
            shape_make(&r.topo, &p->s);
            other = need(realloc(other, (3 * (size_t)p->s.nodes + 1) * sizeof *other));
            p->x = need(malloc((3 * (size_t)p->s.nodes + 1) * sizeof *p->x));
            for (i = 0; i < r.topo.planes && r.dim == 3; ++i) { /* an upward plane is the ground */
                const double *q = r.topo.plane + 6 * (size_t)i;
                if (q[4] > 0.999) {
                    p->has_plane = 1;
                    p->plane_y = q[1];
                }
            }
        } else if (speed) {
            memcpy(other, p->x, 3 * (size_t)p->s.nodes * sizeof *other);
        }
        if (speed && !fresh) other_time = r.time - other_time;
        shape_place(&p->s, r.x, r.dim, p->x);
        if (fresh) {
            memcpy(other, p->x, 3 * (size_t)p->s.nodes * sizeof *other);
        }
        if (n == want) {
            double dt = fresh ? 0.0 : other_time;
            found = 1;
            if (strcmp(color, "body") == 0) break;
            p->value = need(malloc(((size_t)p->s.nodes + 1) * sizeof *p->value));
            for (i = 0; i < p->s.nodes; ++i) {
                const double *a = p->x + 3 * (size_t)i, *b = other + 3 * (size_t)i;
                double d = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
                p->value[i] = speed ? (dt > 0.0 ? d / dt : 0.0) : d;
                most = fmax(most, p->value[i]);
            }
            p->most = most;
        } else other_time = r.time;
    }
    free(other);
    frames_close(&r);
    return found;
}

static void picture_draw(raster *r, const picture *p, const options *o, const survey *v, int w,
    int h)
{
    double corner[24], scene[6], center[3], radius = 0.0, ground;
    raster_view view;
    float *c;
    int i, k;
    for (i = 0; i < 8; ++i) for (k = 0; k < 3; ++k) {
        corner[3 * i + k] = i >> k & 1 ? v->high[k] : v->low[k];
    }
    view = raster_fit(corner, 8, o->azimuth, o->elevation, o->zoom, w, h);
    for (k = 0; k < 3; ++k) {
        scene[k] = v->low[k];
        scene[k + 3] = v->high[k];
        center[k] = 0.5 * (v->low[k] + v->high[k]);
        radius += pow(v->high[k] - v->low[k], 2);
    }
    ground = p->has_plane ? p->plane_y : v->low[1];
    if (ground < scene[1]) scene[1] = ground;
    raster_begin(r, &view, scene);
    raster_cast(r, p->x, p->s.tri, p->s.tris);
    c = colours(&p->s, p->s.tri, p->s.tris, 3, p->value, p->most);
    raster_triangles(r, p->x, p->s.tri, p->s.tris, c, o->edges);
    free(c);
    raster_ground(r, ground, center, 1.4 * sqrt(radius));
    c = colours(&p->s, p->s.edge, p->s.edges, 2, p->value, p->most);
    raster_lines(r, p->x, p->s.edge, p->s.edges, c, 1.6);
    free(c);
    c = colours(&p->s, p->s.point, p->s.points, 1, p->value, p->most);
    raster_points(r, p->x, p->s.point, p->s.points, c, 5.0);
    free(c);
}

static int write_picture(const options *o, const char *frames)
{
    char error[256];
    survey v;
    raster *r;
    unsigned char *image;
    int tiles = o->sheet > 0 ? o->sheet : 1, columns, rows, w, h, i, y, count, ok;
    if (!survey_make(frames, 1, &v, error, sizeof error)) return fail("%s: %s", frames, error);
    count = v.frames;
    if (count == 0) return fail("%s: no frame", frames);
    for (columns = 1; columns * columns < tiles; ++columns) {}
    rows = (tiles + columns - 1) / columns;
    w = o->width / columns;
    h = o->height / rows;
    if (w < 8 || h < 8) return fail("the picture is too small for that");
    r = need(raster_open(w, h, 3));
    image = need(calloc(3 * (size_t)o->width, (size_t)o->height));
    memset(image, 255, 3 * (size_t)o->width * (size_t)o->height);
    for (i = 0; i < tiles; ++i) {
        int k = o->sheet > 0 ? (tiles > 1 ? (int)((long long)i * (count - 1) / (tiles - 1)) : 0)
            : o->frame < 0 ? count + o->frame : o->frame;
        const unsigned char *part;
        picture p;
        if (k < 0 || k >= count || !picture_load(frames, k, o->color, &p)) {
            free(image);
            raster_close(r);
            return fail("%s: no frame %d (there are %d)", frames, k, count);
        }
        picture_draw(r, &p, o, &v, w, h);
        part = raster_image(r);
        for (y = 0; y < h; ++y) {
            size_t line = (size_t)(i / columns * h + y), at;
            at = line * (size_t)o->width + (size_t)(i % columns * w);
            memcpy(image + 3 * at, part + 3 * (size_t)y * (size_t)w, 3 * (size_t)w);
        }
        picture_free(&p);
    }
    ok = png_write(o->png, image, o->width, o->height);
    free(image);
    raster_close(r);
    if (!ok) {
        fail("%s: cannot write: %s", o->png, strerror(errno));
        return 3;
    }
    printf("%s: %dx%d\n", o->png, o->width, o->height);
    return 0;
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
            ok = !strcmp(v, "body") || !strcmp(v, "speed") || !strcmp(v, "displacement");
        } else if (strcmp(a, "--frame") == 0) ok = whole(v, -100000000, &o->frame);
        else if (strcmp(a, "--sheet") == 0) ok = whole(v, 1, &o->sheet) && o->sheet <= 400;
        else if (strcmp(a, "--every") == 0) ok = whole(v, 1, &o->every);
        else if (strcmp(a, "--size") == 0) {
            ok = sscanf(v, "%dx%d%c", &o->width, &o->height, &end) == 2 && o->width >= 8 &&
                o->height >= 8 && o->width <= 8192 && o->height <= 8192;
        } else if (strcmp(a, "--camera") == 0) {
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
    char frames[4096], csv[4096], html[4096];
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
        snprintf(csv, sizeof csv, "%.*s/stats.csv", n, o.input);
        snprintf(html, sizeof html, "%.*s/view.html", n, o.input);
    } else {
        snprintf(frames, sizeof frames, "%s", o.input);
        snprintf(csv, sizeof csv, "%s.csv", o.input);
        snprintf(html, sizeof html, "%s.html", o.input);
    }
    if (!o.html) o.html = html;
    title = strrchr(o.input, '/');
    title = title && title[1] ? title + 1 : o.input;
    return o.png ? write_picture(&o, frames) : write_page(&o, frames, csv, title);
}
