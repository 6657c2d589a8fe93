/** What the console shows of a run's environment snapshot, which is whatever the SDK, or somebody else, sent. */
export interface Environment {
  /** Everything small, as it came. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly packages: readonly string[];
  /** The uncommitted changes, and how many bytes of them were not sent. */
  readonly diff: string;
  readonly diffCutBytes: number;
  readonly commit: { readonly id: string; readonly branch: string | null; readonly isDirty: boolean } | null;
}

export type DiffKind = 'file' | 'added' | 'removed' | 'same';
export interface DiffPart {
  readonly kind: DiffKind;
  readonly text: string;
}

export function toEnvironment(snapshot: object): Environment {
  const { packages, git, ...rest } = snapshot as Record<string, unknown>;
  const { diff, ...repository } = isObject(git) ? git : {};
  const isList = Array.isArray(packages) && packages.every((one) => typeof one === 'string');
  const facts = {
    ...rest,
    ...(isObject(git) ? { git: repository } : git !== undefined && { git }),
    ...(!isList && packages !== undefined && { packages }),
  };
  const { commit, branch, dirty, diff_cut_bytes: cut } = repository;
  return {
    facts,
    packages: isList ? (packages as string[]) : [],
    diff: typeof diff === 'string' ? diff : '',
    diffCutBytes: typeof cut === 'number' ? cut : 0,
    commit:
      typeof commit === 'string'
        ? { id: commit, branch: typeof branch === 'string' ? branch : null, isDirty: dirty === true }
        : null,
  };
}

/** The lines of a diff, those of one kind that follow each other together. */
export function toDiffParts(diff: string): DiffPart[] {
  const parts: { kind: DiffKind; lines: string[] }[] = [];
  let isHead = true;
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    if (line.startsWith('diff --git ')) isHead = true;
    else if (line.startsWith('@@')) isHead = false;
    const kind = isHead || line.startsWith('@@') ? 'file' : toKind(line);
    const last = parts.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else parts.push({ kind, lines: [line] });
  }
  return parts.map(({ kind, lines }) => ({ kind, text: `${lines.join('\n')}\n` }));
}

function toKind(line: string): DiffKind {
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : 'same';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
