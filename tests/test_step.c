/* test_step.c - gap_step.h: orders of accuracy, polynomials, conservation, published numbers */
#define GAP_STEP_IMPLEMENTATION
#include "gap_step.h"
#include "util.h"

static const gap_step_method methods[5] = {GAP_STEP_EULER, GAP_STEP_BDF1, GAP_STEP_BDF2,
    GAP_STEP_BDF3, GAP_STEP_NEWMARK};

static gap_step_options with(gap_step_method m)
{
    gap_step_options o;
    o.method = m;
    o.beta = o.gamma = 0.0;
    return o;
}

/* Error at time T of the oscillator x'' = -w^2 x after `steps` steps; wobble makes
   them unequal by a smooth factor, so that they still shrink together. */
static double oscillator_error(gap_step_method m, int steps, double wobble, int know_a)
{
    gap_step_options o = with(m);
    double w = 2.0, T = 2.5, x = 1.0, v = 0.5, a = -w * w * x, work[32], t = 0.0, ex, ev;
    gap_step S;
    int k;
    munit_assert_size(gap_step_work_size(&o, 1), <=, sizeof work);
    munit_assert_int(gap_step_init(&S, &o, 1, &x, &v, know_a ? &a : NULL, work), ==, 0);
    for (k = 0; k < steps; ++k) {
        double u = (k + 1.0) / steps;
        double next = T * (u + wobble * sin(2.0 * UTIL_PI * u) / (2.0 * UTIL_PI));
        munit_assert_int(gap_step_begin(&S, next - t, NULL, &x), ==, 0);
        x /= 1.0 + S.weight * w * w;
        munit_assert_int(gap_step_end(&S, &x), ==, 0);
        t = next;
    }
    ex = S.x[0] - (cos(w * T) + 0.5 / w * sin(w * T));
    ev = S.v[0] - (-w * sin(w * T) + 0.5 * cos(w * T));
    return sqrt(ex * ex + ev * ev / (w * w));
}

static MunitResult order(const MunitParameter params[], void *data)
{
    static const struct {
        gap_step_method m;
        int know_a;
        double wobble, order;
    } table[] = {{GAP_STEP_EULER, 0, 0.0, 1}, {GAP_STEP_BDF1, 0, 0.5, 1},
        {GAP_STEP_BDF2, 0, 0.0, 2}, {GAP_STEP_BDF2, 1, 0.0, 2}, {GAP_STEP_BDF2, 0, 0.5, 2},
        {GAP_STEP_BDF3, 0, 0.0, 2}, {GAP_STEP_BDF3, 1, 0.0, 3}, {GAP_STEP_BDF3, 1, 0.5, 3},
        {GAP_STEP_NEWMARK, 1, 0.0, 2}, {GAP_STEP_NEWMARK, 1, 0.5, 2}};
    size_t k;
    (void)params, (void)data;
    for (k = 0; k < sizeof table / sizeof table[0]; ++k) {
        double e1 = oscillator_error(table[k].m, 800, table[k].wobble, table[k].know_a);
        double e2 = oscillator_error(table[k].m, 1600, table[k].wobble, table[k].know_a);
        double p = log(e1 / e2) / log(2.0);
        munit_logf(MUNIT_LOG_INFO, "method %d a %d wobble %g: error %.2e order %.3f",
            (int)table[k].m, table[k].know_a, table[k].wobble, e2, p);
        munit_assert_double(fabs(p - table[k].order), <, 0.1);
    }
    return MUNIT_OK;
}

/* A cubic's derivative by BDF3 (a parabola's by BDF2, a line's by BDF1) is exact at any steps. */
static MunitResult polynomials(const MunitParameter params[], void *data)
{
    int round, m, k;
    (void)params, (void)data;
    for (round = 0; round < 300; ++round) {
        for (m = 1; m <= 3; ++m) {
            gap_step_options o = with((gap_step_method)m);
            double c[4] = {0, 0, 0, 0}, t = 0.0, h = 0.1, x, v, target, got, work[32];
            gap_step S;
            for (k = 0; k <= m; ++k) c[k] = util_uniform(-1.0, 1.0);
            gap_step_init(&S, &o, 1, &c[0], &c[1], NULL, work);
            for (k = 0; k < 4; ++k) {
                h *= util_uniform(0.7, 1.4);
                t += h;
                x = c[0] + t * (c[1] + t * (c[2] + t * c[3]));
                v = c[1] + t * (2.0 * c[2] + t * 3.0 * c[3]);
                if (k < 3) {
                    munit_assert_int(gap_step_push(&S, h, &x, &v, NULL), ==, 0);
                    continue;
                }
                munit_assert_int(gap_step_begin(&S, h, NULL, &target), ==, 0);
                munit_assert_int(S.order, ==, m);
                gap_step_velocity(&S, &x, &got);
                munit_assert_double(fabs(got - v), <, 1e-12);
                munit_assert_int(gap_step_end(&S, &x), ==, 0);
                munit_assert_double(S.v[0], ==, got);
                if (m == 3) munit_assert_double(fabs(S.a[0] - 2 * c[2] - 6 * c[3] * t), <, 1e-11);
            }
        }
    }
    return MUNIT_OK;
}

/* Weights and dv/dx at equal steps: the table of the textbooks. */
static MunitResult weights(const MunitParameter params[], void *data)
{
    static const double c_el[5] = {1.0, 1.0, 4.0 / 9.0, 36.0 / 121.0, 0.25};
    static const double dvdx[5] = {1.0, 1.0, 1.5, 11.0 / 6.0, 2.0};
    static const double a[4][3] = {{1, 0, 0}, {1, 0, 0}, {4.0 / 3, -1.0 / 3, 0},
        {18.0 / 11, -9.0 / 11, 2.0 / 11}};
    int m, k, i;
    (void)params, (void)data;
    for (m = 0; m < 5; ++m) {
        gap_step_options o = with(methods[m]);
        double work[32], x[3], v[3], t, zero = 0.0, h = 0.025, want = 0.0, slope[2];
        gap_step S;
        gap_step_init(&S, &o, 1, &zero, &zero, &zero, work);
        for (k = 2; k >= 0; --k) { /* oldest first */
            x[k] = util_normal();
            v[k] = util_normal();
            gap_step_push(&S, h, &x[k], &v[k], &zero);
        }
        munit_assert_int(gap_step_begin(&S, h, NULL, &t), ==, 0);
        util_assert_rel(S.c_el, c_el[m], 1e-14);
        util_assert_rel(S.weight, c_el[m] * h * h, 1e-14);
        util_assert_rel(S.dvdx, dvdx[m] / h, 1e-14);
        for (i = 0; m < 4 && i < 3; ++i) want += a[m][i] * x[i] + a[m][i] * h * v[i] / dvdx[m];
        if (m == 4) want = x[0] + h * v[0];
        munit_assert_double(fabs(t - want), <, 1e-14);
        gap_step_velocity(&S, &zero, &slope[0]); /* dv/dx is the slope of velocity */
        x[0] = 1.0;
        gap_step_velocity(&S, &x[0], &slope[1]);
        util_assert_rel(slope[1] - slope[0], S.dvdx, 1e-12);
    }
    return MUNIT_OK;
}

/* Free fall from rest: Euler -g h^2 k(k+1)/2; Newmark with a0 = -g exactly -g t^2/2. */
static MunitResult free_fall(const MunitParameter params[], void *data)
{
    int m, k;
    (void)params, (void)data;
    for (m = 0; m < 5; m += 4) {
        gap_step_options o = with(methods[m]);
        double g = -9.81, h = 0.025, x = 0.0, v = 0.0, work[32];
        gap_step S;
        gap_step_init(&S, &o, 1, &x, &v, &g, work);
        for (k = 1; k <= 40; ++k) {
            gap_step_begin(&S, h, &g, &x); /* no other force: the target is the minimum */
            gap_step_end(&S, &x);
            util_assert_rel(x, 0.5 * g * h * h * k * (m == 0 ? k + 1 : k), 1e-13);
            util_assert_rel(S.v[0], g * h * k, 1e-13);
            util_assert_rel(S.a[0], g, 1e-10);
            if (k == 1 && m == 0) util_assert_rel(x, -6.13125e-3, 1e-14);
        }
    }
    return MUNIT_OK;
}

/* Linear system of 2 masses and a spring, free in space: momentum for all methods; energy exactly
   for Newmark, falling for Euler. */
static MunitResult conservation(const MunitParameter params[], void *data)
{
    int m, k;
    (void)params, (void)data;
    for (m = 0; m < 5; ++m) {
        gap_step_options o = with(methods[m]);
        double m1 = 1.0, m2 = 3.0, ks = 40.0, x[2] = {0.0, 1.3}, v[2] = {0.2, -0.1}, a[2], work[32];
        double p0 = m1 * v[0] + m2 * v[1], e0, e, last;
        gap_step S;
        a[0] = ks * (x[1] - x[0]) / m1; /* rest length 0 */
        a[1] = -ks * (x[1] - x[0]) / m2;
        gap_step_init(&S, &o, 2, x, v, m == 4 ? a : NULL, work);
        e0 = last = 0.5 * (m1 * v[0] * v[0] + m2 * v[1] * v[1] + ks * 1.3 * 1.3);
        for (k = 0; k < 500; ++k) {
            double w, d;
            gap_step_begin(&S, 0.01, NULL, x);
            w = S.weight * ks; /* (M + w L) x = M target by the relative coordinate */
            d = (x[1] - x[0]) / (1.0 + w * (1.0 / m1 + 1.0 / m2));
            x[0] += w * d / m1;
            x[1] -= w * d / m2;
            gap_step_end(&S, x);
            e = 0.5 * (m1 * S.v[0] * S.v[0] + m2 * S.v[1] * S.v[1]
                + ks * (x[1] - x[0]) * (x[1] - x[0]));
            munit_assert_double(fabs(m1 * S.v[0] + m2 * S.v[1] - p0), <, 1e-11);
            if (m == 4) util_assert_rel(e, e0, 1e-11);
            if (m < 2) munit_assert_double(e, <=, last);
            last = e;
        }
    }
    return MUNIT_OK;
}

/* Growth of an undamped oscillation in one step, after 400: what the header says of each method. */
static double growth(gap_step_method m, double wh)
{
    gap_step_options o = with(m);
    double x = 1.0, v = 0.0, work[32], first = 0.0, e = 0.0;
    gap_step S;
    int k;
    gap_step_init(&S, &o, 1, &x, &v, NULL, work);
    for (k = 1; k <= 400; ++k) {
        gap_step_begin(&S, wh, NULL, &x); /* omega = 1 */
        x /= 1.0 + S.weight;
        gap_step_end(&S, &x);
        e = sqrt(x * x + S.v[0] * S.v[0]);
        if (k == 100) first = e;
    }
    return pow(e / first, 1.0 / 300.0) - 1.0;
}

static MunitResult stability(const MunitParameter params[], void *data)
{
    double wh;
    int m;
    (void)params, (void)data;
    for (wh = 0.05; wh < 5.0; wh *= 1.1) {
        for (m = 0; m < 5; ++m) {
            double g = growth(methods[m], wh);
            if (m == 4) munit_assert_double(g, <, 2e-3); /* swings, never grows: conservation */
            else if (methods[m] != GAP_STEP_BDF3 || wh > 1.96) munit_assert_double(g, <, 0.0);
            else if (wh < 0.1) util_assert_rel(g, wh * wh * wh * wh / 4.0, 0.1);
            else if (wh < 1.9) munit_assert(g > 0.0 && g < 0.048);
        }
    }
    return MUNIT_OK;
}

/* Saved work memory resumes with the same bits; a power of two of scale gives scaled bits. */
static MunitResult resume_and_scale(const MunitParameter params[], void *data)
{
    int m, k, run;
    (void)params, (void)data;
    for (m = 0; m < 5; ++m) {
        gap_step_options o = with(methods[m]);
        double end[3];
        for (run = 0; run < 3; ++run) {
            double s = run == 2 ? 0x1p-20 : 1.0, x = s, v = 0.25 * s, a = -2.0 * s;
            double one[32], two[32], *work = one;
            gap_step S;
            gap_step_init(&S, &o, 1, &x, &v, &a, work);
            for (k = 0; k < 30; ++k) {
                if (run == 1) { /* move house at every step */
                    double *other = work == one ? two : one;
                    memcpy(other, work, gap_step_work_size(&o, 1));
                    memset(work, 0x77, gap_step_work_size(&o, 1));
                    work = other;
                    munit_assert_int(gap_step_attach(&S, &o, 1, work), ==, 0);
                }
                gap_step_begin(&S, k % 3 ? 0.1 : 0.11, NULL, &x);
                x /= 1.0 + S.weight * 3.0;
                gap_step_end(&S, &x);
            }
            end[run] = S.x[0] / s + S.v[0] / s;
        }
        munit_assert_double(end[1], ==, end[0]);
        munit_assert_double(end[2], ==, end[0]);
    }
    return MUNIT_OK;
}

static MunitResult edges(const MunitParameter params[], void *data)
{
    static const double bad[4] = {0.0, -1.0, NAN, INFINITY};
    gap_step_options o = with(GAP_STEP_BDF3);
    double x = 1.0, v = 2.0, t, nan = NAN, work[32], empty[32] = {0};
    gap_step S;
    int k;
    (void)params, (void)data;
    munit_assert_int(gap_step_attach(&S, &o, 1, empty), ==, GAP_STEP_EINPUT);
    munit_assert_int(gap_step_init(&S, &o, 1, &nan, &v, NULL, work), ==, GAP_STEP_ENONFIN);
    munit_assert_int(gap_step_init(&S, &o, 1, &x, &v, NULL, work), ==, GAP_STEP_OK);
    for (k = 0; k < 4; ++k) {
        munit_assert_int(gap_step_begin(&S, bad[k], NULL, &t), ==, GAP_STEP_EINPUT);
        munit_assert_double(t, ==, 1.0);
        munit_assert_int(gap_step_push(&S, bad[k], &x, &v, NULL), ==, GAP_STEP_EINPUT);
    }
    munit_assert_int(gap_step_begin(&S, 0.1, NULL, &t), ==, GAP_STEP_OK);
    munit_assert_int(gap_step_end(&S, &nan), ==, GAP_STEP_ENONFIN);
    munit_assert_double(S.x[0], ==, 1.0);
    munit_assert_double(S.v[0], ==, 2.0);
    munit_assert_int(gap_step_push(&S, 0.1, &nan, &v, NULL), ==, GAP_STEP_ENONFIN);
    for (k = 1; k < 5; ++k) { /* order rises, and falls when h jumps */
        munit_assert_int(gap_step_begin(&S, 0.1, NULL, &t), ==, GAP_STEP_OK);
        munit_assert_int(S.order, ==, k < 3 ? k : 3);
        munit_assert_int(gap_step_end(&S, &t), ==, GAP_STEP_OK);
    }
    munit_assert_int(gap_step_begin(&S, 0.2, NULL, &t), ==, GAP_STEP_OK);
    munit_assert_int(S.order, ==, 2);
    munit_assert_int(gap_step_begin(&S, 0.3, NULL, &t), ==, GAP_STEP_OK);
    munit_assert_int(S.order, ==, 1);
    munit_assert_int(gap_step_begin(&S, 0.01, NULL, &t), ==, GAP_STEP_OK);
    munit_assert_int(S.order, ==, 3);
    munit_assert_size(gap_step_work_size(NULL, 10), ==, 38 * sizeof(double));
    munit_assert_int(gap_step_init(&S, NULL, 0, NULL, NULL, NULL, work), ==, GAP_STEP_OK);
    munit_assert_int(gap_step_begin(&S, 0.1, NULL, NULL), ==, GAP_STEP_OK);
    munit_assert_int(gap_step_end(&S, NULL), ==, GAP_STEP_OK);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/order", order, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/polynomials", polynomials, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/weights", weights, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/free_fall", free_fall, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/conservation", conservation, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/stability", stability, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/resume_and_scale", resume_and_scale, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/edge/all", edges, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

static const MunitSuite suite = {"/step", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
