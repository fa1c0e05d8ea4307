/* hello_fem.c - a cantilever bends under its own weight: P2 tetrahedra, Newton, a direct solver.
   Prints the tip's deflection beside beam theory, rho g A L^4 / (8 E I) and its shear part. */
#define GAP_IMPLEMENTATION
#include "gap_fem.h"
#include "gap_ldlt.h"
#include "gap_sparse.h"
#include <math.h>
#include <stdio.h>

enum { NX = 20, NY = 2, NZ = 2, VERTICES = (NX + 1) * (NY + 1) * (NZ + 1) };
enum { TETS = NX * NY * NZ * 6, NODES = (2 * NX + 1) * (2 * NY + 1) * (2 * NZ + 1) };
static double X[3 * VERTICES], x[3 * NODES], r[3 * NODES], push[30 * TETS], block[900 * TETS];
static unsigned char fixed[NODES];
static int tet[4 * TETS];

/* A box of NX x NY x NZ cells, each cut into six tetrahedra: the paths from corner to corner. */
static void box(double lx, double ly, double lz)
{
    static const int path[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2},
        {2, 1, 0}};
    int i, j, at[3];

    for (i = 0; i < VERTICES; ++i) {
        X[3 * i] = lx * (i % (NX + 1)) / NX;
        X[3 * i + 1] = ly * (i / (NX + 1) % (NY + 1)) / NY;
        X[3 * i + 2] = lz * (i / (NX + 1) / (NY + 1)) / NZ;
    }
    for (i = 0; i < TETS; ++i) {
        at[0] = i / 6 % NX; at[1] = i / 6 / NX % NY; at[2] = i / 6 / NX / NY;
        for (j = 0; j < 4; ++j) {
            tet[4 * i + j] = at[0] + (NX + 1) * (at[1] + (NY + 1) * at[2]);
            if (j < 3) ++at[path[i % 6][j]];
        }
    }
    gap_fem_orient(3, 1, X, TETS, tet);
}

int main(void)
{
    const double L = 1, h = 0.1, E = 1e9, nu = 0.3, rho = 1000, g[3] = {0, 0, -9.81};
    double tip = 0, size = 1;
    gap_fem f;
    gap_sparse A;
    gap_ldlt ldlt;
    int i, it;

    box(L, h, h);
    if (gap_fem_init(&f, 3, 2, 1, VERTICES, X, TETS, tet, NULL) != GAP_FEM_OK) return 1;
    gap_fem_uniform(&f, E, nu, rho);
    gap_fem_body_force(&f, g, 0, TETS, push);
    for (i = 0; i < 3 * f.nodes; ++i) x[i] = f.rest[i];
    for (i = 0; i < f.nodes; ++i) fixed[i] = f.rest[3 * i] == 0 ? 7 : 0;
    gap_sparse_init(&A, f.nodes, 3, NULL);
    gap_sparse_link(&A, TETS, 10, f.node);
    gap_sparse_build(&A);
    gap_ldlt_init(&ldlt, NULL);
    gap_ldlt_analyze(&ldlt, A.n, 3, A.ptr, A.col, 0, NULL);
    for (it = 0; it < 20 && size > 1e-12 * L; ++it) {
        for (i = 0; i < 3 * f.nodes; ++i) r[i] = 0;
        gap_sparse_zero(&A);
        gap_sparse_add_vector(&A, TETS, 10, f.node, 1, push, r);
        gap_fem_gradient(&f, x, 0, TETS, block);
        gap_sparse_add_vector(&A, TETS, 10, f.node, -1, block, r);
        gap_fem_hessian(&f, x, 0, TETS, 0, block); /* small load: as it is */
        gap_sparse_add(&A, TETS, 10, f.node, 1, block);
        gap_sparse_fix(&A, fixed, r);
        if (gap_ldlt_factor(&ldlt, A.val) < 0 || gap_ldlt_solve(&ldlt, 1, r) < 0) return 1;
        for (size = 0, i = 0; i < 3 * f.nodes; size = fmax(size, fabs(r[i++]))) x[i] += r[i];
    }
    for (i = 0; i < f.nodes; ++i) tip = fmin(tip, x[3 * i + 2] - f.rest[3 * i + 2]);
    printf("%d nodes, %d iterations, tip %.4f mm; theory %.4f bending + %.4f shear\n", f.nodes, it,
        -1e3 * tip, 1.5e3 * rho * 9.81 * pow(L, 4) / (E * h * h),
        1.2e3 * (1 + nu) * rho * 9.81 * L * L / E);
    gap_fem_free(&f);
    gap_sparse_free(&A);
    gap_ldlt_free(&ldlt);
    return 0;
}
