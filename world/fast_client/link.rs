//! Links a program fully static and non-PIE where the plain toolchain allows it, and puts the fast client before `_start`.
//! Part of the build scripts of the `taut` program and of the daemon's test program.
//!
//! Relocations and the dynamic loader cost a hook more than all of its work. rustc asks for the C libraries as shared
//! ones, so a folder with linker scripts under those names leads it to the archives instead: no target feature, no
//! flags in the environment, no second toolchain. Where an archive is missing nothing is said and the build is
//! dynamic as usual: slower, and otherwise the same.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The shared names rustc may ask for, each answered by the archive of the same name.
const LIBRARIES: [&str; 6] = ["c", "m", "dl", "rt", "pthread", "util"];

/// Says how the `targets` (`bins` or `examples`) of the crate being built are linked.
pub fn emit(targets: &str) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=CC");
    if !wanted() {
        return Ok(());
    }
    let Some(archives) = Archives::find() else {
        return Ok(());
    };
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    archives.write_scripts(&folder)?;
    let argument = |text: &str| println!("cargo:rustc-link-arg-{targets}={text}");
    argument(&format!("-L{}", folder.display()));
    argument("-static");
    argument("-no-pie");
    if env::var("CARGO_CFG_TARGET_ARCH")? == "x86_64" {
        argument("-Wl,-e,taut_entry");
    }
    Ok(())
}

/// Only for a build of this machine's own kind: the archives of a cross compiler are not where we would look.
fn wanted() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let arch = is("CARGO_CFG_TARGET_ARCH", "x86_64") || is("CARGO_CFG_TARGET_ARCH", "aarch64");
    let native = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    // Whoever asks rustc itself for a static program gets that, without the fast client.
    let already =
        env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|list| list.split(',').any(|name| name == "crt-static"));
    arch && native && !already && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu")
}

struct Archives {
    libraries: Vec<(&'static str, PathBuf)>,
    unwinder: PathBuf,
    compiler: PathBuf,
}

impl Archives {
    fn find() -> Option<Self> {
        let libraries = LIBRARIES.into_iter().map(|name| Some((name, archive(name)?)));
        Some(Self {
            libraries: libraries.collect::<Option<_>>()?,
            unwinder: archive("gcc_eh")?,
            compiler: archive("gcc")?,
        })
    }

    /// The C library and the unwinder need each other, which only a group resolves in every linker.
    fn write_scripts(&self, folder: &Path) -> std::io::Result<()> {
        let (unwinder, compiler) = (self.unwinder.display(), self.compiler.display());
        for (name, path) in &self.libraries {
            let path = path.display();
            let script = match *name {
                "c" => format!("GROUP({path} {unwinder} {compiler})\n"),
                _ => format!("INPUT({path})\n"),
            };
            fs::write(folder.join(format!("lib{name}.so")), script)?;
        }
        fs::write(folder.join("libgcc_s.so"), format!("INPUT({unwinder} {compiler})\n"))
    }
}

/// Where the C compiler keeps an archive. It answers with the bare name when it has none.
fn archive(name: &str) -> Option<PathBuf> {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(compiler).arg(format!("-print-file-name=lib{name}.a")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (path.is_absolute() && path.is_file()).then_some(path)
}
