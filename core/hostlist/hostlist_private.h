/* hostlist_private.h - how a list of host names is stored; for the files hostlist_*.c only.
 *
 * A run is names that differ in a number only: prefix, number, suffix. Names without a suffix are split in one way only:
 * their last digits, at most WEIR_HOSTLIST_DIGITS of them, are the number, so that two of them are the same just when
 * prefix, number of digits and number are. A suffix comes from a range in brackets with something behind it, and a name in
 * such a run may be the same as one in a run without: "a[1-2]-b7" is a1-b7 (prefix "a1-b", number 7) and a2-b7.
 * Invariant: a run's numbers all have run.digits digits, with leading zeros where they are needed; a suffix has digits
 * before it, and takes as many digits from the end of the prefix as a number can have; no run without a suffix could be
 * joined to the one before it; run.first is the sum of the lengths before it.
 */
#ifndef WEIR_HOSTLIST_PRIVATE_H
#define WEIR_HOSTLIST_PRIVATE_H

#include "hostlist/hostlist.h"

#define NO_TEXT UINT32_MAX

struct run {
    uint64_t lo, hi; /* both inside; 0 for a name without a number */
    uint64_t first;  /* position in the list */
    uint32_t prefix; /* number of the text */
    uint32_t suffix; /* the same, or NO_TEXT */
    uint32_t digits; /* 0 for a name without a number */
};

/* Prefixes and suffixes by number; each is kept once, terminated. */
struct texts {
    char *text;
    uint32_t text_len, text_cap;
    uint32_t *start; /* of each, in text */
    uint32_t n, cap;
    uint32_t *table; /* open addressing: number + 1, or 0; size is 0 or a power of two */
    uint32_t size;
    uint64_t seed; /* of the hash: nobody can make up names that all fall into one slot */
};

struct weir_hostlist {
    struct run *runs;
    uint32_t n, cap;
    uint64_t count;
    struct texts texts;
    struct run *index; /* NULL, or what hostlist_find.c says */
    uint32_t nindex;
    bool index_suffixed; /* some run of it has a suffix */
};

/* One name, taken apart. */
struct name {
    size_t prefix_len;
    uint32_t digits;
    uint64_t number;
};

uint64_t weir_text_hash(uint64_t hash, const char *s, size_t len); /* begins with the seed */
uint32_t weir_text_find_hashed(const struct texts *t, const char *s, size_t len, uint64_t hash);
uint32_t weir_text_find(const struct texts *t, const char *s, size_t len); /* NO_TEXT: not there */
int weir_text_intern(struct texts *t, const char *s, size_t len, uint32_t *out) WEIR_CHECKED;
int weir_text_copy(struct texts *to, const struct texts *from) WEIR_CHECKED;
void weir_text_clear(struct texts *t);

static inline const char *prefix_text(const weir_hostlist *h, const struct run *r)
{
    return h->texts.text + h->texts.start[r->prefix];
}

static inline const char *suffix_text(const weir_hostlist *h, const struct run *r)
{
    return r->suffix == NO_TEXT ? "" : h->texts.text + h->texts.start[r->suffix];
}

static inline uint64_t run_length(const struct run *r)
{
    return r->hi - r->lo + 1;
}

struct name weir_name_split(const char *s, size_t len);
bool weir_name_char(int c); /* may stand in a host name */
/* Writes a number with that many digits, which it must have room for. */
void weir_name_number(char *to, uint64_t number, uint32_t digits);
/* Makes b the name of a run that has this number. */
void weir_name_make(const weir_hostlist *h, const struct run *r, uint64_t number, weir_buf *b);
/* Appends a run of names, r->first aside; joins it to the last one where it can. WEIR_ELIMIT: too many hosts. */
int weir_hostlist_append_run(weir_hostlist *h, const struct run *r) WEIR_CHECKED;
/* Takes the runs of `from` (which has the same texts) and leaves it the old ones. */
void weir_hostlist_swap_runs(weir_hostlist *h, weir_hostlist *from);
void weir_hostlist_drop_index(weir_hostlist *h);
/* Turns runs with a suffix into runs without; the list stays the same. WEIR_ELIMIT: WEIR_HOSTLIST_EXPAND. */
int weir_hostlist_expand(weir_hostlist *h) WEIR_CHECKED;
bool weir_hostlist_suffixed(const weir_hostlist *h); /* some run has a suffix */
bool weir_hostlist_expandable(const weir_hostlist *h); /* all names with a suffix are within WEIR_HOSTLIST_EXPAND */

/* What a list was before something was appended, to undo that when it fails half way. */
struct mark {
    uint32_t n;
    uint64_t count;
    struct run last;
};
struct mark weir_hostlist_mark(const weir_hostlist *h);
void weir_hostlist_rollback(weir_hostlist *h, const struct mark *m);

#endif
