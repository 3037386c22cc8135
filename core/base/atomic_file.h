/* atomic_file.h - a file that is written whole or not at all: a draft beside it takes its place when it is complete.
 * Invariant: until weir_draft_keep() has succeeded, a file that was there is what it was. */
#ifndef WEIR_DRAFT_H
#define WEIR_DRAFT_H

#include "base/base.h"

struct weir_draft {
    FILE *file;         /* to be written to */
    char *path, *name;  /* where links of the path lead to, and the draft; name is NULL for pipes and devices, which are
                         * written to as they are */
    const char *shown;  /* what errors call it: the caller's path, which must live as long */
};

/* Begins a file. Mode and, where that is allowed, owner are those of the file that is there. */
int weir_draft_begin(struct weir_draft *d, const char *path, weir_err *err) WEIR_CHECKED;
/* Ends it: with `rc` WEIR_OK the draft is brought to the disk and takes its place, else it goes. Returns rc, or what
 * went wrong; nothing is left to be freed. */
int weir_draft_end(struct weir_draft *d, int rc, weir_err *err) WEIR_CHECKED;
/* WEIR_EIO: the reason is errno. */
int weir_draft_fail(const struct weir_draft *d, weir_err *err);

#endif
