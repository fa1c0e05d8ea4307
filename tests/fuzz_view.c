/* fuzz_view.c - gap-view as a program. The first byte chooses: bit 0 a picture instead of a page,
   bits 1-2 the colouring, bit 3 a sheet; bit 4: the rest is stats.csv beside a good frame file,
   bit 5: edits of a good frame file, else the frame file itself. */
#define main gap_view_program
#include "../apps/gap-view.c"
#undef main
#include "fuzz_frames.h"

#include <unistd.h>

static void write_all(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) exit(1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const color[] = {"body", "speed", "strain", "distance"};
    static uint8_t good[8192];
    static size_t good_size;
    static char frames[64], table[64], out[64];
    char *argv[] = {"gap-view", frames, "--html", out, "--color", "", "--size", "64x48", NULL,
        NULL, NULL};
    uint8_t *b;
    int argc = 8, rc;
    if (size < 1) return 0;
    if (!good_size) {
        snprintf(frames, sizeof frames, "fuzz_view.%ld.gapf", (long)getpid());
        snprintf(table, sizeof table, "%s.csv", frames);
        snprintf(out, sizeof out, "%s.out", frames);
        good_size = fuzz_good_frames(frames, good, sizeof good);
        if (!good_size) exit(1);
    }
    b = (uint8_t *)need(malloc(size + good_size));
    remove(table);
    if (data[0] & 16) {
        write_all(frames, good, good_size);
        write_all(table, data + 1, size - 1);
    } else if (data[0] & 32) {
        memcpy(b, good, good_size);
        fuzz_edit_frames(b, good_size, data + 1, size - 1);
        write_all(frames, b, good_size);
    } else {
        memcpy(b, data + 1, size - 1);
        fuzz_mend(b, size - 1);
        write_all(frames, b, size - 1);
    }
    free(b);
    if (data[0] & 1) argv[2] = "--png";
    if (data[0] & 8) argv[argc++] = "--sheet", argv[argc++] = "4";
    {
        char name[16]; /* argv is not const */
        snprintf(name, sizeof name, "%s", color[data[0] >> 1 & 3]);
        argv[5] = name;
        remove(out);
        rc = gap_view_program(argc, argv);
    }
    if (rc != 0 && rc != 2) abort();
    if ((rc == 0) != (access(out, F_OK) == 0)) abort();
    remove(out);
    return 0;
}
