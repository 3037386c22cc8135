/* jgf_keys.c - the ids of a JSON graph. See jgf_keys.h. Invariant: a key is in a run, in `numbers` or a text. */
#include "format/jgf/jgf_keys.h"

#include <inttypes.h>
#include <string.h>

#include "base/bisect.h"
#include "base/hash.h"

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
    uint32_t low; /* only the last run with a first number up to `number` can have the number */

    WEIR_BISECT(low, 0, k->nruns, k->runs[low].number <= number);
    if (low == 0 || number - k->runs[low - 1].number >= k->runs[low - 1].count)
        return weir_map32_get(&k->numbers, number);
    return k->runs[low - 1].item + (number - k->runs[low - 1].number);
}

/* Adds a number to the runs, or to the table if the number is below the runs. */
static int add_number(struct jgf_keys *k, uint32_t number, uint32_t item)
{
    struct jgf_run *last = k->nruns ? &k->runs[k->nruns - 1] : NULL;

    if (last && number - last->number == last->count && item - last->item == last->count && number > last->number) {
        last->count++;
        return WEIR_OK;
    }
    if (last && number < last->number)
        return weir_map32_add(&k->numbers, number, item);
    return WEIR_ARRAY_ADD(k->runs, k->nruns, k->runs_cap, (struct jgf_run){number, item, 1});
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

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

static uint32_t hash_of(const struct jgf_keys *k, const char *key, size_t len)
{
    return (uint32_t)hash_text(k->seed, key, len);
}

static uint32_t find_text(const struct jgf_keys *k, const char *key, size_t len)
{
    WEIR_MAP32_EACH (&k->places, hash_of(k, key, len), at)
        if (strcmp(k->texts + at + sizeof(uint32_t), key) == 0)
            return item_at(k, at);
    return WEIR_NONE;
}

static int add_text(struct jgf_keys *k, const char *key, size_t len, uint32_t item)
{
    size_t at = k->ntexts, size = sizeof item + len + 1;

    if (at + size >= UINT32_MAX)
        return WEIR_ELIMIT;
    k->seed = k->seed ? k->seed : weir_hash_seed();
    if (weir_scratch_grow(&k->texts, &k->texts_cap, at + size, 1) < 0 ||
        weir_map32_add(&k->places, hash_of(k, key, len), (uint32_t)at) < 0)
        return WEIR_ENOMEM;
    memcpy(k->texts + at, &item, sizeof item);
    memcpy(k->texts + at + sizeof item, key, len);
    k->texts[at + size - 1] = '\0';
    k->ntexts += (uint32_t)size;
    return WEIR_OK;
}

/* ---- keys ----------------------------------------------------------------------------------------------------- */

uint32_t weir_jgf_keys_find(const struct jgf_keys *k, const char *key, size_t len)
{
    uint32_t number = number_of(key, len);

    return number != NO_NUMBER ? find_number(k, number) : find_text(k, key, len);
}

int weir_jgf_keys_add(struct jgf_keys *k, const char *key, size_t len, uint32_t item)
{
    uint32_t number = number_of(key, len);

    return number != NO_NUMBER ? add_number(k, number, item) : add_text(k, key, len, item);
}

const char *weir_jgf_keys_text(const struct jgf_keys *k, uint32_t item, char buf[16])
{
    for (uint32_t i = 0; i < k->nruns; i++)
        if (item - k->runs[i].item < k->runs[i].count) { /* unsigned: wraps around for items before the run */
            snprintf(buf, 16, "%" PRIu32, k->runs[i].number + (item - k->runs[i].item));
            return buf;
        }
    for (uint32_t i = 0; i < k->numbers.wide; i++)
        if (k->numbers.slots[i].at == item + 1) {
            snprintf(buf, 16, "%" PRIu32, k->numbers.slots[i].key);
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
    weir_map32_free(&k->numbers);
    weir_map32_free(&k->places);
    weir_scratch_free(&k->texts, &k->texts_cap, 1);
    *k = (struct jgf_keys){0};
}
