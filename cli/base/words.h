/*
 * cli/base/words.h - parses values by name as people type them: elbow=75, shoulder=q:0,0,.38,.92, shoulder=x30y-10z5
 * (degrees, each about the axis as the turns before have left it), any joint relative to its rest, joint:wrist=x20, and
 * a driver's form, body=FILE.obj.
 */
#ifndef EXEMPLAR_CLI_WORDS_H
#define EXEMPLAR_CLI_WORDS_H

#include <exemplar/author/project.h>

/* Writes the right form of a word that is meant as axis=value and is none: "write each setting as a word of its own:
 * a=1 b=2". next and after are the two words that follow it, or NULL. False if there is nothing to advise. */
bool exi_word_advice(char *advice, size_t size, const char *word, const char *next, const char *after);

/* Sets the value of one word in a pose of the rig. Results: DATA, and those of ex_pose_set. */
ex_result exi_pose_word(const ex_rig *rig, const char *word, const ex_pose *pose, ex_error *error);

/*
 * Reads words [count] as a place: axes, and joints as joint:NAME; joints alone, the mark being optional; numbers by
 * name, of which a word may hold several, a=1,b=2; and a falloff, which is one number or a list of that form. Free the
 * place always; it points into the words. Results: DATA, MEMORY.
 */
ex_result exi_place_read(const ex_project_view *view, const char *const *words, int count, ex_place *place,
                         ex_error *error);
ex_result exi_joints_read(const char *const *words, int count, ex_place *place, ex_error *error);
ex_result exi_numbers_read(const char *const *words, int count, ex_place *place, ex_error *error);
ex_result exi_falloff_read(const char *text, ex_place *place, ex_error *error);
void exi_place_free(ex_place *place);

/* Reads the size of a picture: 900x600, 900X600, 900*600, or 600, a square. False if it is none, or not above 0. */
bool exi_size_read(const char *text, double size[2]);

#endif
