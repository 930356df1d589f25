//! [`prlimit64`], [`getrusage`] and other calls for resources: limits, and what is used of them.

use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Limit, State, Usage, capability, resource, with_state};
use tenon_thread::time::Instant;

const SECOND: u64 = 1_000_000_000;
/// Nanoseconds of `times`: 100 a second.
const TICK: u64 = SECOND / 100;

/// The number of a resource.
fn resource(caller: &Caller, index: usize) -> Result<usize, Errno> {
    let number = caller.argument(index) as u32 as usize;
    let known = (number < resource::COUNT).then_some(number);
    known.ok_or(Errno::EINVAL)
}

/// Sets and reads a limit of a process, by its number or zero.
fn exchange(
    state: &mut State,
    caller: &Caller,
    number: u32,
    (resource, new): (usize, Option<Limit>),
) -> Result<Limit, Errno> {
    let own = caller.parts(state)?.0;
    let (own_number, raises) = (own.number, own.credentials.has(capability::SYS_RESOURCE));
    let number = match number {
        0 => own_number,
        number => {
            let other = state.process_of(number).ok_or(Errno::ESRCH)?;
            let (other_number, others) = (other.number, other.credentials.clone());
            let may = caller.parts(state)?.0.credentials.may_limit(&others);
            if other_number != own_number && !may {
                return Err(Errno::EPERM);
            }
            other_number
        }
    };
    let process = state.by_number(number)?;
    let before = process.limits.get(resource)?;
    if let Some(new) = new {
        let most = process.files.highest_limit();
        process.limits.set(resource, new, (raises, most.into()))?;
        if resource == resource::EXECUTION {
            crate::execution::wake();
        }
        if resource == resource::DESCRIPTORS {
            let limit = u32::try_from(new.soft).unwrap_or(most);
            process.files.set_limit(limit);
        }
    }
    Ok(before)
}

fn read(caller: &Caller, from: usize) -> Result<Option<Limit>, Errno> {
    if from == 0 {
        return Ok(None);
    }
    let [soft, hard] = user_memory::words(caller, from)?;
    Ok(Some(Limit { soft, hard }))
}

/// `prlimit64`.
pub fn prlimit64(caller: &Caller) -> Result<u64, Errno> {
    let resource = resource(caller, 1)?;
    let new = read(caller, caller.address(2))?;
    let number = caller.argument(0) as u32;
    let before = with_state(|state| exchange(state, caller, number, (resource, new)))?;
    if caller.argument(3) != 0 {
        user_memory::put_words(caller, caller.address(3), [before.soft, before.hard])?;
    }
    Ok(0)
}

/// `getrlimit`.
pub fn getrlimit(caller: &Caller) -> Result<u64, Errno> {
    let resource = resource(caller, 0)?;
    let limit = with_state(|state| exchange(state, caller, 0, (resource, None)))?;
    user_memory::put_words(caller, caller.address(1), [limit.soft, limit.hard])?;
    Ok(0)
}

/// `setrlimit`.
pub fn setrlimit(caller: &Caller) -> Result<u64, Errno> {
    let resource = resource(caller, 0)?;
    let [soft, hard] = user_memory::words(caller, caller.address(1))?;
    let new = Some(Limit { soft, hard });
    with_state(|state| exchange(state, caller, 0, (resource, new)))?;
    Ok(0)
}

/// `getrusage`: execution time, all of it as that of the program, and faults.
pub fn getrusage(caller: &Caller) -> Result<u64, Errno> {
    const OF_PROCESS: i32 = 0;
    const OF_CHILDREN: i32 = -1;
    const OF_THREAD: i32 = 1;
    const FAULTS: usize = 8;
    let of = caller.int(0);
    let (time, faults) = with_state(|state| {
        let Usage {
            children,
            faults,
            faults_of_children,
            ..
        } = caller.parts(state)?.0.usage;
        let own = |whole| state.time_of(caller.number(), whole).unwrap_or_default();
        Ok(match of {
            OF_PROCESS => (own(true), faults),
            OF_CHILDREN => (tenon_process::nanoseconds(children), faults_of_children),
            OF_THREAD => (own(false), faults),
            _ => return Err(Errno::EINVAL),
        })
    })?;
    let mut words = [0; 18];
    (words[0], words[1]) = (time / SECOND, time % SECOND / 1000);
    words[FAULTS] = faults;
    user_memory::put_words(caller, caller.address(1), words)?;
    Ok(0)
}

/// `times`.
pub fn times(caller: &Caller) -> Result<u64, Errno> {
    if caller.argument(0) != 0 {
        let (own, children) = with_state(|state| {
            let children = caller.parts(state)?.0.usage.children;
            let own = state.time_of(caller.number(), true).unwrap_or_default();
            Ok::<_, Errno>((own, tenon_process::nanoseconds(children)))
        })?;
        let words = [own / TICK, 0, children / TICK, 0];
        user_memory::put_words(caller, caller.address(0), words)?;
    }
    Ok(Instant::now().nanoseconds() / TICK)
}

/// `sysinfo`: memory of processes, and their number.
pub fn sysinfo(caller: &Caller) -> Result<u64, Errno> {
    const SIZE: usize = 112;
    const PROCESSES: usize = 80;
    const UNIT: usize = 104;
    let mut bytes = [0; SIZE];
    with_state(|state| {
        let (total, free, processes) = state.usage();
        let uptime = Instant::now().nanoseconds() / SECOND;
        let words = [uptime, 0, 0, 0, total as u64, free as u64];
        for (place, word) in bytes.chunks_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes[PROCESSES..PROCESSES + 2].copy_from_slice(&(processes as u16).to_le_bytes());
        bytes[UNIT..UNIT + 4].copy_from_slice(&1u32.to_le_bytes());
        user_memory::write(state, caller, caller.address(0), &bytes)?;
        Ok(0)
    })
}
