"""Gives the runs of `wave-sim sweep --backend dask` to the workers of Dask.

Standard input has one line of JSON: the command of a process that runs points, its folder, the lines that name the runs,
and the scheduler. Standard output has a line of JSON for each run that is done. When standard input ends, so does this.

Each worker keeps a process and gives it one line at a time. The process ends when the pipe to it closes, so it does not
outlive its worker. What this program says is progress only: wave-sim looks at the results themselves.

A task of Dask has several runs, since Dask takes some milliseconds for each task. If a worker dies, its task goes to another one,
whose process finds the runs that were done in the store.

Whoever can speak to a scheduler or a worker can have it run code. So those of the cluster on this host take TLS only, with a
certificate that is made for this run and lies in memory alone, and they have no page in HTTP.
"""

import sys

# The working folder may hold a file that is named as a module.
sys.path[:] = [folder for folder in sys.path if folder]

import json
import logging
import os
import signal
import tempfile
import threading


# Runs of a task at most, and tasks of a worker at least, as far as there are so many runs.
MOST_RUNS = 16
LEAST_TASKS = 8


# What a worker imports before it starts, as text: without the page of a worker, there is no port for it.
NO_PAGE = """
from distributed.node import ServerNode

ServerNode.start_http_server = lambda self, *_, **__: None
"""


def say(**what):
    print(json.dumps(what), flush=True)


class Missing(Exception):
    """A package that is not installed, and what needs it."""


def run(command, folder, lines):
    """Runs points, on a worker. Gives what its process says of each."""
    import subprocess
    import threading

    from distributed import get_worker

    processes = get_worker().__dict__.setdefault("wave_sim_processes", {})
    place = (threading.get_ident(), tuple(command), folder)
    process = processes.get(place)
    if process is None or process.poll() is not None:
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, text=True)
        processes[place] = process
    answers = []
    for line in lines:
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:
            del processes[place]
            raise RuntimeError(f"its process ended with {process.wait()}")
        answers.append(answer)
    return answers


def local_cluster(jobs, folder):
    from distributed import LocalCluster
    from distributed.security import Security

    try:
        security = Security.temporary()
    except ImportError as error:
        raise Missing(
            "--backend dask: the cluster on this host needs the Python package `cryptography`, "
            "for the certificate that keeps other users of the host out",
            "pip install distributed cryptography, in the environment whose python3 is first on the path",
        ) from error
    exec(NO_PAGE)
    return LocalCluster(
        n_workers=jobs,
        threads_per_worker=1,
        processes=True,
        protocol="tls://",
        host="127.0.0.1",
        security=security,
        dashboard_address=None,
        preload=[NO_PAGE],
        local_directory=folder,
        silence_logs=logging.CRITICAL,
    )


def connect(plan, folder):
    from distributed import Client

    scheduler = plan["scheduler"]
    if scheduler is None:
        cluster = local_cluster(plan["jobs"], folder)
        return Client(cluster), cluster
    if os.path.exists(scheduler):
        client = Client(scheduler_file=scheduler, timeout="10s")
    else:
        client = Client(scheduler, timeout="10s")
    address = client.scheduler.address
    if not address.startswith("tls://"):
        say(
            warning=f"--scheduler: `{address}` is not encrypted: whoever reaches its port, or that of a worker, "
            "can have it run code",
            hint="a scheduler and workers with certificates have addresses in tls://; the book says how",
        )
    return client, None


def main():
    plan = json.loads(sys.stdin.readline())

    def watch():
        sys.stdin.read()
        # A signal wakes the main thread wherever it waits.
        os.kill(os.getpid(), signal.SIGINT)

    # A worker that dies is dealt with here; what Dask says of it is not for the user. Its workers take this over.
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    logging.getLogger("tornado").setLevel(logging.CRITICAL)
    try:
        from distributed import as_completed

        for name in ("distributed", "distributed.client", "distributed.scheduler", "distributed.nanny"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    except ImportError as error:
        say(error=f"--backend dask: Python cannot import `distributed`: {error}",
            hint="pip install distributed cryptography, in the environment whose python3 is first on the path")
        return
    threading.Thread(target=watch, daemon=True).start()
    # Only this user reads what is in it.
    folder = tempfile.TemporaryDirectory(prefix="wave-sim-dask-", ignore_cleanup_errors=True)
    try:
        client, cluster = connect(plan, folder.name)
    except Missing as error:
        message, hint = error.args
        say(error=message, hint=hint)
        return
    except Exception as error:
        if plan["scheduler"] is None:
            say(error=f"--backend dask: no cluster starts on this host: {type(error).__name__}: {error}")
            return
        say(error=f"--scheduler: there is no Dask scheduler at `{plan['scheduler']}`: {type(error).__name__}",
            hint="dask scheduler starts one, and prints its address; --scheduler-file writes it to a file")
        return
    futures = {}
    try:
        runs = plan["tasks"]
        workers = max(1, len(client.nthreads()))
        each = max(1, min(MOST_RUNS, len(runs) // (workers * LEAST_TASKS)))
        for start in range(0, len(runs), each):
            task = runs[start : start + each]
            lines = [f"{number} {key}" for number, key in task]
            # What a worker has lost is given to another one.
            future = client.submit(
                run, plan["command"], plan["folder"], lines, key=f"wave-sim-{task[0][1]}", retries=3, pure=False
            )
            futures[future] = [number for number, _ in task]
        for future in as_completed(list(futures)):
            numbers = futures.pop(future)
            if future.status == "finished":
                for answer in future.result():
                    say(**json.loads(answer))
            else:
                why = future.exception() if future.status == "error" else future.status
                for number in numbers:
                    say(lost=number, why=f"{type(why).__name__}: {why}")
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        client.cancel(list(futures), force=True)
    except Exception as error:
        say(error=f"--backend dask: {type(error).__name__}: {error}", hint="the same command goes on from there")
    finally:
        client.close(timeout=2)
        if cluster is not None:
            cluster.close(timeout=5)
        folder.cleanup()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        # It was not connected yet, so there is nothing to cancel.
        pass
