/* hello_rigid.c - the smallest rigid simulator: a box tumbles onto a floor and lies down
   gap_rigid.h (motion), gap_barrier.h (contact), gap_rigid_ccd.h with gap_ccd.h (never through the
   floor), gap_newton.h (minimiser). Body 0 is the box, body 1 the floor of two triangles. Without
   friction the spin about the vertical stays. */
#define GAP_IMPLEMENTATION
#include "gap_barrier.h"
#include "gap_ccd.h"
#include "gap_newton.h"
#include "gap_rigid.h"
#include "gap_rigid_ccd.h"
#include <math.h>
#include <stdio.h>

enum { VF = 8 * 2 + 4 * 12, EE = 18 * 5 };
static double X[36]; /* 8 nodes of the box, 4 of the floor; body coordinates after init */
static const int tri[42] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7,
    0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5, 8, 9, 10, 8, 10, 11};
static const int edge[46] = {0, 1, 1, 2, 2, 3, 0, 2, 1, 3, 4, 5, 5, 6, 6, 7, 4, 6, 5, 7, 0, 4, 1, 4,
    1, 5, 2, 6, 3, 6, 3, 7, 2, 4, 3, 5, 8, 9, 9, 10, 8, 10, 10, 11, 8, 11};
static const int owner[12] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
static int vf[2 * VF], ee[2 * EE];
static const double h = 0.01, dhat = 0.01, kappa = 1e9;
static gap_rigid_body body[2];
static gap_barrier_mesh mesh = {3, 12, 23, 14, 0, edge, tri, NULL, X, NULL, NULL};
static gap_barrier_candidates pairs = {{NULL, NULL, vf, ee, NULL}, {0, 0, VF, EE, 0}};
static gap_barrier_set set;
static double world[36];

static int energy(void *user, const double *u, double *e)
{
    (void)user;
    gap_rigid_place(body, u, 0, 2, X, world);
    if (gap_barrier_build(&set, &mesh, world, &pairs, dhat, kappa * h * h) != 0) return 1;
    *e = gap_rigid_energy(body, u, 0, 2) + gap_barrier_energy(&set, world, 0, set.count);
    return 0;
}

/* Gradient g and, unless NULL, Hessian H in the box's six unknowns; the floor has none. */
static void derivatives(const double *u, double g[12], double H[36])
{
    double e, grad[12], hess[144], G[12], B[144];
    gap_rigid_frame frame[2];
    int node[4], i, r, c;
    energy(NULL, u, &e);
    gap_rigid_frames(body, u, 0, 2, frame);
    gap_rigid_gradient(body, u, frame, 0, 2, g);
    if (H) gap_rigid_hessian(body, frame, 1, 0, 1, H);
    for (i = 0; i < set.count; ++i) {
        int at; /* the box may be the first or the second side */
        gap_barrier_gradient(&set, world, i, i + 1, grad);
        gap_barrier_hessian(&set, world, 0, i, i + 1, hess);
        gap_rigid_chain(body, frame, owner, X, 1, set.node + 4 * i, grad, H ? hess : NULL, 1, node,
            G, B);
        at = node[0] == 0 ? 0 : 6;
        for (r = 0; r < 6; ++r) {
            g[r] += G[at + r];
            for (c = 0; H && c < 6; ++c) H[6 * r + c] += B[12 * (at + r) + at + c];
        }
    }
}

static int gradient(void *user, const double *u, double *g)
{
    (void)user;
    derivatives(u, g, NULL);
    return 0;
}

static int solve(void *user, const double *u, const double *g, int psd, double shift, double *p)
{
    double H[36], L[36], r[12], mean = 0; /* Cholesky */
    int i, j, k;
    (void)user, (void)psd;
    derivatives(u, r, H);
    for (i = 0; i < 6; ++i) mean += H[7 * i] / 6, p[6 + i] = 0;
    for (i = 0; i < 6; ++i) {
        for (j = 0; j <= i; ++j) {
            double s = H[6 * i + j] + (i == j ? shift * mean : 0);
            for (k = 0; k < j; ++k) s -= L[6 * i + k] * L[6 * j + k];
            if (i == j && !(s > 0)) return 1;
            L[6 * i + j] = i == j ? sqrt(s) : s / L[7 * j];
        }
        for (p[i] = -g[i], k = 0; k < i; ++k) p[i] -= L[6 * i + k] * p[k];
        p[i] /= L[7 * i];
    }
    for (i = 5; i >= 0; --i) {
        for (k = i + 1; k < 6; ++k) p[i] -= L[6 * k + i] * p[k];
        p[i] /= L[7 * i];
    }
    return 0;
}

/* The part of the step p along which box and floor stay apart on their curved way. */
static int bound(void *user, const double *u, const double *p, double *alpha)
{
    gap_rigid_ccd_options opt = {gap_ccd_pair, NULL, 0, 0};
    gap_rigid_ccd_mesh m = {3, 12, 23, 14, 2, edge, tri, owner, X};
    gap_rigid_ccd_motion motion[2];
    double end[12], a = gap_rigid_limit(body, 2, p), t = 1;
    int i;
    (void)user;
    for (i = 0; i < 12; ++i) end[i] = u[i] + a * p[i];
    for (i = 0; i < 2; ++i) gap_rigid_ccd_set(motion + i, 3, body[i].Q0, u + 6 * i, end + 6 * i);
    gap_rigid_ccd_step(&opt, &m, motion, 2, vf, VF, 0, &t, NULL);
    gap_rigid_ccd_step(&opt, &m, motion, 3, ee, EE, 0, &t, NULL);
    *alpha = a * t;
    return 0;
}

int main(void)
{
    gap_newton_problem f = {NULL, energy, gradient, solve, bound, NULL, NULL};
    gap_newton_options opt = {0};
    double u[12], work[48], g[3] = {0, 0, -9.81}, spin[3] = {3, 5, 1}, least = 1;
    gap_rigid_moments M;
    int i, j, n = 0, step;
    for (i = 0; i < 24; ++i) X[i] = ((i / 3) >> (i % 3) & 1 ? 0.5 : -0.5) + (i % 3 == 2 ? 2 : 0);
    for (i = 0; i < 12; ++i) X[24 + i] = i % 3 == 2 ? 0 : (i / 3 + i % 3 + 3) / 2 % 2 ? 9 : -9;
    for (i = 0; i < 64; ++i) {
        vf[2 * i] = i < 16 ? i / 2 : 8 + (i - 16) / 12; /* box nodes, then floor nodes */
        vf[2 * i + 1] = i < 16 ? 12 + i % 2 : (i - 16) % 12;
    }
    for (i = 0; i < 18; ++i) for (j = 18; j < 23; ++j, ++n) ee[2 * n] = i, ee[2 * n + 1] = j;
    gap_rigid_moments_begin(&M, 3, 8, X);
    gap_rigid_moments_add(&M, GAP_RIGID_SOLID, 100, 8, X, 12, tri, NULL);
    gap_rigid_init(body, &M, 8, X);
    gap_rigid_moments_begin(&M, 3, 4, X + 24);
    gap_rigid_moments_add(&M, GAP_RIGID_POINTS, 1, 4, X + 24, 4, NULL, NULL);
    gap_rigid_init(body + 1, &M, 4, X + 24);
    body[1].type = GAP_RIGID_STATIC_BODY;
    body[1].first = 8;
    gap_rigid_set_spin(body, spin);
    gap_barrier_init(&set, NULL);
    opt.h = h;
    opt.tol = 1e-4;
    for (step = 0; step <= 300; ++step) {
        gap_rigid_begin(body, 2, h, g, u);
        if (gap_newton_minimize(&f, &opt, 12, u, work, NULL) != GAP_NEWTON_CONVERGED) return 1;
        gap_rigid_end(body, 2, u);
        least = fmin(least, gap_barrier_min_gap(&set));
        if (step % 25 == 0) printf("t %.2f  height %.4f  spin %6.2f %6.2f %6.2f  contacts %d\n",
            step * h, u[2], body[0].w[0], body[0].w[1], body[0].w[2], set.count);
    }
    printf("smallest gap %.2e m\n", least);
    gap_barrier_free(&set);
    return 0;
}
