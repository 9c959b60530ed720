/*
 * The demos `bar`, `stretch` and `cylinder`: bars of about two thousand vertices that show the difference between
 * trajectories and straight lines.
 *
 * `bar` is bent by 90 degrees, and by 160. `stretch` (trajectory warping, figure 3) is short and thick and becomes
 * long, thin and bent: it stretches and compresses a lot, and without its gradient term the paper's energy does not
 * capture that. `cylinder` (figure 6) is a chain of four links that folds up, so that three joints move its end; one
 * velocity pair per vertex cannot express that, and bases appended for the links can. The second project of each,
 * NAME_paper.json or NAME_plain.json, is the one that its figure compares it with.
 */
#include "tube.h"

#include <stdio.h>
#include <stdlib.h>

#define HEAD(mesh)                                                                                                     \
    "{\n"                                                                                                              \
    "  \"exemplar\": 1,\n"                                                                                             \
    "  \"mesh\": \"" mesh "\",\n"                                                                                      \
    "  \"layers\": [\n"                                                                                                \
    "    {\n"
#define TAIL                                                                                                           \
    "    }\n"                                                                                                          \
    "  ]\n"                                                                                                            \
    "}\n"

/* A layer with one example, at value 1 of its own dial. */
#define ONE(name, mesh, how)                                                                                           \
    HEAD("straight.obj")                                                                                               \
    "      \"name\": \"" name "\",\n"                                                                                  \
    "      \"space\": [{\"name\": \"t\", \"min\": 0, \"max\": 1}],\n"                                                  \
    "      \"weigh\": {\"kind\": \"direct\"},\n"                                                                       \
    "      \"shape\": \"trajectory\",\n"                                                                               \
    "      \"trajectory\": {" how "},\n"                                                                               \
    "      \"examples\": [{\"name\": \"" name "\", \"mesh\": \"" mesh "\"}]\n" TAIL

#define BENT(how)                                                                                                      \
    HEAD("straight.obj")                                                                                               \
    "      \"name\": \"bend\",\n"                                                                                      \
    "      \"space\": [\n"                                                                                             \
    "        {\"name\": \"bend90\", \"min\": 0, \"max\": 1},\n"                                                        \
    "        {\"name\": \"bend160\", \"min\": 0, \"max\": 1}\n"                                                        \
    "      ],\n"                                                                                                       \
    "      \"weigh\": {\"kind\": \"direct\"},\n"                                                                       \
    "      \"shape\": \"trajectory\",\n"                                                                               \
    "      \"trajectory\": {" how "},\n"                                                                               \
    "      \"examples\": [\n"                                                                                          \
    "        {\"name\": \"bend90\", \"mesh\": \"bend90.obj\"},\n"                                                      \
    "        {\"name\": \"bend160\", \"mesh\": \"bend160.obj\"}\n"                                                     \
    "      ]\n" TAIL

static const char bar_guided[] = BENT("\"mode\": \"guided\"");
static const char bar_paper[] = BENT("\"mode\": \"paper\"");
static const char stretch_paper[] = ONE("stretched", "stretched.obj", "\"mode\": \"paper\"");
static const char stretch_plain[] =
    ONE("stretched", "stretched.obj", "\"mode\": \"paper\", \"terms\": [\"pose\", \"rotation\"]");
static const char cylinder_bases[] =
    ONE("folded", "folded.obj", "\"mode\": \"paper\", \"bases\": true, \"root\": 0, \"segments\": \"links.txt\"");
static const char cylinder_plain[] = ONE("folded", "folded.obj", "\"mode\": \"paper\"");

/* ---- forms ---- */

/* A form of a tube to write; the first one is the mesh. */
typedef struct tube_form {
    const char *file;
    exi_tube tube;
} tube_form;

static ex_result write_forms(const char *directory, const tube_form *forms, int count, ex_error *error) {
    ex_mesh *mesh = exi_tube_create(&forms[0].tube);
    ex_result result = mesh ? EX_OK : ex_error_memory(error, "a bar", 0);
    for (int i = 0; result == EX_OK && i < count; i++) {
        exi_tube_shape(&forms[i].tube, mesh->positions);
        result = exi_demo_write_mesh(directory, forms[i].file, mesh, error);
    }
    ex_mesh_destroy(mesh);
    return result;
}

static ex_result write_both(const char *directory, const char *name, const char *project, const char *other_name,
                            const char *other, ex_error *error) {
    ex_result result = exi_demo_write_text(directory, name, project, error);
    return result == EX_OK ? exi_demo_write_text(directory, other_name, other, error) : result;
}

ex_result exi_demo_bar(const char *directory, ex_error *error) {
    const exi_tube straight = {.rings = 54, .around = 32, .length = 4, .half = 0.3, .square = true, .hold = 2};
    const exi_tube_bend bends[2] = {{2, 1.9, 90}, {2, 1.9, 160}};
    tube_form forms[3] = {{"straight.obj", straight}, {"bend90.obj", straight}, {"bend160.obj", straight}};
    for (int i = 0; i < 2; i++) {
        forms[i + 1].tube.bends = &bends[i];
        forms[i + 1].tube.bend_count = 1;
    }
    ex_result result = write_forms(directory, forms, 3, error);
    return result == EX_OK ? write_both(directory, "bar.json", bar_guided, "bar_paper.json", bar_paper, error) : result;
}

ex_result exi_demo_stretch(const char *directory, ex_error *error) {
    const exi_tube_bend bend = {2.2, 3.6, 200};
    const tube_form forms[2] = {
        {"straight.obj", {.rings = 40, .around = 28, .length = 1.6, .half = 0.42, .hold = 0.8, .bulge = 0.35}},
        {"stretched.obj",
         {.rings = 40, .around = 28, .length = 4.4, .half = 0.17, .bends = &bend, .bend_count = 1, .hold = 2.2}}};
    ex_result result = write_forms(directory, forms, 2, error);
    return result == EX_OK
               ? write_both(directory, "stretch.json", stretch_paper, "stretch_plain.json", stretch_plain, error)
               : result;
}

/* ---- the chain ---- */

enum { LINKS = 4 };

/* Writes the link of every triangle, as lines `face link`; links are separated at the middles of the joints. */
static ex_result write_links(const char *directory, const exi_tube *tube, ex_error *error) {
    ex_mesh *mesh = exi_tube_create(tube);
    const size_t room = 16 * ((size_t)(mesh ? mesh->face_count : 0) + 1);
    char *text = malloc(room);
    ex_result result = mesh && text ? EX_OK : ex_error_memory(error, "the links", room);
    size_t at = 0;
    for (int f = 0; result == EX_OK && f < mesh->face_count; f++) {
        double x = 0;
        for (int i = 0; i < 3; i++)
            x += mesh->positions[3 * (size_t)mesh->corners[3 * f + i]] / 3;
        const int link = (int)(x * LINKS / tube->length);
        at += (size_t)snprintf(text + at, room - at, "%d %d\n", f + 1, link < 0 ? 0 : link < LINKS ? link : LINKS - 1);
    }
    if (result == EX_OK)
        result = exi_demo_write_text(directory, "links.txt", text, error);
    free(text);
    ex_mesh_destroy(mesh);
    return result;
}

ex_result exi_demo_cylinder(const char *directory, ex_error *error) {
    /* Links are rigid to the last digit: the parts between them take all of the bend. */
    const exi_tube_bend straight[LINKS - 1] = {{1, 0.26, 0}, {2, 0.26, 0}, {3, 0.26, 0}};
    const exi_tube_bend folded[LINKS - 1] = {{1, 0.26, 100}, {2, 0.26, -100}, {3, 0.26, 100}};
    tube_form forms[2];
    for (int i = 0; i < 2; i++)
        forms[i] = (tube_form){i ? "folded.obj" : "straight.obj",
                               {.rings = 92,
                                .around = 20,
                                .length = LINKS,
                                .half = 0.1,
                                .bends = i ? folded : straight,
                                .bend_count = LINKS - 1,
                                .hinges = true}};
    ex_result result = write_forms(directory, forms, 2, error);
    if (result == EX_OK)
        result = write_links(directory, &forms[0].tube, error);
    return result == EX_OK
               ? write_both(directory, "cylinder.json", cylinder_bases, "cylinder_plain.json", cylinder_plain, error)
               : result;
}
