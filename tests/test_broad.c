/* test_broad.c - gap_broad.h against brute force over boxes written down a second time */
#define GAP_BROAD_IMPLEMENTATION
#include "gap_broad.h"
#include "util.h"
#include "gen_ball_socket.h"
#include "../apps/common/pool.h"
#include <float.h>

/* ---- scenes ---- */
typedef struct scene {
    gap_broad_mesh m;
    int edge[2 * 256], tri[3 * 128], point[64], group[128];
    unsigned char fixed[128];
    double radius[128], x0[3 * 128], x1[3 * 128], inflate;
    int swept;
} scene;

static int pick(int n)
{
    return munit_rand_int_range(0, n - 1);
}

static double coin(void)
{
    return munit_rand_double();
}

static void add_edge(scene *s, int a, int b)
{
    int i;
    for (i = 0; i < s->m.edges; ++i) {
        const int *e = s->edge + 2 * i;
        if ((e[0] == a && e[1] == b) || (e[0] == b && e[1] == a)) return;
    }
    s->edge[2 * s->m.edges] = a;
    s->edge[2 * s->m.edges++ + 1] = b;
}

/* A soup of triangles that share nodes, rods and particles, all in one box; options at random. */
static void scene_random(scene *s)
{
    double scale = ldexp(1.0, munit_rand_int_range(-20, 20)), size, shift;
    int i, k, dim;
    memset(s, 0, sizeof *s);
    dim = s->m.dim = 2 + pick(2);
    s->m.nodes = 4 + pick(80);
    s->m.edge = s->edge;
    s->m.tri = s->tri;
    s->m.point = s->point;
    for (i = pick(60); dim == 3 && i > 0; --i) {
        int *t = s->tri + 3 * s->m.tris;
        t[0] = pick(s->m.nodes);
        t[1] = pick(s->m.nodes);
        t[2] = pick(s->m.nodes);
        if (t[0] == t[1] || t[1] == t[2] || t[0] == t[2]) continue;
        ++s->m.tris;
        for (k = 0; k < 3; ++k) add_edge(s, t[k], t[(k + 1) % 3]);
    }
    for (i = pick(40); i > 0; --i) {
        int a = pick(s->m.nodes), b = pick(s->m.nodes);
        if (a != b) add_edge(s, a, b);
    }
    for (i = pick(40); i > 0; --i) s->point[s->m.points++] = pick(s->m.nodes);
    if (pick(2)) s->m.fixed = s->fixed;
    if (pick(2)) s->m.radius = s->radius;
    if (pick(2)) s->m.group = s->group;
    s->swept = pick(2);
    s->inflate = pick(2) ? 0.0 : scale * 0.05 * coin();
    size = pick(3) ? 1.0 : 1e-3; /* some nodes close together */
    shift = pick(3) ? 0.0 : pick(2) ? 1e3 : 1e12;
    for (i = 0; i < s->m.nodes; ++i) {
        for (k = 0; k < dim; ++k) {
            double v = shift + (pick(2) ? size : 1.0) * (pick(3) ? coin() : pick(5) * 0.25);
            s->x0[dim * i + k] = scale * v;
            s->x1[dim * i + k] = scale * (v + (pick(2) ? 0.0 : 0.3 * coin()));
        }
        s->fixed[i] = (unsigned char)(pick(2) ? 7 : pick(8));
        s->radius[i] = pick(2) ? 0.0 : scale * 0.1 * coin();
        s->group[i] = pick(2) ? -1 - pick(2) : pick(3);
    }
}

static const double *scene_end(const scene *s)
{
    return s->swept ? s->x1 : NULL;
}

/* ---- the oracle: every pair of primitives, boxes as METHOD says, O(n^2) ---- */
typedef struct prim {
    int n, node[3];
    double lo[3], hi[3];
} prim;

static double outward(double v, int up)
{
    double s = up ? 1.0 : -1.0;
    return v + s * (fabs(v) * ldexp(1.0, -52)) + s * DBL_MIN;
}

static prim prim_make(const scene *s, int n, const int *node)
{
    prim p;
    double g = 0.0;
    int i, k, d = s->m.dim;
    p.n = n;
    for (i = 0; i < n; ++i) {
        p.node[i] = node[i];
        if (s->m.radius) g = fmax(g, s->radius[node[i]]);
    }
    g += s->inflate;
    for (k = 0; k < d; ++k) {
        p.lo[k] = HUGE_VAL;
        p.hi[k] = -HUGE_VAL;
        for (i = 0; i < n; ++i) {
            double a = s->x0[d * node[i] + k], b = s->swept ? s->x1[d * node[i] + k] : a;
            p.lo[k] = fmin(p.lo[k], fmin(a, b));
            p.hi[k] = fmax(p.hi[k], fmax(a, b));
        }
        if (g > 0.0) {
            p.lo[k] = outward(p.lo[k] - g * (1.0 + ldexp(1.0, -52)), 0);
            p.hi[k] = outward(p.hi[k] + g * (1.0 + ldexp(1.0, -52)), 1);
        }
    }
    return p;
}

static int edge_codim(const scene *s, int e)
{
    int i, k, a = s->edge[2 * e], b = s->edge[2 * e + 1];
    if (s->m.dim == 2) return 1;
    for (i = 0; i < s->m.tris; ++i) {
        int has = 0;
        for (k = 0; k < 3; ++k) has += s->tri[3 * i + k] == a || s->tri[3 * i + k] == b;
        if (has == 2) return 0;
    }
    return 1;
}

/* Is node v a first primitive of this kind? */
static int node_role(const scene *s, int kind, int v)
{
    int i, point = 0, codim = 0, used = 0;
    for (i = 0; i < s->m.points; ++i) point |= s->point[i] == v;
    for (i = 0; i < s->m.edges; ++i) {
        int in = s->edge[2 * i] == v || s->edge[2 * i + 1] == v;
        used |= in;
        codim |= in && edge_codim(s, i);
    }
    for (i = 0; i < 3 * s->m.tris; ++i) used |= s->tri[i] == v;
    return kind == GAP_BROAD_VV ? point : kind == GAP_BROAD_VE ? point || codim : used || point;
}

static int pair_meets(const scene *s, const prim *a, const prim *b)
{
    int i, k, all_fixed = s->m.fixed != NULL, full = s->m.dim == 3 ? 7 : 3;
    for (i = 0; i < a->n; ++i)
        for (k = 0; k < b->n; ++k)
            if (a->node[i] == b->node[k]) return 0;
    for (k = 0; k < s->m.dim; ++k)
        if (a->lo[k] > b->hi[k] || b->lo[k] > a->hi[k]) return 0;
    for (i = 0; i < a->n; ++i) all_fixed &= (s->fixed[a->node[i]] & full) == full;
    for (i = 0; i < b->n; ++i) all_fixed &= (s->fixed[b->node[i]] & full) == full;
    if (all_fixed) return 0;
    return !(s->m.group && s->group[a->node[0]] < 0 &&
        s->group[a->node[0]] == s->group[b->node[0]]);
}

static int brute(const scene *s, int kind, int *out)
{
    int a, b, n = 0, na, nb, e = kind == GAP_BROAD_EE;
    if (s->m.dim == 2 && kind >= GAP_BROAD_VF) return 0;
    na = e ? s->m.edges : s->m.nodes;
    nb = kind == GAP_BROAD_VV ? s->m.nodes : kind == GAP_BROAD_VF ? s->m.tris : s->m.edges;
    for (a = 0; a < na; ++a) {
        prim p = e ? prim_make(s, 2, s->edge + 2 * a) : prim_make(s, 1, &a);
        if (!e && !node_role(s, kind, a)) continue;
        for (b = e || kind == GAP_BROAD_VV ? a + 1 : 0; b < nb; ++b) {
            prim q;
            if (kind == GAP_BROAD_VV && !node_role(s, kind, b)) continue;
            if (kind == GAP_BROAD_VE && !edge_codim(s, b)) continue;
            q = kind == GAP_BROAD_VV ? prim_make(s, 1, &b) :
                kind == GAP_BROAD_VF ? prim_make(s, 3, s->tri + 3 * b) :
                prim_make(s, 2, s->edge + 2 * b);
            if (!pair_meets(s, &p, &q)) continue;
            out[2 * n] = a;
            out[2 * n++ + 1] = b;
        }
    }
    return n;
}

static void assert_lists(gap_broad *b, const scene *s)
{
    static int want[2 * 65536];
    const int *pair;
    int kind, n, count;
    for (kind = 0; kind < 4; ++kind) {
        n = brute(s, kind, want);
        munit_assert_int(gap_broad_pairs(b, kind, &pair, &count), ==, GAP_BROAD_OK);
        munit_assert_int(count, ==, n);
        if (n > 0) munit_assert_memory_equal(2 * sizeof(int) * (size_t)n, pair, want);
    }
}

/* ---- tests ---- */
static MunitResult test_quick(const MunitParameter p[], void *u)
{
    double x[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, .2, .2, .1, 1.2, .2, .1, .2, 1.2, .1};
    int tri[6] = {0, 1, 2, 3, 4, 5}, edge[12] = {0, 1, 1, 2, 0, 2, 3, 4, 4, 5, 3, 5}, n;
    gap_broad_mesh m = {3, 6, 6, 2, 0, edge, tri, NULL, NULL, NULL, NULL};
    const int want[2] = {3, 0}, *pair;
    gap_broad b;
    (void)p;
    (void)u;
    gap_broad_init(&b, NULL);
    munit_assert_int(gap_broad_set_mesh(&b, &m), ==, 0);
    munit_assert_int(gap_broad_build(&b, x, NULL, 0.06), ==, 0);
    munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_VF, &pair, &n), ==, 0);
    munit_assert_int(n, ==, 1);
    munit_assert_memory_equal(sizeof want, pair, want);
    munit_assert_int(gap_broad_build(&b, x, NULL, 0.04), ==, 0);
    munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_VF, &pair, &n), ==, 0);
    munit_assert_int(n, ==, 0);
    gap_broad_free(&b);
    return MUNIT_OK;
}

static MunitResult test_brute(const MunitParameter p[], void *u)
{
    static scene s, later;
    gap_broad b;
    int i, k;
    (void)p;
    (void)u;
    gap_broad_init(&b, NULL); /* one object for all: meshes shrink and grow */
    for (i = util_count(200, 20000); i > 0; --i) {
        scene_random(&s);
        munit_assert_int(gap_broad_set_mesh(&b, &s.m), ==, 0);
        munit_assert_int(gap_broad_build(&b, s.x0, scene_end(&s), s.inflate), ==, 0);
        assert_lists(&b, &s);
        later = s; /* the same mesh elsewhere: refit keeps the order, not the boxes */
        for (k = 0; k < 3 * s.m.nodes; ++k) later.x0[k] = s.x1[k] * (0.5 + coin());
        later.swept = pick(2);
        later.inflate = s.inflate * coin();
        munit_assert_int(gap_broad_refit(&b, later.x0, scene_end(&later), later.inflate), ==, 0);
        assert_lists(&b, &later);
    }
    gap_broad_free(&b);
    return MUNIT_OK;
}

static MunitResult test_ranges(const MunitParameter p[], void *u)
{
    static scene s;
    static int joined[2 * 65536];
    gap_broad b;
    const int *pair;
    int i, kind, n, at, step, status;
    size_t got, sum;
    (void)p;
    (void)u;
    gap_broad_init(&b, NULL);
    for (i = 0; i < 50; ++i) {
        scene_random(&s);
        munit_assert_int(gap_broad_set_mesh(&b, &s.m), ==, 0);
        munit_assert_int(gap_broad_refit(&b, s.x0, scene_end(&s), s.inflate), ==, 0);
        for (kind = 0; kind < 4; ++kind) {
            int end = kind == GAP_BROAD_EE ? s.m.edges : s.m.nodes;
            munit_assert_int(gap_broad_pairs(&b, kind, &pair, &n), ==, 0);
            for (sum = 0, at = 0; at < end; at += step) {
                step = 1 + pick(end - at);
                status = gap_broad_query(&b, kind, at, at + step, joined + 2 * sum, 65536 - sum,
                    &got);
                munit_assert_int(status, ==, GAP_BROAD_OK);
                sum += got;
            }
            munit_assert_size(sum, ==, (size_t)n);
            if (n > 0) munit_assert_memory_equal(2 * sizeof(int) * sum, joined, pair);
            status = gap_broad_query(&b, kind, 0, end, joined, (size_t)n / 2, &got);
            munit_assert_int(status, ==, n > 0 ? GAP_BROAD_MORE : GAP_BROAD_OK);
            munit_assert_size(got, ==, (size_t)n);
        }
    }
    gap_broad_free(&b);
    return MUNIT_OK;
}

static MunitResult test_in_box(const MunitParameter p[], void *u)
{
    static scene s;
    int out[256], i, j, k, what, n, status, round;
    gap_broad b;
    size_t got;
    (void)p;
    (void)u;
    gap_broad_init(&b, NULL);
    for (round = 0; round < 50; ++round) {
        scene_random(&s);
        munit_assert_int(gap_broad_set_mesh(&b, &s.m), ==, 0);
        munit_assert_int(gap_broad_build(&b, s.x0, scene_end(&s), s.inflate), ==, 0);
        for (i = 0; i < 20; ++i) {
            int e = pick(s.m.nodes), f = pick(s.m.nodes), node[2];
            prim q;
            node[0] = e;
            node[1] = f;
            q = prim_make(&s, pick(2) + 1, node);
            if (i == 0) q.lo[0] = -HUGE_VAL;
            if (i == 1) q.hi[0] = HUGE_VAL;
            if (i == 2) q.lo[1] = 1e300;
            for (what = 0; what < 3; ++what) {
                const int count = what == 0 ? s.m.nodes : what == 1 ? s.m.edges : s.m.tris;
                status = gap_broad_in_box(&b, what, q.lo, q.hi, out, 256, &got);
                munit_assert_int(status, ==, GAP_BROAD_OK);
                for (n = 0, j = 0; j < count; ++j) {
                    prim r = what == 0 ? prim_make(&s, 1, &j) :
                        prim_make(&s, what + 1, what == 1 ? s.edge + 2 * j : s.tri + 3 * j);
                    if (what == 0 && !node_role(&s, GAP_BROAD_VV, j)) continue;
                    for (k = 0; k < s.m.dim; ++k)
                        if (q.lo[k] > r.hi[k] || r.lo[k] > q.hi[k]) break;
                    if (k < s.m.dim) continue;
                    munit_assert_int(out[n], ==, j);
                    ++n;
                }
                munit_assert_size(got, ==, (size_t)n);
            }
        }
    }
    gap_broad_free(&b);
    return MUNIT_OK;
}

/* Two particles, or a vertex over a triangle, whose exact distance is at most the given one:
   rounding must not lose the pair, at any scale and far from the origin. */
static MunitResult test_safe_touch(const MunitParameter p[], void *u)
{
    int tri[3] = {0, 1, 2}, edge[6] = {0, 1, 1, 2, 0, 2}, point[1] = {3}, i, k, n;
    double x[12], radius[4] = {0, 0, 0, 0}, d;
    const int *pair;
    gap_broad b;
    gap_broad_mesh m = {3, 4, 3, 1, 1, edge, tri, point, NULL, NULL, NULL};
    (void)p;
    (void)u;
    gap_broad_init(&b, NULL);
    for (i = util_count(20000, 1000000); i > 0; --i) {
        double scale = ldexp(1.0, munit_rand_int_range(-60, 60)), share = coin(), z, w;
        int axis = pick(3);
        for (k = 0; k < 9; ++k) x[k] = scale * (coin() - 0.5);
        z = scale * (coin() - 0.5) * ldexp(1.0, munit_rand_int_range(-30, 30));
        w = z + (pick(2) ? 1 : -1) * scale * coin() * ldexp(1.0, munit_rand_int_range(-30, 3));
        for (k = 0; k < 3; ++k) {
            x[3 * k + axis] = z;
            x[9 + k] = (x[k] + x[3 + k] + x[6 + k]) / 3; /* inside the triangle's shadow */
        }
        x[9 + axis] = w;
        d = nextafter(fabs(z - w), HUGE_VAL); /* not below the exact distance */
        m.radius = pick(2) ? radius : NULL;
        radius[0] = share * d;
        radius[3] = m.radius ? nextafter(d - radius[0], HUGE_VAL) * (1.0 + 1e-15) : 0.0;
        munit_assert_int(gap_broad_set_mesh(&b, &m), ==, 0);
        munit_assert_int(gap_broad_build(&b, x, NULL, m.radius ? 0.0 : 0.5 * d), ==, 0);
        munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_VF, &pair, &n), ==, 0);
        munit_assert_int(n, ==, 1);
    }
    gap_broad_free(&b);
    return MUNIT_OK;
}

/* ---- true distances, by projection and clamping ---- */
static double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double dist_ve(const double *p, const double *a, const double *b)
{
    double u[3], w[3], t, d[3];
    int k;
    for (k = 0; k < 3; ++k) u[k] = b[k] - a[k], w[k] = p[k] - a[k];
    t = fmin(1.0, fmax(0.0, dot3(w, u) / dot3(u, u)));
    for (k = 0; k < 3; ++k) d[k] = w[k] - t * u[k];
    return sqrt(dot3(d, d));
}

static double dist_vf(const double *p, const double *a, const double *b, const double *c)
{
    double u[3], v[3], w[3], n[3], uu, uv, vv, wu, wv, det, s, t;
    int k;
    for (k = 0; k < 3; ++k) u[k] = b[k] - a[k], v[k] = c[k] - a[k], w[k] = p[k] - a[k];
    uu = dot3(u, u), uv = dot3(u, v), vv = dot3(v, v), wu = dot3(w, u), wv = dot3(w, v);
    det = uu * vv - uv * uv;
    s = (wu * vv - wv * uv) / det;
    t = (wv * uu - wu * uv) / det;
    for (k = 0; k < 3; ++k) n[k] = w[k] - s * u[k] - t * v[k];
    if (s >= 0 && t >= 0 && s + t <= 1) return sqrt(dot3(n, n));
    return fmin(dist_ve(p, a, b), fmin(dist_ve(p, b, c), dist_ve(p, c, a)));
}

static double dist_ee(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3], r[3], uu, uv, vv, wu, wv, det, s, t, best;
    int k;
    for (k = 0; k < 3; ++k) u[k] = b[k] - a[k], v[k] = d[k] - c[k], w[k] = a[k] - c[k];
    uu = dot3(u, u), uv = dot3(u, v), vv = dot3(v, v), wu = dot3(w, u), wv = dot3(w, v);
    det = uu * vv - uv * uv;
    best = fmin(fmin(dist_ve(a, c, d), dist_ve(b, c, d)), fmin(dist_ve(c, a, b), dist_ve(d, a, b)));
    s = (uv * wv - vv * wu) / det;
    t = (uu * wv - uv * wu) / det;
    if (!(s > 0 && s < 1 && t > 0 && t < 1)) return best;
    for (k = 0; k < 3; ++k) r[k] = w[k] + s * u[k] - t * v[k];
    return fmin(best, sqrt(dot3(r, r)));
}

static int pair_listed(const int *pair, int n, int a, int b)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (pair[2 * mid] < a || (pair[2 * mid] == a && pair[2 * mid + 1] < b)) lo = mid + 1;
        else hi = mid;
    }
    return lo < n && pair[2 * lo] == a && pair[2 * lo + 1] == b;
}

static void mesh_of(const gen_ball_socket *s, gap_broad_mesh *m)
{
    memset(m, 0, sizeof *m);
    m->dim = 3;
    m->nodes = s->nodes;
    m->edges = s->edges;
    m->tris = s->tris;
    m->edge = s->edge;
    m->tri = s->tri;
}

static int tri_has(const int *t, int v)
{
    return t[0] == v || t[1] == v || t[2] == v;
}

/* Every pair closer than dhat is listed, whatever dhat is. */
static MunitResult test_safe_close(const MunitParameter p[], void *u)
{
    static const double times[3] = {1.0, 10.0, 60.0};
    gen_ball_socket s;
    gap_broad_mesh m;
    const int *pair;
    gap_broad b;
    int i, j, k, n, close = 0;
    (void)p;
    (void)u;
    gen_ball_socket_make(util_count(7, 12), &s);
    mesh_of(&s, &m);
    gap_broad_init(&b, NULL);
    munit_assert_int(gap_broad_set_mesh(&b, &m), ==, 0);
    for (k = 0; k < 3; ++k) {
        const double dhat = s.dhat * times[k];
        munit_assert_int(gap_broad_build(&b, s.x, NULL, 0.5 * dhat), ==, 0);
        munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_VF, &pair, &n), ==, 0);
        for (i = 0; i < s.nodes; ++i) {
            for (j = 0; j < s.tris; ++j) {
                const int *t = s.tri + 3 * j;
                if (tri_has(t, i)) continue;
                if (dist_vf(s.x + 3 * i, s.x + 3 * t[0], s.x + 3 * t[1], s.x + 3 * t[2]) > dhat)
                    continue;
                munit_assert_true(pair_listed(pair, n, i, j));
                ++close;
            }
        }
        munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_EE, &pair, &n), ==, 0);
        for (i = 0; i < s.edges; ++i) {
            for (j = i + 1; j < s.edges; ++j) {
                const int *e = s.edge + 2 * i, *f = s.edge + 2 * j;
                if (e[0] == f[0] || e[0] == f[1] || e[1] == f[0] || e[1] == f[1]) continue;
                if (dist_ee(s.x + 3 * e[0], s.x + 3 * e[1], s.x + 3 * f[0], s.x + 3 * f[1]) > dhat)
                    continue;
                munit_assert_true(pair_listed(pair, n, i, j));
                ++close;
            }
        }
    }
    munit_assert_int(close, >, 5000);
    gap_broad_free(&b);
    gen_ball_socket_free(&s);
    return MUNIT_OK;
}

/* Counts that other programs found for this scene with boxes in double precision. */
static MunitResult test_ball_socket(const MunitParameter p[], void *u)
{
    gen_ball_socket s;
    gap_broad_mesh m;
    const int *pair;
    double *x1;
    gap_broad b;
    int vf, ee, i;
    (void)p;
    (void)u;
    gen_ball_socket_make(32, &s);
    mesh_of(&s, &m);
    gap_broad_init(&b, NULL);
    munit_assert_int(gap_broad_set_mesh(&b, &m), ==, 0);
    munit_assert_int(gap_broad_build(&b, s.x, NULL, 0.5 * s.dhat), ==, 0);
    munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_EE, &pair, &ee), ==, 0);
    munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_VF, &pair, &vf), ==, 0);
    munit_assert_int(ee, ==, 75859);
    munit_assert_int(vf, ==, 16257);
    x1 = (double *)munit_calloc(3 * (size_t)s.nodes, sizeof *x1);
    gen_ball_socket_motion(&s, 0.1, x1);
    for (i = 0; i < 3 * s.nodes; ++i) x1[i] += s.x[i];
    munit_assert_int(gap_broad_refit(&b, s.x, x1, 0.0), ==, 0);
    munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_EE, &pair, &ee), ==, 0);
    munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_VF, &pair, &vf), ==, 0);
    munit_assert_int(ee + vf, ==, 47561);
    free(x1);
    gap_broad_free(&b);
    gen_ball_socket_free(&s);
    return MUNIT_OK;
}

static uint64_t hash_all(gap_broad *b)
{
    const int *pair;
    uint64_t h = 0;
    int kind, n;
    for (kind = 0; kind < 4; ++kind) {
        munit_assert_int(gap_broad_pairs(b, kind, &pair, &n), ==, 0);
        h = util_hash_bytes(h, &n, sizeof n);
        h = util_hash_bytes(h, pair, 2 * sizeof(int) * (size_t)n);
    }
    return h;
}

/* A square sheet of n x n nodes folded over itself, with a fringe of rods and some particles. */
typedef struct sheet {
    gap_broad_mesh m;
    int *edge, *tri, *point;
    double *x0, *x1;
} sheet;

static void sheet_make(sheet *s, int n)
{
    int i, j, e = 0, t = 0, q = 0, v;
    size_t nodes = (size_t)(n * n);
    memset(s, 0, sizeof *s);
    s->edge = (int *)munit_calloc(6 * nodes, sizeof(int));
    s->tri = (int *)munit_calloc(6 * nodes, sizeof(int));
    s->point = (int *)munit_calloc(nodes, sizeof(int));
    s->x0 = (double *)munit_calloc(3 * nodes, sizeof(double));
    s->x1 = (double *)munit_calloc(3 * nodes, sizeof(double));
    for (i = 0; i < n; ++i) {
        for (j = 0; j < n; ++j) {
            double a = 8.0 * i / n, b = 8.0 * j / n;
            v = n * i + j;
            s->x0[3 * v] = cos(a) + 0.02 * a;
            s->x0[3 * v + 1] = sin(a) - 0.03 * b;
            s->x0[3 * v + 2] = b + 0.1 * sin(5 * a) * cos(3 * b);
            s->x1[3 * v] = s->x0[3 * v] * 0.95;
            s->x1[3 * v + 1] = s->x0[3 * v + 1] + 0.02 * sin(9 * b);
            s->x1[3 * v + 2] = s->x0[3 * v + 2];
            if (j + 1 < n && i < n - 1) s->edge[e++] = v, s->edge[e++] = v + 1;
            if (i + 1 < n) s->edge[e++] = v, s->edge[e++] = v + n;
            if (i + 2 < n && j + 1 < n) {
                s->edge[e++] = v + 1, s->edge[e++] = v + n;
                s->tri[t++] = v, s->tri[t++] = v + n, s->tri[t++] = v + 1;
                s->tri[t++] = v + 1, s->tri[t++] = v + n, s->tri[t++] = v + n + 1;
            }
            if (i == n - 1 && j % 2) s->point[q++] = v;
        }
    }
    s->m.dim = 3;
    s->m.nodes = n * n;
    s->m.edges = e / 2;
    s->m.tris = t / 3;
    s->m.points = q;
    s->m.edge = s->edge;
    s->m.tri = s->tri;
    s->m.point = s->point;
}

static void sheet_free(sheet *s)
{
    free(s->edge);
    free(s->tri);
    free(s->point);
    free(s->x0);
    free(s->x1);
}

static MunitResult test_threads(const MunitParameter p[], void *u)
{
    static const int workers[5] = {0, 1, 2, 3, 8};
    uint64_t want[2] = {0, 0}, h;
    sheet s;
    int i, k;
    (void)p;
    (void)u;
    sheet_make(&s, 120);
    for (i = 0; i < 5; ++i) {
        gap_broad_options o;
        gap_broad b;
        pool *w = workers[i] ? pool_open(workers[i]) : NULL;
        memset(&o, 0, sizeof o);
        if (w) {
            o.parallel_for = pool_for;
            o.parallel_user = w;
            o.workers = workers[i];
        }
        gap_broad_init(&b, &o);
        munit_assert_int(gap_broad_set_mesh(&b, &s.m), ==, 0);
        for (k = 0; k < 2; ++k) {
            munit_assert_int(k ? gap_broad_refit(&b, s.x0, s.x1, 0.0) :
                gap_broad_build(&b, s.x0, NULL, 0.02), ==, 0);
            h = hash_all(&b);
            if (i == 0) want[k] = h;
            munit_assert_uint64(h, ==, want[k]);
        }
        gap_broad_free(&b);
        pool_close(w);
    }
    sheet_free(&s);
    return MUNIT_OK;
}

static MunitResult test_memory(const MunitParameter p[], void *u)
{
    static const int sizes[4] = {3, 12, 60, 90};
    util_memory mem;
    gap_broad_options o;
    gap_broad b;
    sheet s;
    int i, k;
    (void)p;
    (void)u;
    for (i = 0; i < 4; ++i) {
        size_t prims;
        long calls = 0;
        memset(&mem, 0, sizeof mem);
        memset(&o, 0, sizeof o);
        o.realloc_fn = util_realloc;
        o.realloc_user = &mem;
        sheet_make(&s, sizes[i]);
        prims = (size_t)s.m.nodes + (size_t)s.m.edges + (size_t)s.m.tris;
        gap_broad_init(&b, &o);
        munit_assert_int(gap_broad_set_mesh(&b, &s.m), ==, 0);
        munit_assert_int(gap_broad_build(&b, s.x0, NULL, 0.02), ==, 0);
        munit_assert_size(mem.peak, <=, 40 * prims + 2048);
        for (k = 0; k < 4; ++k) { /* after one round nothing is allocated any more */
            if (k == 2) calls = mem.calls;
            munit_assert_int(gap_broad_build(&b, s.x0, s.x1, 0.02), ==, 0);
            hash_all(&b);
            munit_assert_int(gap_broad_refit(&b, s.x0, NULL, 0.02), ==, 0);
            hash_all(&b);
        }
        munit_assert_long(mem.calls, ==, calls);
        gap_broad_free(&b);
        munit_assert_size(mem.now, ==, 0);
        munit_assert_long(mem.live, ==, 0);
        munit_assert_int(mem.wrong, ==, 0);
        sheet_free(&s);
    }
    return MUNIT_OK;
}

static MunitResult test_particles_memory(const MunitParameter p[], void *u)
{
    enum { N = 5000 };
    int *point = (int *)munit_calloc(N, sizeof(int)), i;
    double *x = (double *)munit_calloc(3 * N, sizeof(double));
    gap_broad_mesh m;
    gap_broad_options o;
    util_memory mem;
    gap_broad b;
    (void)p;
    (void)u;
    memset(&m, 0, sizeof m);
    memset(&o, 0, sizeof o);
    memset(&mem, 0, sizeof mem);
    o.realloc_fn = util_realloc;
    o.realloc_user = &mem;
    for (i = 0; i < N; ++i) point[i] = i;
    for (i = 0; i < 3 * N; ++i) x[i] = coin();
    m.dim = 3;
    m.nodes = m.points = N;
    m.point = point;
    gap_broad_init(&b, &o);
    munit_assert_int(gap_broad_set_mesh(&b, &m), ==, 0);
    munit_assert_int(gap_broad_build(&b, x, NULL, 0.005), ==, 0);
    /* a particle is a vertex and a point: two primitives */
    munit_assert_size(mem.peak, <=, 40 * 2 * N + 2048);
    gap_broad_free(&b);
    free(point);
    free(x);
    return MUNIT_OK;
}

static MunitResult test_alloc_fails(const MunitParameter p[], void *u)
{
    util_memory mem;
    gap_broad_options o;
    const int *pair;
    gap_broad b;
    sheet s;
    long k;
    int n, status = -1;
    (void)p;
    (void)u;
    sheet_make(&s, 30);
    for (k = 1; status != 0; ++k) {
        memset(&mem, 0, sizeof mem);
        memset(&o, 0, sizeof o);
        o.realloc_fn = util_realloc;
        o.realloc_user = &mem;
        mem.fail_at = k;
        gap_broad_init(&b, &o);
        status = gap_broad_set_mesh(&b, &s.m);
        if (!status) status = gap_broad_build(&b, s.x0, NULL, 0.1);
        if (!status) status = gap_broad_pairs(&b, GAP_BROAD_EE, &pair, &n);
        munit_assert_true(status == 0 || status == GAP_BROAD_ENOMEM);
        if (status && mem.calls >= k) { /* and it works when asked again */
            munit_assert_int(gap_broad_set_mesh(&b, &s.m), ==, 0);
            munit_assert_int(gap_broad_build(&b, s.x0, NULL, 0.1), ==, 0);
            munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_EE, &pair, &n), ==, 0);
            munit_assert_int(n, >, 0);
        }
        gap_broad_free(&b);
        munit_assert_long(mem.live, ==, 0);
        munit_assert_int(mem.wrong, ==, 0);
    }
    munit_assert_long(k, >, 5);
    sheet_free(&s);
    return MUNIT_OK;
}

typedef struct keep_log {
    int calls, wrong;
} keep_log;

static int keep_even(void *user, int kind, int a, int b)
{
    keep_log *log = (keep_log *)user;
    ++log->calls;
    log->wrong |= kind < 0 || kind > 3 || a < 0 || b < 0;
    return (a + b) % 2 == 0;
}

static MunitResult test_keep(const MunitParameter p[], void *u)
{
    static int all[2 * 65536];
    static scene s;
    keep_log log = {0, 0};
    gap_broad_options o;
    const int *pair;
    gap_broad b, c;
    int i, kind, k, n, m, j, asked = 0;
    (void)p;
    (void)u;
    memset(&o, 0, sizeof o);
    o.keep = keep_even;
    o.keep_user = &log;
    gap_broad_init(&b, NULL);
    gap_broad_init(&c, &o);
    for (i = 0; i < 20; ++i) {
        scene_random(&s);
        munit_assert_int(gap_broad_set_mesh(&b, &s.m), ==, 0);
        munit_assert_int(gap_broad_set_mesh(&c, &s.m), ==, 0);
        munit_assert_int(gap_broad_build(&b, s.x0, scene_end(&s), s.inflate), ==, 0);
        munit_assert_int(gap_broad_build(&c, s.x0, scene_end(&s), s.inflate), ==, 0);
        for (kind = 0; kind < 4; ++kind) {
            munit_assert_int(gap_broad_pairs(&b, kind, &pair, &n), ==, 0);
            if (n > 0) memcpy(all, pair, 2 * sizeof(int) * (size_t)n);
            munit_assert_int(gap_broad_pairs(&c, kind, &pair, &m), ==, 0);
            for (j = 0, k = 0; k < n; ++k) {
                if ((all[2 * k] + all[2 * k + 1]) % 2) continue;
                munit_assert_int(pair[2 * j], ==, all[2 * k]);
                munit_assert_int(pair[2 * j + 1], ==, all[2 * k + 1]);
                ++j;
            }
            munit_assert_int(j, ==, m);
            asked += n;
        }
    }
    munit_assert_int(log.calls, >=, asked);
    munit_assert_int(log.wrong, ==, 0);
    gap_broad_free(&b);
    gap_broad_free(&c);
    return MUNIT_OK;
}

static MunitResult test_bad_input(const MunitParameter p[], void *u)
{
    static const double bad[3] = {HUGE_VAL, -HUGE_VAL, NAN};
    double x[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, y[9], radius[3] = {0, 0, 0};
    int edge[2] = {0, 1}, point[1] = {2}, k, n;
    gap_broad_mesh m = {3, 3, 1, 0, 1, edge, NULL, point, NULL, NULL, NULL};
    const int *pair;
    gap_broad b;
    size_t got;
    (void)p;
    (void)u;
    memcpy(y, x, sizeof x);
    gap_broad_init(&b, NULL);
    munit_assert_int(gap_broad_pairs(&b, 0, &pair, &n), ==, GAP_BROAD_EINPUT);
    munit_assert_int(gap_broad_set_mesh(&b, &m), ==, 0);
    munit_assert_int(gap_broad_pairs(&b, 0, &pair, &n), ==, GAP_BROAD_EINPUT);
    munit_assert_int(gap_broad_query(&b, 0, 0, 1, NULL, 0, &got), ==, GAP_BROAD_EINPUT);
    for (k = 0; k < 3; ++k) {
        y[3 * k + k] = bad[k];
        munit_assert_int(gap_broad_build(&b, x, NULL, 0.1), ==, 0);
        munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_VE, &pair, &n), ==, 0);
        munit_assert_int(gap_broad_refit(&b, x, y, 0.1), ==, GAP_BROAD_ENONFIN);
        munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_VE, &pair, &n), ==, GAP_BROAD_EINPUT);
        munit_assert_int(n, ==, 0);
        munit_assert_int(gap_broad_build(&b, y, NULL, 0.1), ==, GAP_BROAD_ENONFIN);
        munit_assert_int(gap_broad_build(&b, x, NULL, bad[k]), ==, GAP_BROAD_ENONFIN);
        y[3 * k + k] = x[3 * k + k];
        m.radius = radius;
        radius[k] = bad[k];
        munit_assert_int(gap_broad_set_mesh(&b, &m), ==, 0);
        munit_assert_int(gap_broad_build(&b, x, NULL, 0.1), ==, GAP_BROAD_ENONFIN);
        radius[k] = -1e-9;
        munit_assert_int(gap_broad_build(&b, x, NULL, 0.1), ==, GAP_BROAD_EINPUT);
        radius[k] = 0.0;
        m.radius = NULL;
        munit_assert_int(gap_broad_set_mesh(&b, &m), ==, 0);
        munit_assert_int(gap_broad_build(&b, x, NULL, -0.1), ==, GAP_BROAD_EINPUT);
    }
    edge[1] = 3;
    munit_assert_int(gap_broad_set_mesh(&b, &m), ==, GAP_BROAD_EINDEX);
    edge[1] = -1;
    munit_assert_int(gap_broad_set_mesh(&b, &m), ==, GAP_BROAD_EINDEX);
    edge[1] = 1;
    m.dim = 4;
    munit_assert_int(gap_broad_set_mesh(&b, &m), ==, GAP_BROAD_EINPUT);
    m.dim = 3;
    munit_assert_int(gap_broad_set_mesh(&b, &m), ==, 0);
    munit_assert_int(gap_broad_build(&b, x, NULL, 0), ==, 0);
    munit_assert_int(gap_broad_pairs(&b, 4, &pair, &n), ==, GAP_BROAD_EINPUT);
    x[0] = NAN;
    munit_assert_int(gap_broad_in_box(&b, 1, x, x, NULL, 0, &got), ==, GAP_BROAD_ENONFIN);
    gap_broad_free(&b);
    return MUNIT_OK;
}

static MunitResult test_empty(const MunitParameter p[], void *u)
{
    gap_broad_mesh m;
    const int *pair;
    gap_broad b;
    double x[3] = {NAN, 0, 0};
    int kind, n;
    (void)p;
    (void)u;
    memset(&m, 0, sizeof m);
    for (m.dim = 2; m.dim < 4; ++m.dim) {
        for (m.nodes = 0; m.nodes < 2; ++m.nodes) { /* a node in nothing is never looked at */
            gap_broad_init(&b, NULL);
            munit_assert_int(gap_broad_set_mesh(&b, &m), ==, 0);
            munit_assert_int(gap_broad_build(&b, x, NULL, 0.0), ==, 0);
            for (kind = 0; kind < 4; ++kind) {
                munit_assert_int(gap_broad_pairs(&b, kind, &pair, &n), ==, 0);
                munit_assert_int(n, ==, 0);
            }
            gap_broad_free(&b);
        }
    }
    return MUNIT_OK;
}

/* Sizes where floats would overflow, underflow or see one point only. */
static MunitResult test_extremes(const MunitParameter p[], void *u)
{
    static const double at[8] = {0, 1, 1e300, -1e300, 1e-300, 1e-310, 1.7e308, 1e17};
    int point[4] = {0, 1, 2, 3}, i, j, n;
    gap_broad_mesh m = {3, 4, 0, 0, 4, NULL, NULL, point, NULL, NULL, NULL};
    const int *pair;
    gap_broad b;
    (void)p;
    (void)u;
    gap_broad_init(&b, NULL);
    for (i = 0; i < 8; ++i) {
        for (j = 0; j < 8; ++j) {
            double x[12] = {0}, step = nextafter(at[i], HUGE_VAL);
            x[0] = x[3] = x[6] = at[i];
            x[9] = at[j];
            munit_assert_int(gap_broad_set_mesh(&b, &m), ==, 0);
            munit_assert_int(gap_broad_build(&b, x, NULL, 0.0), ==, 0);
            munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_VV, &pair, &n), ==, 0);
            munit_assert_int(n, ==, i == j ? 6 : 3);
            x[3] = step; /* one step apart is apart */
            munit_assert_int(gap_broad_build(&b, x, NULL, 0.0), ==, 0);
            munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_VV, &pair, &n), ==, 0);
            munit_assert_int(n, ==, i == j ? 3 : 1 + (step == at[j]) + 0);
            munit_assert_int(gap_broad_build(&b, x, NULL, 1.7e308), ==, 0);
            munit_assert_int(gap_broad_pairs(&b, GAP_BROAD_VV, &pair, &n), ==, 0);
            munit_assert_int(n, ==, 6);
        }
    }
    gap_broad_free(&b);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {(char *)"/quick_start", test_quick, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/equals_brute_force", test_brute, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/ranges_join", test_ranges, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/in_box", test_in_box, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/safe_touch", test_safe_touch, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/safe_close", test_safe_close, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/ball_in_socket", test_ball_socket, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/same_for_any_threads", test_threads, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/memory", test_memory, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/memory_particles", test_particles_memory, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/allocation_fails", test_alloc_fails, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/keep", test_keep, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/edge/bad_input", test_bad_input, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/edge/empty", test_empty, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/edge/extremes", test_extremes, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
};

static const MunitSuite suite = {(char *)"/broad", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
