/* Tests of gap-view: pictures against an inflate and a camera of the test's own, the program from
   its command line to its files, broken input, and the page in a real browser where there is one.
   The program is included whole; every run is a child process, so a crash is seen as one. */
#define main gap_view_program
#include "../apps/gap-view.c"
#undef main
#include "json.h"
#include "util.h"
#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------- oracle: PNG and inflate */
typedef struct bytes {
    unsigned char *b;
    size_t n;
} bytes;

static bytes slurp(const char *path)
{
    bytes s = {NULL, 0};
    FILE *f = fopen(path, "rb");
    size_t got;
    if (!f) return s;
    s.b = malloc(1);
    do {
        s.b = realloc(s.b, s.n + 65537);
        munit_assert_not_null(s.b);
        got = fread(s.b + s.n, 1, 65536, f);
        s.n += got;
    } while (got > 0);
    s.b[s.n] = 0;
    fclose(f);
    return s;
}

typedef struct stream {
    const unsigned char *p;
    size_t n, bit;
} stream;

static unsigned bit_of(stream *s)
{
    unsigned v;
    munit_assert_size(s->bit / 8, <, s->n);
    v = s->p[s->bit / 8] >> (s->bit % 8) & 1u;
    ++s->bit;
    return v;
}

static unsigned bits_of(stream *s, int n) /* lowest first */
{
    unsigned v = 0;
    int i;
    for (i = 0; i < n; ++i) v |= bit_of(s) << i;
    return v;
}

/* RFC 1951, 3.2.6: the fixed code, read bit by bit */
static unsigned symbol_of(stream *s)
{
    unsigned c = 0;
    int i;
    for (i = 0; i < 7; ++i) c = c << 1 | bit_of(s);
    if (c <= 0x17) return 256 + c;
    c = c << 1 | bit_of(s);
    if (c >= 0x30 && c <= 0xbf) return c - 0x30;
    if (c >= 0xc0 && c <= 0xc7) return 280 + c - 0xc0;
    c = c << 1 | bit_of(s);
    munit_assert_uint(c, >=, 0x190);
    return 144 + c - 0x190;
}

static bytes inflate_zlib(const unsigned char *p, size_t n)
{
    static const int base[29] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43,
        51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const int more[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4,
        4, 4, 5, 5, 5, 5, 0};
    static const int dbase[30] = {1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257,
        385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    bytes out = {NULL, 0};
    size_t room = 0, i;
    unsigned last = 0, a = 1, b = 0;
    stream s;
    munit_assert_size(n, >=, 6);
    munit_assert_uint(p[0] & 15, ==, 8);
    munit_assert_uint((p[0] * 256u + p[1]) % 31u, ==, 0);
    s.p = p + 2;
    s.n = n - 6;
    s.bit = 0;
    while (!last) {
        last = bit_of(&s);
        munit_assert_uint(bits_of(&s, 2), ==, 1);
        for (;;) {
            unsigned c = symbol_of(&s), len = 1, d = 0, k;
            if (c == 256) break;
            if (c > 256) {
                munit_assert_uint(c, <, 286);
                len = (unsigned)base[c - 257] + bits_of(&s, more[c - 257]);
                for (k = 0, d = 0; k < 5; ++k) d = d << 1 | bit_of(&s);
                munit_assert_uint(d, <, 30);
                d = (unsigned)dbase[d] + bits_of(&s, d < 2 ? 0 : (int)d / 2 - 1);
                munit_assert_size(d, <=, out.n);
            }
            if (out.n + len > room) {
                room = 2 * room + 4096;
                out.b = realloc(out.b, room);
                munit_assert_not_null(out.b);
            }
            for (k = 0; k < len; ++k, ++out.n) {
                out.b[out.n] = d ? out.b[out.n - d] : (unsigned char)c;
            }
        }
    }
    munit_assert_size((s.bit + 7) / 8, ==, s.n); /* nothing behind the stream */
    for (i = 0; i < out.n; ++i) {
        a = (a + out.b[i]) % 65521u;
        b = (b + a) % 65521u;
    }
    p += n - 4;
    munit_assert_uint(b << 16 | a, ==, (unsigned)p[0] << 24 | (unsigned)p[1] << 16 |
        (unsigned)p[2] << 8 | p[3]);
    return out;
}

static unsigned word(const unsigned char *p)
{
    return (unsigned)p[0] << 24 | (unsigned)p[1] << 16 | (unsigned)p[2] << 8 | p[3];
}

static unsigned crc_slow(const unsigned char *p, size_t n)
{
    unsigned c = 0xffffffffu;
    int k;
    for (; n > 0; --n, ++p) {
        for (c ^= *p, k = 0; k < 8; ++k) c = (c >> 1) ^ (c & 1u ? 0xedb88320u : 0u);
    }
    return ~c;
}

/* undoes one filtered byte: left, up, upper left */
static int unfilter(int type, int v, int a, int b, int c)
{
    int p = a + b - c, da = abs(p - a), db = abs(p - b), dc = abs(p - c);
    munit_assert_int(type, <=, 4);
    if (type == 1) return v + a;
    if (type == 2) return v + b;
    if (type == 3) return v + (a + b) / 2;
    if (type == 4) return v + (da <= db && da <= dc ? a : db <= dc ? b : c);
    return v;
}

/* the pixels of a PNG, 3 bytes each */
static unsigned char *png_pixels(const char *path, int *w, int *h)
{
    static const unsigned char magic[8] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    bytes f = slurp(path), raw, z = {NULL, 0};
    unsigned char *out;
    size_t at = 8, row, x, y;
    munit_assert_size(f.n, >, 57);
    munit_assert_memory_equal(8, f.b, magic);
    munit_assert_memory_equal(4, f.b + 12, "IHDR");
    *w = (int)word(f.b + 16);
    *h = (int)word(f.b + 20);
    munit_assert_memory_equal(5, f.b + 24, "\x08\x02\0\0\0");
    while (at < f.n) {
        size_t n = word(f.b + at);
        munit_assert_size(n, <=, f.n - at - 12);
        munit_assert_uint(crc_slow(f.b + at + 4, n + 4), ==, word(f.b + at + 8 + n));
        if (memcmp(f.b + at + 4, "IDAT", 4) == 0) {
            munit_assert_null(z.b);
            z.b = f.b + at + 8;
            z.n = n;
        }
        at += n + 12;
    }
    munit_assert_memory_equal(4, f.b + f.n - 8, "IEND");
    raw = inflate_zlib(z.b, z.n);
    row = 3 * (size_t)*w;
    munit_assert_size(raw.n, ==, (row + 1) * (size_t)*h);
    out = malloc(row * (size_t)*h);
    munit_assert_not_null(out);
    for (y = 0; y < (size_t)*h; ++y) for (x = 0; x < row; ++x) {
        unsigned char *o = out + y * row + x;
        int a = x >= 3 ? o[-3] : 0, b = y ? *(o - row) : 0, c = x >= 3 && y ? *(o - row - 3) : 0;
        *o = (unsigned char)unfilter(raw.b[y * (row + 1)], raw.b[y * (row + 1) + 1 + x], a, b, c);
    }
    free(raw.b);
    free(f.b);
    return out;
}

static MunitResult test_deflate(const MunitParameter p[], void *d)
{
    static unsigned char data[200000];
    size_t sizes[] = {0, 1, 2, 3, 4, 257, 258, 259, 260, 519, 32768, 32771, 70000, 200000}, i, k;
    int kind;
    (void)p; (void)d;
    for (kind = 0; kind < 4; ++kind) {
        for (i = 0; i < sizeof data; ++i) { /* noise, one value, few values, far repeats */
            data[i] = kind == 0 ? (unsigned char)munit_rand_uint32() : kind == 1 ? 7 :
                kind == 2 ? (unsigned char)(munit_rand_uint32() % 3) :
                i < 32767 ? (unsigned char)munit_rand_uint32() : data[i - 32767];
        }
        for (k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
            size_t n;
            unsigned char *z = png_deflate(data, sizes[k], &n);
            bytes back;
            munit_assert_not_null(z);
            back = inflate_zlib(z, n);
            munit_assert_size(back.n, ==, sizes[k]);
            if (sizes[k]) munit_assert_memory_equal(sizes[k], back.b, data);
            if (kind && sizes[k] == 200000) munit_assert_size(n, <, kind == 3 ? 60000 : 80000);
            free(back.b);
            free(z);
        }
    }
    return MUNIT_OK;
}

static MunitResult test_png(const MunitParameter p[], void *d)
{
    static const int size[][2] = {{1, 1}, {2, 3}, {7, 5}, {64, 1}, {1, 64}, {200, 120}};
    size_t k, i;
    (void)p; (void)d;
    for (k = 0; k < sizeof size / sizeof *size; ++k) {
        size_t n = 3 * (size_t)size[k][0] * (size_t)size[k][1];
        unsigned char *rgb = malloc(n), *back;
        int w, h;
        for (i = 0; i < n; ++i) {
            rgb[i] = (unsigned char)(k % 2 ? munit_rand_uint32() : i / 3 + 40 * (i % 3));
        }
        munit_assert_int(png_write("build/test_view.png", rgb, size[k][0], size[k][1]), ==, 1);
        back = png_pixels("build/test_view.png", &w, &h);
        munit_assert_int(w, ==, size[k][0]);
        munit_assert_int(h, ==, size[k][1]);
        munit_assert_memory_equal(n, back, rgb);
        free(back);
        free(rgb);
    }
    munit_assert_int(png_write("build/no/such/place.png", palette[0], 1, 1), ==, 0);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- the rasteriser */
enum { W = 160, H = 120 };

/* straight on: eye at (0, 0, 10), so that (x, y, z) is seen at H/2 / tan(angle/2) / (10 - z) */
static raster_view front(void)
{
    raster_view v;
    memset(&v, 0, sizeof v);
    v.eye[2] = 10.0;
    v.up[1] = 1.0;
    v.angle = 40.0;
    v.light[2] = 1.0;
    return v;
}

static void seen_at(const double *x, double out[2])
{
    double f = 0.5 * H / tan(20.0 * UTIL_PI / 180.0) / (10.0 - x[2]);
    out[0] = 0.5 * W + f * x[0];
    out[1] = 0.5 * H - f * x[1];
}

static const double wide[6] = {-4, -4, -4, 4, 4, 4};

static const unsigned char *pixel(const unsigned char *image, double u, double v)
{
    munit_assert_true(u >= 0 && v >= 0 && u < W && v < H);
    return image + 3 * ((size_t)v * W + (size_t)u);
}

/* Of random triangles the nearest at a point decides, whatever the order. */
static MunitResult test_depth(const MunitParameter p[], void *d)
{
    raster *r = raster_open(W, H, 2);
    raster_view view = front();
    int round, t, i;
    (void)p; (void)d;
    munit_assert_not_null(r);
    for (round = 0; round < 40; ++round) {
        double x[27], best = -HUGE_VAL, c[2];
        int tri[9], near_tri = -1;
        float color[9];
        const unsigned char *image, *px;
        for (t = 0; t < 3; ++t) { /* tilted, each over the point (0.3, 0.2) */
            double a = util_uniform(-0.2, 0.2), b = util_uniform(-0.2, 0.2);
            double z0 = util_uniform(-3, 3), z = z0 + a * 0.3 + b * 0.2;
            static const double corner[6] = {-2, -1.5, 2, -1.6, 0.1, 2};
            for (i = 0; i < 3; ++i) {
                double *q = x + 9 * t + 3 * i;
                q[0] = corner[2 * i];
                q[1] = corner[2 * i + 1];
                q[2] = z0 + a * q[0] + b * q[1];
                tri[3 * t + i] = 3 * t + i;
                color[3 * t + i] = t == i ? 1.0f : 0.0f;
            }
            if (z > best) {
                best = z;
                near_tri = t;
            }
        }
        /* the ray through (0.3, 0.2, best) meets the others elsewhere: only clear cases count */
        raster_begin(r, &view, wide);
        raster_triangles(r, x, tri, 3, color, 0);
        image = raster_image(r);
        {
            double q[3] = {0.3, 0.2, best}, depth[3];
            int clear = 1;
            for (t = 0; t < 3; ++t) { /* intersect the ray with plane t */
                const double *a = x + 9 * t, *b = a + 3, *e = a + 6;
                double n[3], dir[3] = {q[0], q[1], q[2] - 10.0}, num = 0, den = 0;
                n[0] = (b[1] - a[1]) * (e[2] - a[2]) - (b[2] - a[2]) * (e[1] - a[1]);
                n[1] = (b[2] - a[2]) * (e[0] - a[0]) - (b[0] - a[0]) * (e[2] - a[2]);
                n[2] = (b[0] - a[0]) * (e[1] - a[1]) - (b[1] - a[1]) * (e[0] - a[0]);
                for (i = 0; i < 3; ++i) {
                    num += n[i] * (a[i] - (i == 2 ? 10.0 : 0.0));
                    den += n[i] * dir[i];
                }
                depth[t] = num / den;
            }
            for (t = 0; t < 3; ++t) if (depth[t] < depth[near_tri]) near_tri = t;
            for (t = 0; t < 3; ++t) {
                if (t != near_tri && depth[t] < depth[near_tri] + 0.02) clear = 0;
            }
            if (!clear) continue;
            seen_at(q, c);
        }
        px = pixel(image, c[0], c[1]);
        for (i = 0; i < 3; ++i) {
            if (i == near_tri) munit_assert_int(px[i], >, 40);
            else munit_assert_int(px[i], ==, 0);
        }
    }
    raster_close(r);
    return MUNIT_OK;
}

/* Black on white: the darkness of all pixels is the triangle's area on the screen. */
static MunitResult test_coverage(const MunitParameter p[], void *d)
{
    raster *r = raster_open(W, H, 3);
    raster_view view = front();
    static const int tri[3] = {0, 1, 2};
    static const float black[3] = {0, 0, 0};
    unsigned char *empty = malloc(3 * W * H);
    int round, i;
    (void)p; (void)d;
    raster_begin(r, &view, wide);
    memcpy(empty, raster_image(r), 3 * W * H);
    for (round = 0; round < 30; ++round) {
        double x[9], q[3][2], area, dark = 0.0;
        const unsigned char *image;
        for (i = 0; i < 9; ++i) x[i] = util_uniform(-2.5, 2.5);
        for (i = 0; i < 3; ++i) seen_at(x + 3 * i, q[i]);
        area = 0.5 * fabs((q[1][0] - q[0][0]) * (q[2][1] - q[0][1]) -
            (q[2][0] - q[0][0]) * (q[1][1] - q[0][1]));
        raster_begin(r, &view, wide);
        raster_triangles(r, x, tri, 1, black, 0);
        image = raster_image(r);
        for (i = 0; i < W * H; ++i) dark += 1.0 - (double)image[3 * i] / empty[3 * i];
        munit_assert_double(fabs(dark - area), <, 2.0 + 0.01 * area);
    }
    free(empty);
    raster_close(r);
    return MUNIT_OK;
}

/* A plate cut into random triangles has no holes, and nothing lies outside of it. */
static MunitResult test_no_holes(const MunitParameter p[], void *d)
{
    enum { N = 9 };
    raster *r = raster_open(W, H, 1);
    raster_view view = front();
    double x[3 * (N + 1) * (N + 1)], c[2];
    int tri[6 * N * N], i, j, n = 0, u, v;
    float black[6 * N * N];
    const unsigned char *image;
    (void)p; (void)d;
    memset(black, 0, sizeof black);
    for (i = 0; i <= N; ++i) for (j = 0; j <= N; ++j) {
        double *q = x + 3 * (i * (N + 1) + j);
        int edge = i == 0 || j == 0 || i == N || j == N;
        q[0] = -2.0 + 4.0 / N * (i + (edge ? 0.0 : util_uniform(-0.3, 0.3)));
        q[1] = -2.0 + 4.0 / N * (j + (edge ? 0.0 : util_uniform(-0.3, 0.3)));
        q[2] = 0.0;
    }
    for (i = 0; i < N; ++i) for (j = 0; j < N; ++j) {
        int a = i * (N + 1) + j, b = a + N + 1, t[6];
        t[0] = a; t[1] = b; t[2] = a + 1; t[3] = b; t[4] = b + 1; t[5] = a + 1;
        memcpy(tri + n, t, sizeof t);
        n += 6;
    }
    raster_begin(r, &view, wide);
    raster_triangles(r, x, tri, n / 3, black, 0);
    image = raster_image(r);
    seen_at(x + 3 * ((N + 1) * (N + 1) - 1), c); /* upper right corner */
    for (v = 0; v < H; ++v) for (u = 0; u < W; ++u) {
        double dx = fabs(u + 0.5 - 0.5 * W) - (c[0] - 0.5 * W);
        double dy = fabs(v + 0.5 - 0.5 * H) - (0.5 * H - c[1]);
        if (dx < -1e-6 && dy < -1e-6) munit_assert_int(image[3 * (v * W + u)], ==, 0);
        if (dx > 1e-6 || dy > 1e-6) munit_assert_int(image[3 * (v * W + u)], >, 200);
    }
    raster_close(r);
    return MUNIT_OK;
}

/* A fitted view holds every point and wastes no more than its margin. */
static MunitResult test_camera(const MunitParameter p[], void *d)
{
    int round, i, k;
    (void)p; (void)d;
    for (round = 0; round < 300; ++round) {
        double x[24], b[3], r[3], u[3], n = 0.0, most = 0.0, half = tan(17.5 * UTIL_PI / 180.0);
        int w = munit_rand_int_range(50, 900), h = munit_rand_int_range(50, 900);
        double scale = ldexp(1.0, munit_rand_int_range(-20, 20)), low[3], high[3];
        raster_view v;
        for (k = 0; k < 3; ++k) {
            low[k] = scale * util_uniform(-5, 5);
            high[k] = low[k] + scale * util_uniform(0.1, 5);
        }
        for (i = 0; i < 24; ++i) x[i] = i / 3 >> i % 3 & 1 ? high[i % 3] : low[i % 3];
        v = raster_fit(x, 8, util_uniform(-200, 200), util_uniform(-90, 90), 1.0, w, h);
        for (k = 0; k < 3; ++k) n += pow(b[k] = v.eye[k] - v.at[k], 2);
        for (k = 0; k < 3; ++k) b[k] /= sqrt(n);
        r[0] = v.up[1] * b[2] - v.up[2] * b[1];
        r[1] = v.up[2] * b[0] - v.up[0] * b[2];
        r[2] = v.up[0] * b[1] - v.up[1] * b[0];
        n = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
        for (k = 0; k < 3; ++k) r[k] /= n;
        u[0] = b[1] * r[2] - b[2] * r[1];
        u[1] = b[2] * r[0] - b[0] * r[2];
        u[2] = b[0] * r[1] - b[1] * r[0];
        for (i = 0; i < 8; ++i) {
            double a = 0.0, c = 0.0, z = 0.0;
            for (k = 0; k < 3; ++k) {
                double e = x[3 * i + k] - v.eye[k];
                a += e * r[k];
                c += e * u[k];
                z -= e * b[k];
            }
            munit_assert_double(z, >, 0.0);
            a = fabs(a) / z / (half * w / h);
            c = fabs(c) / z / half;
            munit_assert_double(fmax(a, c), <, 1.0);
            most = fmax(most, fmax(a, c));
        }
        munit_assert_double(most, >, 0.75);
    }
    return MUNIT_OK;
}

/* The ground is darker under a plate, and only there; what is behind the eye is not drawn. */
static MunitResult test_shadow(const MunitParameter p[], void *d)
{
    raster *r = raster_open(W, H, 2);
    raster_view view = front();
    static const double plate[12] = {-1, 0, -1, 1, 0, -1, 1, 0, 1, -1, 0, 1};
    static const double behind[9] = {-1, -1, 11, 1, -1, 11, 0, 1, 11};
    static const double zero[3] = {0, 0, 0};
    static const int tri[6] = {0, 1, 2, 0, 2, 3};
    static const float red[6] = {1, 0, 0, 1, 0, 0};
    double under[3] = {0, -2, 0}, beside[3] = {2.5, -2, 0}, c[2];
    unsigned char *before = malloc(3 * W * H);
    const unsigned char *image;
    int shade, light;
    (void)p; (void)d;
    view.light[1] = 1.0;
    view.light[2] = 0.0;
    view.eye[1] = 0.5; /* a little from above; seen_at is for a level eye, so check by search */
    raster_begin(r, &view, wide);
    memcpy(before, raster_image(r), 3 * W * H);
    raster_triangles(r, behind, tri, 1, red, 0);
    munit_assert_memory_equal(3 * W * H, raster_image(r), before);
    view.eye[1] = 0.0;
    view.at[1] = 0.0;
    raster_begin(r, &view, wide);
    raster_cast(r, plate, tri, 2);
    raster_triangles(r, plate, tri, 2, red, 0);
    raster_ground(r, -2.0, zero, 20.0);
    image = raster_image(r);
    seen_at(under, c);
    shade = pixel(image, c[0], c[1])[0];
    seen_at(beside, c);
    light = pixel(image, c[0], c[1])[0];
    munit_assert_int(shade, <, light - 40);
    munit_assert_int(light, >, 200);
    munit_assert_int(pixel(image, W / 2, 2)[0], >, 240); /* above the horizon: untouched */
    free(before);
    raster_close(r);
    return MUNIT_OK;
}

/* Grains and rods throw shadows too, the thick ones as wide as they are. */
static MunitResult test_round_shadow(const MunitParameter p[], void *d)
{
    static const double x[6] = {-1, 0, 0, 1, 0, 0}, zero[3] = {0, 0, 0}, radius[2] = {0.8, 0.8};
    static const int edge[2] = {0, 1}, point[1] = {0};
    static const float red[3] = {1, 0, 0};
    raster *r = raster_open(W, H, 2);
    raster_view view = front();
    /* 9 pixels are 0.27 here; a pixel of the ground spans 0.3 in depth */
    double at[3][3] = {{-1, -2, 0}, {0.2, -2, 0}, {-1, -2, 0.45}}, c[2];
    int round, thick, i, dark[3];
    (void)p; (void)d;
    view.light[1] = 1.0;
    view.light[2] = 0.0;
    for (round = 0; round < 2; ++round) for (thick = 0; thick < 2; ++thick) {
        raster_begin(r, &view, wide);
        if (round) raster_cast_lines(r, x, edge, 1, thick ? radius : NULL, 9.0);
        else raster_cast_points(r, x, point, 1, thick ? radius : NULL, 9.0);
        if (round) raster_lines(r, x, edge, 1, red, thick ? radius : NULL, 9.0);
        else raster_points(r, x, point, 1, red, thick ? radius : NULL, 9.0);
        raster_ground(r, -2.0, zero, 20.0);
        for (i = 0; i < 3; ++i) {
            seen_at(at[i], c);
            dark[i] = pixel(raster_image(r), c[0], c[1])[0];
        }
        munit_assert_int(dark[0], <, 190);
        if (round) munit_assert_int(dark[1], <, 190);
        else munit_assert_int(dark[1], >, 200);
        if (thick) munit_assert_int(dark[2], <, 190);
        else munit_assert_int(dark[2], >, 200);
    }
    raster_close(r);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- the program, run */
#define DIR "build/view"
static char said[8192]; /* both streams of the last run */

/* Exit code of gap-view with these words (separated by one space), or -1 if it died. */
static int view(const char *words)
{
    char line[1024], *argv[20], *q;
    int argc = 0, status;
    bytes out;
    pid_t child;
    snprintf(line, sizeof line, "gap-view %s", words);
    for (q = strtok(line, " "); q && argc < 19; q = strtok(NULL, " ")) argv[argc++] = q;
    argv[argc] = NULL;
    fflush(NULL);
    child = fork();
    munit_assert_int(child, >=, 0);
    if (child == 0) {
        if (!freopen(DIR "/said.txt", "w", stdout)) _exit(99);
        if (dup2(1, 2) != 2) _exit(99);
        setvbuf(stderr, NULL, _IONBF, 0);
        alarm(20); /* a hang is a failure */
        status = gap_view_program(argc, argv);
        fflush(NULL);
        _exit(status);
    }
    munit_assert_int(waitpid(child, &status, 0), ==, child);
    out = slurp(DIR "/said.txt");
    snprintf(said, sizeof said, "%s", out.b ? (char *)out.b : "");
    free(out.b);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(const char *words, int want, const char *message)
{
    int got = view(words);
    if (got != want || !strstr(said, message)) {
        munit_errorf("gap-view %s: exit %d, wanted %d and \"%s\" in: %s", words, got, want, message,
            said);
    }
}

static int exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* A ball of 8 x n triangles falling on a sheet that gives way, a rod, grains, two planes. */
enum { FRAMES = 12, NODES = 600 };

typedef struct model {
    frames_topo t;
    double x[3 * NODES], rest[3 * NODES], plane[12];
    int tri[6 * NODES], edge[64], point[64], body[NODES];
} model;

static model M;

static int add(double x, double y, double z, int body)
{
    int n = M.t.nodes++;
    M.rest[3 * n] = x;
    M.rest[3 * n + 1] = y;
    M.rest[3 * n + 2] = z;
    M.body[n] = body;
    return n;
}

static void quad(int a, int b, int c, int e)
{
    int t[6];
    t[0] = a; t[1] = b; t[2] = c; t[3] = a; t[4] = c; t[5] = e;
    memcpy(M.tri + 3 * M.t.tris, t, sizeof t);
    M.t.tris += 2;
}

static void make_model(void)
{
    static const double plane[12] = {0, -0.6, 0, 0, 1, 0, 0, 0, -1.5, 0, 0, 1};
    int i, j, first;
    memset(&M, 0, sizeof M);
    M.t.tri = M.tri; M.t.edge = M.edge; M.t.point = M.point; M.t.body = M.body;
    M.t.plane = M.plane;
    memcpy(M.plane, plane, sizeof plane);
    M.t.planes = 2;
    for (i = 0; i < 11; ++i) for (j = 0; j < 16; ++j) { /* ball, poles closed by tiny rings */
        double a = UTIL_PI * (i + 0.02) / 10.04, b = 2 * UTIL_PI * j / 16;
        add(0.5 * sin(a) * cos(b), 0.7 + 0.5 * cos(a), 0.5 * sin(a) * sin(b), 0);
    }
    for (i = 0; i < 10; ++i) for (j = 0; j < 16; ++j) {
        int k = (j + 1) % 16;
        quad(16 * i + j, 16 * i + k, 16 * i + 16 + k, 16 * i + 16 + j);
    }
    first = M.t.nodes;
    for (i = 0; i <= 14; ++i) for (j = 0; j <= 14; ++j) {
        add(-1.0 + i / 7.0, 0.0, -1.0 + j / 7.0, 1);
    }
    for (i = 0; i < 14; ++i) for (j = 0; j < 14; ++j) {
        int a = first + 15 * i + j;
        quad(a, a + 1, a + 16, a + 15);
    }
    for (i = 0; i < 8; ++i) {
        int n = add(1.2, 0.1 * i, 0.05 * i * i - 0.5, 2);
        if (i) {
            M.edge[2 * M.t.edges] = n - 1;
            M.edge[2 * M.t.edges++ + 1] = n;
        }
    }
    for (i = 0; i < 9; ++i) M.point[M.t.points++] = add(-1.2, 0.15 * i, 0.1 * (i % 3), 3);
}

static void move_model(int k, double scale)
{
    double deep = 0.25 * k / (FRAMES - 1), drop = k < 2 ? 0.1 * k : 0.2 - 0.004 + deep;
    int i;
    memcpy(M.x, M.rest, sizeof M.x);
    for (i = 0; i < M.t.nodes; ++i) {
        double *x = M.x + 3 * i;
        if (M.body[i] == 0) x[1] -= drop;
        if (M.body[i] == 1) x[1] -= deep * exp(-4.0 * (x[0] * x[0] + x[2] * x[2]));
        if (M.body[i] == 3) x[1] -= 0.02 * k;
    }
    for (i = 0; i < 3 * M.t.nodes; ++i) M.x[i] *= scale;
}

static void write_frames(const char *path, double scale)
{
    static const char *const names[] = {"ball </script>", "sheet \"q\"", "rod", "grains"};
    frames_writer *w = frames_create(path, 3, 4, names);
    int k;
    make_model();
    for (k = 0; k < 12; k += 6) {
        int i;
        for (i = 0; i < 3; ++i) M.plane[k + i] *= scale;
    }
    munit_assert_not_null(w);
    munit_assert_int(frames_write_topo(w, &M.t), ==, 1);
    for (k = 0; k < FRAMES; ++k) {
        move_model(k, scale);
        munit_assert_int(frames_write(w, k, 0.05 * k, M.x), ==, 1);
    }
    munit_assert_int(frames_finish(w), ==, 1);
}

static void write_run(void)
{
    FILE *f;
    int k;
    mkdir("build", 0777);
    mkdir(DIR, 0777);
    write_frames(DIR "/frames.gapf", 1.0);
    f = fopen(DIR "/stats.csv", "w");
    munit_assert_not_null(f);
    fprintf(f, "step,time,newton,contacts,min_distance,kinetic\n");
    for (k = 0; k < FRAMES; ++k) {
        fprintf(f, "%d,%g,%d,%d,%g,%s\n", k, 0.05 * k, 3 + k % 4, 7 * k, 0.001 * (k + 1),
            k % 5 ? "1.25" : "nan");
    }
    fclose(f);
}

static void put_file(const char *path, const unsigned char *b, size_t n)
{
    FILE *f = fopen(path, "wb");
    munit_assert_not_null(f);
    munit_assert_size(fwrite(b, 1, n, f), ==, n);
    fclose(f);
}

/* ---- what is in the page ---- */

/* The text of the k-th element that starts with `start`, up to the end of the script. */
static char *element(const char *page, const char *start, int k)
{
    const char *q = page, *end;
    char *out;
    for (; k >= 0 && (q = strstr(q, start)) != NULL; --k) q += strlen(start);
    if (!q) return NULL;
    end = strstr(q, "</script>");
    munit_assert_not_null(end);
    out = malloc((size_t)(end - q) + 1);
    memcpy(out, q, (size_t)(end - q));
    out[end - q] = '\0';
    return out;
}

static bytes base64(const char *s)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bytes out = {malloc(strlen(s) + 1), 0};
    unsigned hold = 0;
    int have = 0;
    munit_assert_size(strlen(s) % 4, ==, 0);
    for (; *s && *s != '='; ++s) {
        const char *q = strchr(digit, *s);
        munit_assert_not_null(q);
        hold = hold << 6 | (unsigned)(q - digit);
        if ((have += 6) >= 8) out.b[out.n++] = (unsigned char)(hold >> (have -= 8) & 255u);
    }
    return out;
}

static double number_at(const json *a, const char *name, int i)
{
    const json *v = json_get(a, name);
    munit_assert_not_null(v);
    return json_at(v, i)->number;
}

static MunitResult test_page(const MunitParameter p[], void *d)
{
    bytes page, data;
    char *meta, *frame, *topo;
    json *m, *t;
    int k, i, c;
    (void)p; (void)d;
    write_run();
    remove(DIR "/view.html");
    expect(DIR, 0, "12 frames");
    munit_assert_false(exists(DIR "/view.html.tmp"));
    page = slurp(DIR "/view.html");
    munit_assert_null(strstr((char *)page.b, "<!--GAP_DATA-->"));
    munit_assert_null(strstr((char *)page.b, "http://"));
    munit_assert_null(strstr((char *)page.b, "https://"));
    meta = element((char *)page.b, "<script id=\"meta\" type=\"application/json\">", 0);
    m = json_parse(meta, strlen(meta), NULL);
    munit_assert_not_null(m);
    munit_assert_string_equal(json_get(m, "title")->string, "view");
    munit_assert_string_equal(json_at(json_get(m, "bodies"), 0)->string, "ball </script>");
    munit_assert_string_equal(json_at(json_get(m, "bodies"), 1)->string, "sheet \"q\"");
    munit_assert_int(json_get(m, "frames")->count, ==, FRAMES);
    munit_assert_int(json_get(json_get(m, "stats"), "rows")->count, ==, FRAMES);
    topo = element((char *)page.b, "<script class=\"topo\" type=\"application/json\">", 0);
    t = json_parse(topo, strlen(topo), NULL);
    munit_assert_not_null(t);
    munit_assert_int((int)json_get(t, "nodes")->number, ==, M.t.nodes);
    munit_assert_double(number_at(t, "planes", 1), ==, -0.6);
    move_model(FRAMES - 1, 1.0); /* the ball falls farthest, by what move_model says */
    munit_assert_double(fabs(json_get(json_get(m, "range"), "displacement")->number - 0.446), <,
        1e-6);
    data = base64(json_get(t, "tri")->string);
    munit_assert_size(data.n, ==, 12 * (size_t)M.t.tris);
    for (i = 0; i < 3 * M.t.tris; ++i) {
        munit_assert_int(data.b[4 * i] + 256 * data.b[4 * i + 1], ==, M.tri[i]);
    }
    free(data.b);
    for (k = 0; k < FRAMES; ++k) { /* every position within half a step */
        frame = element((char *)page.b, "<script class=\"frame\" type=\"text/plain\">", k);
        munit_assert_not_null(frame);
        data = base64(frame);
        munit_assert_size(data.n, ==, 7 * (size_t)M.t.nodes);
        move_model(k, 1.0);
        for (i = 0; i < 3 * M.t.nodes; ++i) {
            double step;
            c = i % 3;
            step = number_at(m, "size", c) / 65535.0;
            munit_assert_double(fabs(number_at(m, "low", c) + step *
                (data.b[2 * i] + 256 * data.b[2 * i + 1]) - M.x[i]), <, 0.5001 * step);
        }
        free(data.b);
        free(frame);
    }
    json_free(m);
    json_free(t);
    free(meta);
    free(topo);
    free(page.b);
    return MUNIT_OK;
}

/* The eighth of a frame that is the distance to contact, against all pairs of the test's own. */
static double to_triangle(const double *v, const double *a, const double *b, const double *c)
{
    double best = HUGE_VAL, d;
    int i, j, k, n = 60;
    for (i = 0; i <= n; ++i) for (j = 0; i + j <= n; ++j) { /* by sampling, so only roughly */
        for (d = 0.0, k = 0; k < 3; ++k) {
            d += pow(v[k] - a[k] - (b[k] - a[k]) * i / n - (c[k] - a[k]) * j / n, 2);
        }
        if (d < best) best = d;
    }
    return sqrt(best);
}

static MunitResult test_distance(const MunitParameter p[], void *d)
{
    bytes page, data;
    char *frame;
    double far_, near_;
    int i, t, k, reds = 0;
    json *m;
    (void)p; (void)d;
    write_run();
    expect(DIR, 0, "12 frames");
    page = slurp(DIR "/view.html");
    frame = element((char *)page.b, "<script id=\"meta\" type=\"application/json\">", 0);
    m = json_parse(frame, strlen(frame), NULL);
    munit_assert_not_null(m);
    far_ = json_get(m, "far")->number;
    near_ = json_get(m, "near")->number;
    json_free(m);
    free(frame);
    frame = element((char *)page.b, "<script class=\"frame\" type=\"text/plain\">", FRAMES - 1);
    data = base64(frame);
    move_model(FRAMES - 1, 1.0);
    for (i = 0; i < 160; ++i) { /* nodes of the ball against the sheet: only they can be near */
        double least = HUGE_VAL, stored;
        int v = data.b[6 * M.t.nodes + i];
        for (t = 0; t < M.t.tris; ++t) {
            const int *q = M.tri + 3 * t;
            double e, gap = HUGE_VAL;
            if (M.body[q[0]] != 1) continue;
            for (k = 0; k < 3; ++k) gap = fmin(gap, fabs(M.x[3 * q[k]] - M.x[3 * i]) +
                fabs(M.x[3 * q[k] + 2] - M.x[3 * i + 2]));
            if (gap > 0.4) continue;
            e = to_triangle(M.x + 3 * i, M.x + 3 * q[0], M.x + 3 * q[1], M.x + 3 * q[2]);
            least = fmin(least, e);
        }
        stored = far_ * pow(near_ / far_, v / 255.0);
        if (least > 1.2 * far_) munit_assert_int(v, ==, 0);
        if (v > 0) munit_assert_double(stored, <, 1.05 * least + 2e-3);
        reds += v > 0;
    }
    munit_assert_int(reds, >, 0);
    free(frame);
    free(data.b);
    free(page.b);
    return MUNIT_OK;
}

/* ---- pictures ---- */
static unsigned long hash_of(const char *path)
{
    bytes b = slurp(path);
    unsigned long h = 5381;
    size_t i;
    munit_assert_size(b.n, >, 100);
    for (i = 0; i < b.n; ++i) h = h * 33 + b.b[i];
    free(b.b);
    return h;
}

static MunitResult test_pictures(const MunitParameter p[], void *d)
{
    static const char *const color[] = {"body", "speed", "displacement", "strain", "distance"};
    unsigned long h[5];
    unsigned char *image;
    char words[256];
    int i, j, w, hgt;
    (void)p; (void)d;
    write_run();
    for (i = 0; i < 5; ++i) {
        snprintf(words, sizeof words, DIR " --png " DIR "/%s.png --size 320x200 --color %s",
            color[i], color[i]);
        expect(words, 0, "320x200");
        snprintf(words, sizeof words, DIR "/%s.png", color[i]);
        h[i] = hash_of(words);
        for (j = 0; j < i; ++j) munit_assert_true(h[i] != h[j]);
        image = png_pixels(words, &w, &hgt);
        munit_assert_int(w * hgt, ==, 64000);
        free(image);
    }
    expect(DIR " --png " DIR "/a.png --size 320x200 --frame 3", 0, "");
    expect(DIR " --png " DIR "/b.png --size 320x200 --frame -9", 0, "");
    munit_assert_ulong(hash_of(DIR "/a.png"), ==, hash_of(DIR "/b.png"));
    munit_assert_ulong(hash_of(DIR "/a.png"), !=, h[0]);
    expect(DIR " --png " DIR "/sheet.png --size 640x400 --sheet 4 --color speed", 0, "speed up to");
    expect(DIR "/frames.gapf --png " DIR "/c.png --size 320x200 --camera 90,0,2 --no-edges", 0, "");
    expect(DIR " --png " DIR "/no.png --frame 12", 2, "no frame 12 (there are 12)");
    expect(DIR " --png " DIR "/no.png --frame -13", 2, "no frame");
    expect(DIR " --png " DIR "/no/no.png --size 80x80", 3, "cannot write");
    munit_assert_false(exists(DIR "/no.png"));
    return MUNIT_OK;
}

/* A sheet's tiles are the pictures themselves. */
static MunitResult test_sheet(const MunitParameter p[], void *d)
{
    unsigned char *sheet_, *one;
    int w, h, y;
    (void)p; (void)d;
    write_run();
    expect(DIR " --png " DIR "/sheet.png --size 320x200 --sheet 4", 0, "");
    expect(DIR " --png " DIR "/one.png --size 160x100 --frame -1", 0, "");
    sheet_ = png_pixels(DIR "/sheet.png", &w, &h);
    one = png_pixels(DIR "/one.png", &w, &h);
    for (y = 0; y < 100; ++y) {
        munit_assert_memory_equal(480, sheet_ + 3 * (320 * (100 + y) + 160), one + 480 * y);
    }
    free(sheet_);
    free(one);
    return MUNIT_OK;
}

/* A scene scaled by a power of two gives the same picture, bit by bit. */
static MunitResult test_scale(const MunitParameter p[], void *d)
{
    static const int power[] = {-60, -20, -10, 10, 20, 60};
    unsigned long h;
    size_t i;
    (void)p; (void)d;
    write_run();
    expect(DIR " --png " DIR "/a.png --size 160x100 --color distance", 0, "");
    h = hash_of(DIR "/a.png");
    for (i = 0; i < sizeof power / sizeof *power; ++i) {
        write_frames(DIR "/scaled.gapf", ldexp(1.0, power[i]));
        expect(DIR "/scaled.gapf --png " DIR "/b.png --size 160x100 --color distance", 0, "");
        munit_assert_ulong(hash_of(DIR "/b.png"), ==, h);
    }
    return MUNIT_OK;
}

/* ---- bad input ---- */
static MunitResult test_usage(const MunitParameter p[], void *d)
{
    (void)p; (void)d;
    write_run();
    expect("--help", 0, "usage: gap-view");
    expect("--version", 0, "gap-view 0.1.0");
    expect("", 2, "no input");
    expect(DIR " " DIR, 2, "two inputs");
    expect(DIR " --colour body", 2, "unknown option --colour");
    expect(DIR " --png", 2, "its value is missing");
    expect(DIR " --color red", 2, "bad value red");
    expect(DIR " --size 10", 2, "bad value 10");
    expect(DIR " --size 99999x9", 2, "bad value");
    expect(DIR " --camera 1,2", 2, "bad value");
    expect(DIR " --camera nan,0,1", 2, "bad value");
    expect(DIR " --every 0", 2, "bad value 0");
    expect(DIR " --frame 1x", 2, "bad value 1x");
    expect(DIR " --png build/view/x.png --sheet 300 --size 64x64", 2, "too small");
    expect("build/view/nowhere", 2, "build/view/nowhere: No such file");
    mkdir(DIR "/empty", 0777);
    expect(DIR "/empty", 2, "build/view/empty/frames.gapf: ");
    expect(DIR "/stats.csv --html build/view/bad.html", 2, "gap-view: build/view/stats.csv: ");
    expect(DIR " --html build/view/no/page.html", 2, "build/view/no/page.html: ");
    munit_assert_false(exists(DIR "/bad.html"));
    munit_assert_false(exists(DIR "/x.png"));
    return MUNIT_OK;
}

/* Either a page of the frames that are whole, and a word about the rest, or exit 2 and no page. */
static void broken_file(const unsigned char *b, size_t n)
{
    int rc;
    remove(DIR "/broken.html");
    put_file(DIR "/broken.gapf", b, n);
    rc = view(DIR "/broken.gapf --html build/view/broken.html --every 4");
    if (rc != 0 && rc != 2) munit_errorf("exit %d of %lu bytes: %s", rc, (unsigned long)n, said);
    munit_assert_int(exists(DIR "/broken.html"), ==, rc == 0);
    munit_assert_false(exists(DIR "/broken.html.tmp"));
    munit_assert_not_null(strstr(said, "gap-view: build/view/broken.gapf: "));
}

static MunitResult test_broken(const MunitParameter p[], void *d)
{
    bytes whole_;
    int i, n = util_count(25, 400);
    (void)p; (void)d;
    write_run();
    whole_ = slurp(DIR "/frames.gapf");
    for (i = 0; i < n; ++i) { /* cut; a cut between chunks is a shorter file and no damage */
        size_t cut = (size_t)(util_uniform(0.0, 1.0) * (double)whole_.n) | 1;
        broken_file(whole_.b, cut < whole_.n ? cut : whole_.n - 1);
    }
    for (i = 0; i < n; ++i) {
        size_t at = (size_t)(util_uniform(0.0, 1.0) * (double)whole_.n);
        unsigned char bit = (unsigned char)(1 << munit_rand_int_range(0, 7));
        if (i % 2) at %= 400; /* heads */
        whole_.b[at] ^= bit;
        broken_file(whole_.b, whole_.n);
        whole_.b[at] ^= bit;
    }
    free(whole_.b);
    put_file(DIR "/broken.gapf", (const unsigned char *)"", 0);
    expect(DIR "/broken.gapf", 2, "empty file");
    return MUNIT_OK;
}

static void chunk_seal(unsigned char *head, size_t size)
{
    unsigned char *all = malloc(size + 12);
    unsigned c, i;
    memcpy(all, head, 4);
    memcpy(all + 4, head + 8, size + 8);
    c = crc_slow(all, size + 12);
    for (i = 0; i < 4; ++i) head[4 + i] = (unsigned char)(c >> (8 * i));
    free(all);
}

/* Counts, node numbers and positions that lie, under checksums that are right. */
static MunitResult test_lies(const MunitParameter p[], void *d)
{
    bytes b;
    size_t at, size, i;
    (void)p; (void)d;
    write_run();
    b = slurp(DIR "/frames.gapf");
    for (at = 0; memcmp(b.b + at, "TOPO", 4) != 0; at += 16 + ((size + 7) & ~(size_t)7)) {
        size = b.b[at + 8] + 256u * b.b[at + 9];
    }
    size = b.b[at + 8] + 256u * b.b[at + 9] + 65536u * b.b[at + 10];
    for (i = 0; i < 7; ++i) { /* each count as large as can be */
        unsigned char old = b.b[at + 16 + 4 * i + 3];
        b.b[at + 16 + 4 * i + 3] = 0x0f;
        chunk_seal(b.b + at, size);
        broken_file(b.b, b.n);
        munit_assert_not_null(strstr(said, "topology of the wrong size"));
        b.b[at + 16 + 4 * i + 3] = old;
    }
    b.b[at + 16 + 32 + 3] = 0x7f; /* a triangle's node */
    chunk_seal(b.b + at, size);
    broken_file(b.b, b.n);
    munit_assert_not_null(strstr(said, "a node that does not exist"));
    free(b.b);
    return MUNIT_OK;
}

static MunitResult test_not_finite(const MunitParameter p[], void *d)
{
    static const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL, 1e200};
    size_t i;
    (void)p; (void)d;
    write_run();
    for (i = 0; i < 4; ++i) {
        frames_writer *w = frames_create(DIR "/nan.gapf", 3, 4, NULL);
        munit_assert_int(frames_write_topo(w, &M.t), ==, 1);
        move_model(0, 1.0);
        munit_assert_int(frames_write(w, 0, 0.0, M.x), ==, 1);
        M.x[7] = bad[i];
        munit_assert_int(frames_write(w, 1, 0.1, M.x), ==, 1);
        munit_assert_int(frames_finish(w), ==, 1);
        expect(DIR "/nan.gapf", 0, "step 1: a position or time that is no number; shown up to");
        munit_assert_not_null(strstr(said, "1 frames"));
        expect(DIR "/nan.gapf --png build/view/nan.png --size 64x64", 0, "step 1");
    }
    return MUNIT_OK;
}

static MunitResult test_broken_stats(const MunitParameter p[], void *d)
{
    bytes b;
    int i;
    (void)p; (void)d;
    write_run();
    b = slurp(DIR "/stats.csv");
    put_file(DIR "/stats.csv", b.b, b.n - 3);
    expect(DIR, 0, "build/view/stats.csv:13: the line has no end; shown up to there");
    for (i = 0; i < util_count(15, 200); ++i) {
        size_t at = (size_t)(util_uniform(0.0, 1.0) * (double)b.n);
        unsigned char bit = (unsigned char)(1 << munit_rand_int_range(0, 7));
        char *meta;
        bytes page;
        json *m;
        b.b[at] ^= bit;
        put_file(DIR "/stats.csv", b.b, b.n);
        b.b[at] ^= bit;
        expect(DIR, 0, "12 frames");
        page = slurp(DIR "/view.html");
        meta = element((char *)page.b, "<script id=\"meta\" type=\"application/json\">", 0);
        m = json_parse(meta, strlen(meta), NULL);
        munit_assert_not_null(m); /* whatever it read, the page's data are sound */
        json_free(m);
        free(meta);
        free(page.b);
    }
    free(b.b);
    return MUNIT_OK;
}

/* ---- other scenes ---- */
static MunitResult test_plane_scene(const MunitParameter p[], void *d)
{
    static double x[8] = {0, 0, 1, 0, 1, 1, 0, 1};
    static int elem[6] = {0, 1, 2, 0, 2, 3};
    static double plane[4] = {0, -0.2, 0, 1};
    frames_topo t;
    frames_writer *w;
    unsigned char *image;
    int width, height, k;
    (void)p; (void)d;
    mkdir(DIR, 0777);
    memset(&t, 0, sizeof t);
    t.nodes = 4;
    t.elems = 2;
    t.elem_nodes = 3;
    t.elem = elem;
    t.planes = 1;
    t.plane = plane;
    w = frames_create(DIR "/flat.gapf", 2, 1, NULL);
    munit_assert_int(frames_write_topo(w, &t), ==, 1);
    for (k = 0; k < 3; ++k) munit_assert_int(frames_write(w, k, k, x), ==, 1);
    munit_assert_int(frames_finish(w), ==, 1);
    expect(DIR "/flat.gapf", 0, "3 frames");
    expect(DIR "/flat.gapf --png build/view/flat.png --size 200x100", 0, "200x100");
    image = png_pixels(DIR "/flat.png", &width, &height);
    k = 3 * (50 * 200 + 100);
    munit_assert_int(image[k + 2], >, image[k] + 30); /* blue */
    munit_assert_int(image[3 * (50 * 200 + 10)], >, 230);
    free(image);
    return MUNIT_OK;
}

/* ---------------------------------------------------------------- in a browser */
#define BROWSER "timeout 300 chromium --headless --no-sandbox --use-angle=swiftshader " \
    "--enable-unsafe-swiftshader --user-data-dir=" DIR "/profile "

static int has_browser(void)
{
    return system("command -v chromium > /dev/null 2>&1") == 0;
}

static char here[2048];

static int browse(const char *options_, const char *page, const char *more)
{
    char line[4096];
    if (!getcwd(here, sizeof here)) return -1;
    snprintf(line, sizeof line, BROWSER "%s 'file://%s/%s%s' > " DIR "/dom.html 2> " DIR
        "/browser.log", options_, here, page, more);
    return system(line);
}

static int truth(const json *m, const char *name)
{
    const json *v = json_get(m, name);
    if (!v) munit_errorf("no %s in the report of the page", name);
    return v->type == JSON_BOOL && v->number == 1.0;
}

static MunitResult test_browser(const MunitParameter p[], void *d)
{
    static const char *const yes[] = {"wire", "clip", "planes", "hide", "zoom", "fit", "orbit",
        "help", "playing", "plotsFollow"};
    bytes dom;
    char *text, *end;
    json *m;
    size_t i;
    int k;
    (void)p; (void)d;
    if (!has_browser()) return MUNIT_SKIP;
    write_run();
    expect(DIR, 0, "12 frames");
    k = browse("--window-size=1300,800 --dump-dom", DIR "/view.html", "#selftest=1");
    munit_assert_int(k, ==, 0);
    dom = slurp(DIR "/dom.html");
    text = strstr((char *)dom.b, "<pre id=\"selftest\"");
    munit_assert_not_null(text);
    text = strchr(text, '>') + 1;
    end = strstr(text, "</pre>");
    munit_assert_not_null(end);
    m = json_parse(text, (size_t)(end - text), NULL);
    munit_assert_not_null(m);
    if (json_get(m, "errors")->count) munit_errorf("the page says %.*s", (int)(end - text), text);
    munit_assert_int((int)json_get(m, "colours")->number, ==, 5);
    for (i = 0; i < sizeof yes / sizeof *yes; ++i) {
        if (!truth(m, yes[i])) munit_errorf("%s: no effect: %.*s", yes[i], (int)(end - text), text);
    }
    munit_assert_int((int)json_get(m, "plots")->number, ==, 4);
    munit_assert_int((int)json_get(m, "frames")->number, ==, FRAMES);
    munit_assert_int((int)json_get(m, "lastFrame")->number, ==, FRAMES - 1);
    munit_assert_int((int)json_get(m, "back")->number, ==, FRAMES - 2);
    munit_assert_int((int)json_get(m, "home")->number, ==, 0);
    munit_assert_int((int)json_get(m, "scrubbed")->number, ==, FRAMES - 1);
    munit_assert_int((int)json_get(m, "played")->number, ==, FRAMES / 2);
    munit_assert_int((int)json_get(m, "resized")->number, ==, 200);
    munit_assert_int((int)json_get(m, "resizedInk")->number, >, 5000);
    munit_assert_int((int)json_get(m, "glError")->number, ==, 0);
    munit_assert_int((int)json_get(json_get(m, "first"), "ink")->number, >, 5000);
    munit_assert_true(json_get(json_get(m, "first"), "hash")->number !=
        json_get(json_get(m, "last"), "hash")->number);
    json_free(m);
    free(dom.b);
    dom = slurp(DIR "/browser.log"); /* nothing on the console */
    munit_assert_null(strstr((char *)dom.b, "CONSOLE"));
    free(dom.b);
    return MUNIT_OK;
}

/* Kept to be looked at: build/view/screen.png, and a small window. */
static MunitResult test_screenshots(const MunitParameter p[], void *d)
{
    bytes b;
    (void)p; (void)d;
    if (!has_browser() || !util_slow()) return MUNIT_SKIP;
    write_run();
    expect(DIR, 0, "12 frames");
    munit_assert_int(browse("--window-size=1300,800 --screenshot=" DIR "/screen.png",
        DIR "/view.html", "#frame=9&color=distance&wire=1"), ==, 0);
    munit_assert_int(browse("--window-size=600,500 --screenshot=" DIR "/small.png",
        DIR "/view.html", "#frame=9"), ==, 0);
    b = slurp(DIR "/screen.png");
    munit_assert_size(b.n, >, 10000);
    free(b.b);
    b = slurp(DIR "/small.png");
    munit_assert_size(b.n, >, 5000);
    free(b.b);
    return MUNIT_OK;
}

#define TEST(name, fn) {(char *)name, fn, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}
static MunitTest tests[] = {
    TEST("/png/deflate", test_deflate),
    TEST("/png/round_trip", test_png),
    TEST("/raster/depth", test_depth),
    TEST("/raster/coverage", test_coverage),
    TEST("/raster/no_holes", test_no_holes),
    TEST("/raster/camera", test_camera),
    TEST("/raster/shadow", test_shadow),
    TEST("/raster/shadow_of_grains_and_rods", test_round_shadow),
    TEST("/page", test_page),
    TEST("/distance", test_distance),
    TEST("/pictures", test_pictures),
    TEST("/sheet", test_sheet),
    TEST("/scale", test_scale),
    TEST("/plane_scene", test_plane_scene),
    TEST("/bad/usage", test_usage),
    TEST("/bad/frames", test_broken),
    TEST("/bad/lies", test_lies),
    TEST("/bad/not_finite", test_not_finite),
    TEST("/bad/stats", test_broken_stats),
    TEST("/browser", test_browser),
    TEST("/screenshots", test_screenshots),
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

int main(int argc, char *argv[])
{
    static const MunitSuite suite = {(char *)"/view", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};
    return munit_suite_main(&suite, NULL, argc, argv);
}
