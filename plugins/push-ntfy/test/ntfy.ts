import { realNtfy } from './real-ntfy.js';
import { rulesOfNtfy } from './rules-of-ntfy.js';

/** A publish as a subscriber of its topic gets it. */
export interface Message {
  readonly title: string;
  readonly message: string;
  readonly priority: number;
  readonly tags: readonly string[];
}

/** A server in which nobody may publish without its token. */
export interface Ntfy {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string;
  /** What was published to that topic, oldest first. */
  messages(topic: string): Promise<readonly Message[]>;
  close(): Promise<void>;
}

/** The program of a real server, to run the tests with it too. */
const program = process.env['SVC_TEST_NTFY'];

export const servers: readonly (readonly [what: string, start: () => Promise<Ntfy>])[] = [
  ['the rules of ntfy', rulesOfNtfy],
  ...(program ? [['a real ntfy server', () => realNtfy(program)] as const] : []),
];
