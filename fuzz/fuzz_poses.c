/*
 * Fuzzes tables of poses (clang -fsanitize=fuzzer,address,undefined): any text is a table or an error with a sentence.
 * A table's poses are finite and can be evaluated, and the same text as a motion gives ascending times.
 */
#include <exemplar/author.h>

#include "fuzz/rig.h"
#include "fuzz/scratch.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_pose(const ex_rig *rig, const ex_pose *pose) {
    for (int i = 0; i < ex_rig_pose_size(rig); i++)
        if (!isfinite(pose->inputs[i]))
            abort();
    for (int j = 0; j < ex_rig_joint_count(rig); j++)
        for (int i = 0; i < 4; i++)
            if (!isfinite(pose->joints[j].rotation[i]) || (i < 3 && !isfinite(pose->joints[j].translation[i])))
                abort();
}

static void evaluate(const ex_rig *rig, const ex_pose *pose) {
    float *positions = malloc(3 * (size_t)ex_rig_level_vertex_count(rig, 0) * sizeof *positions);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    if (!positions || !scratch)
        abort();
    ex_rig_evaluate(rig, pose, &(ex_output){.positions = positions}, NULL, scratch);
    free(positions);
    free(scratch);
}

static void read_motion(const char *path, const ex_rig *rig, bool table_read) {
    static const ex_motion_options options[] = {{.fps = 0}, {.fps = 7, .start = 0.1, .end = 2}};
    for (int i = 0; i < 2; i++) {
        ex_motion *motion = NULL;
        ex_error error = {0};
        const ex_result result = ex_motion_read(path, rig, &options[i], &motion, &error);
        if ((result == EX_OK) != (motion != NULL) || (result != EX_OK && error.text[0] == 0))
            abort();
        if (motion && !table_read)
            abort();
        for (int p = 0; motion && p < motion->pose_count; p++)
            check_pose(rig, &motion->poses[p]);
        for (int p = 1; motion && motion->times && p < motion->pose_count; p++)
            if (!(motion->times[p] > motion->times[p - 1]))
                abort();
        ex_motion_destroy(motion);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 20000)
        return 0;
    const ex_rig *rig = the_rig();
    const scratch_path path = scratch_name("poses.csv");
    ex_pose_table table = {0};
    ex_error error = {0};
    scratch_write(path.text, data, size);
    const ex_result result = ex_pose_table_read(path.text, rig, &table, &error);
    if ((result == EX_OK) != (table.pose_count > 0) || (result != EX_OK && error.text[0] == 0))
        abort();
    for (int p = 0; p < table.pose_count; p++) {
        check_pose(rig, &table.poses[p]);
        if (p < 4)
            evaluate(rig, &table.poses[p]);
    }
    ex_pose_table_free(&table);
    read_motion(path.text, rig, result == EX_OK);
    remove(path.text);
    return 0;
}
