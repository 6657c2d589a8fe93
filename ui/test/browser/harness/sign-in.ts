import type { Stage } from './stage.js';

/** What the server says of who asks. */
export const who = (changes: object = {}) => ({ name: 'me', scope: 'write', can_write: true, ...changes });

/** What tests of the whole console look at while somebody signs in. */
export function signInParts(stage: Stage) {
  return {
    heading: (name: string) => stage.page.getByRole('heading', { name, exact: true }),
    field: () => stage.page.getByLabel('Token', { exact: true }),
    address: () => {
      const { pathname, search, hash } = new URL(stage.page.url());
      return pathname + search + hash;
    },
    storedToken: () => stage.page.evaluate(() => sessionStorage.getItem('svc.token')),
  };
}
