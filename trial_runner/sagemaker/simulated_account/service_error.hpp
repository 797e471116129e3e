// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "common/json.hpp"

namespace steptune::simulated {

/// A refusal with the code and message of the real service.
struct ServiceError {
  std::string code;
  std::string message;
  int http_status = 400;

  /// Returns `{"__type": ..., "message": ...}`; SageMaker's modelled errors use `Message`.
  [[nodiscard]] Json body() const;
};

template <typename T>
using Answer = tl::expected<T, ServiceError>;

[[nodiscard]] tl::unexpected<ServiceError> refuse(std::string code, std::string message,
                                                  int http_status = 400);
/// Returns a ValidationException.
[[nodiscard]] tl::unexpected<ServiceError> refuse_input(std::string message);
/// Returns SageMaker's error for an unknown job, which is a ValidationException and not
/// ResourceNotFound.
[[nodiscard]] tl::unexpected<ServiceError> refuse_unknown_job();

}  // namespace steptune::simulated
