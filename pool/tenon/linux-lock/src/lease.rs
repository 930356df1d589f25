//! Leases of files (`F_SETLEASE`): the owner of a description is told before another access to its file,
//! which waits until the lease has ended, or for 45 seconds.
//!
//! A lease belongs to the owner of a description, and is bounded as owners are.

use crate::interest::{Interest, Kind, Lease};
use crate::owner::{get, set_interest, with};
use crate::wait;
use core::sync::atomic::{AtomicBool, Ordering};
use tenon_process::{Caller, Errno, Object, State, capability, serves, with_state};
use tenon_thread::time::Instant;

/// The number of the system call by which processes have leases.
const FCNTL: usize = 25;
/// Whether a process has had a lease.
static IS_USED: AtomicBool = AtomicBool::new(false);

/// The kind of a lease that the description of a descriptor has.
pub(crate) fn kind(state: &mut State, caller: &Caller) -> Result<u64, Errno> {
    let lease = match get(state, caller)?.interest {
        Interest::Lease(lease) => lease.at(Instant::now()),
        _ => None,
    };
    Ok(lease.map_or(Kind::Unlock, |lease| lease.target()) as u64)
}

/// `F_SETLEASE`: sets, changes or ends the lease of a description.
pub(crate) fn set(state: &mut State, caller: &Caller, argument: u64) -> Result<u64, Errno> {
    let kind = match argument as u32 {
        0 => Kind::Read,
        1 => Kind::Write,
        2 => Kind::Unlock,
        _ => return Err(Errno::EINVAL),
    };
    let (process, _, files) = caller.parts(state)?;
    let description = files.get(&process.descriptor(caller.int(0))?.file)?;
    let writes = description.flags & 0b11 != 0;
    let object = description.object;
    let number = object.inode().ok_or(Errno::EINVAL)?;
    let inode = files.tree.files.inode(number)?;
    let credentials = &process.credentials;
    if inode.user != credentials.user().files && !credentials.has(capability::LEASE) {
        return Err(Errno::EACCES);
    }
    if !matches!(object, Object::File(_)) || inode.origin.is_some() {
        return Err(Errno::EINVAL);
    }
    let [readers, writers] = inode.waiting;
    let accesses = files.accesses(number);
    let accesses = (accesses.0 + readers, accesses.1 + writers);
    let now = Instant::now();
    let owner = get(state, caller)?;
    let own = match owner.interest {
        Interest::Lease(lease) => lease.at(now),
        _ => None,
    };
    let lease = match kind {
        Kind::Unlock => {
            own.ok_or(Errno::EAGAIN)?;
            Interest::None
        }
        _ => {
            let alone = match kind {
                Kind::Write => accesses == (u32::from(!writes), u32::from(writes)),
                _ => accesses.1 == 0,
            };
            if !alone || refuses(number, owner.description, (kind, now))? {
                return Err(Errno::EAGAIN);
            }
            IS_USED.store(true, Ordering::Relaxed);
            let lease = own.map_or(Some(Lease::new(kind)), |own| own.changed(kind));
            Interest::Lease(lease.ok_or(Errno::EAGAIN)?)
        }
    };
    set_interest(state, caller, (lease, number))?;
    wait::notify(&mut state.files);
    Ok(0)
}

/// Whether leases of other descriptions refuse one.
fn refuses(inode: u32, description: u32, (kind, now): (Kind, Instant)) -> Result<bool, Errno> {
    with(|table| {
        let mut refused = false;
        table.each_of_inode(inode, |owner| {
            if let Interest::Lease(lease) = owner.interest
                && let Some(lease) = lease.at(now)
                && owner.description != description
            {
                refused |= kind == Kind::Write || lease.target() == Kind::Unlock;
            }
            false
        });
        Ok(refused)
    })
}

/// Tells the owners of leases that are in the way of an access to a file. Returns until when that waits
/// for them; `None` if there is none.
#[inline]
fn begin(state: &mut State, inode: u32, writes: bool) -> Option<Instant> {
    if !IS_USED.load(Ordering::Relaxed) {
        return None;
    }
    let (now, mut until) = (Instant::now(), None);
    let noted = with(|table| {
        Ok(table.each_of_inode(inode, |owner| {
            let Interest::Lease(lease) = owner.interest else {
                return false;
            };
            let Some(mut lease) = lease.at(now) else {
                owner.interest = Interest::None;
                return false;
            };
            let conflicts = lease.conflicts(writes);
            let tells = conflicts && lease.break_for(writes, now);
            if let (true, Some(end)) = (conflicts, lease.until()) {
                until = Some(until.map_or(end, |until: Instant| until.min(end)));
            }
            owner.interest = Interest::Lease(lease);
            tells
        }))
    });
    if noted == Ok(true) {
        state.files.set_noted();
    }
    until
}

/// Whether an access to a file has to [wait](Access::wait) for leases, the owners of which are told.
///
/// # Errors
///
/// `EAGAIN` if it has to and does not.
pub fn holds(state: &mut State, inode: u32, (writes, waits): (bool, bool)) -> Result<bool, Errno> {
    if !serves(FCNTL) || begin(state, inode, writes).is_none() {
        return Ok(false);
    }
    if waits { Ok(true) } else { Err(Errno::EAGAIN) }
}

/// An access to a file that [waits](Self::wait) for leases. From its first wait until it is dropped, the
/// file stays, and has no new lease that the access would have to wait for.
pub struct Access<'a> {
    caller: &'a Caller,
    writes: bool,
    inode: Option<u32>,
}

impl<'a> Access<'a> {
    /// An access, to whichever file, for which there was no wait yet.
    #[must_use]
    pub fn new(caller: &'a Caller, writes: bool) -> Self {
        Self {
            caller,
            writes,
            inode: None,
        }
    }

    /// Waits until no lease is in the way of the access to a file.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` once the thread has a signal to deliver.
    pub fn wait(&mut self, inode: u32) -> Result<(), Errno> {
        let (caller, writes) = (self.caller, self.writes);
        with_state(|state| self.count(state, inode))?;
        let mut is_counted = false;
        let mut result = Ok(None);
        while result == Ok(None) {
            let Some(until) = with_state(|state| begin(state, inode, writes)) else {
                break;
            };
            result = caller.wait_events(Some(until), |state| {
                if begin(state, inode, writes).is_none() {
                    return Ok(Some(()));
                }
                wait::enlist(state, caller, &mut is_counted)?;
                Ok(None)
            });
        }
        if is_counted {
            with_state(wait::leave)?;
        }
        result.map(drop)
    }

    /// Counts the access as one that waits for a file, and no longer for another one.
    fn count(&mut self, state: &mut State, inode: u32) -> Result<(), Errno> {
        if self.inode != Some(inode) {
            self.end(state);
            let files = &mut state.files.tree.files;
            files.inode_mut(inode)?.waiting[usize::from(self.writes)] += 1;
            files.hold(inode);
            self.inode = Some(inode);
        }
        Ok(())
    }

    fn end(&mut self, state: &mut State) {
        let Some(inode) = self.inode.take() else {
            return;
        };
        let files = &mut state.files.tree.files;
        if let Ok(inode) = files.inode_mut(inode) {
            inode.waiting[usize::from(self.writes)] -= 1;
        }
        files.let_go(inode, &mut state.frames);
    }
}

impl Drop for Access<'_> {
    fn drop(&mut self) {
        if self.inode.is_some() {
            with_state(|state| self.end(state));
        }
    }
}
