import type { Command } from 'commander';
import { addAgentCommand } from './commands/agent.js';
import { addBackupCommands } from './commands/backup.js';
import { addCodeCommand } from './commands/code.js';
import { addCompletionCommand } from './commands/completion.js';
import { addConfigCommand } from './commands/config.js';
import { addConsoleCommand } from './commands/console.js';
import { addEvaluateCommand } from './commands/evaluate.js';
import { addExplainCommand } from './commands/explain.js';
import { addExportCommand } from './commands/export.js';
import { addGcCommand } from './commands/gc.js';
import { addAttemptCommands } from './commands/attempts.js';
import { addJobCommands } from './commands/jobs.js';
import { addEventsCommands } from './commands/events.js';
import { addLoginCommands } from './commands/login.js';
import { addLogsCommand } from './commands/logs.js';
import { addMcpCommand } from './commands/mcp.js';
import { addMetricsCommands } from './commands/metrics.js';
import { addNodesCommand } from './commands/nodes.js';
import { addProjectsCommand } from './commands/projects.js';
import { addRankingCommands } from './commands/ranking.js';
import { addResubmitCommand } from './commands/resubmit.js';
import { addRunCommands } from './commands/runs.js';
import { addServerCommand } from './commands/server.js';
import { addStatusCommand } from './commands/status.js';
import { addSubmitCommand } from './commands/submit.js';
import { addTokenCommand } from './commands/token.js';
import { addTopCommand } from './commands/top.js';
import { addUpCommand } from './commands/up.js';
import { addWhoamiCommand } from './commands/whoami.js';
import { createBareProgram, runProgram } from './run-program.js';

export function createProgram(): Command {
  const program = createBareProgram();
  addUpCommand(program);
  addServerCommand(program);
  addAgentCommand(program);
  addMcpCommand(program);
  addSubmitCommand(program);
  addJobCommands(program);
  addResubmitCommand(program);
  addAttemptCommands(program);
  addExplainCommand(program);
  addCodeCommand(program);
  addLogsCommand(program);
  addStatusCommand(program);
  addTopCommand(program);
  addNodesCommand(program);
  addRunCommands(program);
  addMetricsCommands(program);
  addProjectsCommand(program);
  addEventsCommands(program);
  addEvaluateCommand(program);
  addRankingCommands(program);
  addExportCommand(program);
  addTokenCommand(program);
  addBackupCommands(program);
  addGcCommand(program);
  addLoginCommands(program);
  addConsoleCommand(program);
  addWhoamiCommand(program);
  addConfigCommand(program);
  addCompletionCommand(program);
  return program;
}

export async function main(argv: readonly string[]): Promise<void> {
  await runProgram(createProgram(), argv);
}
