#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sums.h"
static void *work(void *n) { return (void *)sum((long)n); }
int main(int count, char **words) {
    pthread_t threads[4];
    long all = 0;
    for (long n = 0; n < 4; n++)
        if (pthread_create(&threads[n], NULL, work, (void *)(n * 1000))) return 1;
    for (int n = 0; n < 4; n++) {
        void *part;
        pthread_join(threads[n], &part);
        all += (long)part;
    }
    printf("%ld %s %.3f\n", all, count > 1 ? words[1] : "none", mean(all, 4));
    return fopen("/none", "r") ? 1 : errno;
}
