"""Workers for a Dask scheduler.

They run on any machine that has this repository and its environment.
"""

import asyncio
import contextlib

from distributed import Nanny


def serve(address: str, workers: int) -> None:
    """Run workers for the scheduler at this address until it closes."""
    try:
        asyncio.run(_serve(address, workers))
    except (OSError, TimeoutError, ValueError) as error:
        raise SystemExit(f"no Dask scheduler at {address}: {error}") from None


async def _serve(address: str, workers: int) -> None:
    async with contextlib.AsyncExitStack() as stack:
        nannies = [
            # Each worker takes one notebook at a time; the sandbox limits its memory.
            await stack.enter_async_context(
                Nanny(
                    address, nthreads=1, memory_limit=None, dashboard_address=None, death_timeout=30
                )
            )
            for _ in range(workers)
        ]
        print(f"{workers} working for {address}", flush=True)
        await asyncio.gather(*(nanny.finished() for nanny in nannies))
