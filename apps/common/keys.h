/* keys.h - reading a scene file by a table of keys; included by scene.c and rscene.c only
   Before it: #define KEYS_TARGET, the type that is filled. Every key is used, accepted without
   effect (said once on stderr) or refused by name with the nearest known one; keys that begin with
   # are comments. After the first failure, said on stderr as PROGRAM: FILE:LINE: ..., nothing more
   is said and all that is read is discarded. */
#ifndef KEYS_H
#define KEYS_H
#include "gen.h"
#include "json.h"
#include "mesh.h"
#include "scene.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEYS_MOST = 200 };

/* A path names a key; [] stands for any entry of a list. used 0: accepted without effect. */
typedef struct key {
    const char *path;
    int used;
    const char *help;
} key;

typedef struct reader {
    KEYS_TARGET *s;
    const char *program, *path, *mesh_dir;
    const key *key;
    int keys;
    const json *root; /* the whole scene, for its parameters */
    int loose;  /* nodes of mesh files that nothing uses are points */
    int failed;
    unsigned char said[KEYS_MOST];
} reader;

static inline int fail(reader *r, int line, const char *format, ...)
{
    va_list args;
    if (!r->failed) {
        fprintf(stderr, "%s: %s:%d: ", r->program, r->path, line);
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
        fputc('\n', stderr);
    }
    r->failed = 1;
    return 0;
}

/* Edit distance of short words, for the nearest known key. */
static inline int distance_of(const char *a, const char *b)
{
    int row[64], n = (int)strlen(b), i, j, up, left;
    if (n > 60) return 99;
    for (j = 0; j <= n; ++j) row[j] = j;
    for (i = 1; a[i - 1] && i < 60; ++i) {
        up = row[0];
        row[0] = i;
        for (j = 1; j <= n; ++j) {
            left = row[j];
            row[j] = a[i - 1] == b[j - 1] ? up : 1 + (up < row[j] ? up : row[j]);
            if (row[j] > 1 + row[j - 1]) row[j] = 1 + row[j - 1];
            up = left;
        }
    }
    return row[n];
}

static inline void refuse(reader *r, const json *v, const char *path)
{
    int i, best = 0, least = 1000, d;
    for (i = 0; i < r->keys; ++i) {
        d = distance_of(path, r->key[i].path);
        if (d < least) {
            least = d;
            best = i;
        }
    }
    fail(r, v->line, "unknown key \"%s\"; the nearest known one is \"%s\"", path,
        r->key[best].path);
}

/* The row of a path in the table or -1; *inner: does the table have paths below it? */
static inline int find_key(const reader *r, const char *path, int *inner)
{
    size_t n = strlen(path);
    int i, found = -1;
    *inner = 0;
    for (i = 0; i < r->keys; ++i) {
        const char *p = r->key[i].path;
        if (strncmp(p, path, n) != 0) continue;
        if (p[n] == '\0') found = i;
        if (p[n] == '.' || p[n] == '[') *inner = 1;
    }
    return found;
}

/* Walks the tree: every path must be in the table, or lie under one that has no paths below. */
static inline void check_keys(reader *r, const json *v, const char *path)
{
    const json *c;
    char sub[512];
    for (c = v->child; c && !r->failed; c = c->next) {
        int inner, i;
        if (v->type == JSON_ARRAY) snprintf(sub, sizeof sub, "%s[]", path);
        else {
            if (c->key[0] == '#') continue;
            snprintf(sub, sizeof sub, "%s%s%s", path, *path ? "." : "", c->key);
        }
        i = find_key(r, sub, &inner);
        if (i < 0 && !inner) refuse(r, c, sub);
        else if (i >= 0 && !r->key[i].used) {
            if (i < KEYS_MOST && r->said[i]++ == 0) {
                fprintf(stderr, "%s: %s:%d: note: \"%s\" has no effect here\n", r->program,
                    r->path, c->line, sub);
            }
        } else if (inner && (c->type == JSON_OBJECT || c->type == JSON_ARRAY)) {
            check_keys(r, c, sub);
        }
    }
}

/* What the table says, for --help-scene. */
static inline void print_keys(FILE *f, const key *table, int count)
{
    int i;
    for (i = 0; i < count; ++i) {
        if (table[i].used) fprintf(f, "  %-42s %s\n", table[i].path, table[i].help);
    }
    fprintf(f, "Accepted without effect:\n ");
    for (i = 0; i < count; ++i) if (!table[i].used) fprintf(f, " %s", table[i].path);
    fputc('\n', f);
}

/* ---------------------------------------------------------------- values */
static inline const json *at(const json *v, const char *path)
{
    char part[64];
    while (v && *path) {
        size_t n = strcspn(path, ".");
        memcpy(part, path, n);
        part[n] = '\0';
        v = json_get(v, part);
        path += n + (path[n] == '.');
    }
    return v;
}

static inline double number(reader *r, const json *v, const char *path, double standard,
    double least)
{
    const json *c = at(v, path);
    if (!c) return standard;
    if (c->type != JSON_NUMBER) fail(r, c->line, "%s must be a number", path);
    else if (!(c->number >= least)) fail(r, c->line, "%s must be at least %g", path, least);
    return c->number;
}

static inline int flag(reader *r, const json *v, const char *path, int standard)
{
    const json *c = at(v, path);
    if (!c) return standard;
    if (c->type != JSON_BOOL) fail(r, c->line, "%s must be true or false", path);
    return c->number != 0.0;
}

static inline int whole(reader *r, const json *v, const char *path, int standard, int least,
    int most)
{
    const json *c = at(v, path);
    double n = number(r, v, path, standard, least);
    if (c && !(n >= least)) return standard; /* said by number */
    if (c && (n != floor(n) || n > most)) {
        fail(r, c->line, "%s must be a whole number up to %d", path, most);
        return standard;
    }
    return (int)n;
}

/* Three numbers; one number may stand for all. 1 if the key is there. */
static inline int triple(reader *r, const json *v, const char *path, double out[3])
{
    const json *c = at(v, path), *d;
    int i = 0;
    if (!c) return 0;
    if (c->type == JSON_NUMBER) {
        out[0] = out[1] = out[2] = c->number;
        return 1;
    }
    if (c->type != JSON_ARRAY || c->count != 3) {
        return fail(r, c->line, "%s must be three numbers", path);
    }
    for (d = c->child; d; d = d->next) {
        if (d->type != JSON_NUMBER) return fail(r, d->line, "%s must be three numbers", path);
        out[i++] = d->number;
    }
    return 1;
}

static inline const char *text_of(reader *r, const json *v, const char *path, const char *standard)
{
    const json *c = at(v, path);
    if (!c) return standard;
    if (c->type != JSON_STRING) {
        fail(r, c->line, "%s must be text", path);
        return standard;
    }
    return c->string;
}

static inline void *grow(reader *r, void *p, int count, size_t size)
{
    void *more = realloc(p, (size_t)(count + 1) * size);
    if (!more) {
        fail(r, 0, "out of memory");
        return p;
    }
    memset((char *)more + (size_t)count * size, 0, size);
    return more;
}

static inline int load_mesh(reader *r, const json *v, mesh *m)
{
    const json *spec = json_get(v, "mesh");
    char path[4096];
    const char *slash = strrchr(r->path, '/');
    mesh_error e;
    if (!spec) return fail(r, v->line, "a body needs a \"mesh\"");
    if (spec->type == JSON_OBJECT) {
        if (!gen_make(spec, m, &e)) return fail(r, e.line ? e.line : spec->line, "%s", e.text);
        return 1;
    }
    if (spec->type != JSON_STRING) return fail(r, spec->line, "mesh must be a file or an object");
    path[0] = '\0';
    if (r->mesh_dir) {
        snprintf(path, sizeof path, "%s/%s", r->mesh_dir, spec->string);
        if (access(path, R_OK) != 0) path[0] = '\0';
    }
    if (!path[0] && spec->string[0] != '/' && slash) {
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - r->path), r->path, spec->string);
    } else if (!path[0]) snprintf(path, sizeof path, "%s", spec->string);
    if (!(r->loose ? mesh_read_loose : mesh_read)(path, m, &e)) {
        if (!r->failed && e.line) {
            fprintf(stderr, "%s: %s:%d: %s\n", r->program, path, e.line, e.text);
        }
        if (e.line) r->failed = 1;
        return fail(r, spec->line, "mesh %s: %s", path, e.text);
    }
    return 1;
}

static inline void numbers_of(reader *r, const json *v, double *out, int n)
{
    const json *c, *d;
    int i = 0;
    for (c = v->child; c; c = c->next) {
        if (c->type == JSON_NUMBER && i < n) out[i++] = c->number;
        else if (c->type == JSON_ARRAY) {
            for (d = c->child; d; d = d->next) if (d->type == JSON_NUMBER &&
                i < n) out[i++] = d->number;
        }
    }
    if (i != n) fail(r, v->line, "%d numbers are wanted here", n);
}

/* One entry of expect.quantities. */
static inline void read_quantity(reader *r, const json *c, scene_expect *e)
{
    double value = number(r, c, "value", 0.0, -HUGE_VAL), tol = number(r, c, "tolerance", 0.0, 0.0);
    snprintf(e->name, sizeof e->name, "%.39s", text_of(r, c, "name", ""));
    snprintf(e->body, sizeof e->body, "%.63s", text_of(r, c, "body", ""));
    e->low = number(r, c, "min", json_get(c, "value") ? value - tol : -HUGE_VAL, -HUGE_VAL);
    e->high = number(r, c, "max", json_get(c, "value") ? value + tol : HUGE_VAL, -HUGE_VAL);
    e->line = c->line;
}

/* A whole file, to be freed; NULL after a message. */
static inline char *read_text(const char *program, const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL, *more;
    size_t got = 1;
    *size = 0;
    while (f && got > 0) {
        more = realloc(text, *size + 65536);
        if (!more) break;
        text = more;
        got = fread(text + *size, 1, 65536, f);
        *size += got;
    }
    if (f && got == 0 && !ferror(f)) return fclose(f), text;
    fprintf(stderr, "%s: %s: cannot %s it\n", program, path, f ? "read" : "open");
    if (f) fclose(f);
    free(text);
    return NULL;
}

#endif
