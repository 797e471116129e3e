// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json_record.hpp"
#include "tuner/history/history.hpp"
#include "tuner/report/judged_commands.hpp"

namespace steptune {

/// A version of the program in a campaign.
struct CampaignVersion {
  std::vector<std::string> command;
  /// Commit of the working tree in which the command runs; empty: it runs in the current folder.
  std::string commit;
};
/// Returns the commit's first 12 characters, or the command as words for a shell.
[[nodiscard]] std::string to_text(const CampaignVersion& version);

/// An edit of a campaign: its comparison with the champion, and the verdict.
struct CampaignEdit {
  std::string study;  ///< name of the study that judged it
  CampaignVersion champion;
  CampaignVersion challenger;
  std::string build;  ///< shell command that built each commit; empty: none
  std::string input;  ///< file for standard input; empty: none
  CommandVerdict verdict = CommandVerdict::undecided;
  SpeedUp speed_up;  ///< speed-up of the challenger over the champion
  std::string why;   ///< why the comparison stopped, or why it failed, for people
  /// One-sided error of the claim that the challenger is faster. 0 if no fresh runs compared the
  /// two versions.
  double error = 0.0;

  [[nodiscard]] bool is_kept() const { return verdict == CommandVerdict::faster; }
};

template <>
const JsonRecord<CampaignVersion>& json_record<CampaignVersion>();
template <>
const JsonRecord<CampaignEdit>& json_record<CampaignEdit>();

/// Edits of a campaign in the order in which they were judged.
struct CampaignLadder {
  std::string name;
  std::vector<CampaignEdit> edits;
  /// Latest comparison of a champion with the first version (`campaign --measure`). Its
  /// `challenger` is that champion, its `champion` the first version.
  std::optional<CampaignEdit> measured;
};
/// Fields of a campaign. The ladder must have at least one edit.
template <>
const JsonRecord<CampaignLadder>& json_record<CampaignLadder>();
/// Returns the fields that `judge --campaign` shows: those about the last edit. The ladder must
/// have at least one edit.
[[nodiscard]] const JsonRecord<CampaignLadder>& last_edit_record();

/// Reads the campaign from its studies. If the history has none, the campaign has no edits. Fails
/// if the history or one of these studies cannot be read.
[[nodiscard]] Result<CampaignLadder> read_campaign(const History& history, const std::string& name);
/// Returns the names of the history's campaigns, in order of their first edits.
[[nodiscard]] Result<std::vector<std::string>> campaign_names(const History& history);

/// Returns the one-sided error for the next edit (`campaign_error`).
[[nodiscard]] double next_error(const CampaignLadder& ladder);
/// Returns the number of kept edits.
[[nodiscard]] std::size_t kept_edits(const CampaignLadder& ladder);
/// Returns the product of the kept edits' ratios; 1 if none was kept. The product is a little too
/// high, because edits are only kept if their measured ratio is high.
[[nodiscard]] double selected_gain(const CampaignLadder& ladder);
/// Returns the challenger of the last kept edit; the first version if no edit was kept. The ladder
/// must have at least one edit.
[[nodiscard]] const CampaignVersion& champion_of(const CampaignLadder& ladder);
/// Returns a warning if the next edit is compared with a commit that is not the champion; otherwise
/// an empty text. `commits` are the commits of A and of the edit; empty if both are commands.
[[nodiscard]] std::string champion_warning(const CampaignLadder& ladder,
                                           const std::vector<std::string>& commits);

/// Returns a table of the edits, then the lines `gain`, `measured`, `champion` and `next`. The
/// ladder must have at least one edit.
[[nodiscard]] std::string campaign_text(const CampaignLadder& ladder);

/// Returns a line about the last edit:
/// `campaign faster-loader: edit 4, error at most 0.31 %, 2 kept`.
[[nodiscard]] std::string edit_text(const CampaignLadder& ladder);

/// Returns an error as a percentage with two digits: `0.73 %`.
[[nodiscard]] std::string error_text(double error);

}  // namespace steptune
