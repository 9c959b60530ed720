/*
 * cli/words.h - values by name as people type them, for the library: elbow=75, shoulder=q:0,0,.38,.92,
 * shoulder=x30y-10z5 (degrees, each about the axis as the turns before have left it), any joint relative to its rest,
 * joint:wrist=x20, and a driver's form, body=FILE.obj.
 */
#ifndef EXEMPLAR_CLI_WORDS_H
#define EXEMPLAR_CLI_WORDS_H

#include <exemplar/author/project.h>

/* Writes what one word says into a pose of the rig. Results: DATA, and what ex_pose_set gives. */
ex_result exi_pose_word(const ex_rig *rig, const char *word, const ex_pose *pose, ex_error *error);

/*
 * Words [count] as a place: axes, and joints as joint:NAME; joints alone, the mark being optional; numbers by name, of
 * which a word may hold several, a=1,b=2; and a falloff, which is one number or such a list. The place is to be freed
 * in any case; it points into the words. Results: DATA, MEMORY.
 */
ex_result exi_place_read(const ex_project_view *view, const char *const *words, int count, ex_place *place,
                         ex_error *error);
ex_result exi_joints_read(const char *const *words, int count, ex_place *place, ex_error *error);
ex_result exi_numbers_read(const char *const *words, int count, ex_place *place, ex_error *error);
ex_result exi_falloff_read(const char *text, ex_place *place, ex_error *error);
void exi_place_free(ex_place *place);

#endif
