/*
 * motion_probe.c - lets motion_oracle.py ask for a motion on a skeleton through the public headers alone.
 *
 *   motion_probe MOTION MAP FPS < SKELETON
 *
 * SKELETON: the number of joints, then per joint: name, parent, translation[3], rotation[4]. MAP may be "-". Answers
 * with the scale and the number of poses, then a line per pose: its time, and J * 12 entries of world matrices.
 */
#include <exemplar/author.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, NAME = 64 };

static void fail(const char *what) {
    fprintf(stderr, "motion_probe: %s\n", what);
    exit(2);
}

static double number(void) {
    double value;
    if (scanf("%lf", &value) != 1)
        fail("cannot read a number");
    return value;
}

static ex_skeleton *read_skeleton(void) {
    static char names[MOST][NAME];
    static const char *name_list[MOST];
    static int parents[MOST];
    static ex_transform rest[MOST];
    ex_skeleton *skeleton = NULL;
    ex_error error;
    const int count = (int)number();
    if (count < 1 || count > MOST)
        fail("too many joints");
    for (int j = 0; j < count; j++) {
        if (scanf("%63s", names[j]) != 1)
            fail("cannot read a name");
        name_list[j] = names[j];
        parents[j] = (int)number();
        rest[j] = ex_transform_identity();
        for (int i = 0; i < 3; i++)
            rest[j].translation[i] = (float)number();
        for (int i = 0; i < 4; i++)
            rest[j].rotation[i] = (float)number();
    }
    const ex_skeleton_def def = {.joint_count = count, .parents = parents, .rest = rest, .names = name_list};
    if (ex_skeleton_create(&def, NULL, &skeleton, &error) != EX_OK)
        fail(error.text);
    return skeleton;
}

/* The skeleton needs a mesh. */
static ex_rig *make_rig(const ex_skeleton *skeleton) {
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const uint32_t corners[3] = {0, 1, 2}, size = 3;
    ex_rig_def def = ex_rig_def_default();
    ex_rig *rig = NULL;
    ex_error error;
    def.mesh = (ex_rig_mesh){.vertex_count = 3,
                             .positions = positions,
                             .split_count = 3,
                             .face_count = 1,
                             .corner_count = 3,
                             .face_sizes = &size,
                             .corners = corners,
                             .triangle_count = 1,
                             .triangles = corners};
    def.skeleton = skeleton;
    if (ex_rig_create(&def, NULL, &rig, &error) != EX_OK)
        fail(error.text);
    return rig;
}

int main(int argument_count, char **arguments) {
    if (argument_count != 4)
        fail("motion_probe MOTION MAP FPS < SKELETON");
    ex_skeleton *skeleton = read_skeleton();
    ex_rig *rig = make_rig(skeleton);
    ex_joint_map *map = NULL;
    ex_motion *motion = NULL;
    ex_error error;
    if (strcmp(arguments[2], "-") != 0 && ex_joint_map_read(arguments[2], &map, &error) != EX_OK)
        fail(error.text);
    const ex_motion_options options = {.map = map, .fps = atof(arguments[3])};
    if (ex_motion_read(arguments[1], rig, &options, &motion, &error) != EX_OK)
        fail(error.text);
    const size_t count = 12 * (size_t)ex_skeleton_joint_count(skeleton);
    float *worlds = malloc(count * sizeof *worlds);
    void *scratch = malloc(ex_skeleton_scratch_size(skeleton));
    if (!worlds || !scratch)
        fail("not enough memory");
    printf("%.17g %d\n", motion->scale, motion->pose_count);
    for (int p = 0; p < motion->pose_count; p++) {
        ex_skeleton_evaluate(skeleton, &(ex_skeleton_input){.locals = motion->poses[p].joints},
                             &(ex_skeleton_output){.worlds = worlds}, scratch);
        printf("%.17g", motion->times[p]);
        for (size_t i = 0; i < count; i++)
            printf(" %.9g", (double)worlds[i]);
        printf("\n");
    }
    free(worlds);
    free(scratch);
    ex_motion_destroy(motion);
    ex_joint_map_destroy(map);
    ex_rig_destroy(rig);
    ex_skeleton_destroy(skeleton);
    return 0;
}
