/* fuzz_frames.h - a small good frame file, and checksums set right again after it was damaged, so
   that what lies behind the checksums is reached. Include after frames.h. */
#ifndef FUZZ_FRAMES_H
#define FUZZ_FRAMES_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t fuzz_crc(const uint8_t *p, size_t n, uint32_t c)
{
    size_t i;
    int k;
    for (i = 0; i < n; ++i)
        for (c ^= p[i], k = 0; k < 8; ++k) c = (c >> 1) ^ (0xedb88320u & (0u - (c & 1u)));
    return c;
}

static inline void fuzz_mend(uint8_t *b, size_t size)
{
    size_t at = 0, i;
    while (at <= size && size - at >= 16) {
        uint64_t n = 0;
        uint32_t c;
        for (i = 0; i < 8; ++i) n |= (uint64_t)b[at + 8 + i] << (8 * i);
        if (n > size - at - 16) break;
        c = ~fuzz_crc(b + at + 8, 8 + (size_t)n, fuzz_crc(b + at, 4, 0xffffffffu));
        for (i = 0; i < 4; ++i) b[at + 4 + i] = (uint8_t)(c >> (8 * i));
        at += 16 + (size_t)((n + 7) & ~(uint64_t)7);
    }
}

/* Two bodies with one of everything, two frames; made at the path, then read. Bytes, 0: failed. */
static inline size_t fuzz_good_frames(const char *path, uint8_t *out, size_t room)
{
    static int tri[] = {0, 1, 2, 3, 4, 5}, edge[] = {6, 7}, point[] = {8}, elem[] = {0, 1, 2, 3};
    static int body[10] = {0, 0, 0, 1, 1, 1, 1, 1, 1, 1};
    static double radius[10] = {0.01, 0.01}, plane[6] = {0, -1, 0, 0, 1, 0};
    static double x[30] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, 0.1, 0.2, 0.2, 1, 0.2, 1, 1, 3, 3,
        3, 4, 4, 4, 5, 5, 5, 6, 6, 6};
    static const char *const names[] = {"a", "b"};
    static const unsigned char fixed[2] = {0, 1};
    frames_topo t = {10, 1, 4, 2, 1, 1, 1, elem, tri, edge, point, body, radius, plane};
    frames_writer *w = frames_create(path, 3, 2, names);
    size_t n = 0;
    FILE *f;
    if (!w) return 0;
    frames_write_fixed(w, fixed);
    frames_write_topo(w, &t);
    frames_write(w, 0, 0.0, x);
    x[9] += 0.1;
    frames_write(w, 1, 0.1, x);
    frames_finish(w);
    f = fopen(path, "rb");
    if (f) n = fread(out, 1, room, f);
    if (f) fclose(f);
    return n;
}

/* Bytes as edits (offset, offset, value) of a good file at b, checksums mended. */
static inline void fuzz_edit_frames(uint8_t *b, size_t n, const uint8_t *data, size_t size)
{
    size_t i;
    for (i = 0; i + 2 < size; i += 3) b[(data[i] + 256u * data[i + 1]) % n] = data[i + 2];
    fuzz_mend(b, n);
}

#endif
