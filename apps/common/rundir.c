/* rundir.c - see rundir.h */
#include "rundir.h"

#include "frames.h"
#include "mesh.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char rundir_columns[] =
    "step,time,newton,lag,contacts,min_distance,max_active,kappa,kinetic,elastic,external,barrier,"
    "friction,px,py,pz,lx,ly,lz,momentum_residual,min_det,cone_residual,s_broad,s_ccd,s_assembly,"
    "s_solve,s_total\n";

void rundir_path(const char *dir, const char *name, char out[4096])
{
    snprintf(out, 4096, "%s/%s", dir, name);
}

void rundir_name(const char *dir, const char *file, const char *standard, char *out, size_t size)
{
    const char *dot = file ? strrchr(file, '.') : NULL;
    if (dir) snprintf(out, size, "%s", dir);
    else if (!file) snprintf(out, size, "%s", standard);
    else {
        int n = dot && !strcmp(dot, ".json") ? (int)(dot - file) : (int)strlen(file);
        snprintf(out, size, "%.*s.out", n, file);
    }
}

static uint32_t crc_of(const unsigned char *p, size_t n)
{
    uint32_t crc = 0xffffffffu;
    size_t i;
    int k;
    for (i = 0; i < n; ++i) {
        crc ^= p[i];
        for (k = 0; k < 8; ++k) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}

int rundir_save(const char *dir, const void *bytes, size_t size)
{
    char path[4096], temporary[4096];
    uint32_t crc = crc_of(bytes, size);
    FILE *f;
    int bad;
    rundir_path(dir, "checkpoint.bin", path);
    rundir_path(dir, "checkpoint.tmp", temporary);
    f = fopen(temporary, "wb");
    if (!f) return 0;
    fwrite("GAPC0001", 1, 8, f);
    fwrite(&crc, 1, 4, f);
    fwrite(bytes, 1, size, f);
    bad = fflush(f) != 0 || ferror(f) || fsync(fileno(f)) != 0;
    if (fclose(f) != 0) bad = 1;
    if (bad || rename(temporary, path) != 0) {
        remove(temporary);
        return 0;
    }
    return 1;
}

int rundir_load(const char *dir, void *bytes, size_t size)
{
    char path[4096], magic[8];
    uint32_t crc;
    int ok;
    FILE *f;
    rundir_path(dir, "checkpoint.bin", path);
    f = fopen(path, "rb");
    if (!f) return 0;
    ok = fread(magic, 1, 8, f) == 8 && memcmp(magic, "GAPC0001", 8) == 0 &&
        fread(&crc, 1, 4, f) == 4 && fread(bytes, 1, size, f) == size && getc(f) == EOF &&
        crc_of(bytes, size) == crc;
    fclose(f);
    return ok ? 1 : -1;
}

FILE *rundir_rows(const char *dir, const char *name, const char *header, long long last)
{
    char path[4096], temporary[4096], line[4096];
    FILE *old, *f;
    rundir_path(dir, name, path);
    rundir_path(dir, "rows.tmp", temporary);
    f = fopen(temporary, "wb");
    if (!f) return NULL;
    fputs(header, f);
    old = last > 0 ? fopen(path, "rb") : NULL;
    if (old && fgets(line, sizeof line, old)) {
        while (fgets(line, sizeof line, old)) {
            if (!strchr(line, '\n') || atoll(line) > last || atoll(line) < 1) break;
            fputs(line, f);
        }
    }
    if (old) fclose(old);
    if (fflush(f) != 0 || rename(temporary, path) != 0) {
        fclose(f);
        remove(temporary);
        return NULL;
    }
    return f;
}

int rundir_stats(FILE *f, long long step, double time, const sim_report *p)
{
    double d = p->contacts ? p->min_distance : NAN, most = p->contacts ? p->max_active : NAN;
    fprintf(f, "%lld,%.17g,%d,%d,%d,%.17g,%.17g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g", step, time,
        p->newton, p->lag, p->contacts, d, most, p->kappa, p->kinetic, p->elastic, p->external,
        p->barrier, p->friction);
    fprintf(f, ",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.6g,%.9g,%.6g,%.4g,%.4g,%.4g,%.4g,%.4g\n",
        p->momentum[0], p->momentum[1], p->momentum[2], p->angular[0], p->angular[1],
        p->angular[2], p->momentum_residual, p->min_det < HUGE_VAL ? p->min_det : NAN,
        p->cone_residual, p->seconds[0], p->seconds[1], p->seconds[2], p->seconds[3],
        p->seconds[4]);
    return fflush(f) == 0;
}

int rundir_mesh(const char *program, const char *dir, long long step, const char *ending, int dim,
    const struct frames_topo *t, const double *x)
{
    char name[64], path[4096];
    mesh_error e;
    mesh m;
    int i, ok;
    memset(&m, 0, sizeof m);
    memset(&e, 0, sizeof e);
    m.order = 1;
    ok = mesh_add_nodes(&m, t->nodes) == 0 && mesh_add_tris(&m, t->tris) == 0 &&
        mesh_add_edges(&m, t->edges) == 0 && mesh_add_points(&m, t->points) == 0;
    if (ok) {
        for (i = 0; i < dim * t->nodes; ++i) m.x[3 * (i / dim) + i % dim] = x[i];
        if (t->tris) memcpy(m.tri, t->tri, 3 * (size_t)t->tris * sizeof *m.tri);
        if (t->edges) memcpy(m.edge, t->edge, 2 * (size_t)t->edges * sizeof *m.edge);
        if (t->points) memcpy(m.point, t->point, (size_t)t->points * sizeof *m.point);
        snprintf(name, sizeof name, "frame%06lld.%s", step, ending);
        rundir_path(dir, name, path);
        ok = mesh_write(path, &m, &e);
        if (!ok) fprintf(stderr, "%s: %s: %s\n", program, path, e.text);
    }
    mesh_free(&m);
    return ok;
}

double rundir_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void rundir_progress(const sim_report *p, double time, double begun, long long first,
    long long step, long long last)
{
    double spent = rundir_clock() - begun;
    double left = step > first ? spent / (double)(step - first) * (double)(last - step) : 0.0;
    if (isatty(STDERR_FILENO)) {
        int bar = (int)(30.0 * (double)step / (double)(last > 0 ? last : 1)), i;
        fprintf(stderr, "\r[");
        for (i = 0; i < 30; ++i) fputc(i < bar ? '#' : '.', stderr);
        fprintf(stderr, "] %lld/%lld  t=%.3f s  newton %d  contacts %d  gap %.2g  %.0f s left   ",
            step, last, time, p->newton, p->contacts, p->contacts ? p->min_distance : 0.0, left);
        if (step >= last) fputc('\n', stderr);
    } else {
        fprintf(stderr, "step=%lld time=%.6g newton=%d lag=%d contacts=%d min_distance=%.6g "
            "kappa=%.4g seconds=%.3g\n", step, time, p->newton, p->lag, p->contacts,
            p->contacts ? p->min_distance : NAN, p->kappa, p->seconds[4]);
    }
}

void rundir_view(const char *dir, const char *self)
{
    char program[4096];
    const char *slash = strrchr(self, '/');
    pid_t child;
    int status;
    snprintf(program, sizeof program, "%.*sgap-view", slash ? (int)(slash - self) + 1 : 0, self);
    if (access(program, X_OK) != 0) return;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(1);
        execl(program, "gap-view", dir, (char *)NULL);
        _exit(1);
    }
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
        !WEXITSTATUS(status)) {
        printf("open %s/view.html\n", dir);
    }
}
