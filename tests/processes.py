"""Work in a process beside that of the tests, which begins at once where a process can be divided."""

import sys
from multiprocessing import get_context


def beside(work, *arguments):
    """Start ``work(send, *arguments)`` in a process; return a function that waits for what it sends.

    On Linux the process has what is imported here, but not the threads of polars, which must not be used there.
    Elsewhere an interpreter is started, which takes a second or more.
    """
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(there.send, *arguments), daemon=True)
    process.start()
    there.close()

    def received(seconds=120):
        if not here.poll(seconds):
            process.kill()
        sent = here.recv()  # or EOFError, where the process has ended
        process.join(10)
        return sent

    received.process = process
    return received
