/* test_request_refused.c - jobspecs and shapes that are refused: the status, the place and the text of each error. */
#include "requests.h"

#define SLOT1 "\"with\":[{\"type\":\"node\",\"count\":1}]"

struct refused {
    const char *text;
    int code, line, column;
    const char *error;
};

#define KNOWN  "type, count, unit, exclusive, with, label, id"
#define COUNTS "counts look like 4, 2-8, 2+, 2-16:2:* or 4,9,16"

#define DURATION "expected a duration in seconds, or with a unit, as in 90m, 1.5h or 2d"

static const struct refused refused[] = {
    {"", WEIR_EPARSE, 0, 0, "empty; expected a jobspec (YAML or JSON) or a shape such as slot=4/node/core=8"},
    {" \n\t ", WEIR_EPARSE, 0, 0, "empty; expected a jobspec (YAML or JSON) or a shape such as slot=4/node/core=8"},
    /* JSON */
    {"{\"resources\":[", WEIR_EPARSE, 1, 14, "not valid JSON: ']' expected near end of file"},
    {"{\"a\":1,\"a\":2}", WEIR_EPARSE, 1, 10, "not valid JSON: duplicate object key near '\"a\"'"},
    {"{\"version\":9223372036854775808}", WEIR_ELIMIT, 1, 30,
     "not valid JSON: too big integer near '9223372036854775808'"},
    {"[{}]", WEIR_EINVAL, 0, 0,
     "a jobspec must be a dictionary with version, resources, tasks and attributes, not a list"},
    {"{}", WEIR_EINVAL, 0, 0, "no resources; a jobspec needs a list of them under the key resources"},
    {"{\"resources\":[]}", WEIR_EINVAL, 0, 0, "resources must be a list with a resource in it, not an empty one"},
    {"{\"resources\":{}}", WEIR_EINVAL, 0, 0, "resources must be a list with a resource in it, not a dictionary"},
    {RES("3"), WEIR_EINVAL, 0, 0, "resources[0]: a resource must be a dictionary with type and count, not an integer"},
    {RES("{\"count\":1}"), WEIR_EINVAL, 0, 0, "resources[0]: type is missing"},
    {RES("{\"type\":\"\",\"count\":1}"), WEIR_EINVAL, 0, 0, "resources[0]: type must not be empty"},
    {RES("{\"type\":\"node\"}"), WEIR_EINVAL, 0, 0, "resources[0]: count is missing"},
    {RES("{\"type\":\"node\",\"count\":0}"), WEIR_EINVAL, 0, 0, "resources[0]: count must be 1 or more, not 0"},
    {RES("{\"type\":\"node\",\"count\":-1}"), WEIR_EINVAL, 0, 0, "resources[0]: count must be 1 or more, not -1"},
    {RES("{\"type\":\"node\",\"count\":1.5}"), WEIR_EINVAL, 0, 0, "resources[0]: count must be an integer, not 1.5"},
    {RES("{\"type\":\"node\",\"count\":{\"min\":0.5}}"), WEIR_EINVAL, 0, 0,
     "resources[0]: min of a count must be 1 or more, not 0.5"},
    {RES("{\"type\":\"node\",\"count\":{\"min\":\"2\"}}"), WEIR_EINVAL, 0, 0,
     "resources[0]: min of a count must be an integer, not a string"},
    {RES("{\"type\":\"node\",\"count\":{\"min\":2,\"operand\":2,\"operator\":\"**\"}}"), WEIR_EINVAL, 0, 0,
     "resources[0]: operator of a count must be \"+\", \"*\" or \"^\""},
    {RES("{\"type\":\"node\",\"count\":{\"min\":2,\"operand\":2,\"operator\":\"-\"}}"), WEIR_EINVAL, 0, 0,
     "resources[0]: count: the operator must be '+', '*' or '^'"},
    {RES("{\"type\":\"node\",\"count\":null}"), WEIR_EINVAL, 0, 0,
     "resources[0]: count must be an integer, a range or a set, not null"},
    {RES("{\"type\":\"node\",\"count\":9007199254740993}"), WEIR_ELIMIT, 0, 0,
     "resources[0]: count is larger than 2^53, the largest count"},
    {RES("{\"type\":\"node\",\"count\":1e30}"), WEIR_ELIMIT, 0, 0,
     "resources[0]: count is larger than 2^53, the largest count"},
    {RES("{\"type\":\"node\",\"count\":{\"min\":2,\"step\":1}}"), WEIR_EINVAL, 0, 0,
     "resources[0]: unknown key \"step\" in a count; known: min, max, operator, operand"},
    {RES("{\"type\":\"node\",\"count\":{\"min\":2,\"max\":4,\"operator\":\"*\"}}"), WEIR_EINVAL, 0, 0,
     "resources[0]: operator of a count without an operand; both must be there"},
    {RES("{\"type\":\"node\",\"count\":1,\"colour\":\"red\"}"), WEIR_EINVAL, 0, 0,
     "resources[0]: unknown key \"colour\"; known: " KNOWN},
    {RES("{\"type\":\"node\",\"count\":1,\"a\\nb\":1}"), WEIR_EINVAL, 0, 0,
     "resources[0]: unknown key \"a?b\"; known: " KNOWN},
    {RES("{\"type\":\"node\",\"count\":1,\"exclusive\":\"yes\"}"), WEIR_EINVAL, 0, 0,
     "resources[0]: exclusive must be true or false, not a string"},
    {RES("{\"type\":\"node\",\"count\":1,\"with\":[]}"), WEIR_EINVAL, 0, 0,
     "resources[0]: with is an empty list; it must have a resource"},
    {RES("{\"type\":\"node\",\"count\":1,\"with\":2}"), WEIR_EINVAL, 0, 0,
     "resources[0]: with must be a list of resources, not an integer"},
    {RES("{\"type\":\"slot\",\"count\":1}"), WEIR_EINVAL, 0, 0,
     "resources[0]: a slot must have resources in it (with)"},
    {RES("{\"type\":\"slot\",\"count\":1,\"label\":3," SLOT1 "}"), WEIR_EINVAL, 0, 0,
     "resources[0]: label must be a string, not an integer; put it in quotes"},
    {RES("{\"type\":\"slot\",\"count\":1," SLOT1 "},{\"type\":\"slot\",\"count\":1," SLOT1 "}"), WEIR_EINVAL, 0, 0,
     "resources[0]: a slot without a label; only a slot that is the only one may do without"},
    {RES("{\"type\":\"slot\",\"count\":1,\"label\":\"a\"," SLOT1 "},{\"type\":\"core\",\"count\":1,\"label\":\"a\"}"),
     WEIR_EINVAL, 0, 0, "resources[1]: label \"a\" is there twice"},
    {RES("{\"type\":\"slot\",\"count\":1,\"label\":\"a\",\"with\":[{\"type\":\"node\",\"count\":1,\"with\":[{"
         "\"type\":\"slot\",\"count\":\"1-2\",\"label\":\"b\"," SLOT1 "}]}]}"),
     WEIR_EINVAL, 0, 0, "resources: a slot within a slot, whose count is not an integer of 1 or more"},
    /* the jobspec around */
    {"{\"version\":2}", WEIR_EINVAL, 0, 0, "version 2 is not known; 1, 999 and 9999 are"},
    {"{\"version\":\"1\"}", WEIR_EINVAL, 0, 0, "version must be an integer, not a string"},
    {"{\"version\":9999,\"resources\":[],\"attributes\":null}", WEIR_EINVAL, 0, 0, "the key tasks is missing"},
    {SYSTEM("\"duration\":-1"), WEIR_EINVAL, 0, 0,
     "attributes.system.duration must be 0 (no end) or more seconds, not -1"},
    {SYSTEM("\"duration\":\"1h\""), WEIR_EINVAL, 0, 0,
     "attributes.system.duration must be a number of seconds, such as 3600, not a string"},
    {SYSTEM("\"duration\":1e300"), WEIR_EINVAL, 0, 0,
     "attributes.system.duration is more than 9e12 seconds; 0 means no end"},
    {SYSTEM("\"constraints\":{\"xor\":[]}"), WEIR_EINVAL, 0, 0,
     "attributes.system.constraints: unknown constraint operator \"xor\"; known: and, or, not, properties, hostlist, "
     "ranks"},
    {"{\"resources\":[{\"type\":\"node\",\"count\":1}],\"attributes\":3}", WEIR_EINVAL, 0, 0,
     "attributes must be a dictionary, not an integer"},
    {SYSTEM("\"dependencies\":3"), WEIR_EINVAL, 0, 0, "attributes.system.dependencies must be a list, not an integer"},
    {SYSTEM("\"preemptible-after\":1.5,\"dependencies\":[2.5]"), WEIR_EINVAL, 0, 0,
     "attributes.system.dependencies[0] must be a dictionary with a scheme and a value, such as {scheme: afterok, "
     "value: f1}; "
     "it is a fraction"},
    {SYSTEM("\"preemptible-after\":-1"), WEIR_EINVAL, 0, 0,
     "attributes.system.preemptible-after must be 0 or more seconds, not -1"},
    {"{\"resources\":[{\"type\":\"node\",\"count\":1}],\"attributes\":{\"user\":\"me\"}}", WEIR_EINVAL, 0, 0,
     "attributes.user must be a dictionary, not a string"},
    {"{\"resources\":[{\"type\":\"node\",\"count\":1}],\"tasks\":[]}", WEIR_EINVAL, 0, 0,
     "tasks: must be a list with a task in it, not an empty one"},
    {FULL("9999", SLOT_CORE, "{\"command\":[],\"slot\":\"s\",\"count\":{\"total\":1}}", "null"), WEIR_EINVAL, 0, 0,
     "tasks[0]: command must be a list of strings, such as [\"app\"], not an empty one"},
    {FULL("1", SLOT_CORE, "{\"command\":[\"a\"],\"slot\":\"t\",\"count\":{\"total\":1}}",
          "{\"system\":{\"duration\":1}}"),
     WEIR_EINVAL, 0, 0, "tasks[0]: slot \"t\" is not the label of a slot, which is \"s\""},
    {FULL("9999", SLOT_CORE, "{\"command\":[\"a\"],\"slot\":3,\"count\":{\"total\":1}}", "null"), WEIR_EINVAL, 0, 0,
     "tasks[0]: slot must be the label of a slot, not an integer"},
    {FULL("9999", SLOT_CORE, "{\"command\":[\"a\"],\"slot\":\"s\",\"count\":{\"total\":0}}", "null"), WEIR_EINVAL, 0, 0,
     "tasks[0]: count.total must be an integer of 1 or more"},
    /* version 1 */
    {V1("{\"type\":\"slot\",\"count\":1,\"with\":[{\"type\":\"core\",\"count\":1}]}"), WEIR_EINVAL, 0, 0,
     "resources[0]: a slot must have a label"},
    {V1(SLOT_CORE "," SLOT_CORE), WEIR_EINVAL, 0, 0, "resources[1]: label \"s\" is there twice"},
    /* YAML */
    {"resources:\n  - type: node\n    count: 0\n", WEIR_EINVAL, 3, 12, "resources[0]: count must be 1 or more, not 0"},
    {"resources:\n  - type: node\n    count: 1\n    coutn: 1\n", WEIR_EINVAL, 4, 12,
     "resources[0]: unknown key \"coutn\"; known: " KNOWN},
    {"resources:\n  - type: node\n    count: 2-\n", WEIR_EINVAL, 3, 12,
     "resources[0]: count \"2-\": expected a positive integer here"},
    {"resources:\n  - type: node\n    count: 010\n", WEIR_EINVAL, 3, 12,
     "resources[0]: count \"010\": leading zeros are not allowed"},
    {"resources:\n  - type: node\n    count: 9223372036854775808\n", WEIR_ELIMIT, 3, 12,
     "resources[0]: count is larger than 2^53, the largest count"},
    {"resources:\n - type: slot\n   count: 1\n   with:\n", WEIR_EINVAL, 2, 4,
     "resources[0]: with must be a list of resources, not null"},
    {"resources:\n  - type: node\n   count: 1\n", WEIR_EPARSE, 3, 4,
     "not valid YAML: did not find expected '-' indicator while parsing a block collection"},
    {"resources: [\n", WEIR_EPARSE, 2, 1,
     "not valid YAML: did not find expected node content while parsing a flow node"},
    {"a: 1\na: 2\n", WEIR_EPARSE, 2, 1, "key \"a\" is there twice"},
    {"a: &x 1\nb: *x\n", WEIR_EPARSE, 2, 4, "YAML aliases are not supported; write the value out"},
    {"a: 1\n---\nb: 1\n", WEIR_EPARSE, 2, 1, "a second YAML document; a jobspec is a single one"},
    {"a: 1\nb: \xff\n", WEIR_EPARSE, 2, 0, "not valid YAML: invalid leading UTF-8 octet"},
    {"a: \x01\n", WEIR_EPARSE, 1, 0, "not valid YAML: control characters are not allowed"},
    {"a: !gone 1\n", WEIR_EPARSE, 1, 4, "unknown YAML tag; write the value without it"},
    {"a: !!map 1\n", WEIR_EPARSE, 1, 4, "unknown YAML tag; write the value without it"},
    {"a: \"\\0\"\n", WEIR_EPARSE, 1, 4, "a NUL character is not allowed"},
    {"? [a]\n: 1\n---\n", WEIR_EPARSE, 1, 3, "a key must be a string"},
    {"a: 1e999\n", WEIR_ELIMIT, 1, 4, "the number is too large"},
    {"# nothing\n", WEIR_EPARSE, 1, 1, "no YAML document in it"},
    {"- type: node\n", WEIR_EINVAL, 1, 1,
     "a jobspec must be a dictionary with version, resources, tasks and attributes, not a list"},
    {"hello\nworld\n", WEIR_EINVAL, 1, 1,
     "a jobspec must be a dictionary with version, resources, tasks and attributes, not a string"},
    {"attributes:\n  system:\n    duration: .inf\nresources:\n- type: node\n  count: 1\n", WEIR_EINVAL, 3, 15,
     "attributes.system.duration must be a number of seconds, such as 3600, not a string"},
    {"attributes:\n  system:\n    constraints:\n      ranks: [5]\nresources:\n- type: node\n  count: 1\n", WEIR_EINVAL,
     4, 7, "attributes.system.constraints: ranks value must be a list of strings; element 0 is an integer"},
    /* shapes */
    {"slot", WEIR_EPARSE, 1, 5, "shape: a slot needs resources in it, as in slot/node"},
    {"slot=4", WEIR_EPARSE, 1, 7, "shape: a slot needs resources in it, as in slot/node"},
    {"ack/slot=3{", WEIR_EPARSE, 1, 12, "shape: expected the label of the slot here, as in slot{name}"},
    {"slot=4/", WEIR_EPARSE, 1, 8, "shape: expected a resource type here, as in slot=4/node/core=8"},
    {"slot=0/node", WEIR_EPARSE, 1, 6, "shape: count \"0\": 0 is no count, the least is 1"},
    {"slot=-1/node", WEIR_EPARSE, 1, 6, "shape: count \"-1\": expected a positive integer here"},
    {"slot=/node", WEIR_EPARSE, 1, 6, "shape: count \"\": empty"},
    {"slot=9223372036854775808/node", WEIR_ELIMIT, 1, 6,
     "shape: count \"9223372036854775808\": larger than 2^53, the largest count"},
    {"slot=[4/node", WEIR_EPARSE, 1, 8, "shape: count \"[4\": ']' is missing"},
    {"slot=4x/node", WEIR_EPARSE, 1, 7, "shape: count \"4x\": unexpected here; " COUNTS},
    {"slot/node core", WEIR_EPARSE, 1, 10, "shape: unexpected here; resources side by side look like [node=2;switch]"},
    {"slot{duration:}/node", WEIR_EPARSE, 1, 15, "shape: " DURATION},
    {"slot{duration:1w}/node", WEIR_EPARSE, 1, 15, "shape: " DURATION},
    {"slot{duration:h}/node", WEIR_EPARSE, 1, 15, "shape: " DURATION},
    {"slot{duration:true}/node", WEIR_EPARSE, 1, 15, "shape: " DURATION},
    {"slot{duration:-3}/node", WEIR_EINVAL, 1, 15,
     "attributes.system.duration must be 0 (no end) or more seconds, not -3"},
    {"slot{duration:1e10h}/node", WEIR_EINVAL, 1, 15,
     "attributes.system.duration is more than 9e12 seconds; 0 means no end"},
    {"slot{duration:3}/node{duration:3}", WEIR_EPARSE, 1, 23, "shape: a job has one duration"},
    {"node{duration}", WEIR_EPARSE, 1, 14, "shape: expected a value, as in {duration:1h}"},
    {"node;core", WEIR_EPARSE, 1, 5, "shape: unexpected here; resources side by side look like [node=2;switch]"},
    {"[node;core", WEIR_EPARSE, 1, 11, "shape: expected ';', '/' or ']' here"},
    {"[]", WEIR_EPARSE, 1, 2, "shape: expected a resource type here, as in slot=4/node/core=8"},
    {"node{unit:GB", WEIR_EPARSE, 1, 13, "shape: expected ',' or '}' here"},
    {"node{unit:}", WEIR_EPARSE, 1, 11, "shape: expected a value here; quote it if it has any of []{};=/,:"},
    {"node{unit:GB,unit:MB}", WEIR_EPARSE, 1, 14, "shape: this key is there twice"},
    {"node{type:x}", WEIR_EPARSE, 1, 6, "shape: this key is there twice"},
    {"node{+unit:GB}", WEIR_EPARSE, 1, 11, "shape: a key with '+' or '-' in front has no value"},
    {"node{with:3}", WEIR_EPARSE, 1, 6, "shape: what is within a resource follows a '/', as in node/core"},
    {"slot{}/node", WEIR_EPARSE, 1, 6, "shape: expected the label of the slot here, as in slot{name}"},
    {"slot{-x}/node", WEIR_EPARSE, 1, 6, "shape: the first entry of a slot's braces is its label, as in slot{name,+x}"},
    {"slot{label:a}/node", WEIR_EPARSE, 1, 6,
     "shape: the first entry of a slot's braces is its label alone, as in slot{name,unit:GB}"},
    {"node{colour:1}", WEIR_EINVAL, 1, 13, "unknown key \"colour\"; known: " KNOWN},
    {"node{unit:1}", WEIR_EINVAL, 1, 11, "unit must be a string, not an integer; put it in quotes"},
    {"node{unit}", WEIR_EINVAL, 1, 1, "unit must be a string, not a boolean; put it in quotes"},
    {"\"nod", WEIR_EPARSE, 1, 1, "shape: the closing '\"' is missing"},
    {"slot/node/slot{a}/core", WEIR_EINVAL, 1, 1,
     "a slot without a label; only a slot that is the only one may do without"},
    {"slot{a}/node/slot=2+{b}/core", WEIR_EINVAL, 1, 14,
     "resources: a slot within a slot, whose count is not an integer of 1 or more"},
    {"  \xc3\xa9=0", WEIR_EPARSE, 1, 5, "shape: count \"0\": 0 is no count, the least is 1"},
};

int main(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct refused *t = &refused[i];
        weir_request *r;
        weir_err err = {0};
        int rc = read_request(t->text, &r, &err);
        CHECK(rc == t->code && err.code == rc, "[J1] %s: status %s, text %s", t->text, weir_status_name(rc), err.text);
        CHECK(check_same(err.text, t->error), "[J1] %s:\n  got  %s\n  want %s", t->text, err.text, t->error);
        CHECK(err.line == t->line && err.column == t->column, "[J1] %s: at %d:%d, want %d:%d", t->text, err.line,
              err.column, t->line, t->column);
        CHECK(!r, "[J1] %s: nothing comes out", t->text);
        weir_request_free(r);
    }
    return check_report();
}
