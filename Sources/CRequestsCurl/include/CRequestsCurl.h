// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// libcurl, loaded at run time: the part of its stable ABI that the library uses, declared here, so that nothing has to be
// installed to build, and nothing is linked. Empty on every system but Linux.

#ifndef CCURL_H
#define CCURL_H

#ifdef __linux__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opaque, as they are to every user of libcurl. Those of the first two have a member, which isn't used, so that Swift has
// pointers of different types for them.
typedef struct {
    char opaque;
} CCurlEasy;
typedef struct {
    char opaque;
} CCurlMulti;
typedef struct CCurlSessions CCurlSessions;
typedef struct CCurlLines CCurlLines;
typedef struct CCurlStore CCurlStore;
typedef struct CCurlConnection CCurlConnection;

/// Loads libcurl, once for the process. Safe from any thread. Returns false if it isn't found, or is older than 7.68.
bool ccurl_load(void);

/// The version of the loaded libcurl, as 0xMMmmpp; 0 if it wasn't found.
uint32_t ccurl_version(void);

/// The file and the folder in which that libcurl looks for the certificates of the system's authorities. Null if it has
/// no such default, or is too old (before 7.70) to report it.
const char *ccurl_ca_file(void);
const char *ccurl_ca_folder(void);

/// The name and version of the TLS library, such as `OpenSSL/3.0.17`; null if it has no TLS.
const char *ccurl_tls_library(void);

/// Whether the functions of OpenSSL are found that read chains of certificates, and those for stores of certificates, which
/// came with 1.1.1. They may be those of another library than libcurl uses.
bool ccurl_finds_chains(void);
bool ccurl_finds_stores(void);

// MARK: Options, by the type of their value. The numbers are libcurl's own.

enum CCurlLongOption {
    CCURL_NO_BODY = 44,
    CCURL_UPLOAD = 46,
    CCURL_SSLVERSION = 32,
    CCURL_HTTPPROXYTUNNEL = 61,
    CCURL_SSL_VERIFYPEER = 64,
    CCURL_FRESH_CONNECT = 74,
    CCURL_FORBID_REUSE = 75,
    CCURL_SSL_VERIFYHOST = 81,
    CCURL_HTTP_VERSION = 84,
    CCURL_BUFFERSIZE = 98,
    CCURL_NOSIGNAL = 99,
    CCURL_TCP_NODELAY = 121,
    CCURL_CONNECTTIMEOUT_MS = 156,
    CCURL_PROTOCOLS = 181,
    CCURL_REDIR_PROTOCOLS = 182,
    CCURL_TCP_KEEPALIVE = 213,
    CCURL_TCP_KEEPIDLE = 214,
    CCURL_TCP_KEEPINTVL = 215,
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
    CCURL_KEYPASSWD = 10026,
    CCURL_CUSTOMREQUEST = 10036,
    CCURL_INTERFACE = 10062,
    CCURL_CAINFO = 10065,
    CCURL_SSLCERTTYPE = 10086,
    CCURL_SSLKEYTYPE = 10088,
    CCURL_CAPATH = 10097,
    CCURL_NOPROXY = 10177,
    CCURL_PINNEDPUBLICKEY = 10230,
    CCURL_UNIX_SOCKET_PATH = 10231,
    CCURL_PROXY_CAINFO = 10246,
    CCURL_PROXY_CAPATH = 10247,
};

enum CCurlBlobOption {
    CCURL_SSLCERT_BLOB = 40291,  // 7.71
    CCURL_SSLKEY_BLOB = 40292,   // 7.71
    CCURL_CAINFO_BLOB = 40309,   // 7.77
};

enum CCurlMultiOption {
    CCURLM_MAXCONNECTS = 6,
    CCURLM_MAX_HOST_CONNECTIONS = 7,
    CCURLM_MAX_TOTAL_CONNECTIONS = 13,
};

enum CCurlLongInfo {
    CCURL_INFO_REQUEST_SIZE = 0x200000 + 12,
    CCURL_INFO_SSL_VERIFYRESULT = 0x200000 + 13,
    CCURL_INFO_HTTP_CONNECTCODE = 0x200000 + 22,
    CCURL_INFO_NUM_CONNECTS = 0x200000 + 26,
};

enum {
    CCURL_OK = 0,
    CCURL_PAUSE_RECEIVING = 1 << 0,
    CCURL_PAUSE_SENDING = 1 << 2,
    CCURL_WRITEFUNC_PAUSE = 0x10000001,
    CCURL_READFUNC_ABORT = 0x10000000,
    CCURL_READFUNC_PAUSE = 0x10000001,
};

// MARK: Easy handles

int ccurl_easy_set_long(CCurlEasy *easy, enum CCurlLongOption option, long value);
int ccurl_easy_set_text(CCurlEasy *easy, enum CCurlTextOption option, const char *value);
int ccurl_easy_set_blob(CCurlEasy *easy, enum CCurlBlobOption option, const void *bytes, size_t count);
int ccurl_easy_set_body_length(CCurlEasy *easy, int64_t length);
/// Sets content in memory, which must stay valid until the transfer has ended. It is sent in one piece with the head.
int ccurl_easy_set_content(CCurlEasy *easy, const void *bytes, size_t count);
int ccurl_easy_set_headers(CCurlEasy *easy, CCurlLines *headers);
/// Sets the header fields of the request for a tunnel, or of the request that the proxy forwards, at its end.
int ccurl_easy_set_proxy_headers(CCurlEasy *easy, CCurlLines *headers);
/// The socket of a transfer that has ended, while its multi handle has it; -1 if it is closed. O(connections).
int ccurl_easy_socket(CCurlEasy *easy);
/// The socket of a running transfer over TLS; -1 without OpenSSL, and from libcurl 7.87 on, whose sessions don't know it.
int ccurl_easy_session_socket(CCurlEasy *easy);
/// Sets the addresses of hosts as lines of `host:port:address,address`; they must live as long as the transfer.
int ccurl_easy_set_addresses(CCurlEasy *easy, CCurlLines *addresses);
int ccurl_easy_pause(CCurlEasy *easy, int bits);
long ccurl_easy_long(CCurlEasy *easy, enum CCurlLongInfo info);
const char *ccurl_error_text(int code);

/// The times of a transfer, in microseconds since it began or 0 for a step that didn't happen, and its byte counts.
typedef struct {
    int64_t queued;  // 0 before 8.6, which doesn't report it.
    int64_t name_resolved;
    int64_t connected;
    int64_t secured;
    int64_t ready;
    int64_t sent;  // 0 before 8.10, which doesn't report it.
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

/// Events that libcurl reports only as text, most of them about HTTP/2.
enum CCurlEvent {
    /// The head of the request is being sent.
    CCURL_EVENT_SENT,
    /// The request is a stream with a number.
    CCURL_EVENT_STREAM,
    /// The connection of the transfer takes no more streams, and has processed none above a number.
    CCURL_EVENT_GOAWAY,
    /// The server has refused the request unprocessed.
    CCURL_EVENT_REFUSED,
    /// The connection was lost, and the request is sent again over another.
    CCURL_EVENT_LOST,
    /// A CONNECT request was sent to a proxy; with a text, a line of the proxy's response.
    CCURL_EVENT_TUNNEL,
    /// A part of a TLS record has arrived on the connection, whatever it has. Only OpenSSL reports this and the next.
    CCURL_EVENT_RECORD,
    /// The host has announced the end of its data (RFC 8446, 6.1).
    CCURL_EVENT_CLOSE_NOTIFY,
};

/// The callbacks of all handles; each is called on the thread of the multi handle. The context is the handle. For the
/// last three it is the loop, since a socket may outlive the transfer that it was opened for.
typedef struct {
    size_t (*head)(char *bytes, size_t size, size_t count, void *context);
    size_t (*body)(char *bytes, size_t size, size_t count, void *context);
    size_t (*read)(char *bytes, size_t size, size_t count, void *context);
    int (*seek)(void *context, int64_t offset, int origin);
    // Called before the request is sent, even if libcurl sends it again. A result other than 0 ends the transfer.
    // Requires libcurl 7.80.
    int (*sending)(void *context, char *remote, char *local, int remote_port, int local_port);
    void (*event)(void *context, enum CCurlEvent event, uint32_t number, const char *text);
    void (*opened)(void *loop, int socket);
    void (*closes)(void *loop, int socket);
    // No socket could be opened, since the process or the system has no descriptor left.
    void (*lacks_descriptor)(void *loop);
    void *loop;
} CCurlCallbacks;

/// Called before the handshake of each new connection, to the host or to its proxy, on the thread of the multi handle. A
/// result other than 0 ends the transfer.
typedef int (*CCurlStoreCallback)(CCurlEasy *easy, CCurlConnection *connection, void *context);

/// An easy handle, with the memory that it points to. It serves one transfer after another.
typedef struct {
    CCurlEasy *easy;
    /// The transfer that uses the handle, for the callbacks.
    void *transfer;
    const CCurlCallbacks *callbacks;
    /// Chooses the certificates for new connections; NULL for libcurl's own choice.
    CCurlStoreCallback store;
    void *store_context;
    /// Whether the end of a connection may be the end of its TLS session without an announcement.
    bool accepts_missing_close_notify;
    /// Whether a call returns after each record without content.
    bool stops_at_records;
    /// Whether it has exactly the options that all requests of its kind share.
    bool is_prepared;
    /// Whether the heads that libcurl reports are those of a proxy's tunnel.
    bool is_in_tunnel;
    char error_text[256];
} CCurlHandle;

/// Makes a handle; null if out of memory.
CCurlHandle *ccurl_handle_new(void);
void ccurl_handle_free(CCurlHandle *handle);
/// Removes all options.
void ccurl_handle_reset(CCurlHandle *handle);
/// Sets the callbacks, which must live as long as the handle, and the common options of all transfers: only http and https,
/// no signals, sockets that are closed by an exec.
int ccurl_handle_prepare(CCurlHandle *handle, const CCurlCallbacks *callbacks);
/// Changes OpenSSL's defaults for the new connections of a handle; the caller knows that libcurl uses OpenSSL.
///
/// A call of libcurl may return after each record without content. That doesn't suit TLS within TLS: what the outer one has
/// read isn't in the socket any more, and libcurl before 8.14 would wait for the socket.
int ccurl_handle_prepare_openssl(CCurlHandle *handle, bool accepts_missing_close_notify, bool stops_at_records);
/// Makes libcurl report its debug messages, from which the events are read.
int ccurl_handle_read_news(CCurlHandle *handle);
/// The text about the failure of the transfer; empty if libcurl has none.
const char *ccurl_handle_error(CCurlHandle *handle);
void ccurl_handle_set_error(CCurlHandle *handle, const char *text);

// MARK: Stores of certificates of authorities, which many connections share. libcurl would read and parse the certificates
// for each of them.

/// Makes an empty store; null if out of memory.
CCurlStore *ccurl_store_new(void);
/// Frees the store when no connection uses it any more.
void ccurl_store_free(CCurlStore *store);
/// Adds the certificates of a file, in PEM; returns false if there are none.
bool ccurl_store_add_file(CCurlStore *store, const char *path);
/// Adds a folder, in which certificates are looked up by the hash of their name when they are needed.
bool ccurl_store_add_folder(CCurlStore *store, const char *path);
/// Adds one certificate.
bool ccurl_store_add(CCurlStore *store, const void *der, size_t size);

/// Makes the new connections of a handle ask for their certificates, until it is reset.
void ccurl_handle_set_store(CCurlHandle *handle, CCurlStoreCallback callback, void *context);
/// Whether a new connection is to a proxy, whose certificate must be issued by one of the system's CAs.
bool ccurl_connection_is_to_proxy(CCurlConnection *connection);
/// Makes a new connection trust the certificates of a store, and no others; returns libcurl's result.
int ccurl_connection_use_store(CCurlConnection *connection, CCurlStore *store);

/// The TLS session of a connection; unknown fields are NULL. The texts live as long as the process.
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

/// Whether the connection of a transfer was marked as checked, and marks it; from within a callback of the transfer. The mark
/// belongs to the connection's TLS session, and ends with it.
bool ccurl_easy_is_checked(CCurlEasy *easy);
void ccurl_easy_set_checked(CCurlEasy *easy);

/// Prepares a handle that connects to nothing, and fails at once. libcurl looks for ended connections, and closes them,
/// only when it is about to make another.
int ccurl_easy_prepare_sweep(CCurlEasy *easy);

/// Keeps libcurl from sending the request again when a reused connection ends without a response, unless the server has
/// refused it unprocessed. Only then does it report that: of a request that it would send again anyway, it reports just
/// that the connection was lost.
void ccurl_easy_send_once(CCurlEasy *easy);

/// Makes the handle send its request over HTTP/1.1.
int ccurl_easy_use_http11(CCurlEasy *easy);

// MARK: Lists of lines, in one block of memory

/// Makes an empty list with room for a number of lines, and for a number of bytes in their texts, or in the names and values
/// of their fields; null if out of memory.
CCurlLines *ccurl_lines_new(size_t count, size_t size);
void ccurl_lines_free(CCurlLines *lines);
/// Appends a text; returns false if there is no room.
bool ccurl_lines_add(CCurlLines *lines, const char *text);
/// Appends the line of a header field; returns false if it isn't one line of a name and a value, or if there is no room.
bool ccurl_lines_add_field(
    CCurlLines *lines, const unsigned char *name, size_t name_size, const unsigned char *value, size_t value_size
);

// MARK: Sessions of TLS, which later connections to the same host resume. libcurl stores those of a handle in it, and
// frees them with it, unless handles share them. There is no lock: they belong to the thread of the multi handle.

/// Makes a store for them; null if out of memory.
CCurlSessions *ccurl_sessions_new(void);
/// Frees the store; no handle may use it any more.
void ccurl_sessions_free(CCurlSessions *sessions);
/// Makes a new handle use the sessions of a store.
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

/// Lets libcurl act on a socket that has an event: 1 if it is readable, 0 if libcurl has to ask the system. A socket of
/// -1 stands for the timer.
int ccurl_multi_act(CCurlMulti *multi, int socket, int what);

/// Takes the next ended transfer, and its result; null if no other has ended.
CCurlEasy *ccurl_multi_take_ended(CCurlMulti *multi, int *result);

// MARK: The end of the process

/// A lock that a thread holds while it calls libcurl. The thread that ends the process waits for it, and from then on no
/// thread can enter: OpenSSL frees its state when a process ends, even while other threads use it.
typedef struct CCurlGate CCurlGate;

/// Makes a gate; null if out of memory.
CCurlGate *ccurl_gate_new(void);
void ccurl_gate_free(CCurlGate *gate);
/// Enters the gate; false if the process ends, and libcurl must not be called any more.
bool ccurl_gate_enter(CCurlGate *gate);
void ccurl_gate_leave(CCurlGate *gate);
/// Says what to write to when the process ends, so that the thread of the gate finds it shut; it stays open until the gate is freed.
void ccurl_gate_wakes(CCurlGate *gate, int descriptor);
/// Releases what OpenSSL keeps for this thread, which is about to leave its gate for good.
void ccurl_thread_ends(void);
/// Never returns: for a thread that can't enter its gate, because the process ends. If the thread ended, OpenSSL would
/// look for its state, while it frees all of its state.
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
/// Watches a socket for `bits` (1 reading, 2 writing, 0 the peer's end), whether or not it was watched before. Returns
/// false on failure.
bool ccurl_poll_set(int poll, int socket, int bits);
/// Watches a descriptor of `ccurl_wake_new`: it is ready once for each wake-up, and needn't be read.
void ccurl_poll_set_wake(int poll, int descriptor);
void ccurl_poll_remove(int poll, int socket);

/// Whether the peer has ended the connection, and everything before the end was read.
bool ccurl_has_ended(int socket);

/// Whether an idle connection is unusable: it has ended, or has unrequested data, which would be taken for the next
/// response. TLS records, which may arrive at any time with HTTP/2, are left to libcurl.
bool ccurl_is_unusable(int socket);

/// Whether something can be read, if only the end of the connection.
bool ccurl_is_readable(int socket);

/// Whether the connection of a socket has these two ends, as libcurl names them.
bool ccurl_is_between(int socket, const char *local, int local_port, const char *remote, int remote_port);
/// The round trip of a connection as the system has measured it, in nanoseconds; 0 if it hasn't.
uint64_t ccurl_round_trip(int socket);
/// The time for which this thread has used a processor, in nanoseconds.
uint64_t ccurl_processor_time(void);
/// The time for which the system has been suspended since its start, in nanoseconds.
uint64_t ccurl_suspended_time(void);

/// Makes an unused connection look to libcurl as if the peer had ended it.
///
/// Its closing messages are still sent, unless the connection is over: then whatever still arrives resets it, rather than
/// make it look usable again.
void ccurl_retire(int socket, bool is_over);

/// Waits for sockets, at most `milliseconds`, or without a limit for -1. Returns the number of ready ones.
int ccurl_poll_wait(int poll, CCurlReady *ready, int count, int milliseconds);

/// Makes a file in memory, private to this process; returns its descriptor, or -1.
int ccurl_memory_file(const void *bytes, size_t count);

/// The maximum number of descriptors of the process.
long ccurl_most_descriptors(void);

// MARK: Threads

/// Starts a thread; returns false if the system has no other.
bool ccurl_thread_start(void *(*work)(void *context), void *context);
/// Names the present thread, with at most 15 characters.
void ccurl_thread_set_name(const char *name);
/// Whether the present thread is the main one; asks the system once for each thread.
bool ccurl_thread_is_main(void);
/// The number of forks that made this process of the first one: a fork has none of its threads.
unsigned ccurl_forks(void);

/// Keeps broken pipes in this thread from ending the process: without signals, libcurl doesn't guard against them.
void ccurl_block_broken_pipe(void);

#endif
#endif
