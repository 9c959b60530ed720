/*
 * warp - from one form to another along paths that turn instead of straight lines.
 *
 *   warp FROM.obj TO.obj HALFWAY.obj
 *
 * Authoring finds the paths and builds a rig; the rig then evaluates them in closed form.
 */
#include <exemplar/author.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
    ex_project *project = NULL;
    ex_rig *rig = NULL;
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    if (count != 4) {
        fprintf(stderr, "usage: warp FROM.obj TO.obj HALFWAY.obj\n");
        return 2;
    }
    /* A project of one layer of trajectories, equivalent to a project file. */
    const char *forms[] = {words[2]};
    const ex_warp_def def = {
        .reference = words[1], .form_count = 1, .forms = forms, .options = ex_trajectory_options_default()};
    ex_result result = ex_warp_project(&def, &project, &error);
    if (result == EX_OK)
        result = ex_project_build(project, NULL, &rig, &error);
    if (result == EX_OK)
        result = ex_mesh_read(words[1], &mesh, &error);
    if (result == EX_OK) {
        double t = 0.5; /* the only input: from 0 to 1 */
        float *positions = malloc((size_t)mesh->vertex_count * sizeof(float[3]));
        void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
        ex_rig_evaluate(rig, &(ex_pose){.inputs = &t}, &(ex_output){.positions = positions}, NULL, scratch);
        for (int i = 0; i < 3 * mesh->vertex_count; i++)
            mesh->positions[i] = positions[i];
        result = ex_mesh_write(words[3], mesh, &error);
        free(scratch);
        free(positions);
    }
    if (result != EX_OK)
        fprintf(stderr, "warp: %s\n", error.text);
    else
        printf("%s: %d vertices, half way\n", words[3], mesh->vertex_count);
    ex_mesh_destroy(mesh);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
    return result == EX_OK ? 0 : 1;
}
