/* map64.h - where something stands, by a number of 64 bits: a hash table with open addressing, for lists that are too long
 * to be looked through. A zero-initialised one is empty. */
#ifndef WEIR_PLACES_H
#define WEIR_PLACES_H

#include "base/base.h"

struct place_slot {
    uint64_t key;
    uint32_t at; /* the place + 1; 0: empty */
};

struct weir_places {
    struct place_slot *slots;
    uint32_t count, wide; /* slots: a power of two, more than twice the count */
};

uint32_t weir_places_get(const struct weir_places *p, uint64_t key); /* WEIR_NONE: not there. O(1) */
/* Adds a key that is not there. WEIR_ENOMEM. O(1), amortised */
int weir_places_add(struct weir_places *p, uint64_t key, uint32_t at) WEIR_CHECKED;
void weir_places_clear(struct weir_places *p); /* gives the memory back */

#endif
