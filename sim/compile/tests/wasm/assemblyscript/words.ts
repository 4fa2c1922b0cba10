// Programs with the default runtime of AssemblyScript, which collects garbage: text, maps, sorting, trees.
//
//     npx --package assemblyscript@0.28.20 asc words.ts -O --outFile words.wasm
export function words(seed: i32, count: i32): i32 {
  const map = new Map<string, i32>();
  let state: u32 = seed;
  for (let i = 0; i < count; i++) {
    state = state * 1664525 + 1013904223;
    const key = "w" + ((state >> 24) & 15).toString();
    map.set(key, map.has(key) ? map.get(key) + 1 : 1);
  }
  const keys = map.keys();
  keys.sort();
  let sum = 0;
  for (let i = 0; i < keys.length; i++) sum = sum * 31 + map.get(keys[i]) * keys[i].charCodeAt(1);
  return sum;
}
class Node { left: Node | null = null; right: Node | null = null; constructor(public key: i32) {} }
export function tree(seed: i32, count: i32): i32 {
  let root: Node | null = null; let state: u32 = seed;
  for (let i = 0; i < count; i++) {
    state = state * 1664525 + 1013904223;
    const key = (state >> 8) as i32;
    const node = new Node(key);
    if (!root) { root = node; continue; }
    let at: Node = root!;
    while (true) {
      if (key < at.key) { if (at.left) at = at.left!; else { at.left = node; break; } }
      else { if (at.right) at = at.right!; else { at.right = node; break; } }
    }
  }
  return depth(root);
}
function depth(node: Node | null): i32 {
  if (!node) return 0;
  const l = depth(node.left), r = depth(node.right);
  return 1 + (l > r ? l : r);
}
export function join(n: i32): i32 {
  const parts = new Array<string>();
  for (let i = 0; i < n; i++) parts.push((i * i).toString());
  const text = parts.join(",");
  const back = text.split(",");
  let sum = 0;
  for (let i = 0; i < back.length; i++) sum += i32.parse(back[i]);
  return sum + text.length;
}
export function floats(n: i32): f64 {
  const list = new Array<f64>();
  for (let i = 0; i < n; i++) list.push(Math.sin(i as f64));
  list.sort((a, b) => a < b ? -1 : a > b ? 1 : 0);
  return list[0] + list[n - 1];
}
