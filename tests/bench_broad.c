/* bench_broad.c - build, refit and query of the ball in socket, static and swept, one thread
   bench_broad [N [REPEATS]]: frequency of the spheres (else 32 and 100), runs of which the least
   counts. For instruction counts: valgrind --tool=callgrind build/bench_broad 100 1 */
#define GAP_BROAD_IMPLEMENTATION
#include "gap_broad.h"
#include "gen_ball_socket.h"
#include <stdio.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static double least(double best, double v)
{
    return v < best ? v : best;
}

static void run(gap_broad *b, const char *name, const double *x0, const double *x1, double inflate,
    int repeats)
{
    double build = 1e30, refit = 1e30, vf = 1e30, ee = 1e30, both = 1e30, t[5];
    const int *pair;
    int nvf = 0, nee = 0, i, bad = 0;
    for (i = 0; i < repeats; ++i) {
        t[0] = now_ms();
        bad |= gap_broad_refit(b, x0, x1, inflate);
        t[1] = now_ms();
        bad |= gap_broad_build(b, x0, x1, inflate);
        t[2] = now_ms();
        bad |= gap_broad_pairs(b, GAP_BROAD_VF, &pair, &nvf);
        t[3] = now_ms();
        bad |= gap_broad_pairs(b, GAP_BROAD_EE, &pair, &nee);
        t[4] = now_ms();
        refit = least(refit, t[1] - t[0]);
        build = least(build, t[2] - t[1]);
        vf = least(vf, t[3] - t[2]);
        ee = least(ee, t[4] - t[3]);
        both = least(both, t[4] - t[1]);
    }
    printf("  %-11s build %7.2f  ee %7.2f  vf %7.2f  total %7.2f  refit %6.2f ms (build/refit %.1f)"
           "  pairs %d + %d%s\n", name, build, ee, vf, both, refit, build / refit, nee, nvf,
        bad ? "  FAILED" : "");
}

int main(int argc, char **argv)
{
    int sizes[2] = {32, 100}, count = 2, repeats = 7, i, k;
    if (argc > 1) sizes[0] = atoi(argv[1]), count = 1;
    if (argc > 2) repeats = atoi(argv[2]);
    if (sizes[0] < 1 || repeats < 1) return 2;
    for (i = 0; i < count; ++i) {
        gen_ball_socket s;
        gap_broad_mesh m;
        gap_broad b;
        double *d, *x1, t;
        int status;
        gen_ball_socket_make(sizes[i], &s);
        d = (double *)malloc(6 * (size_t)s.nodes * sizeof *d);
        if (!d) return 2;
        x1 = d + 3 * (size_t)s.nodes;
        memset(&m, 0, sizeof m);
        m.dim = 3;
        m.nodes = s.nodes;
        m.edges = s.edges;
        m.tris = s.tris;
        m.edge = s.edge;
        m.tri = s.tri;
        gap_broad_init(&b, NULL);
        t = now_ms();
        status = gap_broad_set_mesh(&b, &m);
        printf("ball in socket n = %d: %d nodes, %d edges, %d triangles; set_mesh %.2f ms\n",
            sizes[i], s.nodes, s.edges, s.tris, now_ms() - t);
        if (status) return 2;
        gap_broad_build(&b, s.x, NULL, 0.5 * s.dhat);
        run(&b, "static", s.x, NULL, 0.5 * s.dhat, repeats);
        for (k = 0; k < 2; ++k) {
            int j;
            gen_ball_socket_motion(&s, k ? 1.0 : 0.1, d);
            for (j = 0; j < 3 * s.nodes; ++j) x1[j] = s.x[j] + d[j];
            run(&b, k ? "swept hit" : "swept free", s.x, x1, 0.0, repeats);
        }
        gap_broad_free(&b);
        gen_ball_socket_free(&s);
        free(d);
    }
    return 0;
}
