#!/usr/bin/env python3
# A server of HTTP/1.1 that does with TLS what Python's own module can't: the path of a request says what.
# It needs OpenSSL's library, says its port in a line, and ends when its standard input does.
# Usage: tls-peer.py <certificate> <key>      (servers.py starts it)
import ctypes
import ctypes.util
import signal
import socket
import sys
import threading

ssl = ctypes.CDLL(ctypes.util.find_library("ssl"))
for name in ["TLS_server_method", "SSL_CTX_new", "SSL_new", "BIO_s_mem", "BIO_new"]:
    getattr(ssl, name).restype = ctypes.c_void_p


def pointer(value):
    return ctypes.c_void_p(value)


context = pointer(ssl.SSL_CTX_new(pointer(ssl.TLS_server_method())))
assert ssl.SSL_CTX_use_certificate_chain_file(context, sys.argv[1].encode()) == 1
assert ssl.SSL_CTX_use_PrivateKey_file(context, sys.argv[2].encode(), 1) == 1


def read_head(session):
    data, buffer = b"", ctypes.create_string_buffer(4096)
    while b"\r\n\r\n" not in data:
        count = ssl.SSL_read(session, buffer, len(buffer))
        if count <= 0:
            return None
        data += buffer.raw[:count]
    return data.split(b" ")[1].decode().split("/")[1:]


def updates(session, text, count):
    """Returns the records of a text and of so many new keys, made in advance: a client reads them as fast as they are."""
    memory = pointer(ssl.BIO_new(pointer(ssl.BIO_s_mem())))
    ssl.SSL_set0_wbio(session, memory)
    ssl.SSL_write(session, text, len(text))
    for _ in range(count):
        ssl.SSL_key_update(session, 0)
        ssl.SSL_do_handshake(session)
    buffer = ctypes.create_string_buffer(len(text) + (count + 1) * 64)
    count = ssl.BIO_read(memory, buffer, len(buffer))
    return buffer.raw[:count]


def answer(client, session, words):
    """Answers a request; returns whether the connection goes on."""

    def write(text):
        ssl.SSL_write(session, text.encode(), len(text))

    if words[0] == "updates":  # a part of a response, and then so many new keys
        text = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"
        try:
            client.sendall(updates(session, text, int(words[1])))
        except OSError:
            pass
    elif words[0] in ("cut", "closed"):  # content without a length, whose end is announced or not
        field = {"chunked": "Transfer-Encoding: chunked\r\n", "length": "Content-Length: 5\r\n"}.get(words[1], "")
        write(f"HTTP/1.1 200 OK\r\nConnection: close\r\n{field}\r\n")
        write("5\r\nhello\r\n0\r\n\r\n" if words[1] == "chunked" else "hello")
        if words[0] == "closed":
            ssl.SSL_shutdown(session)
    else:
        write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        return True
    return False


def serve(client):
    session = pointer(ssl.SSL_new(context))
    ssl.SSL_set_fd(session, client.fileno())
    if ssl.SSL_accept(session) == 1:
        while (words := read_head(session)) and answer(client, session, words):
            pass
    client.settimeout(1)
    try:
        client.shutdown(socket.SHUT_WR)
        # Data that nobody has read would make the end of the connection a reset.
        while client.recv(65536):
            pass
    except OSError:
        pass
    ssl.SSL_free(session)
    client.close()


def main():
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    print(listener.getsockname()[1], flush=True)

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a peer may be gone when it is written to
main()
