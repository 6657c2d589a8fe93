import { maskText } from './mask-text.js';
import { MASK, secrecyOf } from './secret-key.js';

/** A copy in which `***` stands for what a key, a flag or its own form tells to be a secret, at whatever depth. */
export function maskSecrets(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]: [string, unknown]) => [key, maskEntry(key, entry)]),
  );
}

function maskEntry(key: string, entry: unknown): unknown {
  const secrecy = secrecyOf(key);
  if (secrecy === 'secret') return revealsNothing(entry) ? entry : MASK;
  if (secrecy === 'token') return Array.isArray(entry) ? entry.map(maskToken) : maskToken(entry);
  return maskInner(entry);
}

function maskToken(entry: unknown): unknown {
  return typeof entry === 'string' && !isSpecialToken(entry) ? MASK : maskInner(entry);
}

function maskInner(entry: unknown): unknown {
  if (typeof entry === 'string') return maskText(entry);
  if (Array.isArray(entry)) return maskList(entry);
  return typeof entry === 'object' && entry !== null ? maskSecrets(entry) : entry;
}

/** In a command line the secret may be the argument behind its flag. */
function maskList(entries: readonly unknown[]): unknown[] {
  return entries.map((entry, index) => {
    const isArgument = typeof entry === 'string' && !entry.startsWith('-');
    return isArgument && isSecretFlag(entries[index - 1]) ? MASK : maskInner(entry);
  });
}

function isSecretFlag(argument: unknown): boolean {
  return (
    typeof argument === 'string' && /^--?[A-Za-z][\w.-]*$/.test(argument) && secrecyOf(argument) !== null
  );
}

function revealsNothing(entry: unknown): boolean {
  return entry === null || entry === '' || typeof entry === 'boolean';
}

/** `<pad>`, `[MASK]`, `</s>`: words of a vocabulary. */
function isSpecialToken(text: string): boolean {
  return text === '' || /^[<[{].*[>\]}]$/.test(text);
}
