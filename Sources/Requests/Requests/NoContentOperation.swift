// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The operation of a ``NoContentRequest``.
///
/// It does what ``DataOperation`` does; it is a type of its own so that a request without content can be told from one
/// with content, and subclassed, by its operation.
// Sendable: Operation demands that it be restated; nothing is added here.
open class NoContentOperation<R: NoContentRequest>: DataOperation<R>, @unchecked Sendable {}
