// x0: target (and result), x1: source or byte value, x2: count. x3: moving target pointer.

.section .text.memcpy, "ax"

.macro function name
.global \name
.type \name, %function
\name:
.endm

// If the target begins within the source, an upward copy would overwrite bytes before they are read.
function memmove
    sub     x3, x0, x1
    cmp     x3, x2
    b.lo    5f

// Each step loads all of its bytes before it stores: a target below its source may overlap it.
function memcpy
    mov     x3, x0
    subs    x2, x2, #64
    b.lo    2f
1:  ldp     x4, x5, [x1], #64
    ldp     x6, x7, [x1, #-48]
    ldp     x8, x9, [x1, #-32]
    ldp     x10, x11, [x1, #-16]
    stp     x4, x5, [x3], #64
    stp     x6, x7, [x3, #-48]
    stp     x8, x9, [x3, #-32]
    stp     x10, x11, [x3, #-16]
    subs    x2, x2, #64
    b.hs    1b
2:  tbz     x2, #5, 3f
    ldp     x4, x5, [x1], #32
    ldp     x6, x7, [x1, #-16]
    stp     x4, x5, [x3], #32
    stp     x6, x7, [x3, #-16]
3:  tbz     x2, #4, 3f
    ldp     x4, x5, [x1], #16
    stp     x4, x5, [x3], #16
3:  tbz     x2, #3, 3f
    ldr     x4, [x1], #8
    str     x4, [x3], #8
3:  tst     x2, #7
    b.eq    4f
    tbz     x2, #2, 3f
    ldr     w4, [x1], #4
    str     w4, [x3], #4
3:  tbz     x2, #1, 3f
    ldrh    w4, [x1], #2
    strh    w4, [x3], #2
3:  tbz     x2, #0, 4f
    ldrb    w4, [x1]
    strb    w4, [x3]
4:  ret

// Downward copy, from the end.
5:  add     x1, x1, x2
    add     x3, x0, x2
    subs    x2, x2, #16
    b.lo    7f
6:  ldp     x4, x5, [x1, #-16]!
    stp     x4, x5, [x3, #-16]!
    subs    x2, x2, #16
    b.hs    6b
7:  tbz     x2, #3, 8f
    ldr     x4, [x1, #-8]!
    str     x4, [x3, #-8]!
8:  tbz     x2, #2, 8f
    ldr     w4, [x1, #-4]!
    str     w4, [x3, #-4]!
8:  tbz     x2, #1, 8f
    ldrh    w4, [x1, #-2]!
    strh    w4, [x3, #-2]!
8:  tbz     x2, #0, 8f
    ldrb    w4, [x1, #-1]
    strb    w4, [x3, #-1]
8:  ret

function memset
    and     x1, x1, #0xff
    orr     x1, x1, x1, lsl #8
    orr     x1, x1, x1, lsl #16
    orr     x1, x1, x1, lsl #32
    mov     x3, x0
    subs    x2, x2, #64
    b.lo    2f
1:  stp     x1, x1, [x3], #64
    stp     x1, x1, [x3, #-48]
    stp     x1, x1, [x3, #-32]
    stp     x1, x1, [x3, #-16]
    subs    x2, x2, #64
    b.hs    1b
2:  tbz     x2, #5, 3f
    stp     x1, x1, [x3], #32
    stp     x1, x1, [x3, #-16]
3:  tbz     x2, #4, 3f
    stp     x1, x1, [x3], #16
3:  tbz     x2, #3, 3f
    str     x1, [x3], #8
3:  tbz     x2, #2, 3f
    str     w1, [x3], #4
3:  tbz     x2, #1, 3f
    strh    w1, [x3], #2
3:  tbz     x2, #0, 4f
    strb    w1, [x3]
4:  ret

// The first word that differs decides, by its lowest byte in memory: the highest after REV.
function bcmp
function memcmp
    subs    x2, x2, #16
    b.lo    2f
1:  ldp     x4, x5, [x0], #16
    ldp     x6, x7, [x1], #16
    cmp     x4, x6
    b.ne    6f
    cmp     x5, x7
    b.ne    5f
    subs    x2, x2, #16
    b.hs    1b
2:  tbz     x2, #3, 3f
    ldr     x4, [x0], #8
    ldr     x6, [x1], #8
    cmp     x4, x6
    b.ne    6f
3:  ands    x2, x2, #7
    b.eq    7f
4:  ldrb    w4, [x0], #1
    ldrb    w6, [x1], #1
    cmp     w4, w6
    b.ne    6f
    subs    x2, x2, #1
    b.ne    4b
7:  mov     w0, wzr
    ret
5:  mov     x4, x5
    mov     x6, x7
6:  rev     x4, x4
    rev     x6, x6
    cmp     x4, x6
    cset    w0, hi
    csinv   w0, w0, wzr, hs
    ret
