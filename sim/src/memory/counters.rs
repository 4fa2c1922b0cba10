//! Declares structures of counters.

/// Declares a structure of `u64` counters that can be added up.
macro_rules! counters {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct $name { $($(#[$field_meta])* pub $field: u64,)* }

        impl $name {
            /// What was counted since `before`.
            pub fn since(&self, before: &$name) -> $name {
                $name { $($field: self.$field - before.$field,)* }
            }
        }

        impl std::ops::AddAssign<&$name> for $name {
            fn add_assign(&mut self, other: &$name) {
                $(self.$field += other.$field;)*
            }
        }
    };
}
pub(super) use counters;
