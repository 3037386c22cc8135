/* idset.h - sets of non-negative integers and their text form (RFC 22), such as "0-3,7".
 *
 * Ids are 0 to 4294967295. A set costs 8 bytes for each run of consecutive ids, whatever the run's length. Functions
 * that return an id return -1 for none. r: runs of the set, b: runs of the other one.
 */
#ifndef WEIR_IDSET_H
#define WEIR_IDSET_H

#include "base.h"

#define WEIR_IDSET_MAX      UINT32_MAX
#define WEIR_IDSET_LIST_IDS (UINT64_C(1) << 24) /* the most ids that are written one by one */
#define WEIR_IDSET_RANGES   1u                  /* write "1-3", not "1,2,3" */
#define WEIR_IDSET_BRACKETS 2u                  /* write "[1-3]" unless there is at most one id */

typedef struct weir_idset weir_idset;

weir_idset *weir_idset_new(void) WEIR_CHECKED; /* NULL: out of memory */
void weir_idset_free(weir_idset *s);
int weir_idset_copy(const weir_idset *s, weir_idset **out) WEIR_CHECKED;

/* Reads an idset: ids and ranges in ascending order, none twice, no leading zeros, brackets around it all or not.
 * WEIR_EPARSE: err has line 1 and the column; WEIR_ELIMIT: an id is above WEIR_IDSET_MAX. */
int weir_idset_parse(const char *text, size_t len, weir_idset **out, weir_err *err) WEIR_CHECKED;
/* Adds the text form to b. WEIR_ELIMIT: more than WEIR_IDSET_LIST_IDS ids to be written without WEIR_IDSET_RANGES. */
int weir_idset_format(const weir_idset *s, unsigned flags, weir_buf *b) WEIR_CHECKED;

/* Both ends are inside; WEIR_EINVAL: lo is above hi. O(log r) to find the place and O(r) to make room in the middle;
 * O(1) for ids above the last one. */
int weir_idset_add_range(weir_idset *s, uint32_t lo, uint32_t hi) WEIR_CHECKED;
int weir_idset_remove_range(weir_idset *s, uint32_t lo, uint32_t hi) WEIR_CHECKED;
int weir_idset_add_id(weir_idset *s, uint32_t id) WEIR_CHECKED;
int weir_idset_remove_id(weir_idset *s, uint32_t id) WEIR_CHECKED;

bool weir_idset_test(const weir_idset *s, uint32_t id); /* O(log r) */
uint64_t weir_idset_count(const weir_idset *s);         /* O(1) */
int64_t weir_idset_first(const weir_idset *s);
int64_t weir_idset_last(const weir_idset *s);
int64_t weir_idset_next(const weir_idset *s, int64_t id); /* the lowest one above id. O(log r) */
int64_t weir_idset_prev(const weir_idset *s, int64_t id); /* the highest one below id. O(log r) */
/* The i-th run of consecutive ids; false: no more. */
bool weir_idset_run(const weir_idset *s, size_t i, uint32_t *lo, uint32_t *hi);

bool weir_idset_equal(const weir_idset *a, const weir_idset *b);
bool weir_idset_contains(const weir_idset *a, const weir_idset *b);         /* all of b is in a. O(r + b) */
bool weir_idset_has_intersection(const weir_idset *a, const weir_idset *b); /* O(r + b) */

/* Change a; b may be NULL, an empty set, or a itself. O(r + b) */
int weir_idset_add(weir_idset *a, const weir_idset *b) WEIR_CHECKED;
int weir_idset_subtract(weir_idset *a, const weir_idset *b) WEIR_CHECKED;
/* Make a new set. WEIR_EINVAL: a is NULL, or b is where both are needed. O(r + b) */
int weir_idset_union(const weir_idset *a, const weir_idset *b, weir_idset **out) WEIR_CHECKED;
int weir_idset_difference(const weir_idset *a, const weir_idset *b, weir_idset **out) WEIR_CHECKED;
int weir_idset_intersect(const weir_idset *a, const weir_idset *b, weir_idset **out) WEIR_CHECKED;

#endif
