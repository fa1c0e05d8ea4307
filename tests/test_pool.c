/* test_pool.c - the thread pool: every index once, chunks that do not depend on workers */
#include "pool.h"
#include "util.h"

typedef struct seen {
    int visits[5000], begin_of[5000], end_of[5000];
    int workers, busy[16], clash;
} seen;

static void visit(void *ctx, int begin, int end, int worker)
{
    seen *s = ctx;
    int i;
    if (worker < 0 || worker >= s->workers || s->busy[worker]) s->clash = 1;
    s->busy[worker] = 1;
    for (i = begin; i < end; ++i) {
        ++s->visits[i];
        s->begin_of[i] = begin;
        s->end_of[i] = end;
    }
    s->busy[worker] = 0;
}

static MunitResult covers_once(const MunitParameter params[], void *data)
{
    static const int counts[] = {0, 1, 7, 64, 65, 5000}, grains[] = {0, 1, 3, 64, 100000};
    static seen s;
    int w, a, b, i;
    (void)params;
    (void)data;
    for (w = 0; w <= 8; ++w) {
        pool *p = w ? pool_open(w) : NULL;
        if (w) munit_assert_not_null(p);
        munit_assert_int(pool_workers(p), ==, w ? w : 1);
        for (a = 0; a < 6; ++a) {
            for (b = 0; b < 5; ++b) {
                int grain = grains[b] < 1 ? 1 : grains[b];
                memset(&s, 0, sizeof s);
                s.workers = pool_workers(p);
                pool_for(p, counts[a], grains[b], visit, &s);
                munit_assert_int(s.clash, ==, 0);
                for (i = 0; i < 5000; ++i) munit_assert_int(s.visits[i], ==, i < counts[a]);
                for (i = 0; i < counts[a]; ++i) {
                    int begin = i / grain * grain;
                    munit_assert_int(s.begin_of[i], ==, begin);
                    munit_assert_int(s.end_of[i], ==,
                        counts[a] - begin > grain ? begin + grain : counts[a]);
                }
            }
        }
        pool_close(p);
    }
    return MUNIT_OK;
}

typedef struct sum {
    const double *x;
    double part[100];
} sum;

static void add(void *ctx, int begin, int end, int worker)
{
    sum *s = ctx;
    double t = 0.0;
    int i;
    (void)worker;
    for (i = begin; i < end; ++i) t += s->x[i];
    s->part[begin / 64] = t;
}

static MunitResult same_bits(const MunitParameter params[], void *data)
{
    static const int workers[] = {1, 2, 3, 8};
    double x[5000], first = 0.0;
    int k, i, round;
    (void)params;
    (void)data;
    util_points(x, 5000, 1, 1.0);
    for (k = 0; k < 4; ++k) {
        pool *p = pool_open(workers[k]);
        munit_assert_not_null(p);
        for (round = 0; round < 200; ++round) { /* many short loops: wake-ups race with returns */
            sum s;
            double total = 0.0;
            s.x = x;
            pool_for(p, 5000, 64, add, &s);
            for (i = 0; i < 79; ++i) total += s.part[i];
            if (k == 0 && round == 0) first = total;
            munit_assert_memory_equal(sizeof total, &total, &first);
        }
        pool_close(p);
    }
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/covers_once", covers_once, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/same_bits", same_bits, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/pool", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
