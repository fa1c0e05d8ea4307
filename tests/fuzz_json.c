/* fuzz_json.c - any bytes: a tree or an error, never a crash; strings also go to the expressions */
#include "expr.h"
#include "json.h"

#include <stdint.h>

static void walk(const json *v)
{
    const json *c;
    if (v->type == JSON_STRING) {
        expr_error error;
        expr *e = expr_parse(v->string, &error);
        if (e) expr_eval(e, 0.1, 0.2, 0.3, 0.4);
        expr_free(e);
    }
    for (c = v->child; c; c = c->next) walk(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_error error;
    json *v = json_parse((const char *)data, size, &error);
    if (v) walk(v);
    json_free(v);
    return 0;
}
