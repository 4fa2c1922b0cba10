//! How deep ifs and loops of functions may be nested, so that a machine follows them through calls.

use super::code::Code;
use crate::ir::FunctionId;
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;

/// The least that a function is given: the loop, the choice of a block and the branch at its end.
const LEAST: u32 = 3;

/// Nesting of a function, without that of the functions that it calls.
#[derive(Debug, Clone, Default)]
pub(super) struct Nesting {
    /// Deepest.
    own: u32,
    /// Deepest at a call of each function.
    calls: Vec<(FunctionId, u32)>,
}

impl Nesting {
    /// That of these instructions.
    pub(super) fn of(code: &[Code]) -> Nesting {
        use wave_isa::Op::*;
        let (mut now, mut own) = (0u32, 0);
        let mut calls: HashMap<FunctionId, u32> = HashMap::new();
        for code in code {
            match code.op {
                If | Loop => now += 1,
                EndIf | EndLoop => now -= 1,
                _ => {}
            }
            own = own.max(now);
            if let Some(callee) = code.transfer.as_ref().and_then(|transfer| transfer.callee) {
                let deepest = calls.entry(callee).or_default();
                *deepest = now.max(*deepest);
            }
        }
        let mut calls: Vec<(FunctionId, u32)> = calls.into_iter().collect();
        calls.sort_unstable();
        Nesting { own, calls }
    }

    /// Deepest nesting of ifs and loops.
    pub(super) fn own(&self) -> u32 {
        self.own
    }
}

/// Most nesting of each function, with which no chain of calls is nested deeper than `limit`. `order` has the functions,
/// each behind those that it calls. Gives each function what it has, where there is room: of the deepest chain the function
/// with the most is cut down, again and again. What it is cut down to is its share, the limit divided by the length of its
/// longest chain, so that the shares of a chain are never more than the limit.
pub(super) fn budgets(
    order: &[FunctionId],
    nesting: &SecondaryMap<FunctionId, Nesting>,
    limit: u32,
) -> SecondaryMap<FunctionId, u32> {
    let shares = shares(order, nesting, limit);
    let mut budgets = SecondaryMap::with_default(u32::MAX);
    let Some(&entry) = order.last() else { return budgets };
    loop {
        // The deepest nesting from each function on, and the function called where that is.
        let mut deepest: SecondaryMap<FunctionId, (u32, Option<FunctionId>)> = SecondaryMap::new();
        for &id in order {
            let budget = budgets[id];
            let calls = nesting[id].calls.iter();
            let through = calls.map(|&(callee, now)| (now.min(budget) + deepest[callee].0, Some(callee)));
            deepest[id] = through
                .max()
                .into_iter()
                .chain([(nesting[id].own.min(budget), None)])
                .max()
                .unwrap_or_default();
        }
        if deepest[entry].0 <= limit {
            return budgets;
        }
        let chain = std::iter::successors(Some(entry), |&id| deepest[id].1);
        let excess = |id: FunctionId| nesting[id].own.min(budgets[id]).saturating_sub(shares[id]);
        match chain.max_by_key(|&id| excess(id)).filter(|&id| excess(id) > 0) {
            Some(id) => budgets[id] = shares[id],
            None => return budgets,
        }
    }
}

/// The limit divided by the number of functions of the longest chain of calls that each function is in.
fn shares(
    order: &[FunctionId],
    nesting: &SecondaryMap<FunctionId, Nesting>,
    limit: u32,
) -> SecondaryMap<FunctionId, u32> {
    let callees = |id: FunctionId| nesting[id].calls.iter().map(|&(callee, _)| callee);
    let (mut below, mut above) = (SecondaryMap::<_, u32>::new(), SecondaryMap::<_, u32>::new());
    for &id in order {
        below[id] = 1 + callees(id).map(|callee| below[callee]).max().unwrap_or(0);
    }
    for &id in order.iter().rev() {
        for callee in callees(id) {
            above[callee] = above[callee].max(above[id] + 1);
        }
    }
    let mut shares = SecondaryMap::new();
    for &id in order {
        shares[id] = (limit / (below[id] + above[id])).max(LEAST);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(own: u32, calls: &[(u32, u32)]) -> Nesting {
        let calls = calls.iter().map(|&(callee, now)| (FunctionId::from_u32(callee), now));
        Nesting { own, calls: calls.collect() }
    }

    fn budgets_of(functions: &[Nesting], limit: u32) -> Vec<u32> {
        let mut nesting = SecondaryMap::new();
        let order: Vec<FunctionId> = (0..functions.len() as u32).map(FunctionId::from_u32).collect();
        for (&id, function) in order.iter().zip(functions) {
            nesting[id] = function.clone();
        }
        order.iter().map(|&id| budgets(&order, &nesting, limit)[id]).collect()
    }

    #[test]
    fn only_what_does_not_fit_is_cut_down() {
        const ALL: u32 = u32::MAX;
        // A leaf, two that call it, and the entry.
        let fits = [
            function(5, &[]),
            function(6, &[(0, 6)]),
            function(9, &[(0, 2)]),
            function(4, &[(1, 4), (2, 3)]),
        ];
        assert_eq!(budgets_of(&fits, 15), [ALL; 4]);
        // Of the chain 3, 1, 0 the second function has more than its share of 4.
        assert_eq!(budgets_of(&fits, 13), [ALL, 4, ALL, ALL]);
    }

    #[test]
    fn eight_calls_inside_one_another_always_fit() {
        let mut functions = vec![function(40, &[])];
        for number in 0..8 {
            functions.push(function(30, &[(number, 30)]));
        }
        let budgets = budgets_of(&functions, 32);
        assert!(budgets.iter().sum::<u32>() <= 32, "{budgets:?}");
    }
}
