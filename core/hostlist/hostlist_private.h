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

#include "hostlist/hostlist.h"

#define NO_TEXT UINT32_MAX

struct run {
    uint64_t lo, hi; /* inclusive; 0 for a name without a number */
    uint64_t first;  /* position in the list of the name with number lo */
    uint32_t prefix; /* number of the text */
    uint32_t suffix; /* number of the text, or NO_TEXT */
    uint32_t digits; /* written digits; 0 for a name without a number */
};

/* The prefixes and suffixes of a list by number, each stored once and NUL-terminated. */
struct texts {
    char *text;
    uint32_t text_len, text_cap;
    uint32_t *start; /* by number: offset in `text` */
    uint32_t n, cap;
    uint32_t *table; /* open addressing: number + 1, or 0; size is 0 or a power of two */
    uint32_t size;
    uint64_t seed; /* random start of the hash, against input made up to collide */
};

struct weir_hostlist {
    struct run *runs;
    uint32_t n, cap;
    uint64_t count;
    struct texts texts;
    struct run *index; /* as described in hostlist_find.c; NULL: none */
    uint32_t nindex;
    bool index_suffixed; /* some run has a suffix */
};

/* A name without suffix, split. */
struct name {
    size_t prefix_len;
    uint32_t digits;
    uint64_t number;
};

/* Extend a hash by `len` bytes. Start with texts.seed. */
uint64_t weir_text_hash(uint64_t hash, const char *s, size_t len);
/* The number of a text, given its hash; NO_TEXT if absent. */
uint32_t weir_text_find_hashed(const struct texts *t, const char *s, size_t len, uint64_t hash);
/* The number of a text; NO_TEXT if absent. O(len) */
uint32_t weir_text_find(const struct texts *t, const char *s, size_t len);
/* Find or add a text; *out is its number. Returns WEIR_OK or WEIR_ENOMEM. */
int weir_text_intern(struct texts *t, const char *s, size_t len, uint32_t *out) WEIR_CHECKED;
/* Add all texts of `from` to empty `to`, with equal numbers. Returns WEIR_OK or WEIR_ENOMEM. */
int weir_text_copy(struct texts *to, const struct texts *from) WEIR_CHECKED;
/* Free the texts, and zero *t. */
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

/* Split a name into prefix and number. */
struct name weir_name_split(const char *s, size_t len);
/* Whether a host name may contain character c. */
bool weir_name_char(int c);
/* Write a number with exactly `digits` digits, without a NUL. `to` must have room for the digits. */
void weir_name_number(char *to, uint64_t number, uint32_t digits);
/* Set b to the name of run r with the given number. */
void weir_name_make(const weir_hostlist *h, const struct run *r, uint64_t number, weir_buf *b);
/* Append a copy of run r, or join r to the last run if possible. r->first is ignored. Returns WEIR_OK, WEIR_ENOMEM, or
 * WEIR_ELIMIT if the list would have more than INT64_MAX hosts. Amortised O(1) */
int weir_hostlist_append_run(weir_hostlist *h, const struct run *r) WEIR_CHECKED;
/* Exchange the runs of two lists. The runs of `from` must use the text numbers of h. */
void weir_hostlist_swap_runs(weir_hostlist *h, weir_hostlist *from);
/* Drop the index, after a change of the list. */
void weir_hostlist_drop_index(weir_hostlist *h);
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
    struct run last;
};
/* The current end of a list. */
struct mark weir_hostlist_mark(const weir_hostlist *h);
/* Remove all names appended since weir_hostlist_mark(). */
void weir_hostlist_rollback(weir_hostlist *h, const struct mark *m);

#endif
