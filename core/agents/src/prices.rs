//! What models cost by their public lists, for agents that tell what they used and not what it cost. An estimate, and
//! rather too high than too low: a budget must hold.

pub use model::agent::UsedTokens;

/// A family of models by how their names begin, and what a million tokens of it cost in thousandths of a dollar: read,
/// read from the cache, written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelPrice(pub &'static str, pub u64, pub u64, pub u64);

/// Those of makers that have no agent here under their own name. The longer name stands before the shorter.
const OTHERS: &[ModelPrice] = &[
    ModelPrice("gpt-5-nano", 250, 25, 2_000),
    ModelPrice("gpt-5-mini", 1_000, 100, 5_000),
    ModelPrice("gpt-5", 5_000, 500, 30_000),
    ModelPrice("gpt-4", 5_000, 1_250, 15_000),
    ModelPrice("o3", 2_000, 500, 8_000),
    ModelPrice("o4-mini", 1_100, 275, 4_400),
    ModelPrice("mistral", 2_000, 2_000, 6_000),
    ModelPrice("devstral", 2_000, 2_000, 6_000),
    ModelPrice("deepseek", 600, 60, 1_700),
    ModelPrice("glm", 1_000, 200, 3_200),
];

/// The first that fits holds.
fn families() -> impl Iterator<Item = &'static ModelPrice> {
    crate::ALL.0.iter().flat_map(|dialect| dialect.launch.prices).chain(OTHERS)
}

/// Of a model that nobody knows here: the dearest that is.
const DEAREST: ModelPrice = ModelPrice("", 15_000, 1_500, 75_000);

/// In millionths of a dollar.
pub fn estimate(model: &str, used: UsedTokens) -> i64 {
    let name = model.rsplit(['/', ':']).next().unwrap_or(model).to_ascii_lowercase();
    let ModelPrice(_, input, cached, output) =
        families().find(|ModelPrice(start, ..)| name.starts_with(start)).unwrap_or(&DEAREST);
    // What is written to a cache costs a quarter more than what is only read.
    let read = used.input.saturating_add(used.cache_write).saturating_add(used.cache_write / 4);
    let sum = [(read, input), (used.cache_read, cached), (used.output, output)]
        .into_iter()
        .fold(0_u64, |sum, (tokens, price)| sum.saturating_add(tokens.saturating_mul(*price)));
    i64::try_from(sum / 1_000).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLION: UsedTokens = UsedTokens { input: 1_000_000, cache_read: 0, cache_write: 0, output: 1_000_000 };

    #[test]
    fn l6_a_cost_is_estimated_by_the_family_of_the_model() {
        assert_eq!(estimate("claude-haiku-4-5-20251001", MILLION), 6_000_000);
        assert_eq!(estimate("anthropic/claude-haiku-4-5", MILLION), 6_000_000);
        let cached = UsedTokens { cache_read: 1_000_000, ..UsedTokens::default() };
        assert_eq!(estimate("claude-opus-5-5", cached), 500_000);
        let written = UsedTokens { cache_write: 1_000_000, ..UsedTokens::default() };
        assert_eq!(estimate("claude-haiku-4-5", written), 1_250_000);
    }

    #[test]
    fn l6_a_model_that_nobody_knows_costs_what_the_dearest_does_and_no_number_overflows() {
        let dearest = families().map(|ModelPrice(name, ..)| estimate(name, MILLION)).max();
        assert_eq!(Some(estimate("nobody-knows-me", MILLION)), dearest);
        let endless = UsedTokens { input: u64::MAX, cache_read: u64::MAX, cache_write: u64::MAX, output: u64::MAX };
        assert!(estimate("gpt-5", endless) > 0 && endless.all() == u64::MAX);
    }

    #[test]
    fn a_longer_name_stands_before_the_shorter_that_it_begins_with() {
        for (at, ModelPrice(name, ..)) in families().enumerate() {
            let hidden = families().take(at).find(|ModelPrice(before, ..)| name.starts_with(before));
            assert!(hidden.is_none(), "{name}");
        }
    }
}
