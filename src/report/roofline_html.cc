// The roofline as one HTML page.
#include <algorithm>

#include "base/embedded.h"
#include "report/roofline_page.h"
#include "report/roofline_plot.h"

namespace ridgeline::report {
namespace {

std::string_view PageFile(std::string_view name) {
  const auto files = RooflinePageFiles();
  return std::ranges::find(files, name, &EmbeddedFile::path)->text;
}

void ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
}

// JSON that may stand in a script element: no way to end it, and no line end of JavaScript's own.
std::string ForScript(std::string json) {
  ReplaceAll(json, "<", "\\u003c");
  ReplaceAll(json, ">", "\\u003e");
  ReplaceAll(json, "&", "\\u0026");
  ReplaceAll(json, "\u2028", "\\u2028");
  ReplaceAll(json, "\u2029", "\\u2029");
  return json;
}

std::string ForHtml(std::string text) {
  ReplaceAll(text, "&", "&amp;");
  ReplaceAll(text, "<", "&lt;");
  ReplaceAll(text, ">", "&gt;");
  return text;
}

}  // namespace

std::string RooflineHtml(const RooflinePlot& plot) {
  std::string page(PageFile("page.html"));
  // In the template's order, once each: what is filled in is never searched again.
  size_t from = 0;
  const auto fill = [&page, &from](std::string_view gap, std::string_view with) {
    from = page.find(gap, from);
    page.replace(from, gap.size(), with);
    from += with.size();
  };
  fill("{{page.css}}", PageFile("page.css"));
  fill("{{licence}}", ForHtml(std::string(PageFile("copyright"))));
  fill("{{plot}}", ForScript(DumpLine(RooflineJson(plot))));
  fill("{{d3.min.js}}", PageFile("d3.min.js"));
  fill("{{page.js}}", PageFile("page.js"));
  return page;
}

}  // namespace ridgeline::report
