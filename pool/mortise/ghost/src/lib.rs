//! Ghost state: what stage 2 and the virtual interrupt controller may be, checked on each exit.
//!
//! # Purpose
//!
//! An executable specification for test builds. It says, of what the manifest has and not of what
//! Mortise made of it, which frames a virtual machine reaches, which interrupts are its own, and what
//! the control registers of its cores are; and, of each interrupt of a virtual CPU, whether it is
//! inactive, pending, active or both. Mortise's [`GHOST`] compares that with the hardware whenever a
//! guest comes and goes, and panics with one line where they disagree: which rule, which virtual
//! machine, what was found.
//!
//! | rule | what holds | when |
//! |---|---|---|
//! | control | control registers are as the table of registers has them | goes |
//! | foreign | a list register holds what the VM owns | comes, goes |
//! | binding | it is bound to hardware if, and only if, that backs its interrupt, and never pending and active then | comes, goes |
//! | once | an interrupt is in one list register | comes, goes |
//! | listed | what the controller has in a list register of this virtual CPU is there | goes |
//! | known | what no hardware backs is there only with the controller's knowing | goes |
//! | kept | what is pending or active stays so, or becomes active, where nobody wrote to the controller | comes to goes |
//! | reach | stage 2 leads to what the VM has, with rights that it has there | goes, [`WALK`] entries each |
//! | table | its tables are among Mortise's variables | goes |
//! | owner | no page of RAM is one VM's own and reached by another | boot |
//!
//! What the assembly of `mortise_vcpu::PinnedVcpu` does in between is looked at when the guest comes next.
//!
//! # What it cannot see
//!
//! Interrupts that are not in list registers: of a VM whose interrupts are direct it checks that list
//! registers are empty. The stage 2 of virtual machines that are made at run time, and of coloured ones,
//! whose tables few cores map, is not walked; what they own of interrupts is as they are described.
//! Nothing is said of cores that are lent to programs.
//!
//! # Guarantees
//!
//! Each look takes a bounded number of steps, a lock of the VM's controller and one of the core's own
//! record; nothing is allocated. It takes thousands of instructions: not for releases.
#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "translation tables are read by address")]

mod control;
mod lists;
mod reach;
mod rule;
#[cfg(test)]
mod tests;

pub use control::{Control, Holds, check as check_control};
pub use lists::{Abstract, LISTS, Owned, ROWS, check_alone, check_with};
pub use reach::{Cursor, Grant, Rights, Stage2, check_owners};
pub use rule::Broken;

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use core_manifest::{InterruptMode, MappingKind, WaitPolicy, limits};
use core_sync::TicketLock;
use hw_arch::{El2, ExceptionLevel, layout, registers as r};
use mortise_partition::{Core, ExitChecker, Machine, Vm};
use mortise_vcpu::Cause;
use mortise_vgic::{ListRegister, View};

/// Entries of stage 2 that are looked at when a guest goes on.
pub const WALK: usize = 64;

const CORES: usize = 8;

/// What was when the guest of a core came.
#[derive(Debug, Clone, Copy)]
struct Came {
    /// Whose guest it is: VM and virtual CPU.
    who: (usize, usize),
    /// Whether it may write to the controller of its VM's.
    writes: bool,
    /// How many of its VM had begun to, if none was about it.
    writers: Option<u32>,
    /// Its interrupts.
    was: Abstract,
}

/// What is kept of a VM.
struct Kept {
    /// Exits that may write to its controller: begun, and ended.
    begun: AtomicU32,
    ended: AtomicU32,
    /// Root of its stage 2 and its VMID, as they were at boot.
    vttbr: AtomicU64,
    cursor: TicketLock<Cursor>,
}

/// The ghost state of this image.
pub struct Ghost {
    cores: [TicketLock<Option<Came>>; CORES],
    vms: [Kept; limits::VMS],
}

/// Looks at guests that went on, found by its name from outside.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
static MORTISE_GHOST_LOOKS: AtomicU64 = AtomicU64::new(0);

/// What an image registers.
pub static GHOST: Ghost = Ghost {
    cores: [const { TicketLock::new(None) }; CORES],
    vms: [const {
        Kept {
            begun: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            vttbr: AtomicU64::new(0),
            cursor: TicketLock::new(Cursor::START),
        }
    }; limits::VMS],
};

type Grants = ([Grant; limits::MAPPINGS], usize);

/// What a VM has of memory.
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
                MappingKind::Device => Rights::Device,
            },
        };
    }
    (grants, count)
}

/// Its first so many.
fn first((grants, count): &Grants) -> &[Grant] {
    grants.get(..*count).unwrap_or(grants)
}

/// What a VM has of interrupts. What emulated devices raise is as its controller was told at boot.
fn owned(core: &Core, vm: &Vm, memory: &[View; ROWS]) -> Owned {
    let mut owned = Owned::default();
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

/// What its controller has in memory, as `vcpu` sees it; nothing where it has none.
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

/// Reads an entry of a table of Mortise's.
fn entry(table: u64, index: u64) -> u64 {
    let address = (table + 8 * (index % 512)) as *const AtomicU64;
    // SAFETY: `Stage2::walk` asks for its root, which `open` took from a map, and for what lies among the
    // image's variables; each core maps those but for other cores' stacks, which are no tables; and whoever changes them does so by atomic words.
    unsafe { &*address }.load(SeqCst)
}

/// Ends with what is wrong.
fn require(result: Result<(), Broken>, vm: &Vm, vcpu: usize, when: &str) {
    if let Err(broken) = result {
        panic!("ghost: {broken}; {} vCPU {vcpu} {when}", vm.name());
    }
}

/// Class of a data abort of a lower level (Arm ARM, D19.2.37).
const DATA_ABORT: u64 = 0x24;

/// EOIcount of `ICH_HCR_EL2`.
const ENDS: u64 = 0x1f << 27;

impl Ghost {
    /// An exit of who came last on this core is over.
    fn over(&self, core: &Core) -> Option<Came> {
        let came = self.cores.get(core.cpu)?.lock().take()?;
        if came.writes
            && let Some(kept) = self.vms.get(came.who.0)
        {
            kept.ended.fetch_add(1, SeqCst);
        }
        Some(came)
    }
}

impl ExitChecker for Ghost {
    fn init(&self, machine: &'static Machine) -> Result<(), &'static str> {
        for vm in machine.all() {
            if let Some(kept) = self.vms.get(vm.index()) {
                kept.vttbr.store(vm.vttbr(), SeqCst);
            }
            let own = grants(vm.description());
            for other in machine.all().filter(|other| other.index() != vm.index()) {
                let theirs = grants(other.description());
                require(check_owners(first(&own), first(&theirs)), vm, 0, "boots");
            }
        }
        Ok(())
    }

    fn exit(&self, core: &'static Core, vm: &'static Vm, vcpu: usize, cause: Cause) {
        let _last = self.over(core);
        let Some((record, kept)) = self.cores.get(core.cpu).zip(self.vms.get(vm.index())) else {
            return;
        };
        let (lists, count) = list_registers();
        let lists = lists.get(..count).unwrap_or(&lists);
        let memory = memory(vm, vcpu);
        require(
            check_alone(lists, &owned(core, vm, &memory)),
            vm,
            vcpu,
            "comes",
        );
        let writes = cause == Cause::Synchronous && El2::read_esr() >> 26 == DATA_ABORT;
        let ended = kept.ended.load(SeqCst);
        let begun = match writes {
            true => kept.begun.fetch_add(1, SeqCst),
            false => kept.begun.load(SeqCst),
        };
        *record.lock() = Some(Came {
            who: (vm.index(), vcpu),
            writes,
            writers: (begun == ended && !writes).then_some(begun),
            was: Abstract::of(lists, &memory, r::ich_hcr_el2::read() & ENDS != 0),
        });
    }

    fn vcpu_stopped(&self, core: &'static Core, _: &'static Vm, _: usize) {
        let _last = self.over(core);
    }

    fn entry(&self, core: &'static Core, vm: &'static Vm, vcpu: usize) {
        let Some(kept) = self.vms.get(vm.index()) else {
            return;
        };
        let must = |result| require(result, vm, vcpu, "goes on");
        let description = vm.description();
        let holds = Holds {
            shared: description.interrupt_mode == InterruptMode::Shared,
            trap_wait: description.wait == WaitPolicy::Trap,
            core_shared: core.is_shared_core(),
            cores_shared: core.machine().has_shared_cores(),
            keys: mortise_vcpu::has_pointer_auth(),
            vttbr: kept.vttbr.load(SeqCst),
            vcpu,
        };
        must(check_control(&control(), &holds));

        let (lists, count) = list_registers();
        let lists = lists.get(..count).unwrap_or(&lists);
        let memory = memory(vm, vcpu);
        must(check_alone(lists, &owned(core, vm, &memory)));
        must(check_with(lists, &memory));
        if let Some(came) = self.over(core)
            && came.who == (vm.index(), vcpu)
            && came.writers == Some(kept.begun.load(SeqCst))
        {
            must(came.was.becomes(lists, &memory));
        }

        if vm.is_resident() && vm.uses_shared_tables() {
            let stage2 = Stage2 {
                root: holds.vttbr & 0xffff_ffff_f000,
                tables: (layout::rodata_end() as u64, layout::image_end() as u64),
                read: entry,
            };
            let grants = grants(description);
            let mut cursor = kept.cursor.lock();
            must(stage2.walk(&mut cursor, WALK, first(&grants)));
        }
        MORTISE_GHOST_LOOKS.fetch_add(1, SeqCst);
    }
}
