/* ./build.sh bench friction [n]: ball in socket, n = 100 by default, one thread, lowest of several
   rounds. Hessian with assembly: pattern and values, in ranges of 1024 contacts. */
#define GAP_FRICTION_IMPLEMENTATION
#include "gap_friction.h"
#define GAP_BROAD_IMPLEMENTATION
#include "gap_broad.h"
#define GAP_BARRIER_IMPLEMENTATION
#include "gap_barrier.h"
#define GAP_SPARSE_IMPLEMENTATION
#include "gap_sparse.h"
#include "gen_ball_socket.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANGE = 1024, ROUNDS = 9 };

static double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Contacts of the scene at rest, kappa 1e3. */
static int bench_contacts(const gen_ball_socket *b, gap_barrier_set *set)
{
    gap_broad_mesh bm = {0};
    gap_barrier_mesh mesh = {0};
    gap_barrier_candidates cand = {0};
    gap_broad broad;
    int kind, status = 0;

    bm.dim = 3, bm.nodes = b->nodes, bm.edges = b->edges, bm.tris = b->tris;
    bm.edge = b->edge, bm.tri = b->tri;
    mesh.dim = 3, mesh.nodes = b->nodes, mesh.edges = b->edges, mesh.tris = b->tris;
    mesh.edge = b->edge, mesh.tri = b->tri, mesh.rest = b->x;
    gap_broad_init(&broad, NULL);
    gap_barrier_init(set, NULL);
    status |= gap_broad_set_mesh(&broad, &bm);
    status |= gap_broad_build(&broad, b->x, NULL, 0.5 * b->dhat);
    for (kind = 2; kind <= 3; ++kind)
        status |= gap_broad_pairs(&broad, kind, &cand.pair[kind], &cand.count[kind]);
    status |= gap_barrier_build(set, &mesh, b->x, &cand, b->dhat, 1e3);
    gap_broad_free(&broad);
    return status;
}

/* Pattern and values: all, blocks alone, the rest; best keeps the lowest of each. */
static void bench_hessian(const gap_friction_lag *lag, const double *v, gap_sparse *A,
    double *block, double best[3])
{
    double t = bench_now(), blocks = 0.0, all;
    int k;

    gap_sparse_link(A, lag->count, 4, lag->node);
    gap_sparse_build(A);
    for (k = 0; k < lag->count; k += RANGE) {
        int end = k + RANGE < lag->count ? k + RANGE : lag->count;
        double t2 = bench_now();
        gap_friction_hessian(lag, v, NULL, 1, k, end, block);
        blocks += bench_now() - t2;
        gap_sparse_add(A, end - k, 4, lag->node + 4 * k, 1.0, block);
    }
    all = bench_now() - t;
    best[0] = all < best[0] ? all : best[0];
    best[1] = blocks < best[1] ? blocks : best[1];
    best[2] = all - blocks < best[2] ? all - blocks : best[2];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100, r, k;
    double freeze = 1e9, energy = 1e9, gradient = 1e9, hessian[3] = {1e9, 1e9, 1e9}, sum = 0.0;
    double *v, *f, *mu, *block = (double *)malloc(RANGE * 144 * sizeof *block);
    gen_ball_socket b;
    gap_barrier_set set;
    gap_friction_lag lag;
    gap_sparse A;

    gen_ball_socket_make(n > 0 ? n : 100, &b);
    if (bench_contacts(&b, &set) < 0) return 3;
    v = (double *)malloc((size_t)b.nodes * 3 * sizeof *v);
    f = (double *)calloc((size_t)b.nodes * 3, sizeof *f);
    mu = (double *)malloc((size_t)set.count * sizeof *mu);
    if (!v || !f || !mu || !block || gap_sparse_init(&A, b.nodes, 3, NULL) < 0) return 3;
    gen_ball_socket_motion(&b, 0.1, v);
    for (k = 0; k < 3 * b.nodes; ++k) v[k] /= 0.01;
    for (k = 0; k < set.count; ++k) mu[k] = set.mollify[k] > 0.0 ? 0.0 : 0.3;
    gap_friction_init(&lag, NULL);
    for (r = 0; r < ROUNDS; ++r) {
        double t = bench_now(), t2;
        gap_friction_freeze(&lag, 3, set.count, b.nodes, set.node, set.weight, set.normal,
            set.force, mu, 0.0, NULL, 0.01);
        t2 = bench_now();
        freeze = t2 - t < freeze ? t2 - t : freeze;
        sum += gap_friction_energy(&lag, v, NULL, 0, lag.count);
        t = bench_now();
        energy = t - t2 < energy ? t - t2 : energy;
        gap_friction_node_force(&lag, v, NULL, f);
        t2 = bench_now();
        gradient = t2 - t < gradient ? t2 - t : gradient;
        bench_hessian(&lag, v, &A, block, hessian);
    }
    printf("ball in socket n=%d: %d contacts, energy %.17g\n", n, lag.count, sum / ROUNDS);
    printf("freeze %.2f ms   energy %.2f ms   force on nodes %.2f ms\n", freeze * 1e3, energy * 1e3,
        gradient * 1e3);
    printf("Hessian with assembly %.2f ms: blocks %.2f, pattern and adding %.2f\n",
        hessian[0] * 1e3, hessian[1] * 1e3, hessian[2] * 1e3);
    printf("bytes: lag %lu, blocks %lu\n", (unsigned long)lag.mem_size,
        (unsigned long)(RANGE * 144 * sizeof *block));
    gap_sparse_free(&A);
    gap_friction_free(&lag);
    gap_barrier_free(&set);
    gen_ball_socket_free(&b);
    free(v), free(f), free(mu), free(block);
    return 0;
}
