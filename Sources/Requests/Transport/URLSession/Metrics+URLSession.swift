// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if !canImport(FoundationNetworking)
import Foundation

extension Metrics {
    /// Takes over what a `URLSession` measured of one transaction.
    init(_ transaction: URLSessionTaskTransactionMetrics, start: Date) {
        self.init(start: transaction.fetchStartDate ?? start)
        let origin = self.start
        func moment(_ date: Date?) -> Duration? {
            date.map { .seconds(max(0, $0.timeIntervalSince(origin))) }
        }
        dispatched = .zero
        nameResolved = moment(transaction.domainLookupEndDate)
        // Foundation counts the handshake of TLS as a part of the connecting.
        connected = moment(transaction.secureConnectionStartDate ?? transaction.connectEndDate)
        secured = moment(transaction.secureConnectionEndDate)
        sent = moment(transaction.requestEndDate)
        firstByte = moment(transaction.responseStartDate)
        end = moment(transaction.responseEndDate)
        isReusedConnection = transaction.isReusedConnection
        networkProtocol = transaction.networkProtocolName
        requestHeadSize = transaction.countOfRequestHeaderBytesSent
        requestBodySize = transaction.countOfRequestBodyBytesSent
        responseHeadSize = transaction.countOfResponseHeaderBytesReceived
        responseBodySize = transaction.countOfResponseBodyBytesReceived
    }
}
#endif
