/* Tables of poses: meaning of columns, inputs that stay at rest, and every error. */
#include "author/project/posable.h"

#include "support/fail_alloc.h"

static ex_rig *rig, *bare; /* with and without a skeleton */

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    rig = posable_rig("elbow", "turn", "big size", true);
    bare = posable_rig("elbow", "turn", "big size", false);
    return 0;
}

static int tear_down(void **state) {
    ex_rig_destroy(rig);
    ex_rig_destroy(bare);
    return scratch_tear_down(state);
}

static ex_result read_table(const char *csv, size_t size, ex_pose_table *table, ex_error *error) {
    scratch_write("t.csv", csv, size);
    return ex_pose_table_read(scratch_path("t.csv"), rig, table, error);
}

typedef struct good {
    const char *csv;
    int pose_count;
    double last[6]; /* the last pose */
    double time;    /* of the last pose; negative if there is no time */
} good;

static void reads_tables(void **state) {
    (void)state;
    const good cases[] = {
        {"elbow\n75\n", 1, {75, 0, 0, 0, 1, 0}, -1},
        {"elbow\n75", 1, {75, 0, 0, 0, 1, 0}, -1},
        {"elbow\r\n75\r\n80\r\n", 2, {80, 0, 0, 0, 1, 0}, -1},
        {"\xEF\xBB\xBF"
         "elbow\n1\n",
         1,
         {1, 0, 0, 0, 1, 0},
         -1},
        {"big size , elbow\n 0.5 ,\t3\n", 1, {3, 0, 0, 0, 1, 0.5}, -1},
        {"\"big size\",\"elbow\"\n\"0.25\",3\n", 1, {3, 0, 0, 0, 1, 0.25}, -1},
        {"turn.w,turn.x,turn.y,turn.z\n.8,.1,.2,.6\n", 1, {20, 0.1, 0.2, 0.6, 0.8, 0}, -1},
        {"elbow\r75\r80\r", 2, {80, 0, 0, 0, 1, 0}, -1},
        {"elbow,big size\r\r75,\"1\"\r", 1, {75, 0, 0, 0, 1, 1}, -1},
        {"time,elbow\n0,1\n0.5,2\n1.25,3\n", 3, {3, 0, 0, 0, 1, 0}, 1.25},
        {"elbow,time\n\n1,2\n  \n\n3,4\n\n", 2, {3, 0, 0, 0, 1, 0}, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_pose_table table;
        ex_error error;
        if (read_table(cases[i].csv, strlen(cases[i].csv), &table, &error) != EX_OK)
            fail_msg("%s", error.text);
        assert_int_equal(table.pose_count, cases[i].pose_count);
        for (int k = 0; table.pose_count > 0 && k < 6; k++)
            if (table.poses[table.pose_count - 1].inputs[k] != cases[i].last[k])
                fail_msg("case %zu, number %d: %g", i, k, table.poses[table.pose_count - 1].inputs[k]);
        for (int j = 0; table.pose_count > 0 && j < POSABLE_JOINTS; j++)
            check_turn(rig, &table.poses[table.pose_count - 1], j, (double[]){0, 0, 0, 1});
        if (cases[i].time < 0)
            assert_null(table.times);
        else
            assert_true(table.times[table.pose_count - 1] == cases[i].time);
        ex_pose_table_free(&table);
        assert_null(table.poses);
    }
}

static void reads_many_rows(void **state) {
    (void)state;
    const size_t rows = 5000;
    char *csv = malloc(rows * 16);
    assert_non_null(csv);
    size_t size = (size_t)sprintf(csv, "elbow,big size\n");
    for (size_t i = 0; i < rows; i++)
        size += (size_t)sprintf(csv + size, "%zu,%zu.5\n", i, i);
    ex_pose_table table;
    assert_int_equal(read_table(csv, size, &table, NULL), EX_OK);
    assert_int_equal(table.pose_count, rows);
    for (size_t i = 0; i < rows; i++)
        assert_true(table.poses[i].inputs[0] == (double)i && table.poses[i].inputs[4] == 1 &&
                    table.poses[i].inputs[5] == (double)i + 0.5);
    ex_pose_table_free(&table);
    free(csv);
}

/* Joints by name are turned first, whatever the order of columns; then axes, in their own order. */
static void moves_joints(void **state) {
    (void)state;
    const double h = sqrt(0.5), c15 = sqrt((1 + sqrt(0.75)) / 2), s15 = sqrt((1 - sqrt(0.75)) / 2);
    const struct {
        const char *csv;
        int joint;
        double turn[4];
    } cases[] = {
        {"joint:hand.x,joint:hand.y,joint:hand.z,joint:hand.w\n0,0,0,1\n0,0,3,4\n", HAND, {0, 0, 0.6, 0.8}},
        {"bend\n5\n90\n", FOREARM, {h, 0, 0, h}},
        {"bend,joint:forearm.w,joint:forearm.x,joint:forearm.y,joint:forearm.z\n30,1,0,1,0\n",
         FOREARM,
         {h * s15, h * c15, -h * s15, h * c15}},
        {"aim.x,aim.y,aim.z,aim.w,\"joint:upper arm.x\",joint:upper arm.y,joint:upper arm.z,joint:upper arm.w\n"
         "0,0,1,1,0,1,0,1\n",
         UPPER_ARM,
         {-0.5, 0.5, 0.5, 0.5}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_pose_table table;
        ex_error error;
        if (read_table(cases[i].csv, strlen(cases[i].csv), &table, &error) != EX_OK)
            fail_msg("%s", error.text);
        for (int j = 0; j < POSABLE_JOINTS; j++)
            check_turn(rig, &table.poses[table.pose_count - 1], j,
                       j == cases[i].joint ? cases[i].turn : (double[]){0, 0, 0, 1});
        ex_pose_table_free(&table);
    }
}

static void a_rig_without_skeleton(void **state) {
    (void)state;
    ex_pose_table table;
    ex_error error;
    write_text("b.csv", "elbow\n7\n8\n");
    assert_int_equal(ex_pose_table_read(scratch_path("b.csv"), bare, &table, &error), EX_OK);
    assert_int_equal(table.pose_count, 2);
    assert_true(table.poses[1].inputs[0] == 8);
    assert_null(table.poses[1].joints);
    ex_pose_table_free(&table);
    write_text("b.csv", "joint:hand.x\n7\n");
    assert_int_equal(ex_pose_table_read(scratch_path("b.csv"), bare, &table, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "b.csv:1: this rig has no skeleton, so it has no joint 'hand'"));
}

/* A rotation may be the first input. */
static void a_rotation_comes_first(void **state) {
    (void)state;
    ex_pose_table table;
    ex_error error = {0};
    write_text("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write_text("e.obj", "v 0 0 1\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    ex_rig *turning = build_text("{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'turn', "
                                 "'rotation': 'full'}], 'examples': [{'name': 'e', 'mesh': 'e.obj', 'at': {'turn': "
                                 "[0, 0, 1, 0]}}]}]}");
    write_text("r.csv", "turn.x,turn.y,turn.z,turn.w\n0,0,0.6,0.8\n");
    if (ex_pose_table_read(scratch_path("r.csv"), turning, &table, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true(table.poses[0].inputs[2] == 0.6 && table.poses[0].inputs[3] == 0.8);
    ex_pose_table_free(&table);
    ex_rig_destroy(turning);
}

static ex_result read_once(void *context) {
    ex_pose_table table;
    ex_result result = ex_pose_table_read(context, rig, &table, NULL);
    assert_int_equal(table.poses != NULL, result == EX_OK);
    ex_pose_table_free(&table);
    return result;
}

static void survives_without_memory(void **state) {
    (void)state;
    write_text("t.csv", "time,bend,joint:hand.x,joint:hand.y,joint:hand.z,joint:hand.w\n1,2,3,4,5,6\n1,2,3,4,5,6\n");
    char path[1000];
    snprintf(path, sizeof path, "%s", scratch_path("t.csv"));
    assert_true(fail_alloc_sweep(read_once, path) >= 5);
}

static void refuses_tables(void **state) {
    (void)state;
    const struct {
        const char *csv;
        ex_result result;
        const char *words; /* after the name of the file */
    } cases[] = {
        {"", EX_ERROR_FORMAT, ": the first line must name the axes"},
        {"\nelbow\n1\n", EX_ERROR_FORMAT, ": the first line must name the axes"},
        {"elbo\n1\n", EX_ERROR_DATA, ":1: this rig has no axis 'elbo'; did you mean 'elbow'?"},
        {"elbow,knee\n1,2\n", EX_ERROR_DATA, ":1: this rig has no axis 'knee'"},
        {"elbow,\n1,2\n", EX_ERROR_DATA, ":1: column 2 has no name"},
        {"elbow=1\n1\n", EX_ERROR_DATA, ":1: this rig has no axis 'elbow=1'; did you mean 'elbow'?"},
        {"elbow.x\n1\n", EX_ERROR_DATA, ":1: this rig has no axis 'elbow.x'"},
        {"turn\n1\n", EX_ERROR_DATA, ":1: 'turn' is a rotation: its columns are turn.x, turn.y, turn.z, turn.w"},
        {"turn.q\n1\n", EX_ERROR_DATA, ":1: this rig has no axis 'turn.q'"},
        {"elbow,elbow\n1,2\n", EX_ERROR_DATA, ":1: column 'elbow' appears twice"},
        {"time,elbow,time\n1,2,3\n", EX_ERROR_DATA, ":1: column 'time' appears twice"},
        {"elbow,time\n1,2\n3\n", EX_ERROR_FORMAT, ":3: there is 1 field, but the header has 2"},
        {"elbow\n1\n\n2,3\n", EX_ERROR_FORMAT, ":4: there are more fields than the header's 1"},
        {"elbow\nx\n", EX_ERROR_DATA, ":2: 'x' in column 'elbow' is not a number"},
        {"elbow,time\n1,\n", EX_ERROR_DATA, ":2: there is no number in column 'time'"},
        {"elbow\nnan\n", EX_ERROR_DATA, ":2: 'nan' in column 'elbow' is not a number"},
        {"elbow\n1e999\n", EX_ERROR_DATA, ":2: "},
        {"elbow\n1;2\n", EX_ERROR_DATA, ":2: '1;2' in column 'elbow' is not a number"},
        {"big size,turn.x,turn.y,turn.z,turn.w\n1,2,3,4,five\n", EX_ERROR_DATA,
         ":2: 'five' in column 'turn.w' is not a"},
        {"elbow,time,big size\n1,2\n", EX_ERROR_FORMAT, ":2: there are 2 fields, but the header has 3"},
        {"elbow;big size\n1;2\n", EX_ERROR_FORMAT, ":1: columns are separated by commas, not by semicolons"},
        {"\"elbow\";\"big size\"\n1;2\n", EX_ERROR_FORMAT, ":1: columns are separated by commas, not by semicolons"},
        {"elbow\tbig size\n1\t2\n", EX_ERROR_FORMAT, ":1: columns are separated by commas, not by tabs"},
        {"turn.z\n0.5\n", EX_ERROR_DATA,
         ":1: the rotation 'turn' needs four columns, but turn.x, turn.y, turn.w are missing"},
        {"turn.w,turn.z,elbow,turn.x\n0.5\n", EX_ERROR_DATA,
         ":1: the rotation 'turn' needs four columns, but turn.y is missing"},
        {"joint:hand\n1\n", EX_ERROR_DATA,
         ":1: 'joint:hand' is a rotation: its columns are joint:hand.x, joint:hand.y, joint:hand.z, joint:hand.w"},
        {"joint:hnad.x\n1\n", EX_ERROR_DATA, ":1: this rig has no joint 'hnad'; did you mean 'joint:hand'?"},
        {"hand\n1\n", EX_ERROR_DATA, ":1: this rig has no axis 'hand'; did you mean 'joint:hand'?"},
        {"joint:hand.x,joint:hand.w,bend\n1,2,3\n", EX_ERROR_DATA,
         ":1: the rotation 'joint:hand' needs four columns, but joint:hand.y, joint:hand.z are missing"},
        {"joint:hand.x,joint:hand.x\n1,2\n", EX_ERROR_DATA, ":1: column 'joint:hand.x' appears twice"},
        {"joint:hand.x,joint:hand.y,joint:hand.z,joint:hand.w\n0,0,0,0\n", EX_ERROR_DATA,
         ":2: all four numbers of 'joint:hand' are 0"},
        {"joint:hand.x,joint:hand.y,joint:hand.z,joint:hand.w\n0,0,0,w\n", EX_ERROR_DATA,
         ":2: 'w' in column 'joint:hand.w' is not a number"},
        {"turn.x,turn.y,turn.z,turn.w\n0,0,0,1\n0,0,0,0\n", EX_ERROR_DATA, ":3: all four numbers of 'turn' are 0"},
        /* Line breaks of all kinds count, also those in quotes. */
        {"elbow\n\"1\n2\"\n", EX_ERROR_DATA, ":2: '1\n2' in"},
        {"\"el\nbow\"\n", EX_ERROR_DATA, ":1: this rig has no axis"},
        {"time,elbow\r\n1,2\r\n\r\n3,x\r\n", EX_ERROR_DATA, ":4: 'x' in"},
        {"time,elbow\r1,2\r\r3,x\r", EX_ERROR_DATA, ":4: 'x' in"},
        {"elbow,time\n\"\n\r\n\r1\",x\n", EX_ERROR_DATA, ":2: '\n\r\n\r1' in"},
        {"elbow\n\"1\n", EX_ERROR_FORMAT, ":2: a field"},
        {"elbow", EX_ERROR_DATA, " has no rows"},
        {"elbow\r\n \n", EX_ERROR_DATA, " has no rows"},
        {"elbow\n\"1\"2\n", EX_ERROR_FORMAT, ":2: a field"},
        {"\"elbow\n1\n", EX_ERROR_FORMAT, ":1: a field"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_pose_table table;
        ex_error error = {0};
        ex_result result = read_table(cases[i].csv, strlen(cases[i].csv), &table, &error);
        char start[1200];
        snprintf(start, sizeof start, "%s%s", scratch_path("t.csv"), cases[i].words);
        if (result != cases[i].result || strncmp(error.text, start, strlen(start)) != 0)
            fail_msg("case %zu: result %d, '%s'", i, (int)result, error.text);
        assert_null(table.poses);
        assert_int_equal(table.pose_count, 0);
    }
}

static void refuses_bytes_that_are_no_text(void **state) {
    (void)state;
    ex_pose_table table;
    ex_error error;
    assert_int_equal(read_table("elbow\n1\0002\n", 10, &table, &error), EX_ERROR_FORMAT);
    assert_non_null(strstr(error.text, ":2: "));
    char csv[600] = "elbow\n";
    memset(csv + 6, '1', 511);
    assert_int_equal(read_table(csv, 6 + 511, &table, &error), EX_ERROR_DATA); /* beyond double */
    memset(csv + 6, '0', 512);
    assert_int_equal(read_table(csv, 6 + 511, &table, &error), EX_OK);
    ex_pose_table_free(&table);
    assert_int_equal(read_table(csv, 6 + 512, &table, &error), EX_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "511 bytes"));
    assert_int_equal(ex_pose_table_read(scratch_path("none.csv"), rig, &table, &error), EX_ERROR_FILE);
}

static void names_utf16(void **state) {
    (void)state;
    static const struct {
        const char *csv;
        size_t size;
    } cases[] = {{"\xFF\xFE"
                  "e\0l\0",
                  6},
                 {"\xFE\xFF\0e\0l", 6},
                 {"e\0l\0b\0", 6},
                 {"\0e\0l", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_pose_table table;
        ex_error error;
        assert_int_equal(read_table(cases[i].csv, cases[i].size, &table, &error), EX_ERROR_FORMAT);
        assert_non_null(strstr(error.text, "t.csv: this is UTF-16"));
    }
}

/* A name of the greatest length, and unknown. */
static void names_of_any_length(void **state) {
    (void)state;
    char csv[600];
    memset(csv, 'n', 511);
    csv[511] = 0;
    ex_pose_table table;
    ex_error error;
    assert_int_equal(read_table(csv, 511, &table, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "no axis"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_joints),           cmocka_unit_test(a_rig_without_skeleton),
        cmocka_unit_test(a_rotation_comes_first), cmocka_unit_test(survives_without_memory),
        cmocka_unit_test(reads_tables),           cmocka_unit_test(reads_many_rows),
        cmocka_unit_test(refuses_tables),         cmocka_unit_test(refuses_bytes_that_are_no_text),
        cmocka_unit_test(names_of_any_length),    cmocka_unit_test(names_utf16),
    };
    return cmocka_run_group_tests_name("author.project.pose_table", tests, set_up, tear_down);
}
