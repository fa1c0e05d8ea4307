/* hello_barrier - push a point onto a triangle and print the force against the distance
   The smallest use of gap_barrier.h: one candidate pair, one contact. */
#define GAP_BARRIER_IMPLEMENTATION
#include "gap_barrier.h"
#include <stdio.h>

int main(void)
{
    double x[12] = {0.2, 0.3, 0.0, 0, 0, 0, 1, 0, 0, 0, 1, 0}; /* the point, then the triangle */
    int tri[3] = {1, 2, 3}, vf[2] = {0, 0};
    double dhat = 0.01, kappa = 1e9, force[12], energy, hess[144];
    gap_barrier_mesh mesh = {3, 4, 0, 1, 0, NULL, tri, NULL, x, NULL, NULL};
    gap_barrier_candidates cand = {{NULL, NULL, vf, NULL, NULL}, {0, 0, 1, 0, 0}};
    gap_barrier_set set;
    int i, status;

    gap_barrier_init(&set, NULL);
    printf("   distance      energy       force   stiffness   corner forces\n");
    for (i = 12; i >= 0; --i) {
        x[2] = i > 0 ? 0.001 * i : 1e-6;
        status = gap_barrier_build(&set, &mesh, x, &cand, dhat, kappa);
        if (status != GAP_BARRIER_OK) {
            fprintf(stderr, "hello_barrier: status %d\n", status);
            return 1;
        }
        energy = gap_barrier_energy(&set, x, 0, set.count);
        memset(force, 0, sizeof force);
        memset(hess, 0, sizeof hess);
        gap_barrier_node_force(&set, x, force);
        gap_barrier_hessian(&set, x, 1, 0, set.count, hess);
        printf("%11.6f %11.3e %11.3e %11.3e   %.2e %.2e %.2e\n", x[2], energy, force[2],
            hess[2 * 12 + 2], force[5], force[8], force[11]);
    }
    gap_barrier_free(&set);
    return 0;
}
