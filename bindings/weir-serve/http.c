/* http.c - http{...}: requests to a server, several at a time, without waiting except in step(). Uses libcurl, loaded
 * by the first client: loaded at the start, libcurl's many libraries would make each start of a program four times as
 * long.
 *
 * Invariant: a request belongs to a client, and the client lists the request until the end of the request; when client
 * or request is collected, the request leaves the list. Answers are kept up to the client's limit of bytes. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "handle/support.h"
#include "net.h"

#define CLIENT  "weir.http"
#define REQUEST "weir.http_request"
#define LIMIT   (256 << 20) /* default limit of an answer, in bytes */

#define FUNCTIONS(F)                                                                                                   \
    F(easy_init)                                                                                                       \
    F(easy_cleanup)                                                                                                    \
    F(easy_setopt)                                                                                                     \
    F(easy_getinfo)                                                                                                    \
    F(easy_strerror)                                                                                                   \
    F(multi_init)                                                                                                      \
    F(multi_cleanup)                                                                                                   \
    F(multi_add_handle)                                                                                                \
    F(multi_remove_handle)                                                                                             \
    F(multi_perform) F(multi_poll) F(multi_info_read) F(slist_append) F(slist_free_all) F(global_init)

#undef curl_easy_setopt /* libcurl's macros would hide the members */
#undef curl_easy_getinfo
#define MEMBER(name) __typeof__(curl_##name) *name;
static struct {
    FUNCTIONS(MEMBER)
} api; /* shared by all states; complete once global_init is set */

struct http_request {
    struct client *client; /* NULL: over */
    CURL *easy;
    struct http_request *next, *prev;
    char *body, *in; /* text to send; text received and not taken yet */
    size_t len, cap, limit;
    bool done, too_long;
    CURLcode how;
    long status;
    char error[CURL_ERROR_SIZE];
};

struct client {
    CURLM *multi;
    struct curl_slist *headers;
    struct http_request *first;
    size_t limit;
};

/* ---- requests ---- */

static void leave(struct http_request *r)
{
    if (!r->client)
        return;
    if (r->prev)
        r->prev->next = r->next;
    else
        r->client->first = r->next;
    if (r->next)
        r->next->prev = r->prev;
    api.multi_remove_handle(r->client->multi, r->easy);
    api.easy_cleanup(r->easy);
    r->easy = NULL;
    r->client = NULL;
}

static size_t receive(char *data, size_t size, size_t n, void *to)
{
    struct http_request *r = to;
    size_t cap = r->cap ? r->cap : 1024;
    char *grown;

    n *= size;
    r->too_long = n > r->limit - r->len;
    if (r->too_long)
        return 0;
    while (cap < r->len + n)
        cap *= 2;
    if (cap > r->cap) {
        grown = realloc(r->in, cap);
        if (!grown)
            return 0;
        r->in = grown;
        r->cap = cap;
    }
    memcpy(r->in + r->len, data, n);
    r->len += n;
    return n;
}

static struct http_request *check_request(lua_State *L)
{
    return luaL_checkudata(L, 1, REQUEST);
}

static int request_gc(lua_State *L)
{
    struct http_request *r = check_request(L);

    leave(r);
    free(r->in);
    free(r->body);
    r->in = r->body = NULL;
    r->len = r->cap = 0;
    return 0;
}

/* take(): the text received since the last call. */
static int request_take(lua_State *L)
{
    struct http_request *r = check_request(L);

    lua_pushlstring(L, r->in ? r->in : "", r->len);
    r->len = 0;
    return 1;
}

/* status(): false while under way, then the status of the answer; or nil, message, "io". */
static int request_status(lua_State *L)
{
    struct http_request *r = check_request(L);

    if (!r->done && r->client) {
        lua_pushboolean(L, 0);
        return 1;
    }
    if (r->done && r->how == CURLE_OK) {
        lua_pushinteger(L, r->status);
        return 1;
    }
    lua_pushnil(L);
    if (r->too_long)
        lua_pushfstring(L, "the answer is longer than %d bytes", (int)r->limit);
    else
        lua_pushstring(L, !r->done ? "it was given up" : r->error[0] ? r->error : api.easy_strerror(r->how));
    lua_pushliteral(L, "io");
    return 3;
}

/* ---- clients ---- */

static struct client *check_client(lua_State *L)
{
    struct client *c = luaL_checkudata(L, 1, CLIENT);

    if (!c->multi)
        luaL_error(L, "this http client is closed");
    return c;
}

static int client_gc(lua_State *L)
{
    struct client *c = luaL_checkudata(L, 1, CLIENT);

    while (c->first)
        leave(c->first);
    if (c->multi)
        api.multi_cleanup(c->multi);
    api.slist_free_all(c->headers);
    c->multi = NULL;
    c->headers = NULL;
    return 0;
}

static const struct {
    CURLoption option;
    const char *field;
} files[] = {{CURLOPT_CAINFO, "ca"}, {CURLOPT_SSLCERT, "cert"}, {CURLOPT_SSLKEY, "key"}};
#define FILES (sizeof files / sizeof *files)

/* Sets the options of a request. Returns whether libcurl accepted all options. */
static bool set_up(lua_State *L, const struct client *c, struct http_request *r, const char *url, double seconds)
{
    CURL *e = r->easy;
    bool ok = api.easy_setopt(e, CURLOPT_URL, url) == CURLE_OK;

    lua_getiuservalue(L, 1, 1);
    for (size_t i = 0; i < FILES; i++) {
        const char *file = weirlua_field_string(L, lua_gettop(L), files[i].field, NULL);
        if (file)
            ok = api.easy_setopt(e, files[i].option, file) == CURLE_OK && ok;
    }
    lua_pop(L, 1);
    api.easy_setopt(e, CURLOPT_PRIVATE, r);
    api.easy_setopt(e, CURLOPT_WRITEDATA, r);
    api.easy_setopt(e, CURLOPT_WRITEFUNCTION, receive);
    api.easy_setopt(e, CURLOPT_ERRORBUFFER, r->error);
    api.easy_setopt(e, CURLOPT_HTTPHEADER, c->headers);
    api.easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    api.easy_setopt(e, CURLOPT_NOPROXY, "*");
    api.easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    api.easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)(seconds * 1000));
    return ok;
}

/* post(url, body, seconds): begins a request and returns the request, which fails after `seconds`; 0: no time limit. */
static int client_post(lua_State *L)
{
    struct client *c = check_client(L);
    const char *url = luaL_checkstring(L, 2), *body;
    size_t len;
    double seconds = (body = luaL_checklstring(L, 3, &len), luaL_checknumber(L, 4));
    struct http_request *r = lua_newuserdatauv(L, sizeof *r, 1);

    *r = (struct http_request){.limit = c->limit};
    luaL_setmetatable(L, REQUEST);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    r->body = malloc(len + 1);
    r->easy = r->body ? api.easy_init() : NULL;
    if (!r->easy)
        return luaL_error(L, "out of memory");
    memcpy(r->body, body, len);
    if (!set_up(L, c, r, url, seconds) || api.easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len) ||
        api.easy_setopt(r->easy, CURLOPT_POSTFIELDS, r->body) || api.multi_add_handle(c->multi, r->easy)) {
        api.easy_cleanup(r->easy);
        r->easy = NULL;
        return luaL_error(L, "the request to %s cannot be made", url);
    }
    r->client = c;
    r->next = c->first;
    if (r->next)
        r->next->prev = r;
    c->first = r;
    return 1;
}

static void finish(struct client *c)
{
    CURLMsg *m;
    int left;

    while ((m = api.multi_info_read(c->multi, &left))) {
        struct http_request *r = NULL;
        CURLcode how = m->data.result;
        if (m->msg != CURLMSG_DONE || api.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&r) || !r)
            continue;
        api.easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &r->status);
        r->how = how;
        r->done = true;
        leave(r);
    }
}

/* step(seconds): advances all requests, waiting at most `seconds` for an event. Returns true while requests are under
 * way. */
static int client_step(lua_State *L)
{
    struct client *c = check_client(L);
    double seconds = luaL_optnumber(L, 2, 0);
    int running = 0;

    api.multi_perform(c->multi, &running);
    if (running && seconds > 0) {
        api.multi_poll(c->multi, NULL, 0, (int)(seconds * 1000) + 1, NULL);
        api.multi_perform(c->multi, &running);
    }
    finish(c);
    lua_pushboolean(L, c->first != NULL);
    return 1;
}

static const char *load(void)
{
#define FIND(name) {"curl_" #name, &api.name},
    static const struct {
        const char *name;
        void *to; /* a pointer to a function pointer */
    } list[] = {FUNCTIONS(FIND)};
    void *library;

    if (api.global_init)
        return NULL;
    library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library && i < sizeof list / sizeof *list; i++) {
        void *f = dlsym(library, list[i].name);
        if (!f)
            return dlerror();
        memcpy(list[i].to, &f, sizeof f);
    }
    return library ? NULL : dlerror();
}

/* http{ca=, cert=, key=, limit=}: a client, with files for TLS and a limit of bytes for an answer; or nil, message,
 * "unavailable" without libcurl. */
static int client_new(lua_State *L)
{
    static const char *const known[] = {"ca", "cert", "key", "limit", NULL};
    struct client *c;
    const char *why;

    lua_settop(L, 1);
    weirlua_options(L, 1, known);
    for (size_t i = 0; i < FILES; i++)
        (void)weirlua_field_string(L, 1, files[i].field, NULL); /* checks the type now */
    if ((why = load())) {
        lua_pushnil(L);
        lua_pushfstring(L, "libcurl is needed (Debian's package libcurl4): %s", why);
        lua_pushliteral(L, "unavailable");
        return 3;
    }
    c = lua_newuserdatauv(L, sizeof *c, 1);
    *c = (struct client){.limit = (size_t)weirlua_field_integer(L, 1, "limit", LIMIT)};
    luaL_setmetatable(L, CLIENT);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    c->multi = api.global_init(CURL_GLOBAL_DEFAULT) == 0 ? api.multi_init() : NULL;
    c->headers = c->multi ? api.slist_append(NULL, "Expect:") : NULL; /* no round trip before a long body */
    return c->headers ? 1 : luaL_error(L, "out of memory");
}

/* ---- base64 (RFC 4648) ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int base64_encode(lua_State *L)
{
    size_t len;
    const unsigned char *in = (const unsigned char *)luaL_checklstring(L, 1, &len);
    luaL_Buffer b;
    char *out = luaL_buffinitsize(L, &b, (len + 2) / 3 * 4);
    size_t n = 0;

    for (size_t i = 0; i < len; i += 3) {
        unsigned word =
            (unsigned)in[i] << 16 | (i + 1 < len ? (unsigned)in[i + 1] << 8 : 0) | (i + 2 < len ? in[i + 2] : 0);
        out[n++] = digits[word >> 18];
        out[n++] = digits[word >> 12 & 63];
        out[n++] = i + 1 < len ? digits[word >> 6 & 63] : '=';
        out[n++] = i + 2 < len ? digits[word & 63] : '=';
    }
    luaL_pushresultsize(&b, n);
    return 1;
}

/* unbase64(text): the decoded bytes, or nil for a wrong text. */
static int base64_decode(lua_State *L)
{
    size_t len, n = 0;
    const char *in = luaL_checklstring(L, 1, &len), *at;
    luaL_Buffer b;
    char *out = luaL_buffinitsize(L, &b, len / 4 * 3 + 3);
    unsigned word = 0;

    for (int k = 0; k < 2 && len > 0 && in[len - 1] == '='; k++)
        len--;
    for (size_t i = 0; i < len; i++) {
        at = in[i] ? strchr(digits, in[i]) : NULL;
        if (!at) {
            lua_pushnil(L);
            return 1;
        }
        word = word << 6 | (unsigned)(at - digits);
        if (i % 4)
            out[n++] = (char)(word >> (6 - i % 4 * 2) & 255);
    }
    luaL_pushresultsize(&b, n);
    return 1;
}

void weirlua_http_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg client[] = {{"post", client_post}, {"step", client_step}, {"close", client_gc}, {NULL, NULL}};
    static const luaL_Reg client_meta[] = {{"__gc", client_gc}, {"__close", client_gc}, {NULL, NULL}};
    static const luaL_Reg request[] = {
        {"take", request_take}, {"status", request_status}, {"close", request_gc}, {NULL, NULL}};
    static const luaL_Reg request_meta[] = {{"__gc", request_gc}, {"__close", request_gc}, {NULL, NULL}};

    weirlua_class(L, s, CLIENT, client, client_meta);
    weirlua_class(L, s, REQUEST, request, request_meta);
}

const luaL_Reg weirlua_http_functions[] = {
    {"http", client_new}, {"base64", base64_encode}, {"unbase64", base64_decode}, {NULL, NULL}};
