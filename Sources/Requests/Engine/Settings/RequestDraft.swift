// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that is being made: the described request with inherited settings, until it can be sent.
///
/// The steps are synchronous functions, so that a waiting task stores no more than the request itself.
struct RequestDraft {
    /// The present state of the request.
    var request: HTTPRequest
    /// The fields that are the request's own.
    private(set) var own: OwnFields
    /// The fields that came from the body, which may change if the body is replaced.
    private let implied: HTTPHeaders
    private let hasLeftOrigin: Bool
    private let turn: Try

    /// Adds the inherited settings to a request.
    ///
    /// - Throws: ``InvalidValue`` for an invalid address; any error that the encoding of the query throws.
    @inline(never)
    init(_ request: HTTPRequest, for turn: Try) throws {
        var request = request
        // The options have been read, and belong to the operation: requests that interceptors send on must not have
        // them again.
        if request.fields.attachment != nil { request.fields.attachment = nil }
        own = OwnFields(described: request.headers, inherited: turn.environment.headers)
        implied = try request.inherit(turn.environment, isUnauthenticated: turn.options.isUnauthenticated)
        turn.options.apply(to: &request)
        turn.markSecrets(of: &request)
        hasLeftOrigin = request.fields.hasLeftOrigin
        self.request = request
        self.turn = turn
    }

    /// Lets the operation change the request, and adds the request's own credentials.
    ///
    /// - Throws: Any error that the operation or the authentication throws.
    @inline(never)
    mutating func authenticate() throws {
        let former = FormerRequest(request)
        try turn.operation.prepare(&request)
        // A signature must cover the sent content.
        if request.body.isDeferred {
            request.body = request.body.encodedOnce(using: turn.environment.makeEncoder)
        }
        try request.authentication.authenticate(&request)
        turn.markSecrets(of: &request)
        request.keepSecrets(of: former, own: own, baseURL: turn.environment.baseURL)
        own.authenticated = request.headers
    }

    /// Makes the request ready to be sent.
    ///
    /// - Throws: Any error that the encoding of the body throws; ``InvalidValue`` for a request that can't be sent.
    @inline(never)
    consuming func finish() throws -> HTTPRequest {
        // Interceptors may have set a path, added to the query, or set a field whose value is a secret here.
        if !request.fields.encodableQueries.isEmpty {
            do { try request.encodeQueries(with: turn.environment.queryEncoder) } catch {
                throw RequestError(encoding: error)
            }
        }
        try request.resolve(baseURL: turn.environment.baseURL, inheriting: [])
        turn.markSecrets(of: &request)
        if hasLeftOrigin { request.leaveOrigin() }
        do { try request.resolveBody(implied: implied, using: turn.environment.makeEncoder) } catch {
            throw RequestError(encoding: error)
        }
        try request.validate()
        return request
    }
}

extension HTTPRequest {
    /// Adds the environment's settings that the request lacks: base URL, query parameters, header fields; and those of
    /// its body.
    ///
    /// It returns the fields that came from the body, for ``resolveBody(implied:)``.
    ///
    /// - Throws: ``InvalidValue`` for an invalid address, and for an intended base URL that is `nil`; any error that
    ///   the encoding of the query throws.
    mutating func inherit(
        _ environment: RequestEnvironment,
        isUnauthenticated: Bool = false
    ) throws -> HTTPHeaders {
        guard !environment.lacksBaseURL else {
            let reason = "isn't sent, since the base URL of the client was given as nil"
            throw InvalidValue(.url, reason, excerpt: url.redactedDescription)
        }
        // A caller that sends the target of a redirect again has chosen the address.
        fields.hasLeftOrigin = fields.guide == .otherOrigin
        var inherited = environment.headers
        if !inherits(from: environment.baseURL) {
            inherited.markSecrets(environment.sensitiveHeaders)
            inherited.removeSecrets()
        }
        if isUnauthenticated { inherited[.authorization] = nil }
        do { try encodeQueries(with: environment.queryEncoder) } catch { throw RequestError(encoding: error) }
        if cachePolicy == .useProtocolCachePolicy { cachePolicy = environment.cachePolicy }
        // Before the base URL is applied, whose credentials aren't the request's own.
        if case .url(let url) = fields.address, url.scheme != nil { try moveCredentialsToHeader() }
        let inheritedQuery = inheritedQuery(of: environment)
        let own = query
        try resolve(baseURL: environment.baseURL, inheriting: inheritedQuery)
        if case .parameter(let item) = fields.guide { replaceParameter(item, style: own) }
        return applyHeaders(of: inherited)
    }

    /// Removes the secrets of a request to another origin, which a response has named.
    ///
    /// They were added after the inherited ones were left out, by code that doesn't know the address: an interceptor,
    /// or the class of the operation.
    mutating func leaveOrigin() {
        fields.hasLeftOrigin = true
        headers.removeSecrets()
    }

    /// The query parameters that the request inherits: for an address that a response names, those that it lacks.
    private func inheritedQuery(of environment: RequestEnvironment) -> Query {
        guard fields.guide == .origin, !environment.query.isEmpty else { return environment.query }
        let present = Query(percentEncoded: url.query(percentEncoded: true) ?? "")
        var inherited = environment.query
        inherited.removeAll { present.contains($0.name) }
        return inherited
    }
}

/// Distinguishes a request's own fields from those that were added for an origin.
///
/// Its own are those of its description, and those of its own authentication. The others come from the environment and
/// from interceptors, and their secrets are for the origin of that time.
struct OwnFields: Sendable {
    /// The fields of the request's description.
    let described: HTTPHeaders
    /// The fields of the environment.
    let inherited: HTTPHeaders
    /// The fields after inheriting and after the request's own authentication; `nil` before that.
    var authenticated: HTTPHeaders?

    func contains(_ field: HTTPField) -> Bool {
        described.contains(field) || authenticated?.contains(field) == true && !inherited.contains(field)
    }
}

extension HTTPRequest {
    /// Protects secrets after the request was changed.
    ///
    /// Marked fields stay marked. If the change leads to another origin, former secrets that aren't the request's own
    /// are removed.
    ///
    /// - Parameters:
    ///   - former: The request before the change.
    ///   - own: The fields that stay on every origin.
    ///   - baseURL: The URL that a relative address is appended to.
    /// - Complexity: O(n) in the number of fields, as long as the origin is the same.
    mutating func keepSecrets(of former: FormerRequest, own: OwnFields, baseURL: URL?) {
        let marked = former.headers.markedSecrets
        if !marked.isEmpty { headers.markSecrets(marked) }
        // Comparing addresses is cheaper than parsing them, and nearly always sufficient.
        if case .url(let url) = fields.address, case .url(let other) = former.address, url == other { return }
        guard origin(in: baseURL) != former.address.origin(in: baseURL) else { return }
        let dropped = former.headers.secrets.filter { !own.contains($0) }
        headers.removeAll { dropped.contains($0) }
        // The new server hasn't seen the credentials, and its refusal doesn't concern them.
        let generations = fields.credentialGenerations
        fields.credentialGenerations = generations.filter { former.credentialGenerations[$0.key] != $0.value }
    }
}

/// The state of a request before a change, to protect its secrets afterwards.
struct FormerRequest: Sendable {
    let address: Address
    let headers: HTTPHeaders
    let credentialGenerations: [ObjectIdentifier: Int]

    init(_ request: HTTPRequest) {
        (address, headers) = (request.fields.address, request.headers)
        credentialGenerations = request.fields.credentialGenerations
    }
}
