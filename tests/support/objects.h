/* Objects of System V and message queues of POSIX, which no directory names and which outlive each process. */
#pragma once
#include "system_call.h"

enum { MQ_OPEN = 180, MQ_UNLINK = 181, MSGCTL = 187, SEMCTL = 191, SHMCTL = 195 };
enum { MSG_INFO = 12, MSG_STAT_ANY = 13, SHM_INFO = 14, SHM_STAT_ANY = 15, SEM_INFO = 19, SEM_STAT_ANY = 20 };

/* Names of message queues, which no call lists. */
static const char queue_names[][2] = { "a", "b", "c", "d" };

/* Removes all objects of a kind. */
static void remove_objects(word control, word information, word status)
{
	word all[16];
	long place = control == SEMCTL ? call(control, 0, 0, information, (word)all, 0, 0)
				       : call(control, 0, information, (word)all, 0, 0, 0);

	for (; place >= 0; place--) {
		long object = control == SEMCTL ? call(control, place, 0, status, (word)all, 0, 0)
						: call(control, place, status, (word)all, 0, 0, 0);

		/* IPC_RMID is 0. */
		if (object >= 0)
			call(control, object, 0, 0, 0, 0, 0);
	}
}

static void remove_all_objects(void)
{
	remove_objects(SHMCTL, SHM_INFO, SHM_STAT_ANY);
	remove_objects(SEMCTL, SEM_INFO, SEM_STAT_ANY);
	remove_objects(MSGCTL, MSG_INFO, MSG_STAT_ANY);
	for (word place = 0; place < sizeof(queue_names) / sizeof(queue_names[0]); place++)
		call(MQ_UNLINK, (word)queue_names[place], 0, 0, 0, 0, 0);
}
