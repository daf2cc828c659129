import { counted, grouped } from '../../domain/text.js';

const redrawMs = 200;
const plainMs = 5_000;
const barWidth = 24;

/** The progress of a long command. */
export type Progress = {
  /** What the command has processed so far; the rate counts these. */
  readonly items: number;
  /** How much is done of how much, for the bar and the time left; `total` is null if it is not known. */
  readonly done: number;
  readonly total: number | null;
  /**
   * What the command does now. It is shown instead of a share, a rate and a time left: null while the items are
   * processed. A command that has processed all items must name what it still does.
   */
  readonly phase: string | null;
  /** The numbers for `--json`. */
  readonly fields: Readonly<Record<string, number>>;
};

export type ProgressDisplay = {
  /** Prints a line that stays, above the bar. */
  line(text: string): void;
  /** Shows a new phase on a terminal at once, before work that blocks the process. */
  redraw(): void;
  /** Removes the bar. */
  end(): void;
};

type Shown = { readonly json: boolean /** One item. */; readonly noun: string };

/**
 * Shows progress on standard error: a bar with rate and time left on a terminal, otherwise a line every five seconds.
 * With `json` these lines go to standard output as JSON. It shows only numbers and phases, never a value or a name.
 */
export function showProgress(now: () => Progress, { json, noun }: Shown): ProgressDisplay {
  const { stderr, stdout } = process;
  const startedAt = performance.now();
  const isBar = stderr.isTTY === true && !json;
  const timer = setInterval(draw, isBar ? redrawMs : plainMs);
  // The process may end before the next line is due.
  timer.unref();

  function draw(): void {
    const seconds = (performance.now() - startedAt) / 1_000;
    const progress = now();
    if (json) {
      const { fields, phase } = progress;
      const named = phase === null ? {} : { phase };
      stdout.write(`${JSON.stringify({ type: 'progress', ...fields, ...named, seconds: Math.round(seconds) })}\n`);
    } else if (isBar) stderr.write(`\r\x1b[K${bar(progress)}${progressText(progress, seconds, noun)}`);
    else stderr.write(`${progressText(progress, seconds, noun)}\n`);
  }

  return {
    line(text) {
      stderr.write(isBar ? `\r\x1b[K${text}\n` : `${text}\n`);
    },
    redraw() {
      if (isBar) draw();
    },
    end() {
      clearInterval(timer);
      if (isBar) stderr.write('\r\x1b[K');
    },
  };
}

/** Returns one line: `1,200 lines, 45%, 400/s, 12 s left`, or `1,200 lines, storing the last lines`. */
export function progressText({ items, done, total, phase }: Progress, elapsedSeconds: number, noun: string): string {
  const count = items === 0 && phase !== null ? [] : [counted(items, noun)];
  if (phase !== null) return [...count, phase].join(', ');
  const perSecond = elapsedSeconds > 0 ? items / elapsedSeconds : 0;
  const rate = `${grouped(Math.round(perSecond))}/s`;
  const share = shareOf(done, total);
  // At the end, no share or time left says how long the rest takes.
  if (share === null || share === 1) return [...count, rate].join(', ');
  const parts = [...count, `${Math.floor(share * 100)}%`, rate];
  if (share > 0) parts.push(`${duration((elapsedSeconds / share) * (1 - share))} left`);
  return parts.join(', ');
}

/** No bar is shown in a phase, because a full bar says that the command has ended. */
function bar({ done, total, phase }: Progress): string {
  const share = phase === null ? shareOf(done, total) : null;
  if (share === null) return '';
  const full = Math.floor(share * barWidth);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}] `;
}

function shareOf(done: number, total: number | null): number | null {
  return total === null || total === 0 ? null : Math.min(done / total, 1);
}

function duration(seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.ceil(whole / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
