/* strtab.h - interned strings: each distinct string is stored once and identified by a number.
 *
 * Numbers are dense, starting with 0 for "". Strings stay valid, and numbers stay in use, until the table is
 * cleared.
 */
#ifndef WEIR_STRTAB_H
#define WEIR_STRTAB_H

#include "base/base.h"

typedef uint32_t weir_name;
#define WEIR_NO_NAME UINT32_MAX

typedef struct weir_strtab {
    char **blocks; /* storage of the strings; blocks never move */
    uint32_t nblocks, blocks_cap;
    size_t used, room;  /* bytes in the last block: used, in all */
    const char **texts; /* by number */
    uint32_t *hashes;
    uint32_t count, cap, hashes_cap;
    uint32_t *slots; /* open addressing: number + 1, or 0 if empty; a power of two of slots */
    uint32_t nslots;
    size_t bytes; /* size of all blocks */
} weir_strtab;

/* The hash of a string, for other hash tables: the low bits are well mixed. */
uint32_t weir_strtab_hash(const char *s, size_t len);

/* Make a table with the single string "". Returns WEIR_OK or WEIR_ENOMEM. */
int weir_strtab_init(weir_strtab *n) WEIR_CHECKED;
/* Free the table and all strings. */
void weir_strtab_clear(weir_strtab *n);
/* The number of a string, interned if new; WEIR_NO_NAME if out of memory. O(len) */
weir_name weir_strtab_add(weir_strtab *n, const char *s, size_t len);
/* The number of a string; WEIR_NO_NAME if the string is not in the table. O(len) */
weir_name weir_strtab_find(const weir_strtab *n, const char *s, size_t len);
/* The string with a number from weir_strtab_add(), NUL-terminated. O(1) */
static inline const char *weir_strtab_text(const weir_strtab *n, weir_name name)
{
    return n->texts[name];
}

#endif
