//! Empties the L2.

use crate::{Call, Error, Gpu};
use std::time::Duration;

/// A kernel that reads zeros, past the L1.
pub const EVICT: &str = "\
.version 7.8
.target sm_80
.address_size 64

.visible .entry evict(
	.param .u64 p_address,
	.param .u64 p_bytes
)
{
	.reg .b32 %t<4>, %v<5>;
	.reg .b64 %d<5>;
	.reg .pred %q<2>;
	ld.param.u64 %d0, [p_address];
	cvta.to.global.u64 %d0, %d0;
	ld.param.u64 %d1, [p_bytes];
	mov.u32 %t0, %ctaid.x;
	mov.u32 %t1, %ntid.x;
	mov.u32 %t2, %tid.x;
	mad.lo.u32 %t0, %t0, %t1, %t2;
	mul.wide.u32 %d2, %t0, 16;
	mov.u32 %t3, %nctaid.x;
	mul.lo.u32 %t3, %t3, %t1;
	mul.wide.u32 %d3, %t3, 16;
	mov.b32 %v4, 0;
$again:
	setp.ge.u64 %q0, %d2, %d1;
	@%q0 bra $done;
	add.u64 %d4, %d0, %d2;
	ld.global.cg.v4.b32 {%v0, %v1, %v2, %v3}, [%d4];
	or.b32 %v4, %v4, %v0;
	or.b32 %v4, %v4, %v3;
	add.u64 %d2, %d2, %d3;
	bra $again;
$done:
	setp.ne.u32 %q1, %v4, 0;
	@%q1 st.global.b32 [%d0], %v4;
	ret;
}
";

impl Gpu {
    /// Reads bytes, all of them zeros. If they are more than the L2 holds, nothing else is in it then, and nothing that it
    /// would have to write back.
    ///
    /// # Errors
    /// The place is not allocated.
    pub fn evict(&mut self, address: u64, bytes: u64) -> Result<(), Error> {
        self.usable()?;
        self.holds(address, bytes)?;
        let module = match self.evictor {
            Some(module) => module,
            None => self.compile(EVICT)?,
        };
        self.evictor = Some(module);
        let parameters: Vec<u8> = [address, bytes].into_iter().flat_map(u64::to_le_bytes).collect();
        let call = Call {
            entry: "evict",
            grid: [4 * self.properties.multiprocessors.max(1), 1, 1],
            threads: 512,
            shared_bytes: 0,
            parameters: &parameters,
            limit: Duration::from_secs(10),
        };
        let function = self.function(module, call.entry)?;
        self.start(function, &call, &|| false).map(drop)
    }
}
