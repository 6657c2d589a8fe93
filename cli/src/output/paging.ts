import { toCommandLine } from '@svc/client';
import { note } from './print.js';

/** Says on stderr how the list goes on: the same command, with another `--before`. A token is not repeated. */
export function noteOlder(before: string | number, argv: readonly string[] = process.argv.slice(2)): void {
  note(`older ones: ${toCommand(argv, '--before', before)}`);
}

/** Says on stderr that a list without pages is full: the same command with the largest limit, where that is more. */
export function noteLimit(
  limit: number,
  most: number,
  argv: readonly string[] = process.argv.slice(2),
): void {
  const more = limit < most ? `; for more: ${toCommand(argv, '--limit', most)}` : '';
  note(`at most ${limit} are listed${more}`);
}

function toCommand(argv: readonly string[], option: string, value: string | number): string {
  return toCommandLine(['svc', ...without(argv, [option, '--token']), option, String(value)]);
}

function without(argv: readonly string[], options: readonly string[]): string[] {
  return argv.filter((word, at) => {
    const isValue = options.includes(argv[at - 1] ?? '');
    return !isValue && !options.some((option) => word === option || word.startsWith(`${option}=`));
  });
}
