//! Builds of programs.

use super::device::are_devices_if_any;
use super::error::ClError;
use super::kernel::Kernel;
use super::options::{flags, makes_library};
use super::program::{
    BUILD_ERROR, BUILD_SUCCESS, Code, KIND_EXECUTABLE, KIND_LIBRARY, KIND_NONE, KIND_OBJECT, Program,
};
use super::{Done, Notice, State, api, check, object};
use crate::connection::{call, note};
use crate::ffi::{Address, In, ObjectCallback, Out, Text};
use crate::protocol::{Reply, Request};
use std::collections::HashMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A module that a build has made.
#[derive(Debug, Clone)]
pub(super) struct Built {
    /// Its number in the simulator.
    pub(super) module: u32,
    /// Names of its kernels.
    pub(super) kernels: Vec<String>,
    flags: Vec<String>,
    headers: Vec<Header>,
    /// Modules of the same source with other index spaces, by the lines before it.
    variants: HashMap<String, u32>,
}

/// A program that another one includes.
#[derive(Debug, Clone)]
struct Header {
    name: String,
    text: String,
}

/// A folder with headers, which goes with this value.
#[derive(Debug)]
struct HeaderFolder(PathBuf);

impl HeaderFolder {
    fn new(headers: &[Header]) -> io::Result<HeaderFolder> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        const MOST_TRIES: u32 = 1000;
        for _ in 0..MOST_TRIES {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("wave-opencl-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    made?;
                    let folder = HeaderFolder(path);
                    headers.iter().try_for_each(|header| folder.add(header))?;
                    return Ok(folder);
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn add(&self, header: &Header) -> io::Result<()> {
        let HeaderFolder(folder) = self;
        let name = Path::new(&header.name);
        if name.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the name of a header leaves its folder",
            ));
        }
        let path = folder.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, &header.text)
    }
}

impl Drop for HeaderFolder {
    fn drop(&mut self) {
        let HeaderFolder(folder) = self;
        // A folder that stays does no harm.
        _ = fs::remove_dir_all(folder);
    }
}

/// A module, its kernels, and what the compiler says; or why there is none.
type Compiled = Result<(u32, Vec<String>, String), String>;

/// Compiles a source after some lines that it does not count.
fn compile(source: &str, before: &str, flags: &[String], headers: &[Header]) -> Compiled {
    let folder = if headers.is_empty() { Ok(None) } else { HeaderFolder::new(headers).map(Some) };
    let folder = folder.map_err(|error| format!("cannot write headers for the compiler: {error}"))?;
    let mut flags = flags.to_vec();
    if let Some(HeaderFolder(folder)) = &folder {
        flags.insert(0, format!("-I{}", folder.display()));
    }
    let text = if before.is_empty() { source.to_owned() } else { format!("{before}\n#line 1\n{source}") };
    answer(&Request::Compile { language: "cl".to_owned(), flags }, text.as_bytes())
}

fn answer(request: &Request, data: &[u8]) -> Compiled {
    match call(request, data) {
        Ok(Reply::Module { module, kernels, log }) => Ok((module, kernels, log)),
        Ok(Reply::NotCompiled { log }) => Err(log),
        Ok(_) => Err("the simulator gives another answer than a module".to_owned()),
        Err(failure) => Err(format!("wave-sim cannot load the program ({failure:?}); it has said why")),
    }
}

impl State {
    /// Builds a program and keeps the result; false if the code is wrong.
    fn build(&mut self, program: Address, options: &str, kind: u32, headers: Vec<Header>) -> Done<bool> {
        let has_kernels = self.all::<Kernel>().any(|(_, kernel)| kernel.program == program);
        let found = self.get_mut::<Program>(program)?;
        check(!has_kernels, ClError::InvalidOperation)?;
        let wrong =
            if kind == KIND_OBJECT { ClError::InvalidCompilerOptions } else { ClError::InvalidBuildOptions };
        let folder = std::env::current_dir().unwrap_or_default();
        let given = flags(options, &folder).ok_or(wrong)?;
        // A binary keeps the options of its source.
        let flags = if found.is_of_binary { flags(&found.options, &folder).ok_or(wrong)? } else { given };
        if !found.is_of_binary {
            found.options = options.to_owned();
        }
        let compiled = match &found.code {
            Code::Source(source) => compile(source, "", &flags, &headers),
            Code::Ptx(bytes) => answer(&Request::Load { name: "a program".to_owned() }, bytes),
        };
        found.built = None;
        (found.status, found.kind) = (BUILD_ERROR, KIND_NONE);
        match compiled {
            Ok((module, kernels, log)) => {
                found.built = Some(Built { module, kernels, flags, headers, variants: HashMap::new() });
                (found.status, found.kind, found.log) = (BUILD_SUCCESS, kind, log);
            }
            Err(log) => found.log = log,
        }
        Ok(found.built.is_some())
    }

    /// The module of a program with some lines before its source, which is compiled once for each such text.
    pub(super) fn variant(&mut self, program: Address, before: &str) -> Done<u32> {
        let Program { code, built, .. } = self.get_mut::<Program>(program)?;
        let (Code::Source(source), Some(built)) = (code, built) else {
            return Err(ClError::InvalidProgramExecutable);
        };
        if let Some(&module) = built.variants.get(before) {
            return Ok(module);
        }
        let made = compile(source, before, &built.flags, &built.headers);
        let (module, ..) = made.map_err(|log| {
            note(&format!("a program does not compile with the index space of a launch: {log}"));
            ClError::OutOfResources
        })?;
        built.variants.insert(before.to_owned(), module);
        Ok(module)
    }
}

/// The build is over when the call returns, also if a function is to be told of it.
#[unsafe(export_name = "wave_clBuildProgram")]
pub(super) extern "C" fn build_program(
    program: Address,
    count: u32,
    devices: In<Address>,
    options: Text,
    notify: ObjectCallback,
    argument: Address,
) -> i32 {
    api(|state| {
        state.get::<Program>(program)?;
        are_devices_if_any(count, devices)?;
        check(notify.is_some() || argument.0 == 0, ClError::InvalidValue)?;
        let is_built =
            state.build(program, &options.read().unwrap_or_default(), KIND_EXECUTABLE, Vec::new())?;
        tell(state, notify, program, argument);
        check(is_built, ClError::BuildProgramFailure)
    })
}

fn tell(state: &mut State, notify: ObjectCallback, program: Address, argument: Address) {
    if notify.is_some() {
        state.notices.push(Notice::Object(notify, program, argument));
    }
}

#[unsafe(export_name = "wave_clCompileProgram")]
pub(super) extern "C" fn compile_program(
    program: Address,
    count: u32,
    devices: In<Address>,
    options: Text,
    header_count: u32,
    headers: In<Address>,
    names: In<Address>,
    notify: ObjectCallback,
    argument: Address,
) -> i32 {
    api(|state| {
        let found = state.get::<Program>(program)?;
        check(!found.is_of_binary, ClError::InvalidOperation)?;
        are_devices_if_any(count, devices)?;
        check(notify.is_some() || argument.0 == 0, ClError::InvalidValue)?;
        let are_headers = [headers.exists(), names.exists()] == [header_count > 0; 2];
        check(are_headers, ClError::InvalidValue)?;
        let headers: Done<Vec<_>> = (0..header_count as usize)
            .map(|number| {
                let (header, name) =
                    headers.nth(number).zip(names.nth(number)).ok_or(ClError::InvalidValue)?;
                let Code::Source(text) = &state.get::<Program>(header)?.code else {
                    return Err(ClError::InvalidProgram);
                };
                Ok(Header { name: name.text().ok_or(ClError::InvalidValue)?, text: text.clone() })
            })
            .collect();
        let is_built = state.build(program, &options.read().unwrap_or_default(), KIND_OBJECT, headers?)?;
        tell(state, notify, program, argument);
        check(is_built, ClError::CompileProgramFailure)
    })
}

/// Links one compiled program. Several would have to be compiled as one, which they are not: that is refused.
#[unsafe(export_name = "wave_clLinkProgram")]
pub(super) extern "C" fn link_program(
    context: Address,
    count: u32,
    devices: In<Address>,
    options: Text,
    program_count: u32,
    programs: In<Address>,
    notify: ObjectCallback,
    argument: Address,
    error: Out<i32>,
) -> Address {
    object(error, |state| {
        state.get::<super::context::Context>(context)?;
        are_devices_if_any(count, devices)?;
        check(notify.is_some() || argument.0 == 0, ClError::InvalidValue)?;
        check(program_count > 0 && programs.exists(), ClError::InvalidValue)?;
        let options = options.read().unwrap_or_default();
        let is_library = makes_library(&options).ok_or(ClError::InvalidLinkerOptions)?;
        let programs: Vec<_> =
            (0..program_count as usize).filter_map(|number| programs.nth(number)).collect();
        for &program in &programs {
            let kind = state.get::<Program>(program)?.kind;
            check(matches!(kind, KIND_OBJECT | KIND_LIBRARY), ClError::InvalidOperation)?;
        }
        let &[program] = programs.as_slice() else {
            note(
                "clLinkProgram links one program: build several from one source (clCreateProgramWithSource takes \
                 several texts)",
            );
            return Err(ClError::LinkProgramFailure);
        };
        let Program { code, built, log, .. } = state.get::<Program>(program)?;
        let kind = if is_library { KIND_LIBRARY } else { KIND_EXECUTABLE };
        let (built, log) = (built.clone(), log.clone());
        let new = Program::new(context, code.clone());
        state.hold(context);
        let made = state.add(Program { options, status: BUILD_SUCCESS, log, kind, built, ..new });
        tell(state, notify, made, argument);
        Ok(made)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_lie_in_a_folder_of_their_own_for_a_while() {
        let header = |name: &str| Header { name: name.to_owned(), text: "text".to_owned() };
        let folder = HeaderFolder::new(&[header("a.h"), header("in/b.h")]).expect("a folder");
        let path = folder.0.clone();
        assert_eq!(fs::read_to_string(path.join("in/b.h")).expect("a header"), "text");
        drop(folder);
        assert!(!path.exists());
        for name in ["../a.h", "/etc/a.h", "in/../../a.h"] {
            assert!(HeaderFolder::new(&[header(name)]).is_err(), "{name}");
        }
    }
}
