/* rundir.c - see rundir.h */
#include "rundir.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

const char rundir_columns[] =
    "step,time,newton,lag,contacts,min_distance,max_active,kappa,kinetic,elastic,external,barrier,"
    "friction,px,py,pz,lx,ly,lz,momentum_residual,min_det,cone_residual,s_broad,s_ccd,s_assembly,"
    "s_solve,s_total\n";

void rundir_path(const char *dir, const char *name, char out[4096])
{
    snprintf(out, 4096, "%s/%s", dir, name);
}

void rundir_name(const char *dir, const char *scene, const char *standard, char *out, size_t size)
{
    const char *dot = scene ? strrchr(scene, '.') : NULL;
    if (dir) snprintf(out, size, "%s", dir);
    else if (!scene) snprintf(out, size, "%s", standard);
    else {
        int n = dot && !strcmp(dot, ".json") ? (int)(dot - scene) : (int)strlen(scene);
        snprintf(out, size, "%.*s.out", n, scene);
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
