import { definePlugin, type Plugin, type PluginContext } from '@svc/kernel';

/** A plugin of that name, through which a test adds its routes. */
export function plugin(name: string, setup: (ctx: PluginContext) => void): Plugin {
  return definePlugin({ name, setup })();
}
