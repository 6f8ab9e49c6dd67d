// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#ifdef __linux__
#define _GNU_SOURCE

#include "CLoop.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { OPT_URL = 10002, OPT_WRITEFUNCTION = 20011, OPT_NOSIGNAL = 99 };

struct message {
    int kind;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
};

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

int cloop_run(const char *url, int width, int count) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW);
    if (library == NULL) return 1;
    void *(*easy_init)(void) = (void *(*)(void))dlsym(library, "curl_easy_init");
    int (*setopt)(void *, int, ...) = (int (*)(void *, int, ...))dlsym(library, "curl_easy_setopt");
    void (*easy_cleanup)(void *) = (void (*)(void *))dlsym(library, "curl_easy_cleanup");
    void *(*multi_init)(void) = (void *(*)(void))dlsym(library, "curl_multi_init");
    int (*add)(void *, void *) = (int (*)(void *, void *))dlsym(library, "curl_multi_add_handle");
    int (*remove)(void *, void *) = (int (*)(void *, void *))dlsym(library, "curl_multi_remove_handle");
    int (*perform)(void *, int *) = (int (*)(void *, int *))dlsym(library, "curl_multi_perform");
    int (*poll)(void *, void *, unsigned, int, int *) =
        (int (*)(void *, void *, unsigned, int, int *))dlsym(library, "curl_multi_poll");
    struct message *(*read)(void *, int *) = (struct message * (*)(void *, int *)) dlsym(library, "curl_multi_info_read");
    int (*multi_cleanup)(void *) = (int (*)(void *))dlsym(library, "curl_multi_cleanup");
    if (!easy_init || !setopt || !multi_init || !add || !remove || !perform || !poll || !read) return 1;

    void *multi = multi_init();
    void **handles = calloc((size_t)width, sizeof *handles);
    int started = 0, ended = 0, failed = 0;
    for (int i = 0; i < width && started < count; i++, started++) {
        handles[i] = easy_init();
        setopt(handles[i], OPT_URL, url);
        setopt(handles[i], OPT_WRITEFUNCTION, discard);
        setopt(handles[i], OPT_NOSIGNAL, 1L);
        add(multi, handles[i]);
    }
    while (ended < count && !failed) {
        int running = 0, left = 0;
        perform(multi, &running);
        struct message *message;
        int progressed = 0;
        while ((message = read(multi, &left)) != NULL) {
            if (message->kind != 1) continue;
            void *easy = message->easy;
            if (message->data.result != 0) failed = 1;
            progressed = 1;
            ended++;
            remove(multi, easy);
            if (started < count) {
                started++;
                add(multi, easy);
            }
        }
        if (!progressed && ended < count) poll(multi, NULL, 0, 1000, NULL);
    }
    for (int i = 0; i < width; i++) {
        if (handles[i] == NULL) continue;
        remove(multi, handles[i]);
        easy_cleanup(handles[i]);
    }
    free(handles);
    multi_cleanup(multi);
    return failed;
}

#else
#include "CLoop.h"
int cloop_run(const char *url, int width, int count) { (void)url; (void)width; (void)count; return 1; }
#endif
