/* munit.h - this is not munit but a stand-in with its public interface - MIT-0, see LICENSE
   Written from the documented interface of munit 0.4.1 so that the tests build where the real one
   is not at hand; `MUNIT_DIR=... ./build.sh test` uses the real one instead. Same names, same
   options of the command line, same closing line. One file: the implementation is compiled where
   MUNIT_IMPLEMENTATION is defined (build.sh does that once).

   Differences: random numbers come from another generator and may only be asked for by one thread
   at a time. Tests run in a child process unless --no-fork is given (POSIX). */
#ifndef MUNIT_H
#define MUNIT_H
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MUNIT_VERSION(major, minor, revision) (((major) << 16) | ((minor) << 8) | (revision))
#define MUNIT_CURRENT_VERSION MUNIT_VERSION(0, 4, 1)
#define MUNIT_ARRAY_PARAM(name)
#define MUNIT_SIZE_MODIFIER "z"
#define MUNIT_CHAR_MODIFIER "hh"
#define MUNIT_SHORT_MODIFIER "h"
#if defined(__GNUC__) || defined(__clang__)
#define MUNIT_LIKELY(expr) (__builtin_expect(!!(expr), 1))
#define MUNIT_UNLIKELY(expr) (__builtin_expect(!!(expr), 0))
#define MUNIT_UNUSED __attribute__((__unused__))
#define MUNIT_NO_RETURN __attribute__((__noreturn__))
#define MUNIT_PRINTF(fmt, args) __attribute__((__format__(__printf__, fmt, args)))
#else
#define MUNIT_LIKELY(expr) (expr)
#define MUNIT_UNLIKELY(expr) (expr)
#define MUNIT_UNUSED
#define MUNIT_NO_RETURN
#define MUNIT_PRINTF(fmt, args)
#endif

/* ---- messages ---- */
typedef enum {
    MUNIT_LOG_DEBUG,
    MUNIT_LOG_INFO,
    MUNIT_LOG_WARNING,
    MUNIT_LOG_ERROR
} MunitLogLevel;

void munit_logf_ex(MunitLogLevel level, const char *file, int line, const char *format, ...)
    MUNIT_PRINTF(4, 5);
MUNIT_NO_RETURN void munit_errorf_ex(const char *file, int line, const char *format, ...)
    MUNIT_PRINTF(3, 4);

#define munit_logf(level, ...) munit_logf_ex(level, __FILE__, __LINE__, __VA_ARGS__)
#define munit_log(level, msg) munit_logf(level, "%s", msg)
#define munit_errorf(...) munit_errorf_ex(__FILE__, __LINE__, __VA_ARGS__)
#define munit_error(msg) munit_errorf("%s", msg)

/* ---- assertions: every one ends the test when it does not hold ---- */
#define munit__that(cond, ...)             \
    do {                                   \
        if (MUNIT_UNLIKELY(!(cond))) {     \
            munit_errorf(__VA_ARGS__);     \
        }                                  \
    } while (0)
#define munit_assert(expr) munit__that(expr, "assertion failed: %s", #expr)
#define munit_assert_true(expr) munit__that(expr, "assertion failed: %s is not true", #expr)
#define munit_assert_false(expr) munit__that(!(expr), "assertion failed: %s is not false", #expr)

#define munit_assert_type_full(prefix, suffix, T, fmt, a, op, b)                                \
    do {                                                                                        \
        T munit__a = (a);                                                                       \
        T munit__b = (b);                                                                       \
        munit__that(munit__a op munit__b, "assertion failed: %s %s %s (" prefix "%" fmt suffix  \
            " %s " prefix "%" fmt suffix ")", #a, #op, #b, munit__a, #op, munit__b);            \
    } while (0)
#define munit_assert_type(T, fmt, a, op, b) munit_assert_type_full("", "", T, fmt, a, op, b)
#define munit_assert_char(a, op, b) munit_assert_type_full("'\\x", "'", char, "02hhx", a, op, b)
#define munit_assert_uchar(a, op, b) \
    munit_assert_type_full("'\\x", "'", unsigned char, "02hhx", a, op, b)
#define munit_assert_short(a, op, b) munit_assert_type(short, "hd", a, op, b)
#define munit_assert_ushort(a, op, b) munit_assert_type(unsigned short, "hu", a, op, b)
#define munit_assert_int(a, op, b) munit_assert_type(int, "d", a, op, b)
#define munit_assert_uint(a, op, b) munit_assert_type(unsigned int, "u", a, op, b)
#define munit_assert_long(a, op, b) munit_assert_type(long int, "ld", a, op, b)
#define munit_assert_ulong(a, op, b) munit_assert_type(unsigned long int, "lu", a, op, b)
#define munit_assert_llong(a, op, b) munit_assert_type(long long int, "lld", a, op, b)
#define munit_assert_ullong(a, op, b) munit_assert_type(unsigned long long int, "llu", a, op, b)
#define munit_assert_size(a, op, b) munit_assert_type(size_t, "zu", a, op, b)
#define munit_assert_float(a, op, b) munit_assert_type(float, "g", a, op, b)
#define munit_assert_double(a, op, b) munit_assert_type(double, "g", a, op, b)
#define munit_assert_ptr(a, op, b) munit_assert_type(const void *, "p", a, op, b)
#define munit_assert_int8(a, op, b) munit_assert_type(int8_t, PRIi8, a, op, b)
#define munit_assert_uint8(a, op, b) munit_assert_type(uint8_t, PRIu8, a, op, b)
#define munit_assert_int16(a, op, b) munit_assert_type(int16_t, PRIi16, a, op, b)
#define munit_assert_uint16(a, op, b) munit_assert_type(uint16_t, PRIu16, a, op, b)
#define munit_assert_int32(a, op, b) munit_assert_type(int32_t, PRIi32, a, op, b)
#define munit_assert_uint32(a, op, b) munit_assert_type(uint32_t, PRIu32, a, op, b)
#define munit_assert_int64(a, op, b) munit_assert_type(int64_t, PRIi64, a, op, b)
#define munit_assert_uint64(a, op, b) munit_assert_type(uint64_t, PRIu64, a, op, b)

/* |a - b| <= 10^-precision */
double munit__tenth_power(int precision);
#define munit_assert_double_equal(a, b, precision)                                              \
    do {                                                                                        \
        double munit__a = (a), munit__b = (b);                                                  \
        double munit__d = munit__a > munit__b ? munit__a - munit__b : munit__b - munit__a;      \
        munit__that(munit__d <= munit__tenth_power(precision),                                  \
            "assertion failed: %s == %s (%.17g == %.17g)", #a, #b, munit__a, munit__b);         \
    } while (0)
#define munit_assert_string_equal(a, b)                                                          \
    do {                                                                                         \
        const char *munit__a = (a), *munit__b = (b);                                             \
        munit__that(strcmp(munit__a, munit__b) == 0, "assertion failed: string %s == %s (\"%s\"" \
            " == \"%s\")", #a, #b, munit__a, munit__b);                                          \
    } while (0)
#define munit_assert_string_not_equal(a, b)                                                      \
    do {                                                                                         \
        const char *munit__a = (a), *munit__b = (b);                                             \
        munit__that(strcmp(munit__a, munit__b) != 0, "assertion failed: string %s != %s (\"%s\"" \
            " == \"%s\")", #a, #b, munit__a, munit__b);                                          \
    } while (0)
#define munit_assert_memory_equal(size, a, b)                                                     \
    do {                                                                                          \
        const unsigned char *munit__a = (const unsigned char *)(a);                               \
        const unsigned char *munit__b = (const unsigned char *)(b);                               \
        size_t munit__n = (size), munit__i = 0;                                                   \
        while (munit__i < munit__n && munit__a[munit__i] == munit__b[munit__i]) ++munit__i;       \
        munit__that(munit__i == munit__n, "assertion failed: memory %s == %s, at offset %zu", #a, \
            #b, munit__i);                                                                        \
    } while (0)
#define munit_assert_memory_not_equal(size, a, b)                                               \
    munit__that(memcmp((a), (b), (size)) != 0, "assertion failed: memory %s != %s", #a, #b)
#define munit_assert_ptr_equal(a, b) munit_assert_ptr(a, ==, b)
#define munit_assert_ptr_not_equal(a, b) munit_assert_ptr(a, !=, b)
#define munit_assert_null(ptr) munit_assert_ptr(ptr, ==, NULL)
#define munit_assert_not_null(ptr) munit_assert_ptr(ptr, !=, NULL)
#define munit_assert_ptr_null(ptr) munit_assert_null(ptr)
#define munit_assert_ptr_not_null(ptr) munit_assert_not_null(ptr)

/* ---- memory: zeroed, or the test ends ---- */
void *munit_malloc_ex(const char *file, int line, size_t size);
#define munit_malloc(size) munit_malloc_ex(__FILE__, __LINE__, (size))
#define munit_new(type) ((type *)munit_malloc(sizeof(type)))
#define munit_calloc(nmemb, size) munit_malloc((nmemb) * (size))
#define munit_newa(type, nmemb) ((type *)munit_calloc((nmemb), sizeof(type)))

/* ---- random numbers: the same in every test for the same seed ---- */
void munit_rand_seed(uint32_t seed);
uint32_t munit_rand_uint32(void);
int munit_rand_int_range(int min, int max); /* both ends included */
double munit_rand_double(void);             /* in [0, 1] */
void munit_rand_memory(size_t size, uint8_t *buffer);

/* ---- tests and suites ---- */
typedef enum { MUNIT_OK, MUNIT_FAIL, MUNIT_SKIP, MUNIT_ERROR } MunitResult;

typedef struct {
    char *name;
    char **values; /* NULL-terminated; NULL: any value, given by --param */
} MunitParameterEnum;
typedef struct {
    char *name;
    char *value;
} MunitParameter;
const char *munit_parameters_get(const MunitParameter params[], const char *key);

typedef enum {
    MUNIT_TEST_OPTION_NONE = 0,
    MUNIT_TEST_OPTION_SINGLE_ITERATION = 1 << 0,
    MUNIT_TEST_OPTION_TODO = 1 << 1 /* expected to fail */
} MunitTestOptions;
typedef MunitResult (*MunitTestFunc)(const MunitParameter params[], void *user_data_or_fixture);
typedef void *(*MunitTestSetup)(const MunitParameter params[], void *user_data);
typedef void (*MunitTestTearDown)(void *fixture);
typedef struct {
    char *name; /* a NULL name and test end the array */
    MunitTestFunc test;
    MunitTestSetup setup;
    MunitTestTearDown tear_down;
    MunitTestOptions options;
    MunitParameterEnum *parameters; /* ends with a NULL name; may be NULL */
} MunitTest;

typedef enum { MUNIT_SUITE_OPTION_NONE = 0 } MunitSuiteOptions;
typedef struct MunitSuite_ MunitSuite;
struct MunitSuite_ {
    char *prefix;
    MunitTest *tests;
    MunitSuite *suites; /* ends with a NULL prefix; may be NULL */
    unsigned int iterations;
    MunitSuiteOptions options;
};
int munit_suite_main(const MunitSuite *suite, void *user_data, int argc,
    char *const argv[MUNIT_ARRAY_PARAM(argc + 1)]);

#endif /* MUNIT_H */

#ifdef MUNIT_IMPLEMENTATION
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUNIT__MAX_PARAMS 32

static jmp_buf munit__escape;
static struct {
    MunitLogLevel visible, fatal;
    int can_escape;
    uint64_t random;
} munit__now = {MUNIT_LOG_INFO, MUNIT_LOG_ERROR, 0, 0};

typedef struct {
    const char *param_name[MUNIT__MAX_PARAMS];
    const char *param_value[MUNIT__MAX_PARAMS];
    int params;
    unsigned int iterations;
    uint32_t seed;
    int single, no_fork, fatal_failures, show_stderr, color, list, list_params;
    char *const *names; /* tests asked for; a name matches as a prefix */
    int name_count;
    void *user_data;
    int ok, failed, errored, skipped;
} munit__run;

typedef struct {
    int ok, skip, fail, error;
    double wall, cpu;
} munit__report;

static void munit__message(MunitLogLevel level, const char *file, int line, const char *format,
    va_list args)
{
    static const char *const names[] = {"Debug", "Info", "Warning", "Error"};
    if (level < munit__now.visible) return;
    fprintf(stderr, "%s: ", names[level]);
    if (file) fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

MUNIT_NO_RETURN static void munit__end_test(void)
{
    if (munit__now.can_escape) longjmp(munit__escape, 1);
    abort();
}

void munit_logf_ex(MunitLogLevel level, const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    munit__message(level, file, line, format, args);
    va_end(args);
    if (level >= munit__now.fatal) munit__end_test();
}

void munit_errorf_ex(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    munit__message(MUNIT_LOG_ERROR, file, line, format, args);
    va_end(args);
    munit__end_test();
}

double munit__tenth_power(int precision)
{
    double p = 1.0;
    for (; precision > 0; --precision) p /= 10.0;
    for (; precision < 0; ++precision) p *= 10.0;
    return p;
}

void *munit_malloc_ex(const char *file, int line, size_t size)
{
    void *p = calloc(1, size ? size : 1);
    if (!p) munit_errorf_ex(file, line, "out of memory: %zu bytes", size);
    return p;
}

/* A 64-bit counter stepped by an odd constant and scrambled (the splitmix construction). */
void munit_rand_seed(uint32_t seed)
{
    munit__now.random = seed;
}

uint32_t munit_rand_uint32(void)
{
    uint64_t z = (munit__now.random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

int munit_rand_int_range(int min, int max)
{
    uint64_t span, x, limit;
    if (min > max) return munit_rand_int_range(max, min);
    span = (uint64_t)((int64_t)max - (int64_t)min) + 1;
    limit = (UINT64_C(1) << 32) / span * span; /* drop the uneven rest */
    do x = munit_rand_uint32();
    while (x >= limit);
    return (int)((int64_t)min + (int64_t)(x % span));
}

double munit_rand_double(void)
{
    return munit_rand_uint32() / 4294967295.0;
}

void munit_rand_memory(size_t size, uint8_t *buffer)
{
    size_t i;
    for (i = 0; i < size; ++i) buffer[i] = (uint8_t)munit_rand_uint32();
}

const char *munit_parameters_get(const MunitParameter params[], const char *key)
{
    for (; params && params->name; ++params) {
        if (strcmp(params->name, key) == 0) return params->value;
    }
    return NULL;
}

static double munit__seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One iteration in this process, with its fixture; an assertion that fails lands at setjmp. */
static MunitResult munit__iterate(const munit__run *run, const MunitTest *test,
    const MunitParameter *params)
{
    MunitResult result;
    void *fixture;
    munit_rand_seed(run->seed);
    fixture = test->setup ? test->setup(params, run->user_data) : run->user_data;
    result = test->test(params, fixture);
    if (test->tear_down) test->tear_down(fixture);
    return result;
}

static munit__report munit__here(const munit__run *run, const MunitTest *test,
    const MunitParameter *params, unsigned int iterations)
{
    static munit__report r; /* static: survives longjmp */
    unsigned int i;
    double wall = munit__seconds(CLOCK_MONOTONIC), cpu = munit__seconds(CLOCK_PROCESS_CPUTIME_ID);
    memset(&r, 0, sizeof r);
    munit__now.can_escape = 1;
    if (setjmp(munit__escape)) {
        ++r.fail;
    } else {
        for (i = 0; i < iterations && !r.fail && !r.error; ++i) {
            switch (munit__iterate(run, test, params)) {
            case MUNIT_OK: ++r.ok; break;
            case MUNIT_SKIP: ++r.skip; break;
            case MUNIT_FAIL: ++r.fail; break;
            default: ++r.error; break;
            }
        }
    }
    munit__now.can_escape = 0;
    r.wall = munit__seconds(CLOCK_MONOTONIC) - wall;
    r.cpu = munit__seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    return r;
}

/* The same in a child, its messages kept in a file that is shown when the test does not pass. */
static munit__report munit__in_child(const munit__run *run, const MunitTest *test,
    const MunitParameter *params, unsigned int iterations, FILE *messages)
{
    munit__report r = {0, 0, 0, 1, 0.0, 0.0};
    int pipe_fd[2], status = 0;
    ssize_t got;
    pid_t child;
    fflush(NULL);
    if (pipe(pipe_fd) != 0) return r;
    child = fork();
    if (child == 0) {
        close(pipe_fd[0]);
        dup2(fileno(messages), STDERR_FILENO);
        r = munit__here(run, test, params, iterations);
        fflush(NULL);
        got = write(pipe_fd[1], &r, sizeof r);
        _exit(got == (ssize_t)sizeof r ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    close(pipe_fd[1]);
    do got = read(pipe_fd[0], &r, sizeof r);
    while (got < 0 && errno == EINTR);
    close(pipe_fd[0]);
    if (got != (ssize_t)sizeof r) {
        memset(&r, 0, sizeof r);
        r.error = 1;
    }
    if (child > 0) waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        fprintf(messages, "Error: child killed by signal %d\n", WTERMSIG(status));
        r.error = 1;
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(messages, "Error: child exited with status %d\n", WEXITSTATUS(status));
        r.error = 1;
    }
    return r;
}

static void munit__show_file(FILE *f)
{
    char buffer[4096];
    size_t n;
    rewind(f);
    while ((n = fread(buffer, 1, sizeof buffer, f)) > 0) fwrite(buffer, 1, n, stderr);
    fflush(stderr);
}

static void munit__verdict(const munit__run *run, const char *word, const char *color)
{
    if (run->color) printf("[ \033[3%sm%-5s\033[0m ] ", color, word);
    else printf("[ %-5s ] ", word);
}

/* Runs a test with one choice of parameters and counts what came of it. */
static void munit__run_once(munit__run *run, const MunitSuite *suite, const MunitTest *test,
    const MunitParameter *params)
{
    unsigned int n = run->iterations ? run->iterations : suite->iterations ? suite->iterations : 1;
    FILE *messages = run->no_fork ? NULL : tmpfile();
    const MunitParameter *p;
    munit__report r;
    int bad;

    if (test->options & MUNIT_TEST_OPTION_SINGLE_ITERATION) n = 1;
    for (p = params; p->name; ++p) {
        printf("%s%s=%s", p == params ? "  " : ", ", p->name, p->value);
    }
    if (params->name) printf("\n  ");
    r = messages ? munit__in_child(run, test, params, n, messages)
                 : munit__here(run, test, params, n);
    bad = r.fail || r.error;
    if (test->options & MUNIT_TEST_OPTION_TODO) {
        munit__verdict(run, bad ? "TODO" : "FAIL", bad ? "3" : "1");
        if (bad) ++run->ok;
        else ++run->failed;
    } else if (r.error) {
        munit__verdict(run, "ERROR", "1");
        ++run->errored;
    } else if (r.fail) {
        munit__verdict(run, "FAIL", "1");
        ++run->failed;
    } else if (r.ok) {
        munit__verdict(run, "OK", "2");
        ++run->ok;
        printf("[ %.8f / %.8f CPU ]", r.wall / r.ok, r.cpu / r.ok);
    } else {
        munit__verdict(run, "SKIP", "3");
        ++run->skipped;
    }
    putchar('\n');
    fflush(stdout);
    if (messages) {
        if (bad || run->show_stderr) munit__show_file(messages);
        fclose(messages);
    }
}

/* Every combination of parameter values (or, with --single, one random one). */
static void munit__combine(munit__run *run, const MunitSuite *suite, const MunitTest *test,
    MunitParameter *params, int k)
{
    const MunitParameterEnum *e = test->parameters ? test->parameters + k : NULL;
    char *given = NULL;
    int i, n = 0;

    if (!e || !e->name || k >= MUNIT__MAX_PARAMS) {
        params[k].name = params[k].value = NULL;
        munit__run_once(run, suite, test, params);
        return;
    }
    for (i = 0; i < run->params; ++i) {
        if (strcmp(run->param_name[i], e->name) == 0) {
            given = (char *)(uintptr_t)run->param_value[i];
            params[k].name = e->name;
            params[k].value = given;
            munit__combine(run, suite, test, params, k + 1);
        }
    }
    if (given) return;
    while (e->values && e->values[n]) ++n;
    if (n == 0) { /* no value known: leave it out */
        params[k].name = e->name;
        params[k].value = NULL;
        munit__combine(run, suite, test, params, k + 1);
        return;
    }
    for (i = 0; i < n; ++i) {
        params[k].name = e->name;
        params[k].value = e->values[run->single ? munit_rand_int_range(0, n - 1) : i];
        munit__combine(run, suite, test, params, k + 1);
        if (run->single) break;
    }
}

static int munit__wanted(const munit__run *run, const char *name)
{
    int i;
    for (i = 0; i < run->name_count; ++i) {
        if (strncmp(run->names[i], name, strlen(run->names[i])) == 0) return 1;
    }
    return run->name_count == 0;
}

static void munit__list_one(const munit__run *run, const MunitTest *test, const char *name)
{
    const MunitParameterEnum *e;
    int i;
    puts(name);
    for (e = test->parameters; run->list_params && e && e->name; ++e) {
        printf(" - %s: ", e->name);
        for (i = 0; e->values && e->values[i]; ++i) printf("%s%s", i ? ", " : "", e->values[i]);
        puts(e->values ? "" : "Any");
    }
}

static void munit__suite(munit__run *run, const MunitSuite *suite, const char *prefix)
{
    MunitParameter params[MUNIT__MAX_PARAMS + 1];
    const MunitSuite *s;
    const MunitTest *t;
    char name[1024];

    for (t = suite->tests; t && t->test; ++t) {
        snprintf(name, sizeof name, "%s%s%s", prefix, suite->prefix ? suite->prefix : "",
            t->name ? t->name : "");
        if (!munit__wanted(run, name)) continue;
        if (run->list) {
            munit__list_one(run, t, name);
            continue;
        }
        printf("%-*s%s", t->parameters ? 0 : 48, name, t->parameters ? "\n" : " ");
        fflush(stdout);
        munit_rand_seed(run->seed);
        munit__combine(run, suite, t, params, 0);
        if (run->fatal_failures && run->failed + run->errored) return;
    }
    snprintf(name, sizeof name, "%s%s", prefix, suite->prefix ? suite->prefix : "");
    for (s = suite->suites; s && s->prefix; ++s) {
        munit__suite(run, s, name);
        if (run->fatal_failures && run->failed + run->errored) return;
    }
}

static void munit__usage(const char *program)
{
    printf("usage: %s [OPTION]... [TEST]...\n"
           "  --seed SEED           random numbers from SEED (decimal or 0x...)\n"
           "  --iterations N        run each test N times\n"
           "  --param NAME VALUE    use VALUE for the parameter NAME; may be repeated\n"
           "  --list, --list-params print the tests (and their parameters) and stop\n"
           "  --single              one random combination of parameters per test\n"
           "  --log-visible LEVEL   show messages from debug|info|warning|error on\n"
           "  --log-fatal LEVEL     messages from LEVEL on end the test\n"
           "  --no-fork             run tests in this process\n"
           "  --fatal-failures      stop at the first failure\n"
           "  --show-stderr         show the messages of tests that pass, too\n"
           "  --color auto|always|never\n"
           "  --help\n", program);
}

static int munit__level(const char *word, MunitLogLevel *level)
{
    static const char *const words[] = {"debug", "info", "warning", "error"};
    int i;
    for (i = 0; i < 4; ++i) {
        if (strcmp(word, words[i]) == 0) {
            *level = (MunitLogLevel)i;
            return 1;
        }
    }
    return 0;
}

/* Whole of s as a number that fits 32 bits. */
static int munit__number(const char *s, uint32_t *out)
{
    char *end;
    unsigned long long v;
    errno = 0;
    v = strtoull(s, &end, 0);
    *out = (uint32_t)v;
    return *s && *s != '-' && !*end && !errno && v <= UINT32_MAX;
}

/* Reads one option at argv[*i]; returns 1 taken, 0 not an option, -1 wrong, 2 stop with success. */
static int munit__option(munit__run *run, int argc, char *const *argv, int *i)
{
    const char *o = argv[*i] + 2;
    const char *v = *i + 1 < argc ? argv[*i + 1] : NULL;
    uint32_t n;

    if (strncmp(argv[*i], "--", 2) != 0) return 0;
    if (strcmp(o, "help") == 0) {
        munit__usage(argv[0]);
        return 2;
    }
    if (strcmp(o, "list") == 0) return run->list = 1;
    if (strcmp(o, "list-params") == 0) return run->list = run->list_params = 1;
    if (strcmp(o, "single") == 0) return run->single = 1;
    if (strcmp(o, "no-fork") == 0) return run->no_fork = 1;
    if (strcmp(o, "fatal-failures") == 0) return run->fatal_failures = 1;
    if (strcmp(o, "show-stderr") == 0) return run->show_stderr = 1;
    if (!v) return -1;
    ++*i;
    if (strcmp(o, "seed") == 0) return munit__number(v, &run->seed) ? 1 : -1;
    if (strcmp(o, "iterations") == 0) {
        if (!munit__number(v, &n)) return -1;
        run->iterations = n;
        return 1;
    }
    if (strcmp(o, "log-visible") == 0) return munit__level(v, &munit__now.visible) ? 1 : -1;
    if (strcmp(o, "log-fatal") == 0) return munit__level(v, &munit__now.fatal) ? 1 : -1;
    if (strcmp(o, "color") == 0) {
        run->color = strcmp(v, "always") == 0 || (strcmp(v, "auto") == 0 && isatty(STDOUT_FILENO));
        return strcmp(v, "always") && strcmp(v, "auto") && strcmp(v, "never") ? -1 : 1;
    }
    if (strcmp(o, "param") == 0) {
        if (*i + 1 >= argc || run->params >= MUNIT__MAX_PARAMS) return -1;
        run->param_name[run->params] = v;
        run->param_value[run->params++] = argv[++*i];
        return 1;
    }
    return -1;
}

int munit_suite_main(const MunitSuite *suite, void *user_data, int argc,
    char *const argv[MUNIT_ARRAY_PARAM(argc + 1)])
{
    munit__run run;
    struct timeval now;
    int i, taken, done;

    memset(&run, 0, sizeof run);
    gettimeofday(&now, NULL);
    run.seed = (uint32_t)now.tv_sec * 2654435761u ^ (uint32_t)now.tv_usec ^ (uint32_t)getpid();
    run.color = isatty(STDOUT_FILENO);
    run.user_data = user_data;
    for (i = 1; i < argc; ++i) {
        taken = munit__option(&run, argc, argv, &i);
        if (taken == 2) return EXIT_SUCCESS;
        if (taken < 0) {
            fprintf(stderr, "%s: bad option near %s\n", argv[0], argv[i]);
            return EXIT_FAILURE;
        }
        if (taken == 0) break;
    }
    run.names = argv + i;
    run.name_count = argc - i;
    if (run.list) {
        munit__suite(&run, suite, "");
        return EXIT_SUCCESS;
    }
    printf("Running test suite with seed 0x%08" PRIx32 "...\n", run.seed);
    munit__suite(&run, suite, "");
    done = run.ok + run.failed + run.errored;
    printf("%d of %d (%.0f%%) tests successful, %d (%.0f%%) test skipped.\n", run.ok, done,
        done ? 100.0 * run.ok / done : 0.0, run.skipped,
        done + run.skipped ? 100.0 * run.skipped / (done + run.skipped) : 0.0);
    return run.failed + run.errored ? EXIT_FAILURE : EXIT_SUCCESS;
}
#endif /* MUNIT_IMPLEMENTATION */
