import { rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { createKernel, loadConfig, type Kernel, type ResolvedConfig, type ResolveOptions } from '@svc/kernel';
import { loadLocalServer, serverFile, toLocalServer } from '@svc/client/local-server';
import { authRef } from '@svc/plugin-auth';
import { Failure } from './failure.js';
import { stopSignal, notifyReady, untilAborted } from './lifetime.js';
import { printLines } from './output/print.js';

/** Starts the server; it ends, and the process with it, when told to stop. Throws the BootError of a boot that fails. */
export async function serve(configFile: string, flags: NonNullable<ResolveOptions['flags']>): Promise<void> {
  const stop = stopSignal();
  const config = await loadConfig(configFile, { flags });
  refuseSecondServer(config);
  const kernel = createKernel(config);
  const stopped = untilAborted(stop).then(() => end(kernel, config));
  const address = await kernel.start().catch(async (error: unknown) => {
    if (stop.aborted) await stopped;
    throw error;
  });
  saveAddress(config.dataDir, address.url);
  showFirstToken(kernel, config);
  printLines([toListening(address)]);
  notifyReady({ url: address.url, dataDir: config.dataDir });
}

/** The lock of the kernel refuses it, too, but does not know where the first one is. */
function refuseSecondServer({ dataDir }: ResolvedConfig): void {
  const first = loadLocalServer(dataDir);
  if (first === null) return;
  throw new Failure(
    `a server is running on the data directory ${dataDir}: it is at ${first.url} (process ${first.pid}); stop it first`,
  );
}

/** On all addresses, the one for other hosts is as far as this host knows it: its name. */
export function toListening({ host, port, url }: { host: string; port: number; url: string }): string {
  if (!['0.0.0.0', '::'].includes(host)) return `svc server listens on ${url}`;
  return `svc server listens on all addresses of this host: ${url} here, http://${os.hostname()}:${port} from other hosts`;
}

/** Exits rather than returns: a plugin that could not be closed must not keep the process. */
async function end(kernel: Kernel, { dataDir }: ResolvedConfig): Promise<never> {
  rmSync(serverFile(dataDir), { force: true });
  await kernel.close();
  process.exit();
}

/** Saves the address for the command line on this host. A failure, such as a full disk, does not stop the server. */
function saveAddress(dataDir: string, url: string): void {
  const file = serverFile(dataDir);
  try {
    writeFileSync(file, `${JSON.stringify(toLocalServer(url))}\n`, { mode: 0o600 });
  } catch (error) {
    const reason = (error as Error).message;
    process.stderr.write(`${file} cannot be written (${reason}): svc on this host needs --url ${url}\n`);
  }
}

/** The token is shown only on a terminal: other outputs may be stored and read by others. */
function showFirstToken(kernel: Kernel, { dataDir, plugins }: ResolvedConfig): void {
  if (!plugins.some(({ name }) => name === authRef.plugin)) return;
  const token = kernel.use(authRef).takeFirstToken();
  if (token === null) return;
  const file = `${dataDir}/token`;
  printLines(
    process.stdout.isTTY
      ? [
          `first token, of write scope: ${token}`,
          `it is not shown again; it is also in ${file}, where svc on this host finds it`,
        ]
      : [`made the first token, of write scope: it is in ${file}, where svc on this host finds it`],
  );
}
