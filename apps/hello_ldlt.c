/* hello_ldlt.c - the smallest use of gap_ldlt.h: the temperature of a square plate
   -laplace T = 1 on a 100 x 100 grid with cold edges, by the five-point formula. */
#define GAP_LDLT_IMPLEMENTATION
#include "gap_ldlt.h"
#include <stdio.h>

enum { N = 100 };
static int ptr[N * N + 1], col[3 * N * N];
static double val[3 * N * N], xy[2 * N * N], t[N * N];

int main(void)
{
    int i, k = 0;
    double back, h = 1.0 / (N + 1);
    static double rhs[N * N];
    gap_ldlt s;

    for (i = 0; i < N * N; ++i) { /* lower rows: south, west, then the diagonal */
        if (i >= N) col[k] = i - N, val[k++] = -1;
        if (i % N) col[k] = i - 1, val[k++] = -1;
        col[k] = i, val[k++] = 4;
        ptr[i + 1] = k;
        xy[2 * i] = (i % N + 1) * h, xy[2 * i + 1] = (i / N + 1) * h;
        t[i] = rhs[i] = h * h;
    }
    gap_ldlt_init(&s, NULL);
    if (gap_ldlt_analyze(&s, N * N, 1, ptr, col, 2, xy) != GAP_LDLT_OK) return 1;
    if (gap_ldlt_factor(&s, val) != GAP_LDLT_OK) return 1;
    if (gap_ldlt_solve(&s, 1, t) != GAP_LDLT_OK) return 1;
    if (gap_ldlt_refine(&s, val, rhs, t, 2, &back) != GAP_LDLT_OK) return 1;
    printf("middle %.4f (the series says 0.0737), %d fronts, L has %.0f entries, error %.0e\n",
        t[N / 2 * N + N / 2], s.stats.fronts, s.stats.nnz_l, back);
    gap_ldlt_free(&s);
    return 0;
}
