import { guessDirection, type Direction, type MetricDefinition, type Run } from '@svc/contract';
import { fail, type Db } from '@svc/kernel';
import type { Projects } from '@svc/plugin-projects';
import type { Runs } from '@svc/plugin-runs';
import {
  clearPrimary,
  countDefinitions,
  directionsSetAt,
  ensureGuessed,
  findDefinition,
  insertDefinition,
  nearestDefinitions,
  openLevel,
  primariesAt,
  primaryOf,
  selectNearest,
  setPrimary,
  toDefinition,
  toOrigin,
  updateDefinition,
  type DefinitionRow,
} from './definition-store.js';
import { requirePlacement, toLevels, type Level, type LevelInput } from './levels.js';
import { requireName } from './metric-name.js';
import type { Defined, DefinitionChange, MetricDefinitions, MetricMeaning, Placement } from './service.js';

const MAX_DEFINITIONS_PER_RUN = 1_000;

/** The definitions of metrics at four levels: global, project, experiment, run. */
export class MetricCatalog implements MetricDefinitions {
  readonly ensure = ensureGuessed;

  constructor(
    private readonly projects: Projects,
    private readonly runs: Pick<Runs, 'require'>,
  ) {}

  async meanings(
    db: Db,
    placement: Placement,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, MetricMeaning>> {
    const levels = toLevels(placement);
    const primary = await primaryOf(db, levels);
    const nearest = await nearestDefinitions(db, levels, names);
    return new Map(
      names.map((name) => {
        const { direction, guessed } = nearest.get(name) ?? toGuess(name);
        return [name, { direction, ...toOrigin({ name, guessed }), is_primary: name === primary }];
      }),
    );
  }

  async primary(db: Db, placement: Placement, runIds: readonly string[]): Promise<string | null> {
    const primary = await primaryOf(db, toLevels(placement));
    if (primary !== null) return primary;
    const [one = null, ...others] = await primariesAt(db, runIds);
    return others.length === 0 ? one : null;
  }

  async directions(
    db: Db,
    placement: Placement,
    runIds: readonly string[],
    name: string,
  ): Promise<Direction[]> {
    const { direction, guessed, guessed_from } = (await this.meanings(db, placement, [name])).get(
      name,
    ) as MetricMeaning;
    if (!guessed) return [direction];
    const set = await directionsSetAt(db, runIds, name);
    if (set.length > 0) return set;
    return guessed_from === null ? [] : [direction];
  }

  /** The definitions that apply at a level. At most one is primary: that of the nearest level with a primary metric. */
  async list(db: Db, input: LevelInput, limit: number): Promise<MetricDefinition[]> {
    const levels = toLevels(await requirePlacement(this.projects, this.runs, db, input));
    const primary = await primaryOf(db, levels);
    const rows = await selectNearest(db, levels, primary, limit);
    const byId = new Map(levels.map((level) => [level.id, level]));
    return rows.map((row) => toDefinition(row, byId.get(row.level_id) as Level, primary));
  }

  define(db: Db, { id }: Run, name: string, change: DefinitionChange, at: number): Promise<Defined> {
    return this.put(db, { run_id: id }, requireName(name), change, at);
  }

  async put(db: Db, input: LevelInput, name: string, change: DefinitionChange, at: number): Promise<Defined> {
    return this.#changing(db, input, at, async (trx, levels) => {
      const isNew = await create(trx, levels, name, change, at);
      if (isNew) await refuseTooMany(trx, levels[0]);
      return { definition: await apply(trx, levels[0], name, isNew ? onlyPrimary(change) : change), isNew };
    });
  }

  /** Throws not_found when the level has no definition of it. */
  async update(
    db: Db,
    input: LevelInput,
    name: string,
    change: DefinitionChange,
    at: number,
  ): Promise<MetricDefinition> {
    return this.#changing(db, input, at, async (trx, [level]) => {
      if (!(await findDefinition(trx, level.id, name))) failUndefined(level, name);
      return apply(trx, level, name, change);
    });
  }

  /** Creates a definition at the level if there is none. */
  async setPrimary(db: Db, input: LevelInput, name: string, at: number): Promise<MetricDefinition> {
    return this.#changing(db, input, at, async (trx, levels) => {
      await create(trx, levels, name, {}, at);
      return apply(trx, levels[0], name, { is_primary: true });
    });
  }

  /** Runs `work` in a transaction that locks the level, and its project and experiment against deletion. */
  async #changing<T>(
    db: Db,
    input: LevelInput,
    at: number,
    work: (trx: Db, levels: readonly [Level, ...Level[]]) => Promise<T>,
  ): Promise<T> {
    return db.transaction(async (trx) => {
      const placement = await requirePlacement(this.projects, this.runs, trx, input);
      await this.projects.resolve(
        trx,
        { project: placement.project_id, experiment: placement.experiment_id },
        at,
      );
      const levels = toLevels(placement);
      await openLevel(trx, levels[0]);
      return work(trx, levels);
    });
  }
}

/** Creates a definition; missing fields get the values that applied before. False when the level has one, which stays unchanged. */
async function create(
  db: Db,
  levels: readonly [Level, ...Level[]],
  name: string,
  { direction, unit, description }: DefinitionChange,
  at: number,
): Promise<boolean> {
  const [level, ...farther] = levels;
  const above = (await nearestDefinitions(db, farther, [name])).get(name);
  const known = above ?? toGuess(name);
  const row: DefinitionRow = {
    level_id: level.id,
    name,
    ...(direction ? { direction, guessed: false } : { direction: known.direction, guessed: known.guessed }),
    unit: unit === undefined ? (above?.unit ?? null) : unit,
    description: description ?? above?.description ?? '',
    auto: false,
    created_at: at,
  };
  return insertDefinition(db, row);
}

async function apply(
  db: Db,
  level: Level,
  name: string,
  { is_primary, ...fields }: DefinitionChange,
): Promise<MetricDefinition> {
  if (Object.keys(fields).length > 0) await updateDefinition(db, level.id, name, fields);
  if (is_primary === true) await setPrimary(db, level.id, name);
  if (is_primary === false) await clearPrimary(db, level.id, name);
  const row = (await findDefinition(db, level.id, name)) ?? failUndefined(level, name);
  return toDefinition(row, level, await primaryOf(db, [level]));
}

/** A training must not be able to define any number of names. */
async function refuseTooMany(db: Db, { name, id }: Level): Promise<void> {
  if (name !== 'run' || (await countDefinitions(db, id)) <= MAX_DEFINITIONS_PER_RUN) return;
  fail('conflict', `a run has at most ${MAX_DEFINITIONS_PER_RUN} definitions of metrics`);
}

/** For a metric that no level defines. */
function toGuess(name: string): Pick<DefinitionRow, 'direction' | 'guessed'> {
  return { direction: guessDirection(name).direction, guessed: true };
}

function onlyPrimary({ is_primary }: DefinitionChange): DefinitionChange {
  return is_primary === undefined ? {} : { is_primary };
}

function failUndefined({ name: level, id }: Level, name: string): never {
  const where = level === 'global' ? 'at the global level' : `at the level of ${level} ${id}`;
  return fail('not_found', `no definition of the metric "${name}" ${where}; PUT creates one`);
}
