import type { BodyOf, routes } from '@svc/contract';
import { createHash } from 'node:crypto';
import type { FoundRun, RunFacts, TrainingEnd } from '../reading/found-run.js';
import { Skips } from '../reading/skips.js';

export type NewRun = BodyOf<typeof routes.createRun>;
export type Documents = Pick<NewRun, 'config' | 'environment' | 'max_steps'>;

/** Where the imported runs go, in place of what their sources say. */
export interface Placement {
  readonly project?: string | undefined;
  readonly experiment?: string | undefined;
}

const NAME_CHARACTERS = 200;
const TAG_CHARACTERS = 100;
const MAX_TAGS = 100;
/** Config and environment together stay below the 1 MiB of a request. */
const DOCUMENT_BYTES = 400 * 1024;

export function toImportKey({ source }: Pick<FoundRun, 'source'>, { key }: RunFacts): string {
  return `${source.replace(' ', '-')}:${toHash(key)}`;
}

function toHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}

/** `firstTs`: of the first point, in ms. */
export function toNewRun(
  found: FoundRun,
  facts: RunFacts,
  placement: Placement,
  firstTs: number | undefined,
  skips: Skips,
): NewRun {
  const project = placement.project ?? toName(facts.project);
  const experiment = placement.experiment ?? toName(facts.experiment);
  const name = toName(facts.name);
  const started_at = facts.started_at ?? firstTs;
  return {
    source: 'import',
    import_key: toImportKey(found, facts),
    tags: toTags([...toEndTags(facts.ended), ...(facts.tags ?? [])], skips),
    // What is too large is told at the end, when all of it is known.
    ...toDocuments(found, facts, new Skips()),
    ...(name !== undefined && { name }),
    ...(project !== undefined && { project }),
    ...(experiment !== undefined && { experiment }),
    ...(started_at !== undefined && { started_at }),
  };
}

/** Imported runs all have the status IMPORTED: the tag shows in every list that the training itself did not succeed. */
export function toEndTags(ended: TrainingEnd | undefined): string[] {
  return ended === undefined || ended === 'SUCCEEDED' ? [] : [ended.toLowerCase()];
}

/** What a training may change later. */
export function toDocuments({ source }: FoundRun, facts: RunFacts, skips: Skips): Documents {
  const told = { source, ended: facts.ended, ...facts.origin };
  const origin = JSON.parse(JSON.stringify(told)) as Record<string, unknown>;
  const { max_steps } = facts;
  return {
    config: toBounded(facts.config ?? {}, 'the config', skips),
    environment: {
      ...toBounded(facts.environment ?? {}, 'the environment', skips),
      import: toBounded(origin, 'what the source says beside', skips),
    },
    ...(Number.isSafeInteger(max_steps) && (max_steps as number) > 0 && { max_steps: max_steps as number }),
  };
}

function toBounded(
  document: Readonly<Record<string, unknown>>,
  what: string,
  skips: Skips,
): Record<string, unknown> {
  if (Buffer.byteLength(JSON.stringify(document)) <= DOCUMENT_BYTES) return { ...document };
  skips.add(`${what}, as it is larger than ${DOCUMENT_BYTES / 1024} KiB`, what);
  return {};
}

/** A name as the server takes it; undefined when nothing of it is left. */
function toName(text: string | undefined): string | undefined {
  const plain = text?.replace(/[\u0000-\u001f\u007f]|\p{Surrogate}/gu, ' ').trim();
  return plain ? [...plain].slice(0, NAME_CHARACTERS).join('').trim() : undefined;
}

function toTags(tags: readonly string[], skips: Skips): string[] {
  const usable = [...new Set(tags)].filter(
    (tag) => tag !== '' && [...tag].length <= TAG_CHARACTERS && !/\u0000|\p{Surrogate}/u.test(tag),
  );
  const count = tags.length - Math.min(usable.length, MAX_TAGS);
  if (count > 0)
    skips.add('a tag that is empty, too long, twice there, or one of too many', 'tags', { count });
  return usable.slice(0, MAX_TAGS);
}
