/* mesh_write.c - see mesh.h: the writers, and the reader of our own .vtu */
#include "mesh.h"

#define GAP_BASIS_STATIC
#include "gap_basis.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(mesh_error *error, const char *what, const char *why)
{
    error->line = 0;
    snprintf(error->text, sizeof error->text, "%s%s%s", what, *why ? ": " : "", why);
    return 0;
}

/* A file under a temporary name, renamed only when all of it is on disk. */
typedef struct safe_file {
    FILE *f;
    char temporary[4096];
} safe_file;

static int safe_open(safe_file *s, const char *path, mesh_error *error)
{
    memset(error, 0, sizeof *error);
    if (snprintf(s->temporary, sizeof s->temporary, "%s.tmp", path) >= (int)sizeof s->temporary) {
        return fail(error, "name too long", "");
    }
    s->f = fopen(s->temporary, "wb");
    return s->f ? 1 : fail(error, "cannot create", strerror(errno));
}

static int safe_close(safe_file *s, const char *path, mesh_error *error)
{
    int bad = ferror(s->f), number = errno;
    if (fclose(s->f) != 0) {
        bad = 1;
        number = errno;
    }
    if (!bad && rename(s->temporary, path) == 0) return 1;
    if (!bad) number = errno;
    remove(s->temporary);
    return fail(error, "cannot write", strerror(number));
}

/* ---------------------------------------------------------------- .obj .ply .msh */
static void put_obj(FILE *f, const mesh *m)
{
    size_t i, n = (size_t)mesh_tri_nodes(m->order < 1 ? 1 : m->order);
    for (i = 0; i < (size_t)m->nodes; ++i) {
        fprintf(f, "v %.17g %.17g %.17g\n", m->x[3 * i], m->x[3 * i + 1], m->x[3 * i + 2]);
    }
    for (i = 0; i < (size_t)m->tris; ++i) {
        const int *t = m->tri + n * i;
        fprintf(f, "f %d %d %d\n", t[0] + 1, t[1] + 1, t[2] + 1);
    }
    for (i = 0; i < (size_t)m->edges; ++i) {
        fprintf(f, "l %d %d\n", m->edge[2 * i] + 1, m->edge[2 * i + 1] + 1);
    }
    for (i = 0; i < (size_t)m->points; ++i) fprintf(f, "p %d\n", m->point[i] + 1);
}

static void put_le(FILE *f, uint64_t v, int bytes)
{
    for (; bytes > 0; --bytes, v >>= 8) putc((int)(v & 255), f);
}

static void put_double(FILE *f, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    put_le(f, bits, 8);
}

static void put_ply(FILE *f, const mesh *m)
{
    size_t i, k, n = (size_t)mesh_tri_nodes(m->order < 1 ? 1 : m->order);
    fprintf(f, "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty double x\n"
               "property double y\nproperty double z\nelement face %d\n"
               "property list uchar int vertex_indices\n", m->nodes, m->tris);
    if (m->edges) {
        fprintf(f, "element edge %d\nproperty int vertex1\nproperty int vertex2\n", m->edges);
    }
    fprintf(f, "end_header\n");
    for (i = 0; i < 3 * (size_t)m->nodes; ++i) put_double(f, m->x[i]);
    for (i = 0; i < (size_t)m->tris; ++i) {
        putc(3, f);
        for (k = 0; k < 3; ++k) put_le(f, (uint64_t)m->tri[n * i + k], 4);
    }
    for (i = 0; i < 2 * (size_t)m->edges; ++i) put_le(f, (uint64_t)m->edge[i], 4);
}

/* One block of elements of version 4.1. */
static void put_msh_block(FILE *f, int dim, int type, int nodes, const int *node, int count,
    int *number)
{
    int i, k;
    if (count == 0) return;
    fprintf(f, "%d 1 %d %d\n", dim, type, count);
    for (i = 0; i < count; ++i) {
        fprintf(f, "%d", ++*number);
        for (k = 0; k < nodes; ++k, ++node) fprintf(f, " %d", *node + 1);
        putc('\n', f);
    }
}

/* Only the highest dimension: a reader takes lower ones for its boundary. */
static void put_msh(FILE *f, const mesh *m)
{
    static const int tet_type[] = {0, 4, 11, 29, 30}, tri_type[] = {0, 2, 9, 21, 23};
    int order = m->order < 1 ? 1 : m->order, number = 0, i;
    int count = m->tets ? m->tets : m->tris ? m->tris : m->edges ? m->edges : m->points;
    fprintf(f, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 %d 1 %d\n3 1 0 %d\n", m->nodes,
        m->nodes, m->nodes);
    for (i = 1; i <= m->nodes; ++i) fprintf(f, "%d\n", i);
    for (i = 0; i < m->nodes; ++i) {
        const double *x = m->x + 3 * (size_t)i;
        fprintf(f, "%.17g %.17g %.17g\n", x[0], x[1], x[2]);
    }
    fprintf(f, "$EndNodes\n$Elements\n1 %d 1 %d\n", count, count);
    if (m->tets) {
        put_msh_block(f, 3, tet_type[order], mesh_tet_nodes(order), m->tet, count, &number);
    } else if (m->tris) {
        put_msh_block(f, 2, tri_type[order], mesh_tri_nodes(order), m->tri, count, &number);
    } else if (m->edges) put_msh_block(f, 1, 1, 2, m->edge, count, &number);
    else put_msh_block(f, 0, 15, 1, m->point, count, &number);
    fprintf(f, "$EndElements\n");
}

/* ---------------------------------------------------------------- .vtu */
/* Base64 of a stream: VTK's inline binary arrays are the byte count (UInt64) and the bytes. */
typedef struct base64 {
    FILE *f;
    uint32_t bits;
    int have;
} base64;

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void base64_byte(base64 *b, unsigned byte)
{
    int k;
    b->bits = b->bits << 8 | byte;
    if (++b->have < 3) return;
    for (k = 18; k >= 0; k -= 6) putc(base64_digits[b->bits >> k & 63], b->f);
    b->bits = 0;
    b->have = 0;
}

static void base64_le(base64 *b, uint64_t v, int bytes)
{
    for (; bytes > 0; --bytes, v >>= 8) base64_byte(b, (unsigned)(v & 255));
}

static void base64_end(base64 *b)
{
    int have = b->have, k;
    if (have == 0) return;
    b->bits <<= 8 * (3 - have);
    for (k = 0; k < 4; ++k) {
        putc(k <= have ? base64_digits[b->bits >> (18 - 6 * k) & 63] : '=', b->f);
    }
    b->bits = 0;
    b->have = 0;
}

static void array_begin(base64 *b, FILE *f, const char *type, const char *name, int components,
    uint64_t bytes)
{
    fprintf(f, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">\n",
        type, name, components);
    memset(b, 0, sizeof *b);
    b->f = f;
    base64_le(b, bytes, 8);
}

static void array_end(base64 *b)
{
    base64_end(b);
    fprintf(b->f, "\n</DataArray>\n");
}

static void put_doubles(FILE *f, const char *name, int components, const double *v, size_t n)
{
    base64 b;
    size_t i;
    array_begin(&b, f, "Float64", name, components, 8 * (uint64_t)n);
    for (i = 0; i < n; ++i) {
        uint64_t bits;
        memcpy(&bits, &v[i], 8);
        base64_le(&b, bits, 8);
    }
    array_end(&b);
}

/* The four kinds of cell in their order: nodes, VTK type, list. */
typedef struct cells {
    int count[4], nodes[4], type[4];
    const int *list[4];
    int perm[4][35]; /* perm[v]: our number of VTK's node v */
} cells;

static void cells_of(const mesh *m, cells *c)
{
    int order = m->order < 1 ? 1 : m->order, k;
    memset(c, 0, sizeof *c);
    c->count[0] = m->tets;
    c->count[1] = m->tris;
    c->count[2] = m->edges;
    c->count[3] = m->points;
    c->nodes[0] = mesh_tet_nodes(order);
    c->nodes[1] = mesh_tri_nodes(order);
    c->nodes[2] = 2;
    c->nodes[3] = 1;
    c->type[0] = order == 1 ? 10 : 71;
    c->type[1] = order == 1 ? 5 : 69;
    c->type[2] = 3;
    c->type[3] = 1;
    c->list[0] = m->tet;
    c->list[1] = m->tri;
    c->list[2] = m->edge;
    c->list[3] = m->point;
    gap_basis_vtk(3, order, c->perm[0]);
    gap_basis_vtk(2, order, c->perm[1]);
    for (k = 0; k < 2; ++k) c->perm[2][k] = c->perm[3][k] = k;
}

static void put_cells(FILE *f, const cells *c)
{
    base64 b;
    uint64_t total = 0, all = 0, at = 0;
    int k, i, j;
    for (k = 0; k < 4; ++k) {
        total += (uint64_t)c->count[k] * (uint64_t)c->nodes[k];
        all += (uint64_t)c->count[k];
    }
    array_begin(&b, f, "Int32", "connectivity", 1, 4 * total);
    for (k = 0; k < 4; ++k) {
        for (i = 0; i < c->count[k]; ++i) {
            const int *cell = c->list[k] + (size_t)i * (size_t)c->nodes[k];
            for (j = 0; j < c->nodes[k]; ++j) base64_le(&b, (uint64_t)cell[c->perm[k][j]], 4);
        }
    }
    array_end(&b);
    array_begin(&b, f, "Int64", "offsets", 1, 8 * all);
    for (k = 0; k < 4; ++k) {
        for (i = 0; i < c->count[k]; ++i) base64_le(&b, at += (uint64_t)c->nodes[k], 8);
    }
    array_end(&b);
    array_begin(&b, f, "UInt8", "types", 1, all);
    for (k = 0; k < 4; ++k) {
        for (i = 0; i < c->count[k]; ++i) base64_byte(&b, (unsigned)c->type[k]);
    }
    array_end(&b);
}

static void put_vtu(FILE *f, const mesh *m, const mesh_field *field, int fields)
{
    cells c;
    int i;
    cells_of(m, &c);
    fprintf(f, "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"2.2\""
               " byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n"
               "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%ld\">\n<PointData>\n", m->nodes,
        (long)m->tets + m->tris + m->edges + m->points);
    for (i = 0; i < fields; ++i) {
        put_doubles(f, field[i].name, field[i].components, field[i].value,
            (size_t)m->nodes * (size_t)field[i].components);
    }
    fprintf(f, "</PointData>\n<Points>\n");
    put_doubles(f, "Points", 3, m->x, 3 * (size_t)m->nodes);
    fprintf(f, "</Points>\n<Cells>\n");
    put_cells(f, &c);
    fprintf(f, "</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
}

int mesh_write_vtu(const char *path, const mesh *m, const mesh_field *field, int fields,
    mesh_error *error)
{
    safe_file s;
    if (!safe_open(&s, path, error)) return 0;
    put_vtu(s.f, m, field, fields);
    return safe_close(&s, path, error);
}

int mesh_write_pvd(const char *path, char *const *file, const double *time, int count,
    mesh_error *error)
{
    safe_file s;
    int i;
    if (!safe_open(&s, path, error)) return 0;
    fprintf(s.f, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n"
                 "<Collection>\n");
    for (i = 0; i < count; ++i) {
        fprintf(s.f, "<DataSet timestep=\"%.17g\" file=\"%s\"/>\n", time[i], file[i]);
    }
    fprintf(s.f, "</Collection>\n</VTKFile>\n");
    return safe_close(&s, path, error);
}

int mesh_write(const char *path, const mesh *m, mesh_error *error)
{
    const char *dot = strrchr(path, '.');
    safe_file s;
    void (*put)(FILE *, const mesh *) = NULL;
    memset(error, 0, sizeof *error);
    if (dot && strcmp(dot, ".vtu") == 0) return mesh_write_vtu(path, m, NULL, 0, error);
    if (dot && strcmp(dot, ".obj") == 0) put = put_obj;
    if (dot && strcmp(dot, ".ply") == 0) put = put_ply;
    if (dot && strcmp(dot, ".msh") == 0) put = put_msh;
    if (!put) return fail(error, "unknown ending", ".obj .ply .msh .vtu are written");
    if (!safe_open(&s, path, error)) return 0;
    put(s.f, m);
    return safe_close(&s, path, error);
}

/* ---------------------------------------------------------------- reading our .vtu */
typedef struct array {
    unsigned char *bytes;
    size_t size;
} array;

static int digit_value(int c)
{
    const char *d = c ? strchr(base64_digits, c) : NULL;
    return d ? (int)(d - base64_digits) : -1;
}

/* The bytes of the DataArray of this type and name, without their leading count. */
static int find_array(const char *text, const char *type, const char *name, array *out,
    mesh_error *error)
{
    char head[160];
    const char *p, *end, *q;
    size_t i, n = 0;
    uint64_t announced = 0;
    uint32_t bits = 0;
    int have = 0, v;

    snprintf(head, sizeof head, "<DataArray type=\"%s\" Name=\"%s\"", type, name);
    p = strstr(text, head);
    end = p ? strstr(p, "</DataArray>") : NULL;
    q = p ? strchr(p, '>') : NULL;
    if (!p || !end || !q || q > end || q - p > 200) return fail(error, "no array", name);
    memcpy(head, p, (size_t)(q - p) < sizeof head - 1 ? (size_t)(q - p) : sizeof head - 1);
    head[(size_t)(q - p) < sizeof head - 1 ? (size_t)(q - p) : sizeof head - 1] = '\0';
    if (!strstr(head, "format=\"binary\"")) return fail(error, "only inline binary is read", name);
    out->bytes = malloc((size_t)(end - q) + 8);
    if (!out->bytes) return fail(error, "out of memory", "");
    for (++q; q < end; ++q) {
        v = digit_value((unsigned char)*q);
        if (v < 0) continue;
        bits = bits << 6 | (uint32_t)v;
        if ((have += 6) >= 8) out->bytes[n++] = (unsigned char)(bits >> (have -= 8) & 255);
    }
    if (n < 8) return fail(error, "array too short", name);
    for (i = 8; i-- > 0;) announced = announced << 8 | out->bytes[i];
    if (announced > n - 8) return fail(error, "array shorter than announced", name);
    memmove(out->bytes, out->bytes + 8, (size_t)announced);
    out->size = (size_t)announced;
    return 1;
}

static uint64_t get_le(const unsigned char *b, int bytes)
{
    uint64_t v = 0;
    while (bytes-- > 0) v = v << 8 | b[bytes];
    return v;
}

/* Kind (0 tet, 1 tri, 2 edge, 3 point) and order of a cell, or -1. */
static int cell_kind(int type, int64_t nodes, int *order)
{
    int p;
    *order = 1;
    if (type == 1 && nodes == 1) return 3;
    if (type == 3 && nodes == 2) return 2;
    if (type == 5 && nodes == 3) return 1;
    if (type == 10 && nodes == 4) return 0;
    for (p = 1; p <= 4; ++p) {
        *order = p;
        if (type == 69 && nodes == mesh_tri_nodes(p)) return 1;
        if (type == 71 && nodes == mesh_tet_nodes(p)) return 0;
    }
    return -1;
}

static int read_cell(mesh *m, int type, const unsigned char *node, int64_t nodes, long cell,
    mesh_error *error)
{
    int order, kind = cell_kind(type, nodes, &order), perm[35] = {0, 1}, at, j, *to;
    char where[60];
    snprintf(where, sizeof where, "cell %ld, type %d", cell, type);
    if (kind < 0) return fail(error, "a kind that is not read", where);
    if (kind < 2) {
        if (m->order && m->order != order) return fail(error, "orders differ", where);
        m->order = order;
        gap_basis_vtk(3 - kind, order, perm);
    }
    at = kind == 0 ? mesh_add_tets(m, 1) : kind == 1 ? mesh_add_tris(m, 1)
        : kind == 2 ? mesh_add_edges(m, 1) : mesh_add_points(m, 1);
    if (at < 0) return fail(error, "out of memory", "");
    to = kind == 0 ? m->tet : kind == 1 ? m->tri : kind == 2 ? m->edge : m->point;
    for (j = 0; j < (int)nodes; ++j) {
        uint64_t v = get_le(node + 4 * j, 4);
        if (v >= (uint64_t)m->nodes) return fail(error, "node out of range", where);
        to[(size_t)at * (size_t)nodes + (size_t)perm[j]] = (int)v;
    }
    return 1;
}

static int read_cells(mesh *m, const array *points, const array *conn, const array *offsets,
    const array *types, mesh_error *error)
{
    size_t i, cell, n = points->size / 24, count = types->size;
    uint64_t from = 0, to;
    if (points->size % 24 || n > INT_MAX / 64 || offsets->size / 8 != count || count > INT_MAX) {
        return fail(error, "sizes of the arrays do not fit", "");
    }
    if (mesh_add_nodes(m, (int)n) < 0) return fail(error, "out of memory", "");
    for (i = 0; i < 3 * n; ++i) {
        uint64_t bits = get_le(points->bytes + 8 * i, 8);
        memcpy(&m->x[i], &bits, 8);
        if (!(fabs(m->x[i]) < HUGE_VAL)) return fail(error, "a coordinate is not finite", "");
    }
    for (cell = 0; cell < count; ++cell, from = to) {
        to = get_le(offsets->bytes + 8 * cell, 8);
        if (to <= from || to > conn->size / 4) return fail(error, "bad offset", "");
        if (!read_cell(m, types->bytes[cell], conn->bytes + 4 * from, (int64_t)(to - from),
                (long)cell, error)) {
            return 0;
        }
    }
    return count ? 1 : fail(error, "no cells", "");
}

int mesh_vtu_parse(const char *bytes, size_t size, mesh *m, mesh_error *error)
{
    array a[4];
    int ok, i;
    memset(a, 0, sizeof a);
    ok = strlen(bytes) == size ? 1 : fail(error, "NUL byte in a .vtu", "");
    ok = ok && find_array(bytes, "Float64", "Points", &a[0], error) &&
        find_array(bytes, "Int32", "connectivity", &a[1], error) &&
        find_array(bytes, "Int64", "offsets", &a[2], error) &&
        find_array(bytes, "UInt8", "types", &a[3], error) &&
        read_cells(m, &a[0], &a[1], &a[2], &a[3], error);
    for (i = 0; i < 4; ++i) free(a[i].bytes);
    return ok;
}
