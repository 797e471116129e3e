// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace steptune {

/// Returns the one-sided error of a campaign's next test: the probability with which it may keep an
/// edit that is no improvement. A campaign tests edits one after the other and keeps faster ones.
/// `kept` has the verdict of each earlier test, in order: true if the edit was faster.
///
/// The rule is LORD++ of A. Ramdas, F. Yang, M. J. Wainwright and M. I. Jordan, "Online control of
/// the false discovery rate with decaying memory", NeurIPS 2017, after A. Javanmard and A.
/// Montanari, "Online rules for control of false discovery rate and false discovery exceedance",
/// Annals of Statistics 46(2), 2018. The campaign begins with half of `k_error_95`. The first kept
/// edit adds the other half. Each further kept edit adds `k_error_95`. Each of these amounts is
/// divided among the tests after it, in decreasing portions.
///
/// The rule guarantees the following if each test respects its error, whatever the earlier
/// verdicts:
/// - After any number of tests, the expected number of kept edits without improvement is limited.
///   It is at most `k_error_95` times the expected number of all kept edits (theorem 2 (a)). A
///   campaign without a kept edit counts as one kept edit.
/// - If no edit is an improvement, at most half of `k_error_95` of the campaigns keep one.
///
/// The result is never more than `k_one_sided_error`, so a kept edit's 95 % interval excludes 1.
[[nodiscard]] double campaign_error(const std::vector<bool>& kept);

}  // namespace steptune
