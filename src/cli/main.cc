#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <vector>

#include "base/text.h"
#include "cli/build_info.h"
#include "cli/command.h"
#include "cli/common.h"

namespace {

using namespace ridgeline;

constexpr const char* kFooter = R"(Examples:
  ridgeline run                                the quick suite on the CPU plugin
  ridgeline run standard --only network        one component
  ridgeline run quick --plugin tpu --out r.jsonl
  ridgeline show r.jsonl
  ridgeline doctor                             what is here and ready

Exit codes: 0 good; 1 a verdict or --strict failed; 2 usage or input; 3 no plugin or device;
4 some cases failed; 5 not approved; 70 a bug; 130 interrupted.)";

// Started with descriptor 0, 1 or 2 closed, the next file would take its number: what is said to
// people would then be written into the result file.
void OpenStandardDescriptors() {
  int fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDWR);
  if (fd >= 0) close(fd);
}

// CLI11's own words, with the nearest subcommand where one was misspelt.
int ReportParseError(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  std::string text = fmt::format("ridgeline: {}\n", Printable(error.what()));
  std::vector<std::string> storage;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!sub->get_group().empty()) storage.push_back(sub->get_name());
  }
  const std::vector<std::string_view> names(storage.begin(), storage.end());
  if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-') {
    text = fmt::format("ridgeline: {}\n", UnknownName("command", argv[1], names));
  }
  std::string help = "ridgeline";
  for (const CLI::App* sub : app.get_subcommands()) help += " " + sub->get_name();
  cli::Err(text + fmt::format("  next: see `{} --help`\n", help));
  return cli::kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  OpenStandardDescriptors();
  // A closed pipe and a file that may not grow are errors with words, not deaths.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app{"Measures what an accelerator cluster can do, and makes every figure believable.",
               "ridgeline"};
  app.set_version_flag("--version", std::string(cli::Version()));
  app.footer(kFooter);
  app.require_subcommand(1);
  app.get_formatter()->column_width(32);
  int exit_code = cli::kExitOk;
#define RL_COMMAND(name) cli::Add_##name(app, exit_code);
#include "cli/commands.def"
#undef RL_COMMAND
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportParseError(app, error, argc, argv);
  } catch (const std::exception& error) {
    cli::Err(
        fmt::format("ridgeline: internal error: {}\n  next: please report this\n", error.what()));
    return cli::kExitBug;
  }
  return exit_code;
}
