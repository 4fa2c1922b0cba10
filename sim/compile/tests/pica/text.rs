//! The assembler and the listing.

use crate::generate::{Case, PLAIN, Shape, case};
use crate::machine::{documented, interpreted, uniform_bytes};
use wave_compile::pica::{Float, PicaOptions, assemble, decode, decode_code, is_shbin};
use wave_isa::diagnostic::Diagnostic;

/// Words of code and of descriptors of a container, and its entries: read by hand.
pub(crate) fn contents(bytes: &[u8]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    assert!(is_shbin(bytes));
    let count = word(4) as usize;
    let program = 8 + 4 * count;
    assert_eq!(&bytes[program..program + 4], b"DVLP");
    let (code, descriptors) = (program + word(program + 8) as usize, program + word(program + 16) as usize);
    let words = (0..word(program + 12) as usize).map(|place| word(code + 4 * place));
    let others = (0..word(program + 20) as usize).map(|place| word(descriptors + 8 * place));
    let entries = (0..count).map(|place| word(word(8 + 4 * place) as usize + 8));
    (words.collect(), others.collect(), entries.collect())
}

fn assembled(text: &str) -> Vec<u8> {
    assemble(text, "test.pica").unwrap_or_else(|errors| panic!("{}\n{text}", listed(&errors)))
}

fn listed(errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| error.render(false)).collect::<Vec<_>>().join("\n")
}

/// A shader as its listing, and that again as words: the same.
#[test]
fn listings_of_random_shaders_give_the_same_words() {
    let mut lines = 0;
    for seed in 0..1500 {
        let shape = Shape { jumps: seed % 2 == 0, statements: 1 + seed as u32 % 9, ..PLAIN };
        let case = case(seed, shape);
        let Ok(decoded) = decode_code(&case.code, &case.descriptors, case.entry, &PicaOptions::default())
        else {
            continue;
        };
        let text = decoded.listing.text();
        let bytes = assembled(text);
        let expected = (case.code.clone(), case.descriptors.clone(), vec![case.entry]);
        assert_eq!(contents(&bytes), expected, "seed {seed}\n{text}");
        let again = decode(&bytes, &PicaOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        let code = |text: &str| {
            text.lines().filter(|line| line.starts_with(' ')).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(code(again.listing.text()), code(text));
        lines += text.lines().count();
    }
    assert!(lines > 20_000, "{lines}");
}

/// What a text computes for one vertex whose registers are 0, but for `v0` and `v1`.
fn outputs(text: &str, float: Float, v0: [f32; 4], v1: [f32; 4], booleans: u32) -> Vec<[f32; 4]> {
    let bytes = assembled(text);
    let decoded =
        decode(&bytes, &PicaOptions { float, early: false }).unwrap_or_else(|error| panic!("{error}"));
    let mut case = vertex(v0, v1);
    case.uniforms.booleans = booleans;
    let found = interpreted(&decoded, &case).expect("it ends");
    found[0].iter().map(|register| register.map(f32::from_bits)).collect()
}

fn vertex(v0: [f32; 4], v1: [f32; 4]) -> Case {
    let mut case = case(1, PLAIN);
    case.uniforms.floats = [[0; 4]; 96];
    for (number, register) in case.uniforms.floats.iter_mut().enumerate() {
        *register = [0, 1, 2, 3].map(|place| (number as f32 + place as f32 / 4.0).to_bits());
    }
    case.uniforms.integers = [[2, 5, 1], [0, 0, 0], [1, 90, 3], [0, 7, 7]];
    let mut inputs = [[0; 4]; 16];
    (inputs[0], inputs[1]) = (v0.map(f32::to_bits), v1.map(f32::to_bits));
    case.vertices = vec![inputs];
    case
}

const V0: [f32; 4] = [1.5, -2.0, 4.0, 0.25];
const V1: [f32; 4] = [3.0, 0.5, -1.0, 2.0];

/// The instructions with their operands, one by one: what each gives is computed here by hand.
#[test]
fn each_instruction_does_what_its_name_says() {
    let one = |line: &str| outputs(&format!(".proc main\n{line}\nend\n.end\n"), Float::F24, V0, V1, 0)[0];
    assert_eq!(one("add o0, v0, v1"), [4.5, -1.5, 3.0, 2.25]);
    assert_eq!(one("add o0, v0, -v1.yyxx"), [1.0, -2.5, 1.0, -2.75]);
    assert_eq!(one("mul o0.xz, v0, v1"), [4.5, 0.0, -4.0, 0.0]);
    assert_eq!(one("dp3 o0, v0, v1"), [-0.5; 4]);
    assert_eq!(one("dp4 o0, v0, v1"), [0.0; 4]);
    assert_eq!(one("dph o0, v0, v1"), [1.5; 4]);
    assert_eq!(one("dph o0, v0, c1"), [1.0 * 1.5 - 2.5 + 6.0 + 1.75; 4]);
    assert_eq!(one("dst o0, v0, v1"), [1.0, -1.0, 4.0, 2.0]);
    assert_eq!(one("ex2 o0, v0.y"), [0.25; 4]);
    assert_eq!(one("lg2 o0, v0.z"), [2.0; 4]);
    assert_eq!(one("litp o0, v0"), [1.5, -2.0, 0.0, 0.25]);
    assert_eq!(one("litp o0, v0.yzxw"), [0.0, 4.0, 0.0, 0.25]);
    assert_eq!(one("sge o0, v0, v1"), [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(one("slt o0, v0, v1"), [1.0, 1.0, 0.0, 1.0]);
    assert_eq!(one("slt o0, v0, c2"), [1.0, 1.0, 0.0, 1.0]);
    assert_eq!(one("flr o0, -v0"), [-2.0, 2.0, -4.0, -1.0]);
    assert_eq!(one("max o0, v0, v1"), [3.0, 0.5, 4.0, 2.0]);
    assert_eq!(one("min o0, v0, v1"), [1.5, -2.0, -1.0, 0.25]);
    assert_eq!(one("rcp o0, v0.w"), [4.0; 4]);
    assert_eq!(one("rsq o0, v0.z"), [0.5; 4]);
    assert_eq!(one("mov o0, c10.wzyx"), [10.75, 10.5, 10.25, 10.0]);
    assert_eq!(one("mad o0, v0, v1, v1"), [7.5, -0.5, -5.0, 2.5]);
    assert_eq!(one("mad o0, v0, c1, v1"), [4.5, -2.0, 5.0, 2.4375]);
    assert_eq!(one("mad o0, v0, v1, c1"), [5.5, 0.25, -2.5, 2.25]);
    assert_eq!(one("mova a0.xy, v0.xz\nmov o0, c10[a0.x]"), [11.0, 11.25, 11.5, 11.75]);
    assert_eq!(one("mova a0.xy, v0.xz\nmov o0, c10[a0.y]"), [14.0, 14.25, 14.5, 14.75]);
    assert_eq!(one("mova a0.x, -v0.z\nmov o0, c3[a0.x]"), [1.0; 4], "127 is past the last uniform");
    assert_eq!(one("mova a0.x, -v0.z\nmov o0, c5[a0.x]"), [1.0, 1.25, 1.5, 1.75]);
}

#[test]
fn control_flow_goes_where_it_says() {
    let run = |body: &str, booleans| outputs(&format!("{body}\n"), Float::F24, V0, V1, booleans)[0][0];
    let branch = ".proc main\nifu b3\nmov o0, c1\n.else\nmov o0, c2\n.end\nend\n.end";
    assert_eq!((run(branch, 8), run(branch, 7)), (1.0, 2.0));
    let cmp = |relations: &str, test: &str| {
        let text = format!(
            ".proc main\nmov o0, c1\ncmp v0, {relations}, v1\nifc {test}\nmov o0, c2\n.end\nend\n.end"
        );
        run(&text, 0) == 2.0
    };
    assert!(cmp("lt, gt", "cmp.x") && !cmp("lt, gt", "cmp.y") && cmp("lt, gt", "!cmp.y"));
    assert!(cmp("lt, gt", "cmp.x || cmp.y") && !cmp("lt, gt", "cmp.x && cmp.y"));
    assert!(cmp("lt, gt", "cmp.x && !cmp.y") && !cmp("ge, gt", "cmp.x || cmp.y"));
    assert!(cmp("ne, le", "cmp.y && cmp.x") && !cmp("eq, eq", "cmp.x || cmp.y"));
    // i0 is 2, 5, 1: three times, with 5, 6 and 7.
    let sum = ".proc main\nfor i0\nadd r0, r0, v0\nmov r1, c0[aL]\n.end\nmov o0.x, r0.x\nmov o0.y, r1.x\nmov o0.z, c0[aL].x\nend\n.end\n";
    assert_eq!(outputs(sum, Float::F24, V0, V1, 0)[0], [4.5, 7.0, 0.0, 0.0]);
    // An inner loop gives back the aL of the outer one.
    let nested = ".proc main\nfor i0\nfor i2\nnop\n.end\nmov r0, c0[aL]\n.end\nmov o0, r0\nend\n.end\n";
    assert_eq!(run(nested, 0), 7.0);
    let leave =
        ".proc main\nfor i0\nadd r0, r0, v0\ncmp r0, ge, ge, v1\nbreakc cmp.x\n.end\nmov o0, r0\nend\n.end\n";
    assert_eq!(run(leave, 0), 3.0);
    let call = ".proc twice\nadd r0, r0, r0\n.end\n.proc main\nmov r0, v0\ncall twice\ncallu b0, twice\ncallc !cmp.x, twice\nmov o0, r0\nend\n.end\n";
    assert_eq!((run(call, 0), run(call, 1)), (6.0, 12.0));
    let jump = ".proc main\nmov r0, v0\njmpu !b0, out\nadd r0, r0, r0\nout:\nmov o0, r0\nend\n.end\n";
    assert_eq!((run(jump, 0), run(jump, 1)), (1.5, 3.0));
    let back =
        ".proc main\nagain:\nadd r0, r0, v0\ncmp c20, gt, gt, r0\njmpc cmp.x, again\nmov o0, r0\nend\n.end\n";
    assert_eq!(run(back, 0), 21.0);
    // A jump out of two loops gives back the aL of before both; one to the end of a loop is its next repetition.
    let out = ".proc main\nfor i2\nfor i0\njmpu !b0, out\n.end\n.end\nnop\nout:\nmov o0, c3[aL]\nend\n.end\n";
    assert_eq!((run(out, 0), run(out, 1)), (3.0, 3.0));
    let next = ".proc main\nfor i0\njmpu !b0, next\nadd r0, r0, v0\nnext:\n.end\nmov o0, r0\nend\n.end\n";
    assert_eq!((run(next, 0), run(next, 1)), (0.0, 4.5));
}

#[test]
fn constants_and_names() {
    let text = "\
.fvec projection[4], light ; c0 to c3, c4
.ivec turns
.bool bright
.constf half(0.5, -0.5, 1e3, 0)
.consti twice(1, 3, 1, 0)
.constb on(true)
.alias minus half.yyyy
.in position
.in normal v5
.out place position
.out tint color.xyz o3
.constfa steps[]
.constfa (10, 11, 12, 13)
.constfa (20, 21, 22, 23)
.end
.setf c7(7, 7.5, inf, nan)
.entry start
.proc start
    mov place, half
    add tint, minus, position
    mova a0.x, position.x
    mov o5, steps[a0.x]
    mov o6, projection[1]
    mov o7, light
    for twice
        add r0, r0, normal
    .end
    mov o8, r0
    ifu on
        mov o9, c7
    .end
    end
.end
";
    let bytes = assembled(text);
    let decoded = decode(&bytes, &PicaOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let kernel = &decoded.kernels[0];
    assert_eq!(kernel.name, "start");
    let names = ["count", "uniforms", "v0", "v5", "o0", "o3", "o5", "o6", "o7", "o8", "o9"];
    assert_eq!(kernel.parameters, names);
    assert_eq!(kernel.outputs, [(0, "position".to_owned()), (3, "color.xyz".to_owned())]);
    let named: Vec<(&str, u16, u16)> =
        kernel.names.iter().map(|(name, a, b)| (name.as_str(), *a, *b)).collect();
    let expected =
        [("projection", 0x10, 0x13), ("light", 0x14, 0x14), ("turns", 0x70, 0x70), ("bright", 0x78, 0x78)];
    assert_eq!(named[..4], expected);
    assert_eq!(named[4..], [("position", 0, 0), ("normal", 5, 5)]);
    let mut case = vertex(V0, V1);
    case.vertices[0][5] = [2.0f32; 4].map(f32::to_bits);
    let found = interpreted(&decoded, &case).expect("it ends");
    let found = found[0].map(|register| register.map(f32::from_bits));
    assert_eq!(found[0], [0.5, -0.5, 1000.0, 0.0]);
    assert_eq!(found[3], [1.0, -2.5, 3.5, -0.25]);
    assert_eq!(found[5], [20.0, 21.0, 22.0, 23.0], "constants are seen by relative addresses");
    assert_eq!((found[6], found[7]), ([1.0, 1.25, 1.5, 1.75], [4.0, 4.25, 4.5, 4.75]));
    assert_eq!(found[8], [4.0; 4]);
    assert_eq!((found[9][0], found[9][1], found[9][2]), (7.0, 7.5, f32::INFINITY));
    assert!(found[9][3].is_nan());
    // The listing has it all.
    let again = assembled(decoded.listing.text());
    assert_eq!(contents(&again), contents(&bytes));
    let again = decode(&again, &PicaOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.kernels[0].outputs, kernel.outputs);
    assert_eq!(interpreted(&again, &case).expect("it ends")[0].map(|r| r.map(f32::from_bits))[5], found[5]);
    assert_eq!(uniform_bytes(&case.uniforms).len(), 1604);
}

#[test]
fn a_file_has_several_shaders() {
    let text = "\
.proc main\nmov o0, c1\nend\n.end
.proc other\nmov o0, c1\nend\n.end
.setf c1(1, 1, 1, 1)
.dvle second\n.entry other\n.setf c1(2, 2, 2, 2)
.dvle second\n.entry @0\n";
    let decoded = decode(&assembled(text), &PicaOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<&str> = decoded.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["main", "second", "second1"]);
    let mut values = Vec::new();
    for kernel in &decoded.kernels {
        let mut only = decoded.clone();
        only.kernels = vec![kernel.clone()];
        values.push(f32::from_bits(interpreted(&only, &vertex(V0, V1)).expect("it ends")[0][0][0]));
    }
    assert_eq!(values, [1.0, 2.0, 1.0]);
}

/// The message, its line and column, and its hint.
#[test]
fn errors_have_their_place() {
    for (text, line, column, message, hint) in [
        ("mox r0, v0", 1, 1, "there is no instruction `mox`", "did you mean"),
        ("  mov r0 v0", 1, 10, "`,` is expected here, and `v0` is found", ""),
        ("mov r0, v16", 1, 9, "there is no register `v16`", "registers are v0"),
        ("mov v0, r0", 1, 5, "an instruction writes o and r registers only", ""),
        ("mov r0.yx, v0", 1, 8, "components to write are in the order", ""),
        ("mov r0, v0.q", 1, 12, "`q` is not up to four of x, y, z, w", ""),
        ("add r0, v0, c0", 1, 13, "this source cannot be a uniform", "only one source"),
        ("mad r0, c0, c1, v0", 1, 9, "this source cannot be a uniform", "only one source"),
        ("cmp v0, eq, qe, v1", 1, 13, "there is no relation `qe`", "there are eq"),
        ("mov r0, v0[a0.x]", 1, 9, "an address register is added to uniforms only", ""),
        ("mov r0, c90[9]", 1, 9, "index 9 is past the last register", ""),
        ("emit", 1, 1, "`emit` is of geometry shaders, which are not taken", ""),
        ("call nowhere", 1, 6, "there is no procedure and no label `nowhere`", ""),
        ("ifu !b0", 1, 5, "`ifu` cannot test that a boolean is false", "`jmpu` can"),
        ("ifu b0\nnop", 1, 1, "this has no `.end`", ""),
        (".end", 1, 2, "nothing is open here", ""),
        (".else", 1, 2, "no `if` is open here", ""),
        (".procc main", 1, 2, "there is no directive `.procc`", "did you mean"),
        ("for i0\n.end", 2, 2, "the loop has no instruction", "put a `nop`"),
        (".constf a(1, 2, 3)", 1, 18, "`,`: there are four numbers is expected", ""),
        (".out a pose", 1, 8, "an output is no `pose`", "it is one of position"),
        ("nop", 1, 4, "there is no procedure and no label `main`", "a shader begins at"),
        (".alias r1 r2", 1, 8, "`r1` is the name of a register", ""),
        ("breakc cmp.x && cmp.x", 1, 17, "the two flags are", ""),
        ("mov r0, v0 $", 1, 12, "the end of the line is expected here, and `$` is found", ""),
    ] {
        let errors = assemble(text, "test.pica").expect_err(text);
        let error = &errors[0];
        let place = error.place.as_ref().expect("a place");
        assert!(error.message.contains(message), "{text}: {}", error.message);
        assert_eq!((place.line, place.column), (line, column), "{text}: {}", error.message);
        assert!(error.hint.as_deref().unwrap_or("").contains(hint), "{text}: {:?}", error.hint);
    }
    let many = "mox r0\n".repeat(1000);
    assert_eq!(assemble(&many, "test.pica").expect_err("it is wrong").len(), 50);
}

/// `mad` reaches 32 descriptors, others 128.
#[test]
fn descriptors_are_shared_and_counted() {
    let swizzles = |count: usize| {
        (0..count).map(|n| {
            let letter = |place: usize| ["x", "y", "z", "w"][n >> (2 * place) & 3];
            format!("{}{}{}{}", letter(0), letter(1), letter(2), letter(3))
        })
    };
    let text = |op: &str, count: usize, rest: &str| {
        let lines: Vec<String> = swizzles(count).map(|s| format!("{op} r0, v0.{s}{rest}")).collect();
        format!(".proc main\n{}\n{}\nend\n.end\n", lines.join("\n"), lines.join("\n"))
    };
    assert_eq!(contents(&assembled(&text("mov", 128, ""))).1.len(), 128);
    assert_eq!(contents(&assembled(&text("mad", 32, ", v0, v0"))).1.len(), 32);
    for wrong in [text("mov", 129, ""), text("mad", 33, ", v0, v0")] {
        let errors = assemble(&wrong, "test.pica").expect_err("too many");
        assert!(errors[0].message.contains("different descriptors"), "{}", listed(&errors));
    }
}

/// What picasso writes for two small shaders, as the reference notes describe the words.
#[test]
fn words_are_those_of_the_format() {
    let bytes = assembled(
        ".proc main\ndp4 o0.x, c0, v0\nmov o1, -v1.wwww\nmad r2, v0, c3[a0.y], r1\ncmp r0, lt, ge, v2\nend\n.end\n",
    );
    let (code, descriptors, entries) = contents(&bytes);
    assert_eq!(code[0], 0x02 << 26 | 0x20 << 12 | 1);
    assert_eq!(code[1], 0x13 << 26 | 1 << 21 | 1 << 12 | 2);
    assert_eq!(code[2], 7 << 29 | 0x12 << 24 | 2 << 22 | 0x23 << 10 | 0x11 << 5);
    assert_eq!(code[3], 0x17 << 27 | 2 << 24 | 5 << 21 | 0x10 << 12 | 2 << 7);
    assert_eq!(code[4], 0x22 << 26);
    let plain = 0x1B << 5 | 0x1B << 14 | 0x1B << 23;
    assert_eq!(descriptors, [plain | 15, plain | 8, plain & !(0xFF << 5) | 0xFF << 5 | 1 << 4 | 15]);
    assert_eq!(entries, [0]);
    let case = vertex(V0, V1);
    assert!(documented(&Case { code, descriptors, entry: 0, ..case }, Float::F24, false).is_some());
}
