/* test_format_json.c - texts as plain JSON: what they give, what is refused, and what happens when memory runs out. */
#include <jansson.h>

#include "check.h"

static const char recipe[] = "<graphml><key id=\"r\" for=\"node\" attr.name=\"root\"><default>0</default></key>"
                             "<key id=\"t\" for=\"node\" attr.name=\"type\"/>"
                             "<key id=\"n\" for=\"edge\" attr.name=\"multi_scale\"/>"
                             "<graph><node id=\"a\"><data key=\"r\">1</data><data key=\"t\">cluster</data></node>"
                             "<node id=\"b\"><data key=\"t\">node</data></node>"
                             "<edge source=\"a\" target=\"b\"><data key=\"n\">3</data></edge></graph></graphml>";

static const char machine[] =
    "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
    "nodeset=\"0x1\" complete_nodeset=\"0x1\"><info name=\"HostName\" value=\"fluke7\"/>"
    "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" "
    "complete_nodeset=\"0x1\" local_memory=\"1048576\"/>"
    "<object type=\"Core\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" "
    "complete_nodeset=\"0x1\"><object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
    "nodeset=\"0x1\" complete_nodeset=\"0x1\"/></object></object></topology>";

static void test_texts(void)
{
    static const struct {
        const char *format, *text, *wanted; /* wanted: a part of the JSON; NULL: refused */
        int code;
    } rows[] = {
        {"yaml", "a: [1, x, null]", "{\"a\":[1,\"x\",null]}", 0},
        {"json", "{\"b\":1,\"a\":2}", "{\"b\":1,\"a\":2}", 0},
        {"grug", recipe, "\"root\":1,\"type\":\"cluster\",\"basename\":\"cluster\"", 0},
        {"grug", recipe, "\"multi_scale\":3", 0},
        {"grug", recipe, "\"from\":0,\"to\":1", 0},
        {"hwloc", machine, "\"HostName\":\"fluke7\"", 0},
        {"hwloc", machine, "{\"type\":\"Core\",\"index\":0", 0},
        {"yaml", "a: [", NULL, WEIR_EPARSE},
        {"json", "{", NULL, WEIR_EPARSE},
        {"grug", "<graphml/>", NULL, WEIR_EPARSE},
        {"hwloc", "<topology><object/></topology>", NULL, WEIR_EINVAL},
        {"csv", "", NULL, WEIR_EINVAL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_err err = {0};
        char *json = weir_text_to_json(rows[i].text, strlen(rows[i].text), "text", rows[i].format, &err);
        if (rows[i].wanted)
            CHECK(json && strstr(json, rows[i].wanted), "row %zu: %s%s", i, json ? json : "", err.text);
        else
            CHECK(!json && err.code == rows[i].code && *err.text, "row %zu: %s", i, weir_status_name(err.code));
        weir_free(json);
    }
}

/* A text in a format. */
struct sample {
    const char *format, *text;
};

static int convert(void *data)
{
    const struct sample *s = data;
    weir_err err = {0};
    char *json = weir_text_to_json(s->text, strlen(s->text), "text", s->format, &err);

    weir_free(json);
    return json ? WEIR_OK : err.code;
}

static void test_memory(void)
{
    struct sample samples[] = {{"yaml", "a: [1, x]"}, {"grug", recipe}};

    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        check_nomem(convert, &samples[i], samples[i].format);
}

int main(void)
{
    json_set_alloc_funcs(weir_mem_alloc, weir_mem_free); /* what jansson allocates fails in its turn too */
    test_texts();
    test_memory();
    return check_report();
}
