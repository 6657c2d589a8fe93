import { readFileSync, readdirSync } from 'node:fs';

/** The processes that descend from one, as long as their parents live. Reads of no others, so it may be asked often. */
export function familyOf(pid: number): Set<number> {
  const family = new Set([pid]);
  // The loop also visits what is added.
  for (const member of family) for (const child of childrenOf(member)) family.add(child);
  family.delete(pid);
  return family;
}

/** Each thread has the children that it began itself. None: the process is gone, or not ours to look into. */
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
