/* hostlist_text.c - the prefixes and suffixes of a list's names, each stored once. Invariant: the table has a slot
 * for every text and is at most half full; text i begins at text[start[i]] and is NUL-terminated.
 */
#include "hostlist/hostlist_private.h"

#include <string.h>
#include <time.h>

#define MIX UINT64_C(0x9e3779b97f4a7c15)

uint64_t weir_text_hash(uint64_t hash, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)s[i]) * MIX;
        hash ^= hash >> 32;
    }
    return hash;
}

static uint64_t make_seed(const struct texts *t)
{
    struct timespec now = {0};

    timespec_get(&now, TIME_UTC);
    return ((uint64_t)(uintptr_t)t * MIX) ^ ((uint64_t)now.tv_nsec << 20) ^ (uint64_t)now.tv_sec;
}

static bool is_text(const struct texts *t, uint32_t i, const char *s, size_t len)
{
    uint32_t end = i + 1 < t->n ? t->start[i + 1] : t->text_len;

    return end - t->start[i] == len + 1 && memcmp(t->text + t->start[i], s, len) == 0;
}

/* The slot of s: the slot in use, or the empty slot for insertion. */
static uint32_t *slot_of(const struct texts *t, const char *s, size_t len, uint64_t hash)
{
    uint32_t i = (uint32_t)hash & (t->size - 1);

    while (t->table[i] && !is_text(t, t->table[i] - 1, s, len))
        i = (i + 1) & (t->size - 1);
    return &t->table[i];
}

uint32_t weir_text_find_hashed(const struct texts *t, const char *s, size_t len, uint64_t hash)
{
    uint32_t slot = t->size ? *slot_of(t, s, len, hash) : 0;

    return slot ? slot - 1 : NO_TEXT;
}

uint32_t weir_text_find(const struct texts *t, const char *s, size_t len)
{
    if (t->n && is_text(t, t->n - 1, s, len)) /* consecutive names mostly have one prefix */
        return t->n - 1;
    return weir_text_find_hashed(t, s, len, weir_text_hash(t->seed, s, len));
}

static int table_grow(struct texts *t)
{
    struct texts bigger = *t;

    if ((uint64_t)t->n * 2 < t->size)
        return WEIR_OK;
    if (t->size > UINT32_MAX / 2)
        return WEIR_ENOMEM;
    if (t->size == 0)
        bigger.seed = make_seed(t);
    bigger.size = t->size ? t->size * 2 : 8;
    bigger.table = weir_mem_zalloc(bigger.size, sizeof *bigger.table);
    if (!bigger.table)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < t->n; i++) {
        const char *s = t->text + t->start[i];
        size_t len = strlen(s);
        *slot_of(&bigger, s, len, weir_text_hash(bigger.seed, s, len)) = i + 1;
    }
    weir_mem_free(t->table);
    *t = bigger;
    return WEIR_OK;
}

int weir_text_intern(struct texts *t, const char *s, size_t len, uint32_t *out)
{
    *out = weir_text_find(t, s, len);
    if (*out != NO_TEXT)
        return WEIR_OK;
    if (table_grow(t) != WEIR_OK ||
        weir_array_reserve(&t->start, &t->cap, (size_t)t->n + 1, sizeof *t->start) != WEIR_OK ||
        weir_array_reserve(&t->text, &t->text_cap, (size_t)t->text_len + len + 1, 1) != WEIR_OK)
        return WEIR_ENOMEM;
    *slot_of(t, s, len, weir_text_hash(t->seed, s, len)) = t->n + 1;
    t->start[t->n] = t->text_len;
    memcpy(t->text + t->text_len, s, len);
    t->text[t->text_len + len] = '\0';
    t->text_len += (uint32_t)len + 1;
    *out = t->n++;
    return WEIR_OK;
}

int weir_text_copy(struct texts *to, const struct texts *from)
{
    uint32_t i;

    for (uint32_t k = 0; k < from->n; k++) {
        const char *s = from->text + from->start[k];
        if (weir_text_intern(to, s, strlen(s), &i) != WEIR_OK)
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

void weir_text_clear(struct texts *t)
{
    weir_mem_free(t->text);
    weir_mem_free(t->start);
    weir_mem_free(t->table);
    memset(t, 0, sizeof *t);
}
