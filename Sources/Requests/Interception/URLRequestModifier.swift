// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An interceptor that changes requests as Foundation's `URLRequest`: for code that knows only that.
///
/// What the closure changes is taken over, and nothing else: repeated and ordered header fields, a file as body, and
/// whatever else a `URLRequest` can't carry stay as they are.
public struct URLRequestModifier: Interceptor {
    private let modify: @Sendable (inout URLRequest) async throws -> Void

    /// Makes an interceptor of a closure.
    public init(_ modify: @escaping @Sendable (inout URLRequest) async throws -> Void) {
        self.modify = modify
    }

    /// Lets the closure change the request.
    ///
    /// - Throws: What the closure throws, and ``InvalidRequest`` for what can't go on the wire.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws {
        let original = URLRequest(request)
        var changed = original
        try await modify(&changed)
        try request.takeOver(changed, changedFrom: original)
    }
}

extension Interceptor where Self == URLRequestModifier {
    /// Changes requests as Foundation's `URLRequest`.
    public static func modifyingURLRequest(
        _ modify: @escaping @Sendable (inout URLRequest) async throws -> Void
    ) -> URLRequestModifier {
        URLRequestModifier(modify)
    }
}

extension HTTPRequest {
    fileprivate mutating func takeOver(_ changed: URLRequest, changedFrom original: URLRequest) throws {
        let imported = try HTTPRequest(changed)
        if changed.url != original.url { url = imported.url }
        if changed.httpMethod != original.httpMethod { method = imported.method }
        let (before, after) = (original.allHTTPHeaderFields ?? [:], changed.allHTTPHeaderFields ?? [:])
        for name in Set(before.keys).union(after.keys) where before[name] != after[name] {
            headers[HTTPField.Name(name)] = after[name]
        }
        let bringsBody = changed.httpBody != nil || changed.httpBodyStream != nil
        if changed.httpBody != original.httpBody || changed.httpBodyStream !== original.httpBodyStream {
            body = bringsBody ? imported.body : .none
        }
        if changed.timeoutInterval != original.timeoutInterval { timeout = imported.timeout }
        if changed.cachePolicy != original.cachePolicy { cachePolicy = imported.cachePolicy }
        if changed.allowsCellularAccess != original.allowsCellularAccess {
            allowsCellularAccess = imported.allowsCellularAccess
        }
    }
}
