/* hello_step.c - the smallest use of gap_step.h: a pendulum by every method, beside each other
   Angle q, energy per m l^2: 1/2 q'^2 - (g/l) cos q. Each step is one minimisation over q, here by
   a few Newton iterations; the table shows the error at t = 2 and what became of the energy. */
#define GAP_STEP_IMPLEMENTATION
#include "gap_step.h"
#include <math.h>
#include <stdio.h>

static const double g_over_l = 9.81;

/* Minimise (q - target)^2 / 2 - weight (g/l) cos q. */
static double minimise(double q, double target, double weight)
{
    int k;
    for (k = 0; k < 20; ++k) {
        double slope = q - target + weight * g_over_l * sin(q);
        double curvature = 1 + weight * g_over_l * fmax(cos(q), 0);
        q -= slope / curvature;
    }
    return q;
}

static void swing(gap_step_method method, double h, int steps, double end[3])
{
    gap_step_options options = {method, 0, 0};
    double q = 1.5, speed = 0, start = -g_over_l * sin(q), target, work[32];
    gap_step S;
    int k;
    gap_step_init(&S, &options, 1, &q, &speed, &start, work);
    for (k = 0; k < steps; ++k) {
        gap_step_begin(&S, h, NULL, &target);
        q = minimise(q, target, S.weight);
        gap_step_end(&S, &q);
    }
    end[0] = q;
    end[1] = S.v[0];
    end[2] = 0.5 * S.v[0] * S.v[0] - g_over_l * cos(q);
}

int main(void)
{
    static const char *const name[4] = {"Euler", "BDF2", "BDF3", "Newmark"};
    static const gap_step_method method[4] = {GAP_STEP_EULER, GAP_STEP_BDF2, GAP_STEP_BDF3,
        GAP_STEP_NEWMARK};
    double exact[3], coarse[3], fine[3];
    int m;
    swing(GAP_STEP_BDF3, 2.0 / (1 << 17), 1 << 17, exact);
    printf("method    error, h = 1/200   order   energy lost\n");
    for (m = 0; m < 4; ++m) {
        swing(method[m], 0.01, 200, coarse);
        swing(method[m], 0.005, 400, fine);
        coarse[0] = hypot(coarse[0] - exact[0], coarse[1] - exact[1]);
        fine[0] = hypot(fine[0] - exact[0], fine[1] - exact[1]);
        printf("%-9s %.2e           %.2f    %.2e\n", name[m], fine[0], log2(coarse[0] / fine[0]),
            exact[2] - fine[2]);
    }
    return 0;
}
