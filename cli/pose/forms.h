/*
 * cli/forms.h - what evaluation gives, as files: a form at a level, with normals and textures, of any kind that
 * Exemplar writes.
 */
#ifndef EXEMPLAR_CLI_FORMS_H
#define EXEMPLAR_CLI_FORMS_H

#include "cli/base/command.h"

#include <exemplar/author.h>

/* The endings of forms, for exi_output_check. */
#define EXI_FORM_ENDINGS ".obj, .ply, .glb or .gltf"

/* What is wanted of every pose. */
typedef struct exi_form_wish {
    int level;
    bool normals, textures;
} exi_form_wish;

/* The level that the words mean ("cage", a number, "limit"; NULL: what the rig asks for); false after a sentence, with
 * the code to end with. */
bool exi_level_read(const ex_call *call, const ex_rig *rig, const char *text, int *level, int *exit_code);

/* One pose's results, in memory of their own. */
typedef struct exi_form {
    float *positions, *normals;
    unsigned char **textures; /* [ex_rig_texture_count] or NULL */
} exi_form;

/* Bytes that a form takes. */
size_t exi_form_size(const ex_rig *rig, const exi_form_wish *wish);
/* False without memory; exi_form_close either way. */
bool exi_form_open(exi_form *form, const ex_rig *rig, const exi_form_wish *wish);
void exi_form_close(exi_form *form, const ex_rig *rig);
/* Where evaluation is to write. */
ex_output exi_form_output(const exi_form *form);

/* Writes the form to path, and its textures beside it as NAME.base_color.png and so on; the base colour goes into a
 * .glb or .gltf. */
ex_result exi_form_write(const exi_form *form, const ex_rig *rig, const exi_form_wish *wish, const char *path,
                         ex_error *error);

/* Calls visit for every file that exi_form_write makes, until it returns false; false then, and without
 * memory, after a sentence. */
bool exi_form_visit_files(const ex_rig *rig, const exi_form_wish *wish, const char *path,
                          bool (*visit)(const char *path));

#endif
