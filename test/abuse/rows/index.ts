import type { Row } from '../row.js';
import { CLIENT_ROWS } from './clients.js';
import { COMMAND_ROWS } from './commands.js';
import { FILE_ROWS } from './files.js';
import { FRAME_ROWS } from './frames.js';
import { HOST_ROWS } from './host.js';
import { READ_ROWS } from './reads.js';
import { ROUTE_ROWS } from './routes.js';
import { TARGETS_ROW } from './targets.js';

/** Every row of the table in docs/security.md, in its order. */
export const ALL_ROWS: readonly Row[] = [
  ...ROUTE_ROWS,
  ...READ_ROWS,
  ...FRAME_ROWS,
  ...FILE_ROWS,
  ...CLIENT_ROWS,
  ...COMMAND_ROWS,
  ...HOST_ROWS,
  TARGETS_ROW,
];
