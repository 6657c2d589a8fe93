import { definePlugin, type Plugin } from '@svc/kernel';

/** Notes every event that it is told of; another tap beside it always throws. */
export function observer(seen: string[]): Plugin {
  return definePlugin({
    name: 'observer',
    setup(ctx) {
      ctx.hooks.eventAppended.tap(ctx.name, () => {
        throw new Error('an observer that fails');
      });
      ctx.hooks.eventAppended.tapPromise(ctx.name, (event) => {
        seen.push(event.id);
        return Promise.resolve();
      });
    },
  })();
}
