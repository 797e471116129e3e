// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/rng.hpp"

namespace steptune::simulated {

enum class FaultKind {
  // What befalls a request.
  throttle,             ///< ThrottlingException
  internal_error,       ///< InternalFailure, HTTP 500; not carried out
  expired_credentials,  ///< ExpiredTokenException
  no_connection,        ///< not carried out, no answer
  drop_response,        ///< carried out, no answer
  denied,               ///< AccessDeniedException: the identity may not make such requests
  unknown_job,          ///< not carried out: somebody has deleted the job
  truncate,             ///< carried out, half an answer
  // What befalls a job.
  capacity,  ///< no machines: fails after its start-up (and `after_s`); warm jobs have theirs
  internal,  ///< InternalServerError `after_s` into its training
  spot_interruption,  ///< managed spot: machines are taken back `after_s` into its training
  steal_pool,         ///< a stranger takes the pool that the job leaves
};

/// One line of a script of misfortune.
struct Fault {
  FaultKind kind = FaultKind::throttle;
  // Requests.
  std::string operation{};   ///< `CreateTrainingJob`; empty: every operation
  std::optional<int> nth{};  ///< of this operation's requests, from 1: it and `times - 1` more
  std::string contains{};    ///< without `nth`: the first `times` requests with this in their body
  // Jobs.
  std::string job{};                ///< text in the job's name; empty: any job
  std::optional<double> after_s{};  ///< see `FaultKind`; default 5, for `capacity` 0
  // Both.
  int times = 1;
  std::optional<double> probability{};  ///< instead of `nth` and `times`: each time, drawn
};

/// Plays a script. The same script, seed and order of questions give the same faults. Not thread
/// safe.
class FaultScript {
 public:
  FaultScript(std::vector<Fault> script, std::uint64_t seed);

  /// The fault of a request that the account's rate limits let pass. Counts it.
  [[nodiscard]] std::optional<FaultKind> for_request(const std::string& operation,
                                                     const std::string& body);
  /// The fault of this kind that befalls a job; asking uses it up.
  [[nodiscard]] std::optional<Fault> for_job(const std::string& job, FaultKind kind);

 private:
  std::vector<Fault> script_;
  Rng rng_;
  std::map<std::string, int> requests_;  ///< by operation
};

}  // namespace steptune::simulated
