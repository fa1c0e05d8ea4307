/* gap_broad.h - v0.1.0 - broad phase: boxes at rest or in motion -> pairs - MIT-0, see end
   Which vertices, edges and triangles can touch? Lists every pair whose boxes overlap.
QUICK START
   #define GAP_BROAD_IMPLEMENTATION
   #include "gap_broad.h"
   #include <stdio.h>
   int main(void)
   {
       double x[18] = {0,0,0, 1,0,0, 0,1,0,  .2,.2,.1, 1.2,.2,.1, .2,1.2,.1};
       int tri[6] = {0,1,2, 3,4,5}, edge[12] = {0,1, 1,2, 0,2, 3,4, 4,5, 3,5}, n;
       const int *pair;
       gap_broad b;
       gap_broad_mesh m = {3, 6, 6, 2, 0, edge, tri, NULL, NULL, NULL, NULL};
       gap_broad_init(&b, NULL);
       if (gap_broad_set_mesh(&b, &m) == 0 && gap_broad_build(&b, x, NULL, 0.06) == 0) {
           gap_broad_pairs(&b, GAP_BROAD_VF, &pair, &n);
           printf("%d vf, first %d %d\n", n, pair[0], pair[1]); // 1 vf, first 3 0
       }
       gap_broad_free(&b);
       return 0;
   }
GUARANTEES
   Exact    a list holds exactly the pairs whose double boxes (below) overlap, boundaries included,
            less those left out by rule. Floats prune, or agree where the margin leaves no doubt.
   Safe     boxes are rounded outwards: two primitives that at one time t in [0,1] of the motion
            x0 + t (x1 - x0) are no farther apart than their radii + 2 inflate are in the list.
   Sorted   by first, then second; none twice. Same list for any number of threads.
   Memory   at most 40 bytes per node, edge, triangle and point (a particle is a node and a point)
            + 2 KB, beside the lists; none in steady state. Not promised: how many pairs there are.
OPTIONS (define before the implementation)
   GAP_BROAD_STATIC     keep all functions private to this file
   GAP_BROAD_ASSERT(x)  replaces assert(x)
   GAP_BROAD_SCALAR     no vector code; same lists
EDGE CASES
   NaN, infinity in x, radius or inflate: ENONFIN, and no list until the next good build.
   negative radius or inflate: EINPUT.  node number out of range: EINDEX.  empty mesh: empty lists.
   edge or triangle with a node twice: like any other.  node in no edge, triangle or point: unseen.
METHOD
   Boxes. With g = inflate + the largest radius of the primitive's nodes, per axis
   [min - g, max + g] over its nodes (at x0 and x1), moved outwards by one part in 2^52 if g > 0.
   Tree. Primitives in Morton order, 8 to a leaf, 8 children to a node, no pointers, float boxes
   rounded outwards: 36 bytes each. Refit keeps the order. Vertices (vf, ve, vv) or edges (ee) walk
   it, up to 8 neighbours in number at once (so number nodes along the surface, not at random); ee
   skips subtrees without a larger number. As in the LBVH of ipc-toolkit the tree comes from a sort;
   ours is implicit and wide, and doubles decide.
   Kinds. vf: vertex-triangle, ee: edge-edge (3D). ve: in 2D any vertex with any edge; in 3D nodes
   of codimensional edges (in no triangle) and points, with codimensional edges. vv: two points.
   Left out: pairs that share a node; of one negative group (a primitive's group is that of its
   first node); with all components of all nodes fixed; those for which keep() says 0.
NOT HERE   distances: gap_distance.h.  time of impact: gap_ccd.h, gap_accd.h.  planes: every vertex
   meets every plane, no tree helps.
HISTORY    0.1.0 first release */
#ifndef GAP_BROAD_H
#define GAP_BROAD_H
#include <stddef.h>
#define GAP_BROAD_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_BROAD_STATIC
#define GAP_BROAD_API static inline
#else
#define GAP_BROAD_API extern
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_broad_status {
    GAP_BROAD_OK = 0,
    GAP_BROAD_MORE = 1,     /* query: the buffer was too small, *count says what is needed */
    GAP_BROAD_ENONFIN = -1, /* a coordinate, radius or inflate is not finite */
    GAP_BROAD_ENOMEM = -2,
    GAP_BROAD_EINDEX = -3, /* a node number is out of range */
    GAP_BROAD_ESIZE = -4,  /* more than INT_MAX pairs, or 2^30 primitives of a kind */
    GAP_BROAD_EINPUT = -6  /* dim not 2 or 3; negative radius or inflate; query before a build */
} gap_broad_status;

typedef enum gap_broad_kind {
    GAP_BROAD_VV = 0,
    GAP_BROAD_VE = 1,
    GAP_BROAD_VF = 2,
    GAP_BROAD_EE = 3
} gap_broad_kind;

typedef enum gap_broad_what {
    GAP_BROAD_POINTS = 0,
    GAP_BROAD_EDGES = 1,
    GAP_BROAD_TRIS = 2
} gap_broad_what;

typedef void (*gap_broad_range)(void *ctx, int begin, int end, int worker);
typedef void (*gap_broad_parallel_for)(void *user, int count, int grain, gap_broad_range fn,
    void *ctx);
typedef void *(*gap_broad_realloc)(void *user, void *p, size_t old_size, size_t new_size);
/* The caller's own rule: 0 leaves the pair out. Called from several threads at once, and possibly
   more than once for a pair: its answer must depend on its arguments alone. */
typedef int (*gap_broad_keep)(void *user, int kind, int a, int b);

typedef struct gap_broad_options {
    gap_broad_keep keep;                 /* NULL: keep all */
    void *keep_user;
    gap_broad_parallel_for parallel_for; /* NULL: plain loops */
    void *parallel_user;
    int workers;                         /* not needed here: scratch is per chunk */
    gap_broad_realloc realloc_fn;        /* NULL: libc */
    void *realloc_user;
} gap_broad_options;

/* A mesh. The arrays are the caller's and must live, unchanged, as long as they are used. */
typedef struct gap_broad_mesh {
    int dim;                    /* 2 or 3 */
    int nodes, edges, tris;     /* counts; tris are ignored in 2D */
    int points;                 /* count of codimensional vertices (particles) */
    const int *edge;            /* 2 per edge, each edge once; also those of triangles */
    const int *tri;             /* 3 per triangle */
    const int *point;           /* 1 per point */
    const unsigned char *fixed; /* 1 per node, bit c = component c prescribed; NULL: none */
    const double *radius;       /* 1 per node, half thickness >= 0; NULL: 0 */
    const int *group;           /* 1 per node; NULL: all 0 */
} gap_broad_mesh;

typedef struct gap_broad_tree { /* private */
    unsigned char *mem;
    size_t size;
    int count, top;      /* primitives; index of the root's level, -1 if empty */
    int first[13];       /* first node of each level, leaves are level 0 */
    float reach;         /* mean sum of the sides of a leaf's box */
} gap_broad_tree;

typedef struct gap_broad { /* all fields are private */
    gap_broad_options opt;
    gap_broad_mesh mesh;
    gap_broad_tree tree[3];
    unsigned char *flag; /* per node, then per edge */
    size_t flag_size;
    float *node_box;     /* 8 per node: lo xyz, -radius, hi xyz, radius, scaled to [-1, 1] */
    size_t node_size;
    int *pair[4];
    size_t pair_size[4];
    int slot;            /* pairs that a chunk of first primitives may give before a retry */
    const double *x0, *x1;
    double inflate;
    double center[3], scale, pad;
    int built;
} gap_broad;

/* Make an empty object; nothing is allocated. opt may be NULL; it is copied. */
GAP_BROAD_API void gap_broad_init(gap_broad *b, const gap_broad_options *opt);

/* Give back all memory. The object is then as after init. */
GAP_BROAD_API void gap_broad_free(gap_broad *b);

/* Take a mesh: checks the node numbers, finds the codimensional edges. The struct is copied, the
   arrays are not. Needs a build afterwards. O(nodes + edges + tris). */
GAP_BROAD_API int gap_broad_set_mesh(gap_broad *b, const gap_broad_mesh *mesh);

/* Sort the primitives and make their boxes.
   x0       positions, dim per node; read again by every query until the next build or refit
   x1       positions at the end of a linear motion, NULL: at rest
   inflate  length added on all sides of each box, >= 0; for "closer than dhat" use dhat / 2
   O(n). */
GAP_BROAD_API int gap_broad_build(gap_broad *b, const double *x0, const double *x1,
    double inflate);

/* As build, but keeps the order of the last build: cheaper, the lists are the same, and queries
   become slower only when things have moved far since. Without an earlier build it builds. */
GAP_BROAD_API int gap_broad_refit(gap_broad *b, const double *x0, const double *x1,
    double inflate);

/* All pairs of one kind.
   kind   gap_broad_kind
   pair   2 per pair, owned by the object, valid until the next call for this kind
   count  number of pairs; 0 on error */
GAP_BROAD_API int gap_broad_pairs(gap_broad *b, int kind, const int **pair, int *count);

/* The pairs whose first primitive is in [begin, end): nodes, or for ee edges. Any number of
   threads may ask at once. The lists of consecutive ranges joined are the whole list.
   pair      2 * capacity ints
   count     pairs found; if more than capacity the status is MORE and pair is undefined */
GAP_BROAD_API int gap_broad_query(const gap_broad *b, int kind, int begin, int end, int *pair,
    size_t capacity, size_t *count);

/* The points, edges or triangles (what: gap_broad_what) whose boxes overlap the box lo, hi (dim
   each), ascending; no pair is left out. out has capacity ints; count as in gap_broad_query. */
GAP_BROAD_API int gap_broad_in_box(const gap_broad *b, int what, const double *lo,
    const double *hi, int *out, size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif /* GAP_BROAD_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_BROAD_STATIC)) && \
    !defined(GAP_BROAD_IMPLEMENTATION)
#define GAP_BROAD_IMPLEMENTATION
#endif
#if defined(GAP_BROAD_IMPLEMENTATION) && !defined(GAP_BROAD_IMPLEMENTED)
#define GAP_BROAD_IMPLEMENTED
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifndef GAP_BROAD_ASSERT
#include <assert.h>
#define GAP_BROAD_ASSERT(x) assert(x)
#endif

#define GAP_BROAD__WIDE 8      /* children of a node, primitives of a leaf */
#define GAP_BROAD__GRAIN 256   /* first primitives in one chunk of a query */
#define GAP_BROAD__BATCH 64    /* chunks that write side by side before the list is closed up */
#define GAP_BROAD__DIGIT 11    /* bits of one radix pass: the counters fit the first cache */
#define GAP_BROAD__AXIS_BITS 14 /* Morton bits per axis: cells of 1/16384 of the scene */

#define GAP_BROAD__USED 1      /* node flag: in an edge, triangle or point */
#define GAP_BROAD__POINT 2     /* node flag: listed as point */
#define GAP_BROAD__CODIM 4     /* node flag: takes part in ve; edge flag: in no triangle */

typedef struct gap_broad__node {
    float lo[3][GAP_BROAD__WIDE];
    float hi[3][GAP_BROAD__WIDE];
    int id[GAP_BROAD__WIDE]; /* leaf: primitive, -1 = empty; above: largest primitive below it */
} gap_broad__node;

static inline void *gap_broad__realloc_libc(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, new_size);
}

/* ---- vector kernels and their scalar twins: compare, min and max only, so the same bits ---- */
#if defined(__SSE2__) && defined(__GNUC__) && !defined(GAP_BROAD_SCALAR)
typedef float gap_broad__f4 __attribute__((vector_size(16)));
typedef int gap_broad__i4 __attribute__((vector_size(16)));

/* Smallest box around n node boxes (8 floats each): lo and -radius by min, hi and radius by max. */
static inline void gap_broad__hull(const float *box, const int *node, int n, float out[8])
{
    gap_broad__f4 lo, hi, v;
    int k;
    memcpy(&lo, box + 8 * (size_t)node[0], sizeof lo);
    memcpy(&hi, box + 8 * (size_t)node[0] + 4, sizeof hi);
    for (k = 1; k < n; ++k) {
        memcpy(&v, box + 8 * (size_t)node[k], sizeof v);
        lo = __builtin_ia32_minps(lo, v);
        memcpy(&v, box + 8 * (size_t)node[k] + 4, sizeof v);
        hi = __builtin_ia32_maxps(hi, v);
    }
    memcpy(out, &lo, sizeof lo);
    memcpy(out + 4, &hi, sizeof hi);
}

/* One axis of an overlap test of eight boxes with the interval l, h; in: two halves of four. */
static inline void gap_broad__axis(const float *lo, const float *hi, float l, float h,
    gap_broad__i4 in[2])
{
    const gap_broad__f4 ll = {l, l, l, l}, hh = {h, h, h, h};
    gap_broad__f4 v;
    memcpy(&v, lo, sizeof v);
    in[0] &= v <= hh;
    memcpy(&v, lo + 4, sizeof v);
    in[1] &= v <= hh;
    memcpy(&v, hi, sizeof v);
    in[0] &= v >= ll;
    memcpy(&v, hi + 4, sizeof v);
    in[1] &= v >= ll;
}

static inline unsigned gap_broad__bits(const gap_broad__i4 in[2])
{
    gap_broad__f4 v, w;
    memcpy(&v, &in[0], sizeof v);
    memcpy(&w, &in[1], sizeof w);
    return (unsigned)__builtin_ia32_movmskps(v) | (unsigned)__builtin_ia32_movmskps(w) << 4;
}

/* Bit k: the box of child k overlaps the box lo, hi (3 values, stride apart), and its id is
   above `above`. */
static inline unsigned gap_broad__overlap(const gap_broad__node *n, const float *lo,
    const float *hi, int stride, int above)
{
    const gap_broad__i4 least = {above, above, above, above};
    gap_broad__i4 in[2];
    memcpy(in, n->id, sizeof in);
    in[0] = in[0] > least;
    in[1] = in[1] > least;
    gap_broad__axis(n->lo[0], n->hi[0], lo[0], hi[0], in);
    gap_broad__axis(n->lo[1], n->hi[1], lo[stride], hi[stride], in);
    gap_broad__axis(n->lo[2], n->hi[2], lo[2 * stride], hi[2 * stride], in);
    return gap_broad__bits(in);
}

/* Bit k: one of a[0][k], a[1][k] is one of node[0..2]. */
static inline unsigned gap_broad__shared(const int a[2][GAP_BROAD__WIDE], const int node[3])
{
    const gap_broad__i4 u = {node[0], node[0], node[0], node[0]};
    const gap_broad__i4 v = {node[1], node[1], node[1], node[1]};
    const gap_broad__i4 w = {node[2], node[2], node[2], node[2]};
    gap_broad__i4 x[4], in[2];
    memcpy(x, a, sizeof x); /* both rows, halves of four */
    in[0] = (x[0] == u) | (x[0] == v) | (x[0] == w) | (x[2] == u) | (x[2] == v) | (x[2] == w);
    in[1] = (x[1] == u) | (x[1] == v) | (x[1] == w) | (x[3] == u) | (x[3] == v) | (x[3] == w);
    return gap_broad__bits(in);
}

static inline int gap_broad__lowest_bit(unsigned m)
{
    return __builtin_ctz(m);
}
#else
static inline void gap_broad__hull(const float *box, const int *node, int n, float out[8])
{
    int i, k;
    memcpy(out, box + 8 * (size_t)node[0], 8 * sizeof *out);
    for (i = 1; i < n; ++i) {
        const float *v = box + 8 * (size_t)node[i];
        for (k = 0; k < 4; ++k) {
            if (v[k] < out[k]) out[k] = v[k];
            if (v[4 + k] > out[4 + k]) out[4 + k] = v[4 + k];
        }
    }
}

static inline unsigned gap_broad__overlap(const gap_broad__node *n, const float *lo,
    const float *hi, int stride, int above)
{
    unsigned bits = 0;
    int k;
    for (k = 0; k < GAP_BROAD__WIDE; ++k) {
        if (n->id[k] > above && n->lo[0][k] <= hi[0] && n->hi[0][k] >= lo[0] &&
            n->lo[1][k] <= hi[stride] && n->hi[1][k] >= lo[stride] &&
            n->lo[2][k] <= hi[2 * stride] && n->hi[2][k] >= lo[2 * stride])
            bits |= 1u << k;
    }
    return bits;
}

static inline unsigned gap_broad__shared(const int a[2][GAP_BROAD__WIDE], const int node[3])
{
    unsigned bits = 0;
    int j, k;
    for (k = 0; k < GAP_BROAD__WIDE; ++k)
        for (j = 0; j < 3; ++j)
            if (a[0][k] == node[j] || a[1][k] == node[j]) bits |= 1u << k;
    return bits;
}

static inline int gap_broad__lowest_bit(unsigned m)
{
    int k = 0;
    while (!(m >> k & 1u)) ++k;
    return k;
}
#endif

/* ---- memory, ranges ------------------------------------------------------------------------ */
/* Grow *p to at least `need` bytes, keeping its content; 0 if there is no memory. */
static inline int gap_broad__grow(gap_broad *b, void **p, size_t *size, size_t need)
{
    void *q;
    if (need <= *size) return 1;
    q = b->opt.realloc_fn(b->opt.realloc_user, *p, *size, need);
    if (!q) return 0;
    *p = q;
    *size = need;
    return 1;
}

static inline void gap_broad__release(gap_broad *b, void **p, size_t *size)
{
    if (*p) b->opt.realloc_fn(b->opt.realloc_user, *p, *size, 0);
    *p = NULL;
    *size = 0;
}

static inline void gap_broad__for(const gap_broad *b, int count, int grain, gap_broad_range fn,
    void *ctx)
{
    int begin;
    if (b->opt.parallel_for) {
        if (count > 0) b->opt.parallel_for(b->opt.parallel_user, count, grain, fn, ctx);
        return;
    }
    for (begin = 0; begin < count; begin += grain)
        fn(ctx, begin, count - begin < grain ? count : begin + grain, 0);
}

/* ---- primitives ---------------------------------------------------------------------------- */
/* The nodes of primitive i; returns their number. */
static inline int gap_broad__nodes(const gap_broad *b, int what, int i, int node[3])
{
    const int *p;
    if (what == GAP_BROAD_POINTS) {
        node[0] = i;
        return 1;
    }
    if (what == GAP_BROAD_EDGES) {
        p = b->mesh.edge + 2 * (size_t)i;
        node[0] = p[0];
        node[1] = p[1];
        return 2;
    }
    p = b->mesh.tri + 3 * (size_t)i;
    node[0] = p[0];
    node[1] = p[1];
    node[2] = p[2];
    return 3;
}

/* The double box of METHOD. Rounding: the sum g and the difference lo - g carry at most 2^-53 of
   their size each. g (1 + 2^-52) covers the first; v - |v| 2^-52 - DBL_MIN is at least one step
   below v and covers the second, and whatever flush to zero takes away. */
static inline void gap_broad__box(const gap_broad *b, const int *node, int n, double lo[3],
    double hi[3])
{
    const int dim = b->mesh.dim;
    double g = 0.0;
    int i, k;
    for (k = 0; k < dim; ++k) lo[k] = hi[k] = b->x0[(size_t)dim * (size_t)node[0] + (size_t)k];
    for (i = 0; i < n; ++i) {
        const size_t at = (size_t)dim * (size_t)node[i];
        for (k = 0; k < dim; ++k) {
            double v = b->x0[at + (size_t)k];
            double w = b->x1[at + (size_t)k];
            lo[k] = v < lo[k] ? v : lo[k];
            hi[k] = v > hi[k] ? v : hi[k];
            lo[k] = w < lo[k] ? w : lo[k];
            hi[k] = w > hi[k] ? w : hi[k];
        }
        if (b->mesh.radius && b->mesh.radius[node[i]] > g) g = b->mesh.radius[node[i]];
    }
    g += b->inflate;
    if (!(g > 0.0)) return;
    g += g * DBL_EPSILON;
    for (k = 0; k < dim; ++k) {
        lo[k] -= g;
        hi[k] += g;
        lo[k] = lo[k] - fabs(lo[k]) * DBL_EPSILON - DBL_MIN;
        hi[k] = hi[k] + fabs(hi[k]) * DBL_EPSILON + DBL_MIN;
    }
}

/* The float box of a primitive, in the scaled frame of the nodes' boxes. */
static inline void gap_broad__float_box(const gap_broad *b, const int *node, int n, float box[8])
{
    int k;
    gap_broad__hull(b->node_box, node, n, box);
    if (!b->mesh.radius) return;
    for (k = 0; k < 3; ++k) {
        box[k] -= box[7];
        box[4 + k] += box[7];
    }
}

/* ---- the scaled frame ---------------------------------------------------------------------- */
/* Widen lo, hi by the positions x of all used nodes; 0 if one is not finite. */
static inline int gap_broad__bounds(const gap_broad *b, int dim, const double *x, double lo[3],
    double hi[3])
{
    double bad[3] = {0, 0, 0};
    int i, k;
    for (i = 0; i < b->mesh.nodes; ++i, x += dim) {
        if (!(b->flag[i] & GAP_BROAD__USED)) continue;
        for (k = 0; k < dim; ++k) {
            lo[k] = x[k] < lo[k] ? x[k] : lo[k];
            hi[k] = x[k] > hi[k] ? x[k] : hi[k];
            bad[k] += x[k] - x[k]; /* NaN once x is not finite */
        }
    }
    return bad[0] + bad[1] + bad[2] == 0.0;
}

/* Float boxes live in y = (x - center) scale with scale a power of two and |y| <= 1, so that they
   neither overflow nor lose bits far from the origin. One pad covers all that lies between them
   and the double boxes: rounding to float (2^-24), a radius rounded and added (2^-23), and the
   outward step of the double boxes (2^-51 of the largest coordinate M, scaled). */
static inline int gap_broad__frame(gap_broad *b)
{
    const int dim = b->mesh.dim;
    double lo[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, hi[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
    double size = 0.0, big = 0.0, rmax = 0.0;
    int i, k, e, ok = fabs(b->inflate) <= DBL_MAX;
    for (i = 0; i < (b->x1 == b->x0 ? 1 : 2); ++i) /* dim as a constant: unrolled */
        ok &= dim == 3 ? gap_broad__bounds(b, 3, i ? b->x1 : b->x0, lo, hi) :
            gap_broad__bounds(b, 2, i ? b->x1 : b->x0, lo, hi);
    if (!ok) return GAP_BROAD_ENONFIN;
    if (b->inflate < 0.0) return GAP_BROAD_EINPUT;
    for (i = 0; b->mesh.radius && i < b->mesh.nodes; ++i) {
        double r = b->mesh.radius[i];
        if (!(b->flag[i] & GAP_BROAD__USED)) continue;
        if (!(fabs(r) <= DBL_MAX)) return GAP_BROAD_ENONFIN;
        if (r < 0.0) return GAP_BROAD_EINPUT;
        if (r > rmax) rmax = r;
    }
    for (k = 0; k < dim && lo[0] <= hi[0]; ++k) {
        b->center[k] = 0.5 * lo[k] + 0.5 * hi[k];
        if (0.5 * hi[k] - 0.5 * lo[k] > size) size = 0.5 * hi[k] - 0.5 * lo[k];
        big = fabs(lo[k]) > big ? fabs(lo[k]) : big;
        big = fabs(hi[k]) > big ? fabs(hi[k]) : big;
    }
    size += rmax + b->inflate;
    if (!(size <= DBL_MAX)) size = DBL_MAX;
    if (size < 1e-18 * big) size = 1e-18 * big; /* all in one place: keep x scale finite */
    if (size < 1e-290) size = 1e-290;
    frexp(size, &e);
    b->scale = ldexp(1.0, -e);
    for (k = 0; k < dim; ++k) b->center[k] *= b->scale;
    b->pad = ldexp(1.0, -22) + ldexp(1.0, -49) * (big * b->scale + 1.0);
    return GAP_BROAD_OK;
}

static inline void gap_broad__node_boxes(gap_broad *b, int dim, int begin, int end)
{
    const double grow = b->inflate * b->scale + b->pad;
    int i, k;
    for (i = begin; i < end; ++i) {
        float *box = b->node_box + 8 * (size_t)i;
        const double *x0 = b->x0 + (size_t)dim * (size_t)i, *x1 = b->x1 + (size_t)dim * (size_t)i;
        const double r = b->mesh.radius ? b->mesh.radius[i] * b->scale + b->pad : 0.0;
        box[2] = box[6] = 0.0f;
        box[3] = -(float)r;
        box[7] = (float)r;
        if (!(b->flag[i] & GAP_BROAD__USED)) continue;
        for (k = 0; k < dim; ++k) {
            double v = x0[k] * b->scale - b->center[k], w = x1[k] * b->scale - b->center[k];
            box[k] = (float)((v < w ? v : w) - grow);
            box[4 + k] = (float)((v > w ? v : w) + grow);
        }
    }
}

static inline void gap_broad__node_range(void *ctx, int begin, int end, int worker)
{
    gap_broad *b = (gap_broad *)ctx;
    (void)worker;
    if (b->mesh.dim == 3) gap_broad__node_boxes(b, 3, begin, end);
    else gap_broad__node_boxes(b, 2, begin, end);
}

/* ---- the tree ------------------------------------------------------------------------------ */
typedef struct gap_broad__job {
    gap_broad *b;
    int what, level;
    uint64_t *key;
} gap_broad__job;

static inline gap_broad__node *gap_broad__at(const gap_broad_tree *t, int level, int i)
{
    return (gap_broad__node *)(void *)t->mem + (size_t)t->first[level] + (size_t)i;
}

static inline int gap_broad__level_size(const gap_broad_tree *t, int level)
{
    return t->first[level + 1] - t->first[level];
}

/* Levels of a tree over n primitives, leaves first. */
static inline void gap_broad__layout(gap_broad_tree *t, int n)
{
    int m = n;
    t->count = n;
    t->top = -1;
    t->first[0] = 0;
    while (m > 1 || (n > 0 && t->top < 0)) {
        m = m / GAP_BROAD__WIDE + (m % GAP_BROAD__WIDE != 0);
        ++t->top;
        t->first[t->top + 1] = t->first[t->top] + m;
    }
}

/* Bytes: 28 per primitive for leaves and 8 for the sorted keys behind them, where the upper
   levels (4 per primitive) go later. The other half of the sort lies where the leaves will be. */
static inline size_t gap_broad__tree_bytes(const gap_broad_tree *t)
{
    size_t nodes = (size_t)t->first[t->top + 1] * sizeof(gap_broad__node);
    size_t leaves = (size_t)t->first[1] * sizeof(gap_broad__node) + 8 * (size_t)t->count;
    return nodes > leaves ? nodes : leaves;
}

static inline uint64_t gap_broad__spread(uint64_t v) /* bit k to bit 3k, 16 bits */
{
    v = (v | v << 16) & UINT64_C(0xff0000ff);
    v = (v | v << 8) & UINT64_C(0x0f00f00f00f);
    v = (v | v << 4) & UINT64_C(0x0c30c30c30c3);
    v = (v | v << 2) & UINT64_C(0x249249249249);
    return v;
}

/* Bits that number the primitives of a tree. */
static inline int gap_broad__id_bits(const gap_broad *b, int what)
{
    int n = what == GAP_BROAD_POINTS ? b->mesh.nodes : b->tree[what].count, bits = 1;
    while (bits < 31 && n > 1 << bits) ++bits;
    return bits;
}

static inline uint64_t gap_broad__key(const gap_broad *b, int what, int i, int id_bits)
{
    const int axis_bits = 3 * GAP_BROAD__AXIS_BITS + id_bits <= 64 ?
        GAP_BROAD__AXIS_BITS : (64 - id_bits) / 3;
    const float half = (float)(1 << (axis_bits - 2)), last = (float)((1 << axis_bits) - 1);
    uint64_t key = 0;
    float box[8], v;
    int node[3], k;
    gap_broad__float_box(b, node, gap_broad__nodes(b, what, i, node), box);
    for (k = 0; k < 3; ++k) { /* the middle, [-1, 1] -> [0, 2^bits) */
        v = (box[k] + box[4 + k] + 2.0f) * half;
        v = v > 0.0f ? v : 0.0f;
        key |= gap_broad__spread((uint64_t)(uint32_t)(v < last ? v : last)) << k;
    }
    return key << id_bits | (uint64_t)(uint32_t)i;
}

static inline void gap_broad__key_range(void *ctx, int begin, int end, int worker)
{
    const gap_broad__job *job = (const gap_broad__job *)ctx;
    const int id_bits = gap_broad__id_bits(job->b, job->what);
    int i;
    (void)worker;
    for (i = begin; i < end; ++i) job->key[i] = gap_broad__key(job->b, job->what, i, id_bits);
}

/* Radix sort of the keys above the id bits; a and c change roles, the result's array is returned.
   Ids ascend at the start and the sort is stable, so equal cells stay ordered by id. */
static inline uint64_t *gap_broad__sort(uint64_t *a, uint64_t *c, int n, int from)
{
    uint64_t *swap;
    int shift, i;
    for (shift = from; shift < 64; shift += GAP_BROAD__DIGIT) {
        uint32_t count[1 << GAP_BROAD__DIGIT], sum = 0, old;
        const uint64_t mask = (1 << GAP_BROAD__DIGIT) - 1;
        memset(count, 0, sizeof count);
        for (i = 0; i < n; ++i) ++count[a[i] >> shift & mask];
        if (count[a[0] >> shift & mask] == (uint32_t)n) continue;
        for (i = 0; i < 1 << GAP_BROAD__DIGIT; ++i) {
            old = count[i];
            count[i] = sum;
            sum += old;
        }
        for (i = 0; i < n; ++i) c[count[a[i] >> shift & mask]++] = a[i];
        swap = a;
        a = c;
        c = swap;
    }
    return a;
}

static inline void gap_broad__blank(gap_broad__node *p, int k)
{
    int c;
    for (c = 0; c < 3; ++c) {
        p->lo[c][k] = FLT_MAX;
        p->hi[c][k] = -FLT_MAX;
    }
    p->id[k] = -1;
}

static inline void gap_broad__fill(const gap_broad *b, int what, gap_broad__node *leaf)
{
    int k, c, node[3];
    float box[8];
    for (k = 0; k < GAP_BROAD__WIDE; ++k) {
        if (leaf->id[k] < 0) {
            gap_broad__blank(leaf, k);
            continue;
        }
        gap_broad__float_box(b, node, gap_broad__nodes(b, what, leaf->id[k], node), box);
        for (c = 0; c < 3; ++c) {
            leaf->lo[c][k] = box[c];
            leaf->hi[c][k] = box[4 + c];
        }
    }
}

/* Fill leaves: ids from the sorted keys if there are any (build), else as they are (refit). */
static inline void gap_broad__leaf_range(void *ctx, int begin, int end, int worker)
{
    const gap_broad__job *job = (const gap_broad__job *)ctx;
    const gap_broad *b = job->b;
    const gap_broad_tree *t = &b->tree[job->what];
    const uint64_t mask = (UINT64_C(1) << gap_broad__id_bits(b, job->what)) - 1;
    int i, k;
    (void)worker;
    for (i = begin; i < end; ++i) {
        gap_broad__node *leaf = gap_broad__at(t, 0, i);
        for (k = 0; job->key && k < GAP_BROAD__WIDE; ++k) {
            const int at = GAP_BROAD__WIDE * i + k;
            leaf->id[k] = at < t->count ? (int)(job->key[at] & mask) : -1;
        }
        /* a constant kind each: the compiler drops the branches inside */
        if (job->what == GAP_BROAD_TRIS) gap_broad__fill(b, GAP_BROAD_TRIS, leaf);
        else if (job->what == GAP_BROAD_EDGES) gap_broad__fill(b, GAP_BROAD_EDGES, leaf);
        else gap_broad__fill(b, GAP_BROAD_POINTS, leaf);
    }
}

/* The child's box and largest id, as lane k of node p. */
static inline void gap_broad__lift(gap_broad__node *p, int k, const gap_broad__node *child)
{
    int c, j, id = -1;
    for (c = 0; c < 3; ++c) {
        float lo[4], hi[4];
        for (j = 0; j < 4; ++j) { /* halves, then quarters: four in a row for the vectoriser */
            lo[j] = child->lo[c][j] < child->lo[c][j + 4] ? child->lo[c][j] : child->lo[c][j + 4];
            hi[j] = child->hi[c][j] > child->hi[c][j + 4] ? child->hi[c][j] : child->hi[c][j + 4];
        }
        for (j = 0; j < 2; ++j) {
            lo[j] = lo[j] < lo[j + 2] ? lo[j] : lo[j + 2];
            hi[j] = hi[j] > hi[j + 2] ? hi[j] : hi[j + 2];
        }
        p->lo[c][k] = lo[0] < lo[1] ? lo[0] : lo[1];
        p->hi[c][k] = hi[0] > hi[1] ? hi[0] : hi[1];
    }
    for (j = 0; j < GAP_BROAD__WIDE; ++j) id = child->id[j] > id ? child->id[j] : id;
    p->id[k] = id;
}

static inline void gap_broad__lift_range(void *ctx, int begin, int end, int worker)
{
    const gap_broad__job *job = (const gap_broad__job *)ctx;
    const gap_broad_tree *t = &job->b->tree[job->what];
    const int below = gap_broad__level_size(t, job->level - 1);
    int i, k;
    (void)worker;
    for (i = begin; i < end; ++i) {
        for (k = 0; k < GAP_BROAD__WIDE; ++k) {
            const int c = GAP_BROAD__WIDE * i + k;
            gap_broad__node *p = gap_broad__at(t, job->level, i);
            if (c < below) gap_broad__lift(p, k, gap_broad__at(t, job->level - 1, c));
            else gap_broad__blank(p, k);
        }
    }
}

/* Mean sum of the sides of the leaves' boxes, from a few of their parents. */
static inline float gap_broad__leaf_size(const gap_broad_tree *t)
{
    const int parents = t->top > 0 ? gap_broad__level_size(t, 1) : 0;
    const int step = parents / 64 + 1;
    float sum = 0.0f;
    int i, c, k, n = 0;
    for (i = 0; i < parents; i += step) {
        const gap_broad__node *p = gap_broad__at(t, 1, i);
        for (k = 0; k < GAP_BROAD__WIDE && p->id[k] >= 0; ++k, ++n)
            for (c = 0; c < 3; ++c) sum += p->hi[c][k] - p->lo[c][k];
    }
    return n > 0 ? sum / (float)n : 0.0f;
}

static inline void gap_broad__fit(gap_broad *b, int what, uint64_t *key)
{
    gap_broad_tree *t = &b->tree[what];
    gap_broad__job job;
    job.b = b;
    job.what = what;
    job.key = key;
    job.level = 0;
    if (t->top < 0) return;
    gap_broad__for(b, gap_broad__level_size(t, 0), 512, gap_broad__leaf_range, &job);
    for (job.level = 1; job.level <= t->top; ++job.level)
        gap_broad__for(b, gap_broad__level_size(t, job.level), 512, gap_broad__lift_range, &job);
    t->reach = gap_broad__leaf_size(t);
}

static inline void gap_broad__plant(gap_broad *b, int what)
{
    gap_broad_tree *t = &b->tree[what];
    const int id_bits = gap_broad__id_bits(b, what);
    uint64_t *behind, *before, *key;
    gap_broad__job job;
    int i, n = 0;
    if (t->top < 0) return;
    behind = (uint64_t *)(void *)(t->mem + (size_t)t->first[1] * sizeof(gap_broad__node));
    before = behind - t->count;
    job.b = b;
    job.what = what;
    job.level = 0;
    job.key = before;
    if (what == GAP_BROAD_POINTS) {
        for (i = 0; i < b->mesh.nodes; ++i)
            if (b->flag[i] & GAP_BROAD__POINT) before[n++] = gap_broad__key(b, what, i, id_bits);
    } else {
        gap_broad__for(b, t->count, 4096, gap_broad__key_range, &job);
    }
    key = gap_broad__sort(before, behind, t->count, id_bits);
    if (key == before) memcpy(behind, before, sizeof *key * (size_t)t->count);
    gap_broad__fit(b, what, behind);
}

/* ---- the mesh ------------------------------------------------------------------------------ */
static inline uint32_t gap_broad__hash(int a, int b)
{
    uint64_t h = ((uint64_t)(uint32_t)(a < b ? a : b) << 32 | (uint32_t)(a < b ? b : a)) *
        UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32);
}

/* Clear the CODIM flag of the edges that lie in a triangle, with a hash table of edge numbers in
   memory that the edge tree will use. table has mask + 1 > edges entries. */
static inline void gap_broad__mark_codim(gap_broad *b, int *table, uint32_t mask)
{
    unsigned char *flag = b->flag + b->mesh.nodes;
    uint32_t h;
    int i, k, u, v;
    for (h = 0; h <= mask; ++h) table[h] = -1;
    for (i = 0; i < b->mesh.edges; ++i) {
        h = gap_broad__hash(b->mesh.edge[2 * (size_t)i], b->mesh.edge[2 * (size_t)i + 1]) & mask;
        while (table[h] >= 0) h = (h + 1) & mask;
        table[h] = i;
    }
    for (i = 0; i < b->mesh.tris; ++i) {
        for (k = 0; k < 3; ++k) {
            u = b->mesh.tri[3 * (size_t)i + (size_t)k];
            v = b->mesh.tri[3 * (size_t)i + (size_t)((k + 1) % 3)];
            for (h = gap_broad__hash(u, v) & mask; table[h] >= 0; h = (h + 1) & mask) {
                const int *e = b->mesh.edge + 2 * (size_t)table[h];
                if ((e[0] == u && e[1] == v) || (e[0] == v && e[1] == u))
                    flag[table[h]] &= (unsigned char)~GAP_BROAD__CODIM;
            }
        }
    }
}

/* Flag the nodes of a list of n indices; 0 if one is out of range. */
static inline int gap_broad__mark(gap_broad *b, const int *index, size_t n, unsigned char flag)
{
    size_t i;
    for (i = 0; i < n; ++i) {
        if (index[i] < 0 || index[i] >= b->mesh.nodes) return 0;
        b->flag[index[i]] |= flag;
    }
    return 1;
}

GAP_BROAD_API void gap_broad_init(gap_broad *b, const gap_broad_options *opt)
{
    GAP_BROAD_ASSERT(b);
    memset(b, 0, sizeof *b);
    b->tree[0].top = b->tree[1].top = b->tree[2].top = -1;
    if (opt) b->opt = *opt;
    if (!b->opt.realloc_fn) b->opt.realloc_fn = gap_broad__realloc_libc;
}

GAP_BROAD_API void gap_broad_free(gap_broad *b)
{
    gap_broad_options opt;
    void *p;
    int k;
    GAP_BROAD_ASSERT(b);
    opt = b->opt;
    for (k = 0; k < 3; ++k) {
        p = b->tree[k].mem;
        gap_broad__release(b, &p, &b->tree[k].size);
    }
    for (k = 0; k < 4; ++k) {
        p = b->pair[k];
        gap_broad__release(b, &p, &b->pair_size[k]);
    }
    p = b->flag;
    gap_broad__release(b, &p, &b->flag_size);
    p = b->node_box;
    gap_broad__release(b, &p, &b->node_size);
    gap_broad_init(b, &opt);
}

/* All memory of a mesh at once, so that builds cannot fail for want of it. */
static inline int gap_broad__reserve(gap_broad *b, int points)
{
    const int count[3] = {points, b->mesh.edges, b->mesh.dim == 3 ? b->mesh.tris : 0};
    void *p = b->node_box;
    int k, ok = 1;
    ok &= gap_broad__grow(b, &p, &b->node_size, 8 * sizeof(float) * (size_t)b->mesh.nodes);
    b->node_box = (float *)p;
    for (k = 0; k < 3; ++k) {
        gap_broad_tree *t = &b->tree[k];
        gap_broad__layout(t, count[k]);
        p = t->mem;
        if (t->top >= 0) ok &= gap_broad__grow(b, &p, &t->size, gap_broad__tree_bytes(t));
        t->mem = (unsigned char *)p;
    }
    return ok;
}

GAP_BROAD_API int gap_broad_set_mesh(gap_broad *b, const gap_broad_mesh *mesh)
{
    const gap_broad_mesh *m = &b->mesh;
    const gap_broad_mesh none = {3, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL};
    const int most = (size_t)-1 / 64 < (size_t)1 << 30 ? (int)((size_t)-1 / 64) : 1 << 30;
    size_t flags;
    uint32_t mask = 1;
    void *p;
    int i, points = 0, status = GAP_BROAD_OK;
    GAP_BROAD_ASSERT(b && mesh && mesh->nodes >= 0 && mesh->edges >= 0 && mesh->tris >= 0);
    GAP_BROAD_ASSERT(mesh->points >= 0);
    b->built = 0;
    b->mesh = none;
    if (mesh->dim != 2 && mesh->dim != 3) return GAP_BROAD_EINPUT;
    if (mesh->nodes > most || mesh->edges > most || mesh->tris > most) return GAP_BROAD_ESIZE;
    b->mesh = *mesh;
    if (m->dim == 2) b->mesh.tris = 0;
    flags = (size_t)m->nodes + (size_t)m->edges;
    p = b->flag;
    if (flags > 0 && !gap_broad__grow(b, &p, &b->flag_size, flags)) status = GAP_BROAD_ENOMEM;
    b->flag = (unsigned char *)p;
    if (!status) {
        if (flags > 0) memset(b->flag, 0, flags);
        if (!gap_broad__mark(b, m->edge, 2 * (size_t)m->edges, GAP_BROAD__USED) ||
            !gap_broad__mark(b, m->tri, 3 * (size_t)m->tris, GAP_BROAD__USED) ||
            !gap_broad__mark(b, m->point, (size_t)m->points,
                GAP_BROAD__USED | GAP_BROAD__POINT | GAP_BROAD__CODIM))
            status = GAP_BROAD_EINDEX;
    }
    for (i = 0; !status && i < m->nodes; ++i) points += (b->flag[i] & GAP_BROAD__POINT) != 0;
    if (!status && !gap_broad__reserve(b, points)) status = GAP_BROAD_ENOMEM;
    if (status) {
        b->mesh = none;
        return status;
    }
    if (m->edges > 0) memset(b->flag + m->nodes, GAP_BROAD__CODIM, (size_t)m->edges);
    while (mask < (uint32_t)m->edges + (uint32_t)m->edges / 2) mask = 2 * mask + 1;
    if (m->tris > 0 && m->edges > 0)
        gap_broad__mark_codim(b, (int *)(void *)b->tree[GAP_BROAD_EDGES].mem, mask);
    for (i = 0; i < m->edges; ++i)
        if (m->dim == 2 || b->flag[m->nodes + i])
            gap_broad__mark(b, m->edge + 2 * (size_t)i, 2, GAP_BROAD__CODIM);
    return GAP_BROAD_OK;
}

static inline int gap_broad__update(gap_broad *b, const double *x0, const double *x1,
    double inflate, int sort)
{
    int k, status;
    GAP_BROAD_ASSERT(b && (x0 || b->mesh.nodes == 0));
    b->built = sort ? 0 : b->built & 2;
    b->x0 = x0;
    b->x1 = x1 ? x1 : x0;
    b->inflate = inflate;
    status = gap_broad__frame(b);
    if (status) return status;
    gap_broad__for(b, b->mesh.nodes, 4096, gap_broad__node_range, b);
    for (k = 0; k < 3; ++k) {
        if (b->built & 2) gap_broad__fit(b, k, NULL);
        else gap_broad__plant(b, k);
    }
    b->built = 3; /* 1: boxes are valid, 2: the order is */
    return GAP_BROAD_OK;
}

GAP_BROAD_API int gap_broad_build(gap_broad *b, const double *x0, const double *x1, double inflate)
{
    return gap_broad__update(b, x0, x1, inflate, 1);
}

GAP_BROAD_API int gap_broad_refit(gap_broad *b, const double *x0, const double *x1, double inflate)
{
    return gap_broad__update(b, x0, x1, inflate, 0);
}

/* ---- queries ------------------------------------------------------------------------------- */
/* Up to 8 first primitives that lie close together walk the tree as one: the walk is paid once, and
   at the leaves each second primitive is held against all of them in one vector test. */
typedef struct gap_broad__packet {
    const gap_broad *b;
    int kind;               /* -1: one box, nothing is left out */
    int what;               /* the tree that is walked */
    int n, above;           /* members; only ids above this can have a partner */
    int a[GAP_BROAD__WIDE], nodes, node[2][GAP_BROAD__WIDE]; /* nodes of each; both rows filled */
    gap_broad__node box;    /* their float boxes; id = -a, so that id > -second is a < second */
    float hull[8];
    unsigned boxed;         /* bit i: lo[i], hi[i] are there */
    double lo[GAP_BROAD__WIDE][3], hi[GAP_BROAD__WIDE][3];
    int *out;
    size_t capacity, count;
} gap_broad__packet;

static inline int gap_broad__all_fixed(const gap_broad_mesh *m, const int *node, int n)
{
    const unsigned all = m->dim == 3 ? 7 : 3;
    int k;
    for (k = 0; k < n; ++k)
        if ((m->fixed[node[k]] & all) != all) return 0;
    return 1;
}

/* The rules beside incidence and overlap, for member i and primitive id. */
static inline int gap_broad__allowed(const gap_broad__packet *q, int i, int id, const int *node,
    int n)
{
    const gap_broad_mesh *m = &q->b->mesh;
    const int own[2] = {q->node[0][i], q->node[1][i]};
    if (m->group && m->group[own[0]] < 0 && m->group[own[0]] == m->group[node[0]]) return 0;
    if (m->fixed && gap_broad__all_fixed(m, own, 2) && gap_broad__all_fixed(m, node, n)) return 0;
    return !q->b->opt.keep || q->b->opt.keep(q->b->opt.keep_user, q->kind, q->a[i], id);
}

static inline void gap_broad__emit(gap_broad__packet *q, int i, int id)
{
    if (q->count < q->capacity) {
        if (q->kind < 0) {
            q->out[q->count] = id;
        } else {
            q->out[2 * q->count] = q->a[i];
            q->out[2 * q->count + 1] = id;
        }
    }
    ++q->count;
}

/* Members of `hits` whose double boxes overlap that of the primitive in lane k of the leaf. A float
   bound lies at most 2 pad + 2^-22 outside the exact one, which the double bound does not exceed
   inwards; so boxes that overlap by 8 pad > 2 (2 pad + 2^-22) need no second look. The others are
   compared in double. */
static inline unsigned gap_broad__certain(gap_broad__packet *q, const gap_broad__node *leaf, int k,
    unsigned hits, const int *node, int n)
{
    const gap_broad *b = q->b;
    const float in = (float)(8.0 * b->pad);
    float lo[3], hi[3];
    double dlo[3], dhi[3];
    unsigned sure, open;
    int i, c;
    for (c = 0; c < 3; ++c) {
        lo[c] = leaf->lo[c][k] + (c < b->mesh.dim ? in : 0.0f);
        hi[c] = leaf->hi[c][k] - (c < b->mesh.dim ? in : 0.0f);
    }
    sure = hits & gap_broad__overlap(&q->box, lo, hi, 1, INT_MIN);
    open = hits & ~sure;
    if (!open) return sure;
    gap_broad__box(b, node, n, dlo, dhi);
    for (; open; open &= open - 1) {
        i = gap_broad__lowest_bit(open);
        if (!(q->boxed >> i & 1u)) {
            const int own[2] = {q->node[0][i], q->node[1][i]};
            gap_broad__box(b, own, q->nodes, q->lo[i], q->hi[i]);
            q->boxed |= 1u << i;
        }
        for (c = 0; c < b->mesh.dim; ++c)
            if (!(dlo[c] <= q->hi[i][c] && q->lo[i][c] <= dhi[c])) break;
        if (c == b->mesh.dim) sure |= 1u << i;
    }
    return sure;
}

/* The primitive in lane k of the leaf against the members in `hits`, whose float boxes overlap. */
static inline void gap_broad__meet(gap_broad__packet *q, const gap_broad__node *leaf, int k,
    unsigned hits)
{
    const gap_broad *b = q->b;
    const int id = leaf->id[k];
    int node[3] = {-2, -2, -2}, n, i;
    n = gap_broad__nodes(b, q->what, id, node);
    hits &= ~gap_broad__shared((const int (*)[GAP_BROAD__WIDE])q->node, node);
    if (!hits) return;
    if (q->kind == GAP_BROAD_VE && b->mesh.dim == 3 && !b->flag[b->mesh.nodes + id]) return;
    hits = gap_broad__certain(q, leaf, k, hits, node, n);
    for (; hits; hits &= hits - 1) {
        i = gap_broad__lowest_bit(hits);
        if (q->kind < 0 || gap_broad__allowed(q, i, id, node, n)) gap_broad__emit(q, i, id);
    }
}

static inline void gap_broad__leaf(gap_broad__packet *q, const gap_broad__node *leaf)
{
    unsigned m = gap_broad__overlap(leaf, q->hull, q->hull + 4, 1, q->above), hits;
    for (; m; m &= m - 1) {
        const int k = gap_broad__lowest_bit(m);
        hits = gap_broad__overlap(&q->box, &leaf->lo[0][k], &leaf->hi[0][k], GAP_BROAD__WIDE,
            q->above < 0 ? -1 : -leaf->id[k]);
        if (hits) gap_broad__meet(q, leaf, k, hits);
    }
}

/* Depth first; per level the node at hand and its children still to visit. */
static inline void gap_broad__walk(gap_broad__packet *q)
{
    const gap_broad_tree *t = &q->b->tree[q->what];
    unsigned todo[13];
    int at[13], level = t->top, child;
    if (level < 0) return;
    if (level == 0) {
        gap_broad__leaf(q, gap_broad__at(t, 0, 0));
        return;
    }
    at[level] = 0;
    todo[level] = gap_broad__overlap(gap_broad__at(t, level, 0), q->hull, q->hull + 4, 1, q->above);
    while (level <= t->top) {
        if (!todo[level]) {
            ++level;
            continue;
        }
        child = GAP_BROAD__WIDE * at[level] + gap_broad__lowest_bit(todo[level]);
        todo[level] &= todo[level] - 1;
        if (level == 1) {
            gap_broad__leaf(q, gap_broad__at(t, 0, child));
        } else {
            --level;
            at[level] = child;
            todo[level] = gap_broad__overlap(gap_broad__at(t, level, child), q->hull, q->hull + 4,
                1, q->above);
        }
    }
}

/* Sort keys of a list of ids (width 1) or pairs (width 2). */
static inline uint64_t gap_broad__get(const int *v, size_t width, size_t i)
{
    return width == 1 ? (uint64_t)(uint32_t)v[i] :
        (uint64_t)(uint32_t)v[2 * i] << 32 | (uint64_t)(uint32_t)v[2 * i + 1];
}

static inline void gap_broad__put(int *v, size_t width, size_t i, uint64_t key)
{
    if (width == 2) v[2 * i] = (int)(key >> 32);
    v[width * i + width - 1] = (int)(key & UINT64_C(0x7fffffff));
}

/* Ascending order: insertion, or heap sort when there are many. */
static inline void gap_broad__order(int *v, size_t width, size_t n)
{
    size_t i, j, c, end;
    uint64_t x;
    for (i = 1; n <= 32 && i < n; ++i) {
        x = gap_broad__get(v, width, i);
        for (j = i; j > 0 && gap_broad__get(v, width, j - 1) > x; --j)
            gap_broad__put(v, width, j, gap_broad__get(v, width, j - 1));
        gap_broad__put(v, width, j, x);
    }
    if (n <= 32) return;
    for (i = n / 2, end = n; end > 1;) {
        if (i > 0) {
            x = gap_broad__get(v, width, --i);
        } else {
            x = gap_broad__get(v, width, --end);
            gap_broad__put(v, width, end, gap_broad__get(v, width, 0));
        }
        for (j = i; 2 * j + 1 < end; j = c) {
            c = 2 * j + 1;
            if (c + 1 < end && gap_broad__get(v, width, c + 1) > gap_broad__get(v, width, c)) ++c;
            if (gap_broad__get(v, width, c) <= x) break;
            gap_broad__put(v, width, j, gap_broad__get(v, width, c));
        }
        gap_broad__put(v, width, j, x);
    }
}

static inline int gap_broad__firsts(const gap_broad *b, int kind)
{
    return kind == GAP_BROAD_EE ? b->mesh.edges : b->mesh.nodes;
}

static inline void gap_broad__clear(gap_broad__packet *q)
{
    int c, k;
    q->n = 0;
    q->boxed = 0;
    for (k = 0; k < GAP_BROAD__WIDE; ++k) {
        q->box.id[k] = 0;
        q->node[0][k] = q->node[1][k] = -1;
        for (c = 0; c < 3; ++c) {
            q->box.lo[c][k] = FLT_MAX;
            q->box.hi[c][k] = -FLT_MAX;
        }
    }
    for (c = 0; c < 3; ++c) {
        q->hull[c] = FLT_MAX;
        q->hull[4 + c] = -FLT_MAX;
    }
}

/* Make a (or the box lo, hi) a member, unless the packet is full or would get too wide for it:
   the sum of its sides may exceed that of the new member by `reach`. */
static inline int gap_broad__join(gap_broad__packet *q, const float box[8], float reach)
{
    float own = 0.0f, sum = 0.0f, lo[3], hi[3];
    int k;
    if (q->n == GAP_BROAD__WIDE) return 0;
    for (k = 0; k < 3; ++k) {
        lo[k] = box[k] < q->hull[k] ? box[k] : q->hull[k];
        hi[k] = box[4 + k] > q->hull[4 + k] ? box[4 + k] : q->hull[4 + k];
        own += box[4 + k] - box[k];
        sum += hi[k] - lo[k];
    }
    if (q->n > 0 && sum > own + reach) return 0;
    for (k = 0; k < 3; ++k) {
        q->box.lo[k][q->n] = box[k];
        q->box.hi[k][q->n] = box[4 + k];
        q->hull[k] = lo[k];
        q->hull[4 + k] = hi[k];
    }
    ++q->n;
    return 1;
}

/* Fill a packet with first primitives from a on; returns the first one that is not in it. */
static inline int gap_broad__gather(gap_broad__packet *q, int a, int end)
{
    static const unsigned char need[3] = {GAP_BROAD__POINT, GAP_BROAD__CODIM, GAP_BROAD__USED};
    const gap_broad *b = q->b;
    const int ee = q->kind == GAP_BROAD_EE, ordered = ee || q->kind == GAP_BROAD_VV;
    float box[8];
    int i, node[3] = {0, 0, 0};
    gap_broad__clear(q);
    for (; a < end; ++a) {
        i = q->n;
        if (!ee && !(b->flag[a] & need[q->kind])) continue;
        if (i == GAP_BROAD__WIDE) break;
        q->nodes = gap_broad__nodes(b, ee ? GAP_BROAD_EDGES : GAP_BROAD_POINTS, a, node);
        gap_broad__float_box(b, node, q->nodes, box);
        if (!gap_broad__join(q, box, b->tree[q->what].reach)) break;
        q->a[i] = a;
        q->node[0][i] = node[0];
        q->node[1][i] = node[q->nodes - 1];
        if (ordered) q->box.id[i] = -a;
    }
    q->above = ordered && q->n > 0 ? q->a[0] : -1;
    return a;
}

GAP_BROAD_API int gap_broad_query(const gap_broad *b, int kind, int begin, int end, int *pair,
    size_t capacity, size_t *count)
{
    static const int what[4] = {GAP_BROAD_POINTS, GAP_BROAD_EDGES, GAP_BROAD_TRIS, GAP_BROAD_EDGES};
    gap_broad__packet q;
    size_t from;
    GAP_BROAD_ASSERT(b && count && (pair || capacity == 0) && 0 <= begin && begin <= end);
    *count = 0;
    if (kind < 0 || kind > 3 || !(b->built & 1) || end > gap_broad__firsts(b, kind))
        return GAP_BROAD_EINPUT;
    if (b->mesh.dim == 2 && kind >= GAP_BROAD_VF) return GAP_BROAD_OK;
    q.b = b;
    q.kind = kind;
    q.what = what[kind];
    q.out = pair;
    q.capacity = capacity;
    q.count = 0;
    while (begin < end) {
        begin = gap_broad__gather(&q, begin, end);
        from = q.count;
        gap_broad__walk(&q);
        if (q.count > from && q.count <= capacity)
            gap_broad__order(pair + 2 * from, 2, q.count - from);
    }
    *count = q.count;
    return q.count > capacity ? GAP_BROAD_MORE : GAP_BROAD_OK;
}

/* Several chunks write side by side, `slot` pairs of room each, behind what is already there. */
typedef struct gap_broad__batch {
    const gap_broad *b;
    int kind, begin, end;
    int *out;
    size_t slot, count[GAP_BROAD__BATCH];
} gap_broad__batch;

static inline void gap_broad__batch_range(void *ctx, int begin, int end, int worker)
{
    gap_broad__batch *t = (gap_broad__batch *)ctx;
    int c;
    (void)worker;
    for (c = begin; c < end; ++c) {
        const int from = t->begin + c * GAP_BROAD__GRAIN;
        const int to = t->end - from < GAP_BROAD__GRAIN ? t->end : from + GAP_BROAD__GRAIN;
        gap_broad_query(t->b, t->kind, from, to, t->out + 2 * t->slot * (size_t)c, t->slot,
            &t->count[c]);
    }
}

GAP_BROAD_API int gap_broad_pairs(gap_broad *b, int kind, const int **pair, int *count)
{
    const int step = GAP_BROAD__GRAIN * GAP_BROAD__BATCH;
    size_t n = 0, need, most;
    gap_broad__batch t;
    int firsts, c, chunks;
    void *p;
    GAP_BROAD_ASSERT(b && pair && count);
    *pair = NULL;
    *count = 0;
    if (kind < 0 || kind > 3 || !(b->built & 1)) return GAP_BROAD_EINPUT;
    if (b->slot == 0) b->slot = GAP_BROAD__GRAIN;
    firsts = b->mesh.dim == 2 && kind >= GAP_BROAD_VF ? 0 : gap_broad__firsts(b, kind);
    t.b = b;
    t.kind = kind;
    for (t.begin = 0; t.begin < firsts;) {
        t.end = firsts - t.begin < step ? firsts : t.begin + step;
        chunks = (t.end - t.begin + GAP_BROAD__GRAIN - 1) / GAP_BROAD__GRAIN;
        need = n + (size_t)b->slot * (size_t)chunks;
        if (need > (size_t)INT_MAX || need > ((size_t)-1) / 16) return GAP_BROAD_ESIZE;
        if (need * 2 * sizeof(int) > b->pair_size[kind]) need += n / 2;
        p = b->pair[kind];
        if (!gap_broad__grow(b, &p, &b->pair_size[kind], need * 2 * sizeof(int)))
            return GAP_BROAD_ENOMEM;
        b->pair[kind] = (int *)p;
        t.out = b->pair[kind] + 2 * n;
        t.slot = (size_t)b->slot;
        gap_broad__for(b, chunks, 1, gap_broad__batch_range, &t);
        for (most = 0, c = 0; c < chunks; ++c) most = t.count[c] > most ? t.count[c] : most;
        if (most > t.slot) { /* once more with room for all */
            if (most > (size_t)(INT_MAX / 2)) return GAP_BROAD_ESIZE;
            b->slot = (int)(most + most / 4);
            continue;
        }
        for (c = 0; c < chunks; n += t.count[c++])
            memmove(b->pair[kind] + 2 * n, t.out + 2 * t.slot * (size_t)c,
                2 * sizeof(int) * t.count[c]);
        t.begin = t.end;
    }
    *pair = b->pair[kind];
    *count = (int)n;
    return GAP_BROAD_OK;
}

GAP_BROAD_API int gap_broad_in_box(const gap_broad *b, int what, const double *lo,
    const double *hi, int *out, size_t capacity, size_t *count)
{
    float box[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    gap_broad__packet q;
    int k;
    GAP_BROAD_ASSERT(b && lo && hi && count && (out || capacity == 0));
    *count = 0;
    if (what < 0 || what > 2 || !(b->built & 1)) return GAP_BROAD_EINPUT;
    for (k = 0; k < b->mesh.dim; ++k) {
        const double far = 2.0 + 4.0 * b->pad; /* beyond all boxes; keeps the floats finite */
        double u = lo[k] * b->scale - b->center[k] - b->pad;
        double v = hi[k] * b->scale - b->center[k] + b->pad;
        if (lo[k] != lo[k] || hi[k] != hi[k]) return GAP_BROAD_ENONFIN;
        q.lo[0][k] = lo[k];
        q.hi[0][k] = hi[k];
        box[k] = (float)(u < -far ? -far : u > far ? far : u);
        box[4 + k] = (float)(v < -far ? -far : v > far ? far : v);
    }
    q.b = b;
    q.kind = -1;
    q.what = what;
    q.above = -1;
    gap_broad__clear(&q);
    gap_broad__join(&q, box, 0.0f);
    q.boxed = 1;
    q.count = 0;
    q.capacity = capacity;
    q.out = out;
    gap_broad__walk(&q);
    *count = q.count;
    if (q.count > capacity) return GAP_BROAD_MORE;
    gap_broad__order(out, 1, q.count);
    return GAP_BROAD_OK;
}
#endif /* GAP_BROAD_IMPLEMENTATION */
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
