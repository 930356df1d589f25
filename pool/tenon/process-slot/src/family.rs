//! [`Children`]: parents and children, process groups and sessions, in a table of processes.

use crate::process::{Change, Process, SIGCHLD};
use tenon_program::Errno;

/// Children that a parent waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Children {
    /// All.
    All,
    /// That of a number.
    Number(u32),
    /// Those of a process group.
    Group(u32),
}

/// What a parent waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Ends of children.
    pub ended: bool,
    /// Stops.
    pub stopped: bool,
    /// Continuations.
    pub continued: bool,
    /// What is found stays to be found.
    pub keep: bool,
    /// Children of `clone` with a signal other than SIGCHLD: `Some(true)` for these alone, `None`
    /// for all children.
    pub cloned: Option<bool>,
}

impl Children {
    fn include(self, process: &Process) -> bool {
        match self {
            Self::All => true,
            Self::Number(number) => process.number == number,
            Self::Group(group) => process.group == group,
        }
    }
}

impl Wanted {
    fn includes(self, process: &Process) -> bool {
        let cloned = process.end_signal != SIGCHLD;
        self.cloned.is_none_or(|wanted| wanted == cloned)
    }
}

/// The index of a process by its number.
pub fn index_of_number(processes: &[Option<Process>], number: u32) -> Result<usize, Errno> {
    let number = |process: &Option<Process>| {
        let process = process.as_ref();
        process.is_some_and(|process| process.number == number)
    };
    processes.iter().position(number).ok_or(Errno::ESRCH)
}

/// A child with a change of which its parent, of this number, learns by this. `None` if there
/// is none, `ECHILD` if there is no such child.
pub fn collect(
    processes: &mut [Option<Process>],
    parent: u32,
    children: Children,
    wanted: Wanted,
) -> Result<Option<(u32, Change)>, Errno> {
    let mut any = false;
    for place in processes.iter_mut() {
        let Some(process) = place else { continue };
        if process.parent != parent || !children.include(process) || !wanted.includes(process) {
            continue;
        }
        any = true;
        let number = process.number;
        // Its own thread has released what it had (`finish`), and wakes the parent then.
        if let Some(end) = process.end
            && process.space.is_none()
        {
            if !wanted.ended {
                continue;
            }
            if !wanted.keep {
                let usage = process.usage;
                *place = None;
                if let Ok(index) = index_of_number(processes, parent)
                    && let Some(process) = &mut processes[index]
                {
                    process.usage.add_child(&usage);
                }
            }
            return Ok(Some((number, Change::Ended(end))));
        }
        let change = process.change.filter(|change| match change {
            Change::Stopped(_) => wanted.stopped,
            Change::Continued => wanted.continued,
            Change::Ended(_) => false,
        });
        if let Some(change) = change {
            if !wanted.keep {
                process.change = None;
            }
            return Ok(Some((number, change)));
        }
    }
    if any { Ok(None) } else { Err(Errno::ECHILD) }
}

/// Puts a process, the caller of a number or its child, into a group of the same session, which it
/// makes if the group has its number.
pub fn set_group(
    processes: &mut [Option<Process>],
    own: u32,
    number: u32,
    group: u32,
) -> Result<(), Errno> {
    let caller = &processes[index_of_number(processes, own)?];
    let session = caller.as_ref().ok_or(Errno::ESRCH)?.session;
    let index = index_of_number(processes, number)?;
    let process = processes[index].as_ref().ok_or(Errno::ESRCH)?;
    if process.number != own {
        if process.parent != own {
            return Err(Errno::ESRCH);
        }
        if process.session != session {
            return Err(Errno::EPERM);
        }
        if process.own_program {
            return Err(Errno::EACCES);
        }
    }
    let of_session = |process: &Process| process.group == group && process.session == session;
    if process.session == process.number
        || group != number && !processes.iter().flatten().any(of_session)
    {
        return Err(Errno::EPERM);
    }
    if let Some(process) = &mut processes[index] {
        process.group = group;
    }
    Ok(())
}

/// Makes the process of a number the first one of a new session and group.
pub fn begin_session(processes: &mut [Option<Process>], number: u32) -> Result<u32, Errno> {
    let mut all = processes.iter().flatten();
    if all.any(|process| process.group == number) {
        return Err(Errno::EPERM);
    }
    let index = index_of_number(processes, number)?;
    let process = processes[index].as_mut().ok_or(Errno::ESRCH)?;
    (process.group, process.session) = (number, number);
    Ok(number)
}

/// The process that gets the children of one that ends: the next ancestor, from its parent on, that
/// adopts them, or else the process of number `first`; zero without one.
#[must_use]
pub fn heir(processes: &[Option<Process>], parent: u32, first: u32) -> u32 {
    let living = |number: u32| {
        let mut all = processes.iter().flatten();
        all.find(|process| process.number == number && process.end.is_none())
    };
    let mut at = parent;
    // Numbers of parents make no circle; the bound is one more guard.
    for _ in 0..processes.len() {
        let mut all = processes.iter().flatten();
        let Some(process) = all.find(|process| process.number == at) else {
            break;
        };
        if process.adopts && process.end.is_none() {
            return at;
        }
        at = process.parent;
    }
    living(first).map_or(0, |process| process.number)
}

/// Whether no process of a group has a parent of another group in its session, but for one
/// process. The process of number `first` is no such parent.
#[must_use]
pub fn is_orphaned(
    processes: &[Option<Process>],
    group: u32,
    except: Option<usize>,
    first: u32,
) -> bool {
    let mut all = processes.iter().enumerate();
    !all.any(|(index, process)| {
        let Some(process) = process else { return false };
        if process.group != group || Some(index) == except || process.space.is_none() {
            return false;
        }
        let mut parents = processes.iter().flatten();
        let parent = parents.find(|parent| parent.number == process.parent);
        parent.is_some_and(|parent| {
            parent.number != first && parent.group != group && parent.session == process.session
        })
    })
}
