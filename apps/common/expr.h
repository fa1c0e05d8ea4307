/* expr.h - the expressions of scene files: numbers of x, y, z, t
   + - * / ^ (right associative, binds tighter than the sign), parentheses, comparisons
   < <= > >= == != (1 or 0), constants pi and e, functions sin cos tan asin acos atan exp log sqrt
   abs floor ceil min(a,b) max(a,b) pow(a,b) atan2(a,b) if(c,a,b) (only the chosen branch is
   evaluated). Parsed once into a small program; evaluation does not allocate. */
#ifndef EXPR_H
#define EXPR_H

typedef struct expr expr;

typedef struct expr_error {
    int column; /* from 1 */
    char text[120];
} expr_error;

expr *expr_parse(const char *text, expr_error *error); /* NULL on error; free with expr_free */
expr *expr_number(double value);                        /* NULL if out of memory */
void expr_free(expr *e);
double expr_eval(const expr *e, double x, double y, double z, double t);
int expr_uses(const expr *e, char variable); /* does 'x', 'y', 'z' or 't' occur? */

#endif
