// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#ifdef __linux__

#define _GNU_SOURCE

#include "CRequestsCurl.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// MARK: Declarations of libcurl's ABI, which hasn't changed since 2006

typedef int64_t curl_off;

struct version_info {
    int age;
    const char *version;
    unsigned int version_num;
    const char *host;
    int features;
    const char *ssl_version;
    long ssl_version_num;
    const char *libz_version;
    const char *const *protocols;
    const char *ares;
    int ares_num;
    const char *libidn;
    int iconv_ver_num;
    const char *libssh_version;
    unsigned int brotli_ver_num;
    const char *brotli_version;
    unsigned int nghttp2_ver_num;
    const char *nghttp2_version;
    const char *quic_version;
    const char *ca_file;
    const char *ca_folder;
    // More follows, which isn't used.
};

struct message {
    int kind;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
};

struct blob {
    void *data;
    size_t length;
    unsigned int flags;
};

struct address {
    int family;
    int socktype;
    int protocol;
    // More follows, which isn't used.
};

enum {
    OLDEST_VERSION = 0x074400,  // 7.68: all functions used here are older, and distributions have no older libcurl any more
    GLOBAL_ALL = 3,
    OPENSSL_NO_ATEXIT = 0x00080000,
    VERSION_NOW = 3,
    AGE_OF_CA_FILE = 6,  // 7.70: the age from which the fields above exist
    MESSAGE_DONE = 1,
    BLOB_COPY = 1,
    PROTOCOL_HTTP_AND_HTTPS = 3,
    HTTP_VERSION_1_1 = 2,
    HTTP_VERSION_2_TLS = 4,
    TLS_1_2 = 6,
    AT_MOST_TLS_1_3 = 7 << 16,
    BAD_CERTIFICATE_FILE = 77,
    SOCKET_BAD = -1,
    DELETE = 0x7F,

    RTSP_RECEIVE = 11,

    OPT_VERBOSE = 41,
    OPT_WRITEDATA = 10001,
    OPT_READDATA = 10009,
    OPT_ERRORBUFFER = 10010,
    OPT_POSTFIELDS = 10015,
    OPT_WRITEFUNCTION = 20011,
    OPT_READFUNCTION = 20012,
    OPT_HTTPHEADER = 10023,
    OPT_SHARE = 10100,
    OPT_RESOLVE = 10203,
    OPT_PROXYHEADER = 10228,
    OPT_RTSP_REQUEST = 189,
    OPT_HEADEROPT = 229,
    OPT_HEADERDATA = 10029,
    OPT_HEADERFUNCTION = 20079,
    OPT_DEBUGFUNCTION = 20094,
    OPT_DEBUGDATA = 10095,
    OPT_INFILESIZE_LARGE = 30115,
    OPT_POSTFIELDSIZE_LARGE = 30120,
    OPT_OPENSOCKETFUNCTION = 20163,
    OPT_OPENSOCKETDATA = 10164,
    OPT_SEEKFUNCTION = 20167,
    OPT_SEEKDATA = 10168,
    OPT_CLOSESOCKETFUNCTION = 20208,
    OPT_CLOSESOCKETDATA = 10209,
    OPT_PREREQFUNCTION = 20312,
    OPT_PREREQDATA = 10313,
    OPT_SSL_CTX_FUNCTION = 20108,
    OPT_SSL_CTX_DATA = 10109,

    HEADERS_SEPARATE = 1,

    SHARE_OPT_SHARE = 1,
    SHARE_TLS_SESSIONS = 4,

    INFO_ACTIVESOCKET = 0x500000 + 44,
    INFO_HEADER_SIZE = 0x200000 + 11,
    INFO_REQUEST_SIZE = 0x200000 + 12,
    INFO_NUM_CONNECTS = 0x200000 + 26,
    INFO_USED_PROXY = 0x200000 + 66,
    INFO_TLS_SSL_PTR = 0x400000 + 45,
    BACKEND_OPENSSL = 1,
    INFO_HTTP_VERSION = 0x200000 + 46,
    INFO_SIZE_UPLOAD = 0x600000 + 7,
    INFO_SIZE_DOWNLOAD = 0x600000 + 8,
    INFO_TOTAL_TIME = 0x600000 + 50,
    INFO_NAMELOOKUP_TIME = 0x600000 + 51,
    INFO_CONNECT_TIME = 0x600000 + 52,
    INFO_PRETRANSFER_TIME = 0x600000 + 53,
    INFO_STARTTRANSFER_TIME = 0x600000 + 54,
    INFO_APPCONNECT_TIME = 0x600000 + 56,
    INFO_QUEUE_TIME = 0x600000 + 65,
    INFO_POSTTRANSFER_TIME = 0x600000 + 67,

    MOPT_SOCKETFUNCTION = 20001,
    MOPT_SOCKETDATA = 10002,
    MOPT_TIMERFUNCTION = 20004,
    MOPT_TIMERDATA = 10005,
    MOPT_QUICK_EXIT = 21,
};

// MARK: The functions, found once

static struct {
    int (*global_init)(long);
    struct version_info *(*version_info)(int);
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *);
    void (*easy_reset)(void *);
    int (*easy_setopt)(void *, int, ...);
    int (*easy_getinfo)(void *, int, ...);
    int (*easy_pause)(void *, int);
    const char *(*easy_strerror)(int);
    void *(*share_init)(void);
    int (*share_setopt)(void *, int, ...);
    int (*share_cleanup)(void *);
    void *(*multi_init)(void);
    int (*multi_cleanup)(void *);
    int (*multi_setopt)(void *, int, ...);
    int (*multi_add_handle)(void *, void *);
    int (*multi_remove_handle)(void *, void *);
    int (*multi_socket_action)(void *, int, int, int *);
    struct message *(*multi_info_read)(void *, int *);
} curl;

static uint32_t version;
static const char *ca_file;
static const char *ca_folder;
static const char *tls_library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool find_all(void *library) {
    struct {
        void **slot;
        const char *name;
    } functions[] = {
        {(void **)&curl.global_init, "curl_global_init"},
        {(void **)&curl.version_info, "curl_version_info"},
        {(void **)&curl.easy_init, "curl_easy_init"},
        {(void **)&curl.easy_cleanup, "curl_easy_cleanup"},
        {(void **)&curl.easy_reset, "curl_easy_reset"},
        {(void **)&curl.easy_setopt, "curl_easy_setopt"},
        {(void **)&curl.easy_getinfo, "curl_easy_getinfo"},
        {(void **)&curl.easy_pause, "curl_easy_pause"},
        {(void **)&curl.easy_strerror, "curl_easy_strerror"},
        {(void **)&curl.share_init, "curl_share_init"},
        {(void **)&curl.share_setopt, "curl_share_setopt"},
        {(void **)&curl.share_cleanup, "curl_share_cleanup"},
        {(void **)&curl.multi_init, "curl_multi_init"},
        {(void **)&curl.multi_cleanup, "curl_multi_cleanup"},
        {(void **)&curl.multi_setopt, "curl_multi_setopt"},
        {(void **)&curl.multi_add_handle, "curl_multi_add_handle"},
        {(void **)&curl.multi_remove_handle, "curl_multi_remove_handle"},
        {(void **)&curl.multi_socket_action, "curl_multi_socket_action"},
        {(void **)&curl.multi_info_read, "curl_multi_info_read"},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        *functions[i].slot = dlsym(library, functions[i].name);
        if (*functions[i].slot == NULL) return false;
    }
    return true;
}

// MARK: OpenSSL, as libcurl has it

static struct {
    void *(*get_chain)(void *);
    int (*count)(void *);
    void *(*certificate)(void *, int);
    int (*encode)(void *, unsigned char **);
    void (*release)(void *, const char *, int);
    const char *(*version)(void *);
    void *(*cipher)(void *);
    const char *(*cipher_name)(void *);
    int (*socket)(const void *);
    void (*thread_stop)(void);
    int (*session_index)(long, void *, void *, void *, void *);
    int (*new_index)(int kind, long, void *, void *, void *, void *);
    int (*set_data)(void *, int index, void *);
    void *(*get_data)(void *, int index);
    // The index of the mark of checked connections.
    int index;
    bool is_there;

    void *(*store_new)(void);
    void (*store_free)(void *);
    int (*store_retain)(void *);
    int (*store_load)(void *, const char *file, const char *folder);
    int (*store_add)(void *, void *certificate);
    int (*store_set_flags)(void *, unsigned long);
    void *(*decode)(void **, const unsigned char **, long);
    void (*certificate_free)(void *);
    void (*clear_errors)(void);
    void (*context_set_store)(void *, void *);
    long (*context_control)(void *, int, long, void *);
    void (*context_set_message_callback)(void *, void *);
    uint64_t (*context_set_options)(void *, uint64_t);
    bool has_stores;
} openssl;

enum {
    STORE_TRUSTED_FIRST = 0x8000,
    STORE_PARTIAL_CHAIN = 0x80000,
    CONTEXT_SET_READ_AHEAD = 41,
    CONTEXT_CLEAR_MODE = 78,
    MODE_AUTO_RETRY = 4,
    IGNORE_UNEXPECTED_END = 1 << 7,
    CONTEXT_GET_MAX_VERSION = 131,
    DATA_OF_SESSION = 0,
};

static void find_stores(void *library);

static void find_openssl(void *library) {
    // A look-up by the handle of a library also searches those that it is linked to.
    openssl.get_chain = (void *(*)(void *))dlsym(library, "SSL_get0_verified_chain");
    openssl.count = (int (*)(void *))dlsym(library, "OPENSSL_sk_num");
    openssl.certificate = (void *(*)(void *, int))dlsym(library, "OPENSSL_sk_value");
    openssl.encode = (int (*)(void *, unsigned char **))dlsym(library, "i2d_X509");
    openssl.release = (void (*)(void *, const char *, int))dlsym(library, "CRYPTO_free");
    openssl.version = (const char *(*)(void *))dlsym(library, "SSL_get_version");
    openssl.cipher = (void *(*)(void *))dlsym(library, "SSL_get_current_cipher");
    openssl.cipher_name = (const char *(*)(void *))dlsym(library, "SSL_CIPHER_standard_name");
    openssl.socket = (int (*)(const void *))dlsym(library, "SSL_get_fd");
    openssl.thread_stop = (void (*)(void))dlsym(library, "OPENSSL_thread_stop");
    // A function in the libraries that descend from OpenSSL, and a macro there: theirs takes other arguments below it.
    openssl.session_index = (int (*)(long, void *, void *, void *, void *))dlsym(library, "SSL_get_ex_new_index");
    openssl.new_index = (int (*)(int, long, void *, void *, void *, void *))dlsym(library, "CRYPTO_get_ex_new_index");
    openssl.set_data = (int (*)(void *, int, void *))dlsym(library, "SSL_set_ex_data");
    openssl.get_data = (void *(*)(void *, int))dlsym(library, "SSL_get_ex_data");
    openssl.is_there = openssl.get_chain && openssl.count && openssl.certificate && openssl.encode && openssl.release;
    openssl.context_set_message_callback = (void (*)(void *, void *))dlsym(library, "SSL_CTX_set_msg_callback");
    openssl.context_set_options = (uint64_t(*)(void *, uint64_t))dlsym(library, "SSL_CTX_set_options");
    openssl.index = -1;
    if (!openssl.is_there || !openssl.set_data || !openssl.get_data) return find_stores(library);
    if (openssl.session_index) openssl.index = openssl.session_index(0, NULL, NULL, NULL, NULL);
    else if (openssl.new_index) openssl.index = openssl.new_index(DATA_OF_SESSION, 0, NULL, NULL, NULL, NULL);
    find_stores(library);
}

static void find_stores(void *library) {
    openssl.store_new = (void *(*)(void))dlsym(library, "X509_STORE_new");
    openssl.store_free = (void (*)(void *))dlsym(library, "X509_STORE_free");
    openssl.store_retain = (int (*)(void *))dlsym(library, "X509_STORE_up_ref");
    openssl.store_load = (int (*)(void *, const char *, const char *))dlsym(library, "X509_STORE_load_locations");
    openssl.store_add = (int (*)(void *, void *))dlsym(library, "X509_STORE_add_cert");
    openssl.store_set_flags = (int (*)(void *, unsigned long))dlsym(library, "X509_STORE_set_flags");
    openssl.decode = (void *(*)(void **, const unsigned char **, long))dlsym(library, "d2i_X509");
    openssl.certificate_free = (void (*)(void *))dlsym(library, "X509_free");
    openssl.clear_errors = (void (*)(void))dlsym(library, "ERR_clear_error");
    openssl.context_set_store = (void (*)(void *, void *))dlsym(library, "SSL_CTX_set_cert_store");
    openssl.context_control = (long (*)(void *, int, long, void *))dlsym(library, "SSL_CTX_ctrl");
    // From 1.1.1, which brought TLS 1.3: the context of a proxy is known by that maximum.
    bool has_tls_1_3 = dlsym(library, "SSL_CTX_set_ciphersuites") != NULL;
    openssl.has_stores = has_tls_1_3 && openssl.store_new && openssl.store_free && openssl.store_retain &&
        openssl.store_load && openssl.store_add && openssl.store_set_flags && openssl.decode &&
        openssl.certificate_free && openssl.clear_errors && openssl.context_set_store && openssl.context_control;
}

// MARK: The end of the process

struct CCurlGate {
    // The thread that holds the gate, identified by the address of its `this_thread`; 0 if no thread does.
    atomic_uintptr_t holder;
    // What its thread sleeps on, or -1.
    atomic_int wake;
    struct CCurlGate *next;
};

static _Thread_local char this_thread;
static pthread_mutex_t gates_mutex;
static struct CCurlGate *gates;
static atomic_bool is_exiting;
// The number of forks between the first process and this one, and at the time of the load.
static atomic_uint forks;
static unsigned forks_at_load;

CCurlGate *ccurl_gate_new(void) {
    CCurlGate *gate = calloc(1, sizeof *gate);
    if (gate == NULL) return NULL;
    atomic_init(&gate->wake, -1);
    pthread_mutex_lock(&gates_mutex);
    gate->next = gates;
    gates = gate;
    pthread_mutex_unlock(&gates_mutex);
    return gate;
}

void ccurl_gate_free(CCurlGate *gate) {
    if (gate == NULL) return;
    pthread_mutex_lock(&gates_mutex);
    for (CCurlGate **place = &gates; *place != NULL; place = &(*place)->next) {
        if (*place != gate) continue;
        *place = gate->next;
        break;
    }
    pthread_mutex_unlock(&gates_mutex);
    free(gate);
}

// This thread and the exiting one each write before they read. So either this thread sees `is_exiting`, or the exiting
// one sees the holder.
bool ccurl_gate_enter(CCurlGate *gate) {
    atomic_store(&gate->holder, (uintptr_t)&this_thread);
    if (!atomic_load(&is_exiting)) return true;
    atomic_store(&gate->holder, 0);
    return false;
}

void ccurl_gate_leave(CCurlGate *gate) { atomic_store(&gate->holder, 0); }

void ccurl_gate_wakes(CCurlGate *gate, int descriptor) { atomic_store(&gate->wake, descriptor); }

// Waits until no other thread holds a gate, at most until a time. This thread may hold it itself, if it calls `exit` in
// a signal handler.
static void await_leave(CCurlGate *gate, const struct timespec *limit) {
    struct timespec now = {0}, pause = {.tv_nsec = 50000};
    uintptr_t holder;
    while ((holder = atomic_load(&gate->holder)) != 0 && holder != (uintptr_t)&this_thread) {
        clock_gettime(CLOCK_REALTIME, &now);
        if (now.tv_sec >= limit->tv_sec) return;
        nanosleep(&pause, NULL);
    }
}

// Waits for the threads that call libcurl at this moment, or load it. A call takes microseconds; one that doesn't return,
// as it looks up a name without a thread of its own, doesn't keep the process from its end.
static void shut_gates(void) {
    // A forked child has none of the threads, and may have their mutexes locked.
    if (atomic_load(&forks) != forks_at_load) return;
    atomic_store(&is_exiting, true);
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 2;
    if (pthread_mutex_timedlock(&gates_mutex, &limit) != 0) return;
    for (CCurlGate *gate = gates; gate != NULL; gate = gate->next) {
        await_leave(gate, &limit);
        // A thread that sleeps holds no gate. It has to find this one shut, and to end its requests: a later handler of
        // the end may wait for them.
        int wake = atomic_load(&gate->wake);
        if (wake >= 0) ccurl_wake(wake);
    }
    pthread_mutex_unlock(&gates_mutex);
}

// OpenSSL frees its state when the process exits, unless its first user disables that. The system reclaims the memory
// anyway, and a thread in a handshake still needs the state.
static void keep_openssl(void *library) {
    int (*init)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(library, "OPENSSL_init_crypto");
    if (init != NULL) init(OPENSSL_NO_ATEXIT, NULL);
}

// Otherwise a destructor of the thread would do it, which runs when the gate is no longer held.
void ccurl_thread_ends(void) {
    if (openssl.thread_stop != NULL) openssl.thread_stop();
}

void ccurl_await_exit(void) {
    while (true) pause();
}

static void load_library(void) {
    // Never closed: its threads and exit handlers may outlive any user of it.
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || !find_all(library)) return;
    struct version_info *info = curl.version_info(VERSION_NOW);
    if (info == NULL || info->version_num < OLDEST_VERSION) return;
    keep_openssl(library);
    // Before 7.84 this isn't safe while another thread does the same; Foundation does it once, at its first use.
    if (curl.global_init(GLOBAL_ALL) != CCURL_OK) return;
    find_openssl(library);
    version = info->version_num;
    tls_library = info->ssl_version;
    if (info->age >= AGE_OF_CA_FILE) {
        ca_file = info->ca_file;
        ca_folder = info->ca_folder;
    }
}

// Whether the present thread is the main one; -1 until that is known.
static _Thread_local signed char is_main = -1;

static void count_fork(void) {
    atomic_fetch_add(&forks, 1);
    // The thread that forks is the main one of the new process.
    is_main = 1;
}

unsigned ccurl_forks(void) { return atomic_load(&forks); }

// Handlers run in the reverse order. The first is for an exit before or while libcurl is loaded: it waits for the load, and
// runs before the linker's own handler, during which nothing may be loaded. The second runs before the handlers of the
// libraries that libcurl uses.
__attribute__((constructor)) static void register_first_handler(void) {
    // The exiting thread may hold the mutex, if it calls `exit` in a signal handler. It must not wait for itself.
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&gates_mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_atfork(NULL, NULL, count_fork);
    atexit(shut_gates);
}

static void *load(void *context) {
    bool *has_own_thread = context;
    pthread_mutex_lock(&gates_mutex);
    if (!atomic_load(&is_exiting)) {
        forks_at_load = atomic_load(&forks);
        load_library();
        if (atexit(shut_gates) != 0) version = 0;
        if (*has_own_thread) ccurl_thread_ends();
    }
    pthread_mutex_unlock(&gates_mutex);
    return NULL;
}

// The caller's thread may use OpenSSL itself, which keeps a state for each thread: that is neither made here nor released.
static void load_once(void) {
    bool has_own_thread = true;
    pthread_t thread;
    if (pthread_create(&thread, NULL, load, &has_own_thread) == 0) {
        pthread_join(thread, NULL);
    } else {
        has_own_thread = false;
        load(&has_own_thread);
    }
}

bool ccurl_load(void) {
    pthread_once(&once, load_once);
    return version != 0;
}

uint32_t ccurl_version(void) { return ccurl_load() ? version : 0; }
const char *ccurl_tls_library(void) { return ccurl_load() ? tls_library : NULL; }
const char *ccurl_ca_file(void) { return ccurl_load() ? ca_file : NULL; }
const char *ccurl_ca_folder(void) { return ccurl_load() ? ca_folder : NULL; }
bool ccurl_finds_chains(void) { return ccurl_load() && openssl.is_there; }
bool ccurl_finds_stores(void) { return ccurl_load() && openssl.has_stores; }

// MARK: Stores of certificates

CCurlStore *ccurl_store_new(void) {
    CCurlStore *store = openssl.store_new();
    // As libcurl sets them: an intermediate certificate among the authorities is trusted without its own issuer.
    if (store != NULL) openssl.store_set_flags(store, STORE_TRUSTED_FIRST | STORE_PARTIAL_CHAIN);
    return store;
}

void ccurl_store_free(CCurlStore *store) {
    if (!atomic_load(&is_exiting)) openssl.store_free(store);
}

bool ccurl_store_add_file(CCurlStore *store, const char *path) {
    bool is_loaded = openssl.store_load(store, path, NULL) == 1;
    openssl.clear_errors();
    return is_loaded;
}

bool ccurl_store_add_folder(CCurlStore *store, const char *path) {
    bool is_added = openssl.store_load(store, NULL, path) == 1;
    openssl.clear_errors();
    return is_added;
}

bool ccurl_store_add(CCurlStore *store, const void *der, size_t size) {
    const unsigned char *bytes = der;
    void *certificate = openssl.decode(NULL, &bytes, (long)size);
    bool is_added = certificate != NULL && openssl.store_add(store, certificate) == 1;
    openssl.certificate_free(certificate);
    openssl.clear_errors();
    return is_added;
}

void ccurl_handle_set_store(CCurlHandle *handle, CCurlStoreCallback callback, void *context) {
    handle->store = callback;
    handle->store_context = context;
}

static int prepare_connection(CCurlEasy *easy, CCurlConnection *connection, void *context) {
    const CCurlHandle *handle = context;
    if (openssl.context_control != NULL) {
        // OpenSSL would read on until content comes, whatever else does: a peer that sends nothing but other records
        // would keep the thread inside of one call.
        if (handle->stops_at_records) {
            openssl.context_control(connection, CONTEXT_CLEAR_MODE, MODE_AUTO_RETRY, NULL);
        }
        // Newer releases of libcurl let OpenSSL read ahead. Bytes after a response would stay in OpenSSL's buffer, which
        // libcurl doesn't check before it reuses the connection. They would be taken for the response to the next
        // request.
        openssl.context_control(connection, CONTEXT_SET_READ_AHEAD, 0, NULL);
    }
    // OpenSSL 3 reports an error for such an end, unless libcurl hides the end from OpenSSL, as 7.88 does.
    if (handle->accepts_missing_close_notify && openssl.context_set_options != NULL) {
        openssl.context_set_options(connection, IGNORE_UNEXPECTED_END);
    }
    // The events about records are those of the host: a proxy that announces its own end says nothing of the host's.
    if (openssl.has_stores && openssl.context_set_message_callback != NULL && ccurl_connection_is_to_proxy(connection)) {
        openssl.context_set_message_callback(connection, NULL);
    }
    return handle->store == NULL ? CCURL_OK : handle->store(easy, connection, handle->store_context);
}

int ccurl_handle_prepare_openssl(CCurlHandle *handle, bool accepts_missing_close_notify, bool stops_at_records) {
    handle->stops_at_records = stops_at_records;
    handle->accepts_missing_close_notify = accepts_missing_close_notify;
    int failure = curl.easy_setopt(handle->easy, OPT_SSL_CTX_FUNCTION, prepare_connection);
    return failure | curl.easy_setopt(handle->easy, OPT_SSL_CTX_DATA, handle);
}

bool ccurl_connection_is_to_proxy(CCurlConnection *connection) {
    // libcurl sets it to 0 for hosts, because no maximum is requested.
    return openssl.context_control(connection, CONTEXT_GET_MAX_VERSION, 0, NULL) != 0;
}

int ccurl_connection_use_store(CCurlConnection *connection, CCurlStore *store) {
    if (store == NULL || openssl.store_retain(store) != 1) return BAD_CERTIFICATE_FILE;
    openssl.context_set_store(connection, store);
    return CCURL_OK;
}

// MARK: Easy handles

CCurlHandle *ccurl_handle_new(void) {
    CCurlHandle *handle = calloc(1, sizeof *handle);
    if (handle == NULL) return NULL;
    handle->easy = curl.easy_init();
    if (handle->easy != NULL) return handle;
    free(handle);
    return NULL;
}

void ccurl_handle_free(CCurlHandle *handle) {
    // An idle handle may be freed on any thread, even after OpenSSL's end. Then its memory needn't be freed.
    if (atomic_load(&is_exiting)) return;
    curl.easy_cleanup(handle->easy);
    free(handle);
}

void ccurl_handle_reset(CCurlHandle *handle) {
    curl.easy_reset(handle->easy);
    handle->store = NULL;
    handle->is_prepared = false;
}

const char *ccurl_handle_error(CCurlHandle *handle) { return handle->error_text; }

void ccurl_handle_set_error(CCurlHandle *handle, const char *text) {
    char *end = stpncpy(handle->error_text, text, sizeof handle->error_text - 1);
    *end = 0;
}

int ccurl_easy_pause(CCurlEasy *easy, int bits) { return curl.easy_pause(easy, bits); }
const char *ccurl_error_text(int code) { return curl.easy_strerror(code); }

int ccurl_easy_set_long(CCurlEasy *easy, enum CCurlLongOption option, long value) {
    return curl.easy_setopt(easy, (int)option, value);
}

int ccurl_easy_set_text(CCurlEasy *easy, enum CCurlTextOption option, const char *value) {
    return curl.easy_setopt(easy, (int)option, value);
}

int ccurl_easy_set_blob(CCurlEasy *easy, enum CCurlBlobOption option, const void *bytes, size_t count) {
    struct blob blob = {(void *)bytes, count, BLOB_COPY};
    return curl.easy_setopt(easy, (int)option, &blob);
}

int ccurl_easy_set_body_length(CCurlEasy *easy, int64_t length) {
    return curl.easy_setopt(easy, OPT_INFILESIZE_LARGE, (curl_off)length);
}

int ccurl_easy_set_content(CCurlEasy *easy, const void *bytes, size_t count) {
    int failure = curl.easy_setopt(easy, OPT_POSTFIELDSIZE_LARGE, (curl_off)count);
    return failure != CCURL_OK ? failure : curl.easy_setopt(easy, OPT_POSTFIELDS, bytes);
}

int ccurl_easy_socket(CCurlEasy *easy) {
    int socket = SOCKET_BAD;
    return curl.easy_getinfo(easy, INFO_ACTIVESOCKET, &socket) == CCURL_OK ? socket : SOCKET_BAD;
}

static int64_t offset_of(CCurlEasy *easy, int info) {
    curl_off value = 0;
    return curl.easy_getinfo(easy, info, &value) == CCURL_OK ? value : 0;
}

static long long_of(CCurlEasy *easy, int info) {
    long value = 0;
    return curl.easy_getinfo(easy, info, &value) == CCURL_OK ? value : 0;
}

long ccurl_easy_long(CCurlEasy *easy, enum CCurlLongInfo info) { return long_of(easy, (int)info); }

CCurlMetrics ccurl_easy_metrics(CCurlEasy *easy) {
    long used_proxy = 0;
    bool knows_proxy = curl.easy_getinfo(easy, INFO_USED_PROXY, &used_proxy) == CCURL_OK;
    return (CCurlMetrics){
        .queued = offset_of(easy, INFO_QUEUE_TIME),
        .name_resolved = offset_of(easy, INFO_NAMELOOKUP_TIME),
        .connected = offset_of(easy, INFO_CONNECT_TIME),
        .secured = offset_of(easy, INFO_APPCONNECT_TIME),
        .ready = offset_of(easy, INFO_PRETRANSFER_TIME),
        .sent = offset_of(easy, INFO_POSTTRANSFER_TIME),
        .first_byte = offset_of(easy, INFO_STARTTRANSFER_TIME),
        .end = offset_of(easy, INFO_TOTAL_TIME),
        .body_sent = offset_of(easy, INFO_SIZE_UPLOAD),
        .body_received = offset_of(easy, INFO_SIZE_DOWNLOAD),
        .head_sent = long_of(easy, INFO_REQUEST_SIZE),
        .head_received = long_of(easy, INFO_HEADER_SIZE),
        .new_connections = long_of(easy, INFO_NUM_CONNECTS),
        .http_version = long_of(easy, INFO_HTTP_VERSION),
        .used_proxy = knows_proxy                                 ? used_proxy != 0
            : long_of(easy, (int)CCURL_INFO_HTTP_CONNECTCODE) > 0 ? 1
                                                                  : -1,
    };
}

static int open_socket(void *context, int purpose, struct address *address) {
    (void)purpose;
    const CCurlCallbacks *callbacks = context;
    int opened = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (opened >= 0) callbacks->opened(callbacks->loop, opened);
    else if (errno == EMFILE || errno == ENFILE) callbacks->lacks_descriptor(callbacks->loop);
    return opened;
}

static int close_socket(void *context, int closing) {
    const CCurlCallbacks *callbacks = context;
    callbacks->closes(callbacks->loop, closing);
    return close(closing);
}

int ccurl_handle_prepare(CCurlHandle *handle, const CCurlCallbacks *callbacks) {
    CCurlEasy *easy = handle->easy;
    handle->callbacks = callbacks;
    int failure = 0;
    failure |= curl.easy_setopt(easy, OPT_HEADERFUNCTION, callbacks->head);
    failure |= curl.easy_setopt(easy, OPT_HEADERDATA, handle);
    failure |= curl.easy_setopt(easy, OPT_WRITEFUNCTION, callbacks->body);
    failure |= curl.easy_setopt(easy, OPT_WRITEDATA, handle);
    failure |= curl.easy_setopt(easy, OPT_READFUNCTION, callbacks->read);
    failure |= curl.easy_setopt(easy, OPT_READDATA, handle);
    failure |= curl.easy_setopt(easy, OPT_SEEKFUNCTION, callbacks->seek);
    failure |= curl.easy_setopt(easy, OPT_SEEKDATA, handle);
    failure |= curl.easy_setopt(easy, OPT_ERRORBUFFER, handle->error_text);
    failure |= curl.easy_setopt(easy, OPT_OPENSOCKETFUNCTION, open_socket);
    failure |= curl.easy_setopt(easy, OPT_OPENSOCKETDATA, callbacks);
    failure |= curl.easy_setopt(easy, OPT_CLOSESOCKETFUNCTION, close_socket);
    failure |= curl.easy_setopt(easy, OPT_CLOSESOCKETDATA, callbacks);
    failure |= curl.easy_setopt(easy, (int)CCURL_PROTOCOLS, (long)PROTOCOL_HTTP_AND_HTTPS);
    failure |= curl.easy_setopt(easy, (int)CCURL_REDIR_PROTOCOLS, (long)PROTOCOL_HTTP_AND_HTTPS);
    failure |= curl.easy_setopt(easy, (int)CCURL_NOSIGNAL, 1L);
    failure |= curl.easy_setopt(easy, (int)CCURL_TCP_NODELAY, 1L);
    failure |= curl.easy_setopt(easy, (int)CCURL_PATH_AS_IS, 1L);
    failure |= curl.easy_setopt(easy, (int)CCURL_SUPPRESS_CONNECT_HEADERS, 1L);
    // Not every libcurl knows the others: it may be older, or be built without HTTP/2 or proxies.
    curl.easy_setopt(easy, (int)CCURL_HTTP_VERSION, (long)HTTP_VERSION_2_TLS);
    curl.easy_setopt(easy, OPT_PREREQFUNCTION, callbacks->sending);
    curl.easy_setopt(easy, OPT_PREREQDATA, handle);
    curl.easy_setopt(easy, (int)CCURL_QUICK_EXIT, 1L);
    // The maximum separates a connection to a proxy from one to a host.
    long proxy_version = openssl.has_stores ? TLS_1_2 | AT_MOST_TLS_1_3 : TLS_1_2;
    curl.easy_setopt(easy, (int)CCURL_PROXY_SSLVERSION, proxy_version);
    return failure;
}

// Reads the number after a phrase, anywhere in the text; false if the text doesn't have them.
static bool number_after(const char *words, const char *text, size_t size, uint32_t *number) {
    size_t length = strlen(words);
    const char *found = memmem(text, size, words, length);
    if (found == NULL) return false;
    const char *end = text + size;
    const char *digit = found + length;
    for (*number = 0; digit < end && *digit >= '0' && *digit <= '9'; digit++) *number = *number * 10 + (*digit - '0');
    return digit > found + length;
}

// The words are those of libcurl 7.68 to 8; if a later one has others, nothing is known, and nothing is sent again.
static void note_text(CCurlHandle *handle, const char *text, size_t size) {
    static const char refused[] = "REFUSED_STREAM";
    uint32_t number = 0;
    if (size < sizeof refused) return;
    if (text[0] == 'U' || text[0] == '[') {
        if (number_after("Using Stream ID: ", text, size, &number) ||
            (memmem(text, size, "OPENED stream", 13) != NULL && number_after("[HTTP/2] [", text, size, &number))) {
            handle->callbacks->event(handle, CCURL_EVENT_STREAM, number, NULL);
        }
    } else if (text[0] == 'r') {
        if (memmem(text, size, "GOAWAY", 6) != NULL && number_after("last_stream=", text, size, &number)) {
            handle->callbacks->event(handle, CCURL_EVENT_GOAWAY, number, NULL);
        }
    } else if (memmem(text, size, "Connection died", 15) == text) {
        handle->callbacks->event(handle, CCURL_EVENT_LOST, 0, NULL);
    } else if (memcmp(text, refused, sizeof refused - 1) == 0) {
        handle->callbacks->event(handle, CCURL_EVENT_REFUSED, 0, NULL);
    }
}

static int note_news(void *easy, int kind, char *text, size_t size, void *context) {
    enum { TEXT = 0, HEAD_IN = 1, HEAD_OUT = 2, TLS_IN = 5 };
    CCurlHandle *handle = context;
    (void)easy;
    if (kind == TEXT) {
        note_text(handle, text, size);
    } else if (kind == TLS_IN) {
        // Of all messages, only an alert has two bytes: its level, and what it says.
        bool is_close_notify = size == 2 && text[1] == 0;
        handle->callbacks->event(handle, is_close_notify ? CCURL_EVENT_CLOSE_NOTIFY : CCURL_EVENT_RECORD, 0, NULL);
    } else if (kind == HEAD_OUT) {
        handle->is_in_tunnel = size > 8 && memcmp(text, "CONNECT ", 8) == 0;
        handle->callbacks->event(handle, handle->is_in_tunnel ? CCURL_EVENT_TUNNEL : CCURL_EVENT_SENT, 0, NULL);
    } else if (kind == HEAD_IN && handle->is_in_tunnel) {
        handle->callbacks->event(handle, CCURL_EVENT_TUNNEL, (uint32_t)size, text);
    }
    return 0;
}

int ccurl_handle_read_news(CCurlHandle *handle) {
    int failure = curl.easy_setopt(handle->easy, OPT_DEBUGFUNCTION, note_news);
    failure |= curl.easy_setopt(handle->easy, OPT_DEBUGDATA, handle);
    return failure | curl.easy_setopt(handle->easy, OPT_VERBOSE, 1L);
}

int ccurl_easy_prepare_sweep(CCurlEasy *easy) {
    int failure = curl.easy_setopt(easy, (int)CCURL_URL, "http://localhost/");
    failure |= curl.easy_setopt(easy, (int)CCURL_UNIX_SOCKET_PATH, "/dev/null/none");
    failure |= curl.easy_setopt(easy, (int)CCURL_PROXY, "");
    return failure | curl.easy_setopt(easy, (int)CCURL_NOSIGNAL, 1L);
}

/// The OpenSSL session of a transfer; NULL if it has none.
static void *session_of(CCurlEasy *easy) {
    struct {
        int backend;
        void *internals;
    } *session = NULL;
    if (!openssl.is_there || curl.easy_getinfo(easy, INFO_TLS_SSL_PTR, &session) != CCURL_OK) return NULL;
    return session != NULL && session->backend == BACKEND_OPENSSL ? session->internals : NULL;
}

int ccurl_easy_session_socket(CCurlEasy *easy) {
    void *session = session_of(easy);
    return session != NULL && openssl.socket != NULL ? openssl.socket(session) : SOCKET_BAD;
}

CCurlSession ccurl_easy_session(CCurlEasy *easy) {
    void *session = session_of(easy);
    if (session == NULL || !openssl.version || !openssl.cipher || !openssl.cipher_name) return (CCurlSession){0};
    void *cipher = openssl.cipher(session);
    // Both texts are constants of the library.
    return (CCurlSession){
        .version = openssl.version(session),
        .cipher_suite = cipher == NULL ? NULL : openssl.cipher_name(cipher),
    };
}

void ccurl_easy_chain(
    CCurlEasy *easy,
    void (*callback)(void *context, const uint8_t *der, size_t size),
    void *context
) {
    void *session = session_of(easy);
    if (session == NULL) return;
    void *chain = openssl.get_chain(session);
    int count = chain == NULL ? 0 : openssl.count(chain);
    for (int i = 0; i < count; i++) {
        unsigned char *der = NULL;
        int size = openssl.encode(openssl.certificate(chain, i), &der);
        if (size > 0) callback(context, der, (size_t)size);
        openssl.release(der, "", 0);
    }
}

bool ccurl_easy_is_checked(CCurlEasy *easy) {
    void *session = session_of(easy);
    return session != NULL && openssl.index >= 0 && openssl.get_data(session, openssl.index) != NULL;
}

void ccurl_easy_set_checked(CCurlEasy *easy) {
    void *session = session_of(easy);
    if (session != NULL && openssl.index >= 0) openssl.set_data(session, openssl.index, &openssl);
}

void ccurl_easy_send_once(CCurlEasy *easy) {
    // A request of RTSP that only receives isn't sent again; libcurl checks that for HTTP too. Without RTSP it can't be set.
    curl.easy_setopt(easy, OPT_RTSP_REQUEST, (long)RTSP_RECEIVE);
}

int ccurl_easy_use_http11(CCurlEasy *easy) {
    return curl.easy_setopt(easy, (int)CCURL_HTTP_VERSION, (long)HTTP_VERSION_1_1);
}

// MARK: Lists of lines

// The layout of curl_slist, which is public. libcurl neither changes nor frees the list of a caller.
struct line {
    char *text;
    struct line *next;
};

struct CCurlLines {
    size_t count;
    // The position of the next text, and the end of the space for texts.
    char *place;
    char *end;
    size_t most;
    struct line lines[];
};

CCurlLines *ccurl_lines_new(size_t count, size_t size) {
    size += count * sizeof ": ";
    CCurlLines *lines = malloc(sizeof *lines + count * sizeof(struct line) + size);
    if (lines == NULL) return NULL;
    char *texts = (char *)&lines->lines[count];
    *lines = (CCurlLines){.most = count, .place = texts, .end = texts + size};
    return lines;
}

void ccurl_lines_free(CCurlLines *lines) { free(lines); }

static bool has_room(const CCurlLines *lines, size_t size) {
    return lines->count < lines->most && size < (size_t)(lines->end - lines->place);
}

static void end_line(CCurlLines *lines, char *end) {
    *end++ = 0;
    struct line *line = &lines->lines[lines->count];
    *line = (struct line){.text = lines->place};
    if (lines->count++ > 0) line[-1].next = line;
    lines->place = end;
}

bool ccurl_lines_add(CCurlLines *lines, const char *text) {
    size_t size = strlen(text);
    if (lines == NULL || !has_room(lines, size)) return false;
    end_line(lines, mempcpy(lines->place, text, size));
    return true;
}

bool ccurl_lines_add_field(
    CCurlLines *lines, const unsigned char *name, size_t name_size, const unsigned char *value, size_t value_size
) {
    bool is_blank = true;
    for (size_t i = 0; i < value_size; i++) {
        if ((value[i] < ' ' && value[i] != '\t') || value[i] == DELETE) return false;
        is_blank = is_blank && (value[i] == ' ' || value[i] == '\t');
    }
    if (name_size == 0 || !has_room(lines, name_size + value_size + 2)) return false;
    for (size_t i = 0; i < name_size; i++) {
        if (name[i] <= ' ' || name[i] >= DELETE || name[i] == ':' || name[i] == ';') return false;
    }
    char *end = mempcpy(lines->place, name, name_size);
    // In libcurl, a name with a semicolon means "with an empty value", a value of blanks means "not at all".
    if (is_blank) {
        *end++ = ';';
    } else {
        end = mempcpy(mempcpy(end, ": ", 2), value, value_size);
    }
    end_line(lines, end);
    return true;
}

static struct line *first_of(CCurlLines *lines) { return lines != NULL && lines->count > 0 ? lines->lines : NULL; }

int ccurl_easy_set_headers(CCurlEasy *easy, CCurlLines *headers) {
    return curl.easy_setopt(easy, OPT_HTTPHEADER, first_of(headers));
}

int ccurl_easy_set_proxy_headers(CCurlEasy *easy, CCurlLines *headers) {
    int failure = curl.easy_setopt(easy, OPT_HEADEROPT, (long)HEADERS_SEPARATE);
    return failure != CCURL_OK ? failure : curl.easy_setopt(easy, OPT_PROXYHEADER, first_of(headers));
}

int ccurl_easy_set_addresses(CCurlEasy *easy, CCurlLines *addresses) {
    return curl.easy_setopt(easy, OPT_RESOLVE, first_of(addresses));
}

// MARK: Sessions of TLS

CCurlSessions *ccurl_sessions_new(void) {
    void *share = curl.share_init();
    if (share != NULL) curl.share_setopt(share, SHARE_OPT_SHARE, SHARE_TLS_SESSIONS);
    return share;
}

void ccurl_sessions_free(CCurlSessions *sessions) { curl.share_cleanup(sessions); }

void ccurl_easy_set_sessions(CCurlEasy *easy, CCurlSessions *sessions) {
    // Without them, it begins a session of its own.
    curl.easy_setopt(easy, OPT_SHARE, sessions);
}

// MARK: The multi handle

CCurlMulti *ccurl_multi_new(CCurlSocketCallback on_socket, CCurlTimerCallback on_timer, void *context) {
    void *multi = curl.multi_init();
    if (multi == NULL) return NULL;
    curl.multi_setopt(multi, MOPT_SOCKETFUNCTION, on_socket);
    curl.multi_setopt(multi, MOPT_SOCKETDATA, context);
    curl.multi_setopt(multi, MOPT_TIMERFUNCTION, on_timer);
    curl.multi_setopt(multi, MOPT_TIMERDATA, context);
    // From 8.20, freeing it waits for look-ups otherwise.
    curl.multi_setopt(multi, MOPT_QUICK_EXIT, 1L);
    return multi;
}

void ccurl_multi_free(CCurlMulti *multi) { curl.multi_cleanup(multi); }
int ccurl_multi_add(CCurlMulti *multi, CCurlEasy *easy) { return curl.multi_add_handle(multi, easy); }
int ccurl_multi_remove(CCurlMulti *multi, CCurlEasy *easy) { return curl.multi_remove_handle(multi, easy); }

int ccurl_multi_set_long(CCurlMulti *multi, enum CCurlMultiOption option, long value) {
    return curl.multi_setopt(multi, (int)option, value);
}

// Before 8.6, libcurl applies a reported socket event to the first transfer on the connection. If that transfer has
// only begun to send, libcurl takes a readable socket for one that isn't writable. Then it holds the content back, and
// loses a response that arrives before it. Without a reported event, libcurl asks the system for each transfer. So an
// event is reported only for a socket whose single transfer only reads.
int ccurl_multi_act(CCurlMulti *multi, int socket, int what) {
    int running = 0;
    return curl.multi_socket_action(multi, socket, what, &running);
}

CCurlEasy *ccurl_multi_take_ended(CCurlMulti *multi, int *result) {
    int left = 0;
    struct message *message;
    while ((message = curl.multi_info_read(multi, &left)) != NULL) {
        if (message->kind != MESSAGE_DONE) continue;
        *result = message->data.result;
        return message->easy;
    }
    return NULL;
}

// MARK: Waiting

int ccurl_poll_new(void) { return epoll_create1(EPOLL_CLOEXEC); }
int ccurl_wake_new(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void ccurl_close(int descriptor) {
    if (descriptor >= 0) close(descriptor);
}

void ccurl_wake(int descriptor) {
    uint64_t one = 1;
    while (write(descriptor, &one, sizeof one) < 0 && errno == EINTR) {}
}

bool ccurl_poll_set(int poll, int socket, int bits) {
    struct epoll_event event = {0};
    event.data.fd = socket;
    if (bits & 1) event.events |= EPOLLIN;
    if (bits & 2) event.events |= EPOLLOUT;
    if (bits == 0) event.events |= EPOLLRDHUP;
    if (epoll_ctl(poll, EPOLL_CTL_MOD, socket, &event) == 0) return true;
    return errno == ENOENT && epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event) == 0;
}

void ccurl_poll_set_wake(int poll, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = descriptor};
    epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
}

void ccurl_poll_remove(int poll, int socket) {
    struct epoll_event event = {0};
    epoll_ctl(poll, EPOLL_CTL_DEL, socket, &event);
}

// Reads the waiting data, so that the next read finds the end of the connection.
static void drain(int socket) {
    enum { MOST_READS = 64 };
    unsigned char bytes[4096];
    for (int i = 0; i < MOST_READS && recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0; i++) {}
}

// Reads the next byte without taking it; returns 0 at the end of the connection, -1 if it is open and has none.
static int peek(int socket, unsigned char *byte) {
    ssize_t count = recv(socket, byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR ? -1 : 0;
    return (int)count;
}

bool ccurl_has_ended(int socket) {
    unsigned char byte;
    return peek(socket, &byte) == 0;
}

bool ccurl_is_unusable(int socket) {
    enum { TLS_FIRST = 0x14, TLS_LAST = 0x17 };
    unsigned char byte;
    int count = peek(socket, &byte);
    return count == 0 || (count > 0 && (byte < TLS_FIRST || byte > TLS_LAST));
}

bool ccurl_is_readable(int socket) {
    unsigned char byte;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

static bool is_named(const struct sockaddr_storage *name, const char *address, int port) {
    const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)name;
    const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)name;
    bool is_ipv6 = name->ss_family == AF_INET6;
    if (!is_ipv6 && name->ss_family != AF_INET) return false;
    if (ntohs(is_ipv6 ? ipv6->sin6_port : ipv4->sin_port) != port) return false;
    char text[INET6_ADDRSTRLEN];
    const void *bytes = is_ipv6 ? (const void *)&ipv6->sin6_addr : &ipv4->sin_addr;
    return inet_ntop(name->ss_family, bytes, text, sizeof text) != NULL && strcmp(text, address) == 0;
}

bool ccurl_is_between(int socket, const char *local, int local_port, const char *remote, int remote_port) {
    struct sockaddr_storage name = {0};
    socklen_t size = sizeof name;
    if (getsockname(socket, (struct sockaddr *)&name, &size) != 0 || !is_named(&name, local, local_port)) return false;
    size = sizeof name;
    return getpeername(socket, (struct sockaddr *)&name, &size) == 0 && is_named(&name, remote, remote_port);
}

uint64_t ccurl_round_trip(int socket) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
    return (uint64_t)info.tcpi_rtt * 1000;
}

static uint64_t nanoseconds_of(clockid_t clock) {
    struct timespec time = {0};
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t ccurl_processor_time(void) { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

uint64_t ccurl_suspended_time(void) {
    // In this order, a wait between the two reads doesn't look like a suspend.
    uint64_t total = nanoseconds_of(CLOCK_BOOTTIME);
    uint64_t awake = nanoseconds_of(CLOCK_MONOTONIC);
    return total > awake ? total - awake : 0;
}

void ccurl_retire(int socket, bool is_over) {
    shutdown(socket, is_over ? SHUT_RDWR : SHUT_RD);
    drain(socket);
}

int ccurl_poll_wait(int poll, CCurlReady *ready, int count, int milliseconds) {
    enum { MOST = 64 };
    struct epoll_event events[MOST];
    if (count > MOST) count = MOST;
    int found = epoll_wait(poll, events, count, milliseconds);
    for (int i = 0; i < found; i++) {
        ready[i].socket = events[i].data.fd;
        ready[i].bits = 0;
        if (events[i].events & EPOLLIN) ready[i].bits |= 1;
        if (events[i].events & EPOLLOUT) ready[i].bits |= 2;
        if (events[i].events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) ready[i].bits |= 4;
    }
    return found < 0 ? 0 : found;
}

int ccurl_memory_file(const void *bytes, size_t count) {
    int file = memfd_create("certificates", MFD_CLOEXEC);
    if (file < 0) return -1;
    for (size_t written = 0; written < count;) {
        ssize_t now = write(file, (const char *)bytes + written, count - written);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) {
            close(file);
            return -1;
        }
        written += (size_t)now;
    }
    return file;
}

long ccurl_most_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 1 << 20) return 1 << 20;
    return (long)limit.rlim_cur;
}

// MARK: Threads

bool ccurl_thread_start(void *(*work)(void *context), void *context) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, context) != 0) return false;
    pthread_detach(thread);
    return true;
}

void ccurl_thread_set_name(const char *name) { pthread_setname_np(pthread_self(), name); }

bool ccurl_thread_is_main(void) {
    if (is_main < 0) is_main = syscall(SYS_gettid) == getpid();
    return is_main;
}

void ccurl_block_broken_pipe(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

#else

// A translation unit must not be empty.
typedef int ccurl_is_empty_here;

#endif
