// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// What sbatch's end says of the job that it was to submit.
enum class Submission {
  accepted,  ///< there is a job
  unclear,   ///< there may be one all the same: an answer may be lost after the submission
  full,      ///< refused for now: as many jobs as this user may have are in the queue
  refused,   ///< refused as it was asked for
};

struct SubmissionAnswer {
  Submission submission = Submission::unclear;
  std::string job_id;  ///< where it was accepted
};

/// Whether a command that has failed may succeed another time, asked the same: the controller did
/// not answer, or takes no further job for now.
[[nodiscard]] bool may_pass(const CommandResult& result);

/// Only the controller's own refusal, and options that sbatch itself does not take, prove that
/// there is no job.
[[nodiscard]] SubmissionAnswer read_submission(const CommandResult& result);

}  // namespace steptune::slurm
