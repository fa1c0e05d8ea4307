/* gltf.h - the frames of a run as one binary glTF 2.0 file (.glb) that common viewers play
   One mesh of all surfaces, segments and points, coloured by body; every frame after the first is
   a morph target, and an animation moves a weight of 1 from one to the next, so that at most two
   are ever on and positions between frames are mixed linearly. Planes become squares.
   Positions are floats. */
#ifndef GLTF_H
#define GLTF_H
#include <stddef.h>

#define GLTF_FRAMES 1000 /* a longer run is thinned evenly to at most so many; the last one stays */

/* frames: a frames.gapf of one topology. path: written under a temporary name, then renamed.
   1, or 0 and a message in error: not readable, topology changes, nothing to draw, more than the
   4 GB of the format, disk full. */
int gltf_write(const char *frames, const char *path, char *error, size_t size);

#endif
