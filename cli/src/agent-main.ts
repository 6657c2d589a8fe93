import { addAgentCommand } from './commands/agent.js';
import { createBareProgram, runProgram } from './run-program.js';

/** Only `svc agent`: a long-running agent should not load the code of the other commands. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = createBareProgram();
  addAgentCommand(program);
  await runProgram(program, argv);
}
