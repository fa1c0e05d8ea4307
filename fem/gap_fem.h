/* gap_fem.h - v0.1.0 - elastic simplex elements of order 1 to 4, curved too - MIT-0, see end
   Energy, gradient and Hessian blocks, mass, loads, and a step that inverts no element, for meshes
   of triangles or tetrahedra with geometry of order q and displacements of order p, both 1 to 4.
QUICK START
   #define GAP_FEM_IMPLEMENTATION        // in exactly one .c or .cpp file
   #include "gap_fem.h"
   #include <stdio.h>
   int main(void)
   {
       double X[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, x[12], E, g[12];
       int tet[4] = {0, 1, 2, 3}, i;
       gap_fem f;
       gap_fem_init(&f, 3, 1, 1, 4, X, 1, tet, NULL);
       gap_fem_uniform(&f, 1e5, 0.3, 1000);                    // E in Pa, nu, density in kg/m^3
       for (i = 0; i < 12; ++i) x[i] = X[i] * (i % 3 ? 1.0 : 1.2);
       gap_fem_energy(&f, x, 0, 1, &E);
       gap_fem_gradient(&f, x, 0, 1, g);
       printf("E %.4f J, force %.2f N\n", E, g[3]); // E 401.3417 J, force 3811.34 N
       gap_fem_free(&f);
       return 0;
   }
GUARANTEES
   Rest      x = rest gives energy 0 and gradient 0 exactly.
   Step      along x + t d, 0 <= t <= the returned step, det of every element's map stays positive
             at all points, not only quadrature points (bounds include rounding; see METHOD).
   Valid     VALID is certified at all points; INVERTED has a witness; UNDECIDED only where the
             smallest det is below 1e-3 of the largest one in the element, or lost in rounding.
   Bits      a block does not depend on the range it is asked in, nor on the vector width.
   Not       no contact, no friction, no plasticity. High order inverts between quadrature points
             without an infinite energy: use gap_fem_step.
OPTIONS (define before the implementation)
   GAP_FEM_STATIC     keep all functions private to this file
   GAP_FEM_SCALAR     no vector types
   GAP_FEM_ASSERT(x)  replaces assert(x)
EDGE CASES
   rest element with det <= 0 at a quadrature point: EREST, f.bad = element. A face with three
   elements: EINPUT. Index out of range: EINDEX. NaN in X: ENONFIN. Nodes that no element uses:
   f.unused counts them; gap_fem_fix_unused marks them. Inverted or NaN x: energy +inf, INVERTED.
METHOD
   F = I + grad u; nodes in Gmsh order (gap_basis.h). The stress is integrated in reference
   coordinates: an element stores its inverse Jacobian (per point if curved), the gradients are
   shared. psd = 1 clamps the eigenvalues of dP/dF at each point in closed form: W^T H W of PSD
   matrices, not the nearest matrix in nodal coordinates; it needs no eigen-solver.
   Validity: det of the map has degree dim(r-1), r = max(p, q). Its Bernstein coefficients are
   products of those of its columns, computed without sampling; positive ones prove positivity,
   corners refute it, in between the element is bisected. Steps: the same with t as one more
   variable. P1: the cubic of specs 8.5, to a fifth of the present volume.
NOT HERE   sparse matrix: gap_sparse.h.  materials: gap_elastic.h.  contact surface: gap_proxy.h.
HISTORY    0.1.0 first release */
#ifndef GAP_FEM_H
#define GAP_FEM_H
#define GAP_FEM_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_FEM_STATIC
#define GAP_FEM_API static inline
#else
#define GAP_FEM_API extern
#endif
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_fem_status {
    GAP_FEM_OK = 0,
    GAP_FEM_INVERTED = 1,  /* an element is inverted (energy +inf) */
    GAP_FEM_UNDECIDED = 2, /* too flat to tell: treat as inverted */
    GAP_FEM_ENONFIN = -1,
    GAP_FEM_ENOMEM = -2,
    GAP_FEM_EINDEX = -3,
    GAP_FEM_ESIZE = -4,
    GAP_FEM_EINPUT = -6,
    GAP_FEM_EREST = -16    /* rest element is inverted or flat; f->bad names it */
} gap_fem_status;

typedef void *(*gap_fem_realloc)(void *user, void *p, size_t old_size, size_t new_size);

/* A material (gap_elastic.h has some): count points, F and P dim*dim row by row, dPdF its square,
   par 4 per point; outputs may be NULL. Returns 0, or 1 + the first point with infinite psi. */
typedef int (*gap_fem_material)(void *user, int rows, int cols, int count, const double *F,
    const double *par, int psd, double *psi, double *P, double *dPdF);

typedef struct gap_fem_options {
    gap_fem_material material; /* NULL: neo-Hookean */
    void *material_user;
    int degree;                /* of the energy's quadrature; 0: 2p (P1: 1), curved + dim(q-1) */
    int mass_degree;           /* of mass and loads; 0: 2p + dim(q-1), exact */
    int rule_count;            /* > 0: your own rule for the energy, in place of degree: */
    const double *rule_xi;     /*   dim per point, reference coordinates */
    const double *rule_w;      /*   weights, sum 1/dim! */
    gap_fem_realloc realloc_fn; /* NULL: libc */
    void *realloc_user;
} gap_fem_options;

/* Read all of it; write only par and density. */
typedef struct gap_fem {
    int dim, order, geometry;   /* 2 or 3; p; q */
    int elements, per_element;  /* count; displacement nodes each */
    int nodes, unused;          /* displacement nodes; those that no element uses */
    int facets, per_facet;      /* boundary facets; displacement nodes each */
    int edges;                  /* edges of the boundary (2D: 0) */
    int bad;                    /* what the last error of init was about: element or node, or -1 */
    int *node;                  /* per_element each, Gmsh order */
    double *rest;               /* dim per node */
    double *par;                /* 4 per element: lambda, mu (Pa), two for the material */
    double *density;            /* 1 per element, kg/m^3 */
    int *facet;                 /* 2 each: element and its face, ascending */
    int *facet_node;            /* per_facet each: first the vertices, outward, then Gmsh order */
    int *edge;                  /* 2 each: vertices, ascending */
    int *neighbor;              /* dim+1 per element: the element behind face k, or -1 */
    int points, mass_points;    /* quadrature points of energy and of mass */
    double *xi, *w, *mass_xi, *mass_w;
    /* private */
    gap_fem_options opt;
    int geo_nodes, geo_per_element, geo_points, *geo_node, *index_p, *index_q, map_order;
    double *geo_x, *geo, *dphi, *dphi_t, *ctrl_u, *ctrl_x, ctrl_norm, w_sum;
    void *mem[32];
    size_t mem_size[32];
    int mems;
} gap_fem;

/* Build elements of displacement order p on a mesh of geometry order q.
   dim       2 (triangles) or 3 (tetrahedra)
   order     p, 1 to 4      geometry  q, 1 to 4
   nodes     geometry nodes; X dim each, rest positions
   elements  count; elem their geometry nodes in Gmsh order (3 6 10 15 or 4 10 20 35 each)
   opt       may be NULL
   Arrays are copied. If p = q the displacement nodes are the geometry nodes, same numbers; else
   vertices come first, ascending, then the others as elements meet them. par is that of E = 1,
   nu = 0.3, density 1 until it is set. On error f holds nothing (but bad). */
GAP_FEM_API int gap_fem_init(gap_fem *f, int dim, int order, int geometry, int nodes,
    const double *X, int elements, const int *elem, const gap_fem_options *opt);

/* Give all memory back. Also after a failed init. */
GAP_FEM_API void gap_fem_free(gap_fem *f);

/* One material for all elements: Young's modulus (Pa), Poisson's ratio, density (kg/m^3; 2D: per
   area). 2D is plane strain; for another lambda write f->par. */
GAP_FEM_API void gap_fem_uniform(gap_fem *f, double E, double nu, double density);

/* Turn elements of negative orientation (of their corners) around, in place, before init.
   Returns how many were turned, or EINPUT. */
GAP_FEM_API int gap_fem_orient(int dim, int geometry, const double *X, int elements, int *elem);

/* Set all bits of unused nodes in fixed (nodes values): they have no stiffness. */
GAP_FEM_API void gap_fem_fix_unused(const gap_fem *f, unsigned char *fixed);

/* Elastic energy (J) of elements begin..end-1 at positions x (dim per node).
   Returns OK, or INVERTED and energy +inf. */
GAP_FEM_API int gap_fem_energy(const gap_fem *f, const double *x, int begin, int end,
    double *energy);

/* Its gradient: per_element*dim values per element, from block[0] on, for f->node. The blocks of
   points with infinite energy are left out, and the result is INVERTED. */
GAP_FEM_API int gap_fem_gradient(const gap_fem *f, const double *x, int begin, int end,
    double *block);

/* Its Hessian: (per_element*dim)^2 values per element, row by row.  psd 0: as it is; 1: positive
   semi-definite, by clamping dP/dF at each quadrature point. */
GAP_FEM_API int gap_fem_hessian(const gap_fem *f, const double *x, int begin, int end, int psd,
    double *block);

/* Consistent mass, blocks as those of the Hessian (kg). */
GAP_FEM_API void gap_fem_mass(const gap_fem *f, int begin, int end, double *block);

/* Lumped mass, 1 per node (kg), positive: row sums for p = 1, otherwise the diagonal scaled to the
   element's mass (Hinton, Rock, Zienkiewicz). Sums to the total mass. */
GAP_FEM_API void gap_fem_mass_lumped(const gap_fem *f, double *mass);

/* Forces (N) of an acceleration g (dim values, m/s^2): per_element*dim values per element. */
GAP_FEM_API void gap_fem_body_force(const gap_fem *f, const double *g, int begin, int end,
    double *block);

/* Forces (N) of tractions on the rest surface, facets begin..end-1.
   t  dim per facet, counted from facet 0 (Pa);  block  per_facet*dim per facet, for facet_node */
GAP_FEM_API void gap_fem_traction(const gap_fem *f, const double *t, int begin, int end,
    double *block);

/* Pressure on the deformed surface, as the potential p V, V = sum over facets of 1/dim int x.n dA:
   the sum over a closed surface (or one whose rim is fixed) is the follower load -p n.
   p  1 per facet, counted from facet 0 (Pa).  energy (sum), gradient and hessian (raw, facet
   blocks of per_facet*dim) may each be NULL. */
GAP_FEM_API void gap_fem_pressure(const gap_fem *f, const double *x, const double *p, int begin,
    int end, double *energy, double *gradient, double *hessian);

/* Fields at reference points, the same count for each element begin..end-1; outputs may be NULL.
   xi     dim per point
   pos    dim: deformed position     F  dim*dim     J  1: det F     stress  dim*dim: Cauchy (Pa)
   Strain is (F^T F - I)/2. Returns OK or INVERTED (some J <= 0). */
GAP_FEM_API int gap_fem_probe(const gap_fem *f, const double *x, int begin, int end, int count,
    const double *xi, double *pos, double *F, double *J, double *stress);

/* Is the map of every element positive at all points?
   x       positions, or NULL: the rest mesh
   status  1 per element (OK, INVERTED or UNDECIDED), or NULL
   bad     the first element that is not OK, or -1; may be NULL
   Returns that element's status. */
GAP_FEM_API int gap_fem_valid(const gap_fem *f, const double *x, int begin, int end, int *status,
    int *bad);

/* Largest step t <= t_max along x + t d that keeps elements begin..end-1 positive at all points.
   P1: to where the first volume has fallen to a fifth. p or q > 1: certified, to within 7 % of
   where det comes down to a tenth of its smallest Bernstein coefficient at x.
   Returns OK; INVERTED (or UNDECIDED) and 0 if x itself is not valid; ENONFIN and 0. */
GAP_FEM_API int gap_fem_step(const gap_fem *f, const double *x, const double *d, int begin, int end,
    double t_max, double *t);

#ifdef __cplusplus
}
#endif
#endif /* GAP_FEM_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_FEM_STATIC)) && !defined(GAP_FEM_IMPLEMENTATION)
#define GAP_FEM_IMPLEMENTATION
#endif
#if defined(GAP_FEM_IMPLEMENTATION) && !defined(GAP_FEM_IMPLEMENTED)
#define GAP_FEM_IMPLEMENTED
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifndef GAP_FEM_ASSERT
#include <assert.h>
#define GAP_FEM_ASSERT(x) assert(x)
#endif
#ifdef GAP_FEM_SCALAR
#define GAP_FEM__SCALAR
#endif

/* [block lagrange from gap_basis.h] Lagrange simplices */
static inline int gap_fem__count(int dim, int order)
{
    int n = order + 1;

    if (dim == 1) return n;
    if (dim == 2) return n * (order + 2) / 2;
    return n * (order + 2) * (order + 3) / 6;
}

/* Appends one multi-index base + a e_i + b e_j (dim + 1 slots) and returns the new end. */
static inline int *gap_fem__emit(int *out, int dim, const int base[4], int a, int i, int b, int j)
{
    int k;

    for (k = 0; k <= dim; ++k) out[k] = base[k];
    out[i] += a;
    out[j] += b;
    return out + dim + 1;
}

/* The inner nodes of the edge i-j of a simplex of this order, from i to j. */
static inline int *gap_fem__edge(int *out, int dim, int order, const int base[4], int i, int j)
{
    int k;

    for (k = 1; k < order; ++k) out = gap_fem__emit(out, dim, base, order - k, i, k, j);
    return out;
}

/* A triangle on the slots v: vertices, edges, then the inner triangle of order - 3. */
static inline int *gap_fem__tri(int *out, int dim, int order, const int base[4], const int v[3])
{
    int b[4] = {0, 0, 0, 0}, k;

    for (k = 0; k <= dim; ++k) b[k] = base[k];
    for (; order > 0; order -= 3) {
        for (k = 0; k < 3; ++k) out = gap_fem__emit(out, dim, b, order, v[k], 0, v[k]);
        for (k = 0; k < 3; ++k) out = gap_fem__edge(out, dim, order, b, v[k], v[(k + 1) % 3]);
        for (k = 0; k < 3; ++k) b[v[k]] += 1;
    }
    return order == 0 ? gap_fem__emit(out, dim, b, 0, 0, 0, 0) : out;
}

/* A tetrahedron: vertices, edges, faces, then the inner tetrahedron of order - 4. */
static inline int *gap_fem__tet(int *out, int order, int vtk)
{
    static const int edge[2][6][2] = {{{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 2}, {3, 1}},
        {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
    static const int face[2][4][3] = {{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {3, 1, 2}},
        {{0, 1, 3}, {2, 3, 1}, {0, 3, 2}, {0, 2, 1}}};
    int b[4] = {0, 0, 0, 0}, in[4], k, j;

    for (; order > 0; order -= 4) {
        for (k = 0; k < 4; ++k) out = gap_fem__emit(out, 3, b, order, k, 0, k);
        for (k = 0; k < 6; ++k)
            out = gap_fem__edge(out, 3, order, b, edge[vtk][k][0], edge[vtk][k][1]);
        for (k = 0; k < 4 && order > 2; ++k) {
            for (j = 0; j < 4; ++j) in[j] = b[j];
            for (j = 0; j < 3; ++j) in[face[vtk][k][j]] += 1;
            out = gap_fem__tri(out, 3, order - 3, in, face[vtk][k]);
        }
        for (k = 0; k < 4; ++k) b[k] += 1;
    }
    return order == 0 ? gap_fem__emit(out, 3, b, 0, 0, 0, 0) : out;
}

/* All multi-indices in Gmsh's (vtk = 0) or VTK's (vtk = 1) order. */
static inline void gap_fem__lattice(int dim, int order, int vtk, int *index)
{
    static const int zero[4] = {0, 0, 0, 0}, v[3] = {0, 1, 2};

    if (dim == 1) {
        index = gap_fem__emit(index, 1, zero, order, 0, 0, 0);
        index = gap_fem__emit(index, 1, zero, order, 1, 0, 0);
        gap_fem__edge(index, 1, order, zero, 0, 1);
    } else if (dim == 2) {
        gap_fem__tri(index, 2, order, zero, v);
    } else {
        gap_fem__tet(index, order, vtk);
    }
}

/* Values (or NULL) and reference gradients (or NULL) of all functions at one point.
   f[k][n], d[k][n] = N_n and N_n' at the barycentric coordinate L_k, by the product rule. */
static inline void gap_fem__eval(int dim, int order, const int *index, const double *xi,
    double *phi, double *dphi)
{
    double f[4][9], d[4][9], l, g[4], v;
    int n = gap_fem__count(dim, order), a, j, k, m;

    for (k = 0; k <= dim; ++k) {
        if (k) l = xi[k - 1];
        else for (l = 1.0, j = 0; j < dim; ++j) l -= xi[j];
        f[k][0] = 1.0;
        d[k][0] = 0.0;
        for (m = 0; m < order; ++m) {
            v = (order * l - m) / (m + 1);
            f[k][m + 1] = f[k][m] * v;
            d[k][m + 1] = d[k][m] * v + f[k][m] * order / (m + 1);
        }
    }
    for (a = 0; a < n; ++a, index += dim + 1) {
        if (phi) {
            for (v = 1.0, k = 0; k <= dim; ++k) v *= f[k][index[k]];
            phi[a] = v;
        }
        if (!dphi) continue;
        for (k = 0; k <= dim; ++k) {
            g[k] = d[k][index[k]];
            for (j = 0; j <= dim; ++j)
                if (j != k) g[k] *= f[j][index[j]];
        }
        for (j = 0; j < dim; ++j) dphi[a * dim + j] = g[j + 1] - g[0];
    }
}
/* [end lagrange] */

/* [block gauss from gap_basis.h] Gauss-Jacobi points and positive rules on simplices */

/* Jacobi polynomial P_n^(alpha,0) and its derivative at x by the three-term recurrence. */
static inline void gap_fem__jacobi(int n, int alpha, double x, double *p, double *dp)
{
    double p0 = 1.0, p1 = alpha + 1 + 0.5 * (alpha + 2) * (x - 1.0), d0 = 0.0, q, d;
    double d1 = 0.5 * (alpha + 2), a, b, c, e;
    int k;

    for (k = 2; k <= n; ++k) {
        a = 2.0 * k * (k + alpha) * (2 * k + alpha - 2);
        b = (2.0 * k + alpha - 1) * (2 * k + alpha) * (2 * k + alpha - 2);
        c = (2.0 * k + alpha - 1) * alpha * alpha;
        e = 2.0 * (k + alpha - 1) * (k - 1) * (2 * k + alpha);
        q = ((b * x + c) * p1 - e * p0) / a;
        d = ((b * x + c) * d1 + b * p1 - e * d0) / a;
        p0 = p1; p1 = q;
        d0 = d1; d1 = d;
    }
    *p = p1;
    *dp = d1;
}

/* n points t in (0,1), ascending, and weights for the integral of (1-t)^alpha f(t): degree 2n-1.
   Newton from Chebyshev's points with the roots already found divided out, which cannot find one
   root twice. For beta = 0 the weight is 1/((1 - x^2) P'(x)^2) on this interval. */
static inline void gap_fem__gauss(int n, int alpha, double *t, double *w)
{
    double x, p, d, s, step;
    int i, j, it;

    for (i = 0; i < n; ++i) {
        x = -cos(3.14159265358979323846 * (i + 0.75) / (n + 0.5 + 0.5 * alpha));
        for (it = 0; it < 60; ++it) {
            gap_fem__jacobi(n, alpha, x, &p, &d);
            for (s = 0.0, j = 0; j < i; ++j) s += 1.0 / (x - (2.0 * t[j] - 1.0));
            step = p / (d - s * p);
            x -= step;
            if (fabs(step) < 1e-16) break;
        }
        gap_fem__jacobi(n, alpha, x, &p, &d);
        x -= p / d;
        gap_fem__jacobi(n, alpha, x, &p, &d);
        t[i] = 0.5 * (1.0 + x);
        w[i] = 1.0 / ((1.0 - x * x) * d * d);
    }
}

/* Product rule through (a, b(1-a), c(1-a)(1-b)). jacobi = 1 puts the powers of 1-a and 1-b into the
   weight (degree 2n-1), jacobi = 0 multiplies by them (degree 2n-dim). n <= 64. */
static inline void gap_fem__product(int dim, int n, int jacobi, double *xi, double *w)
{
    double t[3][64], u[3][64], a, b, c, wt;
    int i, j, k, nj = dim > 1 ? n : 1, nk = dim > 2 ? n : 1;

    for (k = 0; k < dim; ++k) gap_fem__gauss(n, jacobi ? dim - 1 - k : 0, t[k], u[k]);
    for (i = 0; i < n; ++i) {
        for (j = 0; j < nj; ++j) {
            for (k = 0; k < nk; ++k) {
                a = t[0][i];
                wt = u[0][i];
                *xi++ = a;
                if (dim > 1) {
                    b = t[1][j];
                    wt *= u[1][j] * (jacobi ? 1.0 : dim == 2 ? 1.0 - a : (1.0 - a) * (1.0 - a));
                    *xi++ = b * (1.0 - a);
                    if (dim > 2) {
                        c = t[2][k];
                        wt *= u[2][k] * (jacobi ? 1.0 : 1.0 - b);
                        *xi++ = c * (1.0 - a) * (1.0 - b);
                    }
                }
                *w++ = wt;
            }
        }
    }
}

/* One orbit of a symmetric rule: the points whose barycentric coordinate k (k and l, if pair) is b
   and all others a. Returns the number of points written. */
static inline int gap_fem__orbit(int dim, double a, double b, int pair, double wt, double *xi,
    double *w)
{
    int n = 0, j, k, l;

    for (k = 0; k <= dim; ++k) {
        for (l = pair ? k + 1 : k; l <= (pair ? dim : k); ++l) {
            for (j = 1; j <= dim; ++j) xi[n * dim + j - 1] = j == k || j == l ? b : a;
            w[n++] = wt;
        }
    }
    return n;
}

/* The default rule: count with xi = NULL, otherwise also the points. degree <= 127. */
static inline int gap_fem__rule(int dim, int degree, double *xi, double *w)
{
    const double r15 = sqrt(15.0), measure = dim == 1 ? 1.0 : dim == 2 ? 0.5 : 1.0 / 6.0;
    const double center = 1.0 / (dim + 1);
    int n = degree / 2 + 1, m = 0;

    if (dim == 1 || degree == 3 || degree > 5) {
        if (xi) gap_fem__product(dim, n, 1, xi, w);
        return dim == 1 ? n : dim == 2 ? n * n : n * n * n;
    }
    if (!xi) return degree < 2 ? 1 : degree == 2 ? dim + 1 : dim == 2 ? 7 : 15;
    if (degree == 2) {
        double a = dim == 2 ? 1.0 / 6.0 : (5.0 - sqrt(5.0)) / 20.0;
        return gap_fem__orbit(dim, a, 1.0 - dim * a, 0, measure / (dim + 1), xi, w);
    }
    for (m = 0; m < dim; ++m) xi[m] = center;
    w[0] = degree < 2 ? measure : dim == 2 ? 9.0 / 80.0 : 16.0 / 135.0 * measure;
    if (degree < 2) return 1;
    for (m = 1, n = -1; n <= 1; n += 2) {
        double r = n * r15, a = dim == 2 ? (6.0 + r) / 21.0 : (7.0 + r) / 34.0;
        double wt = dim == 2 ? (155.0 + r) / 2400.0 : (2665.0 - 14.0 * r) / 226800.0;
        m += gap_fem__orbit(dim, a, 1.0 - dim * a, 0, wt, xi + m * dim, w + m);
    }
    if (dim == 3) {
        m += gap_fem__orbit(3, 0.25 - r15 / 20.0, 0.25 + r15 / 20.0, 1, 10.0 / 1134.0,
            xi + m * dim, w + m);
    }
    return m;
}
/* [end gauss] */

/* [block lanes from gap_elastic.h] vectors across points, stretches, small PSD projection */

/* w holds one double of each of LANES points, k a mask. The width follows the compiler's target;
   every lane does the same IEEE operations, so results do not depend on it. */
#ifdef __GNUC__
#define GAP_FEM__INLINE static inline __attribute__((always_inline))
#else
#define GAP_FEM__INLINE static inline
#endif
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define GAP_FEM__UNROLL _Pragma("GCC unroll 16")
#else
#define GAP_FEM__UNROLL
#endif
#if defined(__GNUC__) && !defined(GAP_FEM__SCALAR) \
    && (defined(__SSE2__) || defined(__ARM_NEON))
#ifdef __AVX__
#define GAP_FEM__LANES 4
#else
#define GAP_FEM__LANES 2
#endif
typedef double gap_fem__w __attribute__((vector_size(8 * GAP_FEM__LANES)));
typedef long long gap_fem__k __attribute__((vector_size(8 * GAP_FEM__LANES)));
#define GAP_FEM__AT(v, l) ((v)[l])
#if defined(__SSE2__) && !defined(__clang__) && __GNUC__ < 14
/* gcc 12 at -O1 folds comparisons into selections that it then cannot expand (internal error in
   gimple_expand_vec_cond_expr); an empty asm hides where the mask comes from. */
GAP_FEM__INLINE gap_fem__k gap_fem__mask(gap_fem__k m)
{
    __asm__("" : "+x"(m));
    return m;
}
#define GAP_FEM__MASK(c) gap_fem__mask((gap_fem__k)(c))
#else
#define GAP_FEM__MASK(c) ((gap_fem__k)(c))
#endif
#define GAP_FEM__PICK(m, a, b) \
    ((gap_fem__w)(((gap_fem__k)(a) & (m)) | ((gap_fem__k)(b) & ~(m))))
#else
#define GAP_FEM__LANES 1
typedef double gap_fem__w;
typedef long long gap_fem__k;
#define GAP_FEM__AT(v, l) (*((void)(l), &(v)))
#define GAP_FEM__MASK(c) ((gap_fem__k)(c))
#define GAP_FEM__PICK(m, a, b) ((m) ? (a) : (b))
#endif

/* v = entry i of each lane's array. */
GAP_FEM__INLINE void gap_fem__get(const double *const *p, int i, gap_fem__w *v)
{
#if GAP_FEM__LANES == 4
    gap_fem__w t = {p[0][i], p[1][i], p[2][i], p[3][i]};
#elif GAP_FEM__LANES == 2
    gap_fem__w t = {p[0][i], p[1][i]};
#else
    gap_fem__w t = p[0][i];
#endif
    *v = t;
}

GAP_FEM__INLINE void gap_fem__put(const gap_fem__w *v, double *const *p, int i)
{
    p[0][i] = GAP_FEM__AT(*v, 0);
#if GAP_FEM__LANES > 1
    p[1][i] = GAP_FEM__AT(*v, 1);
#endif
#if GAP_FEM__LANES > 2
    p[2][i] = GAP_FEM__AT(*v, 2);
    p[3][i] = GAP_FEM__AT(*v, 3);
#endif
}

GAP_FEM__INLINE void gap_fem__fill(gap_fem__w *v, double c)
{
#if GAP_FEM__LANES == 4
    gap_fem__w t = {c, c, c, c};
#elif GAP_FEM__LANES == 2
    gap_fem__w t = {c, c};
#else
    gap_fem__w t = c;
#endif
    *v = t;
}

GAP_FEM__INLINE int gap_fem__any(const gap_fem__k *m)
{
    long long r = GAP_FEM__AT(*m, 0);
    int l;

    GAP_FEM__UNROLL
    for (l = 1; l < GAP_FEM__LANES; ++l) r |= GAP_FEM__AT(*m, l);
    return r != 0;
}

GAP_FEM__INLINE void gap_fem__sqrt(const gap_fem__w *a, gap_fem__w *r)
{
#if GAP_FEM__LANES == 4 && !defined(__clang__)
    *r = __builtin_ia32_sqrtpd256(*a);
#elif GAP_FEM__LANES == 2 && defined(__SSE2__) && !defined(__clang__)
    *r = __builtin_ia32_sqrtpd(*a);
#else
    int l;

    for (l = 0; l < GAP_FEM__LANES; ++l) GAP_FEM__AT(*r, l) = sqrt(GAP_FEM__AT(*a, l));
#endif
}

/* One-sided Jacobi: B (rows x cols, in: F) becomes F V with orthogonal columns, V a rotation.
   A pair is rotated while |b_p . b_q| > 2^-52 |b_p||b_q|, lane by lane, so that a lane's result
   does not depend on its neighbours. Singular values come out with relative precision. */
GAP_FEM__INLINE void gap_fem__svd(int rows, int cols, gap_fem__w *B, gap_fem__w *V)
{
    gap_fem__w al, be, ga, d, t, c, s, u, v;
    gap_fem__k turn, some;
    int sweep, p, q, i;

    GAP_FEM__UNROLL
    for (i = 0; i < cols * cols; ++i) gap_fem__fill(V + i, i % (cols + 1) == 0 ? 1.0 : 0.0);
    for (sweep = 0; sweep < 16; ++sweep) {
        memset(&some, 0, sizeof some);
        GAP_FEM__UNROLL
        for (p = 0; p < cols - 1; ++p) {
            GAP_FEM__UNROLL
            for (q = p + 1; q < cols; ++q) {
                al = B[p] * B[p] + B[cols + p] * B[cols + p];
                be = B[q] * B[q] + B[cols + q] * B[cols + q];
                ga = B[p] * B[q] + B[cols + p] * B[cols + q];
                if (rows == 3) {
                    al = al + B[2 * cols + p] * B[2 * cols + p];
                    be = be + B[2 * cols + q] * B[2 * cols + q];
                    ga = ga + B[2 * cols + p] * B[2 * cols + q];
                }
                turn = GAP_FEM__MASK(ga * ga > 4.9e-32 * (al * be));
                if (!gap_fem__any(&turn)) continue;
                some = some | turn;
                d = be - al;
                u = d * d + 4.0 * (ga * ga);
                gap_fem__sqrt(&u, &u);
                u = GAP_FEM__PICK(GAP_FEM__MASK(d < 0.0), d - u, d + u);
                gap_fem__fill(&v, 1.0);
                t = GAP_FEM__PICK(turn, (ga + ga) / GAP_FEM__PICK(turn, u, v), v - v);
                u = t * t + 1.0;
                gap_fem__sqrt(&u, &u);
                c = 1.0 / u;
                s = c * t;
                GAP_FEM__UNROLL
                for (i = 0; i < rows; ++i) {
                    u = B[i * cols + p];
                    v = B[i * cols + q];
                    B[i * cols + p] = c * u - s * v;
                    B[i * cols + q] = s * u + c * v;
                }
                GAP_FEM__UNROLL
                for (i = 0; i < cols; ++i) {
                    u = V[i * cols + p];
                    v = V[i * cols + q];
                    V[i * cols + p] = c * u - s * v;
                    V[i * cols + q] = s * u + c * v;
                }
            }
        }
        if (!gap_fem__any(&some)) break;
    }
}

/* Nearest PSD matrix of a symmetric n x n (2 or 3) by Jacobi: S = Q L Q^T -> Q max(L,0) Q^T.
   Lanes without a negative eigenvalue keep S as it is. */
GAP_FEM__INLINE void gap_fem__clamp(int n, gap_fem__w *S)
{
    gap_fem__w Q[9], A[9], d, t, c, s, u, v, norm, zero;
    gap_fem__k turn, some, neg;
    int sweep, p, q, i, j;

    gap_fem__fill(&zero, 0.0);
    GAP_FEM__UNROLL
    for (norm = zero, i = 0; i < n * n; ++i) {
        A[i] = S[i];
        norm = norm + S[i] * S[i];
        gap_fem__fill(Q + i, i % (n + 1) == 0 ? 1.0 : 0.0);
    }
    for (sweep = 0; sweep < 16; ++sweep) {
        memset(&some, 0, sizeof some);
        GAP_FEM__UNROLL
        for (p = 0; p < n - 1; ++p) {
            GAP_FEM__UNROLL
            for (q = p + 1; q < n; ++q) {
                turn = GAP_FEM__MASK(A[p * n + q] * A[p * n + q] > 1e-33 * norm);
                if (!gap_fem__any(&turn)) continue;
                some = some | turn;
                d = A[q * n + q] - A[p * n + p];
                u = d * d + 4.0 * (A[p * n + q] * A[p * n + q]);
                gap_fem__sqrt(&u, &u);
                u = GAP_FEM__PICK(GAP_FEM__MASK(d < 0.0), d - u, d + u);
                gap_fem__fill(&v, 1.0);
                u = GAP_FEM__PICK(turn, u, v);
                t = GAP_FEM__PICK(turn, (A[p * n + q] + A[p * n + q]) / u, zero);
                u = t * t + 1.0;
                gap_fem__sqrt(&u, &u);
                c = 1.0 / u;
                s = c * t;
                GAP_FEM__UNROLL
                for (i = 0; i < n; ++i) { /* columns, then rows: A <- R^T A R, Q <- Q R */
                    u = A[i * n + p];
                    v = A[i * n + q];
                    A[i * n + p] = c * u - s * v;
                    A[i * n + q] = s * u + c * v;
                    u = Q[i * n + p];
                    v = Q[i * n + q];
                    Q[i * n + p] = c * u - s * v;
                    Q[i * n + q] = s * u + c * v;
                }
                GAP_FEM__UNROLL
                for (i = 0; i < n; ++i) {
                    u = A[p * n + i];
                    v = A[q * n + i];
                    A[p * n + i] = c * u - s * v;
                    A[q * n + i] = s * u + c * v;
                }
            }
        }
        if (!gap_fem__any(&some)) break;
    }
    u = A[0]; /* becomes the least eigenvalue */
    GAP_FEM__UNROLL
    for (i = 1; i < n; ++i) {
        v = A[i * n + i];
        u = GAP_FEM__PICK(GAP_FEM__MASK(v < u), v, u);
    }
    neg = GAP_FEM__MASK(u < 0.0);
    if (!gap_fem__any(&neg)) return;
    GAP_FEM__UNROLL
    for (i = 0; i < n; ++i) {
        GAP_FEM__UNROLL
        for (j = i; j < n; ++j) {
            GAP_FEM__UNROLL
            for (u = zero, p = 0; p < n; ++p) {
                d = A[p * n + p];
                d = GAP_FEM__PICK(GAP_FEM__MASK(d > 0.0), d, zero);
                u = u + d * (Q[i * n + p] * Q[j * n + p]);
            }
            S[i * n + j] = GAP_FEM__PICK(neg, u, S[i * n + j]);
            S[j * n + i] = S[i * n + j];
        }
    }
}
/* [end lanes] */

/* [block neo-Hookean from gap_elastic.h] energy, stress, closed-form PSD tangent in lanes */

/* r = ln J for normal J > 0; y = J - 1 replaces m - 1 where near_one is set, to keep its digits.
   J = 2^e m with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(f), f = (m - 1)/(m + 1), |f| < 0.1716,
   as a series up to f^23 (the rest is below 1e-17). Same bits on every machine, unlike libm's. */
GAP_FEM__INLINE void gap_fem__log(const gap_fem__w *J, const gap_fem__w *y,
    const gap_fem__k *near_one, gap_fem__w *r)
{
    static const double c[11] = {1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15,
        1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
    gap_fem__k bits, e, one;
    gap_fem__w m, z, f, s, t, ed;
    int i;

    memcpy(&bits, J, sizeof bits);
    e = bits - 0x3fe6a09e667f3bcdLL;                  /* minus the bits of sqrt(1/2) */
    bits = bits - (e & -4503599627370496LL);          /* take e 2^52 away */
    memcpy(&m, &bits, sizeof m);
    bits = (e >> 52) + 0x4338000000000000LL;          /* the double 1.5 2^52 + e */
    memcpy(&ed, &bits, sizeof ed);
    ed = ed - 6755399441055744.0;
    one = GAP_FEM__MASK(ed == 0.0) & *near_one;
    z = GAP_FEM__PICK(one, *y, m - 1.0);
    f = z / (z + 2.0);
    s = f * f;
    t = s * c[10];
    GAP_FEM__UNROLL
    for (i = 9; i >= 0; --i) t = s * (t + c[i]);
    f = f + f;
    *r = ed * 0.69314718055966295651 + (f + (f * t + ed * 2.8235290563031577e-13));
}

/* T = F^-T, J = det F and y = J - 1, the last from F - I: at small strain it keeps its digits.
   ok: lanes where J is in (1e-300, 1e300); in the others F is replaced by I. */
GAP_FEM__INLINE void gap_fem__inverse(int n, gap_fem__w *F, gap_fem__w *T,
    gap_fem__w *J, gap_fem__w *y, gap_fem__k *ok)
{
    gap_fem__w one, zero, G[9], r;
    int i, j, a, b, c, d;

    gap_fem__fill(&one, 1.0);
    gap_fem__fill(&zero, 0.0);
    *J = n == 2 ? F[0] * F[3] - F[1] * F[2] : F[0] * (F[4] * F[8] - F[5] * F[7])
        + F[1] * (F[5] * F[6] - F[3] * F[8]) + F[2] * (F[3] * F[7] - F[4] * F[6]);
    *ok = GAP_FEM__MASK(*J > 1e-300) & GAP_FEM__MASK(*J < 1e300);
    *J = GAP_FEM__PICK(*ok, *J, one);
    GAP_FEM__UNROLL
    for (i = 0; i < n * n; ++i) {
        F[i] = GAP_FEM__PICK(*ok, F[i], i % (n + 1) ? zero : one);
        G[i] = i % (n + 1) ? F[i] : F[i] - 1.0;
    }
    r = 1.0 / *J;
    if (n == 2) {
        T[0] = r * F[3]; T[1] = -(r * F[2]); T[2] = -(r * F[1]); T[3] = r * F[0];
        *y = G[0] + G[3] + (G[0] * G[3] - G[1] * G[2]);
        return;
    }
    GAP_FEM__UNROLL
    for (i = 0; i < 3; ++i) {
        GAP_FEM__UNROLL
        for (j = 0; j < 3; ++j) { /* cofactor: rows and columns in cyclic order, no signs */
            a = (i + 1) % 3; b = (i + 2) % 3;
            c = (j + 1) % 3; d = (j + 2) % 3;
            T[3 * i + j] = r * (F[3 * a + c] * F[3 * b + d] - F[3 * a + d] * F[3 * b + c]);
        }
    }
    *y = G[0] + G[4] + G[8] + (G[0] * G[4] - G[1] * G[3]) + (G[0] * G[8] - G[2] * G[6])
        + (G[4] * G[8] - G[5] * G[7]) + (G[0] * (G[4] * G[8] - G[5] * G[7])
        + G[1] * (G[5] * G[6] - G[3] * G[8]) + G[2] * (G[3] * G[7] - G[4] * G[6]));
}

/* psi = mu/2 (|F|^2 - n - 2 ln J) + lambda/2 (ln J)^2, T = F^-T, c = mu - lambda ln J, so that the
   stress is P = mu F - c T. |F|^2 - n = sum (F_ii - 1)(F_ii + 1) + the other squares. */
GAP_FEM__INLINE void gap_fem__nh(int n, gap_fem__w *F, const gap_fem__w *la,
    const gap_fem__w *mu, gap_fem__w *psi, gap_fem__w *T, gap_fem__w *c,
    gap_fem__k *ok)
{
    gap_fem__w J, y, ln, q, g;
    gap_fem__k near_one;
    int i;

    gap_fem__inverse(n, F, T, &J, &y, ok);
    gap_fem__fill(&q, 0.0);
    g = q;
    GAP_FEM__UNROLL
    for (i = 0; i < n * n; ++i) {
        if (i % (n + 1)) {
            q = q + F[i] * F[i];
            g = g + F[i] * F[i];
        } else {
            q = q + (F[i] - 1.0) * (F[i] + 1.0);
            g = g + (F[i] - 1.0) * (F[i] - 1.0);
        }
    }
    near_one = GAP_FEM__MASK(g < 0.1); /* further off, J - 1 is the better one */
    gap_fem__log(&J, &y, &near_one, &ln);
    *psi = 0.5 * *mu * (q - 2.0 * ln) + 0.5 * *la * (ln * ln);
    *c = *mu - *la * ln;
}

/* Eigen-system of dP/dF with F = U diag(s) V^T: A on the modes u_a v_a^T; al and be so that
   dP(u_a v_b^T) = al_ab u_a v_b^T + be_ab u_b v_a^T for a != b; out_b on u_2 v_b^T (3x2 only). */
typedef struct gap_fem__modes {
    gap_fem__w U[9], V[9], A[9], al[9], be[9], out[2];
} gap_fem__modes;

/* The neo-Hookean one, clamped. With r = 1/s: A = diag(mu + c r_i^2) + lambda r r^T, and the pair
   modes have the eigenvalues mu +- c r_i r_j. */
GAP_FEM__INLINE void gap_fem__nh_modes(int n, const gap_fem__w *F,
    const gap_fem__w *la, const gap_fem__w *mu, const gap_fem__w *c,
    gap_fem__modes *m)
{
    gap_fem__w r[3], s, b, zero, plus, minus;
    gap_fem__k clamp;
    int i, j;

    gap_fem__fill(&zero, 0.0);
    memcpy(m->U, F, (size_t)(n * n) * sizeof *F);
    gap_fem__svd(n, n, m->U, m->V);
    clamp = GAP_FEM__MASK(*la < 0.0);
    GAP_FEM__UNROLL
    for (j = 0; j < n; ++j) {
        s = m->U[j] * m->U[j] + m->U[n + j] * m->U[n + j];
        if (n == 3) s = s + m->U[6 + j] * m->U[6 + j];
        gap_fem__sqrt(&s, &s);
        r[j] = 1.0 / s;
        GAP_FEM__UNROLL
        for (i = 0; i < n; ++i) m->U[i * n + j] = m->U[i * n + j] * r[j];
        clamp = clamp | GAP_FEM__MASK(*mu + *c * (r[j] * r[j]) < 0.0);
    }
    GAP_FEM__UNROLL
    for (i = 0; i < n; ++i) {
        m->A[i * n + i] = *mu + (*c + *la) * (r[i] * r[i]);
        GAP_FEM__UNROLL
        for (j = 0; j < i; ++j) {
            b = r[i] * r[j];
            m->A[i * n + j] = m->A[j * n + i] = *la * b;
            plus = *mu + *c * b;
            minus = *mu - *c * b;
            plus = GAP_FEM__PICK(GAP_FEM__MASK(plus > 0.0), plus, zero);
            minus = GAP_FEM__PICK(GAP_FEM__MASK(minus > 0.0), minus, zero);
            m->al[i * n + j] = m->al[j * n + i] = 0.5 * (plus + minus);
            m->be[i * n + j] = m->be[j * n + i] = 0.5 * (plus - minus);
        }
    }
    if (gap_fem__any(&clamp)) gap_fem__clamp(n, m->A);
}

/* H_(ij)(kl) = dP_ij/dF_kl from its modes: first N_bd for fixed i, k with U, then V N V^T. */
GAP_FEM__INLINE void gap_fem__tangent(int rows, int cols, const gap_fem__modes *m,
    gap_fem__w *H)
{
    const gap_fem__w *U = m->U, *V = m->V, *ui, *uk;
    gap_fem__w N[9], R[9], x;
    int n = rows * cols, i, k, a, b, d, j, l;

    GAP_FEM__UNROLL
    for (i = 0; i < rows; ++i) {
        GAP_FEM__UNROLL
        for (k = 0; k <= i; ++k) {
            ui = U + rows * i;
            uk = U + rows * k;
            GAP_FEM__UNROLL
            for (b = 0; b < cols; ++b) {
                GAP_FEM__UNROLL
                for (d = 0; d < cols; ++d) {
                    x = m->A[cols * b + d] * (ui[b] * uk[d]);
                    if (b != d) x = x + m->be[cols * b + d] * (ui[d] * uk[b]);
                    GAP_FEM__UNROLL
                    for (a = 0; a < cols; ++a)
                        if (b == d && a != b) x = x + m->al[cols * a + b] * (ui[a] * uk[a]);
                    if (b == d && rows > cols) x = x + m->out[b] * (ui[2] * uk[2]);
                    N[cols * b + d] = x;
                }
            }
            GAP_FEM__UNROLL
            for (j = 0; j < cols; ++j) {
                GAP_FEM__UNROLL
                for (d = 0; d < cols; ++d) {
                    x = V[cols * j] * N[d] + V[cols * j + 1] * N[cols + d];
                    if (cols == 3) x = x + V[cols * j + 2] * N[2 * cols + d];
                    R[cols * j + d] = x;
                }
            }
            GAP_FEM__UNROLL
            for (j = 0; j < cols; ++j) {
                for (l = 0; l < (i == k ? j + 1 : cols); ++l) {
                    x = R[cols * j] * V[cols * l] + R[cols * j + 1] * V[cols * l + 1];
                    if (cols == 3) x = x + R[cols * j + 2] * V[cols * l + 2];
                    H[(cols * i + j) * n + cols * k + l] = x;
                    H[(cols * k + l) * n + cols * i + j] = x;
                }
            }
        }
    }
}

/* All of it for LANES points: one pointer per lane, outputs or NULL; ok: psi is finite. */
GAP_FEM__INLINE void gap_fem__nh_points(int n, const double *const *pF,
    const double *const *par, int psd, double *const *psi, double *const *P, double *const *dP,
    gap_fem__k *ok)
{
    gap_fem__w F[9], T[9], H[81], la, mu, c, e, inf, zero;
    gap_fem__modes m;
    int i, j, k, l, nn = n * n;

    gap_fem__get(par, 0, &la);
    gap_fem__get(par, 1, &mu);
    gap_fem__fill(&inf, HUGE_VAL);
    gap_fem__fill(&zero, 0.0);
    GAP_FEM__UNROLL
    for (i = 0; i < nn; ++i) gap_fem__get(pF, i, F + i);
    gap_fem__nh(n, F, &la, &mu, &e, T, &c, ok);
    e = GAP_FEM__PICK(*ok, e, inf);
    if (psi) gap_fem__put(&e, psi, 0);
    for (i = 0; P && i < nn; ++i) {
        e = mu * F[i] - c * T[i];
        e = GAP_FEM__PICK(*ok, e, zero);
        gap_fem__put(&e, P, i);
    }
    if (!dP) return;
    if (psd) {
        gap_fem__nh_modes(n, F, &la, &mu, &c, &m);
        gap_fem__tangent(n, n, &m, H);
    } else {
        GAP_FEM__UNROLL
        for (i = 0; i < nn; ++i) {
            GAP_FEM__UNROLL
            for (k = 0; k < nn; ++k) { /* (i, j) and (k, l) as i = (i/n, i%n) */
                j = (k / n) * n + i % n;
                l = (i / n) * n + k % n;
                e = c * (T[j] * T[l]) + la * (T[i] * T[k]);
                H[i * nn + k] = i == k ? e + mu : e;
            }
        }
    }
    for (i = 0; i < nn * nn; ++i) {
        H[i] = GAP_FEM__PICK(*ok, H[i], zero);
        gap_fem__put(H + i, dP, i);
    }
}

/* count points in groups of LANES, the last group filled up with its last point. par_step 0: one
   set of parameters for all. Returns 0 or 1 + the first point where psi is infinite. */
GAP_FEM__INLINE int gap_fem__nh_batch(int n, int count, const double *F,
    const double *par, int par_step, int psd, double *psi, double *P, double *dP)
{
    const double *f[4], *q[4];
    double *e[4], *p[4], *h[4];
    gap_fem__k ok;
    size_t at, nn = (size_t)(n * n);
    int first = 0, i, l;

    for (i = 0; i < count; i += GAP_FEM__LANES) {
        GAP_FEM__UNROLL
        for (l = 0; l < GAP_FEM__LANES; ++l) {
            at = (size_t)(i + l < count ? i + l : count - 1);
            f[l] = F + at * nn;
            q[l] = par + at * (size_t)par_step;
            e[l] = psi ? psi + at : NULL;
            p[l] = P ? P + at * nn : NULL;
            h[l] = dP ? dP + at * nn * nn : NULL;
        }
        gap_fem__nh_points(n, f, q, psd, psi ? e : NULL, P ? p : NULL, dP ? h : NULL, &ok);
        for (l = 0; l < GAP_FEM__LANES && !first; ++l)
            if (!GAP_FEM__AT(ok, l)) first = 1 + (i + l < count ? i + l : count - 1);
    }
    return first;
}
/* [end neo-Hookean] */

/* ---- memory: a list of blocks, given back together or from the end ---- */
static inline void *gap_fem__realloc_libc(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user; (void)old_size;
    if (new_size) return realloc(p, new_size);
    free(p);
    return NULL;
}

static inline void *gap_fem__take(gap_fem *f, size_t count, size_t size)
{
    void *p;

    if (count > ((size_t)-1) / 2 / size) return NULL;
    size *= count ? count : 1;
    p = f->opt.realloc_fn(f->opt.realloc_user, NULL, 0, size);
    if (!p) return NULL;
    GAP_FEM_ASSERT(f->mems < 32);
    f->mem[f->mems] = p;
    f->mem_size[f->mems++] = size;
    return p;
}

static inline void gap_fem__drop(gap_fem *f)
{
    --f->mems;
    f->opt.realloc_fn(f->opt.realloc_user, f->mem[f->mems], f->mem_size[f->mems], 0);
}

static inline double *gap_fem__doubles(gap_fem *f, size_t count)
{
    return (double *)gap_fem__take(f, count, sizeof(double));
}

static inline int *gap_fem__ints(gap_fem *f, size_t count)
{
    return (int *)gap_fem__take(f, count, sizeof(int));
}

/* ---- small helpers ---- */
static inline size_t gap_fem__z(int a, int b)
{
    return (size_t)a * (size_t)b;
}

/* The larger one; NaN if either is. */
static inline double gap_fem__larger(double a, double b)
{
    return a >= b || a != a ? a : b;
}

static inline double gap_fem__det(int dim, const double *J)
{
    if (dim == 2) return J[0] * J[3] - J[1] * J[2];
    return J[0] * (J[4] * J[8] - J[5] * J[7]) + J[1] * (J[5] * J[6] - J[3] * J[8])
        + J[2] * (J[3] * J[7] - J[4] * J[6]);
}

/* R = J^-1 and det J. */
static inline double gap_fem__invert(int dim, const double *J, double *R)
{
    double d = gap_fem__det(dim, J), r = 1.0 / d;
    int i, j, a, b, c, e;

    if (dim == 2) {
        R[0] = r * J[3]; R[1] = -r * J[1]; R[2] = -r * J[2]; R[3] = r * J[0];
        return d;
    }
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 3; ++j) {
            a = (i + 1) % 3; b = (i + 2) % 3;
            c = (j + 1) % 3; e = (j + 2) % 3;
            R[3 * j + i] = r * (J[3 * a + c] * J[3 * b + e] - J[3 * a + e] * J[3 * b + c]);
        }
    }
    return d;
}

/* Vertices of face k in Gmsh's order: outward for positive elements. */
static inline int gap_fem__face(int dim, int k, int j)
{
    static const int tri[3][2] = {{0, 1}, {1, 2}, {2, 0}};
    static const int tet[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {3, 1, 2}};

    return dim == 2 ? tri[k][j] : tet[k][j];
}

static inline int gap_fem__find(int slots, int n, const int *index, const int *want)
{
    int a, k;

    for (a = 0; a < n; ++a) {
        for (k = 0; k < slots && index[a * slots + k] == want[k]; ++k) continue;
        if (k == slots) return a;
    }
    return -1;
}

/* Local nodes of face k, in the Gmsh order of a triangle (segment) on the face's vertices. */
static inline void gap_fem__face_nodes(int dim, int order, const int *index, int k, int *out)
{
    int face[3 * 15], full[4], n = gap_fem__count(dim - 1, order), a, j;

    gap_fem__lattice(dim - 1, order, 0, face);
    for (a = 0; a < n; ++a) {
        for (j = 0; j < 4; ++j) full[j] = 0;
        for (j = 0; j < dim; ++j) full[gap_fem__face(dim, k, j)] = face[a * dim + j];
        out[a] = gap_fem__find(dim + 1, gap_fem__count(dim, order), index, full);
    }
}

static inline unsigned gap_fem__hash(const int *key, int n)
{
    unsigned h = 2166136261u;
    int i;

    for (i = 0; i < n; ++i) {
        h = (h ^ (unsigned)key[i]) * 16777619u;
        h ^= h >> 15;
    }
    return h;
}

/* An empty table of at least twice the number of entries, all -1; size becomes its mask. */
static inline int *gap_fem__table(gap_fem *f, size_t entries, unsigned *mask)
{
    size_t n = 16, i;
    int *t;

    while (n < 2 * entries) n *= 2;
    t = gap_fem__ints(f, n);
    for (i = 0; t && i < n; ++i) t[i] = -1;
    *mask = (unsigned)(n - 1);
    return t;
}

static inline void gap_fem__sort(int *v, int n, int step)
{
    int i, j, k, t;

    for (i = 1; i < n; ++i) {
        for (j = i; j > 0 && v[j * step] < v[(j - 1) * step]; --j) {
            for (k = 0; k < step; ++k) {
                t = v[j * step + k];
                v[j * step + k] = v[(j - 1) * step + k];
                v[(j - 1) * step + k] = t;
            }
        }
    }
}

/* ---- building: displacement nodes, boundary, rest data ---- */

/* p != q: a node's key is its sorted (vertex, count) pairs, the same from every element. */
static inline int gap_fem__number(gap_fem *f)
{
    int slots = f->dim + 1, k = f->per_element, e, a, j, n, id, count = 0, *table, *keys, key[8];
    size_t total = gap_fem__z(f->elements, k);
    unsigned mask, h;

    keys = gap_fem__ints(f, total * 8);
    table = keys ? gap_fem__table(f, total, &mask) : NULL;
    if (!table) return GAP_FEM_ENOMEM;
    for (n = 0; n < 2; ++n) { /* vertices first */
        for (e = 0; e < f->elements; ++e) {
            for (a = n ? slots : 0; a < (n ? k : slots); ++a) {
                int m = 0;
                for (j = 0; j < slots; ++j) {
                    if (!f->index_p[a * slots + j]) continue;
                    key[2 * m] = f->geo_node[gap_fem__z(e, f->geo_per_element) + (size_t)j];
                    key[2 * m++ + 1] = f->index_p[a * slots + j];
                }
                gap_fem__sort(key, m, 2);
                for (j = 2 * m; j < 8; ++j) key[j] = -1;
                for (h = gap_fem__hash(key, 8) & mask; (id = table[h]) >= 0; h = (h + 1) & mask)
                    if (!memcmp(keys + 8 * (size_t)id, key, sizeof key)) break;
                if (id < 0) {
                    id = table[h] = count++;
                    memcpy(keys + 8 * (size_t)id, key, sizeof key);
                }
                f->node[gap_fem__z(e, k) + (size_t)a] = id;
            }
        }
    }
    f->nodes = count;
    gap_fem__drop(f);
    gap_fem__drop(f);
    return GAP_FEM_OK;
}

/* Vertices ascending: renumber the first (vertex) nodes by their geometry number. */
static inline int gap_fem__ascend(gap_fem *f)
{
    int slots = f->dim + 1, e, j, n = 0, *map, *to;

    map = gap_fem__ints(f, (size_t)f->geo_nodes);
    to = map ? gap_fem__ints(f, (size_t)f->nodes) : NULL;
    if (!to) return GAP_FEM_ENOMEM;
    for (j = 0; j < f->geo_nodes; ++j) map[j] = -1;
    for (j = 0; j < f->nodes; ++j) to[j] = j;
    for (e = 0; e < f->elements; ++e)
        for (j = 0; j < slots; ++j)
            map[f->geo_node[gap_fem__z(e, f->geo_per_element) + (size_t)j]]
                = f->node[gap_fem__z(e, f->per_element) + (size_t)j];
    for (j = 0; j < f->geo_nodes; ++j)
        if (map[j] >= 0) to[map[j]] = n++;
    for (e = 0; e < f->elements * f->per_element; ++e) f->node[e] = to[f->node[e]];
    gap_fem__drop(f);
    gap_fem__drop(f);
    return GAP_FEM_OK;
}

/* Rest position of every displacement node: the geometric map at its lattice point. */
static inline void gap_fem__place(gap_fem *f)
{
    int dim = f->dim, e, a, b, c, a_at;
    double xi[3] = {0, 0, 0}, psi[35], s, *r;

    for (a = 0; a < f->per_element; ++a) {
        for (c = 0; c < dim; ++c) xi[c] = (double)f->index_p[a * (dim + 1) + c + 1] / f->order;
        gap_fem__eval(dim, f->geometry, f->index_q, xi, psi, NULL);
        for (e = 0; e < f->elements; ++e) {
            const int *g = f->geo_node + gap_fem__z(e, f->geo_per_element);
            a_at = f->node[gap_fem__z(e, f->per_element) + (size_t)a];
            r = f->rest + gap_fem__z(a_at, dim);
            for (c = 0; c < dim; ++c) {
                for (s = 0.0, b = 0; b < f->geo_per_element; ++b)
                    s += psi[b] * f->geo_x[gap_fem__z(g[b], dim) + (size_t)c];
                if (a <= dim) s = f->geo_x[gap_fem__z(g[a], dim) + (size_t)c];
                r[c] = s;
            }
        }
    }
}

/* neighbor[] by hashing sorted faces; the unmatched ones are the boundary, in order. */
static inline int gap_fem__boundary(gap_fem *f)
{
    int dim = f->dim, slots = dim + 1, e, k, j, o, n = 0, at, *table, key[3], other[3];
    unsigned mask, h;

    f->neighbor = gap_fem__ints(f, gap_fem__z(f->elements, slots));
    table = f->neighbor ? gap_fem__table(f, gap_fem__z(f->elements, slots), &mask) : NULL;
    if (!table) return GAP_FEM_ENOMEM;
    for (at = 0; at < f->elements * slots; ++at) {
        f->neighbor[at] = -1;
        for (j = 0; j < dim; ++j)
            key[j] = f->geo_node[gap_fem__z(at / slots, f->geo_per_element)
                + (size_t)gap_fem__face(dim, at % slots, j)];
        gap_fem__sort(key, dim, 1);
        for (h = gap_fem__hash(key, dim) & mask; (o = table[h]) >= 0; h = (h + 1) & mask) {
            for (j = 0; j < dim; ++j)
                other[j] = f->geo_node[gap_fem__z(o / slots, f->geo_per_element)
                    + (size_t)gap_fem__face(dim, o % slots, j)];
            gap_fem__sort(other, dim, 1);
            if (!memcmp(key, other, sizeof(int) * (size_t)dim)) break;
        }
        if (o < 0) {
            table[h] = at;
        } else if (f->neighbor[o] >= 0) {
            f->bad = at / slots;
            return GAP_FEM_EINPUT;
        } else {
            f->neighbor[o] = at / slots;
            f->neighbor[at] = o / slots;
        }
    }
    gap_fem__drop(f);
    for (at = 0; at < f->elements * slots; ++at) n += f->neighbor[at] < 0;
    f->facets = n;
    f->facet = gap_fem__ints(f, gap_fem__z(n, 2));
    f->facet_node = f->facet ? gap_fem__ints(f, gap_fem__z(n, f->per_facet)) : NULL;
    if (!f->facet_node) return GAP_FEM_ENOMEM;
    for (n = k = 0; k < slots; ++k) {
        int local[15];
        gap_fem__face_nodes(dim, f->order, f->index_p, k, local);
        for (n = e = 0; e < f->elements; ++e) {
            for (j = 0; j < slots; ++j) {
                if (f->neighbor[e * slots + j] >= 0) continue;
                for (o = 0; j == k && o < f->per_facet; ++o)
                    f->facet_node[gap_fem__z(n, f->per_facet) + (size_t)o]
                        = f->node[gap_fem__z(e, f->per_element) + (size_t)local[o]];
                f->facet[2 * n] = e;
                f->facet[2 * n++ + 1] = j;
            }
        }
    }
    return GAP_FEM_OK;
}

/* Edges of the boundary triangles, each once, in order of first appearance. */
static inline int gap_fem__edges(gap_fem *f)
{
    int n = 0, i, j, o, *table, key[2];
    unsigned mask, h;

    f->edge = gap_fem__ints(f, f->dim == 3 ? gap_fem__z(f->facets, 6) : 0);
    table = f->edge ? gap_fem__table(f, gap_fem__z(f->facets, 3), &mask) : NULL;
    if (!table) return GAP_FEM_ENOMEM;
    for (i = 0; i < f->facets && f->dim == 3; ++i) {
        for (j = 0; j < 3; ++j) {
            key[0] = f->facet_node[gap_fem__z(i, f->per_facet) + (size_t)j];
            key[1] = f->facet_node[gap_fem__z(i, f->per_facet) + (size_t)((j + 1) % 3)];
            gap_fem__sort(key, 2, 1);
            for (h = gap_fem__hash(key, 2) & mask; (o = table[h]) >= 0; h = (h + 1) & mask)
                if (f->edge[2 * o] == key[0] && f->edge[2 * o + 1] == key[1]) break;
            if (o >= 0) continue;
            table[h] = n;
            f->edge[2 * n] = key[0];
            f->edge[2 * n++ + 1] = key[1];
        }
    }
    f->edges = n;
    gap_fem__drop(f);
    return GAP_FEM_OK;
}

/* Jacobian dX/dxi of the rest map of element e, from reference gradients of the geometry. */
static inline void gap_fem__jacobian(const gap_fem *f, int e, const double *dpsi, double *J)
{
    const int *g = f->geo_node + gap_fem__z(e, f->geo_per_element);
    const double *o = f->geo_x + gap_fem__z(g[0], f->dim), *x;
    int dim = f->dim, b, i, j;

    for (i = 0; i < dim * dim; ++i) J[i] = 0.0;
    for (b = 1; b < f->geo_per_element; ++b) { /* relative to node 0: gradients sum to 0 */
        x = f->geo_x + gap_fem__z(g[b], dim);
        for (i = 0; i < dim; ++i)
            for (j = 0; j < dim; ++j) J[i * dim + j] += (x[i] - o[i]) * dpsi[b * dim + j];
    }
}

/* Inverse Jacobian and determinant of every element (curved: at every quadrature point). */
static inline int gap_fem__rest_data(gap_fem *f)
{
    int dim = f->dim, stride = dim * dim + 1, e, q;
    double dpsi[35 * 3], J[9], *g;

    f->geo_points = f->geometry == 1 ? 1 : f->points;
    f->geo = gap_fem__doubles(f, gap_fem__z(f->elements, f->geo_points) * (size_t)stride);
    if (!f->geo) return GAP_FEM_ENOMEM;
    for (q = 0; q < f->geo_points; ++q) {
        gap_fem__eval(dim, f->geometry, f->index_q, f->xi + q * dim, NULL, dpsi);
        for (e = 0; e < f->elements; ++e) {
            g = f->geo + (gap_fem__z(e, f->geo_points) + (size_t)q) * (size_t)stride;
            gap_fem__jacobian(f, e, dpsi, J);
            g[dim * dim] = gap_fem__invert(dim, J, g);
            if (g[dim * dim] > 0.0 && g[dim * dim] < HUGE_VAL) continue;
            if (f->bad < 0 || e < f->bad) f->bad = e;
        }
    }
    return f->bad < 0 ? GAP_FEM_OK : GAP_FEM_EREST;
}

/* Shared tables: both quadratures, reference gradients at the points. */
static inline int gap_fem__tables(gap_fem *f)
{
    int dim = f->dim, p = f->order, q = f->geometry, n = f->opt.rule_count, m, i;
    int degree = f->opt.degree > 0 ? f->opt.degree : (p == 1 ? 1 : 2 * p) + dim * (q - 1);
    int mass = f->opt.mass_degree > 0 ? f->opt.mass_degree : 2 * p + dim * (q - 1);
    int wide = (f->per_element + 3) & ~3, a;
    double *d;

    if (degree > 60 || mass > 60 || n > 1000000) return GAP_FEM_ESIZE;
    if (n <= 0) n = gap_fem__rule(dim, degree, NULL, NULL);
    m = gap_fem__rule(dim, mass, NULL, NULL);
    f->points = n;
    f->mass_points = m;
    f->xi = gap_fem__doubles(f, gap_fem__z(n, dim));
    f->w = f->xi ? gap_fem__doubles(f, (size_t)n) : NULL;
    f->mass_xi = f->w ? gap_fem__doubles(f, gap_fem__z(m, dim)) : NULL;
    f->mass_w = f->mass_xi ? gap_fem__doubles(f, (size_t)m) : NULL;
    f->dphi = f->mass_w ? gap_fem__doubles(f, gap_fem__z(n, f->per_element * dim)) : NULL;
    f->dphi_t = f->dphi ? gap_fem__doubles(f, gap_fem__z(n, dim * wide)) : NULL;
    if (!f->dphi_t) return GAP_FEM_ENOMEM;
    if (f->opt.rule_count > 0) {
        memcpy(f->xi, f->opt.rule_xi, sizeof(double) * gap_fem__z(n, dim));
        memcpy(f->w, f->opt.rule_w, sizeof(double) * (size_t)n);
    } else {
        gap_fem__rule(dim, degree, f->xi, f->w);
    }
    gap_fem__rule(dim, mass, f->mass_xi, f->mass_w);
    for (f->w_sum = 0.0, i = 0; i < n; ++i) {
        f->w_sum += f->w[i];
        d = f->dphi + gap_fem__z(i, f->per_element * dim);
        gap_fem__eval(dim, p, f->index_p, f->xi + i * dim, NULL, d);
        for (a = 0; a < dim * wide; ++a) /* the same as [direction][function], filled with zeros */
            f->dphi_t[gap_fem__z(i, dim * wide) + (size_t)a]
                = a % wide < f->per_element ? d[a % wide * dim + a / wide] : 0.0;
    }
    return GAP_FEM_OK;
}

/* ---- Bernstein form of the determinant ---- */

/* Place of the multi-index a (slots 1..dim) in the lexicographic lattice of degree m: the points
   with a smaller first index come first, and so on. */
static inline int gap_fem__pos(int dim, int m, const int *a)
{
    int r = m - a[1], s = r - a[2];

    if (dim == 2) return gap_fem__count(2, m) - gap_fem__count(2, r) + a[2];
    return gap_fem__count(3, m) - gap_fem__count(3, r) + gap_fem__count(2, r)
        - gap_fem__count(2, s) + a[3];
}

/* Next multi-index (slots 0..dim) in that order; returns 0 after the last. Start: (m, 0, 0, 0). */
static inline int gap_fem__next(int dim, int *a)
{
    int k = dim;

    if (a[0] > 0) {
        --a[0];
        ++a[dim];
        return 1;
    }
    while (k > 1 && a[k] == 0) --k;
    if (k == 1) return 0;
    a[0] = a[k] - 1; /* full: empty the last used slot and step the one before it */
    a[k] = 0;
    ++a[k - 1];
    return 1;
}

static inline double gap_fem__multinomial(int dim, const int *a)
{
    double c = 1.0;
    int n = 0, k, i;

    for (k = 0; k <= dim; ++k)
        for (i = 1; i <= a[k]; ++i) c = c * ++n / i;
    return c;
}

/* C (rows in lexicographic order, cols Lagrange nodes of order p) takes nodal values to Bernstein
   coefficients of degree r: the inverse of B_b(node_a) times the values at the lattice of order r.
   Gauss-Jordan with row pivots on at most 35 x 70. */
static inline int gap_fem__bezier(gap_fem *f, int r, int p, const int *index, double *C)
{
    int dim = f->dim, n = gap_fem__count(dim, r), k = gap_fem__count(dim, p), m = n + k;
    int lat[4 * 35], i, j, s, best, a[4];
    double *M = gap_fem__doubles(f, gap_fem__z(n, m)), xi[3], t, L;

    if (!M) return GAP_FEM_ENOMEM;
    gap_fem__lattice(dim, r, 0, lat);
    for (i = 0; i < n; ++i) {
        for (s = 0; s < dim; ++s) xi[s] = (double)lat[i * (dim + 1) + s + 1] / r;
        gap_fem__eval(dim, p, index, xi, M + gap_fem__z(i, m) + n, NULL);
        for (a[0] = r, a[1] = a[2] = a[3] = 0, j = 0; j < n; ++j, gap_fem__next(dim, a)) {
            for (t = gap_fem__multinomial(dim, a), s = 0; s <= dim; ++s) {
                L = (double)lat[i * (dim + 1) + s] / r;
                for (best = 0; best < a[s]; ++best) t *= L;
            }
            M[gap_fem__z(i, m) + (size_t)j] = t;
        }
    }
    for (j = 0; j < n; ++j) {
        for (best = i = j; i < n; ++i)
            if (fabs(M[i * m + j]) > fabs(M[best * m + j])) best = i;
        for (s = 0; s < m; ++s) {
            t = M[best * m + s];
            M[best * m + s] = M[j * m + s];
            M[j * m + s] = t;
        }
        for (t = 1.0 / M[j * m + j], s = 0; s < m; ++s) M[j * m + s] *= t;
        for (i = 0; i < n; ++i) {
            t = M[i * m + j];
            for (s = j; s < m && i != j && t != 0.0; ++s) M[i * m + s] -= t * M[j * m + s];
        }
    }
    for (i = 0; i < n; ++i) {
        for (t = 0.0, j = 0; j < k; ++j) {
            C[i * k + j] = M[i * m + n + j];
            t += fabs(C[i * k + j]);
        }
        f->ctrl_norm = fmax(f->ctrl_norm, t);
    }
    gap_fem__drop(f);
    return GAP_FEM_OK;
}

/* Tables of the deformed map x = C_u (nodes), or C_x X + C_u u where p < q. */
static inline int gap_fem__map(gap_fem *f)
{
    int r = f->order > f->geometry ? f->order : f->geometry, n = gap_fem__count(f->dim, r), s;

    f->map_order = r;
    f->ctrl_u = gap_fem__doubles(f, gap_fem__z(n, f->per_element));
    f->ctrl_x = f->ctrl_u ? gap_fem__doubles(f, gap_fem__z(n, f->geo_per_element)) : NULL;
    if (!f->ctrl_x) return GAP_FEM_ENOMEM;
    s = gap_fem__bezier(f, r, f->order, f->index_p, f->ctrl_u);
    return s ? s : gap_fem__bezier(f, r, f->geometry, f->index_q, f->ctrl_x);
}

/* Bernstein control points (n) of nodal values v (k): C v, dim components. */
static inline void gap_fem__control(int dim, int n, int k, const double *C, const double *v,
    double *out)
{
    int a, b, c;
    double s;

    for (a = 0; a < n; ++a) {
        for (c = 0; c < dim; ++c) {
            for (s = 0.0, b = 0; b < k; ++b) s += C[a * k + b] * v[b * dim + c];
            out[a * dim + c] = s;
        }
    }
}

/* Nodal values relative to the first node; largest magnitude among them (NaN counts as largest). */
static inline double gap_fem__relative(int dim, int k, double *v)
{
    double o[3], m = 0.0;
    int i;

    for (i = 0; i < dim; ++i) o[i] = v[i];
    for (i = 0; i < k * dim; ++i) {
        v[i] -= o[i % dim];
        m = gap_fem__larger(m, fabs(v[i]));
    }
    return m;
}

/* Control points of the map of element e at x + t d (d NULL: x; x NULL: rest) relative to its first
   node, and its extent. */
static inline double gap_fem__element_map(const gap_fem *f, int e, const double *x, const double *d,
    double t, double *out)
{
    const int *node = f->node + gap_fem__z(e, f->per_element);
    const int *geo = f->geo_node + gap_fem__z(e, f->geo_per_element);
    double v[35 * 3], extra[35 * 3], size;
    int dim = f->dim, n = gap_fem__count(dim, f->map_order), i;
    size_t at;

    for (i = 0; x && i < f->per_element * dim; ++i) {
        at = gap_fem__z(node[i / dim], dim) + (size_t)(i % dim);
        v[i] = d ? x[at] + t * d[at] : x[at];
        if (f->order < f->geometry) v[i] -= f->rest[at];
    }
    if (x && f->order >= f->geometry) {
        size = gap_fem__relative(dim, f->per_element, v);
        gap_fem__control(dim, n, f->per_element, f->ctrl_u, v, out);
        return size;
    }
    size = x ? gap_fem__relative(dim, f->per_element, v) : 0.0;
    if (x) gap_fem__control(dim, n, f->per_element, f->ctrl_u, v, extra);
    for (i = 0; i < f->geo_per_element * dim; ++i)
        v[i] = f->geo_x[gap_fem__z(geo[i / dim], dim) + (size_t)(i % dim)];
    size += gap_fem__relative(dim, f->geo_per_element, v);
    gap_fem__control(dim, n, f->geo_per_element, f->ctrl_x, v, out);
    for (i = 0; x && i < n * dim; ++i) out[i] += extra[i];
    return size;
}

/* Columns d/dxi_j of a map with control points c: coefficients r (c_(a+e_j) - c_(a+e_0)) of degree
   r-1, times the multinomial (so that products are plain convolutions). out: dim columns of n*dim.
   Also the largest length of each column's coefficients. */
static inline void gap_fem__columns(int dim, int r, const double *c, double *out, double *len)
{
    int n = gap_fem__count(dim, r - 1), a[4], i, j, k, up, lo;
    double m, s;

    for (j = 0; j < dim; ++j) {
        a[0] = r - 1;
        a[1] = a[2] = a[3] = 0;
        for (i = 0; i < n; ++i, gap_fem__next(dim, a)) {
            lo = gap_fem__pos(dim, r, a); /* one more in slot 0 */
            ++a[j + 1];
            up = gap_fem__pos(dim, r, a);
            --a[j + 1];
            m = r * gap_fem__multinomial(dim, a);
            for (s = 0.0, k = 0; k < dim; ++k) {
                out[(j * n + i) * dim + k] = m * (c[up * dim + k] - c[lo * dim + k]);
                s += (c[up * dim + k] - c[lo * dim + k]) * (c[up * dim + k] - c[lo * dim + k]);
            }
            len[j] = fmax(len[j], r * sqrt(s));
        }
    }
}

/* c += a x b in 3D, a 2D cross product goes into c[0]. */
static inline void gap_fem__cross_add(int dim, const double *a, const double *b, double *c)
{
    if (dim == 2) {
        c[0] += a[0] * b[1] - a[1] * b[0];
        return;
    }
    c[0] += a[1] * b[2] - a[2] * b[1];
    c[1] += a[2] * b[0] - a[0] * b[2];
    c[2] += a[0] * b[1] - a[1] * b[0];
}

/* Bernstein coefficients of det(columns) in xi (degree dim(r-1), lexicographic), and, if steps = 1,
   of degree dim in t between the columns at t = 0 and those at t = 1: out[i*(dim*steps+1) + t].
   Coefficients carry their multinomials while they are multiplied: convolutions add indices. */
static inline void gap_fem__det_form(int dim, int r, int steps, const double *c0, const double *c1,
    double *out)
{
    double cross[84 * 9], m, b;
    const double *c[2];
    int n = gap_fem__count(dim, r - 1), n2 = gap_fem__count(dim, 2 * (r - 1));
    int nd = gap_fem__count(dim, dim * (r - 1)), nt = dim * steps + 1;
    int a[4], e[4], g[4], i, j, k, s, t, w = dim == 2 ? 1 : 3;

    c[0] = c0;
    c[1] = c1;
    for (i = 0; i < n2 * 9; ++i) cross[i] = 0.0;
    for (i = 0; i < nd * nt; ++i) out[i] = 0.0;
    for (a[0] = r - 1, a[1] = a[2] = a[3] = 0, i = 0; i < n; ++i, gap_fem__next(dim, a)) {
        for (e[0] = r - 1, e[1] = e[2] = e[3] = 0, j = 0; j < n; ++j, gap_fem__next(dim, e)) {
            for (k = 0; k < 4; ++k) g[k] = a[k] + e[k];
            k = gap_fem__pos(dim, 2 * (r - 1), g);
            for (s = 0; s <= steps; ++s)
                for (t = 0; t <= steps; ++t)
                    gap_fem__cross_add(dim, c[s] + i * dim, c[t] + (n + j) * dim,
                        dim == 2 ? out + k * nt + s + t : cross + (k * 3 + s + t) * w);
        }
    }
    if (dim == 3) {
        a[0] = 2 * (r - 1);
        a[1] = a[2] = a[3] = 0;
        for (i = 0; i < n2; ++i, gap_fem__next(dim, a)) {
            for (e[0] = r - 1, e[1] = e[2] = e[3] = 0, j = 0; j < n; ++j, gap_fem__next(dim, e)) {
                for (k = 0; k < 4; ++k) g[k] = a[k] + e[k];
                k = gap_fem__pos(dim, 3 * (r - 1), g);
                for (s = 0; s <= 2 * steps; ++s)
                    for (t = 0; t <= steps; ++t) {
                        const double *p = cross + (i * 3 + s) * 3, *q = c[t] + (2 * n + j) * 3;
                        out[k * nt + s + t] += p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
                    }
            }
        }
    }
    for (a[0] = dim * (r - 1), a[1] = a[2] = a[3] = 0, i = 0; i < nd; ++i, gap_fem__next(dim, a)) {
        m = 1.0 / gap_fem__multinomial(dim, a);
        for (b = 1.0, t = 0; t < nt; ++t) {
            out[i * nt + t] *= m / b;
            b = b * (nt - 1 - t) / (t + 1);
        }
    }
}

/* Split along the edge (i, j) of the simplex at its middle: de Casteljau on every line of
   coefficients in that direction. c becomes the half at vertex i, d the half at vertex j. */
static inline void gap_fem__split(int dim, int m, int nt, int i, int j, double *c, double *d)
{
    int n = gap_fem__count(dim, m), a[4], l, s, k, t, len, at[10];
    double v[10];

    for (a[0] = m, a[1] = a[2] = a[3] = 0, l = 0; l < n; ++l, gap_fem__next(dim, a)) {
        int b[4];
        if (a[j]) continue;
        len = a[i];
        for (s = 0; s <= len; ++s) {
            memcpy(b, a, sizeof b);
            b[i] = len - s;
            b[j] = s;
            at[s] = gap_fem__pos(dim, m, b) * nt;
        }
        for (t = 0; t < nt; ++t) {
            for (s = 0; s <= len; ++s) v[s] = c[at[s] + t];
            for (s = 0; s <= len; ++s) { /* v[0] runs along one half, v[len-s] the other */
                c[at[s] + t] = v[0];
                d[at[len - s] + t] = v[len - s];
                for (k = 0; k < len - s; ++k) v[k] = 0.5 * (v[k] + v[k + 1]);
            }
        }
    }
}

/* Is the form above `low` on the simplex? OK: proven; INVERTED: a corner (a value of the form) is
   not above `refute`; UNDECIDED: a corner is in between, or after `depth` bisections of the longest
   edge. c is used up. */
static inline int gap_fem__above(int dim, int m, int nt, double *c, const double *vertex,
    double low, double refute, int depth)
{
    double d[220 * 4], v[12], w[12], len, best = -1.0, t;
    int n = gap_fem__count(dim, m) * nt, i, j, k, bi = 0, bj = 1, s = GAP_FEM_OK, a[4];

    for (i = 0; i < n && c[i] > low; ++i) continue;
    if (i == n) return GAP_FEM_OK;
    for (k = 0; k <= dim; ++k) {
        a[0] = a[1] = a[2] = a[3] = 0;
        a[k] = m;
        i = gap_fem__pos(dim, m, a) * nt;
        if (!(c[i] > refute) || !(c[i + nt - 1] > refute)) return GAP_FEM_INVERTED;
        if (!(c[i] > low) || !(c[i + nt - 1] > low)) s = GAP_FEM_UNDECIDED;
    }
    if (depth == 0 || s) return GAP_FEM_UNDECIDED;
    for (i = 0; i <= dim; ++i) {
        for (j = i + 1; j <= dim; ++j) {
            for (len = 0.0, k = 0; k < dim; ++k) {
                t = vertex[i * dim + k] - vertex[j * dim + k];
                len += t * t;
            }
            if (len > best) {
                best = len;
                bi = i;
                bj = j;
            }
        }
    }
    memcpy(v, vertex, sizeof(double) * (size_t)((dim + 1) * dim));
    memcpy(w, vertex, sizeof(double) * (size_t)((dim + 1) * dim));
    for (k = 0; k < dim; ++k)
        v[bj * dim + k] = w[bi * dim + k] = 0.5 * (vertex[bi * dim + k] + vertex[bj * dim + k]);
    gap_fem__split(dim, m, nt, bi, bj, c, d);
    s = gap_fem__above(dim, m, nt, c, v, low, refute, depth - 1);
    if (s == GAP_FEM_INVERTED || (s && refute == low)) return s;
    i = gap_fem__above(dim, m, nt, d, w, low, refute, depth - 1);
    return i == GAP_FEM_INVERTED ? i : s ? s : i;
}

/* Bound of the rounding error of det_form's coefficients. A B C: largest column lengths. A
   coefficient is two sums of at most 20 products each, with positive weights that sum to 1, so
   60 eps A B C bounds their rounding; control points are off by (k + 4) eps norm(C) times the
   element's size, which a column doubles and scales by r. */
static inline double gap_fem__slack(const gap_fem *f, const double *len, double size)
{
    const double eps = 1.1102230246251565e-16;
    double A = len[0], B = len[1], C = f->dim == 3 ? len[2] : 1.0;
    double off = 2.0 * f->map_order * (f->per_element + 4) * eps * f->ctrl_norm * size;
    double sum = A * B + (f->dim == 3 ? B * C + C * A : 0.0);

    if (f->dim == 2) sum = A + B;
    return 60.0 * eps * A * B * C + off * sum;
}

static const double gap_fem__corner[2][12] = {{0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}};

/* ---- P1 on straight neo-Hookean elements: LANES elements at once ---- */

/* Nodal block K_ab = w sum_jl g_aj (dP_ij/dF_kl) g_bl for nodes a, b >= 1 in every lane.
   Raw: with h = F^-T g it is mu g_a.g_b I + c h_b h_a^T + lambda h_a h_b^T. */
GAP_FEM__INLINE void gap_fem__raw_block(int n, const gap_fem__w *ga, const gap_fem__w *gb,
    const gap_fem__w *ha, const gap_fem__w *hb, const gap_fem__w *la, const gap_fem__w *mu,
    const gap_fem__w *c, gap_fem__w *K)
{
    gap_fem__w d = ga[0] * gb[0] + ga[1] * gb[1];
    int i, k;

    if (n == 3) d = d + ga[2] * gb[2];
    d = *mu * d;
    GAP_FEM__UNROLL
    for (i = 0; i < n; ++i)
        GAP_FEM__UNROLL
        for (k = 0; k < n; ++k) {
            K[i * n + k] = *c * (hb[i] * ha[k]) + *la * (ha[i] * hb[k]);
            if (i == k) K[i * n + k] = K[i * n + k] + d;
        }
}

/* Clamped: with y = V^T g and the modes' matrices, K = U R U^T where R_ii = A_ii y_ai y_bi
   + sum_{j != i} al_ij y_aj y_bj and R_ik = A_ik y_ai y_bk + be_ik y_ak y_bi. */
GAP_FEM__INLINE void gap_fem__psd_block(int n, const gap_fem__modes *m, const gap_fem__w *ya,
    const gap_fem__w *yb, gap_fem__w *K)
{
    gap_fem__w R[9], T[9], x;
    int i, j, k;

    GAP_FEM__UNROLL
    for (i = 0; i < n; ++i) {
        GAP_FEM__UNROLL
        for (k = 0; k < n; ++k) {
            x = m->A[i * n + k] * (ya[i] * yb[k]);
            if (i != k) x = x + m->be[i * n + k] * (ya[k] * yb[i]);
            GAP_FEM__UNROLL
            for (j = 0; j < n; ++j)
                if (i == k && j != i) x = x + m->al[i * n + j] * (ya[j] * yb[j]);
            R[i * n + k] = x;
        }
    }
    GAP_FEM__UNROLL
    for (i = 0; i < n; ++i)
        GAP_FEM__UNROLL
        for (k = 0; k < n; ++k) {
            T[i * n + k] = m->U[i * n] * R[k] + m->U[i * n + 1] * R[n + k];
            if (n == 3) T[i * n + k] = T[i * n + k] + m->U[i * n + 2] * R[2 * n + k];
        }
    GAP_FEM__UNROLL
    for (i = 0; i < n; ++i)
        GAP_FEM__UNROLL
        for (k = 0; k < n; ++k) {
            K[i * n + k] = T[i * n] * m->U[k * n] + T[i * n + 1] * m->U[k * n + 1];
            if (n == 3) K[i * n + k] = K[i * n + k] + T[i * n + 2] * m->U[k * n + 2];
        }
}

/* The whole element matrix: blocks of nodes 1..n, and node 0 by rows that sum to zero. */
GAP_FEM__INLINE void gap_fem__linear_hessian(int n, int psd, const gap_fem__w *F,
    const gap_fem__w *T, const gap_fem__w *g, const gap_fem__w *vol, const gap_fem__w *la,
    const gap_fem__w *mu, const gap_fem__w *c, const gap_fem__k *ok, double *const *out)
{
    gap_fem__w K[9], sum[27], y[9], zero, total[9], wl, wm, wc;
    gap_fem__modes m;
    int a, b, i, j, rows = n * (n + 1);

    gap_fem__fill(&zero, 0.0);
    wl = GAP_FEM__PICK(*ok, *vol * *la, zero);
    wm = GAP_FEM__PICK(*ok, *vol * *mu, zero);
    wc = GAP_FEM__PICK(*ok, *vol * *c, zero);
    if (psd) gap_fem__nh_modes(n, F, &wl, &wm, &wc, &m);
    GAP_FEM__UNROLL
    for (a = 0; a < n; ++a) {
        GAP_FEM__UNROLL
        for (i = 0; i < n; ++i) {
            y[a * n + i] = zero;
            GAP_FEM__UNROLL
            for (j = 0; j < n; ++j)
                y[a * n + i] = y[a * n + i] + g[a * n + j] * (psd ? m.V[j * n + i] : T[i * n + j]);
        }
    }
    GAP_FEM__UNROLL
    for (i = 0; i < n * n * n; ++i) sum[i] = zero;
    GAP_FEM__UNROLL
    for (i = 0; i < n * n; ++i) total[i] = zero;
    GAP_FEM__UNROLL
    for (a = 0; a < n; ++a) {
        GAP_FEM__UNROLL
        for (b = a; b < n; ++b) {
            if (psd) gap_fem__psd_block(n, &m, y + a * n, y + b * n, K);
            else gap_fem__raw_block(n, g + a * n, g + b * n, y + a * n, y + b * n, &wl, &wm, &wc,
                K);
            GAP_FEM__UNROLL
            for (i = 0; i < n; ++i) {
                GAP_FEM__UNROLL
                for (j = 0; j < n; ++j) {
                    gap_fem__put(K + i * n + j, out, ((a + 1) * n + i) * rows + (b + 1) * n + j);
                    sum[(b * n + i) * n + j] = sum[(b * n + i) * n + j] - K[i * n + j];
                    if (a == b) continue;
                    gap_fem__put(K + i * n + j, out, ((b + 1) * n + j) * rows + (a + 1) * n + i);
                    sum[(a * n + j) * n + i] = sum[(a * n + j) * n + i] - K[i * n + j];
                }
            }
        }
    }
    GAP_FEM__UNROLL
    for (b = 0; b < n; ++b) {
        GAP_FEM__UNROLL
        for (i = 0; i < n; ++i) {
            GAP_FEM__UNROLL
            for (j = 0; j < n; ++j) {
                gap_fem__put(sum + (b * n + i) * n + j, out, i * rows + (b + 1) * n + j);
                gap_fem__put(sum + (b * n + i) * n + j, out, ((b + 1) * n + j) * rows + i);
                total[i * n + j] = total[i * n + j] - sum[(b * n + i) * n + j];
            }
        }
    }
    GAP_FEM__UNROLL
    for (i = 0; i < n; ++i) /* symmetric up to rounding: one triangle, mirrored */
        GAP_FEM__UNROLL
        for (j = 0; j <= i; ++j) {
            gap_fem__put(total + i * n + j, out, i * rows + j);
            gap_fem__put(total + i * n + j, out, j * rows + i);
        }
}

/* F = I + sum_a (u_a - u_0) g_a^T of LANES elements; at[l] is the element in lane l. */
GAP_FEM__INLINE void gap_fem__linear_gather(int n, const gap_fem *f, const double *x,
    const size_t *at, gap_fem__w *F, gap_fem__w *g, gap_fem__w *vol)
{
    const double *px[4][4], *pr[4][4], *pg[4];
    gap_fem__w u0, d, r;
    size_t id;
    int a, c, j, l;

    GAP_FEM__UNROLL
    for (l = 0; l < GAP_FEM__LANES; ++l) {
        pg[l] = f->geo + at[l] * (size_t)(n * n + 1);
        GAP_FEM__UNROLL
        for (a = 0; a <= n; ++a) {
            id = (size_t)n * (size_t)f->node[at[l] * (size_t)(n + 1) + (size_t)a];
            px[a][l] = x + id;
            pr[a][l] = f->rest + id;
        }
    }
    GAP_FEM__UNROLL
    for (j = 0; j < n * n; ++j) {
        gap_fem__get(pg, j, g + j);
        gap_fem__fill(F + j, j % (n + 1) == 0 ? 1.0 : 0.0);
    }
    gap_fem__get(pg, n * n, vol);
    *vol = *vol * f->w_sum;
    GAP_FEM__UNROLL
    for (c = 0; c < n; ++c) {
        gap_fem__get(px[0], c, &u0);
        gap_fem__get(pr[0], c, &r);
        u0 = u0 - r;
        GAP_FEM__UNROLL
        for (a = 1; a <= n; ++a) {
            gap_fem__get(px[a], c, &d);
            gap_fem__get(pr[a], c, &r);
            d = (d - r) - u0;
            GAP_FEM__UNROLL
            for (j = 0; j < n; ++j) F[c * n + j] = F[c * n + j] + d * g[(a - 1) * n + j];
        }
    }
}

/* what: 0 energy (sum into out[0]), 1 gradient, 2 Hessian, 3 PSD Hessian. */
GAP_FEM__INLINE int gap_fem__linear(int n, const gap_fem *f, const double *x, int begin, int end,
    int what, double *out)
{
    const int size = what == 1 ? n * (n + 1) : n * n * (n + 1) * (n + 1);
    const double *pp[4];
    double *po[4], total = 0.0;
    gap_fem__w F[9], g[9], T[9], vol, la, mu, c, psi, v, s, zero;
    gap_fem__k ok;
    size_t at[4];
    int e, l, i, j, a, status = GAP_FEM_OK;

    gap_fem__fill(&zero, 0.0);
    for (e = begin; e < end; e += GAP_FEM__LANES) {
        GAP_FEM__UNROLL
        for (l = 0; l < GAP_FEM__LANES; ++l) {
            at[l] = (size_t)(e + l < end ? e + l : end - 1);
            pp[l] = f->par + 4 * at[l];
            po[l] = what ? out + (at[l] - (size_t)begin) * (size_t)size : out;
        }
        gap_fem__linear_gather(n, f, x, at, F, g, &vol);
        gap_fem__get(pp, 0, &la);
        gap_fem__get(pp, 1, &mu);
        gap_fem__nh(n, F, &la, &mu, &psi, T, &c, &ok);
        GAP_FEM__UNROLL
        for (l = 0; l < GAP_FEM__LANES; ++l)
            if (!GAP_FEM__AT(ok, l)) status = GAP_FEM_INVERTED;
        if (what == 0) {
            psi = psi * vol;
            for (l = 0; l < GAP_FEM__LANES && e + l < end; ++l) total += GAP_FEM__AT(psi, l);
        } else if (what == 1) {
            GAP_FEM__UNROLL
            for (i = 0; i < n; ++i) {
                GAP_FEM__UNROLL
                for (j = 0; j < n; ++j) { /* row i of w P */
                    v = (mu * F[i * n + j] - c * T[i * n + j]) * vol;
                    T[i * n + j] = GAP_FEM__PICK(ok, v, zero);
                }
                s = zero;
                GAP_FEM__UNROLL
                for (a = 0; a < n; ++a) {
                    v = T[i * n] * g[a * n] + T[i * n + 1] * g[a * n + 1];
                    if (n == 3) v = v + T[i * n + 2] * g[a * n + 2];
                    s = s - v;
                    gap_fem__put(&v, po, (a + 1) * n + i);
                }
                gap_fem__put(&s, po, i);
            }
        } else if (what == 2) {
            gap_fem__linear_hessian(n, 0, F, T, g, &vol, &la, &mu, &c, &ok, po);
        } else {
            gap_fem__linear_hessian(n, 1, F, T, g, &vol, &la, &mu, &c, &ok, po);
        }
    }
    if (what == 0) *out = status ? HUGE_VAL : total;
    return status;
}

/* ---- any order and material: quadrature points of one element in groups ---- */
#define GAP_FEM__GROUP 8

/* F at quadrature points first..first+n-1 of element e with nodal displacements u. */
GAP_FEM__INLINE void gap_fem__gradients(int dim, const gap_fem *f, int e, const double *u,
    int first, int n, double *F)
{
    int k = f->per_element, q, a, i, j;
    double D[9];

    for (q = first; q < first + n; ++q, F += dim * dim) {
        const double *d = f->dphi + gap_fem__z(q, k * dim);
        const double *R = f->geo + (gap_fem__z(e, f->geo_points)
            + (size_t)(f->geo_points > 1 ? q : 0)) * (size_t)(dim * dim + 1);
        GAP_FEM__UNROLL
        for (i = 0; i < dim * dim; ++i) D[i] = 0.0;
        for (a = 0; a < k; ++a)
            GAP_FEM__UNROLL
            for (i = 0; i < dim; ++i)
                GAP_FEM__UNROLL
                for (j = 0; j < dim; ++j) D[i * dim + j] += u[a * dim + i] * d[a * dim + j];
        GAP_FEM__UNROLL
        for (i = 0; i < dim; ++i) {
            GAP_FEM__UNROLL
            for (j = 0; j < dim; ++j) {
                double s = D[i * dim] * R[j] + D[i * dim + 1] * R[dim + j];
                if (dim == 3) s += D[i * dim + 2] * R[2 * dim + j];
                F[i * dim + j] = s + (i == j ? 1.0 : 0.0);
            }
        }
    }
}

static inline int gap_fem__material(const gap_fem *f, int n, const double *F, const double *par,
    int psd, double *psi, double *P, double *dP)
{
    if (f->opt.material)
        return f->opt.material(f->opt.material_user, f->dim, f->dim, n, F, par, psd, psi, P, dP);
    if (f->dim == 3) return gap_fem__nh_batch(3, n, F, par, 4, psd, psi, P, dP);
    return gap_fem__nh_batch(2, n, F, par, 4, psd, psi, P, dP);
}

/* Bring stress (rows 1) or tangent (rows dim*dim) at a point into reference coordinates:
   A_(r)(ij) -> w sum_j A_(r)(ij) R_(j'j). */
GAP_FEM__INLINE void gap_fem__pull(int dim, int rows, double w, const double *R, double *A)
{
    double t[3];
    int r, j;

    for (r = 0; r < rows * dim; ++r, A += dim) {
        GAP_FEM__UNROLL
        for (j = 0; j < dim; ++j) {
            t[j] = A[0] * R[j * dim] + A[1] * R[j * dim + 1];
            if (dim == 3) t[j] += A[2] * R[j * dim + 2];
        }
        GAP_FEM__UNROLL
        for (j = 0; j < dim; ++j) A[j] = w * t[j];
    }
}

/* K += sum over the n points of a group of G^T C G in reference coordinates, where C has been
   pulled on both sides. T[q][ij'][c][b] = sum_l' C_(ij')(cl') g_bl' first, with functions b along
   the vectors (k of them, wide with zeros), then K_(ai)(bc) = sum_qj' g_aj' T. Only blocks b >= a
   are right; the caller mirrors. dt: gradients as [q][l'][b]. */
GAP_FEM__INLINE void gap_fem__stiffness(int dim, int k, int wide, int n, const double *dphi,
    const double *dt, const double *C, double *T, double *K)
{
    enum { NV = 4 / GAP_FEM__LANES };
    int m = k * dim, dd = dim * dim, q, r, a, i, j, b, c, l, v;
    gap_fem__w acc[3][4], t, g[3];
    double out[4], *row;

    for (q = 0; q < n; ++q) {
        for (b = 0; b < wide; b += GAP_FEM__LANES) {
            GAP_FEM__UNROLL
            for (l = 0; l < dim; ++l) memcpy(g + l, dt + (q * dim + l) * wide + b, sizeof *g);
            for (r = 0; r < dd; ++r) {
                const double *s = C + (q * dd + r) * dd;
                GAP_FEM__UNROLL
                for (c = 0; c < dim; ++c) {
                    t = s[c * dim] * g[0] + s[c * dim + 1] * g[1];
                    if (dim == 3) t = t + s[c * dim + 2] * g[2];
                    memcpy(T + ((q * dd + r) * dim + c) * wide + b, &t, sizeof t);
                }
            }
        }
    }
    for (a = 0; a < k; ++a) {
        for (i = 0; i < dim; ++i) {
            for (b = a & ~3; b < wide; b += 4) {
                GAP_FEM__UNROLL
                for (c = 0; c < dim * NV; ++c) gap_fem__fill(&acc[c / NV][c % NV], 0.0);
                for (q = 0; q < n; ++q) {
                    GAP_FEM__UNROLL
                    for (j = 0; j < dim; ++j) {
                        const double *s = T + (q * dd + i * dim + j) * dim * wide + b;
                        double w = dphi[q * m + a * dim + j];
                        GAP_FEM__UNROLL
                        for (c = 0; c < dim * NV; ++c) {
                            memcpy(&t, s + c / NV * wide + c % NV * GAP_FEM__LANES, sizeof t);
                            acc[c / NV][c % NV] = acc[c / NV][c % NV] + w * t;
                        }
                    }
                }
                row = K + (a * dim + i) * m;
                for (c = 0; c < dim; ++c) {
                    for (v = 0; v < NV; ++v)
                        memcpy(out + v * GAP_FEM__LANES, &acc[c][v], sizeof t);
                    for (v = b < a ? a - b : 0; v < 4 && b + v < k; ++v)
                        row[(b + v) * dim + c] += out[v];
                }
            }
        }
    }
}

/* One element: energy, gradient or Hessian (what as above). */
GAP_FEM__INLINE int gap_fem__element(int dim, const gap_fem *f, const double *x, int e, int what,
    double *out)
{
    int dd = dim * dim, k = f->per_element, m = k * dim, q, n, i, j, a, b, bad = 0;
    int wide = (k + 3) & ~3;
    double u[35 * 3], F[9 * GAP_FEM__GROUP], P[9 * GAP_FEM__GROUP], psi[GAP_FEM__GROUP];
    double C[81 * GAP_FEM__GROUP], T[9 * 108 * GAP_FEM__GROUP], par[4 * GAP_FEM__GROUP], swap[81];
    const int *node = f->node + gap_fem__z(e, k);
    const double *R, *d;

    for (a = 0; a < k; ++a)
        for (i = 0; i < dim; ++i)
            u[a * dim + i] = x[gap_fem__z(node[a], dim) + (size_t)i]
                - f->rest[gap_fem__z(node[a], dim) + (size_t)i];
    for (i = 0; i < 4 * GAP_FEM__GROUP; ++i) par[i] = f->par[4 * (size_t)e + (size_t)(i % 4)];
    for (q = 0; what && q < (what == 1 ? m : m * m); ++q) out[q] = 0.0;
    for (q = 0; q < f->points; q += n) {
        n = f->points - q < GAP_FEM__GROUP ? f->points - q : GAP_FEM__GROUP;
        gap_fem__gradients(dim, f, e, u, q, n, F);
        if (gap_fem__material(f, n, F, par, what == 3, what ? NULL : psi, what == 1 ? P : NULL,
            what > 1 ? C : NULL)) bad = 1;
        for (i = 0; i < n; ++i) {
            R = f->geo + (gap_fem__z(e, f->geo_points) + (size_t)(f->geo_points > 1 ? q + i : 0))
                * (size_t)(dd + 1);
            d = f->dphi + gap_fem__z(q + i, m);
            if (what == 0) {
                *out += f->w[q + i] * R[dd] * psi[i];
            } else if (what == 1) {
                gap_fem__pull(dim, 1, f->w[q + i] * R[dd], R, P + i * dd);
                for (a = 0; a < k; ++a)
                    GAP_FEM__UNROLL
                    for (j = 0; j < dim; ++j) {
                        double s = P[i * dd + j * dim] * d[a * dim]
                            + P[i * dd + j * dim + 1] * d[a * dim + 1];
                        if (dim == 3) s += P[i * dd + j * dim + 2] * d[a * dim + 2];
                        out[a * dim + j] += s;
                    }
            } else { /* symmetric: pull rows, transpose, pull rows */
                gap_fem__pull(dim, dd, 1.0, R, C + i * dd * dd);
                for (a = 0; a < dd; ++a)
                    for (b = 0; b < dd; ++b) swap[a * dd + b] = C[(i * dd + b) * dd + a];
                gap_fem__pull(dim, dd, f->w[q + i] * R[dd], R, swap);
                memcpy(C + i * dd * dd, swap, sizeof(double) * (size_t)(dd * dd));
            }
        }
        if (what > 1)
            gap_fem__stiffness(dim, k, wide, n, f->dphi + gap_fem__z(q, m),
                f->dphi_t + gap_fem__z(q, dim * wide), C, T, out);
    }
    for (i = 0; what > 1 && i < m; ++i)
        for (j = 0; j < i; ++j) out[i * m + j] = out[j * m + i];
    return bad ? GAP_FEM_INVERTED : GAP_FEM_OK;
}

static inline int gap_fem__range(const gap_fem *f, const double *x, int begin, int end, int what,
    double *out)
{
    size_t size = (size_t)(f->per_element * f->dim);
    int e, status = GAP_FEM_OK;

    GAP_FEM_ASSERT(x && out && begin >= 0 && begin <= end && end <= f->elements);
    if (what == 0) *out = 0.0;
    if (begin == end) return status;
    if (f->order == 1 && f->geometry == 1 && !f->opt.material)
        return f->dim == 3 ? gap_fem__linear(3, f, x, begin, end, what, out)
            : gap_fem__linear(2, f, x, begin, end, what, out);
    if (what > 1) size *= size;
    for (e = begin; e < end; ++e) {
        double *to = what ? out + (size_t)(e - begin) * size : out;
        if (f->dim == 3 ? gap_fem__element(3, f, x, e, what, to)
            : gap_fem__element(2, f, x, e, what, to)) status = GAP_FEM_INVERTED;
    }
    if (what == 0 && status) *out = HUGE_VAL;
    return status;
}

/* ---- public functions ---- */
static inline int gap_fem__build(gap_fem *f, int nodes, const double *X, const int *elem)
{
    int dim = f->dim, same = f->order == f->geometry, s, i, n = f->elements * f->geo_per_element;
    unsigned char *used;
    size_t j;

    for (j = 0; j < gap_fem__z(nodes, dim); ++j) {
        if (X[j] - X[j] == 0.0) continue;
        f->bad = (int)(j / (size_t)dim);
        return GAP_FEM_ENONFIN;
    }
    for (i = 0; i < n; ++i) {
        if (elem[i] >= 0 && elem[i] < nodes) continue;
        f->bad = i / f->geo_per_element;
        return GAP_FEM_EINDEX;
    }
    f->geo_node = gap_fem__ints(f, (size_t)n);
    f->geo_x = f->geo_node ? gap_fem__doubles(f, gap_fem__z(nodes, dim)) : NULL;
    f->index_p = f->geo_x ? gap_fem__ints(f, gap_fem__z(f->per_element, dim + 1)) : NULL;
    f->index_q = f->index_p ? gap_fem__ints(f, gap_fem__z(f->geo_per_element, dim + 1)) : NULL;
    f->par = f->index_q ? gap_fem__doubles(f, gap_fem__z(f->elements, 4)) : NULL;
    f->density = f->par ? gap_fem__doubles(f, (size_t)f->elements) : NULL;
    f->node = !f->density ? NULL : same ? f->geo_node
        : gap_fem__ints(f, gap_fem__z(f->elements, f->per_element));
    if (!f->node) return GAP_FEM_ENOMEM;
    if (n) memcpy(f->geo_node, elem, sizeof(int) * (size_t)n);
    if (nodes) memcpy(f->geo_x, X, sizeof(double) * gap_fem__z(nodes, dim));
    gap_fem__lattice(dim, f->order, 0, f->index_p);
    gap_fem__lattice(dim, f->geometry, 0, f->index_q);
    gap_fem_uniform(f, 1.0, 0.3, 1.0);
    f->nodes = nodes;
    f->rest = f->geo_x;
    if (!same) {
        if ((s = gap_fem__number(f)) != 0 || (s = gap_fem__ascend(f)) != 0) return s;
        f->rest = gap_fem__doubles(f, gap_fem__z(f->nodes, dim));
        if (!f->rest) return GAP_FEM_ENOMEM;
        gap_fem__place(f);
    }
    used = (unsigned char *)gap_fem__take(f, (size_t)f->nodes, 1);
    if (!used) return GAP_FEM_ENOMEM;
    memset(used, 0, (size_t)f->nodes);
    for (i = 0; i < f->elements * f->per_element; ++i) used[f->node[i]] = 1;
    for (i = 0; i < f->nodes; ++i) f->unused += !used[i];
    gap_fem__drop(f);
    if ((s = gap_fem__tables(f)) != 0 || (s = gap_fem__rest_data(f)) != 0) return s;
    if ((s = gap_fem__boundary(f)) != 0 || (s = gap_fem__edges(f)) != 0) return s;
    return gap_fem__map(f);
}

GAP_FEM_API int gap_fem_init(gap_fem *f, int dim, int order, int geometry, int nodes,
    const double *X, int elements, const int *elem, const gap_fem_options *opt)
{
    int s;

    GAP_FEM_ASSERT(f && nodes >= 0 && elements >= 0 && (X || !nodes) && (elem || !elements));
    memset(f, 0, sizeof *f);
    f->bad = -1;
    if (opt) f->opt = *opt;
    if (!f->opt.realloc_fn) f->opt.realloc_fn = gap_fem__realloc_libc;
    if (dim < 2 || dim > 3 || order < 1 || order > 4 || geometry < 1 || geometry > 4)
        return GAP_FEM_EINPUT;
    f->dim = dim;
    f->order = order;
    f->geometry = geometry;
    f->elements = elements;
    f->geo_nodes = nodes;
    f->per_element = gap_fem__count(dim, order);
    f->per_facet = gap_fem__count(dim - 1, order);
    f->geo_per_element = gap_fem__count(dim, geometry);
    s = elements > INT_MAX / 105 || nodes > INT_MAX / 4 ? GAP_FEM_ESIZE
        : gap_fem__build(f, nodes, X, elem);
    if (s) {
        int bad = f->bad;
        gap_fem_free(f);
        f->bad = bad;
    }
    return s;
}

GAP_FEM_API void gap_fem_free(gap_fem *f)
{
    while (f->mems > 0) gap_fem__drop(f);
    memset(f, 0, sizeof *f);
    f->bad = -1;
}

GAP_FEM_API void gap_fem_uniform(gap_fem *f, double E, double nu, double density)
{
    int e;

    for (e = 0; e < f->elements; ++e) {
        double *p = f->par + 4 * (size_t)e;
        p[0] = E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
        p[1] = E / (2.0 * (1.0 + nu));
        p[2] = p[3] = 0.0;
        f->density[e] = density;
    }
}

GAP_FEM_API int gap_fem_orient(int dim, int geometry, const double *X, int elements, int *elem)
{
    int index[4 * 35], want[4], perm[35], old[35], n, e, a, i, j, t, turned = 0;
    double J[9];

    if (dim < 2 || dim > 3 || geometry < 1 || geometry > 4) return GAP_FEM_EINPUT;
    n = gap_fem__count(dim, geometry);
    gap_fem__lattice(dim, geometry, 0, index);
    for (a = 0; a < n; ++a) { /* the node that sits there after vertices 1 and 2 are exchanged */
        for (i = 0; i <= dim; ++i) want[i] = index[a * (dim + 1) + i];
        t = want[1];
        want[1] = want[2];
        want[2] = t;
        perm[a] = gap_fem__find(dim + 1, n, index, want);
    }
    for (e = 0; e < elements; ++e) {
        int *v = elem + gap_fem__z(e, n);
        for (i = 0; i < dim; ++i)
            for (j = 0; j < dim; ++j)
                J[i * dim + j] = X[gap_fem__z(v[j + 1], dim) + (size_t)i]
                    - X[gap_fem__z(v[0], dim) + (size_t)i];
        if (!(gap_fem__det(dim, J) < 0.0)) continue;
        memcpy(old, v, sizeof(int) * (size_t)n);
        for (a = 0; a < n; ++a) v[a] = old[perm[a]];
        ++turned;
    }
    return turned;
}

GAP_FEM_API void gap_fem_fix_unused(const gap_fem *f, unsigned char *fixed)
{
    unsigned char all = (unsigned char)((1 << f->dim) - 1), touched = 64;
    int i, n = f->elements * f->per_element;

    if (!f->unused) return;
    for (i = 0; i < n; ++i) fixed[f->node[i]] = (unsigned char)(fixed[f->node[i]] | touched);
    for (i = 0; i < f->nodes; ++i)
        fixed[i] = (unsigned char)(fixed[i] & touched ? fixed[i] & ~touched : fixed[i] | all);
}

GAP_FEM_API int gap_fem_energy(const gap_fem *f, const double *x, int begin, int end,
    double *energy)
{
    return gap_fem__range(f, x, begin, end, 0, energy);
}

GAP_FEM_API int gap_fem_gradient(const gap_fem *f, const double *x, int begin, int end,
    double *block)
{
    return gap_fem__range(f, x, begin, end, 1, block);
}

GAP_FEM_API int gap_fem_hessian(const gap_fem *f, const double *x, int begin, int end, int psd,
    double *block)
{
    return gap_fem__range(f, x, begin, end, psd ? 3 : 2, block);
}

/* M_ab = density sum_q w_q det phi_a phi_b of element e (k*k), or of the reference element with
   density 1 and det 1 (e < 0). */
static inline void gap_fem__mass_of(const gap_fem *f, int e, double *M)
{
    int k = f->per_element, q, a, b;
    double phi[35], dpsi[35 * 3], J[9], w;

    for (a = 0; a < k * k; ++a) M[a] = 0.0;
    for (q = 0; q < f->mass_points; ++q) {
        const double *xi = f->mass_xi + q * f->dim;
        w = f->mass_w[q];
        if (e >= 0) {
            gap_fem__eval(f->dim, f->geometry, f->index_q, xi, NULL, dpsi);
            gap_fem__jacobian(f, e, dpsi, J);
            w *= f->density[e] * gap_fem__det(f->dim, J);
        }
        gap_fem__eval(f->dim, f->order, f->index_p, xi, phi, NULL);
        for (a = 0; a < k; ++a)
            for (b = 0; b <= a; ++b) M[a * k + b] += w * phi[a] * phi[b];
    }
    for (a = 0; a < k; ++a)
        for (b = 0; b < a; ++b) M[b * k + a] = M[a * k + b];
}

/* The scalar mass matrix of element e; ref: that of the reference element, for straight ones. */
static inline void gap_fem__mass_scalar(const gap_fem *f, int e, const double *ref, double *M)
{
    int k = f->per_element, a;
    double s;

    if (f->geometry > 1) {
        gap_fem__mass_of(f, e, M);
        return;
    }
    s = f->density[e] * f->geo[(size_t)(e + 1) * (size_t)(f->dim * f->dim + 1) - 1];
    for (a = 0; a < k * k; ++a) M[a] = s * ref[a];
}

GAP_FEM_API void gap_fem_mass(const gap_fem *f, int begin, int end, double *block)
{
    int k = f->per_element, dim = f->dim, m = k * dim, e, a, b, c;
    double ref[35 * 35], M[35 * 35];

    GAP_FEM_ASSERT(begin >= 0 && begin <= end && end <= f->elements);
    if (f->geometry == 1) gap_fem__mass_of(f, -1, ref);
    for (e = begin; e < end; ++e, block += m * m) {
        gap_fem__mass_scalar(f, e, ref, M);
        for (a = 0; a < m * m; ++a) block[a] = 0.0;
        for (a = 0; a < k; ++a)
            for (b = 0; b < k; ++b)
                for (c = 0; c < dim; ++c) block[(a * dim + c) * m + b * dim + c] = M[a * k + b];
    }
}

GAP_FEM_API void gap_fem_mass_lumped(const gap_fem *f, double *mass)
{
    int k = f->per_element, e, a, b;
    double ref[35 * 35], M[35 * 35], total, diag, row;

    for (a = 0; a < f->nodes; ++a) mass[a] = 0.0;
    if (f->geometry == 1) gap_fem__mass_of(f, -1, ref);
    for (e = 0; e < f->elements; ++e) {
        gap_fem__mass_scalar(f, e, ref, M);
        for (total = diag = 0.0, a = 0; a < k * k; ++a) {
            total += M[a];
            if (a % (k + 1) == 0) diag += M[a];
        }
        for (a = 0; a < k; ++a) {
            for (row = 0.0, b = 0; b < k; ++b) row += M[a * k + b];
            mass[f->node[gap_fem__z(e, k) + (size_t)a]]
                += f->order == 1 ? row : M[a * k + a] * (total / diag);
        }
    }
}

GAP_FEM_API void gap_fem_body_force(const gap_fem *f, const double *g, int begin, int end,
    double *block)
{
    int k = f->per_element, e, a, b, c;
    double ref[35 * 35], M[35 * 35], row;

    GAP_FEM_ASSERT(g && begin >= 0 && begin <= end && end <= f->elements);
    if (f->geometry == 1) gap_fem__mass_of(f, -1, ref);
    for (e = begin; e < end; ++e) { /* int rho phi_a: the row sum of the mass matrix */
        gap_fem__mass_scalar(f, e, ref, M);
        for (a = 0; a < k; ++a) {
            for (row = 0.0, b = 0; b < k; ++b) row += M[a * k + b];
            for (c = 0; c < f->dim; ++c) *block++ = row * g[c];
        }
    }
}

/* Point q of a rule on facet i, seen from its element: xi, basis values phi (all nodes of the
   element), and tangent directions in reference coordinates. */
static inline void gap_fem__facet_point(const gap_fem *f, int i, const double *st, double *xi,
    double *tangent)
{
    int dim = f->dim, k = f->facet[2 * i + 1], c, j, v0 = gap_fem__face(dim, k, 0), v;

    for (c = 0; c < dim; ++c) xi[c] = v0 == c + 1;
    for (j = 0; j < dim - 1; ++j) {
        v = gap_fem__face(dim, k, j + 1);
        for (c = 0; c < dim; ++c) {
            tangent[j * dim + c] = (v == c + 1) - (v0 == c + 1);
            xi[c] += st[j] * tangent[j * dim + c];
        }
    }
}

/* Rule of the mass degree on facets; n <= 900 points of dim - 1 coordinates. */
static inline int gap_fem__facet_rule(const gap_fem *f, double *st, double *w)
{
    return gap_fem__rule(f->dim - 1, 2 * f->order + f->dim * (f->geometry - 1), st, w);
}

GAP_FEM_API void gap_fem_traction(const gap_fem *f, const double *t, int begin, int end,
    double *block)
{
    int dim = f->dim, kf = f->per_facet, local[4][15], i, q, n, a, c, j;
    double st[2 * 100], w[100], xi[3], tan[6], dpsi[35 * 3], phi[35], J[9], T[6], dA;

    GAP_FEM_ASSERT(t && begin >= 0 && begin <= end && end <= f->facets);
    for (a = 0; a <= dim; ++a) gap_fem__face_nodes(dim, f->order, f->index_p, a, local[a]);
    n = gap_fem__facet_rule(f, st, w);
    for (i = begin; i < end; ++i, block += kf * dim) {
        for (a = 0; a < kf * dim; ++a) block[a] = 0.0;
        for (q = 0; q < n; ++q) {
            gap_fem__facet_point(f, i, st + q * (dim - 1), xi, tan);
            gap_fem__eval(dim, f->geometry, f->index_q, xi, NULL, dpsi);
            gap_fem__eval(dim, f->order, f->index_p, xi, phi, NULL);
            gap_fem__jacobian(f, f->facet[2 * i], dpsi, J);
            for (j = 0; j < dim - 1; ++j)
                for (c = 0; c < dim; ++c)
                    for (T[j * dim + c] = 0.0, a = 0; a < dim; ++a)
                        T[j * dim + c] += J[c * dim + a] * tan[j * dim + a];
            if (dim == 2) {
                dA = sqrt(T[0] * T[0] + T[1] * T[1]);
            } else {
                double N[3] = {0, 0, 0};
                gap_fem__cross_add(3, T, T + 3, N);
                dA = sqrt(N[0] * N[0] + N[1] * N[1] + N[2] * N[2]);
            }
            for (a = 0; a < kf; ++a)
                for (c = 0; c < dim; ++c)
                    block[a * dim + c] += w[q] * dA * t[gap_fem__z(i, dim) + (size_t)c]
                        * phi[local[f->facet[2 * i + 1]][a]];
        }
    }
}

/* Position and tangents x_s (x_t) of the deformed facet at a point; phi and its derivatives d by
   s (and t) for the facet's nodes: out[0..2] values. */
static inline void gap_fem__facet_map(const gap_fem *f, int i, const double *x, const double *st,
    const int *local, double *pos, double *T, double *phi, double *d)
{
    int dim = f->dim, e = f->facet[2 * i], a, c, j, k, n;
    double xi[3], tan[6], val[35], der[35 * 3], s;
    const int *node;
    const double *y;
    int pass, geo = f->order < f->geometry;

    gap_fem__facet_point(f, i, st, xi, tan);
    for (c = 0; c < dim; ++c) pos[c] = 0.0;
    for (c = 0; c < 2 * dim; ++c) T[c] = 0.0;
    for (pass = 0; pass < 2; ++pass) { /* geometry if p < q, then displacements (or positions) */
        if (pass == 0 && !geo) continue;
        n = pass ? f->per_element : f->geo_per_element;
        node = pass ? f->node + gap_fem__z(e, n) : f->geo_node + gap_fem__z(e, n);
        gap_fem__eval(dim, pass ? f->order : f->geometry, pass ? f->index_p : f->index_q, xi, val,
            der);
        for (a = 0; a < n; ++a) {
            y = (pass ? x : f->geo_x) + gap_fem__z(node[a], dim);
            for (j = 0; j < dim; ++j) {
                if (j) {
                    for (s = 0.0, k = 0; k < dim; ++k)
                        s += der[a * dim + k] * tan[(j - 1) * dim + k];
                } else {
                    s = val[a];
                }
                for (c = 0; c < dim; ++c) {
                    double v = y[c]
                        - (pass && geo ? f->rest[gap_fem__z(node[a], dim) + (size_t)c] : 0.0);
                    if (j) T[(j - 1) * dim + c] += s * v;
                    else pos[c] += s * v;
                }
            }
        }
    }
    for (a = 0; a < f->per_facet; ++a) {
        phi[a] = val[local[a]];
        for (j = 0; j < dim - 1; ++j)
            for (d[j * 15 + a] = 0.0, k = 0; k < dim; ++k)
                d[j * 15 + a] += der[local[a] * dim + k] * tan[j * dim + k];
    }
}

/* Energy p/3 int x.(x_s x x_t): its derivative by node a is p/3 (phi_a x_s x x_t + phi_a,s x_t x x
   + phi_a,t x x x_s), that again by node b the cross product matrix [.] of
   v = phi_a (phi_b,t x_s - phi_b,s x_t) + phi_a,s (phi_b x_t - phi_b,t x)
     + phi_a,t (phi_b,s x - phi_b x_s). In 2D p/2 int x cross x_s, with the same pattern. */
static inline void gap_fem__pressure_point(int dim, int kf, double w, const double *pos,
    const double *T, const double *phi, const double *d, double *energy, double *g, double *H)
{
    double N[3] = {0, 0, 0}, A[3] = {0, 0, 0}, B[3] = {0, 0, 0}, v[3], s;
    int a, b, c, m = kf * dim;

    if (dim == 2) {
        *energy += w * (pos[0] * T[1] - pos[1] * T[0]);
        for (a = 0; a < kf; ++a) {
            g[2 * a] += w * (phi[a] * T[1] - d[a] * pos[1]);
            g[2 * a + 1] += w * (d[a] * pos[0] - phi[a] * T[0]);
            for (b = 0; b < kf && H; ++b) {
                s = w * (phi[a] * d[b] - d[a] * phi[b]);
                H[2 * a * m + 2 * b + 1] += s;
                H[(2 * a + 1) * m + 2 * b] -= s;
            }
        }
        return;
    }
    gap_fem__cross_add(3, T, T + 3, N);
    gap_fem__cross_add(3, T + 3, pos, A);
    gap_fem__cross_add(3, pos, T, B);
    *energy += w * (pos[0] * N[0] + pos[1] * N[1] + pos[2] * N[2]);
    for (a = 0; a < kf; ++a) {
        for (c = 0; c < 3; ++c)
            g[3 * a + c] += w * (phi[a] * N[c] + d[a] * A[c] + d[15 + a] * B[c]);
        for (b = 0; b < kf && H; ++b) {
            for (c = 0; c < 3; ++c)
                v[c] = w * (phi[a] * (d[15 + b] * T[c] - d[b] * T[3 + c])
                    + d[a] * (phi[b] * T[3 + c] - d[15 + b] * pos[c])
                    + d[15 + a] * (d[b] * pos[c] - phi[b] * T[c]));
            for (c = 0; c < 3; ++c) { /* [v]: v x . */
                H[(3 * a + c) * m + 3 * b + (c + 1) % 3] -= v[(c + 2) % 3];
                H[(3 * a + c) * m + 3 * b + (c + 2) % 3] += v[(c + 1) % 3];
            }
        }
    }
}

GAP_FEM_API void gap_fem_pressure(const gap_fem *f, const double *x, const double *p, int begin,
    int end, double *energy, double *gradient, double *hessian)
{
    int dim = f->dim, m = f->per_facet * dim, local[4][15], i, q, n, a;
    double st[2 * 100], w[100], pos[3], T[6], phi[15], d[30], g[45], sum = 0.0, part;

    GAP_FEM_ASSERT(x && p && begin >= 0 && begin <= end && end <= f->facets);
    for (a = 0; a <= dim; ++a) gap_fem__face_nodes(dim, f->order, f->index_p, a, local[a]);
    n = gap_fem__facet_rule(f, st, w);
    for (i = begin; i < end; ++i) {
        double *H = hessian ? hessian + (size_t)(i - begin) * (size_t)(m * m) : NULL;
        for (a = 0; a < m; ++a) g[a] = 0.0;
        for (a = 0; H && a < m * m; ++a) H[a] = 0.0;
        for (part = 0.0, q = 0; q < n; ++q) {
            gap_fem__facet_map(f, i, x, st + q * (dim - 1), local[f->facet[2 * i + 1]], pos, T, phi,
                d);
            gap_fem__pressure_point(dim, f->per_facet, p[i] * w[q] / dim, pos, T, phi, d, &part, g,
                H);
        }
        sum += part;
        if (gradient)
            memcpy(gradient + (size_t)(i - begin) * (size_t)m, g, sizeof(double) * (size_t)m);
    }
    if (energy) *energy = sum;
}

GAP_FEM_API int gap_fem_probe(const gap_fem *f, const double *x, int begin, int end, int count,
    const double *xi, double *pos, double *F, double *J, double *stress)
{
    int dim = f->dim, dd = dim * dim, e, q, a, i, j, l, status = GAP_FEM_OK;
    double phi[35], dphi[105], psi[35], dpsi[105], R[9], G[9], D[9], P[9], u, det, s;

    GAP_FEM_ASSERT(x && begin >= 0 && begin <= end && end <= f->elements && count >= 0);
    for (e = begin; e < end; ++e) {
        const int *node = f->node + gap_fem__z(e, f->per_element);
        const int *geo = f->geo_node + gap_fem__z(e, f->geo_per_element);
        for (q = 0; q < count; ++q) {
            double at[3] = {0, 0, 0};
            gap_fem__eval(dim, f->order, f->index_p, xi + q * dim, phi, dphi);
            gap_fem__eval(dim, f->geometry, f->index_q, xi + q * dim, psi, dpsi);
            gap_fem__jacobian(f, e, dpsi, D);
            gap_fem__invert(dim, D, R);
            for (i = 0; i < dd; ++i) D[i] = 0.0;
            for (a = 0; a < f->geo_per_element; ++a)
                for (i = 0; i < dim; ++i)
                    at[i] += psi[a] * f->geo_x[gap_fem__z(geo[a], dim) + (size_t)i];
            for (a = 0; a < f->per_element; ++a)
                for (i = 0; i < dim; ++i) {
                    u = x[gap_fem__z(node[a], dim) + (size_t)i]
                        - f->rest[gap_fem__z(node[a], dim) + (size_t)i];
                    at[i] += phi[a] * u;
                    for (j = 0; j < dim; ++j) D[i * dim + j] += u * dphi[a * dim + j];
                }
            for (i = 0; i < dim; ++i)
                for (j = 0; j < dim; ++j)
                    for (G[i * dim + j] = i == j, l = 0; l < dim; ++l)
                        G[i * dim + j] += D[i * dim + l] * R[l * dim + j];
            det = gap_fem__det(dim, G);
            if (!(det > 0.0)) status = GAP_FEM_INVERTED;
            for (i = 0; pos && i < dim; ++i) *pos++ = at[i];
            for (i = 0; F && i < dd; ++i) *F++ = G[i];
            if (J) *J++ = det;
            if (!stress) continue;
            gap_fem__material(f, 1, G, f->par + 4 * (size_t)e, 0, NULL, P, NULL);
            for (i = 0; i < dim; ++i)
                for (j = 0; j < dim; ++j) {
                    for (s = 0.0, l = 0; l < dim; ++l) s += P[i * dim + l] * G[j * dim + l];
                    *stress++ = s / det;
                }
        }
    }
    return status;
}

/* Status of one element at x + t d. Depth 15 is five uniform refinements in 3D. */
static inline int gap_fem__valid_one(const gap_fem *f, int e, const double *x, const double *d,
    double t)
{
    double c[35 * 3], col[3 * 20 * 3], out[220], len[3] = {0, 0, 0}, slack, size;
    int r = f->map_order, dim = f->dim;

    size = gap_fem__element_map(f, e, x, d, t, c);
    if (!(size < 1e100)) return GAP_FEM_INVERTED;
    gap_fem__columns(dim, r, c, col, len);
    gap_fem__det_form(dim, r, 0, col, NULL, out);
    slack = gap_fem__slack(f, len, size);
    return gap_fem__above(dim, dim * (r - 1), 1, out, gap_fem__corner[dim - 2], slack, -slack, 15);
}

GAP_FEM_API int gap_fem_valid(const gap_fem *f, const double *x, int begin, int end, int *status,
    int *bad)
{
    int e, s, first = GAP_FEM_OK;

    GAP_FEM_ASSERT(begin >= 0 && begin <= end && end <= f->elements);
    if (bad) *bad = -1;
    for (e = begin; e < end; ++e) {
        s = gap_fem__valid_one(f, e, x, NULL, 0.0);
        if (status) status[e - begin] = s;
        if (s && !first) {
            first = s;
            if (bad) *bad = e;
            if (!status) break;
        }
    }
    return first;
}

/* First t in [0, T] where 1 + a t + b t^2 + c t^3 falls to `low` < 1, rounded down; T if none.
   The roots of the derivative cut [0, T] into monotone pieces; bisection in the first one that ends
   below (no closed form: its discriminant cancels). */
static inline double gap_fem__cubic(double a, double b, double c, double low, double T)
{
    double cut[4], A = 3.0 * c, disc = b * b - A * a, q, r[2], t0 = 0.0, t1, mid;
    int n = 0, i, j;

#define GAP_FEM__CUBIC(t) (1.0 + (t) * (a + (t) * (b + (t) * c)))
    if (disc >= 0.0) {
        q = -(b + (b < 0.0 ? -sqrt(disc) : sqrt(disc)));
        r[0] = A != 0.0 ? q / A : -1.0;
        r[1] = q != 0.0 ? a / q : -1.0;
        for (i = 0; i < 2; ++i)
            if (r[i] > 0.0 && r[i] < T) cut[n++] = r[i];
        if (n == 2 && cut[0] > cut[1]) {
            q = cut[0];
            cut[0] = cut[1];
            cut[1] = q;
        }
    }
    cut[n++] = T;
    for (i = 0; i < n; ++i) {
        t1 = cut[i];
        if (!(GAP_FEM__CUBIC(t1) > low)) {
            for (j = 0; j < 60 && t1 - t0 > 1e-12 * t1; ++j) {
                mid = 0.5 * (t0 + t1);
                if (GAP_FEM__CUBIC(mid) > low) t0 = mid;
                else t1 = mid;
            }
            return t0;
        }
        t0 = t1;
    }
#undef GAP_FEM__CUBIC
    return T;
}

/* P1: det of the edges e + t q as a cubic (2D: quadratic) with coefficients k; low is a fifth of
   it plus the rounding of the coefficients at T, for which T is halved until it is small. */
static inline int gap_fem__step_linear(const gap_fem *f, const double *x, const double *d, int e,
    double *t)
{
    const double eps = 1.1102230246251565e-16;
    const int *node = f->node + gap_fem__z(e, f->per_element);
    double E[9], Q[9], M[9], k[4] = {0, 0, 0, 0}, le, lq, big, bigger, low, T = *t;
    int dim = f->dim, i, j, s, n;

    le = lq = 0.0;
    big = 1.0;
    for (j = 0; j < dim; ++j) { /* rows are edges */
        for (i = 0; i < dim; ++i) {
            E[j * dim + i] = x[gap_fem__z(node[j + 1], dim) + (size_t)i]
                - x[gap_fem__z(node[0], dim) + (size_t)i];
            Q[j * dim + i] = d[gap_fem__z(node[j + 1], dim) + (size_t)i]
                - d[gap_fem__z(node[0], dim) + (size_t)i];
            le = gap_fem__larger(le, fabs(E[j * dim + i]));
            lq = gap_fem__larger(lq, fabs(Q[j * dim + i]));
        }
    }
    for (s = 0; s < 1 << dim; ++s) { /* bit j: row j from Q */
        for (n = j = 0; j < dim; ++j) {
            n += s >> j & 1;
            for (i = 0; i < dim; ++i) M[j * dim + i] = (s >> j & 1 ? Q : E)[j * dim + i];
        }
        k[n] += gap_fem__det(dim, M);
    }
    for (j = 0; j < dim; ++j) big *= le;
    *t = 0.0;
    if (!(le < 1e100) || !(lq < 1e100)) return GAP_FEM_ENONFIN;
    if (!(k[0] > 0.0)) return GAP_FEM_INVERTED;
    if (!(k[0] > 100.0 * eps * big)) return GAP_FEM_UNDECIDED;
    for (;; T *= 0.5) {
        for (bigger = 1.0, j = 0; j < dim; ++j) bigger *= le + T * lq;
        low = 100.0 * eps * bigger / k[0];
        if (low < 0.1) break;
    }
    T = gap_fem__cubic(k[1] / k[0], k[2] / k[0], k[3] / k[0], 0.2 + low, T);
    *t = T;
    return GAP_FEM_OK;
}

/* Coefficients in t on [a, b] of a Bernstein form of degree n on [0, 1]: de Casteljau twice. */
static inline void gap_fem__restrict(int n, double a, double b, const double *c, double *out)
{
    double v[4], u;
    int i, j;

    for (i = 0; i <= n; ++i) v[i] = c[i];
    for (i = 1; i <= n; ++i) /* to [a, 1] */
        for (j = 0; j <= n - i; ++j) v[j] = (1.0 - a) * v[j] + a * v[j + 1];
    u = a < 1.0 ? (b - a) / (1.0 - a) : 0.0;
    for (i = 1; i <= n; ++i) /* and to its part up to b */
        for (j = n; j >= i; --j) v[j] = (1.0 - u) * v[j - 1] + u * v[j];
    for (i = 0; i <= n; ++i) out[i] = v[i];
}

/* High order: the form in (xi, t) on [0, T]. Certified intervals [at, at + step] are appended, step
   halved on failure, until it is below 1/16 of what is certified (or, at the start, 1e-12 T). */
static inline int gap_fem__step_curved(const gap_fem *f, const double *x, const double *d, int e,
    double *t)
{
    double c0[105], c1[105], col0[180], col1[180], form[220 * 4], part[220 * 4];
    double len[3] = {0, 0, 0}, size, slack, low, at = 0.0, step = 1.0, T = *t;
    int r = f->map_order, dim = f->dim, m = dim * (r - 1), n = gap_fem__count(dim, m), i, s;

    *t = 0.0;
    size = gap_fem__element_map(f, e, x, d, 0.0, c0);
    size = fmax(size, gap_fem__element_map(f, e, x, d, T, c1));
    if (!(size < 1e100)) return GAP_FEM_ENONFIN;
    s = gap_fem__valid_one(f, e, x, NULL, 0.0);
    if (s) return s;
    gap_fem__columns(dim, r, c0, col0, len);
    gap_fem__columns(dim, r, c1, col1, len);
    gap_fem__det_form(dim, r, 1, col0, col1, form);
    slack = 2.0 * gap_fem__slack(f, len, size);
    for (low = form[0], i = 1; i < n; ++i) low = fmin(low, form[i * (dim + 1)]);
    low = 0.1 * fmax(low, 0.0);
    while (at < 1.0 && step > fmax(0.0625 * at, 1e-12)) {
        if (at + step > 1.0) step = 1.0 - at;
        for (i = 0; i < n; ++i)
            gap_fem__restrict(dim, at, at + step, form + i * (dim + 1), part + i * (dim + 1));
        s = gap_fem__above(dim, m, dim + 1, part, gap_fem__corner[dim - 2], low + slack,
            low + slack, 12);
        if (s == GAP_FEM_OK) at += step;
        else step *= 0.5;
    }
    *t = at >= 1.0 ? T : at * T;
    return GAP_FEM_OK;
}

GAP_FEM_API int gap_fem_step(const gap_fem *f, const double *x, const double *d, int begin, int end,
    double t_max, double *t)
{
    double best = t_max, one;
    int e, s, tries;

    GAP_FEM_ASSERT(x && d && t && begin >= 0 && begin <= end && end <= f->elements);
    *t = 0.0;
    if (!(t_max >= 0.0 && t_max < HUGE_VAL)) return GAP_FEM_ENONFIN;
    for (e = begin; e < end; ++e) {
        one = best;
        s = f->map_order == 1 ? gap_fem__step_linear(f, x, d, e, &one)
            : gap_fem__step_curved(f, x, d, e, &one);
        if (s) return s;
        best = one;
    }
    for (tries = 0, e = begin; e < end; ++e) { /* the rounding of x + t d itself */
        while (best > 0.0 && gap_fem__valid_one(f, e, x, d, best)) {
            best = ++tries < 60 ? 0.5 * best : 0.0;
            e = begin;
        }
    }
    *t = best;
    return GAP_FEM_OK;
}
#endif /* GAP_FEM_IMPLEMENTATION */
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
