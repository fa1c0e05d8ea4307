/* hello_newton.c - the smallest use of gap_newton.h: a string of 20 beads sags onto a floor
   E(x) = sum k/2 (x_i - x_{i-1})^2 + m g x_i - mu log x_i, ends held at height 1: never below 0. */
#define GAP_NEWTON_IMPLEMENTATION
#include "gap_newton.h"
#include <math.h>
#include <stdio.h>
enum { N = 20 };
static const double stiffness = 50, weight = 3, mu = 1e-5;

static int energy(void *user, const double *x, double *e)
{
    (void)user, *e = 0;
    for (int i = 0; i < N; ++i) {
        if (!(x[i] > 0)) return 1; /* infeasible: a shorter step, please */
        *e += weight * x[i] - mu * log(x[i]);
        if (i > 0) *e += 0.5 * stiffness * (x[i] - x[i - 1]) * (x[i] - x[i - 1]);
    }
    return 0;
}

static int gradient(void *user, const double *x, double *g)
{
    (void)user, g[0] = g[N - 1] = 0; /* the ends are held */
    for (int i = 1; i < N - 1; ++i)
        g[i] = stiffness * (2 * x[i] - x[i - 1] - x[i + 1]) + weight - mu / x[i];
    return 0;
}

/* (H + shift) p = -g, H tridiagonal: elimination from the left, then back. */
static int solve(void *user, const double *x, const double *g, int psd, double shift, double *p)
{
    double d[N];
    (void)user, (void)psd, p[0] = p[N - 1] = 0;
    for (int i = 1; i < N - 1; ++i) {
        d[i] = 2 * stiffness * (1 + shift) + mu / (x[i] * x[i]);
        if (i > 1) d[i] -= stiffness * stiffness / d[i - 1];
        p[i] = -g[i] + (i > 1 ? stiffness * p[i - 1] / d[i - 1] : 0);
    }
    for (int i = N - 2; i > 0; --i) p[i] = (p[i] + stiffness * p[i + 1]) / d[i];
    return 0;
}

static int bound(void *user, const double *x, const double *p, double *alpha)
{
    (void)user;
    for (int i = 0; i < N; ++i) /* nine tenths of the gap */
        if (p[i] < 0) *alpha = fmin(*alpha, 0.9 * x[i] / -p[i]);
    return 0;
}

int main(void)
{
    gap_newton_problem problem = {NULL, energy, gradient, solve, bound, NULL, NULL};
    gap_newton_result r;
    double x[N], work[4 * N];
    for (int i = 0; i < N; ++i) x[i] = 1;
    gap_newton_minimize(&problem, NULL, N, x, work, &r);
    printf("status %d, %d steps, lowest bead at %.3g\n", r.status, r.iterations, x[N / 2]);
    return r.status != GAP_NEWTON_CONVERGED;
}
