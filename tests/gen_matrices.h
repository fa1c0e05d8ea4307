/* The sparse matrices that test_ldlt.c and bench_ldlt.c measure on: A = M/dt^2 + K (+ contacts),
   dt = 0.01, 3 dof per node, lower block rows (block size 3) as gap_ldlt.h takes them.
   p1: jittered Kuhn cube of linear tets; p1c, p1ch: with self contacts; two: two cubes in contact;
   p2: quadratic tets; shell, shellc: CST membrane with hinges, without and with far contacts;
   ball: an irregular graded ball of tets (no structure). Everything by formula, no files. */
#ifndef GEN_MATRICES_H
#define GEN_MATRICES_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct gen_matrix {
    int n;       /* nodes */
    int *ptr;    /* n + 1 */
    int *col;    /* ptr[n], ascending, diagonal last */
    double *val; /* 9 ptr[n] */
    double *x;   /* 3 n coordinates */
} gen_matrix;

/* one 3x3 block at (i >= j), before duplicates are added up */
typedef struct gen_triplet { int i, j; double a[9]; } gen_triplet;
typedef struct gen_list { gen_triplet *t; size_t count, cap; double *x; int n; } gen_list;

static inline uint64_t gen_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline double gen_uniform(uint64_t *state)
{
    return (double)(gen_next(state) >> 11) / 9007199254740992.0;
}

static inline double gen_hash(uint64_t i)
{
    uint64_t state = i * 0xD1342543DE82EF95u + 1;
    return gen_uniform(&state);
}

static inline int gen_below(uint64_t *state, int m)
{
    return (int)(gen_next(state) % (uint64_t)m);
}

static inline void gen_add(gen_list *l, int i, int j, const double a[9])
{
    gen_triplet *t;
    int r, c;

    if (l->count == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 4096;
        l->t = (gen_triplet *)realloc(l->t, l->cap * sizeof *l->t);
    }
    t = &l->t[l->count++];
    t->i = i > j ? i : j;
    t->j = i > j ? j : i;
    for (r = 0; r < 3; ++r)
        for (c = 0; c < 3; ++c) t->a[3 * r + c] = i >= j ? a[3 * r + c] : a[3 * c + r];
}

static inline void gen_add_scaled_identity(gen_list *l, int i, int j, double s)
{
    double a[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    a[0] = a[4] = a[8] = s;
    gen_add(l, i, j, a);
}

static inline int gen_compare(const void *p, const void *q)
{
    const gen_triplet *a = (const gen_triplet *)p, *b = (const gen_triplet *)q;
    if (a->i != b->i) return a->i < b->i ? -1 : 1;
    return a->j < b->j ? -1 : a->j > b->j;
}

/* Add up the triplets; a counting sort by row keeps the order of addition. Frees the list. */
static inline void gen_finish(gen_list *l, gen_matrix *m)
{
    size_t *start = (size_t *)calloc((size_t)l->n + 2, sizeof *start), k;
    gen_triplet *sorted = (gen_triplet *)malloc((l->count + 1) * sizeof *sorted);
    int *last = (int *)malloc(((size_t)l->n + 1) * sizeof *last);
    int i, c, used = 0;

    for (k = 0; k < l->count; ++k) ++start[l->t[k].j + 1];
    for (i = 0; i < l->n; ++i) start[i + 1] += start[i];
    for (k = 0; k < l->count; ++k) sorted[start[l->t[k].j]++] = l->t[k];
    memset(start, 0, ((size_t)l->n + 2) * sizeof *start);
    for (k = 0; k < l->count; ++k) ++start[sorted[k].i + 1];
    for (i = 0; i < l->n; ++i) start[i + 1] += start[i];
    for (k = 0; k < l->count; ++k) l->t[start[sorted[k].i]++] = sorted[k];
    free(sorted);
    m->n = l->n;
    m->x = l->x;
    m->ptr = (int *)calloc((size_t)l->n + 1, sizeof *m->ptr);
    m->col = (int *)malloc((l->count + 1) * sizeof *m->col);
    m->val = (double *)malloc((l->count + 1) * 9 * sizeof *m->val);
    for (k = 0; k < l->count; ++k) {
        if (k == 0 || gen_compare(&l->t[k], &l->t[k - 1]) != 0) {
            m->col[used] = l->t[k].j;
            memset(m->val + 9 * (size_t)used, 0, 9 * sizeof *m->val);
            ++used;
        }
        for (c = 0; c < 9; ++c) m->val[9 * (size_t)(used - 1) + (size_t)c] += l->t[k].a[c];
        m->ptr[l->t[k].i + 1] = used;
    }
    for (i = 0; i < l->n; ++i)
        if (m->ptr[i + 1] < m->ptr[i]) m->ptr[i + 1] = m->ptr[i];
    free(last);
    free(start);
    free(l->t);
}

static inline void gen_free(gen_matrix *m)
{
    free(m->ptr);
    free(m->col);
    free(m->val);
    free(m->x);
    memset(m, 0, sizeof *m);
}

/* Barycentric gradients g[4][3] and volume of a tet. */
static inline double gen_tet_gradients(const double *p[4], double g[4][3])
{
    double e[3][3], det;
    int a, c;

    for (a = 0; a < 3; ++a)
        for (c = 0; c < 3; ++c) e[a][c] = p[a + 1][c] - p[0][c];
    for (a = 0; a < 3; ++a) {
        const double *u = e[(a + 1) % 3], *v = e[(a + 2) % 3];
        g[a + 1][0] = u[1] * v[2] - u[2] * v[1];
        g[a + 1][1] = u[2] * v[0] - u[0] * v[2];
        g[a + 1][2] = u[0] * v[1] - u[1] * v[0];
    }
    det = e[0][0] * g[1][0] + e[0][1] * g[1][1] + e[0][2] * g[1][2];
    for (a = 1; a < 4; ++a)
        for (c = 0; c < 3; ++c) g[a][c] /= det;
    for (c = 0; c < 3; ++c) g[0][c] = -g[1][c] - g[2][c] - g[3][c];
    return fabs(det) / 6.0;
}

/* K_ab = V [lam g_a g_b^T + mu g_b g_a^T + mu (g_a.g_b) I] */
static inline void gen_elastic_block(const double *ga, const double *gb, double vol, double lam,
    double mu, double k[9])
{
    double dot = ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2];
    int r, c;

    for (r = 0; r < 3; ++r)
        for (c = 0; c < 3; ++c)
            k[3 * r + c] = vol * (lam * ga[r] * gb[c] + mu * gb[r] * ga[c]
                                  + (r == c ? mu * dot : 0.0));
}

static inline void gen_p1_tet(gen_list *l, const int v[4], double young)
{
    double nu = 0.4, lam = young * nu / ((1 + nu) * (1 - 2 * nu)), mu = young / (2 * (1 + nu));
    double g[4][3], k[9], vol;
    const double *p[4];
    int a, b;

    for (a = 0; a < 4; ++a) p[a] = l->x + 3 * v[a];
    vol = gen_tet_gradients(p, g);
    for (a = 0; a < 4; ++a) {
        gen_add_scaled_identity(l, v[a], v[a], 1000.0 * vol / 4.0 * 1e4);
        for (b = 0; b < 4; ++b)
            if (v[a] >= v[b]) {
                gen_elastic_block(g[a], g[b], vol, lam, mu, k);
                gen_add(l, v[a], v[b], k);
            }
    }
}

/* Corner numbers (bit 0 x, 1 y, 2 z) of the six Kuhn tets: paths 000 -> 111. */
static const int gen_kuhn[6][4] = {
    {0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}};

static inline int gen_grid(int n, int i, int j, int k)
{
    return i + (n + 1) * (j + (n + 1) * k);
}

/* A cube of (n+1)^3 nodes, ids from base, moved by dz. */
static inline void gen_cube(gen_list *l, int n, int base, double dz, double young)
{
    double s = 1.0 / n;
    int i, j, k, c, t, v[4];

    for (k = 0; k <= n; ++k)
        for (j = 0; j <= n; ++j)
            for (i = 0; i <= n; ++i) {
                int idx[3], id = gen_grid(n, i, j, k);
                idx[0] = i, idx[1] = j, idx[2] = k;
                for (c = 0; c < 3; ++c) {
                    double move = idx[c] > 0 && idx[c] < n
                        ? 0.2 * s * (gen_hash((uint64_t)(3 * id + c)) - 0.5) : 0.0;
                    l->x[3 * (base + id) + c] = idx[c] * s + move + (c == 2 ? dz : 0.0);
                }
            }
    for (k = 0; k < n; ++k)
        for (j = 0; j < n; ++j)
            for (i = 0; i < n; ++i)
                for (t = 0; t < 6; ++t) {
                    for (c = 0; c < 4; ++c) {
                        int q = gen_kuhn[t][c];
                        v[c] = base + gen_grid(n, i + (q & 1), j + (q >> 1 & 1), k + (q >> 2));
                    }
                    gen_p1_tet(l, v, young);
                }
}

/* k (w n)(w n)^T on nodes v[4]. */
static inline void gen_contact(gen_list *l, const int v[4], const double w[4], const double nrm[3],
    double k)
{
    double a[9];
    int p, q, r, c;

    for (p = 0; p < 4; ++p)
        for (q = 0; q < 4; ++q) {
            if (v[p] < v[q]) continue;
            for (r = 0; r < 3; ++r)
                for (c = 0; c < 3; ++c) a[3 * r + c] = k * w[p] * w[q] * nrm[r] * nrm[c];
            gen_add(l, v[p], v[q], a);
        }
}

static inline void gen_weights_normal(uint64_t *s, double w[4], double nrm[3])
{
    double a = gen_uniform(s), b = gen_uniform(s), q;
    int c;

    if (a + b > 1) a = 1 - a, b = 1 - b;
    w[0] = 1, w[1] = -a, w[2] = -b, w[3] = -(1 - a - b);
    do {
        for (c = 0, q = 0; c < 3; ++c) {
            nrm[c] = 2 * gen_uniform(s) - 1;
            q += nrm[c] * nrm[c];
        }
    } while (q > 1 || q < 0.01);
    for (c = 0; c < 3; ++c) nrm[c] /= sqrt(q);
}

static inline int gen_face_node(int n, int axis, int side, int u, int v)
{
    int idx[3];
    idx[axis] = side ? n : 0;
    idx[(axis + 1) % 3] = u;
    idx[(axis + 2) % 3] = v;
    return gen_grid(n, idx[0], idx[1], idx[2]);
}

static inline void gen_self_contacts(gen_list *l, int n, double young, double ratio)
{
    uint64_t s = 0x1234567u + (uint64_t)n;
    int count = (int)floor(0.02 * l->n + 0.5), k;

    for (k = 0; k < count; ++k) {
        int axis = gen_below(&s, 3), side = gen_below(&s, 2);
        int u = gen_below(&s, n + 1), v = gen_below(&s, n + 1), ci, cj, d, node[4];
        double w[4], nrm[3], stiff;
        do {
            ci = u + gen_below(&s, 9) - 4;
            cj = v + gen_below(&s, 9) - 4;
        } while (ci < 0 || cj < 0 || ci >= n || cj >= n
                 || (ci >= u - 2 && ci <= u + 1 && cj >= v - 2 && cj <= v + 1));
        d = gen_below(&s, 2);
        node[0] = gen_face_node(n, axis, side, u, v);
        node[1] = gen_face_node(n, axis, side, ci, cj);
        node[2] = gen_face_node(n, axis, side, ci + 1, cj + 1);
        node[3] = gen_face_node(n, axis, side, ci + d, cj + 1 - d);
        gen_weights_normal(&s, w, nrm);
        stiff = ratio > 0 ? ratio : pow(10.0, 3 + 3 * gen_uniform(&s));
        gen_contact(l, node, w, nrm, stiff * young / n);
    }
}

static inline void gen_init(gen_list *l, int nodes)
{
    memset(l, 0, sizeof *l);
    l->n = nodes;
    l->x = (double *)calloc((size_t)nodes * 3 + 1, sizeof *l->x);
}

/* contact: 0 none, 1 self contacts; ratio: stiffness over E s, 0 means 10^(3+3u). */
static inline void gen_p1(gen_matrix *m, int n, int contact, double young, double ratio)
{
    gen_list l;

    gen_init(&l, (n + 1) * (n + 1) * (n + 1));
    gen_cube(&l, n, 0, 0.0, young);
    if (contact) gen_self_contacts(&l, n, young, ratio);
    gen_finish(&l, m);
}

static inline void gen_two(gen_matrix *m, int n)
{
    uint64_t s = 0x1234567u + (uint64_t)n;
    int body = (n + 1) * (n + 1) * (n + 1), k, count;
    gen_list l;

    gen_init(&l, 2 * body);
    gen_cube(&l, n, 0, 0.0, 1e6);
    gen_cube(&l, n, body, 1.001, 1e6);
    count = (int)floor(0.02 * l.n + 0.5);
    for (k = 0; k < count; ++k) {
        int u = gen_below(&s, n + 1), v = gen_below(&s, n + 1), ci, cj, d, up, node[4];
        double w[4], nrm[3], q;
        do {
            ci = u + gen_below(&s, 4) - 2;
            cj = v + gen_below(&s, 4) - 2;
        } while (ci < 0 || cj < 0 || ci >= n || cj >= n);
        d = gen_below(&s, 2);
        up = gen_below(&s, 2);
        node[0] = up ? body + gen_grid(n, u, v, 0) : gen_grid(n, u, v, n);
        node[1] = up ? gen_grid(n, ci, cj, n) : body + gen_grid(n, ci, cj, 0);
        node[2] = up ? gen_grid(n, ci + 1, cj + 1, n) : body + gen_grid(n, ci + 1, cj + 1, 0);
        node[3] = up ? gen_grid(n, ci + d, cj + 1 - d, n)
                     : body + gen_grid(n, ci + d, cj + 1 - d, 0);
        gen_weights_normal(&s, w, nrm);
        nrm[0] *= 0.1, nrm[1] *= 0.1;
        q = sqrt(nrm[0] * nrm[0] + nrm[1] * nrm[1] + nrm[2] * nrm[2]);
        nrm[0] /= q, nrm[1] /= q, nrm[2] /= q;
        gen_contact(&l, node, w, nrm, pow(10.0, 3 + 3 * gen_uniform(&s)) * 1e6 / n);
    }
    gen_finish(&l, m);
}

/* Gradients of the ten quadratic shape functions at barycentric coordinates q. */
static inline void gen_p2_gradients(const double g[4][3], const double q[4], double out[10][3])
{
    static const int edge[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    int a, c;

    for (a = 0; a < 4; ++a)
        for (c = 0; c < 3; ++c) out[a][c] = (4 * q[a] - 1) * g[a][c];
    for (a = 0; a < 6; ++a)
        for (c = 0; c < 3; ++c)
            out[4 + a][c] = 4 * (q[edge[a][0]] * g[edge[a][1]][c]
                                 + q[edge[a][1]] * g[edge[a][0]][c]);
}

static inline void gen_p2_tet(gen_list *l, const int v[10])
{
    double nu = 0.4, young = 1e6, lam = young * nu / ((1 + nu) * (1 - 2 * nu));
    double mu = young / (2 * (1 + nu)), g[4][3], sh[10][3], k[9], vol, q[4];
    const double *p[4];
    int a, b, e;

    for (a = 0; a < 4; ++a) p[a] = l->x + 3 * v[a];
    vol = gen_tet_gradients(p, g);
    for (a = 0; a < 10; ++a) gen_add_scaled_identity(l, v[a], v[a], 1000.0 * vol / 10.0 * 1e4);
    for (e = 0; e < 4; ++e) {
        for (a = 0; a < 4; ++a) q[a] = a == e ? 0.5854101966249685 : 0.1381966011250105;
        gen_p2_gradients((const double (*)[3])g, q, sh);
        for (a = 0; a < 10; ++a)
            for (b = 0; b < 10; ++b)
                if (v[a] >= v[b]) {
                    gen_elastic_block(sh[a], sh[b], vol / 4, lam, mu, k);
                    gen_add(l, v[a], v[b], k);
                }
    }
}

static inline void gen_p2(gen_matrix *m, int n)
{
    static const int edge[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    int h = 2 * n, i, j, k, c, t, v[10];
    gen_list l;

    gen_init(&l, (h + 1) * (h + 1) * (h + 1));
    for (k = 0; k <= h; ++k)
        for (j = 0; j <= h; ++j)
            for (i = 0; i <= h; ++i) {
                double *x = l.x + 3 * gen_grid(h, i, j, k);
                x[0] = i / (double)h, x[1] = j / (double)h, x[2] = k / (double)h;
            }
    for (k = 0; k < n; ++k)
        for (j = 0; j < n; ++j)
            for (i = 0; i < n; ++i)
                for (t = 0; t < 6; ++t) {
                    int at[4][3];
                    for (c = 0; c < 4; ++c) {
                        int q = gen_kuhn[t][c];
                        at[c][0] = 2 * (i + (q & 1));
                        at[c][1] = 2 * (j + (q >> 1 & 1));
                        at[c][2] = 2 * (k + (q >> 2));
                        v[c] = gen_grid(h, at[c][0], at[c][1], at[c][2]);
                    }
                    for (c = 0; c < 6; ++c) {
                        const int *p = at[edge[c][0]], *q = at[edge[c][1]];
                        v[4 + c] = gen_grid(h, (p[0] + q[0]) / 2, (p[1] + q[1]) / 2,
                            (p[2] + q[2]) / 2);
                    }
                    gen_p2_tet(&l, v);
                }
    gen_finish(&l, m);
}

static inline double gen_area(const double *a, const double *b, const double *c, double nrm[3])
{
    double u[3], v[3], q;
    int k;

    for (k = 0; k < 3; ++k) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
    nrm[0] = u[1] * v[2] - u[2] * v[1];
    nrm[1] = u[2] * v[0] - u[0] * v[2];
    nrm[2] = u[0] * v[1] - u[1] * v[0];
    q = sqrt(nrm[0] * nrm[0] + nrm[1] * nrm[1] + nrm[2] * nrm[2]);
    for (k = 0; k < 3; ++k) nrm[k] /= q;
    return 0.5 * q;
}

/* Plane-stress CST in the tangent plane: gradients are 3D vectors in that plane, and the
   in-plane identity is I - n n^T. */
static inline void gen_membrane(gen_list *l, const int v[3])
{
    double e = 1e6, nu = 0.4, t = 1e-3, lam = e * nu / (1 - nu * nu), mu = e / (2 * (1 + nu));
    double nrm[3], g[3][3], area = gen_area(l->x + 3 * v[0], l->x + 3 * v[1], l->x + 3 * v[2], nrm);
    double k[9], dot;
    int a, b, r, c;

    for (a = 0; a < 3; ++a) {
        const double *p = l->x + 3 * v[(a + 1) % 3], *q = l->x + 3 * v[(a + 2) % 3];
        double d[3];
        for (c = 0; c < 3; ++c) d[c] = q[c] - p[c];
        for (c = 0; c < 3; ++c)
            g[a][c] = (nrm[(c + 1) % 3] * d[(c + 2) % 3] - nrm[(c + 2) % 3] * d[(c + 1) % 3])
                / (2 * area);
    }
    for (a = 0; a < 3; ++a) {
        gen_add_scaled_identity(l, v[a], v[a], 300.0 * t * area / 3 * 1e4);
        for (b = 0; b < 3; ++b) {
            if (v[a] < v[b]) continue;
            dot = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
            for (r = 0; r < 3; ++r)
                for (c = 0; c < 3; ++c)
                    k[3 * r + c] = area * t * (lam * g[a][r] * g[b][c] + mu * g[b][r] * g[a][c]
                        + mu * dot * ((r == c) - nrm[r] * nrm[c]));
            gen_add(l, v[a], v[b], k);
        }
    }
}

static inline double gen_cot(const double *a, const double *b, const double *c)
{
    double u[3], v[3], d, nrm[3];
    int k;

    for (k = 0, d = 0; k < 3; ++k) u[k] = b[k] - a[k], v[k] = c[k] - a[k], d += u[k] * v[k];
    return d / (2 * gen_area(a, b, c, nrm));
}

/* Quadratic hinge on edge e0 e1 with opposite vertices o0, o1 (Bergou et al.). */
static inline void gen_hinge(gen_list *l, int e0, int e1, int o0, int o1)
{
    const double *x0 = l->x + 3 * e0, *x1 = l->x + 3 * e1, *x2 = l->x + 3 * o0, *x3 = l->x + 3 * o1;
    double t = 1e-3, kb = 1e6 * t * t * t / (12 * (1 - 0.16)), nrm[3], c[4], s;
    double c01 = gen_cot(x0, x1, x2), c02 = gen_cot(x0, x1, x3);
    double c03 = gen_cot(x1, x0, x2), c04 = gen_cot(x1, x0, x3);
    int v[4], a, b;

    v[0] = e0, v[1] = e1, v[2] = o0, v[3] = o1;
    c[0] = c03 + c04, c[1] = c01 + c02, c[2] = -c01 - c03, c[3] = -c02 - c04;
    s = kb * 3 / (gen_area(x0, x1, x2, nrm) + gen_area(x0, x1, x3, nrm));
    for (a = 0; a < 4; ++a)
        for (b = 0; b < 4; ++b)
            if (v[a] >= v[b]) gen_add_scaled_identity(l, v[a], v[b], s * c[a] * c[b]);
}

static inline void gen_shell_contacts(gen_list *l, int n)
{
    uint64_t s = 0x1234567u + (uint64_t)n;
    int count = (int)floor(0.02 * l->n + 0.5), k, w1 = n + 1;

    for (k = 0; k < count; ++k) {
        int i, j, ci, cj, d, node[4];
        double w[4], nrm[3];
        do {
            i = gen_below(&s, n + 1);
            j = gen_below(&s, n + 1);
            ci = n - 1 - i + gen_below(&s, 5) - 2;
            cj = j + gen_below(&s, 5) - 2;
        } while (ci < 0 || cj < 0 || ci >= n || cj >= n
                 || (ci >= i - 2 && ci <= i + 1 && cj >= j - 2 && cj <= j + 1));
        d = gen_below(&s, 2);
        node[0] = i + w1 * j;
        node[1] = ci + w1 * cj;
        node[2] = ci + 1 + w1 * (cj + 1);
        node[3] = ci + d + w1 * (cj + 1 - d);
        gen_weights_normal(&s, w, nrm);
        gen_contact(l, node, w, nrm, pow(10.0, 3 + 3 * gen_uniform(&s)) * 1e6 * 1e-3);
    }
}

static inline void gen_shell(gen_matrix *m, int n, int contact)
{
    double s = 1.0 / n;
    int i, j, w = n + 1, v[3];
    gen_list l;

    gen_init(&l, w * w);
    for (j = 0; j <= n; ++j)
        for (i = 0; i <= n; ++i) {
            int id = i + w * j, inside = i > 0 && j > 0 && i < n && j < n;
            double *x = l.x + 3 * id;
            x[0] = i * s + (inside ? 0.2 * s * (gen_hash((uint64_t)(2 * id)) - 0.5) : 0);
            x[1] = j * s + (inside ? 0.2 * s * (gen_hash((uint64_t)(2 * id + 1)) - 0.5) : 0);
            x[2] = 0.1 * sin(3 * x[0]) * cos(2 * x[1] + 0.3);
        }
    for (j = 0; j < n; ++j)
        for (i = 0; i < n; ++i) {
            int a = i + w * j, b = a + 1, c = a + w, d = c + 1;
            v[0] = a, v[1] = b, v[2] = d;
            gen_membrane(&l, v);
            v[0] = a, v[1] = d, v[2] = c;
            gen_membrane(&l, v);
            gen_hinge(&l, a, d, b, c);
            if (j > 0) gen_hinge(&l, a, b, d, a - w);
            if (i > 0) gen_hinge(&l, a, c, d, a - 1);
        }
    if (contact) gen_shell_contacts(&l, n);
    gen_finish(&l, m);
}

/* One bisection of the longest edge with all tets around it would need a full mesh structure; an
   irregular graph of the same kind comes from random points: each of n points in the unit ball,
   denser towards one pole, is joined by springs (stiffness e (t t^T + 0.2 I)) to its nearest
   neighbours. About 14 neighbours a node, as tets have; no order, no layers. */
static inline void gen_ball(gen_matrix *m, int n, uint64_t seed)
{
    uint64_t s = seed;
    int cells, i, j, c, *head, *next, dx, dy, dz;
    gen_list l;

    gen_init(&l, n);
    for (i = 0; i < n; ++i) {
        double p[3], q, pull;
        do {
            for (c = 0, q = 0; c < 3; ++c) p[c] = 2 * gen_uniform(&s) - 1, q += p[c] * p[c];
        } while (q > 1);
        pull = 0.35 + 0.65 * gen_uniform(&s);
        l.x[3 * i] = 1 + (p[0] - 1) * pull;
        l.x[3 * i + 1] = p[1] * pull;
        l.x[3 * i + 2] = p[2] * pull;
    }
    cells = 1;
    while (cells * cells * cells * 4 < n) ++cells;
    head = (int *)malloc((size_t)(cells * cells * cells) * sizeof *head);
    next = (int *)malloc(((size_t)n + 1) * sizeof *next);
    memset(head, -1, (size_t)(cells * cells * cells) * sizeof *head);
    for (i = 0; i < n; ++i) {
        int at[3];
        for (c = 0; c < 3; ++c) {
            at[c] = (int)((l.x[3 * i + c] + 1) * 0.5 * cells);
            if (at[c] >= cells) at[c] = cells - 1;
        }
        c = at[0] + cells * (at[1] + cells * at[2]);
        next[i] = head[c];
        head[c] = i;
    }
    for (i = 0; i < n; ++i) {
        int at[3], best[10], count = 0, reach = 1;
        double bd[10];
        for (c = 0; c < 3; ++c) {
            at[c] = (int)((l.x[3 * i + c] + 1) * 0.5 * cells);
            if (at[c] >= cells) at[c] = cells - 1;
        }
        gen_add_scaled_identity(&l, i, i, 10.0);
        for (reach = 1; reach <= cells && count < 10; ++reach) {
            count = 0;
            for (dz = -reach; dz <= reach; ++dz)
                for (dy = -reach; dy <= reach; ++dy)
                    for (dx = -reach; dx <= reach; ++dx) {
                        int a = at[0] + dx, b = at[1] + dy, d = at[2] + dz;
                        if (a < 0 || b < 0 || d < 0 || a >= cells || b >= cells || d >= cells)
                            continue;
                        for (j = head[a + cells * (b + cells * d)]; j >= 0; j = next[j]) {
                            double q = 0;
                            int k;
                            if (j == i) continue;
                            for (c = 0; c < 3; ++c)
                                q += (l.x[3 * i + c] - l.x[3 * j + c])
                                    * (l.x[3 * i + c] - l.x[3 * j + c]);
                            if (count == 10 && q >= bd[9]) continue;
                            k = count < 10 ? count++ : 9;
                            for (; k > 0 && bd[k - 1] > q; --k) {
                                bd[k] = bd[k - 1];
                                best[k] = best[k - 1];
                            }
                            bd[k] = q;
                            best[k] = j;
                        }
                    }
        }
        for (j = 0; j < count; ++j) {
            double a[9], neg[9];
            int r;
            for (r = 0; r < 3; ++r)
                for (c = 0; c < 3; ++c) {
                    double t = (l.x[3 * i + r] - l.x[3 * best[j] + r])
                        * (l.x[3 * i + c] - l.x[3 * best[j] + c]) / (bd[j] + 1e-300);
                    a[3 * r + c] = 1e3 * (t + (r == c ? 0.2 : 0.0));
                    neg[3 * r + c] = -a[3 * r + c];
                }
            gen_add(&l, i, i, a);
            gen_add(&l, best[j], best[j], a);
            gen_add(&l, i, best[j], neg);
        }
    }
    free(head);
    free(next);
    gen_finish(&l, m);
}

/* The matrix of a name in the table below; 1 if the name is known. */
static inline int gen_named(const char *name, gen_matrix *m)
{
    static const struct { const char *name; int kind, n, contact; double young; } table[] = {
        {"p1_3k", 0, 9, 0, 1e6}, {"p1c_3k", 0, 9, 1, 1e6}, {"p1_15k", 0, 16, 0, 1e6},
        {"p1c_15k", 0, 16, 1, 1e6}, {"p1_53k", 0, 25, 0, 1e6}, {"p1c_53k", 0, 25, 1, 1e6},
        {"p1ch_53k", 0, 25, 1, 1e8}, {"p1_152k", 0, 36, 0, 1e6}, {"p1c_152k", 0, 36, 1, 1e6},
        {"two_56k", 1, 20, 1, 0}, {"p2_47k", 2, 12, 0, 0}, {"shell_15k", 3, 70, 0, 0},
        {"shell_50k", 3, 128, 0, 0}, {"shellc_50k", 3, 128, 1, 0}, {"shell_151k", 3, 223, 0, 0},
        {"ball_15k", 4, 5000, 0, 0}, {"ball_60k", 4, 20000, 0, 0}, {"ball_300k", 4, 100000, 0, 0}};
    size_t i;

    for (i = 0; i < sizeof table / sizeof table[0]; ++i) {
        if (strcmp(name, table[i].name) != 0) continue;
        if (table[i].kind == 0) gen_p1(m, table[i].n, table[i].contact, table[i].young, 0);
        if (table[i].kind == 1) gen_two(m, table[i].n);
        if (table[i].kind == 2) gen_p2(m, table[i].n);
        if (table[i].kind == 3) gen_shell(m, table[i].n, table[i].contact);
        if (table[i].kind == 4) gen_ball(m, table[i].n, 1);
        return 1;
    }
    return 0;
}
#endif /* GEN_MATRICES_H */
