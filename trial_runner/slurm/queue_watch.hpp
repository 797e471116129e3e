// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "trial_runner/notices.hpp"
#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/slurm_options.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// What is still to be seen in the queue.
enum class QueueInterest {
  none,
  calm,      ///< jobs whose state is not expected to change
  changing,  ///< jobs that are about to start or to end
};

/// Asks for the queue's list: soon after something has changed, then in growing gaps for as long as
/// jobs are about to change; rarely while they are calm. A controller that does not answer is asked
/// again, until that has gone on for too long. Times are those of the runner's clock.
class QueueWatch {
 public:
  /// Is given each list that was answered; says what is still to be seen.
  using OnListed = std::function<QueueInterest(const std::vector<QueueRow>&)>;

  /// All outlive the object. `on_listed` is called from within `begin` and the host's `poll`.
  QueueWatch(const Clock& clock, SubmitHost& host, Notices& notices, const SlurmOptions& options,
             OnListed on_listed)
      : clock_(clock),
        host_(host),
        notices_(notices),
        options_(options),
        on_listed_(std::move(on_listed)) {}
  QueueWatch(const QueueWatch&) = delete;
  QueueWatch& operator=(const QueueWatch&) = delete;

  /// The first list. Waits for the controller's answer.
  [[nodiscard]] Result<void> begin();
  /// Something has changed: asks after `delay_s`, then in growing gaps.
  void ask_soon(double delay_s);
  /// Asks, if it is time; the answer comes later.
  void ask_if_due();
  /// When that is due; infinite while an answer is awaited, or nothing is to be seen.
  [[nodiscard]] double next_due_s() const;
  [[nodiscard]] bool is_asking() const { return asking_; }
  /// When the latest answered list was asked for; before any: negative.
  [[nodiscard]] double listed_as_of_s() const { return listed_as_of_s_; }

  /// Tells the user of a controller that has been silent for a while; an error once it has been for
  /// longer than `longest_outage_s`.
  [[nodiscard]] Result<void> check_outage();

 private:
  void on_answer(double asked_s, const CommandResult& result);

  const Clock& clock_;
  SubmitHost& host_;
  Notices& notices_;
  const SlurmOptions& options_;
  OnListed on_listed_;
  bool asking_ = false;
  double next_s_ = std::numeric_limits<double>::infinity();
  double gap_s_ = 0.0;
  double asked_s_ = -1.0;
  double listed_as_of_s_ = -1.0;
  std::optional<double> unanswered_since_s_;
  std::string unanswered_text_;
};

}  // namespace steptune::slurm
