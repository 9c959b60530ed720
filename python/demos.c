/* The demos for the Python package: what demos/demos.h has, as functions that a shared library shows. */
#include "demos/demos.h"

int exi_python_demo_count(void);
const char *exi_python_demo_name(int demo);
const char *exi_python_demo_summary(int demo);
ex_result exi_python_demo_write(int demo, const char *folder, const ex_progress *progress, const ex_tasks *tasks,
                                bool quick, int takes, ex_error *error);

int exi_python_demo_count(void) {
    return ex_demo_count;
}

const char *exi_python_demo_name(int demo) {
    return ex_demos[demo].name;
}

const char *exi_python_demo_summary(int demo) {
    return ex_demos[demo].summary;
}

ex_result exi_python_demo_write(int demo, const char *folder, const ex_progress *progress, const ex_tasks *tasks,
                                bool quick, int takes, ex_error *error) {
    const exi_demo_options options = {.progress = progress, .tasks = tasks, .quick = quick, .takes = takes};
    return exi_demo_write(&ex_demos[demo], folder, &options, error);
}
