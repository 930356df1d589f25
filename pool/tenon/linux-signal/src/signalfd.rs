//! [`signalfd4`]: descriptors from which pending signals are read.
//!
//! A read takes signals of the thread that reads. The events that polls see are those of the process
//! which set the descriptor's signals last.

use crate::action;
use tenon_linux_files::descriptor::{Described, open};
use tenon_linux_files::flag::{CLOSE_ON_EXEC, NONBLOCK};
use tenon_process::{Caller, Errno, Object, Operations, State, Step, Transfer, ready, with_state};
use tenon_signal::{Info, Set, code, number};

/// Descriptions at a time.
const DESCRIPTIONS: u32 = 1024;
/// Bytes of `struct signalfd_siginfo`.
const SIZE: usize = 128;

/// A description from which signals are read.
#[derive(Debug)]
struct Reader {
    signals: Set,
    /// Those of them that were pending for its process when it was looked at last.
    pending: Set,
    /// The number of the process that set the signals.
    process: u32,
    source: u32,
}

static TABLE: Described<Reader> = Described::new(DESCRIPTIONS);

static OPERATIONS: Operations = Operations {
    events: |_, number| {
        let pending = TABLE.with(number, |reader| !reader.pending.is_empty());
        if pending.unwrap_or_default() {
            ready::READABLE | ready::READABLE_NORMAL
        } else {
            0
        }
    },
    read,
    close: |_, number, frames| TABLE.remove(number, frames),
    ..Operations::NONE
};

/// Takes as many pending signals as there is room for.
fn read(transfer: &mut Transfer<'_>, number: u32) -> Step {
    let room = transfer.length / SIZE;
    if room == 0 {
        return Err(Errno::EINVAL);
    }
    let signals = TABLE.with(number, |reader| reader.signals)?;
    let (process, thread) = transfer.thread;
    let mut count = 0;
    while count < room
        && let Some(info) = transfer
            .signals
            .take(process, thread, signals, transfer.frames)
    {
        let bytes = encode(&info);
        transfer
            .memory
            .write(count * SIZE, &bytes, transfer.frames)?;
        count += 1;
    }
    let pending = transfer.signals.pending(process, thread);
    TABLE.with(number, |reader| {
        if reader.process == transfer.process {
            reader.pending = pending & reader.signals;
        }
    })?;
    Ok((count > 0).then_some(count * SIZE))
}

/// `struct signalfd_siginfo` of a signal.
fn encode(info: &Info) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    let mut put = |at: usize, value: u32| bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    put(0, info.signal.into());
    put(4, info.error.cast_unsigned());
    put(8, info.code.cast_unsigned());
    let [first, second, third, fourth] = info.words;
    let (low, high) = (first as u32, (first >> 32) as u32);
    let mut address = 0;
    let mut value = 0;
    let mut times = [0; 2];
    match info.signal {
        _ if info.code == code::TIMER => {
            // `ssi_tid` and `ssi_overrun`.
            put(24, low);
            put(32, high);
            (value, address) = (second, second);
        }
        number::CHLD if info.code > 0 => {
            put(12, low);
            put(16, high);
            // `ssi_status`.
            put(40, second as u32);
            times = [third, fourth];
        }
        signal if info.code > 0 && info.code < code::KERNEL && Set::SYNCHRONOUS.has(signal) => {
            bytes[72..80].copy_from_slice(&first.to_le_bytes());
            return bytes;
        }
        _ => {
            put(12, low);
            put(16, high);
            if info.code == code::QUEUE || info.code < code::THREAD {
                (value, address) = (second, second);
            }
        }
    }
    put_value(&mut bytes, value as u32, address, times);
    bytes
}

/// `ssi_int`, `ssi_ptr`, `ssi_utime` and `ssi_stime`.
fn put_value(bytes: &mut [u8; SIZE], value: u32, address: u64, [program, system]: [u64; 2]) {
    if value != 0 {
        bytes[44..48].copy_from_slice(&value.to_le_bytes());
    }
    for (at, word) in [(48, address), (56, program), (64, system)] {
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
}

/// A signal has become pending for a process: its readers are ready.
fn notice(state: &mut State, process: u32, signal: u8) {
    let mut from = 0;
    while let Some(number) = TABLE.next(from) {
        from = number + 1;
        let source = TABLE.with(number, |reader| {
            let reads = reader.signals.has(signal);
            if reads && reader.process == process {
                reader.pending.insert(signal);
            }
            reads.then_some(reader.source)
        });
        if let Ok(Some(source)) = source {
            state.files.notify(source, ready::READABLE);
        }
    }
}

/// `signalfd4`: a new descriptor, or other signals for one that there is.
pub fn signalfd4(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(3) as u32;
    if flags & !(NONBLOCK | CLOSE_ON_EXEC) != 0 {
        return Err(Errno::EINVAL);
    }
    let signals = action::set(caller, caller.address(1), caller.address(2))?;
    let signals = signals & !Set::UNBLOCKABLE;
    let given = caller.int(0);
    with_state(|state| {
        let (index, thread) = caller.indices(state)?;
        let pending = state.signals.pending(index, thread) & signals;
        let process = caller.process();
        if given != -1 {
            let (process_of, _, files) = caller.parts(state)?;
            let object = files.get(&process_of.descriptor(given)?.file)?.object;
            let Object::Special(special) = object else {
                return Err(Errno::EINVAL);
            };
            if !core::ptr::eq(special.operations, &raw const OPERATIONS) {
                return Err(Errno::EINVAL);
            }
            TABLE.with(special.number, |reader| {
                (reader.signals, reader.pending, reader.process) = (signals, pending, process);
            })?;
            if !pending.is_empty() {
                files.notify(special.source, ready::READABLE);
            }
            return Ok(given.cast_unsigned().into());
        }
        let reader = Reader {
            signals,
            pending,
            process,
            source: u32::MAX,
        };
        state.on_signal = Some(notice);
        let number = TABLE.insert(state, caller, reader)?;
        open(state, caller, (&OPERATIONS, number), flags, |source| {
            let noted = TABLE.with(number, |reader| reader.source = source);
            debug_assert!(noted.is_ok());
        })
    })
}
