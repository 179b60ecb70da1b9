"""Ends a service without losing requests: those that run are answered, new ones are refused."""

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import Iterator

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_GRACE = 1.0  # seconds beyond the time limit of an answer


@contextlib.contextmanager
def handled(service) -> Iterator[None]:
    """Handles signals in this block, within the event loop of the service.

    At the first one the service refuses new requests. When those that run are answered, the signal
    goes to who had handled it before, which is uvicorn. A second signal goes there at once. Does
    nothing outside the main thread.

    Args:
        service: has `stopping`, `running` and `settings.timeout`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before, tasks = {}, []

    async def drain(number: int) -> None:
        end = time.monotonic() + service.settings.timeout + _GRACE
        while service.running and time.monotonic() < end:
            await asyncio.sleep(0.02)
        before[number](number, None)

    def receive(number, frame) -> None:
        if service.stopping:
            before[number](number, frame)
            return
        service.stopping = True
        loop.call_soon_threadsafe(lambda: tasks.append(loop.create_task(drain(number))))

    for number in _SIGNALS:
        if callable(signal.getsignal(number)):
            before[number] = signal.signal(number, receive)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
