/* map32.h - a hash table from 32-bit keys to 32-bit numbers below WEIR_NONE, with open addressing. A zero-initialised
 * table is empty.
 *
 * A key may have several numbers. So a list of records is searched by content: the key is a hash of the content, the
 * numbers are positions in the list, and the caller compares:
 *
 *     WEIR_MAP32_EACH(&map, hash, i)
 *         if (same_record(&list[i], sought))
 *             return i;
 *
 * Many records with one key cost a linear search, so records that are equal in the key belong in a chain.
 */
#ifndef WEIR_MAP32_H
#define WEIR_MAP32_H

#include "base/base.h"

struct weir_map32_slot {
    uint32_t key, at; /* at: number + 1; 0: the slot is empty */
};

/* Invariant: no slot between the home of a key and the slot of the key is empty. */
struct weir_map32 {
    struct weir_map32_slot *slots;
    uint32_t count, wide; /* entries; slots, 0 or a power of two */
};

/* The slot at which the search for a key begins. */
static inline uint32_t weir_map32_home(const struct weir_map32 *m, uint32_t key)
{
    return (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (m->wide - 1);
}

/* The number of a key from slot *at on, WEIR_NONE without; *at becomes the slot behind. */
static inline uint32_t weir_map32_next(const struct weir_map32 *m, uint32_t key, uint32_t *at)
{
    while (m->wide) {
        struct weir_map32_slot slot = m->slots[*at];
        *at = (*at + 1) & (m->wide - 1);
        if (slot.at == 0)
            break;
        if (slot.key == key)
            return slot.at - 1;
    }
    return WEIR_NONE;
}

/* A loop over the numbers of a key, as uint32_t `number`. */
#define WEIR_MAP32_EACH(map, key, number)                                                                              \
    for (uint32_t at_ = weir_map32_home(map, key), number; ((number) = weir_map32_next(map, key, &at_)) != WEIR_NONE;)

/* A number of a key; WEIR_NONE: the key is absent. O(1) */
static inline uint32_t weir_map32_get(const struct weir_map32 *m, uint32_t key)
{
    uint32_t at = weir_map32_home(m, key);

    return weir_map32_next(m, key, &at);
}

/* Reserve slots for `count` entries in all. Returns WEIR_OK or WEIR_ENOMEM. */
int weir_map32_reserve(struct weir_map32 *m, size_t count) WEIR_CHECKED;
/* Add an entry. Returns WEIR_OK or WEIR_ENOMEM. Amortised O(1) */
int weir_map32_add(struct weir_map32 *m, uint32_t key, uint32_t number) WEIR_CHECKED;
/* Remove an entry of the table. O(1) */
void weir_map32_remove(struct weir_map32 *m, uint32_t key, uint32_t number);
/* Make *to, which must be empty, a copy. Returns WEIR_OK or WEIR_ENOMEM. */
int weir_map32_copy(struct weir_map32 *to, const struct weir_map32 *from) WEIR_CHECKED;
/* Free the slots; the table is empty. */
void weir_map32_free(struct weir_map32 *m);
/* Bytes of the slots. */
static inline size_t weir_map32_bytes(const struct weir_map32 *m)
{
    return m->wide * sizeof *m->slots;
}

#endif
