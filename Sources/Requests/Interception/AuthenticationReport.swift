// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What an interceptor tells of its waiting.
enum AuthenticationReport: Sendable {
    /// The operation waits from now on.
    case started(AuthenticationStep)
    /// It waits no longer; without a start, it didn't have to.
    case ended(isGranted: Bool)
}
