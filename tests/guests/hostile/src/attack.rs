//! Attacks of a hostile guest, their expected outcomes, and trials.

use crate::machine::{self, Registers};
use crate::random::Random;
use crate::{authority, calls, console, gic, gicv2, instructions, memory, power, registers};
use core::time::Duration;

/// Expected outcome of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// It ends by itself: the guest gets an answer or takes an exception itself.
    Contained,
    /// Mortise stops the VM with a reason that begins like this.
    Stopped(&'static str),
    /// The attack never ends; a restart of the VM regains the core.
    Endless,
    /// The VM restarts on its own request.
    Restarted,
    /// Any of these outcomes.
    Any,
}

impl Expect {
    /// Time-out after which the judge restarts the VM.
    #[must_use]
    pub const fn patience(self) -> Duration {
        match self {
            Self::Contained => Duration::from_secs(30),
            Self::Any => Duration::from_millis(20),
            Self::Stopped(_) | Self::Restarted => Duration::from_secs(5),
            Self::Endless => Duration::from_millis(2),
        }
    }
}

/// Runs of each random piece of code: the emulator retranslates modified code, which takes longer than
/// a hundred exits.
pub const BURST: u32 = 32;

/// An attack with several cases.
#[derive(Debug)]
pub struct Attack {
    /// Name: kind and action.
    pub name: &'static str,
    /// Number of cases.
    pub cases: u32,
    /// Expected outcome of each case.
    pub expect: Expect,
    /// Runs a case.
    pub run: fn(&mut Trial),
}

impl Attack {
    /// An attack with this number of cases and this expected outcome.
    #[must_use]
    pub const fn new(name: &'static str, cases: u32, expect: Expect, run: fn(&mut Trial)) -> Self {
        Self {
            name,
            cases,
            expect,
            run,
        }
    }
}

/// All attacks by kind, for this interrupt controller.
const fn kinds(gic: &'static [Attack]) -> [&'static [Attack]; 8] {
    [
        authority::ATTACKS,
        memory::ATTACKS,
        gic,
        calls::ATTACKS,
        registers::ATTACKS,
        instructions::ATTACKS,
        power::ATTACKS,
        console::ATTACKS,
    ]
}

/// The attack with this index.
#[must_use]
pub fn attack(number: usize) -> Option<&'static Attack> {
    let gic = if machine::has_gicv3() {
        gic::ATTACKS
    } else {
        gicv2::ATTACKS
    };
    kinds(gic).into_iter().flatten().nth(number)
}

/// One run of a case.
#[derive(Debug)]
pub struct Trial {
    /// Index of the case.
    pub case: u32,
    /// Random numbers of the trial.
    pub random: Random,
    /// Number of pieces of code that returned.
    pub done: u32,
    /// Number of pieces of code that ended in an exception of this guest.
    pub caught: u32,
    /// Broken guarantees, and the number of attempts with each.
    pub broken: u32,
}

impl Trial {
    /// A trial of `case` with this seed.
    #[must_use]
    pub const fn new(case: u32, seed: u64) -> Self {
        Self {
            case,
            random: Random::new(seed),
            done: 0,
            caught: 0,
            broken: 0,
        }
    }

    /// Runs code with these values in x0, x1 and so on; returns its registers if it returned.
    pub fn execute(&mut self, code: &[u32], registers: &[u64]) -> Option<Registers> {
        machine::prepare_code(code);
        self.repeat(registers)
    }

    /// Runs the same code again.
    pub fn repeat(&mut self, values: &[u64]) -> Option<Registers> {
        let mut registers = [0; 8];
        for (register, value) in registers.iter_mut().zip(values) {
            *register = *value;
        }
        match machine::run(&mut registers) {
            Ok(()) => {
                self.done += 1;
                Some(registers)
            }
            Err(_) => {
                self.caught += 1;
                None
            }
        }
    }

    /// The element of `choices` that this case selects.
    #[must_use]
    pub fn choice<T: Copy>(&self, choices: &[T]) -> T {
        choices[self.case as usize % choices.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn names_are_unique_and_say_their_kind() {
        for gic in [gic::ATTACKS, gicv2::ATTACKS] {
            let attacks = kinds(gic).into_iter().flatten();
            let names: Vec<_> = attacks.map(|attack| attack.name).collect();
            let mut unique = names.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(unique.len(), names.len());
            assert!(names.iter().all(|name| name.contains('/')));
        }
    }

    #[test]
    fn each_attack_can_be_tried_on_the_host() {
        let attacks = kinds(gic::ATTACKS).into_iter().flatten();
        for attack in attacks.chain(gicv2::ATTACKS) {
            assert!(attack.cases > 0);
            for case in 0..attack.cases {
                (attack.run)(&mut Trial::new(case, 1));
            }
        }
    }
}
