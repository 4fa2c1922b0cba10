fn main() {
    for path in std::env::args().skip(1) {
        let program = match wave_sim::program::load(path.as_ref()) {
            Ok(p) => p,
            Err(e) => {
                println!("{path}: {}", e[0]);
                continue;
            }
        };
        for k in 0..program.kernels.len() {
            let r = wave_sim::program::check::check(&program, k, &Default::default());
            let s = &r.summary;
            println!(
                "== {path} {}: {} inst, live {} at {:?}, declared {}, used {}, args {:?}, nesting {}, divergent {}/{}",
                s.kernel,
                s.instructions,
                s.max_live_registers,
                s.max_live_at,
                s.registers_declared,
                s.registers_used,
                s.assumed_arguments,
                s.max_nesting,
                s.divergent,
                s.ifs + s.loops
            );
            for d in &r.diagnostics {
                println!("{d}");
            }
        }
    }
}
