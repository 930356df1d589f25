//! [`uname`] and the calls that set names of the system.

use tenon_fs_proc::{RELEASE, set_domain, set_host, with_domain, with_host};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, capability, with_state};

/// Size of a field of `struct utsname`.
const FIELD: usize = 65;

/// `uname`.
pub fn uname(caller: &Caller) -> Result<u64, Errno> {
    let mut bytes = [[0; FIELD]; 6];
    let mut put = |index: usize, text: &[u8]| {
        let place: &mut [u8; FIELD] = &mut bytes[index];
        place[..text.len()].copy_from_slice(text);
    };
    put(0, b"Linux");
    with_host(|name| put(1, name));
    put(2, RELEASE.as_bytes());
    put(3, b"Tenon");
    put(4, b"aarch64");
    with_domain(|name| put(5, name));
    let to = caller.address(0);
    with_state(|state| user_memory::write(state, caller, to, bytes.as_flattened()))?;
    Ok(0)
}

/// Sets a name that the caller states.
fn set(caller: &Caller, store: fn(&[u8]) -> Result<(), Errno>) -> Result<u64, Errno> {
    let mut bytes = [0; FIELD - 1];
    let length = usize::try_from(caller.int(1)).map_err(|_| Errno::EINVAL);
    let length = with_state(|state| {
        let credentials = &caller.parts(state)?.0.credentials;
        if !credentials.has(capability::SYS_ADMIN) {
            return Err(Errno::EPERM);
        }
        let bytes = bytes.get_mut(..length?).ok_or(Errno::EINVAL)?;
        user_memory::read(state, caller, caller.address(0), bytes)?;
        Ok(bytes.len())
    })?;
    store(&bytes[..length])?;
    Ok(0)
}

/// `sethostname`.
pub fn sethostname(caller: &Caller) -> Result<u64, Errno> {
    set(caller, set_host)
}

/// `setdomainname`.
pub fn setdomainname(caller: &Caller) -> Result<u64, Errno> {
    set(caller, set_domain)
}
