const KEY = 'svc.charts.folds';

/** Which sections of charts somebody has opened and closed, in this tab, for all runs. */
export class ChartFolds {
  readonly #folds: Map<string, boolean> = load();

  /** null: nobody has said. */
  isOpen(section: string): boolean | null {
    return this.#folds.get(section) ?? null;
  }

  set(section: string, isOpen: boolean): void {
    this.#folds.set(section, isOpen);
    sessionStorage.setItem(KEY, JSON.stringify([...this.#folds]));
  }
}

function load(): Map<string, boolean> {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as [string, boolean][]);
  } catch {
    return new Map();
  }
}
