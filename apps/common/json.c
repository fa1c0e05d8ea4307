/* json.c - see json.h */
#include "json.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nodes and strings live in blocks that are freed together. The first block is the one that the
   root stands in, so json_free finds the chain from the root alone. */
typedef struct block {
    struct block *next;
    size_t used, size;
} block;

typedef struct parser {
    const char *p, *end;
    int line, depth;
    block *first, *last;
    json_error *error;
} parser;

static int fail(parser *s, int line, const char *format, ...)
{
    va_list args;
    if (s->error) {
        s->error->line = line;
        va_start(args, format);
        vsnprintf(s->error->text, sizeof s->error->text, format, args);
        va_end(args);
    }
    return 0;
}

static void *take(parser *s, size_t size)
{
    block *b = s->last;
    size = (size + 15) / 16 * 16;
    if (!b || b->size - b->used < size) {
        size_t want = b ? (b->size < 65536 ? 2 * b->size : b->size) : 1024;
        if (want < size) want = size;
        b = malloc(sizeof *b + want + 16);
        if (!b) {
            fail(s, s->line, "out of memory");
            return NULL;
        }
        b->next = NULL;
        b->used = 0;
        b->size = want;
        if (s->last) s->last->next = b;
        else s->first = b;
        s->last = b;
    }
    b->used += size;
    return (char *)b + (sizeof *b + 15) / 16 * 16 + b->used - size;
}

static void free_blocks(block *b)
{
    while (b) {
        block *next = b->next;
        free(b);
        b = next;
    }
}

static void skip_space(parser *s)
{
    for (; s->p < s->end; ++s->p) {
        if (*s->p == '\n') ++s->line;
        else if (*s->p != ' ' && *s->p != '\t' && *s->p != '\r') break;
    }
}

static int peek(const parser *s)
{
    return s->p < s->end ? (unsigned char)*s->p : -1;
}

/* How an error message shows the byte at the cursor. */
static const char *found(const parser *s, char text[16])
{
    int c = peek(s);
    if (c < 0) return "the end of the text";
    if (c > 32 && c < 127) snprintf(text, 16, "'%c'", c);
    else snprintf(text, 16, "byte 0x%02x", (unsigned)c);
    return text;
}

static int hex4(parser *s, unsigned *out)
{
    int i;
    *out = 0;
    for (i = 0; i < 4; ++i, ++s->p) {
        int c = peek(s);
        int digit = c >= '0' && c <= '9' ? c - '0'
            : c >= 'a' && c <= 'f'       ? c - 'a' + 10
            : c >= 'A' && c <= 'F'       ? c - 'A' + 10
                                         : -1;
        if (digit < 0) return fail(s, s->line, "\\u needs four hexadecimal digits");
        *out = *out * 16 + (unsigned)digit;
    }
    return 1;
}

static char *put_utf8(char *q, unsigned c)
{
    if (c < 0x80) {
        *q++ = (char)c;
    } else if (c < 0x800) {
        *q++ = (char)(0xc0 | c >> 6);
        *q++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *q++ = (char)(0xe0 | c >> 12);
        *q++ = (char)(0x80 | (c >> 6 & 63));
        *q++ = (char)(0x80 | (c & 63));
    } else {
        *q++ = (char)(0xf0 | c >> 18);
        *q++ = (char)(0x80 | (c >> 12 & 63));
        *q++ = (char)(0x80 | (c >> 6 & 63));
        *q++ = (char)(0x80 | (c & 63));
    }
    return q;
}

/* Behind the backslash. */
static int escape(parser *s, char **q)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *k;
    unsigned c, low;
    int byte = peek(s);

    ++s->p;
    if (byte == 'u') {
        if (!hex4(s, &c)) return 0;
        if (c >= 0xd800 && c < 0xdc00) {
            if (s->end - s->p < 6 || s->p[0] != '\\' || s->p[1] != 'u') {
                return fail(s, s->line, "half of a surrogate pair");
            }
            s->p += 2;
            if (!hex4(s, &low)) return 0;
            if (low < 0xdc00 || low > 0xdfff) return fail(s, s->line, "half of a surrogate pair");
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        } else if (c >= 0xdc00 && c < 0xe000) {
            return fail(s, s->line, "half of a surrogate pair");
        }
        if (c == 0) return fail(s, s->line, "NUL in a string");
        *q = put_utf8(*q, c);
        return 1;
    }
    k = byte > 0 ? strchr(from, byte) : NULL;
    if (!k || !*k) return fail(s, s->line, "unknown escape in a string");
    *(*q)++ = to[k - from];
    return 1;
}

/* Length of the well-formed UTF-8 sequence at p, or 0. */
static int utf8_length(const unsigned char *p, const unsigned char *end)
{
    int n = p[0] < 0x80 ? 1
        : p[0] < 0xc2   ? 0
        : p[0] < 0xe0   ? 2
        : p[0] < 0xf0   ? 3
        : p[0] < 0xf5   ? 4
                        : 0;
    int i;
    if (n == 0 || end - p < n) return 0;
    for (i = 1; i < n; ++i) {
        if ((p[i] & 0xc0) != 0x80) return 0;
    }
    if (p[0] == 0xe0 && p[1] < 0xa0) return 0; /* overlong */
    if (p[0] == 0xed && p[1] > 0x9f) return 0; /* surrogate */
    if (p[0] == 0xf0 && p[1] < 0x90) return 0;
    if (p[0] == 0xf4 && p[1] > 0x8f) return 0;
    return n;
}

static int parse_string(parser *s, const char **out)
{
    const char *close = s->p + 1;
    int line = s->line, n;
    char *text, *q;

    while (close < s->end && *close != '"') close += *close == '\\' ? 2 : 1;
    if (close >= s->end) return fail(s, line, "string without end");
    text = q = take(s, (size_t)(close - s->p)); /* no escape is longer decoded than written */
    if (!text) return 0;
    for (++s->p; s->p < close;) {
        if ((unsigned char)*s->p < 32) {
            return fail(s, s->line, "control character in a string (a line break is \\n)");
        }
        if (*s->p == '\\') {
            ++s->p;
            if (!escape(s, &q)) return 0;
            continue;
        }
        n = utf8_length((const unsigned char *)s->p, (const unsigned char *)close);
        if (n == 0) return fail(s, s->line, "not UTF-8");
        memcpy(q, s->p, (size_t)n);
        q += n;
        s->p += n;
    }
    *q = '\0';
    s->p = close + 1;
    *out = text;
    return 1;
}

static int digits(parser *s)
{
    const char *from = s->p;
    while (s->p < s->end && *s->p >= '0' && *s->p <= '9') ++s->p;
    return s->p > from;
}

static int parse_number(parser *s, double *out)
{
    const char *from = s->p;
    char text[64], *copy = text;
    size_t n;

    if (*s->p == '-') ++s->p;
    if (peek(s) == '0') ++s->p;
    else if (!digits(s)) return fail(s, s->line, "not a number");
    if (peek(s) == '.') {
        ++s->p;
        if (!digits(s)) return fail(s, s->line, "no digit behind the decimal point");
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        ++s->p;
        if (peek(s) == '+' || peek(s) == '-') ++s->p;
        if (!digits(s)) return fail(s, s->line, "no digit in the exponent");
    }
    n = (size_t)(s->p - from);
    if (n >= sizeof text) {
        copy = take(s, n + 1);
        if (!copy) return 0;
    }
    memcpy(copy, from, n);
    copy[n] = '\0';
    *out = strtod(copy, NULL);
    if (!(fabs(*out) < HUGE_VAL)) return fail(s, s->line, "number beyond double: %.40s", copy);
    return 1;
}

static int parse_word(parser *s, const char *word, json *v, json_type type, double number)
{
    size_t n = strlen(word);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0) {
        return fail(s, s->line, "not a JSON value");
    }
    s->p += n;
    v->type = type;
    v->number = number;
    return 1;
}

static json *parse_value(parser *s);

/* A key that is known already makes json_get ambiguous, so it is refused. The cost is quadratic,
   which the limit of keys per object bounds. */
static int repeated_key(const json *object, const char *key)
{
    const json *c;
    for (c = object->child; c; c = c->next) {
        if (strcmp(c->key, key) == 0) return 1;
    }
    return 0;
}

/* The inside of [ ] or { }, cursor behind the opening bracket. */
static int parse_children(parser *s, json *v, char close)
{
    json **tail = &v->child, *c;
    const char *key = NULL;
    char text[16];
    int open_line = s->line, key_line;

    if (++s->depth > JSON_DEPTH) return fail(s, s->line, "nested deeper than %d", JSON_DEPTH);
    skip_space(s);
    if (peek(s) == close) {
        ++s->p;
        --s->depth;
        return 1;
    }
    for (;;) {
        skip_space(s);
        key_line = s->line;
        if (close == '}') {
            if (peek(s) != '"') return fail(s, s->line, "expected a key, found %s", found(s, text));
            if (!parse_string(s, &key)) return 0;
            if (v->count >= 10000) return fail(s, key_line, "more than 10000 keys in one object");
            if (repeated_key(v, key)) return fail(s, key_line, "key \"%.80s\" given twice", key);
            skip_space(s);
            if (peek(s) != ':') return fail(s, s->line, "expected ':', found %s", found(s, text));
            ++s->p;
        }
        c = parse_value(s);
        if (!c) return 0;
        c->key = key;
        *tail = c;
        tail = &c->next;
        ++v->count;
        skip_space(s);
        if (peek(s) == close) break;
        if (peek(s) != ',') {
            return fail(s, s->line, "expected ',' or '%c' (opened on line %d), found %s", close,
                open_line, found(s, text));
        }
        ++s->p;
    }
    ++s->p;
    --s->depth;
    return 1;
}

static json *parse_value(parser *s)
{
    json *v = take(s, sizeof *v);
    char text[16];
    int ok;

    if (!v) return NULL;
    memset(v, 0, sizeof *v);
    skip_space(s);
    v->line = s->line;
    switch (peek(s)) {
    case '{':
    case '[':
        v->type = *s->p == '{' ? JSON_OBJECT : JSON_ARRAY;
        ok = parse_children(s, v, *s->p++ == '{' ? '}' : ']');
        break;
    case '"':
        v->type = JSON_STRING;
        ok = parse_string(s, &v->string);
        break;
    case 't': ok = parse_word(s, "true", v, JSON_BOOL, 1.0); break;
    case 'f': ok = parse_word(s, "false", v, JSON_BOOL, 0.0); break;
    case 'n': ok = parse_word(s, "null", v, JSON_NULL, 0.0); break;
    case '-': case '0': case '1': case '2': case '3': case '4':
    case '5': case '6': case '7': case '8': case '9':
        v->type = JSON_NUMBER;
        ok = parse_number(s, &v->number);
        break;
    default:
        ok = fail(s, s->line, "expected a value, found %s", found(s, text));
    }
    return ok ? v : NULL;
}

json *json_parse(const char *text, size_t size, json_error *error)
{
    parser s;
    json *root;
    block **back;
    char byte[16];

    memset(&s, 0, sizeof s);
    s.p = text;
    s.end = text + size;
    s.line = 1;
    s.error = error;
    back = take(&s, sizeof *back); /* json_free walks from here; the root stands right behind */
    if (!back) return NULL;
    *back = s.first;
    root = parse_value(&s);
    if (root) {
        skip_space(&s);
        if (s.p < s.end) {
            fail(&s, s.line, "text behind the end: %s", found(&s, byte));
            root = NULL;
        }
    }
    if (!root) free_blocks(s.first);
    return root;
}

void json_free(json *root)
{
    if (root) free_blocks(*(block **)(void *)((char *)root - 16));
}

static int read_whole(const char *path, char **text, size_t *size, json_error *error)
{
    FILE *f = fopen(path, "rb");
    size_t room = 0, got;
    *text = NULL;
    *size = 0;
    error->line = 0;
    if (!f) {
        snprintf(error->text, sizeof error->text, "cannot open: %s", strerror(errno));
        return 0;
    }
    do {
        if (room - *size < 4096) {
            char *more = realloc(*text, room = 2 * room + 65536);
            if (!more) {
                snprintf(error->text, sizeof error->text, "out of memory");
                break;
            }
            *text = more;
        }
        got = fread(*text + *size, 1, room - *size, f);
        *size += got;
    } while (got > 0);
    if (ferror(f)) snprintf(error->text, sizeof error->text, "cannot read: %s", strerror(errno));
    else if (feof(f)) {
        fclose(f);
        return 1;
    }
    fclose(f);
    free(*text);
    *text = NULL;
    return 0;
}

json *json_read(const char *path, json_error *error)
{
    json_error local;
    json *root;
    char *text;
    size_t size;
    if (!error) error = &local;
    if (!read_whole(path, &text, &size, error)) return NULL;
    root = json_parse(text, size, error);
    free(text);
    return root;
}

json *json_get(const json *object, const char *key)
{
    json *c;
    if (!object || object->type != JSON_OBJECT) return NULL;
    for (c = object->child; c; c = c->next) {
        if (strcmp(c->key, key) == 0) return c;
    }
    return NULL;
}

json *json_at(const json *array, int index)
{
    json *c;
    if (!array || index < 0) return NULL;
    for (c = array->child; c && index > 0; --index) c = c->next;
    return c;
}

const char *json_type_name(json_type type)
{
    static const char *const names[] = {"null", "true or false", "a number", "a string", "a list",
        "an object"};
    return names[type];
}
