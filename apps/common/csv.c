/* csv.c - see csv.h. A row needs at least one byte per column, so a lying file costs no more memory
   than a small multiple of its own length. */
#include "csv.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 16, COLUMNS = 1000 };

static int stop(csv *t, const char *what)
{
    snprintf(t->error, sizeof t->error, "%s", what);
    return 0;
}

/* Next whole line without its end into buf (LONGEST + 1 bytes). 0 at the end, or bad (t->error). */
static int next_line(csv *t, FILE *f, char *buf)
{
    int n = 0, c = getc(f);
    if (c == EOF) return 0;
    ++t->line;
    for (; c != '\n'; c = getc(f)) {
        if (c == EOF) return stop(t, "the line has no end");
        if (n == LONGEST) return stop(t, "the line is too long");
        if (c != '\r' && (c < 32 || c > 126)) return stop(t, "a byte that is not text");
        buf[n++] = (char)c;
    }
    if (n && buf[n - 1] == '\r') --n;
    buf[n] = '\0';
    return strchr(buf, '\r') ? stop(t, "a byte that is not text") : 1;
}

/* 1; 0 with t->error set, or without one: out of memory. */
static int read_names(csv *t, char *p)
{
    for (;;) {
        size_t n = strcspn(p, ",");
        char **more, *name;
        if (n == 0) return stop(t, "a column without a name");
        if (t->columns == COLUMNS) return stop(t, "too many columns");
        more = realloc(t->column, ((size_t)t->columns + 1) * sizeof *more);
        if (!more) return 0;
        t->column = more;
        name = malloc(n + 1);
        if (!name) return 0;
        memcpy(name, p, n);
        name[n] = '\0';
        t->column[t->columns++] = name;
        if (!p[n]) return 1;
        p += n + 1;
    }
}

static int read_row(csv *t, const char *p, double *value)
{
    int i;
    char *end;
    for (i = 0; i < t->columns; ++i, p = end + 1) {
        value[i] = strtod(p, &end);
        if (end == p) return stop(t, "not a number");
        if (*end == ',' && i + 1 == t->columns) return stop(t, "more values than columns");
        if (!*end && i + 1 < t->columns) return stop(t, "fewer values than columns");
        if (*end && *end != ',') return stop(t, "not a number");
    }
    return 1;
}

static int read_all(csv *t, FILE *f, char *buf)
{
    size_t room = 0, width;
    if (!next_line(t, f, buf)) return 1;
    if (!read_names(t, buf)) {
        int known = t->error[0] != '\0';
        while (t->columns > 0) free(t->column[--t->columns]);
        return known;
    }
    width = (size_t)t->columns;
    while (next_line(t, f, buf)) {
        if (((size_t)t->rows + 1) * width > room) {
            double *more;
            room = 2 * room + 16 * width;
            more = realloc(t->value, room * sizeof *more);
            if (!more) return 0;
            t->value = more;
        }
        if (!read_row(t, buf, t->value + (size_t)t->rows * width)) break;
        ++t->rows;
    }
    return 1;
}

int csv_read(csv *t, FILE *f)
{
    char *buf = malloc(LONGEST + 1);
    int ok;
    memset(t, 0, sizeof *t);
    ok = buf && read_all(t, f, buf);
    free(buf);
    return ok;
}

void csv_free(csv *t)
{
    int i;
    for (i = 0; i < t->columns; ++i) free(t->column[i]);
    free(t->column);
    free(t->value);
    memset(t, 0, sizeof *t);
}

int csv_find(const csv *t, const char *name)
{
    int i;
    for (i = 0; i < t->columns; ++i) if (strcmp(t->column[i], name) == 0) return i;
    return -1;
}
