/* Tests of friction/gap_friction.h: finite differences, closed-form eigenvalues, the numbers of
   another program (friction dumps), golden numbers of the ball in its socket. */
#define GAP_FRICTION_IMPLEMENTATION
#include "gap_friction.h"
#define GAP_PSD_IMPLEMENTATION
#include "gap_psd.h"
#define GAP_BROAD_IMPLEMENTATION
#include "gap_broad.h"
#define GAP_DISTANCE_IMPLEMENTATION
#include "gap_distance.h"
#define GAP_BARRIER_IMPLEMENTATION
#include "gap_barrier.h"
#define GAP_SPARSE_IMPLEMENTATION
#include "gap_sparse.h"
#include "gen_ball_socket.h"
#include "json.h"
#include "util.h"
#include <dirent.h>

static MunitResult quick_start(const MunitParameter params[], void *data)
{
    int node[4] = {0, -1, -1, -1};
    double weight[4] = {1, 0, 0, 0}, normal[3] = {0, 0, 1}, press = 10, f[3];
    double x_ref[3] = {0, 0, 0}, x[3] = {0.02, 0, 0.001};
    gap_friction_lag lag;

    (void)params; (void)data;
    gap_friction_init(&lag, NULL);
    munit_assert_int(gap_friction_freeze(&lag, 3, 1, 1, node, weight, normal, &press, NULL, 0.5,
        NULL, 0.01), ==, GAP_FRICTION_OK);
    gap_friction_force(&lag, x, x_ref, 0, 1, f);
    munit_assert_double_equal(f[0], -5.0, 12);
    munit_assert_true(f[1] == 0.0 && f[2] == 0.0);
    gap_friction_free(&lag);
    return MUNIT_OK;
}

/* ---- the functions ---- */

static double slope1(int form, double y, double eps) /* f1' */
{
    return gap_friction_f1_ratio(form, y, eps) + y * gap_friction_f2_ratio(form, y, eps);
}

static MunitResult functions(const MunitParameter params[], void *data)
{
    static const double at[] = {1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999999, 1.001, 2.0, 1e6};
    int form, k, e;

    (void)params; (void)data;
    for (form = 0; form < 3; ++form)
        for (e = -60; e <= 60; e += 20) {
            double eps = ldexp(0.7, e), below = eps * (1.0 - 1e-13), above = eps * (1.0 + 1e-13);
            util_assert_rel(gap_friction_f0(form, below, eps), eps, 1e-12);
            util_assert_rel(gap_friction_f0(form, above, eps), eps, 1e-12);
            util_assert_rel(gap_friction_f1(form, below, eps), 1.0, 1e-12);
            munit_assert_true(gap_friction_f1(form, above, eps) == 1.0);
            if (form != GAP_FRICTION_C0)
                munit_assert_true(fabs(slope1(form, below, eps)) < 3e-13 / eps);
            munit_assert_true(fabs(slope1(form, above, eps)) < 1e-15 / eps);
            munit_assert_true(gap_friction_f1(form, 0.0, eps) == 0.0);
            util_assert_rel(gap_friction_f1_ratio(form, 0.0, eps) * eps,
                form == GAP_FRICTION_C1 ? 2.0 : form == GAP_FRICTION_C2 ? 3.0 : 1.0, 1e-15);
            for (k = 0; k < (int)(sizeof at / sizeof *at); ++k) {
                double y = at[k] * eps, h = 1e-4 * fmin(y, fabs(y - eps)), d0, d1;
                d0 = 8 * (gap_friction_f0(form, y + h, eps) - gap_friction_f0(form, y - h, eps)) -
                     gap_friction_f0(form, y + 2 * h, eps) + gap_friction_f0(form, y - 2 * h, eps);
                d1 = 8 * (gap_friction_f1(form, y + h, eps) - gap_friction_f1(form, y - h, eps)) -
                     gap_friction_f1(form, y + 2 * h, eps) + gap_friction_f1(form, y - 2 * h, eps);
                munit_assert_true(fabs(d0 / (12 * h) - gap_friction_f1(form, y, eps)) <
                    1e-14 * (eps + y) / h + 1e-11);
                munit_assert_true(fabs(d1 / (12 * h) - slope1(form, y, eps)) <
                    1e-14 / h + 1e-11 / eps);
                util_assert_rel(gap_friction_f1_ratio(form, y, eps) * y,
                    gap_friction_f1(form, y, eps), 1e-15);
                munit_assert_true(slope1(form, y, eps) >= -1e-15 / y); /* convex: PSD */
            }
        }
    return MUNIT_OK;
}

/* ---- random contacts ---- */
enum { NODES = 9, COUNT = 40 };

typedef struct scene {
    int dim, node[4 * COUNT];
    double weight[4 * COUNT], normal[3 * COUNT], force[COUNT], mu[COUNT], side[3 * COUNT];
    double x[3 * NODES], x_ref[3 * NODES], eps;
    gap_friction_lag lag;
} scene;

/* Contacts of all kinds; slips from far below to far above eps, some exactly 0. */
static void make(scene *s, int dim, int form)
{
    gap_friction_options opt = {0};
    int k, i, c;

    opt.form = form;
    memset(s, 0, sizeof *s);
    s->dim = dim;
    s->eps = 0.05;
    for (i = 0; i < NODES * dim; ++i) {
        s->x_ref[i] = util_uniform(-1, 1);
        s->x[i] = s->x_ref[i] + util_uniform(-1, 1) * pow(10.0, munit_rand_int_range(-4, 0));
    }
    for (k = 0; k < COUNT; ++k) {
        static const int first[5] = {1, 1, 1, 2, 1}, all[5] = {2, 3, 4, 4, 1};
        int kind = dim == 2 ? (k % 3 == 2 ? 4 : k % 3) : k % 5;
        double sum[2] = {0, 0};
        int perm[NODES];
        for (i = 0; i < NODES; ++i) perm[i] = i;
        for (i = 0; i < 4; ++i) {
            int j = (int)munit_rand_int_range(i, NODES - 1), t = perm[i];
            perm[i] = perm[j], perm[j] = t;
            s->node[4 * k + i] = i < all[kind] ? perm[i] : -1;
            s->weight[4 * k + i] = i < all[kind] ? util_uniform(0.01, 1) : 0.0;
            sum[i >= first[kind]] += s->weight[4 * k + i];
        }
        for (i = 0; i < all[kind]; ++i)
            s->weight[4 * k + i] /= i < first[kind] ? sum[0] : -sum[1];
        util_unit(s->normal + k * dim, dim);
        s->force[k] = k % 7 == 6 ? 0.0 : util_uniform(0, 10);
        s->mu[k] = util_uniform(0, 1);
        for (c = 0; kind == 4 && c < dim; ++c) s->side[k * dim + c] = util_uniform(-0.1, 0.1);
    }
    gap_friction_init(&s->lag, &opt);
    munit_assert_int(gap_friction_freeze(&s->lag, dim, COUNT, NODES, s->node, s->weight, s->normal,
        s->force, s->mu, 0.0, s->side, s->eps), ==, GAP_FRICTION_OK);
}

typedef struct one {
    const scene *s;
    int k;
} one;

/* The stencil's own coordinates of contact k. */
static void spread(const one *o, const double *p, double *x)
{
    int i, c, dim = o->s->dim;
    memcpy(x, o->s->x, sizeof o->s->x);
    for (i = 0; i < 4; ++i)
        for (c = 0; c < dim && o->s->node[4 * o->k + i] >= 0; ++c)
            x[o->s->node[4 * o->k + i] * dim + c] = p[i * dim + c];
}

static double energy_of(void *ctx, const double *p)
{
    const one *o = (const one *)ctx;
    double x[3 * NODES];
    spread(o, p, x);
    return gap_friction_energy(&o->s->lag, x, o->s->x_ref, o->k, o->k + 1);
}

static void gradient_of(void *ctx, const double *p, double *g)
{
    const one *o = (const one *)ctx;
    double x[3 * NODES];
    spread(o, p, x);
    gap_friction_gradient(&o->s->lag, x, o->s->x_ref, o->k, o->k + 1, g);
}

/* Gradient and Hessian by differences, along the gradient too; raw equals PSD. */
static MunitResult differences(const MunitParameter params[], void *data)
{
    int rep, dim, form, k, i, c, reps = util_count(4, 200);
    scene s;

    (void)params; (void)data;
    for (rep = 0; rep < reps; ++rep)
        for (dim = 2; dim <= 3; ++dim)
            for (form = 0; form < 3; ++form) {
                make(&s, dim, form);
                for (k = 0; k < COUNT; ++k) {
                    double p[12] = {0}, g[12], h[144], raw[144], f[3], y = 0.0, step;
                    int n = 4 * dim;
                    one o;
                    o.s = &s, o.k = k;
                    for (i = 0; i < 4; ++i)
                        for (c = 0; c < dim && s.node[4 * k + i] >= 0; ++c)
                            p[i * dim + c] = s.x[s.node[4 * k + i] * dim + c];
                    gradient_of(&o, p, g);
                    gap_friction_hessian(&s.lag, s.x, s.x_ref, 1, k, k + 1, h);
                    gap_friction_hessian(&s.lag, s.x, s.x_ref, 0, k, k + 1, raw);
                    munit_assert_memory_equal((size_t)(n * n) * sizeof *h, h, raw);
                    gap_friction_force(&s.lag, s.x, s.x_ref, k, k + 1, f);
                    for (i = 0; i < 4; ++i) /* force and gradient: -w_i F */
                        for (c = 0; c < dim; ++c)
                            munit_assert_true(fabs(g[i * dim + c] + s.weight[4 * k + i] * f[c]) <=
                                1e-15 * (1.0 + fabs(f[c])));
                    y = gap_friction__slip(&s.lag, s.x, s.x_ref, k, f);
                    if (fabs(y - s.eps) < 0.02 * s.eps) continue; /* kink of a derivative */
                    if (y < 1e-4) continue; /* |u| is not smooth at 0: edge_no_slip */
                    step = 1e-3 * fmin(y, fabs(y - s.eps));
                    munit_assert_true(util_gradient_error(energy_of, &o, p, g, n, step) <
                        1e-7 + 1e-15 * s.lag.limit[k] / step);
                    if (dim == 3 || y < s.eps)
                        munit_assert_true(util_jacobian_error(gradient_of, &o, p, h, n, step) <
                            1e-7);
                    for (i = 0; dim == 2 && y > s.eps && i < n * n; ++i) /* constant force */
                        munit_assert_true(fabs(h[i]) <= 1e-14 * s.lag.limit[k] / y);
                }
                gap_friction_free(&s.lag);
            }
    return MUNIT_OK;
}

/* Eigenvalues of a block: |w|^2 limit times f1' along the slip, f1/y across; never negative. */
static MunitResult eigenvalues(const MunitParameter params[], void *data)
{
    int dim, form, k, i, rep, reps = util_count(20, 1000);
    scene s;

    (void)params; (void)data;
    for (rep = 0; rep < reps; ++rep)
        for (dim = 2; dim <= 3; ++dim)
            for (form = 0; form < 3; ++form) {
                make(&s, dim, form);
                if (rep % 2) memcpy(s.x, s.x_ref, sizeof s.x); /* no slip but on planes */
                for (k = 0; k < COUNT; ++k) {
                    double h[144], w[12], u[3], ww = 0.0, lo, hi;
                    double y = gap_friction__slip(&s.lag, s.x, s.x_ref, k, u);
                    int n = 4 * dim;
                    gap_friction_hessian(&s.lag, s.x, s.x_ref, 1, k, k + 1, h);
                    munit_assert_int(gap_psd_eig(n, h, w, NULL), ==, GAP_PSD_OK);
                    for (i = 0; i < 4; ++i) ww += s.weight[4 * k + i] * s.weight[4 * k + i];
                    hi = ww * s.lag.limit[k] * gap_friction_f1_ratio(form, y, s.eps);
                    lo = ww * s.lag.limit[k] * slope1(form, y, s.eps);
                    munit_assert_true(w[0] >= -1e-14 * hi);
                    munit_assert_true(fabs(w[n - (dim == 3 ? 2 : 1)] - lo) <= 1e-13 * hi);
                    if (dim == 3) munit_assert_true(fabs(w[n - 1] - hi) <= 1e-13 * hi);
                    munit_assert_true(fabs(w[n - dim]) <= 1e-13 * hi);
                }
                gap_friction_free(&s.lag);
            }
    return MUNIT_OK;
}

/* |F| <= mu force, equal where it slides, against the slip, in the plane; residual against today's
   forces. */
static MunitResult cone(const MunitParameter params[], void *data)
{
    int dim, form, k, c, rep, reps = util_count(20, 1000);
    double now[COUNT], residual[COUNT], f[3 * COUNT];
    scene s;

    (void)params; (void)data;
    for (rep = 0; rep < reps; ++rep)
        for (dim = 2; dim <= 3; ++dim)
            for (form = 0; form < 3; ++form) {
                double worst = 0.0;
                make(&s, dim, form);
                gap_friction_force(&s.lag, s.x, s.x_ref, 0, COUNT, f);
                for (k = 0; k < COUNT; ++k) {
                    double u[3], y = gap_friction__slip(&s.lag, s.x, s.x_ref, k, u), size = 0.0;
                    double dot = 0.0, normal = 0.0;
                    for (c = 0; c < dim; ++c) {
                        size += f[k * dim + c] * f[k * dim + c];
                        dot += f[k * dim + c] * u[c];
                        normal += f[k * dim + c] * s.normal[k * dim + c];
                    }
                    size = sqrt(size);
                    munit_assert_true(size <= s.mu[k] * s.force[k] * (1 + 1e-15));
                    if (y > s.eps) munit_assert_true(size >= s.mu[k] * s.force[k] * (1 - 1e-15));
                    munit_assert_true(fabs(dot + size * y) <= 1e-14 * size * y);
                    munit_assert_true(fabs(normal) <= 1e-12 * s.lag.limit[k]);
                    now[k] = s.lag.limit[k] * util_uniform(0, 1.5);
                    worst = fmax(worst, size - now[k]);
                }
                munit_assert_true(gap_friction_cone(&s.lag, s.x, s.x_ref, 0, COUNT, NULL,
                    residual) <= 1e-14);
                util_assert_rel(gap_friction_cone(&s.lag, s.x, s.x_ref, 0, COUNT, now, residual),
                    worst, 1e-12);
                for (k = 0; k < COUNT; ++k) munit_assert_true(residual[k] >= 0.0);
                gap_friction_free(&s.lag);
            }
    return MUNIT_OK;
}

/* Rotation turns forces, translation and the order of nodes within a side change nothing. */
static MunitResult invariance(const MunitParameter params[], void *data)
{
    int rep, k, i, c, reps = util_count(20, 1000);
    scene s;

    (void)params; (void)data;
    for (rep = 0; rep < reps; ++rep) {
        double R[9], t[3], x[3 * NODES], r[3 * NODES], n[3 * COUNT], sd[3 * COUNT], w[4 * COUNT];
        double f[3 * COUNT], g[3 * COUNT], e;
        int node[4 * COUNT];
        gap_friction_lag lag;
        make(&s, 3, rep % 3);
        util_rotation(R);
        for (c = 0; c < 3; ++c) t[c] = util_uniform(-2, 2);
        for (i = 0; i < NODES * 3; ++i) {
            const double *p = s.x + i / 3 * 3, *q = s.x_ref + i / 3 * 3, *row = R + i % 3 * 3;
            x[i] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + t[i % 3];
            r[i] = row[0] * q[0] + row[1] * q[1] + row[2] * q[2] + t[i % 3];
        }
        for (i = 0; i < COUNT * 3; ++i) {
            const double *p = s.normal + i / 3 * 3, *q = s.side + i / 3 * 3, *row = R + i % 3 * 3;
            n[i] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2];
            sd[i] = row[0] * q[0] + row[1] * q[1] + row[2] * q[2];
        }
        for (k = 0; k < COUNT; ++k) /* reverse the used nodes: weights know their side */
            for (i = 0; i < 4; ++i) {
                int used = 0, j;
                for (j = 0; j < 4; ++j) used += s.node[4 * k + j] >= 0;
                j = i < used ? used - 1 - i : i;
                node[4 * k + i] = s.node[4 * k + j];
                w[4 * k + i] = s.weight[4 * k + j];
            }
        gap_friction_init(&lag, &s.lag.opt);
        gap_friction_freeze(&lag, 3, COUNT, NODES, node, w, n, s.force, s.mu, 0, sd, s.eps);
        e = gap_friction_energy(&s.lag, s.x, s.x_ref, 0, COUNT);
        util_assert_rel(gap_friction_energy(&lag, x, r, 0, COUNT), e, 1e-12);
        gap_friction_force(&s.lag, s.x, s.x_ref, 0, COUNT, f);
        gap_friction_force(&lag, x, r, 0, COUNT, g);
        for (i = 0; i < COUNT * 3; ++i) {
            const double *p = f + i / 3 * 3, *row = R + i % 3 * 3;
            double turned = row[0] * p[0] + row[1] * p[1] + row[2] * p[2];
            munit_assert_true(fabs(g[i] - turned) <= 1e-9 * (s.lag.limit[i / 3] + 1e-9));
        }
        gap_friction_free(&lag);
        gap_friction_free(&s.lag);
    }
    return MUNIT_OK;
}

/* Lengths times 2^k: energy times 2^k, gradient the same, Hessian over 2^k, to the bit. Any split
   into ranges: the same bits. */
static MunitResult bits(const MunitParameter params[], void *data)
{
    static double h[COUNT * 144], h2[COUNT * 144], g[COUNT * 12], g2[COUNT * 12];
    int rep, dim, power, i, k, reps = util_count(5, 200);
    scene s;

    (void)params; (void)data;
    for (rep = 0; rep < reps; ++rep)
        for (dim = 2; dim <= 3; ++dim)
            for (power = -20; power <= 20; power += 5) {
                double x[3 * NODES], r[3 * NODES], side[3 * COUNT], e;
                int n = 4 * dim;
                make(&s, dim, rep % 3);
                e = gap_friction_energy(&s.lag, s.x, s.x_ref, 0, COUNT);
                gap_friction_gradient(&s.lag, s.x, s.x_ref, 0, COUNT, g);
                gap_friction_hessian(&s.lag, s.x, s.x_ref, 1, 0, COUNT, h);
                for (k = 0; k < COUNT; k += 7) {
                    int end = k + 7 < COUNT ? k + 7 : COUNT;
                    gap_friction_gradient(&s.lag, s.x, s.x_ref, k, end, g2 + k * n);
                    gap_friction_hessian(&s.lag, s.x, s.x_ref, 1, k, end, h2 + k * n * n);
                }
                munit_assert_memory_equal((size_t)(COUNT * n) * sizeof *g, g, g2);
                munit_assert_memory_equal((size_t)(COUNT * n * n) * sizeof *h, h, h2);
                for (i = 0; i < NODES * dim; ++i) {
                    x[i] = ldexp(s.x[i], power);
                    r[i] = ldexp(s.x_ref[i], power);
                }
                for (i = 0; i < COUNT * dim; ++i) side[i] = ldexp(s.side[i], power);
                gap_friction_freeze(&s.lag, dim, COUNT, NODES, s.node, s.weight, s.normal, s.force,
                    s.mu, 0.0, side, ldexp(s.eps, power));
                munit_assert_true(gap_friction_energy(&s.lag, x, r, 0, COUNT) == ldexp(e, power));
                gap_friction_gradient(&s.lag, x, r, 0, COUNT, g2);
                gap_friction_hessian(&s.lag, x, r, 1, 0, COUNT, h2);
                for (i = 0; i < COUNT * n; ++i) munit_assert_true(g[i] == g2[i]);
                for (i = 0; i < COUNT * n * n; ++i)
                    munit_assert_true(h2[i] == ldexp(h[i], -power));
                gap_friction_free(&s.lag);
            }
    return MUNIT_OK;
}

/* Forces on nodes are the assembled gradient; x_ref = NULL means displacements. */
static MunitResult node_force(const MunitParameter params[], void *data)
{
    double f[3 * NODES], sum[3 * NODES], g[COUNT * 12], d[3 * NODES];
    int dim, k, i, c;
    scene s;

    (void)params; (void)data;
    for (dim = 2; dim <= 3; ++dim) {
        make(&s, dim, 0);
        memset(f, 0, sizeof f);
        memset(sum, 0, sizeof sum);
        gap_friction_node_force(&s.lag, s.x, s.x_ref, f);
        gap_friction_gradient(&s.lag, s.x, s.x_ref, 0, COUNT, g);
        for (k = 0; k < COUNT; ++k)
            for (i = 0; i < 4; ++i)
                for (c = 0; c < dim && s.node[4 * k + i] >= 0; ++c)
                    sum[s.node[4 * k + i] * dim + c] -= g[(4 * k + i) * dim + c];
        munit_assert_memory_equal((size_t)(NODES * dim) * sizeof *f, f, sum);
        for (i = 0; i < NODES * dim; ++i) d[i] = s.x[i] - s.x_ref[i];
        munit_assert_true(gap_friction_energy(&s.lag, d, NULL, 0, COUNT) ==
            gap_friction_energy(&s.lag, s.x, s.x_ref, 0, COUNT));
        gap_friction_free(&s.lag);
    }
    return MUNIT_OK;
}

/* ---- edges ---- */
static MunitResult edge_input(const MunitParameter params[], void *data)
{
    gap_friction_lag *lag;
    double keep, h[144];
    scene s;
    int i;

    (void)params; (void)data;
    make(&s, 3, 0);
    lag = &s.lag;
#define FREEZE(d, n, eps) gap_friction_freeze(lag, d, n, NODES, s.node, s.weight, s.normal, \
    s.force, s.mu, 0.0, s.side, eps)
    munit_assert_int(FREEZE(4, COUNT, 0.1), ==, GAP_FRICTION_EINPUT);
    munit_assert_int(FREEZE(3, COUNT, 0.0), ==, GAP_FRICTION_EINPUT);
    munit_assert_int(FREEZE(3, COUNT, -1.0), ==, GAP_FRICTION_EINPUT);
    munit_assert_int(FREEZE(3, COUNT, NAN), ==, GAP_FRICTION_EINPUT);
    munit_assert_int(FREEZE(3, COUNT, HUGE_VAL), ==, GAP_FRICTION_EINPUT);
    munit_assert_int(lag->count, ==, 0);
    munit_assert_int(lag->bad, ==, -1);
    munit_assert_int(FREEZE(3, 0, 0.1), ==, GAP_FRICTION_OK);
    munit_assert_true(gap_friction_energy(lag, s.x, s.x_ref, 0, 0) == 0.0);
    s.node[4 * 17 + 1] = NODES;
    munit_assert_int(FREEZE(3, COUNT, 0.1), ==, GAP_FRICTION_EINDEX);
    munit_assert_int(lag->bad, ==, 17);
    munit_assert_int(lag->count, ==, 0);
    s.node[4 * 17 + 1] = -2;
    munit_assert_int(FREEZE(3, COUNT, 0.1), ==, GAP_FRICTION_EINDEX);
    s.node[4 * 17 + 1] = 0;
#define REFUSED(value, wrong, status) \
    keep = value, value = wrong; \
    munit_assert_int(FREEZE(3, COUNT, 0.1), ==, status); \
    munit_assert_int(lag->bad, ==, 9); \
    munit_assert_int(lag->count, ==, 0); \
    value = keep
    REFUSED(s.weight[4 * 9], NAN, GAP_FRICTION_ENONFIN);
    REFUSED(s.normal[3 * 9 + 2], HUGE_VAL, GAP_FRICTION_ENONFIN);
    REFUSED(s.force[9], NAN, GAP_FRICTION_ENONFIN);
    REFUSED(s.mu[9], HUGE_VAL, GAP_FRICTION_ENONFIN);
    REFUSED(s.side[3 * 9 + 1], NAN, GAP_FRICTION_ENONFIN);
    REFUSED(s.mu[9], -0.5, GAP_FRICTION_EINPUT);
    s.force[3] = -2.0; /* the convergent form has negative contacts: raw as it is, PSD gives 0 */
    s.mu[3] = 0.5;
    munit_assert_int(FREEZE(3, COUNT, 0.1), ==, GAP_FRICTION_OK);
    gap_friction_hessian(lag, s.x, s.x_ref, 1, 3, 4, h);
    for (i = 0; i < 144; ++i) munit_assert_true(h[i] == 0.0);
    gap_friction_hessian(lag, s.x, s.x_ref, 0, 3, 4, h);
    munit_assert_true(h[0] + h[13] + h[26] < 0.0);
    s.x[0] = NAN; /* stays in the blocks that touch node 0 */
    for (i = 0; i < COUNT; ++i) {
        const int *n = s.node + 4 * i;
        int touches = n[0] == 0 || n[1] == 0 || n[2] == 0 || n[3] == 0;
        double e = gap_friction_energy(lag, s.x, s.x_ref, i, i + 1);
        munit_assert_int(e != e, ==, touches);
    }
    gap_friction_free(lag);
    return MUNIT_OK;
#undef FREEZE
#undef REFUSED
}

/* Without slip: force 0, Hessian 2 mu force / eps on the tangent plane. */
static MunitResult edge_no_slip(const MunitParameter params[], void *data)
{
    int node[4] = {0, 1, -1, -1}, i, j;
    double w[4] = {1, -1, 0, 0}, n[3] = {0, 0, 1}, force = 3.0, x[6] = {1, 2, 3, 4, 5, 6}, f[3];
    double h[144], tiny[6];
    gap_friction_lag lag;

    (void)params; (void)data;
    gap_friction_init(&lag, NULL);
    gap_friction_freeze(&lag, 3, 1, 2, node, w, n, &force, NULL, 0.5, NULL, 0.01);
    gap_friction_force(&lag, x, x, 0, 1, f);
    munit_assert_true(f[0] == 0.0 && f[1] == 0.0 && f[2] == 0.0);
    util_assert_rel(gap_friction_energy(&lag, x, x, 0, 1), 1.5 * 0.01 / 3.0, 1e-15);
    gap_friction_hessian(&lag, x, x, 1, 0, 1, h);
    for (i = 0; i < 12; ++i)
        for (j = 0; j < 12; ++j) {
            double want = i % 3 == j % 3 && i % 3 < 2 && i < 6 && j < 6 ? 300.0 : 0.0;
            if (i / 3 != j / 3) want = -want;
            munit_assert_true(fabs(h[12 * i + j] - want) <= 1e-12);
        }
    memset(tiny, 0, sizeof tiny);
    tiny[0] = 1e-200; /* its square underflows */
    gap_friction_force(&lag, tiny, NULL, 0, 1, f);
    util_assert_rel(f[0], -1.5 * 2.0 / 0.01 * 1e-200, 1e-14);
    gap_friction_hessian(&lag, tiny, NULL, 1, 0, 1, h);
    util_assert_rel(h[0], 300.0, 1e-14);
    gap_friction_free(&lag);
    return MUNIT_OK;
}

/* The k-th allocation fails: ENOMEM, empty, nothing leaks. No allocation in steady state. */
static MunitResult memory(const MunitParameter params[], void *data)
{
    gap_friction_options opt = {0};
    util_memory m;
    gap_friction_lag lag;
    scene s;
    int k, status = GAP_FRICTION_ENOMEM;
    long calls;

    (void)params; (void)data;
    make(&s, 3, 0);
    opt.realloc_fn = util_realloc;
    opt.realloc_user = &m;
    for (k = 1; status != GAP_FRICTION_OK; ++k) {
        memset(&m, 0, sizeof m);
        m.fail_at = k;
        gap_friction_init(&lag, &opt);
        status = gap_friction_freeze(&lag, 3, COUNT, NODES, s.node, s.weight, s.normal, s.force,
            s.mu, 0.0, s.side, 0.1);
        if (status != GAP_FRICTION_OK) {
            munit_assert_int(status, ==, GAP_FRICTION_ENOMEM);
            munit_assert_int(lag.count, ==, 0);
        }
        calls = m.calls;
        if (status == GAP_FRICTION_OK)
            gap_friction_freeze(&lag, 2, COUNT, NODES, s.node, s.weight, s.normal, s.force, s.mu,
                0.0, NULL, 0.1);
        munit_assert_long(m.calls, ==, calls);
        gap_friction_free(&lag);
        munit_assert_long(m.live, ==, 0);
        munit_assert_size(m.now, ==, 0);
        munit_assert_int(m.wrong, ==, 0);
    }
    munit_assert_int(k, ==, 3);
    gap_friction_free(&s.lag);
    return MUNIT_OK;
}

/* ---- dumps of the first IPC program ---- */
static double *numbers(const json *j, const char *key, int each, int *count)
{
    const json *a = json_get(j, key), *row, *v;
    double *out;

    munit_assert_not_null(a);
    out = (double *)munit_malloc(((size_t)a->count * (size_t)each + 1) * sizeof *out);
    *count = 0;
    for (row = a->child; row; row = row->next) {
        int c = 0;
        if (row->type == JSON_NUMBER) out[(*count)++] = row->number;
        for (v = row->child; v; v = v->next, ++c) out[*count * each + c] = v->number;
        if (row->type == JSON_ARRAY) ++*count;
    }
    return out;
}

/* Stencil code to kind, nodes and multiplicity. */
static int decode(const double *code, int node[4], double *mult)
{
    int a = (int)code[0], b = (int)code[1], c = (int)code[2], d = (int)code[3];

    *mult = 1.0;
    node[0] = a < 0 ? -a - 1 : a, node[1] = b, node[2] = c, node[3] = d;
    if (a >= 0) return GAP_DISTANCE_EE;
    if (d >= 0) return GAP_DISTANCE_VF;
    *mult = -d;
    node[3] = -1;
    if (c >= 0) return GAP_DISTANCE_VE;
    node[2] = -1;
    return GAP_DISTANCE_VV;
}

static void check_weights(int kind, const double *w, const double *at)
{
    double want[4] = {1, -1, 0, 0};
    int i;

    if (kind == GAP_DISTANCE_VE) want[1] = at[0] - 1, want[2] = -at[0];
    if (kind == GAP_DISTANCE_VF) want[1] = at[0] + at[1] - 1, want[2] = -at[0], want[3] = -at[1];
    if (kind == GAP_DISTANCE_EE)
        want[0] = 1 - at[0], want[1] = at[0], want[2] = at[1] - 1, want[3] = -at[1];
    for (i = 0; i < 4; ++i) munit_assert_true(fabs(w[i] - want[i]) <= 1e-8);
}

static void check_dump(const json *j)
{
    int n, count, rows, i, k, c, r;
    double *start = numbers(j, "V_start", 3, &n), *lagged = numbers(j, "V_lagged", 3, &n);
    double *end = numbers(j, "V_end", 3, &n), *code = numbers(j, "mmcvids", 4, &count);
    double *want_force = numbers(j, "normal_force_magnitudes", 1, &rows);
    double *at = numbers(j, "closest_point_coordinates", 2, &rows);
    double *basis = numbers(j, "tangent_bases", 2, &rows);
    double *want_g = numbers(j, "gradient", 1, &rows);
    double *triplet = numbers(j, "hessian_triplets", 3, &rows);
    double top = json_get(j, "dhat_squared")->number, mu = json_get(j, "mu")->number;
    double kappa = json_get(j, "barrier_stiffness")->number;
    double eps = sqrt(json_get(j, "epsv_times_h_squared")->number);
    size_t size = (size_t)n * 3;
    int *node = (int *)munit_calloc((size_t)count * 4 + 1, sizeof *node);
    double *weight = (double *)munit_calloc((size_t)count * 4 + 1, sizeof *weight);
    double *normal = (double *)munit_calloc((size_t)count * 3 + 1, sizeof *normal);
    double *force = (double *)munit_calloc((size_t)count + 1, sizeof *force);
    double *g = (double *)munit_calloc(size, sizeof *g), block[144], local[12];
    double *h = (double *)munit_calloc(size * size, sizeof *h);
    double *want_h = (double *)munit_calloc(size * size, sizeof *h);
    gap_friction_lag lag;

    for (k = 0; k < count; ++k) {
        double p[12] = {0}, mult, dist2, b[3], d, span[9] = {0};
        int kind = decode(code + 4 * k, node + 4 * k, &mult);
        for (i = 0; i < 4; ++i)
            for (c = 0; c < 3 && node[4 * k + i] >= 0; ++c)
                p[3 * i + c] = lagged[3 * node[4 * k + i] + c];
        munit_assert_int(gap_distance_pair(3, kind, p, NULL, weight + 4 * k, &dist2), ==, 0);
        check_weights(kind, weight + 4 * k, at + 2 * k);
        d = sqrt(dist2);
        for (c = 0; c < 3; ++c)
            for (i = 0; i < 4; ++i) normal[3 * k + c] += weight[4 * k + i] * p[3 * i + c] / d;
        gap_barrier_function_at(GAP_BARRIER_LOG_C2, dist2, top, b);
        force[k] = -kappa * b[1] * 2.0 * d * mult;
        util_assert_rel(force[k], want_force[k], 1e-8);
        for (r = 0; r < 3; ++r)
            for (c = 0; c < 3; ++c) {
                const double *q = basis + 6 * k;
                span[3 * r + c] = q[2 * r] * q[2 * c] + q[2 * r + 1] * q[2 * c + 1];
                munit_assert_true(fabs((r == c) - normal[3 * k + r] * normal[3 * k + c] -
                    span[3 * r + c]) <= 1e-8);
            }
    }
    gap_friction_init(&lag, NULL);
    munit_assert_int(gap_friction_freeze(&lag, 3, count, n, node, weight, normal, force, NULL, mu,
        NULL, eps), ==, GAP_FRICTION_OK);
    util_assert_rel(gap_friction_energy(&lag, end, start, 0, count), json_get(j, "energy")->number,
        1e-8);
    for (k = 0; k < count; ++k) {
        gap_friction_gradient(&lag, end, start, k, k + 1, local);
        gap_friction_hessian(&lag, end, start, 1, k, k + 1, block);
        for (i = 0; i < 12; ++i) {
            size_t row = (size_t)(3 * node[4 * k + i / 3] + i % 3);
            if (node[4 * k + i / 3] < 0) continue;
            g[row] += local[i];
            for (c = 0; c < 12; ++c)
                if (node[4 * k + c / 3] >= 0)
                    h[row * size + (size_t)(3 * node[4 * k + c / 3] + c % 3)] += block[12 * i + c];
        }
    }
    for (i = 0; i < rows; ++i)
        want_h[(size_t)triplet[3 * i] * size + (size_t)triplet[3 * i + 1]] += triplet[3 * i + 2];
    munit_assert_true(util_rel_array(g, want_g, size, 0.0) <= 1e-8);
    munit_assert_true(util_rel_array(h, want_h, size * size, 0.0) <= 1e-8);
    gap_friction_free(&lag);
    free(start), free(lagged), free(end), free(code), free(want_force), free(at), free(basis);
    free(want_g), free(triplet), free(node), free(weight), free(normal), free(force), free(g);
    free(h), free(want_h);
}

static MunitResult dumps(const MunitParameter params[], void *data)
{
    static const char folder[] = "../shared/data/friction-dumps";
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[512];
    int count = 0;

    (void)params; (void)data;
    if (!dir) return MUNIT_SKIP;
    while ((entry = readdir(dir)) != NULL) {
        json_error error;
        json *j;
        if (!strstr(entry->d_name, ".json")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        j = json_read(path, &error);
        munit_assert_not_null(j);
        check_dump(j);
        json_free(j);
        ++count;
    }
    closedir(dir);
    munit_logf(MUNIT_LOG_INFO, "%d dumps", count);
    return count ? MUNIT_OK : MUNIT_SKIP;
}

/* ---- ball in socket, n = 32: another library's numbers for the same scene ---- */
static MunitResult ball_socket(const MunitParameter params[], void *data)
{
    gen_ball_socket b;
    gap_broad broad;
    gap_broad_mesh bm = {0};
    gap_barrier_mesh mesh = {0};
    gap_barrier_candidates cand = {0};
    gap_barrier_set set;
    gap_friction_lag lag;
    gap_sparse A;
    double *v, *g, *mu, *block, norm = 0.0;
    int kind, i, k, pairs, with = 0;

    (void)params; (void)data;
    gen_ball_socket_make(32, &b);
    bm.dim = 3, bm.nodes = b.nodes, bm.edges = b.edges, bm.tris = b.tris;
    bm.edge = b.edge, bm.tri = b.tri;
    gap_broad_init(&broad, NULL);
    munit_assert_int(gap_broad_set_mesh(&broad, &bm), ==, 0);
    munit_assert_int(gap_broad_build(&broad, b.x, NULL, 0.5 * b.dhat), ==, 0);
    for (kind = 2; kind <= 3; ++kind) {
        munit_assert_int(gap_broad_pairs(&broad, kind, &cand.pair[kind], &pairs), ==, 0);
        cand.count[kind] = pairs;
    }
    mesh.dim = 3, mesh.nodes = b.nodes, mesh.edges = b.edges, mesh.tris = b.tris;
    mesh.edge = b.edge, mesh.tri = b.tri, mesh.rest = b.x;
    gap_barrier_init(&set, NULL);
    munit_assert_int(gap_barrier_build(&set, &mesh, b.x, &cand, b.dhat, 1e3), ==, 0);
    munit_assert_int(set.count, ==, 4107);
    v = (double *)munit_malloc((size_t)b.nodes * 3 * sizeof *v);
    g = (double *)munit_calloc((size_t)b.nodes * 3, sizeof *g);
    mu = (double *)munit_malloc((size_t)set.count * sizeof *mu);
    gen_ball_socket_motion(&b, 0.1, v);
    for (i = 0; i < 3 * b.nodes; ++i) v[i] /= 0.01;
    for (k = 0; k < set.count; ++k) { /* the other library leaves mollified pairs out */
        mu[k] = set.mollify[k] > 0.0 ? 0.0 : 0.3;
        with += mu[k] > 0.0;
    }
    munit_assert_int(with, ==, 4102);
    gap_friction_init(&lag, NULL);
    munit_assert_int(gap_friction_freeze(&lag, 3, set.count, b.nodes, set.node, set.weight,
        set.normal, set.force, mu, 0.0, NULL, 0.01), ==, 0);
    util_assert_rel(gap_friction_energy(&lag, v, NULL, 0, lag.count), 1.0526064488721499e-3, 1e-10);
    gap_friction_node_force(&lag, v, NULL, g);
    for (i = 0; i < 3 * b.nodes; ++i) norm += g[i] * g[i];
    util_assert_rel(sqrt(norm), 6.7098420323715817e-3, 1e-10);
    block = (double *)munit_malloc(1024 * 144 * sizeof *block);
    munit_assert_int(gap_sparse_init(&A, b.nodes, 3, NULL), >=, 0);
    munit_assert_int(gap_sparse_link(&A, lag.count, 4, lag.node), >=, 0);
    munit_assert_int(gap_sparse_build(&A), >=, 0);
    for (k = 0; k < lag.count; k += 1024) {
        int end = k + 1024 < lag.count ? k + 1024 : lag.count;
        gap_friction_hessian(&lag, v, NULL, 1, k, end, block);
        munit_assert_int(gap_sparse_add(&A, end - k, 4, lag.node + 4 * k, 1.0, block), >=, 0);
    }
    for (norm = 0.0, i = 0; i < A.n; ++i)
        for (k = 9 * A.ptr[i]; k < 9 * A.ptr[i + 1]; ++k)
            norm += A.val[k] * A.val[k] * (A.col[k / 9] == i ? 1.0 : 2.0);
    util_assert_rel(sqrt(norm), 0.74464918232040944, 1e-10);
    gap_sparse_free(&A);
    free(block);
    gap_friction_free(&lag);
    gap_barrier_free(&set);
    gap_broad_free(&broad);
    gen_ball_socket_free(&b);
    free(v), free(g), free(mu);
    return MUNIT_OK;
}

int main(int argc, char *argv[])
{
    static MunitTest tests[] = {
        {"/quick_start", quick_start, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/functions", functions, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/differences", differences, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/eigenvalues", eigenvalues, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/cone", cone, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/invariance", invariance, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/bits", bits, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/node_force", node_force, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/edge/input", edge_input, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/edge/no_slip", edge_no_slip, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/memory", memory, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/dumps", dumps, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {"/ball_socket", ball_socket, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
        {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
    static const MunitSuite suite = {"/friction", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};
    return munit_suite_main(&suite, NULL, argc, argv);
}
