// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Gives each operation a key of its own, by which a server knows one request that it gets twice.
///
/// ```swift
/// environment.interceptors.append(.idempotencyKeys())
/// environment.retry = .default
/// ```
///
/// A POST that got no answer may have been carried out. To a server that goes by `Idempotency-Key` it can be sent again
/// all the same, and is carried out once; so a ``RetryPolicy`` retries requests that have one whatever their method. The
/// key is that of the operation: every attempt has the same, and no other operation has it. A request that brings its
/// own keeps that.
///
/// It is for servers of which that is known: another ignores the field, and carries a retry out.
public final class IdempotencyKeys: Interceptor {
    private let methods: Set<HTTPMethod>
    private let makeKey: @Sendable () -> String

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - methods: The methods whose requests get a key; POST and PATCH by default, since the others that servers know
    ///     may be sent twice anyway.
    ///   - makeKey: Makes the key of an operation, from which no other may get the same; by default a random UUID. What
    ///     isn't fit for a header field fails the request.
    public init(
        for methods: Set<HTTPMethod> = [.post, .patch],
        makeKey: @escaping @Sendable () -> String = { UUID().uuidString }
    ) {
        self.methods = methods
        self.makeKey = makeKey
    }

    /// Adds the key of the operation to a request that has none.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws {
        guard methods.contains(request.method), !request.headers.contains(.idempotencyKey) else { return }
        let author = ObjectIdentifier(self)
        let key: String = context.notes.note(of: author) ?? makeKey()
        context.notes.write(key, of: author)
        request.headers.set(.idempotencyKey(key))
    }
}

extension Interceptor where Self == IdempotencyKeys {
    /// Gives each operation of a method, POST and PATCH by default, a key of its own.
    public static func idempotencyKeys(for methods: Set<HTTPMethod> = [.post, .patch]) -> IdempotencyKeys {
        IdempotencyKeys(for: methods)
    }
}
