/*
 * Reads the table of markers: marker,joint[,r,g,b][,x,y,z].
 */
#include "author/base/array.h"
#include "author/scan/session/session.h"
#include "author/scan/session/table.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

static ex_result read_site(const exi_table *table, int row, const ex_kinematics *kinematics, ex_site *site,
                           ex_error *error) {
    static const char *const colours[3] = {"r", "g", "b"}, *const places[3] = {"x", "y", "z"};
    const char *name = exi_table_text(table, row, exi_table_column(table, "marker"));
    const char *joint = exi_table_text(table, row, exi_table_column(table, "joint"));
    const int old = ex_kinematics_find_site(kinematics, name);
    double colour[3] = {0};
    ex_result result = exi_table_triple(table, row, colours, false, colour, error);
    if (result != EX_OK)
        return result;
    if (!name[0])
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: this marker has no name", table->path, table->lines[row]);
    site->joint = ex_kinematics_find_joint(kinematics, joint);
    if (site->joint < 0)
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: the skeleton has no joint '%s'", table->path,
                            table->lines[row], joint);
    for (int i = 0; i < 3; i++) {
        if (!(colour[i] >= 0 && colour[i] <= 255))
            return ex_error_set(error, EX_ERROR_DATA, "%s:%d: a colour must be from 0 to 255", table->path,
                                table->lines[row]);
        site->colour[i] = (unsigned char)(colour[i] + 0.5);
    }
    if (old >= 0 && kinematics->sites[old].joint == site->joint && kinematics->sites[old].placed) {
        site->placed = true;
        memcpy(site->local, kinematics->sites[old].local, sizeof site->local);
    }
    bool told = false;
    for (int i = 0; i < 3; i++)
        told = told || exi_table_text(table, row, exi_table_column(table, places[i]))[0];
    if (told) {
        site->placed = true;
        result = exi_table_triple(table, row, places, true, site->local, error);
    }
    site->name = exi_text_copy(name, strlen(name));
    return result == EX_OK && !site->name ? ex_error_memory(error, "the markers", strlen(name)) : result;
}

static void free_sites(ex_site *sites, int count) {
    for (int i = 0; sites && i < count; i++)
        free(sites[i].name);
    free(sites);
}

static int order_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Checks that marker names are unique. */
static ex_result check_names(const exi_table *table, const ex_site *sites, ex_error *error) {
    const char **names = exi_array_allocate((size_t)table->row_count, sizeof *names);
    ex_result result = EX_OK;
    if (!names)
        return ex_error_memory(error, "the markers", (size_t)table->row_count * sizeof *names);
    for (int i = 0; i < table->row_count; i++)
        names[i] = sites[i].name;
    qsort((void *)names, (size_t)table->row_count, sizeof *names, order_names);
    for (int i = 1; i < table->row_count && result == EX_OK; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            result = ex_error_set(error, EX_ERROR_DATA, "%s: marker '%s' appears twice", table->path, names[i]);
    }
    free((void *)names);
    return result;
}

ex_result exi_scan_read_sites(const char *path, ex_kinematics *kinematics, ex_error *error) {
    static const char *const columns[] = {"marker", "joint", "r", "g", "b", "x", "y", "z", NULL};
    exi_table table;
    ex_result result = exi_table_read(path, columns, 2, &table, error);
    if (result != EX_OK)
        return result;
    const int count = table.row_count;
    ex_site *sites = calloc((size_t)count + 1, sizeof *sites);
    if (!sites)
        result = ex_error_memory(error, "the markers", (size_t)count * sizeof *sites);
    for (int i = 0; i < count && result == EX_OK; i++)
        result = read_site(&table, i, kinematics, &sites[i], error);
    if (result == EX_OK)
        result = check_names(&table, sites, error);
    exi_table_free(&table);
    if (result != EX_OK) {
        free_sites(sites, count);
        return result;
    }
    free_sites(kinematics->sites, kinematics->site_count);
    kinematics->sites = sites;
    kinematics->site_count = count;
    return EX_OK;
}
