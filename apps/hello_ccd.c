/* hello_ccd.c: how far may a cloth of two triangles fall onto a fixed edge? */
#define GAP_CCD_IMPLEMENTATION
#include "gap_ccd.h"
#include <stdio.h>

int main(void)
{
    /* nodes 0-3: a square at height 1 that falls by 2; nodes 4, 5: an edge below its middle */
    double x0[18] = {0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0.5, 0.2, 0, 0.5, 0.8, 0.25}, x1[18];
    int edge[12] = {0, 1, 1, 2, 2, 3, 0, 3, 0, 2, 4, 5}, tri[6] = {0, 1, 2, 0, 2, 3};
    int vf[8] = {4, 0, 4, 1, 5, 0, 5, 1}, ee[10] = {0, 5, 1, 5, 2, 5, 3, 5, 4, 5}, i;
    gap_ccd_mesh mesh = {3, 6, 6, 2, NULL, NULL, NULL};
    gap_ccd_options opt = {0};
    double t = 1.0;

    mesh.edge = edge;
    mesh.tri = tri;
    opt.keep = 0.2; /* a fifth of each gap must remain */
    for (i = 0; i < 18; ++i) x1[i] = x0[i] - (i < 12 && i % 3 == 2 ? 2.0 : 0.0);
    gap_ccd_step(&opt, &mesh, x0, x1, GAP_CCD_VF, vf, 4, 0.0, &t, NULL);
    gap_ccd_step(&opt, &mesh, x0, x1, GAP_CCD_EE, ee, 5, 0.0, &t, NULL);
    printf("safe step %.4f\n", t); /* 0.3000: from a gap of 0.75 to 0.15, at a speed of 2 */
    return 0;
}
