import { describeRows } from './row.js';
import { READ_ROWS } from './rows/reads.js';

describeRows('the largest answers', READ_ROWS);
