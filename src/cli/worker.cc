// `ridgeline worker`: the process that holds the plugin. Hidden: only `run` and its kin start it.
#include "engine/worker.h"

#include "cli/command.h"

namespace ridgeline::cli {

void Add_worker(CLI::App& app, int& exit_code) {
  constexpr int kJob = 0;
  constexpr int kEvents = 3;
  CLI::App* command = app.add_subcommand("worker", "")->group("");
  command->callback([&exit_code] { exit_code = engine::RunWorker(kJob, kEvents); });
}

}  // namespace ridgeline::cli
