// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/line_heading.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <re2/re2.h>

#include "common/text.hpp"

namespace steptune {
namespace {

struct Heading {
  const char* pattern;  ///< groups: epoch (may be empty), count, total (may be empty)
  bool counts_samples;
  double unit = 1.0;  ///< samples or steps that the count 1 stands for
};
// Matches an epoch such as `Epoch: [0/100]`, `epoch 3:`, `Epoch #3`, `Epoch[3 of 9]`, and the signs
// up to the next number.
#define STEPTUNE_EPOCH                                           \
  R"((?i)\bepochs?\b(?:\(train\))?[\s:#=]*[\[(]?\s*(\d{1,9})\b)" \
  R"((?:\s*(?:/|of)\s*\d{1,9}\b)?[\[\]()\s,:;|\-]*)"
#define STEPTUNE_STEP_WORD R"((?:steps?|iters?|iterations?|batch|mini-?batch|episodes?)\b[\s:#=]*)"
constexpr std::array<Heading, 17> k_headings{{
    // PyTorch's MNIST examples, which are often copied, count samples in the brackets. The example
    // in C++ pads the samples. Without padding, `[100/938]` are steps.
    {R"(Train Epoch:?\s*(\d{1,9})(?:/\d{1,9})?\s*\[\s*(\d{1,15})/\s*(\d{1,15}) \()", true},
    {R"(Train Epoch:?\s*(\d{1,9})\s*\[ +(\d{1,4})/(\d{5,15})\] Loss: \d)", true},
    // PyTorch's quickstart.
    {R"(()^loss: \d+\.\d{6}  \[ *(\d{1,15})/(\d{5,15})\])", true},
    {STEPTUNE_EPOCH R"((?:)" STEPTUNE_STEP_WORD R"()?[\[(]?\s*(\d{1,15})\s*/\s*(\d{1,15})\b)",
     false},
    // Also `Epoch[0] Batch [20-40]`: the range of a window ends with the count.
    {STEPTUNE_EPOCH STEPTUNE_STEP_WORD R"(\[\s*(?:\d{1,15}\s*-\s*)?(\d{1,15})()\s*[\],])", false},
    {R"(\[\s*(\d{1,9})/\d{1,9}\]\s*\[\s*(\d{1,15})/(\d{1,15})\])", false},
    {R"((?i)(?:^|\W)train:?\s+(\d{1,9})(?:\s*/\s*\d{1,9})?(?:\s*\(\s*\d{1,3}\s*%\))?)"
     R"(\s*[\[,]\s*(\d{1,15})\s*/\s*(\d{1,15})\b)",
     false},
    {R"(()(?i)\b(?:steps?|iters?|iterations?|batch|train(?:ing)?)(?:\(train\))?[\s:#=\]]*)"
     R"([\[(]\s*(\d{1,15})\s*/\s*(\d{1,15})\b)",
     false},
    {R"(\b(\d{1,9})epoch:train:\d{1,15}-(\d{1,15})()batch\b)", false},
    {R"(^\s*\[(\d{1,9}),\s+(\d{1,15})()\])", false},
    // PaddlePaddle calls an epoch a pass.
    {R"((?i)\bpass\s+(\d{1,9}),\s*(?:train\s?)?batch\s+(\d{1,15})()\b)", false},
    {R"((?i)^\s*()(?:steps?|iters?|iterations?|batch)\s*\[\s*(\d{1,15})()\s*\])", false},
    // VITS and programs that copy it end a list with the step and the learning rate.
    {R"((?:^|INFO:[\w.]*:)\s*()\[(?:-?\d+\.\d+,\s+)*(\d{1,15})(),\s+(?:0\.\d+|\d(?:\.\d+)?e-\d+)\]\s*$)",
     false},
    // `Process 100/1066(9.4%) average objf: -0.9`: any word before the position.
    {R"(()\b(\d{1,15})/(\d{1,15})\s?\(\s*\d{1,3}(?:\.\d+)?\s?%\).*(?i:loss|objf|objective|nll))",
     false},
    // Kaldi: `objective function for 'output' for minibatches 10-19 is -3.9`.
    {R"(()\bminibatches \d{1,15}-(\d{1,15})())", false},
    // Tesseract counts errors, iterations and samples.
    {R"(()\bAt iteration \d{1,15}/(\d{1,15})()/\d{1,15}\b)", false},
    // StyleGAN and EDM count thousands of images.
    {R"(^tick\s+\d+\s+()kimg\s+(\d{1,9}(?:\.\d{1,3})?)()\s)", true, 1000.0},
}};
#undef STEPTUNE_STEP_WORD
#undef STEPTUNE_EPOCH

std::optional<double> number(const re2::StringPiece& text) {
  return parse_finite({text.data(), text.size()});
}

/// True for `[4600/6034 images]`; `rest` follows the total.
bool names_samples(std::string_view rest) {
  static const re2::RE2 k_regex(R"((?i)^\s*(?:images|imgs|samples|examples|sequences|sentences)\b)",
                                re2::RE2::Quiet);
  return re2::RE2::PartialMatch(re2::StringPiece(rest.data(), rest.size()), k_regex);
}

}  // namespace

std::optional<LineHeading> line_heading(std::string_view line) {
  static const auto k_regexes = [] {
    std::array<std::unique_ptr<re2::RE2>, k_headings.size()> regexes;
    for (std::size_t i = 0; i < k_headings.size(); ++i)
      regexes[i] = std::make_unique<re2::RE2>(k_headings[i].pattern, re2::RE2::Quiet);
    return regexes;
  }();
  const re2::StringPiece text(line.data(), line.size());
  for (std::size_t i = 0; i < k_headings.size(); ++i) {
    re2::StringPiece epoch, done, total;
    if (!re2::RE2::PartialMatch(text, *k_regexes[i], &epoch, &done, &total)) continue;
    const Count count{k_headings[i].unit * number(done).value_or(0.0), number(total), number(epoch),
                      /*per_epoch=*/!epoch.empty()};
    if (count.total && count.value > *count.total) continue;
    bool counts_samples = k_headings[i].counts_samples;
    if (count.total) {
      const auto end = static_cast<std::size_t>(total.data() - line.data()) + total.size();
      counts_samples = counts_samples || names_samples(line.substr(end));
    }
    return LineHeading{count, counts_samples};
  }
  return std::nullopt;
}

std::optional<Count> leading_count(std::string_view line) {
  // Python's default log format begins with `INFO:root:`.
  static const re2::RE2 k_number(
      R"(^\s*(?:(?:DEBUG|INFO):[\w.]*:\s*)?(?:\[\s*\d{1,9}\]\s+(\d{1,15})\s*\||\[(\d{1,15})\])"
      R"(|(\d{1,15})\s*(?:\||:\s|\t|\(\s*\d{1,3}(?:\.\d+)?\s?%\)))\D*\d)",
      re2::RE2::Quiet);
  // A list of files and a layer of a model (`(3): Linear(64, 64)`) have no loss. A date is followed
  // by its year or by a time. A single digit such as `(0)` may be a rank. None of these is a count.
  static const re2::RE2 k_with_loss(
      R"(^\s*(?:\((\d{2,15})\)[^:]|#(\d{2,15})\b|)"
      R"([\[(]?\s*(\d{1,15})\s*/\s*(\d{1,15})\b(?:[^\d.\s/]|\s+[^\d\s])))"
      R"(.*(?i:loss|cost|nll))",
      re2::RE2::Quiet);
  const re2::StringPiece text(line.data(), line.size());
  std::array<re2::StringPiece, 3> forms;
  re2::StringPiece total;
  if (!re2::RE2::PartialMatch(text, k_with_loss, &forms[0], &forms[1], &forms[2], &total) &&
      !re2::RE2::PartialMatch(text, k_number, &forms[0], &forms[1], &forms[2])) {
    return std::nullopt;
  }
  const auto form =
      std::ranges::find_if(forms, [](const re2::StringPiece& piece) { return !piece.empty(); });
  if (form == forms.end()) return std::nullopt;
  const Count count{number(*form).value_or(0.0), number(total), {}, /*per_epoch=*/false};
  if (count.total && count.value > *count.total) return std::nullopt;
  return count;
}

std::string words_of_line(std::string_view line) {
  static const re2::RE2 k_regex(
      R"((?i)\b(?:\d[\d.,:]*(?:e[-+]?\d+)?\w*|nan|inf(?:inity)?)\b|[\s+-])", re2::RE2::Quiet);
  std::string words(line);
  re2::RE2::GlobalReplace(&words, k_regex, "");
  return words;
}

std::optional<double> epoch_in_brackets(std::string_view line) {
  static const re2::RE2 k_regex(R"((?i)(?:\b(best|last|max|per)\s+)?\bepoch:?\s*)"
                                R"(\[\s*(\d{1,9})(?:\s*(?:/|of)\s*\d{1,9})?\s*\])",
                                re2::RE2::Quiet);
  re2::StringPiece other, epoch;
  const re2::StringPiece text(line.data(), line.size());
  if (!re2::RE2::PartialMatch(text, k_regex, &other, &epoch) || !other.empty()) return std::nullopt;
  return number(epoch);
}

std::optional<double> percent_of_run(std::string_view line) {
  static const re2::RE2 k_regex(R"((?i)\bprogress\b[\s:=]*(\d{1,3}(?:\.\d+)?)\s?%)",
                                re2::RE2::Quiet);
  re2::StringPiece digits;
  if (!re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), k_regex, &digits)) {
    return std::nullopt;
  }
  const auto percent = number(digits);
  return percent && *percent <= 100.0 ? percent : std::nullopt;
}

}  // namespace steptune
