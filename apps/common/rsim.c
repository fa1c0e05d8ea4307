/* rsim.c - see rsim.h
   Unknowns are 6 (2D: 3) per body, static ones included and held. Contact sees the nodes of all
   bodies in the world, x = A X + q; its blocks go through gap_rigid_chain to bodies. */
#define GAP_ACCD_STATIC
#include "gap_accd.h"
#define GAP_BARRIER_STATIC
#include "gap_barrier.h"
#define GAP_BROAD_STATIC
#include "gap_broad.h"
#define GAP_CCD_STATIC
#include "gap_ccd.h"
#define GAP_EXACT_STATIC
#include "gap_exact.h"
#define GAP_FRICTION_STATIC
#include "gap_friction.h"
#define GAP_LDLT_STATIC
#include "gap_ldlt.h"
#define GAP_NEWTON_STATIC
#include "gap_newton.h"
#define GAP_PSD_STATIC
#include "gap_psd.h"
#define GAP_RIGID_STATIC
#include "gap_rigid.h"
#define GAP_RIGID_CCD_STATIC
#include "gap_rigid_ccd.h"
#define GAP_SPARSE_STATIC
#include "gap_sparse.h"

#include "frames.h"
#include "rsim.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRUST 1e-4 /* a direction with a larger shift is small everywhere and says nothing */

enum { CHUNK = 64, RANGE = 4096, ROUND = 4096, PAIRS = 32 };

typedef struct rsim_touch { /* a contact and its bodies */
    int a, b, contact;
} rsim_touch;

struct rsim {
    const rscene *sc;
    rsim_options opt;
    int dim, bodies, per, n;   /* unknowns per body and in all */
    int nodes, tris, edges, points;
    int *tri, *edge, *point, *owner, *group;
    double *X;                 /* dim per node, in the body */
    double *thick, *reach;     /* per node: half the separation; with the way off the chord */
    unsigned char *vfixed;     /* per node: 7 if its body never moves */
    unsigned char *held, *mask; /* per node of seam 9; per unknown */
    gap_rigid_body *body, *before;
    gap_rigid_frame *frame;
    gap_rigid_ccd_motion *motion;
    gap_broad broad;
    gap_barrier_mesh bm;
    gap_barrier_set set;
    gap_barrier_candidates cand;
    gap_friction_lag lag;
    gap_sparse A;
    gap_ldlt ldlt;
    gap_ccd_options ccd_opt;
    gap_accd_options accd_opt;
    gap_rigid_ccd_options curved;
    double *u, *u_at, *u_end, *weight, *newton_work, *hess;
    double *x, *x_ref, *x_end, *x_from; /* dim per node: last contacts; start; ends of a sweep */
    double *block, *scratch, *mu;
    size_t scratch_each;       /* doubles per worker */
    int *stencil, *body_stencil, mu_room, *lag_kind;
    rsim_touch *touch;         /* contacts by pair of bodies */
    int *pair_first, *pair_stencil, touch_room;
    double margin, slack;      /* candidates hold within that of the path; what is left of it */
    double *start;             /* 12 per body: place and orientation at the start */
    double time, kappa, kmin, kmax, length, eps_d, h;
    long long steps;
    int set_valid, moving, most_contacts;
    int small;                 /* Newton's direction at hand moves no node faster than eps_d */
    sim_report *report;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- contact */
static void set_motions(rsim *s, const double *u0, const double *u1)
{
    int i;
    for (i = 0; i < s->bodies; ++i) {
        gap_rigid_ccd_set(s->motion + i, s->dim, s->body[i].Q0, u0 + s->per * i, u1 + s->per * i);
    }
}

/* Candidates for every state within `margin` of the way u0 -> u1 (NULL: of u0), closer than dhat
   there. Leaves the motions set. */
static int find_candidates(rsim *s, const double *u0, const double *u1)
{
    double t = now();
    int i, j, k, r;
    set_motions(s, u0, u1 ? u1 : u0);
    for (i = 0; i < s->bodies; ++i) {
        const gap_rigid_body *b = s->body + i;
        size_t at = (size_t)s->dim * (size_t)b->first;
        gap_rigid_ccd_grow(s->motion + i, s->dim, b->count, s->X + at, s->x_from + at,
            u1 ? s->x_end + at : NULL, s->reach + b->first);
        for (j = b->first; j < b->first + b->count; ++j) s->reach[j] += s->thick[j];
    }
    memset(&s->cand, 0, sizeof s->cand);
    r = gap_broad_refit(&s->broad, s->x_from, u1 ? s->x_end : NULL, 0.5 * s->sc->dhat + s->margin);
    for (k = 0; k < 4 && r >= 0; ++k) {
        if (k >= 2 ? s->dim == 2 : s->dim == 3 && s->sc->parity) continue;
        r = gap_broad_pairs(&s->broad, k, &s->cand.pair[k], &s->cand.count[k]);
    }
    s->slack = s->margin;
    s->set_valid = 0;
    if (s->report) s->report->seconds[0] += now() - t;
    return r;
}

/* The contact set at u, from the candidates at hand. */
static int find_contacts(rsim *s, const double *u)
{
    size_t bytes = (size_t)s->n * sizeof *u;
    int r;
    if (s->set_valid && memcmp(u, s->u_at, bytes) == 0) return 0;
    gap_rigid_place(s->body, u, 0, s->bodies, s->X, s->x);
    r = gap_barrier_build(&s->set, &s->bm, s->x, &s->cand, s->sc->dhat, s->kappa);
    memcpy(s->u_at, u, bytes);
    s->set_valid = r == GAP_BARRIER_OK;
    return r;
}

static int freeze_friction(rsim *s)
{
    int i, k, n = s->set.count, any = 0;
    for (i = 0; i < s->bodies; ++i) any |= s->sc->body[i].mu > 0.0;
    if (!any || s->sc->lags == 0) n = 0;
    if (n > s->mu_room) {
        double *more = realloc(s->mu, (size_t)n * sizeof *more);
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
        int second = node[0];
        for (k = 0; k < 4 && node[k] >= 0; ++k) second = node[k];
        s->lag_kind[i] = s->set.kind[i];
        s->mu[i] = s->set.mollify[i] > 0.0 ? 0.0 : 0.5 * (s->sc->body[s->owner[node[0]]].mu +
            s->sc->body[s->owner[second]].mu);
    }
    return gap_friction_freeze(&s->lag, s->dim, n, s->nodes, s->set.node, s->set.weight,
        s->set.normal, s->set.force, s->mu, 0.0, NULL, s->sc->eps_v * s->h);
}

typedef struct contact_job {
    rsim *s;
    int friction, first;
} contact_job;

/* Which bodies a contact of barrier or (i >= set.count) friction belongs to; its nodes. */
static const int *contact_bodies(const rsim *s, int i, int *a, int *b)
{
    const int *node = i < s->set.count ? s->set.node + 4 * (size_t)i :
        s->lag.node + 4 * (size_t)(i - s->set.count);
    int k = 1;
    *a = *b = s->owner[node[0]];
    while (k < 4 && node[k] >= 0) *b = s->owner[node[k++]]; /* the last is of the second side */
    return node;
}

/* Gradients of contacts in the unknowns of their bodies, and the stencils. */
static void gradient_range(void *ctx, int begin, int end, int worker)
{
    contact_job *j = ctx;
    rsim *s = j->s;
    int m = 2 * s->per, a = j->first + begin, b = j->first + end;
    double *grad = s->scratch + (size_t)worker * s->scratch_each;
    if (j->friction) gap_friction_gradient(&s->lag, s->x, s->x_ref, a, b, grad);
    else gap_barrier_gradient(&s->set, s->x, a, b, grad);
    gap_rigid_chain(s->body, s->frame, s->owner, s->X, b - a,
        (j->friction ? s->lag.node : s->set.node) + 4 * (size_t)a, grad, NULL, 0,
        s->stencil + (size_t)begin * (size_t)(m / 3), s->block + (size_t)begin * (size_t)m, NULL);
}

/* Adds the gradient of barrier or friction at s->x. */
static int add_gradient(rsim *s, int friction, double *g)
{
    int count = friction ? s->lag.count : s->set.count, i, n, r = 0;
    contact_job j;
    j.s = s;
    j.friction = friction;
    for (i = 0; i < count && r >= 0; i += n) {
        n = count - i < RANGE ? count - i : RANGE;
        j.first = i;
        pool_for(s->opt.threads, n, CHUNK, gradient_range, &j);
        r = gap_sparse_add_vector(&s->A, n, 2 * s->per / 3, s->stencil, 1.0, s->block, g);
    }
    return r;
}

static int by_bodies(const void *a, const void *b)
{
    const rsim_touch *p = a, *q = b;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    return p->contact < q->contact ? -1 : p->contact > q->contact;
}

/* Contacts sorted by their pair of bodies (lower number first; static ones are -1), with the
   beginnings of the pairs and their stencils. Returns the number of pairs or -2. */
static int group_contacts(rsim *s)
{
    int n = s->set.count + s->lag.count, i, c, k = s->per / 3, pairs = 0, a, b;
    if (n > s->touch_room) {
        free(s->touch);
        free(s->pair_first);
        free(s->pair_stencil);
        s->touch = malloc((size_t)n * sizeof *s->touch);
        s->pair_first = malloc(((size_t)n + 1) * sizeof *s->pair_first);
        s->pair_stencil = malloc(4 * (size_t)n * sizeof *s->pair_stencil);
        s->touch_room = s->touch && s->pair_first && s->pair_stencil ? n : 0;
        if (!s->touch_room) return -2;
    }
    for (i = 0; i < n; ++i) {
        contact_bodies(s, i, &a, &b);
        if (s->body[a].type == GAP_RIGID_STATIC_BODY) a = -1;
        if (s->body[b].type == GAP_RIGID_STATIC_BODY) b = -1;
        s->touch[i].a = a < b ? a : b;
        s->touch[i].b = a < b ? b : a;
        s->touch[i].contact = i;
    }
    qsort(s->touch, (size_t)n, sizeof *s->touch, by_bodies);
    for (i = 0; i < n; ++i) {
        const rsim_touch *t = s->touch + i;
        if (i > 0 && t->a == t[-1].a && t->b == t[-1].b) continue;
        for (c = 0; c < k; ++c) {
            s->pair_stencil[2 * k * pairs + c] = t->a < 0 ? -1 : k * t->a + c;
            s->pair_stencil[2 * k * pairs + k + c] = k * t->b + c;
        }
        s->pair_first[pairs++] = i;
    }
    if (n > 0) s->pair_first[pairs] = n;
    return pairs;
}

/* Adds the raw Hessian of one contact to the block of its pair, 2 per x 2 per. */
static void add_raw(rsim *s, const rsim_touch *t, double *work, double *H)
{
    int m = 2 * s->per, d = 4 * s->dim, i = t->contact, f = i - s->set.count, a, b, r, c, swap;
    double *grad = work, *hess = grad + d, *out = hess + d * d;
    const int *node = contact_bodies(s, i, &a, &b);
    if (f >= 0) {
        if (s->lag.limit[f] == 0.0) return;
        gap_friction_gradient(&s->lag, s->x, s->x_ref, f, f + 1, grad);
        gap_friction_hessian(&s->lag, s->x, s->x_ref, 0, f, f + 1, hess);
    } else {
        gap_barrier_gradient(&s->set, s->x, i, i + 1, grad);
        gap_barrier_hessian(&s->set, s->x, 0, i, i + 1, hess);
    }
    gap_rigid_chain(s->body, s->frame, s->owner, s->X, 1, node, grad, hess, 0, NULL, NULL, out);
    swap = a != t->a && !(t->a < 0 && b == t->b) ? s->per : 0; /* its first body is our second */
    for (r = 0; r < m; ++r) for (c = 0; c < m; ++c) {
        H[(r + swap) % m * m + (c + swap) % m] += out[r * m + c];
    }
}

/* Nearest PSD of a pair's block in the coordinates (q, radius theta): all unknowns are lengths, so
   the result does not depend on their unit. from: 0, or per if the first body is static. */
static void project_pair(const rsim *s, const rsim_touch *t, double *H)
{
    double A[144], unit[12];
    int m = 2 * s->per, from = t->a < 0 ? s->per : 0, n = m - from, i, j;
    for (i = 0; i < n; ++i) {
        double r = s->body[from + i < s->per ? t->a : t->b].radius;
        unit[i] = (from + i) % s->per >= s->dim && r > 0.0 ? r : 1.0;
    }
    for (i = 0; i < n; ++i) for (j = 0; j < n; ++j) {
        A[i * n + j] = 0.5 * (H[(from + i) * m + from + j] + H[(from + j) * m + from + i]) /
            (unit[i] * unit[j]);
    }
    gap_psd_project(n, A, A);
    for (i = 0; i < n; ++i) for (j = 0; j < n; ++j) {
        H[(from + i) * m + from + j] = A[i * n + j] * (unit[i] * unit[j]);
    }
}

static void pair_range(void *ctx, int begin, int end, int worker)
{
    contact_job *j = ctx;
    rsim *s = j->s;
    int m = 2 * s->per, p, i;
    double *work = s->scratch + (size_t)worker * s->scratch_each;
    for (p = begin; p < end; ++p) {
        const rsim_touch *t = s->touch + s->pair_first[j->first + p];
        double *H = s->block + (size_t)p * (size_t)(m * m);
        int n = s->pair_first[j->first + p + 1] - s->pair_first[j->first + p];
        memset(H, 0, (size_t)(m * m) * sizeof *H);
        for (i = 0; i < n; ++i) add_raw(s, t + i, work, H);
        project_pair(s, t, H);
    }
}

/* Adds the Hessian of all contacts, barrier and friction, one projected block per pair of bodies:
   nearer to the truth than a projection per contact, and cheaper. */
static int add_hessian(rsim *s, int pairs)
{
    int i, n, k = 2 * s->per / 3, r = 0;
    contact_job j;
    j.s = s;
    for (i = 0; i < pairs && r >= 0; i += n) {
        n = pairs - i < RANGE ? pairs - i : RANGE;
        j.first = i;
        pool_for(s->opt.threads, n, PAIRS, pair_range, &j);
        r = gap_sparse_add(&s->A, n, k, s->pair_stencil + (size_t)k * (size_t)i, 1.0, s->block);
    }
    return r;
}

/* ---------------------------------------------------------------- callbacks of Newton's method */
static int energy(void *user, const double *u, double *e)
{
    rsim *s = user;
    if (find_contacts(s, u) != GAP_BARRIER_OK) return 1;
    *e = gap_rigid_energy(s->body, u, 0, s->bodies) +
        gap_barrier_energy(&s->set, s->x, 0, s->set.count) +
        gap_friction_energy(&s->lag, s->x, s->x_ref, 0, s->lag.count);
    return 0;
}

static void clear_held(const rsim *s, double *g)
{
    int i;
    for (i = 0; i < s->n; ++i) if (s->held[i / 3] >> (i % 3) & 1) g[i] = 0.0;
}

static int gradient(void *user, const double *u, double *g)
{
    rsim *s = user;
    double t = now();
    int r = find_contacts(s, u);
    if (r < 0) return r;
    gap_rigid_frames(s->body, u, 0, s->bodies, s->frame);
    gap_rigid_gradient(s->body, u, s->frame, 0, s->bodies, g);
    r = add_gradient(s, 0, g);
    if (r >= 0) r = add_gradient(s, 1, g);
    clear_held(s, g);
    s->report->seconds[2] += now() - t;
    return r;
}

/* Adds `shift` times the mean of diagonal / weight, in the metric of masses and inertia: the same
   bits at every scale. */
static void shift_diagonal(rsim *s, double shift)
{
    double mean = 0.0;
    int i, c;
    if (shift == 0.0) return;
    for (c = 0; c < 2; ++c) for (i = 0; i < s->n; ++i) {
        double *d = s->A.val + 9 * ((size_t)s->A.ptr[i / 3 + 1] - 1) + 4 * (i % 3);
        if (c == 0) mean += fabs(*d) / s->weight[i] / s->n;
        else *d += shift * mean * s->weight[i];
    }
}

static int solve(void *user, const double *u, const double *g, int psd, double shift, double *p)
{
    rsim *s = user;
    double t = now();
    int r, i, pairs = 0;
    (void)psd; /* always projected: rotations are not convex */
    r = find_contacts(s, u);
    if (r >= 0) r = pairs = group_contacts(s);
    if (r >= 0) r = gap_sparse_link(&s->A, pairs, 2 * s->per / 3, s->pair_stencil);
    if (r >= 0) r = gap_sparse_build(&s->A);
    if (r < 0) return r;
    gap_rigid_frames(s->body, u, 0, s->bodies, s->frame);
    gap_rigid_hessian(s->body, s->frame, 1, 0, s->bodies, s->hess);
    r = gap_sparse_add(&s->A, s->bodies, s->per / 3, s->body_stencil, 1.0, s->hess);
    if (r >= 0) r = add_hessian(s, pairs);
    if (r < 0) return r;
    shift_diagonal(s, shift);
    for (i = 0; i < s->n; ++i) p[i] = -g[i];
    gap_sparse_fix(&s->A, s->held, p);
    s->report->seconds[2] += now() - t;
    t = now();
    r = gap_ldlt_analyze(&s->ldlt, s->A.n, 3, s->A.ptr, s->A.col, 0, NULL);
    if (r >= 0) r = gap_ldlt_factor(&s->ldlt, s->A.val);
    if (r == GAP_LDLT_OK) r = gap_ldlt_solve(&s->ldlt, 1, p);
    s->report->seconds[3] += now() - t;
    if (r == GAP_LDLT_OK && shift <= TRUST) {
        s->small = gap_rigid_travel(s->body, s->bodies, s->X, u, p) <= s->eps_d * s->h;
    }
    return r < 0 && r != GAP_LDLT_ENONFIN ? r : r == GAP_LDLT_OK ? 0 : 1;
}

/* ---------------------------------------------------------------- how far is safe */
typedef struct ccd_job {
    rsim *s;
    int kind, first;
    const int *pair;
    double t;
    double part[ROUND / PAIRS]; /* per chunk */
    int status[ROUND / PAIRS];
} ccd_job;

/* Nodes of a pair; how many. */
static int pair_nodes(const rsim *s, int kind, const int *pair, int node[4])
{
    int k = 0, i;
    if (kind == 3) for (i = 0; i < 2; ++i) node[k++] = s->edge[2 * pair[0] + i];
    else node[k++] = pair[0];
    if (kind == 0) node[k++] = pair[1];
    else if (kind == 2) for (i = 0; i < 3; ++i) node[k++] = s->tri[3 * pair[1] + i];
    else for (i = 0; i < 2; ++i) node[k++] = s->edge[2 * pair[1] + i];
    return k;
}

/* Can the motions bring the pair to a fifth of the gap between its boxes at s->x? Both are bounds:
   a no is certain, and most pairs need no more. The gap counts less the separation, the way more a
   part in 1e9, which is above all rounding of positions at these distances. */
static int may_meet(const rsim *s, int kind, const int *node, int k)
{
    const gap_rigid_ccd_motion *a = s->motion + s->owner[node[0]];
    const gap_rigid_ccd_motion *b = s->motion + s->owner[node[k - 1]];
    double gap = 0.0, way = 0.0, reach;
    int first = kind == 3 ? 2 : 1, c, i;
    for (c = 0; c < s->dim; ++c) {
        double lo[2] = {HUGE_VAL, HUGE_VAL}, hi[2] = {-HUGE_VAL, -HUGE_VAL}, d;
        for (i = 0; i < k; ++i) {
            double v = s->x[(size_t)s->dim * (size_t)node[i] + (size_t)c];
            lo[i >= first] = fmin(lo[i >= first], v);
            hi[i >= first] = fmax(hi[i >= first], v);
        }
        gap = fmax(gap, fmax(lo[0] - hi[1], lo[1] - hi[0]));
        d = (a->q[1][c] - a->q[0][c]) - (b->q[1][c] - b->q[0][c]);
        way += d * d;
    }
    way = sqrt(way) + a->turn * s->body[s->owner[node[0]]].radius +
        b->turn * s->body[s->owner[node[k - 1]]].radius;
    reach = a->reach + b->reach + s->length;
    return !(0.8 * (gap - s->sc->separation) > way * (1.0 + 1e-9) + 1e-13 * reach);
}

static void ccd_range(void *ctx, int begin, int end, int worker)
{
    ccd_job *j = ctx;
    rsim *s = j->s;
    double t = j->t, toi, X[12];
    int i, v, c, node[4], k, status = 0, r;
    (void)worker;
    for (i = begin; i < end && status >= 0 && status != 2; ++i) {
        k = pair_nodes(s, j->kind, j->pair + 2 * (size_t)(j->first + i), node);
        if (!may_meet(s, j->kind, node, k)) continue;
        for (v = 0; v < k; ++v) for (c = 0; c < s->dim; ++c) {
            X[s->dim * v + c] = s->X[(size_t)s->dim * (size_t)node[v] + (size_t)c];
        }
        r = gap_rigid_ccd_query(&s->curved, s->dim, j->kind, s->motion + s->owner[node[0]],
            s->motion + s->owner[node[k - 1]], X, s->sc->separation, t, &toi, NULL);
        if (r < 0 || r == 2) status = r;
        if (r != 0 && toi < t) t = toi;
    }
    j->part[begin / PAIRS] = t;
    j->status[begin / PAIRS] = status;
}

/* Shrinks *t to what all candidates allow along the motions, positions at their start in s->x.
   Rounds of fixed size begin with the earliest time of those before, so that the answer does not
   depend on threads. */
static int safe_time(rsim *s, double *t)
{
    double begun = now();
    int kind, first, i, status = 0;
    ccd_job j;
    j.s = s;
    for (kind = 0; kind < 4 && status >= 0 && status != 2; ++kind) {
        j.kind = kind;
        j.pair = s->cand.pair[kind];
        for (first = 0; first < s->cand.count[kind]; first += ROUND) {
            int n = s->cand.count[kind] - first < ROUND ? s->cand.count[kind] - first : ROUND;
            j.first = first;
            j.t = *t;
            pool_for(s->opt.threads, n, PAIRS, ccd_range, &j);
            for (i = 0; i <= (n - 1) / PAIRS; ++i) {
                *t = fmin(*t, j.part[i]);
                if (j.status[i] != 0 && status == 0) status = j.status[i];
            }
        }
    }
    if (s->report) s->report->seconds[1] += now() - begun;
    if (status != 0) *t = 0.0;
    return status < 0 ? status : 0;
}

/* Cut to a radian, then by CCD. Where the step stays within what is left of the margin the
   candidates at hand do, else those of the whole sweep are found: they serve the line search. */
static int bound(void *user, const double *u, const double *p, double *alpha)
{
    rsim *s = user;
    double a = gap_rigid_limit(s->body, s->bodies, p), way = 0.0, t = 1.0;
    int i, c, r = find_contacts(s, u);
    if (r < 0) return r;
    for (i = 0; i < s->n; ++i) s->u_end[i] = u[i] + a * p[i];
    for (i = 0; i < s->bodies; ++i) {
        const double *pi = p + s->per * i;
        double q = 0.0, w = 0.0;
        for (c = 0; c < s->per; ++c) *(c < s->dim ? &q : &w) += pi[c] * pi[c];
        way = fmax(way, a * (sqrt(q) + sqrt(w) * s->body[i].radius));
    }
    way *= 1.0 + 1e-9;
    if (way <= s->slack) {
        s->slack -= way;
        set_motions(s, u, s->u_end);
    } else {
        r = find_candidates(s, u, s->u_end);
        if (r < 0) return r;
    }
    r = safe_time(s, &t);
    *alpha = a * t;
    return r;
}

static int accept(void *user, const double *u, const gap_newton_iteration *it)
{
    rsim *s = user;
    int i, changed = 0, r = find_contacts(s, u);
    if (r < 0) return r;
    if (s->sc->kappa == 0.0) {
        double kappa = gap_barrier_kappa_update(&s->set, &s->bm, s->x, s->length, s->kmax);
        if (kappa < 0.0) return -2;
        changed = kappa != s->kappa;
        s->kappa = kappa;
    }
    if (!s->small && !it->converged) return changed;
    if (s->moving) { /* kinematic bodies on their way */
        gap_rigid_drive(s->body, s->bodies, u, NULL);
        gap_rigid_held(s->body, s->bodies, s->held);
        for (s->moving = 0, i = 0; i < s->bodies; ++i) {
            s->moving |= s->body[i].type == GAP_RIGID_KINEMATIC &&
                s->body[i].held != (1 << s->per) - 1;
        }
        return 1;
    }
    return changed ? 1 : 2;
}

/* ---------------------------------------------------------------- one step */
/* Kinematic bodies straight to their goals where nothing is in the way; else all of the way is left
   to the augmented Lagrangian of gap_rigid: part of it would only squeeze the contacts first. */
static int drive(rsim *s)
{
    double t = 1.0, R[9];
    int i, c, k, r, any = 0;
    memcpy(s->u_end, s->u, (size_t)s->n * sizeof *s->u);
    for (i = 0; i < s->bodies; ++i) {
        gap_rigid_body *b = s->body + i;
        double *u = s->u_end + s->per * i, turn[3];
        if (b->type != GAP_RIGID_KINEMATIC) continue;
        any = 1;
        for (c = 0; c < s->dim; ++c) u[c] = b->goal_q[c];
        for (c = 0; c < 3; ++c) for (k = 0; k < 3; ++k) {
            R[3 * c + k] = b->goal_Q[3 * c] * b->Q0[3 * k] + b->goal_Q[3 * c + 1] *
                b->Q0[3 * k + 1] + b->goal_Q[3 * c + 2] * b->Q0[3 * k + 2];
        }
        gap_rigid_log(R, turn);
        if (s->steps >= s->sc->body[i].poses) { /* by velocity, whole turns too */
            for (c = 0; c < 3; ++c) turn[c] = s->h * b->w[c];
        }
        if (s->dim == 2) u[2] = turn[2];
        else for (c = 0; c < 3; ++c) u[3 + c] = turn[c];
        for (c = 0; c < s->per; ++c) {
            if (b->fixed >> c & 1) u[c] = s->u[s->per * i + c];
        }
    }
    s->moving = any;
    r = find_candidates(s, s->u, any ? s->u_end : NULL);
    if (r < 0 || !any) return r;
    gap_rigid_place(s->body, s->u, 0, s->bodies, s->X, s->x);
    r = safe_time(s, &t);
    if (r < 0) return r;
    if (t < 0.999) return 0;
    for (i = 0; i < s->n; ++i) {
        if (t >= 1.0) s->u[i] = s->u_end[i];
        else s->u[i] += t * (s->u_end[i] - s->u[i]);
    }
    s->moving = 0;
    for (i = 0; i < s->bodies; ++i) {
        gap_rigid_body *b = s->body + i;
        if (b->type == GAP_RIGID_KINEMATIC) b->held = (unsigned char)((1 << s->per) - 1);
    }
    return 0;
}

/* Stiffness that balances inertia and loads at the start of the step; torques count as forces at
   the radius, so that it does not depend on the unit of length. */
static int start_kappa(rsim *s)
{
    double range[2], *g = s->newton_work;
    int i, r;
    range[0] = s->kmin;
    range[1] = s->kmax;
    s->kappa = s->sc->kappa > 0.0 ? s->sc->kappa : s->kmin;
    r = find_contacts(s, s->u);
    if (r < 0 || s->set.count == 0 || s->sc->kappa > 0.0) return r;
    gap_barrier_set_kappa(&s->set, 1.0);
    memset(g, 0, 2 * (size_t)s->n * sizeof *g);
    gap_rigid_frames(s->body, s->u, 0, s->bodies, s->frame);
    gap_rigid_gradient(s->body, s->u, s->frame, 0, s->bodies, g);
    r = add_gradient(s, 0, g + s->n);
    for (i = 0; i < s->n; ++i) {
        const gap_rigid_body *b = s->body + i / s->per;
        s->mask[i] = (unsigned char)(s->held[i / 3] >> (i % 3) & 1);
        if (b->type != GAP_RIGID_DYNAMIC) s->mask[i] = 1;
        if (i % s->per < s->dim || b->radius == 0.0) continue;
        g[i] /= b->radius;
        g[s->n + i] /= b->radius;
    }
    s->kappa = gap_barrier_kappa_start(s->n, g, g + s->n, s->mask, range);
    gap_barrier_set_kappa(&s->set, s->kappa);
    s->set.kappa = s->kappa;
    return r;
}

/* The minimisation with its friction passes; leaves the solution in s->u. */
static int minimise(rsim *s, sim_report *r, gap_newton_result *total)
{
    gap_newton_problem f;
    gap_newton_options o;
    gap_newton_result one;
    int status = 0, pass, most = s->sc->lags < 0 ? 100 : s->sc->lags < 1 ? 1 : s->sc->lags;
    memset(&f, 0, sizeof f);
    memset(&o, 0, sizeof o);
    memset(total, 0, sizeof *total);
    f.user = s;
    f.energy = energy;
    f.gradient = gradient;
    f.solve = solve;
    f.bound = bound;
    f.accept = accept;
    o.h = s->h;
    o.tol = 1e-300; /* accept ends it: the step that counts is that of nodes, not of unknowns */
    o.max_iter = s->sc->max_iterations;
    o.weight = s->weight;
    for (pass = 0; pass < most; ++pass) {
        status = find_contacts(s, s->u);
        if (status >= 0) status = freeze_friction(s);
        if (status < 0) return status;
        s->small = 0;
        status = gap_newton_minimize(&f, &o, s->n, s->u, s->newton_work, &one);
        total->iterations += one.iterations;
        total->halvings += one.halvings;
        if (status == GAP_NEWTON_STOPPED) status = GAP_NEWTON_CONVERGED;
        if (status == GAP_NEWTON_STALLED && s->small) status = GAP_NEWTON_CONVERGED; /* rounding */
        if (status != GAP_NEWTON_CONVERGED) break;
        r->lag = pass + 1;
        if (s->lag.count == 0 && s->set.count == 0) break; /* nothing touches */
        if (pass && one.iterations <= 1) break;            /* the lag has converged */
    }
    if (status < 0) return status;
    if (status == GAP_NEWTON_CONVERGED) return 0;
    return s->moving ? 2 : 1;
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
   no more. */
static double cone(rsim *s)
{
    const gap_barrier_set *c = &s->set;
    int i, at = 0, n = s->lag.count;
    double most = 0.0, limit;
    for (i = 0; i < n; ++i) {
        const int *node = s->lag.node + 4 * (size_t)i;
        while (at < c->count && contact_order(c->kind[at], c->node + 4 * (size_t)at,
            s->lag_kind[i], node) < 0) ++at;
        limit = at < c->count && contact_order(c->kind[at], c->node + 4 * (size_t)at,
            s->lag_kind[i], node) == 0 ? s->mu[i] * c->force[at] : 0.0;
        most = fmax(most, gap_friction_cone(&s->lag, s->x, s->x_ref, i, i + 1, &limit, NULL));
    }
    return most;
}

static void fill_report(rsim *s, sim_report *r, const gap_newton_result *result)
{
    const double *g = s->sc->gravity;
    double f = 1.0 / (s->h * s->h), *grad = s->newton_work, p[3], L[3];
    int i, k;
    r->contacts = s->set.count;
    if (s->set.count > s->most_contacts) s->most_contacts = s->set.count;
    r->min_distance = gap_barrier_min_gap(&s->set);
    for (r->min_force = HUGE_VAL, i = 0; i < s->set.count; ++i) {
        r->min_force = fmin(r->min_force, f * s->set.force[i]);
    }
    for (i = 0; i < s->set.count; ++i) {
        double d = sqrt(s->set.dist2[i]), xi = s->set.offset[i];
        r->max_active = fmax(r->max_active, (s->set.dist2[i] - xi * xi) / (d + xi));
    }
    r->kappa = s->kappa;
    if (gradient(s, s->u, grad) >= 0) { /* forces, and torques over the radius */
        for (i = 0; i < s->n; ++i) {
            const gap_rigid_body *b = s->body + i / s->per;
            double arm = i % s->per < s->dim || b->radius == 0.0 ? 1.0 : b->radius;
            r->momentum_residual = fmax(r->momentum_residual, f * fabs(grad[i]) / arm);
        }
    }
    r->barrier = f * gap_barrier_energy(&s->set, s->x, 0, s->set.count);
    r->friction = f * gap_friction_energy(&s->lag, s->x, s->x_ref, 0, s->lag.count);
    r->cone_residual = f * cone(s);
    gap_rigid_end(s->body, s->bodies, s->u);
    for (i = 0; i < s->bodies; ++i) {
        const gap_rigid_body *b = s->body + i;
        if (b->type != GAP_RIGID_DYNAMIC) continue;
        gap_rigid_momentum(b, p, L);
        r->kinetic += gap_rigid_kinetic(b);
        for (k = 0; k < 3; ++k) {
            r->external -= (b->mass * g[k] + b->force[k]) * b->q[k];
            r->momentum[k] += p[k];
            r->angular[k] += L[k];
        }
    }
    r->elastic = NAN;
    r->min_det = HUGE_VAL;
    r->newton = result->iterations;
    r->halvings = result->halvings;
    r->progress = s->moving ? 0.0 : 1.0;
    r->converged = 1;
}

/* Kinematic bodies whose time is over rest from now on; the others get their goals. */
static void kinematics(rsim *s)
{
    int i, c, k;
    for (i = 0; i < s->bodies; ++i) {
        const rscene_body *from = s->sc->body + i;
        gap_rigid_body *b = s->body + i;
        double q[3], R[9], Q[9];
        if (b->type != GAP_RIGID_KINEMATIC || s->steps >= from->poses) continue;
        for (c = 0; c < 3; ++c) q[c] = from->pose[s->steps][c];
        gap_rigid_exp(from->pose[s->steps] + 3, R, NULL);
        for (c = 0; c < 3; ++c) for (k = 0; k < 3; ++k) {
            const double *Q0 = s->start + 12 * i + 3;
            Q[3 * c + k] = R[3 * c] * Q0[k] + R[3 * c + 1] * Q0[3 + k] + R[3 * c + 2] * Q0[6 + k];
        }
        gap_rigid_goal(b, q, Q);
    }
}

static int try_step(rsim *s, double h, sim_report *r)
{
    gap_newton_result total;
    gap_barrier_options bo = s->set.opt;
    gap_ldlt_options lo = s->ldlt.opt;
    double t = now();
    int status, i;
    memset(r, 0, sizeof *r);
    s->report = r;
    s->h = h;
    memcpy(s->before, s->body, (size_t)s->bodies * sizeof *s->body);
    /* every step starts from nothing but its state, so that a resumed run has the same bits */
    gap_barrier_free(&s->set);
    gap_barrier_init(&s->set, &bo);
    gap_ldlt_free(&s->ldlt);
    gap_ldlt_init(&s->ldlt, &lo);
    s->set_valid = 0;
    s->kappa = s->sc->kappa > 0.0 ? s->sc->kappa : s->kmin;
    gap_friction_freeze(&s->lag, s->dim, 0, s->nodes, NULL, NULL, NULL, NULL, NULL, 0.0, NULL, 1.0);
    for (i = 0; i < s->bodies; ++i) {
        if (s->body[i].type == GAP_RIGID_KINEMATIC && s->time >= s->sc->body[i].until) {
            s->body[i].type = GAP_RIGID_STATIC_BODY;
        }
    }
    status = gap_rigid_begin(s->body, s->bodies, h, s->sc->gravity, s->u);
    if (status >= 0) {
        kinematics(s);
        gap_rigid_place(s->body, s->u, 0, s->bodies, s->X, s->x_ref);
        status = drive(s);
        gap_rigid_held(s->body, s->bodies, s->held);
    }
    if (status >= 0) status = start_kappa(s);
    if (status >= 0) status = minimise(s, r, &total);
    if (status == 0) {
        fill_report(s, r, &total);
        gap_rigid_place(s->body, NULL, 0, s->bodies, s->X, s->x);
        s->set_valid = 0;
        /* what was rounded by ending the step is apart too */
        status = gap_barrier_build(&s->set, &s->bm, s->x, &s->cand, s->sc->dhat, s->kappa);
    }
    if (status != 0) {
        memcpy(s->body, s->before, (size_t)s->bodies * sizeof *s->body);
        gap_rigid_place(s->body, NULL, 0, s->bodies, s->X, s->x);
        s->set_valid = 0;
    } else {
        s->time += h;
        ++s->steps;
    }
    r->seconds[4] = now() - t;
    s->report = NULL;
    return status;
}

int rsim_step(rsim *s, double h, sim_report *r)
{
    sim_report first;
    unsigned char *saved;
    int status = try_step(s, h, r), k;
    if (status != 1) return status;
    saved = malloc(rsim_state_size(s));
    if (!saved) return -2;
    rsim_save(s, saved);
    status = try_step(s, 0.5 * h, &first);
    if (status == 0) {
        --s->steps; /* two halves are one step */
        status = try_step(s, 0.5 * h, r);
    }
    if (status == 0) {
        r->newton += first.newton;
        r->lag += first.lag;
        r->halves = 1;
        for (k = 0; k < SIM_PHASES; ++k) r->seconds[k] += first.seconds[k];
    } else if (!rsim_load(s, saved, rsim_state_size(s))) status = -2;
    free(saved);
    return status;
}

/* ---------------------------------------------------------------- opening: mass */
/* Signed area of the loop through node a, following next; adds twice the area. */
static double loop_area(const double *x, const int *next, int a)
{
    double sum = 0.0;
    int i = a;
    do {
        const double *p = x + 3 * (size_t)i, *q = x + 3 * (size_t)next[i], *o = x + 3 * (size_t)a;
        sum += (p[0] - o[0]) * (q[1] - o[1]) - (q[0] - o[0]) * (p[1] - o[1]);
        i = next[i];
    } while (i != a);
    return sum;
}

/* Is the point inside the loop through a? Crossings of a ray to the right. */
static int loop_holds(const double *x, const int *next, int a, const double *p)
{
    int i = a, odd = 0;
    do {
        const double *q = x + 3 * (size_t)i, *r = x + 3 * (size_t)next[i];
        if ((q[1] > p[1]) != (r[1] > p[1])) {
            odd ^= p[0] < q[0] + (p[1] - q[1]) * (r[0] - q[0]) / (r[1] - q[1]);
        }
        i = next[i];
    } while (i != a);
    return odd;
}

/* 2D: if the edges are closed loops, turns them so that the body lies on their left: outermost
   loops counter-clockwise, holes the other way. 1 if closed; -1 out of memory. */
static int orient_loops(mesh *m)
{
    int *room = malloc((4 * (size_t)m->nodes + 1) * sizeof *room), *near, *next, *loop, i, k, n = 0;
    int closed = m->edges > 0;
    if (!room) return -1;
    near = room;
    next = room + 2 * (size_t)m->nodes;
    loop = next + m->nodes;
    for (i = 0; i < 3 * m->nodes; ++i) room[i] = -1;
    for (i = 0; i < 2 * m->edges && closed; ++i) {
        int a = m->edge[i], b = m->edge[i ^ 1];
        if (near[2 * a] < 0) near[2 * a] = b;
        else if (near[2 * a + 1] < 0 && near[2 * a] != b) near[2 * a + 1] = b;
        else closed = 0;
    }
    for (i = 0; i < m->nodes && closed; ++i) {
        if ((near[2 * i] >= 0) != (near[2 * i + 1] >= 0)) closed = 0;
    }
    for (i = 0; i < m->nodes && closed; ++i) { /* walk every loop once */
        int a = i, last = near[2 * i + 1];
        if (near[2 * i] < 0 || next[i] >= 0) continue;
        loop[n++] = i;
        do {
            next[a] = near[2 * a] == last ? near[2 * a + 1] : near[2 * a];
            last = a;
            a = next[a];
        } while (a != i);
    }
    for (k = 0, i = 0; k < n && closed; ++k) {
        int depth = 0, j, a;
        for (j = 0; j < n; ++j) {
            if (j != k) depth += loop_holds(m->x, next, loop[j], m->x + 3 * (size_t)loop[k]);
        }
        a = loop[k];
        if ((loop_area(m->x, next, a) > 0.0) == (depth % 2 == 0)) depth = 0;
        else depth = 1; /* against the order of next */
        do {
            m->edge[2 * i + depth] = a;
            m->edge[2 * i + 1 - depth] = next[a];
            ++i;
            a = next[a];
        } while (a != loop[k]);
    }
    free(room);
    return closed;
}

static int say(char *error, size_t size, const rscene_body *b, const char *what)
{
    snprintf(error, size, "%d: %s %s", b->line, b->name, what);
    return 0;
}

/* Which rule the parts of a body follow. */
static int top_rule(const rscene_body *b, int dim, int closed)
{
    if (dim == 3 && b->m.tris) return closed ? RSCENE_SOLID : RSCENE_SURFACE;
    if (b->m.edges) return dim == 2 && closed ? RSCENE_SOLID : RSCENE_WIRE;
    return RSCENE_POINTS;
}

/* Moments of a body by its rule, in 2D arrays x with dim per node. 1, or 0 and error. */
static int weigh(const rscene_body *b, int dim, int closed, const double *x, gap_rigid_moments *M,
    char *error, size_t size)
{
    static const char *const wanted[] = {"must be a closed surface, but is open: no volume",
        "must be a surface, but has no faces", "must be a wire, but has no edges", "has no points"};
    int top = top_rule(b, dim, closed), rule = b->rule == RSCENE_AUTO ? top : b->rule, r = 0, bad;
    const int *elem = rule == RSCENE_POINTS ? NULL : dim == 3 && rule < 2 ? b->m.tri : b->m.edge;
    int count = rule == RSCENE_POINTS ? b->m.nodes : dim == 3 && rule < 2 ? b->m.tris : b->m.edges;
    char text[200];
    if (count == 0 || (rule == RSCENE_SOLID && top != RSCENE_SOLID) ||
        (dim == 2 && rule == RSCENE_SURFACE)) return say(error, size, b, wanted[rule]);
    gap_rigid_moments_begin(M, dim, b->m.nodes, x);
    r = gap_rigid_moments_add(M, (gap_rigid_rule)rule, b->density[rule], b->m.nodes, x, count, elem,
        &bad);
    if (b->mixed && r >= 0 && rule < RSCENE_WIRE && dim == 3 && b->m.edges) {
        r = gap_rigid_moments_add(M, GAP_RIGID_WIRE, b->density[RSCENE_WIRE], b->m.nodes, x,
            b->m.edges, b->m.edge, &bad);
    }
    if (b->mixed && r >= 0 && rule != RSCENE_POINTS && b->m.points) {
        r = gap_rigid_moments_add(M, GAP_RIGID_POINTS, b->density[RSCENE_POINTS], b->m.nodes, x,
            b->m.points, b->m.point, &bad);
    }
    if (r >= 0) return 1;
    if (r == GAP_RIGID_EVOLUME) {
        return say(error, size, b, "is inside out: its closed surface has no positive volume;"
            " turn its faces round");
    }
    snprintf(text, sizeof text, r == GAP_RIGID_ENONFIN ? "has a coordinate that is not finite"
        : "has no size in %s %d", rule < 2 && dim == 3 ? "face" : "edge", bad);
    return say(error, size, b, text);
}

/* Nodes of a body from the scene, dim each, then about its centre of mass. */
static int open_body(rsim *s, int i, char *error, size_t size)
{
    const rscene_body *from = s->sc->body + i;
    rscene_body copy = *from;
    gap_rigid_body *b = s->body + i;
    gap_rigid_moments M;
    int first = b->first, j, c, closed, r, *work;
    double *x = s->X + (size_t)s->dim * (size_t)first;
    for (j = 0; j < from->m.nodes; ++j) for (c = 0; c < s->dim; ++c) {
        x[s->dim * j + c] = from->m.x[3 * (size_t)j + (size_t)c];
    }
    copy.m.edge = malloc((2 * (size_t)from->m.edges + 1) * sizeof *copy.m.edge);
    work = malloc((6 * (size_t)from->m.tris + 1) * sizeof *work);
    if (copy.m.edge && from->m.edges) {
        memcpy(copy.m.edge, from->m.edge, 2 * (size_t)from->m.edges * sizeof *copy.m.edge);
    }
    closed = !copy.m.edge || !work ? -1 : s->dim == 2 ? orient_loops(&copy.m) :
        from->m.tris ? gap_rigid_closed(3, from->m.tris, from->m.tri, work) : 0;
    r = closed >= 0 && weigh(&copy, s->dim, closed, x, &M, error, size);
    if (!r && closed >= 0 && from->type == 1 && from->rule == RSCENE_AUTO) {
        copy.rule = RSCENE_POINTS; /* what never moves needs no mass */
        r = weigh(&copy, s->dim, closed, x, &M, error, size);
    }
    free(copy.m.edge);
    free(work);
    if (closed < 0) return 0;
    if (!r) return 0;
    r = gap_rigid_init(b, &M, from->m.nodes, x);
    if (r == GAP_RIGID_EMASS) return say(error, size, from, "has no mass");
    if (r < 0) return say(error, size, from, "has a coordinate that is not finite");
    b->first = first;
    b->type = from->type;
    b->fixed = from->fixed;
    for (c = 0; c < 3; ++c) {
        b->v[c] = from->type == 1 || (c < s->dim && from->fixed >> c & 1) ? 0.0 : from->velocity[c];
        b->force[c] = from->force[c];
        b->torque[c] = from->torque[c];
    }
    if (from->type != 1) gap_rigid_set_spin(b, from->spin);
    memcpy(s->start + 12 * i, b->q, sizeof b->q);
    memcpy(s->start + 12 * i + 3, b->Q, sizeof b->Q);
    return 1;
}

/* ---------------------------------------------------------------- opening: arrays */
static void *room(int *ok, size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (!p) *ok = 0;
    return p;
}

static int open_arrays(rsim *s)
{
    const rscene *sc = s->sc;
    int ok = 1, i, j, segs = 0, base = 0, *all;
    size_t v, n, d = (size_t)s->dim, w = (size_t)pool_workers(s->opt.threads);
    for (i = 0; i < sc->bodies; ++i) {
        const mesh *m = &sc->body[i].m;
        s->nodes += m->nodes;
        s->tris += m->tris;
        s->points += m->points;
        segs += m->edges;
    }
    s->per = gap_rigid_unknowns(s->dim);
    s->bodies = sc->bodies;
    s->n = s->per * s->bodies;
    v = (size_t)s->nodes;
    n = (size_t)s->n;
    s->scratch_each = CHUNK * 4 * d + 16 * d * d + 4 * (size_t)(s->per * s->per);
    s->tri = room(&ok, 3 * (size_t)s->tris, sizeof(int));
    s->edge = room(&ok, 2 * (size_t)segs, sizeof(int));
    s->point = room(&ok, (size_t)s->points, sizeof(int));
    s->owner = room(&ok, v, sizeof(int));
    s->group = room(&ok, v, sizeof(int));
    s->X = room(&ok, d * v, sizeof(double));
    s->thick = room(&ok, v, sizeof(double));
    s->reach = room(&ok, v, sizeof(double));
    s->vfixed = room(&ok, v, 1);
    s->held = room(&ok, n / 3, 1);
    s->mask = room(&ok, n, 1);
    s->body = room(&ok, (size_t)s->bodies, sizeof *s->body);
    s->before = room(&ok, (size_t)s->bodies, sizeof *s->before);
    s->frame = room(&ok, (size_t)s->bodies, sizeof *s->frame);
    s->motion = room(&ok, (size_t)s->bodies, sizeof *s->motion);
    s->start = room(&ok, 12 * (size_t)s->bodies, sizeof(double));
    s->u = room(&ok, n, sizeof(double));
    s->u_at = room(&ok, n, sizeof(double));
    s->u_end = room(&ok, n, sizeof(double));
    s->weight = room(&ok, n, sizeof(double));
    s->newton_work = room(&ok, 4 * n, sizeof(double));
    s->hess = room(&ok, n * (size_t)s->per, sizeof(double));
    s->x = room(&ok, d * v, sizeof(double));
    s->x_ref = room(&ok, d * v, sizeof(double));
    s->x_end = room(&ok, d * v, sizeof(double));
    s->x_from = room(&ok, d * v, sizeof(double));
    s->block = room(&ok, RANGE * 4 * (size_t)(s->per * s->per), sizeof(double));
    s->scratch = room(&ok, (w < 1 ? 1 : w) * s->scratch_each, sizeof(double));
    s->stencil = room(&ok, RANGE * 4, sizeof(int));
    s->body_stencil = room(&ok, n / 3, sizeof(int));
    if (!ok) return 0;
    for (i = 0; i < (int)(n / 3); ++i) s->body_stencil[i] = i;
    s->tris = s->points = segs = 0;
    for (i = 0; i < sc->bodies; ++i) {
        const mesh *m = &sc->body[i].m;
        for (j = 0; j < 3 * m->tris; ++j) s->tri[3 * s->tris + j] = base + m->tri[j];
        for (j = 0; j < 2 * m->edges; ++j) s->edge[2 * segs + j] = base + m->edge[j];
        for (j = 0; j < m->points; ++j) s->point[s->points + j] = base + m->point[j];
        for (j = 0; j < m->nodes; ++j) {
            s->owner[base + j] = i;
            s->group[base + j] = sc->body[i].group;
            s->thick[base + j] = 0.5 * sc->separation;
            s->vfixed[base + j] = (unsigned char)(sc->body[i].type == 1 ? 7 : 0);
        }
        s->body[i].first = base;
        s->tris += m->tris;
        segs += m->edges;
        s->points += m->points;
        base += m->nodes;
    }
    s->edges = mesh_unique_edges(s->tri, s->tris, s->edge, segs, &all);
    if (s->edges < 0) return 0;
    free(s->edge);
    s->edge = all;
    return 1;
}

static int open_solver(rsim *s)
{
    gap_sparse_options so;
    gap_broad_options bo;
    gap_barrier_options ko;
    gap_ldlt_options lo;
    gap_broad_mesh gm;
    int r, w = pool_workers(s->opt.threads);
    memset(&so, 0, sizeof so);
    memset(&bo, 0, sizeof bo);
    memset(&ko, 0, sizeof ko);
    memset(&lo, 0, sizeof lo);
    memset(&gm, 0, sizeof gm);
    if (s->opt.threads && w > 1) {
        so.parallel_for = bo.parallel_for = ko.parallel_for = lo.parallel_for = pool_for;
        so.parallel_user = bo.parallel_user = ko.parallel_user = lo.parallel_user = s->opt.threads;
        so.workers = bo.workers = ko.workers = lo.workers = w;
    }
    lo.order = GAP_LDLT_ORDER_AMD;
    gap_barrier_init(&s->set, &ko);
    gap_broad_init(&s->broad, &bo);
    gap_ldlt_init(&s->ldlt, &lo);
    gap_friction_init(&s->lag, NULL);
    r = gap_sparse_init(&s->A, s->n / 3, 3, &so);
    if (r >= 0) r = gap_sparse_link(&s->A, s->bodies, s->per / 3, s->body_stencil);
    if (r >= 0) r = gap_sparse_build(&s->A);
    if (r >= 0) r = gap_sparse_keep(&s->A);
    gm.dim = s->bm.dim = s->dim;
    gm.nodes = s->bm.nodes = s->nodes;
    gm.edges = s->bm.edges = s->edges;
    gm.edge = s->bm.edge = s->edge;
    gm.tris = s->bm.tris = s->tris;
    gm.tri = s->bm.tri = s->tri;
    gm.points = s->points;
    gm.point = s->point;
    gm.fixed = s->bm.fixed = s->vfixed;
    gm.radius = s->reach;
    s->bm.radius = s->thick;
    gm.group = s->group;
    s->bm.rest = s->X;
    s->margin = s->sc->dhat;
    if (r >= 0) r = gap_broad_set_mesh(&s->broad, &gm);
    s->curved.linear = s->opt.additive ? gap_accd_pair : gap_ccd_pair;
    s->curved.user = s->opt.additive ? (void *)&s->accd_opt : (void *)&s->ccd_opt;
    return r >= 0;
}

/* Lengths, tolerances, stiffness, weights. */
static void open_physics(rsim *s)
{
    const rscene *sc = s->sc;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    double bounds[2], mass;
    int i, c, friction = 0;
    gap_rigid_place(s->body, NULL, 0, s->bodies, s->X, s->x);
    for (i = 0; i < s->nodes; ++i) for (c = 0; c < s->dim; ++c) {
        double x = s->x[(size_t)s->dim * (size_t)i + (size_t)c];
        low[c] = fmin(low[c], x);
        high[c] = fmax(high[c], x);
    }
    for (c = 0; c < s->dim; ++c) s->length += (high[c] - low[c]) * (high[c] - low[c]);
    s->length = sqrt(s->length);
    for (i = 0; i < s->bodies; ++i) friction |= sc->body[i].mu > 0.0 && sc->lags != 0;
    s->eps_d = sc->tolerance * (sc->tolerance_absolute ? 1.0 : s->length);
    if (friction && !sc->parity) s->eps_d = fmin(s->eps_d, sc->eps_v / 50.0);
    mass = gap_rigid_mean_mass(s->body, s->bodies, sc->scale); /* inertia as if of 1 m */
    gap_barrier_kappa_bounds(&s->set.opt, s->length, mass, sc->dhat, sc->separation,
        sc->kappa_scale, bounds);
    s->kmin = bounds[0];
    s->kmax = bounds[1];
    s->kappa = sc->kappa > 0.0 ? sc->kappa : s->kmin;
    for (i = 0; i < s->n; ++i) {
        const gap_rigid_body *b = s->body + i / s->per;
        double inertia = b->J[0] + b->J[4] + b->J[8];
        s->weight[i] = i % s->per < s->dim ? b->mass : inertia;
        if (!(s->weight[i] > 0.0)) s->weight[i] = b->mass * s->length * s->length;
    }
}

/* ---------------------------------------------------------------- opening: is the start free? */
static void add_guilty(const rsim *s, mesh *out, const int *node, int n)
{
    int i, c, base = mesh_add_nodes(out, n), at;
    if (base < 0) return;
    out->order = 1;
    for (i = 0; i < n; ++i) for (c = 0; c < s->dim; ++c) {
        out->x[3 * (size_t)(base + i) + (size_t)c] = s->x[(size_t)s->dim * (size_t)node[i] +
            (size_t)c];
    }
    at = n == 3 ? mesh_add_tris(out, 1) : n == 2 ? mesh_add_edges(out, 1) : mesh_add_points(out, 1);
    for (i = 0; i < n && at >= 0; ++i) {
        (n == 3 ? out->tri : n == 2 ? out->edge : out->point)[n * at + i] = base + i;
    }
}

/* Names a pair of primitives: first the line of the later body, then one line a pair. */
static void name_pair(const rsim *s, int met, const char *how, int a, int b, char *error,
    size_t size)
{
    const rscene_body *A = s->sc->body + s->owner[a], *B = s->sc->body + s->owner[b];
    const double *x = s->x + (size_t)s->dim * (size_t)a;
    size_t at = strlen(error);
    if (at == 0) {
        at = (size_t)snprintf(error, size, "%d: the scene starts with bodies that %s, %d pairs:",
            A->line > B->line ? A->line : B->line, how, met);
    }
    if (at < size) snprintf(error + at, size - at, "\n  %s and %s near (%.9g, %.9g, %.9g)", A->name,
        B->name, x[0], x[1], s->dim == 3 ? x[2] : 0.0);
}

/* Triangles, edges and points are numbered in this order. */
static int element(const rsim *s, int e, const int **node)
{
    if (e < s->tris) return *node = s->tri + 3 * (size_t)e, 3;
    e -= s->tris;
    if (e < s->edges) return *node = s->edge + 2 * (size_t)e, 2;
    return *node = s->point + (e - s->edges), 1;
}

static int meetings(rsim *s, size_t capacity, int *pair, int *status)
{
    gap_exact_mesh m;
    int how[64], met;
    void *work;
    memset(&m, 0, sizeof m);
    m.dim = s->dim;
    m.nodes = s->nodes;
    m.x = s->x;
    m.tris = s->tris;
    m.tri = s->tri;
    m.edges = s->edges;
    m.edge = s->edge;
    m.points = s->points;
    m.point = s->point;
    m.group = s->group;
    work = malloc(gap_exact_mesh_work(&m));
    *status = -2;
    if (!work) return 0;
    met = (int)gap_exact_mesh_meets(&m, NULL, work, capacity < 64 ? capacity : 64, pair, how,
        status);
    free(work);
    return met;
}

static int check_start(rsim *s, mesh *guilty, char *error, size_t size)
{
    int r, i, k, met, pair[128], status, node[4];
    const int *e;
    gap_rigid_begin(s->body, s->bodies, s->sc->h, NULL, s->u);
    r = find_candidates(s, s->u, NULL);
    if (r >= 0) r = find_contacts(s, s->u);
    if (r == GAP_BARRIER_ETOUCH) {
        for (i = 0; i < s->set.guilty_count && i < 64; ++i) {
            const int *g = s->set.guilty + 3 * (size_t)i;
            int n = pair_nodes(s, g[0], g + 1, node), first = g[0] == 3 ? 2 : 1;
            if (i < 10) name_pair(s, s->set.guilty_count, s->sc->separation > 0.0 ?
                "are nearer than the minimum separation" : "touch", node[0], node[n - 1], error,
                size);
            add_guilty(s, guilty, node, first);
            add_guilty(s, guilty, node + first, n - first);
        }
        return 0;
    }
    if (r < 0) {
        snprintf(error, size, r == -2 ? "out of memory" : "1: contact set refused (error %d)", r);
        return 0;
    }
    met = meetings(s, 64, pair, &status);
    for (i = 0; i < met && i < 64; ++i) {
        for (k = 0; k < 2; ++k) {
            int n = element(s, pair[2 * i + k], &e);
            add_guilty(s, guilty, e, n);
            node[k] = e[0];
        }
        if (i < 10) name_pair(s, met, "intersect", node[0], node[1], error, size);
    }
    if (status < 0) snprintf(error, size, status == -2 ? "out of memory" :
        "1: a coordinate is not finite");
    return met == 0 && status >= 0;
}

rsim *rsim_open(const rscene *sc, const rsim_options *opt, mesh *guilty, char *error, size_t size)
{
    rsim *s = calloc(1, sizeof *s);
    int i, ok;
    error[0] = '\0';
    if (!s) {
        snprintf(error, size, "out of memory");
        return NULL;
    }
    s->sc = sc;
    s->opt = *opt;
    s->dim = sc->dim;
    ok = open_arrays(s);
    for (i = 0; i < s->bodies && ok; ++i) ok = open_body(s, i, error, size);
    ok = ok && open_solver(s);
    if (ok) {
        open_physics(s);
        ok = check_start(s, guilty, error, size);
        s->set_valid = 0;
    }
    if (!ok) {
        if (!error[0]) snprintf(error, size, "out of memory");
        rsim_close(s);
        return NULL;
    }
    return s;
}

void rsim_close(rsim *s)
{
    void *all[40];
    int n = 0, i;
    if (!s) return;
    gap_ldlt_free(&s->ldlt);
    gap_sparse_free(&s->A);
    gap_friction_free(&s->lag);
    gap_barrier_free(&s->set);
    gap_broad_free(&s->broad);
    all[n++] = s->tri; all[n++] = s->edge; all[n++] = s->point; all[n++] = s->owner;
    all[n++] = s->group; all[n++] = s->X; all[n++] = s->thick; all[n++] = s->reach;
    all[n++] = s->vfixed; all[n++] = s->held; all[n++] = s->mask; all[n++] = s->body;
    all[n++] = s->before; all[n++] = s->frame; all[n++] = s->motion; all[n++] = s->start;
    all[n++] = s->u; all[n++] = s->u_at; all[n++] = s->u_end; all[n++] = s->weight;
    all[n++] = s->newton_work; all[n++] = s->hess; all[n++] = s->x; all[n++] = s->x_ref;
    all[n++] = s->x_end; all[n++] = s->x_from; all[n++] = s->block; all[n++] = s->scratch;
    all[n++] = s->stencil; all[n++] = s->body_stencil; all[n++] = s->mu; all[n++] = s->lag_kind;
    all[n++] = s->touch; all[n++] = s->pair_first; all[n++] = s->pair_stencil;
    for (i = 0; i < n; ++i) free(all[i]);
    free(s);
}

/* ---------------------------------------------------------------- looking at it */
double rsim_time(const rsim *s) { return s->time; }
long long rsim_steps(const rsim *s) { return s->steps; }
double rsim_length(const rsim *s) { return s->length; }
int rsim_nodes(const rsim *s) { return s->nodes; }
double rsim_mass(const rsim *s, int body) { return s->body[body].mass; }
const double *rsim_frame(const rsim *s) { return s->x; }

void rsim_kappa_bounds(const rsim *s, double kappa[2])
{
    kappa[0] = s->kmin;
    kappa[1] = s->kmax;
}

double rsim_shortest_edge(const rsim *s)
{
    double least = HUGE_VAL;
    int i, c;
    for (i = 0; i < s->edges; ++i) {
        double d2 = 0.0;
        for (c = 0; c < s->dim; ++c) {
            double d = s->X[s->dim * s->edge[2 * i] + c] - s->X[s->dim * s->edge[2 * i + 1] + c];
            d2 += d * d;
        }
        least = fmin(least, d2);
    }
    return sqrt(least);
}

/* Rotation since the start as a vector. */
static void turned(const rsim *s, int body, double out[3])
{
    const double *Q = s->body[body].Q, *Q0 = s->start + 12 * body + 3;
    double R[9];
    int i, j;
    for (i = 0; i < 3; ++i) for (j = 0; j < 3; ++j) {
        R[3 * i + j] = Q[3 * i] * Q0[3 * j] + Q[3 * i + 1] * Q0[3 * j + 1] +
            Q[3 * i + 2] * Q0[3 * j + 2];
    }
    gap_rigid_log(R, out);
}

static double length3(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

void rsim_pose(const rsim *s, int body, double out[13])
{
    const gap_rigid_body *b = s->body + body;
    double w[3], angle, f;
    int c;
    turned(s, body, w);
    angle = length3(w);
    f = angle > 0.0 ? sin(0.5 * angle) / angle : 0.5;
    out[3] = cos(0.5 * angle);
    for (c = 0; c < 3; ++c) {
        out[c] = b->q[c];
        out[4 + c] = f * w[c];
        out[7 + c] = b->v[c];
        out[10 + c] = b->w[c];
    }
}

int rsim_topology(const rsim *s, struct frames_topo *out)
{
    int i, k = 0, lone = 0, ok = 1;
    char *in_tri = calloc((size_t)s->nodes + 1, 1);
    memset(out, 0, sizeof *out);
    if (!in_tri) return 0;
    for (i = 0; i < 3 * s->tris; ++i) in_tri[s->tri[i]] = 1;
    for (i = 0; i < s->edges; ++i) lone += !in_tri[s->edge[2 * i]] || !in_tri[s->edge[2 * i + 1]];
    out->nodes = s->nodes;
    out->tris = s->tris;
    out->edges = lone;
    out->points = s->points;
    out->tri = room(&ok, 3 * (size_t)s->tris, sizeof(int));
    out->edge = room(&ok, 2 * (size_t)lone, sizeof(int));
    out->point = room(&ok, (size_t)s->points, sizeof(int));
    out->body = room(&ok, (size_t)s->nodes, sizeof(int));
    out->radius = room(&ok, (size_t)s->nodes, sizeof(double));
    if (ok) {
        if (s->tris) memcpy(out->tri, s->tri, 3 * (size_t)s->tris * sizeof(int));
        if (s->points) memcpy(out->point, s->point, (size_t)s->points * sizeof(int));
        memcpy(out->body, s->owner, (size_t)s->nodes * sizeof(int));
        memcpy(out->radius, s->thick, (size_t)s->nodes * sizeof(double));
        for (i = 0; i < s->edges; ++i) {
            if (in_tri[s->edge[2 * i]] && in_tri[s->edge[2 * i + 1]]) continue;
            out->edge[k++] = s->edge[2 * i];
            out->edge[k++] = s->edge[2 * i + 1];
        }
    }
    free(in_tri);
    return ok;
}

void rsim_topology_free(struct frames_topo *t)
{
    free(t->tri);
    free(t->edge);
    free(t->point);
    free(t->body);
    free(t->radius);
}

int rsim_verify(rsim *s, int *met)
{
    int status;
    *met = meetings(s, 0, NULL, &status);
    return status;
}

/* Of one body. 0 if the name is not known. */
static int quantity(const rsim *s, int body, const char *name, double *out)
{
    const gap_rigid_body *b = s->body + body;
    double d[3], low = HUGE_VAL, high = -HUGE_VAL;
    int axis = name[0] ? name[strlen(name) - 1] - 'x' : -1, i;
    for (i = 0; i < 3; ++i) d[i] = b->q[i] - s->start[12 * body + i];
    if (strcmp(name, "speed") == 0) *out = length3(b->v);
    else if (strcmp(name, "moved") == 0) *out = length3(d);
    else if (strcmp(name, "spin") == 0) *out = length3(b->w) * (180.0 / 3.14159265358979323846);
    else if (strcmp(name, "kinetic") == 0) *out = gap_rigid_kinetic(b);
    else if (strcmp(name, "turned") == 0) {
        turned(s, body, d);
        *out = length3(d) * (180.0 / 3.14159265358979323846);
    } else if (axis < 0 || axis >= s->dim) return 0;
    else if (strncmp(name, "mean_", 5) == 0) *out = b->q[axis];
    else if (name[0] == 'v' && strlen(name) == 2) *out = b->v[axis];
    else if (strncmp(name, "min_", 4) == 0 || strncmp(name, "max_", 4) == 0) {
        for (i = b->first; i < b->first + b->count; ++i) {
            low = fmin(low, s->x[s->dim * i + axis]);
            high = fmax(high, s->x[s->dim * i + axis]);
        }
        *out = name[1] == 'i' ? low : high;
    } else return 0;
    return 1;
}

/* Without a body: min_ the least, kinetic the sum, others the largest of all dynamic ones. */
int rsim_quantity(rsim *s, const char *name, const char *body, double *out)
{
    int i, any = 0;
    double v;
    if (strcmp(name, "contacts") == 0) return *out = s->most_contacts, 1;
    for (i = 0; i < s->bodies; ++i) {
        if (body[0] ? strcmp(s->sc->body[i].name, body) != 0 : s->sc->body[i].type != 0) continue;
        if (!quantity(s, i, name, &v)) return 0;
        if (!any) *out = v;
        else if (strcmp(name, "kinetic") == 0) *out += v;
        else *out = strncmp(name, "min_", 4) == 0 ? fmin(*out, v) : fmax(*out, v);
        any = 1;
    }
    return any;
}

/* ---------------------------------------------------------------- checkpoint */
typedef struct saved {
    long long steps, bodies, most_contacts;
    double time, kappa;
    unsigned long long hash;
} saved;

size_t rsim_state_size(const rsim *s)
{
    return sizeof(saved) + (size_t)s->bodies * sizeof *s->body;
}

void rsim_save(const rsim *s, void *bytes)
{
    saved h;
    memset(&h, 0, sizeof h);
    h.steps = s->steps;
    h.bodies = s->bodies;
    h.most_contacts = s->most_contacts;
    h.time = s->time;
    h.kappa = s->kappa;
    h.hash = s->sc->hash;
    memcpy(bytes, &h, sizeof h);
    memcpy((unsigned char *)bytes + sizeof h, s->body, (size_t)s->bodies * sizeof *s->body);
}

int rsim_load(rsim *s, const void *bytes, size_t size)
{
    saved h;
    if (size != rsim_state_size(s)) return 0;
    memcpy(&h, bytes, sizeof h);
    if (h.bodies != s->bodies || h.hash != s->sc->hash || h.steps < 0) return 0;
    memcpy(s->body, (const unsigned char *)bytes + sizeof h, (size_t)s->bodies * sizeof *s->body);
    s->steps = h.steps;
    s->time = h.time;
    s->kappa = h.kappa;
    s->most_contacts = (int)h.most_contacts;
    s->set_valid = 0;
    gap_rigid_place(s->body, NULL, 0, s->bodies, s->X, s->x);
    return 1;
}
