//! `#[derive(Capture)]`: see the crate `wave-capture`.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Fields, Index, Member, parse_macro_input, parse_quote};

/// Derives `wave_capture::Capture`. A field with `#[spec]` is specification, and one with `#[scratch]` holds nothing
/// that lasts: they are not saved, and stay as they are when the state is put back. Every other field is state, and
/// its type must implement `Capture`; one with `#[fixed]` is a list that keeps its length. A type with `#[sound]` has a
/// method `sound`, which refuses a restored value.
#[proc_macro_derive(Capture, attributes(spec, scratch, fixed, sound))]
pub fn capture(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let description = describe(&input);
    let [save, restore, blank] = match &input.data {
        Data::Struct(data) => of_struct(&input.ident, &data.fields),
        Data::Enum(data) => {
            let variants: Vec<_> =
                data.variants.iter().map(|variant| (&variant.ident, &variant.fields)).collect();
            of_enum(&variants)
        }
        Data::Union(_) => {
            return syn::Error::new(input.ident.span(), "a union has no state of its own")
                .into_compile_error()
                .into();
        }
    };
    let is_sound = input.attrs.iter().any(|attribute| attribute.path().is_ident("sound"));
    let check = is_sound.then(|| quote!(self.sound()?;));
    let name = &input.ident;
    let mut generics = input.generics.clone();
    for parameter in input.generics.type_params() {
        let parameter = &parameter.ident;
        generics.make_where_clause().predicates.push(parse_quote!(#parameter: ::wave_capture::Capture));
    }
    let (implemented, types, bounds) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #implemented ::wave_capture::Capture for #name #types #bounds {
            fn save(&self, to: &mut ::wave_capture::Writer) { #save }

            fn restore(&mut self, from: &mut ::wave_capture::Reader<'_>) -> Result<(), ::wave_capture::Misfit> {
                #restore
                #check
                Ok(())
            }

            fn blank() -> Option<Self> { #blank }

            fn describe(to: &mut String) { #description }
        }
    }
    .into()
}

fn has(field: &syn::Field, name: &str) -> bool {
    field.attrs.iter().any(|attribute| attribute.path().is_ident(name))
}

/// The fields, each with whether it is left out.
fn members(fields: &Fields) -> Vec<(Member, bool)> {
    let member = |(place, field): (usize, &syn::Field)| {
        let name = field.ident.clone().map_or_else(|| Member::Unnamed(Index::from(place)), Member::Named);
        (name, has(field, "spec") || has(field, "scratch"))
    };
    fields.iter().enumerate().map(member).collect()
}

/// Statements that describe what is saved.
fn describe(input: &DeriveInput) -> Tokens {
    let all: Vec<(&syn::Ident, &Fields)> = match &input.data {
        Data::Struct(data) => vec![(&input.ident, &data.fields)],
        Data::Enum(data) => data.variants.iter().map(|variant| (&variant.ident, &variant.fields)).collect(),
        Data::Union(_) => Vec::new(),
    };
    let each = all.into_iter().map(|(name, fields)| {
        let types = fields.iter().map(|field| &field.ty);
        let state = members(fields).into_iter().zip(types).filter(|((_, left_out), _)| !left_out);
        let fields = state.map(|((member, _), field)| {
            let text = match member {
                Member::Named(name) => format!("{name}:"),
                Member::Unnamed(index) => format!("{}:", index.index),
            };
            quote! {
                to.push_str(#text);
                <#field as ::wave_capture::Capture>::describe(to);
                to.push(',');
            }
        });
        let head = format!("{name}{{");
        quote! {
            to.push_str(#head);
            #(#fields)*
            to.push('}');
        }
    });
    quote!(#(#each)*)
}

fn of_struct(owner: &syn::Ident, fields: &Fields) -> [Tokens; 3] {
    let members = members(fields);
    let state = || members.iter().filter(|(_, is_spec)| !is_spec).map(|(name, _)| name);
    let text = |name: &Member| match name {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    };
    let saves = state().map(|name| {
        let place = format!("{owner}.{}", text(name));
        quote! {
            if !::wave_capture::is_omitted(#place) {
                ::wave_capture::Capture::save(&self.#name, to);
            }
        }
    });
    let is_fixed: Vec<bool> = fields.iter().map(|field| has(field, "fixed")).collect();
    let restored = members.iter().zip(&is_fixed).filter(|((_, is_spec), _)| !is_spec);
    let restores = restored.map(|((name, _), &is_fixed)| {
        let text = text(name);
        let place = format!("{owner}.{text}");
        let restore = if is_fixed { quote!(restore_fixed) } else { quote!(restore) };
        quote! {
            if !::wave_capture::is_omitted(#place) {
                ::wave_capture::Capture::#restore(&mut self.#name, from)
                    .map_err(|misfit| misfit.within(#text))?;
            }
        }
    });
    let (saves, restores) = (quote!(#(#saves)*), quote!(#(#restores)*));
    if members.iter().any(|(_, is_spec)| *is_spec) || is_fixed.contains(&true) {
        return [saves, restores, quote!(None)];
    }
    let blanks = state().map(|name| quote!(#name: ::wave_capture::Capture::blank()?,));
    [saves, restores, quote!(Some(Self { #(#blanks)* }))]
}

fn of_enum(variants: &[(&syn::Ident, &Fields)]) -> [Tokens; 3] {
    let mut saves = Vec::new();
    let mut restores = Vec::new();
    let mut first = quote!(None);
    for (tag, (name, fields)) in variants.iter().enumerate() {
        let tag = tag as u16;
        let (left_out, state): (Vec<_>, Vec<_>) =
            members(fields).into_iter().partition(|(_, left_out)| *left_out);
        let members: Vec<Member> = state.into_iter().map(|(member, _)| member).collect();
        let bound: Vec<_> = (0..members.len()).map(|place| format_ident!("field_{place}")).collect();
        let blank = match left_out.is_empty() {
            true => quote!(Some(Self::#name { #(#members: ::wave_capture::Capture::blank()?,)* })),
            false => quote!(None),
        };
        saves.push(quote! {
            Self::#name { #(#members: #bound,)* .. } => {
                to.tag(#tag);
                #(::wave_capture::Capture::save(#bound, to);)*
            }
        });
        let text = name.to_string();
        restores.push(quote! {
            #tag => {
                if !matches!(self, Self::#name { .. }) {
                    let made = (|| #blank)();
                    *self = made.ok_or_else(|| ::wave_capture::Misfit::new("is of another kind"))?;
                }
                if let Self::#name { #(#members: #bound,)* .. } = self {
                    #(
                        ::wave_capture::Capture::restore(#bound, from)
                            .map_err(|misfit| misfit.within(#text))?;
                    )*
                }
            }
        });
        if tag == 0 {
            first = blank;
        }
    }
    let restore = quote! {
        match from.tag()? {
            #(#restores)*
            _ => return Err(::wave_capture::Misfit::new("is of no known kind")),
        }
    };
    [quote!(match self { #(#saves)* }), restore, first]
}
