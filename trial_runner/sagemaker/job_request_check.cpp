// SPDX-License-Identifier: Apache-2.0

// Checks the service's rules for CreateTrainingJob (API Reference and botocore's service model)
// before a request. Reports all faults at once; the service would report one at a time.
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/instances/limits.hpp"
#include "trial_runner/sagemaker/job_request.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"

namespace steptune {
namespace {

constexpr const char* k_s3_uri = "(https|s3)://([^/]+)/?(.*)";
constexpr const char* k_instance_type = "ml\\.[a-z0-9.-]+";

struct TextRule {
  const char* pointer;
  std::size_t max_length;
  const char* pattern;  ///< null: any text
};

constexpr TextRule k_texts[] = {
    {"/TrainingJobName", 63, "[a-zA-Z0-9](-*[a-zA-Z0-9])*"},
    {"/RoleArn", 2048, "arn:aws[a-z-]*:iam::[0-9]{12}:role/?[a-zA-Z_0-9+=,.@\\-_/]+"},
    {"/OutputDataConfig/S3OutputPath", 1024, k_s3_uri},
    {"/CheckpointConfig/S3Uri", 1024, k_s3_uri},
    {"/AlgorithmSpecification/TrainingImage", 255, nullptr},
    {"/AlgorithmSpecification/AlgorithmName", 170, nullptr},
    {"/AlgorithmSpecification/TrainingInputMode", 8, "Pipe|File|FastFile"},
    {"/ResourceConfig/InstanceType", 64, k_instance_type},
};

struct NumberRule {
  const char* pointer;
  double low;
  double high;
};

constexpr NumberRule k_numbers[] = {
    {"/ResourceConfig/InstanceCount", 1, k_most_instances},
    {"/ResourceConfig/VolumeSizeInGB", 1, k_largest_volume_gb},
    {"/ResourceConfig/KeepAlivePeriodInSeconds", 0, k_longest_keep_alive_s},
    {"/StoppingCondition/MaxRuntimeInSeconds", 1, k_longest_job_s},
    {"/StoppingCondition/MaxWaitTimeInSeconds", 1, k_longest_job_s},
};

class InputCheck {
 public:
  explicit InputCheck(const Json& input) : input_(input) {}

  void run() {
    for (const TextRule& rule : k_texts)
      check_text(rule);
    for (const NumberRule& rule : k_numbers)
      check_number(rule);
    check_map("/HyperParameters", k_most_members, k_longest_word, k_longest_hyperparameter,
              nullptr);
    check_map("/Environment", k_most_members, k_longest_variable, k_longest_variable,
              "[a-zA-Z_][a-zA-Z0-9_]*");
    check_words("/AlgorithmSpecification/ContainerEntrypoint");
    check_words("/AlgorithmSpecification/ContainerArguments");
    check_image();
    check_channels();
    check_network();
    check_exclusions();
    check_tags();
    check_groups();
  }

  std::vector<document::Fault> faults;

 private:
  [[nodiscard]] const Json* at(const std::string& pointer) const {
    const Json::json_pointer where(pointer);
    return input_.contains(where) ? &input_.at(where) : nullptr;
  }

  void fault(const std::string& pointer, const std::string& what) {
    faults.push_back({pointer, what});
  }

  void check_pattern(const std::string& pointer, const std::string& text, std::size_t longest,
                     const char* pattern) {
    check_length(pointer, text, longest);
    // Limit the length before matching, because std::regex recurses over its input.
    if (pattern == nullptr || text.size() > longest) return;
    if (!std::regex_match(text, std::regex(pattern))) {
      fault(pointer, fmt::format("\"{}\" does not match {}", printable_line(text, 80), pattern));
    }
  }

  void check_length(const std::string& pointer, const std::string& text, std::size_t longest) {
    if (text.size() > longest) {
      fault(pointer, fmt::format("{} characters long; the limit is {}", text.size(), longest));
    }
  }

  void check_text(const TextRule& rule) {
    const Json* value = at(rule.pointer);
    if (value == nullptr) return;
    check_pattern(rule.pointer, value->get<std::string>(), rule.max_length, rule.pattern);
  }

  void check_number(const NumberRule& rule) {
    const Json* value = at(rule.pointer);
    if (value == nullptr) return;
    const auto number = value->get<double>();
    if (number < rule.low || number > rule.high) {
      fault(rule.pointer, fmt::format("{} is not between {} and {}", number, rule.low, rule.high));
    }
  }

  void check_count(const std::string& pointer, std::size_t most) {
    const Json* value = at(pointer);
    if (value != nullptr && value->size() > most) {
      fault(pointer, fmt::format("{} entries; the limit is {}", value->size(), most));
    }
  }

  void check_map(const std::string& pointer, std::size_t most, std::size_t key_length,
                 std::size_t value_length, const char* key_pattern) {
    check_count(pointer, most);
    const Json* map = at(pointer);
    if (map == nullptr) return;
    for (const auto& [key, value] : map->items()) {
      const std::string where = pointer + "/" + key;
      check_length(where, key, key_length);
      check_length(where, value.get<std::string>(), value_length);
      if (key_pattern != nullptr && key.size() <= key_length &&
          !std::regex_match(key, std::regex(key_pattern))) {
        fault(where, fmt::format("the name does not match {}", key_pattern));
      }
    }
  }

  void check_words(const std::string& pointer) {
    check_count(pointer, k_most_members);
    const Json* words = at(pointer);
    if (words == nullptr) return;
    for (std::size_t i = 0; i < words->size(); ++i) {
      const std::string where = fmt::format("{}/{}", pointer, i);
      const auto word = (*words)[i].get<std::string>();
      check_length(where, word, k_longest_word);
      if (word.empty()) fault(where, "an argument of the command line is empty");
    }
  }

  void check_image() {
    // Without an input mode, the request is only the part that a configuration determines for a
    // long run.
    if (at("/AlgorithmSpecification/TrainingInputMode") == nullptr) return;
    const bool image = at("/AlgorithmSpecification/TrainingImage") != nullptr;
    const bool algorithm = at("/AlgorithmSpecification/AlgorithmName") != nullptr;
    if (image == algorithm)
      fault("/AlgorithmSpecification", "give either an image or an algorithm");
  }

  void check_channels() {
    check_count("/InputDataConfig", k_most_channels);
    const Json* channels = at("/InputDataConfig");
    if (channels == nullptr) return;
    std::size_t with_groups = 0;
    for (std::size_t i = 0; i < channels->size(); ++i) {
      const std::string where = fmt::format("/InputDataConfig/{}", i);
      const Json& channel = (*channels)[i];
      const auto name = channel.at("ChannelName").get<std::string>();
      if (name.size() > 64 || !std::regex_match(name, std::regex("[A-Za-z0-9.\\-_]+"))) {
        fault(where + "/ChannelName", "1 to 64 of A-Z a-z 0-9 . - _");
      }
      const Json& source = channel.at("DataSource");
      if (source.contains("FileSystemDataSource")) check_file_system(where, source);
      const Json::json_pointer groups("/S3DataSource/InstanceGroupNames");
      if (source.contains(groups)) ++with_groups;
      const Json::json_pointer uri("/S3DataSource/S3Uri");
      if (source.contains(uri)) {
        check_pattern(where, source.at(uri).get<std::string>(), 1024, k_s3_uri);
      }
      const bool fast = channel.value("InputMode", default_mode()) == "FastFile";
      if (fast && source.contains(uri) && !source.at(uri).get<std::string>().ends_with('/')) {
        fault(where, "FastFile reads whole folders: end the S3 prefix with '/'");
      }
    }
    if (with_groups != 0 && with_groups != channels->size()) {
      fault("/InputDataConfig", "either all channels name instance groups or none does");
    }
  }

  void check_file_system(const std::string& where, const Json& source) {
    const Json& system = source.at("FileSystemDataSource");
    check_pattern(where, system.at("FileSystemId").get<std::string>(), 21, "fs-[0-9a-f]{8,}");
    check_pattern(where, system.at("FileSystemType").get<std::string>(), 9, "EFS|FSxLustre");
    check_pattern(where, system.at("DirectoryPath").get<std::string>(), 4096, nullptr);
    if (at("/VpcConfig") == nullptr) {
      fault(where, "a file system needs subnets and security groups");
    }
  }

  void check_tags() {
    check_count("/Tags", k_max_tags);
    const Json* tags = at("/Tags");
    for (std::size_t i = 0; tags != nullptr && i < tags->size(); ++i) {
      const auto key = (*tags)[i].at("Key").get<std::string>();
      const std::string where = fmt::format("/Tags/{}", i);
      check_length(where, key, 128);
      check_length(where, (*tags)[i].at("Value").get<std::string>(), 256);
      if (key.empty()) fault(where, "the tag's name is empty");
    }
  }

  void check_groups() {
    check_count("/ResourceConfig/InstanceGroups", k_max_groups);
    const Json* groups = at("/ResourceConfig/InstanceGroups");
    for (std::size_t i = 0; groups != nullptr && i < groups->size(); ++i) {
      const std::string where = fmt::format("/ResourceConfig/InstanceGroups/{}", i);
      const Json& group = (*groups)[i];
      check_pattern(where, group.at("InstanceType").get<std::string>(), 64, k_instance_type);
      check_pattern(where, group.at("InstanceGroupName").get<std::string>(), k_max_group_name_bytes,
                    ".+");
      const int count = group.at("InstanceCount").get<int>();
      if (count < 1 || count > k_most_instances) {
        fault(where, fmt::format("{} instances are not between 1 and {}", count, k_most_instances));
      }
    }
  }

  [[nodiscard]] std::string default_mode() const {
    const Json* mode = at("/AlgorithmSpecification/TrainingInputMode");
    return mode == nullptr ? "" : mode->get<std::string>();
  }

  void check_network() {
    const Json* subnets = at("/VpcConfig/Subnets");
    if (subnets == nullptr) return;
    if (subnets->empty() || subnets->size() > k_most_subnets) {
      fault("/VpcConfig/Subnets", fmt::format("give 1 to {} subnets", k_most_subnets));
    }
    for (const char* pointer : {"/VpcConfig/Subnets", "/VpcConfig/SecurityGroupIds"}) {
      const Json* ids = at(pointer);
      for (std::size_t i = 0; ids != nullptr && i < ids->size(); ++i) {
        check_pattern(pointer, (*ids)[i].get<std::string>(), 32, "[-0-9a-zA-Z]+");
      }
    }
    const Json* groups = at("/VpcConfig/SecurityGroupIds");
    if (groups == nullptr || groups->empty() || groups->size() > k_most_security_groups) {
      fault("/VpcConfig/SecurityGroupIds",
            fmt::format("give 1 to {} security groups", k_most_security_groups));
    }
  }

  void check_exclusions() {
    const bool pool = at("/ResourceConfig/KeepAlivePeriodInSeconds") != nullptr;
    const bool spot = at("/EnableManagedSpotTraining") != nullptr;
    if (pool && spot) {
      fault("/EnableManagedSpotTraining", "warm pools cannot be used with managed spot");
    }
    if (pool && at("/ResourceConfig/InstanceGroups") != nullptr) {
      fault("/ResourceConfig", "warm pools cannot be used with heterogeneous clusters");
    }
    const Json* wait = at("/StoppingCondition/MaxWaitTimeInSeconds");
    if (spot &&
        (wait == nullptr ||
         wait->get<double>() < at("/StoppingCondition/MaxRuntimeInSeconds")->get<double>())) {
      fault("/StoppingCondition/MaxWaitTimeInSeconds",
            "the longest wait for spot must be at least the longest run time");
    }
  }

  const Json& input_;
};

}  // namespace

std::vector<document::Fault> training_job_faults(const Json& input) {
  InputCheck check(input);
  check.run();
  return std::move(check.faults);
}

Result<void> check_training_job_input(const Json& input) {
  const std::vector<document::Fault> faults = training_job_faults(input);
  if (faults.empty()) return {};
  std::string text = "SageMaker would refuse this training job:";
  for (const document::Fault& fault : faults)
    text += fmt::format("\n  {}: {}", fault.pointer, fault.message);
  return fail(ErrorKind::usage, text, input.value("TrainingJobName", ""));
}

}  // namespace steptune
