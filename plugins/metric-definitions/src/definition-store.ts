import { guessDirection, type Direction, type MetricDefinition, type MetricLevel } from '@svc/contract';
import { dialectOf, type Db } from '@svc/kernel';
import { GLOBAL, type Level } from './levels.js';

/** SQLite takes some thousands of bindings in one statement at least. */
const IDS_PER_STATEMENT = 500;

/** A definition as its table holds it. */
export interface DefinitionRow {
  readonly level_id: string;
  readonly name: string;
  readonly direction: Direction;
  /** Nobody has set the direction: then it is what the name tells, whatever was guessed earlier. */
  readonly guessed: boolean;
  readonly auto: boolean;
  readonly unit: string | null;
  readonly description: string;
  readonly created_at: number;
}

export type DefinitionFields = Pick<DefinitionRow, 'direction' | 'unit' | 'description'>;

interface LevelRow {
  readonly id: string;
  readonly project_id: string | null;
  readonly experiment_id: string | null;
  readonly run_id: string | null;
  readonly primary_name: string | null;
}

/** The names as one parameter, whatever their number; ordered, so that two servers on one database lock them in one order. */
const ENSURE = {
  sqlite: `insert into metric_definitions (level_id, name, direction, auto, description, created_at)
    select '${GLOBAL.id}', value ->> 0, value ->> 1, true, '', ? from json_each(?) where true on conflict do nothing`,
  postgres: `insert into metric_definitions (level_id, name, direction, auto, description, created_at)
    select '${GLOBAL.id}', value ->> 0, value ->> 1, true, '', ? from json_array_elements(?::json) on conflict do nothing`,
} as const;

export async function ensureGuessed(db: Db, names: readonly string[], at: number): Promise<void> {
  if (names.length === 0) return;
  const guessed = names.toSorted().map((name) => [name, guessDirection(name).direction]);
  await db.raw(ENSURE[dialectOf(db)], [at, JSON.stringify(guessed)]);
}

/** Creates the level's row if there is none, and locks it until the transaction ends. */
export async function openLevel(db: Db, { id, name }: Level): Promise<void> {
  const idOf = (level: MetricLevel) => (name === level ? id : null);
  const places = { project_id: idOf('project'), experiment_id: idOf('experiment'), run_id: idOf('run') };
  const row = { id, ...places, primary_name: null };
  await levels(db).insert(row).onConflict('id').ignore();
  await levels(db).where({ id }).forNoKeyUpdate().first('id');
}

export async function findDefinition(db: Db, levelId: string, name: string): Promise<DefinitionRow | null> {
  const row = await definitions(db).where({ level_id: levelId, name }).first();
  return row ? fromRow(row) : null;
}

/** False when the level has a definition, which stays unchanged. */
export async function insertDefinition(db: Db, row: DefinitionRow): Promise<boolean> {
  const inserted = await definitions(db)
    .insert(row)
    .onConflict(['level_id', 'name'])
    .ignore()
    .returning('name');
  return inserted.length === 1;
}

export async function countDefinitions(db: Db, levelId: string): Promise<number> {
  const [row] = await definitions(db).where({ level_id: levelId }).count({ count: '*' });
  return Number(row?.['count'] ?? 0);
}

export async function updateDefinition(
  db: Db,
  levelId: string,
  name: string,
  fields: Partial<DefinitionFields>,
): Promise<void> {
  await definitions(db)
    .where({ level_id: levelId, name })
    .update({ ...fields, ...(fields.direction !== undefined && { guessed: false }), auto: false });
}

export async function setPrimary(db: Db, levelId: string, name: string): Promise<void> {
  await levels(db).where({ id: levelId }).update({ primary_name: name });
}

export async function clearPrimary(db: Db, levelId: string, name: string): Promise<void> {
  await levels(db).where({ id: levelId, primary_name: name }).update({ primary_name: null });
}

/** The primary metric of the nearest of these levels that has one; null when none has. */
export async function primaryOf(db: Db, among: readonly Level[]): Promise<string | null> {
  const rows = await levels(db)
    .whereIn(
      'id',
      among.map(({ id }) => id),
    )
    .whereNotNull('primary_name')
    .select('id', 'primary_name');
  const byId = new Map(rows.map(({ id, primary_name }) => [id, primary_name]));
  const nearest = among.find(({ id }) => byId.has(id));
  return (nearest && byId.get(nearest.id)) ?? null;
}

/** Which primary metrics these levels have. */
export async function primariesAt(db: Db, levelIds: readonly string[]): Promise<string[]> {
  const found = await distinct(levelIds, (some) =>
    levels(db).whereIn('id', some).distinct('primary_name').pluck('primary_name'),
  );
  return found.filter((name) => name !== null);
}

/** Which directions somebody has set for a metric on these levels. */
export function directionsSetAt(db: Db, levelIds: readonly string[], name: string): Promise<Direction[]> {
  return distinct(levelIds, (some) =>
    definitions(db)
      .whereIn('level_id', some)
      .where({ name, guessed: false })
      .distinct('direction')
      .pluck('direction'),
  );
}

async function distinct<T>(
  ids: readonly string[],
  read: (some: readonly string[]) => PromiseLike<T[]>,
): Promise<T[]> {
  const found = new Set<T>();
  for (let first = 0; first < ids.length; first += IDS_PER_STATEMENT)
    for (const value of await read(ids.slice(first, first + IDS_PER_STATEMENT))) found.add(value);
  return [...found];
}

/**
 * The definition of each of these names on the nearest level that has one, with the direction of the nearest level on which somebody has set it.
 * `among` nearest first.
 */
export async function nearestDefinitions(
  db: Db,
  among: readonly Level[],
  names: readonly string[],
): Promise<ReadonlyMap<string, DefinitionRow>> {
  const ids = among.map(({ id }) => id);
  const found = await definitions(db).whereIn('level_id', ids).whereIn('name', names);
  const farthestFirst = found.sort((a, b) => ids.indexOf(b.level_id) - ids.indexOf(a.level_id));
  const nearest = new Map<string, DefinitionRow>();
  for (const row of farthestFirst.map(fromRow))
    nearest.set(row.name, withDirectionOf(nearest.get(row.name), row));
  return nearest;
}

/** What applies where `among` applies (nearest first), one for each name: the primary one, then those not automatic, newest first. */
export async function selectNearest(
  db: Db,
  among: readonly Level[],
  primary: string | null,
  limit: number,
): Promise<DefinitionRow[]> {
  const query = definitions(db).where((either) => {
    among.forEach(({ id }, index) => {
      const nearer = among.slice(0, index).map((level) => level.id);
      void either.orWhere((own) => {
        void own.where('level_id', id);
        if (nearer.length > 0)
          void own.whereNotIn('name', db('metric_definitions').whereIn('level_id', nearer).select('name'));
      });
    });
  });
  const rows = await query
    .orderByRaw('case when name = ? then 0 else 1 end', [primary ?? ''])
    .orderBy([{ column: 'auto' }, { column: 'created_at', order: 'desc' }, { column: 'name' }])
    .limit(limit);
  const guessed = rows.filter((row) => row.guessed).map(({ name }) => name);
  const resolved = await nearestDefinitions(db, among, guessed);
  return rows.map((row) => resolved.get(row.name) ?? fromRow(row));
}

export function toDefinition(row: DefinitionRow, level: Level, primary: string | null): MetricDefinition {
  const { name, direction, auto, unit, description } = row;
  const is_primary = name === primary;
  const own = { name, direction, ...toOrigin(row), is_primary };
  return { ...own, level: level.name, ...level.placement, auto, unit, description };
}

/** Where its direction comes from. */
export function toOrigin({ name, guessed }: Pick<DefinitionRow, 'name' | 'guessed'>) {
  return { guessed, guessed_from: guessed ? guessDirection(name).guessed_from : null };
}

/** SQLite gives 0 and 1 back. */
function fromRow(row: DefinitionRow): DefinitionRow {
  const guessed = Boolean(row.guessed);
  const direction = guessed ? guessDirection(row.name).direction : row.direction;
  return { ...row, direction, guessed, auto: Boolean(row.auto) };
}

/** A direction that is only guessed gives way to one that is set on a farther level. */
function withDirectionOf(farther: DefinitionRow | undefined, row: DefinitionRow): DefinitionRow {
  if (!row.guessed || !farther || farther.guessed) return row;
  return { ...row, direction: farther.direction, guessed: false };
}

function definitions(db: Db) {
  return db<DefinitionRow>('metric_definitions');
}

function levels(db: Db) {
  return db<LevelRow>('metric_levels');
}
