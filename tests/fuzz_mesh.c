/* fuzz_mesh.c - any bytes to any mesh reader (the first byte picks it): a mesh or an error */
#include "mesh.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void in_range(const int *list, size_t n, int nodes)
{
    size_t i;
    for (i = 0; i < n; ++i) if (list[i] < 0 || list[i] >= nodes) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const endings[] = {"msh", "obj", "stl", "ply", "mesh", "vtu", "off"};
    mesh m;
    mesh_error e;
    int *tri;
    size_t i;
    if (size < 1) return 0;
    if (!mesh_parse((const char *)data + 1, size - 1, endings[data[0] % 7], &m, &e)) {
        if (m.x || !e.text[0]) abort();
        return 0;
    }
    in_range(m.tet, (size_t)m.tets * (size_t)mesh_tet_nodes(m.order), m.nodes);
    in_range(m.tri, (size_t)m.tris * (size_t)mesh_tri_nodes(m.order), m.nodes);
    in_range(m.edge, 2 * (size_t)m.edges, m.nodes);
    in_range(m.point, (size_t)m.points, m.nodes);
    for (i = 0; i < 3 * (size_t)m.nodes; ++i) if (!isfinite(m.x[i])) abort();
    if (mesh_surface(&m, &tri) < 0) abort();
    free(tri);
    mesh_free(&m);
    return 0;
}
