// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/completion.hpp"
#include "tuner/cli/exit_code.hpp"
#include "tuner/cli/help_formatter.hpp"
#include "tuner/cli/man_page.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::UnorderedElementsAre;

class Options : public testing::Test {
 protected:
  Options()
      : console_(process_environment()), context_{console_, clock_, {}, "auto", false, false, {}} {
    add_all_commands(program_, context_);
  }

  [[nodiscard]] std::vector<const CLI::App*> apps() const {
    std::vector<const CLI::App*> result{&program_};
    for (const CLI::App* command : program_.get_subcommands([](const CLI::App*) { return true; })) {
      result.push_back(command);
    }
    return result;
  }

  Console console_;
  SystemClock clock_;
  CommandContext context_;
  CLI::App program_{"Steptune", "steptune"};
};

/// Two studies that have not started, and one with a name that no terminal can show.
class CompletionOfHistory : public Options {
 protected:
  CompletionOfHistory() {
    History history = must(History::open_for_writing(database_, clock_));
    const Json document = Json::parse(R"json({
      "name": "nightly", "command": ["train", "{workers}", "{precision}", "{batch_size}"],
      "parameters": {"workers": {"type": "int", "low": 0, "high": 8},
                     "precision": {"type": "categorical", "choices": ["fp32", "bf16"]},
                     "batch_size": {"type": "ordinal", "choices": [16, 32]}},
      "baseline": {"workers": 0, "precision": "fp32", "batch_size": 16},
      "objectives": ["time", "val-loss"],
      "runner": {"type": "replay", "seconds_per_sample": "0.001 + workers"}
    })json");
    const StudySpec spec = must(study_from_json(document, "/studies/study.json",
                                                {{"cpus", 4}, {"gpus", 0}, {"memory_gb", 16}}));
    for (const char* name : {"bad\x1b[31mname", "weekly", "nightly"})
      must(history.create_or_continue_study(name, "fingerprint", spec.document, 1));
  }

  [[nodiscard]] std::vector<std::string> words_of(const std::vector<std::string>& typed) const {
    std::vector<std::string> words;
    for (const Candidate& each : completions(program_, typed, database_))
      words.push_back(each.word);
    return words;
  }

  DatabaseFolder folder_;
  std::filesystem::path database_ = folder_.path() / "history.db";
};

TEST_F(CompletionOfHistory, KnowsStudies) {
  EXPECT_THAT(words_of({"retune", "--from", ""}), UnorderedElementsAre("nightly", "weekly"));
  EXPECT_THAT(words_of({"retune", "study.json", "--from=ni"}), ElementsAre("--from=nightly"));
  EXPECT_THAT(words_of({"import", "--from", ""}), IsEmpty())
      << "this option names a study in the file of another program";
  EXPECT_THAT(words_of({"show", ""}), UnorderedElementsAre("nightly", "weekly"));
}

TEST_F(CompletionOfHistory, KnowsObjectivesAndParameters) {
  EXPECT_THAT(words_of({"best", "weekly", "--objective", ""}), ElementsAre("time", "val-loss"));
  EXPECT_THAT(words_of({"best", "--map", ""}),
              UnorderedElementsAre("workers=", "precision=", "batch_size="));
  EXPECT_THAT(words_of({"best", "--map=pre"}), ElementsAre("--map=precision="));
  EXPECT_THAT(words_of({"scaling", "--over", ""}), UnorderedElementsAre("workers", "batch_size"))
      << "only parameters with numbers";
  EXPECT_THAT(words_of({"best", "absent", "--objective", ""}), IsEmpty());
}

TEST_F(CompletionOfHistory, HasNoValueForAKeyThatBashSplitsOff) {
  EXPECT_THAT(words_of({"best", "--map", "workers", "="}), IsEmpty());
  EXPECT_THAT(words_of({"best", "--map", "workers", "=", "w"}), IsEmpty());
  EXPECT_THAT(words_of({"best", "--map", "workers", "=", "w", "--map", "pre"}),
              ElementsAre("precision="));
  EXPECT_THAT(words_of({"best", "--map", "workers", "=", "w", "night"}), ElementsAre("nightly"));
}

TEST_F(CompletionOfHistory, CompletesTheLastNameOfAnExpression) {
  const auto where = [this](const std::string& typed) {
    return words_of({"leaderboard", "weekly", "--where", typed});
  };
  EXPECT_THAT(where("wor"), ElementsAre("workers"));
  EXPECT_THAT(where("workers>2&&!(pre"), ElementsAre("workers>2&&!(precision"));
  EXPECT_THAT(where("precision == 'bf16' and wor"), ElementsAre("precision == 'bf16' and workers"));
  EXPECT_THAT(where("\"workers > 2 and pre"), ElementsAre("workers > 2 and precision"))
      << "the word begins with a quote of the shell";
  EXPECT_THAT(where("precision == 't"), IsEmpty()) << "inside a quoted text";
  EXPECT_THAT(where("val"), IsEmpty()) << "val-loss cannot be a name in an expression";
  EXPECT_THAT(where(""), IsSupersetOf({"trial", "time", "status", "workers"}));
}

TEST_F(Options, EveryOptionHasHelpAndItsDefaultUnlessItIsAFlag) {
  int seen = 0;
  for (const CLI::App* app : apps()) {
    for (const CLI::Option* option : app->get_options()) {
      ++seen;
      const std::string& help = option->get_description();
      EXPECT_GE(help.size(), 10U) << app->get_name() << " " << option->get_name();
      if (option->get_required() || option->get_positional()) continue;
      const bool is_flag = option->get_items_expected_max() == 0;
      EXPECT_EQ(help.find("[default: ") == std::string::npos, is_flag)
          << app->get_name() << " " << option->get_name() << ": " << help;
    }
  }
  EXPECT_GT(seen, 30);
}

TEST_F(Options, EveryCommandHasADescriptionAndAnExampleOfItself) {
  for (const CLI::App* app : apps()) {
    if (app->get_parent() == nullptr) continue;
    EXPECT_GE(app->get_description().size(), 20U) << app->get_name();
    EXPECT_NE(app->get_footer().find("steptune " + app->get_name()), std::string::npos)
        << app->get_name();
  }
}

TEST_F(Options, UsageHasOnlyRequiredOptions) {
  std::map<std::string, std::string> usages;
  for (const CLI::App* command : apps()) {
    const std::string name = command->get_name();
    usages[name] = HelpFormatter().make_usage(command, name);
  }
  EXPECT_EQ(usages["init"], "Usage: init [OPTIONS] [-- COMMAND]\n");
  EXPECT_EQ(usages["run"], "Usage: run [OPTIONS] [STUDY | -- COMMAND]\n");
  EXPECT_EQ(usages["exec"], "Usage: exec [OPTIONS] [STUDY] [-- COMMAND]\n");
  EXPECT_EQ(usages["follow"], "Usage: follow [OPTIONS] STUDY [LOG | -- COMMAND]\n");
  EXPECT_EQ(usages["report"], "Usage: report [STUDY] --html FILE [OPTIONS]\n");
  EXPECT_EQ(usages["leaderboard"], "Usage: leaderboard [STUDY] [OPTIONS]\n");
}

TEST_F(Options, EveryCommandThatReadsHasJson) {
  for (const CLI::App* app : apps()) {
    // These commands print a script, only JSON, or help, write files, or become another program.
    const std::string name = app->get_name();
    if (app->get_parent() == nullptr || name == "completion" || name == "schema") continue;
    if (name == "help" || name == "mcp") continue;
    if (name == "exec" || name == "report" || name == "export") continue;
    EXPECT_NE(app->get_option_no_throw("--json"), nullptr) << app->get_name();
  }
}

TEST_F(Options, CompletionKnowsEveryCommandAndOption) {
  const auto completes = [this](const std::vector<std::string>& words, const std::string& word) {
    return std::ranges::any_of(completions(program_, words, "no/such.db"),
                               [&](const Candidate& each) { return each.word == word; });
  };
  for (const CLI::App* app : apps()) {
    if (app->get_parent() == nullptr) continue;
    EXPECT_TRUE(completes({app->get_name().substr(0, 2)}, app->get_name())) << app->get_name();
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        EXPECT_TRUE(completes({app->get_name(), "--"}, "--" + name)) << name;
      }
    }
  }
}

TEST_F(Options, CompletionKnowsChoicesAndOptionsWithValues) {
  const auto words_of = [this](const std::vector<std::string>& words) {
    std::vector<std::string> result;
    for (const Candidate& each : completions(program_, words, "no/such.db"))
      result.push_back(each.word);
    return result;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of({"completion", ""}), (Words{"bash", "zsh", "fish"}));
  EXPECT_EQ(words_of({"help", "leader"}), Words{"leaderboard"});
  EXPECT_EQ(words_of({"help", ""}).size(), apps().size() - 1);
  EXPECT_EQ(words_of({"help", "run", ""}), Words{});
  EXPECT_EQ(words_of({"leaderboard", "--color", "a"}), (Words{"auto", "always"}));
  EXPECT_EQ(words_of({"leaderboard", "--color=a"}), (Words{"--color=auto", "--color=always"}));
  EXPECT_EQ(words_of({"leaderboard", "--color", "=", "a"}), (Words{"auto", "always"}));
  EXPECT_EQ(words_of({"leaderboard", "--color", "="}).size(), 3U);
  EXPECT_EQ(words_of({"leaderboard", "--db=x", "--li"}), Words{"--limit"});
  EXPECT_EQ(words_of({"leaderboard", "--li"}), Words{"--limit"});
  // The shell completes values of options, files and the user's commands.
  EXPECT_EQ(words_of({"leaderboard", "--db", "--li"}), Words{});
  EXPECT_EQ(words_of({"leaderboard", ""}), Words{});
  EXPECT_EQ(words_of({"exec", "study", "--", "python3", "--li"}), Words{});
  EXPECT_EQ(words_of({"no-such-command", ""}), Words{});
  EXPECT_EQ(words_of({"--ver"}), Words{"--version"});
  EXPECT_GT(words_of({""}).size(), 10U);
  EXPECT_EQ(words_of({}), words_of({""}));
}

TEST_F(Options, EveryCommandHasAManPageOfItsOptions) {
  const std::vector<ManPage> pages = man_pages(program_, "1.2.3");
  for (const CLI::App* app : apps()) {
    const std::string name =
        app->get_parent() == nullptr ? "steptune" : "steptune-" + app->get_name();
    const auto page = std::ranges::find(pages, name, &ManPage::name);
    ASSERT_NE(page, pages.end()) << name;
    std::string plain = std::regex_replace(page->text, std::regex(R"(\\f[BIR])"), "");
    plain = std::regex_replace(plain, std::regex(R"(\\-)"), "-");
    EXPECT_NE(plain.find("\n.SH NAME\n" + name + " - " + app->get_description() + "\n"),
              std::string::npos)
        << plain;
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& long_name : option->get_lnames()) {
        EXPECT_NE(plain.find("--" + long_name), std::string::npos) << name << " " << long_name;
      }
    }
  }
}

TEST_F(Options, PoolsAndPricesTakeKindsOfRunnersThatRentMachines) {
  for (const char* command : {"pools", "prices"}) {
    EXPECT_NO_THROW(program_.parse(std::string(command) + " --runner sagemaker")) << command;
    EXPECT_THROW(program_.parse(std::string(command) + " --runner local"), CLI::ValidationError)
        << command;
  }
}

TEST(ExitCodes, AreStable) {
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::usage)), 2);
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::not_found)), 1);
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::unavailable)), 1);
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::internal)), 1);
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::conflict)), 4);
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::store)), 4);
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::runner)), 5);
  EXPECT_EQ(static_cast<int>(ExitCode::no_feasible), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::interrupted), 130);
  EXPECT_EQ(static_cast<int>(ExitCode::terminated), 143);
}

}  // namespace
}  // namespace steptune
