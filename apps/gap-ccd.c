/* gap-ccd: runs continuous collision detection on published query files, and on queries that touch
   by construction. */
#define GAP_ACCD_IMPLEMENTATION
#define GAP_CCD_IMPLEMENTATION
#include "gap_accd.h"
#include "gap_ccd.h"
#include "queries.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "usage: gap-ccd queries DIR... [--ms D] [--tol T] [--cap N] [--method inclusion|additive]\n"
    "       gap-ccd touch [--seed S] [--n N]\n"
    "\n"
    "queries  reads DIR/edge-edge/*.csv and DIR/vertex-face/*.csv, runs every query on [0,1] and\n"
    "         compares with the truth in the file. fn counts collisions that were missed.\n"
    "  --ms D       minimum distance (0)\n"
    "  --tol T      distance above it that counts as a hit (1e-6)\n"
    "  --cap N      most steps of work per query (10000)\n"
    "  --method M   inclusion (certified, default) or additive\n"
    "touch    queries whose contact is known exactly, at scales 2^-60 .. 2^60, all kinds, with\n"
    "         and without minimum distance. missed counts those not found, or found too late.\n"
    "  --seed S     seed of the random numbers (1)\n"
    "  --n N        queries per scale, kind and distance (200)\n"
    "Exit: 0 no miss, 1 a miss, 2 bad usage or input.\n";

static int fail(const char *what, const char *which)
{
    fprintf(stderr, "gap-ccd: %s%s%s\n", what, which ? ": " : "", which ? which : "");
    return 2;
}

/* ---------------------------------------------------------------- queries */

typedef struct settings {
    double ms;
    gap_ccd_options ccd;
    gap_accd_options accd;
    int additive;
} settings;

typedef struct tally {
    int queries, tp, fp, fn, capped, work_max;
    int n, cap; /* of us */
    double *us; /* microseconds of each query */
} tally;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void tally_time(tally *t, double us)
{
    if (t->n == t->cap) {
        t->cap = 2 * t->cap + 1024;
        t->us = (double *)realloc(t->us, (size_t)t->cap * sizeof *t->us);
        if (!t->us) exit(fail("out of memory", NULL));
    }
    t->us[t->n++] = us;
}

static void tally_add(tally *sum, const tally *t)
{
    int i;

    sum->queries += t->queries;
    sum->tp += t->tp;
    sum->fp += t->fp;
    sum->fn += t->fn;
    sum->capped += t->capped;
    if (t->work_max > sum->work_max) sum->work_max = t->work_max;
    for (i = 0; i < t->n; ++i) tally_time(sum, t->us[i]);
}

static void tally_print(const char *name, const char *kind, tally *t)
{
    double mean = 0.0;
    int i;

    qsort(t->us, (size_t)t->n, sizeof *t->us, compare_double);
    for (i = 0; i < t->n; ++i) mean += t->us[i] / t->n;
    printf("%s%s%s queries=%d hits=%d tp=%d fp=%d fn=%d capped=%d mean_us=%.3f p99_us=%.3f "
           "max_us=%.3f work_max=%d\n",
        name, *kind ? " kind=" : "", kind, t->queries, t->tp + t->fn, t->tp, t->fp, t->fn,
        t->capped, mean, t->n ? t->us[(t->n - 1) * 99 / 100] : 0.0, t->n ? t->us[t->n - 1] : 0.0,
        t->work_max);
}

static void run_queries(const settings *s, int kind, const queries *q, tally *t)
{
    int i;

    for (i = 0; i < q->n; ++i) {
        const double *x = q->x + 24 * (size_t)i;
        double toi, start = now_us();
        int work = 0, status;
        if (s->additive) /* same kinds and status in both */
            status = gap_accd_query(&s->accd, 3, kind, x, x + 12, s->ms, 1.0, &toi, &work);
        else
            status = gap_ccd_query(&s->ccd, 3, kind, x, x + 12, s->ms, 1.0, &toi, &work);
        tally_time(t, now_us() - start);
        t->queries++;
        t->tp += q->truth[i] && status != GAP_CCD_FREE;
        t->fn += q->truth[i] && status == GAP_CCD_FREE;
        t->fp += !q->truth[i] && status != GAP_CCD_FREE;
        t->capped += status == GAP_CCD_BUDGET;
        if (work > t->work_max) t->work_max = work;
    }
}

static int compare_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names in a directory that end in .csv, sorted; -1 if it cannot be opened. */
static int list_csv(const char *dir, char ***names)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    int n = 0;

    *names = NULL;
    if (!d) return -1;
    while ((e = readdir(d)) != NULL) {
        size_t len = strlen(e->d_name);
        if (len < 5 || strcmp(e->d_name + len - 4, ".csv") != 0) continue;
        *names = (char **)realloc(*names, (size_t)(n + 1) * sizeof **names);
        if (!*names || !((*names)[n] = (char *)malloc(len + 1))) exit(fail("out of memory", NULL));
        memcpy((*names)[n++], e->d_name, len + 1);
    }
    closedir(d);
    if (n) qsort(*names, (size_t)n, sizeof **names, compare_name);
    return n;
}

/* All files of one kind in a folder; the number of files, or -1 after a complaint. */
static int run_kind(const settings *s, const char *dir, int kind, tally *t)
{
    char path[4096], **names;
    const char *sub = kind == GAP_CCD_EE ? "edge-edge" : "vertex-face", *what;
    int n, i, line = 0;

    snprintf(path, sizeof path, "%s/%s", dir, sub);
    n = list_csv(path, &names);
    for (i = 0; i < n; ++i) {
        queries q;
        snprintf(path, sizeof path, "%s/%s/%s", dir, sub, names[i]);
        free(names[i]);
        if (line) continue;
        line = queries_read(path, &q, &what);
        if (line) fprintf(stderr, "gap-ccd: %s:%d: %s\n", path, line < 0 ? 0 : line, what);
        else run_queries(s, kind, &q, t);
        queries_free(&q);
    }
    free(names);
    return line ? -1 : n > 0 ? n : 0;
}

static int run_folder(const settings *s, const char *arg, tally *total)
{
    char dir[3000];
    const char *name;
    size_t len = strlen(arg);
    int kind, files = 0;

    while (len > 1 && arg[len - 1] == '/') --len;
    if (len >= sizeof dir) return fail("name too long", arg);
    memcpy(dir, arg, len);
    dir[len] = 0;
    name = strrchr(dir, '/') && dir[1] ? strrchr(dir, '/') + 1 : dir;
    for (kind = GAP_CCD_VF; kind <= GAP_CCD_EE; ++kind) {
        tally t = {0};
        int n = run_kind(s, dir, kind, &t);
        if (n > 0) {
            tally_print(name, kind == GAP_CCD_EE ? "ee" : "vf", &t);
            tally_add(total, &t);
            files += n;
        }
        free(t.us);
        if (n < 0) return 2;
    }
    if (files) return 0;
    fprintf(stderr, "gap-ccd: %s:0: no query files (edge-edge/*.csv, vertex-face/*.csv)\n", dir);
    return 2;
}

static int number(const char *s, double least, double *out)
{
    char *end;
    *out = strtod(s, &end);
    return end != s && !*end && *out >= least && *out < 1e300;
}

static int cmd_queries(int argc, char **argv)
{
    settings s = {0};
    tally total = {0};
    double v;
    int i, bad = 0, folders = 0;

    s.ccd.tolerance = 1e-6;
    for (i = 0; i < argc; ++i) {
        const char *a = argv[i];
        if (strncmp(a, "--", 2) != 0) {
            ++folders;
            continue;
        }
        if (i + 1 == argc) return fail("option without a value", a);
        if (!strcmp(a, "--method")) {
            s.additive = !strcmp(argv[++i], "additive");
            if (!s.additive && strcmp(argv[i], "inclusion")) return fail("unknown method", argv[i]);
        } else if (!number(argv[++i], 0.0, &v)) {
            return fail("not a number in range", argv[i]);
        } else if (!strcmp(a, "--ms")) {
            s.ms = v;
        } else if (!strcmp(a, "--tol") && v > 0.0) {
            s.ccd.tolerance = v;
        } else if (!strcmp(a, "--cap") && v >= 1.0 && v <= 2e9) {
            s.ccd.budget = s.accd.budget = (int)v;
        } else {
            return fail("unknown option or value out of range", a);
        }
    }
    if (!folders) return fail("no folder given; see --help", NULL);
    for (i = 0; i < argc && !bad; ++i) {
        if (!strncmp(argv[i], "--", 2)) ++i;
        else bad = run_folder(&s, argv[i], &total);
    }
    if (!bad) tally_print("TOTAL", "", &total);
    free(total.us);
    return bad ? bad : total.fn > 0;
}

/* ---------------------------------------------------------------- touch */

static unsigned long long touch_state;

static unsigned long long touch_bits(void) /* splitmix64 */
{
    unsigned long long z = (touch_state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* A multiple of 16 below 2^44 in size: sums below stay under 2^53, so every coordinate is exact. */
static long long touch_int(void)
{
    return 16 * ((long long)(touch_bits() >> 23) - (1ll << 40));
}

/* Points at the time t/4 of contact, their velocities, and from both the ends of the motion. The
   point of the first side minus that of the second is w, of length dist, exactly. */
static void touch_query(int dim, int kind, int t, const long long w[3], double scale, double *p0,
    double *p1)
{
    static const int points[4] = {2, 3, 4, 4};
    long long x[4][3], v;
    int i, k, n = points[kind], iu = (int)(touch_bits() % 5), iv = (int)(touch_bits() % (5 - iu));
    int still = touch_bits() % 8 == 0;

    if (kind == GAP_CCD_EE) iv = iu == 2 ? 2 : iu == 4 ? 3 : 0;
    for (k = 0; k < dim; ++k) {
        for (i = 0; i < n; ++i) x[i][k] = touch_int();
        if (kind == GAP_CCD_VV) x[0][k] = x[1][k] + w[k];
        if (kind == GAP_CCD_VE) x[0][k] = ((4 - iu) * x[1][k] + iu * x[2][k]) / 4 + w[k];
        if (kind == GAP_CCD_VF)
            x[0][k] = ((4 - iu - iv) * x[1][k] + iu * x[2][k] + iv * x[3][k]) / 4 + w[k];
        if (kind == GAP_CCD_EE) {
            long long on = ((4 - iu) * x[0][k] + iu * x[1][k]) / 4 - w[k];
            x[2][k] = (4 * on - iv * x[3][k]) / (4 - iv);
        }
        for (i = 0; i < n; ++i) {
            v = still ? 0 : touch_int();
            p0[dim * i + k] = scale * (double)(x[i][k] - t * (v / 4));
            p1[dim * i + k] = scale * (double)(x[i][k] + (4 - t) * (v / 4));
        }
    }
}

/* Whether a query that touches is reported free, or hit only after the contact. */
static int touch_missed(int dim, int kind, int with_distance, double scale)
{
    static const int triple[4][4] = {{1, 2, 2, 3}, {2, 3, 6, 7}, {3, 4, 0, 5}, {0, 0, 1, 1}};
    const int *e = triple[touch_bits() % (dim == 2 ? 1 : 4)];
    long long size = with_distance ? 1ll << (touch_bits() % 40) : 0, w[3];
    double p0[12], p1[12], dist, toi;
    int t = (int)(touch_bits() % 5), k, status;

    if (dim == 2) e = triple[2];
    for (k = 0; k < 3; ++k) w[k] = (touch_bits() & 1 ? size : -size) * e[k];
    dist = scale * (double)(size * e[3]);
    touch_query(dim, kind, t, w, scale, p0, p1);
    status = gap_ccd_pair(NULL, dim, kind, p0, p1, dist, 1.0, &toi);
    return status <= GAP_CCD_FREE || toi > 0.25 * t;
}

static int cmd_touch(int argc, char **argv)
{
    static const int kinds[6][2] = {{2, 0}, {3, 0}, {2, 1}, {3, 1}, {3, 2}, {3, 3}};
    double v;
    int n = 200, i, k, d, e, missed, all = 0;

    touch_state = 1;
    for (i = 0; i < argc; i += 2) {
        if (i + 1 == argc) return fail("option without a value", argv[i]);
        if (!number(argv[i + 1], 0.0, &v) || v > 1e9)
            return fail("not a number in range", argv[i + 1]);
        if (!strcmp(argv[i], "--n")) n = (int)v;
        else if (!strcmp(argv[i], "--seed")) touch_state = (unsigned long long)v;
        else return fail("unknown option", argv[i]);
    }
    for (e = -60; e <= 60; ++e) {
        double scale = 5.6843418860808015e-14; /* 2^-44: coordinates of about 1 */
        for (i = 0; i < abs(e); ++i) scale *= e < 0 ? 0.5 : 2.0;
        missed = 0;
        for (k = 0; k < 6; ++k)
            for (d = 0; d < 2; ++d)
                for (i = 0; i < n; ++i) missed += touch_missed(kinds[k][0], kinds[k][1], d, scale);
        printf("scale=2^%d missed=%d queries=%d\n", e, missed, 12 * n);
        all += missed;
    }
    printf("TOTAL missed=%d queries=%lld\n", all, 121ll * 12 * n);
    return all > 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--help")) return fputs(help, stdout) < 0;
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        printf("gap-ccd %d.%d.%d\n", GAP_CCD_VERSION / 10000, GAP_CCD_VERSION / 100 % 100,
            GAP_CCD_VERSION % 100);
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "queries")) return cmd_queries(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "touch")) return cmd_touch(argc - 2, argv + 2);
    fputs(help, stderr);
    return 2;
}
