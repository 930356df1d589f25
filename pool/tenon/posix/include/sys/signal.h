/* The name of <signal.h> on other systems. */
#include <signal.h>
