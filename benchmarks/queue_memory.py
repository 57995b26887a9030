"""How much memory a crawl takes while a million requests wait in its SQLite file.

    python -m benchmarks.queue_memory [--waiting 1000000]

Fills a queue, opens it afresh as the next crawl does, and works on it for a while. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.queue_pops import fill, open_queue, pops_per_cpu_second

WORK = 20_000


def peak_mb() -> float:
    """The most this process ever held, in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1_000_000 if sys.platform == "darwin" else 1_000), 1)


async def fill_file(path: Path, waiting: int) -> dict[str, float]:
    began, cpu = time.perf_counter(), time.process_time()
    file, queue = await open_queue(path)
    await fill(queue, 0, waiting)
    await file.close()
    return {
        "fill_peak_mb": peak_mb(),
        "fill_s": round(time.perf_counter() - began, 1),
        "fill_us_cpu_each": round((time.process_time() - cpu) / waiting * 1e6, 1),
    }


async def work_on_file(path: Path, waiting: int) -> dict[str, float]:
    idle = peak_mb()
    began = time.perf_counter()
    file, queue = await open_queue(path)
    opened_s = time.perf_counter() - began
    for start in range(waiting, waiting + WORK, 1000):
        await fill(queue, start, start + 1000)
        await pops_per_cpu_second(queue, 1000)
    await queue.depths()
    await queue.peek("normal", limit=100)
    await file.close()
    return {"open_ms": round(opened_s * 1000, 1), "peak_mb": peak_mb(), "peak_mb_before_opening": idle}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waiting", type=int, default=1_000_000)
    parser.add_argument("--only", choices=("fill", "work"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        step = fill_file if given.only == "fill" else work_on_file
        print(json.dumps(asyncio.run(step(given.file, given.waiting))))
        return
    figures: dict[str, float] = {"waiting": given.waiting}
    with tempfile.TemporaryDirectory() as directory:
        for only in ("fill", "work"):  # in processes of their own, because a peak never falls
            command = [sys.executable, "-m", "benchmarks.queue_memory", "--waiting", str(given.waiting)]
            command += ["--only", only, "--file", f"{directory}/crawl.db"]
            figures |= json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        figures["bytes_on_disk_each"] = round(Path(directory, "crawl.db").stat().st_size / given.waiting)
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
