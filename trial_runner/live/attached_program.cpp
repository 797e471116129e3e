// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/attached_program.hpp"

#include <algorithm>
#include <utility>

#include <poll.h>

#include "common/child_process.hpp"

namespace steptune::live {

AttachedProgram::AttachedProgram(const Clock& clock, LiveChannel channel, UniqueFd process)
    : clock_(&clock),
      channel_(std::move(channel)),
      process_(std::move(process)),
      attached_s_(clock.now_s()) {}

bool AttachedProgram::ends_within(double wait_s) const {
  pollfd ended{process_.get(), POLLIN, 0};
  return ::poll(&ended, 1, static_cast<int>(1e3 * std::max(0.0, wait_s))) == 1;
}

std::vector<LiveStep> AttachedProgram::steps(double until_s) {
  std::vector<LiveStep> steps;
  while (true) {
    // Check for the end first: messages from before the end must still be read.
    const bool has_ended = ends_within(0.0);
    read(steps);
    is_gone_ = is_gone_ || has_ended;
    const double left_s = until_s - clock_->now_s();
    if (!steps.empty() || is_gone_ || unusable_ || left_s <= 0.0) return steps;
    // This wait is short compared with a block of steps (`PairedBlocks`), but long enough not to
    // slow the program down.
    static_cast<void>(ends_within(std::min(left_s, k_child_poll_s)));
  }
}

void AttachedProgram::read(std::vector<LiveStep>& steps) {
  const double now_s = clock_->now_s();
  bool listens = false;
  for (const LiveMessage& message : channel_.receive()) {
    if (const auto* hello = std::get_if<LiveHello>(&message)) {
      if (said_hello_) unusable_ = "several processes train without ranks";
      said_hello_ = true;
      listens = true;
      world_size_ = hello->world_size;
    } else if (const auto* event = std::get_if<LiveHookEvent>(&message)) {
      log_.add(event->event);
      if (log_.disabled()) unusable_ = "the hook switched itself off: " + *log_.disabled();
    } else if (const auto* step = std::get_if<LiveStep>(&message)) {
      if (!startup_s_) startup_s_ = now_s - attached_s_;
      last_ = *step;
      // The first steps are slow, so do not average later steps with them.
      if (last_.seconds >= recent_.seconds + k_notice_s) earlier_ = std::exchange(recent_, last_);
      steps.push_back(*step);
      listens = true;
    } else {
      is_gone_ = true;
    }
  }
  // Send often enough that the program does not take the tuner for silent. Send only to a program
  // that makes steps: otherwise it does not read, and its socket would fill up.
  const bool is_due =
      !last_sign_of_life_s_ || now_s >= *last_sign_of_life_s_ + k_longest_silence_s / 15.0;
  if (!listens || !is_due) return;
  last_sign_of_life_s_ = now_s;
  channel_.send_alive();
}

std::int64_t AttachedProgram::switch_to(const KnobValues& knobs) {
  channel_.send_switch(next_step_to_switch(earlier_, last_, world_size_), ++switches_, knobs);
  return switches_;
}

void AttachedProgram::leave(const KnobValues& knobs) {
  channel_.send_switch(next_step_to_switch(earlier_, last_, world_size_), ++switches_, knobs,
                       /*last=*/true);
}

}  // namespace steptune::live
