/* gen_ball_socket.h - the scene "ball in socket": two bumpy geodesic spheres, one inside the other
   Body 0 (the ball) touches body 1 (the socket) in a cap around its south pole; no vertices meet.
   n is the frequency of subdivision: 2 (10 n^2 + 2) vertices, 60 n^2 edges, 40 n^2 triangles.
   Memory by malloc, freed by gen_ball_socket_free. */
#ifndef GEN_BALL_SOCKET_H
#define GEN_BALL_SOCKET_H
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct gen_ball_socket {
    int nodes, edges, tris;
    int body_nodes; /* nodes of body 0 come first, the same number follows for body 1 */
    double *x;      /* 3 per node */
    int *edge;      /* 2 per edge, smaller first, sorted */
    int *tri;       /* 3 per triangle */
    double dhat;    /* 1e-3 of the diagonal of the bounding box */
} gen_ball_socket;

/* Number of the point (i, j) of a face: corners first, points of a shared edge once. `cut` holds n
   numbers (0: not visited yet) for each pair of corners. */
static inline int gen__point(int n, const int *face, int i, int j, int *cut, int *next)
{
    int k = n - i - j, w[3], a, b, s, *slot;
    w[0] = k; w[1] = i; w[2] = j;
    for (s = 0; s < 3; ++s)
        if (w[s] == n) return face[s];
    for (s = 0; s < 3; ++s) {
        if (w[s] != 0) continue; /* on the edge of the other two corners */
        a = (s + 1) % 3;
        b = (s + 2) % 3;
        if (face[a] > face[b]) {
            k = a;
            a = b;
            b = k;
        }
        slot = cut + (size_t)(face[a] * 12 + face[b]) * (size_t)n + w[b];
        if (*slot == 0) *slot = (*next)++;
        return *slot;
    }
    return (*next)++;
}

static inline double gen__radius(const double u[3])
{
    return 1.0 + 0.02 * sin(6.0 * u[0]) * sin(6.0 * u[1] + 1.0) * sin(6.0 * u[2] + 2.0);
}

static inline int gen__edge_order(const void *a, const void *b)
{
    const int *p = (const int *)a, *q = (const int *)b;
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

/* Unit sphere: points u and triangles of one body. */
static inline void gen__sphere(int n, double *u, int *tri)
{
    static const int faces[20][3] = {{0, 11, 5}, {0, 5, 1}, {0, 1, 7}, {0, 7, 10}, {0, 10, 11},
        {1, 5, 9}, {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8}, {3, 9, 4}, {3, 4, 2}, {3, 2, 6},
        {3, 6, 8}, {3, 8, 9}, {4, 9, 5}, {2, 4, 11}, {6, 2, 10}, {8, 6, 7}, {9, 8, 1}};
    double t = (1.0 + sqrt(5.0)) / 2.0, corner[12][3], len;
    int *cut = (int *)calloc((size_t)(144 * n), sizeof(int));
    int *num = (int *)malloc((size_t)((n + 1) * (n + 1)) * sizeof(int));
    int f, i, j, c, v, next = 12;
    for (i = 0; i < 12; ++i) { /* cyclic permutations of (+-1, +-t, 0), see the scene's text */
        double s1 = i % 2 ? 1.0 : -1.0, s2 = i % 4 < 2 ? t : -t;
        if (i < 4) { corner[i][0] = s1; corner[i][1] = s2; corner[i][2] = 0.0; }
        else if (i < 8) { corner[i][0] = 0.0; corner[i][1] = s1; corner[i][2] = s2; }
        else { corner[i][0] = s2; corner[i][1] = 0.0; corner[i][2] = s1; }
    }
    for (f = 0; f < 20; ++f) {
        const double *A = corner[faces[f][0]], *B = corner[faces[f][1]], *C = corner[faces[f][2]];
        for (i = 0; i <= n; ++i) {
            for (j = 0; j <= n - i; ++j) {
                v = num[i * (n + 1) + j] = gen__point(n, faces[f], i, j, cut, &next);
                for (c = 0; c < 3; ++c)
                    u[3 * v + c] = ((n - i - j) * A[c] + i * B[c] + j * C[c]) / n;
            }
        }
        for (i = 0; i < n; ++i) {
            for (j = 0; j < n - i; ++j) {
                const int *r = num + i * (n + 1) + j, *s = r + n + 1;
                *tri++ = r[0]; *tri++ = s[0]; *tri++ = r[1];
                if (i + j >= n - 1) continue;
                *tri++ = s[0]; *tri++ = s[1]; *tri++ = r[1];
            }
        }
    }
    for (v = 0; v < next; ++v) {
        len = sqrt(u[3 * v] * u[3 * v] + u[3 * v + 1] * u[3 * v + 1] + u[3 * v + 2] * u[3 * v + 2]);
        for (c = 0; c < 3; ++c) u[3 * v + c] /= len;
    }
    free(cut);
    free(num);
}

static inline void gen_ball_socket_make(int n, gen_ball_socket *s)
{
    double cx = cos(0.3), sx = sin(0.3), cz = cos(0.7), sz = sin(0.7), lo[3], hi[3], *u;
    int i, c, e, k;
    s->body_nodes = 10 * n * n + 2;
    s->nodes = 2 * s->body_nodes;
    s->tris = 40 * n * n;
    s->x = (double *)malloc((size_t)s->nodes * 3 * sizeof(double));
    s->tri = (int *)malloc((size_t)s->tris * 3 * sizeof(int));
    s->edge = (int *)malloc((size_t)s->tris * 6 * sizeof(int));
    u = (double *)malloc((size_t)s->body_nodes * 3 * sizeof(double));
    gen__sphere(n, u, s->tri);
    for (i = 0; i < s->tris / 2 * 3; ++i) s->tri[s->tris / 2 * 3 + i] = s->tri[i] + s->body_nodes;
    for (i = 0; i < s->body_nodes; ++i) {
        double w[3], v[3], r = gen__radius(u + 3 * i);
        double *a = s->x + 3 * i, *b = a + 3 * s->body_nodes;
        for (c = 0; c < 3; ++c) a[c] = r * u[3 * i + c] - (c == 2 ? 0.018 : 0.0);
        w[0] = cz * u[3 * i] - sz * u[3 * i + 1];
        w[1] = sz * u[3 * i] + cz * u[3 * i + 1];
        w[2] = u[3 * i + 2];
        v[0] = w[0];
        v[1] = cx * w[1] - sx * w[2];
        v[2] = sx * w[1] + cx * w[2];
        r = gen__radius(v) + 0.02;
        for (c = 0; c < 3; ++c) b[c] = r * v[c];
    }
    for (i = e = 0; i < s->tris; ++i) {
        for (k = 0; k < 3; ++k) {
            int a = s->tri[3 * i + k], b = s->tri[3 * i + (k + 1) % 3];
            s->edge[2 * e] = a < b ? a : b;
            s->edge[2 * e + 1] = a < b ? b : a;
            ++e;
        }
    }
    qsort(s->edge, (size_t)e, 2 * sizeof(int), gen__edge_order);
    for (i = s->edges = 0; i < e; i += 2, ++s->edges) /* each edge stands twice */
        memmove(s->edge + 2 * s->edges, s->edge + 2 * i, 2 * sizeof(int));
    for (c = 0; c < 3; ++c) {
        lo[c] = hi[c] = s->x[c];
        for (i = 1; i < s->nodes; ++i) {
            lo[c] = fmin(lo[c], s->x[3 * i + c]);
            hi[c] = fmax(hi[c], s->x[3 * i + c]);
        }
        hi[c] -= lo[c];
    }
    s->dhat = 1e-3 * sqrt(hi[0] * hi[0] + hi[1] * hi[1] + hi[2] * hi[2]);
    free(u);
}

/* The scene's motion: displacement of every node, scaled by s (free 0.1, hit 1). */
static inline void gen_ball_socket_motion(const gen_ball_socket *b, double s, double *d)
{
    int i;
    for (i = 0; i < b->nodes; ++i) {
        const double *x = b->x + 3 * i;
        int ball = i < b->body_nodes;
        d[3 * i] = ball ? s * 0.001 * sin(7.0 * x[1]) : 0.0;
        d[3 * i + 1] = ball ? s * 0.001 * cos(7.0 * x[0]) : 0.0;
        d[3 * i + 2] = ball ? s * -0.004 : s * 0.0005 * sin(5.0 * x[0]) * cos(5.0 * x[1]);
    }
}

static inline void gen_ball_socket_free(gen_ball_socket *s)
{
    free(s->x);
    free(s->edge);
    free(s->tri);
    memset(s, 0, sizeof *s);
}
#endif
