/* Tests of gap_distance.h. The oracle works in 113-bit arithmetic, looks at every face of the
   parameter domain, and shares no code with the header. */
#define GAP_DISTANCE_IMPLEMENTATION
#include "gap_distance.h"
#include "util.h"

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#define HAVE_QUAD 1
#else
typedef long double quad;
#define HAVE_QUAD 0
#endif

static const int k_points[5] = {2, 3, 4, 4, 1};

/* ---- oracle ---- */
static quad q_dot(const quad *a, const quad *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void q_sub(const double *a, const double *b, quad *c)
{
    int i;
    for (i = 0; i < 3; ++i) c[i] = (quad)a[i] - (quad)b[i];
}

/* min over t in [0,1] of |a - t e|^2, by the value at the clamped t */
static quad q_ve(const double *p, const double *e0, const double *e1)
{
    quad a[3], e[3], t, l;
    int i;
    q_sub(p, e0, a);
    q_sub(e1, e0, e);
    l = q_dot(e, e);
    t = l > 0 ? q_dot(a, e) / l : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (i = 0; i < 3; ++i) a[i] -= t * e[i];
    return q_dot(a, a);
}

static quad q_min(quad a, quad b)
{
    return a < b ? a : b;
}

/* min over x, y of |t - x u - y v|^2; -1 if u and v are parallel */
static quad q_plane(const quad *t, const quad *u, const quad *v, quad *x, quad *y)
{
    quad n[3], c[3], m, r;
    n[0] = u[1] * v[2] - u[2] * v[1];
    n[1] = u[2] * v[0] - u[0] * v[2];
    n[2] = u[0] * v[1] - u[1] * v[0];
    m = q_dot(n, n);
    if (!(m > (quad)1e-60 * q_dot(u, u) * q_dot(v, v))) return -1;
    c[0] = t[1] * v[2] - t[2] * v[1];
    c[1] = t[2] * v[0] - t[0] * v[2];
    c[2] = t[0] * v[1] - t[1] * v[0];
    *x = q_dot(c, n) / m;
    c[0] = u[1] * t[2] - u[2] * t[1];
    c[1] = u[2] * t[0] - u[0] * t[2];
    c[2] = u[0] * t[1] - u[1] * t[0];
    *y = q_dot(c, n) / m;
    r = q_dot(t, n);
    return r * r / m;
}

static quad q_ee(const double *p)
{
    const double *a0 = p, *a1 = p + 3, *b0 = p + 6, *b1 = p + 9;
    quad best, t[3], u[3], v[3], x, y, in;
    best = q_min(q_ve(a0, b0, b1), q_ve(a1, b0, b1));
    best = q_min(best, q_min(q_ve(b0, a0, a1), q_ve(b1, a0, a1)));
    q_sub(b0, a0, t); /* b0 - a0 = x (a1 - a0) - y (b1 - b0) */
    q_sub(a1, a0, u);
    q_sub(b0, b1, v);
    in = q_plane(t, u, v, &x, &y);
    return in >= 0 && x >= 0 && x <= 1 && y >= 0 && y <= 1 ? q_min(best, in) : best;
}

static quad q_vf(const double *p)
{
    quad best, t[3], u[3], v[3], x, y, in;
    best = q_min(q_min(q_ve(p, p + 3, p + 6), q_ve(p, p + 6, p + 9)), q_ve(p, p + 9, p + 3));
    q_sub(p, p + 3, t);
    q_sub(p + 6, p + 3, u);
    q_sub(p + 9, p + 3, v);
    in = q_plane(t, u, v, &x, &y);
    return in >= 0 && x >= 0 && y >= 0 && x + y <= 1 ? q_min(best, in) : best;
}

static quad q_pair(int kind, const double *p)
{
    if (kind == 0) return q_ve(p, p + 3, p + 3);
    if (kind == 1) return q_ve(p, p + 3, p + 6);
    return kind == 2 ? q_vf(p) : q_ee(p);
}

/* d / exact - 1 from the squares; the ratio is near 1, so the square root may be a double's */
static double ratio_error(double d2, quad exact2)
{
    return sqrt((double)((quad)d2 / exact2)) - 1.0;
}

static double value(int kind, const double *p)
{
    if (kind == 0) return gap_distance_vv(p, p + 3);
    if (kind == 1) return gap_distance_ve(p, p + 3, p + 6);
    if (kind == 2) return gap_distance_vf(p, p + 3, p + 6, p + 9);
    return gap_distance_ee(p, p + 3, p + 6, p + 9);
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

/* Edges of length 0.5..3 whose directions enclose the sine, a gap along z, every overlap. */
static void near_parallel(double sine, double gap, double *p)
{
    double la = util_uniform(0.5, 3), lb = util_uniform(0.5, 3), c = sqrt(1 - sine * sine);
    double at = util_uniform(-0.3, 1.3), from = util_uniform(-0.3, 1.3);
    double shift[3];
    int i;
    memset(p, 0, 12 * sizeof *p);
    p[3] = la;
    p[6] = at * la - from * lb * c;
    p[7] = -from * lb * sine;
    p[9] = at * la + (1 - from) * lb * c;
    p[10] = (1 - from) * lb * sine;
    p[8] = p[11] = gap;
    if (munit_rand_int_range(0, 1)) /* reverse b */
        for (i = 0; i < 3; ++i) {
            double s = p[6 + i];
            p[6 + i] = p[9 + i];
            p[9 + i] = s;
        }
    util_points(shift, 1, 3, 1.0);
    for (i = 0; i < 12; ++i) p[i] += shift[i % 3];
    rotate(p, 4);
}

static MunitResult test_near_parallel(const MunitParameter params[], void *data)
{
    int e, i, k, scale, count = util_count(3000, 100000);
    double over_all = 0, under_all = 0;
    (void)params; (void)data;
    if (!HAVE_QUAD) return MUNIT_SKIP;
    for (e = -17; e <= 0; ++e) {
        double sine = e < -16 ? 0.0 : pow(10.0, e), over = 0, under = 0;
        for (i = 0; i < count; ++i) {
            double p[12], gap = pow(10.0, util_uniform(-9, 0)), err;
            near_parallel(sine, gap, p);
            scale = munit_rand_int_range(-60, 60);
            for (k = 0; k < 12; ++k) p[k] = ldexp(p[k], scale);
            err = ratio_error(value(3, p), q_ee(p));
            over = fmax(over, err);
            under = fmax(under, -err);
        }
        munit_logf(MUNIT_LOG_INFO, "sine %.0e: %d pairs, above %.2e, below %.2e", sine, count,
            over, under);
        over_all = fmax(over_all, over);
        under_all = fmax(under_all, under);
    }
    munit_assert_double(over_all, <=, 1e-9);
    munit_assert_double(under_all, <=, 1e-9);
    return MUNIT_OK;
}

/* triangles with a sine of 1e-16..1 at the first corner, points close above them and beside */
static MunitResult test_slivers(const MunitParameter params[], void *data)
{
    int e, i, c, count = util_count(3000, 100000);
    double worst = 0;
    (void)params; (void)data;
    if (!HAVE_QUAD) return MUNIT_SKIP;
    for (e = -16; e <= 0; ++e) {
        for (i = 0; i < count; ++i) {
            double p[12], f[9], sine = pow(10.0, e), b, g, n = util_uniform(-1, 1) < 0 ? -1 : 1;
            double len = util_uniform(0.3, 2), gap = pow(10.0, util_uniform(-9, 0));
            memset(f, 0, sizeof f);
            f[3] = 1.0;
            f[6] = n * len * sqrt(1 - sine * sine);
            f[7] = len * sine;
            b = util_uniform(-0.3, 1.3);
            g = util_uniform(-0.3, 1.3) * (1 - b);
            for (c = 0; c < 3; ++c) p[c] = b * f[3 + c] + g * f[6 + c];
            p[2] += gap;
            memcpy(p + 3, f, sizeof f);
            rotate(p, 4);
            worst = fmax(worst, fabs(ratio_error(value(2, p), q_vf(p))));
        }
    }
    munit_logf(MUNIT_LOG_INFO, "worst relative error %.2e", worst);
    munit_assert_double(worst, <=, 1e-9);
    return MUNIT_OK;
}

/* random pairs of all kinds, also far, long, coplanar and on a lattice of ties */
static void random_pair(double *p)
{
    int i, style = munit_rand_int_range(0, 3);
    util_points(p, 4, 3, 1.0);
    if (style == 1)
        for (i = 0; i < 12; ++i) p[i] = munit_rand_int_range(-2, 2);
    if (style == 2)
        for (i = 0; i < 4; ++i) p[3 * i + 2] *= 1e-5;
    if (style == 3)
        for (i = 0; i < 3; ++i) p[i] += 10.0;
}

static MunitResult test_types(const MunitParameter params[], void *data)
{
    static const int types[4] = {1, 3, 7, 9};
    int seen[4][9] = {{0}}, kind, i, k, count = util_count(40000, 1000000);
    (void)params; (void)data;
    if (!HAVE_QUAD) return MUNIT_SKIP;
    for (i = 0; i < count; ++i) {
        double p[12], d2, w[4], r[3];
        int type, c;
        random_pair(p);
        for (kind = 0; kind < 4; ++kind) {
            quad exact = q_pair(kind, p);
            double sum1 = 0, sum2 = 0, size = 0, rr;
            munit_assert_int(gap_distance_pair(3, kind, p, &type, w, &d2), ==, GAP_DISTANCE_OK);
            munit_assert_int(type, >=, 0);
            munit_assert_int(type, <, types[kind]);
            ++seen[kind][type];
            if (exact > (quad)1e-24) {
                if (!(fabs(ratio_error(d2, exact)) <= 1e-9))
                    munit_errorf("kind %d type %d: %.17g, exact %.17g", kind, type, d2,
                        (double)exact);
            } else munit_assert_double(d2, <=, 1e-24);
            munit_assert_double(d2, ==, value(kind, p));
            for (k = 0; k < 4; ++k) {
                if (k < (kind == 3 ? 2 : 1)) sum1 += w[k]; else sum2 += w[k];
                size = fmax(size, fabs(w[k]));
            }
            munit_assert_double(fabs(sum1 - 1) + fabs(sum2 + 1), <=, 1e-14);
            munit_assert_double(size, <=, 1.0 + 1e-9);
            for (c = 0; c < 3; ++c)
                r[c] = w[0] * p[c] + w[1] * p[3 + c] + w[2] * p[6 + c] + w[3] * p[9 + c];
            rr = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
            munit_assert_double(fabs(rr - sqrt(d2)), <=, 1e-13 * 20);
        }
    }
    for (kind = 0; kind < 4; ++kind)
        for (k = 0; k < types[kind]; ++k) munit_assert_int(seen[kind][k], >, 0);
    return MUNIT_OK;
}

/* ---- derivatives ---- */
typedef struct fd_case {
    int dim, kind;
    const double *tail; /* plane */
} fd_case;

static int fd_points(const fd_case *c, const double *x, double *p)
{
    int n = k_points[c->kind] * c->dim, i;
    memcpy(p, x, (size_t)n * sizeof *p);
    for (i = 0; i < 2 * c->dim && c->kind == 4; ++i) p[n + i] = c->tail[i];
    return n;
}

static double fd_value(void *ctx, const double *x)
{
    double p[12], d2;
    fd_points((fd_case *)ctx, x, p);
    gap_distance_pair(((fd_case *)ctx)->dim, ((fd_case *)ctx)->kind, p, NULL, NULL, &d2);
    return d2;
}

static void fd_gradient(void *ctx, const double *x, double *g)
{
    double p[12], d2;
    fd_points((fd_case *)ctx, x, p);
    gap_distance_derivatives(((fd_case *)ctx)->dim, ((fd_case *)ctx)->kind, p, &d2, g, NULL);
}

/* 1 if the type is the same all around x, so that a difference is meaningful */
static int fd_smooth(const fd_case *c, const double *x, double h)
{
    double p[12], d2;
    int n = k_points[c->kind] * c->dim, i, first = -1, type, s;
    for (i = 0; i < n; ++i) {
        for (s = -2; s <= 2; s += 4) {
            double y[12];
            memcpy(y, x, (size_t)n * sizeof *y);
            y[i] += 3 * s * h;
            fd_points(c, y, p);
            gap_distance_pair(c->dim, c->kind, p, &type, NULL, &d2);
            if (first < 0) first = type;
            if (type != first) return 0;
        }
    }
    return 1;
}

static MunitResult test_derivatives(const MunitParameter params[], void *data)
{
    int i, j, k, n, tried[4][9] = {{0}}, count = util_count(20000, 100000), type;
    (void)params; (void)data;
    for (i = 0; i < count; ++i) {
        double x[12], p[12], plane[6], g[12], h[144], d2, w[4], sum, r[3];
        fd_case c;
        c.dim = munit_rand_int_range(2, 3);
        c.kind = munit_rand_int_range(0, 4);
        if (c.dim == 2 && (c.kind == 2 || c.kind == 3)) c.kind -= 2;
        c.tail = plane;
        util_points(plane, 1, c.dim, 1.0);
        util_unit(plane + c.dim, c.dim);
        util_points(x, 4, c.dim, 1.0);
        n = fd_points(&c, x, p);
        munit_assert_int(gap_distance_derivatives(c.dim, c.kind, p, &d2, g, h), ==, 0);
        gap_distance_pair(c.dim, c.kind, p, &type, w, &d2);
        for (j = 0; j < n; ++j)
            for (k = 0; k < n; ++k)
                munit_assert_double(fabs(h[j * n + k] - h[k * n + j]), <=,
                    1e-13 * (fabs(h[j * n + k]) + 1));
        if (c.kind != 4) { /* gradient = 2 w_i r; rows sum to zero */
            for (k = 0; k < c.dim; ++k)
                for (r[k] = 0, j = 0; j < n / c.dim; ++j) r[k] += w[j] * p[j * c.dim + k];
            for (j = 0; j < n; ++j)
                munit_assert_double(fabs(g[j] - 2 * w[j / c.dim] * r[j % c.dim]), <=, 2e-12);
            for (j = 0; j < n; ++j) {
                double size = 0;
                for (sum = 0, k = j % c.dim; k < n; k += c.dim) {
                    sum += h[j * n + k];
                    size = fmax(size, fabs(h[j * n + k]));
                }
                munit_assert_double(fabs(sum), <=, 1e-12 * (size + 1));
            }
        }
        if (d2 < 1e-2 || !fd_smooth(&c, x, 2e-3)) continue;
        if (c.kind < 4) ++tried[c.kind][type];
        munit_assert_double(util_gradient_error(fd_value, &c, x, g, n, 1e-4), <=, 1e-7);
        munit_assert_double(util_jacobian_error(fd_gradient, &c, x, h, n, 1e-4), <=, 1e-6);
    }
    for (k = 0; k < 7; ++k) munit_assert_int(tried[2][k], >, 0);
    for (k = 0; k < 9; ++k) munit_assert_int(tried[3][k], >, 0);
    return MUNIT_OK;
}

/* ---- single cases ---- */
static MunitResult test_quick(const MunitParameter params[], void *data)
{
    double p[12] = {0.2, 0.3, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0}, w[4], d2;
    double q[6] = {0, 3, 0, 0, 0, 1}, plane[9] = {1, 2, 3, 0, 0, 1, 0, 0, 1};
    int type, local[4];
    (void)params; (void)data;
    gap_distance_pair(3, GAP_DISTANCE_VF, p, &type, w, &d2);
    munit_assert_double(d2, ==, 4.0);
    munit_assert_int(type, ==, 6);
    gap_distance_pair(2, GAP_DISTANCE_VE, q, &type, w, &d2); /* (0,3) and (0,0)-(0,1) */
    munit_assert_double(d2, ==, 4.0);
    munit_assert_int(type, ==, 1);
    munit_assert_double(w[2], ==, -1.0);
    munit_assert_double(gap_distance_vp(plane, plane + 3, plane + 6), ==, 4.0);
    munit_assert_int(gap_distance_features(3, 6, local), ==, GAP_DISTANCE_VE);
    munit_assert_int(local[0], ==, 2);
    munit_assert_int(gap_distance_features(4, 0, local), ==, GAP_DISTANCE_VP);
    munit_assert_int(local[1], ==, -1);
    return MUNIT_OK;
}

/* nearly parallel, overlapping, exact distance 1e-6; the usual determinants say 1.135 */
static MunitResult test_reported_far(const MunitParameter params[], void *data)
{
    static const double p[12] = {-0.077585217670033582, -0.11585247062544773, 0.11849412064403325,
        2.0620484451004866, 1.5389610091803314, 1.4319680086302817,
        2.8698035632064407, 2.1636877313631193, 1.9278307583802394,
        1.0709258016974121, 0.77241817897934384, 0.82353939835282963};
    (void)params; (void)data;
    munit_assert_double(fabs(sqrt(value(3, p)) - 1e-6), <=, 1e-15);
    return MUNIT_OK;
}

static MunitResult test_degenerate(const MunitParameter params[], void *data)
{
    double o[3] = {0, 0, 0}, x[3] = {1, 0, 0}, x2[3] = {2, 0, 0}, x3[3] = {3, 0, 0};
    double y[3] = {0.5, 2, 0}, z[3] = {0.5, 1, 0}, m[3] = {0.5, -1, 0}, up[3] = {0.25, 0.25, 3};
    double yy[3] = {0, 1, 0}, p[12], g[12], h[144], d2;
    int i;
    (void)params; (void)data;
    munit_assert_double(gap_distance_ve(y, o, o), ==, 4.25);           /* zero-length edge */
    munit_assert_double(gap_distance_vf(y, o, x, x2), ==, 4.0);        /* flat triangles */
    munit_assert_double(gap_distance_vf(y, o, o, o), ==, 4.25);
    munit_assert_double(gap_distance_ee(o, x, y, y), ==, 4.0);
    munit_assert_double(gap_distance_ee(o, o, y, y), ==, 4.25);
    munit_assert_double(gap_distance_ee(o, x, x2, x3), ==, 1.0);       /* collinear apart */
    munit_assert_double(gap_distance_ee(o, x2, x, x3), ==, 0.0);       /* collinear overlap */
    munit_assert_double(gap_distance_ee(o, x, y, z), ==, 1.0);         /* end above the inside */
    munit_assert_double(gap_distance_ee(o, x, m, z), ==, 0.0);         /* crossing in a plane */
    munit_assert_double(gap_distance_ee(o, x, x, y), ==, 0.0);         /* shared end */
    munit_assert_double(gap_distance_vf(up, o, x, yy), ==, 9.0);
    memset(p, 0, sizeof p);                                            /* touching */
    munit_assert_int(gap_distance_derivatives(3, 2, p, &d2, g, h), ==, GAP_DISTANCE_OK);
    munit_assert_double(d2, ==, 0.0);
    for (i = 0; i < 12; ++i) munit_assert_double(g[i], ==, 0.0);
    return MUNIT_OK;
}

static MunitResult test_nan(const MunitParameter params[], void *data)
{
    double p[12], w[4], g[12], h[144], d2, bad[3];
    int kind, i, k, b, type;
    (void)params; (void)data;
    bad[0] = HUGE_VAL; bad[1] = -HUGE_VAL; bad[2] = HUGE_VAL - HUGE_VAL;
    for (kind = 0; kind <= 4; ++kind) {
        int n = kind == 4 ? 9 : 3 * k_points[kind];
        for (i = 0; i < n; ++i) {
            for (b = 0; b < 3; ++b) {
                util_points(p, 4, 3, 1.0);
                p[i] = bad[b];
                munit_assert_int(gap_distance_pair(3, kind, p, &type, w, &d2), ==,
                    GAP_DISTANCE_ENONFIN);
                munit_assert_double(d2, ==, 0.0);
                munit_assert_int(type, ==, 0);
                for (k = 0; k < 4; ++k) munit_assert_double(w[k], ==, 0.0);
                munit_assert_int(gap_distance_derivatives(3, kind, p, &d2, g, h), ==,
                    GAP_DISTANCE_ENONFIN);
                for (k = 0; k < k_points[kind] * 3; ++k) munit_assert_double(g[k], ==, 0.0);
                if (kind < 4) munit_assert_true(isnan(value(kind, p)));
            }
        }
    }
    return MUNIT_OK;
}

static MunitResult test_scaling(const MunitParameter params[], void *data)
{
    int i, kind, k, e;
    (void)params; (void)data;
    for (i = 0; i < 3000; ++i) {
        double p[12], s[12], w0[4], w1[4], d0, d1;
        int t0, t1;
        random_pair(p);
        if (i % 3 == 0) near_parallel(pow(10, -munit_rand_int_range(0, 17)), 1e-3, p);
        e = munit_rand_int_range(-100, 100);
        for (k = 0; k < 12; ++k) s[k] = ldexp(p[k], e);
        for (kind = 0; kind < 4; ++kind) {
            gap_distance_pair(3, kind, p, &t0, w0, &d0);
            gap_distance_pair(3, kind, s, &t1, w1, &d1);
            munit_assert_int(t0, ==, t1);
            munit_assert_double(ldexp(d0, 2 * e), ==, d1);
            munit_assert_memory_equal(sizeof w0, w0, w1);
        }
    }
    return MUNIT_OK;
}

static MunitResult test_invariance(const MunitParameter params[], void *data)
{
    int i, k;
    (void)params; (void)data;
    for (i = 0; i < 3000; ++i) {
        double p[12], q[12], r[12];
        util_points(p, 4, 3, 1.0);
        memcpy(q, p, sizeof q);
        rotate(q, 4);
        for (k = 0; k < 12; ++k) q[k] += 0.25;
        for (k = 0; k < 4; ++k) {
            double d = sqrt(value(k, p));
            munit_assert_double(fabs(d - sqrt(value(k, q))), <=, 1e-14 * 20);
        }
        memcpy(r, p + 6, 6 * sizeof *r); /* swap the edges, reverse one */
        memcpy(r + 6, p + 3, 3 * sizeof *r);
        memcpy(r + 9, p, 3 * sizeof *r);
        util_assert_rel(value(3, p), value(3, r), 1e-9);
        memcpy(r, p, sizeof r); /* turn the triangle */
        memcpy(r + 3, p + 6, 6 * sizeof *r);
        memcpy(r + 9, p + 3, 3 * sizeof *r);
        util_assert_rel(value(2, p), value(2, r), 1e-9);
    }
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/quick", test_quick, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/near_parallel", test_near_parallel, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/slivers", test_slivers, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/types", test_types, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/derivatives", test_derivatives, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/invariance", test_invariance, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/scaling", test_scaling, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/edge/degenerate", test_degenerate, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/edge/nan", test_nan, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/edge/parallel_reported_far", test_reported_far, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

static const MunitSuite suite = {"/distance", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
