import { readFileSync } from 'node:fs';
import path from 'node:path';
import ignore, { type Ignore } from 'ignore';

/** In the order in which they count: the last wins. */
const FILES = ['.gitignore', '.svcignore'];

/** What no source tree is about. */
const NO_SOURCE = `.git/ .hg/ .svn/ .jj/ node_modules/ .venv/ venv/ .tox/ __pycache__/ .mypy_cache/ .pytest_cache/ .ruff_cache/
  .ipynb_checkpoints/ svc-offline/`;
/** Where tokens, passwords and keys lie. */
const SECRETS = `.env .env.* .svc/ .config/ .ssh/ .aws/ .gnupg/ .kube/ .docker/ .netrc .npmrc .pypirc
  id_rsa* id_ed25519* id_ecdsa* *.pem *.key`;
/** A later rule of `.gitignore` or `.svcignore`, such as `!.env`, wins over these. */
const USUAL = `${NO_SOURCE} ${SECRETS}`.split(/\s+/);

export type Verdict = 'ignored' | 'wanted' | 'unsaid';

/** The rules that hold in one directory: its own, and those of the directories above it up to the root of the tree. */
export class IgnoreRules {
  readonly #above: IgnoreRules | null;
  readonly #directory: string;
  readonly #own: Ignore;

  private constructor(above: IgnoreRules | null, directory: string, rules: readonly string[]) {
    this.#above = above;
    this.#directory = directory;
    this.#own = ignore().add([...rules]);
  }

  static ofRoot(root: string): IgnoreRules {
    return new IgnoreRules(null, '', [...USUAL, ...readRules(root)]);
  }

  /** `directory` is relative to the root. */
  below(root: string, directory: string): IgnoreRules {
    const rules = readRules(path.join(root, directory));
    return rules.length === 0 ? this : new IgnoreRules(this, directory, rules);
  }

  /** `name` is relative to the root; a directory's ends with a slash. */
  judge(name: string): Verdict {
    const { ignored, unignored } = this.#own.test(
      name.slice(this.#directory === '' ? 0 : this.#directory.length + 1),
    );
    if (ignored) return 'ignored';
    if (unignored) return 'wanted';
    return this.#above?.judge(name) ?? 'unsaid';
  }
}

function readRules(directory: string): string[] {
  return FILES.flatMap((name) => {
    try {
      return readFileSync(path.join(directory, name), 'utf8').split('\n');
    } catch {
      return [];
    }
  });
}
