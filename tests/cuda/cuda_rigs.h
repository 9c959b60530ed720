/*
 * cuda_rigs.h - random rigs of every kind, and poses for them, made with only the runtime: exemplar_cuda_test evaluates
 * them on the GPU and here.
 */
#ifndef EXEMPLAR_TESTS_CUDA_RIGS_H
#define EXEMPLAR_TESTS_CUDA_RIGS_H

#include <exemplar/rig_inspect.h>

enum {
    RIG_WEIGHERS = 1, /* a layer of forms for every kind of weigher and every kernel, over dials */
    RIG_TURNS = 2,    /* the same over dials that are rotations */
    RIG_FORMS = 4,    /* one layer of forms, over dials */
    RIG_READ = 8,     /* one that reads joints in every way; needs a skin */
    RIG_OFFSETS = 16, /* three layers of offsets: at rest, in the skin's frame, among those that move a vertex */
    RIG_SKIN = 32,
    RIG_SHIFTS = 64,     /* examples have their own joints; needs a layer of forms */
    RIG_STRETCH = 128,   /* joints that stretch and mirror */
    RIG_LEVELS = 256,    /* two levels, and a limit next to them */
    RIG_DISPLACED = 512, /* two levels on the limit surface, and two layers that displace them */
    RIG_MASKS = 1024,
    RIG_MUTED = 2048,       /* every second layer is muted by default */
    RIG_SEAMS = 4096,       /* vertices that are split, on all levels */
    RIG_CALM = 8192,        /* four layers of calm offsets: without and with a plane, with limits, over a rotation */
    RIG_MIXED = 16384,      /* a mixture of four examples, one of them the reference, with everything */
    RIG_MIXED_FEW = 32768,  /* one of three, without correctors, of one node or many */
    RIG_MIXED_MANY = 65536, /* one of eight, with 150 nodes and 40 correctors */
    RIG_MIXED_ANY = RIG_MIXED | RIG_MIXED_FEW | RIG_MIXED_MANY
};

typedef struct rig_kind {
    const char *name;
    int parts;      /* RIG_… */
    int paths;      /* PATHS_… of support/paths.h; 0: no trajectories; -1: some that are only sums */
    int influences; /* largest number per vertex */
    ex_storage storage;
    ex_skinning skinning;
} rig_kind;

/* Ends the program with a sentence if `good` is false. */
void must(bool good, const char *what, const ex_error *error);
void *must_allocate(size_t count, size_t size);

/* A number in [low, high) from a sequence. */
double draw(uint64_t *random, double low, double high);

/* cuda_mixtures.c: a layer with a mixture that its parts ask for. Points into itself: do not copy it. */
typedef struct mixture_layer mixture_layer;
mixture_layer *open_mixture(const float *mesh, int vertex_count, int part, uint64_t seed);
ex_layer_def *mixture_def(mixture_layer *m);
void close_mixture(mixture_layer *m);

/* Release with ex_rig_destroy. The mesh is about 1 wide. */
ex_rig *make_rig(const rig_kind *kind, int vertex_count, uint64_t seed);

/* One vertex and layer_count layers, with a dial and a form each. */
ex_rig *make_layered_rig(int layer_count);

/* A rig that follows a driver. */
ex_rig *make_driven_rig(void);

/* The same poses in the GPU's and in the runtime's layout; some are not finite, and some rotations zero. */
typedef struct pose_set {
    int count;
    float *inputs;        /* [count][pose size] */
    ex_transform *joints; /* [count][joints] */
    double *doubles;      /* [count][pose size] */
    ex_pose *poses;       /* [count] */
} pose_set;
void make_poses(const ex_rig *rig, int parts, int count, uint64_t seed, pose_set *made);
void free_poses(pose_set *poses);

#endif
