// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "CCounting.h"

// It is this header that says whose library it is.
#ifdef __linux__
#include <features.h>
#endif

// A sanitizer replaces these functions itself.
#if defined(__GLIBC__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef int (*mutex_lock)(pthread_mutex_t *);

static atomic_bool is_counting;
static atomic_long count;
static _Atomic(mutex_lock) original;

// The linker's: where the code of the program begins and ends.
extern char __executable_start;
extern char etext;

// Goes before the function of the same name in glibc, for every library; who called it tells whose lock it is.
int pthread_mutex_lock(pthread_mutex_t *mutex) {
    mutex_lock lock = atomic_load_explicit(&original, memory_order_relaxed);
    if (lock == NULL) {
        lock = (mutex_lock)dlsym(RTLD_NEXT, "pthread_mutex_lock");
        atomic_store_explicit(&original, lock, memory_order_relaxed);
    }
    if (atomic_load_explicit(&is_counting, memory_order_relaxed)) {
        char *caller = __builtin_return_address(0);
        if (caller >= &__executable_start && caller < &etext) {
            atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
        }
    }
    return lock(mutex);
}

void ccounting_start_locks(void) {
    atomic_store(&count, 0);
    atomic_store(&is_counting, 1);
}

long ccounting_stop_locks(void) {
    atomic_store(&is_counting, 0);
    return atomic_load(&count);
}

#else

void ccounting_start_locks(void) {}

long ccounting_stop_locks(void) { return -1; }

#endif
