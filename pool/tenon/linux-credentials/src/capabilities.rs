//! [`capget`] and [`capset`].

use tenon_process::user_memory;
use tenon_process::{Caller, Errno, with_state};

/// Versions of the structure: the first one has 32 capabilities, the others have 64.
const VERSIONS: [u32; 3] = [0x1998_0330, 0x2007_1026, 0x2008_0522];

/// Half of the words that a structure has: in effect, permitted, inheritable.
type Half = [u32; 3];

/// The version and the process of a header, and how many halves its data has. A version that is none
/// is replaced by the present one.
fn header(caller: &Caller) -> Result<(i32, usize), Errno> {
    let mut bytes = [[0; 4]; 2];
    let from = caller.address(0);
    with_state(|state| user_memory::read(state, caller, from, bytes.as_flattened_mut()))?;
    let [version, process] = bytes.map(u32::from_le_bytes);
    match VERSIONS.iter().position(|known| *known == version) {
        Some(index) => Ok((process.cast_signed(), if index == 0 { 1 } else { 2 })),
        None => {
            let present = VERSIONS[2].to_le_bytes();
            with_state(|state| user_memory::write(state, caller, from, &present))?;
            Err(Errno::EINVAL)
        }
    }
}

/// `capget`: of any process.
pub fn capget(caller: &Caller) -> Result<u64, Errno> {
    let (process, halves) = match header(caller) {
        // A question for the version.
        Err(Errno::EINVAL) if caller.argument(1) == 0 => return Ok(0),
        header => header?,
    };
    let process = u32::try_from(process).map_err(|_| Errno::EINVAL)?;
    if caller.argument(1) == 0 {
        return Ok(0);
    }
    with_state(|state| {
        let number = if process == 0 {
            caller.number()
        } else {
            process
        };
        let found = state.process_of(number).ok_or(Errno::ESRCH)?;
        let sets = found.credentials.capabilities().sets();
        let mut words: [Half; 2] = [[0; 3]; 2];
        for (index, set) in sets.into_iter().enumerate() {
            words[0][index] = set as u32;
            words[1][index] = (set >> 32) as u32;
        }
        let bytes = words.map(|half| half.map(u32::to_le_bytes));
        let bytes = bytes[..halves].as_flattened().as_flattened();
        user_memory::write(state, caller, caller.address(1), bytes)?;
        Ok(0)
    })
}

/// `capset`: of the caller.
pub fn capset(caller: &Caller) -> Result<u64, Errno> {
    let (process, halves) = header(caller)?;
    if process != 0 && process.cast_unsigned() != caller.number() {
        return Err(Errno::EPERM);
    }
    let mut bytes = [[[0; 4]; 3]; 2];
    let part = bytes[..halves].as_flattened_mut().as_flattened_mut();
    with_state(|state| user_memory::read(state, caller, caller.address(1), part))?;
    let [low, high] = bytes.map(|half| half.map(u32::from_le_bytes));
    let mut sets = [0; 3];
    for (set, (low, high)) in sets.iter_mut().zip(low.into_iter().zip(high)) {
        *set = u64::from(low) | u64::from(high) << 32;
    }
    with_state(|state| {
        let credentials = &mut caller.parts(state)?.0.credentials;
        credentials.capabilities_mut().set(sets)?;
        Ok(0)
    })
}
