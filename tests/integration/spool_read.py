# SPDX-License-Identifier: Apache-2.0
"""What an agent's spool holds, read from its state directory as src/agent/spool_log.h and spool_load.c describe it."""
import glob
import struct
import zlib

HEAD, RECORD = 48, 32
MAGIC = 0x31524B42
GAP, ACK = 4, 5


def held(state_dir):
    """{epoch: the numbers, messages and gaps, that wait for their ack}"""
    return {path.rsplit("-", 1)[1]: _one(open(path, "rb").read()) for path in glob.glob(f"{state_dir}/spool-*[0-9a-f]")}


def _one(data):
    numbers = set()
    if len(data) < HEAD or data[:8] != b"BKSPOOL1":
        return numbers
    acked = struct.unpack_from("=Q", data, 32)[0]
    at = HEAD
    while at + RECORD <= len(data):
        magic, size, crc, kind = struct.unpack_from("=IIIB", data, at)
        first, key = struct.unpack_from("=QQ", data, at + 16)
        if magic != MAGIC or zlib.crc32(data[at + 12:at + RECORD + size]) != crc:
            break  # a torn tail
        if kind == ACK:
            acked = max(acked, first)
        else:
            numbers.update(range(first, (key if kind == GAP else first) + 1))
        at += RECORD + size
    return {n for n in numbers if n > acked}
