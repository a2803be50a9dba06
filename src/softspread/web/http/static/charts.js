// Charts with the plotly bundle of its wheel; nothing is drawn until it has loaded.

const style = () => getComputedStyle(document.documentElement);
const SETTINGS = { displayModeBar: false, responsive: true };

function layout(extra = {}) {
  const ink = style().getPropertyValue("--muted").trim(), line = style().getPropertyValue("--line").trim();
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true, fixedrange: true };
  const { xaxis = {}, yaxis = {}, ...rest } = extra;
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, size: 12, family: "system-ui, sans-serif" },
    margin: { l: 44, r: 8, t: 6, b: 36 }, showlegend: false, bargap: 0.12, hovermode: "closest",
    xaxis: { ...axis, ...xaxis }, yaxis: { ...axis, rangemode: "tozero", ...yaxis }, ...rest,
  };
}

export const accent = () => style().getPropertyValue("--accent").trim();

export function plot(id, traces, extra) {
  if (!window.Plotly) return;
  window.Plotly.react(id, traces, layout(extra), SETTINGS);
}

export function bars(id, x, y, extra = {}, colours = undefined) {
  plot(id, [{ type: "bar", x, y, marker: { color: colours ?? accent() }, hovertemplate: "%{x}: %{y}<extra></extra>" }], extra);
}
