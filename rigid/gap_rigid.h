/* gap_rigid.h - v0.1.0 - rigid bodies as a minimisation per step - MIT-0, see end
   Mass properties, rotation vectors with closed-form derivatives, the incremental potential of
   implicit Euler, and the way of contact blocks through the rotation. 2D and 3D. Copy this file.
QUICK START
   #define GAP_RIGID_IMPLEMENTATION       // in exactly one .c or .cpp file
   #include "gap_rigid.h"
   #include <stdio.h>
   int main(void) // torque 3 about z on a rod at rest, one step of 0.1
   {
       double x[6] = {4, 0, 0, 6, 0, 0}, u[6], g[6], H[36];
       int rod[2] = {0, 1}, k;
       gap_rigid_moments M; gap_rigid_body b; gap_rigid_frame f;
       gap_rigid_moments_begin(&M, 3, 2, x);
       gap_rigid_moments_add(&M, GAP_RIGID_WIRE, 3.0, 2, x, 1, rod, NULL);
       gap_rigid_init(&b, &M, 2, x); b.torque[2] = 3.0; // x is now about the centre of mass
       gap_rigid_begin(&b, 1, 0.1, NULL, u);
       for (k = 0; k < 5; ++k) {
           gap_rigid_frames(&b, u, 0, 1, &f);
           gap_rigid_gradient(&b, u, &f, 0, 1, g); gap_rigid_hessian(&b, &f, 1, 0, 1, H);
           u[5] -= g[5] / H[35];
       }
       printf("mass %g, turned by %.7f\n", b.mass, u[5]); // mass 6, turned by 0.0149989
       return 0;
   }
GUARANTEES
   Right     derivatives checked by finite differences, also along the gradient, |theta| 0 .. 12;
             the contact-free step is the orthogonal Procrustes solution; mass against closed forms.
   Decays    contact-free motion gains no kinetic energy and no angular momentum (implicit Euler).
   Scaled    lengths times a power of two: the same bits times its powers, PSD blocks included.
   Not promised: that free spin keeps its speed: it loses about (h w)^2 of itself a step (2D: not).
OPTIONS (define before the implementation)
   GAP_RIGID_STATIC     keep all functions private to this file
   GAP_RIGID_ASSERT(x)  replaces assert(x)
EDGE CASES
   inside-out or empty solid: EVOLUME.  no mass: EMASS.  NaN, infinity: ENONFIN.  zero face or edge:
   EINPUT, bad names it.  single point: no rotation.  flat body, wire: J is singular, that is fine.
METHOD
   Ferguson et al. 2021 (Rigid IPC). Unlike there: the rotation vector starts at 0 in every step,
   Q = exp[theta] Q0, so it never comes near its singular angles 2 pi k and torques are world
   vectors; the full second moment J instead of a principal frame; the torque is not doubled;
   negative curvature of inertia mirrored, not cut; contact blocks projected after the chain rule,
   angles measured by the body's radius. Time: implicit Euler. For the translation alone other
   rules would be sound, but with Q they would leave the two out of step: not offered.
NOT HERE   curved paths: gap_rigid_ccd.h.  contacts: gap_barrier.h, gap_friction.h.  faster
           projection of raw blocks: gap_psd.h.  minimiser: gap_newton.h.
HISTORY    0.1.0 first release */
#ifndef GAP_RIGID_H
#define GAP_RIGID_H
#define GAP_RIGID_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_RIGID_STATIC
#define GAP_RIGID_API static inline
#else
#define GAP_RIGID_API extern
#endif
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_rigid_status {
    GAP_RIGID_OK = 0,
    GAP_RIGID_ENONFIN = -1,
    GAP_RIGID_EINDEX = -3,   /* an element or contact names a node that does not exist */
    GAP_RIGID_EINPUT = -6,   /* degenerate element, density or h not positive, wrong rule */
    GAP_RIGID_EVOLUME = -16, /* the volume of a solid is not positive: inside out */
    GAP_RIGID_EMASS = -17    /* the body has no mass */
} gap_rigid_status;

typedef enum gap_rigid_type {
    GAP_RIGID_DYNAMIC = 0,
    GAP_RIGID_STATIC_BODY = 1, /* never moves */
    GAP_RIGID_KINEMATIC = 2    /* follows v and w, or a goal, by an augmented Lagrangian */
} gap_rigid_type;

/* How elements carry mass, and what density means. */
typedef enum gap_rigid_rule {
    GAP_RIGID_SOLID = 0,   /* closed triangles, outside counter-clockwise, kg/m^3;
                              2D: edges of closed polygons, counter-clockwise, kg/m^2 */
    GAP_RIGID_SURFACE = 1, /* triangles of a shell, kg/m^2; 3D only */
    GAP_RIGID_WIRE = 2,    /* edges, kg/m */
    GAP_RIGID_POINTS = 3   /* nodes, kg each */
} gap_rigid_rule;

/* Mass, first and second moment about an origin. */
typedef struct gap_rigid_moments {
    int dim;
    double origin[3], mass, first[3], second[9];
} gap_rigid_moments;

/* A body. Matrices row by row, 3x3; in 2D only the upper 2x2 counts. In 3D a body has 6 unknowns
   u = (q, theta), in 2D 3 (q, angle): place x = exp[theta] Q0 X + q. Set type, fixed, v, force,
   torque freely between steps; w by gap_rigid_set_spin. */
typedef struct gap_rigid_body {
    int dim, type;      /* gap_rigid_type */
    int first, count;   /* its nodes in the caller's arrays; init: 0 and n */
    unsigned char fixed; /* bit c: unknown c is held, x y z rx ry rz (2D: x y r). Rotations: about
                           world axes within a step; with one fixed axis of three the orientation
                           may still drift about it over many steps */
    unsigned char held; /* what is held in this step: fixed, static, kinematic ones that arrived */
    double mass, J[9];  /* J = integral of density X X^T, about the centre of mass */
    double radius;      /* largest |X| */
    double q[3], Q[9];  /* place of the centre of mass, orientation */
    double v[3], w[3];  /* velocity; angular velocity, world (2D: w[2]) */
    double Qdot[9];     /* change of Q per time: what implicit Euler keeps (2D: not used) */
    double force[3], torque[3]; /* world, at the centre of mass (2D: torque[2]) */
    double q0[3], Q0[9], h;     /* start of the step under way */
    double goal_q[3], goal_Q[9], goal_angle; /* kinematic: where the step should end */
    double al[2], lambda[3], Lambda[9]; /* kinematic: stiffness and multipliers of q and Q */
    double mq, tq[3], M[9], mr, tr; /* private: E = mq/2 |q - tq|^2 - <Q, M>; 2D mr/2 (r - tr)^2 */
} gap_rigid_body;

/* Where a body is at some u, with derivatives: x = A X + q, dx/dtheta_i = d1[i] X,
   d2x/dtheta_i dtheta_j = d2[k] X, k counting 00 01 02 11 12 22. 2D: d1[0] and d2[0]. */
typedef struct gap_rigid_frame {
    double q[3], A[9], d1[3][9], d2[6][9];
} gap_rigid_frame;

/* ---- rotations ---- */

/* R = exp[theta], 9 values. D (may be NULL) = R - I without cancellation. */
GAP_RIGID_API void gap_rigid_exp(const double theta[3], double R[9], double D[9]);

/* First and second derivatives of exp[theta]: 3 and 6 matrices, order as in gap_rigid_frame. */
GAP_RIGID_API void gap_rigid_exp_derivatives(const double theta[3], double d1[3][9],
    double d2[6][9]);

/* Rotation vector of a rotation matrix, angle in [0, pi]. */
GAP_RIGID_API void gap_rigid_log(const double R[9], double theta[3]);

/* ---- mass ---- */

/* Is every edge of the triangles met once in either direction (2D: every node left and reached
   once by the edges)? Then 1, and they bound a solid; else 0.
   work  6 ints per triangle, 2 per edge in 2D */
GAP_RIGID_API int gap_rigid_closed(int dim, int count, const int *elem, int *work);

/* Begin with no mass; the origin is the mean of the n nodes x (dim each). */
GAP_RIGID_API void gap_rigid_moments_begin(gap_rigid_moments *M, int dim, int n, const double *x);

/* Add elements with a density; call it once for every part of a mixed body.
   elem  3, 2 or 1 nodes each by the rule; POINTS: NULL means nodes 0 .. count-1
   bad   1 value, may be NULL: the element that EINDEX, EINPUT, ENONFIN mean, else -1
   On error M is as it was. */
GAP_RIGID_API int gap_rigid_moments_add(gap_rigid_moments *M, gap_rigid_rule rule, double density,
    int n, const double *x, int count, const int *elem, int *bad);

/* Make a dynamic body at rest: places q at the centre of mass with Q = I, and turns the n nodes x
   into body coordinates X. ENONFIN, EMASS: x is unchanged. */
GAP_RIGID_API int gap_rigid_init(gap_rigid_body *b, const gap_rigid_moments *M, int n, double *x);

/* Set the angular velocity (world, radians per second); fixed axes get none. */
GAP_RIGID_API void gap_rigid_set_spin(gap_rigid_body *b, const double w[3]);

/* ---- a time step: begin, minimise over u, end ---- */

/* Unknowns of a body: 6 or 3. */
GAP_RIGID_API int gap_rigid_unknowns(int dim);

/* Begin a step of n bodies: targets, multipliers, and the start u (unknowns of all bodies).
   gravity  dim values, NULL: none. EINPUT: h; ENONFIN: a body is not finite. */
GAP_RIGID_API int gap_rigid_begin(gap_rigid_body *b, int n, double h, const double *gravity,
    double *u);

/* After begin: where a kinematic body should go, instead of by v and w. Q: 3x3 (2D too). */
GAP_RIGID_API void gap_rigid_goal(gap_rigid_body *b, const double *q, const double Q[9]);

/* Bits of held components per node of seam 9: 2 nodes of 3 a body, 1 in 2D. */
GAP_RIGID_API void gap_rigid_held(const gap_rigid_body *b, int n, unsigned char *fixed);

/* Frames of bodies begin .. end-1 at u, written to frame[begin ..]. */
GAP_RIGID_API void gap_rigid_frames(const gap_rigid_body *b, const double *u, int begin, int end,
    gap_rigid_frame *frame);

/* World positions x of the nodes of bodies begin .. end-1 at u, from body coordinates X; arrays of
   all nodes, dim each. u NULL: the poses q, Q. */
GAP_RIGID_API void gap_rigid_place(const gap_rigid_body *b, const double *u, int begin, int end,
    const double *X, double *x);

/* Inertia and applied loads, h^2-scaled: the sum over begin <= i < end, in order. Static bodies
   have none, kinematic ones the augmented Lagrangian. */
GAP_RIGID_API double gap_rigid_energy(const gap_rigid_body *b, const double *u, int begin, int end);

/* Its gradient, 6 (2D 3) values per body, from grad[0] on. */
GAP_RIGID_API void gap_rigid_gradient(const gap_rigid_body *b, const double *u,
    const gap_rigid_frame *frame, int begin, int end, double *grad);

/* Its Hessian blocks, 36 (2D 9) values per body, from hess[0] on. psd: 0 raw, 1 with eigenvalues l
   of the rotation replaced by max(|l|, 1e-6 tr J). */
GAP_RIGID_API void gap_rigid_hessian(const gap_rigid_body *b, const gap_rigid_frame *frame, int psd,
    int begin, int end, double *hess);

/* Contact blocks in node positions -> blocks in unknowns, for `count` contacts of seam 6 and 7.
   body      1 per node: its body
   X         dim per node, body coordinates
   node      4 each, of at most two bodies; unused -1
   grad      4*dim each;  hess (4*dim)^2 each, RAW (unprojected), or NULL
   psd       1: nearest PSD in the coordinates (q, radius theta)
   out_node  4 (2D 2) each: nodes of seam 9, 2i and 2i+1 of body i (2D: i); -1 for static bodies
   out_grad  12 (2D 6) each, may be NULL;  out_hess 144 (2D 36) each, NULL with hess
   EINDEX: a contact has more than two bodies. */
GAP_RIGID_API int gap_rigid_chain(const gap_rigid_body *b, const gap_rigid_frame *frame,
    const int *body, const double *X, int count, const int *node, const double *grad,
    const double *hess, int psd, int *out_node, double *out_grad, double *out_hess);

/* Part of the step p, in (0, 1], in which no body turns by more than a radian. Where the inertia is
   not convex Newton may ask for many turns: bound its steps by this (and by CCD). */
GAP_RIGID_API double gap_rigid_limit(const gap_rigid_body *b, int n, const double *p);

/* Largest coordinate by which a node moves when u becomes u + p: the length of a Newton step. */
GAP_RIGID_API double gap_rigid_travel(const gap_rigid_body *b, int n, const double *X,
    const double *u, const double *p);

/* Kinematic bodies, when a minimisation has ended at u: where q or Q have come within 0.001 of the
   way to the goal they are held; else their stiffness is doubled (up to 1e8) or their multipliers
   updated, and the energy is another one. Returns 0 if all have arrived, else 1.
   eta  2 values, may be NULL: part of the way that q, Q have made */
GAP_RIGID_API int gap_rigid_drive(gap_rigid_body *b, int n, const double *u, double eta[2]);

/* End the step at u: new poses and velocities. */
GAP_RIGID_API void gap_rigid_end(gap_rigid_body *b, int n, const double *u);

/* ---- what to report ---- */

/* Kinetic energy of a dynamic body, 0 of others. */
GAP_RIGID_API double gap_rigid_kinetic(const gap_rigid_body *b);

/* Linear momentum and angular momentum about the world's origin, 3 values each, set; 2D: L[2]. */
GAP_RIGID_API void gap_rigid_momentum(const gap_rigid_body *b, double p[3], double L[3]);

/* Mean over free unknowns of mass and moment of inertia / length^2: the scale of the energy. */
GAP_RIGID_API double gap_rigid_mean_mass(const gap_rigid_body *b, int n, double length);

#ifdef __cplusplus
}
#endif
#endif /* GAP_RIGID_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_RIGID_STATIC)) && !defined(GAP_RIGID_IMPLEMENTATION)
#define GAP_RIGID_IMPLEMENTATION
#endif
#if defined(GAP_RIGID_IMPLEMENTATION) && !defined(GAP_RIGID_IMPLEMENTED)
#define GAP_RIGID_IMPLEMENTED
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifndef GAP_RIGID_ASSERT
#include <assert.h>
#define GAP_RIGID_ASSERT(x) assert(x)
#endif

/* Rotational curvature is kept above this part of tr J: straight wires have none about themselves,
   and no mass term stands behind it. */
#define GAP_RIGID__FLOOR 1e-6
/* Augmented Lagrangian of kinematic bodies: first and last stiffness, and the parts of the way at
   which multipliers take over and at which a body has arrived. */
#define GAP_RIGID__AL_FIRST 1e3
#define GAP_RIGID__AL_LAST 1e8
#define GAP_RIGID__AL_NEAR 0.99
#define GAP_RIGID__AL_DONE 0.999

/* ---------------------------------------------------------------- small matrices */

static inline double gap_rigid__inner(const double A[9], const double B[9])
{
    double s = 0.0;
    int i;
    for (i = 0; i < 9; ++i) s += A[i] * B[i];
    return s;
}

/* C = A B; C is neither */
static inline void gap_rigid__mul(const double A[9], const double B[9], double C[9])
{
    int i, j;
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 3; ++j) {
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
        }
    }
}

/* C = A B^T; C is neither */
static inline void gap_rigid__mul_t(const double A[9], const double B[9], double C[9])
{
    int i, j;
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 3; ++j) {
            C[3 * i + j] = A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1]
                + A[3 * i + 2] * B[3 * j + 2];
        }
    }
}

/* y = A x for the first dim rows and columns */
static inline void gap_rigid__apply(int dim, const double A[9], const double *x, double *y)
{
    int i;
    for (i = 0; i < dim; ++i) {
        y[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + (dim == 3 ? A[3 * i + 2] * x[2] : 0.0);
    }
}

static inline void gap_rigid__identity(double A[9])
{
    int i;
    for (i = 0; i < 9; ++i) A[i] = i % 4 == 0 ? 1.0 : 0.0;
}

/* K = [w], so that K x = w x x */
static inline void gap_rigid__skew(const double w[3], double K[9])
{
    K[0] = K[4] = K[8] = 0.0;
    K[1] = -w[2]; K[2] = w[1]; K[5] = -w[0];
    K[3] = w[2]; K[6] = -w[1]; K[7] = w[0];
}

/* w with [w] = (A - A^T) / 2 */
static inline void gap_rigid__axial(const double A[9], double w[3])
{
    w[0] = 0.5 * (A[7] - A[5]); w[1] = 0.5 * (A[2] - A[6]); w[2] = 0.5 * (A[3] - A[1]);
}

static inline int gap_rigid__finite(const double *x, size_t n)
{
    size_t i;
    for (i = 0; i < n; ++i) {
        if (!(fabs(x[i]) <= DBL_MAX)) return 0;
    }
    return 1;
}

static inline int gap_rigid__turns(int dim) /* rotational unknowns */
{
    return dim == 3 ? 3 : 1;
}

/* Eigenvalues d and eigenvectors (columns of V) of a symmetric n x n matrix A, destroyed, by cyclic
   Jacobi: n <= 12 rows of n. Quadratic convergence; 30 sweeps are never reached. */
static inline void gap_rigid__jacobi(int n, double *A, double *V, double *d)
{
    double all = 0.0, off;
    int i, j, k, sweep;
    for (i = 0; i < n * n; ++i) {
        V[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
        all += A[i] * A[i];
    }
    for (sweep = 0; sweep < 30; ++sweep) {
        for (off = 0.0, i = 0; i < n; ++i) {
            for (j = 0; j < i; ++j) off += A[i * n + j] * A[i * n + j];
        }
        if (!(off > 1e-33 * all)) break;
        for (i = 1; i < n; ++i) {
            for (j = 0; j < i; ++j) {
                double a = A[i * n + j], t, c, s, z;
                if (a * a <= 1e-36 * all) continue;
                z = 0.5 * (A[i * n + i] - A[j * n + j]) / a;
                t = (z < 0.0 ? -1.0 : 1.0) / (fabs(z) + sqrt(1.0 + z * z));
                c = 1.0 / sqrt(1.0 + t * t);
                s = t * c;
                for (k = 0; k < n; ++k) { /* columns i, j */
                    double x = A[k * n + i], y = A[k * n + j];
                    A[k * n + i] = c * x + s * y;
                    A[k * n + j] = c * y - s * x;
                    x = V[k * n + i], y = V[k * n + j];
                    V[k * n + i] = c * x + s * y;
                    V[k * n + j] = c * y - s * x;
                }
                for (k = 0; k < n; ++k) { /* rows i, j */
                    double x = A[i * n + k], y = A[j * n + k];
                    A[i * n + k] = c * x + s * y;
                    A[j * n + k] = c * y - s * x;
                }
            }
        }
    }
    for (i = 0; i < n; ++i) d[i] = A[i * n + i];
}

/* Raise the eigenvalues of A (n x n, symmetric, n <= 12) to at least `least`; mirror: the negative
   ones to their absolute value if that is more. */
static inline void gap_rigid__raise(int n, double least, int mirror, double *A)
{
    double work[144], V[144], d[12];
    int i, j, k;
    memcpy(work, A, (size_t)(n * n) * sizeof *A);
    gap_rigid__jacobi(n, work, V, d);
    for (k = 0; k < n; ++k) { /* A += (least - d) v v^T leaves the good ones exactly as they are */
        double more = (mirror && -d[k] > least ? -d[k] : least) - d[k];
        if (!(more > 0.0)) continue;
        for (i = 0; i < n; ++i) {
            for (j = 0; j < n; ++j) A[i * n + j] += more * V[i * n + k] * V[j * n + k];
        }
    }
}

/* ---------------------------------------------------------------- rotations
   With phi = |theta|, p = phi^2, K = [theta]: exp K = I + a K + b K^2, a = sin phi / phi,
   b = (1 - cos phi) / p. Every further derivative needs a1 = a'/phi, a2 = a1'/phi, and b1, b2. */

/* s = a, a1, a2, b, b1, b2. Below p = 1 by series (the closed form of b2 has lost five digits at
   p = 1/4; at p = 1 both agree to 3e-14): a = sum (-p)^k/(2k+1)!, b the same with (2k+2)!, and
   a1, a2 from d/dphi (p^k) / phi = 2k p^(k-1). 13 terms leave less than 1e-28. */
static inline void gap_rigid__scalars(double p, double s[6])
{
    double phi, sine, cosine, one;
    int i, k;
    if (p < 1.0) {
        double c = 1.0, pk = 1.0, pk1 = 0.0, pk2 = 0.0; /* p^k, p^(k-1), p^(k-2) */
        for (i = 0; i < 6; ++i) s[i] = 0.0;
        for (k = 0; k < 13; ++k) {
            double odd = c / (2 * k + 1), even = odd / (2 * k + 2);
            double once = 2.0 * k * pk1, twice = 2.0 * k * (2.0 * k - 2.0) * pk2;
            s[0] += odd * pk; s[1] += odd * once; s[2] += odd * twice;
            s[3] += even * pk; s[4] += even * once; s[5] += even * twice;
            c = -even; /* (-1)^(k+1) / (2k+2)! */
            pk2 = pk1; pk1 = pk; pk *= p;
        }
        return;
    }
    phi = sqrt(p);
    sine = sin(phi);
    cosine = cos(phi);
    one = sin(0.5 * phi);
    one = 2.0 * one * one; /* 1 - cos phi */
    s[0] = sine / phi;
    s[1] = (phi * cosine - sine) / (phi * p);
    s[2] = ((3.0 - p) * sine - 3.0 * phi * cosine) / (phi * p * p);
    s[3] = one / p;
    s[4] = (phi * sine - 2.0 * one) / (p * p);
    s[5] = (p * cosine - 5.0 * phi * sine + 8.0 * one) / (p * p * p);
}

static inline double gap_rigid__square(const double t[3])
{
    return t[0] * t[0] + t[1] * t[1] + t[2] * t[2];
}

GAP_RIGID_API void gap_rigid_exp(const double theta[3], double R[9], double D[9])
{
    double s[6], K[9], KK[9];
    int i;
    gap_rigid__scalars(gap_rigid__square(theta), s);
    gap_rigid__skew(theta, K);
    gap_rigid__mul(K, K, KK);
    for (i = 0; i < 9; ++i) {
        double d = s[0] * K[i] + s[3] * KK[i];
        R[i] = (i % 4 == 0 ? 1.0 : 0.0) + d;
        if (D) D[i] = d;
    }
}

/* With E_i = [e_i], S_i = E_i K + K E_i = d(K^2)/dtheta_i:
   R_i  = a1 t_i K + a E_i + b1 t_i K^2 + b S_i
   R_ij = (a2 t_i t_j + a1 d_ij) K + a1 (t_i E_j + t_j E_i) + (b2 t_i t_j + b1 d_ij) K^2
          + b1 (t_i S_j + t_j S_i) + b (E_i E_j + E_j E_i) */
GAP_RIGID_API void gap_rigid_exp_derivatives(const double theta[3], double d1[3][9],
    double d2[6][9])
{
    double s[6], K[9], KK[9], E[3][9], S[3][9], left[9], right[9];
    const double *t = theta;
    int i, j, k, n = 0;
    gap_rigid__scalars(gap_rigid__square(t), s);
    gap_rigid__skew(t, K);
    gap_rigid__mul(K, K, KK);
    for (i = 0; i < 3; ++i) {
        double e[3] = {0.0, 0.0, 0.0};
        e[i] = 1.0;
        gap_rigid__skew(e, E[i]);
        gap_rigid__mul(E[i], K, left);
        gap_rigid__mul(K, E[i], right);
        for (k = 0; k < 9; ++k) {
            S[i][k] = left[k] + right[k];
            d1[i][k] = s[1] * t[i] * K[k] + s[0] * E[i][k] + s[4] * t[i] * KK[k]
                + s[3] * S[i][k];
        }
    }
    for (i = 0; i < 3; ++i) {
        for (j = i; j < 3; ++j, ++n) {
            double tt = t[i] * t[j], same = i == j ? 1.0 : 0.0;
            double ck = s[2] * tt + s[1] * same, ckk = s[5] * tt + s[4] * same;
            gap_rigid__mul(E[i], E[j], left);
            gap_rigid__mul(E[j], E[i], right);
            for (k = 0; k < 9; ++k) {
                d2[n][k] = ck * K[k] + ckk * KK[k] + s[1] * (t[i] * E[j][k] + t[j] * E[i][k])
                    + s[4] * (t[i] * S[j][k] + t[j] * S[i][k]) + s[3] * (left[k] + right[k]);
            }
        }
    }
}

/* By the unit quaternion, largest component first: no cancellation at any angle. */
GAP_RIGID_API void gap_rigid_log(const double R[9], double theta[3])
{
    double q[4], trace = R[0] + R[4] + R[8], r, angle, factor;
    int i, j, k;
    i = R[4] > R[0] ? 1 : 0;
    if (R[8] > R[4 * i]) i = 2;
    if (trace > R[4 * i]) {
        r = sqrt(1.0 + trace);
        q[3] = 0.5 * r;
        q[0] = 0.5 * (R[7] - R[5]) / r; q[1] = 0.5 * (R[2] - R[6]) / r;
        q[2] = 0.5 * (R[3] - R[1]) / r;
    } else {
        j = (i + 1) % 3;
        k = (i + 2) % 3;
        r = sqrt(1.0 + R[4 * i] - R[4 * j] - R[4 * k]);
        q[i] = 0.5 * r;
        q[j] = 0.5 * (R[3 * i + j] + R[3 * j + i]) / r;
        q[k] = 0.5 * (R[3 * i + k] + R[3 * k + i]) / r;
        q[3] = 0.5 * (R[3 * k + j] - R[3 * j + k]) / r;
    }
    r = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    angle = 2.0 * atan2(r, fabs(q[3]));
    factor = r > 0.0 ? angle / r : 2.0;
    if (q[3] < 0.0) factor = -factor;
    for (i = 0; i < 3; ++i) theta[i] = factor * q[i];
}

/* Q of a product of rotations back to the nearest rotation: one step of Q (3 I - Q^T Q) / 2 squares
   an error that is a few roundings. */
static inline void gap_rigid__polish(double Q[9])
{
    double T[9], P[9];
    int i, j;
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 3; ++j) {
            T[3 * i + j] = (i == j ? 1.5 : 0.0)
                - 0.5 * (Q[i] * Q[j] + Q[3 + i] * Q[3 + j] + Q[6 + i] * Q[6 + j]);
        }
    }
    gap_rigid__mul(Q, T, P);
    memcpy(Q, P, sizeof P);
}

/* exp of the rotational unknowns: theta in 3D, the angle about z in 2D */
static inline void gap_rigid__turn(int dim, const double *r, double R[9], double D[9])
{
    double t[3] = {0.0, 0.0, 0.0};
    if (dim == 3) {
        t[0] = r[0]; t[1] = r[1];
    }
    t[2] = r[dim == 3 ? 2 : 0];
    gap_rigid_exp(t, R, D);
}

/* ---------------------------------------------------------------- mass */

static inline int gap_rigid__compare(const void *a, const void *b)
{
    const int *x = (const int *)a, *y = (const int *)b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] != y[1] ? (x[1] < y[1] ? -1 : 1) : 0;
}

/* 3D: every directed edge (a, b) once, and (b, a) too: the list sorted, and the list of reversed
   edges looked up in it. 2D the same with nodes: starts and ends are the same set, each once. */
GAP_RIGID_API int gap_rigid_closed(int dim, int count, const int *elem, int *work)
{
    int n = dim == 3 ? 3 * count : count, i, key[2];
    GAP_RIGID_ASSERT(count >= 0 && (count == 0 || (elem && work)));
    for (i = 0; i < n; ++i) {
        work[2 * i] = elem[dim == 3 ? i : 2 * i];
        work[2 * i + 1] = dim == 3 ? elem[i % 3 == 2 ? i - 2 : i + 1] : 0;
    }
    qsort(work, (size_t)n, 2 * sizeof(int), gap_rigid__compare);
    for (i = 1; i < n; ++i) {
        if (gap_rigid__compare(work + 2 * i, work + 2 * i - 2) == 0) return 0;
    }
    for (i = 0; i < n; ++i) {
        key[0] = dim == 3 ? elem[i % 3 == 2 ? i - 2 : i + 1] : elem[2 * i + 1];
        key[1] = dim == 3 ? elem[i] : 0;
        if (!bsearch(key, work, (size_t)n, 2 * sizeof(int), gap_rigid__compare)) return 0;
    }
    if (dim == 3) return n > 0;
    for (i = 0; i < n; ++i) work[2 * i] = elem[2 * i + 1]; /* ends: each once */
    qsort(work, (size_t)n, 2 * sizeof(int), gap_rigid__compare);
    for (i = 1; i < n; ++i) {
        if (work[2 * i] == work[2 * i - 2]) return 0;
    }
    return n > 0;
}

GAP_RIGID_API void gap_rigid_moments_begin(gap_rigid_moments *M, int dim, int n, const double *x)
{
    int i, c;
    GAP_RIGID_ASSERT(M && (dim == 2 || dim == 3) && n >= 0 && (x || n == 0));
    memset(M, 0, sizeof *M);
    M->dim = dim;
    for (c = 0; c < dim; ++c) {
        for (i = 0; i < n; ++i) M->origin[c] += x[dim * i + c];
        if (n > 0) M->origin[c] /= n;
    }
}

/* Measure of a simplex with k points v (3 values each, 2D: z = 0), signed for solids. */
static inline double gap_rigid__measure(int dim, gap_rigid_rule rule, double v[3][3])
{
    double a[3], b[3], n[3];
    int c;
    if (rule == GAP_RIGID_POINTS) return 1.0;
    if (rule == GAP_RIGID_SOLID && dim == 2) return 0.5 * (v[0][0] * v[1][1] - v[0][1] * v[1][0]);
    for (c = 0; c < 3; ++c) {
        a[c] = v[1][c] - v[0][c];
        b[c] = v[2][c] - v[0][c];
    }
    if (rule == GAP_RIGID_WIRE) return sqrt(gap_rigid__square(a));
    n[0] = a[1] * b[2] - a[2] * b[1];
    n[1] = a[2] * b[0] - a[0] * b[2];
    n[2] = a[0] * b[1] - a[1] * b[0];
    if (rule == GAP_RIGID_SURFACE) return 0.5 * sqrt(gap_rigid__square(n));
    return (n[0] * v[0][0] + n[1] * v[0][1] + n[2] * v[0][2]) / 6.0; /* det(v0, v1, v2) / 6 */
}

/* For a simplex of measure m with K vertices v (the origin is one more, zero, for solids):
   first = m s / K, second = m / (K (K+1)) (sum v v^T + s s^T), s = sum v. */
static inline void gap_rigid__add_one(gap_rigid_moments *T, gap_rigid_rule rule, int k, double m,
    double v[3][3])
{
    int K = k + (rule == GAP_RIGID_SOLID), i, a, b;
    double s[3] = {0.0, 0.0, 0.0}, sum;
    for (i = 0; i < k; ++i) {
        for (a = 0; a < 3; ++a) s[a] += v[i][a];
    }
    T->mass += m;
    for (a = 0; a < 3; ++a) {
        T->first[a] += m * s[a] / K;
        for (b = 0; b < 3; ++b) {
            for (sum = s[a] * s[b], i = 0; i < k; ++i) sum += v[i][a] * v[i][b];
            T->second[3 * a + b] += m * sum / (K * (K + 1));
        }
    }
}

static inline int gap_rigid__read(const gap_rigid_moments *M, int n, const double *x, int k,
    const int *e, double v[3][3])
{
    int i, c;
    memset(v, 0, 9 * sizeof(double));
    for (i = 0; i < k; ++i) {
        if (e[i] < 0 || e[i] >= n) return GAP_RIGID_EINDEX;
        for (c = 0; c < M->dim; ++c) v[i][c] = x[M->dim * e[i] + c] - M->origin[c];
        if (!gap_rigid__finite(v[i], 3)) return GAP_RIGID_ENONFIN;
    }
    return GAP_RIGID_OK;
}

/* Faces of a solid must have an area, edges a length: else the mesh is wrong. */
static inline int gap_rigid__degenerate(int dim, gap_rigid_rule rule, double v[3][3])
{
    if (rule == GAP_RIGID_POINTS) return 0;
    if (rule == GAP_RIGID_SOLID) rule = dim == 2 ? GAP_RIGID_WIRE : GAP_RIGID_SURFACE;
    return !(gap_rigid__measure(dim, rule, v) > 0.0);
}

GAP_RIGID_API int gap_rigid_moments_add(gap_rigid_moments *M, gap_rigid_rule rule, double density,
    int n, const double *x, int count, const int *elem, int *bad)
{
    gap_rigid_moments T = *M;
    int k = rule == GAP_RIGID_POINTS ? 1 : rule == GAP_RIGID_WIRE || M->dim == 2 ? 2 : 3;
    int i, own, status;
    double v[3][3], volume = 0.0;
    GAP_RIGID_ASSERT(M && n >= 0 && count >= 0 && (count == 0 || x));
    GAP_RIGID_ASSERT(elem || count == 0 || rule == GAP_RIGID_POINTS);
    if (bad) *bad = -1;
    if (!(density > 0.0 && density <= DBL_MAX)) return GAP_RIGID_EINPUT;
    if (M->dim == 2 && rule == GAP_RIGID_SURFACE) return GAP_RIGID_EINPUT;
    for (i = 0; i < count; ++i) {
        double m;
        own = i;
        status = gap_rigid__read(M, n, x, k, elem ? elem + k * i : &own, v);
        if (status == GAP_RIGID_OK && gap_rigid__degenerate(M->dim, rule, v)) {
            status = GAP_RIGID_EINPUT;
        }
        if (status != GAP_RIGID_OK) {
            if (bad) *bad = i;
            return status;
        }
        m = gap_rigid__measure(M->dim, rule, v);
        volume += m;
        gap_rigid__add_one(&T, rule, k, density * m, v);
    }
    if (rule == GAP_RIGID_SOLID && !(volume > 0.0)) return GAP_RIGID_EVOLUME;
    if (!gap_rigid__finite(T.second, 9)) return GAP_RIGID_ENONFIN;
    *M = T;
    return GAP_RIGID_OK;
}

GAP_RIGID_API int gap_rigid_init(gap_rigid_body *b, const gap_rigid_moments *M, int n, double *x)
{
    double c[3], r2 = 0.0, d2;
    int i, a, d, dim = M->dim;
    GAP_RIGID_ASSERT(b && M && n >= 0 && (x || n == 0));
    memset(b, 0, sizeof *b);
    b->dim = dim;
    b->count = n;
    gap_rigid__identity(b->Q);
    if (!gap_rigid__finite(x, (size_t)(n * dim))) return GAP_RIGID_ENONFIN;
    if (!(M->mass > 0.0)) return GAP_RIGID_EMASS;
    b->mass = M->mass;
    for (a = 0; a < 3; ++a) c[a] = M->first[a] / M->mass;
    for (a = 0; a < 3; ++a) { /* parallel axes: J = second - m c c^T; a square cannot be below 0 */
        for (d = 0; d < 3; ++d) {
            b->J[3 * a + d] = M->second[3 * a + d] - M->mass * c[a] * c[d];
        }
        if (!(b->J[4 * a] > 0.0)) b->J[4 * a] = 0.0;
        b->q[a] = M->origin[a] + c[a];
    }
    for (i = 0; i < n; ++i) {
        for (d2 = 0.0, a = 0; a < dim; ++a) {
            double *xa = x + dim * i + a;
            *xa = (*xa - M->origin[a]) - c[a];
            d2 += *xa * *xa;
        }
        r2 = d2 > r2 ? d2 : r2;
    }
    b->radius = sqrt(r2);
    return GAP_RIGID_OK;
}

/* Without extent a rotation changes nothing; 1e-30 is what rounding leaves of coinciding points. */
static inline int gap_rigid__is_point(const gap_rigid_body *b)
{
    return !(b->J[0] + b->J[4] + b->J[8] > 1e-30 * b->mass * b->radius * b->radius)
        || b->radius == 0.0;
}

GAP_RIGID_API void gap_rigid_set_spin(gap_rigid_body *b, const double w[3])
{
    double K[9];
    int c;
    GAP_RIGID_ASSERT(b && w);
    for (c = 0; c < 3; ++c) {
        int bit = b->dim == 3 ? 3 + c : 2;
        b->w[c] = b->fixed >> bit & 1 || (b->dim == 2 && c < 2) ? 0.0 : w[c];
    }
    gap_rigid__skew(b->w, K);
    gap_rigid__mul(K, b->Q, b->Qdot);
}

/* ---------------------------------------------------------------- the step */

GAP_RIGID_API int gap_rigid_unknowns(int dim)
{
    return dim == 3 ? 6 : 3;
}

/* J with which kinematic bodies are drawn to their goal. It is a metric, not a mass: wires must not
   spin freely about themselves. */
static inline void gap_rigid__metric(const gap_rigid_body *b, double J[9])
{
    double add = 1e-3 / 3.0 * (b->J[0] + b->J[4] + b->J[8] + b->mass * b->radius * b->radius);
    int i;
    for (i = 0; i < 9; ++i) J[i] = b->J[i] + (i % 4 == 0 ? add : 0.0);
}

/* The augmented Lagrangian k/2 m |q - goal|^2 - sqrt(m) lambda.(q - goal), its square completed,
   and -<Q, kQ goal_Q J + Lambda>: the form that inertia has. */
static inline void gap_rigid__pull(gap_rigid_body *b)
{
    double J[9], I;
    int i;
    gap_rigid__metric(b, J);
    b->mq = b->al[0] * b->mass;
    for (i = 0; i < 3; ++i) b->tq[i] = b->goal_q[i] + b->lambda[i] / (b->al[0] * sqrt(b->mass));
    gap_rigid__mul(b->goal_Q, J, b->M);
    for (i = 0; i < 9; ++i) b->M[i] = b->al[1] * b->M[i] + b->Lambda[i];
    I = J[0] + J[4];
    b->mr = b->al[1] * I;
    b->tr = b->goal_angle + b->Lambda[0] / b->mr;
}

/* Inertia: target qt = q + h v + h^2 (g + f/m); M = (Q + h Qdot) J + h^2/2 [torque] Q. Half, for
   <R_i, [t]> = 2 t_i at theta = 0. */
static inline void gap_rigid__coast(gap_rigid_body *b, const double *gravity)
{
    double h = b->h, P[9], K[9], I = b->J[0] + b->J[4];
    int i;
    b->mq = b->mass;
    for (i = 0; i < 3; ++i) {
        double g = gravity && i < b->dim ? gravity[i] : 0.0;
        b->tq[i] = b->q[i] + (h * b->v[i] + h * h * (g + b->force[i] / b->mass));
    }
    for (i = 0; i < 9; ++i) P[i] = b->Q[i] + h * b->Qdot[i];
    gap_rigid__mul(P, b->J, b->M);
    gap_rigid__skew(b->torque, K);
    gap_rigid__mul(K, b->Q, P);
    for (i = 0; i < 9; ++i) b->M[i] += 0.5 * h * h * P[i];
    b->mr = I;
    b->tr = h * b->w[2] + (I > 0.0 ? h * h * b->torque[2] / I : 0.0);
}

static inline void gap_rigid__begin_one(gap_rigid_body *b, double h, const double *gravity)
{
    unsigned char turns = (unsigned char)(b->dim == 3 ? 56 : 4), all = b->dim == 3 ? 63 : 7;
    double hw[3], R[9];
    int i;
    b->h = h;
    memcpy(b->q0, b->q, sizeof b->q);
    memcpy(b->Q0, b->Q, sizeof b->Q);
    b->held = b->type == GAP_RIGID_STATIC_BODY ? all : (unsigned char)(b->fixed & all);
    if (gap_rigid__is_point(b)) b->held = (unsigned char)(b->held | turns);
    if (b->type == GAP_RIGID_DYNAMIC) gap_rigid__coast(b, gravity);
    if (b->type != GAP_RIGID_KINEMATIC) return;
    for (i = 0; i < 3; ++i) {
        hw[i] = h * b->w[i];
        b->goal_q[i] = b->q[i] + h * b->v[i];
        b->lambda[i] = 0.0;
    }
    gap_rigid_exp(hw, R, NULL);
    gap_rigid__mul(R, b->Q, b->goal_Q);
    b->goal_angle = hw[2];
    memset(b->Lambda, 0, sizeof b->Lambda);
    b->al[0] = b->al[1] = GAP_RIGID__AL_FIRST;
    gap_rigid__pull(b);
}

GAP_RIGID_API int gap_rigid_begin(gap_rigid_body *b, int n, double h, const double *gravity,
    double *u)
{
    int i, c, k, status = GAP_RIGID_OK;
    GAP_RIGID_ASSERT(n >= 0 && (n == 0 || (b && u)));
    for (i = 0; i < n; ++i) {
        k = gap_rigid_unknowns(b[i].dim);
        for (c = 0; c < k; ++c) *u++ = c < b[i].dim ? b[i].q[c] : 0.0;
    }
    if (!(h > 0.0 && h <= DBL_MAX)) return GAP_RIGID_EINPUT;
    for (i = 0; i < n; ++i) {
        gap_rigid__begin_one(b + i, h, gravity);
        if (!gap_rigid__finite(b[i].q, 3) || !gap_rigid__finite(b[i].Q, 9)
            || !gap_rigid__finite(b[i].tq, 3) || !gap_rigid__finite(b[i].M, 9)) {
            status = GAP_RIGID_ENONFIN;
        }
    }
    return status;
}

GAP_RIGID_API void gap_rigid_goal(gap_rigid_body *b, const double *q, const double Q[9])
{
    double R[9], t[3];
    int c;
    GAP_RIGID_ASSERT(b && q && Q && b->type == GAP_RIGID_KINEMATIC && b->h > 0.0);
    for (c = 0; c < b->dim; ++c) b->goal_q[c] = q[c];
    memcpy(b->goal_Q, Q, sizeof b->goal_Q);
    gap_rigid__mul_t(Q, b->Q0, R);
    gap_rigid_log(R, t);
    b->goal_angle = t[2];
    gap_rigid__pull(b);
}

GAP_RIGID_API void gap_rigid_held(const gap_rigid_body *b, int n, unsigned char *fixed)
{
    int i;
    GAP_RIGID_ASSERT(n >= 0 && (n == 0 || (b && fixed)));
    for (i = 0; i < n; ++i) {
        *fixed++ = b[i].held & 7;
        if (b[i].dim == 3) *fixed++ = (unsigned char)(b[i].held >> 3 & 7);
    }
}

GAP_RIGID_API void gap_rigid_frames(const gap_rigid_body *b, const double *u, int begin, int end,
    gap_rigid_frame *frame)
{
    double R[9], d1[3][9], d2[6][9];
    int i, c, k;
    GAP_RIGID_ASSERT(begin >= 0 && begin <= end && (begin == end || (b && u && frame)));
    for (i = begin; i < end; ++i) {
        gap_rigid_frame *f = frame + i;
        int dim = b[i].dim;
        const double *ui = u + (size_t)gap_rigid_unknowns(dim) * (size_t)i;
        memset(f, 0, sizeof *f);
        for (c = 0; c < dim; ++c) f->q[c] = ui[c];
        gap_rigid__turn(dim, ui + dim, R, NULL);
        gap_rigid__mul(R, b[i].Q0, f->A);
        if (dim == 3) {
            gap_rigid_exp_derivatives(ui + 3, d1, d2);
            for (k = 0; k < 3; ++k) gap_rigid__mul(d1[k], b[i].Q0, f->d1[k]);
            for (k = 0; k < 6; ++k) gap_rigid__mul(d2[k], b[i].Q0, f->d2[k]);
        } else { /* d/dr of a plane rotation: a quarter turn more; twice: its negative */
            for (c = 0; c < 2; ++c) {
                f->d1[0][c] = -f->A[3 + c];
                f->d1[0][3 + c] = f->A[c];
                f->d2[0][c] = -f->A[c];
                f->d2[0][3 + c] = -f->A[3 + c];
            }
        }
    }
}

GAP_RIGID_API void gap_rigid_place(const gap_rigid_body *b, const double *u, int begin, int end,
    const double *X, double *x)
{
    double R[9], A[9];
    int i, k, c;
    GAP_RIGID_ASSERT(begin >= 0 && begin <= end && (begin == end || (b && X && x)));
    for (i = begin; i < end; ++i) {
        int dim = b[i].dim;
        const double *q = b[i].q;
        memcpy(A, b[i].Q, sizeof A);
        if (u) {
            q = u + (size_t)gap_rigid_unknowns(dim) * (size_t)i;
            gap_rigid__turn(dim, q + dim, R, NULL);
            gap_rigid__mul(R, b[i].Q0, A);
        }
        for (k = b[i].first; k < b[i].first + b[i].count; ++k) {
            double *xk = x + (size_t)dim * (size_t)k;
            gap_rigid__apply(dim, A, X + (size_t)dim * (size_t)k, xk);
            for (c = 0; c < dim; ++c) xk[c] += q[c];
        }
    }
}

/* -<Q, M> less its value at theta = 0: -<(exp - I) Q0, M> = -<exp - I, M Q0^T>. */
static inline double gap_rigid__energy_one(const gap_rigid_body *b, const double *u)
{
    double e = 0.0, R[9], D[9], P[9];
    int c;
    if (b->type == GAP_RIGID_STATIC_BODY) return 0.0;
    for (c = 0; c < b->dim; ++c) e += 0.5 * b->mq * (u[c] - b->tq[c]) * (u[c] - b->tq[c]);
    if (b->dim == 2) return e + 0.5 * b->mr * (u[2] - b->tr) * (u[2] - b->tr);
    gap_rigid__turn(3, u + 3, R, D);
    gap_rigid__mul_t(b->M, b->Q0, P);
    return e - gap_rigid__inner(D, P);
}

GAP_RIGID_API double gap_rigid_energy(const gap_rigid_body *b, const double *u, int begin, int end)
{
    double e = 0.0;
    int i;
    GAP_RIGID_ASSERT(begin >= 0 && begin <= end && (begin == end || (b && u)));
    for (i = begin; i < end; ++i) {
        e += gap_rigid__energy_one(b + i, u + (size_t)gap_rigid_unknowns(b[i].dim) * (size_t)i);
    }
    return e;
}

GAP_RIGID_API void gap_rigid_gradient(const gap_rigid_body *b, const double *u,
    const gap_rigid_frame *frame, int begin, int end, double *grad)
{
    int i, c;
    GAP_RIGID_ASSERT(begin >= 0 && begin <= end && (begin == end || (b && u && frame && grad)));
    for (i = begin; i < end; ++i) {
        int n = gap_rigid_unknowns(b[i].dim), dim = b[i].dim;
        const double *ui = u + (size_t)n * (size_t)i;
        memset(grad, 0, (size_t)n * sizeof *grad);
        if (b[i].type != GAP_RIGID_STATIC_BODY) {
            for (c = 0; c < dim; ++c) grad[c] = b[i].mq * (ui[c] - b[i].tq[c]);
            if (dim == 2) grad[2] = b[i].mr * (ui[2] - b[i].tr);
            for (c = 0; dim == 3 && c < 3; ++c) {
                grad[3 + c] = -gap_rigid__inner(frame[i].d1[c], b[i].M);
            }
        }
        grad += n;
    }
}

/* The 3x3 block -<R_ij, M>; raised, for it is indefinite for wires in any spin across. Negative
   eigenvalues are mirrored: the floor alone would answer them with steps of 1e4 radians. */
static inline void gap_rigid__turn_block(const gap_rigid_body *b, const gap_rigid_frame *f, int psd,
    double T[9])
{
    double J[9], scale = 1.0;
    int i, j, k = 0;
    for (i = 0; i < 3; ++i) {
        for (j = i; j < 3; ++j, ++k) {
            T[3 * i + j] = T[3 * j + i] = -gap_rigid__inner(f->d2[k], b->M);
        }
    }
    if (!psd) return;
    memcpy(J, b->J, sizeof J);
    if (b->type == GAP_RIGID_KINEMATIC) {
        gap_rigid__metric(b, J);
        scale = b->al[1];
    }
    gap_rigid__raise(3, GAP_RIGID__FLOOR * scale * (J[0] + J[4] + J[8]), 1, T);
}

GAP_RIGID_API void gap_rigid_hessian(const gap_rigid_body *b, const gap_rigid_frame *frame, int psd,
    int begin, int end, double *hess)
{
    double T[9];
    int i, j, c;
    GAP_RIGID_ASSERT(begin >= 0 && begin <= end && (begin == end || (b && frame && hess)));
    for (i = begin; i < end; ++i) {
        int n = gap_rigid_unknowns(b[i].dim);
        memset(hess, 0, (size_t)(n * n) * sizeof *hess);
        if (b[i].type != GAP_RIGID_STATIC_BODY) {
            for (c = 0; c < b[i].dim; ++c) hess[c * n + c] = b[i].mq;
            if (b[i].dim == 2) hess[8] = b[i].mr;
            else {
                gap_rigid__turn_block(b + i, frame + i, psd, T);
                for (c = 0; c < 3; ++c) {
                    for (j = 0; j < 3; ++j) hess[(3 + c) * 6 + 3 + j] = T[3 * c + j];
                }
            }
        }
        hess += n * n;
    }
}

/* ---------------------------------------------------------------- contacts
   A contact of nodes v, each of body o(v), has the Jacobian rows [ I | d1_i X_v ] in the columns of
   o(v). With g and H in node positions: gradient N^T g; Hessian N^T H N plus, in the rotations of
   each body o, <d2_ij, G_o>, G_o = sum over its nodes of g_v X_v^T. */
typedef struct gap_rigid__stencil {
    int dim, turns, n, k;    /* n: unknowns of a body, k: nodes */
    int body[2], slot[4];    /* bodies, -1: none; whose node v is */
    int live[2];             /* not static */
    const double *X[4];
    double arm[4][3][3];     /* d1_i X_v */
} gap_rigid__stencil;

static inline int gap_rigid__gather(const gap_rigid_body *b, const gap_rigid_frame *frame,
    const int *body, const double *X, const int *node, gap_rigid__stencil *s)
{
    int v, i, o;
    s->k = 0;
    s->body[0] = s->body[1] = -1;
    s->live[0] = s->live[1] = 0;
    for (v = 0; v < 4 && node[v] >= 0; ++v) {
        int own = body[node[v]];
        o = s->body[0] < 0 || s->body[0] == own ? 0 : 1;
        if (s->body[o] >= 0 && s->body[o] != own) return GAP_RIGID_EINDEX;
        if (own < 0) return GAP_RIGID_EINDEX;
        s->body[o] = own;
        s->slot[v] = o;
        s->live[o] = b[own].type != GAP_RIGID_STATIC_BODY;
        s->dim = b[own].dim;
        s->turns = gap_rigid__turns(s->dim);
        s->n = s->dim + s->turns;
        s->X[v] = X + (size_t)s->dim * (size_t)node[v];
        for (i = 0; i < s->turns; ++i) {
            gap_rigid__apply(s->dim, frame[own].d1[i], s->X[v], s->arm[v][i]);
        }
        ++s->k;
    }
    return s->k > 0 ? GAP_RIGID_OK : GAP_RIGID_EINDEX;
}

static inline void gap_rigid__pull_gradient(const gap_rigid__stencil *s, const double *g,
    double *out)
{
    int v, i, c;
    memset(out, 0, (size_t)(2 * s->n) * sizeof *out);
    for (v = 0; v < s->k; ++v) {
        double *o = out + s->slot[v] * s->n;
        if (!s->live[s->slot[v]]) continue;
        for (c = 0; c < s->dim; ++c) o[c] += g[s->dim * v + c];
        for (i = 0; i < s->turns; ++i) {
            for (c = 0; c < s->dim; ++c) o[s->dim + i] += g[s->dim * v + c] * s->arm[v][i][c];
        }
    }
}

/* Adds N_v^T H_vw N_w. */
static inline void gap_rigid__pull_block(const gap_rigid__stencil *s, int v, int w,
    const double *H, double *out)
{
    int d = s->dim, n = s->n, row = 2 * n, a, c, i;
    double T[3][6]; /* H_vw N_w */
    double *o = out + (size_t)(s->slot[v] * n * row + s->slot[w] * n);
    for (a = 0; a < d; ++a) {
        const double *h = H + (size_t)((d * v + a) * 4 * d + d * w);
        for (c = 0; c < d; ++c) T[a][c] = h[c];
        for (i = 0; i < s->turns; ++i) {
            for (T[a][d + i] = 0.0, c = 0; c < d; ++c) T[a][d + i] += h[c] * s->arm[w][i][c];
        }
    }
    for (c = 0; c < n; ++c) {
        for (a = 0; a < d; ++a) {
            o[a * row + c] += T[a][c];
            for (i = 0; i < s->turns; ++i) o[(d + i) * row + c] += s->arm[v][i][a] * T[a][c];
        }
    }
}

/* Adds <d2_ij, G_o>. */
static inline void gap_rigid__pull_bend(const gap_rigid__stencil *s, int o,
    const gap_rigid_frame *frame, const double *g, double *out)
{
    const gap_rigid_frame *f = frame + s->body[o];
    double G[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    int d = s->dim, row = 2 * s->n, at = o * s->n + d, v, i, j, k = 0;
    for (v = 0; v < s->k; ++v) {
        if (s->slot[v] != o) continue;
        for (i = 0; i < d; ++i) {
            for (j = 0; j < d; ++j) G[3 * i + j] += g[d * v + i] * s->X[v][j];
        }
    }
    for (i = 0; i < s->turns; ++i) {
        for (j = i; j < s->turns; ++j, ++k) {
            double t = gap_rigid__inner(f->d2[k], G);
            out[(at + i) * row + at + j] += t;
            if (j > i) out[(at + j) * row + at + i] += t;
        }
    }
}

/* Nearest PSD of the block of the live bodies, angles measured by radius so that all unknowns are
   lengths: the result does not depend on the unit of length. */
static inline void gap_rigid__project(const gap_rigid_body *b, const gap_rigid__stencil *s,
    double *out)
{
    double A[144], unit[12];
    int from = s->live[0] ? 0 : s->n, to = s->live[1] ? 2 * s->n : s->n, row = 2 * s->n;
    int n = to - from, i, j;
    for (i = from; i < to; ++i) {
        double r = b[s->body[i / s->n]].radius;
        unit[i - from] = i % s->n >= s->dim && r > 0.0 ? r : 1.0;
    }
    for (i = 0; i < n; ++i) {
        for (j = 0; j < n; ++j) {
            double up = out[(from + i) * row + from + j], low = out[(from + j) * row + from + i];
            A[i * n + j] = 0.5 * (up + low) / (unit[i] * unit[j]);
        }
    }
    gap_rigid__raise(n, 0.0, 0, A);
    for (i = 0; i < n; ++i) {
        for (j = 0; j < n; ++j) {
            out[(from + i) * row + from + j] = A[i * n + j] * (unit[i] * unit[j]);
        }
    }
}

GAP_RIGID_API int gap_rigid_chain(const gap_rigid_body *b, const gap_rigid_frame *frame,
    const int *body, const double *X, int count, const int *node, const double *grad,
    const double *hess, int psd, int *out_node, double *out_grad, double *out_hess)
{
    gap_rigid__stencil s;
    int i, v, w, o, status;
    GAP_RIGID_ASSERT(count >= 0 && (count == 0 || (b && frame && body && X && node && grad)));
    GAP_RIGID_ASSERT(!hess || out_hess);
    for (i = 0; i < count; ++i) {
        status = gap_rigid__gather(b, frame, body, X, node + 4 * (size_t)i, &s);
        if (status != GAP_RIGID_OK) return status;
        for (o = 0; o < 2 && out_node; ++o) {
            int id = s.live[o] ? s.body[o] : -1;
            if (s.dim == 2) *out_node++ = id;
            else {
                *out_node++ = id < 0 ? -1 : 2 * id;
                *out_node++ = id < 0 ? -1 : 2 * id + 1;
            }
        }
        if (out_grad) gap_rigid__pull_gradient(&s, grad, out_grad + (size_t)(2 * s.n) * (size_t)i);
        if (hess) {
            double *out = out_hess + (size_t)(4 * s.n * s.n) * (size_t)i;
            memset(out, 0, (size_t)(4 * s.n * s.n) * sizeof *out);
            for (v = 0; v < s.k; ++v) {
                for (w = 0; w < s.k; ++w) {
                    if (s.live[s.slot[v]] && s.live[s.slot[w]]) {
                        gap_rigid__pull_block(&s, v, w, hess, out);
                    }
                }
            }
            for (o = 0; o < 2; ++o) {
                if (s.live[o]) gap_rigid__pull_bend(&s, o, frame, grad, out);
            }
            if (psd && (s.live[0] || s.live[1])) gap_rigid__project(b, &s, out);
            hess += 16 * s.dim * s.dim;
        }
        grad += 4 * s.dim;
    }
    return GAP_RIGID_OK;
}

/* ---------------------------------------------------------------- after a minimisation */

GAP_RIGID_API double gap_rigid_limit(const gap_rigid_body *b, int n, const double *p)
{
    double most = 1.0;
    int i, c;
    GAP_RIGID_ASSERT(n >= 0 && (n == 0 || (b && p)));
    for (i = 0; i < n; ++i) {
        double sum = 0.0;
        for (c = b[i].dim; c < gap_rigid_unknowns(b[i].dim); ++c) sum += p[c] * p[c];
        if (sum > most) most = sum;
        p += gap_rigid_unknowns(b[i].dim);
    }
    return 1.0 / sqrt(most);
}

GAP_RIGID_API double gap_rigid_travel(const gap_rigid_body *b, int n, const double *X,
    const double *u, const double *p)
{
    double most = 0.0, R[9], A[9], B[9], y[3];
    int i, k, c;
    GAP_RIGID_ASSERT(n >= 0 && (n == 0 || (b && X && u && p)));
    for (i = 0; i < n; ++i) {
        int dim = b[i].dim, m = gap_rigid_unknowns(dim);
        double r[3];
        gap_rigid__turn(dim, u + dim, R, NULL);
        gap_rigid__mul(R, b[i].Q0, A);
        for (c = 0; c < m - dim; ++c) r[c] = u[dim + c] + p[dim + c];
        gap_rigid__turn(dim, r, R, NULL);
        gap_rigid__mul(R, b[i].Q0, B);
        for (c = 0; c < 9; ++c) B[c] -= A[c];
        for (k = b[i].first; k < b[i].first + b[i].count; ++k) {
            gap_rigid__apply(dim, B, X + (size_t)dim * (size_t)k, y);
            for (c = 0; c < dim; ++c) most = fabs(y[c] + p[c]) > most ? fabs(y[c] + p[c]) : most;
        }
        u += m;
        p += m;
    }
    return most;
}

/* Squared distances to the goal from u and from the start, for q and for Q (Frobenius). */
static inline void gap_rigid__away(const gap_rigid_body *b, const double *u, double now[2],
    double start[2])
{
    double R[9], A[9];
    int c;
    gap_rigid__turn(b->dim, u + b->dim, R, NULL);
    gap_rigid__mul(R, b->Q0, A);
    for (c = 0; c < b->dim; ++c) {
        now[0] += (b->goal_q[c] - u[c]) * (b->goal_q[c] - u[c]);
        start[0] += (b->goal_q[c] - b->q0[c]) * (b->goal_q[c] - b->q0[c]);
    }
    for (c = 0; c < 9; ++c) {
        now[1] += (b->goal_Q[c] - A[c]) * (b->goal_Q[c] - A[c]);
        start[1] += (b->goal_Q[c] - b->Q0[c]) * (b->goal_Q[c] - b->Q0[c]);
    }
}

static inline void gap_rigid__multiply(gap_rigid_body *b, const double *u, int which)
{
    double R[9], A[9], J[9], P[9];
    int c;
    if (which == 0) {
        for (c = 0; c < b->dim; ++c) {
            b->lambda[c] -= b->al[0] * sqrt(b->mass) * (u[c] - b->goal_q[c]);
        }
        return;
    }
    gap_rigid__metric(b, J);
    if (b->dim == 2) {
        b->Lambda[0] -= b->al[1] * (J[0] + J[4]) * (u[2] - b->goal_angle);
        return;
    }
    gap_rigid__turn(3, u + 3, R, NULL);
    gap_rigid__mul(R, b->Q0, A);
    for (c = 0; c < 9; ++c) A[c] -= b->goal_Q[c];
    gap_rigid__mul(A, J, P);
    for (c = 0; c < 9; ++c) b->Lambda[c] -= b->al[1] * P[c];
}

GAP_RIGID_API int gap_rigid_drive(gap_rigid_body *b, int n, const double *u, double eta[2])
{
    double now[2] = {0.0, 0.0}, start[2] = {0.0, 0.0}, part[2];
    size_t at = 0;
    int i, k, open = 0;
    GAP_RIGID_ASSERT(n >= 0 && (n == 0 || (b && u)));
    for (i = 0; i < n; at += (size_t)gap_rigid_unknowns(b[i].dim), ++i) {
        if (b[i].type == GAP_RIGID_KINEMATIC) gap_rigid__away(b + i, u + at, now, start);
    }
    for (k = 0; k < 2; ++k) {
        part[k] = now[k] > 0.0 ? 1.0 - sqrt(now[k] / (start[k] > 0.0 ? start[k] : 1.0)) : 1.0;
        if (start[k] == 0.0 && now[k] < 1e-24) part[k] = 1.0; /* rounding of a goal at the start */
        if (eta) eta[k] = part[k];
    }
    for (at = 0, i = 0; i < n; at += (size_t)gap_rigid_unknowns(b[i].dim), ++i) {
        if (b[i].type != GAP_RIGID_KINEMATIC) continue;
        for (k = 0; k < 2; ++k) {
            int mask = k == 0 ? (b[i].dim == 3 ? 7 : 3) : (b[i].dim == 3 ? 56 : 4);
            if ((b[i].held & mask) == mask) continue;
            if (part[k] >= GAP_RIGID__AL_DONE) {
                b[i].held = (unsigned char)(b[i].held | mask);
                continue;
            }
            open = 1;
            if (part[k] < GAP_RIGID__AL_NEAR && b[i].al[k] < GAP_RIGID__AL_LAST) b[i].al[k] *= 2.0;
            else gap_rigid__multiply(b + i, u + at, k);
        }
        gap_rigid__pull(b + i);
    }
    return open;
}

static inline void gap_rigid__end_one(gap_rigid_body *b, const double *u)
{
    double R[9], t[3];
    int c, moving = b->type == GAP_RIGID_DYNAMIC;
    if (b->type == GAP_RIGID_STATIC_BODY) return;
    for (c = 0; c < b->dim; ++c) {
        if (moving) b->v[c] = (u[c] - b->q0[c]) / b->h;
        b->q[c] = u[c];
    }
    gap_rigid__turn(b->dim, u + b->dim, R, NULL);
    gap_rigid__mul(R, b->Q0, b->Q);
    gap_rigid__polish(b->Q);
    if (!moving) return;
    for (c = 0; c < 9; ++c) b->Qdot[c] = (b->Q[c] - b->Q0[c]) / b->h;
    if (b->dim == 2) {
        b->w[2] = u[2] / b->h;
        return;
    }
    gap_rigid_log(R, t);
    for (c = 0; c < 3; ++c) b->w[c] = t[c] / b->h;
}

GAP_RIGID_API void gap_rigid_end(gap_rigid_body *b, int n, const double *u)
{
    int i;
    GAP_RIGID_ASSERT(n >= 0 && (n == 0 || (b && u)));
    for (i = 0; i < n; ++i) {
        gap_rigid__end_one(b + i, u);
        u += gap_rigid_unknowns(b[i].dim);
    }
}

/* ---------------------------------------------------------------- reports */

GAP_RIGID_API double gap_rigid_kinetic(const gap_rigid_body *b)
{
    double P[9], e = 0.5 * b->mass * gap_rigid__square(b->v);
    if (b->type != GAP_RIGID_DYNAMIC) return 0.0;
    if (b->dim == 2) return e + 0.5 * (b->J[0] + b->J[4]) * b->w[2] * b->w[2];
    gap_rigid__mul(b->Qdot, b->J, P);
    return e + 0.5 * gap_rigid__inner(P, b->Qdot);
}

/* Spin: integral of (Q X) x (Qdot X) = 2 axial(W), W = Qdot J Q^T. */
GAP_RIGID_API void gap_rigid_momentum(const gap_rigid_body *b, double p[3], double L[3])
{
    double P[9], W[9], s[3] = {0.0, 0.0, 0.0};
    int c;
    for (c = 0; c < 3; ++c) p[c] = L[c] = 0.0;
    if (b->type != GAP_RIGID_DYNAMIC) return;
    for (c = 0; c < 3; ++c) p[c] = b->mass * b->v[c];
    if (b->dim == 2) {
        s[2] = 0.5 * (b->J[0] + b->J[4]) * b->w[2];
    } else {
        gap_rigid__mul(b->Qdot, b->J, P);
        gap_rigid__mul_t(P, b->Q, W);
        gap_rigid__axial(W, s);
    }
    for (c = 0; c < 3; ++c) {
        int i = (c + 1) % 3, j = (c + 2) % 3;
        L[c] = b->q[i] * p[j] - b->q[j] * p[i] + 2.0 * s[c];
    }
}

GAP_RIGID_API double gap_rigid_mean_mass(const gap_rigid_body *b, int n, double length)
{
    double sum = 0.0, P[9], W[9];
    int i, c, free_count = 0;
    for (i = 0; i < n; ++i) {
        double tr = b[i].J[0] + b[i].J[4] + b[i].J[8];
        if (b[i].type == GAP_RIGID_STATIC_BODY) continue;
        gap_rigid__mul(b[i].Q, b[i].J, P);
        gap_rigid__mul_t(P, b[i].Q, W);
        for (c = 0; c < gap_rigid_unknowns(b[i].dim); ++c) {
            if (b[i].fixed >> c & 1) continue;
            if (c >= b[i].dim && gap_rigid__is_point(b + i)) continue;
            sum += c < b[i].dim ? b[i].mass
                : (b[i].dim == 2 ? tr : tr - W[4 * (c - 3)]) / (length * length);
            ++free_count;
        }
    }
    return free_count > 0 ? sum / free_count : 1.0;
}
#endif /* GAP_RIGID_IMPLEMENTATION */
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
