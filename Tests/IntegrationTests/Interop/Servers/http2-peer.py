#!/usr/bin/env python3
# An HTTP/2 server that does what a server may do, and what it mustn't: the path of a request says what.
# It needs the package h2, says its port in a line, and ends when its standard input does.
# Usage: http2-peer.py <certificate> <key>      (servers.py starts it)
import collections
import gzip
import json
import socket
import ssl
import struct
import sys
import threading
import time

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings

counts = collections.Counter()  # how often each path was processed
lock = threading.Lock()


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


FLOODS = {
    "data": lambda stream: frame(0, 0, stream),
    "padding": lambda stream: frame(0, 8, stream, bytes([200]) + bytes(200)),
    "window": lambda stream: frame(8, 0, 0, struct.pack(">I", 1)),
    "unknown": lambda stream: frame(0xBB, 0, stream, b"12345678"),
    "acknowledgements": lambda stream: frame(6, 1, 0, b"12345678"),
    "priority": lambda stream: frame(2, 0, stream, struct.pack(">IB", 0, 16)),
}


class Connection:
    def __init__(self, peer):
        self.peer = peer
        # What the library wouldn't send is what this server is for.
        config = h2.config.H2Configuration(
            client_side=False, header_encoding="utf-8", validate_outbound_headers=False,
            normalize_outbound_headers=False)
        self.h2 = h2.connection.H2Connection(config)
        self.paths = {}
        self.bodies = collections.Counter()
        self.raw = b""
        self.ended = False

    def flush(self):
        data = self.h2.data_to_send() + self.raw
        self.raw = b""
        if data:
            self.peer.sendall(data)

    def run(self):
        self.h2.initiate_connection()
        self.flush()
        while not self.ended:
            data = self.peer.recv(65536)
            if not data:
                return
            for event in self.h2.receive_data(data):
                self.handle(event)
            self.flush()

    def handle(self, event):
        if isinstance(event, h2.events.RequestReceived):
            path = dict(event.headers)[":path"]
            self.paths[event.stream_id] = path
            with lock:
                counts["+" + path] += 1
            self.begin(event.stream_id, path.split("/")[1:], event.stream_ended is not None)
        elif isinstance(event, h2.events.DataReceived):
            self.bodies[event.stream_id] += len(event.data)
            path = self.paths.get(event.stream_id, "/")
            if not path.startswith("/early") and not path.startswith("/window"):
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            path = self.paths[event.stream_id]
            self.complete(event.stream_id, path, path.split("/")[1:])

    def answer(self, stream, body=b"hello", status="200", headers=(), end=True):
        self.h2.send_headers(stream, [(":status", status), *headers])
        self.send(stream, body, end)

    def send(self, stream, body, end=True):
        while True:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            piece, body = body[:room], body[room:]
            self.h2.send_data(stream, piece, end_stream=end and not body)
            self.flush()
            if not body:
                return
            while self.h2.local_flow_control_window(stream) == 0:
                data = self.peer.recv(65536)
                if not data:
                    raise ConnectionError
                for event in self.h2.receive_data(data):
                    if isinstance(event, h2.events.DataReceived):
                        continue
                    self.handle(event)
                self.flush()

    # What comes with the head of a request, before its content.
    def begin(self, stream, words, ended):
        word = words[0]
        if word == "early":  # a whole answer, and that the rest of the request isn't wanted
            with lock:
                counts[self.paths[stream]] += 1
            self.answer(stream, b"e" * int(words[1]))
            self.h2.reset_stream(stream, h2.errors.ErrorCodes.NO_ERROR)
        elif word == "refused":  # the first time of each path, unprocessed
            with lock:
                seen = counts["!" + self.paths[stream]]
                counts["!" + self.paths[stream]] += 1
            if not seen:
                self.h2.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
        elif word == "goaway":  # the first time of each path: nothing from this stream on was processed
            with lock:
                seen = counts["!" + self.paths[stream]]
                counts["!" + self.paths[stream]] += 1
            if not seen:
                self.flush()
                self.peer.sendall(frame(7, 0, 0, struct.pack(">II", max(0, stream - 2), 0)))
        elif word == "refused-always":
            self.h2.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
        elif word == "goaway-always":  # nothing was ever processed on this connection
            self.flush()
            self.peer.sendall(frame(7, 0, 0, struct.pack(">II", 0, 0)))
        elif word == "reset-at-head":
            self.h2.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
        elif word == "close-at-head":
            self.ended = True

    # What comes when a request is complete.
    def complete(self, stream, path, words):
        word = words[0]
        if word in ("early", "reset-at-head", "close-at-head", "refused-always", "goaway-always"):
            return
        if word in ("refused", "goaway"):
            with lock:
                if counts["!" + path] == 1:
                    counts["!" + path] += 1
                    return
        with lock:
            counts[path] += 1
        if word == "log":
            with lock:
                self.answer(stream, json.dumps(counts).encode())
        elif word == "head":  # a head of a size
            size = int(words[1])
            fields = [(f"x-{i}", "h" * min(4000, size - 4000 * i)) for i in range((size + 3999) // 4000)]
            self.answer(stream, headers=fields)
        elif word == "body":
            self.answer(stream, b"b" * int(words[1]))
        elif word in ("gzip", "gzip-cut"):  # zeros
            content = gzip.compress(bytes(int(words[1])))
            end = len(content) // 2 if word == "gzip-cut" else len(content)
            self.answer(stream, content[:end], headers=[("content-encoding", "gzip")])
        elif word == "reset-behind-head":
            self.h2.send_headers(stream, [(":status", "200"), ("content-length", "100")])
            self.h2.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
        elif word == "reset-in-content":
            self.h2.send_headers(stream, [(":status", "200"), ("content-length", "100")])
            self.h2.send_data(stream, b"half")
            self.h2.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
        elif word == "goaway-in-content":
            self.h2.send_headers(stream, [(":status", "200")])
            self.h2.send_data(stream, b"half")
            self.flush()
            self.peer.sendall(frame(7, 0, 0, struct.pack(">II", stream, 0)))
            time.sleep(0.05)
            self.h2.send_data(stream, b" whole", end_stream=True)
        elif word == "close-in-content":
            self.h2.send_headers(stream, [(":status", "200")])
            self.h2.send_data(stream, b"half")
            self.flush()
            self.ended = True
        elif word == "short":  # less content than announced
            self.answer(stream, b"half", headers=[("content-length", "100")])
        elif word == "trailers":
            self.h2.send_headers(stream, [(":status", "200")])
            self.h2.send_data(stream, b"hello")
            self.h2.send_headers(stream, [("x-trailer", "t")], end_stream=True)
        elif word == "early-hints":
            for _ in range(3):
                self.h2.send_headers(stream, [(":status", "103"), ("link", "</a>")])
            self.answer(stream)
        elif word == "silence":
            pass
        elif word == "connection":  # the number of the connection
            self.answer(stream, str(self.peer.getpeername()[1]).encode())
        elif word == "settings":  # a storm of settings, each of which is to be acknowledged
            self.flush()
            self.peer.sendall(frame(4, 0, 0) * 5_000)
            self.answer(stream)
        elif word == "pings":
            self.flush()
            self.peer.sendall(frame(6, 0, 0, b"12345678") * 5_000)
            self.answer(stream)
        elif word == "flood":  # a part of a response, and then frames without content as fast as they are read
            self.h2.send_headers(stream, [(":status", "200"), ("content-length", "100")])
            self.h2.send_data(stream, b"hello")
            self.flush()
            piece = FLOODS[words[1]](stream)
            piece *= 16_384 // len(piece)
            end = time.monotonic() + float(words[2])
            while time.monotonic() < end:
                self.peer.sendall(piece)
        elif word == "freeze":  # nothing more on this connection, to any request
            time.sleep(float(words[1]))
            self.ended = True
        elif word == "bomb":  # one field, that the table of HPACK makes many of
            field = b"\x40\x01x" + b"\x7f\xa1\x1e" + b"b" * 4000  # x: 4,000 bytes, kept as entry 62
            block = b"\x88" + field + b"\xbe" * int(words[1])
            self.flush()
            for start in range(0, len(block), 16_000):
                last = start + 16_000 >= len(block)
                kind = 1 if start == 0 else 9
                self.peer.sendall(frame(kind, 4 if last else 0, stream, block[start : start + 16_000]))
        elif word == "continuation":  # a head without end
            self.flush()
            self.peer.sendall(frame(1, 0, stream, b"\x88"))
            for _ in range(20_000):
                self.peer.sendall(frame(9, 0, stream, b"\x00\x01x\x01y"))
        elif word == "garbage":
            self.flush()
            self.peer.sendall(b"this is no frame at all" * 10)
        elif word == "large-frame":  # larger than the client allows
            self.h2.send_headers(stream, [(":status", "200")])
            self.flush()
            self.peer.sendall(frame(0, 1, stream, b"x" * 2_000_000))
        elif word == "push":
            self.flush()
            self.peer.sendall(frame(5, 4, stream, struct.pack(">I", 2) + b"\x82\x84\x87\x41\x01a"))
            self.answer(stream)
        else:
            self.answer(stream, f"{self.bodies[stream]}".encode())


# A client that has chosen the older version: as much as it takes to say so, and what a kept connection may bring.
def serve_older(peer):
    def answer(text, fields=""):
        return f"HTTP/1.1 200 OK\r\nContent-Length: {len(text)}\r\n{fields}\r\n{text}".encode()

    with lock:
        counts["connections"] += 1
        number = str(counts["connections"])
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            piece = peer.recv(65536)
            if not piece:
                return
            data += piece
        head, data = data.split(b"\r\n\r\n", 1)
        word = head.split(b" ")[1].decode().split("/")[1:]
        if word[0] == "kept":  # the number of the connection
            peer.sendall(answer(number))
        elif word[0] == "ending":  # the same, and that the connection is about to end
            peer.sendall(answer(number, "Keep-Alive: timeout=1\r\n"))
        elif word[0] == "junk":  # an answer, and another that nobody has asked for: at once, in a record of its own, or later
            if word[1] == "one":
                peer.sendall(answer("first") + answer("poison"))
            else:
                # Both in one segment, unless the second is late.
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, word[1] != "late")
                peer.sendall(answer("first"))
                if word[1] == "late":
                    time.sleep(0.01)
                peer.sendall(answer("poison"))
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, False)
            with lock:
                counts["poison/" + word[1]] += 1
        elif word[0] == "poisons":
            with lock:
                text = str(counts["poison/" + word[1]])
            peer.sendall(answer(text))
        elif word[0] == "silence":
            pass
        else:
            return peer.sendall(answer("http/1.1", "Connection: close\r\n"))


def serve(client, context):
    try:
        client.settimeout(30)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with context.wrap_socket(client, server_side=True) as peer:
            connection = Connection(peer)
            if peer.selected_alpn_protocol() == "h2":
                connection.run()
                return
            serve_older(peer)
    except (OSError, ConnectionError, ssl.SSLError, h2.exceptions.ProtocolError):
        pass


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    context.set_alpn_protocols(["h2", "http/1.1"])
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    print(listener.getsockname()[1], flush=True)

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, context), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


main()
