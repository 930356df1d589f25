//! C records of a VM: descriptor, totals and statistics.

use core::ffi::{CStr, c_char};
use tenon_libc::Errno;
use tenon_vm::{Blueprint, Listed, RAM, Statistics, Totals};

/// Maximum length of a VM's name.
const NAME_MOST: usize = 31;

/// `struct tenon_vm_blueprint`.
#[repr(C)]
pub(crate) struct VmBlueprint {
    name: *const c_char,
    memory: u64,
    window: u64,
    entry: u64,
    argument: u64,
    budget: u64,
    period: u64,
    vcpus: u32,
    priority: u32,
    cpus: [u8; 8],
}

/// `struct tenon_vm_totals`.
#[repr(C)]
pub(crate) struct VmTotals {
    version: u64,
    slots: u64,
    free: u64,
}

/// `struct tenon_vm_listed`.
#[repr(C)]
pub(crate) struct VmListed {
    vm: u64,
    memory: u64,
    state: u32,
    vcpus: u32,
}

/// `struct tenon_vm_statistics`.
#[repr(C)]
pub(crate) struct VmStatistics {
    state: u32,
    vcpus: u32,
    restarts: u64,
    memory: u64,
    age: u64,
    exits: [u64; 6],
    denied: u64,
}

// `examples/apps/job-manager` asserts the same sizes of C's structures.
const _: () = assert!(size_of::<VmBlueprint>() == 72);
const _: () = assert!(size_of::<VmTotals>() == 24);
const _: () = assert!(size_of::<VmListed>() == 24);
const _: () = assert!(size_of::<VmStatistics>() == 88);

impl VmBlueprint {
    /// Converts to the descriptor of `tenon_vm`.
    ///
    /// # Safety
    ///
    /// The name is null or a NUL-terminated string.
    pub(crate) unsafe fn blueprint(&self) -> Result<Blueprint, Errno> {
        // SAFETY: the name is null or a NUL-terminated string, as the caller ensures.
        let name = unsafe { text(self.name) }?;
        if name.len() > NAME_MOST {
            return Err(Errno::EINVAL);
        }
        let cpus = self.cpus.get(..self.vcpus as usize);
        let priority = u8::try_from(self.priority).map_err(|_| Errno::EINVAL)?;
        let entry = if self.entry == 0 { RAM } else { self.entry };
        let plain = Blueprint::new(name, self.memory, cpus.ok_or(Errno::EINVAL)?)
            .entry(entry, self.argument)
            .priority(priority)
            .reserve(self.budget, self.period);
        Ok(match self.window {
            0 => plain,
            window => plain.window(window),
        })
    }
}

/// Converts a string from C.
///
/// # Safety
///
/// `string` is null or a NUL-terminated string as long as the result is used.
pub(crate) unsafe fn text<'a>(string: *const c_char) -> Result<&'a str, Errno> {
    if string.is_null() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: `string` is a NUL-terminated string, as the caller ensures.
    let string = unsafe { CStr::from_ptr(string) };
    string.to_str().map_err(|_| Errno::EINVAL)
}

impl From<Totals> for VmTotals {
    fn from(totals: Totals) -> Self {
        Self {
            version: totals.version,
            slots: totals.slots,
            free: totals.free,
        }
    }
}

impl From<Option<Listed>> for VmListed {
    fn from(listed: Option<Listed>) -> Self {
        listed.map_or(
            Self {
                vm: 0,
                memory: 0,
                state: 0,
                vcpus: 0,
            },
            |listed| Self {
                vm: listed.vm.handle(),
                memory: listed.memory,
                state: listed.state as u32,
                vcpus: listed.vcpus as u32,
            },
        )
    }
}

impl From<Statistics> for VmStatistics {
    fn from(told: Statistics) -> Self {
        Self {
            state: told.state as u32,
            vcpus: told.vcpus as u32,
            restarts: told.restarts,
            memory: told.memory,
            age: told.age_ns,
            exits: told.exits,
            denied: told.denied,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described() -> VmBlueprint {
        VmBlueprint {
            name: c"job".as_ptr(),
            memory: 2 << 20,
            window: 0,
            entry: 0,
            argument: 7,
            budget: 1,
            period: 2,
            vcpus: 1,
            priority: 9,
            cpus: [3, 1, 0, 0, 0, 0, 0, 0],
        }
    }

    /// The bytes of the converted descriptor.
    fn blueprint(described: &VmBlueprint) -> Result<[u8; 256], Errno> {
        // SAFETY: the names here are null or string literals.
        unsafe { described.blueprint() }.map(|blueprint| *blueprint.bytes())
    }

    #[test]
    fn zeros_are_as_usual() {
        let usual = Blueprint::new("job", 2 << 20, &[3]).entry(RAM, 7);
        let usual = usual.priority(9).reserve(1, 2);
        assert_eq!(blueprint(&described()), Ok(*usual.bytes()));
        let other = VmBlueprint {
            entry: RAM + 8,
            window: 1 << 20,
            ..described()
        };
        let expected = usual.clone().entry(RAM + 8, 7).window(1 << 20);
        assert_eq!(blueprint(&other), Ok(*expected.bytes()));
    }

    #[test]
    fn what_fits_no_descriptor_is_refused() {
        for wrong in [
            VmBlueprint {
                name: core::ptr::null(),
                ..described()
            },
            VmBlueprint {
                name: c"a-name-longer-than-31-characters".as_ptr(),
                ..described()
            },
            VmBlueprint {
                vcpus: 9,
                ..described()
            },
            VmBlueprint {
                priority: 256,
                ..described()
            },
        ] {
            assert_eq!(blueprint(&wrong), Err(Errno::EINVAL));
        }
    }
}
