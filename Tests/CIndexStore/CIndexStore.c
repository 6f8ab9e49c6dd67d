// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#include "CIndexStore.h"

#include <dlfcn.h>
#include <string.h>

// From indexstore.h, which not every toolchain contains. The values are those of its enumerations.

enum { RECORD_DEPENDENCY = 2, DEFINITION = 1 << 1, REFERENCE = 1 << 2, IMPLICIT = 1 << 8 };

typedef bool (*apply_string)(void *context, cindexstore_string);
typedef bool (*apply_object)(void *context, void *object);

#define FUNCTIONS(F)                                                                        \
    F(void *, store_create, (const char *path, void **error))                               \
    F(bool, store_units_apply_f, (void *store, unsigned sorted, void *, apply_string))      \
    F(void *, unit_reader_create, (void *store, const char *name, void **error))            \
    F(void, unit_reader_dispose, (void *unit))                                              \
    F(cindexstore_string, unit_reader_get_module_name, (void *unit))                        \
    F(cindexstore_string, unit_reader_get_main_file, (void *unit))                          \
    F(void, unit_reader_get_modification_time, (void *unit, int64_t *, int64_t *))          \
    F(bool, unit_reader_dependencies_apply_f, (void *unit, void *, apply_object))           \
    F(int, unit_dependency_get_kind, (void *dependency))                                    \
    F(cindexstore_string, unit_dependency_get_name, (void *dependency))                     \
    F(void *, record_reader_create, (void *store, const char *name, void **error))          \
    F(void, record_reader_dispose, (void *record))                                          \
    F(bool, record_reader_occurrences_apply_f, (void *record, void *, apply_object))        \
    F(uint64_t, occurrence_get_roles, (void *occurrence))                                   \
    F(void, occurrence_get_line_col, (void *occurrence, unsigned *line, unsigned *column))  \
    F(void *, occurrence_get_symbol, (void *occurrence))                                    \
    F(cindexstore_string, symbol_get_usr, (void *symbol))                                   \
    F(cindexstore_string, symbol_get_name, (void *symbol))

#define DECLARE(result, name, parameters) static result(*name) parameters;
FUNCTIONS(DECLARE)

void *cindexstore_open(const char *library, const char *store) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return NULL;
#define LOAD(result, name, parameters) \
    if ((name = (result(*) parameters)dlsym(handle, "indexstore_" #name)) == NULL) return NULL;
    FUNCTIONS(LOAD)
    return store_create(store, NULL);
}

// MARK: Units

typedef struct {
    void *store;
    void *context;
    void (*receive)(void *context, cindexstore_unit);
} units;

// A unit of Swift has one record: that of its file.
static bool note_record(void *context, void *dependency) {
    if (unit_dependency_get_kind(dependency) == RECORD_DEPENDENCY) {
        ((cindexstore_unit *)context)->record = unit_dependency_get_name(dependency);
    }
    return true;
}

static bool read_unit(void *context, cindexstore_string name) {
    units *all = context;
    char terminated[name.length + 1];
    memcpy(terminated, name.data, name.length);
    terminated[name.length] = 0;
    void *reader = unit_reader_create(all->store, terminated, NULL);
    if (reader == NULL) return true;
    cindexstore_unit unit = {
        .module = unit_reader_get_module_name(reader),
        .file = unit_reader_get_main_file(reader),
    };
    unit_reader_get_modification_time(reader, &unit.seconds, &unit.nanoseconds);
    unit_reader_dependencies_apply_f(reader, &unit, note_record);
    all->receive(all->context, unit);
    unit_reader_dispose(reader);
    return true;
}

void cindexstore_units(void *store, void *context, void (*receive)(void *context, cindexstore_unit)) {
    units all = {store, context, receive};
    store_units_apply_f(store, false, &all, read_unit);
}

// MARK: Occurrences

typedef struct {
    void *context;
    void (*receive)(void *context, cindexstore_occurrence);
} occurrences;

static bool read_occurrence(void *context, void *object) {
    occurrences *all = context;
    uint64_t roles = occurrence_get_roles(object);
    bool is_explicit_reference = (roles & REFERENCE) != 0 && (roles & IMPLICIT) == 0;
    if ((roles & DEFINITION) == 0 && !is_explicit_reference) return true;
    void *symbol = occurrence_get_symbol(object);
    cindexstore_occurrence occurrence = {
        .usr = symbol_get_usr(symbol),
        .name = symbol_get_name(symbol),
        .is_definition = (roles & DEFINITION) != 0,
    };
    unsigned column;
    occurrence_get_line_col(object, &occurrence.line, &column);
    all->receive(all->context, occurrence);
    return true;
}

bool cindexstore_occurrences(
    void *store, const char *record, void *context, void (*receive)(void *context, cindexstore_occurrence)
) {
    void *reader = record_reader_create(store, record, NULL);
    if (reader == NULL) return false;
    occurrences all = {context, receive};
    // It returns false for a record without occurrences, too.
    record_reader_occurrences_apply_f(reader, &all, read_occurrence);
    record_reader_dispose(reader);
    return true;
}
