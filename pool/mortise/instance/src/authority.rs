//! Authority of a guest over other VMs.

/// Authority that the system gives to a guest; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Authority {
    /// VMs made at boot that it may pause, restart and destroy, as a set of indices.
    pub vms: u32,
    /// Templates from which it may create VMs, as a set of indices.
    pub templates: u32,
    /// Whether it may create VMs from images of its own.
    pub files: bool,
    /// Most bytes of the VMs that it created.
    pub memory: u64,
    /// Cores on which these may run.
    pub cpus: u64,
    /// Highest priority of VMs from images of its own.
    pub priority: u8,
}

/// The VM that a call concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A VM made at boot, by its index.
    Boot(usize),
    /// The VM of a template, by the template's index.
    Template(usize),
    /// A VM that the guest of this index made from an image of its own.
    File(usize),
}

impl Authority {
    /// No authority.
    pub const NONE: Self = Self {
        vms: 0,
        templates: 0,
        files: false,
        memory: 0,
        cpus: 0,
        priority: 0,
    };

    /// Whether the guest has any authority.
    #[must_use]
    pub const fn is_any(&self) -> bool {
        self.vms != 0 || self.templates != 0 || self.files
    }

    /// Whether `caller` has authority over a VM. It never has authority over itself: PSCI serves
    /// that, and a call that destroyed its caller could not return.
    #[must_use]
    pub const fn covers(&self, caller: usize, subject: Subject) -> bool {
        match subject {
            Subject::Boot(index) => index != caller && has(self.vms as u64, index),
            Subject::Template(index) => has(self.templates as u64, index),
            Subject::File(maker) => self.files && maker == caller,
        }
    }

    /// Whether its VMs may run on all of these cores.
    #[must_use]
    pub const fn allows_cpus(&self, cpus: u64) -> bool {
        cpus & !self.cpus == 0
    }

    /// Whether its VMs may have `more` bytes in addition to `used`.
    #[must_use]
    pub const fn allows_memory(&self, used: u64, more: u64) -> bool {
        match used.checked_add(more) {
            Some(sum) => sum <= self.memory,
            None => false,
        }
    }
}

const fn has(set: u64, index: usize) -> bool {
    index < 32 && set >> index & 1 != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SOME: Authority = Authority {
        vms: 0b110,
        templates: 0b1,
        files: true,
        memory: 0x40_0000,
        cpus: 0b100,
        priority: 40,
    };

    #[test]
    fn without_authority_nothing_is_covered() {
        let none = Authority::default();
        assert!(!none.is_any());
        for index in 0..40 {
            for subject in [
                Subject::Boot(index),
                Subject::Template(index),
                Subject::File(index),
            ] {
                assert!(!none.covers(index, subject) && !none.covers(0, subject));
            }
        }
        assert!(none.allows_cpus(0) && !none.allows_cpus(1) && !none.allows_memory(0, 1));
    }

    #[test]
    fn only_the_creator_of_a_vm_of_an_image_has_authority() {
        assert!(SOME.covers(3, Subject::File(3)));
        assert!(!SOME.covers(3, Subject::File(4)));
        let named = Authority {
            files: false,
            ..SOME
        };
        assert!(!named.covers(3, Subject::File(3)));
    }

    #[test]
    fn no_vm_has_authority_over_itself() {
        assert!(SOME.covers(0, Subject::Boot(1)));
        assert!(!SOME.covers(1, Subject::Boot(1)));
    }

    proptest! {
        #[test]
        fn memory_never_wraps(used in any::<u64>(), more in any::<u64>()) {
            let within = u128::from(used) + u128::from(more) <= u128::from(SOME.memory);
            prop_assert_eq!(SOME.allows_memory(used, more), within);
        }
    }
}
