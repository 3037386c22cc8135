/* map64.c - a hash table from 64-bit keys to positions in an array. */
#include "base/map64.h"

#define FIRST_WIDTH 256

static uint32_t slot_of(const struct weir_map64 *p, uint64_t key)
{
    uint32_t i = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32) & (p->wide - 1);

    while (p->slots[i].at && p->slots[i].key != key)
        i = (i + 1) & (p->wide - 1);
    return i;
}

uint32_t weir_map64_get(const struct weir_map64 *p, uint64_t key)
{
    return p->wide ? p->slots[slot_of(p, key)].at - 1 : WEIR_NONE; /* an empty slot gives 0 - 1 == WEIR_NONE */
}

static int grow(struct weir_map64 *p)
{
    struct weir_map64 wider = {.count = p->count, .wide = p->wide ? p->wide * 2 : FIRST_WIDTH};

    wider.slots = weir_mem_zalloc(wider.wide, sizeof *wider.slots);
    if (!wider.slots)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < p->wide; i++)
        if (p->slots[i].at)
            wider.slots[slot_of(&wider, p->slots[i].key)] = p->slots[i];
    weir_mem_free(p->slots);
    *p = wider;
    return WEIR_OK;
}

int weir_map64_add(struct weir_map64 *p, uint64_t key, uint32_t at)
{
    if ((p->count + 1) * 2 > p->wide && grow(p))
        return WEIR_ENOMEM;
    p->slots[slot_of(p, key)] = (struct place_slot){key, at + 1};
    p->count++;
    return WEIR_OK;
}

void weir_map64_clear(struct weir_map64 *p)
{
    weir_mem_free(p->slots);
    *p = (struct weir_map64){0};
}
