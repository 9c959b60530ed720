/*
 * skeleton.h - skeletons of projects: from glTF files, and back into them; private to authoring.
 *
 *   joints.c          joints by their names
 *   skeleton.c        the joints of a skin as an ex_skeleton; joint positions of another file
 *   skeleton_skin.c   the weights of that skin for the project's mesh
 *   skeleton_write.c  a rig's skeleton, and joint positions, as files
 *
 * glTF is in metres with y up: the project's "unit" and "up" do not touch these files.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SKELETON_SKELETON_H
#define EXEMPLAR_AUTHOR_PROJECT_SKELETON_SKELETON_H

#include "author/base/names.h"
#include "author/project/model/project.h"

#include <exemplar/author/scene.h>

/* The project's skeleton and the skin of its mesh, whose positions are rounded to float. Both NULL where the project
 * names none; the skin NULL where nothing in the file is bound to the skeleton, which then moves nothing. */
ex_result exi_skeleton_read(const ex_project_view *view, const ex_mesh *mesh, ex_skeleton **skeleton, ex_skin **skin,
                            ex_error *error);

/* The same in steps: the file; its only skin, or that of the node whose mesh has the most vertices, -1 where there is
 * none; the sentence about that; the skeleton of a skin. */
ex_result exi_skeleton_read_scene(const ex_project_view *view, const char *relative, ex_scene **scene, ex_error *error);
int exi_skeleton_main_skin(const ex_scene *scene);
ex_result exi_skeleton_no_skin(ex_error *error);
ex_result exi_skeleton_from_scene(const ex_scene *scene, int skin, ex_skeleton **skeleton, ex_error *error);

/* The weights that the scene's skin gives to the vertices of a mesh that is elsewhere: in the order of the scene's
 * vertices where that fits, else by position. NULL where nothing is bound to the skin. */
ex_result exi_skin_from_scene(const ex_scene *scene, int skin, const ex_mesh *mesh, ex_skin **made, ex_error *error);

/* Where the joints are in the mesh as it was bound [joint_count][3]; every number is a float. False without memory. */
bool exi_skeleton_centres(const ex_skeleton *skeleton, double *centres);

/* The same of the joints of these names in another file of the project: of its skin as it was bound, or, where it has
 * none, of its nodes. */
ex_result exi_skeleton_read_centres(const ex_project_view *view, const char *relative, const ex_skeleton *skeleton,
                                    double *centres, ex_error *error);

/* Centres for exi_skeleton_read_centres, as a file. */
ex_result exi_skeleton_write_centres(const char *path, const ex_skeleton *skeleton, const double *centres,
                                     ex_error *error);

/* Calls report for everything in axes, examples and masks of the project that asks for a joint which the skeleton, or
 * NULL, does not have, with the place and a sentence, which ends there. Fails for want of memory alone. */
typedef void (*exi_joint_report)(void *user, const char *place, const char *sentence);
ex_result exi_project_find_missing_joints(const ex_project_view *view, const ex_skeleton *skeleton,
                                          exi_joint_report report, void *user, ex_error *error);

/* Whether the skeleton, or NULL, has all joints that axes, examples and masks of the project name. If not,
 * EX_ERROR_DATA and a sentence with the place and the nearest name. */
ex_result exi_project_check_joints(const ex_project_view *view, const ex_skeleton *skeleton, ex_error *error);

#endif
