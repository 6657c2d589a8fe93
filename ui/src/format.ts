/** Numbers, times and identifiers as people read them. All pure; times are milliseconds. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** `4s`, `3m 07s`, `2h 05m`, `3d 4h`: two units at most, never negative. */
export function formatDuration(ms: number): string {
  const left = Math.max(0, ms);
  if (left < MINUTE) return `${Math.floor(left / SECOND)}s`;
  if (left < HOUR) return `${Math.floor(left / MINUTE)}m ${pad(Math.floor((left % MINUTE) / SECOND))}s`;
  if (left < DAY) return `${Math.floor(left / HOUR)}h ${pad(Math.floor((left % HOUR) / MINUTE))}m`;
  return `${Math.floor(left / DAY)}d ${Math.floor((left % DAY) / HOUR)}h`;
}

/** `now`, `12s ago`, `5m ago`, `3h ago`, `2d ago`. */
export function formatAge(ms: number): string {
  if (ms < 5 * SECOND) return 'now';
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)}s ago`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h ago`;
  return `${Math.floor(ms / DAY)}d ago`;
}

/** Made when it is first used: a browser takes 20 ms for the first of them. */
let dateTime: Intl.DateTimeFormat | undefined;
let day: Intl.DateTimeFormat | undefined;

/** For a moment in which nothing waits. */
export function prepareDates(): void {
  formatDateTime(0);
  formatDay(0);
}

/** Full local date and time. */
export function formatDateTime(ts: number): string {
  dateTime ??= new Intl.DateTimeFormat(undefined, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  return dateTime.format(ts);
}

/** The local day, as a heading. */
export function formatDay(ts: number): string {
  day ??= new Intl.DateTimeFormat(undefined, { weekday: 'long', month: 'long', day: 'numeric' });
  return day.format(ts);
}

/** Local `14:03:27`. */
export function formatClock(ts: number): string {
  const date = new Date(ts);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/** A metric's value in about five digits, without rounding a small one away; NaN and infinities by name. */
export function formatValue(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return minus(value.toExponential(3).replace('e+', 'e'));
  if (Number.isInteger(value)) return minus(groupDigits(value));
  return minus(size >= 1000 ? groupDigits(Number(value.toFixed(1))) : String(Number(value.toPrecision(5))));
}

const TICK_DIGITS = [3, 4, 5, 6, 8, 10, 12] as const;
/** Digits behind these are errors of the arithmetic. */
const MOST_TICK_DIGITS = 12;

/** An axis label: short, with k and M for large steps, and at most so many digits behind the point. */
export function formatTick(value: number, digits = 3): string {
  const exact = Number(value.toPrecision(MOST_TICK_DIGITS));
  const size = Math.abs(exact);
  if (exact === 0) return '0';
  if (size >= 1e9 || size < 1e-3) {
    const [mantissa, exponent] = exact.toExponential(digits).split('e');
    return minus(`${Number(mantissa)}e${Number(exponent)}`);
  }
  if (size >= 1e6) return minus(`${trim(exact / 1e6, digits)}M`);
  if (size >= 1e4) return minus(`${trim(exact / 1e3, digits)}k`);
  return minus(trim(exact, digits));
}

/** Labels of one axis: with as many digits as it takes to say where each tick is. A null has an empty label. */
export function formatTicks(values: readonly (number | null)[]): string[] {
  const shown = values.filter((value) => value !== null);
  const isExact = (digits: number) =>
    shown.every((value) => formatTick(value, digits) === formatTick(value, MOST_TICK_DIGITS));
  const digits = TICK_DIGITS.find(isExact);
  return values.map((value) => (value === null ? '' : formatTick(value, digits)));
}

/** `12,345`. */
export function formatCount(value: number): string {
  return groupDigits(value);
}

/** Mebibytes as `512 MiB` or `79.6 GiB`. */
export function formatMegabytes(mb: number): string {
  return mb < 1024 ? `${Math.round(mb)} MiB` : `${trim(mb / 1024, mb < 102_400 ? 1 : 0)} GiB`;
}

/** Bytes as `812 B`, `14.2 KiB`, `980 MiB`, `1.5 TiB`, as the command line does. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), BYTE_UNITS.length - 1);
  const value = bytes / 1024 ** step;
  return `${trim(value, value < 100 ? 1 : 0)} ${BYTE_UNITS[step]}`;
}

/** A path as where it lies and its own last name: `/out/` and `checkpoint-5`. Joined they are the path again. */
export function splitPath(path: string): readonly [folder: string, name: string] {
  const end = path.lastIndexOf('/', path.length - 2) + 1;
  return [path.slice(0, end), path.slice(end)];
}

/** `1 job`, `3 jobs`. */
export function plural(count: number, noun: string): string {
  return `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Characters that turn the direction of what follows them. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** A name for the middle of a text, where no element keeps its writing direction to itself. */
export function isolated(name: string): string {
  return TURNING.test(name) ? `\u2068${name}\u2069` : name;
}

/** The last six characters of an identifier: enough to tell rows apart; the whole one is in the title. */
export function shortId(id: string): string {
  return id.slice(-6);
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

function trim(value: number, digits = 3): string {
  return String(Number(value.toFixed(digits)));
}

/** With at most one digit behind the point. */
function groupDigits(value: number): string {
  return String(Number(value.toFixed(1))).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

function minus(text: string): string {
  return text.replaceAll('-', '−');
}
