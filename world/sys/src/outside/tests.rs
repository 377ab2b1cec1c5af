use super::*;
use std::ffi::CString;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

fn pipe(path: &Path) {
    let name = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: a path that ends in a zero byte, in a folder of this test's own.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
}

/// Everything that can stand where a file is expected, with nobody at its other end.
fn strange_things(folder: &Path) -> Vec<PathBuf> {
    let at = |name: &str| folder.join(name);
    pipe(&at("pipe"));
    drop(UnixListener::bind(at("socket")).unwrap());
    std::fs::create_dir(at("folder")).unwrap();
    symlink(at("loop-b"), at("loop-a")).unwrap();
    symlink(at("loop-a"), at("loop-b")).unwrap();
    symlink(at("pipe"), at("link-to-pipe")).unwrap();
    File::create(at("sparse")).unwrap().set_len(3 << 30).unwrap();
    let names = ["pipe", "socket", "folder", "loop-a", "link-to-pipe", "sparse"];
    let mut all: Vec<PathBuf> = names.into_iter().map(at).collect();
    all.extend(["/dev/zero", "/dev/null", "/dev/tty", "/proc/self/fd"].map(PathBuf::from));
    all
}

#[test]
fn t2_nothing_but_a_regular_file_of_a_sensible_size_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for path in strange_things(folder.path()) {
        let read = read(&path, &Rules::up_to(1 << 20));
        assert!(matches!(read, Err(ref why) if !why.is_missing()), "{}: {read:?}", path.display());
    }
    let missing = read(&folder.path().join("gone"), &Rules::up_to(9));
    assert!(matches!(missing, Err(Unread::Missing)));
    assert!(matches!(read(&folder.path().join("pipe/below"), &Rules::up_to(9)), Err(Unread::Missing)));
}

#[test]
fn a_file_is_read_whole_up_to_its_limit_and_not_at_all_beyond() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "12345").unwrap();
    assert_eq!(read(&path, &Rules::up_to(5)).unwrap(), b"12345");
    assert!(matches!(read(&path, &Rules::up_to(4)), Err(Unread::TooLarge { bytes: 5 })));
    assert_eq!(read_end(&path, 2).unwrap(), (5, b"45".to_vec()));
    assert_eq!(read_end(&path, 0).unwrap(), (5, Vec::new()));
    assert_eq!(read_end(&path, 99).unwrap(), (5, b"12345".to_vec()));
    std::fs::write(&path, [b'a', 0xff]).unwrap();
    assert_eq!(read_text(&path, &Rules::up_to(5)).unwrap(), "a\u{fffd}");
}

#[test]
fn t2_the_end_of_a_strange_thing_is_not_read_either_but_that_of_a_huge_file_is() {
    let folder = tempfile::tempdir().unwrap();
    for path in strange_things(folder.path()) {
        let read = read_end(&path, 4);
        if path.ends_with("sparse") {
            assert_eq!(read.unwrap(), (3 << 30, vec![0; 4]));
        } else {
            assert!(read.is_err(), "{}", path.display());
        }
    }
}

#[test]
fn a_link_is_followed_only_where_that_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    std::fs::write(&file, "x").unwrap();
    symlink(&file, &link).unwrap();
    assert_eq!(read(&link, &Rules::up_to(9)).unwrap(), b"x");
    let refused = Rules { links: Links::Refused, ..Rules::up_to(9) };
    assert!(matches!(read(&link, &refused), Err(Unread::Link)));
    assert_eq!(read(&file, &refused).unwrap(), b"x");
}

#[test]
fn t2_what_is_obeyed_must_be_ours_or_the_systems() {
    assert!(read(Path::new("/etc/passwd"), &Rules::obeyed(1 << 20)).is_ok(), "the system's");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "x").unwrap();
    assert!(read(&path, &Rules::obeyed(9)).is_ok(), "ours");
    if testkit::is_not_root() {
        return;
    }
    std::os::unix::fs::chown(&path, Some(54_321), None).unwrap();
    assert!(matches!(read(&path, &Rules::obeyed(9)), Err(Unread::NotOurs { owner: 54_321 })));
    assert!(read(&path, &Rules::up_to(9)).is_ok());
}
