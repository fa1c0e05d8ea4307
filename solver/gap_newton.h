/* gap_newton.h - v0.1.0 - projected Newton with a filtered line search - MIT-0, see end
   Minimises an energy given by callbacks; a step bound keeps every iterate feasible. Copy this one
   file. It knows nothing of contact, sparse matrices or time.
QUICK START
   #define GAP_NEWTON_IMPLEMENTATION      // in exactly one .c or .cpp file
   #include "gap_newton.h"
   #include <math.h>
   #include <stdio.h>
   static int energy(void *u, const double *x, double *e) // x - log x, infinite for x <= 0
   { (void)u; if (!(x[0] > 0)) return 1; *e = x[0] - log(x[0]); return 0; }
   static int gradient(void *u, const double *x, double *g)
   { (void)u; g[0] = 1 - 1 / x[0]; return 0; }
   static int solve(void *u, const double *x, const double *g, int psd, double shift, double *p)
   { (void)u; (void)psd; p[0] = -g[0] / ((1 + shift) / (x[0] * x[0])); return 0; }
   int main(void)
   {
       gap_newton_problem f = {NULL, energy, gradient, solve, NULL, NULL, NULL};
       double x[1] = {30}, work[4]; // 30 is far off: Newton's full step would leave x > 0
       int status = gap_newton_minimize(&f, NULL, 1, x, work, NULL);
       printf("status %d, x = %.9f\n", status, x[0]); // status 0, x = 1.000000000
       return 0;
   }
GUARANTEES
   Feasible every accepted point has a finite energy and lies within the step bound from the last
            one; x is the last accepted point on every return, errors included.
   Descent  the energy never rises from one accepted point to the next, except by its own rounding
            (options noise), and then the gradient is smaller (accept may change the energy).
   Named    a solve that fails is never hidden: rung, shift and halvings of each iteration are told.
   Bits     sums in index order, one thread; positions scaled by a power of two give scaled results.
   Not promised: convergence on an energy that is not smooth, nor a global minimum.
OPTIONS (define before the implementation)
   GAP_NEWTON_STATIC     keep all functions private to this file
   GAP_NEWTON_ASSERT(x)  replaces assert(x)
EDGE CASES
   gradient exactly 0: CONVERGED.  start infeasible: EINPUT.  NaN in energy or gradient at an
   accepted point: ENONFIN.  NaN energy of a trial: rejected.  bound not > 0: EBOUND.
   Newton step lost in rounding (x + p == x): CONVERGED.  negative code of a callback: handed on.
METHOD
   Li et al. 2020 (IPC), algorithm 1: p from the PSD-projected Hessian, stop when |p|_inf/h is small
   (tested on the full direction, and not before min_iter steps were made), step bound, halving
   until the energy does not rise. Where we differ: when a factorisation or a line search fails a
   ladder follows, projected -> shifted by 1e-8 .. 1e8 times the mean diagonal -> -gradient/weight;
   near the minimum, where differences of energies drown in rounding, the gradient decides.
NOT HERE   linear solver: gap_ldlt.h.  assembly: gap_sparse.h.  time: gap_step.h.
           step bounds: gap_ccd.h, gap_accd.h.
HISTORY    0.1.0 first release */
#ifndef GAP_NEWTON_H
#define GAP_NEWTON_H
#define GAP_NEWTON_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_NEWTON_STATIC
#define GAP_NEWTON_API static inline
#else
#define GAP_NEWTON_API extern
#endif
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_newton_status {
    GAP_NEWTON_CONVERGED = 0, /* |p|_inf/h <= tol */
    GAP_NEWTON_LIMIT = 1,     /* max_iter steps made */
    GAP_NEWTON_STALLED = 2,   /* no rung of the ladder lowers the energy */
    GAP_NEWTON_STOPPED = 3,   /* accept asked for it */
    GAP_NEWTON_ENONFIN = -1,  /* energy or gradient not finite */
    GAP_NEWTON_ECANCEL = -5,  /* cancel said so */
    GAP_NEWTON_EINPUT = -6,   /* the start is infeasible */
    GAP_NEWTON_EBOUND = -16   /* the step bound gave no positive step: its precondition is broken */
} gap_newton_status;

/* How a direction was made, best first. */
typedef enum gap_newton_rung {
    GAP_NEWTON_RAW = 0,      /* Hessian as it is (option raw_first) */
    GAP_NEWTON_PROJECTED = 1, /* local blocks PSD-projected */
    GAP_NEWTON_SHIFTED = 2,  /* projected, plus a multiple of the identity */
    GAP_NEWTON_GRADIENT = 3  /* -gradient / weight */
} gap_newton_rung;

/* What happened in one iteration. */
typedef struct gap_newton_iteration {
    int number;         /* from 0: steps accepted before */
    int converged;      /* the stop test holds; no step was made */
    gap_newton_rung rung;
    double shift;       /* of the rung SHIFTED, else 0 */
    double energy_before, energy;
    double gradient;    /* |g|_inf */
    double slope;       /* g.p < 0 */
    double step;        /* |p|_inf / h, of the full direction */
    double bound;       /* what the step bound allowed, in (0, 1] */
    double alpha;       /* part of p that was taken */
    int solves;         /* calls of solve */
    int halvings;       /* of alpha, on all rungs */
    int flat;           /* 1: accepted by the gradient, the energies being equal within noise */
} gap_newton_iteration;

/* The problem. Callbacks return 0; > 0 where said; < 0 ends the run, which returns that value. None
   may rely on where another was called last: x is given each time. */
typedef struct gap_newton_problem {
    void *user; /* handed to all */
    /* Energy at x, 1 value. 1: infeasible or infinite here (only a trial may be). */
    int (*energy)(void *user, const double *x, double *energy);
    /* Gradient at x, n values, 0 in prescribed components. */
    int (*gradient)(void *user, const double *x, double *gradient);
    /* Direction p from (H(x) + shift c I) p = -g, n values, 0 in prescribed components.
       psd: 1 projected, 0 raw. shift: 0, or times the mean diagonal c (gap_sparse_shift).
       1: H is not positive definite or could not be factorised. */
    int (*solve)(void *user, const double *x, const double *g, int psd, double shift, double *p);
    /* Lower *alpha (1 at the call) so that x + t p is feasible for 0 <= t <= *alpha; NULL: 1. */
    int (*bound)(void *user, const double *x, const double *p, double *alpha);
    /* After every step, and when the stop test holds. 0: go on (or end, if converged). 1: the
       energy has changed (stiffness, multipliers): go on in any case. 2: stop. NULL: 0. */
    int (*accept)(void *user, const double *x, const gap_newton_iteration *it);
    /* Asked before every solve and energy; not 0: end with ECANCEL. NULL: never. */
    int (*cancel)(void *user);
} gap_newton_problem;

typedef struct gap_newton_options {
    double h;        /* time step, so that tol is a speed; 0 means 1 */
    double tol;      /* stop when |p|_inf/h <= tol; 0 means 1e-10 times the largest |x_i| / h */
    int min_iter;    /* steps made before the stop test counts; 0 means 1, -1 none */
    int max_iter;    /* 0 means 10000 */
    int max_halvings;/* of one line search; 0 means 40: 1e-12 of the bound */
    int raw_first;   /* 1: begin each iteration with the raw Hessian (solve must notice) */
    double armijo;   /* part of the slope's promise to be kept, in [0, 1/2); default 0 */
    double noise;    /* relative rounding of the energy; 0 means 1e-12 */
    const double *weight; /* n values > 0, metric of the gradient rung (masses); NULL: 1 */
    int (*small_enough)(void *user, const double *x, const double *p); /* asked where |p|_inf/h <=
        tol; 0: make this step all the same. NULL: stop. For scales that a tol cannot know. */
} gap_newton_options;

typedef struct gap_newton_result {
    int status;
    int iterations;  /* steps accepted */
    int solves, energies, gradients, halvings;
    int rungs[4];    /* steps made on each rung */
    double energy;   /* at the x returned; NaN if never computed */
    double step;     /* |p|_inf / h of the last direction */
} gap_newton_result;

/* Bytes of work memory for n unknowns: 4 vectors. */
GAP_NEWTON_API size_t gap_newton_work_size(int n);

/* Minimise.
   options  may be NULL
   x        n values, feasible start; the last accepted point on return
   work     gap_newton_work_size(n) bytes, aligned for double
   result   may be NULL
   Returns the status, or a callback's negative code. */
GAP_NEWTON_API int gap_newton_minimize(const gap_newton_problem *problem,
    const gap_newton_options *options, int n, double *x, void *work, gap_newton_result *result);

/* Name of a rung, for logs: "raw", "projected", "shifted", "gradient". */
GAP_NEWTON_API const char *gap_newton_rung_name(int rung);
#ifdef __cplusplus
}
#endif
#endif /* GAP_NEWTON_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_NEWTON_STATIC)) \
    && !defined(GAP_NEWTON_IMPLEMENTATION)
#define GAP_NEWTON_IMPLEMENTATION
#endif
#if defined(GAP_NEWTON_IMPLEMENTATION) && !defined(GAP_NEWTON_IMPLEMENTED)
#define GAP_NEWTON_IMPLEMENTED
#include <float.h>
#include <math.h>
#include <string.h>
#ifndef GAP_NEWTON_ASSERT
#include <assert.h>
#define GAP_NEWTON_ASSERT(x) assert(x)
#endif

#define GAP_NEWTON__SHIFT_FIRST 1e-8 /* just above what rounding does to a projected Hessian */
#define GAP_NEWTON__SHIFT_LAST 1e8   /* the direction is the gradient's to 8 digits */
#define GAP_NEWTON__SHIFT_TRUST 1e-4 /* up to here |p| still measures the distance to go */

/* Answers inside one iteration, beside the status values: */
#define GAP_NEWTON__STEPPED 100
#define GAP_NEWTON__NO_DIRECTION 101
#define GAP_NEWTON__NO_STEP 102

typedef struct gap_newton__run {
    const gap_newton_problem *f;
    gap_newton_options o;
    int n;
    double *x, *g, *p, *trial, *g_trial;
    double energy;
    double last_shift; /* that worked in the last iteration, 0: none was needed */
    gap_newton_iteration it;
    gap_newton_result r;
} gap_newton__run;

static inline int gap_newton__finite(double a)
{
    return fabs(a) <= DBL_MAX;
}

/* Largest magnitude; NaN if one is. */
static inline double gap_newton__max(const double *v, int n)
{
    double m = 0.0;
    int i;
    for (i = 0; i < n; ++i) {
        double a = fabs(v[i]);
        if (!(a <= m)) m = a;
        if (a != a) return a;
    }
    return m;
}

static inline double gap_newton__dot(const double *a, const double *b, int n)
{
    double s = 0.0;
    int i;
    for (i = 0; i < n; ++i) s += a[i] * b[i];
    return s;
}

/* sum g_i^2 / weight_i, scaled against overflow by the largest entry `unit`. */
static inline double gap_newton__size(const gap_newton__run *N, const double *g, double unit)
{
    double s = 0.0;
    int i;
    for (i = 0; i < N->n; ++i) {
        double a = g[i] / unit;
        s += N->o.weight ? a * a / N->o.weight[i] : a * a;
    }
    return s;
}

static inline int gap_newton__cancelled(const gap_newton__run *N)
{
    return N->f->cancel && N->f->cancel(N->f->user) != 0;
}

/* Energy at x: 0 and a finite value, 1 infeasible or not finite, < 0 error. */
static inline int gap_newton__energy(gap_newton__run *N, const double *x, double *energy)
{
    int rc;
    *energy = HUGE_VAL;
    if (gap_newton__cancelled(N)) return GAP_NEWTON_ECANCEL;
    N->r.energies++;
    rc = N->f->energy(N->f->user, x, energy);
    if (rc == 0 && !gap_newton__finite(*energy)) rc = 1;
    return rc;
}

static inline int gap_newton__gradient(gap_newton__run *N, const double *x, double *g)
{
    N->r.gradients++;
    return N->f->gradient(N->f->user, x, g);
}

/* Direction on the present rung. A direction is usable if it is finite and goes down. */
static inline int gap_newton__direction(gap_newton__run *N)
{
    gap_newton_iteration *it = &N->it;
    int i, rc = 0;
    if (gap_newton__cancelled(N)) return GAP_NEWTON_ECANCEL;
    if (it->rung == GAP_NEWTON_GRADIENT) {
        for (i = 0; i < N->n; ++i) N->p[i] = N->o.weight ? -N->g[i] / N->o.weight[i] : -N->g[i];
    } else {
        it->solves++;
        N->r.solves++;
        rc = N->f->solve(N->f->user, N->x, N->g, it->rung != GAP_NEWTON_RAW, it->shift, N->p);
        if (rc < 0) return rc;
    }
    it->step = rc == 0 ? gap_newton__max(N->p, N->n) / N->o.h : HUGE_VAL;
    it->slope = rc == 0 ? gap_newton__dot(N->g, N->p, N->n) : 0.0;
    if (!gap_newton__finite(it->step) || !(it->slope < 0.0) || !gap_newton__finite(it->slope)) {
        return GAP_NEWTON__NO_DIRECTION;
    }
    N->r.step = it->step;
    return 0;
}

/* May |p| be believed? A strong shift or the gradient makes it small anywhere. */
static inline int gap_newton__trusted(const gap_newton__run *N)
{
    return N->it.rung <= GAP_NEWTON_PROJECTED
        || (N->it.rung == GAP_NEWTON_SHIFTED && N->it.shift <= GAP_NEWTON__SHIFT_TRUST);
}

static inline int gap_newton__small(const gap_newton__run *N)
{
    double tol = N->o.tol;
    if (!(tol > 0.0)) tol = 1e-10 * gap_newton__max(N->x, N->n) / N->o.h;
    if (N->it.number < N->o.min_iter || !(N->it.step <= tol) || !gap_newton__trusted(N)) return 0;
    return !N->o.small_enough || N->o.small_enough(N->f->user, N->x, N->p);
}

/* Where energies differ by their rounding only, take the trial if its gradient is no larger. */
static inline int gap_newton__flat(gap_newton__run *N, double energy)
{
    double scale = fmax(fabs(energy), fabs(N->energy)), unit = N->it.gradient;
    int rc;
    if (!(energy - N->energy <= N->o.noise * scale)) return 0;
    if (!(-N->it.slope <= N->o.noise * scale)) return 0; /* a real descent was promised */
    rc = gap_newton__gradient(N, N->trial, N->g_trial);
    if (rc < 0) return rc;
    N->it.flat = gap_newton__size(N, N->g_trial, unit) < gap_newton__size(N, N->g, unit);
    return N->it.flat;
}

/* Largest step within the bound, halved until the energy does not rise. */
static inline int gap_newton__search(gap_newton__run *N)
{
    gap_newton_iteration *it = &N->it;
    double alpha = 1.0, energy;
    int k, i, rc = 0;
    if (N->f->bound) rc = N->f->bound(N->f->user, N->x, N->p, &alpha);
    if (rc < 0) return rc;
    if (!(alpha > 0.0)) return GAP_NEWTON_EBOUND;
    it->bound = alpha = fmin(alpha, 1.0);
    for (k = 0; k <= N->o.max_halvings; ++k, alpha *= 0.5) {
        int moved = 0;
        for (i = 0; i < N->n; ++i) {
            N->trial[i] = N->x[i] + alpha * N->p[i];
            moved |= N->trial[i] != N->x[i];
        }
        if (!moved && alpha == 1.0 && gap_newton__trusted(N)) return GAP_NEWTON_CONVERGED;
        if (!moved) return GAP_NEWTON__NO_STEP;
        rc = gap_newton__energy(N, N->trial, &energy);
        if (rc < 0) return rc;
        if (rc == 0) {
            if (energy <= N->energy + N->o.armijo * alpha * it->slope) rc = 1;
            else rc = gap_newton__flat(N, energy);
            if (rc < 0) return rc;
            if (rc == 1) {
                it->alpha = alpha;
                it->energy = energy;
                return GAP_NEWTON__STEPPED;
            }
        }
        it->halvings++;
        N->r.halvings++;
    }
    return GAP_NEWTON__NO_STEP;
}

/* Down the ladder. A solve that failed asks for a little more shift, a line search that failed for
   a clearly other direction. Returns 0 below the last rung. */
static inline int gap_newton__next_rung(gap_newton__run *N, int failure)
{
    gap_newton_iteration *it = &N->it;
    int step = failure == GAP_NEWTON__NO_STEP;
    if (it->rung == GAP_NEWTON_GRADIENT) return 0;
    if (it->rung == GAP_NEWTON_RAW) {
        it->rung = GAP_NEWTON_PROJECTED;
        return 1;
    }
    if (it->rung == GAP_NEWTON_PROJECTED) {
        it->rung = GAP_NEWTON_SHIFTED;
        it->shift = fmax(GAP_NEWTON__SHIFT_FIRST, 0.01 * N->last_shift);
        if (step) it->shift = fmax(it->shift, 1e-2);
        return 1;
    }
    it->shift *= step ? 1e4 : 10.0;
    if (it->shift > 1.5 * GAP_NEWTON__SHIFT_LAST) { /* 1.5: the sum of roundings of the tens */
        it->rung = GAP_NEWTON_GRADIENT;
        it->shift = 0.0;
    }
    return 1;
}

/* One iteration up to the accepted trial. Returns STEPPED, CONVERGED, STALLED or an error. */
static inline int gap_newton__iterate(gap_newton__run *N)
{
    gap_newton_iteration *it = &N->it;
    int number = it->number, rc = gap_newton__gradient(N, N->x, N->g);
    memset(it, 0, sizeof *it);
    it->number = number;
    it->energy_before = it->energy = N->energy;
    it->rung = N->o.raw_first ? GAP_NEWTON_RAW : GAP_NEWTON_PROJECTED;
    if (rc < 0) return rc;
    it->gradient = gap_newton__max(N->g, N->n);
    if (!gap_newton__finite(it->gradient)) return GAP_NEWTON_ENONFIN;
    if (it->gradient == 0.0) {
        N->r.step = 0.0;
        return GAP_NEWTON_CONVERGED;
    }
    do {
        rc = gap_newton__direction(N);
        if (rc == 0 && gap_newton__small(N)) return GAP_NEWTON_CONVERGED;
        if (rc == 0) rc = gap_newton__search(N);
        if (rc != GAP_NEWTON__NO_DIRECTION && rc != GAP_NEWTON__NO_STEP) return rc;
    } while (gap_newton__next_rung(N, rc));
    return GAP_NEWTON_STALLED;
}

/* Make the trial the iterate. */
static inline void gap_newton__take(gap_newton__run *N)
{
    memcpy(N->x, N->trial, (size_t)N->n * sizeof(double));
    N->energy = N->r.energy = N->it.energy;
    N->last_shift = N->it.shift;
    N->r.rungs[N->it.rung]++;
    N->r.iterations++;
}

static inline int gap_newton__loop(gap_newton__run *N)
{
    int rc = gap_newton__energy(N, N->x, &N->energy), answer;
    if (rc < 0) return rc;
    if (rc > 0) return N->energy == N->energy ? GAP_NEWTON_EINPUT : GAP_NEWTON_ENONFIN;
    N->r.energy = N->energy;
    for (;;) {
        if (N->r.iterations >= N->o.max_iter) return GAP_NEWTON_LIMIT;
        N->it.number = N->r.iterations;
        rc = gap_newton__iterate(N);
        if (rc != GAP_NEWTON__STEPPED && rc != GAP_NEWTON_CONVERGED) return rc;
        N->it.converged = rc == GAP_NEWTON_CONVERGED;
        if (!N->it.converged) gap_newton__take(N);
        answer = N->f->accept ? N->f->accept(N->f->user, N->x, &N->it) : 0;
        if (answer < 0) return answer;
        if (answer == 2) return GAP_NEWTON_STOPPED;
        if (N->it.converged && answer == 0) return GAP_NEWTON_CONVERGED;
        if (N->it.converged) N->r.iterations++; /* counted, so that the loop ends some day */
        if (answer == 1) {
            rc = gap_newton__energy(N, N->x, &N->energy);
            if (rc) return rc < 0 ? rc : GAP_NEWTON_ENONFIN;
            N->r.energy = N->energy;
        }
    }
}

GAP_NEWTON_API size_t gap_newton_work_size(int n)
{
    GAP_NEWTON_ASSERT(n >= 0);
    return 4 * (size_t)n * sizeof(double);
}

GAP_NEWTON_API int gap_newton_minimize(const gap_newton_problem *problem,
    const gap_newton_options *options, int n, double *x, void *work, gap_newton_result *result)
{
    gap_newton__run N;
    size_t m = (size_t)n;
    GAP_NEWTON_ASSERT(problem && problem->energy && problem->gradient && problem->solve);
    GAP_NEWTON_ASSERT(n >= 0 && (n == 0 || (x && work)));
    memset(&N, 0, sizeof N);
    if (options) N.o = *options;
    if (!(N.o.h > 0.0)) N.o.h = 1.0;
    if (N.o.min_iter == 0) N.o.min_iter = 1;
    if (N.o.max_iter <= 0) N.o.max_iter = 10000;
    if (N.o.max_halvings <= 0) N.o.max_halvings = 40;
    if (!(N.o.noise > 0.0)) N.o.noise = 1e-12;
    N.f = problem;
    N.n = n;
    N.x = x;
    N.g = (double *)work;
    N.p = N.g + m;
    N.trial = N.p + m;
    N.g_trial = N.trial + m;
    N.r.energy = (double)NAN;
    N.r.status = gap_newton__loop(&N);
    if (result) *result = N.r;
    return N.r.status;
}

GAP_NEWTON_API const char *gap_newton_rung_name(int rung)
{
    return rung == GAP_NEWTON_RAW ? "raw"
        : rung == GAP_NEWTON_PROJECTED ? "projected"
        : rung == GAP_NEWTON_SHIFTED ? "shifted" : "gradient";
}
#endif /* GAP_NEWTON_IMPLEMENTATION */
/*
   MIT No Attribution

   Copyright 2026 the gap authors

   Permission is hereby granted, free of charge, to any person obtaining a copy of this
   software and associated documentation files (the "Software"), to deal in the Software
   without restriction, including without limitation the rights to use, copy, modify,
   merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
   permit persons to whom the Software is furnished to do so.

   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
   INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A
   PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT
   HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
   CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE
   OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
