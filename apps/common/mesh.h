/* mesh.h - meshes as the programs pass them about, and the files they come from and go to
   A mesh is nodes and simplices of every dimension: tetrahedra and triangles of one order 1..4
   (nodes in Gmsh order), segments and single points. All coordinates are 3D; a plane mesh has
   z = 0.

   Reads   .msh 2.2 and 4.1 (text and binary, to order 4), .obj (faces, lines, points), .stl and
           .ply (text and binary), .mesh (MEDIT, text), .off (text), .vtu as written here
   Writes  .msh (4.1 text), .obj, .ply (binary), .vtu with Lagrange cells
   Every reader takes any bytes: it returns a mesh whose indices are in range and whose coordinates
   are finite, or an error that names the line (text) or the element; its memory stays below a fixed
   multiple of the file's size. */
#ifndef MESH_H
#define MESH_H
#include <stddef.h>

typedef struct mesh {
    int order;     /* of tets and tris, 1..4; segments and points have order 1 */
    int nodes;     /* x: 3 per node */
    double *x;
    int tets, tris, edges, points;
    int *tet;      /* mesh_tet_nodes(order) per tet */
    int *tri;      /* mesh_tri_nodes(order) per triangle */
    int *edge;     /* 2 per segment */
    int *point;    /* 1 per point */
    int *tet_tag;  /* 1 per tet: physical tag of a .msh file, else 0 */
    int *tri_tag;  /* 1 per triangle, the same */
    int plane;     /* 1: the file (.obj) gave two coordinates per node; z is 0 */
    int dropped;   /* nodes of the file that no simplex used, left out (surface formats) */
} mesh;

typedef struct mesh_error {
    int line;       /* of a text file, from 1; 0 where it has no meaning */
    char text[240];
} mesh_error;

int mesh_tet_nodes(int order); /* 4 10 20 35 */
int mesh_tri_nodes(int order); /* 3 6 10 15 */

void mesh_free(mesh *m); /* leaves it empty */

/* Grow a mesh; every call returns the index of the first new item, or -1 (out of memory). What is
   added is zero. */
int mesh_add_nodes(mesh *m, int count);
int mesh_add_tets(mesh *m, int count);
int mesh_add_tris(mesh *m, int count);
int mesh_add_edges(mesh *m, int count);
int mesh_add_points(mesh *m, int count);
int mesh_append(mesh *m, const mesh *other); /* node offset of the copy, or -1; same order */

/* Read by the ending of the name. 1, or 0 and *error with *m empty. */
int mesh_read(const char *path, mesh *m, mesh_error *error);
/* The same, but nodes that no simplex uses become points instead of being left out. */
int mesh_read_loose(const char *path, mesh *m, mesh_error *error);
/* The same as mesh_read from memory; ending: "msh", "obj", ... */
int mesh_parse(const char *bytes, size_t size, const char *ending, mesh *m, mesh_error *error);

/* Write by the ending of the name, to a temporary file that is renamed. 1, or 0 and *error. */
int mesh_write(const char *path, const mesh *m, mesh_error *error);

/* Values at the nodes that go into a .vtu beside the mesh. */
typedef struct mesh_field {
    const char *name;
    int components;      /* 1 or 3 */
    const double *value; /* components per node */
} mesh_field;
int mesh_write_vtu(const char *path, const mesh *m, const mesh_field *field, int fields,
    mesh_error *error);
/* The .pvd that strings .vtu files (names relative to it) along time. */
int mesh_write_pvd(const char *path, char *const *file, const double *time, int count,
    mesh_error *error);
/* A .vtu as written here; bytes[size] is readable and NUL. mesh_parse calls it. */
int mesh_vtu_parse(const char *bytes, size_t size, mesh *m, mesh_error *error);

/* Boundary triangles of the tets (order of the mesh), outward, in a stable order. Returns how many,
   or -1 (out of memory); *tri is to be freed. */
int mesh_surface(const mesh *m, int **tri);
/* All edges of linear triangles and segments, each once, lower node first, sorted. As above. */
int mesh_unique_edges(const int *tri, int tris, const int *edge, int edges, int **out);

#endif
