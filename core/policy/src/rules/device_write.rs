//! `device-write`: writing to a disk below its file system.

use crate::names::is_disk;
use crate::path_actions::{PathActionKind, PathVerb};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "device-write",
    pack: Pack::Devices,
    kind: RuleKind::Floor,
    title: "Writing to a disk below its file system",
    doc: "Stops writing to a block device, by `dd`, a redirect, `tee`, `cp` or `shred`: everything on the \
          disk is lost. The harmless devices (`/dev/null`, terminals, `/dev/shm`) are no disks. No \
          configuration lifts it.",
    instead: "Write to an image file: `dd if=/dev/zero of=disk.img bs=1M count=10`.",
    denies: &[
        "dd if=/dev/zero of=/dev/sda", "echo x > /dev/sda1", "cat image.iso > /dev/nvme0n1", "cp image.iso /dev/disk2",
        "shred -v /dev/sdb", "dd if=/dev/urandom of=/dev/vda bs=1M", "tee /dev/mmcblk0 < x",
    ],
    passes: &[
        "dd if=/dev/zero of=disk.img bs=1M count=10", "echo x > /dev/null", "ls > /dev/stderr",
        "cat /dev/urandom | head -c 10", "echo hi > /dev/tty", "cp x /dev/shm/y", "make 2>/dev/null",
        "dd if=/dev/sda of=backup.img",
    ],
    watch: RuleTrigger::Deeds(&[PathActionKind::Write, PathActionKind::Remove, PathActionKind::Displace]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    for act in &sight.seen.acts {
        let writes = act.deed == PathVerb::Write
            || (matches!(act.deed, PathVerb::Remove(_)) && matches!(sight.program(), "shred" | "wipe"));
        if writes && is_disk(&act.target) {
            let reason = format!("`{}` is a disk; everything on it is lost.", act.target.shown);
            let subject =
                if sight.command.words.is_empty() { format!("> {}", act.target.shown) } else { sight.shown() };
            hits.push(Hit::new(subject, reason));
        }
    }
}
