/* mesh_read.c - see mesh.h: the readers. A file is read whole, then parsed from memory. */
#include "mesh.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *begin, *p, *end; /* *end is readable and NUL */
    int line;
    int swap; /* binary numbers have the other byte order */
    mesh *m;
    mesh_error *error;
} reader;

static int fail(reader *r, const char *format, ...)
{
    va_list args;
    r->error->line = r->line;
    va_start(args, format);
    vsnprintf(r->error->text, sizeof r->error->text, format, args);
    va_end(args);
    return 0;
}

static int no_memory(reader *r)
{
    return fail(r, "out of memory");
}

static size_t left(const reader *r)
{
    return (size_t)(r->end - r->p);
}

/* ---------------------------------------------------------------- text */
static int blank(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void skip_blank(reader *r)
{
    while (r->p < r->end) {
        if (blank((unsigned char)*r->p)) ++r->p;
        else if (*r->p == '\\' && r->p + 1 < r->end && (r->p[1] == '\n' || r->p[1] == '\r')) {
            r->p += r->p[1] == '\r' && r->p + 2 < r->end && r->p[2] == '\n' ? 3 : 2;
            ++r->line;
        } else break;
    }
}

static void skip_space(reader *r)
{
    for (; r->p < r->end && (blank((unsigned char)*r->p) || *r->p == '\n'); ++r->p) {
        if (*r->p == '\n') ++r->line;
    }
}

static void next_line(reader *r)
{
    const char *n = memchr(r->p, '\n', left(r));
    r->p = n ? n + 1 : r->end;
    if (n) ++r->line;
}

static int at_line_end(reader *r)
{
    skip_blank(r);
    return r->p >= r->end || *r->p == '\n';
}

/* Is the next word this one? Then it is taken. */
static int word(reader *r, const char *w)
{
    size_t n = strlen(w);
    if (left(r) < n || memcmp(r->p, w, n) != 0) return 0;
    if (r->p + n < r->end && !isspace((unsigned char)r->p[n])) return 0;
    r->p += n;
    return 1;
}

static int length_of_word(const reader *r)
{
    const char *q = r->p;
    while (q < r->end && q - r->p < 40 && !isspace((unsigned char)*q)) ++q;
    return (int)(q - r->p);
}

/* A finite decimal number on this line or (any = 1) on a later one. */
static int number(reader *r, double *out, int any)
{
    char *end;
    int c;
    if (any) skip_space(r);
    else skip_blank(r);
    c = r->p < r->end ? (unsigned char)*r->p : 0;
    if (!isdigit(c) && c != '-' && c != '+' && c != '.') {
        if (c == 0 || c == '\n') return fail(r, "a number is missing");
        return fail(r, "not a number: %.*s", length_of_word(r), r->p);
    }
    *out = strtod(r->p, &end);
    if (end == r->p || (*end && !isspace((unsigned char)*end))) {
        return fail(r, "not a number: %.*s", length_of_word(r), r->p);
    }
    if (!(fabs(*out) < HUGE_VAL)) {
        return fail(r, "not a finite number: %.*s", length_of_word(r), r->p);
    }
    r->p = end;
    return 1;
}

static int integer(reader *r, long long *out, int any)
{
    char *end;
    int c;
    if (any) skip_space(r);
    else skip_blank(r);
    c = r->p < r->end ? (unsigned char)*r->p : 0;
    if (!isdigit(c) && c != '-' && c != '+') {
        if (c == 0 || c == '\n') return fail(r, "an integer is missing");
        return fail(r, "not an integer: %.*s", length_of_word(r), r->p);
    }
    errno = 0;
    *out = strtoll(r->p, &end, 10);
    if (end == r->p || errno) return fail(r, "not an integer: %.*s", length_of_word(r), r->p);
    r->p = end;
    return 1;
}

/* A count of items that take at least `bytes` bytes each in the rest of the file. */
static int count_fits(reader *r, long long n, size_t bytes, const char *what)
{
    if (n < 0) return fail(r, "negative number of %s", what);
    if (n > INT_MAX / 64 || (unsigned long long)n > left(r) / bytes) {
        return fail(r, "%lld %s do not fit in the rest of the file", n, what);
    }
    return 1;
}

/* ---------------------------------------------------------------- binary */
static int raw(reader *r, void *out, size_t size)
{
    unsigned char *b = out;
    size_t i;
    if (left(r) < size) return fail(r, "file ends too early (byte %zu)", (size_t)(r->p - r->begin));
    memcpy(out, r->p, size);
    r->p += size;
    if (r->swap) {
        for (i = 0; i < size / 2; ++i) {
            unsigned char t = b[i];
            b[i] = b[size - 1 - i];
            b[size - 1 - i] = t;
        }
    }
    return 1;
}

static int raw_int(reader *r, int *out)
{
    int32_t v;
    if (!raw(r, &v, 4)) return 0;
    *out = v;
    return 1;
}

static int raw_size(reader *r, long long *out)
{
    uint64_t v;
    if (!raw(r, &v, 8)) return 0;
    if (v > (uint64_t)INT64_MAX) return fail(r, "count too large");
    *out = (long long)v;
    return 1;
}

static int raw_double(reader *r, double *out)
{
    if (!raw(r, out, 8)) return 0;
    if (!(fabs(*out) < HUGE_VAL)) {
        return fail(r, "coordinate is not finite (byte %zu)", (size_t)(r->p - r->begin) - 8);
    }
    return 1;
}

/* ---------------------------------------------------------------- nodes by number */
typedef struct id_map {
    long long (*pair)[2]; /* id, node; sorted by id */
    int count;
} id_map;

static int by_id(const void *a, const void *b)
{
    const long long *p = a, *q = b;
    return p[0] < q[0] ? -1 : p[0] > q[0];
}

/* Nodes in the order of their numbers, whatever the order of the file's blocks, so that one mesh is
   the same mesh in every version of the format. */
static int id_sort(reader *r, id_map *map)
{
    int i, sorted = 1;
    double *x;
    for (i = 1; i < map->count && sorted; ++i) sorted = map->pair[i][0] > map->pair[i - 1][0];
    if (!sorted) {
        qsort(map->pair, (size_t)map->count, sizeof *map->pair, by_id);
        x = malloc(3 * (size_t)map->count * sizeof *x);
        if (!x) return no_memory(r);
        for (i = 0; i < map->count; ++i) {
            memcpy(x + 3 * (size_t)i, r->m->x + 3 * map->pair[i][1], 3 * sizeof *x);
            map->pair[i][1] = i;
        }
        memcpy(r->m->x, x, 3 * (size_t)map->count * sizeof *x);
        free(x);
    }
    for (i = 1; i < map->count; ++i) {
        if (map->pair[i][0] == map->pair[i - 1][0]) {
            return fail(r, "node %lld given twice", map->pair[i][0]);
        }
    }
    return 1;
}

static int id_find(reader *r, const id_map *map, long long id, long long element, int *node)
{
    int lo = 0, hi = map->count - 1;
    if (id >= 1 && id <= map->count && map->pair[id - 1][0] == id) lo = hi = (int)id - 1;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (map->pair[mid][0] < id) lo = mid + 1;
        else hi = mid;
    }
    if (map->count == 0 || map->pair[lo][0] != id) {
        return fail(r, "element %lld: no node %lld", element, id);
    }
    *node = (int)map->pair[lo][1];
    return 1;
}

/* ---------------------------------------------------------------- .msh */
typedef struct msh {
    id_map id;
    int binary, major;
    int top;             /* highest dimension seen among the elements */
    long long (*phys)[3]; /* dimension, entity, physical tag */
    int phys_count, phys_room;
} msh;

/* Dimension, order and nodes of an element type that we read; 0 otherwise. */
static int msh_type(long long type, int *dim, int *order, int *nodes)
{
    static const int known[][4] = {{15, 0, 1, 1}, {1, 1, 1, 2}, {8, 1, 2, 3}, {26, 1, 3, 4},
        {27, 1, 4, 5}, {2, 2, 1, 3}, {9, 2, 2, 6}, {21, 2, 3, 10}, {23, 2, 4, 15}, {4, 3, 1, 4},
        {11, 3, 2, 10}, {29, 3, 3, 20}, {30, 3, 4, 35}};
    size_t i;
    for (i = 0; i < sizeof known / sizeof *known; ++i) {
        if (known[i][0] == type) {
            *dim = known[i][1];
            *order = known[i][2];
            *nodes = known[i][3];
            return 1;
        }
    }
    return 0;
}

static int msh_node(reader *r, msh *s, long long id, const double x[3])
{
    int k = mesh_add_nodes(r->m, 1);
    if (k < 0) return no_memory(r);
    memcpy(r->m->x + 3 * (size_t)k, x, 3 * sizeof *x);
    s->id.pair[k][0] = id;
    s->id.pair[k][1] = k;
    s->id.count = k + 1;
    return 1;
}

static int msh_reserve_ids(reader *r, msh *s, long long n)
{
    if (s->id.pair) return fail(r, "two $Nodes sections");
    s->id.pair = malloc(((size_t)n + 1) * sizeof *s->id.pair);
    return s->id.pair ? 1 : no_memory(r);
}

/* An element of the highest dimension so far; lower ones (the boundary) are left out. */
static int msh_element(reader *r, msh *s, long long number_, long long type, int tag,
    const long long *node)
{
    int dim = 0, order = 1, nodes = 1, i, k, *to;
    mesh *m = r->m;
    msh_type(type, &dim, &order, &nodes);
    if (dim < s->top) return 1;
    if (dim > s->top) {
        free(m->tet); free(m->tri); free(m->edge); free(m->point);
        free(m->tet_tag); free(m->tri_tag);
        m->tet = m->tri = m->edge = m->point = m->tet_tag = m->tri_tag = NULL;
        m->tets = m->tris = m->edges = m->points = 0;
        m->order = 0;
        s->top = dim;
    }
    if (dim == 1 && order > 1) nodes = 2; /* curved lines: their end points */
    if (dim >= 2 && m->order && m->order != order) {
        return fail(r, "element %lld: order %d among elements of order %d", number_, order,
            m->order);
    }
    if (dim >= 2) m->order = order;
    k = dim == 3 ? mesh_add_tets(m, 1) : dim == 2 ? mesh_add_tris(m, 1)
        : dim == 1 ? mesh_add_edges(m, 1) : mesh_add_points(m, 1);
    if (k < 0) return no_memory(r);
    to = dim == 3 ? m->tet : dim == 2 ? m->tri : dim == 1 ? m->edge : m->point;
    to += (size_t)k * (size_t)nodes;
    for (i = 0; i < nodes; ++i) {
        if (!id_find(r, &s->id, node[i], number_, &to[i])) return 0;
    }
    if (dim == 3) m->tet_tag[k] = tag;
    if (dim == 2) m->tri_tag[k] = tag;
    return 1;
}

static int msh_bad_type(reader *r, long long element, long long type)
{
    return fail(r, "element %lld has type %lld; points, lines, triangles and tetrahedra of order 1"
        " to 4 are read", element, type);
}

static int msh2_nodes(reader *r, msh *s)
{
    long long n, i, id = 0;
    double x[3];
    int k, id32;
    if (!integer(r, &n, 1) || !count_fits(r, n, s->binary ? 28 : 8, "nodes")) return 0;
    if (!msh_reserve_ids(r, s, n)) return 0;
    if (s->binary) next_line(r);
    for (i = 0; i < n; ++i) {
        if (s->binary) {
            if (!raw_int(r, &id32)) return 0;
            id = id32;
            for (k = 0; k < 3; ++k) if (!raw_double(r, &x[k])) return 0;
        } else {
            if (!integer(r, &id, 1)) return 0;
            for (k = 0; k < 3; ++k) if (!number(r, &x[k], 0)) return 0;
        }
        if (!msh_node(r, s, id, x)) return 0;
    }
    return id_sort(r, &s->id);
}

static int msh2_elements_text(reader *r, msh *s, long long n)
{
    long long i, number_, type, tags, tag, first, node[35];
    int dim, order, nodes, k;
    for (i = 0; i < n; ++i) {
        if (!integer(r, &number_, 1) || !integer(r, &type, 0) || !integer(r, &tags, 0)) return 0;
        if (!msh_type(type, &dim, &order, &nodes)) return msh_bad_type(r, number_, type);
        for (first = 0, k = 0; k < tags; ++k) {
            if (!integer(r, &tag, 0)) return 0;
            if (k == 0) first = tag;
        }
        for (k = 0; k < nodes; ++k) if (!integer(r, &node[k], 0)) return 0;
        if (!msh_element(r, s, number_, type, (int)first, node)) return 0;
    }
    return 1;
}

static int msh2_elements_binary(reader *r, msh *s, long long n)
{
    long long i = 0, node[35];
    int type, follow, tags, dim, order, nodes, k, j, number_, tag, first, v;
    while (i < n) {
        if (!raw_int(r, &type) || !raw_int(r, &follow) || !raw_int(r, &tags)) return 0;
        if (!msh_type(type, &dim, &order, &nodes)) return msh_bad_type(r, i + 1, type);
        if (follow < 1 || follow > n - i || tags < 0) return fail(r, "bad element header");
        for (j = 0; j < follow; ++j, ++i) {
            if (!raw_int(r, &number_)) return 0;
            for (first = 0, k = 0; k < tags; ++k) {
                if (!raw_int(r, &tag)) return 0;
                if (k == 0) first = tag;
            }
            for (k = 0; k < nodes; ++k) {
                if (!raw_int(r, &v)) return 0;
                node[k] = v;
            }
            if (!msh_element(r, s, number_, type, first, node)) return 0;
        }
    }
    return 1;
}

static int msh2_elements(reader *r, msh *s)
{
    long long n;
    if (!integer(r, &n, 1) || !count_fits(r, n, 8, "elements")) return 0;
    if (s->binary) {
        next_line(r);
        return msh2_elements_binary(r, s, n);
    }
    return msh2_elements_text(r, s, n);
}

/* The numbers of version 4.1, in text or binary. */
static int m4_size(reader *r, const msh *s, long long *out)
{
    if (s->binary) return raw_size(r, out);
    if (!integer(r, out, 1)) return 0;
    return *out >= 0 ? 1 : fail(r, "negative count");
}

static int m4_int(reader *r, const msh *s, long long *out)
{
    int v;
    if (!s->binary) return integer(r, out, 1);
    if (!raw_int(r, &v)) return 0;
    *out = v;
    return 1;
}

static int m4_double(reader *r, const msh *s, double *out)
{
    return s->binary ? raw_double(r, out) : number(r, out, 1);
}

static int msh4_nodes(reader *r, msh *s)
{
    long long blocks, n, low, high, b, i, dim, tag, parametric, count, done = 0;
    double x[3], skip;
    int k;
    if (!m4_size(r, s, &blocks) || !m4_size(r, s, &n) || !m4_size(r, s, &low) ||
        !m4_size(r, s, &high) || !count_fits(r, n, s->binary ? 32 : 8, "nodes") ||
        !msh_reserve_ids(r, s, n)) {
        return 0;
    }
    for (b = 0; b < blocks; ++b) {
        if (!m4_int(r, s, &dim) || !m4_int(r, s, &tag) || !m4_int(r, s, &parametric) ||
            !m4_size(r, s, &count)) {
            return 0;
        }
        if (count > n - done) return fail(r, "more nodes in the blocks than announced");
        if (dim < 0 || dim > 3) return fail(r, "entity of dimension %lld", dim);
        for (i = 0; i < count; ++i) {
            if (!m4_size(r, s, &s->id.pair[done + i][0])) return 0;
        }
        for (i = 0; i < count; ++i) {
            for (k = 0; k < 3; ++k) if (!m4_double(r, s, &x[k])) return 0;
            for (k = 0; parametric && k < dim; ++k) if (!m4_double(r, s, &skip)) return 0;
            if (!msh_node(r, s, s->id.pair[done + i][0], x)) return 0;
        }
        done += count;
    }
    if (done < n) return fail(r, "%lld nodes announced, %lld found", n, done);
    return id_sort(r, &s->id);
}

static int msh4_physical(const msh *s, long long dim, long long entity)
{
    int i;
    for (i = 0; i < s->phys_count; ++i) {
        if (s->phys[i][0] == dim && s->phys[i][1] == entity) return (int)s->phys[i][2];
    }
    return 0;
}

static int msh4_elements(reader *r, msh *s)
{
    long long blocks, n, low, high, b, i, dim_, entity, type, count, number_, node[35], done = 0;
    int dim, order, nodes, k, tag;
    if (!m4_size(r, s, &blocks) || !m4_size(r, s, &n) || !m4_size(r, s, &low) ||
        !m4_size(r, s, &high) || !count_fits(r, n, s->binary ? 16 : 4, "elements")) {
        return 0;
    }
    for (b = 0; b < blocks; ++b) {
        if (!m4_int(r, s, &dim_) || !m4_int(r, s, &entity) || !m4_int(r, s, &type) ||
            !m4_size(r, s, &count)) {
            return 0;
        }
        if (!msh_type(type, &dim, &order, &nodes)) return msh_bad_type(r, done + 1, type);
        if (count > n - done) return fail(r, "more elements in the blocks than announced");
        tag = msh4_physical(s, dim_, entity);
        for (i = 0; i < count; ++i) {
            if (!m4_size(r, s, &number_)) return 0;
            for (k = 0; k < nodes; ++k) if (!m4_size(r, s, &node[k])) return 0;
            if (!msh_element(r, s, number_, type, tag, node)) return 0;
        }
        done += count;
    }
    return done < n ? fail(r, "%lld elements announced, %lld found", n, done) : 1;
}

/* Physical tags of entities; the first one counts. */
static int msh4_entities(reader *r, msh *s)
{
    long long counts[4], i, tag, n, p, j;
    double x;
    int d, k;
    for (d = 0; d < 4; ++d) {
        if (!m4_size(r, s, &counts[d]) || !count_fits(r, counts[d], 8, "entities")) return 0;
    }
    for (d = 0; d < 4; ++d) {
        for (i = 0; i < counts[d]; ++i) {
            if (!m4_int(r, s, &tag)) return 0;
            for (k = 0; k < (d == 0 ? 3 : 6); ++k) if (!m4_double(r, s, &x)) return 0;
            if (!m4_size(r, s, &n) || !count_fits(r, n, s->binary ? 4 : 2, "tags")) return 0;
            for (j = 0; j < n; ++j) {
                if (!m4_int(r, s, &p)) return 0;
                if (j > 0) continue;
                if (s->phys_count == s->phys_room) {
                    int room = s->phys_room ? 2 * s->phys_room : 64;
                    void *more = realloc(s->phys, (size_t)room * sizeof *s->phys);
                    if (!more) return no_memory(r);
                    s->phys = more;
                    s->phys_room = room;
                }
                s->phys[s->phys_count][0] = d;
                s->phys[s->phys_count][1] = tag;
                s->phys[s->phys_count++][2] = p;
            }
            if (d == 0) continue;
            if (!m4_size(r, s, &n) || !count_fits(r, n, s->binary ? 4 : 2, "boundaries")) return 0;
            for (j = 0; j < n; ++j) if (!m4_int(r, s, &p)) return 0;
        }
    }
    return 1;
}

static int msh_format(reader *r, msh *s)
{
    double version;
    long long binary, size;
    int one;
    if (!number(r, &version, 1) || !integer(r, &binary, 0) || !integer(r, &size, 0)) return 0;
    if (version != 2.2 && version != 4.1) {
        return fail(r, "version %g; 2.2 and 4.1 are read (gmsh -format msh41)", version);
    }
    if (size != 8) return fail(r, "data size %lld; 8 is read", size);
    s->major = (int)version;
    s->binary = binary != 0;
    if (s->binary) {
        next_line(r);
        if (!raw_int(r, &one)) return 0;
        r->swap = one == 0x01000000;
        if (one != 1 && !r->swap) return fail(r, "byte order mark is %d", one);
    }
    return 1;
}

static int msh_section(reader *r, msh *s, const char *name, int n)
{
#define IS(text) (n == (int)sizeof text - 1 && memcmp(name, text, sizeof text - 1) == 0)
    if (!IS("MeshFormat") && !s->major) return fail(r, "$MeshFormat must come first");
    if (IS("MeshFormat")) return s->major ? fail(r, "two $MeshFormat sections") : msh_format(r, s);
    if (s->binary && !IS("PhysicalNames")) { /* binary sections begin behind the line break */
        if (s->major == 4) next_line(r);
    }
    if (IS("Nodes")) return s->major == 2 ? msh2_nodes(r, s) : msh4_nodes(r, s);
    if (IS("Elements")) {
        if (!s->id.pair) return fail(r, "$Elements before $Nodes");
        return s->major == 2 ? msh2_elements(r, s) : msh4_elements(r, s);
    }
    if (IS("Entities") && s->major == 4) return msh4_entities(r, s);
    return 2; /* unknown: skip */
#undef IS
}

/* To behind the line `$EndNAME`. */
static int msh_end(reader *r, const char *name, int n)
{
    const char *q;
    for (q = r->p; q < r->end; ++q) {
        if (*q == '\n') ++r->line;
        if (*q != '$' || r->end - q < n + 4 || memcmp(q, "$End", 4) != 0) continue;
        if (memcmp(q + 4, name, (size_t)n) != 0) continue;
        r->p = q + 4 + n;
        return 1;
    }
    return fail(r, "no $End%.*s", n, name);
}

static int msh_all(reader *r, msh *s)
{
    int known, n;
    const char *name;
    for (;;) {
        skip_space(r);
        if (r->p >= r->end) break;
        if (*r->p != '$') return fail(r, "expected $..., found %.*s", length_of_word(r), r->p);
        name = ++r->p;
        n = length_of_word(r);
        r->p += n;
        known = msh_section(r, s, name, n);
        if (!known) return 0;
        if (known == 1 && !s->binary) {
            skip_space(r);
            if (left(r) < 4 || memcmp(r->p, "$End", 4) != 0) {
                return fail(r, "expected $End%.*s", n, name);
            }
        }
        if (!msh_end(r, name, n)) return 0;
    }
    if (!s->major) return fail(r, "no $MeshFormat: not a .msh file");
    if (!s->id.pair) return fail(r, "no $Nodes");
    if (s->top < 0) return fail(r, "no elements");
    return 1;
}

static int read_msh(reader *r)
{
    msh s;
    int ok;
    memset(&s, 0, sizeof s);
    s.top = -1;
    ok = msh_all(r, &s);
    free(s.id.pair);
    free(s.phys);
    return ok;
}

/* ---------------------------------------------------------------- .obj */
static int obj_index(reader *r, int *out, int *got)
{
    long long i;
    *got = 0;
    if (at_line_end(r) || *r->p == '#') return 1;
    if (!integer(r, &i, 0)) return 0;
    while (r->p < r->end && !isspace((unsigned char)*r->p)) { /* texture and normal: /b/c */
        if (!strchr("/0123456789-", *r->p)) {
            return fail(r, "bad index %.*s", length_of_word(r), r->p);
        }
        ++r->p;
    }
    if (i < 0) i += r->m->nodes + 1;
    if (i < 1 || i > r->m->nodes) return fail(r, "no vertex %lld (%d so far)", i, r->m->nodes);
    *out = (int)i - 1;
    *got = 1;
    return 1;
}

static int add_tri(reader *r, int a, int b, int c)
{
    int k = mesh_add_tris(r->m, 1);
    if (k < 0) return no_memory(r);
    r->m->tri[3 * (size_t)k] = a;
    r->m->tri[3 * (size_t)k + 1] = b;
    r->m->tri[3 * (size_t)k + 2] = c;
    return 1;
}

static int add_edge(reader *r, int a, int b)
{
    int k = mesh_add_edges(r->m, 1);
    if (k < 0) return no_memory(r);
    r->m->edge[2 * (size_t)k] = a;
    r->m->edge[2 * (size_t)k + 1] = b;
    return 1;
}

static int add_point(reader *r, int a)
{
    int k = mesh_add_points(r->m, 1);
    if (k < 0) return no_memory(r);
    r->m->point[k] = a;
    return 1;
}

/* f, l, p: polygons become fans, polylines segments. */
static int obj_simplices(reader *r, char kind)
{
    int first = -1, last = -1, i, got, n = 0;
    for (;;) {
        if (!obj_index(r, &i, &got)) return 0;
        if (!got) break;
        if (kind == 'p' && !add_point(r, i)) return 0;
        if (kind == 'l' && n > 0 && !add_edge(r, last, i)) return 0;
        if (kind == 'f' && n > 1 && !add_tri(r, first, last, i)) return 0;
        if (n++ == 0) first = i;
        last = i;
    }
    if (n < (kind == 'f' ? 3 : kind == 'l' ? 2 : 1)) return fail(r, "too few vertices");
    return 1;
}

static int obj_vertex(reader *r)
{
    double x[3] = {0, 0, 0};
    int k;
    for (k = 0; k < 2; ++k) if (!number(r, &x[k], 0)) return 0;
    if (r->m->nodes == 0) r->m->plane = at_line_end(r); /* then all have two coordinates */
    if (!r->m->plane && !number(r, &x[2], 0)) return 0;
    k = mesh_add_nodes(r->m, 1);
    if (k < 0) return no_memory(r);
    memcpy(r->m->x + 3 * (size_t)k, x, sizeof x);
    return 1;
}

static int read_obj(reader *r)
{
    static const char *const ignored[] = {"vn", "vt", "vp", "g", "o", "s", "usemtl", "mtllib", "mg",
        "lod", "bevel", "c_interp", "d_interp"};
    size_t i;
    int ok;
    for (; r->p < r->end; next_line(r)) {
        if (at_line_end(r) || *r->p == '#') continue;
        if (word(r, "v")) ok = obj_vertex(r);
        else if (word(r, "f")) ok = obj_simplices(r, 'f');
        else if (word(r, "l")) ok = obj_simplices(r, 'l');
        else if (word(r, "p")) ok = obj_simplices(r, 'p');
        else {
            for (i = 0, ok = 0; i < sizeof ignored / sizeof *ignored && !ok; ++i) {
                ok = word(r, ignored[i]);
            }
            if (!ok) return fail(r, "unknown statement %.*s", length_of_word(r), r->p);
        }
        if (!ok) return 0;
    }
    if (r->m->nodes == 0) return fail(r, "no vertices");
    if (r->m->tris + r->m->edges + r->m->points == 0) { /* vertices alone are points */
        int k, n = r->m->nodes;
        for (k = 0; k < n; ++k) if (!add_point(r, k)) return 0;
    }
    return 1;
}

/* ---------------------------------------------------------------- .stl */
/* Corners with the same coordinates become one node (-0 and 0 are the same). */
typedef struct weld {
    int *slot;
    size_t size;
} weld;

static int weld_node(reader *r, weld *w, double x[3])
{
    uint64_t h = 1469598103934665603u;
    size_t k, i;
    int node;
    for (k = 0; k < 3; ++k) {
        uint64_t bits;
        x[k] += 0.0;
        memcpy(&bits, &x[k], 8);
        h = (h ^ bits) * 1099511628211u;
        h ^= h >> 29;
    }
    if ((size_t)r->m->nodes * 2 >= w->size) { /* grow and place again */
        size_t size = w->size ? 2 * w->size : 1024;
        int *slot = malloc(size * sizeof *slot);
        if (!slot) {
            no_memory(r);
            return -1;
        }
        for (i = 0; i < size; ++i) slot[i] = -1;
        free(w->slot);
        w->slot = slot;
        w->size = size;
        for (node = 0; node < r->m->nodes; ++node) {
            uint64_t g = 1469598103934665603u;
            for (k = 0; k < 3; ++k) {
                uint64_t bits;
                memcpy(&bits, &r->m->x[3 * (size_t)node + k], 8);
                g = (g ^ bits) * 1099511628211u;
                g ^= g >> 29;
            }
            for (i = g & (size - 1); slot[i] >= 0; i = (i + 1) & (size - 1)) {}
            slot[i] = node;
        }
    }
    for (i = h & (w->size - 1); w->slot[i] >= 0; i = (i + 1) & (w->size - 1)) {
        if (memcmp(r->m->x + 3 * (size_t)w->slot[i], x, 3 * sizeof *x) == 0) return w->slot[i];
    }
    node = mesh_add_nodes(r->m, 1);
    if (node < 0) {
        no_memory(r);
        return -1;
    }
    memcpy(r->m->x + 3 * (size_t)node, x, 3 * sizeof *x);
    w->slot[i] = node;
    return node;
}

static int stl_binary(reader *r, weld *w, uint32_t count)
{
    float f[12];
    uint16_t attribute;
    uint32_t t;
    int c, k, node[3];
    for (t = 0; t < count; ++t) {
        for (k = 0; k < 12; ++k) if (!raw(r, &f[k], 4)) return 0;
        if (!raw(r, &attribute, 2)) return 0;
        for (c = 0; c < 3; ++c) {
            double x[3];
            for (k = 0; k < 3; ++k) {
                x[k] = f[3 + 3 * c + k];
                if (!(fabs(x[k]) < HUGE_VAL)) {
                    return fail(r, "triangle %u is not finite", (unsigned)t);
                }
            }
            if ((node[c] = weld_node(r, w, x)) < 0) return 0;
        }
        if (!add_tri(r, node[0], node[1], node[2])) return 0;
    }
    return 1;
}

static int stl_text(reader *r, weld *w)
{
    double x[3];
    int n = 0, k, node[3];
    for (;;) {
        skip_space(r);
        if (r->p >= r->end) break;
        if (word(r, "vertex")) {
            for (k = 0; k < 3; ++k) if (!number(r, &x[k], 0)) return 0;
            if (n == 3) return fail(r, "more than three vertices in a facet");
            if ((node[n++] = weld_node(r, w, x)) < 0) return 0;
        } else if (word(r, "endfacet")) {
            if (n != 3) return fail(r, "a facet with %d vertices", n);
            if (!add_tri(r, node[0], node[1], node[2])) return 0;
            n = 0;
        } else if (word(r, "solid") || word(r, "facet") || word(r, "outer") || word(r, "endloop") ||
            word(r, "endsolid")) {
            next_line(r);
        } else return fail(r, "unknown word %.*s", length_of_word(r), r->p);
    }
    return n ? fail(r, "file ends inside a facet") : 1;
}

static int read_stl(reader *r)
{
    weld w = {NULL, 0};
    uint32_t count = 0;
    int ok;
    const unsigned char *b = (const unsigned char *)r->begin;
    if (left(r) >= 84) {
        count = (uint32_t)b[80] | (uint32_t)b[81] << 8 | (uint32_t)b[82] << 16 |
            (uint32_t)b[83] << 24;
    }
    if (left(r) >= 84 && (uint64_t)left(r) == 84 + 50 * (uint64_t)count) {
        r->p += 84;
        r->line = 0;
        ok = stl_binary(r, &w, count);
    } else if (left(r) >= 5 && memcmp(r->p, "solid", 5) == 0) {
        ok = stl_text(r, &w);
    } else {
        r->line = 0;
        ok = fail(r, "not an STL file: neither `solid` nor 84 + 50 n bytes");
    }
    free(w.slot);
    if (ok && r->m->tris == 0) return fail(r, "no triangles");
    return ok;
}

/* ---------------------------------------------------------------- .ply */
typedef struct ply_property {
    int type, list_type; /* index into ply_types; list_type -1: not a list */
    char name[32];
} ply_property;

typedef struct ply_element {
    char name[32];
    long long count;
    ply_property property[32];
    int properties;
} ply_element;

static const struct {
    const char *name;
    size_t size;
    char kind; /* i signed, u unsigned, f floating */
} ply_types[] = {{"char", 1, 'i'}, {"int8", 1, 'i'}, {"uchar", 1, 'u'}, {"uint8", 1, 'u'},
    {"short", 2, 'i'}, {"int16", 2, 'i'}, {"ushort", 2, 'u'}, {"uint16", 2, 'u'}, {"int", 4, 'i'},
    {"int32", 4, 'i'}, {"uint", 4, 'u'}, {"uint32", 4, 'u'}, {"float", 4, 'f'}, {"float32", 4, 'f'},
    {"double", 8, 'f'}, {"float64", 8, 'f'}};

static int ply_type(reader *r, int *out)
{
    size_t i;
    skip_blank(r);
    for (i = 0; i < sizeof ply_types / sizeof *ply_types; ++i) {
        if (word(r, ply_types[i].name)) {
            *out = (int)i;
            return 1;
        }
    }
    return fail(r, "unknown type %.*s", length_of_word(r), r->p);
}

static int ply_name(reader *r, char out[32])
{
    int n;
    skip_blank(r);
    n = length_of_word(r);
    if (n < 1 || n > 31) return fail(r, "name missing or too long");
    memcpy(out, r->p, (size_t)n);
    out[n] = '\0';
    r->p += n;
    return 1;
}

static int ply_value(reader *r, int binary, int type, double *out)
{
    unsigned char b[8];
    size_t size = ply_types[type].size;
    char kind = ply_types[type].kind;
    if (!binary) return number(r, out, 1);
    if (!raw(r, b, size)) return 0;
    if (kind == 'f') {
        float f;
        if (size == 4) {
            memcpy(&f, b, 4);
            *out = (double)f;
        } else memcpy(out, b, 8);
    } else {
        uint32_t u = 0;
        size_t k;
        for (k = 0; k < size; ++k) u |= (uint32_t)b[k] << (8 * k); /* little end first by now */
        if (kind == 'u') *out = u;
        else if (size == 1) *out = (int8_t)u;
        else if (size == 2) *out = (int16_t)u;
        else *out = (int32_t)u;
    }
    return 1;
}

static int ply_header(reader *r, ply_element element[8], int *elements, int *binary)
{
    ply_element *e = NULL;
    *elements = 0;
    *binary = -1;
    next_line(r);
    for (;; next_line(r)) {
        if (r->p >= r->end) return fail(r, "no end_header");
        if (at_line_end(r) || word(r, "comment") || word(r, "obj_info")) continue;
        if (word(r, "end_header")) break;
        if (word(r, "format")) {
            skip_blank(r);
            if (word(r, "ascii")) *binary = 0;
            else if (word(r, "binary_little_endian")) *binary = 1;
            else if (word(r, "binary_big_endian")) *binary = 2;
            else return fail(r, "unknown format");
        } else if (word(r, "element")) {
            if (*elements == 8) return fail(r, "more than 8 kinds of element");
            e = &element[(*elements)++];
            memset(e, 0, sizeof *e);
            if (!ply_name(r, e->name) || !integer(r, &e->count, 0)) return 0;
            if (!count_fits(r, e->count, 1, e->name)) return 0;
        } else if (word(r, "property")) {
            ply_property *p;
            if (!e || e->properties == 32) return fail(r, "property without element, or over 32");
            p = &e->property[e->properties++];
            p->list_type = -1;
            skip_blank(r);
            if (word(r, "list") && !ply_type(r, &p->list_type)) return 0;
            if (!ply_type(r, &p->type) || !ply_name(r, p->name)) return 0;
        } else return fail(r, "unknown word %.*s", length_of_word(r), r->p);
    }
    next_line(r);
    return *binary >= 0 ? 1 : fail(r, "no format");
}

static int ply_node(reader *r, double v, int *node)
{
    if (!(v >= 0 && v < r->m->nodes) || v != floor(v)) return fail(r, "no vertex %g", v);
    *node = (int)v;
    return 1;
}

/* One list property: a face if it is named so, else skipped. */
static int ply_list(reader *r, int binary, const ply_property *p, int face)
{
    double v, n;
    int first = 0, last = 0, node = 0, i;
    if (!ply_value(r, binary, p->list_type, &n)) return 0;
    if (!(n >= 0 && n <= 1e6) || n != floor(n)) return fail(r, "bad length of a list");
    if (face && n < 3) return fail(r, "a face with %g vertices", n);
    for (i = 0; i < (int)n; ++i) {
        if (!ply_value(r, binary, p->type, &v)) return 0;
        if (!face) continue;
        if (!ply_node(r, v, &node)) return 0;
        if (i > 1 && !add_tri(r, first, last, node)) return 0;
        if (i == 0) first = node;
        last = node;
    }
    return 1;
}

static int ply_item(reader *r, int binary, const ply_element *e)
{
    int vertex = strcmp(e->name, "vertex") == 0, face = strcmp(e->name, "face") == 0;
    int edge = strcmp(e->name, "edge") == 0, k, node, ends[2] = {-1, -1};
    double x[3] = {0, 0, 0}, v;
    for (k = 0; k < e->properties; ++k) {
        const ply_property *p = &e->property[k];
        if (p->list_type >= 0) {
            int named = strncmp(p->name, "vertex_ind", 10) == 0; /* vertex_index, vertex_indices */
            if (!ply_list(r, binary, p, face && named)) return 0;
            continue;
        }
        if (!ply_value(r, binary, p->type, &v)) return 0;
        if (vertex && p->name[1] == '\0' && p->name[0] >= 'x' && p->name[0] <= 'z') {
            if (!(fabs(v) < HUGE_VAL)) return fail(r, "vertex %d is not finite", r->m->nodes);
            x[p->name[0] - 'x'] = v;
        }
        if (edge && strcmp(p->name, "vertex1") == 0 && !ply_node(r, v, &ends[0])) return 0;
        if (edge && strcmp(p->name, "vertex2") == 0 && !ply_node(r, v, &ends[1])) return 0;
    }
    if (vertex) {
        node = mesh_add_nodes(r->m, 1);
        if (node < 0) return no_memory(r);
        memcpy(r->m->x + 3 * (size_t)node, x, sizeof x);
    }
    if (edge && (ends[0] < 0 || ends[1] < 0)) return fail(r, "edge without vertex1, vertex2");
    return edge ? add_edge(r, ends[0], ends[1]) : 1;
}

static int read_ply(reader *r)
{
    static const union {
        uint16_t word_;
        unsigned char byte[2];
    } order = {1};
    ply_element element[8];
    int elements, binary, i;
    long long k;
    if (!word(r, "ply")) return fail(r, "does not begin with `ply`");
    if (!ply_header(r, element, &elements, &binary)) return 0;
    r->swap = binary == 2 ? order.byte[0] == 1 : binary == 1 && order.byte[0] != 1;
    if (binary) r->line = 0;
    for (i = 0; i < elements; ++i) {
        if (element[i].properties == 0 && element[i].count) {
            return fail(r, "element without property");
        }
        for (k = 0; k < element[i].count; ++k) if (!ply_item(r, binary, &element[i])) return 0;
    }
    if (r->m->nodes == 0) return fail(r, "no vertices");
    if (r->m->tris + r->m->edges == 0) {
        int n = r->m->nodes;
        for (i = 0; i < n; ++i) if (!add_point(r, i)) return 0;
    }
    return 1;
}

/* ---------------------------------------------------------------- .mesh (MEDIT) */
static int medit_list(reader *r, int nodes, int dimension)
{
    long long n, i, v, ref;
    double x[3] = {0, 0, 0};
    int k, at, *to;
    if (!integer(r, &n, 1) || !count_fits(r, n, 4, "items")) return 0;
    for (i = 0; i < n; ++i) {
        if (nodes == 0) {
            for (k = 0; k < dimension; ++k) if (!number(r, &x[k], 1)) return 0;
            if (!integer(r, &ref, 0)) return 0;
            at = mesh_add_nodes(r->m, 1);
            if (at < 0) return no_memory(r);
            memcpy(r->m->x + 3 * (size_t)at, x, sizeof x);
            continue;
        }
        at = nodes == 4 ? mesh_add_tets(r->m, 1) : nodes == 3 ? mesh_add_tris(r->m, 1)
                                                              : mesh_add_edges(r->m, 1);
        if (at < 0) return no_memory(r);
        to = nodes == 4 ? r->m->tet : nodes == 3 ? r->m->tri : r->m->edge;
        for (k = 0; k < nodes; ++k) {
            if (!integer(r, &v, 1)) return 0;
            if (v < 1 || v > r->m->nodes) return fail(r, "element %lld: no node %lld", i + 1, v);
            to[(size_t)at * (size_t)nodes + (size_t)k] = (int)v - 1;
        }
        if (!integer(r, &ref, 0)) return 0;
        if (nodes == 4) r->m->tet_tag[at] = (int)ref;
        if (nodes == 3) r->m->tri_tag[at] = (int)ref;
    }
    return 1;
}

static int read_medit(reader *r)
{
    static const struct {
        const char *name;
        int per_item;
    } skipped[] = {{"Corners", 1}, {"RequiredVertices", 1}, {"Ridges", 1}, {"RequiredEdges", 1},
        {"RequiredTriangles", 1}};
    long long dimension = 3, n, v;
    size_t i;
    int ok, known;
    for (;;) {
        skip_space(r);
        if (r->p >= r->end || word(r, "End")) break;
        if (*r->p == '#') { next_line(r); continue; }
        if (word(r, "MeshVersionFormatted")) ok = integer(r, &n, 1);
        else if (word(r, "Dimension")) {
            ok = integer(r, &dimension, 1);
            if (ok && dimension != 2 && dimension != 3) return fail(r, "dimension %lld", dimension);
        } else if (word(r, "Vertices")) ok = medit_list(r, 0, (int)dimension);
        else if (word(r, "Edges")) ok = medit_list(r, 2, 3);
        else if (word(r, "Triangles")) ok = medit_list(r, 3, 3);
        else if (word(r, "Tetrahedra")) ok = medit_list(r, 4, 3);
        else {
            for (i = 0, known = 0; i < sizeof skipped / sizeof *skipped && !known; ++i) {
                known = word(r, skipped[i].name);
            }
            if (!known) return fail(r, "unknown section %.*s", length_of_word(r), r->p);
            ok = integer(r, &n, 1) && count_fits(r, n, 2, "items");
            while (ok && n-- > 0) ok = integer(r, &v, 1);
        }
        if (!ok) return 0;
    }
    if (r->m->tets) { /* triangles and edges of a volume mesh are its boundary */
        r->m->tris = r->m->edges = 0;
    }
    if (r->m->tets + r->m->tris + r->m->edges == 0) return fail(r, "no elements");
    return 1;
}

/* ---------------------------------------------------------------- .off */
/* OFF; counts of vertices, faces, edges; coordinates; faces as a count and its corners. What stands
   behind them on the line (colours) is skipped. */
static void off_space(reader *r)
{
    for (skip_space(r); r->p < r->end && *r->p == '#'; skip_space(r)) next_line(r);
}

static int off_face(reader *r)
{
    long long n, i;
    int corner[3] = {0, 0, 0}, k;
    if (!integer(r, &n, 1)) return 0;
    if (n < 3 || n > 1000) return fail(r, "a face of %lld corners", n);
    for (k = 0; k < n; ++k) {
        if (!integer(r, &i, 1)) return 0;
        if (i < 0 || i >= r->m->nodes) return fail(r, "no vertex %lld", i);
        corner[k < 2 ? k : 2] = (int)i;
        if (k >= 2 && !add_tri(r, corner[0], corner[1], corner[2])) return 0;
        if (k >= 2) corner[1] = (int)i;
    }
    next_line(r);
    return 1;
}

static int read_off(reader *r)
{
    long long nodes, faces, edges, i;
    int k;
    off_space(r);
    if (!word(r, "OFF")) return fail(r, "does not begin with OFF");
    off_space(r);
    if (!integer(r, &nodes, 1) || !integer(r, &faces, 1) || !integer(r, &edges, 1)) return 0;
    if (!count_fits(r, nodes, 6, "vertices") || !count_fits(r, faces, 8, "faces")) return 0;
    if (mesh_add_nodes(r->m, (int)nodes) < 0) return no_memory(r);
    for (i = 0; i < nodes; ++i) {
        off_space(r);
        for (k = 0; k < 3; ++k) if (!number(r, r->m->x + 3 * i + k, 1)) return 0;
    }
    for (i = 0; i < faces; ++i) {
        off_space(r);
        if (!off_face(r)) return 0;
    }
    if (r->m->tris == 0) return fail(r, "no faces");
    return 1;
}

/* ---------------------------------------------------------------- all */
/* Nodes that nothing uses: an error in volume meshes (they would have no mass), left out of
   surfaces, where other programs leave them behind; points, if asked for. */
static int drop_unused(reader *r, int is_error, int loose)
{
    mesh *m = r->m;
    int *to = calloc((size_t)m->nodes + 1, sizeof *to), n = 0, k, *list[4];
    size_t i, lists[4];
    if (!to) return no_memory(r);
    list[0] = m->tet;
    list[1] = m->tri;
    list[2] = m->edge;
    list[3] = m->point;
    lists[0] = (size_t)m->tets * (size_t)mesh_tet_nodes(m->order);
    lists[1] = (size_t)m->tris * (size_t)mesh_tri_nodes(m->order);
    lists[2] = 2 * (size_t)m->edges;
    lists[3] = (size_t)m->points;
    for (k = 0; k < 4; ++k) for (i = 0; i < lists[k]; ++i) to[list[k][i]] = 1;
    for (k = 0; k < m->nodes; ++k) {
        if (!to[k] && is_error) {
            free(to);
            r->line = 0;
            return fail(r, "node %d (counted from 1) is used by no element", k + 1);
        }
        if (!to[k] && loose) {
            if (!add_point(r, n)) {
                free(to);
                return 0;
            }
            to[k] = 1;
        }
        if (to[k]) {
            memmove(m->x + 3 * (size_t)n, m->x + 3 * (size_t)k, 3 * sizeof *m->x);
            to[k] = n++;
        }
    }
    m->dropped = m->nodes - n;
    list[3] = m->point; /* may have grown; what is new is in the new numbering */
    for (k = 0; k < 4; ++k) for (i = 0; i < lists[k]; ++i) list[k][i] = to[list[k][i]];
    m->nodes = n;
    free(to);
    return 1;
}

static int parse(const char *bytes, size_t size, const char *ending, int loose, mesh *m,
    mesh_error *error)
{
    reader r;
    char *copy = malloc(size + 1);
    int ok;

    memset(m, 0, sizeof *m);
    memset(error, 0, sizeof *error);
    memset(&r, 0, sizeof r);
    r.m = m;
    r.error = error;
    if (!copy) return no_memory(&r);
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    r.begin = r.p = copy;
    r.end = copy + size;
    r.line = 1;
    if (strcmp(ending, "msh") == 0) ok = read_msh(&r);
    else if (strcmp(ending, "obj") == 0) ok = read_obj(&r);
    else if (strcmp(ending, "stl") == 0) ok = read_stl(&r);
    else if (strcmp(ending, "ply") == 0) ok = read_ply(&r);
    else if (strcmp(ending, "mesh") == 0) ok = read_medit(&r);
    else if (strcmp(ending, "off") == 0) ok = read_off(&r);
    else if (strcmp(ending, "vtu") == 0) ok = mesh_vtu_parse(copy, size, m, error);
    else {
        r.line = 0;
        ok = fail(&r, "unknown ending .%.20s; .msh .obj .stl .ply .mesh .off .vtu are read",
            ending);
    }
    if (ok && m->order < 1) m->order = 1;
    if (ok) ok = drop_unused(&r, m->tets > 0, loose);
    free(copy);
    if (!ok) mesh_free(m);
    return ok;
}

int mesh_parse(const char *bytes, size_t size, const char *ending, mesh *m, mesh_error *error)
{
    return parse(bytes, size, ending, 0, m, error);
}

static int read_file(const char *path, int loose, mesh *m, mesh_error *error)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    FILE *f = fopen(path, "rb");
    char *bytes = NULL, ending[24] = "";
    size_t size = 0, room = 0, got = 1, i;
    int ok = 0;

    memset(m, 0, sizeof *m);
    memset(error, 0, sizeof *error);
    if (!f) {
        snprintf(error->text, sizeof error->text, "cannot open: %s", strerror(errno));
        return 0;
    }
    while (got > 0) {
        if (room - size < 65536) {
            char *more = realloc(bytes, room + room / 2 + 131072);
            if (!more) break;
            room += room / 2 + 131072;
            bytes = more;
        }
        got = fread(bytes + size, 1, room - size, f);
        size += got;
    }
    ok = got == 0 && !ferror(f);
    if (!ok) {
        snprintf(error->text, sizeof error->text, "%s", got ? "out of memory" : "cannot read it");
    }
    fclose(f);
    if (dot && (!slash || dot > slash)) {
        for (i = 0; i < sizeof ending - 1 && dot[1 + i]; ++i) {
            ending[i] = (char)tolower((unsigned char)dot[1 + i]);
        }
    }
    if (ok) ok = parse(bytes, size, ending, loose, m, error);
    free(bytes);
    return ok;
}

int mesh_read(const char *path, mesh *m, mesh_error *error)
{
    return read_file(path, 0, m, error);
}

int mesh_read_loose(const char *path, mesh *m, mesh_error *error)
{
    return read_file(path, 1, m, error);
}
