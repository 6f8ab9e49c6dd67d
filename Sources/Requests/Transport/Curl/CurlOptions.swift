// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import Foundation

/// The options of one handle: what a request asks for, in libcurl's words.
///
/// Holds what they point to.
final class CurlOptions {
    private let request: TransportRequest
    private let configuration: CurlTransport.Configuration
    private let trust: CurlTrust?
    private let headers: OpaquePointer?
    /// The content of a small body: it goes out in one piece with the head.
    private let content: UnsafeMutableRawBufferPointer?
    private let newsreader: UnsafeMutablePointer<CCurlNewsreader>?
    private let errorText: UnsafeMutablePointer<CChar>
    private static let errorTextSize = 256

    /// - Parameters:
    ///   - request: What is sent.
    ///   - configuration: What the transport is made of.
    ///   - trust: What its connection is asked for, where that isn't what is asked by default.
    init(_ request: TransportRequest, _ configuration: CurlTransport.Configuration, trust: CurlTrust?) {
        self.request = request
        self.configuration = configuration
        self.trust = trust
        content = Self.content(of: request.body)
        headers = Self.headers(of: request, decodesContent: configuration.decodesContent, isPosted: content != nil)
        newsreader = request.isSecure ? .allocate(capacity: 1) : nil
        newsreader?.initialize(to: CCurlNewsreader())
        errorText = .allocate(capacity: Self.errorTextSize)
        errorText.initialize(repeating: 0, count: Self.errorTextSize)
    }

    deinit {
        ccurl_list_free(headers)
        content?.deallocate()
        newsreader?.deallocate()
        errorText.deallocate()
    }

    /// How much content is sent in one piece; nil for what is read while it is sent.
    var contentCount: Int? { content?.count }
    /// How much of that libcurl counts with the head.
    ///
    /// Content that the server is asked about first goes out later.
    var contentInHead: Int { request.headers.contains(.expect) ? 0 : content?.count ?? 0 }

    /// How large a body may be that libcurl sends in one piece with the head.
    private static let largestPiece = 64 * 1024 - 1

    private static func content(of body: HTTPBody) -> UnsafeMutableRawBufferPointer? {
        guard case .data(let data) = body.content, data.count <= largestPiece else { return nil }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: data.count, alignment: 1)
        data.copyBytes(to: copy)
        return copy
    }

    /// Returns why the connection of a transfer isn't to be used; nil if it may be.
    func refusal(of easy: OpaquePointer) -> Distrust? {
        trust?.refusal(of: easy, for: request.url.host(percentEncoded: false) ?? "")
    }

    /// Sets everything.
    ///
    /// - Throws: An error that names the first option that this libcurl refuses, and why.
    func apply(
        to easy: OpaquePointer,
        context: UnsafeMutableRawPointer,
        body: CurlBody?,
        callbacks: UnsafePointer<CCurlCallbacks>,
        news: @escaping @convention(c) (UnsafeMutableRawPointer?, CCurlNews, UInt32) -> Void
    ) throws(RequestError) {
        var refusal: String?
        func check(_ code: Int32, _ option: @autoclosure () -> String) {
            guard code != 0, refusal == nil else { return }
            refusal = "\(option()): \(String(cString: ccurl_error_text(code)))"
        }
        func set(_ option: CCurlLongOption, _ value: Int) {
            check(ccurl_easy_set_long(easy, option, value), "option \(option.rawValue)")
        }
        func set(_ option: CCurlTextOption, _ value: String) {
            check(ccurl_easy_set_text(easy, option, value), "option \(option.rawValue)")
        }
        check(ccurl_easy_prepare(easy, callbacks, context, errorText), "the options of every request")

        set(CCURL_URL, request.url.absoluteString)
        let patience = min(request.timeout ?? .seconds(60), configuration.connectTimeout)
        set(CCURL_CONNECTTIMEOUT_MS, max(1, Int(min(patience / .milliseconds(1), 1e9))))
        if Self.needsLargeBuffer(request) { set(CCURL_BUFFERSIZE, 128 * 1024) }
        if request.isSecure {
            set(CCURL_PIPEWAIT, 1)
            // libcurl has a buffer for a head, and waits for ever for room in it: a small one with HTTP/2, a larger one
            // with TLS.
            guard headSize <= Self.largestHeadOfTLS else {
                let reason = "the head of the request has more than \(Self.largestHeadOfTLS) bytes"
                throw RequestError(.headTooLarge, phase: .sending, reason: reason)
            }
            if headSize > Self.largestHeadOfHTTP2 { check(ccurl_easy_use_http11(easy), "HTTP/1.1") }
            // Any transfer of a connection may be told what has become of all of them.
            newsreader?.pointee = CCurlNewsreader(callback: news, context: context)
            check(ccurl_easy_read_news(easy, newsreader), "the debug function")
        }
        setMethod(body, set, set)
        if let content {
            check(ccurl_easy_set_content(easy, content.baseAddress, content.count), "the content")
        } else if let body, let length = body.length {
            check(ccurl_easy_set_body_length(easy, length), "the length of the body")
        }
        if configuration.decodesContent {
            // An empty list is all that this libcurl can decode. The caller's own is sent instead, and decoded
            // likewise.
            set(CCURL_ACCEPT_ENCODING, request.headers[.acceptEncoding] ?? "")
        } else {
            set(CCURL_HTTP_CONTENT_DECODING, 0)
        }
        // A kept connection that turns out to be closed is what libcurl sends a request a second time for.
        if !request.method.isIdempotent, !ccurl_asks_before_sending() { set(CCURL_FRESH_CONNECT, 1) }
        if let proxy = configuration.proxy {
            set(CCURL_PROXY, proxy)
            // Else the environment had a say in which hosts it is for.
            set(CCURL_NOPROXY, "")
        }
        if let path = configuration.unixSocketPath { set(CCURL_UNIX_SOCKET_PATH, path) }
        set(CCURL_SSLVERSION, CurlTrust.number(of: trust?.minimumVersion ?? .tls12))
        if let trust { check(trust.apply(to: easy), "the trust policy") }
        check(ccurl_easy_set_headers(easy, headers), "the header fields")
        if let refusal {
            throw RequestError(.unsupported, phase: .sending, reason: "this libcurl refuses \(refusal)")
        }
    }

    /// Whether a transfer needs a buffer that is larger than libcurl's own, and a new handle for it: one that has served
    /// keeps its buffer.
    ///
    /// For what goes elsewhere than to memory, and may be large; and for the heads of HTTP/2. libcurl takes one of up to
    /// that size, but forgets the rest of one that is larger than its buffer.
    static func needsLargeBuffer(_ request: TransportRequest) -> Bool { request.isStreamed || request.isSecure }

    /// The largest head that goes over HTTP/2.
    private static let largestHeadOfHTTP2 = 48 * 1024
    /// The largest head that goes out with TLS.
    private static let largestHeadOfTLS = 128 * 1024

    /// How many bytes the head of the request has, about.
    private var headSize: Int {
        request.headers.reduce(request.url.absoluteString.utf8.count + 128) { size, field in
            size + field.name.rawValue.utf8.count + field.value.utf8.count + 4
        }
    }

    // HTTPGET is what a handle does anyway. POST and PUT say their length even when it is 0 (RFC 9110, 8.6).
    private func setMethod(
        _ body: CurlBody?,
        _ setLong: (CCurlLongOption, Int) -> Void,
        _ setText: (CCurlTextOption, String) -> Void
    ) {
        let hasContent = body != nil || content != nil
        // What is read while it is sent. Content in one piece sets the method itself, to POST, whose name is set below.
        if body != nil {
            setLong(CCURL_UPLOAD, 1)
            setLong(CCURL_UPLOAD_BUFFERSIZE, 256 * 1024)
        } else if request.method == .head, !hasContent {
            return setLong(CCURL_NOBODY, 1)
        }
        if request.method != .get || hasContent { setText(CCURL_CUSTOMREQUEST, request.method.rawValue) }
    }

    /// The header lines; null for none.
    private static func headers(
        of request: TransportRequest,
        decodesContent: Bool,
        isPosted: Bool
    ) -> OpaquePointer? {
        var list: OpaquePointer?
        func append(_ line: String) {
            // Null where memory is short; the list before it is still good.
            list = ccurl_list_append(list, line) ?? list
        }
        // libcurl sends the codings that it is to decode itself; what it doesn't decode is between caller and server.
        for field in request.headers where !decodesContent || field.name != .acceptEncoding {
            // A name with a semicolon is libcurl's way to say "with an empty value", a value of blanks to say "not at
            // all".
            let isBlank = field.value.allSatisfy { $0 == " " || $0 == "\t" }
            append(isBlank ? "\(field.name.rawValue);" : "\(field.name.rawValue): \(field.value)")
        }
        // libcurl asks before it sends a large body, and waits a second for servers that don't know the question.
        if !request.body.isEmpty, !request.headers.contains(.expect) { append("Expect:") }
        // It takes what it posts for a form.
        if isPosted, !request.headers.contains(.contentType) { append("Content-Type:") }
        switch request.method {
        case .post, .put, .patch: if request.body.isEmpty { append("Content-Length: 0") }
        default: break
        }
        return list
    }

    /// The result of a transfer, with libcurl's text for it; before the handle goes on to another.
    func result(_ code: Int32, of easy: OpaquePointer) -> CurlResult {
        guard code != 0 else { return CurlResult(code: 0, text: "") }
        let own = String(cString: errorText)
        // What has an at sign may show the password of a proxy.
        let isFit = !own.isEmpty && !own.utf8.contains(UInt8(ascii: "@"))
        return CurlResult(
            code: code,
            text: isFit ? own : String(cString: ccurl_error_text(code)),
            verification: ccurl_easy_long(easy, CCURL_INFO_SSL_VERIFYRESULT),
            hasReason: !own.isEmpty
        )
    }
}

extension TransportRequest {
    /// Whether the connection is encrypted.
    fileprivate var isSecure: Bool { url.scheme?.lowercased() == "https" }
}
#endif
