// The weights of a driver among keys as DAQP finds them: min 1/2 w'Gw - r'w with w >= 0 and a sum of 1, G the products
// of the keys, r those of a frame with them. G is prepared once. A frame changes r alone and starts from the working
// set of the last one, DAQP's warm start.
//
// Questions on standard input, one a line: "run KEYS" (the frames of bench/walk.h); the answer is the nanoseconds of a
// frame. "answer KEYS" instead answers with the sum of the squares of all weights of all frames.
#include "../walk.h"

#include <api.h>
#include <utils.h>

#include <chrono>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

// Of constants.h, whose names differ between versions: the linear part and what follows from it; active and immutable.
enum { LINEAR = 4 | 8, EQUALITY = 1 | 4 };

// The function has another name or another argument in newer versions: the one that exists is found when this is
// compiled.
template <class Space> auto update(Space *space, DAQPProblem *, int) -> decltype(update_ldp(LINEAR, space)) {
    return update_ldp(LINEAR, space);
}
template <class Space>
auto update(Space *space, DAQPProblem *problem, int) -> decltype(update_ldp(LINEAR, space, problem)) {
    return update_ldp(LINEAR, space, problem);
}
template <class Space>
auto update(Space *space, DAQPProblem *problem, int) -> decltype(daqp_update_ldp(LINEAR, space, problem)) {
    return daqp_update_ldp(LINEAR, space, problem);
}

double now_ns() {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(now).count();
}

struct Work {
    int count, frame = 0;
    bool good = true;
    std::vector<double> gram, rows, linear, ones, upper, lower, weights, multipliers;
    std::vector<int> sense;
    DAQPProblem problem = {};
    DAQPWorkspace space = {};
    DAQPResult result = {};

    explicit Work(int keys)
        : count(keys), gram(size_t(keys * keys)), rows(size_t(EXI_WALK_FRAMES * keys)), linear(size_t(keys)),
          ones(size_t(keys), 1.0), upper(size_t(keys) + 1, 1e30), lower(size_t(keys) + 1, 0.0), weights(size_t(keys)),
          multipliers(size_t(keys) + 1), sense(size_t(keys) + 1, 0) {
        exi_walk(keys, gram.data(), rows.data());
        upper[size_t(keys)] = lower[size_t(keys)] = 1;
        sense[size_t(keys)] = EQUALITY;
        set_frame();
        problem.n = keys;
        problem.m = keys + 1;
        problem.ms = keys;
        problem.H = gram.data();
        problem.f = linear.data();
        problem.A = ones.data();
        problem.bupper = upper.data();
        problem.blower = lower.data();
        problem.sense = sense.data();
        result.x = weights.data();
        result.lam = multipliers.data();
        good = setup_daqp(&problem, &space, nullptr) >= 0;
    }

    void set_frame() {
        for (int i = 0; i < count; i++)
            linear[size_t(i)] = -rows[size_t(frame * count + i)];
    }

    void run() {
        frame = (frame + 1) % EXI_WALK_FRAMES;
        set_frame();
        good = good && update(&space, &problem, 0) >= 0;
        if (good)
            daqp_solve(&result, &space);
        good = good && result.exitflag > 0;
    }

    double sample() {
        const int runs = 5 * EXI_WALK_FRAMES;
        run();
        const double start = now_ns();
        for (int i = 0; i < runs; i++)
            run();
        return good ? (now_ns() - start) / runs : 0;
    }

    double sum() {
        double all = 0;
        for (int i = 0; i < EXI_WALK_FRAMES; i++) {
            run();
            for (double weight : weights)
                all += weight * weight;
        }
        return good ? all : 0;
    }
};

} // namespace

int main() {
    std::map<int, std::unique_ptr<Work>> works;
    std::string line;
    std::cout << std::setprecision(12);
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string verb;
        int keys = 0;
        words >> verb >> keys;
        if (!words || (verb != "run" && verb != "answer") || keys < 1 || keys > EXI_WALK_KEYS_MAX) {
            std::cout << "no such question" << std::endl;
            continue;
        }
        std::unique_ptr<Work> &work = works[keys];
        if (!work)
            work = std::make_unique<Work>(keys);
        std::cout << (verb == "run" ? work->sample() : work->sum()) << std::endl;
    }
}
