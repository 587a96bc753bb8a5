module @permute attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%n: tensor<i32> {mhlo.sharding = "{manual}"}, %a0: tensor<65536xf32> {mhlo.sharding = "{manual}"}, %c0: tensor<65536xf32> {tf.aliasing_output = 0 : i32, mhlo.sharding = "{manual}"}) -> (tensor<65536xf32> {mhlo.sharding = "{manual}"}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:4 = stablehlo.while(%w0 = %zero, %w1 = %n, %w2 = %a0, %w3 = %c0) : tensor<i32>, tensor<i32>, tensor<65536xf32>, tensor<65536xf32>
     cond {
      %p = stablehlo.compare LT, %w0, %w1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %b:2 = stablehlo.optimization_barrier %w0, %w2 : tensor<i32>, tensor<65536xf32>
      %next = stablehlo.add %b#0, %one : tensor<i32>
      %d = "stablehlo.collective_permute"(%b#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0,1],[1,2],[2,3],[3,0]]> : tensor<4x2xi64>}> : (tensor<65536xf32>) -> tensor<65536xf32>
      stablehlo.return %next, %w1, %b#1, %d : tensor<i32>, tensor<i32>, tensor<65536xf32>, tensor<65536xf32>
    }
    return %r#3 : tensor<65536xf32>
  }
}
