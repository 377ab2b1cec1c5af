//! A connection that is kept between looks, and opened anew when another file stands at its path.

use crate::Store;

/// Holds at most one connection. The only place that asks whether one is stale.
#[derive(Debug, Default)]
pub struct StoreHandle(Option<Store>);

impl StoreHandle {
    /// The connection to the file that stands there now.
    pub fn get<E>(&mut self, open: impl FnOnce() -> Result<Store, E>) -> Result<&mut Store, E> {
        let kept = self.0.take().filter(|store| !store.stale());
        Ok(self.0.insert(kept.map_or_else(open, Ok)?))
    }

    /// The same for a view, for which there may be no file yet. Whether it is another connection than before, or none.
    pub fn renew<E>(&mut self, open: impl FnOnce() -> Result<Option<Store>, E>) -> Result<bool, E> {
        if self.0.as_ref().is_some_and(|store| !store.stale()) {
            return Ok(false);
        }
        self.0 = None;
        self.0 = open()?;
        Ok(true)
    }

    /// What is open, as it was found last.
    pub fn current(&self) -> Option<&Store> {
        self.0.as_ref()
    }

    pub fn close(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DATABASE, Error};
    use std::path::Path;
    use std::time::Duration;

    fn opened(handle: &mut StoreHandle, folder: &Path, times: &mut u32) {
        let open = || {
            *times += 1;
            Store::open(folder, Duration::ZERO)
        };
        handle.get(open).unwrap();
    }

    #[test]
    fn a_file_that_was_replaced_is_opened_anew_and_one_that_stands_is_not() {
        let home = tempfile::tempdir().unwrap();
        let (mut handle, mut times) = (StoreHandle::default(), 0);
        for _ in 0..3 {
            opened(&mut handle, home.path(), &mut times);
        }
        assert_eq!(times, 1);
        std::fs::rename(home.path().join(DATABASE), home.path().join("aside")).unwrap();
        opened(&mut handle, home.path(), &mut times);
        assert_eq!(times, 2, "another file is to stand there");
        assert!(!handle.renew(|| Err(Error::RolledBack)).unwrap(), "it stands, so nothing is opened");
        handle.close();
        assert!(handle.renew(|| Ok::<_, Error>(None)).unwrap() && handle.current().is_none());
    }
}
