import { describeRows } from './row.js';
import { FRAME_ROWS } from './rows/frames.js';

describeRows('what an agent may send', FRAME_ROWS);
