//! Tests of guest headers: valid ones, rejected ones, and random bytes.

use core_guest::{ENDS, Error, Guest, MAGIC, SIZE, TASKS, VERSION};
use proptest::prelude::*;

/// The header of the demonstration as the orchestrator writes it. The orchestrator's tests compare
/// with the same file, so that both sides stay consistent.
const GOLDEN: &[u8] = include_bytes!("golden.bin");

/// Offsets of fields, in words of 8 bytes.
const VERSION_AND_MAGIC: usize = 0;
const CPUS_AND_TASKS: usize = 1;
const MEMORY: usize = 6;
const LOG: usize = 10;
const ENDS_COUNT: usize = 14;
const TASK: usize = 16;
const END: usize = 80;

/// The header as words, with the alignment of a guest's memory.
fn words() -> Vec<u64> {
    let words = GOLDEN.chunks(8);
    let mut words: Vec<u64> = words
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
        .collect();
    words.resize(SIZE / 8, 0);
    words
}

/// The same header with a receiving channel end, `telemetry`.
fn words_with_channel() -> Vec<u64> {
    let mut words = words();
    words[ENDS_COUNT] = 1;
    let end = [
        u64::from_le_bytes(*b"telemetr"),
        u64::from(b'y'),
        0,
        0,
        1 << 32 | 3,
        64 << 32 | 16,
        0x8001_2000,
        0x1000,
        0x8001_4000,
        0x1000,
        0x8001_3000,
        0x1000,
        8,
        0,
    ];
    words[END..END + end.len()].copy_from_slice(&end);
    words
}

fn bytes(words: &[u64]) -> &[u8] {
    zerocopy::IntoBytes::as_bytes(words)
}

fn refusal(word: usize, value: u64) -> Error {
    let mut words = words();
    words[word] = value;
    Guest::parse(bytes(&words)).expect_err("a bad header")
}

#[test]
fn tenon_reads_what_the_orchestrator_writes() {
    let words = words();
    let guest = Guest::parse(bytes(&words)).unwrap();
    assert_eq!((guest.name(), guest.cpus()), ("motor", 1));
    let memory = guest.memory().unwrap();
    assert_eq!(memory.start(), 0x4000_0000);
    assert_eq!(guest.status().map(|range| range.size()), Some(0x1000));
    assert_eq!(guest.log().map(|range| range.size()), Some(0x1_1000));
    assert_eq!(guest.tasks().len(), 1);
    let task = guest.task("control").unwrap();
    assert_eq!((task.name(), task.period_ns), ("control", 1_000_000));
    assert!(task.area().unwrap().start() > guest.log().unwrap().start());
    assert!(guest.task("contro").is_none());
    let shared = guest.shared().unwrap();
    assert!(shared.contains(&guest.status().unwrap()) && shared.contains(&task.area().unwrap()));
}

#[test]
fn a_task_has_the_priority_that_is_stated() {
    let mut words = words();
    let guest = Guest::parse(bytes(&words)).unwrap();
    assert_eq!(guest.task_priority("control"), None);
    words[ENDS_COUNT] |= 40 << 32;
    let guest = Guest::parse(bytes(&words)).unwrap();
    assert_eq!(guest.task_priority("control"), Some(40));
    assert_eq!(guest.task_priority("contro"), None);
}

#[test]
fn an_end_of_a_channel_is_found_by_name() {
    let words = words_with_channel();
    let guest = Guest::parse(bytes(&words)).unwrap();
    let channel = guest.channel("telemetry").unwrap();
    assert_eq!(
        (channel.number, channel.sends, channel.interrupt),
        (3, false, 8)
    );
    assert_eq!((channel.slots, channel.size), (16, 64));
    let starts = [channel.producer, channel.consumer, channel.status].map(|part| part.start());
    assert_eq!(starts, [0x8001_2000, 0x8001_4000, 0x8001_3000]);
    assert_eq!(guest.channel("telemetr").unwrap_err(), Error::NoChannel);
}

#[test]
fn an_end_of_a_channel_is_checked_where_it_is_used() {
    let refusal = |word: usize, value: u64| {
        let mut words = words_with_channel();
        words[word] = value;
        Guest::parse(bytes(&words))
            .unwrap()
            .channel("telemetry")
            .unwrap_err()
    };
    assert_eq!(
        refusal(ENDS_COUNT, ENDS as u64 + 1),
        Error::Ends(ENDS as u32 + 1)
    );
    assert_eq!(refusal(ENDS_COUNT, 0), Error::NoChannel);
    assert_eq!(refusal(END + 6, 0x8001_2008), Error::Pages(0x8001_2008));
    assert_eq!(refusal(END + 9, 0), Error::Pages(0x8001_4000));
}

#[test]
fn a_vlib_is_an_end_of_another_kind() {
    let mut words = words_with_channel();
    let role = words[END + 4];
    words[END + 4] = role & 0xffff_ffff | 2 << 32;
    let guest = Guest::parse(bytes(&words)).unwrap();
    assert_eq!(guest.channel("telemetry").unwrap_err(), Error::NoChannel);
    let vlib = guest.vlib("telemetry").unwrap();
    assert_eq!((vlib.number, vlib.interrupt), (3, 8));
    let starts = [vlib.memory, vlib.status].map(|part| part.start());
    assert_eq!(starts, [0x8001_2000, 0x8001_3000]);
    let words = words_with_channel();
    let guest = Guest::parse(bytes(&words)).unwrap();
    assert_eq!(guest.vlib("telemetry").unwrap_err(), Error::NoVlib);
}

#[test]
fn a_guest_needs_neither_log_nor_tasks() {
    let mut words = words();
    words[CPUS_AND_TASKS] = 1 << 32;
    words[LOG + 1] = 0;
    let guest = Guest::parse(bytes(&words)).unwrap();
    assert!(guest.log().is_none() && guest.tasks().is_empty());
}

#[test]
fn the_rest_is_refused() {
    let [magic, version] = [MAGIC, VERSION].map(u64::from);
    assert_eq!(
        refusal(VERSION_AND_MAGIC, (magic + 1) | (version << 32)),
        Error::Foreign
    );
    assert_eq!(
        refusal(VERSION_AND_MAGIC, magic | (2 << 32)),
        Error::Version(2)
    );
    assert_eq!(refusal(CPUS_AND_TASKS, 9), Error::Tasks(9));
    assert_eq!(
        refusal(CPUS_AND_TASKS, 2),
        Error::Period,
        "the second one is empty"
    );
    assert_eq!(refusal(MEMORY, 0x4000_0800), Error::Pages(0x4000_0800));
    assert_eq!(refusal(LOG + 1, u64::MAX << 12), Error::Pages(0x8000_1000));
    assert_eq!(refusal(TASK + 4, 8), Error::Pages(8));
    assert_eq!(refusal(TASK + 6, 0), Error::Period);
    assert_eq!(
        Guest::parse(&GOLDEN[..SIZE - 1]).unwrap_err(),
        Error::Foreign
    );
}

/// Checks the guarantees of a valid header, using all of it.
fn use_up(words: &[u64], length: usize) -> Result<(), TestCaseError> {
    match Guest::parse(&bytes(words)[..length]) {
        Ok(guest) => {
            let areas = guest.tasks().iter().map(|task| task.area());
            let ranges = [guest.memory(), guest.status(), guest.log()].into_iter();
            for range in ranges.chain(areas).flatten() {
                prop_assert!(range.is_aligned(4096));
            }
            prop_assert!(guest.tasks().iter().all(|task| task.period_ns > 0));
            prop_assert!(guest.tasks().len() <= TASKS);
            for name in ["telemetry", ""] {
                if let Ok(channel) = guest.channel(name) {
                    prop_assert!(channel.producer.is_aligned(4096) && channel.status.size() > 0);
                }
            }
            drop(format!("{guest:?} {} {:?}", guest.name(), guest.task("x")));
        }
        Err(error) => drop(error.to_string()),
    }
    Ok(())
}

proptest! {
    #[test]
    fn random_words(words in prop::collection::vec(any::<u64>(), 0..220), lead in any::<bool>()) {
        let mut words = words;
        if let (true, Some(first)) = (lead, words.first_mut()) {
            *first = u64::from(MAGIC) | (u64::from(VERSION) << 32);
        }
        use_up(&words, words.len() * 8)?;
    }

    #[test]
    fn damaged_headers(
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..64u32), 0..6),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut words = words_with_channel();
        for (index, bit) in damage {
            let index = index.index(words.len());
            words[index] ^= 1 << bit;
        }
        let length = words.len() * 8;
        use_up(&words, if whole { length } else { cut.index(length) })?;
    }
}
