import { describeRows } from './row.js';
import { COMMAND_ROWS } from './rows/commands.js';

describeRows('what a command is answered', COMMAND_ROWS);
