//! Construction of VM slots.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use core_manifest::{
    Console, FaultPolicy, InterruptMode, Kind, List, Mapping, MappingKind, Name, Payload, Schedule,
    WaitPolicy, limits,
};
use core_memory::{IntermediateRange, PhysicalRange};
use core_paging::{Access, SlotMap};
use core_sync::TicketLock;
use mortise_machine::{Core, Machine, Vm, registry};
use mortise_psci::Power;
use mortise_state::{
    backlog::Backlog,
    description::Description,
    interrupts::{Interrupts, timers},
    lost_cores::LostCores,
    restart::RestartSequence,
    slot::{OWN, Slot, WINDOW},
    stacks::PAGE,
    stage2::Stage2,
    suspension::Suspension,
};
use mortise_vdev_pl011::Pl011;
use mortise_vgic::VirtualGic;

/// Makes a VM slot with its status page and log ring in `area`, and with vCPUs that share the cores
/// `cpus`. Called at boot, when the VMs of the manifest exist and have their cores.
///
/// # Errors
///
/// A reason in a few words.
pub fn add_slot(
    machine: &'static Machine,
    area: PhysicalRange,
    cpus: impl Iterator<Item = usize>,
) -> Result<&'static Vm, &'static str> {
    let free = |(_, place): &(usize, &spin::Once<Vm>)| place.get().is_none();
    let (index, place) = machine
        .vms
        .iter()
        .enumerate()
        .find(free)
        .ok_or("too few places for virtual machines: raise MORTISE_VMS")?;
    let tables = "too few page tables: raise MORTISE_PAGE_TABLES";
    // SAFETY: the early table maps all of RAM, and the parser of the manifest has checked that
    // nothing else is there.
    unsafe { hw_arch::cache::zero_to_poc(area.start() as usize, OWN.min(area.size() as usize)) };
    let ram = machine.board.ram_base;
    let slot = Slot {
        map: SlotMap::new(machine.frames, ram, WINDOW).ok_or(tables)?,
        description: Description::new(vacant_description(area)?),
        area,
        vacant: AtomicBool::new(true),
        backlog: TicketLock::new(Backlog::empty()),
    };
    let own = [(0, Access::ReadOnly)]
        .into_iter()
        .chain((PAGE..OWN).step_by(PAGE).map(|at| (at, Access::ReadWrite)));
    for (at, access) in own {
        slot.map
            .map(WINDOW + at, area.start() as usize + at, access)
            .map_err(|_| "its slots are not whole pages")?;
    }
    let frame: *mut core_memory::Frame = machine.frames.take().ok_or(tables)?;
    // SAFETY: the frame belongs to this slot permanently and is large and aligned enough, and
    // nothing else refers to it.
    let slot: &'static Slot = unsafe { (*frame.cast::<MaybeUninit<Slot>>()).write(slot) };
    let vm = vacant(index, slot, &slot.description, machine)?;
    let vm = place.call_once(|| vm);
    for cpu in cpus {
        let core = machine
            .cores
            .get(cpu)
            .ok_or("its reserve has cores that the image has not")?;
        make_shared(core)?;
    }
    Ok(vm)
}

/// Makes this core, which is not on yet, a shared core for instances and the vCPU that it has.
fn make_shared(core: &'static Core) -> Result<(), &'static str> {
    let Some(dispatcher) = registry::dispatcher() else {
        return Err("nothing in the image shares cores out");
    };
    let Some(dispatcher) = dispatcher.core(core.cpu, core.machine.vms.len()) else {
        return Err("its reserve has cores without room for so many");
    };
    if core.dispatcher().is_none() {
        let pinned = core.current_vcpu();
        core.set_dispatcher(dispatcher);
        if let Some((vm, _)) = pinned {
            if !vm.is_shared() {
                return Err("its reserve has the core of a direct virtual machine");
            }
            core.pending_vms.fetch_or(1 << vm.index, Ordering::Relaxed);
        }
    }
    Ok(())
}

/// Description of a vacant slot with this status page and log ring.
fn vacant_description(area: PhysicalRange) -> Result<core_manifest::Vm, &'static str> {
    let part = |at: usize, size: usize| {
        PhysicalRange::new(area.start() + at as u64, size as u64).filter(|part| area.contains(part))
    };
    let small = "its slots are too small";
    let log = part(PAGE, OWN - PAGE).ok_or(small)?;
    let window = IntermediateRange::new(WINDOW as u64, area.size()).ok_or(small)?;
    Ok(core_manifest::Vm {
        kind: Kind::Tenon,
        name: Name::NONE,
        cpus: List::empty(0),
        interrupt_mode: InterruptMode::Shared,
        wait: WaitPolicy::Trap,
        entry: 0,
        argument: 0,
        on_fault: FaultPolicy::Stop,
        console: Console::Ring(log),
        status: part(0, PAGE).ok_or(small)?,
        mappings: List::empty(Mapping {
            intermediate: window,
            physical: log,
            kind: MappingKind::Ram,
        }),
        payloads: List::empty(Payload {
            source: log,
            target: window,
            destination: log,
        }),
        interrupts: List::empty(0),
        schedule: Schedule::of(Kind::Tenon),
    })
}

/// The VM of a vacant slot.
pub(crate) fn vacant(
    index: usize,
    slot: &'static Slot,
    description: &'static Description,
    machine: &'static Machine,
) -> Result<Vm, &'static str> {
    let mut gic = VirtualGic::new();
    for timer in timers(&machine.board) {
        gic.add_hardware(timer)
            .map_err(|_| "a timer's interrupt is none")?;
    }
    Ok(Vm {
        index,
        stage2: Stage2::Slot(&slot.map),
        tables: 0..0,
        // SAFETY: every core maps the areas of slots permanently, and guests map the page read-only.
        status: unsafe { slot.status() }.ok_or("its slots have no status page")?,
        power: TicketLock::new(Power::new(0, 0)),
        interrupts: Interrupts::Shared(TicketLock::new(gic)),
        serial: TicketLock::new(Pl011::new()),
        log: TicketLock::new(None),
        fault: TicketLock::new(None),
        kick: false,
        orders: AtomicU8::new(0),
        denied: AtomicU64::new(0),
        off_core: AtomicU32::new(0),
        ipis_due: AtomicU32::new(0),
        suspension: Suspension::none(),
        lost_cores: LostCores::none(),
        restart: RestartSequence::idle(),
        timer_templates: [const { AtomicU64::new(0) }; limits::VCPUS],
        started: AtomicBool::new(false),
        alive: AtomicBool::new(false),
        description,
        slot: Some(slot),
    })
}
