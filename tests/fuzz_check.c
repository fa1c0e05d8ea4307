/* Bytes as edits (offset, offset, value) of a small good frame file, or where the first is zero as
   the file itself, through the whole of gap-check; checksums are set right first. */
#define main gap_check_program
#include "../apps/gap-check.c"
#undef main
#include "fuzz_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t good[8192];
    static size_t good_size;
    uint8_t *b = (uint8_t *)grab(NULL, size + sizeof good, 1);
    FILE *sink = fopen("/dev/null", "w");
    frames_reader r;
    checker c;
    job j;
    if (!good_size) {
        good_size = fuzz_good_frames("fuzz_check.gapf", good, sizeof good);
    }
    if (size && data[0] && good_size) {
        memcpy(b, good, good_size);
        fuzz_edit_frames(b, good_size, data + 1, size - 1);
        size = good_size;
    } else {
        memcpy(b, data, size);
        fuzz_mend(b, size);
    }
    memset(&c, 0, sizeof c);
    memset(&j, 0, sizeof j);
    j.out = j.err = sink;
    j.between = 1;
    c.r.min_distance = HUGE_VAL;
    if (sink && frames_open_stream(&r, size ? fmemopen(b, size, "rb") : NULL)) {
        run_reader(&j, &c, &r, "fuzz");
        print_json(sink, &j, &c.r, (const char *const *)r.name);
        print_text(sink, &j, &c.r, (const char *const *)r.name);
    }
    if (sink) frames_close(&r);
    if (sink) fclose(sink);
    checker_free(&c);
    free(b);
    return 0;
}
