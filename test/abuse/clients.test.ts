import { describeRows } from './row.js';
import { CLIENT_ROWS } from './rows/clients.js';

describeRows('slow, idle and pushing clients', CLIENT_ROWS);
