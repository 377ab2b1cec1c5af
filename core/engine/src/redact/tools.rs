//! Programs that take a secret in a way of their own.

use std::sync::LazyLock;

/// A program and where it takes its secret.
#[derive(Debug)]
pub struct SecretTool {
    /// With blanks between them.
    pub names: &'static str,
    /// Words of which one must stand on the line too; none where it is always so.
    pub with: &'static [&'static str],
    pub takes: Takes,
}

#[derive(Debug)]
pub enum Takes {
    /// Written right behind the option: `-phunter2`.
    Joined(&'static [&'static str]),
    /// The word after the option.
    Next(&'static [&'static str]),
    /// Behind the option, or the word after it.
    Either(&'static [&'static str]),
    /// The word after the option, which is a name and a password: `me:hunter2`.
    Login(&'static [&'static str]),
    /// The so-manieth word after this one that is no option.
    Word(&'static str, usize),
    /// A word `user/password@place`.
    Slashed,
}

use Takes::{Either, Joined, Login, Next, Slashed, Word};

const fn tool(names: &'static str, with: &'static [&'static str], takes: Takes) -> SecretTool {
    SecretTool { names, with, takes }
}

pub const TOOLS: &[SecretTool] = &[
    tool(
        "\
         mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlpump mysqlbinlog mysqlslap mysqlsh \
         mariadb mariadb-dump mariadb-admin mycli xtrabackup mydumper",
        &[],
        Joined(&["-p"]),
    ),
    tool("sshpass", &[], Either(&["-p"])),
    tool("docker podman nerdctl buildah skopeo helm oras crane az oc regctl cf ibmcloud", &["login"], Either(&["-p"])),
    tool(
        "skopeo podman buildah",
        &["--creds", "--src-creds", "--dest-creds"],
        Login(&["--creds", "--src-creds", "--dest-creds"]),
    ),
    tool(
        "\
         mongo mongosh mongodump mongorestore mongoexport mongoimport cqlsh cypher-shell twine rdesktop nats \
         pulsar-admin couchbase-cli cbq",
        &[],
        Next(&["-p"]),
    ),
    tool("redis-cli valkey-cli keydb-cli", &[], Next(&["-a"])),
    tool(
        "\
         sqlcmd bcp osql tsql zip unzip zipcloak mosquitto_pub mosquitto_sub ipmitool snowsql",
        &[],
        Either(&["-P"]),
    ),
    tool("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd ldapcompare", &[], Either(&["-w"])),
    tool(
        "security",
        &["add-generic-password", "add-internet-password", "unlock-keychain", "create-keychain"],
        Next(&["-w", "-p"]),
    ),
    tool("7z 7za 7zr 7zz rar unrar", &[], Joined(&["-hp", "-p"])),
    tool("xfreerdp xfreerdp3 wlfreerdp", &[], Joined(&["/p:"])),
    tool("openssl", &[], Next(&["-pass", "-passin", "-passout", "-k", "-K", "-hmac"])),
    tool(
        "curl wget http https xh xhs ab hey wrk lftp ftp siege",
        &[],
        Login(&["-u", "--user", "-U", "--proxy-user", "-a", "--auth"]),
    ),
    tool("curl wget", &[], Next(&["--oauth2-bearer", "--tlspassword", "--http-passwd"])),
    tool("smbclient rpcclient smbget smbmap wmic net", &[], Login(&["-U", "--user"])),
    tool("sqlplus rman expdp impdp sqlldr exp imp sqlcl", &[], Slashed),
    tool("vault cargo wandb railway infisical gem", &["login"], Word("login", 1)),
    tool("ngrok", &["authtoken"], Word("authtoken", 1)),
    tool("ngrok", &["add-authtoken"], Word("add-authtoken", 1)),
    tool("snyk", &["auth"], Word("auth", 1)),
    tool("bw", &["unlock"], Word("unlock", 1)),
    tool("bw", &["login"], Word("login", 2)),
    tool("wpa_passphrase", &[], Word("wpa_passphrase", 2)),
    tool("mc", &["alias"], Word("set", 4)),
    tool("ConvertTo-SecureString convertto-securestring", &[], Word("convertto-securestring", 1)),
    tool("doctl vercel codecov netlify surge now flyctl fly", &[], Next(&["-t"])),
    tool("gh", &["secret"], Next(&["-b", "--body"])),
    tool("az aws gcloud vercel infisical", &["secret", "secrets", "SecureString"], Next(&["--value"])),
    tool("htpasswd", &[], Word("htpasswd", 0)),
];

/// All of their names in order: nearly every word of a text is none of them.
pub static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut names: Vec<&str> = TOOLS.iter().flat_map(|tool| tool.names.split_ascii_whitespace()).collect();
    names.sort_unstable();
    names
});

/// Words after which a telling name and its value stand side by side.
pub const SETTERS: &[&str] = &["set", "setenv", "setx", "config", "ENV", "ARG"];

/// Options that take the secret from the pipe.
pub const PIPED: &[&str] = &[
    "--password-stdin", "--with-token", "--pass-stdin", "--passphrase-fd", "--stdin", "--token-stdin",
    "--api-token-stdin", "chpasswd", "passwd", "kinit", "--password-from-stdin",
];
