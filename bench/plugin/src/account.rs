//! Visits of Mortise on a core: the contexts before and after, the cost, and the longest section without
//! a check for pending interrupts.
//!
//! A visit begins with the first instruction of Mortise after other code, and ends with the exception
//! return or WFI. Mortise runs with interrupts masked and polls `ISR_EL1`; these reads divide a visit
//! into sections.

use std::mem;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::class::{KINDS, Step};

/// The context of a core: a watched range of RAM is its index plus `FIRST`.
pub type Who = u32;
/// No instruction: the exception return was followed by the next exception.
pub const NOBODY: Who = 0;
/// The core was in WFI.
pub const IDLE: Who = 1;
/// Code that is counted by blocks.
pub const OTHER: Who = 2;
/// The first of the watched ranges.
pub const FIRST: Who = 3;

/// A section between two checks for pending interrupts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Number of instructions, including the first and the last.
    pub instructions: u64,
    /// Physical address of the first instruction.
    pub first: u64,
    /// Physical address of the last instruction.
    pub last: u64,
}

/// A visit of Mortise, complete once the following context is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    /// The context before.
    pub from: Who,
    /// The context after.
    pub to: Who,
    /// Instructions outside of Mortise since the previous visit.
    pub between: u64,
    /// Physical address of its first instruction, the vector, which identifies the cause.
    pub entry: u64,
    /// Number of instructions.
    pub instructions: u64,
    /// Number of instructions of each kind.
    pub kinds: [u64; KINDS],
    /// The longest section.
    pub longest: Section,
}

impl Visit {
    /// The record of the visit, with its executed addresses.
    pub fn to_bytes(self, vcpu: u32, steps: &[u32]) -> Vec<u8> {
        let mut body = Vec::with_capacity(80 + 4 * steps.len());
        for word in [vcpu, self.from, self.to, self.between as u32] {
            body.extend(word.to_le_bytes());
        }
        let Section {
            instructions,
            first,
            last,
        } = self.longest;
        let words = [self.entry, self.instructions, instructions, first, last];
        for word in words.into_iter().chain(self.kinds) {
            body.extend(word.to_le_bytes());
        }
        body.extend(steps.iter().flat_map(|step| step.to_le_bytes()));
        body
    }
}

/// State of a core between two instructions.
#[derive(Debug, Default)]
pub struct Core {
    /// The context since Mortise ran; separate, as each block of a guest writes it.
    ran: AtomicU32,
    /// Last value of the counter of code that is counted by blocks.
    other: AtomicU64,
    mortise: Mutex<Mortise>,
}

#[derive(Debug, Default)]
struct Mortise {
    visit: Option<Visit>,
    section: Section,
    /// Whether the visit has ended and waits for the next context.
    left: bool,
    /// Executed addresses of the visit, if requested.
    steps: Vec<u32>,
    /// Counter of instructions outside of Mortise at the start of this visit.
    outside: u64,
}

impl Core {
    /// Records that code outside of Mortise runs.
    pub fn ran(&self, who: Who) {
        self.ran.store(who, Relaxed);
    }

    /// Updates the counter of code that is counted by blocks; an increase means that it ran.
    pub fn look(&self, other: u64) {
        if self.other.swap(other, Relaxed) != other {
            self.ran(OTHER);
        }
    }

    /// The context before, if the next instruction of Mortise begins a visit.
    pub fn coming(&self) -> Option<Who> {
        let mortise = self.mortise.lock().ok()?;
        (mortise.left || mortise.visit.is_none()).then(|| self.ran.load(Relaxed))
    }

    /// Records an instruction of Mortise at `address`, with the counters `kinds`, and `outside` for code
    /// outside of Mortise. If it is the first of a visit, returns the previous one with its executed
    /// addresses if they were `kept`.
    pub fn step(
        &self,
        address: u64,
        step: Step,
        (kinds, outside): ([u64; KINDS], u64),
        kept: bool,
    ) -> Option<(Visit, Vec<u32>)> {
        let mut mortise = self.mortise.lock().ok()?;
        let ran = self.ran.load(Relaxed);
        let done = mortise.begin(ran, address, kinds, outside);
        let done = done.map(|visit| (visit, mem::take(&mut mortise.steps)));
        if kept {
            mortise.steps.push(address as u32);
        }
        mortise.count(address, step);
        match step {
            Step::Return => self.ran(NOBODY),
            Step::Wait => self.ran(IDLE),
            Step::Plain | Step::Look => {}
        }
        done
    }
}

impl Mortise {
    /// Begins a visit if none is in progress; returns the previous one.
    fn begin(&mut self, ran: Who, entry: u64, kinds: [u64; KINDS], outside: u64) -> Option<Visit> {
        if self.visit.is_some() && !self.left {
            return None;
        }
        self.left = false;
        let between = outside - mem::replace(&mut self.outside, outside);
        let new = Visit {
            from: ran,
            entry,
            between,
            kinds,
            ..Visit::default()
        };
        let done = self.visit.replace(new)?;
        Some(Visit {
            to: ran,
            kinds: core::array::from_fn(|kind| kinds[kind] - done.kinds[kind]),
            ..done
        })
    }

    fn count(&mut self, address: u64, step: Step) {
        let Some(visit) = &mut self.visit else { return };
        visit.instructions += 1;
        if self.section.instructions == 0 {
            self.section.first = address;
        }
        self.section.instructions += 1;
        self.section.last = address;
        if step != Step::Plain {
            if self.section.instructions > visit.longest.instructions {
                visit.longest = self.section;
            }
            self.section = Section::default();
        }
        self.left = matches!(step, Step::Return | Step::Wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: ([u64; KINDS], u64) = ([0; KINDS], 0);

    #[test]
    fn a_visit_is_told_with_who_was_before_and_after() {
        let core = Core::default();
        core.ran(OTHER);
        for at in 0..9 {
            assert_eq!(core.step(0x100 + 4 * at, Step::Plain, NONE, true), None);
        }
        assert_eq!(core.step(0x124, Step::Return, NONE, true), None);
        core.ran(FIRST);
        let (visit, steps) = core.step(0x400, Step::Plain, ([1, 2, 3], 9), true).unwrap();
        assert_eq!(steps.len() as u64, visit.instructions);
        assert_eq!((visit.from, visit.to), (OTHER, FIRST));
        assert_eq!((visit.entry, visit.instructions), (0x100, 10));
        assert_eq!(visit.kinds, [1, 2, 3]);
        let whole = Section {
            instructions: 10,
            first: 0x100,
            last: 0x124,
        };
        assert_eq!(visit.longest, whole);
    }

    #[test]
    fn a_look_begins_another_section() {
        let core = Core::default();
        let steps = [
            Step::Plain,
            Step::Look,
            Step::Plain,
            Step::Plain,
            Step::Plain,
            Step::Look,
            Step::Return,
        ];
        for (at, step) in steps.into_iter().enumerate() {
            core.step(at as u64, step, NONE, true);
        }
        let (visit, steps) = core.step(0, Step::Plain, NONE, true).unwrap();
        assert_eq!(steps.len() as u64, visit.instructions);
        assert_eq!((visit.to, visit.instructions), (NOBODY, 7));
        let longest = Section {
            instructions: 4,
            first: 2,
            last: 5,
        };
        assert_eq!(visit.longest, longest);
    }

    #[test]
    fn code_that_is_not_counted_one_by_one_shows_in_its_count() {
        let core = Core::default();
        core.look(7);
        assert_eq!(core.coming(), Some(OTHER));
        core.step(0, Step::Return, NONE, false);
        core.look(7);
        assert_eq!(core.coming(), Some(NOBODY), "no more than before");
    }

    #[test]
    fn a_visit_is_told_with_what_was_executed_before_it() {
        let core = Core::default();
        let steps = [(0, 7), (4, 7), (0, 30), (4, 30), (0, 31)];
        let told = steps.map(|(at, outside)| {
            let step = if at == 0 { Step::Plain } else { Step::Return };
            core.step(at, step, ([0; KINDS], outside), false)
        });
        let between = told.map(|done| done.map(|(visit, _)| visit.between));
        assert_eq!(between, [None, None, Some(7), None, Some(23)]);
    }

    #[test]
    fn waiting_ends_a_visit() {
        let core = Core::default();
        core.ran(FIRST);
        core.step(0, Step::Wait, NONE, true);
        assert_eq!(core.coming(), Some(IDLE));
        let (visit, steps) = core.step(4, Step::Return, NONE, true).unwrap();
        assert_eq!(steps.len() as u64, visit.instructions);
        assert_eq!((visit.from, visit.to), (FIRST, IDLE));
        core.ran(OTHER);
        assert_eq!(core.coming(), Some(OTHER));
        let (visit, steps) = core.step(0, Step::Plain, NONE, true).unwrap();
        assert_eq!(steps.len() as u64, visit.instructions);
        assert_eq!((visit.from, visit.to, visit.instructions), (IDLE, OTHER, 1));
    }
}
