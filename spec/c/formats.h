/* formats.h - what the tests of the machine readers share: small inputs of every format, and the macros to write more.
 */
#ifndef FORMATS_H
#define FORMATS_H

#include "check.h"

#include "format/input.h"

static inline weir_graph *parse(const char *format, const char *text, weir_err *err)
{
    weir_graph *g = NULL;

    weir_err_clear(err);
    if (weir_graph_parse(text, strlen(text), "test", format, &g, err) < 0)
        CHECK(g == NULL, "%s: a failed reader leaves *out alone", format ? format : "any");
    return g;
}

#define KEYS                                                                                                           \
    "<key id='root' for='node' attr.name='root' attr.type='int'><default>0</default></key>"                            \
    "<key id='type' for='node' attr.name='type'/><key id='bn' for='node' attr.name='basename'/>"                       \
    "<key id='size' for='node' attr.name='size'/><key id='unit' for='node' attr.name='unit'/>"                         \
    "<key id='sub' for='node' attr.name='subsystem'/><key id='props' for='node' attr.name='properties'/>"              \
    "<key id='esub' for='edge' attr.name='e_subsystem'/><key id='rel' for='edge' attr.name='relation'/>"               \
    "<key id='rrel' for='edge' attr.name='rrelation'/><key id='gen' for='edge' attr.name='gen_method'/>"               \
    "<key id='scope' for='edge' attr.name='id_scope'/><key id='start' for='edge' attr.name='id_start'/>"               \
    "<key id='stride' for='edge' attr.name='id_stride'/><key id='n' for='edge' attr.name='multi_scale'/>"              \
    "<key id='tup' for='edge' attr.name='as_tgt_uplvl'/><key id='sup' for='edge' attr.name='as_src_uplvl'/>"           \
    "<key id='tsub' for='edge' attr.name='as_tgt_subsystem'/>"
#define RECIPE(body)         "<?xml version='1.0'?><!-- <topology> --><graphml>" KEYS "<graph>" body "</graph></graphml>"
#define D(key, value)        "<data key='" key "'>" value "</data>"
#define NODE(id, data)       "<node id='" id "'>" D("type", id) data "</node>"
#define EDGE(from, to, data) "<edge id='" from "2" to "' source='" from "' target='" to "'>" data "</edge>"
#define POWER                D("esub", "power") D("rel", "supplies") D("rrel", "draws")

static const char small_recipe[] =
    RECIPE(NODE("rack", "") NODE("cluster", D("root", "1") D("bn", "tiny")) NODE("node", D("props", "fast,gen=3"))
               NODE("core", "") NODE("memory", D("size", " 2 ") D("unit", "GB")) EDGE("cluster", "rack", D("n", "2"))
                   EDGE("rack", "node", D("n", "2") D("scope", "1"))
                       EDGE("node", "core", D("n", "2") D("scope", "1") D("start", "4"))
                           EDGE("node", "memory", D("scope", "-1")));

static const char power_recipe[] = RECIPE(
    NODE("cluster", D("root", "1")) NODE("rack", "") NODE("pdu", "") NODE("node", "")
        EDGE("cluster", "rack", D("n", "2")) EDGE("rack", "pdu", D("scope", "1"))
            EDGE("rack", "node", D("n", "2") D("scope", "1"))
                NODE("panel", D("root", "1") D("sub", "power")) "<node id='pdu2'>" D("type", "pdu")
                    D("sub", "power") "</node>"
                                      "<node id='node2'>" D("type", "node")
                                          D("sub", "power") "</node>" NODE("watt", D("sub", "power") D("size", "10"))
                                              EDGE("panel", "pdu2", POWER D("gen", "ASSOCIATE_IN"))
                                                  EDGE("pdu2", "node2", POWER D("gen", "ASSOCIATE_BY_PATH_IN"))
                                                      EDGE("node2", "watt", POWER D("n", "2")));

#define V(id, data)         "{\"id\":\"" id "\",\"metadata\":{" data "}}"
#define E(from, to, data)   "{\"source\":\"" from "\",\"target\":\"" to "\"" data "}"
#define META(text)          ",\"metadata\":{" text "}"
#define GRAPH(nodes, edges) "{\"graph\":{\"nodes\":[" nodes "],\"edges\":[" edges "]}}"

static const char small_graph[] = GRAPH(
    V("c1", "\"type\":\"core\",\"id\":1,\"rank\":7,\"exclusive\":true") "," V(
        "n",
        "\"type\":\"node\",\"name\":\"host-07\",\"rank\":7,\"properties\":{\"big\":\"\",\"gen\":\"3\"},"
        "\"status\":1") "," V("c0",
                              "\"type\":\"core\",\"id\":0,\"rank\":7,\"whole\":true,\"ephemeral\":{"
                              "\"job\":\"5\"}") "," V("r", "\"type\":\"cluster\",\"basename\":\"top\","
                                                           "\"id\":0,\"uuid\":\"01234567-89ab-cdef-0123-"
                                                           "456789abcdef\"") "," V("m", "\"type\":\"memory\","
                                                                                        "\"size\":64,\"unit\":"
                                                                                        "\"GB\",\"paths\":{"
                                                                                        "\"containment\":\"/"
                                                                                        "top0/host-07/"
                                                                                        "memory3\"}") "," V("5", "\"t"
                                                                                                                 "ype"
                                                                                                                 "\":"
                                                                                                                 "\"p"
                                                                                                                 "du"
                                                                                                                 "\","
                                                                                                                 "\"s"
                                                                                                                 "tat"
                                                                                                                 "e\""
                                                                                                                 ":\""
                                                                                                                 "dra"
                                                                                                                 "ini"
                                                                                                                 "ng"
                                                                                                                 "\","
                                                                                                                 "\"t"
                                                                                                                 "ags"
                                                                                                                 "\":"
                                                                                                                 "[\""
                                                                                                                 "x\""
                                                                                                                 "],"
                                                                                                                 "\"e"
                                                                                                                 "xte"
                                                                                                                 "nde"
                                                                                                                 "d\""
                                                                                                                 ":{"
                                                                                                                 "\"a"
                                                                                                                 "\":"
                                                                                                                 "{\""
                                                                                                                 "b\""
                                                                                                                 ":["
                                                                                                                 "1]}"
                                                                                                                 "}"),
    E("n", "c0", META("\"subsystem\":\"containment\",\"relationship\":\"contains\"")) "," E(
        "c0", "n",
        META(
            "\"subsystem\":\"containment\",\"relationship\":\"in\"")) "," E("n", "c1",
                                                                            "") "," E("r", "n",
                                                                                      META(
                                                                                          "\"name\":{\"containment\":"
                                                                                          "\"contains\"}")) "," E("n",
                                                                                                                  "m",
                                                                                                                  "") "," E("5",
                                                                                                                            "n",
                                                                                                                            META(
                                                                                                                                "\"subsystem\":\"power\","
                                                                                                                                "\"relationship\":"
                                                                                                                                "\"supplies\",\"back\":"
                                                                                                                                "\"draws\"")));

#define R(execution)           "{\"version\":1,\"execution\":{" execution "}}"
#define ENTRY(ranks, children) "{\"rank\":\"" ranks "\",\"children\":{" children "}}"

static const char small_r[] = R("\"R_lite\":[" ENTRY("3", "\"core\":\"2-3\",\"gpu\":\"1\"") "," ENTRY(
    "0,2", "\"core\":\"0\"") "],"
                             "\"nodelist\":[\"n[8-9]\",\"m007\"],"
                             "\"properties\":{\"big\":\"0,3\",\"mi50@gpu\":\"3\"},\"starttime\":1,\"expiration\":2");

static const char small_topology[] =
    "<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE topology SYSTEM 'hwloc2.dtd'><topology version='2.0'>"
    "<object type='Machine' os_index='0' cpuset='0x3' complete_cpuset='0x3' allowed_cpuset='0x1' nodeset='0x1' "
    "complete_nodeset='0x1' allowed_nodeset='0x1' gp_index='1'><info name='HostName' value='box12'/>"
    "<object type='NUMANode' os_index='0' cpuset='0x3' complete_cpuset='0x3' nodeset='0x1' complete_nodeset='0x1' "
    "gp_index='9' local_memory='3145728'/>"
    "<object type='Core' os_index='0' cpuset='0x1' complete_cpuset='0x1' nodeset='0x1' complete_nodeset='0x1' "
    "gp_index='2'>"
    "<object type='PU' os_index='0' cpuset='0x1' complete_cpuset='0x1' nodeset='0x1' complete_nodeset='0x1' "
    "gp_index='4'/>"
    "</object>"
    "<object type='Core' os_index='1' cpuset='0x2' complete_cpuset='0x2' nodeset='0x1' complete_nodeset='0x1' "
    "gp_index='3'>"
    "<object type='PU' os_index='1' cpuset='0x2' complete_cpuset='0x2' nodeset='0x1' complete_nodeset='0x1' "
    "gp_index='5'/>"
    "</object></object></topology>";

#endif
