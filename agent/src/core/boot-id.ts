import { readFileSync } from 'node:fs';

/** The boot of this host: a process seen in another boot is gone. */
export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
