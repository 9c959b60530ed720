/*
 * kinematics.h - skeleton files as parts of others; private to src/author/scan.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_KINEMATICS_H
#define EXEMPLAR_AUTHOR_SCAN_KINEMATICS_H

#include "author/project/keys.h"

#include <exemplar/author/kinematics.h>

/* A skeleton from its JSON object; *kinematics is NULL on failure. */
ex_result exi_kinematics_interpret(exi_reader *r, const json_t *object, const exi_place *place,
                                   ex_kinematics **kinematics);
/* The object; NULL without memory. */
json_t *exi_kinematics_json(const ex_kinematics *kinematics);

#endif
