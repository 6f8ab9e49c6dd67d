// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that is being built: starts as the caller's request with inherited settings, and ends as a request to
/// send.
///
/// The steps are synchronous functions, so that a suspended task stores only the request itself.
struct RequestDraft {
    /// The current state of the request.
    var request: HTTPRequest
    /// The fields that came from the body, which may change if the body is replaced.
    private let bodyHeaders: HTTPHeaders
    /// The change of origin that led to this request, if its URL came from a response; otherwise `none`.
    private let originChange: OriginChange
    private let attempt: Attempt

    /// Adds the inherited settings to a request.
    ///
    /// - Throws: ``InvalidValue`` for an invalid URL, or any error that the encoding of the query throws.
    @inline(never)
    init(_ request: HTTPRequest, for attempt: Attempt) throws {
        var request = request
        // The operation has already read the options, so requests that interceptors send on must not contain them
        // again. Only the caller's user info stays with the request.
        let kept = attempt.options.isEmpty ? RequestOptions() : attempt.options.userInfoOnly
        if !request.fields.options.isEmpty || !kept.isEmpty { request.fields.options = kept }
        bodyHeaders = try request.inherit(attempt.environment, attempt.options, attempt.configuration.headerMarks)
        attempt.options.apply(to: &request)
        originChange = request.fields.notes.originChange
        self.request = request
        self.attempt = attempt
    }

    /// Lets the operation change the request, and adds the request's own credentials.
    ///
    /// - Throws: Any error that the operation or the authentication throws.
    @inline(never)
    mutating func authenticate() throws {
        let previous = PreviousRequest(request)
        try attempt.operation.prepare(&request)
        // A signature must cover the content that is sent.
        if request.body.isDeferred {
            request.body = request.body.encodedOnce(using: attempt.environment.makeEncoder)
        }
        try request.authentication.authenticate(&request)
        attempt.attributeChanges(of: &request, to: .caller, since: previous)
    }

    /// Completes the request, so that it can be sent.
    ///
    /// - Throws: Any error that the encoding of the body throws, or ``InvalidValue`` for a request that can't be sent.
    @inline(never)
    consuming func finish() throws -> HTTPRequest {
        // Interceptors may have set a path, added to the query, or set a field that is sensitive in this environment.
        if !request.fields.encodableQueries.isEmpty {
            do { try request.encodeQueries(with: attempt.environment.queryEncoder) } catch {
                throw RequestError(encoding: error)
            }
        }
        try request.resolve(base: attempt.environment.base)
        // After the environment's fields were omitted, an interceptor or the operation's class may have added fields
        // without knowing the new URL.
        request.leaveOriginAgain(after: originChange)
        request.recordAddressOfFields()
        do { try request.resolveBody(implied: bodyHeaders, using: attempt.environment.makeEncoder) } catch {
            throw RequestError(encoding: error)
        }
        try request.validate()
        return request
    }
}

extension HTTPRequest {
    /// Adds the environment's settings that the request lacks, and the header fields of its body.
    ///
    /// These settings are the base URL, the query parameters and the header fields.
    ///
    /// - Returns: The fields that came from the body, for ``resolveBody(implied:)``.
    /// - Throws: ``InvalidValue`` for an invalid URL, or if the base URL was set to `nil`; or any error that the
    ///   encoding of the query throws.
    mutating func inherit(
        _ environment: RequestEnvironment,
        _ options: RequestOptions,
        _ marks: HeaderMarks
    ) throws -> HTTPHeaders {
        guard !environment.lacksBaseURL else {
            let reason = "can't be requested, because the client's base URL was set to nil"
            throw InvalidValue(.url, reason, excerpt: url.redactedDescription)
        }
        let change = originChange(from: environment.base?.url)
        // The request, or its fields, may have been copied from a request that was sent before or passed to an
        // interceptor.
        if fields.notes.headerTargetURL != nil { fields.notes.withheldHeaders = [] }
        let fieldOriginChange =
            fields.notes.headerTargetURL.map { OriginChange(from: Origin($0), to: origin(in: environment.base?.url)) }
            ?? change
        leaveOrigin(fieldOriginChange, except: [.unattributed, .caller, .body, .library])
        // A caller that takes the target of an earlier redirect and sends it again has chosen that URL itself.
        if case .link(let originChange) = fields.notes.addressSource {
            fields.notes.originChange = originChange
        } else {
            fields.notes.originChange = .none
        }
        var inherited = environment.headers
        if change != .none {
            marks.mark(&inherited)
            let names = inherited.removeFields(leftBehindBy: change, withContent: !body.isEmpty)
            fields.notes.withheldHeaders += names.filter { !fields.notes.withheldHeaders.contains($0) }
        }
        if options.isUnauthenticated { inherited[.authorization] = nil }
        if !options.omittedHeaders.isEmpty { inherited.removeAll { options.omittedHeaders.contains($0.name) } }
        do { try encodeQueries(with: environment.queryEncoder) } catch { throw RequestError(encoding: error) }
        if cachePolicy == .useProtocolCachePolicy { cachePolicy = environment.cachePolicy }
        // Do this before the base URL is applied, because the credentials of the base URL aren't the request's own.
        if case .url(let url) = fields.address, url.scheme != nil { try moveCredentialsToHeader() }
        let inheritedQuery = inheritedQuery(of: environment)
        let requestQuery = query
        try resolve(base: environment.base, inheriting: inheritedQuery)
        if case .parameter(let item) = fields.notes.addressSource { replaceParameter(item, style: requestQuery) }
        let bodyHeaders = applyHeaders(of: inherited)
        marks.mark(&headers)
        recordAddressOfFields()
        return bodyHeaders
    }

    /// Records the URL for which header fields have been added.
    mutating func recordAddressOfFields() {
        if case .url(let url) = fields.address { fields.notes.headerTargetURL = url }
    }

    /// Returns the query parameters to inherit; a URL from a response inherits only the parameters that it lacks.
    private func inheritedQuery(of environment: RequestEnvironment) -> Query {
        guard fields.notes.addressSource == .link(.none), !environment.query.isEmpty else { return environment.query }
        let currentQuery = Query(percentEncoded: url.query(percentEncoded: true) ?? "")
        var inherited = environment.query
        inherited.removeAll { currentQuery.contains($0.name) }
        return inherited
    }
}

extension HTTPRequest {
    /// Records who changed the request, and protects its fields if the change leads to another origin.
    ///
    /// Marked fields stay marked. Fields that the caller has set on the request stay, and so do fields that were set
    /// together with the URL. Fields of the environment and of earlier interceptors are removed, because they were
    /// meant for the previous origin.
    ///
    /// - Parameters:
    ///   - source: The source of the change.
    ///   - previous: The request before the change.
    ///   - marks: The marks of header fields.
    ///   - baseURL: The URL that a relative address is appended to.
    /// - Complexity: O(n) in the number of fields.
    mutating func attributeChanges(
        to source: HTTPField.Provenance.Source,
        since previous: PreviousRequest,
        marks: HeaderMarks,
        baseURL: URL?
    ) {
        let marked = previous.headers.markedSecrets
        if !marked.isEmpty { headers.markSecrets(marked) }
        // Most interceptors change nothing, so the checks avoid a copy of the request.
        if !marks.isEmpty { marks.mark(&headers) }
        defer { if headers.hasUnattributedFields { headers.attribute(to: source) } }
        // Comparing URLs is cheaper than parsing them, and nearly always sufficient.
        if case .url(let url) = fields.address, case .url(let other) = previous.address, url == other { return }
        let change = OriginChange(from: previous.address.origin(in: baseURL), to: origin(in: baseURL))
        guard change != .none else { return }
        recordAddressOfFields()
        let generations = fields.notes.credentialGenerations
        leaveOrigin(change, except: [.unattributed, .caller, .body])
        // The new server hasn't seen the earlier credentials, so its refusal doesn't concern them.
        fields.notes.credentialGenerations = generations.filter { previous.credentialGenerations[$0.key] != $0.value }
    }
}

/// The state of a request before a change, recorded to protect its fields afterwards.
struct PreviousRequest: Sendable {
    let address: Address
    let headers: HTTPHeaders
    let credentialGenerations: [ObjectIdentifier: Int]

    init(_ request: HTTPRequest) {
        (address, headers) = (request.fields.address, request.headers)
        credentialGenerations = request.fields.notes.credentialGenerations
    }
}
