/* mtx.c - see mtx.h */
#include "mtx.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the text, line by line ---- */
typedef struct text {
    const char *p, *end; /* what has not been read */
    const char *eol;     /* end of the present line */
    const char *name;
    size_t line;         /* number of the present line, from 1 */
    char *message;
    size_t size;
} text;

static int complain(const text *t, size_t line, const char *format, ...)
{
    va_list args;
    int used = snprintf(t->message, t->size, "%s:%lu: ", t->name, (unsigned long)line);
    if (used < 0 || (size_t)used >= t->size) return MTX_EINPUT;
    va_start(args, format);
    vsnprintf(t->message + used, t->size - (size_t)used, format, args);
    va_end(args);
    return MTX_EINPUT;
}

static int no_memory(const text *t)
{
    snprintf(t->message, t->size, "%s: out of memory", t->name);
    return MTX_ENOMEM;
}

static void open_text(text *t, const char *name, const char *p, size_t length, char *message,
    size_t size)
{
    t->p = t->eol = p;
    t->end = p + length;
    t->name = name;
    t->line = 0;
    t->message = message;
    t->size = size;
    if (size > 0) message[0] = 0;
}

static void skip_space(text *t)
{
    while (t->p < t->eol && (*t->p == ' ' || *t->p == '\t' || *t->p == '\r')) t->p++;
}

/* Go to the next line, whatever it holds. Returns 0 at the end of the text. */
static int raw_line(text *t)
{
    if (t->line > 0) t->p = t->eol < t->end ? t->eol + 1 : t->end;
    if (t->p >= t->end) return 0;
    t->eol = (const char *)memchr(t->p, '\n', (size_t)(t->end - t->p));
    if (!t->eol) t->eol = t->end;
    t->line++;
    return 1;
}

/* Go to the next line that is neither blank nor a comment. */
static int next_line(text *t)
{
    while (raw_line(t)) {
        skip_space(t);
        if (t->p < t->eol && *t->p != '%') return 1;
    }
    return 0;
}

/* A whole number in 0..INT_MAX, ended by space or the end of the line. */
static int read_int(text *t, const char *what, int *out)
{
    long long v = 0;
    const char *start;
    *out = 0;
    skip_space(t);
    for (start = t->p; t->p < t->eol && isdigit((unsigned char)*t->p); t->p++) {
        v = 10 * v + (*t->p - '0');
        if (v > INT_MAX) return complain(t, t->line, "%s is too large", what);
    }
    if (t->p == start) return complain(t, t->line, "%s is missing or not a whole number", what);
    if (t->p < t->eol && !isspace((unsigned char)*t->p)) {
        return complain(t, t->line, "%s is followed by '%c'", what, *t->p);
    }
    *out = (int)v;
    return MTX_OK;
}

static int read_double(text *t, int integer, double *out)
{
    char *stop;
    *out = 0.0;
    skip_space(t);
    if (t->p == t->eol) return complain(t, t->line, "the value is missing");
    *out = strtod(t->p, &stop); /* the text ends with 0, and no number holds a line's end */
    if (stop == t->p || stop > t->eol || (stop < t->eol && !isspace((unsigned char)*stop))) {
        return complain(t, t->line, "the value is not a number");
    }
    if (*out != *out) return complain(t, t->line, "the value is NaN");
    if (fabs(*out) > 1.7976931348623157e308) {
        return complain(t, t->line, "the value is infinite or too large for double precision");
    }
    if (integer && *out != floor(*out)) {
        return complain(t, t->line, "the value is not whole, but the header says integer");
    }
    t->p = stop;
    return MTX_OK;
}

static int line_ends(text *t)
{
    skip_space(t);
    if (t->p < t->eol) return complain(t, t->line, "more on the line than expected");
    return MTX_OK;
}

/* ---- the first line: %%MatrixMarket matrix FORMAT FIELD SYMMETRY ---- */
typedef struct banner {
    int array, integer, pattern, symmetric;
} banner;

static void read_word(text *t, char word[32])
{
    int k = 0;
    skip_space(t);
    while (t->p < t->eol && !isspace((unsigned char)*t->p) && k < 31) {
        word[k++] = (char)tolower((unsigned char)*t->p++);
    }
    word[k] = 0;
}

static int read_banner(text *t, banner *b)
{
    char word[5][32];
    int k;
    memset(b, 0, sizeof *b);
    if (!raw_line(t)) return complain(t, 1, "the file is empty");
    for (k = 0; k < 5; ++k) read_word(t, word[k]);
    if (strcmp(word[0], "%%matrixmarket") != 0 || strcmp(word[1], "matrix") != 0) {
        return complain(t, 1, "does not begin with %%%%MatrixMarket matrix");
    }
    b->array = strcmp(word[2], "array") == 0;
    b->integer = strcmp(word[3], "integer") == 0;
    b->pattern = strcmp(word[3], "pattern") == 0;
    b->symmetric = strcmp(word[4], "symmetric") == 0;
    if (!b->array && strcmp(word[2], "coordinate") != 0) {
        return complain(t, 1, "format '%s' is not coordinate or array", word[2]);
    }
    if (!b->integer && !b->pattern && strcmp(word[3], "real") != 0) {
        return complain(t, 1, "field '%s' is not real, integer or pattern", word[3]);
    }
    if (!b->symmetric && strcmp(word[4], "general") != 0) {
        return complain(t, 1, "symmetry '%s' is not symmetric or general", word[4]);
    }
    return line_ends(t);
}

/* ---- the entries of a matrix ---- */
typedef struct entries {
    int n, count;
    int *row, *col; /* from 0, as in the file */
    double *val;
    int *order, *spare; /* sorted by (larger index, smaller index, place in the file) */
} entries;

static void free_entries(entries *e)
{
    free(e->row);
    free(e->col);
    free(e->val);
    free(e->order);
    free(e->spare);
}

/* Sizes, and whether the file can hold what they say: an entry takes at least "1 1\n" (the last
   line end may be missing), and every row of a matrix that can be solved has an entry. */
static int read_sizes(text *t, const banner *b, int block, entries *e)
{
    size_t bytes = b->pattern ? 4 : 6;
    int columns;
    if (!next_line(t)) return complain(t, t->line, "truncated: no line with the sizes");
    if (read_int(t, "the number of rows", &e->n)) return MTX_EINPUT;
    if (read_int(t, "the number of columns", &columns)) return MTX_EINPUT;
    if (read_int(t, "the number of entries", &e->count) || line_ends(t)) return MTX_EINPUT;
    if (e->n != columns) {
        return complain(t, t->line, "not square: %d rows and %d columns", e->n, columns);
    }
    if (e->n == 0) return complain(t, t->line, "the matrix has no rows");
    if (e->n % block != 0) {
        return complain(t, t->line, "%d rows are not a multiple of the block size %d", e->n, block);
    }
    if ((size_t)e->count > (size_t)(t->end - t->p) / bytes + 1) {
        return complain(t, t->line, "%d entries cannot be in the %lu bytes that follow", e->count,
            (unsigned long)(t->end - t->p));
    }
    if (e->n / 2 > e->count) {
        return complain(t, t->line, "%d entries leave some of the %d rows empty", e->count, e->n);
    }
    return MTX_OK;
}

static int read_entry(text *t, const banner *b, entries *e, int q)
{
    int i, j;
    e->val[q] = 1.0;
    if (read_int(t, "the row", &i) || read_int(t, "the column", &j)) return MTX_EINPUT;
    if (i < 1 || i > e->n) return complain(t, t->line, "row %d is not in 1..%d", i, e->n);
    if (j < 1 || j > e->n) return complain(t, t->line, "column %d is not in 1..%d", j, e->n);
    if (b->symmetric && j > i) {
        return complain(t, t->line, "(%d,%d) is above the diagonal of a symmetric file", i, j);
    }
    if (!b->pattern && read_double(t, b->integer, &e->val[q])) return MTX_EINPUT;
    e->row[q] = i - 1;
    e->col[q] = j - 1;
    return line_ends(t);
}

static int read_entries(text *t, const banner *b, entries *e)
{
    size_t count = (size_t)e->count + 1;
    int q;
    e->row = (int *)malloc(count * sizeof(int));
    e->col = (int *)malloc(count * sizeof(int));
    e->val = (double *)malloc(count * sizeof(double));
    e->order = (int *)malloc(count * sizeof(int));
    e->spare = (int *)malloc(count * sizeof(int));
    if (!e->row || !e->col || !e->val || !e->order || !e->spare) return no_memory(t);
    for (q = 0; q < e->count; ++q) {
        if (!next_line(t)) {
            return complain(t, t->line, "truncated after %d of %d entries", q, e->count);
        }
        if (read_entry(t, b, e, q)) return MTX_EINPUT;
    }
    if (next_line(t)) return complain(t, t->line, "more than the %d entries announced", e->count);
    return MTX_OK;
}

/* Place in the lower triangle. */
static int larger(const entries *e, int q)
{
    return e->row[q] > e->col[q] ? e->row[q] : e->col[q];
}

static int smaller(const entries *e, int q)
{
    return e->row[q] < e->col[q] ? e->row[q] : e->col[q];
}

/* Two stable counting sorts: by the smaller index, then by the larger. */
static int sort_entries(const text *t, entries *e)
{
    int pass, q, *start = (int *)malloc(((size_t)e->n + 1) * sizeof(int));
    if (!start) return no_memory(t);
    for (q = 0; q < e->count; ++q) e->spare[q] = q;
    for (pass = 0; pass < 2; ++pass) {
        const int *from = pass ? e->order : e->spare;
        int *to = pass ? e->spare : e->order;
        memset(start, 0, ((size_t)e->n + 1) * sizeof(int));
        for (q = 0; q < e->count; ++q) start[(pass ? larger(e, q) : smaller(e, q)) + 1]++;
        for (q = 0; q < e->n; ++q) start[q + 1] += start[q];
        for (q = 0; q < e->count; ++q) {
            to[start[pass ? larger(e, from[q]) : smaller(e, from[q])]++] = from[q];
        }
    }
    memcpy(e->order, e->spare, (size_t)e->count * sizeof(int));
    free(start);
    return MTX_OK;
}

/* Line of entry q: one entry a line, so it is line q of those that count. */
static size_t entry_line(const text *t, const char *start, int q)
{
    text u = *t;
    char none[1];
    u.p = u.eol = start;
    u.line = 0;
    u.message = none;
    u.size = sizeof none;
    raw_line(&u);
    next_line(&u);
    while (q-- >= 0 && next_line(&u)) continue;
    return u.line;
}

static int fault(const text *t, const char *start, const entries *e, int q, const char *what)
{
    return complain(t, entry_line(t, start, q), "entry (%d,%d) %s", e->row[q] + 1, e->col[q] + 1,
        what);
}

/* Each place once; in a general file each place off the diagonal with its equal mirror. On success
   order holds one entry for each place of the lower triangle, count of them. */
static int check_entries(const text *t, const char *start, const banner *b, entries *e)
{
    int q = 0, kept = 0;
    while (q < e->count) {
        int first = e->order[q], second = q + 1 < e->count ? e->order[q + 1] : -1, size = 1;
        if (second >= 0 && larger(e, second) == larger(e, first)
            && smaller(e, second) == smaller(e, first)) {
            if (e->row[second] == e->row[first]) {
                return fault(t, start, e, second, "is there twice");
            }
            if (e->val[second] != e->val[first]) {
                return fault(t, start, e, second, "differs from its mirror: not symmetric");
            }
            size = 2;
        } else if (!b->symmetric && e->row[first] != e->col[first]) {
            return fault(t, start, e, first, "has no mirror: the matrix is not symmetric");
        }
        q += size;
        if (size == 2 && q < e->count && larger(e, e->order[q]) == larger(e, first)
            && smaller(e, e->order[q]) == smaller(e, first)) {
            return fault(t, start, e, e->order[q], "is there twice");
        }
        e->order[kept++] = first;
    }
    e->count = kept;
    return MTX_OK;
}

/* ---- into blocks ---- */
static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Block columns of each block row; entries come by rows. col has room for count + n. */
static void block_pattern(const entries *e, mtx_matrix *A, int *mark)
{
    int i, q = 0, m = 0;
    for (i = 0; i < A->n; ++i) mark[i] = -1;
    for (i = 0; i < A->n; ++i) {
        A->ptr[i] = m;
        for (; q < e->count && larger(e, e->order[q]) / A->b == i; ++q) {
            int j = smaller(e, e->order[q]) / A->b;
            if (j == i || mark[j] == i) continue;
            mark[j] = i;
            A->col[m++] = j;
        }
        if (A->b > 1) qsort(A->col + A->ptr[i], (size_t)(m - A->ptr[i]), sizeof(int), compare_ints);
        A->col[m++] = i;
    }
    A->ptr[A->n] = m;
}

static void block_values(const entries *e, mtx_matrix *A, int *at)
{
    int i, q = 0, k, b = A->b;
    for (i = 0; i < A->n; ++i) {
        for (k = A->ptr[i]; k < A->ptr[i + 1]; ++k) at[A->col[k]] = k;
        for (; q < e->count && larger(e, e->order[q]) / b == i; ++q) {
            int r = larger(e, e->order[q]), c = smaller(e, e->order[q]);
            double *v = A->val + (size_t)(b * b) * (size_t)at[c / b];
            v[(r % b) * b + c % b] = e->val[e->order[q]];
            if (c / b == i) v[(c % b) * b + r % b] = e->val[e->order[q]];
        }
    }
}

/* A block has at least one entry of the file or is one of n diagonal ones, so the values take at
   most b*b times the number of entries. */
static int make_blocks(const text *t, const entries *e, int b, mtx_matrix *A)
{
    int *mark;
    A->n = e->n / b;
    A->b = b;
    A->ptr = (int *)malloc(((size_t)A->n + 1) * sizeof(int));
    A->col = (int *)malloc(((size_t)e->count + (size_t)A->n) * sizeof(int));
    mark = (int *)malloc((size_t)A->n * sizeof(int));
    if (A->ptr && A->col && mark && (size_t)e->count + (size_t)A->n <= INT_MAX) {
        block_pattern(e, A, mark);
        A->val = (double *)calloc((size_t)A->ptr[A->n], (size_t)(b * b) * sizeof(double));
        if (A->val) block_values(e, A, mark);
    }
    free(mark);
    return A->val ? MTX_OK : no_memory(t);
}

int mtx_parse(const char *bytes, size_t length, const char *name, int b, mtx_matrix *A,
    char *message, size_t size)
{
    text t;
    banner head;
    entries e;
    int status;
    memset(A, 0, sizeof *A);
    memset(&e, 0, sizeof e);
    open_text(&t, name, bytes, length, message, size);
    if (b < 1 || b > 6) return complain(&t, 1, "block size %d is not in 1..6", b);
    status = read_banner(&t, &head);
    if (!status && head.array) status = complain(&t, 1, "an array file is not a sparse matrix");
    if (!status) status = read_sizes(&t, &head, b, &e);
    if (!status) status = read_entries(&t, &head, &e);
    if (!status) status = sort_entries(&t, &e);
    if (!status) status = check_entries(&t, bytes, &head, &e);
    if (!status) status = make_blocks(&t, &e, b, A);
    if (status) mtx_free(A);
    free_entries(&e);
    return status;
}

void mtx_free(mtx_matrix *A)
{
    free(A->ptr);
    free(A->col);
    free(A->val);
    memset(A, 0, sizeof *A);
}

static int read_values(text *t, int n, double *v)
{
    banner head;
    int i, rows, columns;
    if (read_banner(t, &head)) return MTX_EINPUT;
    if (!head.array || head.pattern || head.symmetric) {
        return complain(t, 1, "a vector is 'array real general' or 'array integer general'");
    }
    if (!next_line(t)) return complain(t, t->line, "truncated: no line with the sizes");
    if (read_int(t, "the number of rows", &rows)) return MTX_EINPUT;
    if (read_int(t, "the number of columns", &columns) || line_ends(t)) return MTX_EINPUT;
    if (rows != n || columns != 1) {
        return complain(t, t->line, "%d x %d values, expected %d x 1", rows, columns, n);
    }
    for (i = 0; i < n; ++i) {
        if (!next_line(t)) return complain(t, t->line, "truncated after %d of %d values", i, n);
        if (read_double(t, head.integer, &v[i]) || line_ends(t)) return MTX_EINPUT;
    }
    if (next_line(t)) return complain(t, t->line, "more than the %d values announced", n);
    return MTX_OK;
}

int mtx_parse_vector(const char *bytes, size_t length, const char *name, int n, double *v,
    char *message, size_t size)
{
    text t;
    int status;
    open_text(&t, name, bytes, length, message, size);
    status = read_values(&t, n, v);
    if (status) memset(v, 0, (size_t)n * sizeof *v);
    return status;
}

/* ---- files ---- */

/* The whole file, with a 0 after it; NULL and a message if that fails. */
static char *load(const char *path, size_t *length, char *message, size_t size, int *status)
{
    FILE *f = fopen(path, "rb");
    size_t capacity = 1 << 16, used = 0, got;
    char *p = f ? (char *)malloc(capacity) : NULL, *bigger;
    *status = f ? MTX_ENOMEM : MTX_EINPUT;
    while (p && (got = fread(p + used, 1, capacity - used - 1, f)) > 0) {
        used += got;
        if (capacity - used > 1) continue;
        bigger = capacity <= (size_t)-1 / 2 ? (char *)realloc(p, 2 * capacity) : NULL;
        if (!bigger) free(p);
        p = bigger;
        capacity *= 2;
    }
    if (p && ferror(f)) {
        free(p);
        p = NULL;
        *status = MTX_EINPUT;
    }
    if (!p && size > 0) {
        snprintf(message, size, "%s: %s", path,
            *status == MTX_ENOMEM ? "out of memory" : strerror(errno));
    }
    if (f) fclose(f);
    if (p) p[used] = 0;
    *length = used;
    return p;
}

int mtx_read(const char *path, int b, mtx_matrix *A, char *message, size_t size)
{
    size_t length;
    int status;
    char *p = load(path, &length, message, size, &status);
    memset(A, 0, sizeof *A);
    if (p) status = mtx_parse(p, length, path, b, A, message, size);
    free(p);
    return status;
}

int mtx_read_vector(const char *path, int n, double *v, char *message, size_t size)
{
    size_t length;
    int status;
    char *p = load(path, &length, message, size, &status);
    if (p) status = mtx_parse_vector(p, length, path, n, v, message, size);
    else memset(v, 0, (size_t)n * sizeof *v);
    free(p);
    return status;
}

static FILE *create(const char *path, char **temporary, char *message, size_t size)
{
    size_t length = strlen(path) + 5;
    FILE *f = NULL;
    *temporary = (char *)malloc(length);
    if (*temporary) {
        snprintf(*temporary, length, "%s.tmp", path);
        f = fopen(*temporary, "wb");
    }
    if (f) {
        if (size > 0) message[0] = 0;
        return f;
    }
    snprintf(message, size, "%s: %s", path, *temporary ? strerror(errno) : "out of memory");
    free(*temporary);
    return NULL;
}

/* Close, and give the file its name only if every byte was written. */
static int settle(FILE *f, const char *path, char *temporary, char *message, size_t size)
{
    int bad = ferror(f) != 0;
    bad = fclose(f) != 0 || bad;
    bad = bad || rename(temporary, path) != 0;
    if (bad) {
        snprintf(message, size, "%s: cannot be written: %s", path, strerror(errno));
        remove(temporary);
    }
    free(temporary);
    return bad ? MTX_EINPUT : MTX_OK;
}

int mtx_write(const char *path, int n, int b, const int *ptr, const int *col, const double *val,
    char *message, size_t size)
{
    char *temporary;
    FILE *f = create(path, &temporary, message, size);
    size_t lower = (size_t)b * (size_t)(b + 1) / 2, full = (size_t)(b * b);
    int i, q, r, c;
    if (!f) return MTX_EINPUT;
    fprintf(f, "%%%%MatrixMarket matrix coordinate real symmetric\n%lu %lu %lu\n",
        (unsigned long)n * (unsigned long)b, (unsigned long)n * (unsigned long)b,
        (unsigned long)((size_t)(ptr[n] - n) * full + (size_t)n * lower));
    for (i = 0; i < n; ++i) {
        for (r = 0; r < b; ++r) {
            for (q = ptr[i]; q < ptr[i + 1]; ++q) {
                for (c = 0; c < (col[q] == i ? r + 1 : b); ++c) {
                    fprintf(f, "%ld %ld %.17g\n", (long)i * b + r + 1, (long)col[q] * b + c + 1,
                        val[full * (size_t)q + (size_t)(r * b + c)]);
                }
            }
        }
    }
    return settle(f, path, temporary, message, size);
}

int mtx_write_vector(const char *path, int n, const double *v, char *message, size_t size)
{
    char *temporary;
    FILE *f = create(path, &temporary, message, size);
    int i;
    if (!f) return MTX_EINPUT;
    fprintf(f, "%%%%MatrixMarket matrix array real general\n%d 1\n", n);
    for (i = 0; i < n; ++i) fprintf(f, "%.17g\n", v[i]);
    return settle(f, path, temporary, message, size);
}
