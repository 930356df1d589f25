//! Calls of what libraries registered: VM extensions, exit checkers, the IOMMU.

use super::{
    colouring, registry,
    topology::{Core, Machine},
    vm::Vm,
};
use mortise_vcpu::Cause;

impl Core {
    /// A guest came to Mortise.
    #[inline(always)]
    pub fn check_exit(&'static self, cause: Cause) {
        for checker in registry::exit_checkers() {
            if let Some((vm, vcpu)) = self.current_vcpu() {
                checker.exit(self, vm, vcpu, cause);
            }
        }
    }

    /// The guest in the registers goes on.
    #[inline(always)]
    pub fn check_entry(&'static self) {
        for checker in registry::exit_checkers() {
            if let Some((vm, vcpu)) = self.current_vcpu() {
                checker.entry(self, vm, vcpu);
            }
        }
    }

    /// What a virtual CPU did is over.
    #[inline(always)]
    pub(crate) fn check_stop(&'static self, vm: &'static Vm, vcpu: usize) {
        for checker in registry::exit_checkers() {
            checker.vcpu_stopped(self, vm, vcpu);
        }
    }

    /// Has companions do what this core was lent for; false if it was not.
    pub(crate) fn is_borrowed(&'static self, vm: &'static Vm, vcpu: usize) -> bool {
        let mut vm_extensions = registry::vm_extensions().iter();
        vm_extensions.any(|extension| extension.run_on_lent_core(self, vm, vcpu))
    }
}

impl Machine {
    /// Has a virtual machine of this template made, if somebody in this image does that.
    pub fn request_instance(&'static self, template: usize) {
        let vm_extensions = registry::vm_extensions().iter();
        vm_extensions.for_each(|extension| extension.instance_requested(self, template));
    }

    /// Lets companions do what is to be done in the name of a virtual machine that does not run. What
    /// is left is done when others had their turn.
    pub(crate) fn idle_work(&'static self, core: &'static Core, vm: &'static Vm) {
        let mut more = false;
        for extension in registry::vm_extensions() {
            more |= extension.idle_work(core, vm);
        }
        if more {
            core.requeue_vcpu(vm);
        }
    }

    /// Tells that a virtual machine begins to run, part by part; whether there are more.
    pub(crate) fn vm_starts(&'static self, vm: &'static Vm, part: usize) -> bool {
        if part == 0 {
            self.admit_devices(vm);
        }
        let mut more = false;
        for extension in registry::vm_extensions() {
            more |= extension.vm_starts(self, vm, part);
        }
        more
    }

    /// Tells that a virtual machine's run is over, part by part; whether there are more.
    pub(crate) fn vm_stopped(&'static self, vm: &'static Vm, part: usize) -> bool {
        let mut more = self.expel_devices(vm, part);
        for extension in registry::vm_extensions() {
            more |= extension.vm_stopped(self, vm, part);
        }
        more
    }

    /// Lets the devices of who begins reach its memory.
    pub(crate) fn admit_devices(&'static self, vm: &'static Vm) {
        if let Some(iommu) = registry::iommu()
            && vm.has_devices(self)
        {
            iommu.attach_devices(self, vm);
        }
    }

    /// Keeps the devices of whose run is over from all memory, part by part; whether there are more.
    pub(crate) fn expel_devices(&'static self, vm: &'static Vm, part: usize) -> bool {
        registry::iommu()
            .is_some_and(|iommu| vm.has_devices(self) && iommu.detach_devices(self, vm, part))
    }

    /// Who has the root complex.
    pub(crate) fn has_devices(&self) -> Option<&'static Vm> {
        let board = &self.board;
        self.vms()
            .find(|vm| vm.reaches(board.pci_base, board.pci_size))
    }
}

impl Vm {
    /// Whether its stage 2 is made of Mortise's own tables, which each core reaches.
    #[must_use]
    pub fn uses_shared_tables(&self) -> bool {
        colouring::frames(self.index).is_none()
    }

    /// Whether it is one of those that the manifest starts with.
    #[must_use]
    pub fn is_resident(&self) -> bool {
        let machine = Core::current().machine;
        let resident = machine.system.get().map_or(0, |system| system.vms.len());
        self.index < resident
    }

    /// Each piece of its own memory: where it sees it, where it is, and how many bytes.
    ///
    /// # Errors
    ///
    /// The first that `each` has.
    pub fn for_memory<E>(
        &self,
        mut each: impl FnMut(u64, u64, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        for memory in self.description().memory() {
            let seen = memory.intermediate.start();
            colouring::pieces(memory.physical, |done, place, size| {
                each(seen + done, place, size)
            })?;
        }
        Ok(())
    }

    pub(crate) fn has_devices(&self, machine: &Machine) -> bool {
        self.reaches(machine.board.pci_base, machine.board.pci_size)
    }
}
