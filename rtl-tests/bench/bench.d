/work/wt/harness/rtl-tests/bench/bench.o: \
 /work/wt/harness/rtl-tests/bench/bench.cpp Vwave_bench.h \
 /usr/share/verilator/include/verilated.h \
 /usr/share/verilator/include/verilatedos.h \
 /usr/share/verilator/include/verilated_config.h \
 /usr/share/verilator/include/verilated_types.h \
 /usr/share/verilator/include/verilated_funcs.h \
 /usr/share/verilator/include/vltstd/svdpi.h Vwave_bench__Dpi.h
