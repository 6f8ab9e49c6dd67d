"""A server over Python's websockets, which does what the path of a request says, until its input ends.

Its arguments are a certificate and its key. It prints its ports: plain, and with TLS.
"""

import asyncio
import http
import ssl
import sys

from websockets.asyncio.server import serve


async def handle(socket):
    path = socket.request.path
    if path.startswith("/close/"):
        code = int(path.rpartition("/")[2])
        await socket.close(code, "as asked")
    elif path.startswith("/fragments/"):
        count = int(path.rpartition("/")[2])
        await socket.send(f"part {number} " for number in range(count))
        await socket.send(b"end")
    elif path.startswith("/headers"):
        for name, value in socket.request.headers.raw_items():
            await socket.send(f"{name.lower()}: {value}")
    elif path == "/ping":
        waiter = await socket.ping(b"payload")
        latency = await waiter
        await socket.send(f"answered {latency >= 0}")
    elif path == "/abort":
        await socket.send("last")
        socket.transport.abort()
    else:
        async for message in socket:
            await socket.send(message)


def respond(connection, request):
    if request.path == "/refused":
        return connection.respond(http.HTTPStatus.FORBIDDEN, "no room\n")
    return None


def select(connection, offered):
    return next((name for name in ["chat.v2", "chat.v1"] if name in offered), None)


async def main():
    options = dict(select_subprotocol=select, process_request=respond, max_size=64 << 20, ping_interval=5)
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(sys.argv[1], sys.argv[2])
    async with serve(handle, "127.0.0.1", 0, **options) as plain, serve(
        handle, "127.0.0.1", 0, ssl=secure, **options
    ) as tls:
        print("ready", *(server.sockets[0].getsockname()[1] for server in [plain, tls]), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
