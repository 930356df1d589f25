/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces between the files of the module. */
#ifndef TENON_MODULE_H
#define TENON_MODULE_H

#define pr_fmt(fmt) "tenon: " fmt

#include <linux/kobject.h>
#include <linux/types.h>

/* main.c: /sys/kernel/tenon, the sysfs folder of the module. */

extern struct kobject *tenon_kobject;

/* mortise.c: hypercalls (docs/formats.md), with results as errno. */

#define MORTISE_VERSION 0xc6000100u
#define MORTISE_CREATE 0xc6000101u
#define MORTISE_LOAD 0xc6000102u
#define MORTISE_START 0xc6000103u
#define MORTISE_PAUSE 0xc6000104u
#define MORTISE_RESUME 0xc6000105u
#define MORTISE_RESTART 0xc6000106u
#define MORTISE_DESTROY 0xc6000107u
#define MORTISE_LIST 0xc6000108u
#define MORTISE_STATISTICS 0xc6000109u
#define MORTISE_CONSOLE_READ 0xc600010au
#define MORTISE_INSTANTIATE 0xc600010bu
#define MORTISE_RING 0xc6000200u
#define MORTISE_CELL 0xc6000300u
#define MORTISE_RUN 0xc6000301u
#define MORTISE_STOP 0xc6000302u
#define MORTISE_LEAVE 0xc6000405u

struct mortise_answer {
	u64 value[3]; /* x1 to x3 */
};

bool mortise_reachable(void);
int mortise_call(u32 function, u64 a1, u64 a2, u64 a3, u64 a4, struct mortise_answer *answer);

/* image.c: VMs made from image files, which are kept for restarts. Calls must be serialised. */

int tenon_image_create(u64 address, u64 bytes, u32 *handle);
int tenon_image_restart(u32 handle);
void tenon_image_forget(u32 handle);
void tenon_image_forget_gone(bool (*gone)(u32 handle));
void tenon_image_forget_all(void);

/* control.c, channel.c, loan.c, loan_file.c, vlib.c */

int tenon_control_init(void);
void tenon_control_exit(void);
int tenon_channel_init(void);
void tenon_channel_exit(void);
int tenon_loan_init(void);
void tenon_loan_exit(void);
int tenon_loan_file_init(void);
void tenon_loan_file_exit(void);
int tenon_vlib_init(void);
void tenon_vlib_exit(void);

/* detach.c, hyplet.c */

int tenon_detach_init(void);
void tenon_detach_exit(void);
int tenon_hyplet_init(void);
void tenon_hyplet_exit(void);

#endif
