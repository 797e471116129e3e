// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/numbers.hpp"
#include "trial_runner/notices.hpp"
#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/slurm_options.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// Frequency with which the queue must be watched.
enum class QueueInterest {
  none,
  calm,      ///< jobs whose state should not change
  changing,  ///< jobs that are about to start or end
};

/// Requests the list of the user's jobs (squeue). The first request follows soon after a change.
/// While jobs are about to change, the intervals grow; otherwise requests are rare. If the
/// controller does not answer, repeats the request until the outage is too long. Times are on the
/// runner's clock.
class QueueWatch {
 public:
  /// Function that receives each list and returns how often to watch from now on.
  using OnListed = std::function<QueueInterest(const std::vector<QueueRow>&)>;

  /// The arguments outlive the object. `on_listed` is called from `begin` and from the host's
  /// `poll`.
  QueueWatch(const Clock& clock, SubmitHost& host, Notices& notices, const SlurmOptions& options,
             OnListed on_listed)
      : clock_(clock),
        host_(host),
        notices_(notices),
        options_(options),
        on_listed_(std::move(on_listed)) {}
  QueueWatch(const QueueWatch&) = delete;
  QueueWatch& operator=(const QueueWatch&) = delete;

  /// Gets the first list. Waits for the controller's answer.
  [[nodiscard]] Result<void> begin();
  /// Call this after a change: requests a list after `delay_s`, then at growing intervals.
  void ask_soon(double delay_s);
  /// Requests a list if it is due; the answer comes later.
  void ask_if_due();
  /// Returns the time of the next request; infinite while an answer is pending or nothing needs
  /// watching.
  [[nodiscard]] double next_due_s() const;
  [[nodiscard]] bool is_asking() const { return asking_; }
  /// Returns the time at which the latest received list was requested; negative before the first.
  [[nodiscard]] double listed_as_of_s() const { return listed_as_of_s_; }

  /// Adds a notice if the controller has been silent for a while. Returns an error once the silence
  /// is longer than `longest_outage_s`.
  [[nodiscard]] Result<void> check_outage();

 private:
  void on_answer(double asked_s, const CommandResult& result);

  const Clock& clock_;
  SubmitHost& host_;
  Notices& notices_;
  const SlurmOptions& options_;
  OnListed on_listed_;
  bool asking_ = false;
  double next_s_ = k_infinity;
  double gap_s_ = 0.0;
  double asked_s_ = -1.0;
  double listed_as_of_s_ = -1.0;
  std::optional<double> unanswered_since_s_;
  std::string unanswered_text_;
};

}  // namespace steptune::slurm
