// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTP2
import Requests

/// Closes a connection whose peer answers with a status that AsyncHTTPClient can't handle.
///
/// A status below 100 violates a precondition there, which ends the process: a server could crash its client. And no
/// request asks for the other protocol that 101 switches to.
final class StatusGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private var isBroken = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isBroken else { return }
        if case .head(let head) = unwrapInboundIn(data), head.status.isUnfit {
            isBroken = true
            let reason = "the status is \(head.status.code)"
            context.fireErrorCaught(RequestError(.badResponse, phase: .receiving, reason: reason))
            return context.close(promise: nil)
        }
        context.fireChannelRead(data)
    }
}

extension HTTPResponseStatus {
    fileprivate var isUnfit: Bool { code < 100 || self == .switchingProtocols }
}

extension AsyncHTTPClient.HTTPClient.Configuration {
    /// Guards every connection, right after the handler that reads its bytes.
    mutating func guardStatus() {
        http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.guardStatus(behind: ByteToMessageHandler<HTTPResponseDecoder>.self)
            }
        }
        http2StreamChannelDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.guardStatus(behind: HTTP2FramePayloadToHTTP1ClientCodec.self)
            }
        }
    }
}

extension ChannelPipeline {
    fileprivate func guardStatus<Reader: ChannelHandler>(behind reader: Reader.Type) throws {
        try syncOperations.addHandler(StatusGuard(), position: .after(syncOperations.handler(type: reader)))
    }
}
