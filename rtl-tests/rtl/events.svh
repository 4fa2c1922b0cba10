// What coverage counts. In a normal build `EVENT(name, condition)` is nothing. With -DEVENTS the test bench is told each
// cycle in which the condition holds, by the name. Several instances of a module share their events.
`ifndef EVENTS_SVH
`define EVENTS_SVH
`ifdef EVENTS
package wave_events_pkg;
  import "DPI-C" function int bench_event_number(input string name);
  import "DPI-C" function void bench_event(input int number);
  // An instruction enters its unit: operation, whether its operands are halves, lanes, three operands.
  import "DPI-C" function void bench_operands(
      input int op, input int halves, input int lanes, input bit [255:0] a, input bit [255:0] b, input bit [255:0] c);
endpackage
`define EVENT(name, condition) \
  int name``_number = wave_events_pkg::bench_event_number(`"name`"); \
  always @(posedge clk) if (condition) wave_events_pkg::bench_event(name``_number);
`else
`define EVENT(name, condition)
`endif
`endif
