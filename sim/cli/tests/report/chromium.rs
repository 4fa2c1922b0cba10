//! A headless browser, controlled with the DevTools protocol over two pipes.
//!
//! Chromium with `--remote-debugging-pipe` reads commands from file descriptor 3 and writes answers and
//! events to 4. Each is a JSON object followed by a zero byte. Two named pipes, and a shell that opens them
//! as these descriptors, suffice.

use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Environment variable that skips the browser tests if it is 1.
const SKIP: &str = "WAVE_SIM_SKIP_BROWSER";

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    session: String,
    next: u64,
    /// Events received, in order.
    pub events: Vec<Value>,
    _folder: TempDir,
}

impl Browser {
    /// Starts the browser. `None` if the user skips its tests.
    ///
    /// # Panics
    /// If no browser is installed and the tests are not skipped.
    pub(crate) fn start() -> Option<Browser> {
        if std::env::var(SKIP).is_ok_and(|value| value == "1") {
            eprintln!("{SKIP}=1: the report is not tried in a browser");
            return None;
        }
        let folder = TempDir::new().unwrap();
        let pipe = |name: &str| {
            let path = folder.path().join(name);
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            path
        };
        let (commands, answers) = (pipe("commands"), pipe("answers"));
        let program = ["chromium", "chromium-browser", "google-chrome"]
            .into_iter()
            .find(|name| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success()))
            .unwrap_or_else(|| {
                panic!("no chromium; on Debian: sudo apt-get install -y chromium; or {SKIP}=1 to go without")
            });
        let script = "exec \"$1\" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                      --hide-scrollbars --user-data-dir=\"$2\" --remote-debugging-pipe 3<\"$3\" 4>\"$4\"";
        let mut child = Command::new("sh");
        child.args(["-c", script, "sh", program]);
        child.arg(folder.path().join("profile")).arg(&commands).arg(&answers);
        let child = child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Opening a pipe waits for the other end. The order is that of the shell.
        let to = File::options().write(true).open(&commands).unwrap();
        let from = BufReader::new(File::open(&answers).unwrap());
        let mut browser =
            Browser { child, to, from, session: String::new(), next: 0, events: Vec::new(), _folder: folder };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        browser.session =
            browser.call("Target.attachToTarget", attach)["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network", "Accessibility"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser has gone");
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Sends a command of the protocol and returns its result.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let answer = self.read();
            if answer["id"] == self.next {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    /// Opens a file with this window size and colour scheme.
    pub(crate) fn open(&mut self, file: &Path, (width, height): (u32, u32), scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
        self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        while self.events.iter().all(|event| event["method"] != "Page.loadEventFired") {
            let event = self.read();
            self.events.push(event);
        }
        self.events.retain(|event| event["method"] != "Page.loadEventFired");
    }

    /// Evaluates an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let result = self.call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Presses and releases a key.
    pub(crate) fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => panic!("{key}"),
        };
        let mut event = json!({"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code});
        if key == "Enter" {
            event["text"] = json!("\r");
        }
        self.call("Input.dispatchKeyEvent", event.clone());
        event["type"] = json!("keyUp");
        self.call("Input.dispatchKeyEvent", event);
    }

    /// Moves the mouse to places in the window, with its button down from the first to the last.
    pub(crate) fn drag(&mut self, places: &[(f64, f64)]) {
        let mut mouse = |kind: &str, (x, y): (f64, f64), buttons: u32| {
            let event =
                json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        };
        let (first, last) = (places[0], places[places.len() - 1]);
        mouse("mouseMoved", first, 0);
        mouse("mousePressed", first, 1);
        places.iter().for_each(|&place| mouse("mouseMoved", place, 1));
        mouse("mouseReleased", last, 0);
    }

    /// Problems in the page: errors and warnings of its scripts, and all requests for other files.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let complaint = |event: &Value| {
            let parameters = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled" => {
                    Some(event.to_string())
                }
                "Network.requestWillBeSent" => {
                    let url = parameters["request"]["url"].as_str()?;
                    (!url.starts_with("file:///")).then(|| url.to_owned())
                }
                _ => None,
            }
        };
        self.events.iter().filter_map(complaint).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
