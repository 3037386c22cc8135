/* input.h - services for readers of machines, and the readers of this folder. Private to the core.
 *
 * Every reader builds a new graph between weir_graph_begin() and weir_graph_end(), and returns only a complete
 * graph. `source` names the text in errors; `text` need not end in a NUL.
 *
 * Pools of type "node" get the execution ranks 0, 1, ... in preorder from the readers of recipes, synthetic strings and
 * hwloc; JSON graphs and R bring their own.
 *
 * Formats of weir_graph_parse(), and their arguments:
 *   grug        GraphML recipes
 *   synthetic   a line of text, see below
 *   jgf         JSON Graph Format: {"graph": {"nodes": [...], "edges": [...]}}, or an R with such a graph
 *   rv1         R version 1
 *   hwloc       XML; "hwloc:LEVEL" stops at node, socket, numanode, core (the default) or pu; with ",all" processors
 *               count even if the machine does not allow their use: "hwloc:core,all"
 *
 * Synthetic strings:
 *   machine    = word { word }
 *   word       = type [":" count] ["(" attribute {"," attribute} ")"] ["[" machine "]"]
 *   attribute  = "size=" n | "unit=" text | "basename=" text | "id=" first | "scope=" ("local" | "global")
 *              | "exclusive" | name of a property | "property=" key ["=" value]
 * A word is inside the nearest word before that is a container: core, gpu, memory, storage, pu, ssd and nic are none,
 * and neither is a word with content in brackets. Inside brackets, the word before the brackets is the first container.
 * Ids count from `id` on: local in the parent; global over the machine; otherwise over the nearest node for pools below
 * a node, and over the machine for the rest. Pools of equal basename, scope and first id share their count. A machine
 * with several pools at the top is put into "cluster0".
 */
#ifndef WEIR_FORMAT_H
#define WEIR_FORMAT_H

#include <expat.h>
#include <jansson.h>

#include "base/base.h"
#include "format/json_read.h"
#include "base/utf8.h"

/* Text of errors about a description of too many vertices. */
#define WEIR_VERTICES_MANY "more than %u vertices (WEIR_VERTICES=N in the environment allows more)"
#ifndef WEIR_VERTICES_MAX            /* the build for fuzzing has fewer */
#define WEIR_VERTICES_MAX 0x4000000u /* 2^26, about 4 GB: larger graphs are refused before anything is made */
#endif
/* Most vertices that a description may have, at most as many as the process allows. */
static inline uint32_t weir_vertices_allowed(void)
{
    uint32_t most = weir_vertices_limit(0);
    return most < WEIR_VERTICES_MAX ? most : WEIR_VERTICES_MAX - 1;
}
/* Properties that a description expands to are bounded likewise: each counts as often as a vertex has it. */
#define WEIR_ENTRIES_MANY "more than %u properties of vertices in all (WEIR_VERTICES=N in the environment allows more)"

/* A reader makes the graph of a text; in->rest is NULL unless the registry says that the reader streams. */
typedef int weir_reader(const struct weir_input *in, const char *source, weir_graph **out, weir_err *err);
weir_reader weir_grug_read, weir_synthetic_read;

/* Reads the XML of hwloc. in->option names the types of the graph, or is ""; see hwloc_types.h. */
weir_reader weir_hwloc_read;
int weir_hwloc_discover(const char *types, weir_graph **out, weir_err *err);
/* Checks an XML text before hwloc reads it, as hwloc neither reports errors well nor survives any depth of nesting.
 * 0 or a status. */
int weir_hwloc_check(const char *text, size_t len, const char *source, weir_err *err);
/* Sets *out to the objects of an XML text: {type, index, name, size, device, infos, children}, caches and I/O
 * devices included. */
int weir_hwloc_objects(const char *text, size_t len, const char *source, json_t **out, weir_err *err);

/* Makes the graph in the text of the value of `scheduling` of an R. */
int weir_jgf_read_scheduling(const char *text, const char *source, weir_graph **out, weir_err *err);

/* Values of the key "writer" of an R: a JSON graph without the vertices below exclusive vertices; the writer of RFC 49.
 */
#define WEIR_JGF_SHORTHAND "fluxion:jgf_shorthand"
#define WEIR_TREEPOOL      "TreePool"

/* True if the start of a text is in the format. The text may be cut off anywhere. */
bool weir_probe_grug(const char *text, size_t len);
bool weir_probe_jgf(const char *text, size_t len);
bool weir_probe_rv1(const char *text, size_t len);
bool weir_probe_hwloc(const char *text, size_t len);
bool weir_probe_synthetic(const char *text, size_t len);

/* Keys and values for every pool of a kind. Zero-initialise. */
struct weir_prop {
    char *key, *value;
};
struct weir_props {
    struct weir_prop *list;
    uint32_t count, cap;
};
/* Adds "KEY" or "KEY=VALUE", of `len` bytes. */
int weir_props_add(struct weir_props *p, const char *text, size_t len) WEIR_CHECKED;
void weir_props_free(struct weir_props *p);

/* Adds `count` siblings with ids d->id, d->id + stride, ...; nodes among them take their ranks from *next_rank on. */
int weir_siblings_add(weir_graph *g, weir_vertex parent, const weir_pool_desc *d, const struct weir_props *props,
                      uint32_t count, int64_t stride, int64_t *next_rank, weir_vertex *first, weir_err *err);

/* Why a type, name or unit is not allowed: "is empty", ...; NULL: allowed. `part`: the text is a part of a path. */
const char *weir_text_fault(const char *s, bool part);
/* Describes a host by its name: a number at the end becomes the id, the rest the basename; the name is kept where
 * basename and id do not reproduce it ("node007"). `basename` must have space for the whole name. */
void weir_host_describe(const char *name, char *basename, weir_pool_desc *d);

/* Returns a parser of XML that allocates by weir_mem_*; NULL: out of memory. */
XML_Parser weir_xml_new(void);
int weir_xml_run(XML_Parser xml, const char *text, size_t len, const char *source, weir_err *err);
/* Fails with WEIR_ELIMIT for an element of more than WEIR_XML_ATTRIBUTES attributes. */
int weir_xml_check_attributes(XML_Parser xml, const char *element, const char **attrs, const char *source,
                              weir_err *err);
#define WEIR_XML_ATTRIBUTES 256 /* the running time of hwloc grows with the square of an element's attributes */

#endif
