//! `disk-format`: formatting and partitioning disks.

use crate::args::text;
use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "disk-format",
    pack: Pack::Devices,
    kind: RuleKind::Floor,
    title: "Formatting and partitioning disks",
    doc: "Stops making file systems on devices, changing partitions and wiping signatures: `mkfs`, \
          `fdisk`, `parted`, `wipefs`, `blkdiscard` and their kin. Listing partitions passes, and so does \
          making a file system in an image file. No configuration lifts it.",
    instead: "Practise on an image file: `mkfs.ext4 disk.img`; see disks with `lsblk`.",
    denies: &[
        "mkfs.ext4 /dev/sda1", "mkfs -t xfs /dev/nvme0n1p2", "fdisk /dev/sda", "parted /dev/sda mklabel gpt",
        "wipefs -a /dev/sdb", "blkdiscard /dev/nvme0n1", "mkswap /dev/sda2", "sgdisk --zap-all /dev/sda",
        "diskutil eraseDisk JHFS+ X disk2", "cryptsetup luksFormat /dev/sdb", "zpool destroy tank", "lvremove vg/data",
        "btrfs subvolume delete /home", "mkfs.ext4", "mkfs.vfat -n BOOT /dev/sdb1", "scrub /dev/sda",
    ],
    passes: &[
        "fdisk -l", "parted -l", "lsblk", "mkfs.ext4 disk.img", "blkid", "man mkfs", "mkfs.ext4 -V",
        "wipefs /dev/sdb --no-act", "sfdisk -d /dev/sda", "diskutil list", "echo mkfs.ext4 /dev/sda",
        "parted /dev/sda print", "mkfs.ext4 -n /dev/sdb1", "mke2fs -n /dev/sdb1", "zpool status",
        "btrfs subvolume list /",
    ],
    watch: RuleTrigger::Programs(PROGRAMS),
    judge,
};

const PROGRAMS: &[&str] = &[
    "mkfs", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mkfs.vfat", "mkfs.fat", "mkfs.ntfs",
    "mkfs.exfat", "mkfs.f2fs", "mke2fs", "mkdosfs", "mkntfs", "newfs", "mkswap", "fdisk", "sfdisk", "cfdisk", "gdisk",
    "sgdisk", "parted", "wipefs", "blkdiscard", "hdparm", "nvme", "cryptsetup", "diskutil", "zpool", "zfs", "pvremove",
    "vgremove", "lvremove", "pvcreate", "mdadm", "badblocks", "btrfs", "asr", "tmutil", "format", "format.com",
    "diskpart", "scrub", "nwipe",
];

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::with(sight, "tLUEIsn");
    let flag = |names: &[&str]| call.args.flags.iter().any(|flag| names.contains(&flag.name.as_ref()));
    let version = call.words.is_empty() && flag(&["V", "version", "h"]);
    if call.only_looks() || version || only_shown(sight) {
        return;
    }
    let device = call.any(|word| word.starts_with("/dev/") || word.contains('$'));
    let words = || sight.command.args().iter().map(text);
    let stopped = match sight.program() {
        "fdisk" | "sfdisk" | "cfdisk" | "gdisk" => {
            !flag(&["l", "d", "dump", "json", "J", "V", "h"]) && !call.words.is_empty()
        }
        "sgdisk" => !flag(&["p", "print", "i", "info"]),
        "parted" => !flag(&["l", "list"]) && !call.any(|word| word == "print") && !call.words.is_empty(),
        "wipefs" => flag(&["a", "all", "o", "offset"]) && !flag(&["n", "no-act"]),
        "hdparm" => call
            .args
            .flags
            .iter()
            .any(|flag| flag.name.starts_with("security-erase") || flag.name.starts_with("trim-sector")),
        "nvme" => matches!(call.word(0), "format" | "sanitize"),
        "cryptsetup" => matches!(call.word(0), "luksFormat" | "erase" | "luksErase" | "reencrypt" | "luksKillSlot"),
        "diskutil" => {
            call.word(0).starts_with("erase")
                || matches!(call.word(0), "partitionDisk" | "zeroDisk" | "randomDisk" | "secureErase" | "reformat")
        }
        "zpool" | "zfs" => matches!(call.word(0), "destroy" | "labelclear"),
        "btrfs" => matches!(
            (call.word(0), call.word(1)),
            ("subvolume" | "subvol" | "su", "delete" | "del") | ("device", "remove" | "delete")
        ),
        "mdadm" => words().any(|word| word == "--zero-superblock"),
        "asr" => flag(&["erase"]),
        "tmutil" => call.word(0) == "delete",
        "badblocks" => flag(&["w"]),
        "format" | "format.com" => call.words.iter().any(|word| word.ends_with(':')),
        "pvremove" | "vgremove" | "lvremove" | "diskpart" | "pvcreate" | "blkdiscard" => true,
        // A file system in a plain file harms nobody.
        _ => device || call.words.is_empty(),
    };
    if stopped {
        report(sight, "This changes a disk below its file system; what is on it is lost.", hits);
    }
}

/// `mke2fs -n` says what it would do; for other file systems the letter is a label's.
fn only_shown(sight: &RuleInput<'_>) -> bool {
    let words: Vec<_> = sight.command.args().iter().map(text).collect();
    let kind = words.iter().position(|word| word == "-t").and_then(|at| words.get(at + 1));
    let ext = match sight.program() {
        "mkfs.ext2" | "mkfs.ext3" | "mkfs.ext4" | "mke2fs" | "mkntfs" | "mkfs.ntfs" => true,
        "mkfs" => kind.is_none_or(|kind| kind.starts_with("ext")),
        _ => false,
    };
    let alone = |word: &str| {
        word.strip_prefix('-')
            .is_some_and(|letters| letters.contains('n') && letters.chars().all(|c| "nFqvcS".contains(c)))
    };
    ext && words.iter().any(|word| alone(word))
        || sight.program() == "mkfs.xfs" && words.iter().any(|word| word == "-N")
}
