// SPDX-License-Identifier: Apache-2.0
// A program that costs as little as a measurable program can: prints the reports of a made-up run
// and ends.
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  const long batch = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1;
  for (long step = 1; step <= 40; ++step) {
    std::printf("[steptune] {\"v\":1,\"step\":%ld,\"samples\":%ld,\"clock\":%ld.%ld}\n", step,
                step * batch, step / 10, step % 10);
  }
  return 0;
}
