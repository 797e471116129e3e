// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "common/error.hpp"

namespace steptune {

/// Returns the value of a result, or throws an exception that fails the test with the error's text.
template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace steptune
