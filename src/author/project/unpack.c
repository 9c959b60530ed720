/*
 * A project from a rig: the mesh and every example as OBJ, the spaces as JSON. Building it again gives the same bytes:
 * examples are written as what they are measured from + difference in double, so that subtracting it again and rounding
 * to float gives the difference back (measure.h); numbers have the decimals it takes. Masks were multiplied into the
 * differences when the rig was built, and do not come back.
 */
#include "author/formats/array.h"
#include "author/formats/file.h"
#include "author/formats/json.h"
#include "author/project/measure.h"
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Names of files: letters, digits, '-', '_' and '.' stay, everything else becomes '_'; a number keeps them apart. */
static void file_name(char *out, size_t size, int layer, int example, const char *name) {
    int length = snprintf(out, size, "layer%d_%03d_", layer, example);
    size_t at = (size_t)length;
    for (const char *c = name; *c && at + 5 < size && at < 80; c++)
        out[at++] =
            (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '-' ? *c : '_';
    snprintf(out + at, size - at, ".obj");
}

static char *join(const char *directory, const char *name) {
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", directory, name);
    return path;
}

static bool set(json_t *object, const char *key, json_t *value) {
    return json_object_set_new(object, key, value) == 0;
}

/* ---- JSON ---- */

static json_t *make_axis(const char *name, const char *unit, const ex_axis *axis) {
    static const char *const kinds[] = {"", "full", "swing", "twist"};
    json_t *object = json_object();
    bool done = set(object, "name", json_string(name)) && (!unit[0] || set(object, "unit", json_string(unit)));
    if (axis->kind == EX_AXIS_SCALAR) {
        done = done && set(object, "min", exi_json_make_number(axis->min)) &&
               set(object, "max", exi_json_make_number(axis->max)) &&
               set(object, "rest", exi_json_make_number(axis->rest)) &&
               (!axis->clamp || set(object, "clamp", json_true()));
    } else {
        done = done && set(object, "rotation", json_string(kinds[axis->kind])) &&
               (axis->kind == EX_AXIS_ROTATION || set(object, "about", exi_json_make_numbers(axis->about, 3))) &&
               set(object, "rest", exi_json_make_numbers(axis->rest_rotation, 4));
    }
    done = done && (!(axis->scale > 0) || set(object, "scale", exi_json_make_number(axis->scale)));
    if (!done) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *make_weigh(const ex_weigher_def *def) {
    json_t *weigh = json_object();
    bool done = set(weigh, "kind", json_string(ex_weigher_kind_name(def->kind)));
    if (def->kind == EX_WEIGHER_CARDINAL)
        done = done && set(weigh, "kernel", json_string(ex_kernel_name(def->kernel))) &&
               set(weigh, "linear", json_boolean(def->linear)) &&
               set(weigh, "radius", exi_json_make_number(def->radius)) &&
               set(weigh, "ridge", exi_json_make_number(def->ridge));
    else if (def->kind == EX_WEIGHER_SHEPARD)
        done = done && set(weigh, "power", exi_json_make_number(def->power));
    else if (def->kind == EX_WEIGHER_NEAREST)
        done = done && set(weigh, "k", json_integer(def->neighbours)) &&
               (!def->paper_form || set(weigh, "form", json_string("paper")));
    if (!done) {
        json_decref(weigh);
        return NULL;
    }
    return weigh;
}

/* The names of a layer's axes and their widths stand in the rig. */
static json_t *make_point(const ex_rig *rig, int layer, const double *point) {
    json_t *object = json_object();
    const int count = ex_weigher_axis_count(ex_rig_weigher(rig, layer));
    bool done = object != NULL;
    for (int i = 0; done && i < count; i++) {
        int input = ex_rig_layer_input(rig, layer, i);
        ex_axis axis = ex_rig_input_axis(rig, input);
        int width = ex_axis_width(&axis);
        done = set(object, ex_rig_input_name(rig, input),
                   width == 1 ? exi_json_make_number(point[0]) : exi_json_make_numbers(point, 4));
        point += width;
    }
    if (!done) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *make_pseudos(const ex_rig *rig, int layer, const ex_weigher_def *def) {
    json_t *list = json_array();
    bool done = list != NULL;
    for (int i = 0; done && i < def->pseudo_count; i++) {
        const ex_pseudo *p = &def->pseudos[i];
        json_t *pseudo = json_object();
        if (p->from) {
            done = set(pseudo, "from", make_point(rig, layer, p->from));
        } else {
            json_t *weights = json_object();
            for (int k = 0; k < def->example_count; k++)
                done = done && set(weights, ex_rig_example_name(rig, layer, k), exi_json_make_number(p->weights[k]));
            done = set(pseudo, "weights", weights) && done;
        }
        done = set(pseudo, "at", make_point(rig, layer, p->at)) && done;
        done = json_array_append_new(list, pseudo) == 0 && done;
    }
    if (!done) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *make_layer(const ex_rig *rig, int layer, const ex_weigher_def *def) {
    json_t *object = json_object(), *space = json_array(), *examples = json_array();
    bool done = object && space && examples;
    for (int i = 0; done && i < def->axis_count; i++) {
        int input = ex_rig_layer_input(rig, layer, i);
        done = json_array_append_new(
                   space, make_axis(ex_rig_input_name(rig, input), ex_rig_input_unit(rig, input), &def->axes[i])) == 0;
    }
    for (int k = 0; done && k < def->example_count; k++) {
        char file[128];
        file_name(file, sizeof file, layer, k, ex_rig_example_name(rig, layer, k));
        json_t *example = json_pack("{s:s, s:s}", "name", ex_rig_example_name(rig, layer, k), "mesh", file);
        const double *point = ex_weigher_point(ex_rig_weigher(rig, layer), k);
        done = example && (!point || set(example, "at", make_point(rig, layer, point)));
        done = json_array_append_new(examples, example) == 0 && done;
    }
    done = set(object, "name", json_string(ex_rig_layer_name(rig, layer))) && done;
    done = set(object, "space", space) && done;
    done = set(object, "weigh", make_weigh(def)) && done;
    done = set(object, "shape", json_string("positions")) && done;
    done = set(object, "examples", examples) && done;
    if (def->pseudo_count > 0)
        done = set(object, "pseudo", make_pseudos(rig, layer, def)) && done;
    if (!done) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *describe_layer(const ex_rig *rig, int layer) {
    const ex_weigher *weigher = ex_rig_weigher(rig, layer);
    ex_axis *axes = exi_array_allocate((size_t)ex_weigher_axis_count(weigher), sizeof *axes);
    ex_pseudo *pseudos = exi_array_allocate((size_t)ex_weigher_pseudo_count(weigher), sizeof *pseudos);
    json_t *made = NULL;
    if (axes && pseudos) {
        ex_weigher_def def;
        ex_weigher_describe(weigher, &def, axes, pseudos);
        made = make_layer(rig, layer, &def);
    }
    free(axes);
    free(pseudos);
    return made;
}

static ex_result write_project(const ex_rig *rig, const char *path, ex_error *error) {
    json_t *root = json_pack("{s:i, s:s}", "exemplar", 1, "mesh", "mesh.obj"), *layers = json_array();
    bool done = root && layers;
    for (int l = 0; done && l < ex_rig_layer_count(rig); l++)
        done = json_array_append_new(layers, describe_layer(rig, l)) == 0;
    done = set(root, "layers", layers) && done;
    ex_result result = exi_json_write(path, done ? root : NULL, error);
    json_decref(root);
    return result;
}

/* ---- files ---- */

/* The folder being filled. Files that were not there before are taken away again if the work fails. */
typedef struct folder {
    const char *path;
    bool overwrite;
    char **made;
    int made_count;
    size_t made_capacity;
} folder;

/* The path of a file to be written, which the folder keeps; NULL and an error where it may not or cannot be. */
static const char *new_file(folder *f, const char *name, ex_error *error) {
    char *path = join(f->path, name);
    char **made = exi_array_grow(f->made, &f->made_capacity, (size_t)f->made_count + 1, sizeof *made);
    if (made)
        f->made = made;
    if (!path || !made) {
        free(path);
        exi_error_memory(error, "a path", strlen(f->path));
        return NULL;
    }
    f->made[f->made_count++] = path;
    return path;
}

static bool exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

/* Every name once, before anything is written. */
static ex_result check_free(const folder *f, const char *name, ex_error *error) {
    char *path = f->overwrite ? NULL : join(f->path, name);
    ex_result result = EX_OK;
    if (!f->overwrite && !path)
        result = exi_error_memory(error, "a path", strlen(f->path));
    else if (path && exists(path))
        result =
            exi_error(error, EX_ERROR_FILE, "%s is there already: choose another folder, or say to overwrite it", path);
    free(path);
    return result;
}

static ex_result check_all_free(const ex_rig *rig, const folder *f, const char *project, ex_error *error) {
    ex_result result = check_free(f, project, error);
    if (result == EX_OK)
        result = check_free(f, "mesh.obj", error);
    for (int l = 0; result == EX_OK && l < ex_rig_layer_count(rig); l++)
        for (int k = 0; result == EX_OK && k < ex_weigher_example_count(ex_rig_weigher(rig, l)); k++) {
            char name[128];
            file_name(name, sizeof name, l, k, ex_rig_example_name(rig, l, k));
            result = check_free(f, name, error);
        }
    return result;
}

static void close_folder(folder *f, bool keep) {
    for (int i = 0; i < f->made_count; i++) {
        if (!keep && !f->overwrite)
            remove(f->made[i]);
        free(f->made[i]);
    }
    free(f->made);
}

static ex_result write_mesh(folder *f, const char *name, const ex_mesh *mesh, ex_error *error) {
    const char *path = new_file(f, name, error);
    return path ? ex_obj_write(path, mesh, error) : EX_ERROR_MEMORY;
}

/* An example has the mesh's faces, which tell its connectivity, and nothing else of it. */
static void strip(ex_mesh *mesh) {
    free(mesh->corner_texcoords);
    free(mesh->corner_normals);
    free(mesh->face_groups);
    free(mesh->face_materials);
    free(mesh->colours);
    free(mesh->material_library);
    mesh->corner_texcoords = mesh->corner_normals = mesh->face_groups = mesh->face_materials = NULL;
    mesh->colours = NULL;
    mesh->material_library = NULL;
    mesh->texcoord_count = mesh->normal_count = 0;
}

/* What an example is measured from, as building will do it again: earlier layers at its place, other axes at rest. */
typedef struct unmeasure {
    const ex_rig *rig;
    size_t count;    /* numbers in a form */
    double *mesh;    /* [count] */
    double *base;    /* [count] */
    float *delta;    /* [count] */
    double *inputs;  /* a pose */
    double *weights; /* of all layers */
    void *scratch;
} unmeasure;

static void set_pose(unmeasure *u, int layer, int example) {
    const ex_weigher *weigher = ex_rig_weigher(u->rig, layer);
    const double *point = ex_weigher_point(weigher, example);
    ex_rig_rest_pose(u->rig, u->inputs);
    if (!point) {
        u->inputs[ex_rig_input_offset(u->rig, ex_rig_layer_input(u->rig, layer, example))] = 1;
        return;
    }
    for (int i = 0; i < ex_weigher_axis_count(weigher); i++) {
        int input = ex_rig_layer_input(u->rig, layer, i);
        ex_axis axis = ex_rig_input_axis(u->rig, input);
        size_t width = (size_t)ex_axis_width(&axis);
        memcpy(u->inputs + ex_rig_input_offset(u->rig, input), point, width * sizeof *point);
        point += width;
    }
}

static void set_base(unmeasure *u, int layer, int example) {
    memcpy(u->base, u->mesh, u->count * sizeof *u->base);
    if (layer == 0)
        return;
    set_pose(u, layer, example);
    ex_rig_evaluate(u->rig, &(ex_pose){.inputs = u->inputs}, &(ex_output){.weights = u->weights}, NULL, u->scratch);
    for (int l = 0; l < layer; l++)
        for (int k = 0; k < ex_weigher_example_count(ex_rig_weigher(u->rig, l)); k++) {
            ex_rig_example_delta(u->rig, l, k, u->delta);
            exi_measure_sum(u->base, u->count, u->weights[ex_rig_first_example(u->rig, l) + k], u->delta);
        }
    for (size_t i = 0; i < u->count; i++)
        u->base[i] = (double)(float)u->base[i];
}

static ex_result open_unmeasure(unmeasure *u, const ex_rig *rig, const ex_mesh *mesh, ex_error *error) {
    size_t count = 3 * (size_t)mesh->vertex_count;
    *u = (unmeasure){.rig = rig,
                     .count = count,
                     .mesh = exi_array_copy(mesh->positions, count, sizeof(double)),
                     .base = exi_array_allocate(count, sizeof(double)),
                     .delta = exi_array_allocate(count, sizeof(float)),
                     .inputs = exi_array_allocate((size_t)ex_rig_pose_size(rig), sizeof(double)),
                     .weights = exi_array_allocate((size_t)ex_rig_example_count(rig), sizeof(double)),
                     .scratch = malloc(ex_rig_scratch_size(rig, 1))};
    bool done = u->mesh && u->base && u->delta && u->inputs && u->weights && u->scratch;
    return done ? EX_OK : exi_error_memory(error, "the examples", count * 20);
}

static void close_unmeasure(unmeasure *u) {
    free(u->mesh);
    free(u->base);
    free(u->delta);
    free(u->inputs);
    free(u->weights);
    free(u->scratch);
}

static ex_result write_examples(const ex_rig *rig, folder *f, ex_mesh *mesh, ex_error *error) {
    unmeasure u;
    ex_result result = open_unmeasure(&u, rig, mesh, error);
    int tags = mesh->tag_count;
    mesh->tag_count = 0;
    for (int l = 0; result == EX_OK && l < ex_rig_layer_count(rig); l++)
        for (int k = 0; result == EX_OK && k < ex_weigher_example_count(ex_rig_weigher(rig, l)); k++) {
            char name[128];
            file_name(name, sizeof name, l, k, ex_rig_example_name(rig, l, k));
            set_base(&u, l, k);
            ex_rig_example_delta(rig, l, k, u.delta);
            for (size_t i = 0; i < u.count; i++)
                mesh->positions[i] = u.base[i] + (double)u.delta[i];
            result = write_mesh(f, name, mesh, error);
        }
    mesh->tag_count = tags;
    close_unmeasure(&u);
    return result;
}

static ex_result write_all(const ex_rig *rig, folder *f, const char *project, ex_error *error) {
    ex_mesh *mesh = NULL;
    ex_result result = check_all_free(rig, f, project, error);
    if (result == EX_OK)
        result = ex_rig_to_mesh(rig, NULL, &mesh, error);
    if (result == EX_OK)
        result = write_mesh(f, "mesh.obj", mesh, error);
    if (result == EX_OK) {
        strip(mesh);
        result = write_examples(rig, f, mesh, error);
    }
    const char *path = result == EX_OK ? new_file(f, project, error) : NULL;
    if (result == EX_OK)
        result = path ? write_project(rig, path, error) : EX_ERROR_MEMORY;
    ex_mesh_destroy(mesh);
    return result;
}

ex_result ex_project_unpack(const ex_rig *rig, const char *directory, const char *name, bool overwrite,
                            ex_error *error) {
    if (ex_rig_storage(rig) != EX_STORAGE_FLOAT)
        return exi_error(error, EX_ERROR_ARGUMENT, "a rig in 16-bit storage cannot be unpacked without loss");
    ex_result result = exi_make_directory(directory, error);
    if (result != EX_OK)
        return result;
    size_t size = strlen(name) + 6;
    char *project = malloc(size);
    if (!project)
        return exi_error_memory(error, "a path", size);
    snprintf(project, size, "%s.json", name);
    folder f = {.path = directory, .overwrite = overwrite};
    result = write_all(rig, &f, project, error);
    close_folder(&f, result == EX_OK);
    free(project);
    return result;
}
