/* test_rigid_ccd.c - gap_rigid_ccd.h: dense sampling in long double, special turns, boxes and trees
   by brute force, and the interval bound beside the closed form */
#define GAP_RIGID_CCD_IMPLEMENTATION
#define GAP_CCD_IMPLEMENTATION
#define GAP_ACCD_IMPLEMENTATION
#include "gap_accd.h"
#include "gap_ccd.h"
#include "gap_rigid_ccd.h"
#include "pool.h"
#include "util.h"

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* ---------------------------------------------------------------- oracles in long double */

/* x(t) by turning the vector about its axis: v cos + (k x v) sin + k (k.v) (1 - cos). */
static void ld_at(const gap_rigid_ccd_motion *m, long double t, const double *X, int dim,
    long double x[3])
{
    long double v[3], k[3], angle = 0, dot = 0;
    int i, j;
    for (i = 0; i < 3; ++i) {
        k[i] = (long double)m->theta[0][i] + t * ((long double)m->theta[1][i] - m->theta[0][i]);
        angle += k[i] * k[i];
        for (v[i] = 0, j = 0; j < dim; ++j) v[i] += (long double)m->Q[3 * i + j] * X[j];
    }
    angle = sqrtl(angle);
    for (i = 0; i < 3; ++i) k[i] = angle > 0 ? k[i] / angle : 0, dot += k[i] * v[i];
    for (i = 0; i < 3; ++i) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        long double s = sinl(angle / 2);
        x[i] = v[i] * (1 - 2 * s * s) + (k[a] * v[b] - k[b] * v[a]) * sinl(angle)
            + k[i] * dot * 2 * s * s + m->q[0][i] + t * ((long double)m->q[1][i] - m->q[0][i]);
    }
}

static long double ld_dot(const long double *a, const long double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static long double ld_point_segment(const long double *p, const long double *a,
    const long double *b)
{
    long double e[3], w[3], t, len;
    int i;
    for (i = 0; i < 3; ++i) e[i] = b[i] - a[i], w[i] = p[i] - a[i];
    len = ld_dot(e, e);
    t = len > 0 ? ld_dot(w, e) / len : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (i = 0; i < 3; ++i) w[i] -= t * e[i];
    return sqrtl(ld_dot(w, w));
}

/* Distance: the least over sides, and the inside where the projection falls there. */
static long double ld_distance(int kind, long double x[4][3])
{
    long double u[3], v[3], w[3], a, b, c, d, e, D, s, t, best;
    int i;
    if (kind == 0) return ld_point_segment(x[0], x[1], x[1]);
    if (kind == 1) return ld_point_segment(x[0], x[1], x[2]);
    if (kind == 2) {
        best = fminl(ld_point_segment(x[0], x[1], x[2]), ld_point_segment(x[0], x[2], x[3]));
        best = fminl(best, ld_point_segment(x[0], x[3], x[1]));
        for (i = 0; i < 3; ++i) u[i] = x[2][i] - x[1][i], v[i] = x[3][i] - x[1][i],
            w[i] = x[0][i] - x[1][i];
    } else {
        best = fminl(ld_point_segment(x[0], x[2], x[3]), ld_point_segment(x[1], x[2], x[3]));
        best = fminl(best, ld_point_segment(x[2], x[0], x[1]));
        best = fminl(best, ld_point_segment(x[3], x[0], x[1]));
        for (i = 0; i < 3; ++i) u[i] = x[1][i] - x[0][i], v[i] = x[2][i] - x[3][i],
            w[i] = x[2][i] - x[0][i];
    }
    a = ld_dot(u, u), b = ld_dot(u, v), c = ld_dot(v, v), d = ld_dot(u, w), e = ld_dot(v, w);
    D = a * c - b * b;
    if (!(D > 1e-16L * a * c)) return best;
    s = (c * d - b * e) / D, t = (a * e - b * d) / D;
    if (s < 0 || t < 0 || (kind == 2 ? s + t > 1 : s > 1 || t > 1)) return best;
    for (i = 0; i < 3; ++i) w[i] -= s * u[i] + t * v[i];
    return fminl(best, sqrtl(ld_dot(w, w)));
}

static const int points_of[4] = {2, 3, 4, 4}, first_of[4] = {1, 1, 1, 2};

typedef struct query {
    int dim, kind;
    gap_rigid_ccd_motion m[2];
    double X[12];
} query;

static long double ld_gap(const query *q, long double t)
{
    long double x[4][3];
    int i;
    for (i = 0; i < points_of[q->kind]; ++i) {
        ld_at(&q->m[i >= first_of[q->kind]], t, q->X + q->dim * i, q->dim, x[i]);
    }
    return ld_distance(q->kind, x);
}

/* ---------------------------------------------------------------- the bound */

static void random_motion(gap_rigid_ccd_motion *m, int dim, double move, double turn, double base)
{
    double Q[9], u0[6], u1[6], d[3];
    int n = dim == 3 ? 3 : 1, c;
    util_rotation(Q);
    if (dim == 2) {
        double a = util_uniform(-3, 3), R[9] = {cos(a), -sin(a), 0, sin(a), cos(a), 0, 0, 0, 1};
        memcpy(Q, R, sizeof Q);
    }
    util_unit(d, dim);
    for (c = 0; c < dim; ++c) u0[c] = util_uniform(-1, 1), u1[c] = u0[c] + move * d[c];
    util_unit(d, n);
    for (c = 0; c < n; ++c) u0[dim + c] = base * d[c];
    util_unit(d, n);
    for (c = 0; c < n; ++c) u1[dim + c] = u0[dim + c] + turn * d[c];
    munit_assert_int(gap_rigid_ccd_set(m, dim, Q, u0, u1), ==, 0);
}

/* 10^6 random trajectories in the slow run: the bound is never below the true deviation. */
static MunitResult deviation_bound(const MunitParameter params[], void *data)
{
    int rep, n = util_count(20000, 1000000), k, c;
    double top = 0;
    (void)params, (void)data;
    for (rep = 0; rep < n; ++rep) {
        gap_rigid_ccd_motion m;
        double X[3], r, bound, turn = pow(10, util_uniform(-6, 0.8)), t0, t1;
        long double a[3], b[3];
        random_motion(&m, 3, util_uniform(0, 2), turn, rep & 1 ? 0 : util_uniform(0, 7));
        util_points(X, 1, 3, 2);
        if (rep & 2) { /* across the axis and plane: where the bound is reached */
            double w[3], s = 0, y[3];
            for (c = 0; c < 3; ++c) w[c] = (m.theta[1][c] - m.theta[0][c]) / turn;
            for (c = 0; c < 3; ++c)
                y[c] = m.Q[3 * c] * X[0] + m.Q[3 * c + 1] * X[1] + m.Q[3 * c + 2] * X[2];
            for (c = 0; c < 3; ++c) s += w[c] * y[c];
            for (c = 0; c < 3; ++c) y[c] -= s * w[c];
            for (c = 0; c < 3; ++c)
                X[c] = m.Q[c] * y[0] + m.Q[3 + c] * y[1] + m.Q[6 + c] * y[2];
        }
        t0 = rep & 4 ? util_uniform(0, 1) : 0;
        t1 = rep & 4 ? util_uniform(t0, 1) : 1;
        r = sqrt(X[0] * X[0] + X[1] * X[1] + X[2] * X[2]);
        bound = gap_rigid_ccd_deviation(&m, r, t0, t1);
        ld_at(&m, t0, X, 3, a);
        ld_at(&m, t1, X, 3, b);
        for (k = 1; k < 8; ++k) {
            long double s = k / 8.0L, x[3], off = 0;
            ld_at(&m, t0 + s * ((long double)t1 - t0), X, 3, x);
            for (c = 0; c < 3; ++c) off += powl(x[c] - (a[c] + s * (b[c] - a[c])), 2);
            off = sqrtl(off);
            /* 1e-17: rounding of the oracle and of t0, t1 */
            munit_assert_double((double)off, <=, bound * (1 + 1e-14) + 1e-17 * (1 + r));
            if (bound > 1e-11) top = fmax(top, (double)off / bound);
        }
    }
    munit_logf(MUNIT_LOG_INFO, "%d trajectories, largest true/bound %.7f", n, top);
    munit_assert_double(top, >=, 0.999);
    return MUNIT_OK;
}

/* Boxes in the frame of another body, and of whole bodies, hold every sampled position. */
static MunitResult boxes_hold(const MunitParameter params[], void *data)
{
    int rep, n = util_count(5000, 100000), k, c, i, dim;
    double tight = 0;
    (void)params, (void)data;
    for (rep = 0; rep < n; ++rep) {
        gap_rigid_ccd_motion A, B;
        double X[9], lo[3], hi[3], wlo[3], whi[3], x0[9], x1[9], grow[3], size = 0, box = 0;
        double turn = pow(10, util_uniform(-4, 0.8)), slo[3] = {9e9, 9e9, 9e9};
        double shi[3] = {-9e9, -9e9, -9e9};
        dim = 2 + (rep & 1);
        random_motion(&A, dim, util_uniform(0, 1), turn, rep & 2 ? 0 : 2);
        random_motion(&B, dim, util_uniform(0, 1), pow(10, util_uniform(-4, 0.8)), rep & 2 ? 0 : 2);
        util_points(X, 3, dim, 1);
        gap_rigid_ccd_relative_box(&A, &B, dim, 3, X, 0, lo, hi);
        gap_rigid_ccd_body_box(&A, dim, 3, X, 0, wlo, whi);
        gap_rigid_ccd_grow(&A, dim, 3, X, x0, x1, grow);
        for (k = 0; k <= 32; ++k) {
            long double t = k / 32.0L;
            for (i = 0; i < 3; ++i) {
                long double x[3], z[3], w[3] = {0, 0, 0};
                ld_at(&A, t, X + dim * i, dim, x);
                for (c = 0; c < dim; ++c) {
                    double low = fmin(x0[dim * i + c], x1[dim * i + c]);
                    double high = fmax(x0[dim * i + c], x1[dim * i + c]);
                    munit_assert_double((double)x[c], >=, wlo[c]);
                    munit_assert_double((double)x[c], <=, whi[c]);
                    munit_assert_double((double)x[c], >=, low - grow[i]);
                    munit_assert_double((double)x[c], <=, high + grow[i]);
                }
                /* body frame of B: columns of its rotation are images of the unit vectors */
                for (c = 0; c < dim; ++c) {
                    double e[3] = {0, 0, 0}, zero[3] = {0, 0, 0};
                    long double at[3], o[3];
                    e[c] = 1;
                    ld_at(&B, t, e, dim, at);
                    ld_at(&B, t, zero, dim, o);
                    for (w[c] = 0, z[0] = 0; z[0] < dim; z[0] += 1) {
                        int d = (int)z[0];
                        w[c] += (at[d] - o[d]) * (x[d] - o[d]);
                    }
                    munit_assert_double((double)w[c], >=, lo[c]);
                    munit_assert_double((double)w[c], <=, hi[c]);
                    slo[c] = fmin(slo[c], (double)w[c]);
                    shi[c] = fmax(shi[c], (double)w[c]);
                }
            }
        }
        for (c = 0; c < dim; ++c) size += shi[c] - slo[c], box += hi[c] - lo[c];
        tight += box / size;
    }
    munit_logf(MUNIT_LOG_INFO, "relative boxes are %.3f times the sampled ones in the mean",
        tight / n);
    munit_assert_double(tight / n, <, 2.0);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- curved CCD */

/* A pair of primitives near each other at t = 0, on bodies whose centres are up to `arm` away. */
static void random_query(query *q, int dim, int kind, double gap, double turn, double move)
{
    double x[12], d[3];
    int i, c, e, b;
    memset(q, 0, sizeof *q);
    q->dim = dim;
    q->kind = kind;
    util_points(x, points_of[kind], dim, 0.3);
    util_unit(d, dim);
    for (b = 0; b < 2; ++b) random_motion(&q->m[b], dim, 0, turn * (b ? 0.5 : 1), b ? 1.0 : 0.0);
    for (i = 0; i < points_of[kind]; ++i) { /* sides at least `gap` apart along d */
        double s = 0, want = i < first_of[kind] ? gap / 2 : -gap / 2;
        for (c = 0; c < dim; ++c) s += x[dim * i + c] * d[c];
        if (i != 0 && i != first_of[kind]) want += (want > 0 ? 0.5 : -0.5) * fabs(s);
        for (c = 0; c < dim; ++c) x[dim * i + c] += (want - s) * d[c];
    }
    for (b = 0; b < 2; ++b) {
        gap_rigid_ccd_motion *m = &q->m[b];
        for (c = 0; c < dim; ++c) {
            m->q[0][c] = util_uniform(-1, 1);
            m->q[1][c] = m->q[0][c] + (b ? 0.5 : -1) * move * d[c] * util_uniform(0, 1);
        }
        m->reach = 2 + move;
        for (i = 0; i < points_of[kind]; ++i) { /* pull the point back into the body */
            double A[9], p[3], y[3] = {0, 0, 0};
            if ((i >= first_of[kind]) != b) continue;
            gap_rigid_ccd__pose(m, 0, A, p);
            for (c = 0; c < dim; ++c) y[c] = x[dim * i + c] - p[c];
            for (e = 0; e < dim; ++e) {
                q->X[dim * i + e] = A[e] * y[0] + A[3 + e] * y[1] + A[6 + e] * y[2];
            }
        }
    }
}

/* First sampled time at which the distance is at most d, refined by bisection; 2: never. */
static double first_time(const query *q, double d, int samples)
{
    int k, i;
    for (k = 1; k <= samples; ++k) {
        if (ld_gap(q, (long double)k / samples) <= d) {
            long double lo = (k - 1.0L) / samples, hi = (long double)k / samples;
            for (i = 0; i < 50; ++i) {
                long double mid = (lo + hi) / 2;
                if (ld_gap(q, mid) <= d) hi = mid;
                else lo = mid;
            }
            return (double)lo;
        }
    }
    return 2;
}

static MunitResult no_miss(const MunitParameter params[], void *data)
{
    int rep, n = util_count(3000, 200000), hits = 0, free_count = 0, most = 0, late = 0;
    double tight = 0, tight_count = 0, queries = 0;
    gap_rigid_ccd_options opt = {gap_ccd_pair, NULL, 0, 0};
    (void)params, (void)data;
    for (rep = 0; rep < n; ++rep) {
        int dim = rep % 3 == 2 ? 2 : 3, kind = dim == 2 ? rep & 1 : rep & 3, status, pieces, k;
        double gap = pow(10, util_uniform(-8, -1)), turn = pow(10, util_uniform(-3, 0.8));
        double dmin = rep & 8 ? 0 : gap * pow(10, util_uniform(-2, 3)), toi, d0, target, t, part;
        query q;
        opt.linear = rep % 5 == 4 ? gap_accd_pair : gap_ccd_pair;
        random_query(&q, dim, kind, gap + dmin, turn, util_uniform(0, 0.5));
        d0 = (double)ld_gap(&q, 0);
        if (d0 - dmin < 1e-8 * dmin + 1e-12) continue;
        status = gap_rigid_ccd_query(&opt, dim, kind, &q.m[0], &q.m[1], q.X, dmin, 1, &toi,
            &pieces);
        munit_assert_int(status, >=, 0);
        munit_assert_int(status, !=, GAP_RIGID_CCD_CLOSE);
        munit_assert_double(toi, >, 0);
        munit_assert_double(toi, <=, 1);
        target = dmin + 0.2 * (d0 - dmin);
        for (k = 0; k <= 200; ++k) { /* dense at the end, where it is closest */
            long double s = k <= 100 ? k / 100.0L : 1 - powl(10, -(k - 100) / 10.0L);
            long double d = ld_gap(&q, s * (long double)toi);
            munit_assert_double((double)(d - target), >, -1e-8 * target - 1e-13);
        }
        hits += status != 0;
        free_count += status == 0;
        queries += pieces;
        most = pieces > most ? pieces : most;
        if (rep % 8 != 0 || status == 0) continue;
        t = first_time(&q, target, 400);
        part = t > 1 ? 0 : toi / t;
        late += t <= 1 && toi > t * (1 + 1e-6) + 1e-9;
        if (t <= 1) tight += part, tight_count += 1;
    }
    munit_logf(MUNIT_LOG_INFO, "%d hits, %d free, %.3f linear queries each, at most %d", hits,
        free_count, queries / n, most);
    munit_logf(MUNIT_LOG_INFO, "toi is %.4f of the sampled time in the mean over %g hits",
        tight / tight_count, tight_count);
    munit_assert_int(hits, >, n / 10);
    munit_assert_int(free_count, >, n / 10);
    munit_assert_int(late, ==, 0);
    munit_assert_double(tight / tight_count, >, 0.5);
    return MUNIT_OK;
}

static void turn_about_z(query *q, int kind, double turn, const double *X, int n)
{
    double u0[6] = {0, 0, 0, 0, 0, 0}, u1[6] = {0, 0, 0, 0, 0, 0};
    memset(q, 0, sizeof *q);
    q->dim = 3;
    q->kind = kind;
    memcpy(q->X, X, (size_t)(3 * n) * sizeof *X);
    gap_rigid_ccd_set(&q->m[1], 3, identity, u0, u0);
    u1[5] = turn;
    gap_rigid_ccd_set(&q->m[0], 3, identity, u0, u1);
}

static MunitResult special_turns(const MunitParameter params[], void *data)
{
    /* edge-edge: a rod of length 2 turns in z = 0 towards a short vertical edge at (-1/2, 0.8, 0),
       that it meets at mid-turn of angle about 2 atan2(0.8, -0.5) */
    double rod[12] = {-1, 0, 0, 1, 0, 0, -0.5, 0.8, -0.2, -0.5, 0.8, 0.2};
    /* vertex 1 m from the pivot passes a point at 1 + g on the way: grazing */
    double graze[6] = {1, 0, 0, 0, 1, 0};
    double turn, toi, g, angle = atan2(0.8, -0.5);
    gap_rigid_ccd_options opt = {gap_ccd_pair, NULL, -1, 0};
    query q;
    int k, status;
    (void)params, (void)data;
    for (k = 1; k <= 3; ++k) { /* up to a whole turn and more; exact: angle / turn */
        turn = k * 3.0;
        turn_about_z(&q, 3, turn, rod, 4);
        status = gap_rigid_ccd_pair(&opt, 3, 3, &q.m[0], &q.m[1], q.X, 0, 1, &toi);
        munit_assert_int(status, ==, GAP_RIGID_CCD_HIT);
        munit_assert_double(toi, <, angle / turn);
        munit_assert_double(toi, >, 0.9 * angle / turn);
    }
    for (g = 0.2; g > 1e-9; g /= 10) { /* passes at a distance g: free if above a tenth of 1.5 */
        graze[4] = 1 + g;
        turn_about_z(&q, 0, 3, graze, 2);
        status = gap_rigid_ccd_pair(&opt, 3, 0, &q.m[0], &q.m[1], q.X, 0, 1, &toi);
        if (g > 0.16) munit_assert_int(status, ==, GAP_RIGID_CCD_FREE);
        munit_assert_double(toi, >, 0.45); /* quarter turn of 3: 0.5236 */
        status = gap_rigid_ccd_pair(&opt, 3, 0, &q.m[0], &q.m[1], q.X, 2 * g, 1, &toi);
        munit_assert_int(status, ==, GAP_RIGID_CCD_HIT);
        munit_assert_double(toi, <, 0.5236);
    }
    graze[4] = 1.5; /* a whole turn beside a point that is never met: free */
    turn_about_z(&q, 0, 6.283185, graze, 2);
    munit_assert_int(gap_rigid_ccd_pair(&opt, 3, 0, &q.m[0], &q.m[1], q.X, 0.4, 1, &toi), ==, 0);
    munit_assert_double(toi, ==, 1);
    return MUNIT_OK;
}

/* Tiny gaps never answer 0; a hit has used up nine tenths of the gap, whatever the span. */
static MunitResult spans_and_gaps(const MunitParameter params[], void *data)
{
    gap_rigid_ccd_options opt = {gap_ccd_pair, NULL, 0, 0};
    int rep, close = 0, hits = 0;
    (void)params, (void)data;
    for (rep = 0; rep < util_count(2000, 50000); ++rep) {
        double gap = pow(10, util_uniform(-8, -2)), toi, t = util_uniform(0.05, 1), d0, left;
        int kind = rep & 3, status, pieces;
        query q;
        random_query(&q, 3, kind, gap, pow(10, util_uniform(-3, 0.5)), 0.3);
        if (rep & 4) t = 1;
        status = gap_rigid_ccd_query(&opt, 3, kind, &q.m[0], &q.m[1], q.X, 0, t, &toi, &pieces);
        munit_assert_int(pieces, <=, 100);
        munit_assert_double(toi, >, 0);
        munit_assert_double(toi, <=, t);
        d0 = (double)ld_gap(&q, 0);
        left = (double)ld_gap(&q, toi) - 0.2 * d0;
        if (status == GAP_RIGID_CCD_HIT)
            munit_assert_double(left, <=, 0.1 * 0.8 * d0 * (1 + 1e-6) + 1e-13);
        else munit_assert_double(toi, ==, t);
        hits += status == GAP_RIGID_CCD_HIT;
        close += status != GAP_RIGID_CCD_HIT && status != GAP_RIGID_CCD_FREE;
    }
    munit_assert_int(close, ==, 0);
    munit_assert_int(hits, >, 100);
    return MUNIT_OK;
}

/* The answer for t_max is that for 1, cut off: so it grows with t_max and nothing else depends. */
static MunitResult monotone(const MunitParameter params[], void *data)
{
    gap_rigid_ccd_options opt = {gap_ccd_pair, NULL, 0, 0};
    int rep, k, cut = 0, kept = 0;
    (void)params, (void)data;
    for (rep = 0; rep < util_count(3000, 100000); ++rep) {
        int dim = rep % 5 == 4 ? 2 : 3, kind = dim == 2 ? rep & 1 : rep & 3, status;
        double gap = pow(10, util_uniform(-8, -1)), whole, toi;
        double dmin = rep & 8 ? 0 : gap * util_uniform(0, 3);
        query q;
        opt.linear = rep % 3 == 2 ? gap_accd_pair : gap_ccd_pair;
        random_query(&q, dim, kind, gap + dmin, pow(10, util_uniform(-3, 0.8)), 0.3);
        status = gap_rigid_ccd_pair(&opt, dim, kind, &q.m[0], &q.m[1], q.X, dmin, 1, &whole);
        if (status == GAP_RIGID_CCD_CLOSE) continue;
        for (k = 1; k <= 8; ++k) {
            double t = k == 8 ? whole : whole * util_uniform(0, 2);
            int s;
            t = t > 1 ? 1 : t;
            s = gap_rigid_ccd_pair(&opt, dim, kind, &q.m[0], &q.m[1], q.X, dmin, t, &toi);
            munit_assert_double(toi, ==, fmin(t, whole));
            munit_assert_int(s, ==, t <= whole ? GAP_RIGID_CCD_FREE : status);
            cut += t <= whole, kept += t > whole;
        }
    }
    munit_assert_int(cut, >, 1000);
    munit_assert_int(kept, >, 1000);
    return MUNIT_OK;
}

/* Lengths times 2^k, k = -20 .. 20: the same answer, bit for bit; boxes times 2^k. */
static MunitResult scaled(const MunitParameter params[], void *data)
{
    gap_rigid_ccd_options opt = {gap_ccd_pair, NULL, 0, 0};
    int rep, k, i, c, b, hits = 0;
    (void)params, (void)data;
    for (rep = 0; rep < util_count(1000, 50000); ++rep) {
        int dim = rep % 5 == 4 ? 2 : 3, kind = dim == 2 ? rep & 1 : rep & 3, status;
        double gap = pow(10, util_uniform(-7, -1)), dmin = rep & 8 ? 0 : gap, toi, lo[3], hi[3];
        query q;
        opt.linear = rep % 3 == 2 ? gap_accd_pair : gap_ccd_pair;
        random_query(&q, dim, kind, gap + dmin, pow(10, util_uniform(-3, 0.8)), 0.3);
        status = gap_rigid_ccd_pair(&opt, dim, kind, &q.m[0], &q.m[1], q.X, dmin, 1, &toi);
        gap_rigid_ccd_relative_box(&q.m[0], &q.m[1], dim, 1, q.X, gap, lo, hi);
        hits += status == GAP_RIGID_CCD_HIT;
        for (k = -20; k <= 20; k += 10) {
            double s = ldexp(1, k), t, a[3], z[3];
            query w = q;
            for (i = 0; i < 12; ++i) w.X[i] *= s;
            for (b = 0; b < 2; ++b) {
                for (c = 0; c < 3; ++c) w.m[b].q[0][c] *= s, w.m[b].q[1][c] *= s;
                w.m[b].reach *= s;
            }
            munit_assert_int(gap_rigid_ccd_pair(&opt, dim, kind, &w.m[0], &w.m[1], w.X, dmin * s, 1,
                &t), ==, status);
            munit_assert_double(t, ==, toi);
            gap_rigid_ccd_relative_box(&w.m[0], &w.m[1], dim, 1, w.X, gap * s, a, z);
            for (c = 0; c < dim; ++c) {
                munit_assert_double(a[c], ==, lo[c] * s);
                munit_assert_double(z[c], ==, hi[c] * s);
            }
        }
    }
    munit_assert_int(hits, >, 100);
    return MUNIT_OK;
}

static int always_zero(void *user, int dim, int kind, const double *p0, const double *p1,
    double min_distance, double t_max, double *toi)
{
    (void)user, (void)dim, (void)kind, (void)p0, (void)p1, (void)min_distance, (void)t_max;
    *toi = 0;
    return 2;
}

static int always_error(void *user, int dim, int kind, const double *p0, const double *p1,
    double min_distance, double t_max, double *toi)
{
    (void)user, (void)dim, (void)kind, (void)p0, (void)p1, (void)min_distance, (void)t_max;
    *toi = 0;
    return -6;
}

static MunitResult edge_cases(const MunitParameter params[], void *data)
{
    gap_rigid_ccd_options opt = {gap_ccd_pair, NULL, 0, 0};
    double X[6] = {1, 0, 0, 0, 1, 0}, toi = 5, u[6] = {0, 0, 0, 0, 0, 0}, huge[6];
    gap_rigid_ccd_motion bad;
    query q;
    (void)params, (void)data;
    turn_about_z(&q, 0, 3, X, 2);
#define ASK(kind, dmin, tmax) \
    gap_rigid_ccd_pair(&opt, 3, kind, &q.m[0], &q.m[1], q.X, dmin, tmax, &toi)
    munit_assert_int(ASK(4, 0, 1), ==, GAP_RIGID_CCD_EINPUT);
    munit_assert_double(toi, ==, 0);
    munit_assert_int(ASK(0, -1, 1), ==, GAP_RIGID_CCD_EINPUT);
    munit_assert_int(ASK(0, 0, 2), ==, GAP_RIGID_CCD_EINPUT);
    munit_assert_int(ASK(0, 0, NAN), ==, GAP_RIGID_CCD_EINPUT);
    munit_assert_int(ASK(0, 2, 1), ==, GAP_RIGID_CCD_CLOSE);
    munit_assert_double(toi, ==, 0);
    munit_assert_int(ASK(0, 0, 0), ==, GAP_RIGID_CCD_FREE);
    munit_assert_double(toi, ==, 0);
    q.X[0] = NAN;
    munit_assert_int(ASK(0, 0, 1), ==, GAP_RIGID_CCD_ENONFIN);
    q.X[0] = 0, q.X[1] = 1; /* on top of each other */
    munit_assert_int(ASK(0, 0, 1), ==, GAP_RIGID_CCD_CLOSE);
    turn_about_z(&q, 0, 3, X, 2);
    opt.linear = always_zero; /* a linear query that never says more: still some way is safe */
    munit_assert_int(ASK(0, 0, 1), >, 0);
    munit_assert_double(toi, >, 0.3); /* at least 0.8 sqrt 2 / 3 */
    opt.linear = always_error;
    munit_assert_int(ASK(0, 0, 1), ==, -6);
    munit_assert_double(toi, ==, 0);
    opt.linear = gap_ccd_pair;
    opt.max_pieces = 1;
    opt.keep = -1;
    X[4] = 1.0001;
    turn_about_z(&q, 0, 3, X, 2);
    munit_assert_int(ASK(0, 0, 1), ==, GAP_RIGID_CCD_BUDGET);
    munit_assert_double(toi, >, 0);
    u[4] = NAN;
    munit_assert_int(gap_rigid_ccd_set(&bad, 3, identity, u, u), ==, GAP_RIGID_CCD_ENONFIN);
    memset(huge, 0, sizeof huge);
    huge[5] = 1e5; /* 16 000 turns: the budget ends it, safely */
    opt.max_pieces = 0;
    u[4] = 0;
    gap_rigid_ccd_set(&q.m[0], 3, identity, u, huge);
    munit_assert_int(ASK(0, 0, 1), >, 0);
    munit_assert_double(toi, >, 0);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- the interval bound beside it */

/* What interval arithmetic can at best give for one vertex on [a, b]: range of x(s) minus range of
   the chord, componentwise, as if both were known exactly. (Real intervals are wider.) */
static double interval_bound(const gap_rigid_ccd_motion *m, const double *X, double a, double b)
{
    double lo[3] = {9e9, 9e9, 9e9}, hi[3] = {-9e9, -9e9, -9e9}, x0[3], x1[3], x[3], sum = 0;
    int k, c;
    gap_rigid_ccd_at(m, 3, a, X, x0);
    gap_rigid_ccd_at(m, 3, b, X, x1);
    for (k = 0; k <= 8; ++k) {
        gap_rigid_ccd_at(m, 3, a + (b - a) * k / 8, X, x);
        for (c = 0; c < 3; ++c) lo[c] = fmin(lo[c], x[c]), hi[c] = fmax(hi[c], x[c]);
    }
    for (c = 0; c < 3; ++c) {
        double e = fmax(hi[c] - fmin(x0[c], x1[c]), fmax(x0[c], x1[c]) - lo[c]);
        sum += e * e;
    }
    return sqrt(sum);
}

/* Algorithm 4.1 of Ferguson's thesis with that bound; returns the number of linear queries. */
static int interval_ccd(const query *q, double *toi)
{
    double stack[1100], t0 = 0;
    int top = 1, n = 1, linear = 0, i, c;
    stack[0] = 1;
    *toi = 1;
    while (top > 0) {
        double t1 = stack[top - 1], b[2] = {0, 0}, d = (double)ld_gap(q, t0), p0[12], p1[12], hit;
        for (i = 0; i < points_of[q->kind]; ++i) {
            int s = i >= first_of[q->kind];
            b[s] = fmax(b[s], interval_bound(&q->m[s], q->X + 3 * i, t0, t1));
        }
        if (b[0] + b[1] >= 0.5 * d && (n < 1000 || t0 == 0) && top < 1090) {
            stack[top++] = t0 + (t1 - t0) / 2;
            ++n;
            continue;
        }
        for (i = 0; i < points_of[q->kind]; ++i) {
            const gap_rigid_ccd_motion *m = &q->m[i >= first_of[q->kind]];
            double x[3];
            gap_rigid_ccd_at(m, 3, t0, q->X + 3 * i, x);
            for (c = 0; c < 3; ++c) p0[3 * i + c] = x[c];
            gap_rigid_ccd_at(m, 3, t1, q->X + 3 * i, x);
            for (c = 0; c < 3; ++c) p1[3 * i + c] = x[c];
        }
        ++linear;
        if (gap_ccd_pair(NULL, 3, q->kind, p0, p1, b[0] + b[1], 1, &hit) != 0) {
            *toi = t0 + hit * (t1 - t0);
            return linear;
        }
        --top;
        t0 = t1;
        d = (double)ld_gap(q, t0);
        if (t0 >= 1e-6 && d < 0.2 * (double)ld_gap(q, 0)) {
            *toi = t0;
            return linear;
        }
    }
    return linear;
}

static MunitResult fewer_queries(const MunitParameter params[], void *data)
{
    gap_rigid_ccd_options opt = {gap_ccd_pair, NULL, 0, 0};
    double ours = 0, theirs = 0, later = 0;
    int rep, n = util_count(400, 20000);
    (void)params, (void)data;
    for (rep = 0; rep < n; ++rep) { /* a contact solver's steps: gaps of 0.1 to 10 mm */
        double gap = pow(10, util_uniform(-4, -2)), turn = pow(10, util_uniform(-3, -1)), a, b;
        int kind = 2 + (rep & 1), pieces;
        query q;
        random_query(&q, 3, kind, gap, turn, util_uniform(0, 3 * gap));
        gap_rigid_ccd_query(&opt, 3, kind, &q.m[0], &q.m[1], q.X, 0, 1, &a, &pieces);
        ours += pieces;
        theirs += interval_ccd(&q, &b);
        later += a >= b * (1 - 1e-9);
    }
    munit_logf(MUNIT_LOG_INFO, "linear queries per pair: closed form %.3f, interval %.3f, ratio "
        "%.2f; toi as late or later in %.1f %%", ours / n, theirs / n, theirs / ours,
        100 * later / n);
    munit_assert_double(ours, <, 0.25 * theirs);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- lists and trees */

static MunitResult lists(const MunitParameter params[], void *data)
{
    enum { N = 24 };
    int rep;
    (void)params, (void)data;
    for (rep = 0; rep < 30; ++rep) {
        gap_rigid_ccd_options opt = {gap_ccd_pair, NULL, 0, 0};
        double X[3 * N], toi[N * N], t = 1, least = 1;
        int body[N], edge[N], pair[2 * N * N], status[N * N], count = 0, i, j, first, s;
        gap_rigid_ccd_motion m[2];
        gap_rigid_ccd_mesh mesh = {3, N, N / 2, 0, 2, NULL, NULL, NULL, NULL};
        mesh.edge = edge, mesh.body = body, mesh.X = X;
        for (i = 0; i < N; ++i) {
            body[i] = i >= N / 2;
            edge[i] = i;
        }
        util_points(X, N, 3, 0.5);
        random_motion(&m[0], 3, 0.3, 0.7, 0);
        random_motion(&m[1], 3, 0.3, 0.2, 0);
        for (i = 0; i < 3; ++i) m[0].q[0][i] += 0.7, m[0].q[1][i] += 0.7;
        for (i = 0; i < N / 4; ++i) {
            for (j = N / 4; j < N / 2; ++j, ++count) pair[2 * count] = i, pair[2 * count + 1] = j;
        }
        munit_assert_int(gap_rigid_ccd_batch(&opt, &mesh, m, 3, pair, 0, count, 0, 1, status, toi),
            ==, 0);
        for (i = 0; i < count; ++i) least = fmin(least, toi[i]);
        s = gap_rigid_ccd_step(&opt, &mesh, m, 3, pair, count, 0, &t, &first);
        munit_assert_int(s, !=, GAP_RIGID_CCD_EINDEX);
        munit_assert_double(t, >=, 0.5 * least);
        munit_assert_double(t, <=, 1);
        munit_assert_int(s == 0, ==, first < 0);
        for (i = 0; i < count; ++i) { /* the common step is safe for each */
            query q;
            int a = pair[2 * i], b = pair[2 * i + 1], k;
            double d0;
            memset(&q, 0, sizeof q);
            q.dim = 3, q.kind = 3, q.m[0] = m[0], q.m[1] = m[1];
            memcpy(q.X, X + 6 * a, 6 * sizeof *X);
            memcpy(q.X + 6, X + 6 * b, 6 * sizeof *X);
            d0 = (double)ld_gap(&q, 0);
            for (k = 0; k <= 20; ++k)
                munit_assert_double((double)ld_gap(&q, t * k / 20.0L), >, 0.2 * d0 * (1 - 1e-8));
        }
        pair[1] = N / 2;
        munit_assert_int(gap_rigid_ccd_step(&opt, &mesh, m, 3, pair, count, 0, &t, &first), ==,
            GAP_RIGID_CCD_EINDEX);
        munit_assert_int(first, ==, 0);
        munit_assert_double(t, ==, 0);
    }
    return MUNIT_OK;
}

/* A list in chunks: the common step of a pool is that of a plain loop over it in any order. */
typedef struct chunks {
    const gap_rigid_ccd_options *opt;
    const gap_rigid_ccd_mesh *mesh;
    const gap_rigid_ccd_motion *motion;
    const int *pair;
    double *toi, *least;
    int *status, grain;
} chunks;

static void chunk_ask(void *ctx, int begin, int end, int worker)
{
    chunks *c = (chunks *)ctx;
    double t = 1;
    int first;
    (void)worker;
    gap_rigid_ccd_batch(c->opt, c->mesh, c->motion, 3, c->pair, begin, end, 0, 1, c->status,
        c->toi);
    munit_assert_int(gap_rigid_ccd_step(c->opt, c->mesh, c->motion, 3, c->pair + 2 * begin,
        end - begin, 0, &t, &first), >=, 0);
    c->least[begin / c->grain] = t;
}

static MunitResult threads(const MunitParameter params[], void *data)
{
    enum { N = 80, PAIRS = N / 2 * N / 2 };
    static const int workers[4] = {1, 2, 3, 8};
    static double X[6 * N], toi[PAIRS], least[PAIRS];
    static int body[2 * N], edge[2 * N], pair[2 * PAIRS], back[2 * PAIRS], status[PAIRS];
    gap_rigid_ccd_options opt = {gap_ccd_pair, NULL, 0, 0};
    gap_rigid_ccd_mesh mesh = {3, 2 * N, N, 0, 2, NULL, NULL, NULL, NULL};
    gap_rigid_ccd_motion m[2];
    int rep, i, w, first, hits = 0;
    (void)params, (void)data;
    mesh.edge = edge, mesh.body = body, mesh.X = X;
    for (i = 0; i < 2 * N; ++i) body[i] = i >= N, edge[i] = i;
    for (i = 0; i < PAIRS; ++i) {
        pair[2 * i] = i / (N / 2), pair[2 * i + 1] = N / 2 + i % (N / 2);
        back[2 * PAIRS - 2 - 2 * i] = pair[2 * i], back[2 * PAIRS - 1 - 2 * i] = pair[2 * i + 1];
    }
    for (rep = 0; rep < util_count(20, 500); ++rep) {
        uint64_t hash = 0, now;
        double t = 1, u = 1;
        util_points(X, 2 * N, 3, 0.2);
        random_motion(&m[0], 3, 1, 0.7, 0);
        random_motion(&m[1], 3, 1, 0.4, 0);
        for (i = 0; i < 3; ++i) { /* towards each other */
            m[1].q[0][i] = m[1].q[1][i] = 0;
            m[0].q[0][i] = i ? 0 : 0.5, m[0].q[1][i] = i ? 0 : 0.3;
        }
        for (i = 0; i < 2; ++i) m[i].reach = 0.5;
        if (gap_rigid_ccd_step(&opt, &mesh, m, 3, pair, PAIRS, 0, &t, &first) > 1) continue;
        hits += t < 1;
        gap_rigid_ccd_step(&opt, &mesh, m, 3, back, PAIRS, 0, &u, &first);
        munit_assert_double(u, ==, t);
        for (w = 0; w < 4; ++w) {
            pool *p = pool_open(workers[w]);
            chunks c = {&opt, &mesh, m, pair, toi, least, status, 64};
            munit_assert_not_null(p);
            pool_for(p, PAIRS, c.grain, chunk_ask, &c);
            pool_close(p);
            now = util_hash(0, toi, PAIRS);
            if (w == 0) hash = now;
            munit_assert_uint64(now, ==, hash);
            for (u = 1, i = 0; i < (PAIRS + 63) / 64; ++i) u = fmin(u, least[i]);
            munit_assert_double(u, ==, t);
        }
    }
    munit_assert_int(hits, >, 5);
    return MUNIT_OK;
}

static MunitResult trees(const MunitParameter params[], void *data)
{
    enum { N = 300 };
    int rep, c, i, k;
    (void)params, (void)data;
    for (rep = 0; rep < util_count(60, 1000); ++rep) {
        double X[3 * N], lo[3], hi[3], *work;
        int dim = 2 + (rep & 1), per = 1 + rep % 3;
        int count = rep % 7 == 0 ? 0 : munit_rand_int_range(1, N);
        int elem[3 * N], out[N], seen[N], found, want = 0;
        gap_rigid_ccd_tree tree;
        util_points(X, N, dim, 1);
        for (i = 0; rep % 4 == 3 && i < N * dim; ++i) X[i] = floor(2 * X[i]); /* many ties */
        for (i = 0; i < 3 * N; ++i) elem[i] = munit_rand_int_range(0, N - 1);
        work = (double *)munit_malloc(gap_rigid_ccd_tree_size(dim, count));
        gap_rigid_ccd_tree_build(&tree, dim, count, per, per == 1 ? NULL : elem, X, work);
        for (k = 0; k < 20; ++k) {
            for (c = 0; c < dim; ++c) {
                lo[c] = util_uniform(-1, 1);
                hi[c] = lo[c] + util_uniform(0, 1);
            }
            memset(seen, 0, sizeof seen);
            found = gap_rigid_ccd_tree_find(&tree, lo, hi, out, N);
            for (i = 0; i < found; ++i) munit_assert_int(seen[out[i]]++, ==, 0);
            for (want = 0, i = 0; i < count; ++i) {
                int v, meets = 1;
                for (c = 0; c < dim; ++c) {
                    double a = 9e9, b = -9e9;
                    for (v = 0; v < per; ++v) {
                        double x = X[dim * (per == 1 ? i : elem[per * i + v]) + c];
                        a = fmin(a, x), b = fmax(b, x);
                    }
                    meets &= a <= hi[c] && b >= lo[c];
                }
                want += meets;
                munit_assert_int(seen[i], ==, meets);
            }
            munit_assert_int(found, ==, want);
            munit_assert_int(gap_rigid_ccd_tree_find(&tree, lo, hi, NULL, 0), ==, want);
        }
        free(work);
    }
    return MUNIT_OK;
}

/* Two moving bodies: every pair of primitives that comes near in the samples is found by asking the
   tree of one with the relative boxes of the other. */
static MunitResult broad(const MunitParameter params[], void *data)
{
    enum { N = 12 };
    int rep, met = 0, i, j, k;
    (void)params, (void)data;
    for (rep = 0; rep < util_count(200, 1000); ++rep) {
        double X[2][3 * N], lo[3], hi[3], inflate = 0.1, work[12 * 5 * N];
        gap_rigid_ccd_motion m[2];
        gap_rigid_ccd_tree tree;
        munit_assert_size(gap_rigid_ccd_tree_size(3, N / 3), <=, sizeof work);
        for (i = 0; i < 2; ++i) {
            util_points(X[i], N, 3, 0.5);
            random_motion(&m[i], 3, 0.5, pow(10, util_uniform(-2, 0.5)), 0);
        }
        {
            int tri[N];
            for (i = 0; i < N; ++i) tri[i] = i;
            gap_rigid_ccd_tree_build(&tree, 3, N / 3, 3, tri, X[1], work);
        }
        for (i = 0; i < N; ++i) { /* vertex of body 0 against triangles of body 1 */
            int out[N], found, near[N];
            memset(near, 0, sizeof near);
            gap_rigid_ccd_relative_box(&m[0], &m[1], 3, 1, X[0] + 3 * i, inflate, lo, hi);
            found = gap_rigid_ccd_tree_find(&tree, lo, hi, out, N);
            for (j = 0; j < found; ++j) near[out[j]] = 1;
            for (j = 0; j < N / 3; ++j) {
                query q;
                long double least = 9;
                memset(&q, 0, sizeof q);
                q.dim = 3, q.kind = 2, q.m[0] = m[0], q.m[1] = m[1];
                memcpy(q.X, X[0] + 3 * i, 3 * sizeof(double));
                memcpy(q.X + 3, X[1] + 9 * j, 9 * sizeof(double));
                for (k = 0; k <= 20; ++k) least = fminl(least, ld_gap(&q, k / 20.0L));
                met += least < inflate;
                if (least < inflate) munit_assert_int(near[j], ==, 1);
            }
        }
    }
    munit_assert_int(met, >, 20);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {(char *)"/deviation", deviation_bound, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/boxes", boxes_hold, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/no_miss", no_miss, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/special_turns", special_turns, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/spans_and_gaps", spans_and_gaps, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/monotone", monotone, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/scaled", scaled, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/edge", edge_cases, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/interval", fewer_queries, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/lists", lists, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/threads", threads, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/trees", trees, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/broad", broad, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

static const MunitSuite suite = {(char *)"/rigid_ccd", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
