//! What is wrong and what is not taken: the place, and what was expected.

use crate::machine::{program, rendered};

/// A kernel with some statements.
fn kernel(statements: &str) -> String {
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .b32 %r<4>;\n\
         .reg .b64 %rd<4>;\n.reg .f32 %f<4>;\n.reg .pred %p<2>;\n{statements}\nret;\n}}\n"
    )
}

/// The line of the statements of [`kernel`].
const LINE: u32 = 9;

#[test]
fn statements_are_refused_at_their_place_by_name() {
    let cases: [(&str, &str, u32); 45] = [
        ("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f0, %f1}];", "`tex` is not taken", 1),
        ("wgmma.fence.sync.aligned;", "`wgmma` is not taken", 1),
        ("mbarrier.init.shared.b64 [%r0], %r1;", "`mbarrier` is not taken", 1),
        ("cp.async.bulk.commit_group;", "`cp.async.bulk` is not taken", 1),
        ("addd.s32 %r0, %r1, %r2;", "there is no instruction `addd`", 1),
        ("add.s33 %r0, %r1, %r2;", "`add` takes no modifier `.s33`", 4),
        ("add.b32 %r0, %r1, %r2;", "`add` does not take the type `.b32`", 4),
        ("add.s32 %r0, %r1;", "`add` takes 3 operands, and there are 2", 1),
        ("add.s32 %r0, %r1, %rx;", "`%rx` is no register", 19),
        ("add.s64 %rd0, %rd1, %r1;", "`%r1` has the type .b32", 21),
        ("add.s32 %r0, %r1, [%rd0];", "without brackets", 19),
        ("mov.u32 %r0, %clock;", "kernels cannot read the time", 14),
        ("mov.u32 %r0, nothing;", "nothing is declared with the name `nothing`", 14),
        ("bra nowhere;", "there is no label `nowhere`", 5),
        ("@%r0 bra here;", "`%r0` is no register of type .pred", 2),
        ("ld.global.u32 %r0, %rd0;", "an address in brackets", 20),
        ("ld.param.u32 %r0, [p+8];", "byte 8 is outside of `p`", 19),
        ("ld.param.u64 %rd0, [p+4];", "not inside of the parameter", 1),
        ("div.rz.f32 %f0, %f1, %f2;", "the rounding .rz", 1),
        ("bar.sync 1, 64;", "a barrier for a part of the workgroup", 13),
        ("call (%r0), f, (%r1);", "there is no function `f`", 13),
        ("mov.u32 %r0, %tid.x; lop3.b32 %r1, %r1, %r2, %r3, %r0;", "the table of `lop3` is a number", 51),
        ("setp.s32 %p0, %r0, %r1;", "needs a comparison", 1),
        ("mul.s32 %r0, %r1, %r2;", "needs .lo, .hi or .wide", 1),
        ("atom.global.add.f16x2 %r0, [%rd0], %r1;", "`atom` does not take the type `.f16x2`", 16),
        ("ld.global.v2.u32 {%r0}, [%rd0];", "the access has 2", 18),
        ("cvt.s32.f32 %r0, %f0;", "needs .rni, .rzi", 1),
        (".reg .v2 .f32 %v;", "vectors are not taken", 6),
        ("add.s32 %r0, %r1, %r2", "expected `;` after an instruction", 0),
        ("elect.sync %r0|%p0, -1;", "`elect` is not taken", 1),
        ("fns.b32 %r0, %r1, %r2, %r3;", "`fns` is not taken", 1),
        ("mov.u32 %r0, 09;", "`09` is no number", 14),
        ("cvta.shared.u32 %r0, %r1;", "takes .u64", 1),
        ("mov.u32 %r2, %tid.x; match.all.sync.b32 %r0|%p0, %r1, %r2;", "a mask that is no number", 22),
        ("st.shared.u32 [%rd0], %f0, %r0;", "`st` takes 2 operands", 1),
        ("vote.sync.ballot.pred %p0, %p1, -1;", "has the type .b32", 1),
        (
            "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 %r0, %r1, %r2, %r3;",
            "`mma.m8n8k4` on numbers of type .f16 is not taken",
            1,
        ),
        (
            "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 %r0, %r1, %r2, %r3;",
            "of type `.s4` is not taken",
            38,
        ),
        ("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 %r0;", "`mma.sp` is not taken", 1),
        (
            "mma.sync.aligned.m16n8k8.row.col.f16.f32.f16.f16 {%r0, %r1}, {%r0, %r1}, {%r2}, {%r0, %r1};",
            "on numbers of type .f32 is not taken",
            1,
        ),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.bf16.f16.f32 {%r0, %r1}, {%r0, %r1}, {%r2}, {%r0, %r1};",
            "does not have the types .f32.bf16.f16.f32 together",
            1,
        ),
        (
            "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r0}, {%r2}, {%r0, %r1};",
            "this operand of `mma` has 2 registers, and 1 are written",
            62,
        ),
        ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0}, [%r1];", "has 2 registers, and 1 are written", 42),
        ("ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r0}, [%rd1];", "takes no modifier `.global`", 30),
        ("brx.idx %r0, here;", "there is no label `here`", 14),
    ];
    for (statement, message, column) in cases {
        let errors = program(&kernel(statement)).expect_err(statement);
        let text = rendered(&errors);
        assert!(text.contains(message), "{statement}\n{text}");
        let place = errors[0].place.as_ref().unwrap_or_else(|| panic!("{statement}: no place\n{text}"));
        if column > 0 {
            assert_eq!((place.line, place.column), (LINE, column), "{statement}\n{text}");
        }
    }
}

#[test]
fn modules_are_refused_at_their_place() {
    let cases = [
        ("", "`.version`"),
        (".version 3.0\n.target sm_20", "too old"),
        (".version 10.0\n.target sm_20", "no version of PTX that is read"),
        (".version 7.0\n.target sm_75\n.address_size 32", "32 bits are not taken"),
        (".version 7.0\n.target sm_75\n.address_size 64\n", "defines no .entry"),
        (".version 7.0\n.target sm_75\n.address_size 64\n.global .texref t;", "textures and surfaces"),
        (".version 7.0\n.target sm_75\n.global .u32 a[2] = {1, 2, 3};", "has 2 elements, and 3 values"),
        (".version 7.0\n.target sm_75\n.entry k() {", "`}` after the statements"),
        (".version 7.0\n.target sm_75\n.entry k() { \"x }", "no end on its line"),
        (".version 7.0\n.target sm_75\n.entry k() { ret; }\n.entry k() { ret; }", "defined twice"),
        (".version 7.0\n.target sm_75\n.shared .align 3 .u32 a;", "power of 2"),
        (
            ".version 7.0\n.target sm_75\n.global .u64 a = b;\n.entry k() { ret; }",
            "no variable in device memory",
        ),
    ];
    for (text, message) in cases {
        let errors = program(text).expect_err(text);
        assert!(rendered(&errors).contains(message), "{text}\n{}", rendered(&errors));
    }
}

#[test]
fn an_entry_that_is_not_taken_leaves_the_others() {
    let text = ".version 7.8\n.target sm_80\n.address_size 64\n.entry good() { ret; }\n.entry bad() { griddepcontrol.wait; ret; }\n\
                .entry _Z4sumsPi(.param .u64 p) { ret; }";
    let (made, warnings) = program(text).expect("two entries are right");
    let names: Vec<&str> = made.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["good", "_Z4sumsPi"]);
    assert!(
        warnings.len() == 1 && warnings[0].message.contains("`griddepcontrol` is not taken"),
        "{warnings:?}"
    );
    // The name of the source will do for that of the compiler.
    assert_eq!(made.kernel_named("sums"), Some(1));
    assert_eq!(made.kernel_named("sum"), None);
}

#[test]
fn a_recursion_is_refused() {
    let text = ".version 7.8\n.target sm_80\n.address_size 64\n.func g();\n.func f() { call g; ret; }\n\
                .func g() { call f; ret; }\n.entry k() { call f; ret; }";
    let errors = program(text).expect_err("a recursion");
    assert!(
        rendered(&errors).contains("`f` calls itself, directly or through others"),
        "{}",
        rendered(&errors)
    );
}
