// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// libcurl, found when it is needed: the part of its stable ABI that the library uses, declared here, so that nothing has
// to be installed to build, and nothing is linked. Empty on every system but Linux.

#ifndef CCURL_H
#define CCURL_H

#ifdef __linux__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opaque to us, as they are to every user of libcurl.
typedef struct CCurlEasy CCurlEasy;
typedef struct CCurlMulti CCurlMulti;
typedef struct CCurlSessions CCurlSessions;
typedef struct CCurlList CCurlList;

/// Loads libcurl, once for the process. Safe from any thread. False where there is none, or an older one than 7.68.
bool ccurl_load(void);

/// The version of the libcurl that was loaded, as 0xMMmmpp; 0 where none was found.
uint32_t ccurl_version(void);

/// Whether it asks before it sends a request (7.80 and later), and so can be kept from sending it a second time.
bool ccurl_asks_before_sending(void);

/// The features of the libcurl that was loaded, as CCURL_FEATURE bits.
uint32_t ccurl_features(void);

/// Where that libcurl looks for the certificates of the system's authorities: a file of them, and a folder. Null where it
/// has none, or is too old (before 7.70) to say.
const char *ccurl_ca_file(void);
const char *ccurl_ca_folder(void);

enum {
    CCURL_FEATURE_IPV6 = 1 << 0,
    CCURL_FEATURE_TLS = 1 << 2,
    CCURL_FEATURE_GZIP = 1 << 3,
    CCURL_FEATURE_HTTP2 = 1 << 16,
    CCURL_FEATURE_UNIX_SOCKETS = 1 << 19,
    CCURL_FEATURE_BROTLI = 1 << 23,
    CCURL_FEATURE_ZSTD = 1 << 26,
};

// MARK: Options, by the type of their value. The numbers are libcurl's own.

enum CCurlLongOption {
    CCURL_NOBODY = 44,
    CCURL_UPLOAD = 46,
    CCURL_SSLVERSION = 32,
    CCURL_SSL_VERIFYPEER = 64,
    CCURL_FRESH_CONNECT = 74,
    CCURL_HTTPGET = 80,
    CCURL_SSL_VERIFYHOST = 81,
    CCURL_HTTP_VERSION = 84,
    CCURL_BUFFERSIZE = 98,
    CCURL_NOSIGNAL = 99,
    CCURL_TCP_NODELAY = 121,
    CCURL_CONNECTTIMEOUT_MS = 156,
    CCURL_PROTOCOLS = 181,
    CCURL_REDIR_PROTOCOLS = 182,
    CCURL_PATH_AS_IS = 234,
    CCURL_SSL_SESSIONID_CACHE = 150,
    CCURL_SSL_VERIFYSTATUS = 232,
    CCURL_PIPEWAIT = 237,
    CCURL_STREAM_WEIGHT = 239,
    CCURL_PROXY_SSLVERSION = 250,
    CCURL_SUPPRESS_CONNECT_HEADERS = 265,
    CCURL_UPLOAD_BUFFERSIZE = 280,
    CCURL_QUICK_EXIT = 322,  // 7.87
};

enum CCurlTextOption {
    CCURL_URL = 10002,
    CCURL_PROXY = 10004,
    CCURL_SSLCERT = 10025,
    CCURL_KEYPASSWD = 10026,
    CCURL_CUSTOMREQUEST = 10036,
    CCURL_INTERFACE = 10062,
    CCURL_CAINFO = 10065,
    CCURL_SSLCERTTYPE = 10086,
    CCURL_SSLKEY = 10087,
    CCURL_SSLKEYTYPE = 10088,
    CCURL_CAPATH = 10097,
    CCURL_NOPROXY = 10177,
    CCURL_PINNEDPUBLICKEY = 10230,
    CCURL_UNIX_SOCKET_PATH = 10231,
};

enum CCurlBlobOption {
    CCURL_SSLCERT_BLOB = 40291,  // 7.71
    CCURL_SSLKEY_BLOB = 40292,   // 7.71
    CCURL_CAINFO_BLOB = 40309,   // 7.77
};

enum CCurlMultiOption {
    CCURLM_PIPELINING = 3,
    CCURLM_MAXCONNECTS = 6,
    CCURLM_MAX_HOST_CONNECTIONS = 7,
    CCURLM_MAX_TOTAL_CONNECTIONS = 13,
};

enum CCurlLongInfo {
    CCURL_INFO_REQUEST_SIZE = 0x200000 + 12,
    CCURL_INFO_SSL_VERIFYRESULT = 0x200000 + 13,
    CCURL_INFO_HTTP_CONNECTCODE = 0x200000 + 22,
};

enum {
    CCURL_OK = 0,
    CCURL_PAUSE_RECEIVING = 1 << 0,
    CCURL_PAUSE_SENDING = 1 << 2,
    CCURL_WRITEFUNC_PAUSE = 0x10000001,
    CCURL_READFUNC_ABORT = 0x10000000,
    CCURL_READFUNC_PAUSE = 0x10000001,
};

// MARK: Easy handles. All calls but the first two belong to the thread of the multi handle.

CCurlEasy *ccurl_easy_new(void);
void ccurl_easy_free(CCurlEasy *easy);
void ccurl_easy_reset(CCurlEasy *easy);
int ccurl_easy_set_long(CCurlEasy *easy, enum CCurlLongOption option, long value);
int ccurl_easy_set_text(CCurlEasy *easy, enum CCurlTextOption option, const char *value);
int ccurl_easy_set_blob(CCurlEasy *easy, enum CCurlBlobOption option, const void *bytes, size_t count);
int ccurl_easy_set_body_length(CCurlEasy *easy, int64_t length);
/// Sets content that is in memory, and stays there until the transfer has ended. It goes out in one piece with the head.
int ccurl_easy_set_content(CCurlEasy *easy, const void *bytes, size_t count);
int ccurl_easy_set_headers(CCurlEasy *easy, CCurlList *headers);
/// Sets the header fields of the proxy's request for a tunnel, or of the one that it forwards, in which they end.
int ccurl_easy_set_proxy_headers(CCurlEasy *easy, CCurlList *headers);
/// The socket of a transfer that has ended, while its multi handle has it; -1 if it is closed. O(connections).
int ccurl_easy_socket(CCurlEasy *easy);
/// Sets the addresses of hosts as lines of `host:port:address,address`; they must live as long as the transfer.
int ccurl_easy_set_addresses(CCurlEasy *easy, CCurlList *addresses);
/// Whether a line that begins with a plus is forgotten when its time has come (7.75 and later), rather than never.
bool ccurl_forgets_addresses(void);
int ccurl_easy_pause(CCurlEasy *easy, int bits);
long ccurl_easy_long(CCurlEasy *easy, enum CCurlLongInfo info);
const char *ccurl_error_text(int code);

/// What a transfer took: microseconds since it began, 0 for what didn't happen, and bytes.
typedef struct {
    int64_t queued;  // 0 before 8.6, which doesn't tell.
    int64_t name_resolved;
    int64_t connected;
    int64_t secured;
    int64_t ready;
    int64_t sent;  // 0 before 8.10, which doesn't tell.
    int64_t first_byte;
    int64_t end;
    int64_t body_sent;
    int64_t body_received;
    long head_sent;
    long head_received;
    long new_connections;
    long http_version;  // 1 is 1.0, 2 is 1.1, 3 is 2, 30 is 3, 0 unknown.
    int used_proxy;     // -1 if it isn't known: before 8.7, without a tunnel.
} CCurlMetrics;

CCurlMetrics ccurl_easy_metrics(CCurlEasy *easy);

/// What an easy handle calls, with the context that it was given; each on the thread of the multi handle. The last three
/// get the context of the loop, since a socket may live longer than the transfer that it was opened for.
typedef struct {
    size_t (*head)(char *bytes, size_t size, size_t count, void *context);
    size_t (*body)(char *bytes, size_t size, size_t count, void *context);
    size_t (*read)(char *bytes, size_t size, size_t count, void *context);
    int (*seek)(void *context, int64_t offset, int origin);
    // The request is about to be sent; again if libcurl sends it once more. Not 0 ends the transfer. From 7.80.
    int (*sending)(void *context, char *remote, char *local, int remote_port, int local_port);
    void (*opened)(void *loop, int socket);
    void (*closes)(void *loop, int socket);
    // No socket could be opened, since the process or the system has no descriptor left.
    void (*lacks_descriptor)(void *loop);
    void *loop;
} CCurlCallbacks;

/// Sets the callbacks, which must live as long as the multi handle, and their context, the text of errors, and what every
/// transfer has in common: only http and https, no signals, sockets that close with an exec.
int ccurl_easy_prepare(CCurlEasy *easy, const CCurlCallbacks *callbacks, void *context, char *error_text);

/// What libcurl tells in words alone, most of it of HTTP/2.
enum CCurlNews {
    /// The request is a stream with a number.
    CCURL_NEWS_STREAM,
    /// The connection of the transfer takes no more streams, and has processed none above a number.
    CCURL_NEWS_GOAWAY,
    /// The server has refused the request unprocessed.
    CCURL_NEWS_REFUSED,
    /// The connection was lost, and the request is sent again over another.
    CCURL_NEWS_LOST,
    /// A proxy is asked for a tunnel; or, with a text, a line of its answer.
    CCURL_NEWS_TUNNEL,
};

/// Whether the chains of certificates that were verified can be looked at: if libcurl uses OpenSSL.
bool ccurl_shows_chains(void);

/// What was agreed on for the encryption of a connection; NULL for what isn't known. The texts live as long as the process.
typedef struct {
    const char *version;       // Such as TLSv1.3.
    const char *cipher_suite;  // By its standard name, such as TLS_AES_256_GCM_SHA384.
} CCurlSession;

/// The session of the connection that a transfer has; from within a callback of the transfer.
CCurlSession ccurl_easy_session(CCurlEasy *easy);

/// Calls back with each certificate of the chain that was verified for the connection of a transfer, the server's own
/// first, in DER; from within a callback of the transfer. Nothing is called if there is no such chain.
void ccurl_easy_chain(
    CCurlEasy *easy,
    void (*callback)(void *context, const uint8_t *der, size_t size),
    void *context
);

/// What is called with the news of a transfer.
typedef struct {
    void (*callback)(void *context, enum CCurlNews news, uint32_t number, const char *text);
    void *context;
    /// Whether what comes is a proxy's; begins as false.
    bool is_in_tunnel;
} CCurlNewsreader;

/// Has that called; it must live as long as the transfer.
int ccurl_easy_read_news(CCurlEasy *easy, CCurlNewsreader *reader);


/// Makes a handle that connects to nothing, and fails at once. libcurl looks for connections that are over, and closes
/// them, when it is to make another, and only then.
int ccurl_easy_prepare_sweep(CCurlEasy *easy);

/// Has the request sent over HTTP/1.1.
int ccurl_easy_use_http11(CCurlEasy *easy);

CCurlList *ccurl_list_append(CCurlList *list, const char *text);
void ccurl_list_free(CCurlList *list);

// MARK: Sessions of TLS, which later connections to the same place resume. libcurl keeps those of a handle with it, and
// forgets them with it, unless handles share them. There is no lock: they belong to the thread of the multi handle.

/// Makes a store for them; null if there is no memory.
CCurlSessions *ccurl_sessions_new(void);
/// Frees it, when no handle has it any more.
void ccurl_sessions_free(CCurlSessions *sessions);
/// Has a new handle take its sessions from there, and leave them there.
void ccurl_easy_set_sessions(CCurlEasy *easy, CCurlSessions *sessions);

// MARK: The multi handle, driven by sockets and one timer.

/// `what` is 0 for none, 1 for reading, 2 for writing, 3 for both, 4 for "forget the socket".
typedef int (*CCurlSocketCallback)(CCurlEasy *easy, int socket, int what, void *context, void *socket_context);
typedef int (*CCurlTimerCallback)(CCurlMulti *multi, long milliseconds, void *context);

CCurlMulti *ccurl_multi_new(CCurlSocketCallback on_socket, CCurlTimerCallback on_timer, void *context);
void ccurl_multi_free(CCurlMulti *multi);
int ccurl_multi_set_long(CCurlMulti *multi, enum CCurlMultiOption option, long value);
int ccurl_multi_add(CCurlMulti *multi, CCurlEasy *easy);
int ccurl_multi_remove(CCurlMulti *multi, CCurlEasy *easy);

/// Lets curl act on a socket; bits are 1 readable, 2 writable, 4 in error or ended. A socket of -1 is the timer.
int ccurl_multi_act(CCurlMulti *multi, int socket, int bits);

/// Takes the next transfer that ended, and its result; null where there is none.
CCurlEasy *ccurl_multi_take_ended(CCurlMulti *multi, int *result);

// MARK: The end of the process

/// What a thread holds while it calls libcurl. Whichever thread ends the process waits for it, and from then on no thread
/// gets it any more: OpenSSL releases what it has when a process ends, also beneath the hands of those who use it.
typedef struct CCurlGate CCurlGate;

/// Makes a gate; null if there is no memory.
CCurlGate *ccurl_gate_new(void);
void ccurl_gate_free(CCurlGate *gate);
/// Enters; false if the process ends, and libcurl isn't to be called any more.
bool ccurl_gate_enter(CCurlGate *gate);
void ccurl_gate_leave(CCurlGate *gate);
/// Says what to write to when the process ends, so that the thread of the gate finds it shut; it stays open until the gate is freed.
void ccurl_gate_wakes(CCurlGate *gate, int descriptor);
/// Releases what OpenSSL keeps for this thread, which is about to leave its gate for good.
void ccurl_thread_ends(void);
/// Never returns: for a thread that is kept out of its gate, as the process ends. If it ended, OpenSSL would look for what
/// it kept for it, beside the release of all that it has.
void ccurl_await_exit(void);

// MARK: Waiting for sockets: epoll and an eventfd, which Swift's Glibc module has only in part.

typedef struct {
    int socket;
    int bits;
} CCurlReady;

int ccurl_poll_new(void);
int ccurl_wake_new(void);
void ccurl_close(int descriptor);
void ccurl_wake(int descriptor);
void ccurl_wake_clear(int descriptor);

/// Watches a socket for `bits` (1 reading, 2 writing, 0 the peer's end), whether or not it was watched before. False on failure.
bool ccurl_poll_set(int poll, int socket, int bits);
void ccurl_poll_remove(int poll, int socket);

/// Whether an idle connection is of no use any more: it has ended, or something came that nobody asked for, and would be
/// taken for the next answer. TLS records, which come at any time, are left to libcurl.
bool ccurl_is_over(int socket);

/// Makes a connection that nobody uses look to libcurl as if the peer had ended it. What is to be sent at its end still is.
void ccurl_retire(int socket);

/// Waits for sockets, at most so many milliseconds, or for ever for -1. Gives the number of those that are ready.
int ccurl_poll_wait(int poll, CCurlReady *ready, int count, int milliseconds);

/// Makes a file that is in memory only, and this process's only: its descriptor, or -1.
int ccurl_memory_file(const void *bytes, size_t count);

/// How many descriptors the process may have.
long ccurl_most_descriptors(void);

/// Keeps the broken pipes of this thread from ending the process: with its signals off, curl doesn't guard against them.
void ccurl_block_broken_pipe(void);

#endif
#endif
