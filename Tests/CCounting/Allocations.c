// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#include "CCounting.h"

// It is this header that says whose library it is.
#ifdef __linux__
#include <features.h>
#endif

// A sanitizer replaces these functions itself.
#if defined(__GLIBC__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// A function of the program goes before that of the same name in a library, for every library: this is how glibc wants
// its allocator replaced. It isn't, though: each function hands on to glibc's own, so that `free` needs no twin here,
// and a block that was made before this code ran, or by another of glibc's functions, is like any other.

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_bool is_counting;
static atomic_long count;

// While nothing is counted, this costs only a look at a flag that never changes.
static inline void note(void) {
    if (atomic_load_explicit(&is_counting, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    }
}

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    note();
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    note();
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
    void *result = memalign(alignment, size);
    if (result == NULL) return ENOMEM;
    *block = result;
    return 0;
}

void ccounting_start_allocations(void) {
    atomic_store(&count, 0);
    atomic_store(&is_counting, 1);
}

long ccounting_stop_allocations(void) {
    atomic_store(&is_counting, 0);
    return atomic_load(&count);
}

#else

void ccounting_start_allocations(void) {}

long ccounting_stop_allocations(void) { return -1; }

#endif
