/* frames.h - frames.gapf, the one file into which a simulation writes all its frames (version 1)
   Little-endian chunks, only ever appended:
       char tag[4]; u32 crc; u64 size; payload of size bytes; zeros to a multiple of 8
   crc is the CRC-32 of Ethernet and zip (polynomial edb88320 reflected) of tag, size and payload.
       GAPF  u32 version = 1, dim, bodies, 0                               first chunk, once
       NAME  bodies strings, each ended by a zero byte                     optional
       STAT  u8 per body: 1 = at rest for ever, never compared with another such; optional
       TOPO  u32 nodes, elems, nodes per elem, tris, edges, points, planes, 0; i32 elem, tri, edge,
             point arrays; i32 body[nodes]; f64 radius[nodes]; f64 plane[2*dim*planes]
       FRAM  u64 step; f64 time; f64 x[dim*nodes]                          of the TOPO before it
   Other tags are skipped. A reader stops at the first chunk that is short, fails its crc or does
   not hold together; a resumed writer cuts the file there. */
#ifndef FRAMES_H
#define FRAMES_H
#include <stdio.h>

typedef struct frames_topo {
    int nodes;
    int elems, elem_nodes; /* elements of elem_nodes nodes each, Gmsh order */
    int tris, edges, points, planes;
    int *elem, *tri, *edge, *point; /* elem_nodes, 3, 2, 1 nodes each */
    int *body;                      /* 1 per node, 0..bodies-1; writer: NULL means all 0 */
    double *radius;                 /* 1 per node, half thickness; writer: NULL means all 0 */
    double *plane;                  /* 2*dim each: point, unit normal */
} frames_topo;

/* ---- reading ---- */
typedef struct frames_reader {
    int dim, bodies;
    char **name;       /* bodies names, or NULL */
    unsigned char *fixed; /* 1 per body, or NULL */
    frames_topo topo;  /* of the last frame */
    int topo_changed;  /* 1 if a TOPO stood between the frame before and this one */
    long long step;    /* of the last frame */
    double time;
    double *x;         /* dim * topo.nodes */
    long long end;     /* bytes of the file that are whole */
    int damaged;       /* 1 if frames_next stopped at damage, described in error */
    char error[160];
    struct frames__file *file; /* private */
} frames_reader;

/* 1, or 0 and r->error: no such file, or not a frame file. frames_close in both cases. */
int frames_open(frames_reader *r, const char *path);
/* The same of a stream that can seek; it is closed with the reader. */
int frames_open_stream(frames_reader *r, FILE *f);
/* 1: the next frame stands in r. 0: no more; r->damaged tells whether the file ended early. */
int frames_next(frames_reader *r);
void frames_close(frames_reader *r);

/* ---- writing: every call 1, or 0 when the disk or the memory is full ---- */
typedef struct frames_writer frames_writer;

/* A new file, replacing another. names: bodies strings or NULL. NULL on failure. */
frames_writer *frames_create(const char *path, int dim, int bodies, const char *const *names);
/* Goes on after the last whole frame whose step is at most last_step and cuts off what follows, a
   topology too: write it again if it is not that of the last frame kept (or if none is).
   NULL if the file cannot be read or written; *kept (may be NULL) counts the frames that stay. */
frames_writer *frames_resume(const char *path, long long last_step, long long *kept);
/* Which bodies are at rest for ever, 1 or 0 each; before the first topology. */
int frames_write_fixed(frames_writer *w, const unsigned char *fixed);
int frames_write_topo(frames_writer *w, const frames_topo *topo);
int frames_write(frames_writer *w, long long step, double time, const double *x);
int frames_finish(frames_writer *w); /* closes and frees; w may be NULL */

#endif
