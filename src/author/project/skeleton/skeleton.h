/*
 * skeleton.h - reads skeletons of projects from glTF files, and writes them; private to authoring.
 *
 *   joints.c          joints by name
 *   skeleton.c        the joints of a skin as an ex_skeleton; joint positions of another file
 *   skeleton_skin.c   the weights of that skin for the project's mesh
 *   skeleton_write.c  a rig's skeleton, and joint positions, as files
 *
 * glTF is in metres with y up: the project's "unit" and "up" do not apply to these files.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SKELETON_SKELETON_H
#define EXEMPLAR_AUTHOR_PROJECT_SKELETON_SKELETON_H

#include "author/base/names.h"
#include "author/project/model/project.h"

#include <exemplar/author/scene.h>

/* Reads the project's skeleton and the skin of its mesh, whose positions are rounded to float. Both are NULL if the
 * project names none. The skin is NULL if nothing in the file is bound to the skeleton, which then moves nothing. */
ex_result exi_skeleton_read(const ex_project_view *view, const ex_mesh *mesh, ex_skeleton **skeleton, ex_skin **skin,
                            ex_error *error);

/* The same in steps: the file; its only skin, or that of the node whose mesh has the most vertices, -1 if there is
 * none; the sentence about that choice; the skeleton of a skin. */
ex_result exi_skeleton_read_scene(const ex_project_view *view, const char *relative, ex_scene **scene, ex_error *error);
int exi_skeleton_main_skin(const ex_scene *scene);
ex_result exi_skeleton_no_skin(ex_error *error);
ex_result exi_skeleton_from_scene(const ex_scene *scene, int skin, ex_skeleton **skeleton, ex_error *error);

/* Transfers the weights of the scene's skin to the vertices of another mesh: in the order of the scene's vertices if
 * that fits, else by position. NULL if nothing is bound to the skin. */
ex_result exi_skin_from_scene(const ex_scene *scene, int skin, const ex_mesh *mesh, ex_skin **made, ex_error *error);

/* Returns the factor by which the joints scale lengths of the mesh at rest, the mean over joints: 0.01 for a mesh that
 * is bound in centimetres below a node with that scale. 1 without a skeleton. */
double exi_skeleton_scale(const ex_skeleton *skeleton);

/* Computes the joint positions in the mesh as bound [joint_count][3]; every number is a float. False without memory. */
bool exi_skeleton_centres(const ex_skeleton *skeleton, double *centres);

/* Does the same for the joints of these names in another file of the project: in its skin as bound, or, without a skin,
 * from its nodes. */
ex_result exi_skeleton_read_centres(const ex_project_view *view, const char *relative, const ex_skeleton *skeleton,
                                    double *centres, ex_error *error);

/* Writes centres to a file for exi_skeleton_read_centres. */
ex_result exi_skeleton_write_centres(const char *path, const ex_skeleton *skeleton, const double *centres,
                                     ex_error *error);

/* Calls report, with the place and a sentence, for each axis, example and mask of the project that names a joint which
 * the skeleton does not have; skeleton may be NULL. The sentence is only valid during the call. Fails only if memory
 * runs out. */
typedef void (*exi_joint_report)(void *user, const char *place, const char *sentence);
ex_result exi_project_find_missing_joints(const ex_project_view *view, const ex_skeleton *skeleton,
                                          exi_joint_report report, void *user, ex_error *error);

/* Checks that the skeleton, which may be NULL, has all joints that axes, examples and masks of the project name. If
 * not, EX_ERROR_DATA and a sentence with the place and the nearest name. */
ex_result exi_project_check_joints(const ex_project_view *view, const ex_skeleton *skeleton, ex_error *error);

#endif
