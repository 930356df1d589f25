//! Bindings of the used part of QEMU's plugin interface.
//!
//! Debian does not package `qemu-plugin.h`. QEMU resolves these functions from its own executable when it
//! loads the plugin. They have one binary form in the interfaces 1 (QEMU 4.2) to 4 (QEMU 10), except for
//! the calls that add to counters: `build.rs` sets `scoreboards` for those of interface 2 and later.

use core::ffi::{c_char, c_int, c_uint, c_void};

/// Identifies this plugin to QEMU.
pub type Id = u64;
/// A translation block while it is being translated.
#[repr(C)]
pub struct Block([u8; 0]);
/// An instruction of a block while it is being translated.
#[repr(C)]
pub struct Instruction([u8; 0]);
/// Where an access went, valid during the access's callback.
#[repr(C)]
pub struct HardwareAddress([u8; 0]);

/// Description of QEMU and the machine (`qemu_info_t`).
#[repr(C)]
pub struct Machine {
    target: *const c_char,
    interfaces: [c_int; 2],
    whole: bool,
    /// Number of cores.
    pub cores: c_int,
    most: c_int,
}

/// Called when a block is translated.
pub type OnTranslate = extern "C" fn(Id, *mut Block);
/// Called once, as the emulator ends.
pub type OnEnd = extern "C" fn(Id, *mut c_void);
/// Called before an instruction or a block executes.
pub type OnExecute = extern "C" fn(c_uint, *mut c_void);
/// Called after a memory access.
pub type OnAccess = extern "C" fn(c_uint, u32, u64, *mut c_void);
/// Words of a plugin, some for each vCPU.
#[cfg(scoreboards)]
#[repr(C)]
pub struct Scoreboard([u8; 0]);

/// One of the words of a scoreboard (`qemu_plugin_u64`).
#[cfg(scoreboards)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Entry {
    /// The scoreboard.
    pub score: &'static Scoreboard,
    /// Where the word is among a vCPU's words, in bytes.
    pub offset: usize,
}

/// Type of the entry point, with which the exported function is checked.
pub type Install = unsafe extern "C" fn(Id, *const Machine, c_int, *const *const c_char) -> c_int;

/// The callback needs no guest registers.
pub const NO_REGISTERS: c_int = 0;
/// Stores only.
pub const WRITES: c_int = 2;
/// Adds to a counter without a call.
pub const ADD: c_int = 0;
/// Loads and stores.
pub const READS_AND_WRITES: c_int = 3;

#[expect(unsafe_code, reason = "declarations of QEMU's C functions")]
unsafe extern "C" {
    pub fn qemu_plugin_register_vcpu_tb_trans_cb(id: Id, callback: OnTranslate);
    pub fn qemu_plugin_register_atexit_cb(id: Id, callback: OnEnd, data: *mut c_void);
    pub fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: *mut Block,
        callback: OnExecute,
        flags: c_int,
        data: *mut c_void,
    );
    #[cfg(not(scoreboards))]
    pub fn qemu_plugin_register_vcpu_tb_exec_inline(
        block: *mut Block,
        operation: c_int,
        counter: *mut c_void,
        operand: u64,
    );
    #[cfg(scoreboards)]
    pub fn qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
        block: *mut Block,
        operation: c_int,
        counter: Entry,
        operand: u64,
    );
    #[cfg(scoreboards)]
    pub fn qemu_plugin_scoreboard_new(size: usize) -> Option<&'static Scoreboard>;
    #[cfg(scoreboards)]
    pub fn qemu_plugin_u64_add(counter: Entry, vcpu: c_uint, operand: u64);
    #[cfg(scoreboards)]
    pub fn qemu_plugin_u64_get(counter: Entry, vcpu: c_uint) -> u64;
    #[cfg(scoreboards)]
    pub fn qemu_plugin_u64_sum(counter: Entry) -> u64;
    pub fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    pub fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut Instruction;
    pub fn qemu_plugin_insn_haddr(instruction: *const Instruction) -> *mut c_void;
    pub fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut Instruction,
        callback: OnExecute,
        flags: c_int,
        data: *mut c_void,
    );
    pub fn qemu_plugin_register_vcpu_mem_cb(
        instruction: *mut Instruction,
        callback: OnAccess,
        flags: c_int,
        access: c_int,
        data: *mut c_void,
    );
    pub fn qemu_plugin_get_hwaddr(info: u32, address: u64) -> *mut HardwareAddress;
    pub fn qemu_plugin_hwaddr_is_io(address: *const HardwareAddress) -> bool;
    pub fn qemu_plugin_hwaddr_phys_addr(address: *const HardwareAddress) -> u64;
}
