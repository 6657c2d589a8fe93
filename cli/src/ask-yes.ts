import { createInterface } from 'node:readline/promises';

/** Whether the user at the terminal types yes. */
export async function askYes(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // At the end of the input nobody answers any more.
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(`${question} Type yes: `), closed]);
  terminal.close();
  return answer.trim() === 'yes';
}
