/* Signals, as other systems call the header. */
#include <signal.h>
