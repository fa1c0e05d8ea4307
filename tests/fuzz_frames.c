/* Any bytes as a frame file; checksums are set right first, to reach what lies behind them. */
#include "frames.h"
#include "fuzz_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *b = (uint8_t *)malloc(size + 1);
    size_t i;
    frames_reader r;
    double sum = 0.0;
    FILE *f;
    if (!b) return 0;
    memcpy(b, data, size);
    fuzz_mend(b, size);
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
