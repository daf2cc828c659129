const redrawMs = 200;
const plainMs = 5_000;
const barWidth = 24;

/** How far a long verb is. `done` of `total` (null: not known) is what the bar shows; `items` is what the rate counts. */
export type Progress = {
  readonly items: number;
  readonly done: number;
  readonly total: number | null;
  /** For `--json`. */
  readonly fields: Readonly<Record<string, number>>;
};

export type ProgressDisplay = {
  /** Prints a line that stays, above the bar. */
  line(text: string): void;
  /** Takes the bar away. */
  end(): void;
};

/**
 * Shows progress on standard error: a bar with rate and time left on a terminal, else a line every five seconds; with
 * `json` such lines go to standard output as JSON. Numbers alone: no value, no name.
 */
export function showProgress(now: () => Progress, { json, noun }: { json: boolean; noun: string }): ProgressDisplay {
  const { stderr, stdout } = process;
  const startedAt = performance.now();
  const isBar = stderr.isTTY === true && !json;
  const timer = setInterval(draw, isBar ? redrawMs : plainMs);
  // Nobody waits for the next one.
  timer.unref();

  function draw(): void {
    const elapsed = (performance.now() - startedAt) / 1_000;
    if (json) stdout.write(`${JSON.stringify({ type: 'progress', ...now().fields, seconds: Math.round(elapsed) })}\n`);
    else if (isBar) stderr.write(`\r\x1b[K${bar(now())}${progressText(now(), elapsed, noun)}`);
    else stderr.write(`${progressText(now(), elapsed, noun)}\n`);
  }

  return {
    line(text) {
      stderr.write(isBar ? `\r\x1b[K${text}\n` : `${text}\n`);
    },
    end() {
      clearInterval(timer);
      if (isBar) stderr.write('\r\x1b[K');
    },
  };
}

/** `1,200 lines, 45%, 400/s, 12 s left` */
export function progressText({ items, done, total }: Progress, elapsedSeconds: number, noun: string): string {
  const perSecond = elapsedSeconds > 0 ? items / elapsedSeconds : 0;
  const parts = [`${items.toLocaleString('en-US')} ${items === 1 ? noun.replace(/s$/, '') : noun}`];
  const share = shareOf(done, total);
  // Everything is read, and something still runs: no share, rate or time left says how long that takes.
  if (share === 1) return [...parts, 'finishing'].join(', ');
  if (share !== null) parts.push(`${Math.floor(share * 100)}%`);
  parts.push(`${Math.round(perSecond).toLocaleString('en-US')}/s`);
  if (share !== null && share > 0) parts.push(`${duration((elapsedSeconds / share) * (1 - share))} left`);
  return parts.join(', ');
}

function bar({ done, total }: Progress): string {
  const share = shareOf(done, total);
  if (share === null) return '';
  const full = Math.round(share * barWidth);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}] `;
}

function shareOf(done: number, total: number | null): number | null {
  return total === null || total === 0 ? null : Math.min(done / total, 1);
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.ceil(whole / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
