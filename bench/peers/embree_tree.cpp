// Closest points and rays as Embree 3 finds them: one question at a time, its default scene. It brings the search
// through the tree for closest points; the closest point of a triangle is the caller's to compute, here after C.
// Ericson, "Real-time collision detection" (2005), by regions.
//
// Questions on standard input, one a line: "run closest|ray|blocked|refit SIZE COUNT" (the ball of bench/ball.h); the
// answer is the nanoseconds of a run. "answer …" instead answers with the sum of the distances found, or of the hits.
#include "../ball.h"

#include <embree3/rtcore.h>

#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <limits>
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

struct Vec {
    float x, y, z;
};
Vec operator-(Vec a, Vec b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
Vec operator+(Vec a, Vec b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
Vec operator*(float s, Vec a) {
    return {s * a.x, s * a.y, s * a.z};
}
float dot(Vec a, Vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

Vec closest_on_triangle(Vec p, Vec a, Vec b, Vec c) {
    const Vec ab = b - a, ac = c - a, ap = p - a;
    const float d1 = dot(ab, ap), d2 = dot(ac, ap);
    if (d1 <= 0 && d2 <= 0)
        return a;
    const Vec bp = p - b;
    const float d3 = dot(ab, bp), d4 = dot(ac, bp);
    if (d3 >= 0 && d4 <= d3)
        return b;
    const Vec cp = p - c;
    const float d5 = dot(ab, cp), d6 = dot(ac, cp);
    if (d6 >= 0 && d5 <= d6)
        return c;
    const float vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0)
        return a + d1 / (d1 - d3) * ab;
    const float vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0)
        return a + d2 / (d2 - d6) * ac;
    const float va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
        return b + (d4 - d3) / ((d4 - d3) + (d5 - d6)) * (c - b);
    const float inverse = 1 / (va + vb + vc);
    return a + vb * inverse * ab + vc * inverse * ac;
}

struct Work {
    RTCDevice device = rtcNewDevice("threads=1,set_affinity=0");
    RTCScene scene = rtcNewScene(device);
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *positions;
    uint32_t *triangles;
    std::string what;
    int size, count;
    std::vector<float> points;
    std::vector<RTCRay> rays;
    double sum = 0;
    float turn = 1;
    int runs = 1;

    Work(const std::string &what, int size, int count) : what(what), size(size), count(count) {
        if (what == "refit") {
            rtcSetSceneFlags(scene, RTC_SCENE_FLAG_DYNAMIC);
            rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_LOW);
            rtcSetGeometryBuildQuality(geometry, RTC_BUILD_QUALITY_REFIT);
        }
        positions = static_cast<float *>(rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                                                 12, size_t(exi_ball_vertex_count(size))));
        triangles = static_cast<uint32_t *>(rtcSetNewGeometryBuffer(
            geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, size_t(exi_ball_triangle_count(size))));
        exi_ball_vertices(size, positions);
        exi_ball_triangles(size, triangles);
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(scene, geometry);
        rtcCommitScene(scene);
        unsigned seed = 1;
        if (what == "closest") {
            points.resize(3 * size_t(count));
            for (int i = 0; i < count; i++)
                exi_ball_point(positions, triangles, exi_ball_triangle_count(size), &seed, &points[3 * size_t(i)]);
        } else if (what != "refit") {
            rays.resize(size_t(count));
            for (int i = 0; i < count; i++) {
                float origin[3], direction[3];
                exi_ball_ray(int(std::sqrt(double(count)) + 0.5), i, origin, direction);
                rays[size_t(i)] = RTCRay{};
                rays[size_t(i)].org_x = origin[0];
                rays[size_t(i)].org_y = origin[1];
                rays[size_t(i)].org_z = origin[2];
                rays[size_t(i)].dir_x = direction[0];
                rays[size_t(i)].dir_y = direction[1];
                rays[size_t(i)].dir_z = direction[2];
                rays[size_t(i)].tfar = std::numeric_limits<float>::infinity();
                rays[size_t(i)].mask = ~0u;
            }
        }
        double once = sample();
        runs = once < 2e6 ? int(2e6 / once) : 1;
    }
    ~Work() {
        rtcReleaseGeometry(geometry);
        rtcReleaseScene(scene);
        rtcReleaseDevice(device);
    }
    Work(const Work &) = delete;
    Work &operator=(const Work &) = delete;

    static bool visit(RTCPointQueryFunctionArguments *args) {
        Work *work = static_cast<Work *>(args->userPtr);
        const auto corner = [&](int i) {
            const float *p = work->positions + 3 * size_t(work->triangles[3 * size_t(args->primID) + size_t(i)]);
            return Vec{p[0], p[1], p[2]};
        };
        const Vec p = {args->query->x, args->query->y, args->query->z};
        const Vec away = closest_on_triangle(p, corner(0), corner(1), corner(2)) - p;
        const float distance = std::sqrt(dot(away, away));
        if (distance >= args->query->radius)
            return false;
        args->query->radius = distance;
        return true;
    }

    void run() {
        sum = 0;
        if (what == "refit") {
            turn = -turn;
            for (int i = 0; i < exi_ball_vertex_count(size); i += 997)
                positions[3 * i] += turn * 1e-3f;
            rtcUpdateGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0);
            rtcCommitGeometry(geometry);
            rtcCommitScene(scene);
        } else if (what == "closest") {
            for (int i = 0; i < count; i++) {
                RTCPointQueryContext context;
                rtcInitPointQueryContext(&context);
                const float *p = &points[3 * size_t(i)];
                RTCPointQuery query = {p[0], p[1], p[2], 0, std::numeric_limits<float>::infinity()};
                rtcPointQuery(scene, &query, &context, visit, this);
                sum += double(query.radius) * double(query.radius);
            }
        } else {
            RTCIntersectContext context;
            rtcInitIntersectContext(&context);
            for (const RTCRay &ray : rays) {
                if (what == "ray") {
                    RTCRayHit hit;
                    hit.ray = ray;
                    hit.hit.geomID = RTC_INVALID_GEOMETRY_ID;
                    hit.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
                    rtcIntersect1(scene, &context, &hit);
                    sum += hit.hit.geomID == RTC_INVALID_GEOMETRY_ID ? 0 : double(hit.ray.tfar);
                } else {
                    RTCRay shadow = ray;
                    rtcOccluded1(scene, &context, &shadow);
                    sum += shadow.tfar < 0;
                }
            }
        }
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
    std::cout << std::setprecision(12);
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string verb, what;
        int size = 0, count = 0;
        words >> verb >> what >> size >> count;
        const bool known = what == "closest" || what == "ray" || what == "blocked" || what == "refit";
        if (!words || (verb != "run" && verb != "answer") || !known || size < 1 || count < 1) {
            std::cout << "no such question" << std::endl;
            continue;
        }
        std::unique_ptr<Work> &work = works[what + ' ' + std::to_string(size) + ' ' + std::to_string(count)];
        if (!work)
            work = std::make_unique<Work>(what, size, count);
        const double ns = work->sample();
        std::cout << (verb == "run" ? ns : work->sum) << std::endl;
    }
}
