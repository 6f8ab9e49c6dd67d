// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that is being made: what was described, with what it inherits, until it can be sent.
///
/// The steps are functions that don't wait. What a task keeps while it waits is then as small as the request itself.
struct RequestDraft {
    /// The request as it is so far.
    var request: HTTPRequest
    /// The fields that are the request's own.
    private(set) var own: OwnFields
    /// The fields that came from the body: should it be replaced by another, they are that one's to change.
    private let implied: HTTPHeaders
    private let attempt: CallAttempt

    /// Gives a request what it inherits.
    ///
    /// - Throws: ``InvalidRequest`` for an invalid address; what the encoding of the query throws.
    @inline(never)
    init(_ request: HTTPRequest, for attempt: CallAttempt) throws {
        var request = request
        // They have been read, and are those of the operation: what interceptors send on isn't to have them again.
        if request.attachment != nil { request.attachment = nil }
        own = OwnFields(described: request.headers, inherited: attempt.environment.headers)
        implied = try request.inherit(attempt.environment, isUnauthenticated: attempt.options.isUnauthenticated)
        attempt.options.apply(to: &request)
        attempt.markSecrets(of: &request)
        self.request = request
        self.attempt = attempt
    }

    /// Lets the operation change the request, and adds the request's own credentials.
    ///
    /// - Throws: What the operation and the authentication throw.
    @inline(never)
    mutating func authenticate(by operation: any CallOperation) throws {
        let former = FormerRequest(request)
        try operation.prepare(&request)
        // What a signature is over is what is sent.
        if request.body.isDeferred {
            request.body = request.body.encodedOnce(using: attempt.environment.makeEncoder)
        }
        try request.authentication.authenticate(&request)
        attempt.markSecrets(of: &request)
        request.keepSecrets(of: former, own: own, baseURL: attempt.environment.baseURL)
        own.authenticated = request.headers
    }

    /// Makes the request ready to be sent.
    ///
    /// - Throws: What the encoding of the body throws; ``InvalidRequest`` for a request that can't be sent.
    @inline(never)
    consuming func finish() throws -> HTTPRequest {
        // Interceptors, too, may have set a path, added to the query, or set a field whose value is a secret here.
        if !request.encodableQueries.isEmpty {
            do { try request.encodeQueries(with: attempt.environment.queryEncoder) } catch {
                throw RequestError(encoding: error)
            }
        }
        try request.resolve(baseURL: attempt.environment.baseURL, inheriting: [])
        attempt.markSecrets(of: &request)
        do { try request.resolveBody(implied: implied, using: attempt.environment.makeEncoder) } catch {
            throw RequestError(encoding: error)
        }
        try request.validate()
        return request
    }
}

extension CallAttempt {
    /// Marks the fields whose values are secrets for the environment and for the request.
    func markSecrets(of request: inout HTTPRequest) {
        for names in [environment.secretHeaders, options.secretHeaders] where !names.isEmpty {
            request.headers.markSecrets(names)
        }
    }
}

extension HTTPRequest {
    /// Takes over what the environment says and the request doesn't: the base of its address, query parameters, header
    /// fields; and what its body implies.
    ///
    /// Gives the fields that came from the body, for ``resolveBody(implied:)``.
    ///
    /// - Throws: ``InvalidRequest`` for an invalid address, and for a base URL that was to be one; what the encoding of the
    ///   query throws.
    mutating func inherit(
        _ environment: RequestEnvironment,
        isUnauthenticated: Bool = false
    ) throws -> HTTPHeaders {
        guard !environment.lacksBaseURL else {
            let reason = "isn't sent, since the base URL of the client was given as nil"
            throw InvalidRequest(.url, reason, excerpt: url.redactedDescription)
        }
        // A caller that sends again what a redirect led to has chosen the address.
        hasLeftOrigin = guide == .otherOrigin
        var inherited = environment.headers
        if !inherits(from: environment.baseURL) {
            inherited.markSecrets(environment.secretHeaders)
            inherited.removeSecrets()
        }
        if isUnauthenticated { inherited[.authorization] = nil }
        do { try encodeQueries(with: environment.queryEncoder) } catch { throw RequestError(encoding: error) }
        if cachePolicy == .useProtocolCachePolicy { cachePolicy = environment.cachePolicy }
        // Before the base URL is known, whose credentials aren't the request's own.
        if case .url(let url) = address, url.scheme != nil { try moveCredentialsToHeader() }
        var inheritedQuery = inheritedQuery(of: environment)
        inheritedQuery.adopt(environment.queryEncoder.encoding)
        let own = query
        try resolve(baseURL: environment.baseURL, inheriting: inheritedQuery)
        if case .parameter(let item) = guide { replaceParameter(item, style: own) }
        return applyHeaders(of: inherited)
    }

    /// The query parameters that the request inherits: to an address that a response names, those that it lacks.
    private func inheritedQuery(of environment: RequestEnvironment) -> Query {
        guard guide == .origin, !environment.query.isEmpty else { return environment.query }
        let present = Query(percentEncoded: url.query(percentEncoded: true) ?? "")
        var inherited = environment.query
        inherited.removeAll { present.contains($0.name) }
        return inherited
    }
}

/// Tells the fields of a request that are its own from those that it was given on behalf of an origin.
///
/// Its own are those that it was described with, and those of its own authentication. The others come from the
/// environment and from interceptors, and their secrets are for the origin that the request had then.
struct OwnFields: Sendable {
    /// What the request was described with.
    let described: HTTPHeaders
    /// What the environment has for every request.
    let inherited: HTTPHeaders
    /// What the request had when only its own authentication had come to what it inherits; nil before that.
    var authenticated: HTTPHeaders?

    func contains(_ field: HTTPField) -> Bool {
        described.contains(field) || authenticated?.contains(field) == true && !inherited.contains(field)
    }
}

extension HTTPRequest {
    /// Sees to the secrets after the request was changed: what was marked stays marked, and where the change
    /// leads to another origin, secrets that the request had before, and that aren't its own, don't go there.
    ///
    /// - Parameters:
    ///   - former: The request before the change.
    ///   - own: The fields that go where the request goes.
    ///   - baseURL: What a relative address is appended to.
    /// - Complexity: O(n) in the number of fields, as long as the origin is the same.
    mutating func keepSecrets(of former: FormerRequest, own: OwnFields, baseURL: URL?) {
        let marked = former.headers.markedSecrets
        if !marked.isEmpty { headers.markSecrets(marked) }
        // To compare addresses is cheaper than to take them apart, and nearly always enough.
        if case .url(let url) = address, case .url(let other) = former.address, url == other { return }
        guard origin(in: baseURL) != former.address.origin(in: baseURL) else { return }
        let dropped = former.headers.secrets.filter { !own.contains($0) }
        headers.removeAll { dropped.contains($0) }
        // What answers now hasn't seen the credentials, and its refusal says nothing about them.
        credentialGenerations = credentialGenerations.filter { former.credentialGenerations[$0.key] != $0.value }
    }
}

/// What there is to remember of a request that is about to be changed, to see to its secrets afterwards.
struct FormerRequest: Sendable {
    let address: Address
    let headers: HTTPHeaders
    let credentialGenerations: [ObjectIdentifier: Int]

    init(_ request: HTTPRequest) {
        (address, headers) = (request.address, request.headers)
        credentialGenerations = request.credentialGenerations
    }
}
