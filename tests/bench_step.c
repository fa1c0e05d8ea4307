/* bench_step.c - the safe step of a whole mesh: broad phase, then CCD of all candidates with a
   fifth of each pair's gap kept. Ball in socket, both motions, one thread.
   bench_step [N [REPEATS]]: frequency of the spheres (else 32 and 100), runs of which the least
   counts. For instruction counts: valgrind --tool=callgrind build/bench_step 100 1 */
#define GAP_ACCD_IMPLEMENTATION
#define GAP_BROAD_IMPLEMENTATION
#define GAP_CCD_IMPLEMENTATION
#include "gap_accd.h"
#include "gap_broad.h"
#include "gap_ccd.h"
#include "gen_ball_socket.h"
#include <stdio.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

typedef struct result {
    double broad, ccd, total, t; /* ms, ms, ms, safe step */
    int pairs, status;
} result;

/* One step bound; additive != 0 uses gap_accd.h (which keeps a tenth), else gap_ccd.h. */
static result bound(gap_broad *b, const gap_broad_mesh *m, const double *x0, const double *x1,
    int additive)
{
    static const int kinds[2] = {GAP_BROAD_VF, GAP_BROAD_EE};
    gap_ccd_mesh c;
    gap_accd_mesh a;
    gap_ccd_options o;
    const int *pair;
    result r = {0, 0, 0, 1.0, 0, 0};
    double start = now_ms(), at, now;
    int k, n, status;
    memset(&c, 0, sizeof c);
    memset(&a, 0, sizeof a);
    memset(&o, 0, sizeof o);
    o.keep = 0.2;
    c.dim = a.dim = 3;
    c.nodes = a.nodes = m->nodes;
    c.edges = a.edges = m->edges;
    c.tris = a.tris = m->tris;
    c.edge = a.edge = m->edge;
    c.tri = a.tri = m->tri;
    r.status = gap_broad_build(b, x0, x1, 0.0);
    for (k = 0, at = start; k < 2 && r.status == 0; ++k) {
        r.status = gap_broad_pairs(b, kinds[k], &pair, &n);
        now = now_ms();
        r.broad += now - at;
        r.pairs += n;
        status = additive ?
            gap_accd_step(NULL, &a, x0, x1, kinds[k], pair, 0, n, 0.0, &r.t, NULL) :
            gap_ccd_step(&o, &c, x0, x1, kinds[k], pair, n, 0.0, &r.t, NULL);
        if (status < 0) r.status = status;
        at = now_ms();
        r.ccd += at - now;
    }
    r.total = at - start;
    return r;
}

static void run(gap_broad *b, const gap_broad_mesh *m, const char *name, const double *x0,
    const double *x1, int additive, int repeats)
{
    result r, best = bound(b, m, x0, x1, additive);
    int i;
    for (i = 1; i < repeats; ++i) {
        r = bound(b, m, x0, x1, additive);
        best.broad = least(best.broad, r.broad);
        best.ccd = least(best.ccd, r.ccd);
        best.total = least(best.total, r.total);
    }
    printf("  %-5s %-9s broad %7.2f  ccd %7.2f  total %7.2f ms  %.3f us a pair  pairs %d  "
           "step %.6f%s\n",
        name, additive ? "additive" : "inclusion", best.broad, best.ccd, best.total,
        1e3 * best.ccd / best.pairs, best.pairs, best.t, best.status ? "  FAILED" : "");
}

int main(int argc, char **argv)
{
    int sizes[2] = {32, 100}, count = 2, repeats = 5, i, j, k;
    if (argc > 1) sizes[0] = atoi(argv[1]), count = 1;
    if (argc > 2) repeats = atoi(argv[2]);
    if (sizes[0] < 1 || repeats < 1) return 2;
    for (i = 0; i < count; ++i) {
        gen_ball_socket s;
        gap_broad_mesh m;
        gap_broad b;
        double *x1;
        gen_ball_socket_make(sizes[i], &s);
        x1 = (double *)malloc(3 * (size_t)s.nodes * sizeof *x1);
        if (!x1) return 2;
        memset(&m, 0, sizeof m);
        m.dim = 3;
        m.nodes = s.nodes;
        m.edges = s.edges;
        m.tris = s.tris;
        m.edge = s.edge;
        m.tri = s.tri;
        gap_broad_init(&b, NULL);
        if (gap_broad_set_mesh(&b, &m)) return 2;
        printf("ball in socket n = %d: %d triangles\n", sizes[i], s.tris);
        for (k = 0; k < 2; ++k) {
            gen_ball_socket_motion(&s, k ? 1.0 : 0.1, x1);
            for (j = 0; j < 3 * s.nodes; ++j) x1[j] += s.x[j];
            run(&b, &m, k ? "hit" : "free", s.x, x1, 0, repeats);
            run(&b, &m, k ? "hit" : "free", s.x, x1, 1, repeats);
        }
        gap_broad_free(&b);
        gen_ball_socket_free(&s);
        free(x1);
    }
    return 0;
}
