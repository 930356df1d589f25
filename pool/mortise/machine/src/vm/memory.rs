//! Memory and origin of a VM, for libraries.

use crate::{Core, Machine, Vm, colouring};

impl Vm {
    /// Whether the VM's stage 2 consists of Mortise's common tables, which each core maps.
    #[must_use]
    pub fn uses_shared_tables(&self) -> bool {
        colouring::frames(self.index).is_none()
    }

    /// Whether the VM is one of the manifest's.
    #[must_use]
    pub fn is_resident(&self) -> bool {
        let machine = Core::current().machine;
        let resident = machine.system.get().map_or(0, |system| system.vms.len());
        self.index < resident
    }

    /// Calls `each` for each contiguous piece of the VM's memory with its IPA, its PA and its
    /// bytes.
    ///
    /// # Errors
    ///
    /// The first error of `each`.
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

    /// Whether the VM owns the PCI root complex.
    pub fn has_devices(&self, machine: &Machine) -> bool {
        self.reaches(machine.board.pci_base, machine.board.pci_size)
    }
}
