/* map32.c - see map32.h. Invariant: at most two thirds of the slots are in use, so a search ends. */
#include "base/map32.h"

#include <string.h>

#define FIRST_WIDTH 8

static void put(struct weir_map32 *m, struct weir_map32_slot slot)
{
    uint32_t at = weir_map32_home(m, slot.key);

    while (m->slots[at].at)
        at = (at + 1) & (m->wide - 1);
    m->slots[at] = slot;
}

int weir_map32_reserve(struct weir_map32 *m, size_t count)
{
    struct weir_map32 wider = {.count = m->count, .wide = m->wide ? m->wide : FIRST_WIDTH};

    if (3 * count <= 2 * (size_t)m->wide)
        return WEIR_OK;
    if (count > UINT32_MAX / 4)
        return WEIR_ENOMEM;
    while (2 * (size_t)wider.wide < 3 * count)
        wider.wide *= 2;
    wider.slots = weir_mem_zalloc(wider.wide, sizeof *wider.slots);
    if (!wider.slots)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < m->wide; i++)
        if (m->slots[i].at)
            put(&wider, m->slots[i]);
    weir_mem_free(m->slots);
    *m = wider;
    return WEIR_OK;
}

int weir_map32_add(struct weir_map32 *m, uint32_t key, uint32_t number)
{
    if (weir_map32_reserve(m, (size_t)m->count + 1))
        return WEIR_ENOMEM;
    put(m, (struct weir_map32_slot){key, number + 1});
    m->count++;
    return WEIR_OK;
}

void weir_map32_remove(struct weir_map32 *m, uint32_t key, uint32_t number)
{
    uint32_t mask = m->wide - 1, hole = weir_map32_home(m, key), at;

    while (m->slots[hole].key != key || m->slots[hole].at != number + 1)
        hole = (hole + 1) & mask;
    for (at = (hole + 1) & mask; m->slots[at].at; at = (at + 1) & mask)
        if (((at - weir_map32_home(m, m->slots[at].key)) & mask) >= ((at - hole) & mask)) {
            m->slots[hole] = m->slots[at]; /* an entry behind the hole moves up, unless that is before its home */
            hole = at;
        }
    m->slots[hole].at = 0;
    m->count--;
}

int weir_map32_copy(struct weir_map32 *to, const struct weir_map32 *from)
{
    *to = *from;
    to->slots = NULL;
    if (from->wide && !(to->slots = weir_mem_alloc(weir_map32_bytes(from)))) {
        *to = (struct weir_map32){0};
        return WEIR_ENOMEM;
    }
    if (from->wide)
        memcpy(to->slots, from->slots, weir_map32_bytes(from));
    return WEIR_OK;
}

void weir_map32_free(struct weir_map32 *m)
{
    weir_mem_free(m->slots);
    *m = (struct weir_map32){0};
}
