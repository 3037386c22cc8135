/* test_timeline.c - timelines: rows made by hand, random runs against an array with one level for each time,
 * failing allocations.
 */
#include "check.h"

#include "time/timeline.h"

static int64_t F = WEIR_FOREVER;

/* ---- rows ---- */

static void test_empty(void)
{
    weir_timeline *p = weir_timeline_new();
    int64_t t, used;

    CHECK(weir_timeline_points(p) == 0, "a new plan has no points");
    CHECK(weir_timeline_used_at(p, 0) == 0 && weir_timeline_max(p, INT64_MIN, F) == 0, "a new plan is 0 everywhere");
    CHECK(weir_timeline_next_change(p, INT64_MIN) == F, "a new plan never changes");
    CHECK(weir_timeline_first_fit(p, 7, F, 0) == 7, "anything fits at once in a new plan");
    CHECK(weir_timeline_first_fit(p, 7, 1, -1) == F, "nothing fits below 0");
    CHECK(!weir_timeline_point(p, 0, &t, &used), "a new plan has no first point");
    CHECK(weir_timeline_bytes(p) <= 80, "a plan of up to four points takes at most 80 bytes");
    weir_timeline_free(p);
    weir_timeline_free(NULL);
}

static const struct add_row {
    int64_t start, end, amount;
    int rc;
    uint32_t points;
    const char *what;
} add_rows[] = {
    {0, 10, 3, WEIR_OK, 2, "one job"},
    {10, 20, 3, WEIR_OK, 2, "a job after it, alike, merges"},
    {5, 5, 1, WEIR_EINVAL, 2, "an empty interval is refused"},
    {6, 5, 1, WEIR_EINVAL, 2, "a reversed interval is refused"},
    {0, 10, -4, WEIR_EINVAL, 2, "more than there is cannot be taken back"},
    {5, 25, -1, WEIR_EINVAL, 2, "nor can anything where part of the time is at 0"},
    {0, 20, INT64_MIN, WEIR_EINVAL, 2, "nor the lowest number"},
    {15, 30, INT64_MAX, WEIR_EINVAL, 2, "a level above the largest number is refused"},
    {20, 30, INT64_MAX, WEIR_OK, 3, "the largest number itself is a level"},
    {20, 30, -INT64_MAX, WEIR_OK, 2, "and is taken back"},
    {3, 9, 0, WEIR_OK, 2, "nothing added, nothing changed"},
    {INT64_MIN / 2, 0, 3, WEIR_OK, 2, "from far back"},
    {20, INT64_MAX, 3, WEIR_OK, 1, "without an end"},
    {5, INT64_MAX, 2, WEIR_OK, 2, "without an end, on top"},
    {0, 10, -3, WEIR_OK, 4, "one job taken back out of the middle"},
    {INT64_MIN / 2, 0, -3, WEIR_OK, 2, "then the one before it"},
    {10, 20, -3, WEIR_OK, 2, "then the one after it"},
    {20, INT64_MAX, -3, WEIR_OK, 1, "then the endless one"},
    {5, INT64_MAX, -2, WEIR_OK, 0, "then the last"},
};

static void test_add_rows(void)
{
    weir_timeline *p = weir_timeline_new();
    weir_err err = {0};

    for (size_t i = 0; i < sizeof add_rows / sizeof *add_rows; i++) {
        const struct add_row *r = &add_rows[i];
        int rc = weir_timeline_add(p, r->start, r->end, r->amount);
        CHECK(rc == r->rc, "%s: status %s", r->what, weir_status_name(rc));
        CHECK(weir_timeline_points(p) == r->points, "%s: %u points", r->what, weir_timeline_points(p));
        CHECK(weir_timeline_check(p, &err) == WEIR_OK, "%s: %s", r->what, err.text);
    }
    weir_timeline_free(p);
}

/* [10,20) 4, [20,30) 8, [30,40) 0, [40,50) 6, [60,...) 2 */
static weir_timeline *stairs(void)
{
    weir_timeline *p = weir_timeline_new();
    bool ok = weir_timeline_add(p, 10, 30, 4) == WEIR_OK && weir_timeline_add(p, 20, 30, 4) == WEIR_OK &&
              weir_timeline_add(p, 40, 50, 6) == WEIR_OK && weir_timeline_add(p, 60, F, 2) == WEIR_OK;
    CHECK(ok, "stairs are built");
    return p;
}

static const struct fit_row {
    int64_t from, duration, limit, want;
} fit_rows[] = {
    {0, 10, 0, 0},
    {0, 11, 0, INT64_MAX},
    {0, 11, 4, 0},
    {0, 20, 4, 0},
    {0, 21, 4, 50},
    {0, 40, 6, 30},
    {15, 5, 4, 15},
    {15, 6, 4, 30},
    {20, 10, 8, 20},
    {25, 1, 0, 30},
    {30, 10, 0, 30},
    {31, 10, 0, 50},
    {45, 10, 0, 50},
    {55, 10, 0, INT64_MAX},
    {45, INT64_MAX, 2, 50},
    {0, INT64_MAX, 8, 0},
    {0, INT64_MAX, 1, INT64_MAX},
    {70, 1, 1, INT64_MAX},
    {70, 1, 2, 70},
    {INT64_MAX - 5, 10, 2, INT64_MAX - 5},
    {INT64_MIN / 2, INT64_MAX, 7, 30},
    {5, 0, -1, 5},
};

static void test_fit_rows(void)
{
    weir_timeline *p = stairs();

    for (size_t i = 0; i < sizeof fit_rows / sizeof *fit_rows; i++) {
        const struct fit_row *r = &fit_rows[i];
        int64_t got = weir_timeline_first_fit(p, r->from, r->duration, r->limit);
        CHECK(got == r->want, "first fit, row %zu: got %lld, want %lld", i, (long long)got, (long long)r->want);
    }
    weir_timeline_free(p);
}

static void test_points(void)
{
    static const int64_t want[][2] = {{10, 4}, {20, 8}, {30, 0}, {40, 6}, {50, 0}, {60, 2}};
    weir_timeline *p = stairs();
    int64_t t, used;

    CHECK(weir_timeline_points(p) == 6, "six points");
    for (uint32_t i = 0; i < 6; i++) {
        CHECK(weir_timeline_point(p, i, &t, &used) && t == want[i][0] && used == want[i][1], "point %u", i);
        CHECK(weir_timeline_next_change(p, t - 1) == t, "the change after %lld", (long long)t - 1);
    }
    CHECK(!weir_timeline_point(p, 6, &t, &used), "no seventh point");
    CHECK(weir_timeline_max(p, 0, 10) == 0 && weir_timeline_max(p, 0, 11) == 4, "the end of an interval is outside");
    CHECK(weir_timeline_max(p, 29, 40) == 8 && weir_timeline_max(p, 30, 40) == 0, "its start is inside");
    CHECK(weir_timeline_max(p, INT64_MIN, F) == 8 && weir_timeline_max(p, 60, F) == 2, "maximum without an end");
    CHECK(weir_timeline_max(p, 20, 20) == 0 && weir_timeline_max(p, 25, 20) == 0, "an empty interval has maximum 0");
    weir_timeline_free(p);
}

/* ---- random runs against a model ---- */

#define SLOTS 1500 /* the last slot has no end */
#define HELD  600

struct held {
    int start, end; /* slots; end == SLOTS: no end */
    int64_t amount;
};

struct model {
    weir_timeline *p;
    uint64_t seed;
    int slots;          /* in use */
    int64_t base, step; /* slot i begins at base + i * step */
    int64_t used[SLOTS];
    struct held held[HELD];
    int nheld;
};

static uint32_t dice(struct model *m, uint32_t n)
{
    m->seed ^= m->seed << 13;
    m->seed ^= m->seed >> 7;
    m->seed ^= m->seed << 17;
    return (uint32_t)((m->seed >> 20) % n);
}

static int64_t slot_time(const struct model *m, int slot)
{
    return slot >= m->slots ? F : m->base + slot * m->step;
}

static int model_extreme(const struct model *m, int a, int b, int64_t *high)
{
    int64_t low = a < b ? m->used[a] : 0;
    *high = 0;
    for (int i = a; i < b; i++) {
        *high = m->used[i] > *high ? m->used[i] : *high;
        low = m->used[i] < low ? m->used[i] : low;
    }
    return low > INT32_MAX ? INT32_MAX : (int)low;
}

static int64_t model_fit(const struct model *m, int from, int len, int64_t limit)
{
    int run = 0;

    for (int i = from; i < m->slots; i++) {
        run = m->used[i] <= limit ? run + 1 : 0;
        if (run >= len && len > 0)
            return slot_time(m, i - run + 1);
    }
    return run > 0 ? slot_time(m, m->slots - run) : F; /* the last level lasts */
}

static void model_change(struct model *m, struct held h, int sign)
{
    int64_t amount = sign * h.amount;
    int64_t low, high;
    int rc;

    low = model_extreme(m, h.start, h.end, &high);
    rc = weir_timeline_add(m->p, slot_time(m, h.start), slot_time(m, h.end), amount);
    if (h.start >= h.end || low + amount < 0) {
        CHECK(rc == WEIR_EINVAL, "an addition that makes no sense is refused");
        return;
    }
    CHECK(rc == WEIR_OK, "an addition is taken: %s", weir_status_name(rc));
    for (int i = h.start; i < h.end; i++)
        m->used[i] += amount;
}

static struct held model_interval(struct model *m)
{
    struct held h;

    h.start = (int)dice(m, (uint32_t)m->slots);
    h.end = h.start + (int)dice(m, dice(m, 4) ? 20 : (uint32_t)m->slots);
    if (h.end > m->slots || dice(m, 20) == 0)
        h.end = m->slots;
    h.amount = 1 + dice(m, 5);
    return h;
}

static void model_step(struct model *m, uint32_t keep)
{
    int i;

    if (dice(m, 25) == 0)
        model_change(m, model_interval(m), -1); /* takes back a part of what was added, or is refused */
    if (m->nheld < HELD && dice(m, HELD) < keep) {
        m->held[m->nheld] = model_interval(m);
        if (m->held[m->nheld].start == m->held[m->nheld].end)
            return;
        model_change(m, m->held[m->nheld++], 1);
    } else if (m->nheld > 0) {
        i = (int)dice(m, (uint32_t)m->nheld);
        model_change(m, m->held[i], -1);
        m->held[i] = m->held[--m->nheld];
    }
}

static void model_compare(struct model *m)
{
    int a = (int)dice(m, (uint32_t)m->slots);
    int b = a + (int)dice(m, (uint32_t)(m->slots - a) + 1);
    int len = 1 + (int)dice(m, dice(m, 3) ? 12 : (uint32_t)m->slots);
    int64_t inside = m->step > 1 ? (int64_t)dice(m, 1000) % m->step : 0;
    int64_t limit = dice(m, 12);
    int64_t high, next = F;

    model_extreme(m, a, b, &high);
    CHECK(weir_timeline_used_at(m->p, slot_time(m, a) + inside) == m->used[a], "level of slot %d", a);
    CHECK(weir_timeline_max(m->p, slot_time(m, a), slot_time(m, b)) == high, "maximum of slots %d to %d", a, b);
    for (int i = m->slots - 1; i > a; i--)
        next = m->used[i] != m->used[i - 1] ? slot_time(m, i) : next;
    CHECK(weir_timeline_next_change(m->p, slot_time(m, a) + inside) == next, "next change after slot %d", a);
    CHECK(weir_timeline_first_fit(m->p, slot_time(m, a), len * m->step, limit) == model_fit(m, a, len, limit),
          "first fit of %d slots from slot %d at %d", len, a, (int)limit);
    CHECK(weir_timeline_first_fit(m->p, slot_time(m, a), F, limit) == model_fit(m, a, m->slots + 1, limit),
          "first endless fit from slot %d at %d", a, (int)limit);
}

static void model_compare_points(const struct model *m)
{
    uint32_t n = 0;
    int64_t t, used;
    weir_err err = {0};

    CHECK(weir_timeline_check(m->p, &err) == WEIR_OK, "%s", err.text);
    for (int i = 0; i < m->slots; i++) {
        if (m->used[i] == (i ? m->used[i - 1] : 0))
            continue;
        CHECK(weir_timeline_point(m->p, n, &t, &used) && t == slot_time(m, i) && used == m->used[i], "point %u", n);
        n++;
    }
    CHECK(weir_timeline_points(m->p) == n, "%u points, got %u", n, weir_timeline_points(m->p));
}

static void test_random(uint64_t seed, int slots, int64_t base, int64_t step, int steps)
{
    struct model m = {
        .p = weir_timeline_new(), .seed = seed * 0x9E3779B97F4A7C15u + 1, .slots = slots, .base = base, .step = step};

    for (int i = 0; i < steps; i++) {
        model_step(&m, i < steps / 2 ? HELD * 4 / 5 : HELD / 4); /* grow, then shrink */
        model_compare(&m);
        if (i % 16 == 0)
            model_compare_points(&m);
    }
    model_compare_points(&m);
    weir_timeline_free(m.p);
}

/* ---- memory ---- */

/* Jobs back to back leave two points between them; removing the middle jobs makes more points, without any memory. */
static void test_take_back_needs_no_memory(void)
{
    weir_timeline *p = weir_timeline_new();
    weir_err err = {0};
    int bad = 0;

    for (int64_t i = 0; i < 1000; i++)
        bad += weir_timeline_add(p, i, i + 1, 1) != WEIR_OK;
    CHECK(bad == 0 && weir_timeline_points(p) == 2, "a thousand jobs back to back are two points");
    for (int64_t i = 0; i < 1000; i++) {
        int64_t k = i * 2 < 1000 ? i * 2 : (i - 500) * 2 + 1;
        weir_mem_fail_after(1);
        bad += weir_timeline_add(p, k, k + 1, -1) != WEIR_OK;
        weir_mem_fail_after(0);
        bad += i % 50 == 0 && weir_timeline_check(p, &err) != WEIR_OK;
    }
    CHECK(bad == 0 && weir_timeline_points(p) == 0, "each is taken back without memory: %s", err.text);
    weir_timeline_free(p);
}

static void test_shrinks(void)
{
    weir_timeline *p = weir_timeline_new();
    size_t small = weir_timeline_bytes(p);
    int bad = 0;

    for (int64_t i = 0; i < 5000; i++)
        bad += weir_timeline_add(p, i * 3, i * 3 + 1, 1) != WEIR_OK;
    CHECK(weir_timeline_points(p) == 10000 && weir_timeline_bytes(p) > 10000 * 16, "ten thousand points");
    for (int64_t i = 0; i < 5000; i++)
        bad += weir_timeline_add(p, i * 3, i * 3 + 1, -1) != WEIR_OK;
    CHECK(bad == 0 && weir_timeline_bytes(p) == small, "an emptied plan gives its memory back");
    weir_timeline_free(p);
}

/* A copy has equal points and changes independently: in every form, also after some spans were removed. */
static void test_copy(void)
{
    static const int64_t adds[] = {0, 1, 2, 3, 20, 32, 33, 500};

    for (size_t k = 0; k < sizeof adds / sizeof *adds; k++) {
        weir_timeline *p = weir_timeline_new(), *c;
        weir_err err = {0};
        int bad = 0;
        for (int64_t i = 0; i < adds[k]; i++)
            bad += weir_timeline_add(p, 10 * i, 10 * i + 5, 1 + i) != WEIR_OK;
        for (int64_t i = 0; i < adds[k] / 5; i++)
            bad += weir_timeline_add(p, 10 * i, 10 * i + 5, -1 - i) != WEIR_OK;
        c = weir_timeline_copy(p);
        CHECK(bad == 0 && c && weir_timeline_check(c, &err) == WEIR_OK, "%s", err.text);
        for (uint32_t i = 0; i < weir_timeline_points(p); i++) {
            int64_t t[2] = {0}, n[2] = {0};
            bad += !weir_timeline_point(p, i, &t[0], &n[0]) || !weir_timeline_point(c, i, &t[1], &n[1]) ||
                   t[0] != t[1] || n[0] != n[1];
        }
        CHECK(bad == 0 && weir_timeline_points(p) == weir_timeline_points(c), "a copy has the same points");
        CHECK(weir_timeline_add(c, 3, 7, 1) == WEIR_OK && weir_timeline_check(c, &err) == WEIR_OK, "%s", err.text);
        weir_timeline_free(c);
        CHECK(weir_timeline_check(p, &err) == WEIR_OK && weir_timeline_used_at(p, 6) == 0,
              "the original stays as it was");
        weir_timeline_free(p);
    }
}

/* Starts over each time, so that the form changes under failing allocations. */
static int nomem_once(void *arg)
{
    const int64_t *adds = arg;
    weir_timeline *p = weir_timeline_new();
    weir_err err = {0};
    int rc = p ? WEIR_OK : WEIR_ENOMEM;

    for (int64_t i = 0; i < *adds && rc == WEIR_OK; i++) {
        uint32_t n = weir_timeline_points(p);
        rc = weir_timeline_add(p, 10 * i, 10 * i + 5, 1 + i);
        CHECK(weir_timeline_points(p) == (rc ? n : n + 2), "a failed addition changes nothing");
        CHECK(weir_timeline_used_at(p, 10 * i) == (rc ? 0 : 1 + i), "nor the level");
        CHECK(weir_timeline_check(p, &err) == WEIR_OK, "%s", err.text);
    }
    for (int64_t i = 0; i < *adds && rc == WEIR_OK; i++)
        rc = weir_timeline_add(p, 10 * i, 10 * i + 5, -1 - i);
    if (rc == WEIR_OK) {
        weir_timeline *c = weir_timeline_copy(p);
        rc = c ? WEIR_OK : WEIR_ENOMEM;
        weir_timeline_free(c);
    }
    weir_timeline_free(p);
    return rc;
}

static void test_nomem(void)
{
    int64_t adds = 150;

    check_nomem(nomem_once, &adds, "plan");
}

int main(void)
{
    test_empty();
    test_add_rows();
    test_fit_rows();
    test_points();
    for (uint64_t seed = 1; seed <= 40; seed++) {
        test_random(seed, 12, 0, 1, 300);
        test_random(seed, 90, INT64_MIN / 2, 1000000, 600);
    }
    for (uint64_t seed = 1; seed <= 4; seed++)
        test_random(seed, SLOTS, -700, 1, 3000);
    test_take_back_needs_no_memory();
    test_shrinks();
    test_copy();
    test_nomem();
    return check_report();
}
