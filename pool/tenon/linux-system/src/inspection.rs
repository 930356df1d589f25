//! [`kcmp`], [`process_vm_readv`] and [`process_vm_writev`]: calls that look at other processes.

use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Files, State, with_state};

/// Bytes that are copied at a time; in between, the mutex of the state is free.
const PIECE: usize = 512;
/// Buffers of a call at most.
const VECTORS: usize = 1024;

/// The process of a number or of one of its threads, if the caller may look at it.
fn other(state: &mut State, caller: &Caller, number: i32) -> Result<u32, Errno> {
    let number = u32::try_from(number).map_err(|_| Errno::ESRCH)?;
    let own = caller.parts(state)?.0.credentials.clone();
    let process = state.process_of(number).ok_or(Errno::ESRCH)?;
    if process.end.is_some() {
        return Err(Errno::ESRCH);
    }
    let may = process.number == caller.process() || own.may_look(&process.credentials);
    may.then_some(process.number).ok_or(Errno::EPERM)
}

/// The number of the description that a descriptor of a process refers to.
fn description(state: &mut State, process: u32, descriptor: u64) -> Result<u32, Errno> {
    let descriptor = i32::try_from(descriptor).map_err(|_| Errno::EBADF)?;
    let process = state.by_number(process)?;
    Ok(Files::number(&process.descriptor(descriptor)?.file))
}

/// `kcmp`: whether two processes share something: zero if they do, else an order. Threads of a process
/// share all, processes their open files at most.
pub fn kcmp(caller: &Caller) -> Result<u64, Errno> {
    const FILE: i32 = 0;
    /// `KCMP_VM` to `KCMP_SYSVSEM`: what a process has as a whole.
    const LAST: i32 = 6;
    with_state(|state| {
        let first = other(state, caller, caller.int(0))?;
        let second = other(state, caller, caller.int(1))?;
        let (first, second) = match caller.int(2) {
            FILE => (
                description(state, first, caller.argument(3))?,
                description(state, second, caller.argument(4))?,
            ),
            1..=LAST => (first, second),
            _ => return Err(Errno::EINVAL),
        };
        Ok(match first.cmp(&second) {
            core::cmp::Ordering::Equal => 0,
            core::cmp::Ordering::Less => 1,
            core::cmp::Ordering::Greater => 2,
        })
    })
}

/// A place in buffers that a vector in the caller's memory states.
struct Buffers {
    vector: usize,
    count: usize,
    /// The present buffer: its address and what is left of it.
    at: usize,
    left: usize,
}

impl Buffers {
    fn new(vector: usize, count: u64) -> Result<Self, Errno> {
        let count = usize::try_from(count).map_err(|_| Errno::EINVAL)?;
        if count > VECTORS {
            return Err(Errno::EINVAL);
        }
        Ok(Self {
            vector,
            count,
            at: 0,
            left: 0,
        })
    }

    /// Has a buffer that is not empty; `false` behind the last one.
    fn fill(&mut self, caller: &Caller) -> Result<bool, Errno> {
        while self.left == 0 {
            if self.count == 0 {
                return Ok(false);
            }
            let [at, length] = user_memory::words(caller, self.vector)?;
            if length > i64::MAX as u64 {
                return Err(Errno::EINVAL);
            }
            (self.at, self.left) = (at as usize, length as usize);
            self.vector = self.vector.wrapping_add(16);
            self.count -= 1;
        }
        Ok(true)
    }

    fn advance(&mut self, count: usize) {
        self.at = self.at.wrapping_add(count);
        self.left -= count;
    }
}

/// Copies between the caller and another process until one of both has no more room.
fn copy(caller: &Caller, writes: bool) -> Result<u64, Errno> {
    if caller.argument(5) != 0 {
        return Err(Errno::EINVAL);
    }
    let mut own = Buffers::new(caller.address(1), caller.argument(2))?;
    let mut others = Buffers::new(caller.address(3), caller.argument(4))?;
    // As in Linux: without a buffer, the process is not looked for.
    let begun = own.fill(caller)? && others.fill(caller)?;
    if !begun {
        return Ok(0);
    }
    let mut done = 0;
    loop {
        let step = with_state(|state| {
            let number = other(state, caller, caller.int(0))?;
            let count = own.left.min(others.left).min(PIECE);
            // To the end of a page: what can be copied is copied.
            let to_end = |at: usize| 4096 - at % 4096;
            let count = count.min(to_end(own.at)).min(to_end(others.at));
            let mut bytes = [0; PIECE];
            let bytes = &mut bytes[..count];
            if writes {
                user_memory::read(state, caller, own.at, bytes)?;
                let (process, frames, _) = state.parts_of(number)?;
                process.space()?.write(others.at, bytes, frames)?;
            } else {
                state.read_of(number, others.at, bytes)?;
                user_memory::write(state, caller, own.at, bytes)?;
            }
            Ok(count)
        });
        let more = step.and_then(|count| {
            done += count as u64;
            own.advance(count);
            others.advance(count);
            Ok(own.fill(caller)? && others.fill(caller)? && !caller.is_ended())
        });
        match more {
            Ok(true) => {}
            Err(error) if done == 0 => return Err(error),
            _ => return Ok(done),
        }
    }
}

/// `process_vm_readv`.
pub fn process_vm_readv(caller: &Caller) -> Result<u64, Errno> {
    copy(caller, false)
}

/// `process_vm_writev`.
pub fn process_vm_writev(caller: &Caller) -> Result<u64, Errno> {
    copy(caller, true)
}
