/* The system's name (POSIX.1-2017, <sys/utsname.h>). */

#ifndef TENON_SYS_UTSNAME_H
#define TENON_SYS_UTSNAME_H

#ifdef __cplusplus
extern "C" {
#endif

struct utsname {
	char sysname[16];
	char nodename[16];
	char release[16];
	char version[16];
	char machine[16];
};

int uname(struct utsname *__name);

#ifdef __cplusplus
}
#endif

#endif
