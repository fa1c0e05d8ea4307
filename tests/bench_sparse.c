/* bench_sparse.c - pattern and assembly of contact blocks, beside triplets that are sorted
   Two sheets of 316 x 316 nodes face each other; 50 000 contacts of 4 nodes between them, sorted by
   node as a contact set is. "scattered" numbers the nodes at random: the worst case for the cache.
   The baseline makes scalar triplets of the lower triangle, sorts them by two counting sorts (row
   after column) and adds equal ones: what a general library does, without its overhead. */
#define GAP_SPARSE_IMPLEMENTATION
#include "gap_sparse.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 316, N = 2 * SIDE * SIDE, CONTACTS = 50000, RANGE = 1024, ROUNDS = 9 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned random_state = 1u;

static int draw(int n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (int)((random_state >> 8) % (unsigned)n);
}

static int by_nodes(const void *a, const void *b)
{
    const int *x = (const int *)a, *y = (const int *)b;
    int k;
    for (k = 0; k < 4; ++k) {
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    }
    return 0;
}

/* Vertex of the first sheet against a triangle of the second, at most 2 cells away. */
static void make_contacts(int *node, const int *number)
{
    int c, k;
    for (c = 0; c < CONTACTS; ++c) {
        int i = 3 + draw(SIDE - 8), j = 3 + draw(SIDE - 8), d = draw(2);
        int u = i + draw(5) - 2, v = j + draw(5) - 2, *out = node + 4 * c;
        out[0] = j * SIDE + i;
        out[1] = SIDE * SIDE + v * SIDE + u;
        out[2] = SIDE * SIDE + (v + 1) * SIDE + u + 1;
        out[3] = SIDE * SIDE + (v + 1 - d) * SIDE + u + d;
        for (k = 0; k < 4; ++k) out[k] = number[out[k]];
    }
    qsort(node, CONTACTS, 4 * sizeof(int), by_nodes);
}

typedef struct triplets {
    int *row, *col, *order, *spare, *start, *out_row, *out_col;
    double *val, *out;
    size_t count;
} triplets;

static size_t triplet_assembly(triplets *t, const int *node, const double *block)
{
    size_t q, m = 0, unique = 0;
    int c, i, j, r, s, pass;
    for (c = 0; c < CONTACTS; ++c) {
        const double *H = block + (size_t)(c % RANGE) * 144;
        for (i = 0; i < 12; ++i) {
            r = 3 * node[4 * c + i / 3] + i % 3;
            for (j = 0; j < 12; ++j) {
                s = 3 * node[4 * c + j / 3] + j % 3;
                if (s > r) continue;
                t->row[m] = r;
                t->col[m] = s;
                t->val[m++] = H[12 * i + j];
            }
        }
    }
    for (q = 0; q < m; ++q) t->spare[q] = (int)q;
    for (pass = 0; pass < 2; ++pass) {
        const int *key = pass ? t->row : t->col, *from = pass ? t->order : t->spare;
        int *to = pass ? t->spare : t->order;
        memset(t->start, 0, (3 * N + 1) * sizeof(int));
        for (q = 0; q < m; ++q) t->start[key[q] + 1]++;
        for (q = 0; q < 3 * N; ++q) t->start[q + 1] += t->start[q];
        for (q = 0; q < m; ++q) to[t->start[key[from[q]]]++] = from[q];
    }
    for (q = 0; q < m; ++q) {
        int at = t->spare[q];
        if (unique > 0 && t->out_row[unique - 1] == t->row[at]
            && t->out_col[unique - 1] == t->col[at]) {
            t->out[unique - 1] += t->val[at];
            continue;
        }
        t->out_row[unique] = t->row[at];
        t->out_col[unique] = t->col[at];
        t->out[unique++] = t->val[at];
    }
    return unique;
}

static void *grab(size_t count, size_t size)
{
    void *p = malloc(count * size);
    if (!p) exit(3);
    memset(p, 0, count * size);
    return p;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void run(const char *name, const int *number, const double *block, triplets *t)
{
    int *node = (int *)grab(4 * CONTACTS, sizeof(int)), round, c, status = 0;
    double pattern = 1e9, scatter = 1e9, sorted = 1e9, product = 1e9, t0, t1, t2, t3;
    double *x = (double *)grab(3 * N, sizeof(double)), *y = (double *)grab(3 * N, sizeof(double));
    size_t unique = 0;
    gap_sparse A;
    gap_sparse_init(&A, N, 3, NULL);
    for (round = 0; round < ROUNDS; ++round) {
        make_contacts(node, number); /* another set every time */
        t0 = now();
        status |= gap_sparse_link(&A, CONTACTS, 4, node) < 0;
        status |= gap_sparse_build(&A) < 0;
        t1 = now();
        for (c = 0; c < CONTACTS; c += RANGE) {
            int m = CONTACTS - c < RANGE ? CONTACTS - c : RANGE;
            status |= gap_sparse_add(&A, m, 4, node + 4 * c, 1.0, block) < 0;
        }
        t2 = now();
        unique = triplet_assembly(t, node, block);
        t3 = now();
        gap_sparse_multiply(&A, x, y);
        pattern = least(pattern, t1 - t0);
        scatter = least(scatter, t2 - t1);
        sorted = least(sorted, t3 - t2);
        t3 = now();
        gap_sparse_multiply(&A, x, y);
        product = least(product, now() - t3);
    }
    printf("%s contacts=%d nodes=%d blocks=%d pattern_ms=%.2f add_ms=%.2f total_ms=%.2f "
           "triplets_ms=%.2f (%lu scalars) ratio=%.2f product_ms=%.2f%s\n",
        name, CONTACTS, N, A.ptr[N], 1e3 * pattern, 1e3 * scatter, 1e3 * (pattern + scatter),
        1e3 * sorted, (unsigned long)unique, sorted / (pattern + scatter), 1e3 * product,
        status ? " ERROR" : "");
    gap_sparse_free(&A);
    free(node);
    free(x);
    free(y);
}

int main(void)
{
    int *number = (int *)grab(N, sizeof(int)), i;
    double *block = (double *)grab(RANGE * 144, sizeof(double));
    size_t most = (size_t)CONTACTS * 78 + 1;
    triplets t;
    t.row = (int *)grab(most, sizeof(int));
    t.col = (int *)grab(most, sizeof(int));
    t.order = (int *)grab(most, sizeof(int));
    t.spare = (int *)grab(most, sizeof(int));
    t.out_row = (int *)grab(most, sizeof(int));
    t.out_col = (int *)grab(most, sizeof(int));
    t.start = (int *)grab(3 * N + 1, sizeof(int));
    t.val = (double *)grab(most, sizeof(double));
    t.out = (double *)grab(most, sizeof(double));
    for (i = 0; i < RANGE * 144; ++i) block[i] = 1e-3 * draw(1000);
    for (i = 0; i < N; ++i) number[i] = i;
    run("ordered", number, block, &t);
    for (i = N - 1; i > 0; --i) {
        int j = draw(i + 1), k = number[i];
        number[i] = number[j];
        number[j] = k;
    }
    run("scattered", number, block, &t);
    free(number), free(block), free(t.row), free(t.col), free(t.order), free(t.spare);
    free(t.out_row), free(t.out_col), free(t.start), free(t.val), free(t.out);
    return 0;
}
