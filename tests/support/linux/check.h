/* SPDX-License-Identifier: GPL-2.0 */
/* Checks of hyplet tests: a failed one prints a line `WRONG` and ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            printf("HYPLET WRONG: line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
            exit(1); \
        } \
    } while (0)
#define FAILS(error, call) CHECK((call) == -1 && errno == (error))

#endif
