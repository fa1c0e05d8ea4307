/* test_ccd.c - gap_ccd.h against contacts known by construction, integer and big-number oracles */
#define GAP_CCD_IMPLEMENTATION
#include "gap_ccd.h"
#include "util.h"
#include "../apps/common/pool.h"
#include "../apps/common/queries.h"
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

__extension__ typedef __int128 wide;

static int pick(int n) /* µnit 0.4.1 divides by the width of the range */
{
    return n > 1 ? munit_rand_int_range(0, n - 1) : 0;
}

static const int points_of[4] = {2, 3, 4, 4};

/* ------------------------------------------------------------ edge cases */

static const double vf0[12] = {0.2, 0.2, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
static const double vf1[12] = {0.2, 0.2, -1, 0, 0, 0, 1, 0, 0, 0, 1, 0};

static int ask(const double *p0, const double *p1, double dist, double t_max, double *toi)
{
    return gap_ccd_pair(NULL, 3, GAP_CCD_VF, p0, p1, dist, t_max, toi);
}

static MunitResult quick_start(const MunitParameter params[], void *data)
{
    double toi;
    (void)params, (void)data;
    munit_assert_int(ask(vf0, vf1, 0.0, 1.0, &toi), ==, GAP_CCD_HIT);
    munit_assert(toi > 0.5 - 2e-6 && toi <= 0.5);
    return MUNIT_OK;
}

static MunitResult edge_start(const MunitParameter params[], void *data)
{
    double toi = 9.0, p0[12];
    (void)params, (void)data;
    memcpy(p0, vf0, sizeof p0);
    p0[2] = 0.0; /* on the face */
    munit_assert_int(ask(p0, vf1, 0.0, 1.0, &toi), ==, GAP_CCD_CLOSE);
    munit_assert_double(toi, ==, 0.0);
    toi = 9.0; /* exactly at the minimum distance */
    munit_assert_int(ask(vf0, vf1, 1.0, 1.0, &toi), ==, GAP_CCD_CLOSE);
    munit_assert_double(toi, ==, 0.0);
    /* above it by a thousand roundings: progress */
    munit_assert_int(
        ask(vf0, vf1, 1.0 - 1e-13, 1.0, &toi), ==, GAP_CCD_HIT);
    munit_assert_double(toi, >, 0.0);
    return MUNIT_OK;
}

static MunitResult edge_still(const MunitParameter params[], void *data)
{
    double toi = 9.0;
    (void)params, (void)data;
    munit_assert_int(ask(vf0, vf0, 0.5, 1.0, &toi), ==, GAP_CCD_FREE);
    munit_assert_double(toi, ==, 1.0);
    munit_assert_int(ask(vf0, vf0, 2.0, 1.0, &toi), ==, GAP_CCD_CLOSE);
    munit_assert_int(ask(vf0, vf1, 0.0, 0.0, &toi), ==, GAP_CCD_FREE);
    munit_assert_double(toi, ==, 0.0);
    munit_assert_int(ask(vf1, vf1, 2.0, 0.0, &toi), ==, GAP_CCD_CLOSE);
    munit_assert_int(ask(vf0, vf1, 0.0, 0.25, &toi), ==, GAP_CCD_FREE);
    munit_assert_double(toi, ==, 0.25);
    return MUNIT_OK;
}

static MunitResult edge_nonfinite(const MunitParameter params[], void *data)
{
    static const double bad[3] = {NAN, INFINITY, -INFINITY};
    static const double apart[12] = {5, 5, 9, 6, 7, 8, 0, 1, 0, 1, 0, 0};
    gap_ccd_options o = {0};
    double p[24], toi;
    int kind, i, b;
    (void)params, (void)data;
    o.keep = 0.2;
    for (kind = 0; kind < 4; ++kind)
        for (i = 0; i < 6 * points_of[kind]; ++i)
            for (b = 0; b < 3; ++b) {
                int half = 3 * points_of[kind];
                memcpy(p, apart, sizeof apart);
                memcpy(p + half, apart, sizeof apart);
                p[i] = bad[b];
                toi = 9.0;
                munit_assert_int(gap_ccd_pair(NULL, 3, kind, p, p + half, 0.0, 1.0, &toi), ==,
                    GAP_CCD_ENONFIN);
                munit_assert_double(toi, ==, 0.0);
                toi = 9.0;
                munit_assert_int(
                    gap_ccd_pair(&o, 3, kind, p, p + half, 0.0, 1.0, &toi), ==, GAP_CCD_ENONFIN);
                munit_assert_double(toi, ==, 0.0);
            }
    munit_assert_int(
        gap_ccd_pair(NULL, 3, 2, vf0, vf1, INFINITY, 1.0, &toi), ==, GAP_CCD_ENONFIN);
    return MUNIT_OK;
}

static MunitResult edge_input(const MunitParameter params[], void *data)
{
    gap_ccd_options o = {0};
    double toi = 9.0;
    (void)params, (void)data;
    munit_assert_int(ask(vf0, vf1, -1.0, 1.0, &toi), ==, GAP_CCD_EINPUT);
    munit_assert_double(toi, ==, 0.0);
    munit_assert_int(ask(vf0, vf1, NAN, 1.0, &toi), ==, GAP_CCD_EINPUT);
    munit_assert_int(ask(vf0, vf1, 0.0, 1.5, &toi), ==, GAP_CCD_EINPUT);
    munit_assert_int(ask(vf0, vf1, 0.0, NAN, &toi), ==, GAP_CCD_EINPUT);
    munit_assert_int(gap_ccd_pair(NULL, 3, 4, vf0, vf1, 0.0, 1.0, &toi), ==, GAP_CCD_EINPUT);
    munit_assert_int(gap_ccd_pair(NULL, 2, 3, vf0, vf1, 0.0, 1.0, &toi), ==, GAP_CCD_EINPUT);
    munit_assert_int(gap_ccd_pair(NULL, 4, 0, vf0, vf1, 0.0, 1.0, &toi), ==, GAP_CCD_EINPUT);
    o.keep = 1.0;
    munit_assert_int(gap_ccd_pair(&o, 3, GAP_CCD_VF, vf0, vf1, 0.0, 1.0, &toi), ==, GAP_CCD_EINPUT);
    return MUNIT_OK;
}

static MunitResult edge_degenerate(const MunitParameter params[], void *data)
{
    double a0[12] = {0, 0, 1, 0, 0, 0, 2, 0, 0, 4, 0, 0}; /* the face is a segment */
    double a1[12] = {3, 0, -1, 0, 0, 0, 2, 0, 0, 4, 0, 0};
    double b0[12] = {0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0}; /* two edges of length 0 */
    double b1[12] = {1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0};
    double c0[12] = {0, 0, 1, 2, 0, 1, 1, 0, 0, 3, 0, 0}; /* parallel edges in one plane */
    double c1[12] = {0, 0, -1, 2, 0, -1, 1, 0, 0, 3, 0, 0}, toi;
    (void)params, (void)data;
    munit_assert_int(ask(a0, a1, 0.0, 1.0, &toi), ==, GAP_CCD_HIT);
    munit_assert(toi > 0.5 - 1e-5 && toi <= 0.5);
    munit_assert_int(gap_ccd_pair(NULL, 3, GAP_CCD_EE, b0, b1, 0.0, 1.0, &toi), ==, GAP_CCD_HIT);
    munit_assert(toi > 1.0 - 1e-5);
    munit_assert_int(gap_ccd_pair(NULL, 3, GAP_CCD_EE, c0, c1, 0.0, 1.0, &toi), ==, GAP_CCD_HIT);
    munit_assert(toi > 0.5 - 1e-5 && toi <= 0.5);
    return MUNIT_OK;
}

/* ------------------------------------------------------------ published queries */

static const char *const folders[6] = {"erleben-cube-cliff-edges", "erleben-sliding-wedge",
    "erleben-spike-hole", "erleben-spikes", "erleben-wedges", "unit-tests"};

/* Totals over the given files; 0 if they are not there. */
static int run_published(
    double ms, int *fp, int *fn, int *capped, long *work, int *searched, int *most)
{
    gap_ccd_options o = {0};
    int d, k, f, i, n = 0;
    o.tolerance = 1e-6;
    *fp = *fn = *capped = *searched = *most = 0, *work = 0;
    for (d = 0; d < 6; ++d)
        for (k = 2; k < 4; ++k)
            for (f = 0; f < 2; ++f) {
                char path[512];
                const char *what;
                queries q;
                snprintf(path, sizeof path, "../shared/data/ccd-queries/%s/%s/data_0_%d.csv",
                    folders[d], k == GAP_CCD_EE ? "edge-edge" : "vertex-face", f);
                if (queries_read(path, &q, &what)) continue;
                for (i = 0; i < q.n; ++i) {
                    double toi;
                    int w, s = gap_ccd_query(
                               &o, 3, k, q.x + 24 * i, q.x + 24 * i + 12, ms, 1.0, &toi, &w);
                    munit_assert_int(s, >=, 0);
                    *fn += q.truth[i] && s == GAP_CCD_FREE;
                    *fp += !q.truth[i] && s != GAP_CCD_FREE;
                    *capped += s == GAP_CCD_BUDGET;
                    *work += w;
                    *searched += w > 0;
                    *most = w > *most ? w : *most;
                }
                n += q.n;
                queries_free(&q);
            }
    return n;
}

static MunitResult published(const MunitParameter params[], void *data)
{
    int n, fp, fn, capped, searched, most;
    long work;
    (void)params, (void)data;
    n = run_published(0.0, &fp, &fn, &capped, &work, &searched, &most);
    if (!n) return MUNIT_SKIP;
    munit_assert_int(n, ==, 4779);
    munit_assert_int(fn, ==, 0);
    munit_assert_int(fp, <=, 200);
    munit_assert_int(capped, ==, 0);
    return MUNIT_OK;
}

/* Fewer pairs are parted by boxes, but those that are searched take no more steps. */
static MunitResult large_distance(const MunitParameter params[], void *data)
{
    static const double ms[4] = {1e-4, 1e-3, 1e-2, 1e-1};
    int i, fp, fn, capped, searched0, searched, most0, most;
    long work0, work;
    (void)params, (void)data;
    if (!run_published(0.0, &fp, &fn, &capped, &work0, &searched0, &most0)) return MUNIT_SKIP;
    for (i = 0; i < 4; ++i) {
        run_published(ms[i], &fp, &fn, &capped, &work, &searched, &most);
        munit_assert_int(fn + capped, ==, 0);
        munit_assert_int(most, <=, most0);
        munit_assert_double((double)work / searched, <=, 1.01 * (double)work0 / searched0);
    }
    return MUNIT_OK;
}

/* ------------------------------------------------------------ contacts by construction */

/* In a frame with z across the contact all points of the first side are at z >= h at the time t/64
   and those of the second at z <= 0, with equality at points that lie over each other; all
   z-differences fall with time. So the distance is above h before t/64 and h then. Everything is
   an integer below 2^53, before and after turning by integer matrices whose rows are orthogonal,
   of length 3. */
typedef struct contact {
    int kind;
    double p0[12], p1[12], dist, time; /* 3 per point */
    double speed;                      /* least speed of approach along z, length per time */
} contact;

static long long rand_int(int bits) /* multiple of 64 */
{
    return 64 * ((long long)((((uint64_t)munit_rand_uint32() << 20) ^ munit_rand_uint32())
                    & ((1ull << bits) - 1))
        - (1ll << (bits - 1)));
}

static void turn(long long x[3])
{
    long long y[3];
    y[0] = x[0] + 2 * x[1] + 2 * x[2];
    y[1] = 2 * x[0] + x[1] - 2 * x[2];
    y[2] = 2 * x[0] - 2 * x[1] + x[2];
    x[0] = y[1], x[1] = y[2], x[2] = y[0];
}

/* Lateral coordinates (64ths exact) and heights at contact: which points touch, and where. */
static void contact_place(int kind, long long h, long long x[4][3])
{
    int n = points_of[kind], i, k, iu = pick(5), iv = pick(5 - iu);
    int first = kind == GAP_CCD_EE ? 2 : 1;
    if (kind == GAP_CCD_EE) iv = iu == 2 ? 2 : iu == 4 ? 3 : 0;
    for (i = 0; i < n; ++i)
        for (k = 0; k < 2; ++k) x[i][k] = rand_int(30);
    for (i = 0; i < n; ++i) {
        long long lift = pick(3) ? llabs(rand_int(30)) >> pick(20) : 0;
        x[i][2] = i < first ? h + lift : -lift;
    }
    for (k = 0; k < 2; ++k) {
        if (kind == GAP_CCD_VV) x[0][k] = x[1][k];
        if (kind == GAP_CCD_VE) x[0][k] = ((4 - iu) * x[1][k] + iu * x[2][k]) / 4;
        if (kind == GAP_CCD_VF)
            x[0][k] = ((4 - iu - iv) * x[1][k] + iu * x[2][k] + iv * x[3][k]) / 4;
        if (kind == GAP_CCD_EE)
            x[2][k] = ((4 - iu) * x[0][k] + iu * x[1][k] - iv * x[3][k]) / (4 - iv);
    }
    if (kind == GAP_CCD_EE) { /* what touches is at height h, 0 */
        if (iu < 4) x[0][2] = h;
        if (iu > 0) x[1][2] = h;
        if (iv < 4) x[2][2] = 0;
        if (iv > 0) x[3][2] = 0;
    } else {
        x[0][2] = h;
        if (kind != GAP_CCD_VF) iv = 0;
        if (iu + iv < 4) x[1][2] = 0;
        if (iu > 0 && n > 2) x[2][2] = 0;
        if (iv > 0) x[3][2] = 0;
        if (n == 2) x[1][2] = 0;
    }
}

/* slow: how much slower the approach is than the rest of the motion */
static void contact_make(contact *c, int kind, int with_distance, int t, long long slow)
{
    long long h = with_distance ? llabs(rand_int(30)) >> pick(30) : 0, x[4][3], v[3], up;
    int n = points_of[kind], first = kind == GAP_CCD_EE ? 2 : 1, turns = pick(5), i, k, j;
    double least[2] = {HUGE_VAL, HUGE_VAL};
    contact_place(kind, h, x);
    up = rand_int(30);
    c->kind = kind;
    for (i = 0; i < n; ++i) {
        long long y0[3], y1[3], fall = (llabs(rand_int(30)) / slow / 64 + 1) * 64;
        for (k = 0; k < 2; ++k) v[k] = rand_int(30) / (pick(2) ? 1 : 4096) / 64 * 64;
        v[2] = (i < first ? -fall : fall) + up;
        if (fall < least[i >= first]) least[i >= first] = (double)fall;
        for (k = 0; k < 3; ++k) {
            y0[k] = x[i][k] - t * (v[k] / 64);
            y1[k] = x[i][k] + (64 - t) * (v[k] / 64);
        }
        for (j = 0; j < turns; ++j) turn(y0), turn(y1);
        for (k = 0; k < 3; ++k) c->p0[3 * i + k] = (double)y0[k], c->p1[3 * i + k] = (double)y1[k];
    }
    c->dist = (double)h;
    c->speed = least[0] + least[1];
    for (j = 0; j < turns; ++j) c->dist *= 3.0, c->speed *= 3.0;
    c->time = t / 64.0;
}

static void contact_scale(contact *c, double s)
{
    int i;
    for (i = 0; i < 12; ++i) c->p0[i] *= s, c->p1[i] *= s;
    c->dist *= s;
}

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int contact_solve(const contact *c, const gap_ccd_options *o, double *toi, int *work)
{
    return gap_ccd_query(o, 3, c->kind, c->p0, c->p1, c->dist, 1.0, toi, work);
}

static void contact_check(const contact *c, int status, double toi)
{
    if (!(status == GAP_CCD_HIT && toi > 0.0 && toi <= c->time))
        munit_errorf("kind %d: status %d, toi %.17g, contact at %.17g, distance %g", c->kind,
            status, toi, c->time, c->dist);
}

/* Found by the fuzzer: sizes so far apart that the closest point of the whole is worse than that of
   a part; HIT came with toi = 0. */
static MunitResult hit_has_positive_toi(const MunitParameter params[], void *data)
{
    static const double small[3] = {1.4e-76, 1.26e-71, 1.2e-71};
    int i, j, status;
    double p0[12], p1[12], toi;
    (void)params, (void)data;
    for (i = 0; i < 20000; ++i) {
        for (j = 0; j < 12; ++j) {
            p0[j] = small[pick(3)] * (pick(8) ? 1.0 : munit_rand_double());
            p1[j] = small[pick(3)];
            if (!pick(8)) p0[j] = ldexp(1.0, -pick(300));
            if (!pick(8)) p1[j] = ldexp(1.0, -pick(300));
        }
        status = gap_ccd_pair(NULL, 3, 2 + i % 2, p0, p1, pick(2) ? 0.0 : 1.4e-76, 1.0, &toi);
        munit_assert_int(status, >=, 0);
        munit_assert((toi > 0.0) == (status != GAP_CCD_CLOSE));
    }
    return MUNIT_OK;
}

static MunitResult constructed(const MunitParameter params[], void *data)
{
    int i, n = util_count(100000, 10000000), most = 0, work, status;
    double *late = (double *)malloc((size_t)n * sizeof *late), toi;
    gap_ccd_options o = {0};
    (void)params, (void)data;
    munit_assert_not_null(late);
    for (i = 0; i < n; ++i) {
        contact c;
        o.isa = i / 8 % 2 ? GAP_CCD_ISA_VECTOR : GAP_CCD_ISA_BEST;
        contact_make(&c, i % 4, i / 4 % 2, 1 + pick(64), 1 + pick(8));
        contact_scale(&c, ldexp(1.0, pick(121) - 90));
        status = contact_solve(&c, &o, &toi, &work);
        contact_check(&c, status, toi);
        if (work > most) most = work;
        late[i] = c.time - toi;
    }
    qsort(late, (size_t)n, sizeof *late, compare_double);
    if (util_slow()) {
        printf("%d contacts: true - toi median %.3g, 99.9%% %.3g, largest %.3g; most steps %d ", n,
            late[n / 2], late[(int)(n * 0.999)], late[n - 1], most);
    }
    munit_assert_double(late[n / 2], <, 1e-6);
    munit_assert_double(late[(int)(n * 0.999)], <, 1e-4);
    free(late);
    return MUNIT_OK;
}

/* The approach is up to 2^24 times slower than the rest of the motion. */
static MunitResult constructed_grazing(const MunitParameter params[], void *data)
{
    int i, n = util_count(50000, 1000000), work, status;
    double toi;
    (void)params, (void)data;
    for (i = 0; i < n; ++i) {
        contact c;
        contact_make(&c, i % 4, i / 4 % 2, 1 + pick(64), 1ll << pick(25));
        status = contact_solve(&c, NULL, &toi, &work);
        contact_check(&c, status, toi);
    }
    return MUNIT_OK;
}

/* Up to the ends of the range of double, where differences overflow or vanish. Nothing may be
   missed; that toi is positive is promised above 2^-953 only. */
static int extreme(int n)
{
    int i, work, status, missed = 0;
    double toi;
    for (i = 0; i < n; ++i) {
        contact c;
        int e = pick(2) ? -1074 + pick(200) : 800 + pick(174);
        contact_make(&c, i % 4, 0, 1 + pick(64), 1 + pick(8));
        if (pick(2)) c.dist = ldexp(1.0, pick(30));
        contact_scale(&c, ldexp(1.0, e / 2));
        contact_scale(&c, ldexp(1.0, e - e / 2));
        status = contact_solve(&c, NULL, &toi, &work);
        missed += status <= GAP_CCD_FREE || toi > c.time || (e > 0 && c.dist == 0.0 && toi == 0.0);
    }
    return missed;
}

/* Two vertices on a line, a > 0 > b apart at t = 0 and 1, of sizes that have nothing to do with
   each other: they meet at a / (a - b). */
static int mixed(int n)
{
    int i, status, missed = 0;
    for (i = 0; i < n; ++i) {
        double a = ldexp(1.0 + munit_rand_double(), pick(2000) - 1060), p0[6] = {0}, p1[6] = {0};
        double b = -ldexp(1.0 + munit_rand_double(), pick(2000) - 1060), toi;
        int k = pick(3);
        p0[k] = a, p1[k] = b;
        p0[(k + 1) % 3] = p0[3 + (k + 1) % 3] = pick(2) ? 1.0 : 1e-300;
        status = gap_ccd_pair(NULL, 3, GAP_CCD_VV, p0, p1, 0.0, 1.0, &toi);
        missed += status <= GAP_CCD_FREE || toi > 1.0 / (1.0 - b / a);
    }
    return missed;
}

static MunitResult extreme_scales(const MunitParameter params[], void *data)
{
    (void)params, (void)data;
    munit_assert_int(extreme(util_count(20000, 1000000)), ==, 0);
    munit_assert_int(mixed(util_count(20000, 1000000)), ==, 0);
    return MUNIT_OK;
}

static MunitResult flush_to_zero(const MunitParameter params[], void *data)
{
#if defined(__SSE2__)
    unsigned mode = _mm_getcsr();
    int i, n = util_count(20000, 1000000), missed, work;
    (void)params, (void)data;
    _mm_setcsr(mode | 0x8040u); /* flush to zero, denormals are zero */
    missed = extreme(n) + mixed(n);
    for (i = 0; i < n; ++i) {
        contact c;
        double toi;
        contact_make(&c, i % 4, i / 4 % 2, 1 + pick(64), 1 + pick(8));
        contact_scale(&c, ldexp(1.0, -pick(900)));
        missed += contact_solve(&c, NULL, &toi, &work) != GAP_CCD_HIT || toi > c.time;
    }
    _mm_setcsr(mode);
    munit_assert_int(missed, ==, 0);
    return MUNIT_OK;
#else
    (void)params, (void)data;
    return MUNIT_SKIP;
#endif
}

static MunitResult scale_changes_no_bit(const MunitParameter params[], void *data)
{
    int i, e, work;
    (void)params, (void)data;
    for (i = 0; i < 2000; ++i) {
        contact c;
        double toi, scaled;
        contact_make(&c, i % 4, i / 4 % 2, 1 + pick(64), 1 + pick(8));
        contact_solve(&c, NULL, &toi, &work);
        e = pick(300) - 150;
        contact_scale(&c, ldexp(1.0, e));
        contact_solve(&c, NULL, &scaled, &work);
        munit_assert_memory_equal(sizeof toi, &toi, &scaled);
    }
    return MUNIT_OK;
}

static MunitResult budget(const MunitParameter params[], void *data)
{
    int seen = 0, i, work;
    (void)params, (void)data;
    for (i = 0; i < 20000; ++i) {
        gap_ccd_options o = {0};
        contact c;
        double toi, full;
        contact_make(&c, 2 + i % 2, 0, 1 + pick(64), 1 + pick(1000));
        contact_solve(&c, NULL, &full, &work);
        if (work < 5) continue;
        o.budget = 1 + pick(work - 1);
        munit_assert_int(contact_solve(&c, &o, &toi, &work), ==, GAP_CCD_BUDGET);
        munit_assert_int(work, ==, o.budget);
        munit_assert(toi > 0.0 && toi <= full);
        ++seen;
    }
    munit_assert_int(seen, >, 100);
    return MUNIT_OK;
}

/* ------------------------------------------------------------ integers: exact distances */

/* Squared distance of the origin from a + [0,1] e against r2, in integers below 2^19. */
static int wide_near_segment(const long long a[3], const long long e[3], wide r2)
{
    wide ee = 0, ae = 0, aa = 0;
    int k;
    for (k = 0; k < 3; ++k) {
        ee += (wide)e[k] * e[k];
        ae += (wide)a[k] * e[k];
        aa += (wide)a[k] * a[k];
    }
    if (-ae <= 0 || ee == 0) return aa <= r2;
    if (-ae >= ee) return aa + 2 * ae + ee <= r2;
    return aa * ee - ae * ae <= r2 * ee;
}

/* The same for the inside of the triangle (quad: parallelogram) a + u b + v c. */
static int wide_near_inside(
    const long long a[3], const long long b[3], const long long c[3], int tri, wide r2)
{
    wide bb = 0, cc = 0, bc = 0, ab = 0, ac = 0, det, u, v, an, nn = 0;
    wide n[3];
    int k;
    for (k = 0; k < 3; ++k) {
        bb += (wide)b[k] * b[k], cc += (wide)c[k] * c[k], bc += (wide)b[k] * c[k];
        ab += (wide)a[k] * b[k], ac += (wide)a[k] * c[k];
        n[k] = (wide)b[(k + 1) % 3] * c[(k + 2) % 3] - (wide)b[(k + 2) % 3] * c[(k + 1) % 3];
        nn += n[k] * n[k];
    }
    det = bb * cc - bc * bc;
    u = bc * ac - cc * ab;
    v = bc * ab - bb * ac;
    if (det <= 0 || u < 0 || v < 0) return 0;
    if (tri ? u + v > det : u > det || v > det) return 0;
    an = a[0] * n[0] + a[1] * n[1] + a[2] * n[2];
    return an * an <= r2 * nn;
}

/* Whether the points p (exact integers) are within r of each other. */
static int wide_near(int kind, long long p[4][3], long long r)
{
    long long a[3], b[3], c[3], ab[3], ac[3], d[3];
    wide r2 = (wide)r * r;
    int k, tri = kind == GAP_CCD_VF;
    for (k = 0; k < 3; ++k) {
        a[k] = p[0][k] - p[tri ? 1 : 2][k];
        b[k] = tri ? p[1][k] - p[2][k] : p[1][k] - p[0][k];
        c[k] = tri ? p[1][k] - p[3][k] : p[2][k] - p[3][k];
        ab[k] = a[k] + b[k], ac[k] = a[k] + c[k], d[k] = c[k] - b[k];
    }
    if (wide_near_segment(a, b, r2) || wide_near_segment(a, c, r2)) return 1;
    if (tri && wide_near_segment(ab, d, r2)) return 1;
    if (!tri && (wide_near_segment(ab, c, r2) || wide_near_segment(ac, b, r2))) return 1;
    return wide_near_inside(a, b, c, tri, r2);
}

/* Random small integers, 256 times in the motion looked at exactly: no contact before toi. */
static MunitResult sampled(const MunitParameter params[], void *data)
{
    int want = util_count(2000, 100000), frees = 0, hits = 0, i, k, t, bits;
    (void)params, (void)data;
    while (frees < want) {
        int kind = 2 + pick(2), r = pick(2) ? 0 : pick(64), status;
        double p0[12], p1[12], toi;
        for (i = 0; i < 12; ++i) {
            bits = 5 + pick(4);
            p0[i] = pick(1 << bits) - (1 << (bits - 1));
            p1[i] = pick(3) ? p0[i] + pick(65) - 32 : pick(1 << bits) - (1 << (bits - 1));
        }
        if (gap_ccd__boxes_apart(p0, p1, kind == GAP_CCD_VF, r, &toi) && pick(16)) continue;
        status = gap_ccd_pair(NULL, 3, kind, p0, p1, r, 1.0, &toi);
        frees += status == GAP_CCD_FREE;
        hits += status == GAP_CCD_HIT;
        for (t = 0; t <= 256 && (t / 256.0 < toi || status == GAP_CCD_FREE); ++t) {
            long long x[4][3];
            for (i = 0; i < 4; ++i)
                for (k = 0; k < 3; ++k)
                    x[i][k] = (long long)p0[3 * i + k] * (256 - t) + (long long)p1[3 * i + k] * t;
            if (wide_near(kind, x, 256ll * r))
                munit_errorf("near at %d/256, status %d, toi %.17g", t, status, toi);
        }
    }
    munit_assert_int(hits, >, want / 50);
    return MUNIT_OK;
}

/* ------------------------------------------------------------ the certificate, exactly */

/* Integer times 2^e, magnitude in 32-bit limbs, lowest first. */
typedef struct big {
    int neg, e, n;
    uint32_t d[64];
} big;

static big big_of(double x)
{
    big r = {0};
    uint64_t m;
    int e;
    r.neg = x < 0.0;
    m = (uint64_t)ldexp(frexp(fabs(x), &e), 53);
    r.e = e - 53;
    for (r.n = 0; m; m >>= 32) r.d[r.n++] = (uint32_t)m;
    return r;
}

static big big_mul(const big *a, const big *b)
{
    big r = {0};
    int i, j;
    munit_assert_int(a->n + b->n, <, 64);
    r.neg = a->neg != b->neg;
    r.e = a->e + b->e;
    for (i = 0; i < a->n; ++i) {
        uint64_t c = 0;
        for (j = 0; j < b->n || c; ++j) {
            c += r.d[i + j] + (j < b->n ? (uint64_t)a->d[i] * b->d[j] : 0);
            r.d[i + j] = (uint32_t)c;
            c >>= 32;
        }
    }
    for (r.n = a->n + b->n; r.n > 0 && !r.d[r.n - 1];) --r.n;
    return r;
}

static big big_shift(const big *a, int e) /* the same with exponent e <= a->e */
{
    big r = {0};
    int s = a->e - e, i;
    munit_assert_int(a->n + s / 32 + 2, <, 64);
    r.neg = a->neg;
    r.e = e;
    for (i = 0; i < a->n; ++i) {
        uint64_t v = (uint64_t)a->d[i] << s % 32;
        r.d[i + s / 32] |= (uint32_t)v;
        r.d[i + s / 32 + 1] = (uint32_t)(v >> 32);
    }
    r.n = a->n ? a->n + s / 32 + 1 : 0;
    while (r.n > 0 && !r.d[r.n - 1]) --r.n;
    return r;
}

static int big_less(const big *a, const big *b) /* |a| < |b|, same exponent */
{
    int i;
    if (a->n != b->n) return a->n < b->n;
    for (i = a->n - 1; i >= 0; --i)
        if (a->d[i] != b->d[i]) return a->d[i] < b->d[i];
    return 0;
}

static big big_add(const big *x, const big *y)
{
    big a, b, r = {0};
    int i, same;
    int64_t c = 0;
    if (!x->n || !y->n) return x->n ? *x : *y;
    a = big_shift(x, x->e < y->e ? x->e : y->e);
    b = big_shift(y, a.e);
    if (big_less(&a, &b)) r = a, a = b, b = r;
    same = a.neg == b.neg;
    r = a;
    for (i = 0; i < a.n || c > 0; ++i) {
        c += (int64_t)a.d[i] + (same ? (int64_t)b.d[i] : -(int64_t)b.d[i]);
        r.d[i] = (uint32_t)c;
        c >>= 32;
        if (i >= a.n) r.n = i + 1;
    }
    while (r.n > 0 && !r.d[r.n - 1]) --r.n;
    return r;
}

static big big_sub(const big *x, const big *y)
{
    big m = *y;
    m.neg = !m.neg;
    return big_add(x, &m);
}

static double big_double(const big *a) /* truncated */
{
    double r = 0.0;
    int i;
    for (i = a->n - 1; i >= 0 && i >= a->n - 3; --i) r += ldexp(a->d[i], a->e + 32 * i);
    return a->neg ? -r : r;
}

/* sum_i weight_i (1-t) p0_i + t p1_i along n, exactly; the weights are products of dyadics. */
static big big_projection(const double *p0, const double *p1, const double n[3], int tri, double u,
    double v, double t)
{
    big one = big_of(1.0), bu = big_of(u), bv = big_of(v), bt = big_of(t), sum = {0}, w[4];
    big cu = big_sub(&one, &bu), cv = big_sub(&one, &bv), ct = big_sub(&one, &bt);
    int i, k;
    if (tri) {
        w[0] = one;
        w[1] = big_sub(&cu, &bv), w[1].neg = !w[1].neg;
        w[2] = bu, w[2].neg = 1;
        w[3] = bv, w[3].neg = 1;
    } else {
        w[0] = cu, w[1] = bu;
        w[2] = cv, w[2].neg = !cv.neg;
        w[3] = bv, w[3].neg = 1;
    }
    for (i = 0; i < 4; ++i)
        for (k = 0; k < 3; ++k) {
            big x0 = big_of(p0[3 * i + k]), x1 = big_of(p1[3 * i + k]), nk = big_of(n[k]);
            big a = big_mul(&x0, &ct), b = big_mul(&x1, &bt), s = big_add(&a, &b);
            s = big_mul(&s, &w[i]);
            s = big_mul(&s, &nk);
            sum = big_add(&sum, &s);
        }
    return sum;
}

/* Mantissas with many ones or zeros, and points that nearly coincide. */
static double nasty(void)
{
    double x = munit_rand_double() - 0.5;
    int how = pick(5);
    if (how == 0) x = (ldexp(floor(ldexp(x, 5)), -5) + 0.5) * (1.0 + 1.2e-15 * pick(3));
    if (how == 1) x = (pick(2) ? 1.0 : -1.0) * (1.0 - 1.1102230246251565e-16 * pick(16));
    if (how == 2) x = ldexp(x, -pick(30));
    return x;
}

static MunitResult certificate_bound(const MunitParameter params[], void *data)
{
    int i, j, k, count = util_count(10000, 1000000);
    double worst = 0.0;
    (void)params, (void)data;
    for (i = 0; i < count; ++i) {
        static const double corner[4][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
        gap_ccd__pairing q;
        gap_ccd__patch x = {0.0, 0.0, 0.0, 1.0, 1.0};
        gap_ccd__cert f;
        double p0[12], p1[12], n[3], t = pick(4) ? munit_rand_double() : pick(2), at[4], need;
        double shift = pick(2) ? 0.0 : nasty();
        for (j = 0; j < 12; ++j) p0[j] = shift + nasty(), p1[j] = shift + nasty();
        if (pick(2)) memcpy(p0 + 3, p0 + 9, 3 * sizeof *p0);
        for (k = 0; k < 3; ++k) n[k] = nasty();
        q.tri = pick(2);
        q.dist = q.tol = 0.0;
        if (pick(2)) x.hu = x.hv = ldexp(1.0, -pick(41));
        while (x.hu < 1.0 && pick(3)) x.u += x.hu, x.v += x.hv;
        if (q.tri && x.u + x.v > 1.0) continue;
        q.g0 = gap_ccd__differences(p0, q.tri, 1.0, q.w0);
        q.g1 = gap_ccd__differences(p1, q.tri, 1.0, q.w1);
        gap_ccd__normalize(n);
        gap_ccd__project(&q, &x, n, &f);
        need = f.need + t * f.rate;
        GAP_CCD__DO GAP_CCD__L(f.s) = GAP_CCD__L(f.s) + t * GAP_CCD__L(f.slope);
        memcpy(at, &f.s, sizeof at);
        for (j = 0; j < 4; ++j) {
            int c = j == 3 && q.tri ? 0 : j;
            big exact = big_projection(
                p0, p1, n, q.tri, x.u + corner[c][0] * x.hu, x.v + corner[c][1] * x.hv, t);
            big got = big_of(at[j]), diff = big_sub(&got, &exact);
            double err = fabs(big_double(&diff)) / (1.1102230246251565e-16 * (q.g0 + t * q.g1));
            munit_assert_double(fabs(big_double(&diff)), <=, need);
            munit_assert_double(err, <=, 17.4);
            if (err > worst) worst = err;
        }
    }
    if (util_slow()) printf("largest error %.2f of 17.4 proven, 28 used ", worst);
    return MUNIT_OK;
}

/* ------------------------------------------------------------ batches */

enum { LIST = 3000 };

typedef struct scene {
    gap_ccd_mesh mesh;
    int edge[2 * LIST], tri[3 * LIST], pair[2 * LIST];
    double x0[12 * LIST], x1[12 * LIST], radius[4 * LIST];
} scene;

/* LIST unrelated pairs of one kind; distances leave most of them some way to go. */
static void scene_make(scene *s, int dim, int kind)
{
    int i, j, k;
    memset(s, 0, sizeof *s);
    s->mesh.dim = dim, s->mesh.nodes = 4 * LIST, s->mesh.edges = s->mesh.tris = LIST;
    s->mesh.edge = s->edge, s->mesh.tri = s->tri, s->mesh.radius = s->radius;
    for (i = 0; i < 4 * LIST; ++i) s->radius[i] = 0.001 * munit_rand_double();
    for (i = 0; i < LIST; ++i) {
        int ee = kind == GAP_CCD_EE;
        s->pair[2 * i] = ee ? i / 2 * 2 : 4 * i;
        s->pair[2 * i + 1] = ee ? i / 2 * 2 + 1 : kind == GAP_CCD_VV ? 4 * i + 1 : i;
        for (k = 0; k < 2; ++k) s->edge[2 * i + k] = ee ? 2 * i + k : 4 * i + 1 + k;
        for (k = 0; k < 3; ++k) s->tri[3 * i + k] = 4 * i + 1 + k;
        for (j = 0; j < 4; ++j)
            for (k = 0; k < dim; ++k) {
                int second = ee ? j >= 2 : j > 0;
                double d = second && k == dim - 1 ? -2.0 : 0.0;
                int at = dim * (4 * i + j) + k;
                s->x0[at] = d + munit_rand_double();
                s->x1[at] = s->x0[at] + 2.0 * munit_rand_double() - 1.0 - (k == dim - 1 && !second);
            }
    }
}

static int scene_points(const scene *s, int kind, int i, int *node)
{
    int a = s->pair[2 * i], b = s->pair[2 * i + 1];
    if (kind == GAP_CCD_EE) {
        node[0] = s->edge[2 * a], node[1] = s->edge[2 * a + 1];
        node[2] = s->edge[2 * b], node[3] = s->edge[2 * b + 1];
        return 4;
    }
    node[0] = a;
    if (kind == GAP_CCD_VV) node[1] = b;
    if (kind == GAP_CCD_VE) node[1] = s->edge[2 * b], node[2] = s->edge[2 * b + 1];
    if (kind == GAP_CCD_VF) memcpy(node + 1, s->tri + 3 * b, 3 * sizeof *node);
    return points_of[kind];
}

static double scene_dist(const scene *s, int kind, const int *node, int n)
{
    double r[2] = {0.0, 0.0};
    int k, first = kind == GAP_CCD_EE ? 2 : 1;
    for (k = 0; k < n; ++k) r[k >= first] = fmax(r[k >= first], s->radius[node[k]]);
    return 0.01 + (r[0] + r[1]);
}

static MunitResult batch(const MunitParameter params[], void *data)
{
    static const int dims[6][2] = {{2, 0}, {3, 0}, {2, 1}, {3, 1}, {3, 2}, {3, 3}};
    static int status[LIST];
    static double toi[LIST];
    scene *s = (scene *)malloc(sizeof *s);
    gap_ccd_options o = {0};
    int f, i, j, k, hits = 0;
    (void)params, (void)data;
    munit_assert_not_null(s);
    o.keep = 0.2;
    for (f = 0; f < 6; ++f) {
        int dim = dims[f][0], kind = dims[f][1];
        scene_make(s, dim, kind);
        i = gap_ccd_batch(
            &o, &s->mesh, s->x0, s->x1, kind, s->pair, 0, LIST, 0.01, 0.9, status, toi);
        munit_assert_int(i, ==, 0);
        for (i = 0; i < LIST; ++i) {
            double p0[12], p1[12], t;
            int node[4], n = scene_points(s, kind, i, node);
            for (j = 0; j < n; ++j)
                for (k = 0; k < dim; ++k) {
                    p0[dim * j + k] = s->x0[dim * node[j] + k];
                    p1[dim * j + k] = s->x1[dim * node[j] + k];
                }
            munit_assert_int(status[i], ==,
                gap_ccd_pair(&o, dim, kind, p0, p1, scene_dist(s, kind, node, n), 0.9, &t));
            munit_assert_memory_equal(sizeof t, &t, &toi[i]);
            hits += status[i] == GAP_CCD_HIT;
        }
        s->pair[2 * 17 + 1] = kind == GAP_CCD_VV ? 4 * LIST : LIST;
        i = gap_ccd_batch(
            &o, &s->mesh, s->x0, s->x1, kind, s->pair, 10, 20, 0.01, 1.0, status, toi);
        munit_assert_int(i, ==, GAP_CCD_EINDEX);
        munit_assert_int(status[17], ==, GAP_CCD_EINDEX);
        munit_assert_double(toi[17], ==, 0.0);
    }
    munit_assert_int(hits, >, LIST / 10);
    free(s);
    return MUNIT_OK;
}

/* The common step is safe for every pair, is set by one of them, and has the same bits however the
   chunks are run. */
static MunitResult step(const MunitParameter params[], void *data)
{
    static int status[LIST];
    static double toi[LIST];
    scene *s = (scene *)malloc(sizeof *s);
    gap_ccd_options o = {0};
    int kind, w, i, first, first0;
    (void)params, (void)data;
    munit_assert_not_null(s);
    o.keep = 0.2;
    for (kind = 0; kind < 4; ++kind) {
        double t0 = 1.0, least = 1.0;
        int s0;
        scene_make(s, 3, kind);
        gap_ccd_batch(&o, &s->mesh, s->x0, s->x1, kind, s->pair, 0, LIST, 0.01, 1.0, status, toi);
        for (i = 0; i < LIST; ++i) least = fmin(least, toi[i]);
        o.parallel_for = NULL;
        s0 = gap_ccd_step(&o, &s->mesh, s->x0, s->x1, kind, s->pair, LIST, 0.01, &t0, &first0);
        munit_assert_int(s0, ==, GAP_CCD_HIT);
        munit_assert(t0 >= least && t0 <= least * (1.0 + 1e-3) && toi[first0] <= t0);
        for (w = 1; w <= 8; w = w == 3 ? 8 : w + 1) {
            pool *p = pool_open(w);
            double t = 1.0;
            munit_assert_not_null(p);
            o.parallel_for = pool_for, o.parallel_user = p;
            i = gap_ccd_step(&o, &s->mesh, s->x0, s->x1, kind, s->pair, LIST, 0.01, &t, &first);
            munit_assert_int(i, ==, s0);
            munit_assert_memory_equal(sizeof t, &t, &t0);
            munit_assert_int(first, ==, first0);
            pool_close(p);
        }
        o.parallel_for = NULL;
    }
    free(s);
    return MUNIT_OK;
}

static int ask_step(const scene *s, int count, double *t, int *first)
{
    return gap_ccd_step(
        NULL, &s->mesh, s->x0, s->x1, GAP_CCD_VF, s->pair, count, 0.0, t, first);
}

static MunitResult step_errors(const MunitParameter params[], void *data)
{
    scene *s = (scene *)malloc(sizeof *s);
    double t = 1.0;
    int first;
    (void)params, (void)data;
    munit_assert_not_null(s);
    scene_make(s, 3, GAP_CCD_VF);
    munit_assert_int(ask_step(s, 0, &t, &first), ==, GAP_CCD_FREE);
    munit_assert(t == 1.0 && first == -1);
    memcpy(s->x0 + 12 * 2000, s->x0 + 12 * 2000 + 3, 3 * sizeof(double)); /* vertex on a corner */
    munit_assert_int(ask_step(s, LIST, &t, &first), ==, GAP_CCD_CLOSE);
    munit_assert(t == 0.0 && first == 2000);
    munit_assert_int(ask_step(s, LIST, &t, &first), ==, GAP_CCD_CLOSE); /* again, from t = 0 */
    munit_assert(t == 0.0 && first == 2000);
    s->x1[12 * 2500] = NAN;
    t = 1.0;
    munit_assert_int(ask_step(s, LIST, &t, &first), ==, GAP_CCD_ENONFIN);
    munit_assert(t == 0.0 && first == 2500);
    free(s);
    return MUNIT_OK;
}

/* A part of the start gap is left, and not much more. */
static MunitResult keep(const MunitParameter params[], void *data)
{
    double a0[6] = {0, 0, 0, 10, 0, 0}, a1[6] = {8, 0, 0, 2, 0, 0}, toi;
    gap_ccd_options o = {0};
    int i, work;
    (void)params, (void)data;
    o.keep = 0.2; /* distance 10 - 16 t, gap 8 over 2, 1.6 must remain: t = 0.4 */
    munit_assert_int(gap_ccd_pair(&o, 3, GAP_CCD_VV, a0, a1, 2.0, 1.0, &toi), ==, GAP_CCD_HIT);
    munit_assert(toi <= 0.4 && toi > 0.4 - 1e-5);
    for (i = 0; i < 10000; ++i) {
        contact c;
        double plain;
        o.keep = munit_rand_double();
        contact_make(&c, i % 4, i / 4 % 2, 1 + pick(64), 1 + pick(8));
        contact_solve(&c, NULL, &plain, &work);
        munit_assert_int(contact_solve(&c, &o, &toi, &work), ==, GAP_CCD_HIT);
        munit_assert(toi > 0.0 && toi <= c.time);
    }
    return MUNIT_OK;
}

/* Every instruction set that the machine has: same status, toi and steps as the plain one. */
static MunitResult same_bits_every_isa(const MunitParameter params[], void *data)
{
    static const int isa[3] = {GAP_CCD_ISA_BEST, GAP_CCD_ISA_VECTOR, GAP_CCD_ISA_AVX2};
    int i, j, n = util_count(50000, 2000000), status[3], work[3];
    (void)params, (void)data;
    for (i = 0; i < n; ++i) {
        gap_ccd_options o = {0};
        contact c = {0};
        double toi[3];
        contact_make(&c, i % 4, i / 4 % 2, 1 + pick(64), 1 + pick(8));
        if (i / 64 % 2) c.dist *= munit_rand_double();
        for (j = 0; i / 8 % 2 && j < 12; ++j) c.p1[j] += c.p0[j] * nasty();
        o.keep = i / 16 % 2 ? 0.2 : 0.0;
        if (i / 32 % 2) contact_scale(&c, ldexp(1.0, 60 * (pick(31) - 15))); /* rescaled ones too */
        for (j = 0; j < 3; ++j) {
            o.isa = isa[j];
            status[j] = contact_solve(&c, &o, &toi[j], &work[j]);
            munit_assert_int(status[j], ==, status[0]);
            munit_assert_int(work[j], ==, work[0]);
            munit_assert_memory_equal(sizeof toi[0], &toi[j], &toi[0]);
        }
    }
    return MUNIT_OK;
}

/* Status and bits of toi of all kinds: vector, scalar and other compilers' builds must agree, given
   -ffp-contract=off. Inputs come from integers alone. */
static MunitResult same_bits(const MunitParameter params[], void *data)
{
    uint64_t hash = 0, state = 1;
    int i, j;
    (void)params, (void)data;
    for (i = 0; i < 20000; ++i) {
        gap_ccd_options o = {0};
        double p[24], toi;
        int status, kind = i % 4, n = 3 * points_of[kind];
        for (j = 0; j < 24; ++j) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            p[j] = (double)(int64_t)(state >> 20) / 17592186044416.0 - 0.5
                + (j % n < 3 && j % 3 == 2 ? (j < n ? 1.0 : -0.5) : 0.0);
        }
        o.keep = i % 3 ? 0.0 : 0.1;
        status = gap_ccd_pair(&o, 3, kind, p, p + n, i % 5 ? 0.0 : 0.03, 1.0, &toi);
        hash = util_hash(hash, &toi, 1);
        hash = util_hash_bytes(hash, &status, sizeof status);
    }
    munit_logf(MUNIT_LOG_INFO, "hash %016llx", (unsigned long long)hash);
#if !defined(__FMA__) || defined(TEST_CCD_BITS)
    munit_assert(hash == UINT64_C(0x4af31f7a2d85764d));
#endif
    return MUNIT_OK;
}

#define TEST(name, fn) {(char *)name, fn, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}
static MunitTest tests[] = {
    TEST("/quick_start", quick_start),
    TEST("/edge/start", edge_start),
    TEST("/edge/still", edge_still),
    TEST("/edge/nonfinite", edge_nonfinite),
    TEST("/edge/input", edge_input),
    TEST("/edge/degenerate", edge_degenerate),
    TEST("/published", published),
    TEST("/large_distance", large_distance),
    TEST("/hit_has_positive_toi", hit_has_positive_toi),
    TEST("/constructed", constructed),
    TEST("/constructed_grazing", constructed_grazing),
    TEST("/extreme_scales", extreme_scales),
    TEST("/flush_to_zero", flush_to_zero),
    TEST("/scale_changes_no_bit", scale_changes_no_bit),
    TEST("/budget", budget),
    TEST("/sampled", sampled),
    TEST("/certificate_bound", certificate_bound),
    TEST("/batch", batch),
    TEST("/step", step),
    TEST("/step_errors", step_errors),
    TEST("/keep", keep),
    TEST("/same_bits", same_bits),
    TEST("/same_bits_every_isa", same_bits_every_isa),
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

int main(int argc, char *argv[])
{
    static const MunitSuite suite = {(char *)"/ccd", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};
    return munit_suite_main(&suite, NULL, argc, argv);
}
