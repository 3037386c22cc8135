/* lines.c - a line of CSV for each ended job, and the short form of its resources: "rank[0-1]/core[0-3]
 * rank2/core0". Ranks with equal ids are named together, in the order of the first rank, as core/rset writes sets. */
#include "queue/flat.h"

#include <stdlib.h>
#include <string.h>

/* A rank with its pieces, sorted by id. */
struct rank_ids {
    uint32_t rank, npieces;
    size_t piece;
    uint32_t leader; /* the first rank with equal ids */
    uint32_t next;   /* the next rank with equal ids; FLAT_NONE: none */
    uint32_t last;   /* of a leader: the last rank with equal ids */
};

/* ---- texts ---- */

static void add_text(struct flat_text *t, const char *data, size_t len)
{
    if (t->failed || !flat_grow(&t->data, &t->cap, t->len + len + 1, 1)) {
        t->failed = true;
        return;
    }
    memcpy(t->data + t->len, data, len);
    t->len += len;
    t->data[t->len] = '\0';
}

static void add(struct flat_text *t, const char *text)
{
    add_text(t, text, strlen(text));
}

static void add_integer(struct flat_text *t, int64_t n)
{
    char digits[24], *at = digits + sizeof digits;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

    do
        *--at = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (n < 0)
        *--at = '-';
    add_text(t, at, (size_t)(digits + sizeof digits - at));
}

/* Adds a time in seconds, without zeros at the end of the decimals. */
static void add_time(struct flat_text *t, int64_t us)
{
    int64_t part = us % FLAT_SECOND;

    add_integer(t, us / FLAT_SECOND);
    if (part > 0)
        add(t, ".");
    for (int64_t unit = FLAT_SECOND / 10; part > 0; unit /= 10) {
        add_integer(t, part / unit);
        part %= unit;
    }
}

/* Adds a field of CSV, quoted where needed. */
static void add_quoted(struct flat_text *t, const char *field, size_t len)
{
    if (len == 0 || strcspn(field, "\",\r\n") >= len) {
        add_text(t, field, len);
        return;
    }
    add(t, "\"");
    for (size_t i = 0; i < len; i++) {
        if (field[i] == '"')
            add(t, "\"");
        add_text(t, field + i, 1);
    }
    add(t, "\"");
}

static void add_number(struct flat_text *t, const struct number *n)
{
    if (n->kind == FLAT_INTEGER)
        add_integer(t, n->integer);
    else
        add_quoted(t, n->text, strlen(n->text));
}

/* ---- sets of ids ---- */

/* A set, written while the ranges come in order: "7", "[7-9]", "[1,3]". */
struct writing {
    struct flat_text *t;
    size_t begin;
    uint32_t from, to; /* the range not yet written */
    bool many, open;
};

static void flush_range(struct writing *w)
{
    add_integer(w->t, w->from);
    if (w->to - w->from > 1) {
        add(w->t, "-");
        add_integer(w->t, (int64_t)w->to - 1);
        w->many = true;
    }
}

static void add_range(struct writing *w, uint32_t from, uint32_t to)
{
    if (w->open && w->to == from) {
        w->to = to;
        return;
    }
    if (w->open) {
        flush_range(w);
        add(w->t, ",");
        w->many = true;
    } else {
        w->begin = w->t->len;
        add(w->t, "[");
    }
    w->from = from;
    w->to = to;
    w->open = true;
}

static void end_ranges(struct writing *w)
{
    flush_range(w);
    if (w->many) {
        add(w->t, "]");
    } else if (!w->t->failed) { /* without brackets */
        memmove(w->t->data + w->begin, w->t->data + w->begin + 1, w->t->len - w->begin);
        w->t->len--;
    }
}

/* ---- pieces ---- */

static uint32_t stretch_of(const struct naming *names, uint32_t unit)
{
    uint32_t low = 0, high = names->n;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (names->stretches[middle].first <= unit)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static struct piece piece_of(const struct naming *names, const struct stretch *stretch, uint32_t from, uint32_t to)
{
    uint32_t base = names->nodes ? stretch->rank : stretch->id, a = from - stretch->first, b = to - stretch->first;
    uint32_t group = names->nodes ? stretch->class : stretch->rank;

    return stretch->step > 0 ? (struct piece){group, base + a, base + b}
                             : (struct piece){group, base + 1 - b, base + 1 - a};
}

static int by_group(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Lists the pieces of a job by group and id. Returns the number of pieces, or -1 without memory. */
static int64_t list_pieces(struct flat *s, const struct flat_job *job)
{
    struct naming *names = &s->naming;
    size_t n = 0;
    bool ordered = true;

    for (uint32_t i = 0; i < job->nruns; i++) {
        uint32_t at = job->runs[i].from, k = stretch_of(names, at);
        for (; at < job->runs[i].to; k++) {
            uint32_t stop = k + 1 < names->n ? names->stretches[k + 1].first : s->units.n;
            stop = stop < job->runs[i].to ? stop : job->runs[i].to;
            if (!flat_grow(&names->pieces, &names->pieces_cap, n + 1, sizeof *names->pieces))
                return -1;
            names->pieces[n] = piece_of(names, &names->stretches[k], at, stop);
            ordered = ordered && (n == 0 || by_group(&names->pieces[n - 1], &names->pieces[n]) < 0);
            n++;
            at = stop;
        }
    }
    if (!ordered)
        qsort(names->pieces, n, sizeof *names->pieces, by_group);
    return (int64_t)n;
}

/* ---- cores ---- */

static bool same_ids(const struct naming *names, const struct rank_ids *a, const struct rank_ids *b)
{
    if (a->npieces != b->npieces)
        return false;
    for (uint32_t i = 0; i < a->npieces; i++)
        if (names->pieces[a->piece + i].from != names->pieces[b->piece + i].from ||
            names->pieces[a->piece + i].to != names->pieces[b->piece + i].to)
            return false;
    return true;
}

/* Finds the first rank with the ids of rank number `n`: mostly the first rank of the rank before. */
static uint32_t leader_of(const struct naming *names, uint32_t n)
{
    const struct rank_ids *ranks = names->ranks;

    if (n > 0 && same_ids(names, &ranks[n - 1], &ranks[n]))
        return ranks[n - 1].leader;
    for (uint32_t i = 0; i < n; i++)
        if (ranks[i].leader == i && same_ids(names, &ranks[i], &ranks[n]))
            return i;
    return n;
}

/* Lists the ranks of n pieces. Returns the number of ranks, or -1 without memory. */
static int64_t list_ranks(struct naming *names, size_t n)
{
    uint32_t nranks = 0;

    for (size_t i = 0; i < n;) {
        struct rank_ids *r;
        size_t begin = i;
        if (!flat_grow(&names->ranks, &names->ranks_cap, nranks + 1, sizeof *names->ranks))
            return -1;
        for (; i < n && names->pieces[i].group == names->pieces[begin].group; i++)
            continue;
        r = &names->ranks[nranks];
        *r = (struct rank_ids){names->pieces[begin].group, (uint32_t)(i - begin), begin, nranks, FLAT_NONE, nranks};
        r->leader = leader_of(names, nranks);
        if (r->leader != nranks) {
            names->ranks[names->ranks[r->leader].last].next = nranks;
            names->ranks[r->leader].last = nranks;
        }
        nranks++;
    }
    return nranks;
}

static bool write_cores(struct naming *names, size_t n, struct flat_text *out)
{
    int64_t nranks = list_ranks(names, n);

    for (uint32_t i = 0; i < nranks; i++) {
        const struct rank_ids *r = &names->ranks[i];
        struct writing w = {.t = out}, ids = {.t = out};
        if (r->leader != i)
            continue;
        add(out, i > 0 ? " rank" : "rank");
        for (uint32_t k = i; k != FLAT_NONE; k = names->ranks[k].next)
            add_range(&w, names->ranks[k].rank, names->ranks[k].rank + 1);
        end_ranges(&w);
        add(out, "/");
        add(out, names->type);
        for (uint32_t k = 0; k < r->npieces; k++)
            add_range(&ids, names->pieces[r->piece + k].from, names->pieces[r->piece + k].to);
        end_ranges(&ids);
    }
    return nranks >= 0;
}

/* ---- nodes ---- */

/* Writes the class of nodes with the smallest first rank above *last, empty nodes behind all nodes with cores. Returns
 * false without a further class. */
static bool write_class(const struct naming *names, size_t n, bool bare, int64_t *last, struct flat_text *out)
{
    size_t first = n;
    struct writing w = {.t = out};

    for (size_t i = 0; i < n; i++)
        if ((i == 0 || names->pieces[i - 1].group != names->pieces[i].group) &&
            (names->texts[names->pieces[i].group][0] == '\0') == bare && (int64_t)names->pieces[i].from > *last &&
            (first == n || names->pieces[i].from < names->pieces[first].from))
            first = i;
    if (first == n)
        return false;
    *last = names->pieces[first].from;
    add(out, out->len > 0 ? " rank" : "rank");
    for (size_t i = first; i < n && names->pieces[i].group == names->pieces[first].group; i++)
        add_range(&w, names->pieces[i].from, names->pieces[i].to);
    end_ranges(&w);
    if (!bare) {
        add(out, "/");
        add(out, names->texts[names->pieces[first].group]);
    }
    return true;
}

bool flat_lines_resources(struct flat *s, const struct flat_job *job, struct flat_text *out)
{
    int64_t n = list_pieces(s, job), last = -1;

    if (n < 0)
        return false;
    out->len = 0;
    add_text(out, "", 0);
    if (!s->naming.nodes)
        return write_cores(&s->naming, (size_t)n, out) && !out->failed;
    while (write_class(&s->naming, (size_t)n, false, &last, out))
        continue;
    for (last = -1; write_class(&s->naming, (size_t)n, true, &last, out);)
        continue;
    return !out->failed;
}

bool flat_lines_job(struct flat *s, const struct flat_job *job)
{
    struct flat_text *t = &s->lines;

    if (!flat_lines_resources(s, job, &s->names))
        return false;
    add_number(t, &job->number);
    add(t, ",");
    add_time(t, job->submit);
    add(t, ",");
    add_time(t, job->start);
    add(t, ",");
    add_time(t, job->finish);
    add(t, ",");
    add_time(t, job->start - job->submit);
    add(t, ",");
    add_quoted(t, s->names.data, s->names.len);
    add(t, "\n");
    return !t->failed;
}

void flat_naming_close(struct naming *n)
{
    for (uint32_t i = 0; i < n->ntexts; i++)
        free(n->texts[i]);
    free(n->texts);
    free(n->stretches);
    free(n->type);
    free(n->pieces);
    free(n->ranks);
    *n = (struct naming){0};
}
