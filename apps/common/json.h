/* json.h - strict JSON (RFC 8259) into a tree that remembers lines
   UTF-8 in, UTF-8 out; no comments, no trailing commas; a key twice in one object, a number beyond
   double, NUL in a string and nesting deeper than JSON_DEPTH are errors. Memory stays below a fixed
   multiple of the text. */
#ifndef JSON_H
#define JSON_H
#include <stddef.h>

#define JSON_DEPTH 200

typedef enum json_type {
    JSON_NULL,
    JSON_BOOL,   /* number is 0 or 1 */
    JSON_NUMBER, /* number, finite */
    JSON_STRING, /* string, NUL-terminated */
    JSON_ARRAY,  /* child, then its next ones; count of them */
    JSON_OBJECT  /* the same, each child with a key */
} json_type;

typedef struct json {
    json_type type;
    int line; /* where it begins, from 1 */
    int count;
    int seen; /* for the reader of a scene: marks keys that were used */
    double number;
    const char *string;
    const char *key; /* NULL outside objects */
    struct json *child, *next;
} json;

typedef struct json_error {
    int line; /* 0: the file could not be read */
    char text[200];
} json_error;

/* The tree of a text, or NULL and *error. Free it with json_free. */
json *json_parse(const char *text, size_t size, json_error *error);
json *json_read(const char *path, json_error *error);
void json_free(json *root); /* NULL is fine */

json *json_get(const json *object, const char *key); /* NULL if absent or not an object */
json *json_at(const json *array, int index);         /* NULL if out of range */
const char *json_type_name(json_type type);          /* "a number" */

#endif
