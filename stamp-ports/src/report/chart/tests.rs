//! Panels: where their marks are.

use super::*;

fn look() -> Look {
    Look::Variant("cgl".into())
}

const TEXTS: Texts<'_> = Texts {
    title: "RA",
    below: "b",
    x: "x",
    about: "a",
};

/// The marks of one tag and colour: their attributes as numbers.
fn marks(panel: &Panel, tag: &str, colour: &str, names: [&str; 2]) -> Vec<[f64; 2]> {
    let text = format!("<g>{}</g>", panel.marks.0);
    let parsed = roxmltree::Document::parse(&text).unwrap();
    let is_of = |node: &roxmltree::Node<'_, '_>| {
        let colours = ["fill", "stroke"].map(|name| node.attribute(name));
        node.has_tag_name(tag) && colours.contains(&Some(colour))
    };
    let all = parsed.descendants().filter(is_of);
    all.map(|node| names.map(|name| node.attribute(name).unwrap().parse().unwrap()))
        .collect()
}

#[test]
fn a_bar_starts_at_the_base_on_either_side_and_a_short_one_has_a_dot_that_can_be_seen() {
    let hue = look().of().0;
    let bar = |value: Option<f64>| Bar {
        name: "b".into(),
        look: look(),
        ends: value.map(|value| [value; 3]),
        label: "L".into(),
        tooltip: String::new(),
    };
    let all = [bar(Some(10.0)), bar(Some(0.1)), bar(None)];
    let drawn = bars(&TEXTS, &Axis::decimal([0.1, 10.0]), 1.0, &all);
    let rects = marks(&drawn, "rect", &hue.css(), ["x", "width"]);
    let [right, left, none] = rects.try_into().unwrap();
    assert!(
        (left[0] + left[1] - right[0]).abs() <= 1.0,
        "{left:?} {right:?}"
    );
    assert!((left[1] - right[1]).abs() <= 1.0 && none[1] <= 1.0);
    let drawn = bars(&TEXTS, &Axis::decimal([0.5, 1e4]), 1.0, &[bar(Some(0.99))]);
    let dots = marks(&drawn, "circle", &hue.css(), ["cx", "r"]);
    assert_eq!(dots.len(), 1);
    assert!(dots[0][1] >= 3.0 * f64::from(FINE));
}

#[test]
fn points_that_an_axis_cannot_show_are_left_out_and_none_is_said() {
    let axis = Axis::decimal([1.0, 10.0]);
    let line = |y| Line {
        name: "l".into(),
        look: look(),
        points: vec![(1.0, Some(y), "tooltip".into())],
    };
    let empty = lines(&TEXTS, &axis, &axis, &[line(0.0)]).marks.0;
    assert!(empty.contains("not measured") && !empty.contains("tooltip"));
    let drawn = lines(&TEXTS, &axis, &axis, &[line(2.0)]).marks.0;
    assert!(drawn.contains("<title>tooltip</title>") && !drawn.contains("not measured"));
}

#[test]
fn segments_stay_in_their_bar_whatever_their_sum() {
    let hue = palette::PHASES[0];
    let stack = ("s".into(), vec![(hue.name.into(), 0.8, String::new()); 3]);
    let panel = stacks(&TEXTS, &[stack]);
    let rects = marks(&panel, "rect", &hue.css(), ["x", "width"]);
    assert_eq!(rects.len(), 2);
    let right = f64::from(WIDTH * FINE);
    assert!(rects.iter().all(|[x, width]| x + width <= right));
}
