/* idset.h - sets of ids, as the core uses them; the rest is in weir.h. */
#ifndef WEIR_IDSET_H
#define WEIR_IDSET_H

#include "base/base.h"

/* Adds the text form to b. Errors as those of weir_idset_format. */
int weir_idset_write(const weir_idset *s, unsigned flags, weir_buf *b) WEIR_CHECKED;

#endif
