/* Tests of gap_barrier.h. Oracles: finite differences of the energy, a long double Jacobi solver
   for PSD blocks, sums by definition for multiplicities and the convergent form, and published
   values of the scene "ball in socket". */
#define GAP_BARRIER_IMPLEMENTATION
#include "gap_barrier.h"
#define GAP_BROAD_IMPLEMENTATION
#include "gap_broad.h"
#define GAP_DISTANCE_IMPLEMENTATION
#include "gap_distance.h"
#include "gen_ball_socket.h"
#include "pool.h"
#include "util.h"

/* ---- small scenes with all pairs as candidates ---- */
typedef struct scene {
    gap_barrier_mesh mesh;
    gap_barrier_candidates cand;
    gap_barrier_options opt;
    int edge[2 * 64], tri[3 * 32], pair[5][2 * 1024];
    double x[3 * 64], rest[3 * 64], plane[12], radius[64], dhat, kappa;
} scene;

static void scene_add(scene *s, int kind, int a, int b)
{
    int n = s->cand.count[kind]++;
    s->pair[kind][2 * n] = a;
    s->pair[kind][2 * n + 1] = b;
    s->cand.pair[kind] = s->pair[kind];
}

static int scene_shares(const int *a, int na, const int *b, int nb)
{
    int i, j;
    for (i = 0; i < na; ++i)
        for (j = 0; j < nb; ++j)
            if (a[i] == b[j]) return 1;
    return 0;
}

/* all non-incident vf, ee (3D) or ve (2D), and vp */
static void scene_pairs(scene *s)
{
    int i, j;
    memset(&s->cand, 0, sizeof s->cand);
    for (i = 0; i < s->mesh.nodes; ++i) {
        for (j = 0; j < s->mesh.tris && s->mesh.dim == 3; ++j)
            if (!scene_shares(&i, 1, s->tri + 3 * j, 3)) scene_add(s, 2, i, j);
        for (j = 0; j < s->mesh.edges && s->mesh.dim == 2; ++j)
            if (!scene_shares(&i, 1, s->edge + 2 * j, 2)) scene_add(s, 1, i, j);
        for (j = 0; j < s->mesh.planes; ++j) scene_add(s, 4, i, j);
    }
    for (i = 0; i < s->mesh.edges && s->mesh.dim == 3; ++i)
        for (j = i + 1; j < s->mesh.edges; ++j)
            if (!scene_shares(s->edge + 2 * i, 2, s->edge + 2 * j, 2)) scene_add(s, 3, i, j);
}

static void scene_init(scene *s, int dim)
{
    memset(s, 0, sizeof *s);
    s->mesh.dim = dim;
    s->mesh.edge = s->edge;
    s->mesh.tri = s->tri;
    s->mesh.rest = s->rest;
    s->dhat = 0.5;
    s->kappa = 1.0;
}

static int scene_node(scene *s, double x, double y, double z)
{
    int n = s->mesh.nodes++, dim = s->mesh.dim;
    s->x[dim * n] = x;
    s->x[dim * n + 1] = y;
    if (dim == 3) s->x[dim * n + 2] = z;
    return n;
}

static void scene_edge(scene *s, int a, int b)
{
    int i, t = a;
    if (a > b) {
        a = b;
        b = t;
    }
    for (i = 0; i < s->mesh.edges; ++i)
        if (s->edge[2 * i] == a && s->edge[2 * i + 1] == b) return;
    s->edge[2 * s->mesh.edges] = a;
    s->edge[2 * s->mesh.edges++ + 1] = b;
}

static void scene_tri(scene *s, int a, int b, int c)
{
    int *t = s->tri + 3 * s->mesh.tris++;
    t[0] = a; t[1] = b; t[2] = c;
    scene_edge(s, a, b);
    scene_edge(s, b, c);
    scene_edge(s, c, a);
}

/* two random triangles in 3D, three random segments in 2D, sometimes a plane and radii */
static void scene_random(scene *s, int dim)
{
    int i;
    scene_init(s, dim);
    for (i = 0; i < 6; ++i)
        scene_node(s, util_uniform(-1, 1), util_uniform(-1, 1), util_uniform(-1, 1));
    if (dim == 3) {
        scene_tri(s, 0, 1, 2);
        scene_tri(s, 3, 4, 5);
    } else {
        for (i = 0; i < 3; ++i) scene_edge(s, 2 * i, 2 * i + 1);
    }
    for (i = 0; i < 6 * dim; ++i) s->rest[i] = s->x[i] * util_uniform(0.7, 1.3);
    if (munit_rand_int_range(0, 2) == 0) {
        s->mesh.planes = 1;
        s->mesh.plane = s->plane;
        util_unit(s->plane + dim, dim);
        for (i = 0; i < dim; ++i) s->plane[i] = -2.0 * s->plane[dim + i];
    }
    if (munit_rand_int_range(0, 2) == 0) {
        s->mesh.radius = s->radius;
        for (i = 0; i < 6; ++i) s->radius[i] = 0.01 * munit_rand_int_range(0, 3);
    }
    s->dhat = util_uniform(0.3, 0.8);
    s->kappa = 3.0;
    s->opt.form = munit_rand_int_range(0, 2);
    s->opt.flags = munit_rand_int_range(0, 7);
    s->opt.mollify = munit_rand_int_range(0, 1) ? 0.3 : 0.0;
    scene_pairs(s);
}

static int scene_build(const scene *s, const double *x, gap_barrier_set *set)
{
    int status = 0;
    gap_barrier_init(set, &s->opt);
    if (s->opt.flags & 3) status = gap_barrier_prepare(set, &s->mesh);
    return status ? status : gap_barrier_build(set, &s->mesh, x, &s->cand, s->dhat, s->kappa);
}

static double scene_energy(void *ctx, const double *x)
{
    gap_barrier_set set;
    double e = HUGE_VAL;
    if (scene_build((scene *)ctx, x, &set) == 0) e = gap_barrier_energy(&set, x, 0, set.count);
    gap_barrier_free(&set);
    return e;
}

static void scene_gradient(void *ctx, const double *x, double *g)
{
    const scene *s = (scene *)ctx;
    gap_barrier_set set;
    int i, n = s->mesh.nodes * s->mesh.dim;
    for (i = 0; i < n; ++i) g[i] = 0.0;
    munit_assert_int(scene_build(s, x, &set), ==, 0);
    gap_barrier_node_force(&set, x, g);
    for (i = 0; i < n; ++i) g[i] = -g[i];
    gap_barrier_free(&set);
}

/* dense sum of the blocks */
static void scene_hessian(const scene *s, const double *x, int psd, double *H)
{
    gap_barrier_set set;
    double block[144];
    int i, a, b, dim = s->mesh.dim, n = s->mesh.nodes * dim;
    memset(H, 0, (size_t)(n * n) * sizeof *H);
    munit_assert_int(scene_build(s, x, &set), ==, 0);
    for (i = 0; i < set.count; ++i) {
        const int *node = set.node + 4 * i;
        gap_barrier_hessian(&set, x, psd, i, i + 1, block);
        for (a = 0; a < 4 * dim; ++a)
            for (b = 0; b < 4 * dim; ++b) {
                double v = block[a * 4 * dim + b];
                if (node[a / dim] < 0 || node[b / dim] < 0) munit_assert_double(v, ==, 0.0);
                else H[(node[a / dim] * dim + a % dim) * n + node[b / dim] * dim + b % dim] += v;
            }
    }
    gap_barrier_free(&set);
}

static uint64_t scene_pattern(const scene *s, const double *x)
{
    gap_barrier_set set;
    uint64_t h = 0;
    if (scene_build(s, x, &set) == 0) {
        h = util_hash_bytes(h, set.kind, (size_t)set.count * sizeof(int));
        h = util_hash_bytes(h, set.node, (size_t)set.count * 4 * sizeof(int));
        h = util_hash_bytes(h, set.type, (size_t)set.count * sizeof(int));
    }
    gap_barrier_free(&set);
    return h;
}

/* Are the contacts the same all around x? Then the energy is smooth there. */
static int scene_smooth(const scene *s, double h)
{
    double y[3 * 64];
    int i, sign, n = s->mesh.nodes * s->mesh.dim;
    uint64_t first = scene_pattern(s, s->x);
    for (i = 0; i < n; ++i) {
        for (sign = -1; sign <= 1; sign += 2) {
            memcpy(y, s->x, (size_t)n * sizeof *y);
            y[i] += sign * h;
            if (scene_pattern(s, y) != first) return 0;
        }
    }
    return first != 0;
}

static MunitResult test_derivatives(const MunitParameter params[], void *data)
{
    int i, tried = 0, count = util_count(1500, 30000), seen[5] = {0}, molly = 0, k;
    static double H[18 * 18];
    (void)params; (void)data;
    for (i = 0; i < count; ++i) {
        scene s;
        gap_barrier_set set;
        double g[18];
        int n;
        scene_random(&s, i % 4 == 0 ? 2 : 3);
        n = s.mesh.nodes * s.mesh.dim;
        if (scene_build(&s, s.x, &set) != 0 || set.count == 0 || gap_barrier_min_gap(&set) < 0.02) {
            gap_barrier_free(&set);
            continue;
        }
        for (k = 0; k < set.count; ++k) {
            ++seen[set.kind[k]];
            molly += set.mollify[k] > 0.0 && set.type[k] != 8;
        }
        gap_barrier_free(&set);
        if (!scene_smooth(&s, 2e-4)) continue;
        ++tried;
        scene_gradient(&s, s.x, g);
        munit_assert_double(util_gradient_error(scene_energy, &s, s.x, g, n, 1e-5), <=, 1e-6);
        scene_hessian(&s, s.x, 0, H);
        munit_assert_double(util_jacobian_error(scene_gradient, &s, s.x, H, n, 1e-5), <=, 1e-6);
    }
    munit_logf(MUNIT_LOG_INFO, "%d scenes, %d mollified degenerate contacts", tried, molly);
    munit_assert_int(tried, >, count / 20);
    munit_assert_int(molly, >, 0);
    for (k = 0; k < 5; ++k) munit_assert_int(seen[k], >, 0);
    return MUNIT_OK;
}

/* ---- PSD against a long double oracle ---- */
static void oracle_psd(int n, const double *a, long double *out, long double *lowest,
    long double *largest)
{
    long double m[144], v[144], t, c, s, z;
    int i, j, k, p, q, sweep;
    for (i = 0; i < n * n; ++i) {
        m[i] = 0.5L * ((long double)a[i] + (long double)a[(i % n) * n + i / n]);
        v[i] = i % (n + 1) == 0;
    }
    for (sweep = 0; sweep < 12; ++sweep) {
        for (p = 0; p < n; ++p) {
            for (q = p + 1; q < n; ++q) {
                if (m[p * n + q] == 0) continue;
                z = (m[q * n + q] - m[p * n + p]) / (2 * m[p * n + q]);
                t = (z < 0 ? -1 : 1) / (fabsl(z) + sqrtl(z * z + 1));
                c = 1 / sqrtl(t * t + 1);
                s = t * c;
                for (k = 0; k < n; ++k) {
                    long double x = m[k * n + p], y = m[k * n + q];
                    m[k * n + p] = c * x - s * y;
                    m[k * n + q] = s * x + c * y;
                    x = v[k * n + p];
                    y = v[k * n + q];
                    v[k * n + p] = c * x - s * y;
                    v[k * n + q] = s * x + c * y;
                }
                for (k = 0; k < n; ++k) {
                    long double x = m[p * n + k], y = m[q * n + k];
                    m[p * n + k] = c * x - s * y;
                    m[q * n + k] = s * x + c * y;
                }
            }
        }
    }
    *lowest = *largest = m[0];
    for (i = 0; i < n; ++i) {
        if (m[i * n + i] < *lowest) *lowest = m[i * n + i];
        if (fabsl(m[i * n + i]) > *largest) *largest = fabsl(m[i * n + i]);
    }
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j)
            for (out[i * n + j] = 0, k = 0; k < n; ++k)
                if (m[k * n + k] > 0) out[i * n + j] += m[k * n + k] * v[i * n + k] * v[j * n + k];
}

/* stencils of all kinds and degeneracies: also thin, far and almost touching */
static void scene_nasty(scene *s, int dim)
{
    int i, style = munit_rand_int_range(0, 4), n;
    scene_random(s, dim);
    n = s->mesh.nodes * dim;
    if (style == 1) /* near contact at one point */
        for (i = 0; i < dim; ++i)
            s->x[3 * dim + i] = s->x[i] + pow(10, util_uniform(-6, -1)) * util_uniform(-1, 1);
    if (style == 2) /* thin */
        for (i = 0; i < n; ++i) s->x[i] *= i % dim == 0 ? 1.0 : 0.05;
    if (style == 3) /* parallel edges */
        for (i = 0; i < dim; ++i) {
            s->x[4 * dim + i] = s->x[3 * dim + i] + (s->x[dim + i] - s->x[i]) * 0.7;
            s->x[4 * dim + i] += pow(10, util_uniform(-12, -1)) * util_uniform(-1, 1);
        }
    if (style == 4) /* on a lattice: ties everywhere */
        for (i = 0; i < n; ++i) s->x[i] = floor(s->x[i] * 4.0) / 4.0;
    for (i = 0; i < n; ++i) s->rest[i] = s->x[i] * util_uniform(0.9, 1.1);
}

static MunitResult test_psd(const MunitParameter params[], void *data)
{
    int i, j, k, n, stencils = 0, count = util_count(4000, 1000000), same = 0;
    double worst = 0.0, low = 0.0;
    (void)params; (void)data;
    for (i = 0; stencils < count; ++i) {
        scene s;
        gap_barrier_set set;
        double raw[144], psd[144];
        long double near[144], dummy[144], lowest, largest, l2, m2;
        scene_nasty(&s, i % 5 == 0 ? 2 : 3);
        if (scene_build(&s, s.x, &set) != 0) set.count = 0;
        n = 4 * s.mesh.dim;
        for (k = 0; k < set.count; ++k, ++stencils) {
            long double diff = 0, norm = 0;
            gap_barrier_hessian(&set, s.x, 0, k, k + 1, raw);
            gap_barrier_hessian(&set, s.x, 1, k, k + 1, psd);
            oracle_psd(n, raw, near, &lowest, &largest);
            oracle_psd(n, psd, dummy, &l2, &m2);
            low = fmax(low, (double)(-l2 / (m2 > 0 ? m2 : 1)));
            for (j = 0; j < n * n; ++j) {
                diff += (psd[j] - near[j]) * (psd[j] - near[j]);
                norm += (long double)raw[j] * raw[j];
            }
            if (norm > 0) worst = fmax(worst, (double)sqrtl(diff / norm));
            if (lowest >= 0) ++same;
            if (lowest >= -1e-16L * largest)
                munit_assert_double(util_rel_array(psd, raw, (size_t)(n * n), 0.0), <=, 1e-15);
        }
        gap_barrier_free(&set);
    }
    munit_logf(MUNIT_LOG_INFO, "%d stencils, %d PSD already: lowest eigenvalue -%.1e of the"
        " largest, distance to the nearest %.1e", stencils, same, low, worst);
    munit_assert_double(low, <=, 1e-12);
    munit_assert_double(worst, <=, 1e-12);
    return MUNIT_OK;
}

/* ---- the barrier function ---- */
static double function_value(void *ctx, const double *y)
{
    double b[3];
    gap_barrier_function_at(*(int *)ctx, y[0], 1.0, b);
    return b[0];
}

static double function_slope(void *ctx, const double *y)
{
    double b[3];
    gap_barrier_function_at(*(int *)ctx, y[0], 1.0, b);
    return b[1];
}

static MunitResult test_function(const MunitParameter params[], void *data)
{
    static const double at[] = {1e-10, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999999};
    double b[3], one = 1.0, y, scale, kappa[2];
    int form;
    size_t i;
    (void)params; (void)data;
    for (form = 0; form < 3; ++form) {
        for (i = 0; i < sizeof at / sizeof *at; ++i) {
            /* near yhat the rounding of y counts, and b is a cubic */
            double h = at[i] > 0.99 ? 0.2 * (1.0 - at[i]) : fmin(at[i], 1.0 - at[i]) * 1e-3;
            munit_assert_int(gap_barrier_function_at(form, at[i], 1.0, b), ==, 0);
            scale = fabs(b[1]);
            munit_assert_double(b[0], >, 0.0);
            munit_assert_double(b[1], <, 0.0);
            munit_assert_double(b[2], >, 0.0);
            munit_assert_double(fabs(util_slope(function_value, &form, &at[i], &one, 1, h) - b[1]),
                <=, 1e-8 * scale);
            munit_assert_double(fabs(util_slope(function_slope, &form, &at[i], &one, 1, h) - b[2]),
                <=, 1e-8 * b[2]);
        }
        munit_assert_int(gap_barrier_function_at(form, 1.0, 1.0, b), ==, 0);
        munit_assert_double(b[0], ==, 0.0);
        munit_assert_int(gap_barrier_function_at(form, 0.0, 1.0, b), ==, GAP_BARRIER_EINPUT);
        munit_assert_int(gap_barrier_function_at(form, -1.0, 1.0, b), ==, GAP_BARRIER_EINPUT);
        munit_assert_true(isnan(b[0]));
    }
    for (y = 1e-12; y < 1.0; y *= 1.01) { /* 4 b'' D + 2 b' >= 0 */
        gap_barrier_function_at(0, y, 1.0, b);
        munit_assert_double(4.0 * b[2] * y + 2.0 * b[1], >=, 0.0);
    }
    gap_barrier_function_at(0, 1.0 - 1e-12, 1.0, b); /* b'' ~ 6 (1 - y) near yhat */
    munit_assert_double(fabs(b[2] / 6e-12 - 1.0), <=, 1e-3);
    gap_barrier_kappa_bounds(NULL, 1.0, 7.0, 1e-3, 0.0, 0.0, kappa);
    util_assert_rel(kappa[0], 2.5e6 * 7.0, 1e-9);
    util_assert_rel(kappa[1], 2.5e8 * 7.0, 1e-9);
    return MUNIT_OK;
}

static void user_cubic(void *user, double y, double yhat, double b[3])
{
    double z = yhat - y;
    (void)user;
    b[0] = z * z * z / y;
    b[1] = -3.0 * z * z / y - z * z * z / (y * y);
    b[2] = 6.0 * z / y + 6.0 * z * z / (y * y) + 2.0 * z * z * z / (y * y * y);
}

/* Step of the difference: its error is (step / gap)^4, for 1/y changes with the gap (at a gap of
   3.3e-4 it is 3.8e-6 for 1e-5, a 16th with each half of it, down to 2e-10 for 6e-7). */
static double gap_step(const scene *s)
{
    gap_barrier_set set;
    double gap;
    munit_assert_int(scene_build(s, s->x, &set), ==, 0);
    gap = gap_barrier_min_gap(&set);
    gap_barrier_free(&set);
    return fmin(1e-5, 3e-3 * gap);
}

static MunitResult test_user_function(const MunitParameter params[], void *data)
{
    double g[18], h;
    static double H[18 * 18];
    int i, tried = 0;
    (void)params; (void)data;
    for (i = 0; i < 300; ++i) {
        scene s;
        scene_random(&s, 3);
        s.opt.form = GAP_BARRIER_USER;
        s.opt.user_fn = user_cubic;
        if (!(scene_energy(&s, s.x) < 1e3) || !scene_smooth(&s, 2e-4)) continue;
        scene_gradient(&s, s.x, g);
        if (util_rel_array(g, g, 18, 0.0) != 0.0 || scene_energy(&s, s.x) < 1e-6) continue;
        ++tried;
        h = gap_step(&s);
        munit_assert_double(util_gradient_error(scene_energy, &s, s.x, g, 18, h), <=, 1e-6);
        scene_hessian(&s, s.x, 0, H);
        munit_assert_double(util_jacobian_error(scene_gradient, &s, s.x, H, 18, h), <=, 1e-6);
    }
    munit_assert_int(tried, >, 10);
    return MUNIT_OK;
}

/* ---- ball in socket ---- */
typedef struct ball {
    gen_ball_socket s;
    gap_broad broad;
    gap_barrier_mesh mesh;
    gap_barrier_candidates cand;
} ball;

static void ball_open(ball *b, int n)
{
    gap_broad_mesh m;
    int k;
    memset(b, 0, sizeof *b);
    memset(&m, 0, sizeof m);
    gen_ball_socket_make(n, &b->s);
    m.dim = b->mesh.dim = 3;
    m.nodes = b->mesh.nodes = b->s.nodes;
    m.edges = b->mesh.edges = b->s.edges;
    m.tris = b->mesh.tris = b->s.tris;
    m.edge = b->mesh.edge = b->s.edge;
    m.tri = b->mesh.tri = b->s.tri;
    b->mesh.rest = b->s.x;
    gap_broad_init(&b->broad, NULL);
    munit_assert_int(gap_broad_set_mesh(&b->broad, &m), ==, 0);
    munit_assert_int(gap_broad_build(&b->broad, b->s.x, NULL, 0.5 * b->s.dhat), ==, 0);
    for (k = 0; k < 4; ++k) gap_broad_pairs(&b->broad, k, &b->cand.pair[k], &b->cand.count[k]);
}

static void ball_close(ball *b)
{
    gap_broad_free(&b->broad);
    gen_ball_socket_free(&b->s);
}

typedef struct entry {
    int i, j;
    double v;
} entry;

static int entry_order(const void *a, const void *b)
{
    const entry *p = (const entry *)a, *q = (const entry *)b;
    if (p->i != q->i) return p->i < q->i ? -1 : 1;
    return (p->j > q->j) - (p->j < q->j);
}

/* Frobenius norm of the assembled Hessian, by sorting all entries */
static double ball_norm(const ball *b, const gap_barrier_set *set, int psd)
{
    entry *e = (entry *)munit_malloc((size_t)set->count * 144 * sizeof *e);
    double block[144], sum = 0.0, total;
    size_t n = 0, k, l;
    int i, r, c;
    for (i = 0; i < set->count; ++i) {
        const int *node = set->node + 4 * i;
        gap_barrier_hessian(set, b->s.x, psd, i, i + 1, block);
        for (r = 0; r < 12; ++r)
            for (c = 0; c < 12; ++c) {
                if (node[r / 3] < 0 || node[c / 3] < 0) continue;
                e[n].i = 3 * node[r / 3] + r % 3;
                e[n].j = 3 * node[c / 3] + c % 3;
                e[n++].v = block[12 * r + c];
            }
    }
    qsort(e, n, sizeof *e, entry_order);
    for (k = 0; k < n; k = l) {
        for (total = 0.0, l = k; l < n && e[l].i == e[k].i && e[l].j == e[k].j; ++l)
            total += e[l].v;
        sum += total * total;
    }
    free(e);
    return sqrt(sum);
}

static MunitResult test_ball_in_socket(const MunitParameter params[], void *data)
{
    static const int want[2][5] = {{4, 337, 862, 2904, 0}, {470, 9778, 8430, 28248, 0}};
    static const int pairs[2][2] = {{16257, 75859}, {174228, 875635}};
    gap_barrier_set set;
    ball b;
    double *f, norm = 0.0, min;
    int i, large, kinds[5];
    (void)params; (void)data;
    for (large = 0; large < util_count(1, 2); ++large) {
        ball_open(&b, large ? 100 : 32);
        munit_assert_int(b.cand.count[2], ==, pairs[large][0]);
        munit_assert_int(b.cand.count[3], ==, pairs[large][1]);
        gap_barrier_init(&set, NULL);
        munit_assert_int(gap_barrier_build(&set, &b.mesh, b.s.x, &b.cand, b.s.dhat, 1e3), ==, 0);
        memset(kinds, 0, sizeof kinds);
        for (i = 0; i < set.count; ++i) ++kinds[set.kind[i]];
        for (i = 0; i < 5; ++i) munit_assert_int(kinds[i], ==, want[large][i]);
        min = gap_barrier_min_gap(&set);
        util_assert_rel(min, large ? 1.91943766e-3 : 1.66415213e-3, 5e-9);
        for (i = 1; i < set.count; ++i) { /* sorted by kind, then nodes */
            int c = set.kind[i] - set.kind[i - 1], k;
            for (k = 0; k < 4 && c == 0; ++k) c = set.node[4 * i + k] - set.node[4 * i - 4 + k];
            munit_assert_int(c, >=, 0);
        }
        if (!large) {
            util_assert_rel(gap_barrier_energy(&set, b.s.x, 0, set.count), 1.0396471358669727e-4,
                1e-10);
            f = (double *)munit_calloc((size_t)b.s.nodes * 3, sizeof *f);
            gap_barrier_node_force(&set, b.s.x, f);
            for (i = 0; i < 3 * b.s.nodes; ++i) norm += f[i] * f[i];
            util_assert_rel(sqrt(norm), 2.4458565824842599e-2, 1e-10);
            util_assert_rel(ball_norm(&b, &set, 0), 41.368765848511714, 1e-10);
            util_assert_rel(ball_norm(&b, &set, 1), 41.593814795614847, 1e-10);
            free(f);
        }
        gap_barrier_free(&set);
        ball_close(&b);
    }
    return MUNIT_OK;
}

static uint64_t set_hash(const gap_barrier_set *s)
{
    size_t n = (size_t)s->count;
    uint64_t h = util_hash_bytes(1, s->kind, n * sizeof(int));
    h = util_hash_bytes(h, s->node, 4 * n * sizeof(int));
    h = util_hash_bytes(h, s->parent, 3 * n * sizeof(int));
    h = util_hash(h, s->weight, 4 * n);
    h = util_hash(h, s->normal, (size_t)s->dim * n);
    h = util_hash(h, s->dist2, n);
    h = util_hash(h, s->mult, n);
    return util_hash(h, s->force, n);
}

static MunitResult test_threads(const MunitParameter params[], void *data)
{
    static const int workers[] = {0, 1, 2, 3, 8};
    uint64_t first = 0, first_h = 0, h, hh;
    double *block;
    ball b;
    int i, k, flags, begin, range;
    (void)params; (void)data;
    ball_open(&b, 16);
    for (flags = 0; flags <= 7; flags += 7) {
        for (k = 0; k < 5; ++k) {
            gap_barrier_options opt;
            gap_barrier_set set;
            pool *p = workers[k] ? pool_open(workers[k]) : NULL;
            memset(&opt, 0, sizeof opt);
            opt.flags = flags;
            opt.parallel_for = p ? pool_for : NULL;
            opt.parallel_user = p;
            gap_barrier_init(&set, &opt);
            munit_assert_int(gap_barrier_prepare(&set, &b.mesh), ==, 0);
            for (i = 0; i < 2; ++i)
                munit_assert_int(gap_barrier_build(&set, &b.mesh, b.s.x, &b.cand, 4 * b.s.dhat, 1),
                    ==, 0);
            munit_assert_int(set.count, >, 100);
            h = set_hash(&set);
            range = k == 0 ? set.count : 3 * k + 1; /* any split of ranges */
            block = (double *)munit_malloc((size_t)set.count * 144 * sizeof *block);
            for (begin = 0; begin < set.count; begin += range) {
                int end = begin + range < set.count ? begin + range : set.count;
                gap_barrier_hessian(&set, b.s.x, 1, begin, end, block + 144 * (size_t)begin);
            }
            hh = util_hash(0, block, (size_t)set.count * 144);
            free(block);
            if (k == 0) {
                first = h;
                first_h = hh;
            }
            munit_assert_true(h == first);
            munit_assert_true(hh == first_h);
            gap_barrier_free(&set);
            pool_close(p);
        }
    }
    ball_close(&b);
    return MUNIT_OK;
}

static MunitResult test_memory(const MunitParameter params[], void *data)
{
    ball b;
    int status = -1;
    long k, calls;
    (void)params; (void)data;
    ball_open(&b, 12);
    for (k = 1; status != 0; ++k) {
        gap_barrier_options opt;
        gap_barrier_set set;
        util_memory mem;
        memset(&mem, 0, sizeof mem);
        memset(&opt, 0, sizeof opt);
        mem.fail_at = k;
        opt.realloc_fn = util_realloc;
        opt.realloc_user = &mem;
        opt.flags = 7;
        gap_barrier_init(&set, &opt);
        status = gap_barrier_prepare(&set, &b.mesh);
        if (status == 0) status = gap_barrier_build(&set, &b.mesh, b.s.x, &b.cand, 5 * b.s.dhat, 1);
        if (status) {
            munit_assert_int(status, ==, GAP_BARRIER_ENOMEM);
            munit_assert_int(set.count, ==, 0);
            munit_assert_int(gap_barrier_prepare(&set, &b.mesh), ==, 0); /* and it recovers */
            munit_assert_int(gap_barrier_build(&set, &b.mesh, b.s.x, &b.cand, b.s.dhat, 1), ==, 0);
        }
        calls = mem.calls; /* steady state: no allocation */
        munit_assert_int(gap_barrier_build(&set, &b.mesh, b.s.x, &b.cand, b.s.dhat, 1), ==, 0);
        munit_assert_long(mem.calls, ==, calls);
        gap_barrier_free(&set);
        munit_assert_long(mem.live, ==, 0);
        munit_assert_int(mem.wrong, ==, 0);
    }
    munit_assert_long(k, >, 20);
    ball_close(&b);
    return MUNIT_OK;
}

/* ---- multiplicities and the convergent form, by definition ---- */
static double brute_b(const scene *s, double d2, double xi)
{
    double y = d2 - xi * xi, yhat = 2.0 * xi * s->dhat + s->dhat * s->dhat, b;
    if (y >= yhat) return 0.0;
    b = -(y - yhat) * (y - yhat) * log(y / yhat);
    return s->opt.flags & GAP_BARRIER_PHYSICAL ? b * s->dhat / (yhat * yhat) : b;
}

static double brute_e(const scene *s, int a, int b)
{
    const int *p = s->edge + 2 * a, *q = s->edge + 2 * b;
    double u[3], v[3], c[3], n2 = 0, ru = 0, rv = 0, eps;
    int i;
    for (i = 0; i < 3; ++i) {
        u[i] = s->x[3 * p[1] + i] - s->x[3 * p[0] + i];
        v[i] = s->x[3 * q[1] + i] - s->x[3 * q[0] + i];
        ru += pow(s->rest[3 * p[1] + i] - s->rest[3 * p[0] + i], 2);
        rv += pow(s->rest[3 * q[1] + i] - s->rest[3 * q[0] + i], 2);
    }
    for (i = 0; i < 3; ++i) {
        c[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
        n2 += c[i] * c[i];
    }
    eps = (s->opt.mollify > 0 ? s->opt.mollify : 1e-3) * ru * rv;
    return n2 < eps ? (2.0 - n2 / eps) * (n2 / eps) : 1.0;
}

static double brute_area(const scene *s, int tri)
{
    const double *p = s->rest + 3 * s->tri[3 * tri], *q = s->rest + 3 * s->tri[3 * tri + 1];
    const double *r = s->rest + 3 * s->tri[3 * tri + 2];
    double a = 0, b = 0, c = 0, h;
    int i;
    for (i = 0; i < 3; ++i) {
        a += pow(p[i] - q[i], 2);
        b += pow(q[i] - r[i], 2);
        c += pow(r[i] - p[i], 2);
    }
    a = sqrt(a); b = sqrt(b); c = sqrt(c);
    h = (a + b + c) / 2; /* Heron */
    return sqrt(h * (h - a) * (h - b) * (h - c));
}

/* 3D, no radii: vertex-face and edge-edge sums, with inclusion-exclusion for MAX */
static double brute_energy(const scene *s)
{
    const gap_barrier_mesh *m = &s->mesh;
    double an[64] = {0}, ae[64] = {0}, sum = 0.0, w;
    int border[64] = {0}, i, j, k, t, n, area = s->opt.flags & GAP_BARRIER_AREA;
    int max = s->opt.flags & GAP_BARRIER_MAX;
    const double *x = s->x;
    for (i = 0; i < m->edges; ++i) {
        for (n = 0, t = 0; t < m->tris; ++t) {
            int in = scene_shares(s->edge + 2 * i, 1, s->tri + 3 * t, 3)
                && scene_shares(s->edge + 2 * i + 1, 1, s->tri + 3 * t, 3);
            n += in;
            if (in) ae[i] += brute_area(s, t) / 3;
        }
        if (n == 1) border[s->edge[2 * i]] = border[s->edge[2 * i + 1]] = 1;
    }
    for (t = 0; t < m->tris; ++t)
        for (k = 0; k < 3; ++k) an[s->tri[3 * t + k]] += brute_area(s, t) / 3;
    for (i = 0; i < m->nodes; ++i) {
        w = area ? an[i] / 4 : 1;
        for (t = 0; t < m->tris; ++t)
            if (!scene_shares(&i, 1, s->tri + 3 * t, 3))
                sum += w * brute_b(s, gap_distance_vf(x + 3 * i, x + 3 * s->tri[3 * t],
                    x + 3 * s->tri[3 * t + 1], x + 3 * s->tri[3 * t + 2]), 0);
        for (j = 0; j < m->edges && max; ++j) {
            const int *e = s->edge + 2 * j;
            if (scene_shares(&i, 1, e, 2)) continue;
            for (n = 0, t = 0; t < m->tris; ++t)
                n += scene_shares(e, 1, s->tri + 3 * t, 3)
                    && scene_shares(e + 1, 1, s->tri + 3 * t, 3)
                    && !scene_shares(&i, 1, s->tri + 3 * t, 3);
            if (n > 1) sum += w * (1 - n)
                * brute_b(s, gap_distance_ve(x + 3 * i, x + 3 * e[0], x + 3 * e[1]), 0);
        }
        for (j = 0; j < m->nodes && max; ++j) {
            int adjacent = i == j;
            for (k = 0; k < m->edges; ++k)
                adjacent |= scene_shares(&i, 1, s->edge + 2 * k, 2)
                    && scene_shares(&j, 1, s->edge + 2 * k, 2);
            if (!adjacent && !border[j])
                sum += w * brute_b(s, gap_distance_vv(x + 3 * i, x + 3 * j), 0);
        }
    }
    for (i = 0; i < m->edges; ++i) {
        const int *a = s->edge + 2 * i;
        for (j = i + 1; j < m->edges; ++j) {
            const int *b = s->edge + 2 * j;
            if (scene_shares(a, 2, b, 2)) continue;
            w = area ? (ae[i] + ae[j]) / 4 : 1;
            sum += w * brute_e(s, i, j) * brute_b(s, gap_distance_ee(x + 3 * a[0], x + 3 * a[1],
                x + 3 * b[0], x + 3 * b[1]), 0);
        }
        w = area ? ae[i] / 4 : 1;
        for (k = 0; k < m->nodes && max; ++k) { /* vertices against edge i */
            double around = 0.0, d = brute_b(s, scene_shares(&k, 1, a, 2) ? 1e9
                : gap_distance_ve(x + 3 * k, x + 3 * a[0], x + 3 * a[1]), 0);
            for (n = 0, j = 0; j < m->edges; ++j) {
                if (!scene_shares(&k, 1, s->edge + 2 * j, 2)) continue;
                if (scene_shares(a, 2, s->edge + 2 * j, 2)) continue;
                ++n;
                around += brute_e(s, i, j);
            }
            if (n > 0) sum -= w * (around - 1.0) * d;
        }
    }
    return s->kappa * sum;
}

static MunitResult test_convergent(const MunitParameter params[], void *data)
{
    int i, j, k, r, c, flags;
    (void)params; (void)data;
    for (i = 0; i < util_count(40, 400); ++i) {
        static scene s;
        scene_init(&s, 3);
        for (k = 0; k < 2; ++k) /* two sheets of 3 x 3 nodes, bumpy or flat and aligned */
            for (r = 0; r < 3; ++r)
                for (c = 0; c < 3; ++c) {
                    double bump = i % 4 == 0 ? 0.0 : 0.15;
                    scene_node(&s, r + bump * util_uniform(-1, 1) + 0.3 * k * (i % 2),
                        c + bump * util_uniform(-1, 1), 0.3 * k + 0.5 * bump * util_uniform(-1, 1));
                }
        for (k = 0; k < 18; k += 9)
            for (r = 0; r < 2; ++r)
                for (c = 0; c < 2; ++c) {
                    j = k + 3 * r + c;
                    scene_tri(&s, j, j + 1, j + 3);
                    scene_tri(&s, j + 1, j + 4, j + 3);
                }
        for (j = 0; j < 54; ++j) s.rest[j] = s.x[j] * 1.1;
        s.opt.mollify = i % 3 == 0 ? 0.2 : 0.0;
        s.dhat = util_uniform(0.3, 0.9);
        scene_pairs(&s);
        for (flags = 0; flags < 8; ++flags) {
            double got, want;
            s.opt.flags = flags;
            got = scene_energy(&s, s.x);
            want = brute_energy(&s);
            util_assert_rel(got, want, 1e-10);
        }
    }
    return MUNIT_OK;
}

/* a vertex above the centre of a fan of n triangles */
static MunitResult test_multiplicity(const MunitParameter params[], void *data)
{
    int n, i, k;
    (void)params; (void)data;
    for (n = 3; n <= 12; ++n) {
        static scene s;
        gap_barrier_set set;
        double total = 0.0;
        scene_init(&s, 3);
        scene_node(&s, 0, 0, 0);
        for (i = 0; i < n; ++i)
            scene_node(&s, cos(2 * UTIL_PI * i / n), sin(2 * UTIL_PI * i / n), -0.5);
        for (i = 0; i < n; ++i) scene_tri(&s, 0, 1 + i, 1 + (i + 1) % n);
        k = scene_node(&s, 0, 0, 0.125);
        memcpy(s.rest, s.x, sizeof s.rest);
        scene_pairs(&s);
        s.dhat = 0.25;
        munit_assert_int(scene_build(&s, s.x, &set), ==, 0);
        munit_assert_int(set.count, ==, 1);
        munit_assert_int(set.kind[0], ==, 0);
        munit_assert_int(set.node[1], ==, k);
        munit_assert_double(set.mult[0], ==, n);
        munit_assert_int(set.active.count[2], ==, n); /* every parent, for the partial CCD */
        for (i = 0; i < n; ++i) total += brute_b(&s, 0.125 * 0.125, 0);
        util_assert_rel(gap_barrier_energy(&set, s.x, 0, 1), total, 1e-14);
        gap_barrier_free(&set);
    }
    return MUNIT_OK;
}

/* ---- mollifier ---- */

/* two unit edges whose directions enclose the angle, d apart */
static void scene_edges(scene *s, double angle, double shift, double d)
{
    scene_init(s, 3);
    scene_node(s, -0.5, 0, 0);
    scene_node(s, 0.5, 0, 0);
    scene_node(s, shift - 0.5 * cos(angle), -0.5 * sin(angle), d);
    scene_node(s, shift + 0.5 * cos(angle), 0.5 * sin(angle), d);
    scene_edge(s, 0, 1);
    scene_edge(s, 2, 3);
    memcpy(s->rest, s->x, sizeof s->rest);
    scene_pairs(s);
}

static MunitResult test_mollifier(const MunitParameter params[], void *data)
{
    double at = asin(sqrt(1e-3)), g[2][12], e[2], h[144], *p;
    gap_barrier_set set;
    static scene s;
    int i, k;
    (void)params; (void)data;
    for (k = 0; k < 2; ++k) { /* energy and gradient are continuous at c = eps_x */
        scene_edges(&s, at * (1.0 + (k ? 1e-9 : -1e-9)), 0.0, 0.2);
        for (i = 0; i < 12; ++i) g[k][i] = 0.0;
        munit_assert_int(scene_build(&s, s.x, &set), ==, 0);
        munit_assert_int(set.count, ==, 1);
        munit_assert_int(set.kind[0], ==, 3);
        munit_assert_int(set.mollify[0] > 0.0, ==, k == 0);
        e[k] = gap_barrier_energy(&set, s.x, 0, 1);
        gap_barrier_gradient(&set, s.x, 0, 1, g[k]);
        gap_barrier_free(&set);
    }
    util_assert_rel(e[0], e[1], 1e-7);
    munit_assert_double(util_rel_array(g[0], g[1], 12, 0.0), <=, 1e-6);
    for (k = 0; k < 3; ++k) { /* parallel: energy 0, derivatives finite; ends: still 12 values */
        scene_edges(&s, k == 2 ? 1e-3 : 0.0, k ? 1.1 : 0.25, 0.2);
        munit_assert_int(scene_build(&s, s.x, &set), ==, 0);
        munit_assert_int(set.count, ==, 1);
        munit_assert_int(set.kind[0], ==, 3);
        munit_assert_int(set.node[3], ==, 3);
        munit_assert_int(set.type[0], !=, 8);
        if (k < 2) munit_assert_double(gap_barrier_energy(&set, s.x, 0, 1), ==, 0.0);
        gap_barrier_gradient(&set, s.x, 0, 1, g[0]);
        gap_barrier_hessian(&set, s.x, 0, 0, 1, h);
        for (i = 0; i < 144; ++i) munit_assert_true(fabs(h[i]) < HUGE_VAL);
        for (i = 0; i < 12; ++i) munit_assert_true(fabs(g[0][i]) < HUGE_VAL);
        p = h + 12 * 1; /* row of a0's y: all four nodes take part */
        for (i = 0; i < 4; ++i) munit_assert_double(fabs(p[3 * i + 1]), >, 0.0);
        gap_barrier_free(&set);
    }
    scene_edges(&s, 0.0, 0.0, 0.2); /* a rest edge without length */
    s.rest[3] = s.rest[0];
    munit_assert_int(scene_build(&s, s.x, &set), ==, GAP_BARRIER_EINPUT);
    munit_assert_int(set.bad[0], ==, 3);
    munit_assert_int(set.bad[2], ==, 1);
    gap_barrier_free(&set);
    return MUNIT_OK;
}

/* ---- step bounds ---- */

/* Conservative advancement on gap_distance, to full depth: the oracle of seam 5 for these tests. */
static int test_ccd(void *user, int dim, int kind, const double *p0, const double *p1,
    double min_distance, double t_max, double *toi)
{
    int n = kind == 0 ? 2 : kind == 1 ? 3 : 4, i, k;
    double q[12], speed = 0.0, d2, t = 0.0, len;
    (void)user;
    for (i = 0; i < n; ++i) {
        for (len = 0.0, k = 0; k < dim; ++k) len += pow(p1[i * dim + k] - p0[i * dim + k], 2);
        speed = fmax(speed, 2.0 * sqrt(len));
    }
    *toi = t_max;
    for (;;) {
        for (i = 0; i < n * dim; ++i) q[i] = p0[i] + t * (p1[i] - p0[i]);
        gap_distance_pair(dim, kind, q, NULL, NULL, &d2);
        len = sqrt(d2) - min_distance;
        if (len < 1e-9 * min_distance) {
            *toi = t;
            return t > 0.0 ? 1 : 2;
        }
        t += len / speed;
        if (!(t < t_max)) return 0;
    }
}

static void rotate(double *p, int n)
{
    double R[9], y[3];
    int i, a;
    util_rotation(R);
    for (i = 0; i < n; ++i) {
        for (a = 0; a < 3; ++a)
            y[a] = R[3 * a] * p[3 * i] + R[3 * a + 1] * p[3 * i + 1] + R[3 * a + 2] * p[3 * i + 2];
        for (a = 0; a < 3; ++a) p[3 * i + a] = y[a];
    }
}

/* the smallest distance over all pairs along x + t p, sampled */
static double path_gap(const scene *s, const double *p, double alpha)
{
    double best = HUGE_VAL, y[192], q[12], d2;
    int t, i, k, kind, n = s->mesh.nodes * 3;
    for (t = 0; t <= 400; ++t) {
        for (i = 0; i < n; ++i) y[i] = s->x[i] + alpha * t / 400.0 * p[i];
        for (kind = 2; kind < 4; ++kind) {
            for (i = 0; i < s->cand.count[kind]; ++i) {
                const int *pair = s->pair[kind] + 2 * i;
                const int *a = kind == 3 ? s->edge + 2 * pair[0] : pair;
                const int *b = kind == 3 ? s->edge + 2 * pair[1] : s->tri + 3 * pair[1];
                for (k = 0; k < 4; ++k) {
                    int node = k < (kind == 3 ? 2 : 1) ? a[k] : b[k - (kind == 3 ? 2 : 1)];
                    memcpy(q + 3 * k, y + 3 * node, 3 * sizeof *q);
                }
                gap_distance_pair(3, kind, q, NULL, NULL, &d2);
                best = fmin(best, sqrt(d2));
            }
        }
    }
    return best;
}

static void add_triangle(scene *s, double x, double z)
{
    int a = scene_node(s, x, 0, z), b = scene_node(s, x + 1, 0, z), c = scene_node(s, x, 1, z);
    scene_tri(s, a, b, c);
}

/* Two triangles at rest half a dhat apart; ten units away one that crosses another half-way. */
static MunitResult test_far_bodies_pass_through(const MunitParameter params[], void *data)
{
    static scene s;
    gap_barrier_set set;
    double p[36] = {0}, alpha, bound;
    int i, move;
    (void)params; (void)data;
    for (move = 0; move < 2; ++move) {
        scene_init(&s, 3);
        s.dhat = 1e-2;
        add_triangle(&s, 0, 0);
        add_triangle(&s, 0, 0.5 * s.dhat);
        add_triangle(&s, 10, 0);
        add_triangle(&s, 10, 1);
        memcpy(s.rest, s.x, sizeof s.rest);
        scene_pairs(&s);
        memset(p, 0, sizeof p);
        for (i = 9; i < 12; ++i) p[3 * i + 2] = -2.0; /* through the third at t = 1/2 */
        for (i = 0; i < 3 && move; ++i) p[3 * i + 2] = 0.1 * s.dhat;
        munit_assert_double(path_gap(&s, p, 1.0), <=, 1e-12); /* the scene can fail */
        munit_assert_int(scene_build(&s, s.x, &set), ==, 0);
        munit_assert_int(set.active.count[2] + set.active.count[3], ==, 15);
        alpha = 1.0;
        munit_assert_int(gap_barrier_step(&set, &s.mesh, s.x, p, test_ccd, NULL, &alpha, &bound),
            ==, GAP_BARRIER_FULL_CCD);
        util_assert_rel(bound, 0.9 * s.dhat / 4.0, 1e-14);
        munit_assert_double(alpha, ==, bound);
        munit_assert_double(path_gap(&s, p, alpha), >=, 0.09 * s.dhat);
        alpha = 1.0; /* all pairs: a longer step, still free */
        munit_assert_int(gap_barrier_step_pairs(&set, &s.mesh, s.x, p, &s.cand, test_ccd, NULL,
            &alpha), ==, 0);
        munit_assert_double(alpha, >, bound);
        munit_assert_double(alpha, <, 0.5);
        munit_assert_double(path_gap(&s, p, alpha), >=, 0.09 * s.dhat);
        gap_barrier_free(&set);
    }
    return MUNIT_OK;
}

/* A vertex that leaves one triangle, with which it is in contact, and runs at another. */
static MunitResult test_leaving_vertex_tunnels(const MunitParameter params[], void *data)
{
    static scene s;
    gap_barrier_set set;
    double p[36] = {0}, alpha = 1.0;
    (void)params; (void)data;
    scene_init(&s, 3);
    s.dhat = 1e-2;
    add_triangle(&s, 0, 0);
    add_triangle(&s, 0, 1.6 * s.dhat); /* 1.1 dhat above the vertex */
    scene_node(&s, 0.25, 0.25, 0.5 * s.dhat);
    memcpy(s.rest, s.x, sizeof s.rest);
    scene_pairs(&s);
    p[3 * 6 + 2] = 100.0 * s.dhat;
    munit_assert_int(scene_build(&s, s.x, &set), ==, 0);
    munit_assert_int(set.active.count[2], ==, 1);
    gap_barrier_step(&set, &s.mesh, s.x, p, test_ccd, NULL, &alpha, NULL);
    munit_assert_double(s.x[20] + alpha * p[20], <, 1.6 * s.dhat - 0.1 * s.dhat);
    munit_assert_double(alpha, >, 0.0);
    gap_barrier_free(&set);
    return MUNIT_OK;
}

/* ---- planes, stiffness, complementarity ---- */
static MunitResult test_plane(const MunitParameter params[], void *data)
{
    static scene s;
    gap_barrier_set set;
    double p[3] = {0, 0, -10}, alpha = 1.0, b[3], h[144], sum;
    (void)params; (void)data;
    scene_init(&s, 3);
    scene_node(&s, 1, 2, 0.3);
    s.mesh.planes = 1;
    s.mesh.plane = s.plane;
    s.plane[5] = 1.0;
    s.mesh.radius = s.radius;
    s.radius[0] = 0.1;
    scene_pairs(&s);
    munit_assert_int(scene_build(&s, s.x, &set), ==, 0);
    munit_assert_int(set.count, ==, 1);
    munit_assert_int(set.kind[0], ==, 4);
    gap_barrier_function_at(0, 0.08, 0.35, b); /* y = 0.3^2 - 0.1^2, yhat = 2*0.1*0.5 + 0.5^2 */
    util_assert_rel(set.force[0], -b[1] * 0.6, 1e-12);
    gap_barrier_hessian(&set, s.x, 1, 0, 1, h);
    util_assert_rel(h[2 * 12 + 2], 4 * b[2] * 0.09 + 2 * b[1], 1e-12);
    munit_assert_double(h[0], ==, 0.0);
    util_assert_rel(gap_barrier_complementarity(&set, &sum), set.force[0] * 0.2, 1e-12);
    util_assert_rel(sum, set.force[0] * 0.2, 1e-12);
    gap_barrier_step(&set, &s.mesh, s.x, p, test_ccd, NULL, &alpha, NULL);
    util_assert_rel(alpha, 0.018, 1e-12); /* keeps a tenth of the gap 0.2 */
    gap_barrier_free(&set);
    s.x[2] = 0.05; /* closer than the radius */
    munit_assert_int(scene_build(&s, s.x, &set), ==, GAP_BARRIER_ETOUCH);
    munit_assert_int(set.guilty_count, ==, 1);
    munit_assert_int(set.guilty[0], ==, 4);
    gap_barrier_free(&set);
    s.x[2] = -3.0; /* behind */
    munit_assert_int(scene_build(&s, s.x, &set), ==, GAP_BARRIER_ETOUCH);
    gap_barrier_free(&set);
    return MUNIT_OK;
}

static MunitResult test_stiffness(const MunitParameter params[], void *data)
{
    double rest[3] = {0, 0, -6}, unit[3] = {0, 0, 2}, kappa[2] = {1, 2.5};
    unsigned char fixed[3] = {0, 0, 1};
    static scene s;
    gap_barrier_set set;
    (void)params; (void)data;
    munit_assert_double(gap_barrier_kappa_start(3, rest, unit, NULL, kappa), ==, 2.5);
    kappa[1] = 100;
    munit_assert_double(gap_barrier_kappa_start(3, rest, unit, NULL, kappa), ==, 3.0);
    munit_assert_double(gap_barrier_kappa_start(3, rest, unit, fixed, kappa), ==, 1.0);
    rest[2] = 6;
    munit_assert_double(gap_barrier_kappa_start(3, rest, unit, NULL, kappa), ==, 1.0);
    scene_init(&s, 3); /* doubling: close before and after, not growing */
    scene_node(&s, 0.2, 0.2, 5e-10);
    add_triangle(&s, 0, 0);
    memcpy(s.rest, s.x, sizeof s.rest);
    s.dhat = 1e-3;
    scene_pairs(&s);
    munit_assert_int(scene_build(&s, s.x, &set), ==, 0);
    munit_assert_double(gap_barrier_kappa_update(&set, &s.mesh, s.x, 1.0, 3.0), ==, 1.0);
    munit_assert_double(gap_barrier_kappa_update(&set, &s.mesh, s.x, 1.0, 3.0), ==, 2.0);
    munit_assert_double(set.kappa, ==, 2.0);
    munit_assert_double(gap_barrier_kappa_update(&set, &s.mesh, s.x, 1.0, 3.0), ==, 3.0);
    s.x[2] = 6e-10; /* grows */
    munit_assert_int(gap_barrier_build(&set, &s.mesh, s.x, &s.cand, s.dhat, 1.0), ==, 0);
    munit_assert_double(gap_barrier_kappa_update(&set, &s.mesh, s.x, 1.0, 3.0), ==, 1.0);
    s.x[2] = 6e-9; /* away */
    munit_assert_int(gap_barrier_build(&set, &s.mesh, s.x, &s.cand, s.dhat, 1.0), ==, 0);
    munit_assert_double(gap_barrier_kappa_update(&set, &s.mesh, s.x, 1.0, 3.0), ==, 1.0);
    munit_assert_int(set.close_count, ==, 0);
    gap_barrier_free(&set);
    return MUNIT_OK;
}

/* ---- invariance ---- */
static MunitResult test_scaling(const MunitParameter params[], void *data)
{
    static const int base[3] = {4, 2, 0};
    int i, k, e, n, power;
    (void)params; (void)data;
    for (i = 0; i < 400; ++i) {
        static scene s, t;
        gap_barrier_set a, b;
        double ha[144], hb[144];
        scene_nasty(&s, i % 4 == 0 ? 2 : 3);
        n = s.mesh.dim;
        t = s;
        e = munit_rand_int_range(-20, 20);
        for (k = 0; k < 192; ++k) {
            t.x[k] = ldexp(s.x[k], e);
            t.rest[k] = ldexp(s.rest[k], e);
        }
        for (k = 0; k < 64; ++k) t.radius[k] = ldexp(s.radius[k], e);
        for (k = 0; k < n; ++k) t.plane[k] = ldexp(s.plane[k], e);
        t.dhat = ldexp(s.dhat, e);
        t.mesh.edge = t.edge;
        t.mesh.tri = t.tri;
        t.mesh.rest = t.rest;
        if (t.mesh.radius) t.mesh.radius = t.radius;
        if (t.mesh.plane) t.mesh.plane = t.plane;
        for (k = 0; k < 5; ++k) t.cand.pair[k] = t.pair[k];
        munit_assert_int(scene_build(&s, s.x, &a), ==, scene_build(&t, t.x, &b));
        munit_assert_int(a.count, ==, b.count);
        power = s.opt.flags & GAP_BARRIER_PHYSICAL ? 1 : base[s.opt.form];
        if (s.opt.flags & GAP_BARRIER_AREA) power += n - 1;
        for (k = 0; k < a.count; ++k) {
            int j;
            munit_assert_int(a.kind[k], ==, b.kind[k]);
            munit_assert_memory_equal(16, a.node + 4 * k, b.node + 4 * k);
            munit_assert_memory_equal(32, a.weight + 4 * k, b.weight + 4 * k);
            munit_assert_double(ldexp(a.dist2[k], 2 * e), ==, b.dist2[k]);
            munit_assert_double(ldexp(a.force[k], (power - 1) * e), ==, b.force[k]);
            gap_barrier_hessian(&a, s.x, 1, k, k + 1, ha);
            gap_barrier_hessian(&b, t.x, 1, k, k + 1, hb);
            for (j = 0; j < 16 * n * n; ++j)
                munit_assert_double(ldexp(ha[j], (power - 2) * e), ==, hb[j]);
        }
        munit_assert_double(ldexp(gap_barrier_energy(&a, s.x, 0, a.count), power * e), ==,
            gap_barrier_energy(&b, t.x, 0, b.count));
        gap_barrier_free(&a);
        gap_barrier_free(&b);
    }
    return MUNIT_OK;
}

/* turned, moved, nodes renumbered, triangles turned, edges reversed: the same energy and Hessian */
static MunitResult test_invariance(const MunitParameter params[], void *data)
{
    static const int to[6] = {4, 2, 5, 0, 3, 1};
    int i, k, a, tested = 0;
    (void)params; (void)data;
    for (i = 0; i < 300; ++i) {
        static scene s, t;
        double R[9], shift[3], e, g[18], gt[18];
        scene_random(&s, 3);
        s.mesh.planes = 0;
        s.mesh.radius = NULL;
        scene_pairs(&s);
        util_rotation(R);
        util_points(shift, 1, 3, 1.0);
        scene_init(&t, 3);
        t.opt = s.opt;
        t.dhat = s.dhat;
        t.kappa = s.kappa;
        t.mesh.nodes = 6;
        for (k = 0; k < 6; ++k) {
            for (a = 0; a < 3; ++a) {
                const double *p = s.x + 3 * k, *q = s.rest + 3 * k;
                t.x[3 * to[k] + a] = R[3 * a] * p[0] + R[3 * a + 1] * p[1] + R[3 * a + 2] * p[2]
                    + shift[a];
                t.rest[3 * to[k] + a] = q[a];
            }
        }
        scene_tri(&t, to[5], to[3], to[4]);
        scene_tri(&t, to[1], to[2], to[0]);
        scene_pairs(&t);
        e = scene_energy(&s, s.x);
        if (!(e < 1e3) || e < 1e-3) continue;
        ++tested;
        util_assert_rel(e, scene_energy(&t, t.x), 1e-9);
        scene_gradient(&s, s.x, g);
        scene_gradient(&t, t.x, gt);
        for (k = 0; k < 6; ++k)
            for (a = 0; a < 3; ++a) {
                const double *p = g + 3 * k;
                double want = R[3 * a] * p[0] + R[3 * a + 1] * p[1] + R[3 * a + 2] * p[2];
                munit_assert_double(fabs(gt[3 * to[k] + a] - want), <=, 1e-8 * (fabs(want) + e));
            }
    }
    munit_assert_int(tested, >, 50);
    return MUNIT_OK;
}

/* Zero radii switch the quick rejection of far pairs off: the sets must be the same. */
static MunitResult test_far_pairs(const MunitParameter params[], void *data)
{
    int i, k, count = util_count(20000, 1000000), active = 0;
    (void)params; (void)data;
    for (i = 0; i < count; ++i) {
        static scene s;
        gap_barrier_set a, b;
        double stretch = pow(10, util_uniform(-9, 0));
        scene_nasty(&s, 3);
        if (i % 3 == 0) /* almost collinear */
            for (k = 0; k < 18; ++k)
                if (k % 3) s.x[k] *= stretch;
        if (i % 2) rotate(s.x, 6);
        s.opt.flags = 0;
        s.dhat = pow(10, util_uniform(-12, 0));
        if (i % 5 == 0) s.dhat = sqrt(gap_distance_ee(s.x, s.x + 3, s.x + 9, s.x + 12))
            * (1.0 + pow(10, util_uniform(-14, -4)));
        if (!(s.dhat > 0.0)) continue;
        memset(s.radius, 0, sizeof s.radius);
        s.mesh.radius = NULL;
        munit_assert_int(scene_build(&s, s.x, &a), <=, 0);
        s.mesh.radius = s.radius;
        scene_build(&s, s.x, &b);
        munit_assert_int(a.count, ==, b.count);
        munit_assert_int(a.guilty_count, ==, b.guilty_count);
        munit_assert_true(set_hash(&a) == set_hash(&b));
        active += a.count;
        gap_barrier_free(&a);
        gap_barrier_free(&b);
    }
    munit_assert_int(active, >, count / 10);
    return MUNIT_OK;
}

/* ---- edge cases ---- */
static MunitResult test_bad_input(const MunitParameter params[], void *data)
{
    static scene s;
    gap_barrier_set set;
    double keep;
    int i;
    (void)params; (void)data;
    scene_init(&s, 3);
    scene_node(&s, 0.25, 0.25, 0.1);
    add_triangle(&s, 0, 0);
    scene_node(&s, 0.5, 0.25, 0.0); /* in the triangle */
    scene_node(&s, 0.0, 0.0, 0.0);  /* on its corner */
    memcpy(s.rest, s.x, sizeof s.rest);
    scene_pairs(&s);
    munit_assert_int(scene_build(&s, s.x, &set), ==, GAP_BARRIER_ETOUCH);
    munit_assert_int(set.count, ==, 0);
    munit_assert_int(set.guilty_count, ==, 2);
    for (i = 0; i < 2; ++i) {
        munit_assert_int(set.guilty[3 * i], ==, 2);
        munit_assert_int(set.guilty[3 * i + 1], ==, 4 + i);
    }
    s.x[14] = 0.1;
    s.x[17] = 0.1;
    munit_assert_int(gap_barrier_build(&set, &s.mesh, s.x, &s.cand, 0.5, 1.0), ==, 0);
    munit_assert_int(set.guilty_count, ==, 0);
    munit_assert_int(set.count, ==, 3);
    for (i = 0; i < 18; ++i) { /* NaN and infinity anywhere */
        keep = s.x[i];
        s.x[i] = i % 2 ? HUGE_VAL : HUGE_VAL - HUGE_VAL;
        munit_assert_int(gap_barrier_build(&set, &s.mesh, s.x, &s.cand, 0.5, 1.0), ==,
            GAP_BARRIER_ENONFIN);
        munit_assert_int(set.count, ==, 0);
        munit_assert_int(set.bad[0], ==, 2);
        s.x[i] = keep;
    }
    s.pair[2][3] = 7; /* no such triangle */
    munit_assert_int(gap_barrier_build(&set, &s.mesh, s.x, &s.cand, 0.5, 1.0), ==,
        GAP_BARRIER_EINDEX);
    munit_assert_int(set.bad[2], ==, 7);
    s.pair[2][3] = 0;
    munit_assert_int(gap_barrier_build(&set, &s.mesh, s.x, &s.cand, 0.0, 1.0), ==,
        GAP_BARRIER_EINPUT);
    munit_assert_int(gap_barrier_build(&set, &s.mesh, s.x, &s.cand, 0.5, 0.0), ==,
        GAP_BARRIER_EINPUT);
    scene_add(&s, 2, 1, 0); /* a vertex of the triangle itself: left out */
    munit_assert_int(gap_barrier_build(&set, &s.mesh, s.x, &s.cand, 0.5, 1.0), ==, 0);
    munit_assert_int(set.count, ==, 3);
    gap_barrier_free(&set);
    s.opt.flags = GAP_BARRIER_AREA; /* not prepared */
    gap_barrier_init(&set, &s.opt);
    munit_assert_int(gap_barrier_build(&set, &s.mesh, s.x, &s.cand, 0.5, 1.0), ==,
        GAP_BARRIER_EINPUT);
    s.mesh.edges = 2; /* a triangle with an edge that is not listed */
    munit_assert_int(gap_barrier_prepare(&set, &s.mesh), ==, GAP_BARRIER_EINPUT);
    munit_assert_int(set.bad[1], ==, 0);
    gap_barrier_free(&set);
    return MUNIT_OK;
}

static MunitResult test_fixed(const MunitParameter params[], void *data)
{
    unsigned char fixed[4] = {7, 7, 7, 7};
    static scene s;
    gap_barrier_set set;
    double before;
    (void)params; (void)data;
    scene_init(&s, 3);
    scene_node(&s, 0.25, 0.25, 0.1);
    add_triangle(&s, 0, 0);
    memcpy(s.rest, s.x, sizeof s.rest);
    s.mesh.fixed = fixed;
    scene_pairs(&s);
    munit_assert_int(scene_build(&s, s.x, &set), ==, 0);
    munit_assert_int(set.count, ==, 0);
    fixed[2] = 3; /* one free component */
    munit_assert_int(gap_barrier_build(&set, &s.mesh, s.x, &s.cand, 0.5, 1.0), ==, 0);
    munit_assert_int(set.count, ==, 1);
    before = set.force[0];
    gap_barrier_set_kappa(&set, 4.0);
    munit_assert_double(set.force[0], ==, 4.0 * before);
    munit_assert_double(set.kappa, ==, 4.0);
    gap_barrier_free(&set);
    return MUNIT_OK;
}

#define TEST(name, fn) {name, fn, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}
static MunitTest tests[] = {TEST("/function", test_function),
    TEST("/user_function", test_user_function),
    TEST("/ball_in_socket", test_ball_in_socket), TEST("/derivatives", test_derivatives),
    TEST("/psd", test_psd), TEST("/multiplicity", test_multiplicity),
    TEST("/convergent", test_convergent), TEST("/mollifier", test_mollifier),
    TEST("/plane", test_plane), TEST("/stiffness", test_stiffness),
    TEST("/far_bodies_pass_through", test_far_bodies_pass_through),
    TEST("/leaving_vertex_tunnels", test_leaving_vertex_tunnels),
    TEST("/scaling", test_scaling), TEST("/invariance", test_invariance),
    TEST("/far_pairs", test_far_pairs), TEST("/threads", test_threads),
    TEST("/memory", test_memory),
    TEST("/edge/bad_input", test_bad_input), TEST("/edge/fixed", test_fixed), TEST(NULL, NULL)};

static const MunitSuite suite = {"/barrier", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
