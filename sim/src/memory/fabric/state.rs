//! What a network of routers holds, for those who draw it.

use super::Fabric;
use crate::clock::Cycle;
use crate::memory::state::COUNT;

/// Of a link: whether a packet holds it, and the packets on it and in the buffers at its end.
pub(in crate::memory) const LINK: [(&str, u32); 2] = [("busy", 1), ("packets", COUNT)];

impl<P> Fabric<P> {
    /// Whether each destination's port is held, then [`LINK`] of each link.
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
