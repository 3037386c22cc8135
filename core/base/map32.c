/* map32.c - see map32.h. Invariant: at most two thirds of the slots are in use, so a search ends. Large tables
 * have pages of their own, so growth leaves no hole of the size of the table in the heap. */
#include "base/map32.h"

#include <string.h>

static void put(struct weir_map32 *m, struct weir_map32_slot slot)
{
    uint32_t at = weir_map32_home(m, slot.key);

    while (m->slots[at].at)
        at = (at + 1) & (m->wide - 1);
    m->slots[at] = slot;
}

int weir_map32_reserve(struct weir_map32 *m, size_t count)
{
    struct weir_map32 wider = {.count = m->count};

    if (3 * count <= 2 * (size_t)m->wide)
        return WEIR_OK;
    if (count > UINT32_MAX / 4 ||
        weir_scratch_grow(&wider.slots, &wider.wide, (3 * count + 1) / 2, sizeof *wider.slots))
        return WEIR_ENOMEM;
    memset(wider.slots, 0, weir_map32_bytes(&wider));
    for (uint32_t i = 0; i < m->wide; i++)
        if (m->slots[i].at)
            put(&wider, m->slots[i]);
    weir_map32_free(m);
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
            m->slots[hole] = m->slots[at]; /* an entry moves up into the hole, unless its home is behind the hole */
            hole = at;
        }
    m->slots[hole].at = 0;
    m->count--;
}

int weir_map32_copy(struct weir_map32 *to, const struct weir_map32 *from)
{
    *to = (struct weir_map32){.count = from->count};
    if (from->wide == 0)
        return WEIR_OK;
    if (weir_scratch_grow(&to->slots, &to->wide, from->wide, sizeof *to->slots)) {
        to->count = 0;
        return WEIR_ENOMEM;
    }
    memcpy(to->slots, from->slots, weir_map32_bytes(from));
    return WEIR_OK;
}

void weir_map32_free(struct weir_map32 *m)
{
    weir_scratch_free(&m->slots, &m->wide, sizeof *m->slots);
    *m = (struct weir_map32){0};
}
