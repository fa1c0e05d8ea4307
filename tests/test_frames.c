/* Tests of apps/common/frames: the format byte by byte, every cut and every flipped bit. */
#include "util.h"
#include "../apps/common/frames.h"
#include <sys/stat.h>
#include <unistd.h>

static const char *PATH = "build/test_frames.gapf";

/* the checksum again, bit by bit */
static uint32_t crc_bitwise(const unsigned char *p, size_t n, uint32_t c)
{
    size_t i;
    int k;
    for (i = 0; i < n; ++i) {
        c ^= p[i];
        for (k = 0; k < 8; ++k) c = (c >> 1) ^ (0xedb88320u & (0u - (c & 1u)));
    }
    return c;
}

typedef struct bytes { unsigned char b[8192]; size_t n; } bytes;

static void u32(bytes *s, uint32_t v)
{
    int i;
    for (i = 0; i < 4; ++i) s->b[s->n++] = (unsigned char)(v >> (8 * i));
}

static void f64(bytes *s, double v)
{
    uint64_t u;
    memcpy(&u, &v, 8);
    u32(s, (uint32_t)u);
    u32(s, (uint32_t)(u >> 32));
}

/* a chunk as the format describes it, made here without the writer */
static void chunk(bytes *out, const char *tag, const bytes *payload)
{
    size_t at = out->n, end;
    uint32_t c;
    memcpy(out->b + at, tag, 4);
    out->n += 8;
    u32(out, (uint32_t)payload->n);
    u32(out, 0);
    memcpy(out->b + out->n, payload->b, payload->n);
    out->n += payload->n;
    c = crc_bitwise(out->b + at, 4, 0xffffffffu);
    c = ~crc_bitwise(out->b + at + 8, 8 + payload->n, c);
    while (out->n % 8) out->b[out->n++] = 0;
    end = out->n;
    out->n = at + 4;
    u32(out, c);
    out->n = end;
}

/* two triangles of two bodies, an edge, a point, a plane; two frames; a foreign chunk between */
static void by_hand(bytes *out)
{
    bytes p;
    int i, k;
    out->n = 0;
    p.n = 0; u32(&p, 1); u32(&p, 3); u32(&p, 2); u32(&p, 0);
    chunk(out, "GAPF", &p);
    memcpy(p.b, "ball\0ground", 12); p.n = 12;
    chunk(out, "NAME", &p);
    p.n = 0; u32(&p, 6); u32(&p, 1); u32(&p, 4); u32(&p, 2); u32(&p, 1); u32(&p, 1); u32(&p, 1);
    u32(&p, 0);
    for (i = 0; i < 4; ++i) u32(&p, (uint32_t)i);
    for (i = 0; i < 6; ++i) u32(&p, (uint32_t)(5 - i));
    u32(&p, 2); u32(&p, 3);
    u32(&p, 5);
    for (i = 0; i < 6; ++i) u32(&p, i > 2);
    for (i = 0; i < 6; ++i) f64(&p, 0.001 * i);
    for (i = 0; i < 6; ++i) f64(&p, i == 4);
    chunk(out, "TOPO", &p);
    for (k = 0; k < 2; ++k) {
        p.n = 0; u32(&p, (uint32_t)(7 * k)); u32(&p, 0); f64(&p, 0.5 * k);
        for (i = 0; i < 18; ++i) f64(&p, i + 0.1 * k);
        chunk(out, "FRAM", &p);
        p.n = 3;
        if (k == 0) chunk(out, "XTRA", &p);
    }
}

static void topo_by_hand(frames_topo *t)
{
    static int elem[] = {0, 1, 2, 3}, tri[] = {5, 4, 3, 2, 1, 0}, edge[] = {2, 3}, point[] = {5};
    static int body[] = {0, 0, 0, 1, 1, 1};
    static double radius[6], plane[] = {0, 0, 0, 0, 1, 0};
    int i;
    for (i = 0; i < 6; ++i) radius[i] = 0.001 * i;
    t->nodes = 6; t->elems = 1; t->elem_nodes = 4; t->tris = 2; t->edges = 1; t->points = 1;
    t->planes = 1;
    t->elem = elem; t->tri = tri; t->edge = edge; t->point = point; t->body = body;
    t->radius = radius; t->plane = plane;
}

static void save(const bytes *s, size_t n)
{
    FILE *f = fopen(PATH, "wb");
    munit_assert_not_null(f);
    munit_assert_size(fwrite(s->b, 1, n, f), ==, n);
    fclose(f);
}

static void load(bytes *s)
{
    FILE *f = fopen(PATH, "rb");
    munit_assert_not_null(f);
    s->n = fread(s->b, 1, sizeof s->b, f);
    fclose(f);
}

/* number of frames that can be read, each checked to be what by_hand wrote */
static int count_frames(int *damaged)
{
    frames_reader r;
    int n = 0, i;
    *damaged = 0;
    if (frames_open(&r, PATH)) {
        while (frames_next(&r)) {
            munit_assert_int(r.topo.nodes, ==, 6);
            munit_assert_llong(r.step, ==, 7 * n);
            munit_assert_double(r.time, ==, 0.5 * n);
            munit_assert_int(r.topo_changed, ==, n == 0);
            for (i = 0; i < 18; ++i) munit_assert_double(r.x[i], ==, i + 0.1 * n);
            ++n;
        }
    }
    *damaged = r.damaged;
    if (r.damaged) munit_assert_size(strlen(r.error), >, 0);
    frames_close(&r);
    return n;
}

static MunitResult test_format(const MunitParameter params[], void *data)
{
    bytes s;
    frames_reader r;
    int damaged;
    (void)params; (void)data;
    munit_assert_uint32(~crc_bitwise((const unsigned char *)"123456789", 9, 0xffffffffu), ==,
        0xcbf43926u);
    by_hand(&s);
    save(&s, s.n);
    munit_assert_int(count_frames(&damaged), ==, 2);
    munit_assert_int(damaged, ==, 0);
    munit_assert_int(frames_open(&r, PATH), ==, 1);
    munit_assert_int(frames_next(&r), ==, 1);
    munit_assert_string_equal(r.name[0], "ball");
    munit_assert_string_equal(r.name[1], "ground");
    munit_assert_int(r.topo.tri[0], ==, 5);
    munit_assert_int(r.topo.edge[1], ==, 3);
    munit_assert_int(r.topo.point[0], ==, 5);
    munit_assert_int(r.topo.body[3], ==, 1);
    munit_assert_double(r.topo.radius[5], ==, 0.001 * 5);
    munit_assert_double(r.topo.plane[4], ==, 1.0);
    frames_close(&r);
    munit_assert_int(frames_open(&r, "build/no such file"), ==, 0);
    munit_assert_string_equal(r.error, "cannot be read");
    frames_close(&r);
    return MUNIT_OK;
}

/* The writer writes the same bytes as the description (its file has no foreign chunk). */
static MunitResult test_writer(const MunitParameter params[], void *data)
{
    static const char *const names[] = {"ball", "ground"};
    frames_topo t;
    frames_writer *w;
    bytes want, got;
    double x[18];
    int i, k;
    (void)params; (void)data;
    topo_by_hand(&t);
    w = frames_create(PATH, 3, 2, names);
    munit_assert_not_null(w);
    munit_assert_int(frames_write(w, 0, 0.0, x), ==, 0); /* no topology yet */
    munit_assert_int(frames_write_topo(w, &t), ==, 1);
    for (k = 0; k < 2; ++k) {
        for (i = 0; i < 18; ++i) x[i] = i + 0.1 * k;
        munit_assert_int(frames_write(w, 7 * k, 0.5 * k, x), ==, 1);
    }
    munit_assert_int(frames_finish(w), ==, 1);
    load(&got);
    by_hand(&want);
    munit_assert_size(want.n, ==, got.n + 24);
    i = (int)(want.n - (16 + 16 + 18 * 8)); /* last frame; before it the foreign chunk */
    munit_assert_memory_equal((size_t)i - 24, want.b, got.b);
    munit_assert_memory_equal(want.n - (size_t)i, want.b + i, got.b + i - 24);
    return MUNIT_OK;
}

/* However the file is cut, the frames before the cut are read and a resume goes on behind them. */
static MunitResult test_cuts(const MunitParameter params[], void *data)
{
    bytes s;
    size_t n, frame2, frame1;
    int damaged, i;
    double x[18];
    (void)params; (void)data;
    by_hand(&s);
    frame2 = s.n;
    frame1 = s.n - 24 - (16 + 16 + 18 * 8);
    for (n = 0; n <= s.n; ++n) {
        int want = (n >= frame1) + (n >= frame2), got;
        save(&s, n);
        got = count_frames(&damaged);
        munit_assert_int(got, ==, want);
        if (n > frame1 && n < frame1 + 24) munit_assert_int(damaged, ==, 1);
    }
    for (n = 32; n <= s.n; n += 5) {
        long long kept = -1;
        frames_writer *w;
        frames_topo t;
        save(&s, n);
        w = frames_resume(PATH, 0, &kept); /* step 7 is cut off in any case */
        munit_assert_not_null(w);
        munit_assert_llong(kept, ==, n >= frame1);
        topo_by_hand(&t);
        if (!kept) munit_assert_int(frames_write_topo(w, &t), ==, 1);
        for (i = 0; i < 18; ++i) x[i] = i + (kept ? 0.1 : 0.0);
        munit_assert_int(frames_write(w, kept ? 7 : 0, kept ? 0.5 : 0.0, x), ==, 1);
        munit_assert_int(frames_finish(w), ==, 1);
        munit_assert_int(count_frames(&damaged), ==, 1 + (int)kept);
        munit_assert_int(damaged, ==, 0);
    }
    return MUNIT_OK;
}

/* Every single flipped bit is noticed: no frame is ever read with wrong numbers. */
static MunitResult test_flips(const MunitParameter params[], void *data)
{
    bytes s;
    size_t i;
    int bit, damaged;
    (void)params; (void)data;
    by_hand(&s);
    for (i = 0; i < s.n; ++i)
        for (bit = 0; bit < 8; bit += util_count(3, 1)) {
            int got;
            s.b[i] = (unsigned char)(s.b[i] ^ 1 << bit);
            save(&s, s.n);
            got = count_frames(&damaged);
            munit_assert_int(got, <=, 1);
            munit_assert_int(damaged, ==, 1);
            s.b[i] = (unsigned char)(s.b[i] ^ 1 << bit);
        }
    return MUNIT_OK;
}

/* Right checksums, wrong contents. */
static MunitResult test_lies(const MunitParameter params[], void *data)
{
    static const uint32_t lie[][2] = {{0, 7}, {0, 0x7fffffff}, {1, 0xffffffff}, {2, 0x40000000},
        {3, 3}, {4, 0x10000000}, {6, 0x0fffffff}, {8, 6}, {12, 0xffffffff}, {21, 2}};
    bytes s, p, out;
    size_t k, at = 32 + 32; /* TOPO's head */
    int damaged;
    (void)params; (void)data;
    by_hand(&s);
    for (k = 0; k < sizeof lie / sizeof *lie; ++k) {
        bytes w;
        out.n = at;
        memcpy(out.b, s.b, at);
        p.n = s.b[at + 8] + 256u * s.b[at + 9];
        memcpy(p.b, s.b + at + 16, p.n);
        w.n = 0;
        u32(&w, lie[k][1]);
        memcpy(p.b + 4 * lie[k][0], w.b, 4);
        chunk(&out, "TOPO", &p);
        memcpy(out.b + out.n, s.b + out.n, s.n - out.n);
        out.n = s.n;
        save(&out, out.n);
        munit_assert_int(count_frames(&damaged), ==, 0);
        munit_assert_int(damaged, ==, 1);
    }
    remove(PATH);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/format", test_format, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/writer", test_writer, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/cuts", test_cuts, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/flips", test_flips, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/lies", test_lies, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

static const MunitSuite suite = {"/frames", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    mkdir("build", 0777);
    return munit_suite_main(&suite, NULL, argc, argv);
}
