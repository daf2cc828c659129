import { counted, grouped } from '../../domain/text.js';

const redrawMs = 200;
const plainMs = 5_000;
const barWidth = 24;

/** The progress of a long command. */
export type Progress = {
  /** The number of processed items. The rate is computed from it. */
  readonly items: number;
  /**
   * The completed and the total amount of work. The bar and the remaining time are computed from them. `total` is null
   * if it is unknown.
   */
  readonly done: number;
  readonly total: number | null;
  /**
   * The current phase. It is shown instead of the percentage, the rate and the remaining time. Null while items are
   * being processed. A command that has processed all items must describe its remaining work here.
   */
  readonly phase: string | null;
  /** The counts that `--json` prints. */
  readonly fields: Readonly<Record<string, number>>;
};

export type ProgressDisplay = {
  /** Prints a line above the bar. The line stays when the bar is redrawn or removed. */
  line(text: string): void;
  /** Redraws the bar immediately. Call it to show a new phase before starting work that blocks the process. */
  redraw(): void;
  /** Removes the bar. */
  end(): void;
};

/** A function that shows the progress of a long command, such as `showProgress`. */
export type ShowProgress = (now: () => Progress, shown: Shown) => ProgressDisplay;

type Shown = { readonly json: boolean /** The noun for one item. */; readonly noun: string };

/**
 * Shows progress on standard error. If standard error is a terminal, shows a bar with the rate and the remaining time.
 * If not, prints a line every five seconds. If `json` is true, prints these lines to standard output as JSON instead.
 * The output contains only numbers and phases, never values or names.
 */
export function showProgress(now: () => Progress, { json, noun }: Shown): ProgressDisplay {
  const { stderr, stdout } = process;
  const startedAt = performance.now();
  const isBar = stderr.isTTY === true && !json;
  const timer = setInterval(draw, isBar ? redrawMs : plainMs);
  // The timer must not keep the process alive.
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

/** Shows the phases of a command that does not count its work, as `showProgress` does. */
export function showPhases(first: string): { next(phase: string): void; end(): void } {
  let phase = first;
  const now = () => ({ items: 0, done: 0, total: null, phase, fields: {} });
  const display = showProgress(now, { json: false, noun: 'file' });
  return {
    next(started) {
      phase = started;
      display.redraw();
    },
    end: display.end,
  };
}

/** Returns one line, such as `1,200 lines, 45%, 400/s, 12 s left` or `1,200 lines, storing the last lines`. */
export function progressText({ items, done, total, phase }: Progress, elapsedSeconds: number, noun: string): string {
  const count = items === 0 && phase !== null ? [] : [counted(items, noun)];
  if (phase !== null) return [...count, phase].join(', ');
  const perSecond = elapsedSeconds > 0 ? items / elapsedSeconds : 0;
  const rate = `${grouped(Math.round(perSecond))}/s`;
  const share = shareOf(done, total);
  // At 100%, we do not know how much time is left, so we show neither the percentage nor the remaining time.
  if (share === null || share === 1) return [...count, rate].join(', ');
  const parts = [...count, `${Math.floor(share * 100)}%`, rate];
  if (share > 0) parts.push(`${duration((elapsedSeconds / share) * (1 - share))} left`);
  return parts.join(', ');
}

/** Returns the bar, or an empty string during a phase. A full bar would suggest that the command has finished. */
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
