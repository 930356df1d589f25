// Two Linux VMs exchange messages on channels "words" and "answers": `talk ask` and `talk answer`.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The asker starts twice, with a reboot in between; the answerer tells it which start it is. A failed
// check prints a line `WRONG`, which the test searches.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tenon.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) \
            printf("WRONG: line %d: %s (errno %d)\n", __LINE__, #condition, errno), exit(1); \
    } while (0)

enum { SLOTS = 4, SIZE = 64, BULK = 1000, PINGS = 200 };

static int words, answers;

static int ready(int file, short events, int timeout)
{
    struct pollfd poll_file = { .fd = file, .events = events };

    return poll(&poll_file, 1, timeout) == 1 ? poll_file.revents : 0;
}

static void fill(char *message, int number)
{
    memset(message, 'a' + number % 26, SIZE);
    memcpy(message, &number, sizeof(number));
}

static void say(int file, const char *text)
{
    CHECK(write(file, text, strlen(text)) == (ssize_t)strlen(text));
}

static int heard(int file, const char *text)
{
    char message[SIZE] = { 0 };

    CHECK(read(file, message, SIZE) >= 0);
    return !strcmp(message, text);
}

// ---- checks while the answerer does not read ------------------------------------------------

static void overfill(void)
{
    char message[SIZE + 1] = { 0 };
    int number;

    for (number = 0; number < SLOTS; number++) {
        fill(message, number);
        CHECK(write(words, message, SIZE) == SIZE);
    }
    CHECK(write(words, message, SIZE + 1) < 0 && errno == EMSGSIZE);
    fcntl(words, F_SETFL, O_NONBLOCK);
    CHECK(write(words, message, SIZE) < 0 && errno == EAGAIN);
    CHECK(!ready(words, POLLOUT, 0));
    fcntl(words, F_SETFL, 0);
    CHECK(open("/dev/tenon/words", O_RDONLY) < 0 && errno == EACCES);
}

static void asker(void)
{
    char message[SIZE], answer[SIZE];
    int number;

    words = open("/dev/tenon/words", O_WRONLY);
    answers = open("/dev/tenon/answers", O_RDONLY);
    CHECK(words >= 0 && answers >= 0);
    say(words, "hello");
    if (heard(answers, "again")) {
        puts("TALK asked twice");
        return;
    }
    overfill();
    // The doorbell for the first free slot.
    CHECK(ready(words, POLLOUT, -1) & POLLOUT);
    for (number = SLOTS; number < BULK; number++) {
        fill(message, number);
        CHECK(write(words, message, SIZE) == SIZE);
    }
    for (number = 0; number < PINGS; number++) {
        CHECK(write(words, &number, sizeof(number)) == sizeof(number));
        CHECK(read(answers, answer, SIZE) == sizeof(number));
        CHECK(!memcmp(answer, &number, sizeof(number)));
    }
    say(words, "the last");
    puts("TALK asked once");
}

// ---- the other side ------------------------------------------------------------------------

// Shared memory is never code, whichever way it is asked for: stage 2 maps it execute-never.
static void runs_no_message(size_t offset, size_t size)
{
    const int rights = PROT_READ | PROT_EXEC;
    void *part = mmap(0, size, PROT_READ, MAP_SHARED, words, offset);

    CHECK(part != MAP_FAILED);
    CHECK(mmap(0, size, rights, MAP_SHARED, words, offset) == MAP_FAILED && errno == EACCES);
    CHECK(mprotect(part, size, rights) && errno == EACCES);
    CHECK(mprotect(part, size, PROT_EXEC) && errno == EACCES);
    CHECK(!munmap(part, size));
}

static void look_into_the_parts(void)
{
    struct tenon_channel shape;
    volatile uint64_t *producer, *consumer;

    CHECK(!ioctl(words, TENON_CHANNEL, &shape));
    CHECK(!strcmp(shape.name, "words") && !shape.producer);
    CHECK(shape.slots == SLOTS && shape.size == SIZE);
    CHECK(mmap(0, shape.parts[0], PROT_READ | PROT_WRITE, MAP_SHARED, words, 0) == MAP_FAILED);
    CHECK(errno == EACCES);
    producer = mmap(0, shape.parts[0], PROT_READ, MAP_SHARED, words, 0);
    CHECK(producer != MAP_FAILED);
    CHECK(mprotect((void *)producer, shape.parts[0], PROT_READ | PROT_WRITE) && errno == EACCES);
    consumer = mmap(0, shape.parts[1], PROT_READ | PROT_WRITE, MAP_SHARED, words, shape.parts[0]);
    CHECK(consumer != MAP_FAILED);
    CHECK(mmap(0, shape.parts[0] + 4096, PROT_READ, MAP_SHARED, words, 0) == MAP_FAILED);
    runs_no_message(0, shape.parts[0]);
    runs_no_message(shape.parts[0], shape.parts[1]);
    runs_no_message(shape.parts[0] + shape.parts[1], shape.parts[2]);
    CHECK(!ioctl(words, TENON_RING));
    // "hello" was received; the asker fills all slots behind it.
    CHECK(consumer[0] == 1);
    while (producer[0] < 1 + SLOTS)
        usleep(1000);
    CHECK(producer[0] == 1 + SLOTS);
    usleep(100000);
    CHECK(producer[0] == 1 + SLOTS);
}

static void answerer(void)
{
    char message[SIZE], expected[SIZE];
    int number;

    words = open("/dev/tenon/words", O_RDWR | O_NONBLOCK);
    answers = open("/dev/tenon/answers", O_WRONLY);
    CHECK(words >= 0 && answers >= 0);
    CHECK(ready(words, POLLIN, -1) & POLLIN);
    CHECK(read(words, message, 4) < 0 && errno == EMSGSIZE);
    CHECK(heard(words, "hello"));
    CHECK(read(words, message, SIZE) < 0 && errno == EAGAIN);
    CHECK(!ready(words, POLLIN, 0));
    fcntl(words, F_SETFL, 0);
    say(answers, "first");
    look_into_the_parts();
    for (number = 0; number < BULK; number++) {
        fill(expected, number);
        CHECK(read(words, message, SIZE) == SIZE && !memcmp(message, expected, SIZE));
    }
    for (number = 0; number < PINGS; number++) {
        CHECK(read(words, message, SIZE) == sizeof(number));
        CHECK(write(answers, message, sizeof(number)) == sizeof(number));
    }
    CHECK(heard(words, "the last"));
    // The asker reboots.
    CHECK(ready(words, POLLIN, -1) & POLLIN);
    CHECK(read(words, message, SIZE) == 0);
    puts("TALK end of file");
    CHECK(heard(words, "hello"));
    CHECK(write(answers, "again", 5) < 0 && errno == EPIPE);
    say(answers, "again");
    puts("TALK answered twice");
}

int main(int count, char **arguments)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count == 2 && !strcmp(arguments[1], "ask"))
        asker();
    else
        answerer();
    return 0;
}
