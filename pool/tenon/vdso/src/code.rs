//! Instructions of the functions of the vDSO.
//!
//! They use no stack and registers that a call may change alone. The [clock](crate::Clock) page is
//! the one before theirs: `adrp x4, .-4096`.

/// `clock_gettime`: x0 is the clock, x1 the address of the result.
pub(crate) const CLOCK_GETTIME: [u32; 38] = [
    0x7100_2c1f, // cmp  w0, #11
    0x5400_0448, // b.hi call
    0x5280_5a42, // mov  w2, #0x2d2: clocks that begin at the start, a bit for each
    0x1ac0_2442, // lsr  w2, w2, w0
    0xf0ff_ffe4, // adrp x4, .-4096
    0x3600_0202, // tbz  w2, #0, date
    0xa940_1885, // ldp  x5, x6, [x4]: period, span
    0xd503_3fdf, // isb, so that the counter is not read before
    0xd53b_e048, // mrs  x8, cntvct_el0
    0x9ac5_0909, // udiv x9, x8, x5
    0x9b05_a12a, // msub x10, x9, x5, x8
    0x9b06_7d4a, // mul  x10, x10, x6
    0x9ac5_094a, // udiv x10, x10, x5
    0x9b06_2929, // madd x9, x9, x6, x10: nanoseconds
    0x5299_400a, // store: mov w10, #0xca00
    0x72a7_734a, // movk w10, #0x3b9a, lsl #16: 10^9
    0x9aca_092b, // udiv x11, x9, x10
    0x9b0a_a56c, // msub x12, x11, x10, x9
    0xa900_302b, // stp  x11, x12, [x1]
    0x5280_0000, // mov  w0, #0
    0xd65f_03c0, // ret
    0x5281_2422, // date: mov w2, #0x921: clocks of the date
    0x1ac0_2442, // lsr  w2, w2, w0
    0x3600_0182, // tbz  w2, #0, call
    0xa940_1885, // ldp  x5, x6, [x4]
    0xf940_0887, // ldr  x7, [x4, #16]: start
    0xd503_3fdf, // isb
    0xd53b_e048, // mrs  x8, cntvct_el0
    0x9ac5_0909, // udiv x9, x8, x5
    0x9b05_a12a, // msub x10, x9, x5, x8
    0x9b06_7d4a, // mul  x10, x10, x6
    0x9ac5_094a, // udiv x10, x10, x5
    0x9b06_2929, // madd x9, x9, x6, x10
    0x8b07_0129, // add  x9, x9, x7
    0x17ff_ffec, // b    store
    0xd280_0e28, // call: mov x8, #113
    0xd400_0001, // svc  #0
    0xd65f_03c0, // ret
];

/// `gettimeofday`: x0 and x1 are the addresses of the results, or zero. The time zone is 0.
pub(crate) const GETTIMEOFDAY: [u32; 23] = [
    0xf0ff_ffe4, // adrp x4, .-4096
    0xb400_0240, // cbz  x0, zone
    0xa940_1885, // ldp  x5, x6, [x4]
    0xf940_0887, // ldr  x7, [x4, #16]
    0xd503_3fdf, // isb
    0xd53b_e048, // mrs  x8, cntvct_el0
    0x9ac5_0909, // udiv x9, x8, x5
    0x9b05_a12a, // msub x10, x9, x5, x8
    0x9b06_7d4a, // mul  x10, x10, x6
    0x9ac5_094a, // udiv x10, x10, x5
    0x9b06_2929, // madd x9, x9, x6, x10
    0x8b07_0129, // add  x9, x9, x7
    0x5299_400a, // mov  w10, #0xca00
    0x72a7_734a, // movk w10, #0x3b9a, lsl #16
    0x9aca_092b, // udiv x11, x9, x10
    0x9b0a_a56c, // msub x12, x11, x10, x9
    0x5280_7d0a, // mov  w10, #1000
    0x9aca_098c, // udiv x12, x12, x10: microseconds
    0xa900_300b, // stp  x11, x12, [x0]
    0xb400_0041, // zone: cbz x1, end
    0xf900_003f, // str  xzr, [x1]
    0x5280_0000, // end: mov w0, #0
    0xd65f_03c0, // ret
];

/// `clock_getres`: as `clock_gettime`.
pub(crate) const CLOCK_GETRES: [u32; 14] = [
    0x7100_2c1f, // cmp  w0, #11
    0x5400_0148, // b.hi call
    0x5281_7e62, // mov  w2, #0xbf3: clocks of both kinds
    0x1ac0_2442, // lsr  w2, w2, w0
    0x3600_00e2, // tbz  w2, #0, call
    0xb400_0081, // cbz  x1, end
    0xf0ff_ffe4, // adrp x4, .-4096
    0xf940_0c85, // ldr  x5, [x4, #24]: resolution
    0xa900_143f, // stp  xzr, x5, [x1]
    0x5280_0000, // end: mov w0, #0
    0xd65f_03c0, // ret
    0xd280_0e48, // call: mov x8, #114
    0xd400_0001, // svc  #0
    0xd65f_03c0, // ret
];

/// `rt_sigreturn`, behind the call of a handler; debuggers and unwinders know a frame by the two
/// instructions behind the first one, which is for such as look up the instruction before.
pub(crate) const RT_SIGRETURN: [u32; 3] = [
    0xd503_201f, // nop
    0xd280_1168, // mov  x8, #139
    0xd400_0001, // svc  #0
];
