// Fourier transforms of rows of 1024 complex numbers, one workgroup a row: five passes of radix 4 in Stockham's form, which brings
// the result out in order. Between passes the numbers go through workgroup memory; an invocation holds four of them.

alias Complex = vec2<f32>;

@group(0) @binding(0) var<storage, read> signal: array<Complex>;
@group(0) @binding(1) var<storage, read_write> spectrum: array<Complex>;

const POINTS = 1024u;
const QUARTER = POINTS / 4;
const PI = 3.14159265;

var<workgroup> numbers: array<Complex, POINTS>;

fn times(a: Complex, b: Complex) -> Complex {
    return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Grid: x = rows.
@compute @workgroup_size(QUARTER)
fn fft(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) workgroup: vec3<u32>) {
    let row = workgroup.x * POINTS;
    var a: array<Complex, 4>;
    for (var i = 0u; i < 4; i++) {
        a[i] = signal[row + t + i * QUARTER];
    }
    // `part` points are transformed already: four such parts become one.
    for (var part = 1u; part < POINTS; part *= 4) {
        let inside = t & (part - 1);
        if part > 1 {
            workgroupBarrier(); // the last pass is complete
            let angle = -PI / 2 * f32(inside) / f32(part);
            let turn = vec2(cos(angle), sin(angle));
            let twice = times(turn, turn);
            a[0] = numbers[t];
            a[1] = times(numbers[t + QUARTER], turn);
            a[2] = times(numbers[t + 2 * QUARTER], twice);
            a[3] = times(numbers[t + 3 * QUARTER], times(twice, turn));
            workgroupBarrier(); // all of it is read
        }
        let even_sum = a[0] + a[2];
        let even_difference = a[0] - a[2];
        let odd_sum = a[1] + a[3];
        let odd_difference = vec2(a[1].y - a[3].y, a[3].x - a[1].x); // times -i
        a = array(even_sum + odd_sum, even_difference + odd_difference, even_sum - odd_sum, even_difference - odd_difference);
        let place = (t - inside) * 4 + inside;
        for (var i = 0u; i < 4; i++) {
            numbers[place + i * part] = a[i];
        }
    }
    // After the last pass the places of an invocation are t, t + QUARTER and so on: it wrote them itself.
    for (var i = 0u; i < 4; i++) {
        spectrum[row + t + i * QUARTER] = a[i];
    }
}
