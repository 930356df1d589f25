//! One core's visits of Mortise: who ran before and after, what each cost, how long nobody could
//! interrupt it.
//!
//! A visit goes from the first instruction of Mortise after somebody else's to the exception return
//! or the wait that ends it. Mortise takes no interrupt, so a visit is cut into sections where it
//! looks at `ISR_EL1`: between two looks nothing pending is seen.

use std::mem;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::class::{KINDS, Step};

/// Who runs a core's code: a range of watched RAM is its index plus `FIRST`.
pub type Who = u32;
/// Nothing ran: the exception returned into the next one.
pub const NOBODY: Who = 0;
/// The core waited for an interrupt.
pub const IDLE: Who = 1;
/// Code that is not counted one by one.
pub const OTHER: Who = 2;
/// The first of the watched ranges.
pub const FIRST: Who = 3;

/// Instructions between two looks at what is pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// How many, the first and the last included.
    pub instructions: u64,
    /// The physical address of the first.
    pub first: u64,
    /// The physical address of the last.
    pub last: u64,
}

/// A visit of Mortise, complete once it is known who ran after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    /// Who ran before.
    pub from: Who,
    /// Who ran after.
    pub to: Who,
    /// Instructions that were executed since the visit before, all that is not Mortise's.
    pub between: u64,
    /// The physical address of its first instruction: the vector, which tells the cause.
    pub entry: u64,
    /// All instructions.
    pub instructions: u64,
    /// Those of each kind.
    pub kinds: [u64; KINDS],
    /// The longest section.
    pub longest: Section,
}

impl Visit {
    /// The visit as it is told, with where it went.
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

/// What is known of a core between two instructions.
#[derive(Debug, Default)]
pub struct Core {
    /// Who ran since Mortise did; written at every block of a guest, hence apart.
    ran: AtomicU32,
    /// What was counted of code that is not counted one by one, when it was looked at last.
    other: AtomicU64,
    mortise: Mutex<Mortise>,
}

#[derive(Debug, Default)]
struct Mortise {
    visit: Option<Visit>,
    section: Section,
    /// Whether the visit is over, and only who comes next is not known.
    left: bool,
    /// Where the visit went, if that is asked for.
    steps: Vec<u32>,
    /// What had been counted that is not Mortise's, when this visit began.
    outside: u64,
}

impl Core {
    /// Someone else's code runs.
    pub fn ran(&self, who: Who) {
        self.ran.store(who, Relaxed);
    }

    /// Notes how much was counted of code that is not counted one by one: more, and it ran.
    pub fn look(&self, other: u64) {
        if self.other.swap(other, Relaxed) != other {
            self.ran(OTHER);
        }
    }

    /// Who ran before, if the next instruction of Mortise begins a visit.
    pub fn coming(&self) -> Option<Who> {
        let mortise = self.mortise.lock().ok()?;
        (mortise.left || mortise.visit.is_none()).then(|| self.ran.load(Relaxed))
    }

    /// Mortise executes an instruction at `address`, at counters `kinds` and `outside`, of what is not
    /// Mortise's; the visit before it, if it is the first of another, and the addresses it executed if
    /// they were `kept`.
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
    /// Begins a visit if none is under way; the one before.
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
