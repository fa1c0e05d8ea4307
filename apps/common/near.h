/* near.h - which primitives are near each other, how near, and do they stay apart in motion
   Plain floating point with bounds on its rounding, so that what it says can be relied on and the
   rest can be left to exact arithmetic. Kinds as everywhere: 0 vv, 1 ve, 2 vf, 3 ee. */
#ifndef NEAR_H
#define NEAR_H

/* Local copies of up to 4 points, relative to the first of the second side (2D: z = 0). */
typedef struct near_pair {
    int kind, na, nb; /* nodes of the first and of the second side */
    int node[4];
    double y[4][3], size; /* size: largest |y| */
} near_pair;

void near_pair_make(near_pair *p, int kind, int dim, const int *a, const int *b, const double *x);

/* low <= distance <= high; apart by about 1e-13 size, more for slivers and near contact. */
void near_bounds(near_pair *p, double *low, double *high);

/* All y move on straight lines to y1 (in the coordinates of p->y); size: the largest |y| of both.
   1: proved apart for all t in [0,1]; else 0 and *when, where the proof failed. */
int near_apart(const near_pair *p, double (*y1)[3], double size, double *when);

/* A binary tree of boxes (least x y z, greatest x y z), halved at the median of the longest. */
typedef struct near_node {
    double box[6];
    int begin, end, child; /* child: first of two, or -1 */
} near_node;

typedef struct near_tree {
    int n, nodes;
    const double *box; /* the caller's, 6 per item */
    int *order;
    near_node *node;
} near_tree;

int near_tree_make(near_tree *t, int n, const double *box); /* 0: out of memory */
void near_tree_free(near_tree *t);

/* Items after `after` whose boxes are within sqrt(*limit), near ones first; visit may lower it. */
typedef void (*near_visit)(void *ctx, int item);
void near_tree_visit(const near_tree *t, const double *box, const double *limit, int after,
    near_visit visit, void *ctx);

#endif
