"""Send requests to the service at a steady rate, and report what came back: ``python load.py --rate 500 --seconds 20``.

Each case is a row of the bundled digits, drawn with replacement, under an identifier of its own. The labels that the
service asks for are sent back, once a second. What finds no service, or loses it, is sent again, so that the service
may be stopped and started meanwhile.
"""

import argparse
import asyncio
import json
import time
from collections import Counter

import numpy as np

import abstain


class Client:
    """Connections to the service that are used again: a request costs less here than in a general library."""

    def __init__(self, port: int, connections: int) -> None:
        self.port, self.free, self.repeated = port, asyncio.Queue[tuple | None](), 0
        for _ in range(connections):
            self.free.put_nowait(None)

    async def send(self, method: str, path: str, content: object = None) -> dict:
        """Return what the service answers, after as many attempts as it takes; another status than 200 is an error."""
        while True:
            try:
                return await self._once(method, path, content)
            except (ConnectionError, EOFError):
                self.repeated += 1
                await asyncio.sleep(0.2)

    async def _once(self, method: str, path: str, content: object) -> dict:
        body = b"" if content is None else json.dumps(content).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        stream = await self.free.get()
        try:
            reader, writer = stream or await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            found = await reader.readexactly(int(answer.split("content-length: ")[1].split("\r\n")[0]))
            stream = reader, writer
        except (OSError, EOFError):
            stream = None
            raise
        finally:
            self.free.put_nowait(stream)
        if not answer.startswith("http/1.1 200"):
            raise ValueError(f"{answer.splitlines()[0]}: {found.decode()}")
        return json.loads(found)


async def main(port: int, rate: float, seconds: float, name: str) -> None:
    """Send each request at its time, whether or not earlier ones have come back, and print the outcome."""
    outputs = abstain.datasets.load("digits_logreg")
    wrong, confidence = outputs.loss_per_sample().astype(bool).tolist(), outputs.confidence.tolist()
    draws = np.random.default_rng(0).integers(len(wrong), size=int(rate * seconds)).tolist()
    client, times, errors, due = Client(port, connections=32), [], Counter(), []
    actions, stored = Counter(), Counter()

    async def decide(k: int) -> None:
        sent = time.perf_counter()
        try:
            found = await client.send("POST", "/decide", {"id": f"{name}-{k}", "values": [confidence[draws[k]]]})
        except ValueError as error:
            errors[str(error)] += 1
            return
        times.append(time.perf_counter() - sent)
        actions[found["action"]] += 1
        if found["label_wanted"]:
            due.append({"id": f"{name}-{k}", "wrong": wrong[draws[k]]})

    async def review() -> None:
        batch, due[:] = list(due), []
        found = await client.send("POST", "/labels", batch)
        stored["labels"] += found["stored"]

    begin, tasks = time.perf_counter(), []
    for k in range(len(draws)):
        await asyncio.sleep(max(0.0, begin + k / rate - time.perf_counter()))
        tasks.append(asyncio.create_task(decide(k)))
        if k % int(rate) == int(rate) - 1:
            tasks.append(asyncio.create_task(review()))
    await asyncio.gather(*tasks)
    took = time.perf_counter() - begin
    await review()
    print(f"{len(times)} decisions in {took:.1f} s ({len(times) / took:.0f} a second), {errors.total()} errors")
    print(f"{client.repeated} requests were sent again")
    print("median, 99 %, slowest: " + ", ".join(f"{1000 * each:.1f} ms" for each in np.quantile(times, [0.5, 0.99, 1])))
    print(f"{actions['answer']} answered, {stored['labels']} labels stored")
    for error, count in errors.items():
        print(f"{count} x {error}")
    print((await client.send("GET", "/monitor"))["headline"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--rate", type=float, default=500.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--name", default="load", help="beginning of the identifiers: another one for each run")
    given = parser.parse_args()
    asyncio.run(main(given.port, given.rate, given.seconds, given.name))
