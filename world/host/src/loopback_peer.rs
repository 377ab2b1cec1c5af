//! Who is at the other end of a connection on loopback, as far as the system tells.

use std::net::SocketAddr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopbackPeer {
    /// Each of them has the connection open.
    Processes(Vec<u32>),
    /// Nobody has it any more: whoever asked did not wait for the answer, and cannot be looked at.
    Closed,
    /// A process of another user's or one that does not let itself be looked into, as a login's; or the system does not tell.
    Unknown,
}

/// The other end of a connection from `peer` to the server at `own`.
#[cfg(target_os = "linux")]
pub fn of(peer: SocketAddr, own: SocketAddr) -> LoopbackPeer {
    let tables: Vec<String> = TABLES.iter().filter_map(|path| table(path)).collect();
    match owner(&tables, peer, own) {
        Row::Open(inode) => match holders(inode) {
            holders if holders.is_empty() => LoopbackPeer::Unknown,
            holders => LoopbackPeer::Processes(holders),
        },
        Row::Closed => LoopbackPeer::Closed,
        Row::NotTold => LoopbackPeer::Unknown,
    }
}

#[cfg(not(target_os = "linux"))]
pub fn of(_peer: SocketAddr, _own: SocketAddr) -> LoopbackPeer {
    LoopbackPeer::Unknown
}

#[cfg(target_os = "linux")]
const TABLES: &[&str] = &["/proc/net/tcp", "/proc/net/tcp6"];
/// Some hundred thousand connections.
#[cfg(target_os = "linux")]
const TABLE_BYTES: u64 = 64 << 20;

#[cfg(target_os = "linux")]
fn table(path: &str) -> Option<String> {
    String::from_utf8(crate::origin::tree::read(path, TABLE_BYTES)?).ok()
}

#[cfg(target_os = "linux")]
#[derive(Debug, PartialEq, Eq)]
enum Row {
    Open(u64),
    Closed,
    NotTold,
}

/// The socket of the peer's end. A table that knows our own port and not the peer's is of this network, and the peer is gone.
#[cfg(target_os = "linux")]
fn owner(tables: &[String], peer: SocketAddr, own: SocketAddr) -> Row {
    let (peers, owns) = (spellings(peer), spellings(own));
    let mut serves = false;
    for line in tables.iter().flat_map(|table| table.lines()) {
        let fields: Vec<&str> = line.split_whitespace().take(10).collect();
        let [_, local, remote, ..] = fields.as_slice() else { continue };
        serves = serves || owns.iter().any(|own| own == local);
        if peers.iter().any(|peer| peer == local) && owns.iter().any(|own| own == remote) {
            return match fields.get(9).and_then(|inode| inode.parse().ok()) {
                None | Some(0) => Row::Closed,
                Some(inode) => Row::Open(inode),
            };
        }
    }
    if serves { Row::Closed } else { Row::NotTold }
}

/// An address as both tables write it.
#[cfg(target_os = "linux")]
fn spellings(address: SocketAddr) -> [String; 2] {
    let word = |bytes: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(bytes));
    let port = address.port();
    let (short, long) = match address {
        SocketAddr::V4(four) => (word(four.ip().octets()), four.ip().to_ipv6_mapped()),
        SocketAddr::V6(six) => {
            (six.ip().to_ipv4_mapped().map(|four| word(four.octets())).unwrap_or_default(), *six.ip())
        }
    };
    let long: String = long.octets().chunks_exact(4).filter_map(|part| part.try_into().ok()).map(word).collect();
    [format!("{short}:{port:04X}"), format!("{long}:{port:04X}")]
}

#[cfg(target_os = "linux")]
fn holders(inode: u64) -> Vec<u32> {
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let socket = std::path::PathBuf::from(format!("socket:[{inode}]"));
    let holds = |pid: &u32| {
        let open = std::fs::read_dir(format!("/proc/{pid}/fd"));
        open.is_ok_and(|open| {
            open.flatten().any(|entry| std::fs::read_link(entry.path()).is_ok_and(|target| target == socket))
        })
    };
    pids.filter(holds).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn g8_who_holds_the_other_end_is_found_and_one_that_hung_up_is_told_apart() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = server.local_addr().unwrap();
        let client = TcpStream::connect(own).unwrap();
        let (_taken, peer) = server.accept().unwrap();
        assert_eq!(of(peer, own), LoopbackPeer::Processes(vec![std::process::id()]));
        drop(client);
        assert_eq!(of(peer, own), LoopbackPeer::Closed);
        let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
        assert_eq!(owner(&[String::new()], nobody, own), Row::NotTold, "a table that does not know us tells nothing");
    }

    #[test]
    fn g8_an_address_is_found_in_the_spelling_of_either_table() {
        let four: SocketAddr = "127.0.0.1:8080".parse().unwrap();
        assert_eq!(spellings(four), ["0100007F:1F90", "0000000000000000FFFF00000100007F:1F90"]);
        assert_eq!(spellings("[::ffff:127.0.0.1]:8080".parse().unwrap()), spellings(four));
        assert_eq!(spellings("[::1]:80".parse().unwrap())[1], "00000000000000000000000001000000:0050");
    }
}
