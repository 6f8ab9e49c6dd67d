// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// What content is compressed with on its way: the functions of zlib, brotli and zstd that decode a stream, found when they
// are needed, as libcurl is. Empty on every system but Linux.

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

/// The decoder of one stream; belongs to one thread at a time.
typedef struct CDecoder CDecoder;

/// Makes a decoder; null if the coding isn't available, or there is no memory.
CDecoder *ccoding_new(enum CCoding coding);
void ccoding_free(CDecoder *decoder);

enum CDecoderState {
    /// The stream goes on.
    CDECODER_INSIDE,
    /// The stream is complete, or a member of it, and may end here.
    CDECODER_COMPLETE,
    /// This is no such stream.
    CDECODER_BROKEN,
    CDECODER_NO_MEMORY,
};

/// How far a step has come.
typedef struct {
    size_t consumed;
    size_t produced;
    enum CDecoderState state;
} CDecoderStep;

/// Decodes what is there into what room there is. There may be more to come, also of no input, where the room was filled.
CDecoderStep ccoding_decode(CDecoder *decoder, const void *input, size_t count, void *output, size_t room);

#endif
#endif
