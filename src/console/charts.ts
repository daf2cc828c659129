/** The data of a chart: one or more series of values over time. */
export type ChartData = {
  /** A description of the chart, for its caption and for screen readers. */
  readonly title: string;
  /** The labels on the horizontal axis, such as days. The oldest label comes first. */
  readonly labels: readonly string[];
  /** The series. There are at most six, and each has one non-negative value per label. */
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[];
};

type Tick = { readonly y: number; readonly text: string };
type Bar = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly series: number;
};
type Line = { readonly points: string; readonly series: number };

/** A chart in the form that `partials/chart.liquid` needs. It consists of numbers and of strings without markup. */
export type Chart = {
  readonly id: string;
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly bottom: number;
  readonly ticks: readonly Tick[];
  readonly labels: readonly { readonly x: number; readonly text: string }[];
  readonly bars: readonly Bar[];
  readonly lines: readonly Line[];
  readonly names: readonly { readonly name: string; readonly series: number }[];
  /** The values of the chart as a table, with one row per label. */
  readonly rows: readonly { readonly label: string; readonly values: readonly number[] }[];
};

const width = 720;
const height = 250;
const left = 80;
const right = 8;
const top = 24;
const bottom = 212;
const ticksWanted = 4;
const labelsMax = 7;
const barMax = 56;
const gapShare = 0.28;

/** Returns a chart that stacks the series in one bar per label. `id` must be unique on the page. */
export function barChart(id: string, data: ChartData): Chart {
  const totals = data.labels.map((_, at) => data.series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const scale = scaleTo(Math.max(0, ...totals));
  const step = (width - left - right) / Math.max(1, data.labels.length);
  const xOf = (at: number) => left + step * (at + 0.5);
  const bars = data.labels.flatMap((_, at) => {
    let below = 0;
    return data.series.flatMap(({ values }, index): Bar[] => {
      const value = values[at] ?? 0;
      const y = scale.y(below + value);
      const barWidth = Math.min(barMax, step * (1 - gapShare));
      const bar = { x: rounded(xOf(at) - barWidth / 2), y, width: rounded(barWidth) };
      const barHeight = rounded(scale.y(below) - y);
      below += value;
      return barHeight > 0 ? [{ ...bar, height: barHeight, series: index + 1 }] : [];
    });
  });
  return { ...frameOf(id, data, scale.ticks, xOf), bars, lines: [] };
}

/** Returns a chart with one line per series. `id` must be unique on the page. */
export function lineChart(id: string, data: ChartData): Chart {
  const scale = scaleTo(Math.max(0, ...data.series.flatMap(({ values }) => values)));
  const step = (width - left - right) / Math.max(1, data.labels.length - 1);
  const xOf = (at: number) => left + step * at;
  const lines = data.series.map(({ values }, index) => ({
    points: values.map((value, at) => `${rounded(xOf(at))},${scale.y(value)}`).join(' '),
    series: index + 1,
  }));
  return { ...frameOf(id, data, scale.ticks, xOf), bars: [], lines };
}

function frameOf(id: string, data: ChartData, ticks: readonly Tick[], xOf: (at: number) => number) {
  const every = Math.max(1, Math.ceil(data.labels.length / labelsMax));
  return {
    id,
    title: data.title,
    width,
    height,
    left,
    bottom,
    ticks,
    labels: data.labels.flatMap((text, at) => (at % every === 0 ? [{ x: rounded(xOf(at)), text }] : [])),
    names: data.series.map(({ name }, index) => ({ name, series: index + 1 })),
    rows: data.labels.map((label, at) => ({ label, values: data.series.map(({ values }) => values[at] ?? 0) })),
  };
}

/** Returns a vertical scale from 0 to a round number that is at least `max`. */
function scaleTo(max: number): { y(value: number): number; readonly ticks: readonly Tick[] } {
  const step = roundStep(Math.max(1, max) / ticksWanted);
  const end = Math.max(step, Math.ceil(max / step) * step);
  const y = (value: number): number => rounded(bottom - (value / end) * (bottom - top));
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, at) => {
    const value = at * step;
    return { y: y(value), text: value.toLocaleString('en-US') };
  });
  return { y, ticks };
}

/** Rounds up to a whole number that is 1, 2 or 5 times a power of ten. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((one) => one * power >= least) ?? 10;
  return Math.max(1, factor * power);
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
