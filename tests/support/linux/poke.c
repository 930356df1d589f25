// Invalid requests to the module: each answer is an error.
// SPDX-License-Identifier: MIT OR Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <tenon.h>
#include <tenon/image.h>

static int control;

static void refused(int line, int result, int error)
{
    if (result != -1 || errno != error)
        printf("POKE WRONG: line %d: %d, errno %d instead of %d\n", line, result, errno, error);
}

#define REFUSED(error, command, argument) \
    refused(__LINE__, ioctl(control, command, argument), error)

// The handle of a VM that the test has created.
static unsigned long there(void)
{
    struct tenon_vm vm = { .slot = 0 };

    while (!ioctl(control, TENON_LIST, &vm) && !vm.handle)
        vm.slot++;
    if (!vm.handle)
        puts("POKE WRONG: there is no VM");
    return vm.handle;
}

int main(void)
{
    static const uint64_t pointers[] = { 0, 1, 1ull << 47, 0xffff800000000000, UINT64_MAX - 8 };
    static const unsigned long structured[] = { TENON_CREATE, TENON_LIST, TENON_STATISTICS,
                                                TENON_CONSOLE_READ, TENON_INSTANTIATE };
    static const unsigned long moves[] = { TENON_START, TENON_PAUSE, TENON_RESUME, TENON_RESTART,
                                           TENON_DESTROY };
    struct tenon_image image = { .count = 0 };
    struct tenon_create create = { .bytes = sizeof(image) + 64 };
    struct tenon_vm vm = { .slot = UINT32_MAX };
    struct tenon_statistics statistics = { .handle = 0x12345601 };
    struct tenon_console console = { .handle = UINT32_MAX, .bytes = UINT32_MAX };
    struct tenon_instantiate wish = { .name = "sixteen-letters!" }, reserved = wish;
    unsigned long i, j;

    control = open("/dev/tenon/control", O_RDWR);
    for (i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
        for (j = 0; j < sizeof(structured) / sizeof(structured[0]); j++)
            REFUSED(EFAULT, structured[j], pointers[i]);
        create.address = pointers[i];
        REFUSED(EFAULT, TENON_CREATE, &create);
    }
    create.address = (uintptr_t)&image;
    create.bytes = UINT64_MAX;
    REFUSED(ENOEXEC, TENON_CREATE, &create);
    create.bytes = 0;
    REFUSED(ENOEXEC, TENON_CREATE, &create);
    create.bytes = sizeof(image) + 64;
    create.reserved = 1;
    REFUSED(EINVAL, TENON_CREATE, &create);
    reserved.reserved = 1;
    REFUSED(EINVAL, TENON_INSTANTIATE, &reserved);
    for (i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        REFUSED(ENOENT, moves[i], 0ul);
        REFUSED(ENOENT, moves[i], 0xfffffffful);
        // An existing handle with a wrong upper half.
        REFUSED(ENOENT, moves[i], 1ul << 32 | there());
    }
    REFUSED(ENOENT, TENON_LIST, &vm);
    REFUSED(ENOENT, TENON_STATISTICS, &statistics);
    REFUSED(ENOENT, TENON_CONSOLE_READ, &console);
    REFUSED(ENOENT, TENON_INSTANTIATE, &wish);
    for (i = 0; i < 256; i++) {
        if (i < 0x03 || i > 0x07)
            REFUSED(ENOTTY, _IO(TENON_IOCTL, i), 0ul);
        REFUSED(ENOTTY, _IO(0xe3, i), 0ul);
        // The maximum size must not be copied.
        REFUSED(ENOTTY, _IOC(_IOC_WRITE | _IOC_READ, TENON_IOCTL, i, 0x3fff), &image);
    }
    puts("POKE over");
    return 0;
}
