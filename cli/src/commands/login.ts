import { ApiError, createClient } from '@svc/client';
import { routes, type Whoami } from '@svc/contract';
import { toProfilesFile } from '@svc/client/profiles';
import type { Command } from 'commander';
import { Failure, UsageError } from '../failure.js';
import { toSentence } from '../output/api-error.js';
import { note, print, printLines } from '../output/print.js';
import { toTable } from '../output/table.js';
import { loadProfiles, removeProfile, saveProfile, selectProfile } from '../profile-file.js';
import { askSecret, readSecret } from '../read-secret.js';
import { requireAddress } from '../settings.js';
import { parseName } from './parse.js';

const TIMEOUT_MS = 15_000;
/** Each of them decides before the current profile does. */
const DECIDING = ['SVC_URL', 'SVC_PROFILE', 'SVC_DATA_DIR'] as const;

export function addLoginCommands(program: Command): void {
  program
    .command('login')
    .description('save the address of a server and a token for it, which svc and the SDKs then use')
    .argument('<url>', 'address of the server')
    .option(
      '--profile <name>',
      'name to save it under (default: the host and port of the address)',
      parseName,
    )
    .option('--token-stdin', 'read the token from standard input (default: ask for it)')
    .addHelpText(
      'after',
      '\nExamples:\n  svc login https://svc.example.org\n  svc login http://server:8600 --profile lab --token-stdin',
    )
    .action(logIn);

  program
    .command('logout')
    .description('remove a saved server and its token from this host; the token itself stays valid')
    .option('--profile <name>', 'profile to remove (SVC_PROFILE; default: the current one)')
    .addHelpText('after', '\nExample:\n  svc logout --profile lab')
    .action(logOut);

  const profile = program
    .command('profile')
    .description('list and select the servers that svc login has saved')
    .addHelpText('after', '\nExample:\n  svc profile use lab');
  profile
    .command('list')
    .description('list saved servers, without their tokens')
    .option('--json', 'print the answer as JSON')
    .addHelpText('after', '\nExample:\n  svc profile list')
    .action(listProfiles);
  profile
    .command('use')
    .description('use a saved server from now on')
    .argument('<name>', 'name of the profile, as listed by svc profile list')
    .addHelpText('after', '\nExample:\n  svc profile use lab')
    .action(useProfile);
}

interface LoginOptions {
  readonly profile?: string;
  readonly tokenStdin?: boolean;
}

async function logIn(given: string, { profile, tokenStdin }: LoginOptions): Promise<void> {
  const url = requireAddress(given);
  const name = profile ?? new URL(url).host;
  const token = await readToken(url, tokenStdin === true);
  const caller = await checkToken(url, token);
  refuseMachineScope(caller);
  await saveProfile(name, { url, token });
  const access = `scope ${caller.scope}, ${caller.can_write ? 'can write' : 'cannot write'}`;
  printLines([
    `logged in to ${url} as ${caller.name} (${access}); saved as profile ${name} in ${toProfilesFile()}`,
  ]);
  noteWhatDecides(name);
}

async function readToken(url: string, isFromStdin: boolean): Promise<string> {
  if (!isFromStdin && !process.stdin.isTTY)
    throw new UsageError('there is no terminal to ask for the token: give it with --token-stdin');
  const token = isFromStdin ? await readSecret() : await askSecret(`token for ${url}: `);
  if (token === '')
    throw new Failure('no token was given; svc token create on the host of the server makes one');
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Failure('that is no token: a token is one word of letters and digits');
  return token;
}

/** Nothing is saved that the server does not accept. */
async function checkToken(url: string, token: string): Promise<Whoami> {
  try {
    return await createClient({ url, token }, { timeoutMs: TIMEOUT_MS }).call(routes.whoami);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const reason =
      error.code === 'unauthorized' ? `${url} refuses this token: ${error.message}` : toSentence(error);
    throw new Failure(`${reason}; nothing was saved`, { cause: error });
  }
}

/** Such a token cannot do what the commands of a person need. */
function refuseMachineScope({ scope }: Whoami): void {
  const user = { agent: 'svc agent --token-file FILE takes it', sdk: 'a training takes it as SVC_TOKEN' }[
    scope as string
  ];
  if (user !== undefined)
    throw new Failure(
      `this token has the scope ${scope}: ${user}. svc login takes one of read or write scope (svc token create --name NAME --scope write makes one); nothing was saved`,
    );
}

function noteWhatDecides(name: string): void {
  const deciding = DECIDING.find((variable) => process.env[variable]?.trim());
  if (deciding !== undefined)
    note(
      `${deciding} is set in this shell and decides before the profile; to use it, unset ${deciding} or give --profile ${name}`,
    );
}

async function logOut({ profile }: { readonly profile?: string }): Promise<void> {
  const name = profile ?? (process.env['SVC_PROFILE']?.trim() || loadProfiles().current);
  if (name === null)
    throw new Failure('there is no current profile; svc profile list shows those that are saved');
  const { url } = await removeProfile(name);
  printLines([`removed profile ${name} (${url})`]);
  note('its token stays valid until it expires or is revoked with svc token revoke');
}

function listProfiles({ json }: { readonly json?: boolean }): void {
  const { current, byName } = loadProfiles();
  const items = [...byName].map(([name, { url }]) => ({ name, url, is_current: name === current }));
  print({ items }, json, (_answer, paint) =>
    items.length > 0 ? toTable(COLUMNS, items, paint) : ['no profiles; svc login URL makes one'],
  );
}

interface Shown {
  readonly name: string;
  readonly url: string;
  readonly is_current: boolean;
}

const COLUMNS = [
  { title: 'NAME', cell: ({ name }: Shown) => name },
  { title: 'URL', cell: ({ url }: Shown) => url },
  { title: 'CURRENT', cell: ({ is_current }: Shown) => (is_current ? 'yes' : '') },
];

async function useProfile(name: string): Promise<void> {
  const { url } = await selectProfile(name);
  printLines([`${name} (${url}) is used from now on`]);
  noteWhatDecides(name);
}
