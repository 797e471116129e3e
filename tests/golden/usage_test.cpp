// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

TEST(Usage, WithoutArgumentsThereIsAShortHelpWithExamples) {
  const Sandbox sandbox;
  const Ended ended = sandbox.steptune({});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(
      difference(
          R"(Steptune finds the configuration that trains your model fastest, or cheapest, before the long run starts.

  steptune run -- python3 train.py    tune a PyTorch program unchanged
  steptune init -- ./train            write a study file for any program
  steptune run study.json             tune, and recommend a configuration

'steptune --help' lists all commands; 'steptune COMMAND --help' explains one.
)",
          ended.out),
      "");
}

TEST(Usage, HelpShowsExamplesBeforeOptions) {
  const Sandbox sandbox;
  const Ended ended = sandbox.steptune({"leaderboard", "--help"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(difference(R"(Rank the trials of a study, best first
Usage: steptune leaderboard [STUDY] [OPTIONS]

Examples:
  steptune leaderboard
  steptune leaderboard resnet-nightly --sort cost --limit 5

Arguments:
  STUDY                 Study, by name or file [default: the latest]

Options:
{{...}}
  --json                Print one JSON document instead of text
)",
                       ended.out),
            "");
}

TEST(Usage, HelpCommandPrintsWhatTheOptionPrints) {
  const Sandbox sandbox;
  const auto shown = [&](const std::vector<std::string>& arguments) {
    const Ended ended = sandbox.steptune(arguments);
    EXPECT_EQ(ended.exit_code, 0) << arguments.front();
    EXPECT_EQ(ended.err, "");
    return ended.out;
  };
  EXPECT_EQ(shown({"help"}), shown({"--help"}));
  EXPECT_EQ(shown({"help", "run"}), shown({"run", "--help"}));
  EXPECT_EQ(shown({"help", "help"}), shown({"help", "--help"}));
  EXPECT_NE(shown({"help"}).find("\n  help "), std::string::npos);
}

struct Mistake {
  std::vector<std::string> arguments;
  std::string message;
};

TEST(Usage, MistakesEndWithTwoAndNameTheNearestName) {
  const Mistake mistakes[] = {
      {{"leaderbord"},
       "steptune: error: unknown command \"leaderbord\"; did you mean \"leaderboard\"?\n"
       "  see 'steptune --help'\n"},
      {{"leaderboard", "--limt", "5"},
       "steptune: error: unknown option --limt; did you mean \"--limit\"?\n"
       "  see 'steptune leaderboard --help'\n"},
      {{"leaderboard", "--limt=5"},
       "steptune: error: unknown option --limt; did you mean \"--limit\"?\n"
       "  see 'steptune leaderboard --help'\n"},
      {{"--json", "leaderboard"},
       "steptune: error: --json is in front of the command\n"
       "  put it behind: steptune leaderboard --json\n"},
      {{"--json", "run", "--", "true"},
       "steptune: error: --json is in front of the command\n"
       "  put it behind: steptune run --json\n"},
      {{"run", "--tim", "3m", "--", "true", "--epochs", "3"},
       "steptune: error: unknown option --tim; did you mean \"--time\"?\n"
       "  see 'steptune run --help'\n"},
      {{"run", "--qiet", "--tim=3m", "--", "true"},
       "steptune: error: unknown option --qiet; did you mean \"--quiet\"?\n"
       "  see 'steptune run --help'\n"},
      {{"init", "--outptu", "a.json", "--", "true"},
       "steptune: error: unknown option --outptu; did you mean \"--output\"?\n"
       "  see 'steptune init --help'\n"},
      {{"judge", "--marginn", "3%", "--", "true", "---", "false"},
       "steptune: error: unknown option --marginn; did you mean \"--margin\"?\n"
       "  see 'steptune judge --help'\n"},
      {{"bisect", "--biuld", "make", "HEAD~1", "HEAD", "--", "true"},
       "steptune: error: unknown option --biuld; did you mean \"--build\"?\n"
       "  see 'steptune bisect --help'\n"},
      {{"exec", "--trail", "3", "demo", "--", "true"},
       "steptune: error: unknown option --trail; did you mean \"--trial\"?\n"
       "  see 'steptune exec --help'\n"},
      {{"follow", "--trail", "3", "--", "true"},
       "steptune: error: unknown option --trail; did you mean \"--trial\"?\n"
       "  see 'steptune follow --help'\n"},
      {{"campaign", "--measur"},
       "steptune: error: unknown option --measur; did you mean \"--measure\"?\n"
       "  see 'steptune campaign --help'\n"},
      {{"--jsn"},
       "steptune: error: unknown option --jsn\n"
       "  see 'steptune --help'\n"},
      {{"doctor", "now"},
       "steptune: error: unexpected argument \"now\"\n"
       "  see 'steptune doctor --help'\n"},
      {{"run"},
       "steptune: error: no study file is given, and this folder has none\n"
       "  steptune init -- COMMAND writes one\n"},
      {{"show"},
       "steptune: error: no trial is given\n"
       "  'steptune leaderboard --all' lists the trials\n"},
      {{"show", "seven"},
       "steptune: error: \"seven\" is not a trial number\n"
       "  'steptune leaderboard --all' lists the trials\n"},
      {{"prices", "g55", "--region", "us-east-1"},
       "steptune: error: no instance type has \"g55\" in its name\n"
       "  'steptune prices' shows all types\n"},
      {{"completion", "tcsh"},
       "steptune: error: SHELL: \"tcsh\" is not one of bash, zsh, fish\n"
       "  see 'steptune completion --help'\n"},
      {{"best", "--format", "jsn"},
       "steptune: error: --format: \"jsn\" is not one of text, json, {{.*}}; did you mean "
       "\"json\"?\n"
       "  see 'steptune best --help'\n"},
      {{"run", "--samples", "nan", "--", "true"},
       "steptune: error: --samples: \"nan\" is not a positive number\n"
       "  see 'steptune run --help'\n"},
      {{"exec", "--tune", "--samples-per-step", "0", "--", "true"},
       "steptune: error: --samples-per-step: \"0\" is not a positive number\n"
       "  see 'steptune exec --help'\n"},
      {{"retune", "study.json", "--cost", "nan"},
       "steptune: error: --cost: \"nan\" is not a number from 0.0001 to 1e{{.?}}09\n"
       "  see 'steptune retune --help'\n"},
      {{"run", "study.json", "--time", ""},
       "steptune: error: --time: no value is given\n"
       "  see 'steptune run --help'\n"},
      {{"exec", "--tune", "--time", "", "--", "true"},
       "steptune: error: --time: no value is given\n"
       "  see 'steptune exec --help'\n"},
      {{"gc", "--older-than", ""},
       "steptune: error: --older-than: no value is given\n"
       "  see 'steptune gc --help'\n"},
      {{"leaderboard", "--where", ""},
       "steptune: error: --where: no value is given\n"
       "  see 'steptune leaderboard --help'\n"},
      {{"scaling", "--min-efficiency", "nan"},
       "steptune: error: --min-efficiency: \"nan\" is not a number from 0.01 to 1\n"
       "  see 'steptune scaling --help'\n"},
      {{"gc", "--history-limit", "5XB"},
       "steptune: error: --history-limit: \"5XB\" is not a size: give one such as 500MB or 1.5GiB\n"
       "  see 'steptune gc --help'\n"},
      {{"run", "python3", "train.py", "--epochs", "5"},
       "steptune: error: unknown option --epochs\n"
       "  see 'steptune run --help'; write a program's command after --, with its options\n"},
      {{"init", "study.json", "--", "python3", "train.py"},
       "steptune: error: unexpected argument \"study.json\" in front of --\n"
       "  leave it out, or the command behind --\n"},
      {{"run", "study.json", "--name", "nightly"},
       "steptune: error: --name needs a program's command after --, and there is none\n"
       "  leave it out, or change the study file instead\n"},
      {{"run", "train.py"},
       "steptune: error: train.py: is a program, not a study file\n"
       "  write a program's command after --: steptune run -- python3 train.py\n"},
      {{"run", "--"},
       "steptune: error: there is no command after --\n"
       "  for example: steptune run -- python3 train.py\n"},
      {{"exec", "--", "python3", "train.py"},
       "steptune: error: STUDY is required\n"
       "  name a study: steptune exec STUDY -- COMMAND; or tune the run itself: {{.*}}\n"},
      {{"exec", "demo", "other", "--", "python3"},
       "steptune: error: unexpected argument \"other\" in front of --\n"
       "  leave it out, or the command behind --\n"},
      {{"run", "--quiet", "--", "EPOCHS=5", "python3", "train.py"},
       "steptune: error: cannot start \"EPOCHS=5\": No such file or directory in PATH\n"
       "  only a shell sets variables like this: begin the command with env, {{.*}}\n"},
      {{"run", "--quiet", "--", "python3 train.py"},
       "steptune: error: cannot start \"python3 train.py\": No such file or directory in PATH\n"
       "  the whole text was read as the name of one program: do not quote the command as a "
       "whole\n"},
      {{"help", "leaderbord"},
       "steptune: error: unknown command \"leaderbord\"; did you mean \"leaderboard\"?\n"
       "  see 'steptune help'\n"},
      {{"help", "run", "check"},
       "steptune: error: unexpected argument \"check\"\n  see 'steptune help --help'\n"},
      {{"show", "1", "--log", "--json"},
       "steptune: error: {{.*}}excludes{{.*}}\n  see 'steptune show --help'\n"},
  };
  const Sandbox sandbox;
  for (const Mistake& mistake : mistakes) {
    const Ended ended = sandbox.steptune(mistake.arguments);
    EXPECT_EQ(ended.exit_code, 2) << mistake.message;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(difference(mistake.message, ended.err), "");
  }
}

TEST(Usage, AFolderThatIsGoneIsAnError) {
  const Sandbox sandbox;
  const Ended ended =
      sandbox.program({"/bin/sh", "-c",
                       fmt::format("mkdir gone && cd gone && rmdir ../gone && '{}' init -- true",
                                   steptune_program())});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_TRUE(ended.err.starts_with("steptune: error: ")) << ended.err;
}

TEST(Usage, APathCannotSendControlCodesToTheTerminal) {
  const Sandbox sandbox;
  const std::string hostile = "no\x1b[31m\nsteptune: error: such\x07 file";
  const std::vector<std::vector<std::string>> commands = {
      {"leaderboard", "--db", hostile},
      {"check", hostile + ".json"},
      {"run", hostile + ".json", "--quiet"},
      {"import", hostile, "--study", hostile + ".json"},
      {"show", hostile + ".json", "1"},
      {"serve", "--db", hostile + "/x/y", "--token-file", "/"},
  };
  for (const auto& arguments : commands) {
    const Ended ended = sandbox.steptune(arguments);
    EXPECT_NE(ended.exit_code, 0) << arguments.front();
    EXPECT_FALSE(ended.err.empty()) << arguments.front();
    EXPECT_EQ(ended.err.find_first_of("\x1b\x07"), std::string::npos) << ended.err;
  }
  const Ended ended = sandbox.steptune(commands.front());
  EXPECT_EQ(ended.err.find("\nsteptune:"), std::string::npos)
      << "no line begins within the path: " << ended.err;
  EXPECT_NE(ended.err.find("no | steptune: error: such file: no history found"), std::string::npos)
      << ended.err;
}

TEST(Usage, VersionsArePrintedAsTextAndJson) {
  const Sandbox sandbox;
  EXPECT_EQ(difference("steptune {{\\d+\\.\\d+\\.\\d+}}\n", sandbox.steptune({"--version"}).out),
            "");
  const auto json = parse_json(sandbox.steptune({"version", "--json"}).out, "version");
  ASSERT_TRUE(json) << json.error().text();
  EXPECT_EQ((*json)["schema_version"], 1);
  for (const char* key : {"version", "commit", "compiler", "build_type", "sqlite"}) {
    EXPECT_TRUE(json->contains(key)) << key;
  }
}

/// Returns what bash offers for the word with this index in the line `words`.
std::string bash_completions(const Sandbox& sandbox, const std::string& words, int index) {
  const Ended ended = sandbox.program(
      {"bash", "-c",
       fmt::format("steptune() {{ {} \"$@\"; }}; source complete.bash && COMP_WORDS=({}) "
                   "COMP_CWORD={} && _steptune && echo \"${{COMPREPLY[@]}}\"",
                   steptune_program(), words, index)});
  EXPECT_EQ(ended.err, "");
  return ended.out;
}

TEST(Usage, BashCompletesOptionsAndStoredNames) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  ASSERT_EQ(sandbox.steptune({"run", "study.json", "--quiet"}).exit_code, 0);
  ASSERT_EQ(sandbox.steptune({"run", "study.json", "--quiet", "--db", "a b.db", "--trials", "2"})
                .exit_code,
            0);
  sandbox.write("complete.bash", sandbox.steptune({"completion", "bash"}).out);
  EXPECT_EQ(bash_completions(sandbox, "steptune leaderboard --li", 2), "--limit\n");
  EXPECT_EQ(bash_completions(sandbox, "steptune leaderboard ''", 2), "demo\n");
  EXPECT_EQ(bash_completions(sandbox, "steptune leaderboard x", 2), "\n");
  for (const std::string command : {"run", "check", "rehearse"}) {
    EXPECT_EQ(bash_completions(sandbox, "steptune " + command + " ''", 2), "\n")
        << "files, which bash completes itself";
  }
  EXPECT_EQ(bash_completions(sandbox, "steptune show demo 12", 3), "12\n");
  EXPECT_EQ(bash_completions(sandbox, "steptune reports --as xg", 3), "xgboost\n");
  EXPECT_EQ(bash_completions(sandbox, "steptune show --db 'a b.db' ''", 4), "demo 2 1\n");
  EXPECT_EQ(bash_completions(sandbox, "steptune bottleneck demo --trial 12", 4), "12\n");
  EXPECT_EQ(bash_completions(sandbox, "steptune leaderboard --sort wor", 3), "workers\n");
  EXPECT_EQ(bash_completions(sandbox, "steptune leaderboard --columns trial,prec", 3),
            "trial,precision\n");
}

TEST(Usage, JudgeCompletesStudiesAndTheirTrials) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  ASSERT_EQ(sandbox.steptune({"run", "study.json", "--quiet"}).exit_code, 0);
  Json later = *parse_json(replay_study(), "study.json");
  later["name"] = "later";
  sandbox.write("later.json", dump_json(later));
  ASSERT_EQ(sandbox.steptune({"run", "later.json", "--quiet", "--trials", "2"}).exit_code, 0);
  const auto first_words = [&](const std::vector<std::string>& typed) {
    std::vector<std::string> words{"__complete", "judge"};
    words.insert(words.end(), typed.begin(), typed.end());
    return std::regex_replace(sandbox.steptune(words).out, std::regex("\t.*"), "");
  };
  EXPECT_EQ(first_words({"--study", "de"}), "demo\n");
  EXPECT_EQ(first_words({"--study", "demo", "--trial", "12"}), "12\n");
  EXPECT_EQ(first_words({"--study", "demo", "--trial", "3", "12"}), "12\n");
  EXPECT_EQ(first_words({"--study", "demo", "--trial", "3", "--mar"}), "--margin\n");
  EXPECT_EQ(first_words({"--study", "later", "--trial", "12"}), "") << "it has 2 trials";
}

TEST(Usage, TheProgramDoesNotLinkLibrariesThatFewCommandsNeed) {
  const Sandbox sandbox;
  const Ended ended = sandbox.program({"ldd", steptune_program()});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("libsqlite3"), std::string::npos)
      << "ldd works: the linked SQLite is listed";
  // Addresses differ from run to run, and may contain a library's name.
  const std::string linked = std::regex_replace(ended.out, std::regex(R"( \(0x[0-9a-f]+\))"), "");
  for (const char* library : {"torch", "c10", "blas", "curl"}) {
    EXPECT_EQ(linked.find(library), std::string::npos) << linked;
  }
}

TEST(Usage, DoctorLooksAtTheMachine) {
  const Sandbox sandbox;
  const Ended ended = sandbox.steptune({"doctor", "--json"});
  const auto json = parse_json(ended.out, "doctor");
  ASSERT_TRUE(json) << json.error().text();
  std::vector<std::string> names;
  for (const Json& check : (*json)["checks"]) {
    names.push_back(check["name"]);
    EXPECT_FALSE(check["found"].get<std::string>().empty()) << check;
    if (check["status"] != "ok") {
      EXPECT_FALSE(check["advice"].is_null()) << check;
    }
  }
  std::erase(names, "slurm");  // only where Slurm is installed
  EXPECT_EQ(names, (std::vector<std::string>{"cpus", "smt", "cpu_governor", "load", "memory",
                                             "clock_source", "gpu", "watchdog", "sqlite", "history",
                                             "file_system", "disk"}));
  EXPECT_EQ(ended.exit_code, (*json)["ok"].get<bool>() ? 0 : 1);
}

/// Returns what `doctor` finds with that version of Slurm's commands.
Json slurm_found_by_doctor(const std::string& version) {
  const Sandbox sandbox;
  const auto command = [&sandbox](const std::string& name, const std::string& text) {
    sandbox.write("bin/" + name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(sandbox.folder() / "bin" / name,
                                 std::filesystem::perms::owner_all);
  };
  command("sinfo", fmt::format("case $1 in --version) echo {} ;; *) echo 'main|up|1:00|4|16|gpu:2' "
                               ";; esac\n",
                               version));
  command("scontrol", "echo 'AccountingStorageType   = accounting_storage/none'\n");
  const std::string path = (sandbox.folder() / "bin").string() + ":/usr/bin:/bin";
  const Ended ended = sandbox.steptune({"doctor", "--json"}, {.environment = {{"PATH", path}}});
  const auto json = parse_json(ended.out, "doctor");
  if (!json) return {};
  for (const Json& check : (*json)["checks"]) {
    if (check["name"] == "slurm") return check;
  }
  return {};
}

TEST(Usage, DoctorNamesFeaturesThatAnOldSlurmLacks) {
  const Json old = slurm_found_by_doctor("slurm 20.02.7");
  EXPECT_EQ(old["status"], "warn") << old;
  EXPECT_NE(old["found"].get<std::string>().find("version 20.02.7, no accounting"),
            std::string::npos)
      << old;
  EXPECT_NE(old["advice"].get<std::string>().find("20.11"), std::string::npos) << old;
  EXPECT_NE(old["advice"].get<std::string>().find("--me"), std::string::npos) << old;
  for (const char* sufficient : {"slurm 20.11.9", "slurm-wlm 22.05.8", "slurm of our site"}) {
    const Json found = slurm_found_by_doctor(sufficient);
    EXPECT_EQ(found["status"], "ok") << sufficient << ": " << found;
  }
}

TEST(Usage, DoctorFailsOnAHistoryThatCannotBeRead) {
  const Sandbox sandbox;
  sandbox.write("broken.db", std::string(8192, 'x'));
  const Ended ended = sandbox.steptune({"doctor", "--db", "broken.db"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.out.find("fail  history"), std::string::npos) << ended.out;
}

}  // namespace
}  // namespace steptune::golden
