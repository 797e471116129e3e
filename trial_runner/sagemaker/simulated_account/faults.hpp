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
  // Faults of requests.
  throttle,             ///< ThrottlingException
  internal_error,       ///< InternalFailure, HTTP 500; not carried out
  expired_credentials,  ///< ExpiredTokenException
  no_connection,        ///< not carried out, no answer
  drop_response,        ///< carried out, no answer
  denied,               ///< AccessDeniedException: the identity lacks this permission
  unknown_job,          ///< not carried out: somebody has deleted the job
  truncate,             ///< carried out, but only half of the answer arrives
  // Faults of jobs.
  capacity,           ///< no machines: a job on new machines fails `after_s` after its start-up
  internal,           ///< InternalServerError `after_s` into its training
  spot_interruption,  ///< managed spot takes the machines away `after_s` into its training
  steal_pool,         ///< another customer takes the job's pool
};

/// One planned fault.
struct Fault {
  FaultKind kind = FaultKind::throttle;
  // Requests.
  std::string operation{};  ///< `CreateTrainingJob`; empty: every operation
  /// Number of the first faulty request of this operation, from 1. From there on, `times` requests
  /// in a row are faulty.
  std::optional<int> nth{};
  std::string contains{};  ///< without `nth`: the first `times` requests whose body contains this
                           ///< text are faulty
  // Jobs.
  std::string job{};                ///< text that the job's name contains; empty: any job
  std::optional<double> after_s{};  ///< see `FaultKind`; default 5, for `capacity` 0
  // Both.
  int times = 1;
  /// Chance of the fault each time, in place of `nth` and `times`.
  std::optional<double> probability{};
};

/// Decides when planned faults happen. Equal faults, seed and order of calls give equal results.
/// Not thread safe.
class FaultScript {
 public:
  FaultScript(std::vector<Fault> script, std::uint64_t seed);

  /// Counts a request that the rate limits have admitted, and returns its fault, if any.
  [[nodiscard]] std::optional<FaultKind> for_request(const std::string& operation,
                                                     const std::string& body);
  /// Returns this kind of fault for the job, if planned, and marks it as used.
  [[nodiscard]] std::optional<Fault> for_job(const std::string& job, FaultKind kind);

 private:
  std::vector<Fault> script_;
  Rng rng_;
  std::map<std::string, int> requests_;  ///< by operation
};

}  // namespace steptune::simulated
