module @gs attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%a: tensor<512x512xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"}, %b: tensor<512x512xf32> {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0)}"}) -> (tensor<512x512xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"}) {
    %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    return %d : tensor<512x512xf32>
  }
}
