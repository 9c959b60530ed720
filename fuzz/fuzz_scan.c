/*
 * Fuzzes the files of a scan session (clang -fsanitize=fuzzer,address,undefined). The first byte chooses the kind:
 *
 *   s  scan.json                     m  its table of markers            k  a skeleton
 *   f  found/NAME.csv                l  labels/NAME.csv                 j  fit.json
 *   p  a table of poses to scan      c  a table of markers to paint
 *
 * Any bytes after it are such a file or an error with a sentence. Files that are read can be written and read again.
 */
#include <exemplar/author.h>

#include "fuzz/rig.h"
#include "fuzz/scratch.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char plain_session[] =
    "{\"exemplar_scan\": 1, \"skeleton\": \"upper\", \"markers\": \"markers.csv\", \"reference\": \"a\", \"parts\": "
    "[{\"name\": \"arm\", \"joints\": [\"elbow.L\"], \"covers\": [\"shoulder.L\"]}], \"scans\": [{\"name\": \"a\", "
    "\"part\": \"arm\", \"files\": [\"a.ply\"]}]}";
static const char plain_markers[] = "marker,joint,r,g,b\nm1,elbow.L,255,0,0\nm2,shoulder.L,0,255,0\n";

/* Every refusal has a sentence. */
static bool came_through(ex_result result, const ex_error *error) {
    if (result != EX_OK && error->text[0] == 0)
        abort();
    return result == EX_OK;
}

static void must(ex_result result, const ex_error *error) {
    if (result != EX_OK) {
        puts(error->text);
        abort();
    }
}

static void fuzz_session(const uint8_t *data, size_t size, bool markers) {
    const scratch_path folder = scratch_name("session"), session_file = scratch_name("session/scan.json"),
                       marker_file = scratch_name("session/markers.csv");
    ex_scan_session *session = NULL, *again = NULL;
    ex_error error = {0};
    mkdir(folder.text, 0777);
    scratch_write(session_file.text, markers ? plain_session : (const char *)data,
                  markers ? sizeof plain_session - 1 : size);
    scratch_write(marker_file.text, markers ? (const char *)data : plain_markers,
                  markers ? size : sizeof plain_markers - 1);
    if (came_through(ex_scan_session_read(folder.text, &session, &error), &error)) {
        must(ex_scan_session_write(session, &error), &error);
        must(ex_scan_session_read(folder.text, &again, &error), &error);
        if (again->scan_count != session->scan_count ||
            again->kinematics->site_count != session->kinematics->site_count)
            abort();
    }
    ex_scan_session_destroy(again);
    ex_scan_session_destroy(session);
    remove(session_file.text);
    remove(marker_file.text);
    remove(folder.text);
}

static void fuzz_kinematics(const uint8_t *data, size_t size, const char *path) {
    ex_kinematics *kinematics = NULL, *again = NULL;
    ex_error error = {0};
    if (came_through(ex_kinematics_parse((const char *)data, size, "fuzz.json", &kinematics, &error), &error)) {
        must(ex_kinematics_write(path, kinematics, &error), &error);
        must(ex_kinematics_read(path, &again, &error), &error);
        if (again->joint_count != kinematics->joint_count || again->site_count != kinematics->site_count)
            abort();
    }
    ex_kinematics_destroy(again);
    ex_kinematics_destroy(kinematics);
}

static void fuzz_found(const char *path) {
    ex_found_marker *found = NULL, *again = NULL;
    int count = 0, again_count = 0;
    ex_error error = {0};
    if (came_through(ex_found_read(path, &found, &count, &error), &error)) {
        must(ex_found_write(path, found, count, &error), &error);
        must(ex_found_read(path, &again, &again_count, &error), &error);
        if (again_count != count)
            abort();
    }
    free(found);
    free(again);
}

static void fuzz_labels(const char *path) {
    ex_labelled *labels = NULL, *again = NULL;
    int count = 0, again_count = 0;
    ex_error error = {0};
    if (came_through(ex_labels_read(path, &labels, &count, &error), &error)) {
        must(ex_labels_write(path, labels, count, &error), &error);
        must(ex_labels_read(path, &again, &again_count, &error), &error);
        if (again_count != count)
            abort();
    }
    ex_labels_free(again, again_count);
    ex_labels_free(labels, count);
}

static void fuzz_fit(const char *path) {
    ex_scan_fitted *fitted = NULL, *again = NULL;
    ex_error error = {0};
    if (came_through(ex_scan_fitted_read(path, &fitted, &error), &error)) {
        must(ex_scan_fitted_write(path, fitted, &error), &error);
        must(ex_scan_fitted_read(path, &again, &error), &error);
        if (again->scan_count != fitted->scan_count)
            abort();
    }
    ex_scan_fitted_destroy(again);
    ex_scan_fitted_destroy(fitted);
}

static void fuzz_poses(const char *path) {
    ex_scan_poses poses = {0};
    ex_error error = {0};
    if (came_through(ex_scan_poses_read(path, the_rig(), &poses, &error), &error)) {
        for (int p = 0; p < poses.table.pose_count; p++)
            if (!poses.names[p][0] || strchr(poses.names[p], '/') || !poses.parts[p])
                abort();
        ex_scan_poses_free(&poses);
    }
}

static void fuzz_paints(const char *path) {
    ex_paint *paints = NULL;
    int count = 0;
    ex_error error = {0};
    if (came_through(ex_paints_read(path, the_rig(), 0, &paints, &count, &error), &error))
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 3; k++)
                if (!(paints[i].place[k] >= -1e-6 && paints[i].place[k] <= 1 + 1e-6))
                    abort();
    ex_paints_free(paints, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || size > 50000)
        return 0;
    const char kind = (char)*data++;
    size--;
    const scratch_path path = scratch_name("scan");
    scratch_write(path.text, data, size);
    if (kind == 's' || kind == 'm')
        fuzz_session(data, size, kind == 'm');
    else if (kind == 'k')
        fuzz_kinematics(data, size, path.text);
    else if (kind == 'f')
        fuzz_found(path.text);
    else if (kind == 'l')
        fuzz_labels(path.text);
    else if (kind == 'j')
        fuzz_fit(path.text);
    else if (kind == 'p')
        fuzz_poses(path.text);
    else if (kind == 'c')
        fuzz_paints(path.text);
    remove(path.text);
    return 0;
}
