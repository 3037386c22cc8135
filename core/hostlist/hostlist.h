/* hostlist.h - functions on lists of host names for use inside the core. The public functions are in weir.h. */
#ifndef WEIR_HOSTLIST_H
#define WEIR_HOSTLIST_H

#include "base/base.h"

/* Append the compact text of list `h` to `b`. Returns WEIR_OK, WEIR_ENOMEM, or WEIR_EINVAL if `h` is NULL. */
int weir_hostlist_write(const weir_hostlist *h, weir_buf *b) WEIR_CHECKED;

#endif
