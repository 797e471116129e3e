// SPDX-License-Identifier: Apache-2.0
// The loader of the wheel loads this library before a program's own: see launcher.c. The program and its trials then
// have the environment of the user, and the program has its name, not the loader's, in `ps`, `top` and `pkill`.
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((constructor)) static void restore(void) {
  for (char **entry = environ; *entry != NULL; ++entry)
    if (strncmp(*entry, "ST_PRELOAD=", 11) == 0) memcpy(*entry, "LD_PRELOAD", 10);
  prctl(PR_SET_NAME, program_invocation_short_name);
}
