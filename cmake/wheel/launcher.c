// SPDX-License-Identifier: Apache-2.0
// Starts a program of the wheel under the loader and with the libraries that the wheel brings along. The host needs no
// libc: this file is linked statically. scripts/wheel compiles it with STEPTUNE_HOME, the folder of the programs
// relative to the launcher's:
//
//   HOME/lib/steptune-loader   the loader; the program finds its prefix, HOME, through it (common/shipped_files.cpp)
//   HOME/lib/*.so*             libraries
//   HOME/programs/NAME         the program, which has the launcher's name
//
// The loader would apply LD_PRELOAD, which is meant for trials and may need a newer libc than the wheel's. So the
// variable gets another name until restore_environment.c, which the loader loads first, renames it back.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static int failed(const char *what, const char *path) {
  fprintf(stderr, "steptune: %s %s: %s; install steptune again\n", what, path, strerror(errno));
  return 127;
}

int main(int argc, char **argv) {
  char own[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  if (length < 0) return failed("cannot read", "/proc/self/exe");
  own[length] = '\0';
  char *slash = strrchr(own, '/');
  const char *name = slash + 1;
  *slash = '\0';

  char *home = NULL, *loader = NULL, *libraries = NULL, *program = NULL;
  const char *of_user = getenv("LD_LIBRARY_PATH");  // some hosts name NVIDIA's libraries only there
  const char *more = of_user != NULL && *of_user != '\0' ? of_user : NULL;
  if (asprintf(&home, "%s/" STEPTUNE_HOME, own) < 0 || asprintf(&loader, "%s/lib/steptune-loader", home) < 0 ||
      asprintf(&libraries, "%s/lib%s%s", home, more ? ":" : "", more ? more : "") < 0 ||
      asprintf(&program, "%s/programs/%s", home, name) < 0)
    return failed("cannot start", own);

  char *options[] = {loader, "--library-path", libraries, "--preload", "libsteptune-environment.so", "--argv0"};
  const size_t count = sizeof options / sizeof options[0];
  char **words = calloc(count + (size_t)argc + 3, sizeof *words);
  if (words == NULL) return failed("cannot start", program);
  memcpy(words, options, sizeof options);
  words[count] = argc > 0 ? argv[0] : program;
  words[count + 1] = program;
  for (int i = 1; i < argc; ++i) words[count + 1 + (size_t)i] = argv[i];

  for (char **entry = environ; *entry != NULL; ++entry)
    if (strncmp(*entry, "LD_PRELOAD=", 11) == 0) memcpy(*entry, "ST_PRELOAD", 10);

  execve(loader, words, environ);
  return failed("cannot start", loader);
}
