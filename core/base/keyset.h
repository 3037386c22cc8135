/* keyset.h - an ordered set of elements, numbered from 0, each with a key of its own: a treap, whose shape follows from
 * the numbers of the elements in the set. No two elements have equal keys.
 */
#ifndef WEIR_KEYSET_H
#define WEIR_KEYSET_H

#include "base/base.h"

#define KEYSET_OUT UINT64_MAX /* the key of an element that is not in the set */

struct weir_keyset {
    uint64_t *keys;         /* by element */
    uint32_t *left, *right; /* elements with smaller and with larger keys */
    uint32_t root;
};

/* Make an empty set of elements below n. Returns WEIR_OK or WEIR_ENOMEM; free in either case. */
int weir_keyset_make(struct weir_keyset *s, uint32_t n) WEIR_CHECKED;
void weir_keyset_free(struct weir_keyset *s);
/* Give an element a key; KEYSET_OUT takes the element out. O(log n) */
void weir_keyset_put(struct weir_keyset *s, uint32_t element, uint64_t key);
/* The element with the least key from `key` on; WEIR_NONE: none. O(log n) */
uint32_t weir_keyset_from(const struct weir_keyset *s, uint64_t key);
/* The element with the greatest key below `key`; WEIR_NONE: none. O(log n) */
uint32_t weir_keyset_below(const struct weir_keyset *s, uint64_t key);

#endif
