/* param.h - parameters and variants of a scene file
   "parameters": {"n": 12, "mu": 0.5, "h": "=1/n"} names values; "variants": {"paper": {"n": 40}}
   gives sets of other values, one of which may be chosen. Anywhere else in the file a text that
   begins with = stands for the number that its expression has (expr.h; parameters instead of
   x, y, z, t); "=NAME" alone stands for whatever NAME is, also a text or true. */
#ifndef PARAM_H
#define PARAM_H
#include "json.h"

#include <stddef.h>

/* Replaces all such texts in the tree. variant may be NULL or "". 1, or 0 with the line and what is
   wrong. */
int param_apply(json *root, const char *variant, int *line, char *error, size_t size);

/* Copies an expression with the parameters in it replaced by their numbers; 0 if too long. */
int param_expand(const json *root, const char *text, char *out, size_t size);

#endif
