//! Device emulation: routing of a guest's load or store to a device of Mortise or a VM extension.

use crate::{console, gic::guest_access};
use mortise_machine::{Core, Vm, interface::DeviceResponse, registry};
use mortise_state::board::contains;
use mortise_vcpu::{Access, Frame};

/// No device is at the address.
pub(crate) struct NoDevice;

/// Outcome of an access.
#[derive(PartialEq, Eq)]
pub(crate) enum AccessOutcome {
    /// The access is complete.
    Done,
    /// The guest must repeat the access after pending interrupts are taken.
    Again,
}

/// Carries out a guest's access to a device.
pub(crate) fn access(
    core: &'static Core,
    vm: &'static Vm,
    vcpu: usize,
    ipa: u64,
    access: Access,
    frame: &mut Frame,
) -> Result<AccessOutcome, NoDevice> {
    let board = &core.machine.board;
    let address = usize::try_from(ipa).map_err(|_| NoDevice)?;
    let stored = access.write.then(|| frame.register(access.register));
    let value = if let Some(place) = guest_access::frame_at(board, vm, address) {
        match guest_access::access(core, vm, vcpu, place, access, stored) {
            Some(value) => value,
            None => return Ok(AccessOutcome::Again),
        }
    } else if vm.has_serial() && contains(address, board.uart_base, board.uart_size) {
        match console::pl011::access(core, vm, address - board.uart_base, stored) {
            Some(value) => value,
            None => return Ok(AccessOutcome::Again),
        }
    } else if !registry::devices().is_empty()
        && let Some(answer) = registered(core, vm, ipa, access, stored)
    {
        match answer {
            DeviceResponse::Value(value) => value,
            DeviceResponse::Retry => return Ok(AccessOutcome::Again),
        }
    } else if access.write {
        return Err(NoDevice);
    } else if core.preemption_pending() {
        return Ok(AccessOutcome::Again);
    } else {
        let mut vm_extensions = registry::vm_extensions().iter();
        vm_extensions
            .find_map(|extension| extension.load(core, vm, vcpu, ipa))
            .ok_or(NoDevice)?
    };
    if !access.write {
        frame.set_register(access.register, access.extend(value));
    }
    Ok(AccessOutcome::Done)
}

/// Response of a library's device, if one has a register there.
#[inline(never)]
fn registered(
    core: &'static Core,
    vm: &'static Vm,
    ipa: u64,
    access: Access,
    stored: Option<u64>,
) -> Option<DeviceResponse> {
    let mut devices = registry::devices().iter();
    devices.find_map(|device| device.access(core, vm, ipa, access, stored))
}
