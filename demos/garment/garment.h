/*
 * garment.h - shared by the demos of driven cloth: a driver that moves, cloth on it, and two motions, one to learn from
 * and one for testing. Private to demos.
 */
#ifndef EXEMPLAR_DEMOS_GARMENT_H
#define EXEMPLAR_DEMOS_GARMENT_H

#include "cloth.h"

#include <exemplar/author/drive.h>
#include <exemplar/author/project.h>
#include <exemplar/author/scene.h>

#define GARMENT_FPS 25.0

/* Motions. Those from GARMENT_MOTIONS on are further takes to learn from: of the same kind, each at its own speed. */
typedef enum exi_garment_motion { GARMENT_TRAINING, GARMENT_UNSEEN, GARMENT_MOTIONS } exi_garment_motion;

typedef struct exi_garment exi_garment;
struct exi_garment {
    const char *name;
    ex_mesh *driver, *driven;          /* triangles, at rest */
    bool *pinned;                      /* [vertices of driven], or NULL */
    double *gaps;                      /* [vertices of driven]: distances to keep from the driver, or NULL */
    ex_scene *looks;                   /* materials of driven, by name; or NULL */
    int key_count, part_count;         /* to learn: keys, and moving frames of parts; 0: 12, and as many as suit */
    int frame_counts[GARMENT_MOTIONS]; /* further takes are as long as the first motion */
    exi_cloth_def cloth; /* parameters of the simulation; exi_garment_simulate fills in meshes, start and pins */
    /* Poses the driver at a time, into positions [vertices][3]. `part` scales the motion, from 0 at rest to 1. */
    void (*pose)(const exi_garment *garment, exi_garment_motion motion, double seconds, double part, double *positions);
    void *body; /* data for pose and its release function; or NULL */
    void (*release)(void *body);
};

/* Fill in a garment; call exi_garment_free also after a failure. */
ex_result exi_sleeve_make(exi_garment *garment, ex_error *error);
ex_result exi_shirt_make(exi_garment *garment, ex_error *error);
ex_result exi_outfit_make(exi_garment *garment, ex_error *error);
void exi_garment_free(exi_garment *garment);

typedef struct exi_garment_play {
    exi_garment_motion motion;
    const double *start;   /* [vertices of driven][3]: the first frame, which is not simulated; NULL: the cloth begins
                            * at rest, and about a second passes before the first frame, in which the motion starts */
    exi_cloth_guide guide; /* or NULL */
    exi_cloth_frame frame; /* or NULL */
    void *user;            /* passed to both */
    const ex_progress *progress; /* or NULL */
} exi_garment_play;

/* Simulates a motion. Results: those of exi_cloth_create and of frame, MEMORY. */
ex_result exi_garment_simulate(const exi_garment *garment, const exi_garment_play *play, ex_error *error);

/*
 * Simulates both motions into driver_train.pc2, driven_train.pc2, driver_unseen.pc2 and driven_unseen.pc2 of an
 * existing folder, learns keys from the first two, and writes the project of the rig: NAME.json, driver.obj,
 * mesh.obj, the keys, and materials.glb if the garment has looks. Further takes go to driver_take_01.pc2,
 * driven_take_01.pc2, …: nothing is learned from them.
 * progress and tasks may be NULL.
 */
ex_result exi_garment_write(const exi_garment *garment, int takes, const char *directory, const ex_progress *progress,
                            const ex_tasks *tasks, ex_error *error);

/* Speed of a further take, from 0.75 to 1.75 times that of the first motion. */
double exi_garment_speed(exi_garment_motion motion);

/* A smooth wave in [-1, 1] of two frequencies without a simple ratio, different for every seed and axis. */
double exi_garment_wave(unsigned seed, unsigned axis, double seconds);

#endif
