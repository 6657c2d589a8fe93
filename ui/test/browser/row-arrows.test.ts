import { job } from './harness/records.js';
import { useStage } from './harness/stage.js';

describe('the arrow keys in a list', () => {
  const stage = useStage();

  it('go from row to row, and not beyond the list', async () => {
    const page = await stage.mount('svc-jobs-page', {
      properties: { query: '' },
      api: { 'GET /jobs': { items: [job(3), job(2), job(1)], next_before: null } },
    });
    const link = (name: string) => page.getByRole('link', { name, exact: true });
    const isFocused = (name: string) => link(name).evaluate((element) => element.matches(':focus'));
    await link('job-3').focus();
    for (const [key, name] of [
      ['ArrowUp', 'job-3'],
      ['ArrowDown', 'job-2'],
      ['ArrowDown', 'job-1'],
      ['ArrowDown', 'job-1'],
      ['ArrowUp', 'job-2'],
    ] as const) {
      await stage.page.keyboard.press(key);
      await stage.untilEqual(() => isFocused(name), true);
    }
  });
});
