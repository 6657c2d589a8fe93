import os from 'node:os';
import process from 'node:process';

export interface AgentUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** As whom the agent runs. A user may have no name on this host, as in a container with `--user 1234`: the number stands for it. */
export function agentUser(): AgentUser {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  try {
    return { name: os.userInfo().username, uid, gid };
  } catch {
    return { name: `uid ${uid}`, uid, gid };
  }
}
