# SPDX-License-Identifier: Apache-2.0
"""A port of loopback that was free a moment ago."""
import socket


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
