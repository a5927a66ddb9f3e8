// SPDX-License-Identifier: BSD-3-Clause
/*
 * The system calls of the kernel engine, in one place, where tests put a device of their own.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel.h"

int kernel_device_open(void)
{
	int fd = open(ESPGOAL_PATH, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

void kernel_device_close(int fd)
{
	close(fd);
}

int kernel_device_request(int fd, unsigned long code, void *arg)
{
	return ioctl(fd, code, arg) < 0 ? -errno : 0;
}

void *kernel_device_map(int fd, size_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	return map == MAP_FAILED ? NULL : map;
}

void kernel_device_unmap(const void *map, size_t bytes)
{
	munmap((void *)map, bytes);
}
