//! Why a VM was stopped: Mortise's side.

use crate::{FaultRegisters, REASON_WORDS, Reason, StatusPage, StatusWriter};
use core::mem::offset_of;
use core::sync::atomic::Ordering::{Relaxed, Release};

/// All of it at once takes long, so each of these is short: the [registers](Self::set_register),
/// [why in words](Self::set_reason_words), the [syndrome](Self::set_fault), and last the
/// [reason](Self::set_reason), by which a reader knows that there is one.
impl StatusWriter<'_> {
    /// Notes which vCPU faulted, and its syndrome.
    pub fn set_fault(&self, vcpu: usize, registers: &FaultRegisters) {
        let FaultRegisters {
            esr,
            far,
            hpfar,
            elr,
            spsr,
        } = *registers;
        for (word, value) in [esr, far, hpfar, elr, spsr].into_iter().enumerate() {
            self.area
                .store(offset_of!(StatusPage, fault) + word * 8, value, Relaxed);
        }
        self.area
            .store_half(offset_of!(StatusPage, fault_vcpu), vcpu as u32, Relaxed);
    }

    /// Notes a general register of a vCPU that faulted.
    pub fn set_register(&self, register: usize, value: u64) {
        if register < 31 {
            self.area
                .store(offset_of!(StatusPage, x) + register * 8, value, Relaxed);
        }
    }

    /// Notes eight bytes of why the VM is stopped in words, which end with a zero byte.
    pub fn set_reason_words(&self, word: usize, bytes: [u8; 8]) {
        if word < REASON_WORDS {
            let offset = offset_of!(StatusPage, reason_text) + word * 8;
            self.area.store(offset, u64::from_le_bytes(bytes), Relaxed);
        }
    }

    /// Notes why the VM is stopped.
    pub fn set_reason(&self, reason: Reason) {
        self.area
            .store_half(offset_of!(StatusPage, reason), reason as u32, Release);
    }
}
