// A drawing of dots for a terminal: braille (2 x 4 dots a character) or, in ASCII, one sign a
// character; text lies on top. Internal to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::report {

class DotCanvas {
 public:
  // Size in characters.
  DotCanvas(int columns, int rows, bool ascii);

  // A line between two places given as shares of the width and of the height (0, 0: lower left),
  // each dot with the sign `ascii_sign` where there is no braille. `every`: 1 solid, 3 dotted.
  // `color` is an ANSI code such as "34".
  void Line(double x0, double y0, double x1, double y1, int every, char ascii_sign,
            std::string_view color);

  // Text whose first character stands at that column and row (0: top); false, and nothing written,
  // where it would leave the canvas or lie on other text.
  bool Write(int column, int row, std::string_view ascii_text, std::string_view color);
  void Overwrite(int column, int row, char sign, std::string_view color);
  char TextAt(int column, int row) const;  // 0: none

  int ColumnOf(double x) const;
  int RowOf(double y) const;

  // One row without a newline; colours as ANSI sequences when asked.
  std::string Row(int row, bool color) const;

 private:
  struct Cell {
    unsigned dots = 0;  // braille pattern
    char sign = 0;      // of a line, in ASCII
    char text = 0;      // on top
    std::string_view color;
  };
  Cell& At(int column, int row);
  const Cell& At(int column, int row) const;

  int columns_;
  int rows_;
  bool ascii_;
  std::vector<Cell> cells_;
};

}  // namespace ridgeline::report
