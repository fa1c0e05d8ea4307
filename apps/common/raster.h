/* raster.h - pictures without a graphics card: triangles, lines and points with depth
   Perspective camera, one soft light with a shadow map, flat normals (what is drawn is what was
   computed), mesh edges drawn thin, samples x samples anti-aliasing. */
#ifndef RASTER_H
#define RASTER_H

typedef struct raster raster;

typedef struct raster_view {
    double eye[3], at[3], up[3]; /* up need not be perpendicular */
    double angle;                /* of the vertical field of view, degrees; 0 means 35 */
    double light[3];             /* direction towards the light; 0 means above left of the eye */
} raster_view;

/* NULL if out of memory. samples: 1..4 per side. */
raster *raster_open(int width, int height, int samples);
void raster_close(raster *r);

/* A view that sees all n points (3 doubles each) from azimuth and elevation in degrees, y up.
   zoom 1 fits them. */
raster_view raster_fit(const double *x, int n, double azimuth, double elevation, double zoom,
    int width, int height);

/* Forget the picture; paint the background; remember view and light. scene: bounds of what throws
   shadows (low 3, high 3). 0 if out of memory. */
int raster_begin(raster *r, const raster_view *view, const double scene[6]);

/* First what throws shadows, then what is seen. Triangles have 3 nodes of x; color: 3 values in
   [0,1] per triangle. edges: 0 none, 1 thin dark lines along the triangles' edges. */
void raster_cast(raster *r, const double *x, const int *tri, int n);
void raster_triangles(raster *r, const double *x, const int *tri, int n, const float *color,
    int edges);
/* A ground that shows only shadows and fades out: height y, centre and radius in the plane. */
void raster_ground(raster *r, double y, const double center[3], double radius);
/* Rods and balls: radius has 1 value per node of x (NULL: all 0); what would be thinner than this
   many pixels of the final picture is drawn that thick, and its shadow with it. */
void raster_cast_lines(raster *r, const double *x, const int *edge, int n, const double *radius,
    double least);
void raster_cast_points(raster *r, const double *x, const int *point, int n, const double *radius,
    double least);
void raster_lines(raster *r, const double *x, const int *edge, int n, const float *color,
    const double *radius, double least);
void raster_points(raster *r, const double *x, const int *point, int n, const float *color,
    const double *radius, double least);

/* The picture so far: 3 bytes per pixel, rows from the top, valid until raster_close. */
const unsigned char *raster_image(raster *r);

#endif
