/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of tenonctl know of each other. */
#ifndef TENONCTL_H
#define TENONCTL_H

#include <stddef.h>
#include <stdint.h>

#include <tenon.h>
#include <tenon/image.h>

/* Exit status: the work failed; the input is wrong. */
enum { FAILED = 1, WRONG = 2 };

/* One line on stderr, and the end. */
_Noreturn void give_up(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* image.c: a file read and judged; gives up, with the reason, if it is none. */
struct file {
	void *content;
	size_t bytes;
	struct tenon_image image;
};
void image_read(const char *path, struct file *file);

/* device.c: what the module is asked. These give up if it is not there or refuses. */
void ask(unsigned long command, void *structure, const char *whom);
int try_asking(unsigned long command, void *structure);
void tell(unsigned long command, uint64_t number, const char *whom);

/* Finds a VM by its name, or the next one at all (name NULL) from `vm->slot` on. */
int find(const char *name, struct tenon_vm *vm);
/* As `find`, but gives up if there is none of that name. */
struct tenon_vm vm_called(const char *name);

/* show.c: tables for people. */
void show_list(void);
void show_statistics(const struct tenon_vm *vm);
void show_console(const struct tenon_vm *vm, int follow);

/* ping.c: round trips over two channels, measured. */
void ping(const char *to, const char *from);

#endif
