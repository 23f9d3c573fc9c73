//! Panels: where their marks are.

use super::*;
use serde_json::{Value, json};

/// A panel of series of `cgl` with these points.
fn panel(kind: &str, values: &[&[Option<f64>]]) -> Panel {
    let point = |y: &Option<f64>| json!({"x": 1.0, "y": y, "tooltip": "tooltip"});
    let series = values.iter().map(|points| {
        let points: Vec<Value> = points.iter().map(point).collect();
        json!({"name": "s", "look": {"variant": "cgl"}, "points": points})
    });
    let panel = json!({
        "title": "RA", "below": "b", "x": "x", "about": "a", "kind": kind,
        "series": series.collect::<Vec<_>>(),
    });
    serde_json::from_value(panel).unwrap()
}

/// The marks of one tag in the colour of `cgl`: attributes of them.
fn marks<const N: usize>(drawn: &Drawn, tag: &str, names: [&str; N]) -> Vec<[String; N]> {
    let text = format!("<g>{}</g>", drawn.marks.0);
    let parsed = roxmltree::Document::parse(&text).unwrap();
    let colour = Look::Variant("cgl".into()).of().0.css();
    let is_of = |node: &roxmltree::Node<'_, '_>| {
        node.has_tag_name(tag) && node.attribute("fill") == Some(&colour)
    };
    let all = parsed.descendants().filter(is_of);
    all.map(|node| names.map(|name| node.attribute(name).unwrap().to_owned()))
        .collect()
}

/// Where rectangles begin and how wide they are.
fn rectangles(drawn: &Drawn) -> Vec<[f64; 2]> {
    let all = marks(drawn, "rect", ["x", "width"]).into_iter();
    all.map(|texts| texts.map(|text| text.parse().unwrap()))
        .collect()
}

#[test]
fn a_bar_starts_at_the_base_on_either_side_and_a_short_one_has_a_dot_that_can_be_seen() {
    let all = panel("bars", &[&[Some(10.0)], &[Some(0.1)], &[None]]);
    let drawn = bars(&all, &Axis::decimal([0.1, 10.0]), 1.0);
    let [right, left] = rectangles(&drawn).try_into().unwrap();
    assert!(
        (left[0] + left[1] - right[0]).abs() < 0.2,
        "{left:?} {right:?}"
    );
    assert!((left[1] - right[1]).abs() < 0.2, "{left:?} {right:?}");
    let short = panel("bars", &[&[Some(0.99)]]);
    let drawn = bars(&short, &Axis::decimal([0.5, 1e4]), 1.0);
    assert_eq!(marks(&drawn, "path", ["d"]), [[MARKERS[0]]]);
}

#[test]
fn points_that_an_axis_cannot_show_are_left_out_and_none_is_said() {
    let axis = Axis::decimal([1.0, 10.0]);
    let drawn = |y| lines(&panel("lines", &[&[Some(y)]]), &axis, &axis);
    let (empty, drawn) = (drawn(0.0).marks.0, drawn(2.0).marks.0);
    assert!(empty.contains("not measured") && !empty.contains("tooltip"));
    assert!(drawn.contains("<title>tooltip</title>") && !drawn.contains("not measured"));
}

#[test]
fn segments_stay_in_their_bar_whatever_their_sum() {
    let rectangles = rectangles(&stacks(&panel("stacks", &[&[Some(0.8)][..]; 3])));
    assert_eq!(rectangles.len(), 2);
    let right = OF_STACKS[1];
    assert!(rectangles.iter().all(|[x, width]| x + width <= right));
}
