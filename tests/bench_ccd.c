/* bench_ccd.c - time per query on the published data: by class of work (classes.csv), over the
   whole set, and at minimum distances.
   bench_ccd once CLASS runs every query of a class once, for instruction counts:
   valgrind --tool=callgrind --toggle-collect=gap_ccd_pair build/bench_ccd once easy */
#define GAP_CCD_IMPLEMENTATION
#include "gap_ccd.h"
#include "../apps/common/queries.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DATA "../shared/data/ccd-queries"

typedef struct query {
    int kind, truth, class_; /* 0 easy, 1 mid, 2 hard, 3 none of them */
    double x[24];
} query;

static const char *const folders[6] = {"erleben-cube-cliff-edges", "erleben-sliding-wedge",
    "erleben-spike-hole", "erleben-spikes", "erleben-wedges", "unit-tests"};
static const char *const classes[3] = {"easy", "mid", "hard"};
static query all[8192];
static int count;
/* through a pointer, so that calls stay calls */
static int (*volatile solve)(void *, int, int, const double *, const double *, double, double,
    double *) = gap_ccd_pair;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void load_file(const char *folder, const char *sub, const char *file)
{
    char path[512], line[256], name[128], kind[64], csv[64], class_[16];
    const char *what;
    queries q;
    FILE *f;
    int i, start = count;

    snprintf(path, sizeof path, DATA "/%s/%s/%s", folder, sub, file);
    if (queries_read(path, &q, &what)) return;
    for (i = 0; i < q.n && count < 8192; ++i, ++count) {
        all[count].kind = strcmp(sub, "edge-edge") ? GAP_CCD_VF : GAP_CCD_EE;
        all[count].truth = q.truth[i];
        all[count].class_ = 3;
        memcpy(all[count].x, q.x + 24 * i, sizeof all[count].x);
    }
    queries_free(&q);
    f = fopen(DATA "/classes.csv", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%127[^,],%63[^,],%63[^,],%d,%15s", name, kind, csv, &i, class_) != 5)
            continue;
        if (strcmp(name, folder) || strcmp(kind, sub) || strcmp(csv, file)) continue;
        if (i < 0 || start + i >= count) continue;
        all[start + i].class_ = !strcmp(class_, "easy") ? 0 : !strcmp(class_, "mid") ? 1 : 2;
    }
    if (f) fclose(f);
}

/* Least of 5 batches of 64 repeats, seconds per query. */
static double time_query(const query *q, gap_ccd_options *o, double ms)
{
    double best = 1e9, toi;
    int b, r;

    for (b = 0; b < 5; ++b) {
        double t = seconds();
        for (r = 0; r < 64; ++r) solve(o, 3, q->kind, q->x, q->x + 12, ms, 1.0, &toi);
        t = (seconds() - t) / 64;
        if (t < best) best = t;
    }
    return best;
}

static void time_set(double ms)
{
    gap_ccd_options o = {0};
    double best = 1e9, toi;
    int b, i, hits = 0, misses = 0;

    o.tolerance = 1e-6;
    for (b = 0; b < 5; ++b) {
        double t = seconds();
        hits = misses = 0;
        for (i = 0; i < count; ++i) {
            const query *q = all + i;
            int hit = solve(&o, 3, q->kind, q->x, q->x + 12, ms, 1.0, &toi) != GAP_CCD_FREE;
            hits += hit;
            misses += q->truth && !hit;
        }
        t = seconds() - t;
        if (t < best) best = t;
    }
    printf("%-10g %8d %8d %8d %10.3f %10.1f\n", ms, count, hits, misses, 1e3 * best,
        1e9 * best / count);
}

int main(int argc, char **argv)
{
    static const double distances[5] = {0.0, 1e-8, 1e-4, 1e-3, 1e-2};
    gap_ccd_options o = {0};
    double toi;
    int d, k, c, i;

    for (d = 0; d < 6; ++d)
        for (k = 0; k < 2; ++k) {
            load_file(folders[d], k ? "edge-edge" : "vertex-face", "data_0_0.csv");
            load_file(folders[d], k ? "edge-edge" : "vertex-face", "data_0_1.csv");
        }
    if (!count) {
        puts("no query files under " DATA);
        return 77;
    }
    o.tolerance = 1e-6;
    if (argc == 3 && !strcmp(argv[1], "once")) {
        for (i = c = 0; i < count; ++i)
            if (all[i].class_ < 3 && !strcmp(classes[all[i].class_], argv[2])) {
                solve(&o, 3, all[i].kind, all[i].x, all[i].x + 12, 0.0, 1.0, &toi);
                ++c;
            }
        printf("%s: %d queries\n", argv[2], c);
        return 0;
    }
    printf("class    queries  ns/query (mean of the least of 5 x 64)\n");
    for (c = 0; c < 3; ++c) {
        double sum = 0.0;
        int n = 0;
        for (i = 0; i < count; ++i)
            if (all[i].class_ == c) sum += time_query(all + i, &o, 0.0), ++n;
        printf("%-8s %7d %9.1f\n", classes[c], n, n ? 1e9 * sum / n : 0.0);
    }
    printf("\nmin dist.   queries     hits   missed   ms whole   ns/query (least of 5)\n");
    for (i = 0; i < 5; ++i) time_set(distances[i]);
    return 0;
}
