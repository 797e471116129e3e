// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace steptune {

/// Returns the one-sided error of the next test of a campaign, in which edits are tested one after
/// the other. At most the share `k_error_95` of the kept edits may be no improvement. `kept` has
/// the verdict of each earlier test, in order: true if the edit was faster.
///
/// The rule is LORD++ of A. Ramdas, F. Yang, M. J. Wainwright and M. I. Jordan, "Online control of
/// the false discovery rate with decaying memory", NeurIPS 2017, after A. Javanmard and
/// A. Montanari, "Online rules for control of false discovery rate and false discovery exceedance",
/// Annals of Statistics 46(2), 2018. The campaign begins with half of `k_error_95`. The first kept
/// edit adds the other half, each further one adds `k_error_95`. Each part is spent on the tests
/// after it in decreasing portions, whose sum is that part.
///
/// If each test keeps an edit that is no improvement with at most its error, whatever came before:
/// - The expected number of such edits is at most `k_error_95` times the expected number of kept
///   edits (theorem 2 (a); a campaign without a kept edit counts as 1). This holds at any length.
/// - If no edit is an improvement, at most half of `k_error_95` of the campaigns keep one.
///
/// The result is never more than `k_one_sided_error`, so a kept edit's 95 % interval excludes 1.
[[nodiscard]] double campaign_error(const std::vector<bool>& kept);

}  // namespace steptune
