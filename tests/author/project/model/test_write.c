/*
 * Writing projects: the output reads back as the same JSON tree, in the same order, with the fewest decimals, and as
 * the same view; and files are replaced atomically.
 */
#include "author/project/projects.h"

#include <jansson.h>

static const char by_hand[] =
    "{   'mesh':'rest.obj' ,\n\n 'layers':[ {'weigh':{'ridge':0.1,'kind':'cardinal'},'name':'größe/1',\n"
    "  'pseudo':[{'at':{'b':1e-10,'a':0.30000000000000004},'weights':{'z':-2,'y':3.0}}],\n"
    "\t'examples':[{'at':{'a':0.1,'b':100000},'name':'z','mesh':'z \\\\ \\u00e9\\t.obj'},\n"
    "              {'name':'y','at':{'a':5e-324,'b':1.7976931348623157e308},'mesh':'y.obj'},\n"
    "              {'name':'x','mesh':'x.obj','at':{'a':-0.0,'b':123456789012345678}}],\n"
    "  'space':[{'max':1,'min':0,'name':'a'},{'max':100000,'min':0.0001,'name':'b','clamp':true,'rest':0.0001}]}],\n"
    " 'unit':0.0254,'exemplar':1 }\n";

/* The same for a project with a skeleton. */
static const char posed[] =
    "{'subdivide': {'limit':true, 'levels':0,'scheme':'loop'}, 'skinning' :'dual_quaternion','skeleton':'s.glb',\n"
    " 'exemplar':1,'mesh':'m.obj','layers':[{'shape':'unposed','name':'a','mask':{'joints':['k','j']},\n"
    "  'space':[{'max':1e2,'angle':[0.1,0,1],'joint':'j','min':0,'name':'bend'}],\n"
    "  'examples':[{'joints':{'k':{'y':0.1,'x':-30},'j':[0,0,0.1,1]},'name':'e','at':{'bend':33.3},'mesh':'e.obj',\n"
    "              'skeleton':'e.glb'}]},\n"
    " {'texture':'emissive','shape':'pixels','name':'b','space':[{'name':'c','min':0,'max':1}],\n"
    "  'examples':[{'image':'i.png','at':{'bend':10,'c':1},'name':'i'}]}]}\n";

static void check_same_numbers(const double *a, const double *b, int count) {
    assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

static void check_same_text(const char *a, const char *b) {
    assert_string_equal(a ? a : "(none)", b ? b : "(none)");
}

static void check_same_example(const ex_project_example *a, const ex_project_example *b, int dimension) {
    check_same_text(a->name, b->name);
    check_same_text(a->mesh, b->mesh);
    check_same_text(a->image, b->image);
    check_same_text(a->skeleton, b->skeleton);
    check_same_numbers(a->at, b->at, dimension);
    assert_int_equal(a->joint_count, b->joint_count);
    for (int j = 0; j < a->joint_count; j++) {
        check_same_text(a->joints[j].name, b->joints[j].name);
        assert_memory_equal(&a->joints[j].relative, &b->joints[j].relative, sizeof(ex_transform));
    }
}

static void check_same_view(const ex_project_view *a, const ex_project_view *b) {
    assert_string_equal(a->mesh, b->mesh);
    check_same_text(a->skeleton, b->skeleton);
    assert_true(a->skinning == b->skinning && a->subdivide == b->subdivide);
    assert_true(a->unit == b->unit && a->z_up == b->z_up);
    assert_int_equal(a->layer_count, b->layer_count);
    for (int l = 0; l < a->layer_count; l++) {
        const ex_project_layer *la = &a->layers[l], *lb = &b->layers[l];
        assert_string_equal(la->name, lb->name);
        assert_int_equal(la->axis_count, lb->axis_count);
        check_same_text(la->pixels.texture, lb->pixels.texture);
        assert_true(la->domain == lb->domain && la->unposed == lb->unposed && la->mask.kind == lb->mask.kind &&
                    la->mask.joint_count == lb->mask.joint_count);
        for (int i = 0; i < la->axis_count; i++) {
            check_same_axis(&la->weigh.axes[i], &lb->weigh.axes[i]);
            check_same_text(la->axes[i].joint, lb->axes[i].joint);
            assert_memory_equal(la->axes[i].reading.about, lb->axes[i].reading.about, 3 * sizeof(double));
        }
        assert_int_equal(la->example_count, lb->example_count);
        assert_int_equal(la->pseudo_count, lb->pseudo_count);
        assert_true(la->weigh.kind == lb->weigh.kind && la->weigh.ridge == lb->weigh.ridge);
        for (int k = 0; k < la->example_count; k++)
            check_same_example(&la->examples[k], &lb->examples[k], la->dimension);
        for (int k = 0; k < la->pseudo_count; k++) {
            check_same_numbers(la->weigh.pseudos[k].at, lb->weigh.pseudos[k].at, la->dimension);
            check_same_numbers(la->weigh.pseudos[k].weights, lb->weigh.pseudos[k].weights, la->example_count);
        }
    }
}

/* True if two trees are equal, including the order of keys, which json_equal ignores. */
static bool same_order(json_t *a, json_t *b) {
    if (json_is_array(a)) {
        for (size_t i = 0; i < json_array_size(a); i++)
            if (!same_order(json_array_get(a, i), json_array_get(b, i)))
                return false;
        return true;
    }
    void *i = json_object_iter(a), *j = json_object_iter(b);
    for (; i && j; i = json_object_iter_next(a, i), j = json_object_iter_next(b, j))
        if (strcmp(json_object_iter_key(i), json_object_iter_key(j)) != 0 ||
            !same_order(json_object_iter_value(i), json_object_iter_value(j)))
            return false;
    return !i && !j;
}

static void write_and_read(const char *text) {
    ex_project *project = parse_project(text), *again = NULL;
    assert_int_equal(ex_project_write(project, scratch_path("out.json"), NULL), EX_OK);
    assert_int_equal(ex_project_read(scratch_path("out.json"), &again, NULL), EX_OK);
    check_same_view(ex_project_get(project), ex_project_get(again));
    /* Writing the output again changes nothing. */
    assert_int_equal(ex_project_write(again, scratch_path("again.json"), NULL), EX_OK);
    char *first = scratch_read("out.json", NULL), *second = scratch_read("again.json", NULL);
    assert_string_equal(first, second);
    free(first);
    free(second);
    ex_project_destroy(project);
    ex_project_destroy(again);
}

static void writes_what_it_read(void **state) {
    (void)state;
    write_and_read(by_hand);
    write_and_read(posed);
}

static void keep_tree(const char *text) {
    ex_project *project = parse_project(text);
    assert_int_equal(ex_project_write(project, scratch_path("out.json"), NULL), EX_OK);
    char *given = with_quotes(text), *written = scratch_read("out.json", NULL);
    json_t *a = json_loads(given, JSON_REJECT_DUPLICATES, NULL), *b = json_loads(written, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(a);
    assert_non_null(b);
    assert_true(json_equal(a, b));
    assert_true(same_order(a, b));
    json_decref(a);
    json_decref(b);
    free(given);
    free(written);
    ex_project_destroy(project);
}

static void keeps_the_tree(void **state) {
    (void)state;
    keep_tree(by_hand);
    keep_tree(posed);
}

static void uses_the_fewest_decimals(void **state) {
    (void)state;
    ex_project *project = parse_project(by_hand);
    assert_int_equal(ex_project_write(project, scratch_path("out.json"), NULL), EX_OK);
    char *written = scratch_read("out.json", NULL);
    const char *expected[] = {"\"ridge\": 0.1,",
                              "\"b\": 1e-10",
                              "\"a\": 0.30000000000000004",
                              "\"z\": -2",
                              "\"y\": 3.0",
                              "\"b\": 100000}",
                              "\"a\": 5e-324",
                              "\"a\": -0.0",
                              "\"b\": 123456789012345678",
                              "\"unit\": 0.0254",
                              "\"b\": 1.7976931348623157e308"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!strstr(written, expected[i]))
            fail_msg("%s is not in:\n%s", expected[i], written);
    free(written);
    ex_project_destroy(project);
}

static void writes_where_it_was_read(void **state) {
    (void)state;
    write_text("home.json", "{\"exemplar\":1,\"mesh\":\"m.obj\",\"layers\":[]}");
    ex_project *project = NULL;
    assert_int_equal(ex_project_read(scratch_path("home.json"), &project, NULL), EX_OK);
    assert_int_equal(ex_project_write(project, NULL, NULL), EX_OK);
    char *written = scratch_read("home.json", NULL);
    assert_string_equal(written, "{\"exemplar\": 1, \"mesh\": \"m.obj\", \"layers\": []}\n");
    free(written);
    ex_project_destroy(project);
}

static void a_failed_write_leaves_nothing(void **state) {
    (void)state;
    ex_project *project = parse_project(by_hand);
    ex_error error;
    int before = scratch_entry_count();
    assert_int_equal(ex_project_write(project, scratch_path("no/such/folder.json"), &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "no/such/folder.json"));
    assert_int_equal(ex_project_write(project, "/dev/full", &error), EX_ERROR_FILE);
    assert_int_equal(scratch_entry_count(), before);
    ex_project_destroy(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_what_it_read),           cmocka_unit_test(keeps_the_tree),
        cmocka_unit_test(uses_the_fewest_decimals),      cmocka_unit_test(writes_where_it_was_read),
        cmocka_unit_test(a_failed_write_leaves_nothing),
    };
    return cmocka_run_group_tests_name("author.project.write", tests, scratch_set_up, scratch_tear_down);
}
