//! The frame of a scatter plot as SVG: two axes of one logarithmic scale, in powers of ten, with the lines of equal,
//! half and double values.

use std::fmt::Write;

/// Width of the picture.
pub const WIDTH: f64 = 720.0;
/// Height of the picture.
pub const HEIGHT: f64 = 560.0;
/// Left edge of the frame.
pub const LEFT: f64 = 72.0;
const BOTTOM: f64 = 52.0;

/// A frame, and the scale of its axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScatterFrame {
    /// Space to the right of the frame.
    pub right: f64,
    /// Space above the frame.
    pub top: f64,
    from: f64,
    to: f64,
}

/// Texts around a frame.
pub struct ScatterNames<'a> {
    /// Heading.
    pub title: &'a str,
    /// Meaning of x.
    pub x: &'a str,
    /// Meaning of y.
    pub y: &'a str,
    /// Name of a power of ten.
    pub power: fn(i32) -> String,
}

impl ScatterFrame {
    /// The frame that holds these values, which are positive, with so much space to its right and above.
    pub fn over(values: impl Iterator<Item = f64> + Clone, right: f64, top: f64) -> ScatterFrame {
        let (least, most) = (values.clone().fold(f64::MAX, f64::min), values.fold(1.0, f64::max));
        let from = least.min(most).log10().floor();
        ScatterFrame { right, top, from, to: most.log10().ceil().max(from + 1.0) }
    }

    fn part(&self, value: f64) -> f64 {
        (value.log10() - self.from) / (self.to - self.from)
    }

    /// Place of a value on the x axis.
    pub fn x(&self, value: f64) -> f64 {
        LEFT + self.part(value) * (WIDTH - LEFT - self.right)
    }

    /// Place of a value on the y axis.
    pub fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.part(value) * (HEIGHT - self.top - BOTTOM)
    }

    /// The begin of the document: axes, grid, and the lines of equal values, half and twice.
    pub fn begin(&self, names: &ScatterNames<'_>) -> String {
        let (low, high) = (10f64.powf(self.from), 10f64.powf(self.to));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
        );
        text(&mut svg, WIDTH / 2.0, 18.0, "middle", names.title);
        for power in self.from as i32..=self.to as i32 {
            let value = 10f64.powi(power);
            self.line(&mut svg, [value, low, value, high], "stroke=\"#ddd\"");
            self.line(&mut svg, [low, value, high, value], "stroke=\"#ddd\"");
            let name = (names.power)(power);
            text(&mut svg, self.x(value), self.y(low) + 16.0, "middle", &name);
            text(&mut svg, self.x(low) - 6.0, self.y(value) + 4.0, "end", &name);
        }
        self.line(&mut svg, [low, low, high, high], "stroke=\"black\"");
        let dashed = "stroke=\"#888\" stroke-dasharray=\"4 3\"";
        self.line(&mut svg, [low, low * 2.0, high / 2.0, high], dashed);
        self.line(&mut svg, [low * 2.0, low, high, high / 2.0], dashed);
        text(&mut svg, self.x(high) - 4.0, self.y(high / 2.0) + 14.0, "end", "half");
        text(&mut svg, self.x(high / 2.0) - 4.0, self.y(high) + 12.0, "end", "twice");
        text(&mut svg, (LEFT + WIDTH - self.right) / 2.0, HEIGHT - 12.0, "middle", names.x);
        text(&mut svg, LEFT, self.top - 8.0, "middle", names.y);
        svg
    }

    /// A mark at the values `x` and `y`, with attributes, and a text for the pointer.
    pub fn mark(&self, svg: &mut String, [x, y]: [f64; 2], style: &str, title: &str) {
        _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" {style}><title>{}</title></circle>",
            self.x(x),
            self.y(y),
            escape(title)
        );
    }

    /// A line from the first two values to the last two.
    fn line(&self, svg: &mut String, [x1, y1, x2, y2]: [f64; 4], style: &str) {
        let [x1, y1, x2, y2] = [self.x(x1), self.y(y1), self.x(x2), self.y(y2)];
        _ = writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>");
    }
}

/// A text at a place of the picture.
pub fn text(svg: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escape(text));
}

/// A text in SVG and HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
