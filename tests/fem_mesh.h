/* fem_mesh.h - structured simplex meshes of any order for the tests of fem/
   A box of n cells per direction, triangles cut by the (0,0)-(1,1) diagonal, tetrahedra by Kuhn's
   six per cube; nodes of order q on a fine lattice, so that numbering needs no search. */
#ifndef FEM_MESH_H
#define FEM_MESH_H
#include "util.h"

typedef struct fem_mesh {
    int dim, order, nodes, elements, per_element;
    double *x;
    int *elem;
} fem_mesh;

static inline void fem_mesh_free(fem_mesh *m)
{
    free(m->x);
    free(m->elem);
    memset(m, 0, sizeof *m);
}

/* Multi-indices of the node order, from the header under test's own home (gap_basis.h). */
static inline void fem_mesh_box(fem_mesh *m, int dim, int order, const int n[3],
    const double size[3])
{
    static const int perm[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0},
        {1, 0, 2}};
    int index[4 * 35], lat[3], k, c, s, e = 0, i, j, a, cell[3], v[4][3], id, t;
    int per = dim == 2 ? 2 : 6;

    m->dim = dim;
    m->order = order;
    m->per_element = gap_basis_nodes(dim, order, index);
    for (k = 0; k < 3; ++k) lat[k] = k < dim ? n[k] * order + 1 : 1;
    m->nodes = lat[0] * lat[1] * lat[2];
    m->elements = n[0] * n[1] * (dim == 3 ? n[2] : 1) * per;
    m->x = (double *)munit_malloc(sizeof(double) * (size_t)(m->nodes * dim));
    m->elem = (int *)munit_malloc(sizeof(int) * (size_t)(m->elements * m->per_element));
    for (i = 0; i < m->nodes; ++i) {
        int at[3];
        at[0] = i % lat[0];
        at[1] = i / lat[0] % lat[1];
        at[2] = i / lat[0] / lat[1];
        for (k = 0; k < dim; ++k) m->x[i * dim + k] = size[k] * at[k] / (lat[k] - 1);
    }
    for (c = 0; c < m->elements / per; ++c) {
        cell[0] = c % n[0];
        cell[1] = c / n[0] % n[1];
        cell[2] = c / n[0] / n[1];
        for (s = 0; s < per; ++s, ++e) {
            /* walk from corner 0 to the far corner, one axis after the other */
            for (j = 0; j <= dim; ++j) {
                for (k = 0; k < 3; ++k) v[j][k] = cell[k] * order;
                for (i = 0; i < j; ++i) v[j][dim == 2 ? (s + i) % 2 : perm[s][i]] += order;
            }
            if (dim == 2 ? s == 1 : s >= 3) { /* odd walks: exchange the last two */
                for (k = 0; k < 3; ++k) {
                    t = v[dim - 1][k];
                    v[dim - 1][k] = v[dim][k];
                    v[dim][k] = t;
                }
            }
            for (a = 0; a < m->per_element; ++a) {
                int at[3] = {0, 0, 0};
                for (j = 0; j <= dim; ++j)
                    for (k = 0; k < dim; ++k) at[k] += index[a * (dim + 1) + j] * v[j][k] / order;
                id = at[0] + lat[0] * (at[1] + lat[1] * (dim == 3 ? at[2] : 0));
                m->elem[e * m->per_element + a] = id;
            }
        }
    }
}

static inline void fem_mesh_cube(fem_mesh *m, int dim, int order, int n)
{
    int c[3];
    double s[3] = {1, 1, 1};

    c[0] = c[1] = c[2] = n;
    fem_mesh_box(m, dim, order, c, s);
}

/* Bend the mesh by a smooth map of amplitude a. */
static inline void fem_mesh_bend(fem_mesh *m, double a)
{
    int i;

    for (i = 0; i < m->nodes; ++i) {
        double *x = m->x + i * m->dim, u = x[0], v = x[1], w = m->dim == 3 ? x[2] : 0.3;
        x[0] = u + a * sin(2 * v + w);
        x[1] = v + a * cos(3 * u - w);
        if (m->dim == 3) x[2] = w + a * sin(u + 2 * v + 1);
    }
}
#endif
