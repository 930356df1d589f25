//! [`eventfd2`]: counters with descriptors.

use tenon_linux_files::descriptor::{Described, open};
use tenon_linux_files::flag::{CLOSE_ON_EXEC, NONBLOCK};
use tenon_process::{Caller, Errno, Operations, Side, Step, Transfer, ready, with_state};

/// Counters at a time.
const COUNTERS: u32 = 4096;
/// The largest value of a counter.
const END: u64 = u64::MAX - 1;
/// Bytes of a counter.
const SIZE: usize = 8;

/// A counter with a descriptor.
#[derive(Debug)]
struct Counter {
    value: u64,
    /// It is read as one by one.
    one_by_one: bool,
    source: u32,
}

static TABLE: Described<Counter> = Described::new(COUNTERS);

static OPERATIONS: Operations = Operations {
    events: |_, number| {
        let value = TABLE
            .with(number, |counter| counter.value)
            .unwrap_or_default();
        let readable = if value > 0 { ready::READABLE } else { 0 };
        readable | if value < END { ready::WRITABLE } else { 0 }
    },
    read,
    write,
    close: |_, number, frames| TABLE.remove(number, frames),
    ..Operations::NONE
};

fn read(transfer: &mut Transfer<'_>, number: u32) -> Step {
    if transfer.length < SIZE {
        return Err(Errno::EINVAL);
    }
    let taken = TABLE.with(number, |counter| {
        let count = if counter.one_by_one {
            counter.value.min(1)
        } else {
            counter.value
        };
        counter.value -= count;
        (count > 0).then_some((count, counter.source, counter.value))
    })?;
    let Some((count, source, rest)) = taken else {
        return Ok(None);
    };
    transfer.files.notify(source, ready::WRITABLE);
    if rest > 0 {
        transfer.files.wake_next(source, Side::Read);
    }
    let memory = &mut transfer.memory;
    memory.write(0, &count.to_le_bytes(), transfer.frames)?;
    Ok(Some(SIZE))
}

fn write(transfer: &mut Transfer<'_>, number: u32) -> Step {
    if transfer.length < SIZE {
        return Err(Errno::EINVAL);
    }
    let mut bytes = [0; SIZE];
    transfer.memory.read(0, &mut bytes, transfer.frames)?;
    let added = u64::from_le_bytes(bytes);
    if added == u64::MAX {
        return Err(Errno::EINVAL);
    }
    let done = TABLE.with(number, |counter| {
        let sum = counter.value.checked_add(added).filter(|sum| *sum <= END);
        sum.map(|sum| {
            counter.value = sum;
            counter.source
        })
    })?;
    let Some(source) = done else {
        return Ok(None);
    };
    transfer.files.notify(source, ready::READABLE);
    transfer.files.wake_next(source, Side::Write);
    Ok(Some(SIZE))
}

/// `eventfd2`.
pub fn eventfd2(caller: &Caller) -> Result<u64, Errno> {
    const SEMAPHORE: u32 = 1;
    let flags = caller.argument(1) as u32;
    if flags & !(SEMAPHORE | NONBLOCK | CLOSE_ON_EXEC) != 0 {
        return Err(Errno::EINVAL);
    }
    let counter = Counter {
        value: (caller.argument(0) as u32).into(),
        one_by_one: flags & SEMAPHORE != 0,
        source: u32::MAX,
    };
    with_state(|state| {
        let number = TABLE.insert(state, caller, counter)?;
        open(state, caller, (&OPERATIONS, number), flags, |source| {
            let noted = TABLE.with(number, |counter| counter.source = source);
            debug_assert!(noted.is_ok());
        })
    })
}
