/* hwloc_types.c - parses the list of types to read from a topology. See hwloc_types.h. */
#include "format/hwloc/hwloc_types.h"

#include <string.h>

static const struct {
    const char *word;
    unsigned type;
} words[] = {
    {"all", WEIR_HWLOC_ALL},       {"cluster", 0}, /* the cluster is always made */
    {"node", WEIR_HWLOC_NODE},     {"group", WEIR_HWLOC_GROUP},
    {"socket", WEIR_HWLOC_SOCKET}, {"numanode", WEIR_HWLOC_NUMANODE},
    {"L3cache", WEIR_HWLOC_L3},    {"L2cache", WEIR_HWLOC_L2},
    {"L1cache", WEIR_HWLOC_L1},    {"core", WEIR_HWLOC_CORE},
    {"pu", WEIR_HWLOC_PU},         {"gpu", WEIR_HWLOC_GPU},
    {"memory", WEIR_HWLOC_MEMORY}, {"storage", WEIR_HWLOC_STORAGE},
};

/* The levels, each including all levels above. */
#define DOWN_TO_NODE     WEIR_HWLOC_NODE
#define DOWN_TO_SOCKET   (DOWN_TO_NODE | WEIR_HWLOC_SOCKET)
#define DOWN_TO_NUMANODE (DOWN_TO_SOCKET | WEIR_HWLOC_NUMANODE)
#define DOWN_TO_CORE     (DOWN_TO_NUMANODE | WEIR_HWLOC_CORE | WEIR_HWLOC_GPU | WEIR_HWLOC_MEMORY | WEIR_HWLOC_STORAGE)
#define DOWN_TO_PU       (DOWN_TO_CORE | WEIR_HWLOC_PU)

/* The types selected by a single word. */
static unsigned level_of(unsigned type)
{
    switch (type) {
    case WEIR_HWLOC_NODE: return DOWN_TO_NODE;
    case WEIR_HWLOC_SOCKET: return DOWN_TO_SOCKET;
    case WEIR_HWLOC_NUMANODE: return DOWN_TO_NUMANODE;
    case 0:
    case WEIR_HWLOC_CORE: return DOWN_TO_CORE;
    case WEIR_HWLOC_PU: return DOWN_TO_PU;
    default: return type | WEIR_HWLOC_NODE | WEIR_HWLOC_LISTED;
    }
}

static int find_word(const char *s, size_t len, unsigned *type, weir_err *err)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == len && memcmp(words[i].word, s, len) == 0) {
            *type = words[i].type;
            return WEIR_OK;
        }
    return weir_fail(err, WEIR_EINVAL,
                     "format \"hwloc:...\": \"%.*s\" is no type of it; node, group, socket, numanode, L3cache, "
                     "L2cache, L1cache, core, pu, gpu, memory and storage are, and \"all\" for what is not allowed too",
                     (int)(len > 64 ? 64 : len), s);
}

int weir_hwloc_types(const char *text, unsigned *what, weir_err *err)
{
    unsigned types = 0, all = 0, type = 0, count = 0;

    while (*text) {
        size_t len = strcspn(text, ",");
        int rc = find_word(text, len, &type, err);
        if (rc < 0)
            return rc;
        all |= type & WEIR_HWLOC_ALL;
        count += type != WEIR_HWLOC_ALL;
        types |= type & ~(unsigned)WEIR_HWLOC_ALL;
        text += len + (text[len] == ',');
    }
    *what = all | (count > 1 ? types | WEIR_HWLOC_NODE | WEIR_HWLOC_LISTED : level_of(types));
    return WEIR_OK;
}
