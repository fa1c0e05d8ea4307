/* gap-check - an independent witness: proves frames free of intersections and inversions, or says
   where they are not. It shares gap_exact.h and the file readers with the rest, nothing else.

   Intersections   gap_exact_mesh_meets: exact.
   Inversions      P1: exact sign. P2 to P4: the Jacobian determinant as a Bezier polynomial with a
                   bound on rounding; positive coefficients prove it positive, the simplex is cut in
                   two until they are, or until a corner proves the opposite.
   Thickness       two-sided bounds on the distance in floating point, gap_exact_compare_distance
                   where they cannot tell.
   Between frames  linear motion: a plane that separates a pair at both ends of a time interval does
                   so all through it, since n.(p_i(t) - q_j(t)) is linear in t; four points whose
                   volume, a cubic in t, keeps its sign never meet. Intervals are halved until one
                   of the two is proved, rounding bounded, or they are too short. */
#define GAP_EXACT_IMPLEMENTATION
#include "gap_exact.h"
#include "curved.h"
#include "frames.h"
#include "mesh.h"
#include "near.h"
#include "pool.h"
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION "gap-check 0.1.0"
#define UNIT (0.5 * DBL_EPSILON) /* rounding of one operation, relative */

static const char *HELP =
    "usage: gap-check [options] DIR|FILE...\n"
    "Proves every frame free of intersections and inversions, or shows where it is not.\n"
    "DIR holds frames.gapf; FILE is a .gapf file, or a mesh (.obj .ply .stl .msh .mesh .vtu), one\n"
    "frame each. Curved meshes: elements are checked as curved, their surface as the linear\n"
    "triangles between its nodes.\n"
    "  --between       also the motion from frame to frame, along straight lines\n"
    "  --static BODY   an obstacle at rest (name or number; may be repeated): not compared with\n"
    "                  itself nor with others at rest (files may say so too), unless it moves\n"
    "  --json          the result as one JSON object\n"
    "  --dump F.obj    write the guilty primitives\n"
    "  --threads N     for the exact intersection tests (default 1)\n"
    "  --help --version\n"
    "Prints frames=N intersections=N inversions=N min_distance=D thickness=N [between=N], then\n"
    "the first 20 offenders. Exit 0: proved; 1: not; 2: bad usage or damaged input; 3: no memory.\n"
    "A body wholly inside another without touching it is no intersection of surfaces.\n";

/* ---- memory: a program that cannot have it says so and ends ---- */
static void no_memory(void)
{
    fprintf(stderr, "gap-check: out of memory\n");
    exit(3);
}

static void *grab(void *p, size_t n, size_t size)
{
    void *q = n > SIZE_MAX / size ? NULL : realloc(p, n ? n * size : 1);
    if (!q) no_memory();
    return q;
}

/* ---- what is checked ---- */
typedef struct surface {
    int dim;
    int tris, edges, points;      /* edges of no triangle, points of neither */
    int *tri, *edge, *point;
    int all_edges, verts;         /* each edge and each node of the surface, once */
    int *all_edge, *vert;
} surface;

/* One frame: positions and the topology they belong to. */
typedef struct scene {
    int dim, bodies;
    const char *const *name;      /* NULL: bodies have numbers only */
    const frames_topo *topo;
    const double *x;
    long long frame, step;
    double time;
} scene;

static int compare_ints(const int *a, const int *b, int n)
{
    int i;
    for (i = 0; i < n; ++i)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int by_2(const void *a, const void *b)
{
    return compare_ints((const int *)a, (const int *)b, 2);
}

/* sorts rows of n ints and drops repeated ones */
static int unique_rows(int *rows, int count, int n, int (*by)(const void *, const void *))
{
    int i, kept = 0;
    qsort(rows, (size_t)count, (size_t)n * sizeof *rows, by);
    for (i = 0; i < count; ++i) {
        if (kept && compare_ints(rows + n * (kept - 1), rows + n * i, n) == 0) continue;
        memmove(rows + n * kept++, rows + n * i, (size_t)n * sizeof *rows);
    }
    return kept;
}

static void sort_edge(int *e)
{
    int t = e[0];
    if (e[0] > e[1]) { e[0] = e[1]; e[1] = t; }
}

static void surface_free(surface *s)
{
    free(s->tri); free(s->edge); free(s->point); free(s->all_edge); free(s->vert);
    memset(s, 0, sizeof *s);
}

/* Drops triangles with a repeated node (they are segments of their neighbours). */
static void surface_tris(const frames_topo *t, surface *s)
{
    int i;
    s->tri = (int *)grab(NULL, 3 * (size_t)t->tris, sizeof(int));
    s->tris = 0;
    if (s->dim == 2) return; /* a plane body is bounded by its edges */
    for (i = 0; i < t->tris; ++i) {
        const int *p = t->tri + 3 * i;
        if (p[0] == p[1] || p[1] == p[2] || p[0] == p[2]) continue;
        memcpy(s->tri + 3 * s->tris++, p, 3 * sizeof *p);
    }
}

static void surface_edges(const frames_topo *t, surface *s)
{
    int i, k, n = 0, m;
    s->all_edge = (int *)grab(NULL, 2 * (3 * (size_t)s->tris + (size_t)t->edges), sizeof(int));
    s->edge = (int *)grab(NULL, 2 * (size_t)t->edges, sizeof(int));
    for (i = 0; i < s->tris; ++i)
        for (k = 0; k < 3; ++k, ++n) {
            s->all_edge[2 * n] = s->tri[3 * i + k];
            s->all_edge[2 * n + 1] = s->tri[3 * i + (k + 1) % 3];
            sort_edge(s->all_edge + 2 * n);
        }
    n = unique_rows(s->all_edge, n, 2, by_2);
    for (i = m = 0; i < t->edges; ++i) { /* those of no triangle */
        int e[2];
        memcpy(e, t->edge + 2 * i, sizeof e);
        sort_edge(e);
        if (e[0] == e[1] || bsearch(e, s->all_edge, (size_t)n, sizeof e, by_2)) continue;
        memcpy(s->edge + 2 * m++, e, sizeof e);
    }
    s->edges = unique_rows(s->edge, m, 2, by_2);
    memcpy(s->all_edge + 2 * n, s->edge, 2 * (size_t)s->edges * sizeof(int));
    s->all_edges = n + s->edges;
}

static void surface_make(const frames_topo *t, int dim, surface *s)
{
    unsigned char *used = (unsigned char *)grab(NULL, (size_t)t->nodes, 1);
    int i;
    surface_free(s);
    s->dim = dim;
    surface_tris(t, s);
    surface_edges(t, s);
    memset(used, 0, (size_t)t->nodes);
    for (i = 0; i < 2 * s->all_edges; ++i) used[s->all_edge[i]] = 1;
    s->point = (int *)grab(NULL, (size_t)t->points, sizeof(int));
    for (i = 0; i < t->points; ++i)
        if (!used[t->point[i]]) {
            used[t->point[i]] = 1;
            s->point[s->points++] = t->point[i];
        }
    s->vert = (int *)grab(NULL, (size_t)t->nodes, sizeof(int));
    for (i = 0; i < t->nodes; ++i)
        if (used[i]) s->vert[s->verts++] = i;
    free(used);
}

/* ---- findings ---- */
enum finding_kind { CROSSES, TOUCHES, BEHIND_PLANE, INVERTED, UNPROVED, THIN, BETWEEN, NOT_FINITE };
static const char *const KIND[] = {"cross", "touch", "behind plane", "inverted",
    "not proved valid", "thinner than allowed", "not proved apart between frames", "not finite"};

typedef struct finding {
    int kind, na, nb, element; /* nb 0: one item only; element: its number, or -1 */
    int node[8];               /* of the first item, then of the second */
    double x[24];
    int body[2];
    long long frame, step;
    double time, t;            /* t: in [0,1] between two frames */
} finding;

typedef struct result {
    long long frames, intersections, inversions, thickness, between, not_finite;
    double min_distance;
    finding *list;
    int count, capacity;
    int dump; /* keep all for a file */
} result;

enum { SHOWN = 20, KEPT = 100000 };

static void found(result *r, const scene *s, int kind, const int *a, int na, const int *b, int nb,
    int element, double t)
{
    finding f;
    int i, k;
    if (kind <= BEHIND_PLANE) ++r->intersections;
    else if (kind <= UNPROVED) ++r->inversions;
    else if (kind == THIN) ++r->thickness;
    else if (kind == BETWEEN) ++r->between;
    else ++r->not_finite;
    if (r->count >= (r->dump ? KEPT : SHOWN)) return;
    memset(&f, 0, sizeof f);
    f.kind = kind; f.na = na; f.nb = nb; f.element = element; f.t = t;
    f.frame = s->frame; f.step = s->step; f.time = s->time;
    for (i = 0; i < na + nb; ++i) {
        f.node[i] = i < na ? a[i] : b[i - na];
        for (k = 0; k < s->dim; ++k)
            f.x[3 * i + k] = s->x[(size_t)s->dim * (size_t)f.node[i] + (size_t)k];
    }
    f.body[0] = s->topo->body ? s->topo->body[a[0]] : 0;
    f.body[1] = s->topo->body && nb ? s->topo->body[b[0]] : 0;
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : SHOWN;
        r->list = (finding *)grab(r->list, (size_t)r->capacity, sizeof f);
    }
    r->list[r->count++] = f;
}

/* order of an element of so many nodes that fills space; 0 if it is none */
static int element_order(int dim, int nodes)
{
    static const int count[2][5] = {{0, 3, 6, 10, 15}, {0, 4, 10, 20, 35}};
    int p;
    for (p = 4; p > 0 && count[dim - 2][p] != nodes; --p) { }
    return p;
}

static void check_elements(const scene *s, curved **cache, result *r)
{
    const frames_topo *t = s->topo;
    int i, k, sign, order = t->elems ? element_order(s->dim, t->elem_nodes) : 0;
    const double *x[35];
    if (!order) return;
    cache += 5 * (s->dim - 2) + order;
    if (order > 1 && !*cache && !(*cache = curved_make(s->dim, order))) no_memory();
    for (i = 0; i < t->elems; ++i) {
        const int *e = t->elem + (size_t)i * (size_t)t->elem_nodes;
        for (k = 0; k < t->elem_nodes; ++k) x[k] = s->x + (size_t)s->dim * (size_t)e[k];
        if (order > 1) sign = curved_sign(*cache, x);
        else sign = gap_exact_inverted(s->dim, s->x, e, 0, 1, 0, NULL) ? -1 : 1;
        if (sign < 1) found(r, s, sign < 0 ? INVERTED : UNPROVED, e, s->dim + 1, NULL, 0, i, 0.0);
    }
}

/* boxes of items of k nodes; with a second frame, of the whole motion */
static double *boxes(int dim, int n, const int *node, int k, const double *x, const double *x1)
{
    double *b = (double *)grab(NULL, 6 * (size_t)n, sizeof(double));
    int i, j, c;
    for (i = 0; i < n; ++i) {
        double *d = b + 6 * (size_t)i;
        for (c = 0; c < 3; ++c) d[c] = d[3 + c] = 0.0;
        for (j = 0; j < k; ++j)
            for (c = 0; c < dim; ++c) {
                size_t v = (size_t)node[(size_t)k * (size_t)i + (size_t)j];
                size_t at = (size_t)dim * v + (size_t)c;
                double lo = x1 ? fmin(x[at], x1[at]) : x[at], hi = x1 ? fmax(x[at], x1[at]) : x[at];
                d[c] = j ? fmin(d[c], lo) : lo;
                d[3 + c] = j ? fmax(d[3 + c], hi) : hi;
            }
    }
    return b;
}

/* ---- all pairs of primitives that share no node ----
   Which kinds: every triangle with every node, edges with edges; nodes with edges where the edge
   borders no triangle (in 2D: all edges); points with points. The rest follows from these. */
typedef struct search {
    const scene *s;
    const surface *f;
    result *r;
    const double *x1;             /* second frame: motion is checked instead of distance */
    const unsigned char *fixed;   /* per body, or NULL */
    double limit, reach;          /* visited: squared distance <= limit; thickness needs reach */
    double most_radius;
    int kind, a;                  /* the item being compared */
    const int *first, *second;    /* arrays of both sides */
    int na, nb;
} search;

static double side_radius(const search *q, const int *node, int n)
{
    double r = 0.0;
    int i;
    for (i = 0; i < n && q->s->topo->radius; ++i) r = fmax(r, q->s->topo->radius[node[i]]);
    return r;
}

static void visit_distance(search *q, const int *a, const int *b)
{
    near_pair p;
    double low, high, xi;
    near_pair_make(&p, q->kind, q->s->dim, a, b, q->s->x);
    near_bounds(&p, &low, &high);
    if (high < q->r->min_distance) q->r->min_distance = high;
    q->limit = fmax(q->r->min_distance, q->reach) * fmax(q->r->min_distance, q->reach);
    if (!(q->most_radius > 0.0)) return;
    xi = side_radius(q, a, q->na) + side_radius(q, b, q->nb);
    if (!(xi > 0.0) || low > xi) return;
    if (!(high < xi)) {
        double x[12];
        int i, k, dim = q->s->dim;
        for (i = 0; i < p.na + p.nb; ++i)
            for (k = 0; k < dim; ++k)
                x[dim * i + k] = q->s->x[(size_t)dim * (size_t)p.node[i] + (size_t)k];
        if (gap_exact_compare_distance(dim, q->kind, x, xi) > 0) return;
    }
    found(q->r, q->s, THIN, a, q->na, b, q->nb, -1, 0.0);
}

static void visit_motion(search *q, const int *a, const int *b)
{
    near_pair p;
    double y1[4][3], size, when = 0.0;
    int i, k, dim = q->s->dim, moved = 0;
    near_pair_make(&p, q->kind, dim, a, b, q->s->x);
    memset(y1, 0, sizeof y1);
    size = p.size;
    for (i = 0; i < p.na + p.nb; ++i)
        for (k = 0; k < dim; ++k) {
            size_t at = (size_t)dim * (size_t)p.node[i] + (size_t)k;
            y1[i][k] = q->x1[at] - q->s->x[(size_t)dim * (size_t)b[0] + (size_t)k];
            size = fmax(size, fabs(y1[i][k]));
            moved |= q->x1[at] != q->s->x[at];
        }
    if (!moved) return; /* the frames themselves are checked exactly */
    if (near_apart(&p, y1, size, &when)) return;
    found(q->r, q->s, BETWEEN, a, q->na, b, q->nb, -1, when);
}

static void visit(void *ctx, int item)
{
    search *q = (search *)ctx;
    const int *a = q->first + (size_t)q->na * (size_t)q->a;
    const int *b = q->second + (size_t)q->nb * (size_t)item;
    const int *body = q->s->topo->body;
    int i, j;
    for (i = 0; i < q->na; ++i)
        for (j = 0; j < q->nb; ++j)
            if (a[i] == b[j]) return;
    if (body && q->fixed && q->fixed[body[a[0]]] && q->fixed[body[b[0]]]) return;
    if (q->x1) visit_motion(q, a, b);
    else visit_distance(q, a, b);
}

static void search_kind(search *q, int kind, const int *first, int count, const int *second,
    int count2)
{
    double *own, *other;
    near_tree t;
    if (!count || !count2) return;
    q->kind = kind;
    q->first = first;
    q->second = second;
    q->na = kind == 3 ? 2 : 1;
    q->nb = kind == 0 ? 1 : kind == 2 ? 3 : 2;
    own = boxes(q->s->dim, count, first, q->na, q->s->x, q->x1);
    other = first == second ? own : boxes(q->s->dim, count2, second, q->nb, q->s->x, q->x1);
    if (!near_tree_make(&t, count2, other)) no_memory();
    for (q->a = 0; q->a < count; ++q->a) {
        double far;
        q->reach = 0.0;
        if (q->most_radius > 0.0)
            q->reach = side_radius(q, first + (size_t)q->na * (size_t)q->a, q->na) + q->most_radius;
        far = q->x1 ? 0.0 : fmax(q->r->min_distance, q->reach);
        q->limit = far * far;
        if (q->r->thickness > KEPT) q->reach = 0.0; /* enough is known */
        near_tree_visit(&t, own + 6 * (size_t)q->a, &q->limit, first == second ? q->a : -1, visit,
            q);
    }
    near_tree_free(&t);
    if (other != own) free(other);
    free(own);
}

static void search_all(search *q)
{
    const surface *f = q->f;
    int i;
    q->most_radius = 0.0;
    for (i = 0; i < f->verts && q->s->topo->radius; ++i)
        q->most_radius = fmax(q->most_radius, q->s->topo->radius[f->vert[i]]);
    if (f->dim == 3) {
        search_kind(q, 2, f->vert, f->verts, f->tri, f->tris);
        search_kind(q, 3, f->all_edge, f->all_edges, f->all_edge, f->all_edges);
    }
    search_kind(q, 1, f->vert, f->verts, f->edge, f->edges);
    search_kind(q, 0, f->point, f->points, f->point, f->points);
}

/* ---- one frame ---- */
typedef struct checker {
    surface surf;
    curved *cache[10]; /* by dim and order */
    void *work;
    size_t work_size;
    int *pair, *how, *group;
    unsigned char *fixed; /* bodies at rest for ever */
    double *first;        /* where they were at first */
    pool *threads;
    result r;
} checker;

static int all_finite(const scene *s, const surface *f, result *r)
{
    const frames_topo *t = s->topo;
    int k, v, ok = 1;
    size_t i, own = (size_t)f->verts, n = own + (size_t)t->elems * (size_t)t->elem_nodes;
    for (i = 0; i < n; ++i) {
        v = i < own ? f->vert[i] : t->elem[i - own];
        for (k = 0; k < s->dim; ++k)
            if (!(fabs(s->x[(size_t)s->dim * (size_t)v + (size_t)k]) <= DBL_MAX)) {
                if (ok || r->dump) found(r, s, NOT_FINITE, &v, 1, NULL, 0, -1, 0.0);
                else ++r->not_finite;
                ok = 0;
                break;
            }
    }
    return ok;
}

/* nodes of an element as gap_exact.h numbers them: triangles, edges, points */
static int element_nodes(const surface *f, int e, int *node)
{
    int n = e < f->tris ? 3 : e < f->tris + f->edges ? 2 : 1;
    if (n == 3) memcpy(node, f->tri + 3 * (size_t)e, 3 * sizeof *node);
    else if (n == 2) memcpy(node, f->edge + 2 * (size_t)(e - f->tris), 2 * sizeof *node);
    else node[0] = f->point[e - f->tris - f->edges];
    return n;
}

static void check_meets(checker *c, const scene *s)
{
    enum { ROOM = 65536 };
    const surface *f = &c->surf;
    gap_exact_mesh m = {0, 0, NULL, 0, NULL, 0, NULL, 0, NULL, NULL};
    gap_exact_options o = {NULL, NULL};
    size_t need, n, i;
    m.dim = s->dim; m.nodes = s->topo->nodes; m.x = s->x;
    m.tris = f->tris; m.tri = f->tri;
    m.edges = f->edges; m.edge = f->edge;
    m.points = f->points; m.point = f->point;
    m.group = c->group;
    o.parallel_for = c->threads ? pool_for : NULL;
    o.parallel_user = c->threads;
    need = gap_exact_mesh_work(&m);
    if (need > c->work_size) {
        c->work = grab(c->work, need, 1);
        c->work_size = need;
    }
    if (!c->pair) c->pair = (int *)grab(NULL, 2 * ROOM, sizeof(int));
    if (!c->how) c->how = (int *)grab(NULL, ROOM, sizeof(int));
    n = gap_exact_mesh_meets(&m, &o, c->work, ROOM, c->pair, c->how, NULL);
    for (i = 0; i < n && i < ROOM; ++i) {
        int a[3], b[3];
        int na = element_nodes(f, c->pair[2 * i], a);
        int nb = element_nodes(f, c->pair[2 * i + 1], b);
        found(&c->r, s, c->how[i] == GAP_EXACT_CROSS ? CROSSES : TOUCHES, a, na, b, nb, -1, 0.0);
    }
    if (n > ROOM) c->r.intersections += (long long)(n - ROOM);
    if (n > 0) c->r.min_distance = 0.0;
}

/* signed distance above radius, or the node is behind (or too near) a plane */
static void check_planes(checker *c, const scene *s)
{
    const frames_topo *t = s->topo;
    int i, k, j, dim = s->dim;
    for (j = 0; j < t->planes; ++j)
        for (i = 0; i < c->surf.verts; ++i) {
            int v = c->surf.vert[i], at_rest = c->fixed && t->body && c->fixed[t->body[v]];
            double p[9], r = t->radius ? t->radius[v] : 0.0, d = 0.0, q = 0.0, size = 0.0;
            if (at_rest) continue;
            memcpy(p, s->x + (size_t)dim * (size_t)v, (size_t)dim * sizeof *p);
            memcpy(p + dim, t->plane + 2 * (size_t)dim * (size_t)j, 2 * (size_t)dim * sizeof *p);
            for (k = 0; k < dim; ++k) {
                d += (p[k] - p[dim + k]) * p[2 * dim + k];
                q += p[2 * dim + k] * p[2 * dim + k];
                size = fmax(size, fabs(p[k] - p[dim + k]));
            }
            d /= sqrt(q);
            if (d < c->r.min_distance) c->r.min_distance = fmax(d, 0.0);
            if (d > r * (1.0 + 8.0 * UNIT) + 32.0 * UNIT * size) continue;
            if (gap_exact_compare_distance(dim, 4, p, r) > 0) continue;
            found(&c->r, s, gap_exact_compare_distance(dim, 4, p, 0.0) > 0 ? THIN : BEHIND_PLANE,
                &v, 1, NULL, 0, j, 0.0);
        }
}

static void check_topology(checker *c, const scene *s)
{
    int i;
    surface_make(s->topo, s->dim, &c->surf);
    free(c->group);
    c->group = NULL;
    if (!c->fixed || !s->topo->body) return;
    c->group = (int *)grab(NULL, (size_t)s->topo->nodes, sizeof(int));
    for (i = 0; i < s->topo->nodes; ++i)
        c->group[i] = c->fixed[s->topo->body[i]] ? -1 : 0;
}

static int check_frame(checker *c, const scene *s)
{
    search q;
    ++c->r.frames;
    if (!all_finite(s, &c->surf, &c->r)) return 0;
    check_meets(c, s);
    check_elements(s, c->cache, &c->r);
    check_planes(c, s);
    memset(&q, 0, sizeof q);
    q.s = s; q.f = &c->surf; q.r = &c->r; q.fixed = c->fixed;
    search_all(&q);
    return 1;
}

/* s: the earlier frame; x1: positions of the next, same topology */
static void check_between(checker *c, const scene *s, const double *x1)
{
    search q;
    memset(&q, 0, sizeof q);
    q.s = s; q.f = &c->surf; q.r = &c->r; q.fixed = c->fixed; q.x1 = x1;
    search_all(&q);
}

/* ---- input ---- */
typedef struct job {
    int between, json, threads, paths, fixeds;
    const char *dump;
    const char **path, **fixed;
    FILE *out, *err;
    char damage[480];
} job;

static int has_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n >= m && strcmp(path + n - m, ending) == 0;
}

/* Which bodies are at rest: what the file says (may be NULL) and what the user says; 0 if that
   names an unknown body. */
static int choose_fixed(const job *j, checker *c, int bodies, const char *const *name,
    const unsigned char *said)
{
    int i, b;
    char *end;
    free(c->fixed);
    c->fixed = NULL;
    if (!j->fixeds && !said) return 1;
    c->fixed = (unsigned char *)grab(NULL, (size_t)bodies, 1);
    for (b = 0; b < bodies; ++b) c->fixed[b] = said && said[b];
    for (i = 0; i < j->fixeds; ++i) {
        long number = strtol(j->fixed[i], &end, 10);
        for (b = 0; b < bodies; ++b)
            if ((name && strcmp(name[b], j->fixed[i]) == 0) ||
                (*j->fixed[i] && !*end && number == b)) break;
        if (b == bodies) {
            fprintf(j->err, "gap-check: no body %s\n", j->fixed[i]);
            return 0;
        }
        c->fixed[b] = 1;
    }
    return 1;
}

/* A body that is not where it was at first is not at rest, whatever was said. */
static void doubt_fixed(checker *c, const scene *s, int topo_changed)
{
    size_t i, dim = (size_t)s->dim, n = dim * (size_t)s->topo->nodes;
    int doubted = 0;
    if (!c->fixed || !s->topo->body) return;
    if (topo_changed) { /* node numbers may differ: start again */
        c->first = (double *)grab(c->first, n, sizeof(double));
        memcpy(c->first, s->x, n * sizeof(double));
        return;
    }
    for (i = 0; i < n; ++i) {
        unsigned char *f = &c->fixed[s->topo->body[i / dim]];
        if (!*f || s->x[i] == c->first[i]) continue;
        *f = 0;
        doubted = 1;
    }
    if (doubted) check_topology(c, s);
}

/* frames of an open reader; 0 if an option names what it does not have */
static int run_reader(job *j, checker *c, frames_reader *r, const char *path)
{
    scene s, before;
    double *old = NULL;
    long long count = 0;
    int ok = 1, fine = 0, was_fine = 0;
    memset(&s, 0, sizeof s);
    while (ok && frames_next(r)) {
        size_t n = (size_t)r->dim * (size_t)r->topo.nodes;
        before = s;
        s.dim = r->dim; s.bodies = r->bodies; s.name = (const char *const *)r->name;
        s.topo = &r->topo; s.x = r->x; s.step = r->step; s.time = r->time;
        s.frame = c->r.frames;
        if (count++ == 0 && !(ok = choose_fixed(j, c, s.bodies, s.name, r->fixed))) break;
        if (r->topo_changed) check_topology(c, &s);
        doubt_fixed(c, &s, r->topo_changed);
        was_fine = fine && !r->topo_changed;
        fine = check_frame(c, &s);
        if (isatty(2)) fprintf(stderr, "\rframe %lld", c->r.frames);
        if (!j->between) continue;
        if (was_fine && fine) {
            before.x = old;
            check_between(c, &before, r->x);
        }
        old = (double *)grab(old, n, sizeof(double));
        memcpy(old, r->x, n * sizeof(double));
    }
    if (r->damaged) {
        snprintf(j->damage, sizeof j->damage, "%.200s: %s; %lld frames before it are whole", path,
            r->error, count);
        fprintf(j->err, "gap-check: %s\n", j->damage);
    }
    free(old);
    return ok;
}

static int run_frames(job *j, checker *c, const char *path)
{
    frames_reader r;
    int ok = frames_open(&r, path);
    if (ok) ok = run_reader(j, c, &r, path);
    else fprintf(j->err, "gap-check: %s: %s\n", path, r.error);
    frames_close(&r);
    return ok;
}

static int by_sorted_3(const void *a, const void *b)
{
    return compare_ints((const int *)a + 3, (const int *)b + 3, 3);
}

/* of triangles with the same three nodes one is kept: the border of tets may be listed too */
static int drop_doubles(int *tri, int n)
{
    int *row = (int *)grab(NULL, 6 * (size_t)n, sizeof(int)), i, kept = 0, last = -1;
    for (i = 0; i < n; ++i) {
        int *r = row + 6 * i;
        memcpy(r, tri + 3 * i, 3 * sizeof(int));
        memcpy(r + 3, r, 3 * sizeof(int));
        sort_edge(r + 3); sort_edge(r + 4); sort_edge(r + 3);
    }
    qsort(row, (size_t)n, 6 * sizeof(int), by_sorted_3);
    for (i = 0; i < n; ++i) {
        if (last >= 0 && compare_ints(row + 6 * last + 3, row + 6 * i + 3, 3) == 0) continue;
        memcpy(tri + 3 * kept++, row + 6 * i, 3 * sizeof(int));
        last = i;
    }
    free(row);
    return kept;
}

static int mesh_topology(const mesh *m, frames_topo *t)
{
    int *border = NULL, *own, borders = 0, owns = 0, *skin = NULL;
    memset(t, 0, sizeof *t);
    if (m->tets && (borders = mesh_surface(m, &skin)) < 0) return 0;
    border = curved_linear(skin, borders, m->order, &borders);
    own = curved_linear(m->tri, m->tris, m->order, &owns);
    free(skin);
    if (!border || !own) no_memory();
    t->tri = (int *)grab(border, 3 * ((size_t)borders + (size_t)owns), sizeof(int));
    memcpy(t->tri + 3 * (size_t)borders, own, 3 * (size_t)owns * sizeof(int));
    free(own);
    t->tris = drop_doubles(t->tri, borders + owns);
    t->nodes = m->nodes;
    t->elems = m->tets; t->elem_nodes = mesh_tet_nodes(m->order); t->elem = m->tet;
    t->edges = m->edges; t->edge = m->edge;
    t->points = m->points; t->point = m->point;
    return 1;
}

static int same_ints(const int *a, int n, const int *b, int m)
{
    return n == m && (n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0);
}

static int same_topology(const frames_topo *a, const frames_topo *b)
{
    return a->nodes == b->nodes && same_ints(a->tri, 3 * a->tris, b->tri, 3 * b->tris) &&
           same_ints(a->edge, 2 * a->edges, b->edge, 2 * b->edges) &&
           same_ints(a->point, a->points, b->point, b->points);
}

/* Mesh files, one frame each; motion only between neighbours of one topology. */
typedef struct mesh_frame {
    mesh m;
    frames_topo t;
    scene s;
    int fine;
} mesh_frame;

static void mesh_frame_free(mesh_frame *f)
{
    free(f->t.tri);
    mesh_free(&f->m);
    memset(f, 0, sizeof *f);
}

static int run_mesh(job *j, checker *c, const char *path, mesh_frame *last)
{
    mesh_frame f;
    mesh_error e;
    memset(&f, 0, sizeof f);
    if (!mesh_read(path, &f.m, &e)) {
        if (e.line) fprintf(j->err, "gap-check: %s:%d: %s\n", path, e.line, e.text);
        else fprintf(j->err, "gap-check: %s: %s\n", path, e.text);
        return 0;
    }
    if (!mesh_topology(&f.m, &f.t)) {
        fprintf(j->err, "gap-check: %s: out of memory\n", path);
        mesh_free(&f.m);
        return 0;
    }
    f.s.dim = 3; f.s.bodies = 1; f.s.x = f.m.x; f.s.frame = c->r.frames; f.s.step = f.s.frame;
    f.s.topo = &f.t;
    if (!choose_fixed(j, c, 1, NULL, NULL)) {
        mesh_frame_free(&f);
        return 0;
    }
    check_topology(c, &f.s);
    f.fine = check_frame(c, &f.s);
    if (j->between && last->fine && f.fine && same_topology(&last->t, &f.t)) {
        last->s.topo = &last->t;
        check_between(c, &last->s, f.m.x);
    }
    mesh_frame_free(last);
    *last = f;
    return 1;
}

static int run_path(job *j, checker *c, const char *path, mesh_frame *last)
{
    struct stat st;
    char *file;
    int ok;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        file = (char *)grab(NULL, strlen(path) + 16, 1);
        sprintf(file, "%s/frames.gapf", path);
        ok = run_frames(j, c, file);
        free(file);
        return ok;
    }
    return has_ending(path, ".gapf") ? run_frames(j, c, path) : run_mesh(j, c, path, last);
}

/* ---- output ---- */
static const char *item_name(int n, int element)
{
    return element && n == 4 ? "tet" : n == 3 ? "triangle" : n == 2 ? "edge" : "node";
}

static void json_string(FILE *o, const char *s)
{
    fputc('"', o);
    for (; *s; ++s) {
        if (*s == '"' || *s == '\\') fprintf(o, "\\%c", *s);
        else if ((unsigned char)*s < 32) fprintf(o, "\\u%04x", (unsigned)(unsigned char)*s);
        else fputc(*s, o);
    }
    fputc('"', o);
}

static void print_item(FILE *o, const finding *f, int side, const char *const *name)
{
    int from = side ? f->na : 0, n = side ? f->nb : f->na, i;
    fprintf(o, "%s", item_name(n, f->kind == INVERTED || f->kind == UNPROVED));
    if (f->kind == INVERTED || f->kind == UNPROVED) fprintf(o, " %d", f->element);
    fprintf(o, " (");
    for (i = 0; i < n; ++i) fprintf(o, i ? " %d" : "%d", f->node[from + i]);
    if (name) fprintf(o, ") of %s", name[f->body[side]]);
    else fprintf(o, ") of body %d", f->body[side]);
}

static void print_finding(FILE *o, const finding *f, const char *const *name)
{
    int i;
    fprintf(o, "frame %lld step %lld time %g: %s: ", f->frame, f->step, f->time, KIND[f->kind]);
    print_item(o, f, 0, name);
    if (f->nb) {
        fprintf(o, " and ");
        print_item(o, f, 1, name);
    } else if (f->element >= 0 && (f->kind == BEHIND_PLANE || f->kind == THIN)) {
        fprintf(o, ", plane %d", f->element);
    }
    if (f->kind == BETWEEN) fprintf(o, " at t = %.9g of the way", f->t);
    fprintf(o, "\n");
    for (i = 0; i < f->na + f->nb; ++i)
        fprintf(o, "    %d: %.17g %.17g %.17g\n", f->node[i], f->x[3 * i], f->x[3 * i + 1],
            f->x[3 * i + 2]);
}

static void json_number(FILE *o, double v)
{
    if (fabs(v) <= DBL_MAX) fprintf(o, "%.17g", v);
    else fprintf(o, "null");
}

static void json_item(FILE *o, const finding *f, int side, const char *const *name)
{
    int from = side ? f->na : 0, n = side ? f->nb : f->na, i, k;
    fprintf(o, "{\"type\":\"%s\",\"body\":%d", item_name(n, f->kind == INVERTED ||
        f->kind == UNPROVED), f->body[side]);
    if (name) {
        fprintf(o, ",\"name\":");
        json_string(o, name[f->body[side]]);
    }
    fprintf(o, ",\"nodes\":[");
    for (i = 0; i < n; ++i) fprintf(o, i ? ",%d" : "%d", f->node[from + i]);
    fprintf(o, "],\"x\":[");
    for (i = 0; i < n; ++i) {
        fprintf(o, i ? ",[" : "[");
        for (k = 0; k < 3; ++k) {
            if (k) fputc(',', o);
            json_number(o, f->x[3 * (from + i) + k]);
        }
        fputc(']', o);
    }
    fprintf(o, "]}");
}

static void print_json(FILE *o, const job *j, const result *r, const char *const *name)
{
    int i;
    fprintf(o, "{\"frames\":%lld,\"intersections\":%lld,\"inversions\":%lld,\"min_distance\":",
        r->frames, r->intersections, r->inversions);
    json_number(o, r->min_distance);
    fprintf(o, ",\"thickness\":%lld,\"not_finite\":%lld,\"between\":", r->thickness, r->not_finite);
    if (j->between) fprintf(o, "%lld", r->between);
    else fprintf(o, "null");
    fprintf(o, ",\"damage\":");
    if (*j->damage) json_string(o, j->damage);
    else fprintf(o, "null");
    fprintf(o, ",\"offenders\":[");
    for (i = 0; i < r->count && i < SHOWN; ++i) {
        const finding *f = &r->list[i];
        fprintf(o, "%s{\"kind\":\"%s\",\"frame\":%lld,\"step\":%lld,\"time\":", i ? "," : "",
            KIND[f->kind], f->frame, f->step);
        json_number(o, f->time);
        if (f->element >= 0) fprintf(o, ",\"element\":%d", f->element);
        if (f->kind == BETWEEN) fprintf(o, ",\"t\":%.17g", f->t);
        fprintf(o, ",\"items\":[");
        json_item(o, f, 0, name);
        if (f->nb) {
            fputc(',', o);
            json_item(o, f, 1, name);
        }
        fprintf(o, "]}");
    }
    fprintf(o, "]}\n");
}

static void print_text(FILE *o, const job *j, const result *r, const char *const *name)
{
    int i;
    fprintf(o, "frames=%lld intersections=%lld inversions=%lld min_distance=%.9g thickness=%lld",
        r->frames, r->intersections, r->inversions, r->min_distance, r->thickness);
    if (j->between) fprintf(o, " between=%lld", r->between);
    if (r->not_finite) fprintf(o, " not_finite=%lld", r->not_finite);
    fprintf(o, "\n");
    for (i = 0; i < r->count && i < SHOWN; ++i) print_finding(o, &r->list[i], name);
}

static void dump_item(FILE *o, int first, int n)
{
    static const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {3, 1, 2}};
    int i;
    if (n == 1) fprintf(o, "p %d\n", first);
    if (n == 2) fprintf(o, "l %d %d\n", first, first + 1);
    if (n == 3) fprintf(o, "f %d %d %d\n", first, first + 1, first + 2);
    for (i = 0; n == 4 && i < 4; ++i)
        fprintf(o, "f %d %d %d\n", first + face[i][0], first + face[i][1], first + face[i][2]);
}

/* every finding an object of its own, written beside and renamed */
static int dump(const char *path, const result *r)
{
    char *part_name = (char *)grab(NULL, strlen(path) + 8, 1);
    FILE *o;
    int i, k, v = 1, ok;
    sprintf(part_name, "%s.part", path);
    o = fopen(part_name, "w");
    if (o) {
        for (i = 0; i < r->count; ++i) {
            const finding *f = &r->list[i];
            fprintf(o, "o frame%lld_%d_%s\n", f->frame, i, item_name(f->na, 1));
            for (k = 0; k < f->na + f->nb; ++k)
                fprintf(o, "v %.17g %.17g %.17g\n", f->x[3 * k], f->x[3 * k + 1], f->x[3 * k + 2]);
            dump_item(o, v, f->na);
            dump_item(o, v + f->na, f->nb);
            v += f->na + f->nb;
        }
    }
    ok = o && !ferror(o);
    if (o && fclose(o)) ok = 0;
    if (ok) ok = rename(part_name, path) == 0;
    else if (o) remove(part_name);
    free(part_name);
    return ok;
}

/* ---- program ---- */
static int usage(FILE *err, const char *what, const char *which)
{
    fprintf(err, "gap-check: %s%s; see gap-check --help\n", what, which);
    return 2;
}

static int parse(job *j, int argc, char **argv)
{
    int i;
    char *end;
    for (i = 1; i < argc; ++i) {
        const char *a = argv[i];
        if (strcmp(a, "--between") == 0) j->between = 1;
        else if (strcmp(a, "--json") == 0) j->json = 1;
        else if (strcmp(a, "--dump") == 0 || strcmp(a, "--threads") == 0 ||
                 strcmp(a, "--static") == 0) {
            if (i + 1 >= argc) return usage(j->err, "nothing after ", a);
            ++i;
            if (a[2] == 'd') j->dump = argv[i];
            else if (a[2] == 's') j->fixed[j->fixeds++] = argv[i];
            else {
                long n = strtol(argv[i], &end, 10);
                if (*end || n < 1 || n > 1024) return usage(j->err, "bad number ", argv[i]);
                j->threads = (int)n;
            }
        } else if (a[0] == '-') return usage(j->err, "unknown option ", a);
        else j->path[j->paths++] = a;
    }
    return j->paths ? 0 : usage(j->err, "nothing to check", "");
}

/* names of the bodies of the first frame file, for the report */
static char **body_names(const job *j, int *count)
{
    frames_reader r;
    char **name = NULL, *file = (char *)grab(NULL, strlen(j->path[0]) + 16, 1);
    struct stat st;
    sprintf(file, stat(j->path[0], &st) == 0 && S_ISDIR(st.st_mode) ? "%s/frames.gapf" : "%s",
        j->path[0]);
    *count = 0;
    if (has_ending(file, ".gapf")) {
        if (frames_open(&r, file) && frames_next(&r) && r.name) {
            name = r.name;
            *count = r.bodies;
            r.name = NULL;
        }
        frames_close(&r);
    }
    free(file);
    return name;
}

static void checker_free(checker *c)
{
    int i;
    surface_free(&c->surf);
    for (i = 0; i < 10; ++i) curved_free(c->cache[i]);
    free(c->work); free(c->pair); free(c->how); free(c->group); free(c->fixed); free(c->first);
    free(c->r.list);
    pool_close(c->threads);
}

static int run(job *j)
{
    checker c;
    mesh_frame last;
    char **name;
    int i, ok = 1, names = 0, bad;
    memset(&c, 0, sizeof c);
    memset(&last, 0, sizeof last);
    c.r.min_distance = HUGE_VAL;
    c.r.dump = j->dump != NULL;
    if (j->threads > 1) c.threads = pool_open(j->threads);
    for (i = 0; i < j->paths && ok; ++i) ok = run_path(j, &c, j->path[i], &last);
    mesh_frame_free(&last);
    if (isatty(2)) fprintf(stderr, "\r            \r");
    if (ok && c.r.frames == 0 && !*j->damage) {
        fprintf(j->err, "gap-check: %s: no frames\n", j->path[0]);
        ok = 0;
    }
    if (!ok) {
        checker_free(&c);
        return 2;
    }
    name = j->paths == 1 ? body_names(j, &names) : NULL;
    if (j->json) print_json(j->out, j, &c.r, (const char *const *)name);
    else print_text(j->out, j, &c.r, (const char *const *)name);
    for (i = 0; name && i < names; ++i) free(name[i]);
    free(name);
    if (j->dump && !dump(j->dump, &c.r)) {
        fprintf(j->err, "gap-check: %s: cannot be written: %s\n", j->dump, strerror(errno));
        ok = 0;
    }
    bad = c.r.intersections || c.r.inversions || c.r.thickness || c.r.between || c.r.not_finite;
    checker_free(&c);
    return bad ? 1 : !ok || *j->damage ? 2 : 0;
}

static int check_main(int argc, char **argv, FILE *out, FILE *err)
{
    job j;
    int i, status;
    for (i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--help") && strcmp(argv[i], "--version")) continue;
        fputs(argv[i][2] == 'h' ? HELP : VERSION "\n", out);
        return 0;
    }
    memset(&j, 0, sizeof j);
    j.out = out;
    j.err = err;
    j.path = (const char **)grab(NULL, (size_t)argc + 1, sizeof *j.path);
    j.fixed = (const char **)grab(NULL, (size_t)argc + 1, sizeof *j.fixed);
    status = parse(&j, argc, argv);
    if (status == 0) status = run(&j);
    free(j.path);
    free(j.fixed);
    return status;
}

int main(int argc, char **argv)
{
    return check_main(argc, argv, stdout, stderr);
}
