//! Hypercall groups and routing.

use crate::{Call, Caller, Outcome, Reply};
use core::fmt;

/// A fast path for one function of a [`Group`]: computed from x1 alone, with the result in x0 and
/// zero in x1 to x3.
#[derive(Clone, Copy)]
pub struct Brief {
    /// Function identifier, SMC64.
    pub function: u32,
    /// Result for this x1. `None`, with nothing done, if the group must handle the call.
    pub answer: fn(u64) -> Option<u64>,
}

/// Functions that one library handles.
pub struct Group {
    /// Name in messages.
    pub name: &'static str,
    /// Ranges of function identifiers, each by its first and last one.
    pub ranges: &'static [(u32, u32)],
    /// Handles a call, on the core of the calling vCPU.
    pub handle: fn(&Call, &mut dyn Caller) -> Outcome,
    /// The fast path of one of the functions.
    pub brief: Option<Brief>,
}

impl Group {
    fn claims(&self, function: u32) -> bool {
        self.ranges
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&function))
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Whether no function identifier belongs to both groups. Checked for each pair of the chosen
/// groups when an image is compiled.
pub const fn disjoint(one: &Group, other: &Group) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < one.ranges.len() {
        while j < other.ranges.len() {
            let ((first, last), (other_first, other_last)) = (one.ranges[i], other.ranges[j]);
            if first <= other_last && other_first <= last {
                return false;
            }
            j += 1;
        }
        (i, j) = (i + 1, 0);
    }
    true
}

/// Routes a call to the group that claims it; an unclaimed function does not exist.
pub fn route(groups: &[&Group], call: &Call, caller: &mut dyn Caller) -> Outcome {
    match groups.iter().find(|group| group.claims(call.function())) {
        Some(group) => (group.handle)(call, caller),
        None => Outcome::Return(Reply::NOT_SUPPORTED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PowerState, Start};
    use proptest::prelude::*;

    struct Alone;

    impl Caller for Alone {
        fn vcpu(&self) -> usize {
            0
        }
        fn vcpu_with_affinity(&self, _: u64) -> Option<usize> {
            None
        }
        fn power_state(&self, _: usize) -> PowerState {
            PowerState::On
        }
        fn has_memory_at(&self, _: u64) -> bool {
            false
        }
        fn start_vcpu(&mut self, _: usize, _: Start) -> Result<(), PowerState> {
            Err(PowerState::On)
        }
        fn kick_console(&mut self) -> bool {
            true
        }
    }

    const fn group(
        ranges: &'static [(u32, u32)],
        handle: fn(&Call, &mut dyn Caller) -> Outcome,
    ) -> Group {
        Group {
            name: "test",
            ranges,
            handle,
            brief: None,
        }
    }

    const LOW: Group = group(&[(2, 3), (10, 10)], |_, _| Reply::value(100).into());
    const HIGH: Group = group(&[(4, 9), (11, u32::MAX)], |_, _| Reply::value(200).into());

    const _: () = assert!(disjoint(&LOW, &HIGH) && disjoint(&HIGH, &LOW));
    const _: () = assert!(!disjoint(&LOW, &group(&[(0, 1), (5, 10)], LOW.handle)));

    proptest! {
        #[test]
        fn a_call_goes_to_the_group_that_claims_it(
            function in prop_oneof![0u32..16, any::<u32>()], registers in any::<[u64; 8]>(),
        ) {
            let mut registers = registers;
            registers[0] = registers[0] << 32 | u64::from(function);
            let expected = match function {
                0 | 1 => Reply::NOT_SUPPORTED,
                2 | 3 | 10 => Reply::value(100),
                _ => Reply::value(200),
            };
            let outcome = route(&[&LOW, &HIGH], &Call::new(registers), &mut Alone);
            prop_assert_eq!(outcome, Outcome::Return(expected));
            prop_assert_eq!(route(&[], &Call::new(registers), &mut Alone), Reply::NOT_SUPPORTED.into());
        }
    }
}
