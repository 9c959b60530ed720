/*
 * Fuzzes what takes a skeleton of a scan (clang -fsanitize=fuzzer,address,undefined). The first byte chooses the
 * skeleton, and the others describe it:
 *
 *   {     a skeleton file
 *   u, f  the built-in skeleton of that letter, with edits of five bytes: joint, kind of edit, three numbers
 *   else  a tree, with joints of seven bytes: parent, kind and name, mirror, three numbers, marker
 *
 * A skeleton is refused with a sentence, or it can be written and read again, and has a finite template whose rig can
 * be posed and whose dials are finite.
 */
#include <exemplar/author.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { JOINTS_MOST = 40, EDIT_SIZE = 5, JOINT_SIZE = 7, TEXT_MOST = 16384 };

static void must(ex_result result, const ex_error *error) {
    if (result != EX_OK) {
        puts(error->text);
        abort();
    }
}

static bool came_through(ex_result result, const ex_error *error) {
    if (result != EX_OK && error->text[0] == 0)
        abort();
    return result == EX_OK;
}

static void must_be_finite(const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            abort();
}

/* Centimetres, or one of a few odd lengths. */
static double number(uint8_t byte) {
    static const double odd[] = {1e6, -1e6, 1e-6, 1e-12, 1e-30, 5e-324, -1e-30, 3e4};
    return byte < 8 ? odd[byte] : byte == 8 ? 0 : (byte - 128) / 100.0;
}

/* ---- a built-in skeleton, edited ---- */

/* Removes a joint, what hangs below it, and their markers; joints that mirror one of them mirror none. */
static void remove_joint(ex_kinematics *k, int joint) {
    int map[JOINTS_MOST], count = 0;
    for (int j = 0; j < k->joint_count; j++) {
        ex_kin_joint *own = &k->joints[j];
        const bool gone = j == joint || (own->parent >= 0 && map[own->parent] < 0);
        map[j] = gone ? -1 : count;
        if (gone) {
            free(own->name);
            continue;
        }
        own->parent = own->parent < 0 ? -1 : map[own->parent];
        own->mirror = own->mirror < 0 ? -1 : map[own->mirror];
        k->joints[count++] = *own;
    }
    k->joint_count = count;
    count = 0;
    for (int i = 0; i < k->site_count; i++) {
        k->sites[i].joint = map[k->sites[i].joint];
        if (k->sites[i].joint < 0)
            free(k->sites[i].name);
        else
            k->sites[count++] = k->sites[i];
    }
    k->site_count = count;
}

static void edit(ex_kinematics *k, const uint8_t *bytes) {
    const int joint = bytes[0] % k->joint_count, other = bytes[2] % (joint > 0 ? joint : 1);
    ex_kin_joint *own = &k->joints[joint];
    switch (joint > 0 ? bytes[1] % 6 : 5) {
    case 0:
        remove_joint(k, joint);
        break;
    case 1:
        own->mirror = -1;
        break;
    case 2: /* crossed or doubled pairs */
        own->mirror = other > 0 ? other : -1;
        break;
    case 3:
        own->parent = other;
        break;
    case 4:
        own->freedom = bytes[2] % 2 ? EX_FREEDOM_BALL : EX_FREEDOM_HINGE;
        memcpy(own->axis, (double[3]){bytes[3] % 2 == 0, bytes[3] % 2, 0}, sizeof own->axis);
        break;
    default:
        for (int c = 0; c < 3; c++)
            own->translation[c] = number(bytes[2 + c]);
    }
}

static ex_kinematics *edited(const char *name, const uint8_t *data, size_t size) {
    ex_kinematics *k = NULL;
    ex_error error = {0};
    must(ex_kinematics_read(name, &k, &error), &error);
    if (k->joint_count > JOINTS_MOST)
        abort();
    for (size_t i = 0; i + EDIT_SIZE <= size; i += EDIT_SIZE)
        edit(k, data + i);
    return k;
}

/* ---- a tree ---- */

/* Writes the skeleton as a file, which the reader checks: it may name a parent that follows, or the same name twice. */
static ex_kinematics *generated(const uint8_t *data, size_t size) {
    static const char *const kinds[] = {"ball", "hinge", "fixed", "ball"};
    static const char *const endings[] = {"", ".L", ".R", " é,\\\"", "_l", "_r", "Left", "Right"};
    static char text[TEXT_MOST], markers[TEXT_MOST];
    const size_t joints = size / JOINT_SIZE < JOINTS_MOST ? size / JOINT_SIZE : JOINTS_MOST;
    int at = snprintf(text, sizeof text, "{\"exemplar_skeleton\": 1, \"joints\": [\n"), end = 0;
    markers[0] = 0;
    for (size_t j = 0; j < joints; j++) {
        const uint8_t *bytes = data + j * JOINT_SIZE;
        const size_t parent = j > 0 && bytes[0] < 250 ? bytes[0] % j : bytes[0] % joints;
        const size_t mirror = j > 0 && bytes[2] < 250 ? bytes[2] % j : bytes[2] % joints;
        const char *kind = kinds[bytes[1] % 4];
        const bool mirrored = j > 0 && bytes[1] & 128;
        const unsigned own = data[j * JOINT_SIZE + 1] >> 2 & 7;
        at += snprintf(text + at, sizeof text - (size_t)at, "%s{\"name\": \"j%zu%s\", \"joint\": \"%s\"",
                       j > 0 ? ",\n" : "", bytes[0] == 255 ? 0 : j, endings[own], j > 0 ? kind : "base");
        if (j > 0)
            at += snprintf(text + at, sizeof text - (size_t)at, ", \"parent\": \"j%zu%s\"", parent,
                           endings[data[parent * JOINT_SIZE + 1] >> 2 & 7]);
        if (mirrored)
            at += snprintf(text + at, sizeof text - (size_t)at, ", \"mirror\": \"j%zu%s\"", mirror,
                           endings[data[mirror * JOINT_SIZE + 1] >> 2 & 7]);
        if (!mirrored)
            at += snprintf(text + at, sizeof text - (size_t)at, ", \"translation\": [%.17g, %.17g, %.17g]%s",
                           number(bytes[3]), number(bytes[4]), number(bytes[5]),
                           j > 0 && kind[0] == 'h' ? ", \"axis\": [1, 1e-9, 0]" : "");
        at += snprintf(text + at, sizeof text - (size_t)at, "}");
        if (bytes[6] & 1)
            end += snprintf(markers + end, sizeof markers - (size_t)end,
                            "%s{\"name\": \"m%zu\", \"joint\": \"j%zu%s\", \"at\": [%.17g, 0.01, %.17g]}",
                            end ? ", " : "", j, j, endings[own], number(bytes[6]), number(bytes[5]));
    }
    at += snprintf(text + at, sizeof text - (size_t)at, "], \"markers\": [%s]}", markers);
    if ((size_t)at >= sizeof text)
        abort();
    ex_kinematics *k = NULL;
    ex_error error = {0};
    came_through(ex_kinematics_parse(text, (size_t)at, "fuzz.json", &k, &error), &error);
    return k;
}

/* ---- uses ---- */

/* Only an edited skeleton may be refused: it may mirror a joint of another kind. What is written can be read. */
static ex_kinematics *write_and_read(const ex_kinematics *k, bool edited) {
    char path[64];
    ex_kinematics *again = NULL;
    ex_error error = {0};
    snprintf(path, sizeof path, "%s/fuzz_skeleton.%d.json", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
             (int)getpid());
    if (!came_through(ex_kinematics_write(path, k, &error), &error) && edited)
        return NULL;
    must(error.result, &error);
    must(ex_kinematics_read(path, &again, &error), &error);
    if (again->joint_count != k->joint_count || again->site_count != k->site_count)
        abort();
    remove(path);
    return again;
}

static void make_dials(const ex_kinematics *k, const ex_template *made) {
    ex_template_dials *dials = NULL;
    ex_error error = {0};
    must(ex_template_dials_create(k, made, &dials, &error), &error);
    for (int i = 0; i < dials->count; i++) {
        must_be_finite(dials->dials[i].deltas[0], 3 * (size_t)made->cage->vertex_count);
        must_be_finite(dials->dials[i].shifts[0], 3 * (size_t)k->joint_count);
    }
    ex_template_dials_destroy(dials);
}

static void make_rig(const ex_kinematics *k, const ex_template *made) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    double(*rotations)[4] = calloc((size_t)k->joint_count, sizeof *rotations);
    ex_transform *joints = calloc((size_t)k->joint_count, sizeof *joints);
    if (!rotations || !joints)
        abort();
    for (int j = 0; j < k->joint_count; j++)
        rotations[j][3] = 1;
    ex_kin_pose pose = {.rotations = rotations};
    if (came_through(ex_template_rig(made, 1, &rig, &error), &error))
        ex_template_pose(k, &pose, joints);
    ex_rig_destroy(rig);
    free(joints);
    free(rotations);
}

static void make_template(const ex_kinematics *k, const ex_template_options *options) {
    ex_template *made = NULL;
    ex_error error = {0};
    if (!came_through(ex_template_create(k, options, &made, &error), &error))
        return;
    must_be_finite(made->cage->positions, 3 * (size_t)made->cage->vertex_count);
    ex_template_extraordinary_count(made);
    make_dials(k, made);
    make_rig(k, made);
    ex_template_destroy(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ex_kinematics *k = NULL;
    ex_error error = {0};
    if (size == 0)
        return 0;
    if (data[0] == '{')
        came_through(ex_kinematics_parse((const char *)data, size, "fuzz.json", &k, &error), &error);
    else if (data[0] == 'u' || data[0] == 'f')
        k = edited(data[0] == 'u' ? "upper" : "full", data + 1, size - 1);
    else
        k = generated(data + 1, size - 1);
    if (!k)
        return 0;
    double corners[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    int offsets[2] = {0, 4}, face[4] = {0, 1, 2, 3};
    const ex_mesh cage = {.vertex_count = 4,
                          .positions = corners,
                          .face_count = 1,
                          .corner_count = 4,
                          .face_offsets = offsets,
                          .corners = face};
    const ex_mesh *const scans[] = {&cage};
    ex_kinematics *again = write_and_read(k, data[0] == 'u' || data[0] == 'f');
    if (again) {
        make_template(again, NULL);
        make_template(again, &(ex_template_options){.cage = &cage});
        make_template(again, &(ex_template_options){.scans = scans, .scan_count = 1});
    }
    ex_kinematics_destroy(again);
    ex_kinematics_destroy(k);
    return 0;
}
