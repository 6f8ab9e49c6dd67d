// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestError {
    /// What `URLSession` says went wrong, in the library's words; its own error stays as the underlying one.
    init(sessionError error: any Error, phase: Phase) {
        let error = error as? URLError ?? URLError(_nsError: error as NSError)
        self.init(Code(error), phase: phase, underlying: error)
    }
}

extension RequestError.Code {
    init(_ error: URLError) {
        switch error.code {
        case .cancelled: self = .cancelled
        case .timedOut: self = .timedOut
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive: self = .offline
        case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed: self = .cannotConnect
        case .networkConnectionLost: self = .connectionLost
        case .badServerResponse: self = Self.ofBadServerResponse
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData: self = .badResponse
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            self = .untrusted
        case .badURL, .unsupportedURL: self = Self.ofLinuxText(error) ?? .invalidRequest
        default: self = Self.ofLinuxText(error) ?? .other
        }
    }

    /// On Linux this is what becomes of libcurl's "got nothing", and of nothing else: the connection ended before the
    /// first byte, for which Foundation elsewhere says that it was lost.
    private static var ofBadServerResponse: RequestError.Code {
        #if canImport(FoundationNetworking)
        .connectionLost
        #else
        .badResponse
        #endif
    }

    /// On Linux, libcurl's failures that have no code of Foundation's come as "unknown" or "unsupported URL", and only
    /// their text tells them apart.
    private static func ofLinuxText(_ error: URLError) -> RequestError.Code? {
        #if canImport(FoundationNetworking)
        let text = error.localizedDescription.lowercased()
        let codes: [(String, RequestError.Code)] = [
            ("ssl", .untrusted), ("certificate", .untrusted),
            ("transfer closed", .connectionLost), ("empty reply", .connectionLost), ("recv failure", .connectionLost),
            ("header", .badResponse), ("http/0.9", .badResponse), ("encoding", .badResponse), ("chunk", .badResponse),
            ("weird server reply", .badResponse), ("unsupported protocol", .badResponse),
        ]
        return codes.first { text.contains($0.0) }?.1
        #else
        return nil
        #endif
    }
}
