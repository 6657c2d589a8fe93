import { idOf, project } from './harness/records.js';
import { useStage } from './harness/stage.js';

describe("the title of the browser's tab", () => {
  const stage = useStage();

  it('is the name of the record that the page shows, also with another filter, as text', async () => {
    const name = 'resnet \u202e<b>50</b>';
    await stage.mountApp({
      address: `/projects/${idOf('prj', 1)}`,
      api: { 'GET /projects/{project_id}': project(1, { name }) },
    });
    await stage.untilEqual(() => stage.page.title(), '\u2068resnet \u202e<b>50</b>\u2069 · svc');
    await stage.page.evaluate(() => {
      history.replaceState(null, '', '?some=filter');
      window.dispatchEvent(new Event('svc-navigate'));
    });
    await stage.page.getByRole('link', { name: 'Runs' }).first().click();
    await stage.untilEqual(() => stage.page.title(), 'Runs · svc');
    await stage.page.goBack();
    await stage.untilEqual(() => stage.page.title(), '\u2068resnet \u202e<b>50</b>\u2069 · svc');
  });
});
