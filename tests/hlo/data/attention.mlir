module @attention attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%n: tensor<i32>, %a0: tensor<4x256x64xf32>, %a1: tensor<4x256x64xf32>, %a2: tensor<4x256x64xf32>, %c0: tensor<4x256x64xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4x256x64xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:6 = stablehlo.while(%w0 = %zero, %w1 = %n, %w2 = %a0, %w3 = %a1, %w4 = %a2, %w5 = %c0) : tensor<i32>, tensor<i32>, tensor<4x256x64xf32>, tensor<4x256x64xf32>, tensor<4x256x64xf32>, tensor<4x256x64xf32>
     cond {
      %p = stablehlo.compare LT, %w0, %w1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %b:4 = stablehlo.optimization_barrier %w0, %w2, %w3, %w4 : tensor<i32>, tensor<4x256x64xf32>, tensor<4x256x64xf32>, tensor<4x256x64xf32>
      %next = stablehlo.add %b#0, %one : tensor<i32>
      %s = stablehlo.dot_general %b#1, %b#2, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x64xf32>, tensor<4x256x64xf32>) -> tensor<4x256x256xf32>
      %ni = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %mx = stablehlo.reduce(%s init: %ni) applies stablehlo.maximum across dimensions = [2] : (tensor<4x256x256xf32>, tensor<f32>) -> tensor<4x256xf32>
      %mb = stablehlo.broadcast_in_dim %mx, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
      %sd = stablehlo.subtract %s, %mb : tensor<4x256x256xf32>
      %e = stablehlo.exponential %sd : tensor<4x256x256xf32>
      %zf = stablehlo.constant dense<0.0> : tensor<f32>
      %su = stablehlo.reduce(%e init: %zf) applies stablehlo.add across dimensions = [2] : (tensor<4x256x256xf32>, tensor<f32>) -> tensor<4x256xf32>
      %sb = stablehlo.broadcast_in_dim %su, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
      %p2 = stablehlo.divide %e, %sb : tensor<4x256x256xf32>
      %d = stablehlo.dot_general %p2, %b#3, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x256x256xf32>, tensor<4x256x64xf32>) -> tensor<4x256x64xf32>
      stablehlo.return %next, %w1, %b#1, %b#2, %b#3, %d : tensor<i32>, tensor<i32>, tensor<4x256x64xf32>, tensor<4x256x64xf32>, tensor<4x256x64xf32>, tensor<4x256x64xf32>
    }
    return %r#5 : tensor<4x256x64xf32>
  }
}
