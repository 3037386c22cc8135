/* fuzz_hostlist.c - hostlists: the first line is read, written, read again and compared. The effect of the second
 * line (append, delete) and of the bytes behind (sort, uniq, delete by position) is compared with an array of
 * names. */
#include "fuzz.h"

#define NAMES 200  /* the most names of a compared list */
#define BYTES 4096 /* the most bytes of a name */

/* ---- texts ---- */

static weir_hostlist *parse(const char *text, size_t len)
{
    weir_hostlist *h = NULL;
    weir_err err = {0};
    int rc = weir_hostlist_parse(text, len, &h, &err);

    REQUIRE(rc == err.code && (rc == WEIR_OK) == (h != NULL));
    REQUIRE(rc == WEIR_OK || err.text[0]);
    return h;
}

static void find_one(const weir_hostlist *h, weir_hostlist *indexed, uint64_t i)
{
    char name[BYTES];
    size_t len = weir_hostlist_nth(h, i, name, sizeof name);
    int64_t at;

    REQUIRE((len > 0) == (i < weir_hostlist_count(h)));
    if (len == 0 || len >= sizeof name)
        return;
    at = weir_hostlist_find(h, name, len);
    REQUIRE(at >= 0 && (uint64_t)at <= i && weir_hostlist_find(indexed, name, len) == at);
    name[len] = '0';
    REQUIRE(weir_hostlist_find(h, name, len + 1) == weir_hostlist_find(indexed, name, len + 1));
    REQUIRE(weir_hostlist_find(h, name, len - 1) == weir_hostlist_find(indexed, name, len - 1));
}

static void text_alone(const weir_hostlist *h)
{
    char *text = weir_hostlist_format(h, NULL);
    weir_hostlist *back, *copy;
    char *again;

    REQUIRE(text);
    back = parse(text, strlen(text));
    REQUIRE(back && weir_hostlist_equal(h, back));
    again = weir_hostlist_format(back, NULL);
    REQUIRE(again && strcmp(text, again) == 0);
    REQUIRE(weir_hostlist_copy(h, &copy) == WEIR_OK && weir_hostlist_equal(copy, h));
    REQUIRE(weir_hostlist_index(copy) == WEIR_OK);
    for (uint64_t i = 0; i < 8; i++)
        find_one(h, copy, i * weir_hostlist_count(h) / 7);
    weir_free(text);
    weir_free(again);
    weir_hostlist_free(back);
    weir_hostlist_free(copy);
}

/* ---- names ---- */

struct model {
    char *name[NAMES * 4];
    size_t n;
};

/* False: too many or too long. */
static bool model_add(struct model *m, const weir_hostlist *h)
{
    char name[BYTES];

    if (weir_hostlist_count(h) > NAMES)
        return false;
    for (uint64_t i = 0; i < weir_hostlist_count(h); i++) {
        if (weir_hostlist_nth(h, i, name, sizeof name) >= sizeof name)
            return false;
        m->name[m->n++] = strdup(name);
    }
    return true;
}

static void model_remove(struct model *m, size_t i)
{
    free(m->name[i]);
    memmove(m->name + i, m->name + i + 1, (--m->n - i) * sizeof m->name[0]);
}

static void model_clear(struct model *m)
{
    while (m->n > 0)
        model_remove(m, m->n - 1);
}

static size_t number_at(const char *name)
{
    size_t len = strlen(name), at = len;

    while (at > 0 && len - at < WEIR_HOSTLIST_DIGITS && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at;
}

static int compare_names(const void *x, const void *y)
{
    const char *a = *(char *const *)x, *b = *(char *const *)y;
    size_t i = number_at(a), k = number_at(b);
    int order = memcmp(a, b, i < k ? i : k);

    if (order != 0 || i != k)
        return order != 0 ? order : i < k ? -1 : 1;
    if (strlen(a) != strlen(b))
        return strlen(a) < strlen(b) ? -1 : 1;
    return strcmp(a, b);
}

/* Checks that the list has the names of the model, and is written as if the names had been appended one by one. */
static void compare(const struct model *m, const weir_hostlist *h)
{
    weir_hostlist *again = weir_hostlist_new();
    char *a, *b;

    for (size_t i = 0; i < m->n; i++)
        REQUIRE(weir_hostlist_append_name(again, m->name[i], strlen(m->name[i]), NULL) == WEIR_OK);
    REQUIRE(weir_hostlist_equal(h, again) && weir_hostlist_count(h) == m->n);
    a = weir_hostlist_format(h, NULL);
    b = weir_hostlist_format(again, NULL);
    REQUIRE(a && b && strcmp(a, b) == 0);
    weir_free(a);
    weir_free(b);
    weir_hostlist_free(again);
}

/* ---- changes ---- */

static void delete_names(struct model *m, weir_hostlist *h, const weir_hostlist *names)
{
    struct model gone = {.n = 0};
    uint64_t deleted, count = 0;

    REQUIRE(model_add(&gone, names));
    for (size_t i = 0; i < gone.n; i++)
        for (size_t k = 0; k < m->n; k++)
            if (strcmp(gone.name[i], m->name[k]) == 0) {
                model_remove(m, k);
                count++;
                break;
            }
    REQUIRE(weir_hostlist_delete_list(h, names, &deleted, NULL) == WEIR_OK && deleted == count);
    model_clear(&gone);
}

static void rearrange(struct model *m, weir_hostlist *h, bool uniq)
{
    REQUIRE((uniq ? weir_hostlist_uniq : weir_hostlist_sort)(h) == WEIR_OK);
    qsort(m->name, m->n, sizeof m->name[0], compare_names);
    for (size_t i = m->n; uniq && i-- > 1;)
        if (strcmp(m->name[i], m->name[i - 1]) == 0)
            model_remove(m, i);
}

static void change(struct model *m, weir_hostlist *h, const weir_hostlist *other, uint8_t how)
{
    size_t i = how >> 3;

    switch (how & 7) {
    case 0: rearrange(m, h, how & 8); break;
    case 1: delete_names(m, h, other); break;
    case 2:
        if (m->n + weir_hostlist_count(other) > NAMES * 3 || !model_add(m, other))
            return;
        REQUIRE(weir_hostlist_append_list(h, other, NULL) == WEIR_OK);
        break;
    default:
        REQUIRE(weir_hostlist_delete_at(h, i) == (i < m->n ? WEIR_OK : WEIR_ENOENT));
        if (i < m->n)
            model_remove(m, i);
        break;
    }
    compare(m, h);
}

static void changes(weir_hostlist *h, const weir_hostlist *other, const uint8_t *data, size_t size)
{
    struct model m = {.n = 0}, probe = {.n = 0};

    if (model_add(&m, h) && model_add(&probe, other)) {
        compare(&m, h);
        for (size_t i = 0; i < size && i < 64; i++)
            change(&m, h, other, data[i]);
    }
    model_clear(&m);
    model_clear(&probe);
}

/* Lists of any size: no crash, and a failed operation leaves the list unchanged. */
static void change_large(weir_hostlist *h, const weir_hostlist *other)
{
    uint64_t count = weir_hostlist_count(h), gone = 0;

    if (weir_hostlist_delete_list(h, other, &gone, NULL) == WEIR_OK)
        REQUIRE(weir_hostlist_count(h) == count - gone);
    else
        REQUIRE(weir_hostlist_count(h) == count);
    count = weir_hostlist_count(h);
    (void)weir_hostlist_sort(h);
    REQUIRE(weir_hostlist_count(h) == count);
    (void)weir_hostlist_uniq(h);
    REQUIRE(weir_hostlist_count(h) <= count);
}

/* The length of the line at the start of data, without its end. */
static size_t line_length(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;

    return end ? (size_t)(end - data) : size;
}

/* Names with a text behind a bracket are made one by one: ten thousand are worth the time, a million are not; more
 * than WEIR_HOSTLIST_EXPAND are an error. */
static bool is_slow(const weir_hostlist *h, const uint8_t *text, size_t len)
{
    bool suffix = false;
    int brackets = 0;

    for (size_t i = 0; i < len; i++) {
        brackets += text[i] == ']';
        suffix = suffix || (i > 0 && text[i - 1] == ']' && text[i] > ' ' && text[i] != ',');
    }
    return suffix && weir_hostlist_count(h) > 10000 && (brackets > 1 || weir_hostlist_count(h) < WEIR_HOSTLIST_EXPAND);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t first = line_length(data, size);
    size_t rest = first < size ? size - first - 1 : 0;
    const uint8_t *more = data + (size - rest);
    size_t second = line_length(more, rest);
    weir_hostlist *a = parse((const char *)data, first);
    weir_hostlist *b = parse((const char *)more, second);
    bool slow = (a && is_slow(a, data, first)) || (b && is_slow(b, more, second));

    if (a && !slow)
        text_alone(a);
    if (a && b && !slow) {
        size_t used = second < rest ? second + 1 : second;
        changes(a, b, more + used, rest - used);
        change_large(a, b);
    }
    weir_hostlist_free(a);
    weir_hostlist_free(b);
    return 0;
}
