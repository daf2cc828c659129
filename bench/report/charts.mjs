// Draws two kinds of charts as SVG, without a library.

const colours = ['#1b6ca8', '#d1495b', '#2e8b57', '#edae49', '#6c4ab6', '#444444'];
const font = 'font-family="system-ui, sans-serif" font-size="12"';

/**
 * Draws a horizontal bar for each value. The values are between 0 and 1. A line on each bar shows the range over all
 * rounds.
 */
export function barChart({ title, bars }) {
  const width = 720;
  const left = 150;
  const scale = (value) => left + Math.min(1, value) * (width - left - 60);
  const rows = bars.map(({ label, median, low, high }, i) => {
    const y = 40 + i * 26;
    return `<text x="${left - 8}" y="${y + 13}" text-anchor="end">${label}</text>
<rect x="${left}" y="${y}" width="${(scale(median) - left).toFixed(1)}" height="18" fill="${colours[0]}"/>
<line x1="${scale(low).toFixed(1)}" x2="${scale(high).toFixed(1)}" y1="${y + 9}" y2="${y + 9}" stroke="#111" stroke-width="2"/>
<text x="${(scale(high) + 8).toFixed(1)}" y="${y + 13}">${median.toFixed(2)}</text>`;
  });
  const height = 50 + bars.length * 26;
  return svg(title, width, height, [...rows]);
}

/** Draws lines over a logarithmic x axis. The y axis begins at 0. */
export function lineChart({ title, lines }) {
  const width = 720;
  const height = 380;
  const all = lines.flatMap(({ points }) => points);
  const logs = all.map(([x]) => Math.log10(x));
  const [least, most] = [Math.min(...logs), Math.max(...logs)];
  const top = Math.max(...all.map(([, y]) => y)) * 1.1;
  const atX = (x) => 60 + ((Math.log10(x) - least) / Math.max(1e-9, most - least)) * (width - 240);
  const atY = (y) => height - 40 - (y / top) * (height - 90);
  const marks = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const y = atY(top * part);
    return `<line x1="60" x2="${width - 180}" y1="${y}" y2="${y}" stroke="#ddd"/><text x="52" y="${y + 4}" text-anchor="end">${(top * part).toPrecision(2)}</text>`;
  });
  const sizes = [...new Set(all.map(([x]) => x))].map(
    (x) => `<text x="${atX(x)}" y="${height - 18}" text-anchor="middle">${x.toLocaleString('en')}</text>`,
  );
  const drawn = lines.map(({ label, points }, i) => {
    const colour = colours[i % colours.length];
    const path = points.map(([x, y]) => `${atX(x).toFixed(1)},${atY(y).toFixed(1)}`).join(' ');
    const y = 50 + i * 18;
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>
<line x1="${width - 165}" x2="${width - 145}" y1="${y}" y2="${y}" stroke="${colour}" stroke-width="3"/><text x="${width - 140}" y="${y + 4}">${label}</text>`;
  });
  return svg(title, width, height, [...marks, ...sizes, ...drawn]);
}

function svg(title, width, height, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ${font}>
<title>${title}</title>
<rect width="100%" height="100%" fill="white"/>
<text x="10" y="20" font-weight="bold">${title}</text>
${parts.join('\n')}
</svg>
`;
}
