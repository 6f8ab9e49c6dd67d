// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The options of one request in libcurl's terms, with the memory that they point to.
struct CurlOptions: ~Copyable {
    private let destination: CurlDestination
    private let trust: CurlTrust?
    /// The maximum time for making a connection, including the look-up.
    private let connectTimeout: Duration
    private let fields: Fields
    private var addresses: OpaquePointer?
    /// The content of a small body, which is sent in one piece with the head.
    private let content: UnsafeMutableRawBufferPointer?
    private let headSize: Int
    /// Separates a tunnel from those that were made with other credentials, for which libcurl doesn't look; `nil`
    /// without any.
    private let tunnelMark: String?
    /// Whether the request needs an HTTP/1.1 connection of its own, while others may share one of HTTP/2.
    let avoidsHTTP2: Bool

    /// - Parameters:
    ///   - request: The request.
    ///   - destination: The destination of the request.
    ///   - proxy: The proxy that it goes to; `nil` if it goes to the host.
    ///   - connectTimeout: The maximum time for making a connection, including the look-up.
    ///   - decodesContent: Whether the transport decodes content.
    /// - Throws: A ``RequestError`` if libcurl doesn't support a requirement for the connection; ``InvalidValue`` if
    ///   a field isn't one line, or a file can't be read.
    init(
        _ request: TransportRequest,
        to destination: CurlDestination,
        over proxy: CurlProxies.Proxy?,
        connectTimeout: Duration,
        decodesContent: Bool
    ) throws {
        guard request.method.rawValue.isToken else {
            throw InvalidValue(.method, "isn't valid", excerpt: request.method.rawValue)
        }
        let trust = try CurlTrustCache.shared.trust(for: request)
        let content = try Self.content(of: request.body)
        // libcurl before 8 names the host in the form of the one before it on a connection to a proxy, with the brackets
        // of an address of IPv6.
        let host = proxy == nil || destination.isSecure ? nil : String(destination.authority)
        let fields: Fields
        do {
            fields = try Fields(of: request, to: host, decodesContent: decodesContent, isPosted: content != nil)
        } catch {
            content?.deallocate()
            throw error
        }
        (self.destination, self.connectTimeout, self.trust) = (destination, connectTimeout, trust)
        (self.fields, self.content) = (fields, content)
        let credentials = destination.isSecure ? request.headers[.proxyAuthorization] : nil
        tunnelMark = credentials.map { SHA256.digest(of: Authorization($0).identity.utf8).hexadecimal }
        headSize = fields.size + destination.url.utf8.count + 128
        let needsHTTP11 = !request.usesHTTP2 || request.upgrade != nil || headSize > Self.largestHeadOfHTTP2
        avoidsHTTP2 = destination.isSecure && needsHTTP11
    }

    deinit {
        fields.free()
        ccurl_lines_free(addresses)
        content?.deallocate()
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

    private static func content(of body: HTTPBody) throws(InvalidValue) -> UnsafeMutableRawBufferPointer? {
        let data: Data
        switch body.content {
        case .data(let whole) where whole.count <= largestPiece: data = whole
        case .file(let url):
            // A file that has changed since is left to the pump, which refuses it.
            let size = Int(try url.fileSize())
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

    /// Sets options of a handle, up to the first that this libcurl refuses.
    private struct Setter {
        let easy: CurlEasy
        private var refusal: String?

        init(_ easy: CurlEasy) { self.easy = easy }

        mutating func check(_ code: Int32, _ option: @autoclosure () -> String) {
            guard code != 0, refusal == nil else { return }
            refusal = "\(option()): \(String(cString: ccurl_error_text(code)))"
        }

        mutating func set(_ option: CCurlLongOption, _ value: Int) {
            check(ccurl_easy_set_long(easy, option, value), "option \(option.rawValue)")
        }

        mutating func set(_ option: CCurlTextOption, _ value: String) {
            check(value.withCString { ccurl_easy_set_text(easy, option, $0) }, "option \(option.rawValue)")
        }

        /// - Throws: An error that names the first option that this libcurl refuses, and the reason.
        func finish() throws(RequestError) {
            guard let refusal else { return }
            throw RequestError(.unsupported, phase: .sending, reason: "this libcurl refuses \(firstFailure)")
        }
    }

    /// Sets the options that all requests of a loop have, with or without TLS.
    private func prepare(_ handle: CurlHandle, for loop: CurlLoop) throws(RequestError) {
        let configuration = loop.configuration
        var options = Setter(handle.pointee.easy)
        options.check(ccurl_handle_prepare(handle, loop.callbacks), "the options of every request")
        if destination.isSecure {
            options.set(CCURL_BUFFERSIZE, Self.largeBuffer)
            options.set(CCURL_PIPEWAIT, 1)
            if !configuration.usesHTTP2 { options.check(ccurl_easy_use_http11(options.easy), "HTTP/1.1") }
            // Any transfer of a connection may receive news about all of them.
            options.check(ccurl_handle_read_news(handle), "the debug function")
            let trust = trust ?? .system
            options.set(CCURL_SSLVERSION, CurlTrust.optionValue(of: trust.minimumVersion))
            options.check(trust.apply(to: handle), "the trust policy")
        }
        if CurlFeatures.loaded.usesOpenSSL, destination.isSecure || loop.proxies.mayUseTLS {
            options.check(
                ccurl_handle_prepare_openssl(
                    handle,
                    configuration.acceptsMissingCloseNotify,
                    !loop.proxies.mayUseTLS
                ),
                "the options of new connections"
            )
        }
        // libcurl copies the paths of authorities for each transfer, also if no connection of it can need them.
        let paths = destination.isSecure ? [] : [CCURL_CAINFO, CCURL_CAPATH]
        let pathsOfProxies = loop.proxies.mayUseTLS ? [] : [CCURL_PROXY_CAINFO, CCURL_PROXY_CAPATH]
        for option in paths + pathsOfProxies { _ = ccurl_easy_set_text(options.easy, option, nil) }
        // Otherwise libcurl would read the environment variables. A libcurl that was built without proxies doesn't know
        // the option.
        _ = ccurl_easy_set_text(options.easy, CCURL_NOPROXY, "*")
        if let address = configuration.localAddress {
            // A name would be looked up on the loop's thread, where all transfers would wait.
            guard IPAddress(address.prefix { $0 != "%" }) != nil else {
                let reason = "the local address of the transport isn't an address of IPv4 or IPv6"
                throw RequestError(.unsupported, phase: .sending, reason: reason)
            }
            // The prefix keeps it from being taken for the name of an interface.
            options.set(CCURL_INTERFACE, "host!\(address)")
        }
        if let path = configuration.unixSocketPath, !path.isEmpty { options.set(CCURL_UNIX_SOCKET_PATH, path) }
        if let interval = configuration.keepAliveInterval {
            let seconds = max(1, min(Int(interval.clampedNanoseconds / 1_000_000_000), Self.longestKeepAlive))
            options.set(CCURL_TCP_KEEPALIVE, 1)
            options.set(CCURL_TCP_KEEPIDLE, seconds)
            options.set(CCURL_TCP_KEEPINTVL, seconds)
        }
        try options.finish()
    }

    /// Sets all options.
    ///
    /// The usual request is a GET without content. Any other needs options that the next one must not have: its handle
    /// is reset afterwards.
    ///
    /// - Throws: An error that names the first option that this libcurl refuses, and the reason.
    func apply(_ request: TransportRequest, to handle: CurlHandle, of transfer: CurlTransfer) throws(RequestError) {
        try checkHeadSize()
        if !handle.pointee.is_prepared { try prepare(handle, for: transfer.loop) }
        handle.pointee.transfer = Unmanaged.passUnretained(transfer).toOpaque()
        let hasContent = content != nil || transfer.body != nil
        let needsOwnBuffer = !destination.isSecure && request.isStreamed
        handle.pointee.is_prepared =
            trust == nil && transfer.proxy == nil && fields.proxyLines == nil && request.priority == nil
            && request.method == .get && !hasContent && !avoidsHTTP2 && !needsOwnBuffer

        var options = Setter(handle.pointee.easy)
        options.set(CCURL_URL, destination.url)
        limitConnecting(to: connectTimeout, options.easy)
        options.check(ccurl_easy_set_headers(options.easy, fields.lines), "the header fields")
        if needsOwnBuffer { options.set(CCURL_BUFFERSIZE, Self.largeBuffer) }
        if avoidsHTTP2 { options.check(ccurl_easy_use_http11(options.easy), "HTTP/1.1") }
        // A weight of HTTP/2 is a number from 1 to 256 (RFC 7540, 5.3.2).
        if let priority = request.priority, destination.isSecure {
            options.set(CCURL_STREAM_WEIGHT, 1 + Int(max(0, min(priority, 1)) * 255))
        }

        // HTTPGET is the default of a handle. POST and PUT send their length even if it is 0 (RFC 9110, 8.6).
        if let content {
            // This sets the method itself, to POST, whose name is set below.
            options.check(ccurl_easy_set_content(options.easy, content.baseAddress, content.count), "the content")
        } else if let body = transfer.body {
            options.set(CCURL_UPLOAD, 1)
            options.set(CCURL_UPLOAD_BUFFERSIZE, request.upgrade == nil ? 256 * 1024 : CurlUpgrade.bufferSize)
            if let length = body.length {
                options.check(ccurl_easy_set_body_length(options.easy, length), "the length of the body")
            }
        }
        if request.method == .head, !hasContent {
            options.set(CCURL_NO_BODY, 1)
        } else if request.method != .get || hasContent {
            options.set(CCURL_CUSTOMREQUEST, request.method.rawValue)
        }
        // libcurl sends a request a second time if a kept connection turns out to be closed.
        if !request.method.isIdempotent {
            if !CurlFeatures.loaded.hasPrerequestCallback { options.set(CCURL_FRESH_CONNECT, 1) }
            if destination.isSecure { ccurl_easy_send_once(options.easy) }
        }
        if request.upgrade != nil {
            // A socket may wait for hours, and has no large heads.
            options.set(CCURL_BUFFERSIZE, Self.smallBuffer)
            // libcurl would send the request again, with the bytes of the upgrade.
            options.set(CCURL_FRESH_CONNECT, 1)
            // A proxy that makes no tunnel would read those bytes.
            if transfer.proxy != nil { options.set(CCURL_HTTPPROXYTUNNEL, 1) }
        }
        if let proxy = transfer.proxy {
            try proxy.validate()
            options.set(CCURL_PROXY, proxy.url)
            options.set(CCURL_NOPROXY, "")
        }
        if let tunnelMark, !(trust ?? .system).setPoolKey(tunnelMark, of: options.easy) {
            options.set(CCURL_FRESH_CONNECT, 1)
            options.set(CCURL_FORBID_REUSE, 1)
        }
        if fields.proxyLines != nil {
            let code = ccurl_easy_set_proxy_headers(options.easy, fields.proxyLines)
            options.check(code, "the header fields of the proxy")
        }
        try options.finish()
    }

    /// The size of a buffer that is larger than libcurl's own.
    ///
    /// It is used for transfers that may be large and don't go to memory, and for the heads of HTTP/2: libcurl accepts
    /// a head of up to that size, but loses the rest of one that is larger than its buffer.
    private static let largeBuffer = 128 * 1024
    /// The size of libcurl's own buffer.
    private static let smallBuffer = 16 * 1024
    /// The maximum number of seconds that the system accepts for keeping a connection alive.
    private static let longestKeepAlive = 32_767
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

    // MARK: Connections

    /// Returns why the connection of a transfer must not be used; `nil` if it may be.
    func refusal(of easy: CurlEasy) -> TrustFailure? { trust?.refusal(of: easy) }

    /// Makes the transfer connect to the addresses of its host and of its proxy, without a look-up; called once.
    mutating func connect(to addresses: [CurlAddresses], _ handle: CurlHandle) {
        let lines = addresses.map(\.resolveEntry)
        self.addresses = ccurl_lines_new(lines.count, lines.reduce(0) { $0 + $1.utf8.count })
        for line in lines { _ = ccurl_lines_add(self.addresses, line) }
        _ = ccurl_easy_set_addresses(handle.pointee.easy, self.addresses)
        handle.pointee.is_prepared = false
    }

    /// Keeps the transfer from the connections of transfers with a lower number.
    func avoidConnections(before number: Int, _ handle: CurlHandle) {
        let marks = [tunnelMark, "\(number)"].compactMap(\.self)
        _ = (trust ?? .system).setPoolKey(marks.joined(separator: "-"), of: handle.pointee.easy)
        handle.pointee.is_prepared = false
    }

    /// Keeps the transfer from all open connections.
    func avoidConnections(_ handle: CurlHandle) {
        _ = ccurl_easy_set_long(handle.pointee.easy, CCURL_FRESH_CONNECT, 1)
        handle.pointee.is_prepared = false
    }

    /// Whether the transfer can be kept from connections that libcurl would choose.
    var canAvoidConnections: Bool { (trust ?? .system).supportsPoolKeys }

    /// Sets the maximum time for making a connection.
    func limitConnecting(to time: Duration, _ easy: CurlEasy) {
        // Zero means "no limit" to libcurl.
        let milliseconds = max(1, min(time.clampedNanoseconds / 1_000_000, 1_000_000_000))
        _ = ccurl_easy_set_long(easy, CCURL_CONNECTTIMEOUT_MS, Int(milliseconds))
    }

    /// Prepares the handle to connect once more: libcurl reads the addresses once, and the time for the connection
    /// begins again.
    func restart(_ easy: CurlEasy) {
        if let addresses { _ = ccurl_easy_set_addresses(easy, addresses) }
        limitConnecting(to: connectTimeout, easy)
    }

    // MARK: Results

    /// The result of a transfer, with libcurl's text for it; to be called before the handle is reused.
    static func result(_ code: Int32, of handle: CurlHandle) -> CurlResult {
        guard code != 0 else { return CurlResult(code: 0, text: "") }
        let (easy, own) = (handle.pointee.easy, String(cString: ccurl_handle_error(handle)))
        // A text with an at sign may show the password of a proxy.
        let isFit = !own.isEmpty && !own.utf8.contains(UInt8(ascii: "@"))
        return CurlResult(
            code: code,
            text: isFit ? own : String(cString: ccurl_error_text(code)),
            verification: ccurl_easy_long(easy, CCURL_INFO_SSL_VERIFYRESULT),
            tunnelStatus: ccurl_easy_long(easy, CCURL_INFO_HTTP_CONNECTCODE),
            hasMessage: !own.isEmpty
        )
    }
}

// MARK: - Header fields

extension CurlOptions {
    /// The header fields of a request as lists of lines, made without a string for each.
    private struct Fields {
        /// The maximum number of lines that the library adds, and of their bytes.
        private static let (mostOwn, largestOwn) = (8, 512)

        /// Null if out of memory.
        let lines: OpaquePointer?
        /// The lines for the proxy only; null if there are none.
        private(set) var proxyLines: OpaquePointer?
        /// The byte count of the caller's fields.
        private(set) var size = 0
        private(set) var hasExpectation = false

        /// - Parameters:
        ///   - request: The request.
        ///   - host: The value of `Host`; `nil` leaves it to libcurl.
        ///   - decodesContent: Whether the transport decodes content.
        ///   - isPosted: Whether the content is sent in one piece.
        /// - Throws: ``InvalidValue`` for a field that isn't one line: another transport may have added it.
        init(
            of request: TransportRequest,
            to host: String?,
            decodesContent: Bool,
            isPosted: Bool
        ) throws(InvalidValue) {
            var (hasType, hasCodings, hasRange, hasHost) = (false, false, false, false)
            for field in request.headers {
                switch field.name {
                case .expect: hasExpectation = true
                case .contentType: hasType = true
                case .acceptEncoding: hasCodings = true
                case .range: hasRange = true
                case .host: hasHost = true
                default: break
                }
                size += field.name.rawValue.utf8.count + field.value.utf8.count + 4
            }
            let count = request.headers.count
            let ownSize = Self.largestOwn + (host?.utf8.count ?? 0)
            lines = ccurl_lines_new(count + Self.mostOwn, size + ownSize)
            for field in request.headers {
                let isForProxy = field.name == .proxyAuthorization
                if isForProxy, proxyLines == nil { proxyLines = ccurl_lines_new(count, size) }
                guard Self.append(field, to: isForProxy ? proxyLines : lines) else {
                    free()
                    throw InvalidValue(.headerName, "or its value isn't valid", excerpt: field.name.rawValue)
                }
            }
            if let host, !hasHost { append("Host: \(host)") }
            // A part of encoded content can't be decoded.
            if decodesContent, request.decodesContent, !hasCodings {
                append(hasRange ? "Accept-Encoding: identity" : ContentCoding.acceptLine)
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

        private func append(_ line: String?) {
            _ = line?.withCString { ccurl_lines_add(lines, $0) }
        }

        /// Appends a field; `false` if that isn't one line, or if out of memory.
        private static func append(_ field: HTTPField, to lines: OpaquePointer?) -> Bool {
            guard let lines else { return false }
            var (name, value) = (field.name.rawValue, field.value)
            return name.withUTF8 { name in
                value.withUTF8 { value in
                    ccurl_lines_add_field(lines, name.baseAddress, name.count, value.baseAddress, value.count)
                }
            }
        }

        func free() {
            ccurl_lines_free(lines)
            ccurl_lines_free(proxyLines)
        }
    }
}
#endif
