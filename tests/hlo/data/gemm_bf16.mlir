module @gemm_bf16 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%n: tensor<i32>, %a0: tensor<512x512xbf16>, %a1: tensor<512x512xbf16>, %c0: tensor<512x512xbf16> {tf.aliasing_output = 0 : i32}) -> (tensor<512x512xbf16>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:5 = stablehlo.while(%w0 = %zero, %w1 = %n, %w2 = %a0, %w3 = %a1, %w4 = %c0) : tensor<i32>, tensor<i32>, tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512x512xbf16>
     cond {
      %p = stablehlo.compare LT, %w0, %w1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %b:3 = stablehlo.optimization_barrier %w0, %w2, %w3 : tensor<i32>, tensor<512x512xbf16>, tensor<512x512xbf16>
      %next = stablehlo.add %b#0, %one : tensor<i32>
      %d = stablehlo.dot_general %b#1, %b#2, contracting_dims = [1] x [0] : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xbf16>
      stablehlo.return %next, %w1, %b#1, %b#2, %d : tensor<i32>, tensor<i32>, tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512x512xbf16>
    }
    return %r#4 : tensor<512x512xbf16>
  }
}
