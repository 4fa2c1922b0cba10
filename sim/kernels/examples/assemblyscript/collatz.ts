// A kernel in AssemblyScript: how many steps the numbers from 1 on take to reach 1, and how many take more than a bound.
import { atomicAdd, globalId } from "./wave";

// `steps` has a word for each number, `long` one in all.
export function collatz(steps: usize, long: usize, bound: u32, count: u32): void {
  const place = globalId();
  if (place >= count) return;
  let number = place + 1;
  let taken: u32 = 0;
  while (number != 1) {
    number = (number & 1) != 0 ? 3 * number + 1 : number >> 1;
    taken++;
  }
  store<u32>(steps + 4 * place, taken);
  if (taken > bound) atomicAdd(long, 1);
}

// Threads of a workgroup: `wave-sim` finds it by its name.
export function wave_workgroup_x_collatz(): u32 {
  return 64;
}
