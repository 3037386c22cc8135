/* jgf_keys.h - the ids of a JSON graph, by which its edges name vertices. Private to the core.
 *
 * Mostly they are numbers that ascend with the vertices. Such ones are kept as runs of numbers for as many vertices in
 * a row, which costs nothing where they are without gaps; any others are kept as texts, with a hash table.
 */
#ifndef WEIR_JGF_KEYS_H
#define WEIR_JGF_KEYS_H

#include "base/base.h"

struct jgf_run {
    uint32_t number, item, count; /* of the first; how many */
};

/* Zero-initialise. */
struct jgf_keys {
    struct jgf_run *runs; /* ascending in number and item */
    uint32_t nruns, runs_cap;
    char *texts; /* of the rest: the item, 4 bytes, and the text with its NUL */
    uint32_t ntexts, texts_cap; /* bytes */
    uint32_t *slots, nslots, n; /* where in `texts`, + 1; n of them are in use */
};

/* The item of a key; WEIR_NONE: there is none. O(log runs) */
uint32_t weir_jgf_keys_find(const struct jgf_keys *k, const char *key, size_t len);
/* Adds a key that is not there; its item is higher than those before. WEIR_ENOMEM, WEIR_ELIMIT: 4 GB of them. */
int weir_jgf_keys_add(struct jgf_keys *k, const char *key, size_t len, uint32_t item) WEIR_CHECKED;
/* The key of an item, in buf or in k. For errors: O(n) */
const char *weir_jgf_keys_text(const struct jgf_keys *k, uint32_t item, char buf[16]);
void weir_jgf_keys_free(struct jgf_keys *k);

#endif
