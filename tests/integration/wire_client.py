# SPDX-License-Identifier: Apache-2.0
"""A WebSocket client that owes nothing to the programs under test: RFC 6455 over a socket, bankfull.v1 from its schema."""
import base64
import json
import os
import socket
import ssl
import struct


class Refused(Exception):
    """The server answered the upgrade with another status than 101."""

    def __init__(self, status, headers, body):
        super().__init__(f"{status} {body}")
        self.status, self.headers, self.body = status, headers, body


class Closed(Exception):
    """The connection has ended; code is None where no closing frame came."""

    def __init__(self, code, reason=""):
        super().__init__(f"closed with {code} {reason}")
        self.code, self.reason = code, reason


class Client:
    """One connection. Options: token, origin, host_header, cookie, path, protocol, tls (an SSLContext), timeout."""

    def __init__(self, port, host="127.0.0.1", **options):
        self.buffer = b""
        self.closed = None
        self.sock = socket.create_connection((host, port), timeout=options.get("timeout", 10))
        if options.get("tls"):
            self.sock = options["tls"].wrap_socket(self.sock, server_hostname=options.get("name", "localhost"))
        lines = [f"GET {options.get('path', '/agent')} HTTP/1.1", "Host: " + options.get("host_header", f"{host}:{port}"),
                 "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                 "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode()]
        if options.get("protocol", "bankfull.v1"):
            lines.append("Sec-WebSocket-Protocol: " + options.get("protocol", "bankfull.v1"))
        if options.get("token"):
            lines.append("Authorization: Bearer " + options["token"])
        if options.get("origin"):
            lines.append("Origin: " + options["origin"])
        if options.get("cookie"):
            lines.append("Cookie: " + options["cookie"])
        self.sock.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer:
            piece = self.sock.recv(65536)
            if not piece:
                raise Closed(None, "during the upgrade")
            self.buffer += piece
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        status = int(head.split(b" ")[1])
        headers = dict(line.decode().lower().split(": ", 1) for line in head.split(b"\r\n")[1:])
        if status != 101:
            while len(self.buffer) < int(headers.get("content-length", 0)):
                piece = self.sock.recv(65536)
                if not piece:
                    break
                self.buffer += piece
            self.sock.close()
            raise Refused(status, headers, self.buffer.decode())

    def frame(self, payload, opcode=1, final=True):
        """One masked frame, whatever is in it."""
        size, mask = len(payload), os.urandom(4)
        head = bytes([(0x80 if final else 0) | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        whole = (mask * (size // 4 + 1))[:size]
        body = (int.from_bytes(payload, "big") ^ int.from_bytes(whole, "big")).to_bytes(size, "big")
        self.sock.sendall(head + mask + body)

    def send(self, message):
        self.frame(json.dumps(message).encode() if isinstance(message, dict) else message.encode())

    def _need(self, size):
        while len(self.buffer) < size:
            try:
                piece = self.sock.recv(65536)
            except (ConnectionError, ssl.SSLError):
                piece = b""
            if not piece:
                raise Closed(None)
            self.buffer += piece

    def receive(self):
        """The next message, decoded. Closed when the connection ends; socket.timeout when nothing comes."""
        while True:
            self._need(2)
            opcode, size, at = self.buffer[0] & 15, self.buffer[1] & 127, 2
            if size == 126:
                self._need(4)
                size, at = struct.unpack(">H", self.buffer[2:4])[0], 4
            elif size == 127:
                self._need(10)
                size, at = struct.unpack(">Q", self.buffer[2:10])[0], 10
            self._need(at + size)
            payload, self.buffer = self.buffer[at:at + size], self.buffer[at + size:]
            if opcode == 8:
                code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 1005
                try:
                    self.frame(payload[:2], 8)
                except OSError:
                    pass
                raise Closed(code, payload[2:].decode())
            if opcode == 9:
                self.frame(payload, 10)
            elif opcode == 1:
                return json.loads(payload)

    def until_closed(self):
        """What still comes, and the code that ended it."""
        messages = []
        try:
            while True:
                messages.append(self.receive())
        except Closed as end:
            return messages, end.code

    def until_ack(self, epoch, seq):
        """Acks of one epoch until this one; the last one seen."""
        while True:
            message = self.receive()
            if message["type"] == "ack" and message["epoch"] == epoch and message["seq"] >= seq:
                return message["seq"]

    def close(self):
        self.sock.close()


def epoch(number=None):
    return os.urandom(16).hex() if number is None else f"{number:032x}"


def hello(pod, epochs, wall_ms, namespace="streaming"):
    """epochs: [(epoch, first, last)], the live one last."""
    return {"type": "hello", "subject": {"namespace": namespace, "workload": "fraud", "role": "taskmanager", "pod": pod},
            "program": "0.1.0", "mono_ms": 1, "wall_ms": wall_ms,
            "epochs": [{"epoch": e, "first": first, "last": last} for e, first, last in epochs]}


def sample(epoch_, seq, wall_ms, **more):
    """The least that is a sample."""
    return {"type": "sample", "epoch": epoch_, "seq": seq, "mono_ms": seq * 1000, "wall_ms": wall_ms,
            "interval_ms": 10000, "pid": 7, "start_ticks": 100, "limit_bytes": 1 << 30, **more}
