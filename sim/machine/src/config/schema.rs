//! The JSON schema of a configuration, for editors.

use super::declare::{Field, Kind, Parameter, Section, Tree};
use super::model::Config;
use serde_json::{Map, Value, json};

/// The JSON schema (draft 2020-12) of a configuration, with meanings, ranges and defaults.
pub fn schema() -> String {
    let mut schema = section(Config::SECTION, Some(&Config::example().tree()));
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!("wave-sim configuration"));
    schema.insert("description".into(), json!(Config::SECTION.doc.trim()));
    // Plain data always serializes.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

fn section(declared: &Section, defaults: Option<&Tree>) -> Map<String, Value> {
    let mut properties = Map::new();
    for field in declared.directives {
        properties.insert(field.key.into(), Value::Object(property(field, None)));
    }
    for (i, field) in declared.fields().iter().enumerate() {
        let default = match defaults {
            Some(Tree::Section(values)) => values.get(i),
            _ => None,
        };
        properties.insert(field.key.into(), Value::Object(property(field, default)));
    }
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("additionalProperties".into(), json!(false));
    schema.insert("properties".into(), Value::Object(properties));
    schema
}

fn property(field: &Field, default: Option<&Tree>) -> Map<String, Value> {
    let mut schema = match field.kind {
        Kind::Integer => object(json!({ "type": "integer" })),
        Kind::Bool => object(json!({ "type": "boolean" })),
        Kind::Text => object(json!({ "type": "string" })),
        Kind::Choice(choices) => {
            let choice = |(name, doc): (&&str, &&str)| json!({ "const": name, "description": doc.trim() });
            object(
                json!({ "oneOf": choices.names().iter().zip(choices.docs()).map(choice).collect::<Vec<_>>() }),
            )
        }
        Kind::Section(inner) => section(inner, default),
        Kind::List(inner) => {
            // List items have no defaults, so all of their keys are required.
            let mut items = section(inner, None);
            let keys: Vec<&str> = inner.fields().iter().map(|f| f.key).collect();
            items.insert("required".into(), json!(keys));
            object(json!({ "type": "array", "items": items }))
        }
    };
    let mut description = field.doc.trim().to_owned();
    if let Some(limits) = field.limits {
        description += &format!(" ({})", limits.summary());
        if limits.power_of_two {
            let powers: Vec<u64> = (0..64).map(|bit| 1 << bit).filter(|&v| limits.allows(v)).collect();
            schema.insert("enum".into(), json!(powers));
        } else {
            schema.insert("minimum".into(), json!(limits.min));
            schema.insert("maximum".into(), json!(limits.max));
        }
        if limits.unit == "bytes" {
            // Or a size with a unit, of which the schema does not know the value.
            let number = Value::Object(std::mem::take(&mut schema));
            let size = json!({ "type": "string", "pattern": "^[0-9][0-9_]* *([KkMmGg]([Ii][Bb])?)$" });
            schema.insert("anyOf".into(), json!([number, size]));
        }
    }
    schema.insert("description".into(), json!(description));
    match default {
        Some(Tree::Integer(value)) => schema.insert("default".into(), json!(value)),
        Some(Tree::Bool(value)) => schema.insert("default".into(), json!(value)),
        Some(Tree::Choice(name)) => schema.insert("default".into(), json!(name)),
        _ => None,
    };
    schema
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
