// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace steptune {

/// A look at a finalist: a number of pairs after which a claim may be made.
struct Look {
  int pairs = 0;
  double share = 0.0;  ///< share of the finalist's error for a first false claim at this look
};

/// Plan of the looks at a finalist.
struct LookPlan {
  int first = 2;  ///< pairs at the first look
  int usual = 3;  ///< planned pairs
  /// Pairs at the last look, which has all of the error that is left. 0: no look is the last. The
  /// reason for the end must not depend on the pairs' results: for example, the tuning time is
  /// over.
  int last = 0;
};

/// Returns the looks at a finalist, up to the first look at `pairs` or more. The looks below the
/// usual number of pairs, one at each number, share 30 % of the error. From the usual number on,
/// each look has 4^(1/3) times as many pairs as the previous look. So there is a look at four times
/// the usual number. Each of these looks has 65 % of the previous look's share. All shares add up
/// to 1. There is no look after `LookPlan::last`.
[[nodiscard]] std::vector<Look> looks_until(int pairs, LookPlan plan);
/// True if a claim may be made after this number of pairs.
[[nodiscard]] bool is_look(int pairs, LookPlan plan);

/// Returns the one-sided error of the interval after `pairs` pairs, if a finalist's looks together
/// may claim falsely with the probability `error`. This is the error of the first look at `pairs`
/// pairs or more. If no pair follows, that look never takes place, so its share is free.
///
/// A later look may have more than its share of `error`. A mean that exceeds its limit by chance
/// mostly exceeded the limit of an earlier look, too. The distribution of the means that exceeded
/// no limit is integrated from look to look (P. Armitage, C. K. McPherson and B. C. Rowe, "Repeated
/// significance tests on accumulating data", JRSS A 132(2), 1969; the shares: K. K. G. Lan and D.
/// L. DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70(3), 1983). All
/// pairs are assumed to be equally precise. The errors also serve Student's t (C. Jennison and B.
/// W. Turnbull, Group Sequential Methods, Chapman and Hall 2000, section 4.4).
[[nodiscard]] double error_of_look(int pairs, LookPlan plan, double error);

}  // namespace steptune
