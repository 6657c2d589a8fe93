import { nextTurn } from './event-loop-turns.js';

/** The maximum size of a list in an answer. */
export const LIST_BYTES = 8 * 1024 * 1024;
/** How much is written in one turn of the event loop. */
const SLICE_CHARS = 256 * 1024;
/** Objects are written entry by entry down to this level: deeper values are small in every answer. */
const LEVELS = 3;
/** Elements of an array that are written at once. */
const ELEMENTS = 16;
/** Items of a list that are written at once. */
const ITEMS = 32;

interface List {
  readonly items: readonly unknown[];
  readonly [key: string]: unknown;
}

/** The JSON text of an answer. A list contains as many items as fit, at least one; `truncated` says that there are more. */
export async function toJsonBytes(body: unknown): Promise<Buffer> {
  const slices: Buffer[] = [];
  let slice = '';
  for (const piece of isList(body) ? listPieces(body) : piecesOf(body, LEVELS)) {
    slice += piece;
    if (slice.length < SLICE_CHARS) continue;
    slices.push(Buffer.from(slice));
    slice = '';
    await nextTurn();
  }
  return Buffer.concat([...slices, Buffer.from(slice)]);
}

function* listPieces({ items, ...rest }: List): Generator<string> {
  let sizeBytes = 0;
  let shown = 0;
  let count = ITEMS;
  yield '{"items":[';
  while (shown < items.length) {
    const chunk = items.slice(shown, shown + count);
    const text = JSON.stringify(chunk).slice(1, -1);
    const textBytes = Buffer.byteLength(text);
    if (sizeBytes + textBytes > LIST_BYTES && shown + count > 1) {
      if (count === 1) break;
      count = 1;
      continue;
    }
    sizeBytes += textBytes;
    yield shown === 0 ? text : `,${text}`;
    shown += chunk.length;
  }
  const others = shown < items.length ? { ...rest, ...endedBy(items[shown - 1], rest) } : rest;
  const tail = [...piecesOf(others, 1)].join('').slice(1);
  yield `]${tail === '}' ? '' : ','}${tail}`;
}

/** `next_before` of a list that is paged by time: the time of the last item shown. */
function endedBy(last: unknown, rest: object): object {
  const next = 'next_before' in rest && { next_before: (last as { created_at: number }).created_at };
  return { ...next, truncated: true };
}

function* piecesOf(value: unknown, levels: number): Generator<string> {
  if (levels > 0 && Array.isArray(value)) return void (yield* elementsOf(value));
  if (levels === 0 || !isPlain(value)) return void (yield JSON.stringify(value));
  let separator = '{';
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* piecesOf(inner, levels - 1);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

function* elementsOf(array: readonly unknown[]): Generator<string> {
  for (let first = 0; first < array.length; first += ELEMENTS) {
    const chunk = JSON.stringify(array.slice(first, first + ELEMENTS)).slice(1, -1);
    yield `${first === 0 ? '[' : ','}${chunk}`;
  }
  yield array.length === 0 ? '[]' : ']';
}

const isList = (body: unknown): body is List => isPlain(body) && Array.isArray(body['items']);

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
