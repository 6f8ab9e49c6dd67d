// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPClient {
    /// Returns a request as Foundation's, with all that the client would send, for code that sends it itself.
    ///
    /// ```swift
    /// let task = session.downloadTask(with: try await client.urlRequest(for: Get<Data>("films/7")))
    /// ```
    ///
    /// It is meant for what only another library or the system can do: a background session, a player, a web view. The
    /// result has the base URL, the inherited query and fields, the cookies of the client's storage, the credentials of
    /// the request and of interceptors, which are refreshed first if necessary, and everything that
    /// ``Interceptor/adapt(_:context:)`` changes. The token is in the result until it is sent, and may have expired by
    /// then.
    ///
    /// All guarantees end here: the client doesn't observe, limit, validate, retry or cache what others send, follows no
    /// redirect, and stores no cookie of the response. `httpShouldHandleCookies` is `false` in the result, so that no
    /// other storage replaces the cookies.
    ///
    /// Nothing waits for a place in the queue, for a limiter or for a condition, and no deadline applies. Cancelling the
    /// task ends the wait for a credential.
    ///
    /// - Parameter request: The request. One whose content is a stream or a file has it as `httpBodyStream`, which a
    ///   background session refuses: use ``urlRequest(for:writingBodyTo:)`` there.
    /// - Returns: The request, with an absolute address.
    /// - Throws: ``RequestError``: of code `unsupported` for an interceptor that has ``Interceptor/intercept(_:context:next:)``
    ///   and no `adapt`, as it acts on a transfer. To find out, an interceptor without `adapt` is called once, with a
    ///   `next` that throws. ``InvalidValue`` for a file that can't be read.
    public func urlRequest(for request: some NetworkRequest) async throws -> URLRequest {
        try URLRequest(resolved: try await prepared(request))
    }

    /// Returns a request as ``urlRequest(for:)`` does, with its content in a file, for an upload by a background session.
    ///
    /// ```swift
    /// let (request, file) = try await client.urlRequest(for: Upload(film), writingBodyTo: folder)
    /// session.uploadTask(with: request, fromFile: file).resume()
    /// ```
    ///
    /// The file is written in parts, so that content of any size takes little memory, and only its owner can read it.
    /// Remove it when the upload has ended.
    ///
    /// - Parameters:
    ///   - request: The request; one without content writes an empty file.
    ///   - folder: An existing folder that survives the process, unlike the one for temporary files.
    /// - Returns: The request, without content, and the location of the new file.
    /// - Throws: As ``urlRequest(for:)``; any error of the content, and of the disk. Then there is no file.
    public func urlRequest(
        for request: some NetworkRequest,
        writingBodyTo folder: URL
    ) async throws -> (request: URLRequest, bodyFile: URL) {
        let prepared = try await prepared(request)
        let file = folder.appendingPathComponent("Upload-\(UUID().uuidString)")
        try await prepared.body.write(to: file)
        var bare = URLRequest(withoutStreamsOf: prepared)
        bare.httpBody = nil
        return (bare, file)
    }

    private func prepared(_ request: some NetworkRequest) async throws(RequestError) -> HTTPRequest {
        try await PreparationOperation(request, over: transport, in: environment).prepared()
    }
}
