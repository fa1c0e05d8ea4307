/* curved.h - is a curved triangle or tetrahedron valid: a proof that its Jacobian is positive
   The determinant of the Jacobian is a polynomial; its Bezier coefficients enclose it. They are
   computed with a bound on all rounding; if every one is above the bound the element is proved
   valid, if a value at a corner of a part is below minus the bound it is proved inverted somewhere,
   else the part is halved. Nodes in Gmsh's order. */
#ifndef CURVED_H
#define CURVED_H

typedef struct curved curved;

/* dim 2 (triangles in the plane) or 3 (tets), order 2..4; NULL: out of memory */
curved *curved_make(int dim, int order);
void curved_free(curved *c); /* c may be NULL */

/* x: one pointer per node, dim coordinates each. 1: proved positive everywhere. -1: proved negative
   somewhere. 0: no proof, since the least value is within rounding of zero. Any thread. */
int curved_sign(const curved *c, const double *const *x);

/* The linear triangles between the nodes of triangles of order 1..4, order^2 each, to be freed. */
int *curved_linear(const int *tri, int tris, int order, int *count);

#endif
