/*
 * Fuzzes 'init' followed by 'build' (clang -fsanitize=fuzzer,address,undefined): a project from any glTF scene is made
 * or refused with a sentence, and one that was made can be read and built, and its rig written and read.
 */
#include <exemplar/author.h>

#include "fuzz/scratch.h"

#include <dirent.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Large scenes are valid, but take long. */
static bool is_small(const ex_scene *scene) {
    int64_t numbers = 0;
    for (int m = 0; m < scene->mesh_count; m++)
        for (int p = 0; p < scene->meshes[m].primitive_count; p++)
            numbers += (int64_t)(scene->meshes[m].primitives[p].vertex_count + 3) * (1 + scene->meshes[m].target_count);
    return numbers < 3000 && scene->node_count < 300;
}

static void empty_folder(const char *path) {
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.') {
            char file[1024];
            snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
            remove(file);
        }
    if (folder)
        closedir(folder);
    rmdir(path);
}

static void must(ex_result result, const ex_error *error) {
    if (result != EX_OK) {
        printf("init made a project, but: %s\n", error->text);
        fflush(stdout);
        abort();
    }
}

static void build(const char *path, const char *rig_path) {
    ex_project *project = NULL;
    ex_rig *rig = NULL, *again = NULL;
    ex_error error = {0};
    must(ex_project_read(path, &project, &error), &error);
    must(ex_project_build(project, NULL, &rig, &error), &error);
    must(ex_rig_write(rig_path, rig, &error), &error);
    must(ex_rig_read(rig_path, NULL, &again, &error), &error);
    ex_rig_destroy(again);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ex_scene *scene = NULL;
    ex_error error = {0};
    if (ex_scene_parse(data, size, "fuzz.glb", false, &scene, &error) != EX_OK)
        return 0;
    const scratch_path folder = scratch_name("project"), project = scratch_name("project/it.json"),
                       rig = scratch_name("project/it.glb");
    const ex_init_options options = {.keep_seams = size % 2 == 1};
    if (is_small(scene)) {
        const ex_result result = ex_project_init(scene, folder.text, "it", &options, NULL, &error);
        if (result == EX_OK)
            build(project.text, rig.text);
        else if (error.text[0] == 0)
            abort();
        empty_folder(folder.text);
    }
    ex_scene_destroy(scene);
    return 0;
}
