//! Owners of open file descriptions, which are told of events by signals (`F_SETOWN`, `O_ASYNC`).

use crate::interest::Interest;
use tenon_process::{
    Caller, Errno, Files, Frames, Object, Objects, PipeEnd, State, Target, has_share, ready,
    user_memory, with_state,
};
use tenon_signal::{Info, SIGNALS, code, number};
use tenon_sync::Mutex;

/// Descriptions with an owner at most, and those to which a process has given one.
const OWNERS: u32 = 512;
const OF_PROCESS: usize = 64;
/// `O_ASYNC`.
pub const ASYNC: u32 = 0o2_0000;
/// Events that a signal tells of: with `POLL_IN`, and with `POLL_OUT`.
const IN: u16 = ready::READABLE | ready::HANGUP | ready::PEER_HANGUP;
const OUT: u16 = ready::WRITABLE | ready::ERROR;
/// The event of a notice or of a lease, with `POLL_MSG`; none of `poll` has this bit.
const MESSAGE: u16 = 0x400;
/// Lists of owners with a notice or a lease, by numbers of inodes.
const LISTS: usize = 64;

/// What a process has stated for a description.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owner {
    pub(crate) description: u32,
    /// The process that gave it first, and its user.
    giver: (u32, u32),
    /// The real and the effective user of the process that gave it last.
    users: (u32, u32),
    /// The thread, process or group, by `kind`; none of number zero.
    kind: u32,
    target: u32,
    /// The signal; `SIGIO` without more for zero.
    signal: u8,
    /// With `O_ASYNC`: the source of events, and the descriptor by which that was set.
    source: Option<u32>,
    descriptor: i32,
    /// The next owner with that source: its number plus one.
    next: u32,
    /// The events of which it is told, and those of which it was not told yet.
    wanted: u16,
    pending: u16,
    /// What it has of its inode, and the descriptor by which that was set last.
    pub(crate) interest: Interest,
    of_interest: i32,
    /// The inode once it had such, and the next owner in the list of that: its number plus one.
    inode: Option<u32>,
    next_of_inode: u32,
}

/// `F_OWNER_TID`, `F_OWNER_PID`, `F_OWNER_PGRP`.
const THREAD: u32 = 0;
const PROCESS: u32 = 1;
const GROUP: u32 = 2;

/// All owners, and which of them have events of which they were not told: a bit for each.
pub(crate) struct Table {
    owners: Objects<Owner>,
    noted: [u64; (OWNERS / 64) as usize],
    /// The first owner of each list of those with an inode, by its number plus one.
    lists: [u32; LISTS],
    /// The last entry that a directory has lost to another name: what it has in common with that, and
    /// the directory.
    pub(crate) moved: (u32, u32),
}

impl Table {
    const fn new() -> Self {
        Self {
            owners: Objects::new(OWNERS),
            noted: [0; (OWNERS / 64) as usize],
            lists: [0; LISTS],
            moved: (0, 0),
        }
    }

    /// The number of the owner of a description.
    fn of(&self, description: u32) -> Option<u32> {
        let mut numbers = self.owners.numbers(0);
        numbers.find(|number| {
            let owner = self.owners.get(*number);
            owner.is_some_and(|owner| owner.description == description)
        })
    }

    /// Inserts an owner. `ENOMEM` if its giver or the user of that has too many.
    fn insert(&mut self, owner: Owner, frames: &mut Frames) -> Result<(), Errno> {
        let (mut of_process, mut of_user, mut all) = (0, 0, 0);
        for number in self.owners.numbers(0) {
            let other = self.owners.get(number).map_or((0, 0), |other| other.giver);
            all += 1;
            of_process += usize::from(other.0 == owner.giver.0);
            of_user += u32::from(other.1 == owner.giver.1);
        }
        if of_process >= OF_PROCESS || !has_share(all, OWNERS, || of_user) {
            return Err(Errno::ENOMEM);
        }
        let inserted = self.owners.insert(owner, 0, frames);
        inserted.map(drop).map_err(|_| Errno::ENOMEM)
    }

    /// Puts an owner in front of those of its source, which begin with `first`; returns the new first.
    fn link(&mut self, number: u32, first: u32) -> u32 {
        if let Some(owner) = self.owners.get_mut(number) {
            owner.next = first;
        }
        number + 1
    }

    /// Takes an owner from those of its source, which begin with `first`; returns the new first.
    fn unlink(&mut self, number: u32, first: u32) -> u32 {
        let next = self.owners.get(number).map_or(0, |owner| owner.next);
        if first == number + 1 {
            return next;
        }
        let mut at = first;
        while let Some(owner) = at.checked_sub(1).and_then(|at| self.owners.get_mut(at)) {
            if owner.next == number + 1 {
                owner.next = next;
                break;
            }
            at = owner.next;
        }
        first
    }

    /// Notes events for the owners of a source, which begin with `first`; whether any is to be told.
    fn note(&mut self, first: u32, events: u16) -> bool {
        let (mut noted, mut at) = (false, first);
        while let Some(number) = at.checked_sub(1)
            && let Some(owner) = self.owners.get_mut(number)
        {
            at = owner.next;
            if owner.target != 0 && events & owner.wanted != 0 {
                owner.pending |= events & owner.wanted;
                self.set_noted(number);
                noted = true;
            }
        }
        noted
    }

    fn set_noted(&mut self, number: u32) {
        if let Some(word) = self.noted.get_mut(number as usize / 64) {
            *word |= 1 << (number % 64);
        }
    }

    /// Puts an owner into the list of an inode, unless it is there.
    fn list(&mut self, number: u32, inode: u32) {
        let first = &mut self.lists[inode as usize % LISTS];
        if let Some(owner) = self.owners.get_mut(number)
            && owner.inode.is_none()
        {
            owner.inode = Some(inode);
            owner.next_of_inode = core::mem::replace(first, number + 1);
        }
    }

    /// Takes an owner from the list of its inode.
    fn unlist(&mut self, number: u32) {
        let Some(owner) = self.owners.get(number) else {
            return;
        };
        let (Some(inode), next) = (owner.inode, owner.next_of_inode) else {
            return;
        };
        let first = &mut self.lists[inode as usize % LISTS];
        if *first == number + 1 {
            *first = next;
            return;
        }
        let mut at = *first;
        while let Some(owner) = at.checked_sub(1).and_then(|at| self.owners.get_mut(at)) {
            if owner.next_of_inode == number + 1 {
                owner.next_of_inode = next;
                return;
            }
            at = owner.next_of_inode;
        }
    }

    /// Calls `action` with each owner in the list of an inode; notes the event for those for which it
    /// returns true. Returns whether any is to be told.
    pub(crate) fn each_of_inode(
        &mut self,
        inode: u32,
        mut action: impl FnMut(&mut Owner) -> bool,
    ) -> bool {
        let (mut noted, mut at) = (false, self.lists[inode as usize % LISTS]);
        while let Some(number) = at.checked_sub(1)
            && let Some(owner) = self.owners.get_mut(number)
        {
            at = owner.next_of_inode;
            if owner.inode == Some(inode) && action(owner) {
                owner.pending |= MESSAGE;
                self.set_noted(number);
                noted = true;
            }
        }
        noted
    }

    /// Takes the events of an owner of which it was not told.
    fn take(&mut self, number: u32) -> Option<(Owner, u16)> {
        let owner = self.owners.get_mut(number)?;
        Some((*owner, core::mem::take(&mut owner.pending)))
    }
}

static TABLE: Mutex<Table> = Mutex::new(Table::new());

pub(crate) fn with<R>(action: impl FnOnce(&mut Table) -> Result<R, Errno>) -> Result<R, Errno> {
    action(&mut *TABLE.lock().map_err(|_| Errno::ENOMEM)?)
}

/// The owner of the description of a descriptor, as it is stated so far.
pub(crate) fn get(state: &mut State, caller: &Caller) -> Result<Owner, Errno> {
    let (process, ..) = caller.parts(state)?;
    let description = Files::number(&process.descriptor(caller.int(0))?.file);
    with(|table| {
        let number = table.of(description);
        let owner = number.and_then(|number| table.owners.get(number)).copied();
        Ok(owner.unwrap_or(Owner {
            description,
            ..Owner::default()
        }))
    })
}

/// Keeps the owner of a description, which ends with that.
fn set(state: &mut State, caller: &Caller, owner: Owner) -> Result<(), Errno> {
    let (process, frames, files) = caller.parts(state)?;
    with(|table| {
        let number = table.of(owner.description);
        if let Some(place) = number.and_then(|number| table.owners.get_mut(number)) {
            *place = owner;
            return Ok(());
        }
        let giver = (caller.process(), process.credentials.user().real);
        table.insert(Owner { giver, ..owner }, frames)
    })?;
    let file = &process.descriptor(caller.int(0))?.file;
    files.set_locked(file, &crate::lock::LOCKS);
    Ok(())
}

/// Sets what a description has of its inode. Without an owner, that is the calling process.
pub(crate) fn set_interest(
    state: &mut State,
    caller: &Caller,
    (interest, inode): (Interest, u32),
) -> Result<(), Errno> {
    let owner = get(state, caller)?;
    let user = caller.parts(state)?.0.credentials.user();
    let users = (user.real, user.effective);
    let owner = match owner.target {
        0 => Owner {
            kind: PROCESS,
            target: caller.process(),
            users,
            ..owner
        },
        _ => owner,
    };
    let description = owner.description;
    let owner = Owner {
        interest,
        of_interest: caller.int(0),
        ..owner
    };
    set(state, caller, owner)?;
    state.on_owned = Some(send_all);
    with(|table| {
        let number = table.of(description).ok_or(Errno::ENOMEM)?;
        table.list(number, inode);
        Ok(())
    })
}

/// Ends the owner of a description that is closed.
pub(crate) fn end(files: &mut Files, description: u32, frames: &mut Frames) {
    let had_lease = with(|table| {
        if let Some(number) = table.of(description)
            && let Some(owner) = table.owners.get(number).copied()
        {
            if let Some(source) = owner.source {
                let first = table.unlink(number, files.owned(source));
                files.set_owned(source, first, note);
            }
            table.unlist(number);
            table.owners.remove(number, frames);
            return Ok(matches!(owner.interest, Interest::Lease(_)));
        }
        Ok(false)
    });
    if had_lease == Ok(true) {
        crate::wait::notify(files);
    }
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

/// Sets or clears `O_ASYNC` of a description. `ENOTTY` if owners are told of no events of its object.
pub fn set_async(state: &mut State, caller: &Caller, on: bool) -> Result<(), Errno> {
    let owner = get(state, caller)?;
    let (process, _, files) = caller.parts(state)?;
    let file = &process.descriptor(caller.int(0))?.file;
    let object = files.get(file)?.object;
    let tells = match object {
        Object::Special(special) => special.operations.tells_owners,
        _ => true,
    };
    let (_, source) = files.events(&object);
    let source = source.filter(|_| tells).ok_or(Errno::ENOTTY)?;
    let wanted = match object {
        Object::Pipe(_, PipeEnd::Read, _) => IN,
        Object::Pipe(_, PipeEnd::Write, _) => OUT,
        _ => IN | OUT,
    };
    let before = owner.source;
    let owner = Owner {
        source: on.then_some(source),
        descriptor: caller.int(0),
        wanted,
        ..owner
    };
    set(state, caller, owner)?;
    state.on_owned = Some(send_all);
    let (process, _, files) = caller.parts(state)?;
    let flags = &mut files.get(&process.descriptor(caller.int(0))?.file)?.flags;
    *flags = *flags & !ASYNC | if on { ASYNC } else { 0 };
    with(|table| {
        let number = table.of(owner.description).ok_or(Errno::ENOMEM)?;
        if let Some(before) = before {
            files.set_owned(before, table.unlink(number, files.owned(before)), note);
        }
        if on {
            files.set_owned(source, table.link(number, files.owned(source)), note);
        }
        Ok(())
    })
}

/// Notes events for the owners of a source, which begin with `first`; whether any is to be told.
fn note(first: u32, events: u16) -> bool {
    with(|table| Ok(table.note(first, events))).unwrap_or(false)
}

/// Sends the signals of all events that were noted, one to a process while the state is held.
fn send_all() {
    let noted = with(|table| Ok(core::mem::take(&mut table.noted)));
    for (word, mut bits) in (0..).zip(noted.unwrap_or_default()) {
        while bits != 0 {
            let number = word * 64 + bits.trailing_zeros();
            bits &= bits - 1;
            let Ok(Some((owner, events))) = with(|table| Ok(table.take(number))) else {
                continue;
            };
            for (kind, event, band) in [(IN, 1, 0x41), (OUT, 2, 0x304), (MESSAGE, 3, 0x441)] {
                let info = info(&owner, event, band);
                let mut next = (events & kind != 0).then_some(0);
                while let Some(from) = next {
                    next = with_state(|state| send(state, &owner, &info, from));
                }
            }
        }
    }
}

/// The signal of an event: `POLL_IN`, `POLL_OUT` or `POLL_MSG`, with the events of `poll`.
fn info(owner: &Owner, event: i32, band: u64) -> Info {
    let descriptor = match event {
        3 => owner.of_interest,
        _ => owner.descriptor,
    };
    match owner.signal {
        0 => Info {
            signal: number::IO,
            code: code::KERNEL,
            ..Info::default()
        },
        signal => Info {
            signal,
            code: event,
            words: [band, descriptor.cast_unsigned().into(), 0, 0],
            ..Info::default()
        },
    }
}

/// Sends a signal to an owner, as far as the giver may; `SIGIO` where there is no room for another one.
/// In a group, to the first process with a number from `from` on: returns where the next one begins.
fn send(state: &mut State, owner: &Owner, info: &Info, from: u32) -> Option<u32> {
    let (target, number, next) = match owner.kind {
        GROUP => {
            let mut from = from;
            let process = loop {
                let process = state.next_process(from)?;
                if process.group == owner.target {
                    break process.number;
                }
                from = process.number + 1;
            };
            (Target::Process(process), process, Some(process + 1))
        }
        THREAD => (Target::Thread(None, owner.target), owner.target, None),
        _ => (Target::Process(owner.target), owner.target, None),
    };
    let (real, effective) = owner.users;
    let may = state.process_of(number).is_some_and(|process| {
        let user = process.credentials.user();
        let own = [user.real, user.saved];
        effective == 0 || own.contains(&real) || own.contains(&effective)
    });
    if may && state.send(target, info) == Err(Errno::EAGAIN) {
        let plain = Info {
            signal: number::IO,
            code: code::KERNEL,
            ..Info::default()
        };
        // One that is pending is as good as several.
        let _ = state.send(target, &plain);
    }
    next
}

#[cfg(test)]
mod tests;
