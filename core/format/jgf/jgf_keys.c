/* jgf_keys.c - the ids of a JSON graph. See jgf_keys.h. Invariant: a key is either in a run or in a slot; at most three
 * quarters of the slots are in use.
 */
#include "format/jgf/jgf_keys.h"

#include <inttypes.h>
#include <string.h>

#include "base/strtab.h"

#define NO_NUMBER UINT32_MAX
#define DIGITS    10

/* The number with `key` as its only notation, or NO_NUMBER. */
static uint32_t number_of(const char *key, size_t len)
{
    uint64_t n = 0;

    if (len == 0 || len > DIGITS || (key[0] == '0' && len > 1))
        return NO_NUMBER;
    for (size_t i = 0; i < len; i++) {
        if (key[i] < '0' || key[i] > '9')
            return NO_NUMBER;
        n = n * 10 + (uint64_t)(key[i] - '0');
    }
    return n < NO_NUMBER ? (uint32_t)n : NO_NUMBER;
}

/* ---- runs ----------------------------------------------------------------------------------------------------- */

static uint32_t find_number(const struct jgf_keys *k, uint32_t number)
{
    uint32_t low = 0, high = k->nruns; /* only the last run with a first number up to `number` can have the number */

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (k->runs[mid].number <= number)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0 || number - k->runs[low - 1].number >= k->runs[low - 1].count)
        return WEIR_NONE;
    return k->runs[low - 1].item + (number - k->runs[low - 1].number);
}

/* Adds a number to the runs. Returns 1, 0 if the number does not continue the runs, or WEIR_ENOMEM. */
static int add_number(struct jgf_keys *k, uint32_t number, uint32_t item)
{
    struct jgf_run *last = k->nruns ? &k->runs[k->nruns - 1] : NULL;

    if (last && number - last->number == last->count && item - last->item == last->count && number > last->number) {
        last->count++;
        return 1;
    }
    if (last && (number < last->number || number - last->number < last->count))
        return 0;
    if (weir_array_reserve(&k->runs, &k->runs_cap, (size_t)k->nruns + 1, sizeof *k->runs) < 0)
        return WEIR_ENOMEM;
    k->runs[k->nruns++] = (struct jgf_run){number, item, 1};
    return 1;
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

static const char *text_at(const struct jgf_keys *k, uint32_t slot)
{
    return k->texts + k->slots[slot] - 1 + sizeof(uint32_t);
}

/* The slot of a text, or the empty slot for the text. */
static uint32_t slot_of(const struct jgf_keys *k, const char *key, size_t len)
{
    uint32_t mask = k->nslots - 1, i = weir_strtab_hash(key, len) & mask;

    while (k->slots[i] && strcmp(text_at(k, i), key) != 0)
        i = (i + 1) & mask;
    return i;
}

static uint32_t item_at(const struct jgf_keys *k, size_t at)
{
    uint32_t item;

    memcpy(&item, k->texts + at, sizeof item);
    return item;
}

/* Offset behind the text at offset `at`. */
static size_t next_text(const struct jgf_keys *k, size_t at)
{
    return at + sizeof(uint32_t) + strlen(k->texts + at + sizeof(uint32_t)) + 1;
}

/* Grows the table and adds all texts again, so that two tables never exist at once. */
static int grow_slots(struct jgf_keys *k)
{
    if (weir_scratch_grow(&k->slots, &k->nslots, k->nslots ? 2 * (size_t)k->nslots : 64, sizeof *k->slots) < 0)
        return WEIR_ENOMEM;
    memset(k->slots, 0, k->nslots * sizeof *k->slots);
    for (size_t at = 0; at < k->ntexts; at = next_text(k, at)) {
        const char *key = k->texts + at + sizeof(uint32_t);
        k->slots[slot_of(k, key, strlen(key))] = (uint32_t)at + 1;
    }
    return WEIR_OK;
}

static int add_text(struct jgf_keys *k, const char *key, size_t len, uint32_t item)
{
    size_t at = k->ntexts, size = sizeof item + len + 1;

    if (at + size >= UINT32_MAX)
        return WEIR_ELIMIT;
    if ((k->n + UINT64_C(1)) * 4 > k->nslots * UINT64_C(3) && grow_slots(k) < 0)
        return WEIR_ENOMEM;
    if (weir_scratch_grow(&k->texts, &k->texts_cap, at + size, 1) < 0)
        return WEIR_ENOMEM;
    memcpy(k->texts + at, &item, sizeof item);
    memcpy(k->texts + at + sizeof item, key, len);
    k->texts[at + size - 1] = '\0';
    k->ntexts += (uint32_t)size;
    k->slots[slot_of(k, key, len)] = (uint32_t)at + 1;
    k->n++;
    return WEIR_OK;
}

/* ---- keys ----------------------------------------------------------------------------------------------------- */

uint32_t weir_jgf_keys_find(const struct jgf_keys *k, const char *key, size_t len)
{
    uint32_t number = k->nruns ? number_of(key, len) : NO_NUMBER, item = WEIR_NONE, slot;

    if (number != NO_NUMBER)
        item = find_number(k, number);
    if (item != WEIR_NONE || k->n == 0)
        return item;
    slot = slot_of(k, key, len);
    return k->slots[slot] ? item_at(k, k->slots[slot] - 1) : WEIR_NONE;
}

int weir_jgf_keys_add(struct jgf_keys *k, const char *key, size_t len, uint32_t item)
{
    uint32_t number = number_of(key, len);
    int rc = number == NO_NUMBER ? 0 : add_number(k, number, item);

    if (rc != 0)
        return rc < 0 ? rc : WEIR_OK;
    return add_text(k, key, len, item);
}

const char *weir_jgf_keys_text(const struct jgf_keys *k, uint32_t item, char buf[16])
{
    for (uint32_t i = 0; i < k->nruns; i++)
        if (item - k->runs[i].item < k->runs[i].count) { /* unsigned: wraps around for items before the run */
            snprintf(buf, 16, "%" PRIu32, k->runs[i].number + (item - k->runs[i].item));
            return buf;
        }
    for (size_t at = 0; at < k->ntexts; at = next_text(k, at))
        if (item_at(k, at) == item)
            return k->texts + at + sizeof item;
    return "";
}

void weir_jgf_keys_free(struct jgf_keys *k)
{
    weir_mem_free(k->runs);
    weir_scratch_free(&k->slots, &k->nslots, sizeof *k->slots);
    weir_scratch_free(&k->texts, &k->texts_cap, 1);
    *k = (struct jgf_keys){0};
}
