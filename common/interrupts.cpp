// SPDX-License-Identifier: Apache-2.0
#include "common/interrupts.hpp"

#include <atomic>

namespace steptune {
namespace {

// Global, because a signal handler cannot reach any other object.
std::atomic<int> interrupt_count{0};
static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

int interrupts() {
  return interrupt_count.load();
}

void count_interrupt() {
  interrupt_count.fetch_add(1);
}

void forget_interrupts() {
  interrupt_count = 0;
}

}  // namespace steptune
