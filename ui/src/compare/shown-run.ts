import type { ComparedRun } from '../data/comparison.js';
import { shortId } from '../format.js';
import { runColor } from './run-colors.js';
import { commonStart } from '../run-names.js';

/** A run as the parts of a comparison show it: by one name and one colour. */
export interface ShownRun extends ComparedRun {
  readonly id: string;
  /** Its name, with the end of its id where another run has the same name. */
  readonly label: string;
  /** What `label` has beyond what all runs begin with. */
  readonly own: string;
  readonly color: string;
  readonly isHidden: boolean;
}

/** `places`: of the address, which name the runs as they were asked for. */
export function toShownRuns(
  runs: readonly ComparedRun[],
  { places, hidden }: { readonly places: readonly string[]; readonly hidden: readonly string[] },
): ShownRun[] {
  const counts = new Map<string, number>();
  for (const { run } of runs) counts.set(run.name, (counts.get(run.name) ?? 0) + 1);
  const labels = runs.map(({ run: { id, name } }) =>
    counts.get(name) === 1 ? name : `${name} (${shortId(id)})`,
  );
  const start = commonStart(runs.map(({ run }) => run.name)).length;
  return runs.map((one, at) => {
    const { id } = one.run;
    const label = labels[at]!;
    const color = runColor(places.indexOf(one.asked));
    return { ...one, id, label, own: label.slice(start), color, isHidden: hidden.includes(id) };
  });
}
