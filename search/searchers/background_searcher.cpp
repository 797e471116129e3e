// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/background_searcher.hpp"

#include <csignal>
#include <functional>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "search/searchers/bayes_loader.hpp"

namespace steptune {
namespace {

/// Blocks all signals of the calling thread: threads that are made meanwhile inherit that, so that
/// handlers run, and waits are interrupted, on the program's own thread only.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }

 private:
  sigset_t former_{};
};

class BackgroundSearcher final : public Searcher {
 public:
  BackgroundSearcher(const std::filesystem::path& module, const SearchSpace& space,
                     SearcherOptions options)
      : space_(space), options_(std::move(options)) {
    const BlockedSignals blocked;
    opened_ = std::async(std::launch::async, [module] { return open_bayes_module(module); });
  }

  void observe(const Observation& observation) override {
    tell([observation](Searcher& searcher) { searcher.observe(observation); });
  }
  void observe_earlier(std::size_t study, const Observation& observation) override {
    tell(
        [study, observation](Searcher& searcher) { searcher.observe_earlier(study, observation); });
  }
  [[nodiscard]] std::vector<std::string> take_warnings() override {
    return searcher_ ? searcher_->take_warnings() : std::vector<std::string>();
  }
  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
    if (const auto ready = await(); !ready) return tl::unexpected(ready.error());
    return searcher_->suggest(request);
  }
  [[nodiscard]] std::string why_done() const override {
    return searcher_ ? searcher_->why_done() : Searcher::why_done();
  }
  [[nodiscard]] std::optional<StopDecision> should_stop(const TrialProgress& progress) override {
    // A module that cannot be opened is told by `suggest`; until then the scheduler decides.
    return await() ? searcher_->should_stop(progress) : std::nullopt;
  }

 private:
  void tell(std::function<void(Searcher&)> what) {
    if (searcher_) {
      what(*searcher_);
    } else {
      untold_.push_back(std::move(what));
    }
  }

  /// Makes the searcher on the calling thread: LibTorch's settings are those of a thread.
  Result<void> await() {
    if (searcher_) return {};
    if (fault_) return tl::unexpected(*fault_);
    const auto make = opened_.get();
    auto searcher = make ? make_bayes_searcher(*make, space_, options_)
                         : Result<std::unique_ptr<Searcher>>(tl::unexpected(make.error()));
    if (!searcher) {
      fault_ = searcher.error();
      return tl::unexpected(*fault_);
    }
    searcher_ = *std::move(searcher);
    for (const auto& what : std::exchange(untold_, {}))
      what(*searcher_);
    return {};
  }

  const SearchSpace& space_;
  SearcherOptions options_;
  std::future<Result<BayesMakeFunction*>> opened_;
  std::unique_ptr<Searcher> searcher_;
  std::optional<Error> fault_;
  std::vector<std::function<void(Searcher&)>> untold_;  ///< what it is told before it is made
};

}  // namespace

Result<std::unique_ptr<Searcher>> load_bayes_searcher_in_background(
    const std::vector<std::filesystem::path>& directories, const SearchSpace& space,
    const SearcherOptions& options) {
  const auto module = find_bayes_module(directories);
  if (!module) return tl::unexpected(module.error());
  return std::make_unique<BackgroundSearcher>(*module, space, options);
}

Result<std::unique_ptr<Searcher>> make_searcher_in_background(const std::string& name,
                                                              const SearchSpace& space,
                                                              const SearcherOptions& options) {
  if (name != "bayes") return make_searcher(name, space, options);
  return load_bayes_searcher_in_background(bayes_module_directories(), space, options);
}

}  // namespace steptune
