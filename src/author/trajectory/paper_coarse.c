/* stub */
#include "author/trajectory/paper.h"
ex_result exi_coarse_create(exi_paper *paper, ex_error *error) {
    (void)paper;
    (void)error;
    return EX_OK;
}
ex_result exi_coarse_refill(exi_paper *paper, ex_error *error) {
    (void)paper;
    (void)error;
    return EX_OK;
}
void exi_coarse_correct(exi_paper *paper, const double *r, double *z) {
    (void)paper;
    (void)r;
    (void)z;
}
void exi_coarse_free(struct exi_coarse *coarse) {
    (void)coarse;
}
