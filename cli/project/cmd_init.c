/* exemplar init - makes a project from a glTF file with morph targets or a skin, or from OBJ files of one mesh. */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE   700

#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "cli/base/keep.h"
#include "cli/base/lock.h"
#include "cli/base/report.h"
#include "init_forms.h"

#include <stdlib.h>
#include <string.h>

static const char *output, *space;
static ex_word_list places;
static bool force, keep_seams, paths;

static const ex_option options[] = {
    {.name = "output", .letter = 'o', .argument = "DIR", .help = "output folder (default: ./FILE)", .text = &output},
    {.name = "force", .letter = 'f', .help = "overwrite an existing project", .flag = &force},
    {.name = "keep-seams",
     .help = "do not merge vertices that the file splits for texture coordinates and normals",
     .flag = &keep_seams},
    {.name = "space",
     .argument = "AXIS,...",
     .help = "with shapes: the axes of one space for all of them (default: a slider from 0 to 1 for each shape)",
     .text = &space},
    {.name = "at",
     .argument = "SHAPE:VALUE,...",
     .help = "with --space: the place of a shape, a number per axis; may be given several times (default for the mesh: "
             "0 on every axis; on a single axis, shapes are spread evenly from 0 to 1)",
     .words = &places},
    {.name = "paths",
     .help = "with shapes: move vertices on paths that turn instead of straight lines, for poses that are far apart",
     .flag = &paths},
};

/* Source of a project: a scene, or forms. */
typedef struct source {
    const ex_scene *scene; /* or NULL */
    const ex_init_forms *forms;
    const char *path;
} source;

static void emit_notes(exi_emitter *json, const ex_scene *scene, const exi_notes *notes) {
    exi_emit_open(json, "notes", '[');
    for (int i = 0; scene && i < scene->note_count; i++)
        exi_emit_text(json, NULL, scene->notes[i]);
    for (int i = 0; i < notes->count; i++)
        exi_emit_text(json, NULL, notes->texts[i]);
    exi_emit_close(json, ']');
}

/* Prints what was made. Reads the project again, which also proves that it can be read. */
static int print_result(const ex_call *call, const source *from, const exi_notes *notes, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_project *project = NULL;
    if (ex_project_read(path, &project, &error) != EX_OK)
        return exi_failed(&error);
    const ex_project_view *view = ex_project_get(project);
    const int targets = from->forms             ? from->forms->form_count
                        : view->layer_count > 0 ? view->layers[0].example_count
                                                : 0;
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "project", path);
        exi_emit_number(&json, "targets", targets);
        exi_emit_bool(&json, "skeleton", view->skeleton != NULL);
        emit_notes(&json, from->scene, notes);
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else if (!call->quiet) {
        char count[EXI_TEXT_SIZE], materials[EXI_TEXT_SIZE], clips[EXI_TEXT_SIZE];
        const int looks = from->scene ? from->scene->material_count : 0;
        const int motions = from->scene ? from->scene->animation_count : 0;
        if (from->scene)
            exi_notes_print(from->path, from->scene->notes, from->scene->note_count);
        exi_notes_print(from->path, notes->texts, notes->count);
        exi_print("%s: %s%s, %s%s%s%s%s; 'exemplar build %s' makes the rig\n", path,
                  from->forms ? "a mesh at rest, " : "",
                  exi_text_count(count, targets, from->forms ? "shape" : "morph target"),
                  view->skeleton ? "a skeleton" : "no skeleton", looks > 0 ? ", " : "",
                  looks > 0 ? exi_text_count(materials, looks, "material") : "", motions > 0 ? ", " : "",
                  motions > 0 ? exi_text_count(clips, motions, "clip") : "", path);
    }
    ex_project_destroy(project);
    return EX_EXIT_DONE;
}

/* Fills the folder; removes what was written if that fails or is interrupted. */
static int fill_folder(const ex_call *call, const source *from, const char *directory, const char *name,
                       exi_notes *notes, exi_folder *folder) {
    ex_error error = {.result = EX_OK};
    const ex_init_options how = {.overwrite = force, .keep_seams = keep_seams};
    const ex_init_report report = {.note = exi_notes_keep, .user = notes};
    ex_history_kept *kept = NULL;
    ex_result result = ex_make_directory(directory, &error);
    const int lock = result == EX_OK ? exi_lock_folder(directory, call->quiet) : -1;
    exi_interrupt_defer(true);
    if (result == EX_OK)
        result = exi_keep_project(directory, name, "replaced by 'init'", &kept, &error);
    if (result == EX_OK)
        result = from->scene ? ex_project_init(from->scene, directory, name, &how, &report, &error)
                             : ex_project_init_forms(from->forms, directory, name, &how, &report, &error);
    exi_keep_end(kept, result);
    exi_lock_release(lock);
    exi_interrupt_defer(false);
    if (result == EX_OK)
        return EX_EXIT_DONE;
    if (exi_interrupted())
        return exi_folder_interrupted(folder);
    exi_folder_undo(folder);
    return exi_failed(&error);
}

static int init(const ex_call *call, const source *from, const char *directory, const char *name) {
    if (!exi_output_folder_check(directory))
        return EX_EXIT_FAILED;
    exi_folder folder;
    if (!exi_folder_note(&folder, directory))
        return EX_EXIT_FAILED;
    exi_notes notes = {.path = from->path};
    int exit_code = EX_EXIT_DONE;
    char *project = exi_path_inside(directory, name, ".json");
    if (!project) {
        exit_code = exi_failed_memory();
    } else if (!force && exi_file_exists(project)) {
        exit_code = exi_failed_exists(project, "folder");
    } else {
        exit_code = fill_folder(call, from, directory, name, &notes, &folder);
        if (exit_code == EX_EXIT_DONE)
            exit_code = print_result(call, from, &notes, project);
    }
    exi_notes_free(&notes);
    free(project);
    exi_folder_forget(&folder);
    return exit_code;
}

static int init_scene(const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_scene *scene = NULL;
    if (call->argument_count > 1)
        return exi_wrong_usage(call->command,
                               "'%s' is a glTF file, which is taken alone: shapes of one mesh are .obj, "
                               ".ply, .off or .abc files",
                               path);
    if (space || places.count > 0 || paths)
        return exi_wrong_usage(call->command, "--space, --at and --paths go with shapes, not with a glTF file");
    if (ex_scene_read(path, &scene, &error) != EX_OK)
        return exi_failed(&error);
    char *name = exi_path_stem(path);
    const source from = {.scene = scene, .path = path};
    int exit_code = name ? init(call, &from, output ? output : name, name) : exi_failed_memory();
    free(name);
    ex_scene_destroy(scene);
    return exit_code;
}

/* "faces/" as "faces". Release with free. */
static char *folder_name(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *bare = strndup(path, length), *resolved = bare ? realpath(bare, NULL) : NULL;
    const char *slash = resolved ? strrchr(resolved, '/') : NULL;
    char *name = slash && slash[1] ? strdup(slash + 1) : NULL;
    free(bare);
    free(resolved);
    return name;
}

static int init_forms(const ex_call *call, const char *path) {
    exi_forms forms;
    int exit_code = EX_EXIT_FAILED;
    if (keep_seams)
        return exi_wrong_usage(call->command, "--keep-seams goes with a glTF file");
    const bool folder = exi_file_is_folder(path);
    char *name = folder ? folder_name(path) : exi_path_stem(path);
    char *directory = name && folder ? exi_path_inside(".", name, "_project") : NULL;
    if (!name || (folder && !directory)) {
        exit_code = exi_failed_memory();
    } else if (exi_forms_read(call, space, &places, paths, &forms, &exit_code)) {
        const source from = {.forms = &forms.forms, .path = path};
        exit_code = init(call, &from, output ? output : folder ? directory : name, name);
    }
    if (name && (!folder || directory))
        exi_forms_free(&forms);
    free(directory);
    free(name);
    return exit_code;
}

/* True if all files are forms; otherwise prints which is not. */
static bool expect_forms(const ex_call *call) {
    for (int i = 0; i < call->argument_count; i++)
        if (!exi_expect_kind(call->arguments[i], EXI_FILE_FORM))
            return false;
    return true;
}

static int run(const ex_call *call) {
    const char *path = call->arguments[0];
    const bool folder = exi_file_is_folder(path);
    const bool form = exi_file_kind_of(path) == EXI_FILE_FORM;
    if (folder && call->argument_count > 1)
        return exi_wrong_usage(call->command, "'%s' is a folder, which is taken alone", path);
    if (form && call->argument_count == 1) {
        exi_failed_text("'%s' is one form: give shapes of it too ('exemplar init %s SMILE.obj FROWN.obj')", path, path);
        return EX_EXIT_FAILED;
    }
    if (folder || form)
        return folder || expect_forms(call) ? init_forms(call, path) : EX_EXIT_FAILED;
    return exi_expect_kind(path, EXI_FILE_SCENE) ? init_scene(call, path) : EX_EXIT_FAILED;
}

const ex_command cmd_init = {
    .name = "init",
    .summary = "make a project from a glTF file, or from shapes of one mesh",
    .usage = "init FILE.glb|FILE.gltf [-o DIR] [--force] [--keep-seams]\n"
             "init REST.obj SHAPE.obj... [-o DIR] [--space AXIS,...] [--paths]\n"
             "init FOLDER [-o DIR] [--space AXIS,...] [--paths]",
    .description = "From a glTF file: writes DIR/FILE.json and its files:\n"
                   "\n"
                   "  mesh.obj       the mesh with its groups, materials by name and texture\n"
                   "                 coordinates\n"
                   "  target_*.obj   a form for every morph target, with an axis of its name from 0\n"
                   "                 to 1 in a layer 'targets'\n"
                   "  skeleton.glb   joints and skin weights\n"
                   "  materials.gltf materials, with their images next to it, unchanged\n"
                   "  clips.glb      animations\n"
                   "\n"
                   "The rig built from it matches the file at rest, and when you change weights or\n"
                   "joints. Vertices that the file splits, because their texture coordinate or\n"
                   "normal differs, are merged, so the surface is closed where it looks closed.\n"
                   "\n"
                   "All parts that the file shows become one mesh with one skin. Joints of several\n"
                   "skins become one skeleton. A part without a skin hangs on the joint above it.\n"
                   "Nodes that an animation moves become joints. init lists on stderr what it\n"
                   "leaves out or renames, and why.\n"
                   "\n"
                   "From OBJ, PLY, OFF or Alembic files of one mesh, or a folder of them: the\n"
                   "first file is the mesh at rest (in a folder, the one called rest or neutral).\n"
                   "Each further file is a shape with a slider of its name. With --space, all\n"
                   "shapes share the axes that you name, and everything between them is\n"
                   "interpolated. Vertices in another order are matched.",
    .examples = "exemplar init robot.glb\n"
                "exemplar build robot/robot.json\n"
                "exemplar pose robot/robot.glb smile=0.5 -o smile.obj\n"
                "# a slider 'kick' from 0 to 1, which takes further shapes in between\n"
                "exemplar init stand.obj kick.obj --space kick\n"
                "# four shapes over two axes\n"
                "exemplar init thin.obj left.obj right.obj thick.obj --space bend,weight \\\n"
                "    --at left:-1,0 --at right:1,0 --at thick:0,1",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
};
