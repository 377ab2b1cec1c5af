//! How a key of the configuration is declared: its name, kind, default and what it is for, once. The check with line and
//! column, the typed settings, the page in the docs and the schema for editors are made from these declarations.

use std::collections::BTreeMap;
use toml::Value;

/// A type that a key can have.
pub trait ConfigType {
    /// What the program works with.
    type Value;
    const KIND: ValueKind;
    /// `None` where it is of another kind, which the check has said already.
    fn read(value: &Value) -> Option<Self::Value>;
    /// As it would be written; `None` is not set.
    fn show(value: &Self::Value) -> Option<Value>;
}

/// What may stand behind a key.
#[derive(Debug, Clone, Copy)]
pub enum ValueKind {
    Truth,
    Whole {
        least: i64,
        most: i64,
    },
    Number {
        least: f64,
        most: f64,
    },
    Text,
    /// One of these, and what to call such a word.
    Word {
        noun: &'static str,
        words: &'static [&'static str],
    },
    /// A text that can be read as something else.
    Spelled {
        what: &'static str,
        accepts: fn(&str) -> bool,
    },
    Moment,
    List(&'static ValueKind),
    Table(&'static [KeyDecl]),
    /// A table whose keys are names that the user chooses.
    Named(&'static ValueKind),
    /// Any of several; the first that has the value's shape is the one that is meant.
    Either(&'static [ValueKind]),
    /// Of a kind, and more than its shape is asked of it.
    Checked {
        of: &'static ValueKind,
        what: &'static str,
        hint: Option<&'static str>,
        check: fn(&Value) -> Result<(), String>,
    },
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub struct KeyDecl {
    pub name: &'static str,
    pub doc: &'static str,
    pub kind: ValueKind,
    /// As it would be written; `None` is not set.
    pub default: fn() -> Option<Value>,
    pub unreadable: WhenUnreadable,
}

/// What holds where the value of a key cannot be read. A limit that cannot be read is never no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenUnreadable {
    /// As if nothing stood there.
    Absent,
    /// The smaller of the default and what holds below.
    Lower,
    /// The larger of them.
    Higher,
    /// The feature is on, with its defaults.
    On,
    /// This word.
    Word(&'static str),
    /// Nothing can stand in for it, and without it something is let through.
    Lost,
    /// The entry it stands in is none without it.
    Needed,
}

impl WhenUnreadable {
    pub fn is_limit(self) -> bool {
        !matches!(self, Self::Absent | Self::Needed)
    }
}

/// A value that others may speak before: the environment, or another file.
#[derive(Debug, Clone, PartialEq)]
pub struct Stated<T> {
    pub value: T,
    pub is_stated: bool,
}

impl<T> Stated<T> {
    pub fn default_of(value: T) -> Self {
        Self { value, is_stated: false }
    }

    /// What the configuration says; `None` where it says nothing.
    pub fn stated(&self) -> Option<&T> {
        self.is_stated.then_some(&self.value)
    }
}

impl<C: ConfigType> ConfigType for Stated<C> {
    type Value = Stated<C::Value>;
    const KIND: ValueKind = C::KIND;

    fn read(value: &Value) -> Option<Self::Value> {
        Some(Stated { value: C::read(value)?, is_stated: true })
    }

    fn show(value: &Self::Value) -> Option<Value> {
        C::show(&value.value)
    }
}

impl ConfigType for bool {
    type Value = Self;
    const KIND: ValueKind = ValueKind::Truth;

    fn read(value: &Value) -> Option<Self> {
        value.as_bool()
    }

    fn show(value: &Self) -> Option<Value> {
        Some(Value::Boolean(*value))
    }
}

impl ConfigType for u32 {
    type Value = Self;
    const KIND: ValueKind = ValueKind::Whole { least: 0, most: u32::MAX as i64 };

    fn read(value: &Value) -> Option<Self> {
        value.as_integer().and_then(|number| Self::try_from(number).ok())
    }

    fn show(value: &Self) -> Option<Value> {
        Some(Value::Integer(i64::from(*value)))
    }
}

impl ConfigType for i64 {
    type Value = Self;
    const KIND: ValueKind = ValueKind::Whole { least: i64::MIN, most: i64::MAX };

    fn read(value: &Value) -> Option<Self> {
        value.as_integer()
    }

    fn show(value: &Self) -> Option<Value> {
        Some(Value::Integer(*value))
    }
}

impl ConfigType for String {
    type Value = Self;
    const KIND: ValueKind = ValueKind::Text;

    fn read(value: &Value) -> Option<Self> {
        value.as_str().map(Self::from)
    }

    fn show(value: &Self) -> Option<Value> {
        Some(Value::String(value.clone()))
    }
}

/// Not set, or a value.
impl<C: ConfigType> ConfigType for Option<C> {
    type Value = Option<C::Value>;
    const KIND: ValueKind = C::KIND;

    fn read(value: &Value) -> Option<Self::Value> {
        C::read(value).map(Some)
    }

    fn show(value: &Self::Value) -> Option<Value> {
        value.as_ref().and_then(C::show)
    }
}

impl<C: ConfigType> ConfigType for Vec<C> {
    type Value = Vec<C::Value>;
    const KIND: ValueKind = ValueKind::List(&C::KIND);

    fn read(value: &Value) -> Option<Self::Value> {
        Some(value.as_array()?.iter().filter_map(C::read).collect())
    }

    fn show(value: &Self::Value) -> Option<Value> {
        Some(Value::Array(value.iter().filter_map(C::show).collect()))
    }
}

impl<C: ConfigType> ConfigType for BTreeMap<String, C> {
    type Value = BTreeMap<String, C::Value>;
    const KIND: ValueKind = ValueKind::Named(&C::KIND);

    fn read(value: &Value) -> Option<Self::Value> {
        Some(value.as_table()?.iter().filter_map(|(name, value)| Some((name.clone(), C::read(value)?))).collect())
    }

    fn show(value: &Self::Value) -> Option<Value> {
        Some(Value::Table(value.iter().filter_map(|(name, value)| Some((name.clone(), C::show(value)?))).collect()))
    }
}

/// Declares a table of the configuration: a struct, its keys, and how it is read and shown. A key that is not declared
/// here has no field, so nothing can read it. Before a key may stand what holds where it cannot be read.
macro_rules! table {
    ($(#[doc = $about:literal])+ pub struct $name:ident {
        $( $(#[doc = $doc:literal])+ $([$($mark:tt)+])? $key:ident $(as $written:literal)?: $kind:ty = $default:expr ),* $(,)?
    }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $key: <$kind as $crate::config::declare::ConfigType>::Value, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $key: $default, )* }
            }
        }

        impl $name {
            pub const KEYS: &'static [$crate::config::declare::KeyDecl] = &[$(
                $crate::config::declare::KeyDecl {
                    name: $crate::config::declare::table!(@name $key $($written)?),
                    doc: concat!($($doc),+),
                    kind: <$kind as $crate::config::declare::ConfigType>::KIND,
                    default: || <$kind as $crate::config::declare::ConfigType>::show(&Self::default().$key),
                    unreadable: $crate::config::declare::table!(@unreadable $($($mark)+)?),
                },
            )*];
        }

        impl $crate::config::declare::ConfigType for $name {
            type Value = Self;
            const KIND: $crate::config::declare::ValueKind = $crate::config::declare::ValueKind::Table(Self::KEYS);

            fn read(value: &toml::Value) -> Option<Self> {
                let table = value.as_table()?;
                let mut read = Self::default();
                $(
                    let found = table.get($crate::config::declare::table!(@name $key $($written)?));
                    if let Some(value) = found.and_then(<$kind as $crate::config::declare::ConfigType>::read) {
                        read.$key = value;
                    }
                )*
                Some(read)
            }

            fn show(value: &Self) -> Option<toml::Value> {
                let mut table = toml::Table::new();
                $(
                    if let Some(shown) = <$kind as $crate::config::declare::ConfigType>::show(&value.$key) {
                        table.insert($crate::config::declare::table!(@name $key $($written)?).to_string(), shown);
                    }
                )*
                Some(toml::Value::Table(table))
            }
        }
    };
    (@name $key:ident) => { stringify!($key) };
    (@name $key:ident $written:literal) => { $written };
    (@unreadable) => { $crate::config::declare::WhenUnreadable::Absent };
    (@unreadable lower) => { $crate::config::declare::WhenUnreadable::Lower };
    (@unreadable higher) => { $crate::config::declare::WhenUnreadable::Higher };
    (@unreadable on) => { $crate::config::declare::WhenUnreadable::On };
    (@unreadable lost) => { $crate::config::declare::WhenUnreadable::Lost };
    (@unreadable needed) => { $crate::config::declare::WhenUnreadable::Needed };
    (@unreadable word $word:literal) => { $crate::config::declare::WhenUnreadable::Word($word) };
}
pub(crate) use table;

/// Declares a type whose values are words.
macro_rules! words {
    ($(#[$about:meta])+ pub enum $name:ident($noun:literal) {
        $( $(#[$doc:meta])* $variant:ident = $word:literal ),* $(,)?
    }) => {
        $(#[$about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $( $(#[$doc])* $variant, )* }

        impl $name {
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $( $word => Some(Self::$variant), )*
                    _ => None,
                }
            }

            pub fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )*
                }
            }
        }

        impl $crate::config::declare::ConfigType for $name {
            type Value = Self;
            const KIND: $crate::config::declare::ValueKind =
                $crate::config::declare::ValueKind::Word { noun: $noun, words: Self::WORDS };

            fn read(value: &toml::Value) -> Option<Self> {
                Self::parse(value.as_str()?)
            }

            fn show(value: &Self) -> Option<toml::Value> {
                Some(toml::Value::String(value.name().to_string()))
            }
        }
    };
}
pub(crate) use words;

/// A type whose values are texts of a certain form.
macro_rules! texts {
    ($($(#[$doc:meta])+ $name:ident: $what:literal, $accepts:expr;)*) => {$(
        $(#[$doc])+
        #[derive(Debug)]
        pub enum $name {}

        impl $name {
            pub fn accepts(text: &str) -> bool {
                let accepts: fn(&str) -> bool = $accepts;
                accepts(text)
            }
        }

        impl $crate::config::declare::ConfigType for $name {
            type Value = String;
            const KIND: $crate::config::declare::ValueKind =
                $crate::config::declare::ValueKind::Spelled { what: $what, accepts: Self::accepts };

            fn read(value: &toml::Value) -> Option<String> {
                value.as_str().filter(|text| Self::accepts(text)).map(str::to_owned)
            }

            fn show(value: &String) -> Option<toml::Value> {
                Some(toml::Value::String(value.clone()))
            }
        }
    )*};
}
pub(crate) use texts;
