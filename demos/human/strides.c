/*
 * The demo `strides`: the person of the demo `human` stands, strides, runs and kicks, and goes from one to the other
 * along paths that turn (trajectory warping). The rig has no skeleton: four forms are all it knows.
 */
#include "demos/demos.h"
#include "demos/human/person.h"

#include <exemplar/author/formats.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char project[] = "{\n"
                              "  \"exemplar\": 1,\n"
                              "  \"mesh\": \"stand.obj\",\n"
                              "  \"materials\": \"materials.glb\",\n"
                              "  \"layers\": [\n"
                              "    {\n"
                              "      \"name\": \"poses\",\n"
                              "      \"space\": [\n"
                              "        {\"name\": \"stride\", \"min\": 0, \"max\": 1},\n"
                              "        {\"name\": \"run\", \"min\": 0, \"max\": 1},\n"
                              "        {\"name\": \"kick\", \"min\": 0, \"max\": 1}\n"
                              "      ],\n"
                              "      \"weigh\": {\"kind\": \"direct\"},\n"
                              "      \"shape\": \"trajectory\",\n"
                              "      \"examples\": [\n"
                              "        {\"name\": \"stride\", \"mesh\": \"stride.obj\"},\n"
                              "        {\"name\": \"run\", \"mesh\": \"run.obj\"},\n"
                              "        {\"name\": \"kick\", \"mesh\": \"kick.obj\"}\n"
                              "      ]\n"
                              "    }\n"
                              "  ]\n"
                              "}\n";

static const exi_stance stances[] = {
    {"stand", "poses", 0, {{0}}},
    {"stride", "walk", 1, {{0}}},
    {"run", "poses", 8, {{0}}},
    {"kick",
     NULL,
     0,
     {{"root", "", 1, -20},
      {"spine05", "", 0, -14},
      {"spine03", "", 0, 6},
      {"neck01", "", 0, 8},
      {"upperleg01", ".L", 0, -98},
      {"lowerleg01", ".L", EXI_PERSON_BEND, 8},
      {"foot", ".L", EXI_PERSON_BEND, 20},
      {"upperleg01", ".R", 0, -6},
      {"lowerleg01", ".R", EXI_PERSON_BEND, 14},
      {"upperarm01", ".L", 2, -34},
      {"upperarm01", ".L", 1, 24},
      {"lowerarm01", ".L", EXI_PERSON_BEND, 62},
      {"upperarm01", ".R", 2, 22},
      {"upperarm01", ".R", 1, 46},
      {"lowerarm01", ".R", EXI_PERSON_BEND, 80}}},
};
enum { STANCES = sizeof stances / sizeof *stances };

/* The form, to a hundredth of a millimetre, its lowest vertex on the ground. */
static void take(const exi_person *person, ex_mesh *form) {
    exi_person_evaluate(person);
    float lowest = person->positions[1];
    for (int v = 1; v < form->vertex_count; v++)
        lowest = fminf(lowest, person->positions[3 * v + 1]);
    for (int i = 0; i < 3 * form->vertex_count; i++)
        form->positions[i] = floor((double)(person->positions[i] - (i % 3 == 1 ? lowest : 0)) * 1e5 + 0.5) / 1e5;
}

ex_result exi_demo_strides(const char *directory, ex_error *error) {
    exi_person *person = NULL;
    ex_mesh *form = NULL;
    ex_scene *looks = NULL;
    ex_result result = exi_person_open(&person, error);
    if (result == EX_OK)
        result = ex_rig_to_mesh(person->rig, NULL, &form, error);
    for (int i = 0; result == EX_OK && i < STANCES; i++) {
        result = exi_person_stand(person, &stances[i], error);
        if (result == EX_OK) {
            char file[32];
            snprintf(file, sizeof file, "%s.obj", stances[i].name);
            take(person, form);
            result = exi_demo_write_mesh(directory, file, form, error);
        }
    }
    if (result == EX_OK)
        result = ex_rig_looks(person->rig, &looks, error);
    if (result == EX_OK)
        result = exi_demo_write_scene(directory, "materials.glb", looks, error);
    if (result == EX_OK)
        result = exi_demo_write_text(directory, "strides.json", project, error);
    ex_scene_destroy(looks);
    ex_mesh_destroy(form);
    exi_person_close(person);
    return result;
}
