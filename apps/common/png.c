/* png.c - see png.h */
#include "png.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- deflate (RFC 1951), one block with the fixed code ---- */
typedef struct bits {
    unsigned char *out;
    size_t n, room;
    uint32_t hold;
    int have, failed;
} bits;

static void put(bits *b, uint32_t value, int count)
{
    b->hold |= value << b->have;
    b->have += count;
    while (b->have >= 8) {
        if (b->n == b->room) {
            unsigned char *more = realloc(b->out, b->room = 2 * b->room + 4096);
            if (!more) {
                b->failed = 1;
                b->n = 0;
                b->room = b->room / 2;
                return;
            }
            b->out = more;
        }
        b->out[b->n++] = (unsigned char)b->hold;
        b->hold >>= 8;
        b->have -= 8;
    }
}

/* Huffman codes go in from their highest bit. */
static void put_code(bits *b, uint32_t code, int count)
{
    uint32_t turned = 0;
    int i;
    for (i = 0; i < count; ++i) turned |= (code >> i & 1u) << (count - 1 - i);
    put(b, turned, count);
}

static void put_literal(bits *b, unsigned v)
{
    if (v < 144) put_code(b, 0x30 + v, 8);
    else if (v < 256) put_code(b, 0x190 + v - 144, 9);
    else if (v < 280) put_code(b, v - 256, 7);
    else put_code(b, 0xc0 + v - 280, 8);
}

/* Length 3..258 and distance 1..32768 as symbol and extra bits. */
static void put_match(bits *b, int length, int distance)
{
    int extra = 0, base, code, d = distance - 1;
    if (length == 258) put_literal(b, 285);
    else {
        base = length - 3;
        while (base >> (extra + 3)) ++extra; /* groups of four lengths per exponent */
        code = extra ? 4 * extra + (base >> extra) : base;
        put_literal(b, 257 + (unsigned)code);
        put(b, (uint32_t)(base & ((1 << extra) - 1)), extra);
    }
    for (extra = 0; d >> (extra + 2); ++extra) {}
    code = extra ? 2 * extra + (d >> extra) : d;
    put_code(b, (uint32_t)code, 5);
    put(b, (uint32_t)(d & ((1 << extra) - 1)), extra);
}

static uint32_t adler(const unsigned char *p, size_t n)
{
    uint32_t a = 1, c = 0;
    size_t i;
    for (i = 0; i < n; ++i) {
        a = (a + p[i]) % 65521;
        c = (c + a) % 65521;
    }
    return c << 16 | a;
}

static uint32_t hash3(const unsigned char *p)
{
    return ((uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2]) * 2654435761u >> 17;
}

unsigned char *png_deflate(const unsigned char *data, size_t size, size_t *out_size)
{
    enum { HASH = 1 << 15, WINDOW = 32768, TRIES = 16 };
    bits b;
    uint32_t sum = adler(data, size);
    size_t i = 0, k;
    size_t *head = malloc(HASH * sizeof *head), *prev = malloc(WINDOW * sizeof *prev);

    memset(&b, 0, sizeof b);
    if (!head || !prev) b.failed = 1;
    for (k = 0; head && k < HASH; ++k) head[k] = SIZE_MAX;
    put(&b, 0x78, 8);
    put(&b, 0x01, 8);
    put(&b, 1, 1); /* last block */
    put(&b, 1, 2); /* fixed code */
    while (i < size && !b.failed) {
        size_t best = 0, from = 0, at, step;
        uint32_t h = 0;
        if (size - i >= 3) {
            int tries;
            h = hash3(data + i);
            for (at = head[h], tries = 0; at != SIZE_MAX && i - at <= WINDOW - 1 && tries < TRIES;
                 at = prev[at % WINDOW], ++tries) {
                size_t n = 0, most = size - i < 258 ? size - i : 258;
                while (n < most && data[at + n] == data[i + n]) ++n;
                if (n > best) {
                    best = n;
                    from = at;
                }
                if (best == most) break;
            }
        }
        if (best >= 3) put_match(&b, (int)best, (int)(i - from));
        else put_literal(&b, data[i]);
        for (step = best >= 3 ? best : 1; step > 0; --step, ++i) {
            if (size - i < 3) continue;
            h = hash3(data + i);
            prev[i % WINDOW] = head[h];
            head[h] = i;
        }
    }
    put_literal(&b, 256);
    put(&b, 0, (8 - b.have) & 7);
    for (k = 4; k-- > 0;) put(&b, sum >> (8 * k) & 255, 8);
    free(head);
    free(prev);
    if (b.failed) {
        free(b.out);
        return NULL;
    }
    *out_size = b.n;
    return b.out;
}

/* ---- chunks ---- */
static uint32_t crc_of(uint32_t crc, const unsigned char *p, size_t n)
{
    size_t i;
    int k;
    crc = ~crc;
    for (i = 0; i < n; ++i) {
        crc ^= p[i];
        for (k = 0; k < 8; ++k) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}

static void put_be(unsigned char *p, uint32_t v)
{
    p[0] = (unsigned char)(v >> 24);
    p[1] = (unsigned char)(v >> 16);
    p[2] = (unsigned char)(v >> 8);
    p[3] = (unsigned char)v;
}

static void chunk(FILE *f, const char *tag, const unsigned char *data, size_t size)
{
    unsigned char word[4];
    uint32_t crc;
    put_be(word, (uint32_t)size);
    fwrite(word, 1, 4, f);
    fwrite(tag, 1, 4, f);
    if (size) fwrite(data, 1, size, f);
    crc = crc_of(0, (const unsigned char *)tag, 4);
    crc = crc_of(crc, data, size);
    put_be(word, crc);
    fwrite(word, 1, 4, f);
}

static int paeth(int a, int b, int c)
{
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

int png_write(const char *path, const unsigned char *rgb, int width, int height)
{
    static const unsigned char magic[8] = {137, 80, 78, 71, 13, 10, 26, 10};
    unsigned char head[13] = {0}, *raw, *packed = NULL;
    size_t row = 3 * (size_t)width, y, i, size = 0;
    char name[4096];
    FILE *f;
    int bad;

    raw = malloc((row + 1) * (size_t)height);
    if (raw) {
        for (y = 0; y < (size_t)height; ++y) { /* every row by the Paeth filter */
            unsigned char *to = raw + y * (row + 1);
            const unsigned char *at = rgb + y * row;
            *to++ = 4;
            for (i = 0; i < row; ++i) {
                int a = i >= 3 ? at[i - 3] : 0, b = y ? (at - row)[i] : 0;
                int c = y && i >= 3 ? (at - row)[i - 3] : 0;
                to[i] = (unsigned char)(at[i] - paeth(a, b, c));
            }
        }
        packed = png_deflate(raw, (row + 1) * (size_t)height, &size);
    }
    free(raw);
    if (!packed || snprintf(name, sizeof name, "%s.tmp", path) >= (int)sizeof name) {
        errno = packed ? ENAMETOOLONG : ENOMEM;
        free(packed);
        return 0;
    }
    f = fopen(name, "wb");
    if (!f) {
        free(packed);
        return 0;
    }
    put_be(head, (uint32_t)width);
    put_be(head + 4, (uint32_t)height);
    head[8] = 8;
    head[9] = 2;
    fwrite(magic, 1, 8, f);
    chunk(f, "IHDR", head, 13);
    chunk(f, "IDAT", packed, size);
    chunk(f, "IEND", head, 0);
    free(packed);
    bad = ferror(f);
    if (fclose(f) != 0) bad = 1;
    if (bad || rename(name, path) != 0) {
        remove(name);
        return 0;
    }
    return 1;
}
