# SPDX-License-Identifier: Apache-2.0
"""A WebSocket client and server of Python's standard library alone, against net_probe.

    net_ws.py client PORT [CA [CERT KEY]]   upgrades, says hello, expects it back, closes; then over HTTP: the SANs
    net_ws.py resume PORT CA                two TLS connections: the second one resumes the first's session
    net_ws.py deaf                          a server that upgrades and then says nothing for ever; prints its port
    net_ws.py crowd PORT N PID              N idle WebSockets: KiB of the server's RSS for each
"""
import base64
import hashlib
import os
import socket
import ssl
import sys

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def context(arguments):
    tls = ssl.create_default_context(cafile=arguments[0])
    tls.check_hostname = False
    if len(arguments) > 2:
        tls.load_cert_chain(arguments[1], arguments[2])
    return tls


def connect(port, tls=None, session=None):
    plain = socket.create_connection(("127.0.0.1", port), timeout=5)
    return tls.wrap_socket(plain, server_hostname="127.0.0.1", session=session) if tls else plain


def read_until(sock, end):
    data = b""
    while end not in data:
        piece = sock.recv(4096)
        if not piece:
            break
        data += piece
    return data


def upgrade(sock):
    key = base64.b64encode(os.urandom(16))
    sock.sendall(b"GET /agent HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
                 b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: other, bankfull.v1\r\n"
                 b"Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n")
    head = read_until(sock, b"\r\n\r\n")
    accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
    assert b"101" in head.split(b"\r\n")[0], head
    assert accept in head, head
    assert b"bankfull.v1" in head and b"deflate" not in head, head


def frame(opcode, payload):
    mask = os.urandom(4)
    masked = bytes(b ^ mask[i % 4] for i, b in enumerate(payload))
    return bytes([0x80 | opcode, 0x80 | len(payload)]) + mask + masked


def client(port, arguments):
    tls = context(arguments) if arguments else None
    sock = connect(port, tls)
    upgrade(sock)
    sock.sendall(frame(1, b"hello"))
    assert read_until(sock, b"hello") == b"\x81\x05hello"
    sock.sendall(frame(8, b"\x03\xe8"))
    assert read_until(sock, b"\x03\xe8") == b"\x88\x02\x03\xe8"
    sock = connect(port, tls)
    sock.sendall(b"GET /who HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    print(read_until(sock, b"}").split(b"\r\n\r\n")[1].decode())


def resume(port, arguments):
    tls = context(arguments)
    session = None
    for _ in range(2):
        sock = connect(port, tls, session)
        sock.sendall(b"GET /who HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        read_until(sock, b"}")
        session = sock.session
        reused = sock.session_reused
        sock.close()
    print("resumed" if reused else "not resumed")


def deaf():
    listener = socket.create_server(("127.0.0.1", 0))
    print("port", listener.getsockname()[1], flush=True)
    sock, _ = listener.accept()
    head = read_until(sock, b"\r\n\r\n")
    key = [line.split(b": ")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key")][0]
    sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 b"Sec-WebSocket-Protocol: bankfull.v1\r\nSec-WebSocket-Accept: "
                 + base64.b64encode(hashlib.sha1(key + GUID).digest()) + b"\r\n\r\n")
    got = b""
    while True:
        piece = sock.recv(4096)
        if not piece:
            break
        got += piece
    print("pinged" if b"\x89\x81" in got else "not pinged", flush=True)


def crowd(port, n, pid):
    def rss():
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return [int(line.split()[1]) for line in status if line.startswith("VmRSS")][0]

    before, socks = rss(), []
    for _ in range(n):
        sock = connect(port)
        upgrade(sock)
        socks.append(sock)
    print("%.2f" % ((rss() - before) / n))


if __name__ == "__main__":
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "client":
        client(int(rest[0]), rest[1:])
    elif what == "resume":
        resume(int(rest[0]), rest[1:])
    elif what == "crowd":
        crowd(int(rest[0]), int(rest[1]), int(rest[2]))
    else:
        deaf()
