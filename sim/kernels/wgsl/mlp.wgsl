// A small neural network: 16 inputs, a hidden layer of 32 with ReLU, 8 outputs. One sample an invocation; the weights are in
// workgroup memory as blocks of 4 x 4, where all invocations read the same one at once. A matrix times a vector does a block.

const INPUTS = 4u; // vectors of four
const HIDDEN = 8u;
const OUTPUTS = 2u;
const WORKGROUP = 128u;

// The weights are row-major, a row for each input of the layer.
@group(0) @binding(0) var<storage, read> samples: array<array<vec4<f32>, INPUTS>>;
@group(0) @binding(1) var<storage, read> first: array<array<vec4<f32>, HIDDEN>, 4 * INPUTS>;
@group(0) @binding(2) var<storage, read> first_bias: array<vec4<f32>, HIDDEN>;
@group(0) @binding(3) var<storage, read> second: array<array<vec4<f32>, OUTPUTS>, 4 * HIDDEN>;
@group(0) @binding(4) var<storage, read> second_bias: array<vec4<f32>, OUTPUTS>;
@group(0) @binding(5) var<storage, read_write> results: array<array<vec4<f32>, OUTPUTS>>;

// Column c of block [to][from] has what input 4 * from + c gives to the outputs 4 * to and on.
var<workgroup> first_blocks: array<array<mat4x4<f32>, INPUTS>, HIDDEN>;
var<workgroup> second_blocks: array<array<mat4x4<f32>, HIDDEN>, OUTPUTS>;

@compute @workgroup_size(WORKGROUP)
fn mlp(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    for (var i = t; i < 4 * INPUTS * HIDDEN; i += WORKGROUP) {
        let row = i / HIDDEN;
        first_blocks[i % HIDDEN][row / 4][row % 4] = first[row][i % HIDDEN];
    }
    for (var i = t; i < 4 * HIDDEN * OUTPUTS; i += WORKGROUP) {
        let row = i / OUTPUTS;
        second_blocks[i % OUTPUTS][row / 4][row % 4] = second[row][i % OUTPUTS];
    }
    workgroupBarrier();
    if id.x >= arrayLength(&samples) {
        return;
    }

    let sample = samples[id.x];
    var output = second_bias;
    for (var h = 0u; h < HIDDEN; h++) {
        var hidden = first_bias[h];
        for (var i = 0u; i < INPUTS; i++) {
            hidden += first_blocks[h][i] * sample[i];
        }
        hidden = max(hidden, vec4<f32>());
        for (var o = 0u; o < OUTPUTS; o++) {
            output[o] += second_blocks[o][h] * hidden;
        }
    }
    results[id.x] = output;
}
