/* near.c - see near.h */
#include "near.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_UNIT (0.5 * DBL_EPSILON) /* rounding of one operation, relative */

/* inlined, unlike fmax; a NaN in b is passed over */
static double larger(double a, double b)
{
    return b > a ? b : a;
}

static double smaller(double a, double b)
{
    return b < a ? b : a;
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void sub(const double *a, const double *b, double *out)
{
    int k;
    for (k = 0; k < 3; ++k) out[k] = a[k] - b[k];
}

static void cross3(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double clamp(double t)
{
    return t > 0.0 ? t < 1.0 ? t : 1.0 : 0.0;
}

/* keeps the shorter of v and best */
static void keep(const double *v, double *best)
{
    if (dot(v, v) < dot(best, best)) memcpy(best, v, 3 * sizeof *v);
}

/* v minus its nearest point of the segment */
static void from_segment(const double *v, const double *a, const double *b, double *out)
{
    double e[3], w[3], t, ee;
    int k;
    sub(b, a, e);
    sub(v, a, w);
    ee = dot(e, e);
    t = ee > 0.0 ? clamp(dot(w, e) / ee) : 0.0;
    for (k = 0; k < 3; ++k) out[k] = w[k] - t * e[k];
    if (!(t > 0.0 && t < 1.0)) return;
    t = dot(out, e) / ee; /* once more: at right angles to the edge however short it is */
    for (k = 0; k < 3; ++k) out[k] -= t * e[k];
}

static void from_triangle(const double *v, const double *a, const double *b, const double *c,
    double *out)
{
    double e[3], f[3], n[3], w[3], t[3], s, u, q;
    int k;
    from_segment(v, a, b, out);
    from_segment(v, b, c, t);
    keep(t, out);
    from_segment(v, c, a, t);
    keep(t, out);
    sub(b, a, e);
    sub(c, a, f);
    sub(v, a, w);
    cross3(e, f, n);
    q = dot(n, n);
    if (!(q > 0.0)) return;
    cross3(w, f, t);
    s = dot(t, n) / q;
    cross3(e, w, t);
    u = dot(t, n) / q;
    if (s < 0.0 || u < 0.0 || s + u > 1.0) return;
    for (k = 0; k < 3; ++k) t[k] = n[k] * (dot(n, w) / q); /* the normal is exact, however near */
    keep(t, out);
}

static void between_segments(const double *a, const double *b, const double *c, const double *d,
    double *out)
{
    double e[3], f[3], n[3], w[3], t[3], s, u, q;
    int k;
    from_segment(a, c, d, out);
    from_segment(b, c, d, t);
    keep(t, out);
    for (k = 0; k < 2; ++k) {
        from_segment(k ? d : c, a, b, t);
        t[0] = -t[0]; t[1] = -t[1]; t[2] = -t[2];
        keep(t, out);
    }
    sub(b, a, e);
    sub(d, c, f);
    sub(c, a, w);
    cross3(e, f, n);
    q = dot(n, n);
    if (!(q > 0.0)) return;
    cross3(w, f, t);
    s = dot(t, n) / q;
    cross3(w, e, t);
    u = dot(t, n) / q;
    if (s < 0.0 || s > 1.0 || u < 0.0 || u > 1.0) return;
    for (k = 0; k < 3; ++k) t[k] = n[k] * (-dot(n, w) / q);
    keep(t, out);
}

/* first side minus second at the nearest points, up to rounding */
static void nearest(int kind, double (*y)[3], double *out)
{
    if (kind == 0) sub(y[0], y[1], out);
    else if (kind == 1) from_segment(y[0], y[1], y[2], out);
    else if (kind == 2) from_triangle(y[0], y[1], y[2], y[3], out);
    else between_segments(y[0], y[1], y[2], y[3], out);
}

void near_pair_make(near_pair *p, int kind, int dim, const int *a, const int *b, const double *x)
{
    int i, k;
    p->kind = kind;
    p->na = kind == 3 ? 2 : 1;
    p->nb = kind == 0 ? 1 : kind == 2 ? 3 : 2;
    p->size = 0.0;
    memset(p->y, 0, sizeof p->y);
    for (i = 0; i < p->na + p->nb; ++i) {
        p->node[i] = i < p->na ? a[i] : b[i - p->na];
        for (k = 0; k < dim; ++k) {
            p->y[i][k] = x[(size_t)dim * (size_t)p->node[i] + (size_t)k] -
                         x[(size_t)dim * (size_t)b[0] + (size_t)k];
            p->size = larger(p->size, fabs(p->y[i][k]));
        }
    }
}

/* Bounds on the distance. Above: the two points that `nearest` found lie in the simplices up to its
   rounding, at most 40 operations on numbers below 4 size. Below: along any direction n the sides
   are (min n.a - max n.b) / |n| apart. */
void near_bounds(near_pair *p, double *low, double *high)
{
    double n[3], length, first = HUGE_VAL, second = -HUGE_VAL, error = 256.0 * NEAR_UNIT * p->size;
    int i;
    nearest(p->kind, p->y, n);
    length = sqrt(dot(n, n));
    *high = length + error;
    *low = 0.0;
    if (!(length > 0.0)) return;
    for (i = 0; i < p->na + p->nb; ++i) {
        double t = dot(n, p->y[i]) / length;
        if (i < p->na) first = smaller(first, t);
        else second = larger(second, t);
    }
    *low = larger(0.0, first - second - error);
}

/* ---- boxes ---- */
enum { LEAF = 4 };

static double middle(const near_tree *t, int i, int axis)
{
    return t->box[6 * (size_t)i + (size_t)axis] + t->box[6 * (size_t)i + 3 + (size_t)axis];
}

/* puts the k-th smallest at k (quickselect, median of three; equal keys are shared out) */
static void median(const near_tree *t, int *o, int n, int k, int axis)
{
    int lo = 0, hi = n - 1, i, j, s;
    while (lo < hi) {
        double a = middle(t, o[lo], axis), b = middle(t, o[(lo + hi) / 2], axis);
        double c = middle(t, o[hi], axis);
        double pivot = larger(smaller(a, b), smaller(larger(a, b), c));
        for (i = lo, j = hi; i <= j; ) {
            while (middle(t, o[i], axis) < pivot) ++i;
            while (middle(t, o[j], axis) > pivot) --j;
            if (i <= j) { s = o[i]; o[i++] = o[j]; o[j--] = s; }
        }
        if (k <= j) hi = j;
        else if (k >= i) lo = i;
        else return;
    }
}

static void tree_split(near_tree *t, int at)
{
    int i, k, axis = 0, half, begin = t->node[at].begin, end = t->node[at].end;
    double *b = t->node[at].box;
    for (i = begin; i < end; ++i)
        for (k = 0; k < 3; ++k) {
            const double *s = t->box + 6 * (size_t)t->order[i];
            b[k] = i == begin ? s[k] : smaller(b[k], s[k]);
            b[3 + k] = i == begin ? s[3 + k] : larger(b[3 + k], s[3 + k]);
        }
    t->node[at].child = -1;
    if (end - begin <= LEAF) return;
    for (k = 1; k < 3; ++k)
        if (b[3 + k] - b[k] > b[3 + axis] - b[axis]) axis = k;
    half = (end - begin) / 2;
    median(t, t->order + begin, end - begin, half, axis);
    k = t->node[at].child = t->nodes;
    t->nodes += 2;
    t->node[k].begin = begin;
    t->node[k].end = t->node[k + 1].begin = begin + half;
    t->node[k + 1].end = end;
    tree_split(t, k); /* depth: log2 of the number */
    tree_split(t, k + 1);
}

void near_tree_free(near_tree *t)
{
    free(t->order);
    free(t->node);
    memset(t, 0, sizeof *t);
}

int near_tree_make(near_tree *t, int n, const double *box)
{
    int i;
    t->n = n;
    t->box = box;
    t->order = (int *)malloc(((size_t)n + 1) * sizeof(int));
    t->node = (near_node *)malloc((2 * (size_t)n + 1) * sizeof(near_node));
    if (!t->order || !t->node) {
        near_tree_free(t);
        return 0;
    }
    for (i = 0; i < n; ++i) t->order[i] = i;
    t->nodes = 1;
    t->node[0].begin = 0;
    t->node[0].end = n;
    if (n > 0) tree_split(t, 0);
    return 1;
}

/* squared distance of boxes, rounded down a little so that nothing is lost */
static double box_gap(const double *a, const double *b)
{
    double s = 0.0, d;
    int k;
    for (k = 0; k < 3; ++k) {
        d = larger(a[k] - b[3 + k], b[k] - a[3 + k]);
        d = larger(d, 0.0);
        s += d * d;
    }
    return s * (1.0 - 1e-12);
}

void near_tree_visit(const near_tree *t, const double *box, const double *limit, int after,
    near_visit visit, void *ctx)
{
    int stack[128], n = 0, i, far;
    double gap[128], g[2];
    if (t->n == 0) return;
    stack[n] = 0;
    gap[n++] = 0.0;
    while (n > 0) {
        const near_node *q = &t->node[stack[--n]];
        if (gap[n] > *limit) continue;
        if (q->child < 0) {
            for (i = q->begin; i < q->end; ++i)
                if (t->order[i] > after &&
                    box_gap(box, t->box + 6 * (size_t)t->order[i]) <= *limit)
                    visit(ctx, t->order[i]);
            continue;
        }
        for (i = 0; i < 2; ++i) g[i] = box_gap(box, t->node[q->child + i].box);
        far = g[1] >= g[0];
        for (i = 0; i < 2; ++i) { /* the nearer is pushed last and so done first */
            int c = i ? !far : far;
            if (g[c] > *limit) continue;
            stack[n] = q->child + c;
            gap[n++] = g[c];
        }
    }
}

/* n separates the sides at time t, rounding included: positions are off by 4 u size, products and
   sums by as much again. */
static int separates(const double *n, double (*y0)[3], double (*y1)[3], int na, int nb, double size,
    double t)
{
    double first = HUGE_VAL, second = -HUGE_VAL, v, z;
    int i, k;
    for (i = 0; i < na + nb; ++i) {
        for (k = 0, v = 0.0; k < 3; ++k) {
            z = y0[i][k] + t * (y1[i][k] - y0[i][k]);
            v += n[k] * z;
        }
        if (i < na) first = smaller(first, v);
        else second = larger(second, v);
    }
    return first - second > 64.0 * NEAR_UNIT * size * (fabs(n[0]) + fabs(n[1]) + fabs(n[2]));
}

/* det of rows a, b, c */
static double det3(const double *a, const double *b, const double *c)
{
    double n[3];
    cross3(b, c, n);
    return dot(a, n);
}

/* The volume of four points in linear motion is a cubic in t; its Bezier coefficients over
   [from, to] enclose it. Edges are off by 8 u size and at most 2 size long, so a determinant by
   less than 6 (3 * 8 * 4 + 8 * 8) u size^3 and their mean by less than 1024 u size^3. If the
   volume keeps its sign the points are never in one plane: vertex and face, or edge and edge,
   cannot meet. */
static int never_coplanar(double (*y0)[3], double (*y1)[3], double size, double from, double to)
{
    double a[3][3], b[3][3], c[4], error = 1024.0 * NEAR_UNIT * size * size * size;
    int i, k;
    for (i = 0; i < 3; ++i)
        for (k = 0; k < 3; ++k) {
            double d0 = y0[i + 1][k] - y0[0][k], d1 = y1[i + 1][k] - y1[0][k];
            a[i][k] = d0 + from * (d1 - d0);
            b[i][k] = d0 + to * (d1 - d0);
        }
    c[0] = det3(a[0], a[1], a[2]);
    c[1] = (det3(b[0], a[1], a[2]) + det3(a[0], b[1], a[2]) + det3(a[0], a[1], b[2])) / 3.0;
    c[2] = (det3(a[0], b[1], b[2]) + det3(b[0], a[1], b[2]) + det3(b[0], b[1], a[2])) / 3.0;
    c[3] = det3(b[0], b[1], b[2]);
    return (c[0] > error && c[1] > error && c[2] > error && c[3] > error) ||
           (c[0] < -error && c[1] < -error && c[2] < -error && c[3] < -error);
}

/* The same of three points in a coordinate plane, a quadratic: 2 (2 * 8 * 2 + 4 * 4) u size^2. */
static int never_collinear(double (*y0)[3], double (*y1)[3], double size, double from, double to)
{
    double a[2][3], b[2][3], c[3], error = 128.0 * NEAR_UNIT * size * size;
    int i, k;
    for (i = 0; i < 2; ++i)
        for (k = 0; k < 3; ++k) {
            double d0 = y0[i + 1][k] - y0[0][k], d1 = y1[i + 1][k] - y1[0][k];
            a[i][k] = d0 + from * (d1 - d0);
            b[i][k] = d0 + to * (d1 - d0);
        }
    for (k = 0; k < 3; ++k) {
        int p = (k + 1) % 3, q = (k + 2) % 3;
        c[0] = a[0][p] * a[1][q] - a[0][q] * a[1][p];
        c[1] = 0.5 * (a[0][p] * b[1][q] - a[0][q] * b[1][p]) +
               0.5 * (b[0][p] * a[1][q] - b[0][q] * a[1][p]);
        c[2] = b[0][p] * b[1][q] - b[0][q] * b[1][p];
        if ((c[0] > error && c[1] > error && c[2] > error) ||
            (c[0] < -error && c[1] < -error && c[2] < -error)) return 1;
    }
    return 0;
}

/* a proof for the whole interval, by a plane that stays or by a volume that keeps its sign */
static int apart_within(const near_pair *p, double (*y0)[3], double (*y1)[3], double size,
    const double *n, double from, double to)
{
    if (separates(n, y0, y1, p->na, p->nb, size, from) &&
        separates(n, y0, y1, p->na, p->nb, size, to)) return 1;
    if (!(size > 1e-90 && size < 1e90)) return 0; /* products may leave the range */
    if (p->kind > 1) return never_coplanar(y0, y1, size, from, to);
    return p->kind == 1 && never_collinear(y0, y1, size, from, to);
}

enum { TIMES = 64, SPLITS = 20000 };

int near_apart(const near_pair *p, double (*y1)[3], double size, double *when)
{
    double a[TIMES], b[TIMES], y0[4][3], mid[4][3], n[3], t;
    int count = 1, splits = 0, i, k;
    memcpy(y0, p->y, sizeof y0);
    a[0] = 0.0;
    b[0] = 1.0;
    while (count > 0) {
        double from = a[count - 1], to = b[count - 1];
        t = 0.5 * (from + to);
        for (i = 0; i < 4; ++i)
            for (k = 0; k < 3; ++k) mid[i][k] = y0[i][k] + t * (y1[i][k] - y0[i][k]);
        nearest(p->kind, mid, n);
        if (apart_within(p, y0, y1, size, n, from, to)) {
            --count;
            continue;
        }
        *when = t;
        if (count == TIMES || ++splits > SPLITS) return 0;
        if (!apart_within(p, y0, y1, size, n, t, t)) return 0; /* nearer than rounding */
        b[count] = t; /* the earlier half is done first */
        a[count] = from;
        a[count - 1] = t;
        ++count;
    }
    return 1;
}
