//! Simulated time of a process: what it goes into, and, if wanted, each part of it in order.

use serde_json::{Value, json};

/// Time that passes beside kernels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct HostTime {
    /// Of each launch, ns.
    pub(super) launch_ns: f64,
    /// Bytes that a copy between host and device moves in a ns; `None` if copies take no time.
    pub(super) bytes_per_ns: Option<f64>,
}

/// Simulated time of a process, by what it went into, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) kernels: f64,
    pub(super) launches: f64,
    pub(super) copies: f64,
}

impl Spent {
    /// All of it.
    pub(super) fn all(self) -> f64 {
        self.kernels + self.launches + self.copies
    }
}

/// The direction of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    ToDevice,
    ToHost,
}

/// A row of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Track {
    Launches = 1,
    Kernels,
    CopiesToDevice,
    CopiesToHost,
}

impl Track {
    const ALL: [(Track, &'static str); 4] = [
        (Track::Launches, "host: launches"),
        (Track::Kernels, "kernels"),
        (Track::CopiesToDevice, "copies to the device"),
        (Track::CopiesToHost, "copies to the host"),
    ];
}

/// A part of the time.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    track: Track,
    name: String,
    start_ns: f64,
    ns: f64,
    arguments: Value,
}

/// The simulated time of a process.
#[derive(Debug, PartialEq)]
pub(super) struct Timeline {
    host: HostTime,
    spent: Spent,
    /// The parts, if they are wanted.
    parts: Option<Vec<Part>>,
}

impl Timeline {
    /// No time has passed.
    pub(super) fn new(host: HostTime, keeps_parts: bool) -> Timeline {
        Timeline { host, spent: Spent::default(), parts: keeps_parts.then(Vec::new) }
    }

    /// The time by kernels, launches and copies.
    pub(super) fn spent(&self) -> Spent {
        self.spent
    }

    /// The time, ns.
    pub(super) fn now_ns(&self) -> f64 {
        self.spent.all()
    }

    fn part(&mut self, track: Track, name: &str, ns: f64, arguments: impl FnOnce() -> Value) {
        let start_ns = self.now_ns();
        if let Some(parts) = &mut self.parts {
            parts.push(Part { track, name: name.to_owned(), start_ns, ns, arguments: arguments() });
        }
    }

    /// Bytes are copied between host and device.
    pub(super) fn copy(&mut self, way: Way, bytes: u64) {
        let ns = self.host.bytes_per_ns.map_or(0.0, |rate| bytes as f64 / rate);
        let track = match way {
            Way::ToDevice => Track::CopiesToDevice,
            Way::ToHost => Track::CopiesToHost,
        };
        self.part(track, "copy", ns, || json!({ "bytes": bytes }));
        self.spent.copies += ns;
    }

    /// The host launches a kernel.
    pub(super) fn launch(&mut self, kernel: &str) {
        let ns = self.host.launch_ns;
        self.part(Track::Launches, kernel, ns, || json!({}));
        self.spent.launches += ns;
    }

    /// A kernel has run for so many cycles, with this grid and workgroup.
    pub(super) fn kernel(&mut self, kernel: &str, sizes: [[u32; 3]; 2], cycles: u64, ns: f64) {
        let [grid, workgroup] = sizes;
        let arguments = || json!({ "grid": grid, "workgroup": workgroup, "cycles": cycles });
        self.part(Track::Kernels, kernel, ns, arguments);
        self.spent.kernels += ns;
    }
}

/// Timelines of processes, by their names, as trace events of Chrome, which Perfetto reads. Times are microseconds.
pub(super) fn trace_events(processes: &[(&str, &Timeline)]) -> String {
    let mut events = Vec::new();
    for (number, (name, timeline)) in processes.iter().enumerate() {
        let process = number + 1;
        events.push(json!({ "ph": "M", "pid": process, "name": "process_name", "args": { "name": name } }));
        for (track, name) in Track::ALL {
            let row = track as u32;
            let named = ("thread_name", json!({ "name": name }));
            for (what, arguments) in [named, ("thread_sort_index", json!({ "sort_index": row }))] {
                events
                    .push(json!({ "ph": "M", "pid": process, "tid": row, "name": what, "args": arguments }));
            }
        }
        for part in timeline.parts.iter().flatten() {
            events.push(json!({
                "ph": "X", "pid": process, "tid": part.track as u32, "name": part.name,
                "ts": part.start_ns / 1e3, "dur": part.ns / 1e3, "args": part.arguments
            }));
        }
    }
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    format!("{{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n{}\n]}}\n", events.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_one_another_and_add_up() {
        let host = HostTime { launch_ns: 5000.0, bytes_per_ns: Some(10.0) };
        let mut timeline = Timeline::new(host, true);
        timeline.copy(Way::ToDevice, 1000);
        timeline.launch("k");
        timeline.kernel("k", [[2, 1, 1], [32, 1, 1]], 300, 200.0);
        timeline.copy(Way::ToHost, 50);
        let parts = timeline.parts.as_ref().unwrap();
        let times: Vec<_> = parts.iter().map(|part| (part.start_ns, part.ns)).collect();
        assert_eq!(times, [(0.0, 100.0), (100.0, 5000.0), (5100.0, 200.0), (5300.0, 5.0)]);
        assert_eq!(timeline.now_ns(), 5305.0);
        assert_eq!(timeline.spent(), Spent { kernels: 200.0, launches: 5000.0, copies: 105.0 });
        let document: Value = serde_json::from_str(&trace_events(&[("app", &timeline)])).unwrap();
        let events = document["traceEvents"].as_array().unwrap();
        let shown: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        assert_eq!(shown.len(), 4);
        assert_eq!(shown[2]["ts"], 5.1);
        assert_eq!(shown[2]["args"]["cycles"], 300);
        let named = events.iter().filter(|event| event["name"] == "thread_name").count();
        assert_eq!(named, Track::ALL.len());
    }

    #[test]
    fn nothing_is_kept_that_nobody_wants() {
        let mut timeline = Timeline::new(HostTime::default(), false);
        timeline.copy(Way::ToHost, 50);
        assert_eq!(timeline.parts, None);
    }
}
