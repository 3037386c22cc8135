/* test_count.c - counts: integers, ranges and sets, with the rows of codec/count.json where available. */
#include "check.h"

#include "request/request.h"

static int parse_count(const char *text, weir_count *c, weir_err *err)
{
    int rc;
    json_t *value;

    *c = (weir_count){0};
    *err = (weir_err){0};
    if (text[0] != '{')
        return weir_count_parse(text, strlen(text), c, err);
    value = json_loads(text, 0, NULL);
    if (!value)
        return weir_fail(err, WEIR_EPARSE, "not JSON");
    rc = weir_count_from_json(value, c, err);
    json_decref(value);
    return rc;
}

/* Text, its canonical form (NULL: refused), the values up to 40. */
static const char *const counts[][3] = {
    {"1", "1", "1"},
    {"3-3", "3", "3"},
    {"2-5", "2-5", "2,3,4,5"},
    {"2-5:1:+", "2-5", "2,3,4,5"},
    {"2-8:3", "2-8:3", "2,5,8"},
    {"2-7:3", "2-7:3", "2,5"},
    {"35+:2", "35+:2", "35,37,39"},
    {"2-16:2:*", "2-16:2:*", "2,4,8,16"},
    {"3+:3:*", "3+:3:*", "3,9,27"},
    {"2-16:2:^", "2-16:2:^", "2,4,16"},
    {"3+:2:^", "3+:2:^", "3,9"},
    {"[4,9,16,25]", "4,9,16,25", "4,9,16,25"},
    {"1-3,5,7-8", "1-3,5,7-8", "1,2,3,5,7,8"},
    {"1,2,3", "1-3", "1,2,3"},
    {"{\"min\":2,\"max\":5,\"operand\":3}", "2-5:3", "2,5"},
    {"{\"min\":2.0,\"max\":2}", "2", "2"},
    {"{\"min\":30}", "30+", "30,31,32,33,34,35,36,37,38,39,40"},
    {"9007199254740992", "9007199254740992", ""},
    {"1-9007199254740992:9007199254740992:*", "1-9007199254740992:9007199254740992:*", "1"},
    {"2+:9007199254740992:^", "2+:9007199254740992:^", "2"},
    {"9007199254740993", NULL, ""},
    {"2-8:2:*:", NULL, ""},
    {"1-2,2-3", NULL, ""},
    {"1,", NULL, ""},
    {",1", NULL, ""},
    {"4-2,7", NULL, ""},
    {"1 ", NULL, ""},
    {"[", NULL, ""},
    {"]", NULL, ""},
    {"+", NULL, ""},
    {"2++", NULL, ""},
};

static void list_values(const weir_count *c, weir_buf *b)
{
    int64_t last = 0;

    weir_buf_puts(b, "");
    for (int64_t n = 1; n <= 40; n++) {
        int64_t v = weir_count_floor(c, n);
        if (v == n)
            weir_buf_printf(b, "%s%lld", b->len ? "," : "", (long long)n);
        last = v > last ? v : last;
        CHECK(v == (last ? last : -1), "[J1] floor of %lld is %lld", (long long)n, (long long)v);
    }
}

static void check_count(const char *text, const char *canonical, const char *values)
{
    weir_buf written = {0}, listed = {0};
    weir_count c;
    weir_err err = {0};
    int rc = parse_count(text, &c, &err);

    CHECK((rc == WEIR_OK) == (canonical != NULL), "[J1] count %s: %s", text, err.text);
    CHECK(rc == WEIR_OK || err.text[0], "[J1] count %s: a reason", text);
    if (rc == WEIR_OK) {
        weir_count_write(&c, &written);
        CHECK(check_same(written.data, canonical), "[J1] count %s: %s", text, written.data);
        list_values(&c, &listed);
        CHECK(!values || check_same(listed.data, values), "[J1] count %s: values %s", text, listed.data);
        weir_count_clear(&c);
    }
    weir_buf_free(&written);
    weir_buf_free(&listed);
}

static json_t *data_table(const char *file, const char *table, json_t **root)
{
    char path[512];

    *root = json_load_file(check_data(file, path, sizeof path), 0, NULL);
    if (!*root)
        printf("skipped: no %s\n", path);
    return json_object_get(json_object_get(*root, "tables"), table);
}

/* Checks a row of codec/count.json: with flag SHORT weir writes the expected text; else the counts are equal. */
static void check_count_row(const char *in, const char *flags, const char *expected)
{
    weir_count a, b = {0};
    weir_err err = {0};
    int rc = parse_count(in, &a, &err);
    bool same;

    if (!expected || rc != WEIR_OK) {
        CHECK(!expected == (rc != WEIR_OK), "[J1] %s: %s", in, err.text);
        return;
    }
    if (check_same(flags, "COUNT_FLAG_SHORT"))
        check_count(in, expected, NULL);
    CHECK(parse_count(expected, &b, &err) == WEIR_OK, "[J1] %s: %s", expected, err.text);
    same = a.min == b.min && a.max == b.max && a.op == b.op && a.operand == b.operand && a.nset == b.nset;
    CHECK(same && (!a.nset || memcmp(a.set, b.set, a.nset * sizeof *a.set) == 0), "[J1] %s is %s", in, expected);
    weir_count_clear(&a);
    weir_count_clear(&b);
}

static void test_counts(void)
{
    json_t *root, *row, *rows;
    size_t i;

    for (i = 0; i < sizeof counts / sizeof *counts; i++)
        check_count(counts[i][0], counts[i][1], counts[i][2]);
    rows = data_table("codec/count.json", "test_codec_inputs", &root);
    json_array_foreach(rows, i, row)
    {
        const char *in = json_string_value(json_array_get(row, 0));
        json_t *flags = json_array_get(row, 1);
        if (in && json_integer_value(flags) != 65535) /* that row is about the flags of a different library */
            check_count_row(in, json_string_value(json_object_get(flags, "expr")),
                            json_string_value(json_array_get(row, 2)));
    }
    json_decref(root);
    rows = data_table("codec/count.json", "test_iteration_inputs", &root);
    json_array_foreach(rows, i, row)
    {
        const char *in = json_string_value(json_array_get(row, 0)), *out = json_string_value(json_array_get(row, 2));
        json_t *list = json_loads(in ? in : "", 0, NULL);
        weir_count c = {0};
        weir_buf b = {0};
        if (list && weir_count_from_json(json_array_get(list, 0), &c, NULL) == WEIR_OK)
            list_values(&c, &b);
        CHECK(!in || check_same(b.data, out), "[J1] %s gives %s", in ? in : "-", b.data ? b.data : "-");
        weir_count_clear(&c);
        weir_buf_free(&b);
        json_decref(list);
    }
    json_decref(root);
}

int main(void)
{
    test_counts();
    return check_report();
}
