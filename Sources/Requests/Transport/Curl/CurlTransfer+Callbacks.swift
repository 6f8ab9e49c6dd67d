// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

extension CCurlCallbacks {
    /// The callbacks of every transfer; the context of each call is its handle, or the loop for the last three.
    init(loop: CurlLoop) {
        self.init(
            head: { bytes, size, count, context in
                CurlTransfer.at(context)?.receiveLines(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
            },
            body: { bytes, size, count, context in
                CurlTransfer.at(context)?.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
            },
            read: { bytes, size, count, context in
                CurlTransfer.at(context)?.readBody(
                    into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
                ) ?? Int(CCURL_READFUNC_ABORT)
            },
            seek: { context, offset, origin in
                origin == SEEK_SET && CurlTransfer.at(context)?.seekBody(to: offset) == true ? 0 : 1
            },
            sending: { context, remote, local, remotePort, localPort in
                let connection = CurlTransfer.Connection(remote, remotePort, local, localPort)
                return CurlTransfer.at(context)?.maySend(connection) == true ? 0 : 1
            },
            news: { context, news, number, text in
                let text = UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : Int(number))
                CurlTransfer.at(context)?.note(news, number, text)
            },
            opened: { loop, socket in CurlLoop.at(loop)?.opened(socket) },
            closes: { loop, socket in CurlLoop.at(loop)?.closes(socket) },
            lacks_descriptor: { loop in CurlLoop.at(loop)?.noDescriptorIsLeft() },
            loop: Unmanaged.passUnretained(loop).toOpaque()
        )
    }
}

extension CurlLoop {
    /// A multi handle that notifies this loop of sockets and of its timer; `nil` if out of memory.
    func makeMulti() -> CurlMulti? {
        ccurl_multi_new(
            { easy, socket, what, context, _ in
                CurlLoop.at(context)?.watch(socket, what, for: easy)
                return 0
            },
            { _, milliseconds, context in
                CurlLoop.at(context)?.setTimer(milliseconds)
                return 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    // The thread holds the loop for as long as it runs, and libcurl calls back on that thread only.
    static func at(_ context: UnsafeMutableRawPointer?) -> CurlLoop? {
        context.map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension CurlTransfer {
    /// A connection, told from all others by its two ends.
    struct Connection: Hashable {
        let remote: String
        let local: String
        let remotePort: Int32
        let localPort: Int32

        /// Nil for one without ports, such as over a Unix socket.
        init?(_ remote: UnsafePointer<CChar>?, _ remotePort: Int32, _ local: UnsafePointer<CChar>?, _ localPort: Int32)
        {
            guard let remote, let local, remotePort > 0, localPort > 0 else { return nil }
            (self.remote, self.local) = (String(cString: remote), String(cString: local))
            (self.remotePort, self.localPort) = (remotePort, localPort)
        }
    }

    // The loop holds a transfer for as long as its handle is in the multi handle, which is as long as it is called.
    static func at(_ handle: UnsafeMutableRawPointer?) -> CurlTransfer? {
        let transfer = handle?.assumingMemoryBound(to: CCurlHandle.self).pointee.transfer
        return transfer.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }
}
#endif
