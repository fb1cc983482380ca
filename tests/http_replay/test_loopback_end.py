"""Connections that come while a loopback server ends."""

from __future__ import annotations

import gc
import socket

from replaykit.http_replay.loopback import HOST, listen


def test_connections_that_come_at_the_end_are_closed() -> None:
    """A connection that is left open would be a warning of the garbage collector, which fails the test."""
    for _ in range(100):
        with listen(lambda head, body: b"") as port:
            clients = [socket.create_connection((HOST, port)) for _ in range(3)]
        for client in clients:
            client.close()
    gc.collect()
