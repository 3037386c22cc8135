/* map64.h - a hash table from 64-bit keys to 32-bit positions, with open addressing. Used beside lists too long for
 * a linear search. A zero-initialised table is empty.
 */
#ifndef WEIR_MAP64_H
#define WEIR_MAP64_H

#include "base/base.h"

struct place_slot {
    uint64_t key;
    uint32_t at; /* position + 1; 0: the slot is empty */
};

struct weir_map64 {
    struct place_slot *slots;
    uint32_t count, wide; /* count: keys; wide: slots, a power of two, at least twice the keys */
};

/* The position of a key; WEIR_NONE if the key is absent. O(1) */
uint32_t weir_map64_get(const struct weir_map64 *p, uint64_t key);
/* Add a key that is absent. Returns WEIR_OK or WEIR_ENOMEM. Amortised O(1) */
int weir_map64_add(struct weir_map64 *p, uint64_t key, uint32_t at) WEIR_CHECKED;
void weir_map64_clear(struct weir_map64 *p); /* frees the slots; the table is empty */

#endif
