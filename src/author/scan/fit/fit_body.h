/*
 * fit_body.h - whether a fitted skeleton can be a person's; private to src/author/scan.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_FIT_FIT_BODY_H
#define EXEMPLAR_AUTHOR_SCAN_FIT_FIT_BODY_H

#include <exemplar/author/kinematics.h>

/* Checks size, bones, and likeness of left and right against wide human limits, for joints that are named as those of
 * the shipped skeletons; and the noise of the markers. Skeletons with other names pass. Results: DATA (names the bone,
 * its length, and what is usual), MEMORY. */
ex_result exi_fit_check_body(const ex_kin_fit *fit, const ex_sighting *sightings, size_t sighting_count,
                             ex_error *error);

/* Checks size and bones alone, of any skeleton. */
ex_result exi_fit_check_bones(const ex_kinematics *kinematics, ex_error *error);

#endif
