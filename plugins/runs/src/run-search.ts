import type { Db } from '@svc/kernel';

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
