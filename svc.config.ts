import { defineConfig } from '@svc/kernel';
import { auth } from '@svc/plugin-auth';
import { backup } from '@svc/plugin-backup';
import { checkpoints } from '@svc/plugin-checkpoints';
import { console } from '@svc/plugin-console';
import { events } from '@svc/plugin-events';
import { jobs } from '@svc/plugin-jobs';
import { logs } from '@svc/plugin-logs';
import { metricDefinitions } from '@svc/plugin-metric-definitions';
import { metrics } from '@svc/plugin-metrics';
import { metricsExport } from '@svc/plugin-metrics-export';
import { nodeMetrics } from '@svc/plugin-node-metrics';
import { nodes } from '@svc/plugin-nodes';
import { openapi } from '@svc/plugin-openapi';
import { projects } from '@svc/plugin-projects';
import { retention } from '@svc/plugin-retention';
import { runnerProcess } from '@svc/plugin-runner-process';
import { runs } from '@svc/plugin-runs';
import { service } from '@svc/plugin-service';
import { spool } from '@svc/plugin-spool';

// The list of plugins is the product; docs/configuration.md describes the options of each.
export default defineConfig({
  // The database is SQLite in the data directory; this line makes it PostgreSQL (as SVC_DATABASE_URL does):
  // database: { client: 'postgres', url: 'postgres://svc@localhost/svc' },
  plugins: [
    auth(), // tokens and scopes, run ingest tokens, one-time sign-in links
    projects(), // projects and experiments that group runs
    events(), // what happened: list and live stream
    nodes(), // agent hosts: their connection, heartbeat and GPU slots
    jobs(), // queue, scheduler, cancel and retry
    logs(), // every line: recent ones in memory, all of them on disk
    nodeMetrics(), // how the hosts and their GPUs do
    runs(), // what a training reports under: progress, config, state
    metricDefinitions(), // what a metric means: direction, unit, which one is primary
    metrics(), // points, series, summaries
    metricsExport(), // all points of a run as CSV, JSON lines or Parquet
    checkpoints(), // what a training saved, and where
    spool(), // what a training reported while the server was away
    service(), // health and status
    backup(), // database and logs backed up while the server works
    retention(), // what has been over for long enough is removed, on demand
    openapi(), // the API described, as JSON and as a page
    runnerProcess(), // runs a command as a process group
    console(), // the web console
  ],
});
