// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/cost/fixed_price.hpp"

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/section_limits.hpp"

namespace steptune {

document::Key<FixedPrice> price_per_hour_key() {
  return document::key("price_per_hour", &FixedPrice::usd_per_hour, document::number({0.0, 1e6}))
      .doc("USD per machine and hour");
}

document::Key<FixedPrice> machines_key() {
  return document::key("instances", &FixedPrice::machines, document::number({1.0, k_most_machines}))
      .doc("machines that the planned run pays for");
}

std::string text_of(const FixedPrice& price) {
  std::string text;
  if (price.usd_per_hour) text += fmt::format(", {} per hour", format_usd(*price.usd_per_hour));
  if (price.machines > 1.0) text += fmt::format(" x {:g} instances", price.machines);
  return text;
}

}  // namespace steptune
