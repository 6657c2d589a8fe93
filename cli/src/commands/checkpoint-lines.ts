import type { ListedCheckpoint } from '@svc/contract';
import { toAge, toShownId, toSize } from '../output/format.js';
import type { Paint } from '../output/style.js';
import { toTable, type Column } from '../output/table.js';

/** `node`: where the files are. A path is whole, as it is there to be copied: the last column may be wider than the terminal. */
export function toCheckpointLines(
  checkpoints: readonly ListedCheckpoint[],
  node: string,
  paint: Paint,
  width?: number,
): string[] {
  if (checkpoints.length === 0) return [];
  return ['', ...toTable(toCheckpointColumns(node, checkpoints), checkpoints, paint, width)];
}

const toCheckpointColumns = (
  node: string,
  checkpoints: readonly ListedCheckpoint[],
): readonly Column<ListedCheckpoint>[] => [
  { title: 'CHECKPOINT', cell: ({ id }) => toShownId(id) },
  { title: 'STEP', cell: ({ step }) => String(step ?? '-'), align: 'right' },
  { title: 'BEST', cell: ({ is_best }) => (is_best ? 'yes' : '') },
  { title: 'SIZE', cell: ({ size }) => toSize(size), align: 'right' },
  { title: 'CREATED', cell: ({ created_at }) => toAge(created_at) },
  ...(checkpoints.some(isDeleted) ? [DELETED] : []),
  { title: 'NODE', cell: () => node },
  { title: 'PATH', cell: ({ path }) => path },
];

const isDeleted = ({ deleted_at }: ListedCheckpoint): boolean => deleted_at !== null;

/** Since when the files were found to be gone. */
const DELETED: Column<ListedCheckpoint> = {
  title: 'DELETED',
  cell: ({ deleted_at }) => (deleted_at === null ? '' : toAge(deleted_at)),
  style: (checkpoint) => (isDeleted(checkpoint) ? 'yellow' : null),
};
