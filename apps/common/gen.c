/* gen.c - see gen.h
   A solid is built in a parameter space: every tet keeps the parameters of its own four corners
   (so closed shapes may wrap around), lattice nodes of any order are mixtures of those, and one map
   per kind takes parameters to space. A node is known by the corners and weights that make it. */
#include "gen.h"

#define GAP_BASIS_STATIC
#include "gap_basis.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define MOST 5000000 /* cells that one mesh may have */

typedef struct maker {
    const json *spec;
    mesh *m;
    mesh_error *error;
    int failed;
    /* solids: corner numbers and corner parameters of every tet, before order and map */
    int tets, room;
    int (*tet)[4];
    double (*par)[4][3];
    int corners;
    void (*map)(const struct maker *g, const double p[3], double x[3]);
    double a[8]; /* what the map needs */
} maker;

static int fail(maker *g, int line, const char *format, ...)
{
    va_list args;
    if (!g->failed) {
        g->error->line = line;
        va_start(args, format);
        vsnprintf(g->error->text, sizeof g->error->text, format, args);
        va_end(args);
    }
    g->failed = 1;
    return 0;
}

/* ---------------------------------------------------------------- parameters */
static json *param(maker *g, const char *name)
{
    json *v = json_get(g->spec, name);
    if (v) v->seen = 1;
    return v;
}

static double number(maker *g, const char *name, double standard, double least)
{
    const json *v = param(g, name);
    if (!v) return standard;
    if (v->type != JSON_NUMBER) fail(g, v->line, "%s must be a number", name);
    else if (!(v->number >= least)) fail(g, v->line, "%s must be at least %g", name, least);
    return v->number;
}

/* Positive lengths. */
static double length(maker *g, const char *name, double standard)
{
    double v = number(g, name, standard, 0.0);
    if (v == 0.0) fail(g, param(g, name)->line, "%s must be positive", name);
    return v;
}

static int whole(maker *g, const char *name, int standard, int least)
{
    double v = number(g, name, standard, least);
    if (v != floor(v) || v > 1e7) fail(g, param(g, name)->line, "%s must be a whole number", name);
    return g->failed ? least : (int)v;
}

/* A list of n numbers, or one number for all. */
static void vector(maker *g, const char *name, int n, double *out, double least)
{
    const json *v = param(g, name), *c;
    int i = 0;
    if (!v) return;
    if (v->type == JSON_NUMBER) {
        for (i = 0; i < n; ++i) out[i] = v->number;
    } else if (v->type == JSON_ARRAY && v->count == n) {
        for (c = v->child; c; c = c->next) {
            if (c->type != JSON_NUMBER) {
                fail(g, c->line, "%s must be numbers", name);
                return;
            }
            out[i++] = c->number;
        }
    } else {
        fail(g, v->line, "%s must be a number or a list of %d numbers", name, n);
        return;
    }
    for (i = 0; i < n; ++i) {
        if (!(out[i] >= least)) fail(g, v->line, "%s must be at least %g", name, least);
    }
}

static void lengths(maker *g, const char *name, int n, double *out)
{
    int i;
    vector(g, name, n, out, 0.0);
    for (i = 0; i < n; ++i) {
        if (out[i] == 0.0) fail(g, param(g, name)->line, "%s must be positive", name);
    }
}

static void wholes(maker *g, const char *name, int n, int *out, int least)
{
    double v[3];
    int i;
    for (i = 0; i < n; ++i) v[i] = out[i];
    vector(g, name, n, v, least);
    for (i = 0; i < n && !g->failed; ++i) {
        if (v[i] != floor(v[i]) || v[i] > 1e7) {
            fail(g, param(g, name)->line, "%s must be whole numbers", name);
        } else out[i] = (int)v[i];
    }
}

static int flag(maker *g, const char *name)
{
    const json *v = param(g, name);
    if (!v) return 0;
    if (v->type != JSON_BOOL) fail(g, v->line, "%s must be true or false", name);
    return v->number != 0.0;
}

/* ---------------------------------------------------------------- solids */
static void add_tet(maker *g, const int corner[4], double par[4][3])
{
    if (g->failed) return;
    if (g->tets == g->room) {
        int room = g->room ? 2 * g->room : 64;
        void *t = realloc(g->tet, (size_t)room * sizeof *g->tet), *p;
        if (t) g->tet = t;
        p = realloc(g->par, (size_t)room * sizeof *g->par);
        if (p) g->par = p;
        if (!t || !p) {
            fail(g, 0, "out of memory");
            return;
        }
        g->room = room;
    }
    memcpy(g->tet[g->tets], corner, sizeof *g->tet);
    memcpy(g->par[g->tets++], par, sizeof *g->par);
}

/* A prism with corners a0 a1 a2 below b0 b1 b2 as three tets. The diagonal of each side face starts
   at its corner of lowest number, so neighbours agree. */
static void add_prism(maker *g, const int v[6], double par[6][3])
{
    /* rotations and the flip that bring corner k to the front, keeping orientation */
    static const int turn[6][6] = {{0, 1, 2, 3, 4, 5}, {1, 2, 0, 4, 5, 3}, {2, 0, 1, 5, 3, 4},
        {3, 5, 4, 0, 2, 1}, {4, 3, 5, 1, 0, 2}, {5, 4, 3, 2, 1, 0}};
    static const int first[3][4] = {{0, 1, 2, 5}, {0, 1, 5, 4}, {0, 4, 5, 3}};
    static const int second[3][4] = {{0, 1, 2, 4}, {0, 4, 2, 5}, {0, 4, 5, 3}};
    const int(*split)[4];
    int low = 0, i, k, c[4];
    double p[4][3];
    const int *t;

    for (i = 1; i < 6; ++i) if (v[i] < v[low]) low = i;
    t = turn[low];
    i = v[t[1]] < v[t[5]] ? v[t[1]] : v[t[5]]; /* the side face that corner 0 is not on: 1 2 5 4 */
    k = v[t[2]] < v[t[4]] ? v[t[2]] : v[t[4]];
    split = i < k ? first : second;
    for (i = 0; i < 3; ++i) {
        for (k = 0; k < 4; ++k) {
            c[k] = v[t[split[i][k]]];
            memcpy(p[k], par[t[split[i][k]]], sizeof p[k]);
        }
        add_tet(g, c, p);
    }
}

typedef struct lattice_node {
    int id[4];     /* corners with a weight, ascending; -1 unused */
    int weight[4]; /* the sum is the order */
    int tet, local;
} lattice_node;

static int by_key(const void *a, const void *b)
{
    const lattice_node *p = a, *q = b;
    int c = memcmp(p->id, q->id, sizeof p->id);
    if (!c) c = memcmp(p->weight, q->weight, sizeof p->weight);
    if (c) return c;
    if (p->tet != q->tet) return p->tet < q->tet ? -1 : 1;
    return p->local < q->local ? -1 : p->local > q->local;
}

static int by_first_use(const void *a, const void *b)
{
    const lattice_node *p = *(const lattice_node *const *)a, *q = *(const lattice_node *const *)b;
    if (p->tet != q->tet) return p->tet < q->tet ? -1 : 1;
    return p->local < q->local ? -1 : p->local > q->local;
}

static void make_key(lattice_node *n, const int corner[4], const int index[4])
{
    int i, j, k = 0;
    for (i = 0; i < 4; ++i) {
        n->id[i] = -1;
        n->weight[i] = 0;
    }
    for (i = 0; i < 4; ++i) {
        if (!index[i]) continue;
        for (j = k++; j > 0 && n->id[j - 1] > corner[i]; --j) {
            n->id[j] = n->id[j - 1];
            n->weight[j] = n->weight[j - 1];
        }
        n->id[j] = corner[i];
        n->weight[j] = index[i];
    }
}

/* The collected tets as elements of this order, nodes numbered by first use. */
static int finish_solid(maker *g, int order)
{
    int index[4 * 35], per = gap_basis_nodes(3, order, index), i, j, k, c;
    size_t total = (size_t)g->tets * (size_t)per, n, heads = 0, at;
    lattice_node *node, **head;

    if (g->failed) return 0;
    node = malloc((total + 1) * sizeof *node);
    head = malloc((total + 1) * sizeof *head);
    if (!node || !head) fail(g, 0, "out of memory");
    for (i = 0; i < g->tets && !g->failed; ++i) {
        for (j = 0; j < per; ++j) {
            lattice_node *v = &node[(size_t)i * (size_t)per + (size_t)j];
            make_key(v, g->tet[i], index + 4 * j);
            v->tet = i;
            v->local = j;
        }
    }
    g->m->order = order;
    if (!g->failed && mesh_add_tets(g->m, g->tets) < 0) fail(g, 0, "out of memory");
    if (!g->failed) {
        qsort(node, total, sizeof *node, by_key);
        for (n = 0; n < total; ++n) {
            if (n == 0 || memcmp(node[n].id, node[n - 1].id, sizeof node->id) ||
                memcmp(node[n].weight, node[n - 1].weight, sizeof node->weight)) {
                head[heads++] = &node[n];
            }
        }
        qsort(head, heads, sizeof *head, by_first_use);
        if (heads > INT_MAX / 4 || mesh_add_nodes(g->m, (int)heads) < 0) {
            fail(g, 0, "out of memory");
        }
    }
    for (at = 0; at < heads && !g->failed; ++at) {
        const lattice_node *h = head[at], *v;
        double p[3] = {0, 0, 0};
        const int *w = index + 4 * h->local;
        for (c = 0; c < 4; ++c) {
            for (k = 0; k < 3; ++k) p[k] += w[c] / (double)order * g->par[h->tet][c][k];
        }
        if (order == 1) { /* a corner's own parameters, without arithmetic */
            for (c = 0; !w[c]; ++c) {}
            memcpy(p, g->par[h->tet][c], sizeof p);
        }
        g->map(g, p, g->m->x + 3 * at);
        for (v = h; v < node + total && !memcmp(v->id, h->id, sizeof v->id) &&
             !memcmp(v->weight, h->weight, sizeof v->weight); ++v) {
            g->m->tet[(size_t)v->tet * (size_t)per + (size_t)v->local] = (int)at;
        }
    }
    free(node);
    free(head);
    return !g->failed;
}

static void map_same(const maker *g, const double p[3], double x[3])
{
    (void)g;
    memcpy(x, p, 3 * sizeof *x);
}

int gen_elevate(const mesh *linear, int order, mesh *out)
{
    mesh_error error;
    maker g;
    double par[4][3];
    int i, c, ok;
    memset(&g, 0, sizeof g);
    memset(out, 0, sizeof *out);
    g.m = out;
    g.error = &error;
    g.map = map_same;
    for (i = 0; i < linear->tets; ++i) {
        for (c = 0; c < 4; ++c) {
            memcpy(par[c], linear->x + 3 * (size_t)linear->tet[4 * (size_t)i + (size_t)c],
                sizeof par[c]);
        }
        add_tet(&g, linear->tet + 4 * (size_t)i, par);
    }
    ok = finish_solid(&g, order);
    if (ok) memcpy(out->tet_tag, linear->tet_tag, (size_t)linear->tets * sizeof(int));
    else mesh_free(out);
    free(g.tet);
    free(g.par);
    return ok;
}

/* ---- boxes: cells of six tets around the diagonal (two prisms would do the same) ---- */
static void map_box(const maker *g, const double p[3], double x[3])
{
    int k;
    for (k = 0; k < 3; ++k) x[k] = (p[k] - 0.5) * g->a[k];
}

/* The unit cube in n cells; keep says which (NULL: all). */
static void grid(maker *g, const int n[3], int (*keep)(const maker *, int, int, int))
{
    static const int path[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0},
        {1, 0, 2}};
    int i[3], t, k, s, at[3], c[4];
    double p[4][3];
    if (g->failed) return;
    if ((double)n[0] * n[1] * n[2] > MOST) {
        fail(g, g->spec->line, "more than %d cells", MOST);
        return;
    }
    for (i[0] = 0; i[0] < n[0]; ++i[0]) {
        for (i[1] = 0; i[1] < n[1]; ++i[1]) {
            for (i[2] = 0; i[2] < n[2]; ++i[2]) {
                if (keep && !keep(g, i[0], i[1], i[2])) continue;
                for (t = 0; t < 6; ++t) { /* walk the diagonal, one axis at a time */
                    memcpy(at, i, sizeof at);
                    for (s = 0; s < 4; ++s) {
                        int slot = t < 3 || s == 0 || s == 3 ? s : 3 - s; /* odd: mirrored */
                        c[slot] = (at[0] * (n[1] + 1) + at[1]) * (n[2] + 1) + at[2];
                        for (k = 0; k < 3; ++k) p[slot][k] = at[k] / (double)n[k];
                        if (s < 3) ++at[path[t][s]];
                    }
                    add_tet(g, c, p);
                }
            }
        }
    }
}

static void make_box(maker *g)
{
    int n[3] = {1, 1, 1};
    g->a[0] = g->a[1] = g->a[2] = 1.0;
    lengths(g, "size", 3, g->a);
    wholes(g, "cells", 3, n, 1);
    g->map = map_box;
    grid(g, n, NULL);
}

static void make_slab(maker *g)
{
    double size[2] = {1.0, 1.0};
    int n[2] = {20, 20}, cells[3];
    lengths(g, "size", 2, size);
    wholes(g, "cells", 2, n, 1);
    g->a[0] = size[0];
    g->a[1] = length(g, "thickness", 0.008);
    g->a[2] = size[1];
    cells[0] = n[0];
    cells[1] = whole(g, "layers", 1, 1);
    cells[2] = n[1];
    g->map = map_box;
    grid(g, cells, NULL);
}

/* A box with a slot: open at +x, from 1/3 to 2/3 of the height, 2/3 deep. */
static int keep_c(const maker *g, int i, int j, int k)
{
    int n = (int)g->a[3];
    (void)k;
    return !(j >= n && j < 2 * n && i >= n);
}

static void make_c_box(maker *g)
{
    int n = whole(g, "refine", 1, 1), cells[3];
    g->a[0] = g->a[1] = g->a[2] = 1.0;
    lengths(g, "size", 3, g->a);
    g->a[3] = n;
    cells[0] = cells[1] = cells[2] = 3 * n;
    g->map = map_box;
    grid(g, cells, keep_c);
}

/* ---- ball: 20 tets between the centre and an icosahedron's faces, each cut n^3-fold ---- */
static const double ico_t = 1.6180339887498949; /* (1 + sqrt 5) / 2 */
static const int ico_face[20][3] = {{0, 11, 5}, {0, 5, 1}, {0, 1, 7}, {0, 7, 10}, {0, 10, 11},
    {1, 5, 9}, {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8}, {3, 9, 4}, {3, 4, 2}, {3, 2, 6},
    {3, 6, 8}, {3, 8, 9}, {4, 9, 5}, {2, 4, 11}, {6, 2, 10}, {8, 6, 7}, {9, 8, 1}};

static void ico_vertex(int i, double x[3])
{
    double s = i & 1 ? 1.0 : -1.0, t = i & 2 ? -ico_t : ico_t;
    int axis = i / 4; /* (s,t,0) (0,s,t) (t,0,s) */
    x[axis] = s;
    x[(axis + 1) % 3] = t;
    x[(axis + 2) % 3] = 0.0;
}

/* Gauge of the icosahedron: 1 on its faces. All faces have the same distance from the centre. */
static double ico_gauge(const double p[3])
{
    double most = 0.0;
    int f, k;
    for (f = 0; f < 20; ++f) {
        double v[3][3], n[3], d = 0.0, s = 0.0;
        for (k = 0; k < 3; ++k) ico_vertex(ico_face[f][k], v[k]);
        for (k = 0; k < 3; ++k) n[k] = v[0][k] + v[1][k] + v[2][k]; /* along the normal */
        for (k = 0; k < 3; ++k) {
            d += n[k] * v[0][k];
            s += n[k] * p[k];
        }
        if (s / d > most) most = s / d;
    }
    return most;
}

static void map_ball(const maker *g, const double p[3], double x[3])
{
    double len = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), s = 0.0;
    int k;
    if (len > 0.0) s = g->a[0] * ico_gauge(p) / len;
    for (k = 0; k < 3; ++k) x[k] = s * p[k];
}

/* Numbers for lattice points of several macro tets: same corners and weights, same number. */
typedef struct numbering {
    int (*key)[8];
    int *slot;
    int count, size;
} numbering;

static int number_of(maker *g, numbering *s, const int id[4], const int weight[4])
{
    lattice_node n;
    int key[8], i;
    uint64_t h = 1469598103934665603u;
    make_key(&n, id, weight);
    memcpy(key, n.id, sizeof n.id);
    memcpy(key + 4, n.weight, sizeof n.weight);
    for (i = 0; i < 8; ++i) h = (h ^ (uint64_t)(unsigned)key[i]) * 1099511628211u;
    h ^= h >> 32;
    for (i = (int)(h & (uint64_t)(s->size - 1)); s->slot[i] >= 0; i = (i + 1) & (s->size - 1)) {
        if (!memcmp(s->key[s->slot[i]], key, sizeof key)) return s->slot[i];
    }
    if (2 * s->count >= s->size) {
        fail(g, 0, "numbering overflow");
        return 0;
    }
    memcpy(s->key[s->count], key, sizeof key);
    s->slot[i] = s->count;
    return s->count++;
}

/* One small tet of the regular cut, given by the integer barycentric coordinates of its corners. */
static void add_cut(maker *g, numbering *s, const int id[4], double v[4][3], int n, int b[4][4])
{
    int c[4], i, j, k;
    double p[4][3];
    for (i = 0; i < 4; ++i) {
        c[i] = number_of(g, s, id, b[i]);
        for (k = 0; k < 3; ++k) {
            p[i][k] = 0.0;
            for (j = 0; j < 4; ++j) p[i][k] += b[i][j] / (double)n * v[j][k];
        }
    }
    add_tet(g, c, p);
}

/* Cut a tet n^3-fold: at each lattice point (i,j,k) an upright tet, an octahedron in four, and an
   inverted tet, where they fit. Corner offsets in the three edge directions from vertex 0. */
static void cut_tet(maker *g, numbering *s, const int id[4], double v[4][3], int n)
{
    static const int piece[6][4][3] = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}}, {{1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {1, 0, 1}},
        {{0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}}, {{1, 1, 0}, {0, 1, 0}, {1, 0, 1}, {0, 1, 1}},
        {{1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}}};
    static const int reach[6] = {1, 2, 2, 2, 2, 3};
    int i, j, k, t, c, d, b[4][4];
    for (i = 0; i < n; ++i) for (j = 0; i + j < n; ++j) for (k = 0; i + j + k < n; ++k) {
        for (t = 0; t < 6; ++t) {
            double e[3][3], vol;
            if (i + j + k + reach[t] > n) continue;
            for (c = 0; c < 4; ++c) {
                b[c][1] = i + piece[t][c][0];
                b[c][2] = j + piece[t][c][1];
                b[c][3] = k + piece[t][c][2];
                b[c][0] = n - b[c][1] - b[c][2] - b[c][3];
            }
            for (c = 0; c < 3; ++c) for (d = 0; d < 3; ++d) {
                e[c][d] = piece[t][c + 1][d] - piece[t][0][d];
            }
            vol = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
            if (vol < 0.0) {
                int swap[4];
                memcpy(swap, b[2], sizeof swap);
                memcpy(b[2], b[3], sizeof swap);
                memcpy(b[3], swap, sizeof swap);
            }
            add_cut(g, s, id, v, n, b);
        }
    }
}

static void make_ball(maker *g)
{
    numbering s;
    double v[4][3] = {{0, 0, 0}};
    int n = whole(g, "refine", 3, 1), f, k, i, id[4];
    double points = 20.0 * (n + 1.0) * (n + 2.0) * (n + 3.0) / 6.0;
    g->a[0] = length(g, "radius", 0.5);
    g->map = map_ball;
    if (g->failed) return;
    if (20.0 * n * n * n > MOST) {
        fail(g, g->spec->line, "more than %d tets", MOST);
        return;
    }
    for (s.size = 64; s.size < 2.0 * points; s.size *= 2) {}
    s.count = 0;
    s.key = malloc((size_t)s.size * sizeof *s.key);
    s.slot = malloc((size_t)s.size * sizeof *s.slot);
    if (!s.key || !s.slot) fail(g, 0, "out of memory");
    for (i = 0; i < s.size && s.slot; ++i) s.slot[i] = -1;
    for (f = 0; f < 20 && !g->failed; ++f) {
        id[0] = 12;
        for (k = 0; k < 3; ++k) {
            id[k + 1] = ico_face[f][k];
            ico_vertex(ico_face[f][k], v[k + 1]);
        }
        cut_tet(g, &s, id, v, n);
    }
    free(s.key);
    free(s.slot);
}

/* ---- discs: a hexagon of frequency n, its rings mapped to circles; swept into solids ---- */
typedef struct disc {
    int nodes, tris;
    double (*at)[2]; /* in the hexagon with corners at distance 1 */
    int (*tri)[3];
} disc;

static int disc_node(int n, int q, int r, int *table)
{
    return table[(q + n) * (2 * n + 1) + r + n];
}

static int make_disc(maker *g, int n, disc *d)
{
    int q, r, *table, w = 2 * n + 1;
    memset(d, 0, sizeof *d);
    if (g->failed) return 0;
    if (n > 1000) return fail(g, g->spec->line, "rings must be at most 1000");
    table = malloc((size_t)w * (size_t)w * sizeof *table);
    d->at = malloc((size_t)(3 * n * (n + 1) + 1) * sizeof *d->at);
    d->tri = malloc((size_t)(6 * n * n) * sizeof *d->tri);
    if (!table || !d->at || !d->tri) {
        free(table);
        return fail(g, 0, "out of memory");
    }
    for (q = -n; q <= n; ++q) for (r = -n; r <= n; ++r) {
        int inside = abs(q + r) <= n;
        table[(q + n) * w + r + n] = inside ? d->nodes : -1;
        if (!inside) continue;
        d->at[d->nodes][0] = (q + 0.5 * r) / n;
        d->at[d->nodes++][1] = 0.86602540378443865 * r / n;
    }
    for (q = -n; q < n; ++q) for (r = -n; r < n; ++r) {
        int a = disc_node(n, q, r, table), b = disc_node(n, q + 1, r, table);
        int c = disc_node(n, q, r + 1, table), e = disc_node(n, q + 1, r + 1, table);
        if (b < 0 || c < 0) continue;
        if (a >= 0) {
            d->tri[d->tris][0] = a;
            d->tri[d->tris][1] = b;
            d->tri[d->tris++][2] = c;
        }
        if (e >= 0) {
            d->tri[d->tris][0] = b;
            d->tri[d->tris][1] = e;
            d->tri[d->tris++][2] = c;
        }
    }
    free(table);
    return 1;
}

/* Hexagon to disc: the gauge of the hexagon becomes the radius. */
static void hex_to_disc(const double p[2], double out[2])
{
    double len = sqrt(p[0] * p[0] + p[1] * p[1]), most = 0.0, s = 0.0;
    int k;
    for (k = 0; k < 6; ++k) {
        double angle = PI / 6 + k * PI / 3, d = p[0] * cos(angle) + p[1] * sin(angle);
        if (d > most) most = d;
    }
    if (len > 0.0) s = most / 0.86602540378443865 / len;
    out[0] = s * p[0];
    out[1] = s * p[1];
}

static void map_cylinder(const maker *g, const double p[3], double x[3])
{
    double d[2];
    hex_to_disc(p, d);
    x[0] = g->a[0] * d[0];
    x[1] = (p[2] - 0.5) * g->a[1];
    x[2] = -g->a[0] * d[1];
}

static void map_torus(const maker *g, const double p[3], double x[3])
{
    double d[2], r, angle = 2 * PI * p[2];
    hex_to_disc(p, d);
    r = g->a[0] + g->a[1] * d[0];
    x[0] = r * cos(angle);
    x[1] = g->a[1] * d[1];
    x[2] = r * sin(angle);
}

/* A disc swept through `layers` steps of the third parameter; closed: the last meets the first. */
static void sweep(maker *g, int rings, int layers, int closed)
{
    disc d;
    int i, t, k, v[6];
    double p[6][3];
    if (make_disc(g, rings, &d)) {
        if ((double)d.tris * layers * 3 > MOST) fail(g, g->spec->line, "more than %d tets", MOST);
        for (i = 0; i < layers && !g->failed; ++i) {
            int above = closed && i + 1 == layers ? 0 : i + 1;
            for (t = 0; t < d.tris; ++t) {
                for (k = 0; k < 3; ++k) {
                    v[k] = i * d.nodes + d.tri[t][k];
                    v[k + 3] = above * d.nodes + d.tri[t][k];
                    memcpy(p[k], d.at[d.tri[t][k]], 2 * sizeof(double));
                    memcpy(p[k + 3], d.at[d.tri[t][k]], 2 * sizeof(double));
                    p[k][2] = i / (double)layers;
                    p[k + 3][2] = (i + 1) / (double)layers;
                }
                add_prism(g, v, p);
            }
        }
    }
    free(d.at);
    free(d.tri);
}

static void make_cylinder(maker *g)
{
    int rings = whole(g, "rings", 2, 1), layers = whole(g, "layers", 4, 1);
    g->a[0] = length(g, "radius", 0.5);
    g->a[1] = length(g, "height", 1.0);
    g->map = map_cylinder;
    sweep(g, rings, layers, 0);
}

static void make_torus(maker *g)
{
    int rings = whole(g, "rings", 1, 1), segments = whole(g, "segments", 28, 3);
    g->a[0] = length(g, "major", 0.405);
    g->a[1] = length(g, "minor", 0.095);
    if (g->a[1] >= g->a[0]) fail(g, g->spec->line, "minor must be less than major");
    g->map = map_torus;
    sweep(g, rings, segments, 1);
}

/* ---- arch: blocks between joints perpendicular to a weighted catenary ---- */
/* y = 60 - 57.643 (cosh(0.044675 x) - 1), |x| <= 30, joints at equal arc length, square sections of
   side 10 - 0.05 y, then scaled so that the centre line is `height` high. */
static double arch_y(double x)
{
    return 60.0 - 57.643 * (cosh(0.044675 * x) - 1.0);
}

static double arch_slope(double x)
{
    return -57.643 * 0.044675 * sinh(0.044675 * x);
}

/* x where a part s in [0,1] of the arc lies behind; arc length by fine trapezoids, then secants. */
static double arch_at(double s)
{
    double total = 0.0, sum = 0.0, dx = 60.0 / 6000, f, last = 0.0;
    int pass, i;
    for (pass = 0; pass < 2; ++pass) {
        sum = 0.0;
        for (i = 0; i < 6000; ++i) {
            double x = -30.0 + i * dx, a = arch_slope(x), b = arch_slope(x + dx);
            f = 0.5 * dx * (sqrt(1.0 + a * a) + sqrt(1.0 + b * b));
            if (pass && sum + f >= s * total) return x + dx * (s * total - sum) / f;
            sum += f;
            last = x + dx;
        }
        total = sum;
    }
    return last;
}

/* Joints perpendicular to the curve; a block has the square section of its lower joint throughout.
   Block i is moved apart from the crown by (i, -|i|) times the gap, counted from the crown. */
static void map_arch(const maker *g, const double p[3], double x[3])
{
    int i = (int)g->a[1], k;
    double n = g->a[2], gap = g->a[3], scale = g->a[0] / 60.0, out[2][2], low, side;
    double from = i - 0.5 * (n - 1.0);
    low = fmin(arch_y(arch_at(i / n)), arch_y(arch_at((i + 1) / n)));
    side = 10.0 - 0.05 * (low > 0.0 ? low : 0.0);
    for (k = 0; k < 2; ++k) { /* the two joints */
        double at = arch_at((i + k) / n), m = arch_slope(at), len = sqrt(1.0 + m * m);
        double y = arch_y(at) + (p[1] - 0.5) * side / len;
        out[k][0] = at - (p[1] - 0.5) * side * m / len + from * gap;
        if (g->a[4] != 0.0 && (i + k == 0 || i + k == n)) { /* a foot: along the tangent to y 0 */
            out[k][0] -= y / m;
            y = 0.0;
        }
        out[k][1] = y - fabs(from) * gap;
    }
    x[0] = scale * ((1.0 - p[0]) * out[0][0] + p[0] * out[1][0]);
    x[1] = scale * ((1.0 - p[0]) * out[0][1] + p[0] * out[1][1]);
    x[2] = scale * (p[2] - 0.5) * side;
}

static void make_arch_block(maker *g)
{
    int n[3] = {1, 1, 1};
    g->a[0] = length(g, "height", 20.0);
    g->a[1] = whole(g, "index", 0, 0);
    g->a[2] = whole(g, "blocks", 25, 1);
    g->a[3] = number(g, "gap", 0.1, 0.0);
    g->a[4] = flag(g, "flat");
    wholes(g, "cells", 3, n, 1);
    if (g->a[1] >= g->a[2]) fail(g, g->spec->line, "index must be below blocks");
    g->map = map_arch;
    grid(g, n, NULL);
}

/* ---- small solids by their corners ---- */
static void make_corners(maker *g, const double (*x)[3], const int (*tet)[4], int tets,
    double scale)
{
    double p[4][3];
    int i, c, k;
    g->map = map_same;
    for (i = 0; i < tets; ++i) {
        for (c = 0; c < 4; ++c) for (k = 0; k < 3; ++k) p[c][k] = scale * x[tet[i][c]][k];
        add_tet(g, tet[i], p);
    }
}

static void make_tet(maker *g)
{
    static const double x[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 0}};
    static const int tet[1][4] = {{0, 2, 1, 3}};
    make_corners(g, x, tet, 1, length(g, "size", 1.0));
}

static void make_spike(maker *g)
{
    static const double x[5][3] = {{-.5, 0, -.5}, {.5, 0, -.5}, {.5, 0, .5}, {-.5, 0, .5},
        {0, 3, 0}};
    static const int tet[2][4] = {{0, 2, 1, 4}, {0, 3, 2, 4}};
    make_corners(g, x, tet, 2, length(g, "size", 1.0));
}

static void make_wedge(maker *g)
{
    static const double x[6][3] = {{-.5, 0, -1}, {.5, 0, -1}, {0, 3, -1}, {-.5, 0, 1}, {.5, 0, 1},
        {0, 3, 1}};
    double p[6][3], size = length(g, "size", 1.0);
    int v[6] = {0, 1, 2, 3, 4, 5}, i, k;
    for (i = 0; i < 6; ++i) for (k = 0; k < 3; ++k) p[i][k] = size * x[i][k];
    g->map = map_same;
    add_prism(g, v, p);
}

/* ---------------------------------------------------------------- surfaces */
static int add_node(maker *g, double x, double y, double z)
{
    int k;
    if (g->failed) return 0;
    k = mesh_add_nodes(g->m, 1);
    if (k < 0) {
        fail(g, 0, "out of memory");
        return 0;
    }
    g->m->x[3 * (size_t)k] = x;
    g->m->x[3 * (size_t)k + 1] = y;
    g->m->x[3 * (size_t)k + 2] = z;
    return k;
}

static void add_tri(maker *g, int a, int b, int c)
{
    int k;
    if (g->failed || a == b || b == c || c == a) return;
    k = mesh_add_tris(g->m, 1);
    if (k < 0) {
        fail(g, 0, "out of memory");
        return;
    }
    g->m->tri[3 * (size_t)k] = a;
    g->m->tri[3 * (size_t)k + 1] = b;
    g->m->tri[3 * (size_t)k + 2] = c;
}

static void add_edge(maker *g, int a, int b)
{
    int k;
    if (g->failed) return;
    k = mesh_add_edges(g->m, 1);
    if (k < 0) {
        fail(g, 0, "out of memory");
        return;
    }
    g->m->edge[2 * (size_t)k] = a;
    g->m->edge[2 * (size_t)k + 1] = b;
}

static void add_point(maker *g, int a)
{
    int k;
    if (g->failed) return;
    k = mesh_add_points(g->m, 1);
    if (k < 0) fail(g, 0, "out of memory");
    else g->m->point[k] = a;
}

/* Rows of nodes joined by triangles, diagonals alternating. wrap: the last column meets the first.
   at(g, u, v, x) gives the place of column u, row v, both in [0,1]. */
static void patch(maker *g, int nu, int nv, int wrap,
    void (*at)(const maker *g, double u, double v, double x[3]))
{
    int columns = wrap ? nu : nu + 1, base = g->m->nodes, i, j;
    double x[3];
    if (g->failed) return;
    if ((double)nu * nv > MOST) {
        fail(g, g->spec->line, "more than %d cells", MOST);
        return;
    }
    for (j = 0; j <= nv; ++j) for (i = 0; i < columns; ++i) {
        at(g, i / (double)nu, j / (double)nv, x);
        add_node(g, x[0], x[1], x[2]);
    }
    for (j = 0; j < nv; ++j) for (i = 0; i < nu; ++i) {
        int next = wrap && i + 1 == nu ? 0 : i + 1;
        int a = base + j * columns + i, b = base + j * columns + next;
        int c = a + columns, d = b + columns;
        if ((i + j) % 2) {
            add_tri(g, a, d, b);
            add_tri(g, a, c, d);
        } else {
            add_tri(g, a, c, b);
            add_tri(g, b, c, d);
        }
    }
}

static void at_sheet(const maker *g, double u, double v, double x[3])
{
    x[0] = (u - 0.5) * g->a[0];
    x[1] = 0.0;
    x[2] = (v - 0.5) * g->a[1];
}

static void make_sheet(maker *g)
{
    int n[2] = {10, 10};
    g->a[0] = g->a[1] = 1.0;
    lengths(g, "size", 2, g->a);
    wholes(g, "cells", 2, n, 1);
    patch(g, n[0], n[1], 0, at_sheet);
}

static void make_card(maker *g)
{
    int n[2] = {15, 7};
    g->a[0] = 0.0888;
    g->a[1] = 0.0635;
    lengths(g, "size", 2, g->a);
    wholes(g, "cells", 2, n, 1);
    patch(g, n[0], n[1], 0, at_sheet);
}

static void at_tube(const maker *g, double u, double v, double x[3])
{
    double angle = 2 * PI * u;
    x[0] = g->a[0] * cos(angle);
    x[1] = (v - 0.5) * g->a[1];
    x[2] = g->a[0] * sin(angle);
}

static void make_tube(maker *g)
{
    int n = whole(g, "segments", 32, 3), layers = whole(g, "layers", 8, 1);
    g->a[0] = length(g, "radius", 0.25);
    g->a[1] = length(g, "height", 1.0);
    patch(g, n, layers, 1, at_tube);
}

static void at_bowl(const maker *g, double u, double v, double x[3])
{
    double angle = 2 * PI * u, polar = g->a[1] + v * (0.5 * PI - g->a[1]); /* from below */
    x[0] = g->a[0] * sin(polar) * cos(angle);
    x[1] = -g->a[0] * cos(polar);
    x[2] = g->a[0] * sin(polar) * sin(angle);
}

static void make_bowl(maker *g)
{
    int n = whole(g, "segments", 32, 3), rings = whole(g, "rings", 8, 1), i, pole;
    double least = 0.5 * PI / (rings + 1);
    g->a[0] = length(g, "radius", 0.5);
    g->a[1] = least;
    patch(g, n, rings, 1, at_bowl);
    pole = add_node(g, 0.0, -g->a[0], 0.0);
    for (i = 0; i < n; ++i) add_tri(g, pole, i, (i + 1) % n);
}

static void at_funnel(const maker *g, double u, double v, double x[3])
{
    double angle = 2 * PI * u, cone = g->a[4], s, r;
    if (v < cone) { /* the tube, then the cone */
        s = v / cone;
        r = g->a[1];
        x[1] = -g->a[3] + s * g->a[3];
    } else {
        s = (v - cone) / (1.0 - cone);
        r = g->a[1] + s * (g->a[0] - g->a[1]);
        x[1] = s * g->a[2];
    }
    x[0] = r * cos(angle);
    x[2] = r * sin(angle);
}

static void make_funnel(maker *g)
{
    int n = whole(g, "segments", 32, 3), rings = whole(g, "rings", 6, 1);
    g->a[0] = length(g, "radius", 0.5);
    g->a[1] = length(g, "throat", 0.1);
    g->a[2] = length(g, "height", 0.5);
    g->a[3] = length(g, "tube", 0.3);
    g->a[4] = 0.5;
    patch(g, n, 2 * rings, 1, at_funnel);
}

/* A geodesic sphere: every face of the icosahedron in n^2 triangles. */
static void make_sphere(maker *g)
{
    numbering s;
    int n = whole(g, "frequency", 8, 1), f, i, j, k, id[4] = {0, 0, 0, -1}, have = 0;
    double r = length(g, "radius", 0.5), v[3][3];
    if (g->failed) return;
    if (20.0 * n * n > MOST) {
        fail(g, g->spec->line, "more than %d triangles", MOST);
        return;
    }
    for (s.size = 64; s.size < 2.0 * (20.0 * (n + 1.0) * (n + 2.0) / 2.0); s.size *= 2) {}
    s.count = 0;
    s.key = malloc((size_t)s.size * sizeof *s.key);
    s.slot = malloc((size_t)s.size * sizeof *s.slot);
    if (!s.key || !s.slot) fail(g, 0, "out of memory");
    for (i = 0; i < s.size && s.slot; ++i) s.slot[i] = -1;
    for (f = 0; f < 20 && !g->failed; ++f) {
        for (k = 0; k < 3; ++k) {
            id[k] = ico_face[f][k];
            ico_vertex(id[k], v[k]);
        }
        for (i = 0; i <= n; ++i) for (j = 0; i + j <= n; ++j) {
            int w[4], node;
            double x[3], len = 0.0;
            w[0] = n - i - j;
            w[1] = i;
            w[2] = j;
            w[3] = 0;
            node = number_of(g, &s, id, w);
            if (node < have || g->failed) continue;
            for (k = 0; k < 3; ++k) x[k] = (w[0] * v[0][k] + w[1] * v[1][k] + w[2] * v[2][k]) / n;
            for (k = 0; k < 3; ++k) len += x[k] * x[k];
            len = sqrt(len);
            add_node(g, r * x[0] / len, r * x[1] / len, r * x[2] / len);
            ++have;
        }
        for (i = 0; i < n; ++i) for (j = 0; i + j < n; ++j) {
            int w[4][4], c[4];
            for (k = 0; k < 4; ++k) {
                w[k][1] = i + (k & 1);
                w[k][2] = j + (k >> 1);
                w[k][0] = n - w[k][1] - w[k][2];
                w[k][3] = 0;
                c[k] = w[k][0] >= 0 ? number_of(g, &s, id, w[k]) : -1;
            }
            add_tri(g, c[0], c[1], c[2]);
            if (c[3] >= 0) add_tri(g, c[1], c[3], c[2]);
        }
    }
    free(s.key);
    free(s.slot);
}

/* Obstacles of the degenerate unit cases: polygons with outward fans. */
static void add_polygons(maker *g, const double (*x)[3], int nodes, const int *list, int count,
    double scale)
{
    int base = g->m->nodes, i, first = -1, last = -1;
    for (i = 0; i < nodes; ++i) add_node(g, scale * x[i][0], scale * x[i][1], scale * x[i][2]);
    for (i = 0; i < count; ++i) { /* -1 ends a polygon */
        if (list[i] < 0) first = last = -1;
        else if (first < 0) first = list[i];
        else {
            if (last >= 0) add_tri(g, base + first, base + last, base + list[i]);
            last = list[i];
        }
    }
}

static void make_cliff(maker *g)
{
    static const double x[8][3] = {{-.75, -.5, -.75}, {.75, -.5, -.75}, {.75, -.5, .75},
        {-.75, -.5, .75}, {-.5, .5, -.5}, {.5, .5, -.5}, {.5, .5, .5}, {-.5, .5, .5}};
    static const int face[] = {0, 1, 2, 3, -1, 4, 7, 6, 5, -1, 0, 4, 5, 1, -1, 1, 5, 6, 2, -1,
        2, 6, 7, 3, -1, 3, 7, 4, 0, -1};
    add_polygons(g, x, 8, face, sizeof face / sizeof *face, length(g, "size", 1.0));
}

/* A slab 2 x 1 x 4 with a V groove along z, one unit wide and deep, from its top at y = 1. */
static void make_crack(maker *g)
{
    static const double x[14][3] = {{-1, 0, -2}, {-1, 1, -2}, {-.5, 1, -2}, {0, 0, -2},
        {.5, 1, -2}, {1, 1, -2}, {1, 0, -2}, {-1, 0, 2}, {-1, 1, 2}, {-.5, 1, 2}, {0, 0, 2},
        {.5, 1, 2}, {1, 1, 2}, {1, 0, 2}};
    static const int face[] = {0, 1, 2, 3, -1, 3, 4, 5, 6, -1, 7, 10, 9, 8, -1, 10, 13, 12, 11, -1,
        0, 7, 8, 1, -1, 1, 8, 9, 2, -1, 2, 9, 10, 3, -1, 3, 10, 11, 4, -1, 4, 11, 12, 5, -1,
        5, 12, 13, 6, -1, 0, 3, 10, 7, -1, 3, 6, 13, 10, -1};
    add_polygons(g, x, 14, face, sizeof face / sizeof *face, length(g, "size", 1.0));
}

/* A block 2 x 1 x 2 with a square hole 1 x 1 through it; vertices at the middle of its edges. */
static void make_hole(maker *g)
{
    static const double ring[8][2] = {{-1, -1}, {0, -1}, {1, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 1},
        {-1, 0}};
    double size = length(g, "size", 1.0);
    int v[2][2][8], i, j, k; /* outer and inner ring, below and above */
    for (j = 0; j < 2; ++j) for (k = 0; k < 2; ++k) for (i = 0; i < 8; ++i) {
        double s = size * (j ? 0.5 : 1.0);
        v[j][k][i] = add_node(g, s * ring[i][0], size * k, s * ring[i][1]);
    }
    for (i = 0; i < 8; ++i) {
        int n = (i + 1) % 8;
        add_tri(g, v[0][0][i], v[0][1][i], v[0][1][n]); /* outside */
        add_tri(g, v[0][0][i], v[0][1][n], v[0][0][n]);
        add_tri(g, v[1][0][i], v[1][0][n], v[1][1][n]); /* hole */
        add_tri(g, v[1][0][i], v[1][1][n], v[1][1][i]);
        add_tri(g, v[0][1][i], v[1][1][i], v[1][1][n]); /* top */
        add_tri(g, v[0][1][i], v[1][1][n], v[0][1][n]);
        add_tri(g, v[0][0][i], v[0][0][n], v[1][0][n]); /* bottom */
        add_tri(g, v[0][0][i], v[1][0][n], v[1][0][i]);
    }
}

/* ---------------------------------------------------------------- curves and points */
/* Three points as a list of three numbers each. */
static void make_triangle(maker *g)
{
    const json *list = param(g, "points"), *c, *d;
    double x[9] = {0, 0, 0, 1, 0, 0, 0, 0, 1};
    int n = 0;
    for (c = list ? list->child : NULL; c; c = c->next) {
        for (d = c->child; d; d = d->next) if (d->type == JSON_NUMBER && n < 9) x[n++] = d->number;
    }
    if (list && (list->count != 3 || n != 9)) fail(g, list->line, "points must be three points");
    for (n = 0; n < 3; ++n) add_node(g, x[3 * n], x[3 * n + 1], x[3 * n + 2]);
    if (!g->failed) add_tri(g, 0, 1, 2);
}

static void make_polyline(maker *g)
{
    const json *list = param(g, "points"), *c, *d;
    int n = whole(g, "segments", 10, 1), last = -1, i, k;
    double x[3] = {0, 0, 0}, from[3] = {-0.5, 0, 0}, to[3] = {0.5, 0, 0};
    vector(g, "from", 3, from, -HUGE_VAL);
    vector(g, "to", 3, to, -HUGE_VAL);
    if (list && (list->type != JSON_ARRAY || list->count < 2)) {
        fail(g, list->line, "points must be a list of at least two points");
    }
    for (c = list ? list->child : NULL; c && !g->failed; c = c->next) {
        if (c->type != JSON_ARRAY || c->count != 3) fail(g, c->line, "a point is three numbers");
        for (k = 0, d = c->child; d && !g->failed; d = d->next) {
            if (d->type != JSON_NUMBER) fail(g, d->line, "a point is three numbers");
            else x[k++] = d->number;
        }
        i = add_node(g, x[0], x[1], x[2]);
        if (last >= 0) add_edge(g, last, i);
        last = i;
    }
    for (i = 0; !list && i <= n; ++i) {
        for (k = 0; k < 3; ++k) x[k] = from[k] + (to[k] - from[k]) * i / n;
        k = add_node(g, x[0], x[1], x[2]);
        if (i > 0) add_edge(g, k - 1, k);
    }
}

/* Item i of n around 0, `spacing` apart. */
static double along(int i, int n, double spacing)
{
    return (i - 0.5 * (n - 1)) * spacing;
}

static double jitter_of(uint64_t *state, double width)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return width * ((double)(z >> 11) / 9007199254740992.0 - 0.5);
}

static void make_points(maker *g)
{
    int n[3] = {10, 1, 10}, i, j, k;
    double s[3] = {0.1, 0.1, 0.1}, jitter = number(g, "jitter", 0.0, 0.0);
    uint64_t state = (uint64_t)whole(g, "seed", 1, 0);
    wholes(g, "count", 3, n, 1);
    vector(g, "spacing", 3, s, 0.0);
    if ((double)n[0] * n[1] * n[2] > MOST) fail(g, g->spec->line, "more than %d points", MOST);
    for (i = 0; i < n[0] && !g->failed; ++i) for (j = 0; j < n[1]; ++j) for (k = 0; k < n[2]; ++k) {
        double x = along(i, n[0], s[0]) + jitter_of(&state, jitter);
        double y = along(j, n[1], s[1]) + jitter_of(&state, jitter);
        double z = along(k, n[2], s[2]) + jitter_of(&state, jitter);
        add_point(g, add_node(g, x, y, z));
    }
}

/* A bed of upright segments, top at y = 0. */
static void make_segments(maker *g)
{
    int n[2] = {10, 10}, i, k;
    double s[2] = {0.1, 0.1}, h = length(g, "height", 0.3);
    wholes(g, "count", 2, n, 1);
    lengths(g, "spacing", 2, s);
    if ((double)n[0] * n[1] > MOST) fail(g, g->spec->line, "more than %d segments", MOST);
    for (i = 0; i < n[0] && !g->failed; ++i) for (k = 0; k < n[1]; ++k) {
        double x = along(i, n[0], s[0]), z = along(k, n[1], s[1]);
        int a = add_node(g, x, 0.0, z);
        add_edge(g, a, add_node(g, x, -h, z));
    }
}

/* A bed of upright rectangles (two triangles each), top edge at y = 0, across z. */
static void make_squares(maker *g)
{
    int n[2] = {10, 10}, i, k;
    double s[2] = {0.1, 0.1}, h = length(g, "height", 0.3), w = length(g, "width", 0.05);
    wholes(g, "count", 2, n, 1);
    lengths(g, "spacing", 2, s);
    if ((double)n[0] * n[1] > MOST) fail(g, g->spec->line, "more than %d squares", MOST);
    for (i = 0; i < n[0] && !g->failed; ++i) for (k = 0; k < n[1]; ++k) {
        double x = along(i, n[0], s[0]), z = along(k, n[1], s[1]);
        int a = add_node(g, x, 0.0, z - 0.5 * w), b = add_node(g, x, 0.0, z + 0.5 * w);
        int c = add_node(g, x, -h, z + 0.5 * w), d = add_node(g, x, -h, z - 0.5 * w);
        add_tri(g, a, b, c);
        add_tri(g, a, c, d);
    }
}

/* ---------------------------------------------------------------- parts of machines */
/* n nodes around y at one height; r: n radii. The first node. */
static int ring(maker *g, int n, double y, const double *r)
{
    int i, first = g->m->nodes;
    for (i = 0; i < n; ++i) {
        double angle = 2 * PI * i / n;
        add_node(g, r[i] * cos(angle), y, r[i] * sin(angle));
    }
    return first;
}

static int circle(maker *g, int n, double y, double r)
{
    double *all = malloc((size_t)n * sizeof *all);
    int i, first = 0;
    if (!all) fail(g, 0, "out of memory");
    for (i = 0; i < n && all; ++i) all[i] = r;
    if (all) first = ring(g, n, y, all);
    free(all);
    return first;
}

/* Between two rings, outside where b is above a; diagonals run upwards with the angle. */
static void strip(maker *g, int n, int a, int b)
{
    int i;
    for (i = 0; i < n; ++i) {
        int j = (i + 1) % n;
        add_tri(g, a + i, b + j, a + j);
        add_tri(g, a + i, b + i, b + j);
    }
}

/* From a node on the axis to a ring, facing up or down. */
static void fan(maker *g, int n, int pole, int a, int up)
{
    int i;
    for (i = 0; i < n; ++i) {
        int j = (i + 1) % n;
        add_tri(g, pole, up ? a + j : a + i, up ? a + i : a + j);
    }
}

/* Turn all triangles if the volume that they enclose is negative. */
static void face_outwards(maker *g)
{
    double volume = 0.0;
    int i;
    for (i = 0; i < g->m->tris && !g->failed; ++i) {
        const int *t = g->m->tri + 3 * (size_t)i;
        const double *a = g->m->x + 3 * (size_t)t[0], *b = g->m->x + 3 * (size_t)t[1];
        const double *c = g->m->x + 3 * (size_t)t[2];
        volume += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    for (i = 0; i < g->m->tris && volume < 0.0; ++i) {
        int *t = g->m->tri + 3 * (size_t)i, swap = t[1];
        t[1] = t[2];
        t[2] = swap;
    }
}

/* A thread is a triangle wave of the phase y / pitch - angle / turn. With as many rows in a pitch
   as columns in a turn the phase is constant along the diagonals of the grid: ridges and grooves
   are edges of the mesh, and a nut and a bolt with the same pitch fit wherever they are turned. */
static int thread(maker *g, int n, double y, double core, double depth, double pitch)
{
    double *r = malloc((size_t)n * sizeof *r);
    int i, first = 0;
    if (!r) fail(g, 0, "out of memory");
    for (i = 0; i < n && r; ++i) {
        double phase = y / pitch - (double)i / n;
        phase -= floor(phase);
        r[i] = core + depth * (1.0 - fabs(2.0 * phase - 1.0));
    }
    if (r) first = ring(g, n, y, r);
    free(r);
    return first;
}

/* Rings of a thread from y0 upwards, joined; the first and the last ring. */
static void thread_rows(maker *g, int n, int turns, double y0, int inside, int end[2])
{
    double core = g->a[0], depth = g->a[1], pitch = g->a[2];
    int j, last = -1, now;
    if (2.0 * n * n * turns > MOST) fail(g, g->spec->line, "more than %d triangles", MOST);
    for (j = 0; j <= n * turns && !g->failed; ++j) {
        now = thread(g, n, y0 + pitch * j / n, core, depth, pitch);
        if (last < 0) end[0] = now;
        else if (inside) {
            int i;
            for (i = 0; i < n; ++i) { /* as a strip, seen from the other side */
                int k = (i + 1) % n;
                add_tri(g, last + i, last + k, now + k);
                add_tri(g, last + i, now + k, now + i);
            }
        } else strip(g, n, last, now);
        end[1] = last = now;
    }
}

static int thread_params(maker *g)
{
    int n = whole(g, "segments", 24, 4);
    if (n % 2) fail(g, g->spec->line, "segments must be even");
    g->a[0] = length(g, "radius", 0.02);
    g->a[1] = length(g, "depth", 0.005);
    g->a[2] = length(g, "pitch", 0.01);
    return n;
}

/* Shaft from y = -turns pitch to 0, a round head above it. */
static void make_bolt(maker *g)
{
    int n = thread_params(g), turns = whole(g, "turns", 5, 1), end[2] = {0, 0}, a, b;
    double wide = length(g, "head", 2.0 * g->a[0]), high = length(g, "head_height", g->a[0]);
    if (wide <= g->a[0] + g->a[1]) fail(g, g->spec->line, "head must be wider than the thread");
    thread_rows(g, n, turns, -turns * g->a[2], 0, end);
    fan(g, n, add_node(g, 0.0, -turns * g->a[2], 0.0), end[0], 0);
    a = circle(g, n, 0.0, wide);
    b = circle(g, n, high, wide);
    strip(g, n, end[1], a);
    strip(g, n, a, b);
    fan(g, n, add_node(g, 0.0, high, 0.0), b, 1);
}

/* A ring whose hole has a thread, centred at y = 0. */
static void make_nut(maker *g)
{
    int n = thread_params(g), turns = whole(g, "turns", 2, 1), end[2] = {0, 0}, a, b;
    double outer = length(g, "outer", 2.0 * g->a[0]), half = 0.5 * turns * g->a[2];
    if (outer <= g->a[0] + g->a[1]) fail(g, g->spec->line, "outer must be wider than the thread");
    thread_rows(g, n, turns, -half, 1, end);
    a = circle(g, n, -half, outer);
    b = circle(g, n, half, outer);
    strip(g, n, a, b);
    strip(g, n, end[0], a); /* below: outwards in the sense of the strip is down */
    strip(g, n, b, end[1]);
}

/* The points of a list [[x, y], ...] or of a circle {center, radius, segments}. */
static double (*outline(maker *g, const json *v, const char *name, int *count))[2]
{
    const json *c = v ? v->child : NULL, *d;
    double (*x)[2] = NULL;
    int n = 0, k;
    if (v && v->type == JSON_OBJECT) {
        maker round = *g;
        double at[2] = {0.0, 0.0}, r;
        round.spec = v;
        vector(&round, "center", 2, at, -HUGE_VAL);
        r = length(&round, "radius", 0.1);
        *count = whole(&round, "segments", 16, 3);
        for (; c; c = c->next) {
            if (!c->seen) fail(&round, c->line, "a circle has no \"%.40s\"", c->key);
        }
        g->failed = round.failed;
        x = malloc((size_t)*count * sizeof *x);
        if (!x) fail(g, 0, "out of memory");
        for (; x && n < *count; ++n) {
            x[n][0] = at[0] + r * cos(2 * PI * n / *count);
            x[n][1] = at[1] + r * sin(2 * PI * n / *count);
        }
        return x;
    }
    if (!v || v->type != JSON_ARRAY || v->count < 2) {
        fail(g, v ? v->line : g->spec->line, "%s must be a list of points or a circle", name);
        return NULL;
    }
    x = malloc((size_t)v->count * sizeof *x);
    if (!x) fail(g, 0, "out of memory");
    for (; c && x && !g->failed; c = c->next, ++n) {
        if (c->type != JSON_ARRAY || c->count != 2) fail(g, c->line, "a point is two numbers");
        for (k = 0, d = c->type == JSON_ARRAY ? c->child : NULL; d && k < 2; d = d->next, ++k) {
            if (d->type != JSON_NUMBER) fail(g, d->line, "a point is two numbers");
            x[n][k] = d->number;
        }
    }
    *count = n;
    return x;
}

/* A profile (radius, y) turned about y: from axis to axis, or closed like a tyre. */
static void make_lathe(maker *g)
{
    int n = whole(g, "segments", 32, 3), count = 0, i, first = -1, last = -1, now;
    double (*p)[2] = outline(g, param(g, "points"), "points", &count);
    int ends = 0;
    for (i = 0; i < count && p && !g->failed; ++i) {
        if (p[i][0] < 0.0) fail(g, g->spec->line, "a radius is negative");
        if (p[i][0] == 0.0) ++ends;
        if (p[i][0] == 0.0 && i > 0 && i < count - 1) fail(g, g->spec->line, "the axis is an end");
    }
    if (!g->failed && (ends == 1 || count < 3)) {
        fail(g, g->spec->line, "a profile is closed, or begins and ends on the axis");
    }
    for (i = 0; i < count && p && !g->failed; ++i) {
        int pole = p[i][0] == 0.0;
        now = pole ? add_node(g, 0.0, p[i][1], 0.0) : circle(g, n, p[i][1], p[i][0]);
        if (i == 0) first = now;
        else if (pole) fan(g, n, now, last, 1);
        else if (i == 1 && ends) fan(g, n, last, now, 0);
        else strip(g, n, last, now);
        last = now;
    }
    if (p && !ends && !g->failed) strip(g, n, last, first);
    free(p);
    face_outwards(g);
}

/* ---- plates: polygons with holes by ear clipping ---- */
static double turn_of(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static int same_place(const double *a, const double *b)
{
    return a[0] == b[0] && a[1] == b[1];
}

static double area_of(double (*x)[2], int n)
{
    double sum = 0.0;
    int i;
    for (i = 0; i < n; ++i) sum += turn_of(x[0], x[i], x[(i + 1) % n]);
    return 0.5 * sum;
}

typedef struct polygon { /* walked with the inside on the left; bridges are walked twice */
    int n, room;
    int *id;
    double (*x)[2];
} polygon;

static int polygon_room(maker *g, polygon *p, int more)
{
    int *id = realloc(p->id, (size_t)(p->n + more) * sizeof *id);
    double (*x)[2] = NULL;
    if (id) p->id = id;
    if (id) x = realloc(p->x, (size_t)(p->n + more) * sizeof *x);
    if (x) p->x = x;
    return x ? 1 : fail(g, 0, "out of memory");
}

static int crosses(const double *a, const double *b, const double *c, const double *d)
{
    if (same_place(a, c) || same_place(a, d) || same_place(b, c) || same_place(b, d)) return 0;
    return turn_of(a, b, c) * turn_of(a, b, d) <= 0.0 && turn_of(c, d, a) * turn_of(c, d, b) <= 0.0;
}

/* Joins a hole (walked clockwise, n nodes from id on) to the polygon by its shortest bridge that
   crosses nothing of either. */
static void polygon_hole(maker *g, polygon *p, int n, int id, double (*x)[2])
{
    double best = HUGE_VAL;
    int i, j, k, at = -1, from = -1;
    for (i = 0; i < p->n; ++i) for (j = 0; j < n; ++j) {
        double d = hypot(p->x[i][0] - x[j][0], p->x[i][1] - x[j][1]);
        if (!(d < best)) continue;
        for (k = 0; k < p->n && !crosses(p->x[i], x[j], p->x[k], p->x[(k + 1) % p->n]); ++k) {}
        if (k < p->n) continue;
        for (k = 0; k < n && !crosses(p->x[i], x[j], x[k], x[(k + 1) % n]); ++k) {}
        if (k < n) continue;
        best = d;
        at = i;
        from = j;
    }
    if (at < 0) {
        fail(g, g->spec->line, "a hole is not inside the outline");
        return;
    }
    if (!polygon_room(g, p, n + 2)) return;
    for (k = p->n - 1; k > at; --k) {
        p->id[k + n + 2] = p->id[k];
        memcpy(p->x[k + n + 2], p->x[k], sizeof *p->x);
    }
    for (k = 0; k <= n; ++k) {
        p->id[at + 1 + k] = id + (from + k) % n;
        memcpy(p->x[at + 1 + k], x[(from + k) % n], sizeof *p->x);
    }
    p->id[at + n + 2] = p->id[at];
    memcpy(p->x[at + n + 2], p->x[at], sizeof *p->x);
    p->n += n + 2;
}

static int is_ear(const polygon *p, int i)
{
    const double *a = p->x[(i + p->n - 1) % p->n], *b = p->x[i], *c = p->x[(i + 1) % p->n];
    int k;
    if (!(turn_of(a, b, c) > 0.0)) return 0;
    for (k = 0; k < p->n; ++k) {
        const double *q = p->x[k];
        if (same_place(q, a) || same_place(q, b) || same_place(q, c)) continue;
        if (turn_of(a, b, q) >= 0.0 && turn_of(b, c, q) >= 0.0 && turn_of(c, a, q) >= 0.0) return 0;
    }
    return 1;
}

/* Triangles of the polygon, whose nodes get `shift` added; up: facing +z. Empties p. */
static void polygon_fill(maker *g, polygon *p, int up)
{
    while (p->n > 2 && !g->failed) {
        int i, k;
        for (i = 0; i < p->n && !is_ear(p, i); ++i) {}
        if (i == p->n) {
            fail(g, g->spec->line, "the outline crosses itself or a hole");
            break;
        }
        k = p->id[(i + 1) % p->n];
        add_tri(g, p->id[(i + p->n - 1) % p->n], up ? p->id[i] : k, up ? k : p->id[i]);
        memmove(p->id + i, p->id + i + 1, (size_t)(p->n - i - 1) * sizeof *p->id);
        memmove(p->x + i, p->x + i + 1, (size_t)(p->n - i - 1) * sizeof *p->x);
        --p->n;
    }
    free(p->id);
    free(p->x);
}

/* A closed line of the plate. sense +1: walked with the plate on its left, outline and pins;
   -1: holes. low: its nodes at height z0, high: at z1, in the same order. */
typedef struct plate_line {
    int n, low, high, pin;
    double (*x)[2];
} plate_line;

static int line_nodes(maker *g, const plate_line *l, double z)
{
    int i, first = g->m->nodes;
    for (i = 0; i < l->n; ++i) add_node(g, l->x[i][0], l->x[i][1], z);
    return first;
}

static void line_wall(maker *g, const plate_line *l)
{
    int i;
    for (i = 0; i < l->n; ++i) {
        int j = (i + 1) % l->n;
        add_tri(g, l->low + i, l->low + j, l->high + j);
        add_tri(g, l->low + i, l->high + j, l->high + i);
    }
}

static void line_turn(plate_line *l, int sense)
{
    int i, k;
    if (area_of(l->x, l->n) * sense > 0.0) return;
    for (i = 0; i < l->n / 2; ++i) for (k = 0; k < 2; ++k) {
        double swap = l->x[i][k];
        l->x[i][k] = l->x[l->n - 1 - i][k];
        l->x[l->n - 1 - i][k] = swap;
    }
}

/* The face at the bottom or the top: outline less holes, on top less the feet of pins too. */
static void plate_face(maker *g, plate_line *line, int lines, int top)
{
    polygon p = {0, 0, NULL, NULL};
    int i, k;
    if (!polygon_room(g, &p, line[0].n)) return;
    for (p.n = line[0].n, i = 0; i < p.n; ++i) {
        p.id[i] = (top ? line[0].high : line[0].low) + i;
        memcpy(p.x[i], line[0].x[i], sizeof *p.x);
    }
    for (i = 1; i < lines && !g->failed; ++i) {
        if (line[i].pin && !top) continue;
        if (!line[i].pin) {
            polygon_hole(g, &p, line[i].n, top ? line[i].high : line[i].low, line[i].x);
            continue;
        }
        /* a pin's foot is walked as a pin; as a hole its nodes go the other way */
        {
            plate_line back = line[i];
            double (*x)[2] = malloc((size_t)back.n * sizeof *x);
            polygon q = p;
            int before = q.n;
            if (!x) fail(g, 0, "out of memory");
            for (k = 0; k < back.n && x; ++k) memcpy(x[k], line[i].x[back.n - 1 - k], sizeof *x);
            if (x) polygon_hole(g, &p, back.n, 0, x);
            for (k = 0; k < p.n && p.n > before; ++k) { /* numbers of the hole's nodes, turned */
                int j;
                for (j = 0; j < back.n; ++j) {
                    if (same_place(p.x[k], line[i].x[j])) p.id[k] = line[i].low + j;
                }
            }
            free(x);
        }
    }
    polygon_fill(g, &p, top);
}

static void plate_build(maker *g, plate_line *line, int lines, const double *pin_height)
{
    double half = 0.5 * g->a[0];
    int i, k;
    for (i = 0; i < lines && !g->failed; ++i) {
        line_turn(line + i, i == 0 || line[i].pin ? 1 : -1);
        line[i].low = line_nodes(g, line + i, line[i].pin ? half : -half);
        line[i].high = line_nodes(g, line + i, line[i].pin ? half + pin_height[i] : half);
        line_wall(g, line + i);
        if (line[i].pin) {
            polygon p = {0, 0, NULL, NULL};
            if (!polygon_room(g, &p, line[i].n)) return;
            for (p.n = line[i].n, k = 0; k < p.n; ++k) {
                p.id[k] = line[i].high + k;
                memcpy(p.x[k], line[i].x[k], sizeof *p.x);
            }
            polygon_fill(g, &p, 1);
        }
    }
    if (!g->failed) plate_face(g, line, lines, 0);
    if (!g->failed) plate_face(g, line, lines, 1);
}

/* An outline in x and y with holes through it, `thickness` along z, and pins that stand on the side
   of +z. */
static void make_plate(maker *g)
{
    const json *holes = param(g, "holes"), *pins = param(g, "pins"), *c;
    plate_line line[64];
    double pin_height[64], high = length(g, "pin_height", 0.1);
    int lines = 1, i;
    memset(line, 0, sizeof line);
    g->a[0] = length(g, "thickness", 0.1);
    line[0].x = outline(g, param(g, "points"), "points", &line[0].n);
    for (i = 0; i < 2; ++i) {
        const json *list = i ? pins : holes;
        if (list && list->type != JSON_ARRAY) fail(g, list->line, "holes and pins are lists");
        for (c = list && !g->failed ? list->child : NULL; c && !g->failed; c = c->next) {
            if (lines == 64) {
                fail(g, c->line, "more than 63 holes and pins");
                break;
            }
            line[lines].pin = i;
            pin_height[lines] = high;
            line[lines].x = outline(g, c, i ? "a pin" : "a hole", &line[lines].n);
            ++lines;
        }
    }
    for (i = 0; i < lines && !g->failed; ++i) {
        if (line[i].n < 3) fail(g, g->spec->line, "an outline has three points at least");
    }
    if (!g->failed) plate_build(g, line, lines, pin_height);
    for (i = 0; i < lines; ++i) free(line[i].x);
}

/* A link of a chain: two half circles and two straight lines in x and y, long along y; a closed
   wire, or a tube around it. */
static void make_link(maker *g)
{
    double len = length(g, "length", 1.0), wide = length(g, "width", 0.5);
    double r = number(g, "radius", 0.0, 0.0);
    int half = whole(g, "segments", 8, 2), sides = whole(g, "sides", 8, 3), n = 2 * (half + 1);
    int i, k, columns = r > 0.0 ? sides : 1, base = g->m->nodes;
    if (len < wide) fail(g, g->spec->line, "length must not be below width");
    if (2.0 * r >= wide) fail(g, g->spec->line, "radius must be below half the width");
    for (i = 0; i < n && !g->failed; ++i) {
        int top = i <= half;
        double angle = PI * (top ? i : i - 1) / half, nx = cos(angle), ny = sin(angle);
        double y = (top ? 0.5 : -0.5) * (len - wide);
        for (k = 0; k < columns; ++k) {
            double a = 2 * PI * k / columns, out = 0.5 * wide + (r > 0.0 ? r * cos(a) : 0.0);
            add_node(g, out * nx, y + out * ny, r > 0.0 ? r * sin(a) : 0.0);
        }
    }
    for (i = 0; i < n && !g->failed; ++i) {
        int j = (i + 1) % n;
        if (columns == 1) add_edge(g, base + i, base + j);
        for (k = 0; k < columns && columns > 1; ++k) {
            int l = (k + 1) % columns, a = base + i * columns, b = base + j * columns;
            add_tri(g, a + k, b + k, b + l);
            add_tri(g, a + k, b + l, a + l);
        }
    }
    face_outwards(g);
}

/* A ball that consists of points on its sphere, or of slices across y: one body of many parts. */
static void make_point_ball(maker *g)
{
    int i;
    make_sphere(g);
    g->m->tris = 0;
    for (i = 0; i < g->m->nodes && !g->failed; ++i) add_point(g, i);
}

static void make_slice_ball(maker *g)
{
    int slices = whole(g, "slices", 12, 1), n = whole(g, "segments", 24, 3), i;
    double r = length(g, "radius", 0.5);
    for (i = 0; i < slices && !g->failed; ++i) {
        double y = r * (2.0 * (i + 0.5) / slices - 1.0);
        fan(g, n, add_node(g, 0.0, y, 0.0), circle(g, n, y, sqrt(r * r - y * y)), 1);
    }
}

/* ---------------------------------------------------------------- the table of kinds */
static const struct {
    const char *name;
    void (*make)(maker *g);
    int solid;
    const char *help;
} kinds[] = {
    {"box", make_box, 1, "size [1,1,1], cells [1,1,1]: six tets a cell"},
    {"slab", make_slab, 1, "size [1,1], thickness 0.008, cells [20,20], layers 1: a flat box"},
    {"c-box", make_c_box, 1, "size [1,1,1], refine 1: a box with a slot open at +x"},
    {"ball", make_ball, 1, "radius 0.5, refine 3: 20 refine^3 tets"},
    {"cylinder", make_cylinder, 1, "radius 0.5, height 1, rings 2, layers 4: along y"},
    {"torus", make_torus, 1, "major 0.405, minor 0.095, segments 28, rings 1: around y"},
    {"arch-block", make_arch_block, 1,
        "index 0, blocks 25, height 20, gap 0.1 (of 60), cells [1,1,1], flat false (feet level at\n"
        "             y = 0): of a catenary arch"},
    {"tet", make_tet, 1, "size 1: corner at the origin"},
    {"spike", make_spike, 1, "size 1: pyramid on a unit square, 3 high"},
    {"wedge", make_wedge, 1, "size 1: prism 1 wide, 3 high, 2 long"},
    {"sheet", make_sheet, 0, "size [1,1], cells [10,10]: in the plane y = 0"},
    {"card", make_card, 0, "size [0.0888,0.0635], cells [15,7]: a playing card"},
    {"tube", make_tube, 0, "radius 0.25, height 1, segments 32, layers 8: open, along y"},
    {"sphere", make_sphere, 0, "radius 0.5, frequency 8: geodesic, 20 frequency^2 triangles"},
    {"bowl", make_bowl, 0, "radius 0.5, segments 32, rings 8: lower half of a sphere"},
    {"funnel", make_funnel, 0,
        "radius 0.5, throat 0.1, height 0.5, tube 0.3, segments 32, rings 6: throat at y = 0"},
    {"cliff", make_cliff, 0, "size 1: frustum, 1.5 wide below, 1 wide on top"},
    {"crack", make_crack, 0, "size 1: slab 2 x 1 x 4 with a V groove along z"},
    {"hole", make_hole, 0, "size 1: block 2 x 1 x 2 with a square hole of side 1 along y"},
    {"triangle", make_triangle, 0, "points [[0,0,0],[1,0,0],[0,0,1]]"},
    {"lathe", make_lathe, 0,
        "points [[radius,y],...], segments 32: turned about y, from axis to axis or closed"},
    {"plate", make_plate, 0,
        "points [[x,y],...], thickness 0.1, holes [..], pins [..], pin_height 0.1: along z; each\n"
        "             outline a list of points or {center [0,0], radius 0.1, segments 16}"},
    {"bolt", make_bolt, 0,
        "radius 0.02, depth 0.005, pitch 0.01, turns 5, head 2 radius, head_height radius,\n"
        "             segments 24: thread below y = 0, head above"},
    {"nut", make_nut, 0,
        "radius 0.02, depth 0.005, pitch 0.01, turns 2, outer 2 radius, segments 24: fits a bolt\n"
        "             of less radius at the same place"},
    {"link", make_link, 0,
        "length 1, width 0.5, radius 0 (a wire) or of the tube, segments 8 a bend, sides 8:\n"
        "             of a chain, long along y, flat in z"},
    {"point-ball", make_point_ball, 0, "radius 0.5, frequency 8: points on a sphere"},
    {"slice-ball", make_slice_ball, 0, "radius 0.5, slices 12, segments 24: discs across y"},
    {"polyline", make_polyline, 0,
        "points [[x,y,z],...] or from [-0.5,0,0], to [0.5,0,0], segments 10"},
    {"points", make_points, 0, "count [10,1,10], spacing 0.1, jitter 0, seed 1"},
    {"segments", make_segments, 0, "count [10,10], spacing 0.1, height 0.3: upright, top at y = 0"},
    {"squares", make_squares, 0,
        "count [10,10], spacing 0.1, height 0.3, width 0.05: upright, top at y = 0"}};

void gen_help(FILE *f)
{
    size_t i;
    fprintf(f, "\"mesh\": {\"kind\": K, ...} builds geometry; parameters and their defaults:\n");
    for (i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        fprintf(f, "  %-11s%s\n", kinds[i].name, kinds[i].help);
    }
    fprintf(f, "Solids (box .. wedge) also take \"order\": 1..4 (curved where the shape is) and\n"
               "\"surface\": true (the triangles of their boundary; with \"only\": \"edges\" or\n"
               "\"points\" just these). One number may stand for a list of equal\n"
               "ones. Everything is centred at the origin, y is up, metres.\n");
}

static int refuse_unknown(maker *g)
{
    const json *c;
    for (c = g->spec->child; c; c = c->next) {
        if (!c->seen) {
            return fail(g, c->line, "a mesh of this kind has no parameter \"%.40s\" (--help-mesh)",
                c->key);
        }
    }
    return 1;
}

static int to_surface(maker *g)
{
    int *tri = NULL, n = mesh_surface(g->m, &tri), i, k, *use;
    mesh out;
    memset(&out, 0, sizeof out);
    use = malloc((size_t)g->m->nodes * sizeof *use + 1);
    if (n < 0 || !use || mesh_add_tris(&out, n) < 0) {
        free(tri);
        free(use);
        mesh_free(&out);
        return fail(g, 0, "out of memory");
    }
    for (i = 0; i < g->m->nodes; ++i) use[i] = -1;
    for (i = 0; i < 3 * n && !g->failed; ++i) {
        int v = tri[i];
        if (use[v] < 0) {
            use[v] = mesh_add_nodes(&out, 1);
            if (use[v] < 0) {
                fail(g, 0, "out of memory");
                break;
            }
            for (k = 0; k < 3; ++k) {
                out.x[3 * (size_t)use[v] + (size_t)k] = g->m->x[3 * (size_t)v + (size_t)k];
            }
        }
        out.tri[i] = use[v];
    }
    free(tri);
    free(use);
    mesh_free(g->m);
    *g->m = out;
    return !g->failed;
}

/* A closed surface by its edges or its vertices alone: every edge is met twice, once upwards. */
static void to_frame(maker *g, int edges)
{
    mesh *m = g->m;
    int i, k;
    for (i = 0; edges && i < m->tris && !g->failed; ++i) for (k = 0; k < 3; ++k) {
        int a = m->tri[3 * i + k], b = m->tri[3 * i + (k + 1) % 3];
        if (a < b) add_edge(g, a, b);
    }
    for (i = 0; !edges && i < m->nodes && !g->failed; ++i) add_point(g, i);
    m->tris = 0;
}

int gen_make(const json *spec, mesh *m, mesh_error *error)
{
    const json *kind = json_get(spec, "kind");
    maker g;
    size_t i, n = sizeof kinds / sizeof *kinds;
    int order = 1, surface = 0;
    const json *only = NULL;

    memset(&g, 0, sizeof g);
    memset(m, 0, sizeof *m);
    memset(error, 0, sizeof *error);
    g.spec = spec;
    g.m = m;
    g.error = error;
    if (!kind || kind->type != JSON_STRING) {
        return fail(&g, spec ? spec->line : 0, "a generated mesh needs a \"kind\" (--help-mesh)");
    }
    ((json *)(uintptr_t)kind)->seen = 1;
    for (i = 0; i < n && strcmp(kinds[i].name, kind->string) != 0; ++i) {}
    if (i == n) return fail(&g, kind->line, "unknown kind \"%.40s\" (--help-mesh)", kind->string);
    if (kinds[i].solid) {
        order = whole(&g, "order", 1, 1);
        surface = flag(&g, "surface");
        only = surface ? param(&g, "only") : NULL;
        if (only && (only->type != JSON_STRING || (strcmp(only->string, "edges") != 0 &&
            strcmp(only->string, "points") != 0 && strcmp(only->string, "triangles") != 0))) {
            fail(&g, only->line, "only must be \"edges\", \"points\" or \"triangles\"");
        }
        if (order > 4) fail(&g, spec->line, "order must be 1 to 4");
        if (surface && order > 1) fail(&g, spec->line, "a surface has order 1");
    }
    if (!g.failed) kinds[i].make(&g);
    if (!g.failed) refuse_unknown(&g);
    if (!g.failed && kinds[i].solid && finish_solid(&g, order) && surface && to_surface(&g) &&
        only && only->string[0] != 't') to_frame(&g, only->string[0] == 'e');
    if (!g.failed && m->order < 1) m->order = 1;
    free(g.tet);
    free(g.par);
    if (g.failed) mesh_free(m);
    return !g.failed;
}
