import type { TokenScope } from '../data/tokens.js';

/** What a token of each scope is for, as docs/security.md has it in full. */
export const SCOPE_WORDS: Readonly<Record<TokenScope, string>> = {
  read: 'Sees everything in the console and the API, except tokens and the values of environment variables.',
  write:
    'May do everything: submit, cancel and retry jobs, see environment variables, manage tokens, remove records.',
  sdk: 'Reports runs from training scripts: creates runs, sends metrics, checkpoints and events. Reads nothing.',
  agent: 'Connects a GPU host as a node. Needed once for each host.',
};

/** Tokens that the server makes by itself. */
export const INGEST_WORDS =
  'Run ingest: the server makes one for each attempt of a job and each run that an SDK creates. It writes to that run alone, ends with it, and is not listed here.';
