//! Observers of plug-ins: the trait, and those that a configuration has enabled.

use super::{Event, Observer, Wants};
use crate::config::Config;
use crate::registry::{Maker, PlugIn, Plugged, Registry, Role, Values, installed};
use wave_capture::{Capture, CaptureDyn, Misfit, Reader, Writer};
use wave_isa::program::Launch;

/// The parameter that every observer has: 1 in a configuration that enables it.
pub const ENABLED: &str = "enabled";

/// An observer of a plug-in. There is one for each run that enables it, and it watches all launches.
///
/// It is told what it wants in the order of cycles, and in a cycle in the order of cores, whatever the number of threads.
/// The memory side has a sequence of its own: its events ([`Wants::OF_CORES`] has all others) come some cycles late, those
/// of a slice or a channel in order. Which of them come between two events of cores depends on where a run stops, so an
/// observer keeps the two apart.
pub trait RunObserver: CaptureDyn + Send {
    /// The kinds of events that it wants. It is asked before each launch.
    fn wants(&self) -> Wants;

    /// A launch begins.
    fn begins(&mut self, launch: &Launch) {
        let _ = launch;
    }

    /// An event of a kind that it wants.
    fn event(&mut self, event: &Event<'_>);

    /// The values of its counters, in the order of their declaration, over all launches so far. They never fall: a report
    /// has what its launch adds.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }

    /// The text that the run prints, or writes to a file, at its end.
    fn text(&self) -> Option<String> {
        None
    }
}

/// The specification of an observer.
#[derive(Debug, Clone)]
pub struct ObserverSetup {
    values: Values,
    /// Cores of the machine.
    pub cores: u32,
    /// Schedulers of a core.
    pub schedulers: u32,
    /// Wave slots of a core.
    pub wave_slots: u32,
    /// Lanes of a wave.
    pub wave_width: u32,
    /// Bytes of a line of the L1.
    pub line_bytes: u32,
    /// Bytes of a sector of a line.
    pub sector_bytes: u32,
}

impl ObserverSetup {
    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If the plug-in declares none of this name.
    pub fn parameter(&self, name: &str) -> u64 {
        self.values.of(name)
    }
}

type MakeObserver = Box<dyn Fn(&ObserverSetup) -> Box<dyn RunObserver> + Send + Sync>;

impl Registry {
    /// Registers an observer. `make` is called once for each run whose configuration has set its parameter
    /// [`enabled`](ENABLED).
    pub fn observer<T: RunObserver + 'static>(
        &mut self,
        name: &'static str,
        make: impl Fn(&ObserverSetup) -> T + Send + Sync + 'static,
    ) -> &mut PlugIn {
        let make: MakeObserver = Box::new(move |setup| Box::new(make(setup)));
        let plug_in = self.add(name, Role::Observer, Maker::Observer(Box::new(make)));
        plug_in.parameter(ENABLED, 0, 0..=1, "", "1 lets the observer watch runs; 0 costs nothing.")
    }
}

/// The observers of plug-ins that watch a run.
#[derive(Debug, Default)]
pub struct RegisteredObservers(Vec<Registered>);

/// One of them.
#[derive(Debug)]
struct Registered {
    observer: Plugged<dyn RunObserver>,
    /// Its counters at the end of the launch before.
    before: Vec<u64>,
}

impl Registered {
    /// # Panics
    /// If the observer has another number of counters than its plug-in declares; the message names the plug-in.
    fn counters(&self) -> Vec<u64> {
        let declared = self.observer.plug_in.counters().len();
        self.observer.ask(|observer| {
            let counters = observer.counters();
            let given = counters.len();
            assert!(given == declared, "{declared} counters are declared, and {given} are given");
            counters
        })
    }
}

impl RegisteredObservers {
    /// Those that a configuration enables, as they begin a run.
    pub fn of(config: &Config) -> RegisteredObservers {
        let of_plug_in = |plug_in: &'static PlugIn| {
            let Maker::Observer(make) = &plug_in.maker else { return None };
            let make = make.downcast_ref::<MakeObserver>()?;
            let values = config.plugins.of(plug_in);
            let core = &config.core;
            let setup = ObserverSetup {
                values,
                cores: config.cores,
                schedulers: core.schedulers,
                wave_slots: core.max_waves,
                wave_width: core.wave_width,
                line_bytes: core.l1.line_bytes,
                sector_bytes: core.l1.sector_bytes,
            };
            let is_enabled = setup.parameter(ENABLED) != 0;
            is_enabled.then(|| Registered {
                observer: Plugged::new(plug_in, || make(&setup)),
                before: vec![0; plug_in.counters().len()],
            })
        };
        RegisteredObservers(installed().plug_ins().iter().filter_map(of_plug_in).collect())
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names of the observers.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|registered| registered.observer.plug_in.name())
    }

    /// Each as an observer of the run.
    pub fn observers(&mut self) -> impl Iterator<Item = &mut dyn Observer> {
        self.0.iter_mut().map(|registered| registered as &mut dyn Observer)
    }

    /// A launch begins.
    pub fn begin(&mut self, launch: &Launch) {
        self.0.iter_mut().for_each(|registered| registered.observer.tell(|observer| observer.begins(launch)));
    }

    /// A launch has ended. Adds to its report's counters of plug-ins what the observers have counted in it.
    pub fn count(&mut self, plug_ins: &mut [u64]) {
        let mut rest = plug_ins;
        for plug_in in installed().plug_ins() {
            let Some(values) = rest.split_off_mut(..plug_in.counters().len()) else { return };
            let mut own = self.0.iter_mut();
            let Some(registered) = own.find(|own| std::ptr::eq(own.observer.plug_in, plug_in)) else {
                continue;
            };
            let counted = registered.counters();
            for ((value, now), before) in values.iter_mut().zip(&counted).zip(&registered.before) {
                *value += now.saturating_sub(*before);
            }
            registered.before = counted;
        }
    }

    /// What each of them writes at the end of a run, by name.
    pub fn texts(&self) -> Vec<(&'static str, String)> {
        let text = |registered: &Registered| {
            let text = registered.observer.ask(RunObserver::text)?;
            Some((registered.observer.plug_in.name(), text))
        };
        self.0.iter().filter_map(text).collect()
    }

    /// The states of all, for a checkpoint.
    pub fn save(&self) -> Vec<(String, Vec<u8>)> {
        let state = |registered: &Registered| {
            let mut to = Writer::default();
            registered.observer.save(&mut to);
            registered.before.save(&mut to);
            (registered.observer.plug_in.name().to_owned(), to.into_bytes())
        };
        self.0.iter().map(state).collect()
    }

    /// Takes over the states of a checkpoint, each given by `find` for the name of an observer.
    ///
    /// # Errors
    /// A state is missing, or is that of another plug-in or another version of it.
    pub fn restore<'s>(&mut self, find: impl Fn(&str) -> Option<&'s [u8]>) -> Result<(), Misfit> {
        for registered in &mut self.0 {
            let name = registered.observer.plug_in.name();
            let state = find(name).ok_or_else(|| Misfit::new("is missing").within(name))?;
            let mut from = Reader::new(state);
            registered.observer.restore(&mut from)?;
            let declared = registered.before.len();
            registered.before.restore(&mut from)?;
            Misfit::agrees(registered.before.len() == declared && from.is_empty(), name)?;
        }
        Ok(())
    }
}

impl Observer for Registered {
    fn wants(&self) -> Wants {
        self.observer.ask(RunObserver::wants)
    }

    fn event(&mut self, event: &Event<'_>) {
        self.observer.tell(|observer| observer.event(event));
    }
}
