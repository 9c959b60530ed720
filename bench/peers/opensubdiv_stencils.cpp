// Stencils as OpenSubdiv applies them: a grid of quads, from the cage to a level, four floats a vertex (its fastest
// path: three floats take the general one).
//
// Questions on standard input, one a line: "run catmull-clark SIZE LEVEL"; the answer is the nanoseconds of a run.
#include <opensubdiv/far/stencilTableFactory.h>
#include <opensubdiv/far/topologyDescriptor.h>
#include <opensubdiv/osd/bufferDescriptor.h>
#include <opensubdiv/osd/cpuEvaluator.h>

#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace OpenSubdiv;

double now_ns() {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(now).count();
}

struct Work {
    std::unique_ptr<const Far::StencilTable> table;
    std::vector<float> control, refined;
    int runs = 1;

    Work(int size, int level) {
        std::vector<int> counts(size_t(size) * size, 4), corners;
        for (int f = 0; f < size * size; f++) {
            int row = size + 1, first = f / size * row + f % size;
            for (int corner : {first, first + 1, first + row + 1, first + row})
                corners.push_back(corner);
        }
        Far::TopologyDescriptor mesh;
        mesh.numVertices = (size + 1) * (size + 1);
        mesh.numFaces = size * size;
        mesh.numVertsPerFace = counts.data();
        mesh.vertIndicesPerFace = corners.data();
        Sdc::Options rules;
        rules.SetVtxBoundaryInterpolation(Sdc::Options::VTX_BOUNDARY_EDGE_ONLY);
        using Factory = Far::TopologyRefinerFactory<Far::TopologyDescriptor>;
        std::unique_ptr<Far::TopologyRefiner> refiner(
            Factory::Create(mesh, Factory::Options(Sdc::SCHEME_CATMARK, rules)));
        refiner->RefineUniform(Far::TopologyRefiner::UniformOptions(level));
        Far::StencilTableFactory::Options options;
        options.generateIntermediateLevels = false;
        options.generateOffsets = true;
        table.reset(Far::StencilTableFactory::Create(*refiner, options));
        control.assign(4 * size_t(mesh.numVertices), 0.5f);
        refined.resize(4 * size_t(table->GetNumStencils()));
        double once = sample();
        runs = once < 2e6 ? int(2e6 / once) : 1;
    }

    void run() {
        Osd::BufferDescriptor four(0, 4, 4);
        Osd::CpuEvaluator::EvalStencils(control.data(), four, refined.data(), four, table->GetSizes().data(),
                                        table->GetOffsets().data(), table->GetControlIndices().data(),
                                        table->GetWeights().data(), 0, table->GetNumStencils());
    }

    double sample() {
        run();
        double start = now_ns();
        for (int i = 0; i < runs; i++)
            run();
        return (now_ns() - start) / runs;
    }
};

} // namespace

int main() {
    std::map<std::string, std::unique_ptr<Work>> works;
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string verb, what;
        int size = 0, level = 0;
        words >> verb >> what >> size >> level;
        if (!words || verb != "run" || what != "catmull-clark" || size < 1 || level < 1) {
            std::cout << "no such question" << std::endl;
            continue;
        }
        std::unique_ptr<Work> &work = works[line];
        if (!work)
            work = std::make_unique<Work>(size, level);
        std::cout << work->sample() << std::endl;
    }
}
