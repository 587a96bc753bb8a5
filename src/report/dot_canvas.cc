#include "report/dot_canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ridgeline::report {
namespace {

// Bits of U+2800 for a dot, by column and row inside the character.
constexpr std::array<std::array<unsigned, 4>, 2> kBraille = {
    {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};

std::string Braille(unsigned dots) {
  const unsigned code = 0x2800 + dots;
  return {static_cast<char>(0xe0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3f)),
          static_cast<char>(0x80 | (code & 0x3f))};
}

int Scaled(double share, int count) {
  return std::clamp(static_cast<int>(std::floor(share * count)), 0, count - 1);
}

}  // namespace

DotCanvas::DotCanvas(int columns, int rows, bool ascii)
    : columns_(columns),
      rows_(rows),
      ascii_(ascii),
      cells_(static_cast<size_t>(columns) * static_cast<size_t>(rows)) {}

DotCanvas::Cell& DotCanvas::At(int column, int row) {
  return cells_[static_cast<size_t>(row) * static_cast<size_t>(columns_) +
                static_cast<size_t>(column)];
}
const DotCanvas::Cell& DotCanvas::At(int column, int row) const {
  return const_cast<DotCanvas&>(*this).At(column, row);
}

int DotCanvas::ColumnOf(double x) const { return Scaled(x, columns_); }
int DotCanvas::RowOf(double y) const { return rows_ - 1 - Scaled(y, rows_); }

void DotCanvas::Line(double x0, double y0, double x1, double y1, int every, char ascii_sign,
                     std::string_view color) {
  const int wide = ascii_ ? 1 : 2, high = ascii_ ? 1 : 4;
  const int from_x = Scaled(x0, columns_ * wide), to_x = Scaled(x1, columns_ * wide);
  const int from_y = Scaled(y0, rows_ * high), to_y = Scaled(y1, rows_ * high);
  const int steps = std::max({std::abs(to_x - from_x), std::abs(to_y - from_y), 1});
  for (int i = 0; i <= steps; i += every) {
    const double share = static_cast<double>(i) / steps;
    const int x = from_x + static_cast<int>(std::lround(share * (to_x - from_x)));
    const int y =
        rows_ * high - 1 - from_y - static_cast<int>(std::lround(share * (to_y - from_y)));
    Cell& cell = At(x / wide, y / high);
    cell.sign = ascii_sign;
    cell.color = color;
    if (!ascii_) cell.dots |= kBraille[static_cast<size_t>(x % 2)][static_cast<size_t>(y % 4)];
  }
}

bool DotCanvas::Write(int column, int row, std::string_view ascii_text, std::string_view color) {
  const int length = static_cast<int>(ascii_text.size());
  if (column < 0 || row < 0 || row >= rows_ || column + length > columns_) return false;
  for (int i = 0; i < length; ++i) {
    if (At(column + i, row).text != 0) return false;
  }
  for (int i = 0; i < length; ++i) {
    Overwrite(column + i, row, ascii_text[static_cast<size_t>(i)], color);
  }
  return true;
}

void DotCanvas::Overwrite(int column, int row, char sign, std::string_view color) {
  Cell& cell = At(column, row);
  cell.text = sign;
  cell.color = color;
}

char DotCanvas::TextAt(int column, int row) const { return At(column, row).text; }

std::string DotCanvas::Row(int row, bool color) const {
  std::string out;
  std::string_view current;
  for (int column = 0; column < columns_; ++column) {
    const Cell& cell = At(column, row);
    const bool empty = cell.text == 0 && cell.sign == 0;
    const std::string_view wanted = color && !empty ? cell.color : std::string_view();
    if (wanted != current) {
      out += wanted.empty() ? "\x1b[0m" : fmt::format("\x1b[{}m", wanted);
      current = wanted;
    }
    if (cell.text != 0) {
      out += cell.text;
    } else if (cell.sign == 0) {
      out += ' ';
    } else {
      out += ascii_ ? std::string(1, cell.sign) : Braille(cell.dots);
    }
  }
  if (!current.empty()) out += "\x1b[0m";
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

}  // namespace ridgeline::report
