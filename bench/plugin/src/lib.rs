//! QEMU plugin that counts instructions by physical address and observes periodic tasks.
//!
//! QEMU 7.2's plugins cannot read registers, so the exception level is derived from the code's address: the
//! orchestrator's plan has the physical range of Mortise and the RAM of watched VMs. Their instructions
//! are counted exactly, per vCPU and one by one; all other code runs uninstrumented.
//!
//! Whenever a watched VM publishes a sample (a store to its journal's head), the plugin writes a record
//! with the sample, all counters and every VM's exits *at that instant*. A run that is cut at a sample is
//! therefore repeatable, however late the host reads the records. A full pipe blocks the emulator and
//! not its clock, so that no record is lost.

#![expect(unsafe_code, reason = "a plugin is called by QEMU through C")]

mod account;
mod cache;
mod class;
mod counters;
mod executed;
mod ffi;
mod plan;
mod quiet;
mod ram;
mod state;
mod vcpu;

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::{self, File};
use std::ops::Range;
use std::os::fd::FromRawFd;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use counters::Counters;
use plan::Plan;
use state::{State, VCPUS};

/// Version of the plugin interface; QEMU refuses others.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = match option_env!("TENON_PLUGIN_API") {
    Some(text) => (text.as_bytes()[0] - b'0') as c_int,
    None => 1,
};

static STATE: OnceLock<State> = OnceLock::new();

/// The state, and the number of the vCPU that executes the callback; not as QEMU passes it, see
/// `vcpu.rs`.
fn at() -> Option<(&'static State, usize)> {
    let state = STATE.get()?;
    Some((state, if state.alone { 0 } else { vcpu::current()? }))
}

extern "C" fn count_el2(_: c_uint, _: *mut c_void) {
    if let Some((state, vcpu)) = at() {
        state.el2[vcpu].fetch_add(1, Relaxed);
    }
}

/// Callback before an instruction of Mortise; `place` is its address and effect.
extern "C" fn visit(_: c_uint, place: *mut c_void) {
    if let Some((state, vcpu)) = at() {
        let (address, step) = class::placed(place.addr());
        state.visit(vcpu, address, step);
    }
}

/// Callback before an instruction of Mortise at this address.
extern "C" fn execute(_: c_uint, address: *mut c_void) {
    if let Some(state) = STATE.get() {
        state.executed(address.addr() as u64);
    }
}

/// Callback before an instruction of a watched VM.
extern "C" fn count_guest(_: c_uint, guest: *mut c_void) {
    if let Some((state, vcpu)) = at() {
        let before = state.guest[vcpu].fetch_add(1, Relaxed);
        if (before + 1).is_multiple_of(state::CLOCK) {
            state.executing(vcpu, before + 1);
        }
        state.cores[vcpu].look(state.other.of(vcpu));
        state.cores[vcpu].ran(guest.addr() as u32);
    }
}

/// Callback before instructions of other code: a block, or one.
extern "C" fn count_other(_: c_uint, instructions: *mut c_void) {
    if let Some((state, vcpu)) = at() {
        state.other.add(vcpu, instructions.addr() as u64);
    }
}

extern "C" fn count_kind(_: c_uint, kind: *mut c_void) {
    if let Some((state, vcpu)) = at() {
        state.kinds[vcpu][kind.addr()].fetch_add(1, Relaxed);
    }
}

extern "C" fn count_device(_: c_uint, info: u32, address: u64, _: *mut c_void) {
    if let Some((state, vcpu)) = at() {
        // SAFETY: this runs within the access's callback, where the handle is valid; null is checked.
        let device = unsafe {
            let place = ffi::qemu_plugin_get_hwaddr(info, address);
            !place.is_null() && ffi::qemu_plugin_hwaddr_is_io(place)
        };
        state.kinds[vcpu][class::MMIO].fetch_add(device.into(), Relaxed);
    }
}

/// Callback after a load or store.
extern "C" fn accessed(_: c_uint, info: u32, address: u64, _: *mut c_void) {
    if let Some((state, vcpu)) = at()
        && let Some(physical) = in_memory(info, address)
    {
        state.accessed(physical, vcpu);
    }
}

/// Callback before a WFI.
extern "C" fn wait(_: c_uint, _: *mut c_void) {
    if let Some(state) = STATE.get() {
        vcpu::account();
        state.main_loop.settle();
    }
}

/// Callback before the first instruction of a path.
extern "C" fn begin(_: c_uint, path: *mut c_void) {
    if let Some((state, vcpu)) = at() {
        state.begin(path.addr(), vcpu);
    }
}

/// Callback at a mark that begins a path.
extern "C" fn mark(_: c_uint, _: *mut c_void) {
    if let Some((state, vcpu)) = at() {
        state.mark(vcpu);
    }
}

/// Callback before an instruction that may end a path of a mark.
extern "C" fn reach(_: c_uint, index: *mut c_void) {
    if let Some((state, vcpu)) = at() {
        state.reach(index.addr(), vcpu);
    }
}

/// Callback before the first instruction behind a path.
extern "C" fn end(_: c_uint, path: *mut c_void) {
    if let Some((state, vcpu)) = at() {
        state.end(path.addr(), vcpu);
    }
}

/// Callback when the emulator ends, as the machine was turned off.
extern "C" fn ended(_: ffi::Id, _: *mut c_void) {
    if let Some(state) = STATE.get() {
        for path in state.plan.endless() {
            (0..VCPUS).for_each(|vcpu| state.end(path, vcpu));
        }
    }
}

/// Callback after a store of a watched VM.
extern "C" fn stored(_: c_uint, info: u32, address: u64, _: *mut c_void) {
    if let Some((state, vcpu)) = at()
        && let Some(physical) = in_memory(info, address)
    {
        state.stored(physical, vcpu);
    }
}

/// Physical address of the current callback's access; `None` for a device.
fn in_memory(info: u32, address: u64) -> Option<u64> {
    // SAFETY: this runs within the access's callback, where the handle is valid; null is checked.
    unsafe {
        let place = ffi::qemu_plugin_get_hwaddr(info, address);
        (!place.is_null() && !ffi::qemu_plugin_hwaddr_is_io(place))
            .then(|| ffi::qemu_plugin_hwaddr_phys_addr(place))
    }
}

/// Callback at a block's translation, which instruments it by the plan.
extern "C" fn translated(_: ffi::Id, block: *mut ffi::Block) {
    let Some(state) = STATE.get() else { return };
    let Some(ram) = state.ram() else { return };
    // SAFETY: QEMU passes a block that is valid during this callback.
    let count = unsafe { ffi::qemu_plugin_tb_n_insns(block) };
    let (mut counted, mut marked) = (false, false);
    for index in 0..count {
        // SAFETY: the block is valid during this callback, and the index is below its count.
        let (instruction, host) = unsafe {
            let instruction = ffi::qemu_plugin_tb_get_insn(block, index);
            (instruction, ffi::qemu_plugin_insn_haddr(instruction))
        };
        if let Some(physical) = ram.behind(host.addr()) {
            let word = ram.half(physical).unwrap_or(0);
            if state.plan.cache.is_some() {
                at_access(instruction, accessed, ffi::READS_AND_WRITES);
            }
            counted |= instrument(&state.plan, instruction, physical, word);
            marked |= state.plan.marks && class::mark(word).is_some();
        }
    }
    match (state.plan.blocks && !counted, marked) {
        (true, false) => count_block(state, block, count),
        (true, true) => count_each(block, count),
        (false, _) => {}
    }
}

/// Instruments a block instruction by instruction, because a path begins or ends in it.
fn count_each(block: *mut ffi::Block, count: usize) {
    for index in 0..count {
        // SAFETY: the block is valid during translation, and the index is below the count; the data
        // is a number, never followed.
        unsafe {
            let instruction = ffi::qemu_plugin_tb_get_insn(block, index);
            let (flags, one) = (ffi::NO_REGISTERS, ptr::without_provenance_mut(1));
            ffi::qemu_plugin_register_vcpu_insn_exec_cb(instruction, count_other, flags, one);
        }
    }
}

/// Instruments a block as a whole.
fn count_block(state: &'static State, block: *mut ffi::Block, count: usize) {
    if state.alone {
        state.other.count(block, count);
        return;
    }
    let data = ptr::without_provenance_mut(count);
    // SAFETY: the block is valid during translation; `data` is a number that is never dereferenced.
    unsafe {
        ffi::qemu_plugin_register_vcpu_tb_exec_cb(block, count_other, ffi::NO_REGISTERS, data);
    }
}

/// Registers the callbacks of an instruction; returns whether it is counted.
fn instrument(plan: &Plan, instruction: *mut ffi::Instruction, physical: u64, word: u32) -> bool {
    let before = |callback: ffi::OnExecute, data: usize| {
        let data = ptr::without_provenance_mut(data);
        // SAFETY: the instruction is valid during translation; `data` is a number that is never dereferenced.
        unsafe {
            let flags = ffi::NO_REGISTERS;
            ffi::qemu_plugin_register_vcpu_insn_exec_cb(instruction, callback, flags, data);
        }
    };
    // Callbacks run in the order of registration: a path begins and ends before its instruction
    // counts.
    for (index, &(start, stop)) in plan.paths.iter().enumerate() {
        if physical == stop {
            before(end, index);
        }
        if physical == start {
            before(begin, index);
        }
    }
    for (index, &place) in plan.reaches.iter().enumerate() {
        if physical == place {
            before(reach, index);
        }
    }
    match class::mark(word).filter(|_| plan.marks) {
        Some(class::Mark::Begin) => before(mark, 0),
        Some(class::Mark::End) => before(end, plan.paths.len()),
        None => {}
    }
    if plan.quiet && class::step(word) == class::Step::Wait {
        before(wait, 0);
    }
    let within = |ranges: &[Range<u64>]| ranges.iter().position(|range| range.contains(&physical));
    if within(&plan.el2).is_some() {
        if plan.visits {
            before(visit, class::place(physical, class::step(word)));
        }
        if plan.executed {
            before(execute, physical as usize);
        }
        before(count_el2, 0);
        if let Some(kind) = class::kind(word) {
            before(count_kind, kind);
        }
        if !plan.paths.is_empty() || plan.marks {
            at_access(instruction, count_device, ffi::READS_AND_WRITES);
        }
        true
    } else if let Some(index) = within(&plan.guest) {
        before(count_guest, account::FIRST as usize + index);
        at_access(instruction, stored, ffi::WRITES);
        true
    } else {
        false
    }
}

/// Registers a callback for an instruction's memory accesses, during its block's translation.
fn at_access(instruction: *mut ffi::Instruction, callback: ffi::OnAccess, kind: c_int) {
    let (flags, data) = (ffi::NO_REGISTERS, ptr::null_mut());
    // SAFETY: the instruction is valid during translation; the callback takes no data.
    unsafe {
        ffi::qemu_plugin_register_vcpu_mem_cb(instruction, callback, flags, kind, data);
    }
}

/// The state for the plan file that the arguments name.
fn prepare(arguments: &[&CStr], cores: c_int) -> Result<State, String> {
    let file = arguments
        .iter()
        .find_map(|argument| argument.to_str().ok()?.strip_prefix("plan="))
        .ok_or("no plan=FILE given")?;
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let plan = Plan::parse(&text)?;
    // SAFETY: the orchestrator passes this open descriptor to the plugin alone.
    let pipe = unsafe { File::from_raw_fd(plan.pipe) };
    let other = Counters::new().ok_or("QEMU has no scoreboard to give")?;
    let alone = cores == 1;
    if !alone && !vcpu::known() {
        return Err("QEMU exports no current_cpu, by which vCPUs are told apart".into());
    }
    if plan.quiet && !vcpu::accounted() {
        return Err("QEMU exports no icount_update, which makes its clock exact at a WFI".into());
    }
    Ok(State::new(plan, pipe, other, alone))
}

/// The plugin's entry, called once by QEMU before the machine exists.
///
/// # Safety
/// `arguments` points to `count` C strings that live as long as the plugin.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: ffi::Id,
    machine: *const ffi::Machine,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    let _: ffi::Install = qemu_plugin_install;
    let arguments: Vec<&CStr> = (0..count as usize)
        // SAFETY: the caller passes `count` valid C strings (see above).
        .map(|index| unsafe { CStr::from_ptr(*arguments.add(index)) })
        .collect();
    // SAFETY: QEMU's description of the machine is valid during this call.
    let cores = unsafe { (*machine).cores };
    match prepare(&arguments, cores) {
        Ok(state) => {
            let _ = STATE.set(state);
            // SAFETY: the identifier is the one that QEMU passed; the last callback has no data.
            unsafe {
                ffi::qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
                ffi::qemu_plugin_register_atexit_cb(id, ended, ptr::null_mut());
            }
            0
        }
        Err(error) => {
            eprintln!("tenon plugin: {error}");
            -1
        }
    }
}
