//! What a guest may do to whom.

/// The authority that the system gives to a guest; none unless it says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Authority {
    /// VMs made at boot that it may pause, start again and destroy, by their index.
    pub vms: u32,
    /// Templates of which it may make VMs, by their index.
    pub templates: u32,
    /// Whether it may make VMs from images of its own.
    pub files: bool,
    /// Bytes that the VMs it made may have at a time.
    pub memory: u64,
    /// Cores where they may run.
    pub cpus: u64,
    /// How urgent those from images of its own may be.
    pub priority: u8,
}

/// The VM that something is to be done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// One made at boot, by its index.
    Boot(usize),
    /// One made of a template, by the template's index.
    Template(usize),
    /// One made of an image by the guest of this index.
    File(usize),
}

impl Authority {
    /// None at all.
    pub const NONE: Self = Self {
        vms: 0,
        templates: 0,
        files: false,
        memory: 0,
        cpus: 0,
        priority: 0,
    };

    /// Whether the guest has authority over anything at all.
    #[must_use]
    pub const fn is_any(&self) -> bool {
        self.vms != 0 || self.templates != 0 || self.files
    }

    /// Whether `caller` may have its way with a VM. Nobody may with itself: it has PSCI for that,
    /// and who destroys itself could not be answered.
    #[must_use]
    pub const fn covers(&self, caller: usize, subject: Subject) -> bool {
        match subject {
            Subject::Boot(index) => index != caller && has(self.vms as u64, index),
            Subject::Template(index) => has(self.templates as u64, index),
            Subject::File(maker) => self.files && maker == caller,
        }
    }

    /// Whether all of these cores are among those that its VMs may run on.
    #[must_use]
    pub const fn allows_cpus(&self, cpus: u64) -> bool {
        cpus & !self.cpus == 0
    }

    /// Whether its VMs may have `more` bytes beside those in use.
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
    fn only_who_made_a_vm_of_an_image_has_it() {
        assert!(SOME.covers(3, Subject::File(3)));
        assert!(!SOME.covers(3, Subject::File(4)));
        let named = Authority {
            files: false,
            ..SOME
        };
        assert!(!named.covers(3, Subject::File(3)));
    }

    #[test]
    fn nobody_has_itself() {
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
