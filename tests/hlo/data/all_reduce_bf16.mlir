module @all_reduce_bf16 attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%n: tensor<i32> {mhlo.sharding = "{manual}"}, %a0: tensor<65536xbf16> {mhlo.sharding = "{manual}"}, %c0: tensor<65536xbf16> {tf.aliasing_output = 0 : i32, mhlo.sharding = "{manual}"}) -> (tensor<65536xbf16> {mhlo.sharding = "{manual}"}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:4 = stablehlo.while(%w0 = %zero, %w1 = %n, %w2 = %a0, %w3 = %c0) : tensor<i32>, tensor<i32>, tensor<65536xbf16>, tensor<65536xbf16>
     cond {
      %p = stablehlo.compare LT, %w0, %w1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %b:2 = stablehlo.optimization_barrier %w0, %w2 : tensor<i32>, tensor<65536xbf16>
      %next = stablehlo.add %b#0, %one : tensor<i32>
      %d = "stablehlo.all_reduce"(%b#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
        %s = stablehlo.add %x, %y : tensor<bf16>
        stablehlo.return %s : tensor<bf16>
      }) : (tensor<65536xbf16>) -> tensor<65536xbf16>
      stablehlo.return %next, %w1, %b#1, %d : tensor<i32>, tensor<i32>, tensor<65536xbf16>, tensor<65536xbf16>
    }
    return %r#3 : tensor<65536xbf16>
  }
}
