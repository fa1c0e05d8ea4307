/* hello_sim.c - a minimal simulator of your own, from eight headers
   Two soft boxes fall on the ground and on each other, with self-contact and friction, and never
   intersect. Every time step minimises one energy,

       1/2 |x - target|_M^2  +  h^2 elastic(x)  +  barrier(x)  +  friction(x),

   by Newton's method whose steps are cut short before anything touches. Read main() first. */
#define GAP_IMPLEMENTATION
#include "gap_barrier.h"
#include "gap_broad.h"
#include "gap_ccd.h"
#include "gap_fem.h"
#include "gap_friction.h"
#include "gap_ldlt.h"
#include "gap_newton.h"
#include "gap_sparse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANGE = 1024 }; /* local blocks at a time: memory stays small */
typedef struct sim {
    gap_fem fem;                /* elastic bodies: all boxes in one mesh */
    gap_broad broad;            /* which surface pairs are near */
    gap_barrier_mesh surface;   /* triangles, edges and the ground plane */
    gap_barrier_set contact;    /* pairs closer than dhat, with their forces */
    gap_friction_lag friction;  /* contacts of the step's beginning, frozen */
    gap_sparse A;               /* the Hessian */
    gap_ldlt ldlt;              /* its factorisation */
    double *mass, *x0, *target; /* per node; start of the step; where inertia alone would go */
    double *block;              /* scratch for local blocks */
    int *ground;                /* candidate pairs (node, plane 0) */
    int n;                      /* nodes */
    double h, dhat, length, kappa, range[2]; /* stiffness of the barrier and its bounds */
} sim;

static const double gravity = -9.81, mu = 0.4;

static void check(int status, const char *what)
{
    if (status >= 0) return;
    fprintf(stderr, "hello_sim: %s: error %d\n", what, status);
    exit(1);
}

static double *doubles(double *p, int count)
{
    if (!(p = realloc(p, ((size_t)count + 1) * sizeof *p))) check(-2, "memory");
    return p;
}

/* ---- the bodies: boxes of n x n x n cells, six tets each ---- */
static void add_box(double **x, int *nodes, int **tet, int *tets, int n, double size,
    const double center[3], double turn)
{
    static const int path[6][4] = {{0, 1, 2}, {1, 2}, {2, 0, 1}, {0, 2, 1}, {2, 1}, {1, 0, 2}};
    int i, j, k, t, s, m = n + 1, base = *nodes;
    *x = doubles(*x, 3 * (base + m * m * m));
    if (!(*tet = realloc(*tet, 4 * (size_t)(*tets + 6 * n * n * n) * sizeof **tet))) exit(3);
    for (i = 0; i < m; ++i) for (j = 0; j < m; ++j) for (k = 0; k < m; ++k) {
        double p[3] = {size * i / n - size / 2, size * j / n - size / 2, size * k / n - size / 2};
        double *to = *x + 3 * (size_t)(*nodes)++;
        to[0] = center[0] + cos(turn) * p[0] - sin(turn) * p[1];
        to[1] = center[1] + sin(turn) * p[0] + cos(turn) * p[1];
        to[2] = center[2] + p[2];
    }
    for (i = 0; i < n; ++i) for (j = 0; j < n; ++j) for (k = 0; k < n; ++k) {
        for (t = 0; t < 6; ++t) { /* along the cell's diagonal, one axis after the other */
            int at[3] = {i, j, k}, *to = *tet + 4 * (size_t)(*tets)++;
            for (s = 0; s < 4; ++s) {
                to[s] = base + (at[0] * m + at[1]) * m + at[2];
                if (s < 3) ++at[path[t][s]];
            }
        }
    }
}

/* ---- contact: pairs whose boxes meet on the way from x to x1, grown by `grow` ---- */
static gap_barrier_candidates candidates(sim *s, const double *x, const double *x1, double grow)
{
    gap_barrier_candidates c;
    int kind;
    memset(&c, 0, sizeof c);
    check(gap_broad_refit(&s->broad, x, x1, grow), "broad phase");
    for (kind = GAP_BROAD_VF; kind <= GAP_BROAD_EE; ++kind) {
        check(gap_broad_pairs(&s->broad, kind, &c.pair[kind], &c.count[kind]), "candidates");
    }
    c.pair[4] = s->ground;
    c.count[4] = s->n;
    return c;
}

static int find_contacts(sim *s, const double *x)
{
    gap_barrier_candidates c = candidates(s, x, NULL, 0.5 * s->dhat);
    return gap_barrier_build(&s->contact, &s->surface, x, &c, s->dhat, s->kappa);
}

static int energy(void *user, const double *x, double *e)
{
    sim *s = user;
    int i;
    if (gap_fem_energy(&s->fem, x, 0, s->fem.elements, e) != GAP_FEM_OK) return 1;
    if (find_contacts(s, x) != GAP_BARRIER_OK) return 1;
    *e = s->h * s->h * *e + gap_barrier_energy(&s->contact, x, 0, s->contact.count) +
        gap_friction_energy(&s->friction, x, s->x0, 0, s->friction.count);
    for (i = 0; i < 3 * s->n; ++i) *e += 0.5 * s->mass[i / 3] * pow(x[i] - s->target[i], 2);
    return 0;
}

/* Elasticity, barrier and friction give local blocks, a range of stencils at a time, and gap_sparse
   puts them together: into the gradient g, or, without g, into the matrix. */
static void add_potentials(sim *s, const double *x, int psd, double *g)
{
    const int *node[3] = {s->fem.node, s->contact.node, s->friction.node};
    int count[3] = {s->fem.elements, s->contact.count, s->friction.count}, which, i, n;
    double scale[3] = {s->h * s->h, 1.0, 1.0}, *b = s->block;
    for (which = 0; which < 3; ++which) for (i = 0; i < count[which]; i += n) {
        n = count[which] - i < RANGE ? count[which] - i : RANGE;
        if (g) {
            if (which == 0) gap_fem_gradient(&s->fem, x, i, i + n, b);
            if (which == 1) gap_barrier_gradient(&s->contact, x, i, i + n, b);
            if (which == 2) gap_friction_gradient(&s->friction, x, s->x0, i, i + n, b);
            gap_sparse_add_vector(&s->A, n, 4, node[which] + 4 * i, scale[which], b, g);
        } else {
            if (which == 0) gap_fem_hessian(&s->fem, x, i, i + n, psd, b);
            if (which == 1) gap_barrier_hessian(&s->contact, x, psd, i, i + n, b);
            if (which == 2) gap_friction_hessian(&s->friction, x, s->x0, psd, i, i + n, b);
            gap_sparse_add(&s->A, n, 4, node[which] + 4 * i, scale[which], b);
        }
    }
}

static int gradient(void *user, const double *x, double *g)
{
    sim *s = user;
    int i;
    for (i = 0; i < 3 * s->n; ++i) g[i] = s->mass[i / 3] * (x[i] - s->target[i]);
    check(find_contacts(s, x), "contacts");
    add_potentials(s, x, 0, g);
    return 0;
}

/* Newton's direction: A p = -g, A positive definite because every block is. */
static int solve(void *user, const double *x, const double *g, int psd, double shift, double *p)
{
    sim *s = user;
    int i;
    gap_sparse_link(&s->A, s->contact.count, 4, s->contact.node);
    gap_sparse_link(&s->A, s->friction.count, 4, s->friction.node);
    check(gap_sparse_build(&s->A), "pattern"); /* elements are kept in it, contacts come and go */
    gap_sparse_add_mass(&s->A, 1.0, s->mass);
    add_potentials(s, x, psd, NULL);
    gap_sparse_shift(&s->A, shift);
    for (i = 0; i < 3 * s->n; ++i) p[i] = -g[i];
    check(gap_ldlt_analyze(&s->ldlt, s->n, 3, s->A.ptr, s->A.col, 3, s->fem.rest), "ordering");
    if (gap_ldlt_factor(&s->ldlt, s->A.val) != GAP_LDLT_OK) return 1;
    return gap_ldlt_solve(&s->ldlt, 1, p);
}

/* How much of the step p is safe: no tet inverts, no pair meets, planes included. */
static int bound(void *user, const double *x, const double *p, double *alpha)
{
    sim *s = user;
    gap_barrier_candidates c;
    double *x1 = s->target + 3 * s->n; /* behind the target: room for x + alpha p */
    int i;
    gap_fem_step(&s->fem, x, p, 0, s->fem.elements, *alpha, alpha);
    for (i = 0; i < 3 * s->n; ++i) x1[i] = x[i] + *alpha * p[i];
    c = candidates(s, x, x1, 0.0);
    return gap_barrier_step_pairs(&s->contact, &s->surface, x, p, &c, gap_ccd_pair, NULL, alpha);
}

/* A pair that stays tiny calls for a stiffer barrier; the energy has changed then. */
static int accept(void *user, const double *x, const gap_newton_iteration *it)
{
    sim *s = user;
    double before = s->kappa;
    (void)it;
    check(find_contacts(s, x), "contacts");
    s->kappa = gap_barrier_kappa_update(&s->contact, &s->surface, x, s->length, s->range[1]);
    return s->kappa != before;
}

int main(int argc, char **argv)
{
    static const double low[3] = {0, 0.65, 0}, high[3] = {0.3, 1.85, 0.1};
    static const double plane[6] = {0, 0, 0, 0, 1, 0};
    gap_newton_problem problem = {NULL, energy, gradient, solve, bound, accept, NULL};
    gap_newton_options newton = {0};
    gap_newton_result result;
    gap_broad_mesh mesh = {0};
    double *x = NULL, *v, *work;
    int *tet = NULL, nodes = 0, tets = 0, step, i, steps = argc > 1 ? atoi(argv[1]) : 60;
    sim s;

    memset(&s, 0, sizeof s);
    add_box(&x, &nodes, &tet, &tets, 3, 1.0, low, 0.2);
    add_box(&x, &nodes, &tet, &tets, 3, 1.0, high, 0.5);
    gap_fem_orient(3, 1, x, tets, tet);
    check(gap_fem_init(&s.fem, 3, 1, 1, nodes, x, tets, tet, NULL), "elements");
    gap_fem_uniform(&s.fem, 2e5, 0.4, 1000.0);
    s.n = nodes, s.h = 0.025, s.length = 2.8, s.dhat = 1e-3 * s.length;
    s.mass = doubles(NULL, nodes);
    s.block = doubles(NULL, RANGE * 144);
    s.x0 = doubles(NULL, 3 * nodes);
    s.target = doubles(NULL, 6 * nodes);
    v = memset(doubles(NULL, 3 * nodes), 0, 3 * (size_t)nodes * sizeof *v);
    work = doubles(NULL, (int)(gap_newton_work_size(3 * nodes) / sizeof *work));
    if (!(s.ground = calloc(2 * (size_t)nodes, sizeof *s.ground))) check(-2, "memory");
    for (i = 0; i < nodes; ++i) s.ground[2 * i] = i;
    gap_fem_mass_lumped(&s.fem, s.mass);

    /* the surface, as the broad phase and the barrier see it */
    mesh.dim = s.surface.dim = 3, mesh.nodes = s.surface.nodes = nodes;
    mesh.tris = s.surface.tris = s.fem.facets, mesh.tri = s.surface.tri = s.fem.facet_node;
    mesh.edges = s.surface.edges = s.fem.edges, mesh.edge = s.surface.edge = s.fem.edge;
    s.surface.rest = s.fem.rest, s.surface.planes = 1, s.surface.plane = plane;
    gap_broad_init(&s.broad, NULL);
    check(gap_broad_set_mesh(&s.broad, &mesh), "surface");
    gap_barrier_init(&s.contact, NULL), gap_friction_init(&s.friction, NULL);
    gap_ldlt_init(&s.ldlt, NULL);
    check(gap_sparse_init(&s.A, nodes, 3, NULL), "matrix");
    check(gap_sparse_link(&s.A, tets, 4, s.fem.node), "links");
    if (gap_sparse_build(&s.A) < 0 || gap_sparse_keep(&s.A) < 0) check(-2, "pattern");
    gap_barrier_kappa_bounds(NULL, s.length, s.mass[0], s.dhat, 0.0, 0.0, s.range);
    s.kappa = s.range[0];
    problem.user = &s, newton.h = s.h, newton.tol = 1e-2 * s.length; /* a speed, m/s */

    for (step = 1; step <= steps; ++step) {
        memcpy(s.x0, x, 3 * (size_t)nodes * sizeof *x);
        for (i = 0; i < 3 * nodes; ++i) s.target[i] = x[i] + s.h * v[i];
        for (i = 0; i < nodes; ++i) s.target[3 * i + 1] += s.h * s.h * gravity;
        check(find_contacts(&s, x), "contacts"); /* normal forces of now are friction's limits */
        check(gap_friction_freeze(&s.friction, 3, s.contact.count, nodes, s.contact.node,
            s.contact.weight, s.contact.normal, s.contact.force, NULL, mu, NULL, 1e-3 * s.h), "mu");
        check(gap_newton_minimize(&problem, &newton, 3 * nodes, x, work, &result), "Newton");
        for (i = 0; i < 3 * nodes; ++i) v[i] = (x[i] - s.x0[i]) / s.h;
        printf("t = %.3f s  newton %2d  contacts %3d  smallest gap %.3g m\n", step * s.h,
            result.iterations, s.contact.count, gap_barrier_min_gap(&s.contact));
    }
    gap_ldlt_free(&s.ldlt), gap_sparse_free(&s.A), gap_friction_free(&s.friction);
    gap_barrier_free(&s.contact), gap_broad_free(&s.broad), gap_fem_free(&s.fem), free(s.mass);
    free(s.block), free(s.x0), free(s.target), free(s.ground), free(x), free(tet), free(v);
    return free(work), 0;
}
