//! Declaration of parameters. One macro invocation per section defines the checked struct, the raw struct
//! that a file is deserialized into, and the table that listings, checks and the manual use.

use super::{plugins, size};
use crate::registry::Role;
use serde::Deserialize;
use serde::de::Error;
use wave_isa::ron_text::join;

/// One parameter, section or list of a section.
#[derive(Debug)]
pub(super) struct Field {
    /// Key in the file.
    pub key: &'static str,
    /// Meaning, from the doc comment. Lines are joined by blanks.
    pub doc: &'static str,
    /// Kind of value.
    pub kind: Kind,
    /// Range and unit of an integer.
    pub limits: Option<Limits>,
}

/// A struct of the configuration.
#[derive(Debug)]
pub(super) struct Section {
    /// Name of the struct. A file may write it before the parenthesis.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
    /// Parameters, in file order.
    pub listed: Listed,
    /// Keys that control how the file is read. The resolved configuration does not contain them.
    pub directives: &'static [Field],
}

/// The fields of a section.
#[derive(Debug)]
pub(super) enum Listed {
    /// The fields of a struct.
    Fields(&'static [Field]),
    /// A section for each plug-in that has parameters.
    PlugIns,
}

impl Section {
    /// Parameters, in file order.
    pub(super) fn fields(&self) -> &'static [Field] {
        match self.listed {
            Listed::Fields(fields) => fields,
            Listed::PlugIns => plugins::sections(),
        }
    }

    /// The parameter or directive with this key.
    pub(super) fn field(&self, key: &str) -> Option<&'static Field> {
        self.fields().iter().chain(self.directives).find(|f| f.key == key)
    }
}

/// Kind of value of a key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// An integer within the field's limits.
    Integer,
    /// `true` or `false`.
    Bool,
    /// A string.
    Text,
    /// One of several names.
    Choice(Choices),
    /// A nested section.
    Section(&'static Section),
    /// A list of structs. It replaces the list of the base completely.
    List(&'static Section),
}

/// The names of a choice, each with its meaning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choices {
    /// Built-in names, as written in a file.
    pub names: &'static [&'static str],
    /// Meaning of each of `names`.
    pub docs: &'static [&'static str],
    /// The plug-ins of this role are choices too.
    pub role: Option<Role>,
}

impl Choices {
    /// All names.
    pub(super) fn names(self) -> &'static [&'static str] {
        self.role.map_or(self.names, |role| plugins::choices(role, self).0)
    }

    /// Meaning of each of [`names`](Self::names).
    pub(super) fn docs(self) -> &'static [&'static str] {
        self.role.map_or(self.docs, |role| plugins::choices(role, self).1)
    }
}

/// Range and unit of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// True if only powers of two are allowed.
    pub power_of_two: bool,
    /// Unit of the value.
    pub unit: &'static str,
}

/// Limits that allow every integer from `min` to `max`.
pub(super) const fn range(min: u64, max: u64) -> Limits {
    Limits { min, max, power_of_two: false, unit: "" }
}

/// Limits that allow the powers of two from `min` to `max`.
pub(crate) const fn power_of_two(min: u64, max: u64) -> Limits {
    Limits { min, max, power_of_two: true, unit: "" }
}

impl Limits {
    /// Sets the unit.
    pub(super) const fn of(self, unit: &'static str) -> Limits {
        Limits { unit, ..self }
    }

    /// Range and unit for listings, such as "1 to 64 lanes, powers of two".
    pub(super) fn summary(&self) -> String {
        let Limits { min, max, power_of_two, unit } = self;
        let space = if unit.is_empty() { "" } else { " " };
        let powers = if *power_of_two { ", powers of two" } else { "" };
        format!("{min} to {max}{space}{unit}{powers}")
    }

    /// True if the value is allowed.
    pub(super) fn allows(&self, value: u64) -> bool {
        (self.min..=self.max).contains(&value) && (!self.power_of_two || value.is_power_of_two())
    }
}

impl std::fmt::Display for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Limits { min, max, power_of_two, unit } = self;
        let kind = if *power_of_two { "a power of two" } else { "an integer" };
        write!(f, "{kind} from {min} to {max}")?;
        if unit.is_empty() { Ok(()) } else { write!(f, " ({unit})") }
    }
}

/// A value, structured like the declaration.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    /// An integer.
    Integer(u64),
    /// A Boolean.
    Bool(bool),
    /// A string.
    Text(String),
    /// Name of a choice.
    Choice(&'static str),
    /// One value per field of the section.
    Section(Vec<Tree>),
    /// One section per item.
    List(Vec<Tree>),
}

/// A type of parameters.
pub(super) trait Parameter: Sized {
    /// Form in a file. Parts may be missing.
    type Raw;
    /// Kind of value.
    const KIND: Kind;

    /// The values of `file`, completed from `base`.
    fn merge(file: Self::Raw, base: Self::Raw) -> Self::Raw;

    /// The value where no file states one; `None` if one has to.
    fn absent() -> Option<Self> {
        None
    }

    /// The complete value. Adds the paths of missing parameters to `missing`.
    fn resolve(raw: Self::Raw, path: &str, missing: &mut Vec<String>) -> Option<Self>;

    /// The value as a [`Tree`].
    fn tree(&self) -> Tree;
}

/// [`Parameter::merge`] of two optional values.
pub(crate) fn merge_fields<T: Parameter>(file: Option<T::Raw>, base: Option<T::Raw>) -> Option<T::Raw> {
    match (file, base) {
        (Some(file), Some(base)) => Some(T::merge(file, base)),
        (file, base) => file.or(base),
    }
}

/// [`Parameter::resolve`] of the field `key` in the section at `path`.
pub(crate) fn resolve_field<T: Parameter>(
    raw: Option<T::Raw>,
    path: &str,
    key: &str,
    missing: &mut Vec<String>,
) -> Option<T> {
    let path = join(path, key);
    match raw {
        Some(raw) => T::resolve(raw, &path, missing),
        None => {
            let absent = T::absent();
            if absent.is_none() {
                missing.push(path);
            }
            absent
        }
    }
}

macro_rules! leaf {
    ($($type:ty: $kind:expr, |$value:ident| $tree:expr;)*) => {$(
        impl Parameter for $type {
            type Raw = $type;
            const KIND: Kind = $kind;
            fn merge(file: $type, _: $type) -> $type {
                file
            }
            fn resolve(raw: $type, _: &str, _: &mut Vec<String>) -> Option<$type> {
                Some(raw)
            }
            fn tree(&self) -> Tree {
                let $value = self;
                $tree
            }
        }
    )*};
}
pub(super) use leaf;

leaf! {
    u8: Kind::Integer, |value| Tree::Integer(u64::from(*value));
    u32: Kind::Integer, |value| Tree::Integer(u64::from(*value));
    u64: Kind::Integer, |value| Tree::Integer(*value);
    bool: Kind::Bool, |value| Tree::Bool(*value);
    String: Kind::Text, |value| Tree::Text(value.clone());
    wave_isa::ExecClass: Kind::Choice(Choices { names: Self::NAMES, docs: Self::MEANINGS, role: None }),
        |value| Tree::Choice(value.name());
}

impl<T: Parameter> Parameter for Vec<T> {
    type Raw = Vec<T::Raw>;
    const KIND: Kind = match T::KIND {
        Kind::Section(section) => Kind::List(section),
        _ => panic!("lists hold sections"),
    };

    fn merge(file: Vec<T::Raw>, _: Vec<T::Raw>) -> Vec<T::Raw> {
        file
    }

    fn resolve(raw: Vec<T::Raw>, path: &str, missing: &mut Vec<String>) -> Option<Vec<T>> {
        // Resolves all items even after a failure, so that all missing parameters are reported.
        let items: Vec<_> = (0..)
            .zip(raw)
            .map(|(i, item): (usize, _)| T::resolve(item, &format!("{path}[{i}]"), missing))
            .collect();
        items.into_iter().collect()
    }

    fn tree(&self) -> Tree {
        Tree::List(self.iter().map(T::tree).collect())
    }
}

/// Reads an integer of a file: a number, or a string with a byte unit such as `"64KiB"`. Whether the
/// parameter counts bytes is checked later.
///
/// # Errors
/// Errors of the deserializer, and numbers out of the range of `T`.
pub(crate) fn stated_integer<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: TryFrom<u64>,
{
    let stated = Option::<Stated>::deserialize(deserializer)?;
    let too_large = |_| D::Error::custom("the number is too large");
    stated.map(|Stated(value)| T::try_from(value).map_err(too_large)).transpose()
}

/// An integer in a file.
struct Stated(u64);

impl<'de> Deserialize<'de> for Stated {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Stated, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Stated;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an integer")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Stated, E> {
                Ok(Stated(value))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Stated, E> {
                size::bytes(text.trim()).map(Stated).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Declares an enum with the names used in files: `Variant = "name"`, each with a doc comment. One that is `open` to a
/// role has the plug-ins of that role as choices, too.
macro_rules! choices {
    ($($(#[doc = $doc:literal])+ pub enum $name:ident $(open $role:ident)? {
        $($(#[doc = $variant_doc:literal])+ $variant:ident = $text:literal,)+
    })+) => {$(
        choices!(@declare [$($role)?] $(#[doc = $doc])+ $name {
            $($(#[doc = $variant_doc])+ $variant = $text,)+
        });

        impl $name {
            /// The built-in ones, in the order of their declaration.
            pub const ALL: &[$name] = &[$($name::$variant),+];
        }

        super::declare::leaf! {
            $name: Kind::Choice(Choices {
                names: &[$($text),+],
                docs: &[$(concat!($($variant_doc),+)),+],
                role: choices!(@role $($role)?),
            }), |value| Tree::Choice(value.name());
        }
    )+};
    (@declare [] $(#[doc = $doc:literal])+ $name:ident {
        $($(#[doc = $variant_doc:literal])+ $variant:ident = $text:literal,)+
    }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $variant_doc])+ #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Name in configuration files.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }
        }
    };
    (@declare [$role:ident] $(#[doc = $doc:literal])+ $name:ident {
        $($(#[doc = $variant_doc:literal])+ $variant:ident = $text:literal,)+
    }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $variant_doc])+ $variant,)+
            /// A registered one.
            PlugIn(super::plugins::Chosen),
        }

        impl $name {
            /// Name in configuration files.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                    $name::PlugIn(chosen) => chosen.name(),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let Kind::Choice(choices) = <$name as Parameter>::KIND else { unreachable!("it is a choice") };
                match super::plugins::read_name(from, stringify!($name), choices)? {
                    $($text => Ok($name::$variant),)+
                    name => Ok($name::PlugIn(super::plugins::Chosen::named(name))),
                }
            }
        }
    };
    (@role) => { None };
    (@role $role:ident) => { Some(crate::registry::Role::$role) };
}
pub(super) use choices;

/// Declares sections. A section whose struct has another name than in files says that one. Each field has a doc
/// comment, a type and, for integers, `#[limits(...)]`. A section may have a directive, a key that exists only in
/// files, and a field that is not a parameter and never in a file.
macro_rules! sections {
    ($(
        $(#[doc = $doc:literal])+
        #[derive($($derive:ident),+)]
        $(#[directive($(#[doc = $raw_doc:literal])+ $raw_key:ident: $raw_type:ty)])?
        $(#[beside($(#[doc = $beside_doc:literal])+ $beside_key:ident: $beside_type:ty)])?
        pub struct $name:ident $(as $in_files:literal)? {
            $(
                $(#[doc = $field_doc:literal])+
                $(#[limits($limits:expr)])?
                pub $key:ident: $type:ty,
            )+
        }
    )+) => {
        $(
            $(#[doc = $doc])+
            #[derive($($derive),+)]
            pub struct $name {
                $($(#[doc = $field_doc])+ pub $key: $type,)+
                $($(#[doc = $beside_doc])+ pub $beside_key: $beside_type,)?
            }

            impl $name {
                /// Table of its parameters, for listings and checks.
                pub(super) const SECTION: &Section = &Section {
                    name: sections!(@name $name $($in_files)?),
                    doc: concat!($($doc),+),
                    listed: Listed::Fields(&[$(Field {
                        key: stringify!($key),
                        doc: concat!($($field_doc),+),
                        kind: <$type as Parameter>::KIND,
                        limits: sections!(@limits $($limits)?),
                    }),+]),
                    directives: &[$(Field {
                        key: stringify!($raw_key),
                        doc: concat!($($raw_doc),+),
                        kind: <$raw_type as Parameter>::KIND,
                        limits: None,
                    })?],
                };
            }

            impl Parameter for $name {
                type Raw = raw::$name;
                const KIND: Kind = Kind::Section(Self::SECTION);

                fn merge(file: raw::$name, base: raw::$name) -> raw::$name {
                    raw::$name {
                        $($key: merge_fields::<$type>(file.$key, base.$key),)+
                        $($raw_key: file.$raw_key,)?
                    }
                }

                fn resolve(raw: raw::$name, path: &str, missing: &mut Vec<String>) -> Option<$name> {
                    $(let $key = resolve_field::<$type>(raw.$key, path, stringify!($key), missing);)+
                    Some($name { $($key: $key?,)+ $($beside_key: Default::default(),)? })
                }

                fn tree(&self) -> Tree {
                    Tree::Section(vec![$(self.$key.tree()),+])
                }
            }
        )+

        /// The same structs with every field optional, for deserializing files.
        pub(super) mod raw {
            use super::*;
            use crate::config::plugins::RawPlugIns as PlugIns;
            use serde::Deserialize;
            $(
                #[derive(Debug, Clone, Default, Deserialize)]
                #[serde(deny_unknown_fields, default $(, rename = $in_files)?)]
                pub(crate) struct $name {
                    $(
                        $(
                            #[doc = stringify!($limits)]
                            #[serde(deserialize_with = "crate::config::declare::stated_integer")]
                        )?
                        pub $key: Option<$type>,
                    )+
                    $($(#[doc = $raw_doc])+ pub(crate) $raw_key: Option<$raw_type>,)?
                }
            )+
        }
    };
    (@name $name:ident) => { stringify!($name) };
    (@name $name:ident $in_files:literal) => { $in_files };
    (@limits) => { None };
    (@limits $limits:expr) => { Some($limits) };
}
pub(super) use sections;
