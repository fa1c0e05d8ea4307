/* gap_sparse.h - v0.1.0 - sparse symmetric matrix assembled from local blocks - MIT-0, see end
   Stencils of any length give the pattern, local Hessians are added by ranges. Copy this one file.
QUICK START
   #define GAP_SPARSE_IMPLEMENTATION      // in exactly one .c or .cpp file
   #include "gap_sparse.h"
   #include <stdio.h>
   int main(void)
   {
       int spring[4] = {0, 1, 1, 2};                                // two springs, three nodes
       double block[8] = {2, -2, -2, 2, 3, -3, -3, 3}, x[3] = {0, 1, 3}, y[3];
       unsigned char fixed[3] = {1, 0, 0};
       gap_sparse A;
       gap_sparse_init(&A, 3, 1, NULL);                             // 3 nodes, 1 value each
       gap_sparse_link(&A, 2, 2, spring);                           // 2 stencils of 2 nodes
       gap_sparse_build(&A);
       gap_sparse_add(&A, 2, 2, spring, 1.0, block);
       gap_sparse_fix(&A, fixed, NULL);
       gap_sparse_multiply(&A, x, y);
       printf("%d blocks, y = %g %g %g\n", A.ptr[3], y[0], y[1], y[2]); // 5 blocks, y = 0 -4 6
       gap_sparse_free(&A);
       return 0;
   }
GUARANTEES
   Pattern  exactly the pairs of nodes that share a stencil (of the last build, or kept) and the
            whole diagonal; depends on the set of pairs only, never on their order.
   Order    every block is the sum of its contributions in the order of the stencils added: the
            same bits for any number of threads and any cut into ranges.
   Steady   no allocation once the largest sizes were seen. A failed build, keep or multiply leaves
            matrix and values as they were.
   Not promised: that the local blocks are symmetric or finite; nothing here looks at values.
OPTIONS (define before the implementation)
   GAP_SPARSE_STATIC     keep all functions private to this file
   GAP_SPARSE_ASSERT(x)  replaces assert(x)
EDGE CASES
   node -1 in a stencil: unused place, skipped.  below -1 or >= n: EINDEX, A.bad = the stencil.
   one node twice in a stencil: its blocks meet on the diagonal.  node without stencil: zero block.
   adding a pair outside the pattern: EINPUT, A.bad = the first such stencil, values unusable.
   fixed component whose diagonal is 0: gets 1 (negative: its magnitude), so a solver goes through.
   more than 2^31 - 1 blocks or byte counts beyond size_t: ESIZE.
METHOD
   The matrix is the lower triangle by block rows: ptr[n+1], col, blocks b*b row by row, columns
   ascending, diagonal last. A build drops the pairs of nodes of the linked stencils into columns
   and transposes once in order: that sorts the rows and brings equal pairs together, so there is
   no comparison sort and no triplet with a value; linear in stencils x k^2 + n. Only the linked
   stencils are walked, the kept pattern is merged row by row. Values are found by bisection of a
   row when added. In parallel a worker owns bands of rows and passes over all stencils of the
   range, so each block sees its contributions in order and nothing is locked.
NOT HERE   factorisation: gap_ldlt.h.  PSD projection of blocks: gap_psd.h.  files: apps/common/mtx.
HISTORY    0.1.0 first release */
#ifndef GAP_SPARSE_H
#define GAP_SPARSE_H
#define GAP_SPARSE_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_SPARSE_STATIC
#define GAP_SPARSE_API static inline
#else
#define GAP_SPARSE_API extern
#endif
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_sparse_status {
    GAP_SPARSE_OK = 0,      /* done; from build: the pattern is the one before */
    GAP_SPARSE_CHANGED = 1, /* from build: done, and the pattern is a new one */
    GAP_SPARSE_ENOMEM = -2, /* allocation failed, nothing has changed */
    GAP_SPARSE_EINDEX = -3, /* node number out of range, see bad */
    GAP_SPARSE_ESIZE = -4,  /* too many blocks, or block size not 1, 2, 3 or 6 */
    GAP_SPARSE_EINPUT = -6  /* pair outside the pattern, see bad */
} gap_sparse_status;

typedef void (*gap_sparse_range)(void *ctx, int begin, int end, int worker);
typedef void (*gap_sparse_parallel_for)(void *user, int count, int grain, gap_sparse_range fn,
    void *ctx);
typedef void *(*gap_sparse_realloc)(void *user, void *p, size_t old_size, size_t new_size);

typedef struct gap_sparse_options {
    gap_sparse_parallel_for parallel_for; /* NULL: a plain loop */
    void *parallel_user;                  /* handed to parallel_for */
    int workers;                          /* worker numbers lie in [0, workers); 0 means 1 */
    gap_sparse_realloc realloc_fn;        /* NULL: libc */
    void *realloc_user;                   /* handed to realloc_fn */
} gap_sparse_options;

typedef struct gap_sparse_buffer {
    void *p;
    size_t size; /* bytes */
} gap_sparse_buffer;

/* The matrix. The first five fields are for reading by anyone (and val for writing). */
typedef struct gap_sparse {
    int n, b;    /* block rows; values per node */
    int *ptr;    /* n + 1: row i holds the blocks ptr[i] .. ptr[i+1] - 1 */
    int *col;    /* ptr[n]: columns <= i, ascending, the diagonal last */
    double *val; /* b*b*ptr[n]: blocks row by row */
    int bad;     /* after an error: the stencil at fault, else -1 */
    int kept, links;                                  /* private from here on */
    gap_sparse_options opt;
    gap_sparse_buffer mem_ptr[2], mem_col[2], mem_val; /* [0] current pattern, [1] the next */
    gap_sparse_buffer keep_ptr, keep_col, link, pair_ptr, pair, row_ptr, row_col, last;
    gap_sparse_buffer turn_ptr, turn;
    int turned; /* the lists of multiply belong to this pattern */
} gap_sparse;

/* Make an n x n block matrix with a zero diagonal and nothing else.
   A    uninitialised memory; the caller owns it and gives it to gap_sparse_free
   b    values per node: 1, 2, 3 or 6
   opt  may be NULL; copied
   On error A is an empty matrix (n = 0) that may be freed or resized. */
GAP_SPARSE_API int gap_sparse_init(gap_sparse *A, int n, int b, const gap_sparse_options *opt);

/* Forget pattern, kept pattern and links, and take a new size; memory is kept for reuse. */
GAP_SPARSE_API int gap_sparse_resize(gap_sparse *A, int n, int b);

/* Give all memory back; A is then as after a failed init. */
GAP_SPARSE_API void gap_sparse_free(gap_sparse *A);

/* Announce stencils for the next build.
   count  stencils, k nodes each
   node   count*k node numbers, -1 = unused; not copied: must live until the build
   On EINDEX bad is the stencil and the announcement is not made. Cost: one look at each number. */
GAP_SPARSE_API int gap_sparse_link(gap_sparse *A, int count, int k, const int *node);

/* Make the pattern: kept pattern + the links announced since the last build. Values become zero.
   Returns CHANGED, OK (same pattern as before: a factorisation's analysis still holds) or an
   error, which leaves the matrix as it was. The links are used up in any case. */
GAP_SPARSE_API int gap_sparse_build(gap_sparse *A);

/* Let every later build contain the present pattern (elements, while contacts come and go). */
GAP_SPARSE_API int gap_sparse_keep(gap_sparse *A);

/* Set all values to zero. */
GAP_SPARSE_API void gap_sparse_zero(gap_sparse *A);

/* Add local blocks: val += scale * sum of the stencils' blocks.
   node   count*k node numbers, as announced
   scale  of all blocks (a time integrator's weight of the potential)
   block  count blocks of (k*b)*(k*b), row by row; of the two halves only the one that falls into
          the lower triangle is read
   May be called for range after range. Cost: k^2/2 searches and b*b additions each. */
GAP_SPARSE_API int gap_sparse_add(gap_sparse *A, int count, int k, const int *node,
    double scale, const double *block);

/* Add local vectors: y[b*node + c] += scale * piece, in order, with A's size and threads.
   piece  count*k*b values     y  n*b values
   Out of range: EINDEX and bad; the other stencils are added. */
GAP_SPARSE_API int gap_sparse_add_vector(gap_sparse *A, int count, int k, const int *node,
    double scale, const double *piece, double *y);

/* Add scale * m[i] to the b diagonal entries of node i, n values: a lumped mass. */
GAP_SPARSE_API void gap_sparse_add_mass(gap_sparse *A, double scale, const double *m);

/* Add c times the mean magnitude of the diagonal to the whole diagonal: moves all eigenvalues. */
GAP_SPARSE_API void gap_sparse_shift(gap_sparse *A, double c);

/* Prescribe components: zero their rows and columns, keep their diagonal.
   fixed  n values, bit c set = component c of the node; NULL: none
   rhs    n*b values, set to zero there; may be NULL */
GAP_SPARSE_API void gap_sparse_fix(gap_sparse *A, const unsigned char *fixed, double *rhs);

/* y = A x, n*b values each, x and y apart. The first call after a pattern change makes lists of
   the columns; on ENOMEM y is zero. */
GAP_SPARSE_API int gap_sparse_multiply(gap_sparse *A, const double *x, double *y);

/* Diagonal entries, n*b values: for a diagonal preconditioner. */
GAP_SPARSE_API void gap_sparse_diagonal(const gap_sparse *A, double *d);

/* Position of block (i, j), i >= j, in col, or -1; its values are at val + b*b*position. */
GAP_SPARSE_API int gap_sparse_find(const gap_sparse *A, int i, int j);
#ifdef __cplusplus
}
#endif
#endif /* GAP_SPARSE_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_SPARSE_STATIC)) \
    && !defined(GAP_SPARSE_IMPLEMENTATION)
#define GAP_SPARSE_IMPLEMENTATION
#endif
#if defined(GAP_SPARSE_IMPLEMENTATION) && !defined(GAP_SPARSE_IMPLEMENTED)
#define GAP_SPARSE_IMPLEMENTED
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifndef GAP_SPARSE_ASSERT
#include <assert.h>
#define GAP_SPARSE_ASSERT(x) assert(x)
#endif

#define GAP_SPARSE__GRAIN 4096 /* rows per chunk: enough work to wake a thread for */
#define GAP_SPARSE__BANDS 64   /* most bands that share one range of blocks */

/* One announcement: count stencils of k nodes. */
typedef struct gap_sparse__links {
    const int *node;
    int count, k;
} gap_sparse__links;

static inline void *gap_sparse__realloc_libc(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, new_size);
}

static inline void *gap_sparse__resize_memory(const gap_sparse *A, gap_sparse_buffer *m,
    size_t bytes)
{
    gap_sparse_realloc f = A->opt.realloc_fn ? A->opt.realloc_fn : gap_sparse__realloc_libc;
    return f(A->opt.realloc_user, m->p, m->size, bytes);
}

/* At least count items of the given size in m, contents kept. A quarter more than asked, so that a
   slowly growing contact set does not allocate at every build. Returns 0, ENOMEM or ESIZE. */
static inline int gap_sparse__reserve(const gap_sparse *A, gap_sparse_buffer *m, size_t count,
    size_t size)
{
    size_t need = count > 0 ? count : 1;
    void *p;
    if (need > (size_t)-1 / size / 2) return GAP_SPARSE_ESIZE;
    if (need * size <= m->size) return 0;
    need = (need + need / 4) * size;
    p = gap_sparse__resize_memory(A, m, need);
    if (!p) return GAP_SPARSE_ENOMEM;
    m->p = p;
    m->size = need;
    return 0;
}

static inline void gap_sparse__release(const gap_sparse *A, gap_sparse_buffer *m)
{
    if (m->p) gap_sparse__resize_memory(A, m, 0);
    m->p = NULL;
    m->size = 0;
}

static inline void gap_sparse__for(const gap_sparse *A, int count, int grain, gap_sparse_range fn,
    void *ctx)
{
    int i;
    if (A->opt.parallel_for && count > grain) {
        A->opt.parallel_for(A->opt.parallel_user, count, grain, fn, ctx);
        return;
    }
    for (i = 0; i < count; i += grain) {
        fn(ctx, i, count - i > grain ? i + grain : count, 0);
    }
}

/* ---- the pattern ---- */

/* Turn counts at [i + 1] into starts. Returns ESIZE when they pass INT_MAX. */
static inline int gap_sparse__starts(int *ptr, int n)
{
    size_t sum = 0;
    int i;
    ptr[0] = 0;
    for (i = 0; i < n; ++i) {
        sum += (size_t)ptr[i + 1];
        ptr[i + 1] = (int)(sum & INT_MAX); /* wrong from the first overflow on, and then refused */
    }
    return sum > INT_MAX ? GAP_SPARSE_ESIZE : 0;
}

/* Move cursors that have run to the ends of their lists back to the starts. */
static inline void gap_sparse__rewind(int *ptr, int n)
{
    for (; n > 0; --n) ptr[n] = ptr[n - 1];
    ptr[0] = 0;
}

/* All pairs i > j that share a stencil, by columns j: start[j] .. start[j + 1] - 1 in list, a pair
   as often as it occurs. With list NULL only the counts, at start[j + 2]; else start[j + 1] is the
   cursor of column j. */
static inline void gap_sparse__pairs(const gap_sparse *A, size_t *start, int *list)
{
    int l, s, k, m;
    for (l = 0; l < A->links; ++l) {
        const gap_sparse__links *link = (const gap_sparse__links *)A->link.p + l;
        const int *node = link->node;
        for (s = 0; s < link->count; ++s, node += link->k) {
            for (k = 1; k < link->k; ++k) {
                for (m = 0; m < k; ++m) {
                    int i = node[k] > node[m] ? node[k] : node[m];
                    int j = node[k] > node[m] ? node[m] : node[k];
                    if (j < 0 || i == j) continue;
                    if (list) list[start[j + 1]++] = i;
                    else start[j + 2]++;
                }
            }
        }
    }
}

static inline int gap_sparse__columns(gap_sparse *A)
{
    size_t n = (size_t)A->n, j, *start;
    int status = gap_sparse__reserve(A, &A->pair_ptr, n + 2, sizeof(size_t));
    if (status) return status;
    start = (size_t *)A->pair_ptr.p;
    memset(start, 0, (n + 2) * sizeof(size_t));
    gap_sparse__pairs(A, start, NULL);
    for (j = 2; j < n + 2; ++j) start[j] += start[j - 1];
    status = gap_sparse__reserve(A, &A->pair, start[n + 1], sizeof(int));
    if (!status) gap_sparse__pairs(A, start, (int *)A->pair.p);
    return status;
}

/* Rows of the linked part, without diagonal: the columns transposed in ascending order, which sorts
   the rows and brings equal pairs together. last[i] is the column that row i has met last. */
static inline int gap_sparse__linked_rows(gap_sparse *A)
{
    size_t n = (size_t)A->n, q;
    const size_t *start;
    const int *pair;
    int *ptr, *col, *last, j, i, status = gap_sparse__columns(A);
    if (status) return status;
    if ((status = gap_sparse__reserve(A, &A->last, n, sizeof(int))) != 0
        || (status = gap_sparse__reserve(A, &A->row_ptr, n + 1, sizeof(int))) != 0) return status;
    start = (const size_t *)A->pair_ptr.p;
    pair = (const int *)A->pair.p;
    last = (int *)A->last.p;
    ptr = (int *)A->row_ptr.p;
    memset(ptr, 0, (n + 1) * sizeof(int));
    memset(last, -1, n * sizeof(int));
    for (j = 0; j < A->n; ++j) {
        for (q = start[j]; q < start[j + 1]; ++q) {
            i = pair[q];
            ptr[i + 1] += last[i] != j;
            last[i] = j;
        }
    }
    if ((status = gap_sparse__starts(ptr, A->n)) != 0) return status;
    status = gap_sparse__reserve(A, &A->row_col, (size_t)ptr[n], sizeof(int));
    if (status) return status;
    col = (int *)A->row_col.p;
    memset(last, -1, n * sizeof(int));
    for (j = 0; j < A->n; ++j) {
        for (q = start[j]; q < start[j + 1]; ++q) {
            i = pair[q];
            if (last[i] == j) continue;
            col[ptr[i]++] = j;
            last[i] = j;
        }
    }
    gap_sparse__rewind(ptr, A->n);
    return 0;
}

typedef struct gap_sparse__build_job {
    gap_sparse *A;
    int fill;  /* 0: count, 1: write */
    int *ptr;  /* lengths of row i at [i + 1], then starts */
    int *list;
} gap_sparse__build_job;

/* Union of two ascending lists; out NULL: only its length. */
static inline int gap_sparse__unite(const int *a, int na, const int *b, int nb, int *out)
{
    int u = 0, v = 0, m = 0;
    while (u < na && v < nb) {
        int x = a[u], y = b[v];
        if (out) out[m] = x < y ? x : y;
        u += x <= y;
        v += y <= x;
        m++;
    }
    if (out) {
        memcpy(out + m, a + u, (size_t)(na - u) * sizeof(int));
        memcpy(out + m + (na - u), b + v, (size_t)(nb - v) * sizeof(int));
    }
    return m + (na - u) + (nb - v);
}

/* Rows begin..end of kept + linked, diagonal last. */
static inline void gap_sparse__merge_rows(void *ctx, int begin, int end, int worker)
{
    const gap_sparse__build_job *job = (const gap_sparse__build_job *)ctx;
    const gap_sparse *A = job->A;
    const int *kp = A->kept ? (const int *)A->keep_ptr.p : NULL, *kc = (const int *)A->keep_col.p;
    const int *lp = A->links ? (const int *)A->row_ptr.p : NULL, *lc = (const int *)A->row_col.p;
    int i, k;
    (void)worker;
    for (i = begin; i < end; ++i) {
        int u = kp ? kp[i] : 0, nu = kp ? kp[i + 1] - 1 - u : 0; /* without the diagonal */
        int v = lp ? lp[i] : 0, nv = lp ? lp[i + 1] - v : 0, m;
        int *out = job->fill ? job->list + job->ptr[i] : NULL;
        if (nu > 0 && nv > 0) m = gap_sparse__unite(kc + u, nu, lc + v, nv, out);
        else m = nu + nv;
        if (!out) {
            job->ptr[i + 1] = m + 1;
            continue;
        }
        for (k = 0; nv == 0 && k < nu; ++k) out[k] = kc[u + k]; /* too short for memcpy */
        for (k = 0; nu == 0 && k < nv; ++k) out[k] = lc[v + k];
        out[m] = i;
    }
}

/* The next pattern into the spare arrays, and room for its values. */
static inline int gap_sparse__next_pattern(gap_sparse *A)
{
    gap_sparse__build_job job;
    size_t n = (size_t)A->n;
    int status;
    if (A->links && (status = gap_sparse__linked_rows(A)) != 0) return status;
    if ((status = gap_sparse__reserve(A, &A->mem_ptr[1], n + 1, sizeof(int))) != 0) return status;
    job.A = A;
    job.fill = 0;
    job.ptr = (int *)A->mem_ptr[1].p;
    job.list = NULL;
    gap_sparse__for(A, A->n, GAP_SPARSE__GRAIN, gap_sparse__merge_rows, &job);
    if ((status = gap_sparse__starts(job.ptr, A->n)) != 0) return status;
    status = gap_sparse__reserve(A, &A->mem_col[1], (size_t)job.ptr[n], sizeof(int));
    if (status) return status;
    job.fill = 1;
    job.list = (int *)A->mem_col[1].p;
    gap_sparse__for(A, A->n, GAP_SPARSE__GRAIN, gap_sparse__merge_rows, &job);
    status = gap_sparse__reserve(A, &A->mem_val, (size_t)job.ptr[n],
        (size_t)(A->b * A->b) * sizeof(double));
    if (A->val) A->val = (double *)A->mem_val.p; /* it may have moved, the values with it */
    return status;
}

static inline void gap_sparse__swap(gap_sparse_buffer *m)
{
    gap_sparse_buffer t = m[0];
    m[0] = m[1];
    m[1] = t;
}

GAP_SPARSE_API int gap_sparse_build(gap_sparse *A)
{
    size_t n;
    int status, same;
    const int *ptr;
    GAP_SPARSE_ASSERT(A);
    n = (size_t)A->n;
    A->bad = -1;
    status = gap_sparse__next_pattern(A);
    A->links = 0;
    if (status) return status;
    ptr = (const int *)A->mem_ptr[1].p;
    same = A->ptr && memcmp(A->ptr, ptr, (n + 1) * sizeof(int)) == 0
        && memcmp(A->col, A->mem_col[1].p, (size_t)ptr[n] * sizeof(int)) == 0;
    if (!same) {
        gap_sparse__swap(A->mem_ptr);
        gap_sparse__swap(A->mem_col);
        A->ptr = (int *)A->mem_ptr[0].p;
        A->col = (int *)A->mem_col[0].p;
        A->val = (double *)A->mem_val.p;
        A->turned = 0;
    }
    gap_sparse_zero(A);
    return same ? GAP_SPARSE_OK : GAP_SPARSE_CHANGED;
}

GAP_SPARSE_API int gap_sparse_keep(gap_sparse *A)
{
    size_t n;
    int status;
    GAP_SPARSE_ASSERT(A);
    if (A->n == 0) return GAP_SPARSE_OK;
    n = (size_t)A->n;
    if ((status = gap_sparse__reserve(A, &A->keep_ptr, n + 1, sizeof(int))) != 0) return status;
    status = gap_sparse__reserve(A, &A->keep_col, (size_t)A->ptr[n], sizeof(int));
    if (status) return status; /* a larger buffer still holds the old list */
    memcpy(A->keep_ptr.p, A->ptr, (n + 1) * sizeof(int));
    memcpy(A->keep_col.p, A->col, (size_t)A->ptr[n] * sizeof(int));
    A->kept = 1;
    return GAP_SPARSE_OK;
}

GAP_SPARSE_API int gap_sparse_link(gap_sparse *A, int count, int k, const int *node)
{
    size_t q, all;
    gap_sparse__links *link;
    int status;
    GAP_SPARSE_ASSERT(A && count >= 0 && k >= 0 && (node || count == 0 || k == 0));
    A->bad = -1;
    all = (size_t)count * (size_t)k;
    for (q = 0; q < all; ++q) {
        if (node[q] >= -1 && node[q] < A->n) continue;
        A->bad = (int)(q / (size_t)k);
        return GAP_SPARSE_EINDEX;
    }
    if (all == 0) return GAP_SPARSE_OK;
    status = gap_sparse__reserve(A, &A->link, (size_t)A->links + 1, sizeof(gap_sparse__links));
    if (status) return status;
    link = (gap_sparse__links *)A->link.p + A->links;
    link->node = node;
    link->count = count;
    link->k = k;
    A->links++;
    return GAP_SPARSE_OK;
}

/* ---- life ---- */

GAP_SPARSE_API int gap_sparse_init(gap_sparse *A, int n, int b, const gap_sparse_options *opt)
{
    GAP_SPARSE_ASSERT(A && n >= 0);
    memset(A, 0, sizeof *A);
    if (opt) A->opt = *opt;
    return gap_sparse_resize(A, n, b);
}

GAP_SPARSE_API int gap_sparse_resize(gap_sparse *A, int n, int b)
{
    int status = GAP_SPARSE_ESIZE;
    GAP_SPARSE_ASSERT(A && n >= 0);
    A->n = n;
    A->b = b;
    A->ptr = NULL;
    A->col = NULL;
    A->val = NULL;
    A->kept = A->links = A->turned = 0;
    A->bad = -1;
    if ((b == 1 || b == 2 || b == 3 || b == 6) && n < INT_MAX - 1) status = gap_sparse_build(A);
    if (status < 0) A->n = 0;
    return status < 0 ? status : GAP_SPARSE_OK;
}

GAP_SPARSE_API void gap_sparse_free(gap_sparse *A)
{
    int k;
    GAP_SPARSE_ASSERT(A);
    for (k = 0; k < 2; ++k) {
        gap_sparse__release(A, &A->mem_ptr[k]);
        gap_sparse__release(A, &A->mem_col[k]);
    }
    gap_sparse__release(A, &A->mem_val);
    gap_sparse__release(A, &A->keep_ptr);
    gap_sparse__release(A, &A->keep_col);
    gap_sparse__release(A, &A->link);
    gap_sparse__release(A, &A->pair_ptr);
    gap_sparse__release(A, &A->pair);
    gap_sparse__release(A, &A->row_ptr);
    gap_sparse__release(A, &A->row_col);
    gap_sparse__release(A, &A->last);
    gap_sparse__release(A, &A->turn_ptr);
    gap_sparse__release(A, &A->turn);
    A->ptr = A->col = NULL;
    A->val = NULL;
    A->n = A->kept = A->links = A->turned = 0;
}

/* ---- values ---- */

static inline void gap_sparse__zero_rows(void *ctx, int begin, int end, int worker)
{
    gap_sparse *A = (gap_sparse *)ctx;
    size_t bb = (size_t)(A->b * A->b), first = bb * (size_t)A->ptr[begin];
    (void)worker;
    memset(A->val + first, 0, (bb * (size_t)A->ptr[end] - first) * sizeof(double));
}

GAP_SPARSE_API void gap_sparse_zero(gap_sparse *A)
{
    GAP_SPARSE_ASSERT(A);
    gap_sparse__for(A, A->n, GAP_SPARSE__GRAIN, gap_sparse__zero_rows, A);
}

/* Bisection of row i: the last column <= j, kept in [lo, lo + len). */
static inline int gap_sparse__find(const int *ptr, const int *col, int i, int j)
{
    int lo = ptr[i], len = ptr[i + 1] - lo;
    while (len > 1) {
        int half = len / 2;
        lo = col[lo + half] <= j ? lo + half : lo;
        len -= half;
    }
    return col[lo] == j ? lo : -1;
}

GAP_SPARSE_API int gap_sparse_find(const gap_sparse *A, int i, int j)
{
    GAP_SPARSE_ASSERT(A);
    if (i < 0 || i >= A->n || j < 0 || j > i) return -1;
    return gap_sparse__find(A->ptr, A->col, i, j);
}

/* dst += f * the b x b block at src, whose rows are stride apart. */
static inline void gap_sparse__add_block(double *dst, double f, const double *src, size_t stride,
    int b)
{
    int r, c;
    if (b == 3) { /* written out: the size of nearly all blocks */
        const double *s1 = src + stride, *s2 = s1 + stride;
        dst[0] += f * src[0], dst[1] += f * src[1], dst[2] += f * src[2];
        dst[3] += f * s1[0], dst[4] += f * s1[1], dst[5] += f * s1[2];
        dst[6] += f * s2[0], dst[7] += f * s2[1], dst[8] += f * s2[2];
        return;
    }
    for (r = 0; r < b; ++r) {
        for (c = 0; c < b; ++c) dst[r * b + c] += f * src[(size_t)r * stride + (size_t)c];
    }
}

typedef struct gap_sparse__add_job {
    const gap_sparse *A;
    int count, k, bands;
    const int *node;
    double scale;
    const double *piece;
    double *y;                  /* vector to add to */
    int bad[GAP_SPARSE__BANDS]; /* first stencil at fault that each band met, or count */
} gap_sparse__add_job;

/* Bands are made of runs of 64 rows dealt out in turn: contacts crowd in few places. */
static inline int gap_sparse__in_band(int row, int band, int bands)
{
    return ((row >> 6) & (bands - 1)) == band;
}

/* Add one stencil's blocks in the rows of one band. Returns 0 if a pair is not in the pattern. */
static inline int gap_sparse__add_stencil(const gap_sparse__add_job *job, int band, int s)
{
    const gap_sparse *A = job->A;
    int k = job->k, b = A->b, i, j;
    size_t stride = (size_t)(k * b), bb = (size_t)(b * b);
    const int *node = job->node + (size_t)s * (size_t)k;
    const double *H = job->piece + (size_t)s * stride * stride;
    for (i = 0; i < k; ++i) {
        const double *Hi = H + (size_t)(i * b) * stride;
        int row = node[i];
        if (row == -1) continue;
        if (row < 0 || row >= A->n) return 0;
        if (!gap_sparse__in_band(row, band, job->bands)) continue;
        for (j = 0; j < k; ++j) {
            int at, c = node[j];
            if (c > row || c == -1) continue;
            if (c < 0) return 0;
            at = c == row ? A->ptr[row + 1] - 1 : gap_sparse__find(A->ptr, A->col, row, c);
            if (at < 0) return 0;
            gap_sparse__add_block(A->val + bb * (size_t)at, job->scale, Hi + (size_t)(j * b),
                stride, b);
        }
    }
    return 1;
}

static inline void gap_sparse__add_range(void *ctx, int begin, int end, int worker)
{
    gap_sparse__add_job *job = (gap_sparse__add_job *)ctx;
    int band, s;
    (void)worker;
    for (band = begin; band < end; ++band) {
        job->bad[band] = job->count;
        for (s = 0; s < job->count; ++s) {
            if (gap_sparse__add_stencil(job, band, s)) continue;
            if (job->bad[band] == job->count) job->bad[band] = s;
        }
    }
}

static inline void gap_sparse__vector_range(void *ctx, int begin, int end, int worker)
{
    gap_sparse__add_job *job = (gap_sparse__add_job *)ctx;
    const int k = job->k, b = job->A->b, n = job->A->n;
    int band, s, i, c;
    (void)worker;
    for (band = begin; band < end; ++band) {
        const int *node = job->node;
        const double *g = job->piece;
        job->bad[band] = job->count;
        for (s = 0; s < job->count; ++s) {
            for (i = 0; i < k; ++i, ++node, g += b) {
                if (*node < -1 || *node >= n) {
                    if (job->bad[band] == job->count) job->bad[band] = s;
                } else if (*node >= 0 && gap_sparse__in_band(*node, band, job->bands)) {
                    double *y = job->y + (size_t)b * (size_t)*node;
                    for (c = 0; c < b; ++c) y[c] += job->scale * g[c];
                }
            }
        }
    }
}

/* Hand a range of stencils to the workers, one band of rows each (a power of two, so that a band is
   a mask). The number of bands has no influence on the sums: each row is met in stencil order. */
static inline int gap_sparse__add_all(gap_sparse *A, gap_sparse__add_job *job, gap_sparse_range fn)
{
    int bad = job->count, band;
    job->A = A;
    job->bands = 1;
    if (A->opt.parallel_for) {
        while (job->bands < A->opt.workers && job->bands < GAP_SPARSE__BANDS) job->bands *= 2;
    }
    gap_sparse__for(A, job->bands, 1, fn, job);
    for (band = 0; band < job->bands; ++band) {
        if (job->bad[band] < bad) bad = job->bad[band];
    }
    A->bad = bad < job->count ? bad : -1;
    return A->bad;
}

GAP_SPARSE_API int gap_sparse_add(gap_sparse *A, int count, int k, const int *node,
    double scale, const double *block)
{
    gap_sparse__add_job job;
    int i;
    GAP_SPARSE_ASSERT(A && count >= 0 && k >= 0 && (count == 0 || k == 0 || (node && block)));
    job.count = count;
    job.k = k;
    job.node = node;
    job.scale = scale;
    job.piece = block;
    job.y = NULL;
    if (gap_sparse__add_all(A, &job, gap_sparse__add_range) < 0) return GAP_SPARSE_OK;
    node += (size_t)A->bad * (size_t)k;
    for (i = 0; i < k; ++i) {
        if (node[i] < -1 || node[i] >= A->n) return GAP_SPARSE_EINDEX;
    }
    return GAP_SPARSE_EINPUT;
}

GAP_SPARSE_API int gap_sparse_add_vector(gap_sparse *A, int count, int k, const int *node,
    double scale, const double *piece, double *y)
{
    gap_sparse__add_job job;
    GAP_SPARSE_ASSERT(A && count >= 0 && k >= 0 && (count == 0 || k == 0 || (node && piece && y)));
    job.count = count;
    job.k = k;
    job.node = node;
    job.scale = scale;
    job.piece = piece;
    job.y = y;
    return gap_sparse__add_all(A, &job, gap_sparse__vector_range) < 0 ? GAP_SPARSE_OK
                                                                     : GAP_SPARSE_EINDEX;
}

/* The diagonal block of row i is the last one. */
static inline double *gap_sparse__diagonal(const gap_sparse *A, int i)
{
    return A->val + (size_t)(A->b * A->b) * (size_t)(A->ptr[i + 1] - 1);
}

GAP_SPARSE_API void gap_sparse_add_mass(gap_sparse *A, double scale, const double *m)
{
    int i, c;
    GAP_SPARSE_ASSERT(A && (m || A->n == 0));
    for (i = 0; i < A->n; ++i) {
        double *d = gap_sparse__diagonal(A, i);
        for (c = 0; c < A->b; ++c) d[c * (A->b + 1)] += scale * m[i];
    }
}

GAP_SPARSE_API void gap_sparse_shift(gap_sparse *A, double c)
{
    double sum = 0.0;
    int i, k;
    GAP_SPARSE_ASSERT(A);
    for (i = 0; i < A->n; ++i) {
        const double *d = gap_sparse__diagonal(A, i);
        for (k = 0; k < A->b; ++k) sum += fabs(d[k * (A->b + 1)]);
    }
    sum *= c / ((double)A->n * (double)A->b);
    for (i = 0; i < A->n; ++i) {
        double *d = gap_sparse__diagonal(A, i);
        for (k = 0; k < A->b; ++k) d[k * (A->b + 1)] += sum;
    }
}

typedef struct gap_sparse__fix_job {
    gap_sparse *A;
    const unsigned char *fixed;
} gap_sparse__fix_job;

static inline void gap_sparse__fix_rows(void *ctx, int begin, int end, int worker)
{
    const gap_sparse__fix_job *job = (const gap_sparse__fix_job *)ctx;
    const gap_sparse *A = job->A;
    int i, q, r, c, b = A->b;
    (void)worker;
    for (i = begin; i < end; ++i) {
        for (q = A->ptr[i]; q < A->ptr[i + 1]; ++q) {
            double *v = A->val + (size_t)(b * b) * (size_t)q;
            int fi = job->fixed[i], fj = job->fixed[A->col[q]];
            if (!(fi | fj)) continue;
            for (r = 0; r < b; ++r) {
                for (c = 0; c < b; ++c, ++v) {
                    if (!((fi >> r | fj >> c) & 1)) continue;
                    if (A->col[q] == i && r == c) *v = fabs(*v) > 0.0 ? fabs(*v) : 1.0;
                    else *v = 0.0;
                }
            }
        }
    }
}

GAP_SPARSE_API void gap_sparse_fix(gap_sparse *A, const unsigned char *fixed, double *rhs)
{
    gap_sparse__fix_job job;
    int i, c;
    GAP_SPARSE_ASSERT(A);
    if (!fixed) return;
    job.A = A;
    job.fixed = fixed;
    gap_sparse__for(A, A->n, GAP_SPARSE__GRAIN, gap_sparse__fix_rows, &job);
    for (i = 0; rhs && i < A->n; ++i) {
        for (c = 0; c < A->b; ++c) {
            if (fixed[i] >> c & 1) rhs[(size_t)A->b * (size_t)i + (size_t)c] = 0.0;
        }
    }
}

/* ---- product ---- */

/* The columns: turn[2*q], turn[2*q + 1] are block and row of what stands below the diagonal. */
static inline int gap_sparse__turn(gap_sparse *A)
{
    size_t n = (size_t)A->n;
    int *start, *turn, i, q, status;
    if ((status = gap_sparse__reserve(A, &A->turn_ptr, n + 1, sizeof(int))) != 0) return status;
    status = gap_sparse__reserve(A, &A->turn, (size_t)A->ptr[n], 2 * sizeof(int));
    if (status) return status;
    start = (int *)A->turn_ptr.p;
    turn = (int *)A->turn.p;
    memset(start, 0, (n + 1) * sizeof(int));
    for (i = 0; i < A->n; ++i) {
        for (q = A->ptr[i]; q < A->ptr[i + 1] - 1; ++q) start[A->col[q] + 1]++;
    }
    gap_sparse__starts(start, A->n);
    for (i = 0; i < A->n; ++i) {
        for (q = A->ptr[i]; q < A->ptr[i + 1] - 1; ++q) {
            size_t at = (size_t)start[A->col[q]]++;
            turn[2 * at] = q;
            turn[2 * at + 1] = i;
        }
    }
    gap_sparse__rewind(start, A->n);
    A->turned = 1;
    return 0;
}

/* s += V x and s += V^T x for a block V. */
static inline void gap_sparse__times(const double *v, const double *x, int b, double s[6])
{
    int r, c;
    if (b == 3) {
        s[0] += v[0] * x[0] + v[1] * x[1] + v[2] * x[2];
        s[1] += v[3] * x[0] + v[4] * x[1] + v[5] * x[2];
        s[2] += v[6] * x[0] + v[7] * x[1] + v[8] * x[2];
        return;
    }
    for (r = 0; r < b; ++r) {
        for (c = 0; c < b; ++c) s[r] += v[r * b + c] * x[c];
    }
}

static inline void gap_sparse__turned_times(const double *v, const double *x, int b, double s[6])
{
    int r, c;
    if (b == 3) {
        s[0] += v[0] * x[0] + v[3] * x[1] + v[6] * x[2];
        s[1] += v[1] * x[0] + v[4] * x[1] + v[7] * x[2];
        s[2] += v[2] * x[0] + v[5] * x[1] + v[8] * x[2];
        return;
    }
    for (r = 0; r < b; ++r) {
        for (c = 0; c < b; ++c) s[c] += v[r * b + c] * x[r];
    }
}

typedef struct gap_sparse__multiply_job {
    const gap_sparse *A;
    const double *x;
    double *y;
} gap_sparse__multiply_job;

/* y_i = sum over the row, then over the column: each row by itself, so in any order of rows. */
static inline void gap_sparse__multiply_rows(void *ctx, int begin, int end, int worker)
{
    const gap_sparse__multiply_job *job = (const gap_sparse__multiply_job *)ctx;
    const gap_sparse *A = job->A;
    const int *start = (const int *)A->turn_ptr.p, *turn = (const int *)A->turn.p;
    const int b = A->b;
    size_t bb = (size_t)(b * b);
    int i, q, r;
    (void)worker;
    for (i = begin; i < end; ++i) {
        double s[6] = {0, 0, 0, 0, 0, 0};
        for (q = A->ptr[i]; q < A->ptr[i + 1]; ++q) {
            gap_sparse__times(A->val + bb * (size_t)q,
                job->x + (size_t)b * (size_t)A->col[q], b, s);
        }
        for (q = start[i]; q < start[i + 1]; ++q) {
            gap_sparse__turned_times(A->val + bb * (size_t)turn[2 * (size_t)q],
                job->x + (size_t)b * (size_t)turn[2 * (size_t)q + 1], b, s);
        }
        for (r = 0; r < b; ++r) job->y[(size_t)b * (size_t)i + (size_t)r] = s[r];
    }
}

GAP_SPARSE_API int gap_sparse_multiply(gap_sparse *A, const double *x, double *y)
{
    gap_sparse__multiply_job job;
    size_t q;
    int status;
    GAP_SPARSE_ASSERT(A && ((x && y && x != y) || A->n == 0));
    if (A->n == 0) return GAP_SPARSE_OK;
    if (!A->turned && (status = gap_sparse__turn(A)) != 0) {
        for (q = 0; q < (size_t)A->n * (size_t)A->b; ++q) y[q] = 0.0;
        return status;
    }
    job.A = A;
    job.x = x;
    job.y = y;
    gap_sparse__for(A, A->n, GAP_SPARSE__GRAIN / 4, gap_sparse__multiply_rows, &job);
    return GAP_SPARSE_OK;
}

GAP_SPARSE_API void gap_sparse_diagonal(const gap_sparse *A, double *d)
{
    int i, c;
    GAP_SPARSE_ASSERT(A && (d || A->n == 0));
    for (i = 0; i < A->n; ++i) {
        const double *v = gap_sparse__diagonal(A, i);
        for (c = 0; c < A->b; ++c) *d++ = v[c * (A->b + 1)];
    }
}
#endif /* GAP_SPARSE_IMPLEMENTATION */
/*
   MIT No Attribution

   Copyright 2026 the gap authors

   Permission is hereby granted, free of charge, to any person obtaining a copy of this
   software and associated documentation files (the "Software"), to deal in the Software
   without restriction, including without limitation the rights to use, copy, modify,
   merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
   permit persons to whom the Software is furnished to do so.

   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
   INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A
   PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT
   HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
   CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE
   OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
