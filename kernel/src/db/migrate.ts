import type { Db } from './connect.js';

/** Forward only, in a transaction of its own. `name` is `0001-init`; stored as `<plugin>/0001-init`. */
export interface Migration {
  readonly name: string;
  up(db: Db): Promise<void>;
}
