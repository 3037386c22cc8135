/* hostlist_prefix.c - the prefixes of the names of a list, each kept once. Invariant: table has a slot for every prefix
 * and is at most half full; prefix i begins at text[start[i]] and is terminated.
 */
#include "hostlist_private.h"

#include <string.h>

static uint32_t hash(const char *s, size_t len)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h ^ (h >> 15);
}

static bool is_prefix(const struct prefixes *p, uint32_t i, const char *s, size_t len)
{
    uint32_t end = i + 1 < p->n ? p->start[i + 1] : p->text_len;

    return end - p->start[i] == len + 1 && memcmp(p->text + p->start[i], s, len) == 0;
}

/* The slot of s, or the empty one where it belongs. */
static uint32_t *slot_of(const struct prefixes *p, const char *s, size_t len)
{
    uint32_t i = hash(s, len) & (p->size - 1);

    while (p->table[i] && !is_prefix(p, p->table[i] - 1, s, len))
        i = (i + 1) & (p->size - 1);
    return &p->table[i];
}

uint32_t weir_prefix_find(const struct prefixes *p, const char *s, size_t len)
{
    uint32_t slot;

    if (p->n && is_prefix(p, p->n - 1, s, len)) /* names mostly come in rows with one prefix */
        return p->n - 1;
    if (p->size == 0)
        return NO_PREFIX;
    slot = *slot_of(p, s, len);
    return slot ? slot - 1 : NO_PREFIX;
}

static int table_grow(struct prefixes *p)
{
    struct prefixes bigger = *p;

    if ((uint64_t)p->n * 2 < p->size)
        return WEIR_OK;
    if (p->size > UINT32_MAX / 2)
        return WEIR_ENOMEM;
    bigger.size = p->size ? p->size * 2 : 8;
    bigger.table = weir_mem_zalloc(bigger.size, sizeof *bigger.table);
    if (!bigger.table)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < p->n; i++) {
        const char *s = p->text + p->start[i];
        *slot_of(&bigger, s, strlen(s)) = i + 1;
    }
    weir_mem_free(p->table);
    *p = bigger;
    return WEIR_OK;
}

int weir_prefix_intern(struct prefixes *p, const char *s, size_t len, uint32_t *out)
{
    *out = weir_prefix_find(p, s, len);
    if (*out != NO_PREFIX)
        return WEIR_OK;
    if (table_grow(p) != WEIR_OK ||
        weir_array_reserve(&p->start, &p->cap, (size_t)p->n + 1, sizeof *p->start) != WEIR_OK ||
        weir_array_reserve(&p->text, &p->text_cap, (size_t)p->text_len + len + 1, 1) != WEIR_OK)
        return WEIR_ENOMEM;
    *slot_of(p, s, len) = p->n + 1;
    p->start[p->n] = p->text_len;
    memcpy(p->text + p->text_len, s, len);
    p->text[p->text_len + len] = '\0';
    p->text_len += (uint32_t)len + 1;
    *out = p->n++;
    return WEIR_OK;
}

int weir_prefix_copy(struct prefixes *to, const struct prefixes *from)
{
    uint32_t i;

    for (uint32_t k = 0; k < from->n; k++) {
        const char *s = from->text + from->start[k];
        if (weir_prefix_intern(to, s, strlen(s), &i) != WEIR_OK)
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

void weir_prefix_clear(struct prefixes *p)
{
    weir_mem_free(p->text);
    weir_mem_free(p->start);
    weir_mem_free(p->table);
    memset(p, 0, sizeof *p);
}
