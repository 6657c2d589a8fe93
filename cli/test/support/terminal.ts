import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { SVC, ROOT } from './svc.js';

/** Ends the program of a test that failed. */
export const LONGEST_MS = 25_000;

/** On a terminal of so many columns: `script` writes what it shows to stdout. */
export function startOnTerminal(columns: number, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const command = [process.execPath, SVC, ...args].map((word) => `'${word}'`).join(' ');
  const program = spawn('script', ['-qfec', `stty cols ${columns}; exec ${command}`, '/dev/null'], {
    timeout: LONGEST_MS,
    env: { ...process.env, TERM: 'xterm', ...env },
  });
  return watchProgram(program);
}

export function watchProgram(program: ChildProcessWithoutNullStreams) {
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    program[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text));
  const ended = once(program, 'close').then(([status]) => status as unknown);
  const stop = async (): Promise<void> => {
    program.kill();
    await ended;
  };
  const type = (keys: string) => program.stdin.write(keys);
  return { ended, stop, type, stdout: () => written.stdout, stderr: () => written.stderr };
}

/** Runs a program on a terminal, types the answer when it is asked, and writes what the terminal shows. */
const TYPIST = `import fcntl, os, pty, struct, sys, termios, time
question, answer, is_hidden = (os.environ.pop(name) for name in ('QUESTION', 'ANSWER', 'IS_HIDDEN'))
pid, fd = pty.fork()
if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 120, 0, 0))
shown = b''
while question.encode() not in shown: shown += os.read(fd, 1000)
deadline = time.time() + 20
while is_hidden and termios.tcgetattr(fd)[3] & termios.ECHO and time.time() < deadline: time.sleep(0.01)
os.write(fd, answer.encode())
try:
  while True:
    piece = os.read(fd, 1000)
    if not piece: break
    shown += piece
except OSError: pass
sys.stdout.write(shown.decode()); sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;

interface Answer {
  readonly question: string;
  /** What is typed, with the keys that end it. */
  readonly text: string;
  /** Typed only once the terminal no longer shows what is typed. */
  readonly isHidden?: boolean;
}

/** Answers the one question of a command that ends. */
export async function answerOnTerminal(
  args: readonly string[],
  { question, text, isHidden = false }: Answer,
  env: NodeJS.ProcessEnv,
): Promise<{ status: number; shown: string }> {
  const typed = { QUESTION: question, ANSWER: text, IS_HIDDEN: isHidden ? '1' : '' };
  const program = spawn('python3', ['-c', TYPIST, process.execPath, SVC, ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], TERM: 'xterm', ...env, ...typed },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let shown = '';
  program.stdout.on('data', (piece: Buffer) => (shown += piece.toString()));
  const [status] = (await once(program, 'close')) as [number];
  return { status, shown };
}
