/* util.h - what several tests share: finite differences, failing allocator, hashes, random shapes
   Everything is static inline, so a test uses what it needs. Random numbers come from munit, so
   that --seed repeats a run. */
#ifndef UTIL_H
#define UTIL_H
#include <math.h>
#include <munit.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UTIL_PI 3.14159265358979323846

/* ---- whole numbers: munit 0.4.1 never returns the upper end, and divides by zero where the ends
   are equal; here both ends are included, whichever munit a test is built with ---- */
static inline int util_int(int min, int max)
{
    uint64_t span = (uint64_t)((int64_t)max - (int64_t)min) + 1, x;
    uint64_t limit = (UINT64_C(1) << 32) / span * span; /* drop the uneven rest */
    do x = munit_rand_uint32();
    while (x >= limit);
    return (int)((int64_t)min + (int64_t)(x % span));
}
#undef munit_rand_int_range
#define munit_rand_int_range util_int

/* ---- how long a test may take: ./build.sh slow sets GAP_SLOW ---- */
static inline int util_slow(void)
{
    const char *s = getenv("GAP_SLOW");
    return s && *s && strcmp(s, "0") != 0;
}

/* `fast` cases by default, `full` under ./build.sh slow. */
static inline int util_count(int fast, int full)
{
    return util_slow() ? full : fast;
}

/* ---- comparison ---- */

/* |a - b| / max(|a|, |b|, floor); 0 for equal values, infinity where either is NaN. */
static inline double util_rel(double a, double b, double floor)
{
    double m = fmax(fmax(fabs(a), fabs(b)), floor);
    if (a == b) return 0.0;
    if (!(fabs(a - b) < HUGE_VAL)) return HUGE_VAL;
    return m > 0.0 ? fabs(a - b) / m : 0.0;
}

/* Largest |a_i - b_i| relative to the largest magnitude of both arrays (and floor). */
static inline double util_rel_array(const double *a, const double *b, size_t n, double floor)
{
    double scale = floor, worst = 0.0;
    size_t i;
    for (i = 0; i < n; ++i) {
        if (!(fabs(a[i] - b[i]) < HUGE_VAL) && a[i] != b[i]) return HUGE_VAL;
        scale = fmax(scale, fmax(fabs(a[i]), fabs(b[i])));
        worst = fmax(worst, a[i] == b[i] ? 0.0 : fabs(a[i] - b[i]));
    }
    return scale > 0.0 ? worst / scale : 0.0;
}

#define util_assert_rel(a, b, tol)                                                              \
    do {                                                                                        \
        double util__a = (a), util__b = (b);                                                    \
        if (!(util_rel(util__a, util__b, 0.0) <= (tol)))                                        \
            munit_errorf("%s = %.17g, %s = %.17g differ by %.3g relative", #a, util__a, #b,     \
                util__b, util_rel(util__a, util__b, 0.0));                                      \
    } while (0)

/* ---- bits: a hash of doubles in which -0, NaN payloads and order all count ---- */
static inline uint64_t util_hash_bytes(uint64_t h, const void *data, size_t size)
{
    const unsigned char *p = (const unsigned char *)data;
    size_t i;
    if (!h) h = UINT64_C(14695981039346656037);
    for (i = 0; i < size; ++i) h = (h ^ p[i]) * UINT64_C(1099511628211);
    return h;
}

static inline uint64_t util_hash(uint64_t h, const double *x, size_t n)
{
    return util_hash_bytes(h, x, n * sizeof *x);
}

/* ---- allocator of seam 2 that counts, and fails at call number fail_at (1 = the first) ---- */
typedef struct util_memory {
    size_t now, peak;   /* bytes held, most ever held */
    long calls, live;   /* allocating calls so far; blocks held */
    long fail_at;       /* 0: never */
    int wrong;          /* a caller's old_size was not the size that the block had */
} util_memory;

/* The size stands in front of the block, so that a wrong old_size is noticed. */
static inline void *util_realloc(void *user, void *p, size_t old_size, size_t new_size)
{
    util_memory *m = (util_memory *)user;
    enum { FRONT = 64 };
    unsigned char *base = p ? (unsigned char *)p - FRONT : NULL;
    size_t known = 0;

    if (base) memcpy(&known, base, sizeof known);
    if (known != old_size) m->wrong = 1;
    if (new_size == 0) {
        if (base) {
            m->now -= known;
            --m->live;
        }
        free(base);
        return NULL;
    }
    if (++m->calls == m->fail_at) return NULL;
    base = (unsigned char *)realloc(base, new_size + FRONT);
    if (!base) return NULL;
    memcpy(base, &new_size, sizeof new_size);
    if (new_size > known) memset(base + FRONT + known, 0xa5, new_size - known);
    m->live += p == NULL;
    m->now += new_size - known;
    if (m->now > m->peak) m->peak = m->now;
    return base + FRONT;
}

/* ---- finite differences ---- */
typedef double (*util_fn)(void *ctx, const double *x);

/* Derivative of f along v at x, central differences of fourth order with step h. */
static inline double util_slope(util_fn f, void *ctx, const double *x, const double *v, int n,
    double h)
{
    static const double at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    double *y = (double *)munit_malloc((size_t)n * sizeof *y), sum = 0.0;
    int i, k;
    for (k = 0; k < 4; ++k) {
        for (i = 0; i < n; ++i) y[i] = x[i] + at[k] * h * v[i];
        sum += weight[k] * f(ctx, y);
    }
    free(y);
    return sum / (12.0 * h);
}

/* Largest error of the gradient g of f at x, over all coordinates and along g itself (where an
   error that is small in every coordinate adds up), relative to |g|. h: step, of x's scale. */
static inline double util_gradient_error(util_fn f, void *ctx, const double *x, const double *g,
    int n, double h)
{
    double *v = (double *)munit_malloc((size_t)n * sizeof *v), norm = 0.0, worst = 0.0;
    int i;
    for (i = 0; i < n; ++i) norm += g[i] * g[i];
    norm = sqrt(norm);
    for (i = 0; i < n; ++i) {
        v[i] = 1.0;
        worst = fmax(worst, fabs(util_slope(f, ctx, x, v, n, h) - g[i]));
        v[i] = 0.0;
    }
    for (i = 0; i < n; ++i) v[i] = norm > 0.0 ? g[i] / norm : 0.0;
    worst = fmax(worst, fabs(util_slope(f, ctx, x, v, n, h) - norm));
    free(v);
    return norm > 0.0 ? worst / norm : worst;
}

typedef void (*util_vector_fn)(void *ctx, const double *x, double *out);

/* Largest error of the n x n Jacobian J (row by row) of the vector function g at x: every column,
   and the direction g(x) itself; relative to the largest entry of J. */
static inline double util_jacobian_error(util_vector_fn g, void *ctx, const double *x,
    const double *J, int n, double h)
{
    static const double at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    size_t bytes = (size_t)n * sizeof(double);
    double *v = (double *)munit_malloc(bytes), *y = (double *)munit_malloc(bytes);
    double *out = (double *)munit_malloc(bytes), *sum = (double *)munit_malloc(bytes);
    double scale = 0.0, worst = 0.0, norm = 0.0;
    int i, j, k, c;

    for (i = 0; i < n * n; ++i) scale = fmax(scale, fabs(J[i]));
    for (c = 0; c <= n; ++c) {
        memset(v, 0, bytes);
        if (c < n) v[c] = 1.0;
        else {
            g(ctx, x, v);
            for (i = 0; i < n; ++i) norm += v[i] * v[i];
            for (i = 0; i < n; ++i) v[i] = norm > 0.0 ? v[i] / sqrt(norm) : 0.0;
        }
        memset(sum, 0, bytes);
        for (k = 0; k < 4; ++k) {
            for (i = 0; i < n; ++i) y[i] = x[i] + at[k] * h * v[i];
            g(ctx, y, out);
            for (i = 0; i < n; ++i) sum[i] += weight[k] * out[i];
        }
        for (i = 0; i < n; ++i) {
            double Jv = 0.0;
            for (j = 0; j < n; ++j) Jv += J[i * n + j] * v[j];
            worst = fmax(worst, fabs(sum[i] / (12.0 * h) - Jv));
        }
    }
    free(v);
    free(y);
    free(out);
    free(sum);
    return scale > 0.0 ? worst / scale : worst;
}

/* ---- random shapes ---- */

/* Uniform in [lo, hi] with all 53 bits. */
static inline double util_uniform(double lo, double hi)
{
    double hi_bits = (double)(munit_rand_uint32() >> 5);
    double lo_bits = (double)(munit_rand_uint32() >> 6);
    return lo + (hi - lo) * ((hi_bits * 67108864.0 + lo_bits) / 9007199254740992.0);
}

static inline double util_normal(void)
{
    double u = 1.0 - util_uniform(0.0, 1.0);
    return sqrt(-2.0 * log(u)) * cos(2.0 * UTIL_PI * util_uniform(0.0, 1.0));
}

static inline void util_unit(double *v, int dim)
{
    double n = 0.0;
    int i;
    while (!(n > 1e-3)) {
        for (n = 0.0, i = 0; i < dim; ++i) {
            v[i] = util_normal();
            n += v[i] * v[i];
        }
    }
    for (i = 0; i < dim; ++i) v[i] /= sqrt(n);
}

/* Random rotation, row by row (three Gram-Schmidt steps on random vectors). */
static inline void util_rotation(double R[9])
{
    double d = 0.0, n = 0.0;
    int i;
    util_unit(R, 3);
    while (!(n > 1e-3)) {
        util_unit(R + 3, 3);
        d = R[0] * R[3] + R[1] * R[4] + R[2] * R[5];
        for (n = 0.0, i = 0; i < 3; ++i) {
            R[3 + i] -= d * R[i];
            n += R[3 + i] * R[3 + i];
        }
    }
    for (i = 0; i < 3; ++i) R[3 + i] /= sqrt(n);
    R[6] = R[1] * R[5] - R[2] * R[4];
    R[7] = R[2] * R[3] - R[0] * R[5];
    R[8] = R[0] * R[4] - R[1] * R[3];
}

/* n points of dim coordinates, uniform in a cube of half width r. */
static inline void util_points(double *x, int n, int dim, double r)
{
    int i;
    for (i = 0; i < n * dim; ++i) x[i] = util_uniform(-r, r);
}

/* ---- published data, one level above the project ---- */
static inline FILE *util_data(const char *name)
{
    char path[1024];
    const char *dir = getenv("GAP_DATA");
    snprintf(path, sizeof path, "%s/%s", dir ? dir : "../shared/data", name);
    return fopen(path, "rb");
}

#endif
