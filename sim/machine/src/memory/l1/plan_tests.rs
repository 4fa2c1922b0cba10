//! What `plan` decides, as tables in the words of docs/memory.md: what the L1 shows, what is asked, what becomes of it.

use super::access::{Access, Operation, Reject};
use super::mshr::MshrId;
use super::plan::{Leaves, Miss, Plan, View, Wait, plan};
use super::write_policy::Write;
use crate::config::WritePolicy::{self, WriteBack, WriteThrough};
use crate::memory::geometry::LineGeometry;
use crate::memory::message::MAX_LINE_BYTES;
use crate::memory::tags::Frame;
use crate::registry::Requester;
use wave_isa::special::Scope;
use wave_isa::table::{AtomicOp, CacheHint};

/// What is asked. Where nothing else is said, it touches sector 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Load,
    /// A load of sectors 0 and 1.
    LoadBoth,
    Store,
    UncachedLoad,
    UncachedStore,
    /// An atomic of workgroup scope.
    Atomic,
    /// An atomic of device scope.
    DeviceAtomic,
}
use Asked::*;

const ASKED: [Asked; 7] = [Load, LoadBoth, Store, UncachedLoad, UncachedStore, Atomic, DeviceAtomic];

/// The line's frame, the next victim, and the next victim without dirty bytes.
const FRAME: Frame = Frame(3);
const VICTIM: Frame = Frame(4);
const CLEAN_VICTIM: Frame = Frame(5);

fn id() -> MshrId {
    MshrId::of_tag(7)
}

/// A line that is not there, for an access to sector 0 in an L1 that has room for everything.
const ABSENT: View =
    View { frame: None, valid: 0, dirty: false, miss: None, free_mshr: true, places: 3, room_for_hit: true };

/// Sector 0 is there.
const PRESENT: View = View { frame: Some(FRAME), valid: 0b01, ..ABSENT };

/// The line is there, sector 0 is not.
const PARTLY: View = View { valid: 0b10, ..PRESENT };

/// Sector 0 has dirty bytes, and is valid.
const DIRTY: View = View { dirty: true, ..PRESENT };

/// Sector 0 has dirty bytes, and others that the L1 does not know.
const HALF_DIRTY: View = View { dirty: true, valid: 0, ..PRESENT };

impl View {
    /// Sectors of the line are on their way; loads wait for them.
    fn coming(self, sectors: u8) -> View {
        View { miss: Some(Miss { id: id(), current: true, atomics: false, full: false, sectors }), ..self }
    }

    /// An atomic waits for sector 0.
    fn behind_atomic(self) -> View {
        let miss = self.coming(0b01).miss.map(|miss| Miss { atomics: true, ..miss });
        View { miss, ..self }
    }

    /// An atomic waits for sector 0, and the L1 was invalidated since.
    fn behind_stale_atomic(self) -> View {
        let miss = self.behind_atomic().miss.map(|miss| Miss { current: false, ..miss });
        View { miss, ..self }
    }

    /// As many accesses wait for the line as may.
    fn full(self) -> View {
        View { miss: self.miss.map(|miss| Miss { full: true, ..miss }), ..self }
    }

    fn without_mshrs(self) -> View {
        View { free_mshr: false, ..self }
    }

    fn with_places(self, places: usize) -> View {
        View { places, ..self }
    }

    fn without_response(self) -> View {
        View { room_for_hit: false, ..self }
    }
}

fn decide(policy: WritePolicy, asked: Asked, view: &View) -> Result<Plan, Reject> {
    decide_with(policy, asked, view, |leaves| match leaves {
        Leaves::Any => Some(VICTIM),
        Leaves::Clean => Some(CLEAN_VICTIM),
    })
}

fn decide_with(
    policy: WritePolicy,
    asked: Asked,
    view: &View,
    victim: impl FnOnce(Leaves) -> Option<Frame>,
) -> Result<Plan, Reject> {
    let (byte_mask, data) = (0xF, &[0; MAX_LINE_BYTES]);
    let operation = match asked {
        Load | UncachedLoad => Operation::Load { sectors: 0b01 },
        LoadBoth => Operation::Load { sectors: 0b11 },
        Store | UncachedStore => Operation::Store { byte_mask, data },
        Atomic | DeviceAtomic => {
            let scope = if asked == Atomic { Scope::Workgroup } else { Scope::Device };
            Operation::Atomic { op: AtomicOp::Add, scope, byte_mask, data, swap: 0 }
        }
    };
    let uncached = matches!(asked, UncachedLoad | UncachedStore);
    let hint = if uncached { CacheHint::Uncached } else { CacheHint::Cached };
    let access = Access { operation, hint, line: 0, by: Requester::NONE, owner: 1, epoch: 0 };
    plan(policy, &access, || access.sectors(LineGeometry::of(128, 32)), view, victim)
}

type Row = (Asked, View, Result<Plan, Reject>);

fn check(policies: &[WritePolicy], table: &[Row]) {
    for &policy in policies {
        for (row, (asked, view, expected)) in table.iter().enumerate() {
            let decided = decide(policy, *asked, view);
            assert_eq!(&decided, expected, "{policy:?}, row {row}: {asked:?} where {view:?}");
        }
    }
}

const ALL: &[WritePolicy] = WritePolicy::ALL;

/// A load or an atomic takes a new MSHR for a line that is not there, and requests these sectors.
fn misses(request: u8) -> Result<Plan, Reject> {
    Ok(Plan::Wait(Wait { miss: None, frame: None, request, write_back: false }))
}

/// It takes a new MSHR, and the line is in its frame.
fn sector_misses(request: u8) -> Result<Plan, Reject> {
    Ok(Plan::Wait(Wait { miss: None, frame: Some(FRAME), request, write_back: false }))
}

/// It joins the miss of a line that is in no frame.
fn joins(request: u8) -> Result<Plan, Reject> {
    Ok(Plan::Wait(Wait { miss: Some(id()), frame: None, request, write_back: false }))
}

/// It joins the miss of a line that is in its frame.
fn joins_present(request: u8) -> Result<Plan, Reject> {
    Ok(Plan::Wait(Wait { miss: Some(id()), frame: Some(FRAME), request, write_back: false }))
}

/// The L2 performs it, and nothing of the line is in the L1.
fn passes(drop: bool) -> Result<Plan, Reject> {
    Ok(Plan::Pass { frame: None, write_back: false, drop, stale: None })
}

/// The L2 performs it, and sectors of the line are in the L1.
fn passes_present(drop: bool) -> Result<Plan, Reject> {
    Ok(Plan::Pass { frame: Some(FRAME), write_back: false, drop, stale: None })
}

/// The plan makes the line's miss stale.
fn and_stale(plan: Result<Plan, Reject>) -> Result<Plan, Reject> {
    Ok(match plan? {
        Plan::Perform { frame, to, write_back, .. } => {
            Plan::Perform { frame, to, write_back, stale: Some(id()) }
        }
        Plan::Pass { frame, write_back, drop, .. } => {
            Plan::Pass { frame, write_back, drop, stale: Some(id()) }
        }
        Plan::Stay { frame, replace, .. } => Plan::Stay { frame, replace, stale: Some(id()) },
        Plan::Hit(_) | Plan::Wait(_) => panic!("this makes no miss stale"),
    })
}

/// The line's dirty bytes go to the L2 before.
fn and_writes_back(plan: Result<Plan, Reject>) -> Result<Plan, Reject> {
    Ok(match plan? {
        Plan::Perform { frame, to, stale, .. } => Plan::Perform { frame, to, write_back: true, stale },
        Plan::Pass { frame, drop, stale, .. } => Plan::Pass { frame, write_back: true, drop, stale },
        Plan::Wait(wait) => Plan::Wait(Wait { write_back: true, ..wait }),
        Plan::Hit(_) | Plan::Stay { .. } => panic!("this writes nothing back"),
    })
}

/// M11, M13: hit, miss, merge.
#[test]
fn a_load_hits_or_waits_and_asks_only_for_what_is_neither_there_nor_coming() {
    check(
        ALL,
        &[
            (Load, PRESENT, Ok(Plan::Hit(FRAME))),
            (Load, DIRTY, Ok(Plan::Hit(FRAME))),
            (Load, PRESENT.coming(0b10), Ok(Plan::Hit(FRAME))), // under the miss
            (Load, PRESENT.coming(0b10).full().without_mshrs().with_places(0), Ok(Plan::Hit(FRAME))),
            (Load, ABSENT, misses(0b01)),
            (LoadBoth, ABSENT, misses(0b11)),
            (Load, PARTLY, sector_misses(0b01)),
            (LoadBoth, PRESENT, sector_misses(0b10)),
            (Load, HALF_DIRTY, sector_misses(0b01)), // the dirty bytes stay where they are
            (Load, ABSENT.coming(0b01), joins(0)),
            (LoadBoth, ABSENT.coming(0b01), joins(0b10)),
            (LoadBoth, PRESENT.coming(0b10), joins_present(0)),
            (Load, PARTLY.coming(0b100), joins_present(0b01)),
        ],
    );
}

/// M10: what a load lacks.
#[test]
fn a_load_is_rejected_without_an_mshr_a_place_or_a_response() {
    check(
        ALL,
        &[
            (Load, PRESENT.without_response(), Err(Reject::Responses)),
            (Load, ABSENT.without_response(), misses(0b01)), // the reply brings its response
            (Load, ABSENT.without_mshrs(), Err(Reject::Mshr)),
            (Load, ABSENT.without_mshrs().coming(0b01), joins(0)),
            (Load, ABSENT.coming(0b01).full(), Err(Reject::Merge)),
            (Load, ABSENT.with_places(1), misses(0b01)),
            (Load, ABSENT.with_places(0), Err(Reject::Outgoing)),
            (Load, ABSENT.coming(0b01).with_places(0), joins(0)), // it requests nothing
            (Load, ABSENT.coming(0b10).with_places(0), Err(Reject::Outgoing)),
        ],
    );
}

/// M16: atomics of wave or workgroup scope wait for their sectors with a place for the result reserved; loads queue up
/// behind them.
#[test]
fn an_atomic_waits_for_its_line_and_loads_stay_behind_it() {
    check(
        ALL,
        &[
            (Atomic, ABSENT, misses(0b01)),
            (Atomic, PARTLY, sector_misses(0b01)),
            (Atomic, ABSENT.coming(0b01), joins(0)),
            (Atomic, ABSENT.with_places(2), misses(0b01)),
            (Atomic, ABSENT.with_places(1), Err(Reject::Outgoing)),
            (Atomic, ABSENT.coming(0b01).with_places(1), joins(0)),
            (Atomic, ABSENT.coming(0b01).with_places(0), Err(Reject::Outgoing)),
            (Atomic, HALF_DIRTY, and_writes_back(sector_misses(0b01))),
            (Atomic, HALF_DIRTY.with_places(2), Err(Reject::Outgoing)),
            (Atomic, PRESENT.behind_atomic(), joins_present(0)), // although its sector is there
            (Load, PRESENT.behind_atomic(), joins_present(0)),
            (Load, PRESENT.behind_atomic().full(), Err(Reject::Merge)),
            (Load, ABSENT.behind_stale_atomic(), Err(Reject::Order)),
            (Atomic, ABSENT.behind_stale_atomic(), Err(Reject::Order)),
            (Load, PRESENT.behind_stale_atomic(), Err(Reject::Order)),
        ],
    );
}

/// M16: what passes the L1 or changes the line does not pass an atomic that waits for it.
#[test]
fn nothing_that_changes_a_line_passes_an_atomic_that_waits_for_it() {
    for asked in [Store, UncachedLoad, UncachedStore, DeviceAtomic] {
        for view in [ABSENT, PRESENT, DIRTY] {
            let order = Err(Reject::Order);
            check(ALL, &[(asked, view.behind_atomic(), order), (asked, view.behind_stale_atomic(), order)]);
        }
    }
}

/// M16, M17: what the L2 performs goes behind the line's dirty bytes, and the L1 drops the sectors.
#[test]
fn what_the_l2_performs_drops_the_sectors_and_goes_behind_dirty_bytes() {
    for asked in [UncachedLoad, UncachedStore, DeviceAtomic] {
        check(
            ALL,
            &[
                (asked, ABSENT, passes(true)),
                (asked, PRESENT, passes_present(true)),
                (asked, PRESENT.without_response(), passes_present(true)),
                (asked, PRESENT.coming(0b01), and_stale(passes_present(true))),
                (asked, PRESENT.coming(0b10), passes_present(true)), // the miss carries other sectors
                (asked, ABSENT.with_places(1), passes(true)),
                (asked, ABSENT.with_places(0), Err(Reject::Outgoing)),
                (asked, DIRTY, and_writes_back(passes_present(true))),
                (asked, DIRTY.with_places(2), and_writes_back(passes_present(true))),
                (asked, DIRTY.with_places(1), Err(Reject::Outgoing)),
            ],
        );
    }
    // An uncached load takes an MSHR of its own, though the line may have a miss.
    check(
        ALL,
        &[
            (UncachedLoad, ABSENT.without_mshrs(), Err(Reject::Mshr)),
            (UncachedLoad, ABSENT.coming(0b01).without_mshrs(), Err(Reject::Mshr)),
            (UncachedStore, ABSENT.without_mshrs(), passes(true)),
            (DeviceAtomic, ABSENT.without_mshrs(), passes(true)),
        ],
    );
}

/// M15: write-through without allocation.
#[test]
fn under_write_through_a_store_goes_on_and_updates_what_is_there() {
    check(
        &[WriteThrough],
        &[
            (Store, ABSENT, passes(false)),
            (Store, PRESENT, passes_present(false)),
            (Store, PARTLY, passes_present(false)),
            (Store, PRESENT.coming(0b01), and_stale(passes_present(false))),
            (Store, PRESENT.coming(0b10), passes_present(false)),
            (Store, ABSENT.with_places(1).without_mshrs().without_response(), passes(false)),
            (Store, ABSENT.with_places(0), Err(Reject::Outgoing)),
        ],
    );
    let performed = Ok(Plan::Perform { frame: FRAME, to: Write::Both, write_back: false, stale: None });
    check(
        &[WriteThrough],
        &[
            (Atomic, PRESENT, performed),
            (Atomic, PRESENT.coming(0b10), performed),
            (Atomic, PRESENT.coming(0b01), and_stale(performed)),
            (Atomic, PRESENT.with_places(1), performed),
            (Atomic, PRESENT.with_places(0), Err(Reject::Outgoing)),
            (Atomic, PRESENT.without_response(), Err(Reject::Responses)),
        ],
    );
}

/// M15a: write-back with allocation.
#[test]
fn under_write_back_a_store_stays_and_a_line_comes_without_a_fetch() {
    let stays = Ok(Plan::Stay { frame: FRAME, replace: false, stale: None });
    let comes = |frame| Ok(Plan::Stay { frame, replace: true, stale: None });
    check(
        &[WriteBack],
        &[
            (Store, PRESENT, stays),
            (Store, DIRTY, stays),
            (Store, PARTLY, stays),
            (Store, PRESENT.coming(0b01), and_stale(stays)),
            (Store, PRESENT.coming(0b10), stays),
            (Store, PRESENT.with_places(0).without_mshrs().without_response(), stays),
            (Store, ABSENT, comes(VICTIM)),
            (Store, ABSENT.coming(0b01), and_stale(comes(VICTIM))),
            (Store, ABSENT.with_places(1), comes(VICTIM)),
            // Without a place for the bytes of a dirty line, the next clean one leaves in its stead.
            (Store, ABSENT.with_places(0), comes(CLEAN_VICTIM)),
        ],
    );
    // If there is no clean line, the store is rejected.
    let no_clean = |leaves| (leaves == Leaves::Any).then_some(VICTIM);
    let decided = decide_with(WriteBack, Store, &ABSENT.with_places(0), no_clean);
    assert_eq!(decided, Err(Reject::Outgoing));
    let performed = Ok(Plan::Perform { frame: FRAME, to: Write::Line, write_back: false, stale: None });
    check(
        &[WriteBack],
        &[
            (Atomic, PRESENT, performed),
            (Atomic, DIRTY, performed),
            (Atomic, PRESENT.coming(0b01), and_stale(performed)),
            (Atomic, DIRTY.with_places(0), performed), // nothing goes on to the L2
            (Atomic, PRESENT.without_response(), Err(Reject::Responses)),
        ],
    );
}

/// Everything that an L1 can show of a line of two sectors.
fn views() -> Vec<View> {
    let mut views = Vec::new();
    for state in 0..1 << 12 {
        let bit = |i: u32| state >> i & 1 == 1;
        let places = state >> 10;
        let (current, atomics, coming) = (bit(4), bit(5), state as u8 >> 6 & 0b11);
        let frame = bit(0).then_some(FRAME);
        let line = if bit(0) {
            View { frame, valid: state as u8 >> 1 & 0b11, dirty: bit(3), ..ABSENT }
        } else {
            ABSENT
        };
        let miss = Miss { id: id(), current, atomics, full: bit(9), sectors: coming };
        for miss in [None, Some(miss)] {
            // A miss that is stale is found only as long as atomics wait for it.
            if miss.is_none() || current || atomics {
                for (free_mshr, room_for_hit) in [(false, false), (false, true), (true, false), (true, true)]
                {
                    views.push(View { miss, free_mshr, room_for_hit, places, ..line });
                }
            }
        }
    }
    views
}

/// M10: of several reasons the first counts, and what speaks for an access does not depend on what it does not need.
#[test]
fn of_several_reasons_the_first_of_a_fixed_order_counts() {
    let mut seen = [0; 5];
    for view in views() {
        for (policy, asked) in ALL.iter().flat_map(|&policy| ASKED.map(|asked| (policy, asked))) {
            let plenty = View {
                free_mshr: true,
                room_for_hit: true,
                places: 3,
                miss: view.miss.map(|miss| Miss { full: false, ..miss }),
                ..view
            };
            let lacks = [
                (Reject::Order, plenty),
                (Reject::Merge, View { miss: view.miss, ..plenty }),
                (Reject::Mshr, View { free_mshr: view.free_mshr, ..plenty }),
                (Reject::Outgoing, View { places: view.places, ..plenty }),
                (Reject::Responses, View { room_for_hit: view.room_for_hit, ..plenty }),
            ];
            let alone = |(reason, view): &(Reject, View)| decide(policy, asked, view) == Err(*reason);
            let first = lacks.iter().position(alone);
            let decided = decide(policy, asked, &view).err();
            assert_eq!(decided, first.map(|i| lacks[i].0), "{policy:?}: {asked:?} where {view:?}");
            first.into_iter().for_each(|i| seen[i] += 1);
        }
    }
    assert!(seen.iter().all(|&times| times > 100), "{seen:?}");
}

/// A plan needs no more than there is: nothing can fail when it is executed.
#[test]
fn a_plan_needs_no_more_than_there_is() {
    for view in views() {
        for (policy, asked) in ALL.iter().flat_map(|&policy| ASKED.map(|asked| (policy, asked))) {
            let Ok(plan) = decide(policy, asked, &view) else { continue };
            let (places, mshr, response) = match plan {
                Plan::Hit(_) => (0, false, true),
                Plan::Perform { to, write_back, .. } => {
                    (usize::from(to == Write::Both) + usize::from(write_back), false, true)
                }
                Plan::Wait(wait) => {
                    let places = usize::from(wait.request != 0) + usize::from(wait.write_back);
                    (places + usize::from(asked == Atomic), wait.miss.is_none(), false)
                }
                Plan::Pass { write_back, .. } => (1 + usize::from(write_back), asked == UncachedLoad, false),
                // A dirty victim needs a place.
                Plan::Stay { frame, .. } => (usize::from(frame == VICTIM), false, false),
            };
            let says = format!("{policy:?}: {asked:?} where {view:?}: {plan:?}");
            assert!(places <= view.places, "{says}");
            assert!(!mshr || view.free_mshr, "{says}");
            assert!(!response || view.room_for_hit, "{says}");
            if let Plan::Wait(Wait { miss: Some(_), .. }) = plan {
                assert!(view.miss.is_some_and(|miss| miss.current && !miss.full), "{says}");
            }
        }
    }
}
