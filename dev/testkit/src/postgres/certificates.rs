//! Certificates for one test, by the `openssl` program: an authority, a server that is `localhost`, a member, and an
//! authority that nobody trusts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub struct Certificates {
    /// Who signed the server's.
    pub ca: PathBuf,
    /// Who did not.
    pub other_ca: PathBuf,
    /// Of a member called `certified`.
    pub client: PathBuf,
    pub client_key: PathBuf,
}

impl Certificates {
    pub(super) fn made(folder: &Path) -> io::Result<Self> {
        fs::create_dir(folder)?;
        let maker = Maker { folder };
        maker.authority("ca")?;
        maker.authority("other_ca")?;
        maker.signed("server", "localhost", "subjectAltName=DNS:localhost")?;
        maker.signed("client", "certified", "extendedKeyUsage=clientAuth")?;
        let at = |name: &str| folder.join(name);
        Ok(Self {
            ca: at("ca.pem"),
            other_ca: at("other_ca.pem"),
            client: at("client.pem"),
            client_key: at("client.key"),
        })
    }
}

struct Maker<'a> {
    folder: &'a Path,
}

impl Maker<'_> {
    fn authority(&self, name: &str) -> io::Result<()> {
        let (key, certificate, subject) =
            (format!("{name}.key"), format!("{name}.pem"), format!("/CN={name} of a test"));
        self.openssl(&[
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            &subject, "-keyout", &key, "-out", &certificate, "-addext", "keyUsage=critical,keyCertSign,cRLSign",
        ])
    }

    fn signed(&self, name: &str, subject: &str, extension: &str) -> io::Result<()> {
        let (key, wish, certificate) = (format!("{name}.key"), format!("{name}.csr"), format!("{name}.pem"));
        let subject = format!("/CN={subject}");
        self.openssl(&[
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", &subject,
            "-keyout", &key, "-out", &wish,
        ])?;
        fs::write(self.folder.join("extension"), format!("basicConstraints=CA:FALSE\n{extension}\n"))?;
        self.openssl(&[
            "x509", "-req", "-in", &wish, "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "extension", "-out", &certificate,
        ])
    }

    fn openssl(&self, words: &[&str]) -> io::Result<()> {
        let mut openssl = Command::new("openssl");
        openssl.args(words).current_dir(self.folder);
        let done = crate::process::run(openssl, b"", LIMIT)?;
        if done.success() { Ok(()) } else { Err(io::Error::other(done.stderr_text())) }
    }
}
