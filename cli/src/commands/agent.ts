import type { Command } from 'commander';
import type { ConnectionOptions } from '../settings.js';
import { UsageError } from '../failure.js';
import { note } from '../output/print.js';
import { withServer } from './connected.js';
import { parseInteger, parsePair, parseRepeated } from './parse.js';

export function addAgentCommand(program: Command): void {
  withServer(program.command('agent'))
    .description('run the agent of this host, which runs the jobs that the server sends')
    .option(
      '--config <file>',
      'file with the list of plugins (default: ./svc.agent.config.ts, else the list that comes with svc)',
    )
    .option(
      '--token-file <file>',
      'file with the token; unlike --token, it is hidden from other users of this host',
    )
    .option('--token-stdin', 'read the token from standard input')
    .option('--name <name>', 'name of the node (default: the host name)')
    .option(
      '--state-dir <dir>',
      'directory for the node id, attempts and logs (default: ~/.svc, whatever SVC_DATA_DIR is)',
    )
    .option(
      '--run-as <user>',
      'user that jobs run as; the agent must be root (default: the user of the agent)',
    )
    .option('--label <k=v>', 'label by which jobs select nodes; may be repeated', parsePair)
    .option(
      '--max-cpu-jobs <n>',
      'number of jobs without a GPU that run at the same time (default: number of logical CPUs)',
      parseInteger,
    )
    .option('--virtual-gpus <n>', 'number of simulated GPU slots, for tests without GPUs', parseInteger)
    .option(
      '--disk <dir>',
      'directory whose disk is measured too, such as that of the data sets; may be repeated (default: the disks of the state directory and of the working directories of running jobs)',
      parseRepeated,
    )
    .option(
      '--keep-attempts-days <n>',
      'days for which the records and logs of an attempt are kept after its end (default: 7; 0 removes them at once); a work directory that contains files is always kept',
      parseInteger,
    )
    .option('--spool-max-mb <n>', 'disk space for logs on this host, in MiB (default: 1024)', parseInteger)
    .option(
      '--replay-mb-per-s <n>',
      'speed at which logs are sent after an outage of the server, in MiB/s (default: 32)',
      parseInteger,
    )
    .addHelpText(
      'after',
      '\nExample:\n  svc agent --url http://server:8600 --token-file /etc/svc/agent-token --label rack=b2',
    )
    .action(async (options: AgentCommandOptions) => {
      const { token, tokenFile, tokenStdin } = options;
      if ([token, tokenFile, tokenStdin].filter((given) => given !== undefined).length > 1)
        throw new UsageError('give the token once: --token-file FILE, --token-stdin or --token TOKEN');
      if (token !== undefined)
        note(
          'every user of this host can read the arguments of a process: give the token by --token-file FILE or --token-stdin',
        );
      const { runAgent } = await import('../run-agent.js');
      await runAgent(options);
    });
}

export interface AgentCommandOptions extends ConnectionOptions {
  readonly config?: string;
  readonly tokenFile?: string;
  readonly tokenStdin?: boolean;
  readonly name?: string;
  readonly stateDir?: string;
  readonly runAs?: string;
  readonly label?: Record<string, string>;
  readonly maxCpuJobs?: number;
  readonly virtualGpus?: number;
  readonly disk?: readonly string[];
  readonly keepAttemptsDays?: number;
  readonly spoolMaxMb?: number;
  readonly replayMbPerS?: number;
}
