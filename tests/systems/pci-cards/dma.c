// SPDX-License-Identifier: MIT OR Apache-2.0
// DMA by QEMU's `edu` card from and to memory of this process, or any other address.
//
// dma          copies a page of this process through the card to another page
// dma ADDRESS  reads from and writes to this address, and prints the outcome
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CARDS "/sys/bus/pci/devices"
// The card does not accept transfers to the end of its buffer.
enum { PAGE = 4096, BUFFER = 0x40000, COPIED = 2048 };

// Registers and commands of the DMA engine (QEMU, docs/specs/edu.txt).
enum { SOURCE = 0x80, TARGET = 0x88, COUNT = 0x90, COMMAND = 0x98 };
enum { START = 1, TO_MEMORY = 2 };

static volatile uint8_t *registers;

static int open_file(const char *card, const char *name, int how) {
  char path[128];
  snprintf(path, sizeof path, CARDS "/%s/%s", card, name);
  int file = open(path, how);
  if (file < 0) {
    perror(path);
    exit(1);
  }
  return file;
}

// Maps the registers of the card and enables bus mastering.
static void take(const char *card) {
  int enable = open_file(card, "enable", O_WRONLY);
  if (write(enable, "1", 1) != 1)
    perror("enable");
  int config = open_file(card, "config", O_RDWR);
  uint16_t command = 0x0006;  // memory, bus master
  if (pwrite(config, &command, sizeof command, 4) != sizeof command)
    perror("config");
  int memory = open_file(card, "resource0", O_RDWR | O_SYNC);
  registers = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (registers == MAP_FAILED) {
    perror("resource0");
    exit(1);
  }
}

static void find(void) {
  DIR *cards = opendir(CARDS);
  struct dirent *entry;
  while (cards && (entry = readdir(cards))) {
    uint32_t identity = 0;
    if (entry->d_name[0] == '.')
      continue;
    int config = open_file(entry->d_name, "config", O_RDONLY);
    if (pread(config, &identity, sizeof identity, 0) == sizeof identity && identity == 0x11e81234)
      return take(entry->d_name);
    close(config);
  }
  puts("dma: no edu card");
  exit(1);
}

static void put(unsigned offset, uint64_t value) {
  *(volatile uint64_t *)(registers + offset) = value;
}

static void copy(uint64_t source, uint64_t target, uint64_t direction) {
  put(SOURCE, source);
  put(TARGET, target);
  put(COUNT, COPIED);
  put(COMMAND, START | direction);
  while (*(volatile uint64_t *)(registers + COMMAND) & START)
    usleep(1000);
}

// A locked page and its physical address.
static uint8_t *page(uint64_t *address) {
  uint64_t entry = 0;
  uint8_t *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED | MAP_POPULATE, -1, 0);
  int map = open("/proc/self/pagemap", O_RDONLY);
  if (at == MAP_FAILED || pread(map, &entry, 8, (uintptr_t)at / PAGE * 8) != 8)
    perror("pagemap");
  close(map);
  *address = (entry & ((1ull << 55) - 1)) * PAGE;
  return at;
}

static int is_empty(const uint8_t *at) {
  for (int i = 0; i < COPIED; i++)
    if (at[i] != 0 && at[i] != 0x5a && at[i] != 0xff)
      return 0;
  return 1;
}

int main(int count, char **arguments) {
  uint64_t first, second;
  uint8_t *from = page(&first), *to = page(&second);
  find();
  memset(from, 0x5a, PAGE);
  memset(to, 0xa5, PAGE);
  copy(first, BUFFER, 0);
  if (count < 2) {
    copy(BUFFER, second, TO_MEMORY);
    puts(memcmp(from, to, COPIED) ? "dma: own memory is not reached" : "dma: own memory is reached");
    return 0;
  }
  // A denied read leaves the card's buffer unchanged or zero.
  uint64_t aim = strtoull(arguments[1], NULL, 0);
  copy(aim, BUFFER, 0);
  copy(BUFFER, second, TO_MEMORY);
  printf("dma: %#llx is %sread\n", (unsigned long long)aim, is_empty(to) ? "not " : "");
  copy(first, BUFFER, 0);
  copy(BUFFER, aim, TO_MEMORY);
  printf("dma: tried to write %#llx\n", (unsigned long long)aim);
  return 0;
}
