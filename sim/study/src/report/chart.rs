//! Charts over time, each with a table of the numbers it shows.
//!
//! A chart stretches to the available width. Its labels are therefore page text beside the drawing, which
//! keeps their size on a small screen and can be searched.

use super::facts::Facts;
use super::windows::Window;
use maud::{Markup, html};
use wave_observe::numbers::{at, integer};

/// Size of a drawing in its own units. The page scales it.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// An area on top of those before it.
    Area,
    /// A line.
    Line,
}

/// A curve or area of a chart.
pub(crate) struct Series {
    /// Name in the legend.
    pub name: &'static str,
    /// CSS class of its colour.
    pub class: &'static str,
    /// How it is drawn.
    pub style: Style,
    /// One value per window; none where there is no data.
    pub values: Vec<Option<f64>>,
}

/// A column of the table beside a chart.
pub(super) struct Column {
    /// Heading.
    pub name: String,
    /// One value per window.
    pub values: Vec<String>,
}

/// A chart over time.
pub(crate) struct Chart<'a> {
    /// Name for links.
    pub id: &'static str,
    /// Heading.
    pub title: &'static str,
    /// What to see in it, in one or two sentences.
    pub caption: String,
    /// Windows along the horizontal axis.
    pub windows: &'a [Window],
    /// Value at the top edge.
    pub top: f64,
    /// Labels of the vertical axis, from bottom to top, at equal distances.
    pub labels: Vec<String>,
    /// Curves and areas, bottom first.
    pub series: Vec<Series>,
    /// Columns of the table.
    pub columns: Vec<Column>,
    /// True for a tall chart, false for a low one.
    pub tall: bool,
    /// Cycles at which launches begin.
    pub marks: &'a [u64],
}

impl<'a> Chart<'a> {
    /// A low, empty chart of fractions of a whole over the run.
    pub(crate) fn of_parts(
        facts: &'a Facts<'_>,
        id: &'static str,
        title: &'static str,
        caption: String,
    ) -> Chart<'a> {
        Chart {
            id,
            title,
            caption,
            windows: &facts.windows,
            top: 1.0,
            labels: ["0 %", "25 %", "50 %", "75 %", "100 %"].map(str::to_owned).to_vec(),
            series: Vec::new(),
            columns: Vec::new(),
            tall: false,
            marks: &facts.gathered.begins,
        }
    }

    /// The figure: legend, drawing, table, and a slider that moves the cursor of all charts.
    pub(super) fn draw(&self) -> Markup {
        let first = self.windows.first().map_or(0, |window| window.from);
        let last = self.windows.last().map_or(1, |window| window.to).max(first + 1);
        let ticks: Vec<u64> = (0..=4).map(|i| first + (last - first) * i / 4).collect();
        let x = |cycle: u64| at((cycle - first) as f64 / (last - first) as f64 * WIDTH);
        let heading = format!("{}-h", self.id);
        html! {
            figure.chart id=(self.id) aria-labelledby=(heading) {
                figcaption { h3 id=(heading) { (self.title) } p { (self.caption) } }
                ul.legend aria-label="Legend" {
                    @for series in &self.series {
                        li { span.swatch.(series.class) .thin[series.style == Style::Line] {} (series.name) }
                    }
                }
                div.plot.tall[self.tall] {
                    div.y aria-hidden="true" { @for label in self.labels.iter().rev() { span { (label) } } }
                    svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                        aria-labelledby={ (self.id) "-t " (self.id) "-d" } {
                        title id={ (self.id) "-t" } { (self.title) }
                        desc id={ (self.id) "-d" } { (self.caption) " The table below has the numbers." }
                        @for i in 1..4 { path.grid d={ "M0 " (25 * i) "H1000" } {} }
                        (self.paths(x))
                        @for &mark in self.marks.iter().filter(|&&mark| mark > first) {
                            path.mark d={ "M" (x(mark)) " 0V100" } {}
                        }
                        path.cursor d="M0 0V100" {}
                    }
                    div.x aria-hidden="true" { @for tick in ticks { span { (integer(tick)) } } }
                }
                div.scrub {
                    input type="range" min="0" max=(self.windows.len().saturating_sub(1)) value="0"
                        aria-label={ "Time in " (self.title) ": window of cycles" };
                    output {}
                }
                (self.table())
            }
        }
    }

    fn paths(&self, x: impl Fn(u64) -> String) -> Markup {
        let y = |value: f64| at(HEIGHT - (value / self.top.max(1e-12)).min(1.0) * HEIGHT);
        let mut base = vec![0.0; self.windows.len()];
        let mut areas = Vec::new();
        let mut lines = Vec::new();
        for series in &self.series {
            let mut path = String::new();
            let mut drawing = false;
            for ((window, value), base) in self.windows.iter().zip(&series.values).zip(&mut base) {
                match (series.style, value) {
                    (Style::Area, value) => {
                        *base += value.unwrap_or(0.0);
                        path += &format!("V{}H{}", y(*base), x(window.to));
                    }
                    (Style::Line, Some(value)) => {
                        let to = if drawing { "V" } else { &format!("M{} ", x(window.from)) };
                        path += &format!("{to}{}H{}", y(*value), x(window.to));
                        drawing = true;
                    }
                    (Style::Line, None) => drawing = false,
                }
            }
            match series.style {
                Style::Area => {
                    areas.push(html! { path.area.(series.class) d={ "M0 100" (path) "V100Z" } {} })
                }
                Style::Line if path.is_empty() => {}
                Style::Line => lines.push(html! { path.line.(series.class) d=(path) {} }),
            }
        }
        // Each area reaches down to the axis, so the lower ones are painted over the higher ones.
        html! { @for area in areas.iter().rev() { (area) } @for line in &lines { (line) } }
    }

    fn table(&self) -> Markup {
        html! {
            details.data {
                summary { "Numbers of this chart" }
                div.scroll tabindex="0" role="region" aria-label={ "Numbers: " (self.title) } {
                    table {
                        caption { (self.title) ", by window of cycles" }
                        thead { tr {
                            th scope="col" { "from" } th scope="col" { "to" }
                            @for column in &self.columns { th scope="col" { (column.name) } }
                        } }
                        tbody { @for (i, window) in self.windows.iter().enumerate() {
                            tr {
                                th scope="row" { (window.from) } td { (window.to) }
                                @for column in &self.columns { td { (column.values[i]) } }
                            }
                        } }
                    }
                }
            }
        }
    }
}

/// Wraps content that may be wider than the window in a box that scrolls and takes keyboard focus.
pub(super) fn scroll(label: &str, content: Markup) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(label) { (content) } }
}

/// A bar for a fraction of a whole, without its number.
pub(super) fn bar(share: f64, class: &str) -> Markup {
    let width = at(100.0 * share.clamp(0.0, 1.0));
    html! { span.bar aria-hidden="true" { span.(class) style={ "width:" (width) "%" } {} } }
}
