/* queries: reader of the published CCD query files (rationals with power-of-two denominators). */
#ifndef QUERIES_H
#define QUERIES_H
#include <stddef.h>

typedef struct queries {
    int n;                /* number of queries                                              */
    double *x;            /* 24 each: four points at t = 0, then the same four at t = 1      */
    unsigned char *truth; /* 1 each: the points collide in [0,1]                            */
} queries;

/* Reads n bytes of text: 8 rows per query, each of seven integers, three coordinates as numerator
   and denominator, then the truth (the same on all 8 rows). Every number must be exact as a double.
   Returns 0, or the line (from 1) at which something is wrong, with *what saying what; *out is
   then empty. */
int queries_parse(const char *text, size_t n, queries *out, const char **what);

/* The same from a file; *what may be "cannot be read" at line 0 (returned as -1). */
int queries_read(const char *path, queries *out, const char **what);

void queries_free(queries *q);
#endif
