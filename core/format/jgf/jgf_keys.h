/* jgf_keys.h - the ids of a JSON graph, used by edges to name vertices. Private to the core.
 *
 * Most ids are numbers that ascend with the vertices. Ascending numbers are kept as runs of consecutive numbers, at
 * almost no cost with few gaps; further numbers are kept in a hash table, and all further ids as texts, with a hash
 * table.
 */
#ifndef WEIR_JGF_KEYS_H
#define WEIR_JGF_KEYS_H

#include "base/map32.h"

struct jgf_run {
    uint32_t number, item, count; /* number, item: of the first id; count: ids of the run */
};

/* A map from ids to items. Zero-initialise. */
struct jgf_keys {
    struct jgf_run *runs; /* ascending in number and item */
    uint32_t nruns, runs_cap;
    struct weir_map32 numbers;  /* item by number, of numbers in no run */
    char *texts;                /* all other ids: the item, 4 bytes, and the text with its NUL */
    uint32_t ntexts, texts_cap; /* bytes */
    struct weir_map32 places;   /* offset in `texts`, by hash of the text */
    uint64_t seed;              /* of the hashes; 0 before the first text */
};

/* The item of a key; WEIR_NONE: no such key. O(log runs), O(1) in the tables */
uint32_t weir_jgf_keys_find(const struct jgf_keys *k, const char *key, size_t len);
/* Adds a new key, with an item above all items before. WEIR_ENOMEM, or WEIR_ELIMIT: texts of 4 GB. */
int weir_jgf_keys_add(struct jgf_keys *k, const char *key, size_t len, uint32_t item) WEIR_CHECKED;
/* The key of an item, in buf or in k. For messages of errors: O(n) */
const char *weir_jgf_keys_text(const struct jgf_keys *k, uint32_t item, char buf[16]);
void weir_jgf_keys_free(struct jgf_keys *k);

#endif
