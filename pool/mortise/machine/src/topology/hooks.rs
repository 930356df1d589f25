//! Calls to VM extensions, exit checkers and the IOMMU that libraries registered.

use crate::{Core, Machine, registry, vm::Vm};
use mortise_vcpu::Cause;

impl Core {
    /// A guest exited.
    #[inline(always)]
    pub fn check_exit(&'static self, cause: Cause) {
        for checker in registry::exit_checkers() {
            if let Some((vm, vcpu)) = self.current_vcpu() {
                checker.exit(self, vm, vcpu, cause);
            }
        }
    }

    /// The current guest is entered.
    #[inline(always)]
    pub fn check_entry(&'static self) {
        for checker in registry::exit_checkers() {
            if let Some((vm, vcpu)) = self.current_vcpu() {
                checker.entry(self, vm, vcpu);
            }
        }
    }

    /// A vCPU stopped.
    #[inline(always)]
    pub fn check_stop(&'static self, vm: &'static Vm, vcpu: usize) {
        for checker in registry::exit_checkers() {
            checker.vcpu_stopped(self, vm, vcpu);
        }
    }

    /// Runs what this core was lent for; returns false if it was not lent.
    pub fn is_borrowed(&'static self, vm: &'static Vm, vcpu: usize) -> bool {
        let mut vm_extensions = registry::vm_extensions().iter();
        vm_extensions.any(|extension| extension.run_on_lent_core(self, vm, vcpu))
    }
}

impl Machine {
    /// Requests an instance of this template from the VM extensions.
    pub fn request_instance(&'static self, template: usize) {
        let vm_extensions = registry::vm_extensions().iter();
        vm_extensions.for_each(|extension| extension.instance_requested(self, template));
    }

    /// Lets VM extensions do pending work for a VM that does not run. What is left is done after
    /// pending interrupts are taken.
    pub fn idle_work(&'static self, core: &'static Core, vm: &'static Vm) {
        let mut more = false;
        for extension in registry::vm_extensions() {
            more |= extension.idle_work(core, vm);
        }
        if more {
            core.requeue_vcpu(vm);
        }
    }

    /// A VM starts: one part; returns whether more parts follow.
    pub fn vm_starts(&'static self, vm: &'static Vm, part: usize) -> bool {
        if part == 0 {
            self.attach_devices(vm);
        }
        let mut more = registry::seeder().is_some_and(|seeder| seeder.vm_starts(vm, part));
        for extension in registry::vm_extensions() {
            more |= extension.vm_starts(self, vm, part);
        }
        more
    }

    /// A VM's run is over: one part; returns whether more parts follow.
    pub fn vm_stopped(&'static self, vm: &'static Vm, part: usize) -> bool {
        let mut more = self.detach_devices(vm, part);
        for extension in registry::vm_extensions() {
            more |= extension.vm_stopped(self, vm, part);
        }
        more
    }

    /// Lets the devices of a VM that starts reach its memory.
    pub(crate) fn attach_devices(&'static self, vm: &'static Vm) {
        if let Some(iommu) = registry::iommu()
            && vm.has_devices(self)
        {
            iommu.attach_devices(self, vm);
        }
    }

    /// Removes all memory from the devices of a VM that stopped: one part; returns whether more
    /// parts follow.
    pub(crate) fn detach_devices(&'static self, vm: &'static Vm, part: usize) -> bool {
        registry::iommu()
            .is_some_and(|iommu| vm.has_devices(self) && iommu.detach_devices(self, vm, part))
    }

    /// The VM that owns the root complex.
    pub fn has_devices(&self) -> Option<&'static Vm> {
        let board = &self.board;
        self.vms()
            .find(|vm| vm.reaches(board.pci_base, board.pci_size))
    }
}
