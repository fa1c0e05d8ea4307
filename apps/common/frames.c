/* frames.c - see frames.h. Every size in a file is checked against the bytes that are there before
   memory is asked for, so a lying file costs no more than its own length. */
#include "frames.h"
#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { HEAD = 16, TOPO_HEAD = 32, FRAM_HEAD = 16 };

/* ---- bytes ---- */

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* table[k][b]: what byte b does k bytes later, so that eight bytes go in at once */
static void crc_table(uint32_t table[8][256])
{
    uint32_t i, k, c;
    for (i = 0; i < 256; ++i) {
        c = i;
        for (k = 0; k < 8; ++k) c = c & 1u ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[0][i] = c;
    }
    for (k = 1; k < 8; ++k)
        for (i = 0; i < 256; ++i)
            table[k][i] = table[0][table[k - 1][i] & 255u] ^ (table[k - 1][i] >> 8);
}

static uint32_t crc_update(uint32_t table[8][256], uint32_t c, const unsigned char *p, size_t n)
{
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t a = c ^ get32(p), b = get32(p + 4);
        c = table[7][a & 255u] ^ table[6][a >> 8 & 255u] ^ table[5][a >> 16 & 255u] ^
            table[4][a >> 24] ^ table[3][b & 255u] ^ table[2][b >> 8 & 255u] ^
            table[1][b >> 16 & 255u] ^ table[0][b >> 24];
    }
    for (; n > 0; --n, ++p) c = table[0][(c ^ *p) & 255u] ^ (c >> 8);
    return c;
}

/* over tag, size and payload; head: the 16 bytes before the payload */
static uint32_t crc_chunk(uint32_t table[8][256], const unsigned char *head,
    const unsigned char *payload, size_t n)
{
    uint32_t c = crc_update(table, 0xffffffffu, head, 4);
    c = crc_update(table, c, head + 8, 8);
    return ~crc_update(table, c, payload, n);
}

static uint64_t get64(const unsigned char *p)
{
    return (uint64_t)get32(p) | (uint64_t)get32(p + 4) << 32;
}

static unsigned char *put32(unsigned char *p, uint32_t v)
{
    int i;
    for (i = 0; i < 4; ++i) p[i] = (unsigned char)(v >> (8 * i));
    return p + 4;
}

static unsigned char *put64(unsigned char *p, uint64_t v)
{
    return put32(put32(p, (uint32_t)v), (uint32_t)(v >> 32));
}

static const unsigned char *get_ints(const unsigned char *p, int *out, size_t n)
{
    size_t i;
    for (i = 0; i < n; ++i) out[i] = (int)(int32_t)get32(p + 4 * i);
    return p + 4 * n;
}

static const unsigned char *get_doubles(const unsigned char *p, double *out, size_t n)
{
    size_t i;
    uint64_t u;
    for (i = 0; i < n; ++i) {
        u = get64(p + 8 * i);
        memcpy(out + i, &u, sizeof u);
    }
    return p + 8 * n;
}

static unsigned char *put_ints(unsigned char *p, const int *v, size_t n)
{
    size_t i;
    for (i = 0; i < n; ++i) p = put32(p, v ? (uint32_t)v[i] : 0u);
    return p;
}

static unsigned char *put_doubles(unsigned char *p, const double *v, size_t n)
{
    size_t i;
    uint64_t u;
    for (i = 0; i < n; ++i) {
        u = 0;
        if (v) memcpy(&u, v + i, sizeof u);
        p = put64(p, u);
    }
    return p;
}

/* ---- reading ---- */
typedef struct frames__file {
    FILE *f;
    long long size;           /* of the file */
    unsigned char *buf;       /* payload of the last chunk */
    size_t capacity, length;
    char tag[5];
    int has_topo;
    long long start;          /* where the first topology may stand: after the head and the names */
    uint32_t table[8][256];
} frames__file;

static void topo_free(frames_topo *t)
{
    free(t->elem); free(t->tri); free(t->edge); free(t->point); free(t->body);
    free(t->radius); free(t->plane);
    memset(t, 0, sizeof *t);
}

static int fail(frames_reader *r, const char *what)
{
    snprintf(r->error, sizeof r->error, "%s at byte %lld", what, r->end);
    r->damaged = 1;
    return 0;
}

/* Next chunk into buf; 0 at the end (clean, or damaged and described). Leaves r->end alone. */
static int read_chunk(frames_reader *r)
{
    frames__file *s = r->file;
    unsigned char head[HEAD];
    long long left = s->size - r->end;
    uint64_t size, padded;
    if (left == 0) return 0;
    if (left < HEAD || fread(head, 1, HEAD, s->f) != HEAD) return fail(r, "cut chunk head");
    size = get64(head + 8);
    if (size > (uint64_t)(left - HEAD)) return fail(r, "cut chunk");
    padded = (size + 7) & ~(uint64_t)7;
    if (padded > (uint64_t)(left - HEAD)) return fail(r, "cut chunk");
    if (padded > SIZE_MAX / 2) return fail(r, "chunk too large for this machine");
    if (padded > s->capacity) {
        unsigned char *p = (unsigned char *)realloc(s->buf, (size_t)padded);
        if (!p) return fail(r, "out of memory for the chunk");
        s->buf = p;
        s->capacity = (size_t)padded;
    }
    if (padded && fread(s->buf, 1, (size_t)padded, s->f) != padded)
        return fail(r, "unreadable chunk");
    if (crc_chunk(s->table, head, s->buf, (size_t)size) != get32(head + 4))
        return fail(r, "checksum of the chunk is wrong");
    for (; padded > size; --padded)
        if (s->buf[padded - 1]) return fail(r, "chunk not padded with zeros");
    memcpy(s->tag, head, 4);
    s->length = (size_t)size;
    return 1;
}

static void chunk_done(frames_reader *r)
{
    r->end += HEAD + (long long)((r->file->length + 7) & ~(size_t)7);
}

static void *array(size_t n, size_t size)
{
    return malloc(n ? n * size : 1);
}

/* finite, and at least `least` */
static int sound(const double *v, size_t n, double least)
{
    size_t i;
    for (i = 0; i < n; ++i)
        if (!(v[i] >= least && v[i] <= DBL_MAX)) return 0;
    return 1;
}

static int in_range(const int *v, size_t n, int limit)
{
    size_t i;
    for (i = 0; i < n; ++i)
        if (v[i] < 0 || v[i] >= limit) return 0;
    return 1;
}

/* Counts were checked against the length of the chunk, so products do not overflow. */
static int topo_arrays(frames_reader *r, frames_topo *t, const unsigned char *p)
{
    size_t n = (size_t)t->nodes, ne = (size_t)t->elems * (size_t)t->elem_nodes;
    size_t nt = 3 * (size_t)t->tris, ng = 2 * (size_t)t->edges, np = (size_t)t->points;
    size_t nq = 2 * (size_t)r->dim * (size_t)t->planes;
    t->elem = (int *)array(ne, sizeof(int));
    t->tri = (int *)array(nt, sizeof(int));
    t->edge = (int *)array(ng, sizeof(int));
    t->point = (int *)array(np, sizeof(int));
    t->body = (int *)array(n, sizeof(int));
    t->radius = (double *)array(n, sizeof(double));
    t->plane = (double *)array(nq, sizeof(double));
    if (!t->elem || !t->tri || !t->edge || !t->point || !t->body || !t->radius || !t->plane)
        return fail(r, "out of memory for the topology");
    p = get_ints(p, t->elem, ne);
    p = get_ints(p, t->tri, nt);
    p = get_ints(p, t->edge, ng);
    p = get_ints(p, t->point, np);
    p = get_ints(p, t->body, n);
    p = get_doubles(p, t->radius, n);
    get_doubles(p, t->plane, nq);
    if (!in_range(t->elem, ne, t->nodes) || !in_range(t->tri, nt, t->nodes) ||
        !in_range(t->edge, ng, t->nodes) || !in_range(t->point, np, t->nodes))
        return fail(r, "topology names a node that does not exist");
    if (!in_range(t->body, n, r->bodies)) return fail(r, "topology names an unknown body");
    if (!sound(t->radius, n, 0.0) || !sound(t->plane, nq, -DBL_MAX))
        return fail(r, "topology has a radius or plane that is no number");
    return 1;
}

/* bytes of a TOPO with these counts, or 0 if they are beyond any file */
static uint64_t topo_size(const uint32_t c[7], int dim)
{
    uint64_t ints, doubles;
    int i;
    for (i = 0; i < 7; ++i)
        if (c[i] > INT_MAX / 8) return 0;
    if (c[2] > 1000 || (c[1] > 0 && c[2] == 0)) return 0; /* elements of nothing cost no bytes */
    ints = (uint64_t)c[1] * c[2] + 3 * (uint64_t)c[3] + 2 * (uint64_t)c[4] + c[5] + c[0];
    doubles = (uint64_t)c[0] + 2 * (uint64_t)dim * c[6];
    return TOPO_HEAD + 4 * ints + 8 * doubles;
}

static int read_topo(frames_reader *r)
{
    frames__file *s = r->file;
    uint32_t c[7];
    frames_topo t;
    int i;
    if (s->length < TOPO_HEAD) return fail(r, "topology too short");
    for (i = 0; i < 7; ++i) c[i] = get32(s->buf + 4 * i);
    if (topo_size(c, r->dim) != s->length) return fail(r, "topology of the wrong size");
    memset(&t, 0, sizeof t);
    t.nodes = (int)c[0]; t.elems = (int)c[1]; t.elem_nodes = (int)c[2]; t.tris = (int)c[3];
    t.edges = (int)c[4]; t.points = (int)c[5]; t.planes = (int)c[6];
    if (!topo_arrays(r, &t, s->buf + TOPO_HEAD)) {
        topo_free(&t);
        return 0;
    }
    topo_free(&r->topo);
    free(r->x);
    r->topo = t;
    r->x = (double *)array((size_t)r->dim * (size_t)t.nodes, sizeof(double));
    if (!r->x) return fail(r, "out of memory for the positions");
    s->has_topo = r->topo_changed = 1;
    return 1;
}

static int read_names(frames_reader *r)
{
    const unsigned char *p = r->file->buf, *end = p + r->file->length, *z;
    int i;
    if (r->name) return 1; /* the first holds */
    r->name = (char **)calloc((size_t)r->bodies + 1, sizeof *r->name);
    if (!r->name) return fail(r, "out of memory for the names");
    for (i = 0; i < r->bodies; ++i) {
        z = p < end ? (const unsigned char *)memchr(p, 0, (size_t)(end - p)) : NULL;
        if (!z) return fail(r, "names of bodies cut short");
        r->name[i] = (char *)malloc((size_t)(z - p) + 1);
        if (!r->name[i]) return fail(r, "out of memory for the names");
        memcpy(r->name[i], p, (size_t)(z - p) + 1);
        p = z + 1;
    }
    return 1;
}

static int read_fixed(frames_reader *r)
{
    if (r->file->length != (size_t)r->bodies) return fail(r, "list of fixed bodies of wrong size");
    if (!r->fixed) r->fixed = (unsigned char *)array((size_t)r->bodies, 1);
    if (!r->fixed) return fail(r, "out of memory for the bodies");
    memcpy(r->fixed, r->file->buf, (size_t)r->bodies);
    return 1;
}

static int read_frame(frames_reader *r)
{
    frames__file *s = r->file;
    size_t n;
    uint64_t step;
    if (!s->has_topo) return fail(r, "frame without topology");
    n = (size_t)r->dim * (size_t)r->topo.nodes;
    if (s->length != FRAM_HEAD + 8 * n) return fail(r, "frame of the wrong size");
    step = get64(s->buf);
    if (step > LLONG_MAX) return fail(r, "frame with an impossible step");
    r->step = (long long)step;
    get_doubles(s->buf + 8, &r->time, 1);
    get_doubles(s->buf + FRAM_HEAD, r->x, n);
    return 1;
}

int frames_next(frames_reader *r)
{
    frames__file *s = r->file;
    r->topo_changed = 0;
    if (r->damaged || !s) return 0;
    while (read_chunk(r)) {
        int frame = !memcmp(s->tag, "FRAM", 4), ok = 1;
        if (frame) ok = read_frame(r);
        else if (!memcmp(s->tag, "TOPO", 4)) ok = read_topo(r);
        else if (!memcmp(s->tag, "NAME", 4)) ok = read_names(r);
        else if (!memcmp(s->tag, "STAT", 4)) ok = read_fixed(r);
        else if (!memcmp(s->tag, "GAPF", 4)) ok = fail(r, "second file head");
        if (!ok) return 0;
        chunk_done(r);
        if (!s->has_topo) s->start = r->end;
        if (frame) return 1;
    }
    return 0;
}

static int read_file_head(frames_reader *r)
{
    frames__file *s = r->file;
    if (!read_chunk(r)) {
        if (!r->damaged) fail(r, "empty file");
        return 0;
    }
    if (memcmp(s->tag, "GAPF", 4) || s->length < 16) return fail(r, "not a frame file");
    if (get32(s->buf) != 1) return fail(r, "unknown version of the format");
    if (get32(s->buf + 4) != 2 && get32(s->buf + 4) != 3) return fail(r, "dimension not 2 or 3");
    if (get32(s->buf + 8) > INT_MAX / 8) return fail(r, "too many bodies");
    r->dim = (int)get32(s->buf + 4);
    r->bodies = (int)get32(s->buf + 8);
    chunk_done(r);
    s->start = r->end;
    return 1;
}

int frames_open_stream(frames_reader *r, FILE *f)
{
    frames__file *s = (frames__file *)calloc(1, sizeof *s);
    memset(r, 0, sizeof *r);
    r->file = s;
    if (!s) {
        snprintf(r->error, sizeof r->error, "out of memory");
        if (f) fclose(f);
        return 0;
    }
    crc_table(s->table);
    s->f = f;
    if (!f || fseeko(f, 0, SEEK_END) || (s->size = (long long)ftello(f)) < 0 ||
        fseeko(f, 0, SEEK_SET)) {
        snprintf(r->error, sizeof r->error, "cannot be read");
        return 0;
    }
    return read_file_head(r);
}

int frames_open(frames_reader *r, const char *path)
{
    return frames_open_stream(r, fopen(path, "rb"));
}

void frames_close(frames_reader *r)
{
    int i;
    if (r->file) {
        if (r->file->f) fclose(r->file->f);
        free(r->file->buf);
        free(r->file);
    }
    if (r->name)
        for (i = 0; i < r->bodies; ++i) free(r->name[i]);
    free(r->name);
    free(r->fixed);
    free(r->x);
    topo_free(&r->topo);
    memset(r, 0, sizeof *r);
}

/* ---- writing ---- */
struct frames_writer {
    FILE *f;
    int dim, bodies, nodes;
    unsigned char *buf; /* a whole chunk */
    size_t capacity;
    uint32_t table[8][256];
};

/* room for a chunk with this payload; returns where the payload starts */
static unsigned char *chunk_begin(frames_writer *w, size_t size)
{
    size_t need = HEAD + ((size + 7) & ~(size_t)7);
    if (need > w->capacity) {
        unsigned char *p = (unsigned char *)realloc(w->buf, need);
        if (!p) return NULL;
        w->buf = p;
        w->capacity = need;
    }
    memset(w->buf + need - 8, 0, 8);
    return w->buf + HEAD;
}

static int chunk_end(frames_writer *w, const char *tag, size_t size)
{
    size_t need = HEAD + ((size + 7) & ~(size_t)7);
    memcpy(w->buf, tag, 4);
    put64(w->buf + 8, size);
    put32(w->buf + 4, crc_chunk(w->table, w->buf, w->buf + HEAD, size));
    return fwrite(w->buf, 1, need, w->f) == need && fflush(w->f) == 0;
}

static frames_writer *writer_new(FILE *f, int dim, int bodies)
{
    frames_writer *w = (frames_writer *)calloc(1, sizeof *w);
    if (!w) return NULL;
    crc_table(w->table);
    w->f = f;
    w->dim = dim;
    w->bodies = bodies;
    w->nodes = -1; /* no topology yet */
    return w;
}

static int write_names(frames_writer *w, const char *const *names)
{
    size_t size = 0;
    unsigned char *p;
    int i;
    for (i = 0; i < w->bodies; ++i) size += strlen(names[i]) + 1;
    p = chunk_begin(w, size);
    if (!p) return 0;
    for (i = 0; i < w->bodies; ++i) {
        memcpy(p, names[i], strlen(names[i]) + 1);
        p += strlen(names[i]) + 1;
    }
    return chunk_end(w, "NAME", size);
}

frames_writer *frames_create(const char *path, int dim, int bodies, const char *const *names)
{
    FILE *f = fopen(path, "wb");
    frames_writer *w = f ? writer_new(f, dim, bodies) : NULL;
    unsigned char *p = w ? chunk_begin(w, 16) : NULL;
    int ok = 0;
    if (p) {
        put32(put32(put32(put32(p, 1), (uint32_t)dim), (uint32_t)bodies), 0);
        ok = chunk_end(w, "GAPF", 16) && (!names || write_names(w, names));
    }
    if (ok) return w;
    if (w) frames_finish(w);
    else if (f) fclose(f);
    return NULL;
}

frames_writer *frames_resume(const char *path, long long last_step, long long *kept)
{
    frames_reader r;
    frames_writer *w = NULL;
    FILE *f = NULL;
    long long end = 0, count = 0;
    int dim, bodies, nodes = -1;
    if (frames_open(&r, path)) {
        while (frames_next(&r) && r.step <= last_step) {
            end = r.end;
            nodes = r.topo.nodes;
            ++count;
        }
        if (count == 0) end = r.file->start;
    }
    dim = r.dim;
    bodies = r.bodies;
    frames_close(&r);
    if (end > 0 && truncate(path, (off_t)end) == 0) f = fopen(path, "ab");
    if (f) w = writer_new(f, dim, bodies);
    if (f && !w) fclose(f);
    if (w) w->nodes = nodes;
    if (kept) *kept = w ? count : 0;
    return w;
}

int frames_write_fixed(frames_writer *w, const unsigned char *fixed)
{
    unsigned char *p = chunk_begin(w, (size_t)w->bodies);
    if (!p) return 0;
    memcpy(p, fixed, (size_t)w->bodies);
    return chunk_end(w, "STAT", (size_t)w->bodies);
}

int frames_write_topo(frames_writer *w, const frames_topo *t)
{
    size_t n = (size_t)t->nodes, size;
    uint32_t c[7];
    unsigned char *p;
    int i;
    c[0] = (uint32_t)t->nodes; c[1] = (uint32_t)t->elems; c[2] = (uint32_t)t->elem_nodes;
    c[3] = (uint32_t)t->tris; c[4] = (uint32_t)t->edges; c[5] = (uint32_t)t->points;
    c[6] = (uint32_t)t->planes;
    size = (size_t)topo_size(c, w->dim);
    p = size ? chunk_begin(w, size) : NULL;
    if (!p) return 0;
    for (i = 0; i < 7; ++i) p = put32(p, c[i]);
    p = put32(p, 0);
    p = put_ints(p, t->elem, (size_t)t->elems * (size_t)t->elem_nodes);
    p = put_ints(p, t->tri, 3 * (size_t)t->tris);
    p = put_ints(p, t->edge, 2 * (size_t)t->edges);
    p = put_ints(p, t->point, (size_t)t->points);
    p = put_ints(p, t->body, n);
    p = put_doubles(p, t->radius, n);
    put_doubles(p, t->plane, 2 * (size_t)w->dim * (size_t)t->planes);
    w->nodes = t->nodes;
    return chunk_end(w, "TOPO", size);
}

int frames_write(frames_writer *w, long long step, double time, const double *x)
{
    size_t n, size;
    unsigned char *p;
    if (w->nodes < 0) return 0;
    n = (size_t)w->dim * (size_t)w->nodes;
    size = FRAM_HEAD + 8 * n;
    p = chunk_begin(w, size);
    if (!p) return 0;
    p = put64(p, (uint64_t)step);
    p = put_doubles(p, &time, 1);
    put_doubles(p, x, n);
    return chunk_end(w, "FRAM", size);
}

int frames_finish(frames_writer *w)
{
    int ok = 1;
    if (!w) return 1;
    ok = fclose(w->f) == 0;
    free(w->buf);
    free(w);
    return ok;
}
