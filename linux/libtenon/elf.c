// SPDX-License-Identifier: GPL-2.0
/* Sections of the running program by name, and their addresses in its memory. */
#include <tenon/hyplet.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	const uint8_t *bytes;
	size_t size;
} file;

/* A range of the file; NULL if it exceeds the file. */
static const void *piece(uint64_t offset, uint64_t size)
{
	return offset <= file.size && size <= file.size - offset ? file.bytes + offset : NULL;
}

static bool is_program(void)
{
	const Elf64_Ehdr *header = piece(0, sizeof(*header));

	return header && !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_AARCH64 &&
	       header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shoff % 8 == 0 &&
	       header->e_shstrndx < header->e_shnum &&
	       piece(header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr));
}

int Elf_parser_load_memory_map(const char *program)
{
	struct stat status;
	void *bytes = MAP_FAILED;
	int descriptor = open(program, O_RDONLY | O_CLOEXEC);

	if (descriptor < 0)
		return -1;
	if (!fstat(descriptor, &status))
		bytes = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
	close(descriptor);
	if (bytes == MAP_FAILED)
		return -1;
	if (file.bytes)
		munmap((void *)file.bytes, file.size);
	file.bytes = bytes;
	file.size = status.st_size;
	if (is_program())
		return 0;
	munmap(bytes, file.size);
	file.bytes = NULL;
	errno = ENOEXEC;
	return -1;
}

/* Offset of the load address of the program from its link address. */
static uintptr_t displacement(const Elf64_Ehdr *header)
{
	uint64_t i;

	for (i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *part = piece(header->e_phoff + i * sizeof(*part), sizeof(*part));

		if (part && part->p_type == PT_LOAD && part->p_offset <= header->e_phoff &&
		    header->e_phoff - part->p_offset < part->p_filesz)
			return getauxval(AT_PHDR) -
			       (part->p_vaddr + header->e_phoff - part->p_offset);
	}
	return 0;
}

static bool is_called(const Elf64_Shdr *names, const Elf64_Shdr *section, const char *name)
{
	size_t length = strlen(name) + 1;
	const char *found = NULL;

	if (section->sh_name < names->sh_size && length <= names->sh_size - section->sh_name)
		found = piece(names->sh_offset + section->sh_name, length);
	return found && !memcmp(found, name, length) && section->sh_flags & SHF_ALLOC;
}

int get_section_addr(const char *name, void **address, size_t *size)
{
	const Elf64_Ehdr *header;
	const Elf64_Shdr *sections;
	unsigned int i;

	if (!file.bytes && Elf_parser_load_memory_map("/proc/self/exe"))
		return -1;
	header = (const void *)file.bytes;
	sections = piece(header->e_shoff, 0);
	for (i = 0; i < header->e_shnum; i++) {
		if (is_called(&sections[header->e_shstrndx], &sections[i], name)) {
			*address = (void *)(sections[i].sh_addr + displacement(header));
			*size = sections[i].sh_size;
			return 0;
		}
	}
	errno = ENOENT;
	return -1;
}

int hyp_map_section(const char *name)
{
	void *address;
	size_t size;

	return get_section_addr(name, &address, &size) ? -1 : hyp_map(address, size);
}
