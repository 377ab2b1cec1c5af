//! Names that tell what a file is: rebuildable, cached, temporary, secret, or an agent's settings.

use crate::target::{Target, TargetTail, within};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Folders a build or an install brings back.
const REBUILT: &[&str] = &[
    "node_modules", "bower_components", "jspm_packages", "target", "dist", "build", "out", "obj", "_build", ".build",
    "__pycache__", ".venv", "venv", ".tox", ".nox", ".eggs", ".pytest_cache", ".mypy_cache", ".ruff_cache",
    ".hypothesis", ".cache", "cache", ".caches", ".parcel-cache", ".next", ".nuxt", ".output", ".svelte-kit",
    ".angular", ".astro", ".vite", ".turbo", ".nx", ".webpack", ".rollup.cache", ".rpt2_cache", ".gradle", ".kotlin",
    ".dart_tool", ".expo", ".docusaurus", "coverage", "htmlcov", ".nyc_output", ".coverage", "lcov-report",
    "test-results", "playwright-report", "storybook-static", "tmp", "temp", ".tmp", ".temp", "logs", "log",
    "DerivedData", "Pods", "Carthage", ".bundle", ".sass-cache", ".terraform", ".terragrunt-cache", "cdk.out",
    ".aws-sam", ".serverless", "zig-cache", ".zig-cache", "zig-out", ".stack-work", "dist-newstyle", "elm-stuff",
    ".ipynb_checkpoints", ".pnpm-store", ".yarn-cache", ".npm", ".cargo-cache", ".scannerwork", ".metals", ".bloop",
    ".ccls-cache", ".clangd", "CMakeFiles", "artifacts", "test-output", ".jest-cache", ".eslintcache",
    ".stylelintcache", ".DS_Store", "debug.log", "npm-debug.log", "scratch", ".scratch", ".vercel", ".netlify",
    ".wrangler", ".firebase", ".open-next", ".vinxi", ".react-router", ".contentlayer", ".swc", ".jekyll-cache",
    ".quarto", "lightning_logs", "allure-results", "allure-report", "mutants.out", ".vscode-test", ".pdm-build",
    "pip-wheel-metadata", ".pixi", ".pyre", ".pytype", "cython_debug",
    // Locks are written again by the next install; alone they pass as single files.
    "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb", "Cargo.lock", "poetry.lock", "uv.lock",
    "Pipfile.lock", "Gemfile.lock", "composer.lock", "tmp*", "temp*",
];

/// Folders that are sometimes built and sometimes written: rebuildable only when git does not track them.
const SOMETIMES: &[&str] = &[
    "bin", "lib", "vendor", "deps", "env", "public", "site", "_site", "gen", "generated", "release", "Release",
    "Debug", "debug", "pkg", "wheels",
];

const REBUILT_PREFIXES: &[&str] = &[
    "cmake-build-", "bazel-", "tmp.", "tmp-", "tmp_", "temp_", "temp-", ".tmp-", "build-", "dist-", "target-",
    "coverage-", ".DS", "._",
];

const REBUILT_SUFFIXES: &[&str] = &[
    ".egg-info", ".dist-info", ".pyc", ".pyo", ".pyd", ".o", ".obj", ".a", ".so", ".dylib", ".dll", ".class", ".log",
    ".tmp", ".temp", ".swp", ".swo", ".bak", ".orig", ".rej", ".cache", ".tsbuildinfo", ".gcda", ".gcno", ".gcov",
    ".profraw", ".profdata", "~", ".lock.tmp", ".pid", ".coverage", ".map", ".min.js", ".whl", ".tgz", ".DS_Store",
    ".out", ".dSYM", ".rlib", ".rmeta", "_cache", ".elc", ".beam", ".hi", ".aux", ".bbl", ".toc", ".egg",
];

/// Whether a path inside a project (relative, and the pattern below it) is one a build brings back.
pub(crate) fn rebuildable(below: &str, pattern: &str) -> bool {
    let mut parts = below.split('/').chain(pattern.split('/')).filter(|part| !part.is_empty()).peekable();
    if parts.peek().is_some_and(|first| *first == ".git") {
        return false;
    }
    parts.any(rebuilt_name)
}

/// Whether it may be one, if git does not track it.
pub(crate) fn maybe_rebuildable(below: &str) -> bool {
    below.split('/').any(|part| SOMETIMES.contains(&part))
}

/// Whether somebody keeps it although git is told to leave it alone: secrets, data, what users brought, other work trees.
pub(crate) fn kept(below: &str, pattern: &str) -> bool {
    const NAMES: &[&str] = &[
        "data", "datasets", "uploads", "upload", "backups", "backup", "secrets", "secret", "keys", "certs", "storage",
        "media", "db", "database", "databases", "pgdata", "postgres-data", "mysql-data", "volumes", "models",
        "checkpoints", "weights", "notes", "private", "local", "personal", "workspace", "worktrees", "archive",
        "archives", "dumps", ".git", ".ssh", ".gnupg", ".taut",
    ];
    const ENDINGS: &[&str] = &[
        ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".db", ".sqlite", ".sqlite3", ".sql", ".dump",
        ".mdb", ".rdb", ".tfstate", ".tfvars", ".csv", ".parquet", ".ckpt", ".pt", ".safetensors", ".onnx",
    ];
    let mut parts = below.split('/').chain(pattern.split('/')).filter(|part| !part.is_empty());
    parts.any(|part| {
        let name = part.to_ascii_lowercase();
        NAMES.contains(&name.as_str())
            || name.starts_with(".env")
            || ENDINGS.iter().any(|ending| name.ends_with(ending))
    })
}

/// Folders that hold somebody's work in nearly every project, by what they are called.
pub(crate) fn holds_work(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "src", "source", "lib", "app", "apps", "packages", "crates", "docs", "doc", "test", "tests", "spec", "scripts",
        "core", "internal", "cmd", "pkg", "api", "server", "client", "web", "frontend", "backend", "components",
        "migrations", "assets", "config", "examples", "include", "modules", "services", "tools", "db", "data",
    ];
    name.starts_with('.') || NAMES.contains(&name)
}

/// Caches of the system's package managers: the next update fills them again.
pub(crate) fn system_cache(path: &str) -> bool {
    ["/var/cache/", "/var/lib/apt/lists", "/usr/share/doc/"].iter().any(|folder| path.starts_with(folder))
}

/// What stands below the folders from which a web server serves.
pub(crate) fn served(path: &str) -> Option<&str> {
    const FOLDERS: &[&str] = &["/var/www", "/srv", "/usr/share/nginx/html", "/usr/local/www", "/Library/WebServer"];
    let below = |folder: &&str| path.strip_prefix(*folder).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    FOLDERS.iter().find_map(below)
}

/// Whether a single name, or the pattern of one, is rebuildable by itself.
pub(crate) fn rebuilt_name(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| REBUILT.iter().copied().collect());
    let last = name.as_bytes().last();
    // What was put aside during a build: `dist.old`.
    let aside = [".old", "-old", "_old", ".prev", ".backup"].iter().find_map(|ending| name.strip_suffix(ending));
    NAMES.contains(name)
        || aside.is_some_and(|stem| NAMES.contains(stem))
        || REBUILT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || REBUILT_SUFFIXES.iter().any(|suffix| suffix.as_bytes().last() == last && name.ends_with(suffix))
}

/// Whether a name, or the pattern of one, is a file's by its ending.
pub(crate) fn file_name(name: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "json", "lock", "toml", "yaml", "yml", "md", "txt", "rs", "py", "js", "mjs", "cjs", "ts", "tsx", "jsx", "vue",
        "svelte", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp", "cs", "rb", "php", "swift", "sh", "bash", "zsh",
        "sql", "db", "sqlite", "sqlite3", "css", "scss", "html", "xml", "svg", "png", "jpg", "jpeg", "gif", "ico",
        "pdf", "csv", "tsv", "log", "zip", "tgz", "gz", "tar", "patch", "diff", "snap", "ini", "cfg", "conf", "lockb",
        "ipynb", "proto", "graphql", "tf", "tfstate", "tfplan", "wasm", "map", "sum", "mod", "env", "bak", "tmp",
        "pid", "sock", "mp4", "mp3", "woff", "ttf", "out",
    ];
    name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && ENDINGS.contains(&ending))
}

/// `*.xo`: what has such an ending is a file, but for the few that are folders by custom.
pub(crate) fn file_pattern(pattern: &str) -> bool {
    const FOLDERS: &[&str] =
        &["git", "app", "d", "framework", "bundle", "xcodeproj", "xcworkspace", "dir", "data", "bak", "old"];
    let ending = pattern.rsplit_once('.').map_or("", |(_, ending)| ending);
    pattern.contains('*')
        && (1..=12).contains(&ending.len())
        && ending.chars().all(|c| c.is_ascii_alphanumeric())
        && !FOLDERS.contains(&ending)
}

/// Caches of the user's tools, by their path below the home folder.
pub(crate) fn home_cache(below: &str) -> bool {
    const CACHES: &[&str] = &[
        ".cache/", ".npm/", ".npm/_cacache", ".cargo/registry", ".cargo/git", ".gradle/caches", ".m2/repository",
        ".ivy2/cache", ".pnpm-store", ".yarn/cache", ".yarn/berry/cache", ".bun/install/cache", ".nuget/packages",
        ".pub-cache", ".cpan/build", "go/pkg/mod", ".rustup/tmp", ".rustup/downloads", "Library/Caches/",
        "Library/Developer/Xcode/DerivedData", ".electron", ".local/share/Trash/", ".Trash/", ".cocoapods/repos",
        ".terraform.d/plugin-cache", ".gem/cache", ".bundle/cache", ".expo/cache", ".cache/pip", ".cache/huggingface",
        ".conda/pkgs", ".node-gyp", ".parallel/tmp",
    ];
    CACHES.iter().any(|cache| within(below, cache.trim_end_matches('/'))) && !below.ends_with("Trash")
}

/// A variable or substitution that is a temporary folder, and never empty: `$TMPDIR`, `$(mktemp -d)`.
pub(crate) fn temporary_source(source: &str) -> bool {
    matches!(variable(source), "mktemp" | "TMPDIR" | "RUNNER_TEMP" | "XDG_RUNTIME_DIR")
}

/// A variable that by its name holds something rebuilt or temporary: `$BUILD_DIR`, `$tmp`.
pub(crate) fn rebuilt_source(source: &str) -> bool {
    const PARTS: &[&str] = &[
        "TMP", "TEMP", "CACHE", "BUILD", "DIST", "TARGET", "OUT", "OUTPUT", "SCRATCH", "SCRATCHPAD", "WORKTMP",
        "TMPDIR", "TEMPDIR", "TMPFILE", "TEMPFILE", "BUILDDIR", "OUTDIR", "DISTDIR", "CACHEDIR", "OBJDIR", "COVERAGE",
    ];
    if source.starts_with("$(find ") || source.starts_with("`find ") {
        return finds_only_rebuilt(source);
    }
    let name = variable(source).to_ascii_uppercase();
    source.starts_with('$') && !source.starts_with("$(") && name.split('_').any(|part| PARTS.contains(&part))
}

/// `$(find . -name node_modules)`: whatever it finds has a name that a build brings back.
fn finds_only_rebuilt(source: &str) -> bool {
    let plain = |word: &str| word.trim_matches(['"', '\'', ')', '`']).to_string();
    let words: Vec<String> = source.split_ascii_whitespace().map(plain).collect();
    let names: Vec<&String> =
        words.iter().zip(words.iter().skip(1)).filter(|(test, _)| *test == "-name").map(|(_, name)| name).collect();
    let alternatives = words.iter().any(|word| matches!(word.as_str(), "-o" | "-or" | "!" | "-not" | ","));
    let one_command = !source.trim_matches(['$', '(', ')', '`']).contains([';', '|', '&', '$', '(']);
    one_command && !alternatives && !names.is_empty() && names.iter().all(|name| rebuilt_name(name))
}

/// The name of a variable, or the program of a substitution.
fn variable(source: &str) -> &str {
    let inner = source.trim_start_matches(['$', '{', '(', '`', '"', ' ']);
    inner.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default()
}

/// Whether a target is a disk: a device below `/dev` that is none of the harmless ones.
pub(crate) fn is_disk(target: &Target) -> bool {
    const DISKS: &[&str] = &[
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "dm-", "md", "sr", "mapper/", "zd", "nbd",
        "ram", "block/", "disk/", "pmem", "mtd", "mem", "kmem", "port", "zram", "zvol/", "rbd", "drbd", "bcache",
        "ubi", "ada", "da0", "nvd", "vg", "root", "ublk", "dasd", "sg", "nst", "st0", "fd0", "PhysicalDrive",
    ];
    let Some(path) = target.path.as_deref() else { return false };
    let Some(name) = path.strip_prefix("/dev/") else {
        // `/dev/$disk` and `/dev/sd*`.
        return path == "/dev" && !matches!(target.tail, TargetTail::None);
    };
    DISKS.iter().any(|disk| name.starts_with(disk))
}
