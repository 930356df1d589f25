//! Detached programs: contexts of a VM that run at EL0 or EL1 on cores that it lends.
//!
//! # Purpose
//!
//! A VM turns a vCPU off, and its core then runs a context of EL0 or EL1 in the VM's own memory. No
//! instruction of the VM's kernel or of Mortise runs there until the context calls, faults, waits
//! or is stopped. The registers of the context lie in a *cell*, a page that the VM and Mortise
//! share; a word of the cell names its owner, the core or the VM.
//!
//! | function | arguments | does |
//! |---|---|---|
//! | `0xC600_0300` CELL | x1 vCPU | x1 IPA of its cell, x2 INTID of the interrupt to the VM |
//! | `0xC600_0301` RUN | x1 vCPU | runs the context of the cell, which the core must own |
//! | `0xC600_0302` STOP | x1 vCPU | takes it off the core; the cell tells when that is done |
//!
//! All return 0, or -3 (DENIED) if the system does not lend that core, -2 (INVALID) if there is no
//! such vCPU, -5 (BUSY) if the vCPU is on or, for STOP, its core is not lent.
//!
//! | module | contents |
//! |---|---|
//! | `cell` | the shared page |
//! | `entry` | entry state of a context, and its exceptions |
//! | `context` | its system registers |
//! | `world` | entry and exit |
//! | `loan` | main loop of a lent core |
//! | `calls` | hypercalls |
//!
//! # Guarantees
//!
//! - A context has the rights of its VM's EL0 or EL1 and no more: stage 2, VMID and traps are those
//!   of a vCPU that is on. A fatal trap stops its VM, as on any core.
//! - No value of a cell is trusted: the exception level of the entry state is checked once.
//! - The core can be reclaimed: by CPU_ON, by STOP, and at the end of the VM's run. EL0 cannot mask
//!   this.
//! - An exception of EL0 is reported after a bounded number of steps. A wait ends by the core's own
//!   timer.

#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "enters guests; cells lie at stated addresses")]

mod calls;
mod cell;
mod context;
mod entry;
mod loan;
mod world;

pub use calls::GROUP;

use cell::Cell;
use core::sync::atomic::AtomicBool;
use core_manifest::{Lending, System, limits};
use core_memory::PhysicalRange;
use mortise_partition::{Core, Loan, Machine, Manifest, Ready, Vm, VmExtension};
use spin::Once;

/// LentCore cores of the system's VMs.
pub struct Loans {
    all: [Once<Lender>; limits::VMS],
}

/// Entry in the table of VM extensions.
pub static LOANS: Loans = Loans {
    all: [const { Once::new() }; limits::VMS],
};

/// A VM that lends cores.
struct Lender {
    lending: &'static Lending,
    lent: [Once<LentCore>; limits::VCPUS],
}

/// A core that may be lent.
struct LentCore {
    /// IPA of the cell.
    ipa: u64,
    page: PhysicalRange,
    /// The VM has requested the context back.
    stop: AtomicBool,
}

impl LentCore {
    fn cell(&self) -> &'static Cell {
        // SAFETY: the manifest's parser has checked that the page is shared with its VM only. The
        // early table maps all RAM as normal memory, and so does each core on which `memory_ranges`
        // reports it. All fields are atomic or in cells, and any value is valid.
        unsafe { &*(self.page.start() as *const Cell) }
    }
}

impl Lender {
    fn lent(&self, vcpu: usize) -> Option<&LentCore> {
        self.lent.get(vcpu)?.get()
    }
}

impl Loans {
    fn of(&self, vm: &Vm) -> Option<&Lender> {
        self.all.get(vm.index())?.get()
    }

    /// INTID of the interrupt to the VM.
    fn interrupt(&self, vm: &Vm) -> u32 {
        self.of(vm)
            .map_or(0, |lender| lender.lending.interrupt.into())
    }
}

impl VmExtension for Loans {
    fn init(&self, machine: &'static Machine, system: &System<'static>, bytes: Manifest) -> Ready {
        let all = Lending::parse(bytes, system).map_err(|_| "what it lends is malformed")?;
        for (index, (place, lending)) in self.all.iter().zip(all).enumerate() {
            let Some(vm) = machine.vm(index).filter(|_| !lending.vcpus.is_empty()) else {
                continue;
            };
            let mut mappings = vm.description().mappings.iter();
            if mappings.any(|mapping| mapping.intermediate.holds(entry::NOWHERE)) {
                return Err("has memory where a VM that lends must have none");
            }
            vm.add_interrupt(lending.interrupt.into())?;
            let (start, size) = (lending.memory.start(), lending.memory.size());
            // SAFETY: the early table maps all of RAM, and the parser of the manifest has checked
            // that no other VM maps the cells.
            unsafe { hw_arch::cache::zero_to_poc(start as usize, size as usize) };
            let lent = [const { Once::new() }; limits::VCPUS];
            for (vcpu, lent) in lent.iter().enumerate() {
                if let Some((ipa, page)) = lending.cell(vcpu) {
                    lent.call_once(|| LentCore {
                        ipa,
                        page,
                        stop: AtomicBool::new(false),
                    });
                }
            }
            place.call_once(|| Lender { lending, lent });
        }
        Ok(())
    }

    fn memory_ranges(&self, core: &'static Core, range: &mut dyn FnMut(PhysicalRange)) {
        let lenders = self.all.iter().enumerate();
        lenders
            .filter(|(vm, _)| core.hosts(*vm))
            .filter_map(|(_, place)| place.get())
            .for_each(|lender| range(lender.lending.memory));
    }

    fn vm_starts(&self, _machine: &'static Machine, vm: &'static Vm, part: usize) -> bool {
        let Some(lender) = self.of(vm) else {
            return false;
        };
        if let Some(lent) = lender.lent(part) {
            lent.cell().clear();
        }
        part < limits::VCPUS
    }

    fn vm_stopped(&self, _machine: &'static Machine, _vm: &'static Vm, _part: usize) -> bool {
        false
    }

    fn run_on_lent_core(&self, core: &'static Core, vm: &'static Vm, vcpu: usize) -> bool {
        let lent = self.of(vm).and_then(|lender| lender.lent(vcpu));
        let lent = lent.filter(|_| vm.loan(vcpu) != Loan::None);
        lent.inspect(|lent| loan::serve(lent, core, vm, vcpu))
            .is_some()
    }
}
