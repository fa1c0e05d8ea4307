/* Any bytes as a frame file through the whole of gap-check; checksums are set right first. */
#define main gap_check_program
#include "../apps/gap-check.c"
#undef main

static uint32_t crc(const uint8_t *p, size_t n, uint32_t c)
{
    size_t i;
    int k;
    for (i = 0; i < n; ++i)
        for (c ^= p[i], k = 0; k < 8; ++k) c = (c >> 1) ^ (0xedb88320u & (0u - (c & 1u)));
    return c;
}

static void mend(uint8_t *b, size_t size)
{
    size_t at = 0, i;
    while (at <= size && size - at >= 16) {
        uint64_t n = 0;
        uint32_t c;
        for (i = 0; i < 8; ++i) n |= (uint64_t)b[at + 8 + i] << (8 * i);
        if (n > size - at - 16) break;
        c = ~crc(b + at + 8, 8 + (size_t)n, crc(b + at, 4, 0xffffffffu));
        for (i = 0; i < 4; ++i) b[at + 4 + i] = (uint8_t)(c >> (8 * i));
        at += 16 + (size_t)((n + 7) & ~(uint64_t)7);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *b = (uint8_t *)grab(NULL, size + 1, 1);
    FILE *sink = fopen("/dev/null", "w");
    frames_reader r;
    checker c;
    job j;
    memcpy(b, data, size);
    mend(b, size);
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
