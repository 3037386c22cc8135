/* hostlist.h - ordered lists of host names and their text form (RFC 29), such as "login,node[001-128,130]".
 *
 * Names keep their order, their leading zeros, and may come more than once. A list costs 32 bytes for each run of
 * consecutive numbers behind one prefix, whatever the run's length. s: runs of the list.
 */
#ifndef WEIR_HOSTLIST_H
#define WEIR_HOSTLIST_H

#include "base.h"

#define WEIR_HOSTLIST_DIGITS 18         /* digits of a number that counts; longer ones are part of the prefix */
#define WEIR_HOSTLIST_EXPAND (1u << 24) /* bytes of the names behind whose bracket something follows, in one text */
#define WEIR_HOSTLIST_RUNS   (1u << 22) /* runs that sorting may make out of repeated names */

typedef struct weir_hostlist weir_hostlist;

weir_hostlist *weir_hostlist_new(void) WEIR_CHECKED; /* NULL: out of memory */
void weir_hostlist_free(weir_hostlist *h);
int weir_hostlist_copy(const weir_hostlist *h, weir_hostlist **out) WEIR_CHECKED;

/* Reads a hostlist: expressions prefix[ids]suffix between commas. WEIR_EPARSE: err has line 1 and the column.
 * WEIR_ELIMIT: a constant above, WEIR_NAME_MAX bytes of a name, or INT64_MAX hosts would be exceeded. Names with a
 * suffix are kept one by one, all others as runs. */
int weir_hostlist_parse(const char *text, size_t len, weir_hostlist **out, weir_err *err) WEIR_CHECKED;
int weir_hostlist_append(weir_hostlist *h, const char *text, size_t len, weir_err *err) WEIR_CHECKED;
/* Appends one name, taken as it is. WEIR_EINVAL: it has a character that a host name cannot have. O(1) */
int weir_hostlist_append_name(weir_hostlist *h, const char *name, size_t len, weir_err *err) WEIR_CHECKED;
int weir_hostlist_append_list(weir_hostlist *h, const weir_hostlist *other, weir_err *err) WEIR_CHECKED;
/* Adds the compact text form to b; consecutive names share brackets. */
int weir_hostlist_format(const weir_hostlist *h, weir_buf *b) WEIR_CHECKED;

uint64_t weir_hostlist_count(const weir_hostlist *h); /* O(1) */
/* Writes the i-th name like snprintf does and returns its length; 0: there is none. O(log s) */
size_t weir_hostlist_nth(const weir_hostlist *h, uint64_t i, char *buf, size_t size);
/* The first position of a name, or -1. O(s), or O(log s) after weir_hostlist_index() until the list changes. */
int64_t weir_hostlist_find(const weir_hostlist *h, const char *name, size_t len);
int weir_hostlist_index(weir_hostlist *h) WEIR_CHECKED;

/* Deletes, for each name in the hostlist `text`, its first occurrence, if there is one (a name given twice goes
 * twice). *deleted (may be NULL) is how many went. */
int weir_hostlist_delete(weir_hostlist *h, const char *text, size_t len, uint64_t *deleted, weir_err *err) WEIR_CHECKED;
int weir_hostlist_delete_at(weir_hostlist *h, uint64_t i) WEIR_CHECKED; /* WEIR_ENOENT: there is no i-th name */
/* Sorts by prefix, then by the length of the number (so that 9 < 10 < 010), then by the number. O(s log s) and what
 * repeated names cost. WEIR_ELIMIT: more than WEIR_HOSTLIST_RUNS runs. */
int weir_hostlist_sort(weir_hostlist *h) WEIR_CHECKED;
int weir_hostlist_uniq(weir_hostlist *h) WEIR_CHECKED; /* sorts, and keeps each name once. O(s log s) */

#endif
