"""Send requests to the service at a steady rate, and report what came back: ``python load.py --rate 500 --seconds 20``.

Each case is a row of the bundled digits, drawn with replacement, under an identifier of its own. The labels that the
service asks for are sent back, once a second.
"""

import argparse
import asyncio
import itertools
import time

import httpx
import numpy as np

import abstain


async def main(address: str, rate: float, seconds: float, name: str) -> None:
    """Send the requests, each at its time whether or not earlier ones have come back, and print the outcome."""
    outputs = abstain.datasets.load("digits_logreg")
    wrong, confidence = outputs.loss_per_sample().astype(bool), outputs.confidence
    draws = np.random.default_rng(0).integers(len(wrong), size=int(rate * seconds))
    times, answers, errors, due = [], [], [], []

    async def one(client: httpx.AsyncClient, k: int) -> None:
        row, sent = draws[k], time.perf_counter()
        try:
            found = await client.post("/decide", json={"id": f"{name}-{k}", "values": [float(confidence[row])]})
            found.raise_for_status()
        except httpx.HTTPError as error:
            errors.append(repr(error))
            return
        times.append(time.perf_counter() - sent)
        answers.append(found.json())
        if answers[-1]["label_wanted"]:
            due.append({"id": f"{name}-{k}", "wrong": bool(wrong[row])})

    async def review(client: httpx.AsyncClient) -> None:
        batch, due[:] = list(due), []
        (await client.post("/labels", json=batch)).raise_for_status()

    limits = httpx.Limits(max_connections=50, max_keepalive_connections=50)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=30.0, trust_env=False) as client:
        begin, tasks = time.perf_counter(), []
        for k in range(len(draws)):
            await asyncio.sleep(max(0.0, begin + k / rate - time.perf_counter()))
            tasks.append(asyncio.create_task(one(client, k)))
            if k % int(rate) == int(rate) - 1:
                tasks.append(asyncio.create_task(review(client)))
        await asyncio.gather(*tasks)
        took = time.perf_counter() - begin
        await review(client)
        state = (await client.get("/monitor")).json()
    quantiles = np.quantile(times, [0.5, 0.99, 1.0]) * 1000.0
    print(f"{len(answers)} answers in {took:.1f} s ({len(answers) / took:.0f} a second), {len(errors)} errors")
    print("median, 99 %, slowest: " + ", ".join(f"{each:.1f} ms" for each in quantiles))
    print(f"answered {np.mean([each['action'] == 'answer' for each in answers]):.1%}")
    for error, alike in itertools.groupby(sorted(errors)):
        print(f"{len(list(alike))} x {error}")
    print(state["headline"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="http://127.0.0.1:8000")
    parser.add_argument("--rate", type=float, default=500.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--name", default="load")
    given = parser.parse_args()
    asyncio.run(main(given.address, given.rate, given.seconds, given.name))
