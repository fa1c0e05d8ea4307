/* Barrier on the scene "ball in socket": active set, energy, gradient, PSD Hessian with assembly.
   usage: bench_barrier [n]    n: frequency of the scene, default 100
   The column `peer` holds the figures published for ipc-toolkit on one thread of another machine
   (2-core AMD EPYC, gcc 12.2): compare orders, not digits. */
#define GAP_BARRIER_IMPLEMENTATION
#include "gap_barrier.h"
#define GAP_BROAD_IMPLEMENTATION
#include "gap_broad.h"
#define GAP_SPARSE_IMPLEMENTATION
#include "gap_sparse.h"
#include "gen_ball_socket.h"
#include <stdio.h>
#include <time.h>

enum { REPEAT = 15, RANGE = 1024 };

static size_t bytes_now, bytes_peak;

static void *counted(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user;
    bytes_now += new_size - old_size;
    if (bytes_now > bytes_peak) bytes_peak = bytes_now;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, new_size);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void report(const char *what, double ms, double peer)
{
    printf("%-38s %9.2f ms", what, ms);
    if (peer > 0.0) printf("   peer %7.2f ms   ratio %5.1f", peer, peer / ms);
    printf("\n");
}

int main(int argc, char **argv)
{
    static double block[RANGE * 144], grad[RANGE * 12];
    int n = argc > 1 ? atoi(argv[1]) : 100, i, k, r, psd, flags, large = n == 100, known;
    gen_ball_socket s;
    gap_broad broad;
    gap_broad_mesh bm;
    gap_barrier_mesh mesh;
    gap_barrier_candidates cand;
    double t, best[6], *f, sum = 0.0;

    if (n < 2 || n > 400) return 2;
    known = n == 32 || large;
    gen_ball_socket_make(n, &s);
    memset(&bm, 0, sizeof bm);
    memset(&mesh, 0, sizeof mesh);
    memset(&cand, 0, sizeof cand);
    bm.dim = mesh.dim = 3;
    bm.nodes = mesh.nodes = s.nodes;
    bm.edges = mesh.edges = s.edges;
    bm.tris = mesh.tris = s.tris;
    bm.edge = mesh.edge = s.edge;
    bm.tri = mesh.tri = s.tri;
    mesh.rest = s.x;
    gap_broad_init(&broad, NULL);
    if (gap_broad_set_mesh(&broad, &bm)) return 1;
    if (gap_broad_build(&broad, s.x, NULL, 0.5 * s.dhat)) return 1;
    for (k = 0; k < 4; ++k) gap_broad_pairs(&broad, k, &cand.pair[k], &cand.count[k]);
    f = (double *)malloc((size_t)s.nodes * 3 * sizeof *f);
    printf("ball in socket n = %d: %d triangles, candidates vf %d ee %d\n", n, s.tris,
        cand.count[2], cand.count[3]);
    for (flags = 0; flags <= 7; flags += 7) {
        gap_barrier_options opt;
        gap_barrier_set set;
        gap_sparse A;
        size_t contacts;
        memset(&opt, 0, sizeof opt);
        opt.flags = flags;
        opt.realloc_fn = counted;
        bytes_now = bytes_peak = 0;
        gap_barrier_init(&set, &opt);
        if (flags && gap_barrier_prepare(&set, &mesh)) return 1;
        gap_sparse_init(&A, s.nodes, 3, NULL);
        for (k = 0; k < 6; ++k) best[k] = HUGE_VAL;
        for (r = 0; r < REPEAT; ++r) {
            t = now_ms();
            if (gap_barrier_build(&set, &mesh, s.x, &cand, s.dhat, 1e3)) return 1;
            best[0] = fmin(best[0], now_ms() - t);
            t = now_ms();
            sum += gap_barrier_energy(&set, s.x, 0, set.count);
            best[1] = fmin(best[1], now_ms() - t);
            t = now_ms();
            memset(f, 0, (size_t)s.nodes * 3 * sizeof *f);
            for (i = 0; i < set.count; i += RANGE) {
                int end = set.count - i < RANGE ? set.count : i + RANGE;
                gap_barrier_gradient(&set, s.x, i, end, grad);
                gap_sparse_add_vector(&A, end - i, 4, set.node + 4 * (size_t)i, 1.0, grad, f);
            }
            best[2] = fmin(best[2], now_ms() - t);
            for (psd = 0; psd < 2; ++psd) {
                t = now_ms();
                gap_sparse_link(&A, set.count, 4, set.node);
                gap_sparse_build(&A);
                for (i = 0; i < set.count; i += RANGE) {
                    int end = set.count - i < RANGE ? set.count : i + RANGE;
                    gap_barrier_hessian(&set, s.x, psd, i, end, block);
                    gap_sparse_add(&A, end - i, 4, set.node + 4 * (size_t)i, 1.0, block);
                }
                best[3 + psd] = fmin(best[3 + psd], now_ms() - t);
            }
            t = now_ms();
            for (i = 0; i < set.count; i += RANGE)
                gap_barrier_hessian(&set, s.x, 1, i, set.count - i < RANGE ? set.count : i + RANGE,
                    block);
            best[5] = fmin(best[5], now_ms() - t);
        }
        printf("%s, %d contacts\n", flags ? "convergent form" : "plain sum", set.count);
        if (flags == 0) {
            report("active set", best[0], !known ? 0 : large ? 141 : 10.8);
            report("energy", best[1], !known ? 0 : large ? 2.9 : 0.25);
            report("gradient, added to nodes", best[2], !known ? 0 : large ? 7.0 : 0.52);
            report("raw Hessian with pattern and assembly", best[3], !known ? 0 : large ? 326 : 29);
            report("PSD Hessian with pattern and assembly", best[4], !known ? 0 : large ? 576 : 54);
            report("  of which PSD blocks", best[5], !known ? 0 : large ? 281 : 27.2);
        } else {
            report("active set", best[0], !known ? 0 : large ? 334 : 22);
            report("PSD Hessian with pattern and assembly", best[4], !known ? 0 : large ? 671 : 53);
        }
        contacts = (size_t)set.count * (4 + 16 + 32 + 24 + 5 * 8 + 12);
        printf("bytes through the hook, peak %.1f MB, beside the contact arrays %.1f MB\n",
            1e-6 * (double)bytes_peak, 1e-6 * ((double)bytes_peak - (double)contacts));
        gap_sparse_free(&A);
        gap_barrier_free(&set);
    }
    printf("checksum %.17g\n", sum);
    free(f);
    gap_broad_free(&broad);
    gen_ball_socket_free(&s);
    return 0;
}
