/*
 * Posing by a team of several threads: the data that one needs from another is ready in time, for any size of the team,
 * and the bits are those of one thread. A thread sanitizer sees if a wait is missing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda/machine.h"

#include <pthread.h>

/* The team at work: its threads wait for one another, like those of a GPU's block. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t all_there;
    int waiting, round;
} meeting = {.mutex = PTHREAD_MUTEX_INITIALIZER, .all_there = PTHREAD_COND_INITIALIZER};

static void meet(exi_team team) {
    pthread_mutex_lock(&meeting.mutex);
    const int round = meeting.round;
    if (++meeting.waiting == team.lanes) {
        meeting.waiting = 0;
        meeting.round++;
        pthread_cond_broadcast(&meeting.all_there);
    }
    while (meeting.round == round)
        pthread_cond_wait(&meeting.all_there, &meeting.mutex);
    pthread_mutex_unlock(&meeting.mutex);
}

static void mark(int32_t *flag) {
    pthread_mutex_lock(&meeting.mutex);
    *flag = 1;
    pthread_mutex_unlock(&meeting.mutex);
}

/* True if any thread of the team says so. */
static bool any(exi_team team, bool says) {
    static bool said;
    meet(team);
    if (team.lane == 0)
        said = false;
    meet(team);
    if (says) {
        pthread_mutex_lock(&meeting.mutex);
        said = true;
        pthread_mutex_unlock(&meeting.mutex);
    }
    meet(team);
    return said;
}

#undef EXI_TEAM_SYNC
#define EXI_TEAM_SYNC(team) meet(team)
#undef EXI_TEAM_ANY
#define EXI_TEAM_ANY(team, says) any(team, says)
#undef EXI_TEAM_MARK
#define EXI_TEAM_MARK(flag) mark(flag)

#include "cuda/stages/prepare_pose.inl"
#include "support/gpu_poses.h"

typedef struct member {
    const gpu_pose *p;
    exi_team team;
} member;

static void *work(void *argument) {
    const member *m = argument;
    for (int i = 0; i < m->p->job.count; i++)
        exi_gpu_pose(&m->p->head, &m->p->job, i, m->team);
    return NULL;
}

static void pose_with(const gpu_pose *p, int lanes) {
    enum { MOST = 64 };
    pthread_t threads[MOST];
    member members[MOST];
    assert_true(lanes <= MOST);
    for (int lane = 0; lane < lanes; lane++) {
        members[lane] = (member){.p = p, .team = {.lane = lane, .lanes = lanes}};
        assert_int_equal(pthread_create(&threads[lane], NULL, work, &members[lane]), 0);
    }
    for (int lane = 0; lane < lanes; lane++)
        pthread_join(threads[lane], NULL);
}

static void test_teams(void **state) {
    (void)state;
    const int lanes[] = {2, 3, 7, 16, GPU_POSE_JOINTS, 60};
    uint64_t random = 7;
    for (int i = 0; i < 6; i++) {
        gpu_pose p;
        gpu_pose_open(&p, &random,
                      (gpu_pose_options){.skinning = i % 2 ? EX_SKINNING_DUAL_QUATERNION : EX_SKINNING_LINEAR,
                                         .turns = i == 2,
                                         .shifted = i < 4,
                                         .posed = true});
        p.job.count = 3;
        pose_with(&p, lanes[i]);
        assert_gpu_pose(&p);
        gpu_pose_close(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_teams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
