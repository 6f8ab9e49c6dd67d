// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

enum CacheTestError: Error {
    case unexpected(String)
}
