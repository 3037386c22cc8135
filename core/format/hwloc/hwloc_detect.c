/* hwloc_detect.c - checks an hwloc XML before libhwloc reads the text, as libhwloc neither explains errors nor survives
 * all input.
 */
#include "format/input.h"

#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

/* The allowed processors, or memory nodes, of a machine. hwloc removes all others, and does not survive if none is
 * left. */
struct allowance {
    hwloc_bitmap_t set; /* allowed members; NULL: all */
    bool seen, usable;  /* seen: an object of the kind was there; usable: an allowed object was there */
};

struct hwloc_checker {
    XML_Parser xml;
    const char *source;
    weir_err *err;
    int depth, rc;
    long version; /* of the format: 1 without a version, 2, ... */
    uint32_t objects;
    struct allowance cpus, nodes;
};

#define DEPTH_MAX   200
#define OBJECTS_MAX (1u << 16) /* the running time of hwloc grows with the square */
#define INDEX_MAX   (1u << 20) /* hwloc sets a bit for each index below, too */

static const char *attribute(const char **attrs, const char *name)
{
    for (; *attrs; attrs += 2)
        if (strcmp(attrs[0], name) == 0)
            return attrs[1];
    return "";
}

/* Whether a text is a set in the notation of hwloc: "0x0000000f,,0x1", "0xf...f,0x0". */
static bool is_bitmap(const char *s)
{
    if (*s == '\0' || *s == ',')
        return false;
    if (strncmp(s, "0xf...f", 7) == 0)
        s += s[7] == ',' ? 8 : 7;
    for (;; s++) {
        bool prefix = strncmp(s, "0x", 2) == 0;
        size_t n = strspn(s += prefix ? 2 : 0, "0123456789abcdefABCDEF");
        if (n > 8 || (n == 0 && prefix))
            return false;
        s += n;
        if (*s != ',')
            return *s == '\0';
    }
}

static bool ends_with(const char *s, const char *tail)
{
    size_t n = strlen(s), k = strlen(tail);
    return n >= k && strcmp(s + n - k, tail) == 0;
}

static bool is_index(const char *s)
{
    return *s && strspn(s, "0123456789") == strlen(s) && strtoull(s, NULL, 10) <= INDEX_MAX;
}

/* The fault of an object; NULL: none. hwloc relies on processor sets in all objects but devices, and on a member in
 * processors. */
static const char *object_fault(const char **attrs)
{
    static const char *const devices[] = {"Bridge", "PCIDev", "OSDev", "Misc"};
    const char *type = attribute(attrs, "type"), *cpus = attribute(attrs, "cpuset"),
               *nodes = attribute(attrs, "nodeset");

    for (const char **a = attrs; *a; a += 2)
        if ((ends_with(a[0], "cpuset") || ends_with(a[0], "nodeset")) && !is_bitmap(a[1]))
            return "has a malformed set, not one such as 0x0000000f";
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (strcmp(type, devices[i]) == 0)
            return NULL;
    if (!*type)
        return "has no type";
    if (!*cpus || !*attribute(attrs, "complete_cpuset"))
        return "has no cpuset and complete_cpuset such as 0x0000000f";
    if (!*nodes != !*attribute(attrs, "complete_nodeset") || (!*nodes && strcmp(type, "NUMANode") == 0))
        return "has no nodeset and complete_nodeset";
    if ((strcmp(type, "PU") == 0 || strcmp(type, "NUMANode") == 0) && !is_index(attribute(attrs, "os_index")))
        return "has no os_index from 0 to 1048576";
    if (strcmp(type, "PU") == 0 && !cpus[strcspn(cpus, "123456789abcdefABCDEF")])
        return "has an empty cpuset";
    return NULL;
}

/* The fault of the first object; NULL: none. hwloc does not survive a first object other than a machine, but puts a
 * machine around a NUMA node of a document of hwloc 1. */
static const char *first_fault(const char **attrs, long version)
{
    const char *type = attribute(attrs, "type");

    if (strcmp(type, "Machine") == 0 || strcmp(type, "System") == 0 || (version == 1 && strcmp(type, "NUMANode") == 0))
        return NULL;
    return "is not the first one in a machine: expected Machine, or System or NUMANode of hwloc 1";
}

/* Checks the outermost element, and sets l->version. */
static int check_top(struct hwloc_checker *l, const char *name, const char **attrs, int line)
{
    long known = (long)(hwloc_get_api_version() >> 16);
    const char *version = attribute(attrs, "version");

    if (strcmp(name, "topology") != 0)
        return weir_fail_at(l->err, WEIR_EPARSE, l->source, line, 0, "<%.64s>: expected <topology>", name);
    l->version = *version ? strtol(version, NULL, 10) : 1;
    if (l->version > known)
        return weir_fail_at(l->err, WEIR_EPARSE, l->source, line, 0,
                            "written for hwloc %ld; the hwloc here reads 1 to %ld: export the machine again with "
                            "lstopo --export-xml-flags v%ld",
                            l->version, known, known);
    return WEIR_OK;
}

/* The set of a well-formed text; NULL: no text, or out of memory. */
static hwloc_bitmap_t read_set(const char *s)
{
    hwloc_bitmap_t set = *s ? hwloc_bitmap_alloc() : NULL;

    if (set && hwloc_bitmap_sscanf(set, s) < 0) {
        hwloc_bitmap_free(set);
        return NULL;
    }
    return set;
}

static void note_use(struct allowance *a, const char *s)
{
    hwloc_bitmap_t set = read_set(s);

    a->seen = true;
    a->usable = a->usable || !a->set || !set || hwloc_bitmap_intersects(a->set, set);
    hwloc_bitmap_free(set);
}

static void note_object(struct hwloc_checker *l, const char **attrs)
{
    const char *type = attribute(attrs, "type");

    if (l->objects == 0) {
        l->cpus.set = read_set(attribute(attrs, "allowed_cpuset"));
        l->nodes.set = read_set(attribute(attrs, "allowed_nodeset"));
    }
    if (strcmp(type, "PU") == 0)
        note_use(&l->cpus, attribute(attrs, "cpuset"));
    if (strcmp(type, "NUMANode") == 0)
        note_use(&l->nodes, attribute(attrs, "nodeset"));
}

static void XMLCALL on_start(void *user, const char *name, const char **attrs)
{
    struct hwloc_checker *l = user;
    bool object = strcmp(name, "object") == 0;
    const char *fault;
    int line = (int)XML_GetCurrentLineNumber(l->xml);

    l->rc = l->rc ? l->rc : weir_xml_check_attributes(l->xml, name, attrs, l->source, l->err);
    if (l->rc < 0) {
        XML_StopParser(l->xml, XML_FALSE);
        return;
    }
    fault = object ? object_fault(attrs) : NULL;
    if (object && !fault && l->objects == 0)
        fault = first_fault(attrs, l->version);
    if (object && !fault)
        note_object(l, attrs);
    if (++l->depth == 1)
        l->rc = check_top(l, name, attrs, line);
    else if (l->depth > DEPTH_MAX)
        l->rc =
            weir_fail_at(l->err, WEIR_ELIMIT, l->source, line, 0, "more than %d elements inside each other", DEPTH_MAX);
    else if (object && ++l->objects > OBJECTS_MAX)
        l->rc = weir_fail_at(l->err, WEIR_ELIMIT, l->source, line, 0, "more than %u objects", OBJECTS_MAX);
    else if (fault)
        l->rc = weir_fail_at(l->err, WEIR_EINVAL, l->source, line, 0, "<object type=\"%.64s\"> %s",
                             attribute(attrs, "type"), fault);
    if (l->rc < 0)
        XML_StopParser(l->xml, XML_FALSE);
}

static void XMLCALL on_end(void *user, const char *name)
{
    (void)name;
    ((struct hwloc_checker *)user)->depth--;
}

int weir_hwloc_check(const char *text, size_t len, const char *source, weir_err *err)
{
    struct hwloc_checker l = {.xml = weir_xml_new(), .source = source, .err = err};
    int rc;

    if (!l.xml)
        return weir_fail_nomem(err);
    XML_SetUserData(l.xml, &l);
    XML_SetElementHandler(l.xml, on_start, on_end);
    rc = weir_xml_run(l.xml, text, len, source, err);
    XML_ParserFree(l.xml);
    rc = l.rc < 0 ? l.rc : rc;
    if (rc == WEIR_OK && l.cpus.seen && !l.cpus.usable)
        rc = weir_fail_at(err, WEIR_EINVAL, source, 0, 0, "no PU is in the allowed_cpuset of the machine");
    if (rc == WEIR_OK && l.nodes.seen && !l.nodes.usable)
        rc = weir_fail_at(err, WEIR_EINVAL, source, 0, 0, "no NUMANode is in the allowed_nodeset of the machine");
    hwloc_bitmap_free(l.cpus.set);
    hwloc_bitmap_free(l.nodes.set);
    return rc;
}
