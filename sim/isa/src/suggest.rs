//! Suggestions for unknown names.

/// The candidates nearest to `word`, at most three, in their order; none if nothing is near.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    const MOST: usize = 3;
    // No name is as long as that, and the comparison takes its time.
    const LONGEST: usize = 200;
    if word.len() > LONGEST {
        return Vec::new();
    }
    let word = word.to_lowercase();
    let length = word.chars().count();
    // A third of the letters may differ. A name that contains the word, or a part of it, counts like the
    // worst of those.
    let tolerance = length.div_ceil(3);
    let mut best = tolerance + 1;
    let mut names = Vec::new();
    for name in candidates {
        let distance = strsim::osa_distance(&word, name);
        let part = length >= 3 && (name.contains(&word) || word.contains(name) && name.len() >= 3);
        let distance = if part { distance.min(tolerance) } else { distance };
        if distance < best {
            best = distance;
            names.clear();
        }
        if distance == best && best <= tolerance && names.len() < MOST && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// `did you mean …?` with the nearest candidates.
pub fn did_you_mean<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let names = nearest(word, candidates);
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    match quoted.as_slice() {
        [] => None,
        [one] => Some(format!("did you mean {one}?")),
        [first @ .., last] => Some(format!("did you mean {} or {last}?", first.join(", "))),
    }
}
