import { defineConfig } from '@svc/kernel';
import { auth } from '@svc/plugin-auth';
import { backup } from '@svc/plugin-backup';
import { checkpoints } from '@svc/plugin-checkpoints';
import { console } from '@svc/plugin-console';
import { detectors } from '@svc/plugin-detectors';
import { diagnosis } from '@svc/plugin-diagnosis';
import { evaluations } from '@svc/plugin-evaluations';
import { eventFiles } from '@svc/plugin-event-files';
import { events } from '@svc/plugin-events';
import { failures } from '@svc/plugin-failures';
import { jobs } from '@svc/plugin-jobs';
import { logs } from '@svc/plugin-logs';
import { mcp } from '@svc/plugin-mcp';
import { metricDefinitions } from '@svc/plugin-metric-definitions';
import { metrics } from '@svc/plugin-metrics';
import { metricsExport } from '@svc/plugin-metrics-export';
import { nodeMetrics } from '@svc/plugin-node-metrics';
import { nodes } from '@svc/plugin-nodes';
import { openapi } from '@svc/plugin-openapi';
import { projects } from '@svc/plugin-projects';
import { push } from '@svc/plugin-push';
import { pushNtfy } from '@svc/plugin-push-ntfy';
import { pushWebhook } from '@svc/plugin-push-webhook';
import { ranking } from '@svc/plugin-ranking';
import { retention } from '@svc/plugin-retention';
import { runnerDocker } from '@svc/plugin-runner-docker';
import { runnerProcess } from '@svc/plugin-runner-process';
import { runs } from '@svc/plugin-runs';
import { service } from '@svc/plugin-service';
import { snapshots } from '@svc/plugin-snapshots';
import { spool } from '@svc/plugin-spool';

// The plugins of the server. docs/configuration.md describes the options of each.
export default defineConfig({
  // The database is SQLite in the data directory. This line changes it to PostgreSQL, as SVC_DATABASE_URL does:
  // database: { client: 'postgres', url: 'postgres://svc@localhost/svc' },
  plugins: [
    auth(), // tokens and scopes, run ingest tokens, one-time sign-in links
    projects(), // projects and experiments that group runs
    events(), // events, as a list and as a live stream
    push(), // sends events to the targets below, and lists what became of them
    pushNtfy(), // targets: topics of ntfy servers
    pushWebhook(), // targets: HTTP endpoints that take JSON, such as Slack's
    nodes(), // agent hosts: their connection, heartbeat and GPU slots
    jobs(), // queue, scheduler, cancel and retry
    snapshots(), // source files that jobs run in, uploaded once
    logs(), // every log line: recent lines in memory, all of them on disk
    nodeMetrics(), // metrics of the hosts and their GPUs
    runs(), // runs, under which trainings report: progress, config, state
    metricDefinitions(), // meaning of metrics: direction, unit, which one is primary
    metrics(), // metric points, series, summaries
    metricsExport(), // all points of a run as CSV, JSON lines or Parquet
    failures(), // why attempts and runs failed
    detectors(), // events of trouble in losses, logs, jobs and hosts
    checkpoints(), // records of the checkpoints that trainings saved
    evaluations(), // evaluations of checkpoints: their jobs and results
    ranking(), // the best checkpoint, and comparisons of runs and of checkpoints
    diagnosis(), // how a run goes: progress, convergence, anomalies, use of its GPUs
    spool(), // reports of trainings from times when the server could not be reached
    eventFiles(), // scalars that agents find in event files of TensorBoard
    service(), // health and status
    backup(), // backups of database and logs while the server runs
    retention(), // removal of old jobs and runs, on demand
    openapi(), // description of the API, as JSON and as a page
    runnerProcess(), // runner that starts a command as a process group
    runnerDocker(), // runner that starts a command in a container
    console(), // the web console
    mcp(), // the MCP adapter for AI agents, a process beside the server
  ],
});
