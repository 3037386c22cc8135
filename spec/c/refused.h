/* refused.h - texts that a parser refuses, as rows, for the C tests of idsets and hostlists. */
#ifndef REFUSED_H
#define REFUSED_H

#include "check.h"

struct refused_row {
    const char *in;
    int rc, column; /* of the error, in line 1 */
};

/* Checks that `parse`, a function of weir.h that makes a `type`, refuses each row of an array. */
#define CHECK_REFUSED(rows, type, parse, tag)                                                                          \
    for (size_t row_ = 0; row_ < sizeof(rows) / sizeof *(rows); row_++) {                                              \
        const struct refused_row *r_ = &(rows)[row_];                                                                  \
        type *made_ = NULL;                                                                                            \
        weir_err err_ = {0};                                                                                           \
        int rc_ = parse(r_->in, strlen(r_->in), &made_, &err_);                                                        \
        CHECK(rc_ == r_->rc && !made_, tag " \"%s\" is refused as %s: %s", r_->in, weir_status_name(r_->rc),           \
              err_.text);                                                                                              \
        CHECK(err_.line == 1 && err_.column == r_->column, tag " \"%s\": column %d: %s", r_->in, err_.column,          \
              err_.text);                                                                                              \
    }

#endif
