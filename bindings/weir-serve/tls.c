/* tls.c - TLS (OpenSSL, memory BIOs) without sockets: the caller reads and writes the stream, and passes the bytes as
 * strings. Invariant: no function waits; after each call the bytes to be sent can be taken. */
#include "handle/support.h"
#include "net.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

#define CONTEXT "weir.tls"
#define SESSION "weir.tls_session"
#define PIECE   16384 /* bytes of a record */

/* ---- errors ---- */

/* Pushes nil, message, code. The message contains OpenSSL's reason. */
static int fail(lua_State *L, const char *what, int code)
{
    weir_err err = {.code = code};
    unsigned long e = ERR_peek_last_error();
    const char *why = ERR_reason_error_string(e);

    snprintf(err.text, sizeof err.text, "%s: %s", what,
             ERR_SYSTEM_ERROR(e) ? strerror(ERR_GET_REASON(e))
             : why               ? why
                                 : "unknown trouble");
    ERR_clear_error();
    return weirlua_fail(L, &err, code);
}

/* ---- contexts ---- */

static SSL_CTX *check_context(lua_State *L, int arg)
{
    SSL_CTX **handle = luaL_checkudata(L, arg, CONTEXT);

    luaL_argcheck(L, *handle, arg, "the context is closed");
    return *handle;
}

static int context_gc(lua_State *L)
{
    SSL_CTX **handle = luaL_checkudata(L, 1, CONTEXT);

    SSL_CTX_free(*handle);
    *handle = NULL;
    return 0;
}

/* Pushes an empty context for a server or a client. */
static SSL_CTX *push_context(lua_State *L, const SSL_METHOD *side)
{
    SSL_CTX **handle = lua_newuserdatauv(L, sizeof *handle, 0);

    *handle = NULL;
    luaL_setmetatable(L, CONTEXT);
    *handle = SSL_CTX_new(side);
    if (!*handle)
        luaL_error(L, "out of memory");
    SSL_CTX_set_min_proto_version(*handle, TLS1_2_VERSION);
    SSL_CTX_set_options(*handle, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(*handle, SSL_SESS_CACHE_OFF);
    return *handle;
}

/* tls_server(certificate, key): a context from files in PEM form, the first with the chain; or nil, message, code. */
static int server_new(lua_State *L)
{
    const char *certificate = luaL_checkstring(L, 1), *key = luaL_checkstring(L, 2);
    SSL_CTX *ctx = push_context(L, TLS_server_method());

    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(ctx, certificate) != 1)
        return fail(L, certificate, WEIR_EIO);
    if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1 || SSL_CTX_check_private_key(ctx) != 1)
        return fail(L, key, WEIR_EIO);
    return 1;
}

/* tls_client([ca]): a context that trusts the certificates in a file, by default the system's; or nil, message,
 * code. */
static int client_new(lua_State *L)
{
    const char *ca = luaL_optstring(L, 1, NULL);
    SSL_CTX *ctx = push_context(L, TLS_client_method());

    ERR_clear_error();
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    if (ca ? SSL_CTX_load_verify_locations(ctx, ca, NULL) != 1 : SSL_CTX_set_default_verify_paths(ctx) != 1)
        return fail(L, ca ? ca : "certificates of the system", WEIR_EIO);
    return 1;
}

/* ---- sessions ---- */

struct session {
    SSL *ssl; /* NULL: closed */
};

static SSL *check_session(lua_State *L)
{
    struct session *s = luaL_checkudata(L, 1, SESSION);

    luaL_argcheck(L, s->ssl, 1, "the session is closed");
    ERR_clear_error();
    return s->ssl;
}

static int session_gc(lua_State *L)
{
    struct session *s = luaL_checkudata(L, 1, SESSION);

    SSL_free(s->ssl);
    s->ssl = NULL;
    return 0;
}

/* Sets the name or address required in the server's certificate. */
static bool expect(SSL *ssl, const char *host)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

    if (X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1)
        return true;
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

/* context:session([host]): a session for one connection; for a client, with the name or address of the server. */
static int context_session(lua_State *L)
{
    SSL_CTX *ctx = check_context(L, 1);
    const char *host = luaL_optstring(L, 2, NULL);
    struct session *s = lua_newuserdatauv(L, sizeof *s, 0);
    BIO *in = NULL, *out = NULL;

    s->ssl = NULL;
    luaL_setmetatable(L, SESSION);
    s->ssl = SSL_new(ctx);
    in = BIO_new(BIO_s_mem());
    out = BIO_new(BIO_s_mem());
    if (!s->ssl || !in || !out) {
        BIO_free(in);
        BIO_free(out);
        return luaL_error(L, "out of memory");
    }
    SSL_set_bio(s->ssl, in, out);
    if (!host)
        SSL_set_accept_state(s->ssl);
    else if (expect(s->ssl, host))
        SSL_set_connect_state(s->ssl);
    else
        return fail(L, host, WEIR_EINVAL);
    return 1;
}

/* Pushes nil, message, code: the reason why a handshake or a read failed. */
static int broken(lua_State *L, SSL *ssl)
{
    long verdict = SSL_get_verify_result(ssl);
    weir_err err = {.code = WEIR_EIO};

    if (verdict == X509_V_OK)
        return fail(L, "TLS", WEIR_EIO);
    snprintf(err.text, sizeof err.text, "TLS: the certificate is not trusted: %s",
             X509_verify_cert_error_string(verdict));
    ERR_clear_error();
    return weirlua_fail(L, &err, WEIR_EIO);
}

/* session:receive(bytes): the text decrypted from bytes of the stream, and whether the peer has ended the session; or
 * nil, message, code. */
static int session_receive(lua_State *L)
{
    SSL *ssl = check_session(L);
    size_t len;
    const char *bytes = luaL_checklstring(L, 2, &len);
    char piece[PIECE];
    luaL_Buffer text;
    int n, why;

    luaL_argcheck(L, len < 1 << 30, 2, "too long");
    if (len > 0 && BIO_write(SSL_get_rbio(ssl), bytes, (int)len) != (int)len)
        return luaL_error(L, "out of memory");
    luaL_buffinit(L, &text);
    while ((n = SSL_read(ssl, piece, sizeof piece)) > 0)
        luaL_addlstring(&text, piece, (size_t)n);
    why = SSL_get_error(ssl, n);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_ZERO_RETURN)
        return broken(L, ssl);
    luaL_pushresult(&text);
    lua_pushboolean(L, why == SSL_ERROR_ZERO_RETURN);
    return 2;
}

/* session:start(): begins the handshake; for clients. */
static int session_start(lua_State *L)
{
    SSL *ssl = check_session(L);
    int n = SSL_do_handshake(ssl);

    if (n <= 0 && SSL_get_error(ssl, n) != SSL_ERROR_WANT_READ)
        return broken(L, ssl);
    lua_pushboolean(L, 1);
    return 1;
}

/* session:ready(): whether the handshake is complete and texts can be sent. */
static int session_ready(lua_State *L)
{
    lua_pushboolean(L, SSL_is_init_finished(check_session(L)));
    return 1;
}

/* session:send(text): true; or nil, message, code where the session is not ready or has ended. */
static int session_send(lua_State *L)
{
    SSL *ssl = check_session(L);
    size_t len;
    const char *text = luaL_checklstring(L, 2, &len);

    luaL_argcheck(L, len < 1 << 30, 2, "too long");
    if (len > 0 && SSL_write(ssl, text, (int)len) != (int)len)
        return broken(L, ssl);
    lua_pushboolean(L, 1);
    return 1;
}

/* session:take(): the bytes to be sent on the stream, or nil. */
static int session_take(lua_State *L)
{
    BIO *out = SSL_get_wbio(check_session(L));
    char *bytes;
    long n = BIO_get_mem_data(out, &bytes);

    if (n <= 0)
        return lua_pushnil(L), 1;
    lua_pushlstring(L, bytes, (size_t)n);
    (void)BIO_reset(out);
    return 1;
}

/* session:finish(): ends the session; the bytes of the farewell are to be taken. */
static int session_finish(lua_State *L)
{
    SSL *ssl = check_session(L);

    if (SSL_is_init_finished(ssl))
        SSL_shutdown(ssl);
    ERR_clear_error();
    return 0;
}

void weirlua_tls_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg contexts[] = {{"session", context_session}, {NULL, NULL}};
    static const luaL_Reg context_meta[] = {{"__gc", context_gc}, {NULL, NULL}};
    static const luaL_Reg sessions[] = {{"receive", session_receive},
                                        {"start", session_start},
                                        {"ready", session_ready},
                                        {"send", session_send},
                                        {"take", session_take},
                                        {"finish", session_finish},
                                        {NULL, NULL}};
    static const luaL_Reg session_meta[] = {{"__gc", session_gc}, {NULL, NULL}};

    weirlua_class(L, s, CONTEXT, contexts, context_meta);
    weirlua_class(L, s, SESSION, sessions, session_meta);
}

const luaL_Reg weirlua_tls_functions[] = {{"tls_server", server_new}, {"tls_client", client_new}, {NULL, NULL}};
