/* bench_sim.c - growth of gap-sim's cost with resolution: a mat of n x n cells, its ends twisted
   against each other, for n = 20, 40, 80 (GAP_SLOW=1: and 160), five steps each; CPU seconds on one
   thread, share by phase, memory, and the powers of the number of elements that fit them. Then one
   against two workers: wall time, and whether the surfaces agree bit for bit.
   `bench_sim N STEPS` runs one size on one thread, for a profiler. */
#include "pool.h"
#include "scene.h"
#include "sim.h"
#include "util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef struct result {
    int newton, contacts;
    double tets, wall, cpu, mb, phase[SIM_PHASES];
    size_t size;
    double *surface; /* the caller's to free */
} result;

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double peak_mb(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)r.ru_maxrss / 1024.0;
}

/* The ends turn by 2.9 degrees a step. */
static int twist(int n, int steps, int workers, result *out)
{
    static const char form[] = "{\"geometry\": [{\"mesh\": {\"kind\": \"slab\", \"cells\":"
        " [%d, %d]}, \"surface_selection\": [{\"id\": 1, \"axis\": \"-x\", \"position\": -0.499},"
        " {\"id\": 2, \"axis\": \"x\", \"position\": 0.499}]}],"
        " \"materials\": {\"E\": 2e4, \"nu\": 0.4, \"rho\": 1000}, \"boundary_conditions\":"
        " {\"dirichlet_boundary\": [{\"id\": 1, \"value\": [\"0\","
        " \"cos(1.2566*t)*y-sin(1.2566*t)*z-y\", \"sin(1.2566*t)*y+cos(1.2566*t)*z-z\"]},"
        " {\"id\": 2, \"value\": [\"0\", \"cos(1.2566*t)*y+sin(1.2566*t)*z-y\","
        " \"-sin(1.2566*t)*y+cos(1.2566*t)*z-z\"]}]}, \"time\": {\"dt\": 0.04}}";
    char text[2000], error[2000];
    scene sc;
    sim_options o;
    sim_report r;
    sim *s;
    int i, k, ok = 1;
    memset(out, 0, sizeof *out);
    memset(&o, 0, sizeof o);
    snprintf(text, sizeof text, form, n, n);
    if (!scene_parse(&sc, "bench_sim", "text", text, strlen(text), NULL, 1.0)) return 0;
    o.threads = workers > 1 ? pool_open(workers) : NULL;
    s = sim_open(&sc, &o, error, sizeof error);
    if (!s) fprintf(stderr, "bench_sim: %s\n", error);
    out->tets = 6.0 * n * n;
    out->wall = -seconds(CLOCK_MONOTONIC);
    out->cpu = -seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (i = 0; s && ok && i < steps; ++i) {
        ok = sim_step(s, sc.h, &r) == 0;
        out->newton += r.newton;
        out->contacts = r.contacts;
        for (k = 0; k < SIM_PHASES; ++k) out->phase[k] += r.seconds[k];
    }
    out->wall += seconds(CLOCK_MONOTONIC);
    out->cpu += seconds(CLOCK_PROCESS_CPUTIME_ID);
    out->mb = peak_mb();
    if (s) {
        out->size = 3 * (size_t)sim_vertices(s) * sizeof *out->surface;
        out->surface = malloc(out->size);
        if (out->surface) memcpy(out->surface, sim_surface(s), out->size);
    }
    ok = ok && s && out->surface;
    sim_close(s);
    pool_close(o.threads);
    scene_free(&sc);
    return ok;
}

/* Slope of log y over log x by least squares. */
static double power(int n, const double *x, const double *y)
{
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    int i;
    for (i = 0; i < n; ++i) {
        double a = log(x[i]), b = log(y[i]);
        sx += a;
        sy += b;
        sxx += a * a;
        sxy += a * b;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static void row(int n, const result *r)
{
    const double *p = r->phase;
    double all = p[4] / 100.0;
    printf("%3d %7.0f %6d %8.3f %9.4f %6.0f  %3.0f %3.0f %3.0f %3.0f %3.0f %3.0f %3.0f\n", n,
        r->tets, r->newton, r->cpu, r->cpu / r->newton, r->mb, p[0] / all, p[1] / all, p[6] / all,
        p[2] / all, p[5] / all, p[3] / all,
        (p[4] - p[0] - p[1] - p[2] - p[3] - p[5] - p[6]) / all);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const int size[4] = {20, 40, 80, 160};
    double tets[4], cpu[4], mb[4];
    int i, sizes = util_slow() ? 4 : 3, steps = 5;
    result a, b;
    if (argc == 3) {
        if (!twist(atoi(argv[1]), atoi(argv[2]), 1, &a)) return 1;
        row(atoi(argv[1]), &a);
        free(a.surface);
        return 0;
    }
    printf("  n    tets newton  cpu [s] per newton peak MB; %% broad ccd valid assembly energy"
        " solve rest\n");
    for (i = 0; i < sizes; ++i) {
        if (!twist(size[i], steps, 1, &a)) return 1;
        row(size[i], &a);
        tets[i] = a.tets;
        cpu[i] = a.cpu / a.newton;
        mb[i] = a.mb;
        free(a.surface);
    }
    printf("per newton iteration: time ~ tets^%.2f, memory ~ tets^%.2f\n", power(sizes, tets, cpu),
        power(sizes, tets, mb));
    if (!twist(80, 3, 1, &a) || !twist(80, 3, 2, &b)) return 1;
    printf("80 x 80, 3 steps: one worker %.2f s (cpu %.2f), two %.2f s (cpu %.2f): %.2fx, %s\n",
        a.wall, a.cpu, b.wall, b.cpu, a.wall / b.wall,
        a.size == b.size && memcmp(a.surface, b.surface, a.size) == 0 ? "same bits" : "DIFFERENT");
    free(a.surface);
    free(b.surface);
    return 0;
}
