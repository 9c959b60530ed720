/* exemplar render - draws a form, or a rig at a pose; one picture for each step of a turn; or an animation. */
#include "animate.h"
#include "cli/base/command.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"
#include "cli/base/words.h"
#include "clothes.h"
#include "common/pool.h"
#include "compare.h"
#include "focus.h"
#include "subject.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *output, *size_text, *yaw_text, *pitch_text, *angle_text, *zoom_text;
static const char *level_text, *mute_text, *compare_text, *background_text, *occlusion_text, *texture_path, *what,
    *with, *range_text, *up_text;
static int turntable;
static exi_focus_words focus_words;
static exi_animate_words animate_words;
static exi_clothes_words clothes_words;
static bool parallel, flat, smooth, wireframe, backfaces, plain, no_ground;

static const ex_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "P.png",
     .help = "output file (- is standard output); with --turntable, P_001.png and so on",
     .text = &output},
    {.name = "size",
     .argument = "WxH",
     .help = "pixels, such as 800x600, or 600 for a square (default: 1000x1000, and 480x480 if it moves)",
     .text = &size_text},
    {.name = "yaw",
     .argument = "DEGREES",
     .help = "angle of the camera around the form, from its front (0) to its left side (90) (default: 25)",
     .text = &yaw_text},
    {.name = "pitch",
     .argument = "DEGREES",
     .help = "angle of the camera downwards (default: 10)",
     .text = &pitch_text},
    {.name = "angle", .argument = "DEGREES", .help = "angle of view (default: 24)", .text = &angle_text},
    {.name = "parallel", .help = "without perspective", .flag = &parallel},
    {.name = "zoom",
     .argument = "FACTOR",
     .help = "1 shows the whole form, 2 its middle twice as large (default: 1)",
     .text = &zoom_text},
    EXI_FOCUS_OPTIONS(focus_words),
    {.name = "turntable",
     .argument = "N",
     .help = "draw N pictures in a full turn, all with the same frame",
     .count = &turntable,
     .count_max = 9999},
    EXI_ANIMATE_OPTIONS(animate_words),
    {.name = "level",
     .values = "cage|limit",
     .argument = "LEVEL",
     .help = "for a rig: level of subdivision: cage, a number, or limit (default: the level that the project shows)",
     .text = &level_text},
    {.name = "mute",
     .argument = "LAYER",
     .help = "for a rig: leave a layer out, to compare; several with commas between",
     .text = &mute_text,
     .listed = true},
    {.name = "compare",
     .argument = "LAYER",
     .help = "for a rig: draw it twice, without LAYER at the left and with it at the right (in a tall "
             "picture, at the top and the bottom); several with commas between",
     .text = &compare_text,
     .listed = true},
    EXI_CLOTHES_OPTIONS(clothes_words),
    {.name = "up", .argument = "y|z", .help = "up axis of a form's file (default: y)", .text = &up_text},
    {.name = "flat", .help = "give every face its own normal", .flag = &flat},
    {.name = "smooth", .help = "no hard edges, if the form has no normals", .flag = &smooth},
    {.name = "wireframe", .help = "draw the edges of polygons", .flag = &wireframe},
    {.name = "backfaces", .help = "draw the back of faces in red, to find flipped faces", .flag = &backfaces},
    {.name = "texture",
     .argument = "IMAGE.png",
     .help = "base colour of the form, instead of its materials (default: the rig's base_color)",
     .text = &texture_path},
    {.name = "plain", .help = "plain clay: no materials, no texture and no vertex colours", .flag = &plain},
    {.name = "show",
     .values = "difference|displacement|example:|skin:",
     .argument = "WHAT",
     .help = "draw numbers as colours: difference (with --with), displacement (from rest), example:LAYER/NAME (the "
             "vertices it moves), or skin:JOINT (its weights)",
     .text = &what},
    {.name = "with",
     .argument = "OTHER",
     .help = "with --show difference: the other form, or a rig at rest",
     .text = &with},
    {.name = "range",
     .argument = "LOW:HIGH",
     .help = "with --show: the values of the first and the last colour (default: 0 to the largest)",
     .text = &range_text},
    {.name = "background",
     .values = "quiet|white|grey|transparent",
     .argument = "NAME",
     .help = "quiet (cool white, a little darker below), white, grey or transparent (default: quiet)",
     .text = &background_text},
    {.name = "no-ground", .help = "no shadow on the ground", .flag = &no_ground},
    {.name = "occlusion",
     .argument = "N",
     .help = "rays per point for ambient occlusion, 0 to 16 (default: 8)",
     .text = &occlusion_text},
};

/* ---- words into numbers ---- */

/* Reads a number in a range from the entire text; otherwise prints an error. */
static bool read_number(const ex_call *call, const char *option, const char *text, double low, double high,
                        double *value) {
    const char *cursor = text;
    double number;
    if (!text)
        return true;
    if (ex_parse_double(&cursor, text + strlen(text), &number) && *cursor == '\0' && number >= low && number <= high) {
        *value = number;
        return true;
    }
    exi_wrong_usage(call->command, "--%s needs a number from %g to %g, not '%s'", option, low, high, text);
    return false;
}

static bool read_size(const ex_call *call, ex_render_def *def) {
    double size[2];
    if (!size_text && exi_animate_asked(&animate_words))
        def->width = def->height = EXI_ANIMATE_SIZE;
    if (!size_text)
        return true;
    if (!exi_size_read(size_text, size) || size[0] != floor(size[0]) || size[1] != floor(size[1]) ||
        size[0] > EX_IMAGE_MAX || size[1] > EX_IMAGE_MAX) {
        exi_wrong_usage(call->command,
                        "--size needs pixels such as 800x600, or 600 for a square, at most %d each, not '%s'",
                        EX_IMAGE_MAX, size_text);
        return false;
    }
    def->width = (int)size[0];
    def->height = (int)size[1];
    return true;
}

static bool read_range(const ex_call *call, double range[2]) {
    if (!range_text)
        return true;
    const char *cursor = range_text, *end = range_text + strlen(range_text);
    if (ex_parse_double(&cursor, end, &range[0]) && *cursor == ':') {
        cursor++;
        if (ex_parse_double(&cursor, end, &range[1]) && cursor == end && range[0] < range[1])
            return true;
    }
    exi_wrong_usage(call->command, "--range needs two numbers such as 0:5, the smaller first, not '%s'", range_text);
    return false;
}

static bool read_background(const ex_call *call, ex_render_def *def) {
    static const char *const names[EX_BACKGROUND_COUNT] = {
        [EX_BACKGROUND_QUIET] = "quiet",
        [EX_BACKGROUND_WHITE] = "white",
        [EX_BACKGROUND_GREY] = "grey",
        [EX_BACKGROUND_TRANSPARENT] = "transparent",
    };
    for (int i = 0; background_text && i < EX_BACKGROUND_COUNT; i++)
        if (strcmp(background_text, names[i]) == 0) {
            def->background = (ex_background)i;
            return true;
        }
    if (background_text)
        exi_wrong_usage(call->command, "--background needs quiet, white, grey or transparent, not '%s'",
                        background_text);
    return !background_text;
}

static bool read_words(const ex_call *call, ex_render_def *def, double range[2]) {
    double occlusion = def->occlusion;
    if (!read_size(call, def) || !read_background(call, def) || !read_range(call, range) ||
        !read_number(call, "yaw", yaw_text, -36000, 36000, &def->camera.yaw) ||
        !read_number(call, "pitch", pitch_text, -90, 90, &def->camera.pitch) ||
        !read_number(call, "angle", angle_text, 1, 120, &def->camera.angle) ||
        !read_number(call, "zoom", zoom_text, 0.01, 1000, &def->camera.zoom) ||
        !read_number(call, "occlusion", occlusion_text, 0, 16, &occlusion))
        return false;
    int shorter = def->width < def->height ? def->width : def->height;
    if (compare_text && (def->width > def->height ? def->width : def->height) < EXI_COMPARE_LEAST) {
        exi_wrong_usage(call->command, "--compare needs a picture of %d pixels or more along a side",
                        EXI_COMPARE_LEAST);
        return false;
    }
    def->occlusion = (int)occlusion;
    if (def->occlusion != occlusion) {
        exi_wrong_usage(call->command, "--occlusion needs a whole number of rays, not '%s'", occlusion_text);
        return false;
    }
    def->camera.angle = parallel ? 0 : def->camera.angle;
    def->camera.all_around = turntable > 0;
    def->flat = flat;
    def->smooth = smooth;
    def->backfaces = backfaces;
    def->ground = !no_ground;
    /* Lines are as fine in a small picture as in a large one. */
    def->wireframe = wireframe ? shorter < 700 ? 0.7 : shorter / 1000.0 : 0;
    return true;
}

static bool check_words(const ex_call *call) {
    if (!output)
        exi_wrong_usage(call->command, "-o is required: it names the output");
    else if (what && strcmp(what, "difference") != 0 && strcmp(what, "displacement") != 0 &&
             strncmp(what, "example:", 8) != 0 && strncmp(what, "skin:", 5) != 0)
        exi_wrong_usage(call->command,
                        "--show needs difference, displacement, example:LAYER/NAME or skin:JOINT, not '%s'", what);
    else if ((what && strcmp(what, "difference") == 0) != (with != NULL))
        exi_wrong_usage(call->command, "--show difference and --with OTHER go together");
    else if (range_text && !what)
        exi_wrong_usage(call->command, "--range goes with --show");
    else if (angle_text && parallel)
        exi_wrong_usage(call->command, "--angle and --parallel exclude each other");
    else if (compare_text && (what || clothes_words.clothes.count > 0))
        exi_wrong_usage(call->command, "--compare and --%s exclude each other", what ? "show" : "wear");
    else if (flat && smooth)
        exi_wrong_usage(call->command, "--flat and --smooth exclude each other");
    else if (up_text && strcmp(up_text, "y") != 0 && strcmp(up_text, "z") != 0)
        exi_wrong_usage(call->command, "--up needs y or z, not '%s'", up_text);
    else if (turntable > 0 && exi_is_standard_output(output))
        exi_wrong_usage(call->command, "a turntable is several files: name them with -o");
    else if (turntable > 0 && !ex_path_ends_with(output, ".png"))
        exi_wrong_usage(call->command, "a turntable is several files, so '%s' must end in .png", output);
    else
        return exi_focus_check(call, &focus_words) && exi_assignments_check(call) &&
               exi_animate_check(call, &animate_words,
                                 turntable > 0                 ? "turntable"
                                 : what && !animate_words.turn ? "show"
                                                               : NULL);
    return false;
}

/* ---- pictures ---- */

/* "a/NAME_007.png" for "a/NAME.png". Caller frees. */
static char *step_path(int step) {
    char ending[24];
    snprintf(ending, sizeof ending, "_%03d.png", step);
    return exi_path_with_ending(output, ending);
}

static ex_result render_to(const ex_call *call, exi_subject *subject, exi_compare *compare, const ex_render_def *def,
                           const char *path, ex_error *error) {
    static const float still[3];
    ex_image *image = NULL;
    const ex_pose *pose = subject->pose.inputs ? &subject->pose : NULL;
    ex_result result = EX_OK;
    if (!exi_compare_render(compare, subject, pose, still, def, &image, error))
        result = error->result == EX_OK ? EX_ERROR_MEMORY /* it was printed */
                                        : ex_error_within(error, error->result, "%s", call->arguments[0]);
    if (result == EX_OK)
        result = ex_image_write(path, image, error);
    ex_image_destroy(image);
    return result;
}

/* Of one picture of a turn: it says nothing, and stops for a signal. */
static bool go_on(void *user, const char *step, double part) {
    (void)user;
    (void)step;
    (void)part;
    return exi_interrupted() == 0;
}

static ex_result render_steps(const ex_call *call, exi_subject *subject, exi_compare *compare, ex_render_def *def,
                              const char *folder, exi_progress *progress, ex_error *error) {
    const ex_progress stop = {.report = go_on};
    const double first = def->camera.yaw;
    def->progress = &stop;
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < turntable; i++) {
        char *step = step_path(i + 1), *slash = step ? strrchr(step, '/') : NULL;
        char *path = step ? exi_path_inside(folder, slash ? slash + 1 : step, "") : NULL;
        def->camera.yaw = first + 360.0 * i / turntable;
        exi_progress_step(progress, "rendering a turn", (double)i / turntable);
        result = path ? render_to(call, subject, compare, def, path, error) : ex_error_memory(error, "a path", 0);
        free(step);
        free(path);
    }
    return result;
}

/* All pictures of a turn get their places at the end, or none. */
static ex_result render_turn(const ex_call *call, exi_subject *subject, exi_compare *compare, ex_render_def *def,
                             exi_progress *progress, ex_error *error) {
    char *folder = step_path(1), *slash = folder ? strrchr(folder, '/') : NULL;
    if (!folder)
        return ex_error_memory(error, "a path", 0);
    slash = slash == folder ? slash + 1 : slash; /* the root keeps its name */
    *(slash ? slash : folder) = 0;
    ex_file_set *set = NULL;
    ex_result result = ex_file_set_open(folder, true, &set, error);
    free(folder);
    if (result == EX_OK)
        result = render_steps(call, subject, compare, def, ex_file_set_folder(set), progress, error);
    if (result == EX_OK)
        return ex_file_set_commit(set, NULL, error); /* fails if a signal came before it */
    ex_file_set_abandon(set, error);
    return result;
}

/* Frames the vertices of --look-at, --around or --fit. *points is to be freed. */
static bool frame(const exi_subject *subject, const exi_focus *focus, ex_camera *camera, float **points) {
    *points = NULL;
    if (!focus->vertices)
        return true;
    *points = malloc((3 * (size_t)focus->count + 1) * sizeof **points);
    for (size_t i = 0; *points && i < 3 * (size_t)focus->count; i++)
        (*points)[i] = (float)subject->mesh->positions[3 * (size_t)focus->vertices[i / 3] + i % 3];
    camera->points = *points;
    camera->point_count = focus->count;
    if (!*points)
        exi_failed_memory();
    return *points != NULL;
}

static int render(const ex_call *call, exi_subject *subject, exi_compare *compare, exi_clothes *worn,
                  const exi_focus *focus, ex_render_def *def, const double range[2]) {
    ex_render_item item = exi_subject_item(subject, !plain), items[1 + EXI_CLOTHES_MOST];
    item.vertex_colours = !plain;
    if (range_text) {
        item.scalar.min = range[0];
        item.scalar.max = range[1];
    }
    if (exi_animate_asked(&animate_words))
        return exi_animate(call, &animate_words, subject, compare, worn, focus, &item, def, output);
    def->items = items;
    def->item_count = exi_clothes_items(worn, &item, !plain, items);
    double start = exi_clock();
    exi_progress progress;
    exi_progress_start(&progress, call);
    def->progress = &progress.hook;
    ex_error error = {.result = EX_OK};
    exi_interrupt_defer(turntable > 0);
    const ex_result result = turntable > 0 ? render_turn(call, subject, compare, def, &progress, &error)
                                           : render_to(call, subject, compare, def,
                                                       exi_is_standard_output(output) ? "/dev/stdout" : output, &error);
    exi_interrupt_defer(false);
    exi_progress_end(&progress);
    if (turntable > 0 && result != EX_OK && exi_interrupted()) {
        exi_failed_text("interrupted: no picture was written");
        return exi_interrupted();
    }
    if (result != EX_OK)
        return error.result == EX_OK ? EX_EXIT_FAILED : exi_failed(&error);
    if (!call->quiet && !exi_is_standard_output(output)) {
        char pictures[EXI_TEXT_SIZE], time[EXI_TEXT_SIZE];
        exi_print("%s: ", output);
        if (turntable > 0)
            exi_print("%s, ", exi_text_count(pictures, turntable, "picture"));
        exi_print("%d x %d pixels, %s\n", def->width, def->height, exi_text_seconds(time, exi_clock() - start));
    }
    return EX_EXIT_DONE;
}

/* True if --up is absent or applies to a form; otherwise prints an error. */
static bool check_up(const ex_call *call, const exi_subject *subject, const exi_subject *other) {
    if (!up_text || !subject->rig || (with && !other->rig))
        return true;
    exi_failed_text("'%s' is a rig, where y is up: --up goes with forms", call->arguments[0]);
    return false;
}

/* Turns a form whose file has z up, so that y is up. */
static void turn_up(ex_mesh *mesh) {
    for (int i = 0; i < 2; i++) {
        double *triples = i ? mesh->normals : mesh->positions;
        int count = i ? mesh->normal_count : mesh->vertex_count;
        for (int v = 0; triples && v < count; v++) {
            double y = triples[3 * (size_t)v + 1];
            triples[3 * (size_t)v + 1] = triples[3 * (size_t)v + 2];
            triples[3 * (size_t)v + 2] = -y;
        }
    }
}

static bool read_texture(exi_subject *subject) {
    ex_error error = {.result = EX_OK};
    if (!texture_path)
        return true;
    if (subject->mesh->texcoord_count == 0) {
        exi_failed_text("the form has no texture coordinates for --texture '%s'", texture_path);
        return false;
    }
    if (ex_image_read(texture_path, &subject->image, &error) == EX_OK)
        return true;
    exi_failed(&error);
    return false;
}

static bool open_other(exi_subject *other, const ex_call *call, const ex_tasks *tasks, int *exit_code) {
    *other = (exi_subject){.rig = NULL};
    if (!with)
        return true;
    bool good = exi_subject_open(other, call, with, &(exi_subject_words){.level = NULL}, tasks, exit_code);
    if (good && !other->rig && up_text && *up_text == 'z')
        turn_up(other->mesh);
    return good;
}

/* True if no picture would take the place of its texture; otherwise prints an error. */
static bool spares_texture(const ex_call *call, int *exit_code) {
    bool good = !texture_path || exi_output_check(call->command, output, ".png", texture_path, exit_code);
    for (int i = 0; good && texture_path && i < turntable; i++) {
        char *path = step_path(i + 1);
        *exit_code = EX_EXIT_FAILED;
        good = path && exi_output_check(call->command, path, ".png", texture_path, exit_code);
        free(path);
    }
    return good;
}

static int run(const ex_call *call) {
    ex_render_def def = ex_render_def_default();
    double range[2] = {0, 0};
    float *points = NULL;
    int exit_code;
    if (!check_words(call) || !read_words(call, &def, range))
        return EX_EXIT_USAGE;
    if (!exi_output_check(call->command, output, ".png", call->arguments[0], &exit_code) ||
        (animate_words.motion.path &&
         !exi_output_check(call->command, output, ".png", animate_words.motion.path, &exit_code)) ||
        !spares_texture(call, &exit_code))
        return exit_code;
    exi_focus focus = {.vertices = NULL};
    exi_pool *pool = exi_pool_create(call->threads);
    def.tasks = exi_pool_tasks(pool);
    exi_subject subject, other = {.rig = NULL};
    exi_clothes worn = {.count = 0};
    exi_compare compare = {.without = NULL};
    const exi_subject_words words = {
        .level = level_text, .mute = mute_text, .example = focus_words.example ? focus_words.example + 8 : NULL};
    if (exi_subject_open(&subject, call, call->arguments[0], &words, def.tasks, &exit_code)) {
        if (!subject.rig && up_text && *up_text == 'z')
            turn_up(subject.mesh);
        if (read_texture(&subject) && open_other(&other, call, def.tasks, &exit_code) &&
            check_up(call, &subject, &other) && (!what || exi_subject_show(&subject, call, what, &other, def.tasks)) &&
            exi_compare_open(&compare, call, compare_text, &subject, def.tasks) &&
            exi_clothes_open(&worn, call, &clothes_words, &subject, def.tasks, &exit_code)) {
            compare.hide = clothes_words.hide;
            focus_words.hide = clothes_words.hide;
            exit_code = exi_focus_find(&focus_words, subject.rig, subject.level, subject.mesh, &focus) &&
                                frame(&subject, &focus, &def.camera, &points)
                            ? render(call, &subject, &compare, &worn, &focus, &def, range)
                            : EX_EXIT_FAILED;
        }
    }
    free(points);
    free(focus.vertices);
    exi_clothes_close(&worn);
    exi_compare_close(&compare);
    exi_subject_close(&other);
    exi_subject_close(&subject);
    exi_pool_destroy(pool);
    return exit_code;
}

const ex_command cmd_render = {
    .name = "render",
    .summary = "draw a form, or a rig at a pose, as a picture",
    .usage = "render RIG.glb [axis=value...] -o P.png\n"
             "render FORM -o P.png [--texture IMAGE.png]\n"
             "render FORM --show difference --with OTHER -o P.png\n"
             "render RIG.glb [axis=value...] --look-at JOINT -o P.png\n"
             "render RIG.glb [axis=value...] --turntable N -o P.png\n"
             "render RIG.glb [axis=value...] --turn -o P.png\n"
             "render RIG.glb [axis=value...] --sweep AXIS=FROM:TO... -o P.png\n"
             "render RIG.glb [axis=value...] --motion FILE -o P.png\n"
             "render RIG.glb [axis=value...] --compare LAYER -o P.png\n"
             "render RIG.glb [axis=value...] --wear CLOTHES.glb -o P.png",
    .description = "Draws a form (.obj, .ply, .off, .glb, .gltf) or a rig at a pose, lit softly\n"
                   "from the upper left, with a shadow on the ground. The camera shows it all, or\n"
                   "what --look-at, --around or --fit names. --fit example:NAME without a pose\n"
                   "shows the rig at that example. A glTF file with a skin is drawn where its\n"
                   "joints put it.\n"
                   "\n"
                   "Materials are drawn as glTF describes them, with their images, if the rig or\n"
                   "the file has any; else a rig's base colour and a form's vertex colours. It\n"
                   "needs no display and no graphics card, and the bytes of the picture do not\n"
                   "depend on the number of threads.\n"
                   "\n"
                   "With --show, numbers at the vertices are drawn as colours from dark to light,\n"
                   "with a legend. A rig's lengths are in millimetres or metres, a form's in its\n"
                   "own unit. Forms with different faces are compared by nearest points.\n"
                   "\n"
                   "--turn, --sweep, --motion and --clip write one animated PNG (APNG), which\n"
                   "browsers play in a loop. The camera keeps still and shows all of every frame.",
    .examples = "exemplar render blob/blob.glb bend=0.7 -o bent.png\n"
                "exemplar render blob/blob.glb bend=1 --show displacement -o moved.png\n"
                "exemplar render blob/barrel.obj --wireframe --flat -o wires.png\n"
                "exemplar render blob/blob.glb bend=1 --turn --size 200x200 -o turn.png\n"
                "exemplar render blob/blob.glb --sweep bend=0:1 --size 200x200 -o sweep.png",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
};
