import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { identify, type ProcessIdentity } from '../../src/agent/process-table.js';

/** Prints a line when its second thread runs. */
const MORTAL = [
  'import threading, time',
  'threading.Thread(target=time.sleep, args=(300,)).start()',
  'print("ready", flush=True)',
].join('\n');

/** Traces the second thread, so that it stops at its end until the tracer ends, and prints the pid. */
const TRACER = [
  'import ctypes, os, subprocess, sys',
  'SEIZE, TRACE_EXIT = 0x4206, 0x40',
  `command = [sys.executable, "-S", "-c", ${JSON.stringify(MORTAL)}]`,
  'environment = dict(pair.split("=", 1) for pair in sys.argv[1:])',
  'mortal = subprocess.Popen(command, env=environment, start_new_session=True, stdout=subprocess.PIPE)',
  'mortal.stdout.readline()',
  '(thread,) = {int(name) for name in os.listdir(f"/proc/{mortal.pid}/task")} - {mortal.pid}',
  'ptrace = ctypes.CDLL(None).ptrace',
  'ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]',
  'assert ptrace(SEIZE, thread, None, TRACE_EXIT) == 0',
  'print(mortal.pid, flush=True)',
  'sys.stdin.read()',
].join('\n');

export interface SlowDeath extends ProcessIdentity {
  /** Lets it end, if it was killed. */
  release(): Promise<void>;
}

/**
 * A process in a session of its own, with that environment, that is not gone when it is killed: its main thread ends, and another is still
 * on its way, as while a large memory is given back.
 */
export async function startSlowDeath(env: Record<string, string>): Promise<SlowDeath> {
  const pairs = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const tracer = spawn('python3', ['-S', '-c', TRACER, ...pairs], { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = once(tracer, 'exit');
  const [line] = (await once(createInterface(tracer.stdout), 'line')) as [string];
  const identity = identify(Number(line));
  if (identity === null) throw new Error('it did not start');
  const release = async (): Promise<void> => {
    tracer.stdin.end();
    await gone;
  };
  return { ...identity, release };
}
