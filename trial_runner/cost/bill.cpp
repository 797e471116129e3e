// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/cost/bill.hpp"

namespace steptune {

double cost_usd(const Price& price, double seconds) {
  return price.usd_per_hour * price.instances * seconds / 3600.0;
}

double bill_usd(const Price& price, const Outcome& outcome) {
  return cost_usd(price, outcome.billed_s);
}

}  // namespace steptune
