/* strtab.c - interned strings. Invariant: each string's number is in exactly one slot; at most half of the slots are
 * in use.
 */
#include "base/strtab.h"

#include <string.h>

#define BLOCK 65536
#define FIRST_BLOCKS 1024 /* size of the first blocks, so small graphs stay small */

uint32_t weir_strtab_hash(const char *s, size_t len)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h ^ (h >> 15);
}

int weir_strtab_init(weir_strtab *n)
{
    memset(n, 0, sizeof *n);
    n->nslots = 64;
    n->slots = weir_mem_zalloc(n->nslots, sizeof *n->slots);
    if (!n->slots || weir_strtab_add(n, "", 0) != 0) {
        weir_strtab_clear(n);
        return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

void weir_strtab_clear(weir_strtab *n)
{
    for (uint32_t i = 0; i < n->nblocks; i++)
        weir_mem_free(n->blocks[i]);
    weir_mem_free(n->blocks);
    weir_mem_free(n->texts);
    weir_mem_free(n->hashes);
    weir_mem_free(n->slots);
    memset(n, 0, sizeof *n);
}

/* The slot of a string: the slot in use, or the empty slot for its insertion. */
static uint32_t find_slot(const weir_strtab *n, const char *s, size_t len, uint32_t h)
{
    uint32_t at = h & (n->nslots - 1);
    while (n->slots[at]) {
        uint32_t i = n->slots[at] - 1;
        if (n->hashes[i] == h && strncmp(n->texts[i], s, len) == 0 && n->texts[i][len] == '\0')
            return at;
        at = (at + 1) & (n->nslots - 1);
    }
    return at;
}

static int grow_slots(weir_strtab *n)
{
    uint32_t wide = n->nslots * 2;
    uint32_t *slots = weir_mem_zalloc(wide, sizeof *slots);

    if (!slots)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < n->count; i++) {
        uint32_t at = n->hashes[i] & (wide - 1);
        while (slots[at])
            at = (at + 1) & (wide - 1);
        slots[at] = i + 1;
    }
    weir_mem_free(n->slots);
    n->slots = slots;
    n->nslots = wide;
    return WEIR_OK;
}

/* Copies a string into the blocks. Returns NULL if out of memory. */
static const char *store(weir_strtab *n, const char *s, size_t len)
{
    char *at;

    if (n->nblocks == 0 || n->room - n->used < len + 1) {
        size_t size = len + 1 > BLOCK / 4 ? len + 1 : n->nblocks < 4 && len < FIRST_BLOCKS ? FIRST_BLOCKS : BLOCK;
        char *block;
        if (weir_array_reserve(&n->blocks, &n->blocks_cap, n->nblocks + 1, sizeof *n->blocks))
            return NULL;
        block = weir_mem_alloc(size);
        if (!block)
            return NULL;
        n->blocks[n->nblocks++] = block;
        n->used = 0;
        n->room = size;
        n->bytes += size;
    }
    at = n->blocks[n->nblocks - 1] + n->used;
    memcpy(at, s, len);
    at[len] = '\0';
    n->used += len + 1;
    return at;
}

weir_name weir_strtab_add(weir_strtab *n, const char *s, size_t len)
{
    uint32_t h = weir_strtab_hash(s, len);
    uint32_t at = find_slot(n, s, len, h);
    const char *text;

    if (n->slots[at])
        return n->slots[at] - 1;
    if ((n->count + 1) * 2 > n->nslots) {
        if (grow_slots(n))
            return WEIR_NO_NAME;
        at = find_slot(n, s, len, h);
    }
    if (weir_array_reserve(&n->texts, &n->cap, n->count + 1, sizeof *n->texts) ||
        weir_array_reserve(&n->hashes, &n->hashes_cap, n->count + 1, sizeof *n->hashes))
        return WEIR_NO_NAME;
    text = store(n, s, len);
    if (!text)
        return WEIR_NO_NAME;
    n->texts[n->count] = text;
    n->hashes[n->count] = h;
    n->slots[at] = ++n->count;
    return n->count - 1;
}

weir_name weir_strtab_find(const weir_strtab *n, const char *s, size_t len)
{
    uint32_t at = find_slot(n, s, len, weir_strtab_hash(s, len));
    return n->slots[at] ? n->slots[at] - 1 : WEIR_NO_NAME;
}
