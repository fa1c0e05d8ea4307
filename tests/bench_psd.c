/* ./build.sh bench psd [n]: time per matrix, lowest of many interleaved rounds. The 12x12 matrices
   are the raw barrier Hessians of the ball in its socket, n = 32, in batches of 64. */
#define GAP_PSD_IMPLEMENTATION
#include "gap_psd.h"
#define GAP_BROAD_IMPLEMENTATION
#include "gap_broad.h"
#define GAP_DISTANCE_IMPLEMENTATION
#include "gap_distance.h"
#include "gen_ball_socket.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* H = b'' g g^T + b' Hess D of the clamped log barrier on squared distances. 0: not active. */
static int bench_block(const double *x, int kind, const int *node, double dhat, double *h)
{
    double p[12], g[12], dist2, top = dhat * dhat, b1, b2;
    int i, j;

    for (i = 0; i < 12; ++i) p[i] = x[3 * node[i / 3] + i % 3];
    if (gap_distance_derivatives(3, kind, p, &dist2, g, h) < 0 || !(dist2 < top)) return 0;
    b1 = (top - dist2) * (2.0 * log(dist2 / top) - top / dist2 + 1.0);
    b2 = -2.0 * log(dist2 / top) + (top - dist2) * (top + 3.0 * dist2) / (dist2 * dist2);
    for (i = 0; i < 12; ++i)
        for (j = 0; j < 12; ++j) h[i * 12 + j] = b2 * g[i] * g[j] + b1 * h[i * 12 + j];
    return 1;
}

/* All raw blocks of the scene, 144 doubles each; NULL where memory ran out. */
static double *bench_blocks(int n, int *count)
{
    gen_ball_socket s;
    gap_broad_mesh m = {0};
    gap_broad b;
    const int *pair;
    double *h;
    int kind, pairs, i, node[4], all = 0;

    *count = 0;
    gen_ball_socket_make(n, &s);
    m.dim = 3, m.nodes = s.nodes, m.edges = s.edges, m.tris = s.tris;
    m.edge = s.edge, m.tri = s.tri;
    gap_broad_init(&b, NULL);
    gap_broad_set_mesh(&b, &m);
    gap_broad_build(&b, s.x, NULL, 0.5 * s.dhat);
    for (kind = 2; kind <= 3; ++kind) {
        gap_broad_pairs(&b, kind, &pair, &pairs);
        all += pairs;
    }
    h = (double *)malloc((size_t)all * 144 * sizeof *h);
    for (kind = 2; h && kind <= 3; ++kind) {
        gap_broad_pairs(&b, kind, &pair, &pairs);
        for (i = 0; i < pairs; ++i) {
            const int *e = s.edge + 2 * pair[2 * i], *f = s.tri + 3 * pair[2 * i + 1];
            const int *e2 = s.edge + 2 * pair[2 * i + 1];
            node[0] = kind == 2 ? pair[2 * i] : e[0];
            node[1] = kind == 2 ? f[0] : e[1];
            node[2] = kind == 2 ? f[1] : e2[0];
            node[3] = kind == 2 ? f[2] : e2[1];
            *count += bench_block(s.x, kind, node, s.dhat, h + (size_t)*count * 144);
        }
    }
    gap_broad_free(&b);
    gen_ball_socket_free(&s);
    return h;
}

static double bench_rnd(void)
{
    static unsigned long long s = 88172645463325252ull;
    s ^= s << 13, s ^= s >> 7, s ^= s << 17;
    return (double)(s >> 11) * (1.0 / 4503599627370496.0) - 1.0;
}

/* Random full-rank matrices of every size, and the three SVDs. */
static void bench_sizes(void)
{
    enum { N = 64, ROUNDS = 300 };
    static double a[N * 144], out[N * 144], w[N * 12], v[N * 144];
    static const int shape[3][2] = {{3, 3}, {3, 2}, {2, 2}};
    int n, i, j, k, r;

    for (n = 2; n <= 12; ++n) {
        double best[2] = {1e9, 1e9};
        for (k = 0; k < N; ++k)
            for (i = 0; i < n; ++i)
                for (j = 0; j <= i; ++j)
                    a[(k * n + i) * n + j] = a[(k * n + j) * n + i] = bench_rnd();
        for (r = 0; r < ROUNDS; ++r) {
            double t = bench_now(), t2;
            gap_psd_project_batch(n, 0, N, a, out, NULL);
            t2 = bench_now();
            gap_psd_eig_batch(n, 0, N, a, w, v, NULL);
            best[0] = fmin(best[0], t2 - t);
            best[1] = fmin(best[1], bench_now() - t2);
        }
        printf("full rank n=%-2d   project %6.0f ns   eig %6.0f ns\n", n, best[0] / N * 1e9,
            best[1] / N * 1e9);
    }
    for (k = 0; k < 3; ++k) {
        double best = 1e9;
        for (r = 0; r < ROUNDS; ++r) {
            double t = bench_now();
            gap_psd_svd_batch(shape[k][0], shape[k][1], 0, N, a, out, w, v, NULL);
            best = fmin(best, bench_now() - t);
        }
        printf("svd %dx%d          %6.0f ns\n", shape[k][0], shape[k][1], best / N * 1e9);
    }
}

/* Lowest seconds per block: batches of 64 that were just written, as a caller's buffer is. */
static void bench_project(const double *h, int count, double best[2])
{
    enum { BATCH = 64 };
    static double buffer[BATCH * 144], out[BATCH * 144];
    double sum[2] = {0.0, 0.0}, t;
    int i, k;

    for (i = 0; i + BATCH <= count; i += BATCH) {
        memcpy(buffer, h + (size_t)i * 144, sizeof buffer);
        t = bench_now();
        gap_psd_project_batch(12, 0, BATCH, buffer, out, NULL);
        sum[0] += bench_now() - t;
        t = bench_now();
        for (k = 0; k < BATCH; ++k) gap_psd_project(12, buffer + k * 144, out + k * 144);
        sum[1] += bench_now() - t;
    }
    best[0] = fmin(best[0], sum[0] / i);
    best[1] = fmin(best[1], sum[1] / i);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 32, count, r;
    double *h = bench_blocks(n > 0 ? n : 32, &count), best[2] = {1e9, 1e9};

    if (!h || count < 64) return 3;
    for (r = 0; r < 40; ++r) bench_project(h, count, best);
    printf("ball in socket n=%d: %d raw 12x12 blocks\n", n, count);
    printf("project batch of 64 %6.0f ns   single %6.0f ns   (%d lanes)\n", best[0] * 1e9,
        best[1] * 1e9, (int)gap_psd__lanes);
    bench_sizes();
    free(h);
    return 0;
}
