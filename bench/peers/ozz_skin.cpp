// Skinning as ozz-animation does it: its SkinningJob with four influences, positions and normals, buffers as its
// samples lay them out (weights of three joints, the fourth is the rest). Unlike ours, its normals do not become unit
// vectors.
//
// Questions on standard input, one a line: "run plain|inverse VERTICES" (the vertices of bench/skinned.h); the answer
// is the nanoseconds of a run. plain: the joints' matrices move normals too. inverse: the inverse transposes do, which
// are summed as well. "answer …" instead answers with the sum of the squares of all positions.
#include "../skinned.h"

#include <ozz/base/maths/simd_math.h>
#include <ozz/base/span.h>
#include <ozz/geometry/runtime/skinning_job.h>

#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

using ozz::math::Float4x4;

double now_ns() {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(now).count();
}

// scale, then turn, then move; or the inverse transpose of that, which does not move.
Float4x4 matrix_of(const exi_skinned_joint &joint, bool inverse) {
    const double x0 = double(joint.turn[0]), y0 = double(joint.turn[1]), z0 = double(joint.turn[2]);
    const double length = std::sqrt(x0 * x0 + y0 * y0 + z0 * z0 + 1);
    const double x = x0 / length, y = y0 / length, z = z0 / length, w = 1 / length;
    const double columns[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)},
                                  {2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)},
                                  {2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)}};
    Float4x4 matrix;
    for (int c = 0; c < 3; c++) {
        const double by = inverse ? 1 / double(joint.scale[c]) : double(joint.scale[c]);
        matrix.cols[c] = ozz::math::simd_float4::Load(float(by * columns[c][0]), float(by * columns[c][1]),
                                                      float(by * columns[c][2]), 0);
    }
    matrix.cols[3] = inverse ? ozz::math::simd_float4::Load(0, 0, 0, 1)
                             : ozz::math::simd_float4::Load(joint.move[0], joint.move[1], joint.move[2], 1);
    return matrix;
}

struct Work {
    Float4x4 matrices[EXI_SKINNED_JOINTS], inverses[EXI_SKINNED_JOINTS];
    std::vector<uint16_t> joints;
    std::vector<float> weights, in, out;
    ozz::geometry::SkinningJob job;
    int runs = 1;

    Work(bool inverse, int vertices) {
        const size_t count = size_t(vertices);
        exi_skinned_joint moves[EXI_SKINNED_JOINTS];
        exi_skinned_joints(false, moves);
        for (int j = 0; j < EXI_SKINNED_JOINTS; j++) {
            matrices[j] = matrix_of(moves[j], false);
            inverses[j] = matrix_of(moves[j], true);
        }
        std::vector<uint32_t> wide(4 * count);
        std::vector<float> all(4 * count);
        exi_skinned_influences(vertices, 4, wide.data(), all.data());
        joints.assign(wide.begin(), wide.end());
        weights.resize(3 * count + 1);
        for (size_t v = 0; v < count; v++) {
            const float sum = all[4 * v] + all[4 * v + 1] + all[4 * v + 2] + all[4 * v + 3];
            for (size_t k = 0; k < 3; k++)
                weights[3 * v + k] = all[4 * v + k] / sum;
        }
        in.resize(6 * count);
        out.resize(6 * count);
        exi_skinned_vertices(vertices, in.data());
        job.vertex_count = vertices;
        job.influences_count = 4;
        job.joint_matrices = ozz::span<const Float4x4>(matrices, size_t(EXI_SKINNED_JOINTS));
        if (inverse)
            job.joint_inverse_transpose_matrices = ozz::span<const Float4x4>(inverses, size_t(EXI_SKINNED_JOINTS));
        job.joint_indices = ozz::span<const uint16_t>(joints.data(), joints.size());
        job.joint_indices_stride = 4 * sizeof(uint16_t);
        job.joint_weights = ozz::span<const float>(weights.data(), weights.size());
        job.joint_weights_stride = 3 * sizeof(float);
        job.in_positions = ozz::span<const float>(in.data(), 3 * count);
        job.in_normals = ozz::span<const float>(in.data() + 3 * count, 3 * count);
        job.out_positions = ozz::span<float>(out.data(), 3 * count);
        job.out_normals = ozz::span<float>(out.data() + 3 * count, 3 * count);
        job.in_positions_stride = job.in_normals_stride = 3 * sizeof(float);
        job.out_positions_stride = job.out_normals_stride = 3 * sizeof(float);
        const double once = sample();
        runs = once > 0 && once < 2e6 ? int(2e6 / once) : 1;
    }

    double sample() {
        bool good = job.Run();
        const double start = now_ns();
        for (int i = 0; i < runs; i++)
            good &= job.Run();
        return good ? (now_ns() - start) / runs : 0;
    }

    double sum() const {
        double all = 0;
        for (size_t i = 0; i < out.size() / 2; i++)
            all += double(out[i]) * double(out[i]);
        return all;
    }
};

} // namespace

int main() {
    std::map<std::string, std::unique_ptr<Work>> works;
    std::string line;
    std::cout << std::setprecision(12);
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string verb, what;
        int vertices = 0;
        words >> verb >> what >> vertices;
        if (!words || (verb != "run" && verb != "answer") || (what != "plain" && what != "inverse") || vertices < 1) {
            std::cout << "no such question" << std::endl;
            continue;
        }
        std::unique_ptr<Work> &work = works[what + ' ' + std::to_string(vertices)];
        if (!work)
            work = std::make_unique<Work>(what == "inverse", vertices);
        const double ns = work->sample();
        std::cout << (verb == "run" ? ns : work->sum()) << std::endl;
    }
}
