// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Whose refreshes the present task is a part of.
///
/// An operation that is made in it captures that. It passes these interceptors untouched: waiting for the very refresh
/// that waits for it, it would wait for ever.
enum RefreshScope {
    @TaskLocal static var interceptors: Set<ObjectIdentifier> = []
}
