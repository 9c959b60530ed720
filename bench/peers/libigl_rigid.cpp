// A step towards the as-rigid-as-possible form as libigl takes it: arap_solve with one iteration, its default energy
// for surfaces (spokes and rims), one rotation a vertex and one solve with three right-hand sides. The first and the
// last ring of the tube are held. Everything that does not change between steps is prepared before.
//
// Questions on standard input, one a line: "run rigid AROUND ALONG" (the tube of bench/tube.h); the answer is the
// nanoseconds of a step.
#include "../tube.h"

#include <igl/arap.h>

#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

double now_ns() {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(now).count();
}

struct Work {
    Eigen::MatrixXd form, held;
    igl::ARAPData data;
    bool good = false;
    int runs = 1;

    Work(int around, int along) {
        const int vertices = around * along, triangles = 2 * around * (along - 1);
        std::vector<double> start(3 * size_t(vertices)), end(start.size());
        std::vector<int> corners(3 * size_t(triangles));
        exi_tube_forms(around, along, start.data(), end.data());
        exi_tube_triangles(around, along, corners.data());
        using Rows = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
        using Faces = Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor>;
        const Eigen::MatrixXd rest = Eigen::Map<Rows>(start.data(), vertices, 3);
        const Eigen::MatrixXi faces = Eigen::Map<Faces>(corners.data(), triangles, 3);
        form = Eigen::Map<Rows>(end.data(), vertices, 3);
        Eigen::VectorXi which(2 * around);
        held.resize(2 * around, 3);
        for (int i = 0; i < 2 * around; i++) {
            which[i] = i < around ? i : vertices - 2 * around + i;
            held.row(i) = form.row(which[i]);
        }
        form = 0.5 * (form + rest); // far from rest, so that every rotation is one
        data.max_iter = 1;
        good = igl::arap_precomputation(rest, faces, 3, which, data);
        const double once = sample();
        runs = once > 0 && once < 2e6 ? int(2e6 / once) : 1;
    }

    double sample() {
        good = good && igl::arap_solve(held, data, form);
        const double start = now_ns();
        for (int i = 0; i < runs; i++)
            good = good && igl::arap_solve(held, data, form);
        return good ? (now_ns() - start) / runs : 0;
    }
};

} // namespace

int main() {
    std::map<std::string, std::unique_ptr<Work>> works;
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string verb, what;
        int around = 0, along = 0;
        words >> verb >> what >> around >> along;
        if (!words || verb != "run" || what != "rigid" || around < 3 || along < 3) {
            std::cout << "no such question" << std::endl;
            continue;
        }
        std::unique_ptr<Work> &work = works[line];
        if (!work)
            work = std::make_unique<Work>(around, along);
        std::cout << work->sample() << std::endl;
    }
}
