module @form attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%n: tensor<i32>, %in0: tensor<1024xf32>, %in1: tensor<1024xf32>, %out0: tensor<1024xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<1024xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %w:5 = stablehlo.while(%i = %zero, %limit = %n, %a0 = %in0, %a1 = %in1, %c0 = %out0) : tensor<i32>, tensor<i32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>
    cond {
      %more = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %b:3 = stablehlo.optimization_barrier %i, %a0, %a1 : tensor<i32>, tensor<1024xf32>, tensor<1024xf32>
      %v = stablehlo.add %b#1, %b#2 : tensor<1024xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %b#0, %one : tensor<i32>
      stablehlo.return %next, %limit, %b#1, %b#2, %v : tensor<i32>, tensor<i32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>
    }
    return %w#4 : tensor<1024xf32>
  }
}
