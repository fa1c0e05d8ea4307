/* sim.c - see sim.h
   Unknowns are the nodes of all solids followed by those of all obstacles. Contact sees vertices:
   the nodes themselves for straight linear elements, else a finer linear surface xs = W x. */
#define GAP_ACCD_STATIC
#include "gap_accd.h"
#define GAP_BARRIER_STATIC
#include "gap_barrier.h"
#define GAP_BROAD_STATIC
#include "gap_broad.h"
#define GAP_CCD_STATIC
#include "gap_ccd.h"
#define GAP_ELASTIC_STATIC
#include "gap_elastic.h"
#define GAP_EXACT_STATIC
#include "gap_exact.h"
#define GAP_FEM_STATIC
#include "gap_fem.h"
#define GAP_FRICTION_STATIC
#include "gap_friction.h"
#define GAP_LDLT_STATIC
#include "gap_ldlt.h"
#define GAP_NEWTON_STATIC
#include "gap_newton.h"
#define GAP_PROXY_STATIC
#include "gap_proxy.h"
#define GAP_SPARSE_STATIC
#include "gap_sparse.h"
#define GAP_STEP_STATIC
#include "gap_step.h"

#include "frames.h"
#include "gen.h"
#include "sim.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHUNK = 128, BLOCK_DOUBLES = 1 << 22, BLOCK_LEAST = 1 << 15 };

enum { AL_IDLE = 100, STUCK = -100 }; /* updates without progress before it counts as stuck */

typedef struct al_state { /* augmented Lagrangian of scripted nodes that could not reach their
   place */
    int on, idle, updates; /* updates: 1 more, from the moment it was on */
    double K, eta, best;
    double *lambda; /* 3 per node: forces, sqrt(m) times the paper's, exact at every scale */
} al_state;

struct sim {
    const scene *sc;
    sim_options opt;
    gap_fem fem;
    int solids, nodes;       /* nodes of solids; of all */
    gap_proxy proxy, W;      /* surface of the solids; the same with obstacle nodes behind it */
    int *W_ptr, *W_node;
    double *W_weight, *W_offset;
    int identity, verts;
    int tris, edges, points, *tri, *edge, *point, *vbody, *vgroup, *plane_pair, plane_pairs;
    int *nbody;              /* body of a node */
    double *vrest, *vradius, *rest;
    unsigned char *vfixed, *fixed, *script, *free3; /* per node bits; free3: 1 per unknown, fixed */
    unsigned char *moving;   /* 1 per node: scripted to move in this step */
    gap_broad broad;
    gap_barrier_mesh bm;
    gap_barrier_set set;
    gap_barrier_candidates cand;
    gap_friction_lag lag;
    gap_sparse A, C;         /* the Hessian; damping */
    gap_ldlt ldlt;
    gap_step S;
    gap_step_options step_opt;
    double *x, *xs, *xs_at, *x0, *xref, *xs_ref, *target, *mass, *force, *script_at, *ps, *work,
        *state;
    double *block, *pulled, *mu, *partial, *newton_work, *vforce, *accel, *damp;
    int mu_room, *lag_kind, *pulled_node, pulled_room, frame_room, set_valid, have_forces;
    size_t pulled_doubles, block_doubles; /* room in pulled and block */
    double *frame;
    double h, weight, kappa, kmin, kmax, length, dhat, eps_v, eps_d, mass_factor, time, mean_mass;
    long long steps;
    al_state al;
    sim_report *report;
    gap_ccd_options ccd_opt;
    gap_accd_options accd_opt;
    int most_contacts;
    double *body_force;      /* 3 per body: contact force of the last step (N) */
    char why[300];           /* the last step did not converge because ... */
};

static double norm3(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- material by element */
/* par[2] says which law; runs of equal laws go to it together. */
static int any_material(void *user, int rows, int cols, int count, const double *F,
    const double *par, int psd, double *psi, double *P, double *dPdF)
{
    static int (*const law[4])(void *, int, int, int, const double *, const double *, int, double *,
        double *, double *) = {gap_elastic_neo_hookean, gap_elastic_corotated, gap_elastic_linear,
        gap_elastic_stvk};
    size_t n = (size_t)(rows * cols);
    int i = 0, j, bad = 0, r;
    (void)user;
    while (i < count) {
        size_t k = (size_t)i;
        int which = (int)par[4 * i + 2];
        for (j = i + 1; j < count && (int)par[4 * j + 2] == which; ++j) {}
        r = law[which](NULL, rows, cols, j - i, F + k * n, par + 4 * k, psd, psi ? psi + k : NULL,
            P ? P + k * n : NULL, dPdF ? dPdF + k * n * n : NULL);
        if (r > 0 && !bad) bad = i + r;
        i = j;
    }
    return bad;
}

/* ---------------------------------------------------------------- elements, in parallel chunks */
typedef struct element_job {
    sim *s;
    const double *x;
    int psd, first, what; /* 0 energy, 1 gradient, 2 Hessian */
    double *out;
    int *bad; /* per chunk */
} element_job;

static void element_range(void *ctx, int begin, int end, int worker)
{
    element_job *j = ctx;
    const gap_fem *f = &j->s->fem;
    size_t k = (size_t)(3 * f->per_element);
    (void)worker;
    if (j->what == 0) {
        j->bad[begin / CHUNK] = gap_fem_energy(f, j->x, begin, end,
            &j->out[begin / CHUNK]) != GAP_FEM_OK;
    } else if (j->what == 1) {
        gap_fem_gradient(f, j->x, j->first + begin, j->first + end, j->out + (size_t)begin * k);
    } else {
        gap_fem_hessian(f, j->x, j->first + begin, j->first + end, j->psd,
            j->out + (size_t)begin * k * k);
    }
}

static int elastic_energy(sim *s, const double *x, double *e)
{
    element_job j;
    int chunks = (s->fem.elements + CHUNK - 1) / CHUNK, i, bad = 0;
    memset(&j, 0, sizeof j);
    j.s = s;
    j.x = x;
    j.out = s->partial;
    j.bad = (int *)(void *)(s->partial + chunks + 1);
    pool_for(s->opt.threads, s->fem.elements, CHUNK, element_range, &j);
    for (*e = 0.0, i = 0; i < chunks; ++i) {
        *e += s->partial[i];
        bad |= j.bad[i];
    }
    return bad;
}

/* Adds scale * gradient to g, or with g NULL scale * Hessian to A. */
static void add_elastic(sim *s, gap_sparse *A, const double *x, double scale, int psd, double *g)
{
    size_t k = (size_t)(3 * s->fem.per_element), each = g ? k : k * k;
    int most = (int)(s->block_doubles / each), i, n;
    element_job j;
    memset(&j, 0, sizeof j);
    j.s = s;
    j.x = x;
    j.psd = psd;
    j.what = g ? 1 : 2;
    j.out = s->block;
    for (i = 0; i < s->fem.elements; i += n) {
        n = s->fem.elements - i < most ? s->fem.elements - i : most;
        j.first = i;
        pool_for(s->opt.threads, n, CHUNK, element_range, &j);
        if (g) {
            gap_sparse_add_vector(A, n, s->fem.per_element,
                s->fem.node + (size_t)i * (size_t)s->fem.per_element, scale, s->block, g);
        } else {
            gap_sparse_add(A, n, s->fem.per_element,
                s->fem.node + (size_t)i * (size_t)s->fem.per_element, scale, s->block);
        }
    }
}

/* ---------------------------------------------------------------- contact */
static void to_surface(const sim *s, const double *x, int direction, double *xs)
{
    if (s->identity) memcpy(xs, x, 3 * (size_t)s->nodes * sizeof *xs);
    else gap_proxy_apply(&s->W, x, direction, 0, s->verts, xs);
}

/* Candidates for every state on the way xs -> xs1 (NULL: at xs), within dhat. */
static int find_candidates(sim *s, const double *xs, const double *xs1)
{
    double t = now();
    int k, r = 0;
    memset(&s->cand, 0, sizeof s->cand);
    if (s->sc->contact) {
        r = gap_broad_refit(&s->broad, xs, xs1, 0.5 * s->dhat);
        for (k = GAP_BROAD_VV; k <= GAP_BROAD_EE && r >= 0; ++k) {
            r = gap_broad_pairs(&s->broad, k, &s->cand.pair[k], &s->cand.count[k]);
        }
        s->cand.pair[4] = s->plane_pair;
        s->cand.count[4] = s->plane_pairs;
    }
    s->set_valid = 0;
    if (s->report) s->report->seconds[0] += now() - t;
    return r;
}

/* The contact set at x, from the candidates at hand. */
static int find_contacts(sim *s, const double *x)
{
    size_t bytes = 3 * (size_t)s->verts * sizeof *s->xs;
    int r;
    to_surface(s, x, 0, s->xs);
    if (s->set_valid && memcmp(s->xs, s->xs_at, bytes) == 0) return 0;
    r = gap_barrier_build(&s->set, &s->bm, s->xs, &s->cand, s->dhat, s->kappa);
    memcpy(s->xs_at, s->xs, bytes);
    s->set_valid = r == GAP_BARRIER_OK;
    return r;
}

static int has_friction(const scene *sc)
{
    int i, any = sc->mu > 0.0;
    for (i = 0; i < sc->pair_mus; ++i) any |= sc->pair_mu[i][2] > 0.0;
    return any && sc->contact;
}

static double friction_of(const sim *s, int a, int b)
{
    int i, ia = s->sc->body[s->vbody[a]].id, ib = b < 0 ? 0 : s->sc->body[s->vbody[b]].id;
    for (i = 0; i < s->sc->pair_mus; ++i) {
        const double *p = s->sc->pair_mu[i];
        if (((int)p[0] == ia && (int)p[1] == ib) || ((int)p[0] == ib && (int)p[1] == ia))
            return p[2];
    }
    return s->sc->mu;
}

static int freeze_friction(sim *s)
{
    int i, k, n = has_friction(s->sc) ? s->set.count : 0;
    if (n > s->mu_room) {
        double *more = realloc(s->mu, 2 * (size_t)n * sizeof *more); /* and what cone needs */
        int *kinds;
        if (!more) return -2;
        s->mu = more;
        kinds = realloc(s->lag_kind, (size_t)n * sizeof *kinds);
        if (!kinds) return -2;
        s->lag_kind = kinds;
        s->mu_room = n;
    }
    for (i = 0; i < n; ++i) {
        const int *node = s->set.node + 4 * (size_t)i;
        int second = -1;
        if (s->set.kind[i] != 4) for (k = 0; k < 4 && node[k] >= 0; ++k) second = node[k];
        s->lag_kind[i] = s->set.kind[i];
        s->mu[i] = s->set.mollify[i] > 0.0 ? 0.0 : friction_of(s, node[0], second);
    }
    return gap_friction_freeze(&s->lag, 3, n, s->verts, s->set.node, s->set.weight, s->set.normal,
        s->set.force, s->mu, 0.0, NULL, s->eps_v / s->S.dvdx);
}

/* Room for the stencils of n contacts on nodes instead of vertices. */
static int pull_room(sim *s, int n, int width)
{
    size_t each = (size_t)(3 * width) * (size_t)(3 * width), doubles;
    int range = (int)(s->block_doubles / 2 / each);
    if (range < 1) range = 1;
    doubles = each * (size_t)range;
    if (doubles > s->pulled_doubles) {
        double *more = realloc(s->pulled, doubles * sizeof *more);
        if (!more) return 0;
        s->pulled = more;
        s->pulled_doubles = doubles;
    }
    if (n * width > s->pulled_room) {
        int *more = realloc(s->pulled_node, (size_t)n * (size_t)width * sizeof *more);
        if (!more) return 0;
        s->pulled_node = more;
        s->pulled_room = n * width;
    }
    return range;
}

typedef struct contact_job {
    sim *s;
    int friction, psd, first, gradient;
} contact_job;

static void contact_range(void *ctx, int begin, int end, int worker)
{
    contact_job *j = ctx;
    sim *s = j->s;
    double *out = s->block + (size_t)begin * (j->gradient ? 12 : 144);
    int a = j->first + begin, b = j->first + end;
    (void)worker;
    if (j->friction && j->gradient) gap_friction_gradient(&s->lag, s->xs, s->xs_ref, a, b, out);
    else if (j->friction) gap_friction_hessian(&s->lag, s->xs, s->xs_ref, j->psd, a, b, out);
    else if (j->gradient) gap_barrier_gradient(&s->set, s->xs, a, b, out);
    else gap_barrier_hessian(&s->set, s->xs, j->psd, a, b, out);
}

/* Gradient (g) or Hessian (g NULL) of barrier and friction at s->xs. */
static int add_contacts(sim *s, int friction, int psd, double *g)
{
    const int *node = friction ? s->lag.node : s->set.node;
    int count = friction ? s->lag.count : s->set.count, i, n, width = 4, range;
    contact_job j;
    if (count == 0) return 0;
    range = (int)(s->block_doubles / 144);
    if (!s->identity) {
        int fits;
        width = gap_proxy_width(&s->W, count, 4, node);
        fits = pull_room(s, 0, width);
        if (!fits || !pull_room(s, fits, width)) return -2;
        if (fits < range) range = fits;
    }
    memset(&j, 0, sizeof j);
    j.s = s;
    j.friction = friction;
    j.psd = psd;
    j.gradient = g != NULL;
    for (i = 0; i < count; i += n) {
        const int *at = node + 4 * (size_t)i;
        const double *b = s->block;
        n = count - i < range ? count - i : range;
        j.first = i;
        pool_for(s->opt.threads, n, CHUNK, contact_range, &j);
        if (!s->identity) {
            gap_proxy_pull(&s->W, n, 4, at, g ? s->block : NULL, g ? NULL : s->block, width,
                s->pulled_node, g ? s->pulled : NULL, g ? NULL : s->pulled);
            at = s->pulled_node;
            b = s->pulled;
        }
        if (g) gap_sparse_add_vector(&s->A, n, width, at, 1.0, b, g);
        else gap_sparse_add(&s->A, n, width, at, 1.0, b);
    }
    return 0;
}

/* Announces the stencils of barrier and friction to the pattern. */
static int link_contacts(sim *s)
{
    int r, wa, wb, na = s->set.count, nb = s->lag.count, *list;
    if (s->identity) {
        r = gap_sparse_link(&s->A, na, 4, s->set.node);
        return r < 0 ? r : gap_sparse_link(&s->A, nb, 4, s->lag.node);
    }
    wa = na ? gap_proxy_width(&s->W, na, 4, s->set.node) : 4;
    wb = nb ? gap_proxy_width(&s->W, nb, 4, s->lag.node) : 4;
    list = malloc(((size_t)na * (size_t)wa + (size_t)nb * (size_t)wb + 1) * sizeof *list);
    if (!list) return -2;
    gap_proxy_pull(&s->W, na, 4, s->set.node, NULL, NULL, wa, list, NULL, NULL);
    gap_proxy_pull(&s->W, nb, 4, s->lag.node, NULL, NULL, wb, list + (size_t)na * (size_t)wa, NULL,
        NULL);
    r = gap_sparse_link(&s->A, na, wa, list);
    if (r >= 0) r = gap_sparse_link(&s->A, nb, wb, list + (size_t)na * (size_t)wa);
    if (r >= 0) r = gap_sparse_build(&s->A);
    free(list);
    return r;
}

/* ---------------------------------------------------------------- callbacks of Newton's method */
static double inertia_and_loads(const sim *s, const double *x, double *g)
{
    double e = 0.0;
    int i;
    for (i = 0; i < 3 * s->solids; ++i) {
        double m = s->mass_factor * s->mass[i / 3], d = x[i] - s->target[i];
        if (s->fixed[i / 3] >> (i % 3) & 1) continue;
        e += 0.5 * m * d * d - s->weight * s->force[i] * (x[i] - s->x0[i]);
        if (g) g[i] += m * d - s->weight * s->force[i];
    }
    if (s->al.on) for (i = 0; i < 3 * s->nodes; ++i) {
        double m = s->mass[i / 3], d = x[i] - s->script_at[i];
        if (!(s->script[i / 3] >> (i % 3) & 1)) continue;
        e += -s->al.lambda[i] * d + 0.5 * s->al.K * m * d * d;
        if (g) g[i] += -s->al.lambda[i] + s->al.K * m * d;
    }
    return e;
}

/* Stiffness-proportional damping 1/2 d^T C d, d = x - x0, C = 0.75 zeta h^2 K(x0) frozen over the
   step. Returns the energy and adds C d to g. */
static double damping(sim *s, const double *x, double *g)
{
    double *d = s->damp, *Cd = s->damp + 3 * (size_t)s->nodes, e = 0.0;
    int i;
    if (!(s->sc->damping > 0.0) || !s->fem.elements) return 0.0;
    for (i = 0; i < 3 * s->nodes; ++i) d[i] = x[i] - s->x0[i];
    if (gap_sparse_multiply(&s->C, d, Cd) < 0) return 0.0;
    for (i = 0; i < 3 * s->nodes; ++i) {
        e += 0.5 * d[i] * Cd[i];
        if (g) g[i] += Cd[i];
    }
    return e;
}

static double damping_scale(const sim *s)
{
    return 0.75 * s->sc->damping * s->h * s->h;
}

static int energy(void *user, const double *x, double *e)
{
    sim *s = user;
    double elastic = 0.0, t = now();
    int bad = s->fem.elements && elastic_energy(s, x, &elastic);
    if (!bad) bad = find_contacts(s, x) != GAP_BARRIER_OK;
    if (!bad) {
        *e = s->weight * elastic + inertia_and_loads(s, x, NULL) + damping(s, x, NULL) +
            gap_barrier_energy(&s->set, s->xs, 0, s->set.count) +
            gap_friction_energy(&s->lag, s->xs, s->xs_ref, 0, s->lag.count);
    }
    s->report->seconds[5] += now() - t;
    return bad;
}

static int gradient(void *user, const double *x, double *g)
{
    sim *s = user;
    double t = now();
    int i, r = find_contacts(s, x);
    if (r < 0) return r;
    memset(g, 0, 3 * (size_t)s->nodes * sizeof *g);
    inertia_and_loads(s, x, g);
    damping(s, x, g);
    if (s->fem.elements) add_elastic(s, &s->A, x, s->weight, 0, g);
    r = add_contacts(s, 0, 0, g);
    if (r >= 0) r = add_contacts(s, 1, 0, g);
    for (i = 0; i < 3 * s->nodes; ++i) if (s->fixed[i / 3] >> (i % 3) & 1) g[i] = 0.0;
    s->report->seconds[2] += now() - t;
    return r;
}

static int solve(void *user, const double *x, const double *g, int psd, double shift, double *p)
{
    sim *s = user;
    double t = now();
    int r, i, k;
    r = find_contacts(s, x);
    if (r >= 0) r = link_contacts(s);
    if (r >= 0 && s->identity) r = gap_sparse_build(&s->A);
    if (r < 0) return r;
    gap_sparse_add_mass(&s->A, s->mass_factor, s->mass);
    if (s->al.on) for (i = 0; i < s->nodes; ++i) for (k = 0; k < 3; ++k) {
        double *d = s->A.val + 9 * ((size_t)s->A.ptr[i + 1] - 1);
        if (s->script[i] >> k & 1) d[4 * k] += s->al.K * s->mass[i];
    }
    if (s->fem.elements) add_elastic(s, &s->A, x, s->weight, psd, NULL);
    if (s->fem.elements && s->sc->damping > 0.0) {
        add_elastic(s, &s->A, s->x0, damping_scale(s), 1, NULL);
    }
    r = add_contacts(s, 0, psd, NULL);
    if (r >= 0) r = add_contacts(s, 1, psd, NULL);
    if (r < 0) return r;
    gap_sparse_shift(&s->A, shift);
    for (i = 0; i < 3 * s->nodes; ++i) p[i] = -g[i];
    gap_sparse_fix(&s->A, s->fixed, p);
    s->report->seconds[2] += now() - t;
    t = now();
    r = gap_ldlt_analyze(&s->ldlt, s->nodes, 3, s->A.ptr, s->A.col, 3, s->rest);
    if (r >= 0) r = gap_ldlt_factor(&s->ldlt, s->A.val);
    if (r == GAP_LDLT_OK) r = gap_ldlt_solve(&s->ldlt, 1, p);
    s->report->seconds[3] += now() - t;
    return r < 0 && r != GAP_LDLT_ENONFIN ? r : r == GAP_LDLT_OK ? 0 : 1;
}

/* The safe part of a direction over the given pairs, by the CCD that was asked for. */
static int step_pairs(sim *s, const double *xs, const double *ps, double *alpha)
{
    if (s->opt.additive) {
        return gap_barrier_step_pairs(&s->set, &s->bm, xs, ps, &s->cand, gap_accd_pair,
            &s->accd_opt,
            alpha);
    }
    return gap_barrier_step_pairs(&s->set, &s->bm, xs, ps, &s->cand, gap_ccd_pair, &s->ccd_opt,
        alpha);
}

typedef struct valid_job {
    const gap_fem *fem;
    const double *x, *p;
    double most, *step; /* per chunk */
    int *status;
} valid_job;

static void valid_range(void *ctx, int begin, int end, int worker)
{
    valid_job *j = ctx;
    int c = begin / CHUNK;
    (void)worker;
    j->status[c] = gap_fem_step(j->fem, j->x, j->p, begin, end, j->most, &j->step[c]);
}

/* The part of a direction that keeps all elements valid: the least over chunks, each asked for the
   whole, so that the answer does not depend on the threads. */
static int step_valid(sim *s, const double *x, const double *p, double *alpha)
{
    int chunks = (s->fem.elements + CHUNK - 1) / CHUNK, i;
    double t = now();
    valid_job j;
    j.fem = &s->fem;
    j.x = x;
    j.p = p;
    j.most = *alpha;
    j.step = s->partial;
    j.status = (int *)(void *)(s->partial + chunks + 1);
    pool_for(s->opt.threads, s->fem.elements, CHUNK, valid_range, &j);
    s->report->seconds[6] += now() - t;
    for (i = 0; i < chunks; ++i) {
        if (j.status[i] != GAP_FEM_OK) return j.status[i] < 0 ? j.status[i] : -6;
        *alpha = fmin(*alpha, j.step[i]);
    }
    return 0;
}

/* Cheap bound first (active pairs, CFL-like for the rest); all swept pairs only where it is too
   short. The candidates found here serve every trial of the line search. */
static int bound(void *user, const double *x, const double *p, double *alpha)
{
    sim *s = user;
    double t, first = *alpha, *xs1 = s->work;
    int i, r = GAP_BARRIER_OK;
    if (s->fem.elements) {
        r = step_valid(s, x, p, &first);
        if (r < 0) return r;
    }
    if (!s->sc->contact) {
        *alpha = first;
        return 0;
    }
    r = find_contacts(s, x);
    if (r < 0) return r;
    to_surface(s, p, 1, s->ps);
    t = now();
    *alpha = first;
    if (s->opt.additive) {
        r = gap_barrier_step(&s->set, &s->bm, s->xs, s->ps, gap_accd_pair, &s->accd_opt, alpha,
            NULL);
    } else {
        r = gap_barrier_step(&s->set, &s->bm, s->xs, s->ps, gap_ccd_pair, &s->ccd_opt, alpha, NULL);
    }
    s->report->seconds[1] += now() - t;
    if (r < 0) return r;
    if (r == GAP_BARRIER_FULL_CCD) { /* sweep the whole direction */
        double cheap = *alpha;
        memcpy(s->xs_ref + 3 * (size_t)s->verts, s->xs, 3 * (size_t)s->verts * sizeof *s->xs);
        for (i = 0; i < 3 * s->verts; ++i) xs1[i] = s->xs[i] + first * s->ps[i];
        r = find_candidates(s, s->xs_ref + 3 * (size_t)s->verts, xs1);
        t = now();
        *alpha = first;
        if (r >= 0) r = step_pairs(s, s->xs_ref + 3 * (size_t)s->verts, s->ps, alpha);
        s->report->seconds[1] += now() - t;
        if (r < 0) return r;
        if (cheap > *alpha) *alpha = cheap;
    } else {
        memcpy(s->xs_ref + 3 * (size_t)s->verts, s->xs, 3 * (size_t)s->verts * sizeof *s->xs);
        for (i = 0; i < 3 * s->verts; ++i) xs1[i] = s->xs[i] + *alpha * s->ps[i];
        r = find_candidates(s, s->xs_ref + 3 * (size_t)s->verts, xs1);
    }
    return r < 0 ? r : 0;
}

/* Bits of vertices all of whose nodes are held: pairs of such are left out. */
static void hold_vertices(sim *s)
{
    int v, k;
    for (v = 0; v < s->verts; ++v) {
        if (s->identity) s->vfixed[v] = s->fixed[v];
        else {
            s->vfixed[v] = 7;
            for (k = s->W.ptr[v]; k < s->W.ptr[v + 1]; ++k) s->vfixed[v] &= s->fixed[s->W.node[k]];
        }
    }
}

/* Scripted nodes are held; or free where they move in this step. */
static void scripts_free(sim *s, int free_moving)
{
    int i;
    for (i = 0; i < s->nodes; ++i) s->fixed[i] = free_moving && s->moving[i] ? 0 : s->script[i];
    hold_vertices(s);
}

static double script_progress(const sim *s, const double *x)
{
    double left = 0.0, all = 0.0;
    int i;
    for (i = 0; i < 3 * s->nodes; ++i) {
        if (!(s->script[i / 3] >> (i % 3) & 1)) continue;
        left += (s->script_at[i] - x[i]) * (s->script_at[i] - x[i]);
        all += (s->script_at[i] - s->x0[i]) * (s->script_at[i] - s->x0[i]);
    }
    return all > 0.0 ? 1.0 - sqrt(left / all) : 1.0;
}

/* Pull harder: a larger penalty first, then multipliers. STUCK after many without progress. */
static int al_update(sim *s, const double *x)
{
    int i;
    ++s->al.updates;
    if (s->al.eta > s->al.best + 1e-3) {
        s->al.best = s->al.eta;
        s->al.idle = 0;
    } else if (++s->al.idle > AL_IDLE) return STUCK;
    if (s->al.eta < 0.99 && s->al.K < 1e8) s->al.K *= 2.0;
    else for (i = 0; i < 3 * s->nodes; ++i) {
        if (s->script[i / 3] >> (i % 3) & 1) {
            s->al.lambda[i] -= s->al.K * s->mass[i / 3] * (x[i] - s->script_at[i]);
        }
    }
    return 1;
}

static int accept(void *user, const double *x, const gap_newton_iteration *it)
{
    sim *s = user;
    int changed = 0, r = find_contacts(s, x);
    if (r < 0) return r;
    if (s->sc->kappa == 0.0 && s->sc->contact) {
        double kappa = gap_barrier_kappa_update(&s->set, &s->bm, s->xs, s->length, s->kmax);
        if (kappa < 0.0) return -2;
        changed = kappa != s->kappa;
        s->kappa = kappa;
    }
    if (!s->al.on) return changed;
    s->al.eta = script_progress(s, x);
    if (s->al.eta >= 0.999) { /* arrived: hold them there and go on without */
        s->al.on = 0;
        scripts_free(s, 0);
        s->set_valid = 0;
        to_surface(s, x, 0, s->xs_ref + 3 * (size_t)s->verts);
        r = find_candidates(s, s->xs_ref + 3 * (size_t)s->verts, NULL);
        return r < 0 ? r : 1;
    }
    return it->step < fmax(1e-2 * s->length, s->eps_d) ? al_update(s, x) : changed;
}

/* Where friction is to be exact, a step is small only if the slip of every sticking contact
   changes by less than a hundredth of eps_u. eps_d alone cannot know that: from rest the first
   steps of a contact about to slide are parts of eps_u, and a body that should slide would stay.
   A pull of 1 + r times the limit shows steps of at least sqrt(r) eps_u before it breaks loose, so
   the threshold is resolved to r = 1e-4. */
static int slip_settled(void *user, const double *x, const double *p)
{
    sim *s = user;
    int i, j, k;
    to_surface(s, x, 0, s->xs);
    to_surface(s, p, 1, s->ps);
    for (i = 0; i < s->lag.count; ++i) {
        const double *w = s->lag.weight + 4 * (size_t)i, *n = s->lag.normal + 3 * (size_t)i;
        double u[3] = {0, 0, 0}, d[3] = {0, 0, 0}, un, dn, eps = s->lag.eps_u;
        if (!(s->lag.limit[i] > 0.0)) continue;
        for (j = 0; j < 4; ++j) {
            int v = s->lag.node[4 * (size_t)i + (size_t)j];
            for (k = 0; v >= 0 && k < 3; ++k) {
                u[k] += w[j] * (s->xs[3 * v + k] - s->xs_ref[3 * v + k]);
                d[k] += w[j] * s->ps[3 * v + k];
            }
        }
        un = u[0] * n[0] + u[1] * n[1] + u[2] * n[2];
        dn = d[0] * n[0] + d[1] * n[1] + d[2] * n[2];
        for (k = 0; k < 3; ++k) {
            u[k] -= un * n[k];
            d[k] -= dn * n[k];
        }
        if (u[0] * u[0] + u[1] * u[1] + u[2] * u[2] < eps * eps &&
            d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > 1e-4 * eps * eps) return 0;
    }
    return 1;
}

static int cancelled(void *user)
{
    sim *s = user;
    return s->opt.cancel && s->opt.cancel(s->opt.cancel_user);
}

/* ---------------------------------------------------------------- one step */
/* Where scripted components are to be at time t. */
static void script_targets(sim *s, double t)
{
    const scene *sc = s->sc;
    int i, k, c, j;
    memcpy(s->script_at, s->x, 3 * (size_t)s->nodes * sizeof *s->x);
    for (i = s->solids; i < s->nodes; ++i) {
        const scene_body *b = &sc->body[s->nbody[i]];
        scene_move(b->motion, b->motions, t, s->rest + 3 * (size_t)i, s->script_at + 3 * (size_t)i);
    }
    for (i = 0; i < s->nodes; ++i) {
        const scene_body *b = &sc->body[s->nbody[i]];
        const double *X = s->rest + 3 * (size_t)i;
        if (!s->script[i]) continue;
        for (c = 0; c < sc->dirichlets; ++c) {
            const scene_condition *d = &sc->dirichlet[c];
            int chosen = 0;
            if (d->obstacle != b->obstacle) continue;
            for (j = 0; j < b->selects && !chosen; ++j) {
                chosen = b->select[j].id == d->id && scene_selected(&b->select[j], X);
            }
            for (k = 0; chosen && k < 3; ++k) {
                if (!d->component[k]) continue;
                s->script_at[3 * (size_t)i + (size_t)k] = X[k] + sc->scale *
                    expr_eval(d->value[k], X[0] / sc->scale, X[1] / sc->scale, X[2] / sc->scale, t);
            }
        }
    }
}

/* Tractions of the Neumann boundaries at time t, and, without inertia, the weight. */
static void loads(sim *s, double t)
{
    const scene *sc = s->sc;
    int f, k, j, c, per = s->fem.per_facet;
    double traction[3], centre[3];
    memset(s->force, 0, 3 * (size_t)s->nodes * sizeof *s->force);
    for (f = 0; f < s->fem.facets && sc->neumanns; ++f) {
        const int *node = s->fem.facet_node + (size_t)f * (size_t)per;
        const scene_body *b = &sc->body[s->nbody[node[0]]];
        for (k = 0; k < 3; ++k) {
            centre[k] = (s->rest[3 * node[0] + k] + s->rest[3 * node[1] + k] + s->rest[3 *
               node[2] + k]) / 3.0;
        }
        for (c = 0; c < sc->neumanns; ++c) {
            int chosen = 0;
            double *all;
            for (j = 0; j < b->selects && !chosen; ++j) {
                chosen = b->select[j].id == sc->neumann[c].id && scene_selected(&b->select[j],
                    centre);
            }
            if (!chosen) continue;
            for (k = 0; k < 3; ++k) {
                traction[k] = sc->scale * sc->scale * expr_eval(sc->neumann[c].value[k],
                    centre[0] / sc->scale, centre[1] / sc->scale, centre[2] / sc->scale, t);
            }
            all = s->block; /* the traction array counts from facet 0 */
            memcpy(all + 3 * (size_t)f, traction, sizeof traction);
            gap_fem_traction(&s->fem, all, f, f + 1, s->pulled);
            for (j = 0; j < per; ++j) for (k = 0; k < 3; ++k) {
                s->force[3 * node[j] + k] += s->pulled[3 * j + k];
            }
        }
    }
    for (k = 0; sc->quasistatic &&
        k < 3 * s->solids; ++k) s->force[k] += s->mass[k / 3] * sc->gravity[k % 3];
}

/* Move scripted nodes as far as is safe; the rest by an augmented Lagrangian. */
static int move_scripts(sim *s)
{
    double alpha = 1.0, *p = s->target;
    int i, any = 0, r = 0;
    memset(s->moving, 0, (size_t)s->nodes);
    for (i = 0; i < 3 * s->nodes; ++i) {
        int held = s->script[i / 3] >> (i % 3) & 1;
        p[i] = held ? s->script_at[i] - s->x[i] : 0.0;
        if (p[i] != 0.0) any = s->moving[i / 3] = 1;
    }
    memset(&s->al.on, 0, offsetof(al_state, lambda));
    s->al.eta = 1.0;
    scripts_free(s, 1); /* so that pairs of scripted primitives are seen too */
    to_surface(s, s->x, 0, s->xs_ref + 3 * (size_t)s->verts);
    r = find_candidates(s, s->xs_ref + 3 * (size_t)s->verts, NULL);
    if (r < 0 || !any) return r;
    r = bound(s, s->x, p, &alpha);
    if (r < 0) return r;
    for (i = 0; i < 3 * s->nodes; ++i) {
        if (p[i] != 0.0) s->x[i] = alpha >= 1.0 ? s->script_at[i] : s->x[i] + alpha * p[i];
    }
    if (alpha < 0.999) {
        s->al.on = s->al.updates = 1;
        s->al.K = 1e6;
        s->al.eta = s->al.best = alpha;
        memset(s->al.lambda, 0, 3 * (size_t)s->nodes * sizeof(double));
    } else scripts_free(s, 0);
    to_surface(s, s->x, 0, s->xs_ref + 3 * (size_t)s->verts);
    return find_candidates(s, s->xs_ref + 3 * (size_t)s->verts, NULL);
}

/* Stiffness that balances the other forces at the start of the step. */
static int start_kappa(sim *s)
{
    double range[2], *g = s->newton_work;
    size_t n = 3 * (size_t)s->nodes;
    int r, on = s->al.on, i, k;
    range[0] = s->kmin;
    range[1] = s->kmax;
    s->kappa = s->sc->kappa > 0.0 ? s->sc->kappa : s->kmin;
    r = find_contacts(s, s->x);
    if (r < 0 || s->set.count == 0 || s->sc->kappa > 0.0) return r;
    gap_barrier_set_kappa(&s->set, 1.0);
    memset(g, 0, 2 * n * sizeof *g);
    s->al.on = 0;
    inertia_and_loads(s, s->x, g);
    s->al.on = on;
    if (s->fem.elements) add_elastic(s, &s->A, s->x, s->weight, 0, g);
    r = add_contacts(s, 0, 0, g + n);
    for (i = 0; i < s->nodes; ++i) for (k = 0; k < 3; ++k) {
        s->free3[3 * i + k] = (unsigned char)((s->fixed[i] | s->script[i]) >> k & 1);
    }
    s->kappa = gap_barrier_kappa_start((int)n, g, g + n, s->free3, range);
    gap_barrier_set_kappa(&s->set, s->kappa);
    s->set.kappa = s->kappa;
    return r;
}

/* Contacts are sorted by kind and nodes. */
static int contact_order(int kind_a, const int *a, int kind_b, const int *b)
{
    int k;
    if (kind_a != kind_b) return kind_a < kind_b ? -1 : 1;
    for (k = 0; k < 4; ++k) if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

/* How far friction sticks out of the cones of today's normal forces; a contact that is gone presses
   no more. One walk along both sorted lists; of contacts with the same nodes (two planes) the one
   whose normal is nearest counts. */
static double cone(sim *s)
{
    const gap_barrier_set *c = &s->set;
    double *now_at;
    int i, j, at = 0, n = s->lag.count;
    if (n == 0) return 0.0;
    now_at = s->mu + s->mu_room;
    for (i = 0; i < n; ++i) {
        const int *node = s->lag.node + 4 * (size_t)i;
        const double *a = s->lag.normal + 3 * (size_t)i;
        double best = -2.0;
        now_at[i] = 0.0;
        while (at < c->count && contact_order(c->kind[at], c->node + 4 * (size_t)at,
            s->lag_kind[i], node) < 0) ++at;
        for (j = at; j < c->count && contact_order(c->kind[j], c->node + 4 * (size_t)j,
            s->lag_kind[i], node) == 0; ++j) {
            const double *b = c->normal + 3 * (size_t)j;
            double along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            if (along > best) now_at[i] = s->mu[i] * c->force[j];
            best = fmax(best, along);
        }
    }
    return gap_friction_cone(&s->lag, s->xs, s->xs_ref, 0, n, now_at, NULL);
}

static void fill_report(sim *s, sim_report *r, const gap_newton_result *result)
{
    const double *g = s->sc->gravity;
    double f = 1.0 / s->weight, e = 0.0, *grad = s->newton_work, least = HUGE_VAL, centre[3];
    int i, k;
    r->contacts = s->set.count;
    if (s->set.count > s->most_contacts) s->most_contacts = s->set.count;
    r->min_distance = gap_barrier_min_gap(&s->set);
    r->min_force = s->set.count ? HUGE_VAL : 0.0;
    for (i = 0; i < s->set.count; ++i) {
        double d = sqrt(s->set.dist2[i]), xi = s->set.offset[i];
        r->max_active = fmax(r->max_active, (s->set.dist2[i] - xi * xi) / (d + xi));
        r->min_force = fmin(r->min_force, f * s->set.force[i]);
    }
    r->kappa = s->kappa;
    for (i = 0; i < s->solids; ++i) {
        const double *v = s->S.v + 3 * (size_t)i, *x = s->x + 3 * (size_t)i;
        double m = s->mass[i];
        for (k = 0; k < 3; ++k) {
            r->kinetic += 0.5 * m * v[k] * v[k];
            r->external -= (s->sc->quasistatic ? 0.0 :
                m * g[k]) * x[k] + s->force[3 * i + k] * x[k];
            r->momentum[k] += m * v[k];
            r->angular[k] += m * (x[(k + 1) % 3] * v[(k + 2) % 3] - x[(k + 2) % 3] * v[(k + 1) %
               3]);
        }
    }
    if (s->fem.elements) elastic_energy(s, s->x, &e);
    r->elastic = e;
    r->barrier = f * gap_barrier_energy(&s->set, s->xs, 0, s->set.count);
    r->friction = f * gap_friction_energy(&s->lag, s->xs, s->xs_ref, 0, s->lag.count);
    r->cone_residual = f * cone(s);
    if (gradient(s, s->x, grad) >= 0) {
        for (i = 0; i < 3 * s->nodes; ++i) r->momentum_residual = fmax(r->momentum_residual,
            fabs(grad[i]));
        r->momentum_residual *= f;
    }
    centre[0] = centre[1] = centre[2] = 0.25;
    for (i = 0; i < s->fem.elements; i += 1024) {
        int n = s->fem.elements - i < 1024 ? s->fem.elements - i : 1024;
        gap_fem_probe(&s->fem, s->x, i, i + n, 1, centre, NULL, NULL, s->block, NULL);
        for (k = 0; k < n; ++k) least = fmin(least, s->block[k]);
    }
    r->min_det = least;
    memset(s->vforce, 0, 3 * (size_t)s->verts * sizeof *s->vforce);
    gap_barrier_node_force(&s->set, s->xs, s->vforce);
    gap_friction_node_force(&s->lag, s->xs, s->xs_ref, s->vforce);
    for (i = 0; i < 3 * s->verts; ++i) s->vforce[i] *= f;
    s->have_forces = 1;
    memset(s->body_force, 0, 3 * (size_t)s->sc->bodies * sizeof *s->body_force);
    for (i = 0; i < 3 * s->verts; ++i) {
        s->body_force[3 * s->vbody[i / 3] + i % 3] += s->vforce[i];
    }
    r->newton = result->iterations;
    r->halvings = result->halvings;
    r->progress = s->al.eta;
    r->converged = 1;
}

/* Why it ended without an answer, and what may help. */
static void explain(sim *s, int status, const gap_newton_result *last)
{
    double f = s->sc->scale;
    if (s->al.on) {
        snprintf(s->why, sizeof s->why, "scripted parts came only %.3g of their way: something that"
            " cannot give stands in it; let them move less, or slower", s->al.eta);
    } else if (status == GAP_NEWTON_STALLED) {
        snprintf(s->why, sizeof s->why, "no smaller energy was found, Newton's step is %.3g m/s and"
            " has to be below %.3g: rounding; a larger x_delta, a larger dhat or a smaller"
            " stiffness may help", last->step / f, s->eps_d / f);
    } else {
        snprintf(s->why, sizeof s->why, "after %d iterations (max_iterations) Newton's step is %.3g"
            " m/s and has to be below %.3g; a smaller dt, more iterations, a larger x_delta or a"
            " larger dhat may help", last->iterations, last->step / f, s->eps_d / f);
    }
}

/* The minimisation with its friction passes; leaves the solution in s->x. */
static int minimise(sim *s, sim_report *r, gap_newton_result *total)
{
    gap_newton_problem f;
    gap_newton_options o;
    gap_newton_result one;
    int status = 0, pass, most = s->sc->lags < 0 ? 100 : s->sc->lags;
    memset(&f, 0, sizeof f);
    memset(&o, 0, sizeof o);
    memset(total, 0, sizeof *total);
    f.user = s;
    f.energy = energy;
    f.gradient = gradient;
    f.solve = solve;
    f.bound = bound;
    f.accept = accept;
    f.cancel = cancelled;
    o.h = s->h;
    o.tol = s->eps_d;
    o.max_iter = s->sc->max_iterations;
    if (s->sc->lags < 0) o.small_enough = slip_settled;
    if (most < 1) most = 1;
    memset(&one, 0, sizeof one);
    for (pass = 0; pass < most;) {
        status = find_contacts(s, s->x);
        if (status >= 0) status = freeze_friction(s);
        if (status < 0) return status;
        o.min_iter = pass ? -1 : 1; /* a later pass may find nothing to do:
            then the lag has converged */
        status = gap_newton_minimize(&f, &o, 3 * s->nodes, s->x, s->newton_work, &one);
        total->iterations += one.iterations;
        total->halvings += one.halvings;
        if (status == GAP_NEWTON_CONVERGED && s->al.on) { /* at rest, but not where it has to be */
            status = al_update(s, s->x);
            if (status == 1) continue;
        }
        if (status != GAP_NEWTON_CONVERGED) break;
        r->lag = ++pass;
        if (pass > 1 && one.iterations == 0) break;
        if (s->lag.count == 0) { /* none at the start; some may have come during the step */
            status = find_contacts(s, s->x);
            if (status < 0) return status;
            if (s->set.count == 0 || !has_friction(s->sc)) break;
        }
    }
    r->al = s->al.updates;
    if (status == GAP_NEWTON_STALLED && !s->al.on && one.step < 10.0 * s->eps_d) return 0;
    if (status == 0) return 0; /* above: at rounding */
    explain(s, status, &one);
    return status == STUCK || status > 0 ? 1 : status;
}

static int try_step(sim *s, double h, sim_report *r)
{
    size_t n = 3 * (size_t)s->nodes;
    gap_newton_result total;
    gap_barrier_options bo;
    gap_ldlt_options lo;
    double t = now(), *xref = s->xref;
    int status, i;

    memset(r, 0, sizeof *r);
    s->report = r;
    s->h = h;
    memcpy(s->x0, s->x, n * sizeof *s->x);
    /* every step starts from nothing but its state, so that a resumed run has the same bits */
    bo = s->set.opt;
    gap_barrier_free(&s->set);
    gap_barrier_init(&s->set, &bo);
    if (s->sc->convergent) gap_barrier_prepare(&s->set, &s->bm);
    lo = s->ldlt.opt;
    gap_ldlt_free(&s->ldlt);
    gap_ldlt_init(&s->ldlt, &lo);
    s->set_valid = 0;
    s->kappa = s->kmin;
    gap_friction_freeze(&s->lag, 3, 0, s->verts, NULL, NULL, NULL, NULL, NULL, 0.0, NULL, 1.0);
    if (s->sc->damping > 0.0 && s->fem.elements) {
        gap_sparse_zero(&s->C);
        add_elastic(s, &s->C, s->x0, damping_scale(s), 1, NULL);
    }
    loads(s, s->time + h);
    script_targets(s, s->time + h);
    status = move_scripts(s);
    if (status >= 0) status = gap_step_begin(&s->S, h, s->accel, s->target);
    s->weight = s->S.weight;
    if (status >= 0) {
        gap_step_velocity(&s->S, s->x0, xref); /* slip is measured from where it would be at rest */
        for (i = 0; i < (int)n; ++i) xref[i] = s->x0[i] - xref[i] / s->S.dvdx;
        to_surface(s, xref, 0, s->xs_ref);
        status = start_kappa(s);
    }
    if (status >= 0) status = minimise(s, r, &total);
    if (status == 0) {
        status = find_contacts(s, s->x);
        if (status >= 0) status = gap_step_end(&s->S, s->x);
    }
    if (status != 0) {
        memcpy(s->x, s->x0, n * sizeof *s->x);
        s->set_valid = 0;
        r->seconds[4] = now() - t;
        s->report = NULL;
        return status;
    }
    s->time += h;
    ++s->steps;
    fill_report(s, r, &total);
    r->seconds[4] = now() - t;
    s->report = NULL;
    return 0;
}

int sim_step(sim *s, double h, sim_report *r)
{
    sim_report first;
    unsigned char *before;
    double kappa = s->kappa;
    int status = try_step(s, h, r), k;
    if (status != 0) s->kappa = kappa;
    if (status != 1) return status;
    before = malloc(sim_state_size(s));
    if (!before) return -2;
    sim_save(s, before);
    status = try_step(s, 0.5 * h, &first);
    if (status == 0) status = try_step(s, 0.5 * h, r);
    if (status == 0) {
        --s->steps; /* two halves are one step */
        r->newton += first.newton;
        r->lag += first.lag;
        r->halves = 1;
        r->al += first.al;
        for (k = 0; k < SIM_PHASES; ++k) r->seconds[k] += first.seconds[k];
    } else if (!sim_load(s, before, sim_state_size(s))) status = -2;
    free(before);
    return status;
}

/* ---------------------------------------------------------------- opening */
static void *room(sim *s, int *ok, size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    (void)s;
    if (!p) *ok = 0;
    return p;
}

static scene_material material_of(const scene *sc, int id)
{
    scene_material standard = {-1, 0, 1e5, 0.4, 1000.0};
    int i;
    for (i = 0; i < sc->materials; ++i) {
        if (sc->material[i].id == id || sc->material[i].id == -1) return sc->material[i];
    }
    standard.E *= sc->scale * sc->scale;
    return standard;
}

/* All solids as one mesh of elements. */
static int open_solids(sim *s, char *error, size_t size)
{
    const scene *sc = s->sc;
    mesh all;
    gap_fem_options fo;
    int b, i, k, r, laws = 0, at = 0, order = 0, *owner;
    memset(&all, 0, sizeof all);
    memset(&fo, 0, sizeof fo);
    for (b = 0; b < sc->bodies; ++b) {
        const scene_body *body = &sc->body[b];
        if (body->obstacle) continue;
        if (order && order != body->m.order) {
            snprintf(error, size, "%d: solids of geometry order %d and %d", body->line, order,
                body->m.order);
            mesh_free(&all);
            return 0;
        }
        order = body->m.order;
        if (mesh_append(&all, &body->m) < 0) {
            snprintf(error, size, "out of memory");
            mesh_free(&all);
            return 0;
        }
        laws |= material_of(sc, body->id).law;
    }
    if (all.tets == 0) return 1;
    if (laws) fo.material = any_material;
    gap_fem_orient(3, order, all.x, all.tets, all.tet);
    r = gap_fem_init(&s->fem, 3, sc->order, order, all.nodes, all.x, all.tets, all.tet, &fo);
    if (r < 0) {
        const char *why = r == GAP_FEM_EREST ? "is inverted or flat at rest" : "cannot be used";
        snprintf(error, size, "1: element %d %s (error %d)", s->fem.bad, why, r);
        mesh_free(&all);
        return 0;
    }
    owner = malloc(((size_t)s->fem.elements + 1) * sizeof *owner);
    s->nbody = malloc(((size_t)s->fem.nodes + 1) * sizeof *s->nbody);
    if (!owner || !s->nbody) {
        free(owner);
        mesh_free(&all);
        snprintf(error, size, "out of memory");
        return 0;
    }
    for (b = 0; b < sc->bodies; ++b) {
        scene_material m = material_of(sc, sc->body[b].id);
        if (sc->body[b].obstacle) continue;
        for (i = 0; i < sc->body[b].m.tets; ++i, ++at) {
            double *par = s->fem.par + 4 * (size_t)at;
            owner[at] = b;
            gap_elastic_lame(m.E, m.nu, 0, &par[0], &par[1]);
            par[2] = m.law;
            s->fem.density[at] = m.rho;
            for (k = 0; k < s->fem.per_element; ++k) {
                s->nbody[s->fem.node[(size_t)at * (size_t)s->fem.per_element + (size_t)k]] = b;
            }
        }
    }
    r = gap_proxy_init(&s->proxy, 3, s->fem.elements, sc->order, s->fem.nodes, s->fem.rest,
        s->fem.node, order, all.x, all.tet, NULL);
    if (sc->segments && r >= 0) {
        gap_proxy_options po;
        memset(&po, 0, sizeof po);
        po.segments = sc->segments;
        gap_proxy_free(&s->proxy);
        r = gap_proxy_init(&s->proxy, 3, s->fem.elements, sc->order, s->fem.nodes, s->fem.rest,
            s->fem.node, order, all.x, all.tet, &po);
    }
    free(owner);
    mesh_free(&all);
    s->solids = s->fem.nodes;
    if (r < 0) snprintf(error, size, "1: no collision surface (error %d)", r);
    return r >= 0;
}

int sim_body_still(const sim *s, int body)
{
    const scene_body *b = &s->sc->body[body];
    int c, j;
    if (!b->obstacle || b->motions) return 0;
    for (c = 0; c < s->sc->dirichlets; ++c) for (j = 0; j < b->selects; ++j) {
        if (s->sc->dirichlet[c].obstacle && s->sc->dirichlet[c].id == b->select[j].id) return 0;
    }
    return 1;
}

/* Nodes, vertices and primitives of everything; obstacles behind the solids. */
static int open_arrays(sim *s, char *error, size_t size)
{
    const scene *sc = s->sc;
    int ok = 1, b, i, k, base, extra = 0, tris = s->proxy.triangles, segs = 0, pts = 0, n, v, sv;
    for (b = 0; b < sc->bodies; ++b) {
        const mesh *m = &sc->body[b].m;
        if (!sc->body[b].obstacle) continue;
        if (m->order > 1) {
            snprintf(error, size, "%d: obstacle %s: only order 1 is used for obstacles",
                sc->body[b].line, sc->body[b].name);
            return 0;
        }
        extra += m->nodes;
        tris += m->tets ? 4 * m->tets : m->tris;
        segs += m->edges;
        pts += m->points;
    }
    sv = s->proxy.vertices;
    s->identity = s->solids == 0 || s->proxy.identity;
    if (s->solids == 0) sv = 0;
    s->nodes = n = s->solids + extra;
    s->verts = v = sv + extra;
    s->nbody = realloc(s->nbody, ((size_t)n + 1) * sizeof *s->nbody);
    s->rest = room(s, &ok, 3 * (size_t)n, sizeof(double));
    s->vrest = room(s, &ok, 3 * (size_t)v, sizeof(double));
    s->vradius = room(s, &ok, (size_t)v, sizeof(double));
    s->vbody = room(s, &ok, (size_t)v, sizeof(int));
    s->vgroup = room(s, &ok, (size_t)v, sizeof(int));
    s->vfixed = room(s, &ok, (size_t)v, 1);
    s->fixed = room(s, &ok, (size_t)n, 1);
    s->script = room(s, &ok, (size_t)n, 1);
    s->moving = room(s, &ok, (size_t)n, 1);
    s->body_force = room(s, &ok, 3 * (size_t)sc->bodies, sizeof(double));
    s->free3 = room(s, &ok, 3 * (size_t)n, 1);
    s->tri = room(s, &ok, 3 * (size_t)tris, sizeof(int));
    s->point = room(s, &ok, (size_t)pts, sizeof(int));
    s->edge = room(s, &ok, 2 * (size_t)segs, sizeof(int));
    if (!ok || !s->nbody) {
        snprintf(error, size, "out of memory");
        return 0;
    }
    if (s->solids) {
        memcpy(s->rest, s->fem.rest, 3 * (size_t)s->solids * sizeof(double));
        memcpy(s->vrest, s->proxy.rest, 3 * (size_t)sv * sizeof(double));
        memcpy(s->tri, s->proxy.tri, 3 * (size_t)s->proxy.triangles * sizeof(int));
        s->tris = s->proxy.triangles;
        for (i = 0; i < sv; ++i) {
            s->vbody[i] = s->nbody[s->identity ? i : s->proxy.node[s->proxy.ptr[i]]];
            s->vradius[i] = sc->body[s->vbody[i]].radius;
        }
    }
    for (b = 0, base = sv; b < sc->bodies; ++b) {
        const mesh *m = &sc->body[b].m;
        int *own = NULL, count;
        if (!sc->body[b].obstacle) continue;
        count = m->tets ? mesh_surface(m, &own) : m->tris;
        if (count < 0) return 0;
        for (i = 0; i < m->nodes; ++i) {
            int node = s->solids + base - sv + i;
            s->nbody[node] = s->vbody[base + i] = b;
            s->vgroup[base + i] = sim_body_still(s, b) ? -1 : -2 - b; /* still ones may overlap */
            s->vradius[base + i] = sc->body[b].radius;
            s->script[node] = 7;
            for (k = 0; k < 3; ++k) {
                s->rest[3 * node + k] = s->vrest[3 * (base + i) + k] = m->x[3 * i + k];
            }
        }
        for (i = 0; i < 3 * count; ++i) s->tri[3 * s->tris + i] = base + (m->tets ? own :
            m->tri)[i];
        for (i = 0; i < 2 * m->edges; ++i) s->edge[2 * s->edges + i] = base + m->edge[i];
        for (i = 0; i < m->points; ++i) s->point[s->points + i] = base + m->point[i];
        s->tris += count;
        s->edges += m->edges;
        s->points += m->points;
        base += m->nodes;
        free(own);
    }
    {
        int *all, count = mesh_unique_edges(s->tri, s->tris, s->edge, s->edges, &all);
        if (count < 0) return 0;
        free(s->edge);
        s->edge = all;
        s->edges = count;
    }
    return 1;
}

/* The map from nodes to vertices with the obstacles' own rows behind it. */
static int open_map(sim *s)
{
    int sv = s->proxy.vertices, i, nnz = s->identity ? 0 : s->proxy.ptr[sv], ok = 1,
        extra = s->verts - sv;
    if (s->identity) return 1;
    s->W = s->proxy;
    s->W_ptr = room(s, &ok, (size_t)s->verts + 1, sizeof(int));
    s->W_node = room(s, &ok, (size_t)(nnz + extra), sizeof(int));
    s->W_weight = room(s, &ok, (size_t)(nnz + extra), sizeof(double));
    if (!ok) return 0;
    memcpy(s->W_ptr, s->proxy.ptr, ((size_t)sv + 1) * sizeof(int));
    memcpy(s->W_node, s->proxy.node, (size_t)nnz * sizeof(int));
    memcpy(s->W_weight, s->proxy.weight, (size_t)nnz * sizeof(double));
    for (i = 0; i < extra; ++i) {
        s->W_ptr[sv + i + 1] = nnz + i + 1;
        s->W_node[nnz + i] = s->solids + i;
        s->W_weight[nnz + i] = 1.0;
    }
    if (s->proxy.offset) {
        s->W_offset = room(s, &ok, 3 * (size_t)s->verts, sizeof(double));
        if (!ok) return 0;
        memcpy(s->W_offset, s->proxy.offset, 3 * (size_t)sv * sizeof(double));
    }
    s->W.ptr = s->W_ptr;
    s->W.node = s->W_node;
    s->W.weight = s->W_weight;
    s->W.offset = s->W_offset;
    s->W.vertices = s->verts;
    s->W.nodes = s->nodes;
    return 1;
}

/* Numbers with which arithmetic neither overflows nor drowns. */
static int in_range(const sim *s, char *error, size_t size)
{
    double l = s->length, m = s->mean_mass;
    if (!(l >= 1e-60 && l <= 1e60)) {
        snprintf(error, size, "1: the size of all bodies, l = %g m, is out of range", l);
    } else if (!(s->dhat >= 1e-12 * l && s->dhat <= 10.0 * l)) {
        snprintf(error, size, "1: contact.dhat = %g m must lie between 1e-12 and 10 times the size"
            " of all bodies, %g m", s->dhat, l);
    } else if (!(s->eps_v >= 1e-20 * l && s->eps_v <= 1e20 * l) ||
        !(s->eps_d >= 1e-20 * l && s->eps_d <= 1e20 * l)) {
        snprintf(error, size, "1: epsv = %g m/s or x_delta = %g m/s is out of range", s->eps_v,
            s->eps_d);
    } else if (!(m >= 1e-150 && m <= 1e150)) {
        snprintf(error, size, "1: the mean mass of a node, %g kg, is out of range", m);
    } else return 1;
    return 0;
}

/* Which components are prescribed, masses, lengths. */
static int open_physics(sim *s, char *error, size_t size)
{
    const scene *sc = s->sc;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    double *sum, bounds[2], xi = 0.0;
    int i, k, c, j, *count, f;
    if (s->solids) gap_fem_mass_lumped(&s->fem, s->mass);
    for (i = 0; i < s->solids; ++i) s->mean_mass += s->mass[i] / s->solids;
    if (!(s->mean_mass > 0.0)) s->mean_mass = 1.0;
    for (i = 0; i < 3 * (s->solids ? s->solids : s->nodes); ++i) {
        low[i % 3] = fmin(low[i % 3], s->rest[i]);
        high[i % 3] = fmax(high[i % 3], s->rest[i]);
    }
    for (k = 0; k < 3; ++k) s->length += (high[k] - low[k]) * (high[k] - low[k]);
    s->length = sqrt(s->length);
    /* obstacle nodes: half a ball whose diameter is the mean incident edge; used by the AL only */
    sum = calloc((size_t)s->verts + 1, sizeof *sum);
    count = calloc((size_t)s->verts + 1, sizeof *count);
    if (!sum || !count) {
        free(sum);
        free(count);
        return 0;
    }
    for (i = 0; i < s->edges; ++i) {
        const double *a = s->vrest + 3 * (size_t)s->edge[2 * i],
            *b = s->vrest + 3 * (size_t)s->edge[2 * i + 1];
        double d = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
        for (k = 0; k < 2; ++k) {
            sum[s->edge[2 * i + k]] += d;
            ++count[s->edge[2 * i + k]];
        }
    }
    for (i = s->solids; i < s->nodes; ++i) {
        int v = s->verts - (s->nodes - i);
        double d = count[v] ? sum[v] / count[v] : 0.0;
        s->mass[i] = d > 0.0 ? 1000.0 * 3.14159265358979 / 12.0 * d * d * d : s->mean_mass;
    }
    free(sum);
    free(count);
    for (f = 0; f < s->fem.facets * s->fem.per_facet; ++f) {
        int node = s->fem.facet_node[f];
        const scene_body *b = &sc->body[s->nbody[node]];
        for (c = 0; c < sc->dirichlets; ++c) {
            if (sc->dirichlet[c].obstacle) continue;
            for (j = 0; j < b->selects; ++j) {
                if (b->select[j].id != sc->dirichlet[c].id) continue;
                if (!scene_selected(&b->select[j], s->rest + 3 * (size_t)node)) continue;
                for (k = 0; k < 3; ++k) {
                    if (sc->dirichlet[c].component[k]) s->script[node] |= (unsigned char)(1 << k);
                }
            }
        }
    }
    s->dhat = sc->dhat > 0.0 ? sc->dhat : sc->dhat_relative * s->length;
    s->eps_v = sc->eps_v > 0.0 ? sc->eps_v : sc->eps_v_relative * s->length;
    s->eps_d = sc->eps_d > 0.0 ? sc->eps_d : sc->eps_d_relative * s->length;
    for (i = 0; i < s->verts; ++i) xi = fmax(xi, 2.0 * s->vradius[i]);
    if (!in_range(s, error, size)) return 0;
    gap_barrier_kappa_bounds(&s->set.opt, s->length, s->mean_mass, s->dhat, xi, 0.0, bounds);
    s->kmin = bounds[0];
    s->kmax = bounds[1];
    if (!(s->kmin > 0.0 && s->kmax < 1e300)) {
        snprintf(error, size, "1: masses or lengths are out of range: barrier stiffness %g to %g",
            s->kmin, s->kmax);
        return 0;
    }
    s->kappa = s->sc->kappa > 0.0 ? s->sc->kappa : s->kmin;
    s->mass_factor = sc->quasistatic ? 0.0 : 1.0;
    return 1;
}

static int open_solver(sim *s, char *error, size_t size)
{
    gap_sparse_options so;
    gap_broad_options bo;
    gap_barrier_options ko;
    gap_ldlt_options lo;
    gap_broad_mesh gm;
    int ok = 1, r, i, w = pool_workers(s->opt.threads);
    size_t n = (size_t)s->nodes, v = (size_t)s->verts, chunks;
    pool *p = s->opt.threads;
    memset(&so, 0, sizeof so);
    memset(&bo, 0, sizeof bo);
    memset(&ko, 0, sizeof ko);
    memset(&lo, 0, sizeof lo);
    memset(&gm, 0, sizeof gm);
    if (p && w > 1) {
        so.parallel_for = bo.parallel_for = ko.parallel_for = lo.parallel_for = pool_for;
        so.parallel_user = bo.parallel_user = ko.parallel_user = lo.parallel_user = p;
        so.workers = bo.workers = ko.workers = lo.workers = w;
    }
    if (s->sc->convergent) ko.flags = GAP_BARRIER_AREA | GAP_BARRIER_MAX | GAP_BARRIER_PHYSICAL;
    gap_barrier_init(&s->set, &ko);
    gap_broad_init(&s->broad, &bo);
    gap_ldlt_init(&s->ldlt, &lo);
    gap_friction_init(&s->lag, NULL);
    r = gap_sparse_init(&s->A, s->nodes, 3, &so);
    if (r >= 0) r = gap_sparse_init(&s->C, s->nodes, 3, &so);
    if (r >= 0 && s->fem.elements) {
        r = gap_sparse_link(&s->A, s->fem.elements, s->fem.per_element, s->fem.node);
        if (r >= 0) r = gap_sparse_build(&s->A);
        if (r >= 0) r = gap_sparse_keep(&s->A);
        if (r >= 0 && s->sc->damping > 0.0) {
            r = gap_sparse_link(&s->C, s->fem.elements, s->fem.per_element, s->fem.node);
            if (r >= 0) r = gap_sparse_build(&s->C);
        }
    }
    chunks = (size_t)s->fem.elements / CHUNK + 2;
    s->mass = room(s, &ok, n, sizeof(double));
    s->x = room(s, &ok, 3 * n, sizeof(double));
    s->x0 = room(s, &ok, 3 * n, sizeof(double));
    s->xref = room(s, &ok, 3 * n, sizeof(double));
    s->target = room(s, &ok, 3 * n, sizeof(double));
    s->force = room(s, &ok, 3 * n, sizeof(double));
    s->accel = room(s, &ok, 3 * n, sizeof(double));
    s->damp = room(s, &ok, 6 * n, sizeof(double));
    s->script_at = room(s, &ok, 3 * n, sizeof(double));
    s->al.lambda = room(s, &ok, 3 * n, sizeof(double));
    s->xs = room(s, &ok, 3 * v, sizeof(double));
    s->xs_at = room(s, &ok, 3 * v, sizeof(double));
    s->xs_ref = room(s, &ok, 6 * v, sizeof(double));
    s->ps = room(s, &ok, 3 * v, sizeof(double));
    s->work = room(s, &ok, 3 * v, sizeof(double));
    s->vforce = room(s, &ok, 3 * v, sizeof(double));
    s->block_doubles = 9 * (size_t)s->fem.per_element * (size_t)s->fem.per_element *
        (size_t)s->fem.elements;
    if (s->block_doubles > BLOCK_DOUBLES) s->block_doubles = BLOCK_DOUBLES;
    if (s->block_doubles < BLOCK_LEAST) s->block_doubles = BLOCK_LEAST;
    s->block = room(s, &ok, s->block_doubles + 3 * (size_t)s->fem.facets, sizeof(double));
    s->partial = room(s, &ok, 2 * chunks + 4, sizeof(double));
    s->newton_work = room(s, &ok, gap_newton_work_size(3 * s->nodes) / sizeof(double) + 6 * n + 8,
        sizeof(double));
    s->step_opt.method = (gap_step_method)s->sc->method;
    s->step_opt.beta = s->sc->beta;
    s->step_opt.gamma = s->sc->gamma;
    s->state = room(s, &ok, gap_step_work_size(&s->step_opt, 3 * s->nodes) / sizeof(double) + 1,
        sizeof(double));
    s->plane_pair = room(s, &ok, 2 * v * (size_t)(s->sc->planes + 1), sizeof(int));
    s->pulled = room(s, &ok, 4096, sizeof(double));
    s->pulled_doubles = 4096;
    if (!ok || r < 0) {
        snprintf(error, size, "out of memory");
        return 0;
    }
    gm.dim = s->bm.dim = 3;
    gm.nodes = s->bm.nodes = s->verts;
    gm.edges = s->bm.edges = s->edges;
    gm.edge = s->bm.edge = s->edge;
    gm.tris = s->bm.tris = s->tris;
    gm.tri = s->bm.tri = s->tri;
    gm.points = s->points;
    gm.point = s->point;
    gm.fixed = s->bm.fixed = s->vfixed;
    gm.radius = s->bm.radius = s->vradius;
    gm.group = s->vgroup;
    s->bm.planes = s->sc->planes;
    s->bm.plane = s->sc->plane;
    s->bm.rest = s->vrest;
    r = gap_broad_set_mesh(&s->broad, &gm);
    if (r < 0) {
        snprintf(error, size, "1: collision surface refused (error %d)", r);
        return 0;
    }
    for (i = 0; i < s->sc->planes; ++i) {
        char *used = calloc((size_t)s->verts + 1, 1);
        int j, at = s->solids ? s->proxy.vertices : 0;
        if (!used) return 0;
        for (j = 0; j < 3 * s->tris; ++j) used[s->tri[j]] = 1;
        (void)at;
        for (j = 0; j < s->verts; ++j) {
            if (!used[j] || s->sc->body[s->vbody[j]].obstacle) continue;
            s->plane_pair[2 * s->plane_pairs] = j;
            s->plane_pair[2 * s->plane_pairs++ + 1] = i;
        }
        free(used);
    }
    return 1;
}

static int by_node(const void *a, const void *b)
{
    const int *p = a, *q = b;
    if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
    return p[1] < q[1] ? -1 : p[1] > q[1];
}

/* Is the vertex of this pair not in front of its plane? */
static int behind(const sim *s, int pair)
{
    const double *x = s->xs + 3 * (size_t)s->plane_pair[2 * pair];
    const double *q = s->sc->plane + 6 * (size_t)s->plane_pair[2 * pair + 1];
    return !((x[0] - q[0]) * q[3] + (x[1] - q[1]) * q[4] + (x[2] - q[2]) * q[5] > 0.0);
}

/* ---- a start that is not free: who, where ---- */
typedef struct part { /* a primitive: 0 vertex, 1 edge, 2 triangle, 3 plane */
    int dim, index;
} part;

static int part_nodes(const sim *s, part p, const int **node)
{
    *node = p.dim == 2 ? s->tri + 3 * (size_t)p.index : s->edge + 2 * (size_t)p.index;
    if (p.dim == 0) *node = NULL;
    return p.dim == 3 ? 0 : p.dim + 1;
}

static const scene_body *part_body(const sim *s, part p)
{
    const int *node;
    if (p.dim == 3) return NULL;
    part_nodes(s, p, &node);
    return &s->sc->body[s->vbody[node ? node[0] : p.index]];
}

static size_t part_text(const sim *s, part p, char *out, size_t size)
{
    static const char *const names[] = {"vertex", "edge", "face", "plane"};
    const int *node;
    int n = part_nodes(s, p, &node), i;
    size_t at = (size_t)snprintf(out, size, "%s %d", names[p.dim], p.index);
    for (i = 0; i < n && at < size; ++i) {
        const double *x = s->xs + 3 * (size_t)(node ? node[i] : p.index);
        at += (size_t)snprintf(out + at, size - at, " (%.9g, %.9g, %.9g)", x[0], x[1], x[2]);
    }
    if (p.dim < 3 && at < size) {
        at += (size_t)snprintf(out + at, size - at, " of %s", part_body(s, p)->name);
    }
    return at;
}

static int add_part(const sim *s, part p, mesh *m)
{
    const int *node;
    int n = part_nodes(s, p, &node), i, at = mesh_add_nodes(m, n), e;
    if (n == 0) return 1;
    if (at < 0) return 0;
    e = n == 1 ? mesh_add_points(m, 1) : n == 2 ? mesh_add_edges(m, 1) : mesh_add_tris(m, 1);
    if (e < 0) return 0;
    for (i = 0; i < n; ++i) {
        memcpy(m->x + 3 * (size_t)(at + i), s->xs + 3 * (size_t)(node ? node[i] : p.index),
            3 * sizeof *m->x);
        if (n == 1) m->point[e] = at;
        else if (n == 2) m->edge[2 * e + i] = at + i;
        else m->tri[3 * e + i] = at + i;
    }
    return 1;
}

/* Names up to ten pairs in error and puts all of them into the caller's mesh. */
static void accuse(sim *s, const char *what, size_t all, const part (*pair)[2], int pairs,
    char *error, size_t size)
{
    const scene_body *a = part_body(s, pair[0][0]), *b = part_body(s, pair[0][1]);
    size_t at = (size_t)snprintf(error, size, "%d: the scene starts %s (%lu pairs):",
        b && b->line > a->line ? b->line : a->line, what, (unsigned long)all);
    int i, k;
    for (i = 0; i < pairs && i < 10 && at < size; ++i) for (k = 0; k < 2 && at < size; ++k) {
        at += (size_t)snprintf(error + at, size - at, k ? "\n    and " : "\n  ");
        if (at < size) at += part_text(s, pair[i][k], error + at, size - at);
    }
    for (i = 0; s->opt.guilty && i < pairs; ++i) for (k = 0; k < 2; ++k) {
        s->opt.guilty->order = 1;
        if (!add_part(s, pair[i][k], s->opt.guilty)) return;
    }
}

enum { MOST_PAIRS = 1000 };

/* Pairs that the contact set found at a distance of zero or below the thickness. */
static void accuse_touching(sim *s, char *error, size_t size)
{
    static const int dims[5][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {0, 3}};
    int n = s->set.guilty_count < MOST_PAIRS ? s->set.guilty_count : MOST_PAIRS, i, k;
    part (*pair)[2] = malloc(((size_t)n + 1) * sizeof *pair);
    if (!pair) return;
    for (i = 0; i < n; ++i) for (k = 0; k < 2; ++k) {
        pair[i][k].dim = dims[s->set.guilty[3 * i]][k];
        pair[i][k].index = s->set.guilty[3 * i + 1 + k];
    }
    accuse(s, "touching or closer than its thickness", (size_t)s->set.guilty_count,
        (const part (*)[2])pair, n, error, size);
    free(pair);
}

/* Pairs of surface elements that meet, exactly: triangles, edges, then points by number. */
static size_t meetings(sim *s, int room_for, int *pair, int *how, int *status)
{
    gap_exact_mesh m;
    void *work;
    size_t n = 0;
    memset(&m, 0, sizeof m);
    m.dim = 3;
    m.nodes = s->verts;
    m.x = s->xs;
    m.tris = s->tris;
    m.tri = s->tri;
    m.edges = s->edges;
    m.edge = s->edge;
    m.points = s->points;
    m.point = s->point;
    m.group = s->vgroup;
    work = malloc(gap_exact_mesh_work(&m));
    *status = -2;
    if (work) n = gap_exact_mesh_meets(&m, NULL, work, room_for, pair, how, status);
    free(work);
    return n;
}

/* Pairs that cross, or a vertex behind a plane; nothing if they only touch. */
static void accuse_meeting(sim *s, char *error, size_t size)
{
    int *list = malloc(3 * MOST_PAIRS * sizeof *list), status, i, k, n = 0;
    part (*pair)[2] = malloc(MOST_PAIRS * sizeof *pair);
    size_t all = list && pair ? meetings(s, MOST_PAIRS, list, list + 2 * MOST_PAIRS, &status) : 0;
    for (i = 0; i < MOST_PAIRS && (size_t)i < all; ++i) {
        if (list[2 * MOST_PAIRS + i] != GAP_EXACT_CROSS) continue;
        for (k = 0; k < 2; ++k) {
            int e = list[2 * i + k];
            pair[n][k].dim = e < s->tris ? 2 : e < s->tris + s->edges ? 1 : 0;
            pair[n][k].index = e < s->tris ? e : e < s->tris + s->edges ? e - s->tris :
                s->point[e - s->tris - s->edges];
        }
        ++n;
    }
    for (i = 0; pair && i < s->plane_pairs && n < MOST_PAIRS; ++i) {
        if (!behind(s, i)) continue;
        ++all;
        pair[n][0].dim = 0;
        pair[n][0].index = s->plane_pair[2 * i];
        pair[n][1].dim = 3;
        pair[n++][1].index = s->plane_pair[2 * i + 1];
    }
    if (n) accuse(s, "with intersections", all, (const part (*)[2])pair, n, error, size);
    free(list);
    free(pair);
}

/* Is the start free, scripted bodies among each other too? Names offenders in error. */
static int check_start(sim *s, char *error, size_t size)
{
    int r, met = 0, inverted = 0;
    s->set_valid = 0;
    memset(s->moving, 1, (size_t)s->nodes);
    scripts_free(s, 1);
    to_surface(s, s->x, 0, s->xs_ref + 3 * (size_t)s->verts);
    r = find_candidates(s, s->xs_ref + 3 * (size_t)s->verts, NULL);
    if (r >= 0) r = find_contacts(s, s->x);
    if (s->sc->contact && (r >= 0 || r == GAP_BARRIER_ETOUCH)) {
        int exact = sim_verify(s, &met, &inverted);
        if (exact < 0) r = exact;
    }
    if (met) accuse_meeting(s, error, size);
    if (r == GAP_BARRIER_ETOUCH && !error[0]) accuse_touching(s, error, size);
    if (!error[0] && (met || (r < 0 && r != -2))) {
        snprintf(error, size, "1: contact set refused (error %d, %d pairs meet)", r, met);
    }
    s->set_valid = 0;
    scripts_free(s, 0);
    return r >= 0 && !met;
}

sim *sim_open(const scene *sc, const sim_options *opt, char *error, size_t size)
{
    sim *s = calloc(1, sizeof *s);
    double *v;
    int i, k, ok;
    error[0] = '\0';
    if (!s) {
        snprintf(error, size, "out of memory");
        return NULL;
    }
    s->sc = sc;
    s->opt = *opt;
    s->ccd_opt.keep = 0.0;
    s->time = sc->t0;
    ok = open_solids(s, error, size) && open_arrays(s, error, size) && open_map(s) &&
        open_solver(s, error, size) && open_physics(s, error, size);
    if (ok) {
        qsort(s->plane_pair, (size_t)s->plane_pairs, 2 * sizeof(int), by_node);
        memcpy(s->x, s->rest, 3 * (size_t)s->nodes * sizeof *s->x);
        for (i = 0; i < 3 * s->nodes; ++i) {
            s->accel[i] = sc->quasistatic || i >= 3 * s->solids ? 0.0 : sc->gravity[i % 3];
        }
        v = s->newton_work;
        for (i = 0; i < s->nodes; ++i) for (k = 0; k < 3; ++k) {
            v[3 * i + k] = i < s->solids ? sc->body[s->nbody[i]].velocity[k] : 0.0;
        }
        ok = gap_step_init(&s->S, &s->step_opt, 3 * s->nodes, s->x, v, NULL, s->state) >= 0;
        scripts_free(s, 0);
        ok = ok && check_start(s, error, size);
    }
    if (!ok) {
        if (!error[0]) snprintf(error, size, "out of memory");
        sim_close(s);
        return NULL;
    }
    return s;
}

void sim_close(sim *s)
{
    void *all[40];
    int n = 0, i;
    if (!s) return;
    gap_ldlt_free(&s->ldlt);
    gap_sparse_free(&s->A);
    gap_sparse_free(&s->C);
    gap_friction_free(&s->lag);
    gap_barrier_free(&s->set);
    gap_broad_free(&s->broad);
    gap_proxy_free(&s->proxy);
    gap_fem_free(&s->fem);
    all[n++] = s->W_ptr; all[n++] = s->W_node; all[n++] = s->W_weight; all[n++] = s->W_offset;
    all[n++] = s->tri; all[n++] = s->edge; all[n++] = s->point; all[n++] = s->vbody;
    all[n++] = s->vgroup; all[n++] = s->plane_pair; all[n++] = s->nbody; all[n++] = s->vrest;
    all[n++] = s->vradius; all[n++] = s->rest; all[n++] = s->vfixed; all[n++] = s->fixed;
    all[n++] = s->script; all[n++] = s->free3; all[n++] = s->x; all[n++] = s->xs;
    all[n++] = s->xs_at; all[n++] = s->x0; all[n++] = s->xref; all[n++] = s->xs_ref;
    all[n++] = s->target; all[n++] = s->mass; all[n++] = s->force; all[n++] = s->script_at;
    all[n++] = s->ps; all[n++] = s->work; all[n++] = s->state; all[n++] = s->block;
    all[n++] = s->pulled; all[n++] = s->mu; all[n++] = s->partial; all[n++] = s->newton_work;
    all[n++] = s->vforce; all[n++] = s->accel; all[n++] = s->damp; all[n++] = s->pulled_node;
    for (i = 0; i < n; ++i) free(all[i]);
    free(s->al.lambda);
    free(s->lag_kind);
    free(s->frame);
    free(s->moving);
    free(s->body_force);
    free(s);
}

/* ---------------------------------------------------------------- looking at it */
double sim_time(const sim *s) { return s->time; }
long long sim_steps(const sim *s) { return s->steps; }
double sim_length(const sim *s) { return s->length; }
double sim_dhat(const sim *s) { return s->dhat; }
int sim_vertices(const sim *s) { return s->verts; }
int sim_bodies(const sim *s) { return s->sc->bodies; }
int sim_frame_node(const sim *s, int v) { return s->identity ? v : s->solids + v; }
int sim_vertex_body(const sim *s, int v) { return s->vbody[v]; }
const char *sim_body_name(const sim *s, int body) { return s->sc->body[body].name; }
const double *sim_forces(const sim *s) { return s->have_forces ? s->vforce : NULL; }

int sim_body_force(const sim *s, int body, double force[3])
{
    memcpy(force, s->body_force + 3 * (size_t)body, 3 * sizeof *force);
    return s->have_forces;
}

const char *sim_why(const sim *s) { return s->why; }
double sim_eps_d(const sim *s) { return s->eps_d; }
double sim_eps_v(const sim *s) { return s->eps_v; }
int sim_has_friction(const sim *s) { return has_friction(s->sc); }

/* Which body, or behind the bodies which plane, a contact's second side belongs to. */
static void contact_sides(const sim *s, int kind, const int *node, const double *normal,
    int side[2])
{
    int i, k, last = 0;
    double most = -2.0;
    for (k = 0; k < 4 && node[k] >= 0; ++k) last = node[k];
    side[0] = s->vbody[node[0]];
    side[1] = s->vbody[last];
    for (i = 0; kind == 4 && i < s->sc->planes; ++i) {
        const double *q = s->sc->plane + 6 * (size_t)i + 3;
        double along = q[0] * normal[0] + q[1] * normal[1] + q[2] * normal[2];
        if (along > most) {
            most = along;
            side[1] = s->sc->bodies + i;
        }
    }
}

static int by_bodies(const void *a, const void *b)
{
    const sim_pair *p = a, *q = b;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return p->b < q->b ? -1 : p->b > q->b;
}

int sim_pair_forces(sim *s, sim_pair **out)
{
    int n = s->set.count + s->lag.count, i, k, m = 0;
    double f = s->weight > 0.0 ? 1.0 / s->weight : 0.0, g[12];
    sim_pair *all = calloc((size_t)n + 1, sizeof *all);
    *out = all;
    if (!all) return -1;
    if (!s->have_forces) return 0;
    to_surface(s, s->x, 0, s->xs);
    for (i = 0; i < n; ++i) {
        int rubs = i >= s->set.count, c = rubs ? i - s->set.count : i, side[2];
        int kind = rubs ? s->lag_kind[c] : s->set.kind[c];
        const int *node = (rubs ? s->lag.node : s->set.node) + 4 * (size_t)c;
        const double *normal = (rubs ? s->lag.normal : s->set.normal) + 3 * (size_t)c;
        double turn;
        sim_pair *p = &all[i];
        if (rubs) gap_friction_gradient(&s->lag, s->xs, s->xs_ref, c, c + 1, g);
        else gap_barrier_gradient(&s->set, s->xs, c, c + 1, g);
        contact_sides(s, kind, node, normal, side);
        turn = side[0] > side[1] ? 1.0 : -1.0; /* minus the gradient is the force on side 0 */
        p->a = side[0] < side[1] ? side[0] : side[1];
        p->b = side[0] < side[1] ? side[1] : side[0];
        for (k = 0; k < 3; ++k) p->force[k] = turn * f * (g[k] + (kind == 3 ? g[3 + k] : 0.0));
        if (rubs) {
            p->friction = sqrt(p->force[0] * p->force[0] + p->force[1] * p->force[1] +
                p->force[2] * p->force[2]);
        } else p->normal = f * s->set.force[c];
        p->contacts = !rubs;
    }
    qsort(all, (size_t)n, sizeof *all, by_bodies);
    for (i = 0; i < n; ++i) {
        if (m && all[m - 1].a == all[i].a && all[m - 1].b == all[i].b) {
            for (k = 0; k < 3; ++k) all[m - 1].force[k] += all[i].force[k];
            all[m - 1].normal += all[i].normal;
            all[m - 1].friction += all[i].friction;
            all[m - 1].contacts += all[i].contacts;
        } else all[m++] = all[i];
    }
    return m;
}

const double *sim_surface(sim *s)
{
    to_surface(s, s->x, 0, s->xs);
    return s->xs;
}

double sim_shortest_edge(const sim *s)
{
    double least = HUGE_VAL;
    int i;
    for (i = 0; i < s->edges; ++i) {
        const double *a = s->vrest + 3 * (size_t)s->edge[2 * i],
            *b = s->vrest + 3 * (size_t)s->edge[2 * i + 1];
        least = fmin(least, sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)));
    }
    return least;
}

void sim_kappa_bounds(const sim *s, double kappa[2])
{
    kappa[0] = s->kmin;
    kappa[1] = s->kmax;
}

/* Weight that one foot carries: that of all solids over the vertices that are lowest along gravity
   (within a hundredth of l). */
static double load_per_foot(const sim *s)
{
    const double *g = s->sc->gravity;
    double size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), lowest = HUGE_VAL, mass = 0.0;
    int i, pass, feet = 0;
    if (!(size > 0.0)) return 0.0;
    for (i = 0; i < s->solids; ++i) mass += s->mass[i];
    for (pass = 0; pass < 2; ++pass) for (i = 0; i < s->verts; ++i) {
        const double *x = s->vrest + 3 * (size_t)i;
        double height = -(x[0] * g[0] + x[1] * g[1] + x[2] * g[2]) / size;
        if (s->sc->body[s->vbody[i]].obstacle) continue;
        if (!pass) lowest = fmin(lowest, height);
        else feet += height < lowest + 0.01 * s->length;
    }
    return feet ? mass * size / feet : 0.0;
}

/* Where a fixed stiffness, or the least adaptive one, carries that load: h^2 F = -kappa b' 2 d. */
double sim_resting_gap(const sim *s)
{
    double want = s->sc->h * s->sc->h * load_per_foot(s), low = 0.0, high = s->dhat, b[3];
    double kappa = s->sc->kappa > 0.0 ? s->sc->kappa : s->kmin;
    int i;
    if (!(want > 0.0)) return s->dhat;
    for (i = 0; i < 100; ++i) {
        double d = 0.5 * (low + high);
        if (gap_barrier_function_at(GAP_BARRIER_LOG_C2, d * d, s->dhat * s->dhat, b) < 0) break;
        if (-kappa * b[1] * 2.0 * d > want) low = d;
        else high = d;
    }
    return low;
}

/* Stored nodes: the nodes (linear elements), or the solids' nodes and then all vertices. */
int sim_topology(const sim *s, struct frames_topo *out)
{
    int shift = s->identity ? 0 : s->solids, i, k = 0, lone = 0, ok = 1;
    char *in_tri = calloc((size_t)s->verts + 1, 1);
    memset(out, 0, sizeof *out);
    if (!in_tri) return 0;
    for (i = 0; i < 3 * s->tris; ++i) in_tri[s->tri[i]] = 1;
    for (i = 0; i < s->edges; ++i) lone += !in_tri[s->edge[2 * i]] || !in_tri[s->edge[2 * i + 1]];
    out->nodes = s->identity ? s->nodes : s->solids + s->verts;
    out->elems = s->fem.elements;
    out->elem_nodes = s->fem.elements ? s->fem.per_element : 0;
    out->elem = s->fem.node;
    out->tris = s->tris;
    out->edges = lone;
    out->points = s->points;
    out->planes = s->sc->planes;
    out->plane = s->sc->plane;
    out->tri = room(NULL, &ok, 3 * (size_t)s->tris, sizeof(int));
    out->edge = room(NULL, &ok, 2 * (size_t)lone, sizeof(int));
    out->point = room(NULL, &ok, (size_t)s->points, sizeof(int));
    out->body = room(NULL, &ok, (size_t)out->nodes, sizeof(int));
    out->radius = room(NULL, &ok, (size_t)out->nodes, sizeof(double));
    if (ok) {
        for (i = 0; i < 3 * s->tris; ++i) out->tri[i] = s->tri[i] + shift;
        for (i = 0; i < s->points; ++i) out->point[i] = s->point[i] + shift;
        for (i = 0; i < s->edges; ++i) {
            if (in_tri[s->edge[2 * i]] && in_tri[s->edge[2 * i + 1]]) continue;
            out->edge[k++] = s->edge[2 * i] + shift;
            out->edge[k++] = s->edge[2 * i + 1] + shift;
        }
        for (i = 0; i < shift; ++i) out->body[i] = s->nbody[i];
        for (i = 0; i < s->verts; ++i) {
            out->body[shift + i] = s->vbody[i];
            out->radius[shift + i] = s->vradius[i];
        }
    }
    free(in_tri);
    return ok;
}

void sim_topology_free(struct frames_topo *t)
{
    free(t->tri);
    free(t->edge);
    free(t->point);
    free(t->body);
    free(t->radius);
}

const double *sim_frame(sim *s)
{
    size_t a = 3 * (size_t)s->solids, b = 3 * (size_t)s->verts;
    if (s->identity) return s->x;
    if (!s->frame) s->frame = malloc((a + b) * sizeof *s->frame);
    if (!s->frame) return NULL;
    memcpy(s->frame, s->x, a * sizeof *s->frame);
    to_surface(s, s->x, 0, s->frame + a);
    return s->frame;
}

int sim_verify(sim *s, int *met, int *inverted)
{
    int status, i, pair[2], how;
    size_t n;
    to_surface(s, s->x, 0, s->xs);
    n = meetings(s, 1, pair, &how, &status);
    *met = n > 1000000000 ? 1000000000 : (int)n;
    for (i = 0; i < s->plane_pairs; ++i) *met += behind(s, i);
    *inverted = 0;
    if (s->fem.elements) {
        int bad = -1;
        if (gap_fem_valid(&s->fem, s->x, 0, s->fem.elements, NULL,
            &bad) != GAP_FEM_OK) *inverted = 1;
    }
    return status;
}

/* Masses, extents and velocities of one body, or of all solids. */
typedef struct summary {
    double mass, low[3], high[3], mean[3], moved[3], velocity[3], fastest, force[3];
} summary;

static void summarise(const sim *s, const char *body, summary *q)
{
    int i, k;
    memset(q, 0, sizeof *q);
    for (k = 0; k < 3; ++k) {
        q->low[k] = HUGE_VAL;
        q->high[k] = -HUGE_VAL;
    }
    for (i = 0; i < s->nodes; ++i) {
        const scene_body *b = &s->sc->body[s->nbody[i]];
        const double *x = s->x + 3 * (size_t)i, *v = s->S.v + 3 * (size_t)i;
        if (body[0] ? strcmp(b->name, body) != 0 : b->obstacle) continue;
        q->mass += s->mass[i];
        q->fastest = fmax(q->fastest, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        for (k = 0; k < 3; ++k) {
            q->low[k] = fmin(q->low[k], x[k]);
            q->high[k] = fmax(q->high[k], x[k]);
            q->mean[k] += s->mass[i] * x[k];
            q->moved[k] += s->mass[i] * (x[k] - s->rest[3 * i + k]);
            q->velocity[k] += s->mass[i] * v[k];
        }
    }
    for (i = 0; i < s->sc->bodies; ++i) {
        const scene_body *b = &s->sc->body[i];
        if (body[0] ? strcmp(b->name, body) != 0 : b->obstacle) continue;
        for (k = 0; k < 3; ++k) q->force[k] += s->body_force[3 * i + k];
    }
    for (k = 0; k < 3 && q->mass > 0.0; ++k) {
        q->mean[k] /= q->mass;
        q->moved[k] /= q->mass;
        q->velocity[k] /= q->mass;
    }
}

int sim_quantity(sim *s, const char *name, const char *body, double *out)
{
    static const char *const kinds[] = {"min_", "max_", "mean_", "velocity_", "force_"};
    int axis = name[0] ? name[strlen(name) - 1] - 'x' : -1, i;
    const double *of[5];
    summary q;
    summarise(s, body, &q);
    if (!(q.mass > 0.0)) return 0;
    of[0] = q.low;
    of[1] = q.high;
    of[2] = q.mean;
    of[3] = q.velocity;
    of[4] = q.force;
    if (strcmp(name, "speed") == 0) *out = q.fastest;
    else if (strcmp(name, "contacts") == 0) *out = s->most_contacts;
    else if (strcmp(name, "moved") == 0) *out = norm3(q.moved);
    else if (strcmp(name, "velocity") == 0) *out = norm3(q.velocity);
    else if (strcmp(name, "support") == 0) { /* contact force against gravity by weight */
        const double *g = s->sc->gravity;
        *out = -(q.force[0] * g[0] + q.force[1] * g[1] + q.force[2] * g[2]) /
            (q.mass * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]));
    }
    else {
        for (i = 0; i < 5; ++i) {
            if (strncmp(name, kinds[i], strlen(kinds[i])) == 0 && name[strlen(kinds[i])] &&
                !name[strlen(kinds[i]) + 1]) break;
        }
        if (i == 5 || axis < 0 || axis > 2) return 0;
        *out = of[i][axis];
    }
    return 1;
}

/* What a quantity is multiplied by if all lengths are: forces grow as rho l^3 a. */
double sim_quantity_unit(const char *name, double scale)
{
    if (strcmp(name, "contacts") == 0 || strcmp(name, "support") == 0) return 1.0;
    if (strncmp(name, "force_", 6) == 0) return scale * scale * scale * scale;
    return scale;
}

/* ---------------------------------------------------------------- checkpoint */
typedef struct saved {
    long long steps, nodes;
    double time, kappa;
    unsigned long long hash, shape;
    long long most_contacts;
} saved;

static size_t step_bytes(const sim *s)
{
    return gap_step_work_size(&s->step_opt, 3 * s->nodes);
}

size_t sim_state_size(const sim *s)
{
    return sizeof(saved) + step_bytes(s) + 3 * ((size_t)s->nodes + (size_t)s->sc->bodies) *
        sizeof(double);
}

void sim_save(const sim *s, void *bytes)
{
    unsigned char *p = bytes;
    saved h;
    memset(&h, 0, sizeof h);
    h.steps = s->steps;
    h.nodes = s->nodes;
    h.time = s->time;
    h.kappa = s->kappa;
    h.hash = s->sc->hash;
    h.shape = s->sc->shape;
    h.most_contacts = s->most_contacts;
    memcpy(p, &h, sizeof h);
    memcpy(p + sizeof h, s->state, step_bytes(s));
    p += sizeof h + step_bytes(s);
    memcpy(p, s->x, 3 * (size_t)s->nodes * sizeof(double));
    p += 3 * (size_t)s->nodes * sizeof(double);
    memcpy(p, s->body_force, 3 * (size_t)s->sc->bodies * sizeof(double));
}

int sim_load(sim *s, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    saved h;
    if (size != sim_state_size(s)) return 0;
    memcpy(&h, p, sizeof h);
    if (h.nodes != s->nodes || h.shape != s->sc->shape || h.steps < 0) return 0;
    memcpy(s->state, p + sizeof h, step_bytes(s));
    p += sizeof h + step_bytes(s);
    memcpy(s->x, p, 3 * (size_t)s->nodes * sizeof(double));
    p += 3 * (size_t)s->nodes * sizeof(double);
    memcpy(s->body_force, p, 3 * (size_t)s->sc->bodies * sizeof(double));
    s->have_forces = 0; /* of vertices */
    s->steps = h.steps;
    s->time = h.time;
    s->kappa = h.kappa;
    s->most_contacts = (int)h.most_contacts;
    s->set_valid = 0;
    if (gap_step_attach(&s->S, &s->step_opt, 3 * s->nodes, s->state) < 0) return 0;
    return h.hash == s->sc->hash ? 1 : 2;
}
