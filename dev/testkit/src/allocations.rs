//! Counts what a piece of work allocates: the same number on every machine and at every load, where time is not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator with a count for each thread. A test binary makes it its own:
/// `#[global_allocator] static ALLOCATOR: testkit::allocations::Counting = testkit::allocations::Counting;`
#[derive(Debug)]
pub struct Counting;

/// The bytes that `work` allocates on this thread, freed ones included. Always nothing without [`Counting`].
pub fn bytes(work: impl FnOnce()) -> u64 {
    let before = BYTES.get();
    work();
    BYTES.get() - before
}

fn count(bytes: usize) {
    // A thread that ends may allocate when its counter is gone already.
    let _ = BYTES.try_with(|counted| counted.set(counted.get() + bytes as u64));
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        unsafe { System.realloc(pointer, layout, size) }
    }
}
