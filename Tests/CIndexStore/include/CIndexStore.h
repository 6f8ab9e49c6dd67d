// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#ifndef CINDEXSTORE_H
#define CINDEXSTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// UTF-8 without a terminating zero. The bytes are valid only until the callback returns.
typedef struct {
    const char *data;
    size_t length;
} cindexstore_string;

/// A compilation of a file, with the name of the record of its occurrences; empty if it has none.
typedef struct {
    cindexstore_string module;
    cindexstore_string file;
    cindexstore_string record;
    int64_t seconds;
    int64_t nanoseconds;
} cindexstore_unit;

/// A place in the source code that defines a symbol or refers to it.
typedef struct {
    cindexstore_string usr;
    cindexstore_string name;
    unsigned line;
    bool is_definition;
} cindexstore_occurrence;

/// Opens a store with libIndexStore at a path. Returns NULL if either can't be opened.
void *cindexstore_open(const char *library, const char *store);

/// Calls `receive` with each readable unit of a store.
void cindexstore_units(void *store, void *context, void (*receive)(void *context, cindexstore_unit));

/// Calls `receive` with each definition and each explicit reference of a record. Returns false if it can't be read.
bool cindexstore_occurrences(
    void *store, const char *record, void *context, void (*receive)(void *context, cindexstore_occurrence)
);

#endif
