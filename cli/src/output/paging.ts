import { toCommandLine } from './format.js';
import { note } from './print.js';

/** Says on stderr how the list goes on: the same command, with another `--before`. A token is not repeated. */
export function noteOlder(before: string | number, argv: readonly string[] = process.argv.slice(2)): void {
  note(
    `older ones: ${toCommandLine(['svc', ...without(argv, ['--before', '--token']), '--before', String(before)])}`,
  );
}

function without(argv: readonly string[], options: readonly string[]): string[] {
  return argv.filter((word, at) => {
    const isValue = options.includes(argv[at - 1] ?? '');
    return !isValue && !options.some((option) => word === option || word.startsWith(`${option}=`));
  });
}
