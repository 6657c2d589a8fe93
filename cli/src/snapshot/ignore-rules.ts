import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { readLines } from './rule-file.js';

/** In the order in which they count: the last wins. */
const FILES = ['.gitignore', '.svcignore'];

/** What no source tree is about. */
const NO_SOURCE = `.git .hg/ .svn/ .jj/ node_modules/ .venv/ venv/ .tox/ __pycache__/ .mypy_cache/ .pytest_cache/ .ruff_cache/
  .ipynb_checkpoints/ svc-offline/`;
/** Where tokens, passwords and keys lie. */
const SECRETS = `.env .env.* .svc/ .config/ .ssh/ .aws/ .gnupg/ .kube/ .docker/ .netrc .npmrc .pypirc
  id_rsa* id_ed25519* id_ecdsa* *.pem *.key`;
/** A later rule of `.gitignore` or `.svcignore`, such as `!.env`, wins over these. */
const USUAL = `${NO_SOURCE} ${SECRETS}`.split(/\s+/);

export type Verdict = 'ignored' | 'wanted' | 'unsaid';

/** The rules that hold in one directory: its own, and those of the directories above it up to the root of its repository. */
export class IgnoreRules {
  readonly #above: IgnoreRules | null;
  readonly #own: Ignore;
  /** The name of a file of the tree, as the own rules see it. */
  readonly #toOwn: (name: string) => string;

  private constructor(
    above: IgnoreRules | null,
    rules: readonly string[],
    toOwn = (name: string): string => name,
  ) {
    this.#above = above;
    this.#own = ignore().add([...rules]);
    this.#toOwn = toOwn;
  }

  static ofRoot(root: string): IgnoreRules {
    const above = ofRepository(root).reduce<IgnoreRules | null>(
      (rules, { prefix, lines }) => new IgnoreRules(rules, lines, (name) => prefix + name),
      null,
    );
    return new IgnoreRules(above, [...USUAL, ...readRules(root)]);
  }

  /** `directory` is relative to the root. */
  below(root: string, directory: string): IgnoreRules {
    const rules = readRules(path.join(root, directory));
    return rules.length === 0
      ? this
      : new IgnoreRules(this, rules, (name) => name.slice(directory.length + 1));
  }

  /** `name` is relative to the root; a directory's ends with a slash. */
  judge(name: string): Verdict {
    const { ignored, unignored } = this.#own.test(this.#toOwn(name));
    if (ignored) return 'ignored';
    if (unignored) return 'wanted';
    return this.#above?.judge(name) ?? 'unsaid';
  }
}

/** Rules of a directory above the root. */
interface RulesAbove {
  /** The root, relative to that directory; ends with a slash unless it is empty. */
  readonly prefix: string;
  readonly lines: readonly string[];
}

/** What the repository around the root says, outermost first. Empty: it lies in none. */
function ofRepository(root: string): RulesAbove[] {
  const start = realpathSync(root);
  const directories = [start];
  let top = start;
  while (!existsSync(path.join(top, '.git'))) {
    const parent = path.dirname(top);
    if (parent === top) return [];
    directories.unshift(parent);
    top = parent;
  }
  const toAbove = (directory: string, lines: readonly string[]): RulesAbove => {
    const relative = path.relative(directory, start);
    const prefix = relative && `${relative}/`;
    return { prefix, lines: lines.filter((line) => !names(line, prefix)) };
  };
  const parents = directories.slice(0, -1).map((each) => toAbove(each, readRules(each)));
  return [toAbove(top, readLines(path.join(toGitDirectory(top), 'info', 'exclude'))), ...parents];
}

/** Whether a rule leaves out the root itself: it does not count, because the user names the root. */
function names(line: string, prefix: string): boolean {
  return prefix !== '' && ignore().add(line).ignores(prefix);
}

/** Of a linked worktree, `.git` is a file that names a directory, whose `commondir` names the one of the repository. */
function toGitDirectory(top: string): string {
  const named = path.join(top, '.git');
  const [first = ''] = readLines(named);
  if (!first.startsWith('gitdir: ')) return named;
  const own = path.resolve(top, first.slice('gitdir: '.length));
  const [common = ''] = readLines(path.join(own, 'commondir'));
  return path.resolve(own, common);
}

function readRules(directory: string): string[] {
  return FILES.flatMap((name) => readLines(path.join(directory, name)));
}
