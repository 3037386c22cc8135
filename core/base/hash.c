/* hash.c - see hash.h. */
#include "base/hash.h"

#include <sys/random.h>
#include <sys/types.h>
#include <time.h>

uint64_t weir_hash_seed(void)
{
    struct timespec now = {0};
    uint64_t seed;

    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed)
        return seed;
    clock_gettime(CLOCK_MONOTONIC, &now); /* early at boot: no randomness yet */
    return hash_add((uint64_t)now.tv_nsec, (uint64_t)(uintptr_t)&now);
}
