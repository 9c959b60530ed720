/* Distances between the keys of a driven rig, in the moving frame of the whole, as learning measures them. */
#include "author/drive/learn/references.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>

ex_result ex_key_distances(const ex_drive_def *def, ex_key_distance *distances, ex_error *error) {
    const int n = def->driver->vertex_count, keys = def->key_count;
    const size_t size = 3 * (size_t)n;
    float *homes = exi_array_allocate((size_t)keys + 1, size * sizeof *homes);
    exi_whole whole = {.driver = NULL};
    ex_result result = homes ? exi_whole_open(&whole, def->driver, &def->options, error)
                             : ex_error_memory(error, "the keys", (size_t)keys * size * sizeof *homes);
    if (result == EX_OK) {
        float *mesh = homes + (size_t)keys * size;
        for (size_t i = 0; i < size; i++)
            mesh[i] = (float)def->driver->positions[i];
        for (int k = 0; k < keys; k++) {
            float matrix[12];
            ex_driver_place(whole.driver, def->keys[k].driver, matrix);
            exi_whole_back(matrix, def->keys[k].driver, n, homes + (size_t)k * size);
        }
        for (int k = 0; k < keys; k++) {
            ex_key_distance *d = &distances[k];
            *d = (ex_key_distance){.nearest = -1, .distance = INFINITY};
            d->from_mesh = sqrt(exi_form_squares(homes + (size_t)k * size, mesh, whole.weights, n));
            for (int j = 0; j < keys; j++) {
                if (j == k || def->keys[j].database != def->keys[k].database)
                    continue;
                const double other =
                    sqrt(exi_form_squares(homes + (size_t)k * size, homes + (size_t)j * size, whole.weights, n));
                if (other < d->distance) {
                    d->distance = other;
                    d->nearest = j;
                }
            }
        }
    }
    exi_whole_close(&whole);
    free(homes);
    return result;
}
