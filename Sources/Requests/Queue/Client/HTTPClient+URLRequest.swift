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
    /// Use it for a background session, a player or a web view. The result has the base URL, the inherited query and
    /// fields, the cookies of the client, the credentials of the request and of interceptors, which are refreshed first
    /// if necessary, and everything that ``Interceptor/adapt(_:context:)`` changes. The token is in the result until it
    /// is sent, and may have expired by then.
    ///
    /// All guarantees end here: the client doesn't observe, limit, validate, retry or cache what others send, follows
    /// no redirect, and stores no cookie of the response. If the client has cookies, `httpShouldHandleCookies` is
    /// `false`, so that no other storage replaces them.
    ///
    /// The call doesn't wait for a slot of the queue, a limiter or a condition, and has no deadline. Cancelling the
    /// task ends the wait for a credential.
    ///
    /// - Parameter request: The request. Content that is a stream or a file becomes `httpBodyStream`, which a
    ///   background session refuses: use ``urlRequest(for:writingBodyTo:)`` there.
    /// - Returns: The request, with an absolute address.
    /// - Throws: The failure that the request would have before its first transfer. The code is `unsupported` for an
    ///   interceptor that has ``Interceptor/intercept(_:context:next:)`` and no `adapt`, since it acts on a transfer.
    ///   To find out, `intercept` of an interceptor without `adapt` is called until it calls `next`, which throws.
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
    /// The file is written in chunks, so that content of any size takes little memory, and only its owner can read it.
    /// Remove it when the upload has ended.
    ///
    /// - Parameters:
    ///   - request: The request; one without content writes an empty file.
    ///   - folder: An existing folder that survives the process, unlike the one for temporary files.
    /// - Returns: The request, without content, and the location of the new file.
    /// - Throws: As ``urlRequest(for:)``; also an error of the content or of the disk, as the underlying one. Then, and
    ///   if the task is cancelled, there is no file.
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
        completed(request: request, response: nil, body: Data(), transfers: [])
    }
}
