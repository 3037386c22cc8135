/* hash.h - hashes of texts and numbers, for tables of the core. A hash is 64 bits that start with a seed; more content
 * extends the hash. Hashes differ from run to run where the seed is random: none may be saved.
 */
#ifndef WEIR_HASH_H
#define WEIR_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Extend a hash by `len` bytes. The hash of a text is the hash of a prefix, extended by the rest. */
static inline uint64_t hash_text(uint64_t hash, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)s[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* Extend a hash by a number. Each bit of the number and of the hash changes each bit of the result. */
static inline uint64_t hash_add(uint64_t hash, uint64_t n)
{
    hash ^= n + UINT64_C(0x9E3779B97F4A7C15) + (hash << 6) + (hash >> 2);
    hash = (hash ^ hash >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94D049BB133111EB);
    return hash ^ hash >> 31;
}

/* A random seed: input cannot be made to collide. */
uint64_t weir_hash_seed(void);

#endif
