/* exemplar init - makes a project from a glTF file with morph targets or a skin. */
#define _POSIX_C_SOURCE 200809L

#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "cli/base/report.h"

#include <stdlib.h>
#include <string.h>

static const char *output;
static bool force, keep_seams;

static const ex_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "DIR",
     .help = "the folder to write to, made if it is missing (default: one with the file's name, here)",
     .text = &output},
    {.name = "force", .letter = 'f', .help = "overwrite a project that is there already", .flag = &force},
    {.name = "keep-seams",
     .help = "keep vertices that the file has several times, as texture coordinates and normals need",
     .flag = &keep_seams},
};

/* Notes kept until the project is written, because a failure prints only one sentence. */
typedef struct kept_notes {
    char **texts;
    int count;
} kept_notes;

static void keep_note(void *user, const char *text) {
    kept_notes *notes = user;
    char **texts = realloc(notes->texts, (size_t)(notes->count + 1) * sizeof *texts);
    char *copy = strdup(text);
    if (texts)
        notes->texts = texts;
    if (texts && copy)
        notes->texts[notes->count++] = copy;
    else
        free(copy);
}

static void free_notes(kept_notes *notes) {
    for (int i = 0; i < notes->count; i++)
        free(notes->texts[i]);
    free(notes->texts);
}

static void emit_notes(exi_emitter *json, const ex_scene *scene, const kept_notes *notes) {
    exi_emit_open(json, "notes", '[');
    for (int i = 0; i < scene->note_count; i++)
        exi_emit_text(json, NULL, scene->notes[i]);
    for (int i = 0; i < notes->count; i++)
        exi_emit_text(json, NULL, notes->texts[i]);
    exi_emit_close(json, ']');
}

/* Prints what was made. Reads the project again, which also proves that it can be read. */
static int print_result(const ex_call *call, const ex_scene *scene, const kept_notes *notes, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_project *project = NULL;
    if (ex_project_read(path, &project, &error) != EX_OK)
        return exi_failed(&error);
    const ex_project_view *view = ex_project_get(project);
    const int targets = view->layer_count > 0 ? view->layers[0].example_count : 0;
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "project", path);
        exi_emit_number(&json, "targets", targets);
        exi_emit_bool(&json, "skeleton", view->skeleton != NULL);
        emit_notes(&json, scene, notes);
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else if (!call->quiet) {
        char count[EXI_TEXT_SIZE];
        exi_notes_print(scene->path, scene->notes, scene->note_count);
        exi_notes_print(scene->path, notes->texts, notes->count);
        printf("%s: %s, %s\n", path, exi_text_count(count, targets, "morph target"),
               view->skeleton ? "a skeleton" : "no skeleton");
    }
    ex_project_destroy(project);
    return EX_EXIT_DONE;
}

/* Fills the folder; removes what was written if that fails or is interrupted. */
static int fill_folder(const ex_scene *scene, const char *directory, const char *name, kept_notes *notes,
                       exi_folder *folder) {
    ex_error error = {.result = EX_OK};
    exi_interrupt_defer(true);
    ex_result result =
        ex_project_init(scene, directory, name, &(ex_init_options){.overwrite = force, .keep_seams = keep_seams},
                        &(ex_init_report){.note = keep_note, .user = notes}, &error);
    exi_interrupt_defer(false);
    if (result == EX_OK)
        return EX_EXIT_DONE;
    if (exi_interrupted())
        return exi_folder_interrupted(folder, force);
    exi_folder_undo(folder);
    return exi_failed(&error);
}

static int init(const ex_call *call, const ex_scene *scene, const char *name) {
    const char *directory = output ? output : name;
    exi_folder folder;
    if (!exi_folder_note(&folder, directory))
        return EX_EXIT_FAILED;
    kept_notes notes = {.texts = NULL};
    int exit_code = EX_EXIT_DONE;
    char *project = exi_path_inside(directory, name, ".json");
    if (!project) {
        exit_code = exi_failed_text("there is not enough memory");
    } else if (!force && exi_file_exists(project)) {
        exit_code = exi_failed_text("'%s' exists already: give --force to overwrite it, or another folder", project);
    } else {
        exit_code = fill_folder(scene, directory, name, &notes, &folder);
        if (exit_code == EX_EXIT_DONE)
            exit_code = print_result(call, scene, &notes, project);
    }
    free_notes(&notes);
    free(project);
    exi_folder_forget(&folder);
    return exit_code;
}

static int run(const ex_call *call) {
    const char *path = call->arguments[0];
    if (!exi_expect_kind(path, EXI_FILE_SCENE))
        return EX_EXIT_FAILED;
    ex_error error = {.result = EX_OK};
    ex_scene *scene = NULL;
    if (ex_scene_read(path, &scene, &error) != EX_OK)
        return exi_failed(&error);
    char *name = exi_path_stem(path);
    int exit_code = name ? init(call, scene, name) : exi_failed_text("there is not enough memory");
    free(name);
    ex_scene_destroy(scene);
    return exit_code;
}

const ex_command cmd_init = {
    .name = "init",
    .summary = "make a project from a glTF file",
    .usage = "init FILE.glb|FILE.gltf [-o DIR] [--force] [--keep-seams]",
    .description = "Writes DIR/FILE.json with what the file shows: the mesh as mesh.obj with its\n"
                   "groups, materials by name and texture coordinates; every morph target as an OBJ\n"
                   "file, and for each an axis from 0 to 1 of its name in a layer 'targets'; joints\n"
                   "and skin weights as skeleton.glb. Posed at rest, the rig built from it stands as\n"
                   "the file does; with a weight or a joint changed it follows the file too.\n"
                   "\n"
                   "A vertex that the file has several times, since its texture coordinate or normal\n"
                   "breaks there, becomes one, so that the surface is closed where it looks closed.\n"
                   "\n"
                   "Where meshes hang on several skins, those of the skin that moves the most\n"
                   "vertices are taken. What is not taken (other meshes, animations, images) is\n"
                   "said on stderr.",
    .examples = "exemplar init robot.glb\n"
                "exemplar build robot/robot.json\n"
                "exemplar pose robot/robot.glb smile=0.5 -o smile.obj",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
