//! Construction of the manifest's VMs.

use crate::boot::maps::guest_map;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};
use core_manifest::{FaultPolicy, limits};
use core_ring::Area;
use core_statistics::StatusWriter;
use core_sync::TicketLock;
use mortise_machine::{Machine, Vm, colouring};
use mortise_psci::Power;
use mortise_state::{
    description::{Description, VmError},
    interrupts::Interrupts,
    lost_cores::LostCores,
    restart::RestartSequence,
    stage2::Stage2,
    suspension::Suspension,
};
use mortise_vdev_pl011::Pl011;

/// The VM with index `index` and this description. With `kick` it must make a hypercall to have its
/// log ring emptied.
pub(crate) fn new_vm(
    index: usize,
    description: &'static core_manifest::Vm,
    machine: &'static Machine,
    kick: bool,
) -> Result<Vm, VmError> {
    let frames = colouring::frames(index).unwrap_or(machine.frames);
    let first = machine.next_frame();
    let map = guest_map(frames, description, &machine.board)?;
    let stage2 = Stage2::Fixed(map);
    let page = description.status;
    // SAFETY: the early table maps all of RAM; the parser of the manifest has checked that no other
    // owner has the page, and guests map it read-only.
    let area = unsafe { Area::from_raw(page.start() as *mut u8, page.size() as usize) };
    let vcpus = description.cpus.len();
    let restarts = match description.on_fault {
        FaultPolicy::Restart { limit } => limit,
        FaultPolicy::Stop | FaultPolicy::Inject => 0,
    };
    let status = area
        .and_then(|area| StatusWriter::create(area, description.name, vcpus).ok())
        .ok_or(VmError::Status)?;
    Ok(Vm {
        index,
        stage2,
        tables: first..machine.next_frame(),
        status,
        power: TicketLock::new(Power::new(vcpus, restarts)),
        interrupts: Interrupts::new(&machine.board, description)?,
        serial: TicketLock::new(Pl011::new()),
        log: TicketLock::new(None),
        fault: TicketLock::new(None),
        kick,
        orders: AtomicU8::new(0),
        denied: AtomicU64::new(0),
        off_core: AtomicU32::new(0),
        ipis_due: AtomicU32::new(0),
        suspension: Suspension::none(),
        lost_cores: LostCores::none(),
        restart: RestartSequence::first(),
        timer_templates: [const { AtomicU64::new(0) }; limits::VCPUS],
        started: AtomicBool::new(false),
        alive: AtomicBool::new(true),
        description: Description::of(description),
        slot: None,
    })
}
