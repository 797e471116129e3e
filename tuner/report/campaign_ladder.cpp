// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/campaign_ladder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/short_hash.hpp"
#include "common/text.hpp"
#include "tuner/report/outcome.hpp"
#include "tuner/report/recommendation.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/report/text_table.hpp"
#include "tuner/verdict/campaign_error.hpp"
#include "tuner/verdict/speed_up_record.hpp"

namespace steptune {
namespace {

const Objective k_campaign_time{"time", Direction::minimize};
constexpr const char* k_error_doc =
    "Error of the claim that it is faster; 0 if it was not compared";

/// Returns the campaign's name in a stored document; empty if it has none.
std::string campaign_in(const Json& document) {
  const auto campaign = document.find("campaign");
  if (campaign == document.end() || !campaign->is_object()) return {};
  return text_at(*campaign, "name");
}

CampaignVersion version_of(const StudySpec& study, std::size_t index) {
  CampaignVersion version{judged_words(study)[index], {}};
  if (index < study.campaign->commits.size()) {
    version.commit = study.campaign->commits[index];
    version.command = without_tree(std::move(version.command));
  }
  return version;
}

/// Returns the edit that a study judged. `study` must belong to a campaign.
Result<CampaignEdit> edit_of(const History& history, const StudyRecord& record,
                             const StudySpec& study) {
  const auto trials = history.trials(record.id, Milestones::leave);
  if (!trials) return tl::unexpected(trials.error());
  const auto recommendation = stored_recommendation(record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  const JudgedCommands judged = judged_commands(study, *trials, *recommendation, record.elapsed_s);
  CampaignEdit edit;
  edit.study = record.name;
  edit.champion = version_of(study, 0);
  edit.challenger = version_of(study, 1);
  edit.build = study.campaign->build;
  edit.input = study.standard_input.string();
  const bool was_compared = std::ranges::any_of(
      *trials, [](const TrialRecord& trial) { return is_confirmation(trial.purpose); });
  if (was_compared) edit.error = study.measure.confirm_error;
  if (judged.others.empty()) return edit;
  const bool champion_failed = judged.first.verdict == CommandVerdict::failed;
  const JudgedCommand& command = champion_failed ? judged.first : judged.others.front();
  edit.verdict = *command.verdict;
  edit.speed_up = command.speed_up;
  edit.why = command.why;
  // `judge` was stopped or still runs, so the edit is not kept, even if its runs so far were
  // faster.
  if (record.status != StudyStatus::finished && edit.verdict != CommandVerdict::failed) {
    edit.verdict = CommandVerdict::undecided;
    edit.why = "the comparison was not finished";
  }
  return edit;
}

std::vector<bool> tests_of(const CampaignLadder& ladder) {
  std::vector<bool> kept;
  for (const CampaignEdit& edit : ladder.edits) {
    if (edit.error > 0.0) kept.push_back(edit.is_kept());
  }
  return kept;
}

std::string ratio_cell(const SpeedUp& speed_up) {
  return std::isfinite(speed_up.ratio) ? fmt::format("{:.3f}", speed_up.ratio) : "";
}

std::string interval_cell(const SpeedUp& speed_up) {
  if (!std::isfinite(speed_up.low)) return "";
  return fmt::format("{:.3f}-{:.3f}", speed_up.low, speed_up.high);
}

std::string table_text(const CampaignLadder& ladder) {
  TextTable table({{"edit", Align::right},
                   {"verdict"},
                   {"ratio", Align::right},
                   {"95 % interval"},
                   {"kept"},
                   {"error", Align::right},
                   {"challenger"}});
  for (std::size_t i = 0; i < ladder.edits.size(); ++i) {
    const CampaignEdit& edit = ladder.edits[i];
    table.add_row({fmt::format("{}", i + 1), to_text(edit.verdict), ratio_cell(edit.speed_up),
                   interval_cell(edit.speed_up), edit.is_kept() ? "kept" : "",
                   edit.error > 0.0 ? error_text(edit.error) : "", to_text(edit.challenger)});
  }
  return table.text();
}

std::string gain_sentence(const CampaignLadder& ladder) {
  if (kept_edits(ladder) == 0) return "none: no edit was kept";
  return fmt::format(
      "{} as the first version: product of the kept ratios, a little too high because they were "
      "selected",
      comparison_text(selected_gain(ladder), k_campaign_time));
}

std::string measured_text(const CampaignEdit& measured) {
  const std::string evidence = interval_text(measured.speed_up, k_campaign_time);
  std::string text = fmt::format("{}: {}", to_text(measured.challenger), to_text(measured.verdict));
  if (!std::isfinite(measured.speed_up.ratio)) return text;
  text += fmt::format(", {} as {}", comparison_text(measured.speed_up.ratio, k_campaign_time),
                      to_text(measured.champion));
  return evidence.empty() ? text : fmt::format("{} ({})", text, evidence);
}

}  // namespace

std::string to_text(const CampaignVersion& version) {
  if (!version.commit.empty()) return short_hash(version.commit);
  return printable_line(shell_quoted(version.command));
}

Result<CampaignLadder> read_campaign(const History& history, const std::string& name) {
  const auto records = history.studies();
  if (!records) return tl::unexpected(records.error());
  CampaignLadder ladder;
  ladder.name = name;
  for (const StudyRecord& record : *records) {
    if (campaign_in(record.document) != name) continue;
    const auto study = stored_spec(record);
    if (!study) return tl::unexpected(study.error());
    auto edit = edit_of(history, record, *study);
    if (!edit) return tl::unexpected(edit.error());
    if (!study->campaign->measures_gain) {
      ladder.edits.push_back(*std::move(edit));
    } else if (record.status == StudyStatus::finished || edit->verdict == CommandVerdict::failed) {
      ladder.measured = *std::move(edit);
    }
  }
  return ladder;
}

Result<std::vector<std::string>> campaign_names(const History& history) {
  const auto records = history.studies();
  if (!records) return tl::unexpected(records.error());
  std::vector<std::string> names;
  for (const StudyRecord& record : *records) {
    std::string name = campaign_in(record.document);
    const bool is_new = !name.empty() && std::ranges::find(names, name) == names.end();
    if (is_new) names.push_back(std::move(name));
  }
  return names;
}

double next_error(const CampaignLadder& ladder) {
  return campaign_error(tests_of(ladder));
}

std::size_t kept_edits(const CampaignLadder& ladder) {
  return static_cast<std::size_t>(std::ranges::count_if(ladder.edits, &CampaignEdit::is_kept));
}

double selected_gain(const CampaignLadder& ladder) {
  double gain = 1.0;
  for (const CampaignEdit& edit : ladder.edits) {
    if (edit.is_kept()) gain *= edit.speed_up.ratio;
  }
  return gain;
}

const CampaignVersion& champion_of(const CampaignLadder& ladder) {
  const CampaignVersion* champion = &ladder.edits.front().champion;
  for (const CampaignEdit& edit : ladder.edits) {
    if (edit.is_kept()) champion = &edit.challenger;
  }
  return *champion;
}

std::string champion_warning(const CampaignLadder& ladder,
                             const std::vector<std::string>& commits) {
  if (ladder.edits.empty() || commits.empty()) return {};
  const CampaignVersion& champion = champion_of(ladder);
  if (champion.commit.empty() || champion.commit == commits.front()) return {};
  return fmt::format(
      "A is {}, but the campaign's champion is {}: an edit is an improvement only if it is faster "
      "than the champion",
      short_hash(commits.front()), to_text(champion));
}

std::string error_text(double error) {
  return fmt::format("{:.2g} %", 100.0 * error);
}

std::string campaign_text(const CampaignLadder& ladder) {
  std::string text =
      fmt::format("campaign {}: {} edit{}, {} kept\n", ladder.name, ladder.edits.size(),
                  ladder.edits.size() == 1 ? "" : "s", kept_edits(ladder));
  text += table_text(ladder);
  text += fmt::format("gain      {}\n", gain_sentence(ladder));
  if (ladder.measured) text += fmt::format("measured  {}\n", measured_text(*ladder.measured));
  text += fmt::format("champion  {}\n", to_text(champion_of(ladder)));
  text += fmt::format(
      "next      if the next edit is no improvement, it is kept with a chance of at most {}\n",
      error_text(next_error(ladder)));
  return text;
}

std::string edit_text(const CampaignLadder& ladder) {
  const CampaignEdit& edit = ladder.edits.back();
  return fmt::format("campaign {}: edit {}, {}, {} kept\n", ladder.name, ladder.edits.size(),
                     edit.error > 0.0 ? "error at most " + error_text(edit.error)
                                      : "not compared, so it uses no part of the allowed error",
                     kept_edits(ladder));
}

template <>
const JsonRecord<CampaignVersion>& json_record<CampaignVersion>() {
  using V = CampaignVersion;
  static const auto record =
      JsonRecord<V>("campaign_version")
          .computed(
              "command", [](const V& version) { return shell_quoted(version.command); },
              "Words for a shell")
          .text_or_null("commit", &V::commit, "Commit of the tree in which the command ran");
  return record;
}

template <>
const JsonRecord<CampaignEdit>& json_record<CampaignEdit>() {
  using E = CampaignEdit;
  static const auto record =
      JsonRecord<E>("campaign_edit")
          .field("study", &E::study, "Name of the study that judged the edit")
          .field("champion", &E::champion)
          .field("challenger", &E::challenger)
          .field("verdict", &E::verdict)
          .computed("kept", &E::is_kept, "True if the verdict is faster")
          .field("speed_up", &E::speed_up)
          .text_or_null("why", &E::why, "Why the comparison stopped, or why it failed")
          .field("error", &E::error, k_error_doc);
  return record;
}

template <>
const JsonRecord<CampaignLadder>& json_record<CampaignLadder>() {
  using L = CampaignLadder;
  static const auto record =
      JsonRecord<L>("campaign_ladder")
          .field("name", &L::name)
          .computed("kept", kept_edits, "Number of kept edits")
          .computed("gain", selected_gain,
                    "Product of the kept ratios; a little too high, because they were selected")
          .computed("champion", champion_of)
          .field("measured", &L::measured, "Latest comparison of a champion with the first version")
          .computed("next_error", next_error, "Error of the next edit")
          .field("edits", &L::edits);
  return record;
}

const JsonRecord<CampaignLadder>& last_edit_record() {
  using L = CampaignLadder;
  static const auto record =
      JsonRecord<L>()
          .field("name", &L::name)
          .computed(
              "edit", [](const L& ladder) { return ladder.edits.size(); },
              "Number of this edit: 1, 2, ...")
          .computed(
              "error", [](const L& ladder) { return ladder.edits.back().error; }, k_error_doc)
          .computed("kept", kept_edits, "Number of kept edits, this one included")
          .computed("next_error", next_error, "Error of the next edit");
  return record;
}

}  // namespace steptune
