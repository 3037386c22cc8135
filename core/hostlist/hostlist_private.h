/* hostlist_private.h - the representation of a list of host names, for the files of hostlist/ only.
 *
 * A run is a sequence of names that differ only in a number: prefix, number, suffix. A name without a suffix is
 * split in one way: the last digits, at most WEIR_HOSTLIST_DIGITS, are the number. Two such names are therefore
 * equal exactly if prefix, number of digits and number are equal. A suffix comes from a bracket followed by more
 * text. A name in a run with a suffix may equal a name in a run without: "a[1-2]-b7" has a1-b7 (prefix "a1-b",
 * number 7) and a2-b7.
 *
 * Invariant: all numbers of a run have run.digits digits, counting leading zeros. Before a suffix, the number has
 * taken as many digits from the end of the prefix as a number can have. No run without a suffix could be joined to
 * the run before. run.first is the sum of the lengths of all runs before.
 */
#ifndef WEIR_HOSTLIST_PRIVATE_H
#define WEIR_HOSTLIST_PRIVATE_H

#include <string.h>

#include "base/strtab.h"
#include "hostlist/hostlist.h"

struct host_range {
    uint64_t lo, hi; /* inclusive; 0 for a name without a number */
    uint64_t first;  /* position in the list of the name with number lo */
    uint32_t prefix; /* number of the text */
    uint32_t suffix; /* number of the text, or WEIR_NO_NAME */
    uint32_t digits; /* written digits; 0 for a name without a number */
};

struct weir_hostlist {
    struct host_range *runs;
    uint32_t n, cap;
    uint64_t count;
    weir_strtab texts;        /* prefixes and suffixes */
    struct host_range *index; /* as described in hostlist_find.c; NULL: none */
    uint32_t nindex;
    bool index_suffixed; /* some run has a suffix */
};

/* A name without suffix, split. */
struct name {
    size_t prefix_len;
    uint32_t digits;
    uint64_t number;
};

/* The number of a text of a list; WEIR_NO_NAME if absent. Consecutive names mostly have one prefix. O(len) */
static inline uint32_t hostlist_text(const weir_strtab *t, const char *s, size_t len)
{
    const char *last = t->count ? weir_strtab_text(t, t->count - 1) : NULL;

    return last && strlen(last) == len && memcmp(last, s, len) == 0 ? t->count - 1 : weir_strtab_find(t, s, len);
}

/* Find or add a text; *out is its number. Returns WEIR_OK or WEIR_ENOMEM. */
WEIR_CHECKED static inline int hostlist_intern(weir_strtab *t, const char *s, size_t len, uint32_t *out)
{
    *out = hostlist_text(t, s, len);
    if (*out == WEIR_NO_NAME)
        *out = weir_strtab_add(t, s, len);
    return *out == WEIR_NO_NAME ? WEIR_ENOMEM : WEIR_OK;
}

static inline const char *prefix_text(const weir_hostlist *h, const struct host_range *r)
{
    return weir_strtab_text(&h->texts, r->prefix);
}

static inline const char *suffix_text(const weir_hostlist *h, const struct host_range *r)
{
    return r->suffix == WEIR_NO_NAME ? "" : weir_strtab_text(&h->texts, r->suffix);
}

static inline uint64_t run_length(const struct host_range *r)
{
    return r->hi - r->lo + 1;
}

/* Split a name into prefix and number. */
struct name weir_name_split(const char *s, size_t len);
/* Whether a host name may contain character c. */
bool weir_name_char(int c);
/* Write a number with exactly `digits` digits, without a NUL. `to` must have room for the digits. */
void weir_name_number(char *to, uint64_t number, uint32_t digits);
/* Set b to the name of run r with the given number. */
void weir_name_make(const weir_hostlist *h, const struct host_range *r, uint64_t number, weir_buf *b);
/* Append a copy of run r, or join r to the last run if possible. r->first is ignored. Returns WEIR_OK, WEIR_ENOMEM, or
 * WEIR_ELIMIT if the list would have more than INT64_MAX hosts. Amortised O(1) */
int weir_hostlist_append_run(weir_hostlist *h, const struct host_range *r) WEIR_CHECKED;
/* Exchange the runs of two lists. The runs of `from` must use the text numbers of h. */
void weir_hostlist_swap_runs(weir_hostlist *h, weir_hostlist *from);
/* Replace runs with a suffix by runs without, for the same names. Returns WEIR_OK, WEIR_ENOMEM, or WEIR_ELIMIT if not
 * weir_hostlist_expandable(). */
int weir_hostlist_expand(weir_hostlist *h) WEIR_CHECKED;
/* Whether some run has a suffix. O(runs) */
bool weir_hostlist_suffixed(const weir_hostlist *h);
/* Whether all names with a suffix together have at most WEIR_HOSTLIST_EXPAND bytes. O(runs) */
bool weir_hostlist_expandable(const weir_hostlist *h);

/* The end of a list before names are appended. */
struct mark {
    uint32_t n;
    uint64_t count;
    struct host_range last;
};
/* The current end of a list. */
struct mark weir_hostlist_mark(const weir_hostlist *h);
/* Remove all names appended since weir_hostlist_mark(). */
void weir_hostlist_rollback(weir_hostlist *h, const struct mark *m);

#endif
