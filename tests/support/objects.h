/* Objects of System V, which no directory names and which outlive each process. */
#include "system_call.h"

enum { MSGCTL = 187, SEMCTL = 191, SHMCTL = 195 };
enum { MSG_INFO = 12, MSG_STAT_ANY = 13, SHM_INFO = 14, SHM_STAT_ANY = 15, SEM_INFO = 19, SEM_STAT_ANY = 20 };

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
}
