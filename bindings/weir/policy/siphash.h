/* siphash.h - SipHash-2-4 with 128 bits of result, over 64-bit words. Without the key it is infeasible to make two
 * inputs with equal digests, so that equal digests may be taken for equal inputs. */
#ifndef WEIRLUA_SIPHASH_H
#define WEIRLUA_SIPHASH_H

#include <stdbool.h>
#include <stdint.h>

struct siphash_key {
    uint64_t k0, k1;
};

struct siphash {
    uint64_t v0, v1, v2, v3, words;
};

struct digest {
    uint64_t a, b;
};

static inline bool digest_equal(struct digest x, struct digest y)
{
    return x.a == y.a && x.b == y.b;
}

static inline uint64_t siphash_turn(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void siphash_rounds(struct siphash *h, int n)
{
    for (int i = 0; i < n; i++) {
        h->v0 += h->v1, h->v1 = siphash_turn(h->v1, 13) ^ h->v0, h->v0 = siphash_turn(h->v0, 32);
        h->v2 += h->v3, h->v3 = siphash_turn(h->v3, 16) ^ h->v2;
        h->v0 += h->v3, h->v3 = siphash_turn(h->v3, 21) ^ h->v0;
        h->v2 += h->v1, h->v1 = siphash_turn(h->v1, 17) ^ h->v2, h->v2 = siphash_turn(h->v2, 32);
    }
}

static inline void siphash_begin(struct siphash *h, struct siphash_key key)
{
    h->v0 = key.k0 ^ UINT64_C(0x736f6d6570736575);
    h->v1 = key.k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee;
    h->v2 = key.k0 ^ UINT64_C(0x6c7967656e657261);
    h->v3 = key.k1 ^ UINT64_C(0x7465646279746573);
    h->words = 0;
}

static inline void siphash_add(struct siphash *h, uint64_t word)
{
    h->v3 ^= word;
    siphash_rounds(h, 2);
    h->v0 ^= word;
    h->words++;
}

/* Returns the digest of the words so far; further words may be added. */
static inline struct digest siphash_end(const struct siphash *state)
{
    struct siphash h = *state;
    struct digest d;

    siphash_add(&h, state->words * 8 << 56);
    h.v2 ^= 0xee;
    siphash_rounds(&h, 4);
    d.a = h.v0 ^ h.v1 ^ h.v2 ^ h.v3;
    h.v1 ^= 0xdd;
    siphash_rounds(&h, 4);
    d.b = h.v0 ^ h.v1 ^ h.v2 ^ h.v3;
    return d;
}

#endif
