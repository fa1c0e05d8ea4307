/* ./build.sh bench check: whole frames of growing size through gap-check, one thread, CPU time: two
   rough sheets one above the other (also thick, also in motion), and an exactly flat pair, where
   no filter decides between neighbours. */
#define main gap_check_program
#include "../apps/gap-check.c"
#undef main
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

static void sheet(frames_topo *t, double *x, int n, double z, double bump, int body)
{
    int i, j, first = t->nodes;
    for (i = 0; i <= n; ++i)
        for (j = 0; j <= n; ++j) {
            double *p = x + 3 * (size_t)t->nodes;
            p[0] = i / 256.0 + j / 1024.0;
            p[1] = j / 256.0 + bump * rnd();
            p[2] = 0.5 * p[0] + z + bump * rnd();
            t->body[t->nodes++] = body;
        }
    for (i = 0; i < n; ++i)
        for (j = 0; j < n; ++j) {
            int a = first + i * (n + 1) + j, *q = t->tri + 6 * (size_t)(t->tris / 2);
            q[0] = a; q[1] = a + n + 1; q[2] = a + 1;
            q[3] = a + 1; q[4] = a + n + 1; q[5] = a + n + 2;
            t->tris += 2;
        }
}

static void measure(int n, double bump, double radius, int frames)
{
    const char *path = "build/bench_check.gapf";
    size_t nodes = 2 * (size_t)(n + 1) * (size_t)(n + 1), i;
    double *x = (double *)malloc(3 * nodes * sizeof *x), t0, t1;
    frames_topo t;
    frames_writer *w;
    char *argv[] = {(char *)"gap-check", (char *)(size_t)path, NULL, NULL};
    int k;
    memset(&t, 0, sizeof t);
    t.tri = (int *)malloc(12 * (size_t)n * (size_t)n * sizeof(int));
    t.body = (int *)malloc(nodes * sizeof(int));
    t.radius = (double *)malloc(nodes * sizeof(double));
    sheet(&t, x, n, 0.0, bump, 0);
    sheet(&t, x, n, 1.0 / 2048, bump, 1);
    for (i = 0; i < nodes; ++i) t.radius[i] = radius;
    w = frames_create(path, 3, 2, NULL);
    frames_write_topo(w, &t);
    for (k = 0; k < frames; ++k) {
        frames_write(w, k, 0.0, x);
        for (i = 0; i < 3 * nodes; ++i) x[i] += i % 3 == 0 ? 1.0 / 4096 : 0.0;
    }
    frames_finish(w);
    if (frames > 1) argv[2] = (char *)"--between";
    t0 = now();
    check_main(frames > 1 ? 3 : 2, argv, stdout, stderr);
    t1 = now();
    printf("    %7d triangles, %s, radius %g, %d frame(s): %.3f s of CPU, %.2f us per triangle\n",
        t.tris, bump > 0 ? "rough" : "flat", radius, frames, t1 - t0,
        (t1 - t0) / t.tris / frames * 1e6);
    free(x); free(t.tri); free(t.body); free(t.radius);
    remove(path);
}

int main(void)
{
    int n;
    for (n = 56; n <= 448; n *= 2) measure(n, 1e-4, 0.0, 1);
    for (n = 112; n <= 224; n *= 2) measure(n, 1e-4, 1.0 / 8192, 1);
    for (n = 112; n <= 224; n *= 2) measure(n, 0.0, 0.0, 1);
    for (n = 112; n <= 224; n *= 2) measure(n, 1e-4, 0.0, 2);
    return 0;
}
