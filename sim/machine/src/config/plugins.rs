//! Registered plug-ins in a configuration: their names as choices, their parameters as sections of `plugins`.

use super::choices::{Dispatch, IssuePolicy, L1Path, Prefetch, ReplacementPolicy};
use super::declare::{Choices, Field, Kind, Limits, Listed, Parameter, Section, Tree};
use crate::registry::{PlugIn, Registry, Role, Values, installed, put};
use serde::de::{DeserializeSeed, EnumAccess, Error, IgnoredAny, MapAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;
use wave_isa::diagnostic::Diagnostic;

/// Makes a registry that of this process. A program does so once, before it loads a configuration.
///
/// # Errors
/// The faults of the registry; or the process has one already.
pub fn install(registry: Registry) -> Result<(), Vec<Diagnostic>> {
    let names = |role: Role| -> Vec<&str> {
        match role {
            Role::Scheduler => IssuePolicy::ALL.iter().map(|policy| policy.name()).collect(),
            Role::Replacement => ReplacementPolicy::ALL.iter().map(|policy| policy.name()).collect(),
            Role::Prefetcher => Prefetch::ALL.iter().map(|prefetcher| prefetcher.name()).collect(),
            Role::Dispatch => Dispatch::ALL.iter().map(|policy| policy.name()).collect(),
            Role::Path => L1Path::ALL.iter().map(|path| path.name()).collect(),
            Role::Observer => Vec::new(),
        }
    };
    let faults = registry.faults(|role, name| names(role).contains(&name));
    if !faults.is_empty() {
        return Err(faults.into_iter().map(|fault| Diagnostic::error(fault).hint(NAME_HINT)).collect());
    }
    if put(registry) {
        return Ok(());
    }
    let message = "a second registry of plug-ins was given to this process";
    Err(vec![Diagnostic::error(message).hint("register all of them in one, before anything else runs")])
}

const NAME_HINT: &str = "names are unique, and of lower-case letters, digits and `_`";

/// A registered plug-in that a configuration has chosen.
#[derive(Clone, Copy)]
pub struct Chosen(&'static PlugIn);

impl Chosen {
    /// The plug-in of this name, which [`read_name`] has found.
    pub(super) fn named(name: &str) -> Chosen {
        let found = installed().plug_ins().iter().find(|plug_in| plug_in.name() == name);
        Chosen(found.expect("a name that was read is registered"))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The registered plug-in.
    pub fn plug_in(self) -> &'static PlugIn {
        self.0
    }
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Chosen {
    fn eq(&self, other: &Chosen) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Chosen {}

type Names = (&'static [&'static str], &'static [&'static str]);

/// The names of a choice and their meanings: the built-in ones, then the plug-ins of a role.
pub(super) fn choices(role: Role, choices: Choices) -> Names {
    static LISTS: [OnceLock<Names>; Role::ALL.len()] = [const { OnceLock::new() }; Role::ALL.len()];
    if installed().of(role).next().is_none() {
        return (choices.names, choices.docs);
    }
    *LISTS[role as usize].get_or_init(|| {
        let names = choices.names.iter().copied().chain(installed().of(role).map(PlugIn::name));
        let docs = choices.docs.iter().copied().chain(installed().of(role).map(PlugIn::description));
        (names.collect::<Vec<_>>().leak(), docs.collect::<Vec<_>>().leak())
    })
}

/// The plug-ins that have parameters.
fn with_parameters() -> impl Iterator<Item = &'static PlugIn> {
    installed().plug_ins().iter().filter(|plug_in| !plug_in.parameters().is_empty())
}

/// The fields of the section `plugins`.
pub(super) fn sections() -> &'static [Field] {
    static SECTIONS: OnceLock<Vec<Field>> = OnceLock::new();
    SECTIONS.get_or_init(|| {
        let field = |plug_in: &'static PlugIn| {
            let fields = plug_in.parameters().iter().map(|parameter| Field {
                key: parameter.name,
                doc: parameter.doc,
                kind: Kind::Integer,
                limits: Some(Limits {
                    min: *parameter.range.start(),
                    max: *parameter.range.end(),
                    power_of_two: false,
                    unit: parameter.unit,
                }),
            });
            let fields = fields.collect::<Vec<_>>().leak();
            let section = Section {
                name: plug_in.name(),
                doc: plug_in.description(),
                listed: Listed::Fields(fields),
                directives: &[],
            };
            let (key, doc) = (plug_in.name(), plug_in.description());
            Field { key, doc, kind: Kind::Section(Box::leak(Box::new(section))), limits: None }
        };
        with_parameters().map(field).collect()
    })
}

/// The parameters of the registered plug-ins that have any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlugIns(BTreeMap<&'static str, Vec<u64>>);

impl PlugIns {
    /// The values for a plug-in, in the order of its declaration.
    pub(crate) fn of(&self, plug_in: &'static PlugIn) -> Values {
        Values { plug_in, values: self.0.get(plug_in.name()).cloned().unwrap_or_default() }
    }
}

/// The section as a file states it: by plug-in, a value or none for each parameter.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawPlugIns(BTreeMap<&'static str, Vec<Option<u64>>>);

/// The section `plugins`.
const SECTION: &Section = &Section {
    name: "PlugIns",
    doc: " Parameters of plug-ins: a section for each one that a program registers and that has any.",
    listed: Listed::PlugIns,
    directives: &[],
};

impl Parameter for PlugIns {
    type Raw = RawPlugIns;
    const KIND: Kind = Kind::Section(SECTION);

    fn merge(file: RawPlugIns, base: RawPlugIns) -> RawPlugIns {
        let mut merged = base;
        for (name, values) in file.0 {
            let below = merged.0.remove(name).unwrap_or_else(|| vec![None; values.len()]);
            let values = values.into_iter().zip(below).map(|(value, below)| value.or(below));
            merged.0.insert(name, values.collect());
        }
        merged
    }

    fn absent() -> Option<PlugIns> {
        PlugIns::resolve(RawPlugIns::default(), "", &mut Vec::new())
    }

    fn resolve(raw: RawPlugIns, _: &str, _: &mut Vec<String>) -> Option<PlugIns> {
        let values = |plug_in: &'static PlugIn| {
            let stated = raw.0.get(plug_in.name());
            let value = |(place, parameter): (usize, &crate::registry::Parameter)| {
                stated.and_then(|values| values[place]).unwrap_or(parameter.default)
            };
            (plug_in.name(), plug_in.parameters().iter().enumerate().map(value).collect())
        };
        Some(PlugIns(with_parameters().map(values).collect()))
    }

    fn tree(&self) -> Tree {
        let section = |plug_in: &'static PlugIn| {
            Tree::Section(self.of(plug_in).values.into_iter().map(Tree::Integer).collect())
        };
        Tree::Section(with_parameters().map(section).collect())
    }
}

/// Reads a name of a choice that is open to plug-ins.
pub(super) fn read_name<'de, D: Deserializer<'de>>(
    from: D,
    what: &'static str,
    choices: Choices,
) -> Result<&'static str, D::Error> {
    struct OfNames(&'static [&'static str]);

    impl<'de> Visitor<'de> for OfNames {
        type Value = &'static str;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a name")
        }

        fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<&'static str, A::Error> {
            let (name, variant) = access.variant_seed(Named(self.0))?;
            variant.unit_variant()?;
            Ok(name)
        }
    }

    let names = choices.names();
    from.deserialize_enum(what, names, OfNames(names))
}

/// Reads one of several names.
struct Named<'n>(&'n [&'static str]);

impl<'de> DeserializeSeed<'de> for Named<'_> {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<&'static str, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Named<'_> {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {}", self.0.join(", "))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<&'static str, E> {
        let found = self.0.iter().find(|name| **name == text);
        found.copied().ok_or_else(|| E::custom(format!("`{text}` is none of {}", self.0.join(", "))))
    }
}

/// Keys of the fields of a section.
fn keys(section: &Section) -> Vec<&'static str> {
    section.fields().iter().map(|field| field.key).collect()
}

impl<'de> Deserialize<'de> for RawPlugIns {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RawPlugIns, D::Error> {
        struct Sections;

        impl<'de> Visitor<'de> for Sections {
            type Value = RawPlugIns;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("sections of plug-ins")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawPlugIns, A::Error> {
                let (mut raw, names) = (RawPlugIns::default(), keys(SECTION));
                while let Some(name) = map.next_key_seed(Named(&names))? {
                    let field = sections().iter().find(|field| field.key == name);
                    match field.map(|field| field.kind) {
                        Some(Kind::Section(section)) => {
                            raw.0.insert(name, map.next_value_seed(OfSection(section))?);
                        }
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(raw)
            }
        }

        // RON does not ask for the keys.
        from.deserialize_struct(SECTION.name, &[], Sections)
    }
}

/// Reads the section of one plug-in.
struct OfSection(&'static Section);

impl<'de> DeserializeSeed<'de> for OfSection {
    type Value = Vec<Option<u64>>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Vec<Option<u64>>, D::Error> {
        from.deserialize_struct(self.0.name, &[], self)
    }
}

impl<'de> Visitor<'de> for OfSection {
    type Value = Vec<Option<u64>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("parameters of a plug-in")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Option<u64>>, A::Error> {
        let names = keys(self.0);
        let mut values = vec![None; names.len()];
        while let Some(name) = map.next_key_seed(Named(&names))? {
            let place = names.iter().position(|known| *known == name).unwrap_or_default();
            values[place] = map.next_value::<Number>()?.0;
        }
        Ok(values)
    }
}

/// An integer in a file, or none for `None`.
struct Number(Option<u64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        super::declare::stated_integer(from).map(Number)
    }
}
