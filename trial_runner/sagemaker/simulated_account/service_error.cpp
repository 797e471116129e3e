// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/service_error.hpp"

namespace steptune::simulated {

Json ServiceError::body() const {
  const bool modelled =
      code == "ResourceInUse" || code == "ResourceLimitExceeded" || code == "ResourceNotFound";
  return Json{{"__type", code}, {modelled ? "Message" : "message", message}};
}

tl::unexpected<ServiceError> refuse(std::string code, std::string message, int http_status) {
  return tl::unexpected(ServiceError{std::move(code), std::move(message), http_status});
}

tl::unexpected<ServiceError> refuse_input(std::string message) {
  return refuse("ValidationException", std::move(message));
}

tl::unexpected<ServiceError> refuse_unknown_job() {
  return refuse_input("Requested resource not found.");
}

}  // namespace steptune::simulated
