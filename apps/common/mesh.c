/* mesh.c - see mesh.h: the container, and what is derived from it */
#include "mesh.h"

#define GAP_BASIS_STATIC
#include "gap_basis.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int mesh_tet_nodes(int order)
{
    return (order + 1) * (order + 2) * (order + 3) / 6;
}

int mesh_tri_nodes(int order)
{
    return (order + 1) * (order + 2) / 2;
}

void mesh_free(mesh *m)
{
    free(m->x);
    free(m->tet);
    free(m->tri);
    free(m->edge);
    free(m->point);
    free(m->tet_tag);
    free(m->tri_tag);
    memset(m, 0, sizeof *m);
}

/* Room for `count` more items of `size` bytes behind `have`, zeroed. Capacity is the next power of
   two, so that it need not be stored: growth happens when `have` crosses one. */
static int grow(void *array, int have, int count, size_t size)
{
    void **p = array;
    size_t old_room = 0, room = 16, want;
    void *more;

    if (count < 0 || have > INT_MAX - count) return 0;
    want = (size_t)have + (size_t)count;
    if (have > 0) {
        for (old_room = 16; old_room < (size_t)have; old_room *= 2) {}
    }
    while (room < want) room *= 2;
    if (!*p || room > old_room) {
        if (room > SIZE_MAX / size) return 0;
        more = realloc(*p, room * size);
        if (!more) return 0;
        *p = more;
    }
    memset((char *)*p + (size_t)have * size, 0, (size_t)count * size);
    return 1;
}

int mesh_add_nodes(mesh *m, int count)
{
    int first = m->nodes;
    if (!grow(&m->x, m->nodes, count, 3 * sizeof *m->x)) return -1;
    m->nodes += count;
    return first;
}

int mesh_add_tets(mesh *m, int count)
{
    int first = m->tets;
    if (m->order < 1) m->order = 1;
    if (!grow(&m->tet, first, count, (size_t)mesh_tet_nodes(m->order) * sizeof *m->tet) ||
        !grow(&m->tet_tag, first, count, sizeof *m->tet_tag)) {
        return -1;
    }
    m->tets += count;
    return first;
}

int mesh_add_tris(mesh *m, int count)
{
    int first = m->tris;
    if (m->order < 1) m->order = 1;
    if (!grow(&m->tri, first, count, (size_t)mesh_tri_nodes(m->order) * sizeof *m->tri) ||
        !grow(&m->tri_tag, first, count, sizeof *m->tri_tag)) {
        return -1;
    }
    m->tris += count;
    return first;
}

int mesh_add_edges(mesh *m, int count)
{
    int first = m->edges;
    if (!grow(&m->edge, first, count, 2 * sizeof *m->edge)) return -1;
    m->edges += count;
    return first;
}

int mesh_add_points(mesh *m, int count)
{
    int first = m->points;
    if (!grow(&m->point, first, count, sizeof *m->point)) return -1;
    m->points += count;
    return first;
}

static void copy_shifted(int *to, const int *from, size_t count, int shift)
{
    size_t i;
    for (i = 0; i < count; ++i) to[i] = from[i] + shift;
}

int mesh_append(mesh *m, const mesh *other)
{
    int n, k, first;
    if (m->order < 1) m->order = other->order;
    first = mesh_add_nodes(m, other->nodes);
    if (first < 0) return -1;
    memcpy(m->x + 3 * (size_t)first, other->x, 3 * (size_t)other->nodes * sizeof *m->x);
    if (other->tets) {
        n = mesh_tet_nodes(m->order);
        if ((k = mesh_add_tets(m, other->tets)) < 0) return -1;
        copy_shifted(m->tet + (size_t)k * (size_t)n, other->tet, (size_t)other->tets * (size_t)n,
            first);
        memcpy(m->tet_tag + k, other->tet_tag, (size_t)other->tets * sizeof(int));
    }
    if (other->tris) {
        n = mesh_tri_nodes(m->order);
        if ((k = mesh_add_tris(m, other->tris)) < 0) return -1;
        copy_shifted(m->tri + (size_t)k * (size_t)n, other->tri, (size_t)other->tris * (size_t)n,
            first);
        memcpy(m->tri_tag + k, other->tri_tag, (size_t)other->tris * sizeof(int));
    }
    if (other->edges) {
        if ((k = mesh_add_edges(m, other->edges)) < 0) return -1;
        copy_shifted(m->edge + 2 * (size_t)k, other->edge, 2 * (size_t)other->edges, first);
    }
    if (other->points) {
        if ((k = mesh_add_points(m, other->points)) < 0) return -1;
        copy_shifted(m->point + k, other->point, (size_t)other->points, first);
    }
    return first;
}

/* ---- surface ---- */

/* face[f][j]: which node of the tet is node j of its face f, outward for a positive tet. */
static void face_tables(int order, int face[4][15])
{
    static const int corner[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    int tri[15 * 3], f, j, k, v[4];
    gap_basis_nodes(2, order, tri);
    for (f = 0; f < 4; ++f) {
        for (j = 0; j < mesh_tri_nodes(order); ++j) {
            memset(v, 0, sizeof v);
            for (k = 0; k < 3; ++k) v[corner[f][k]] = tri[3 * j + k];
            face[f][j] = gap_basis_find(3, order, v);
        }
    }
}

typedef struct face_key {
    int a, b, c; /* corners, sorted */
    int face;    /* 4 * tet + number */
} face_key;

static int by_corners(const void *pa, const void *pb)
{
    const face_key *p = pa, *q = pb;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    if (p->c != q->c) return p->c < q->c ? -1 : 1;
    return p->face < q->face ? -1 : p->face > q->face;
}

static int by_face(const void *pa, const void *pb)
{
    const face_key *p = pa, *q = pb;
    return p->face < q->face ? -1 : p->face > q->face;
}

static void sort3(int v[3])
{
    int t;
    if (v[0] > v[1]) { t = v[0]; v[0] = v[1]; v[1] = t; }
    if (v[1] > v[2]) { t = v[1]; v[1] = v[2]; v[2] = t; }
    if (v[0] > v[1]) { t = v[0]; v[0] = v[1]; v[1] = t; }
}

int mesh_surface(const mesh *m, int **tri)
{
    int order = m->order < 1 ? 1 : m->order, face[4][15], n = 0, i, j, f;
    int tet_nodes = mesh_tet_nodes(order), tri_nodes = mesh_tri_nodes(order);
    size_t faces = 4 * (size_t)m->tets, k, run;
    face_key *key;

    *tri = NULL;
    if (m->tets == 0) return 0;
    if (m->tets > INT_MAX / 4) return -1;
    key = malloc(faces * sizeof *key);
    if (!key) return -1;
    face_tables(order, face);
    for (i = 0; i < m->tets; ++i) {
        const int *t = m->tet + (size_t)i * (size_t)tet_nodes;
        for (f = 0; f < 4; ++f) {
            int v[3];
            for (j = 0; j < 3; ++j) v[j] = t[face[f][j]];
            sort3(v);
            key[4 * i + f].a = v[0];
            key[4 * i + f].b = v[1];
            key[4 * i + f].c = v[2];
            key[4 * i + f].face = 4 * i + f;
        }
    }
    qsort(key, faces, sizeof *key, by_corners);
    for (k = 0; k < faces; k = run) { /* a face that one tet has is on the boundary */
        for (run = k + 1; run < faces && key[run].a == key[k].a && key[run].b == key[k].b &&
             key[run].c == key[k].c; ++run) {}
        if (run == k + 1) key[n++] = key[k];
    }
    qsort(key, (size_t)n, sizeof *key, by_face);
    *tri = malloc(((size_t)n * (size_t)tri_nodes + 1) * sizeof **tri);
    if (!*tri) n = -1;
    for (i = 0; i < n; ++i) {
        const int *t = m->tet + (size_t)(key[i].face / 4) * (size_t)tet_nodes;
        for (j = 0; j < tri_nodes; ++j) {
            (*tri)[(size_t)i * (size_t)tri_nodes + (size_t)j] = t[face[key[i].face % 4][j]];
        }
    }
    free(key);
    return n;
}

static int by_pair(const void *pa, const void *pb)
{
    const int *p = pa, *q = pb;
    if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
    return p[1] < q[1] ? -1 : p[1] > q[1];
}

int mesh_unique_edges(const int *tri, int tris, const int *edge, int edges, int **out)
{
    size_t n = 0, i, k = 0, most = 3 * (size_t)tris + (size_t)edges;
    int *e = malloc((2 * most + 2) * sizeof *e), j;

    *out = NULL;
    if (!e || most > INT_MAX) {
        free(e);
        return -1;
    }
    for (i = 0; i < (size_t)tris; ++i) {
        for (j = 0; j < 3; ++j, ++n) {
            int a = tri[3 * i + (size_t)j], b = tri[3 * i + (size_t)((j + 1) % 3)];
            e[2 * n] = a < b ? a : b;
            e[2 * n + 1] = a < b ? b : a;
        }
    }
    for (i = 0; i < (size_t)edges; ++i, ++n) {
        int a = edge[2 * i], b = edge[2 * i + 1];
        e[2 * n] = a < b ? a : b;
        e[2 * n + 1] = a < b ? b : a;
    }
    qsort(e, n, 2 * sizeof *e, by_pair);
    for (i = 0; i < n; ++i) {
        if (i > 0 && by_pair(e + 2 * i, e + 2 * (k - 1)) == 0) continue;
        memmove(e + 2 * k, e + 2 * i, 2 * sizeof *e);
        ++k;
    }
    *out = e;
    return (int)k;
}
