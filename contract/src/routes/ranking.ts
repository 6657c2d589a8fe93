import { Type } from 'typebox';
import { PLAIN, route, strict } from '../route.js';
import { MetricName } from '../records/metric.js';
import { BestCheckpoint, CheckpointComparison, MAX_COMPARED, RunComparison } from '../records/ranking.js';

const label = (what: string) =>
  Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: PLAIN,
      description: `Only evaluations of this ${what}; empty: only those without one.`,
    }),
  );

const Ranked = {
  metric: Type.Optional(MetricName),
  suite: label('suite'),
  dataset: label('dataset'),
  dataset_version: label('dataset version'),
};

const ids = (of: string) =>
  Type.String({
    minLength: 1,
    maxLength: 4096,
    description: `2 to ${MAX_COMPARED} ids of ${of}, separated by commas.`,
  });

const RANKED_BY = 'by the primary metric, or by the one that is named';

export const recommendCheckpoint = route({
  id: 'checkpoints.recommend',
  method: 'GET',
  path: '/checkpoints:recommend',
  scope: 'read',
  summary: `The best checkpoint of a run or an experiment, ${RANKED_BY}.`,
  query: strict({
    run_id: Type.Optional(Type.String()),
    experiment_id: Type.Optional(Type.String()),
    ...Ranked,
  }),
  answers: { 200: BestCheckpoint },
});

export const bestCheckpoint = route({
  id: 'experiments.best-checkpoint',
  method: 'GET',
  path: '/experiments/{experiment_id}/best-checkpoint',
  scope: 'read',
  summary: `The best checkpoint of an experiment, ${RANKED_BY}.`,
  query: strict(Ranked),
  answers: { 200: BestCheckpoint },
});

export const compareRuns = route({
  id: 'runs.compare',
  method: 'GET',
  path: '/runs/compare',
  scope: 'read',
  summary: `Runs, best first, ${RANKED_BY}.`,
  query: strict({ ids: ids('runs'), ...Ranked }),
  answers: { 200: RunComparison },
});

export const compareCheckpoints = route({
  id: 'checkpoints.compare',
  method: 'GET',
  path: '/checkpoints/compare',
  scope: 'read',
  summary: `Checkpoints, best first, ${RANKED_BY}.`,
  query: strict({ ids: ids('checkpoints'), ...Ranked }),
  answers: { 200: CheckpointComparison },
});
