/* idset.h - functions on sets of ids for use inside the core. The public functions are in weir.h. */
#ifndef WEIR_IDSET_H
#define WEIR_IDSET_H

#include "base/base.h"

/* Append the text of set `s` to `b`. Flags and errors as for weir_idset_format(), without an error text. */
int weir_idset_write(const weir_idset *s, unsigned flags, weir_buf *b) WEIR_CHECKED;

#endif
