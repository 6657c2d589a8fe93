import { addAgentCommand } from './commands/agent.js';
import { createBareProgram, runProgram } from './run-program.js';

/** `svc agent` alone: an agent lives long, and what only the other commands need would stay in its memory. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = createBareProgram();
  addAgentCommand(program);
  await runProgram(program, argv);
}
