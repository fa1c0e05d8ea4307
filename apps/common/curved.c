/* curved.c - see curved.h */
#include "curved.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CURVED_UNIT (0.5 * DBL_EPSILON) /* rounding of one operation, relative */

/* Multi-indices of degree n with dim + 1 parts, and their place. */
typedef struct lattice {
    int n, count, a[220][4], at[10][10][10];
} lattice;

static void lattice_make(lattice *l, int dim, int n)
{
    int i, j, k;
    l->n = n;
    l->count = 0;
    for (k = 0; k <= (dim == 3 ? n : 0); ++k)
        for (j = 0; j + k <= n; ++j)
            for (i = 0; i + j + k <= n; ++i) {
                int *a = l->a[l->count];
                a[0] = n - i - j - k; a[1] = i; a[2] = j; a[3] = k;
                l->at[i][j][k] = l->count++;
            }
}

static int lattice_at(const lattice *l, const int a[4])
{
    return l->at[a[1]][a[2]][a[3]];
}

/* Gmsh's order of the nodes of a triangle with corners v[3], as multi-indices over v; `add` is
   added to each: corners, nodes along the edges, then the same inside, order lower by 3. */
static int gmsh_triangle(const int v[3], int order, const int add[4], int (*out)[4])
{
    int i, k, n = 0, inner[4];
    memcpy(inner, add, sizeof inner);
    if (order == 0) {
        memcpy(out[0], add, sizeof inner);
        return 1;
    }
    for (i = 0; i < 3; ++i, ++n) {
        memcpy(out[n], add, sizeof inner);
        out[n][v[i]] += order;
        ++inner[v[i]];
    }
    for (i = 0; i < 3; ++i)
        for (k = 1; k < order; ++k, ++n) {
            memcpy(out[n], add, sizeof inner);
            out[n][v[i]] += order - k;
            out[n][v[(i + 1) % 3]] += k;
        }
    return order < 3 ? n : n + gmsh_triangle(v, order - 3, inner, out + n);
}

static int gmsh_tet(int order, int (*out)[4])
{
    static const int edge[6][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 2}, {3, 1}};
    static const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {3, 1, 2}};
    int i, k, n = 0;
    memset(out, 0, 35 * sizeof *out);
    for (i = 0; i < 4; ++i) out[n++][i] = order;
    for (i = 0; i < 6; ++i)
        for (k = 1; k < order; ++k, ++n) {
            out[n][edge[i][0]] = order - k;
            out[n][edge[i][1]] = k;
        }
    for (i = 0; i < 4 && order > 2; ++i) {
        int add[4] = {0, 0, 0, 0};
        for (k = 0; k < 3; ++k) add[face[i][k]] = 1;
        n += gmsh_triangle(face[i], order - 3, add, out + n);
    }
    if (order == 4) {
        for (k = 0; k < 4; ++k) out[n][k] = 1;
        ++n;
    }
    return n;
}

struct curved {
    int dim, order, nodes;
    double bezier[35][35]; /* integers: control point = bezier * nodes / a common denominator */
    double row;            /* largest sum of |row| */
    lattice points, slopes, det;
    int terms, most;       /* of the product; most per coefficient */
    int (*term)[4];        /* slope along 1, 2, 3; coefficient of the determinant */
    double *weight;        /* convex per coefficient */
};

static double multinomial(const int a[4])
{
    int i, k, n = 0;
    double r = 1.0;
    for (i = 0; i < 4; ++i)
        for (k = 1; k <= a[i]; ++k) r = r * ++n / k;
    return r;
}

/* Inverse of a small matrix by elimination; what comes out is only a guess, see curved_bezier. */
static void invert(double (*a)[70], int n)
{
    int i, j, k;
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j) a[i][n + j] = i == j;
    for (i = 0; i < n; ++i) {
        int best = i;
        for (k = i + 1; k < n; ++k)
            if (fabs(a[k][i]) > fabs(a[best][i])) best = k;
        for (j = 0; j < 2 * n; ++j) {
            double t = a[i][j];
            a[i][j] = a[best][j];
            a[best][j] = t;
        }
        for (j = 2 * n - 1; j >= i; --j) a[i][j] /= a[i][i];
        for (k = 0; k < n; ++k)
            for (j = 2 * n - 1; k != i && j >= i; --j) a[k][j] -= a[k][i] * a[i][j];
    }
}

/* Control points from nodal values. With m the Bernstein polynomials at the nodes times
   order^order, integers, the map is order^order m^-1 = bezier / denominator; the guess is rounded
   to integers and m * bezier = denominator * order^order * 1 is checked in integers: a proof. */
static int curved_bezier(curved *c)
{
    static const int denominators[] = {1, 2, 3, 4, 6, 8, 12, 24, 48, 72, 144, 288};
    int64_t m[35][35], scale = 1, sum;
    double (*a)[70] = (double (*)[70])malloc(35 * sizeof *a);
    int node[35][4], corner[3] = {0, 1, 2}, none[4] = {0, 0, 0, 0};
    int i, j, k, d, ok = 0, n = c->nodes;
    if (!a) return 0;
    memset(node, 0, sizeof node);
    if (c->dim == 3) gmsh_tet(c->order, node);
    else gmsh_triangle(corner, c->order, none, node);
    for (i = 0; i < c->order; ++i) scale *= c->order;
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j) {
            m[i][j] = (int64_t)multinomial(c->points.a[j]);
            for (k = 0; k < 4; ++k)
                for (d = 0; d < c->points.a[j][k]; ++d) m[i][j] *= node[i][k];
            a[i][j] = (double)m[i][j];
        }
    invert(a, n);
    for (d = 0; d < 12 && !ok; ++d) {
        for (i = 0; i < n; ++i)
            for (j = 0; j < n; ++j)
                c->bezier[i][j] = nearbyint(a[i][n + j] * (double)scale * denominators[d]);
        ok = 1;
        for (i = 0; i < n && ok; ++i)
            for (j = 0; j < n && ok; ++j) {
                for (k = 0, sum = 0; k < n; ++k) sum += m[i][k] * (int64_t)c->bezier[k][j];
                ok = sum == (i == j ? scale * denominators[d] : 0);
            }
    }
    free(a);
    return ok;
}

/* det(slopes) has coefficients sum of w det(d1_a, d2_b, d3_c) over a + b + c = delta. */
static int curved_product(curved *c)
{
    int i, j, k, l, n = c->slopes.count, count[220], last = c->dim == 3 ? n : 1;
    memset(count, 0, sizeof count);
    c->term = (int (*)[4])malloc((size_t)n * (size_t)n * (size_t)last * sizeof *c->term);
    c->weight = (double *)malloc((size_t)n * (size_t)n * (size_t)last * sizeof(double));
    if (!c->term || !c->weight) return 0;
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j)
            for (k = 0; k < last; ++k) {
                int d[4], *t = c->term[c->terms];
                for (l = 0; l < 4; ++l)
                    d[l] = c->slopes.a[i][l] + c->slopes.a[j][l] +
                           (c->dim == 3 ? c->slopes.a[k][l] : 0);
                t[0] = i; t[1] = j; t[2] = k; t[3] = lattice_at(&c->det, d);
                c->weight[c->terms++] = multinomial(c->slopes.a[i]) * multinomial(c->slopes.a[j]) *
                    (c->dim == 3 ? multinomial(c->slopes.a[k]) : 1.0) / multinomial(d);
                if (++count[t[3]] > c->most) c->most = count[t[3]];
            }
    return 1;
}

void curved_free(curved *c)
{
    if (!c) return;
    free(c->term);
    free(c->weight);
    free(c);
}

curved *curved_make(int dim, int order)
{
    curved *c = (curved *)calloc(1, sizeof *c);
    int i, j;
    if (!c) return NULL;
    c->dim = dim;
    c->order = order;
    lattice_make(&c->points, dim, order);
    lattice_make(&c->slopes, dim, order - 1);
    lattice_make(&c->det, dim, dim * (order - 1));
    c->nodes = c->points.count;
    if (!curved_bezier(c) || !curved_product(c)) {
        curved_free(c);
        return NULL;
    }
    for (i = 0; i < c->nodes; ++i) {
        double sum = 0.0;
        for (j = 0; j < c->nodes; ++j) sum += fabs(c->bezier[i][j]);
        if (sum > c->row) c->row = sum;
    }
    return c;
}

/* Coefficients of the determinant up to a positive factor; returns a bound on their error.
   Slopes: differences from the first node (error u), sums of `nodes` products with integers, one
   subtraction: each component is off by at most e = 2 (nodes + 4) u row |y|. With g the largest
   slope, a 3x3 determinant of slopes is off by 6 (3 e g^2 + 8 u g^3) and their convex sum of `most`
   terms by (most + 4) u 6 g^3 more; 2x2: 2 (2 e g + 4 u g^2) and (most + 4) u 2 g^2. */
static double curved_det(const curved *c, const double *const *x, double *det)
{
    double y[35][3], p[35][3], d[3][20][3], big = 0.0, g = 0.0, e;
    int i, j, k, l, dim = c->dim;
    for (i = 0; i < c->nodes; ++i)
        for (k = 0; k < dim; ++k) {
            y[i][k] = x[i][k] - x[0][k];
            big = fmax(big, fabs(y[i][k]));
        }
    for (i = 0; i < c->nodes; ++i)
        for (k = 0; k < dim; ++k) {
            p[i][k] = 0.0;
            for (j = 0; j < c->nodes; ++j) p[i][k] += c->bezier[i][j] * y[j][k];
        }
    for (i = 0; i < c->slopes.count; ++i)
        for (l = 1; l <= dim; ++l) {
            int a[4], b[4];
            memcpy(a, c->slopes.a[i], sizeof a);
            memcpy(b, a, sizeof b);
            ++a[l];
            ++b[0];
            for (k = 0; k < dim; ++k) {
                d[l - 1][i][k] = p[lattice_at(&c->points, a)][k] - p[lattice_at(&c->points, b)][k];
                g = fmax(g, fabs(d[l - 1][i][k]));
            }
        }
    for (i = 0; i < c->det.count; ++i) det[i] = 0.0;
    for (i = 0; i < c->terms; ++i) {
        const int *t = c->term[i];
        const double *u = d[0][t[0]], *v = d[1][t[1]], *w = d[2][t[2]];
        det[t[3]] += c->weight[i] * (dim == 2 ? u[0] * v[1] - u[1] * v[0] :
            u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
            u[2] * (v[0] * w[1] - v[1] * w[0]));
    }
    e = 2.0 * (c->nodes + 4) * CURVED_UNIT * c->row * big;
    g += e;
    if (!(g > 1e-90 && g < 1e90)) return HUGE_VAL; /* products may leave the range: no proof */
    return 1.01 * (dim == 3 ? 6.0 * g * g * (3.0 * e + (12 + c->most) * CURVED_UNIT * g)
                            : 2.0 * g * (2.0 * e + (8 + c->most) * CURVED_UNIT * g));
}

/* A part of the element: its coefficients and its corners in the whole. */
typedef struct part {
    double c[220], corner[4][4];
} part;

/* Halves edge (i, j): along it, lines of equal other indices are Bezier curves, and de Casteljau's
   averages give both halves; q gets the half at j, p keeps the half at i. */
static void part_halve(const lattice *l, part *p, part *q, int i, int j)
{
    int s, k, r, m;
    double line[10];
    *q = *p;
    for (k = 0; k < l->count; ++k) {
        int a[4];
        memcpy(a, l->a[k], sizeof a);
        if (a[j] != 0) continue; /* k starts a line of degree a[i] */
        s = a[i];
        for (m = 0; m <= s; ++m) {
            a[i] = s - m; a[j] = m;
            line[m] = p->c[lattice_at(l, a)];
        }
        for (r = 0; r <= s; ++r) {
            a[i] = s - r; a[j] = r;
            p->c[lattice_at(l, a)] = line[0];
            a[i] = r; a[j] = s - r;
            q->c[lattice_at(l, a)] = line[s - r];
            for (m = 0; m < s - r; ++m) line[m] = 0.5 * (line[m] + line[m + 1]);
        }
    }
    for (k = 0; k < 4; ++k) {
        double mid = 0.5 * (p->corner[i][k] + p->corner[j][k]);
        p->corner[j][k] = mid;
        q->corner[i][k] = mid;
    }
}

static void part_longest(const part *p, int dim, int *bi, int *bj)
{
    int i, j, k;
    double best = -1.0;
    for (i = 0; i <= dim; ++i)
        for (j = i + 1; j <= dim; ++j) {
            double s = 0.0;
            for (k = 0; k <= dim; ++k)
                s += (p->corner[i][k] - p->corner[j][k]) * (p->corner[i][k] - p->corner[j][k]);
            if (s > best) {
                best = s;
                *bi = i;
                *bj = j;
            }
        }
}

enum { PARTS = 64, HALVINGS = 20000 };

/* 1 proved positive, -1 proved not, 0 cannot tell: within rounding of 0, or too many parts. Depth
   first on a stack, at most one waiting part per level. An average adds an error of u times the
   largest coefficient, degree of them per halving. */
int curved_sign(const curved *c, const double *const *x)
{
    part *stack = (part *)malloc(PARTS * sizeof *stack);
    int level[PARTS], n = 1, halvings = 0, i, k, a = 0, b = 1, answer = 1;
    double error, largest = 0.0;
    if (!stack) return 0;
    memset(stack, 0, sizeof *stack);
    error = curved_det(c, x, stack[0].c);
    for (i = 0; i < c->det.count; ++i) largest = fmax(largest, fabs(stack[0].c[i]));
    for (i = 0; i < 4; ++i) stack[0].corner[i][i] = 1.0;
    level[0] = 0;
    while (n > 0 && answer == 1) {
        part *p = &stack[--n];
        double e = error + level[n] * (c->det.n + 1) * CURVED_UNIT * largest, least = HUGE_VAL;
        for (i = 0; i < c->det.count; ++i) least = fmin(least, p->c[i]);
        if (least > e) continue;
        for (k = 0; k <= c->dim; ++k) { /* values of the determinant itself */
            int corner[4] = {0, 0, 0, 0};
            corner[k] = c->det.n;
            if (p->c[lattice_at(&c->det, corner)] < -e) answer = -1;
            else if (!(p->c[lattice_at(&c->det, corner)] > e) && answer > 0) answer = 0;
        }
        if (answer < 1) break;
        if (n + 2 > PARTS || ++halvings > HALVINGS || !(e < HUGE_VAL)) {
            answer = 0;
            break;
        }
        part_longest(p, c->dim, &a, &b);
        part_halve(&c->det, p, &stack[n + 1], a, b);
        level[n + 1] = ++level[n];
        n += 2;
    }
    free(stack);
    return answer;
}

int *curved_linear(const int *tri, int tris, int order, int *count)
{
    int node[15][4], corner[3] = {0, 1, 2}, none[4] = {0, 0, 0, 0}, at[5][5], i, a, b, n, m = 0;
    int *out = (int *)malloc((3 * (size_t)tris * (size_t)(order * order) + 1) * sizeof *out);
    if (!out) return NULL;
    n = gmsh_triangle(corner, order, none, node);
    for (i = 0; i < n; ++i) at[node[i][1]][node[i][2]] = i;
    for (i = 0; i < tris; ++i)
        for (a = 0; a < order; ++a)
            for (b = 0; a + b < order; ++b) {
                const int *t = tri + (size_t)n * (size_t)i;
                out[m++] = t[at[a][b]]; out[m++] = t[at[a + 1][b]]; out[m++] = t[at[a][b + 1]];
                if (a + b + 2 > order) continue;
                out[m++] = t[at[a + 1][b]]; out[m++] = t[at[a + 1][b + 1]];
                out[m++] = t[at[a][b + 1]];
            }
    *count = m / 3;
    return out;
}
