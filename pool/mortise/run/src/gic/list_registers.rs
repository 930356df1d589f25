//! List registers of a core.

use hw_arch::registers::{ich_hcr_el2, ich_lr, ich_vtr_el2};
use mortise_machine::{Core, Vm};
use mortise_state::options;
use mortise_vgic::ListRegister;

/// `ICH_HCR_EL2` (IHI 0069, 12.4.5).
pub(crate) mod hcr {
    pub const EN: u64 = 1;
    pub const EOI_COUNT_SHIFT: u64 = 27;
    pub const EOI_COUNT: u64 = 0x1f << EOI_COUNT_SHIFT;
}

/// Resets this core's virtual CPU interface to its state at power-on: disabled, empty, no group
/// enabled, and no priority passes until the guest sets its mask.
pub(crate) fn reset_virtual_interface() {
    ich_hcr_el2::write(0);
    // An interface that is never enabled has no visible state.
    if options::virtual_devices() {
        clear_list_registers();
    }
    hw_arch::registers::ich_ap0r0_el2::write(0);
    hw_arch::registers::ich_ap1r0_el2::write(0);
    hw_arch::registers::ich_vmcr_el2::write(0);
    hw_arch::barrier::isb();
}

/// Enables this core's virtual CPU interface.
pub(crate) fn open_virtual_interface() {
    ich_hcr_el2::write(ich_hcr_el2::read() | hcr::EN);
    hw_arch::barrier::isb();
}

/// Whether an interrupt is pending in a list register of this core.
#[inline(never)]
pub(crate) fn is_interrupt_listed(core: &Core) -> bool {
    let mut listed = core.lr_usage.get().registers();
    while listed != 0 {
        let index = listed.trailing_zeros() as usize;
        listed &= listed - 1;
        if ListRegister::from_bits(ich_lr::read(index)).is_pending() {
            return true;
        }
    }
    false
}

/// Injects the virtual timer's interrupt, which is active in the physical GIC, by its template, if
/// there is one and its list register is free.
#[inline]
pub(crate) fn list_timer(core: &Core, vm: &Vm, vcpu: usize) -> bool {
    let template = vm.timer_template(vcpu);
    let fits = template != 0 && ListRegister::from_bits(ich_lr::read(0)).is_free();
    if fits {
        ich_lr::write(0, template);
        core.record_injection(ListRegister::from_bits(template).intid());
        let listed = core.lr_usage.get().with_lr(0, true);
        core.lr_usage
            .set(listed.with_timer_irq(mortise_vcpu::TimerIrq::InLr0));
    }
    fits
}

pub(crate) fn clear_list_registers() {
    for index in 0..list_registers() {
        ich_lr::write(index, 0);
    }
    let core = Core::current();
    core.lr_usage.set(core.lr_usage.get().cleared());
}

pub(crate) fn list_registers() -> usize {
    (ich_vtr_el2::read() & 0x1f) as usize + 1
}
