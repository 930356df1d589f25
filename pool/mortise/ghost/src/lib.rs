//! Ghost state: exit checks of stage 2, list registers and control registers.
//!
//! # Purpose
//!
//! An executable specification for test builds. It derives from the manifest, not from the state of
//! Mortise, which page frames a VM may access, which interrupts it owns, and the values of the control
//! registers of its cores; and for each interrupt of a vCPU whether it is inactive, pending, active or
//! both. [`GHOST`] compares that with the hardware at each exit and guest entry. On a violation it panics
//! with one line: the rule, the VM, and what was found.
//!
//! | rule | what holds | when |
//! |---|---|---|
//! | control | control registers have the values of the register table | entry |
//! | foreign | a list register holds an interrupt that the VM owns | exit, entry |
//! | binding | it is bound to hardware if and only if its interrupt is backed by hardware, and then never pending and active | exit, entry |
//! | once | an interrupt is in one list register | exit, entry |
//! | listed | an interrupt that the virtual GIC has listed for this vCPU is in a list register | entry |
//! | known | an interrupt not backed by hardware is in a list register only if the virtual GIC has listed it | entry |
//! | kept | a pending or active interrupt stays so, or becomes active, unless a vCPU wrote to the virtual GIC | exit to entry |
//! | reach | stage 2 maps only memory of the VM, with the VM's rights | entry, [`WALK_ENTRIES`] entries each |
//! | table | its tables are among the variables of Mortise | entry |
//! | owner | no page of RAM is private to one VM and mapped by another | boot |
//!
//! The fast paths in the vectors of `mortise_vcpu::PinnedVcpu` are not checked; their effect is, at the
//! next exit.
//!
//! # Limits
//!
//! Interrupts outside list registers are not checked: for a VM with direct interrupts the list registers
//! must be empty. The stage 2 of VMs made at run time, and of coloured VMs, is not walked, because few
//! cores map its tables; their interrupts are as their description states. Cores that are lent to programs
//! are not checked.
//!
//! # Guarantees
//!
//! Each check takes a bounded number of steps, the lock of the VM's virtual GIC and the lock of the core's
//! record. Nothing is allocated. A check takes thousands of instructions: not for releases.
#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "translation tables are read by address")]

mod control;
mod list_registers;
mod stage2;
#[cfg(test)]
mod tests;
mod violation;

pub use control::{Control, Expected, check as check_control};
pub use list_registers::{
    IrqState, LISTS, OwnedIrqs, ROWS, check_consistency, check_list_registers,
};
pub use stage2::{Cursor, Grant, Rights, Stage2, check_exclusive};
pub use violation::Violation;

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use core_manifest::{InterruptMode, MappingKind, WaitPolicy, limits};
use core_sync::TicketLock;
use hw_arch::{El2, ExceptionLevel, layout, registers as r};
use mortise_partition::{Core, ExitChecker, Machine, Vm};
use mortise_vcpu::Cause;
use mortise_vgic::{ListRegister, View};

/// Stage 2 entries that are checked at each guest entry.
pub const WALK_ENTRIES: usize = 64;

const CORES: usize = 8;

/// State at the last exit on a core.
#[derive(Debug, Clone, Copy)]
struct ExitRecord {
    /// The VM and vCPU.
    vcpu: (usize, usize),
    /// Whether the exit may write to the virtual GIC of its VM.
    writes: bool,
    /// Number of such exits of its VM that had begun, if none was in progress.
    writers: Option<u32>,
    /// Its interrupts.
    irqs: IrqState,
}

/// Data recorded for a VM.
struct VmRecord {
    /// Exits that may write to its virtual GIC: begun, and ended.
    begun: AtomicU32,
    ended: AtomicU32,
    /// Root of its stage 2 and its VMID, as at boot.
    vttbr: AtomicU64,
    cursor: TicketLock<Cursor>,
}

/// The ghost state of this image.
pub struct Ghost {
    cores: [TicketLock<Option<ExitRecord>>; CORES],
    vms: [VmRecord; limits::VMS],
}

/// Number of checks at guest entry. Tests find it by its symbol.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
static MORTISE_GHOST_CHECKS: AtomicU64 = AtomicU64::new(0);

/// The instance that the image registers.
pub static GHOST: Ghost = Ghost {
    cores: [const { TicketLock::new(None) }; CORES],
    vms: [const {
        VmRecord {
            begun: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            vttbr: AtomicU64::new(0),
            cursor: TicketLock::new(Cursor::START),
        }
    }; limits::VMS],
};

type Grants = ([Grant; limits::MAPPINGS], usize);

/// Memory of a VM according to the manifest.
fn grants(vm: &core_manifest::Vm) -> Grants {
    let mut grants = [Grant::NONE; limits::MAPPINGS];
    let mut count = 0;
    for (grant, mapping) in grants.iter_mut().zip(&vm.mappings) {
        count += 1;
        *grant = Grant {
            ipa: mapping.intermediate.start(),
            pa: mapping.physical.start(),
            size: mapping.physical.size(),
            rights: match mapping.kind {
                MappingKind::Ram => Rights::Own,
                MappingKind::Shared { writable } => Rights::Shared { writable },
                MappingKind::Area => Rights::Shared { writable: true },
                MappingKind::Device => Rights::Device,
            },
        };
    }
    (grants, count)
}

/// The grants as a slice.
fn slice((grants, count): &Grants) -> &[Grant] {
    grants.get(..*count).unwrap_or(grants)
}

/// Interrupts of a VM according to the manifest; those of emulated devices as assigned to its virtual GIC at
/// boot.
fn owned(core: &Core, vm: &Vm, memory: &[View; ROWS]) -> OwnedIrqs {
    let mut owned = OwnedIrqs::default();
    owned.add_hardware(core.machine().virtual_timer());
    if !core.machine().has_shared_cores() {
        owned.add_hardware(core.machine().physical_timer());
    }
    let own = vm.description().interrupts.iter();
    own.for_each(|&intid| owned.add_hardware(intid.into()));
    for ((soft, view), hard) in owned.software.iter_mut().zip(memory).zip(owned.hardware) {
        *soft = view.present & !view.hardware & !hard;
    }
    owned
}

fn list_registers() -> ([ListRegister; LISTS], usize) {
    let count = (r::ich_vtr_el2::read() & 0x1f) as usize + 1;
    let mut lists = [ListRegister::EMPTY; LISTS];
    for (index, list) in lists.iter_mut().enumerate().take(count) {
        *list = ListRegister::from_bits(r::ich_lr::read(index));
    }
    (lists, count.min(LISTS))
}

/// The state of its virtual GIC in memory, as `vcpu` sees it; empty without a virtual GIC.
fn memory(vm: &Vm, vcpu: usize) -> [View; ROWS] {
    let views = vm.inspect_vgic(|gic| {
        let mut views = [View::default(); ROWS];
        let rows = views.iter_mut().enumerate();
        rows.for_each(|(row, view)| *view = gic.view(vcpu, row));
        views
    });
    views.unwrap_or([View::default(); ROWS])
}

fn control() -> Control {
    Control {
        hcr: r::hcr_el2::read(),
        vttbr: r::vttbr_el2::read(),
        vtcr: r::vtcr_el2::read(),
        cptr: r::cptr_el2::read(),
        mdcr: r::mdcr_el2::read(),
        hstr: r::hstr_el2::read(),
        cnthctl: r::cnthctl_el2::read(),
        vmpidr: r::vmpidr_el2::read(),
        sre: r::icc_sre_el2::read(),
        ich_hcr: r::ich_hcr_el2::read(),
    }
}

/// Reads an entry of a translation table.
fn entry(table: u64, index: u64) -> u64 {
    let address = (table + 8 * (index % 512)) as *const AtomicU64;
    // SAFETY: `Stage2::walk` reads its root, which `init` took from a valid stage 2, and tables among the
    // variables of the image. Each core maps these, except the stacks of other cores, which hold no tables.
    // Entries are only changed by atomic stores.
    unsafe { &*address }.load(SeqCst)
}

/// Panics on a violation.
fn require(result: Result<(), Violation>, vm: &Vm, vcpu: usize, when: &str) {
    if let Err(violation) = result {
        panic!("ghost: {violation}; {} vCPU {vcpu} {when}", vm.name());
    }
}

/// EC of a data abort from a lower EL (Arm ARM, D19.2.37).
const DATA_ABORT: u64 = 0x24;

/// EOIcount of `ICH_HCR_EL2`.
const EOI_COUNT: u64 = 0x1f << 27;

impl Ghost {
    /// Ends the exit recorded last on this core.
    fn end_exit(&self, core: &Core) -> Option<ExitRecord> {
        let record = self.cores.get(core.cpu)?.lock().take()?;
        if record.writes
            && let Some(vm_record) = self.vms.get(record.vcpu.0)
        {
            vm_record.ended.fetch_add(1, SeqCst);
        }
        Some(record)
    }
}

impl ExitChecker for Ghost {
    fn init(&self, machine: &'static Machine) -> Result<(), &'static str> {
        for vm in machine.vms() {
            if let Some(vm_record) = self.vms.get(vm.index()) {
                vm_record.vttbr.store(vm.vttbr(), SeqCst);
            }
            let own = grants(vm.description());
            for other in machine.vms().filter(|other| other.index() != vm.index()) {
                let theirs = grants(other.description());
                require(
                    check_exclusive(slice(&own), slice(&theirs)),
                    vm,
                    0,
                    "at boot",
                );
            }
        }
        Ok(())
    }

    fn exit(&self, core: &'static Core, vm: &'static Vm, vcpu: usize, cause: Cause) {
        let _last = self.end_exit(core);
        let Some((record, vm_record)) = self.cores.get(core.cpu).zip(self.vms.get(vm.index()))
        else {
            return;
        };
        let (lists, count) = list_registers();
        let lists = lists.get(..count).unwrap_or(&lists);
        let memory = memory(vm, vcpu);
        require(
            check_list_registers(lists, &owned(core, vm, &memory)),
            vm,
            vcpu,
            "at exit",
        );
        let writes = cause == Cause::Synchronous && El2::read_esr() >> 26 == DATA_ABORT;
        let ended = vm_record.ended.load(SeqCst);
        let begun = match writes {
            true => vm_record.begun.fetch_add(1, SeqCst),
            false => vm_record.begun.load(SeqCst),
        };
        *record.lock() = Some(ExitRecord {
            vcpu: (vm.index(), vcpu),
            writes,
            writers: (begun == ended && !writes).then_some(begun),
            irqs: IrqState::of(lists, &memory, r::ich_hcr_el2::read() & EOI_COUNT != 0),
        });
    }

    fn vcpu_stopped(&self, core: &'static Core, _: &'static Vm, _: usize) {
        let _last = self.end_exit(core);
    }

    fn entry(&self, core: &'static Core, vm: &'static Vm, vcpu: usize) {
        let Some(vm_record) = self.vms.get(vm.index()) else {
            return;
        };
        let must = |result| require(result, vm, vcpu, "at guest entry");
        let description = vm.description();
        let expected = Expected {
            shared: description.interrupt_mode == InterruptMode::Shared,
            trap_wait: description.wait == WaitPolicy::Trap,
            core_shared: core.is_shared_core(),
            cores_shared: core.machine().has_shared_cores(),
            keys: mortise_vcpu::has_pointer_auth(),
            ras: mortise_vcpu::has_ras(),
            regions: mortise_vcpu::has_ordering_regions(),
            vttbr: vm_record.vttbr.load(SeqCst),
            vcpu,
        };
        must(check_control(&control(), &expected));

        let (lists, count) = list_registers();
        let lists = lists.get(..count).unwrap_or(&lists);
        let memory = memory(vm, vcpu);
        must(check_list_registers(lists, &owned(core, vm, &memory)));
        must(check_consistency(lists, &memory));
        if let Some(record) = self.end_exit(core)
            && record.vcpu == (vm.index(), vcpu)
            && record.writers == Some(vm_record.begun.load(SeqCst))
        {
            must(record.irqs.check_successor(lists, &memory));
        }

        if vm.is_resident() && vm.uses_shared_tables() {
            let stage2 = Stage2 {
                root: expected.vttbr & 0xffff_ffff_f000,
                tables: (layout::rodata_end() as u64, layout::image_end() as u64),
                read: entry,
            };
            let grants = grants(description);
            let mut cursor = vm_record.cursor.lock();
            must(stage2.walk(&mut cursor, WALK_ENTRIES, slice(&grants)));
        }
        MORTISE_GHOST_CHECKS.fetch_add(1, SeqCst);
    }
}
