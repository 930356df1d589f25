//! Boot of the image: from the first Rust instruction to running cores.
//!
//! The boot core parses the manifest, makes the VMs, starts the other cores that have one, and
//! joins them. Until a core activates its own map it runs on the early table, which maps all of
//! RAM.

pub(crate) mod iommu;
pub(crate) mod maps;
pub(crate) mod slots;
pub(crate) mod vms;

use core::sync::atomic::Ordering;
use core_log::info;
use core_manifest::{Console, Error, InterruptMode, System};
use core_memory::PhysicalRange;
use hw_arch::{El2, ExceptionLevel, entry::SecondaryStart, firmware, layout, spin_table};
use iommu::open_iommu;
use maps::{activate_map, build_map};
use mortise_machine::{Core, Machine, registry, vm::reaches};
use mortise_output::output;
use mortise_run::{CHUNK, enable_receive_for_guest, run};
use mortise_state::{
    fatal::{boot_failed, power_off},
    options,
    stacks::{loaded_end, manifest},
};
use vms::new_vm;

/// Entry of the boot core.
pub fn primary(machine: &'static Machine) -> ! {
    machine.start_time.call_once(|| machine.now());
    if let Some(core) = machine.cores.first() {
        core.make_current();
    }
    output::open(machine);
    let manifest = manifest();
    let parse = || System::parse_within(machine.vms.len(), manifest);
    match machine.system.try_call_once(parse) {
        Ok(system) => partition(machine, system, manifest),
        Err(error @ Error::TooMany { .. }) => {
            boot_failed(format_args!("manifest: {error}: raise MORTISE_VMS"))
        }
        Err(error) => boot_failed(format_args!("manifest: {error}")),
    }
}

/// Partitions the machine as the manifest states.
fn partition(
    machine: &'static Machine,
    system: &'static System<'static>,
    manifest: &'static [u8],
) -> ! {
    info!("Mortise starts {} on {}", system.name, system.board);
    if let Err(why) = open_irqchip(machine, system) {
        boot_failed(format_args!("{why}"));
    }
    if let Some(colouring) = registry::colouring()
        && let Err(why) = colouring.init(system, manifest)
    {
        boot_failed(format_args!("manifest: {why}"));
    }
    output::select(machine, system.console_input);
    let kick = !system
        .vms
        .iter()
        .any(|vm| vm.interrupt_mode == InterruptMode::Shared);
    for (index, (slot, description)) in machine.vms.iter().zip(system.vms).enumerate() {
        let name = description.name;
        if let Err(why) = check(machine, description) {
            boot_failed(format_args!("{name}: {why}"));
        }
        // Constructed in place: on the stack, the record would be the largest item.
        match slot.try_call_once(|| new_vm(index, description, machine, kick)) {
            Ok(vm) => vm.route(machine),
            Err(error) => boot_failed(format_args!("{name}: {error}")),
        }
        machine.count_start();
    }
    enable_receive_for_guest(machine);
    for core in machine.cores {
        if let Err(why) = assign_core(core) {
            boot_failed(format_args!("CPU {}: {why}", core.cpu));
        }
        if core.core_task().is_some() {
            machine.count_start();
        }
    }
    if let Err(why) = open_iommu(machine) {
        boot_failed(format_args!("{why}"));
    }
    let made = machine.next_frame();
    open_extensions(machine, system, manifest);
    // The boot core, which serves Mortise at least, and the cores with a guest. None is started
    // before there are page frames for all of them.
    let used = || {
        let cores = machine.cores.iter();
        cores.filter(|core| core.cpu == 0 || core.is_used())
    };
    // Frames that no VM of the manifest owns: VM slots, which any manager fills.
    let common = made..machine.next_frame();
    for core in used() {
        if let Err(error) = build_map(core, &common) {
            boot_failed(format_args!("CPU {} has no map: {error}", core.cpu));
        }
    }
    for core in used().filter(|core| core.cpu != 0) {
        start(core);
    }
    match machine.cores.first() {
        Some(core) => enter(core),
        None => boot_failed(format_args!("the image has no core")),
    }
}

/// Initialises the seeder, the VM extensions and the exit checkers.
#[inline(always)]
fn open_extensions(
    machine: &'static Machine,
    system: &'static System<'static>,
    manifest: &'static [u8],
) {
    registry::seeder().inspect(|seeder| seeder.init(machine, system));
    for extension in registry::vm_extensions() {
        // What extensions parse is large, and no guard page protects the stack yet.
        let stacks = (machine.stacks)();
        // SAFETY: these are the stacks of the image, and this core activates its map later.
        unsafe { stacks.mark() };
        if let Err(why) = extension.init(machine, system, manifest) {
            boot_failed(format_args!("manifest: {why}"));
        }
        // SAFETY: these are the stacks of the image, which this core marked.
        if !unsafe { stacks.is_marked() } {
            boot_failed(format_args!("too small a stack: raise MORTISE_STACK_SIZE"));
        }
    }
    for checker in registry::exit_checkers() {
        if let Err(why) = checker.init(machine) {
            boot_failed(format_args!("{why}"));
        }
    }
}

/// Initialises the distributor.
fn open_irqchip(machine: &Machine, system: &System<'_>) -> Result<(), &'static str> {
    if let Some(chip) = registry::irqchip() {
        chip.init(&machine.board.gic());
        return fits_irqchip(system);
    }
    let distributor = machine.board.distributor();
    distributor.initialise();
    match distributor.has_one_security_state() {
        true => Ok(()),
        false => Err("the interrupt controller keeps Group 0, the doorbell's, for a secure side"),
    }
}

/// Assigns a core to the vCPU that is pinned to it, or to the scheduler of those that share it.
fn assign_core(core: &'static Core) -> Result<(), &'static str> {
    let machine = core.machine;
    let own = || {
        machine
            .vms()
            .filter_map(|vm| Some((vm, vm.vcpu_on(core.cpu)?)))
    };
    if own().count() > 0 && core.core_task().is_some() {
        return Err("a virtual machine, and something of Mortise's own");
    }
    if own().count() < 2 {
        if let Some((vm, vcpu)) = own().next() {
            core.set_current_vcpu((vm, vcpu));
        }
        return Ok(());
    }
    let Some(dispatcher) = registry::dispatcher() else {
        return Err("several virtual machines, and nothing in the image shares it out");
    };
    let Some(dispatcher) = dispatcher.core(core.cpu, machine.vms.len()) else {
        return Err("nothing in the image shares so many virtual machines out, or this core");
    };
    core.set_dispatcher(dispatcher);
    for (vm, _) in own() {
        core.pending_vms.fetch_or(1 << vm.index, Ordering::Relaxed);
    }
    Ok(())
}

/// Checks what depends on the image: its cores, and its location.
fn check(machine: &Machine, vm: &core_manifest::Vm) -> Result<(), &'static str> {
    let mut cpus = vm.cpus.iter();
    if cpus.any(|&cpu| usize::from(cpu) >= machine.cores.len()) {
        return Err("the image has fewer CPUs than the manifest");
    }
    let whole = |range: &PhysicalRange| range.start().is_multiple_of(CHUNK);
    let mut payloads = vm.payloads.iter();
    if !payloads.all(|payload| whole(&payload.source) && whole(&payload.destination)) {
        return Err("a payload is not at a multiple of 64 bytes");
    }
    let own = loaded_end() - layout::image_start();
    if reaches(vm, layout::image_start(), own) {
        return Err("its memory overlaps Mortise");
    }
    if matches!(vm.console, Console::Ring(_)) && !options::log_rings() {
        return Err("it has a log ring, and MORTISE_LOG_RINGS is n");
    }
    let board = &machine.board;
    let (frames, size) = board.core_frames();
    // A VM without a console of Mortise may own the UART.
    let mut interrupts = vm.interrupts.iter();
    let serial = reaches(vm, board.uart_base, board.uart_size)
        || interrupts.any(|&own| u32::from(own) == board.uart_irq);
    if reaches(vm, board.gicd_base, board.gicd_size)
        || reaches(vm, frames, size)
        || (serial && vm.console != Console::None)
    {
        return Err("it has a device of Mortise's");
    }
    Ok(())
}

/// Starts another core.
fn start(core: &'static Core) {
    let context = core.start.call_once(|| SecondaryStart {
        stack: core.stack_top(),
        argument: core.cpu,
    });
    let affinity = core.machine.board.affinity(core.cpu);
    if let Some(table) = options::spin_table() {
        // SAFETY: the board has the table there, and the early table maps it; the context is in a
        // static.
        return unsafe { spin_table::start(table, affinity, context) };
    }
    let context = core::ptr::from_ref(context) as u64;
    // SAFETY: `secondary_start` expects exactly this context, which is in a static.
    let started =
        unsafe { firmware::cpu_on::<firmware::Smc>(affinity, secondary_start(), context) };
    if let Err(error) = started {
        let code = i64::from(error).unsigned_abs();
        boot_failed(format_args!(
            "CPU {} does not start: PSCI says -{code}",
            core.cpu
        ));
    }
}

/// Entry point of a core that is started.
fn secondary_start() -> u64 {
    #[cfg(target_os = "none")]
    {
        unsafe extern "C" {
            fn secondary_start();
        }
        secondary_start as *const () as u64
    }
    #[cfg(not(target_os = "none"))]
    0
}

/// Entry of every other core.
pub fn secondary(machine: &'static Machine, cpu: usize) -> ! {
    match machine.cores.get(cpu) {
        Some(core) => {
            core.make_current();
            enter(core)
        }
        None => hw_arch::cpu::park(),
    }
}

/// Activates this core's map and starts its guest.
fn enter(core: &'static Core) -> ! {
    if !activate_map(core) {
        // Mortise has not started this core.
        hw_arch::cpu::park()
    }
    run(core)
}

/// Reports a panic of Mortise with its location, and powers the machine off.
pub fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    output::print_panic(
        Core::current().machine,
        format_args!("Mortise panicked: {info}"),
    );
    power_off()
}

/// Checks that the image works with an interrupt controller other than the GICv3.
fn fits_irqchip(system: &core_manifest::System<'_>) -> Result<(), &'static str> {
    let vms = system.vms.iter();
    if registry::dispatcher().is_some()
        || !registry::vm_extensions().is_empty()
        || !registry::core_tasks().is_empty()
    {
        Err(
            "the board has a GICv2, with which Mortise has virtual machines on cores of their own and nothing between them",
        )
    } else if vms.filter(|vm| vm.console == Console::Pl011).count() > 1 {
        Err("the board has a GICv2, with which one virtual machine has a serial port")
    } else {
        Ok(())
    }
}

/// Panics on an exception that EL2 itself took, called by the vectors: the state of Mortise can no
/// longer be trusted.
pub fn hypervisor_fault(cause: u64) -> ! {
    panic!(
        "exception {cause} at EL2: esr={:#x} far={:#x} elr={:#x}",
        El2::read_esr(),
        El2::read_far(),
        El2::read_elr()
    )
}
