// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#ifdef __linux__

#define _GNU_SOURCE

#include "CCoding.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

// MARK: Declarations of the libraries' ABIs, each of which has been the same since its first release

struct zlib_stream {
    const unsigned char *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *, unsigned int, unsigned int);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
};

struct zstd_input {
    const void *bytes;
    size_t size;
    size_t position;
};

struct zstd_output {
    void *bytes;
    size_t size;
    size_t position;
};

enum {
    ZLIB_OK = 0,
    ZLIB_STREAM_END = 1,
    ZLIB_MEM_ERROR = -4,
    ZLIB_BUF_ERROR = -5,
    ZLIB_NO_FLUSH = 0,
    ZLIB_LARGEST_WINDOW = 15,
    ZLIB_GZIP = 16,
    DEFLATE_METHOD = 8,

    BROTLI_ERROR = 0,
    BROTLI_SUCCESS = 1,

    ZSTD_WINDOW_LOG_MAX = 100,
    // RFC 9659: a decoder of content has to support windows of up to 8 MiB.
    ZSTD_LARGEST_WINDOW_LOG = 23,
};

static struct {
    int (*init)(struct zlib_stream *, int, const char *, int);
    int (*inflate)(struct zlib_stream *, int);
    int (*reset)(struct zlib_stream *);
    int (*end)(struct zlib_stream *);
    unsigned long (*bound)(unsigned long);
    int (*compress)(unsigned char *, unsigned long *, const unsigned char *, unsigned long, int);
} zlib;

static struct {
    void *(*create)(void *(*)(void *, size_t), void (*)(void *, void *), void *);
    int (*decompress)(void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
    void (*destroy)(void *);
} brotli;

static struct {
    void *(*create)(void);
    size_t (*set)(void *, int, int);
    size_t (*decompress)(void *, struct zstd_output *, struct zstd_input *);
    unsigned int (*is_error)(size_t);
    size_t (*free)(void *);
} zstd;

static bool has_zlib, has_brotli, has_zstd;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct symbol {
    void **slot;
    const char *name;
};

static bool find(const char *path, const struct symbol *symbols, size_t count) {
    // Never closed: libcurl isn't either, and has most likely loaded it as well.
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        *symbols[i].slot = dlsym(library, symbols[i].name);
        if (*symbols[i].slot == NULL) return false;
    }
    return true;
}

static void load(void) {
    const struct symbol of_zlib[] = {
        {(void **)&zlib.init, "inflateInit2_"},
        {(void **)&zlib.inflate, "inflate"},
        {(void **)&zlib.reset, "inflateReset"},
        {(void **)&zlib.end, "inflateEnd"},
        {(void **)&zlib.bound, "compressBound"},
        {(void **)&zlib.compress, "compress2"},
    };
    const struct symbol of_brotli[] = {
        {(void **)&brotli.create, "BrotliDecoderCreateInstance"},
        {(void **)&brotli.decompress, "BrotliDecoderDecompressStream"},
        {(void **)&brotli.destroy, "BrotliDecoderDestroyInstance"},
    };
    const struct symbol of_zstd[] = {
        {(void **)&zstd.create, "ZSTD_createDCtx"},
        {(void **)&zstd.set, "ZSTD_DCtx_setParameter"},
        {(void **)&zstd.decompress, "ZSTD_decompressStream"},
        {(void **)&zstd.is_error, "ZSTD_isError"},
        {(void **)&zstd.free, "ZSTD_freeDCtx"},
    };
    has_zlib = find("libz.so.1", of_zlib, sizeof of_zlib / sizeof *of_zlib);
    has_brotli = find("libbrotlidec.so.1", of_brotli, sizeof of_brotli / sizeof *of_brotli);
    has_zstd = find("libzstd.so.1", of_zstd, sizeof of_zstd / sizeof *of_zstd);
}

bool ccoding_is_available(enum CCoding coding) {
    pthread_once(&once, load);
    switch (coding) {
    case CCODING_GZIP:
    case CCODING_DEFLATE: return has_zlib;
    case CCODING_BROTLI: return has_brotli;
    case CCODING_ZSTD: return has_zstd;
    }
    return false;
}

// MARK: Compression

size_t ccoding_bound(size_t count) {
    return ccoding_is_available(CCODING_DEFLATE) ? zlib.bound(count) : 0;
}

size_t ccoding_deflate(const void *input, size_t count, void *output, size_t room) {
    if (!ccoding_is_available(CCODING_DEFLATE)) return 0;
    unsigned long produced = room;
    // The level that zlib itself recommends.
    return zlib.compress(output, &produced, input, count, -1) == ZLIB_OK ? produced : 0;
}

// MARK: Decoders

struct CDecoder {
    enum CCoding coding;
    // Whether the zlib stream has been initialised, which needs its first byte.
    bool has_begun;
    bool is_complete;
    struct zlib_stream zlib;
    void *context;
};

CDecoder *ccoding_new(enum CCoding coding) {
    if (!ccoding_is_available(coding)) return NULL;
    CDecoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL) return NULL;
    decoder->coding = coding;
    switch (coding) {
    case CCODING_GZIP:
    case CCODING_DEFLATE: return decoder;
    case CCODING_BROTLI:
        decoder->context = brotli.create(NULL, NULL, NULL);
        break;
    case CCODING_ZSTD:
        decoder->context = zstd.create();
        if (decoder->context != NULL) zstd.set(decoder->context, ZSTD_WINDOW_LOG_MAX, ZSTD_LARGEST_WINDOW_LOG);
        break;
    }
    if (decoder->context != NULL) return decoder;
    free(decoder);
    return NULL;
}

void ccoding_free(CDecoder *decoder) {
    if (decoder == NULL) return;
    if (decoder->has_begun) zlib.end(&decoder->zlib);
    if (decoder->context != NULL) {
        if (decoder->coding == CCODING_BROTLI) brotli.destroy(decoder->context);
        else zstd.free(decoder->context);
    }
    free(decoder);
}

// "deflate" is the format of zlib (RFC 9110, 8.4.1.2), but some servers send only its compressed data, without the header.
// Such data could begin with bytes that look like the header, but no encoder produces them.
static int window_bits(const CDecoder *decoder, const unsigned char *input) {
    if (decoder->coding == CCODING_GZIP) return ZLIB_LARGEST_WINDOW + ZLIB_GZIP;
    return (*input & 0x0f) == DEFLATE_METHOD ? ZLIB_LARGEST_WINDOW : -ZLIB_LARGEST_WINDOW;
}

static enum CDecoderState begin_zlib(CDecoder *decoder, const unsigned char *input) {
    struct zlib_stream *stream = &decoder->zlib;
    if (!decoder->has_begun) {
        int failure = zlib.init(stream, window_bits(decoder, input), "1", (int)sizeof *stream);
        if (failure != ZLIB_OK) return CDECODER_NO_MEMORY;
        decoder->has_begun = true;
    } else if (decoder->is_complete) {
        // A gzip file may have several members in a row, which are decoded as one (RFC 1952, 2.2).
        if (decoder->coding != CCODING_GZIP || zlib.reset(stream) != ZLIB_OK) return CDECODER_BROKEN;
    }
    return CDECODER_INSIDE;
}

static enum CDecoderState decode_zlib(CDecoder *decoder, const void *input, size_t *count, void *output, size_t *room) {
    struct zlib_stream *stream = &decoder->zlib;
    stream->next_in = input;
    stream->avail_in = *count < UINT_MAX ? (unsigned int)*count : UINT_MAX;
    stream->next_out = output;
    stream->avail_out = *room < UINT_MAX ? (unsigned int)*room : UINT_MAX;
    int code = zlib.inflate(stream, ZLIB_NO_FLUSH);
    *count -= (size_t)(stream->next_in - (const unsigned char *)input);
    *room -= (size_t)(stream->next_out - (unsigned char *)output);
    switch (code) {
    case ZLIB_STREAM_END: return CDECODER_COMPLETE;
    case ZLIB_OK:
    case ZLIB_BUF_ERROR: return CDECODER_INSIDE;
    case ZLIB_MEM_ERROR: return CDECODER_NO_MEMORY;
    default: return CDECODER_BROKEN;
    }
}

static enum CDecoderState decode_brotli(CDecoder *decoder, const void *input, size_t *count, void *output, size_t *room) {
    const uint8_t *next_in = input;
    uint8_t *next_out = output;
    switch (brotli.decompress(decoder->context, count, &next_in, room, &next_out, NULL)) {
    case BROTLI_ERROR: return CDECODER_BROKEN;
    case BROTLI_SUCCESS: return CDECODER_COMPLETE;
    default: return CDECODER_INSIDE;
    }
}

// Frames in a row are decoded as one (RFC 8878, 3); the function of zstd does so itself.
static enum CDecoderState decode_zstd(CDecoder *decoder, const void *input, size_t *count, void *output, size_t *room) {
    struct zstd_input in = {input, *count, 0};
    struct zstd_output out = {output, *room, 0};
    size_t left = zstd.decompress(decoder->context, &out, &in);
    *count -= in.position;
    *room -= out.position;
    if (zstd.is_error(left)) return CDECODER_BROKEN;
    return left == 0 ? CDECODER_COMPLETE : CDECODER_INSIDE;
}

CDecoderStep ccoding_decode(CDecoder *decoder, const void *input, size_t count, void *output, size_t room) {
    CDecoderStep step = {0, 0, decoder->is_complete ? CDECODER_COMPLETE : CDECODER_INSIDE};
    // Without input, a stream that is complete or hasn't begun has no output either.
    bool is_zlib = decoder->coding == CCODING_GZIP || decoder->coding == CCODING_DEFLATE;
    if (count == 0 && (decoder->is_complete || (is_zlib && !decoder->has_begun))) return step;
    // Zeros after the last member fill a block, as those of tapes do, and are skipped.
    if (decoder->is_complete && decoder->coding == CCODING_GZIP) {
        while (step.consumed < count && ((const unsigned char *)input)[step.consumed] == 0) step.consumed += 1;
        if (step.consumed > 0) return step;
    }
    if (decoder->is_complete && decoder->coding == CCODING_BROTLI) step.state = CDECODER_BROKEN;
    else step.state = is_zlib ? begin_zlib(decoder, input) : CDECODER_INSIDE;
    if (step.state != CDECODER_INSIDE) return step;
    size_t left = count;
    size_t space = room;
    switch (decoder->coding) {
    case CCODING_GZIP:
    case CCODING_DEFLATE: step.state = decode_zlib(decoder, input, &left, output, &space); break;
    case CCODING_BROTLI: step.state = decode_brotli(decoder, input, &left, output, &space); break;
    case CCODING_ZSTD: step.state = decode_zstd(decoder, input, &left, output, &space); break;
    }
    step.consumed = count - left;
    step.produced = room - space;
    // A call without progress keeps the state: at the end of a frame, zstd has no result for one.
    if (step.state == CDECODER_INSIDE && decoder->is_complete && step.consumed == 0) step.state = CDECODER_COMPLETE;
    decoder->is_complete = step.state == CDECODER_COMPLETE;
    return step;
}

#else

// A translation unit must not be empty.
typedef int ccoding_is_empty_here;

#endif
