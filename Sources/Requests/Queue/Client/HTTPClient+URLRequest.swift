// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPClient {
    /// Returns the request that the client would send, as a `URLRequest` that other code can send.
    ///
    /// ```swift
    /// let task = session.downloadTask(with: try await client.urlRequest(for: Get<Data>("films/7")))
    /// ```
    ///
    /// Use this method for a background session, a player or a web view. The result includes the base URL, the
    /// inherited query and header fields, and the client's cookies. It also includes the credentials of the request and
    /// of interceptors, which are refreshed first if necessary, and everything that ``Interceptor/adapt(_:context:)``
    /// changes. A token may expire before the other code sends the request.
    ///
    /// The client's guarantees end here. It doesn't observe, limit, validate, retry or cache what other code sends,
    /// doesn't follow its redirects, and doesn't store cookies of the response. If the client has cookies,
    /// `httpShouldHandleCookies` is `false`, so that no other storage replaces them.
    ///
    /// The call doesn't wait for a slot of the queue, a limiter or a condition, and has no deadline. Cancelling the
    /// task stops waiting for a credential.
    ///
    /// - Parameter request: The request. A stream or file body becomes `httpBodyStream`, which a background session
    ///   rejects; use ``urlRequest(for:writingBodyTo:)`` there.
    /// - Returns: The request, with an absolute URL.
    /// - Throws: The error with which the request would fail before its first transfer. The code is `unsupported` if an
    ///   interceptor implements ``Interceptor/intercept(_:context:next:)`` but not `adapt`, because such an interceptor
    ///   acts only on transfers. To find out, the client calls the `intercept` method of each interceptor without
    ///   `adapt`; if the method then calls `next`, that call throws.
    public func urlRequest(for request: some NetworkRequest) async throws(RequestError) -> URLRequest {
        let prepared = try await prepared(request)
        do {
            return try URLRequest(resolved: prepared)
        } catch {
            throw RequestError(error).withContext(of: prepared)
        }
    }

    /// Returns the request of ``urlRequest(for:)`` with its content in a file, for an upload in a background session.
    ///
    /// ```swift
    /// let upload = Put<Void>("films/7").body(.file(film))
    /// let (request, file) = try await client.urlRequest(for: upload, writingBodyTo: folder)
    /// session.uploadTask(with: request, fromFile: file).resume()
    /// ```
    ///
    /// The file is written in chunks, so that content of any size needs little memory. Only the owner of the file can
    /// read it. Remove it when the upload has ended.
    ///
    /// - Parameters:
    ///   - request: The request; without content, the file is empty.
    ///   - folder: An existing folder that outlives the process, unlike the folder for temporary files.
    /// - Returns: The request without content, and the location of the new file.
    /// - Throws: The same errors as ``urlRequest(for:)``, and an error whose underlying error comes from the content or
    ///   the disk. After an error or a cancellation, no file remains.
    public func urlRequest(
        for request: some NetworkRequest,
        writingBodyTo folder: URL
    ) async throws(RequestError) -> (request: URLRequest, bodyFile: URL) {
        let prepared = try await prepared(request)
        let file = folder.appendingPathComponent("Upload-\(UUID().uuidString)")
        do {
            try await prepared.body.write(to: file)
        } catch {
            throw RequestError(error).withContext(of: prepared)
        }
        var bare = URLRequest(withoutStreamsOf: prepared)
        bare.httpBody = nil
        return (bare, file)
    }

    private func prepared(_ request: some NetworkRequest) async throws(RequestError) -> HTTPRequest {
        try await PreparationOperation(request, over: transport, in: environment).prepared()
    }
}

extension RequestError {
    fileprivate func withContext(of request: HTTPRequest) -> RequestError {
        withContext(request: request, response: nil, body: Data(), transfers: [])
    }
}
