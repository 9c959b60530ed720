/*
 * swings.h - the bar and the sleeve of drives.h in motion: the sleeve's wrinkles depend on how fast the bar bends, so
 * that the same pose comes with different forms.
 */
#ifndef EXEMPLAR_TESTS_SWINGS_H
#define EXEMPLAR_TESTS_SWINGS_H

#include "support/drives.h"

enum { SWING_TAKES = 4 };

/* The pose at a time in seconds; different for each seed. */
drive_pose swing_at(int seed, double time);

/* A definition of learning from motion, and all that it points to: takes at 25 frames a second. */
typedef struct swing_lesson {
    ex_learn_def def;
    ex_drive_reference references[SWING_TAKES];
    char paths[2 * SWING_TAKES][300];
} swing_lesson;

/* Writes takes of these numbers of frames [take_count], of the seeds 0, 1, … */
void swing_open(swing_lesson *lesson, int take_count, const int *frame_counts);
void swing_close(swing_lesson *lesson);
/* Writes a take again, with other wrinkles: factor times those of its motion. */
void swing_rewrite(swing_lesson *lesson, int take, int frame_count, double factor);

#endif
