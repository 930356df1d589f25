/* SPDX-License-Identifier: GPL-2.0 */
/* What a hyplet's test holds: each check that fails is a line `WRONG`, and the end of its program. */
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
