/* Any bytes as a frame file; checksums are set right first, to reach what lies behind them. */
#include "frames.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint32_t crc(const uint8_t *p, size_t n, uint32_t c)
{
    size_t i;
    int k;
    for (i = 0; i < n; ++i)
        for (c ^= p[i], k = 0; k < 8; ++k) c = (c >> 1) ^ (0xedb88320u & (0u - (c & 1u)));
    return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *b = (uint8_t *)malloc(size + 1);
    size_t at = 0, i;
    frames_reader r;
    double sum = 0.0;
    FILE *f;
    if (!b) return 0;
    memcpy(b, data, size);
    while (size - at >= 16) {
        uint64_t n = 0;
        uint32_t c;
        for (i = 0; i < 8; ++i) n |= (uint64_t)b[at + 8 + i] << (8 * i);
        if (n > size - at - 16) break;
        c = ~crc(b + at + 8, 8 + (size_t)n, crc(b + at, 4, 0xffffffffu));
        for (i = 0; i < 4; ++i) b[at + 4 + i] = (uint8_t)(c >> (8 * i));
        at += 16 + (size_t)((n + 7) & ~(uint64_t)7);
        if (at > size) break;
    }
    f = size ? fmemopen(b, size, "rb") : NULL;
    if (frames_open_stream(&r, f)) {
        while (frames_next(&r)) {
            for (i = 0; i < (size_t)r.dim * (size_t)r.topo.nodes; ++i) sum += r.x[i];
            for (i = 0; i < 3 * (size_t)r.topo.tris; ++i) sum += r.x[r.dim * r.topo.tri[i]];
            for (i = 0; r.name && i < (size_t)r.bodies; ++i) sum += (double)strlen(r.name[i]);
        }
    }
    if (sum == 12345.0) b[0] = 1; /* keeps the reads */
    frames_close(&r);
    free(b);
    return 0;
}
