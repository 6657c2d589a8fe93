import { submit, untilJob } from '../../test/support/workplace.js';
import { createRuns } from './data.js';
import { inRounds, toRow, type Stage } from './stage.js';
import type { Tab } from './tab.js';

const RUN_ROW_PX = 20;
/** Faster than a wheel is turned; the log is crossed in about twenty seconds. */
const PIXELS_PER_FRAME = 1_500;

interface Scrolled {
  readonly longest: number;
  readonly height: number;
  readonly frames: number;
}

/** The longest frame while a long log and a long list of runs are scrolled from end to end. */
export async function measureScrolling(
  stage: Stage,
  { runs, lines }: { runs: number; lines: number },
): Promise<string[][]> {
  const { server, token } = stage;
  const program = `BEGIN { for (i = 0; i < ${lines}; i++) printf "step %08d loss 0.123456 lr 3.0e-04 tokens/s 123456\\n", i }`;
  const { id } = await submit(server.client, { command: ['awk', program], resources: { cpu_only: true } });
  await untilJob(server.client, id, ({ status }) => status === 'SUCCEEDED');
  const inLog = await inRounds(stage, { token }, async (tab) => {
    await tab.page.goto(`${server.url}/jobs/${id}`);
    await tab.page
      .getByText(`step ${String(lines - 1).padStart(8, '0')}`)
      .first()
      .waitFor();
    return scrollBothWays(tab, -1);
  });
  await createRuns(server.client, runs);
  const inRuns = await inRounds(stage, { token }, async (tab) => {
    await tab.page.goto(`${server.url}/runs`);
    await tab.page.getByText(`resnet-50 #`).first().waitFor();
    return scrollBothWays(tab, 1);
  });
  const longest = (all: readonly Scrolled[]) => all.map((one) => one.longest);
  const height = Math.min(...inRuns.map((one) => one.height));
  if (height < runs * RUN_ROW_PX) console.log(`the list of ${runs} runs was scrolled over ${height} px only`);
  return [
    toRow(`scroll of ${lines} log lines: longest frame`, '50', longest(inLog), 'ms'),
    toRow(`scroll of ${runs} runs: longest frame`, '50', longest(inRuns), 'ms'),
  ];
}

async function scrollBothWays({ page }: Tab, direction: 1 | -1): Promise<Scrolled> {
  await page.waitForTimeout(1_000);
  const scroll = (way: number) => page.evaluate<Scrolled>(`bench.scroll(${way}, ${PIXELS_PER_FRAME})`);
  const [there, back] = [await scroll(direction), await scroll(-direction)];
  return {
    longest: Math.max(there.longest, back.longest),
    height: Math.max(there.height, back.height),
    frames: there.frames + back.frames,
  };
}
