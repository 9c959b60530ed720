/* glue_evaluate.c - poses, and surfaces, which hold the results of evaluating them. */
#include "glue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A frame: the run of frames that it belongs to, and its time there in seconds. A cut begins another run; runs count
 * from 1 over all poses. */
typedef struct page_frame {
    unsigned run;
    double clock;
} page_frame;

/* A pose, with memory for its joints' placement. */
typedef struct page_pose {
    ex_pose pose; /* elapsed: as the page set it; surfaces use the frame */
    page_frame frame;
    float *worlds;   /* [joint_count][16] */
    float *rows;     /* [joint_count][12] */
    void *skeleton;  /* scratch */
    float *shifts;   /* [2][joint_count][3]: their sum, and one example's; this and the fields below only if the rig has
                      * shifts */
    double *weights; /* [example_count] */
    void *scratch;
} page_pose;

typedef struct page_surface {
    int level;
    bool split;
    int count;
    ex_output output;
    float box[6];
    unsigned char **textures; /* [texture_count], or NULL */
    double *painted; /* [example_count]: weights that the textures were blended with, those of layers of pixels */
    bool is_painted; /* false if they were not blended yet */
    void *scratch;
    size_t state_size;
    void *state;      /* after the last frame, or NULL */
    void *before;     /* before it, so that it can be evaluated again; or NULL */
    page_frame frame; /* the last one; run 0: none yet */
    double elapsed;   /* seconds from the one before it; 0: it began anew */
} page_surface;

/* ---- poses ---- */

void EXPORT(pose_close)(page_pose *p) {
    if (!p)
        return;
    free(p->pose.inputs);
    free(p->pose.joints);
    free((void *)p->pose.driver);
    free(p->worlds);
    free(p->rows);
    free(p->skeleton);
    free(p->shifts);
    free(p->weights);
    free(p->scratch);
    free(p);
}

/* Puts the driver, if there is one, at its reference. */
static void rest_driver(const page_rig *r, float *driver) {
    ex_rig_driver d;
    if (ex_rig_get_driver(r->rig, &d, NULL))
        memcpy(driver, d.driver.reference, (size_t)d.driver.vertex_count * 3 * sizeof(float));
}

/* Makes the pose the next frame of its run, or, with 0, the first one of another. */
void EXPORT(pose_elapse)(page_pose *p, double elapsed) {
    static unsigned runs;
    p->pose.elapsed = elapsed;
    if (elapsed > 0)
        p->frame.clock += elapsed;
    else
        p->frame = (page_frame){.run = ++runs};
}
double EXPORT(pose_elapsed)(const page_pose *p) {
    return p->pose.elapsed;
}

void EXPORT(pose_rest)(const page_rig *r, page_pose *p) {
    ex_rig_rest_pose(r->rig, &p->pose);
    rest_driver(r, (float *)p->pose.driver);
}

static bool open_joints(const page_rig *r, page_pose *p) {
    const size_t joints = (size_t)ex_rig_joint_count(r->rig);
    p->worlds = glue_zeros(joints, 16 * sizeof *p->worlds);
    p->rows = glue_zeros(joints, 12 * sizeof *p->rows);
    p->skeleton = glue_zeros(ex_skeleton_scratch_size(ex_rig_skeleton(r->rig)), 1);
    if (!p->worlds || !p->rows || !p->skeleton || !r->block->shifted)
        return p->worlds && p->rows && p->skeleton;
    p->shifts = glue_zeros(joints, 6 * sizeof *p->shifts);
    p->weights = glue_zeros((size_t)ex_rig_example_count(r->rig), sizeof *p->weights);
    p->scratch = glue_zeros(ex_rig_scratch_size(r->rig, NULL, 1), 1);
    return p->shifts && p->weights && p->scratch;
}

page_pose *EXPORT(pose_open)(const page_rig *r) {
    page_pose *p = glue_zeros(1, sizeof *p);
    if (!p)
        return NULL;
    p->pose.inputs = glue_zeros((size_t)ex_rig_pose_size(r->rig), sizeof *p->pose.inputs);
    p->pose.joints = glue_zeros((size_t)ex_rig_joint_count(r->rig), sizeof *p->pose.joints);
    p->pose.driver = glue_zeros((size_t)glue_driver_count(r->rig) * 3, sizeof *p->pose.driver);
    if (p->pose.inputs && p->pose.joints && p->pose.driver && (!ex_rig_skeleton(r->rig) || open_joints(r, p))) {
        pose_rest(r, p);
        pose_elapse(p, 0);
        return p;
    }
    pose_close(p);
    return NULL;
}

double *EXPORT(pose_inputs)(const page_pose *p) {
    return p->pose.inputs;
}
ex_transform *EXPORT(pose_joints)(const page_pose *p) {
    return p->pose.joints;
}
const float *EXPORT(pose_driver)(const page_pose *p) {
    return p->pose.driver;
}
void EXPORT(pose_set)(const page_rig *r, const page_pose *p, int input, const double *value) {
    ex_rig_set_input(r->rig, input, value, &p->pose);
}
void EXPORT(pose_get)(const page_rig *r, const page_pose *p, int input, double *value) {
    ex_rig_get_input(r->rig, input, &p->pose, value);
}

/* A joint's rotation relative to its rest, x y z w. */
static const ex_reading whole_rotation = {.kind = EX_READING_ROTATION, .part = EX_AXIS_ROTATION};

void EXPORT(pose_turned)(const page_rig *r, const page_pose *p, int joint, double rotation[4]) {
    const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(r->rig), joint);
    ex_reading_read(&whole_rotation, &rest, &p->pose.joints[joint], rotation);
}
void EXPORT(pose_turn)(const page_rig *r, const page_pose *p, int joint, const double rotation[4]) {
    const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(r->rig), joint);
    ex_reading_write(&whole_rotation, &rest, rotation, &p->pose.joints[joint]);
}

/* Sums the shifts of the joints by the examples' own skeletons at this pose, as evaluation does. */
static const float *sum_shifts(const page_rig *r, page_pose *p) {
    const size_t count = (size_t)ex_rig_joint_count(r->rig) * 3;
    const ex_output output = {.weights = p->weights};
    const ex_evaluation evaluation = {.weighers = (const ex_weigher *const *)r->edited, .muted = r->muted};
    float *one = p->shifts + count;
    ex_rig_evaluate(r->rig, &p->pose, &output, &evaluation, p->scratch);
    memset(p->shifts, 0, count * sizeof *p->shifts);
    for (int l = 0; l < ex_rig_layer_count(r->rig); l++)
        for (int k = 0; k < ex_weigher_example_count(ex_rig_weigher(r->rig, l)); k++) {
            const float weight = (float)p->weights[ex_rig_first_example(r->rig, l) + k];
            if (weight == 0 || !ex_rig_example_shifts(r->rig, l, k, one))
                continue;
            for (size_t c = 0; c < count; c++)
                p->shifts[c] += weight * one[c];
        }
    return p->shifts;
}

/* The joints' matrices [joint_count][16], column-major; kept in the pose until the next call. */
const float *EXPORT(pose_worlds)(const page_rig *r, page_pose *p) {
    if (!p->worlds)
        return NULL;
    const ex_skeleton_input input = {.locals = p->pose.joints, .shifts = p->shifts ? sum_shifts(r, p) : NULL};
    const ex_skeleton_output output = {.worlds = p->rows};
    ex_skeleton_evaluate(ex_rig_skeleton(r->rig), &input, &output, p->skeleton);
    for (int j = 0; j < ex_rig_joint_count(r->rig); j++) {
        float *world = p->worlds + 16 * (size_t)j;
        for (int row = 0; row < 3; row++)
            for (int column = 0; column < 4; column++)
                world[4 * column + row] = p->rows[12 * (size_t)j + (size_t)(4 * row + column)];
        world[15] = 1;
    }
    return p->worlds;
}

/* Finds the positions that the skin would move to `posed` at this pose, into out; all of them [vertex_count][3]. Where
 * it flattens the surface they tend to `rest`. False without a skin or if out of memory. */
bool EXPORT(pose_unpose)(const page_rig *r, page_pose *p, const float *posed, const float *rest, double *out) {
    const ex_skin *skin = ex_rig_skin(r->rig);
    const int joints = ex_rig_joint_count(r->rig);
    const ex_skinning method = ex_rig_skinning(r->rig);
    if (!skin)
        return false;
    float *centres = glue_zeros((size_t)joints, 3 * sizeof *centres);
    float *turns = glue_zeros((size_t)joints, 4 * sizeof *turns);
    void *memory = glue_zeros(ex_palette_size(method, joints), 1);
    if (centres && turns && memory) {
        const ex_skeleton_input input = {.locals = p->pose.joints, .shifts = p->shifts ? sum_shifts(r, p) : NULL};
        const ex_skeleton_output output = {.matrices = p->rows, .centres = centres, .turns = turns};
        ex_skeleton_evaluate(ex_rig_skeleton(r->rig), &input, &output, p->skeleton);
        const ex_palette_def def = {.method = method,
                                    .joint_count = joints,
                                    .matrices = p->rows,
                                    .centres = centres,
                                    .turns = turns,
                                    .scale = ex_skeleton_scale(ex_rig_skeleton(r->rig))};
        const ex_unpose_job job = {.posed = posed, .rest = rest, .out = out};
        ex_skin_unpose(skin, ex_palette_make(&def, memory), &job);
    }
    const bool done = centres && turns && memory;
    free(memory);
    free(centres);
    free(turns);
    return done;
}

/* ---- surfaces ---- */

void EXPORT(surface_close)(page_surface *s, int texture_count) {
    if (!s)
        return;
    for (int t = 0; s->textures && t < texture_count; t++)
        free(s->textures[t]);
    free(s->textures);
    free(s->painted);
    free(s->output.positions);
    free(s->output.normals);
    free(s->output.tangents);
    free(s->output.weights);
    free(s->scratch);
    free(s->state);
    free(s->before);
    free(s);
}

static bool open_textures(const page_rig *r, page_surface *s) {
    const int count = ex_rig_texture_count(r->rig);
    s->textures = glue_zeros((size_t)count, sizeof *s->textures);
    s->painted = glue_zeros((size_t)ex_rig_example_count(r->rig), sizeof *s->painted);
    bool done = s->textures != NULL && s->painted != NULL;
    for (int t = 0; done && t < count; t++) {
        const ex_texture texture = ex_rig_texture(r->rig, t);
        s->textures[t] = glue_zeros((size_t)texture.width * (size_t)texture.height, 4);
        done = s->textures[t] != NULL;
    }
    s->output.textures = s->textures;
    return done;
}

/* Allocates the results of a level of the rig. */
page_surface *EXPORT(surface_open)(const page_rig *r, int level, bool split, bool normals, bool tangents, bool textures,
                                   bool state) {
    page_surface *s = glue_zeros(1, sizeof *s);
    if (!s)
        return NULL;
    const ex_evaluation evaluation = {.level = level, .split = split};
    s->level = level;
    s->split = split;
    s->count = split ? ex_rig_level_mesh(r->rig, level).split_count : ex_rig_level_vertex_count(r->rig, level);
    const size_t count = (size_t)s->count;
    s->output.positions = glue_zeros(count, 3 * sizeof(float));
    s->output.normals = normals ? glue_zeros(count, 3 * sizeof(float)) : NULL;
    s->output.tangents = tangents ? glue_zeros(count, 4 * sizeof(float)) : NULL;
    s->output.weights = glue_zeros((size_t)ex_rig_example_count(r->rig), sizeof(double));
    s->output.box = s->box;
    s->scratch = glue_zeros(ex_rig_scratch_size(r->rig, &evaluation, 1), 1);
    s->state_size = ex_rig_state_size(r->rig);
    s->state = state ? glue_zeros(s->state_size, 1) : NULL;
    s->before = state ? glue_zeros(s->state_size, 1) : NULL;
    if (s->output.positions && (s->output.normals || !normals) && (s->output.tangents || !tangents) &&
        s->output.weights && s->scratch && ((s->state && s->before) || !state) && (!textures || open_textures(r, s)))
        return s;
    surface_close(s, textures ? ex_rig_texture_count(r->rig) : 0);
    return NULL;
}

int EXPORT(surface_count)(const page_surface *s) {
    return s->count;
}
const float *EXPORT(surface_positions)(const page_surface *s) {
    return s->output.positions;
}
const float *EXPORT(surface_normals)(const page_surface *s) {
    return s->output.normals;
}
const float *EXPORT(surface_tangents)(const page_surface *s) {
    return s->output.tangents;
}
const double *EXPORT(surface_weights)(const page_surface *s) {
    return s->output.weights;
}
const float *EXPORT(surface_box)(const page_surface *s) {
    return s->box;
}
const unsigned char *EXPORT(surface_texture)(const page_surface *s, int t) {
    return s->textures ? s->textures[t] : NULL;
}

/* Gives the surface the state that a frame begins with; returns the seconds since then. A surface may leave frames out,
 * and may evaluate one again: that changes nothing, however often. */
static double begin_frame(page_surface *s, page_frame frame) {
    const bool same_run = frame.run == s->frame.run;
    if (same_run && frame.clock == s->frame.clock) {
        if (s->state && s->elapsed > 0)
            memcpy(s->state, s->before, s->state_size);
        return s->elapsed;
    }
    s->elapsed = same_run && frame.clock > s->frame.clock ? frame.clock - s->frame.clock : 0;
    if (s->state && s->elapsed > 0)
        memcpy(s->before, s->state, s->state_size);
    s->frame = frame;
    return s->elapsed;
}

/* Takes the weights of layers of pixels; returns true if they are others than those before. */
static bool repaints(const page_rig *r, page_surface *s) {
    bool changed = !s->is_painted;
    for (int l = 0; l < ex_rig_layer_count(r->rig); l++) {
        const int first = ex_rig_first_example(r->rig, l);
        const int count = ex_weigher_example_count(ex_rig_weigher(r->rig, l));
        for (int k = first; ex_rig_layer_domain(r->rig, l) == EX_DOMAIN_PIXELS && k < first + count; k++) {
            const double weight = r->muted[l] ? HUGE_VAL : s->output.weights[k];
            changed = changed || weight != s->painted[k];
            s->painted[k] = weight;
        }
    }
    s->is_painted = true;
    return changed;
}

void EXPORT(surface_evaluate)(const page_rig *r, const page_pose *p, page_surface *s, bool unskinned, bool unsettled,
                              bool unpainted) {
    ex_pose pose = p->pose;
    pose.elapsed = begin_frame(s, p->frame);
    const ex_evaluation evaluation = {.weighers = (const ex_weigher *const *)r->edited,
                                      .muted = r->muted,
                                      .level = s->level,
                                      .split = s->split,
                                      .unskinned = unskinned,
                                      .unsettled = unsettled,
                                      .states = s->state ? &s->state : NULL};
    /* Textures take longer than all else, and most frames only move. With a driver, a second evaluation would be
     * another frame. */
    const bool apart = s->textures && glue_driver_count(r->rig) == 0;
    ex_output output = s->output;
    if (apart || unpainted)
        output.textures = NULL;
    ex_rig_evaluate(r->rig, &pose, &output, &evaluation, s->scratch);
    if (apart && !unpainted && repaints(r, s))
        ex_rig_evaluate(r->rig, &pose, &(ex_output){.textures = s->textures}, &evaluation, s->scratch);
}
