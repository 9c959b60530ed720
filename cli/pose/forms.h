/*
 * cli/pose/forms.h - writes results of evaluation to files: a form at a level, with normals and textures, in any format
 * that Exemplar writes.
 */
#ifndef EXEMPLAR_CLI_FORMS_H
#define EXEMPLAR_CLI_FORMS_H

#include "cli/base/command.h"

#include <exemplar/author.h>

/* Endings of forms, for exi_output_check. */
#define EXI_FORM_ENDINGS ".obj, .ply, .glb or .gltf"

/* Requested outputs of every pose. */
typedef struct exi_form_wish {
    int level;
    bool normals, textures;
    bool scene;        /* files are glTF, which hold the textures that materials show */
    ex_form_axes axes; /* of OBJ and PLY files */
} exi_form_wish;

/* Parses a level ("cage", a number, "limit"; NULL: the rig's default); false after printing an error, with the exit
 * code. */
bool exi_level_read(const ex_call *call, const ex_rig *rig, const char *text, int *level, int *exit_code);

/* True for a path of a glTF file. */
bool exi_form_is_scene(const char *path);

/* Results of one pose, with memory for them. */
typedef struct exi_form {
    float *positions, *normals;
    unsigned char **textures; /* [ex_rig_texture_count], NULL where not wished; or NULL */
} exi_form;

/* Size of a form in bytes. */
size_t exi_form_size(const ex_rig *rig, const exi_form_wish *wish);
/* False if out of memory; call exi_form_close either way. */
bool exi_form_open(exi_form *form, const ex_rig *rig, const exi_form_wish *wish);
void exi_form_close(exi_form *form, const ex_rig *rig);
/* Output arrays for evaluation. */
ex_output exi_form_output(const exi_form *form);

/* Writes the form to path, in the unit and up axis of the wish, and its textures next to it as NAME.base_color.png and
 * so on. A .glb or .gltf is in metres with y up, has the rig's materials, and holds the textures that they show. */
ex_result exi_form_write(const exi_form *form, const ex_rig *rig, const exi_form_wish *wish, const char *path,
                         ex_error *error);

/* Calls visit for every file that exi_form_write makes, until it returns false. Returns false then, and, after printing
 * an error, if out of memory. */
bool exi_form_visit_files(const ex_rig *rig, const exi_form_wish *wish, const char *path,
                          bool (*visit)(const char *path));

#endif
