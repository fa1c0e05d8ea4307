/* bench_rigid_ccd.c - curved queries as a contact solver asks them: gaps of 0.1 to 10 mm, turns of
   1e-3 to 0.1, motions of up to three gaps. Time, linear queries, and how many answers are free. */
#define GAP_RIGID_CCD_IMPLEMENTATION
#define GAP_CCD_IMPLEMENTATION
#define GAP_ACCD_IMPLEMENTATION
#include "gap_accd.h"
#include "gap_ccd.h"
#include "gap_rigid_ccd.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static uint64_t state = 1;

static double uniform(double lo, double hi)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return lo + (hi - lo) * ((double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0);
}

typedef struct query {
    int kind;
    gap_rigid_ccd_motion m[2];
    double X[12];
} query;

/* Two primitives on either side of a plane z, 0.3 wide, on bodies with arms of about 1 m. */
static void make(query *q)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double gap = pow(10, uniform(-4, -2)), move = uniform(0, 3 * gap), arm[2][3];
    int first, i, b, c;
    q->kind = uniform(0, 1) < 0.5 ? 2 : 3;
    first = q->kind == 2 ? 1 : 2;
    for (b = 0; b < 2; ++b) {
        double u0[6] = {0, 0, 0, 0, 0, 0}, u1[6], turn = pow(10, uniform(-3, -1)), len = 0;
        for (c = 0; c < 3; ++c) arm[b][c] = uniform(-1, 1);
        for (c = 0; c < 3; ++c) u0[c] = u1[c] = -arm[b][c];
        u1[2] += b ? move : -move;
        for (c = 3; c < 6; ++c) u1[c] = uniform(-1, 1), len += u1[c] * u1[c];
        for (c = 3; c < 6; ++c) u1[c] *= turn / sqrt(len);
        gap_rigid_ccd_set(&q->m[b], 3, identity, u0, u1);
    }
    for (i = 0; i < 4; ++i) {
        int side = i >= first;
        double z = (side ? -0.5 : 0.5) * gap;
        if (i != 0 && i != first) z += (side ? -1 : 1) * uniform(0, 0.15);
        for (c = 0; c < 3; ++c) q->X[3 * i + c] = arm[side][c] + (c < 2 ? uniform(-0.3, 0.3) : z);
    }
}

int main(void)
{
    enum { N = 200000 };
    static const char *const name[2] = {"gap_ccd_pair", "gap_accd_pair"};
    int k, i;
    for (k = 0; k < 2; ++k) {
        gap_rigid_ccd_options opt = {k ? gap_accd_pair : gap_ccd_pair, NULL, 0, 0};
        double linear = 0, toi, spent = 0, sum = 0;
        int status[4] = {0, 0, 0, 0}, pieces, most = 0;
        state = 1;
        for (i = 0; i < N; ++i) {
            query q;
            clock_t t;
            int s;
            make(&q);
            t = clock();
            s = gap_rigid_ccd_query(&opt, 3, q.kind, &q.m[0], &q.m[1], q.X, 0, 1, &toi, &pieces);
            spent += (double)(clock() - t);
            if (s >= 0 && s < 4) ++status[s];
            linear += pieces;
            most = pieces > most ? pieces : most;
            sum += toi;
        }
        printf("%s: %d curved queries, %d free, %d hits, %d close, %d over budget; %.3f linear"
            " queries each, at most %d; %.2f us each with the clock's own; mean toi %.4f\n",
            name[k], N, status[0], status[1], status[2], status[3], linear / N, most,
            spent / CLOCKS_PER_SEC / N * 1e6, sum / N);
    }
    return 0;
}
