/* gap_proxy.h - v0.1.0 - linear collision surface of a curved mesh, and its map - MIT-0, see end
   Samples the boundary of a simplex mesh of geometry order q and displacement order p (1 to 4) on a
   regular lattice, joins the samples by triangles (2D: segments), and keeps the sparse matrix W
   from nodes to samples. Contact then sees triangles only; W^T brings its blocks back.
QUICK START
   #define GAP_PROXY_IMPLEMENTATION        // in exactly one .c or .cpp file
   #include "gap_proxy.h"
   #include <stdio.h>
   int main(void)
   {
       double X[12] = {0, 0, 1, 0, 0, 1, 0.7, 0.7, 0, 0.5, 0.5, 0}; // a triangle with a round side
       int tri[6] = {0, 1, 2, 5, 3, 4};
       gap_proxy s;
       gap_proxy_options o = {0, 0, 0};
       o.segments = 4;
       gap_proxy_init(&s, 2, 1, 2, 6, X, tri, 2, X, tri, &o);       // p = 2, q = 2
       printf("%d vertices, %d edges\n", s.vertices, s.edges); // 12 vertices, 12 edges
       gap_proxy_free(&s);
       return 0;
   }
GUARANTEES
   Linear     a sample moves on a straight line when the nodes do: linear CCD on it is exact.
   Closed     samples shared by facets are one vertex, found by integer keys, never by distance.
   Rows       of W sum to 1; W rest = positions; sum of W^T g = sum of g.
   Identity   p = q = segments = 1: vertices are the nodes, W = 1, positions are copied bit by bit.
   Not        non-penetration holds for this surface; the curved one is off by about
              (edge/segments)^2 / (8 radius).
OPTIONS (define before the implementation)
   GAP_PROXY_STATIC     keep all functions private to this file
   GAP_PROXY_ASSERT(x)  replaces assert(x)
EDGE CASES
   a face with three elements: EINPUT, s.bad = element.  node out of range: EINDEX, s.bad = element.
   NaN in positions: copied.  no elements: an empty surface.  segments above 64: ESIZE.
METHOD
   Boundary facets in the order of elements and faces; n segments per edge give (n+1)(n+2)/2
   samples and n^2 triangles a facet, outward. A sample's key is its sorted (vertex, count) pairs.
   W holds the Lagrange functions of the facet, whose factors (p i - m n)/(n (m+1)) have integer
   numerators: rows are the same from every facet, and zeros are exact (and left out).
NOT HERE   the elements: gap_fem.h.  contact on the surface: gap_barrier.h, gap_ccd.h.
HISTORY    0.1.0 first release */
#ifndef GAP_PROXY_H
#define GAP_PROXY_H
#define GAP_PROXY_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_PROXY_STATIC
#define GAP_PROXY_API static inline
#else
#define GAP_PROXY_API extern
#endif
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_proxy_status {
    GAP_PROXY_OK = 0,
    GAP_PROXY_ENOMEM = -2,
    GAP_PROXY_EINDEX = -3,
    GAP_PROXY_ESIZE = -4,
    GAP_PROXY_EINPUT = -6
} gap_proxy_status;

typedef void *(*gap_proxy_realloc)(void *user, void *p, size_t old_size, size_t new_size);

typedef struct gap_proxy_options {
    int segments;                 /* per edge, 1 to 64; 0 means max(p, q) */
    gap_proxy_realloc realloc_fn; /* NULL: libc */
    void *realloc_user;
} gap_proxy_options;

/* Read all of it; write nothing. */
typedef struct gap_proxy {
    int dim, nodes, segments;
    int identity;    /* 1: vertices are the nodes */
    int vertices;    /* rows of W */
    int points;      /* vertices that lie on the surface (identity: not all do) */
    int triangles;   /* 2D: 0 */
    int edges;       /* 3D: edges of the triangles, each once; 2D: segments, outward */
    int bad;         /* element of the last error, or -1 */
    double *rest;    /* dim per vertex: rest positions */
    int *point;      /* 1 each, ascending */
    int *tri;        /* 3 each, outward */
    int *edge;       /* 2 each; 3D: ascending */
    int *facet;      /* 2 per triangle (2D: per edge): element and face it came from */
    int *ptr;        /* vertices + 1: row v of W is ptr[v] .. ptr[v+1]-1 */
    int *node;       /* column, ascending within a row */
    double *weight;
    double *offset;  /* dim per vertex: position = offset + W x; NULL unless p < q */
    /* private */
    gap_proxy_options opt;
    void *mem[16];
    size_t mem_size[16];
    int mems;
} gap_proxy;

/* Build the surface of a mesh, 2D or 3D.
   elements            count
   order, nodes, rest, node      displacement order p, its nodes, their rest positions (dim each)
                                 and the elements' nodes in Gmsh order (as gap_fem.h has them)
   geometry, X, geo_node         the same of the geometry, order q; the first dim + 1 nodes of an
                                 element are its vertices. If p = q pass the same arrays twice.
   opt                           may be NULL
   Arrays are not kept. On error s holds nothing (but bad). */
GAP_PROXY_API int gap_proxy_init(gap_proxy *s, int dim, int elements, int order, int nodes,
    const double *rest, const int *node, int geometry, const double *X, const int *geo_node,
    const gap_proxy_options *opt);

/* Give all memory back. Also after a failed init. */
GAP_PROXY_API void gap_proxy_free(gap_proxy *s);

/* Positions of vertices begin..end-1: xs = offset + W x, dim each, written from xs[dim*begin] on.
   direction 1: xs = W x, for displacements and velocities. */
GAP_PROXY_API void gap_proxy_apply(const gap_proxy *s, const double *x, int direction, int begin,
    int end, double *xs);

/* g += W^T gs: forces on vertices (dim each) to forces on nodes (dim each). */
GAP_PROXY_API void gap_proxy_pull_vector(const gap_proxy *s, const double *gs, double *g);

/* Largest number of nodes that any of the stencils depends on.
   vertex  k*count vertices, -1 = unused.  Returns at least k. */
GAP_PROXY_API int gap_proxy_width(const gap_proxy *s, int count, int k, const int *vertex);

/* Local blocks on vertices to local blocks on nodes: W^T g and W^T H W of each stencil; PSD stays.
   width     nodes of an output stencil, at least gap_proxy_width
   gradient  k*dim per stencil, or NULL;  hessian  (k*dim)^2, or NULL
   out_node  width per stencil, -1 unused;  out_gradient  width*dim;  out_hessian  (width*dim)^2
   Returns OK, or EINPUT if width is too small (nothing of that stencil is right then). */
GAP_PROXY_API int gap_proxy_pull(const gap_proxy *s, int count, int k, const int *vertex,
    const double *gradient, const double *hessian, int width, int *out_node, double *out_gradient,
    double *out_hessian);

#ifdef __cplusplus
}
#endif
#endif /* GAP_PROXY_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_PROXY_STATIC)) && !defined(GAP_PROXY_IMPLEMENTATION)
#define GAP_PROXY_IMPLEMENTATION
#endif
#if defined(GAP_PROXY_IMPLEMENTATION) && !defined(GAP_PROXY_IMPLEMENTED)
#define GAP_PROXY_IMPLEMENTED
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#ifndef GAP_PROXY_ASSERT
#include <assert.h>
#define GAP_PROXY_ASSERT(x) assert(x)
#endif

/* [block lagrange from gap_basis.h] Lagrange simplices */
static inline int gap_proxy__count(int dim, int order)
{
    int n = order + 1;

    if (dim == 1) return n;
    if (dim == 2) return n * (order + 2) / 2;
    return n * (order + 2) * (order + 3) / 6;
}

/* Appends one multi-index base + a e_i + b e_j (dim + 1 slots) and returns the new end. */
static inline int *gap_proxy__emit(int *out, int dim, const int base[4], int a, int i, int b, int j)
{
    int k;

    for (k = 0; k <= dim; ++k) out[k] = base[k];
    out[i] += a;
    out[j] += b;
    return out + dim + 1;
}

/* The inner nodes of the edge i-j of a simplex of this order, from i to j. */
static inline int *gap_proxy__edge(int *out, int dim, int order, const int base[4], int i, int j)
{
    int k;

    for (k = 1; k < order; ++k) out = gap_proxy__emit(out, dim, base, order - k, i, k, j);
    return out;
}

/* A triangle on the slots v: vertices, edges, then the inner triangle of order - 3. */
static inline int *gap_proxy__tri(int *out, int dim, int order, const int base[4], const int v[3])
{
    int b[4] = {0, 0, 0, 0}, k;

    for (k = 0; k <= dim; ++k) b[k] = base[k];
    for (; order > 0; order -= 3) {
        for (k = 0; k < 3; ++k) out = gap_proxy__emit(out, dim, b, order, v[k], 0, v[k]);
        for (k = 0; k < 3; ++k) out = gap_proxy__edge(out, dim, order, b, v[k], v[(k + 1) % 3]);
        for (k = 0; k < 3; ++k) b[v[k]] += 1;
    }
    return order == 0 ? gap_proxy__emit(out, dim, b, 0, 0, 0, 0) : out;
}

/* A tetrahedron: vertices, edges, faces, then the inner tetrahedron of order - 4. */
static inline int *gap_proxy__tet(int *out, int order, int vtk)
{
    static const int edge[2][6][2] = {{{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 2}, {3, 1}},
        {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
    static const int face[2][4][3] = {{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {3, 1, 2}},
        {{0, 1, 3}, {2, 3, 1}, {0, 3, 2}, {0, 2, 1}}};
    int b[4] = {0, 0, 0, 0}, in[4], k, j;

    for (; order > 0; order -= 4) {
        for (k = 0; k < 4; ++k) out = gap_proxy__emit(out, 3, b, order, k, 0, k);
        for (k = 0; k < 6; ++k)
            out = gap_proxy__edge(out, 3, order, b, edge[vtk][k][0], edge[vtk][k][1]);
        for (k = 0; k < 4 && order > 2; ++k) {
            for (j = 0; j < 4; ++j) in[j] = b[j];
            for (j = 0; j < 3; ++j) in[face[vtk][k][j]] += 1;
            out = gap_proxy__tri(out, 3, order - 3, in, face[vtk][k]);
        }
        for (k = 0; k < 4; ++k) b[k] += 1;
    }
    return order == 0 ? gap_proxy__emit(out, 3, b, 0, 0, 0, 0) : out;
}

/* All multi-indices in Gmsh's (vtk = 0) or VTK's (vtk = 1) order. */
static inline void gap_proxy__lattice(int dim, int order, int vtk, int *index)
{
    static const int zero[4] = {0, 0, 0, 0}, v[3] = {0, 1, 2};

    if (dim == 1) {
        index = gap_proxy__emit(index, 1, zero, order, 0, 0, 0);
        index = gap_proxy__emit(index, 1, zero, order, 1, 0, 0);
        gap_proxy__edge(index, 1, order, zero, 0, 1);
    } else if (dim == 2) {
        gap_proxy__tri(index, 2, order, zero, v);
    } else {
        gap_proxy__tet(index, order, vtk);
    }
}

/* Values (or NULL) and reference gradients (or NULL) of all functions at one point.
   f[k][n], d[k][n] = N_n and N_n' at the barycentric coordinate L_k, by the product rule. */
static inline void gap_proxy__eval(int dim, int order, const int *index, const double *xi,
    double *phi, double *dphi)
{
    double f[4][9], d[4][9], l, g[4], v;
    int n = gap_proxy__count(dim, order), a, j, k, m;

    for (k = 0; k <= dim; ++k) {
        if (k) l = xi[k - 1];
        else for (l = 1.0, j = 0; j < dim; ++j) l -= xi[j];
        f[k][0] = 1.0;
        d[k][0] = 0.0;
        for (m = 0; m < order; ++m) {
            v = (order * l - m) / (m + 1);
            f[k][m + 1] = f[k][m] * v;
            d[k][m + 1] = d[k][m] * v + f[k][m] * order / (m + 1);
        }
    }
    for (a = 0; a < n; ++a, index += dim + 1) {
        if (phi) {
            for (v = 1.0, k = 0; k <= dim; ++k) v *= f[k][index[k]];
            phi[a] = v;
        }
        if (!dphi) continue;
        for (k = 0; k <= dim; ++k) {
            g[k] = d[k][index[k]];
            for (j = 0; j <= dim; ++j)
                if (j != k) g[k] *= f[j][index[j]];
        }
        for (j = 0; j < dim; ++j) dphi[a * dim + j] = g[j + 1] - g[0];
    }
}
/* [end lagrange] */

static inline void *gap_proxy__realloc_libc(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user; (void)old_size;
    if (new_size) return realloc(p, new_size);
    free(p);
    return NULL;
}

/* Memory: a list of blocks, given back together or from the end. */
static inline void *gap_proxy__take(gap_proxy *s, size_t count, size_t size)
{
    void *p;

    if (count > ((size_t)-1) / 2 / size) return NULL;
    size *= count ? count : 1;
    p = s->opt.realloc_fn(s->opt.realloc_user, NULL, 0, size);
    if (!p) return NULL;
    GAP_PROXY_ASSERT(s->mems < 16);
    s->mem[s->mems] = p;
    s->mem_size[s->mems++] = size;
    return p;
}

static inline void gap_proxy__drop(gap_proxy *s)
{
    --s->mems;
    s->opt.realloc_fn(s->opt.realloc_user, s->mem[s->mems], s->mem_size[s->mems], 0);
}

static inline int *gap_proxy__ints(gap_proxy *s, size_t count)
{
    return (int *)gap_proxy__take(s, count, sizeof(int));
}

static inline size_t gap_proxy__z(int a, int b)
{
    return (size_t)a * (size_t)b;
}

static inline int gap_proxy__face(int dim, int k, int j)
{
    static const int tri[3][2] = {{0, 1}, {1, 2}, {2, 0}};
    static const int tet[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {3, 1, 2}};

    return dim == 2 ? tri[k][j] : tet[k][j];
}

/* Sorts n rows of `step` ints by their first one. */
static inline void gap_proxy__sort(int *v, int n, int step)
{
    int i, j, k, t;

    for (i = 1; i < n; ++i) {
        for (j = i; j > 0 && v[j * step] < v[(j - 1) * step]; --j) {
            for (k = 0; k < step; ++k) {
                t = v[j * step + k];
                v[j * step + k] = v[(j - 1) * step + k];
                v[(j - 1) * step + k] = t;
            }
        }
    }
}

/* A table of keys of `width` ints: open addressing, numbers in order of first appearance. */
typedef struct gap_proxy__table {
    int *slot, *key, width, count;
    unsigned mask;
} gap_proxy__table;

static inline int gap_proxy__table_init(gap_proxy *s, gap_proxy__table *t, size_t entries,
    int width)
{
    size_t n = 16, i;

    while (n < 2 * entries) n *= 2;
    t->width = width;
    t->count = 0;
    t->mask = (unsigned)(n - 1);
    t->slot = gap_proxy__ints(s, n);
    t->key = t->slot ? gap_proxy__ints(s, entries * (size_t)width) : NULL;
    for (i = 0; t->key && i < n; ++i) t->slot[i] = -1;
    return t->key ? GAP_PROXY_OK : GAP_PROXY_ENOMEM;
}

/* Number of the key; *fresh tells whether it is new. */
static inline int gap_proxy__table_add(gap_proxy__table *t, const int *key, int *fresh)
{
    size_t bytes = sizeof(int) * (size_t)t->width;
    unsigned h = 2166136261u;
    int i, id;

    for (i = 0; i < t->width; ++i) {
        h = (h ^ (unsigned)key[i]) * 16777619u;
        h ^= h >> 15;
    }
    for (h &= t->mask; (id = t->slot[h]) >= 0; h = (h + 1) & t->mask) {
        if (memcmp(t->key + gap_proxy__z(id, t->width), key, bytes)) continue;
        *fresh = 0;
        return id;
    }
    *fresh = 1;
    t->slot[h] = t->count;
    memcpy(t->key + gap_proxy__z(t->count, t->width), key, bytes);
    return t->count++;
}

/* The boundary: faces that belong to one element, as element*(dim+1) + face, in order. Returns
   their number or an error; the list is the last block taken. */
static inline int gap_proxy__boundary(gap_proxy *s, int elements, int k, const int *geo_node,
    int **list)
{
    int dim = s->dim, slots = dim + 1, total = elements * slots, at, j, id, fresh, n = 0, key[3];
    int *seen, *first;
    gap_proxy__table t;

    *list = gap_proxy__ints(s, (size_t)total);
    seen = *list ? gap_proxy__ints(s, (size_t)total) : NULL;
    first = seen ? gap_proxy__ints(s, (size_t)total) : NULL;
    if (!first || gap_proxy__table_init(s, &t, (size_t)total, dim)) return GAP_PROXY_ENOMEM;
    for (at = 0; at < total; ++at) {
        for (j = 0; j < dim; ++j)
            key[j] = geo_node[gap_proxy__z(at / slots, k)
                + (size_t)gap_proxy__face(dim, at % slots, j)];
        gap_proxy__sort(key, dim, 1);
        id = gap_proxy__table_add(&t, key, &fresh);
        if (fresh) {
            first[id] = at;
            seen[id] = 0;
        }
        if (++seen[id] > 2) {
            s->bad = at / slots;
            return GAP_PROXY_EINPUT;
        }
    }
    for (id = 0; id < t.count; ++id) /* first appearance: ascending already */
        if (seen[id] == 1) (*list)[n++] = first[id];
    for (j = 0; j < 4; ++j) gap_proxy__drop(s);
    return n;
}

/* Value at the sample with counts i/n of the facet's Lagrange function with multi-index j: product
   over the slots of prod_{m<j} (p i - m n)/(n (m+1)). Two factors at most differ from 1 on an edge,
   so both facets of an edge get the same bits. */
static inline double gap_proxy__value(int slots, int p, int n, const int *i, const int *j)
{
    double v = 1.0, f;
    int k, m;

    for (k = 0; k < slots; ++k) {
        for (f = 1.0, m = 0; m < j[k]; ++m) f *= (double)(p * i[k] - m * n) / (n * (m + 1));
        v *= f;
    }
    return v;
}

/* What a facet needs: its lattice of samples, its functions, and where its nodes are. */
typedef struct gap_proxy__facet {
    int samples, n, sample[3 * 2145]; /* multi-indices, (n+1)(n+2)/2 <= 2145 of them */
    int p, kp, index_p[3 * 15], local_p[4][15];
    int q, kq, index_q[3 * 15], local_q[4][15];
    int vertex[2145];
} gap_proxy__facet;

/* Local nodes of each face in the Gmsh order of a simplex on its vertices. */
static inline void gap_proxy__face_nodes(int dim, int order, const int *face, int local[4][15])
{
    int index[4 * 35], full[4], k, a, b, j, n = gap_proxy__count(dim - 1, order);

    gap_proxy__lattice(dim, order, 0, index);
    for (k = 0; k <= dim; ++k) {
        for (a = 0; a < n; ++a) {
            memset(full, 0, sizeof full);
            for (j = 0; j < dim; ++j) full[gap_proxy__face(dim, k, j)] = face[a * dim + j];
            for (b = 0; memcmp(index + b * (dim + 1), full, sizeof(int) * (size_t)(dim + 1)); ++b)
                continue;
            local[k][a] = b;
        }
    }
}

static inline void gap_proxy__facet_init(gap_proxy__facet *t, int dim, int n, int p, int q)
{
    int a = 0, i, j;

    t->n = n;
    t->p = p;
    t->q = q;
    t->kp = gap_proxy__count(dim - 1, p);
    t->kq = gap_proxy__count(dim - 1, q);
    gap_proxy__lattice(dim - 1, p, 0, t->index_p);
    gap_proxy__lattice(dim - 1, q, 0, t->index_q);
    gap_proxy__face_nodes(dim, p, t->index_p, t->local_p);
    gap_proxy__face_nodes(dim, q, t->index_q, t->local_q);
    for (i = 0; i <= n; ++i) { /* rows: (n-i-j, j, i) in 3D, (n-i, i) in 2D */
        for (j = 0; j <= (dim == 3 ? n - i : 0); ++j, ++a) {
            t->sample[a * dim] = n - i - j;
            t->sample[a * dim + 1] = dim == 3 ? j : i;
            if (dim == 3) t->sample[a * dim + 2] = i;
        }
    }
    t->samples = a;
}

/* Rows of W, sorted by node, for a new vertex; space for kp entries is there. */
static inline void gap_proxy__row(gap_proxy *s, const gap_proxy__facet *t, int v, int sample,
    const int *node, const int *local)
{
    int a, i, at = s->ptr[v], dim = s->dim;
    double w;

    for (a = 0; a < t->kp; ++a) {
        w = gap_proxy__value(dim, t->p, t->n, t->sample + sample * dim, t->index_p + a * dim);
        if (w == 0.0) continue;
        for (i = at; i > s->ptr[v] && s->node[i - 1] > node[local[a]]; --i) {
            s->node[i] = s->node[i - 1];
            s->weight[i] = s->weight[i - 1];
        }
        s->node[i] = node[local[a]];
        s->weight[i] = w;
        ++at;
    }
    s->ptr[v + 1] = at;
}

/* Samples of one facet: find or make its vertices, with row and geometric position. */
static inline void gap_proxy__sample(gap_proxy *s, gap_proxy__facet *t, gap_proxy__table *table,
    int face, const int *node, const int *geo, const double *X)
{
    int dim = s->dim, a, b, j, m, fresh, v, key[6];
    const int *i;
    double w;

    for (a = 0; a < t->samples; ++a) {
        i = t->sample + a * dim;
        for (m = j = 0; j < dim; ++j) {
            if (!i[j]) continue;
            key[2 * m] = geo[gap_proxy__face(dim, face, j)];
            key[2 * m++ + 1] = i[j];
        }
        gap_proxy__sort(key, m, 2);
        for (j = 2 * m; j < 6; ++j) key[j] = -1;
        v = t->vertex[a] = gap_proxy__table_add(table, key, &fresh);
        if (!fresh) continue;
        gap_proxy__row(s, t, v, a, node, t->local_p[face]);
        for (j = 0; j < dim; ++j) s->rest[gap_proxy__z(v, dim) + (size_t)j] = 0.0;
        for (b = 0; b < t->kq; ++b) {
            w = gap_proxy__value(dim, t->q, t->n, i, t->index_q + b * dim);
            for (j = 0; j < dim; ++j)
                s->rest[gap_proxy__z(v, dim) + (size_t)j]
                    += w * X[gap_proxy__z(geo[t->local_q[face][b]], dim) + (size_t)j];
        }
    }
}

/* Triangles (segments) of a facet whose samples are known; returns the new count. */
static inline int gap_proxy__connect(gap_proxy *s, const gap_proxy__facet *t, int element,
    int face, int count)
{
    int n = t->n, i, j, a, b, flip, *v;

    if (s->dim == 2) {
        for (i = 0; i < n; ++i, ++count) {
            s->edge[2 * count] = t->vertex[i];
            s->edge[2 * count + 1] = t->vertex[i + 1];
            s->facet[2 * count] = element;
            s->facet[2 * count + 1] = face;
        }
        return count;
    }
    for (a = i = 0; i < n; ++i, ++a) { /* a: first sample of row i, which has n - i + 1 */
        for (j = 0; j < n - i; ++j, ++a) {
            b = a + n - i + 1;
            for (flip = 0; flip < 1 + (j < n - i - 1); ++flip, ++count) {
                v = s->tri + gap_proxy__z(count, 3);
                v[0] = t->vertex[flip ? a + 1 : a];
                v[1] = t->vertex[flip ? b + 1 : a + 1];
                v[2] = t->vertex[b];
                s->facet[2 * count] = element;
                s->facet[2 * count + 1] = face;
            }
        }
    }
    return count;
}

static inline int gap_proxy__edges(gap_proxy *s)
{
    int i, j, id, fresh, key[2], a, b;
    gap_proxy__table t;

    s->edge = gap_proxy__ints(s, gap_proxy__z(s->triangles, 6));
    if (!s->edge || gap_proxy__table_init(s, &t, gap_proxy__z(s->triangles, 3), 2))
        return GAP_PROXY_ENOMEM;
    for (i = 0; i < s->triangles; ++i) {
        for (j = 0; j < 3; ++j) {
            a = s->tri[3 * i + j];
            b = s->tri[3 * i + (j + 1) % 3];
            key[0] = a < b ? a : b;
            key[1] = a < b ? b : a;
            id = gap_proxy__table_add(&t, key, &fresh);
            s->edge[2 * id] = key[0];
            s->edge[2 * id + 1] = key[1];
        }
    }
    s->edges = t.count;
    gap_proxy__drop(s);
    gap_proxy__drop(s);
    return GAP_PROXY_OK;
}

/* p = q = n = 1: vertices are the nodes. */
static inline void gap_proxy__identity(gap_proxy *s, int k, const int *geo_node, const int *list,
    int facets, const double *X)
{
    int i, j, dim = s->dim, *out = dim == 3 ? s->tri : s->edge;

    for (i = 0; i < s->nodes; ++i) {
        s->ptr[i] = s->node[i] = i;
        s->weight[i] = 1.0;
        s->point[i] = 0;
    }
    s->ptr[s->nodes] = s->vertices = s->nodes;
    if (s->nodes) memcpy(s->rest, X, sizeof(double) * gap_proxy__z(s->nodes, dim));
    for (i = 0; i < facets; ++i) {
        for (j = 0; j < dim; ++j) {
            int v = geo_node[gap_proxy__z(list[i] / (dim + 1), k)
                + (size_t)gap_proxy__face(dim, list[i] % (dim + 1), j)];
            out[dim * i + j] = v;
            s->point[v] = 1;
        }
        s->facet[2 * i] = list[i] / (dim + 1);
        s->facet[2 * i + 1] = list[i] % (dim + 1);
    }
    for (i = 0; i < s->nodes; ++i)
        if (s->point[i]) s->point[s->points++] = i;
}

/* Space for everything, of the size that `facets` facets can need. */
static inline int gap_proxy__space(gap_proxy *s, int facets, int kp, int samples)
{
    int dim = s->dim, n = s->segments;
    size_t v = s->identity ? (size_t)s->nodes : gap_proxy__z(facets, samples);
    size_t pieces = gap_proxy__z(facets, dim == 3 ? n * n : n);

    if (v > INT_MAX / 15 || pieces > INT_MAX / 6) return GAP_PROXY_ESIZE;
    s->rest = (double *)gap_proxy__take(s, v * (size_t)dim, sizeof(double));
    s->weight = s->rest ? (double *)gap_proxy__take(s, v * (size_t)(s->identity ? 1 : kp),
        sizeof(double)) : NULL;
    s->node = s->weight ? gap_proxy__ints(s, v * (size_t)(s->identity ? 1 : kp)) : NULL;
    s->ptr = s->node ? gap_proxy__ints(s, v + 1) : NULL;
    s->point = s->ptr ? gap_proxy__ints(s, v) : NULL;
    s->facet = s->point ? gap_proxy__ints(s, 2 * pieces) : NULL;
    if (s->facet && dim == 3) s->tri = gap_proxy__ints(s, 3 * pieces);
    if (s->facet && dim == 2) s->edge = gap_proxy__ints(s, 2 * pieces);
    if (!s->tri && !s->edge) return GAP_PROXY_ENOMEM;
    return GAP_PROXY_OK;
}

static inline int gap_proxy__build(gap_proxy *s, int elements, int p, const double *rest,
    const int *node, int q, const double *X, const int *geo_node)
{
    int dim = s->dim, kp = gap_proxy__count(dim, p), kq = gap_proxy__count(dim, q), facets, i, e;
    int samples = gap_proxy__count(dim - 1, s->segments), *list, pieces = 0, status;
    gap_proxy__facet *t;
    gap_proxy__table table;

    facets = gap_proxy__boundary(s, elements, kq, geo_node, &list);
    if (facets < 0) return facets;
    status = gap_proxy__space(s, facets, gap_proxy__count(dim - 1, p), samples);
    if (status) return status;
    if (s->identity) {
        gap_proxy__identity(s, kq, geo_node, list, facets, X);
        pieces = facets;
    } else {
        t = (gap_proxy__facet *)gap_proxy__take(s, 1, sizeof *t);
        if (!t || gap_proxy__table_init(s, &table, gap_proxy__z(facets, samples), 6))
            return GAP_PROXY_ENOMEM;
        gap_proxy__facet_init(t, dim, s->segments, p, q);
        s->ptr[0] = 0;
        for (i = 0; i < facets; ++i) {
            e = list[i] / (dim + 1);
            gap_proxy__sample(s, t, &table, list[i] % (dim + 1), node + gap_proxy__z(e, kp),
                geo_node + gap_proxy__z(e, kq), X);
            pieces = gap_proxy__connect(s, t, e, list[i] % (dim + 1), pieces);
        }
        s->vertices = s->points = table.count;
        for (i = 0; i < s->points; ++i) s->point[i] = i;
        for (i = 0; i < 3; ++i) gap_proxy__drop(s);
        if (p < q) {
            s->offset = (double *)gap_proxy__take(s, gap_proxy__z(s->vertices, dim),
                sizeof(double));
            if (!s->offset) return GAP_PROXY_ENOMEM;
            gap_proxy_apply(s, rest, 1, 0, s->vertices, s->offset);
            for (i = 0; i < s->vertices * dim; ++i) s->offset[i] = s->rest[i] - s->offset[i];
        } else {
            gap_proxy_apply(s, rest, 0, 0, s->vertices, s->rest); /* the same bits as later on */
        }
    }
    if (dim == 3) s->triangles = pieces;
    else s->edges = pieces;
    return dim == 3 ? gap_proxy__edges(s) : GAP_PROXY_OK;
}

GAP_PROXY_API int gap_proxy_init(gap_proxy *s, int dim, int elements, int order, int nodes,
    const double *rest, const int *node, int geometry, const double *X, const int *geo_node,
    const gap_proxy_options *opt)
{
    int status = GAP_PROXY_OK, bad, i, k;

    GAP_PROXY_ASSERT(s && elements >= 0 && nodes >= 0);
    memset(s, 0, sizeof *s);
    s->bad = -1;
    if (opt) s->opt = *opt;
    if (!s->opt.realloc_fn) s->opt.realloc_fn = gap_proxy__realloc_libc;
    if (dim < 2 || dim > 3 || order < 1 || order > 4 || geometry < 1 || geometry > 4
        || s->opt.segments < 0) return GAP_PROXY_EINPUT;
    if (s->opt.segments > 64 || elements > INT_MAX / 105) return GAP_PROXY_ESIZE;
    s->dim = dim;
    s->nodes = nodes;
    s->segments = s->opt.segments ? s->opt.segments : order > geometry ? order : geometry;
    s->identity = order == 1 && geometry == 1 && s->segments == 1;
    k = gap_proxy__count(dim, order);
    for (i = 0; i < elements * k && !status; ++i) {
        if (node[i] >= 0 && node[i] < nodes) continue;
        s->bad = i / k;
        status = GAP_PROXY_EINDEX;
    }
    if (!status) status = gap_proxy__build(s, elements, order, rest, node, geometry, X, geo_node);
    if (status) {
        bad = s->bad;
        gap_proxy_free(s);
        s->bad = bad;
    }
    return status;
}

GAP_PROXY_API void gap_proxy_free(gap_proxy *s)
{
    while (s->mems > 0) gap_proxy__drop(s);
    memset(s, 0, sizeof *s);
    s->bad = -1;
}

GAP_PROXY_API void gap_proxy_apply(const gap_proxy *s, const double *x, int direction, int begin,
    int end, double *xs)
{
    int dim = s->dim, v, i, c;
    const double *p;
    double sum[3], w;

    GAP_PROXY_ASSERT(begin >= 0 && begin <= end && end <= s->vertices);
    if (s->identity) {
        if (end > begin)
            memcpy(xs + gap_proxy__z(begin, dim), x + gap_proxy__z(begin, dim),
                sizeof(double) * gap_proxy__z(end - begin, dim));
        return;
    }
    for (v = begin; v < end; ++v) {
        for (c = 0; c < dim; ++c)
            sum[c] = s->offset && !direction ? s->offset[gap_proxy__z(v, dim) + (size_t)c] : 0.0;
        for (i = s->ptr[v]; i < s->ptr[v + 1]; ++i) {
            p = x + gap_proxy__z(s->node[i], dim);
            w = s->weight[i];
            for (c = 0; c < dim; ++c) sum[c] += w * p[c];
        }
        for (c = 0; c < dim; ++c) xs[gap_proxy__z(v, dim) + (size_t)c] = sum[c];
    }
}

GAP_PROXY_API void gap_proxy_pull_vector(const gap_proxy *s, const double *gs, double *g)
{
    int dim = s->dim, v, i, c;

    for (v = 0; v < s->vertices; ++v)
        for (i = s->ptr[v]; i < s->ptr[v + 1]; ++i)
            for (c = 0; c < dim; ++c)
                g[gap_proxy__z(s->node[i], dim) + (size_t)c]
                    += s->weight[i] * gs[gap_proxy__z(v, dim) + (size_t)c];
}

/* Union of the nodes of a stencil, in order of first appearance, and the place of each entry of
   each row in it; returns its size, or width + 1 if it does not fit. */
static inline int gap_proxy__union(const gap_proxy *s, int k, const int *vertex, int width,
    int *out, int *place)
{
    int n = 0, r, i, j;

    for (r = 0; r < k; ++r) {
        if (vertex[r] < 0) continue;
        for (i = s->ptr[vertex[r]]; i < s->ptr[vertex[r] + 1]; ++i) {
            for (j = 0; j < n && out[j] != s->node[i]; ++j) continue;
            if (j == n) {
                if (n == width) return width + 1;
                out[n++] = s->node[i];
            }
            if (place) place[15 * r + i - s->ptr[vertex[r]]] = j;
        }
    }
    return n;
}

GAP_PROXY_API int gap_proxy_width(const gap_proxy *s, int count, int k, const int *vertex)
{
    int i, n, most = k, list[60];

    GAP_PROXY_ASSERT(k >= 1 && k <= 4);
    for (i = 0; i < count && !s->identity; ++i) {
        n = gap_proxy__union(s, k, vertex + gap_proxy__z(i, k), 60, list, NULL);
        if (n > most) most = n;
    }
    return most;
}

GAP_PROXY_API int gap_proxy_pull(const gap_proxy *s, int count, int k, const int *vertex,
    const double *gradient, const double *hessian, int width, int *out_node, double *out_gradient,
    double *out_hessian)
{
    int dim = s->dim, m = k * dim, wide = width * dim, i, r, a, b, c, n, row, place[60], v;
    int status = GAP_PROXY_OK;
    double T[12 * 180], w, *H;

    GAP_PROXY_ASSERT(k >= 1 && k <= 4 && width >= 1 && width <= 60);
    for (i = 0; i < count; ++i, vertex += k, out_node += width) {
        n = gap_proxy__union(s, k, vertex, width, out_node, place);
        if (n > width) {
            status = GAP_PROXY_EINPUT;
            n = 0;
        }
        for (a = n; a < width; ++a) out_node[a] = -1;
        if (gradient) memset(out_gradient, 0, sizeof(double) * (size_t)wide);
        if (hessian) memset(out_hessian, 0, sizeof(double) * gap_proxy__z(wide, wide));
        memset(T, 0, sizeof(double) * gap_proxy__z(m, n * dim));
        for (r = 0; r < k && n; ++r) {
            v = vertex[r];
            for (a = v < 0 ? 0 : s->ptr[v]; a < (v < 0 ? 0 : s->ptr[v + 1]); ++a) {
                w = s->weight[a];
                b = place[15 * r + a - s->ptr[v]] * dim;
                for (c = 0; c < dim; ++c) {
                    if (gradient) out_gradient[b + c] += w * gradient[r * dim + c];
                    for (row = 0; hessian && row < m; ++row) /* T = H W */
                        T[row * n * dim + b + c] += w * hessian[row * m + r * dim + c];
                }
            }
        }
        for (r = 0; r < k && n && hessian; ++r) {
            v = vertex[r];
            for (a = v < 0 ? 0 : s->ptr[v]; a < (v < 0 ? 0 : s->ptr[v + 1]); ++a) {
                w = s->weight[a];
                for (c = 0; c < dim; ++c) { /* W^T T */
                    H = out_hessian + gap_proxy__z(place[15 * r + a - s->ptr[v]] * dim + c, wide);
                    for (b = 0; b < n * dim; ++b) H[b] += w * T[(r * dim + c) * n * dim + b];
                }
            }
        }
        if (gradient) {
            gradient += m;
            out_gradient += wide;
        }
        if (hessian) {
            hessian += m * m;
            out_hessian += gap_proxy__z(wide, wide);
        }
    }
    return status;
}
#endif /* GAP_PROXY_IMPLEMENTATION */
/*
MIT No Attribution

Copyright 2026 the gap authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this
software and associated documentation files (the "Software"), to deal in the Software
without restriction, including without limitation the rights to use, copy, modify,
merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
permit persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A
PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT
HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE
OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

*/
