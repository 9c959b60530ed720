/*
 * Prints the glTF reader's result for a file, for gltf_oracle.py. Usage:
 *
 *   gltf_probe pose FILE ANIMATION TIME…   for each time and each node with a mesh: "node N COUNT", then COUNT lines of
 *                                          positions in the world, morphed, and skinned or placed by a plain loop in
 *                                          double
 *   gltf_probe copy FILE OUT               reads and writes
 *   gltf_probe notes FILE                  what reading passed over
 */
#include <exemplar/author/formats.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count > 0 ? count : 1, size);
    if (!memory)
        exit(1);
    return memory;
}

static void transform(const double *m, const double *v, double weight, double *out) {
    for (int r = 0; r < 3; r++)
        out[r] += weight * (m[r] * v[0] + m[4 + r] * v[1] + m[8 + r] * v[2] + m[12 + r]);
}

static void print_primitive(const ex_scene_mesh *mesh, const ex_scene_primitive *p, const double *weights,
                            const double *world, const double *joints) {
    for (size_t v = 0; v < (size_t)p->vertex_count; v++) {
        double x[3], out[3] = {0, 0, 0};
        for (size_t k = 0; k < 3; k++) {
            x[k] = (double)p->positions[3 * v + k];
            for (int t = 0; t < mesh->target_count; t++)
                if (p->targets[t].positions)
                    x[k] += weights[t] * (double)p->targets[t].positions[3 * v + k];
        }
        if (!joints)
            transform(world, x, 1, out);
        for (size_t i = v * (size_t)p->influence_count; joints && i < (v + 1) * (size_t)p->influence_count; i++)
            transform(joints + 16 * (size_t)p->joints[i], x, (double)p->weights[i], out);
        printf("%.17g %.17g %.17g\n", out[0], out[1], out[2]);
    }
}

static void print_pose(const ex_scene *scene, int animation, double time) {
    ex_scene_transform *locals = allocate((size_t)scene->node_count, sizeof *locals);
    double *worlds = allocate(16 * (size_t)scene->node_count, sizeof *worlds);
    ex_scene_sample(scene, animation, time, locals);
    if (ex_scene_worlds(scene, locals, worlds, NULL) != EX_OK)
        exit(1);
    for (int n = 0; n < scene->node_count; n++) {
        const ex_scene_node *node = &scene->nodes[n];
        if (node->mesh < 0)
            continue;
        const ex_scene_mesh *mesh = &scene->meshes[node->mesh];
        int joint_count = node->skin >= 0 ? scene->skins[node->skin].joint_count : 0, count = 0;
        double *weights = allocate((size_t)mesh->target_count, sizeof *weights);
        double *joints = allocate(16 * (size_t)joint_count, sizeof *joints);
        ex_scene_sample_weights(scene, animation, time, n, weights);
        if (node->skin >= 0)
            ex_scene_skin_matrices(scene, node->skin, worlds, joints);
        for (int p = 0; p < mesh->primitive_count; p++)
            count += mesh->primitives[p].vertex_count;
        printf("node %d %d\n", n, count);
        for (int p = 0; p < mesh->primitive_count; p++)
            print_primitive(mesh, &mesh->primitives[p], weights, worlds + 16 * (size_t)n,
                            node->skin >= 0 ? joints : NULL);
        free(joints);
        free(weights);
    }
    free(worlds);
    free(locals);
}

int main(int argc, char **argv) {
    ex_scene *scene;
    ex_error error;
    if (argc < 3) {
        fprintf(stderr, "usage: gltf_probe pose FILE ANIMATION TIME... | copy FILE OUT | notes FILE\n");
        return 2;
    }
    if (ex_scene_read(argv[2], &scene, &error) != EX_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    ex_result result = EX_OK;
    if (strcmp(argv[1], "copy") == 0 && argc == 4)
        result = ex_scene_write(argv[3], scene, &error);
    for (int i = 4; strcmp(argv[1], "pose") == 0 && i < argc; i++)
        print_pose(scene, atoi(argv[3]), atof(argv[i]));
    for (int i = 0; strcmp(argv[1], "notes") == 0 && i < scene->note_count; i++)
        puts(scene->notes[i]);
    if (result != EX_OK)
        fprintf(stderr, "%s\n", error.text);
    ex_scene_destroy(scene);
    return result == EX_OK ? 0 : 1;
}
