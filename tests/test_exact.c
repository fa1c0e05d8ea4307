/* Tests of gap_exact.h. Two oracles that share nothing with it:
   - signs of determinants: the 24 (6) monomials of the expanded determinant in the coordinates
     themselves, added up in a fixed-point accumulator that spans the whole range of double;
   - meeting simplices: is 0 in the hull of all differences p_i - q_j, in 256-bit integers, by
     Caratheodory's theorem; in its interior, by enumerating supporting planes? Then they cross. */
#define GAP_EXACT_IMPLEMENTATION
#include "gap_exact.h"
#include "util.h"
#include "../apps/common/pool.h"
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

__extension__ typedef unsigned __int128 u128;

/* ---- oracle 1: fixed point, bit 0 is 2^-3222 ---- */
enum { ACC_WORDS = 104 }; /* 6656 bits: 3 * 1074 below the point, 3 * 1024 + sign above */
typedef struct acc { uint64_t w[ACC_WORDS]; } acc;

static void acc_add(acc *a, int neg, const uint64_t m[3], int shift)
{
    uint64_t part[4];
    u128 t = 0;
    int i, w = shift / 64, r = shift % 64;
    part[0] = m[0] << r;
    part[1] = (m[1] << r) | (r ? m[0] >> (64 - r) : 0);
    part[2] = (m[2] << r) | (r ? m[1] >> (64 - r) : 0);
    part[3] = r ? m[2] >> (64 - r) : 0;
    t = neg;
    for (i = w; i < ACC_WORDS; ++i) { /* two's complement: subtract by adding the complement */
        uint64_t v = i - w < 4 ? part[i - w] : 0;
        t += (u128)a->w[i] + (neg ? ~v : v);
        a->w[i] = (uint64_t)t;
        t >>= 64;
    }
}

static int acc_sign(const acc *a)
{
    int i;
    if (a->w[ACC_WORDS - 1] >> 63) return -1;
    for (i = 0; i < ACC_WORDS; ++i)
        if (a->w[i]) return 1;
    return 0;
}

/* += sign * u * v * w, exactly */
static void acc_monomial(acc *a, int sign, double u, double v, double w)
{
    double f[3];
    uint64_t m[3], out[3] = {0, 0, 0}, bits;
    int i, e, shift = 0, neg = sign < 0;
    u128 p, q;
    f[0] = u; f[1] = v; f[2] = w;
    for (i = 0; i < 3; ++i) { /* from the bits: right even where denormals are flushed */
        memcpy(&bits, &f[i], 8);
        e = (int)(bits >> 52 & 2047);
        m[i] = (bits & 0xfffffffffffffu) + (e ? (uint64_t)1 << 52 : 0);
        shift += e ? e - 1 : 0; /* above 2^-1074 */
        neg ^= (int)(bits >> 63);
    }
    p = (u128)m[0] * m[1];
    q = (u128)(uint64_t)p * m[2];
    out[0] = (uint64_t)q;
    q = (q >> 64) + (u128)(uint64_t)(p >> 64) * m[2];
    out[1] = (uint64_t)q;
    out[2] = (uint64_t)(q >> 64);
    acc_add(a, neg, out, shift);
}

static int oracle_orient2(const double *a, const double *b, const double *c)
{
    acc s;
    memset(&s, 0, sizeof s);
    acc_monomial(&s, 1, a[0], b[1], 1.0); acc_monomial(&s, -1, a[1], b[0], 1.0);
    acc_monomial(&s, 1, b[0], c[1], 1.0); acc_monomial(&s, -1, b[1], c[0], 1.0);
    acc_monomial(&s, 1, c[0], a[1], 1.0); acc_monomial(&s, -1, c[1], a[0], 1.0);
    return acc_sign(&s);
}

static void acc_det(acc *s, int sign, const double *a, const double *b, const double *c)
{
    int k;
    for (k = 0; k < 3; ++k) {
        acc_monomial(s, sign, a[k], b[(k + 1) % 3], c[(k + 2) % 3]);
        acc_monomial(s, -sign, a[k], b[(k + 2) % 3], c[(k + 1) % 3]);
    }
}

static int oracle_orient3(const double *a, const double *b, const double *c, const double *d)
{
    acc s;
    memset(&s, 0, sizeof s);
    acc_det(&s, 1, b, c, d); acc_det(&s, -1, a, c, d);
    acc_det(&s, 1, a, b, d); acc_det(&s, -1, a, b, c);
    return acc_sign(&s);
}

/* ---- oracle 2: 256-bit integers ---- */
typedef struct wide { uint64_t w[4]; } wide;

static wide wide_from(int64_t v)
{
    wide r;
    r.w[0] = (uint64_t)v;
    r.w[1] = r.w[2] = r.w[3] = v < 0 ? UINT64_MAX : 0;
    return r;
}

static wide wide_sub(wide a, wide b)
{
    u128 t = 1;
    int i;
    for (i = 0; i < 4; ++i) {
        t += (u128)a.w[i] + ~b.w[i];
        a.w[i] = (uint64_t)t;
        t >>= 64;
    }
    return a;
}

/* the product modulo 2^256 is the two's complement one */
static wide wide_mul(wide a, int64_t b)
{
    wide r = {{0, 0, 0, 0}}, x = wide_from(b);
    int i, j;
    for (i = 0; i < 4; ++i) {
        u128 t = 0;
        for (j = 0; i + j < 4; ++j) {
            t += (u128)a.w[i] * x.w[j] + r.w[i + j];
            r.w[i + j] = (uint64_t)t;
            t >>= 64;
        }
    }
    return r;
}

static int wide_sign(wide a)
{
    if (a.w[3] >> 63) return -1;
    return (a.w[0] | a.w[1] | a.w[2] | a.w[3]) != 0;
}

typedef struct vec { int64_t v[3]; } vec;

static void cross(const vec *a, const vec *b, wide out[3])
{
    int k;
    for (k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = wide_sub(wide_mul(wide_from(a->v[i]), b->v[j]),
            wide_mul(wide_from(a->v[j]), b->v[i]));
    }
}

static int dot_sign(const wide n[3], const vec *s)
{
    wide zero = wide_from(0);
    wide t = wide_sub(zero, wide_mul(n[0], s->v[0]));
    t = wide_sub(t, wide_mul(n[1], s->v[1]));
    t = wide_sub(t, wide_mul(n[2], s->v[2]));
    return -wide_sign(t);
}

static int any(const wide n[3])
{
    return wide_sign(n[0]) || wide_sign(n[1]) || wide_sign(n[2]);
}

/* 0 on the segment s t */
static int zero_in2(const vec *s, const vec *t, const wide n[3])
{
    int k;
    if (any(n)) return 0;
    for (k = 0; k < 3; ++k)
        if ((s->v[k] > 0 && t->v[k] > 0) || (s->v[k] < 0 && t->v[k] < 0)) return 0;
    return 1;
}

/* 0 in the triangle, which lies in a plane through 0: the three cross products are parallel */
static int zero_in3(const wide a[3], const wide b[3], const wide c[3])
{
    int k;
    for (k = 0; k < 3; ++k) {
        int p = wide_sign(a[k]), q = wide_sign(b[k]), r = wide_sign(c[k]);
        if ((p > 0 || q > 0 || r > 0) && (p < 0 || q < 0 || r < 0)) return 0;
    }
    return any(a) || any(b) || any(c);
}

/* 0 in conv(s)? 1 yes, 2 in its interior. dim 2: third coordinates are 0. */
static int oracle_hull(int dim, const vec *s, int n)
{
    static wide c[9][9][3];
    static int d[9][9][9];
    int i, j, k, l, hit = 0, spans = 0, inside = 1;
    vec up = {{0, 0, 1}};
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j) {
            cross(&s[i], &s[j], c[i][j]);
            for (k = 0; k < n; ++k) d[i][j][k] = 0;
        }
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j)
            for (k = 0; k < n; ++k)
                if (i != j) d[i][j][k] = dot_sign(c[i][j], &s[k]);
    for (i = 0; i < n && !hit; ++i) {
        hit = !s[i].v[0] && !s[i].v[1] && !s[i].v[2];
        for (j = 0; j < i && !hit; ++j) {
            hit = zero_in2(&s[i], &s[j], c[i][j]);
            for (k = 0; k < j && !hit; ++k) {
                hit = d[i][j][k] == 0 && zero_in3(c[i][j], c[j][k], c[k][i]);
                for (l = 0; l < k && !hit && dim == 3; ++l) { /* barycentric signs */
                    int p = d[j][k][l], q = -d[i][k][l], r = d[i][j][l], t = -d[i][j][k];
                    hit = (p >= 0 && q >= 0 && r >= 0 && t >= 0 && p + q + r + t > 0) ||
                          (p <= 0 && q <= 0 && r <= 0 && t <= 0 && p + q + r + t < 0);
                }
            }
        }
    }
    if (!hit) return 0;
    /* interior: the vectors span the space and no plane through two (2D: line through one) has all
       of them on one closed side */
    for (i = 0; i < n && inside; ++i)
        for (j = dim == 3 ? 0 : n - 1; j < n && inside; ++j) {
            wide m[3];
            int neg = 0, pos = 0;
            if (dim == 3) memcpy(m, c[i][j], sizeof m);
            else cross(&s[i], &up, m);
            if (!any(m)) continue;
            for (k = 0; k < n; ++k) {
                int t = dot_sign(m, &s[k]);
                pos |= t > 0;
                neg |= t < 0;
            }
            spans |= pos || neg;
            inside = pos && neg;
        }
    return inside && spans ? 2 : 1;
}

/* p[i] in units of 2^-e: integers below 2^60 */
static int oracle_meet(int dim, const double *const *p, int na, int nb, int e)
{
    vec s[9];
    int i, j, k, n = 0;
    for (i = 0; i < na; ++i)
        for (j = 0; j < nb; ++j, ++n)
            for (k = 0; k < 3; ++k)
                s[n].v[k] = k < dim ? (int64_t)ldexp(p[i][k], e) - (int64_t)ldexp(p[na + j][k], e)
                                    : 0;
    return oracle_hull(dim, s, n);
}

static int header_meet(int dim, const double *const *p, int na, int nb)
{
    if (dim == 2) {
        if (nb == 1) return gap_exact_vv2(p[0], p[1]);
        if (nb == 3) return gap_exact_vf2(p[0], p[1], p[2], p[3]);
        return na == 1 ? gap_exact_ve2(p[0], p[1], p[2]) : gap_exact_ee2(p[0], p[1], p[2], p[3]);
    }
    if (nb == 1) return gap_exact_vv(p[0], p[1]);
    if (na == 1 && nb == 2) return gap_exact_ve(p[0], p[1], p[2]);
    if (na == 1) return gap_exact_vf(p[0], p[1], p[2], p[3]);
    if (nb == 2) return gap_exact_ee(p[0], p[1], p[2], p[3]);
    if (na == 2) return gap_exact_ef(p[0], p[1], p[2], p[3], p[4]);
    return gap_exact_ff(p[0], p[1], p[2], p[3], p[4], p[5]);
}

/* ---- cases ---- */
static double uniform(double a, double b)
{
    return a + (b - a) * munit_rand_double();
}

static double ulp_move(double v)
{
    int k = munit_rand_int_range(-1, 1);
    return k == 0 ? v : nextafter(v, k < 0 ? -HUGE_VAL : HUGE_VAL);
}

/* Points of a random line or plane, rounded, then moved by single ulps; scale 2^-60..2^60. */
static void near_flat(double *x, int n, int dim, int rank)
{
    double o[3], u[2][3], w;
    int i, k, r, e = munit_rand_int_range(-60, 60), ints = munit_rand_int_range(0, 1);
    for (k = 0; k < dim; ++k) {
        o[k] = ints ? munit_rand_int_range(-9, 9) : uniform(-1, 1);
        for (r = 0; r < 2; ++r) u[r][k] = ints ? munit_rand_int_range(-4, 4) : uniform(-1, 1);
    }
    for (i = 0; i < n; ++i) {
        double c[2];
        for (r = 0; r < 2; ++r) c[r] = ints ? munit_rand_int_range(-4, 4) : uniform(-2, 2);
        for (k = 0; k < dim; ++k) {
            w = o[k] + c[0] * u[0][k] + (rank > 1 ? c[1] * u[1][k] : 0.0);
            x[dim * i + k] = ldexp(munit_rand_int_range(0, 2) ? ulp_move(w) : w, e);
        }
    }
}

static double any_double(void)
{
    return ldexp(uniform(-1, 1), munit_rand_int_range(-1080, 1024));
}

static MunitResult test_orient_oracle(const MunitParameter params[], void *data)
{
    int i, k, n = util_count(20000, 1000000), zeros = 0;
    double x[12];
    (void)params; (void)data;
    for (i = 0; i < n; ++i) {
        int s, t;
        near_flat(x, 4, 3, munit_rand_int_range(1, 2));
        if (i % 8 == 7)
            for (k = 0; k < 12; ++k) x[k] = k % 5 == 4 ? x[k - 3] : any_double();
        s = gap_exact_orient3(x, x + 3, x + 6, x + 9);
        t = oracle_orient3(x, x + 3, x + 6, x + 9);
        munit_assert_int(s, ==, t);
        munit_assert_int(gap_exact__orient3_integer(x, x + 3, x + 6, x + 9), ==, t);
        munit_assert_int(gap_exact__orient3_digits(x, x + 3, x + 6, x + 9), ==, t);
        munit_assert_int(gap_exact_orient3(x + 3, x, x + 6, x + 9), ==, -t);
        zeros += t == 0;
        near_flat(x, 3, 2, 1);
        if (i % 8 == 7)
            for (k = 0; k < 6; ++k) x[k] = any_double();
        t = oracle_orient2(x, x + 2, x + 4);
        munit_assert_int(gap_exact_orient2(x, x + 2, x + 4), ==, t);
        munit_assert_int(gap_exact__orient2_integer(x, x + 2, x + 4, 0, 1), ==, t);
        zeros += t == 0;
    }
    munit_assert_int(zeros, >, n / 20);
    return MUNIT_OK;
}

/* The largest and the smallest numbers there are, and exact zeros among them; where the machine can
   flush denormals to zero, the same again with that switched on. */
static MunitResult test_orient_range(const MunitParameter params[], void *data)
{
    static const double v[] = {0, 1, -1, 1.7976931348623157e308, -1.7976931348623157e308, 5e-324,
        -5e-324, 2.2250738585072014e-308, -2.2250738585072009e-308, 1e200, 1e-200};
    int i, k, n = util_count(20000, 200000);
    double x[12];
#ifdef __SSE2__
    unsigned mode = _mm_getcsr();
#endif
    (void)params; (void)data;
    for (i = 0; i < n; ++i) {
#ifdef __SSE2__
        _mm_setcsr(i % 2 ? mode | 0x8040u : mode);
#endif
        for (k = 0; k < 12; ++k)
            x[k] = v[munit_rand_int_range(0, (int)(sizeof v / sizeof *v) - 1)];
        munit_assert_int(gap_exact_orient3(x, x + 3, x + 6, x + 9), ==,
            oracle_orient3(x, x + 3, x + 6, x + 9));
        munit_assert_int(gap_exact_orient2(x, x + 2, x + 4), ==, oracle_orient2(x, x + 2, x + 4));
    }
#ifdef __SSE2__
    _mm_setcsr(mode);
#endif
    return MUNIT_OK;
}

/* Small integers (all degeneracies), stretched so that single units matter, then scaled by 2^e. */
static int random_simplices(int dim, int n, double x[18], int *e)
{
    int i, range = munit_rand_int_range(1, 4), form = munit_rand_int_range(0, 3);
    int scale = munit_rand_int_range(-60, 60);
    for (i = 0; i < n * dim; ++i) {
        double v = munit_rand_int_range(-range, range);
        if (form == 1) v = ldexp(v, 50) + munit_rand_int_range(-1, 1);
        if (form == 2) v = ldexp(v, 51) + (munit_rand_int_range(0, 3) ? 0 : 1);
        if (form == 3) v = ldexp(v + uniform(-1e-3, 1e-3), 50);
        if (form == 3) v = nearbyint(v);
        x[i] = ldexp(v, scale);
    }
    *e = -scale;
    return form;
}

static MunitResult test_meet_oracle(const MunitParameter params[], void *data)
{
    static const int shape[10][3] = {{2, 1, 1}, {2, 1, 2}, {2, 1, 3}, {2, 2, 2}, {3, 1, 1},
        {3, 1, 2}, {3, 1, 3}, {3, 2, 2}, {3, 2, 3}, {3, 3, 3}};
    int i, k, n = util_count(20000, 1000000), seen[10][3], e;
    double x[18];
    const double *p[6];
    (void)params; (void)data;
    memset(seen, 0, sizeof seen);
    for (i = 0; i < n; ++i) {
        int kind = i % 3 ? i % 10 : 8 + i % 2, dim = shape[kind][0], na = shape[kind][1];
        int nb = shape[kind][2], want, got;
        random_simplices(dim, na + nb, x, &e);
        for (k = 0; k < na + nb; ++k) p[k] = x + dim * k;
        want = oracle_meet(dim, p, na, nb, e);
        got = header_meet(dim, p, na, nb);
        if (got != want)
            munit_errorf("dim %d, %d nodes with %d: %d, not %d", dim, na, nb, got, want);
        ++seen[kind][want];
    }
    for (i = 0; i < 10; ++i) { /* every answer that exists was asked for */
        munit_assert_int(seen[i][0], >, 0);
        munit_assert_int(seen[i][1], >, 0);
        if (i == 2 || i == 3 || i > 7) munit_assert_int(seen[i][2], >, 0);
    }
    return MUNIT_OK;
}

/* Answers do not depend on the order of arguments. */
static MunitResult test_symmetry(const MunitParameter params[], void *data)
{
    int i, n = util_count(5000, 200000), e;
    double x[18];
    (void)params; (void)data;
    for (i = 0; i < n; ++i) {
        int r;
        random_simplices(3, 6, x, &e);
        r = gap_exact_ff(x, x + 3, x + 6, x + 9, x + 12, x + 15);
        munit_assert_int(gap_exact_ff(x + 9, x + 12, x + 15, x, x + 3, x + 6), ==, r);
        munit_assert_int(gap_exact_ff(x + 6, x, x + 3, x + 15, x + 12, x + 9), ==, r);
    }
    return MUNIT_OK;
}

static MunitResult test_edge_cases(const MunitParameter params[], void *data)
{
    double o[3] = {0, 0, 0}, x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, m[3] = {0.5, 0.5, 0};
    double above[3] = {0.25, 0.25, 5e-324}, below[3] = {0.25, 0.25, -5e-324};
    double nan[9] = {0}, inf[3] = {HUGE_VAL, 0, 0}, minus[3] = {-0.0, -0.0, -0.0};
    int tet[8] = {0, 1, 2, 3, 0, 2, 1, 3}, bad[2] = {9, 9};
    double tx[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    (void)params; (void)data;
    nan[1] = HUGE_VAL - HUGE_VAL;
    munit_assert_int(gap_exact_vv(o, minus), ==, GAP_EXACT_TOUCH);
    munit_assert_int(gap_exact_vf(m, o, x, y), ==, GAP_EXACT_TOUCH);
    munit_assert_int(gap_exact_vf(above, o, x, y), ==, GAP_EXACT_APART);
    munit_assert_int(gap_exact_ef(above, below, o, x, y), ==, GAP_EXACT_CROSS);
    munit_assert_int(gap_exact_ef(above, above, o, x, y), ==, GAP_EXACT_APART);
    munit_assert_int(gap_exact_ff(o, x, y, o, x, y), ==, GAP_EXACT_TOUCH); /* the same triangle */
    munit_assert_int(gap_exact_ff(o, o, o, m, m, m), ==, GAP_EXACT_APART); /* points */
    munit_assert_int(gap_exact_ff(m, m, m, o, x, y), ==, GAP_EXACT_TOUCH);
    munit_assert_int(gap_exact_orient3(o, x, y, above), ==, 1);
    munit_assert_int(gap_exact_orient3(o, x, y, nan), ==, 0);
    munit_assert_int(gap_exact_orient3(o, x, y, inf), ==, 0);
    munit_assert_int(gap_exact_orient2(o, x, nan), ==, 0);
    munit_assert_int(gap_exact_vv(o, nan), ==, GAP_EXACT_ENONFIN);
    munit_assert_int(gap_exact_ff(o, x, inf, o, x, y), ==, GAP_EXACT_ENONFIN);
    munit_assert_int(gap_exact_ee(o, x, nan, y), ==, GAP_EXACT_ENONFIN);
    munit_assert_int(gap_exact_vf2(o, x, nan, y), ==, GAP_EXACT_ENONFIN);
    munit_assert_int(gap_exact_compare_distance(3, 1, nan, 1.0), ==, -1);
    munit_assert_int(gap_exact_compare_distance(3, 0, tx, -1.0), ==, 1);
    munit_assert_int(gap_exact_compare_distance(3, 0, tx, HUGE_VAL), ==, -1);
    munit_assert_int(gap_exact_inverted(3, tx, tet, 0, 2, 2, bad), ==, 1);
    munit_assert_int(bad[0], ==, 1);
    munit_assert_int(bad[1], ==, 9);
    return MUNIT_OK;
}

/* ---- distances: built to be known ---- */

/* Turn by a matrix of integers with equal orthogonal rows, so that lengths are times `size` exactly
   (quaternion a b c d, size a^2+b^2+c^2+d^2), then add a shift. */
static void turn(const int q[4], const double *shift, const double *in, double *out)
{
    double a = q[0], b = q[1], c = q[2], d = q[3];
    out[0] = shift[0] + (a*a+b*b-c*c-d*d) * in[0] + 2*(b*c-a*d) * in[1] + 2*(b*d+a*c) * in[2];
    out[1] = shift[1] + 2*(b*c+a*d) * in[0] + (a*a-b*b+c*c-d*d) * in[1] + 2*(c*d-a*b) * in[2];
    out[2] = shift[2] + 2*(b*d-a*c) * in[0] + 2*(c*d+a*b) * in[1] + (a*a-b*b-c*c+d*d) * in[2];
}

/* The nearest points are (0,0,0) and (0,0,h) by construction: for a vertex over a face, crossing
   edges, a vertex beside an edge, two points. All numbers are integers, so nothing is rounded. */
static int known_pair(int kind, int h, double p[12])
{
    int i, s = munit_rand_int_range(1, 20), t = munit_rand_int_range(1, 20);
    memset(p, 0, 12 * sizeof *p);
    p[2] = h;
    if (kind == 1) {
        p[3] = -s; p[6] = t;
        if (munit_rand_int_range(0, 1)) { p[3] = 0; p[5] = -s; p[6] = t; } /* nearest: the end */
        if (p[3] == 0) { p[5] = 0; p[8] = -munit_rand_int_range(0, 9); }
    }
    if (kind == 2) {
        p[3] = -s; p[4] = -t; p[6] = s + 1; p[7] = -t; p[10] = t + 2;
        if (munit_rand_int_range(0, 2) == 0) { /* nearest point a corner */
            for (i = 3; i < 12; ++i) p[i] = 0;
            p[6] = s; p[7] = 1; p[8] = -munit_rand_int_range(0, 5);
            p[9] = -2; p[10] = t; p[11] = -1;
        }
    }
    if (kind == 3) {
        p[0] = -s; p[3] = t; p[5] = h;
        p[6] = munit_rand_int_range(-3, 3); p[7] = t; p[9] = -p[6]; p[10] = -t;
        if (munit_rand_int_range(0, 2) == 0) { p[6] = -t; p[7] = 0; p[9] = s; p[10] = 0; }
    }
    return kind == 0 ? 2 : kind == 1 ? 3 : 4;
}

static MunitResult test_distance(const MunitParameter params[], void *data)
{
    int i, k, j, n, count = util_count(4000, 200000);
    (void)params; (void)data;
    for (i = 0; i < count; ++i) {
        int q[4], kind = i % 5, h = munit_rand_int_range(0, 30), size = 0;
        int e = munit_rand_int_range(-60, 60);
        double p[12], x[12], shift[3], none[3] = {0, 0, 0}, d;
        for (k = 0; k < 4; ++k) {
            q[k] = munit_rand_int_range(-5, 5);
            size += q[k] * q[k];
        }
        if (size == 0) continue;
        for (k = 0; k < 3; ++k) shift[k] = munit_rand_int_range(-1000, 1000) * 1048576.0;
        n = known_pair(kind == 4 ? 0 : kind, h, p);
        if (kind == 4) { /* plane through the second point, normal up; signed */
            p[8] = munit_rand_int_range(1, 9);
            if (munit_rand_int_range(0, 1)) { p[2] = -p[2]; h = -h; }
            p[3] = munit_rand_int_range(-9, 9);
            n = 3;
        }
        for (k = 0; k < n; ++k) turn(q, kind == 4 && k == 2 ? none : shift, p + 3 * k, x + 3 * k);
        for (k = 0; k < 3 * n; ++k) x[k] = ldexp(x[k], e);
        d = ldexp((double)h * size, e);
        munit_assert_int(gap_exact_compare_distance(3, kind, x, d), ==, 0);
        munit_assert_int(gap_exact_compare_distance(3, kind, x, nextafter(d, HUGE_VAL)), ==, -1);
        munit_assert_int(gap_exact_compare_distance(3, kind, x, nextafter(d, -HUGE_VAL)), ==, 1);
        if (kind > 1) continue;
        for (j = 0; j < n; ++j) { /* the plane of first and third coordinate, unturned */
            x[2 * j] = ldexp(p[3 * j] + shift[0], e);
            x[2 * j + 1] = ldexp(p[3 * j + 2] + shift[1], e);
        }
        d = ldexp(h, e);
        munit_assert_int(gap_exact_compare_distance(2, kind, x, d), ==, 0);
        munit_assert_int(gap_exact_compare_distance(2, kind, x, nextafter(d, HUGE_VAL)), ==, -1);
        munit_assert_int(gap_exact_compare_distance(2, kind, x, nextafter(d, -HUGE_VAL)), ==, 1);
    }
    return MUNIT_OK;
}

/* Random pairs against a search over a lattice of weights: some point pair is nearer than its least
   result and a bit, none is nearer than that less the lattice's width. */
static MunitResult test_distance_search(const MunitParameter params[], void *data)
{
    int i, k, count = util_count(300, 10000);
    (void)params; (void)data;
    for (i = 0; i < count; ++i) {
        int kind = 1 + i % 3, n = kind == 1 ? 3 : 4, s, t, m = 60;
        double x[12], best = HUGE_VAL;
        for (k = 0; k < 3 * n; ++k) x[k] = i % 4 ? uniform(-1, 1) : munit_rand_int_range(-1, 1);
        for (s = 0; s <= m; ++s)
            for (t = 0; t <= m; ++t) {
                double u = (double)s / m, v = (double)t / m, r2 = 0;
                if (kind == 2 && s + t > m) continue;
                for (k = 0; k < 3; ++k) {
                    double y = kind == 1 ? x[k] - (1 - u) * x[3 + k] - u * x[6 + k] :
                        kind == 2 ? x[k] - (1 - u - v) * x[3 + k] - u * x[6 + k] - v * x[9 + k] :
                        (1 - u) * x[k] + u * x[3 + k] - (1 - v) * x[6 + k] - v * x[9 + k];
                    r2 += y * y;
                }
                best = fmin(best, sqrt(r2));
            }
        best = best * (1 + 1e-12) + 1e-15;
        munit_assert_int(gap_exact_compare_distance(3, kind, x, best), ==, -1);
        if (best > 0.2)
            munit_assert_int(gap_exact_compare_distance(3, kind, x, best - 0.1), ==, 1);
    }
    return MUNIT_OK;
}

/* ---- meshes ---- */

/* Brute force over all pairs, faces without common nodes by the second oracle. */
static int oracle_faces(const gap_exact_mesh *m, const int *a, int na, const int *b, int nb, int e)
{
    int best = 0, i, j, k;
    const double *p[6];
    for (i = 1; i < 1 << na; ++i)
        for (j = 1; j < 1 << nb; ++j) {
            int n = 0, na2 = 0, bad = 0, r, q;
            for (k = 0; k < na; ++k)
                if (i >> k & 1) p[n++] = m->x + m->dim * a[k];
            na2 = n;
            for (k = 0; k < nb; ++k)
                if (j >> k & 1) {
                    p[n++] = m->x + m->dim * b[k];
                    for (q = 0; q < na; ++q) bad |= (i >> q & 1) && a[q] == b[k];
                }
            if (bad) continue;
            r = oracle_meet(m->dim, p, na2, n - na2, e);
            if (r > best) best = r;
        }
    return best;
}

static void element(const gap_exact_mesh *m, int i, const int **node, int *n)
{
    if (i < m->tris) { *node = m->tri + 3 * i; *n = 3; }
    else if (i < m->tris + m->edges) { *node = m->edge + 2 * (i - m->tris); *n = 2; }
    else { *node = m->point + (i - m->tris - m->edges); *n = 1; }
}

enum { SOUP = 40 };
typedef struct soup { double x[3 * SOUP]; int tri[3 * SOUP], edge[2 * SOUP], point[SOUP]; } soup;

static void soup_make(soup *s, int dim, gap_exact_mesh *m, int *e)
{
    int i, k;
    memset(m, 0, sizeof *m);
    m->dim = dim;
    m->nodes = munit_rand_int_range(6, SOUP);
    random_simplices(dim, 6, s->x, e);
    for (i = 0; i < m->nodes * dim; ++i)
        s->x[i] = ldexp(munit_rand_int_range(-6, 6), -*e);
    m->x = s->x; m->tri = s->tri; m->edge = s->edge; m->point = s->point;
    m->tris = dim == 3 ? munit_rand_int_range(0, 20) : 0;
    m->edges = munit_rand_int_range(0, 15);
    m->points = munit_rand_int_range(0, 8);
    for (i = 0; i < m->tris; ++i) {
        do {
            for (k = 0; k < 3; ++k) s->tri[3 * i + k] = munit_rand_int_range(0, m->nodes - 1);
        } while (s->tri[3 * i] == s->tri[3 * i + 1] || s->tri[3 * i] == s->tri[3 * i + 2] ||
                 s->tri[3 * i + 1] == s->tri[3 * i + 2]);
    }
    for (i = 0; i < m->edges; ++i) {
        s->edge[2 * i] = munit_rand_int_range(0, m->nodes - 2);
        s->edge[2 * i + 1] = munit_rand_int_range(s->edge[2 * i] + 1, m->nodes - 1);
    }
    for (i = 0; i < m->points; ++i) s->point[i] = munit_rand_int_range(0, m->nodes - 1);
}

static MunitResult test_mesh_oracle(const MunitParameter params[], void *data)
{
    int t, i, j, e, n = util_count(60, 3000);
    int *pair = (int *)munit_malloc(2000 * 2 * sizeof *pair), *how = (int *)munit_malloc(2000 * 4);
    void *work = munit_malloc(1 << 16);
    long touch = 0, crossing = 0;
    (void)params; (void)data;
    for (t = 0; t < n; ++t) {
        soup s;
        gap_exact_mesh m;
        size_t found, at = 0;
        int status = 7, total;
        soup_make(&s, 2 + t % 2, &m, &e);
        munit_assert_size(gap_exact_mesh_work(&m), <=, 1 << 16);
        found = gap_exact_mesh_meets(&m, NULL, work, 2000, pair, how, &status);
        munit_assert_int(status, ==, 0);
        total = m.tris + m.edges + m.points;
        for (i = 0; i < total; ++i)
            for (j = i + 1; j < total; ++j) {
                const int *a, *b;
                int na, nb, got = 0, want, shared = 0, p, q;
                element(&m, i, &a, &na);
                element(&m, j, &b, &nb);
                for (p = 0; p < na; ++p)
                    for (q = 0; q < nb; ++q) shared += a[p] == b[q];
                want = oracle_faces(&m, a, na, b, nb, e);
                if (at < found && pair[2 * at] == i && pair[2 * at + 1] == j) got = how[at++];
                if (shared == 3) { /* the same triangle twice is left out by definition */
                    munit_assert_int(got, ==, 0);
                } else if (shared == 1 && na == 3 && nb == 3) {
                    munit_assert_int(got != 0, ==, want != 0); /* CROSS: test_fan */
                    munit_assert_int(got, >=, want);
                } else {
                    munit_assert_int(got, ==, want);
                }
                touch += got == 1;
                crossing += got == 2;
            }
        munit_assert_size(at, ==, found);
    }
    munit_assert_long(touch, >, n);
    munit_assert_long(crossing, >, n);
    free(pair); free(how); free(work);
    return MUNIT_OK;
}

/* Triangles with one common node whose far edges touch: their inner parts cut each other. */
static MunitResult test_fan(const MunitParameter params[], void *data)
{
    double x[] = {0, 0, 0, 2, 0, 2, 2, 0, -2, 2, 2, 0, 2, -2, 0};
    int tri[] = {0, 1, 2, 0, 3, 4}, pair[2], how[1];
    gap_exact_mesh m = {3, 5, x, 2, tri, 0, NULL, 0, NULL, NULL};
    double work[64];
    (void)params; (void)data;
    munit_assert_size(gap_exact_mesh_work(&m), <=, sizeof work);
    munit_assert_size(gap_exact_mesh_meets(&m, NULL, work, 1, pair, how, NULL), ==, 1);
    munit_assert_int(how[0], ==, GAP_EXACT_CROSS);
    x[3 * 4 + 1] = 0.0; /* now node 4 lies in the first triangle's plane: a move can undo it */
    munit_assert_size(gap_exact_mesh_meets(&m, NULL, work, 1, pair, how, NULL), ==, 1);
    munit_assert_int(how[0], ==, GAP_EXACT_TOUCH);
    x[3 * 4 + 1] = 5e-324; /* one ulp to the other side */
    munit_assert_size(gap_exact_mesh_meets(&m, NULL, work, 1, pair, how, NULL), ==, 0);
    return MUNIT_OK;
}

/* A grid of n x n quads with height f, two triangles each. */
static void sheet(int n, double tilt, double *x, int *tri)
{
    int i, j, k = 0;
    for (i = 0; i <= n; ++i)
        for (j = 0; j <= n; ++j) {
            double *p = x + 3 * (i * (n + 1) + j);
            p[0] = (double)i / n; p[1] = (double)j / n;
            p[2] = tilt * p[0] + 0.01 * sin(9 * p[0]) * cos(7 * p[1]);
        }
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j) {
            int a = i * (n + 1) + j, b = a + 1, c = a + n + 1, d = c + 1;
            tri[k++] = a; tri[k++] = c; tri[k++] = b;
            tri[k++] = b; tri[k++] = c; tri[k++] = d;
        }
}

static MunitResult test_threads(const MunitParameter params[], void *data)
{
    static const int workers[] = {1, 2, 3, 8};
    enum { N = 40, CAP = 4000 };
    int nodes = (N + 1) * (N + 1), tris = 2 * N * N, i, w;
    double *x = (double *)munit_malloc(6 * (size_t)nodes * sizeof *x);
    int *tri = (int *)munit_malloc(6 * (size_t)tris * sizeof *tri);
    int *pair = (int *)munit_malloc(2 * CAP * sizeof *pair);
    int *how = (int *)munit_malloc(CAP * sizeof *how);
    gap_exact_mesh m = {3, 0, NULL, 0, NULL, 0, NULL, 0, NULL, NULL};
    void *work;
    uint64_t h[4][2];
    (void)params; (void)data;
    sheet(N, 0.0, x, tri);
    sheet(N, 0.2, x + 3 * nodes, tri + 3 * tris); /* crosses the first, and touches at x = 0 */
    for (i = 0; i < 3 * tris; ++i) tri[3 * tris + i] += nodes;
    m.nodes = 2 * nodes; m.x = x; m.tris = 2 * tris; m.tri = tri;
    work = munit_malloc(gap_exact_mesh_work(&m));
    for (w = 0; w < 4; ++w) {
        gap_exact_options opt = {pool_for, NULL};
        size_t n, all;
        opt.parallel_user = pool_open(workers[w]);
        munit_assert_not_null(opt.parallel_user);
        n = gap_exact_mesh_meets(&m, &opt, work, CAP, pair, how, NULL);
        munit_assert_size(n, >, 50);
        munit_assert_size(n, <, CAP);
        h[w][0] = util_hash_bytes(util_hash_bytes(0, pair, n * 8), how, n * 4);
        all = gap_exact_mesh_meets(&m, &opt, work, 20, pair, how, NULL); /* too little room */
        munit_assert_size(all, ==, n);
        h[w][1] = util_hash_bytes(util_hash_bytes(0, pair, 160), how, 80);
        pool_close((pool *)opt.parallel_user);
        munit_assert_uint64(h[w][0], ==, h[0][0]);
        munit_assert_uint64(h[w][1], ==, h[0][1]);
    }
    m.tris = tris; /* one sheet alone is free */
    munit_assert_size(gap_exact_mesh_meets(&m, NULL, work, CAP, pair, how, NULL), ==, 0);
    free(x); free(tri); free(pair); free(how); free(work);
    return MUNIT_OK;
}

static MunitResult test_mesh_errors(const MunitParameter params[], void *data)
{
    double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, 0}, work[64];
    int tri[] = {0, 1, 2}, point[] = {3}, pair[2], how[1], group[] = {-1, -1, -1, -1}, status = 9;
    gap_exact_mesh m = {3, 4, x, 1, tri, 0, NULL, 1, point, NULL};
    (void)params; (void)data;
    munit_assert_size(gap_exact_mesh_meets(&m, NULL, work, 1, pair, how, &status), ==, 1);
    munit_assert_int(status, ==, 0);
    munit_assert_size(gap_exact_mesh_meets(&m, NULL, work, 0, NULL, NULL, &status), ==, 1);
    m.group = group;
    munit_assert_size(gap_exact_mesh_meets(&m, NULL, work, 1, pair, how, &status), ==, 0);
    point[0] = 4;
    munit_assert_size(gap_exact_mesh_meets(&m, NULL, work, 1, pair, how, &status), ==, 0);
    munit_assert_int(status, ==, GAP_EXACT_EINDEX);
    point[0] = 3;
    x[9] = HUGE_VAL;
    munit_assert_size(gap_exact_mesh_meets(&m, NULL, work, 1, pair, how, &status), ==, 0);
    munit_assert_int(status, ==, GAP_EXACT_ENONFIN);
    m.dim = 4;
    gap_exact_mesh_meets(&m, NULL, work, 1, pair, how, &status);
    munit_assert_int(status, ==, GAP_EXACT_EINPUT);
    m.dim = 3;
    m.edges = 2147483647;
    gap_exact_mesh_meets(&m, NULL, work, 1, pair, how, &status);
    munit_assert_int(status, ==, GAP_EXACT_ESIZE);
    munit_assert_size(gap_exact_mesh_work(&m), ==, 0);
    m.tris = m.edges = m.points = 0;
    munit_assert_size(gap_exact_mesh_meets(&m, NULL, work, 1, pair, how, &status), ==, 0);
    munit_assert_int(status, ==, 0);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/signs", test_orient_oracle, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/signs/whole_range_of_double", test_orient_range, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/meets", test_meet_oracle, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/order_of_arguments", test_symmetry, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/edge", test_edge_cases, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/distance", test_distance, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/distance/search", test_distance_search, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/mesh", test_mesh_oracle, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/mesh/fan", test_fan, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/mesh/threads", test_threads, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/mesh/errors", test_mesh_errors, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

static const MunitSuite suite = {"/exact", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
