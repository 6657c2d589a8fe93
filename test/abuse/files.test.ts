import { describeRows } from './row.js';
import { FILE_ROWS } from './rows/files.js';

describeRows('what a job writes', FILE_ROWS);
