/* The C library's name for <unistd.h>. */

#include <unistd.h>
