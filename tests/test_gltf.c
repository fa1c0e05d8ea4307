/* test_gltf.c - apps/common/gltf: the file is read back by our JSON reader and byte by byte */
#include <munit.h>
#include "util.h"

#include "frames.h"
#include "gltf.h"
#include "json.h"

#include <unistd.h>

#define FRAMES 4

static int tri[] = {0, 1, 2, 1, 3, 2}, edge[] = {4, 5}, point[] = {7}, elem[] = {0, 1, 2, 6};
static int body[8] = {0, 0, 0, 0, 1, 1, 0, 2}; /* node 6 is inside and not drawn */
static double radius[8], plane[6] = {0, -1, 0, 0, 1, 0};
static const int drawn[7] = {0, 1, 2, 3, 4, 5, 7};

static double place(int f, int node, int k)
{
    return sin(1.0 + node + 0.3 * k) + 0.25 * f * (k + 1) + 1e-3 * node * f * f;
}

static void write_frames(const char *path, int frames, int change)
{
    static const char *const names[] = {"sheet", "rod", "speck"};
    static const unsigned char fixed[3] = {0, 1, 0};
    frames_topo t = {8, 1, 4, 2, 1, 1, 1, elem, tri, edge, point, body, radius, plane};
    frames_writer *w = frames_create(path, 3, 3, names);
    double x[24];
    int f, i, k;
    munit_assert_not_null(w);
    munit_assert_int(frames_write_fixed(w, fixed), ==, 1);
    munit_assert_int(frames_write_topo(w, &t), ==, 1);
    for (f = 0; f < frames; ++f) {
        for (i = 0; i < 8; ++i) for (k = 0; k < 3; ++k) x[3 * i + k] = place(f, i, k);
        if (change && f == 2) munit_assert_int(frames_write_topo(w, &t), ==, 1);
        munit_assert_int(frames_write(w, f, 0.5 + 0.1 * f, x), ==, 1);
    }
    munit_assert_int(frames_finish(w), ==, 1);
}

typedef struct glb {
    unsigned char *bytes;
    size_t size;
    json *root;
    const unsigned char *bin;
    size_t bin_size;
} glb;

static uint32_t u32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static float f32(const unsigned char *p)
{
    uint32_t u = u32(p);
    float v;
    memcpy(&v, &u, 4);
    return v;
}

static double number_of(const json *v, const char *key)
{
    const json *c = json_get(v, key);
    munit_assert_not_null(c);
    munit_assert_int(c->type, ==, JSON_NUMBER);
    return c->number;
}

static void open_glb(glb *g, const char *path)
{
    json_error e;
    uint32_t n;
    FILE *f = fopen(path, "rb");
    munit_assert_not_null(f);
    g->bytes = munit_malloc(1 << 20);
    g->size = fread(g->bytes, 1, 1 << 20, f);
    fclose(f);
    munit_assert_memory_equal(4, g->bytes, "glTF");
    munit_assert_uint32(u32(g->bytes + 4), ==, 2);
    munit_assert_uint32(u32(g->bytes + 8), ==, (uint32_t)g->size);
    n = u32(g->bytes + 12);
    munit_assert_uint32(n % 4, ==, 0);
    munit_assert_memory_equal(4, g->bytes + 16, "JSON");
    g->root = json_parse((const char *)g->bytes + 20, n, &e);
    if (!g->root) munit_errorf("line %d: %s", e.line, e.text);
    g->bin_size = u32(g->bytes + 20 + n);
    munit_assert_memory_equal(4, g->bytes + 24 + n, "BIN");
    munit_assert_size(g->size, ==, 28 + n + g->bin_size);
    munit_assert_size(g->bin_size % 4, ==, 0);
    g->bin = g->bytes + 28 + n;
    munit_assert_double(number_of(json_at(json_get(g->root, "buffers"), 0), "byteLength"), ==,
        (double)g->bin_size);
}

static void close_glb(glb *g)
{
    json_free(g->root);
    free(g->bytes);
}

/* The first byte of an accessor whose range was checked against its view and the buffer. */
static const unsigned char *data_of(const glb *g, int index, int *count, int *bytes)
{
    const json *a = json_at(json_get(g->root, "accessors"), index), *v;
    const char *type = json_get(a, "type")->string;
    int comp = (int)number_of(a, "componentType");
    int n = !strcmp(type, "SCALAR") ? 1 : !strcmp(type, "VEC3") ? 3 : 4;
    double offset = number_of(a, "byteOffset"), start;
    *count = (int)number_of(a, "count");
    *bytes = n * (comp == 5121 ? 1 : 4);
    v = json_at(json_get(g->root, "bufferViews"), (int)number_of(a, "bufferView"));
    start = number_of(v, "byteOffset");
    munit_assert_double(offset + *count * *bytes, <=, number_of(v, "byteLength"));
    munit_assert_double(start + number_of(v, "byteLength"), <=, (double)g->bin_size);
    if (json_get(v, "byteStride")) munit_assert_double(number_of(v, "byteStride"), ==, *bytes);
    munit_assert_double(fmod(start + offset, 4.0), ==, 0.0);
    return g->bin + (size_t)(start + offset);
}

static void check_bounds(const glb *g, int index)
{
    const json *a = json_at(json_get(g->root, "accessors"), index);
    int count, bytes, i, k, met;
    const unsigned char *p = data_of(g, index, &count, &bytes);
    for (k = 0; k < 3; ++k) {
        float low = (float)json_at(json_get(a, "min"), k)->number;
        float high = (float)json_at(json_get(a, "max"), k)->number;
        for (met = 0, i = 0; i < count; ++i) {
            float v = f32(p + 12 * i + 4 * k);
            munit_assert_true(v >= low && v <= high);
            met |= (v == low) | (v == high) << 1;
        }
        munit_assert_int(met, ==, 3);
    }
}

static MunitResult test_animation(const MunitParameter p[], void *user)
{
    char dir[] = "/tmp/gap_gltf_XXXXXX", in[100], out[100], error[200];
    const json *mesh, *prim, *c, *anim;
    const unsigned char *base, *at;
    int count, bytes, f, i, k, used[2];
    glb g;
    (void)p; (void)user;
    munit_assert_not_null(mkdtemp(dir));
    snprintf(in, sizeof in, "%s/frames.gapf", dir);
    snprintf(out, sizeof out, "%s/frames.glb", dir);
    write_frames(in, FRAMES, 0);
    munit_assert_int(gltf_write(in, out, error, sizeof error), ==, 1);
    open_glb(&g, out);
    munit_assert_string_equal(json_get(json_get(g.root, "asset"), "version")->string, "2.0");
    mesh = json_at(json_get(g.root, "meshes"), 0);
    munit_assert_int(json_get(mesh, "primitives")->count, ==, 3);
    for (prim = json_get(mesh, "primitives")->child; prim; prim = prim->next) {
        int mode = (int)number_of(prim, "mode"), n = mode == 4 ? 6 : mode == 1 ? 2 : 1;
        const int *list = mode == 4 ? tri : mode == 1 ? edge : point;
        at = data_of(&g, (int)number_of(prim, "indices"), &count, &bytes);
        munit_assert_int(count, ==, n);
        for (i = 0; i < n; ++i) munit_assert_int(drawn[u32(at + 4 * i)], ==, list[i]);
        k = (int)number_of(json_get(prim, "attributes"), "POSITION");
        base = data_of(&g, k, &count, &bytes);
        munit_assert_int(count, ==, 7);
        check_bounds(&g, k);
        for (i = 0; i < 21; ++i) {
            munit_assert_float(f32(base + 4 * i), ==, (float)place(0, drawn[i / 3], i % 3));
        }
        munit_assert_int(json_get(prim, "targets")->count, ==, FRAMES - 1);
        for (f = 1, c = json_get(prim, "targets")->child; c; c = c->next, ++f) {
            check_bounds(&g, (int)number_of(c, "POSITION"));
            at = data_of(&g, (int)number_of(c, "POSITION"), &count, &bytes);
            munit_assert_int(count, ==, 7);
            for (i = 0; i < 21; ++i) {
                munit_assert_double(fabs((double)f32(base + 4 * i) + (double)f32(at + 4 * i) -
                    place(f, drawn[i / 3], i % 3)), <, 3e-7);
            }
        }
        at = data_of(&g, (int)number_of(json_get(prim, "attributes"), "COLOR_0"), &count, &bytes);
        munit_assert_int(count, ==, 7);
        munit_assert_int(bytes, ==, 4);
        munit_assert_memory_equal(4, at, at + 4);        /* one body, one colour */
        munit_assert_memory_not_equal(4, at, at + 4 * 4); /* another body, another */
    }
    anim = json_at(json_get(g.root, "animations"), 0);
    c = json_at(json_get(anim, "samplers"), 0);
    used[0] = (int)number_of(c, "input");
    used[1] = (int)number_of(c, "output");
    at = data_of(&g, used[0], &count, &bytes);
    munit_assert_int(count, ==, FRAMES);
    for (f = 0; f < FRAMES; ++f) {
        munit_assert_double(fabs((double)f32(at + 4 * f) - 0.1 * f), <, 1e-7);
    }
    at = data_of(&g, used[1], &count, &bytes);
    munit_assert_int(count, ==, FRAMES * (FRAMES - 1));
    for (f = 0; f < FRAMES; ++f) for (k = 1; k < FRAMES; ++k) {
        munit_assert_float(f32(at + 4 * (f * (FRAMES - 1) + k - 1)), ==, f == k ? 1.0f : 0.0f);
    }
    mesh = json_at(json_get(g.root, "meshes"), 1); /* the plane: four corners at y = -1 */
    prim = json_at(json_get(mesh, "primitives"), 0);
    at = data_of(&g, (int)number_of(json_get(prim, "attributes"), "POSITION"), &count, &bytes);
    munit_assert_int(count, ==, 4);
    for (i = 0; i < 4; ++i) munit_assert_double(fabs(f32(at + 12 * i + 4) + 1.0), <, 1e-6);
    close_glb(&g);
    remove(in);
    remove(out);
    rmdir(dir);
    return MUNIT_OK;
}

/* A single frame is a still; a changed topology, no file and a full disk are said. */
static MunitResult test_edges(const MunitParameter p[], void *user)
{
    char dir[] = "/tmp/gap_gltf_XXXXXX", in[100], out[100], error[200];
    glb g;
    (void)p; (void)user;
    munit_assert_not_null(mkdtemp(dir));
    snprintf(in, sizeof in, "%s/frames.gapf", dir);
    snprintf(out, sizeof out, "%s/frames.glb", dir);
    munit_assert_int(gltf_write(in, out, error, sizeof error), ==, 0);
    munit_assert_not_null(strstr(error, "frames.gapf"));
    write_frames(in, 1, 0);
    munit_assert_int(gltf_write(in, out, error, sizeof error), ==, 1);
    open_glb(&g, out);
    munit_assert_null(json_get(g.root, "animations"));
    close_glb(&g);
    remove(out);
    write_frames(in, 4, 1);
    munit_assert_int(gltf_write(in, out, error, sizeof error), ==, 0);
    munit_assert_not_null(strstr(error, "topology"));
    write_frames(in, 4, 0);
    munit_assert_int(gltf_write(in, "/no/such/dir/x.glb", error, sizeof error), ==, 0);
    munit_assert_int(access(out, F_OK), !=, 0);
    remove(in);
    rmdir(dir);
    return MUNIT_OK;
}

/* A long run is thinned, keeps its last frame, and its weights still form a unit matrix. */
static MunitResult test_thinned(const MunitParameter p[], void *user)
{
    char dir[] = "/tmp/gap_gltf_XXXXXX", in[100], out[100], error[200];
    unsigned char head[12], *text;
    json_error e;
    const json *c;
    json *root;
    uint32_t n;
    FILE *f;
    (void)p; (void)user;
    munit_assert_not_null(mkdtemp(dir));
    snprintf(in, sizeof in, "%s/frames.gapf", dir);
    snprintf(out, sizeof out, "%s/frames.glb", dir);
    write_frames(in, 2 * GLTF_FRAMES + 1, 0);
    munit_assert_int(gltf_write(in, out, error, sizeof error), ==, 1);
    f = fopen(out, "rb");
    munit_assert_not_null(f);
    munit_assert_size(fread(head, 1, 12, f), ==, 12);
    munit_assert_size(fread(head, 1, 8, f), ==, 8);
    n = u32(head);
    text = munit_malloc(n);
    munit_assert_size(fread(text, 1, n, f), ==, n);
    fclose(f);
    root = json_parse((const char *)text, n, &e);
    munit_assert_not_null(root);
    c = json_at(json_get(json_at(json_get(root, "animations"), 0), "samplers"), 0);
    c = json_at(json_get(root, "accessors"), (int)number_of(c, "input"));
    munit_assert_double(number_of(c, "count"), <=, GLTF_FRAMES);
    munit_assert_double(number_of(c, "count"), >, GLTF_FRAMES / 2);
    util_assert_rel(json_at(json_get(c, "max"), 0)->number, 0.1 * 2 * GLTF_FRAMES, 1e-6);
    json_free(root);
    free(text);
    remove(in);
    remove(out);
    rmdir(dir);
    return MUNIT_OK;
}

#define T(name, f) {(char *)name, f, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}
static MunitTest tests[] = {T("/animation", test_animation), T("/edges", test_edges),
    T("/thinned", test_thinned), {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};

int main(int argc, char *argv[])
{
    static const MunitSuite suite = {(char *)"/gltf", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};
    return munit_suite_main(&suite, NULL, argc, argv);
}
