/* csv.h - a table of numbers: stats.csv
   The first line names the columns, every further line has one number (nan and inf too) per column.
   Reading stops at the first line that is not so, or has no end; what stands before it is kept. */
#ifndef CSV_H
#define CSV_H
#include <stdio.h>

typedef struct csv {
    int columns, rows;
    char **column;   /* names: printable ASCII */
    double *value;   /* columns per row */
    int line;        /* the last one read, from 1 */
    char error[120]; /* why reading stopped early, at that line; empty if it did not */
} csv;

/* 1, or 0 if out of memory. An empty or unreadable table has no columns. csv_free in every case. */
int csv_read(csv *t, FILE *f);
void csv_free(csv *t);
/* Number of a column, or -1. */
int csv_find(const csv *t, const char *name);

#endif
