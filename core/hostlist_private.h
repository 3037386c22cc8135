/* hostlist_private.h - how a list of host names is stored; for the files hostlist_*.c only.
 *
 * A name is split in one way only: its last digits, at most WEIR_HOSTLIST_DIGITS of them, are its number, what is
 * before them its prefix. Two names are the same just when prefix, number of digits and number are.
 * Invariant: a run's numbers all have run.digits digits, with leading zeros where they are needed; no run could be
 * joined to the one before it; run.first is the sum of the lengths before it.
 */
#ifndef WEIR_HOSTLIST_PRIVATE_H
#define WEIR_HOSTLIST_PRIVATE_H

#include "hostlist.h"

struct run {
    uint64_t lo, hi; /* both inside; 0 for a name without a number */
    uint64_t first;  /* position in the list */
    uint32_t prefix; /* number of the prefix */
    uint32_t digits; /* 0 for a name without a number */
};

/* Prefixes by number; each is kept once, terminated. */
struct prefixes {
    char *text;
    uint32_t text_len, text_cap;
    uint32_t *start; /* of each, in text */
    uint32_t n, cap;
    uint32_t *table; /* open addressing: number + 1, or 0; size is 0 or a power of two */
    uint32_t size;
};

/* A run in the index for find, sorted by prefix, digits, lo. */
struct entry {
    struct run run;
    uint64_t reach; /* highest hi of the entries up to here with the same prefix and digits */
};

struct weir_hostlist {
    struct run *runs;
    uint32_t n, cap;
    uint64_t count;
    struct prefixes prefixes;
    struct entry *index; /* NULL, or one entry a run */
};

/* One name, taken apart. */
struct name {
    size_t prefix_len;
    uint32_t digits;
    uint64_t number;
};

#define NO_PREFIX UINT32_MAX

uint32_t weir_prefix_find(const struct prefixes *p, const char *s, size_t len); /* NO_PREFIX: not there */
int weir_prefix_intern(struct prefixes *p, const char *s, size_t len, uint32_t *out) WEIR_CHECKED;
int weir_prefix_copy(struct prefixes *to, const struct prefixes *from) WEIR_CHECKED;
void weir_prefix_clear(struct prefixes *p);

static inline const char *prefix_text(const weir_hostlist *h, const struct run *r)
{
    return h->prefixes.text + h->prefixes.start[r->prefix];
}

static inline uint64_t run_length(const struct run *r)
{
    return r->hi - r->lo + 1;
}

struct name weir_name_split(const char *s, size_t len);
bool weir_name_char(int c); /* may stand in a host name */
/* Appends a run of names, r->first aside; joins it to the last one where it can. WEIR_ELIMIT: too many hosts. */
int weir_hostlist_append_run(weir_hostlist *h, const struct run *r) WEIR_CHECKED;
/* Takes the runs of `from` (which has the same prefixes) and leaves it the old ones. */
void weir_hostlist_swap_runs(weir_hostlist *h, weir_hostlist *from);
void weir_hostlist_drop_index(weir_hostlist *h);

/* What a list was before something was appended, to undo that when it fails half way. */
struct mark {
    uint32_t n;
    uint64_t count;
    struct run last;
};
struct mark weir_hostlist_mark(const weir_hostlist *h);
void weir_hostlist_rollback(weir_hostlist *h, const struct mark *m);

#endif
