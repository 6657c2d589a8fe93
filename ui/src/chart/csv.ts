/** A line of a chart with its points, for a file. */
interface CsvLine {
  readonly name: string;
  readonly series: {
    readonly steps: readonly number[];
    readonly values: readonly number[];
    readonly ts: readonly number[];
  };
}

/** The points as the chart holds them, in the columns of the server's export: RFC 4180, times in ms since the Unix epoch. */
export function toCsv(lines: readonly CsvLine[]): string {
  const rows = lines.flatMap(({ name, series: { steps, values, ts } }) =>
    steps.map((step, at) => `${toField(name)},${step},${values[at]},${ts[at]}`),
  );
  return ['name,step,value,ts', ...rows, ''].join('\n');
}

/** Text that begins like a formula gets an apostrophe in front, so that a spreadsheet does not evaluate it. */
function toField(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** A name that every file system takes. */
export function toFileName(title: string, ending: string): string {
  const plain = title.replace(/[^\p{L}\p{N}_.-]+/gu, '-').replace(/^[.-]+|-+$/g, '');
  return `${plain.slice(0, 80) || 'chart'}.${ending}`;
}
