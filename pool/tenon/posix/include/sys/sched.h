/* The C library's name for <sched.h>. */

#include <sched.h>
