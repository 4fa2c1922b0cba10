// Planted bugs. In a normal build `BUG(n)` is the constant 0 and leaves nothing behind. With -DBUGS it is true in
// the run whose `+bug=n` selects it, so that one executable holds every mutant.
`ifndef BUGS_SVH
`define BUGS_SVH
`ifdef BUGS
package wave_bugs_pkg;
  function automatic int chosen();
    int number;
    if (!$value$plusargs("bug=%d", number)) number = 0;
    return number;
  endfunction
  int selected = chosen();
endpackage
`define BUG(n) (wave_bugs_pkg::selected == (n))
`else
`define BUG(n) (1'b0)
`endif
`endif
