/** A name of config and its value in each run; undefined where a run has none. */
export interface ConfigRow {
  readonly name: string;
  readonly values: readonly unknown[];
  readonly isDifferent: boolean;
}

/** Every name of these configs, nested ones with dots between, in the order in which they first occur. */
export function toConfigRows(configs: readonly object[]): ConfigRow[] {
  const flat = configs.map((config) => new Map(flatten(config as Record<string, unknown>)));
  const names = new Set(flat.flatMap((config) => [...config.keys()]));
  return [...names].map((name) => {
    const values = flat.map((config) => config.get(name));
    return { name, values, isDifferent: new Set(values.map(showConfig)).size > 1 };
  });
}

/** As `showConfig`, with as many digits of a number as people read. */
export function shortConfig(value: unknown): string {
  return typeof value === 'number' ? String(Number(value.toPrecision(8))) : showConfig(value);
}

/** Text as it is, everything else as JSON; a value that is missing is a dash. */
export function showConfig(value: unknown): string {
  if (value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function flatten(value: Readonly<Record<string, unknown>>, prefix = ''): [string, unknown][] {
  return Object.entries(value).flatMap(([name, inner]): [string, unknown][] =>
    isFilled(inner) ? flatten(inner, `${prefix}${name}.`) : [[prefix + name, inner]],
  );
}

function isFilled(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
  );
}
