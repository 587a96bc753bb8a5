// The process that holds the plugin. It reads one Job and writes events; a crash of it costs the
// case that it was at.
#pragma once

namespace ridgeline::engine {

// Reads the job as one line from `in`, writes events to `out`. Returns the exit code.
int RunWorker(int in, int out);

}  // namespace ridgeline::engine
