import type { Command, Option } from 'commander';
import type { ConnectionOptions } from '../settings.js';
import { findValues, type Candidate } from './values.js';

/** `files`: the shell is to complete names of files. */
export type Candidates = readonly Candidate[] | 'files';

/** Where in the command line the word stands that is to be completed. */
interface Place {
  readonly command: Command;
  /** Words before it that are neither options nor commands. */
  readonly operands: number;
  /** The option whose value it is. */
  readonly option: Option | null;
  readonly isAfterDashes: boolean;
  readonly connection: ConnectionOptions;
}

/** As `--status=QUEUED`. */
const WITH_VALUE = /^(--[^=]+)=(.*)$/s;

/** What may stand in the place of the last word, after the words before it. */
export async function findCandidates(program: Command, words: readonly string[]): Promise<Candidates> {
  const current = words.at(-1) ?? '';
  const place = findPlace(program, words.slice(0, -1));
  const [, long = '', value = ''] = place.isAfterDashes ? [] : (WITH_VALUE.exec(current) ?? []);
  const assigned = long && !isInner(place.command, place.operands) ? findOption(place.command, long) : null;
  if (assigned) return prefixed(`${long}=`, matching(await findValues(assigned, place.connection), value));
  const { command, operands, option, isAfterDashes, connection } = place;
  if (option !== null) return matching(await findValues(option, connection), current);
  if (isInner(command, operands)) return 'files';
  if (current.startsWith('-') && !isAfterDashes) return matching(toOptions(command), current);
  const argument = command.registeredArguments[Math.min(operands, command.registeredArguments.length - 1)];
  const isTaken =
    argument === undefined || (operands >= command.registeredArguments.length && !argument.variadic);
  const values = isTaken ? [] : await findValues(argument, connection);
  if (values === 'files') return 'files';
  return matching([...(operands === 0 ? toCommands(command) : []), ...values], current);
}

function findPlace(program: Command, words: readonly string[]): Place {
  let command = program;
  let operands = 0;
  const connection: Record<string, string> = {};
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') {
      const rest = words.length - at - 1;
      return { command, operands: operands + rest, option: null, isAfterDashes: true, connection };
    }
    const [, long = word, value] = WITH_VALUE.exec(word) ?? [];
    const option = word.startsWith('-') && !isInner(command, operands) ? findOption(command, long) : null;
    if (option && value !== undefined) {
      connection[option.attributeName()] = value;
    } else if (option?.required || option?.optional) {
      if (at === words.length - 1) return { command, operands, option, isAfterDashes: false, connection };
      connection[option.attributeName()] = words[at + 1] ?? '';
      at += 1;
    } else if (!word.startsWith('-') || isInner(command, operands)) {
      const inner = operands === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      if (inner) command = inner;
      else operands += 1;
    }
  }
  return { command, operands, option: null, isAfterDashes: false, connection };
}

/** Whether the word belongs to a program that the command starts, as in `svc submit python3 train.py`. */
function isInner(command: Command, operands: number): boolean {
  const { _passThroughOptions: passes } = command as Command & { _passThroughOptions?: boolean };
  return passes === true && operands > 0;
}

function findOption(command: Command, word: string): Option | null {
  return command.options.find(({ short, long }) => word === short || word === long) ?? null;
}

function toOptions(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long ? [{ word: long, description }] : []));
}

function toCommands(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ word: each.name(), description: each.description() }));
}

function prefixed(prefix: string, values: Candidates): Candidates {
  if (values === 'files') return values;
  return values.map(({ word, description }) => ({ word: prefix + word, description }));
}

/** Words in capitals are found in lower case too, as commands take them. */
function matching(values: Candidates, current: string): Candidates {
  if (values === 'files') return values;
  return values.flatMap((candidate) => {
    const lower = { ...candidate, word: candidate.word.toLowerCase() };
    return [candidate, lower].find(({ word }) => word.startsWith(current)) ?? [];
  });
}
