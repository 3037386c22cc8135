/* test_difference.c - differences of random graphs with random jobs, and failing allocations. Requirements: A161, M1.
 * The faults of differences are in difference_spec.lua.
 */
#include "stored.h"

struct pair {
    weir_graph *a, *b;
    char *text;
};

/* Checks that the difference of a and b makes b of a. */
static void lead(const weir_graph *a, const weir_graph *b, int64_t s)
{
    weir_err err = {0};
    weir_graph *made = NULL;
    char *text = weir_graph_diff(a, b, &err), *x, *y;

    if (!CHECK(text, "seed %lld: %s", (long long)s, err.text))
        return;
    if (CHECK(weir_graph_apply(a, text, strlen(text), "d", &made, &err) == WEIR_OK, "seed %lld: %s", (long long)s,
              err.text)) {
        sound(made, "what was made");
        same(b, made, true, "what was made");
        x = weir_graph_format(b, "document", NULL);
        y = weir_graph_format(made, "document", NULL);
        CHECK(x && y && strcmp(x, y) == 0, "seed %lld: equal documents", (long long)s);
        weir_free(x);
        weir_free(y);
    }
    weir_graph_free(made);
    weir_free(text);
}

static void pairs(void)
{
    for (int64_t s = 1; s <= scaled(30); s++) {
        weir_graph *a = random_graph((uint64_t)s, 30), *b = random_graph((uint64_t)s + 1000, 30), *c = NULL;
        lead(a, b, s);
        CHECK(weir_graph_dup(a, &c, NULL) == WEIR_OK, "a duplicate");
        for (int i = 0; i < 5; i++)
            change_job(c);
        lead(a, c, s);
        lead(c, a, s);
        weir_graph_free(a);
        weir_graph_free(b);
        weir_graph_free(c);
    }
}

static int diff_once(void *arg)
{
    const struct pair *p = arg;
    weir_err err = {0};
    char *text = weir_graph_diff(p->a, p->b, &err);
    int rc = text ? WEIR_OK : err.code;

    weir_free(text);
    return rc;
}

static int apply_once(void *arg)
{
    const struct pair *p = arg;
    weir_graph *made = NULL;
    int rc = weir_graph_apply(p->a, p->text, strlen(p->text), "d", &made, NULL);

    weir_graph_free(made);
    return rc;
}

static void memory(void)
{
    struct pair p = {random_graph(5, 20), random_graph(6, 20), NULL};

    p.text = weir_graph_diff(p.a, p.b, NULL);
    CHECK(p.text, "a difference");
    check_nomem(diff_once, &p, "a difference");
    check_nomem(apply_once, &p, "applying a difference");
    weir_free(p.text);
    weir_graph_free(p.a);
    weir_graph_free(p.b);
}

int main(void)
{
    pairs();
    memory();
    return check_report();
}
