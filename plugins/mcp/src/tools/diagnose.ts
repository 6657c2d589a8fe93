import { EventRecord, routes, strict, type EventRecord as Event, type NextActionRecord } from '@svc/contract';
import { Type } from 'typebox';
import { Metric, RunFields, toMetric } from './metrics.js';
import { defineTool, only, pick, toAction } from './tool.js';

const Warning = strict(pick(EventRecord, 'id', 'type', 'severity', 'title', 'message', 'created_at'));
const LOOKED_AT = 200;

export const diagnoseRun = defineTool(
  {
    name: 'diagnose_run',
    title: 'Diagnose a run',
    description:
      'How a run goes: progress, health with its reasons, its primary metric, the metrics that stand out, and the warnings about it.',
    group: 'semantic',
    output: {
      ...RunFields,
      metrics: Type.Array(Metric, { description: 'The primary one, and those that are not finite.' }),
    },
    list: ['warnings', Warning],
  },
  async ({ client, signal }, { run_id }) => {
    const [summary, events] = await Promise.all([
      client.call(routes.getRunSummary, { params: { run_id }, signal }),
      client.call(routes.listEvents, { query: { run_id, limit: LOOKED_AT }, signal }),
    ]);
    const remarkable = Object.entries(summary.metrics).filter(
      ([, { is_primary, latest }]) => is_primary || typeof latest.value !== 'number',
    );
    const warnings = events.items.filter(({ severity }) => severity !== 'info');
    return {
      body: { ...only(summary, RunFields), metrics: remarkable.map(toMetric) },
      list: {
        name: 'warnings',
        items: warnings.map((event: Event) => only(event, Warning.properties)),
        more: () => toAction('list_events', { run_id: summary.run_id }, 'all events of the run'),
      },
      next_actions: afterDiagnosis(summary.run_id, summary.status),
    };
  },
);

function afterDiagnosis(run_id: string, status: string): NextActionRecord[] {
  const look = toAction('get_run_summary', { run_id }, 'every metric of the run');
  if (status === 'FAILED') return [toAction('explain_failure', { run_id }, 'why it failed'), look];
  return [toAction('list_checkpoints', { run_id }, 'the checkpoints of the run'), look];
}
