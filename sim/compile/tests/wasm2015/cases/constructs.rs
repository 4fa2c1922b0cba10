//! Constructs and branches.

use super::{Cases, add, module, trace, traced};
use crate::encoder::{
    BRANCH, Expr, block, br, br_if, call, f32, get, i32, i64, nop, op, repeat, set, tableswitch,
};
use wave_compile::ir::Type;

pub(super) fn constructs(cases: &mut Cases) {
    let (a, b) = (|| get(0), || get(1));
    let seven = || i32(7);
    cases.i32("block: value of the last", &[block(&[i32(1), f32(2.0), add(a(), b())])]);
    cases.i32("block: empty", &[block(&[]), a()]);
    cases.i32("block: nested", &[block(&[block(&[block(&[a()]), b()]), add(a(), b())])]);
    cases.i32("body of several expressions", &[a(), nop(), set(2, b()), get(2)]);
    cases.i32("nop", &[nop(), nop(), a()]);
    cases.i32("loop: without a branch", &[repeat(&[i32(3), a()])]);
    cases.i32("loop: empty", &[repeat(&[]), b()]);
    let again = |limit: Expr| br_if(0, nop(), op("i32.lt_s", &[set(3, add(get(3), i32(1))), limit]));
    let body = |last: Expr| vec![set(2, add(get(2), a())), again(i32(5)), last];
    cases.i32("loop: counts", &[repeat(&body(nop())), get(2)]);
    cases.i32("loop: value behind a branch back", &[repeat(&body(get(2)))]);
    cases.i32(
        "loop: br to the head drops its value",
        &[repeat(&[
            set(2, add(get(2), i32(1))),
            op("if", &[op("i32.lt_s", &[get(2), i32(9)]), br(0, f32(1.0))]),
            get(2),
        ])],
    );
    cases.i32(
        "loop: left with a value",
        &[repeat(&[
            set(2, add(get(2), i32(3))),
            br_if(1, get(2), op("i32.gt_s", &[get(2), b()])),
            br(0, nop()),
        ])],
    );
    cases.i32(
        "loop: in a loop",
        &[
            repeat(&[
                set(3, i32(0)),
                repeat(&[set(2, add(get(2), b())), again(i32(4))]),
                br_if(0, nop(), op("i32.lt_s", &[set(0, add(a(), i32(1))), i32(4)])),
            ]),
            get(2),
        ],
    );
    cases.i32(
        "loop: an outer one goes on from an inner one",
        &[
            repeat(&[
                set(3, add(get(3), i32(1))),
                repeat(&[
                    br_if(3, nop(), op("i32.ge_s", &[get(3), i32(6)])),
                    set(2, add(get(2), get(3))),
                    br(2, nop()),
                ]),
                br(0, nop()),
            ]),
            get(2),
        ],
    );
    cases.i32(
        "loop: variables of all types",
        &[
            repeat(&[
                set(4, op("i64.add", &[get(4), op("i64.sconverti32", &[a()])])),
                set(6, op("f32.add", &[get(6), f32(0.5)])),
                set(8, op("f64.add", &[get(8), op("f64.convertf32", &[get(6)])])),
                again(i32(3)),
            ]),
            add(op("i32.converti64", &[get(4)]), op("i32.sconvertf64", &[get(8)])),
        ],
    );
    cases.i32("if: taken or not", &[op("if", &[a(), set(2, seven())]), get(2)]);
    cases.i32("if: its value is dropped", &[op("if", &[a(), f32(1.0)]), b()]);
    cases.i32("if: returns", &[op("if", &[a(), op("return", &[i32(11)])]), b()]);
    cases.none("if: last in a function without a result", &[op("if", &[a(), i32(1)])]);
    cases.i32("if_else: i32", &[op("if_else", &[a(), seven(), b()])]);
    cases.with("if_else: i64", module(), Some(Type::I64), vec![op("if_else", &[a(), i64(-2), i64(1 << 40)])]);
    cases.with("if_else: f32", module(), Some(Type::F32), vec![op("if_else", &[a(), f32(1.5), f32(-0.0)])]);
    let convert = |name: &str, value: Expr| op(name, &[value]);
    cases.with(
        "if_else: f64",
        module(),
        Some(Type::F64),
        vec![op("if_else", &[a(), convert("f64.sconverti32", b()), convert("f64.uconverti32", a())])],
    );
    cases.i32("if_else: two types, dropped", &[op("if_else", &[a(), i32(2), f32(1.0)]), b()]);
    cases.i32("if_else: one side returns", &[op("if_else", &[a(), op("return", &[i32(2)]), b()])]);
    cases.i32(
        "if_else: both sides return",
        &[op("if_else", &[a(), op("return", &[i32(2)]), op("return", &[b()])])],
    );
    cases.i32(
        "if_else: makes no label",
        &[block(&[op("if_else", &[a(), br(0, i32(4)), br(0, b())]), i32(9)])],
    );
    cases.i32(
        "if_else: nested with variables",
        &[
            op(
                "if_else",
                &[
                    a(),
                    op("if_else", &[b(), set(2, i32(1)), set(3, i32(2))]),
                    op("if_else", &[b(), set(2, i32(3)), set(2, add(set(3, i32(4)), i32(1)))]),
                ],
            ),
            add(op("i32.mul", &[get(2), i32(10)]), get(3)),
        ],
    );
    cases.i32(
        "select: order",
        &[
            set(3, op("select", &[trace(1, a()), trace(2, b()), trace(3, op("i32.lt_s", &[a(), b()]))])),
            add(op("i32.mul", &[traced(), i32(1000)]), get(3)),
        ],
    );
    for (ty, values) in [
        (Type::I64, [i64(1 << 33), i64(-3)]),
        (Type::F32, [f32(1.25), f32(f32::INFINITY)]),
        (Type::F64, [convert("f64.sconverti32", a()), convert("f64.sconverti32", b())]),
    ] {
        let [first, second] = values;
        cases.with(&format!("select: {ty}"), module(), Some(ty), vec![op("select", &[first, second, b()])]);
    }
    cases.i32("select: of a branch", &[block(&[op("select", &[i32(1), br(0, i32(5)), i32(1)])])]);
}

pub(super) fn branches(cases: &mut Cases) {
    let (a, b) = (|| get(0), || get(1));
    cases.i32("br: with a value", &[block(&[br(0, a()), i32(3)])]);
    cases.i32(
        "br: over several",
        &[block(&[block(&[block(&[br(2, add(a(), i32(1))), i32(1)]), i32(2)]), i32(3)])],
    );
    cases.i32("br: to the middle", &[block(&[block(&[block(&[br(1, a()), i32(1)]), i32(2)]), i32(3)])]);
    cases.i32("br: as an operand", &[block(&[add(a(), br(0, b()))])]);
    cases.i32("br: in a condition", &[block(&[op("if", &[br(0, a()), set(2, i32(1))]), i32(8)])]);
    cases.i32("br: a dead one has no type", &[block(&[br(0, a()), br(0, f32(1.0)), i32(5)])]);
    cases.i32(
        "br: without a value to a construct that has none",
        &[block(&[br_if(0, nop(), a()), set(2, i32(6))]), add(get(2), b())],
    );
    cases.i32("br_if: with a value", &[block(&[br_if(0, add(a(), i32(20)), b()), i32(3)])]);
    cases.i32(
        "br_if: order",
        &[
            set(3, block(&[br_if(0, trace(1, a()), trace(2, b())), trace(3, i32(3))])),
            add(op("i32.mul", &[traced(), i32(1000)]), get(3)),
        ],
    );
    cases.i32(
        "br_if: the value is that before the condition",
        &[block(&[br_if(0, a(), set(0, add(b(), i32(1)))), add(a(), i32(100))])],
    );
    cases.i32("br_if: two types, dropped", &[block(&[br_if(0, f32(1.0), a()), br_if(0, i32(1), b())]), a()]);
    let digits = || add(op("i32.mul", &[get(2), i32(100)]), get(3));
    let note = |digit: i32| trace(digit, nop());
    let switch = |targets: &[u16], key: Expr, cases: &[Expr]| tableswitch(targets, key, cases);
    cases.i32(
        "tableswitch: falls through",
        &[switch(&[0, 1, 2], a(), &[note(1), note(2), note(3)]), traced()],
    );
    cases.i32(
        "tableswitch: targets in any order",
        &[switch(&[2, 0, 2, 1], a(), &[note(1), note(2), note(3)]), traced()],
    );
    cases.i32("tableswitch: value of the last case", &[switch(&[1, 0], a(), &[f32(2.0), b()])]);
    cases.i32(
        "tableswitch: value of a branch",
        &[switch(&[0, 1, 2], a(), &[br(0, i32(10)), i32(11), br_if(0, i32(12), b()), i32(13)])],
    );
    cases.i32(
        "tableswitch: to its own end",
        &[switch(&[BRANCH, 0, BRANCH], a(), &[set(3, i32(4))]), digits()],
    );
    cases.i32(
        "tableswitch: to outer constructs",
        &[
            block(&[
                block(&[switch(&[BRANCH | 1, BRANCH | 2, 0, BRANCH | 1], a(), &[note(1)]), note(2)]),
                note(3),
            ]),
            traced(),
        ],
    );
    cases.i32(
        "tableswitch: without cases",
        &[block(&[switch(&[BRANCH | 1, BRANCH], a(), &[]), note(5)]), traced()],
    );
    cases.i32("tableswitch: only the default", &[switch(&[0], a(), &[b()])]);
    cases.i32(
        "tableswitch: the key is outside of it",
        &[
            block(&[switch(&[0], br_if_key(), &[note(3)]), note(4)]),
            add(op("i32.mul", &[traced(), i32(100)]), a()),
        ],
    );
    cases.i32(
        "tableswitch: in a loop",
        &[
            repeat(&[
                set(3, add(get(3), i32(1))),
                switch(&[0, 1, 2, BRANCH | 2], get(3), &[note(1), note(2), br(1, nop())]),
                op("if", &[op("i32.lt_s", &[get(3), i32(6)]), br(0, nop())]),
            ]),
            traced(),
        ],
    );
    cases.i32(
        "tableswitch: nested",
        &[
            switch(
                &[0, 1, 2],
                a(),
                &[
                    switch(&[BRANCH, 0, BRANCH | 1], b(), &[note(1)]),
                    note(2),
                    block(&[br(1, nop()), note(9)]),
                    note(3),
                ],
            ),
            traced(),
        ],
    );
    cases.i32(
        "tableswitch: a case assigns",
        &[switch(&[0, 1, 1], a(), &[set(3, b()), set(2, add(get(3), i32(1)))]), digits()],
    );
    cases.i32("tableswitch: a case that nothing reaches", &[switch(&[1], a(), &[f32(1.0), b()])]);
    cases.i32(
        "tableswitch: cases return",
        &[switch(&[0, 1], a(), &[op("return", &[i32(1)]), op("return", &[b()])])],
    );
    cases.i32("return: early", &[op("if", &[b(), op("return", &[a()])]), i32(77)]);
    cases.i32("return: dead code behind it", &[op("return", &[a()]), f32(1.0)]);
    cases.i32(
        "return: dead constructs behind it",
        &[
            op("return", &[a()]),
            repeat(&[block(&[br(1, nop()), switch(&[0, BRANCH], b(), &[i32(1)])]), br(0, nop())]),
            op("if_else", &[a(), set(0, i32(1)), call(0, &[i32(1), i32(2)])]),
        ],
    );
    cases.none("return: of nothing", &[op("if", &[a(), op("return", &[])]), set(2, i32(1))]);
    cases.none("return: as an operand", &[add(i32(1), op("return", &[]))]);
    cases.i32("unreachable", &[op("if", &[op("i32.eq", &[a(), i32(5)]), op("unreachable", &[])]), b()]);
    cases.i32(
        "unreachable: as an operand",
        &[op("if_else", &[b(), a(), add(i32(1), op("unreachable", &[]))])],
    );
}

/// A key in which a branch to depth 0 leaves the construct around the switch.
fn br_if_key() -> Expr {
    block(&[br_if(1, i32(9), get(0)), i32(0)])
}
