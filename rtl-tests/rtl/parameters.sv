// Refuses, at elaboration, numbers of the package for which the modules are not written.
module parameters;
  import wave_core_pkg::*;
  function automatic bit is_power_of_two(input int n);
    return n > 0 && (n & (n - 1)) == 0;
  endfunction

  if (!is_power_of_two(WAVE_WIDTH)) $error("WAVE_WIDTH: a power of two");
  if (FETCH_WORDS != 2) $error("FETCH_WORDS: decode takes groups of 2 words");
  if (!is_power_of_two(FETCH_BUFFER_ENTRIES) || FETCH_BUFFER_ENTRIES < FETCH_WORDS)
    $error("FETCH_BUFFER_ENTRIES: instruction buffers have a power of two of entries, at least FETCH_WORDS");
  if (FETCH_ICACHE_LINE_BYTES != L1_LINE_BYTES)
    $error("FETCH_ICACHE_LINE_BYTES: a reply brings a line of L1_LINE_BYTES");
  if (!is_power_of_two(FETCH_ICACHE_BYTES / FETCH_ICACHE_LINE_BYTES / FETCH_ICACHE_WAYS)
      || FETCH_ICACHE_BYTES / FETCH_ICACHE_LINE_BYTES / FETCH_ICACHE_WAYS < 2)
    $error("FETCH_ICACHE_BYTES: the instruction cache has a power of two of sets, at least 2");
  if (FETCH_ICACHE_WAYS < 2) $error("FETCH_ICACHE_WAYS: at least 2");
  if (!is_power_of_two(REGISTERS_BANKS) || REGISTERS_BANKS < 2)
    $error("REGISTERS_BANKS: a power of two, at least 2");
  if (REGISTERS_COLLECTORS < 2) $error("REGISTERS_COLLECTORS: at least 2");
  if (REGISTERS_WRITE_PORTS != 1) $error("REGISTERS_WRITE_PORTS: write-back writes one row a cycle");
  if (!is_power_of_two(LSU_QUEUE_ENTRIES) || LSU_QUEUE_ENTRIES < 2)
    $error("LSU_QUEUE_ENTRIES: a power of two, at least 2");
  if (LSU_PENDING_ENTRIES + LSU_EXTRA_RETURN_ENTRIES + LSU_QUEUE_ENTRIES + 1 > LSU_ENTRIES)
    $error("LSU_EXTRA_RETURN_ENTRIES: return entries, the queue and the access latch have LSU_ENTRIES entries together");
  if (!is_power_of_two(LOCAL_BANKS) || LOCAL_BANKS < 2) $error("LOCAL_BANKS: a power of two, at least 2");
  if (L1_SECTOR_BYTES != L1_LINE_BYTES) $error("L1_SECTOR_BYTES: a line has one sector");
  if (!is_power_of_two(L1_LINE_BYTES) || L1_LINE_BYTES < 16)
    $error("L1_LINE_BYTES: a power of two, at least the 16 bytes of the widest access");
  if (!is_power_of_two(L1_BYTES / L1_LINE_BYTES / L1_WAYS) || L1_BYTES / L1_LINE_BYTES / L1_WAYS < 2)
    $error("L1_BYTES: the L1 has a power of two of sets, at least 2");
  if (L1_WAYS < 2) $error("L1_WAYS: at least 2");
  if (L1_MSHRS < 2) $error("L1_MSHRS: at least 2");
  if (L1_MSHR_MERGES < 2) $error("L1_MSHR_MERGES: at least 2");
  if (MAX_WAVES < 2 || MAX_WORKGROUPS < 2) $error("MAX_WAVES, MAX_WORKGROUPS: at least 2");
  if (MAX_WAVES * WAVE_WIDTH > 1023) $error("MAX_WAVES: numbers of threads have 10 bits");
  if (BRANCH_LATENCY_CYCLES < 2)
    $error("BRANCH_LATENCY_CYCLES: at least 2, because a control instruction acts in the cycle after its issue");
  if (FETCH_ICACHE_LATENCY_CYCLES < 1 || DISPATCHER_LATENCY_CYCLES < 1) $error("latencies are at least a cycle");
  if (LOCAL_LATENCY_CYCLES < 2)
    $error("LOCAL_LATENCY_CYCLES: at least 2, because a word is read in one cycle and kept as a result in the next");
  if (L1_HIT_LATENCY_CYCLES < 2) $error("L1_HIT_LATENCY_CYCLES: at least 2, because a frame is read in the cycle after its hit");
  if (DISPATCHER_WORKGROUPS_PER_CYCLE != 1) $error("DISPATCHER_WORKGROUPS_PER_CYCLE: the dispatcher sends one");
endmodule
