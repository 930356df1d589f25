//! Random numbers by hypercall: the TRNG firmware interface (Arm DEN 0098, 2).

use crate::{generator::MOST, seeder::ENTROPY};
use mortise_hypercall::{Call, Caller, Group, Outcome, Reply};
use mortise_partition::Core;

const VERSION: u32 = 0x8400_0050;
const FEATURES: u32 = 0x8400_0051;
const GET_UUID: u32 = 0x8400_0052;
const RND32: u32 = 0x8400_0053;
const RND64: u32 = 0xc400_0053;

/// Version 1.0.
const VERSION_1_0: u64 = 0x1_0000;
/// This back end: a UUID of Mortise's own, in the order of its bytes (2.4).
const UUID: [u64; 4] = [0x3c9e_a1f4, 0x4b7d_4c52, 0x9a06_51d7, 0x2e8f_b0c3];
const INVALID_PARAMETERS: Reply = Reply::status(-2);

/// Hypercall group.
pub const GROUP: Group = Group {
    name: "random numbers",
    brief: None,
    ranges: &[(VERSION, RND32), (RND64, RND64)],
    handle,
};

fn handle(call: &Call, _: &mut dyn Caller) -> Outcome {
    let core = Core::current();
    if core.preemption_pending() {
        return Outcome::Again(0);
    }
    let Some(generator) = ENTROPY.generator(core) else {
        return Reply::NOT_SUPPORTED.into();
    };
    let mut generator = generator.lock();
    let Some(generator) = generator.as_mut() else {
        return Reply::NOT_SUPPORTED.into();
    };
    answer(call, |words| {
        generator.take(words, || core.preemption_pending())
    })
}

/// Answers a call with words from `take`, which returns nothing if the call must be repeated.
fn answer(call: &Call, take: impl FnOnce(usize) -> Option<[u64; MOST]>) -> Outcome {
    let reply = match call.function() {
        VERSION => Reply::value(VERSION_1_0),
        FEATURES => match call.argument(1) as u32 {
            VERSION | FEATURES | GET_UUID | RND32 | RND64 => Reply::SUCCESS,
            _ => Reply::NOT_SUPPORTED,
        },
        GET_UUID => Reply { registers: UUID },
        function @ (RND32 | RND64) => {
            let width = if function == RND64 { 64 } else { 32 };
            let bits = call.argument(1);
            if bits == 0 || bits > MOST as u64 * width {
                return INVALID_PARAMETERS.into();
            }
            match take(bits.div_ceil(width) as usize) {
                Some(words) => random(words, bits, width),
                None => return Outcome::Again(0),
            }
        }
        _ => Reply::NOT_SUPPORTED,
    };
    reply.into()
}

/// `bits` random bits in x3, x2 and x1, the lowest in x3; bits beyond are zero.
fn random(words: [u64; MOST], bits: u64, width: u64) -> Reply {
    let mut left = bits;
    let mut next = |word: u64| {
        let here = left.min(width);
        left -= here;
        match here {
            0 => 0,
            here => word >> (64 - here),
        }
    };
    let [x1, x2, x3] = words;
    let (x3, x2, x1) = (next(x3), next(x2), next(x1));
    Reply {
        registers: [0, x1, x2, x3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(function: u32, argument: u64) -> Outcome {
        let mut x = [0; 8];
        (x[0], x[1]) = (function.into(), argument);
        answer(&Call::new(x), |count| {
            let mut words = [0; MOST];
            words
                .iter_mut()
                .rev()
                .take(count)
                .for_each(|word| *word = u64::MAX);
            Some(words)
        })
    }

    fn registers(outcome: Outcome) -> [u64; 4] {
        match outcome {
            Outcome::Return(reply) => reply.registers,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn says_what_it_has() {
        assert_eq!(registers(ask(VERSION, 0))[0], 0x1_0000);
        for function in [VERSION, FEATURES, GET_UUID, RND32, RND64] {
            assert_eq!(ask(FEATURES, function.into()), Reply::SUCCESS.into());
        }
        assert_eq!(ask(FEATURES, 0x8400_0000), Reply::NOT_SUPPORTED.into());
        // A UUID with -1 as its first word would be an error.
        assert!(UUID.iter().all(|word| *word < u32::MAX.into()));
    }

    #[test]
    fn returns_exactly_as_many_bits_as_asked_for() {
        for bits in 1..=192u32 {
            let [x0, found @ ..] = registers(ask(RND64, bits.into()));
            let ones: u32 = found.iter().map(|word| word.count_ones()).sum();
            assert_eq!((x0, ones), (0, bits));
            assert_eq!(
                found[2],
                u64::MAX >> (64 - bits.min(64)),
                "the lowest in x3"
            );
        }
        for bits in 1..=96u32 {
            let [x0, found @ ..] = registers(ask(RND32, bits.into()));
            let ones: u32 = found.iter().map(|word| word.count_ones()).sum();
            assert_eq!((x0, ones), (0, bits));
            assert!(found.iter().all(|word| *word <= u32::MAX.into()));
        }
        for (function, bits) in [(RND64, 0), (RND64, 193), (RND32, 0), (RND32, 97)] {
            assert_eq!(ask(function, bits), INVALID_PARAMETERS.into());
        }
    }

    #[test]
    fn an_interrupted_call_is_repeated() {
        let call = Call::new([RND64.into(), 192, 0, 0, 0, 0, 0, 0]);
        assert_eq!(answer(&call, |_| None), Outcome::Again(0));
    }
}
