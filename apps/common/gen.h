/* gen.h - meshes made by formula: {"kind": "ball", "radius": 0.5, ...} in a scene file
   gen_help prints every kind with its parameters and defaults; gen_make builds one. Solids are
   tetrahedra of order 1..4 whose boundary nodes lie on the true (curved) surface, or, with
   "surface": true, the triangles of that boundary. Bodies are centred at the origin, y is up. */
#ifndef GEN_H
#define GEN_H
#include "json.h"
#include "mesh.h"

#include <stdio.h>

/* spec: an object with "kind"; what it does not name has its default. 1, or 0 and *error (its line
   is that of the scene file). */
int gen_make(const json *spec, mesh *m, mesh_error *error);
void gen_help(FILE *f);

/* The tets of a linear mesh as tets of the given order, new nodes where a straight tet has them. */
int gen_elevate(const mesh *linear, int order, mesh *out);

#endif
