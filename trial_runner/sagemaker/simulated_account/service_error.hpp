// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "common/json.hpp"

namespace steptune::simulated {

/// A refusal, worded as the real service words it.
struct ServiceError {
  std::string code;
  std::string message;
  int http_status = 400;

  /// `{"__type": ..., "message": ...}`; modelled errors of SageMaker spell `Message`.
  [[nodiscard]] Json body() const;
};

template <typename T>
using Answer = tl::expected<T, ServiceError>;

[[nodiscard]] tl::unexpected<ServiceError> refuse(std::string code, std::string message,
                                                  int http_status = 400);
/// ValidationException.
[[nodiscard]] tl::unexpected<ServiceError> refuse_input(std::string message);
/// SageMaker's way of saying that there is no such job: no ResourceNotFound.
[[nodiscard]] tl::unexpected<ServiceError> refuse_unknown_job();

}  // namespace steptune::simulated
