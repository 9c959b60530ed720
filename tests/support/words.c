#include "words.h"

#include "../../cli/base/emit.c"
#include "../../cli/base/plain.c"
#include "../../cli/base/words.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

ex_place place_of_words(const ex_project *project, const char *const *words) {
    ex_place place;
    ex_error error = {0};
    int count = 0;
    while (words[count])
        count++;
    if (exi_place_read(ex_project_get(project), words, count, &place, &error) != EX_OK)
        fail_msg("%s", error.text);
    return place;
}
