/*
 * Storage that is slow to sync one relation, for a test: preloaded into a server (LD_PRELOAD), it makes the checkpointer's
 * fsync() of that relation's file take longer. The file slow_storage in the data directory says which and how long:
 * "base/5/16385 5100", a path and milliseconds; without it nothing is slow. With it every other fsync() takes no time, so
 * that a test sees as many as it wants before that one is over.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int is_checkpointer(void)
{
	char title[256] = "";
	FILE *file = fopen("/proc/self/cmdline", "r");

	if (file == NULL)
		return 0;
	title[fread(title, 1, sizeof(title) - 1, file)] = '\0';
	fclose(file);
	return strstr(title, "checkpointer") != NULL;
}

/*
 * Milliseconds that this fsync() is to take, 0 as long as it takes, -1 none at all. The directory that a server process
 * works in is the data directory.
 */
static long delay_of(int descriptor)
{
	char link[64], path[4096], slow[256];
	long milliseconds = 0;
	ssize_t length;
	size_t wanted;
	FILE *file = fopen("slow_storage", "r");

	if (file == NULL)
		return 0;
	if (fscanf(file, "%255s %ld", slow, &milliseconds) != 2)
		milliseconds = 0;
	fclose(file);
	if (milliseconds <= 0)
		return 0;
	if (!is_checkpointer())
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
	length = readlink(link, path, sizeof(path) - 1);
	wanted = strlen(slow);
	if (length <= (ssize_t) wanted)
		return 0;
	path[length] = '\0';
	return strcmp(path + length - wanted, slow) == 0 ? milliseconds : -1;
}

int fsync(int descriptor)
{
	static int (*real)(int);
	long milliseconds = delay_of(descriptor);
	struct timespec left = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	if (milliseconds < 0)
		return 0;
	if (real == NULL)
		real = (int (*)(int)) dlsym(RTLD_NEXT, "fsync");
	while (milliseconds > 0 && nanosleep(&left, &left) != 0)
		;
	return real(descriptor);
}
