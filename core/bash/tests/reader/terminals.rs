//! Other terminals, and PowerShell: what is started in them or typed into them runs.

use crate::common::{check_reaches, runs};

#[test]
fn g8_another_terminal_gives_up_its_command() {
    check_reaches(&[
        ("script -q /dev/null rm x", "rm x"),
        ("script -q /dev/null -c 'rm x'", "rm x"),
        ("script -c 'rm x' -q out", "rm x"),
        ("script -e out -- rm x", "rm x"),
        ("tmux new-w 'rm x'", "rm x"),
        ("tmux respawnp -k 'rm x'", "rm x"),
        ("tmux display-popup -E -w 80% 'rm x'", "rm x"),
        ("tmux if-shell true 'run-shell \"rm x\"'", "rm x"),
        ("tmux if-shell -F 1 { run-shell 'rm x' }", "rm x"),
        ("tmux if 'rm x' ''", "rm x"),
        ("tmux bind-key -n F5 run-shell 'rm x'", "rm x"),
        ("tmux set-hook -g after-new-window 'display-message a ; run-shell \"rm x\"'", "rm x"),
        ("tmux confirm-before 'run-shell \"rm x\"'", "rm x"),
        ("tmux set -g default-command 'rm x'", "rm x"),
        ("tmux set-buffer 'rm x' \\; paste-buffer", "rm x"),
        ("tmux send -t 0 -l 'rm x'", "rm x"),
        ("tmate new-session -d 'rm x'", "rm x"),
        ("screen -S a -p 0 -X stuff 'rm x\\015'", "rm x"),
        ("screen -S a -X eval 'stuff rm\\040x' 'exec rm x'", "rm x"),
        ("screen -X at 0 stuff 'rm x^M'", "rm x"),
        ("expect -c 'spawn -noecho rm x; interact'", "rm x"),
        ("expect <<'E'\nspawn bash\nsend \"rm x\\r\"\nE", "rm x"),
        ("xterm -e rm x", "rm x"),
        ("xterm -T a -e 'rm x'", "rm x"),
        ("gnome-terminal --tab -- rm x", "rm x"),
        ("konsole --hold -e rm x", "rm x"),
        ("kitty rm x", "rm x"),
        ("kitty @ launch --type=tab rm x", "rm x"),
        ("kitty @ send-text -m id:1 'rm x\\n'", "rm x"),
        ("foot -T a rm x", "rm x"),
        ("wezterm cli spawn --cwd / -- rm x", "rm x"),
        ("zellij run -f -- rm x", "rm x"),
        ("zellij action write-chars 'rm x'", "rm x"),
        ("dtach -n /tmp/s rm x", "rm x"),
        ("abduco -n a rm x", "rm x"),
        ("python3 -c \"import pexpect; pexpect.spawn('rm x')\"", "rm x"),
        ("ruby -e 'require \"pty\"; PTY.spawn(\"rm x\")'", "rm x"),
    ]);
}

#[test]
fn what_only_looks_at_a_terminal_starts_nothing() {
    for line in [
        "tmux ls", "tmux capture-pane -p", "tmux set -g status-left 'rm x'", "tmux display-message 'rm x'",
        "tmux rename-window 'rm x'", "screen -ls", "script --version", "kitty --version", "expect -v",
        "zellij list-sessions", "wezterm cli list", "tmux bind-key",
    ] {
        assert_eq!(runs(line).len(), 1, "{line}: {:?}", runs(line));
    }
}

#[test]
fn a_cmdlet_is_the_command_that_does_the_same() {
    check_reaches(&[
        ("pwsh -c 'remove-item -Recurse -Force C:\\x'", "rm -rf /mnt/c/x"),
        ("pwsh -c 'Remove-Item -Path ./x -Recurse'", "rm -rf ./x"),
        ("pwsh -c 'ri -r x'", "rm -rf x"),
        ("pwsh -c 'rd -Recurse x'", "rm -rf x"),
        ("pwsh -c 'gci x -Recurse | Remove-Item -Force'", "rm -f ‹{}›"),
        ("pwsh -c 'Set-Content -Path a.txt -Value b'", "tee a.txt"),
        ("pwsh -c '\"x\" | Out-File a.txt'", "tee a.txt"),
        ("pwsh -c 'Add-Content a.txt x'", "tee -a a.txt"),
        ("pwsh -c 'Clear-Content a.txt'", "truncate -s 0 a.txt"),
        ("pwsh -c 'Move-Item a b'", "mv a b"),
        ("pwsh -c 'Copy-Item -Path a -Destination b -Recurse'", "cp -r a b"),
        ("pwsh -c 'New-Item -ItemType SymbolicLink -Path a -Target b'", "ln -s b a"),
        ("pwsh -c 'Stop-Process -Name node -Force'", "pkill node"),
        ("pwsh -c 'Stop-Process -Id 4'", "kill 4"),
        ("pwsh -c 'Stop-Computer -Force'", "shutdown now"),
        ("pwsh -c 'Restart-Computer'", "reboot"),
        ("pwsh -c 'Format-Volume -DriveLetter D'", "mkfs /dev/disk"),
        ("pwsh -c 'Clear-Disk -Number 1 -RemoveData'", "mkfs /dev/disk"),
        ("pwsh -c 'Get-Content .env'", "cat .env"),
        ("pwsh -c 'if ($true) { Remove-Item -Recurse x }'", "rm -rf x"),
        ("pwsh -c 'Start-Process rm -ArgumentList \"-rf\",\"x\"'", "rm -rf x"),
        ("pwsh -c '& { rm x }'", "rm x"),
    ]);
    for line in ["pwsh -c 'Get-ChildItem -Recurse'", "pwsh -c 'Write-Host Remove-Item'", "pwsh -c 'Get-Process node'"] {
        assert_eq!(runs(line).len(), 2, "{line}: {:?}", runs(line));
    }
}
