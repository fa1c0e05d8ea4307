/* param.c - see param.h */
#include "param.h"

#include "expr.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct work {
    json *root;
    int *line;
    char *error;
    size_t size;
} work;

static int fail(work *w, const json *at, const char *what, const char *name)
{
    *w->line = at->line;
    snprintf(w->error, w->size, what, name);
    return 0;
}

static int letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

int param_expand(const json *root, const char *text, char *out, size_t size)
{
    const json *all = json_get(root, "parameters"), *v;
    char name[64];
    size_t n = 0, k;
    while (*text) {
        for (k = 0; letter(text[k]); ++k) {}
        if (k == 0) k = 1; /* one other character */
        v = NULL;
        if (k < sizeof name && !isdigit((unsigned char)*text)) {
            memcpy(name, text, k);
            name[k] = '\0';
            v = json_get(all, name);
        } else if (isdigit((unsigned char)*text) && (text[k - 1] == 'e' || text[k - 1] == 'E') &&
            (text[k] == '-' || text[k] == '+')) {
            for (++k; letter(text[k]); ++k) {} /* 1e-5 is one word */
        }
        if (n + k + 40 > size) return 0;
        if (v && v->type == JSON_NUMBER) n += (size_t)snprintf(out + n, 40, "(%.17g)", v->number);
        else {
            memcpy(out + n, text, k);
            n += k;
        }
        text += k;
    }
    out[n] = '\0';
    return 1;
}

/* A text that begins with = becomes its value. */
static int resolve(work *w, json *v)
{
    char text[2000];
    expr_error e;
    expr *x;
    const json *named;
    if (v->type != JSON_STRING || v->string[0] != '=') return 1;
    named = json_get(json_get(w->root, "parameters"), v->string + 1);
    if (named && named->type != JSON_NUMBER) {
        v->type = named->type;
        v->number = named->number;
        v->string = named->string;
        return 1;
    }
    if (!param_expand(w->root, v->string + 1, text, sizeof text)) {
        return fail(w, v, "the expression is too long", "");
    }
    x = expr_parse(text, &e);
    if (!x) return fail(w, v, "an expression of parameters: %s", e.text);
    if (expr_uses(x, 'x') || expr_uses(x, 'y') || expr_uses(x, 'z') || expr_uses(x, 't')) {
        expr_free(x);
        return fail(w, v, "\"%s\": only parameters have a value here", v->string);
    }
    v->number = expr_eval(x, 0, 0, 0, 0);
    expr_free(x);
    if (!(v->number - v->number == 0.0)) return fail(w, v, "\"%s\" is not finite", v->string);
    v->type = JSON_NUMBER;
    return 1;
}

static int walk(work *w, json *v)
{
    json *c;
    for (c = v->child; c; c = c->next) {
        if (c->key && c->key[0] == '#') continue;
        if (v == w->root && c->key && !strcmp(c->key, "parameters")) continue;
        if (v == w->root && c->key && !strcmp(c->key, "variants")) continue;
        if (!resolve(w, c) || !walk(w, c)) return 0;
    }
    return 1;
}

int param_apply(json *root, const char *variant, int *line, char *error, size_t size)
{
    json *all = json_get(root, "parameters"), *chosen = NULL, *c, *v;
    work w = {root, line, error, size};
    if (variant && variant[0]) {
        chosen = json_get(json_get(root, "variants"), variant);
        if (!chosen) return fail(&w, root, "the scene has no variant \"%s\"", variant);
    }
    for (c = chosen ? chosen->child : NULL; c; c = c->next) {
        if (c->key && c->key[0] != '#' && !json_get(all, c->key)) {
            return fail(&w, c, "there is no parameter \"%s\"", c->key);
        }
    }
    for (c = all ? all->child : NULL; c; c = c->next) {
        v = c->key ? json_get(chosen, c->key) : NULL;
        if (v && v->type != c->type && (v->type == JSON_ARRAY || v->type == JSON_OBJECT)) {
            return fail(&w, v, "a parameter is a number or a text", "");
        }
        if (v) {
            c->type = v->type;
            c->number = v->number;
            c->string = v->string;
            c->line = v->line;
        }
        if (!resolve(&w, c)) return 0;
    }
    return walk(&w, root);
}
