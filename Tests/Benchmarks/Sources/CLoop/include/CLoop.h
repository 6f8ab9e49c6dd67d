// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#ifndef CLOOP_H
#define CLOOP_H

/// Gets a URL `count` times, `width` at a time, over libcurl's multi interface and nothing else: the limit of what can be
/// reached over libcurl on one thread. Returns 0 if all went well.
int cloop_run(const char *url, int width, int count);

#endif
