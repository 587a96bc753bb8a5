module @form attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%n: tensor<i32> {mhlo.sharding = "{manual}"}, %in0: tensor<1024xf32> {mhlo.sharding = "{manual}"}, %out0: tensor<1024xf32> {mhlo.sharding = "{manual}", tf.aliasing_output = 0 : i32}) -> (tensor<1024xf32> {mhlo.sharding = "{manual}"}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %w:4 = stablehlo.while(%i = %zero, %limit = %n, %a0 = %in0, %c0 = %out0) : tensor<i32>, tensor<i32>, tensor<1024xf32>, tensor<1024xf32>
    cond {
      %more = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %b:2 = stablehlo.optimization_barrier %i, %a0 : tensor<i32>, tensor<1024xf32>
      %v = "stablehlo.all_to_all"(%b#1) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<1024xf32>) -> tensor<1024xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %b#0, %one : tensor<i32>
      stablehlo.return %next, %limit, %b#1, %v : tensor<i32>, tensor<i32>, tensor<1024xf32>, tensor<1024xf32>
    }
    return %w#3 : tensor<1024xf32>
  }
}
