//! The model of a channel against DRAMsim3 (Li et al., "DRAMsim3: A Cycle-Accurate, Thermal-Capable DRAM
//! Simulator", IEEE Computer Architecture Letters, 2020): unloaded latencies and streaming bandwidth.

use std::fmt::Write;
use wave_isa::table::CacheHint;
use wave_machine::config::{Config, Dram};
use wave_machine::memory::dram::IssuedCommand;
use wave_machine::memory::dram::timing::Command;
use wave_machine::memory::{MemoryPort, MemorySystem, Request};

/// A memory device as both simulators take it. Times in clocks.
struct Device {
    /// Its name in DRAMsim3.
    protocol: &'static str,
    /// Width of the channel and of one chip in bits, and transfers per burst.
    bus_bits: u32,
    chip_bits: u32,
    burst_length: u32,
    /// Clocks per burst. DRAMsim3 derives them from the protocol.
    burst_clocks: u32,
    /// Columns per row, in words of the bus width.
    columns: u32,
    rows: u32,
    bank_groups: u32,
    banks_of_group: u32,
    t_ck: f64,
    cl: u32,
    cwl: u32,
    rcd: u32,
    rp: u32,
    ras: u32,
    rrd: [u32; 2],
    faw: u32,
    ccd: [u32; 2],
    wtr: [u32; 2],
    wr: u32,
    rtp: u32,
    rfc: u32,
    refi: u32,
}

/// Clocks that DRAMsim3 adds to enqueue a request and to call back.
const OVERHEAD: u64 = 2;

/// Timings close to real parts: those that DRAMsim3 ships for an 8 Gb GDDR6, an 8 Gb HBM2 stack, and
/// DDR4-3200.
const DEVICES: [Device; 3] = [
    Device {
        protocol: "GDDR6",
        bus_bits: 64,
        chip_bits: 16,
        burst_length: 16,
        burst_clocks: 1,
        columns: 2048,
        rows: 16384,
        bank_groups: 4,
        banks_of_group: 4,
        t_ck: 0.66,
        cl: 24,
        cwl: 16,
        rcd: 24,
        rp: 24,
        ras: 54,
        rrd: [9, 9],
        faw: 32,
        ccd: [3, 4],
        wtr: [7, 7],
        wr: 16,
        rtp: 3,
        rfc: 126,
        refi: 11862,
    },
    Device {
        protocol: "HBM",
        bus_bits: 128,
        chip_bits: 128,
        burst_length: 4,
        burst_clocks: 2,
        columns: 256,
        rows: 32768,
        bank_groups: 4,
        banks_of_group: 4,
        t_ck: 1.0,
        cl: 14,
        cwl: 4,
        rcd: 14,
        rp: 14,
        ras: 34,
        rrd: [4, 6],
        faw: 30,
        ccd: [1, 4],
        wtr: [6, 8],
        wr: 16,
        rtp: 6,
        rfc: 260,
        refi: 3900,
    },
    Device {
        protocol: "DDR4",
        bus_bits: 64,
        chip_bits: 8,
        burst_length: 8,
        burst_clocks: 4,
        columns: 1024,
        rows: 65536,
        bank_groups: 4,
        banks_of_group: 4,
        t_ck: 0.63,
        cl: 22,
        cwl: 16,
        rcd: 22,
        rp: 22,
        ras: 52,
        rrd: [4, 8],
        faw: 34,
        ccd: [4, 8],
        wtr: [4, 12],
        wr: 24,
        rtp: 12,
        rfc: 560,
        refi: 12480,
    },
];

/// Clocks between refreshes, in both simulators, where there should be no refresh.
const NEVER: u32 = 50_000_000;

impl Device {
    fn request_bytes(&self) -> u64 {
        u64::from(self.bus_bits / 8 * self.burst_length)
    }

    fn requests_of_row(&self) -> u64 {
        u64::from(self.columns / self.burst_length)
    }

    /// Address of a request for DRAMsim3. From the lowest bits: column, bank group, bank, row.
    fn address(&self, column: u64, group: u64, bank: u64, row: u64) -> u64 {
        let banks = (row * u64::from(self.banks_of_group) + bank) * u64::from(self.bank_groups) + group;
        (banks * self.requests_of_row() + column) * self.request_bytes()
    }

    fn theirs(&self, refresh: bool) -> Theirs {
        let dir = tempfile::tempdir().unwrap();
        let mut text = String::new();
        let words = u64::from(self.columns)
            * u64::from(self.rows)
            * u64::from(self.bank_groups * self.banks_of_group);
        let megabytes = words * u64::from(self.bus_bits / 8) / (1 << 20);
        let Device { protocol, rows, bus_bits, chip_bits, burst_length, .. } = self;
        // The unit of a column differs by protocol: a burst, a prefetch, or a word.
        let columns = match *protocol {
            "GDDR6" => self.columns / burst_length,
            "HBM" => self.columns / 2,
            _ => self.columns,
        };
        let _ = write!(
            text,
            "[dram_structure]\nprotocol = {protocol}\nbankgroups = {}\nbanks_per_group = {}\nrows = {rows}\n\
             columns = {columns}\ndevice_width = {chip_bits}\nBL = {burst_length}\nbankgroup_enable = true\n\
             [timing]\ntCK = {}\nAL = 0\n",
            self.bank_groups, self.banks_of_group, self.t_ck
        );
        let refi = if refresh { self.refi } else { NEVER };
        for (name, value) in [
            ("CL", self.cl),
            ("CWL", self.cwl),
            ("tRCD", self.rcd),
            ("tRCDRD", self.rcd),
            ("tRCDWR", self.rcd),
            ("tRP", self.rp),
            ("tRAS", self.ras),
            ("tRFC", self.rfc),
            ("tREFI", refi),
            ("tRRD_S", self.rrd[0]),
            ("tRRD_L", self.rrd[1]),
            ("tWTR_S", self.wtr[0]),
            ("tWTR_L", self.wtr[1]),
            ("tFAW", self.faw),
            ("tWR", self.wr),
            ("tCCD_S", self.ccd[0]),
            ("tCCD_L", self.ccd[1]),
            ("tRTP", self.rtp),
            ("tRTP_S", self.rtp),
            ("tRTP_L", self.rtp),
        ] {
            let _ = writeln!(text, "{name} = {value}");
        }
        let _ = write!(
            text,
            "[system]\nchannel_size = {megabytes}\nchannels = 1\nbus_width = {bus_bits}\n\
             address_mapping = rochrababgco\nqueue_structure = PER_BANK\nrow_buf_policy = OPEN_PAGE\n\
             cmd_queue_size = 8\ntrans_queue_size = 32\n[other]\nepoch_period = 1000000000\noutput_level = 0\n"
        );
        let file = dir.path().join("device.ini");
        std::fs::write(&file, text).unwrap();
        Theirs { system: dramsim3::MemorySystem::new(&file, dir.path()).unwrap(), _dir: dir }
    }

    fn ours(&self, refresh: bool) -> Dram {
        Dram {
            channels: 1,
            banks: self.bank_groups * self.banks_of_group,
            bank_groups: self.bank_groups,
            row_bytes: self.columns * self.bus_bits / 8,
            clock_mhz: 1000,
            bus_bits: self.bus_bits,
            transfers_per_clock: self.burst_length / self.burst_clocks,
            burst_bytes: self.request_bytes() as u32,
            t_rcd: self.rcd,
            t_rp: self.rp,
            t_ras: self.ras,
            t_rc: self.ras + self.rp,
            t_cl: self.cl,
            t_cwl: self.cwl,
            t_rrd_s: self.rrd[0],
            t_rrd_l: self.rrd[1],
            t_faw: self.faw,
            t_ccd_s: self.ccd[0].max(self.burst_clocks),
            t_ccd_l: self.ccd[1].max(self.burst_clocks),
            t_wtr_s: self.wtr[0],
            t_wtr_l: self.wtr[1],
            t_rtp: self.rtp,
            t_wr: self.wr,
            t_rfc: self.rfc,
            t_refi: if refresh { self.refi } else { 0 },
            ..Config::example().dram
        }
    }
}

struct Theirs {
    system: dramsim3::MemorySystem,
    _dir: tempfile::TempDir,
}

impl Theirs {
    /// Clocks of one read on an idle channel, long after the bank's last command.
    fn read(&mut self, address: u64) -> u64 {
        (0..1000).for_each(|_| self.system.tick(|_, _| ()));
        assert!(self.system.add(address, false));
        let mut done = false;
        let mut clocks = 0;
        while !done {
            self.system.tick(|_, _| done = true);
            clocks += 1;
        }
        clocks
    }

    /// Clocks per read in a long stream of reads.
    fn stream(&mut self, address: impl Fn(u64) -> u64, count: u64) -> f64 {
        let (mut sent, mut seen, mut start, mut clock) = (0, 0, 0, 0u64);
        while seen < count {
            if sent < count && self.system.can_add(address(sent), false) {
                self.system.add(address(sent), false);
                sent += 1;
            }
            self.system.tick(|_, _| seen += 1);
            clock += 1;
            if seen <= count / 10 {
                start = clock;
            }
        }
        (clock - start) as f64 / (count - count / 10) as f64
    }
}

/// Our side: one core port, one slice and one channel. The core clock is `clocks` times the channel's.
struct Ours {
    system: MemorySystem,
    port: MemoryPort,
    now: u64,
}

impl Ours {
    fn new(dram: Dram, cycles_per_clock: u32) -> Ours {
        let mut config = Config::example();
        config.cores = 1;
        config.core_clock_mhz = 1000 * cycles_per_clock;
        config.core.l1.line_bytes = dram.burst_bytes;
        config.core.fetch.icache_line_bytes = config.core.fetch.icache_line_bytes.min(dram.burst_bytes);
        config.core.l1.sector_bytes = dram.burst_bytes;
        (config.l2.slices, config.l2.mshrs, config.l2.queue_entries) = (1, 256, 64);
        config.interconnect.latency_cycles = 1;
        config.interconnect.port_bytes_per_cycle = 1024;
        config.interconnect.queue_entries = 64;
        config.dram = dram;
        let found = config.check();
        assert!(found.is_empty(), "{found:?}");
        let (mut system, mut ports) = MemorySystem::new(&config, vec![0; 32 << 20], &[]);
        system.record_commands();
        Ours { system, port: ports.remove(0), now: 0 }
    }

    /// Advances one cycle. Returns true if a reply arrived.
    fn cycle(&mut self, line: Option<u64>) -> bool {
        let replied = self.port.reply(self.now).is_some();
        if replied {
            self.port.pop_reply(self.now);
        }
        if let Some(line) = line {
            self.port.push(self.now, Request::read(0, line, 1, CacheHint::Cached));
        }
        self.system.run(self.now, self.now + 1);
        self.system.exchange(&mut self.port);
        self.now += 1;
        replied
    }

    fn read(&mut self, line: u64) -> u64 {
        (0..1000).for_each(|_| assert!(!self.cycle(None)));
        let start = self.now;
        self.cycle(Some(line));
        while !self.cycle(None) {}
        self.now - start
    }

    fn commands(&self) -> &[IssuedCommand] {
        self.system.commands(0)
    }
}

/// Unloaded latencies of row hit, closed bank and row conflict, in clocks from the arrival of a read at the
/// channel to the end of its data.
fn our_latencies(device: &Device) -> [u64; 3] {
    let mut ours = Ours::new(device.ours(false), 1);
    let bytes = device.request_bytes();
    let mut found: [Option<u64>; 3] = [None; 3];
    // Pairs of lines in scattered rows, the two lines four apart. All are in the first bank group.
    let lines = (0..300).map(|i| i / 2 * 7919 % 4_000 * 8 + i % 2 * 4);
    for line in lines {
        let before = ours.commands().len();
        let miss = ours.read(line * bytes);
        let commands: Vec<Command> = ours.commands()[before..].iter().map(|issued| issued.command).collect();
        let hit_in_l2 = ours.read(line * bytes);
        let kind = match commands[..] {
            [Command::Read] => 0,
            [Command::Activate, Command::Read] => 1,
            [Command::Precharge, Command::Activate, Command::Read] => 2,
            _ => panic!("{commands:?}"),
        };
        // The slice requests the line in the cycle after the miss.
        let clocks = miss - hit_in_l2 - 1;
        assert_eq!(*found[kind].get_or_insert(clocks), clocks, "{commands:?}");
    }
    found.map(|clocks| clocks.expect("all states of a bank occur"))
}

#[test]
fn unloaded_latencies_agree() {
    for (device, known) in DEVICES.iter().zip([[27, 51, 75], [18, 32, 46], [28, 50, 72]]) {
        let mut theirs = device.theirs(false);
        let closed = theirs.read(device.address(0, 0, 0, 0));
        let hit = theirs.read(device.address(1, 0, 0, 0));
        let conflict = theirs.read(device.address(1, 0, 0, 5));
        assert_eq!([hit, closed, conflict], known, "{}: DRAMsim3", device.protocol);
        assert_eq!(our_latencies(device).map(|clocks| clocks + OVERHEAD), known, "{}", device.protocol);
    }
}

/// Clocks per read in a long stream of lines, measured on the commands.
fn our_stream(dram: Dram, line: impl Fn(u64) -> u64, count: u64) -> f64 {
    let mut ours = Ours::new(dram, 4);
    let (mut sent, mut seen) = (0, 0);
    while seen < count {
        let more = (sent < count && sent < seen + 40 && ours.port.ready(ours.now)).then(|| line(sent));
        sent += u64::from(more.is_some());
        seen += u64::from(ours.cycle(more));
    }
    let reads: Vec<u64> =
        ours.commands().iter().filter(|c| c.command == Command::Read).map(|c| c.clock).collect();
    let first = reads.len() / 10;
    (reads[reads.len() - 1] - reads[first]) as f64 / (reads.len() - 1 - first) as f64
}

#[test]
fn streaming_bandwidth_agrees() {
    let count = 20_000;
    for device in &DEVICES {
        let bytes = device.request_bytes();
        for refresh in [false, true] {
            // Consecutive lines rotate through the bank groups.
            let interleaved = |i: u64| {
                let (group, column) = (i % 4, i / 4 % device.requests_of_row());
                let bank = i / 4 / device.requests_of_row();
                device.address(column, group, bank % 4, bank / 4)
            };
            let theirs = device.theirs(refresh).stream(interleaved, count);
            let ours = our_stream(device.ours(refresh), |i| i * bytes, count);
            let apart = f64::from(device.ccd[0].max(device.burst_clocks));
            let name = format!("{} with refresh {refresh}, groups in turn", device.protocol);
            assert!((0.999..1.1).contains(&(theirs / apart)), "{name}: DRAMsim3 has {theirs} clocks");
            assert!((ours / theirs - 1.0).abs() < 0.03, "{name}: {ours} clocks, DRAMsim3 has {theirs}");
            // Consecutive lines within a row, so that the longer distance between columns applies.
            let one_after_the_other = |i: u64| {
                let (column, bank) = (i % device.requests_of_row(), i / device.requests_of_row());
                device.address(column, 0, bank % 4, bank / 4)
            };
            let theirs = device.theirs(refresh).stream(one_after_the_other, count);
            let one_group = Dram { bank_groups: 1, ..device.ours(refresh) };
            let ours = our_stream(one_group, |i| i * bytes, count);
            let apart = f64::from(device.ccd[1].max(device.burst_clocks));
            let name = format!("{} with refresh {refresh}, one group", device.protocol);
            assert!((0.999..1.1).contains(&(theirs / apart)), "{name}: DRAMsim3 has {theirs} clocks");
            assert!((ours / theirs - 1.0).abs() < 0.03, "{name}: {ours} clocks, DRAMsim3 has {theirs}");
        }
    }
}
