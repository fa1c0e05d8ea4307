/* test_newton.c - gap_newton.h: minima checked by derivatives, the ladder rung by rung, all ends */
#define GAP_NEWTON_IMPLEMENTATION
#include "gap_newton.h"
#define GAP_SPARSE_IMPLEMENTATION
#include "gap_sparse.h"
#define GAP_STEP_IMPLEMENTATION
#include "gap_step.h"
#include "util.h"

enum { MOST = 24 };

/* A problem with knobs. Energy: sum over i of a_i (x_i - c_i)^2 / 2 + q_i (x_i - c_i)^4 / 4
   + coupling (x_i - x_{i-1})^2 / 2, and with wall: - mu log(x_i - floor). Hessian dense. */
typedef struct toy {
    int n, wall;
    double a[MOST], q[MOST], c[MOST], coupling, mu, floor;
    int refuse_raw, refuse_all;   /* solve says not positive definite */
    double refuse_below;          /* refuses shifts below this */
    int uphill, nan_direction;    /* solve gives a useless direction (unless shifted) */
    double quantum;               /* energies rounded to multiples of this */
    int lie;                      /* energy grows at every call */
    int calls, cancel_at, fail_energy_at, wrong_order;
    double best;                  /* lowest energy accepted */
    double seen[MOST], last_energy;
    int accepts, change_at, stop_at, converged_seen, again;
    gap_newton_iteration log[64];
    double bound_used;
} toy;

static int toy_energy(void *user, const double *x, double *energy)
{
    toy *t = (toy *)user;
    double e = 0.0;
    int i;
    if (++t->calls == t->fail_energy_at) return -77;
    for (i = 0; i < t->n; ++i) {
        double d = x[i] - t->c[i];
        e += 0.5 * t->a[i] * d * d + 0.25 * t->q[i] * d * d * d * d;
        if (i > 0) e += 0.5 * t->coupling * (x[i] - x[i - 1]) * (x[i] - x[i - 1]);
        if (t->wall && !(x[i] > t->floor)) return 1;
        if (t->wall) e -= t->mu * log(x[i] - t->floor);
    }
    if (t->quantum > 0.0) e = t->quantum * floor(e / t->quantum + 0.5);
    if (t->lie) e = (double)t->calls;
    *energy = e;
    return 0;
}

static int toy_gradient(void *user, const double *x, double *g)
{
    toy *t = (toy *)user;
    int i;
    memset(g, 0, (size_t)t->n * sizeof *g);
    for (i = 0; i < t->n; ++i) {
        double d = x[i] - t->c[i];
        g[i] += t->a[i] * d + t->q[i] * d * d * d;
        if (i > 0) {
            g[i] += t->coupling * (x[i] - x[i - 1]);
            g[i - 1] -= t->coupling * (x[i] - x[i - 1]);
        }
        if (t->wall) g[i] -= t->mu / (x[i] - t->floor);
    }
    return 0;
}

/* Dense Cholesky; 1 where a pivot is not positive. */
static int cholesky(double *H, int n, const double *g, double *p)
{
    int i, j, k;
    for (j = 0; j < n; ++j) {
        for (i = j; i < n; ++i) {
            double s = H[i * n + j];
            for (k = 0; k < j; ++k) s -= H[i * n + k] * H[j * n + k];
            if (i == j && !(s > 0.0)) return 1;
            H[i * n + j] = i == j ? sqrt(s) : s / H[j * n + j];
        }
    }
    for (i = 0; i < n; ++i) {
        double s = -g[i];
        for (k = 0; k < i; ++k) s -= H[i * n + k] * p[k];
        p[i] = s / H[i * n + i];
    }
    for (i = n - 1; i >= 0; --i) {
        for (k = i + 1; k < n; ++k) p[i] -= H[k * n + i] * p[k];
        p[i] /= H[i * n + i];
    }
    return 0;
}

static int toy_solve(void *user, const double *x, const double *g, int psd, double shift, double *p)
{
    toy *t = (toy *)user;
    double H[MOST * MOST] = {0}, mean = 0.0;
    int n = t->n, i;
    if (t->refuse_all || (t->refuse_raw && !psd) || shift < t->refuse_below) return 1;
    for (i = 0; i < n; ++i) {
        double d = x[i] - t->c[i], h = t->a[i] + 3.0 * t->q[i] * d * d;
        H[i * n + i] += psd && h < 0.0 ? 0.0 : h;
        if (i > 0) {
            H[i * n + i] += t->coupling;
            H[(i - 1) * n + i - 1] += t->coupling;
            H[i * n + i - 1] = H[(i - 1) * n + i] = -t->coupling;
        }
        if (t->wall) H[i * n + i] += t->mu / ((x[i] - t->floor) * (x[i] - t->floor));
    }
    for (i = 0; i < n; ++i) mean += fabs(H[i * n + i]) / n;
    for (i = 0; i < n; ++i) H[i * n + i] += shift * mean;
    if (cholesky(H, n, g, p)) return 1;
    for (i = 0; i < n && shift == 0.0; ++i) {
        if (t->uphill) p[i] = -p[i];
        if (t->nan_direction) p[i] = (double)NAN;
    }
    return 0;
}

/* 0.8 of the way to the wall, and never more. */
static int toy_bound(void *user, const double *x, const double *p, double *alpha)
{
    toy *t = (toy *)user;
    int i;
    for (i = 0; i < t->n; ++i) {
        if (p[i] < 0.0) *alpha = fmin(*alpha, 0.8 * (x[i] - t->floor) / -p[i]);
    }
    t->bound_used = *alpha;
    return 0;
}

static int toy_accept(void *user, const double *x, const gap_newton_iteration *it)
{
    toy *t = (toy *)user;
    t->wrong_order |= it->energy > it->energy_before && !it->flat;
    if (t->accepts < 64) t->log[t->accepts] = *it;
    t->converged_seen |= it->converged;
    memcpy(t->seen, x, (size_t)t->n * sizeof *x);
    if (++t->accepts == t->stop_at) return 2;
    if (t->accepts == t->change_at) {
        t->coupling *= 4.0;
        return 1;
    }
    if (it->converged && t->again > 0) {
        t->again--;
        t->c[0] += 1.0;
        return 1;
    }
    return 0;
}

static int toy_cancel(void *user)
{
    toy *t = (toy *)user;
    return t->cancel_at && t->calls >= t->cancel_at;
}

static void random_toy(toy *t, int n)
{
    int i;
    memset(t, 0, sizeof *t);
    t->n = n;
    t->coupling = util_uniform(0.0, 3.0);
    t->mu = 0.1;
    for (i = 0; i < n; ++i) {
        t->a[i] = util_uniform(0.5, 2.0);
        t->q[i] = util_uniform(0.0, 2.0);
        t->c[i] = util_uniform(-2.0, 2.0);
    }
}

static gap_newton_problem problem_of(toy *t)
{
    gap_newton_problem f;
    f.user = t;
    f.energy = toy_energy;
    f.gradient = toy_gradient;
    f.solve = toy_solve;
    f.bound = t->wall ? toy_bound : NULL;
    f.accept = toy_accept;
    f.cancel = toy_cancel;
    return f;
}

static int run(toy *t, const gap_newton_options *o, double *x, gap_newton_result *r)
{
    double work[4 * MOST];
    gap_newton_problem f = problem_of(t);
    munit_assert_size(gap_newton_work_size(t->n), <=, sizeof work);
    return gap_newton_minimize(&f, o, t->n, x, work, r);
}

static MunitResult quadratic(const MunitParameter params[], void *data)
{
    toy t;
    double x[MOST] = {0}, g[MOST];
    gap_newton_result r;
    (void)params, (void)data;
    random_toy(&t, 10);
    memset(t.q, 0, sizeof t.q);
    munit_assert_int(run(&t, NULL, x, &r), ==, GAP_NEWTON_CONVERGED);
    munit_assert_int(r.iterations, <=, 2); /* one step, and one of rounding at most */
    toy_gradient(&t, x, g);
    munit_assert_double(gap_newton__max(g, 10), <, 1e-13);
    munit_assert_int(t.converged_seen, ==, 1);
    munit_assert_int(r.rungs[GAP_NEWTON_PROJECTED], ==, r.iterations);
    return MUNIT_OK;
}

/* Non-convex quartics (double wells) with and without a wall: down to a point where the gradient
   vanishes and the raw Hessian is positive definite. */
static MunitResult random_minima(const MunitParameter params[], void *data)
{
    int k, i, count = util_count(300, 5000);
    (void)params, (void)data;
    for (k = 0; k < count; ++k) {
        toy t;
        double x[MOST], y[MOST], g[MOST], e;
        gap_newton_options o;
        gap_newton_result r;
        memset(&o, 0, sizeof o);
        random_toy(&t, munit_rand_int_range(1, MOST));
        t.wall = k % 2;
        t.floor = -1.0;
        o.raw_first = k % 3 == 0;
        o.armijo = k % 5 == 0 ? 1e-4 : 0.0;
        for (i = 0; i < t.n; ++i) {
            t.a[i] = util_uniform(-2.0, 1.0);
            t.q[i] = util_uniform(0.5, 2.0);
            x[i] = util_uniform(-0.99, 3.0);
        }
        munit_assert_int(run(&t, &o, x, &r), ==, GAP_NEWTON_CONVERGED);
        munit_assert_int(t.wrong_order, ==, 0);
        munit_assert_memory_equal((size_t)t.n * sizeof *x, x, t.seen);
        toy_gradient(&t, x, g);
        munit_assert_double(gap_newton__max(g, t.n), <, 1e-7);
        munit_assert_int(toy_energy(&t, x, &e), ==, 0);
        munit_assert_double(e, ==, r.energy);
        munit_assert_int(toy_solve(&t, x, g, 0, 1e-9, y), ==, 0);
    }
    return MUNIT_OK;
}

/* The bound is obeyed: no accepted point passes 0.8 of the gap, and no trial leaves it. */
static MunitResult bounded(const MunitParameter params[], void *data)
{
    toy t;
    double x[MOST];
    gap_newton_result r;
    int i;
    (void)params, (void)data;
    random_toy(&t, 8);
    t.wall = 1;
    t.mu = 1e-6;
    t.floor = 0.0;
    for (i = 0; i < 8; ++i) {
        x[i] = 5.0;
        t.c[i] = -3.0; /* pulled against the wall */
        t.q[i] = 0.0;
    }
    munit_assert_int(run(&t, NULL, x, &r), ==, GAP_NEWTON_CONVERGED);
    munit_assert_double(t.log[0].bound, <, 1.0);
    for (i = 0; i < t.accepts && i < 64; ++i) {
        munit_assert_double(t.log[i].alpha, <=, t.log[i].bound);
        munit_assert_int(t.log[i].number, ==, i);
    }
    for (i = 0; i < 8; ++i) munit_assert(x[i] > 0.0 && x[i] < 1e-6);
    return MUNIT_OK;
}

static MunitResult ladder(const MunitParameter params[], void *data)
{
    toy t;
    double x[MOST];
    gap_newton_options o;
    gap_newton_result r;
    double weight[MOST];
    int k, i;
    (void)params, (void)data;
    for (k = 0; k < 6; ++k) {
        memset(&o, 0, sizeof o);
        random_toy(&t, 6);
        for (i = 0; i < 6; ++i) {
            x[i] = t.c[i] + 0.1;
            weight[i] = 20.0;
        }
        t.coupling = 0.0;
        o.raw_first = 1;
        o.weight = weight;
        o.tol = 1e-9;
        if (k == 1) t.refuse_raw = 1;
        if (k == 2) t.refuse_below = 0.99e-5;
        if (k == 3) t.uphill = 1;
        if (k == 4) t.nan_direction = 1;
        if (k == 5) {
            t.refuse_all = 1;
            o.max_iter = 300;
        }
        munit_assert_int(run(&t, &o, x, &r), ==, k == 5 ? GAP_NEWTON_LIMIT : 0);
        for (i = 0; i < 6; ++i) munit_assert_double(fabs(x[i] - t.c[i]), <, k == 5 ? 1e-2 : 1e-8);
        if (k == 0) munit_assert_int(r.rungs[GAP_NEWTON_RAW], ==, r.iterations);
        if (k == 1) munit_assert_int(r.rungs[GAP_NEWTON_PROJECTED], ==, r.iterations);
        if (k >= 2 && k < 5) munit_assert_int(r.rungs[GAP_NEWTON_SHIFTED], ==, r.iterations);
        if (k == 5) munit_assert_int(r.rungs[GAP_NEWTON_GRADIENT], ==, 300);
        if (k == 1) munit_assert_int(t.log[0].solves, ==, 2);
        if (k == 2) munit_assert_double(fabs(t.log[0].shift / 1e-5 - 1.0), <, 1e-12);
        if (k == 2) munit_assert_int(t.log[0].solves, ==, 6); /* raw, projected, 1e-8 .. 1e-5 */
        if (k == 2) munit_assert_int(t.log[1].solves, ==, 5); /* begins at a hundredth */
    }
    munit_assert_string_equal(gap_newton_rung_name(GAP_NEWTON_RAW), "raw");
    munit_assert_string_equal(gap_newton_rung_name(GAP_NEWTON_PROJECTED), "projected");
    munit_assert_string_equal(gap_newton_rung_name(GAP_NEWTON_SHIFTED), "shifted");
    munit_assert_string_equal(gap_newton_rung_name(GAP_NEWTON_GRADIENT), "gradient");
    return MUNIT_OK;
}

/* An energy that rises wherever one goes: every rung is tried, then the end is reported, x kept. */
static MunitResult stalled(const MunitParameter params[], void *data)
{
    toy t;
    double x[MOST], x0[MOST];
    gap_newton_result r;
    int i;
    (void)params, (void)data;
    random_toy(&t, 5);
    t.lie = 1;
    for (i = 0; i < 5; ++i) x[i] = x0[i] = t.c[i] + 1.0;
    munit_assert_int(run(&t, NULL, x, &r), ==, GAP_NEWTON_STALLED);
    munit_assert_memory_equal(sizeof(double) * 5, x, x0);
    munit_assert_int(r.iterations, ==, 0);
    munit_assert_int(r.solves, ==, 4);         /* projected, shifts 1e-2, 1e2, 1e6 */
    munit_assert_int(r.halvings, >, 4 * 30);   /* and the gradient; tiny steps end in x + p == x */
    return MUNIT_OK;
}

/* Energies that are only known to 1e-13 of a large constant: the gradient decides. */
static MunitResult flat(const MunitParameter params[], void *data)
{
    toy t;
    double x[MOST], g[MOST];
    gap_newton_options o;
    gap_newton_result r;
    int i, seen = 0;
    (void)params, (void)data;
    memset(&o, 0, sizeof o);
    random_toy(&t, 6);
    t.quantum = 1e-7;
    o.noise = 1e-6;
    o.tol = 1e-13;
    for (i = 0; i < 6; ++i) x[i] = t.c[i] + 0.5;
    munit_assert_int(run(&t, &o, x, &r), ==, GAP_NEWTON_CONVERGED);
    toy_gradient(&t, x, g);
    munit_assert_double(gap_newton__max(g, 6), <, 1e-11);
    for (i = 0; i < t.accepts; ++i) seen += t.log[i].flat;
    munit_logf(MUNIT_LOG_INFO, "%d flat steps", seen);
    return MUNIT_OK;
}

/* Cancel at every possible moment: the code comes back, x is the last accepted point. */
static MunitResult cancel(const MunitParameter params[], void *data)
{
    int k, i, cancelled = 0;
    (void)params, (void)data;
    for (k = 1; k < 200; ++k) {
        toy t;
        double x[MOST];
        int status;
        munit_rand_seed(42);
        random_toy(&t, 4);
        for (i = 0; i < 4; ++i) t.seen[i] = x[i] = t.c[i] + 3.0;
        t.cancel_at = k;
        status = run(&t, NULL, x, NULL);
        munit_assert_memory_equal(4 * sizeof *x, x, t.seen);
        if (status == GAP_NEWTON_CONVERGED) break;
        munit_assert_int(status, ==, GAP_NEWTON_ECANCEL);
        cancelled++;
    }
    munit_assert_int(cancelled, >=, 3);
    munit_assert_int(k, <, 200);
    return MUNIT_OK;
}

static int bad_bound(void *user, const double *x, const double *p, double *alpha)
{
    (void)x, (void)p;
    *alpha = *(double *)user;
    return 0;
}

static int one_energy(void *user, const double *x, double *e)
{
    (void)user;
    *e = 0.5 * x[0] * x[0];
    return 0;
}

static int one_gradient(void *user, const double *x, double *g)
{
    (void)user;
    g[0] = x[0];
    return 0;
}

static int one_solve(void *user, const double *x, const double *g, int psd, double shift, double *p)
{
    (void)user, (void)x, (void)psd;
    p[0] = -g[0] / (1.0 + shift);
    return 0;
}

static int nan_gradient(void *user, const double *x, double *g)
{
    (void)user, (void)x;
    g[0] = (double)NAN;
    return 0;
}

static int not_yet(void *user, const double *x, const double *p)
{
    int *left = user;
    munit_assert_double(p[0], ==, -x[0]); /* the direction at x */
    return (*left)-- <= 0;
}

static MunitResult edges(const MunitParameter params[], void *data)
{
    static const double bounds[3] = {0.0, -1.0, NAN};
    gap_newton_problem f = {NULL, one_energy, one_gradient, one_solve, NULL, NULL, NULL};
    gap_newton_options o;
    gap_newton_result r;
    double x[MOST] = {1.0}, work[4 * MOST], u;
    toy t;
    int k;
    (void)params, (void)data;
    memset(&o, 0, sizeof o);
    for (k = 0; k < 3; ++k) {
        u = bounds[k];
        f.user = &u;
        f.bound = bad_bound;
        munit_assert_int(gap_newton_minimize(&f, NULL, 1, x, work, &r), ==, GAP_NEWTON_EBOUND);
        munit_assert_double(x[0], ==, 1.0);
    }
    f.bound = NULL;
    o.tol = 100.0; /* one step is made before the stop test counts ... */
    munit_assert_int(gap_newton_minimize(&f, &o, 1, x, work, &r), ==, GAP_NEWTON_CONVERGED);
    munit_assert_int(r.iterations, ==, 1);
    munit_assert_double(x[0], ==, 0.0);
    x[0] = 1.0;
    o.min_iter = -1; /* ... unless that is not wanted */
    munit_assert_int(gap_newton_minimize(&f, &o, 1, x, work, &r), ==, GAP_NEWTON_CONVERGED);
    munit_assert_int(r.iterations, ==, 0);
    munit_assert_double(r.step, ==, 1.0);
    k = 1; /* a step that a tolerance calls small, but the caller does not, is made */
    f.user = &k;
    o.small_enough = not_yet;
    munit_assert_int(gap_newton_minimize(&f, &o, 1, x, work, &r), ==, GAP_NEWTON_CONVERGED);
    munit_assert_int(r.iterations, ==, 1);
    munit_assert_double(x[0], ==, 0.0);
    x[0] = 1.0;
    o.small_enough = NULL;
    o.h = 1e-3; /* now a speed of 1000 */
    munit_assert_int(gap_newton_minimize(&f, &o, 1, x, work, &r), ==, GAP_NEWTON_CONVERGED);
    munit_assert_int(r.iterations, ==, 1);
    x[0] = (double)NAN;
    munit_assert_int(gap_newton_minimize(&f, NULL, 1, x, work, &r), ==, GAP_NEWTON_ENONFIN);
    x[0] = 1.0;
    f.gradient = nan_gradient;
    munit_assert_int(gap_newton_minimize(&f, NULL, 1, x, work, &r), ==, GAP_NEWTON_ENONFIN);
    f.gradient = one_gradient;
    random_toy(&t, 0); /* nothing to do */
    munit_assert_int(run(&t, NULL, x, &r), ==, GAP_NEWTON_CONVERGED);
    random_toy(&t, 3); /* infeasible start */
    t.wall = 1;
    t.floor = 10.0;
    x[0] = x[1] = x[2] = 0.0;
    munit_assert_int(run(&t, NULL, x, &r), ==, GAP_NEWTON_EINPUT);
    random_toy(&t, 3); /* a callback's own code */
    t.fail_energy_at = 2;
    munit_assert_int(run(&t, NULL, x, &r), ==, -77);
    random_toy(&t, 3);
    t.stop_at = 1;
    munit_assert_int(run(&t, NULL, x, &r), ==, GAP_NEWTON_STOPPED);
    munit_assert_int(r.iterations, ==, 1);
    return MUNIT_OK;
}

/* accept changes the energy in the middle, and after convergence: the last one is minimised. */
static MunitResult changing(const MunitParameter params[], void *data)
{
    toy t;
    double x[MOST] = {0}, g[MOST];
    gap_newton_result r;
    (void)params, (void)data;
    random_toy(&t, 6);
    t.change_at = 2;
    t.again = 3;
    munit_assert_int(run(&t, NULL, x, &r), ==, GAP_NEWTON_CONVERGED);
    munit_assert_int(t.again, ==, 0);
    toy_gradient(&t, x, g);
    munit_assert_double(gap_newton__max(g, 6), <, 1e-9);
    return MUNIT_OK;
}

/* Positions times s, energy times s^2: the same bits times s. */
static MunitResult scaling(const MunitParameter params[], void *data)
{
    static const int powers[3] = {0, -20, 20};
    double want[MOST];
    int k, i;
    (void)params, (void)data;
    for (k = 0; k < 3; ++k) {
        toy t;
        double x[MOST], s = ldexp(1.0, powers[k]);
        gap_newton_result r;
        munit_rand_seed(7);
        random_toy(&t, 7);
        for (i = 0; i < 7; ++i) {
            t.c[i] *= s;
            t.q[i] /= s * s;
            x[i] = 0.5 * s * i;
        }
        munit_assert_int(run(&t, NULL, x, &r), ==, GAP_NEWTON_CONVERGED);
        for (i = 0; i < 7; ++i) {
            if (k == 0) want[i] = x[i];
            munit_assert_double(x[i], ==, s * want[i]);
        }
    }
    return MUNIT_OK;
}

/* ---- a whole simulator: a net of springs falls on the floor z = 0 and comes to rest ---- */
enum { NET = 6, NODES = NET * NET, DOF = 3 * NODES, SPRINGS = 2 * NET * (NET - 1) };
static const double net_mass = 0.01, net_k = 50.0, net_dhat = 1e-2, net_kappa = 1e3, net_g = -9.81;

typedef struct net {
    gap_sparse A;
    gap_step S;
    int spring[2 * SPRINGS];
    double length[SPRINGS], target[DOF];
} net;

/* Barrier of the height z: kappa (z - dhat)^2 (-log(z / dhat)) and its derivatives. */
static double floor_barrier(double z, double *d1, double *d2)
{
    double u = z - net_dhat, l = log(z / net_dhat);
    *d1 = *d2 = 0.0;
    if (u >= 0.0) return 0.0;
    *d1 = net_kappa * (-2.0 * u * l - u * u / z);
    *d2 = net_kappa * (-2.0 * l - 4.0 * u / z + u * u / (z * z));
    return -net_kappa * u * u * l;
}

static int net_energy(void *user, const double *x, double *energy)
{
    net *N = (net *)user;
    double e = 0.0, w = N->S.weight, d1, d2;
    int i, c;
    for (i = 0; i < DOF; ++i) {
        e += 0.5 * net_mass * (x[i] - N->target[i]) * (x[i] - N->target[i]);
        if (i % 3 == 2 && !(x[i] > 0.0)) return 1;
        if (i % 3 == 2) e += w * floor_barrier(x[i], &d1, &d2);
    }
    for (i = 0; i < SPRINGS; ++i) {
        const double *a = x + 3 * N->spring[2 * i], *b = x + 3 * N->spring[2 * i + 1];
        double l2 = 0.0, r = N->length[i];
        for (c = 0; c < 3; ++c) l2 += (b[c] - a[c]) * (b[c] - a[c]);
        e += 0.5 * w * net_k * (sqrt(l2) - r) * (sqrt(l2) - r);
    }
    *energy = e;
    return 0;
}

/* Gradient piece and PSD block of a spring of rest length r: k [(1 - r/l)+ (I - nn^T) + nn^T]. */
static void spring_blocks(const net *N, int s, const double *x, double g[6], double H[36])
{
    const double *a = x + 3 * N->spring[2 * s], *b = x + 3 * N->spring[2 * s + 1];
    double n[3], l = 0.0, w = net_k, bend;
    int i, j;
    for (i = 0; i < 3; ++i) {
        n[i] = b[i] - a[i];
        l += n[i] * n[i];
    }
    l = sqrt(l);
    bend = fmax(0.0, 1.0 - N->length[s] / l);
    for (i = 0; i < 3; ++i) {
        g[3 + i] = w * (l - N->length[s]) * n[i] / l;
        g[i] = -g[3 + i];
        for (j = 0; j < 3; ++j) {
            double h = w * (n[i] * n[j] / (l * l) * (1.0 - bend) + (i == j ? bend : 0.0));
            H[6 * i + j] = H[6 * (i + 3) + j + 3] = h;
            H[6 * i + j + 3] = H[6 * (i + 3) + j] = -h;
        }
    }
}

static int net_gradient(void *user, const double *x, double *g)
{
    net *N = (net *)user;
    double piece[6], H[36], d1, d2;
    int i;
    for (i = 0; i < DOF; ++i) {
        g[i] = net_mass * (x[i] - N->target[i]);
        if (i % 3 != 2) continue;
        floor_barrier(x[i], &d1, &d2);
        g[i] += N->S.weight * d1;
    }
    for (i = 0; i < SPRINGS; ++i) {
        spring_blocks(N, i, x, piece, H);
        gap_sparse_add_vector(&N->A, 1, 2, N->spring + 2 * i, N->S.weight, piece, g);
    }
    return 0;
}

/* Conjugate gradients on the assembled matrix, far below any tolerance used here. */
static int net_solve(void *user, const double *x, const double *g, int psd, double shift, double *p)
{
    net *N = (net *)user;
    double piece[6], H[36], D[9], m[NODES], r[DOF], q[DOF], Aq[DOF], rr = 0.0, rr0, d1, d2;
    int i, k;
    (void)psd;
    gap_sparse_zero(&N->A);
    for (i = 0; i < NODES; ++i) {
        m[i] = net_mass;
        memset(D, 0, sizeof D);
        floor_barrier(x[3 * i + 2], &d1, &d2);
        D[8] = d2;
        gap_sparse_add(&N->A, 1, 1, &i, N->S.weight, D);
    }
    for (i = 0; i < SPRINGS; ++i) {
        spring_blocks(N, i, x, piece, H);
        if (gap_sparse_add(&N->A, 1, 2, N->spring + 2 * i, N->S.weight, H)) return -1;
    }
    gap_sparse_add_mass(&N->A, 1.0, m);
    if (shift > 0.0) gap_sparse_shift(&N->A, shift);
    for (i = 0; i < DOF; ++i) {
        p[i] = 0.0;
        q[i] = r[i] = -g[i];
        rr += r[i] * r[i];
    }
    for (rr0 = rr, k = 0; k < 20 * DOF && rr > 1e-28 * rr0; ++k) {
        double qAq = 0.0, next = 0.0;
        gap_sparse_multiply(&N->A, q, Aq);
        for (i = 0; i < DOF; ++i) qAq += q[i] * Aq[i];
        if (!(qAq > 0.0)) return 1;
        for (i = 0; i < DOF; ++i) {
            p[i] += rr / qAq * q[i];
            r[i] -= rr / qAq * Aq[i];
            next += r[i] * r[i];
        }
        for (i = 0; i < DOF; ++i) q[i] = r[i] + next / rr * q[i];
        rr = next;
    }
    return 0;
}

static int net_bound(void *user, const double *x, const double *p, double *alpha)
{
    int i;
    (void)user;
    for (i = 2; i < DOF; i += 3) {
        if (p[i] < 0.0) *alpha = fmin(*alpha, 0.9 * x[i] / -p[i]);
    }
    return 0;
}

/* At rest the floor carries the weight: sum of barrier forces = NODES m g. */
static MunitResult simulator(const MunitParameter params[], void *data)
{
    net *N = munit_new(net);
    gap_newton_problem f = {NULL, net_energy, net_gradient, net_solve, net_bound, NULL, NULL};
    gap_newton_options o;
    double x[DOF], v[DOF] = {0}, g[DOF] = {0}, work[4 * DOF], state[8 + 3 * DOF];
    double force = 0.0, d1, d2;
    int i, j, s = 0, step;
    (void)params, (void)data;
    memset(&o, 0, sizeof o);
    for (i = 0; i < NODES; ++i) {
        x[3 * i] = 0.1 * (i % NET) + util_uniform(0.0, 0.01);
        x[3 * i + 1] = 0.1 * (i / NET) + util_uniform(0.0, 0.01);
        x[3 * i + 2] = 0.05 + util_uniform(0.0, 0.05);
        g[3 * i + 2] = net_g;
        for (j = 0; j < 2; ++j) {
            if ((j ? i / NET : i % NET) == NET - 1) continue;
            N->spring[2 * s] = i;
            N->spring[2 * s + 1] = i + (j ? NET : 1);
            N->length[s++] = 0.1;
        }
    }
    f.user = N;
    o.h = 0.02;
    o.tol = 1e-7;
    gap_sparse_init(&N->A, NODES, 3, NULL);
    gap_sparse_link(&N->A, SPRINGS, 2, N->spring);
    gap_sparse_build(&N->A);
    gap_step_init(&N->S, NULL, DOF, x, v, NULL, state);
    for (step = 0; step < 150; ++step) {
        gap_step_begin(&N->S, o.h, g, N->target);
        munit_assert_int(gap_newton_minimize(&f, &o, DOF, x, work, NULL), ==, 0);
        gap_step_end(&N->S, x);
        for (i = 2; i < DOF; i += 3) munit_assert_double(x[i], >, 0.0);
    }
    for (i = 2; i < DOF; i += 3) {
        floor_barrier(x[i], &d1, &d2);
        force -= d1;
    }
    munit_assert_double(gap_newton__max(N->S.v, DOF), <, 1e-2);
    util_assert_rel(force, -net_g * net_mass * NODES, 1e-2);
    gap_sparse_free(&N->A);
    free(N);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/quadratic", quadratic, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/random_minima", random_minima, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/bounded", bounded, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/ladder", ladder, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/stalled", stalled, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/flat", flat, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/cancel", cancel, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/edge/all", edges, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/changing", changing, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/simulator", simulator, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/scaling", scaling, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

static const MunitSuite suite = {"/newton", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
