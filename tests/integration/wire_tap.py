# SPDX-License-Identifier: Apache-2.0
"""A TCP relay between agents and their collector that reads bankfull.v1 as it passes, and can hurt the connection.

It parses WebSocket framing by itself (RFC 6455), so its ledger of what was sent and what was acked owes nothing to the
programs under test. Plain ws:// only.
"""
import asyncio
import json


class Frames:
    """Cuts one direction's bytes into text messages, after the HTTP head."""

    def __init__(self):
        self.buffer = bytearray()
        self.head = False
        self.parts = bytearray()

    def feed(self, data):
        self.buffer += data
        if not self.head:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            del self.buffer[:end + 4]
            self.head = True
        while True:
            message = self._one()
            if message is None:
                return
            if message:
                yield message

    def _one(self):
        b = self.buffer
        if len(b) < 2:
            return None
        final, opcode, masked, size, at = b[0] & 0x80, b[0] & 0x0F, b[1] & 0x80, b[1] & 0x7F, 2
        if size == 126:
            if len(b) < 4:
                return None
            size, at = int.from_bytes(b[2:4], "big"), 4
        elif size == 127:
            if len(b) < 10:
                return None
            size, at = int.from_bytes(b[2:10], "big"), 10
        mask = b""
        if masked:
            if len(b) < at + 4:
                return None
            mask, at = bytes(b[at:at + 4]), at + 4
        if len(b) < at + size:
            return None
        payload = bytes(b[at:at + size])
        del b[:at + size]
        if mask:
            payload = bytes(x ^ mask[i & 3] for i, x in enumerate(payload))
        if opcode in (8, 9, 10):
            return b""
        self.parts += payload
        if not final:
            return b""
        whole, self.parts = bytes(self.parts), bytearray()
        return whole


class Tap:
    """Relay with a ledger: sent[epoch][seq] = message, acked[epoch] = highest ack that passed to the agent's side."""

    def __init__(self, target_port):
        self.target_port = target_port
        self.sent = {}
        self.acked = {}
        self.frozen = False  # half-open: both ends keep their connection, nothing passes
        self.writers = set()
        self.types = {}
        self.bad = []

    async def start(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    def _note(self, text, upwards):
        try:
            message = json.loads(text)
        except ValueError:
            self.bad.append(text[:200])
            return
        kind = message.get("type")
        self.types[kind] = self.types.get(kind, 0) + 1
        if upwards and kind in ("sample", "finding", "postmortem", "gap"):
            of = self.sent.setdefault(message["epoch"], {})
            if kind == "gap":
                for seq in range(message["from"], message["to"] + 1):
                    of[seq] = message
            else:
                # Sent again it must be the same.
                of[message["seq"]] = message
        elif not upwards and kind == "ack":
            self.acked[message["epoch"]] = max(self.acked.get(message["epoch"], 0), message["seq"])

    async def _pump(self, reader, writer, upwards):
        frames = Frames()
        try:
            while True:
                data = await reader.read(65536)
                if not data:
                    break
                while self.frozen:
                    await asyncio.sleep(0.05)
                writer.write(data)
                # What the relay has passed on counts as sent; an ack counts once it is on its way to the agent.
                for text in frames.feed(data):
                    self._note(text, upwards)
                await writer.drain()
        except (ConnectionError, OSError):
            pass
        finally:
            writer.close()

    async def _serve(self, reader, writer):
        try:
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        except OSError:
            writer.close()
            return
        self.writers |= {writer, up_writer}
        await asyncio.gather(self._pump(reader, up_writer, True), self._pump(up_reader, writer, False))
        self.writers -= {writer, up_writer}

    async def idle(self):
        """Until nobody is connected: what was sent has been passed on. At most 10 s."""
        for _ in range(200):
            if not self.writers:
                break
            await asyncio.sleep(0.05)

    def reset(self):
        """Cut every connection at once (RST)."""
        for writer in list(self.writers):
            writer.transport.abort()
