import { ID_PREFIXES, type IdKind } from '@svc/contract';
import type { Knex } from 'knex';

/** A word of fewer characters would fit too many ids by chance. */
const ID_PART = /^[0-9a-z]{6,26}$/;

/** The name as a column for searches keeps it. The databases differ in how they fold letter case, so it is done here. */
export function toSearchName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** The different words of a search, as a column for searches would have them. */
export function toSearchWords(search: string): string[] {
  return [...new Set(toSearchName(search).split(/\s+/).filter(Boolean))];
}

/** The word stands in the name, or is the beginning (with its prefix or without) or the end of the id. */
export function whereNameOrId(query: Knex.QueryBuilder, word: string, kind: IdKind): void {
  const prefix = ID_PREFIXES[kind];
  const part = word.startsWith(prefix) ? word.slice(prefix.length) : word;
  void query.where((either) => {
    void either.whereRaw(`search_name like ? escape '!'`, [toHolding(word)]);
    if (!ID_PART.test(part)) return;
    const upper = part.toUpperCase();
    void either.orWhere('id', 'like', `${prefix}${upper}%`).orWhere('id', 'like', `%${upper}`);
  });
}

/** Or the word stands in the column, whose text may have capital letters. */
export function orWhereHolds(query: Knex.QueryBuilder, column: string, word: string): void {
  void query.orWhereRaw(`lower(??) like ? escape '!'`, [column, toHolding(word)]);
}

/** For `like ? escape '!'`: what holds the text itself, which has no wildcards. */
function toHolding(text: string): string {
  return `%${text.replace(/[!%_]/g, '!$&')}%`;
}
