/*
 * The template person's file, which human_data.S puts into the library.
 */
#include "author/scan/human/human_data.h"

extern const unsigned char exi_human_data_start[], exi_human_data_end[];

const void *exi_human_data(size_t *size) {
    *size = (size_t)(exi_human_data_end - exi_human_data_start);
    return exi_human_data_start;
}
