import type { Command } from 'commander';
import type { ConnectionOptions } from '../settings.js';
import { UsageError } from '../failure.js';
import { note } from '../output/print.js';
import { withServer } from './connected.js';
import { parseInteger, parsePair } from './parse.js';

export function addAgentCommand(program: Command): void {
  withServer(program.command('agent'))
    .description('run the agent of this host: it takes jobs from the server and runs them')
    .option(
      '--config <file>',
      'plugins of the agent (default: ./svc.agent.config.ts, else those that come with svc)',
    )
    .option('--token-file <file>', 'file with the token: no other program sees it, unlike --token')
    .option('--token-stdin', 'read the token from standard input')
    .option('--name <name>', "the node's name (default: the host's)")
    .option('--state-dir <dir>', "the agent's own directory: node id, attempts, logs (default ~/.svc)")
    .option('--run-as <user>', 'user as whom jobs run; needs an agent that is root (default: as the agent)')
    .option('--label <k=v>', 'label that a job may select by; may be repeated', parsePair)
    .option('--max-cpu-jobs <n>', 'jobs without a GPU at a time (default: logical CPUs)', parseInteger)
    .option('--virtual-gpus <n>', 'slots that stand for no device, for trying out', parseInteger)
    .option(
      '--keep-attempts-days <n>',
      'so long the files of an attempt stay here after its end (default: 7; 0: not at all)',
      parseInteger,
    )
    .option('--spool-max-mb <n>', 'what logs may take on the disk of this host (default: 1024)', parseInteger)
    .option(
      '--replay-mb-per-s <n>',
      'what was logged without a server is sent so fast (default: 32)',
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
          "the argument list of a process is everyone's to read: give the token by --token-file FILE or --token-stdin",
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
  readonly keepAttemptsDays?: number;
  readonly spoolMaxMb?: number;
  readonly replayMbPerS?: number;
}
