/* fuzz_expr.c - any bytes as an expression: a program or an error with a column inside the text; a
   variable that expr_uses does not report has no influence */
#include "expr.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = (char *)malloc(size + 1);
    expr_error error;
    double a, b;
    expr *e;
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    e = expr_parse(text, &error);
    if (!e && (!error.text[0] || error.column < 1 || (size_t)error.column > strlen(text) + 1)) {
        abort();
    }
    if (e) {
        a = expr_eval(e, 0.25, -1.5, 3.0, 0.125);
        b = expr_eval(e, 0.25, -1.5, 3.0, 7.0);
        if (!expr_uses(e, 't') && memcmp(&a, &b, sizeof a) != 0) abort();
    }
    expr_free(e);
    free(text);
    return 0;
}
