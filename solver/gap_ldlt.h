/* gap_ldlt.h - v0.1.0 - sparse LDL^T: ordering, analysis, factor, solve - MIT-0, see end
   Direct solver for the sparse symmetric systems of implicit simulation, without BLAS, METIS or
   any other library. Copy this one file.
QUICK START
   #define GAP_LDLT_IMPLEMENTATION        // in exactly one .c or .cpp file
   #include "gap_ldlt.h"
   #include <stdio.h>
   int main(void)
   {
       int ptr[] = {0, 1, 3, 5}, col[] = {0, 0, 1, 1, 2};  // lower rows, diagonal last
       double val[] = {4, 1, 5, 2, 6}, x[] = {5, 8, 8};    // right-hand side in, solution out
       gap_ldlt s;
       gap_ldlt_init(&s, NULL);
       if (gap_ldlt_analyze(&s, 3, 1, ptr, col, 0, NULL) == GAP_LDLT_OK
           && gap_ldlt_factor(&s, val) == GAP_LDLT_OK && gap_ldlt_solve(&s, 1, x) == GAP_LDLT_OK)
           printf("%.3f %.3f %.3f\n", x[0], x[1], x[2]); // 1.000 1.000 1.000
       gap_ldlt_free(&s);
       return 0;
   }
GUARANTEES
   Same     same binary, input and isa: the same bits, for any number of workers.
   Told     a pivot of the wrong sign is never used in silence: it is replaced, counted and listed
            (SHIFTED), or kept and counted in the inertia, as options.pivot says.
   Clean    after any error the object can be analysed and factored again, or freed.
   Steady   refactoring a known pattern, and solving, allocate nothing.
   Not promised: accuracy beyond backward stability for definite (or quasi-definite) matrices. There
   is no pivoting: a general indefinite matrix may grow; gap_ldlt_refine tells the error.
OPTIONS (define before the implementation)
   GAP_LDLT_STATIC     keep all functions private to this file
   GAP_LDLT_ASSERT(x)  replaces assert(x)
   GAP_LDLT_NO_SIMD    only the plain C kernels
EDGE CASES
   n = 0: OK.  NaN or infinity in val: ENONFIN, s.bad = node of the row.  column out of range:
   EINDEX, s.bad = row.  columns not ascending, diagonal missing: EINPUT, s.bad = row.  singular:
   SHIFTED.  zero matrix: SHIFTED, every pivot.  sizes beyond int or size_t: ESIZE.
METHOD
   The graph of nodes (b x b blocks) is ordered by nested dissection (George 1973): cut by planes
   when coordinates are given, else by multilevel matching (Karypis and Kumar 1998); separators
   are refined by node moves (Fiduccia and Mattheyses 1982); small parts, with the
   surrounding separator as halo, by approximate minimum degree (Amestoy, Davis and Duff 1996).
   Columns with similar rows are merged to fronts where a cost model says it pays; fronts are
   factored by the multifrontal method (Duff and Reid 1983). L is stored in strips of 8 rows,
   which is the form that the register kernels read: nothing is packed, and D comes in free.
NOT HERE   building the matrix: gap_sparse.h.  Newton's method: gap_newton.h.  Unsymmetric matrices.
HISTORY    0.1.0 first release */
#ifndef GAP_LDLT_H
#define GAP_LDLT_H
#include <stddef.h>
#define GAP_LDLT_VERSION 100 /* major*10000 + minor*100 + patch */
#ifdef GAP_LDLT_STATIC
#define GAP_LDLT_API static inline
#else
#define GAP_LDLT_API extern
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef enum gap_ldlt_status {
    GAP_LDLT_OK = 0,
    GAP_LDLT_SHIFTED = 1,  /* factored, but s.shifts pivots were replaced: see s.shift_index */
    GAP_LDLT_ENONFIN = -1, /* a value is NaN or infinite, or overflow on the way; s.bad: its node */
    GAP_LDLT_ENOMEM = -2,
    GAP_LDLT_EINDEX = -3,  /* column index out of range; s.bad: its row */
    GAP_LDLT_ESIZE = -4,   /* more than the indices can count */
    GAP_LDLT_ECANCEL = -5, /* options.cancel said so */
    GAP_LDLT_EINPUT = -6,  /* row s.bad: columns not ascending or no diagonal */
    GAP_LDLT_ESTATE = -16  /* solve without factor, factor without analyse */
} gap_ldlt_status;

enum { GAP_LDLT_ORDER_ND = 0, GAP_LDLT_ORDER_AMD = 1, GAP_LDLT_ORDER_GIVEN = 2 };
enum { GAP_LDLT_PIVOT_SHIFT = 0, GAP_LDLT_PIVOT_KEEP = 1 };
enum { /* instruction sets; those that the machine lacks fall back to the next lower */
    GAP_LDLT_ISA_BEST = 0, GAP_LDLT_ISA_SCALAR = 1, GAP_LDLT_ISA_VECTOR = 2, /* 128 bit */
    GAP_LDLT_ISA_AVX2 = 3, GAP_LDLT_ISA_AVX512 = 4
};

typedef void (*gap_ldlt_range)(void *ctx, int begin, int end, int worker);
typedef void (*gap_ldlt_parallel_for)(void *user, int count, int grain, gap_ldlt_range fn,
    void *ctx);
typedef void *(*gap_ldlt_realloc)(void *user, void *p, size_t old_size, size_t new_size);

/* C(m x n) -= A(m x k) B(n x k)^T, all column by column with leading dimensions lda, ldb, ldc:
   dgemm("N", "T", m, n, k, -1, A, lda, B, ldb, 1, C, ldc). The factorisation needs no other BLAS
   call: the update of large fronts is this product (B already scaled by D). */
typedef void (*gap_ldlt_gemm)(void *user, int m, int n, int k, const double *a, int lda,
    const double *b, int ldb, double *c, int ldc);

typedef struct gap_ldlt_options {
    int order;           /* GAP_LDLT_ORDER_x; 0 means nested dissection */
    const int *perm;     /* ORDER_GIVEN: n nodes, perm[k] is eliminated k-th; read by analyze */
    int isa;             /* GAP_LDLT_ISA_x; 0 means the best that this machine has */
    int pivot;           /* SHIFT: replace pivots of the wrong sign; KEEP: only tiny ones */
    const unsigned char *negative; /* per dof, 1 = pivot expected negative; NULL: all positive */
    double pivot_eps;    /* pivot d is bad if sign d <= eps |a_ii|; 0 means 1e-14 */
    double pivot_delta;  /* and becomes sign delta max(|a_ii|, scale); 0 means 1e-8 */
    int no_scaling;      /* 1: do not scale by powers of two (a_ii to about 1) */
    int (*cancel)(void *user); /* nonzero stops; any worker may call it; NULL: never */
    void *cancel_user;
    gap_ldlt_gemm gemm;  /* used for fronts of gemm_min rows and more; NULL: own kernels */
    void *gemm_user;
    int gemm_min;        /* 0 means 512 */
    gap_ldlt_realloc realloc_fn; /* NULL: libc */
    void *realloc_user;
    gap_ldlt_parallel_for parallel_for; /* NULL: a plain loop */
    void *parallel_user;
    int workers;         /* threads behind parallel_for; 0 means 1 */
} gap_ldlt_options;

typedef struct gap_ldlt_stats {
    double nnz_l;        /* entries of L with diagonal, exact */
    double stored_l;     /* doubles stored for L: with zeros from merging and padding */
    double flops;        /* sum of squared column counts, exact pattern */
    double flops_stored; /* the same of the fronts as stored */
    double chain;        /* flops_stored on the longest chain with options.workers workers */
    int fronts, trees, largest_front; /* the last in dofs */
    int reused;          /* last analyze: 0 fresh, 1 same pattern, 2 part of the known pattern */
    size_t bytes;        /* held now */
    size_t peak_bytes;   /* most ever held */
} gap_ldlt_stats;

enum { GAP_LDLT_SLOTS = 40 };

/* The solver. Fields up to shift_index may be read; the rest is private. */
typedef struct gap_ldlt {
    int n, b;            /* nodes, block size */
    int bad;             /* node an error is about, -1: none */
    int shifts;          /* pivots replaced by the last factorisation */
    int inertia[3];      /* positive, negative, replaced-as-zero pivots */
    const int *shift_index; /* shifts dofs of the input, in elimination order */
    gap_ldlt_stats stats;
    gap_ldlt_options opt;
    int state;           /* 0 empty, 1 analysed, 2 factored */
    int isa;             /* in use */
    int ns, ntask, ntop; /* fronts; subtree tasks and fronts above them */
    int nbase;           /* blocks of the analysed pattern */
    int max_rows, max_cols, max_strips; /* of all fronts */
    int *base_ptr, *base_col, *ptr, *col; /* analysed pattern, current pattern */
    int *perm, *pos;     /* perm[new] = old node and back */
    int *first, *parent, *child, *next; /* per front: first column, tree */
    int *rows, *rel;     /* rows below the pivots; their places in the parent's front */
    ptrdiff_t *row_ptr, *l_ptr, *u_ptr;
    int *task;           /* per front: > 0 in a subtree task, -1 above */
    int *task_first, *task_last, *top;
    int *blk, *blk_row, *blk_col, *blk_ptr; /* input blocks by front */
    ptrdiff_t top_size, arena_size, scratch_size; /* doubles */
    double *l, *d, *scale, *diag, *work, *y;
    int *shift_list;
    void *slot[GAP_LDLT_SLOTS];
    size_t slot_bytes[GAP_LDLT_SLOTS];
} gap_ldlt;

/* Makes an empty solver. opt may be NULL; it is copied (the arrays in it are not). */
GAP_LDLT_API void gap_ldlt_init(gap_ldlt *s, const gap_ldlt_options *opt);

/* Frees all memory; s is as after gap_ldlt_init. */
GAP_LDLT_API void gap_ldlt_free(gap_ldlt *s);

/* Orders the nodes and plans the factorisation of every matrix with this pattern.
   n    nodes
   b    dofs per node, 1 to 8; dof = b node + component
   ptr  n + 1 starts of the block rows
   col  ptr[n] columns: lower triangle, ascending, the diagonal always there and last
   dim, x  coordinates of the nodes, dim (2 or 3) each, only used to order; 0, NULL without.
           Any will do that place neighbours near each other, rest positions for instance.
   Copies what it needs. The same pattern again costs one comparison, a part of the analysed
   pattern (at least 7/10 of its blocks) one pass over it. Cost: O(blocks log n). */
GAP_LDLT_API int gap_ldlt_analyze(gap_ldlt *s, int n, int b, const int *ptr, const int *col,
    int dim, const double *x);

/* Factors P S A S P^T = L D L^T.
   val  b*b per block of the analysed pattern, row by row; only read during the call and only the
        lower half of diagonal blocks.
   OK, SHIFTED or an error. */
GAP_LDLT_API int gap_ldlt_factor(gap_ldlt *s, const double *val);

/* Solves A X = B in place.
   x  nrhs right-hand sides in, solutions out, b n each, one after the other
   One call at a time on one object. */
GAP_LDLT_API int gap_ldlt_solve(gap_ldlt *s, int nrhs, double *x);

/* Improves x by refinement: x += A^-1 (rhs - A x), until the componentwise backward error
   max_i |rhs - A x|_i / (|A| |x| + |rhs|)_i is below 1e-15 or no longer halves.
   val       the matrix meant by the residual: the factored one, or the original of a shifted one
   rhs, x    b n each
   steps     at most so many; 0 only measures
   backward  1 value: the error reached; may be NULL */
GAP_LDLT_API int gap_ldlt_refine(gap_ldlt *s, const double *val, const double *rhs, double *x,
    int steps, double *backward);

/* The pivots D (of the unscaled matrix) by dof of the input; b n values. */
GAP_LDLT_API int gap_ldlt_pivots(const gap_ldlt *s, double *d);

/* Flops on the longest chain if so many workers share the work: subtrees first come first served,
   then each front above them by tiles. stats.flops_stored / this is the possible speed-up. */
GAP_LDLT_API double gap_ldlt_chain(const gap_ldlt *s, int workers);
#ifdef __cplusplus
}
#endif
#endif /* GAP_LDLT_H */

#if (defined(GAP_IMPLEMENTATION) || defined(GAP_LDLT_STATIC)) && !defined(GAP_LDLT_IMPLEMENTATION)
#define GAP_LDLT_IMPLEMENTATION
#endif
#if defined(GAP_LDLT_IMPLEMENTATION) && !defined(GAP_LDLT_IMPLEMENTED)
#define GAP_LDLT_IMPLEMENTED
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifndef GAP_LDLT_ASSERT
#include <assert.h>
#define GAP_LDLT_ASSERT(x) assert(x)
#endif

/* ---- memory: numbered slots that keep their capacity -------------------------------- */

enum gap_ldlt__slot_name {
    GAP_LDLT__BASE_PTR, GAP_LDLT__BASE_COL, GAP_LDLT__PTR, GAP_LDLT__COL, GAP_LDLT__PERM,
    GAP_LDLT__POS, GAP_LDLT__FIRST, GAP_LDLT__PARENT, GAP_LDLT__CHILD, GAP_LDLT__NEXT,
    GAP_LDLT__ROWS, GAP_LDLT__REL, GAP_LDLT__ROW_PTR, GAP_LDLT__L_PTR, GAP_LDLT__U_PTR,
    GAP_LDLT__TASK, GAP_LDLT__TASK_FIRST, GAP_LDLT__TASK_LAST, GAP_LDLT__TOP, GAP_LDLT__BLK,
    GAP_LDLT__BLK_ROW, GAP_LDLT__BLK_COL, GAP_LDLT__BLK_PTR, GAP_LDLT__L, GAP_LDLT__D,
    GAP_LDLT__SCALE, GAP_LDLT__DIAG, GAP_LDLT__WORK, GAP_LDLT__Y, GAP_LDLT__SHIFT,
    GAP_LDLT__OUTCOME, GAP_LDLT__RESIDUAL
};

static inline void *gap_ldlt__realloc_libc(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, new_size);
}

/* At least count * size bytes on a cache line, old contents lost on growth; NULL: no memory. */
static inline void *gap_ldlt__get(gap_ldlt *s, int slot, size_t count, size_t size)
{
    gap_ldlt_realloc fn = s->opt.realloc_fn ? s->opt.realloc_fn : gap_ldlt__realloc_libc;
    size_t need;

    if (count > ((size_t)-1 / 2 - 128) / size) return NULL;
    need = count * size + 64;
    if (s->slot_bytes[slot] < need) {
        if (s->slot[slot]) {
            fn(s->opt.realloc_user, s->slot[slot], s->slot_bytes[slot], 0);
            s->stats.bytes -= s->slot_bytes[slot];
            s->slot[slot] = NULL;
            s->slot_bytes[slot] = 0;
        }
        s->slot[slot] = fn(s->opt.realloc_user, NULL, 0, need);
        if (!s->slot[slot]) return NULL;
        s->slot_bytes[slot] = need;
        s->stats.bytes += need;
        if (s->stats.bytes > s->stats.peak_bytes) s->stats.peak_bytes = s->stats.bytes;
    }
    return (char *)s->slot[slot] + (64 - (size_t)s->slot[slot] % 64) % 64;
}

static inline int *gap_ldlt__ints(gap_ldlt *s, int slot, ptrdiff_t count)
{
    return (int *)gap_ldlt__get(s, slot, (size_t)count, sizeof(int));
}

static inline double *gap_ldlt__doubles(gap_ldlt *s, int slot, ptrdiff_t count)
{
    return (double *)gap_ldlt__get(s, slot, (size_t)count, sizeof(double));
}

static inline ptrdiff_t *gap_ldlt__offsets(gap_ldlt *s, int slot, ptrdiff_t count)
{
    return (ptrdiff_t *)gap_ldlt__get(s, slot, (size_t)count, sizeof(ptrdiff_t));
}

/* A stack of ints and doubles in one block, for the analysis. */
typedef struct gap_ldlt__arena {
    char *base;
    size_t size, used;
} gap_ldlt__arena;

static inline int *gap_ldlt__take(gap_ldlt__arena *a, ptrdiff_t count)
{
    size_t need = ((size_t)count * sizeof(int) + 63) / 64 * 64;
    int *p = (int *)(void *)(a->base + a->used);

    if (need > a->size - a->used) return NULL;
    a->used += need;
    return p;
}

static inline double *gap_ldlt__take_doubles(gap_ldlt__arena *a, ptrdiff_t count)
{
    return (double *)(void *)gap_ldlt__take(a, 2 * count);
}

static inline void gap_ldlt__fill(int *p, int count, int value)
{
    int i;
    for (i = 0; i < count; ++i) p[i] = value;
}

/* ---- approximate minimum degree on the quotient graph ------------------------------- */

/* Graph of nodes 0..n-1, of which the first inner are to be eliminated; the rest (halo) only
   counts in degrees. Lists live in iw: node i owns iw[pe[i] .. pe[i]+len[i]), first elen[i]
   elements, then variables. nv: size of a supervariable, 0: merged away, < 0: in the current
   element. An absorbed item i points to its absorber by pe[i] = -2 - absorber. */
typedef struct gap_ldlt__amd {
    int n, inner, free_at, iw_size, left, min_degree, me, stamp;
    int *iw, *pe, *len, *elen, *nv, *deg, *w, *head, *next, *last, *hash, *hash_next, *when;
} gap_ldlt__amd;

enum { GAP_LDLT__AMD_ARRAYS = 11 };

static inline void gap_ldlt__amd_insert(gap_ldlt__amd *g, int i)
{
    int d = g->deg[i], h = g->head[d];

    if (i >= g->inner) return;
    g->next[i] = h;
    g->last[i] = -1;
    if (h >= 0) g->last[h] = i;
    g->head[d] = i;
    if (d < g->min_degree) g->min_degree = d;
}

static inline void gap_ldlt__amd_remove(gap_ldlt__amd *g, int i)
{
    if (i >= g->inner) return;
    if (g->next[i] >= 0) g->last[g->next[i]] = g->last[i];
    if (g->last[i] >= 0)
        g->next[g->last[i]] = g->next[i];
    else
        g->head[g->deg[i]] = g->next[i];
}

/* Squeezes dead lists out of iw: the first entry of each live list is replaced by a mark. */
static inline void gap_ldlt__amd_compact(gap_ldlt__amd *g)
{
    int i, k, p, q = 0, end = g->free_at;

    for (i = 0; i < g->n; ++i)
        if (g->pe[i] >= 0 && g->len[i] > 0) {
            p = g->pe[i];
            g->pe[i] = g->iw[p];
            g->iw[p] = -2 - i;
        }
    for (p = 0; p < end;) {
        if (g->iw[p] > -2) {
            ++p;
            continue;
        }
        i = -2 - g->iw[p];
        g->iw[q] = g->pe[i];
        g->pe[i] = q;
        for (k = 1; k < g->len[i]; ++k) g->iw[q + k] = g->iw[p + k];
        q += g->len[i];
        p += g->len[i];
    }
    g->free_at = q;
}

/* Puts variable i into the new element, if it is alive and not yet there. */
static inline void gap_ldlt__amd_gather(gap_ldlt__amd *g, int i, int *degree)
{
    int nvi = g->nv[i];

    if (nvi <= 0) return;
    *degree += nvi;
    g->nv[i] = -nvi;
    g->iw[g->free_at++] = i;
    gap_ldlt__amd_remove(g, i);
}

/* Eliminates me: its variables and those of its elements, which it absorbs, become one element. */
static inline void gap_ldlt__amd_form(gap_ldlt__amd *g)
{
    int me = g->me, k, p, degree = 0, start;

    if (g->free_at + g->deg[me] > g->iw_size) gap_ldlt__amd_compact(g);
    start = g->free_at;
    g->nv[me] = -g->nv[me];
    for (k = 0; k < g->elen[me]; ++k) {
        int e = g->iw[g->pe[me] + k];
        for (p = g->pe[e]; p < g->pe[e] + g->len[e]; ++p)
            gap_ldlt__amd_gather(g, g->iw[p], &degree);
        g->pe[e] = -2 - me;
        g->w[e] = 0;
    }
    for (; k < g->len[me]; ++k) gap_ldlt__amd_gather(g, g->iw[g->pe[me] + k], &degree);
    g->pe[me] = start;
    g->len[me] = g->free_at - start;
    g->elen[me] = -1;
    g->deg[me] = degree;
}

/* w[e] - stamp becomes |Le \ Lme| for every element e next to Lme. */
static inline void gap_ldlt__amd_outside(gap_ldlt__amd *g)
{
    int p, k, me = g->me;

    for (p = g->pe[me]; p < g->pe[me] + g->len[me]; ++p) {
        int i = g->iw[p], nvi = -g->nv[i];
        for (k = g->pe[i]; k < g->pe[i] + g->elen[i]; ++k) {
            int e = g->iw[k];
            if (g->w[e] >= g->stamp)
                g->w[e] -= nvi;
            else if (g->w[e] != 0)
                g->w[e] = g->deg[e] + g->stamp - nvi;
        }
    }
}

/* New list, degree bound and hash of variable i of Lme; elements inside Lme are absorbed. */
static inline unsigned gap_ldlt__amd_update(gap_ldlt__amd *g, int i, int *count)
{
    int me = g->me, p = g->pe[i], q = p, k, degree = 0, variables;
    int ends = p + g->elen[i], end = p + g->len[i];
    unsigned hash = 0;

    for (k = p; k < ends; ++k) {
        int e = g->iw[k], out;
        if (g->w[e] == 0) continue;
        out = g->w[e] - g->stamp;
        if (out > 0) {
            degree += out;
            g->iw[q++] = e;
            hash += (unsigned)e;
        } else {
            g->pe[e] = -2 - me;
            g->w[e] = 0;
        }
    }
    g->elen[i] = q - p + 1;
    variables = q;
    for (k = ends; k < end; ++k) {
        int j = g->iw[k];
        if (g->nv[j] <= 0) continue;
        degree += g->nv[j];
        g->iw[q++] = j;
        hash += (unsigned)j;
    }
    *count = q - p;
    /* me goes first: the first variable and the first element move behind the others */
    g->iw[q] = g->iw[variables];
    g->iw[variables] = g->iw[p];
    g->iw[p] = me;
    g->len[i] = q - p + 1;
    if (degree < g->deg[i]) g->deg[i] = degree;
    return (hash + (unsigned)me) % (unsigned)g->n;
}

/* Are the lists of i and j equal? The entries of i carry the stamp. */
static inline int gap_ldlt__amd_same(const gap_ldlt__amd *g, int i, int j)
{
    int p;

    if (g->len[j] != g->len[i] || g->elen[j] != g->elen[i]) return 0;
    for (p = g->pe[j] + 1; p < g->pe[j] + g->len[j]; ++p)
        if (g->w[g->iw[p]] != g->stamp) return 0;
    return 1;
}

/* Merges the variables of one hash bucket that cannot be told apart. */
static inline void gap_ldlt__amd_merge(gap_ldlt__amd *g, int bucket)
{
    int i = g->hash[bucket], j, before, p;

    for (g->hash[bucket] = -1; i >= 0; i = g->hash_next[i]) {
        if (g->hash_next[i] < 0) return;
        for (p = g->pe[i] + 1; p < g->pe[i] + g->len[i]; ++p) g->w[g->iw[p]] = g->stamp;
        for (before = i, j = g->hash_next[i]; j >= 0; j = g->hash_next[j]) {
            if ((i < g->inner) != (j < g->inner) || !gap_ldlt__amd_same(g, i, j)) {
                before = j;
                continue;
            }
            g->nv[i] += g->nv[j]; /* both negative */
            g->nv[j] = 0;
            g->pe[j] = -2 - i;
            g->hash_next[before] = g->hash_next[j];
        }
        ++g->stamp;
    }
}

/* The variables of the new element get new lists, merge, and return to the degree lists. */
static inline void gap_ldlt__amd_renew(gap_ldlt__amd *g, int *buckets)
{
    int me = g->me, p, q, k, used = 0, count, pivot = -g->nv[me];

    for (p = g->pe[me]; p < g->pe[me] + g->len[me]; ++p) {
        int i = g->iw[p];
        unsigned h = gap_ldlt__amd_update(g, i, &count);
        if (count == 0 && i < g->inner) { /* nothing outside Lme: goes with me */
            g->pe[i] = -2 - me;
            pivot -= g->nv[i];
            g->deg[me] += g->nv[i];
            g->left += g->nv[i];
            g->nv[i] = 0;
            continue;
        }
        if (g->hash[h] < 0) buckets[used++] = (int)h;
        g->hash_next[i] = g->hash[h];
        g->hash[h] = i;
    }
    g->stamp += g->n + 1;
    for (k = 0; k < used; ++k) gap_ldlt__amd_merge(g, buckets[k]);
    for (p = q = g->pe[me]; p < g->pe[me] + g->len[me]; ++p) {
        int i = g->iw[p], nvi = -g->nv[i], d;
        if (nvi <= 0) continue;
        g->nv[i] = nvi;
        d = g->deg[i] + g->deg[me] - nvi;
        g->deg[i] = d < g->left - nvi ? d : g->left - nvi;
        gap_ldlt__amd_insert(g, i);
        g->iw[q++] = i;
    }
    g->nv[me] = pivot;
    g->len[me] = q - g->pe[me];
    g->free_at = q;
    g->w[me] = 1;
    if (g->len[me] == 0) {
        g->pe[me] = -1;
        g->w[me] = 0;
    }
}

/* Elimination order of the inner nodes: node i comes when its pivot did, ties by number. */
static inline void gap_ldlt__amd_number(gap_ldlt__amd *g, int *order)
{
    int i, k, *count = g->head;

    gap_ldlt__fill(count, g->n + 1, 0);
    for (i = 0; i < g->inner; ++i) {
        for (k = i; g->when[k] < 0;) k = -2 - g->pe[k];
        g->last[i] = g->when[k];
        ++count[g->when[k] + 1];
    }
    for (k = 0; k < g->n; ++k) count[k + 1] += count[k];
    for (i = 0; i < g->inner; ++i) order[count[g->last[i]]++] = i;
}

/* Orders the inner nodes of a graph; iw holds the lists (len, pe set) and has room for n more.
   space: GAP_LDLT__AMD_ARRAYS * (n + 1) ints behind pe and len. */
static inline void gap_ldlt__amd_order(gap_ldlt__amd *g, int *space, int *order)
{
    int i, step = 0, n = g->n, *buckets;
    int **array[GAP_LDLT__AMD_ARRAYS];

    array[0] = &g->elen, array[1] = &g->nv, array[2] = &g->deg, array[3] = &g->w;
    array[4] = &g->head, array[5] = &g->next, array[6] = &g->last, array[7] = &g->hash;
    array[8] = &g->hash_next, array[9] = &g->when, array[10] = &buckets;
    for (i = 0; i < GAP_LDLT__AMD_ARRAYS; ++i) *array[i] = space + (ptrdiff_t)i * (n + 1);
    gap_ldlt__fill(g->elen, n, 0);
    gap_ldlt__fill(g->nv, n, 1);
    gap_ldlt__fill(g->w, n, 1);
    gap_ldlt__fill(g->when, n, -1);
    gap_ldlt__fill(g->head, n + 1, -1);
    gap_ldlt__fill(g->hash, n + 1, -1);
    g->left = n;
    g->min_degree = n;
    g->stamp = 2;
    for (i = n - 1; i >= 0; --i) {
        g->deg[i] = g->len[i];
        gap_ldlt__amd_insert(g, i);
    }
    for (i = g->inner; i > 0; i = g->left - (n - g->inner)) {
        while (g->head[g->min_degree] < 0) ++g->min_degree;
        g->me = g->head[g->min_degree];
        gap_ldlt__amd_remove(g, g->me);
        g->left -= g->nv[g->me];
        g->when[g->me] = step++;
        gap_ldlt__amd_form(g);
        if (g->stamp > INT_MAX - 3 * n - 3) {
            for (i = 0; i < n; ++i) g->w[i] = g->w[i] != 0;
            g->stamp = 2;
        }
        gap_ldlt__amd_outside(g);
        gap_ldlt__amd_renew(g, buckets);
    }
    gap_ldlt__amd_number(g, order);
}

/* ---- node separators: refinement by moves ------------------------------------------- */

/* A part of the graph, or a coarse version of it. vw, ew NULL: all weights are 1. side: 0, 1, or
   2 for the separator. */
typedef struct gap_ldlt__graph {
    int n, total;               /* nodes, their weight */
    int *ptr, *adj, *vw, *ew;
    int *side;
    int weight[3];              /* of side 0, 1 and of the separator */
} gap_ldlt__graph;

/* Two heaps (move to side 0, move to side 1) over the nodes of the separator. */
typedef struct gap_ldlt__moves {
    int *heap[2], *at[2], *gain[2], size[2];
    int *lock, *log, *log_ptr;  /* moves done, each followed by the nodes that it pulled in */
    int *list;                  /* the separator */
} gap_ldlt__moves;

static inline int gap_ldlt__weight(const gap_ldlt__graph *g, int i)
{
    return g->vw ? g->vw[i] : 1;
}

static inline int gap_ldlt__above(const gap_ldlt__moves *m, int k, int a, int b)
{
    return m->gain[k][a] > m->gain[k][b] || (m->gain[k][a] == m->gain[k][b] && a < b);
}

static inline void gap_ldlt__heap_up(gap_ldlt__moves *m, int k, int at, int v)
{
    int *h = m->heap[k];

    while (at > 0 && gap_ldlt__above(m, k, v, h[(at - 1) / 2])) {
        h[at] = h[(at - 1) / 2];
        m->at[k][h[at]] = at;
        at = (at - 1) / 2;
    }
    h[at] = v;
    m->at[k][v] = at;
}

static inline void gap_ldlt__heap_down(gap_ldlt__moves *m, int k, int at, int v)
{
    int *h = m->heap[k], c;

    while ((c = 2 * at + 1) < m->size[k]) {
        if (c + 1 < m->size[k] && gap_ldlt__above(m, k, h[c + 1], h[c])) ++c;
        if (!gap_ldlt__above(m, k, h[c], v)) break;
        h[at] = h[c];
        m->at[k][h[at]] = at;
        at = c;
    }
    h[at] = v;
    m->at[k][v] = at;
}

static inline void gap_ldlt__heap_remove(gap_ldlt__moves *m, int k, int v)
{
    int at = m->at[k][v], last;

    if (at < 0) return;
    m->at[k][v] = -1;
    last = m->heap[k][--m->size[k]];
    if (last == v) return;
    if (at > 0 && gap_ldlt__above(m, k, last, m->heap[k][(at - 1) / 2]))
        gap_ldlt__heap_up(m, k, at, last);
    else
        gap_ldlt__heap_down(m, k, at, last);
}

static inline void gap_ldlt__heap_change(gap_ldlt__moves *m, int k, int v, int by)
{
    m->gain[k][v] += by;
    if (m->at[k][v] < 0) return;
    if (by > 0)
        gap_ldlt__heap_up(m, k, m->at[k][v], v);
    else
        gap_ldlt__heap_down(m, k, m->at[k][v], v);
}

/* Moving v to side k takes w(v) out of the separator and the neighbours on side 1-k into it. */
static inline void gap_ldlt__gains(const gap_ldlt__graph *g, gap_ldlt__moves *m, int v)
{
    int p, w[3] = {0, 0, 0};

    for (p = g->ptr[v]; p < g->ptr[v + 1]; ++p)
        w[g->side[g->adj[p]]] += gap_ldlt__weight(g, g->adj[p]);
    m->gain[0][v] = gap_ldlt__weight(g, v) - w[1];
    m->gain[1][v] = gap_ldlt__weight(g, v) - w[0];
}

static inline void gap_ldlt__offer(gap_ldlt__moves *m, int v)
{
    int k;

    for (k = 0; k < 2; ++k) gap_ldlt__heap_up(m, k, m->size[k]++, v);
}

/* u of side 1-k comes into the separator. */
static inline void gap_ldlt__pull(gap_ldlt__graph *g, gap_ldlt__moves *m, int u, int k, int heap)
{
    int p, w = gap_ldlt__weight(g, u);

    g->side[u] = 2;
    g->weight[1 - k] -= w;
    g->weight[2] += w;
    for (p = g->ptr[u]; p < g->ptr[u + 1]; ++p)
        if (g->side[g->adj[p]] == 2) gap_ldlt__heap_change(m, k, g->adj[p], w);
    gap_ldlt__gains(g, m, u);
    if (heap && !m->lock[u]) gap_ldlt__offer(m, u);
}

/* Moves v from the separator to side k; *log grows by the nodes pulled in. */
static inline void gap_ldlt__move(gap_ldlt__graph *g, gap_ldlt__moves *m, int v, int k, int *log)
{
    int p, w = gap_ldlt__weight(g, v);

    gap_ldlt__heap_remove(m, 0, v);
    gap_ldlt__heap_remove(m, 1, v);
    m->lock[v] = 1;
    g->side[v] = k;
    g->weight[2] -= w;
    g->weight[k] += w;
    for (p = g->ptr[v]; p < g->ptr[v + 1]; ++p) {
        int u = g->adj[p];
        if (g->side[u] == 2) gap_ldlt__heap_change(m, 1 - k, u, -w);
    }
    for (p = g->ptr[v]; p < g->ptr[v + 1]; ++p) {
        int u = g->adj[p];
        if (g->side[u] != 1 - k) continue;
        gap_ldlt__pull(g, m, u, k, 1);
        m->log[(*log)++] = u;
    }
}

/* Takes back moves from the end until only keep of them stand. */
static inline void gap_ldlt__undo(gap_ldlt__graph *g, gap_ldlt__moves *m, int moves, int keep)
{
    int i, p;

    for (i = moves - 1; i >= keep; --i) {
        int v = m->log[m->log_ptr[i]], k = g->side[v], w = gap_ldlt__weight(g, v);
        for (p = m->log_ptr[i] + 1; p < m->log_ptr[i + 1]; ++p) {
            int u = m->log[p];
            g->side[u] = 1 - k;
            g->weight[2] -= gap_ldlt__weight(g, u);
            g->weight[1 - k] += gap_ldlt__weight(g, u);
        }
        g->side[v] = 2;
        g->weight[k] -= w;
        g->weight[2] += w;
    }
}

/* Which side takes its best node: the better gain, then the lighter side; -1: none may. */
static inline int gap_ldlt__choose(const gap_ldlt__graph *g, const gap_ldlt__moves *m, int limit)
{
    int k, ok[2], light = g->weight[0] <= g->weight[1] ? 0 : 1;

    for (k = 0; k < 2; ++k)
        ok[k] = m->size[k] > 0
            && g->weight[k] + gap_ldlt__weight(g, m->heap[k][0]) <= limit;
    if (!ok[0] && !ok[1]) return -1;
    if (!ok[0] || !ok[1]) return ok[0] ? 0 : 1;
    if (m->gain[0][m->heap[0][0]] == m->gain[1][m->heap[1][0]]) return light;
    return m->gain[0][m->heap[0][0]] > m->gain[1][m->heap[1][0]] ? 0 : 1;
}

/* One pass of moves over the separator, each node at most once, cut back to the best state seen.
   limit: greatest weight of a side; patience: moves without success. 1: the separator improved. */
static inline int gap_ldlt__pass(gap_ldlt__graph *g, gap_ldlt__moves *m, int limit, int patience)
{
    int i, v, k, log = 0, moves = 0, best = g->weight[2], keep = 0, count = 0, start = best;
    int spread = abs(g->weight[0] - g->weight[1]), spread0 = spread;

    m->size[0] = m->size[1] = 0;
    for (i = 0; i < g->n; ++i)
        if (g->side[i] == 2) m->list[count++] = i;
    for (i = 0; i < count; ++i) {
        gap_ldlt__gains(g, m, m->list[i]);
        gap_ldlt__offer(m, m->list[i]);
    }
    while (moves - keep < patience && (k = gap_ldlt__choose(g, m, limit)) >= 0) {
        v = m->heap[k][0];
        m->log_ptr[moves++] = log;
        m->log[log++] = v;
        gap_ldlt__move(g, m, v, k, &log);
        m->log_ptr[moves] = log;
        i = abs(g->weight[0] - g->weight[1]);
        if (g->weight[2] < best || (g->weight[2] == best && i < spread)) {
            best = g->weight[2];
            spread = i;
            keep = moves;
        }
    }
    gap_ldlt__undo(g, m, moves, keep);
    for (i = 0; i < count + log; ++i) { /* clean for the next pass */
        v = i < count ? m->list[i] : m->log[i - count];
        m->lock[v] = 0;
        m->at[0][v] = m->at[1][v] = -1;
    }
    return best < start || spread < spread0;
}

/* Memory of the refinement for n nodes: 8 n + 2 n (log) + n ints. */
static inline int gap_ldlt__moves_take(gap_ldlt__moves *m, gap_ldlt__arena *a, int n)
{
    int k;

    for (k = 0; k < 2; ++k) {
        m->heap[k] = gap_ldlt__take(a, n);
        m->at[k] = gap_ldlt__take(a, n);
        m->gain[k] = gap_ldlt__take(a, n);
    }
    m->lock = gap_ldlt__take(a, n);
    m->list = gap_ldlt__take(a, n);
    m->log = gap_ldlt__take(a, 3 * (ptrdiff_t)n);
    m->log_ptr = gap_ldlt__take(a, n + 1);
    return m->log_ptr != NULL;
}

static inline void gap_ldlt__refine_separator(gap_ldlt__graph *g, gap_ldlt__moves *m, int passes)
{
    int limit = (int)(0.6 * g->total), patience = g->n / 50, least = 0, i, p;

    for (i = 0; i < g->n; ++i)
        if (gap_ldlt__weight(g, i) > least) least = gap_ldlt__weight(g, i);
    if (limit < g->total / 2 + least) limit = g->total / 2 + least;
    if (patience < 20) patience = 20;
    if (patience > 60) patience = 60;
    gap_ldlt__fill(m->lock, g->n, 0);
    gap_ldlt__fill(m->at[0], g->n, -1);
    gap_ldlt__fill(m->at[1], g->n, -1);
    for (p = 0; p < passes; ++p)
        if (!gap_ldlt__pass(g, m, limit, patience)) break;
}

/* ---- bisection by planes ------------------------------------------------------------ */

/* Reorders id[0..n) so that the k smallest keys come first (keys by id). */
static inline void gap_ldlt__select(int *id, const double *key, int n, int k)
{
    int lo = 0, hi = n - 1;

    while (lo < hi) {
        double a = key[id[lo]], b = key[id[(lo + hi) / 2]], c = key[id[hi]], pivot;
        int i = lo, j = hi, t;
        pivot = a < b ? (b < c ? b : (a < c ? c : a)) : (a < c ? a : (b < c ? c : b));
        while (i <= j) {
            while (key[id[i]] < pivot) ++i;
            while (key[id[j]] > pivot) --j;
            if (i <= j) {
                t = id[i];
                id[i++] = id[j];
                id[j--] = t;
            }
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            return;
    }
}

/* Shell sort of id[0..n) by key, ties by number. */
static inline void gap_ldlt__sort(int *id, const double *key, int n)
{
    int gap = 1, i, j;

    while (gap < n / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (i = gap; i < n; ++i) {
            int v = id[i];
            for (j = i; j >= gap; j -= gap) {
                int o = id[j - gap];
                if (key[o] < key[v] || (key[o] == key[v] && o < v)) break;
                id[j] = o;
            }
            id[j] = v;
        }
}

static inline void gap_ldlt__weigh(gap_ldlt__graph *g)
{
    int i;

    g->weight[0] = g->weight[1] = g->weight[2] = 0;
    for (i = 0; i < g->n; ++i) g->weight[g->side[i]] += gap_ldlt__weight(g, i);
}

/* Separator weight, made larger for halves of unequal weight: what the search minimises. */
static inline double gap_ldlt__badness(const gap_ldlt__graph *g)
{
    double a = g->weight[0], b = g->weight[1], t = g->total;
    double heavy = (a > b ? a : b) / t;

    if (a == 0 || b == 0) return 1e30;
    return g->weight[2] * (1.0 + (heavy > 0.55 ? 4 * (heavy - 0.55) : 0));
}

/* Directions worth a try: the axes along which the part is long, and the two diagonals between the
   longest ones. d: 3 each; returns their number, up to 5. */
static inline int gap_ldlt__directions(const double *x, int n, int dim, double d[5][3])
{
    double lo[3], hi[3], long1 = -1.0, long2 = -1.0;
    int i, c, a1 = 0, a2 = 0, count = 0;

    for (c = 0; c < dim; ++c) lo[c] = hi[c] = x[c];
    for (i = 0; i < n; ++i)
        for (c = 0; c < dim; ++c) {
            double v = x[(ptrdiff_t)dim * i + c];
            if (v < lo[c]) lo[c] = v;
            if (v > hi[c]) hi[c] = v;
        }
    for (c = 0; c < dim; ++c) {
        double e = hi[c] - lo[c];
        if (e > long1)
            long2 = long1, a2 = a1, long1 = e, a1 = c;
        else if (e > long2)
            long2 = e, a2 = c;
    }
    memset(d, 0, 5 * sizeof d[0]);
    for (c = 0; c < dim; ++c)
        if (c == a1 || hi[c] - lo[c] > 0.4 * long1) d[count++][c] = 1.0;
    if (long2 > 0.5 * long1)
        for (c = -1; c < 2; c += 2) {
            d[count][a1] = 1.0;
            d[count++][a2] = c;
        }
    return count;
}

/* A sweep of planes normal to direction d over the middle fifth of the nodes: every place between
   two neighbours in the order is a cut, and all their boundaries follow from one pass over the
   edges: node v of rank r is in the boundary of the lower side for cuts in (r, largest rank of its
   neighbours], of the upper side for cuts in (smallest rank, r].
   rank: by node, cut to [lo - 1, hi]; count: 2 (n + 2) ints. The best cut goes to *cut, its side to
   *from; returns its boundary, a little more for unequal halves. */
static inline double gap_ldlt__sweep(const gap_ldlt__graph *g, const double *x, int dim,
    const double d[3], int *id, double *key, int *rank, int *count, int *cut, int *from)
{
    int i, c, p, n = g->n, lo = (int)(0.4 * n), hi = (int)(0.6 * n), *end = count + n + 2;
    double best = 1e300;

    for (i = 0; i < n; ++i) {
        const double *q = x + (ptrdiff_t)dim * i;
        id[i] = i;
        key[i] = 0.0;
        for (c = 0; c < dim; ++c) key[i] += d[c] * q[c];
    }
    gap_ldlt__select(id, key, n, lo);
    gap_ldlt__select(id + lo, key, n - lo, hi - lo);
    gap_ldlt__sort(id + lo, key, hi - lo);
    for (i = 0; i < n; ++i) rank[id[i]] = i < lo ? lo - 1 : (i < hi ? i : hi);
    for (i = lo; i <= hi + 1; ++i) count[i] = end[i] = 0;
    for (i = 0; i < n; ++i) {
        int r = rank[i], least = r, most = r;
        for (p = g->ptr[i]; p < g->ptr[i + 1]; ++p) {
            int o = rank[g->adj[p]];
            if (o < least) least = o;
            if (o > most) most = o;
        }
        ++count[r + 1], --count[most + 1];
        ++end[least + 1], --end[r + 1];
    }
    for (i = lo; i <= hi; ++i) {
        double off = (i - 0.5 * n) / n, worse = 1.0 + 8.0 * off * off;
        if (i > lo) count[i] += count[i - 1], end[i] += end[i - 1];
        for (c = 0; c < 2; ++c)
            if (worse * (c ? end[i] : count[i]) < best && i > 0 && i < n) {
                best = worse * (c ? end[i] : count[i]);
                *cut = i;
                *from = c;
            }
    }
    return best;
}

/* Moves the nodes of side `from` that touch the other side into the separator. */
static inline void gap_ldlt__separate(gap_ldlt__graph *g, int from)
{
    int i, p;

    for (i = 0; i < g->n; ++i)
        if (g->side[i] == from)
            for (p = g->ptr[i]; p < g->ptr[i + 1]; ++p)
                if (g->side[g->adj[p]] == 1 - from) {
                    g->side[i] = 2;
                    break;
                }
}

/* The two directions with the smallest boundary are refined; the better separator stays.
   0: no room. */
static inline int gap_ldlt__cut_by_plane(gap_ldlt__graph *g, const double *x, int dim,
    gap_ldlt__moves *m, gap_ldlt__arena *a)
{
    size_t mark = a->used;
    int *id = gap_ldlt__take(a, g->n), *count = gap_ldlt__take(a, 2 * (g->n + 2));
    int *keep = id, *rank[3], cut[3], from[3], c, i, tries;
    double *key = gap_ldlt__take_doubles(a, g->n), d[5][3], least[3] = {1e300, 1e300, 1e300};
    double bad, first = 0.0;

    for (c = 0; c < 3; ++c) rank[c] = gap_ldlt__take(a, g->n);
    if (!id || !count || !key || !rank[0] || !rank[1] || !rank[2]) return 0;
    tries = gap_ldlt__directions(x, g->n, dim, d);
    for (c = 0; c < tries; ++c) { /* slot 2 is new; slots 0 and 1 are the best so far, in order */
        least[2] = gap_ldlt__sweep(g, x, dim, d[c], id, key, rank[2], count, &cut[2], &from[2]);
        for (i = 2; i > 0 && least[i] < least[i - 1]; --i) {
            int *r = rank[i], k = cut[i], f = from[i];
            bad = least[i];
            rank[i] = rank[i - 1], cut[i] = cut[i - 1], from[i] = from[i - 1];
            least[i] = least[i - 1];
            rank[i - 1] = r, cut[i - 1] = k, from[i - 1] = f, least[i - 1] = bad;
        }
    }
    for (c = 0; c < 2 && least[c] <= 1.1 * least[0]; ++c) {
        for (i = 0; i < g->n; ++i) g->side[i] = rank[c][i] >= cut[c];
        gap_ldlt__separate(g, from[c]);
        gap_ldlt__weigh(g);
        gap_ldlt__refine_separator(g, m, 8);
        bad = gap_ldlt__badness(g);
        if (c == 0 || bad < first) {
            first = bad;
            memcpy(keep, g->side, (size_t)g->n * sizeof *keep);
        }
    }
    memcpy(g->side, keep, (size_t)g->n * sizeof *keep);
    gap_ldlt__weigh(g);
    a->used = mark;
    return 1;
}

/* ---- bisection by coarse graphs ----------------------------------------------------- */

/* Matches every node with the unmatched neighbour of the heaviest edge (light nodes first);
   map: coarse number of each node. */
static inline int gap_ldlt__match(const gap_ldlt__graph *g, int *map, int *order, int heaviest)
{
    int i, k, p, n = g->n, coarse = 0, *count = map;

    /* visit by ascending number of neighbours: nodes with few choices choose first */
    gap_ldlt__fill(count, n + 1, 0);
    for (i = 0; i < n; ++i) {
        k = g->ptr[i + 1] - g->ptr[i];
        ++count[(k < n ? k : n - 1) + 1];
    }
    for (i = 0; i < n; ++i) count[i + 1] += count[i];
    for (i = 0; i < n; ++i) {
        /* a fixed shuffle of the numbers keeps the matching from following the numbering */
        int v = (int)(((long long)i * 7919 + 13) % n);
        if (n % 7919 == 0) v = i;
        k = g->ptr[v + 1] - g->ptr[v];
        order[count[k < n ? k : n - 1]++] = v;
    }
    gap_ldlt__fill(map, n, -1);
    for (k = 0; k < n; ++k) {
        int v = order[k], best = v, weight = -1;
        if (map[v] >= 0) continue;
        for (p = g->ptr[v]; p < g->ptr[v + 1]; ++p) {
            int u = g->adj[p], w = g->ew ? g->ew[p] : 1;
            if (map[u] >= 0 || w <= weight) continue;
            if (gap_ldlt__weight(g, v) + gap_ldlt__weight(g, u) > heaviest) continue;
            best = u;
            weight = w;
        }
        map[v] = map[best] = coarse++;
    }
    return coarse;
}

/* The graph of the matched pairs; edges between two pairs add up. 0: no room in the arena. */
static inline int gap_ldlt__coarsen(const gap_ldlt__graph *f, const int *map, gap_ldlt__graph *c,
    gap_ldlt__arena *a)
{
    int *first = gap_ldlt__take(a, c->n), *second = gap_ldlt__take(a, c->n);
    int *seen = gap_ldlt__take(a, c->n), i, k, p, used = 0;

    c->ptr = gap_ldlt__take(a, c->n + 1);
    c->vw = gap_ldlt__take(a, c->n);
    c->side = gap_ldlt__take(a, c->n);
    c->adj = gap_ldlt__take(a, f->ptr[f->n]);
    c->ew = gap_ldlt__take(a, f->ptr[f->n]);
    if (!c->ew || !first || !second || !seen || !c->ptr || !c->vw || !c->side || !c->adj) return 0;
    gap_ldlt__fill(first, c->n, -1);
    gap_ldlt__fill(seen, c->n, -1);
    for (i = 0; i < f->n; ++i) {
        second[map[i]] = i;
        if (first[map[i]] < 0) first[map[i]] = i;
    }
    c->total = f->total;
    c->ptr[0] = 0;
    for (i = 0; i < c->n; ++i) {
        int begin = used;
        c->vw[i] = 0;
        for (k = first[i];; k = second[i]) {
            c->vw[i] += gap_ldlt__weight(f, k);
            for (p = f->ptr[k]; p < f->ptr[k + 1]; ++p) {
                int to = map[f->adj[p]], w = f->ew ? f->ew[p] : 1;
                if (to == i) continue;
                if (seen[to] < begin) {
                    seen[to] = used;
                    c->adj[used] = to;
                    c->ew[used++] = w;
                } else {
                    c->ew[seen[to]] += w;
                }
            }
            if (k == second[i]) break;
        }
        c->ptr[i + 1] = used;
    }
    return 1;
}

/* Grows side 0 breadth first from a seed to half the weight; its last layer is the separator. */
static inline void gap_ldlt__grow(gap_ldlt__graph *g, int seed, int *queue)
{
    int head = 0, tail = 0, i, p, half = g->total / 2;

    gap_ldlt__fill(g->side, g->n, 1);
    g->side[seed] = 2;
    queue[tail++] = seed;
    g->weight[0] = 0;
    while (head < tail && g->weight[0] < half) {
        i = queue[head++];
        g->side[i] = 0;
        g->weight[0] += gap_ldlt__weight(g, i);
        for (p = g->ptr[i]; p < g->ptr[i + 1]; ++p)
            if (g->side[g->adj[p]] == 1) {
                g->side[g->adj[p]] = 2;
                queue[tail++] = g->adj[p];
            }
    }
    gap_ldlt__weigh(g);
}

/* The best of some growings from spread-out seeds. */
static inline void gap_ldlt__first_cut(gap_ldlt__graph *g, gap_ldlt__moves *m,
    int *keep, int *queue)
{
    double best = 1e300, bad;
    int t, tries = g->n < 8 ? g->n : 8;

    for (t = 0; t < tries; ++t) {
        gap_ldlt__grow(g, (int)((long long)t * g->n / tries), queue);
        gap_ldlt__refine_separator(g, m, 6);
        bad = gap_ldlt__badness(g);
        if (bad < best) {
            best = bad;
            memcpy(keep, g->side, (size_t)g->n * sizeof *keep);
        }
    }
    memcpy(g->side, keep, (size_t)g->n * sizeof *keep);
    gap_ldlt__weigh(g);
}

enum { GAP_LDLT__LEVELS = 40, GAP_LDLT__COARSE = 120 };

/* Multilevel bisection. 0: no room. */
static inline int gap_ldlt__cut_by_levels(gap_ldlt__graph *top, gap_ldlt__moves *m,
    gap_ldlt__arena *a)
{
    gap_ldlt__graph g[GAP_LDLT__LEVELS];
    int *map[GAP_LDLT__LEVELS], levels = 0, i, *order, *keep;
    size_t mark = a->used;

    g[0] = *top;
    order = gap_ldlt__take(a, top->n);
    keep = gap_ldlt__take(a, top->n);
    if (!keep || !order) return 0;
    while (levels + 1 < GAP_LDLT__LEVELS && g[levels].n > GAP_LDLT__COARSE) {
        gap_ldlt__graph *f = &g[levels], *c = &g[levels + 1];
        size_t before = a->used;
        map[levels] = gap_ldlt__take(a, f->n + 1);
        if (!map[levels]) break;
        c->n = gap_ldlt__match(f, map[levels], order, 1 + 3 * f->total / (2 * GAP_LDLT__COARSE));
        if (c->n > 0.95 * f->n || !gap_ldlt__coarsen(f, map[levels], c, a)) {
            a->used = before;
            break;
        }
        ++levels;
    }
    gap_ldlt__first_cut(&g[levels], m, keep, m->log);
    for (; levels > 0; --levels) {
        gap_ldlt__graph *f = &g[levels - 1], *c = &g[levels];
        for (i = 0; i < f->n; ++i) f->side[i] = c->side[map[levels - 1][i]];
        gap_ldlt__weigh(f);
        gap_ldlt__refine_separator(f, m, 6);
    }
    memcpy(top->weight, g[0].weight, sizeof top->weight);
    a->used = mark;
    return 1;
}

/* ---- nested dissection -------------------------------------------------------------- */

typedef struct gap_ldlt__dissect {
    int n, dim;
    const int *ptr, *adj; /* whole graph */
    const double *x;
    int *perm;            /* parts of it are still to be ordered; segments only shrink in place */
    int *local, *stack;   /* number inside the current part, -1 outside; segments [lo, hi) */
    int depth, room;      /* of the stack */
    gap_ldlt__arena arena;
} gap_ldlt__dissect;

enum { GAP_LDLT__LEAF = 90 };

/* Orders perm[lo..hi) by minimum degree, its surroundings as halo. 0: no room. */
static inline int gap_ldlt__order_leaf(gap_ldlt__dissect *t, int lo, int hi)
{
    gap_ldlt__arena *a = &t->arena;
    size_t mark = a->used;
    gap_ldlt__amd g;
    int i, p, n = hi - lo, size = n, *order, *space, *node;
    ptrdiff_t edges = 0;

    for (i = lo; i < hi; ++i) edges += t->ptr[t->perm[i] + 1] - t->ptr[t->perm[i]];
    node = gap_ldlt__take(a, n + edges < t->n ? n + edges : t->n);
    if (!node) return 0;
    for (i = 0; i < n; ++i) {
        node[i] = t->perm[lo + i];
        t->local[node[i]] = i;
    }
    for (i = 0; i < n; ++i)
        for (p = t->ptr[node[i]]; p < t->ptr[node[i] + 1]; ++p)
            if (t->local[t->adj[p]] < 0) {
                t->local[t->adj[p]] = size;
                node[size++] = t->adj[p];
            }
    g.n = size;
    g.inner = n;
    g.iw_size = (int)(2 * edges + size + 1);
    g.iw = gap_ldlt__take(a, 2 * edges + size + 2);
    g.pe = gap_ldlt__take(a, size);
    g.len = gap_ldlt__take(a, size + 1);
    space = gap_ldlt__take(a, (ptrdiff_t)GAP_LDLT__AMD_ARRAYS * (size + 1));
    order = gap_ldlt__take(a, n);
    if (!g.iw || !g.pe || !g.len || !space || !order) return 0;
    gap_ldlt__fill(g.len, size, 0);
    for (i = 0, g.free_at = 0; i < n; ++i) { /* inner rows, and the counts of the halo rows */
        g.pe[i] = g.free_at;
        for (p = t->ptr[node[i]]; p < t->ptr[node[i] + 1]; ++p) {
            int j = t->local[t->adj[p]];
            g.iw[g.free_at++] = j;
            if (j >= n) ++g.len[j];
        }
        g.len[i] = g.free_at - g.pe[i];
    }
    for (i = n; i < size; ++i) {
        g.pe[i] = g.free_at;
        g.free_at += g.len[i];
        g.len[i] = 0;
    }
    for (i = 0; i < n; ++i)
        for (p = g.pe[i]; p < g.pe[i] + g.len[i]; ++p)
            if (g.iw[p] >= n) g.iw[g.pe[g.iw[p]] + g.len[g.iw[p]]++] = i;
    gap_ldlt__amd_order(&g, space, order);
    for (i = 0; i < n; ++i) t->perm[lo + i] = node[order[i]];
    for (i = 0; i < size; ++i) t->local[node[i]] = -1;
    a->used = mark;
    return 1;
}

static inline void gap_ldlt__push(gap_ldlt__dissect *t, int lo, int hi)
{
    if (hi > lo) {
        t->stack[2 * t->depth] = lo;
        t->stack[2 * t->depth + 1] = hi;
        ++t->depth;
    }
}

/* Sorts perm[lo..hi) by connected component, local[] must be set. Several: each large component
   and each run of small ones (together a leaf at most) becomes a segment. 1: connected. */
static inline int gap_ldlt__components(gap_ldlt__dissect *t, int lo, int hi, int *queue)
{
    int i, p, head = 0, tail = 0, begin = 0, run = 0, n = hi - lo;

    for (i = lo; i < hi; ++i) {
        int v = t->perm[i];
        if (t->local[v] < 0) continue;
        t->local[v] = -1;
        for (queue[tail++] = v; head < tail; ++head) {
            v = queue[head];
            for (p = t->ptr[v]; p < t->ptr[v + 1]; ++p)
                if (t->local[t->adj[p]] >= 0) {
                    t->local[t->adj[p]] = -1;
                    queue[tail++] = t->adj[p];
                }
        }
        if (begin == 0 && tail == n) return 1;
        if (tail - run > GAP_LDLT__LEAF) {
            gap_ldlt__push(t, lo + run, lo + begin);
            run = begin;
        }
        if (tail - begin > GAP_LDLT__LEAF) {
            gap_ldlt__push(t, lo + begin, lo + tail);
            run = tail;
        }
        begin = tail;
    }
    gap_ldlt__push(t, lo + run, hi);
    memcpy(t->perm + lo, queue, (size_t)n * sizeof *queue);
    return 2;
}

/* Compact graph and coordinates of perm[lo..hi); local[] set. 0: no room. */
static inline int gap_ldlt__extract(gap_ldlt__dissect *t, int lo, int hi, gap_ldlt__graph *g,
    double **x)
{
    gap_ldlt__arena *a = &t->arena;
    ptrdiff_t edges = 0;
    int i, c, p, used = 0;

    for (i = lo; i < hi; ++i) edges += t->ptr[t->perm[i] + 1] - t->ptr[t->perm[i]];
    memset(g, 0, sizeof *g);
    g->n = g->total = hi - lo;
    g->ptr = gap_ldlt__take(a, g->n + 1);
    g->adj = gap_ldlt__take(a, edges);
    g->side = gap_ldlt__take(a, g->n);
    *x = t->dim ? gap_ldlt__take_doubles(a, (ptrdiff_t)g->n * t->dim) : NULL;
    if (!g->ptr || !g->adj || !g->side || (t->dim && !*x)) return 0;
    g->ptr[0] = 0;
    for (i = 0; i < g->n; ++i) {
        int v = t->perm[lo + i];
        for (p = t->ptr[v]; p < t->ptr[v + 1]; ++p)
            if (t->local[t->adj[p]] >= 0) g->adj[used++] = t->local[t->adj[p]];
        g->ptr[i + 1] = used;
        for (c = 0; c < t->dim; ++c)
            (*x)[(ptrdiff_t)i * t->dim + c] = t->x[(ptrdiff_t)v * t->dim + c];
    }
    return 1;
}

/* Splits a connected segment: side 0, side 1, separator last. 0: no room; 2: it would not split. */
static inline int gap_ldlt__split(gap_ldlt__dissect *t, int lo, int hi)
{
    gap_ldlt__arena *a = &t->arena;
    size_t mark = a->used;
    gap_ldlt__graph g;
    gap_ldlt__moves m;
    double *x;
    int i, n = hi - lo, at[3], *copy;

    for (i = 0; i < n; ++i) t->local[t->perm[lo + i]] = i;
    if (!gap_ldlt__extract(t, lo, hi, &g, &x) || !gap_ldlt__moves_take(&m, a, n)) return 0;
    for (i = 0; i < n; ++i) t->local[t->perm[lo + i]] = -1;
    if (t->dim) {
        if (!gap_ldlt__cut_by_plane(&g, x, t->dim, &m, a)) return 0;
    } else if (!gap_ldlt__cut_by_levels(&g, &m, a)) {
        return 0;
    }
    if (g.weight[0] == 0 || g.weight[1] == 0) {
        a->used = mark;
        return 2;
    }
    copy = m.list;
    memcpy(copy, t->perm + lo, (size_t)n * sizeof *copy);
    at[0] = lo, at[1] = lo + g.weight[0], at[2] = at[1] + g.weight[1];
    for (i = 0; i < n; ++i) t->perm[at[g.side[i]]++] = copy[i];
    gap_ldlt__push(t, lo, lo + g.weight[0]);
    gap_ldlt__push(t, lo + g.weight[0], lo + g.weight[0] + g.weight[1]);
    a->used = mark;
    return 1;
}

/* Orders perm[0..n) in place. 0: no room. */
static inline int gap_ldlt__dissect_all(gap_ldlt__dissect *t, int n, int leaf)
{
    int lo, hi, done;
    size_t mark;

    t->depth = 0;
    gap_ldlt__push(t, 0, n);
    while (t->depth > 0) {
        lo = t->stack[2 * --t->depth];
        hi = t->stack[2 * t->depth + 1];
        if (hi - lo > leaf && t->depth + 2 * (hi - lo) / GAP_LDLT__LEAF + 4 < t->room) {
            int *queue;
            mark = t->arena.used;
            queue = gap_ldlt__take(&t->arena, hi - lo);
            if (!queue) return 0;
            for (done = lo; done < hi; ++done) t->local[t->perm[done]] = 0;
            done = gap_ldlt__components(t, lo, hi, queue);
            t->arena.used = mark;
            if (done > 1) continue;
            done = gap_ldlt__split(t, lo, hi);
            if (done == 0) return 0;
            if (done == 1) continue;
        }
        if (!gap_ldlt__order_leaf(t, lo, hi)) return 0;
    }
    return 1;
}

/* ---- symbolic analysis -------------------------------------------------------------- */

/* Checks the input pattern and counts neighbours: degree[i + 1]. */
static inline int gap_ldlt__check_pattern(gap_ldlt *s, int n, const int *ptr, const int *col)
{
    int i, p;

    if (ptr[0] != 0) return GAP_LDLT_EINPUT;
    for (i = 0; i < n; ++i) {
        s->bad = i;
        if (ptr[i + 1] <= ptr[i]) return GAP_LDLT_EINPUT;
        for (p = ptr[i]; p < ptr[i + 1]; ++p) {
            if (col[p] < 0 || col[p] >= n) return GAP_LDLT_EINDEX;
            if (p > ptr[i] && col[p] <= col[p - 1]) return GAP_LDLT_EINPUT;
        }
        if (col[ptr[i + 1] - 1] != i) return GAP_LDLT_EINPUT;
    }
    s->bad = -1;
    return GAP_LDLT_OK;
}

/* Both halves of the pattern without the diagonal, rows ascending. */
static inline void gap_ldlt__symmetrise(int n, const int *ptr, const int *col, int *gp, int *adj)
{
    int i, p;

    gap_ldlt__fill(gp, n + 1, 0);
    for (i = 0; i < n; ++i)
        for (p = ptr[i]; p < ptr[i + 1] - 1; ++p) {
            ++gp[i];
            ++gp[col[p]];
        }
    for (i = 1; i <= n; ++i) gp[i] += gp[i - 1];
    for (i = n - 1; i >= 0; --i) /* columns j > i of row i come from the rows below: last */
        for (p = ptr[i + 1] - 2; p >= ptr[i]; --p) adj[--gp[col[p]]] = i;
    for (i = n - 1; i >= 0; --i)
        for (p = ptr[i + 1] - 2; p >= ptr[i]; --p) adj[--gp[i]] = col[p];
}

/* The quantities of the analysis; all in the arena except what is copied out at the end. */
typedef struct gap_ldlt__symbolic {
    int n, ns;             /* nodes, supernodes */
    const int *ptr, *adj;
    int *perm, *pos;       /* node order, both ways */
    int *up;               /* elimination tree: parent */
    int *count;            /* column counts with diagonal */
    int *front;            /* front of each column */
    int *cols, *below, *sup; /* per supernode: columns, rows below, parent */
    int *child, *next;
    int *t0, *t1, *t2, *t3;  /* n + 1 each, free use */
} gap_ldlt__symbolic;

static inline void gap_ldlt__invert(const int *perm, int *pos, int n)
{
    int i;
    for (i = 0; i < n; ++i) pos[perm[i]] = i;
}

/* Parent in the elimination tree, path compression by t0. */
static inline void gap_ldlt__tree(gap_ldlt__symbolic *y)
{
    int k, p, *anc = y->t0;

    for (k = 0; k < y->n; ++k) {
        int v = y->perm[k];
        y->up[k] = anc[k] = -1;
        for (p = y->ptr[v]; p < y->ptr[v + 1]; ++p) {
            int j = y->pos[y->adj[p]], next;
            for (; j >= 0 && j < k; j = next) {
                next = anc[j];
                anc[j] = k;
                if (next < 0) y->up[j] = k;
            }
        }
    }
}

/* Postorder of a forest given by child lists; out[k] is visited k-th. */
static inline void gap_ldlt__postorder(int n, const int *up, const int *child, const int *next,
    int *stack, int *at, int *out)
{
    int r, k = 0, depth;

    for (r = 0; r < n; ++r) at[r] = child[r];
    for (r = 0; r < n; ++r) {
        if (up[r] >= 0) continue;
        stack[0] = r;
        depth = 1;
        while (depth > 0) {
            int v = stack[depth - 1], c = at[v];
            if (c >= 0) {
                at[v] = next[c];
                stack[depth++] = c;
            } else {
                out[k++] = v;
                --depth;
            }
        }
    }
}

static inline void gap_ldlt__child_lists(int n, const int *up, int *child, int *next)
{
    int i;

    gap_ldlt__fill(child, n, -1);
    for (i = n - 1; i >= 0; --i) {
        next[i] = -1;
        if (up[i] >= 0) {
            next[i] = child[up[i]];
            child[up[i]] = i;
        }
    }
}

/* Renumbers the columns by a postorder of the tree. */
static inline void gap_ldlt__renumber(gap_ldlt__symbolic *y)
{
    int k, n = y->n, *out = y->t2, *back = y->t3;

    gap_ldlt__child_lists(n, y->up, y->t0, y->t1);
    gap_ldlt__postorder(n, y->up, y->t0, y->t1, y->count, y->front, out);
    gap_ldlt__invert(out, back, n);
    for (k = 0; k < n; ++k) {
        y->t0[k] = y->up[out[k]] < 0 ? -1 : back[y->up[out[k]]];
        y->t1[k] = y->perm[out[k]];
    }
    memcpy(y->up, y->t0, (size_t)n * sizeof(int));
    memcpy(y->perm, y->t1, (size_t)n * sizeof(int));
    gap_ldlt__invert(y->perm, y->pos, n);
}

/* Root of j's tree of processed columns, paths halved. */
static inline int gap_ldlt__find(int *anc, int j)
{
    while (anc[j] != j) {
        anc[j] = anc[anc[j]];
        j = anc[j];
    }
    return j;
}

/* Column counts (Gilbert, Ng and Peyton 1994): column j has one entry per row subtree that it
   lies in. Row i's subtree is the union of the paths from its leaves to i; each leaf adds 1 at
   itself and takes 1 off where its path meets the one of the leaf before it. */
static inline void gap_ldlt__counts(gap_ldlt__symbolic *y)
{
    int j, p, n = y->n, *low = y->t0, *seen = y->t1, *leaf = y->t2, *anc = y->t3, *c = y->count;

    for (j = 0; j < n; ++j) {
        low[j] = j;
        anc[j] = j;
        seen[j] = leaf[j] = -1;
        c[j] = 1;
    }
    for (j = 0; j < n; ++j)
        if (y->up[j] >= 0) {
            if (low[j] < low[y->up[j]]) low[y->up[j]] = low[j];
            c[y->up[j]] = 0;
        }
    for (j = 0; j < n; ++j) {
        int v = y->perm[j];
        if (y->up[j] >= 0) --c[y->up[j]];
        for (p = y->ptr[v]; p < y->ptr[v + 1]; ++p) {
            int i = y->pos[y->adj[p]];
            if (i <= j || low[j] <= seen[i]) continue;
            seen[i] = low[j];
            ++c[j];
            if (leaf[i] >= 0) --c[gap_ldlt__find(anc, leaf[i])];
            leaf[i] = j;
        }
        if (y->up[j] >= 0) anc[j] = y->up[j];
    }
    for (j = 0; j < n; ++j)
        if (y->up[j] >= 0) c[y->up[j]] += c[j];
}

/* Chains of columns with the same rows become supernodes. */
static inline void gap_ldlt__fundamental(gap_ldlt__symbolic *y)
{
    int j, n = y->n, *kids = y->t0, f = -1;

    gap_ldlt__fill(kids, n, 0);
    for (j = 0; j < n; ++j)
        if (y->up[j] >= 0) ++kids[y->up[j]];
    for (j = 0; j < n; ++j) {
        if (j == 0 || y->up[j - 1] != j || y->count[j] != y->count[j - 1] - 1 || kids[j] > 1) {
            ++f;
            y->cols[f] = 0;
        }
        ++y->cols[f];
        y->front[j] = f;
        y->below[f] = y->count[j] - 1;
        y->sup[f] = y->up[j];
    }
    y->ns = f + 1;
    for (f = 0; f < y->ns; ++f)
        if (y->sup[f] >= 0) y->sup[f] = y->front[y->sup[f]];
}

/* Cost of a front in units of one 8-row multiply-add: arithmetic on strips of 8, then traffic of
   the panel, of the update matrix (written here, read by the parent), and of the bookkeeping. */
static inline double gap_ldlt__cost(double cols, double below, double b)
{
    double c = cols * b, s1 = ceil(c / 8), u = below * b, s2 = ceil(u / 8);

    return c * c * (s1 / 3 + s2) / 2 + 4 * s2 * (s2 + 1) * (c + 7) + 24 * c * (s1 + s2)
        + 10 * (s1 + s2) + 6 * u + 300;
}

/* Merges supernode c into its parent p when the common front costs less than the two. */
static inline int gap_ldlt__try_merge(gap_ldlt__symbolic *y, int c, int p, double b, double *cost)
{
    double both = gap_ldlt__cost(y->cols[c] + (double)y->cols[p], y->below[p], b);

    if (both > cost[c] + cost[p]) return 0;
    y->cols[p] += y->cols[c];
    cost[p] = both;
    return 1;
}

/* Greedy merging, children before parents. A merged supernode keeps the number of its top;
   into[s] is where s went. The children of c become children of p and get their chance there. */
static inline void gap_ldlt__merge(gap_ldlt__symbolic *y, int b, double *cost, int *into)
{
    int c, p, last, *link;

    gap_ldlt__child_lists(y->ns, y->sup, y->child, y->next);
    for (p = 0; p < y->ns; ++p) {
        into[p] = p;
        cost[p] = gap_ldlt__cost(y->cols[p], y->below[p], b);
        link = &y->child[p];
        while ((c = *link) >= 0) {
            if (!gap_ldlt__try_merge(y, c, p, b, cost)) {
                link = &y->next[c];
                continue;
            }
            into[c] = p;
            if (y->child[c] < 0) {
                *link = y->next[c];
                continue;
            }
            for (last = y->child[c]; y->next[last] >= 0;) last = y->next[last];
            y->next[last] = y->next[c];
            *link = y->child[c];
        }
    }
}

/* Doubles of an update matrix of u rows: strip t of 8 rows holds 8 (t + 1) columns. */
static inline double gap_ldlt__update_size(double u)
{
    double t = ceil(u / 8);
    return 32 * t * (t + 1);
}

/* Children with the largest need above what they leave behind go first (Liu 1986). need: largest
   stack inside each subtree. Long lists are left as they are. */
static inline void gap_ldlt__sort_children(gap_ldlt__symbolic *y, int p, int b, double *need)
{
    enum { MOST = 64 };
    int list[MOST], count = 0, c, i;
    double live = 0, peak = 0;

    for (c = y->child[p]; c >= 0 && count < MOST; c = y->next[c]) {
        double key = need[c] - gap_ldlt__update_size((double)b * y->below[c]);
        for (i = count++; i > 0; --i) {
            int o = list[i - 1];
            if (need[o] - gap_ldlt__update_size((double)b * y->below[o]) >= key) break;
            list[i] = o;
        }
        list[i] = c;
    }
    if (c < 0)
        for (i = count - 1, c = -1; i >= 0; --i) {
            y->next[list[i]] = c;
            c = y->child[p] = list[i];
        }
    for (c = y->child[p]; c >= 0; c = y->next[c]) {
        if (live + need[c] > peak) peak = live + need[c];
        live += gap_ldlt__update_size((double)b * y->below[c]);
    }
    live += gap_ldlt__update_size((double)b * y->below[p]);
    need[p] = live > peak ? live : peak;
}

/* Final fronts: the merged supernodes in postorder, their columns renumbered to stand together.
   Fills s->first, s->parent, y->front and y->below by final numbers. */
static inline void gap_ldlt__settle(gap_ldlt *s, gap_ldlt__symbolic *y, int *into, double *need)
{
    int i, j, k, n = y->n, ns = y->ns, *at = y->t0, *order = y->t1, *rank = y->t2, *tree = y->t3;

    for (i = ns - 1; i >= 0; --i) {
        into[i] = into[i] == i ? i : into[into[i]];
        tree[i] = into[i] != i ? 0 : (y->sup[i] < 0 ? -1 : into[y->sup[i]]);
    }
    gap_ldlt__fill(y->child, ns, -1);
    for (i = ns - 1; i >= 0; --i)
        if (into[i] == i && tree[i] >= 0) {
            y->next[i] = y->child[tree[i]];
            y->child[tree[i]] = i;
        } else {
            y->next[i] = -1;
        }
    for (i = 0; i < ns; ++i)
        if (into[i] == i) gap_ldlt__sort_children(y, i, s->b, need);
    gap_ldlt__postorder(ns, tree, y->child, y->next, at, rank, order);
    for (i = 0, k = 0; i < ns; ++i)
        if (tree[i] < 0 || into[i] == i) ++k;
    s->ns = k;
    gap_ldlt__invert(order, rank, k);
    s->first[0] = 0;
    for (k = 0; k < s->ns; ++k) {
        i = order[k];
        s->parent[k] = tree[i] < 0 ? -1 : rank[tree[i]];
        at[k] = s->first[k];
        s->first[k + 1] = s->first[k] + y->cols[i];
    }
    for (k = 0; k < s->ns; ++k) y->next[k] = y->below[order[k]];
    for (j = 0; j < n; ++j) { /* t1 is still order: new column places go to up */
        k = rank[into[y->front[j]]];
        y->front[j] = k;
        y->up[j] = at[k]++;
    }
    for (j = 0; j < n; ++j) y->t1[y->up[j]] = y->perm[j];
    for (j = 0; j < n; ++j) y->t0[y->up[j]] = y->front[j];
    memcpy(y->perm, y->t1, (size_t)n * sizeof(int));
    memcpy(y->front, y->t0, (size_t)n * sizeof(int));
    memcpy(y->below, y->next, (size_t)s->ns * sizeof(int));
    gap_ldlt__invert(y->perm, y->pos, n);
}

/* Row lists of the fronts: row k belongs to every front on the tree paths from the columns that
   it touches up to its own front. Ascending, because k ascends. */
static inline void gap_ldlt__row_lists(gap_ldlt *s, gap_ldlt__symbolic *y)
{
    int k, p, f, *mark = y->t0, *fill = y->t1;

    gap_ldlt__fill(mark, s->ns, -1);
    gap_ldlt__fill(fill, s->ns, 0);
    for (k = 0; k < y->n; ++k) {
        int v = y->perm[k], own = y->front[k];
        for (p = y->ptr[v]; p < y->ptr[v + 1]; ++p) {
            int j = y->pos[y->adj[p]];
            if (j >= k) continue;
            for (f = y->front[j]; f != own && mark[f] != k; f = s->parent[f]) {
                mark[f] = k;
                s->rows[s->row_ptr[f] + fill[f]++] = k;
            }
        }
    }
}

/* Where the rows of each front stand in its parent's front (node numbers, pivots first). */
static inline void gap_ldlt__relative(gap_ldlt *s)
{
    int f, p, first, cols;
    ptrdiff_t i, q;

    for (f = 0; f < s->ns; ++f) {
        if ((p = s->parent[f]) < 0) continue;
        first = s->first[p];
        cols = s->first[p + 1] - first;
        q = s->row_ptr[p];
        for (i = s->row_ptr[f]; i < s->row_ptr[f + 1]; ++i) {
            if (s->rows[i] < first + cols) {
                s->rel[i] = s->rows[i] - first;
                continue;
            }
            while (s->rows[q] < s->rows[i]) ++q;
            s->rel[i] = cols + (int)(q - s->row_ptr[p]);
        }
    }
}

static inline void gap_ldlt__exact_stats(gap_ldlt *s, const gap_ldlt__symbolic *y)
{
    int j, c;

    s->stats.nnz_l = s->stats.flops = 0;
    for (j = 0; j < y->n; ++j)
        for (c = 0; c < s->b; ++c) {
            double count = (double)s->b * y->count[j] - c;
            s->stats.nnz_l += count;
            s->stats.flops += count * count;
        }
}

/* ---- dense kernels ------------------------------------------------------------------ */

/* Matrices are strips of 8 rows: element (r, k) of a strip is at 8 k + r. gemm and panel work on m
   strips a[i] at a time with one right-hand strip b (8 rows of W = L D, or 4 of them):
   gemm      C = C - A B^T (add = 1) or -A B^T (add = 0), cols = 4 or 8 columns
   panel     X = C - A B^T for nb columns, then W = X L11^-T and L = W D^-1 with the nb x nb
             triangle in tri: -L(c, c') at nb c + c', 1 / D(c) at nb nb + c
   forward   y = A x for m strips from a on, sa apart
   backward  t(8 per column) += A x(8 per strip), the last strip first
   zero      count doubles, a multiple of 8 (nothing is passed as z)
   extend    adds columns of a strip: dst[to[j]..+len) += src[8 j..+len), j in [0, count) */
typedef struct gap_ldlt__kernels {
    int nb, group;
    void (*gemm)(int m, int kd, const double *const *a, const double *b, int cols,
        double *const *c, int add);
    void (*panel)(int m, int kd, const double *const *a, const double *b, double *const *c,
        double *w, ptrdiff_t sw, const double *tri);
    void (*forward)(int m, int kd, const double *a, ptrdiff_t sa, const double *x, double *y);
    void (*backward)(int m, int kd, const double *a, ptrdiff_t sa, const double *x, double *t);
    void (*extend)(int len, int count, const double *src, const int *to, double *dst);
    void (*zero)(double *p, ptrdiff_t count, double z);
} gap_ldlt__kernels;

/* Lists for the preprocessor: the eight rows of a tile, and its triangle by columns and back. */
#define GAP_LDLT__ALL8(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define GAP_LDLT__TRI8(X)                                                                         \
    X(1, 0) X(2, 0) X(3, 0) X(4, 0) X(5, 0) X(6, 0) X(7, 0) X(2, 1) X(3, 1) X(4, 1) X(5, 1)       \
    X(6, 1) X(7, 1) X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) X(4, 3) X(5, 3) X(6, 3) X(7, 3)       \
    X(5, 4) X(6, 4) X(7, 4) X(6, 5) X(7, 5) X(7, 6)
#define GAP_LDLT__TRI8_BACK(X)                                                                    \
    X(7, 6) X(7, 5) X(6, 5) X(7, 4) X(6, 4) X(5, 4) X(7, 3) X(6, 3) X(5, 3) X(4, 3) X(7, 2)       \
    X(6, 2) X(5, 2) X(4, 2) X(3, 2) X(7, 1) X(6, 1) X(5, 1) X(4, 1) X(3, 1) X(2, 1) X(7, 0)       \
    X(6, 0) X(5, 0) X(4, 0) X(3, 0) X(2, 0) X(1, 0)

/* The solve reads L once forwards and once backwards, as fast as memory gives it. The hardware
   does not look beyond a page by itself: ask for what comes 4096 bytes later (+) or earlier (-). */
#ifdef __GNUC__
#define GAP_LDLT__PREFETCH(p, sign)                                                               \
    __builtin_prefetch((const void *)((size_t)(p) sign (size_t)4096), 0, 3)
#else
#define GAP_LDLT__PREFETCH(p, sign) ((void)0)
#endif

/* Kernels for 4 columns and two vectors V of LANES doubles; U is V in memory, SPLAT(t, z) declares
   a vector of equal values, FMA(a, b, c) = a b + c. The row offset g runs over the strip. */
#define GAP_LDLT__AT(U, p) (*(const U *)(const void *)(p))
#define GAP_LDLT__TO(U, p) (*(U *)(void *)(p))
#define GAP_LDLT__KERNELS4(NAME, TARGET, V, U, LANES, SPLAT, FMA)                                 \
TARGET static inline void gap_ldlt__gemm_##NAME(int m, int kd, const double *const *a,           \
    const double *b0, int cols, double *const *c, int add)                                       \
{                                                                                                \
    int i, g, h, k;                                                                              \
    for (i = 0; i < m; ++i)                                                                      \
        for (h = 0; h < cols; h += 4)                                                            \
            for (g = 0; g < 8; g += 2 * LANES) {                                                 \
                const double *x = a[i] + g, *b = b0 + h;                                         \
                double *o = c[i] + 8 * h + g;                                                    \
                SPLAT(p0, 0.0); SPLAT(p1, 0.0); SPLAT(p2, 0.0); SPLAT(p3, 0.0);                  \
                SPLAT(q0, 0.0); SPLAT(q1, 0.0); SPLAT(q2, 0.0); SPLAT(q3, 0.0);                  \
                for (k = 0; k < kd; ++k, x += 8, b += 8) {                                       \
                    V u = GAP_LDLT__AT(U, x), v = GAP_LDLT__AT(U, x + LANES);                    \
                    SPLAT(z0, b[0]); SPLAT(z1, b[1]); SPLAT(z2, b[2]); SPLAT(z3, b[3]);          \
                    p0 = FMA(u, z0, p0); q0 = FMA(v, z0, q0);                                    \
                    p1 = FMA(u, z1, p1); q1 = FMA(v, z1, q1);                                    \
                    p2 = FMA(u, z2, p2); q2 = FMA(v, z2, q2);                                    \
                    p3 = FMA(u, z3, p3); q3 = FMA(v, z3, q3);                                    \
                }                                                                                \
                if (add) {                                                                       \
                    GAP_LDLT__TO(U, o) -= p0; GAP_LDLT__TO(U, o + LANES) -= q0;                  \
                    GAP_LDLT__TO(U, o + 8) -= p1; GAP_LDLT__TO(U, o + 8 + LANES) -= q1;          \
                    GAP_LDLT__TO(U, o + 16) -= p2; GAP_LDLT__TO(U, o + 16 + LANES) -= q2;        \
                    GAP_LDLT__TO(U, o + 24) -= p3; GAP_LDLT__TO(U, o + 24 + LANES) -= q3;        \
                } else {                                                                         \
                    GAP_LDLT__TO(U, o) = -p0; GAP_LDLT__TO(U, o + LANES) = -q0;                  \
                    GAP_LDLT__TO(U, o + 8) = -p1; GAP_LDLT__TO(U, o + 8 + LANES) = -q1;          \
                    GAP_LDLT__TO(U, o + 16) = -p2; GAP_LDLT__TO(U, o + 16 + LANES) = -q2;        \
                    GAP_LDLT__TO(U, o + 24) = -p3; GAP_LDLT__TO(U, o + 24 + LANES) = -q3;        \
                }                                                                                \
            }                                                                                    \
}                                                                                                \
TARGET static inline void gap_ldlt__panel_##NAME(int m, int kd, const double *const *a,          \
    const double *b0, double *const *c, double *w0, ptrdiff_t sw, const double *tri)             \
{                                                                                                \
    int i, g, k;                                                                                 \
    for (i = 0; i < m; ++i, w0 += sw)                                                            \
        for (g = 0; g < 8; g += 2 * LANES) {                                                     \
            const double *x = a[i] + g, *b = b0;                                                 \
            double *o = c[i] + g, *w = w0 + g;                                                   \
            SPLAT(p0, 0.0); SPLAT(p1, 0.0); SPLAT(p2, 0.0); SPLAT(p3, 0.0);                      \
            SPLAT(q0, 0.0); SPLAT(q1, 0.0); SPLAT(q2, 0.0); SPLAT(q3, 0.0);                      \
            for (k = 0; k < kd; ++k, x += 8, b += 8) {                                           \
                V u = GAP_LDLT__AT(U, x), v = GAP_LDLT__AT(U, x + LANES);                        \
                SPLAT(z0, b[0]); SPLAT(z1, b[1]); SPLAT(z2, b[2]); SPLAT(z3, b[3]);              \
                p0 = FMA(u, z0, p0); q0 = FMA(v, z0, q0);                                        \
                p1 = FMA(u, z1, p1); q1 = FMA(v, z1, q1);                                        \
                p2 = FMA(u, z2, p2); q2 = FMA(v, z2, q2);                                        \
                p3 = FMA(u, z3, p3); q3 = FMA(v, z3, q3);                                        \
            }                                                                                    \
            p0 = GAP_LDLT__AT(U, o) - p0; q0 = GAP_LDLT__AT(U, o + LANES) - q0;                  \
            p1 = GAP_LDLT__AT(U, o + 8) - p1; q1 = GAP_LDLT__AT(U, o + 8 + LANES) - q1;          \
            p2 = GAP_LDLT__AT(U, o + 16) - p2; q2 = GAP_LDLT__AT(U, o + 16 + LANES) - q2;        \
            p3 = GAP_LDLT__AT(U, o + 24) - p3; q3 = GAP_LDLT__AT(U, o + 24 + LANES) - q3;        \
            {                                                                                    \
                SPLAT(t10, tri[4]); SPLAT(t20, tri[8]); SPLAT(t21, tri[9]);                      \
                SPLAT(t30, tri[12]); SPLAT(t31, tri[13]); SPLAT(t32, tri[14]);                   \
                SPLAT(d0, tri[16]); SPLAT(d1, tri[17]); SPLAT(d2, tri[18]); SPLAT(d3, tri[19]);  \
                p1 = FMA(p0, t10, p1); q1 = FMA(q0, t10, q1);                                    \
                p2 = FMA(p0, t20, p2); q2 = FMA(q0, t20, q2);                                    \
                p3 = FMA(p0, t30, p3); q3 = FMA(q0, t30, q3);                                    \
                p2 = FMA(p1, t21, p2); q2 = FMA(q1, t21, q2);                                    \
                p3 = FMA(p1, t31, p3); q3 = FMA(q1, t31, q3);                                    \
                p3 = FMA(p2, t32, p3); q3 = FMA(q2, t32, q3);                                    \
                GAP_LDLT__TO(U, w) = p0; GAP_LDLT__TO(U, w + LANES) = q0;                        \
                GAP_LDLT__TO(U, w + 8) = p1; GAP_LDLT__TO(U, w + 8 + LANES) = q1;                \
                GAP_LDLT__TO(U, w + 16) = p2; GAP_LDLT__TO(U, w + 16 + LANES) = q2;              \
                GAP_LDLT__TO(U, w + 24) = p3; GAP_LDLT__TO(U, w + 24 + LANES) = q3;              \
                GAP_LDLT__TO(U, o) = p0 * d0; GAP_LDLT__TO(U, o + LANES) = q0 * d0;              \
                GAP_LDLT__TO(U, o + 8) = p1 * d1; GAP_LDLT__TO(U, o + 8 + LANES) = q1 * d1;      \
                GAP_LDLT__TO(U, o + 16) = p2 * d2; GAP_LDLT__TO(U, o + 16 + LANES) = q2 * d2;    \
                GAP_LDLT__TO(U, o + 24) = p3 * d3; GAP_LDLT__TO(U, o + 24 + LANES) = q3 * d3;    \
            }                                                                                    \
        }                                                                                        \
}                                                                                                \
TARGET static inline void gap_ldlt__forward_##NAME(int m, int kd, const double *a, ptrdiff_t sa, \
    const double *x, double *y)                                                                  \
{                                                                                                \
    int i, g, k;                                                                                 \
    for (i = 0; i < m; ++i, a += sa, y += 8)                                                     \
        for (g = 0; g < 8; g += 2 * LANES) {                                                     \
            const double *u = a + g;                                                             \
            SPLAT(p0, 0.0); SPLAT(p1, 0.0); SPLAT(q0, 0.0); SPLAT(q1, 0.0);                      \
            for (k = 0; k + 1 < kd; k += 2, u += 16) {                                           \
                SPLAT(z0, x[k]); SPLAT(z1, x[k + 1]);                                            \
                if (g == 0) {                                                                    \
                    GAP_LDLT__PREFETCH(u, +);                                                    \
                    GAP_LDLT__PREFETCH(u + 8, +);                                                \
                }                                                                                \
                p0 = FMA(GAP_LDLT__AT(U, u), z0, p0);                                            \
                q0 = FMA(GAP_LDLT__AT(U, u + LANES), z0, q0);                                    \
                p1 = FMA(GAP_LDLT__AT(U, u + 8), z1, p1);                                        \
                q1 = FMA(GAP_LDLT__AT(U, u + 8 + LANES), z1, q1);                                \
            }                                                                                    \
            if (k < kd) {                                                                        \
                SPLAT(z0, x[k]);                                                                 \
                p0 = FMA(GAP_LDLT__AT(U, u), z0, p0);                                            \
                q0 = FMA(GAP_LDLT__AT(U, u + LANES), z0, q0);                                    \
            }                                                                                    \
            GAP_LDLT__TO(U, y + g) = p0 + p1; GAP_LDLT__TO(U, y + g + LANES) = q0 + q1;          \
        }                                                                                        \
}                                                                                                \
TARGET static inline void gap_ldlt__backward_##NAME(int m, int kd, const double *a,              \
    ptrdiff_t sa, const double *x, double *t)                                                    \
{                                                                                                \
    int i, g, k;                                                                                 \
    for (i = m - 1; i >= 0; --i)                                                                 \
        for (g = 0; g < 8; g += 2 * LANES) {                                                     \
            const double *u = a + i * sa + 8 * (ptrdiff_t)kd + g;                                \
            V x0 = GAP_LDLT__AT(U, x + 8 * i + g), x1 = GAP_LDLT__AT(U, x + 8 * i + g + LANES);  \
            double *o = t + 8 * (ptrdiff_t)kd + g;                                               \
            for (k = 0; k < kd; ++k) {                                                           \
                V p = GAP_LDLT__AT(U, o -= 8), q = GAP_LDLT__AT(U, o + LANES);                   \
                u -= 8;                                                                          \
                if (g == 0) GAP_LDLT__PREFETCH(u, -);                                            \
                GAP_LDLT__TO(U, o) = FMA(GAP_LDLT__AT(U, u), x0, p);                             \
                GAP_LDLT__TO(U, o + LANES) = FMA(GAP_LDLT__AT(U, u + LANES), x1, q);             \
            }                                                                                    \
        }                                                                                        \
}                                                                                                \
TARGET static inline void gap_ldlt__extend_##NAME(int len, int count, const double *src,         \
    const int *to, double *dst)                                                                  \
{                                                                                                \
    int j, r;                                                                                    \
    for (j = 0; j < count; ++j, src += 8) {                                                      \
        double *o = dst + to[j];                                                                 \
        for (r = 0; r + LANES <= len; r += LANES)                                                \
            GAP_LDLT__TO(U, o + r) += GAP_LDLT__AT(U, src + r);                                  \
        for (; r < len; ++r) o[r] += src[r];                                                     \
    }                                                                                            \
}                                                                                                \
TARGET static inline void gap_ldlt__zero_##NAME(double *p, ptrdiff_t count, double z)            \
{                                                                                                \
    double *end = p + count;                                                                     \
    int g;                                                                                       \
    SPLAT(v, z);                                                                                 \
    for (; p < end; p += 8)                                                                      \
        for (g = 0; g < 8; g += 2 * LANES) {                                                     \
            GAP_LDLT__TO(U, p + g) = v;                                                          \
            GAP_LDLT__TO(U, p + g + LANES) = v;                                                  \
        }                                                                                        \
}

#define GAP_LDLT__MULADD(a, b, c) ((a) * (b) + (c))
#define GAP_LDLT__SPLAT1(t, z) double t = (z)
#define GAP_LDLT__NO_TARGET
GAP_LDLT__KERNELS4(scalar, GAP_LDLT__NO_TARGET, double, double, 1, GAP_LDLT__SPLAT1,
    GAP_LDLT__MULADD)

#if defined(__GNUC__) && !defined(GAP_LDLT_NO_SIMD)
#define GAP_LDLT__VECTOR 1
typedef double gap_ldlt__v2 __attribute__((vector_size(16)));
typedef double gap_ldlt__u2 __attribute__((vector_size(16), aligned(8), may_alias));
#define GAP_LDLT__SPLAT2(t, z) gap_ldlt__v2 t = {z, z}
GAP_LDLT__KERNELS4(vector, GAP_LDLT__NO_TARGET, gap_ldlt__v2, gap_ldlt__u2, 2, GAP_LDLT__SPLAT2,
    GAP_LDLT__MULADD)
#else
#define GAP_LDLT__VECTOR 0
#endif

#if GAP_LDLT__VECTOR && defined(__x86_64__)
#define GAP_LDLT__X86 1
/* The type matches the target's width; FMA by builtin, for -ffp-contract=off is promised bits. */
#define GAP_LDLT__AVX2 __attribute__((target("avx2,fma")))
typedef double gap_ldlt__v4 __attribute__((vector_size(32)));
typedef double gap_ldlt__u4 __attribute__((vector_size(32), aligned(8), may_alias));
#define GAP_LDLT__SPLAT4(t, z) gap_ldlt__v4 t = {z, z, z, z}
#define GAP_LDLT__FMA4(a, b, c) __builtin_ia32_vfmaddpd256(a, b, c)
GAP_LDLT__KERNELS4(avx2, GAP_LDLT__AVX2, gap_ldlt__v4, gap_ldlt__u4, 4, GAP_LDLT__SPLAT4,
    GAP_LDLT__FMA4)

/* 512 bits: a vector is a column of a strip, and up to three strips meet eight columns. */
#define GAP_LDLT__AVX512 __attribute__((target("avx512f,avx2,fma")))
#define GAP_LDLT__INLINE512 __attribute__((target("avx512f,avx2,fma"), always_inline))
typedef double gap_ldlt__v8 __attribute__((vector_size(64)));
typedef double gap_ldlt__u8 __attribute__((vector_size(64), aligned(8), may_alias));
#define GAP_LDLT__SPLAT8(t, z) gap_ldlt__v8 t = {z, z, z, z, z, z, z, z}
#define GAP_LDLT__FMA8(a, b, c) __builtin_ia32_vfmaddpd512_mask(a, b, c, (unsigned char)255, 4)
#define GAP_LDLT__ZERO8(j)                                                                        \
    GAP_LDLT__SPLAT8(p##j, 0.0); GAP_LDLT__SPLAT8(q##j, 0.0); GAP_LDLT__SPLAT8(r##j, 0.0);
#define GAP_LDLT__STEP8(j)                                                                        \
    {                                                                                             \
        GAP_LDLT__SPLAT8(z, b[j]);                                                                \
        p##j = GAP_LDLT__FMA8(u, z, p##j);                                                        \
        if (m > 1) q##j = GAP_LDLT__FMA8(v, z, q##j);                                             \
        if (m > 2) r##j = GAP_LDLT__FMA8(w, z, r##j);                                             \
    }
#define GAP_LDLT__SUB8(j)                                                                         \
    GAP_LDLT__TO(gap_ldlt__u8, c[0] + 8 * j) -= p##j;                                             \
    if (m > 1) GAP_LDLT__TO(gap_ldlt__u8, c[m > 1] + 8 * j) -= q##j;                              \
    if (m > 2) GAP_LDLT__TO(gap_ldlt__u8, c[m > 2 ? 2 : 0] + 8 * j) -= r##j;
#define GAP_LDLT__SET8(j)                                                                         \
    GAP_LDLT__TO(gap_ldlt__u8, c[0] + 8 * j) = -p##j;                                             \
    if (m > 1) GAP_LDLT__TO(gap_ldlt__u8, c[m > 1] + 8 * j) = -q##j;                              \
    if (m > 2) GAP_LDLT__TO(gap_ldlt__u8, c[m > 2 ? 2 : 0] + 8 * j) = -r##j;
#define GAP_LDLT__TAKE8(j)                                                                        \
    p##j = GAP_LDLT__AT(gap_ldlt__u8, c[0] + 8 * j) - p##j;                                       \
    if (m > 1) q##j = GAP_LDLT__AT(gap_ldlt__u8, c[m > 1] + 8 * j) - q##j;                        \
    if (m > 2) r##j = GAP_LDLT__AT(gap_ldlt__u8, c[m > 2 ? 2 : 0] + 8 * j) - r##j;
#define GAP_LDLT__ELIM8(i, j)                                                                     \
    {                                                                                             \
        GAP_LDLT__SPLAT8(z, tri[8 * i + j]);                                                      \
        p##i = GAP_LDLT__FMA8(p##j, z, p##i);                                                     \
        if (m > 1) q##i = GAP_LDLT__FMA8(q##j, z, q##i);                                          \
        if (m > 2) r##i = GAP_LDLT__FMA8(r##j, z, r##i);                                          \
    }
#define GAP_LDLT__GIVE8(j)                                                                        \
    {                                                                                             \
        GAP_LDLT__SPLAT8(z, tri[64 + j]);                                                         \
        GAP_LDLT__TO(gap_ldlt__u8, w + 8 * j) = p##j;                                             \
        GAP_LDLT__TO(gap_ldlt__u8, c[0] + 8 * j) = p##j * z;                                      \
        if (m > 1) GAP_LDLT__TO(gap_ldlt__u8, w + sw + 8 * j) = q##j;                             \
        if (m > 1) GAP_LDLT__TO(gap_ldlt__u8, c[m > 1] + 8 * j) = q##j * z;                       \
        if (m > 2) GAP_LDLT__TO(gap_ldlt__u8, w + 2 * sw + 8 * j) = r##j;                         \
        if (m > 2) GAP_LDLT__TO(gap_ldlt__u8, c[m > 2 ? 2 : 0] + 8 * j) = r##j * z;               \
    }
#define GAP_LDLT__LOOP8                                                                           \
    for (k = 0; k < kd; ++k, b += 8) {                                                            \
        gap_ldlt__v8 u = GAP_LDLT__AT(gap_ldlt__u8, a0 + 8 * k), v = u, w = u;                    \
        if (m > 1) v = GAP_LDLT__AT(gap_ldlt__u8, a1 + 8 * k);                                    \
        if (m > 2) w = GAP_LDLT__AT(gap_ldlt__u8, a2 + 8 * k);                                    \
        GAP_LDLT__ALL8(GAP_LDLT__STEP8)                                                           \
    }

GAP_LDLT__INLINE512 static inline void gap_ldlt__gemm_512(const int m, int kd,
    const double *const *a, const double *b, double *const *c, int add)
{
    const double *a0 = a[0], *a1 = a[m > 1], *a2 = a[m > 2 ? 2 : 0];
    ptrdiff_t k;
    GAP_LDLT__ALL8(GAP_LDLT__ZERO8)

    GAP_LDLT__LOOP8
    if (add) {
        GAP_LDLT__ALL8(GAP_LDLT__SUB8)
    } else {
        GAP_LDLT__ALL8(GAP_LDLT__SET8)
    }
}

GAP_LDLT__INLINE512 static inline void gap_ldlt__panel_512(const int m, int kd,
    const double *const *a, const double *b, double *const *c, double *w0, ptrdiff_t sw,
    const double *tri)
{
    const double *a0 = a[0], *a1 = a[m > 1], *a2 = a[m > 2 ? 2 : 0];
    ptrdiff_t k;
    GAP_LDLT__ALL8(GAP_LDLT__ZERO8)

    GAP_LDLT__LOOP8
    GAP_LDLT__ALL8(GAP_LDLT__TAKE8)
    GAP_LDLT__TRI8(GAP_LDLT__ELIM8)
    {
        double *w = w0;
        GAP_LDLT__ALL8(GAP_LDLT__GIVE8)
    }
}

/* Four strips side by side share the loads of x or t. Where they are long, the next four are
   fetched into the second level meanwhile. */
#define GAP_LDLT__NEXT8(p, sign)                                                                  \
    if (kd < 64)                                                                                  \
        GAP_LDLT__PREFETCH((p) + 8 * k, sign);                                                    \
    else                                                                                          \
        __builtin_prefetch((const void *)((size_t)((p) + 8 * k) sign (size_t)(4 * 8 * sa)), 0, 2)
GAP_LDLT__AVX512 static inline void gap_ldlt__forward_avx512(int m, int kd, const double *a,
    ptrdiff_t sa, const double *x, double *y)
{
    ptrdiff_t k;
    int i;

    for (i = 0; i + 3 < m; i += 4, a += 4 * sa, y += 32) {
        const double *a1 = a + sa, *a2 = a + 2 * sa, *a3 = a + 3 * sa;
        GAP_LDLT__SPLAT8(p0, 0.0); GAP_LDLT__SPLAT8(p1, 0.0);
        GAP_LDLT__SPLAT8(p2, 0.0); GAP_LDLT__SPLAT8(p3, 0.0);
        for (k = 0; k < kd; ++k) {
            GAP_LDLT__SPLAT8(z, x[k]);
            GAP_LDLT__NEXT8(a, +);
            GAP_LDLT__NEXT8(a1, +);
            GAP_LDLT__NEXT8(a2, +);
            GAP_LDLT__NEXT8(a3, +);
            p0 = GAP_LDLT__FMA8(GAP_LDLT__AT(gap_ldlt__u8, a + 8 * k), z, p0);
            p1 = GAP_LDLT__FMA8(GAP_LDLT__AT(gap_ldlt__u8, a1 + 8 * k), z, p1);
            p2 = GAP_LDLT__FMA8(GAP_LDLT__AT(gap_ldlt__u8, a2 + 8 * k), z, p2);
            p3 = GAP_LDLT__FMA8(GAP_LDLT__AT(gap_ldlt__u8, a3 + 8 * k), z, p3);
        }
        GAP_LDLT__TO(gap_ldlt__u8, y) = p0; GAP_LDLT__TO(gap_ldlt__u8, y + 8) = p1;
        GAP_LDLT__TO(gap_ldlt__u8, y + 16) = p2; GAP_LDLT__TO(gap_ldlt__u8, y + 24) = p3;
    }
    for (; i < m; ++i, a += sa, y += 8) {
        GAP_LDLT__SPLAT8(p0, 0.0); GAP_LDLT__SPLAT8(p1, 0.0);
        for (k = 0; k + 1 < kd; k += 2) {
            GAP_LDLT__SPLAT8(z0, x[k]); GAP_LDLT__SPLAT8(z1, x[k + 1]);
            GAP_LDLT__PREFETCH(a + 8 * k, +);
            GAP_LDLT__PREFETCH(a + 8 * k + 8, +);
            p0 = GAP_LDLT__FMA8(GAP_LDLT__AT(gap_ldlt__u8, a + 8 * k), z0, p0);
            p1 = GAP_LDLT__FMA8(GAP_LDLT__AT(gap_ldlt__u8, a + 8 * k + 8), z1, p1);
        }
        if (k < kd) {
            GAP_LDLT__SPLAT8(z, x[k]);
            p0 = GAP_LDLT__FMA8(GAP_LDLT__AT(gap_ldlt__u8, a + 8 * k), z, p0);
        }
        GAP_LDLT__TO(gap_ldlt__u8, y) = p0 + p1;
    }
}

GAP_LDLT__AVX512 static inline void gap_ldlt__backward_avx512(int m, int kd, const double *a,
    ptrdiff_t sa, const double *x, double *t)
{
    ptrdiff_t k;
    int i;

    for (i = m; i % 4; --i) {
        const double *a0 = a + (i - 1) * sa;
        gap_ldlt__v8 x0 = GAP_LDLT__AT(gap_ldlt__u8, x + 8 * i - 8);
        for (k = kd - 1; k >= 0; --k) {
            gap_ldlt__v8 p = GAP_LDLT__AT(gap_ldlt__u8, t + 8 * k);
            GAP_LDLT__PREFETCH(a0 + 8 * k, -);
            GAP_LDLT__TO(gap_ldlt__u8, t + 8 * k)
                = GAP_LDLT__FMA8(GAP_LDLT__AT(gap_ldlt__u8, a0 + 8 * k), x0, p);
        }
    }
    for (a += i * sa, x += 8 * i; i > 0; i -= 4) {
        const double *a3 = a - sa, *a2 = a3 - sa, *a1 = a2 - sa, *a0 = a1 - sa;
        gap_ldlt__v8 x0 = GAP_LDLT__AT(gap_ldlt__u8, x - 32);
        gap_ldlt__v8 x1 = GAP_LDLT__AT(gap_ldlt__u8, x - 24);
        gap_ldlt__v8 x2 = GAP_LDLT__AT(gap_ldlt__u8, x - 16);
        gap_ldlt__v8 x3 = GAP_LDLT__AT(gap_ldlt__u8, x - 8);
        for (k = kd - 1; k >= 0; --k) {
            gap_ldlt__v8 p = GAP_LDLT__AT(gap_ldlt__u8, t + 8 * k);
            gap_ldlt__v8 q = GAP_LDLT__AT(gap_ldlt__u8, a2 + 8 * k) * x2;
            GAP_LDLT__NEXT8(a0, -);
            GAP_LDLT__NEXT8(a1, -);
            GAP_LDLT__NEXT8(a2, -);
            GAP_LDLT__NEXT8(a3, -);
            p = GAP_LDLT__FMA8(GAP_LDLT__AT(gap_ldlt__u8, a0 + 8 * k), x0, p);
            q = GAP_LDLT__FMA8(GAP_LDLT__AT(gap_ldlt__u8, a3 + 8 * k), x3, q);
            p = GAP_LDLT__FMA8(GAP_LDLT__AT(gap_ldlt__u8, a1 + 8 * k), x1, p);
            GAP_LDLT__TO(gap_ldlt__u8, t + 8 * k) = p + q;
        }
        a = a0;
        x -= 32;
    }
}

GAP_LDLT__AVX512 static inline void gap_ldlt__gemm_avx512(int m, int kd,
    const double *const *a, const double *b, int cols, double *const *c, int add)
{
    (void)cols;
    if (m == 3)
        gap_ldlt__gemm_512(3, kd, a, b, c, add);
    else if (m == 2)
        gap_ldlt__gemm_512(2, kd, a, b, c, add);
    else
        gap_ldlt__gemm_512(1, kd, a, b, c, add);
}

GAP_LDLT__AVX512 static inline void gap_ldlt__panel_avx512(int m, int kd,
    const double *const *a, const double *b, double *const *c, double *w, ptrdiff_t sw,
    const double *tri)
{
    if (m == 3)
        gap_ldlt__panel_512(3, kd, a, b, c, w, sw, tri);
    else if (m == 2)
        gap_ldlt__panel_512(2, kd, a, b, c, w, sw, tri);
    else
        gap_ldlt__panel_512(1, kd, a, b, c, w, sw, tri);
}
#else
#define GAP_LDLT__X86 0
#endif

#define GAP_LDLT__SET_KERNELS(k, name)                                                            \
    ((k)->gemm = gap_ldlt__gemm_##name, (k)->panel = gap_ldlt__panel_##name,                      \
        (k)->forward = gap_ldlt__forward_##name, (k)->backward = gap_ldlt__backward_##name,       \
        (k)->extend = gap_ldlt__extend_##name, (k)->zero = gap_ldlt__zero_##name)

/* The instruction set asked for, or the best below it that the machine has. */
static inline int gap_ldlt__pick_isa(int wanted)
{
    int best = GAP_LDLT__VECTOR ? GAP_LDLT_ISA_VECTOR : GAP_LDLT_ISA_SCALAR;

#if GAP_LDLT__X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        best = GAP_LDLT_ISA_AVX2;
        if (__builtin_cpu_supports("avx512f")) best = GAP_LDLT_ISA_AVX512;
    }
#endif
    return wanted > 0 && wanted < best ? wanted : best;
}

static inline void gap_ldlt__set_kernels(gap_ldlt__kernels *k, int isa)
{
    k->nb = 4;
    k->group = 1;
    GAP_LDLT__SET_KERNELS(k, scalar);
#if GAP_LDLT__VECTOR
    if (isa >= GAP_LDLT_ISA_VECTOR) GAP_LDLT__SET_KERNELS(k, vector);
#endif
#if GAP_LDLT__X86
    if (isa >= GAP_LDLT_ISA_AVX2) GAP_LDLT__SET_KERNELS(k, avx2);
    if (isa >= GAP_LDLT_ISA_AVX512) {
        k->nb = 8;
        k->group = 3;
        k->gemm = gap_ldlt__gemm_avx512;
        k->panel = gap_ldlt__panel_avx512;
        k->forward = gap_ldlt__forward_avx512;
        k->backward = gap_ldlt__backward_avx512;
    }
#endif
    (void)isa;
}

/* ---- the plan: where fronts and update matrices live -------------------------------- */

enum { GAP_LDLT__BLOCK = 192 }; /* pivots eliminated before the rest of a front is updated */

static inline int gap_ldlt__strips(int rows)
{
    return (rows + 7) / 8;
}

/* Where strip st of a panel begins: those of the nc pivots end with their diagonal tile, those of
   the rows below have nc columns. */
static inline ptrdiff_t gap_ldlt__strip(int nc, int st)
{
    ptrdiff_t s1 = gap_ldlt__strips(nc);
    return st < s1 ? (ptrdiff_t)32 * st * (st + 1) : 32 * s1 * (s1 + 1) + 8 * (st - s1) * nc;
}

static inline int gap_ldlt__cols(const gap_ldlt *s, int f)
{
    return s->b * (s->first[f + 1] - s->first[f]);
}

static inline int gap_ldlt__below(const gap_ldlt *s, int f)
{
    return s->b * (int)(s->row_ptr[f + 1] - s->row_ptr[f]);
}

static inline ptrdiff_t gap_ldlt__update_doubles(const gap_ldlt *s, int f)
{
    ptrdiff_t t = gap_ldlt__strips(gap_ldlt__below(s, f));
    return 32 * t * (t + 1);
}

enum { GAP_LDLT__GEMM_STRIPS = 32 }; /* strips of columns given to options.gemm at a time */

static inline int gap_ldlt__by_gemm(const gap_ldlt *s, int rows)
{
    return s->opt.gemm && rows >= (s->opt.gemm_min > 0 ? s->opt.gemm_min : 512);
}

/* Flops of front f: pivot k works on a column of nc - k + nu. */
static inline double gap_ldlt__front_flops(const gap_ldlt *s, int f)
{
    double c = gap_ldlt__cols(s, f), r = c + gap_ldlt__below(s, f), q = r - c;
    return (r * (r + 1) * (2 * r + 1) - q * (q + 1) * (2 * q + 1)) / 6;
}

/* Places of L and sizes of the scratch memory. 0: too large. */
static inline int gap_ldlt__place_fronts(gap_ldlt *s)
{
    double total = 0;
    ptrdiff_t w, at = 0;
    int f, nc, nu, kb;

    s->max_rows = s->max_cols = s->max_strips = 0;
    s->scratch_size = 0;
    s->stats.flops_stored = 0;
    s->stats.trees = s->stats.largest_front = 0;
    for (f = 0; f < s->ns; ++f) {
        double rows = (double)s->b * (s->first[f + 1] - s->first[f]
            + (double)(s->row_ptr[f + 1] - s->row_ptr[f]));
        if (rows > INT_MAX / 16) return 0;
        nc = gap_ldlt__cols(s, f), nu = gap_ldlt__below(s, f);
        total += 32.0 * gap_ldlt__strips(nc) * (gap_ldlt__strips(nc) + 1.0)
            + 8.0 * gap_ldlt__strips(nu) * nc;
        if (total * (double)sizeof(double) > 0.25 * (double)((size_t)-1)) return 0;
        s->l_ptr[f] = at;
        at += gap_ldlt__strip(nc, gap_ldlt__strips(nc) + gap_ldlt__strips(nu));
        kb = nc < GAP_LDLT__BLOCK ? 8 * gap_ldlt__strips(nc) : GAP_LDLT__BLOCK;
        w = (ptrdiff_t)8 * (gap_ldlt__strips(nc) + gap_ldlt__strips(nu)) * kb;
        if (gap_ldlt__by_gemm(s, nc + nu)) /* two packed operands and a block of the product */
            w = 3 * w + (w / kb + 8) * 8 * GAP_LDLT__GEMM_STRIPS;
        if (w > s->scratch_size) s->scratch_size = w;
        if (nu > s->max_rows) s->max_rows = nu;
        if (nc > s->max_cols) s->max_cols = nc;
        if (nc + nu > s->stats.largest_front) s->stats.largest_front = nc + nu;
        s->stats.flops_stored += gap_ldlt__front_flops(s, f);
        s->stats.trees += s->parent[f] < 0;
    }
    s->max_strips = gap_ldlt__strips(s->max_rows) + gap_ldlt__strips(s->max_cols);
    s->l_ptr[s->ns] = at;
    s->stats.stored_l = (double)at;
    s->stats.fronts = s->ns;
    s->scratch_size += s->max_rows + 64; /* two ints for each row of a child */
    return 1;
}

/* Cuts the forest into tasks: runs of whole subtrees of up to limit flops each, largest first;
   what stands above them is the top. */
static inline void gap_ldlt__cut_tasks(gap_ldlt *s, double limit, double *sum)
{
    double run = 0;
    int f, t, i;

    for (f = 0; f < s->ns; ++f) sum[f] = 0;
    for (f = 0; f < s->ns; ++f) {
        sum[f] += gap_ldlt__front_flops(s, f) + 1000;
        if (s->parent[f] >= 0) sum[s->parent[f]] += sum[f];
    }
    s->ntask = s->ntop = 0;
    for (f = 0; f < s->ns; ++f) s->task[f] = sum[f] <= limit ? 0 : -1;
    for (f = 0; f < s->ns; ++f) {
        int root = s->task[f] == 0 && (s->parent[f] < 0 || s->task[s->parent[f]] < 0);
        if (s->task[f] < 0) {
            s->top[s->ntop++] = f;
            run = limit + 1;
        }
        if (!root) continue;
        for (i = f; i >= 0 && s->task[i] == 0; --i) s->task[i] = 1; /* its subtree ends at i */
        if (run + sum[f] > limit || s->ntask == 0) {
            s->task_first[s->ntask++] = i + 1;
            run = 0;
        }
        s->task_last[s->ntask - 1] = f + 1;
        run += sum[f];
    }
    for (t = 0; t < s->ntask; ++t) { /* cost of each task, then sort by it */
        run = 0;
        for (f = s->task_first[t]; f < s->task_last[t]; ++f)
            run += gap_ldlt__front_flops(s, f) + 1000;
        for (i = t; i > 0 && sum[i - 1] < run; --i) {
            int a = s->task_first[i - 1], b = s->task_last[i - 1], c = s->task_first[i];
            sum[i] = sum[i - 1];
            s->task_first[i - 1] = c, s->task_first[i] = a;
            c = s->task_last[i];
            s->task_last[i - 1] = c, s->task_last[i] = b;
        }
        sum[i] = run;
    }
}

/* Update matrices inside a task live on two stacks that grow towards each other, by parity of the
   depth: when a front is done its children are on top of the other stack. Places < 0 count from
   the end of the arena. */
static inline void gap_ldlt__plan_task(gap_ldlt *s, int t, const int *depth)
{
    ptrdiff_t used[2] = {0, 0}, size;
    int f, c, side;

    for (f = s->task_first[t]; f < s->task_last[t]; ++f) {
        side = depth[f] & 1;
        if (s->parent[f] >= 0 && s->task[s->parent[f]] >= 0) {
            size = gap_ldlt__update_doubles(s, f);
            s->u_ptr[f] = side ? -used[1] - size : used[0];
            used[side] += size;
        }
        if (used[0] + used[1] > s->arena_size) s->arena_size = used[0] + used[1];
        for (c = s->child[f]; c >= 0; c = s->next[c])
            used[1 - side] -= gap_ldlt__update_doubles(s, c);
    }
}

/* First place of so many doubles that is free of the blocks in use (sorted by place). */
static inline ptrdiff_t gap_ldlt__first_fit(gap_ldlt *s, ptrdiff_t size, int *live, int *count,
    int f)
{
    ptrdiff_t at = 0, end;
    int i, k;

    for (i = 0; i < *count; ++i) {
        if (s->u_ptr[live[i]] - at >= size) break;
        end = s->u_ptr[live[i]] + gap_ldlt__update_doubles(s, live[i]);
        if (end > at) at = end;
    }
    for (k = *count; k > i; --k) live[k] = live[k - 1];
    live[i] = f;
    ++*count;
    if (at + size > s->top_size) s->top_size = at + size;
    return at;
}

/* Update matrices of the top fronts and of the task roots below them. */
static inline void gap_ldlt__plan_top(gap_ldlt *s, int *live)
{
    int i, k, f, c, count = 0;

    s->top_size = 0;
    for (f = 0; f < s->ns; ++f)
        if (s->task[f] >= 0 && s->parent[f] >= 0 && s->task[s->parent[f]] < 0)
            s->u_ptr[f] = gap_ldlt__first_fit(s, gap_ldlt__update_doubles(s, f), live, &count, f);
    for (i = 0; i < s->ntop; ++i) {
        f = s->top[i];
        s->u_ptr[f] = 0;
        if (s->parent[f] >= 0)
            s->u_ptr[f] = gap_ldlt__first_fit(s, gap_ldlt__update_doubles(s, f), live, &count, f);
        for (c = s->child[f]; c >= 0; c = s->next[c]) {
            for (k = 0; live[k] != c;) ++k;
            for (--count; k < count; ++k) live[k] = live[k + 1];
        }
    }
}

static inline int gap_ldlt__workers(const gap_ldlt *s)
{
    return s->opt.parallel_for && s->opt.workers > 1 ? s->opt.workers : 1;
}

/* work: 3 ns doubles at least. */
static inline void gap_ldlt__plan(gap_ldlt *s, double *work)
{
    int f, t, workers = gap_ldlt__workers(s), *depth = (int *)(void *)(work + s->ns);
    double limit = workers > 1 ? s->stats.flops_stored / (8.0 * workers) : 1e300;

    gap_ldlt__cut_tasks(s, limit, work);
    for (f = s->ns - 1; f >= 0; --f) depth[f] = s->parent[f] < 0 ? 0 : depth[s->parent[f]] + 1;
    for (f = 0; f < s->ns; ++f) s->u_ptr[f] = 0;
    s->arena_size = 0;
    for (t = 0; t < s->ntask; ++t) gap_ldlt__plan_task(s, t, depth);
    gap_ldlt__plan_top(s, depth);
    s->stats.chain = gap_ldlt_chain(s, workers);
}

/* ---- numeric factorisation ---------------------------------------------------------- */

typedef struct gap_ldlt__run {
    gap_ldlt *s;
    const double *val;
    gap_ldlt__kernels k;
    double *arena;      /* workers times (arena_size + scratch_size), behind the top region */
    double eps, delta, floor_d;
    int *outcome;       /* per worker */
} gap_ldlt__run;

/* One front, and what its ranges need. */
typedef struct gap_ldlt__job {
    gap_ldlt__run *run;
    int f, nc, nu, s1, s2;  /* pivots, rows below, strips of each */
    double *l, *u, *w;      /* panel, update matrix, L D of the current block */
    double *arena;          /* of this worker */
    int k0, k1, kp;         /* current block of pivots, columns of w */
    int *pos, *to;          /* rows of the child in this front, column offsets */
    const double *cu;       /* update matrix of the child */
    int cn, cp, part;       /* its rows; those that are pivots here; 0 panel, 1 update matrix */
    double tri[9 * GAP_LDLT__BLOCK];
} gap_ldlt__job;

static inline double *gap_ldlt__update_of(gap_ldlt *s, int f, double *arena)
{
    int top = s->task[f] < 0 || (s->parent[f] >= 0 && s->task[s->parent[f]] < 0);

    if (top) return s->work + s->u_ptr[f];
    return arena + s->u_ptr[f] + (s->u_ptr[f] < 0 ? s->arena_size : 0);
}

static inline double *gap_ldlt__strip_at(const gap_ldlt__job *j, int st)
{
    return j->l + gap_ldlt__strip(j->nc, st);
}

static inline double *gap_ldlt__row_at(const gap_ldlt__job *j, int row)
{
    int r = row < j->nc ? row : row - j->nc + 8 * j->s1;
    return gap_ldlt__strip_at(j, r / 8) + r % 8;
}

/* Adds the scaled input blocks of front f to its panel. */
static inline void gap_ldlt__assemble(gap_ldlt__job *j)
{
    gap_ldlt *s = j->run->s;
    int k, r, c, b = s->b, f = j->f, first = s->first[f], nodes = s->first[f + 1] - first;

    for (k = s->blk_ptr[f]; k < s->blk_ptr[f + 1]; ++k) {
        int q = s->blk[k], rn = s->blk_row[k], cn = s->blk_col[k];
        const double *v = j->run->val + (ptrdiff_t)(q < 0 ? -1 - q : q) * b * b;
        const double *sr = s->scale + (ptrdiff_t)b
            * (rn < nodes ? first + rn : s->rows[s->row_ptr[f] + rn - nodes]);
        const double *sc = s->scale + (ptrdiff_t)b * (first + cn);
        int rstep = q < 0 ? 1 : b, cstep = q < 0 ? b : 1;
        for (r = 0; r < b; ++r) {
            double *row = gap_ldlt__row_at(j, rn * b + r) + (ptrdiff_t)8 * cn * b;
            int end = rn == cn ? r + 1 : b;
            for (c = 0; c < end; ++c)
                row[8 * c] += v[rstep * r + cstep * c] * sr[r] * sc[c];
            if (rn == cn) s->diag[(ptrdiff_t)b * (first + cn) + r] = fabs(row[8 * r]);
        }
    }
}

static inline void gap_ldlt__zero_range(void *ctx, int begin, int end, int worker)
{
    gap_ldlt__job *j = (gap_ldlt__job *)ctx;

    (void)worker;
    j->run->k.zero(gap_ldlt__strip_at(j, begin),
        gap_ldlt__strip_at(j, end) - gap_ldlt__strip_at(j, begin), 0.0);
}

/* Child rows that stay neighbours in one strip of the front move together. */
static inline int gap_ldlt__together(const gap_ldlt__job *j, int i, int end, int row)
{
    int len = 1, limit = 8 - row % 8;

    while (len < limit && i + len < end && j->pos[i + len] == j->pos[i] + len) ++len;
    return len;
}

/* Extend-add of strips [begin, end) of the child's update matrix. */
static inline void gap_ldlt__extend_range(void *ctx, int begin, int end, int worker)
{
    gap_ldlt__job *j = (gap_ldlt__job *)ctx;
    int t, i, len, row, last;

    (void)worker;
    for (t = begin; t < end; ++t) {
        const double *src = j->cu + (ptrdiff_t)32 * t * (t + 1);
        last = 8 * t + 8 < j->cn ? 8 * t + 8 : j->cn;
        for (i = 8 * t; i < last; i += len) {
            int pivot = i < j->cp;
            row = j->pos[i] - (pivot ? 0 : j->nc);
            len = gap_ldlt__together(j, i, pivot && last > j->cp ? j->cp : last, row);
            if (j->part == 0) {
                double *dst = gap_ldlt__strip_at(j, row / 8 + (pivot ? 0 : j->s1));
                j->run->k.extend(len, i + len < j->cp ? i + len : j->cp, src + i % 8, j->to,
                    dst + row % 8);
            } else if (!pivot) {
                ptrdiff_t q = row / 8;
                j->run->k.extend(len, i + len - j->cp, src + 8 * j->cp + i % 8, j->to + j->cp,
                    j->u + 32 * q * (q + 1) + row % 8);
            }
        }
    }
}

/* The pivot rule, in the scaled matrix. What is not finite passes and is found at the end. */
static inline double gap_ldlt__pivot(gap_ldlt__run *run, ptrdiff_t col, double d)
{
    gap_ldlt *s = run->s;
    double size = s->diag[col], sign = 1.0;

    if (s->opt.negative
        && s->opt.negative[(ptrdiff_t)s->b * s->perm[col / s->b] + col % s->b]) sign = -1.0;
    if ((s->opt.pivot == GAP_LDLT_PIVOT_KEEP ? fabs(d) : sign * d) > run->eps * size) return d;
    if (!(fabs(d) <= DBL_MAX)) return d;
    s->diag[col] = -1.0;
    return sign * run->delta * (size > run->floor_d ? size : run->floor_d);
}

/* LDL^T of the triangle in columns c0..c0+w of its strip (tile: 8 per column), and the rows of the
   strip below it. wt gets L D, tri what gap_ldlt__kernels.panel needs. */
static inline void gap_ldlt__diagonal(gap_ldlt__job *j, int c0, int w, double *tile, double *wt,
    double *tri)
{
    gap_ldlt *s = j->run->s;
    int nb = j->run->k.nb, r0 = c0 % 8, c, e, r;
    ptrdiff_t col = (ptrdiff_t)s->first[j->f] * s->b + c0;

    for (c = 0; c < nb * nb + nb; ++c) tri[c] = 0.0;
    for (c = 0; c < w; ++c) {
        double d = gap_ldlt__pivot(j->run, col + c, tile[8 * c + r0 + c]), inv = 1.0 / d;
        s->d[col + c] = d;
        tri[nb * nb + c] = inv;
        for (r = 0; r <= r0 + c; ++r) tile[8 * c + r] = wt[8 * c + r] = 0.0;
        for (; r < 8; ++r) {
            wt[8 * c + r] = tile[8 * c + r];
            tile[8 * c + r] *= inv;
        }
        for (e = c + 1; e < w; ++e) {
            double x = wt[8 * c + r0 + e];
            for (r = r0 + e; r < 8; ++r) tile[8 * e + r] -= tile[8 * c + r] * x;
            tri[nb * e + c] = -tile[8 * c + r0 + e];
        }
    }
}

/* Columns c0..c0+w of strips [begin, end), below the triangle. */
static inline void gap_ldlt__panel_strips(gap_ldlt__job *j, int c0, int w, int begin, int end)
{
    const gap_ldlt__kernels *k = &j->run->k;
    ptrdiff_t sw = (ptrdiff_t)8 * j->kp;
    const double *b = j->w + (ptrdiff_t)(c0 / 8 - j->k0 / 8) * sw + c0 % 8, *a[3];
    const double *tri = j->tri + (c0 - j->k0) / k->nb * (k->nb * k->nb + k->nb);
    double tmp[3][64], *c[3], *l[3];
    int st, i, m;

    for (st = begin; st < end; st += m) {
        m = end - st < k->group ? end - st : k->group;
        for (i = 0; i < m; ++i) {
            l[i] = gap_ldlt__strip_at(j, st + i);
            a[i] = l[i] + 8 * j->k0;
            c[i] = l[i] += 8 * c0;
            if (w == k->nb) continue;
            memcpy(tmp[i], c[i], (size_t)w * 8 * sizeof(double));
            memset(tmp[i] + 8 * w, 0, (size_t)(k->nb - w) * 8 * sizeof(double));
            c[i] = tmp[i];
        }
        k->panel(m, c0 - j->k0, a, b, c, j->w + (st - j->k0 / 8) * sw + 8 * (c0 - j->k0), sw, tri);
        for (i = 0; w < k->nb && i < m; ++i)
            memcpy(l[i], tmp[i], (size_t)w * 8 * sizeof(double));
    }
}

/* Factors the square k0..k1 of the panel. */
static inline void gap_ldlt__square(gap_ldlt__job *j)
{
    const gap_ldlt__kernels *k = &j->run->k;
    ptrdiff_t sw = (ptrdiff_t)8 * j->kp;
    int c0, w, end = gap_ldlt__strips(j->k1);

    for (c0 = j->k0; c0 < j->k1; c0 += k->nb) {
        int st = c0 / 8;
        double *l = gap_ldlt__strip_at(j, st), *wt = j->w + (st - j->k0 / 8) * sw, tmp[64], *c[1];
        const double *a[1];
        w = j->k1 - c0 < k->nb ? j->k1 - c0 : k->nb;
        memset(tmp, 0, sizeof tmp);
        memcpy(tmp, l + 8 * c0, (size_t)w * 8 * sizeof(double));
        c[0] = tmp;
        a[0] = l + 8 * j->k0;
        if (c0 > j->k0) k->gemm(1, c0 - j->k0, a, wt + c0 % 8, k->nb, c, 1);
        gap_ldlt__diagonal(j, c0, w, tmp, wt + 8 * (c0 - j->k0),
            j->tri + (c0 - j->k0) / k->nb * (k->nb * k->nb + k->nb));
        memcpy(l + 8 * c0, tmp, (size_t)w * 8 * sizeof(double));
        gap_ldlt__panel_strips(j, c0, w, st + 1, end);
    }
}

/* Groups of strips below the square; each is taken through all columns while in cache. */
static inline void gap_ldlt__panel_range(void *ctx, int begin, int end, int worker)
{
    gap_ldlt__job *j = (gap_ldlt__job *)ctx;
    int g, c0, w, nb = j->run->k.nb, size = j->run->k.group;
    int from = gap_ldlt__strips(j->k1), all = j->s1 + j->s2;

    (void)worker;
    for (g = begin; g < end; ++g) {
        int st = from + g * size, to = st + size < all ? st + size : all;
        for (c0 = j->k0; c0 < j->k1; c0 += nb) {
            w = j->k1 - c0 < nb ? j->k1 - c0 : nb;
            gap_ldlt__panel_strips(j, c0, w, st, to);
        }
    }
}

/* Panel columns behind k1 of strips st..st+m: C -= L W^T, the lower tiles. */
static inline void gap_ldlt__update_panel(gap_ldlt__job *j, int st, int m)
{
    const gap_ldlt__kernels *k = &j->run->k;
    ptrdiff_t sw = (ptrdiff_t)8 * j->kp;
    double tmp[3][64], *c[3], *l[3];
    const double *a[3];
    int t, i, skip, w;

    for (i = 0; i < m; ++i) {
        l[i] = gap_ldlt__strip_at(j, st + i);
        a[i] = l[i] + 8 * j->k0;
    }
    for (t = gap_ldlt__strips(j->k1); t < j->s1 && t < st + m; ++t) {
        skip = t > st ? t - st : 0;
        w = j->nc - 8 * t < 8 ? j->nc - 8 * t : 8;
        for (i = skip; i < m; ++i) {
            c[i - skip] = l[i] + 64 * t;
            if (w == 8) continue;
            memset(tmp[i - skip], 0, sizeof tmp[0]);
            memcpy(tmp[i - skip], c[i - skip], (size_t)w * 8 * sizeof(double));
            c[i - skip] = tmp[i - skip];
        }
        k->gemm(m - skip, j->k1 - j->k0, a + skip, j->w + (t - j->k0 / 8) * sw, 8, c, 1);
        for (i = skip; w < 8 && i < m; ++i)
            memcpy(l[i] + 64 * t, tmp[i - skip], (size_t)w * 8 * sizeof(double));
    }
}

/* Strips st..st+m of the update matrix. */
static inline void gap_ldlt__update_below(gap_ldlt__job *j, int st, int m)
{
    const gap_ldlt__kernels *k = &j->run->k;
    ptrdiff_t sw = (ptrdiff_t)8 * j->kp;
    const double *a[3];
    double *c[3];
    int t, i, skip;

    for (i = 0; i < m; ++i) a[i] = gap_ldlt__strip_at(j, j->s1 + st + i) + 8 * j->k0;
    for (t = 0; t < st + m; ++t) {
        skip = t > st ? t - st : 0;
        for (i = skip; i < m; ++i)
            c[i - skip] = j->u + (ptrdiff_t)32 * (st + i) * (st + i + 1) + 64 * t;
        k->gemm(m - skip, j->k1 - j->k0, a + skip, j->w + (j->s1 + t - j->k0 / 8) * sw, 8, c,
            j->k0 > 0);
    }
}

static inline void gap_ldlt__update_range(void *ctx, int begin, int end, int worker)
{
    gap_ldlt__job *j = (gap_ldlt__job *)ctx;
    int g, size = j->run->k.group, from = gap_ldlt__strips(j->k1);
    int upper = (j->s1 - from + size - 1) / size;

    (void)worker;
    for (g = begin; g < end; ++g) {
        int st = g < upper ? from + g * size : j->s1 + (g - upper) * size;
        int stop = g < upper ? j->s1 : j->s1 + j->s2, m = stop - st < size ? stop - st : size;
        gap_ldlt__update_panel(j, st, m);
        if (g >= upper) gap_ldlt__update_below(j, st - j->s1, m);
    }
}

/* Adds column strips [t0, t1) of the product c (rows from strip t0 on, ld of them) to the front. */
static inline void gap_ldlt__add_product(gap_ldlt__job *j, int t0, int t1, const double *c, int ld)
{
    int t, st, k, r, w;

    for (t = t0; t < t1; ++t)
        for (st = t; st < j->s1 + j->s2; ++st) {
            const double *src = c + (ptrdiff_t)8 * (t - t0) * ld + 8 * (st - t0);
            ptrdiff_t q = st - j->s1;
            double *dst = t < j->s1 ? gap_ldlt__strip_at(j, st) + 64 * t
                                    : j->u + 32 * q * (q + 1) + 64 * (t - j->s1);
            w = t < j->s1 && j->nc - 8 * t < 8 ? j->nc - 8 * t : 8;
            for (k = 0; k < w; ++k)
                for (r = 0; r < 8; ++r)
                    dst[8 * k + r] = src[(ptrdiff_t)k * ld + r]
                        + (t >= j->s1 && j->k0 == 0 ? 0.0 : dst[8 * k + r]);
        }
}

/* The update behind k1 by options.gemm: both operands are copied out column by column, for a
   fraction 1 / (k1 - k0) of the work. The calling thread does it; a BLAS has its own threads. */
static inline void gap_ldlt__update_by_gemm(gap_ldlt__job *j)
{
    gap_ldlt *s = j->run->s;
    int from = gap_ldlt__strips(j->k1), all = j->s1 + j->s2, ld = 8 * (all - from), st, t, k, end;
    int kb = j->k1 - j->k0;
    double *a = j->w + (ptrdiff_t)8 * all * j->kp, *b = a + (ptrdiff_t)ld * kb;
    double *c = b + (ptrdiff_t)ld * kb;

    for (st = from; st < all; ++st) {
        const double *l = gap_ldlt__strip_at(j, st) + 8 * j->k0;
        const double *w = j->w + (ptrdiff_t)8 * j->kp * (st - j->k0 / 8);
        for (k = 0; k < kb; ++k) {
            memcpy(a + (ptrdiff_t)k * ld + 8 * (st - from), l + 8 * k, 8 * sizeof(double));
            memcpy(b + (ptrdiff_t)k * ld + 8 * (st - from), w + 8 * k, 8 * sizeof(double));
        }
    }
    for (t = from; t < all; t = end) {
        int rows = 8 * (all - t), skip = 8 * (t - from);
        end = all - t < GAP_LDLT__GEMM_STRIPS ? all : t + GAP_LDLT__GEMM_STRIPS;
        memset(c, 0, (size_t)rows * 8 * (size_t)(end - t) * sizeof(double));
        s->opt.gemm(s->opt.gemm_user, rows, 8 * (end - t), kb, a + skip, ld, b + skip, ld, c, rows);
        gap_ldlt__add_product(j, t, end, c, rows);
    }
}

/* A step of a front: shared among the workers above the tasks, at once inside them. */
static inline void gap_ldlt__spread(gap_ldlt__job *j, int shared, int count, int grain,
    gap_ldlt_range fn)
{
    gap_ldlt *s = j->run->s;

    if (count <= 0) return;
    if (shared)
        s->opt.parallel_for(s->opt.parallel_user, count, grain, fn, j);
    else
        fn(j, 0, count, 0);
}

/* Adds the update matrices of the children to the panel (part 0) or update matrix (part 1). */
static inline void gap_ldlt__children(gap_ldlt__job *j, int shared, int part)
{
    gap_ldlt *s = j->run->s;
    int c, i, r, b = s->b;

    j->part = part;
    for (c = s->child[j->f]; c >= 0; c = s->next[c]) {
        const int *rel = s->rel + s->row_ptr[c];
        j->cn = gap_ldlt__below(s, c);
        j->cp = 0;
        for (i = 0; i < j->cn; i += b, ++rel) {
            int p = *rel * b, below = p < j->nc ? 0 : j->nc;
            if (p < j->nc) j->cp = i + b;
            for (r = 0; r < b; ++r) {
                j->pos[i + r] = p + r;
                j->to[i + r] = 8 * (p + r - below);
            }
        }
        j->cu = gap_ldlt__update_of(s, c, j->arena);
        if (part == 0 || j->cp < j->cn)
            gap_ldlt__spread(j, shared, gap_ldlt__strips(j->cn), 8, gap_ldlt__extend_range);
    }
}

/* Assembles and factors front f. */
static inline void gap_ldlt__front(gap_ldlt__run *run, int f, int worker, int shared)
{
    gap_ldlt *s = run->s;
    gap_ldlt__job job, *j = &job;
    int size = run->k.group, from;

    j->run = run;
    j->f = f;
    j->nc = gap_ldlt__cols(s, f);
    j->nu = gap_ldlt__below(s, f);
    j->s1 = gap_ldlt__strips(j->nc);
    j->s2 = gap_ldlt__strips(j->nu);
    j->arena = run->arena + worker * (s->arena_size + s->scratch_size);
    j->l = s->l + s->l_ptr[f];
    j->u = gap_ldlt__update_of(s, f, j->arena);
    j->w = j->arena + s->arena_size;
    j->pos = (int *)(void *)(j->w + s->scratch_size - s->max_rows - 16);
    j->to = j->pos + s->max_rows;
    gap_ldlt__spread(j, shared, j->s1 + j->s2, 16, gap_ldlt__zero_range);
    gap_ldlt__assemble(j);
    gap_ldlt__children(j, shared, 0);
    for (j->k0 = 0; j->k0 < j->nc; j->k0 = j->k1) {
        j->k1 = j->nc - j->k0 < GAP_LDLT__BLOCK ? j->nc : j->k0 + GAP_LDLT__BLOCK;
        j->kp = 8 * gap_ldlt__strips(j->k1 - j->k0);
        from = gap_ldlt__strips(j->k1);
        gap_ldlt__square(j);
        gap_ldlt__spread(j, shared, (j->s1 + j->s2 - from + size - 1) / size, 1,
            gap_ldlt__panel_range);
        if (gap_ldlt__by_gemm(s, j->nc + j->nu))
            gap_ldlt__update_by_gemm(j);
        else
            gap_ldlt__spread(j, shared,
                (j->s1 - from + size - 1) / size + (j->s2 + size - 1) / size, 1,
                gap_ldlt__update_range);
    }
    gap_ldlt__children(j, shared, 1);
}

static inline int gap_ldlt__cancelled(const gap_ldlt *s)
{
    return s->opt.cancel && s->opt.cancel(s->opt.cancel_user);
}

static inline void gap_ldlt__task_range(void *ctx, int begin, int end, int worker)
{
    gap_ldlt__run *run = (gap_ldlt__run *)ctx;
    gap_ldlt *s = run->s;
    int t, f;

    for (t = begin; t < end; ++t)
        for (f = s->task_first[t]; f < s->task_last[t]; ++f) {
            if (run->outcome[worker] == GAP_LDLT_OK && gap_ldlt__cancelled(s))
                run->outcome[worker] = GAP_LDLT_ECANCEL;
            if (run->outcome[worker] != GAP_LDLT_OK) return;
            gap_ldlt__front(run, f, worker, 0);
        }
}

/* Scale factors 2^-e/2 by the exponent of a_ii; finds values that are not finite. */
static inline int gap_ldlt__prepare(gap_ldlt *s, const double *val, double *floor_d)
{
    int i, c, p, b = s->b, e;
    double big = 0.0;

    for (i = 0; i < s->n; ++i) {
        const double *v = val + (ptrdiff_t)b * b * s->ptr[i];
        const double *end = val + (ptrdiff_t)b * b * s->ptr[i + 1], *dv = end - (ptrdiff_t)b * b;
        double sum = 0.0;
        for (; v < end; ++v) sum += *v * 0.0;
        if (!(sum == 0.0)) {
            s->bad = i;
            return GAP_LDLT_ENONFIN;
        }
        p = s->pos[i];
        for (c = 0; c < b; ++c) {
            double a = fabs(dv[b * c + c]);
            if (a > big) big = a;
            s->scale[(ptrdiff_t)b * p + c] = 1.0;
            if (s->opt.no_scaling || a == 0.0) continue;
            frexp(a, &e);
            s->scale[(ptrdiff_t)b * p + c] = ldexp(1.0, -(e / 2));
        }
    }
    *floor_d = s->opt.no_scaling ? (big > 0.0 ? big : 1.0) : 1.0;
    return GAP_LDLT_OK;
}

/* Lists the replaced pivots and counts signs. */
static inline int gap_ldlt__review(gap_ldlt *s)
{
    ptrdiff_t i, n = (ptrdiff_t)s->n * s->b;

    for (i = 0; i < n; ++i) {
        int dof = s->b * s->perm[i / s->b] + (int)(i % s->b);
        if (!(fabs(s->d[i]) <= DBL_MAX)) {
            s->bad = dof / s->b;
            return GAP_LDLT_ENONFIN;
        }
        if (s->diag[i] < 0.0) {
            s->shift_list[s->shifts++] = dof;
            ++s->inertia[2];
        } else {
            ++s->inertia[s->d[i] < 0.0];
        }
    }
    return s->shifts > 0 ? GAP_LDLT_SHIFTED : GAP_LDLT_OK;
}

static inline int gap_ldlt__factor_memory(gap_ldlt *s)
{
    ptrdiff_t n = (ptrdiff_t)s->n * s->b, workers = gap_ldlt__workers(s);

    s->l = gap_ldlt__doubles(s, GAP_LDLT__L, s->l_ptr[s->ns]);
    s->d = gap_ldlt__doubles(s, GAP_LDLT__D, n);
    s->scale = gap_ldlt__doubles(s, GAP_LDLT__SCALE, n);
    s->diag = gap_ldlt__doubles(s, GAP_LDLT__DIAG, n);
    s->work = gap_ldlt__doubles(s, GAP_LDLT__WORK,
        s->top_size + workers * (s->arena_size + s->scratch_size));
    s->y = gap_ldlt__doubles(s, GAP_LDLT__Y, n + 8 * (ptrdiff_t)s->max_strips
        + 8 * (ptrdiff_t)s->max_cols + 128);
    s->shift_list = gap_ldlt__ints(s, GAP_LDLT__SHIFT, n);
    s->shift_index = s->shift_list;
    return s->l && s->d && s->scale && s->diag && s->work && s->y && s->shift_list
        && gap_ldlt__ints(s, GAP_LDLT__OUTCOME, workers);
}

GAP_LDLT_API int gap_ldlt_factor(gap_ldlt *s, const double *val)
{
    gap_ldlt__run run;
    int i, status, workers;

    GAP_LDLT_ASSERT(s && (val || s->n == 0));
    s->bad = -1;
    s->shifts = s->inertia[0] = s->inertia[1] = s->inertia[2] = 0;
    if (s->state < 1) return GAP_LDLT_ESTATE;
    s->state = 1;
    if (!gap_ldlt__factor_memory(s)) return GAP_LDLT_ENOMEM;
    workers = gap_ldlt__workers(s);
    run.s = s;
    run.val = val;
    run.arena = s->work + s->top_size;
    run.outcome = gap_ldlt__ints(s, GAP_LDLT__OUTCOME, workers);
    gap_ldlt__fill(run.outcome, workers, GAP_LDLT_OK);
    run.eps = s->opt.pivot_eps > 0.0 ? s->opt.pivot_eps : 1e-14;
    run.delta = s->opt.pivot_delta > 0.0 ? s->opt.pivot_delta : 1e-8;
    gap_ldlt__set_kernels(&run.k, s->isa);
    status = gap_ldlt__prepare(s, val, &run.floor_d);
    if (status < 0) return status;
    if (workers > 1)
        s->opt.parallel_for(s->opt.parallel_user, s->ntask, 1, gap_ldlt__task_range, &run);
    else
        gap_ldlt__task_range(&run, 0, s->ntask, 0);
    for (i = 0; i < workers; ++i)
        if (run.outcome[i] != GAP_LDLT_OK) return run.outcome[i];
    for (i = 0; i < s->ntop; ++i) {
        if (gap_ldlt__cancelled(s)) return GAP_LDLT_ECANCEL;
        gap_ldlt__front(&run, s->top[i], 0, 1);
    }
    status = gap_ldlt__review(s);
    if (status >= 0) s->state = 2;
    return status;
}

/* ---- analysis: putting it together -------------------------------------------------- */

/* Order of the nodes into s->perm. Nodes with very many neighbours go last: they would only
   disturb the rest. 0: no room. */
static inline int gap_ldlt__order(gap_ldlt *s, const int *ptr, const int *adj, int dim,
    const double *x, gap_ldlt__arena *arena)
{
    gap_ldlt__dissect t;
    double dense = 10.0 * sqrt((double)s->n);
    int i, n = s->n, few = 0, many = n;

    if (s->opt.order == GAP_LDLT_ORDER_GIVEN) {
        memcpy(s->perm, s->opt.perm, (size_t)n * sizeof(int));
        return 1;
    }
    if (dense < 30) dense = 30;
    for (i = 0; i < n; ++i)
        if (ptr[i + 1] - ptr[i] > dense)
            s->perm[--many] = i;
        else
            s->perm[few++] = i;
    t.n = n;
    t.dim = x ? dim : 0;
    t.ptr = ptr;
    t.adj = adj;
    t.x = x;
    t.perm = s->perm;
    t.arena = *arena;
    t.room = n / 20 + 256;
    t.local = gap_ldlt__take(&t.arena, n);
    t.stack = gap_ldlt__take(&t.arena, 2 * t.room);
    if (!t.local || !t.stack) return 0;
    gap_ldlt__fill(t.local, n, -1);
    return gap_ldlt__dissect_all(&t, few, s->opt.order == GAP_LDLT_ORDER_AMD ? n : GAP_LDLT__LEAF);
}

static inline int gap_ldlt__take_symbolic(gap_ldlt__symbolic *y, gap_ldlt__arena *a)
{
    int **array[14], i;

    array[0] = &y->up, array[1] = &y->count, array[2] = &y->front, array[3] = &y->cols;
    array[4] = &y->below, array[5] = &y->sup, array[6] = &y->child, array[7] = &y->next;
    array[8] = &y->t0, array[9] = &y->t1, array[10] = &y->t2, array[11] = &y->t3;
    for (i = 0; i < 12; ++i)
        if (!(*array[i] = gap_ldlt__take(a, y->n + 1))) return 0;
    return 1;
}

/* Sums the row counts of the fronts. 0: too many. */
static inline int gap_ldlt__place_rows(gap_ldlt *s, const gap_ldlt__symbolic *y)
{
    int f;

    s->row_ptr[0] = 0;
    for (f = 0; f < s->ns; ++f) s->row_ptr[f + 1] = s->row_ptr[f] + y->below[f];
    return s->row_ptr[s->ns] < (ptrdiff_t)INT_MAX;
}

/* From the order to fronts and row lists. */
static inline int gap_ldlt__symbolic_phase(gap_ldlt *s, const int *ptr, const int *adj,
    gap_ldlt__arena *a)
{
    gap_ldlt__symbolic y;
    double *cost;
    int *into;

    y.n = s->n;
    y.ptr = ptr;
    y.adj = adj;
    y.perm = s->perm;
    y.pos = s->pos;
    if (!gap_ldlt__take_symbolic(&y, a)) return GAP_LDLT_ENOMEM;
    into = gap_ldlt__take(a, s->n + 1);
    cost = gap_ldlt__take_doubles(a, 3 * (ptrdiff_t)s->n + 8);
    if (!into || !cost) return GAP_LDLT_ENOMEM;
    gap_ldlt__invert(s->perm, s->pos, s->n);
    gap_ldlt__tree(&y);
    gap_ldlt__renumber(&y);
    gap_ldlt__counts(&y);
    gap_ldlt__exact_stats(s, &y);
    gap_ldlt__fundamental(&y);
    gap_ldlt__merge(&y, s->b, cost, into);
    gap_ldlt__settle(s, &y, into, cost);
    if (!gap_ldlt__place_rows(s, &y)) return GAP_LDLT_ESIZE;
    s->rows = gap_ldlt__ints(s, GAP_LDLT__ROWS, s->row_ptr[s->ns]);
    s->rel = gap_ldlt__ints(s, GAP_LDLT__REL, s->row_ptr[s->ns]);
    if (!s->rows || !s->rel) return GAP_LDLT_ENOMEM;
    gap_ldlt__row_lists(s, &y);
    gap_ldlt__relative(s);
    gap_ldlt__child_lists(s->ns, s->parent, s->child, s->next);
    if (!gap_ldlt__place_fronts(s)) return GAP_LDLT_ESIZE;
    gap_ldlt__plan(s, cost);
    return GAP_LDLT_OK;
}

/* Arrays that do not depend on the result of the ordering. */
static inline int gap_ldlt__analysis_memory(gap_ldlt *s, ptrdiff_t blocks)
{
    ptrdiff_t n = s->n + 1;

    s->base_ptr = gap_ldlt__ints(s, GAP_LDLT__BASE_PTR, n);
    s->base_col = gap_ldlt__ints(s, GAP_LDLT__BASE_COL, blocks);
    s->perm = gap_ldlt__ints(s, GAP_LDLT__PERM, n);
    s->pos = gap_ldlt__ints(s, GAP_LDLT__POS, n);
    s->first = gap_ldlt__ints(s, GAP_LDLT__FIRST, n);
    s->parent = gap_ldlt__ints(s, GAP_LDLT__PARENT, n);
    s->child = gap_ldlt__ints(s, GAP_LDLT__CHILD, n);
    s->next = gap_ldlt__ints(s, GAP_LDLT__NEXT, n);
    s->row_ptr = gap_ldlt__offsets(s, GAP_LDLT__ROW_PTR, n);
    s->l_ptr = gap_ldlt__offsets(s, GAP_LDLT__L_PTR, n);
    s->u_ptr = gap_ldlt__offsets(s, GAP_LDLT__U_PTR, n);
    s->task = gap_ldlt__ints(s, GAP_LDLT__TASK, n);
    s->task_first = gap_ldlt__ints(s, GAP_LDLT__TASK_FIRST, n);
    s->task_last = gap_ldlt__ints(s, GAP_LDLT__TASK_LAST, n);
    s->top = gap_ldlt__ints(s, GAP_LDLT__TOP, n);
    s->blk_ptr = gap_ldlt__ints(s, GAP_LDLT__BLK_PTR, n);
    return s->base_ptr && s->base_col && s->perm && s->pos && s->first && s->parent && s->child
        && s->next && s->row_ptr && s->l_ptr && s->u_ptr && s->task && s->task_first
        && s->task_last && s->top && s->blk_ptr;
}

/* Is every block of the new pattern in the analysed one? */
static inline int gap_ldlt__is_part(const gap_ldlt *s, int n, const int *ptr, const int *col)
{
    int i, p, q;

    if (10 * (double)ptr[n] < 7 * (double)s->nbase) return 0;
    for (i = 0; i < n; ++i) {
        q = s->base_ptr[i];
        for (p = ptr[i]; p < ptr[i + 1]; ++p) {
            while (q < s->base_ptr[i + 1] && s->base_col[q] < col[p]) ++q;
            if (q == s->base_ptr[i + 1] || s->base_col[q] != col[p]) return 0;
        }
    }
    return 1;
}

/* Lists the blocks of the current pattern by front, with their places in it. */
static inline int gap_ldlt__map_blocks(gap_ldlt *s)
{
    int i, f, k, p, n = s->n, *local, *front;
    ptrdiff_t q;

    s->blk = gap_ldlt__ints(s, GAP_LDLT__BLK, s->ptr[n]);
    s->blk_row = gap_ldlt__ints(s, GAP_LDLT__BLK_ROW, s->ptr[n]);
    s->blk_col = gap_ldlt__ints(s, GAP_LDLT__BLK_COL, s->ptr[n]);
    local = gap_ldlt__ints(s, GAP_LDLT__WORK, 2 * (ptrdiff_t)n);
    if (!s->blk || !s->blk_row || !s->blk_col || !local) return GAP_LDLT_ENOMEM;
    front = local + n;
    gap_ldlt__fill(s->blk_ptr, s->ns + 1, 0);
    for (f = 0; f < s->ns; ++f)
        for (k = s->first[f]; k < s->first[f + 1]; ++k) front[k] = f;
    for (i = 0; i < n; ++i)
        for (p = s->ptr[i]; p < s->ptr[i + 1]; ++p) {
            int a = s->pos[i], b = s->pos[s->col[p]];
            ++s->blk_ptr[front[a < b ? a : b]];
        }
    for (f = 1; f <= s->ns; ++f) s->blk_ptr[f] += s->blk_ptr[f - 1];
    for (i = n - 1; i >= 0; --i)
        for (p = s->ptr[i + 1] - 1; p >= s->ptr[i]; --p) {
            int a = s->pos[i], b = s->pos[s->col[p]], at = --s->blk_ptr[front[a < b ? a : b]];
            s->blk[at] = a < b ? -1 - p : p;
            s->blk_row[at] = a < b ? b : a;
            s->blk_col[at] = a < b ? a : b;
        }
    for (f = 0; f < s->ns; ++f) {
        int first = s->first[f], cols = s->first[f + 1] - first;
        for (q = s->row_ptr[f]; q < s->row_ptr[f + 1]; ++q)
            local[s->rows[q]] = cols + (int)(q - s->row_ptr[f]);
        for (k = s->blk_ptr[f]; k < s->blk_ptr[f + 1]; ++k) {
            int row = s->blk_row[k];
            s->blk_row[k] = row < first + cols ? row - first : local[row];
            s->blk_col[k] -= first;
        }
    }
    return GAP_LDLT_OK;
}

/* Copies the current pattern. */
static inline int gap_ldlt__keep_pattern(gap_ldlt *s, const int *ptr, const int *col)
{
    ptrdiff_t n = s->n;

    s->ptr = gap_ldlt__ints(s, GAP_LDLT__PTR, n + 1);
    s->col = gap_ldlt__ints(s, GAP_LDLT__COL, ptr[n]);
    if (!s->ptr || !s->col) return GAP_LDLT_ENOMEM;
    memcpy(s->ptr, ptr, ((size_t)n + 1) * sizeof(int));
    if (n > 0) memcpy(s->col, col, (size_t)ptr[n] * sizeof(int)); /* col may be NULL for n = 0 */
    return gap_ldlt__map_blocks(s);
}

static inline int gap_ldlt__check_given(gap_ldlt *s, const int *perm, int *seen)
{
    int i;

    gap_ldlt__fill(seen, s->n, 0);
    for (i = 0; i < s->n; ++i) {
        s->bad = i;
        if (perm[i] < 0 || perm[i] >= s->n) return GAP_LDLT_EINDEX;
        if (seen[perm[i]]++) return GAP_LDLT_EINPUT;
    }
    s->bad = -1;
    return GAP_LDLT_OK;
}

/* A fresh analysis. */
static inline int gap_ldlt__analyse_fresh(gap_ldlt *s, const int *ptr, const int *col, int dim,
    const double *x)
{
    double edges = 2.0 * ((double)ptr[s->n] - s->n);
    gap_ldlt__arena a;
    int *gp, *adj, status;

    if (edges > INT_MAX || s->n > INT_MAX / 32) return GAP_LDLT_ESIZE;
    if (!gap_ldlt__analysis_memory(s, ptr[s->n])) return GAP_LDLT_ENOMEM;
    a.size = (size_t)(8 * edges + 64.0 * s->n + 20000) * sizeof(int);
    a.used = 0;
    a.base = (char *)gap_ldlt__get(s, GAP_LDLT__WORK, a.size, 1);
    if (!a.base) return GAP_LDLT_ENOMEM;
    gp = gap_ldlt__take(&a, s->n + 1);
    adj = gap_ldlt__take(&a, (ptrdiff_t)edges);
    if (!gp || !adj) return GAP_LDLT_ENOMEM;
    if (s->opt.order == GAP_LDLT_ORDER_GIVEN) {
        status = gap_ldlt__check_given(s, s->opt.perm, gp);
        if (status < 0) return status;
    }
    gap_ldlt__symmetrise(s->n, ptr, col, gp, adj);
    if (!gap_ldlt__order(s, gp, adj, dim, x, &a)) return GAP_LDLT_ENOMEM;
    status = gap_ldlt__symbolic_phase(s, gp, adj, &a);
    if (status < 0) return status;
    memcpy(s->base_ptr, ptr, ((size_t)s->n + 1) * sizeof(int));
    if (s->n > 0) memcpy(s->base_col, col, (size_t)ptr[s->n] * sizeof(int));
    s->nbase = ptr[s->n];
    return gap_ldlt__keep_pattern(s, ptr, col);
}

GAP_LDLT_API int gap_ldlt_analyze(gap_ldlt *s, int n, int b, const int *ptr, const int *col,
    int dim, const double *x)
{
    int status;

    GAP_LDLT_ASSERT(s && n >= 0 && b >= 1 && b <= 8 && ptr && (col || n == 0));
    GAP_LDLT_ASSERT(!x || (dim >= 1 && dim <= 3));
    s->bad = -1;
    if ((double)n * b > INT_MAX / 32) return GAP_LDLT_ESIZE;
    if (s->state > 0 && s->n == n && s->b == b) {
        if (memcmp(s->ptr, ptr, ((size_t)n + 1) * sizeof(int)) == 0
            && (n == 0 || memcmp(s->col, col, (size_t)ptr[n] * sizeof(int)) == 0)) {
            s->stats.reused = 1;
            return GAP_LDLT_OK;
        }
    }
    status = gap_ldlt__check_pattern(s, n, ptr, col);
    if (status < 0) return status;
    if (s->state > 0 && s->n == n && s->b == b && gap_ldlt__is_part(s, n, ptr, col)) {
        s->state = 0;
        status = gap_ldlt__keep_pattern(s, ptr, col);
        if (status < 0) return status;
        s->stats.reused = 2;
        s->state = 1;
        return GAP_LDLT_OK;
    }
    s->state = 0;
    s->n = n;
    s->b = b;
    s->isa = gap_ldlt__pick_isa(s->opt.isa);
    s->stats.reused = 0;
    status = gap_ldlt__analyse_fresh(s, ptr, col, dim, x);
    if (status >= 0) s->state = 1;
    return status;
}

GAP_LDLT_API void gap_ldlt_init(gap_ldlt *s, const gap_ldlt_options *opt)
{
    GAP_LDLT_ASSERT(s);
    memset(s, 0, sizeof *s);
    s->bad = -1;
    if (opt) s->opt = *opt;
    GAP_LDLT_ASSERT(s->opt.order != GAP_LDLT_ORDER_GIVEN || s->opt.perm);
}

GAP_LDLT_API void gap_ldlt_free(gap_ldlt *s)
{
    gap_ldlt_realloc fn = s->opt.realloc_fn ? s->opt.realloc_fn : gap_ldlt__realloc_libc;
    gap_ldlt_options opt = s->opt;
    int i;

    for (i = 0; i < GAP_LDLT_SLOTS; ++i)
        if (s->slot[i]) fn(s->opt.realloc_user, s->slot[i], s->slot_bytes[i], 0);
    gap_ldlt_init(s, &opt);
}

/* ---- solve -------------------------------------------------------------------------- */

#define GAP_LDLT__READ8(i) double z##i = x[i] - y[i];
#define GAP_LDLT__WRITE8(i) x[i] = z##i;
#define GAP_LDLT__LOWER8(i, j) z##i -= t[8 * j + i] * z##j;
#define GAP_LDLT__UPPER8(i, j) z##j -= t[8 * j + i] * z##i;

/* x = T^-1 (x - y) and x = T^-T (x - y) for a diagonal tile T, 8 values that stay in registers. */
static inline void gap_ldlt__lower_tile(const double *t, const double *y, double *x)
{
    GAP_LDLT__ALL8(GAP_LDLT__READ8)
    GAP_LDLT__TRI8(GAP_LDLT__LOWER8)
    GAP_LDLT__ALL8(GAP_LDLT__WRITE8)
}

static inline void gap_ldlt__upper_tile(const double *t, const double *y, double *x)
{
    GAP_LDLT__ALL8(GAP_LDLT__READ8)
    GAP_LDLT__TRI8_BACK(GAP_LDLT__UPPER8)
    GAP_LDLT__ALL8(GAP_LDLT__WRITE8)
}

/* Pivot rows: x = L11^-1 x, strip by strip. x has 0 behind the last row, as L11 has. */
static inline void gap_ldlt__lower(const gap_ldlt__kernels *k, const double *l, int s1, double *x)
{
    double y[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int st;

    for (st = 0; st < s1; l += 64 * ++st) {
        if (st > 0) k->forward(1, 8 * st, l, 0, x, y);
        gap_ldlt__lower_tile(l + 64 * st, y, x + 8 * st);
    }
}

/* x = L11^-T (x - sums of t), from the last strip up. t: 8 partial sums per column. */
static inline void gap_ldlt__upper(const gap_ldlt__kernels *k, const double *l, int s1, double *x,
    double *t)
{
    double y[8];
    int st, c;

    for (st = s1 - 1; st >= 0; --st) {
        const double *strip = l + (ptrdiff_t)32 * st * (st + 1), *u = t + 64 * st;
        for (c = 0; c < 8; ++c, u += 8)
            y[c] = ((u[0] + u[4]) + (u[1] + u[5])) + ((u[2] + u[6]) + (u[3] + u[7]));
        gap_ldlt__upper_tile(strip + 64 * st, y, x + 8 * st);
        if (st > 0) k->backward(1, 8 * st, strip, 0, x + 8 * st, t);
    }
}

/* y[rows] -= out; blocks of three, the usual case, without an inner loop. */
static inline void gap_ldlt__scatter(double *y, const int *rows, int count, int b,
    const double *out)
{
    int i, r;

    if (b == 3)
        for (i = 0; i < count; ++i, out += 3) {
            double *to = y + (ptrdiff_t)3 * rows[i];
            to[0] -= out[0], to[1] -= out[1], to[2] -= out[2];
        }
    else
        for (i = 0; i < count; ++i, out += b)
            for (r = 0; r < b; ++r) y[(ptrdiff_t)b * rows[i] + r] -= out[r];
}

static inline void gap_ldlt__gather(const double *y, const int *rows, int count, int b, double *in)
{
    int i, r;

    if (b == 3)
        for (i = 0; i < count; ++i, in += 3) {
            const double *from = y + (ptrdiff_t)3 * rows[i];
            in[0] = from[0], in[1] = from[1], in[2] = from[2];
        }
    else
        for (i = 0; i < count; ++i, in += b)
            for (r = 0; r < b; ++r) in[r] = y[(ptrdiff_t)b * rows[i] + r];
}

static inline void gap_ldlt__solve_down(gap_ldlt *s, const gap_ldlt__kernels *k, int f, double *y,
    double *x)
{
    int nc = gap_ldlt__cols(s, f), nu = gap_ldlt__below(s, f), s1 = gap_ldlt__strips(nc), i;
    const double *l = s->l + s->l_ptr[f];
    double *z = y + (ptrdiff_t)s->b * s->first[f], *out = x + 8 * s1;

    for (i = nc; i < 8 * s1; ++i) x[i] = 0.0;
    memcpy(x, z, (size_t)nc * sizeof(double));
    gap_ldlt__lower(k, l, s1, x);
    memcpy(z, x, (size_t)nc * sizeof(double));
    k->forward(gap_ldlt__strips(nu), nc, l + gap_ldlt__strip(nc, s1), (ptrdiff_t)8 * nc, x, out);
    gap_ldlt__scatter(y, s->rows + s->row_ptr[f], nu / s->b, s->b, out);
}

static inline void gap_ldlt__solve_up(gap_ldlt *s, const gap_ldlt__kernels *k, int f, double *y,
    double *x)
{
    int nc = gap_ldlt__cols(s, f), nu = gap_ldlt__below(s, f), s1 = gap_ldlt__strips(nc);
    int s2 = gap_ldlt__strips(nu), i;
    const double *l = s->l + s->l_ptr[f], *d = s->d + (ptrdiff_t)s->b * s->first[f];
    double *z = y + (ptrdiff_t)s->b * s->first[f], *in = x + 8 * s1, *t = x + 8 * (s1 + s2);

    for (i = 0; i < nc; ++i) x[i] = z[i] / d[i];
    for (; i < 8 * s1; ++i) x[i] = 0.0;
    gap_ldlt__gather(y, s->rows + s->row_ptr[f], nu / s->b, s->b, in);
    for (i = nu; i < 8 * s2; ++i) in[i] = 0.0;
    memset(t, 0, (size_t)s1 * 64 * sizeof(double));
    k->backward(s2, nc, l + gap_ldlt__strip(nc, s1), (ptrdiff_t)8 * nc, in, t);
    gap_ldlt__upper(k, l, s1, x, t);
    memcpy(z, x, (size_t)nc * sizeof(double));
}

/* A x = b by P S A S P^T = L D L^T: x = S P^T L^-T D^-1 L^-1 P S b. */
static inline void gap_ldlt__solve_one(gap_ldlt *s, const gap_ldlt__kernels *k, double *x)
{
    ptrdiff_t n = (ptrdiff_t)s->n * s->b;
    double *y = s->y, *scratch = s->y + (n + 7) / 8 * 8;
    int f, p, c, b = s->b;

    for (p = 0; p < s->n; ++p)
        for (c = 0; c < b; ++c)
            y[(ptrdiff_t)b * p + c] = x[(ptrdiff_t)b * s->perm[p] + c]
                * s->scale[(ptrdiff_t)b * p + c];
    for (f = 0; f < s->ns; ++f) gap_ldlt__solve_down(s, k, f, y, scratch);
    for (f = s->ns - 1; f >= 0; --f) gap_ldlt__solve_up(s, k, f, y, scratch);
    for (p = 0; p < s->n; ++p)
        for (c = 0; c < b; ++c)
            x[(ptrdiff_t)b * s->perm[p] + c] = y[(ptrdiff_t)b * p + c]
                * s->scale[(ptrdiff_t)b * p + c];
}

GAP_LDLT_API int gap_ldlt_solve(gap_ldlt *s, int nrhs, double *x)
{
    gap_ldlt__kernels k;
    int i;

    GAP_LDLT_ASSERT(s && nrhs >= 0 && (x || nrhs == 0 || s->n == 0));
    if (s->state < 2) return GAP_LDLT_ESTATE;
    gap_ldlt__set_kernels(&k, s->isa);
    for (i = 0; i < nrhs; ++i) gap_ldlt__solve_one(s, &k, x + (ptrdiff_t)i * s->n * s->b);
    return GAP_LDLT_OK;
}

/* r = rhs - A x, size = |rhs| + |A| |x|; returns the componentwise backward error. */
static inline double gap_ldlt__residual(const gap_ldlt *s, const double *val, const double *rhs,
    const double *x, double *r, double *size)
{
    ptrdiff_t k, n = (ptrdiff_t)s->n * s->b;
    int i, p, c, e, b = s->b;
    double worst = 0.0;

    for (k = 0; k < n; ++k) {
        r[k] = rhs[k];
        size[k] = fabs(rhs[k]);
    }
    for (i = 0; i < s->n; ++i)
        for (p = s->ptr[i]; p < s->ptr[i + 1]; ++p) {
            const double *v = val + (ptrdiff_t)b * b * p;
            ptrdiff_t row = (ptrdiff_t)b * i, col = (ptrdiff_t)b * s->col[p];
            for (c = 0; c < b; ++c)
                for (e = 0; e < (row == col ? c + 1 : b); ++e) {
                    double a = v[b * c + e];
                    r[row + c] -= a * x[col + e];
                    size[row + c] += fabs(a * x[col + e]);
                    if (row + c == col + e) continue;
                    r[col + e] -= a * x[row + c];
                    size[col + e] += fabs(a * x[row + c]);
                }
        }
    for (k = 0; k < n; ++k) {
        double q = size[k] > 0.0 ? fabs(r[k]) / size[k] : 0.0;
        if (!(q <= worst)) worst = q;
    }
    return worst;
}

GAP_LDLT_API int gap_ldlt_refine(gap_ldlt *s, const double *val, const double *rhs, double *x,
    int steps, double *backward)
{
    ptrdiff_t i, n;
    double *r, *size, error, next;
    int k;

    GAP_LDLT_ASSERT(s && steps >= 0 && ((val && rhs && x) || s->n == 0));
    if (backward) *backward = HUGE_VAL;
    if (s->state < 2) return GAP_LDLT_ESTATE;
    n = (ptrdiff_t)s->n * s->b;
    r = (double *)gap_ldlt__get(s, GAP_LDLT__RESIDUAL, (size_t)n * 3, sizeof(double));
    if (!r) return GAP_LDLT_ENOMEM;
    size = r + n;
    error = gap_ldlt__residual(s, val, rhs, x, r, size);
    for (k = 0; k < steps && error > 1e-15; ++k) {
        double *old = r + 2 * n;
        memcpy(old, x, (size_t)n * sizeof(double));
        gap_ldlt_solve(s, 1, r);
        for (i = 0; i < n; ++i) x[i] += r[i];
        next = gap_ldlt__residual(s, val, rhs, x, r, size);
        if (!(next < error)) { /* no better: keep what we had */
            memcpy(x, old, (size_t)n * sizeof(double));
            break;
        }
        k = next > 0.5 * error ? steps : k;
        error = next;
    }
    if (backward) *backward = error;
    return error <= DBL_MAX ? GAP_LDLT_OK : GAP_LDLT_ENONFIN;
}

GAP_LDLT_API int gap_ldlt_pivots(const gap_ldlt *s, double *d)
{
    ptrdiff_t p;
    int c, b = s->b;

    if (s->state < 2) return GAP_LDLT_ESTATE;
    for (p = 0; p < s->n; ++p)
        for (c = 0; c < b; ++c) {
            double scale = s->scale[b * p + c];
            d[(ptrdiff_t)b * s->perm[p] + c] = s->d[b * p + c] / scale / scale;
        }
    return GAP_LDLT_OK;
}

/* Flops of the square blocks of front f, which nobody shares. */
static inline double gap_ldlt__serial_flops(const gap_ldlt *s, int f)
{
    double c = gap_ldlt__cols(s, f), b = GAP_LDLT__BLOCK;
    double whole = floor(c / b), rest = c - whole * b;

    return (whole * b * b * b + rest * rest * rest) / 3;
}

GAP_LDLT_API double gap_ldlt_chain(const gap_ldlt *s, int workers)
{
    double busy[64], chain = 0.0, most = 0.0;
    int t, f, i, k, n = workers < 1 ? 1 : (workers > 64 ? 64 : workers);

    for (i = 0; i < n; ++i) busy[i] = 0.0;
    for (t = 0; t < s->ntask; ++t) {
        for (i = 0, k = 1; k < n; ++k)
            if (busy[k] < busy[i]) i = k;
        for (f = s->task_first[t]; f < s->task_last[t]; ++f) busy[i] += gap_ldlt__front_flops(s, f);
    }
    for (i = 0; i < n; ++i)
        if (busy[i] > most) most = busy[i];
    chain = most;
    for (i = 0; i < s->ntop; ++i) {
        double c = gap_ldlt__cols(s, s->top[i]), u = gap_ldlt__below(s, s->top[i]);
        double all = gap_ldlt__front_flops(s, s->top[i]);
        double alone = gap_ldlt__serial_flops(s, s->top[i]), shared = (all - alone) / n;
        double strip = 24.0 * c * (c + 2.0 * u); /* the last chunk: three strips, all columns */
        if (strip > all - alone) strip = all - alone;
        chain += alone + (shared > strip ? shared : strip);
    }
    return chain;
}
#endif /* GAP_LDLT_IMPLEMENTATION */
/*
MIT No Attribution

Copyright 2026 the gap authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this
software and associated documentation files (the "Software"), to deal in the Software
without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons
to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR
PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
DEALINGS IN THE SOFTWARE.
*/
