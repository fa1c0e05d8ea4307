#include "queries.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* An integer as (-1)^neg m 2^e with m odd (or 0). */
typedef struct queries_int {
    int neg, e;
    double m;
} queries_int;

enum { QUERIES_LIMBS = 45 }; /* 405 decimal digits: more than any power of two in a double */

static int queries_odd(const unsigned *limb)
{
    return (int)(limb[0] & 1u);
}

/* limb: base 1e9, lowest first. Halves it and returns how many limbs are left. */
static int queries_halve(unsigned *limb, int n)
{
    unsigned carry = 0;
    int i;

    for (i = n - 1; i >= 0; --i) {
        unsigned v = limb[i] + carry * 1000000000u;
        limb[i] = v / 2;
        carry = v & 1u;
    }
    while (n > 0 && limb[n - 1] == 0) --n;
    return n;
}

/* Reads a decimal integer and divides out its powers of two; NULL or what is wrong with it. */
static const char *queries_integer(const char **at, const char *end, queries_int *out)
{
    unsigned limb[QUERIES_LIMBS] = {0};
    const char *s = *at, *first;
    int i, n;
    unsigned long long m = 0;

    out->neg = s < end && *s == '-';
    s += out->neg;
    first = s;
    while (s < end && *s >= '0' && *s <= '9') ++s;
    if (s == first) return "an integer is expected";
    while (first < s - 1 && *first == '0') ++first;
    if (s - first > 9 * QUERIES_LIMBS) return "a number beyond double";
    for (i = 0; s - 1 - i >= first; ++i) {
        unsigned p = 1;
        int k;
        for (k = 0; k < i % 9; ++k) p *= 10;
        limb[i / 9] += p * (unsigned)(s[-1 - i] - '0');
    }
    n = (i + 8) / 9;
    while (n > 0 && limb[n - 1] == 0) --n;
    for (out->e = 0; n > 0 && !queries_odd(limb); ++out->e) n = queries_halve(limb, n);
    if (n > 2 && s - first > 309) return "a number beyond double";
    if (n > 2) return "a number that is not exact as a double";
    for (i = n - 1; i >= 0; --i) m = m * 1000000000u + limb[i];
    if (m > 9007199254740992u) return "a number that is not exact as a double";
    out->m = (double)m;
    *at = s;
    return NULL;
}

static const char *queries_comma(const char **at, const char *end)
{
    if (*at == end || **at != ',') return "seven columns are expected";
    ++*at;
    return NULL;
}

/* numerator,denominator, as a double */
static const char *queries_rational(const char **at, const char *end, double *value)
{
    queries_int num, den;
    const char *what;

    if ((what = queries_integer(at, end, &num)) != NULL) return what;
    if ((what = queries_comma(at, end)) != NULL) return what;
    if ((what = queries_integer(at, end, &den)) != NULL) return what;
    if (den.m == 0.0) return "a zero denominator";
    if (den.m != 1.0 || den.neg) return "a denominator that is not a power of two";
    *value = ldexp(num.neg ? -num.m : num.m, num.e - den.e);
    if (!(fabs(*value) < HUGE_VAL)) return "a number beyond double";
    if (fabs(ldexp(*value, den.e - num.e)) != num.m)
        return "a number that is not exact as a double";
    return queries_comma(at, end);
}

static const char *queries_row(const char *s, const char *end, double x[3], unsigned char *truth)
{
    const char *what;
    int k;

    for (k = 0; k < 3; ++k)
        if ((what = queries_rational(&s, end, &x[k])) != NULL) return what;
    if (s == end || (*s != '0' && *s != '1')) return "the truth must be 0 or 1";
    *truth = (unsigned char)(*s++ - '0');
    if (s != end) return "seven columns are expected";
    return NULL;
}

void queries_free(queries *q)
{
    free(q->x);
    free(q->truth);
    q->n = 0;
    q->x = NULL;
    q->truth = NULL;
}

static int queries_fail(queries *q, int line, const char *why, const char **what)
{
    queries_free(q);
    *what = why;
    return line;
}

int queries_parse(const char *text, size_t n, queries *out, const char **what)
{
    const char *s = text, *end = text + n, *why;
    size_t rows = 1, i, line = 0;
    unsigned char truth;

    out->n = 0;
    out->x = NULL;
    out->truth = NULL;
    for (i = 0; i < n; ++i) rows += text[i] == '\n';
    if (rows > 100000000) return queries_fail(out, 1, "too many rows", what);
    out->x = (double *)malloc((rows / 8 + 1) * 24 * sizeof(double));
    out->truth = (unsigned char *)malloc(rows / 8 + 1);
    if (!out->x || !out->truth) return queries_fail(out, 1, "out of memory", what);
    for (; s < end; ++line) {
        const char *eol = s, *last;
        while (eol < end && *eol != '\n') ++eol;
        last = eol > s && eol[-1] == '\r' ? eol - 1 : eol;
        if ((why = queries_row(s, last, out->x + 3 * line, &truth)) != NULL)
            return queries_fail(out, (int)line + 1, why, what);
        if (line % 8 == 0) out->truth[line / 8] = truth;
        if (out->truth[line / 8] != truth)
            return queries_fail(out, (int)line + 1, "the truth differs within a query", what);
        s = eol < end ? eol + 1 : end;
    }
    if (line == 0) return queries_fail(out, 1, "no rows", what);
    if (line % 8) {
        return queries_fail(out, (int)line, "the number of rows is no multiple of 8", what);
    }
    out->n = (int)(line / 8);
    return 0;
}

int queries_read(const char *path, queries *out, const char **what)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0, cap = 0, got;
    int line;

    out->n = 0;
    out->x = NULL;
    out->truth = NULL;
    *what = "cannot be read";
    if (!f) return -1;
    do {
        if (n == cap) {
            char *more = (char *)realloc(text, cap = 2 * cap + 65536);
            if (!more) break;
            text = more;
        }
        got = fread(text + n, 1, cap - n, f);
        n += got;
    } while (got > 0);
    line = ferror(f) || n == cap ? -1 : queries_parse(text, n, out, what);
    fclose(f);
    free(text);
    return line;
}
