/* bench_fem.c - cost of elements: energy, gradient, Hessian blocks for P1..P4 tetrahedra, before
   assembly; bytes per element. `bench_fem WHAT ORDER COUNT` runs one kernel (0 energy, 1 gradient,
   2 Hessian, 3 PSD) on COUNT elements, for an instruction counter; without arguments a table. */
#define GAP_IMPLEMENTATION
#include "gap_basis.h"
#include "gap_fem.h"
#include "fem_mesh.h"
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int kernel(const gap_fem *f, const double *x, int what, int begin, int end, double *block)
{
    if (what == 0) return gap_fem_energy(f, x, begin, end, block);
    if (what == 1) return gap_fem_gradient(f, x, begin, end, block);
    return gap_fem_hessian(f, x, begin, end, what - 2, block);
}

/* All elements in ranges of 64, `rounds` times. */
static void sweep(const gap_fem *f, const double *x, int what, int count, double *block)
{
    int e, to;

    while (count > 0) {
        for (e = 0; e < f->elements && count > 0; e = to) {
            to = e + (count < 64 ? count : 64);
            if (to > f->elements) to = f->elements;
            if (kernel(f, x, what, e, to, block)) exit(1);
            count -= to - e;
        }
    }
}

static double *state(const gap_fem *f, double amount)
{
    double *x = (double *)malloc(sizeof(double) * (size_t)(3 * f->nodes));
    unsigned s = 12345;
    int i;

    for (i = 0; x && i < 3 * f->nodes; ++i) {
        s = s * 1664525u + 1013904223u;
        x[i] = f->rest[i] * (1 + 0.1 * (i % 3)) + amount * ((s >> 8) / 16777216.0 - 0.5);
    }
    return x;
}

static void bench_init(gap_fem *f, fem_mesh *m, int order, int geometry)
{
    fem_mesh_cube(m, 3, geometry, order == 1 ? 10 : 4);
    if (geometry > 1) fem_mesh_bend(m, 0.02);
    if (gap_fem_init(f, 3, order, geometry, m->nodes, m->x, m->elements, m->elem, NULL)) exit(1);
    gap_fem_uniform(f, 1e5, 0.4, 1000);
}

static size_t bytes(const gap_fem *f)
{
    size_t sum = 0;
    int i;

    for (i = 0; i < f->mems; ++i) sum += f->mem_size[i];
    return sum / (size_t)f->elements;
}

int main(int argc, char *argv[])
{
    static const char *name[4] = {"energy", "gradient", "Hessian", "PSD Hessian"};
    static double block[64 * 105 * 105];
    gap_fem f;
    fem_mesh m;
    int p, what, count;
    double *x, best, t;

    if (argc == 4) {
        p = atoi(argv[2]);
        bench_init(&f, &m, p, 1);
        x = state(&f, 0.02 / p);
        sweep(&f, x, atoi(argv[1]), atoi(argv[3]), block);
        return 0;
    }
    printf("microseconds per tetrahedron (best of 7), neo-Hookean, %d lanes\n", GAP_FEM__LANES);
    for (p = 1; p <= 4; ++p) {
        int q;
        for (q = 1; q <= p; q += p > 1 ? p - 1 : 1) {
            bench_init(&f, &m, p, q);
            x = state(&f, 0.02 / p);
            printf("P%d %s, %3d points, %6lu bytes each:", p, q == 1 ? "straight" : "curved  ",
                f.points, (unsigned long)bytes(&f));
            for (what = 0; what < 4; ++what) {
                count = p == 1 ? 60000 : p == 2 ? 2000 : p == 3 ? 300 : 60;
                if (what < 2) count *= 4;
                for (best = HUGE_VAL, argc = 0; argc < 7; ++argc) {
                    t = now();
                    sweep(&f, x, what, count, block);
                    best = fmin(best, (now() - t) / count * 1e6);
                }
                printf("  %s %.3f", name[what], best);
            }
            printf("\n");
            free(x);
            gap_fem_free(&f);
            fem_mesh_free(&m);
        }
    }
    return 0;
}
