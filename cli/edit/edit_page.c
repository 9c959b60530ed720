/* cli/edit/edit_page.c - returns the page that edit_page.S embeds, or the reason why there is none. */
#include "edit_page.h"

#ifdef EX_WITH_EDITOR

extern const unsigned char exi_edit_page_start[], exi_edit_page_end[];

const unsigned char *exi_edit_page(size_t *size) {
    *size = (size_t)(exi_edit_page_end - exi_edit_page_start);
    return exi_edit_page_start;
}

const char *exi_edit_missing(void) {
    return NULL;
}

#else

const unsigned char *exi_edit_page(size_t *size) {
    *size = 0;
    return NULL;
}

const char *exi_edit_missing(void) {
    return "this exemplar was built without the editor (" EX_EDITOR_MISSING "): build it where that is there, with "
           "-DEX_EDITOR=ON";
}

#endif
