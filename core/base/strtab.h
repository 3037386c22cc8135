/* strtab.h - interned strings: each distinct string is stored once and identified by a number.
 *
 * Numbers are dense, in the order of addition. Strings stay valid, and numbers stay in use, until the table is
 * cleared. A zero-initialised table is empty.
 */
#ifndef WEIR_STRTAB_H
#define WEIR_STRTAB_H

#include "base/hash.h"
#include "base/map32.h"

typedef uint32_t weir_name;
#define WEIR_NO_NAME UINT32_MAX

typedef struct weir_strtab {
    char **blocks; /* storage of the strings; blocks never move */
    uint32_t nblocks, blocks_cap;
    size_t used, room;  /* bytes in the last block: used, in all */
    size_t bytes;       /* size of all blocks */
    const char **texts; /* by number */
    uint32_t count, cap;
    struct weir_map32 numbers; /* by hash */
    uint64_t seed;             /* of the hashes, random */
} weir_strtab;

/* Make a table of a graph: number 0 is "". Returns WEIR_OK or WEIR_ENOMEM. */
int weir_strtab_init(weir_strtab *n) WEIR_CHECKED;
/* Make *to, which must be empty, a copy with equal numbers. Returns WEIR_OK, or WEIR_ENOMEM with *to to be cleared. */
int weir_strtab_copy(weir_strtab *to, const weir_strtab *from) WEIR_CHECKED;
/* Free all strings; the table is empty. */
void weir_strtab_clear(weir_strtab *n);
/* The number of a string, interned if new; WEIR_NO_NAME if out of memory. O(len) */
weir_name weir_strtab_add(weir_strtab *n, const char *s, size_t len);
/* The number of a string; WEIR_NO_NAME if the string is not in the table. O(len) */
weir_name weir_strtab_find(const weir_strtab *n, const char *s, size_t len);
/* weir_strtab_find() with the hash_text() of the string, from the table's seed on. */
weir_name weir_strtab_find_hashed(const weir_strtab *n, const char *s, size_t len, uint64_t hash);
/* Bytes of memory. O(1) */
size_t weir_strtab_bytes(const weir_strtab *n);
/* The string with a number from weir_strtab_add(), NUL-terminated. O(1) */
static inline const char *weir_strtab_text(const weir_strtab *n, weir_name name)
{
    return n->texts[name];
}

#endif
