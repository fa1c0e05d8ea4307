/* test_accd.c - gap_accd.h against distances in long double at sampled times, known contacts, and
   the published queries */
#define GAP_ACCD_IMPLEMENTATION
#include "gap_accd.h"
#include "../apps/common/queries.h"
#include "util.h"

typedef long double real;

static const int points_of[4] = {2, 3, 4, 4}, split_of[4] = {1, 1, 1, 2};

/* ---- the oracle: distances of points in long double, by projection and clamping ---- */
static real rdot(const real *a, const real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static real rdist_vv(const real *a, const real *b)
{
    real d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrtl(rdot(d, d));
}

static real rdist_ve(const real *p, const real *a, const real *b)
{
    real u[3], w[3], d[3], t = 0.0L, uu;
    int k;
    for (k = 0; k < 3; ++k) u[k] = b[k] - a[k], w[k] = p[k] - a[k];
    uu = rdot(u, u);
    if (uu > 0.0L) t = fminl(1.0L, fmaxl(0.0L, rdot(w, u) / uu));
    for (k = 0; k < 3; ++k) d[k] = w[k] - t * u[k];
    return fminl(sqrtl(rdot(d, d)), fminl(rdist_vv(p, a), rdist_vv(p, b)));
}

/* min over the borders and, if it is inside, the stationary point of |w + s u - t v| */
static real rdist_plane(const real *w, const real *u, const real *v, int face, real best)
{
    real uu = rdot(u, u), uv = rdot(u, v), vv = rdot(v, v), wu = rdot(w, u), wv = rdot(w, v);
    real det = uu * vv - uv * uv, s, t, r[3];
    int k;
    if (!(det > 0.0L)) return best;
    s = (uv * wv - vv * wu) / det;
    t = (uu * wv - uv * wu) / det;
    if (face ? !(s <= 0.0L && t >= 0.0L && t - s <= 1.0L) :
            !(s >= 0.0L && s <= 1.0L && t >= 0.0L && t <= 1.0L))
        return best;
    for (k = 0; k < 3; ++k) r[k] = w[k] + s * u[k] - t * v[k];
    return fminl(best, sqrtl(rdot(r, r)));
}

static real rdist(int kind, real x[4][3])
{
    real u[3], v[3], w[3], best;
    int k;
    if (kind == GAP_ACCD_VV) return rdist_vv(x[0], x[1]);
    if (kind == GAP_ACCD_VE) return rdist_ve(x[0], x[1], x[2]);
    if (kind == GAP_ACCD_VF) {
        for (k = 0; k < 3; ++k) {
            w[k] = x[0][k] - x[1][k];
            u[k] = x[2][k] - x[1][k];
            v[k] = x[3][k] - x[1][k];
        }
        best = fminl(rdist_ve(x[0], x[1], x[2]),
            fminl(rdist_ve(x[0], x[2], x[3]), rdist_ve(x[0], x[3], x[1])));
        return rdist_plane(w, u, v, 1, best);
    }
    for (k = 0; k < 3; ++k) {
        w[k] = x[0][k] - x[2][k];
        u[k] = x[1][k] - x[0][k];
        v[k] = x[3][k] - x[2][k];
    }
    best = fminl(fminl(rdist_ve(x[0], x[2], x[3]), rdist_ve(x[1], x[2], x[3])),
        fminl(rdist_ve(x[2], x[0], x[1]), rdist_ve(x[3], x[0], x[1])));
    return rdist_plane(w, u, v, 0, best);
}

static real dist_at(int dim, int kind, const double *p0, const double *p1, real t)
{
    real x[4][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    int i, k;
    for (i = 0; i < points_of[kind]; ++i)
        for (k = 0; k < dim; ++k)
            x[i][k] = p0[dim * i + k] + t * ((real)p1[dim * i + k] - (real)p0[dim * i + k]);
    return rdist(kind, x);
}

/* the paper's bound of the relative speed: two maxima about the mean */
static double paper_speed(int dim, int kind, const double *p0, const double *p1)
{
    double mean[3] = {0, 0, 0}, most[2] = {0, 0}, d;
    int i, k, n = points_of[kind];
    for (i = 0; i < dim * n; ++i) mean[i % dim] += (p1[i] - p0[i]) / n;
    for (i = 0; i < n; ++i) {
        for (d = 0.0, k = 0; k < dim; ++k) {
            double v = p1[dim * i + k] - p0[dim * i + k] - mean[k];
            d += v * v;
        }
        most[i >= split_of[kind]] = fmax(most[i >= split_of[kind]], sqrt(d));
    }
    return most[0] + most[1];
}

/* ---- random pairs ---- */
typedef struct sample {
    int dim, kind;
    double p0[12], p1[12], xi;
} sample;

static double between(double a, double b)
{
    return a + (b - a) * munit_rand_double();
}

static void sample_random(sample *s)
{
    static const double thick[4] = {0.0, 1e-4, 1e-3, 0.02};
    int i, n, style = munit_rand_int_range(0, 4);
    double shift = between(-2, 2), slow = pow(10.0, between(-6, 0));
    memset(s, 0, sizeof *s);
    s->dim = munit_rand_int_range(2, 3);
    s->kind = munit_rand_int_range(0, s->dim == 3 ? 3 : 1);
    s->xi = thick[munit_rand_int_range(0, 3)];
    n = points_of[s->kind];
    for (i = 0; i < s->dim * n; ++i) {
        s->p0[i] = between(-1, 1);
        s->p1[i] = style == 0 ? between(-1, 1) : s->p0[i] + between(-1, 1) * slow;
    }
    for (i = 0; i < n; ++i) { /* thin gaps across the last axis, sides that move as one */
        double *a = s->p0 + s->dim * i + s->dim - 1, *b = s->p1 + s->dim * i + s->dim - 1;
        if (style < 2) continue;
        *a = i < split_of[s->kind] ? s->xi + pow(10.0, between(-8, 0)) : 0.0;
        *b = style == 2 ? *a + shift : style == 3 ? *a + between(-1, 1) * shift : between(-1, 1);
    }
}

/* Everything that the contract says about a result; returns the status. */
static int check_result(const sample *s, double keep, double t_max)
{
    gap_accd_options o = {0, 0};
    double toi = -1.0;
    int status, i, steps = 64;
    real gap0 = dist_at(s->dim, s->kind, s->p0, s->p1, 0.0L) - s->xi, gap;
    o.keep = keep;
    status = gap_accd_pair(&o, s->dim, s->kind, s->p0, s->p1, s->xi, t_max, &toi);
    if (keep == 0.0) keep = 0.1;
    munit_assert_true(status >= 0 && status <= 3);
    if (status == GAP_ACCD_CLOSE) {
        munit_assert_double(toi, ==, 0.0);
        munit_assert_true(gap0 < 1e-8L * (gap0 + s->xi) + 1e-13L);
        return status;
    }
    if (status == GAP_ACCD_FREE) munit_assert_double(toi, ==, t_max);
    munit_assert_true(toi > 0.0 && toi <= t_max);
    for (i = 0; i <= steps; ++i) {
        gap = dist_at(s->dim, s->kind, s->p0, s->p1, (real)toi * i / steps) - s->xi;
        munit_assert_true(gap > 0.0L);
        munit_assert_true(status == GAP_ACCD_FREE || gap >= 0.1L * (real)keep * gap0 * 0.999L -
            2e-8L * (gap0 + s->xi));
    }
    if (status == GAP_ACCD_HIT) {
        gap = dist_at(s->dim, s->kind, s->p0, s->p1, (real)toi) - s->xi;
        munit_assert_true(gap >= (real)keep * gap0 * (1.0L - 1e-6L) - 2e-8L * (gap0 + s->xi));
        /* never more timid than the paper's first step */
        munit_assert_true((real)toi >= (1.0L - 1e-6L) * fminl(1.0L - keep, 0.9L) *
            (gap0 - 1e-8L * (gap0 + s->xi) - 1e-13L) /
            paper_speed(s->dim, s->kind, s->p0, s->p1));
    }
    return status;
}

/* ---- tests ---- */
static MunitResult test_meets(const MunitParameter p[], void *u)
{
    double p0[12] = {0.2, 0.2, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
    double p1[12] = {0.2, 0.2, -1, 0, 0, 0, 1, 0, 0, 0, 1, 0}, toi;
    gap_accd_options o = {0.5, 0};
    (void)p;
    (void)u;
    munit_assert_int(gap_accd_pair(NULL, 3, GAP_ACCD_VF, p0, p1, 0, 1, &toi), ==, GAP_ACCD_HIT);
    munit_assert_true(toi <= 0.45 && toi > 0.45 - 1e-8);
    munit_assert_int(gap_accd_pair(&o, 3, GAP_ACCD_VF, p0, p1, 0, 1, &toi), ==, GAP_ACCD_HIT);
    munit_assert_true(toi <= 0.25 && toi > 0.25 - 1e-8);
    munit_assert_int(gap_accd_pair(NULL, 3, GAP_ACCD_VF, p0, p1, 0.5, 1, &toi), ==, GAP_ACCD_HIT);
    munit_assert_true(toi <= 0.225 && toi > 0.225 - 1e-8);
    munit_assert_int(gap_accd_pair(NULL, 3, GAP_ACCD_VF, p0, p1, 0, 0.3, &toi), ==, GAP_ACCD_FREE);
    munit_assert_double(toi, ==, 0.3);
    return MUNIT_OK;
}

static MunitResult test_safe_random(const MunitParameter p[], void *u)
{
    int i, count[4] = {0, 0, 0, 0};
    sample s;
    (void)p;
    (void)u;
    for (i = util_count(20000, 1000000); i > 0; --i) {
        sample_random(&s);
        ++count[check_result(&s, i % 3 == 0 ? 0.0 : between(0.01, 0.9),
            i % 4 == 0 ? between(1e-3, 1) : 1.0)];
    }
    munit_assert_int(count[GAP_ACCD_FREE], >, 1000);
    munit_assert_int(count[GAP_ACCD_HIT], >, 1000);
    return MUNIT_OK;
}

/* Nearly parallel edges that pass: distances of a careless formula are far too large there. */
static MunitResult test_parallel_edges(const MunitParameter p[], void *u)
{
    int i, k, hits = 0;
    sample s;
    (void)p;
    (void)u;
    for (i = util_count(5000, 200000); i > 0; --i) {
        double dir[3], side[3], sine = pow(10.0, between(-17, -4));
        double gap = pow(10.0, between(-6, -1));
        double a = between(-1, 1), c = between(-1, 1), norm = 0.0, dot = 0.0;
        memset(&s, 0, sizeof s);
        s.dim = 3;
        s.kind = GAP_ACCD_EE;
        for (k = 0; k < 3; ++k) dir[k] = between(-1, 1), side[k] = between(-1, 1);
        for (k = 0; k < 3; ++k) norm += dir[k] * dir[k], dot += dir[k] * side[k];
        for (k = 0; k < 3; ++k) side[k] -= dot / norm * dir[k];
        for (norm = 0.0, k = 0; k < 3; ++k) norm += side[k] * side[k];
        for (k = 0; k < 3; ++k) {
            const double n = side[k] / sqrt(norm);
            s.p0[k] = dir[k] * a;
            s.p0[3 + k] = dir[k] * (a + 1.5);
            s.p0[6 + k] = dir[k] * c + gap * n;
            s.p0[9 + k] = dir[k] * (c + 1.5) + (gap + sine) * n;
            s.p1[k] = s.p0[k];
            s.p1[3 + k] = s.p0[3 + k];
            s.p1[6 + k] = s.p0[6 + k] - 3 * gap * n + 0.1 * gap * dir[k];
            s.p1[9 + k] = s.p0[9 + k] - 3 * gap * n + 0.1 * gap * dir[k];
        }
        hits += check_result(&s, 0.0, 1.0) == GAP_ACCD_HIT;
    }
    munit_assert_int(hits, >, 1000);
    return MUNIT_OK;
}

/* Two points of the sides are made to meet at a time that is exact: it must never be passed. */
static MunitResult test_known_contact(const MunitParameter p[], void *u)
{
    double toi, latest = 0.0;
    int i, j, k, n, status;
    sample s;
    (void)p;
    (void)u;
    for (i = util_count(20000, 1000000); i > 0; --i) {
        double t = ldexp(munit_rand_int_range(1, 255), -8), scale = ldexp(1.0, i % 121 - 60);
        sample_random(&s);
        n = points_of[s.kind];
        for (k = 0; k < s.dim * n; ++k) { /* short dyadic numbers: sums and products are exact */
            s.p0[k] = ldexp(floor(ldexp(s.p0[k], 12)), -12);
            s.p1[k] = ldexp(floor(ldexp(s.p1[k], 12)), -12);
        }
        for (k = 0; k < s.dim; ++k) { /* the last point of each side: at t they coincide */
            const int a = s.dim * (split_of[s.kind] - 1) + k, b = s.dim * (n - 1) + k;
            const double meet = ldexp(munit_rand_int_range(-999, 999), -10);
            const double v = ldexp(munit_rand_int_range(-999, 999), -10);
            const double w = ldexp(munit_rand_int_range(-999, 999), -10);
            s.p0[a] = meet - t * v;
            s.p1[a] = meet + (1.0 - t) * v;
            s.p0[b] = meet - t * w;
            s.p1[b] = meet + (1.0 - t) * w;
        }
        for (j = 0; j < s.dim * n; ++j) s.p0[j] *= scale, s.p1[j] *= scale;
        status = gap_accd_pair(NULL, s.dim, s.kind, s.p0, s.p1, 0.0, 1.0, &toi);
        munit_assert_int(status, !=, GAP_ACCD_FREE);
        munit_assert_true(status > 0 && toi < t);
        if (s.kind == GAP_ACCD_VV) { /* head-on: nine tenths of the way */
            munit_assert_int(status, ==, GAP_ACCD_HIT);
            latest = fmax(latest, fabs(toi / t - 0.9));
        }
    }
    munit_assert_double(latest, <, 1e-6);
    return MUNIT_OK;
}

/* Pairs that touch at the start, exactly: rounding must not make a gap of it, near or far from the
   origin. Points are integers, the touching point a combination with weights of 1/64. */
static MunitResult test_touch_at_start(const MunitParameter p[], void *u)
{
    double p0[12], p1[12], toi, w;
    int i, k, j, kind, n;
    (void)p;
    (void)u;
    for (i = util_count(20000, 1000000); i > 0; --i) {
        const double shift = i % 3 ? 0.0 : ldexp(1.0, 40), scale = ldexp(1.0, i % 121 - 60);
        const int a = munit_rand_int_range(0, 64), b = munit_rand_int_range(0, 64 - a);
        kind = munit_rand_int_range(1, 3);
        n = points_of[kind];
        for (k = 0; k < 12; ++k) {
            p0[k] = shift + 64 * munit_rand_int_range(-30000, 30000);
            p1[k] = p0[k] + munit_rand_int_range(-30000, 30000);
        }
        for (k = 0; k < 3; ++k) { /* x = q + a/64 (r - q) (+ b/64 (s - q)) on the second side */
            const double *q = p0 + 3 * split_of[kind] + k;
            w = q[0] + a * ((q[3] - q[0]) / 64);
            if (kind == GAP_ACCD_VF) w += b * ((q[6] - q[0]) / 64);
            if (kind == GAP_ACCD_EE) { /* the middle of a */
                j = 64 * munit_rand_int_range(-9999, 9999);
                p0[k] = w - j;
                p0[3 + k] = w + j;
            } else {
                p0[k] = w;
            }
        }
        for (k = 0; k < 3 * n; ++k) p0[k] *= scale, p1[k] *= scale;
        munit_assert_int(gap_accd_pair(NULL, 3, kind, p0, p1, 0.0, 1.0, &toi), ==, GAP_ACCD_CLOSE);
        munit_assert_double(toi, ==, 0.0);
    }
    return MUNIT_OK;
}

/* The same with all bits in use: the point between f1 and f2 (or a0 and a1) is exact, but seen from
   f0 (b0), where coordinates have another exponent, everything is rounded. */
static MunitResult test_touch_rounded(const MunitParameter p[], void *u)
{
    double p0[12], p1[12], toi;
    int i, k, e, kind, at, a, b;
    (void)p;
    (void)u;
    for (i = util_count(50000, 1000000); i > 0; --i) {
        kind = munit_rand_int_range(2, 3);
        at = kind == GAP_ACCD_VF ? 0 : 3; /* v or b1 lies between f1 f2 or a0 a1 */
        a = kind == GAP_ACCD_VF ? 2 : 0;
        b = kind == GAP_ACCD_VF ? 3 : 1;
        for (k = 0; k < 12; ++k) {
            p0[k] = between(1, 2);
            p1[k] = between(-2, 2);
        }
        for (k = 0; k < 3; ++k) {
            double *x = p0 + 3 * a + k, *y = p0 + 3 * b + k;
            if (fmod(ldexp(*x, 52), 2.0) != fmod(ldexp(*y, 52), 2.0)) *y += ldexp(1.0, -52);
            if (*y >= 2.0) *y -= ldexp(1.0, -51);
            p0[3 * at + k] = *x + 0.5 * (*y - *x);
            e = munit_rand_int_range(-3, 0);
            p0[3 * split_of[kind] + k] = ldexp(between(-2, 2), e);
        }
        munit_assert_int(gap_accd_pair(NULL, 3, kind, p0, p1, 0.0, 1.0, &toi), ==, GAP_ACCD_CLOSE);
    }
    return MUNIT_OK;
}

static MunitResult test_scaled(const MunitParameter p[], void *u)
{
    int i, k, e;
    sample s, big;
    (void)p;
    (void)u;
    for (i = 0; i < 3000; ++i) {
        double t[2] = {0, 0};
        int status[2];
        sample_random(&s);
        big = s;
        e = munit_rand_int_range(-900, 900);
        for (k = 0; k < 12; ++k) big.p0[k] = ldexp(s.p0[k], e), big.p1[k] = ldexp(s.p1[k], e);
        big.xi = ldexp(s.xi, e);
        status[0] = gap_accd_pair(NULL, s.dim, s.kind, s.p0, s.p1, s.xi, 1.0, &t[0]);
        status[1] = gap_accd_pair(NULL, s.dim, s.kind, big.p0, big.p1, big.xi, 1.0, &t[1]);
        munit_assert_int(status[0], ==, status[1]);
        munit_assert_memory_equal(sizeof(double), &t[0], &t[1]);
    }
    return MUNIT_OK;
}

static MunitResult test_published(const MunitParameter p[], void *u)
{
    static const char *const scene[6] = {"erleben-cube-cliff-edges", "erleben-sliding-wedge",
        "erleben-spike-hole", "erleben-spikes", "erleben-wedges", "unit-tests"};
    static const char *const folder[2] = {"vertex-face", "edge-edge"};
    int i, f, j, k, files = 0, total = 0, truths = 0, missed = 0, wrong = 0, budget = 0;
    const char *what;
    (void)p;
    (void)u;
    for (i = 0; i < 6; ++i) {
        for (f = 0; f < 2; ++f) {
            for (k = 0; k < 4; ++k) {
                char path[256];
                queries q;
                sprintf(path, "../shared/data/ccd-queries/%s/%s/data_0_%d.csv", scene[i], folder[f],
                    k);
                if (queries_read(path, &q, &what)) continue;
                ++files;
                for (j = 0; j < q.n; ++j) {
                    double toi;
                    int status = gap_accd_pair(NULL, 3, f ? GAP_ACCD_EE : GAP_ACCD_VF,
                        q.x + 24 * j, q.x + 24 * j + 12, 0.0, 1.0, &toi);
                    munit_assert_true(status >= 0);
                    ++total;
                    truths += q.truth[j];
                    missed += q.truth[j] && status == GAP_ACCD_FREE;
                    wrong += !q.truth[j] && status != GAP_ACCD_FREE;
                    budget += status == GAP_ACCD_BUDGET;
                }
                queries_free(&q);
            }
        }
    }
    if (files == 0) return MUNIT_SKIP;
    munit_logf(MUNIT_LOG_INFO, "%d queries, %d true, %d missed, %d false hits, %d out of budget",
        total, truths, missed, wrong, budget);
    munit_assert_int(missed, ==, 0);
    munit_assert_int(truths, >, 0);
    return MUNIT_OK;
}

static MunitResult test_budget(const MunitParameter p[], void *u)
{
    gap_accd_options o = {0, 0};
    double toi, last;
    int i, k, work, status, spent = 0;
    sample s;
    (void)p;
    (void)u;
    for (i = 0; i < 2000; ++i) {
        sample_random(&s);
        for (last = 0.0, k = 1; k < 40; ++k) {
            o.budget = k;
            status = gap_accd_query(&o, s.dim, s.kind, s.p0, s.p1, s.xi, 1.0, &toi, &work);
            munit_assert_int(work, <=, k);
            munit_assert_true(toi >= last); /* more work never gives less */
            last = toi;
            if (status != GAP_ACCD_BUDGET) break;
            ++spent;
            munit_assert_true(toi > 0.0);
            munit_assert_true(dist_at(s.dim, s.kind, s.p0, s.p1, (real)toi) > s.xi);
        }
    }
    munit_assert_int(spent, >, 100);
    return MUNIT_OK;
}

static MunitResult test_edges(const MunitParameter p[], void *u)
{
    static const double bad[3] = {HUGE_VAL, -HUGE_VAL, NAN};
    double p0[12] = {0.2, 0.2, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0}, p1[12], toi = 5.0;
    gap_accd_options o = {0, 0};
    int k;
    (void)p;
    (void)u;
    memcpy(p1, p0, sizeof p0);
    /* nothing moves */
    munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, 0.5, 1, &toi), ==, GAP_ACCD_FREE);
    munit_assert_double(toi, ==, 1.0);
    munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, 1.0, 1, &toi), ==, GAP_ACCD_CLOSE);
    munit_assert_double(toi, ==, 0.0);
    munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, 1e300, 1, &toi), ==, GAP_ACCD_CLOSE);
    /* no time */
    p1[2] = -1;
    munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, 0, 0, &toi), ==, GAP_ACCD_FREE);
    munit_assert_double(toi, ==, 0.0);
    munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, 1, 0, &toi), ==, GAP_ACCD_CLOSE);
    /* not numbers, each place */
    for (k = 0; k < 24; ++k) {
        double *at = k < 12 ? p0 + k : p1 + k - 12, old = *at;
        *at = bad[k % 3];
        toi = 5.0;
        munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, 0, 1, &toi), ==, GAP_ACCD_ENONFIN);
        munit_assert_double(toi, ==, 0.0);
        *at = old;
    }
    munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, NAN, 1, &toi), ==, GAP_ACCD_ENONFIN);
    munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, HUGE_VAL, 1, &toi), ==, GAP_ACCD_ENONFIN);
    munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, 0, NAN, &toi), ==, GAP_ACCD_ENONFIN);
    munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, -1e-9, 1, &toi), ==, GAP_ACCD_EINPUT);
    munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, 0, 1.5, &toi), ==, GAP_ACCD_EINPUT);
    munit_assert_int(gap_accd_pair(NULL, 3, 4, p0, p1, 0, 1, &toi), ==, GAP_ACCD_EINPUT);
    munit_assert_int(gap_accd_pair(NULL, 2, 2, p0, p1, 0, 1, &toi), ==, GAP_ACCD_EINPUT);
    munit_assert_int(gap_accd_pair(NULL, 4, 2, p0, p1, 0, 1, &toi), ==, GAP_ACCD_EINPUT);
    o.keep = 1.0;
    munit_assert_int(gap_accd_pair(&o, 3, 2, p0, p1, 0, 1, &toi), ==, GAP_ACCD_EINPUT);
    munit_assert_double(toi, ==, 0.0);
    /* largest and smallest numbers; degenerate faces and edges */
    for (k = 0; k < 12; ++k) p0[k] *= 1.7e308, p1[k] *= 1.7e308;
    munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, 0, 1, &toi), ==, GAP_ACCD_HIT);
    munit_assert_true(toi <= 0.45 && toi > 0.44);
    for (k = 3; k < 12; ++k) p0[k] = p1[k] = 0.0;
    munit_assert_int(gap_accd_pair(NULL, 3, 2, p0, p1, 0, 1, &toi), ==, GAP_ACCD_FREE);
    munit_assert_int(gap_accd_pair(NULL, 3, 3, p0, p0, 0, 1, &toi), ==, GAP_ACCD_CLOSE);
    memset(p0, 0, sizeof p0);
    munit_assert_int(gap_accd_pair(NULL, 3, 3, p0, p0, 0, 1, &toi), ==, GAP_ACCD_CLOSE);
    p0[0] = p0[3] = p1[0] = p1[3] = 1e-310;
    for (k = 4; k < 12; ++k) p1[k] = 0.0;
    p1[1] = p1[2] = 0.0;
    munit_assert_int(gap_accd_pair(NULL, 3, 3, p0, p1, 0, 1, &toi), >=, 0);
    return MUNIT_OK;
}

/* A step over a list is safe for every pair of it, and as long as its most urgent pair allows. */
static MunitResult test_step(const MunitParameter p[], void *u)
{
    enum { N = 60 };
    double x0[3 * N], x1[3 * N], radius[N], toi, q0[12], q1[12];
    int edge[2 * N / 2], pair[2 * 400], i, j, k, n = 0, first, round, status;
    gap_accd_mesh m;
    (void)p;
    (void)u;
    memset(&m, 0, sizeof m);
    m.dim = 3;
    m.nodes = N;
    m.edges = N / 2;
    m.edge = edge;
    m.radius = radius;
    for (i = 0; i < N; ++i) edge[i] = i;
    for (i = 0; i < N / 2 && n < 400; ++i)
        for (j = i + 1; j < N / 2 && n < 400; ++j) pair[2 * n] = i, pair[2 * n++ + 1] = j;
    for (round = 0; round < 20; ++round) {
        double t = 1.0, least = 1.0, all;
        for (i = 0; i < 3 * N; ++i) {
            x0[i] = i % 3 == 2 ? 0.5 * (i / 6) + between(0, 0.3) : between(-1, 1);
            x1[i] = x0[i] + between(-1, 1) * round / 10;
        }
        for (i = 0; i < N; ++i) radius[i] = between(0, 0.05);
        status = gap_accd_step(NULL, &m, x0, x1, GAP_ACCD_EE, pair, 0, n, 0.01, &t, &first);
        munit_assert_true(status == GAP_ACCD_FREE ? t == 1.0 && first == -1 : first >= 0);
        for (i = 0; i < n; ++i) {
            const int *e = edge + 2 * pair[2 * i], *f = edge + 2 * pair[2 * i + 1];
            const double xi = 0.01 + fmax(radius[e[0]], radius[e[1]]) +
                fmax(radius[f[0]], radius[f[1]]);
            for (k = 0; k < 12; ++k) {
                const int node = edge[2 * pair[2 * i + k / 6] + k / 3 % 2];
                q0[k] = x0[3 * node + k % 3];
                q1[k] = x1[3 * node + k % 3];
            }
            gap_accd_pair(NULL, 3, GAP_ACCD_EE, q0, q1, xi, 1.0, &toi);
            least = fmin(least, toi);
            for (k = 0; k <= 16 && t > 0.0; ++k)
                munit_assert_true(dist_at(3, GAP_ACCD_EE, q0, q1, (real)t * k / 16) > xi);
        }
        munit_assert_true(t >= least);
        for (all = 1.0, i = 0; i < n; i += 100) { /* ranges: the least is safe too */
            double own = 1.0;
            gap_accd_step(NULL, &m, x0, x1, GAP_ACCD_EE, pair, i, i + 100 < n ? i + 100 : n, 0.01,
                &own, NULL);
            all = fmin(all, own);
        }
        munit_assert_true(all >= least);
    }
    pair[2 * 7] = N / 2;
    toi = 1.0;
    munit_assert_int(gap_accd_step(NULL, &m, x0, x1, 3, pair, 7, 8, 0, &toi, &first), ==,
        GAP_ACCD_EINDEX);
    munit_assert_double(toi, ==, 0.0);
    munit_assert_int(first, ==, 7);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {(char *)"/meets", test_meets, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/safe_random", test_safe_random, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/parallel_edges", test_parallel_edges, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/known_contact", test_known_contact, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/touch_at_start", test_touch_at_start, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/touch_rounded", test_touch_rounded, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/scaled", test_scaled, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/published_queries", test_published, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/budget", test_budget, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/edge", test_edges, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/step", test_step, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
};

static const MunitSuite suite = {(char *)"/accd", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
