/* test_json_document.c - texts as plain JSON: results, refused texts, and failing allocations. */
#include <jansson.h>

#include "check.h"

static const char recipe[] = "<graphml><key id=\"r\" for=\"node\" attr.name=\"root\"><default>0</default></key>"
                             "<key id=\"t\" for=\"node\" attr.name=\"type\"/>"
                             "<key id=\"n\" for=\"edge\" attr.name=\"multi_scale\"/>"
                             "<graph><node id=\"a\"><data key=\"r\">1</data><data key=\"t\">cluster</data></node>"
                             "<node id=\"b\"><data key=\"t\">node</data></node>"
                             "<edge source=\"a\" target=\"b\"><data key=\"n\">3</data></edge></graph></graphml>";

#define SETS(cpus)                   "cpuset=\"" cpus "\" complete_cpuset=\"" cpus "\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
#define OBJECT(type, at, cpus, more) "<object type=\"" type "\" os_index=\"" at "\" " SETS(cpus) " " more
#define CORE(at, cpus)               OBJECT("Core", at, cpus, ">") OBJECT("PU", at, cpus, "/>") "</object>"

/* A machine in which two of three cores share a cache. */
static const char machine[] =
    "<topology version=\"2.0\">" OBJECT("Machine", "0", "0x7", ">") "<info name=\"HostName\" value=\"fluke7\"/>" OBJECT(
        "NUMANode", "0", "0x7", "local_memory=\"1048576\"/>")
        OBJECT("L2Cache", "0", "0x3",
               "cache_size=\"2097152\" depth=\"2\" cache_linesize=\"64\" cache_associativity=\"0\" cache_type=\"0\">")
            CORE("0", "0x1") CORE("1", "0x2") "</object>" CORE("2", "0x4") "</object></topology>";

static const char jobspec[] =
    "resources:\n- {type: slot, count: '1,3,7', label: s, with: [{type: core, count: 2-4}, {type: gpu, count: 1}]}\n"
    "attributes:\n  system: {duration: 1.5, constraints: {and: [{properties: [a]}, {hostlist: ['a[1-2]']}]}, k: {x: "
    "[~, yes, \"a\\n\"]}}\n";

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
        {"hwloc", machine, "{\"type\":\"L2Cache\",\"index\":0,\"size\":2097152,", 0},
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

/* Reads a request, changes its end, and writes it; on a failing allocation the duration is unchanged. */
static int request(void *text)
{
    static const char *const formats[] = {"json", "yaml", "resources", "shape"};
    weir_request *r = NULL;
    weir_err err = {0};
    int rc = weir_request_parse(text, strlen(text), "x", &r, &err);

    if (rc == WEIR_OK) {
        int64_t before = weir_request_duration(r);
        rc = weir_request_set_duration(r, 7000000, &err);
        CHECK(weir_request_duration(r) == (rc == WEIR_OK ? 7000000 : before), "the duration after %s",
              weir_status_name(rc));
    }
    for (size_t i = 0; rc == WEIR_OK && i < sizeof formats / sizeof *formats; i++) {
        char *out = weir_request_format(r, formats[i], &err);
        /* a shape cannot express all of the request */
        bool partial = !out && strcmp(formats[i], "shape") == 0 && err.code == WEIR_EINVAL;
        rc = out || partial ? WEIR_OK : err.code;
        weir_free(out);
        weir_err_clear(&err);
    }
    weir_request_free(r);
    return rc;
}

static void test_requests(void)
{
    static const char shape[] = "[slot=1,4{a,unit:x}/node/core=2+;slot{b}/gpu=2]";
    const char *texts[] = {jobspec, shape};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_nomem(request, (void *)(uintptr_t)texts[i], texts[i]);
}

int main(void)
{
    json_set_alloc_funcs(weir_mem_alloc, weir_mem_free); /* the allocations of jansson fail in turn too */
    test_texts();
    test_memory();
    test_requests();
    return check_report();
}
