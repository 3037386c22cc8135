/* strtab.h - interned strings: each text is stored once and known by a number.
 *
 * Number 0 is "". Numbers are dense and never freed before the table is. */
#ifndef WEIR_NAMES_H
#define WEIR_NAMES_H

#include "base/base.h"

typedef uint32_t weir_name;
#define WEIR_NO_NAME UINT32_MAX

typedef struct weir_names {
    char **blocks; /* strings live in blocks that never move */
    uint32_t nblocks, blocks_cap;
    size_t used, room;  /* of the last block */
    const char **texts; /* by number */
    uint32_t *hashes;
    uint32_t count, cap, hashes_cap;
    uint32_t *slots; /* open addressing, number + 1, 0 = empty; a power of two */
    uint32_t nslots;
    size_t bytes;
} weir_names;

/* The hash of a text, for tables of one's own whose low bits choose the slot. */
uint32_t weir_names_hash(const char *s, size_t len);

int weir_names_init(weir_names *n) WEIR_CHECKED;
void weir_names_clear(weir_names *n);
/* The number of a text, interning it; WEIR_NO_NAME: out of memory. O(length) */
weir_name weir_names_add(weir_names *n, const char *s, size_t len);
/* The number of a text that is there, or WEIR_NO_NAME. */
weir_name weir_names_find(const weir_names *n, const char *s, size_t len);
static inline const char *weir_names_text(const weir_names *n, weir_name name)
{
    return n->texts[name];
}

#endif
