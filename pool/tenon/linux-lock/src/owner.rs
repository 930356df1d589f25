//! Owners of open file descriptions, which are told of events by signals (`F_SETOWN`, `O_ASYNC`).

use tenon_process::{
    Caller, Errno, Files, Frames, Object, Objects, PipeEnd, State, Target, ready, user_memory,
};
use tenon_signal::{Info, SIGNALS, code, number};
use tenon_sync::Mutex;

/// Descriptions with an owner at most, and those to which a process has given one.
const OWNERS: u32 = 512;
const OF_PROCESS: usize = 64;
/// `O_ASYNC`.
pub(crate) const ASYNC: u32 = 0o2_0000;
/// Events that a signal tells of: with `POLL_IN`, and with `POLL_OUT`.
const IN: u16 = ready::READABLE | ready::HANGUP | ready::PEER_HANGUP;
const OUT: u16 = ready::WRITABLE | ready::ERROR;

/// What a process has stated for a description.
#[derive(Clone, Copy, Debug, Default)]
struct Owner {
    description: u32,
    /// The process that gave it, with its real and effective user.
    giver: u32,
    users: (u32, u32),
    /// The thread, process or group, by `kind`; none of number zero.
    kind: u32,
    target: u32,
    /// The signal; `SIGIO` without more for zero.
    signal: u8,
    /// With `O_ASYNC`: the source of events, and the descriptor by which that was set.
    source: Option<u32>,
    descriptor: i32,
    /// The events of which it is told, and those of which it was not told yet.
    wanted: u16,
    pending: u16,
}

/// `F_OWNER_TID`, `F_OWNER_PID`, `F_OWNER_PGRP`.
const THREAD: u32 = 0;
const PROCESS: u32 = 1;
const GROUP: u32 = 2;

static TABLE: Mutex<Objects<Owner>> = Mutex::new(Objects::new(OWNERS));

fn with<R>(action: impl FnOnce(&mut Objects<Owner>) -> Result<R, Errno>) -> Result<R, Errno> {
    action(&mut *TABLE.lock().map_err(|_| Errno::ENOMEM)?)
}

/// The first owner that fits.
fn find(table: &Objects<Owner>, fits: impl Fn(&Owner) -> bool) -> Option<u32> {
    let mut numbers = table.numbers(0);
    numbers.find(|number| table.get(*number).is_some_and(&fits))
}

/// The owner of the description of a descriptor, as it is stated so far.
fn get(state: &mut State, caller: &Caller) -> Result<Owner, Errno> {
    let (process, ..) = caller.parts(state)?;
    let description = Files::number(&process.descriptor(caller.int(0))?.file);
    with(|table| {
        let number = find(table, |owner| owner.description == description);
        let owner = number.and_then(|number| table.get(number)).copied();
        Ok(owner.unwrap_or(Owner {
            description,
            ..Owner::default()
        }))
    })
}

/// Keeps the owner of a description, which ends with that.
fn set(state: &mut State, caller: &Caller, owner: Owner) -> Result<(), Errno> {
    let (process, frames, files) = caller.parts(state)?;
    let same = |other: &Owner| other.description == owner.description;
    with(|table| {
        if let Some(place) = find(table, same).and_then(|number| table.get_mut(number)) {
            *place = owner;
            return Ok(());
        }
        let numbers = table.numbers(0);
        let owners = numbers.filter_map(|number| table.get(number));
        let own = owners.filter(|owner| owner.giver == caller.process());
        if own.count() >= OF_PROCESS {
            return Err(Errno::ENOMEM);
        }
        let owner = Owner {
            giver: caller.process(),
            ..owner
        };
        let inserted = table.insert(owner, 0, frames);
        inserted.map(drop).map_err(|_| Errno::ENOMEM)
    })?;
    let file = &process.descriptor(caller.int(0))?.file;
    files.set_locked(file, &crate::lock::LOCKS);
    Ok(())
}

/// Ends the owner of a description that is closed.
pub(crate) fn end(description: u32, frames: &mut Frames) {
    let _ = with(|table| {
        if let Some(number) = find(table, |owner| owner.description == description) {
            table.remove(number, frames);
        }
        Ok(())
    });
}

/// Whether there is such a thread, process or group.
fn exists(state: &mut State, (kind, number): (u32, u32)) -> bool {
    let target = match kind {
        THREAD => Target::Thread(None, number),
        PROCESS => Target::Process(number),
        _ => Target::Group(number),
    };
    // A signal of number zero is not sent.
    number != 0 && state.send(target, &Info::default()).is_ok()
}

/// `F_SETOWN` and `F_SETOWN_EX`: sets the owner of a description.
fn set_owner(state: &mut State, caller: &Caller, (kind, target): (u32, u32)) -> Result<u64, Errno> {
    let owner = get(state, caller)?;
    if target != 0 && !exists(state, (kind, target)) {
        return Err(Errno::ESRCH);
    }
    let user = caller.parts(state)?.0.credentials.user();
    let users = (user.real, user.effective);
    let owner = Owner {
        kind,
        target,
        users,
        ..owner
    };
    set(state, caller, owner)?;
    Ok(0)
}

/// The commands of `fcntl` for owners and their signals; `None` for others.
pub(crate) fn command(
    state: &mut State,
    caller: &Caller,
    (command, argument): (u64, u64),
) -> Option<Result<u64, Errno>> {
    const SET_OWNER: u64 = 8;
    const GET_OWNER: u64 = 9;
    const SET_SIGNAL: u64 = 10;
    const GET_SIGNAL: u64 = 11;
    const SET_OWNER_OF_KIND: u64 = 15;
    const GET_OWNER_OF_KIND: u64 = 16;
    Some(match command {
        SET_OWNER => match argument as i32 {
            i32::MIN => Err(Errno::EINVAL),
            group @ ..0 => set_owner(state, caller, (GROUP, group.unsigned_abs())),
            process => set_owner(state, caller, (PROCESS, process.unsigned_abs())),
        },
        GET_OWNER => present(state, caller).map(|(kind, number)| match kind {
            // As in Linux, though it looks like an error.
            GROUP => u64::from(number).wrapping_neg(),
            _ => number.into(),
        }),
        SET_SIGNAL => match argument {
            signal if signal > u64::from(SIGNALS) => Err(Errno::EINVAL),
            signal => get(state, caller).and_then(|owner| {
                let signal = signal as u8;
                set(state, caller, Owner { signal, ..owner }).map(|()| 0)
            }),
        },
        GET_SIGNAL => get(state, caller).map(|owner| owner.signal.into()),
        SET_OWNER_OF_KIND => {
            let mut words = [[0; 4]; 2];
            let from = caller.address(2);
            user_memory::read(state, caller, from, words.as_flattened_mut()).and_then(|()| {
                match words.map(u32::from_le_bytes) {
                    [kind @ THREAD..=GROUP, number] => set_owner(state, caller, (kind, number)),
                    _ => Err(Errno::EINVAL),
                }
            })
        }
        GET_OWNER_OF_KIND => present(state, caller).and_then(|(kind, number)| {
            let words = [kind, number].map(u32::to_le_bytes);
            let to = caller.address(2);
            user_memory::write(state, caller, to, words.as_flattened()).map(|()| 0)
        }),
        _ => return None,
    })
}

/// The kind and the number of the owner of a description; zero if that has ended.
fn present(state: &mut State, caller: &Caller) -> Result<(u32, u32), Errno> {
    let owner = get(state, caller)?;
    let exists = exists(state, (owner.kind, owner.target));
    Ok((owner.kind, if exists { owner.target } else { 0 }))
}

/// Sets or clears `O_ASYNC` of a description, if its object has events.
pub(crate) fn set_async(state: &mut State, caller: &Caller, on: bool) -> Result<(), Errno> {
    let owner = get(state, caller)?;
    let (process, _, files) = caller.parts(state)?;
    let file = &process.descriptor(caller.int(0))?.file;
    let object = files.get(file)?.object;
    let (_, Some(source)) = files.events(&object) else {
        return Ok(());
    };
    let wanted = match object {
        Object::Pipe(_, PipeEnd::Read, _) => IN,
        Object::Pipe(_, PipeEnd::Write, _) => OUT,
        _ => IN | OUT,
    };
    let owner = Owner {
        source: on.then_some(source),
        descriptor: caller.int(0),
        wanted,
        pending: 0,
        ..owner
    };
    set(state, caller, owner)?;
    state.on_owned = Some(send_all);
    let (process, _, files) = caller.parts(state)?;
    let flags = &mut files.get(&process.descriptor(caller.int(0))?.file)?.flags;
    *flags = *flags & !ASYNC | if on { ASYNC } else { 0 };
    files.set_owned(source, note);
    Ok(())
}

/// Notes the events of a source for its owners; whether there are any.
fn note(source: u32, events: u16) -> bool {
    let noted = with(|table| {
        let (mut noted, mut from) = (false, 0);
        while let Some(number) = table.next(from) {
            from = number + 1;
            if let Some(owner) = table.get_mut(number)
                && owner.source == Some(source)
                && owner.target != 0
            {
                owner.pending |= events & owner.wanted;
                noted |= owner.pending != 0;
            }
        }
        Ok(noted)
    });
    noted.unwrap_or(false)
}

/// Sends the signals of all events that were noted.
fn send_all(state: &mut State) {
    let mut from = 0;
    loop {
        let next = with(|table| {
            while let Some(number) = table.next(from) {
                from = number + 1;
                if let Some(owner) = table.get_mut(number)
                    && owner.pending != 0
                {
                    let events = core::mem::take(&mut owner.pending);
                    return Ok(Some((*owner, events)));
                }
            }
            Ok(None)
        });
        let Ok(Some((owner, events))) = next else {
            return;
        };
        if events & IN != 0 {
            send(state, &owner, info(&owner, 1, 0x41));
        }
        if events & OUT != 0 {
            send(state, &owner, info(&owner, 2, 0x304));
        }
    }
}

/// The signal of an event: `POLL_IN` or `POLL_OUT`, with the events of `poll`.
fn info(owner: &Owner, event: i32, band: u64) -> Info {
    match owner.signal {
        0 => Info {
            signal: number::IO,
            code: code::KERNEL,
            ..Info::default()
        },
        signal => Info {
            signal,
            code: event,
            words: [band, owner.descriptor.cast_unsigned().into(), 0, 0],
            ..Info::default()
        },
    }
}

/// Sends a signal to an owner, as far as the giver may; `SIGIO` where there is no room for another one.
fn send(state: &mut State, owner: &Owner, info: Info) {
    let may = |state: &State, number: u32| {
        let (real, effective) = owner.users;
        state.process_of(number).is_some_and(|process| {
            let user = process.credentials.user();
            let own = [user.real, user.saved];
            effective == 0 || own.contains(&real) || own.contains(&effective)
        })
    };
    let signal = |state: &mut State, target| {
        if state.send(target, &info) == Err(Errno::EAGAIN) {
            let plain = Info {
                signal: number::IO,
                code: code::KERNEL,
                ..Info::default()
            };
            // One that is pending is as good as several.
            let _ = state.send(target, &plain);
        }
    };
    match owner.kind {
        GROUP => {
            let mut next = 0;
            while let Some(process) = state.next_process(next) {
                let (number, group) = (process.number, process.group);
                next = number + 1;
                if group == owner.target && may(state, number) {
                    signal(state, Target::Process(number));
                }
            }
        }
        kind if may(state, owner.target) => signal(
            state,
            match kind {
                THREAD => Target::Thread(None, owner.target),
                _ => Target::Process(owner.target),
            },
        ),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_states_the_event_and_the_descriptor() {
        let mut owner = Owner {
            descriptor: 7,
            ..Owner::default()
        };
        let plain = info(&owner, 1, 0x41);
        assert_eq!((plain.signal, plain.code), (number::IO, code::KERNEL));
        owner.signal = 34;
        let other = info(&owner, 2, 0x304);
        assert_eq!((other.signal, other.code), (34, 2));
        assert_eq!(other.words[..2], [0x304, 7]);
    }
}
