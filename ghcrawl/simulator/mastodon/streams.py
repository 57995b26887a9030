"""The host's streams: server-sent events, and one WebSocket with subscriptions. Nothing is replayed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from aiohttp import WSMsgType, web

from ghcrawl.simulator.mastodon.shapes import Shapes
from ghcrawl.simulator.mastodon.world import Status, World

THUMP_S: Final = 0.1
"""Interval of keep-alives, which also detect closed connections."""
END: Final = ("", "", "")


class Streaming:
    """The stream connections, and what is sent to them."""

    def __init__(self, world: World, shapes: Shapes) -> None:
        self.opened = 0
        self._shapes = shapes
        self._world = world
        self._listening: dict[asyncio.Queue[tuple[str, str, str]], web.BaseRequest] = {}
        world.listeners.append(self._happened)

    @property
    def connections(self) -> int:
        """Open connections."""
        return sum(request.transport is not None for request in self._listening.values())

    def _listen(self, queue: asyncio.Queue[tuple[str, str, str]], request: web.BaseRequest) -> None:
        self.opened += 1
        self._listening[queue] = request

    def cut(self) -> None:
        """End every connection after its queued events."""
        for queue in self._listening:
            queue.put_nowait(END)

    def _happened(self, event: str, status: Status) -> None:
        payload = str(status.id) if event == "delete" else json.dumps(self._shapes.status(status))
        for queue in self._listening:
            queue.put_nowait((event, payload, ",".join(status.tags)))

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        """One connection, for as long as both want it."""
        queue: asyncio.Queue[tuple[str, str, str]] = asyncio.Queue()
        try:
            if request.headers.get("Upgrade", "").lower() == "websocket":
                return await self._socket(request, queue)
            return await self._events(request, queue)
        finally:
            self._listening.pop(queue, None)

    async def _events(self, request: web.BaseRequest, queue: asyncio.Queue[tuple[str, str, str]]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b":)\n")
        self._listen(queue, request)
        with suppress(ConnectionResetError):  # they hung up
            while await self._tell(response, queue, wanted=request.query.get("tag", "")):
                pass
        return response

    async def _tell(
        self, response: web.StreamResponse, queue: asyncio.Queue[tuple[str, str, str]], *, wanted: str
    ) -> bool:
        """The next event, or a sign of life; False: the connection is cut."""
        try:
            event, payload, tags = await asyncio.wait_for(queue.get(), THUMP_S)
        except TimeoutError:
            await response.write(b":thump\n")
            return True
        if event and (event == "delete" or not wanted or wanted in tags.split(",")):
            await response.write(f"event: {event}\ndata: {payload}\n\n".encode())
        return bool(event)

    async def _socket(self, request: web.BaseRequest, queue: asyncio.Queue[tuple[str, str, str]]) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        subscribed: list[dict[str, Any]] = []
        reading = asyncio.create_task(self._read(socket, subscribed, lambda: self._listen(queue, request)))
        try:
            while not reading.done():
                coming = asyncio.create_task(queue.get())
                await asyncio.wait([coming, reading], return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    coming.cancel()
                    break
                event, payload, tags = coming.result()
                if not event:
                    break
                for each in subscribed:
                    if event == "delete" or each.get("tag", "") in ("", *tags.split(",")):
                        stream = [each["stream"], *([each["tag"]] if "tag" in each else [])]
                        await socket.send_json({"stream": stream, "event": event, "payload": payload})
        finally:
            reading.cancel()
            await socket.close()
        return socket

    @staticmethod
    async def _read(
        socket: web.WebSocketResponse, subscribed: list[dict[str, Any]], listens: Callable[[], None]
    ) -> None:
        async for message in socket:
            said = json.loads(message.data) if message.type is WSMsgType.TEXT else {}
            if said.get("type") == "subscribe":
                subscribed.append(said)
                listens()
