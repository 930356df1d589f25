//! Tests: queues against a model, frames there and back.

use crate::frame::{self, Frame, Registers, Saved};
use crate::queue::{Entries, Full, Pending};
use crate::{Action, AlternateStack, Effect, Info, Set, code, number};
use proptest::prelude::*;
use tenon_frames::{Frames, PAGE};

#[test]
fn defaults_are_those_of_the_standard() {
    let effect = |signal| Action::INITIAL.effect(signal);
    for signal in [number::CHLD, number::CONT, number::URG, number::WINCH] {
        assert_eq!(effect(signal), Some(Effect::Ignore));
    }
    for signal in [number::STOP, number::TSTP, number::TTIN, number::TTOU] {
        assert_eq!(effect(signal), Some(Effect::Stop));
    }
    for signal in [
        number::HUP,
        number::KILL,
        number::PIPE,
        number::TERM,
        34,
        64,
    ] {
        assert_eq!(effect(signal), Some(Effect::End));
    }
    let handled = Action {
        handler: 0x1000,
        ..Action::INITIAL
    };
    assert_eq!(handled.effect(number::CHLD), None);
}

#[test]
fn a_fault_is_first() {
    let set = Set::of(&[number::HUP, number::SEGV, 64]);
    assert_eq!(set.first(), Some(number::SEGV));
    assert_eq!(Set::of(&[number::HUP, 64]).first(), Some(number::HUP));
    assert_eq!(Set::of(&[64]).first(), Some(64));
    assert_eq!(Set::EMPTY.first(), None);
}

#[derive(Clone, Debug)]
enum Step {
    Push(u8, u64),
    Take(u64),
    Discard(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let signal = prop_oneof![1..=4u8, 32..=35u8];
    let step = prop_oneof![
        4 => (signal, any::<u64>()).prop_map(|(signal, value)| Step::Push(signal, value)),
        2 => any::<u64>().prop_map(Step::Take),
        1 => any::<u64>().prop_map(Step::Discard),
    ];
    prop::collection::vec(step, 1..80)
}

/// What a queue has: each signal with its value, if it was queued.
type Model = Vec<(u8, Option<u64>)>;

fn first_of(model: &Model, set: Set) -> Option<usize> {
    let present = model.iter().fold(Set::EMPTY, |mut set, (signal, _)| {
        set.insert(*signal);
        set
    });
    let signal = (present & set).first()?;
    let queued = |entry: &(u8, Option<u64>)| entry.0 == signal && entry.1.is_some();
    let position = model.iter().position(queued);
    position.or_else(|| model.iter().position(|entry| entry.0 == signal))
}

proptest! {
    #[test]
    fn a_queue_is_as_its_model(steps in steps()) {
        const MOST: u32 = 6;
        let mut frames = Frames::of_host(8);
        let total = frames.available();
        let (mut entries, mut pending) = (Entries::new(), Pending::new());
        let (mut queued, mut model, mut kept) = (0, Model::new(), 0);
        for step in steps {
            match step {
                Step::Push(signal, value) => {
                    let words = [value, 0, 0, 0];
                    let info = Info { signal, code: code::QUEUE, words, ..Info::default() };
                    let result =
                        pending.push(&info, (&mut queued, MOST), &mut entries, &mut frames);
                    let present = model.iter().any(|entry| entry.0 == signal);
                    let full = model.iter().filter(|entry| entry.1.is_some()).count() >= MOST as usize;
                    let expected = match (signal < number::REAL_TIME, present, full) {
                        (true, true, _) => Ok(()),
                        (true, false, true) => {
                            model.push((signal, None));
                            Ok(())
                        }
                        (false, _, true) => Err(Full),
                        _ => {
                            model.push((signal, Some(value)));
                            Ok(())
                        }
                    };
                    prop_assert_eq!(result, expected);
                }
                Step::Take(set) => {
                    let taken = pending.take(Set(set), &mut queued, &mut entries, &mut frames);
                    let expected = first_of(&model, Set(set)).map(|index| model.remove(index));
                    prop_assert_eq!(
                        taken.map(|info| (info.signal, info.words[0])),
                        expected.map(|(signal, value)| (signal, value.unwrap_or(0)))
                    );
                }
                Step::Discard(set) => {
                    pending.discard(Set(set), &mut queued, &mut entries, &mut frames);
                    model.retain(|(signal, _)| !Set(set).has(*signal));
                }
            }
            let mut set = Set::EMPTY;
            for (signal, _) in &model {
                set.insert(*signal);
            }
            prop_assert_eq!(pending.set(), set);
            let counted = model.iter().filter(|entry| entry.1.is_some()).count();
            prop_assert_eq!(queued as usize, counted);
            // The frame of the first entries is kept.
            kept = kept.max(counted.min(1));
        }
        pending.discard(!Set::EMPTY, &mut queued, &mut entries, &mut frames);
        prop_assert_eq!(frames.available(), total - kept);
    }

    #[test]
    fn a_frame_is_read_as_it_was_written(
        x in any::<[u64; 31]>(),
        rest in any::<[u64; 3]>(),
        seed in any::<u64>(),
        mask in any::<u64>(),
        fault in any::<(u64, u64)>(),
        disarms in any::<bool>(),
    ) {
        let mut fp = [0; 528];
        for (index, word) in fp.as_chunks_mut().0.iter_mut().enumerate() {
            let word_of = seed.wrapping_mul(index as u64 + 1);
            // FPCR and FPSR have 32 bits.
            let bits = if index < 64 { u64::MAX } else { u32::MAX.into() };
            *word = (word_of & bits).to_le_bytes();
        }
        let registers = Registers { sp: rest[0], pc: rest[1], pstate: rest[2] };
        let stack = AlternateStack { start: 0x4000, size: 0x2000, disarms };
        let saved = Saved { mask: Set(mask), stack };
        let info = Info::of_fault(number::SEGV, 1, 0x1234);
        let mut written = Frame::new();
        // What an earlier frame has left does not matter.
        written.encode(&info, (&x, &registers), |place| *place = [1; 528], &saved, (1, 1));
        let bytes = *written.encode(&info, (&x, &registers), |place| *place = fp, &saved, fault);
        let start: [u8; Info::USED] = *bytes.first_chunk().unwrap();
        let next = bytes[1120..].to_vec();
        let mut general = [0; 31];
        let (found, kept, read) = written.decode(&mut general).unwrap();
        prop_assert_eq!(general, x);
        prop_assert_eq!(found, Registers { pstate: rest[2] & 0xf << 28, ..registers });
        prop_assert_eq!(kept, Saved { mask: Set(mask) & !Set::UNBLOCKABLE, stack });
        prop_assert_eq!(*read, fp);
        let head = if fault.1 == 0 { 0 } else { 0x10_4553_5201u64 };
        prop_assert_eq!(&next[..8], head.to_le_bytes());
        prop_assert_eq!(&next[8..16], fault.1.to_le_bytes());
        prop_assert!(next[16..].iter().all(|byte| *byte == 0));
        prop_assert_eq!(Info::decode(number::SEGV, &start), info);
    }

    #[test]
    fn any_bytes_are_a_frame_or_none(bytes in prop::collection::vec(any::<u8>(), frame::USED)) {
        let mut frame = Frame::new();
        frame.bytes_mut().copy_from_slice(&bytes);
        let mut general = [1; 31];
        match frame.decode(&mut general) {
            // EL0 in AArch64 state, nothing masked.
            Some((registers, ..)) => prop_assert_eq!(registers.pstate & 0x3df, 0),
            None => prop_assert_eq!(general, [1; 31]),
        }
    }
}

#[test]
fn a_frame_of_another_level_is_none() {
    let registers = Registers {
        sp: 0,
        pc: 0,
        pstate: 0,
    };
    let saved = Saved {
        mask: Set::EMPTY,
        stack: AlternateStack::default(),
    };
    let info = Info::default();
    let general = [0; 31];
    let mut written = Frame::new();
    let bytes = *written.encode(&info, (&general, &registers), |_| {}, &saved, (0, 0));
    let decode = |bytes| {
        let mut frame = Frame::new();
        *frame.bytes_mut() = bytes;
        frame.decode(&mut [0; 31]).map(drop)
    };
    assert!(decode(bytes).is_some());
    for bit in [0, 2, 3, 4, 6, 7, 8, 9] {
        let mut wrong = bytes;
        let pstate = 312 + 33 * 8;
        wrong[pstate..pstate + 8].copy_from_slice(&(1u64 << bit).to_le_bytes());
        assert!(decode(wrong).is_none(), "{bit}");
    }
    let mut without = bytes;
    without[592] = 0;
    assert!(decode(without).is_none());
    const { assert!(PAGE > frame::USED) };
}

#[test]
fn a_timer_counts_what_its_pending_signal_stands_for() {
    let mut frames = Frames::of_host(8);
    let (mut entries, mut pending, mut queued) = (Entries::new(), Pending::new(), 0);
    let info = Info {
        signal: number::REAL_TIME,
        code: code::TIMER,
        words: [5, 77, 0, 0],
        timer: 6,
        ..Info::default()
    };
    assert_eq!(pending.count_overrun(6, 1, &mut entries), None);
    let pushed = pending.push(&info, (&mut queued, 9), &mut entries, &mut frames);
    assert_eq!(pushed, Ok(()));
    assert_eq!(pending.count_overrun(7, 1, &mut entries), None);
    assert_eq!(pending.count_overrun(6, 2, &mut entries), Some(2));
    assert_eq!(
        pending.count_overrun(6, u32::MAX, &mut entries),
        Some(i32::MAX as u32)
    );
    let taken = pending.take(!Set::EMPTY, &mut queued, &mut entries, &mut frames);
    let words = [5 | u64::from(i32::MAX as u32) << 32, 77, 0, 0];
    assert_eq!(taken.map(|info| info.words), Some(words));
}
