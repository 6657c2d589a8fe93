const said = new Set<string>();

/** A warning of that key is said once in a process: a training has other things to print. */
export function warnOnce(key: string, message: string): void {
  if (said.has(key)) return;
  said.add(key);
  tell(message);
}

export function tell(message: string): void {
  process.stderr.write(`svc: ${message}\n`);
}
