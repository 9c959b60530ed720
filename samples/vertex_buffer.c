/*
 * vertex_buffer - fill an interleaved vertex buffer for a renderer: position, normal, tangent, texture coordinates, and
 * an index buffer.
 *
 *   vertex_buffer RIG.glb
 *
 * With ex_evaluation.split, entry i of the results is vertex i of the buffer: vertices are split where texture
 * coordinates or normals are discontinuous. Indices and texture coordinates do not change with the pose; upload them
 * once.
 */
#include "read_file.h"

#include <exemplar/rig.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct vertex {
    float position[3];
    float normal[3];
    float tangent[4];
    float texcoord[2];
} vertex;

int main(int count, char **words) {
    if (count != 2) {
        fprintf(stderr, "usage: vertex_buffer RIG.glb\n");
        return 2;
    }
    ex_rig *rig = read_rig(words[1]);
    if (!rig)
        return 1;
    const ex_evaluation how = {.level = ex_rig_level(rig), .split = true};
    const ex_rig_mesh mesh = ex_rig_level_mesh(rig, how.level);
    vertex *buffer = calloc((size_t)mesh.split_count, sizeof *buffer);
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1));
    for (int i = 0; mesh.texcoords && i < mesh.split_count; i++) {
        buffer[i].texcoord[0] = mesh.texcoords[2 * i];
        buffer[i].texcoord[1] = mesh.texcoords[2 * i + 1];
    }

    /* The results go directly into the buffer: a pointer to the first entry, and the stride in bytes. */
    const ex_output output = {.positions = buffer->position,
                              .position_stride = sizeof *buffer,
                              .normals = buffer->normal,
                              .normal_stride = sizeof *buffer,
                              .tangents = mesh.texcoords ? buffer->tangent : NULL,
                              .tangent_stride = sizeof *buffer};
    ex_rig_evaluate(rig, &(ex_pose){0}, &output, &how, scratch); /* at rest */

    printf("%d vertices of %zu bytes, %d triangles\n", mesh.split_count, sizeof *buffer, mesh.triangle_count);
    for (int c = 0; c < 3 && mesh.triangle_count > 0; c++) {
        const vertex *v = &buffer[mesh.triangles[c]];
        printf("  corner %d: position %g %g %g, normal %g %g %g\n", c, (double)v->position[0], (double)v->position[1],
               (double)v->position[2], (double)v->normal[0], (double)v->normal[1], (double)v->normal[2]);
    }
    free(scratch);
    free(buffer);
    ex_rig_destroy(rig);
    return 0;
}
