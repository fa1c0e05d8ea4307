/* raster.c - see raster.h */
#include "raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHADOW 2048   /* side of the shadow map */
#define MARGIN 1.12   /* of a fitted picture, about the scene */
#define BIAS 3e-3f    /* of the scene's extent along the light: hides the map's own grid */

struct raster {
    int width, height, samples, w, h; /* w, h: of the sample grid */
    float *depth;                     /* 1 / distance along the view; larger is nearer */
    float (*color)[3];
    unsigned char *image;
    float *shadow;                    /* depth along the light; smaller is nearer to it */
    double axis[3][3], eye[3], focal; /* right, up, towards the eye */
    double laxis[3][3], llow[3], lscale[3];
    double light[3];
};

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static int normalize(double a[3])
{
    double n = sqrt(dot(a, a));
    int k;
    if (!(n > 0.0)) return 0;
    for (k = 0; k < 3; ++k) a[k] /= n;
    return 1;
}

raster *raster_open(int width, int height, int samples)
{
    raster *r = calloc(1, sizeof *r);
    size_t n;
    if (!r) return NULL;
    r->width = width;
    r->height = height;
    r->samples = samples;
    r->w = width * samples;
    r->h = height * samples;
    n = (size_t)r->w * (size_t)r->h;
    r->depth = malloc(n * sizeof *r->depth);
    r->color = malloc(n * sizeof *r->color);
    r->image = malloc(3 * (size_t)width * (size_t)height);
    r->shadow = malloc((size_t)SHADOW * SHADOW * sizeof *r->shadow);
    if (!r->depth || !r->color || !r->image || !r->shadow) {
        raster_close(r);
        return NULL;
    }
    return r;
}

void raster_close(raster *r)
{
    if (!r) return;
    free(r->depth);
    free(r->color);
    free(r->image);
    free(r->shadow);
    free(r);
}

/* Three axes with the last along `forward` and the middle near `up`. */
static void frame(const double forward[3], const double up[3], double axis[3][3])
{
    memcpy(axis[2], forward, 3 * sizeof(double));
    normalize(axis[2]);
    cross(up, axis[2], axis[0]);
    if (!normalize(axis[0])) {
        double other[3] = {1.0, 0.0, 0.0};
        if (fabs(axis[2][0]) > 0.9) {
            other[0] = 0.0;
            other[2] = 1.0;
        }
        cross(other, axis[2], axis[0]);
        normalize(axis[0]);
    }
    cross(axis[2], axis[0], axis[1]);
}

raster_view raster_fit(const double *x, int n, double azimuth, double elevation, double zoom,
    int width, int height)
{
    raster_view v;
    double low[3] = {0, 0, 0}, high[3] = {0, 0, 0}, axis[3][3], dist = 0.0;
    double rad = 3.14159265358979 / 180.0, half = tan(0.5 * 35.0 * rad), aspect;
    int i, k;
    memset(&v, 0, sizeof v);
    aspect = (double)width / height;
    for (i = 0; i < n; ++i) for (k = 0; k < 3; ++k) {
        if (i == 0 || x[3 * i + k] < low[k]) low[k] = x[3 * i + k];
        if (i == 0 || x[3 * i + k] > high[k]) high[k] = x[3 * i + k];
    }
    for (k = 0; k < 3; ++k) v.at[k] = 0.5 * (low[k] + high[k]);
    v.up[1] = 1.0;
    if (fabs(elevation) > 89.0) {
        v.up[1] = 0.0;
        v.up[2] = elevation > 0.0 ? -1.0 : 1.0;
    }
    v.eye[0] = cos(elevation * rad) * sin(azimuth * rad);
    v.eye[1] = sin(elevation * rad);
    v.eye[2] = cos(elevation * rad) * cos(azimuth * rad);
    frame(v.eye, v.up, axis);
    for (i = 0; i < n; ++i) { /* nearest eye that sees the point, and MARGIN */
        double d[3], side;
        for (k = 0; k < 3; ++k) d[k] = x[3 * i + k] - v.at[k];
        side = fmax(fabs(dot(d, axis[0])) / aspect, fabs(dot(d, axis[1])));
        dist = fmax(dist, dot(d, axis[2]) + MARGIN * side / half);
    }
    if (!(dist > 0.0)) dist = 1.0;
    for (k = 0; k < 3; ++k) v.eye[k] = v.at[k] + dist / (zoom > 0.0 ? zoom : 1.0) * v.eye[k];
    v.angle = 35.0;
    return v;
}

static void light_frame(raster *r, const raster_view *view, const double scene[6])
{
    double up[3] = {0.0, 1.0, 0.0}, l[3];
    int i, k, c;
    memcpy(l, view->light, sizeof l);
    if (!normalize(l)) { /* above and left of the camera */
        for (k = 0; k < 3; ++k) l[k] = -0.5 * r->axis[0][k] + 0.45 * r->axis[2][k];
        l[1] += 1.0;
        normalize(l);
    }
    memcpy(r->light, l, sizeof l);
    frame(l, up, r->laxis);
    for (k = 0; k < 3; ++k) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (i = 0; i < 8; ++i) {
            double p[3], s;
            for (c = 0; c < 3; ++c) p[c] = scene[c + (i >> c & 1 ? 3 : 0)];
            s = dot(p, r->laxis[k]);
            if (s < low) low = s;
            if (s > high) high = s;
        }
        if (!(high > low)) high = low + 1.0;
        r->llow[k] = low - 0.02 * (high - low);
        r->lscale[k] = 1.0 / (1.04 * (high - low));
    }
}

int raster_begin(raster *r, const raster_view *view, const double scene[6])
{
    double forward[3];
    size_t i, n = (size_t)r->w * (size_t)r->h;
    int k, y, x;
    for (k = 0; k < 3; ++k) forward[k] = view->eye[k] - view->at[k];
    frame(forward, view->up, r->axis);
    memcpy(r->eye, view->eye, sizeof r->eye);
    r->focal = 0.5 * r->h / tan((view->angle > 0.0 ? view->angle : 35.0) * 3.14159265359 / 360.0);
    light_frame(r, view, scene);
    for (i = 0; i < (size_t)SHADOW * SHADOW; ++i) r->shadow[i] = 2.0f;
    memset(r->depth, 0, n * sizeof *r->depth);
    for (y = 0; y < r->h; ++y) { /* paper white, a little darker below */
        float t = (float)y / (float)r->h;
        for (x = 0; x < r->w; ++x) {
            float *c = r->color[(size_t)y * (size_t)r->w + (size_t)x];
            c[0] = 0.985f - 0.055f * t;
            c[1] = 0.988f - 0.050f * t;
            c[2] = 0.992f - 0.042f * t;
        }
    }
    return 1;
}

/* ---------------------------------------------------------------- shadow map */
static void to_light(const raster *r, const double *x, double out[3])
{
    int k;
    for (k = 0; k < 3; ++k) out[k] = (dot(x, r->laxis[k]) - r->llow[k]) * r->lscale[k];
    out[0] *= SHADOW;
    out[1] *= SHADOW;
    out[2] = 1.0 - out[2]; /* 0 is nearest to the light */
}

/* Pixels whose centre the triangle a b c covers: rows are walked by the edge functions, which are
   the barycentric weights. */
typedef struct cover {
    int x0, x1, y0, y1;
    double area, e[3][3]; /* weight_i = e[i][0] + e[i][1] x + e[i][2] y */
    double row[3];        /* the part of it that does not change along a row */
} cover;

static int cover_of(double p[3][3], int w, int h, cover *c)
{
    double lx, hx, ly, hy;
    int i;
    lx = fmin(p[0][0], fmin(p[1][0], p[2][0]));
    hx = fmax(p[0][0], fmax(p[1][0], p[2][0]));
    ly = fmin(p[0][1], fmin(p[1][1], p[2][1]));
    hy = fmax(p[0][1], fmax(p[1][1], p[2][1]));
    if (!(hx >= 0.0 && lx < w && hy >= 0.0 && ly < h)) return 0;
    c->x0 = lx < 0.0 ? 0 : (int)lx;
    c->x1 = hx >= w ? w - 1 : (int)hx;
    c->y0 = ly < 0.0 ? 0 : (int)ly;
    c->y1 = hy >= h ? h - 1 : (int)hy;
    c->area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
    if (!(fabs(c->area) > 1e-12)) return 0;
    for (i = 0; i < 3; ++i) {
        const double *a = p[(i + 1) % 3], *b = p[(i + 2) % 3];
        c->e[i][1] = (a[1] - b[1]) / c->area;
        c->e[i][2] = (b[0] - a[0]) / c->area;
        c->e[i][0] = (a[0] * b[1] - a[1] * b[0]) / c->area;
    }
    return 1;
}

static void row_of(cover *c, int py)
{
    int i;
    for (i = 0; i < 3; ++i) c->row[i] = c->e[i][0] + c->e[i][2] * (py + 0.5);
}

static int weights_at(const cover *c, int px, double w[3])
{
    double u = px + 0.5;
    w[0] = c->row[0] + c->e[0][1] * u;
    w[1] = c->row[1] + c->e[1][1] * u;
    w[2] = c->row[2] + c->e[2][1] * u;
    return w[0] >= 0.0 && w[1] >= 0.0 && w[2] >= 0.0;
}

void raster_cast(raster *r, const double *x, const int *tri, int n)
{
    int t, i, px, py;
    for (t = 0; t < n; ++t) {
        double p[3][3];
        cover c;
        for (i = 0; i < 3; ++i) to_light(r, x + 3 * (size_t)tri[3 * (size_t)t + (size_t)i], p[i]);
        if (!cover_of(p, SHADOW, SHADOW, &c)) continue;
        for (py = c.y0; py <= c.y1; ++py) for (row_of(&c, py), px = c.x0; px <= c.x1; ++px) {
            double w[3];
            float z, *to;
            if (!weights_at(&c, px, w)) continue;
            z = (float)(w[0] * p[0][2] + w[1] * p[1][2] + w[2] * p[2][2]);
            to = &r->shadow[(size_t)py * SHADOW + (size_t)px];
            if (z < *to) *to = z;
        }
    }
}

/* Part of the light that reaches x: 3 x 3 taps, spread so that the border is soft; outside of the
   map is light. */
static float lit(const raster *r, const double *x, float spread)
{
    double p[3];
    float sum = 0.0f, z;
    int u[3], v[3], i, j;
    to_light(r, x, p);
    if (!(p[0] > -8.0 && p[1] > -8.0 && p[0] < SHADOW + 8 && p[1] < SHADOW + 8)) return 1.0f;
    for (i = 0; i < 3; ++i) { /* 16: a cut of what is positive rounds down */
        u[i] = (int)(p[0] + (double)((float)(i - 1) * spread) + 16.0) - 16;
        v[i] = (int)(p[1] + (double)((float)(i - 1) * spread) + 16.0) - 16;
    }
    z = (float)p[2] - BIAS;
    for (j = 0; j < 3; ++j) for (i = 0; i < 3; ++i) {
        int in = (unsigned)u[i] < SHADOW && (unsigned)v[j] < SHADOW;
        sum += !in || z <= r->shadow[(size_t)v[j] * SHADOW + (size_t)u[i]] ? 1.0f : 0.0f;
    }
    return sum / 9.0f;
}

/* ---------------------------------------------------------------- what is seen */
/* Sample position and 1/distance; 0 if behind the eye. */
static int project(const raster *r, const double *x, double out[3])
{
    double d[3], z;
    int k;
    for (k = 0; k < 3; ++k) d[k] = x[k] - r->eye[k];
    z = -dot(d, r->axis[2]);
    if (!(z > 1e-9)) return 0;
    out[0] = 0.5 * r->w + r->focal * dot(d, r->axis[0]) / z;
    out[1] = 0.5 * r->h - r->focal * dot(d, r->axis[1]) / z;
    out[2] = 1.0 / z;
    return 1;
}

/* Light on a surface at x: sky from above, the lamp, and a little from the eye so that nothing is
   black. Both sides are seen; a side that looks away from the lamp needs no look at the shadows. */
static float brightness(const raster *r, const double n[3], const double to_eye[3],
    const double x[3])
{
    double side = dot(n, to_eye) < 0.0 ? -1.0 : 1.0, lamp = side * dot(n, r->light);
    float sky = (float)(0.5 + 0.5 * side * n[1]);
    return 0.30f + 0.24f * sky + 0.12f * (float)fabs(dot(n, to_eye)) +
        (lamp > 0.0 ? 0.46f * lit(r, x, 1.6f) * (float)lamp : 0.0f);
}

typedef struct triangle {
    const double *v[3];
    double p[3][3];      /* samples and 1/z */
    double normal[3];
    double height[3];    /* pixels of the final picture from edge i to its corner */
    float color[3];
    float edges;         /* strength of the lines, 0 none */
} triangle;

static void shade(raster *r, const triangle *t, const double w[3], size_t at, float inv)
{
    double x[3], to_eye[3], q[3], sum = 0.0, edge = HUGE_VAL;
    float b, line = 0.0f;
    int i, k;
    for (i = 0; i < 3; ++i) sum += q[i] = w[i] * t->p[i][2]; /* perspective weights */
    for (k = 0; k < 3; ++k) {
        x[k] = (q[0] * t->v[0][k] + q[1] * t->v[1][k] + q[2] * t->v[2][k]) / sum;
        to_eye[k] = r->eye[k] - x[k];
    }
    normalize(to_eye);
    b = brightness(r, t->normal, to_eye, x);
    if (t->edges > 0.0f) {
        for (i = 0; i < 3; ++i) edge = fmin(edge, w[i] * t->height[i]);
        line = edge < 0.25 ? 1.0f : edge < 0.85 ? (float)((0.85 - edge) / 0.6) : 0.0f;
        line *= t->edges;
    }
    r->depth[at] = inv;
    for (k = 0; k < 3; ++k) r->color[at][k] = t->color[k] * b * (1.0f - line);
}

static void draw(raster *r, const triangle *t)
{
    cover c;
    int px, py;
    double p[3][3];
    memcpy(p, t->p, sizeof p);
    if (!cover_of(p, r->w, r->h, &c)) return;
    for (py = c.y0; py <= c.y1; ++py) for (row_of(&c, py), px = c.x0; px <= c.x1; ++px) {
        double w[3];
        size_t at = (size_t)py * (size_t)r->w + (size_t)px;
        float inv;
        if (!weights_at(&c, px, w)) continue;
        inv = (float)(w[0] * p[0][2] + w[1] * p[1][2] + w[2] * p[2][2]);
        if (inv > r->depth[at]) shade(r, t, w, at, inv);
    }
}

void raster_triangles(raster *r, const double *x, const int *tri, int n, const float *color,
    int edges)
{
    int t, i, k;
    for (t = 0; t < n; ++t) {
        triangle s;
        double a[3], b[3], area;
        int seen = 1;
        for (i = 0; i < 3; ++i) {
            s.v[i] = x + 3 * (size_t)tri[3 * (size_t)t + (size_t)i];
            seen = seen && project(r, s.v[i], s.p[i]);
            s.color[i] = color[3 * (size_t)t + (size_t)i];
        }
        if (!seen) continue;
        for (k = 0; k < 3; ++k) {
            a[k] = s.v[1][k] - s.v[0][k];
            b[k] = s.v[2][k] - s.v[0][k];
        }
        cross(a, b, s.normal);
        if (!normalize(s.normal)) continue;
        area = fabs((s.p[1][0] - s.p[0][0]) * (s.p[2][1] - s.p[0][1]) -
            (s.p[2][0] - s.p[0][0]) * (s.p[1][1] - s.p[0][1]));
        for (i = 0; i < 3; ++i) {
            const double *e = s.p[(i + 1) % 3], *f = s.p[(i + 2) % 3];
            double len = sqrt((e[0] - f[0]) * (e[0] - f[0]) + (e[1] - f[1]) * (e[1] - f[1]));
            s.height[i] = len > 0.0 ? area / len / r->samples : 0.0;
        }
        /* lines closer than a few pixels would only make the surface grey */
        area = fmin(s.height[0], fmin(s.height[1], s.height[2]));
        s.edges = !edges || area < 2.0 ? 0.0f : (float)(0.4 * fmin(1.0, (area - 2.0) / 8.0));
        draw(r, &s);
    }
}

/* Darkens the samples of one pixel that see the ground. Its shadow is soft, so one look at the
   light per pixel serves; depth goes by sample: 1/t = slope d_y is affine on the screen. */
static void ground_pixel(raster *r, int px, int py, double slope, float dark)
{
    int i, j, k, s = r->samples;
    for (j = py * s; j < (py + 1) * s; ++j) for (i = px * s; i < (px + 1) * s; ++i) {
        size_t at = (size_t)j * (size_t)r->w + (size_t)i;
        double dy = (i + 0.5 - 0.5 * r->w) / r->focal * r->axis[0][1] -
            (j + 0.5 - 0.5 * r->h) / r->focal * r->axis[1][1] - r->axis[2][1];
        float inv = (float)(slope * dy);
        if (!(inv > r->depth[at])) continue;
        for (k = 0; k < 3; ++k) r->color[at][k] *= dark;
        r->depth[at] = inv;
    }
}

void raster_ground(raster *r, double y, const double center[3], double radius)
{
    double drop = y - r->eye[1];
    int px, py, k;
    if (!(drop < 0.0)) return;
    for (py = 0; py < r->height; ++py) for (px = 0; px < r->width; ++px) {
        double d[3], x[3], t, out;
        float fade;
        for (k = 0; k < 3; ++k) {
            d[k] = ((px + 0.5) * r->samples - 0.5 * r->w) / r->focal * r->axis[0][k] -
                ((py + 0.5) * r->samples - 0.5 * r->h) / r->focal * r->axis[1][k] - r->axis[2][k];
        }
        t = drop / d[1]; /* t is the distance along the view */
        if (!(t > 0.0)) continue;
        for (k = 0; k < 3; ++k) x[k] = r->eye[k] + t * d[k];
        out = (pow(x[0] - center[0], 2) + pow(x[2] - center[2], 2)) / (radius * radius);
        if (!(out < 1.0)) continue;
        fade = (float)(1.0 - out);
        ground_pixel(r, px, py, 1.0 / drop,
            1.0f - fade * (0.07f + 0.42f * (1.0f - lit(r, x, 3.5f))));
    }
}

/* ---------------------------------------------------------------- rods and balls */
typedef struct ball {
    double x[3], radius;
} ball;

/* What a node is drawn as; 0 if behind the eye. */
static int ball_of(const raster *r, const double *x, const double *radius, int node, double least,
    ball *b)
{
    double p[3];
    memcpy(b->x, x + 3 * (size_t)node, sizeof b->x);
    if (!project(r, b->x, p)) return 0;
    b->radius = fmax(radius ? radius[node] : 0.0, 0.5 * least * r->samples / (r->focal * p[2]));
    return 1;
}

/* A disc through the centre, across the light: it covers what lies behind the ball, never the lit
   side of the ball itself. */
static void cast_ball(raster *r, const ball *b, const float *color)
{
    double p[3], ru, rv;
    int u, v;
    (void)color;
    to_light(r, b->x, p);
    ru = fmax(0.75, b->radius * r->lscale[0] * SHADOW);
    rv = fmax(0.75, b->radius * r->lscale[1] * SHADOW);
    if (!(p[0] + ru > 0.0 && p[0] - ru < SHADOW && p[1] + rv > 0.0 && p[1] - rv < SHADOW)) return;
    for (v = (int)fmax(0.0, p[1] - rv); v < SHADOW && v <= p[1] + rv; ++v) {
        for (u = (int)fmax(0.0, p[0] - ru); u < SHADOW && u <= p[0] + ru; ++u) {
            double du = (u + 0.5 - p[0]) / ru, dv = (v + 0.5 - p[1]) / rv;
            float *to = &r->shadow[(size_t)v * SHADOW + (size_t)u];
            if (du * du + dv * dv <= 1.0 && (float)p[2] < *to) *to = (float)p[2];
        }
    }
}

/* The half of a ball that is seen, as if from far away. */
static void draw_ball(raster *r, const ball *b, const float *color)
{
    double p[3], rad;
    int px, py, k;
    if (!project(r, b->x, p)) return;
    rad = fmax(0.71, b->radius * r->focal * p[2]); /* no sample between two centres is missed */
    if (!(p[0] + rad > 0.0 && p[0] - rad < r->w && p[1] + rad > 0.0 && p[1] - rad < r->h)) return;
    for (py = (int)fmax(0.0, p[1] - rad); py < r->h && py <= p[1] + rad; ++py) {
        for (px = (int)fmax(0.0, p[0] - rad); px < r->w && px <= p[0] + rad; ++px) {
            double dx = (px + 0.5 - p[0]) / rad, dy = (p[1] - py - 0.5) / rad, n[3], x[3], e[3];
            double up2 = 1.0 - dx * dx - dy * dy, top = sqrt(fmax(up2, 0.0)), z;
            size_t at = (size_t)py * (size_t)r->w + (size_t)px;
            float bright;
            z = 1.0 / p[2] - b->radius * top;
            if (up2 < 0.0 || !(z > 0.0) || !((float)(1.0 / z) > r->depth[at])) continue;
            for (k = 0; k < 3; ++k) {
                n[k] = dx * r->axis[0][k] + dy * r->axis[1][k] + top * r->axis[2][k];
                x[k] = b->x[k] + b->radius * n[k];
                e[k] = r->eye[k] - x[k];
            }
            normalize(e);
            bright = brightness(r, n, e, x);
            r->depth[at] = (float)(1.0 / z);
            for (k = 0; k < 3; ++k) r->color[at][k] = color[k] * bright;
        }
    }
}

typedef void (*ball_fn)(raster *r, const ball *b, const float *color);

static void each_point(raster *r, const double *x, const int *point, int n, const float *color,
    const double *radius, double least, ball_fn fn)
{
    ball b;
    int t;
    for (t = 0; t < n; ++t) {
        if (!ball_of(r, x, radius, point[t], least, &b)) continue;
        fn(r, &b, color ? color + 3 * (size_t)t : NULL);
    }
}

/* A rod is a row of balls half a radius apart, on the screen and in the shadow map. */
static void each_rod(raster *r, const double *x, const int *edge, int n, const float *color,
    const double *radius, double least, ball_fn fn)
{
    int t, i, k, steps;
    for (t = 0; t < n; ++t) {
        double len;
        ball a, b, c;
        if (!ball_of(r, x, radius, edge[2 * (size_t)t], least, &a) ||
            !ball_of(r, x, radius, edge[2 * (size_t)t + 1], least, &b)) {
            continue;
        }
        for (len = 0.0, k = 0; k < 3; ++k) len += (a.x[k] - b.x[k]) * (a.x[k] - b.x[k]);
        len = 2.0 * sqrt(len) / fmin(a.radius, b.radius);
        if (!(len < 1e5)) continue;
        steps = 1 + (int)len;
        for (i = 0; i <= steps; ++i) {
            double s = (double)i / steps;
            for (k = 0; k < 3; ++k) c.x[k] = a.x[k] + s * (b.x[k] - a.x[k]);
            c.radius = a.radius + s * (b.radius - a.radius);
            fn(r, &c, color ? color + 3 * (size_t)t : NULL);
        }
    }
}

void raster_cast_lines(raster *r, const double *x, const int *edge, int n, const double *radius,
    double least)
{
    each_rod(r, x, edge, n, NULL, radius, least, cast_ball);
}

void raster_cast_points(raster *r, const double *x, const int *point, int n, const double *radius,
    double least)
{
    each_point(r, x, point, n, NULL, radius, least, cast_ball);
}

void raster_lines(raster *r, const double *x, const int *edge, int n, const float *color,
    const double *radius, double least)
{
    each_rod(r, x, edge, n, color, radius, least, draw_ball);
}

void raster_points(raster *r, const double *x, const int *point, int n, const float *color,
    const double *radius, double least)
{
    each_point(r, x, point, n, color, radius, least, draw_ball);
}

/* ---------------------------------------------------------------- the picture */
const unsigned char *raster_image(raster *r)
{
    int x, y, i, j, k, s = r->samples;
    for (y = 0; y < r->height; ++y) for (x = 0; x < r->width; ++x) {
        float sum[3] = {0, 0, 0};
        for (j = 0; j < s; ++j) for (i = 0; i < s; ++i) {
            const float *c = r->color[(size_t)(y * s + j) * (size_t)r->w + (size_t)(x * s + i)];
            for (k = 0; k < 3; ++k) sum[k] += c[k] > 1.0f ? 1.0f : c[k];
        }
        for (k = 0; k < 3; ++k) {
            float v = sum[k] / (float)(s * s);
            r->image[3 * ((size_t)y * (size_t)r->width + (size_t)x) + (size_t)k] =
                (unsigned char)(255.0f * v + 0.5f);
        }
    }
    return r->image;
}
