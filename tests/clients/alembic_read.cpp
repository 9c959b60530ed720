// Prints the one mesh of an Alembic file as the Alembic library reads it: its faces, and the time and positions of
// every frame. Numbers of floats have 9 digits, which is enough to get the same float back.
#include <Alembic/AbcCoreOgawa/All.h>
#include <Alembic/AbcGeom/All.h>

#include <cstdio>
#include <exception>

using namespace Alembic::AbcGeom;

static int print(const IPolyMeshSchema &mesh) {
    Int32ArraySamplePtr counts, corners;
    mesh.getFaceCountsProperty().get(counts);
    mesh.getFaceIndicesProperty().get(corners);
    size_t at = 0;
    for (size_t f = 0; f < counts->size(); f++) {
        std::printf("f");
        for (int c = 0; c < (*counts)[f]; c++)
            std::printf(" %d", (*corners)[at++]);
        std::printf("\n");
    }
    for (size_t k = 0; k < mesh.getNumSamples(); k++) {
        IPolyMeshSchema::Sample sample;
        mesh.get(sample, ISampleSelector(static_cast<index_t>(k)));
        std::printf("t %.17g", mesh.getTimeSampling()->getSampleTime(static_cast<index_t>(k)));
        for (size_t i = 0; i < sample.getPositions()->size(); i++) {
            const Imath::V3f &p = (*sample.getPositions())[i];
            std::printf(" %.9g %.9g %.9g", p.x, p.y, p.z);
        }
        std::printf("\n");
    }
    return mesh.getTopologyVariance() == kHeterogenousTopology;
}

int main(int count, char **words) {
    try {
        IArchive archive(Alembic::AbcCoreOgawa::ReadArchive(), count > 1 ? words[1] : "");
        IObject place = archive.getTop().getChild(0);
        return print(IPolyMesh(place, place.getChildHeader(0).getName()).getSchema());
    } catch (const std::exception &wrong) {
        std::fprintf(stderr, "%s\n", wrong.what());
        return 1;
    }
}
