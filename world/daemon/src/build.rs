//! Which of two builds is the newer one.

use std::fmt;
use std::str::FromStr;

/// Version, schema and protocol of a build, compared in this order. The same sources give the same stamp, so a
/// rebuild replaces nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Build {
    pub version: [u32; 3],
    pub schema: u32,
    pub protocol: u8,
}

impl Build {
    /// This build, with the schema version of the store it was built with.
    #[must_use]
    pub fn of_this(schema: u32) -> Self {
        Self { version: version(fast_client::wire::VERSION), schema, protocol: fast_client::wire::PROTOCOL }
    }

    /// A hook names its version only: less than its whole stamp, so that an equal version never counts as newer.
    pub(crate) fn of_hook(text: &str) -> Self {
        Self { version: version(text), schema: 0, protocol: 0 }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.version;
        write!(f, "{major}.{minor}.{patch}/{}/{}", self.schema, self.protocol)
    }
}

impl FromStr for Build {
    type Err = std::convert::Infallible;

    /// What cannot be read counts as zero: such a build is older than any other.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split('/');
        let version = version(parts.next().unwrap_or_default());
        let schema = parts.next().and_then(|part| part.parse().ok()).unwrap_or_default();
        let protocol = parts.next().and_then(|part| part.parse().ok()).unwrap_or_default();
        Ok(Self { version, schema, protocol })
    }
}

/// The three numbers of a version; what follows a `-` or `+` is not compared.
fn version(text: &str) -> [u32; 3] {
    let plain = text.split(['-', '+']).next().unwrap_or_default();
    let mut numbers = plain.split('.').map(|part| part.parse().unwrap_or_default());
    std::array::from_fn(|_| numbers.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::Build;

    fn build(text: &str) -> Build {
        text.parse().unwrap()
    }

    #[test]
    fn newer_is_by_version_then_schema_then_protocol() {
        let rising = ["garbage", "0.1.0/1/1", "0.1.0/2/1", "0.1.0/2/2", "0.2.0/1/1", "0.10.0/1/1", "1.0.0/0/0"];
        for pair in rising.windows(2) {
            assert!(build(pair[0]) < build(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn shows_what_it_reads() {
        assert_eq!(build("1.22.333/4/5").to_string(), "1.22.333/4/5");
        assert_eq!(build("1.2.3-rc.1/4/5").to_string(), "1.2.3/4/5");
        assert_eq!(Build::of_this(7).to_string().parse(), Ok(Build::of_this(7)));
    }

    #[test]
    fn a_hook_of_the_same_version_is_never_newer() {
        let ours = Build::of_this(1);
        assert!(Build::of_hook(fast_client::wire::VERSION) < ours);
        assert!(Build::of_hook("999.0.0") > ours);
    }
}
