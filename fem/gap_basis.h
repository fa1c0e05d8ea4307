/* gap_basis.h - v0.1.0 - Lagrange simplices of order 1 to 8 and quadrature - MIT-0, see end
   Nodes, values and gradients of Lagrange segments, triangles and tetrahedra by one product
   formula, in Gmsh's node order, with VTK's order beside it, and cubature of any degree up to 127.
QUICK START
   #define GAP_BASIS_IMPLEMENTATION        // in exactly one .c or .cpp file
   #include "gap_basis.h"
   #include <stdio.h>
   int main(void)
   {
       double xi[3] = {0.25, 0.25, 0.25}, phi[10], q[3 * 15], w[15], sum = 0;
       int i, n = gap_basis_quadrature(3, 4, 15, q, w);
       gap_basis_eval(3, 2, 1, xi, phi, NULL);
       printf("vertex %.3f edge %.3f\n", phi[0], phi[4]); // vertex -0.125 edge 0.250
       for (i = 0; i < n; ++i) sum += w[i] * q[3 * i] * q[3 * i];
       printf("%d points, sum of x^2 = %.6f\n", n, sum); // 15 points, sum of x^2 = 0.016667
       return 0;
   }
GUARANTEES
   Exact      polynomials of degree <= order are reproduced to rounding; node values are 0 and 1.
   Positive   all quadrature weights are positive, all points lie strictly inside.
   Degree     every monomial up to the stated degree is integrated to 1e-14 relative (degree <= 30).
   Pure       no globals, no allocation, no I/O.
   Not        no bubble, Bernstein or hierarchical bases; no quadrilaterals or hexahedra.
OPTIONS (define before the implementation)
   GAP_BASIS_STATIC     keep all functions private to this file
   GAP_BASIS_ASSERT(x)  replaces assert(x)
EDGE CASES
   dim outside 1..3, order outside 1..8: GAP_BASIS_EINPUT.  degree < 0 counts as 0.
   degree above 127 or points above 64: GAP_BASIS_ESIZE.  xi outside the simplex: extrapolates.
METHOD
   A node has a multi-index i with sum p and sits at barycentric coordinates i/p. Its function is
   prod_k N_{i_k}(L_k), N_n(s) = prod_{m<n} (p s - m)/(m + 1); d/dxi_j = d/dL_j - d/dL_0.
   Reference simplex: v0 = 0, v_j = the j-th unit vector; L_j = xi_j, L_0 = 1 - sum.
   Rules: centroid (degree 1), Hammer-Stroud (2), Radon and Stroud (4, 5), otherwise Gauss-Jacobi
   points in the collapsed directions: n^dim points, degree 2n - 1.
NOT HERE   elements on a mesh: gap_fem.h.  materials: gap_elastic.h.
HISTORY    0.1.0 first release */
#ifndef GAP_BASIS_H
#define GAP_BASIS_H
#define GAP_BASIS_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_BASIS_STATIC
#define GAP_BASIS_API static inline
#else
#define GAP_BASIS_API extern
#endif
#ifdef __cplusplus
extern "C" {
#endif

#define GAP_BASIS_MAX_ORDER 8
#define GAP_BASIS_MAX_NODES 165 /* nodes of a tetrahedron of order 8 */

typedef enum gap_basis_status {
    GAP_BASIS_OK = 0,
    GAP_BASIS_ESIZE = -4,  /* degree or number of points too large; nothing written */
    GAP_BASIS_EINPUT = -6  /* dimension or order not known; nothing written */
} gap_basis_status;

/* Number of nodes of the simplex of this dimension (1..3) and order (1..8), or EINPUT. */
GAP_BASIS_API int gap_basis_count(int dim, int order);

/* Multi-indices of all nodes in Gmsh's order: vertices, edges, faces, interior.
   index  (dim + 1) * count ints; node a sits at barycentric coordinates index[a]/order.
   Returns the count, or EINPUT. */
GAP_BASIS_API int gap_basis_nodes(int dim, int order, int *index);

/* Number of the node with this multi-index (dim + 1 ints), or -1 if there is none. */
GAP_BASIS_API int gap_basis_find(int dim, int order, const int *index);

/* Order of VTK's Lagrange cells (types 68, 69, 71): perm[v] is our number of VTK's node v.
   perm  count ints.  Returns the count, or EINPUT. */
GAP_BASIS_API int gap_basis_vtk(int dim, int order, int *perm);

/* Values and reference gradients of all basis functions at some points.
   xi    dim * points
   phi   points * count, or NULL
   dphi  points * count * dim (point, function, direction), or NULL
   Returns the count, or EINPUT.  Cost: about 10 operations a value, 10 dim a gradient. */
GAP_BASIS_API int gap_basis_eval(int dim, int order, int points, const double *xi, double *phi,
    double *dphi);

/* Quadrature on the reference simplex, exact up to the degree (0..127). The weights sum to the
   measure 1/dim!.
   capacity  points that xi (dim each) and w (1 each) can hold; xi and w may be NULL if it is 0
   Returns the number of points; nothing is written if that exceeds the capacity. */
GAP_BASIS_API int gap_basis_quadrature(int dim, int degree, int capacity, double *xi, double *w);

/* The plain collapsed rule: n Gauss-Legendre points (1..64) in each direction through the map
   (a, b(1-a), c(1-a)(1-b)); degree 2n - dim. Only for comparison with published numbers.
   Parameters and result as above. */
GAP_BASIS_API int gap_basis_collapsed(int dim, int n, int capacity, double *xi, double *w);

#ifdef __cplusplus
}
#endif
#endif /* GAP_BASIS_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_BASIS_STATIC)) && !defined(GAP_BASIS_IMPLEMENTATION)
#define GAP_BASIS_IMPLEMENTATION
#endif
#if defined(GAP_BASIS_IMPLEMENTATION) && !defined(GAP_BASIS_IMPLEMENTED)
#define GAP_BASIS_IMPLEMENTED
#include <math.h>
#include <stddef.h>
#ifndef GAP_BASIS_ASSERT
#include <assert.h>
#define GAP_BASIS_ASSERT(x) assert(x)
#endif

/* [block lagrange home] Lagrange simplices: node counts, Gmsh and VTK lattices, evaluation */
static inline int gap_basis__count(int dim, int order)
{
    int n = order + 1;

    if (dim == 1) return n;
    if (dim == 2) return n * (order + 2) / 2;
    return n * (order + 2) * (order + 3) / 6;
}

/* Appends one multi-index base + a e_i + b e_j (dim + 1 slots) and returns the new end. */
static inline int *gap_basis__emit(int *out, int dim, const int base[4], int a, int i, int b, int j)
{
    int k;

    for (k = 0; k <= dim; ++k) out[k] = base[k];
    out[i] += a;
    out[j] += b;
    return out + dim + 1;
}

/* The inner nodes of the edge i-j of a simplex of this order, from i to j. */
static inline int *gap_basis__edge(int *out, int dim, int order, const int base[4], int i, int j)
{
    int k;

    for (k = 1; k < order; ++k) out = gap_basis__emit(out, dim, base, order - k, i, k, j);
    return out;
}

/* A triangle on the slots v: vertices, edges, then the inner triangle of order - 3. */
static inline int *gap_basis__tri(int *out, int dim, int order, const int base[4], const int v[3])
{
    int b[4] = {0, 0, 0, 0}, k;

    for (k = 0; k <= dim; ++k) b[k] = base[k];
    for (; order > 0; order -= 3) {
        for (k = 0; k < 3; ++k) out = gap_basis__emit(out, dim, b, order, v[k], 0, v[k]);
        for (k = 0; k < 3; ++k) out = gap_basis__edge(out, dim, order, b, v[k], v[(k + 1) % 3]);
        for (k = 0; k < 3; ++k) b[v[k]] += 1;
    }
    return order == 0 ? gap_basis__emit(out, dim, b, 0, 0, 0, 0) : out;
}

/* A tetrahedron: vertices, edges, faces, then the inner tetrahedron of order - 4. */
static inline int *gap_basis__tet(int *out, int order, int vtk)
{
    static const int edge[2][6][2] = {{{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 2}, {3, 1}},
        {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
    static const int face[2][4][3] = {{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {3, 1, 2}},
        {{0, 1, 3}, {2, 3, 1}, {0, 3, 2}, {0, 2, 1}}};
    int b[4] = {0, 0, 0, 0}, in[4], k, j;

    for (; order > 0; order -= 4) {
        for (k = 0; k < 4; ++k) out = gap_basis__emit(out, 3, b, order, k, 0, k);
        for (k = 0; k < 6; ++k)
            out = gap_basis__edge(out, 3, order, b, edge[vtk][k][0], edge[vtk][k][1]);
        for (k = 0; k < 4 && order > 2; ++k) {
            for (j = 0; j < 4; ++j) in[j] = b[j];
            for (j = 0; j < 3; ++j) in[face[vtk][k][j]] += 1;
            out = gap_basis__tri(out, 3, order - 3, in, face[vtk][k]);
        }
        for (k = 0; k < 4; ++k) b[k] += 1;
    }
    return order == 0 ? gap_basis__emit(out, 3, b, 0, 0, 0, 0) : out;
}

/* All multi-indices in Gmsh's (vtk = 0) or VTK's (vtk = 1) order. */
static inline void gap_basis__lattice(int dim, int order, int vtk, int *index)
{
    static const int zero[4] = {0, 0, 0, 0}, v[3] = {0, 1, 2};

    if (dim == 1) {
        index = gap_basis__emit(index, 1, zero, order, 0, 0, 0);
        index = gap_basis__emit(index, 1, zero, order, 1, 0, 0);
        gap_basis__edge(index, 1, order, zero, 0, 1);
    } else if (dim == 2) {
        gap_basis__tri(index, 2, order, zero, v);
    } else {
        gap_basis__tet(index, order, vtk);
    }
}

/* Values (or NULL) and reference gradients (or NULL) of all functions at one point.
   f[k][n], d[k][n] = N_n and N_n' at the barycentric coordinate L_k, by the product rule. */
static inline void gap_basis__eval(int dim, int order, const int *index, const double *xi,
    double *phi, double *dphi)
{
    double f[4][9], d[4][9], l, g[4], v;
    int n = gap_basis__count(dim, order), a, j, k, m;

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

/* [block gauss home] Gauss-Jacobi points and positive rules on simplices */

/* Jacobi polynomial P_n^(alpha,0) and its derivative at x by the three-term recurrence. */
static inline void gap_basis__jacobi(int n, int alpha, double x, double *p, double *dp)
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
static inline void gap_basis__gauss(int n, int alpha, double *t, double *w)
{
    double x, p, d, s, step;
    int i, j, it;

    for (i = 0; i < n; ++i) {
        x = -cos(3.14159265358979323846 * (i + 0.75) / (n + 0.5 + 0.5 * alpha));
        for (it = 0; it < 60; ++it) {
            gap_basis__jacobi(n, alpha, x, &p, &d);
            for (s = 0.0, j = 0; j < i; ++j) s += 1.0 / (x - (2.0 * t[j] - 1.0));
            step = p / (d - s * p);
            x -= step;
            if (fabs(step) < 1e-16) break;
        }
        gap_basis__jacobi(n, alpha, x, &p, &d);
        x -= p / d;
        gap_basis__jacobi(n, alpha, x, &p, &d);
        t[i] = 0.5 * (1.0 + x);
        w[i] = 1.0 / ((1.0 - x * x) * d * d);
    }
}

/* Product rule through (a, b(1-a), c(1-a)(1-b)). jacobi = 1 puts the powers of 1-a and 1-b into the
   weight (degree 2n-1), jacobi = 0 multiplies by them (degree 2n-dim). n <= 64. */
static inline void gap_basis__product(int dim, int n, int jacobi, double *xi, double *w)
{
    double t[3][64], u[3][64], a, b, c, wt;
    int i, j, k, nj = dim > 1 ? n : 1, nk = dim > 2 ? n : 1;

    for (k = 0; k < dim; ++k) gap_basis__gauss(n, jacobi ? dim - 1 - k : 0, t[k], u[k]);
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
static inline int gap_basis__orbit(int dim, double a, double b, int pair, double wt, double *xi,
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
static inline int gap_basis__rule(int dim, int degree, double *xi, double *w)
{
    const double r15 = sqrt(15.0), measure = dim == 1 ? 1.0 : dim == 2 ? 0.5 : 1.0 / 6.0;
    const double center = 1.0 / (dim + 1);
    int n = degree / 2 + 1, m = 0;

    if (dim == 1 || degree == 3 || degree > 5) {
        if (xi) gap_basis__product(dim, n, 1, xi, w);
        return dim == 1 ? n : dim == 2 ? n * n : n * n * n;
    }
    if (!xi) return degree < 2 ? 1 : degree == 2 ? dim + 1 : dim == 2 ? 7 : 15;
    if (degree == 2) {
        double a = dim == 2 ? 1.0 / 6.0 : (5.0 - sqrt(5.0)) / 20.0;
        return gap_basis__orbit(dim, a, 1.0 - dim * a, 0, measure / (dim + 1), xi, w);
    }
    for (m = 0; m < dim; ++m) xi[m] = center;
    w[0] = degree < 2 ? measure : dim == 2 ? 9.0 / 80.0 : 16.0 / 135.0 * measure;
    if (degree < 2) return 1;
    for (m = 1, n = -1; n <= 1; n += 2) {
        double r = n * r15, a = dim == 2 ? (6.0 + r) / 21.0 : (7.0 + r) / 34.0;
        double wt = dim == 2 ? (155.0 + r) / 2400.0 : (2665.0 - 14.0 * r) / 226800.0;
        m += gap_basis__orbit(dim, a, 1.0 - dim * a, 0, wt, xi + m * dim, w + m);
    }
    if (dim == 3) {
        m += gap_basis__orbit(3, 0.25 - r15 / 20.0, 0.25 + r15 / 20.0, 1, 10.0 / 1134.0,
            xi + m * dim, w + m);
    }
    return m;
}
/* [end gauss] */

static inline int gap_basis__known(int dim, int order)
{
    return dim >= 1 && dim <= 3 && order >= 1 && order <= GAP_BASIS_MAX_ORDER;
}

GAP_BASIS_API int gap_basis_count(int dim, int order)
{
    return gap_basis__known(dim, order) ? gap_basis__count(dim, order) : GAP_BASIS_EINPUT;
}

GAP_BASIS_API int gap_basis_nodes(int dim, int order, int *index)
{
    GAP_BASIS_ASSERT(index);
    if (!gap_basis__known(dim, order)) return GAP_BASIS_EINPUT;
    gap_basis__lattice(dim, order, 0, index);
    return gap_basis__count(dim, order);
}

GAP_BASIS_API int gap_basis_find(int dim, int order, const int *index)
{
    int all[4 * GAP_BASIS_MAX_NODES], n, a, k;

    GAP_BASIS_ASSERT(index);
    if (!gap_basis__known(dim, order)) return -1;
    gap_basis__lattice(dim, order, 0, all);
    n = gap_basis__count(dim, order);
    for (a = 0; a < n; ++a) {
        for (k = 0; k <= dim && all[a * (dim + 1) + k] == index[k]; ++k) continue;
        if (k > dim) return a;
    }
    return -1;
}

GAP_BASIS_API int gap_basis_vtk(int dim, int order, int *perm)
{
    int vtk[4 * GAP_BASIS_MAX_NODES], n, a;

    GAP_BASIS_ASSERT(perm);
    if (!gap_basis__known(dim, order)) return GAP_BASIS_EINPUT;
    gap_basis__lattice(dim, order, 1, vtk);
    n = gap_basis__count(dim, order);
    for (a = 0; a < n; ++a) perm[a] = gap_basis_find(dim, order, vtk + a * (dim + 1));
    return n;
}

GAP_BASIS_API int gap_basis_eval(int dim, int order, int points, const double *xi, double *phi,
    double *dphi)
{
    int index[4 * GAP_BASIS_MAX_NODES], n, i;

    GAP_BASIS_ASSERT(points >= 0 && (xi || !points));
    if (!gap_basis__known(dim, order)) return GAP_BASIS_EINPUT;
    gap_basis__lattice(dim, order, 0, index);
    n = gap_basis__count(dim, order);
    for (i = 0; i < points; ++i) {
        gap_basis__eval(dim, order, index, xi + (size_t)i * (size_t)dim,
            phi ? phi + (size_t)i * (size_t)n : NULL,
            dphi ? dphi + (size_t)i * (size_t)(n * dim) : NULL);
    }
    return n;
}

GAP_BASIS_API int gap_basis_quadrature(int dim, int degree, int capacity, double *xi, double *w)
{
    int n;

    GAP_BASIS_ASSERT(capacity >= 0 && ((xi && w) || !capacity));
    if (dim < 1 || dim > 3) return GAP_BASIS_EINPUT;
    if (degree > 127) return GAP_BASIS_ESIZE;
    if (degree < 0) degree = 0;
    n = gap_basis__rule(dim, degree, NULL, NULL);
    return n <= capacity ? gap_basis__rule(dim, degree, xi, w) : n;
}

GAP_BASIS_API int gap_basis_collapsed(int dim, int n, int capacity, double *xi, double *w)
{
    int count;

    GAP_BASIS_ASSERT(capacity >= 0 && ((xi && w) || !capacity));
    if (dim < 1 || dim > 3 || n < 1) return GAP_BASIS_EINPUT;
    if (n > 64) return GAP_BASIS_ESIZE;
    count = dim == 1 ? n : dim == 2 ? n * n : n * n * n;
    if (count <= capacity) gap_basis__product(dim, n, 0, xi, w);
    return count;
}
#endif /* GAP_BASIS_IMPLEMENTATION */
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
