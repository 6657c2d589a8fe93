import { maskSecrets } from '@svc/contract';
import { fromJson, toJson, type Db } from '@svc/kernel';

/** The limits of what a list shows of a config or an environment: its JSON in bytes, and the length of a string. */
const LISTED_BYTES = 2048;
const LISTED_CHARACTERS = 256;
/** How many entries are considered: a document may have tens of thousands, and further ones would rarely fit. */
const LISTED_ENTRIES = 500;

export const DOCUMENTS = ['config', 'environment'] as const;
export type DocumentName = (typeof DOCUMENTS)[number];
export type Documents = Partial<Record<DocumentName, object>>;

/** A row of `run_documents`: the complete documents; null where the row of `runs` has the complete one. */
type DocumentsRow = { run_id: string } & Record<DocumentName, string | null>;

/** The given documents with masked secrets. */
export function maskDocuments(given: Readonly<Documents>): Documents {
  const present = DOCUMENTS.filter((name) => given[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, maskSecrets(given[name] ?? {})]));
}

/** The part of a document that the row of `runs` contains: all of a small one, otherwise its small entries that fit, in their order. */
export function toListed(document: object): object {
  if (isListedWhole(document)) return document;
  const listed: Record<string, unknown> = {};
  let left = LISTED_BYTES - 2;
  for (const [key, entry] of Object.entries(document).slice(0, LISTED_ENTRIES)) {
    const value = toShort(entry);
    if (value === undefined) continue;
    const size = sizeOf({ [key]: value }) - 1;
    if (size > left) continue;
    listed[key] = value;
    left -= size;
  }
  return listed;
}

/** The entry without what is too long to be listed; undefined when nothing is left. */
function toShort(entry: unknown): unknown {
  if (typeof entry === 'string') return entry.length <= LISTED_CHARACTERS ? entry : undefined;
  if (!isObject(entry)) return entry;
  return Object.keys(entry).length <= LISTED_ENTRIES ? withoutLongStrings(entry) : undefined;
}

/** Stores the complete documents that are larger than what a list shows. The run must exist. */
export async function saveDocuments(db: Db, runId: string, documents: Documents): Promise<void> {
  const columns = Object.fromEntries(
    Object.entries(documents).map(([name, document]) => [
      name,
      isListedWhole(document) ? null : toJson(document),
    ]),
  ) as Partial<Record<DocumentName, string | null>>;
  const known = { run_id: runId, ...columns };
  if (Object.values(columns).some((column) => column !== null))
    await table(db).insert(known).onConflict('run_id').merge(columns);
  else await table(db).where({ run_id: runId }).update(columns);
}

/** The documents of which the row of `runs` has only a part. */
export async function loadDocuments(db: Db, runId: string): Promise<Documents> {
  const row = await table(db).where({ run_id: runId }).first();
  if (!row) return {};
  const stored = DOCUMENTS.filter((name) => row[name] !== null);
  return Object.fromEntries(stored.map((name) => [name, fromJson<object>(row[name])]));
}

function isListedWhole(document: object): boolean {
  return sizeOf(document) <= LISTED_BYTES;
}

function withoutLongStrings(value: object): object {
  const short = Object.entries(value as Record<string, unknown>).map(([key, entry]) => [key, toShort(entry)]);
  return Object.fromEntries(short.filter(([, entry]) => entry !== undefined)) as object;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(toJson(value));
}

function table(db: Db) {
  return db<DocumentsRow>('run_documents');
}
