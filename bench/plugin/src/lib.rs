//! A QEMU plugin that counts instructions by physical address and watches tasks from outside.
//!
//! QEMU 7.2's plugins cannot read registers, so an exception level is told by where its code lies: the
//! orchestrator says in a plan which physical range is Mortise and which RAM belongs to a watched VM.
//! Instructions of these are counted per vCPU, one by one, so that the counts are exact; all other
//! code runs uninstrumented, at full speed.
//!
//! Whenever a watched VM publishes a sample (stores to its journal's head), a record goes out with the
//! sample, all counters and every VM's exits *at that moment*. A run cut at any sample is therefore
//! repeatable, however late the host gets to read the records. The pipe blocks when it is full, which
//! holds the emulator and not its clock: no record is lost.

#![expect(unsafe_code, reason = "a plugin is called by QEMU through C")]

mod class;
mod ffi;
mod plan;
mod ram;

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::os::fd::FromRawFd;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

use plan::Plan;
use ram::Ram;

/// The physical CPUs there are counters for.
const VCPUS: usize = 8;
/// The kinds of record.
const SAMPLE: u32 = 1;
const PASSAGE: u32 = 2;
/// Offsets in a task's journal and in a status page; see `pool/core/statistics`.
const TASK_CAPACITY: u64 = 0x38;
const TASK_HEAD: u64 = 0x40;
const TASK_SAMPLES: u64 = 0x1000;
const STATUS_STATE: u64 = 0x28;
const STATUS_REASON: u64 = 0x2c;
const STATUS_RESTARTS: u64 = 0x30;
const STATUS_EXITS: u64 = 0x200;
/// No passage has begun.
const IDLE: u64 = u64::MAX;

/// The plugin interface this was built for; QEMU refuses a plugin of another.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = match option_env!("TENON_PLUGIN_API") {
    Some(text) => (text.as_bytes()[0] - b'0') as c_int,
    None => 1,
};

static STATE: OnceLock<State> = OnceLock::new();

struct State {
    plan: Plan,
    ram: OnceLock<Ram>,
    el2: [AtomicU64; VCPUS],
    guest: [AtomicU64; VCPUS],
    /// Of the counted instructions, those of each kind.
    kinds: [[AtomicU64; class::KINDS]; VCPUS],
    /// For each path, per vCPU: what was counted when it began.
    begun: Vec<[Begun; VCPUS]>,
    pipe: Mutex<File>,
}

/// Counters at the beginning of a path: instructions, or `IDLE`, and those of each kind.
struct Begun {
    total: AtomicU64,
    kinds: [AtomicU64; class::KINDS],
}

impl Begun {
    const fn not() -> Self {
        Self {
            total: AtomicU64::new(IDLE),
            kinds: [const { AtomicU64::new(0) }; class::KINDS],
        }
    }
}

impl State {
    /// Both counters of a vCPU.
    fn total(&self, vcpu: usize) -> u64 {
        self.el2[vcpu].load(Relaxed) + self.guest[vcpu].load(Relaxed)
    }

    /// RAM, looked for until QEMU has mapped it.
    fn ram(&self) -> Option<&Ram> {
        if self.ram.get().is_none() {
            let found = Ram::find(&self.plan.ram_file, self.plan.ram_base, self.plan.ram_size)?;
            let _ = self.ram.set(found);
        }
        self.ram.get()
    }

    /// The record of a sample that `vcpu` just published.
    fn sample(&self, task: usize, vcpu: usize) -> Option<Vec<u8>> {
        let (ram, (address, size)) = (self.ram()?, self.plan.tasks[task]);
        let head = ram.word(address + TASK_HEAD)?;
        // The guest wrote both: bound them before they become an address.
        let capacity = ram.word(address + TASK_CAPACITY)?;
        if head == 0 || !capacity.is_power_of_two() || capacity > size / 32 {
            return None;
        }
        let slot = address + TASK_SAMPLES + ((head - 1) & (capacity - 1)) * 32;
        let mut body = Vec::with_capacity(512);
        body.extend((task as u32).to_le_bytes());
        body.extend((vcpu as u32).to_le_bytes());
        body.extend(head.to_le_bytes());
        for word in 0..4 {
            body.extend(ram.word(slot + 8 * word)?.to_le_bytes());
        }
        for counter in self.el2.iter().chain(&self.guest) {
            body.extend(counter.load(Relaxed).to_le_bytes());
        }
        for &page in &self.plan.status {
            for offset in [STATUS_STATE, STATUS_REASON, STATUS_RESTARTS] {
                body.extend(ram.half(page + offset)?.to_le_bytes());
            }
            body.extend([0; 4]);
            for cause in 0..6 {
                let exits = |cpu| ram.word(page + STATUS_EXITS + 64 * cpu + 8 * cause);
                let sum = (0..VCPUS as u64)
                    .filter_map(exits)
                    .fold(0, u64::wrapping_add);
                body.extend(sum.to_le_bytes());
            }
        }
        Some(body)
    }

    fn send(&self, kind: u32, body: &[u8]) {
        let mut frame = Vec::with_capacity(8 + body.len());
        frame.extend(kind.to_le_bytes());
        frame.extend((body.len() as u32).to_le_bytes());
        frame.extend(body);
        // A reader that went away ends the run by itself; there is nobody to tell.
        if let Ok(mut pipe) = self.pipe.lock() {
            let _ = pipe.write_all(&frame);
        }
    }
}

/// The state, and a vCPU's number as an index of it.
fn at(vcpu: c_uint) -> Option<(&'static State, usize)> {
    Some((STATE.get()?, vcpu as usize)).filter(|(_, vcpu)| *vcpu < VCPUS)
}

extern "C" fn count_el2(vcpu: c_uint, _: *mut c_void) {
    if let Some((state, vcpu)) = at(vcpu) {
        state.el2[vcpu].fetch_add(1, Relaxed);
    }
}

extern "C" fn count_guest(vcpu: c_uint, _: *mut c_void) {
    if let Some((state, vcpu)) = at(vcpu) {
        state.guest[vcpu].fetch_add(1, Relaxed);
    }
}

extern "C" fn count_kind(vcpu: c_uint, kind: *mut c_void) {
    if let Some((state, vcpu)) = at(vcpu) {
        state.kinds[vcpu][kind.addr()].fetch_add(1, Relaxed);
    }
}

extern "C" fn count_device(vcpu: c_uint, info: u32, address: u64, _: *mut c_void) {
    if let Some((state, vcpu)) = at(vcpu) {
        // SAFETY: called inside the access's callback, as the interface demands; null is checked.
        let device = unsafe {
            let place = ffi::qemu_plugin_get_hwaddr(info, address);
            !place.is_null() && ffi::qemu_plugin_hwaddr_is_io(place)
        };
        state.kinds[vcpu][class::MMIO].fetch_add(device.into(), Relaxed);
    }
}

/// The first instruction of a path is about to execute.
extern "C" fn begin(vcpu: c_uint, path: *mut c_void) {
    if let Some((state, vcpu)) = at(vcpu) {
        let begun = &state.begun[path.addr()][vcpu];
        begun.total.store(state.total(vcpu), Relaxed);
        for (then, now) in begun.kinds.iter().zip(&state.kinds[vcpu]) {
            then.store(now.load(Relaxed), Relaxed);
        }
    }
}

/// The first instruction behind a path is about to execute.
extern "C" fn end(vcpu: c_uint, path: *mut c_void) {
    let Some((state, cpu)) = at(vcpu) else { return };
    let begun = &state.begun[path.addr()][cpu];
    let total = begun.total.swap(IDLE, Relaxed);
    if total != IDLE {
        let mut body = Vec::with_capacity(40);
        body.extend((path.addr() as u32).to_le_bytes());
        body.extend(vcpu.to_le_bytes());
        body.extend((state.total(cpu) - total).to_le_bytes());
        for (then, now) in begun.kinds.iter().zip(&state.kinds[cpu]) {
            body.extend((now.load(Relaxed) - then.load(Relaxed)).to_le_bytes());
        }
        state.send(PASSAGE, &body);
    }
}

/// A watched VM stored something.
extern "C" fn stored(vcpu: c_uint, info: u32, address: u64, _: *mut c_void) {
    let Some((state, vcpu)) = at(vcpu) else {
        return;
    };
    // SAFETY: called inside the access's callback, as the interface demands; null is checked.
    let physical = unsafe {
        let place = ffi::qemu_plugin_get_hwaddr(info, address);
        if place.is_null() || ffi::qemu_plugin_hwaddr_is_io(place) {
            return;
        }
        ffi::qemu_plugin_hwaddr_phys_addr(place)
    };
    let published = state
        .plan
        .tasks
        .iter()
        .position(|(task, _)| task + TASK_HEAD == physical);
    if let Some(body) = published.and_then(|task| state.sample(task, vcpu)) {
        state.send(SAMPLE, &body);
    }
}

/// A block was translated: instrument what the plan asks for.
extern "C" fn translated(_: ffi::Id, block: *mut ffi::Block) {
    let Some((state, _)) = at(0) else { return };
    let Some(ram) = state.ram() else { return };
    // SAFETY: QEMU passes a block that is valid during this callback.
    let count = unsafe { ffi::qemu_plugin_tb_n_insns(block) };
    for index in 0..count {
        // SAFETY: as above, and the index is below the count.
        let (instruction, host) = unsafe {
            let instruction = ffi::qemu_plugin_tb_get_insn(block, index);
            (instruction, ffi::qemu_plugin_insn_haddr(instruction))
        };
        if let Some(physical) = ram.physical(host.addr()) {
            let word = ram.half(physical).unwrap_or(0);
            instrument(&state.plan, instruction, physical, word);
        }
    }
}

fn instrument(plan: &Plan, instruction: *mut ffi::Instruction, physical: u64, word: u32) {
    let before = |callback: ffi::OnExecute, data: usize| {
        let data = ptr::without_provenance_mut(data);
        // SAFETY: the instruction is valid during translation; `data` is a number, never followed.
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
    if plan.reads && class::reads_counter(word) {
        before(end, plan.paths.len());
        before(begin, plan.paths.len());
    }
    let within = |ranges: &[Range<u64>]| ranges.iter().any(|range| range.contains(&physical));
    if within(&plan.el2) {
        before(count_el2, 0);
        if let Some(kind) = class::kind(word) {
            before(count_kind, kind);
        }
        if !plan.paths.is_empty() {
            let (flags, access, data) = (ffi::NO_REGISTERS, ffi::READS_AND_WRITES, ptr::null_mut());
            // SAFETY: as above; the callback takes no data.
            unsafe {
                ffi::qemu_plugin_register_vcpu_mem_cb(
                    instruction,
                    count_device,
                    flags,
                    access,
                    data,
                );
            }
        }
    } else if within(&plan.guest) {
        before(count_guest, 0);
        let (flags, access, data) = (ffi::NO_REGISTERS, ffi::WRITES, ptr::null_mut());
        // SAFETY: as above; the callback takes no data.
        unsafe {
            ffi::qemu_plugin_register_vcpu_mem_cb(instruction, stored, flags, access, data);
        }
    }
}

/// The state that the plan file named in the arguments asks for.
fn prepare(arguments: &[&CStr]) -> Result<State, String> {
    let file = arguments
        .iter()
        .find_map(|argument| argument.to_str().ok()?.strip_prefix("plan="))
        .ok_or("no plan=FILE given")?;
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let plan = Plan::parse(&text)?;
    // SAFETY: the orchestrator left this descriptor open for us and for nobody else.
    let pipe = unsafe { File::from_raw_fd(plan.pipe) };
    Ok(State {
        begun: plan
            .paths
            .iter()
            .map(|_| ())
            // And the one from counter read to counter read.
            .chain([()])
            .map(|()| [const { Begun::not() }; VCPUS])
            .collect(),
        plan,
        ram: OnceLock::new(),
        el2: [const { AtomicU64::new(0) }; VCPUS],
        guest: [const { AtomicU64::new(0) }; VCPUS],
        kinds: [const { [const { AtomicU64::new(0) }; class::KINDS] }; VCPUS],
        pipe: Mutex::new(pipe),
    })
}

/// The plugin's entry, called once by QEMU before the machine exists.
///
/// # Safety
/// `arguments` points to `count` C strings that live as long as the plugin.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: ffi::Id,
    _: *const c_void,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    let _: ffi::Install = qemu_plugin_install;
    let arguments: Vec<&CStr> = (0..count as usize)
        // SAFETY: the caller's promise.
        .map(|index| unsafe { CStr::from_ptr(*arguments.add(index)) })
        .collect();
    match prepare(&arguments) {
        Ok(state) => {
            let _ = STATE.set(state);
            // SAFETY: the identifier is the one QEMU gave us.
            unsafe { ffi::qemu_plugin_register_vcpu_tb_trans_cb(id, translated) };
            0
        }
        Err(error) => {
            eprintln!("tenon plugin: {error}");
            -1
        }
    }
}
