//! Operations of [`io_submit`].

use crate::context::{self, Event};
use tenon_linux_abi::transfer::{MOST, PIECE, Step, Target, put, take, target};
use tenon_linux_abi::wait::wait;
use tenon_process::{Caller, Errno, State, resource, user_memory, with_state};
use tenon_signal::number;
use tenon_vfs::Device;

/// `EFBIG`.
const TOO_LARGE: Errno = Errno(27);
/// Buffers of an operation at most.
const VECTORS: u64 = 1024;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Reads, or writes; into one buffer or several.
    Transfer { writes: bool, several: bool },
    /// `fsync`: files are in memory alone.
    Synchronise,
}

/// `struct iocb`.
#[derive(Debug)]
struct Operation {
    address: usize,
    data: u64,
    kind: Kind,
    descriptor: i32,
    buffer: usize,
    length: u64,
    offset: u64,
    /// The counter to which its end adds one.
    counter: Option<i32>,
}

impl Operation {
    /// Decodes the words of an operation.
    fn of(address: usize, words: [u64; 8]) -> Result<Self, Errno> {
        /// `IOCB_FLAG_RESFD`.
        const WITH_COUNTER: u32 = 1;
        let [data, _, head, buffer, length, offset, reserved, tail] = words;
        let (flags, counter) = (tail as u32, (tail >> 32) as i32);
        if reserved != 0 || i64::try_from(length).is_err() || flags & !(WITH_COUNTER | 2) != 0 {
            return Err(Errno::EINVAL);
        }
        let transfer = |writes, several| Kind::Transfer { writes, several };
        let kind = match head as u16 {
            0 => transfer(false, false),
            1 => transfer(true, false),
            2 | 3 => Kind::Synchronise,
            7 => transfer(false, true),
            8 => transfer(true, true),
            _ => return Err(Errno::EINVAL),
        };
        Ok(Self {
            address,
            data,
            kind,
            descriptor: (head >> 32) as i32,
            buffer: buffer as usize,
            length,
            offset,
            counter: (flags & WITH_COUNTER != 0).then_some(counter),
        })
    }

    /// Fails where the operation cannot begin.
    fn check(&self, state: &mut State, caller: &Caller) -> Result<(), Errno> {
        if let Some(counter) = self.counter {
            let (target, ..) = target(state, caller, counter, true)?;
            if !matches!(target, Target::Special(_)) {
                return Err(Errno::EINVAL);
            }
        }
        let (process, ..) = caller.parts(state)?;
        process.descriptor(self.descriptor)?;
        match self.kind {
            Kind::Synchronise => {
                let found = target(state, caller, self.descriptor, false);
                let found = found.or_else(|_| target(state, caller, self.descriptor, true))?;
                let is_file = matches!(found.0, Target::File(_));
                is_file.then_some(()).ok_or(Errno::EINVAL)
            }
            Kind::Transfer { writes, several } => {
                target(state, caller, self.descriptor, writes).map_err(|error| match error {
                    Errno::EISDIR => Errno::EINVAL,
                    error => error,
                })?;
                let too_many = several && self.length > VECTORS;
                let valid = !too_many && i64::try_from(self.offset).is_ok();
                valid.then_some(()).ok_or(Errno::EINVAL)
            }
        }
    }

    /// Does the operation; returns how many bytes.
    fn run(&self, caller: &Caller) -> Result<u64, Errno> {
        let Kind::Transfer { writes, several } = self.kind else {
            return Ok(0);
        };
        if !several {
            let length = (self.length as usize).min(MOST);
            return self.transfer(caller, writes, (self.buffer, length), self.offset);
        }
        let mut done = 0;
        for index in 0..self.length as usize {
            let vector = self.buffer.wrapping_add(index * 16);
            let buffer = user_memory::words(caller, vector).and_then(|[at, length]| {
                let length = i64::try_from(length).map_err(|_| Errno::EINVAL)?;
                Ok((at as usize, (length as usize).min(MOST)))
            });
            let step = buffer.and_then(|(at, length)| {
                let offset = self.offset + done;
                let step = self.transfer(caller, writes, (at, length), offset)?;
                Ok((step, step == length as u64))
            });
            match step {
                Ok((step, whole)) => {
                    done += step;
                    if !whole {
                        break;
                    }
                }
                Err(_) if done > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    /// Transfers a buffer.
    fn transfer(
        &self,
        caller: &Caller,
        writes: bool,
        (at, length): (usize, usize),
        offset: u64,
    ) -> Result<u64, Errno> {
        let mut done = 0;
        while done < length && !caller.is_ended() {
            let part = (length - done).min(PIECE);
            let place = (at.wrapping_add(done), offset + done as u64);
            let step = if writes {
                self.write_step(caller, place, part)
            } else {
                self.read_step(caller, place, part)
            };
            match step {
                Ok((count, ends)) => {
                    done += count;
                    if ends || count < part {
                        break;
                    }
                }
                Err(_) if done > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(done as u64)
    }

    /// The offset for a target: a file's alone.
    fn offset_for(&self, target: Target, offset: u64) -> Option<u64> {
        matches!(target, Target::File(_)).then_some(offset)
    }

    fn read_step(
        &self,
        caller: &Caller,
        (to, offset): (usize, u64),
        length: usize,
    ) -> Result<(usize, bool), Errno> {
        wait(caller, (self.descriptor, false), |state| {
            let (kind, ..) = target(state, caller, self.descriptor, false)?;
            let mut piece = [0; PIECE];
            let at = self.offset_for(kind, offset);
            let step = take(state, caller, self.descriptor, &mut piece[..length], at)?;
            let (Step::Done(count) | Step::Whole(count)) = step else {
                return Ok(None);
            };
            user_memory::write(state, caller, to, &piece[..count])?;
            let ends = !matches!(kind, Target::File(_) | Target::Device(Device::Zero));
            Ok(Some((count, ends)))
        })
    }

    fn write_step(
        &self,
        caller: &Caller,
        (from, offset): (usize, u64),
        length: usize,
    ) -> Result<(usize, bool), Errno> {
        let mut piece = [0; PIECE];
        let mut console = false;
        let written = wait(caller, (self.descriptor, true), |state| {
            let (kind, ..) = target(state, caller, self.descriptor, true)?;
            let mut length = length;
            if let Target::File(_) = kind {
                let (process, ..) = caller.parts(state)?;
                let limit = process.limits.soft(resource::FILE_SIZE);
                let room = limit.saturating_sub(offset);
                if room == 0 {
                    caller.raise(state, number::XFSZ)?;
                    return Err(TOO_LARGE);
                }
                length = (length as u64).min(room) as usize;
            }
            user_memory::read(state, caller, from, &mut piece[..length])?;
            console = matches!(kind, Target::Device(Device::Console));
            let at = self.offset_for(kind, offset);
            put(state, caller, self.descriptor, &piece[..length], at)
        })?;
        if console {
            tenon_linux_tty::write(&piece[..written]);
        }
        Ok((written, false))
    }

    /// Adds one to its counter.
    fn count(&self, caller: &Caller) {
        if let Some(counter) = self.counter {
            with_state(|state| {
                // A counter that is full or closed by now is no error of the operation.
                let _ = put(state, caller, counter, &1u64.to_le_bytes(), None);
            });
        }
    }
}

/// Begins the operation at an address, which is complete then.
fn submit_one(caller: &Caller, context: u64, address: usize) -> Result<(), Errno> {
    let words = user_memory::words(caller, address)?;
    let operation = Operation::of(address, words)?;
    with_state(|state| {
        context::check(state, caller, context)?;
        operation.check(state, caller)?;
        // `aio_key`, which Linux sets.
        user_memory::write(state, caller, address.wrapping_add(8), &[0; 4])
    })?;
    let result = match operation.run(caller) {
        Ok(count) => count.cast_signed(),
        Err(error) if error.is_interruption() => -i64::from(Errno::EINTR.0),
        Err(error) => -i64::from(error.0),
    };
    let event = Event {
        data: operation.data,
        operation: operation.address as u64,
        result,
    };
    with_state(|state| context::put(state, caller, context, &event))?;
    operation.count(caller);
    Ok(())
}

/// `io_submit`: returns how many operations have begun.
pub fn io_submit(caller: &Caller) -> Result<u64, Errno> {
    let (context, count, from) = (
        caller.argument(0),
        caller.argument(1) as i64,
        caller.address(2),
    );
    with_state(|state| context::exists(state, caller, context))?;
    if count < 0 {
        return Err(Errno::EINVAL);
    }
    for index in 0..count.cast_unsigned() {
        let place = from.wrapping_add(index as usize * 8);
        let submitted = user_memory::words(caller, place)
            .and_then(|[address]| submit_one(caller, context, address as usize));
        match submitted {
            Err(error) if index == 0 => return Err(error),
            Err(_) => return Ok(index),
            Ok(()) if caller.is_ended() => return Ok(index + 1),
            Ok(()) => {}
        }
    }
    Ok(count.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_decoded() {
        let words = |opcode: u64, flags: u64| [7, 0, opcode | 3 << 32, 16, 512, 1024, 0, flags];
        let read = Operation::of(64, words(0, 0)).unwrap();
        assert_eq!((read.data, read.descriptor, read.counter), (7, 3, None));
        let transfer = |writes, several| Kind::Transfer { writes, several };
        assert_eq!(read.kind, transfer(false, false));
        let write = Operation::of(64, words(8, 1 | 5 << 32)).unwrap();
        assert_eq!((write.kind, write.counter), (transfer(true, true), Some(5)));
        assert!(Operation::of(64, words(5, 0)).is_err());
        assert!(Operation::of(64, words(0, 4)).is_err());
        let mut invalid = words(0, 0);
        invalid[6] = 1;
        assert!(Operation::of(64, invalid).is_err());
    }
}
