import { expect } from 'chai';
import {
  EMPTY_LIST,
  withFirstPage,
  withItem,
  withNew,
  withNextPage,
  withSortedFirstPage,
  withSortedNextPage,
  withWaiting,
  type ListState,
} from '../src/controllers/list-state.js';

interface Item {
  id: string;
  created_at: number;
  word: string;
}
const item = (created_at: number, word = ''): Item => ({ id: `item_${created_at}`, created_at, word });
const page = (stamps: number[], hasMore = true, isCut = false) => ({
  items: stamps.map((stamp) => item(stamp)),
  hasMore,
  isCut,
});
const stamps = (items: readonly Item[]): number[] => items.map(({ created_at }) => created_at);
const MOST = 6;

describe('the state of a list', () => {
  const loaded = withNextPage(withFirstPage<Item>(EMPTY_LIST, page([9, 8])), page([7, 6]));

  it('grows by pages, and knows from the last one whether there are more', () => {
    expect(stamps(loaded.items)).to.deep.equal([9, 8, 7, 6]);
    expect(loaded.hasMore).to.equal(true);
    expect(withNextPage(loaded, page([5], false)).hasMore).to.equal(false);
    expect(withNextPage(loaded, page([], false))).to.deep.include({ items: loaded.items, hasMore: false });
  });

  const firstPages: [what: string, page: ReturnType<typeof page>, items: number[], hasMore: boolean][] = [
    ['has nothing new', page([9, 8]), [9, 8, 7, 6], true],
    ['has a new item', page([10, 9]), [10, 9, 8, 7, 6], true],
    ['lacks one that is gone', page([9, 7]), [9, 7, 6], true],
    ['is all that there is', page([9], false), [9], false],
    ['is empty', page([], false), [], false],
    ['ends before what was loaded begins: what lies between is not here', page([20, 19]), [20, 19], true],
  ];
  for (const [what, first, items, hasMore] of firstPages) {
    it(`takes the first page anew when it ${what}`, () => {
      const list = withFirstPage(loaded, first);
      expect([stamps(list.items), list.hasMore, list.waiting]).to.deep.equal([items, hasMore, []]);
    });
  }

  it('takes the content of items from the new page', () => {
    const changed = { items: [item(9, 'new')], hasMore: true, isCut: false };
    expect(withFirstPage(loaded, changed).items.map(({ word }) => word)).to.deep.equal(['new', '', '', '']);
  });

  it('says whether the answer that it ends with was cut', () => {
    const cut = withFirstPage<Item>(EMPTY_LIST, page([9, 8], true, true));
    expect(cut.isCut).to.equal(true);
    expect(withNextPage(cut, page([7])).isCut).to.equal(false);
    expect(withFirstPage(withNextPage(cut, page([7])), page([9, 8], true, true)).isCut).to.equal(false);
    expect(withNextPage(loaded, page([5], true, true)).isCut).to.equal(true);
  });

  it('orders items of one millisecond by their ids, as the server does', () => {
    const twins = ['b', 'c', 'a'].map((id) => ({ id, created_at: 1, word: '' }));
    const list = withNew<Item>(EMPTY_LIST, twins, false, MOST);
    expect(list.items.map(({ id }) => id)).to.deep.equal(['c', 'b', 'a']);
  });

  describe('while the reader is further down', () => {
    const held = withFirstPage(loaded, page([11, 10, 9, 8]), true);

    it('holds new items of the first page back', () => {
      expect(stamps(held.items)).to.deep.equal([9, 8, 7, 6]);
      expect(stamps(held.waiting)).to.deep.equal([11, 10]);
    });

    it('holds live items back, each once', () => {
      const list = withNew(held, [item(12), item(11), item(9)], true, MOST);
      expect(stamps(list.waiting)).to.deep.equal([12, 11, 10]);
      expect(list.items).to.equal(held.items);
    });

    it('knows what waits when the first page comes anew', () => {
      const list = withFirstPage(held, page([12, 11, 10]), true);
      expect([stamps(list.waiting), stamps(list.items)]).to.deep.equal([
        [12, 11, 10],
        [9, 8, 7, 6],
      ]);
    });

    it('puts them on top when they are asked for', () => {
      const list = withWaiting(held, 100);
      expect([stamps(list.items), list.waiting]).to.deep.equal([[11, 10, 9, 8, 7, 6], []]);
    });

    it('shows everything with the next first page once the reader is back', () => {
      expect(withFirstPage(held, page([11, 10, 9, 8])).waiting).to.deep.equal([]);
    });
  });

  it('takes live items at the top, each once', () => {
    expect(stamps(withNew(loaded, [item(10), item(9)], false, MOST).items)).to.deep.equal([10, 9, 8, 7, 6]);
  });

  it('is bounded: what falls out at the end can be loaded again', () => {
    const whole: ListState<Item> = { ...loaded, hasMore: false, isCut: true };
    const list = withNew(whole, [item(12), item(11), item(10)], false, MOST);
    expect(stamps(list.items)).to.deep.equal([12, 11, 10, 9, 8, 7]);
    expect([list.hasMore, list.isCut]).to.deep.equal([true, false]);
    expect(withNew(whole, [item(10)], false, MOST)).to.deep.include({ hasMore: false, isCut: true });
    expect(
      withNew(
        loaded,
        [1, 2, 3, 4, 5, 6, 7, 8].map((at) => item(at + 20)),
        true,
        MOST,
      ).waiting,
    ).to.have.length(MOST);
  });

  it('changes one item, which may leave the list', () => {
    expect(withItem(loaded, 'item_7', item(7, 'new')).items[2]!.word).to.equal('new');
    expect(stamps(withItem(loaded, 'item_7', null).items)).to.deep.equal([9, 8, 6]);
    expect(withItem(loaded, 'item_1', item(1)).items).to.deep.equal(loaded.items);
  });
});

describe('the state of a list that the server sorts', () => {
  const loaded = withSortedNextPage(withSortedFirstPage<Item>(EMPTY_LIST, page([5, 9])), page([7, 1]));

  it('keeps the order of the server, and each item once', () => {
    expect(stamps(loaded.items)).to.deep.equal([5, 9, 7, 1]);
    expect(stamps(withSortedNextPage(loaded, page([1, 8], false)).items)).to.deep.equal([5, 9, 7, 1, 8]);
  });

  const firstPages: [what: string, page: ReturnType<typeof page>, items: number[], hasMore: boolean][] = [
    ['is as it was', page([5, 9]), [5, 9, 7, 1], true],
    ['has another order, and one from further down', page([7, 5]), [7, 5, 9, 1], true],
    ['is all that there is', page([9], false), [9], false],
    ['has nothing of what is held', page([20, 30]), [20, 30], true],
  ];
  for (const [what, first, items, hasMore] of firstPages) {
    it(`takes the first page anew when it ${what}`, () => {
      const list = withSortedFirstPage(loaded, first);
      expect([stamps(list.items), list.hasMore]).to.deep.equal([items, hasMore]);
    });
  }

  it('knows how many there are from the newest answer that tells it', () => {
    const first = withSortedFirstPage(EMPTY_LIST, { ...page([5]), total: 8 });
    expect(withSortedNextPage(first, page([4])).total).to.equal(8);
    expect(withNextPage(withFirstPage(first, { ...page([5]), total: 9 }), page([4])).total).to.equal(9);
  });
});
