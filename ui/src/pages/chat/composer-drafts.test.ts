import { expect, test } from "vitest";
import { createDrafts } from "./composer-drafts.ts";
import { memoryStorage } from "./model/gateway.fixture.ts";

const PLACE = "draft.agent:main:main";

/** Tabs of one browser. */
function browser() {
  const shared = memoryStorage();
  let count = 0;
  return {
    shared,
    tab() {
      const own = memoryStorage();
      const reload = () => createDrafts({ own, shared, id: () => `${(count += 1)}` });
      return { ...reload(), reload };
    },
  };
}

test("two tabs of one conversation keep what each of them has written, over their reloads", () => {
  const { tab } = browser();
  const [a, b] = [tab(), tab()];
  a.save(PLACE, "from a");
  b.save(PLACE, "from b");
  expect([a.reload().load(PLACE), b.reload().load(PLACE)]).toEqual(["from a", "from b"]);
});

test("a new tab begins with what was written last, also after the tab where it was written has gone", () => {
  const { tab } = browser();
  tab().save(PLACE, "half a thought");
  expect(tab().load(PLACE)).toBe("half a thought");
});

test("a tab that sends takes its own draft away, and not that of another tab", () => {
  const { tab } = browser();
  const [a, b] = [tab(), tab()];
  a.save(PLACE, "from a");
  b.save(PLACE, "from b");
  a.save(PLACE, "");
  expect([a.reload().load(PLACE), b.reload().load(PLACE), tab().load(PLACE)]).toEqual(["", "from b", "from b"]);
  b.save(PLACE, "  ");
  expect([b.reload().load(PLACE), tab().load(PLACE)]).toEqual(["", ""]);
});

test("a draft that a new tab found and sent is found no more", () => {
  const { tab, shared } = browser();
  tab().save(PLACE, "from before");
  const later = tab();
  expect(later.load(PLACE)).toBe("from before");
  later.save(PLACE, "");
  expect([tab().load(PLACE), shared.length]).toEqual(["", 0]);
});

test("a storage that is full or missing breaks nothing, and the other one still keeps the text", () => {
  const full = memoryStorage();
  full.setItem = () => {
    throw new DOMException("full", "QuotaExceededError");
  };
  const shared = memoryStorage();
  createDrafts({ own: full, shared }).save(PLACE, "kept");
  expect(createDrafts({ own: full, shared }).load(PLACE)).toBe("kept");
  const none = createDrafts({ own: undefined, shared: undefined });
  none.save(PLACE, "gone");
  expect(none.load(PLACE)).toBe("");
});

test("each tab has its files in a place of its own, over its reloads; a new tab begins with those that were attached last", () => {
  const { tab } = browser();
  const [a, b] = [tab(), tab()];
  expect(a.files(PLACE)).toBeUndefined();
  const [ofA, ofB] = [a.takeFiles(PLACE), b.takeFiles(PLACE)];
  expect(ofA).not.toBe(ofB);
  expect([a.reload().files(PLACE), a.reload().takeFiles(PLACE), b.reload().files(PLACE)]).toEqual([ofA, ofA, ofB]);
  expect(tab().files(PLACE)).toBe(ofA);
});

test("a tab that sends removes its own files; those that it found are another tab's, and are found no more", () => {
  const { tab, shared } = browser();
  const a = tab();
  const ofA = a.takeFiles(PLACE);
  const later = tab();
  expect(later.files(PLACE)).toBe(ofA);
  expect(later.dropFiles(PLACE)).toBeUndefined();
  expect([later.files(PLACE), tab().files(PLACE), a.files(PLACE), shared.length]).toEqual([undefined, undefined, ofA, 0]);
  expect(a.dropFiles(PLACE)).toBe(ofA);
  expect(a.reload().files(PLACE)).toBeUndefined();
});
