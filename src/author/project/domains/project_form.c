/*
 * Layers of forms: examples are measured from the mesh with earlier layers applied (build/measure.h), and un-posed
 * first if they are made at their pose.
 */
#include "author/project/domains/project_domain.h"

const exi_project_domain exi_project_domain_form = {.examples = "forms",
                                                    .posed_word = "unposed",
                                                    .file = "mesh",
                                                    .files = "a \"mesh\"",
                                                    .ending = ".obj",
                                                    .file_at = offsetof(ex_project_example, mesh),
                                                    .targets = true,
                                                    .build = exi_build_forms,
                                                    .free = exi_build_free_form,
                                                    .check = exi_check_forms,
                                                    .write = exi_unpack_write_forms,
                                                    .compare_example = exi_difference_forms};
