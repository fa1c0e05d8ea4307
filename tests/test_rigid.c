/* test_rigid.c - gap_rigid.h: rotations in long double, closed-form masses, finite differences,
   the Procrustes solution of contact-free steps, and a box on a plane */
#define GAP_RIGID_IMPLEMENTATION
#define GAP_RIGID_CCD_IMPLEMENTATION
#define GAP_CCD_IMPLEMENTATION
#define GAP_BARRIER_IMPLEMENTATION
#define GAP_FRICTION_IMPLEMENTATION
#define GAP_NEWTON_IMPLEMENTATION
#include "gap_barrier.h"
#include "gap_ccd.h"
#include "gap_friction.h"
#include "gap_newton.h"
#include "gap_rigid.h"
#include "gap_rigid_ccd.h"
#include "util.h"

/* ---------------------------------------------------------------- oracles in long double */

static void ld_mul(const long double *A, const long double *B, long double *C)
{
    int i, j, k;
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 3; ++j) {
            for (C[3 * i + j] = 0, k = 0; k < 3; ++k) C[3 * i + j] += A[3 * i + k] * B[3 * k + j];
        }
    }
}

/* exp of a skew matrix by scaling, power series and squaring: nothing of Rodrigues. */
static void ld_exp(const long double t[3], long double R[9])
{
    long double K[9] = {0, -t[2], t[1], t[2], 0, -t[0], -t[1], t[0], 0}, term[9], next[9];
    int i, k, squarings = 12;
    for (i = 0; i < 9; ++i) K[i] /= 4096, R[i] = 0, term[i] = i % 4 == 0;
    for (k = 1; k < 12; ++k) { /* R - I first, so that small angles keep their digits */
        ld_mul(term, K, next);
        for (i = 0; i < 9; ++i) R[i] += term[i] = next[i] / k;
    }
    /* (I + D)^2 - I = 2 D + D D */
    while (squarings--) {
        ld_mul(R, R, next);
        for (i = 0; i < 9; ++i) R[i] = 2 * R[i] + next[i];
    }
    for (i = 0; i < 9; i += 4) R[i] += 1;
}

/* Central difference of fourth order of exp along axis i, and of that along j. */
static void ld_slope(const long double t[3], int i, int j, long double h, long double out[9])
{
    static const int at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    long double y[3], R[9];
    int k, c;
    for (c = 0; c < 9; ++c) out[c] = 0;
    for (k = 0; k < 4; ++k) {
        for (c = 0; c < 3; ++c) y[c] = t[c] + (c == i ? at[k] * h : 0);
        if (j < 0) ld_exp(y, R);
        else ld_slope(y, j, -1, h, R);
        for (c = 0; c < 9; ++c) out[c] += weight[k] * R[c] / (12 * h);
    }
}

static MunitResult rotations(const MunitParameter params[], void *data)
{
    static const double angle[] = {0, 1e-8, 1e-3, 0.5, 0.999999, 1, 1.000001, 3.1,
        6.2831853071795865, 12};
    double worst[3] = {0, 0, 0}, drift = 0;
    int rep, k, i, j, n, c;
    (void)params, (void)data;
    for (rep = 0; rep < util_count(20, 1000); ++rep) {
        for (k = 0; k < (int)(sizeof angle / sizeof angle[0]); ++k) {
            double t[3], R[9], D[9], d1[3][9], d2[6][9], back[3], RR[9];
            long double tl[3], L[9];
            util_unit(t, 3);
            for (c = 0; c < 3; ++c) tl[c] = t[c] *= angle[k];
            gap_rigid_exp(t, R, D);
            gap_rigid_exp_derivatives(t, d1, d2);
            ld_exp(tl, L);
            for (c = 0; c < 9; ++c) worst[0] = fmax(worst[0],
                (double)fabsl(L[c] - R[c]) / (1 + angle[k]));
            for (c = 0; c < 9; ++c) munit_assert_double(fabs(R[c] - (c % 4 == 0) - D[c]), <, 3e-16);
            for (n = 0, i = 0; i < 3; ++i) {
                ld_slope(tl, i, -1, 3e-4L, L);
                for (c = 0; c < 9; ++c) worst[1] = fmax(worst[1], (double)fabsl(L[c] - d1[i][c]));
                for (j = i; j < 3; ++j, ++n) {
                    ld_slope(tl, i, j, 1e-3L, L);
                    for (c = 0; c < 9; ++c)
                        worst[2] = fmax(worst[2], (double)fabsl(L[c] - d2[n][c]));
                }
            }
            gap_rigid_log(R, back);
            gap_rigid_exp(back, RR, NULL);
            for (c = 0; c < 9; ++c) drift = fmax(drift, fabs(RR[c] - R[c]));
        }
    }
    munit_logf(MUNIT_LOG_INFO, "errors: R %.2e, first %.2e, second %.2e, log %.2e", worst[0],
        worst[1], worst[2], drift);
    munit_assert_double(worst[0], <, 5e-16); /* of 1 + |theta| */
    munit_assert_double(worst[1], <, 2e-14);
    munit_assert_double(worst[2], <, 1e-11);
    munit_assert_double(drift, <, 3e-15);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- shapes and mass */

static const int box_tri[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6,
    7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static void box_nodes(double a, double b, double c, double *x)
{
    int i;
    for (i = 0; i < 8; ++i) {
        x[3 * i] = (i & 1 ? 0.5 : -0.5) * a;
        x[3 * i + 1] = (i & 2 ? 0.5 : -0.5) * b;
        x[3 * i + 2] = (i & 4 ? 0.5 : -0.5) * c;
    }
}

static gap_rigid_body make(int dim, gap_rigid_rule rule, double density, int n, double *x,
    int count, const int *elem)
{
    gap_rigid_moments M;
    gap_rigid_body b;
    gap_rigid_moments_begin(&M, dim, n, x);
    munit_assert_int(gap_rigid_moments_add(&M, rule, density, n, x, count, elem, NULL), ==, 0);
    munit_assert_int(gap_rigid_init(&b, &M, n, x), ==, 0);
    return b;
}

/* Turn and shift nodes, so that nothing is aligned. */
static void move_nodes(int n, double *x, const double R[9], const double shift[3])
{
    double y[3];
    int i, c;
    for (i = 0; i < n; ++i) {
        for (c = 0; c < 3; ++c) {
            y[c] = R[3 * c] * x[3 * i] + R[3 * c + 1] * x[3 * i + 1] + R[3 * c + 2] * x[3 * i + 2];
        }
        for (c = 0; c < 3; ++c) x[3 * i + c] = y[c] + shift[c];
    }
}

/* The body's J in the frame R: R^T J R, against the diagonal want. */
static void check_body(const gap_rigid_body *b, double mass, const double centre[3],
    const double R[9], const double want[3])
{
    double scale = want[0] + want[1] + want[2] + 1e-300;
    int i, j, k, l;
    util_assert_rel(b->mass, mass, 1e-14);
    for (i = 0; i < 3; ++i) munit_assert_double(fabs(b->q[i] - centre[i]), <, 1e-13);
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 3; ++j) {
            double s = 0;
            for (k = 0; k < 3; ++k) {
                for (l = 0; l < 3; ++l) s += R[3 * k + i] * b->J[3 * k + l] * R[3 * l + j];
            }
            munit_assert_double(fabs(s - (i == j ? want[i] : 0)), <, 1e-13 * scale);
        }
    }
}

static MunitResult masses(const MunitParameter params[], void *data)
{
    static const int tet_tri[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    static const int card_tri[6] = {0, 1, 2, 0, 2, 3}, rod[4] = {0, 1, 1, 2};
    int rep, work[72];
    (void)params, (void)data;
    munit_assert_int(gap_rigid_closed(3, 12, box_tri, work), ==, 1);
    munit_assert_int(gap_rigid_closed(3, 11, box_tri, work), ==, 0);
    munit_assert_int(gap_rigid_closed(3, 4, tet_tri, work), ==, 1);
    munit_assert_int(gap_rigid_closed(3, 2, card_tri, work), ==, 0);
    munit_assert_int(gap_rigid_closed(3, 0, card_tri, work), ==, 0);
    for (rep = 0; rep < 50; ++rep) {
        double R[9], shift[3], a = util_uniform(0.1, 3), b = util_uniform(0.1, 3), m;
        double c = util_uniform(0.1, 3), x[24], want[3], centre[3];
        double tet[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, base[12];
        double card[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}, wire[9] = {-1, 0, 0, 0.2, 0, 0, 1};
        gap_rigid_body body;
        int i, k;
        util_rotation(R);
        for (i = 0; i < 3; ++i) shift[i] = util_uniform(-2, 2);
        box_nodes(a, b, c, x);
        move_nodes(8, x, R, shift);
        body = make(3, GAP_RIGID_SOLID, 7, 8, x, 12, box_tri);
        m = 7 * a * b * c;
        want[0] = m * a * a / 12; want[1] = m * b * b / 12; want[2] = m * c * c / 12;
        check_body(&body, m, shift, R, want);
        util_assert_rel(body.radius, 0.5 * sqrt(a * a + b * b + c * c), 1e-14);

        /* unit tetrahedron: E[xx] = 1/10, E[xy] = 1/20, centre 1/4: J/m = 3/80 and -1/80 */
        memcpy(base, tet, sizeof base);
        body = make(3, GAP_RIGID_SOLID, 6, 4, tet, 4, tet_tri);
        util_assert_rel(body.mass, 1.0, 1e-14);
        for (k = 0; k < 9; ++k)
            munit_assert_double(fabs(body.J[k] - (k % 4 == 0 ? 3.0 / 80 : -1.0 / 80)), <, 1e-15);

        for (i = 0; i < 4; ++i) card[3 * i] *= a, card[3 * i + 1] *= b;
        move_nodes(4, card, R, shift);
        for (i = 0; i < 3; ++i) centre[i] = 0.5 * (card[i] + card[6 + i]);
        body = make(3, GAP_RIGID_SURFACE, 3, 4, card, 2, card_tri);
        m = 3 * a * b;
        want[0] = m * a * a / 12; want[1] = m * b * b / 12; want[2] = 0;
        check_body(&body, m, centre, R, want);

        for (i = 0; i < 3; ++i) wire[3 * i] *= a;
        move_nodes(3, wire, R, shift);
        body = make(3, GAP_RIGID_WIRE, 2, 3, wire, 2, rod);
        want[0] = 4 * a * (4 * a * a) / 12; want[1] = want[2] = 0;
        check_body(&body, 4 * a, shift, R, want);

        for (i = 0; i < 3; ++i) wire[3 * i] = i - 1.0, wire[3 * i + 1] = wire[3 * i + 2] = 0;
        body = make(3, GAP_RIGID_POINTS, 5, 3, wire, 3, NULL);
        util_assert_rel(body.mass, 15.0, 1e-15);
        util_assert_rel(body.J[0], 10.0, 1e-15);
    }
    return MUNIT_OK;
}

/* A mixed body: its moments are those of dense sampling, each part with its density. */
static MunitResult mixture(const MunitParameter params[], void *data)
{
    /* 150 000 samples: summed in long double, else the sum is off by more than the body is */
    long double m = 0, first[3] = {0, 0, 0}, second[9] = {0};
    double x[39], y[39];
    int card[3] = {8, 9, 10}, rod[2] = {10, 11}, point[1] = {12}, i, j, k, c, d, n = 40;
    gap_rigid_moments M;
    gap_rigid_body b;
    (void)params, (void)data;
    box_nodes(1, 2, 0.5, x);
    util_points(x + 24, 5, 3, 2);
    memcpy(y, x, sizeof y);
    gap_rigid_moments_begin(&M, 3, 13, x);
    munit_assert_int(gap_rigid_moments_add(&M, GAP_RIGID_SOLID, 3, 13, x, 12, box_tri, NULL), ==,
        0);
    munit_assert_int(gap_rigid_moments_add(&M, GAP_RIGID_SURFACE, 2, 13, x, 1, card, NULL), ==, 0);
    munit_assert_int(gap_rigid_moments_add(&M, GAP_RIGID_WIRE, 4, 13, x, 1, rod, NULL), ==, 0);
    munit_assert_int(gap_rigid_moments_add(&M, GAP_RIGID_POINTS, 5, 13, x, 1, point, NULL), ==, 0);
    munit_assert_int(gap_rigid_init(&b, &M, 13, x), ==, 0);
#define SAMPLE(mass, px)                                                                        \
    do {                                                                                        \
        m += (mass);                                                                            \
        for (c = 0; c < 3; ++c) {                                                               \
            first[c] += (mass) * (px)[c];                                                       \
            for (d = 0; d < 3; ++d) second[3 * c + d] += (mass) * (px)[c] * (px)[d];            \
        }                                                                                       \
    } while (0)
    for (i = 0; i < n; ++i) {
        for (j = 0; j < n; ++j) {
            for (k = 0; k < n; ++k) { /* the midpoint rule */
                double p[3];
                p[0] = (i + 0.5) / n - 0.5;
                p[1] = 2 * ((j + 0.5) / n - 0.5);
                p[2] = 0.5 * ((k + 0.5) / n - 0.5);
                SAMPLE(3.0 / (n * n * n), p);
            }
        }
    }
    {
        double e[3], f[3], cr[3], area, len = 0;
        for (c = 0; c < 3; ++c) {
            e[c] = y[27 + c] - y[24 + c];
            f[c] = y[30 + c] - y[24 + c];
            len += (y[33 + c] - y[30 + c]) * (y[33 + c] - y[30 + c]);
        }
        len = sqrt(len);
        for (c = 0; c < 3; ++c)
            cr[c] = e[(c + 1) % 3] * f[(c + 2) % 3] - e[(c + 2) % 3] * f[(c + 1) % 3];
        area = 0.5 * sqrt(cr[0] * cr[0] + cr[1] * cr[1] + cr[2] * cr[2]);
        for (i = 0; i < 300; ++i) {
            for (j = 0; i + j < 300; ++j) {
                for (k = 0; k < 2 && i + j + k < 300; ++k) { /* both halves of a small square */
                    double third = (k ? 2 : 1) / 3.0, u = (i + third) / 300, p[3];
                    double v = (j + third) / 300;
                    for (c = 0; c < 3; ++c) p[c] = y[24 + c] + u * e[c] + v * f[c];
                    SAMPLE(2.0 * area / 90000, p);
                }
            }
        }
        for (i = 0; i < 2000; ++i) {
            double p[3];
            for (c = 0; c < 3; ++c)
                p[c] = y[30 + c] + (i + 0.5) / 2000 * (y[33 + c] - y[30 + c]);
            SAMPLE(4.0 * len / 2000, p);
        }
        SAMPLE(5.0, (y + 36));
    }
    util_assert_rel(b.mass, (double)m, 1e-14);
    for (c = 0; c < 3; ++c) {
        munit_assert_double(fabs((double)(b.q[c] - first[c] / m)), <, 1e-14);
        for (d = 0; d < 3; ++d) {
            long double J = second[3 * c + d] - first[c] * first[d] / m;
            munit_assert_double(fabs(b.J[3 * c + d] - (double)J), <,
                2e-3); /* what the midpoint rule leaves: 3/12 (1/40)^2 */
        }
    }
    for (i = 0; i < 39; ++i) munit_assert_double(fabs(x[i] + b.q[i % 3] - y[i]), <, 1e-15 * 8);
    return MUNIT_OK;
}

static MunitResult flat_masses(const MunitParameter params[], void *data)
{
    double a = 2, h = 1, x[8] = {5, 5, 7, 5, 7, 6, 5, 6}, y[8];
    int edge[8] = {0, 1, 1, 2, 2, 3, 3, 0}, back[8] = {1, 0, 2, 1, 3, 2, 0, 3}, work[16];
    gap_rigid_body b;
    gap_rigid_moments M;
    (void)params, (void)data;
    memcpy(y, x, sizeof y);
    munit_assert_int(gap_rigid_closed(2, 4, edge, work), ==, 1);
    munit_assert_int(gap_rigid_closed(2, 3, edge, work), ==, 0);
    b = make(2, GAP_RIGID_SOLID, 3, 4, x, 4, edge);
    util_assert_rel(b.mass, 3 * a * h, 1e-15);
    util_assert_rel(b.q[0], 6.0, 1e-15);
    util_assert_rel(b.q[1], 5.5, 1e-15);
    util_assert_rel(b.J[0] + b.J[4], b.mass * (a * a + h * h) / 12, 1e-14);
    gap_rigid_moments_begin(&M, 2, 4, y);
    munit_assert_int(gap_rigid_moments_add(&M, GAP_RIGID_SOLID, 3, 4, y, 4, back, NULL), ==,
        GAP_RIGID_EVOLUME);
    memcpy(x, y, sizeof x);
    b = make(2, GAP_RIGID_WIRE, 2, 4, x, 4, edge);
    util_assert_rel(b.mass, 2 * 6.0, 1e-15);
    /* the long sides: 2 L (L^2/12 + 1/4), the short ones 2 (1/12 + 1) */
    util_assert_rel(b.J[0] + b.J[4], 2 * (2 * 2 * (4.0 / 12 + 0.25) + 2 * (1.0 / 12 + 1)), 1e-14);
    return MUNIT_OK;
}

static MunitResult bad_bodies(const MunitParameter params[], void *data)
{
    double x[24], u[6], nan[6] = {0, 0, 0, 0, 0, 0};
    int tri[36], i, bad;
    gap_rigid_moments M;
    gap_rigid_body b;
    (void)params, (void)data;
    nan[1] = NAN;
    box_nodes(1, 1, 1, x);
    for (i = 0; i < 36; ++i) tri[i] = box_tri[i - i % 3 + 2 - i % 3];
    gap_rigid_moments_begin(&M, 3, 8, x);
    munit_assert_int(gap_rigid_moments_add(&M, GAP_RIGID_SOLID, 1, 8, x, 12, tri, &bad), ==,
        GAP_RIGID_EVOLUME);
    munit_assert_double(M.mass, ==, 0);
    munit_assert_int(gap_rigid_init(&b, &M, 8, x), ==, GAP_RIGID_EMASS);
    tri[7] = 8;
    munit_assert_int(gap_rigid_moments_add(&M, GAP_RIGID_SURFACE, 1, 8, x, 12, tri, &bad), ==,
        GAP_RIGID_EINDEX);
    munit_assert_int(bad, ==, 2);
    tri[7] = tri[6];
    munit_assert_int(gap_rigid_moments_add(&M, GAP_RIGID_SURFACE, 1, 8, x, 12, tri, &bad), ==,
        GAP_RIGID_EINPUT);
    munit_assert_int(bad, ==, 2);
    munit_assert_int(gap_rigid_moments_add(&M, GAP_RIGID_POINTS, 0, 8, x, 8, NULL, &bad), ==,
        GAP_RIGID_EINPUT);
    munit_assert_int(gap_rigid_moments_add(&M, GAP_RIGID_POINTS, 1, 2, nan, 2, NULL, &bad), ==,
        GAP_RIGID_ENONFIN);
    munit_assert_int(bad, ==, 0);
    b = make(3, GAP_RIGID_SOLID, 1, 8, x, 12, box_tri);
    munit_assert_int(gap_rigid_begin(&b, 1, 0, NULL, u), ==, GAP_RIGID_EINPUT);
    munit_assert_int(gap_rigid_begin(&b, 1, NAN, NULL, u), ==, GAP_RIGID_EINPUT);
    b.v[2] = NAN;
    munit_assert_int(gap_rigid_begin(&b, 1, 0.1, NULL, u), ==, GAP_RIGID_ENONFIN);
    x[0] = 3, x[1] = 4, x[2] = 5;
    b = make(3, GAP_RIGID_POINTS, 2, 1, x, 1, NULL); /* one point: rotations are held */
    munit_assert_int(gap_rigid_begin(&b, 1, 0.1, NULL, u), ==, 0);
    munit_assert_int(b.held, ==, 56);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- energy */

static void random_body(gap_rigid_body *b, double *x, double spin)
{
    double w[3], s[3], R[9];
    int c;
    box_nodes(util_uniform(0.2, 2), util_uniform(0.2, 2), util_uniform(0.2, 2), x);
    util_rotation(R);
    for (c = 0; c < 3; ++c) s[c] = util_uniform(-1, 1);
    move_nodes(8, x, R, s);
    *b = make(3, GAP_RIGID_SOLID, util_uniform(0.5, 5), 8, x, 12, box_tri);
    util_rotation(b->Q);
    util_unit(w, 3);
    for (c = 0; c < 3; ++c) {
        w[c] *= spin;
        b->v[c] = util_uniform(-1, 1);
        b->force[c] = util_uniform(-3, 3);
        b->torque[c] = util_uniform(-3, 3);
    }
    gap_rigid_set_spin(b, w);
}

static double body_energy(void *ctx, const double *u)
{
    return gap_rigid_energy((const gap_rigid_body *)ctx, u, 0, 1);
}

static void body_gradient(void *ctx, const double *u, double *g)
{
    gap_rigid_frame f;
    gap_rigid_frames((const gap_rigid_body *)ctx, u, 0, 1, &f);
    gap_rigid_gradient((const gap_rigid_body *)ctx, u, &f, 0, 1, g);
}

static MunitResult energy_derivatives(const MunitParameter params[], void *data)
{
    static const double angle[] = {0, 1e-6, 0.3, 1, 3, 7};
    double worst[2] = {0, 0};
    int rep, c;
    (void)params, (void)data;
    for (rep = 0; rep < 200; ++rep) {
        double x[24], u[6], g[6], H[36], gravity[3] = {0.3, -9.81, 1}, t[3];
        gap_rigid_body b;
        gap_rigid_frame f;
        random_body(&b, x, 3);
        if (rep % 4 == 3) b.type = GAP_RIGID_KINEMATIC;
        munit_assert_int(gap_rigid_begin(&b, 1, 0.1, gravity, u), ==, 0);
        util_unit(t, 3);
        for (c = 0; c < 3; ++c) u[3 + c] = angle[rep % 6] * t[c], u[c] += util_uniform(-1, 1);
        gap_rigid_frames(&b, u, 0, 1, &f);
        gap_rigid_gradient(&b, u, &f, 0, 1, g);
        gap_rigid_hessian(&b, &f, 0, 0, 1, H);
        worst[0] = fmax(worst[0], util_gradient_error(body_energy, &b, u, g, 6, 1e-3));
        worst[1] = fmax(worst[1], util_jacobian_error(body_gradient, &b, u, H, 6, 1e-3));
    }
    munit_logf(MUNIT_LOG_INFO, "gradient %.2e Hessian %.2e", worst[0], worst[1]);
    munit_assert_double(worst[0], <, 1e-10);
    munit_assert_double(worst[1], <, 1e-10);
    return MUNIT_OK;
}

/* Smallest eigenvalue of a symmetric n x n matrix by bisection with Cholesky. */
static int is_definite(int n, const double *A, double shift)
{
    double L[144];
    int i, j, k;
    for (i = 0; i < n; ++i) {
        for (j = 0; j <= i; ++j) {
            double s = A[i * n + j] + (i == j ? shift : 0);
            for (k = 0; k < j; ++k) s -= L[i * n + k] * L[j * n + k];
            if (i == j && !(s > 0)) return 0;
            L[i * n + j] = i == j ? sqrt(s) : s / L[j * n + j];
        }
    }
    return 1;
}

/* A straight wire that spins across: raw block indefinite, clamped at 1e-6 tr J. */
static MunitResult wire_block(const MunitParameter params[], void *data)
{
    double x[6] = {-1, 0, 0, 1, 0, 0}, w[3] = {0, 0, 2}, u[6], H[36], T[9], tr, low;
    int rod[2] = {0, 1}, i, j;
    gap_rigid_body b;
    gap_rigid_frame f;
    (void)params, (void)data;
    b = make(3, GAP_RIGID_WIRE, 3, 2, x, 1, rod);
    gap_rigid_set_spin(&b, w);
    tr = b.J[0] + b.J[4] + b.J[8];
    gap_rigid_begin(&b, 1, 0.1, NULL, u);
    gap_rigid_frames(&b, u, 0, 1, &f);
    for (i = 0; i < 2; ++i) {
        gap_rigid_hessian(&b, &f, i, 0, 1, H);
        for (j = 0; j < 9; ++j) T[j] = H[(3 + j / 3) * 6 + 3 + j % 3];
        low = 0;
        if (i == 0) {
            munit_assert_int(is_definite(3, T, 1e-12 * tr), ==, 0);
            munit_assert_int(is_definite(3, T, 0.2 * 0.2 * tr / 4 * 1.05), ==, 1);
            munit_assert_int(is_definite(3, T, 0.2 * 0.2 * tr / 4 * 0.9), ==, 0);
        } else {
            low = 1e-6 * tr; /* the spin about the wire is at the floor, the rest above */
            munit_assert_int(is_definite(3, T, -low * (1 - 1e-8)), ==, 1);
        }
    }
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- contacts through the rotation */

typedef struct pairs {
    int dim, kind, nodes, friction;
    gap_rigid_body b[2];
    double X[12], x0[12];
    int body[4], node[4];
    int edge[4], tri[3], pair[2];
    double scale;
    gap_barrier_set set;
    gap_barrier_mesh mesh;
    gap_barrier_candidates cand;
    gap_friction_lag lag;
} pairs;

static double pair_energy(void *ctx, const double *u)
{
    pairs *p = (pairs *)ctx;
    double x[12];
    gap_rigid_place(p->b, u, 0, 2, p->X, x);
    if (p->friction) return gap_friction_energy(&p->lag, x, p->x0, 0, p->lag.count);
    munit_assert_int(gap_barrier_build(&p->set, &p->mesh, x, &p->cand, 1, 100), ==, 0);
    return gap_barrier_energy(&p->set, x, 0, p->set.count);
}

/* Gradient and Hessian (raw or psd) in the 2 n unknowns through the chain rule. */
static void pair_blocks(pairs *p, const double *u, int psd, double *g, double *H)
{
    int n = gap_rigid_unknowns(p->dim), node[4], c, k = p->dim == 3 ? 4 : 2, status;
    double x[12], grad[12], hess[144], G[12], B[144];
    gap_rigid_frame f[2];
    const int *from;
    gap_rigid_frames(p->b, u, 0, 2, f);
    gap_rigid_place(p->b, u, 0, 2, p->X, x);
    memset(grad, 0, sizeof grad);
    memset(hess, 0, sizeof hess);
    if (p->friction) {
        from = p->lag.node;
        gap_friction_gradient(&p->lag, x, p->x0, 0, 1, grad);
        gap_friction_hessian(&p->lag, x, p->x0, 0, 0, 1, hess);
    } else {
        munit_assert_int(gap_barrier_build(&p->set, &p->mesh, x, &p->cand, 1, 100), ==, 0);
        munit_assert_int(p->set.count, ==, 1);
        from = p->set.node;
        gap_barrier_gradient(&p->set, x, 0, 1, grad);
        gap_barrier_hessian(&p->set, x, 0, 0, 1, hess);
    }
    status = gap_rigid_chain(p->b, f, p->body, p->X, 1, from, grad, H ? hess : NULL, psd, node, G,
        B);
    munit_assert_int(status, ==, 0);
    for (c = 0; c < k; ++c) { /* the first side's body comes first: give it the right place */
        int at = p->dim == 3 ? node[c] : node[c];
        int j, d;
        munit_assert_int(at, ==, c);
        for (d = 0; d < 3; ++d) g[3 * at + d] = G[3 * c + d];
        for (j = 0; H && j < 9 * k; ++j) H[9 * k * at + j] = B[9 * k * c + j];
    }
    (void)n;
}

/* Slip of the frozen contact, a length. */
static double pair_slip(const pairs *p, const double *u)
{
    double x[12], s[3] = {0, 0, 0}, along = 0, y = 0;
    int i, c;
    gap_rigid_place(p->b, u, 0, 2, p->X, x);
    for (i = 0; i < p->nodes; ++i) {
        for (c = 0; c < p->dim; ++c) {
            int at = p->lag.node[i] * p->dim + c;
            s[c] += p->lag.weight[i] * (x[at] - p->x0[at]);
        }
    }
    for (c = 0; c < p->dim; ++c) along += s[c] * p->lag.normal[c];
    for (c = 0; c < p->dim; ++c) y += pow(s[c] - along * p->lag.normal[c], 2);
    return sqrt(y);
}

static void pair_gradient(void *ctx, const double *u, double *g)
{
    pair_blocks((pairs *)ctx, u, 0, g, NULL);
}

/* Two bodies with one contact of a kind, and a start u with some rotation. */
static void pair_make(pairs *p, int dim, int kind, double *u)
{
    static const int first[4] = {1, 1, 1, 2}, count[4] = {2, 3, 4, 4};
    int o, i, c, n = gap_rigid_unknowns(dim);
    memset(p, 0, sizeof *p);
    p->dim = dim;
    p->kind = kind;
    p->nodes = count[kind];
    gap_barrier_init(&p->set, NULL);
    gap_friction_init(&p->lag, NULL);
    for (i = 0; i < 4; ++i) p->body[i] = i >= first[kind];
    p->edge[0] = 0, p->edge[1] = 1, p->edge[2] = 2, p->edge[3] = 3;
    if (kind == 1) p->edge[0] = 1, p->edge[1] = 2;
    p->tri[0] = 1, p->tri[1] = 2, p->tri[2] = 3;
    p->pair[0] = 0;
    p->pair[1] = kind == 0 || kind == 3 ? 1 : 0;
    p->mesh.dim = dim;
    p->mesh.nodes = p->nodes;
    p->mesh.edges = kind == 1 ? 1 : 2;
    p->mesh.tris = kind == 2;
    p->mesh.edge = p->edge;
    p->mesh.tri = p->tri;
    p->mesh.rest = p->X;
    p->cand.pair[kind] = p->pair;
    p->cand.count[kind] = 1;
    for (o = 0; o < 2; ++o) {
        double dirs[3] = {0, 0, 1};
        gap_rigid_body *b = p->b + o;
        memset(b, 0, sizeof *b);
        b->dim = dim;
        b->first = o ? first[kind] : 0;
        b->count = o ? p->nodes - first[kind] : first[kind];
        b->mass = 1;
        b->J[0] = b->J[4] = b->J[8] = 1;
        b->radius = util_uniform(0.5, 2);
        if (dim == 3) util_rotation(b->Q);
        else {
            dirs[2] = util_uniform(-3, 3);
            gap_rigid_exp(dirs, b->Q, NULL);
        }
    }
    gap_rigid_begin(p->b, 2, 0.1, NULL, u);
    for (o = 0; o < 2; ++o) {
        for (c = dim; c < n; ++c) u[o * n + c] = util_uniform(-1.5, 1.5);
        u[o * n + dim - 1] = o ? 0 : 0.3;
    }
}

/* World points of a clear contact of the kind (0.3 apart along the last axis), pulled back into the
   bodies at u. */
static void pair_place(pairs *p, const double *u)
{
    static const double shape[4][12] = {{0, 0, 0.3, 0.05, 0.02, 0},
        {0.1, 0.05, 0.3, -1, 0.2, 0.1, 1, -0.1, -0.1},
        {0.1, 0.1, 0.3, -1, -1, 0, 1.2, -0.8, 0.1, 0.1, 1.5, -0.1},
        {-1, 0.1, 0.4, 1, -0.2, 0.2, 0.1, -1, 0, -0.1, 1.2, 0.05}};
    gap_rigid_frame f[2];
    int i, c, d;
    gap_rigid_frames(p->b, u, 0, 2, f);
    for (i = 0; i < p->nodes; ++i) {
        const gap_rigid_frame *fr = f + p->body[i];
        double w[3];
        for (c = 0; c < p->dim; ++c) {
            int from = p->dim == 2 && c == 1 ? 2 : c;
            w[c] = shape[p->kind][3 * i + from] + util_uniform(-0.02, 0.02) - fr->q[c];
        }
        for (c = 0; c < p->dim; ++c) {
            double s = 0;
            for (d = 0; d < p->dim; ++d) s += fr->A[3 * d + c] * w[d];
            p->X[p->dim * i + c] = s;
        }
    }
}

static MunitResult chain_rule(const MunitParameter params[], void *data)
{
    double worst[2][2] = {{0, 0}, {0, 0}};
    int rep, kind, dim, fr, c;
    (void)params, (void)data;
    for (rep = 0; rep < util_count(20, 500); ++rep) {
        for (dim = 2; dim <= 3; ++dim) {
            for (kind = 0; kind < (dim == 2 ? 2 : 4); ++kind) {
                double u[12], g[12], H[144], slid[12], y;
                int n = 2 * gap_rigid_unknowns(dim);
                pairs p;
                pair_make(&p, dim, kind, u);
                pair_place(&p, u);
                gap_rigid_place(p.b, u, 0, 2, p.X, p.x0);
                (void)pair_energy(&p, u);
                munit_assert_int(p.set.count, ==, 1);
                munit_assert_int(p.set.kind[0], ==, kind);
                munit_assert_int(gap_friction_freeze(&p.lag, dim, 1, p.nodes, p.set.node,
                    p.set.weight, p.set.normal, p.set.force, NULL, 0.5, NULL, 0.2), ==, 0);
                for (fr = 0; fr < 2; ++fr) {
                    p.friction = fr;
                    memcpy(slid, u, sizeof slid);
                    /* sliding and sticking: a move of a few, or of a part of eps_u */
                    for (c = 0; fr && c < n; ++c) slid[c] += (rep & 1 ? 0.3 : 0.03) * util_normal();
                    y = fr ? pair_slip(&p, slid) : 1; /* the third derivative jumps at 0, eps_u */
                    if (y < 0.02 || fabs(y - 0.2) < 0.02) continue;
                    pair_blocks(&p, slid, 0, g, H);
                    worst[fr][0] = fmax(worst[fr][0],
                        util_gradient_error(pair_energy, &p, slid, g, n, 2e-4));
                    worst[fr][1] = fmax(worst[fr][1],
                        util_jacobian_error(pair_gradient, &p, slid, H, n, 2e-4));
                }
                gap_barrier_free(&p.set);
                gap_friction_free(&p.lag);
            }
        }
    }
    munit_logf(MUNIT_LOG_INFO, "barrier %.2e %.2e, friction %.2e %.2e", worst[0][0], worst[0][1],
        worst[1][0], worst[1][1]);
    munit_assert_double(worst[0][0], <, 1e-8);
    munit_assert_double(worst[0][1], <, 1e-8);
    munit_assert_double(worst[1][0], <, 1e-8);
    munit_assert_double(worst[1][1], <, 1e-6);
    return MUNIT_OK;
}

/* P is the nearest PSD matrix to H in a metric: P and P - H are PSD and <P, P - H> = 0 there. */
static MunitResult chain_psd(const MunitParameter params[], void *data)
{
    int rep, kind, i, j, far = 0;
    (void)params, (void)data;
    for (rep = 0; rep < 50; ++rep) {
        for (kind = 0; kind < 4; ++kind) {
            double u[12], g[12], H[144], P[144], D[144], top = 0, inner = 0;
            pairs p;
            pair_make(&p, 3, kind, u);
            pair_place(&p, u);
            pair_blocks(&p, u, 0, g, H);
            pair_blocks(&p, u, 1, g, P);
            for (i = 0; i < 144; ++i) {
                munit_assert_double(fabs(H[i] - H[12 * (i % 12) + i / 12]), <,
                    1e-12 * (1 + fabs(H[i])));
            }
            for (i = 0; i < 12; ++i) {
                for (j = 0; j < 12; ++j) {
                    double ri = i % 6 < 3 ? 1 : p.b[i / 6].radius;
                    double rj = j % 6 < 3 ? 1 : p.b[j / 6].radius;
                    H[12 * i + j] /= ri * rj;
                    P[12 * i + j] /= ri * rj;
                    D[12 * i + j] = P[12 * i + j] - H[12 * i + j];
                    inner += P[12 * i + j] * D[12 * i + j];
                    top = fmax(top, fabs(H[12 * i + j]));
                    far += fabs(D[12 * i + j]) > 1e-3 * top;
                }
            }
            munit_assert_int(is_definite(12, P, 1e-12 * top * 12), ==, 1);
            munit_assert_int(is_definite(12, D, 1e-12 * top * 12), ==, 1);
            munit_assert_double(fabs(inner), <, 1e-10 * top * top);
            /* a static second body: only the first one's block is left */
            p.b[1].type = GAP_RIGID_STATIC_BODY;
            {
                double x[12], grad[12], hess[144], G[12], B[144];
                gap_rigid_frame f[2];
                int node[4];
                gap_rigid_frames(p.b, u, 0, 2, f);
                gap_rigid_place(p.b, u, 0, 2, p.X, x);
                gap_barrier_gradient(&p.set, x, 0, 1, grad);
                gap_barrier_hessian(&p.set, x, 0, 0, 1, hess);
                gap_rigid_chain(p.b, f, p.body, p.X, 1, p.set.node, grad, hess, 1, node, G, B);
                munit_assert_int(node[0], ==, 0);
                munit_assert_int(node[1], ==, 1);
                munit_assert_int(node[2], ==, -1);
                munit_assert_int(node[3], ==, -1);
                for (i = 0; i < 12; ++i) {
                    munit_assert_double(G[i], ==, i < 6 ? g[i] : 0);
                    for (j = 0; j < 12; ++j) {
                        if (i >= 6 || j >= 6) munit_assert_double(B[12 * i + j], ==, 0);
                    }
                }
                p.body[0] = 0, p.body[1] = 1, p.body[2] = 2;
                if (kind >= 2) munit_assert_int(gap_rigid_chain(p.b, f, p.body, p.X, 1, p.set.node,
                    grad, NULL, 0, node, G, NULL), ==, GAP_RIGID_EINDEX);
            }
            gap_barrier_free(&p.set);
        }
    }
    munit_assert_int(far, >, 0); /* projection had work to do */
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- contact-free motion */

/* Minimise one body's energy over u: Newton on the rotation, exact on the translation. */
static void free_step(gap_rigid_body *b, double h, const double *gravity, double *u)
{
    gap_rigid_frame f;
    double g[6], H[36], v[6], e, e1;
    int k, i, j, c;
    munit_assert_int(gap_rigid_begin(b, 1, h, gravity, u), ==, 0);
    for (k = 0; k < 60; ++k) {
        double A[3][4], t = 1, size = 0;
        gap_rigid_frames(b, u, 0, 1, &f);
        gap_rigid_gradient(b, u, &f, 0, 1, g);
        gap_rigid_hessian(b, &f, 1, 0, 1, H);
        for (i = 0; i < 3; ++i) {
            u[i] -= g[i] / H[7 * i];
            for (j = 0; j < 3; ++j) A[i][j] = H[(3 + i) * 6 + 3 + j];
            A[i][3] = -g[3 + i];
        }
        for (i = 0; i < 3; ++i) { /* Gauss-Jordan; the block is SPD */
            for (j = 0; j < 3; ++j) {
                double m = A[j][i] / A[i][i];
                for (c = 0; j != i && c < 4; ++c) A[j][c] -= m * A[i][c];
            }
        }
        for (i = 0; i < 3; ++i) size = fmax(size, fabs(A[i][3] /= A[i][i]));
        e = gap_rigid_energy(b, u, 0, 1);
        for (i = 0; i < 3; ++i) v[i] = 0, v[3 + i] = A[i][3];
        t = gap_rigid_limit(b, 1, v);
        munit_assert_double(t * sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5]), <, 1 + 1e-12);
        for (c = 0; c < 30; ++c, t *= 0.5) {
            memcpy(v, u, sizeof v);
            for (i = 0; i < 3; ++i) v[3 + i] = u[3 + i] + t * A[i][3];
            e1 = gap_rigid_energy(b, v, 0, 1);
            if (e1 <= e || size < 1e-6) break;
        }
        memcpy(u, v, sizeof v);
        if (size < 1e-9) break; /* and this step has squared it */
    }
    munit_assert_int(k, <, 60);
}

/* Rotation nearest to M: polar factor V diag(1,1,det) W^T by one-sided Jacobi in long double. */
static void procrustes(const double M[9], long double Q[9])
{
    long double A[9], V[9], s[3], U[9];
    int sweep, p, q, k, i, j, order;
    for (k = 0; k < 9; ++k) A[k] = M[k], V[k] = k % 4 == 0;
    for (sweep = 0; sweep < 60; ++sweep) {
        for (p = 0; p < 2; ++p) {
            for (q = p + 1; q < 3; ++q) {
                long double a = 0, b = 0, c = 0, z, t, cs, sn;
                for (k = 0; k < 3; ++k) {
                    a += A[3 * k + p] * A[3 * k + p];
                    b += A[3 * k + q] * A[3 * k + q];
                    c += A[3 * k + p] * A[3 * k + q];
                }
                if (fabsl(c) <= 1e-25L * sqrtl(a * b) || c == 0) continue;
                z = (b - a) / (2 * c);
                t = (z < 0 ? -1 : 1) / (fabsl(z) + sqrtl(1 + z * z));
                cs = 1 / sqrtl(1 + t * t), sn = cs * t;
                for (k = 0; k < 3; ++k) {
                    long double x = A[3 * k + p], y = A[3 * k + q];
                    A[3 * k + p] = cs * x - sn * y, A[3 * k + q] = sn * x + cs * y;
                    x = V[3 * k + p], y = V[3 * k + q];
                    V[3 * k + p] = cs * x - sn * y, V[3 * k + q] = sn * x + cs * y;
                }
            }
        }
    }
    for (p = 0; p < 3; ++p) {
        s[p] = 0;
        for (k = 0; k < 3; ++k) s[p] += A[3 * k + p] * A[3 * k + p];
    }
    order = s[0] < s[1] ? (s[0] < s[2] ? 0 : 2) : (s[1] < s[2] ? 1 : 2); /* the smallest */
    p = (order + 1) % 3, q = (order + 2) % 3;
    for (k = 0; k < 3; ++k) {
        U[3 * k + p] = A[3 * k + p] / sqrtl(s[p]);
        U[3 * k + q] = A[3 * k + q] / sqrtl(s[q]);
    }
    for (k = 0; k < 3; ++k) { /* the third by the cross product; V is a rotation: det U = +1 */
        int a = (k + 1) % 3, b = (k + 2) % 3;
        U[3 * k + order] = U[3 * a + p] * U[3 * b + q] - U[3 * b + p] * U[3 * a + q];
    }
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 3; ++j) {
            for (Q[3 * i + j] = 0, k = 0; k < 3; ++k) Q[3 * i + j] += U[3 * i + k] * V[3 * j + k];
        }
    }
}

static MunitResult procrustes_oracle(const MunitParameter params[], void *data)
{
    double worst = 0;
    int rep, step, k;
    (void)params, (void)data;
    for (rep = 0; rep < util_count(200, 5000); ++rep) {
        double x[24], u[6], M[9], K[9], h = 0.02, h0, e0, p0[3], L0[3];
        long double Q[9];
        gap_rigid_body b;
        random_body(&b, x, util_uniform(0, 40)); /* up to 0.8 radians a step */
        for (k = 0; k < 3; ++k) b.force[k] = 0, b.torque[k] *= rep & 1;
        h0 = h;
        for (step = 0; step < 5; ++step) {
            double t[3] = {b.torque[0], b.torque[1], b.torque[2]}, e1, L1[3], p1[3];
            double TQ[9];
            int i, j, l;
            K[0] = K[4] = K[8] = 0, K[1] = -t[2], K[2] = t[1], K[3] = t[2], K[5] = -t[0];
            K[6] = -t[1], K[7] = t[0];
            for (i = 0; i < 3; ++i) {
                for (j = 0; j < 3; ++j) {
                    M[3 * i + j] = TQ[3 * i + j] = 0;
                    for (l = 0; l < 3; ++l) {
                        M[3 * i + j] += (b.Q[3 * i + l] + h * b.Qdot[3 * i + l]) * b.J[3 * l + j];
                        TQ[3 * i + j] += K[3 * i + l] * b.Q[3 * l + j];
                    }
                    M[3 * i + j] += 0.5 * h * h * TQ[3 * i + j];
                }
            }
            procrustes(M, Q);
            e0 = gap_rigid_kinetic(&b);
            b.q[0] = b.q[1] = b.q[2] = 0; /* angular momentum about the centre */
            gap_rigid_momentum(&b, p0, L0);
            free_step(&b, h, NULL, u);
            gap_rigid_end(&b, 1, u);
            for (k = 0; k < 9; ++k) worst = fmax(worst, (double)fabsl(Q[k] - b.Q[k]));
            if (rep & 1) continue;
            b.q[0] = b.q[1] = b.q[2] = 0;
            e1 = gap_rigid_kinetic(&b);
            gap_rigid_momentum(&b, p1, L1);
            munit_assert_double(e1, <=, e0 * (1 + 1e-12));
            munit_assert_double(L1[0] * L1[0] + L1[1] * L1[1] + L1[2] * L1[2], <=,
                (L0[0] * L0[0] + L0[1] * L0[1] + L0[2] * L0[2]) * (1 + 1e-11));
        }
        (void)h0;
    }
    munit_logf(MUNIT_LOG_INFO, "largest difference to the polar factor %.2e", worst);
    munit_assert_double(worst, <, 1e-12);
    return MUNIT_OK;
}

static MunitResult spin_and_torque(const MunitParameter params[], void *data)
{
    double x[24], u[6], w[3] = {0, 0, 5}, h = 0.01, alpha;
    gap_rigid_body b;
    int k;
    (void)params, (void)data;
    box_nodes(1, 2, 3, x);
    b = make(3, GAP_RIGID_SOLID, 2, 8, x, 12, box_tri);
    b.torque[2] = 70; /* I = 12 (1 + 4) / 12 = 5 */
    free_step(&b, 0.1, NULL, u);
    util_assert_rel(u[5], atan(0.1 * 0.1 * 70 / 5), 1e-13);
    box_nodes(1, 2, 3, x);
    b = make(3, GAP_RIGID_SOLID, 2, 8, x, 12, box_tri);
    gap_rigid_set_spin(&b, w);
    alpha = atan(h * w[2]);
    for (k = 0; k < 200; ++k) {
        free_step(&b, h, NULL, u);
        munit_assert_double(fabs(u[5] - alpha), <, 1e-13);
        gap_rigid_end(&b, 1, u);
        util_assert_rel(b.w[2], alpha / h, 1e-12);
        alpha = atan2(sin(alpha), 2 - cos(alpha));
    }
    return MUNIT_OK;
}

static MunitResult free_fall(const MunitParameter params[], void *data)
{
    double x[24], y[24], z[24], u[6], g[3] = {0, -9.81, 0}, h = 0.01;
    gap_rigid_body b;
    int k, c;
    (void)params, (void)data;
    box_nodes(1, 2, 3, x);
    b = make(3, GAP_RIGID_SOLID, 2, 8, x, 12, box_tri);
    b.v[0] = 2, b.v[1] = 3;
    for (k = 1; k <= 100; ++k) {
        free_step(&b, h, g, u);
        gap_rigid_end(&b, 1, u);
        for (c = 0; c < 3; ++c) {
            double want = k * h * (c == 0 ? 2 : c == 1 ? 3 : 0) + h * h * g[c] * k * (k + 1) / 2.0;
            munit_assert_double(fabs(b.q[c] - want), <, 1e-13 * k);
        }
    }
    gap_rigid_place(&b, NULL, 0, 1, x, y);
    gap_rigid_begin(&b, 1, h, g, u);
    gap_rigid_place(&b, u, 0, 1, x, z);
    munit_assert_memory_equal(sizeof y, y, z); /* theta = 0 is the pose itself, bit for bit */
    return MUNIT_OK;
}

/* J = diag(1,4,9)/12, spun about its middle axis: the numbers of the exact minimiser. */
static MunitResult tumbling(const MunitParameter params[], void *data)
{
    static const struct {
        double h;
        int steps, flips;
        double energy, momentum;
    } run[2] = {{0.01, 1000, 1, 0.35952, 0.60550}, {0.002, 5000, 2, 0.73593, 0.86097}};
    int r, k;
    (void)params, (void)data;
    for (r = 0; r < 2; ++r) {
        double x[24], u[6], w[3] = {0.01, 3, 0.01}, e0, e, p[3], L[3], l, l0 = 0, last = 1;
        double e_last, l_last;
        gap_rigid_body b;
        int flips = 0;
        box_nodes(1, 2, 3, x);
        b = make(3, GAP_RIGID_SOLID, 1.0 / 6, 8, x, 12, box_tri);
        gap_rigid_set_spin(&b, w);
        e0 = e_last = gap_rigid_kinetic(&b);
        l_last = HUGE_VAL;
        for (k = 0; k < run[r].steps; ++k) {
            free_step(&b, run[r].h, NULL, u);
            gap_rigid_end(&b, 1, u);
            e = gap_rigid_kinetic(&b);
            gap_rigid_momentum(&b, p, L);
            l = sqrt(L[0] * L[0] + L[1] * L[1] + L[2] * L[2]);
            if (k == 0) l0 = l;
            munit_assert_double(e, <=, e_last);
            munit_assert_double(l, <=, l_last);
            flips += (b.Q[4] > 0) != (last > 0);
            last = b.Q[4];
            e_last = e, l_last = l;
        }
        munit_logf(MUNIT_LOG_INFO, "h %g: energy %.5f momentum %.5f sign changes %d", run[r].h,
            e_last / e0, l_last / l0, flips);
        munit_assert_double(fabs(e_last / e0 - run[r].energy), <, 2e-5);
        munit_assert_double(fabs(l_last / l0 - run[r].momentum), <, 2e-5);
    }
    return MUNIT_OK;
}

/* Lengths times 2^k: the same u, q times 2^k, bit for bit. */
static MunitResult scaled(const MunitParameter params[], void *data)
{
    double x[24], u[6], v[6], H[36], G[36], w[3] = {3, 1, -2};
    int k, i, c;
    (void)params, (void)data;
    for (k = -20; k <= 20; k += 10) {
        double s = ldexp(1, k), g[3] = {0, -9.81, 0};
        gap_rigid_body b, d;
        gap_rigid_frame f;
        for (i = 0; i < 2; ++i) {
            gap_rigid_body *p = i ? &d : &b;
            box_nodes(1.1, 0.7, 2.3, x);
            for (c = 0; i && c < 24; ++c) x[c] *= s;
            *p = make(3, GAP_RIGID_SOLID, 3, 8, x, 12, box_tri);
            gap_rigid_set_spin(p, w);
            p->v[1] = i ? 2 * s : 2;
            for (c = 0; i && c < 3; ++c) g[c] *= s;
            free_step(p, 0.02, g, i ? v : u);
            gap_rigid_frames(p, i ? v : u, 0, 1, &f);
            gap_rigid_hessian(p, &f, 1, 0, 1, i ? G : H);
        }
        for (c = 0; c < 6; ++c) munit_assert_double(v[c], ==, c < 3 ? u[c] * s : u[c]);
        for (c = 0; c < 36; ++c)
            munit_assert_double(G[c], ==, H[c] * s * s * s * (c / 6 < 3 ? 1 : s * s));
    }
    return MUNIT_OK;
}

static MunitResult kinematic(const MunitParameter params[], void *data)
{
    double x[24], u[6], w[3] = {0, 0, 2}, eta[2];
    gap_rigid_body b;
    int k, c, open;
    unsigned char held[2];
    (void)params, (void)data;
    box_nodes(1, 2, 3, x);
    b = make(3, GAP_RIGID_SOLID, 2, 8, x, 12, box_tri);
    b.type = GAP_RIGID_KINEMATIC;
    b.v[0] = 1;
    gap_rigid_set_spin(&b, w);
    for (k = 0; k < 10; ++k) {
        free_step(&b, 0.1, NULL, u); /* unopposed, the augmented Lagrangian arrives at once */
        open = gap_rigid_drive(&b, 1, u, eta);
        munit_assert_int(open, ==, 0);
        munit_assert_double(eta[0], >, 0.999);
        munit_assert_double(eta[1], >, 0.999);
        gap_rigid_held(&b, 1, held);
        munit_assert_int(held[0] + 8 * held[1], ==, 63);
        gap_rigid_end(&b, 1, u);
        util_assert_rel(b.q[0], 0.1 * (k + 1), 1e-12);
        munit_assert_double(fabs(b.Q[0] - cos(0.2 * (k + 1))), <, 1e-12);
    }
    /* opposed by a spring that pulls q back with stiffness S: multipliers overcome it */
    munit_assert_int(gap_rigid_begin(&b, 1, 0.1, NULL, u), ==, 0);
    for (k = 0, open = 1; open && k < 100; ++k) {
        double S = 1e6 * b.mass;
        for (c = 0; c < 3; ++c) u[c] = (b.mq * b.tq[c] + S * b.q0[c]) / (b.mq + S);
        u[5] = 0.2;
        open = gap_rigid_drive(&b, 1, u, eta);
    }
    munit_assert_int(open, ==, 0);
    munit_assert_double(fabs(u[0] - 1.1), <, 1.01e-4);
    munit_logf(MUNIT_LOG_INFO, "opposed: %d updates, eta %.5f", k, eta[0]);
    /* a goal by pose; partly fixed bodies report what they hold */
    b.type = GAP_RIGID_DYNAMIC;
    b.fixed = 1 | 8 | 32;
    gap_rigid_begin(&b, 1, 0.1, NULL, u);
    gap_rigid_held(&b, 1, held);
    munit_assert_int(held[0], ==, 1);
    munit_assert_int(held[1], ==, 5);
    gap_rigid_set_spin(&b, w);
    munit_assert_double(b.w[2], ==, 0);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- a box on a plane */

typedef struct world {
    int dim, n;
    gap_rigid_body b;
    double X[24], x[24], x0[24], h, dhat, kappa, mu, eps_u;
    int vp[16], nodes;
    double plane[6];
    int owner[8];
    gap_barrier_set set;
    gap_barrier_mesh mesh;
    gap_barrier_candidates cand;
    gap_friction_lag lag;
} world;

static int world_energy(void *user, const double *u, double *e)
{
    world *w = (world *)user;
    gap_rigid_place(&w->b, u, 0, 1, w->X, w->x);
    if (gap_barrier_build(&w->set, &w->mesh, w->x, &w->cand, w->dhat, w->kappa) != 0) return 1;
    *e = gap_rigid_energy(&w->b, u, 0, 1) + gap_barrier_energy(&w->set, w->x, 0, w->set.count)
        + gap_friction_energy(&w->lag, w->x, w->x0, 0, w->lag.count);
    return 0;
}

/* Gradient g, and H if wanted, in the body's unknowns. */
static void world_blocks(world *w, const double *u, double *g, double *H)
{
    gap_rigid_frame f;
    double grad[12 * 8], hess[144 * 8], G[12 * 8], B[144 * 8], e;
    int node[4 * 8], pass, i, r, c, n = w->n;
    munit_assert_int(world_energy(w, u, &e), ==, 0);
    gap_rigid_frames(&w->b, u, 0, 1, &f);
    gap_rigid_gradient(&w->b, u, &f, 0, 1, g);
    if (H) gap_rigid_hessian(&w->b, &f, 1, 0, 1, H);
    for (pass = 0; pass < 2; ++pass) {
        int count = pass ? w->lag.count : w->set.count;
        const int *from = pass ? w->lag.node : w->set.node;
        if (pass) {
            gap_friction_gradient(&w->lag, w->x, w->x0, 0, count, grad);
            gap_friction_hessian(&w->lag, w->x, w->x0, 0, 0, count, hess);
        } else {
            gap_barrier_gradient(&w->set, w->x, 0, count, grad);
            gap_barrier_hessian(&w->set, w->x, 0, 0, count, hess);
        }
        munit_assert_int(gap_rigid_chain(&w->b, &f, w->owner, w->X, count, from, grad, hess, 1,
            node, G, B), ==, 0);
        for (i = 0; i < count; ++i) {
            for (r = 0; r < n; ++r) {
                g[r] += G[2 * n * i + r];
                for (c = 0; H && c < n; ++c) H[n * r + c] += B[4 * n * n * i + 2 * n * r + c];
            }
        }
    }
}

static int world_gradient(void *user, const double *u, double *g)
{
    world_blocks((world *)user, u, g, NULL);
    return 0;
}

/* p = -(H + shift mean(H_ii) I)^-1 g by Cholesky, n <= 12; 1 if not positive definite */
static int dense_solve(int n, const double *H, double shift, const double *g, double *p)
{
    double L[144], mean = 0;
    int i, j, k;
    for (i = 0; i < n; ++i) mean += H[i * n + i] / n;
    for (i = 0; i < n; ++i) {
        for (j = 0; j <= i; ++j) {
            double s = H[i * n + j] + (i == j ? shift * mean : 0);
            for (k = 0; k < j; ++k) s -= L[i * n + k] * L[j * n + k];
            if (i == j && !(s > 0)) return 1;
            L[i * n + j] = i == j ? sqrt(s) : s / L[j * n + j];
        }
    }
    for (i = 0; i < n; ++i) {
        p[i] = -g[i];
        for (k = 0; k < i; ++k) p[i] -= L[i * n + k] * p[k];
        p[i] /= L[i * n + i];
    }
    for (i = n - 1; i >= 0; --i) {
        for (k = i + 1; k < n; ++k) p[i] -= L[k * n + i] * p[k];
        p[i] /= L[i * n + i];
    }
    return 0;
}

static int world_solve(void *user, const double *u, const double *g, int psd, double shift,
    double *p)
{
    world *w = (world *)user;
    double H[36], r[6];
    (void)psd;
    world_blocks(w, u, r, H);
    return dense_solve(w->n, H, shift, g, p);
}

/* A unit box (2D: square) at rest above a plane, where the barrier carries its weight. */
static void world_make(world *w, int dim, double h, double normal_g, double mu, double eps_v)
{
    static const int square[8] = {0, 1, 1, 2, 2, 3, 3, 0};
    double b[3], y, rest[24] = {0, 0, 1, 0, 1, 1, 0, 1};
    int i;
    memset(w, 0, sizeof *w);
    w->dim = dim;
    w->n = gap_rigid_unknowns(dim);
    w->nodes = dim == 3 ? 8 : 4;
    if (dim == 3) box_nodes(1, 1, 1, w->X);
    else memcpy(w->X, rest, sizeof rest);
    w->b = make(dim, GAP_RIGID_SOLID, 1000, w->nodes, w->X, dim == 3 ? 12 : 4,
        dim == 3 ? box_tri : square);
    w->h = h;
    w->dhat = 1e-3;
    w->mu = mu;
    w->eps_u = eps_v * h;
    y = 0.25 * w->dhat * w->dhat; /* rest at dhat / 2 */
    gap_barrier_function_at(GAP_BARRIER_LOG_C2, y, w->dhat * w->dhat, b);
    w->kappa = h * h * 1000 * normal_g / ((dim == 3 ? 4 : 2) * -b[1] * w->dhat);
    w->b.q[dim - 1] = 0.5 + 0.5 * w->dhat;
    w->plane[2 * dim - 1] = 1;
    for (i = 0; i < w->nodes; ++i) w->vp[2 * i] = i;
    w->mesh.dim = dim;
    w->mesh.nodes = w->nodes;
    w->mesh.planes = 1;
    w->mesh.plane = w->plane;
    w->cand.pair[4] = w->vp;
    w->cand.count[4] = w->nodes;
    gap_barrier_init(&w->set, NULL);
    gap_friction_init(&w->lag, NULL);
}

static void world_free(world *w)
{
    gap_barrier_free(&w->set);
    gap_friction_free(&w->lag);
}

/* One step; friction lagged until its forces settle. */
static void world_step(world *w, const double *gravity, double *u)
{
    gap_newton_problem f = {NULL, world_energy, world_gradient, world_solve, NULL, NULL, NULL};
    gap_newton_options o;
    double work[24], before[6], e;
    int lag, c, status;
    memset(&o, 0, sizeof o);
    f.user = w;
    o.h = w->h;
    o.tol = w->mu > 0 ? w->eps_u / w->h / 50 : 1e-7;
    munit_assert_int(gap_rigid_begin(&w->b, 1, w->h, gravity, u), ==, 0);
    gap_rigid_place(&w->b, u, 0, 1, w->X, w->x0);
    munit_assert_int(world_energy(w, u, &e), ==, 0);
    for (lag = 0; lag < 30; ++lag) {
        double move = 0;
        memcpy(before, u, sizeof before);
        if (w->mu > 0) gap_friction_freeze(&w->lag, w->dim, w->set.count, w->nodes, w->set.node,
            w->set.weight, w->set.normal, w->set.force, NULL, w->mu, NULL, w->eps_u);
        status = gap_newton_minimize(&f, &o, w->n, u, work, NULL);
        munit_assert_int(status, ==, GAP_NEWTON_CONVERGED);
        munit_assert_int(world_energy(w, u, &e), ==, 0); /* the contact set of u */
        for (c = 0; c < w->n; ++c) move = fmax(move, fabs(u[c] - before[c]));
        if (w->mu == 0 || move / w->h < o.tol) break;
    }
    gap_rigid_end(&w->b, 1, u);
}

static MunitResult resting(const MunitParameter params[], void *data)
{
    int dim, k, c;
    (void)params, (void)data;
    for (dim = 2; dim <= 3; ++dim) {
        world w;
        double g[3] = {0, 0, 0}, u[6], sum = 0;
        g[dim - 1] = -9.81;
        world_make(&w, dim, 0.01, 9.81, 0, 1);
        for (k = 0; k < 50; ++k) world_step(&w, g, u);
        for (c = 0; c < w.set.count; ++c) sum += w.set.force[c];
        munit_assert_int(w.set.count, ==, dim == 3 ? 4 : 2);
        util_assert_rel(sum, 1000 * 9.81 * w.h * w.h, 1e-7);
        munit_assert_double(fabs(gap_barrier_min_gap(&w.set) / w.dhat - 0.5), <, 1e-6);
        for (c = 0; c < dim; ++c) munit_assert_double(fabs(w.b.v[c]), <, 1e-6);
        world_free(&w);
    }
    return MUNIT_OK;
}

/* Slope of tan 0.5 as a tilt of gravity: 0.5 sticks, 0.49 slides with g (sin - mu cos). */
static MunitResult slope(const MunitParameter params[], void *data)
{
    double phi = atan(0.5), g[3];
    int k, run, steps = util_count(100, 400);
    (void)params, (void)data;
    g[0] = 9.81 * sin(phi), g[1] = 0, g[2] = -9.81 * cos(phi);
    for (run = 0; run < 2; ++run) {
        double mu = run ? 0.49 : 0.5, u[6], want, h = 0.01, a = 9.81 * (sin(phi) - mu * cos(phi));
        world w;
        world_make(&w, 3, h, 9.81 * cos(phi), 0.7, 1e-4);
        for (k = 0; k < 40; ++k) world_step(&w, g, u); /* let the pressure shift downhill */
        w.mu = mu;
        w.b.q[0] = 0;
        for (k = 0; k < steps; ++k) world_step(&w, g, u);
        want = run ? a * h * h * steps * (steps + 1) / 2 : 0;
        munit_logf(MUNIT_LOG_INFO, "mu %g: %.6f m, theory %.6f m", mu, w.b.q[0], want);
        munit_assert_double(fabs(w.b.q[0] - want), <, run ? 0.01 * want : 3e-4 * steps * h);
        world_free(&w);
    }
    return MUNIT_OK;
}

static MunitResult stopping(const MunitParameter params[], void *data)
{
    double g[3] = {0, 0, -9.81}, u[6], want = 0, v = 1, h = 0.005;
    world w;
    int k;
    (void)params, (void)data;
    world_make(&w, 3, h, 9.81, 0.3, 1e-4);
    w.b.v[0] = 1;
    for (k = 0; k < 100; ++k) world_step(&w, g, u);
    while ((v -= h * 0.3 * 9.81) > 0) want += h * v; /* implicit Euler's own v0^2 / (2 mu g) */
    munit_logf(MUNIT_LOG_INFO, "stops after %.6f m, discrete theory %.6f m, continuous %.6f m",
        w.b.q[0], want, 1 / (2 * 0.3 * 9.81));
    munit_assert_double(fabs(w.b.q[0] - want), <, 0.01 * want);
    munit_assert_double(fabs(w.b.v[0]), <, 1e-4);
    world_free(&w);
    return MUNIT_OK;
}

/* Dropped askew without friction at fixed kappa: kinetic + potential + barrier / h^2 never grow. */
static MunitResult decay(const MunitParameter params[], void *data)
{
    double g[3] = {0, 0, -9.81}, u[6], spin[3] = {1, 2, 0.5}, last, first, e;
    world w;
    int k;
    (void)params, (void)data;
    world_make(&w, 3, 0.002, 9.81 * 20, 0, 1);
    w.b.q[2] = 0.9;
    gap_rigid_set_spin(&w.b, spin);
    first = last = gap_rigid_kinetic(&w.b) + w.b.mass * 9.81 * w.b.q[2];
    for (k = 0; k < util_count(300, 2000); ++k) {
        world_step(&w, g, u);
        e = gap_rigid_kinetic(&w.b) + w.b.mass * 9.81 * w.b.q[2]
            + gap_barrier_energy(&w.set, w.x, 0, w.set.count) / (w.h * w.h);
        munit_assert_double(e, <=, last + 1e-6 * first);
        munit_assert_double(gap_barrier_min_gap(&w.set), >, 0);
        last = e;
    }
    munit_logf(MUNIT_LOG_INFO, "energy %.1f -> %.1f J", first, last);
    world_free(&w);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- two boxes collide */

enum { DUO_VF = 2 * 8 * 12, DUO_EE = 18 * 18 };

typedef struct duo {
    gap_rigid_body b[2];
    double X[48], x[48], kappa, dhat;
    int owner[16], edge[72], tri[72], vf[2 * DUO_VF], ee[2 * DUO_EE];
    gap_barrier_set set;
    gap_barrier_mesh mesh;
    gap_barrier_candidates cand;
    double *grad, *hess, *G, *B;
    int *node;
} duo;

static int duo_energy(void *user, const double *u, double *e)
{
    duo *w = (duo *)user;
    gap_rigid_place(w->b, u, 0, 2, w->X, w->x);
    if (gap_barrier_build(&w->set, &w->mesh, w->x, &w->cand, w->dhat, w->kappa) != 0) return 1;
    *e = gap_rigid_energy(w->b, u, 0, 2) + gap_barrier_energy(&w->set, w->x, 0, w->set.count);
    return 0;
}

static void duo_blocks(duo *w, const double *u, double *g, double *H)
{
    gap_rigid_frame f[2];
    double e, own[72];
    int i, r, c, n;
    munit_assert_int(duo_energy(w, u, &e), ==, 0);
    gap_rigid_frames(w->b, u, 0, 2, f);
    gap_rigid_gradient(w->b, u, f, 0, 2, g);
    gap_rigid_hessian(w->b, f, 1, 0, 2, own);
    for (r = 0; r < 12; ++r) {
        for (c = 0; H && c < 12; ++c)
            H[12 * r + c] = r / 6 == c / 6 ? own[36 * (r / 6) + 6 * (r % 6) + c % 6] : 0;
    }
    n = w->set.count;
    gap_barrier_gradient(&w->set, w->x, 0, n, w->grad);
    gap_barrier_hessian(&w->set, w->x, 0, 0, n, w->hess);
    munit_assert_int(gap_rigid_chain(w->b, f, w->owner, w->X, n, w->set.node, w->grad, w->hess, 1,
        w->node, w->G, w->B), ==, 0);
    for (i = 0; i < n; ++i) {
        for (r = 0; r < 12; ++r) {
            int at = 3 * w->node[4 * i + r / 3] + r % 3;
            g[at] += w->G[12 * i + r];
            for (c = 0; H && c < 12; ++c)
                H[12 * at + 3 * w->node[4 * i + c / 3] + c % 3] += w->B[144 * i + 12 * r + c];
        }
    }
}

static int duo_gradient(void *user, const double *u, double *g)
{
    duo_blocks((duo *)user, u, g, NULL);
    return 0;
}

static int duo_solve(void *user, const double *u, const double *g, int psd, double shift,
    double *p)
{
    double H[144], r[12];
    (void)psd;
    duo_blocks((duo *)user, u, r, H);
    return dense_solve(12, H, shift, g, p);
}

static int duo_bound(void *user, const double *u, const double *p, double *alpha)
{
    duo *w = (duo *)user;
    gap_rigid_ccd_options opt = {gap_ccd_pair, NULL, 0, 0};
    gap_rigid_ccd_mesh mesh = {3, 16, 36, 24, 2, NULL, NULL, NULL, NULL};
    gap_rigid_ccd_motion m[2];
    double v[12], limit = gap_rigid_limit(w->b, 2, p);
    int i;
    for (i = 0; i < 12; ++i) v[i] = u[i] + limit * p[i];
    for (i = 0; i < 2; ++i)
        munit_assert_int(gap_rigid_ccd_set(m + i, 3, w->b[i].Q0, u + 6 * i, v + 6 * i), ==, 0);
    mesh.edge = w->edge, mesh.tri = w->tri, mesh.body = w->owner, mesh.X = w->X;
    *alpha = 1;
    munit_assert_int(gap_rigid_ccd_step(&opt, &mesh, m, 2, w->vf, DUO_VF, 0, alpha, NULL), <, 2);
    munit_assert_int(gap_rigid_ccd_step(&opt, &mesh, m, 3, w->ee, DUO_EE, 0, alpha, NULL), <, 2);
    *alpha *= limit;
    return 0;
}

static void duo_make(duo *w, double h)
{
    int edges = 0, o, i, j, c;
    memset(w, 0, sizeof *w);
    for (o = 0; o < 2; ++o) {
        double R[9], s[3] = {0, 0, 0}, spin[3];
        box_nodes(util_uniform(0.5, 2), util_uniform(0.5, 2), util_uniform(0.5, 2), w->X + 24 * o);
        util_rotation(R);
        move_nodes(8, w->X + 24 * o, R, s);
        w->b[o] = make(3, GAP_RIGID_SOLID, util_uniform(0.5, 5), 8, w->X + 24 * o, 12, box_tri);
        w->b[o].first = 8 * o;
        for (c = 0; c < 3; ++c) {
            w->b[o].q[c] = (o ? 1 : -1) * (c ? util_uniform(0, 0.1) : 2);
            w->b[o].v[c] = (o ? -1 : 1) * (c ? util_uniform(0, 0.1) : 3);
            spin[c] = util_uniform(-1, 1);
        }
        gap_rigid_set_spin(w->b + o, spin);
        for (i = 0; i < 8; ++i) w->owner[8 * o + i] = o;
        for (i = 0; i < 36; ++i) w->tri[36 * o + i] = box_tri[i] + 8 * o;
        for (i = 0; i < 36; ++i) { /* every edge once: where it is walked upwards */
            int a = box_tri[i], b = box_tri[i - i % 3 + (i + 1) % 3];
            if (a < b) w->edge[edges++] = a + 8 * o, w->edge[edges++] = b + 8 * o;
        }
    }
    munit_assert_int(edges, ==, 72);
    for (i = 0; i < 16; ++i) {
        for (j = 0; j < 12; ++j)
            w->vf[2 * (12 * i + j)] = i, w->vf[2 * (12 * i + j) + 1] = i < 8 ? 12 + j : j;
    }
    for (i = 0; i < 18; ++i) {
        for (j = 0; j < 18; ++j) w->ee[2 * (18 * i + j)] = i, w->ee[2 * (18 * i + j) + 1] = 18 + j;
    }
    w->mesh.dim = 3, w->mesh.nodes = 16, w->mesh.edges = 36, w->mesh.tris = 24;
    w->mesh.edge = w->edge, w->mesh.tri = w->tri, w->mesh.rest = w->X;
    w->cand.pair[2] = w->vf, w->cand.count[2] = DUO_VF;
    w->cand.pair[3] = w->ee, w->cand.count[3] = DUO_EE;
    w->dhat = 1e-2;
    w->kappa = 1e7 * h * h;
    gap_barrier_init(&w->set, NULL);
    w->grad = (double *)munit_malloc(sizeof(double) * (DUO_VF + DUO_EE) * 12);
    w->hess = (double *)munit_malloc(sizeof(double) * (DUO_VF + DUO_EE) * 144);
    w->G = (double *)munit_malloc(sizeof(double) * (DUO_VF + DUO_EE) * 12);
    w->B = (double *)munit_malloc(sizeof(double) * (DUO_VF + DUO_EE) * 144);
    w->node = (int *)munit_malloc(sizeof(int) * (DUO_VF + DUO_EE) * 4);
}

/* What a step adds to momentum, p, and to angular momentum about the origin with the lever arms of
   the step's end, L: 2 axial((Qdot1 - Qdot0) J Q1^T) + q1 x m (v1 - v0). Forces between the bodies
   act at the end too, along lines that they share: their sums over both bodies vanish. (That the
   levers are those of the end is implicit Euler's loss of spin, no matter of contact.) */
static void impulse(const gap_rigid_body *before, const gap_rigid_body *after, double p[3],
    double L[3])
{
    double W[9], D[9];
    int i, j, k, l;
    for (i = 0; i < 9; ++i) D[i] = after->Qdot[i] - before->Qdot[i], W[i] = 0;
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 3; ++j) {
            for (k = 0; k < 3; ++k) {
                for (l = 0; l < 3; ++l)
                    W[3 * i + j] += D[3 * i + k] * after->J[3 * k + l] * after->Q[3 * j + l];
            }
        }
    }
    for (i = 0; i < 3; ++i) {
        j = (i + 1) % 3, k = (i + 2) % 3;
        p[i] += after->mass * (after->v[i] - before->v[i]);
        L[i] += W[3 * k + j] - W[3 * j + k]
            + after->mass * (after->q[j] * (after->v[k] - before->v[k])
            - after->q[k] * (after->v[j] - before->v[j]));
    }
}

static MunitResult collision(const MunitParameter params[], void *data)
{
    double worst[2] = {0, 0}, growth = 0, h = 0.01, first, last;
    int rep, k, c, met = 0;
    (void)params, (void)data;
    for (rep = 0; rep < util_count(4, 100); ++rep) {
        gap_newton_problem f = {NULL, duo_energy, duo_gradient, duo_solve, duo_bound, NULL, NULL};
        gap_newton_options o;
        duo w;
        memset(&o, 0, sizeof o);
        duo_make(&w, h);
        f.user = &w;
        o.h = h, o.tol = 1e-9;
        first = last = gap_rigid_kinetic(&w.b[0]) + gap_rigid_kinetic(&w.b[1]);
        for (k = 0; k < 80; ++k) {
            double u[12], work[48], p[3] = {0, 0, 0}, L[3] = {0, 0, 0}, e, one[3] = {0, 0, 0};
            double spare[3] = {0, 0, 0};
            gap_rigid_body before[2];
            memcpy(before, w.b, sizeof before);
            munit_assert_int(gap_rigid_begin(w.b, 2, h, NULL, u), ==, 0);
            munit_assert_int(gap_newton_minimize(&f, &o, 12, u, work, NULL), ==,
                GAP_NEWTON_CONVERGED);
            munit_assert_int(duo_energy(&w, u, &e), ==, 0);
            gap_rigid_end(w.b, 2, u);
            impulse(before, w.b, one, spare);
            met += fabs(one[0]) > 0.1;
            for (c = 0; c < 2; ++c) impulse(before + c, w.b + c, p, L);
            for (c = 0; c < 3; ++c) {
                worst[0] = fmax(worst[0], fabs(p[c]));
                worst[1] = fmax(worst[1], fabs(L[c]));
            }
            e = gap_rigid_kinetic(&w.b[0]) + gap_rigid_kinetic(&w.b[1])
                + gap_barrier_energy(&w.set, w.x, 0, w.set.count) / (h * h);
            growth = fmax(growth, (e - last) / first);
            last = e;
        }
        gap_barrier_free(&w.set);
        free(w.grad), free(w.hess), free(w.G), free(w.B), free(w.node);
    }
    /* Energy may grow here: nodes move on arcs, so the work of a force over a step is not that
       along its end's velocity; the difference is force times lever times angle^2 / 2. */
    munit_logf(MUNIT_LOG_INFO, "%d steps with a blow; momentum changes by %.1e kg m/s, angular "
        "by %.1e; energy grows by %.1e of the first in a step", met, worst[0], worst[1], growth);
    munit_assert_int(met, >=, util_count(4, 100));
    munit_assert_double(worst[0], <, 1e-6); /* masses of some kg, speeds to 1e-9 of a stiff solve */
    munit_assert_double(worst[1], <, 1e-6);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {(char *)"/rotations", rotations, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/mass", masses, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/mass/mixture", mixture, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/mass/2d", flat_masses, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/edge/bad_bodies", bad_bodies, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/energy/derivatives", energy_derivatives, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/energy/wire", wire_block, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/chain/derivatives", chain_rule, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/chain/psd", chain_psd, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/free/procrustes", procrustes_oracle, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/free/spin_and_torque", spin_and_torque, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/free/fall", free_fall, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/free/tumbling", tumbling, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/scaled", scaled, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/kinematic", kinematic, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/plane/resting", resting, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/plane/slope", slope, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/plane/stopping", stopping, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/plane/decay", decay, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {(char *)"/collision", collision, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

static const MunitSuite suite = {(char *)"/rigid", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
