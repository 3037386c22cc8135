/* strtab.c - interned strings. Invariant: `numbers` has each string's number by the hash of the string. */
#include "base/strtab.h"

#include <string.h>

#define BLOCK       65536
#define FIRST_BLOCK 64 /* size of the first block; the strings so far give the size of further blocks, up to BLOCK */

int weir_strtab_init(weir_strtab *n)
{
    memset(n, 0, sizeof *n);
    if (weir_strtab_add(n, "", 0) != 0) {
        weir_strtab_clear(n);
        return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

void weir_strtab_clear(weir_strtab *n)
{
    for (uint32_t i = 0; i < n->nblocks; i++)
        weir_mem_free(n->blocks[i]);
    WEIR_FREE(n->blocks, n->texts);
    weir_map32_free(&n->numbers);
    memset(n, 0, sizeof *n);
}

/* Adds a block with room for at least `size` bytes. */
static int add_block(weir_strtab *n, size_t size)
{
    size_t like = n->bytes > BLOCK ? BLOCK : n->bytes > FIRST_BLOCK ? n->bytes : FIRST_BLOCK;
    char *block;

    size = size > like ? size : like;
    if (weir_array_reserve(&n->blocks, &n->blocks_cap, n->nblocks + 1, sizeof *n->blocks))
        return WEIR_ENOMEM;
    block = weir_mem_alloc(size);
    if (!block)
        return WEIR_ENOMEM;
    n->blocks[n->nblocks++] = block;
    n->used = 0;
    n->room = size;
    n->bytes += size;
    return WEIR_OK;
}

/* Copies a string into the blocks. Returns NULL if out of memory. */
static const char *store(weir_strtab *n, const char *s, size_t len)
{
    char *at;

    if (n->room - n->used < len + 1 && add_block(n, len + 1))
        return NULL;
    at = n->blocks[n->nblocks - 1] + n->used;
    memcpy(at, s, len);
    at[len] = '\0';
    n->used += len + 1;
    return at;
}

weir_name weir_strtab_find_hashed(const weir_strtab *n, const char *s, size_t len, uint64_t hash)
{
    WEIR_MAP32_EACH (&n->numbers, (uint32_t)hash, i)
        if (strlen(n->texts[i]) == len && memcmp(n->texts[i], s, len) == 0)
            return i;
    return WEIR_NO_NAME;
}

weir_name weir_strtab_find(const weir_strtab *n, const char *s, size_t len)
{
    return weir_strtab_find_hashed(n, s, len, hash_text(n->seed, s, len));
}

weir_name weir_strtab_add(weir_strtab *n, const char *s, size_t len)
{
    uint64_t hash;
    weir_name found;
    const char *text;

    if (n->numbers.wide == 0)
        n->seed = weir_hash_seed();
    hash = hash_text(n->seed, s, len);
    found = weir_strtab_find_hashed(n, s, len, hash);
    if (found != WEIR_NO_NAME)
        return found;
    if (weir_array_reserve(&n->texts, &n->cap, (size_t)n->count + 1, sizeof *n->texts) ||
        weir_map32_reserve(&n->numbers, (size_t)n->count + 1) || !(text = store(n, s, len)) ||
        weir_map32_add(&n->numbers, (uint32_t)hash, n->count))
        return WEIR_NO_NAME;
    n->texts[n->count] = text;
    return n->count++;
}

/* Copies all texts into one block. */
static int copy_texts(weir_strtab *to, const weir_strtab *from)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < from->count; i++)
        bytes += strlen(from->texts[i]) + 1;
    if (add_block(to, bytes))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < from->count; i++)
        to->texts[to->count++] = store(to, from->texts[i], strlen(from->texts[i]));
    return WEIR_OK;
}

int weir_strtab_copy(weir_strtab *to, const weir_strtab *from)
{
    if (from->count == 0)
        return WEIR_OK;
    to->seed = from->seed;
    if (weir_map32_copy(&to->numbers, &from->numbers) ||
        weir_array_exact(&to->texts, &to->cap, from->count, sizeof *to->texts))
        return WEIR_ENOMEM;
    return copy_texts(to, from);
}

size_t weir_strtab_bytes(const weir_strtab *n)
{
    return n->bytes + n->blocks_cap * sizeof *n->blocks + n->cap * sizeof *n->texts + weir_map32_bytes(&n->numbers);
}
