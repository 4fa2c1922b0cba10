//! Nesting, functions and unreachable code.

use super::{CheckOptions, check_text, default, expect};

#[test]
fn structure() {
    default(
        "if p1              ;E this `if` is never closed
         halt",
    );
    default(
        "loop               ;E this `loop` is never closed
         break p1",
    );
    default(
        "loop
         endif              ;E `endif` without `if`
         break p1
         endloop",
    );
    default(
        "if p1
         loop               ;E this `loop` is still open at the `else` of line 6
         else
         endif",
    );
    default(
        "if p1
         continue p1        ;E `continue` outside a loop
         else
         else               ;E a second `else` of one `if`
         endif",
    );
}

#[test]
fn nesting_of_one_function() {
    let nested = |depth: usize, last: &str| {
        let mut text = "mov_imm r1, 1\nicmp_eq p1, r1, r1\n".to_owned();
        (1..depth).for_each(|_| text.push_str("if p1\n"));
        text.push_str(&format!("if p1 {last}\n"));
        (0..depth).for_each(|_| text.push_str("endif\n"));
        text
    };
    default(&nested(32, ""));
    default(&nested(33, ";E `if` and `loop` nest 33 deep here"));
    let shallow = CheckOptions { divergence_depth: 2, ..CheckOptions::default() };
    expect(&nested(3, ";E `if` and `loop` nest 3 deep here"), &shallow);
}

#[test]
fn nesting_across_calls() {
    let shallow = CheckOptions { divergence_depth: 2, ..CheckOptions::default() };
    expect(
        "mov_imm r1, 1
         icmp_eq p1, r1, r1
         if p1
         call f
         endif
         halt
      f: if p1
         if p1              ;E `if` and `loop` nest 3 deep here, counting what its callers have open
         endif
         endif
         return",
        &shallow,
    );
}

#[test]
fn call_depth() {
    let chain = |length: usize, last: &str| {
        let mut text = String::new();
        for f in 0..length {
            let call = if f + 1 == length { last } else { "" };
            text.push_str(&format!("f{f}: call f{} {call}\n", f + 1));
            text.push_str(if f == 0 { "halt\n" } else { "return\n" });
        }
        text + &format!("f{length}: return")
    };
    default(&chain(8, ""));
    default(&chain(9, ";E calls nest 9 deep here"));
    let report = expect(&chain(3, ""), &CheckOptions::default());
    assert_eq!((report.summary.max_call_depth, report.summary.functions), (3, 3));
}

#[test]
fn recursion() {
    default(
        "   call f
            halt
         f: nop
            call f          ;E a recursive call of the function at line 6 that never returns
            return",
    );
    default(
        "   mov_imm r1, 5
            mov_imm r2, 1
            call f
            halt
         f: icmp_gt p1, r1, r2
            if p1
            isub r1, r1, r2
            call f          ;W a recursive call of the function at line 8
            endif
            return",
    );
}

#[test]
fn functions() {
    // A return at the kernel's own level ends lanes and may be anywhere.
    default(
        "mov_sr r1, sr_lane_id
         icmp_eq p1, r1, r0
         if p1
         return
         endif
         halt",
    );
    default(
        "   call f
            halt
         f: if p1           ;W p1 is read, but nothing has written it: it is 0
            endif
            return",
    );
    default(
        "   mov_imm r1, 1
            icmp_eq p1, r1, r1
            call f
            halt
         f: if p1
            return          ;E `return` inside an `if` or `loop` of line 8, in the function at line 8, which line 6 calls
            endif
            return",
    );
    default(
        "   call f
            halt
            if p1           ;W this instruction is never reached
         f: nop
            endif           ;E `endif` acts on an `if` or `loop` outside the function at line 7, which line 4 calls
            return          ;E `return` inside an `if` or `loop`, in the function at line 7, which line 4 calls
         ",
    );
    default(
        "   call f
            nop             ;W the kernel runs on into the function that line 4 calls
         f: return",
    );
    default(
        "   call f
            halt
         f: nop             ;W the function at line 6, which line 4 calls, runs past the end of the kernel, which ends the whole wave",
    );
    default(
        ".word 0x3F000070, 2  ;E illegal instruction: call target 0x2 is not an instruction of this kernel
         halt",
    );
    default(
        "call 0x4           ;E illegal instruction: call target 0x4 is not an instruction of this kernel
         halt",
    );
}

#[test]
fn unreachable() {
    default(
        "halt
         mov_imm r1, 1      ;W these 3 instructions, to line 7, are never reached
         device_store_u32 r1, r1
         halt",
    );
    // Instructions that only end the text are no dead code, and neither are the markers of a live `if`.
    default(
        "icmp_eq p1, r0, r0
         if p1
         halt
         else
         halt
         endif
         halt",
    );
    default(
        "icmp_eq p1, r0, r0
         if p1
         halt
         nop                ;W this instruction is never reached
         else
         return
         endif",
    );
    default(
        "loop               ;W this loop never ends: no `break`, `halt` or `return` leaves it
         nop
         endloop
         nop
         halt",
    );
    default(
        "icmp_eq p1, r0, r0
         loop
         @p1 halt
         endloop",
    );
    default(
        "icmp_eq p1, r0, r0
         loop               ;W this loop never ends: no `break`, `halt` or `return` leaves it
         loop
         break p1
         endloop
         endloop",
    );
    default(
        "   icmp_eq p1, r0, r0
            loop
            call f
            endloop
         f: @p1 halt
            return",
    );
    // An illegal instruction in dead code does nothing: no second message.
    default(
        "halt
         .word 0xFF000000   ;W these 2 instructions, to line 6, are never reached
         nop",
    );
}

#[test]
fn what_is_too_much_to_list_or_to_follow() {
    let report = check_text(&".word 0xFF000000\n".repeat(60), &CheckOptions::default());
    assert_eq!(report.diagnostics.len(), 51);
    assert_eq!(report.diagnostics[50].message, "10 more messages about kernel `k` are not shown");
    let report = check_text(&"if p1\nendif\n".repeat(20_100), &CheckOptions::default());
    assert_eq!(report.diagnostics.len(), 1);
    let unread =
        "kernel `k` has too many branches or call targets to follow; only encodings and nesting were checked";
    assert_eq!(report.diagnostics[0].message, unread);
}
