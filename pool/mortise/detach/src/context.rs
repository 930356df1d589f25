//! System registers of a context.

use crate::cell::{Cell, flags};
use crate::entry::{Level, NOWHERE, VECTORS};
use core::sync::atomic::{AtomicU64, Ordering};
use hw_arch::{
    El2, ExceptionLevel, read_register, with_key_registers, write_key_register, write_register,
};

/// A context that is loaded on the core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    pub level: Level,
    floating_point: bool,
}

fn get(word: &AtomicU64) -> u64 {
    word.load(Ordering::Relaxed)
}

impl Context {
    /// Loads the registers of a cell; `None` if it holds no valid context.
    ///
    /// An untrusted VM gains nothing over a vCPU that is on: the registers control EL1 and EL0
    /// only, under the VM's own stage 2. The exception level that is entered is checked here, once.
    pub(crate) fn load(cell: &Cell) -> Option<Self> {
        let flags = cell.flags.load(Ordering::Relaxed);
        let level = match flags & flags::KERNEL {
            0 => Level::User,
            _ => Level::Kernel,
        };
        let state = level.entry_spsr(get(&cell.pstate))?;
        let floating_point = flags & flags::FLOATING_POINT != 0;
        let [thread, read_only] = &cell.threads;
        write_register!("tpidr_el0", get(thread));
        write_register!("tpidrro_el0", get(read_only));
        load_control(cell, level);
        if mortise_vcpu::has_pointer_auth() {
            load_keys(&cell.keys);
        }
        if floating_point {
            // SAFETY: this target keeps nothing in floating-point registers, and they do not trap
            // at EL2 on a core that belongs to one VM; the cell has room for them.
            unsafe { cell.floating_point.load() };
        }
        // SAFETY: these set only the context's program counter and state, which `enter` has
        // checked.
        unsafe {
            El2::write_elr(get(&cell.pc));
            El2::write_spsr(state);
        }
        Some(Self {
            level,
            floating_point,
        })
    }

    /// Saves what EL0 and EL1 can have changed, with this program counter and state.
    pub(crate) fn save(self, cell: &Cell, pc: u64, state: u64) {
        let sp = match self.level {
            Level::User => read_register!("sp_el0"),
            Level::Kernel => read_register!("sp_el1"),
        };
        let [thread, _] = &cell.threads;
        for (word, value) in [
            (&cell.sp, sp),
            (&cell.pc, pc),
            (&cell.pstate, Level::returned_spsr(state)),
            (thread, read_register!("tpidr_el0")),
        ] {
            word.store(value, Ordering::Relaxed);
        }
        if self.floating_point {
            // SAFETY: this target keeps nothing in floating-point registers, and they do not trap
            // at EL2 on a core that belongs to one VM; the cell has room for them.
            unsafe { cell.floating_point.save() };
        }
    }
}

/// Loads the registers that control translation at EL1 and permissions of EL0.
fn load_control(cell: &Cell, level: Level) {
    const ASID: u64 = 0xffff << 48;
    let [ttbr0, ttbr1, tcr, mair, sctlr, cpacr, cntkctl, vbar] = &cell.control;
    write_register!("ttbr0_el1", get(ttbr0));
    write_register!("tcr_el1", level.tcr_el1(get(tcr)));
    write_register!("mair_el1", get(mair));
    write_register!("sctlr_el1", level.sctlr_el1(get(sctlr)));
    write_register!("cpacr_el1", get(cpacr));
    write_register!("cntkctl_el1", get(cntkctl));
    match level {
        Level::User => {
            write_register!("ttbr1_el1", get(ttbr1) & ASID | NOWHERE);
            write_register!("vbar_el1", VECTORS);
            write_register!("sp_el0", get(&cell.sp));
        }
        Level::Kernel => {
            let [sp_el0, thread] = &cell.kernel;
            write_register!("ttbr1_el1", get(ttbr1));
            write_register!("vbar_el1", get(vbar));
            write_register!("sp_el0", get(sp_el0));
            write_register!("tpidr_el1", get(thread));
            write_register!("sp_el1", get(&cell.sp));
        }
    }
}

/// Loads the pointer authentication keys, which EL0 cannot change.
fn load_keys(keys: &[AtomicU64; 10]) {
    macro_rules! load {
        ($($register:literal)*) => {
            let mut keys = keys.iter().map(get);
            $(write_key_register!($register, keys.next().unwrap_or(0));)*
        };
    }
    with_key_registers!(load);
}
