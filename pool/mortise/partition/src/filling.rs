//! A virtual machine's memory, filled from its pristine payloads in short steps.
//!
//! Megabytes are copied when a run begins, and the caches of all its memory emptied when one begins
//! again: the machine starts with its MMU off and writes past them, and a dirty line of its last run
//! would overwrite that later (Arm ARM, D7.5). Its neighbours on the core are not to wait for it, and
//! a guest can have itself restarted whenever it likes. So whoever leads it works until an interrupt
//! is pending, and goes on when nobody more urgent wants the core.
//!
//! What is written goes to the point of coherency. Each vCPU drops the instructions that its own core
//! has cached when it starts; other virtual machines' cores keep theirs.

use crate::vm::Vm;
use core_memory::PhysicalRange;
use core_sync::TicketLock;
use mortise_transfer::Transfer;

/// What addresses of payloads are multiples of.
pub(crate) const CHUNK: u64 = 64;

/// What is done next, from which byte on.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Nothing.
    Idle,
    /// The caches of a part of its memory are emptied.
    Forget { part: usize, done: u64 },
    /// A payload is copied.
    Load { payload: usize, done: u64 },
}

/// How far a filling is. The core of the leader works on it, one step at a time.
pub(crate) struct Filling(TicketLock<Stage>);

impl Filling {
    /// None under way.
    pub(crate) const fn new() -> Self {
        Self(TicketLock::new(Stage::Idle))
    }

    /// Begins one, for the first run or for another one.
    pub(crate) fn begin(&self, again: bool) {
        *self.0.lock() = match again {
            true => Stage::Forget { part: 0, done: 0 },
            false => Stage::Load {
                payload: 0,
                done: 0,
            },
        };
    }

    /// Works on it until it is over or an interrupt is pending; whether it is over, or nothing if
    /// none was under way.
    pub(crate) fn advance(&self, vm: &Vm, transfer: &Transfer) -> Option<bool> {
        let mut stage = self.0.lock();
        loop {
            *stage = match *stage {
                Stage::Idle => return None,
                Stage::Forget { part, done } => {
                    let next = Stage::Load {
                        payload: 0,
                        done: 0,
                    };
                    match vm.description().memory().nth(part) {
                        None => next,
                        Some(memory) => {
                            let range = memory.physical;
                            // SAFETY: this is the core of the transfer; the memory is a guest's, of
                            // which no vCPU runs.
                            let done = unsafe { transfer.clean(range, done) };
                            if done < range.size() {
                                *stage = Stage::Forget { part, done };
                                return Some(false);
                            }
                            Stage::Forget {
                                part: part + 1,
                                done: 0,
                            }
                        }
                    }
                }
                Stage::Load { payload, done } => {
                    let Some(found) = vm.description().payloads.get(payload) else {
                        *stage = Stage::Idle;
                        return Some(true);
                    };
                    let source = whole_chunks(found.source);
                    // SAFETY: as above; the payload lies in the system image, where nothing writes,
                    // and the manifest's parser has checked that the target lies in this VM's memory,
                    // which ends with a page as the image does.
                    let done = unsafe { transfer.copy(source, found.destination.start(), done) };
                    if done < source.size() {
                        *stage = Stage::Load { payload, done };
                        return Some(false);
                    }
                    Stage::Load {
                        payload: payload + 1,
                        done: 0,
                    }
                }
            };
        }
    }
}

/// A range with the rest of its last chunk.
fn whole_chunks(range: PhysicalRange) -> PhysicalRange {
    let size = range.size().next_multiple_of(CHUNK);
    PhysicalRange::new(range.start(), size).unwrap_or(range)
}
