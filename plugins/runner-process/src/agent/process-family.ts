import { readFileSync, readdirSync } from 'node:fs';

/** The descendants of a process, as long as their parents live. It reads no other processes, so it is cheap. */
export function familyOf(pid: number): Set<number> {
  const family = new Set([pid]);
  // The loop also visits what is added.
  for (const member of family) for (const child of childrenOf(member)) family.add(child);
  family.delete(pid);
  return family;
}

/** Each thread lists the children that it started. Empty when the process has ended or cannot be read. */
function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((tid) =>
      readChildren(`/proc/${pid}/task/${tid}/children`),
    );
  } catch {
    return [];
  }
}

function readChildren(file: string): number[] {
  try {
    return readFileSync(file, 'latin1').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
