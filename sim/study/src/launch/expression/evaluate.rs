//! Evaluates expression trees: names are bound once, then the tree is evaluated for each index.

use super::{Binary, Expression, Function, Node, Unary, Value};
use wave_isa::suggest::did_you_mean;

/// The meaning of names.
pub(crate) trait Scope {
    /// The value of a name: a parameter, a loop variable, or a buffer's address.
    fn value(&self, name: &str) -> Option<Value>;
    /// The number of the buffer with this name, if its elements may be used.
    fn buffer(&self, name: &str) -> Option<usize>;
    /// The name of the element index, if there is one.
    fn index_name(&self) -> Option<&str>;
    /// All names, for suggestions.
    fn names(&self) -> Vec<&str>;
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// One sentence without a full stop.
    pub message: String,
    /// A suggestion.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure without a hint.
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), hint: None }
    }

    /// An unknown name. The hint lists the nearest known ones, or all if none is near.
    pub(crate) fn unknown<'a>(
        message: impl Into<String>,
        name: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Failure {
        let near = if name.chars().count() > 1 { did_you_mean(name, known.clone()) } else { None };
        let hint = near.or_else(|| {
            let all = known.collect::<Vec<_>>().join(", ");
            (!all.is_empty()).then(|| format!("there are: {all}"))
        });
        Failure { message: message.into(), hint }
    }
}

/// An expression whose names are bound.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    node: BoundNode,
}

#[derive(Debug, Clone)]
enum BoundNode {
    Value(Value),
    Index,
    Element(usize, Box<BoundNode>),
    Unary(Unary, Box<BoundNode>),
    Binary(Binary, Box<[BoundNode; 2]>),
    Call(Function, Vec<BoundNode>),
}

impl Expression {
    /// Binds all names.
    ///
    /// # Errors
    /// The first unknown name.
    pub(crate) fn bind(&self, scope: &dyn Scope) -> Result<Bound, Failure> {
        bind(&self.node, scope).map(|node| Bound { node })
    }
}

fn bind(node: &Node, scope: &dyn Scope) -> Result<BoundNode, Failure> {
    Ok(match node {
        Node::Value(value) => BoundNode::Value(*value),
        Node::Name(name) if scope.index_name() == Some(name) => BoundNode::Index,
        Node::Name(name) => match scope.value(name) {
            Some(value) => BoundNode::Value(value),
            None => {
                let known = scope.names();
                let known = known.into_iter().chain(scope.index_name());
                return Err(Failure::unknown(format!("`{name}` is not known here"), name, known));
            }
        },
        Node::Element(name, index) => match scope.buffer(name) {
            Some(buffer) => BoundNode::Element(buffer, Box::new(bind(index, scope)?)),
            None => {
                return Err(match scope.value(name) {
                    Some(_) => Failure::new(format!("elements of `{name}` are not known here")),
                    None => {
                        let known = scope.names();
                        Failure::unknown(format!("there is no buffer `{name}`"), name, known.into_iter())
                    }
                });
            }
        },
        Node::Unary(operator, a) => BoundNode::Unary(*operator, Box::new(bind(a, scope)?)),
        Node::Binary(operator, sides) => {
            let [a, b] = &**sides;
            BoundNode::Binary(*operator, Box::new([bind(a, scope)?, bind(b, scope)?]))
        }
        Node::Call(function, arguments) => BoundNode::Call(
            *function,
            arguments.iter().map(|a| bind(a, scope)).collect::<Result<Vec<_>, _>>()?,
        ),
    })
}

/// Returns element `index` of a buffer, given by the number that the scope assigned to it.
pub(super) type Elements<'a> = &'a dyn Fn(usize, i64) -> Result<Value, String>;

impl Bound {
    /// The value for this element index.
    ///
    /// # Errors
    /// Division by zero, overflow, wrong kind of operand, element outside of its buffer.
    pub(crate) fn evaluate(&self, index: i64, elements: Elements<'_>) -> Result<Value, String> {
        evaluate(&self.node, index, elements)
    }
}

fn evaluate(node: &BoundNode, index: i64, elements: Elements<'_>) -> Result<Value, String> {
    match node {
        BoundNode::Value(value) => Ok(*value),
        BoundNode::Index => Ok(Value::Int(index)),
        BoundNode::Element(buffer, position) => match evaluate(position, index, elements)? {
            Value::Int(position) => elements(*buffer, position),
            Value::Float(position) => Err(format!("an index is an integer, not {position:?}")),
        },
        BoundNode::Unary(operator, a) => match (operator, evaluate(a, index, elements)?) {
            (Unary::Negate, Value::Int(a)) => exact(a.checked_neg()),
            (Unary::Negate, Value::Float(a)) => Ok(Value::Float(-a)),
            (Unary::Not, Value::Int(a)) => Ok(Value::Int(!a)),
            (Unary::Not, Value::Float(_)) => Err("`~` takes integers".to_owned()),
        },
        BoundNode::Binary(operator, sides) => {
            let [a, b] = &**sides;
            binary(*operator, evaluate(a, index, elements)?, evaluate(b, index, elements)?)
        }
        BoundNode::Call(Function::Select, arguments) => {
            let chosen = if evaluate(&arguments[0], index, elements)?.as_f64() != 0.0 { 1 } else { 2 };
            evaluate(&arguments[chosen], index, elements)
        }
        BoundNode::Call(function, arguments) => {
            let first = evaluate(&arguments[0], index, elements)?;
            match arguments.get(1) {
                Some(second) => call2(*function, first, evaluate(second, index, elements)?),
                None => call1(*function, first),
            }
        }
    }
}

fn exact(value: Option<i64>) -> Result<Value, String> {
    value.map(Value::Int).ok_or_else(|| "an integer result does not fit 64 bits".to_owned())
}

fn binary(operator: Binary, a: Value, b: Value) -> Result<Value, String> {
    use Binary::*;
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => match operator {
            Equal => Ok(Value::Int(i64::from(a == b))),
            NotEqual => Ok(Value::Int(i64::from(a != b))),
            Less => Ok(Value::Int(i64::from(a < b))),
            LessOrEqual => Ok(Value::Int(i64::from(a <= b))),
            Greater => Ok(Value::Int(i64::from(a > b))),
            GreaterOrEqual => Ok(Value::Int(i64::from(a >= b))),
            Or => Ok(Value::Int(a | b)),
            Xor => Ok(Value::Int(a ^ b)),
            And => Ok(Value::Int(a & b)),
            ShiftLeft => exact(u32::try_from(b).ok().filter(|&b| b < 63).and_then(|b| a.checked_mul(1 << b))),
            ShiftRight if b < 0 => Err("a shift by a negative number".to_owned()),
            ShiftRight => Ok(Value::Int(a >> b.min(63))),
            Add => exact(a.checked_add(b)),
            Subtract => exact(a.checked_sub(b)),
            Multiply => exact(a.checked_mul(b)),
            Divide | Remainder if b == 0 => Err("division by zero".to_owned()),
            Divide => exact(a.checked_div(b)),
            Remainder => exact(a.checked_rem(b)),
        },
        (a, b) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            match operator {
                Equal => Ok(Value::Int(i64::from(a == b))),
                NotEqual => Ok(Value::Int(i64::from(a != b))),
                Less => Ok(Value::Int(i64::from(a < b))),
                LessOrEqual => Ok(Value::Int(i64::from(a <= b))),
                Greater => Ok(Value::Int(i64::from(a > b))),
                GreaterOrEqual => Ok(Value::Int(i64::from(a >= b))),
                Add => Ok(Value::Float(a + b)),
                Subtract => Ok(Value::Float(a - b)),
                Multiply => Ok(Value::Float(a * b)),
                Divide => Ok(Value::Float(a / b)),
                Remainder => Ok(Value::Float(a % b)),
                Or | Xor | And | ShiftLeft | ShiftRight => Err("a bit operator takes integers".to_owned()),
            }
        }
    }
}

fn call1(function: Function, a: Value) -> Result<Value, String> {
    let x = a.as_f64();
    Ok(match (function, a) {
        (Function::Abs, Value::Int(a)) => return exact(a.checked_abs()),
        (Function::Abs, Value::Float(a)) => Value::Float(a.abs()),
        (Function::Log2, Value::Int(a)) => match a.checked_ilog2() {
            Some(log) => Value::Int(i64::from(log)),
            None => return Err(format!("log2({a})")),
        },
        (Function::Log2, Value::Float(a)) => Value::Float(a.log2()),
        (Function::Floor, Value::Int(a)) => Value::Int(a),
        (Function::Floor, Value::Float(a)) => {
            let floor = a.floor();
            let fits = floor >= -(2f64.powi(63)) && floor < 2f64.powi(63);
            return exact(fits.then_some(floor as i64));
        }
        (Function::F32, _) => Value::Float(f64::from(x as f32)),
        (Function::Sqrt, _) => Value::Float(x.sqrt()),
        (Function::Exp, _) => Value::Float(x.exp()),
        (Function::Ln, _) => Value::Float(x.ln()),
        (Function::Sin, _) => Value::Float(x.sin()),
        (Function::Cos, _) => Value::Float(x.cos()),
        // The only function left is `float`, which returns its argument.
        _ => Value::Float(x),
    })
}

fn call2(function: Function, a: Value, b: Value) -> Result<Value, String> {
    match (function, a, b) {
        (Function::Min, Value::Int(a), Value::Int(b)) => Ok(Value::Int(a.min(b))),
        (Function::Max, Value::Int(a), Value::Int(b)) => Ok(Value::Int(a.max(b))),
        (Function::Min, a, b) => Ok(Value::Float(a.as_f64().min(b.as_f64()))),
        (Function::Max, a, b) => Ok(Value::Float(a.as_f64().max(b.as_f64()))),
        (Function::Pow, Value::Int(a), Value::Int(b)) if b >= 0 => {
            exact(u32::try_from(b).ok().and_then(|b| a.checked_pow(b)))
        }
        (Function::Pow, a, b) => Ok(Value::Float(a.as_f64().powf(b.as_f64()))),
        (Function::CeilDiv | Function::RoundUp, Value::Int(_), Value::Int(b)) if b <= 0 => {
            Err(format!("`{}` by {b}", function.name()))
        }
        (Function::CeilDiv, Value::Int(a), Value::Int(b)) => {
            exact(a.checked_add(b - 1).map(|sum| sum.div_euclid(b)))
        }
        (Function::RoundUp, Value::Int(a), Value::Int(b)) => {
            exact(a.checked_add(b - 1).map(|sum| sum.div_euclid(b) * b))
        }
        (Function::Gcd, Value::Int(a), Value::Int(b)) => {
            let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            exact(i64::try_from(a).ok())
        }
        _ => Err(format!("`{}` takes integers", function.name())),
    }
}
