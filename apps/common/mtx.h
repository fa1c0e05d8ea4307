/* mtx.h - Matrix Market files of symmetric matrices and of vectors
   Read: coordinate real, integer or pattern (entries 1), symmetric, or general if the matrix is
   symmetric bit by bit; array real or integer for vectors. Everything else is refused by name.
   One entry a line; a comment line begins with %; blank lines and CRLF are fine.
   Every complaint is FILE:LINE: what is wrong. Counts in the file are believed only as far as its
   size allows, so memory stays within a constant times the size of the file. */
#ifndef MTX_H
#define MTX_H
#include <stddef.h>

enum {
    MTX_OK = 0,
    MTX_ENOMEM = -2,
    MTX_EINPUT = -6 /* cannot be opened, or the text is wrong; the message says where */
};

/* Block rows of the lower triangle, columns ascending, diagonal block always there, last and full;
   blocks b*b row by row. Entries absent from the file are zero. */
typedef struct mtx_matrix {
    int n, b;    /* n*b rows in the file */
    int *ptr;    /* n + 1 */
    int *col;    /* ptr[n] */
    double *val; /* b*b*ptr[n] */
} mtx_matrix;

/* Read a matrix, cut into b x b blocks (b in 1..6). On error A is empty (all zero).
   message  of capacity size, always terminated, empty on success */
int mtx_read(const char *path, int b, mtx_matrix *A, char *message, size_t size);
void mtx_free(mtx_matrix *A); /* an empty one is fine */

/* Read a vector of exactly n values into the caller's v; zeros on error. */
int mtx_read_vector(const char *path, int n, double *v, char *message, size_t size);

/* The same from memory: text[length] must be 0. name stands for the file in messages. */
int mtx_parse(const char *text, size_t length, const char *name, int b, mtx_matrix *A,
    char *message, size_t size);
int mtx_parse_vector(const char *text, size_t length, const char *name, int n, double *v,
    char *message, size_t size);

/* Write with 17 digits, all entries of the stored blocks on and below the diagonal; first to
   path.tmp, which is then renamed. */
int mtx_write(const char *path, int n, int b, const int *ptr, const int *col, const double *val,
    char *message, size_t size);
int mtx_write_vector(const char *path, int n, const double *v, char *message, size_t size);

#endif
