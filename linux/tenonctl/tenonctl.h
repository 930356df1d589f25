/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces between the files of tenonctl. */
#ifndef TENONCTL_H
#define TENONCTL_H

#include <stddef.h>
#include <stdint.h>

#include <tenon.h>
#include <tenon/image.h>

/* Exit status: the operation failed; the input is invalid. */
enum { FAILED = 1, WRONG = 2 };

/* Prints one line to stderr and exits. */
_Noreturn void give_up(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* image.c: reads and validates a file; exits with the reason if it is invalid. */
struct file {
	void *content;
	size_t bytes;
	struct tenon_image image;
};
void image_read(const char *path, struct file *file);

/* device.c: calls to the module. On failure, `ask` and `tell` exit with a message about `vm`. */
void ask(unsigned long command, void *structure, const char *vm);
int try_asking(unsigned long command, void *structure);
void tell(unsigned long command, uint64_t number, const char *vm);

/* Finds a VM by name, or the next VM (name NULL), from `vm->slot` on. */
int find(const char *name, struct tenon_vm *vm);
/* As `find`; exits if there is no such VM. */
struct tenon_vm vm_called(const char *name);

/* show.c: tables for users. */
void show_list(void);
void show_statistics(const struct tenon_vm *vm);
void show_console(const struct tenon_vm *vm, int follow);

/* ping.c: measures round trips over two channels. */
void ping(const char *to, const char *from);

#endif
