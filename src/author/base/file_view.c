/*
 * Maps large files. Only what is looked at comes into memory, and the system may drop it again; a copy would take as
 * much memory as the file for as long as it is read. Our own files are replaced as a whole (files.h), so a mapped one
 * does not change.
 */
#define _XOPEN_SOURCE 700

#include "author/base/file_view.h"

#include <exemplar/author/files.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Size from which a file is mapped: below, a copy costs nothing that anybody would notice. */
#define MAPPED_LEAST ((off_t)16 << 20)

ex_result exi_file_map(const char *path, exi_file_view *view, ex_error *error) {
    *view = (exi_file_view){0};
    struct stat status = {0};
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size >= MAPPED_LEAST && (uintmax_t)status.st_size < SIZE_MAX) {
        void *mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (mapped != MAP_FAILED)
            *view = (exi_file_view){.bytes = mapped, .size = (size_t)status.st_size, .mapped = mapped};
    }
    if (descriptor >= 0)
        close(descriptor);
    if (view->mapped)
        return EX_OK;
    const ex_result result = ex_file_read(path, &view->owned, &view->size, error);
    view->bytes = view->owned;
    return result;
}

void exi_file_unmap(exi_file_view *view) {
    if (view->mapped)
        munmap(view->mapped, view->size);
    free(view->owned);
    *view = (exi_file_view){0};
}
