/* ./build.sh bench exact: one sign by filter and by integers; meshes of growing size. */
#define GAP_EXACT_IMPLEMENTATION
#include "gap_exact.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double rnd(void)
{
    static unsigned long long s = 88172645463325252ull;
    s ^= s << 13; s ^= s >> 7; s ^= s << 17;
    return (double)(s >> 11) * (1.0 / 9007199254740992.0);
}

static void signs(void)
{
    enum { N = 4096, REPEAT = 50 };
    double *x = (double *)malloc(12 * N * sizeof *x), t;
    int i, r, sum = 0;
    for (i = 0; i < 12 * N; ++i) x[i] = rnd();
    t = now();
    for (r = 0; r < REPEAT * 10; ++r)
        for (i = 0; i < N; ++i)
            sum += gap_exact_orient3(x + 12 * i, x + 12 * i + 3, x + 12 * i + 6, x + 12 * i + 9);
    printf("orient3 filter  %7.1f ns\n", (now() - t) / (N * REPEAT * 10) * 1e9);
    t = now();
    for (r = 0; r < REPEAT; ++r)
        for (i = 0; i < N; ++i)
            sum += gap_exact__orient3_integer(x + 12 * i, x + 12 * i + 3, x + 12 * i + 6,
                x + 12 * i + 9);
    printf("orient3 integer %7.1f ns\n", (now() - t) / (N * REPEAT) * 1e9);
    t = now();
    for (r = 0; r < REPEAT; ++r)
        for (i = 0; i < N; ++i)
            sum += gap_exact__orient3_digits(x + 12 * i, x + 12 * i + 3, x + 12 * i + 6,
                x + 12 * i + 9);
    printf("orient3 digits  %7.1f ns (%d)\n", (now() - t) / (N * REPEAT) * 1e9, sum & 1);
    free(x);
}

/* bump 0: an exactly flat, tilted sheet, where the filter decides nothing between neighbours */
static void sheet(int n, double bump)
{
    int i, j, k = 0, nodes = (n + 1) * (n + 1), tris = 2 * n * n;
    double *x = (double *)malloc(3 * (size_t)nodes * sizeof *x), t;
    int *tri = (int *)malloc(3 * (size_t)tris * sizeof *tri);
    gap_exact_mesh m = {3, 0, NULL, 0, NULL, 0, NULL, 0, NULL, NULL};
    void *work;
    size_t found;
    for (i = 0; i <= n; ++i)
        for (j = 0; j <= n; ++j) {
            double *p = x + 3 * (i * (n + 1) + j);
            p[0] = i / 1024.0 + j / 4096.0;
            p[1] = j / 1024.0 + bump * rnd();
            p[2] = 0.5 * p[0] + bump * rnd();
        }
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j) {
            int a = i * (n + 1) + j, b = a + 1, c = a + n + 1, d = c + 1;
            tri[k++] = a; tri[k++] = c; tri[k++] = b;
            tri[k++] = b; tri[k++] = c; tri[k++] = d;
        }
    m.nodes = nodes; m.x = x; m.tris = tris; m.tri = tri;
    work = malloc(gap_exact_mesh_work(&m));
    t = now();
    found = gap_exact_mesh_meets(&m, NULL, work, 0, NULL, NULL, NULL);
    t = now() - t;
    printf("%-6s sheet %7d triangles %8.3f s %6.2f us each, %d pairs\n",
        bump > 0 ? "rough" : "flat", tris, t, t / tris * 1e6, (int)found);
    free(x); free(tri); free(work);
}

int main(void)
{
    int n;
    signs();
    for (n = 80; n <= 640; n *= 2) sheet(n, 1e-4);
    for (n = 80; n <= 320; n *= 2) sheet(n, 0.0);
    return 0;
}
