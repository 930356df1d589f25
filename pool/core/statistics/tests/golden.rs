//! Golden bytes of both formats. The reader of the orchestrator is tested with the same bytes.

use core::sync::atomic::AtomicU64;
use core_ring::{Area, journal::Next};
use core_statistics::{
    Error, ExitKind, FaultRegisters, REASON_WORDS, Reason, Sample, State, StatusReader,
    StatusWriter, TaskArea, TaskReader,
};

fn memory<const WORDS: usize>() -> [AtomicU64; WORDS] {
    [const { AtomicU64::new(0) }; WORDS]
}

fn bytes<const N: usize>(area: Area<'_>) -> [u8; N] {
    let mut bytes = [0; N];
    area.read(0, &mut bytes);
    bytes
}

/// Writes a complete fault record.
fn fault(
    status: &StatusWriter<'_>,
    vcpu: usize,
    registers: &FaultRegisters,
    x: &[u64; 31],
    (reason, words): (Reason, &str),
) {
    for (register, value) in x.iter().enumerate() {
        status.set_register(register, *value);
    }
    set_words(status, words);
    status.set_fault(vcpu, registers);
    status.set_reason(reason);
}

fn set_words(status: &StatusWriter<'_>, words: &str) {
    for word in 0..REASON_WORDS {
        let mut bytes = words.bytes().skip(word * 8);
        let bytes = std::array::from_fn(|_| bytes.next().unwrap_or(0));
        status.set_reason_words(word, bytes);
    }
}

fn place(page: &mut [u8], offset: usize, bytes: &[u8]) {
    page[offset..offset + bytes.len()].copy_from_slice(bytes);
}

#[test]
fn the_status_page_has_the_documented_bytes() {
    let memory = memory::<512>();
    let area = Area::new(&memory);
    let status = StatusWriter::create(area, "motor", 2).unwrap();
    status.set_state(State::Stopped);
    status.count_restart();
    status.set_boot_time(0x0102_0304_0506_0708);
    let registers = FaultRegisters {
        esr: 0xe,
        far: 0xf,
        hpfar: 0x10,
        elr: 0x11,
        spsr: 0x12,
    };
    let x = core::array::from_fn(|index| 0x100 + index as u64);
    let reason = (Reason::DataAbort, "write to 0xdead");
    fault(&status, 1, &registers, &x, reason);
    for kind in [
        ExitKind::Interrupt,
        ExitKind::Wait,
        ExitKind::Other,
        ExitKind::Other,
    ] {
        status.count_exit(1, kind);
    }

    let budget = status.budget(1).unwrap();
    budget.begin(20, 100);
    budget.add(1, 20);
    budget.add(3, 5);

    let mut expected = [0; 4096];
    place(&mut expected, 0x000, b"TNST\x01\0\0\0motor");
    place(
        &mut expected,
        0x028,
        &[3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0],
    );
    place(&mut expected, 0x038, &[8, 7, 6, 5, 4, 3, 2, 1]);
    for (index, value) in [0xe, 0xf, 0x10, 0x11, 0x12, 1].into_iter().enumerate() {
        place(&mut expected, 0x040 + 8 * index, &[value]);
    }
    for index in 0..31u8 {
        place(&mut expected, 0x080 + 8 * usize::from(index), &[index, 1]);
    }
    place(&mut expected, 0x180, b"write to 0xdead");
    place(&mut expected, 0x240, &[1]);
    place(&mut expected, 0x240 + 4 * 8, &[1]);
    place(&mut expected, 0x240 + 5 * 8, &[2]);
    for (index, value) in [20, 100, 1, 3, 15, 5].into_iter().enumerate() {
        place(&mut expected, 0x440 + 8 * index, &[value]);
    }
    assert_eq!(bytes::<4096>(area), expected);

    let reader = StatusReader::attach(area).unwrap();
    assert_eq!(reader.exits(), 4);
    let page = reader.snapshot();
    assert_eq!(
        (page.name(), page.reason_text()),
        ("motor", "write to 0xdead")
    );
    assert_eq!(
        (page.state(), page.reason()),
        (Some(State::Stopped), Some(Reason::DataAbort))
    );
}

#[test]
fn the_task_area_has_the_documented_bytes() {
    let memory = memory::<{ (0x1000 + 4 * 32) / 8 }>();
    let area = Area::new(&memory);
    let mut task = TaskArea::create(area, "control", 1_000_000, 500_000).unwrap();
    let sample = |sequence| Sample {
        sequence,
        release_ns: 2,
        begin_ns: 3,
        exits: 4,
    };
    task.publish(sample(0));
    task.publish(sample(1));

    let mut expected = [0; 0x1000 + 4 * 32];
    place(&mut expected, 0x000, b"TASK\x01\0\0\0control");
    place(&mut expected, 0x028, &1_000_000u64.to_le_bytes());
    place(&mut expected, 0x030, &500_000u64.to_le_bytes());
    place(&mut expected, 0x038, &[4]);
    place(&mut expected, 0x040, &[2]);
    for sequence in 0..2u8 {
        let start = 0x1000 + 32 * usize::from(sequence);
        for (index, value) in [sequence, 2, 3, 4].into_iter().enumerate() {
            place(&mut expected, start + 8 * index, &[value]);
        }
    }
    assert_eq!(bytes::<{ 0x1000 + 4 * 32 }>(area), expected);

    let mut reader = TaskReader::attach(area).unwrap();
    assert_eq!(
        (reader.header().name(), reader.header().period_ns),
        ("control", 1_000_000)
    );
    assert_eq!(reader.take(), Next::Record(sample(0)));
    assert_eq!(reader.take(), Next::Record(sample(1)));
    assert_eq!(reader.take(), Next::Empty);
}

#[test]
fn a_default_area_holds_65536_samples() {
    let words: Vec<AtomicU64> = (0..(2 << 20 | 0x1000) / 8)
        .map(|_| AtomicU64::new(0))
        .collect();
    let area = Area::new(&words);
    TaskArea::create(area, "control", 1, 1).unwrap();
    assert_eq!(TaskReader::attach(area).unwrap().header().capacity, 65536);
}

#[test]
fn what_does_not_fit_is_refused() {
    let memory = memory::<512>();
    let area = Area::new(&memory);
    assert_eq!(StatusReader::attach(area).unwrap_err(), Error::Foreign);
    assert_eq!(TaskReader::attach(area).unwrap_err(), Error::Foreign);
    assert_eq!(
        StatusWriter::create(area, "vm", 9).unwrap_err(),
        Error::TooManyVcpus
    );
    assert_eq!(
        TaskArea::create(area, "task", 1, 1).unwrap_err(),
        Error::TooSmall
    );
    let small = area.part(0, 4088).unwrap();
    assert_eq!(
        StatusWriter::create(small, "vm", 1).unwrap_err(),
        Error::TooSmall
    );
}

#[test]
fn a_vcpu_without_counters_counts_nothing() {
    let memory = memory::<512>();
    let status = StatusWriter::create(Area::new(&memory), "vm", 8).unwrap();
    status.count_exit(8, ExitKind::Mmio);
    status.count_exit(usize::MAX, ExitKind::Mmio);
    assert_eq!(StatusReader::attach(Area::new(&memory)).unwrap().exits(), 0);
}

#[test]
fn a_budget_that_begins_has_no_counts_of_the_one_before() {
    let memory = memory::<512>();
    let status = StatusWriter::create(Area::new(&memory), "vm", 8).unwrap();
    let budget = status.budget(7).unwrap();
    budget.begin(20, 100);
    budget.add(2, 20);
    let counted = budget.snapshot();
    assert_eq!((counted.exhausted, counted.partial), (2, 0));
    budget.begin(0, 0);
    assert_eq!(budget.snapshot(), Default::default());
    assert!(status.budget(8).is_none() && status.budget(usize::MAX).is_none());
}

#[test]
fn a_page_serves_one_vm_after_the_other() {
    let words = memory::<512>();
    let writer = StatusWriter::create(Area::new(&words), "first", 8).unwrap();
    let reason = (Reason::Other, "it ended");
    fault(&writer, 7, &FaultRegisters::default(), &[1; 31], reason);
    (0..8).for_each(|vcpu| writer.count_exit(vcpu, ExitKind::Wait));
    writer.count_restart();
    let mut part = 0;
    while writer.clear(part) {
        part += 1;
    }
    assert!(
        words
            .iter()
            .all(|word| word.load(std::sync::atomic::Ordering::Relaxed) == 0)
    );
    writer.set_name("second");
    writer.renew(0x103, &[2, 0]);
    writer.count_exit(0, ExitKind::Wait);
    writer.count_exit(1, ExitKind::Wait);
    let told = writer.summary();
    assert_eq!(told.name(0).to_le_bytes(), *b"second\0\0");
    assert_eq!((told.vcpus(), told.restarts(), told.reason()), (2, 0, 0));
    assert_eq!(
        [0, 1, 2, 3, 4, 5].map(|kind| told.exits(kind)),
        [0, 0, 0, 0, 2, 0]
    );
    set_words(&writer, "it ended");
    assert_eq!(told.reason_text(0), 0);
    writer.set_reason(Reason::Other);
    assert_eq!(told.reason_text(0).to_le_bytes(), *b"it ended");
    writer.set_reason(Reason::None);
    let page = writer.snapshot();
    assert_eq!((page.name(), page.vcpus, page.handle), ("second", 2, 0x103));
    assert_eq!(page.cpus, [2, 0, 255, 255, 255, 255, 255, 255]);
    assert_eq!(
        (page.state(), page.reason()),
        (Some(State::Created), Some(Reason::None))
    );
    assert!(StatusReader::attach(Area::new(&words)).is_ok());
}
