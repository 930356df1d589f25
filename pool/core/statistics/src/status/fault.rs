//! Fault record of a status page, written by Mortise.

use crate::{FaultRegisters, REASON_WORDS, Reason, StatusPage, StatusWriter};
use core::mem::offset_of;
use core::sync::atomic::Ordering::{Relaxed, Release};

/// Writing the whole record at once takes long, so it is written in short steps: the
/// [registers](Self::set_register), the [reason as text](Self::set_reason_words), the
/// [syndrome](Self::set_fault), and last the [reason](Self::set_reason), which tells a reader that
/// the record is complete.
impl StatusWriter<'_> {
    /// Records the vCPU that faulted, and its syndrome.
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

    /// Records a general register of the vCPU that faulted.
    pub fn set_register(&self, register: usize, value: u64) {
        if register < 31 {
            self.area
                .store(offset_of!(StatusPage, x) + register * 8, value, Relaxed);
        }
    }

    /// Records eight bytes of the reason as text, which ends with a zero byte.
    pub fn set_reason_words(&self, word: usize, bytes: [u8; 8]) {
        if word < REASON_WORDS {
            let offset = offset_of!(StatusPage, reason_text) + word * 8;
            self.area.store(offset, u64::from_le_bytes(bytes), Relaxed);
        }
    }

    /// Records the reason for which the VM is stopped.
    pub fn set_reason(&self, reason: Reason) {
        self.area
            .store_half(offset_of!(StatusPage, reason), reason as u32, Release);
    }
}
