//! The fixed-point algorithm of the special functions as functions of PTX. `docs/special-functions.md` defines it; the
//! steps below have its names.

use std::fmt::Write;
use wave_isa::Op;
use wave_isa::special_functions::{EXP2, LOG2, SEGMENTS, SINE, Segment, TWO_OVER_PI};

/// The functions of these operations, with their tables and what they share.
pub(crate) fn definitions(ops: &[Op]) -> String {
    let mut text = String::new();
    if ops.is_empty() {
        return text;
    }
    let circular = ops.iter().any(|op| matches!(op, Op::FSin | Op::FCos));
    if ops.contains(&Op::FExp2) {
        text += &table("wave_table_exp2", &EXP2);
    }
    if ops.contains(&Op::FLog2) {
        text += &table("wave_table_log2", &LOG2);
    }
    if circular {
        text += &table("wave_table_sine", &SINE);
        text += &array("wave_two_over_pi", TWO_OVER_PI);
    }
    text += INTERPOLATE;
    text += ROUND;
    if circular {
        text += CIRCULAR;
    }
    for op in ops {
        text += match op {
            Op::FExp2 => FEXP2,
            Op::FLog2 => FLOG2,
            Op::FSin => FSIN,
            _ => FCOS,
        };
    }
    text
}

fn table(name: &str, segments: &[Segment; SEGMENTS]) -> String {
    array(name, segments.iter().flat_map(|s| [s.c0, s.c1.cast_unsigned(), s.c2.cast_unsigned()]))
}

fn array(name: &str, words: impl IntoIterator<Item = u32>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("{word:#x}")).collect();
    let mut text = format!(".global .align 4 .b32 {name}[{}] = {{\n", words.len());
    let lines: Vec<String> = words.chunks(12).map(|line| format!("\t{}", line.join(", "))).collect();
    _ = writeln!(text, "{}\n}};\n", lines.join(",\n"));
    text
}

/// `interpolate(table, x)`.
const INTERPOLATE: &str = "\
.func (.reg .b32 %result) wave_interpolate(.reg .b64 %table, .reg .b32 %x)
{
	.reg .b32 %c0, %c1, %c2, %t, %slope;
	.reg .b64 %place, %product;
	shr.u32 %t, %x, 23;
	and.b32 %t, %t, 127;
	mul.wide.u32 %place, %t, 12;
	add.u64 %place, %place, %table;
	ld.global.b32 %c0, [%place];
	ld.global.b32 %c1, [%place+4];
	ld.global.b32 %c2, [%place+8];
	and.b32 %t, %x, 0x7FFFFF;
	mul.wide.s32 %product, %c2, %t;
	shr.s64 %product, %product, 23;
	cvt.u32.u64 %slope, %product;
	add.u32 %slope, %slope, %c1;
	mul.wide.s32 %product, %slope, %t;
	shr.s64 %product, %product, 23;
	cvt.u32.u64 %result, %product;
	add.u32 %result, %result, %c0;
	ret;
}

";

/// `round(sign, significand, leading)`.
const ROUND: &str = "\
.func (.reg .b32 %result) wave_round(.reg .b32 %sign, .reg .b64 %significand, .reg .b32 %leading)
{
	.reg .b32 %dropped, %field, %t;
	.reg .b64 %kept, %w;
	.reg .pred %normal;
	setp.ge.s32 %normal, %leading, -126;
	sub.s32 %t, -87, %leading;
	selp.b32 %dropped, 39, %t, %normal;
	add.s32 %t, %leading, 126;
	selp.b32 %field, %t, 0, %normal;
	shr.u64 %w, %significand, %dropped;
	and.b64 %w, %w, 1;
	add.u64 %kept, %significand, %w;
	sub.u32 %t, %dropped, 1;
	shl.b64 %w, 1, %t;
	sub.u64 %w, %w, 1;
	add.u64 %kept, %kept, %w;
	shr.u64 %kept, %kept, %dropped;
	cvt.u32.u64 %t, %kept;
	shl.b32 %field, %field, 23;
	add.u32 %t, %t, %field;
	or.b32 %result, %t, %sign;
	ret;
}

";

const FEXP2: &str = "\
.func (.reg .b32 %result) wave_fexp2(.reg .b32 %a)
{
	.reg .b32 %e, %m, %t, %limit;
	.reg .b64 %x, %w, %table;
	.reg .pred %negative, %p, %q;
	shr.u32 %e, %a, 23;
	and.b32 %e, %e, 255;
	setp.ne.u32 %p, %e, 0;
	selp.b32 %t, 0x800000, 0, %p;
	and.b32 %m, %a, 0x7FFFFF;
	or.b32 %m, %m, %t;
	max.u32 %e, %e, 1;
	min.u32 %t, %e, 134;
	sub.u32 %t, 134, %t;
	min.u32 %t, %t, 63;
	cvt.u64.u32 %x, %m;
	shl.b64 %x, %x, 14;
	shr.u64 %x, %x, %t;
	setp.lt.s32 %negative, %a, 0;
	neg.s64 %w, %x;
	selp.b64 %x, %w, %x, %negative;
	cvt.u32.u64 %t, %x;
	and.b32 %t, %t, 0x3FFFFFFF;
	mov.u64 %table, wave_table_exp2;
	call (%t), wave_interpolate, (%table, %t);
	cvt.u64.u32 %w, %t;
	shl.b64 %w, %w, 32;
	shr.s64 %table, %x, 30;
	cvt.u32.u64 %m, %table;
	call (%result), wave_round, (0, %w, %m);
	selp.b32 %limit, 0, 0x7F800000, %negative;
	setp.gt.u32 %p, %e, 134;
	setp.ge.s64 %q, %x, 137438953472;
	or.pred %p, %p, %q;
	setp.le.s64 %q, %x, -161061273600;
	or.pred %p, %p, %q;
	selp.b32 %result, %limit, %result, %p;
	and.b32 %t, %a, 0x7FFFFFFF;
	setp.gt.u32 %p, %t, 0x7F800000;
	selp.b32 %result, 0x7FC00000, %result, %p;
	ret;
}

";

const FLOG2: &str = "\
.func (.reg .b32 %result) wave_flog2(.reg .b32 %a)
{
	.reg .b32 %e, %m, %t, %power, %x, %shift, %sign;
	.reg .b64 %sum, %product, %table;
	.reg .pred %above, %p, %is_zero;
	shr.u32 %e, %a, 23;
	and.b32 %e, %e, 255;
	setp.ne.u32 %p, %e, 0;
	selp.b32 %t, 0x800000, 0, %p;
	and.b32 %m, %a, 0x7FFFFF;
	or.b32 %m, %m, %t;
	max.u32 %e, %e, 1;
	clz.b32 %shift, %m;
	sub.u32 %shift, %shift, 8;
	shl.b32 %m, %m, %shift;
	and.b32 %m, %m, 0x7FFFFF;
	setp.ge.u32 %above, %m, 0x400000;
	sub.u32 %power, %e, %shift;
	sub.u32 %power, %power, 127;
	@%above add.u32 %power, %power, 1;
	shl.b32 %x, %m, 1;
	sub.u32 %t, 0x800000, %m;
	selp.b32 %x, %t, %x, %above;
	shl.b32 %t, %m, 7;
	mov.u64 %table, wave_table_log2;
	call (%t), wave_interpolate, (%table, %t);
	mul.wide.u32 %product, %x, %t;
	cvt.s64.s32 %sum, %power;
	shl.b64 %sum, %sum, 54;
	@%above neg.s64 %product, %product;
	add.u64 %sum, %sum, %product;
	setp.eq.s64 %is_zero, %sum, 0;
	setp.lt.s64 %p, %sum, 0;
	selp.b32 %sign, 0x80000000, 0, %p;
	neg.s64 %product, %sum;
	selp.b64 %sum, %product, %sum, %p;
	clz.b64 %shift, %sum;
	sub.u32 %shift, %shift, 1;
	shl.b64 %sum, %sum, %shift;
	sub.u32 %t, 8, %shift;
	call (%result), wave_round, (%sign, %sum, %t);
	selp.b32 %result, 0, %result, %is_zero;
	setp.ge.u32 %p, %a, 0x7F800000;
	selp.b32 %result, 0x7FC00000, %result, %p;
	setp.eq.u32 %p, %a, 0x7F800000;
	selp.b32 %result, %a, %result, %p;
	and.b32 %t, %a, 0x7FFFFFFF;
	setp.eq.u32 %p, %t, 0;
	selp.b32 %result, 0xFF800000, %result, %p;
	ret;
}

";

/// sin(|a| + quarter × π/2), negated where `sign` is set, for |a| ≥ 2^-12.
const CIRCULAR: &str = "\
.func (.reg .b32 %result) wave_circular(.reg .b32 %a, .reg .b32 %quarter, .reg .b32 %sign)
{
	.reg .b32 %e, %m, %t, %w0, %w1, %w2, %w3, %first, %quadrant, %shift, %quotient;
	.reg .b64 %low, %middle, %high, %u, %w, %place;
	.reg .pred %p;
	shr.u32 %e, %a, 23;
	and.b32 %e, %e, 255;
	and.b32 %m, %a, 0x7FFFFF;
	or.b32 %m, %m, 0x800000;
	sub.u32 %first, %e, 88;
	max.s32 %first, %first, 0;
	shr.u32 %t, %first, 5;
	mul.wide.u32 %place, %t, 4;
	mov.u64 %w, wave_two_over_pi;
	add.u64 %place, %place, %w;
	ld.global.b32 %w0, [%place];
	ld.global.b32 %w1, [%place+4];
	ld.global.b32 %w2, [%place+8];
	ld.global.b32 %w3, [%place+12];
	shf.l.wrap.b32 %w0, %w1, %w0, %first;
	shf.l.wrap.b32 %w1, %w2, %w1, %first;
	shf.l.wrap.b32 %w2, %w3, %w2, %first;
	mul.wide.u32 %low, %m, %w2;
	mul.wide.u32 %middle, %m, %w1;
	shr.u64 %w, %low, 32;
	add.u64 %middle, %middle, %w;
	mul.wide.u32 %high, %m, %w0;
	shr.u64 %w, %middle, 32;
	add.u64 %high, %high, %w;
	shr.u64 %w, %high, 30;
	cvt.u32.u64 %quadrant, %w;
	add.u32 %quadrant, %quadrant, %quarter;
	shl.b64 %u, %high, 34;
	and.b64 %w, %middle, 0xFFFFFFFF;
	shl.b64 %w, %w, 2;
	or.b64 %u, %u, %w;
	and.b64 %w, %low, 0xFFFFFFFF;
	shr.u64 %w, %w, 30;
	or.b64 %u, %u, %w;
	and.b32 %t, %quadrant, 1;
	setp.ne.u32 %p, %t, 0;
	@%p not.b64 %u, %u;
	shr.u64 %w, %u, 34;
	cvt.u32.u64 %t, %w;
	mov.u64 %place, wave_table_sine;
	call (%quotient), wave_interpolate, (%place, %t);
	or.b64 %w, %u, 1;
	clz.b64 %shift, %w;
	shl.b64 %u, %u, %shift;
	shr.u64 %u, %u, 32;
	cvt.u32.u64 %t, %u;
	mul.wide.u32 %u, %t, %quotient;
	shr.u64 %w, %u, 62;
	cvt.u32.u64 %t, %w;
	xor.b32 %t, %t, 1;
	shl.b64 %u, %u, %t;
	add.u32 %shift, %shift, %t;
	neg.s32 %shift, %shift;
	and.b32 %quadrant, %quadrant, 2;
	shl.b32 %quadrant, %quadrant, 30;
	xor.b32 %t, %sign, %quadrant;
	call (%result), wave_round, (%t, %u, %shift);
	setp.eq.u32 %p, %e, 255;
	selp.b32 %result, 0x7FC00000, %result, %p;
	ret;
}

";

const FSIN: &str = "\
.func (.reg .b32 %result) wave_fsin(.reg .b32 %a)
{
	.reg .b32 %t, %sign;
	.reg .pred %p;
	and.b32 %sign, %a, 0x80000000;
	call (%t), wave_circular, (%a, 0, %sign);
	and.b32 %sign, %a, 0x7FFFFFFF;
	setp.lt.u32 %p, %sign, 0x39800000;
	selp.b32 %result, %a, %t, %p;
	ret;
}

";

const FCOS: &str = "\
.func (.reg .b32 %result) wave_fcos(.reg .b32 %a)
{
	.reg .b32 %t, %magnitude;
	.reg .pred %p;
	call (%t), wave_circular, (%a, 1, 0);
	and.b32 %magnitude, %a, 0x7FFFFFFF;
	setp.lt.u32 %p, %magnitude, 0x39800000;
	selp.b32 %result, 0x3F800000, %t, %p;
	ret;
}

";
