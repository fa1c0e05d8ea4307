/* expr.c - see expr.h */
#include "expr.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPR_DEPTH 100 /* nesting; also bounds the stack of the evaluation */

typedef enum op {
    OP_NUMBER, OP_X, OP_Y, OP_Z, OP_T,
    OP_NEG, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_POW,
    OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE,
    OP_SIN, OP_COS, OP_TAN, OP_ASIN, OP_ACOS, OP_ATAN, OP_EXP, OP_LOG, OP_SQRT, OP_ABS, OP_FLOOR,
    OP_CEIL, OP_MIN, OP_MAX, OP_ATAN2, OP_IF
} op;

/* A tree in one array: a node's operands stand before it. */
typedef struct node {
    op code;
    int a, b, c;
    double number;
} node;

struct expr {
    node *node;
    int count, room, root;
};

typedef struct parser {
    const char *text, *p;
    expr *e;
    expr_error *error;
    int failed, depth;
} parser;

static const struct {
    const char *name;
    op code;
    int arguments;
} functions[] = {{"sin", OP_SIN, 1}, {"cos", OP_COS, 1}, {"tan", OP_TAN, 1}, {"asin", OP_ASIN, 1},
    {"acos", OP_ACOS, 1}, {"atan", OP_ATAN, 1}, {"exp", OP_EXP, 1}, {"log", OP_LOG, 1},
    {"sqrt", OP_SQRT, 1}, {"abs", OP_ABS, 1}, {"floor", OP_FLOOR, 1}, {"ceil", OP_CEIL, 1},
    {"min", OP_MIN, 2}, {"max", OP_MAX, 2}, {"pow", OP_POW, 2}, {"atan2", OP_ATAN2, 2},
    {"if", OP_IF, 3}};

static int fail(parser *s, const char *format, ...)
{
    va_list args;
    if (!s->failed && s->error) {
        s->error->column = (int)(s->p - s->text) + 1;
        va_start(args, format);
        vsnprintf(s->error->text, sizeof s->error->text, format, args);
        va_end(args);
    }
    s->failed = 1;
    return -1;
}

static int add(parser *s, op code, int a, int b, int c, double number)
{
    expr *e = s->e;
    if (s->failed) return -1;
    if (e->count == e->room) {
        int room = e->room ? 2 * e->room : 16;
        node *more = realloc(e->node, (size_t)room * sizeof *more);
        if (!more) return fail(s, "out of memory");
        e->node = more;
        e->room = room;
    }
    e->node[e->count].code = code;
    e->node[e->count].a = a;
    e->node[e->count].b = b;
    e->node[e->count].c = c;
    e->node[e->count].number = number;
    return e->count++;
}

static void space(parser *s)
{
    while (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r') ++s->p;
}

static int accept(parser *s, const char *token)
{
    size_t n = strlen(token);
    space(s);
    if (strncmp(s->p, token, n) != 0) return 0;
    s->p += n;
    return 1;
}

static int comparison(parser *s);

static int call(parser *s, int k)
{
    int arg[3] = {-1, -1, -1}, i;
    if (!accept(s, "(")) return fail(s, "expected '(' behind %s", functions[k].name);
    for (i = 0; i < functions[k].arguments; ++i) {
        if (i > 0 && !accept(s, ",")) {
            return fail(s, "%s takes %d arguments", functions[k].name, functions[k].arguments);
        }
        arg[i] = comparison(s);
    }
    if (!accept(s, ")")) return fail(s, "expected ')'");
    return add(s, functions[k].code, arg[0], arg[1], arg[2], 0.0);
}

static int name(parser *s)
{
    const char *from = s->p;
    size_t n, i;
    while (isalnum((unsigned char)*s->p) || *s->p == '_') ++s->p;
    n = (size_t)(s->p - from);
    if (n == 1 && *from >= 'x' && *from <= 'z') {
        return add(s, (op)(OP_X + (*from - 'x')), -1, -1, -1, 0.0);
    }
    if (n == 1 && *from == 't') return add(s, OP_T, -1, -1, -1, 0.0);
    if (n == 1 && *from == 'e') return add(s, OP_NUMBER, -1, -1, -1, 2.71828182845904523536);
    if (n == 2 && memcmp(from, "pi", 2) == 0) {
        return add(s, OP_NUMBER, -1, -1, -1, 3.14159265358979323846);
    }
    for (i = 0; i < sizeof functions / sizeof *functions; ++i) {
        if (strlen(functions[i].name) == n && memcmp(from, functions[i].name, n) == 0) {
            return call(s, (int)i);
        }
    }
    s->p = from;
    return fail(s, "unknown name %.*s", (int)(n < 40 ? n : 40), from);
}

static int primary(parser *s)
{
    int v;
    space(s);
    if (accept(s, "(")) {
        v = comparison(s);
        if (!accept(s, ")")) return fail(s, "expected ')'");
        return v;
    }
    if (isdigit((unsigned char)*s->p) || *s->p == '.') {
        char *end;
        double number;
        if (s->p[0] == '0' && (s->p[1] == 'x' || s->p[1] == 'X')) {
            return fail(s, "numbers are decimal");
        }
        number = strtod(s->p, &end);
        if (end == s->p) return fail(s, "not a number");
        if (!(fabs(number) < HUGE_VAL)) return fail(s, "number beyond double");
        s->p = end;
        return add(s, OP_NUMBER, -1, -1, -1, number);
    }
    if (isalpha((unsigned char)*s->p)) return name(s);
    return *s->p ? fail(s, "unexpected '%c'", *s->p) : fail(s, "expression ends too early");
}

/* sign, then power: -2^2 = -4, 2^-1 = 0.5, 2^3^2 = 2^9 */
static int factor(parser *s)
{
    int v, w;
    if (++s->depth > EXPR_DEPTH) return fail(s, "nested deeper than %d", EXPR_DEPTH);
    if (accept(s, "-")) {
        v = factor(s);
        v = add(s, OP_NEG, v, -1, -1, 0.0);
    } else if (accept(s, "+")) {
        v = factor(s);
    } else {
        v = primary(s);
        if (accept(s, "^")) {
            w = factor(s);
            v = add(s, OP_POW, v, w, -1, 0.0);
        }
    }
    --s->depth;
    return v;
}

static int term(parser *s)
{
    int v = factor(s), w;
    while (!s->failed) {
        op code = accept(s, "*") ? OP_MUL : accept(s, "/") ? OP_DIV : OP_NUMBER;
        if (code == OP_NUMBER) break;
        w = factor(s);
        v = add(s, code, v, w, -1, 0.0);
    }
    return v;
}

static int sum(parser *s)
{
    int v = term(s), w;
    while (!s->failed) {
        op code = accept(s, "+") ? OP_ADD : accept(s, "-") ? OP_SUB : OP_NUMBER;
        if (code == OP_NUMBER) break;
        w = term(s);
        v = add(s, code, v, w, -1, 0.0);
    }
    return v;
}

static int comparison(parser *s)
{
    static const char *const tokens[] = {"<=", ">=", "==", "!=", "<", ">"};
    static const op codes[] = {OP_LE, OP_GE, OP_EQ, OP_NE, OP_LT, OP_GT};
    int v = sum(s), w, k;
    for (k = 0; k < 6 && !s->failed; ++k) {
        if (accept(s, tokens[k])) {
            w = sum(s);
            return add(s, codes[k], v, w, -1, 0.0);
        }
    }
    return v;
}

expr *expr_parse(const char *text, expr_error *error)
{
    parser s;
    memset(&s, 0, sizeof s);
    s.text = s.p = text;
    s.error = error;
    s.e = calloc(1, sizeof *s.e);
    if (!s.e) {
        fail(&s, "out of memory");
        return NULL;
    }
    s.e->root = comparison(&s);
    space(&s);
    if (!s.failed && *s.p) fail(&s, "unexpected '%c'", *s.p);
    if (s.failed) {
        expr_free(s.e);
        return NULL;
    }
    return s.e;
}

expr *expr_number(double value)
{
    expr *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->node = calloc(1, sizeof *e->node);
    if (!e->node) {
        free(e);
        return NULL;
    }
    e->count = e->room = 1;
    e->node[0].number = value;
    return e;
}

void expr_free(expr *e)
{
    if (!e) return;
    free(e->node);
    free(e);
}

int expr_uses(const expr *e, char variable)
{
    op want = variable == 't' ? OP_T : (op)(OP_X + (variable - 'x'));
    int i;
    for (i = 0; i < e->count; ++i) {
        if (e->node[i].code == want) return 1;
    }
    return 0;
}

static double eval(const expr *e, int i, const double v[4])
{
    const node *n = &e->node[i];
    double a, b;
    if (n->code == OP_NUMBER) return n->number;
    if (n->code <= OP_T) return v[n->code - OP_X];
    a = eval(e, n->a, v);
    if (n->code == OP_IF) return eval(e, a != 0.0 ? n->b : n->c, v);
    b = n->b >= 0 ? eval(e, n->b, v) : 0.0;
    switch (n->code) {
    case OP_NEG: return -a;
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_DIV: return a / b;
    case OP_POW: return pow(a, b);
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_GT: return a > b;
    case OP_GE: return a >= b;
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_SIN: return sin(a);
    case OP_COS: return cos(a);
    case OP_TAN: return tan(a);
    case OP_ASIN: return asin(a);
    case OP_ACOS: return acos(a);
    case OP_ATAN: return atan(a);
    case OP_EXP: return exp(a);
    case OP_LOG: return log(a);
    case OP_SQRT: return sqrt(a);
    case OP_ABS: return fabs(a);
    case OP_FLOOR: return floor(a);
    case OP_CEIL: return ceil(a);
    case OP_MIN: return a < b ? a : b;
    case OP_MAX: return a > b ? a : b;
    case OP_ATAN2: return atan2(a, b);
    default: return NAN;
    }
}

double expr_eval(const expr *e, double x, double y, double z, double t)
{
    double v[4];
    v[0] = x;
    v[1] = y;
    v[2] = z;
    v[3] = t;
    return eval(e, e->root, v);
}
