// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The options of one handle: a request in libcurl's terms.
///
/// It retains the memory that they point to.
final class CurlOptions {
    private let destination: CurlDestination
    private let trust: CurlTrust?
    /// The maximum time for making a connection, including the look-up.
    private let connectTimeout: Duration
    private let fields: Fields
    private var addresses: OpaquePointer?
    /// The content of a small body, which is sent in one piece with the head.
    private let content: UnsafeMutableRawBufferPointer?
    private let newsreader: UnsafeMutablePointer<CCurlNewsreader>?
    private let errorText: UnsafeMutablePointer<CChar>
    private static let errorTextSize = 256

    /// - Parameters:
    ///   - request: The request.
    ///   - destination: The destination of the request.
    ///   - connectTimeout: The maximum time for making a connection, including the look-up.
    ///   - decodesContent: Whether the transport decodes content.
    /// - Throws: A ``RequestError`` if libcurl doesn't support a requirement for the connection; ``InvalidRequest`` if a
    ///   field isn't one line, or a file can't be read.
    init(
        _ request: TransportRequest,
        to destination: CurlDestination,
        connectTimeout: Duration,
        decodesContent: Bool
    ) throws {
        guard request.method.rawValue.isToken else {
            throw InvalidRequest(.method, "isn't valid", excerpt: request.method.rawValue)
        }
        self.destination = destination
        self.connectTimeout = connectTimeout
        trust = try CurlTrustCache.shared.trust(for: request)
        let content = try Self.content(of: request.body)
        do {
            fields = try Fields(of: request, decodesContent: decodesContent, isPosted: content != nil)
        } catch {
            content?.deallocate()
            throw error
        }
        self.content = content
        newsreader = destination.isSecure ? .allocate(capacity: 1) : nil
        newsreader?.initialize(to: CCurlNewsreader())
        errorText = .allocate(capacity: Self.errorTextSize)
        errorText.initialize(repeating: 0, count: Self.errorTextSize)
    }

    deinit {
        fields.free()
        ccurl_list_free(addresses)
        content?.deallocate()
        newsreader?.deallocate()
        errorText.deallocate()
    }

    // MARK: Content

    /// The byte count of content that is sent in one piece; `nil` for content that is read while it is sent.
    var contentCount: Int? { content?.count }
    /// The part of it that libcurl counts with the head.
    ///
    /// Content with an expectation is sent later.
    var contentInHead: Int { fields.hasExpectation ? 0 : content?.count ?? 0 }

    /// The maximum size of a body that libcurl sends in one piece with the head.
    private static let largestPiece = 64 * 1024 - 1
    /// The maximum size of a file that is read at once: any other is opened when the request has its turn.
    private static let largestFile = 16 * 1024

    private static func content(of body: HTTPBody) throws(InvalidRequest) -> UnsafeMutableRawBufferPointer? {
        let data: Data
        switch body.content {
        case .data(let whole) where whole.count <= largestPiece: data = whole
        case .file(let url):
            // A file that has changed since is left to the pump, which refuses it.
            let size = Int(try CurlBody.sizeOfFile(url))
            guard size <= largestFile, let file = try? FileHandle(forReadingFrom: url) else { return nil }
            let read = size > 0 ? try? file.read(upToCount: size) : Data()
            guard let read, read.count == size else { return nil }
            data = read
        default: return nil
        }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: data.count, alignment: 1)
        data.copyBytes(to: copy)
        return copy
    }

    // MARK: Options

    /// Sets all options.
    ///
    /// - Throws: An error that names the first option that this libcurl refuses, and the reason.
    func apply(
        _ request: TransportRequest,
        to easy: CurlEasy,
        of transfer: CurlTransfer,
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
        let configuration = transfer.loop.configuration
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        let headSize = fields.size + destination.address.utf8.count + 128
        try self.check(headSize: headSize)
        check(ccurl_easy_prepare(easy, transfer.loop.callbacks, context, errorText), "the options of every request")

        set(CCURL_URL, destination.address)
        limitConnecting(to: connectTimeout, easy)
        if Self.needsLargeBuffer(request, to: destination), request.upgrade == nil { set(CCURL_BUFFERSIZE, 128 * 1024) }
        if destination.isSecure {
            set(CCURL_PIPEWAIT, 1)
            // A weight of HTTP/2 is a number from 1 to 256 (RFC 7540, 5.3.2).
            if let priority = request.priority { set(CCURL_STREAM_WEIGHT, 1 + Int(max(0, min(priority, 1)) * 255)) }
            if !configuration.usesHTTP2 || headSize > Self.largestHeadOfHTTP2 || request.upgrade != nil {
                check(ccurl_easy_use_http11(easy), "HTTP/1.1")
            }
            // Any transfer of a connection may receive news about all of them.
            newsreader?.pointee = CCurlNewsreader(callback: news, context: context, is_in_tunnel: false)
            check(ccurl_easy_read_news(easy, newsreader), "the debug function")
            let trust = trust ?? .system
            set(CCURL_SSLVERSION, CurlTrust.number(of: trust.minimumVersion))
            check(trust.apply(to: easy), "the trust policy")
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

        // HTTPGET is the default of a handle. POST and PUT send their length even if it is 0 (RFC 9110, 8.6).
        if let content {
            // This sets the method itself, to POST, whose name is set below.
            check(ccurl_easy_set_content(easy, content.baseAddress, content.count), "the content")
        } else if let body = transfer.body {
            set(CCURL_UPLOAD, 1)
            set(CCURL_UPLOAD_BUFFERSIZE, request.upgrade == nil ? 256 * 1024 : CurlUpgrade.bufferSize)
            if let length = body.length { check(ccurl_easy_set_body_length(easy, length), "the length of the body") }
        }
        let hasContent = content != nil || transfer.body != nil
        if request.method == .head, !hasContent {
            set(CCURL_NO_BODY, 1)
        } else if request.method != .get || hasContent {
            set(CCURL_CUSTOMREQUEST, request.method.rawValue)
        }
        // libcurl sends a request a second time if a kept connection turns out to be closed.
        if !request.method.isIdempotent {
            if !CurlFeatures.loaded.asksBeforeSending { set(CCURL_FRESH_CONNECT, 1) }
            if destination.isSecure { ccurl_easy_send_once(easy) }
        }
        if request.upgrade != nil {
            // libcurl would send the request again, with the bytes of the upgrade.
            set(CCURL_FRESH_CONNECT, 1)
            // Another proxy than one that makes a tunnel would read them.
            if transfer.proxy != nil { set(CCURL_HTTPPROXYTUNNEL, 1) }
        }
        check(ccurl_easy_set_headers(easy, fields.lines), "the header fields")

        if let proxy = transfer.proxy {
            try proxy.validate()
            set(CCURL_PROXY, proxy.text)
            set(CCURL_NOPROXY, "")
        } else {
            // Otherwise libcurl would read the environment. One that is built without proxies doesn't know the option.
            _ = ccurl_easy_set_text(easy, CCURL_NOPROXY, "*")
        }
        if fields.proxyLines != nil {
            check(ccurl_easy_set_proxy_headers(easy, fields.proxyLines), "the header fields of the proxy")
        }
        if let path = configuration.unixSocketPath, !path.isEmpty { set(CCURL_UNIX_SOCKET_PATH, path) }
        if let refusal {
            throw RequestError(.unsupported, phase: .sending, reason: "this libcurl refuses \(refusal)")
        }
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
    private func check(headSize: Int) throws(RequestError) {
        let limit = destination.isSecure ? Self.largestHeadOfTLS : Self.largestHead - contentInHead
        guard headSize > limit else { return }
        let reason = "the head of the request has more than \(limit) bytes"
        throw RequestError(.invalidRequest, phase: .sending, reason: reason)
    }

    // MARK: Connections

    /// Returns why the connection of a transfer must not be used; `nil` if it may be.
    func refusal(of easy: CurlEasy) -> Distrust? { trust?.refusal(of: easy) }

    /// Makes the transfer connect to these addresses, in that order, without a look-up.
    func connect(to addresses: CurlAddresses, _ easy: CurlEasy) {
        self.addresses = ccurl_list_append(self.addresses, addresses.line) ?? self.addresses
        _ = ccurl_easy_set_addresses(easy, self.addresses)
    }

    /// Keeps the transfer from the connections of transfers with a lower number.
    func avoidConnections(before number: Int, _ easy: CurlEasy) {
        (trust ?? .system).setMark(number: number, of: easy)
    }

    /// Sets the maximum time for making a connection.
    func limitConnecting(to time: Duration, _ easy: CurlEasy) {
        // Zero means "no limit" to libcurl.
        _ = ccurl_easy_set_long(easy, CCURL_CONNECTTIMEOUT_MS, Int(max(1, min(time / .milliseconds(1), 1e9))))
    }

    /// Prepares the handle to connect once more: libcurl reads the addresses once, and the time for the connection
    /// begins again.
    func restart(_ easy: CurlEasy) {
        if let addresses { _ = ccurl_easy_set_addresses(easy, addresses) }
        limitConnecting(to: connectTimeout, easy)
    }

    // MARK: Results

    /// Records why the transfer failed, on behalf of libcurl, which never got it.
    func note(_ failure: String) {
        let bytes = failure.utf8.prefix(Self.errorTextSize - 1)
        for (position, byte) in bytes.enumerated() { errorText[position] = CChar(bitPattern: byte) }
        errorText[bytes.count] = 0
    }

    /// The result of a transfer, with libcurl's text for it; to be called before the handle is reused.
    func result(_ code: Int32, of easy: CurlEasy) -> CurlResult {
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

// MARK: - Header fields

extension CurlOptions {
    /// The header fields of a request as lists of lines, made without a string for each.
    private struct Fields {
        /// Null if there are none.
        private(set) var lines: OpaquePointer?
        /// Those that go to the proxy only.
        private(set) var proxyLines: OpaquePointer?
        /// The byte count of the caller's fields.
        private(set) var size = 0
        private(set) var hasExpectation = false

        /// - Parameters:
        ///   - request: The request.
        ///   - decodesContent: Whether the transport decodes content.
        ///   - isPosted: Whether the content is sent in one piece.
        /// - Throws: ``InvalidRequest`` for a field that isn't one line: another transport may have added it.
        init(of request: TransportRequest, decodesContent: Bool, isPosted: Bool) throws(InvalidRequest) {
            var (hasType, hasCodings, hasRange) = (false, false, false)
            for field in request.headers {
                switch field.name {
                case .expect: hasExpectation = true
                case .contentType: hasType = true
                case .acceptEncoding: hasCodings = true
                case .range: hasRange = true
                default: break
                }
                size += field.name.rawValue.utf8.count + field.value.utf8.count + 4
                let isForProxy = field.name == .proxyAuthorization
                guard let longer = Self.append(field, to: isForProxy ? proxyLines : lines) else {
                    free()
                    throw InvalidRequest(.headerName, "or its value isn't valid", excerpt: field.name.rawValue)
                }
                if isForProxy { proxyLines = longer } else { lines = longer }
            }
            // A part of encoded content can't be decoded.
            let codings = hasRange ? "identity" : ContentCoding.accepted
            if let codings, decodesContent, request.decodesContent, !hasCodings {
                append("Accept-Encoding: \(codings)")
            }
            // libcurl sends an expectation before a large body, and waits a second for servers that don't support it.
            if !request.body.isEmpty || request.upgrade != nil, !hasExpectation { append("Expect:") }
            // libcurl would frame the bytes of an upgrade.
            if request.upgrade != nil { append("Transfer-Encoding:") }
            // libcurl takes posted content for a form.
            if isPosted, !hasType { append("Content-Type:") }
            switch request.method {
            case .post, .put, .patch: if request.body.isEmpty { append("Content-Length: 0") }
            default: break
            }
        }

        private mutating func append(_ line: String) {
            lines = ccurl_list_append(lines, line) ?? lines
        }

        /// Returns a list with a field; null if that isn't one line, or memory is short.
        private static func append(_ field: HTTPField, to list: OpaquePointer?) -> OpaquePointer? {
            var (name, value) = (field.name.rawValue, field.value)
            return name.withUTF8 { name in
                value.withUTF8 { value in
                    ccurl_list_append_field(list, name.baseAddress, name.count, value.baseAddress, value.count)
                }
            }
        }

        func free() {
            ccurl_list_free(lines)
            ccurl_list_free(proxyLines)
        }
    }
}
#endif
