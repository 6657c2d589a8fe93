import { definePlugin, type Plugin } from '@svc/kernel';
import { eventAppended } from '../src/index.js';

/** Notes every event that it is told of; another tap beside it always throws. */
export function observer(seen: string[]): Plugin {
  return definePlugin({
    name: 'observer',
    requires: ['events'],
    setup(ctx) {
      ctx.tap(eventAppended, () => {
        throw new Error('an observer that fails');
      });
      ctx.tap(eventAppended, (event) => {
        seen.push(event.id);
        return Promise.resolve();
      });
    },
  })();
}
