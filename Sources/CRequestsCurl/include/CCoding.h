// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// Content codings: the functions of zlib, brotli and zstd that decode a stream, and those of zlib that compress bytes in
// memory, loaded at run time like libcurl. Empty on every system but Linux.

#ifndef CCODING_H
#define CCODING_H

#ifdef __linux__

#include <stdbool.h>
#include <stddef.h>

enum CCoding {
    CCODING_GZIP,
    CCODING_DEFLATE,
    CCODING_BROTLI,
    CCODING_ZSTD,
};

/// Whether the library of a coding can be loaded. Safe from any thread.
bool ccoding_is_available(enum CCoding coding);

/// The largest size that `count` bytes can have once compressed; 0 if zlib can't be loaded.
size_t ccoding_bound(size_t count);

/// Compresses bytes in the format of zlib (RFC 1950). Returns the byte count of the result; 0 if it fails.
size_t ccoding_deflate(const void *input, size_t count, void *output, size_t room);

/// The decoder of one stream; belongs to one thread at a time.
typedef struct CDecoder CDecoder;

/// Makes a decoder; null if the coding isn't available, or if out of memory.
CDecoder *ccoding_new(enum CCoding coding);
void ccoding_free(CDecoder *decoder);

enum CDecoderState {
    /// The stream isn't complete.
    CDECODER_INSIDE,
    /// The stream is complete, or a member of it, and may end here.
    CDECODER_COMPLETE,
    /// The input is invalid in the coding.
    CDECODER_BROKEN,
    CDECODER_NO_MEMORY,
};

/// The result of a step.
typedef struct {
    size_t consumed;
    size_t produced;
    enum CDecoderState state;
} CDecoderStep;

/// Decodes the input into the output buffer. If the buffer is full, there may be more output, even without further input.
CDecoderStep ccoding_decode(CDecoder *decoder, const void *input, size_t count, void *output, size_t room);

#endif
#endif
