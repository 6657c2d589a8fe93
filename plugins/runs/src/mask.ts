const SECRET_KEY = /token(?!iz)|secret|passw(or)?d|api_?key|credential|private_?key/i;
const MASK = '***';

/** A copy with the value of every key that tells of a secret replaced by `***`, at whatever depth. */
export function maskSecrets(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]: [string, unknown]) => [
      key,
      SECRET_KEY.test(key) ? MASK : maskEntry(entry),
    ]),
  );
}

function maskEntry(entry: unknown): unknown {
  if (Array.isArray(entry)) return entry.map(maskEntry);
  return typeof entry === 'object' && entry !== null ? maskSecrets(entry) : entry;
}
