//! Signals of a network of routers.

use super::Fabric;
use crate::clock::Cycle;
use crate::memory::state::COUNT;

/// Signals of a link: whether a packet holds it, and the packets on it and in the buffers at its end.
pub(in crate::memory) const LINK: [(&str, u32); 2] = [("busy", 1), ("packets", COUNT)];

impl<P> Fabric<P> {
    /// Appends, per output, whether it is held, and the packets if it is a link ([`LINK`]).
    pub(in crate::memory) fn look(&self, cycle: Cycle, values: &mut Vec<u64>) {
        for output in &self.outputs {
            values.push(u64::from(output.free_at > cycle));
            if let Some(link) = &output.link {
                let buffers =
                    link.buffers.iter().flatten().filter_map(|&input| self.inputs[input].buffer.as_ref());
                values.push(buffers.map(|buffer| buffer.packets.len() as u64).sum());
            }
        }
    }
}
