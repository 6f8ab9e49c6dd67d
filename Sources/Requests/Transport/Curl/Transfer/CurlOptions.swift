// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The libcurl options of one request, with the memory that they reference.
struct CurlOptions: ~Copyable {
    private let destination: CurlDestination
    private let trust: CurlTrust?
    /// The maximum time for establishing a connection, including the name lookup.
    private let connectTimeout: Duration
    private let fields: Fields
    private var addresses: OpaquePointer?
    /// The content of a small body, which is sent together with the head.
    private let content: UnsafeMutableRawBufferPointer?
    private let headSize: Int
    /// The digest of the proxy credentials, which keeps a tunnel from being reused with others; `nil` if there are
    /// none.
    ///
    /// libcurl doesn't compare the credentials when it reuses a tunnel.
    private let proxyCredentialDigest: String?
    /// Whether the request needs a separate HTTP/1.1 connection to an origin where other requests may share an HTTP/2
    /// connection.
    let avoidsHTTP2: Bool

    /// - Parameters:
    ///   - request: The request.
    ///   - destination: The destination of the request.
    ///   - proxy: The proxy of the request; `nil` for a direct connection.
    ///   - connectTimeout: The maximum time for establishing a connection, including the name lookup.
    ///   - decodesContent: Whether the transport decodes content.
    /// - Throws: A ``RequestError`` if libcurl doesn't support a requirement for the connection; ``InvalidValue`` if a
    ///   header field spans several lines, or a file can't be read.
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
        // Set `Host` explicitly. On a reused proxy connection, libcurl before 8 would format the field as for the
        // previous request, that is, with brackets if the previous host was an IPv6 address.
        let host = proxy == nil || destination.isSecure ? nil : String(destination.authority)
        let fields: Fields
        do {
            fields = try Fields(of: request, to: host, decodesContent: decodesContent, hasInlineContent: content != nil)
        } catch {
            content?.deallocate()
            throw error
        }
        (self.destination, self.connectTimeout, self.trust) = (destination, connectTimeout, trust)
        (self.fields, self.content) = (fields, content)
        let credentials = destination.isSecure ? request.headers[.proxyAuthorization] : nil
        proxyCredentialDigest = credentials.map { SHA256.digest(of: Authorization($0).identity.utf8).hexadecimal }
        headSize = fields.size + destination.url.utf8.count + 128
        let needsHTTP11 = !request.usesHTTP2 || request.upgrade != nil || headSize > Self.maximumHTTP2Head
        avoidsHTTP2 = destination.isSecure && needsHTTP11
    }

    deinit {
        fields.free()
        ccurl_lines_free(addresses)
        content?.deallocate()
    }

    // MARK: Content

    /// The byte count of inline content, which is sent together with the head; `nil` if the content is read while it is
    /// sent.
    var contentCount: Int? { content?.count }
    /// The byte count of content that libcurl counts as part of the head.
    ///
    /// If the request has an `Expect` field, its content is sent later.
    var contentCountInHead: Int { fields.hasExpectation ? 0 : content?.count ?? 0 }

    /// The maximum size of a body that libcurl sends together with the head.
    private static let maximumInlineContent = 64 * 1024 - 1
    /// The maximum size of a file that is read in advance.
    ///
    /// Larger files are opened once the request is admitted.
    private static let maximumInlineFile = 16 * 1024

    private static func content(of body: HTTPBody) throws(InvalidValue) -> UnsafeMutableRawBufferPointer? {
        let data: Data
        switch body.content {
        case .data(let bytes) where bytes.count <= maximumInlineContent: data = bytes
        case .file(let url):
            // A file that has changed in the meantime is left to the pump, which rejects it.
            let size = Int(try url.fileSize())
            guard size <= maximumInlineFile, let file = try? FileHandle(forReadingFrom: url) else { return nil }
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

    /// Sets options of a handle, and records the first option that this libcurl rejects.
    private struct Setter {
        let easy: CurlEasy
        private var firstFailure: String?

        init(_ easy: CurlEasy) { self.easy = easy }

        mutating func check(_ code: Int32, _ option: @autoclosure () -> String) {
            guard code != 0, firstFailure == nil else { return }
            firstFailure = "\(option()): \(String(cString: ccurl_error_text(code)))"
        }

        mutating func set(_ option: CCurlLongOption, _ value: Int) {
            check(ccurl_easy_set_long(easy, option, value), "option \(option.rawValue)")
        }

        mutating func set(_ option: CCurlTextOption, _ value: String) {
            check(value.withCString { ccurl_easy_set_text(easy, option, $0) }, "option \(option.rawValue)")
        }

        /// - Throws: An error with the first option that this libcurl rejects, and the reason.
        func finish() throws(RequestError) {
            guard let firstFailure else { return }
            throw RequestError(.unsupported, phase: .sending, reason: "this version of libcurl rejects \(firstFailure)")
        }
    }

    /// Sets the options that are common to all requests of a loop, with or without TLS.
    private func prepare(_ handle: CurlHandle, for loop: CurlLoop) throws(RequestError) {
        let configuration = loop.configuration
        var options = Setter(handle.pointee.easy)
        options.check(ccurl_handle_prepare(handle, loop.callbacks), "the common options")
        if destination.isSecure {
            options.set(CCURL_BUFFERSIZE, Self.largeBuffer)
            options.set(CCURL_PIPEWAIT, 1)
            if !configuration.usesHTTP2 { options.check(ccurl_easy_use_http11(options.easy), "HTTP/1.1") }
            // Every transfer needs the debug function, because libcurl may report the events of a connection to any of
            // its transfers.
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
                "the options for new connections"
            )
        }
        // Clear the paths of certificate authorities where they aren't needed, because libcurl copies them for each
        // transfer.
        let paths = destination.isSecure ? [] : [CCURL_CAINFO, CCURL_CAPATH]
        let pathsOfProxies = loop.proxies.mayUseTLS ? [] : [CCURL_PROXY_CAINFO, CCURL_PROXY_CAPATH]
        for option in paths + pathsOfProxies { _ = ccurl_easy_set_text(options.easy, option, nil) }
        // Without this option, libcurl would read the environment variables for proxies. The result is ignored, because
        // a libcurl that was built without proxies doesn't support the option.
        _ = ccurl_easy_set_text(options.easy, CCURL_NOPROXY, "*")
        if let address = configuration.localAddress {
            // libcurl would look up a host name on the loop's thread, which would block all transfers.
            guard IPAddress(address.prefix { $0 != "%" }) != nil else {
                let reason = "the transport's local address isn't a valid IPv4 or IPv6 address"
                throw RequestError(.unsupported, phase: .sending, reason: reason)
            }
            // Without the prefix, libcurl might take the address for the name of a network interface.
            options.set(CCURL_INTERFACE, "host!\(address)")
        }
        if let path = configuration.unixSocketPath, !path.isEmpty { options.set(CCURL_UNIX_SOCKET_PATH, path) }
        if let interval = configuration.keepAliveInterval {
            let seconds = max(1, min(Int(interval.clampedNanoseconds / 1_000_000_000), Self.maximumKeepAlive))
            options.set(CCURL_TCP_KEEPALIVE, 1)
            options.set(CCURL_TCP_KEEPIDLE, seconds)
            options.set(CCURL_TCP_KEEPINTVL, seconds)
        }
        try options.finish()
    }

    /// Sets all options of a request.
    ///
    /// A plain GET without content keeps the handle reusable. Any other request needs options that the next request
    /// must not inherit, so its handle is reset afterward.
    ///
    /// - Throws: An error with the first option that this libcurl rejects, and the reason.
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
        limitConnectTime(to: connectTimeout, options.easy)
        options.check(ccurl_easy_set_headers(options.easy, fields.lines), "the header fields")
        if needsOwnBuffer { options.set(CCURL_BUFFERSIZE, Self.largeBuffer) }
        if avoidsHTTP2 { options.check(ccurl_easy_use_http11(options.easy), "HTTP/1.1") }
        // HTTP/2 weights are numbers from 1 to 256 (RFC 7540, 5.3.2).
        if let priority = request.priority, destination.isSecure {
            options.set(CCURL_STREAM_WEIGHT, 1 + Int(max(0, min(priority, 1)) * 255))
        }

        // GET is the default of a handle. POST and PUT send their length even if it is 0 (RFC 9110, 8.6).
        if let content {
            // This option also changes the method to POST. The actual method is set below.
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
        // libcurl resends a request if a reused connection turns out to be closed. Prevent that if a repetition may do
        // harm.
        if !request.method.isIdempotent {
            if !CurlFeatures.loaded.hasPrerequestCallback { options.set(CCURL_FRESH_CONNECT, 1) }
            if destination.isSecure { ccurl_easy_send_once(options.easy) }
        }
        if request.upgrade != nil {
            // An upgraded connection may be idle for hours, and has no large heads, so a small buffer is sufficient.
            options.set(CCURL_BUFFERSIZE, Self.smallBuffer)
            // On a reused connection that turns out to be closed, libcurl would resend the request together with the
            // bytes of the upgraded protocol.
            options.set(CCURL_FRESH_CONNECT, 1)
            // Without a tunnel, the proxy would interpret the bytes of the upgraded protocol.
            if transfer.proxy != nil { options.set(CCURL_HTTPPROXYTUNNEL, 1) }
        }
        if let proxy = transfer.proxy {
            try proxy.validate()
            options.set(CCURL_PROXY, proxy.url)
            options.set(CCURL_NOPROXY, "")
        }
        if let proxyCredentialDigest, !(trust ?? .system).setPoolKey(proxyCredentialDigest, of: options.easy) {
            options.set(CCURL_FRESH_CONNECT, 1)
            options.set(CCURL_FORBID_REUSE, 1)
        }
        if fields.proxyLines != nil {
            let code = ccurl_easy_set_proxy_headers(options.easy, fields.proxyLines)
            options.check(code, "the header fields for the proxy")
        }
        try options.finish()
    }

    /// The size of a large receive buffer.
    ///
    /// Such a buffer is used for streamed transfers, which may be large, and for HTTP/2. libcurl accepts an HTTP/2 head
    /// of up to this size, but with a smaller buffer, it would truncate the head.
    private static let largeBuffer = 128 * 1024
    /// The default size of libcurl's receive buffer.
    private static let smallBuffer = 16 * 1024
    /// The maximum TCP keep-alive interval that the system accepts, in seconds.
    private static let maximumKeepAlive = 32_767
    /// The maximum size of a head over HTTP/2.
    private static let maximumHTTP2Head = 48 * 1024
    /// The maximum size of a head over TLS.
    private static let maximumTLSHead = 128 * 1024
    /// The maximum size of a head that libcurl builds, including inline content.
    private static let maximumHead = 1_000_000

    /// Rejects a head that is too large for libcurl.
    ///
    /// Over TLS, libcurl would wait forever for space in its send buffer, which is even smaller with HTTP/2. Without
    /// TLS, it would report that it is out of memory.
    private func checkHeadSize() throws(RequestError) {
        let limit = destination.isSecure ? Self.maximumTLSHead : Self.maximumHead - contentCountInHead
        guard headSize > limit else { return }
        let reason = "the request head exceeds \(limit) bytes"
        throw RequestError(.invalidRequest, phase: .sending, reason: reason)
    }

    // MARK: Connections

    /// Returns the reason why the connection of a transfer must not be used; `nil` if it may be used.
    func trustFailure(of easy: CurlEasy) -> TrustFailure? { trust?.refusal(of: easy) }

    /// Sets the addresses of the host and the proxy, so that libcurl needs no lookup; may be called only once.
    mutating func setAddresses(to addresses: [CurlAddresses], _ handle: CurlHandle) {
        let lines = addresses.map(\.resolveEntry)
        self.addresses = ccurl_lines_new(lines.count, lines.reduce(0) { $0 + $1.utf8.count })
        for line in lines { _ = ccurl_lines_add(self.addresses, line) }
        _ = ccurl_easy_set_addresses(handle.pointee.easy, self.addresses)
        handle.pointee.is_prepared = false
    }

    /// Prevents the transfer from reusing connections of transfers with a lower number.
    func avoidConnections(before number: Int, _ handle: CurlHandle) {
        let marks = [proxyCredentialDigest, "\(number)"].compactMap(\.self)
        _ = (trust ?? .system).setPoolKey(marks.joined(separator: "-"), of: handle.pointee.easy)
        handle.pointee.is_prepared = false
    }

    /// Prevents the transfer from reusing any open connection.
    func avoidConnections(_ handle: CurlHandle) {
        _ = ccurl_easy_set_long(handle.pointee.easy, CCURL_FRESH_CONNECT, 1)
        handle.pointee.is_prepared = false
    }

    /// Whether the transfer can be kept away from certain connections.
    var canAvoidConnections: Bool { (trust ?? .system).supportsPoolKeys }

    /// Sets the maximum time for establishing a connection.
    func limitConnectTime(to time: Duration, _ easy: CurlEasy) {
        // libcurl treats zero as "no limit".
        let milliseconds = max(1, min(time.clampedNanoseconds / 1_000_000, 1_000_000_000))
        _ = ccurl_easy_set_long(easy, CCURL_CONNECTTIMEOUT_MS, Int(milliseconds))
    }

    /// Prepares the handle to connect again.
    ///
    /// The addresses must be set again, because libcurl reads them only once. The connect timeout also starts again.
    func prepareReconnect(_ easy: CurlEasy) {
        if let addresses { _ = ccurl_easy_set_addresses(easy, addresses) }
        limitConnectTime(to: connectTimeout, easy)
    }

    // MARK: Results

    /// Returns the result of a transfer with libcurl's message; must be called before the handle is reused.
    static func result(_ code: Int32, of handle: CurlHandle) -> CurlResult {
        guard code != 0 else { return CurlResult(code: 0, text: "") }
        let (easy, message) = (handle.pointee.easy, String(cString: ccurl_handle_error(handle)))
        // A message with an at sign may reveal the password of a proxy.
        let isUsable = !message.isEmpty && !message.utf8.contains(UInt8(ascii: "@"))
        return CurlResult(
            code: code,
            text: isUsable ? message : String(cString: ccurl_error_text(code)),
            verification: ccurl_easy_long(easy, CCURL_INFO_SSL_VERIFYRESULT),
            tunnelStatus: ccurl_easy_long(easy, CCURL_INFO_HTTP_CONNECTCODE),
            hasMessage: !message.isEmpty
        )
    }
}

// MARK: - Header fields

extension CurlOptions {
    /// The header fields of a request as lists of lines, built without creating a string for each line.
    private struct Fields {
        /// The maximum number and byte count of the lines that this library adds.
        private static let (maximumAddedLines, maximumAddedBytes) = (8, 512)

        /// The header fields for the host, one line each, as a libcurl list; null if out of memory.
        let lines: OpaquePointer?
        /// The header fields only for the proxy, as a libcurl list; null if there are none.
        private(set) var proxyLines: OpaquePointer?
        /// The byte count of the caller's fields.
        private(set) var size = 0
        private(set) var hasExpectation = false

        /// - Parameters:
        ///   - request: The request.
        ///   - host: The value of `Host`; `nil` leaves it to libcurl.
        ///   - decodesContent: Whether the transport decodes content.
        ///   - hasInlineContent: Whether the content is sent together with the head.
        /// - Throws: ``InvalidValue`` for a field that spans several lines, which a wrapping transport may have added.
        init(
            of request: TransportRequest,
            to host: String?,
            decodesContent: Bool,
            hasInlineContent: Bool
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
            let addedSize = Self.maximumAddedBytes + (host?.utf8.count ?? 0)
            lines = ccurl_lines_new(count + Self.maximumAddedLines, size + addedSize)
            for field in request.headers {
                let isForProxy = field.name == .proxyAuthorization
                if isForProxy, proxyLines == nil { proxyLines = ccurl_lines_new(count, size) }
                guard Self.append(field, to: isForProxy ? proxyLines : lines) else {
                    free()
                    throw InvalidValue(.headerName, "or its value is invalid", excerpt: field.name.rawValue)
                }
            }
            if let host, !hasHost { append("Host: \(host)") }
            // For a range, request unencoded content, because a part of encoded content couldn't be decoded.
            if decodesContent, request.decodesContent, !hasCodings {
                append(hasRange ? "Accept-Encoding: identity" : ContentCoding.acceptLine)
            }
            // An empty `Expect` keeps libcurl from adding that field for large bodies, which would delay a request by a
            // second if the server doesn't support the field.
            if !request.body.isEmpty || request.upgrade != nil, !hasExpectation { append("Expect:") }
            // An empty `Transfer-Encoding` prevents libcurl from framing the bytes of an upgraded connection.
            if request.upgrade != nil { append("Transfer-Encoding:") }
            // An empty `Content-Type` prevents libcurl from declaring inline content as a form.
            if hasInlineContent, !hasType { append("Content-Type:") }
            switch request.method {
            case .post, .put, .patch: if request.body.isEmpty { append("Content-Length: 0") }
            default: break
            }
        }

        private func append(_ line: String?) {
            _ = line?.withCString { ccurl_lines_add(lines, $0) }
        }

        /// Appends a field; returns `false` if the field spans several lines, or if there isn't enough memory.
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
