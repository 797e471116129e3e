// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/program_look.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "common/machine/system_files.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/hook_reach.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/drafted_reading.hpp"
#include "tuner/init/program_option.hpp"
#include "tuner/init/repeated_line.hpp"
#include "tuner/study/limits.hpp"

namespace steptune {
namespace {

/// Size of the GNU C library's buffer for a standard output that is a pipe (st_blksize).
constexpr std::uintmax_t k_pipe_buffer_bytes = 4096;

/// Least number of lines of progress with which a format fits an output.
constexpr std::size_t k_least_progress = 2;

/// A line that was repeated this often belongs to a loop.
constexpr std::size_t k_repeats = 10;
/// If a line repeats for this many seconds, no known format is expected to read the output. The
/// shorter time is for a line that names a loss: then the program trains. Otherwise, the program
/// may still prepare data. A hook reports its first step after the first losses.
constexpr double k_short_wait_s = 5.0;
constexpr double k_long_wait_s = 30.0;
/// Lines that repeat for a shorter time came all at once: they describe the model or the data.
constexpr double k_least_span_s = 1.0;

/// Returns the start of a file that is being written; empty if there is none.
std::string begin_of(const std::filesystem::path& file) {
  return read_system_file(file, k_most_text_bytes).value_or("");
}

std::uintmax_t bytes_of(const std::filesystem::path& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  return error ? 0 : bytes;
}

bool is_python(const std::vector<std::string>& argv) {
  return std::ranges::any_of(
      argv, [](const std::string& word) { return runs_modules(word) || word.ends_with(".py"); });
}

SurveyOptions survey_options(const LookOptions& options) {
  SurveyOptions survey;
  survey.argv = options.argv;
  survey.folder = options.folder;
  survey.log_path = options.log_path;
  survey.with_hook = false;
  survey.terminal = options.terminal;
  survey.standard_input = options.standard_input;
  return survey;
}

std::string ending_of(const Survey& survey) {
  if (!survey.ended || survey.ended->kind == OutcomeKind::completed) return "";
  return printable_line(survey.ended->detail, 200);
}

}  // namespace

OutputWatch::OutputWatch(std::filesystem::path log, const Clock& clock, double watch_s)
    : clock_(clock),
      watch_s_(watch_s),
      started_s_(clock.now_s()),
      printed_s_(started_s_),
      log_(std::move(log)) {}

void OutputWatch::poll() {
  // Look for libraries repeatedly: they may be loaded late, and cannot be found after the program's
  // end.
  if (!runtimes_.has_openmp) {
    auto found = runtimes_below(::getpid(), std::max(1.0, clock_.now_s() - started_s_));
    const bool is_better =
        found.has_threads() || (found.has_glibc_malloc && !runtimes_.has_threads());
    if (is_better) runtimes_ = std::move(found);
  }
  notice_output();
  in_blocks_ = in_blocks_ && seen_bytes_ % k_pipe_buffer_bytes == 0;
}

void OutputWatch::notice_output() {
  const std::uintmax_t bytes = bytes_of(log_);
  if (bytes != seen_bytes_) printed_s_ = clock_.now_s();
  seen_bytes_ = bytes;
}

std::size_t OutputWatch::progress() {
  const std::uintmax_t bytes = bytes_of(log_);
  if (bytes != read_bytes_) {
    read_bytes_ = bytes;
    const std::string output = begin_of(log_);
    const auto found = best_reading(formats_, output);
    progress_ = found ? found->progress : 0;
    repeated_.reset();
    if (progress_ < k_least_progress) repeated_ = repeated_line(output);
  }
  return progress_;
}

bool OutputWatch::has_seen_enough() {
  if (!progress_s_ && progress() >= k_least_progress) progress_s_ = clock_.now_s();
  return progress_s_ && clock_.now_s() >= *progress_s_ + 2.0 * watch_s_;
}

bool OutputWatch::is_not_understood(HookProgress hook) {
  notice_output();
  static_cast<void>(progress());
  const std::optional<RepeatedLine>& line = repeated_;
  if (!line || hook == HookProgress::reports_steps) return false;
  if (!repeats_s_) repeats_s_ = clock_.now_s();
  if (line->line != latest_repeated_) repeated_s_ = clock_.now_s();
  latest_repeated_ = line->line;
  if (came_at_once()) return false;
  if (line->count < k_repeats) return false;
  const bool may_train = line->has_loss || !line->metrics.empty();
  if (!may_train || (hook == HookProgress::imported && !line->has_loss)) return false;
  const bool is_sure = line->has_loss && hook != HookProgress::imported;
  const double wait_s = is_sure ? k_short_wait_s : k_long_wait_s;
  return clock_.now_s() - *repeats_s_ >= wait_s;
}

bool OutputWatch::came_at_once() const {
  return repeats_s_ && repeated_s_ - *repeats_s_ < k_least_span_s;
}

OutputLook OutputWatch::result(Survey seen) {
  static_cast<void>(progress());
  OutputLook look;
  look.runtimes = runtimes_;
  look.activity = seen.activity;
  if (seen.activity) look.runtimes.computing_threads = seen.activity->computing_threads;
  look.in_blocks = in_blocks_ && bytes_of(log_) > 0;
  const std::string output = begin_of(log_);
  look.reading = best_reading(formats_, output);
  if (look.reading) look.reading = with_drafted_losses(*std::move(look.reading), output);
  if (progress_s_) look.progress_s = clock_.now_s() - *progress_s_;
  const bool repeats = seen.ended || !came_at_once();
  const auto line = repeats ? repeated_ : std::nullopt;
  // A line repeats, and at most one line was read as progress, perhaps by chance.
  if (line && line->count >= k_repeats) look.reading.reset();
  const auto drafted = line ? drafted_reading(*line, output) : std::nullopt;
  if (seen.ended) look.lacked_stream = seen.ended->lacked_stream;
  const bool hook_works = seen.log.patched() && !seen.log.disabled() && seen.first;
  if (!look.reading && !hook_works) {
    const std::string why = ending_of(seen);
    if (why.empty()) {
      const double now_s = clock_.now_s();
      look.unread = UnreadOutput{.is_empty = bytes_of(log_) == 0,
                                 .has_ended = seen.ended.has_value(),
                                 .watched_s = now_s - started_s_,
                                 .silent_s = now_s - printed_s_,
                                 .repeated = line,
                                 .log = log_};
      if (drafted) {
        look.reading = drafted;
        if (repeats_s_) look.progress_s = now_s - *repeats_s_;
      } else {
        look.ending = unread_note(*look.unread);
      }
    } else {
      look.ending = fmt::format("the program failed: {}", why);
      look.failure = seen.ended->detail;
    }
  }
  if (hook_works) look.survey = std::move(seen);
  return look;
}

Result<HelpAnswer> ask_help(const LookOptions& options, const Clock& clock,
                            const std::function<bool()>& interrupted) {
  SurveyOptions survey = survey_options(options);
  survey.argv = with_options(options.argv, {"--help"});
  survey.longest_start_s = options.longest_help_s;
  // If the hook reports steps, the program trains and prints no help. End it, at once if its output
  // is known.
  survey.watch_s = options.output_is_known ? 0.0 : 2.0 * options.watch_s;
  survey.watch_steps = 0.0;
  survey.environment = {{"COLUMNS", "200"}, {"TERM", "dumb"}, {"NO_COLOR", "1"}, {"PAGER", "cat"}};
  OutputWatch watch(options.log_path, clock, options.watch_s);
  bool trains = false;
  survey.seen_enough = [&](HookProgress hook) {
    watch.poll();
    trains = watch.progress() >= 3;  // a help text rarely has three lines that look like progress
    if (trains) return options.output_is_known || watch.has_seen_enough();
    if (watch.is_not_understood(hook)) {
      trains = true;
      return true;
    }
    return bytes_of(options.log_path) >= k_most_text_bytes;
  };
  const auto seen = survey_program(survey, clock, interrupted);
  if (!seen) return tl::unexpected(seen.error());
  if (seen->ended && seen->ended->kind == OutcomeKind::not_started) {
    return fail(ErrorKind::usage, seen->ended->detail);
  }
  HelpAnswer answer;
  if (seen->ended) answer.lacked_stream = seen->ended->lacked_stream;
  if (seen->first || trains) {
    answer.ending = "it began to train, and was ended";
    if (!options.output_is_known) answer.look = watch.result(*seen);
  } else if (!seen->ended) {
    answer.ending =
        bytes_of(options.log_path) >= k_most_text_bytes
            ? "it printed more than 1 MiB, and was ended"
            : fmt::format("it did not end within {:.2g} s, and was ended", options.longest_help_s);
  }
  if (!answer.ending.empty()) return answer;
  answer.help = parse_help(begin_of(options.log_path));
  const bool ended_well = seen->ended->kind == OutcomeKind::completed;
  // gflags exits with 1 after its help, and so do programs that print their options after an
  // invalid option. A program that refuses --help may print only a usage line, which is no help.
  const bool is_help =
      answer.help.style == "gflags" || answer.help.style == "absl" || answer.help.is_list();
  if (!ended_well && !is_help) {
    answer.help = {};
    answer.ending = fmt::format("it failed: {}", ending_of(*seen));
  } else if (!answer.help.understood()) {
    answer.ending = "it printed no list of options";
  }
  return answer;
}

Result<OutputLook> look_at_output(const LookOptions& options, const Clock& clock,
                                  const std::function<bool()>& interrupted) {
  OutputWatch watch(options.log_path, clock, options.watch_s);
  SurveyOptions survey = survey_options(options);
  survey.with_hook =
      is_python(options.argv) && !why_out_of_reach(options.argv, options.folder).has_value();
  survey.longest_start_s = options.longest_start_s;
  survey.longest_unheard_s = options.longest_start_s;  // the program itself may still print
  survey.watch_s = options.watch_s;
  survey.watch_steps = 10.0;
  survey.longest_watch_s = 5.0 * options.watch_s;
  // A hook's reports end the survey by themselves. Here the program's own output decides, too.
  survey.seen_enough = [&](HookProgress hook) {
    watch.poll();
    return watch.has_seen_enough() || watch.is_not_understood(hook);
  };
  auto seen = survey_program(survey, clock, interrupted);
  if (!seen) return tl::unexpected(seen.error());
  return watch.result(*std::move(seen));
}

}  // namespace steptune
