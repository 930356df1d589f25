//! Images of created VMs, a few instructions each.

use tenon_vm::Image;

/// Turns itself off (PSCI SYSTEM_OFF).
pub static OFF: Image<64> = Image::of_code(&[
    0xd280_0100, // movz x0, #8
    0xf2b0_8000, // movk x0, #0x8400, lsl #16
    0xd400_0002, // hvc #0
    0x1400_0000, // b .
]);

/// Loads from an unmapped address.
pub static FAULT: Image<64> = Image::of_code(&[
    0xd280_0001, // movz x1, #0
    0xf940_0020, // ldr x0, [x1]
    0x1400_0000, // b .
]);

/// Reads the SMCCC version in a loop.
pub static CALLS: Image<64> = Image::of_code(&[
    0xd280_0000, // movz x0, #0
    0xf2b0_0000, // movk x0, #0x8000, lsl #16
    0xd400_0002, // hvc #0
    0x17ff_fffd, // b .-12
]);

/// Increments a word of its memory, and turns itself off if the word was zero; else faults.
pub static ONCE: Image<64> = Image::of_code(&[
    0x1000_0401, // adr x1, .+128
    0xf940_0020, // ldr x0, [x1]
    0xb500_00c0, // cbnz x0, .+24
    0x9100_0400, // add x0, x0, #1
    0xf900_0020, // str x0, [x1]
    0xd280_0100, // movz x0, #8
    0xf2b0_8000, // movk x0, #0x8400, lsl #16
    0xd400_0002, // hvc #0
    0xd280_0001, // movz x1, #0
    0xf940_0020, // ldr x0, [x1]
]);

/// Makes calls in a loop, among them life-cycle calls without authority.
pub static TRIES: Image<128> = Image::of_code(&[
    0xd280_0014, // movz x20, #0
    0x9240_0e95, // and x21, x20, #15
    0xd280_2000, // movz x0, #0x100
    0xf2b8_c000, // movk x0, #0xc600, lsl #16
    0x8b15_0000, // add x0, x0, x21
    0xaa14_03e1, // mov x1, x20
    0xd400_0002, // hvc #0
    0xd280_0000, // movz x0, #0
    0xf2b0_0000, // movk x0, #0x8000, lsl #16
    0xd400_0002, // hvc #0: the version of the convention
    0xd280_0000, // movz x0, #0
    0xf2b8_c000, // movk x0, #0xc600, lsl #16
    0xd400_0002, // hvc #0: empty my log
    0xd280_4000, // movz x0, #0x200
    0xf2b8_c000, // movk x0, #0xc600, lsl #16
    0xd400_0002, // hvc #0: ring a channel
    0x9100_0694, // add x20, x20, #1
    0x17ff_fff0, // b .-64
]);
