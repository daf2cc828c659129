import { describe, expect, test } from 'vitest';
import { barChart, lineChart } from '#src/console/charts.js';

const data = {
  title: 'Tokens per day',
  labels: ['Mon', 'Tue', 'Wed'],
  series: [
    { name: 'card', values: [1, 0, 7] },
    { name: 'bank', values: [2, 0, 3] },
  ],
};

describe('stacked bars', () => {
  const chart = barChart('daily', data);

  test('are stacked without a gap', () => {
    const [low, high] = chart.bars.filter(({ x }) => x === chart.bars[0]?.x);
    expect(low?.y).toBeCloseTo((high?.y ?? 0) + (high?.height ?? 0), 1);
  });

  test('leave out zeros', () => {
    expect(chart.bars).toHaveLength(4);
  });

  test('fit below the highest tick, and this tick is a round number', () => {
    const ticks = chart.ticks.map(({ text }) => text);
    expect(ticks).toEqual(['0', '5', '10']);
    expect(Math.min(...chart.bars.map(({ y }) => y))).toBe(Math.min(...chart.ticks.map(({ y }) => y)));
  });

  test('come with a table that contains the same values', () => {
    expect(chart.rows).toEqual([
      { label: 'Mon', values: [1, 2] },
      { label: 'Tue', values: [0, 0] },
      { label: 'Wed', values: [7, 3] },
    ]);
  });
});

describe('lines', () => {
  test('have one point per value, from the left edge to the right', () => {
    const [line] = lineChart('daily', data).lines;
    const xs = line?.points.split(' ').map((point) => Number(point.split(',')[0])) ?? [];
    expect(xs).toEqual([80, 396, 712]);
  });

  test('make a chart even with one value or none', () => {
    for (const labels of [[], ['Mon']]) {
      const empty = { title: 'none', labels, series: [{ name: 'card', values: labels.map(() => 0) }] };
      expect(JSON.stringify([lineChart('a', empty), barChart('b', empty)])).not.toMatch(/null|NaN/);
    }
  });
});
