// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The options of one handle: a request in libcurl's terms.
///
/// It retains the memory that they point to.
final class CurlOptions {
    private let request: TransportRequest
    private let configuration: CurlTransport.Configuration
    private let trust: CurlTrust?
    private let headers: OpaquePointer?
    private let proxyHeaders: OpaquePointer?
    private let destination: CurlDestination
    private var addresses: OpaquePointer?
    /// The content of a small body, which is sent in one piece with the head.
    private let content: UnsafeMutableRawBufferPointer?
    private let newsreader: UnsafeMutablePointer<CCurlNewsreader>?
    private let errorText: UnsafeMutablePointer<CChar>
    private static let errorTextSize = 256

    /// - Parameters:
    ///   - request: The request.
    ///   - destination: The destination of the request.
    ///   - configuration: The configuration of the transport.
    ///   - trust: The requirements for its connection, if they differ from the default.
    /// - Throws: ``InvalidRequest`` if a field isn't one line, or a file can't be read.
    init(
        _ request: TransportRequest,
        to destination: CurlDestination,
        _ configuration: CurlTransport.Configuration,
        trust: CurlTrust?
    ) throws(InvalidRequest) {
        guard request.method.rawValue.isToken else {
            throw InvalidRequest(.method, "isn't valid", excerpt: request.method.rawValue)
        }
        self.request = request
        self.destination = destination
        self.configuration = configuration
        self.trust = trust
        content = try Self.content(of: request.body)
        let accepted = configuration.decodesContent ? Self.acceptedCodings(of: request) : nil
        headers = try Self.headers(of: request, acceptedCodings: accepted, isPosted: content != nil)
        proxyHeaders = try Self.list(of: request.headers.filter { $0.name == .proxyAuthorization })
        newsreader = destination.isSecure ? .allocate(capacity: 1) : nil
        newsreader?.initialize(to: CCurlNewsreader())
        errorText = .allocate(capacity: Self.errorTextSize)
        errorText.initialize(repeating: 0, count: Self.errorTextSize)
    }

    deinit {
        ccurl_list_free(headers)
        ccurl_list_free(proxyHeaders)
        ccurl_list_free(addresses)
        content?.deallocate()
        newsreader?.deallocate()
        errorText.deallocate()
    }

    /// The byte count of content that is sent in one piece; `nil` for content that is read while it is sent.
    var contentCount: Int? { content?.count }
    /// The part of it that libcurl counts with the head.
    ///
    /// Content with an expectation is sent later.
    var contentInHead: Int { request.headers.contains(.expect) ? 0 : content?.count ?? 0 }

    /// The maximum size of a body that libcurl sends in one piece with the head.
    private static let largestPiece = 64 * 1024 - 1
    /// The maximum size of a file that is read at once: any other is opened when the request has its turn.
    private static let largestFile = 16 * 1024

    private static func content(of body: HTTPBody) throws(InvalidRequest) -> UnsafeMutableRawBufferPointer? {
        switch body.content {
        case .data(let data) where data.count <= largestPiece: return copy(data)
        case .file(let url):
            guard try CurlBody.sizeOfFile(url) <= largestFile, let data = try? Data(contentsOf: url) else { return nil }
            return copy(data)
        default: return nil
        }
    }

    private static func copy(_ data: Data) -> UnsafeMutableRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: data.count, alignment: 1)
        data.copyBytes(to: copy)
        return copy
    }

    /// Returns why the connection of a transfer must not be used; `nil` if it may be.
    func refusal(of easy: OpaquePointer) -> Distrust? {
        trust?.refusal(of: easy, for: request.url.wireHost ?? "")
    }

    /// Sets all options.
    ///
    /// - Throws: An error that names the first option that this libcurl refuses, and the reason.
    func apply(
        to easy: OpaquePointer,
        context: UnsafeMutableRawPointer,
        body: CurlBody?,
        proxy: CurlProxies.Proxy?,
        callbacks: UnsafePointer<CCurlCallbacks>,
        news: @escaping @convention(c) (UnsafeMutableRawPointer?, CCurlNews, UInt32, UnsafePointer<CChar>?) -> Void
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
        try checkHeadSize()
        check(ccurl_easy_prepare(easy, callbacks, context, errorText), "the options of every request")

        set(CCURL_URL, destination.address)
        set(CCURL_CONNECTTIMEOUT_MS, patience.milliseconds)
        if Self.needsLargeBuffer(request, to: destination) { set(CCURL_BUFFERSIZE, 128 * 1024) }
        if destination.isSecure {
            set(CCURL_PIPEWAIT, 1)
            // A weight of HTTP/2 is a number from 1 to 256 (RFC 7540, 5.3.2).
            if let priority = request.priority { set(CCURL_STREAM_WEIGHT, 1 + Int(max(0, min(priority, 1)) * 255)) }
            if !configuration.usesHTTP2 || headSize > Self.largestHeadOfHTTP2 {
                check(ccurl_easy_use_http11(easy), "HTTP/1.1")
            }
            // Any transfer of a connection may receive news about all of them.
            newsreader?.pointee = CCurlNewsreader(callback: news, context: context, is_in_tunnel: false)
            check(ccurl_easy_read_news(easy, newsreader), "the debug function")
        }
        if let address = configuration.localAddress {
            // A name would be looked up on the loop's thread, where all transfers would wait.
            guard IPAddress(address.prefix { $0 != "%" }) != nil else {
                let reason = "the local address of the transport isn't an address of IPv4 or IPv6"
                throw RequestError(.unsupported, phase: .sending, reason: reason)
            }
            // The prefix keeps it from being taken for the name of an interface.
            set(CCURL_INTERFACE, "host!\(address)")
        }
        setMethod(body, set, set)
        if let content {
            check(ccurl_easy_set_content(easy, content.baseAddress, content.count), "the content")
        } else if let body, let length = body.length {
            check(ccurl_easy_set_body_length(easy, length), "the length of the body")
        }
        // libcurl sends a request a second time if a kept connection turns out to be closed.
        if !request.method.isIdempotent {
            if !CurlFeatures.loaded.asksBeforeSending { set(CCURL_FRESH_CONNECT, 1) }
            if destination.isSecure { ccurl_easy_send_once(easy) }
        }
        if let proxy {
            try proxy.validate()
            set(CCURL_PROXY, proxy.text)
            set(CCURL_NOPROXY, "")
        } else {
            // Otherwise libcurl would read the environment. One that is built without proxies doesn't know the option.
            _ = ccurl_easy_set_text(easy, CCURL_NOPROXY, "*")
        }
        if let path = configuration.unixSocketPath, !path.isEmpty { set(CCURL_UNIX_SOCKET_PATH, path) }
        if destination.isSecure {
            let trust = trust ?? .system
            set(CCURL_SSLVERSION, CurlTrust.number(of: trust.minimumVersion))
            check(trust.apply(to: easy), "the trust policy")
        }
        check(ccurl_easy_set_headers(easy, headers), "the header fields")
        if let proxyHeaders {
            check(ccurl_easy_set_proxy_headers(easy, proxyHeaders), "the header fields of the proxy")
        }
        if let refusal {
            throw RequestError(.unsupported, phase: .sending, reason: "this libcurl refuses \(refusal)")
        }
    }

    /// The maximum time for making a connection, including the look-up.
    var patience: Duration { min(request.timeout ?? .seconds(60), configuration.connectTimeout) }

    /// Makes the transfer connect to these addresses, in that order, without a look-up.
    func connect(to addresses: CurlAddresses, _ easy: OpaquePointer) {
        self.addresses = ccurl_list_append(self.addresses, addresses.line) ?? self.addresses
        _ = ccurl_easy_set_addresses(easy, self.addresses)
    }

    /// Keeps the transfer from the connections of transfers with a lower number.
    func avoidConnections(before number: Int, _ easy: OpaquePointer) {
        (trust ?? .system).setMark(number: number, of: easy)
    }

    /// Sets the maximum time for making a connection.
    func limitConnecting(to time: Duration, _ easy: OpaquePointer) {
        _ = ccurl_easy_set_long(easy, CCURL_CONNECTTIMEOUT_MS, time.milliseconds)
    }

    /// Prepares the handle to connect once more: libcurl reads the addresses once, and the time for the connection
    /// begins again.
    func restart(_ easy: OpaquePointer) {
        if let addresses { _ = ccurl_easy_set_addresses(easy, addresses) }
        _ = ccurl_easy_set_long(easy, CCURL_CONNECTTIMEOUT_MS, patience.milliseconds)
    }

    /// Records why the transfer failed, on behalf of libcurl, which never got it.
    func note(_ failure: String) {
        let bytes = failure.utf8.prefix(Self.errorTextSize - 1)
        for (position, byte) in bytes.enumerated() { errorText[position] = CChar(bitPattern: byte) }
        errorText[bytes.count] = 0
    }

    /// Whether a transfer needs a buffer that is larger than libcurl's own, and a new handle for it: a used handle
    /// keeps its buffer.
    ///
    /// Transfers need one if they don't go to memory, and may be large, and for the heads of HTTP/2. libcurl accepts a
    /// head of up to that size, but loses the rest of one that is larger than its buffer.
    static func needsLargeBuffer(_ request: TransportRequest, to destination: CurlDestination) -> Bool {
        request.isStreamed || destination.isSecure
    }

    /// The maximum head over HTTP/2.
    private static let largestHeadOfHTTP2 = 48 * 1024
    /// The maximum head over TLS.
    private static let largestHeadOfTLS = 128 * 1024
    /// The maximum head that libcurl makes, with content in one piece.
    private static let largestHead = 1_000_000

    /// Refuses a head that libcurl can't send.
    ///
    /// libcurl has a buffer for a head, and waits for ever for room in it: a small one with HTTP/2, a larger one with
    /// TLS. For any other head that is too large, it reports that memory is short.
    private func checkHeadSize() throws(RequestError) {
        let limit = destination.isSecure ? Self.largestHeadOfTLS : Self.largestHead - contentInHead
        guard headSize > limit else { return }
        let reason = "the head of the request has more than \(limit) bytes"
        throw RequestError(.invalidRequest, phase: .sending, reason: reason)
    }

    /// The approximate byte count of the request's head.
    private var headSize: Int {
        request.headers.reduce(destination.address.utf8.count + 128) { size, field in
            size + field.name.rawValue.utf8.count + field.value.utf8.count + 4
        }
    }

    // HTTPGET is the default of a handle. POST and PUT send their length even if it is 0 (RFC 9110, 8.6).
    private func setMethod(
        _ body: CurlBody?,
        _ setLong: (CCurlLongOption, Int) -> Void,
        _ setText: (CCurlTextOption, String) -> Void
    ) {
        let hasContent = body != nil || content != nil
        // Content that is read while it is sent. Content in one piece sets the method itself, to POST, whose name is
        // set below.
        if body != nil {
            setLong(CCURL_UPLOAD, 1)
            setLong(CCURL_UPLOAD_BUFFERSIZE, 256 * 1024)
        } else if request.method == .head, !hasContent {
            return setLong(CCURL_NO_BODY, 1)
        }
        if request.method != .get || hasContent { setText(CCURL_CUSTOMREQUEST, request.method.rawValue) }
    }

    /// The codings that the transport asks for; `nil` if the caller sets them.
    ///
    /// A part of encoded content can't be decoded.
    private static func acceptedCodings(of request: TransportRequest) -> String? {
        guard request.decodesContent, !request.headers.contains(.acceptEncoding) else { return nil }
        return request.headers.contains(.range) ? "identity" : ContentCoding.accepted
    }

    /// The header lines, or null.
    private static func headers(
        of request: TransportRequest,
        acceptedCodings: String?,
        isPosted: Bool
    ) throws(InvalidRequest) -> OpaquePointer? {
        var list = try Self.list(of: request.headers.lazy.filter { $0.name != .proxyAuthorization })
        func append(_ line: String) {
            list = ccurl_list_append(list, line) ?? list
        }
        if let acceptedCodings { append("\(HTTPField.Name.acceptEncoding.rawValue): \(acceptedCodings)") }
        // libcurl sends an expectation before a large body, and waits a second for servers that don't support it.
        if !request.body.isEmpty, !request.headers.contains(.expect) { append("Expect:") }
        // libcurl takes posted content for a form.
        if isPosted, !request.headers.contains(.contentType) { append("Content-Type:") }
        switch request.method {
        case .post, .put, .patch: if request.body.isEmpty { append("Content-Length: 0") }
        default: break
        }
        return list
    }

    /// The lines of header fields, made without a string for each; null for an empty list.
    ///
    /// - Throws: ``InvalidRequest`` for a field that isn't one line: another transport may have added it.
    private static func list(of fields: some Sequence<HTTPField>) throws(InvalidRequest) -> OpaquePointer? {
        var list: OpaquePointer?
        for field in fields {
            var (name, value) = (field.name.rawValue, field.value)
            let longer = name.withUTF8 { name in
                value.withUTF8 { value in
                    ccurl_list_append_field(list, name.baseAddress, name.count, value.baseAddress, value.count)
                }
            }
            guard let longer else {
                ccurl_list_free(list)
                throw InvalidRequest(.headerName, "or its value isn't valid", excerpt: field.name.rawValue)
            }
            list = longer
        }
        return list
    }

    /// The result of a transfer, with libcurl's text for it; to be called before the handle is reused.
    func result(_ code: Int32, of easy: OpaquePointer) -> CurlResult {
        guard code != 0 else { return CurlResult(code: 0, text: "") }
        let own = String(cString: errorText)
        // A text with an at sign may show the password of a proxy.
        let isFit = !own.isEmpty && !own.utf8.contains(UInt8(ascii: "@"))
        return CurlResult(
            code: code,
            text: isFit ? own : String(cString: ccurl_error_text(code)),
            verification: ccurl_easy_long(easy, CCURL_INFO_SSL_VERIFYRESULT),
            tunnelStatus: ccurl_easy_long(easy, CCURL_INFO_HTTP_CONNECTCODE),
            hasReason: !own.isEmpty
        )
    }
}

extension Duration {
    /// In whole milliseconds, at least one: zero means "no limit" to libcurl.
    fileprivate var milliseconds: Int { Int(max(1, min(self / .milliseconds(1), 1e9))) }
}
#endif
