//! Contexts of operations, with the events of those that are complete.

use tenon_address_space::{Backing, PAGE, Permissions};
use tenon_process::{
    AtEnd, Caller, Errno, Objects, Side, State, ready, timespec, user_memory, with_state,
};
use tenon_signal::Set;
use tenon_sync::Mutex;
use tenon_thread::time::Instant;

/// Contexts at a time.
const CONTEXTS: u32 = 1024;
/// Events of all contexts at most, `aio-max-nr` of Linux, and those of one process.
const EVENTS: u64 = 65_536;
const EVENTS_OF_PROCESS: u64 = EVENTS / 2;
/// Events of one context that Linux refuses whatever there is room for.
const EVENTS_OF_CONTEXT: u32 = 0x1000_0000 / SIZE as u32;
/// Bytes of `struct io_event`.
const SIZE: usize = 32;

/// What an operation that is complete states: what its caller gave it, its address, its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub data: u64,
    pub operation: u64,
    pub result: i64,
}

impl Event {
    fn encode(&self) -> [u8; SIZE] {
        let words = [self.data, self.operation, self.result.cast_unsigned(), 0];
        let mut bytes = [0; SIZE];
        for (place, word) in bytes.chunks_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// A context.
#[derive(Debug)]
struct Context {
    /// The number of its process, and how many programs that had executed by then.
    owner: (u32, u32),
    address: u64,
    /// The file with the events, a ring, and how many were put there and taken.
    file: u32,
    put: u64,
    taken: u64,
    most: u64,
}

impl Context {
    /// Where an event lies.
    fn place(&self, index: u64) -> u64 {
        index % self.most * SIZE as u64
    }
}

/// All contexts, and the source at which threads wait for events.
struct Contexts {
    table: Objects<Context>,
    source: Option<u32>,
}

static CONTEXTS_OF_ALL: Mutex<Contexts> = Mutex::new(Contexts {
    table: Objects::new(CONTEXTS),
    source: None,
});

impl Contexts {
    fn number(&self, owner: (u32, u32), address: u64) -> Result<u32, Errno> {
        let mut numbers = self.table.numbers(0);
        let found = numbers.find(|number| {
            let context = self.table.get(*number);
            context.is_some_and(|context| (context.owner, context.address) == (owner, address))
        });
        found.ok_or(Errno::EINVAL)
    }

    fn find(&mut self, owner: (u32, u32), address: u64) -> Result<&mut Context, Errno> {
        let number = self.number(owner, address)?;
        self.table.get_mut(number).ok_or(Errno::EINVAL)
    }

    /// Events of all contexts that a process may have, and of those of others.
    fn events(&self, process: u32) -> (u64, u64) {
        let numbers = self.table.numbers(0);
        let contexts = numbers.filter_map(|number| self.table.get(number));
        contexts.fold((0, 0), |(own, all), context| {
            let is_own = context.owner.0 == process;
            (
                own + if is_own { context.most } else { 0 },
                all + context.most,
            )
        })
    }

    fn remove(&mut self, state: &mut State, number: u32) {
        if let Some(context) = self.table.remove(number, &mut state.frames) {
            let files = &mut state.files.tree.files;
            files.let_go(context.file, &mut state.frames);
        }
    }

    /// Removes the contexts of a process, but for those of its present program.
    fn remove_of(&mut self, state: &mut State, process: u32, program: Option<u32>) {
        let mut from = 0;
        while let Some(number) = self.table.next(from) {
            from = number + 1;
            let owner = self.table.get(number).map(|context| context.owner);
            if owner.is_some_and(|(of, number)| of == process && Some(number) != program) {
                self.remove(state, number);
            }
        }
    }

    fn source(&mut self, state: &mut State, caller: &Caller) -> Result<u32, Errno> {
        let (_, frames, files) = caller.parts(state)?;
        files.source_in(&mut self.source, frames)
    }
}

/// Calls `action` with the state, all contexts and the owner that those of the caller have.
fn with<R>(
    state: &mut State,
    caller: &Caller,
    action: impl FnOnce(&mut State, &mut Contexts, (u32, u32)) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let (process, ..) = caller.parts(state)?;
    let owner = (process.number, process.executions);
    let mut contexts = CONTEXTS_OF_ALL.lock().map_err(|_| Errno::EAGAIN)?;
    action(state, &mut contexts, owner)
}

static AT_END: AtEnd = AtEnd::new(end);

/// A process has ended.
fn end(state: &mut State, process: u32) {
    if let Ok(mut contexts) = CONTEXTS_OF_ALL.lock() {
        contexts.remove_of(state, process, None);
    }
}

/// Fails with `EINVAL` unless the caller has the context, and with `EAGAIN` unless that has room for a
/// further event.
pub(crate) fn check(state: &mut State, caller: &Caller, address: u64) -> Result<(), Errno> {
    with(state, caller, |_, contexts, owner| {
        let context = contexts.find(owner, address)?;
        let free = context.put - context.taken < context.most;
        free.then_some(()).ok_or(Errno::EAGAIN)
    })
}

/// Whether the caller has the context.
pub(crate) fn exists(state: &mut State, caller: &Caller, address: u64) -> Result<(), Errno> {
    with(state, caller, |_, contexts, owner| {
        contexts.find(owner, address).map(|_| ())
    })
}

/// Puts an event into the queue of a context.
pub(crate) fn put(
    state: &mut State,
    caller: &Caller,
    address: u64,
    event: &Event,
) -> Result<(), Errno> {
    with(state, caller, |state, contexts, owner| {
        let context = contexts.find(owner, address)?;
        if context.put - context.taken >= context.most {
            return Err(Errno::EAGAIN);
        }
        let at = context.place(context.put);
        let files = &mut state.files.tree.files;
        let count = files.write(context.file, at, &event.encode(), &mut state.frames)?;
        if count < SIZE {
            return Err(Errno::ENOMEM);
        }
        context.put += 1;
        if let Some(source) = contexts.source {
            state.files.notify(source, ready::READABLE);
        }
        Ok(())
    })
}

/// `io_setup`.
pub fn io_setup(caller: &Caller) -> Result<u64, Errno> {
    /// Events that a context has room for at least.
    const LEAST: u32 = 8;
    let (count, to) = (caller.argument(0) as u32, caller.address(1));
    let [before] = user_memory::words(caller, to)?;
    if before != 0 || count == 0 || count > EVENTS_OF_CONTEXT {
        return Err(Errno::EINVAL);
    }
    let most = u64::from(count.max(LEAST));
    with_state(|state| {
        state.on_end.add(&AT_END);
        with(state, caller, |state, contexts, owner| {
            contexts.remove_of(state, owner.0, Some(owner.1));
            let (own, all) = contexts.events(owner.0);
            if own + most > EVENTS_OF_PROCESS || all + most > EVENTS {
                return Err(Errno::EAGAIN);
            }
            let (process, frames, files) = caller.parts(state)?;
            let file = files.tree.files.create_unnamed(0, frames)?;
            let space = process.space()?;
            let mapped = space
                .find_free(PAGE, space.main_part().end)
                .and_then(|start| {
                    let range = start..start + PAGE;
                    let permissions = Permissions {
                        read: true,
                        write: false,
                        execute: false,
                    };
                    space.map(&range, permissions, &Backing::Zero, frames)?;
                    Ok(start)
                });
            let start = match mapped {
                Ok(start) => start,
                Err(error) => {
                    files.tree.files.let_go(file, frames);
                    return Err(error.into());
                }
            };
            let context = Context {
                owner,
                address: start as u64,
                file,
                put: 0,
                taken: 0,
                most,
            };
            let inserted = contexts.table.insert(context, 0, frames);
            let written = match inserted {
                Ok(number) => {
                    let bytes = start.to_le_bytes();
                    let written = user_memory::write(state, caller, to, &bytes);
                    if written.is_err() {
                        contexts.remove(state, number);
                    }
                    written
                }
                Err(_) => {
                    files.tree.files.let_go(file, frames);
                    Err(Errno::EAGAIN)
                }
            };
            if written.is_err() {
                unmap(state, caller, start)?;
            }
            written.map(|()| 0)
        })
    })
}

/// Unmaps the page of a context.
fn unmap(state: &mut State, caller: &Caller, start: usize) -> Result<(), Errno> {
    let (process, frames, _) = caller.parts(state)?;
    // What the process has mapped there since is its own fault, as in Linux.
    Ok(process.space()?.unmap(&(start..start + PAGE), frames)?)
}

/// `io_destroy`.
pub fn io_destroy(caller: &Caller) -> Result<u64, Errno> {
    let address = caller.argument(0);
    with_state(|state| {
        with(state, caller, |state, contexts, owner| {
            let number = contexts.number(owner, address)?;
            contexts.remove(state, number);
            if let Some(source) = contexts.source {
                state.files.notify(source, ready::READABLE);
            }
            Ok(())
        })?;
        let _ = unmap(state, caller, address as usize);
        Ok(0)
    })
}

/// `io_cancel`: an operation is complete before it could be cancelled.
pub fn io_cancel(caller: &Caller) -> Result<u64, Errno> {
    let mut key = [0; 4];
    let at = caller.address(1).wrapping_add(8);
    with_state(|state| user_memory::read(state, caller, at, &mut key))?;
    Err(Errno::EINVAL)
}

/// Takes an event out of the queue, and writes it to the caller's memory.
fn take(state: &mut State, caller: &Caller, address: u64, to: usize) -> Result<bool, Errno> {
    with(state, caller, |state, contexts, owner| {
        let context = contexts.find(owner, address)?;
        if context.taken == context.put {
            return Ok(false);
        }
        let mut bytes = [0; SIZE];
        let at = context.place(context.taken);
        state.files.tree.files.read(context.file, at, &mut bytes)?;
        user_memory::write(state, caller, to, &bytes)?;
        context.taken += 1;
        Ok(true)
    })
}

/// Waits for events of a context: at least `least`, at most `most`.
fn wait(caller: &Caller, deadline: Option<Instant>) -> Result<u64, Errno> {
    /// Events that are copied while the state is held.
    const AT_ONCE: u64 = 16;
    let (address, to) = (caller.argument(0), caller.address(3));
    let (least, most) = (caller.argument(1) as i64, caller.argument(2) as i64);
    with_state(|state| exists(state, caller, address))?;
    if least < 0 || least > most {
        return Err(Errno::EINVAL);
    }
    let (least, most) = (least.cast_unsigned(), most.cast_unsigned());
    let mut count = 0;
    loop {
        let taken = caller.wait_events(deadline, |state| {
            let before = count;
            while count < most && count - before < AT_ONCE {
                let place = to.wrapping_add(count as usize * SIZE);
                match take(state, caller, address, place) {
                    Ok(true) => count += 1,
                    Ok(false) => break,
                    Err(error) if count == 0 => return Err(error),
                    Err(_) => return Ok(Some(true)),
                }
            }
            if count == most || count >= least && count - before < AT_ONCE {
                return Ok(Some(true));
            }
            if count - before == AT_ONCE {
                return Ok(Some(false));
            }
            let source = with(state, caller, |state, contexts, _| {
                contexts.source(state, caller)
            })?;
            caller.enlist(state, source, Side::Poll)?;
            Ok(None)
        });
        match taken {
            Ok(Some(false)) => {}
            Ok(_) => return Ok(count),
            Err(_) if count > 0 => return Ok(count),
            Err(error) => return Err(error.interrupted(Errno::EINTR)),
        }
    }
}

/// The deadline that the fifth argument states.
fn deadline(caller: &Caller) -> Result<Option<Instant>, Errno> {
    let from = caller.address(4);
    if from == 0 {
        return Ok(None);
    }
    let duration = timespec(user_memory::words(caller, from)?)?;
    Ok(Some(caller.deadline(duration)))
}

/// `io_getevents`.
pub fn io_getevents(caller: &Caller) -> Result<u64, Errno> {
    let deadline = deadline(caller)?;
    wait(caller, deadline)
}

/// `io_pgetevents`: as `io_getevents`, with another mask of signals.
pub fn io_pgetevents(caller: &Caller) -> Result<u64, Errno> {
    let deadline = deadline(caller)?;
    let mask = match caller.address(5) {
        0 => None,
        from => match user_memory::words(caller, from)? {
            [0, _] => None,
            [set, 8] => {
                let [bits] = user_memory::words(caller, set as usize)?;
                Some(Set(bits))
            }
            _ => return Err(Errno::EINVAL),
        },
    };
    caller.with_mask(mask, || wait(caller, deadline))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_fields_of_linux() {
        let event = Event {
            data: 1,
            operation: 2,
            result: -9,
        };
        let bytes = event.encode();
        assert_eq!((bytes[0], bytes[8], bytes[24]), (1, 2, 0));
        assert_eq!(bytes[16..24], (-9i64).to_le_bytes());
    }

    #[test]
    fn events_lie_in_a_ring() {
        let context = Context {
            owner: (1, 1),
            address: 0,
            file: 0,
            put: 0,
            taken: 0,
            most: 8,
        };
        assert_eq!((context.place(7), context.place(8)), (7 * 32, 0));
    }
}
