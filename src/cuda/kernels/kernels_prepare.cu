/*
 * Preparation of instances on the GPU. A block has the front of the rig in its shared memory; its teams, each a part of
 * a warp, a warp or the whole block, process instances. Weighing and posing depend on each other only if joint
 * positions follow the weights; otherwise different blocks do them, which halves the latency.
 *
 * It reads a pose and writes about a hundred numbers per joint and example: negligible compared with a surface's
 * vertices. For few instances latency dominates, so a warp takes one. For many instances idle lanes dominate: most
 * depths of a skeleton have two or three joints, four columns each, so eight lanes take an instance.
 */
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/kernels_launch.inl"
#include "cuda/kernels/kernels_prepare_near.inl"

enum { THREADS = 128, WARP = 32, PART = 8 };
/* Numbers of instances from which a warp takes one, and a part of a warp. */
enum { WARP_COUNT = 256, PART_COUNT = 8192 };
/* Blocks per multiprocessor, for each of the two roles; more would copy the front again. */
enum { RESIDENT = 16 };
enum { WEIGHS = 1, POSES = 2 };

/* Plan of a launch. */
typedef struct plan {
    int lanes_log;
    int roles[2];     /* of blocks, by blockIdx.y: WEIGHS, POSES */
    int near[2];      /* bytes of the front that these blocks copy; 0: none */
    int begins[2];    /* their start in the front */
    int team_room;    /* shared memory per team; 0: its data is in scratch */
    exi_gpu_work own; /* laid out in the team's room */
} plan;

/* Opens the job of one instance: data that is not read later goes to the team's own memory. */
static __device__ inline void open_instance(const exi_gpu *g, const plan *p, int instance, char *room, exi_gpu_job *j) {
    const size_t i = (size_t)instance;
    exi_gpu_work *w = &j->work, own = p->own;
    const bool near = p->team_room > 0;
    exi_near_work(&own, room);
    j->inputs = j->inputs ? j->inputs + i * (size_t)g->pose_size : NULL;
    j->joints = j->joints ? j->joints + i * (size_t)g->joints : NULL;
    w->points = near ? own.points : w->points + i * (size_t)g->features;
    w->kernels = near ? own.kernels : w->kernels + i * (size_t)g->points;
    w->doubles = near ? own.doubles : w->doubles + i * (size_t)g->examples;
    w->bases = near ? own.bases : w->bases + i * 3 * (size_t)g->segments;
    w->terms = near ? own.terms : w->terms + i * (size_t)g->mixed_terms;
    w->worlds = near ? own.worlds : w->worlds + i * 12 * (size_t)g->joints;
    w->turns = near ? own.turns : w->turns + i * 4 * (size_t)g->joints;
    w->shifts = near ? own.shifts : w->shifts + i * 3 * (size_t)g->joints;
    w->weights += i * (size_t)g->examples;
    w->factors += i * (size_t)g->forms;
    w->offset_weights += i * (size_t)g->offset_weights;
    w->motions += i * (size_t)g->path_count;
    w->appended += i * 3 * (size_t)g->segments;
    w->mixed += i * (size_t)g->examples;
    w->shares += 2 * i * (size_t)g->mixed_corners;
    w->palette += i * 12 * (size_t)g->joints;
    w->duals += i * 8 * (size_t)g->joints;
    w->stretched += i;
}

template <int has>
static __global__ void __launch_bounds__(THREADS)
    prepare_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j,
                   const __grid_constant__ plan p) {
    extern __shared__ __align__(16) char memory[];
    const int role = p.roles[blockIdx.y], near = p.near[blockIdx.y];
    const char *front = g.front + p.begins[blockIdx.y];
    exi_near_copy(front, memory, near);
    exi_gpu head = g;
    exi_near_head(&head, has, near > 0 ? memory - front : 0);
    const int teams = THREADS >> p.lanes_log, own = (int)threadIdx.x >> p.lanes_log;
    exi_team team;
    team.lanes = 1 << p.lanes_log;
    team.lane = (int)threadIdx.x & (team.lanes - 1);
    char *room = memory + near + own * p.team_room;
    exi_near_wait();
    for (int first = (int)blockIdx.x * teams; first < j.count; first += (int)gridDim.x * teams) {
        /* Parts of a warp stay together: surplus ones repeat the last instance. */
        int instance = first + own;
        if (instance >= j.count && p.lanes_log >= 5)
            break;
        instance = instance < j.count ? instance : j.count - 1;
        exi_gpu_job job = j;
        open_instance(&g, &p, instance, room, &job);
        if (role & WEIGHS)
            exi_gpu_weigh(&head, &job, 0, team);
        if ((has & EXI_GPU_SKIN) && (role & POSES))
            exi_gpu_pose(&head, &job, 0, team);
    }
}

/* ---- launch ---- */

typedef void (*kernel)(exi_gpu, exi_gpu_job, plan);

/* Returns the smallest kernel with the needed features: crowds; trajectories, also with
 * mixtures; poses of a skeleton; anything without and with mixtures. */
static kernel choose_kernel(int need) {
    enum {
        CROWD = EXI_GPU_CARDINAL | EXI_GPU_SKIN,
        PATHS = EXI_GPU_PATHS | EXI_GPU_CORRECTORS | EXI_GPU_SCREWS | EXI_GPU_BASES,
        MIXED = PATHS | EXI_GPU_MIXTURES,
        POSE_SPACE = EXI_GPU_CARDINAL | EXI_GPU_KERNELS | EXI_GPU_GAUSSIAN | EXI_GPU_CALM | EXI_GPU_READINGS |
                     EXI_GPU_OFFSETS | EXI_GPU_SKIN | EXI_GPU_TURNS
    };
    if (!(need & ~CROWD))
        return prepare_kernel<CROWD>;
    if (!(need & ~PATHS))
        return prepare_kernel<PATHS>;
    if (!(need & ~MIXED))
        return prepare_kernel<MIXED>;
    if (!(need & ~POSE_SPACE))
        return prepare_kernel<POSE_SPACE>;
    if (!(need & EXI_GPU_MIXTURES))
        return prepare_kernel<EXI_GPU_ALL & ~EXI_GPU_MIXTURES>;
    return prepare_kernel<EXI_GPU_ALL>;
}

/* Returns the binary logarithm of the lanes per team. Parts of a warp suit jobs in which all of them take the same
 * branches, which is not so if the nearest point decides, and in which surplus parts may compute the last instance
 * again, which rounding in place does not allow. */
static int choose_lanes_log(int need, int count) {
    if (count < WARP_COUNT)
        return 7;
    return count < PART_COUNT || (need & (EXI_GPU_SHARES | EXI_GPU_SHORTS)) ? 5 : 3;
}

/* Sets the roles of blocks and the contents of shared memory. Returns its size. */
static size_t make_plan(const exi_gpu *g, int need, int lanes_log, plan *p) {
    const bool apart = (need & EXI_GPU_SKIN) && !(need & EXI_GPU_SHIFTS), readings = (need & EXI_GPU_READINGS) != 0;
    const size_t teams = THREADS >> lanes_log;
    size_t bytes = 0, room = 0;
    *p = plan();
    p->lanes_log = lanes_log;
    p->roles[0] = apart ? POSES : WEIGHS | POSES;
    p->roles[1] = apart ? WEIGHS : 0;
    for (int i = 0; i < 2; i++) {
        const bool weighs = p->roles[i] & WEIGHS, poses = (p->roles[i] & POSES) && (need & EXI_GPU_SKIN);
        size_t used = 0;
        p->begins[i] = weighs ? 0 : g->weigh_bytes;
        p->near[i] = p->roles[i] ? (poses || readings ? g->front_bytes : g->weigh_bytes) - p->begins[i] : 0;
        if (weighs)
            exi_gpu_work_lay_weigh(g, 1, (char *)EXI_NEAR_BASE, &used, &p->own);
        if (poses)
            exi_gpu_work_lay_pose(g, 1, (char *)EXI_NEAR_BASE, &used, &p->own);
        room = used > room ? used : room;
    }
    if (room * teams <= EXI_NEAR_BYTES) {
        p->team_room = (int)room;
        bytes = room * teams;
    }
    const size_t front = (size_t)(p->near[0] > p->near[1] ? p->near[0] : p->near[1]);
    if (bytes + front > EXI_NEAR_BYTES)
        p->near[0] = p->near[1] = 0;
    else
        bytes += front;
    return bytes;
}

int exi_gpu_run_prepare(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream) {
    const int need = exi_near_need(gpu, job), most = exi_launch_multiprocessors() * RESIDENT;
    plan p;
    size_t bytes = make_plan(gpu, need, choose_lanes_log(need, job->count), &p);
    while (p.team_room == 0 && p.lanes_log < 7) /* too much for that many teams in a block: use fewer */
        bytes = make_plan(gpu, need, p.lanes_log < 5 ? p.lanes_log + 1 : 7, &p);
    const int teams = THREADS >> p.lanes_log, blocks = (job->count + teams - 1) / teams;
    const dim3 grid((unsigned)(blocks < most ? blocks : most), p.roles[1] ? 2 : 1);
    choose_kernel(need)<<<grid, THREADS, bytes, stream>>>(*gpu, *job, p);
    return (int)cudaGetLastError();
}
