/* gap_step.h - v0.1.0 - implicit time steps as one minimisation each - MIT-0, see end
   Implicit Euler, BDF1-3 and Newmark: inertia target, weights and updates. Copy this one file.
   A step from t to t + h minimises, over the new positions x,
       1/2 (x - target)^T M (x - target) + weight * potential(x)
   with whatever minimiser you have; everything that is particular to the method is in target,
   weight and the update.
QUICK START
   #define GAP_STEP_IMPLEMENTATION        // in exactly one .c or .cpp file
   #include "gap_step.h"
   #include <stdio.h>
   int main(void) // unit mass on a spring of stiffness 1, from rest at 1, to t = 1
   {
       gap_step_options opt = {GAP_STEP_BDF2, 0, 0};
       double x = 1, v = 0, work[64];
       gap_step S;
       int k;
       gap_step_init(&S, &opt, 1, &x, &v, NULL, work);
       for (k = 0; k < 100; ++k) {
           gap_step_begin(&S, 0.01, NULL, &x); // x is the target now
           x = x / (1 + S.weight);             // the minimum of (x - target)^2/2 + weight x^2/2
           gap_step_end(&S, &x);
       }
       printf("x %.3f v %.3f\n", S.x[0], S.v[0]); // x 0.540 v -0.841
       return 0;
   }
GUARANTEES
   Order    1 (Euler, BDF1), 2 (BDF2, Newmark), 3 (BDF3 with a start acceleration, else 2), shown on
            an oscillator, and for BDF also with changing h.
   Exact    BDFk differentiates polynomials of degree k to rounding, at any step sizes. Newmark's
            default conserves the energy of linear systems; no method changes linear momentum.
   Bits     no memory, no threads; positions times a power of two give results times it. All state
            is in the work memory: its bytes, saved, resume with the same bits.
   Not promised: stability of BDF3 for undamped oscillations with omega h < 1.93: they grow, by
            (omega h)^4/4 a step while that is small, at most by 4.6 %. The others never do.
OPTIONS (define before the implementation)
   GAP_STEP_STATIC     keep all functions private to this file
   GAP_STEP_ASSERT(x)  replaces assert(x)
EDGE CASES
   h not positive or not finite: EINPUT, target = x.  new x not finite: ENONFIN, state unchanged.
   h grows by more than 2.4 (order 2) or 1.5 (order 3): that step falls to the order that is stable.
   prescribed components: leave them in; they get their velocity from how they are moved.
METHOD
   Coefficients a_i, beta of BDF from the actual step sizes: s_i = t + h - t_i,
   1/(beta h) = sum 1/s_i, a_i = beta h / s_i prod_{m != i} s_m / (s_m - s_i); new v =
   (new x - sum a_i x_i) / (beta h), and a likewise from v. Sums are written with differences to
   the present x, so a translation costs no digits. Weight (beta h)^2; Newmark: beta h^2. The order
   rises 1, 2, 3 from the start; with a start acceleration the first step of BDF2 and BDF3 is the
   trapezoidal rule, whose error h^3 is what a third-order start needs.
NOT HERE   the minimisation: gap_newton.h.  rotations: gap_rigid.h.  static problems: leave the
           inertia out.
HISTORY    0.1.0 first release */
#ifndef GAP_STEP_H
#define GAP_STEP_H
#define GAP_STEP_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_STEP_STATIC
#define GAP_STEP_API static inline
#else
#define GAP_STEP_API extern
#endif
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_step_status {
    GAP_STEP_OK = 0,
    GAP_STEP_ENONFIN = -1, /* positions not finite */
    GAP_STEP_EINPUT = -6   /* h not positive and finite, or work that no init has filled */
} gap_step_status;

typedef enum gap_step_method {
    GAP_STEP_EULER = 0, /* implicit Euler */
    GAP_STEP_BDF1 = 1,  /* the same */
    GAP_STEP_BDF2 = 2,
    GAP_STEP_BDF3 = 3,
    GAP_STEP_NEWMARK = 4
} gap_step_method;

typedef struct gap_step_options {
    gap_step_method method; /* default Euler */
    double beta;  /* Newmark, in (0, 1/2]; 0 means 1/4 */
    double gamma; /* Newmark, in (0, 1]; 0 means 1/2 */
} gap_step_options;

/* State and the numbers of the step under way. Read all, write none. */
typedef struct gap_step {
    int n;         /* unknowns */
    double *x;     /* n: positions, the last state that end took */
    double *v;     /* n: velocities */
    double *a;     /* n: accelerations */
    double h;      /* step under way; 0 before begin */
    double weight; /* factor of the potential, c_el h^2 */
    double c_el;   /* Euler 1, BDF2 4/9, BDF3 36/121 (equal steps), Newmark beta */
    double dvdx;   /* derivative of the new velocity by the new position, 1/s */
    int order;     /* of the BDF formula in use; 0 Newmark or trapezoidal start */
    gap_step_options opt; /* private from here on */
    double *head;  /* work: past states, h_1, h_2, flag of a trapezoidal start */
    double *past;  /* x_1, v_1, x_2, v_2 */
    double coef[3]; /* a_0 .. of BDF; beta, gamma of Newmark */
} gap_step;

/* Bytes of work memory: opt may be NULL (Euler). Aligned for double; belongs to the state. */
GAP_STEP_API size_t gap_step_work_size(const gap_step_options *opt, int n);

/* Begin at a state.
   x, v  n values each
   a     n accelerations M^-1 f at the start, all forces included; NULL: unknown (Newmark: 0) */
GAP_STEP_API int gap_step_init(gap_step *S, const gap_step_options *opt, int n, const double *x,
    const double *v, const double *a, void *work);

/* Continue from work memory that an earlier gap_step with the same options and n has filled. */
GAP_STEP_API int gap_step_attach(gap_step *S, const gap_step_options *opt, int n, void *work);

/* Numbers of the step of size h, and its inertia target.
   acceleration  n values of forces that do not depend on x, per mass (gravity); NULL: none. Such a
                 force must then not be in the potential as well
   target        n values; may be any array but S->x, S->v, S->a
   May be called again, with another h, before end. */
GAP_STEP_API int gap_step_begin(gap_step *S, double h, const double *acceleration, double *target);

/* Velocity that new positions x would mean, n values; of use for friction and damping. */
GAP_STEP_API void gap_step_velocity(const gap_step *S, const double *x, double *v);

/* Take x as the state after the step. */
GAP_STEP_API int gap_step_end(gap_step *S, const double *x);

/* Take a state that was found elsewhere, h after the present one: a known history, another mesh.
   a  n values or NULL: (v - last v) / h */
GAP_STEP_API int gap_step_push(gap_step *S, double h, const double *x, const double *v,
    const double *a);
#ifdef __cplusplus
}
#endif
#endif /* GAP_STEP_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_STEP_STATIC)) && !defined(GAP_STEP_IMPLEMENTATION)
#define GAP_STEP_IMPLEMENTATION
#endif
#if defined(GAP_STEP_IMPLEMENTATION) && !defined(GAP_STEP_IMPLEMENTED)
#define GAP_STEP_IMPLEMENTED
#include <float.h>
#include <math.h>
#include <string.h>
#ifndef GAP_STEP_ASSERT
#include <assert.h>
#define GAP_STEP_ASSERT(x) assert(x)
#endif

#define GAP_STEP__HEAD 8         /* doubles before the vectors */
#define GAP_STEP__MARK 20260.625 /* work[0] of memory that init has filled */
/* Zero-stability of BDF with growing steps: ratios below 1 + sqrt 2 and (1 + sqrt 5)/2, rounded
   down so that a constant ratio at the limit still damps. */
#define GAP_STEP__RATIO2 2.4
#define GAP_STEP__RATIO3 1.5

/* head[1] past states known, head[2], head[3] sizes of the last two steps, head[4] 1: a is known
   and the first step may be trapezoidal. */

static inline int gap_step__past(const gap_step_options *opt)
{
    return opt && opt->method == GAP_STEP_BDF2 ? 1 : opt && opt->method == GAP_STEP_BDF3 ? 2 : 0;
}

static inline int gap_step__finite(const double *v, int n)
{
    int i;
    for (i = 0; i < n; ++i) {
        if (!(fabs(v[i]) <= DBL_MAX)) return 0;
    }
    return 1;
}

static inline const double *gap_step__x(const gap_step *S, int i)
{
    return i == 0 ? S->x : S->past + (size_t)(2 * i - 2) * (size_t)S->n;
}

static inline const double *gap_step__v(const gap_step *S, int i)
{
    return i == 0 ? S->v : S->past + (size_t)(2 * i - 1) * (size_t)S->n;
}

GAP_STEP_API size_t gap_step_work_size(const gap_step_options *opt, int n)
{
    GAP_STEP_ASSERT(n >= 0);
    return (GAP_STEP__HEAD + (size_t)(3 + 2 * gap_step__past(opt)) * (size_t)n) * sizeof(double);
}

/* Lay the struct over the work memory. */
static inline void gap_step__map(gap_step *S, const gap_step_options *opt, int n, void *work)
{
    memset(S, 0, sizeof *S);
    if (opt) S->opt = *opt;
    if (!(S->opt.beta > 0.0)) S->opt.beta = 0.25;
    if (!(S->opt.gamma > 0.0)) S->opt.gamma = 0.5;
    S->n = n;
    S->head = (double *)work;
    S->x = S->head + GAP_STEP__HEAD;
    S->v = S->x + n;
    S->a = S->v + n;
    S->past = S->a + n;
}

GAP_STEP_API int gap_step_init(gap_step *S, const gap_step_options *opt, int n, const double *x,
    const double *v, const double *a, void *work)
{
    size_t bytes = (size_t)n * sizeof(double);
    GAP_STEP_ASSERT(S && n >= 0 && work && (n == 0 || (x && v)));
    gap_step__map(S, opt, n, work);
    memset(work, 0, gap_step_work_size(opt, n));
    S->head[0] = GAP_STEP__MARK;
    S->head[4] = a != NULL;
    if (n == 0) return GAP_STEP_OK;
    memcpy(S->x, x, bytes);
    memcpy(S->v, v, bytes);
    if (a) memcpy(S->a, a, bytes);
    if (gap_step__finite(x, n) && gap_step__finite(v, n) && gap_step__finite(S->a, n)) {
        return GAP_STEP_OK;
    }
    return GAP_STEP_ENONFIN;
}

GAP_STEP_API int gap_step_attach(gap_step *S, const gap_step_options *opt, int n, void *work)
{
    GAP_STEP_ASSERT(S && n >= 0 && work);
    gap_step__map(S, opt, n, work);
    return S->head[0] == GAP_STEP__MARK ? GAP_STEP_OK : GAP_STEP_EINPUT;
}

/* Order of BDF that the known history allows for a step h. */
static inline int gap_step__order(const gap_step *S, double h)
{
    double h1 = S->head[2], h2 = S->head[3];
    int known = (int)S->head[1], want = gap_step__past(&S->opt);
    if (want > known) want = known;
    if (want == 2 && (h > GAP_STEP__RATIO3 * h1 || h1 > GAP_STEP__RATIO3 * h2)) want = 1;
    if (want == 1 && h > GAP_STEP__RATIO2 * h1) want = 0;
    return want + 1;
}

/* Derivative at t + h of the polynomial through the new and `order` old states, see METHOD. */
static inline void gap_step__bdf(gap_step *S, double h)
{
    double s[3], sum = 0.0;
    int i, m;
    s[0] = h;
    s[1] = h + S->head[2];
    s[2] = h + S->head[2] + S->head[3];
    for (i = 0; i < S->order; ++i) sum += 1.0 / s[i];
    S->dvdx = sum;
    S->weight = 1.0 / (sum * sum);
    for (i = 0; i < S->order; ++i) {
        S->coef[i] = 1.0 / (sum * s[i]);
        for (m = 0; m < S->order; ++m) {
            if (m != i) S->coef[i] *= s[m] / (s[m] - s[i]);
        }
    }
}

/* Target without outer forces: where component i would go with a' = 0. */
static inline double gap_step__drift(const gap_step *S, int i)
{
    double x = S->x[i], move, speed = 0.0;
    int k;
    if (S->order == 0) {
        return x + (S->h * S->v[i] + S->h * S->h * (0.5 - S->coef[0]) * S->a[i]);
    }
    move = 0.0;
    for (k = 0; k < S->order; ++k) {
        if (k > 0) move += S->coef[k] * (gap_step__x(S, k)[i] - x);
        speed += S->coef[k] * gap_step__v(S, k)[i];
    }
    return x + (move + speed / S->dvdx);
}

GAP_STEP_API int gap_step_begin(gap_step *S, double h, const double *acceleration, double *target)
{
    int i, trapezoid;
    GAP_STEP_ASSERT(S && (target || S->n == 0));
    for (i = 0; i < S->n; ++i) target[i] = S->x[i];
    if (!(h > 0.0 && h <= DBL_MAX)) return GAP_STEP_EINPUT;
    trapezoid = gap_step__past(&S->opt) > 0 && S->head[1] == 0.0 && S->head[4] == 1.0;
    S->h = h;
    if (S->opt.method == GAP_STEP_NEWMARK || trapezoid) {
        S->order = 0;
        S->coef[0] = trapezoid ? 0.25 : S->opt.beta;
        S->coef[1] = trapezoid ? 0.5 : S->opt.gamma;
        S->weight = S->coef[0] * h * h;
        S->dvdx = S->coef[1] / (S->coef[0] * h);
    } else {
        S->order = gap_step__order(S, h);
        gap_step__bdf(S, h);
    }
    S->c_el = S->weight / (h * h);
    for (i = 0; i < S->n; ++i) {
        target[i] = gap_step__drift(S, i);
        if (acceleration) target[i] += S->weight * acceleration[i];
    }
    return GAP_STEP_OK;
}

/* New velocity of component i for the new position x, and with it the acceleration. */
static inline double gap_step__speed(const gap_step *S, int i, double x)
{
    double b = S->coef[0], g = S->coef[1], move = x - S->x[i];
    int k;
    if (S->order == 0) {
        return S->dvdx * move + ((1.0 - g / b) * S->v[i] + (1.0 - 0.5 * g / b) * S->h * S->a[i]);
    }
    for (k = 1; k < S->order; ++k) move -= S->coef[k] * (gap_step__x(S, k)[i] - S->x[i]);
    return S->dvdx * move;
}

static inline double gap_step__acceleration(const gap_step *S, int i, double x, double v)
{
    double change = v - S->v[i];
    int k;
    if (S->order == 0) return (x - gap_step__drift(S, i)) / S->weight;
    for (k = 1; k < S->order; ++k) change -= S->coef[k] * (gap_step__v(S, k)[i] - S->v[i]);
    return S->dvdx * change;
}

GAP_STEP_API void gap_step_velocity(const gap_step *S, const double *x, double *v)
{
    int i;
    GAP_STEP_ASSERT(S && S->h > 0.0 && ((x && v) || S->n == 0));
    for (i = 0; i < S->n; ++i) v[i] = gap_step__speed(S, i, x[i]);
}

/* Move the history of component i back by one state. */
static inline void gap_step__shift(gap_step *S, int i)
{
    size_t n = (size_t)S->n, c = (size_t)i;
    int past = gap_step__past(&S->opt);
    if (past == 2) {
        S->past[2 * n + c] = S->past[c];
        S->past[3 * n + c] = S->past[n + c];
    }
    if (past >= 1) {
        S->past[c] = S->x[c];
        S->past[n + c] = S->v[c];
    }
}

static inline void gap_step__count(gap_step *S, double h)
{
    if (S->head[1] < 2.0) S->head[1] += 1.0;
    S->head[3] = S->head[2];
    S->head[2] = h;
    S->h = 0.0;
}

GAP_STEP_API int gap_step_end(gap_step *S, const double *x)
{
    int i;
    GAP_STEP_ASSERT(S && S->h > 0.0 && (x || S->n == 0));
    if (!gap_step__finite(x, S->n)) return GAP_STEP_ENONFIN;
    for (i = 0; i < S->n; ++i) {
        double v = gap_step__speed(S, i, x[i]), a = gap_step__acceleration(S, i, x[i], v);
        gap_step__shift(S, i);
        S->x[i] = x[i];
        S->v[i] = v;
        S->a[i] = a;
    }
    gap_step__count(S, S->h);
    return GAP_STEP_OK;
}

GAP_STEP_API int gap_step_push(gap_step *S, double h, const double *x, const double *v,
    const double *a)
{
    int i;
    GAP_STEP_ASSERT(S && ((x && v) || S->n == 0));
    if (!(h > 0.0 && h <= DBL_MAX)) return GAP_STEP_EINPUT;
    if (!gap_step__finite(x, S->n) || !gap_step__finite(v, S->n)
        || (a && !gap_step__finite(a, S->n))) return GAP_STEP_ENONFIN;
    for (i = 0; i < S->n; ++i) {
        gap_step__shift(S, i);
        S->a[i] = a ? a[i] : (v[i] - S->v[i]) / h;
        S->x[i] = x[i];
        S->v[i] = v[i];
    }
    gap_step__count(S, h);
    return GAP_STEP_OK;
}
#endif /* GAP_STEP_IMPLEMENTATION */
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
