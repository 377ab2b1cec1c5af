//! What a machine's daemon does for its queue: one round after another. It is killed like everybody else.

use super::seat::Place;
use pipeline::queue::OnUnsure;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(200);

pub fn run() {
    let Some(mut seat) = Place::here().take() else { return };
    while !seat.place.is_over() {
        // Away, or beaten by another: the next round says it again.
        if let Ok(round) = seat.queue().shared_round(OnUnsure::Tell) {
            round.refused.iter().for_each(|slug| seat.place.note(&format!("late {slug} 0")));
            round.lost.iter().for_each(|slug| seat.place.note(&format!("lost {slug} 0")));
        }
        std::thread::sleep(PAUSE);
    }
}
