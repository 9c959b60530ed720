// The marker fit by Ceres: the problem of bench/marked.h as least squares, one residual of three numbers a sighting,
// analytic derivatives, poses as one parameter block each (eliminated first), bones and axes as one, markers as one
// each. Frames are made once per scan and evaluation, not once per sighting. One thread.
//
// Questions on standard input, one a line: "run SOLVER SCANS ARM TORSO" with SOLVER dense_schur or sparse_schur; the
// answer is the nanoseconds of a solve. "answer …" instead answers with the sum of squares reached, in square metres;
// "steps …" with the iterations.
#include "../marked.h"

#include <ceres/ceres.h>

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Vec = Eigen::Vector3d;
using Mat = Eigen::Matrix3d;

double now_ns() {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(now).count();
}

// A pose: the base's place, then a quaternion for every ball and an angle for every hinge that the scan leaves free.
struct Layout {
    int at[MARKED_JOINTS];    // in the block, or -1
    int local[MARKED_JOINTS]; // in the tangent
    int size = 3, tangent = 3;

    Layout(const marked_body &b, int scan) {
        for (int j = 0; j < MARKED_JOINTS; j++) {
            const bool hinge = marked_freedoms[j] == 1;
            at[j] = local[j] = -1;
            if (b.locked[scan][j] || scan == 0)
                continue;
            at[j] = size;
            local[j] = tangent;
            size += hinge ? 1 : 4;
            tangent += hinge ? 1 : 3;
        }
    }
};

// q' = turn(w) q: four times three.
Eigen::Matrix<double, 4, 3, Eigen::RowMajor> plus_jacobian(const double *q) {
    Eigen::Matrix<double, 4, 3, Eigen::RowMajor> p;
    p << q[3], q[2], -q[1], -q[2], q[3], q[0], q[1], -q[0], q[3], -q[0], -q[1], -q[2];
    return 0.5 * p;
}

void across(const double a[3], Vec b[2]) {
    const Vec v(a[0], a[1], a[2]);
    int least = 0;
    for (int i = 1; i < 3; i++)
        if (std::abs(v[i]) < std::abs(v[least]))
            least = i;
    b[0] = v.cross(Vec::Unit(least)).normalized();
    b[1] = v.cross(b[0]);
}

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct PoseManifold : ceres::Manifold {
    Layout layout;
    explicit PoseManifold(const Layout &layout) : layout(layout) {}
    int AmbientSize() const override { return layout.size; }
    int TangentSize() const override { return layout.tangent; }
    bool Plus(const double *x, const double *d, double *y) const override {
        for (int i = 0; i < 3; i++)
            y[i] = x[i] + d[i];
        for (int j = 0; j < MARKED_JOINTS; j++) {
            if (layout.at[j] < 0)
                continue;
            if (marked_freedoms[j] == 1) {
                y[layout.at[j]] = x[layout.at[j]] + d[layout.local[j]];
                continue;
            }
            double q[4];
            marked_turn(d + layout.local[j], q);
            marked_multiply(q, x + layout.at[j], y + layout.at[j]);
        }
        return true;
    }
    bool PlusJacobian(const double *x, double *jacobian) const override {
        Eigen::Map<RowMatrix> m(jacobian, layout.size, layout.tangent);
        m.setZero();
        m.topLeftCorner<3, 3>().setIdentity();
        for (int j = 0; j < MARKED_JOINTS; j++) {
            if (layout.at[j] < 0)
                continue;
            if (marked_freedoms[j] == 1)
                m(layout.at[j], layout.local[j]) = 1;
            else
                m.block<4, 3>(layout.at[j], layout.local[j]) = plus_jacobian(x + layout.at[j]);
        }
        return true;
    }
    bool Minus(const double *, const double *, double *) const override { return false; }
    bool MinusJacobian(const double *, double *) const override { return false; }
};

// Translations of all joints but the base, then three axes.
enum { BONES = 3 * (MARKED_JOINTS - 1), HINGES = 3, KIN = BONES + 3 * HINGES, KIN_TANGENT = BONES + 2 * HINGES };

struct KinManifold : ceres::Manifold {
    int AmbientSize() const override { return KIN; }
    int TangentSize() const override { return KIN_TANGENT; }
    bool Plus(const double *x, const double *d, double *y) const override {
        for (int i = 0; i < BONES; i++)
            y[i] = x[i] + d[i];
        for (int h = 0; h < HINGES; h++) {
            Vec b[2];
            const double *a = x + BONES + 3 * h;
            across(a, b);
            Eigen::Map<Vec>(y + BONES + 3 * h) =
                (Vec(a[0], a[1], a[2]) + d[BONES + 2 * h] * b[0] + d[BONES + 2 * h + 1] * b[1]).normalized();
        }
        return true;
    }
    bool PlusJacobian(const double *x, double *jacobian) const override {
        Eigen::Map<RowMatrix> m(jacobian, KIN, KIN_TANGENT);
        m.setZero();
        m.topLeftCorner<BONES, BONES>().setIdentity();
        for (int h = 0; h < HINGES; h++) {
            Vec b[2];
            across(x + BONES + 3 * h, b);
            for (int k = 0; k < 2; k++)
                m.block<3, 1>(BONES + 3 * h, BONES + 2 * h + k) = b[k];
        }
        return true;
    }
    bool Minus(const double *, const double *, double *) const override { return false; }
    bool MinusJacobian(const double *, double *) const override { return false; }
};

struct Frames {
    Mat rotations[MARKED_JOINTS];
    Vec places[MARKED_JOINTS], turning[MARKED_JOINTS], tilting[MARKED_JOINTS][3];
};

Mat matrix_of(const double q[4]) {
    return Eigen::Quaterniond(q[3], q[0], q[1], q[2]).toRotationMatrix();
}

struct Work : ceres::EvaluationCallback {
    marked_body body;
    marked_options options;
    std::vector<Layout> layouts;
    std::vector<std::vector<double>> poses, starts;
    std::vector<std::array<double, 3>> sites, site_starts;
    double kin[KIN], kin_start[KIN];
    std::vector<Frames> frames;
    double cost = 0, steps = 0;
    ceres::LinearSolverType solver;

    Work(ceres::LinearSolverType solver, int scans, int arm, int torso) : solver(solver) {
        options = marked_bench(scans, arm, torso);
        marked_make(&body, &options);
        marked_begin(&body);
        for (int i = 0; i < body.scan_count; i++) {
            layouts.emplace_back(body, i);
            std::vector<double> x(size_t(layouts[size_t(i)].size));
            std::copy(body.begin_bases[i], body.begin_bases[i] + 3, x.begin());
            for (int j = 0; j < MARKED_JOINTS; j++) {
                const int at = layouts[size_t(i)].at[j];
                if (at >= 0 && marked_freedoms[j] == 1)
                    x[size_t(at)] = body.begin_angles[i][j];
                else if (at >= 0)
                    std::copy(body.begin_turns[i][j], body.begin_turns[i][j] + 4, x.begin() + at);
            }
            starts.push_back(x);
        }
        for (int j = 1; j < MARKED_JOINTS; j++)
            std::copy(body.begins[j], body.begins[j] + 3, kin_start + 3 * (j - 1));
        for (int h = 0; h < HINGES; h++)
            std::copy(body.begin_axes[5 + h], body.begin_axes[5 + h] + 3, kin_start + BONES + 3 * h);
        for (int s = 0; s < body.site_count; s++)
            site_starts.push_back({body.begin_locals[s][0], body.begin_locals[s][1], body.begin_locals[s][2]});
        frames.resize(size_t(body.scan_count));
    }

    void frame(int i) {
        Frames &f = frames[size_t(i)];
        const double *x = poses[size_t(i)].data();
        const Layout &layout = layouts[size_t(i)];
        for (int j = 0; j < MARKED_JOINTS; j++) {
            const Mat above = j == 0 ? Mat(Mat::Identity()) : f.rotations[j - 1];
            Mat own = Mat::Identity();
            if (marked_freedoms[j] == 1) {
                const Vec a(kin + BONES + 3 * (j - 5));
                const double angle = layout.at[j] >= 0 ? x[layout.at[j]] : 0, s = std::sin(angle), c = std::cos(angle);
                own = Eigen::AngleAxisd(angle, a).toRotationMatrix();
                f.turning[j] = above * a;
                Vec b[2];
                across(a.data(), b);
                for (int k = 0; k < 2; k++)
                    f.tilting[j][k] = above * (s * b[k] + (1 - c) * a.cross(b[k]));
                Vec w[3]; // as the three numbers of the axis: through the basis
                for (int k = 0; k < 3; k++)
                    w[k] = f.tilting[j][0] * b[0][k] + f.tilting[j][1] * b[1][k];
                for (int k = 0; k < 3; k++)
                    f.tilting[j][k] = w[k];
            } else if (layout.at[j] >= 0) {
                own = matrix_of(x + layout.at[j]);
            }
            f.rotations[j] = above * own;
            f.places[j] = j == 0 ? Vec(x[0], x[1], x[2]) : Vec(f.places[j - 1] + above * Vec(kin + 3 * (j - 1)));
        }
    }

    void PrepareForEvaluation(bool, bool new_point) override {
        for (int i = 0; new_point && i < body.scan_count; i++)
            frame(i);
    }

    void solve();
};

struct Sighting : ceres::CostFunction {
    const Work &work;
    int scan, site;

    Sighting(const Work &work, int scan, int site) : work(work), scan(scan), site(site) {
        set_num_residuals(3);
        *mutable_parameter_block_sizes() = {work.layouts[size_t(scan)].size, KIN, 3};
    }

    bool Evaluate(double const *const *x, double *residuals, double **jacobians) const override {
        const Frames &f = work.frames[size_t(scan)];
        const Layout &layout = work.layouts[size_t(scan)];
        const int joint = work.body.joints[site];
        const Vec at = f.places[joint] + f.rotations[joint] * Vec(x[2]);
        Eigen::Map<Vec> off(residuals);
        off = at - Vec(work.body.seen[scan][site]);
        if (!jacobians)
            return true;
        if (jacobians[0]) {
            Eigen::Map<RowMatrix> m(jacobians[0], 3, layout.size);
            m.setZero();
            m.leftCols<3>().setIdentity();
            for (int j = joint; j >= 0; j--) {
                if (layout.at[j] < 0)
                    continue;
                const Vec arm = at - f.places[j];
                if (marked_freedoms[j] == 1) {
                    m.col(layout.at[j]) = f.turning[j].cross(arm);
                    continue;
                }
                Mat d;
                for (int k = 0; k < 3; k++)
                    d.col(k) = (j == 0 ? Vec(Vec::Unit(k)) : Vec(f.rotations[j - 1].col(k))).cross(arm);
                m.middleCols<4>(layout.at[j]) = 4 * d * plus_jacobian(x[0] + layout.at[j]).transpose();
            }
        }
        if (jacobians[1]) {
            Eigen::Map<RowMatrix> m(jacobians[1], 3, KIN);
            m.setZero();
            for (int j = joint; j > 0; j--) {
                m.middleCols<3>(3 * (j - 1)) = f.rotations[j - 1];
                for (int k = 0; marked_freedoms[j] == 1 && k < 3; k++)
                    m.col(BONES + 3 * (j - 5) + k) = f.tilting[j][k].cross(at - f.places[j]);
            }
        }
        if (jacobians[2]) {
            Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> m(jacobians[2]);
            m = f.rotations[joint];
        }
        return true;
    }
};

void Work::solve() {
    poses = starts;
    sites = site_starts;
    std::copy(kin_start, kin_start + KIN, kin);
    ceres::Problem::Options problem_options;
    problem_options.evaluation_callback = this;
    ceres::Problem problem(problem_options);
    ceres::Solver::Options o;
    o.linear_solver_type = solver;
    o.num_threads = 1;
    o.max_num_iterations = 100;
    o.logging_type = ceres::SILENT;
    o.linear_solver_ordering = std::make_shared<ceres::ParameterBlockOrdering>();
    for (int i = 0; i < body.scan_count; i++) {
        problem.AddParameterBlock(poses[size_t(i)].data(), layouts[size_t(i)].size,
                                  new PoseManifold(layouts[size_t(i)]));
        o.linear_solver_ordering->AddElementToGroup(poses[size_t(i)].data(), 0);
    }
    problem.SetParameterBlockConstant(poses[0].data());
    problem.AddParameterBlock(kin, KIN, new KinManifold);
    o.linear_solver_ordering->AddElementToGroup(kin, 1);
    for (int s = 0; s < body.site_count; s++) {
        problem.AddParameterBlock(sites[size_t(s)].data(), 3);
        o.linear_solver_ordering->AddElementToGroup(sites[size_t(s)].data(), 1);
    }
    for (int i = 0; i < body.scan_count; i++)
        for (int s = 0; s < body.site_count; s++)
            if (body.visible[i][s])
                problem.AddResidualBlock(new Sighting(*this, i, s), nullptr, poses[size_t(i)].data(), kin,
                                         sites[size_t(s)].data());
    ceres::Solver::Summary summary;
    ceres::Solve(o, &problem, &summary);
    cost = 2 * summary.final_cost;
    steps = double(summary.iterations.size());
}

} // namespace

int main(int, char **argv) {
    google::InitGoogleLogging(argv[0]);
    std::map<std::string, std::unique_ptr<Work>> works;
    std::string line;
    std::cout << std::setprecision(12);
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string verb, solver;
        int scans = 0, arm = 0, torso = 0;
        words >> verb >> solver >> scans >> arm >> torso;
        const bool known = solver == "dense_schur" || solver == "sparse_schur";
        if (!words || (verb != "run" && verb != "answer" && verb != "steps") || !known || scans < 2 || arm < 1) {
            std::cout << "no such question" << std::endl;
            continue;
        }
        std::unique_ptr<Work> &work = works[line.substr(line.find(' '))];
        if (!work)
            work = std::make_unique<Work>(solver == "dense_schur" ? ceres::DENSE_SCHUR : ceres::SPARSE_SCHUR, scans,
                                          arm, torso);
        const double start = now_ns();
        work->solve();
        const double ns = now_ns() - start;
        std::cout << (verb == "run" ? ns : verb == "steps" ? work->steps : work->cost) << std::endl;
    }
}
