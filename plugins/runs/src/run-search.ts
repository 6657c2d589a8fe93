import type { Db } from '@svc/kernel';

/** The normalized name for searches. The databases differ in how they fold letter case, so it is done here. */
export function toSearchName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** For `like ... escape '!'`: one pattern for each word of the search. */
export function toNamePatterns(search: string): string[] {
  const words = toSearchName(search).split(/\s+/).filter(Boolean);
  return words.map((word) => `%${word.replace(/[!%_]/g, '!$&')}%`);
}

export function toTagList(tags: string): string[] {
  return tags
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);
}

export async function replaceTags(db: Db, runId: string, tags: readonly string[]): Promise<void> {
  await db('run_tags').where({ run_id: runId }).delete();
  await insertTags(db, runId, tags);
}

export async function haveTag(db: Db, runIds: readonly string[], tag: string): Promise<boolean> {
  return (
    (await db('run_tags')
      .whereIn('run_id', [...runIds])
      .where({ tag })
      .first('tag')) !== undefined
  );
}

export async function insertTags(db: Db, runId: string, tags: readonly string[]): Promise<void> {
  if (tags.length > 0) await db('run_tags').insert(tags.map((tag) => ({ run_id: runId, tag })));
}
