// The two programs for attention. Dimensions: B batch, K key heads, G query heads to a key head,
// S queries, N keys (of a block), D head size. Scores are [B,K,S,G,N]. Products take operands of
// the asked dtype and give f32; the softmax is f32.
#include <cmath>
#include <limits>

#include "benchmarks/attention.h"

namespace ridgeline::benchmarks {
namespace {

using programs::Body;
using programs::DotDims;
using programs::Value;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// [B,S,K,G,D] · [B,N,K,D] -> [B,K,S,G,N]: over D.
const DotDims kOverDim{{0, 2}, {0, 2}, {4}, {3}};
// [B,K,S,G,N] · [B,N,K,D] -> [B,K,S,G,D]: over the keys.
const DotDims kOverKeys{{0, 1}, {0, 2}, {4}, {1}};
// [B,K,S,G,N] · [B,S,K,G,D] -> [B,K,N,D]: over the queries and the heads that share a key head.
const DotDims kOverQueries{{0, 1}, {0, 2}, {2, 3}, {1, 3}};

class Writer {
 public:
  Writer(Body& body, const Attention& attention) : body_(body), a_(attention) {}

  Value Dot(const Value& a, const Value& b, const DotDims& dims) {
    // Otherwise a TPU or GPU would round f32 operands.
    const bool f32 = a_.dtype == DType::kF32;
    return body_.Dot(a, b, dims, DType::kF32, f32 ? "precision = [HIGHEST, HIGHEST]" : "");
  }

  // [B,S,H,D] -> [B,S,K,G,D]
  Value SplitHeads(const Value& q) {
    return body_.Reshape(q, {a_.batch, a_.q_len, a_.kv_heads, a_.group(), a_.head_dim});
  }
  // [B,K,S,G,D] -> [B,S,H,D], in the dtype of the results
  Value JoinHeads(const Value& o) {
    return body_.Reshape(body_.Transpose(body_.Convert(o, a_.dtype), {0, 2, 1, 3, 4}),
                         a_.query_shape().dims);
  }
  // [B,K,N,D] -> [B,N,K,D]
  Value KeysFirst(const Value& dk) {
    return body_.Transpose(body_.Convert(dk, a_.dtype), {0, 2, 1, 3});
  }

  // One value a row, [B,K,S,G], against the rows of `like`.
  Value PerRow(std::string_view op, const Value& like, const Value& rows) {
    return body_.Binary(op, like, body_.Broadcast(rows, {0, 1, 2, 3}, like.shape.dims));
  }
  Value Scale(const Value& scores) {
    const double scale = 1 / std::sqrt(static_cast<double>(a_.head_dim));
    return body_.Binary("multiply", scores, body_.Splat(scale, scores.shape));
  }
  Value Narrow(const Value& x) { return body_.Convert(x, a_.dtype); }

  // Scaled and masked scores. `first_key` is the number of the block's first key.
  Value Scores(const Value& q, const Value& k, const Value* first_key) {
    Value scores = Scale(Dot(q, k, kOverDim));
    if (!a_.causal) return scores;
    const Shape plane{DType::kS32, {a_.q_len, k.shape.dims[1]}};
    const Value last_visible = body_.Binary("add", body_.Iota(plane, 0),
                                            body_.Splat(static_cast<double>(a_.offset()), plane));
    Value key = body_.Iota(plane, 1);
    if (first_key) {
      key = body_.Binary("add", key, body_.Broadcast(*first_key, {}, plane.dims));
    }
    const Value seen =
        body_.Broadcast(body_.Compare("GE", last_visible, key), {2, 4}, scores.shape.dims);
    return body_.Select(seen, scores, body_.Splat(kMinusInfinity, scores.shape));
  }

  Value RowMax(const Value& scores) { return body_.Reduce("maximum", scores, kMinusInfinity, {4}); }
  Value RowSum(const Value& scores) { return body_.Reduce("add", scores, 0, {4}); }

  // Gradient of the unscaled scores, in the dtype of the products.
  Value ScoreGradient(const Value& p, const Value& dp, const Value& delta) {
    return Narrow(Scale(body_.Binary("multiply", p, PerRow("subtract", dp, delta))));
  }

  Shape rows() const { return {DType::kF32, {a_.batch, a_.kv_heads, a_.q_len, a_.group()}}; }
  Shape accumulator() const {
    return {DType::kF32, {a_.batch, a_.kv_heads, a_.q_len, a_.group(), a_.head_dim}};
  }

 private:
  Body& body_;
  const Attention& a_;
};

std::vector<Value> WriteMaterialised(Body& body, const Attention& a, const std::vector<Value>& in) {
  Writer w(body, a);
  const Value q = w.SplitHeads(in[0]);
  const Value& k = in[1];
  const Value& v = in[2];
  const Value scores = w.Scores(q, k, nullptr);
  const Value exponents = body.Unary("exponential", w.PerRow("subtract", scores, w.RowMax(scores)));
  const Value p = w.PerRow("divide", exponents, w.RowSum(exponents));
  const Value narrow_p = w.Narrow(p);
  std::vector<Value> results;
  if (a.forward()) results.push_back(w.JoinHeads(w.Dot(narrow_p, v, kOverKeys)));
  if (!a.backward()) return results;

  const Value d_o = w.SplitHeads(in[3]);
  const Value dp = w.Dot(d_o, v, kOverDim);
  const Value delta = w.RowSum(body.Binary("multiply", p, dp));
  const Value ds = w.ScoreGradient(p, dp, delta);
  results.push_back(w.JoinHeads(w.Dot(ds, k, kOverKeys)));
  results.push_back(w.KeysFirst(w.Dot(ds, q, kOverQueries)));
  results.push_back(w.KeysFirst(w.Dot(narrow_p, d_o, kOverQueries)));
  return results;
}

// One block of keys or values, and where it starts.
struct Block {
  Block(Body& body, const Attention& attention, const Value& round)
      : a(attention),
        first(body.Binary("multiply", round,
                          body.Splat(static_cast<double>(attention.block), round.shape))),
        start({body.Splat(0, round.shape), first, body.Splat(0, round.shape),
               body.Splat(0, round.shape)}) {}

  Value Of(Body& body, const Value& keys) const {
    return body.DynamicSlice(keys, start, {a.batch, a.block, a.kv_heads, a.head_dim});
  }

  const Attention& a;
  Value first;
  std::vector<Value> start;
};

// Online softmax (Milakov, Gimelshein 2018): running row maximum, row sum and output, corrected
// whenever the maximum grows. Key 0 is visible to every query, so the maximum is finite after the
// first block.
struct OnlineResult {
  Value row_max, row_sum, o;  // o is normalised, f32
};
OnlineResult WriteOnlineSoftmax(Body& body, const Attention& a, const Value& q, const Value& k,
                                const Value& v) {
  Writer outer(body, a);
  const std::vector<Value> initial = {q,
                                      k,
                                      v,
                                      body.Splat(kMinusInfinity, outer.rows()),
                                      body.Splat(0, outer.rows()),
                                      body.Splat(0, outer.accumulator())};
  const std::vector<Value> last = body.Repeat(
      a.blocks(), initial, [&a](Body& inner, const Value& round, const std::vector<Value>& state) {
        Writer w(inner, a);
        const Block block(inner, a, round);
        const Value scores = w.Scores(state[0], block.Of(inner, state[1]), &block.first);
        const Value row_max = inner.Binary("maximum", state[3], w.RowMax(scores));
        const Value p = inner.Unary("exponential", w.PerRow("subtract", scores, row_max));
        const Value correction =
            inner.Unary("exponential", inner.Binary("subtract", state[3], row_max));
        const Value row_sum =
            inner.Binary("add", inner.Binary("multiply", state[4], correction), w.RowSum(p));
        const Value o = inner.Binary("add", w.PerRow("multiply", state[5], correction),
                                     w.Dot(w.Narrow(p), block.Of(inner, state[2]), kOverKeys));
        return std::vector{state[0], state[1], state[2], row_max, row_sum, o};
      });
  return {last[3], last[4], outer.PerRow("divide", last[5], last[4])};
}

std::vector<Value> WriteTiled(Body& body, const Attention& a, const std::vector<Value>& in,
                              const std::vector<Value>& carried) {
  Writer w(body, a);
  const Value q = w.SplitHeads(in[0]);
  const OnlineResult forward = WriteOnlineSoftmax(body, a, q, in[1], in[2]);
  std::vector<Value> results;
  if (a.forward()) results.push_back(w.JoinHeads(forward.o));
  if (!a.backward()) return results;

  // With l = max + log(sum), softmax is exp(score - l); delta = Σ_d do·o = Σ_j p·dp (Dao 2022).
  const Value l = body.Binary("add", forward.row_max, body.Unary("log", forward.row_sum));
  const Value d_o = w.SplitHeads(in[3]);
  const Value d_o_rows = body.Transpose(body.Convert(d_o, DType::kF32), {0, 2, 1, 3, 4});
  const Value delta = w.RowSum(body.Binary("multiply", d_o_rows, forward.o));
  // Blocks of dk and dv replace those of the call before. -0 adds nothing either, and no compiler
  // takes it for the zeros of the first loop, which would have to be copied then.
  const std::vector<Value> initial = {q,
                                      d_o,
                                      in[1],
                                      in[2],
                                      l,
                                      delta,
                                      body.Splat(-0.0, w.accumulator()),
                                      carried[carried.size() - 2],
                                      carried.back()};
  const std::vector<Value> last = body.Repeat(
      a.blocks(), initial, [&a](Body& inner, const Value& round, const std::vector<Value>& state) {
        Writer iw(inner, a);
        const Block block(inner, a, round);
        const Value k = block.Of(inner, state[2]);
        const Value v = block.Of(inner, state[3]);
        const Value scores = iw.Scores(state[0], k, &block.first);
        const Value p = inner.Unary("exponential", iw.PerRow("subtract", scores, state[4]));
        const Value dp = iw.Dot(state[1], v, kOverDim);
        const Value ds = iw.ScoreGradient(p, dp, state[5]);
        std::vector<Value> next = state;
        next[6] = inner.Binary("add", state[6], iw.Dot(ds, k, kOverKeys));
        next[7] = inner.DynamicUpdateSlice(
            state[7], iw.KeysFirst(iw.Dot(ds, state[0], kOverQueries)), block.start);
        next[8] = inner.DynamicUpdateSlice(
            state[8], iw.KeysFirst(iw.Dot(iw.Narrow(p), state[1], kOverQueries)), block.start);
        return next;
      });
  results.push_back(w.JoinHeads(last[6]));
  results.push_back(last[7]);
  results.push_back(last[8]);
  return results;
}

}  // namespace

std::vector<Value> WriteAttention(Body& body, const Attention& attention,
                                  const std::vector<Value>& in, const std::vector<Value>& carried) {
  return attention.tiled ? WriteTiled(body, attention, in, carried)
                         : WriteMaterialised(body, attention, in);
}

}  // namespace ridgeline::benchmarks
