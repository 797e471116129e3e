// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// Result of sbatch.
enum class Submission {
  accepted,  ///< the job exists
  unclear,   ///< the job may exist: the answer may have been lost after the submission
  full,      ///< refused for now: this user already has the most jobs allowed in the queue
  refused,   ///< there is no job, and the same request would be refused again
};

struct SubmissionAnswer {
  Submission submission = Submission::unclear;
  std::string job_id;  ///< if it was accepted
};

/// True if a failed command may succeed when it is repeated unchanged: the controller did not
/// answer, or accepts no more jobs for now.
[[nodiscard]] bool may_pass(const CommandResult& result);

/// Reads sbatch's result. There is certainly no job if the controller or sbatch refuses the
/// request, or if sbatch cannot be started. After any other failure the result is unclear.
[[nodiscard]] SubmissionAnswer read_submission(const CommandResult& result);

}  // namespace steptune::slurm
