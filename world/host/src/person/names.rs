//! Programs by what they say about who sits there.

/// Programs that people sit at: terminals, what lets them in, and what draws their terminals. One of these may well begin
/// with no parent of its own.
pub const PLACES: &[&str] = &[
    "abduco", "alacritty", "black-box", "blackbox", "code", "code-insiders", "code-oss", "code-server", "codium",
    "cool-retro-term", "cosmic-term", "cursor", "deepin-terminal", "dtach", "dropbear", "emacs", "emacs-nox",
    "etterminal", "foot", "footclient", "ghostty", "gnome-shell", "gnome-terminal", "gnome-terminal-server", "gotty",
    "guake", "hyper", "Hyprland", "i3", "idea", "iTerm2", "iTermServer*", "jupyter-lab", "kgx", "kitty", "konsole",
    "kwin_wayland", "login", "lxterminal", "mate-terminal", "mlterm", "mosh-server", "nvim", "openbox", "plasmashell",
    "ptyxis", "ptyxis-agent", "qterminal", "rio", "roxterm", "screen", "SCREEN", "sshd", "sshd-session", "st", "sway",
    "tabby", "Terminal", "terminator", "terminology", "tilda", "tilix", "tmux", "ttyd", "urxvt", "urxvtd", "vim",
    "vscodium", "warp", "warp-terminal", "waveterm", "wezterm", "wezterm-gui", "wezterm-mux-server", "windsurf",
    "xfce4-terminal", "xterm", "yakuake", "zed", "zed-editor", "zellij",
];

/// Of these the ones that go on without anybody looking.
pub const MULTIPLEXERS: &[&str] =
    &["abduco", "dtach", "emacs", "emacs-nox", "screen", "SCREEN", "tmux", "wezterm-mux-server", "zellij"];

/// They run what they were told to at a time, for whoever told them.
pub const SCHEDULERS: &[&str] = &["anacron", "at", "atd", "atrun", "batch", "cron", "crond", "fcron"];

/// They take in processes whose parent has ended.
pub const REAPERS: &[&str] = &["catatonit", "dinit", "dumb-init", "init", "launchd", "runit", "systemd", "tini"];

/// Interpreters whose first word is the program in truth.
pub const INTERPRETERS: &[&str] = &["bun", "deno", "node", "nodejs", "npx", "pipx", "uv", "uvx"];

/// Their first word is a script unless it is an option.
pub const SHELLS: &[&str] = &["ash", "bash", "busybox", "dash", "fish", "ksh", "sh", "zsh"];
