// SPDX-License-Identifier: Apache-2.0
#include "tuner/survey/interpreter_versions.hpp"

#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "common/json.hpp"
#include "common/machine/system_files.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {
namespace {

/// Script that prints the versions. Finds CUDA's version by the wheels on which PyTorch's wheels
/// depend. Debian's packages have no such wheels. Removes empty entries from sys.path, so that no
/// module of the study's folder is run.
constexpr const char* k_question = R"(
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import importlib.metadata, json, platform
versions = {"python": platform.python_version()}
for name, dists in {"torch": ["torch"], "cuda": ["nvidia-cuda-runtime-cu13", "nvidia-cuda-runtime-cu12",
                    "nvidia-cuda-runtime-cu11", "nvidia-cuda-runtime"], "cudnn": ["nvidia-cudnn-cu13",
                    "nvidia-cudnn-cu12", "nvidia-cudnn-cu11"], "jax": ["jax"],
                    "tensorflow": ["tensorflow", "tensorflow-cpu"], "keras": ["keras"], "numpy": ["numpy"]}.items():
    for dist in dists:
        try:
            versions[name] = str(importlib.metadata.version(dist))
            break
        except Exception:
            pass
print("\n" + json.dumps(versions))
)";

/// True for `python`, `python3` and `python3.11`.
bool is_python(const std::filesystem::path& word) {
  constexpr std::string_view k_python = "python";
  const std::string name = word.filename().string();
  return name.starts_with(k_python) &&
         name.find_first_not_of("0123456789.", k_python.size()) == std::string::npos;
}

std::string interpreter_of_script(const std::filesystem::path& file) {
  const std::string line = read_system_file(file, 256).value_or("");
  if (!line.starts_with("#!")) return {};
  std::istringstream words(line.substr(2, line.find('\n') - 2));
  for (std::string word; words >> word;) {
    if (is_python(word)) return word;
    const bool finds_it = std::filesystem::path(word).filename() == "env" || word.starts_with("-");
    if (!finds_it) return {};
  }
  return {};
}

MachineDescription read_answer(const std::filesystem::path& file) {
  MachineDescription versions;
  std::ifstream stream(file);
  std::string last;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with('{')) last = line;
  }
  const auto parsed = parse_json(last, "versions");
  if (!parsed || !parsed->is_object()) return versions;
  for (const auto& [name, version] : parsed->items()) {
    if (version.is_string()) versions[name] = version.get<std::string>();
  }
  return versions;
}

}  // namespace

std::filesystem::path found_program(const std::string& word, const std::filesystem::path& folder,
                                    const std::string& path) {
  std::error_code fault;
  if (word.find('/') != std::string::npos) return folder / word;
  std::istringstream folders(path);
  for (std::string each; std::getline(folders, each, ':');) {
    std::filesystem::path file = std::filesystem::path(each) / word;
    if (std::filesystem::is_regular_file(file, fault)) return file;
  }
  return {};
}

std::string python_of(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                      const std::string& path) {
  if (argv.empty()) return {};
  if (is_python(argv.front())) return argv.front();
  return interpreter_of_script(found_program(argv.front(), folder, path));
}

MachineDescription interpreter_versions(const StudySpec& study, const Clock& clock,
                                        const Environment& environment,
                                        const std::filesystem::path& folder) {
  const RunnerTraits& traits = study.runner->traits();
  if (!traits.uses_this_machine || !traits.needs_command) return {};
  const RenderedCommand command = render_command(study, study.baseline);
  if (command.hook) return {};
  const auto own_path = command.environment.find("PATH");
  const std::string python = python_of(
      plain_command(study, study.baseline), study.working_directory,
      own_path != command.environment.end() ? own_path->second : environment("PATH").value_or(""));
  if (python.empty()) return {};
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  SurveyOptions question;
  question.argv = {python, "-c", k_question};
  question.folder = study.working_directory;
  question.log_path = folder / "python-versions.log";
  question.longest_start_s = 5.0;
  question.watch_s = 0.0;
  question.watch_steps = 0.0;
  question.with_hook = false;
  question.environment = command.environment;
  const auto seen = survey_program(question, clock, [] { return false; });
  MachineDescription versions = seen ? read_answer(question.log_path) : MachineDescription{};
  std::filesystem::remove(question.log_path, fault);
  return versions;
}

}  // namespace steptune
