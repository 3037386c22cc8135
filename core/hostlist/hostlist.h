/* hostlist.h - lists of host names, as the core uses them; the rest is in weir.h. */
#ifndef WEIR_HOSTLIST_H
#define WEIR_HOSTLIST_H

#include "base/base.h"

/* Adds the compact text form to b; WEIR_ENOMEM. */
int weir_hostlist_write(const weir_hostlist *h, weir_buf *b) WEIR_CHECKED;

#endif
