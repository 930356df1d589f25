/* Memory locking (POSIX.1-2017, <sys/mman.h>): all memory is resident. */

#ifndef TENON_SYS_MMAN_H
#define TENON_SYS_MMAN_H

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MCL_CURRENT 1
#define MCL_FUTURE 2

int mlock(const void *__address, size_t __size);
int mlockall(int __flags);
int munlock(const void *__address, size_t __size);
int munlockall(void);

#ifdef __cplusplus
}
#endif

#endif
